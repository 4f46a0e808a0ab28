// The life of a counted object, and small checks that objects share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_OBJECT_H
#define CEEDLIKE_OBJECT_H

#include "impl.h"

/* Zeroed memory of an object with one reference, or NULL; it keeps its context alive. */
void *CeedObjectNew(Ceed ceed, CeedKind kind, size_t bytes);

/* What the objects of a kind have in common. */
typedef struct {
  CeedKind kind;
  /* A text of what the caller still has of it, or NULL; the last reference stays while there is. */
  const char *(*out)(void *object);
  void (*free)(void *object); /* all but the context */
} CeedClass;

int CeedObjectReferenceCopy(void *object, const CeedClass *class, void *copy);
int CeedObjectDestroy(void *handle, const CeedClass *class);

/* What would stay out if the owner of this reference let it go. */
#define CeedOutOfLast(object, Out) \
  (__atomic_load_n(&(object)->base.ref_count, __ATOMIC_ACQUIRE) == 1 ? Out(object) : NULL)

#define CEED_OBJECT(Type, class)                            \
  int Type##ReferenceCopy(Type object, Type *copy) {        \
    return CeedObjectReferenceCopy(object, &(class), copy); \
  }                                                         \
                                                            \
  int Type##Destroy(Type *object) { return CeedObjectDestroy(object, &(class)); }

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
