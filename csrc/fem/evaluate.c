// One component of one element, from its nodes to its quadrature points and back.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

enum { VALUES = -1 }; /* instead of the direction of a derivative */

/* Along one axis, y[after][m][before] = or += A x[after][n][before], where A is [m][n], or [n][m]
   when it is transposed. */
static void Contract(const CeedScalar *A, bool transpose, CeedInt m, CeedInt n, CeedSize before,
                     CeedSize after, bool add, const CeedScalar *x, CeedScalar *y) {
  for (CeedSize a = 0; a < after; a++) {
    for (CeedInt i = 0; i < m; i++) {
      CeedScalar *row = y + (a * m + i) * before;
      for (CeedSize b = 0; b < before && !add; b++) row[b] = 0;
      for (CeedInt j = 0; j < n; j++) {
        CeedScalar factor = transpose ? A[(CeedSize)j * m + i] : A[(CeedSize)i * n + j];
        const CeedScalar *from = x + (a * n + j) * before;
        for (CeedSize b = 0; b < before; b++) row[b] += factor * from[b];
      }
    }
  }
}

/* In every direction in turn, the first being the fastest axis. */
static void EvaluateTensor(CeedBasis basis, bool transpose, int direction, bool add,
                           const CeedScalar *x, CeedScalar *y, CeedScalar *work) {
  CeedInt m = transpose ? basis->P_1d : basis->Q_1d, n = transpose ? basis->Q_1d : basis->P_1d;
  CeedSize before = 1, after = (transpose ? basis->Q : basis->P) / n;

  for (int d = 0; d < basis->dim; d++, before *= m, after /= n) {
    bool is_last = d == basis->dim - 1;
    const CeedScalar *A = d == direction ? basis->grad_1d : basis->interp_1d;
    CeedScalar *to = is_last ? y : work + (d % 2) * CeedBasisWorkSize(basis) / 2;
    Contract(A, transpose, m, n, before, after, is_last && add, x, to);
    x = to;
  }
}

static void Evaluate(CeedBasis basis, bool transpose, int direction, bool add, const CeedScalar *x,
                     CeedScalar *y, CeedScalar *work) {
  CeedInt P = basis->P, Q = basis->Q;

  if (basis->is_tensor) {
    EvaluateTensor(basis, transpose, direction, add, x, y, work);
  } else {
    const CeedScalar *A =
        direction == VALUES ? basis->interp : basis->grad + (CeedSize)direction * Q * P;

    Contract(A, transpose, transpose ? P : Q, transpose ? Q : P, 1, 1, add, x, y);
  }
}

CeedSize CeedBasisWorkSize(CeedBasis basis) {
  CeedSize size = 2;

  if (!basis->is_tensor) return 0;
  for (int d = 0; d < basis->dim; d++) size *= CeedIntMax(basis->P_1d, basis->Q_1d);
  return size;
}

void CeedBasisInterpOne(CeedBasis basis, bool transpose, bool add, const CeedScalar *x,
                        CeedScalar *y, CeedScalar *work) {
  Evaluate(basis, transpose, VALUES, add, x, y, work);
}

void CeedBasisGradOne(CeedBasis basis, bool transpose, bool add, CeedSize stride,
                      const CeedScalar *x, CeedScalar *y, CeedScalar *work) {
  for (int d = 0; d < basis->dim; d++) {
    if (transpose) {
      Evaluate(basis, true, d, add || d > 0, x + d * stride, y, work);
    } else {
      Evaluate(basis, false, d, add, x, y + d * stride, work);
    }
  }
}

CeedSize CeedBasisFlops(CeedBasis basis, CeedEvalMode eval_mode) {
  CeedSize flops = 2 * (CeedSize)basis->P * basis->Q, before = 1, after = basis->P;

  if (eval_mode != CEED_EVAL_INTERP && eval_mode != CEED_EVAL_GRAD) return 0;
  if (basis->is_tensor) flops = 0;
  for (int d = 0; basis->is_tensor && d < basis->dim; d++, before *= basis->Q_1d) {
    flops += 2 * before * basis->Q_1d * after;
    after /= basis->P_1d;
  }
  return eval_mode == CEED_EVAL_GRAD ? basis->dim * flops : flops;
}

void CeedBasisWeightsOne(CeedBasis basis, CeedScalar *weights) {
  for (CeedInt q = 0; q < basis->Q; q++) {
    if (basis->is_tensor) {
      weights[q] = 1;
      for (CeedInt d = 0, rest = q; d < basis->dim; d++, rest /= basis->Q_1d) {
        weights[q] *= basis->q_weight[rest % basis->Q_1d];
      }
    } else {
      weights[q] = basis->q_weight[q];
    }
  }
}
