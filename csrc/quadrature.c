// Gauss rules on [-1, 1], by Newton's method on Legendre polynomials, in long double: near the ends
// the derivatives lose digits.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>

#include "impl.h"

static const long double pi = 3.14159265358979323846264338L;

enum { MAX_POINTS = 10000 }; /* each costs as many steps as there are points */

typedef struct {
  long double value, slope, curvature;
} Legendre;

/* P_n and its derivatives inside (-1, 1), by Bonnet's recursion and Legendre's equation. */
static Legendre LegendreAt(CeedInt n, long double x) {
  long double before = 0, value = 1;
  Legendre p;

  for (CeedInt k = 1; k <= n; k++) {
    long double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  p.value = value;
  p.slope = n * (before - x * value) / (1 - x * x);
  p.curvature = (2 * x * p.slope - (long double)n * (n + 1) * value) / (1 - x * x);
  return p;
}

/* From a guess of two or three right digits, Newton's method ends in a few steps. */
static long double Root(CeedInt n, long double x, bool of_slope) {
  for (int step = 0; step < 10; step++) {
    Legendre p = LegendreAt(n, x);
    long double change = of_slope ? p.slope / p.curvature : p.value / p.slope;
    x -= change;
    if (fabsl(change) < 1e-18L) break;
  }
  return x;
}

/* The rules are symmetric, so that half of the points are computed. */
static void SetPair(CeedInt Q, CeedInt i, long double x, long double weight, CeedScalar *points,
                    CeedScalar *weights) {
  points[i] = (CeedScalar)-x;
  points[Q - 1 - i] = (CeedScalar)x;
  if (weights) weights[i] = weights[Q - 1 - i] = (CeedScalar)weight;
}

int CeedGaussQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d) {
  CeedCheck(Q >= 1 && Q <= MAX_POINTS, NULL, CEED_ERROR_DIMENSION,
            "A Gauss rule has 1 to %d points, not %d", MAX_POINTS, Q);
  CeedCheckOutput(q_ref_1d, NULL);
  for (CeedInt i = 0; i < (Q + 1) / 2; i++) {
    bool is_middle = 2 * i == Q - 1;
    long double x = is_middle ? 0 : Root(Q, cosl(pi * (i + 0.75) / (Q + 0.5)), false);
    long double slope = LegendreAt(Q, x).slope;
    SetPair(Q, i, x, 2 / ((1 - x * x) * slope * slope), q_ref_1d, q_weight_1d);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedLobattoQuadrature(CeedInt Q, CeedScalar *q_ref_1d, CeedScalar *q_weight_1d) {
  long double end_weight;

  CeedCheck(Q >= 2 && Q <= MAX_POINTS, NULL, CEED_ERROR_DIMENSION,
            "A Gauss-Lobatto rule has 2 to %d points, not %d", MAX_POINTS, Q);
  CeedCheckOutput(q_ref_1d, NULL);
  end_weight = 2 / ((long double)Q * (Q - 1));
  SetPair(Q, 0, 1, end_weight, q_ref_1d, q_weight_1d);
  for (CeedInt i = 1; i < (Q + 1) / 2; i++) {
    bool is_middle = 2 * i == Q - 1;
    long double x = is_middle ? 0 : Root(Q - 1, cosl(pi * (i + 0.25) / (Q - 0.75)), true);
    long double value = LegendreAt(Q - 1, x).value;
    SetPair(Q, i, x, end_weight / (value * value), q_ref_1d, q_weight_1d);
  }
  return CEED_ERROR_SUCCESS;
}
