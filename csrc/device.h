// The places that memory can be in, as a struct of operations each, and the resources made of them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DEVICE_H
#define CEEDLIKE_DEVICE_H

#include "ceedlike.h"
#include "dlpack_abi.h"

typedef enum { MEMORY_NONE, MEMORY_OWNED, MEMORY_BORROWED, MEMORY_ADOPTED } CeedMemoryKind;

typedef struct CeedMemory {
  CeedMemoryKind kind;
  void *data;
  void (*release)(const struct CeedMemory *memory); /* NULL: nothing to release */
  void *owner;
  DLDevice device;
  bool read_only;
} CeedMemory;

/* Memory is released without a context: exports may outlive the one it was made in. `copy` orders
   itself after earlier work on both memories, and is done when it returns. Those after it are of
   devices alone; host memory has NULL there. */
typedef struct CeedDevice {
  const char *name;
  int32_t dlpack_type;
  int (*allocate)(Ceed ceed, size_t bytes, void **data);
  void (*release)(const CeedMemory *memory);
  int (*copy)(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
              size_t bytes);

  const struct CeedDevice *pinned; /* host memory that the device reaches itself; NULL: none */
  int (*open)(Ceed ceed); /* find the runtime, the device of ceed->device_id and its own stream */
  int (*view)(Ceed ceed, FILE *stream); /* print the name of the device */
  /* That memory of a stranger is of this type, as far as the runtime can tell. */
  int (*check)(Ceed ceed, CeedMemType mem_type, const void *data);
  /* What `then` is given from now on waits for what `first` has been given, and nobody else does.
     NULL is the default stream; where there is none, the host waits in its place. */
  int (*order)(Ceed ceed, void *first, void *then);
  int (*wait)(Ceed ceed); /* the host waits for the context's stream */
} CeedDevice;

typedef struct {
  const char *name;
  int priority;             /* the smallest of the matching ones is chosen */
  const CeedDevice *device; /* CEED_MEM_DEVICE of its contexts; NULL: host memory only */
  bool is_fused;            /* operators go through the steps a group of elements at a time */
} CeedResource;

extern const CeedDevice CeedDeviceHost, CeedDeviceCUDA, CeedDeviceHIP, CeedDeviceSYCL;
extern const CeedResource CeedResources[]; /* ends with a NULL name */

#endif
