// SPDX-License-Identifier: BSD-2-Clause
/// A tensor goes to a library that knows only dlpack.h, and one comes back. The mean of a sine and
/// its neighbours h apart is the same sine, (1 + 2 cos h) / 3 times as high.
#include <ceedlike.h>
#include <math.h>
#include <stdio.h>

#include "filter.h"

enum { N = 101 };

static int Sine(Ceed ceed, double h, CeedVector *vec) {
  CeedScalar *u;
  int code = CeedVectorCreate(ceed, N, vec);

  if (!code) code = CeedVectorGetArrayWrite(*vec, CEED_MEM_HOST, &u);
  if (code) return code;
  for (int i = 0; i < N; i++) u[i] = sin(i * h);
  return CeedVectorRestoreArray(*vec, &u);
}

// The vector is destroyed while the filter still reads its memory, and that is fine.
static int Smooth(Ceed ceed, CeedVector *u, CeedVector *smoothed) {
  DLManagedTensor *field, *result;
  int code = CeedVectorToDLPack(ceed, *u, CEED_MEM_HOST, &field);

  if (!code) code = CeedVectorDestroy(u);
  if (code) return code;
  result = FilterSmooth(field);
  if (!result) {
    field->deleter(field);
    return CeedError(ceed, CEED_ERROR_INCOMPATIBLE, "the filter refused the field");
  }
  code = CeedVectorCreateFromDLPack(ceed, result, CEED_OWN_POINTER, smoothed);
  if (code) result->deleter(result);
  return code;
}

int main(void) {
  const double h = acos(-1.0) / (N - 1);
  Ceed ceed = NULL;
  CeedVector u = NULL, smoothed = NULL, exact = NULL;
  CeedScalar off = 1;
  const char *text;
  int code = CeedInit("/cpu/self", &ceed);

  if (!code) code = Sine(ceed, h, &u);
  if (!code) code = Smooth(ceed, &u, &smoothed);
  if (!code) code = Sine(ceed, h, &exact);
  if (!code) code = CeedVectorAXPY(smoothed, -(1 + 2 * cos(h)) / 3, exact);
  if (!code) code = CeedVectorNorm(smoothed, CEED_NORM_MAX, &off);
  if (code) {
    CeedGetErrorMessage(NULL, &text);
    fprintf(stderr, "%s\n", text);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&smoothed);
  CeedVectorDestroy(&exact);
  CeedDestroy(&ceed);
  printf("smoothed sine: %s\n", off < 1e-15 ? "good" : "WRONG");
  return !(off < 1e-15);
}
