// The vectors of a call: all are acquired or none, and what is written lies apart from all others.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "fem.h"

static const char *Use(const CeedArgument *a) { return a->is_written ? "output" : "input"; }

/* Whether the vector is as nearly all are: no refusal, for which the argument has to be named. */
static bool IsFree(const CeedArgument *a) {
  uint64_t word = CeedBufferWord(a->vec->buffer);
  uint64_t blockers = a->is_written ? WRITE_BLOCKERS | READ_ONLY : READ_BLOCKERS;

  return (word & VALID) && !(word & blockers);
}

static int Acquire(const char *what, CeedArgument *a) {
  char text[128];

  if (!IsFree(a)) {
    snprintf(text, sizeof text, "%s: %s \"%s\"", what, Use(a), a->name);
    what = text;
  }
  if (!a->is_written) return CeedVectorAcquireRead(a->vec, CEED_MEM_HOST, &a->from, what);
  return CeedVectorAcquireWrite(a->vec, CEED_MEM_HOST, a->keeps_values, &a->to, what);
}

static bool Overlap(const CeedArgument *a, const CeedArgument *b) {
  uintptr_t start_a = (uintptr_t)a->vec->buffer->memory[CEED_MEM_HOST].data;
  uintptr_t start_b = (uintptr_t)b->vec->buffer->memory[CEED_MEM_HOST].data;

  return start_a < start_b + b->vec->buffer->bytes && start_b < start_a + a->vec->buffer->bytes;
}

/* `share` is whether two arguments do what they must not. */
static int CheckPairs(Ceed ceed, const CeedArguments *arguments, const char *complaint,
                      bool (*share)(const CeedArgument *, const CeedArgument *)) {
  for (CeedInt j = 0; j < arguments->count; j++) {
    const CeedArgument *b = &arguments->list[j];
    for (CeedInt i = 0; i < j; i++) {
      const CeedArgument *a = &arguments->list[i];
      CeedCheck(!(a->is_written || b->is_written) || !share(a, b), ceed, CEED_ERROR_INCOMPATIBLE,
                "%s: %s %s \"%s\" and %s \"%s\" at once", arguments->what, complaint, Use(a),
                a->name, Use(b), b->name);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static bool AreSame(const CeedArgument *a, const CeedArgument *b) { return a->vec == b->vec; }

int CeedArgumentsAcquire(Ceed ceed, CeedArguments *arguments) {
  CeedInt held = 0;
  int code = CheckPairs(ceed, arguments, "one vector is", AreSame);

  while (!code && held < arguments->count) {
    code = Acquire(arguments->what, &arguments->list[held]);
    held += !code;
  }
  if (!code) code = CheckPairs(ceed, arguments, "the same memory is", Overlap);
  if (code) {
    arguments->count = held;
    CeedArgumentsCancel(arguments);
  }
  return code;
}

void CeedArgumentsCancel(CeedArguments *arguments) {
  for (CeedInt i = 0; i < arguments->count; i++) {
    (arguments->list[i].is_written ? CeedVectorCancelWrite
                                   : CeedVectorReleaseRead)(arguments->list[i].vec);
  }
  arguments->count = 0;
}

int CeedArgumentsRelease(CeedArguments *arguments) {
  int code = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < arguments->count; i++) {
    const CeedArgument *a = &arguments->list[i];
    int released = CEED_ERROR_SUCCESS;
    if (a->is_written) {
      released = CeedVectorReleaseWrite(a->vec);
    } else {
      CeedVectorReleaseRead(a->vec);
    }
    if (!code) code = released;
  }
  return code;
}
