// SPDX-License-Identifier: BSD-2-Clause
// A program, or a library for a process of Python, that calls a Python function with vectors.
#include <ceedlike.h>
#include <pthread.h>
#include <stdlib.h>

enum { LENGTH = 3, THREADS = 8, CALLS = 50 };

// The vectors of one caller: 1, 2, 3 and 0, 0, 0.
static int Create(Ceed ceed, CeedVector *x, CeedVector *y) {
  CeedScalar values[LENGTH] = {1, 2, 3};

  if (CeedVectorCreate(ceed, LENGTH, x) || CeedVectorCreate(ceed, LENGTH, y)) return 1;
  return CeedVectorSetArray(*x, CEED_MEM_HOST, CEED_COPY_VALUES, values) ||
         CeedVectorSetValue(*y, 0);
}

// Call a function and print what became of it: the code, and the text or the result.
int CallOnce(const char *function);
int CallOnce(const char *function) {
  Ceed ceed = NULL;
  CeedVector x = NULL, y = NULL;
  const CeedScalar *values;
  const char *text;
  int code;

  if (CeedInit("/cpu/self", &ceed) || Create(ceed, &x, &y)) return 1;
  code = CeedPythonCall(ceed, function, 1, &x, 1, &y);
  CeedGetErrorMessage(NULL, &text);
  printf("%d\n", code);
  if (code) printf("%s\n", text);
  if (CeedVectorGetArrayRead(y, CEED_MEM_HOST, &values)) return 1;
  printf("%g %g %g\n", (double)values[0], (double)values[1], (double)values[2]);
  fflush(stdout);
  return CeedVectorRestoreArrayRead(y, &values) || CeedVectorDestroy(&x) || CeedVectorDestroy(&y) ||
         CeedDestroy(&ceed);
}

static const char *name;

static void *CallOften(void *result) {
  Ceed ceed = NULL;
  CeedVector x = NULL, y = NULL;
  int *failed = result;

  *failed = CeedInit("/cpu/self", &ceed) || Create(ceed, &x, &y);
  for (int i = 0; i < CALLS && !*failed; i++) *failed = CeedPythonCall(ceed, name, 1, &x, 1, &y);
  if (!*failed) *failed = CeedVectorDestroy(&x) || CeedVectorDestroy(&y) || CeedDestroy(&ceed);
  return NULL;
}

static int CallFromThreads(void) {
  pthread_t threads[THREADS];
  int failed[THREADS], failures = 0;

  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, CallOften, &failed[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) failures += failed[i] != 0;
  return failures;
}

int main(int argc, char **argv) {
  name = argc > 1 ? argv[1] : "";
  return (argc > 2 && CallFromThreads()) || CallOnce(name);
}
