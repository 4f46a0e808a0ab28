// The life of a counted object, and small checks that objects share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_OBJECT_H
#define CEEDLIKE_OBJECT_H

#include "impl.h"

/* Zeroed memory of an object with one reference, or NULL; it keeps its context alive. */
void *CeedObjectNew(Ceed ceed, CeedKind kind, size_t bytes);

/* Drop a reference; the last one stays where `out` is a text that says what the caller still has.
 */
int CeedObjectDrop(CeedBase *base, const char *out, bool *is_last);

/* The life of a counted object. OUT(object) is NULL or the text for CeedObjectDrop(); FREE(object)
   releases all but the context. */
#define CEED_OBJECT(Type, KIND, OUT, FREE)                                \
  int Type##ReferenceCopy(Type object, Type *copy) {                      \
    int code;                                                             \
                                                                          \
    CeedCall(CeedObjectCheck(object, KIND));                              \
    CeedCheckOutput(copy, object->base.ceed);                             \
    CeedObjectRefer(object);                                              \
    code = Type##Destroy(copy);                                           \
    if (code) {                                                           \
      (void)CeedObjectRelease(object);                                    \
      return code;                                                        \
    }                                                                     \
    *copy = object;                                                       \
    return CEED_ERROR_SUCCESS;                                            \
  }                                                                       \
                                                                          \
  int Type##Destroy(Type *object) {                                       \
    bool is_last;                                                         \
                                                                          \
    if (!object || !*object) return CEED_ERROR_SUCCESS;                   \
    if (!CeedObjectIs(*object, CEED_KIND_SENTINEL)) {                     \
      CeedCall(CeedObjectCheck(*object, KIND));                           \
      CeedCall(CeedObjectDrop(&(*object)->base, OUT(*object), &is_last)); \
      if (is_last) {                                                      \
        Ceed ceed = (*object)->base.ceed;                                 \
        CeedObjectEnd(*object);                                           \
        FREE(*object);                                                    \
        CeedDestroy(&ceed);                                               \
      }                                                                   \
    }                                                                     \
    *object = NULL;                                                       \
    return CEED_ERROR_SUCCESS;                                            \
  }

#define CEED_OBJECT_CEED(Type, KIND)                                 \
  int Type##GetCeed(Type object, Ceed *ceed) {                       \
    CeedCall(CeedObjectCheck(object, KIND));                         \
    CeedCheckOutput(ceed, object->base.ceed);                        \
    *ceed = object->base.ceed;                                       \
    CeedObjectRefer(*ceed);                                          \
    return CEED_ERROR_SUCCESS;                                       \
  }                                                                  \
                                                                     \
  Ceed Type##ReturnCeed(Type object) {                               \
    return CeedObjectCheck(object, KIND) ? NULL : object->base.ceed; \
  }

/* A query of one value. */
#define CEED_GET(function, Type, KIND, result_type, value) \
  int function(Type object, result_type *result) {         \
    CeedCall(CeedObjectCheck(object, KIND));               \
    CeedCheckOutput(result, object->base.ceed);            \
    *result = object->value;                               \
    return CEED_ERROR_SUCCESS;                             \
  }

/* The product of sizes >= 0, or an error. */
int CeedSizeProduct(Ceed ceed, const char *what, int count, const CeedSize *factors,
                    CeedSize *product);
#define CeedSizeOf(ceed, what, product, ...)                                               \
  CeedSizeProduct(ceed, what, (int)(sizeof((CeedSize[]){__VA_ARGS__}) / sizeof(CeedSize)), \
                  (CeedSize[]){__VA_ARGS__}, product)

/* Memory of our own of `count` entries, zeroed; never NULL on success. */
int CeedAllocate(Ceed ceed, CeedSize count, size_t bytes_each, void *array);

int CeedStreamCheck(Ceed ceed, FILE *stream);

#endif
