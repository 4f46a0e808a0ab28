// The library of a device's runtime, found when it is asked for.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DRIVER_H
#define CEEDLIKE_DRIVER_H

#include "impl.h"

typedef struct {
  const char *name;
  const char *variable; /* of the environment, for another path */
  const char *comes_with;
  const char *const libraries[5]; /* tried in turn; ends with NULL */
} CeedDriver;

/* Look up all the names in the first library that there is, or none: a NULL is left out. The
   addresses are stored as they come. A library that was loaded stays. */
int CeedDriverLoad(Ceed ceed, const CeedDriver *driver, size_t count, const char *const *names,
                   void *addresses);

#endif
