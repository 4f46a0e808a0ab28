// The places that memory can be in, as a struct of operations each, and the resources made of them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DEVICE_H
#define CEEDLIKE_DEVICE_H

#include "ceedlike.h"

/* Memory is released without a context: exports may outlive the one it was made in. `copy` orders
   itself after earlier work on both memories, and is done when it returns. */
typedef struct {
  const char *name;
  int32_t dlpack_type;
  int (*allocate)(Ceed ceed, size_t bytes, void **data);
  void (*release)(void *data);
  int (*copy)(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
              size_t bytes);
} CeedDevice;

typedef struct {
  const char *name;
  int priority;             /* the smallest of the matching ones is chosen */
  const CeedDevice *device; /* CEED_MEM_DEVICE of its contexts; NULL: host memory only */
  bool is_fused;            /* operators go through the steps a group of elements at a time */
} CeedResource;

extern const CeedDevice CeedDeviceHost;
extern const CeedResource CeedResources[]; /* ends with a NULL name */

#endif
