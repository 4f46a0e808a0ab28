// A box of quadrilaterals or hexahedra (or intervals) with bent coordinates, and the operators that
// tests apply on it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef BOX_H
#define BOX_H

#include "fem.h"

typedef struct {
  CeedInt dim, n, p, q;  // n elements a direction of order p, q points a direction
  CeedInt num_elem, num_nodes, elem_size, num_qpts;
  CeedInt *offsets;                    // [element][node]
  CeedScalar *x;                       // [dim][node]
  CeedElemRestriction rstr_x, rstr_u;  // coordinates; num_comp components
  CeedBasis basis_x, basis_u;
  CeedVector vec_x;
} Box;

// On [0, 1]^dim, bent inside, so that the volume stays 1.
static inline void BoxCoordinates(Box *box, const CeedScalar *gll) {
  CeedInt line = box->n * box->p + 1;

  for (CeedInt i = 0; i < box->num_nodes; i++) {
    double y[3], bend = 0.1;
    for (CeedInt d = 0, rest = i; d < box->dim; d++, rest /= line) {
      CeedInt at = rest % line, e = CeedIntMin(at / box->p, box->n - 1), k = at - e * box->p;
      y[d] = (e + ((double)gll[k] + 1) / 2) / box->n;
    }
    for (CeedInt d = 0; d < box->dim; d++) bend *= 4 * y[d] * (1 - y[d]);
    for (CeedInt d = 0; d < box->dim; d++) {
      box->x[d * box->num_nodes + i] = (CeedScalar)(y[d] + (d + 1) * bend / 2);
    }
  }
}

static inline int BoxCreate(Box *box, CeedInt dim, CeedInt n, CeedInt p, CeedInt q,
                            CeedInt num_comp) {
  CeedInt line = n * p + 1, next = 0;
  CeedScalar gll[16];

  *box = (Box){.dim = dim, .n = n, .p = p, .q = q};
  box->num_elem = CeedIntPow(n, dim);
  box->num_nodes = CeedIntPow(line, dim);
  box->elem_size = CeedIntPow(p + 1, dim);
  box->num_qpts = CeedIntPow(q, dim);
  box->offsets = malloc(sizeof(CeedInt) * (size_t)(box->num_elem * box->elem_size));
  box->x = malloc(sizeof(CeedScalar) * (size_t)(dim * box->num_nodes));
  for (CeedInt e = 0; e < box->num_elem; e++) {
    for (CeedInt k = 0; k < box->elem_size; k++) {
      CeedInt offset = 0, stride = 1;
      for (CeedInt d = 0, re = e, rk = k; d < dim; d++, re /= n, rk /= p + 1, stride *= line) {
        offset += (re % n * p + rk % (p + 1)) * stride;
      }
      box->offsets[next++] = offset;
    }
  }
  ASSERT_OK(CeedLobattoQuadrature(p + 1, gll, NULL));
  BoxCoordinates(box, gll);
  ASSERT_OK(CeedElemRestrictionCreate(ceed, box->num_elem, box->elem_size, dim, box->num_nodes,
                                      dim * box->num_nodes, CEED_MEM_HOST, CEED_USE_POINTER,
                                      box->offsets, &box->rstr_x));
  ASSERT_OK(CeedElemRestrictionCreate(ceed, box->num_elem, box->elem_size, num_comp, box->num_nodes,
                                      num_comp * box->num_nodes, CEED_MEM_HOST, CEED_USE_POINTER,
                                      box->offsets, &box->rstr_u));
  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, dim, p + 1, q, CEED_GAUSS, &box->basis_x));
  ASSERT_OK(
      CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, p + 1, q, CEED_GAUSS, &box->basis_u));
  box->vec_x = VectorOf(dim * box->num_nodes, box->x);
  return TEST_PASSED;
}

static inline void BoxDestroy(Box *box) {
  CeedElemRestrictionDestroy(&box->rstr_x);
  CeedElemRestrictionDestroy(&box->rstr_u);
  CeedBasisDestroy(&box->basis_x);
  CeedBasisDestroy(&box->basis_u);
  CeedVectorDestroy(&box->vec_x);
  free(box->offsets);
  free(box->x);
}

// The geometric factors of "Mass" or "Poisson", with the restriction that tells their layout.
static inline int BoxBuild(const Box *box, const char *physics, CeedElemRestriction *rstr,
                           CeedVector *qdata) {
  CeedInt size = physics[0] == 'M' ? 1 : box->dim * (box->dim + 1) / 2;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  char name[32];

  snprintf(name, sizeof name, "%s%dDBuild", physics, box->dim);
  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, name, &qf));
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, box->num_elem, box->num_qpts, size,
                                             (CeedSize)size * box->num_elem * box->num_qpts,
                                             CEED_STRIDES_BACKEND, rstr));
  ASSERT_OK(CeedElemRestrictionCreateVector(*rstr, qdata, NULL));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "dx", box->rstr_x, box->basis_x, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, box->basis_x,
                                 CEED_VECTOR_NONE));
  ASSERT_OK(CeedOperatorSetField(op, "qdata", *rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorApply(op, box->vec_x, *qdata, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

// The mass or Poisson operator of one or three components.
static inline int BoxOperator(const Box *box, const char *physics, CeedInt num_comp,
                              CeedOperator *op) {
  bool is_mass = physics[0] == 'M';
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedVector qdata = NULL;
  char name[32];

  PASSES(BoxBuild(box, physics, &rstr, &qdata));
  if (is_mass) {
    snprintf(name, sizeof name, "%sMassApply", num_comp == 3 ? "Vector3" : "");
  } else {
    snprintf(name, sizeof name, "%sPoisson%dDApply", num_comp == 3 ? "Vector3" : "", box->dim);
  }
  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, name, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  ASSERT_OK(CeedOperatorSetField(*op, is_mass ? "u" : "du", box->rstr_u, box->basis_u,
                                 CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "qdata", rstr, CEED_BASIS_NONE, qdata));
  ASSERT_OK(CeedOperatorSetField(*op, is_mass ? "v" : "dv", box->rstr_u, box->basis_u,
                                 CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&qdata);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The same matrices written down once more: Lagrange polynomials by their products, no bases
// ------------------------------------------------------------------------------------------------

static inline double BoxLagrange(CeedInt P, const CeedScalar *nodes, CeedInt i, double x,
                                 bool derivative) {
  double sum = 0, product = 1;

  for (CeedInt j = 0; j < P; j++) {
    double term = 1;
    if (j == i) continue;
    product *= (x - (double)nodes[j]) / ((double)nodes[i] - (double)nodes[j]);
    for (CeedInt k = 0; k < P; k++) {
      if (k == i || k == j) continue;
      term *= (x - (double)nodes[k]) / ((double)nodes[i] - (double)nodes[k]);
    }
    sum += term / ((double)nodes[i] - (double)nodes[j]);
  }
  return derivative ? sum : product;
}

// The value of the shape function of a node at a point, or its derivative in direction d >= 0.
static inline double BoxShape(const Box *box, const CeedScalar *nodes, const CeedScalar *points,
                              CeedInt node, CeedInt point, int d) {
  double product = 1;

  for (int e = 0; e < box->dim; e++, node /= box->p + 1, point /= box->q) {
    product *=
        BoxLagrange(box->p + 1, nodes, node % (box->p + 1), (double)points[point % box->q], e == d);
  }
  return product;
}

// J^-1 as inverse[direction][component] and det J, at a point of an element.
static inline double BoxJacobian(const Box *box, const CeedScalar *nodes, const CeedScalar *points,
                                 CeedInt elem, CeedInt point, double inverse[3][3]) {
  double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, det;

  for (int c = 0; c < box->dim; c++) {
    for (int d = 0; d < box->dim; d++) {
      J[c][d] = 0;
      for (CeedInt k = 0; k < box->elem_size; k++) {
        CeedInt at = box->offsets[elem * box->elem_size + k];
        J[c][d] +=
            (double)box->x[c * box->num_nodes + at] * BoxShape(box, nodes, points, k, point, d);
      }
    }
  }
  det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
        J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
        J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      inverse[i][j] = (J[j1][i1] * J[j2][i2] - J[j1][i2] * J[j2][i1]) / det;
    }
  }
  return det;
}

// The dense matrix of one component, num_nodes by num_nodes; free it.
static inline double *BoxDense(const Box *box, bool is_mass) {
  size_t N = (size_t)box->num_nodes;
  double *matrix = calloc(N * N, sizeof *matrix), *grad;
  CeedScalar nodes[16], points[16], weights[16];

  grad = calloc((size_t)box->elem_size * 4, sizeof *grad);
  if (CeedLobattoQuadrature(box->p + 1, nodes, NULL)) return NULL;
  if (CeedGaussQuadrature(box->q, points, weights)) return NULL;
  for (CeedInt e = 0; e < box->num_elem; e++) {
    const CeedInt *offsets = box->offsets + e * box->elem_size;
    for (CeedInt q = 0; q < box->num_qpts; q++) {
      double inverse[3][3], scale = BoxJacobian(box, nodes, points, e, q, inverse);
      for (CeedInt d = 0, rest = q; d < box->dim; d++, rest /= box->q) {
        scale *= (double)weights[rest % box->q];
      }
      for (CeedInt k = 0; k < box->elem_size; k++) {
        double *g = grad + 4 * k;
        g[0] = g[1] = g[2] = 0;
        g[3] = BoxShape(box, nodes, points, k, q, -1);
        for (int d = 0; d < box->dim; d++) {
          double slope = BoxShape(box, nodes, points, k, q, d);
          for (int c = 0; c < box->dim; c++) g[c] += inverse[d][c] * slope;
        }
      }
      for (CeedInt i = 0; i < box->elem_size; i++) {
        for (CeedInt j = 0; j < box->elem_size; j++) {
          const double *a = grad + 4 * i, *b = grad + 4 * j;
          double value = is_mass ? a[3] * b[3] : a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
          matrix[(size_t)offsets[i] * N + (size_t)offsets[j]] += scale * value;
        }
      }
    }
  }
  free(grad);
  return matrix;
}

#endif
