// The life of a counted object, and small checks that objects share.
// SPDX-License-Identifier: BSD-2-Clause
#include "object.h"

#include <stdlib.h>
#include <string.h>

void *CeedObjectNew(Ceed ceed, CeedKind kind, size_t bytes) {
  CeedBase *base = calloc(1, bytes);

  if (!base) return NULL;
  *base = (CeedBase){CEED_MAGIC_OF(CEED_SCALAR_BITS, kind), 1, ceed};
  CeedObjectRefer(ceed);
  return base;
}

static int Drop(CeedBase *base, const CeedClass *class, bool *is_last) {
  int64_t count = __atomic_load_n(&base->ref_count, __ATOMIC_ACQUIRE);

  do {
    const char *out = count == 1 && class->out ? class->out(base) : NULL;
    CeedCheck(!out, base->ceed, CEED_ERROR_ACCESS, "%s: restore before destroying", out);
  } while (!__atomic_compare_exchange_n(&base->ref_count, &count, count - 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  *is_last = count == 1;
  return CEED_ERROR_SUCCESS;
}

/* Handles are pointers of several types. */
static CeedBase *GetHandle(const void *handle) {
  CeedBase *base;

  memcpy(&base, handle, sizeof base);
  return base;
}

static void SetHandle(void *handle, CeedBase *base) { memcpy(handle, &base, sizeof base); }

int CeedObjectDestroy(void *handle, const CeedClass *class) {
  CeedBase *base = handle ? GetHandle(handle) : NULL;
  bool is_last = false;

  if (!base) return CEED_ERROR_SUCCESS;
  if (!CeedObjectIs(base, CEED_KIND_SENTINEL)) {
    CeedCall(CeedObjectCheck(base, class->kind));
    CeedCall(Drop(base, class, &is_last));
  }
  SetHandle(handle, NULL);
  if (is_last) {
    Ceed ceed = base->ceed;
    *(volatile uint64_t *)&base->magic = 0; /* as CeedObjectEnd() */
    class->free(base);
    (void)CeedDestroy(&ceed);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedObjectReferenceCopy(void *object, const CeedClass *class, void *copy) {
  CeedBase *base = object;
  int code;

  CeedCall(CeedObjectCheck(base, class->kind));
  CeedCheckOutput(copy, base->ceed);
  __atomic_add_fetch(&base->ref_count, 1, __ATOMIC_RELAXED);
  code = CeedObjectDestroy(copy, class);
  if (code) {
    (void)__atomic_sub_fetch(&base->ref_count, 1, __ATOMIC_ACQ_REL);
    return code;
  }
  SetHandle(copy, base);
  return CEED_ERROR_SUCCESS;
}

int CeedSizeProduct(Ceed ceed, const char *what, int count, const CeedSize *factors,
                    CeedSize *product) {
  CeedSize result = 1;

  for (int i = 0; i < count; i++) {
    CeedCheck(!__builtin_mul_overflow(result, factors[i], &result), ceed, CEED_ERROR_DIMENSION,
              "%s: the size is too large", what);
  }
  *product = result;
  return CEED_ERROR_SUCCESS;
}

int CeedAllocate(Ceed ceed, CeedSize count, size_t bytes_each, void *array) {
  void *memory = calloc((size_t)count + (count == 0), bytes_each);

  CeedCheck(memory, ceed, CEED_ERROR_MAJOR, "Out of memory: %td entries of %zu bytes", count,
            bytes_each);
  memcpy(array, &memory, sizeof memory);
  return CEED_ERROR_SUCCESS;
}

int CeedStreamCheck(Ceed ceed, FILE *stream) {
  CeedCheck(stream, ceed, CEED_ERROR_INCOMPATIBLE, "The stream is NULL");
  return CEED_ERROR_SUCCESS;
}
