// Finding the library of a device's runtime, all or nothing.
// SPDX-License-Identifier: BSD-2-Clause
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *OpenLibrary(const CeedDriver *driver, const char **name) {
  const char *given = getenv(driver->variable);
  void *library = NULL;

  *name = given && *given ? given : driver->libraries[0];
  if (given && *given) return dlopen(given, RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; !library && driver->libraries[i]; i++) {
    *name = driver->libraries[i];
    library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

/* The name that the library lacks, or NULL. */
static const char *FindNames(void *library, size_t count, const char *const *names,
                             void *addresses) {
  for (size_t i = 0; i < count; i++) {
    void *symbol = names[i] ? dlsym(library, names[i]) : NULL;

    if (names[i] && !symbol) return names[i];
    memcpy((char *)addresses + i * sizeof symbol, &symbol, sizeof symbol);
  }
  return NULL;
}

int CeedDriverLoad(Ceed ceed, const CeedDriver *driver, size_t count, const char *const *names,
                   void *addresses) {
  const char *name, *lacking;
  void *library = OpenLibrary(driver, &name);

  CeedCheck(library, ceed, CEED_ERROR_BACKEND,
            "%s can't be used: %s. %s comes with %s; another path of it may be in %s", driver->name,
            dlerror(), name, driver->comes_with, driver->variable);
  lacking = FindNames(library, count, names, addresses);
  if (!lacking) return CEED_ERROR_SUCCESS;
  dlclose(library);
  return CeedError(ceed, CEED_ERROR_BACKEND, "%s can't be used: %s has no %s", driver->name, name,
                   lacking);
}
