// Private structs, error macros, counted buffers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_IMPL_H
#define CEEDLIKE_IMPL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A code that is dropped inside the library is a warning of clang, which can be told so of the
   declarations that programs read, too. */
#ifdef __clang__
#define CEED_PRAGMA(text) _Pragma(#text)
#define CEED_CODES_BEGIN                                       \
  CEED_PRAGMA(clang diagnostic push)                           \
  CEED_PRAGMA(clang diagnostic ignored "-Wignored-attributes") \
  CEED_PRAGMA(                                                 \
      clang attribute push(__attribute__((warn_unused_result)), apply_to = hasType(functionType)))
#define CEED_CODES_END CEED_PRAGMA(clang attribute pop) CEED_PRAGMA(clang diagnostic pop)
#else
#define CEED_CODES_BEGIN
#define CEED_CODES_END
#endif

CEED_CODES_BEGIN

#include "ceedlike.h"
#include "device.h"
#include "dlpack_abi.h"

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

#define CeedCall(expr)       \
  do {                       \
    int code_ = (expr);      \
    if (code_) return code_; \
  } while (0)

#define CeedCheck(cond, ceed, code, ...)                                         \
  do {                                                                           \
    if (__builtin_expect(!(cond), 0)) return CeedError(ceed, code, __VA_ARGS__); \
  } while (0)

#define CeedCheckOutput(pointer, ceed) \
  CeedCheck(pointer, ceed, CEED_ERROR_INCOMPATIBLE, "The output " #pointer " is NULL")

/* How many errors this thread has reported: whether a function of the caller gave a text. */
uint64_t CeedErrorCount(void);

// ------------------------------------------------------------------------------------------------
// Objects: each begins with a magic word that holds the precision and the kind
// ------------------------------------------------------------------------------------------------

typedef enum {
  CEED_KIND_CEED = 1,
  CEED_KIND_VECTOR,
  CEED_KIND_SENTINEL,
  CEED_KIND_LABEL,
  CEED_KIND_RESTRICTION,
  CEED_KIND_BASIS,
  CEED_KIND_CONTEXT,
  CEED_KIND_QFUNCTION,
  CEED_KIND_QFUNCTION_FIELD,
  CEED_KIND_OPERATOR,
  CEED_KIND_OPERATOR_FIELD,
  CEED_KIND_FAB,
  CEED_KIND_MULTIFAB
} CeedKind;

#define CEED_MAGIC UINT64_C(0xCEED11CE00000000)
#define CEED_MAGIC_MASK UINT64_C(0xFFFFFFFF00000000)
#define CEED_MAGIC_OF(bits, kind) (CEED_MAGIC | (uint64_t)(bits) << 8 | (uint64_t)(kind))
#define CEED_SCALAR_BITS ((unsigned)(8 * sizeof(CeedScalar)))

typedef struct {
  uint64_t magic;
  int64_t ref_count;
  Ceed ceed; /* counted; NULL in a Ceed itself */
} CeedBase;

struct Ceed_private {
  CeedBase base;
  const CeedResource *resource;
  const CeedDevice *device[2]; /* by CeedMemType; NULL: none */
  int32_t device_id;
  void *stream; /* of the device, borrowed; NULL: its default one */
  CeedErrorHandler handler;
};

struct CeedContextFieldLabel_private {
  CeedBase base;
  const char *name, *description;
  size_t offset, num_values;
  CeedContextFieldType type;
};

int CeedObjectFail(const void *object, CeedKind kind);

#define CeedObjectIs(object, kind)                            \
  ((object) && (uintptr_t)(object) % sizeof(uint64_t) == 0 && \
   *(const uint64_t *)(const void *)(object) == CEED_MAGIC_OF(CEED_SCALAR_BITS, kind))
#define CeedObjectCheck(object, kind) \
  (__builtin_expect(CeedObjectIs(object, kind), 1) ? 0 : CeedObjectFail(object, kind))

#define CeedObjectRefer(object) \
  ((void)__atomic_add_fetch(&(object)->base.ref_count, 1, __ATOMIC_RELAXED))
#define CeedObjectRelease(object) \
  (__atomic_sub_fetch(&(object)->base.ref_count, 1, __ATOMIC_ACQ_REL) == 0)
/* Before it is freed, so that a copied handle is found out while the memory is not in use again. */
#define CeedObjectEnd(object) (*(volatile uint64_t *)&(object)->base.magic = 0)

// ------------------------------------------------------------------------------------------------
// Buffers
// ------------------------------------------------------------------------------------------------

#define CEED_ALIGNMENT 256
#define CEED_MAX_BYTES ((size_t)PTRDIFF_MAX - CEED_ALIGNMENT)

/* One word holds every count and flag of a buffer, so that a row of the table of exports is one
   compare-and-swap and a deleter is one subtraction; the buffer is freed when no count is left. */
#define REF_ONE UINT64_C(1)              /* the vector, read-only views, pins: 16 bits */
#define HOLDS_HOST (UINT64_C(1) << 16)   /* there is host memory */
#define HOLDS_DEVICE (UINT64_C(1) << 17) /* there is device memory */
#define VALID_HOST (UINT64_C(1) << 18)   /* the host memory has the current values */
#define VALID_DEVICE (UINT64_C(1) << 19) /* the device memory has them */
#define READ_ONLY (UINT64_C(1) << 20)    /* changed by a move alone */
#define SIDE_DEVICE (UINT64_C(1) << 21)  /* writable exports are of device memory */
#define COPYING (UINT64_C(1) << 22)      /* values go from one memory to the other */
#define FRESH (UINT64_C(1) << 23)        /* no writable export has begun meanwhile */
#define SHARED_ONE (UINT64_C(1) << 24)   /* writable shared exports: 14 bits */
#define LEASE_ONE (UINT64_C(1) << 38)    /* read leases: 10 bits */
#define SLOT_ONE (UINT64_C(1) << 48)   /* the embedded blocks that are lent: a bit for each of 4 */
#define READER_ONE (UINT64_C(1) << 52) /* GetArrayRead brackets: 10 bits */
#define WRITER_ONE (UINT64_C(1) << 62) /* the GetArray bracket */
#define WRITE_LEASE_ONE (UINT64_C(1) << 63)

#define REFS (HOLDS_HOST - REF_ONE)
#define VALID (VALID_HOST | VALID_DEVICE)
#define FLAGS (SHARED_ONE - HOLDS_HOST)
#define SHARED (LEASE_ONE - SHARED_ONE)
#define LEASES (SLOT_ONE - LEASE_ONE)
#define SLOTS (READER_ONE - SLOT_ONE)
#define READERS (WRITER_ONE - READER_ONE)
#define WRITABLE_EXPORTS (SHARED | WRITE_LEASE_ONE)
#define OTHERS (~(FLAGS | REF_ONE))           /* everybody but one reference, the vector's */
#define MOVING (WRITER_ONE | WRITE_LEASE_ONE) /* both at once: the memory is being replaced */

#define READ_BLOCKERS (WRITER_ONE | WRITE_LEASE_ONE)
#define WRITE_BLOCKERS (READ_BLOCKERS | READERS | LEASES)

#define HoldsIn(mem_type) (HOLDS_HOST << (mem_type))
#define ValidIn(mem_type) (VALID_HOST << (mem_type))
#define OtherType(mem_type) ((CeedMemType)(1 - (mem_type)))

/* A tensor with its shape and strides: one block, so that the deleter frees once. A buffer lends
   blocks of its own to exports of one axis; when they are out, more come from malloc. */
typedef struct {
  union {
    DLManagedTensor legacy;
    DLManagedTensorVersioned versioned;
  } tensor;
  struct CeedBuffer_private *buffer;
  uint64_t unit;
  int64_t dims[2];
} CeedExport;

typedef struct CeedBuffer_private {
  uint64_t word;
  size_t bytes;
  CeedMemory memory[2]; /* by CeedMemType */
  CeedExport slots[4];
} * CeedBuffer;

#define CeedBufferWord(buffer) __atomic_load_n(&(buffer)->word, __ATOMIC_ACQUIRE)

/* The memory comes with the first write, so that a vector made to adopt a tensor costs O(1). */
int CeedBufferCreate(Ceed ceed, size_t bytes, CeedBuffer *buffer);
int CeedBufferAllocate(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type);

/* Count a unit unless one of the blockers is there; `what` is who asks, for the text. */
int CeedBufferAcquire(Ceed ceed, CeedBuffer buffer, uint64_t unit, uint64_t blockers,
                      const char *what);
int CeedBufferRefuse(Ceed ceed, uint64_t word, const char *what);
void CeedBufferRelease(CeedBuffer buffer, uint64_t unit);

/* End a writer's access to one memory type, which holds the current values from now on. */
int CeedBufferReleaseWriter(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type);

/* The values that are there count no more; the memory stays. */
void CeedBufferForget(CeedBuffer buffer);

/* Make one memory type hold the current values. The caller is counted as a reader or the writer, so
   that nobody writes meanwhile but through exports. */
int CeedBufferSync(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type);

/* Replace the memory of one type while nobody else has it; what was there before is the caller's to
   release. The buffer stays, so that exports need no lock to find it. */
int CeedBufferMove(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type, CeedMemory memory,
                   CeedMemory old[2], const char *what);
/* Let go of memory of somebody else. Its address, with the current values in it, is the result
   where data is not NULL. */
int CeedBufferTake(Ceed ceed, CeedBuffer buffer, CeedMemType mem_type, void **data,
                   CeedMemory *old);
void CeedMemoryRelease(const CeedMemory *memory);

/* Where memory of a context's own lies. */
DLDevice CeedPlaceOf(Ceed ceed, CeedMemType mem_type);
/* Refuse an address that the device's runtime knows to be of the other memory type. */
int CeedMemoryCheck(Ceed ceed, CeedMemType mem_type, const void *data);

int CeedMemoryCopy(Ceed ceed, void *to, CeedMemType to_type, const void *from,
                   CeedMemType from_type, size_t bytes);

// ------------------------------------------------------------------------------------------------
// Vectors
// ------------------------------------------------------------------------------------------------

struct CeedVector_private {
  CeedBase base;
  CeedSize length;
  CeedBuffer buffer;
  uint64_t state;
  uint64_t moves;          /* how often the memory was replaced */
  CeedMemType writer_type; /* of the array that is out for writing */
};

#define CeedVectorMoves(vec) __atomic_load_n(&(vec)->moves, __ATOMIC_RELAXED)

int CeedMemTypeCheck(Ceed ceed, CeedMemType mem_type);
int CeedCopyModeCheck(Ceed ceed, CeedCopyMode copy_mode);

/* Access without a handle check; the entries of `data` belong to the caller until the release. */
int CeedVectorAcquireRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **data,
                          const char *what);
int CeedVectorAcquireWrite(CeedVector vec, CeedMemType mem_type, bool keep_values,
                           CeedScalar **data, const char *what);
void CeedVectorReleaseRead(CeedVector vec);
int CeedVectorReleaseWrite(CeedVector vec);
void CeedVectorCancelWrite(CeedVector vec);

/* Replace the memory of a vector. Nothing of it is touched after the old memory is released: that
   may run code of anybody, which may destroy the vector. */
int CeedVectorMove(CeedVector vec, CeedMemType mem_type, CeedMemory memory, const char *what);

CEED_CODES_END

#endif
