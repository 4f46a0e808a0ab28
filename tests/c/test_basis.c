// Bases: polynomials interpolated, differentiated and integrated exactly; transposes; projections.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

// A polynomial of the given degree in each direction, and its derivative in direction d.
static long double Polynomial(int dim, int degree, const long double *x, int d) {
  long double product = 1;

  for (int e = 0; e < dim; e++) {
    long double value = 0, slope = 0;
    for (int k = degree; k >= 0; k--) {
      slope = slope * x[e] + value;
      value = value * x[e] + 1.0L / (1 + k + e);
    }
    product *= e == d ? slope : value;
  }
  return product;
}

static long double AtPoint(int dim, int degree, CeedInt n, const CeedScalar *points, CeedInt i,
                           int d) {
  long double x[3];

  for (int e = 0; e < dim; e++, i /= n) x[e] = points[i % n];
  return Polynomial(dim, degree, x, d);
}

// The values of the polynomial in the nodes or the points of an element.
static CeedVector Sampled(int dim, int degree, CeedInt n, const CeedScalar *points) {
  CeedInt count = CeedIntPow(n, dim);
  CeedVector vec = NULL;
  CeedScalar *array;

  if (CeedVectorCreate(ceed, count, &vec)) return NULL;
  if (CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array)) return NULL;
  for (CeedInt i = 0; i < count; i++) {
    array[i] = (CeedScalar)AtPoint(dim, degree, n, points, i, -1);
  }
  CeedVectorRestoreArray(vec, &array);
  return vec;
}

static int Lagrange(CeedInt dim, CeedInt P, CeedInt Q, CeedQuadMode mode) {
  CeedScalar nodes[16];
  const CeedScalar *points;
  CeedBasis basis = NULL;
  CeedVector u, v = NULL, dv = NULL;
  CeedInt count = CeedIntPow(Q, dim);

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, P, Q, mode, &basis));
  ASSERT_OK(CeedLobattoQuadrature(P, nodes, NULL));
  ASSERT_OK(CeedBasisGetQRef(basis, &points));
  u = Sampled(dim, P - 1, P, nodes);
  ASSERT_OK(CeedVectorCreate(ceed, count, &v));
  ASSERT_OK(CeedVectorCreate(ceed, dim * count, &dv));
  ASSERT_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, dv));
  for (CeedInt i = 0; i < count; i++) {
    ASSERT_CLOSE(Entry(v, i), AtPoint(dim, P - 1, Q, points, i, -1), 16 * TOLERANCE);
    for (int d = 0; d < dim; d++) {
      ASSERT_CLOSE(Entry(dv, d * count + i), AtPoint(dim, P - 1, Q, points, i, d),
                   P * P * 16 * TOLERANCE);
    }
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&dv);
  ASSERT_OK(CeedBasisDestroy(&basis));
  return TEST_PASSED;
}

TEST(polynomials_of_the_order_are_interpolated_and_differentiated_exactly) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt P = 2; P <= (dim == 3 ? 5 : 9); P++) {
      PASSES(Lagrange(dim, P, P, CEED_GAUSS_LOBATTO));
      PASSES(Lagrange(dim, P, P + 1, CEED_GAUSS));
      PASSES(Lagrange(dim, P, P > 2 ? P - 2 : 1, CEED_GAUSS));
    }
  }
  return TEST_PASSED;
}

// A polynomial of degree 19 at more nodes than it needs, up to the ends where they lie closest.
TEST(bases_of_a_high_order_are_exact_too) {
  enum { P = 40 };
  CeedScalar nodes[P];
  const CeedScalar *points, *interp, *grad;
  CeedBasis basis = NULL;

  for (int lobatto = 0; lobatto < 2; lobatto++) {
    CeedInt num = P + !lobatto;  // the rule of the nodes itself, and one more
    ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, P, num,
                                              lobatto ? CEED_GAUSS_LOBATTO : CEED_GAUSS, &basis));
    ASSERT_OK(CeedLobattoQuadrature(P, nodes, NULL));
    ASSERT_OK(CeedBasisGetQRef(basis, &points));
    ASSERT_OK(CeedBasisGetInterp1D(basis, &interp));
    ASSERT_OK(CeedBasisGetGrad1D(basis, &grad));
    for (CeedInt q = 0; q < num; q++) {
      long double value = 0, slope = 0, size = 0;
      for (CeedInt i = 0; i < P; i++) {
        long double at_node = powl(nodes[i], 19);
        value += interp[q * P + i] * at_node;
        slope += grad[q * P + i] * at_node;
        size += fabsl(grad[q * P + i] * at_node);
      }
      ASSERT_CLOSE(value, powl(points[q], 19), TOLERANCE);
      ASSERT_CLOSE(slope, 19 * powl(points[q], 18), TOLERANCE * (1 + size));
    }
    ASSERT_OK(CeedBasisDestroy(&basis));
  }
  return TEST_PASSED;
}

TEST(weights_sum_to_the_volume_of_every_element) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    CeedBasis basis = NULL;
    CeedVector weights = NULL;
    CeedInt count = CeedIntPow(4, dim);
    CeedScalar norm;

    ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 2, 3, 4, CEED_GAUSS, &basis));
    ASSERT_OK(CeedVectorCreate(ceed, 5 * count, &weights));
    ASSERT_OK(
        CeedBasisApply(basis, 5, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights));
    ASSERT_OK(CeedVectorNorm(weights, CEED_NORM_1, &norm));
    ASSERT_CLOSE(norm, 5 * CeedIntPow(2, dim), 100 * TOLERANCE);
    ASSERT_OK(
        CeedBasisApplyAdd(basis, 5, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights));
    ASSERT_OK(CeedVectorNorm(weights, CEED_NORM_1, &norm));
    ASSERT_CLOSE(norm, 10 * CeedIntPow(2, dim), 100 * TOLERANCE);
    CeedVectorDestroy(&weights);
    CeedBasisDestroy(&basis);
  }
  return TEST_PASSED;
}

static CeedScalar Dot(CeedVector x, CeedVector y) {
  CeedSize length = 0;
  CeedScalar sum = 0;

  CeedVectorGetLength(x, &length);
  for (CeedSize i = 0; i < length; i++) sum += Entry(x, i) * Entry(y, i);
  return sum;
}

// <B u, w> = <u, B^T w>, for several components and elements.
static int IsAdjoint(CeedBasis basis, CeedEvalMode mode, CeedInt components) {
  const CeedInt num_elem = 3;
  CeedInt P, Q, dim;
  CeedVector u, w, v = NULL, z = NULL;

  ASSERT_OK(CeedBasisGetNumNodes(basis, &P));
  ASSERT_OK(CeedBasisGetNumQuadraturePoints(basis, &Q));
  ASSERT_OK(CeedBasisGetDimension(basis, &dim));
  if (mode == CEED_EVAL_INTERP) dim = 1;
  u = RandomVector(components * num_elem * P, 11);
  w = RandomVector(dim * components * num_elem * Q, 12);
  ASSERT_OK(CeedVectorCreate(ceed, dim * components * num_elem * Q, &v));
  ASSERT_OK(CeedVectorCreate(ceed, components * num_elem * P, &z));
  ASSERT_OK(CeedBasisApply(basis, num_elem, CEED_NOTRANSPOSE, mode, u, v));
  ASSERT_OK(CeedBasisApply(basis, num_elem, CEED_TRANSPOSE, mode, w, z));
  ASSERT_CLOSE(Dot(v, w), Dot(u, z), 1000 * TOLERANCE);
  ASSERT_OK(CeedBasisApplyAdd(basis, num_elem, CEED_TRANSPOSE, mode, w, z));
  ASSERT_CLOSE(2 * Dot(v, w), Dot(u, z), 1000 * TOLERANCE);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&z);
  return TEST_PASSED;
}

TEST(the_transpose_is_the_adjoint) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    CeedBasis basis = NULL;
    ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 2, 3, 4, CEED_GAUSS, &basis));
    PASSES(IsAdjoint(basis, CEED_EVAL_INTERP, 2));
    PASSES(IsAdjoint(basis, CEED_EVAL_GRAD, 2));
    CeedBasisDestroy(&basis);
  }
  return TEST_PASSED;
}

TEST(components_and_elements_lie_one_behind_the_other) {
  CeedBasis basis = NULL;
  CeedVector u = VectorOf(8, (CeedScalar[]){0, 2, 4, 6, 10, 20, 30, 50}), v = NULL;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 2, 2, 1, CEED_GAUSS, &basis));
  ASSERT_OK(CeedVectorCreate(ceed, 4, &v));
  ASSERT_OK(CeedBasisApply(basis, 2, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_VALUES(v, 1, 5, 15, 40);
  ASSERT_OK(CeedBasisApply(basis, 2, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  ASSERT_VALUES(v, 1, 1, 5, 10);
  ASSERT_OK(CeedBasisApplyAdd(basis, 2, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_VALUES(v, 2, 6, 20, 50);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(the_first_direction_is_the_fastest) {
  CeedBasis basis = NULL;
  CeedVector u = VectorOf(4, (CeedScalar[]){0, 1, 10, 11}), v = NULL;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 1, CEED_GAUSS, &basis));
  ASSERT_OK(CeedVectorCreate(ceed, 2, &v));
  ASSERT_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  ASSERT_VALUES(v, 0.5, 5);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(full_matrices_are_products_of_those_of_one_direction) {
  CeedBasis basis = NULL;
  const CeedScalar *interp, *grad, *interp_1d, *grad_1d;
  enum { P = 3, Q = 4 };

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, P, Q, CEED_GAUSS, &basis));
  ASSERT_OK(CeedBasisGetInterp(basis, &interp));
  ASSERT_OK(CeedBasisGetGrad(basis, &grad));
  ASSERT_OK(CeedBasisGetInterp1D(basis, &interp_1d));
  ASSERT_OK(CeedBasisGetGrad1D(basis, &grad_1d));
  for (int q = 0; q < Q * Q; q++) {
    for (int p = 0; p < P * P; p++) {
      int x = q % Q * P + p % P, y = q / Q * P + p / P, at = q * P * P + p;
      ASSERT_CLOSE(interp[at], interp_1d[x] * interp_1d[y], TOLERANCE);
      ASSERT_CLOSE(grad[at], grad_1d[x] * interp_1d[y], TOLERANCE);
      ASSERT_CLOSE(grad[Q * Q * P * P + at], interp_1d[x] * grad_1d[y], TOLERANCE);
    }
  }
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(every_topology_has_bases_given_by_their_matrices) {
  enum { P = 3, Q = 2 };
  const CeedElemTopology topologies[] = {
      CEED_TOPOLOGY_LINE,    CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TET,
      CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM,    CEED_TOPOLOGY_HEX};
  CeedScalar interp[Q * P], grad[3 * Q * P], q_ref[3 * Q] = {0}, weights[Q] = {0.25, 0.75};
  uint64_t seed = 5;

  for (int i = 0; i < Q * P; i++) interp[i] = (CeedScalar)RandomUnit(&seed);
  for (int i = 0; i < 3 * Q * P; i++) grad[i] = (CeedScalar)RandomUnit(&seed);
  for (int t = 0; t < COUNT_OF(topologies); t++) {
    CeedInt dim, value;
    CeedElemTopology topo;
    CeedBasis basis = NULL;
    CeedVector u = VectorOf(P, (CeedScalar[]){1, 2, 4}), v = NULL;
    const CeedScalar *array;

    ASSERT_OK(
        CeedBasisCreateH1(ceed, topologies[t], 1, P, Q, interp, grad, q_ref, weights, &basis));
    ASSERT_OK(CeedBasisGetDimension(basis, &dim));
    ASSERT_OK(CeedBasisGetTopology(basis, &topo));
    ASSERT_EQ(topo, topologies[t]);
    ASSERT_EQ(dim, t == 0 ? 1 : t < 3 ? 2 : 3);
    ASSERT_OK(CeedVectorCreate(ceed, dim * Q, &v));
    ASSERT_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
    for (int i = 0; i < dim * Q; i++) {
      const CeedScalar *row = grad + i * P;
      ASSERT_CLOSE(Entry(v, i), row[0] + 2 * row[1] + 4 * row[2], TOLERANCE);
    }
    PASSES(IsAdjoint(basis, CEED_EVAL_INTERP, 1));
    PASSES(IsAdjoint(basis, CEED_EVAL_GRAD, 1));
    ASSERT_OK(CeedBasisGetInterp(basis, &array));
    ASSERT(!memcmp(array, interp, sizeof interp));
    ASSERT_OK(CeedBasisGetQWeights(basis, &array));
    ASSERT_NUMBER(array[1], 0.75);
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisGetNumNodes1D(basis, &value));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisGetInterp1D(basis, &array));
    ASSERT_VIEW(CeedBasisView, basis, CeedElemTopologies[topo], "0.25", "Nodes: 3");
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    CeedBasisDestroy(&basis);
  }
  return TEST_PASSED;
}

// What both can represent, a projection keeps: from P to P_to nodes, values and gradients.
static int Projects(CeedInt dim, CeedInt P, CeedInt P_to, bool full) {
  CeedScalar nodes[16], nodes_to[16];
  CeedBasis from = NULL, to = NULL, project = NULL, bases[2];
  CeedInt degree = CeedIntMin(P, P_to) - 1, count = CeedIntPow(P_to, dim);
  CeedVector u, v = NULL, dv = NULL;

  for (int i = 0; i < 2; i++) {
    CeedInt n = i ? P_to : P;
    const CeedScalar *interp, *grad, *weights;
    CeedScalar zeros[3 * 512] = {0};
    bases[i] = NULL;
    ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, n, 6, CEED_GAUSS, &bases[i]));
    if (!full) continue;
    ASSERT_OK(CeedBasisGetInterp(bases[i], &interp));
    ASSERT_OK(CeedBasisGetGrad(bases[i], &grad));
    weights = zeros;
    ASSERT_OK(CeedBasisCreateH1(ceed, dim == 2 ? CEED_TOPOLOGY_QUAD : CEED_TOPOLOGY_LINE, 1,
                                CeedIntPow(n, dim), CeedIntPow(6, dim), interp, grad, zeros,
                                weights, i ? &to : &from));
    CeedBasisDestroy(&bases[i]);
    bases[i] = i ? to : from;
  }
  ASSERT_OK(CeedBasisCreateProjection(bases[0], bases[1], &project));
  ASSERT_OK(CeedLobattoQuadrature(P, nodes, NULL));
  ASSERT_OK(CeedLobattoQuadrature(P_to, nodes_to, NULL));
  u = Sampled(dim, degree, P, nodes);
  ASSERT_OK(CeedVectorCreate(ceed, count, &v));
  ASSERT_OK(CeedVectorCreate(ceed, dim * count, &dv));
  ASSERT_OK(CeedBasisApply(project, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_OK(CeedBasisApply(project, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, dv));
  for (CeedInt i = 0; i < count; i++) {
    ASSERT_CLOSE(Entry(v, i), AtPoint(dim, degree, P_to, nodes_to, i, -1), 32 * TOLERANCE);
    ASSERT_CLOSE(Entry(dv, i), AtPoint(dim, degree, P_to, nodes_to, i, 0), 1000 * TOLERANCE);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&dv);
  CeedBasisDestroy(&bases[0]);
  CeedBasisDestroy(&bases[1]);
  CeedBasisDestroy(&project);
  return TEST_PASSED;
}

TEST(a_projection_keeps_what_both_bases_can_represent) {
  PASSES(Projects(1, 3, 5, false));
  PASSES(Projects(2, 3, 5, false));
  PASSES(Projects(2, 5, 3, false));
  PASSES(Projects(2, 3, 4, true));
  return TEST_PASSED;
}

TEST(projections_of_different_bases_are_refused) {
  CeedBasis basis = NULL, other = NULL, project = NULL;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 4, CEED_GAUSS, &basis));
  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 3, 5, CEED_GAUSS, &other));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisCreateProjection(basis, other, &project));
  CeedBasisDestroy(&other);
  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 5, 4, CEED_GAUSS, &other));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisCreateProjection(basis, other, &project));
  ASSERT_SAYS("4 points");
  ASSERT_FAILS(CeedBasisCreateProjection(basis, NULL, &project));
  ASSERT_FAILS(CeedBasisCreateProjection(basis, basis, NULL));
  CeedBasisDestroy(&basis);
  CeedBasisDestroy(&other);
  return TEST_PASSED;
}

TEST(no_elements_are_no_error) {
  CeedBasis basis = NULL;
  CeedVector u = Iota(0), v = Iota(0);

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 2, 2, CEED_GAUSS, &basis));
  ASSERT_OK(CeedBasisApply(basis, 0, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  ASSERT_OK(CeedBasisApply(basis, 0, CEED_TRANSPOSE, CEED_EVAL_GRAD, u, v));
  ASSERT_OK(CeedBasisApply(basis, 0, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, v));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(bases_that_are_none_are_refused) {
  CeedBasis basis = NULL;
  const CeedScalar a[64] = {0};

#define REFUSED(dim, num_comp, P, Q, mode) \
  ASSERT_FAILS(CeedBasisCreateTensorH1Lagrange(ceed, dim, num_comp, P, Q, mode, &basis))
  REFUSED(0, 1, 2, 2, CEED_GAUSS);
  REFUSED(4, 1, 2, 2, CEED_GAUSS);
  REFUSED(1, 0, 2, 2, CEED_GAUSS);
  REFUSED(1, 1, 1, 2, CEED_GAUSS);
  REFUSED(1, 1, 2, 0, CEED_GAUSS);
  REFUSED(1, 1, 2, 1, CEED_GAUSS_LOBATTO);
  REFUSED(1, 1, 2, 2, (CeedQuadMode)2);
  ASSERT_FAILS(CeedBasisCreateTensorH1(ceed, 3, 1, 2000, 2, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateTensorH1(ceed, 3, 1, 2, 2, NULL, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateTensorH1(ceed, 3, 1, 2, 2, a, a, a, NULL, &basis));
  ASSERT_FAILS(CeedBasisCreateTensorH1(ceed, 3, 1, 2, 2, a, a, a, a, NULL));
  ASSERT_FAILS(CeedBasisCreateTensorH1(NULL, 3, 1, 2, 2, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateH1(ceed, (CeedElemTopology)7, 1, 2, 2, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateH1(ceed, (CeedElemTopology)-1, 1, 2, 2, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 0, 2, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 0, a, a, a, a, &basis));
  ASSERT_FAILS(CeedBasisCreateH1(ceed, CEED_TOPOLOGY_LINE, 1, 2, 2, a, NULL, a, a, &basis));
  ASSERT(!basis);
  return TEST_PASSED;
}

TEST(evaluations_that_do_not_fit_are_refused) {
  CeedBasis basis = NULL;
  CeedVector u = Iota(2), v = Iota(3), w = Iota(2);
  CeedScalar *array;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &basis));
#define APPLY(num_elem, t_mode, eval_mode, u, v) \
  CeedBasisApply(basis, num_elem, t_mode, eval_mode, u, v)
  ASSERT_CODE(CEED_ERROR_DIMENSION, APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, v, u));
  ASSERT_CODE(CEED_ERROR_DIMENSION, APPLY(1, CEED_TRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_CODE(CEED_ERROR_DIMENSION, APPLY(-1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_FAILS(APPLY(1, (CeedTransposeMode)5, CEED_EVAL_INTERP, u, v));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_CURL, u, v));
  ASSERT_FAILS(APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_NONE, u, v));
  ASSERT_FAILS(APPLY(1, CEED_NOTRANSPOSE, (CeedEvalMode)77, u, v));
  ASSERT_FAILS(APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, u, v));
  ASSERT_FAILS(APPLY(1, CEED_TRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, v));
  ASSERT_FAILS(APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, CEED_VECTOR_NONE, v));
  ASSERT_FAILS(APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, NULL));
  ASSERT_FAILS(CeedBasisApply(CEED_BASIS_NONE, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_FAILS(CeedBasisApply(NULL, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_OK(CeedVectorGetArray(v, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  ASSERT_OK(CeedVectorRestoreArray(v, &array));
  ASSERT_OK(CeedVectorSetValue(u, 1));
  ASSERT_OK(APPLY(1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, v));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(input_and_output_at_once_is_refused) {
  CeedBasis basis = NULL;
  CeedVector u = Iota(2);

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, u, u));
  CeedVectorDestroy(&u);
  CeedBasisDestroy(&basis);
  return TEST_PASSED;
}

TEST(queries_give_what_it_was_made_of) {
  CeedBasis basis = NULL, copy = NULL;
  CeedInt value;
  Ceed other = NULL;
  const CeedScalar *weights;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 3, 4, 2, 5, CEED_GAUSS, &basis));
#define ASSERT_GET(Name, expected)                  \
  do {                                              \
    ASSERT_OK(CeedBasisGet##Name(basis, &value));   \
    ASSERT_EQ(value, expected);                     \
    ASSERT_FAILS(CeedBasisGet##Name(basis, NULL));  \
    ASSERT_FAILS(CeedBasisGet##Name(NULL, &value)); \
  } while (0)
  ASSERT_GET(Dimension, 3);
  ASSERT_GET(NumComponents, 4);
  ASSERT_GET(NumNodes, 8);
  ASSERT_GET(NumNodes1D, 2);
  ASSERT_GET(NumQuadraturePoints, 125);
  ASSERT_GET(NumQuadraturePoints1D, 5);
  ASSERT_OK(CeedBasisGetQWeights(basis, &weights));
  ASSERT_CLOSE(weights[2], 128 / 225.0L, TOLERANCE);
  ASSERT_OK(CeedBasisGetCeed(basis, &other));
  ASSERT_SAME(other, ceed);
  CeedDestroy(&other);
  ASSERT_SAME(CeedBasisReturnCeed(basis), ceed);
  ASSERT_VIEW(CeedBasisView, basis, "hexahedron", "Components: 4", "2 a direction");
  ASSERT_FAILS(CeedBasisView(basis, NULL));
  ASSERT_OK(CeedBasisReferenceCopy(basis, &copy));
  ASSERT_SAME(copy, basis);
  ASSERT_OK(CeedBasisDestroy(&basis));
  ASSERT_OK(CeedBasisDestroy(&basis));
  ASSERT_OK(CeedBasisDestroy(&copy));
  copy = CEED_BASIS_NONE;
  ASSERT_OK(CeedBasisDestroy(&copy));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(polynomials_of_the_order_are_interpolated_and_differentiated_exactly),
    BEHAVIOUR(bases_of_a_high_order_are_exact_too),
    BEHAVIOUR(weights_sum_to_the_volume_of_every_element),
    BEHAVIOUR(the_transpose_is_the_adjoint),
    BEHAVIOUR(components_and_elements_lie_one_behind_the_other),
    BEHAVIOUR(the_first_direction_is_the_fastest),
    BEHAVIOUR(full_matrices_are_products_of_those_of_one_direction),
    BEHAVIOUR(every_topology_has_bases_given_by_their_matrices),
    BEHAVIOUR(a_projection_keeps_what_both_bases_can_represent),
    BEHAVIOUR(projections_of_different_bases_are_refused),
    BEHAVIOUR(no_elements_are_no_error),
    BEHAVIOUR(bases_that_are_none_are_refused),
    BEHAVIOUR(evaluations_that_do_not_fit_are_refused),
    BEHAVIOUR(input_and_output_at_once_is_refused),
    BEHAVIOUR(queries_give_what_it_was_made_of),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
