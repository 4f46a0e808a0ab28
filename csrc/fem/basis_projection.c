// The basis that takes functions of one basis to another, by least squares.
// SPDX-License-Identifier: BSD-2-Clause
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fem.h"

/* Householder's reflection of column k, applied to all columns from it on: A is [rows][columns]. */
static bool Reflect(CeedInt rows, CeedSize columns, CeedInt k, long double *A) {
  long double norm = 0, head = A[k * columns + k], scale;

  for (CeedInt i = k; i < rows; i++) norm = hypotl(norm, A[i * columns + k]);
  if (!(norm > LDBL_EPSILON * 1024)) return false;
  if (head > 0) norm = -norm;
  scale = norm * (norm - head); /* half of |v|^2, v = column - norm e_k */
  A[k * columns + k] = head - norm;
  for (CeedSize j = k + 1; j < columns; j++) {
    long double dot = 0;
    for (CeedInt i = k; i < rows; i++) dot += A[i * columns + k] * A[i * columns + j];
    for (CeedInt i = k; i < rows; i++) A[i * columns + j] -= dot / scale * A[i * columns + k];
  }
  A[k * columns + k] = norm;
  return true;
}

/* The least-squares solutions x[n][right] of A x = b, where rows are [A | b], with n and `right`
   columns. */
static bool LeastSquares(CeedInt rows, CeedInt n, CeedSize right, long double *A, CeedScalar *x) {
  CeedSize columns = n + right;

  for (CeedInt k = 0; k < n; k++) {
    if (!Reflect(rows, columns, k, A)) return false;
  }
  for (CeedInt k = n - 1; k >= 0; k--) {
    long double *row = A + k * columns;
    for (CeedSize j = n; j < columns; j++) {
      for (CeedInt i = k + 1; i < n; i++) row[j] -= row[i] * A[i * columns + j];
      row[j] /= row[k];
      x[k * right + j - n] = (CeedScalar)row[j];
    }
  }
  return true;
}

/* x[P_to][P_from] from matrices at the Q points of both. */
static int Project(Ceed ceed, CeedInt Q, CeedInt P_to, CeedInt P_from, const CeedScalar *to,
                   const CeedScalar *from, CeedScalar *x) {
  CeedSize size, columns = (CeedSize)P_to + P_from;
  long double *A;
  bool solved;

  CeedCall(CeedSizeOf(ceed, "The projection", &size, Q, columns));
  CeedCall(CeedAllocate(ceed, size, sizeof *A, &A));
  for (CeedInt q = 0; q < Q; q++) {
    for (CeedInt i = 0; i < P_to; i++) A[q * columns + i] = to[(CeedSize)q * P_to + i];
    for (CeedInt i = 0; i < P_from; i++) A[q * columns + P_to + i] = from[(CeedSize)q * P_from + i];
  }
  solved = Q >= P_to && LeastSquares(Q, P_to, P_from, A, x);
  free(A);
  CeedCheck(solved, ceed, CEED_ERROR_INCOMPATIBLE,
            "Projection: %d points don't determine a function of %d nodes", Q, P_to);
  return CEED_ERROR_SUCCESS;
}

static int CreateTensorProjection(CeedBasis from, CeedBasis to, CeedScalar *interp,
                                  CeedScalar *grad, const CeedScalar *zeros, CeedBasis *basis) {
  Ceed ceed = from->base.ceed;
  CeedInt P = from->P_1d, Q = to->P_1d;

  CeedCall(Project(ceed, to->Q_1d, Q, P, to->interp_1d, from->interp_1d, interp));
  CeedCall(Project(ceed, to->Q_1d, Q, P, to->interp_1d, from->grad_1d, grad));
  return CeedBasisCreateTensorH1(ceed, from->dim, from->num_comp, P, Q, interp, grad, zeros, zeros,
                                 basis);
}

static int CreateH1Projection(CeedBasis from, CeedBasis to, CeedScalar *interp, CeedScalar *grad,
                              const CeedScalar *zeros, CeedBasis *basis) {
  Ceed ceed = from->base.ceed;
  CeedSize size = (CeedSize)to->P * from->P, points = (CeedSize)from->Q * from->P;

  CeedCall(Project(ceed, to->Q, to->P, from->P, to->interp, from->interp, interp));
  for (int d = 0; d < from->dim; d++) {
    CeedCall(
        Project(ceed, to->Q, to->P, from->P, to->interp, from->grad + d * points, grad + d * size));
  }
  return CeedBasisCreateH1(ceed, from->topo, from->num_comp, from->P, to->P, interp, grad, zeros,
                           zeros, basis);
}

int CeedBasisCreateProjection(CeedBasis basis_from, CeedBasis basis_to, CeedBasis *basis_project) {
  CeedScalar *interp;
  CeedSize size, all;
  Ceed ceed;
  int code;

  CeedCall(CeedObjectCheck(basis_from, CEED_KIND_BASIS));
  CeedCall(CeedObjectCheck(basis_to, CEED_KIND_BASIS));
  ceed = basis_from->base.ceed;
  CeedCheckOutput(basis_project, ceed);
  CeedCheck(basis_from->is_tensor == basis_to->is_tensor && basis_from->dim == basis_to->dim &&
                basis_from->num_comp == basis_to->num_comp && basis_from->Q == basis_to->Q,
            ceed, CEED_ERROR_INCOMPATIBLE,
            "Projection: the bases differ in kind, dimension, components or points");
  size = basis_from->is_tensor ? (CeedSize)basis_to->P_1d * basis_from->P_1d
                               : (CeedSize)basis_to->P * basis_from->P;
  CeedCall(CeedSizeOf(ceed, "The projection", &all, 1 + CEED_MAX_DIM, size));
  CeedCall(CeedAllocate(ceed, all + CEED_MAX_DIM * (CeedSize)basis_to->P, sizeof *interp, &interp));
  code = (basis_from->is_tensor ? CreateTensorProjection : CreateH1Projection)(
      basis_from, basis_to, interp, interp + size, interp + all, basis_project);
  free(interp);
  return code;
}
