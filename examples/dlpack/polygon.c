// SPDX-License-Identifier: BSD-2-Clause
/// Points go to the library of centroid.h as a tensor over memory of the program. The centroid of a
/// regular polygon is its centre; what is no (n, 3) is refused, and the text says why.
#include <ceedlike.h>
#include <dlpack/dlpack.h>
#include <math.h>
#include <stdio.h>

#include "centroid.h"

enum { N = 7 };

int main(void) {
  double points[N][3], mean[3] = {9, 9, 9}, flat[3];
  const double turn = 2 * acos(-1.0) / N;
  struct DLManagedTensorVersioned *tensor = NULL, *line = NULL;
  const char *text = "";
  int code, refusal, good;

  for (int i = 0; i < N; i++) {
    points[i][0] = 1 + cos(i * turn);
    points[i][1] = 2 + sin(i * turn);
    points[i][2] = 3;
  }
  code = CeedDLPackWrap(points, CEED_MEM_HOST, 2, (const int64_t[]){N, 3}, true, &tensor);
  if (!code) code = CeedDLPackWrap(points, CEED_MEM_HOST, 1, (const int64_t[]){3 * N}, true, &line);
  if (!code) code = Centroid(tensor, true, mean);
  if (code) CeedGetErrorMessage(NULL, &text);
  good = !code && fabs(mean[0] - 1) + fabs(mean[1] - 2) + fabs(mean[2] - 3) < 1e-14;
  printf("centroid: %s%s\n", good ? "good" : "WRONG ", text);

  refusal = line ? Centroid(line, true, flat) : 0;
  CeedGetErrorMessage(NULL, &text);
  printf("refused: %s\n", text);
  if (tensor) tensor->deleter(tensor);
  if (line) line->deleter(line);
  return !(good && refusal == CEED_ERROR_DIMENSION);
}
