// SPDX-License-Identifier: BSD-2-Clause
/// y = 2 x + y in memory of the program, with x = 0, 1, ..., n - 1 and y = 1. The sum of the result
/// is n (n - 1) + n = n^2.
#include <ceedlike.h>
#include <stdio.h>

enum { N = 1000 };

static int Run(Ceed ceed, CeedVector *x, CeedVector *y, CeedScalar *values, CeedScalar *sum) {
  CeedScalar *array;
  int code = CeedVectorCreate(ceed, N, x);

  if (!code) code = CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &array);
  if (code) return code;
  for (int i = 0; i < N; i++) array[i] = (CeedScalar)i;
  code = CeedVectorRestoreArray(*x, &array);

  if (!code) code = CeedVectorCreate(ceed, N, y);
  if (!code) code = CeedVectorSetArray(*y, CEED_MEM_HOST, CEED_USE_POINTER, values);
  if (!code) code = CeedVectorAXPY(*y, 2, *x);
  if (!code) code = CeedVectorNorm(*y, CEED_NORM_1, sum);
  return code;
}

int main(void) {
  static CeedScalar values[N];
  CeedScalar sum = 0;
  Ceed ceed = NULL;
  CeedVector x = NULL, y = NULL;
  const char *text;
  int code, good;

  for (int i = 0; i < N; i++) values[i] = 1;
  code = CeedInit("/cpu/self", &ceed);
  if (!code) code = Run(ceed, &x, &y, values, &sum);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  CeedDestroy(&ceed);
  if (code) {
    CeedGetErrorMessage(NULL, &text);
    fprintf(stderr, "%s\n", text);
    return 1;
  }
  good = sum == (CeedScalar)N * N && values[N - 1] == 2 * N - 1;
  printf("sum %.0f, expected %d: %s\n", (double)sum, N * N, good ? "good" : "WRONG");
  return !good;
}
