// Host memory: the operations that every context has.
// SPDX-License-Identifier: BSD-2-Clause
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"
#include "impl.h"

enum { LARGE_PAGE = 1 << 21 };

/* Long loops are up to twice as fast in large pages; a system without them has none to give. */
static void AdviseLargePages(void *data, size_t bytes) {
  size_t skip = -(uintptr_t)data % LARGE_PAGE;
  size_t inside = bytes > skip ? (bytes - skip) / LARGE_PAGE * LARGE_PAGE : 0;

  if (inside) (void)madvise((char *)data + skip, inside, MADV_HUGEPAGE);
}

static int Allocate(Ceed ceed, size_t bytes, void **data) {
  CeedCheck(bytes <= CEED_MAX_BYTES && !posix_memalign(data, CEED_ALIGNMENT, bytes), ceed,
            CEED_ERROR_MAJOR, "Out of memory: %zu bytes", bytes);
  AdviseLargePages(*data, bytes);
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

static void Release(const CeedMemory *memory) { free(memory->owner); }

const CeedDevice CeedDeviceHost = {.name = "host",
                                   .dlpack_type = DLPACK_CPU,
                                   .allocate = Allocate,
                                   .release = Release,
                                   .copy = Copy};
