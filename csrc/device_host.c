// Host memory: the operations that every context has.
// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "impl.h"

static int Allocate(Ceed ceed, size_t bytes, void **data) {
  CeedCheck(bytes <= CEED_MAX_BYTES && !posix_memalign(data, CEED_ALIGNMENT, bytes), ceed,
            CEED_ERROR_MAJOR, "Out of memory: %zu bytes", bytes);
  return CEED_ERROR_SUCCESS;
}

static int Copy(Ceed ceed, void *to, CeedMemType to_type, const void *from, CeedMemType from_type,
                size_t bytes) {
  (void)ceed;
  (void)to_type;
  (void)from_type;
  if (bytes) memmove(to, from, bytes);
  return CEED_ERROR_SUCCESS;
}

const CeedDevice CeedDeviceHost = {"host", DLPACK_CPU, Allocate, free, Copy};
