// Bases: how they are made and asked.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fem.h"

static struct CeedBasis_private none = {
    .base = {CEED_MAGIC_OF(8 * sizeof(CeedScalar), CEED_KIND_SENTINEL), 1, NULL}};
const CeedBasis CEED_BASIS_NONE = &none;

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

static void Free(void *object) {
  CeedBasis basis = object;

  free(basis->interp_1d);
  free(basis->grad_1d);
  free(basis->interp);
  free(basis->grad);
  free(basis->q_ref);
  free(basis->q_weight);
  free(basis);
}

static const CeedClass class = {CEED_KIND_BASIS, NULL, Free};
CEED_OBJECT(CeedBasis, class)
CEED_OBJECT_CEED(CeedBasis, CEED_KIND_BASIS)

static int Copy(Ceed ceed, CeedSize count, const CeedScalar *from, const char *what,
                CeedScalar **to) {
  CeedCheck(from, ceed, CEED_ERROR_INCOMPATIBLE, "The array %s is NULL", what);
  CeedCall(CeedAllocate(ceed, count, sizeof *from, to));
  memcpy(*to, from, (size_t)count * sizeof *from);
  return CEED_ERROR_SUCCESS;
}

static int New(Ceed ceed, CeedInt num_comp, CeedBasis *basis) {
  CeedBasis new_basis;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(basis, ceed);
  CeedCheck(num_comp >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no number of components", num_comp);
  new_basis = CeedObjectNew(ceed, CEED_KIND_BASIS, sizeof *new_basis);
  CeedCheck(new_basis, ceed, CEED_ERROR_MAJOR, "Out of memory: a basis");
  new_basis->num_comp = num_comp;
  *basis = new_basis;
  return CEED_ERROR_SUCCESS;
}

/* Hand the basis over, or end it when a step of its making failed. */
static int Finish(int code, CeedBasis new_basis, CeedBasis *basis) {
  if (code) {
    (void)CeedBasisDestroy(&new_basis);
    return code;
  }
  *basis = new_basis;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Tensor products
// ------------------------------------------------------------------------------------------------

static int CheckPower(Ceed ceed, CeedInt n, CeedInt dim, const char *what, CeedInt *power) {
  CeedSize product = 1;

  CeedCheck(n >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no number of %s", n, what);
  for (int d = 0; d < dim; d++) {
    product *= n;
    CeedCheck(product <= INT32_MAX, ceed, CEED_ERROR_DIMENSION, "%d^%d %s are too many", n, dim,
              what);
  }
  *power = (CeedInt)product;
  return CEED_ERROR_SUCCESS;
}

static int SetTensor(CeedBasis basis, CeedInt dim, CeedInt P_1d, CeedInt Q_1d,
                     const CeedScalar *interp_1d, const CeedScalar *grad_1d,
                     const CeedScalar *q_ref_1d, const CeedScalar *q_weight_1d) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD,
                                                CEED_TOPOLOGY_HEX};
  Ceed ceed = basis->base.ceed;
  CeedSize size = (CeedSize)P_1d * Q_1d;

  CeedCheck(dim >= 1 && dim <= CEED_MAX_DIM, ceed, CEED_ERROR_DIMENSION,
            "%d is no dimension of a basis: 1 to %d", dim, CEED_MAX_DIM);
  CeedCall(CheckPower(ceed, P_1d, dim, "nodes", &basis->P));
  CeedCall(CheckPower(ceed, Q_1d, dim, "quadrature points", &basis->Q));
  basis->is_tensor = true;
  basis->topo = topologies[dim - 1];
  basis->dim = dim;
  basis->P_1d = P_1d;
  basis->Q_1d = Q_1d;
  CeedCall(Copy(ceed, size, interp_1d, "interp_1d", &basis->interp_1d));
  CeedCall(Copy(ceed, size, grad_1d, "grad_1d", &basis->grad_1d));
  CeedCall(Copy(ceed, Q_1d, q_ref_1d, "q_ref_1d", &basis->q_ref));
  return Copy(ceed, Q_1d, q_weight_1d, "q_weight_1d", &basis->q_weight);
}

int CeedBasisCreateTensorH1(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P_1d, CeedInt Q_1d,
                            const CeedScalar *interp_1d, const CeedScalar *grad_1d,
                            const CeedScalar *q_ref_1d, const CeedScalar *q_weight_1d,
                            CeedBasis *basis) {
  CeedBasis new_basis = NULL;

  CeedCall(New(ceed, num_comp, basis ? &new_basis : NULL));
  return Finish(SetTensor(new_basis, dim, P_1d, Q_1d, interp_1d, grad_1d, q_ref_1d, q_weight_1d),
                new_basis, basis);
}

/* Barycentric weights of nodes in [-1, 1]; the factor 2 keeps the products near 1. */
static void SetBarycentricWeights(CeedInt P, const CeedScalar *nodes, long double *weights) {
  for (CeedInt i = 0; i < P; i++) {
    long double product = 1;
    for (CeedInt j = 0; j < P; j++) {
      if (j != i) product *= 2 * ((long double)nodes[i] - nodes[j]);
    }
    weights[i] = 1 / product;
  }
}

/* Values and derivatives at x of the Lagrange polynomials of all nodes, by the barycentric formula
   (J.-P. Berrut, L. N. Trefethen: Barycentric Lagrange interpolation, SIAM Review 46, 2004). With
   the term of the nearest node k taken out of its sums, and d = x - x_k, nothing is divided by d,
   which may be 0:
     l_k = w_k / D,  l_k' = l_k T,  l_i = d w_i / ((x - x_i) D),
     l_i' = w_i / ((x - x_i) D) (1 + d (T - 1 / (x - x_i))),
   where D = w_k + d sum w_i / (x - x_i), T = sum 1 / (x - x_i), over i other than k. */
static void Lagrange(CeedInt P, const CeedScalar *nodes, const long double *weights, long double x,
                     CeedScalar *values, CeedScalar *slopes) {
  long double d, D = 0, T = 0;
  CeedInt k = 0;

  for (CeedInt i = 1; i < P; i++) k = fabsl(x - nodes[i]) < fabsl(x - nodes[k]) ? i : k;
  d = x - nodes[k];
  for (CeedInt i = 0; i < P; i++) {
    if (i == k) continue;
    D += d * weights[i] / (x - nodes[i]);
    T += 1 / (x - nodes[i]);
  }
  D += weights[k];
  for (CeedInt i = 0; i < P; i++) {
    long double ratio = i == k ? 0 : weights[i] / ((x - nodes[i]) * D);
    values[i] = (CeedScalar)(d * ratio);
    slopes[i] = i == k ? 0 : (CeedScalar)(ratio * (1 + d * (T - 1 / (x - nodes[i]))));
  }
  values[k] = (CeedScalar)(weights[k] / D);
  slopes[k] = (CeedScalar)(weights[k] / D * T);
}

/* Nodes, points and weights, and the matrices at the points. */
typedef struct {
  CeedScalar *interp, *grad, *nodes, *points, *weights;
  long double *barycentric;
} LagrangeArrays;

static int FillLagrange(CeedInt P, CeedInt Q, CeedQuadMode quad_mode, const LagrangeArrays *a) {
  CeedCall(CeedLobattoQuadrature(P, a->nodes, NULL));
  CeedCall((quad_mode == CEED_GAUSS ? CeedGaussQuadrature : CeedLobattoQuadrature)(Q, a->points,
                                                                                   a->weights));
  SetBarycentricWeights(P, a->nodes, a->barycentric);
  for (CeedInt q = 0; q < Q; q++) {
    Lagrange(P, a->nodes, a->barycentric, a->points[q], a->interp + (CeedSize)q * P,
             a->grad + (CeedSize)q * P);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedBasisCreateTensorH1Lagrange(Ceed ceed, CeedInt dim, CeedInt num_comp, CeedInt P, CeedInt Q,
                                    CeedQuadMode quad_mode, CeedBasis *basis) {
  LagrangeArrays a;
  CeedSize size;
  int code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheck(quad_mode == CEED_GAUSS || quad_mode == CEED_GAUSS_LOBATTO, ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no quadrature mode", (int)quad_mode);
  CeedCheck(P >= 2, ceed, CEED_ERROR_DIMENSION,
            "A Lagrange basis has 2 nodes or more a direction, not %d", P);
  CeedCheck(Q >= 1 + (quad_mode == CEED_GAUSS_LOBATTO), ceed, CEED_ERROR_DIMENSION,
            "The %s rule has more points than %d", CeedQuadModes[quad_mode], Q);
  CeedCall(CeedSizeOf(ceed, "The basis", &size, 2, P + (CeedSize)1, Q + (CeedSize)1));
  CeedCall(CeedAllocate(ceed, P, sizeof *a.barycentric, &a.barycentric));
  code = CeedAllocate(ceed, size, sizeof *a.interp, &a.interp);
  if (!code) {
    a.grad = a.interp + (CeedSize)P * Q;
    a.nodes = a.grad + (CeedSize)P * Q;
    a.points = a.nodes + P;
    a.weights = a.points + Q;
    code = FillLagrange(P, Q, quad_mode, &a);
    if (!code) {
      code = CeedBasisCreateTensorH1(ceed, dim, num_comp, P, Q, a.interp, a.grad, a.points,
                                     a.weights, basis);
    }
    free(a.interp);
  }
  free(a.barycentric);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Any topology
// ------------------------------------------------------------------------------------------------

static int SetH1(CeedBasis basis, CeedElemTopology topo, CeedInt num_nodes, CeedInt nqpts,
                 const CeedScalar *interp, const CeedScalar *grad, const CeedScalar *q_ref,
                 const CeedScalar *q_weights) {
  Ceed ceed = basis->base.ceed;
  CeedSize size, grad_size;

  CeedCheck(topo >= 0 && topo <= CEED_TOPOLOGY_HEX && CeedElemTopologies[topo], ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no topology", (int)topo);
  CeedCheck(num_nodes >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no number of nodes", num_nodes);
  CeedCheck(nqpts >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no number of quadrature points", nqpts);
  basis->topo = topo;
  basis->dim = (CeedInt)topo >> 16;
  basis->P = num_nodes;
  basis->Q = nqpts;
  size = (CeedSize)num_nodes * nqpts;
  CeedCall(CeedSizeOf(ceed, "The basis", &grad_size, basis->dim, size));
  CeedCall(Copy(ceed, size, interp, "interp", &basis->interp));
  CeedCall(Copy(ceed, grad_size, grad, "grad", &basis->grad));
  CeedCall(Copy(ceed, (CeedSize)basis->dim * nqpts, q_ref, "q_ref", &basis->q_ref));
  return Copy(ceed, nqpts, q_weights, "q_weights", &basis->q_weight);
}

int CeedBasisCreateH1(Ceed ceed, CeedElemTopology topo, CeedInt num_comp, CeedInt num_nodes,
                      CeedInt nqpts, const CeedScalar *interp, const CeedScalar *grad,
                      const CeedScalar *q_ref, const CeedScalar *q_weights, CeedBasis *basis) {
  CeedBasis new_basis = NULL;

  CeedCall(New(ceed, num_comp, basis ? &new_basis : NULL));
  return Finish(SetH1(new_basis, topo, num_nodes, nqpts, interp, grad, q_ref, q_weights), new_basis,
                basis);
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

#define GET(Name, type, value) CEED_GET(CeedBasisGet##Name, CeedBasis, CEED_KIND_BASIS, type, value)
GET(Dimension, CeedInt, dim)
GET(Topology, CeedElemTopology, topo)
GET(NumComponents, CeedInt, num_comp)
GET(NumNodes, CeedInt, P)
GET(NumQuadraturePoints, CeedInt, Q)
GET(QRef, const CeedScalar *, q_ref)
GET(QWeights, const CeedScalar *, q_weight)

#define GET_1D(Name, type, value)                                          \
  int CeedBasisGet##Name(CeedBasis basis, type *result) {                  \
    CeedCall(CeedObjectCheck(basis, CEED_KIND_BASIS));                     \
    CeedCheckOutput(result, basis->base.ceed);                             \
    CeedCheck(basis->is_tensor, basis->base.ceed, CEED_ERROR_INCOMPATIBLE, \
              #Name ": the basis is no tensor product");                   \
    *result = basis->value;                                                \
    return CEED_ERROR_SUCCESS;                                             \
  }
GET_1D(NumNodes1D, CeedInt, P_1d)
GET_1D(NumQuadraturePoints1D, CeedInt, Q_1d)
GET_1D(Interp1D, const CeedScalar *, interp_1d)
GET_1D(Grad1D, const CeedScalar *, grad_1d)

/* The column of a full matrix is what the unit vector of a node gives. */
static void FillColumn(CeedBasis basis, CeedInt node, bool is_grad, CeedScalar *matrix,
                       CeedScalar *scratch) {
  CeedInt P = basis->P, dim = is_grad ? basis->dim : 1;
  CeedScalar *unit = scratch, *column = unit + P, *work = column + (CeedSize)dim * basis->Q;

  unit[node] = 1;
  if (is_grad) {
    CeedBasisGradOne(basis, false, false, basis->Q, unit, column, work);
  } else {
    CeedBasisInterpOne(basis, false, false, unit, column, work);
  }
  for (CeedSize q = 0; q < (CeedSize)dim * basis->Q; q++) matrix[q * P + node] = column[q];
  unit[node] = 0;
}

/* Threads that share the basis may make the matrix at once; they all get that of the first. */
static CeedScalar *Publish(CeedScalar *new_matrix, CeedScalar **matrix) {
  CeedScalar *first = NULL;

  if (__atomic_compare_exchange_n(matrix, &first, new_matrix, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return new_matrix;
  }
  free(new_matrix);
  return first;
}

static int GetMatrix(CeedBasis basis, bool is_grad, const CeedScalar **result) {
  CeedScalar **matrix = is_grad ? &basis->grad : &basis->interp, *scratch, *new_matrix;
  CeedInt dim = is_grad ? basis->dim : 1;
  Ceed ceed = basis->base.ceed;
  CeedSize size;
  int code;

  *result = __atomic_load_n(matrix, __ATOMIC_ACQUIRE);
  if (*result) return CEED_ERROR_SUCCESS;
  CeedCall(CeedSizeOf(ceed, "The matrix", &size, dim, basis->Q, basis->P));
  CeedCall(CeedAllocate(ceed, basis->P + (CeedSize)dim * basis->Q + CeedBasisWorkSize(basis),
                        sizeof *scratch, &scratch));
  code = CeedAllocate(ceed, size, sizeof *new_matrix, &new_matrix);
  if (!code) {
    for (CeedInt node = 0; node < basis->P; node++) {
      FillColumn(basis, node, is_grad, new_matrix, scratch);
    }
    *result = Publish(new_matrix, matrix);
  }
  free(scratch);
  return code;
}

int CeedBasisGetInterp(CeedBasis basis, const CeedScalar **interp) {
  CeedCall(CeedObjectCheck(basis, CEED_KIND_BASIS));
  CeedCheckOutput(interp, basis->base.ceed);
  return GetMatrix(basis, false, interp);
}

int CeedBasisGetGrad(CeedBasis basis, const CeedScalar **grad) {
  CeedCall(CeedObjectCheck(basis, CEED_KIND_BASIS));
  CeedCheckOutput(grad, basis->base.ceed);
  return GetMatrix(basis, true, grad);
}

static void ViewMatrix(const char *name, CeedSize rows, CeedSize columns, const CeedScalar *matrix,
                       FILE *stream) {
  fprintf(stream, "  %s:\n", name);
  for (CeedSize i = 0; i < rows; i++) {
    fprintf(stream, "   ");
    for (CeedSize j = 0; j < columns; j++) {
      fprintf(stream, " %12.8f", (double)matrix[i * columns + j]);
    }
    fprintf(stream, "\n");
  }
}

int CeedBasisView(CeedBasis basis, FILE *stream) {
  bool is_tensor;
  CeedInt P, Q, dim;

  CeedCall(CeedObjectCheck(basis, CEED_KIND_BASIS));
  CeedCall(CeedStreamCheck(basis->base.ceed, stream));
  is_tensor = basis->is_tensor;
  P = is_tensor ? basis->P_1d : basis->P;
  Q = is_tensor ? basis->Q_1d : basis->Q;
  dim = is_tensor ? 1 : basis->dim;
  fprintf(stream,
          "CeedBasis on a %s\n"
          "  Components: %d\n"
          "  Nodes: %d%s\n"
          "  Quadrature points: %d%s\n",
          CeedElemTopologies[basis->topo], basis->num_comp, P, is_tensor ? " a direction" : "", Q,
          is_tensor ? " a direction" : "");
  ViewMatrix("points", dim, Q, basis->q_ref, stream);
  ViewMatrix("weights", 1, Q, basis->q_weight, stream);
  ViewMatrix("interpolation", Q, P, is_tensor ? basis->interp_1d : basis->interp, stream);
  ViewMatrix("gradient", (CeedSize)dim * Q, P, is_tensor ? basis->grad_1d : basis->grad, stream);
  return CEED_ERROR_SUCCESS;
}
