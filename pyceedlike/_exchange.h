// What the files of the extension module share; each of them holds one side of the border.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef PYCEEDLIKE_EXCHANGE_H
#define PYCEEDLIKE_EXCHANGE_H

#include <Python.h>
#include <stdio.h>

#include "_numbers.h"
#include "ceedlike.h"
#include "dlpack_abi.h"

// ------------------------------------------------------------------------------------------------
// The C library in both precisions, from the one header
// ------------------------------------------------------------------------------------------------

/* clang-format off */
#define FUNCTIONS(X) \
  X(Init) X(SetErrorHandler) X(ErrorStore) X(ErrorImpl) X(GetErrorMessage) X(GetVersion) X(View) \
  X(GetPreferredMemType) X(GetDLPackDevice) X(GetStream) X(OrderBefore) X(OrderAfter) \
  X(VectorCreate) X(VectorReferenceCopy) X(VectorReturnCeed) X(VectorDestroy) X(VectorGetLength) \
  X(VectorView) X(VectorCopy) X(VectorReciprocal) X(VectorPointwiseMult) \
  X(VectorGetArray) X(VectorGetArrayRead) X(VectorGetArrayWrite) \
  X(VectorRestoreArray) X(VectorRestoreArrayRead) \
  X(VectorExport) X(VectorToDLPack) X(VectorToDLPackVersioned) X(VectorGetDLPackDevice) \
  X(VectorTakeArray) X(VectorTakeFromDLPack) X(VectorTakeFromDLPackVersioned) \
  X(VectorCreateFromDLPack) X(VectorCreateFromDLPackVersioned) \
  X(MultiFabReferenceCopy) X(MultiFabGetNumLocal) X(MultiFabGetLocalIndex) X(MultiFabGetFab) \
  X(FabGetRegion) X(FabReferenceCopy) X(FabReturnCeed) X(FabDestroy) X(FabExport) X(FabGetDLPackDevice) X(FabGetGeneration) \
  X(FabGetNumComponents) X(FabGetComponentBase) X(FabView) \
  X(FabCreateFromDLPack) X(FabCreateFromDLPackVersioned) \
  X(DLPackCheck) X(DLPackView) X(DLPackViewVersioned) \
  X(XLAInstantiate) X(XLACall)
/* clang-format on */

/* The header is seen in double precision here. The pointers to entries that some of the functions
   pass are only carried from one of them to the other, never followed. */
#define DECLARE(name) __typeof__(Ceedlike##name##_f64) Ceedlike##name##_f32;
#define MEMBER(name) __typeof__(Ceedlike##name##_f64) *name;
FUNCTIONS(DECLARE)

typedef struct {
  FUNCTIONS(MEMBER)
  const Numbers *numbers;
  const char *scalar, *format, *typestr;
  Py_ssize_t item_size;
} Library;

enum { FLOAT64, FLOAT32 };
extern const Library libraries[2];
extern Ceed contexts[2]; /* where imports without a context go */

// ------------------------------------------------------------------------------------------------
// Objects
// ------------------------------------------------------------------------------------------------

enum { MAX_AXES = 4 }; /* of what an object gives away: three directions and the component */

typedef struct Exporter Exporter;

/* What a consumer asks for. */
typedef struct {
  CeedMemType mem_type;
  CeedExportMode mode;
  CeedInt ndim; /* of a vector; the axes of a fab are its own */
  const int64_t *shape;
  bool versioned, relabel; /* relabel: plain host memory is asked for */
  int copy;                /* 1, 0, or -1 for "if needed" */
  bool is_unordered;       /* of a device: the consumer sees to the order of streams himself */
  void *stream;            /* that he works on; NULL: the default one */
} Request;

/* How an object of one kind gives its memory away. */
typedef struct {
  const char *noun, *shares, *leases; /* what it is, and says when it does */
  /* With whoever reads and writes; for legacy tensors NULL, where there is a wrapper. */
  int (*share)(Exporter *, CeedMemType, DLManagedTensorVersioned **);
  int (*share_legacy)(Exporter *, CeedMemType, DLManagedTensor **);
  int (*export)(Exporter *, CeedExportMode, const Request *, DLManagedTensorVersioned **);
  int (*device)(Exporter *, CeedMemType, int32_t *, int32_t *);
  int (*destroy)(Exporter *);
} Kind;

/* The base of what shares memory: owns one reference of the C object. */
struct Exporter {
  PyObject_HEAD
  const Library *lib;
  const Kind *kind;
  CeedVector vec;                             /* of a vector */
  CeedFab fab;                                /* of a fab or a view of one */
  Ceed ceed;                                  /* of either, lent */
  CeedMemType mem_type;                       /* that is given away unasked */
  int64_t shape[MAX_AXES], strides[MAX_AXES]; /* a vector's, or what was lent last */
  DLManagedTensorVersioned *pin[2]; /* keep what the array interfaces have told, for life */
  const char *reason;               /* of the last exchange; NULL: none yet */
  PyObject *detail;                 /* what else there is to say of it, or NULL */
  bool shared;
};

/* What waits for a device lets other threads have the interpreter meanwhile: the work that it waits
   for may need it, as a host task of SYCL does. */
static inline PyThreadState *Unlock(bool has_device) {
  return has_device ? PyEval_SaveThread() : NULL;
}

static inline void Lock(PyThreadState *state) {
  if (state) PyEval_RestoreThread(state);
}

static inline int Share(Exporter *self, CeedMemType mem_type, DLManagedTensorVersioned **tensor) {
  PyThreadState *state = Unlock(self->mem_type == CEED_MEM_DEVICE);
  int code = self->kind->share(self, mem_type, tensor);

  Lock(state);
  return code;
}

static inline int ExportAs(Exporter *self, CeedExportMode mode, const Request *request,
                           DLManagedTensorVersioned **tensor) {
  PyThreadState *state = Unlock(self->mem_type == CEED_MEM_DEVICE);
  int code = self->kind->export(self, mode, request, tensor);

  Lock(state);
  return code;
}

enum {
  EXCHANGE_TYPE,
  VECTOR_TYPE,
  CEED_TYPE,
  FALLBACK,
  COPY_ERROR,
  EXPORT_ERROR,
  LIBRARY_FLOAT64,
  LIBRARY_FLOAT32,
  GIVEN_COUNT
};
extern PyObject *given[GIVEN_COUNT]; /* what the Python side has told setup() */
extern PyTypeObject *exporter_type, *vector_type, *fab_type, *fab_view_type;
extern const Kind vector_kind, fab_kind, fab_view_kind;

PyObject *Allocate(PyTypeObject *type);
void Release(PyObject *object);
/* An object that is still none, as what a failed import leaves to finalizers; methods refuse it. */
Exporter *AllocateExporter(PyTypeObject *type, const Kind *kind);
void SetVector(Exporter *self, const Library *lib, CeedVector vec);
void SetCeed(Exporter *self, Ceed ceed);

/* The library of the object at an address, and a reference of it; NULL where none is. */
typedef int (*Refer)(const Library *lib, void *object, void **copy);
const Library *FindObject(PyObject *address, Refer refer, void **object);

static inline void RecordExchange(Exporter *self, bool shared, const char *reason) {
  self->shared = shared;
  self->reason = reason;
  if (self->detail) Py_CLEAR(self->detail);
}

static inline void RecordCopy(Exporter *self, PyObject *why) {
  RecordExchange(self, false, "a private copy");
  Py_INCREF(why);
  self->detail = why;
}

/* Constants of the process are made once, and kept when the module is imported again. Takes what
   was made. */
static inline int Keep(PyObject **place, PyObject *made) {
  if (*place) {
    Py_XDECREF(made);
  } else {
    *place = made;
  }
  return *place ? 0 : -1;
}

/* Whether a keyword is a known one; nearly always both are the same interned string. */
static inline bool SameName(PyObject *name, PyObject *known) {
  return name == known || PyUnicode_Compare(name, known) == 0;
}

/* Code of others is called while an exception may be on its way, and may leave one behind: PutAside
   before, Resume after. What was left is reported, as nobody can be told. */
typedef struct {
  PyObject *type, *value, *trace;
} Exception;

Exception PutAside(void);
void Resume(Exception before);
void ReportException(void);

int ParseLong(PyObject *value, const char *fault, long *number);
/* Set the address that an integer is. */
int ParseAddress(PyObject *object, uintptr_t *address);

PyObject *ErrorClass(int code);

/* Set the exception of an error code, with the text of the library; return NULL. Inside the
   exchange protocols everything but missing memory is a BufferError. */
PyObject *Raise(const Library *lib, int code);
PyObject *RaiseExport(const Library *lib, int code);

// ------------------------------------------------------------------------------------------------
// Texts that the library prints
// ------------------------------------------------------------------------------------------------

typedef struct {
  char *text;
  size_t size;
  FILE *stream;
} Printed;

FILE *PrintedOpen(Printed *printed);
PyObject *PrintedClose(Printed *printed, const Library *lib, int code);

// ------------------------------------------------------------------------------------------------
// Capsules
// ------------------------------------------------------------------------------------------------

/* Static, so that a capsule may keep the pointer and ours are told by their address. */
extern const char versioned_name[], legacy_name[];

PyObject *WrapVersioned(DLManagedTensorVersioned *tensor);
PyObject *WrapLegacy(DLManagedTensor *tensor);
/* A versioned tensor in a legacy wrapper; takes it, on failure too. */
PyObject *WrapInLegacy(DLManagedTensorVersioned *inner);

// ------------------------------------------------------------------------------------------------
// The parts in other files
// ------------------------------------------------------------------------------------------------

/* _vector.c */
extern PyType_Spec vector_spec;
PyObject *CreateVector(PyObject *module, PyObject *args);

/* _import.c */
extern const char import_doc[], borrow_buffer_doc[], borrow_address_doc[], adopt_doc[];
int InitImports(void);
PyObject *ImportMethod(PyObject *type, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *ImportFabMethod(PyObject *type, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *ImportVersioned(PyTypeObject *type, DLManagedTensorVersioned *tensor);
PyObject *TakeMethod(PyObject *self, PyObject *args);
PyObject *LetGoMethod(PyObject *self, PyObject *args);
PyObject *BorrowBuffer(PyObject *module, PyObject *object);
PyObject *AdoptBuffer(PyObject *module, PyObject *args);
PyObject *BorrowAddress(PyObject *module, PyObject *args);
/* A tuple, or the word "none" for NULL. */
PyObject *Integers(const int64_t *values, int32_t count);

/* _access.c */
extern PyType_Spec bracket_spec, lease_spec;
extern PyTypeObject *bracket_type, *lease_type;
PyObject *OpenMethod(PyObject *self, PyObject *args);
PyObject *LeaseMethod(PyObject *self, PyObject *args);

/* _buffer.c */
typedef struct {
  void *data;
  int ndim;
  const int64_t *shape, *steps; /* steps: strides in bytes */
  bool read_only;
} Memory;

int FillBuffer(PyObject *owner, Py_buffer *view, int flags, const Library *lib,
               const Memory *memory);
int GetBuffer(PyObject *object, Py_buffer *view, int flags);
void ReleaseBuffer(PyObject *object, Py_buffer *view);
PyObject *GetArrayInterface(PyObject *object, void *unused);

PyObject *GetCudaInterface(PyObject *object, void *unused);

/* _stream.c */
int ParseStream(Exporter *self, PyObject *value, Request *request);
/* Make the consumer's stream wait for ours. */
int OrderExport(Exporter *self, const Request *request);
bool HasDevice(const Library *lib, Ceed ceed);
/* The stream that a producer is to order his work before: a new integer, None where there is none
   to tell. */
PyObject *StreamOfImport(PyObject *source, const Library *lib, Ceed ceed);
/* Make our stream wait for the one that an interface tells of. */
int OrderImport(const Library *lib, Ceed ceed, PyObject *stream);
/* The number of the context's stream as DLPack and the interface of CUDA count. */
PyObject *StreamNumber(const Library *lib, Ceed ceed);

/* _fab.c */
void SetFab(Exporter *self, const Library *lib, CeedFab fab);
PyObject *ReferToMultiFab(PyObject *module, PyObject *address);
PyObject *ListFabs(PyObject *module, PyObject *args);
extern PyType_Spec fab_spec, fab_view_spec;

/* _examine.c */
extern const char examine_doc[];
PyObject *Examine(PyObject *module, PyObject *object);

/* _table.c */
extern DLPackExchangeAPI exchange_api;

#endif
