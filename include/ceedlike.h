// SPDX-License-Identifier: BSD-2-Clause
/// The public interface of libceedlike: vectors, and fields with ghost cells, whose memory crosses
/// between a C or Fortran solver and any array library that speaks DLPack, with ownership,
/// precision and place always checked.
///
/// Every function returns an error code unless it says otherwise; 0 is success. On failure nothing
/// has changed and the text is in CeedGetErrorMessage(). Five words say who owns what, always on
/// success: an argument is *copied* (not kept), *borrowed* (kept, never freed: the caller keeps it
/// alive), or *taken* (ours now, freed by us); a result is *lent* (valid until given back) or
/// *given* (the caller releases it).
///
/// Threads: reference copies, destruction, exports and deleters may run in any thread at any time.
/// All other calls on one object: one thread at a time. The entries themselves are never locked.
/// Restrictions, bases, QFunctions and contexts that are only read may be used by operators in
/// several threads at once, as may vectors that these read; each operator by one thread.
#ifndef CEEDLIKE_H
#define CEEDLIKE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ceedlike_names.h"

#define CEED_VERSION_MAJOR 0
#define CEED_VERSION_MINOR 13
#define CEED_VERSION_PATCH 0
#define CEED_VERSION_RELEASE false
#define CEED_VERSION_GE(major, minor, patch) \
  (CEED_VERSION_MAJOR > (major) ||           \
   (CEED_VERSION_MAJOR == (major) &&         \
    (CEED_VERSION_MINOR > (minor) ||         \
     (CEED_VERSION_MINOR == (minor) && CEED_VERSION_PATCH >= (patch)))))

/// The precision is the build's own: double, or float where CEEDLIKE_SINGLE is defined. The two
/// have different linker names, so one program may hold both.
#ifdef CEEDLIKE_SINGLE
typedef float CeedScalar;
#define CEED_SCALAR_TYPE CEED_SCALAR_FP32
#define CEED_EPSILON 6e-08f
#else
typedef double CeedScalar;
#define CEED_SCALAR_TYPE CEED_SCALAR_FP64
#define CEED_EPSILON 1e-16
#endif

#ifdef __cplusplus
#define CEED_EXTERN extern "C"
extern "C" {
#else
#define CEED_EXTERN extern
#endif

#pragma GCC visibility push(default)

/* cffi: begin */

// ------------------------------------------------------------------------------------------------
// Types and values
// ------------------------------------------------------------------------------------------------

// The two structs of dlpack.h (DLPack 1.3). Include the official header (Debian's libdlpack-dev) to
// look inside one, or to release it by its deleter; or none, and give it on, or to
// CeedVectorCreateFromDLPack() and destroy that vector.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

// What XLA hands to a function that its programs call, and what that returns.
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;

typedef int32_t CeedInt;       // counts of nodes, components, points
typedef ptrdiff_t CeedSize;    // lengths
typedef signed char CeedInt8;  // small signs

typedef enum { CEED_SCALAR_FP32 = 0, CEED_SCALAR_FP64 = 1 } CeedScalarType;

/// Positive: the object is as it was. Negative: what was asked can't be had from this object or
/// machine (memory, backend, function).
enum {
  CEED_ERROR_SUCCESS = 0,
  CEED_ERROR_MINOR = 1,
  CEED_ERROR_DIMENSION = 2,     // a length or an index that does not fit
  CEED_ERROR_INCOMPLETE = 3,    // no values yet
  CEED_ERROR_INCOMPATIBLE = 4,  // a bad argument, another precision, a malformed tensor
  CEED_ERROR_ACCESS = 5,        // somebody else holds the memory, or it is read-only
  CEED_ERROR_MAJOR = -1,        // out of memory
  CEED_ERROR_BACKEND = -2,      // this context has no such memory, or its device fails
  CEED_ERROR_UNSUPPORTED = -3   // this library has no such thing
};

typedef enum { CEED_MEM_HOST = 0, CEED_MEM_DEVICE = 1 } CeedMemType;

typedef enum {
  CEED_COPY_VALUES = 0,  // copies the values; the pointer is not kept
  CEED_USE_POINTER = 1,  // borrows the memory and works in place
  CEED_OWN_POINTER = 2   // takes the memory
} CeedCopyMode;

typedef enum { CEED_NORM_1 = 0, CEED_NORM_2 = 1, CEED_NORM_MAX = 2 } CeedNormType;

typedef enum { CEED_NOTRANSPOSE = 0, CEED_TRANSPOSE = 1 } CeedTransposeMode;

/// What a field of a QFunction is at the quadrature points: values as they are stored, interpolated
/// values, gradients, or the quadrature weights.
typedef enum {
  CEED_EVAL_NONE = 0,
  CEED_EVAL_INTERP = 1,
  CEED_EVAL_GRAD = 2,
  CEED_EVAL_DIV = 4,
  CEED_EVAL_CURL = 8,
  CEED_EVAL_WEIGHT = 16
} CeedEvalMode;

typedef enum { CEED_GAUSS = 0, CEED_GAUSS_LOBATTO = 1 } CeedQuadMode;

/// The dimension is in the upper 16 bits.
typedef enum {
  CEED_TOPOLOGY_LINE = 0x10000,
  CEED_TOPOLOGY_TRIANGLE = 0x20001,
  CEED_TOPOLOGY_QUAD = 0x20002,
  CEED_TOPOLOGY_TET = 0x30003,
  CEED_TOPOLOGY_PYRAMID = 0x30004,
  CEED_TOPOLOGY_PRISM = 0x30005,
  CEED_TOPOLOGY_HEX = 0x30006
} CeedElemTopology;

typedef enum {
  CEED_CONTEXT_FIELD_DOUBLE = 1,
  CEED_CONTEXT_FIELD_INT32 = 2,
  CEED_CONTEXT_FIELD_BOOL = 3
} CeedContextFieldType;

/// How an exported tensor is meant; docs/ownership.md has the whole table of what each forbids.
typedef enum {
  CEED_EXPORT_SHARED = 0,  // both sides see each other's writes
  CEED_EXPORT_READ = 1,    // a lease: nobody writes until the last one ends
  CEED_EXPORT_WRITE = 2,   // exclusive: nobody else reads or writes until it ends
  CEED_EXPORT_PIN = 3,     // read-only; only keeps the memory where it is, whoever reads or writes
  CEED_EXPORT_COPY = 4     // a private, compact copy that the tensor alone owns
} CeedExportMode;

typedef struct Ceed_private *Ceed;
typedef struct CeedVector_private *CeedVector;
typedef struct CeedFab_private *CeedFab;
typedef struct CeedMultiFab_private *CeedMultiFab;
typedef struct CeedRequest_private *CeedRequest;
typedef struct CeedContextFieldLabel_private *CeedContextFieldLabel;
typedef struct CeedElemRestriction_private *CeedElemRestriction;
typedef struct CeedBasis_private *CeedBasis;
typedef struct CeedQFunctionContext_private *CeedQFunctionContext;
typedef struct CeedQFunction_private *CeedQFunction;
typedef struct CeedQFunctionField_private *CeedQFunctionField;
typedef struct CeedOperator_private *CeedOperator;
typedef struct CeedOperatorField_private *CeedOperatorField;

// ------------------------------------------------------------------------------------------------
// Ceed: the context that all objects are made in. Counted; objects keep theirs alive.
// ------------------------------------------------------------------------------------------------

/// Make a context for a resource.
///
/// The text up to `:` is a leading part of a resource's name ("/cpu/self", "/cpu/self/ref/serial",
/// "/cpu/self/opt/blocked", "/gpu/cuda", "/gpu/hip", "/gpu/sycl"); the fastest match wins. What
/// follows are options of a device, each after a `:`; host resources have none and ignore them.
/// `device_id=N` is the device, by the count of its driver from 0 on; `host=pinned`, of CUDA and
/// HIP, has vectors keep their host memory where the device reaches it. The driver's library is
/// loaded when a context first asks for it: libcuda.so.1, libamdhip64.so.7, .6, .5 or without a
/// number, dpctl's libDPCTLSyclInterface.so; CEEDLIKE_LIBCUDA, CEEDLIKE_LIBHIP and
/// CEEDLIKE_LIBSYCL name others.
///
/// The environment variable CEED_ERROR_HANDLER chooses the context's error handler: `store` (the
/// default: nothing is printed, nothing aborts), `return`, `exit` or `abort`.
///
/// Ownership: gives the caller a reference; release it with CeedDestroy().
/// Errors:    CEED_ERROR_UNSUPPORTED, with the list, for an unknown resource, option or handler;
///            CEED_ERROR_BACKEND where the driver's library, a symbol of it, or the device is
///            missing, with its name.
int CeedInit(const char *resource, Ceed *ceed);

/// Let a device context order its work on a stream of the caller (a CUstream, a hipStream_t, a
/// DPCTLSyclQueueRef); NULL, as at first, is the default stream, of SYCL a queue of our own. Copies
/// between memory types wait for what the stream has been given before, and are done when the call
/// that needs them returns.
///
/// Ownership: borrows the stream.
/// Errors:    CEED_ERROR_UNSUPPORTED on a host context: it has no streams.
int CeedSetStream(Ceed ceed, void *handle);

/// The stream of a device context.
///
/// Ownership: lent, as it was given.
/// Errors:    CEED_ERROR_UNSUPPORTED on a host context.
int CeedGetStream(Ceed ceed, void **handle);

/// Order another stream of the device and the context's: what one of them is given from now on
/// begins after what the other has been given until now. Before: the context's goes first, as when
/// a tensor is handed to somebody who works on the stream `handle`. After: `handle` goes first, as
/// when he has written into it. An event is recorded and waited for on the device; the host and
/// other streams wait for nothing. NULL is the default stream; SYCL has none: before NULL the host
/// waits for the context's, after NULL is CEED_ERROR_INCOMPATIBLE.
///
/// Errors: CEED_ERROR_UNSUPPORTED on a host context; CEED_ERROR_BACKEND with the driver's text.
int CeedOrderBefore(Ceed ceed, void *handle);
int CeedOrderAfter(Ceed ceed, void *handle);

/// Share a context: `*ceed_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*ceed_copy` held before is released first; start from NULL.
int CeedReferenceCopy(Ceed ceed, Ceed *ceed_copy);

/// The full name of the resource; lent, it lives as long as the context.
int CeedGetResource(Ceed ceed, const char **resource);

/// Whether equal calls give equal bits; true for every host resource.
int CeedIsDeterministic(Ceed ceed, bool *is_deterministic);

/// The memory type that needs no copy here.
int CeedGetPreferredMemType(Ceed ceed, CeedMemType *type);

/// Whether vectors of this context can hold memory of a type.
int CeedMemTypeIsAvailable(Ceed ceed, CeedMemType mem_type, bool *is_available);

/// The DLPack device (type and id, as in DLDevice) of a context's memory of a type.
///
/// Errors: CEED_ERROR_BACKEND where it has none of that type.
int CeedGetDLPackDevice(Ceed ceed, CeedMemType mem_type, int32_t *device_type, int32_t *device_id);

/// Print resource, precision and memory types of a context; of a device its name, and that
/// arithmetic and operators work in host memory.
int CeedView(Ceed ceed, FILE *stream);

/// Release a reference and set `*ceed` to NULL; NULL is accepted, twice is safe.
int CeedDestroy(Ceed *ceed);

/// The text of the last error in this thread, "No error message stored" when there is none. `ceed`
/// may be NULL. The text is lent until the thread's next error.
int CeedGetErrorMessage(Ceed ceed, const char **err_msg);

/// Forget this thread's error text; sets `*err_msg` to NULL where err_msg is not NULL.
int CeedResetErrorMessage(Ceed ceed, const char **err_msg);

/// Report an error whose text is ready, as CeedError() does where a language has no variadic calls;
/// `ceed` may be NULL. Returns the code.
int CeedReportError(Ceed ceed, int err_code, const char *err_msg);

/// The version of the library that is loaded, to compare with the CEED_VERSION_* of this header.
int CeedGetVersion(int *major, int *minor, int *patch, bool *release);

/// The revision the library was built from, "unknown" outside a checkout.
int CeedGetGitVersion(const char **git_version);

/// Compiler, flags and precision of the library that is loaded.
int CeedGetBuildConfiguration(const char **build_config);

/// The precision of the library that is loaded.
int CeedGetScalarType(CeedScalarType *scalar_type);

/// Wait for a request. Work on host memory is done when its call returns.
int CeedRequestWait(CeedRequest *req);

/// Points and weights of the Gauss-Legendre rule with Q >= 1 points on [-1, 1], ascending; exact
/// for polynomials of degree 2Q-1; at most 10000 points. Points are the roots of P_Q, weights
/// 2/((1-x^2) P_Q'(x)^2) (Abramowitz and Stegun 25.4.29). `q_weight_1d` may be NULL.
int CeedGaussQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d);

/// Points and weights of the Gauss-Lobatto rule with Q >= 2 points on [-1, 1], ascending, the ends
/// included; exact for polynomials of degree 2Q-3; at most 10000 points. Inner points are the roots
/// of P'_{Q-1}, weights 2/(Q(Q-1) P_{Q-1}(x)^2) (Abramowitz and Stegun 25.4.32). `q_weight_1d` may
/// be NULL.
int CeedLobattoQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d);

/// What a label of a registered context field stands for; every output may be NULL. The texts are
/// lent and live as long as the label.
int CeedContextFieldLabelGetDescription(CeedContextFieldLabel label, const char **field_name,
                                        size_t *field_offset, size_t *num_values,
                                        const char **field_description,
                                        CeedContextFieldType *field_type);

// ------------------------------------------------------------------------------------------------
// CeedVector: a length and counted memory. The memory outlives the vector while exports live.
// ------------------------------------------------------------------------------------------------

/// Stand-ins for a vector in the fields of operators; never a vector themselves.
extern const CeedVector CEED_VECTOR_ACTIVE;
extern const CeedVector CEED_VECTOR_NONE;

/// Make a vector of `len` >= 0 entries without values; the first write allocates its memory
/// (256-byte aligned).
///
/// Ownership: gives the caller a reference; release it with CeedVectorDestroy().
int CeedVectorCreate(Ceed ceed, CeedSize len, CeedVector *vec);

/// Share a vector: `*vec_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*vec_copy` held before is released first; start from NULL.
int CeedVectorReferenceCopy(CeedVector vec, CeedVector *vec_copy);

/// Copy all entries of `vec` to `vec_copy`, of the same length; their memory may overlap.
int CeedVectorCopy(CeedVector vec, CeedVector vec_copy);

/// Copy the entries start, start+step, ... < stop of `vec` to the same places of `vec_copy`. A stop
/// of -1 is the length of `vec`. The memory of the two may overlap.
///
/// Errors: CEED_ERROR_DIMENSION unless 0 <= start <= stop <= both lengths and step > 0;
///         CEED_ERROR_INCOMPLETE when one of the vectors has no values yet.
int CeedVectorCopyStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                          CeedVector vec_copy);

/// Set the entries from an array of the vector's length, aligned for its type.
///
/// Ownership: copies, borrows or takes `array` as `copy_mode` says; taken memory is released with
///            free(), that of a device as its driver does (cuMemFree, hipFree), pinned host memory
///            of a context with host=pinned too (cuMemFreeHost, hipHostFree). After
///            CEED_USE_POINTER, CEED_COPY_VALUES writes into the borrowed array.
/// Errors:    CEED_ERROR_ACCESS for the pointer modes while anybody else holds the memory;
///            CEED_ERROR_INCOMPATIBLE for memory that is the vector's own already, and for an
///            address that the driver knows to be of the other memory type or another device.
int CeedVectorSetArray(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode,
                       CeedScalar *array);

/// Set every entry to a value.
int CeedVectorSetValue(CeedVector vec, CeedScalar value);

/// Set the entries start, start+step, ... < stop to a value; ranges as in CeedVectorCopyStrided().
///
/// Errors: CEED_ERROR_INCOMPLETE when the vector has no values yet.
int CeedVectorSetValueStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                              CeedScalar value);

/// Make one memory type hold the current values, so that a borrowed array may be read.
int CeedVectorSyncArray(CeedVector vec, CeedMemType mem_type);

/// Give a borrowed array back with the current values in it; the vector then has no values. Where
/// `array` is NULL the memory is only let go of, memory adopted from a tensor too.
///
/// Errors: CEED_ERROR_ACCESS when nothing of this memory type was borrowed (the address of adopted
///         memory can't be taken: export it), or while anybody else holds the memory.
int CeedVectorTakeArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array);

/// Lend the entries for reading and writing, until CeedVectorRestoreArray().
///
/// Errors: CEED_ERROR_ACCESS while another array is out, a lease lives, or on read-only memory;
///         CEED_ERROR_INCOMPLETE when the vector has no values yet.
int CeedVectorGetArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array);

/// Lend the entries for reading, until CeedVectorRestoreArrayRead(). Any number of readers.
///
/// Errors: CEED_ERROR_ACCESS while a writer's array is out or a write lease lives;
///         CEED_ERROR_INCOMPLETE when the vector has no values yet.
int CeedVectorGetArrayRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **array);

/// Lend the entries for writing all of them, until CeedVectorRestoreArray(); what they hold before
/// is unspecified.
///
/// Errors: as CeedVectorGetArray(), but a vector without values is fine.
int CeedVectorGetArrayWrite(CeedVector vec, CeedMemType mem_type, CeedScalar **array);

/// End the access of CeedVectorGetArray() or CeedVectorGetArrayWrite(); sets `*array` to NULL.
///
/// Errors: CEED_ERROR_ACCESS when no array is out; CEED_ERROR_INCOMPATIBLE when `*array` is not it.
int CeedVectorRestoreArray(CeedVector vec, CeedScalar **array);

/// End one access of CeedVectorGetArrayRead(); sets `*array` to NULL. Errors as above.
int CeedVectorRestoreArrayRead(CeedVector vec, const CeedScalar **array);

/// A norm. Sums are blocked pairwise in CeedScalar: the relative error of the 1-norm is at most
/// (40 + log2(n)) u, of the 2-norm (22 + log2(n)/2) u, with u the unit roundoff, to first order.
/// The 2-norm neither overflows nor underflows unless its value does. NaN anywhere gives NaN.
int CeedVectorNorm(CeedVector vec, CeedNormType type, CeedScalar *norm);

/// x = alpha x
int CeedVectorScale(CeedVector x, CeedScalar alpha);

/// Zero the entries with |x_i| <= threshold.
int CeedVectorFilter(CeedVector x, CeedScalar threshold);

/// y = alpha x + y
///
/// Errors: CEED_ERROR_INCOMPATIBLE where the memory of x and y overlaps in part; it may be the same.
int CeedVectorAXPY(CeedVector y, CeedScalar alpha, CeedVector x);

/// y = alpha x + beta y, with errors as of CeedVectorAXPY().
int CeedVectorAXPBY(CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x);

/// w = x .* y; w may be x or y, and may not overlap them in part, as in CeedVectorAXPY().
int CeedVectorPointwiseMult(CeedVector w, CeedVector x, CeedVector y);

/// x_i = 1 / x_i where |x_i| > CEED_EPSILON; other entries stay.
int CeedVectorReciprocal(CeedVector vec);

/// Print `CeedVector length N`, then the entries start, start+step, ... < stop, one a line in a
/// printf format with one floating-point conversion; NULL is "%g". Ranges as in
/// CeedVectorCopyStrided().
int CeedVectorViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step,
                        const char *fp_fmt, FILE *stream);

/// Print all entries as CeedVectorViewRange() does.
int CeedVectorView(CeedVector vec, const char *fp_fmt, FILE *stream);

/// The context of a vector.
///
/// Ownership: gives a reference; release it with CeedDestroy().
int CeedVectorGetCeed(CeedVector vec, Ceed *ceed);

/// The context of a vector, lent; returns it, or NULL for a bad handle.
Ceed CeedVectorReturnCeed(CeedVector vec);

/// The number of entries.
int CeedVectorGetLength(CeedVector vec, CeedSize *length);

/// The state counter: odd while a writer's array is out, grows by 2 with every write. Writes
/// through exported tensors are not seen.
int CeedVectorGetState(CeedVector vec, uint64_t *state);

/// Which memory types hold memory of this vector, and which hold its current values; both arrays
/// are indexed by CeedMemType.
int CeedVectorGetMemTypes(CeedVector vec, bool holds[2], bool current[2]);

/// The number of live exports of every mode but CEED_EXPORT_COPY, which is nobody else's.
int CeedVectorGetExportCount(CeedVector vec, CeedSize *count);

/// Release a reference and set `*vec` to NULL; NULL is accepted, twice is safe. Exports never block
/// it: they keep the memory alive. Memory that was borrowed (CEED_USE_POINTER) is the caller's to
/// keep alive: free it when CeedVectorTakeArray() has given it back, which exports do block.
///
/// Errors: CEED_ERROR_ACCESS while an array is out; the vector stays alive.
int CeedVectorDestroy(CeedVector *vec);

// ------------------------------------------------------------------------------------------------
// DLPack: memory to and from any library that speaks it. A tensor given away is released by calling
// its deleter once, from any thread; a tensor taken is released by us the same way. Where a `ceed`
// is an argument it may be NULL: the vector's own is meant, and another one is an error.
// ------------------------------------------------------------------------------------------------

/// Export a vector as a legacy tensor of one axis that shares its memory (CEED_EXPORT_SHARED).
///
/// Ownership: gives the caller a tensor. The memory lives until its deleter is called, even when
///            the vector is destroyed first.
/// Errors:    CEED_ERROR_ACCESS while a writer's array is out or a lease lives, and on read-only
///            memory: a legacy tensor can't say so. CEED_ERROR_INCOMPLETE without values.
int CeedVectorToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                       struct DLManagedTensor **tensor);

/// The same as a versioned tensor (DLPack 1.3), which also says read-only where it must: on
/// read-only memory, and while read leases live.
///
/// Errors: CEED_ERROR_ACCESS while a writer's array is out or a write lease lives.
int CeedVectorToDLPackVersioned(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                struct DLManagedTensorVersioned **tensor);

/// Export memory of a vector in a mode, with a shape of `ndim` axes (at most 64) and strides in
/// entries, from its first entry on; NULL strides are C order (last axis fastest).
///
/// Ownership: gives the caller a tensor, as above.
/// Errors:    CEED_ERROR_DIMENSION when the shape reaches outside the vector or a stride is
///            negative; CEED_ERROR_ACCESS as the mode says, and for one more than 1023 leases,
///            16383 writable exports, or 65534 of the others, with the counts in the text;
///            CEED_ERROR_INCOMPLETE without values (for a pin: without memory of that type).
int CeedVectorExport(CeedVector vec, CeedMemType mem_type, CeedExportMode mode, CeedInt ndim,
                     const int64_t *shape, const int64_t *strides,
                     struct DLManagedTensorVersioned **tensor);

/// Take a legacy tensor into a vector of as many entries. Several axes are flattened in C order
/// (last axis fastest). The memory of a legacy tensor counts as writable.
///
/// Ownership: takes the tensor in every copy mode, on success only; on failure the caller still
///            owns it. CEED_COPY_VALUES copies (any strides) and calls the deleter before it
///            returns. CEED_USE_POINTER and CEED_OWN_POINTER both adopt the memory (which must be
///            C-contiguous and aligned for its type) and call the deleter when the vector lets go.
/// Errors:    CEED_ERROR_INCOMPATIBLE for another type, device or layout, or a malformed tensor;
///            CEED_ERROR_DIMENSION for another number of entries; CEED_ERROR_ACCESS while anybody
///            else holds the vector's memory.
int CeedVectorTakeFromDLPack(Ceed ceed, CeedVector vec, struct DLManagedTensor *tensor,
                             CeedCopyMode copy_mode);

/// The same for a versioned tensor of major version 1. Adopted memory that says read-only stays so:
/// every later write is CEED_ERROR_ACCESS.
int CeedVectorTakeFromDLPackVersioned(Ceed ceed, CeedVector vec,
                                      struct DLManagedTensorVersioned *tensor,
                                      CeedCopyMode copy_mode);

/// Make a vector of a legacy tensor's number of entries and take the tensor into it.
///
/// Ownership: gives a vector; takes the tensor as CeedVectorTakeFromDLPack() does.
int CeedVectorCreateFromDLPack(Ceed ceed, struct DLManagedTensor *tensor, CeedCopyMode copy_mode,
                               CeedVector *vec);

/// The same for a versioned tensor.
int CeedVectorCreateFromDLPackVersioned(Ceed ceed, struct DLManagedTensorVersioned *tensor,
                                        CeedCopyMode copy_mode, CeedVector *vec);

/// The DLPack device (type and id, as in DLDevice) that an export of a memory type would carry:
/// (1, 0) for host memory, unless it was adopted from a tensor that says otherwise (pinned,
/// managed).
int CeedVectorGetDLPackDevice(CeedVector vec, CeedMemType mem_type, int32_t *device_type,
                              int32_t *device_id);

/// Wrap a pointer to entries of CeedScalar, C order, as a tensor: raw data of a quadrature function
/// for code that reads tensors. Calling the deleter frees the tensor, not the data.
///
/// Ownership: borrows `data`, for as long as the tensor is used; gives the caller the tensor.
int CeedDLPackWrap(void *data, CeedMemType mem_type, CeedInt ndim, const int64_t *shape,
                   bool read_only, struct DLManagedTensorVersioned **tensor);

/// The memory type that a tensor's device stands for here. Pinned and managed memory is host
/// memory.
///
/// Errors: CEED_ERROR_INCOMPATIBLE, with the device's name, for one that is neither.
int CeedDLPackGetMemType(const struct DLManagedTensor *tensor, CeedMemType *mem_type);
int CeedDLPackGetMemTypeVersioned(const struct DLManagedTensorVersioned *tensor,
                                  CeedMemType *mem_type);

/// Print what a tensor says of itself: version, flags, device and type by name, shape, strides,
/// offset, contiguity, alignment, whether it has a deleter. Malformed fields are named, never
/// followed. What one reaches for when an exchange fails.
int CeedDLPackView(const struct DLManagedTensor *tensor, FILE *stream);
int CeedDLPackViewVersioned(const struct DLManagedTensorVersioned *tensor, FILE *stream);

/// What a C function wants of a tensor; start from CEED_DLPACK_ANY and narrow it.
typedef struct {
  int32_t code;          // DLDataTypeCode: 0 int, 1 uint, 2 float, 5 complex, 6 bool, ...; -1: any
  int32_t bits;          // of one lane; -1: any
  int32_t lanes;         // -1: any
  int32_t device_type;   // DLDeviceType; -1: any that the host can address
  int32_t ndim;          // -1: any
  const int64_t *shape;  // ndim lengths, each -1 for any; NULL: any
  bool contiguous;       // C-contiguous (last axis fastest)
  bool writable;         // not marked read-only; legacy tensors count as writable
  size_t alignment;      // of the first entry, in bytes; 0: any
} CeedDLPackSpec;

/// Check a tensor as taking does (version, device, type, shape, overflow, layout, alignment), for
/// any type and without any vector: for C libraries that want only that.
///
/// `tensor` is a DLManagedTensorVersioned where `versioned` is true, else a DLManagedTensor.
/// Errors: CEED_ERROR_INCOMPATIBLE, CEED_ERROR_DIMENSION for ndim and shape, CEED_ERROR_ACCESS for
///         writability; the text names what the tensor has and what was wanted.
int CeedDLPackCheck(const void *tensor, bool versioned, const CeedDLPackSpec *spec);

// ------------------------------------------------------------------------------------------------
// CeedBox: a range of indices in 1 to 3 directions, from any lower bound, of cells or nodes. A
// plain struct; its functions are exact or an error: a bound that does not fit CeedInt is
// CEED_ERROR_DIMENSION, a malformed box CEED_ERROR_INCOMPATIBLE.
// ------------------------------------------------------------------------------------------------

/// A box of indices. What stands in directions that are not there is ignored in arguments and 0 in
/// results. Node i lies at the low face of cell i.
typedef struct {
  CeedInt dim;       // directions: 1 to 3
  CeedInt lo[3];     // the first index of each direction
  CeedInt hi[3];     // the last one; below lo: the box is empty
  CeedInt centring;  // a bit for each direction, 1 for the first, 2, 4: set for nodes, else cells
} CeedBox;

/// How many layers there are around a box, on the low and on the high side of each direction.
typedef struct {
  CeedInt lo[3], hi[3];
} CeedGhost;

/// Make a box from `dim` bounds each.
int CeedBoxSet(CeedInt dim, const CeedInt *lo, const CeedInt *hi, CeedInt centring, CeedBox *box);

/// How many indices there are in each direction: 0 where the box is empty, 1 in directions that are
/// not there.
int CeedBoxGetLengths(CeedBox box, CeedSize lengths[3]);

/// How many cells or nodes there are, the product of the lengths.
int CeedBoxGetSize(CeedBox box, CeedSize *size);

/// Whether a box has no cell or node.
int CeedBoxIsEmpty(CeedBox box, bool *is_empty);

/// Whether two boxes have the same directions, bounds and centring.
int CeedBoxIsEqual(CeedBox a, CeedBox b, bool *is_equal);

/// Whether every index of `inner` lies in `box`; both of one centring.
int CeedBoxContains(CeedBox box, CeedBox inner, bool *contains);

/// Move the bounds outwards by `widths`, or inwards by negative ones.
int CeedBoxGrow(CeedBox box, CeedGhost widths, CeedBox *grown);

/// Move a box by `dim` numbers of indices.
int CeedBoxShift(CeedBox box, const CeedInt *by, CeedBox *shifted);

/// What two boxes of one centring have in common; it may be empty.
int CeedBoxIntersect(CeedBox a, CeedBox b, CeedBox *both);

/// The smallest box that contains two boxes of one centring.
int CeedBoxHull(CeedBox a, CeedBox b, CeedBox *hull);

/// The same box on a mesh that is `ratio` >= 1 times as fine, by direction: lo becomes lo r; hi
/// becomes (hi + 1) r - 1 for cells and hi r for nodes.
int CeedBoxRefine(CeedBox box, const CeedInt *ratio, CeedBox *fine);

/// The smallest box on a mesh that is `ratio` >= 1 times as coarse that covers this one: bounds are
/// divided and rounded down, a node's hi up. An empty direction stays empty.
int CeedBoxCoarsen(CeedBox box, const CeedInt *ratio, CeedBox *coarse);

/// The nodes of cells, or the cells of nodes, by direction: lo stays, hi grows or shrinks by 1.
int CeedBoxConvert(CeedBox box, CeedInt centring, CeedBox *converted);

/// Read a box as AMReX writes it: ((lo,lo,lo) (hi,hi,hi) (type,type,type)) with `dim` numbers each,
/// type 0 for cells and 1 for nodes. Blanks count nowhere. Nothing may stand behind it.
int CeedBoxFromText(const char *text, CeedBox *box);

/// Write a box in that form, into `size` bytes; CEED_BOX_TEXT bytes are always enough.
///
/// Errors: CEED_ERROR_DIMENSION when they are not.
int CeedBoxToText(CeedBox box, char *text, size_t size);

enum { CEED_BOX_TEXT = 88 };

// ------------------------------------------------------------------------------------------------
// CeedFab: memory with a box. The valid box, ghost layers around it, components. Counted, as a
// vector is; what is exported outlives it. Exports, reference copies, destruction and deleters run
// in any thread at any time, but not while CeedFabResize() or CeedFabReplace() replaces the fab.
// ------------------------------------------------------------------------------------------------

/// How the axes of an exported tensor stand: directions and then the component, or the other way
/// round. Both are views of the same memory; of a box of two directions [x,y,n] and [n,y,x].
typedef enum { CEED_ORDER_XYZN = 0, CEED_ORDER_NZYX = 1 } CeedAxisOrder;

/// The parts of a fab that have a name: everything, ghost layers included; the valid box; the valid
/// box without the layers that lie as near to its faces as the ghost layers are wide, where a
/// stencil of that width reads no ghost.
typedef enum { CEED_REGION_WHOLE = 0, CEED_REGION_VALID = 1, CEED_REGION_INTERIOR = 2 } CeedRegion;

/// Make a fab without values; its memory comes with the first write (256-byte aligned), the first
/// direction fastest and the component slowest. `box` is the valid box; it may be empty by hi =
/// lo - 1.
///
/// Ownership: gives the caller a reference; release it with CeedFabDestroy().
/// Errors:    CEED_ERROR_DIMENSION for negative widths, no components, or more than memory can
///            hold.
int CeedFabCreate(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp, CeedFab *fab);

/// Make a fab over the entries of a vector: its first entry is the entry `offset` of the vector.
/// `strides`, in entries, are of x, y, z and the component; NULL is compact, as CeedFabCreate() has
/// it. The fab goes with the vector: when the vector gets other memory, so does the fab.
///
/// Ownership: holds a reference of the vector; gives a fab.
/// Errors:    CEED_ERROR_DIMENSION when it reaches out of the vector; CEED_ERROR_INCOMPATIBLE for
///            strides that are not positive, or with which two entries share memory.
int CeedFabCreateFromVector(CeedVector vec, CeedSize offset, const CeedSize strides[4], CeedBox box,
                            CeedGhost ghost, CeedInt num_comp, CeedFab *fab);

/// Make a fab of an array whose first entry is the lowest index of the whole block. `strides`, in
/// entries, are of x, y, z and the component; NULL is compact. What lies between the entries is
/// never touched.
///
/// Ownership: copies, borrows or takes `array` as `copy_mode` says, as CeedVectorSetArray() does;
///            gives a fab, a compact one for CEED_COPY_VALUES (any strides, in host memory).
/// Errors:    as above for strides, but for CEED_COPY_VALUES.
int CeedFabCreateFromArray(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp,
                           CeedMemType mem_type, CeedCopyMode copy_mode, const CeedSize strides[4],
                           CeedScalar *array, CeedFab *fab);

/// Make a fab of a legacy tensor, whose first entry has the indices `lo`. It has one axis more than
/// there are directions, for the component, as `order` says. `ghost` layers of it are not valid.
///
/// Ownership: takes the tensor on success, as CeedVectorTakeFromDLPack() does: CEED_COPY_VALUES
///            copies any strides into a compact fab, the pointer modes adopt the memory as it lies.
/// Errors:    CEED_ERROR_INCOMPATIBLE for another type or device, a malformed tensor, and in the
///            pointer modes strides that are not positive; CEED_ERROR_DIMENSION for another number
///            of axes, and ghost layers that are wider than the tensor.
int CeedFabCreateFromDLPack(Ceed ceed, struct DLManagedTensor *tensor, CeedAxisOrder order,
                            const CeedInt *lo, CeedInt centring, CeedGhost ghost,
                            CeedCopyMode copy_mode, CeedFab *fab);

/// The same for a versioned tensor; what says read-only stays so.
int CeedFabCreateFromDLPackVersioned(Ceed ceed, struct DLManagedTensorVersioned *tensor,
                                     CeedAxisOrder order, const CeedInt *lo, CeedInt centring,
                                     CeedGhost ghost, CeedCopyMode copy_mode, CeedFab *fab);

/// Share a fab: `*fab_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*fab_copy` held before is released first; start from NULL.
int CeedFabReferenceCopy(CeedFab fab, CeedFab *fab_copy);

/// Give a fab another box, in new memory without values; views of the old memory become stale.
///
/// Errors: CEED_ERROR_ACCESS, with their number, while views live or an array is out; with
///         `keep_views` views keep the old memory until the last of them ends. CEED_ERROR_DIMENSION
///         for another box or number of components while the fab is one of a MultiFab; ghost layers
///         may differ.
int CeedFabResize(CeedFab fab, CeedBox box, CeedGhost ghost, CeedInt num_comp, bool keep_views);

/// Give a fab box, components and memory of another one, which keeps them, too; views of the old
/// memory become stale. So a code tells that a field has moved: a fab is made of what it is now,
/// and replaces what it was.
///
/// Errors: as CeedFabResize().
int CeedFabReplace(CeedFab fab, CeedFab by, bool keep_views);

/// A number that grows whenever box or memory of the fab are replaced, by the functions above, in a
/// MultiFab or in its vector, though the address be the same. A view that was made at another
/// number is stale.
int CeedFabGetGeneration(CeedFab fab, uint64_t *generation);

/// The valid box, and the ghost layers around it.
int CeedFabGetBox(CeedFab fab, CeedBox *box);
int CeedFabGetGhost(CeedFab fab, CeedGhost *ghost);

/// The box of a part that has a name. An interior may be empty.
int CeedFabGetRegion(CeedFab fab, CeedRegion region, CeedBox *box);

/// The ghost cells on one side of the valid box: `side` has -1 for the low side, 1 for the high
/// side or 0 for each of the `dim` directions. One number that is not 0 is a face, two are an edge
/// (in two directions a corner), three a corner; 0 everywhere is the valid box. Empty where the
/// width is 0.
int CeedFabGetGhostRegion(CeedFab fab, const CeedInt *side, CeedBox *box);

/// The number of components, and the number of the first one: 0 unless it was set. Fortran counts
/// from 1.
int CeedFabGetNumComponents(CeedFab fab, CeedInt *num_comp);
int CeedFabGetComponentBase(CeedFab fab, CeedInt *base);
int CeedFabSetComponentBase(CeedFab fab, CeedInt base);

/// How far entries lie apart in memory that are neighbours in x, y, z and the component.
int CeedFabGetStrides(CeedFab fab, CeedSize strides[4]);

/// The vector of all entries, the first direction fastest and the component slowest.
///
/// Ownership: gives a reference; release it with CeedVectorDestroy(). It shares the memory.
/// Errors:    CEED_ERROR_INCOMPATIBLE, with the strides, where the memory is not compact.
int CeedFabGetVector(CeedFab fab, CeedVector *vec);

/// The entry with the lowest indices, lent for reading and writing as CeedVectorGetArray() does,
/// for reading, or for writing all entries. Index (i,j,k) of component n lies (i - lo_x) sx +
/// (j - lo_y) sy + (k - lo_z) sz + (n - base) sn entries further, with lo of the whole block.
///
/// Errors: as those of the vector's functions. Fabs over one vector exclude each other as its
///         arrays do.
int CeedFabGetArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array);
int CeedFabGetArrayRead(CeedFab fab, CeedMemType mem_type, const CeedScalar **array);
int CeedFabGetArrayWrite(CeedFab fab, CeedMemType mem_type, CeedScalar **array);

/// End such an access; sets `*array` to NULL.
int CeedFabRestoreArray(CeedFab fab, CeedScalar **array);
int CeedFabRestoreArrayRead(CeedFab fab, const CeedScalar **array);

/// Give borrowed or adopted memory back, as CeedVectorTakeArray() does; the fab then has no values.
///
/// Errors: CEED_ERROR_ACCESS, with their number, while views live.
int CeedFabTakeArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array);

/// Set all entries of components comp, comp + 1, ... in a region; NULL is the whole block.
/// Components count from the fab's base.
///
/// Errors: CEED_ERROR_DIMENSION for what is not in the fab; CEED_ERROR_INCOMPLETE for a part of a
///         fab without values, or for a fab that is a part of a vector without values.
int CeedFabSetValue(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                    CeedScalar value);

/// Copy what two fabs of one centring both have of a region, NULL being everywhere, ghost layers
/// included: components comp, comp + 1, ... of `fab` to copy_comp, copy_comp + 1, ... of
/// `fab_copy`, each counted from its fab's base. Fabs may share memory.
///
/// Errors: CEED_ERROR_DIMENSION for components that are not there; CEED_ERROR_INCOMPLETE when one
///         has no values yet.
int CeedFabCopy(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                CeedFab fab_copy, CeedInt copy_comp);

/// Export a region of a fab, NULL being the whole block, and components comp, comp + 1, ..., in a
/// mode of CeedVectorExport(): a tensor of one axis for each direction and one for the component,
/// over the fab's memory. An empty region is a tensor without entries.
///
/// Ownership: gives the caller a tensor. The memory lives until its deleter is called, whatever
///            becomes of the fab. A copy (CEED_EXPORT_COPY) is C-contiguous in the order asked for.
/// Errors:    CEED_ERROR_DIMENSION for a region or components that are not in the fab; the others
///            as CeedVectorExport().
int CeedFabExport(CeedFab fab, CeedMemType mem_type, CeedExportMode mode, const CeedBox *region,
                  CeedInt comp, CeedInt num_comp, CeedAxisOrder order,
                  struct DLManagedTensorVersioned **tensor);

/// The same as a legacy tensor that shares the memory (CEED_EXPORT_SHARED).
///
/// Errors: as CeedFabExport(); CEED_ERROR_ACCESS also on read-only memory and while read leases
///         live: a legacy tensor can't say so.
int CeedFabToDLPack(CeedFab fab, CeedMemType mem_type, const CeedBox *region, CeedInt comp,
                    CeedInt num_comp, CeedAxisOrder order, struct DLManagedTensor **tensor);

/// The number of live exports of the fab's memory, as CeedVectorGetExportCount() counts them, and
/// the DLPack device they would carry.
int CeedFabGetExportCount(CeedFab fab, CeedSize *count);
int CeedFabGetDLPackDevice(CeedFab fab, CeedMemType mem_type, int32_t *device_type,
                           int32_t *device_id);

/// Which memory types hold memory of this fab, and which hold its current values.
int CeedFabGetMemTypes(CeedFab fab, bool holds[2], bool current[2]);

/// Print box, ghost layers, components and strides of a fab.
int CeedFabView(CeedFab fab, FILE *stream);

/// The context of a fab.
///
/// Ownership: gives a reference; release it with CeedDestroy().
int CeedFabGetCeed(CeedFab fab, Ceed *ceed);

/// The context of a fab, lent; returns it, or NULL for a bad handle.
Ceed CeedFabReturnCeed(CeedFab fab);

/// Release a reference and set `*fab` to NULL; NULL is accepted, twice is safe. Exports never block
/// it: they keep the memory alive.
///
/// Errors: CEED_ERROR_ACCESS while an array is out; the fab stays alive.
int CeedFabDestroy(CeedFab *fab);

// ------------------------------------------------------------------------------------------------
// CeedMultiFab: the boxes of one level, who owns each, and the fabs of this process. A box is named
// by its place in the list, so that loops over fabs may nest, end early and run in many threads:
// there is nothing to advance. Crossing processes is the code's own MPI.
// ------------------------------------------------------------------------------------------------

/// Make the fabs of the boxes that `owners` gives to this process, `rank`; NULL owners: all. The
/// boxes are valid boxes of one centring, which need not cover a rectangle. Fabs are as
/// CeedFabCreate() makes them; memory comes with their first values.
///
/// Ownership: copies the lists. Gives a reference; release it with CeedMultiFabDestroy().
int CeedMultiFabCreate(Ceed ceed, CeedInt num_boxes, const CeedBox *boxes, const CeedInt *owners,
                       CeedInt rank, CeedGhost ghost, CeedInt num_comp, CeedMultiFab *mf);

/// Share a MultiFab: `*mf_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*mf_copy` held before is released first; start from NULL.
int CeedMultiFabReferenceCopy(CeedMultiFab mf, CeedMultiFab *mf_copy);

/// Give a MultiFab another list of boxes, with new fabs without values; views of the old fabs
/// become stale, and a fab that somebody else has a reference of is on its own from now on. Level
/// and ratio stay.
///
/// Errors: CEED_ERROR_ACCESS, with their number, while views of the fabs live or arrays are out;
///         with `keep_views` views keep the old memory until the last of them ends.
int CeedMultiFabRedefine(CeedMultiFab mf, CeedInt num_boxes, const CeedBox *boxes,
                         const CeedInt *owners, CeedInt rank, CeedGhost ghost, CeedInt num_comp,
                         bool keep_views);

/// A number that grows with CeedMultiFabRedefine().
int CeedMultiFabGetGeneration(CeedMultiFab mf, uint64_t *generation);

/// The level, 0 unless it was set, and how many of its cells lie along one of the next coarser
/// level, by direction: 1 unless it was set.
int CeedMultiFabSetLevel(CeedMultiFab mf, CeedInt level, const CeedInt ratio[3]);
int CeedMultiFabGetLevel(CeedMultiFab mf, CeedInt *level, CeedInt ratio[3]);

/// What the MultiFab was made with.
int CeedMultiFabGetNumBoxes(CeedMultiFab mf, CeedInt *num_boxes);
int CeedMultiFabGetNumComponents(CeedMultiFab mf, CeedInt *num_comp);
int CeedMultiFabGetGhost(CeedMultiFab mf, CeedGhost *ghost);
int CeedMultiFabGetRank(CeedMultiFab mf, CeedInt *rank);

/// The box, and the owner of the box, at a place of the list.
///
/// Errors: CEED_ERROR_DIMENSION for a place that is not there, here and below.
int CeedMultiFabGetBox(CeedMultiFab mf, CeedInt index, CeedBox *box);
int CeedMultiFabGetOwner(CeedMultiFab mf, CeedInt index, CeedInt *owner);

/// The smallest box that contains all valid boxes.
///
/// Errors: CEED_ERROR_INCOMPLETE where there are none.
int CeedMultiFabGetHull(CeedMultiFab mf, CeedBox *hull);

/// How many boxes this process owns, and the place in the list of the local-th of them.
int CeedMultiFabGetNumLocal(CeedMultiFab mf, CeedInt *num_local);
int CeedMultiFabGetLocalIndex(CeedMultiFab mf, CeedInt local, CeedInt *index);

/// The fab of a box of this process, by its place in the list of all boxes.
///
/// Ownership: gives a reference; release it with CeedFabDestroy().
/// Errors:    CEED_ERROR_ACCESS, with the owner, for a box of another process.
int CeedMultiFabGetFab(CeedMultiFab mf, CeedInt index, CeedFab *fab);

/// Put another fab in the place of one: memory of the code. It has the same valid box and number of
/// components; the ghost layers may differ. Views of the fab that was there become stale.
///
/// Ownership: holds a reference.
/// Errors:    CEED_ERROR_DIMENSION for another box; CEED_ERROR_ACCESS while views of the old fab
///            live or an array is out, but for `keep_views`.
int CeedMultiFabSetFab(CeedMultiFab mf, CeedInt index, CeedFab fab, bool keep_views);

/// Set all entries of all local fabs, ghosts included.
int CeedMultiFabSetValue(CeedMultiFab mf, CeedScalar value);

/// Fill ghost cells from the valid cells of other local boxes and of periodic images: `period` is
/// the number of cells after which each direction repeats itself, 0 where it does not; NULL: it
/// does nowhere. Other ghost cells stay as they are. Where several boxes have a node, the first in
/// the list counts. Which cells come from which is kept until the next call with other boxes, fabs
/// or another period.
///
/// Errors: CEED_ERROR_DIMENSION for a period that the boxes do not fit in; CEED_ERROR_INCOMPLETE
///         for a fab without values; CEED_ERROR_ACCESS as CeedFabGetArray(). No cell was written
///         then.
int CeedMultiFabFillGhosts(CeedMultiFab mf, const CeedInt *period);

/// Copy the valid cells of one MultiFab to the valid cells of another, where both have them in this
/// process: what a regrid keeps. Both have the same centring and number of components; they may
/// share fabs, or fabs of them memory of one vector.
///
/// Errors: as above.
int CeedMultiFabCopy(CeedMultiFab mf, CeedMultiFab mf_copy);

/// Where a cell of a gathered array comes from.
enum { CEED_COVER_NONE = 0, CEED_COVER_GHOST = 1, CEED_COVER_VALID = 2 };

/// Gather the local fabs in one: every cell of `fab`, ghosts included, becomes that of a valid box,
/// else, with `with_ghosts`, that of a ghost layer, else `fill`; of several the first in the list.
/// `fab` has any box of the same centring, and the number of components of the MultiFab.
/// `cover` has one CEED_COVER_... for each cell of the whole block, the first direction fastest;
/// NULL: not wanted.
///
/// Errors: CEED_ERROR_INCOMPLETE for a fab without values; CEED_ERROR_ACCESS as CeedFabGetArray().
int CeedMultiFabGather(CeedMultiFab mf, bool with_ghosts, CeedScalar fill, CeedFab fab,
                       CeedInt8 *cover);

/// Print level and boxes, with owners.
int CeedMultiFabView(CeedMultiFab mf, FILE *stream);

/// The context of a MultiFab.
///
/// Ownership: gives a reference; release it with CeedDestroy().
int CeedMultiFabGetCeed(CeedMultiFab mf, Ceed *ceed);

/// The context of a MultiFab, lent; returns it, or NULL for a bad handle.
Ceed CeedMultiFabReturnCeed(CeedMultiFab mf);

/// Release a reference and set `*mf` to NULL; NULL is accepted, twice is safe.
///
/// Errors: CEED_ERROR_ACCESS while an array of one of its fabs is out; the MultiFab stays alive.
int CeedMultiFabDestroy(CeedMultiFab *mf);

// ------------------------------------------------------------------------------------------------
// CeedElemRestriction: which entries of an L-vector (all unknowns) belong to which element. An
// E-vector has every element's own copy.
// ------------------------------------------------------------------------------------------------

/// Stands for "no restriction" in a field of an operator.
extern const CeedElemRestriction CEED_ELEMRESTRICTION_NONE;

/// Strides that leave the layout of an L-vector to the backend: for data that only operators read.
extern const CeedInt CEED_STRIDES_BACKEND[3];

/// Make a restriction by offsets, `offsets[num_elem][elem_size]`: component c of a node is the
/// entry `offset + c * comp_stride` of the L-vector. Entries may be shared by elements. `num_elem`
/// may be 0.
///
/// Ownership: copies, borrows or takes `offsets` as `copy_mode` says; borrowed ones must not
/// change.
///            Gives the caller a reference; release it with CeedElemRestrictionDestroy().
/// Errors:    CEED_ERROR_DIMENSION, with the place, for an offset that leads out of the L-vector.
int CeedElemRestrictionCreate(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                              CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                              CeedCopyMode copy_mode, const CeedInt *offsets,
                              CeedElemRestriction *rstr);

/// Make a restriction by strides of (node, component, element), or CEED_STRIDES_BACKEND.
///
/// Ownership: copies `strides`. Gives a reference; release it with CeedElemRestrictionDestroy().
/// Errors:    CEED_ERROR_DIMENSION for strides that lead out of the L-vector.
int CeedElemRestrictionCreateStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                     CeedInt num_comp, CeedSize l_size, const CeedInt strides[3],
                                     CeedElemRestriction *rstr);

/// Share a restriction: `*rstr_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*rstr_copy` held before is released first; start from NULL.
int CeedElemRestrictionReferenceCopy(CeedElemRestriction rstr, CeedElemRestriction *rstr_copy);

/// Make vectors of the lengths of the L-vector and the E-vector; either output may be NULL.
///
/// Ownership: gives references; release them with CeedVectorDestroy().
int CeedElemRestrictionCreateVector(CeedElemRestriction rstr, CeedVector *lvec, CeedVector *evec);

/// CEED_NOTRANSPOSE: ru = E-vector of the L-vector u. CEED_TRANSPOSE: every entry of the E-vector u
/// is added to its place in the L-vector ru, in the order of the elements. Done on return;
/// `request` may be NULL.
///
/// Errors: CEED_ERROR_DIMENSION for other lengths; CEED_ERROR_INCOMPLETE for the transpose into a
///         vector without values; CEED_ERROR_INCOMPATIBLE for vectors over the same memory.
int CeedElemRestrictionApply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u,
                             CeedVector ru, CeedRequest *request);

/// Set `mult`, an L-vector, to the number of times that each entry occurs in the E-vector.
int CeedElemRestrictionGetMultiplicity(CeedElemRestriction rstr, CeedVector mult);

/// The strides of (node, component, element) in the E-vector.
int CeedElemRestrictionGetELayout(CeedElemRestriction rstr, CeedInt layout[3]);

/// The strides of (node, component, element) in the L-vector of a strided restriction.
///
/// Errors: CEED_ERROR_INCOMPATIBLE for offsets; CEED_ERROR_UNSUPPORTED where the backend's layout,
///         for CEED_STRIDES_BACKEND, has no strides.
int CeedElemRestrictionGetLLayout(CeedElemRestriction rstr, CeedInt layout[3]);

/// The offsets, lent until CeedElemRestrictionRestoreOffsets().
///
/// Errors: CEED_ERROR_INCOMPATIBLE for a strided restriction: it has none.
int CeedElemRestrictionGetOffsets(CeedElemRestriction rstr, CeedMemType mem_type,
                                  const CeedInt **offsets);

/// Give the offsets back; sets `*offsets` to NULL.
int CeedElemRestrictionRestoreOffsets(CeedElemRestriction rstr, const CeedInt **offsets);

/// The context of a restriction.
///
/// Ownership: gives a reference; release it with CeedDestroy().
int CeedElemRestrictionGetCeed(CeedElemRestriction rstr, Ceed *ceed);

/// The context of a restriction, lent; returns it, or NULL for a bad handle.
Ceed CeedElemRestrictionReturnCeed(CeedElemRestriction rstr);

/// What the restriction was made with. A strided one has no component stride: 0.
int CeedElemRestrictionGetCompStride(CeedElemRestriction rstr, CeedInt *comp_stride);
int CeedElemRestrictionGetNumElements(CeedElemRestriction rstr, CeedInt *num_elem);
int CeedElemRestrictionGetElementSize(CeedElemRestriction rstr, CeedInt *elem_size);
int CeedElemRestrictionGetNumComponents(CeedElemRestriction rstr, CeedInt *num_comp);

/// The lengths of the two vectors.
int CeedElemRestrictionGetLVectorSize(CeedElemRestriction rstr, CeedSize *l_size);
int CeedElemRestrictionGetEVectorSize(CeedElemRestriction rstr, CeedSize *e_size);

/// Elements are not grouped in blocks here: as many blocks as elements, of one element each.
int CeedElemRestrictionGetNumBlocks(CeedElemRestriction rstr, CeedInt *num_block);
int CeedElemRestrictionGetBlockSize(CeedElemRestriction rstr, CeedInt *block_size);

/// Print sizes and layout of a restriction.
int CeedElemRestrictionView(CeedElemRestriction rstr, FILE *stream);

/// Release a reference and set `*rstr` to NULL; NULL is accepted, twice is safe.
int CeedElemRestrictionDestroy(CeedElemRestriction *rstr);

/// Orientations and blocks of elements are not supported: these return CEED_ERROR_UNSUPPORTED.
int CeedElemRestrictionCreateOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                      CeedInt num_comp, CeedInt comp_stride, CeedSize l_size,
                                      CeedMemType mem_type, CeedCopyMode copy_mode,
                                      const CeedInt *offsets, const bool *orients,
                                      CeedElemRestriction *rstr);
int CeedElemRestrictionCreateBlocked(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                     CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
                                     CeedSize l_size, CeedMemType mem_type, CeedCopyMode copy_mode,
                                     const CeedInt *offsets, CeedElemRestriction *rstr);
int CeedElemRestrictionCreateBlockedOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                             CeedInt block_size, CeedInt num_comp,
                                             CeedInt comp_stride, CeedSize l_size,
                                             CeedMemType mem_type, CeedCopyMode copy_mode,
                                             const CeedInt *offsets, const bool *orients,
                                             CeedElemRestriction *rstr);
int CeedElemRestrictionCreateBlockedStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                            CeedInt block_size, CeedInt num_comp, CeedSize l_size,
                                            const CeedInt strides[3], CeedElemRestriction *rstr);
int CeedElemRestrictionApplyBlock(CeedElemRestriction rstr, CeedInt block, CeedTransposeMode t_mode,
                                  CeedVector u, CeedVector ru, CeedRequest *request);

// ------------------------------------------------------------------------------------------------
// CeedBasis: from the nodes of an element to its quadrature points and back
// ------------------------------------------------------------------------------------------------

/// Stands for "no basis" in a field of an operator: values are at the quadrature points already.
extern const CeedBasis CEED_BASIS_NONE;

/// Make a tensor-product Lagrange basis on [-1, 1]^dim, dim 1 to 3, with P >= 2 Gauss-Lobatto nodes
/// and Q quadrature points a direction, of the Gauss rule or of the Gauss-Lobatto rule. The first
/// direction is the fastest.
///
/// Errors:    those of CeedLobattoQuadrature() for P and of the rule for Q.
/// Ownership: gives the caller a reference; release it with CeedBasisDestroy().
int CeedBasisCreateTensorH1Lagrange(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P, CeedInt Q,
                                    CeedQuadMode quad_mode, CeedBasis *basis);

/// Make a tensor-product basis of values and derivatives at the points of one direction,
/// `interp_1d[Q_1d][P_1d]` and `grad_1d[Q_1d][P_1d]`.
///
/// Ownership: copies the arrays. Gives a reference; release it with CeedBasisDestroy().
int CeedBasisCreateTensorH1(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P_1d, CeedInt Q_1d,
                            const CeedScalar *interp_1d, const CeedScalar *grad_1d,
                            const CeedScalar *q_ref_1d, const CeedScalar *q_weight_1d,
                            CeedBasis *basis);

/// Make a basis on any topology of `interp[nqpts][num_nodes]`, `grad[dim][nqpts][num_nodes]`,
/// `q_ref[dim][nqpts]` and `q_weights[nqpts]`.
///
/// Ownership: copies the arrays. Gives a reference; release it with CeedBasisDestroy().
int CeedBasisCreateH1(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                      CeedInt nqpts, const CeedScalar *interp, const CeedScalar *grad,
                      const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis);

/// Make the basis whose points are the nodes of `basis_to`: CEED_EVAL_INTERP gives the
/// least-squares projection of a function of `basis_from`, at the quadrature points that both have,
/// and CEED_EVAL_GRAD that of its gradient.
///
/// Ownership: gives a reference; release it with CeedBasisDestroy().
/// Errors:    CEED_ERROR_INCOMPATIBLE unless dimension, components and points are the same, and
///            both are tensor products or none.
int CeedBasisCreateProjection(CeedBasis basis_from, CeedBasis basis_to, CeedBasis *basis_project);

/// Share a basis: `*basis_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*basis_copy` held before is released first; start from NULL.
int CeedBasisReferenceCopy(CeedBasis basis, CeedBasis *basis_copy);

/// Evaluate at the quadrature points of `num_elem` elements: u is [component][element][node], v is
/// [component][element][point], with the direction before that for CEED_EVAL_GRAD.
/// CEED_EVAL_WEIGHT gives [element][point] and takes CEED_VECTOR_NONE for u. CEED_TRANSPOSE goes
/// from points to nodes, where it sums over points and directions.
///
/// Errors: CEED_ERROR_DIMENSION for other lengths; CEED_ERROR_INCOMPATIBLE for vectors over the
///         same memory.
int CeedBasisApply(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                   CeedEvalMode eval_mode, CeedVector u, CeedVector v);

/// Add to v what CeedBasisApply() sets it to.
int CeedBasisApplyAdd(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                      CeedEvalMode eval_mode, CeedVector u, CeedVector v);

/// The context of a basis.
///
/// Ownership: gives a reference; release it with CeedDestroy().
int CeedBasisGetCeed(CeedBasis basis, Ceed *ceed);

/// The context of a basis, lent; returns it, or NULL for a bad handle.
Ceed CeedBasisReturnCeed(CeedBasis basis);

/// What a basis is made of; the counts of one direction only where it is a tensor product.
int CeedBasisGetDimension(CeedBasis basis, CeedInt *dim);
int CeedBasisGetTopology(CeedBasis basis, CeedElemTopology *topo);
int CeedBasisGetNumComponents(CeedBasis basis, CeedInt *num_comp);
int CeedBasisGetNumNodes(CeedBasis basis, CeedInt *P);
int CeedBasisGetNumNodes1D(CeedBasis basis, CeedInt *P_1d);
int CeedBasisGetNumQuadraturePoints(CeedBasis basis, CeedInt *Q);
int CeedBasisGetNumQuadraturePoints1D(CeedBasis basis, CeedInt *Q_1d);

/// The arrays that a basis was made of, lent; they live as long as it. Points and weights of a
/// tensor product are those of one direction.
int CeedBasisGetQRef(CeedBasis basis, const CeedScalar **q_ref);
int CeedBasisGetQWeights(CeedBasis basis, const CeedScalar **q_weights);
int CeedBasisGetInterp1D(CeedBasis basis, const CeedScalar **interp_1d);
int CeedBasisGetGrad1D(CeedBasis basis, const CeedScalar **grad_1d);

/// The full matrices, [Q][P] and [dim][Q][P], lent; those of a tensor product are made by the first
/// call.
int CeedBasisGetInterp(CeedBasis basis, const CeedScalar **interp);
int CeedBasisGetGrad(CeedBasis basis, const CeedScalar **grad);

/// Print sizes and matrices of a basis.
int CeedBasisView(CeedBasis basis, FILE *stream);

/// Release a reference and set `*basis` to NULL; NULL is accepted, twice is safe.
int CeedBasisDestroy(CeedBasis *basis);

// ------------------------------------------------------------------------------------------------
// CeedQFunctionContext: what a QFunction knows besides its fields. Values that are registered can
// be set by name while operators use it.
// ------------------------------------------------------------------------------------------------

/// Called once with the data of a context when it lets go of them; what it returns is not looked
/// at.
typedef int (*CeedQFunctionContextDataDestroyUser)(void *data);

/// Make a context without data.
///
/// Ownership: gives the caller a reference; release it with CeedQFunctionContextDestroy().
int CeedQFunctionContextCreate(Ceed ceed, CeedQFunctionContext *ctx);

/// Share a context: `*ctx_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*ctx_copy` held before is released first; start from NULL.
int CeedQFunctionContextReferenceCopy(CeedQFunctionContext ctx, CeedQFunctionContext *ctx_copy);

/// Set the data, of `size` bytes; what was there before is let go of.
///
/// Ownership: copies, borrows or takes `data` as `copy_mode` says; taken data are released with
///            free().
/// Errors:    CEED_ERROR_ACCESS while the data are out; CEED_ERROR_DIMENSION where a registered
///            field does not fit; CEED_ERROR_INCOMPATIBLE for data that are the context's own, or
///            that its destroy function would be given, already.
int CeedQFunctionContextSetData(CeedQFunctionContext ctx, CeedMemType mem_type,
                                CeedCopyMode copy_mode, size_t size, void *data);

/// Call `f` once with the data that are there when the context lets go of them (but not when they
/// are taken), instead of nothing for borrowed data and before free() for others.
///
/// Errors: CEED_ERROR_INCOMPLETE when there are no data yet.
int CeedQFunctionContextSetDataDestroy(CeedQFunctionContext ctx, CeedMemType f_mem_type,
                                       CeedQFunctionContextDataDestroyUser f);

/// Give borrowed data back; the context then has none. `data` is the address of a pointer, or NULL.
///
/// Errors: CEED_ERROR_ACCESS when nothing was borrowed or the data are out.
int CeedQFunctionContextTakeData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);

/// Lend the data until they are restored, for writing to one, or for reading to any number; `data`
/// is the address of a pointer, which Restore sets to NULL.
///
/// Errors: CEED_ERROR_ACCESS while others write (or read, for writing); CEED_ERROR_INCOMPLETE when
///         there are no data yet.
int CeedQFunctionContextGetData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);
int CeedQFunctionContextGetDataRead(CeedQFunctionContext ctx, CeedMemType mem_type, void *data);
int CeedQFunctionContextRestoreData(CeedQFunctionContext ctx, void *data);
int CeedQFunctionContextRestoreDataRead(CeedQFunctionContext ctx, void *data);

/// Name the `num_values` values that begin `field_offset` bytes behind the start of the data. The
/// description may be NULL.
///
/// Ownership: copies the texts.
/// Errors:    CEED_ERROR_INCOMPLETE before there are data; CEED_ERROR_DIMENSION for a field that
///            does not fit; CEED_ERROR_INCOMPATIBLE for a name that is there.
int CeedQFunctionContextRegisterDouble(CeedQFunctionContext ctx, const char *field_name,
                                       size_t field_offset, size_t num_values,
                                       const char *field_description);
int CeedQFunctionContextRegisterInt32(CeedQFunctionContext ctx, const char *field_name,
                                      size_t field_offset, size_t num_values,
                                      const char *field_description);
int CeedQFunctionContextRegisterBoolean(CeedQFunctionContext ctx, const char *field_name,
                                        size_t field_offset, size_t num_values,
                                        const char *field_description);

/// The labels of all registered fields, lent; the array until the next registration, a label as
/// long as the context lives.
int CeedQFunctionContextGetAllFieldLabels(CeedQFunctionContext ctx,
                                          const CeedContextFieldLabel **field_labels,
                                          CeedInt *num_fields);

/// The label of a registered field, lent while the context lives; NULL when there is none.
int CeedQFunctionContextGetFieldLabel(CeedQFunctionContext ctx, const char *field_name,
                                      CeedContextFieldLabel *field_label);

/// Set all values of a registered field.
///
/// Ownership: copies `values`.
/// Errors:    CEED_ERROR_INCOMPATIBLE for a label of another context or type; CEED_ERROR_ACCESS
///            while the data are out, or a QFunction runs with them.
int CeedQFunctionContextSetDouble(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                  double *values);
int CeedQFunctionContextSetInt32(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                 int32_t *values);
int CeedQFunctionContextSetBoolean(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                   bool *values);

/// The context (resource) that a QFunctionContext was made in: a reference, or lent.
int CeedQFunctionContextGetCeed(CeedQFunctionContext ctx, Ceed *ceed);
Ceed CeedQFunctionContextReturnCeed(CeedQFunctionContext ctx);

/// The size of the data in bytes; 0 when there are none.
int CeedQFunctionContextGetContextSize(CeedQFunctionContext ctx, size_t *ctx_size);

/// Print the size and the registered fields.
int CeedQFunctionContextView(CeedQFunctionContext ctx, FILE *stream);

/// Release a reference and set `*ctx` to NULL; NULL is accepted, twice is safe.
///
/// Errors: CEED_ERROR_ACCESS while the data are out; the context stays alive.
int CeedQFunctionContextDestroy(CeedQFunctionContext *ctx);

// ------------------------------------------------------------------------------------------------
// CeedQFunction: the physics at the quadrature points
// ------------------------------------------------------------------------------------------------

/// A function of Q points. A field of `size` components is `[size][Q]`; a gradient of n components
/// in `dim` directions is `[dim][n][Q]`. Other than 0 is an error, which the caller of apply gets;
/// the text is that of CeedError() where the function calls it.
typedef int (*CeedQFunctionUser)(void *ctx, CeedInt Q, const CeedScalar *const *in,
                                 CeedScalar *const *out);

/// Stands for "no QFunction", where a Jacobian or a transpose may be given.
extern const CeedQFunction CEED_QFUNCTION_NONE;

/// Make a QFunction. `vec_length` is the number that Q must be a multiple of, usually 1: that of
/// all points together is the caller's to see to, the backend sees to that of each call. `source`
/// is "file:name" or NULL.
///
/// Ownership: copies `source`; borrows `f`. Gives a reference; release it with
///            CeedQFunctionDestroy().
int CeedQFunctionCreateInterior(Ceed ceed, CeedInt vec_length, CeedQFunctionUser f,
                                const char *source, CeedQFunction *qf);

/// A routine that computes on vectors, for all points at once: one of size*Q entries for each
/// field, in the same layout. `in` is locked for reading. `out` are vectors of the library's own
/// without values: write all entries, or give them memory that has the results, which is not copied
/// then, by CeedVectorTakeFromDLPack() or by CeedVectorSetArray(); that of CEED_USE_POINTER stays
/// until apply returns. Other than 0 is an error, as of a CeedQFunctionUser.
typedef int (*CeedQFunctionShellUser)(void *ctx, CeedInt Q, const CeedVector *in,
                                      const CeedVector *out);

/// Make a QFunction of such a routine: for code that works on tensors, and has new memory for what
/// it computes. `source` is "file:name" or NULL.
///
/// Ownership: copies `source`; borrows `f`. Gives a reference; release it with
///            CeedQFunctionDestroy().
/// Errors:    CEED_ERROR_INCOMPLETE of apply, with the name, for an output that it gives no values.
int CeedQFunctionCreateShell(Ceed ceed, CeedQFunctionShellUser f, const char *source,
                             CeedQFunction *qf);

/// Make a QFunction of the gallery, with its fields:
/// Mass1DBuild, Mass2DBuild, Mass3DBuild: `dx` (dim*dim, gradient), `weights` to `qdata` (1);
/// Poisson1DBuild, Poisson2DBuild, Poisson3DBuild: the same to `qdata`, weight/det J adj J adj J^T
/// as 11,22,33,23,13,12 in 3-D and 11,22,12 in 2-D; MassApply, Vector3MassApply: `u` (1 or 3,
/// interpolated), `qdata` to `v`; Poisson1DApply, ..., Vector3Poisson3DApply: `du` (n*dim,
/// gradient), `qdata` to `dv`; Identity: `input` to `output`; Scale: `input` times the CeedScalar
/// in its context to `output`. The last two have one component and no evaluation until
/// CeedQFunctionAddInput() and CeedQFunctionAddOutput() say otherwise.
///
/// Ownership: gives a reference; release it with CeedQFunctionDestroy().
/// Errors:    CEED_ERROR_UNSUPPORTED, with the list, for another name.
int CeedQFunctionCreateInteriorByName(Ceed ceed, const char *name, CeedQFunction *qf);

/// Make a QFunction that copies `input` to `output`, of `size` components.
///
/// Ownership: gives a reference; release it with CeedQFunctionDestroy().
int CeedQFunctionCreateIdentity(Ceed ceed, CeedInt size, CeedEvalMode in_mode,
                                CeedEvalMode out_mode, CeedQFunction *qf);

/// Share a QFunction: `*qf_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*qf_copy` held before is released first; start from NULL.
int CeedQFunctionReferenceCopy(CeedQFunction qf, CeedQFunction *qf_copy);

/// Add a field, at most 16 each; the order is that of `in` and `out`. `size` counts all components,
/// with the directions of a gradient.
///
/// Ownership: copies the name.
/// Errors:    CEED_ERROR_INCOMPATIBLE for a name that is there, and once an operator has it.
int CeedQFunctionAddInput(CeedQFunction qf, const char *field_name, CeedInt size,
                          CeedEvalMode eval_mode);
int CeedQFunctionAddOutput(CeedQFunction qf, const char *field_name, CeedInt size,
                           CeedEvalMode eval_mode);

/// The fields, lent; every output may be NULL.
int CeedQFunctionGetFields(CeedQFunction qf, CeedInt *num_input_fields,
                           CeedQFunctionField **input_fields, CeedInt *num_output_fields,
                           CeedQFunctionField **output_fields);

/// Set what is passed to the function as `ctx`, from its next call on; NULL for nothing.
///
/// Ownership: keeps a reference of its own.
int CeedQFunctionSetContext(CeedQFunction qf, CeedQFunctionContext ctx);

/// Whether the function may write to its context, as it may at first: it then excludes all others
/// while it runs. Every point of an operator is in exactly one call, so that sums over the points
/// may be kept there; an assembly calls the function once for each active input component.
int CeedQFunctionSetContextWritable(CeedQFunction qf, bool is_writable);

/// For CeedQFunctionSetPointsPerCall().
enum { CEED_POINTS_ALL = -1 };

/// How many points a call in an operator has: 0, as many as the backend likes; CEED_POINTS_ALL, all
/// of the operator, at addresses that stay. A routine on vectors always has all.
///
/// Errors: CEED_ERROR_UNSUPPORTED for other numbers.
int CeedQFunctionSetPointsPerCall(CeedQFunction qf, CeedInt n);

/// Say how many floating-point operations a point costs.
int CeedQFunctionSetUserFlopsEstimate(CeedQFunction qf, CeedSize flops);

/// Call the function once for Q points, with one vector of size*Q entries a field. It is not called
/// for 0 points.
///
/// Errors: that of the function; the vectors are given back. CEED_ERROR_INCOMPATIBLE for an output
///         over the memory of another vector.
int CeedQFunctionApply(CeedQFunction qf, CeedInt Q, CeedVector *u, CeedVector *v);

/// The context of a QFunction: a reference, or lent.
int CeedQFunctionGetCeed(CeedQFunction qf, Ceed *ceed);
Ceed CeedQFunctionReturnCeed(CeedQFunction qf);

/// Print the fields of a QFunction.
int CeedQFunctionView(CeedQFunction qf, FILE *stream);

/// Release a reference and set `*qf` to NULL; NULL is accepted, twice is safe.
int CeedQFunctionDestroy(CeedQFunction *qf);

/// What a field was added with; names are lent while the QFunction lives. Every output of
/// CeedQFunctionFieldGetData() may be NULL.
int CeedQFunctionFieldGetName(CeedQFunctionField qf_field, const char **field_name);
int CeedQFunctionFieldGetSize(CeedQFunctionField qf_field, CeedInt *size);
int CeedQFunctionFieldGetEvalMode(CeedQFunctionField qf_field, CeedEvalMode *eval_mode);
int CeedQFunctionFieldGetData(CeedQFunctionField qf_field, const char **field_name, CeedInt *size,
                              CeedEvalMode *eval_mode);

// ------------------------------------------------------------------------------------------------
// CeedOperator: restriction, basis, QFunction and their transposes, one behind the other
// ------------------------------------------------------------------------------------------------

/// A routine that makes an operator: out = A in, or the transpose; other than 0 is an error.
typedef int (*CeedOperatorShellUser)(void *ctx, CeedVector in, CeedVector out);

/// Make an operator of a QFunction. `dqf` is the QFunction of its Jacobian and `dqfT` that of the
/// Jacobian's transpose, for CeedOperatorApplyJacobian() and CeedOperatorApplyTranspose(); either
/// may be CEED_QFUNCTION_NONE or NULL. The fields of a QFunction are fixed from here on.
///
/// Ownership: keeps references of its own. Gives a reference; release it with
/// CeedOperatorDestroy().
int CeedOperatorCreate(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                       CeedOperator *op);

/// Make an operator that is the sum of others, which CeedOperatorCompositeAddSub() adds.
///
/// Ownership: gives a reference; release it with CeedOperatorDestroy().
int CeedOperatorCreateComposite(Ceed ceed, CeedOperator *op);

/// Make an operator of a routine from vectors of `input_size` to vectors of `output_size`;
/// `apply_transpose` may be NULL.
///
/// Ownership: borrows the routines and `ctx`. Gives a reference; release it with
///            CeedOperatorDestroy().
int CeedOperatorCreateShell(Ceed ceed, CeedSize input_size, CeedSize output_size,
                            CeedOperatorShellUser apply, CeedOperatorShellUser apply_transpose,
                            void *ctx, CeedOperator *op);

/// Share an operator: `*op_copy` becomes a reference of the same object.
///
/// Ownership: gives a reference. What `*op_copy` held before is released first; start from NULL.
int CeedOperatorReferenceCopy(CeedOperator op, CeedOperator *op_copy);

/// Set a field, of all the QFunctions that have it. `vec` is CEED_VECTOR_ACTIVE for the argument of
/// apply, or a vector of data; CEED_VECTOR_NONE, with CEED_ELEMRESTRICTION_NONE or any restriction,
/// for quadrature weights. `basis` is CEED_BASIS_NONE for values that are stored at the quadrature
/// points.
///
/// Ownership: keeps references of its own.
/// Errors:    CEED_ERROR_INCOMPATIBLE for a field that the QFunctions don't have, or set twice;
///            CEED_ERROR_DIMENSION where sizes differ; the text names the field.
int CeedOperatorSetField(CeedOperator op, const char *field_name, CeedElemRestriction rstr,
                         CeedBasis basis, CeedVector vec);

/// The fields of an operator that is ready, lent, in the order of its QFunction; every output may
/// be NULL.
int CeedOperatorGetFields(CeedOperator op, CeedInt *num_input_fields,
                          CeedOperatorField **input_fields, CeedInt *num_output_fields,
                          CeedOperatorField **output_fields);

/// The field of a name, lent; NULL when it is not set.
int CeedOperatorGetFieldByName(CeedOperator op, const char *field_name,
                               CeedOperatorField *op_field);

/// What a field was set with. The name is lent.
///
/// Ownership: gives references of restriction, basis and vector (the stand-ins need no release).
///            Every output of CeedOperatorFieldGetData() may be NULL.
int CeedOperatorFieldGetName(CeedOperatorField op_field, const char **field_name);
int CeedOperatorFieldGetElemRestriction(CeedOperatorField op_field, CeedElemRestriction *rstr);
int CeedOperatorFieldGetBasis(CeedOperatorField op_field, CeedBasis *basis);
int CeedOperatorFieldGetVector(CeedOperatorField op_field, CeedVector *vec);
int CeedOperatorFieldGetData(CeedOperatorField op_field, const char **field_name,
                             CeedElemRestriction *rstr, CeedBasis *basis, CeedVector *vec);

/// Add an operator to a composite one; its active vectors must have the lengths of those before.
///
/// Ownership: keeps a reference of its own.
int CeedOperatorCompositeAddSub(CeedOperator composite_op, CeedOperator sub_op);

/// The parts of a composite operator, lent; NULL where none has the name. The list is lent until
/// the next CeedOperatorCompositeAddSub().
int CeedOperatorCompositeGetNumSub(CeedOperator op, CeedInt *num_suboperators);
int CeedOperatorCompositeGetSubList(CeedOperator op, CeedOperator **sub_operators);
int CeedOperatorCompositeGetSubByName(CeedOperator op, const char *op_name, CeedOperator *sub_op);

/// Whether parts must be applied one after the other; here they are, always.
int CeedOperatorCompositeSetSequential(CeedOperator op, bool is_sequential);
int CeedOperatorCompositeIsSequential(CeedOperator op, bool *is_sequential);

/// Check that the operator can be applied.
///
/// Errors: CEED_ERROR_INCOMPLETE, with the name of a field that is not set, or without elements'
///         number or points' number; CEED_ERROR_DIMENSION for more than INT32_MAX points.
int CeedOperatorCheckReady(CeedOperator op);

/// The lengths of the active vectors; -1 where there is none.
int CeedOperatorGetActiveVectorLengths(CeedOperator op, CeedSize *input_size,
                                       CeedSize *output_size);

/// out = A in. CEED_VECTOR_NONE stands for an active vector that there is not. Outputs that are
/// data are set as well. Done on return; `request` may be NULL. An entry that is NaN makes those
/// that depend on it NaN.
///
/// Everything is locked before an output is written, so that a call which is refused leaves all as
/// it was. The parts of a composite operator run one after the other, each with its locks: all are
/// tried first, then `out` is written.
///
/// Errors: that of the QFunction, after which the outputs are unspecified but nothing is locked;
///         CEED_ERROR_INCOMPATIBLE for an output over the memory of an input or another output;
///         CEED_ERROR_ACCESS for vectors and contexts that are out, and for an operator that runs
///         already: in another thread, or because its QFunction applies it.
int CeedOperatorApply(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);

/// Add to all outputs; or to the active one only, and set the others.
int CeedOperatorApplyAdd(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);
int CeedOperatorApplyAddActive(CeedOperator op, CeedVector in, CeedVector out,
                               CeedRequest *request);

/// Apply with the QFunction `dqf` of the Jacobian in the place of the operator's own.
///
/// Errors: CEED_ERROR_UNSUPPORTED for an operator without one.
int CeedOperatorApplyJacobian(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request);

/// Apply the transpose, of the Jacobian: with the QFunction `dqfT` where there is one, else by
/// assembling that of the Jacobian, or an operator's own, which must be linear then. `in` has the
/// length of the operator's output, `out` that of its input.
int CeedOperatorApplyTranspose(CeedOperator op, CeedVector in, CeedVector out,
                               CeedRequest *request);

/// Assemble a linear QFunction: the derivative of every active output component by every active
/// input component, at every point. Of an operator with a Jacobian it is that of the Jacobian, here
/// and for the diagonal and the matrix. `rstr` has a component for each pair, inputs slowest, in
/// the layout that CeedElemRestrictionGetLLayout() tells.
///
/// Ownership: gives references. BuildOrUpdate writes into `*assembled` where it is not NULL, and
///            leaves `*rstr` as it is then.
/// Errors:    as those of CeedOperatorApply(): after that of the QFunction, here and for the
///            diagonal and the matrix, what was to be written is unspecified and its state counts
///            on.
int CeedOperatorLinearAssembleQFunction(CeedOperator op, CeedVector *assembled,
                                        CeedElemRestriction *rstr, CeedRequest *request);
int CeedOperatorLinearAssembleQFunctionBuildOrUpdate(CeedOperator op, CeedVector *assembled,
                                                     CeedElemRestriction *rstr,
                                                     CeedRequest *request);

/// The diagonal of a linear operator from a vector to one of the same length; set or added. An
/// entry is the sum over the points of its element of products with the full matrices of the bases:
/// the cost is for small orders, and for preconditioners.
///
/// Errors: CEED_ERROR_UNSUPPORTED unless all active fields have one restriction;
///         CEED_ERROR_INCOMPATIBLE for a vector of the operator's own data.
int CeedOperatorLinearAssembleDiagonal(CeedOperator op, CeedVector assembled, CeedRequest *request);
int CeedOperatorLinearAssembleAddDiagonal(CeedOperator op, CeedVector assembled,
                                          CeedRequest *request);

/// The square blocks that couple the components of each node, `[node][out][in]`: l_size * num_comp
/// entries.
///
/// Errors: those of the diagonal; CEED_ERROR_UNSUPPORTED for parts of a composite operator whose
///         components lie differently far apart.
int CeedOperatorLinearAssemblePointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                 CeedRequest *request);
int CeedOperatorLinearAssembleAddPointBlockDiagonal(CeedOperator op, CeedVector assembled,
                                                    CeedRequest *request);

/// Rows and columns of the entries of the point-block diagonal; entries that no node has are 0, at
/// row 0 and column 0.
///
/// Ownership: gives `*rows` and `*cols`; release them with free().
int CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(CeedOperator op, CeedSize *num_entries,
                                                         CeedInt **rows, CeedInt **cols);

/// Rows and columns of the entries of the whole matrix, element by element; entries of the same
/// place are to be summed.
///
/// Ownership: gives `*rows` and `*cols`; release them with free().
int CeedOperatorLinearAssembleSymbolic(CeedOperator op, CeedSize *num_entries, CeedInt **rows,
                                       CeedInt **cols);

/// How many entries that are.
int CeedOperatorLinearAssembleGetNumEntries(CeedOperator op, CeedSize *num_entries);

/// The values of those entries, in their order.
int CeedOperatorLinearAssemble(CeedOperator op, CeedVector values);

/// Give the operator a name, for views and errors.
///
/// Ownership: copies the name.
int CeedOperatorSetName(CeedOperator op, const char *name);

/// The name, lent until it is set again; "" for none.
int CeedOperatorGetName(CeedOperator op, const char **name);

/// Print an operator with its fields, or its name and size alone.
int CeedOperatorView(CeedOperator op, FILE *stream);
int CeedOperatorViewTerse(CeedOperator op, FILE *stream);

/// The context of an operator: a reference, or lent.
int CeedOperatorGetCeed(CeedOperator op, Ceed *ceed);
Ceed CeedOperatorReturnCeed(CeedOperator op);

/// How many elements an operator has, how many quadrature points each, and how many floating-point
/// operations an apply costs.
///
/// Errors: CEED_ERROR_INCOMPLETE before it is known, and for a QFunction without an estimate.
int CeedOperatorGetNumElements(CeedOperator op, CeedInt *num_elem);
int CeedOperatorGetNumQuadraturePoints(CeedOperator op, CeedInt *num_qpts);
int CeedOperatorGetFlopsEstimate(CeedOperator op, CeedSize *flops);

/// The context of the QFunction, NULL when there is none.
///
/// Ownership: gives a reference; release it with CeedQFunctionContextDestroy().
int CeedOperatorGetContext(CeedOperator op, CeedQFunctionContext *ctx);

/// The label of a context field, lent while the operator lives; NULL when there is none. It stands
/// for the fields of that name in the operator, its Jacobian and its transpose, and in all parts of
/// a composite operator.
int CeedOperatorGetContextFieldLabel(CeedOperator op, const char *field_name,
                                     CeedContextFieldLabel *field_label);

/// Set all values of a context field, wherever its label stands for or, if that is refused,
/// nowhere.
///
/// Ownership: copies `values`.
/// Errors:    those of CeedQFunctionContextSetDouble().
int CeedOperatorSetContextDouble(CeedOperator op, CeedContextFieldLabel field_label,
                                 double *values);
int CeedOperatorSetContextInt32(CeedOperator op, CeedContextFieldLabel field_label,
                                int32_t *values);
int CeedOperatorSetContextBoolean(CeedOperator op, CeedContextFieldLabel field_label, bool *values);

/// Lend the values of a context field for reading, of the first part that has it, until they are
/// restored; the operator stays until then.
int CeedOperatorGetContextDoubleRead(CeedOperator op, CeedContextFieldLabel field_label,
                                     size_t *num_values, const double **values);
int CeedOperatorRestoreContextDoubleRead(CeedOperator op, CeedContextFieldLabel field_label,
                                         const double **values);
int CeedOperatorGetContextInt32Read(CeedOperator op, CeedContextFieldLabel field_label,
                                    size_t *num_values, const int32_t **values);
int CeedOperatorRestoreContextInt32Read(CeedOperator op, CeedContextFieldLabel field_label,
                                        const int32_t **values);
int CeedOperatorGetContextBooleanRead(CeedOperator op, CeedContextFieldLabel field_label,
                                      size_t *num_values, const bool **values);
int CeedOperatorRestoreContextBooleanRead(CeedOperator op, CeedContextFieldLabel field_label,
                                          const bool **values);

/// Release a reference and set `*op` to NULL; NULL is accepted, twice is safe.
///
/// Errors: CEED_ERROR_ACCESS while something that would end with the operator is out; it stays
///         alive.
int CeedOperatorDestroy(CeedOperator *op);

/// CEED_VECTOR_ACTIVE and what else stands for an object that there is not, for languages that
/// can't read C's constants; every output may be NULL.
int CeedGetStandIns(CeedVector *vector_active, CeedVector *vector_none,
                    CeedElemRestriction *elemrestriction_none, CeedBasis *basis_none,
                    CeedQFunction *qfunction_none);

// ------------------------------------------------------------------------------------------------
// XLA: operators inside of programs that it compiles, as those of jax.jit
// ------------------------------------------------------------------------------------------------

/// What of an operator is applied.
typedef enum { CEED_XLA_APPLY = 0, CEED_XLA_JACOBIAN = 1, CEED_XLA_TRANSPOSE = 2 } CeedXLAForm;

/// Let programs of XLA apply an operator by the id that they give CeedXLACall(). An id is never
/// used again.
///
/// The operands are the active input, where there is one, then what is named: fields of the
/// operator with vectors, which are lent the operands' memory for the time of a call and have no
/// values between, and fields of the context. The result is the active output. Nothing is copied
/// but values of the context.
///
/// Calls of one operator take turns, by a lock of it; otherwise they are as those of
/// CeedOperatorApply().
///
/// Ownership: keeps references of its own, until CeedXLAClose(). Copies nothing of `names`.
/// Errors:    CEED_ERROR_INCOMPATIBLE for a name that there is not, for two of one vector or value,
///            and without an active output; CEED_ERROR_UNSUPPORTED for a QFunction of
///            CeedQFunctionCreateShell(), as Python's are: from within a program, a function of JAX
///            would wait for ever.
/// Threads:   any, at any time.
int CeedOperatorXLAOpen(CeedOperator op, CeedXLAForm form, CeedInt num_names,
                        const char *const *names, int64_t *id);

/// Forget an id. A program that is compiled keeps what it calls; compiling another is an error.
///
/// Errors:  CEED_ERROR_INCOMPATIBLE for an id that is not open.
/// Threads: any, at any time.
int CeedXLAClose(int64_t id);

/// The functions to register with XLA for the platform "cpu", for the stages "instantiate" and
/// "execute" of one target of its FFI; the attribute "id" (int64) says what is called. They return
/// an error of XLA, or NULL: FAILED_PRECONDITION for an id that is not open, for vectors that are
/// out and for a routine that writes no output, INVALID_ARGUMENT for arrays of another type or
/// size.
///
/// A program keeps a reference of what it calls from the first stage on. XLA before version 0.3 of
/// its FFI can't do that: there each call looks the id up.
struct XLA_FFI_Error *CeedXLAInstantiate(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *CeedXLACall(struct XLA_FFI_CallFrame *frame);

// ------------------------------------------------------------------------------------------------
// Python, called from C: the library needs none until a function is called
// ------------------------------------------------------------------------------------------------

/// Call a Python function, "module:function", with an array for each input, which it may only read.
/// It returns an array for each output, a tuple of them unless there is one; or it has a parameter
/// `out`, gets the arrays of the outputs there, fills them, and returns these or None. An output may
/// be an input where the function has no `out`.
///
/// Arrays have one axis and are NumPy's; they share the memory of the vectors until the function
/// ends. A function of jax.jit gets JAX's.
///
/// The Python of this process is called where there is one. Else one is started, for the rest of
/// the process: that of the environment, or the program, which the environment variable
/// CEEDLIKE_PYTHON names; else that of the environment in which this library was installed as a
/// part of pyceedlike; else the python3 of PATH. A module is found as by `python -c`, in the
/// current folder too.
///
/// Errors: CEED_ERROR_UNSUPPORTED where no Python with pyceedlike can be had;
///         CEED_ERROR_INCOMPATIBLE for a function that there is not, or results that are no arrays
///         of the precision; CEED_ERROR_DIMENSION for their number or lengths;
///         CEED_ERROR_MINOR for an exception; the text tells what was raised and where.
///         No vector stays locked; the outputs are as they were unless the function fills them.
/// Threads: any, at any time; Python lets them take turns.
int CeedPythonCall(Ceed ceed, const char *function, CeedInt num_inputs, CeedVector *inputs,
                   CeedInt num_outputs, CeedVector *outputs);

/* cffi: end */

/// Any well-formed tensor that the host can address.
#define CEED_DLPACK_ANY \
  { -1, -1, -1, -1, -1, NULL, false, false, 0 }

// ------------------------------------------------------------------------------------------------
// Handlers and names of enum values: what cffi does not read
// ------------------------------------------------------------------------------------------------

/// Receives every error of a context, after its text was kept for CeedGetErrorMessage(). The
/// failing function returns the error's code, whatever the handler returns.
typedef int (*CeedErrorHandler)(Ceed ceed, const char *filename, int line_no, const char *func,
                                int err_code, const char *format, va_list *args);

/// Choose who receives the errors of a context; NULL is CeedErrorStore.
int CeedSetErrorHandler(Ceed ceed, CeedErrorHandler handler);

/// Report an error to the handler of a context; an error without one is stored, for the process has
/// other users. Returns the handler's code. CeedError() fills in the place; its value is the
/// error's code.
int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...);
#define CeedError(ceed, ecode, ...) \
  CeedErrorCode(CeedErrorImpl((ceed), __FILE__, __LINE__, __func__, (ecode), __VA_ARGS__), (ecode))

/// The handlers: return the code; keep the text; print `file:line in func(): text` to stderr and
/// exit with the code; print and abort.
int CeedErrorReturn(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                    const char *format, va_list *args);
int CeedErrorStore(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                   const char *format, va_list *args);
int CeedErrorExit(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                  const char *format, va_list *args);
int CeedErrorAbort(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                   const char *format, va_list *args);

/// Requests for work to be done on return, or in the order of the calls.
extern CeedRequest *const CEED_REQUEST_IMMEDIATE;
extern CeedRequest *const CEED_REQUEST_ORDERED;

/// Names of enum values, indexed by them; CeedErrorTypes from CEED_ERROR_UNSUPPORTED on.
extern const char *const *const CeedErrorTypes;
extern const char *const CeedMemTypes[];
extern const char *const CeedCopyModes[];
extern const char *const CeedTransposeModes[];
extern const char *const CeedEvalModes[];
extern const char *const CeedQuadModes[];
extern const char *const *const CeedElemTopologies;
extern const char *const CeedContextFieldTypes[];

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

/// printf conversions
#define CeedInt_FMT "d"
#define CeedSize_FMT "td"

/// The head of a QFunction, and `name_loc`, its source as "file:name"; what its body may use.
#define CEED_QFUNCTION(name)                                                   \
  static const char name##_loc[] __attribute__((unused)) = __FILE__ ":" #name; \
  __attribute__((unused)) static int name
#define CEED_QFUNCTION_HELPER static inline
#ifdef __clang__
#define CeedPragmaSIMD
#else
#define CeedPragmaSIMD _Pragma("GCC ivdep")
#endif
#define CEED_Q_VLA Q

/// The value of CeedError().
static inline int CeedErrorCode(int handled, int ecode) {
  (void)handled;
  return ecode;
}

/// base to a power >= 0
static inline CeedInt CeedIntPow(CeedInt base, CeedInt power) {
  CeedInt result = 1;
  for (; power > 0; power >>= 1, base *= power ? base : 1) {
    if (power & 1) result *= base;
  }
  return result;
}

static inline CeedInt CeedIntMin(CeedInt a, CeedInt b) { return a < b ? a : b; }
static inline CeedInt CeedIntMax(CeedInt a, CeedInt b) { return a > b ? a : b; }

#endif
