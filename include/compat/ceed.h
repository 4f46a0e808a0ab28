// SPDX-License-Identifier: BSD-2-Clause
/// For programs written for libCEED: compile with -I<prefix>/include/ceedlike/compat, link
/// libceedlike. Such programs ignore return codes because an error aborts, so it does here, unless
/// the environment variable CEED_ERROR_HANDLER says otherwise. Only an error that no context is
/// known for (a NULL handle) is returned: another user of the process must not be ended by it.
#ifndef CEEDLIKE_COMPAT_CEED_H
#define CEEDLIKE_COMPAT_CEED_H

#include <stdlib.h>
#include <string.h>

#include "../ceedlike.h"

static inline int CeedInitOrAbort(const char *resource, Ceed *ceed) {
  const char *handler = getenv("CEED_ERROR_HANDLER"), *text = NULL;
  int code = CeedInit(resource, ceed);

  if (!code) return handler && *handler ? code : CeedSetErrorHandler(*ceed, CeedErrorAbort);
  if (handler && (!strcmp(handler, "store") || !strcmp(handler, "return"))) return code;
  CeedGetErrorMessage(NULL, &text);
  fprintf(stderr, "%s:%d in CeedInit(): %s\n", __FILE__, __LINE__, text);
  if (handler && !strcmp(handler, "exit")) exit(code);
  abort();
}

#undef CeedInit
#define CeedInit CeedInitOrAbort

#endif
