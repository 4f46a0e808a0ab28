// From nodes to quadrature points and back: one component of one element, and all of them.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// One component of one element
// ------------------------------------------------------------------------------------------------

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

// ------------------------------------------------------------------------------------------------
// All of them
// ------------------------------------------------------------------------------------------------

typedef struct {
  CeedInt num_elem;
  CeedEvalMode eval_mode;
  bool transpose, add;
} Evaluation;

/* How many entries the two vectors have. */
static int GetLengths(CeedBasis basis, const Evaluation *e, CeedSize *nodes, CeedSize *points) {
  static const char what[] = "BasisApply";
  Ceed ceed = basis->base.ceed;
  bool is_weight = e->eval_mode == CEED_EVAL_WEIGHT;
  CeedInt num_comp = is_weight ? 1 : basis->num_comp;

  CeedCall(CeedSizeOf(ceed, what, nodes, num_comp, e->num_elem, basis->P));
  return CeedSizeOf(ceed, what, points, e->eval_mode == CEED_EVAL_GRAD ? basis->dim : 1, num_comp,
                    e->num_elem, basis->Q);
}

static void EvaluateAll(CeedBasis basis, const Evaluation *e, const CeedScalar *x, CeedScalar *y,
                        CeedScalar *work) {
  CeedSize count = (CeedSize)basis->num_comp * e->num_elem;
  CeedInt in = e->transpose ? basis->Q : basis->P, out = e->transpose ? basis->P : basis->Q;

  for (CeedSize i = 0; i < count; i++) {
    if (e->eval_mode == CEED_EVAL_GRAD) {
      CeedBasisGradOne(basis, e->transpose, e->add, count * basis->Q, x + i * in, y + i * out,
                       work);
    } else {
      CeedBasisInterpOne(basis, e->transpose, e->add, x + i * in, y + i * out, work);
    }
  }
}

static void AllWeights(CeedBasis basis, const Evaluation *e, CeedScalar *y, CeedScalar *work) {
  CeedBasisWeightsOne(basis, work);
  for (CeedSize i = 0; i < (CeedSize)e->num_elem * basis->Q; i++) {
    y[i] = (e->add ? y[i] : 0) + work[i % basis->Q];
  }
}

static int ApplyToArrays(CeedBasis basis, const Evaluation *e, CeedVector u, CeedVector v) {
  bool is_weight = e->eval_mode == CEED_EVAL_WEIGHT;
  CeedArguments a = {.what = "BasisApply"};
  CeedScalar *work;
  int code;

  CeedArgumentsAddWrite(&a, v, "v", e->add);
  if (!is_weight) CeedArgumentsAddRead(&a, u, "u");
  CeedCall(CeedAllocate(basis->base.ceed, is_weight ? basis->Q : CeedBasisWorkSize(basis),
                        sizeof *work, &work));
  code = CeedArgumentsAcquire(basis->base.ceed, &a);
  if (!code) {
    if (is_weight) {
      AllWeights(basis, e, a.list[0].to, work);
    } else {
      EvaluateAll(basis, e, a.list[1].from, a.list[0].to, work);
    }
    code = CeedArgumentsRelease(&a);
  }
  free(work);
  return code;
}

static int CheckEvaluation(CeedBasis basis, const Evaluation *e, CeedVector u) {
  Ceed ceed = basis->base.ceed;
  bool is_weight = e->eval_mode == CEED_EVAL_WEIGHT;

  CeedCall(CeedEvalModeCheck(ceed, e->eval_mode));
  CeedCheck(e->eval_mode != CEED_EVAL_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "BasisApply: values that are not evaluated need no basis");
  CeedCheck(e->num_elem >= 0, ceed, CEED_ERROR_DIMENSION, "%d is no number of elements",
            e->num_elem);
  CeedCheck(!is_weight || !e->transpose, ceed, CEED_ERROR_INCOMPATIBLE,
            "BasisApply: quadrature weights have no transpose");
  CeedCheck(!is_weight || u == CEED_VECTOR_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "BasisApply: quadrature weights take no vector: give CEED_VECTOR_NONE");
  return CEED_ERROR_SUCCESS;
}

static int Apply(CeedBasis basis, CeedTransposeMode t_mode, Evaluation *e, CeedVector u,
                 CeedVector v) {
  static const char what[] = "BasisApply";
  CeedSize nodes, points;

  CeedCall(CeedObjectCheck(basis, CEED_KIND_BASIS));
  CeedCall(CeedTransposeModeCheck(basis->base.ceed, t_mode));
  e->transpose = t_mode == CEED_TRANSPOSE;
  CeedCall(CheckEvaluation(basis, e, u));
  CeedCall(GetLengths(basis, e, &nodes, &points));
  CeedCall(CeedObjectCheck(v, CEED_KIND_VECTOR));
  CeedCall(CeedVectorLengthCheck(v, e->transpose ? nodes : points, what));
  if (e->eval_mode != CEED_EVAL_WEIGHT) {
    CeedCall(CeedObjectCheck(u, CEED_KIND_VECTOR));
    CeedCall(CeedVectorLengthCheck(u, e->transpose ? points : nodes, what));
  }
  return ApplyToArrays(basis, e, u, v);
}

int CeedBasisApply(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                   CeedEvalMode eval_mode, CeedVector u, CeedVector v) {
  return Apply(basis, t_mode, &(Evaluation){num_elem, eval_mode, false, false}, u, v);
}

int CeedBasisApplyAdd(CeedBasis basis, CeedInt num_elem, CeedTransposeMode t_mode,
                      CeedEvalMode eval_mode, CeedVector u, CeedVector v) {
  return Apply(basis, t_mode, &(Evaluation){num_elem, eval_mode, false, true}, u, v);
}
