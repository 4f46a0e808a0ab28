// Linear operators as numbers, against matrices written down independently and against apply
// itself. SPDX-License-Identifier: BSD-2-Clause
#include "box.h"

typedef struct {
  CeedSize count;
  CeedInt *rows, *cols;
  CeedVector values;
} Matrix;

static int MatrixCreate(CeedOperator op, Matrix *m) {
  CeedSize count;

  ASSERT_OK(CeedOperatorLinearAssembleSymbolic(op, &m->count, &m->rows, &m->cols));
  ASSERT_OK(CeedOperatorLinearAssembleGetNumEntries(op, &count));
  ASSERT_EQ(m->count, count);
  m->values = NULL;
  ASSERT_OK(CeedVectorCreate(ceed, count, &m->values));
  ASSERT_OK(CeedOperatorLinearAssemble(op, m->values));
  return TEST_PASSED;
}

static void MatrixDestroy(Matrix *m) {
  free(m->rows);
  free(m->cols);
  CeedVectorDestroy(&m->values);
}

// The columns of the operator, one after the other: what apply makes of unit vectors.
static double *Columns(CeedOperator op) {
  CeedSize in, out;
  CeedVector u = NULL, v = NULL;
  double *dense;

  if (CeedOperatorGetActiveVectorLengths(op, &in, &out)) return NULL;
  if (CeedVectorCreate(ceed, in, &u) || CeedVectorCreate(ceed, out, &v)) return NULL;
  dense = calloc((size_t)(in * out), sizeof *dense);
  for (CeedSize j = 0; j < in; j++) {
    CeedVectorSetValue(u, 0);
    CeedVectorSetValueStrided(u, j, j + 1, 1, 1);
    if (CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE)) return NULL;
    for (CeedSize i = 0; i < out; i++) dense[i * in + j] = (double)Entry(v, i);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return dense;
}

static int MatrixIs(CeedOperator op, const double *dense, CeedSize rows, CeedSize cols) {
  double *sum = calloc((size_t)(rows * cols), sizeof *sum);
  Matrix m;

  PASSES(MatrixCreate(op, &m));
  for (CeedSize k = 0; k < m.count; k++) {
    ASSERT(m.rows[k] >= 0 && m.rows[k] < rows && m.cols[k] >= 0 && m.cols[k] < cols);
    sum[m.rows[k] * cols + m.cols[k]] += (double)Entry(m.values, k);
  }
  for (CeedSize k = 0; k < rows * cols; k++) {
    ASSERT_CLOSE(sum[k], dense[k], 20 * TOLERANCE * (1 + fabs(dense[k])));
  }
  MatrixDestroy(&m);
  free(sum);
  return TEST_PASSED;
}

TEST(the_matrix_is_the_one_written_down_by_hand) {
  for (int is_mass = 0; is_mass < 2; is_mass++) {
    for (CeedInt dim = 1; dim <= 3; dim++) {
      CeedOperator op = NULL;
      Box box;
      double *dense;

      PASSES(BoxCreate(&box, dim, 2, dim == 3 ? 1 : 2, 4, 1));
      PASSES(BoxOperator(&box, is_mass ? "Mass" : "Poisson", 1, &op));
      dense = BoxDense(&box, is_mass);
      PASSES(MatrixIs(op, dense, box.num_nodes, box.num_nodes));
      free(dense);
      CeedOperatorDestroy(&op);
      BoxDestroy(&box);
    }
  }
  return TEST_PASSED;
}

TEST(the_diagonal_is_that_of_the_matrix) {
  for (int is_mass = 0; is_mass < 2; is_mass++) {
    CeedOperator op = NULL;
    CeedVector diagonal = NULL;
    Box box;
    double *dense;

    PASSES(BoxCreate(&box, 2, 3, 2, 4, 1));
    PASSES(BoxOperator(&box, is_mass ? "Mass" : "Poisson", 1, &op));
    dense = BoxDense(&box, is_mass);
    ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &diagonal));
    ASSERT_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
    ASSERT_OK(CeedOperatorLinearAssembleAddDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
    for (CeedInt i = 0; i < box.num_nodes; i++) {
      ASSERT_CLOSE(Entry(diagonal, i), 2 * dense[i * box.num_nodes + i], 50 * TOLERANCE);
    }
    free(dense);
    CeedVectorDestroy(&diagonal);
    CeedOperatorDestroy(&op);
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

// Both components into both: v_c = sum over d of (1 + c + 2 d) u_d, plus gradients of the other.
static int Coupled(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i] + 3 * in[0][Q + i] + in[1][Q + i];
    out[0][Q + i] = 2 * in[0][i] + 4 * in[0][Q + i] - in[1][2 * Q + i];
  }
  return 0;
}

// Nodes with their components apart, or one behind the other.
static int CoupledCreate(const Box *box, bool interlaced, CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt *offsets = malloc(sizeof(CeedInt) * (size_t)(box->num_elem * box->elem_size));

  for (CeedInt i = 0; i < box->num_elem * box->elem_size; i++) {
    offsets[i] = box->offsets[i] * (interlaced ? 2 : 1);
  }
  ASSERT_OK(CeedElemRestrictionCreate(ceed, box->num_elem, box->elem_size, 2,
                                      interlaced ? 1 : box->num_nodes, 2 * box->num_nodes,
                                      CEED_MEM_HOST, CEED_OWN_POINTER, offsets, &rstr));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Coupled, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_INTERP));
  ASSERT_OK(CeedQFunctionAddInput(qf, "du", 4, CEED_EVAL_GRAD));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_INTERP));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "u", rstr, box->basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "du", rstr, box->basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "v", rstr, box->basis_u, CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

static int HasDiagonalOf(CeedOperator op, const double *dense, CeedSize length) {
  CeedVector diagonal = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, length, &diagonal));
  ASSERT_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  for (CeedSize i = 0; i < length; i++) {
    ASSERT_CLOSE(Entry(diagonal, i), dense[i * length + i], 50 * TOLERANCE);
  }
  CeedVectorDestroy(&diagonal);
  return TEST_PASSED;
}

TEST(blocks_of_the_diagonal_couple_the_components_of_a_node) {
  for (int interlaced = 0; interlaced < 2; interlaced++) {
    Box box;
    CeedOperator op = NULL;
    CeedVector blocks = NULL;
    CeedSize count, length;
    CeedInt *rows, *cols;
    double *dense;

    PASSES(BoxCreate(&box, 2, 2, 2, 3, 2));
    length = 2 * box.num_nodes;
    PASSES(CoupledCreate(&box, interlaced, &op));
    dense = Columns(op);
    PASSES(MatrixIs(op, dense, length, length));
    ASSERT_OK(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &count, &rows, &cols));
    ASSERT_EQ(count, 4 * box.num_nodes);
    ASSERT_OK(CeedVectorCreate(ceed, count, &blocks));
    ASSERT_OK(CeedOperatorLinearAssemblePointBlockDiagonal(op, blocks, CEED_REQUEST_IMMEDIATE));
    for (CeedSize k = 0; k < count; k++) {
      CeedInt node = (CeedInt)(k / 4), out = (CeedInt)(k / 2 % 2), in = (CeedInt)(k % 2);
      ASSERT_EQ(rows[k], interlaced ? 2 * node + out : node + out * box.num_nodes);
      ASSERT_EQ(cols[k], interlaced ? 2 * node + in : node + in * box.num_nodes);
      ASSERT_CLOSE(Entry(blocks, k), dense[rows[k] * length + cols[k]], 50 * TOLERANCE);
    }
    ASSERT_OK(CeedOperatorLinearAssembleAddPointBlockDiagonal(op, blocks, CEED_REQUEST_IMMEDIATE));
    ASSERT_CLOSE(Entry(blocks, 1), 2 * dense[rows[1] * length + cols[1]], 50 * TOLERANCE);
    PASSES(HasDiagonalOf(op, dense, length));
    free(rows);
    free(cols);
    free(dense);
    CeedVectorDestroy(&blocks);
    CeedOperatorDestroy(&op);
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

// One element around a period, whose last column of nodes is its first.
TEST(a_node_that_an_element_has_twice_has_the_sum_of_its_pairs) {
  for (int interlaced = 0; interlaced < 2; interlaced++) {
    Box box;
    CeedOperator op = NULL;
    CeedVector blocks = NULL;
    CeedSize length;
    double *dense;

    PASSES(BoxCreate(&box, 2, 1, 2, 3, 2));
    for (CeedInt i = 2; i < box.elem_size; i += 3) box.offsets[i] -= 2;
    length = 2 * box.num_nodes;
    PASSES(CoupledCreate(&box, interlaced, &op));
    dense = Columns(op);
    PASSES(HasDiagonalOf(op, dense, length));
    ASSERT_OK(CeedVectorCreate(ceed, 2 * length, &blocks));
    ASSERT_OK(CeedOperatorLinearAssemblePointBlockDiagonal(op, blocks, CEED_REQUEST_IMMEDIATE));
    for (CeedSize k = 0; k < 2 * length; k++) {
      CeedSize node = k / 4, out = k / 2 % 2, in = k % 2;
      CeedSize row = interlaced ? 2 * node + out : node + out * box.num_nodes;
      CeedSize col = interlaced ? 2 * node + in : node + in * box.num_nodes;
      ASSERT_CLOSE(Entry(blocks, k), dense[row * length + col], 50 * TOLERANCE);
    }
    free(dense);
    CeedVectorDestroy(&blocks);
    CeedOperatorDestroy(&op);
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

TEST(the_transpose_is_that_of_the_matrix) {
  Box box;
  CeedOperator op = NULL;
  CeedVector w, z = NULL;
  double *dense;
  CeedSize length;

  PASSES(BoxCreate(&box, 2, 2, 2, 3, 2));
  length = 2 * box.num_nodes;
  PASSES(CoupledCreate(&box, true, &op));
  dense = Columns(op);
  w = RandomVector(length, 3);
  ASSERT_OK(CeedVectorCreate(ceed, length, &z));
  ASSERT_OK(CeedOperatorApplyTranspose(op, w, z, CEED_REQUEST_IMMEDIATE));
  for (CeedSize j = 0; j < length; j++) {
    double sum = 0;
    for (CeedSize i = 0; i < length; i++) sum += dense[i * length + j] * (double)Entry(w, i);
    ASSERT_CLOSE(Entry(z, j), sum, 100 * TOLERANCE);
  }
  free(dense);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&z);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  return TEST_PASSED;
}

TEST(the_transpose_of_a_composite_is_the_sum_of_those_of_its_parts) {
  Box box;
  CeedOperator op = NULL, sum = NULL;
  CeedVector w, once = NULL, twice = NULL;

  PASSES(BoxCreate(&box, 2, 2, 2, 3, 2));
  PASSES(CoupledCreate(&box, true, &op));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  for (int i = 0; i < 2; i++) ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  w = RandomVector(2 * box.num_nodes, 3);
  ASSERT_OK(CeedVectorCreate(ceed, 2 * box.num_nodes, &once));
  ASSERT_OK(CeedVectorCreate(ceed, 2 * box.num_nodes, &twice));
  ASSERT_OK(CeedOperatorApplyTranspose(op, w, once, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedOperatorApplyTranspose(sum, w, twice, CEED_REQUEST_IMMEDIATE));
  for (CeedSize i = 0; i < 2 * box.num_nodes; i++) {
    ASSERT_CLOSE(Entry(twice, i), 2 * (double)Entry(once, i), 100 * TOLERANCE);
  }
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&once);
  CeedVectorDestroy(&twice);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&sum);
  BoxDestroy(&box);
  return TEST_PASSED;
}

TEST(the_assembled_function_has_a_component_for_each_pair) {
  Box box;
  CeedOperator op = NULL;
  CeedVector assembled = NULL, same;
  CeedElemRestriction rstr = NULL;
  CeedInt layout[3], num_comp;
  const double expected[6][2] = {{1, 2}, {3, 4}, {0, 0}, {1, 0}, {0, -1}, {0, 0}};

  PASSES(BoxCreate(&box, 2, 2, 1, 2, 2));
  PASSES(CoupledCreate(&box, true, &op));
  ASSERT_OK(CeedOperatorLinearAssembleQFunction(op, &assembled, &rstr, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  ASSERT_EQ(num_comp, 6 * 2);
  ASSERT_OK(CeedElemRestrictionGetLLayout(rstr, layout));
  for (int in = 0; in < 6; in++) {
    for (int out = 0; out < 2; out++) {
      for (CeedInt e = 0; e < box.num_elem; e++) {
        CeedSize at = (CeedSize)(in * 2 + out) * layout[1] + e * layout[2] + 3 * layout[0];
        ASSERT_NUMBER(Entry(assembled, at), expected[in][out]);
      }
    }
  }
  same = assembled;
  ASSERT_OK(CeedVectorSetValue(assembled, 0));
  ASSERT_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &assembled, &rstr, NULL));
  ASSERT_SAME(assembled, same);
  ASSERT_NUMBER(Entry(assembled, 0), 1);
  CeedVectorDestroy(&assembled);
  assembled = Iota(2);
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &assembled, &rstr, NULL));
  CeedVectorDestroy(&assembled);
  CeedElemRestrictionDestroy(&rstr);
  ASSERT_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, &assembled, &rstr, NULL));
  ASSERT(assembled && rstr);
  CeedVectorDestroy(&assembled);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  return TEST_PASSED;
}

TEST(a_composite_is_assembled_as_the_sum_of_its_parts) {
  Box box;
  CeedOperator mass = NULL, poisson = NULL, sum = NULL;
  CeedVector diagonal = NULL;
  double *dense, *other;

  PASSES(BoxCreate(&box, 2, 2, 2, 4, 1));
  PASSES(BoxOperator(&box, "Mass", 1, &mass));
  PASSES(BoxOperator(&box, "Poisson", 1, &poisson));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, mass));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, poisson));
  dense = BoxDense(&box, true);
  other = BoxDense(&box, false);
  for (CeedInt i = 0; i < box.num_nodes * box.num_nodes; i++) dense[i] += other[i];
  PASSES(MatrixIs(sum, dense, box.num_nodes, box.num_nodes));
  ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &diagonal));
  ASSERT_OK(CeedOperatorLinearAssembleDiagonal(sum, diagonal, CEED_REQUEST_IMMEDIATE));
  for (CeedInt i = 0; i < box.num_nodes; i++) {
    ASSERT_CLOSE(Entry(diagonal, i), dense[i * box.num_nodes + i], 50 * TOLERANCE);
  }
  free(dense);
  free(other);
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&mass);
  CeedOperatorDestroy(&poisson);
  CeedOperatorDestroy(&sum);
  BoxDestroy(&box);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Triangles: linear ones on the unit square, cut into two
// ------------------------------------------------------------------------------------------------

// phi = 1 - x - y, x, y on the reference triangle; the rule of the midpoints of the edges.
static int TriangleBasis(CeedInt num_comp, CeedBasis *basis) {
  const CeedScalar x[] = {0.5, 0.5, 0}, y[] = {0, 0.5, 0.5};
  CeedScalar interp[9], grad[18], q_ref[6], weights[3];

  for (int q = 0; q < 3; q++) {
    interp[3 * q] = 1 - x[q] - y[q], interp[3 * q + 1] = x[q], interp[3 * q + 2] = y[q];
    grad[3 * q] = -1, grad[3 * q + 1] = 1, grad[3 * q + 2] = 0;
    grad[9 + 3 * q] = -1, grad[9 + 3 * q + 1] = 0, grad[9 + 3 * q + 2] = 1;
    q_ref[q] = x[q], q_ref[3 + q] = y[q];
    weights[q] = (CeedScalar)(1.0 / 6);
  }
  return CeedBasisCreateH1(ceed, CEED_TOPOLOGY_TRIANGLE, num_comp, 3, 3, interp, grad, q_ref,
                           weights, basis);
}

// The matrix of linear triangles is known: mass 1/24 [2 1 1; 1 2 1; 1 1 2], right-angled
// stiffness 1/2 [2 -1 -1; -1 1 0; -1 0 1] from the right angle on.
TEST(triangles_have_the_matrices_of_the_textbook) {
  const CeedInt offsets[] = {0, 1, 2, 3, 2, 1};
  const CeedScalar x[] = {0, 1, 0, 1, 0, 0, 1, 1};
  const double local[2][3][3] = {{{2, 1, 1}, {1, 2, 1}, {1, 1, 2}},
                                 {{2, -1, -1}, {-1, 1, 0}, {-1, 0, 1}}};

  for (int is_poisson = 0; is_poisson < 2; is_poisson++) {
    Box box = {.dim = 2, .num_elem = 2, .num_nodes = 4, .elem_size = 3, .num_qpts = 3};
    CeedOperator op = NULL;
    double dense[16] = {0};

    ASSERT_OK(TriangleBasis(2, &box.basis_x));
    ASSERT_OK(TriangleBasis(1, &box.basis_u));
    box.vec_x = VectorOf(8, x);
    ASSERT_OK(CeedElemRestrictionCreate(ceed, 2, 3, 2, 4, 8, CEED_MEM_HOST, CEED_USE_POINTER,
                                        offsets, &box.rstr_x));
    ASSERT_OK(CeedElemRestrictionCreate(ceed, 2, 3, 1, 1, 4, CEED_MEM_HOST, CEED_USE_POINTER,
                                        offsets, &box.rstr_u));
    PASSES(BoxOperator(&box, is_poisson ? "Poisson" : "Mass", 1, &op));
    for (int e = 0; e < 2; e++) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          dense[offsets[3 * e + i] * 4 + offsets[3 * e + j]] +=
              local[is_poisson][i][j] / (is_poisson ? 2 : 24);
        }
      }
    }
    PASSES(MatrixIs(op, dense, 4, 4));
    CeedOperatorDestroy(&op);
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What is refused
// ------------------------------------------------------------------------------------------------

TEST(operators_between_different_restrictions_have_a_matrix_but_no_diagonal) {
  Box box, other;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector v;
  double *dense;

  PASSES(BoxCreate(&box, 1, 3, 2, 4, 1));
  PASSES(BoxCreate(&other, 1, 3, 1, 4, 1));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", box.rstr_u, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "output", other.rstr_u, other.basis_u, CEED_VECTOR_ACTIVE));
  dense = Columns(op);
  PASSES(MatrixIs(op, dense, other.num_nodes, box.num_nodes));
  v = Iota(box.num_nodes);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorLinearAssembleDiagonal(op, v, NULL));
  free(dense);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  BoxDestroy(&other);
  return TEST_PASSED;
}

static int SumOfComponents(void *ctx, CeedInt Q, const CeedScalar *const *in,
                           CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = out[0][Q + i] = in[0][i] + in[0][Q + i];
  return 0;
}

// u_0 + u_1 for both components, at nodes whose components lie `comp_stride` apart
static int AddSums(CeedOperator sum, CeedInt num_nodes, const CeedInt *offsets,
                   CeedInt comp_stride) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  ASSERT_OK(CeedElemRestrictionCreate(ceed, 1, num_nodes, 2, comp_stride, 4, CEED_MEM_HOST,
                                      CEED_COPY_VALUES, offsets, &rstr));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, SumOfComponents, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 2, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

TEST(blocks_of_parts_that_order_components_differently_are_refused) {
  CeedOperator sum = NULL;
  CeedVector v = Iota(8);
  CeedSize count;
  CeedInt *rows, *cols;

  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  PASSES(AddSums(sum, 2, (CeedInt[]){0, 2}, 1));
  PASSES(AddSums(sum, 2, (CeedInt[]){0, 1}, 2));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorLinearAssemblePointBlockDiagonal(sum, v, NULL));
  ASSERT_VALUES(v, 0, 1, 2, 3, 4, 5, 6, 7);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED,
              CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(sum, &count, &rows, &cols));
  ASSERT_OK(CeedOperatorLinearAssembleGetNumEntries(sum, &count));
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&sum);
  return TEST_PASSED;
}

// 4 nodes of 2 components that are 2 apart: 0, 2; 1, 3; 4, 6; 5, 7
TEST(blocks_that_would_lie_behind_the_end_are_refused) {
  CeedOperator op = NULL;
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedVector v = Iota(16);

  ASSERT_OK(CeedElemRestrictionCreate(ceed, 1, 4, 2, 2, 8, CEED_MEM_HOST, CEED_COPY_VALUES,
                                      (CeedInt[]){0, 1, 4, 5}, &rstr));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorLinearAssemblePointBlockDiagonal(op, v, NULL));
  ASSERT_SAYS("do not fit");
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

TEST(blocks_have_places_in_all_parts) {
  const CeedInt expected_rows[] = {0, 0, 1, 1, 2, 2, 3, 3},
                expected_cols[] = {0, 1, 0, 1, 2, 3, 2, 3};
  CeedOperator sum = NULL;
  CeedSize count;
  CeedInt *rows = NULL, *cols = NULL;

  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  PASSES(AddSums(sum, 1, (CeedInt[]){0}, 1));
  PASSES(AddSums(sum, 1, (CeedInt[]){2}, 1));
  ASSERT_OK(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(sum, &count, &rows, &cols));
  ASSERT_EQ(count, 8);
  for (int i = 0; i < 8; i++) {
    ASSERT_EQ(rows[i], expected_rows[i]);
    ASSERT_EQ(cols[i], expected_cols[i]);
  }
  free(rows);
  free(cols);
  CeedOperatorDestroy(&sum);
  return TEST_PASSED;
}

TEST(results_that_do_not_fit_are_refused) {
  Box box;
  CeedOperator op = NULL, empty = NULL;
  CeedVector v = Iota(2);
  CeedSize count;
  CeedInt *rows;

  PASSES(BoxCreate(&box, 1, 3, 2, 4, 1));
  PASSES(BoxOperator(&box, "Mass", 1, &op));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorLinearAssembleDiagonal(op, v, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorLinearAssemblePointBlockDiagonal(op, v, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorLinearAssemble(op, v));
  ASSERT_FAILS(CeedOperatorLinearAssemble(op, NULL));
  ASSERT_FAILS(CeedOperatorLinearAssembleSymbolic(op, &count, &rows, NULL));
  ASSERT_FAILS(CeedOperatorLinearAssembleSymbolic(NULL, &count, &rows, &rows));
  ASSERT_FAILS(CeedOperatorLinearAssembleQFunction(op, NULL, NULL, NULL));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &empty));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorLinearAssembleDiagonal(empty, v, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorLinearAssembleGetNumEntries(empty, &count));
  CeedOperatorDestroy(&empty);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&v);
  BoxDestroy(&box);
  return TEST_PASSED;
}

static int failure;

static int Failing(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  memcpy(out[0], in[0], sizeof(CeedScalar) * (size_t)Q);
  return failure;
}

static int CreateFailing(const Box *box, CeedOperator *op) {
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Failing, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "u", box->rstr_u, box->basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "v", box->rstr_u, box->basis_u, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_failing_function_fails_the_assembly_and_locks_nothing) {
  Box box;
  CeedOperator op = NULL;
  CeedVector v, values = NULL;
  CeedSize count;

  PASSES(BoxCreate(&box, 1, 3, 2, 4, 1));
  PASSES(CreateFailing(&box, &op));
  failure = 3;
  v = Iota(box.num_nodes);
  ASSERT_CODE(3, CeedOperatorLinearAssembleDiagonal(op, v, NULL));
  ASSERT_OK(CeedVectorSetValue(v, 0));
  ASSERT_OK(CeedOperatorLinearAssembleGetNumEntries(op, &count));
  ASSERT_OK(CeedVectorCreate(ceed, count, &values));
  ASSERT_CODE(3, CeedOperatorLinearAssemble(op, values));
  ASSERT_OK(CeedVectorSetValue(values, 0));
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&values);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  return TEST_PASSED;
}

// As whoever keeps what was computed from the values must know.
TEST(a_failed_assembly_that_has_written_counts_the_state_on) {
  Box box;
  CeedOperator mass = NULL, failing = NULL, sum = NULL;
  CeedVector values, diagonal, assembled;
  CeedSize count;
  uint64_t state;

  PASSES(BoxCreate(&box, 1, 3, 2, 4, 1));
  PASSES(BoxOperator(&box, "Mass", 1, &mass));
  PASSES(CreateFailing(&box, &failing));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, mass));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, failing));
  failure = 3;
  ASSERT_OK(CeedOperatorLinearAssembleGetNumEntries(sum, &count));
  values = Iota(count);
  state = State(values);
  ASSERT_CODE(3, CeedOperatorLinearAssemble(sum, values));
  ASSERT(State(values) > state);
  diagonal = Iota(box.num_nodes);
  state = State(diagonal);
  ASSERT_CODE(3, CeedOperatorLinearAssembleDiagonal(sum, diagonal, NULL));
  ASSERT(State(diagonal) > state);
  assembled = Iota(box.num_elem * box.num_qpts);
  state = State(assembled);
  ASSERT_CODE(3, CeedOperatorLinearAssembleQFunctionBuildOrUpdate(
                     failing, &assembled, &(CeedElemRestriction){NULL}, NULL));
  ASSERT(State(assembled) > state);
  CeedVectorDestroy(&values);
  CeedVectorDestroy(&diagonal);
  CeedVectorDestroy(&assembled);
  CeedOperatorDestroy(&mass);
  CeedOperatorDestroy(&failing);
  CeedOperatorDestroy(&sum);
  BoxDestroy(&box);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(the_matrix_is_the_one_written_down_by_hand),
    BEHAVIOUR(the_diagonal_is_that_of_the_matrix),
    BEHAVIOUR(blocks_of_the_diagonal_couple_the_components_of_a_node),
    BEHAVIOUR(a_node_that_an_element_has_twice_has_the_sum_of_its_pairs),
    BEHAVIOUR(the_transpose_is_that_of_the_matrix),
    BEHAVIOUR(the_transpose_of_a_composite_is_the_sum_of_those_of_its_parts),
    BEHAVIOUR(the_assembled_function_has_a_component_for_each_pair),
    BEHAVIOUR(a_composite_is_assembled_as_the_sum_of_its_parts),
    BEHAVIOUR(triangles_have_the_matrices_of_the_textbook),
    BEHAVIOUR(operators_between_different_restrictions_have_a_matrix_but_no_diagonal),
    BEHAVIOUR(blocks_of_parts_that_order_components_differently_are_refused),
    BEHAVIOUR(blocks_that_would_lie_behind_the_end_are_refused),
    BEHAVIOUR(blocks_have_places_in_all_parts),
    BEHAVIOUR(results_that_do_not_fit_are_refused),
    BEHAVIOUR(a_failing_function_fails_the_assembly_and_locks_nothing),
    BEHAVIOUR(a_failed_assembly_that_has_written_counts_the_state_on),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
