// Operators: fields, apply in all its forms, what they tell, and what is refused.
// SPDX-License-Identifier: BSD-2-Clause
#include "box.h"

static CeedScalar Sum(CeedVector vec) {
  CeedSize length = 0;
  CeedScalar sum = 0;

  CeedVectorGetLength(vec, &length);
  for (CeedSize i = 0; i < length; i++) sum += Entry(vec, i);
  return sum;
}

static CeedScalar Dot(CeedVector x, CeedVector y) {
  CeedSize length = 0;
  CeedScalar sum = 0;

  CeedVectorGetLength(x, &length);
  for (CeedSize i = 0; i < length; i++) sum += Entry(x, i) * Entry(y, i);
  return sum;
}

// Neither reader nor writer is left: a write goes through.
static int IsUnlocked(CeedVector vec) {
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Mathematics
// ------------------------------------------------------------------------------------------------

// The bend keeps the boundary, so that the volume is 1: integrals are exact with enough points.
TEST(mass_of_ones_is_the_volume) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    Box box;
    CeedOperator op = NULL;
    CeedVector u = NULL, v = NULL;

    PASSES(BoxCreate(&box, dim, 2, 2, 5, 1));
    PASSES(BoxOperator(&box, "Mass", 1, &op));
    ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &u));
    ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &v));
    ASSERT_OK(CeedVectorSetValue(u, 1));
    ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
    ASSERT_CLOSE(Sum(v), 1, 20 * TOLERANCE);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    ASSERT_OK(CeedOperatorDestroy(&op));
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

// grad x . grad x = 1, and constants have no gradient.
TEST(poisson_of_a_coordinate_has_the_volume_as_energy) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    Box box;
    CeedOperator op = NULL;
    CeedVector u, v = NULL;
    CeedScalar norm;

    PASSES(BoxCreate(&box, dim, 2, 3, 6, 1));
    PASSES(BoxOperator(&box, "Poisson", 1, &op));
    u = VectorOf(box.num_nodes, box.x);
    ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &v));
    ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
    ASSERT_CLOSE(Dot(u, v), 1, 100 * TOLERANCE);
    ASSERT_OK(CeedVectorSetValue(u, 1));
    ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
    ASSERT_OK(CeedVectorNorm(v, CEED_NORM_MAX, &norm));
    ASSERT_CLOSE(norm, 0, 100 * TOLERANCE);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    CeedOperatorDestroy(&op);
    BoxDestroy(&box);
  }
  return TEST_PASSED;
}

static int MatchesDense(CeedInt dim, CeedInt n, CeedInt p, CeedInt q, CeedInt num_comp,
                        bool is_mass) {
  Box box;
  CeedOperator op = NULL;
  CeedVector u, v = NULL;
  double *dense;

  PASSES(BoxCreate(&box, dim, n, p, q, num_comp));
  PASSES(BoxOperator(&box, is_mass ? "Mass" : "Poisson", num_comp, &op));
  dense = BoxDense(&box, is_mass);
  ASSERT(dense);
  u = RandomVector(num_comp * box.num_nodes, 9);
  ASSERT_OK(CeedVectorCreate(ceed, num_comp * box.num_nodes, &v));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  for (CeedInt c = 0; c < num_comp; c++) {
    for (CeedInt i = 0; i < box.num_nodes; i++) {
      double sum = 0, scale = 1;
      for (CeedInt j = 0; j < box.num_nodes; j++) {
        double term = dense[(size_t)i * (size_t)box.num_nodes + (size_t)j] *
                      (double)Entry(u, c * box.num_nodes + j);
        sum += term, scale += fabs(term);
      }
      ASSERT_CLOSE(Entry(v, c * box.num_nodes + i), sum, 20 * TOLERANCE * scale);
    }
  }
  free(dense);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  return TEST_PASSED;
}

TEST(apply_is_the_product_with_the_dense_matrix) {
  for (int is_mass = 0; is_mass < 2; is_mass++) {
    for (CeedInt p = 1; p <= 8; p++) PASSES(MatchesDense(1, 11, p, p + 2, 1, is_mass));
    for (CeedInt p = 1; p <= 4; p++) PASSES(MatchesDense(2, 3, p, p + 2, 1, is_mass));
    for (CeedInt p = 1; p <= 3; p++) PASSES(MatchesDense(3, 2, p, p + 1, 1, is_mass));
    PASSES(MatchesDense(2, 3, 2, 3, 3, is_mass));
    PASSES(MatchesDense(3, 1, 2, 2, 3, is_mass));
    PASSES(MatchesDense(2, 5, 1, 1, 1, is_mass));
    PASSES(MatchesDense(2, 2, 3, 9, 1, is_mass));
  }
  return TEST_PASSED;
}

// One element a group of lanes reads where it is, from memory that is aligned for numbers only.
TEST(borrowed_memory_need_not_be_aligned_for_more_than_a_number) {
  enum { ELEMENTS = 16 };
  CeedScalar *memory = calloc(2 * ELEMENTS + 1, sizeof *memory);
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;

  for (int i = 0; i < 2 * ELEMENTS; i++) memory[i + 1] = 3;
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, ELEMENTS, 2, 1, 2 * ELEMENTS,
                                             CEED_STRIDES_BACKEND, &rstr));
  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis));
  ASSERT_OK(CeedElemRestrictionCreateVector(rstr, &u, &v));
  ASSERT_OK(CeedVectorSetArray(u, CEED_MEM_HOST, CEED_USE_POINTER, memory + 1));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, basis, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_CLOSE(Sum(v), 3 * 2 * ELEMENTS, 10 * ELEMENTS * TOLERANCE);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  free(memory);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Small operators on a line, of functions written here
// ------------------------------------------------------------------------------------------------

typedef struct {
  double factor[2];
  int32_t power;
  bool is_on;
} Law;

static int calls, last_Q;

// v = factor u^power, where it is on.
static int Power(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Law *law = ctx;

  calls++;
  last_Q = Q;
  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar v = law->is_on ? (CeedScalar)law->factor[0] : 0;
    for (int k = 0; k < law->power; k++) v *= in[0][i];
    out[0][i] = v;
  }
  return 0;
}

// dv = factor power u^(power-1) du
static int PowerDerivative(void *ctx, CeedInt Q, const CeedScalar *const *in,
                           CeedScalar *const *out) {
  const Law *law = ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar v = (CeedScalar)(law->factor[0] * law->power);
    for (int k = 1; k < law->power; k++) v *= in[1][i];
    out[0][i] = v * in[0][i];
  }
  return 0;
}

// v = du/dX + 3 u, a pair of different evaluations
static int Advection(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] + 3 * in[1][i];
  return 0;
}

static int failure;

static int Failing(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i];
  return failure;
}

// Points without a basis: n "elements" of one point each, so that apply is the function itself.
typedef struct {
  CeedElemRestriction rstr;
  CeedQFunctionContext ctx;
  CeedQFunction qf;
  CeedOperator op;
} Pointwise;

static int PointwiseCreate(Pointwise *w, CeedInt n, CeedQFunctionUser f, const Law *law) {
  memset(w, 0, sizeof *w);
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, n, 1, 1, n, (CeedInt[]){1, 1, 1}, &w->rstr));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, f, "test_operator.c:f", &w->qf));
  ASSERT_OK(CeedQFunctionAddInput(w->qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(w->qf, "v", 1, CEED_EVAL_NONE));
  if (law) {
    Law copy = *law;
    ASSERT_OK(CeedQFunctionContextCreate(ceed, &w->ctx));
    ASSERT_OK(
        CeedQFunctionContextSetData(w->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof copy, &copy));
    ASSERT_OK(CeedQFunctionContextRegisterDouble(w->ctx, "factor", offsetof(Law, factor), 2, ""));
    ASSERT_OK(CeedQFunctionContextRegisterInt32(w->ctx, "power", offsetof(Law, power), 1, ""));
    ASSERT_OK(CeedQFunctionContextRegisterBoolean(w->ctx, "is_on", offsetof(Law, is_on), 1, ""));
    ASSERT_OK(CeedQFunctionSetContext(w->qf, w->ctx));
  }
  ASSERT_OK(CeedOperatorCreate(ceed, w->qf, NULL, NULL, &w->op));
  ASSERT_OK(CeedOperatorSetField(w->op, "u", w->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(w->op, "v", w->rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return TEST_PASSED;
}

static void PointwiseDestroy(Pointwise *w) {
  CeedElemRestrictionDestroy(&w->rstr);
  CeedQFunctionContextDestroy(&w->ctx);
  CeedQFunctionDestroy(&w->qf);
  CeedOperatorDestroy(&w->op);
}

static const Law square = {{2, 0}, 2, true};

TEST(apply_sets_and_apply_add_adds) {
  Pointwise w;
  CeedVector u = Iota(3), v = NULL;

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_OK(CeedVectorCreate(ceed, 3, &v));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorApplyAdd(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 2, 8);
  ASSERT_OK(CeedOperatorApplyAdd(w.op, u, v, NULL));
  ASSERT_VALUES(v, 0, 4, 16);
  ASSERT_OK(CeedOperatorApplyAddActive(w.op, u, v, CEED_REQUEST_ORDERED));
  ASSERT_VALUES(v, 0, 6, 24);
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 2, 8);
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_nan_in_makes_what_depends_on_it_nan) {
  Pointwise w;
  CeedVector u = VectorOf(3, (CeedScalar[]){1, (CeedScalar)NAN, 2}), v = Iota(3);

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 0), 2);
  ASSERT(isnan(Entry(v, 1)));
  ASSERT_NUMBER(Entry(v, 2), 8);
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(all_points_a_call_are_one_call) {
  Pointwise w;
  CeedVector u = Iota(5000), v = Iota(5000);

  PASSES(PointwiseCreate(&w, 5000, Power, &square));
  ASSERT_OK(CeedQFunctionSetPointsPerCall(w.qf, CEED_POINTS_ALL));
  for (int i = 0; i < 3; i++) {
    calls = 0;
    ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
    ASSERT_EQ(calls, 1);
    ASSERT_EQ(last_Q, 5000);
  }
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// v = 3 u, in memory that is freed before the next call
static CeedScalar *given;

static int Giving(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  (void)ctx;
  calls++;
  free(given);
  given = malloc(sizeof *given * (size_t)Q);
  for (CeedInt i = 0; i < Q; i++) given[i] = 3 * Entry(in[0], i);
  return CeedVectorSetArray(out[0], CEED_MEM_HOST, CEED_USE_POINTER, given);
}

// v = u, in the memory of u
static int Passing(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  const CeedScalar *u;
  CeedScalar *memory;

  (void)ctx, (void)Q;
  if (CeedVectorGetArrayRead(in[0], CEED_MEM_HOST, &u)) return 1;
  memcpy(&memory, &u, sizeof memory);
  if (CeedVectorRestoreArrayRead(in[0], &u)) return 1;
  return CeedVectorSetArray(out[0], CEED_MEM_HOST, CEED_USE_POINTER, memory);
}

static int CreateShell(CeedInt n, CeedQFunctionShellUser f, CeedOperator *op) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, n, 1, 1, n, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionCreateShell(ceed, f, "test_operator.c:f", &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(memory_of_a_routine_on_vectors_is_used_for_one_call) {
  CeedOperator op = NULL;
  CeedVector u = Iota(20), v = Iota(20);

  calls = 0;
  PASSES(CreateShell(20, Giving, &op));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 19), 57);
  ASSERT_OK(CeedOperatorApplyAdd(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 19), 114);
  ASSERT_EQ(calls, 2);
  ASSERT_OK(CeedOperatorApplyTranspose(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 19), 57);
  ASSERT_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 19), 3);
  free(given);
  given = NULL;
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_NUMBER(Entry(v, 19), 57);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  free(given);
  given = NULL;
  return TEST_PASSED;
}

TEST(a_routine_on_vectors_may_give_the_memory_of_its_input) {
  CeedOperator op = NULL;
  CeedVector u = Iota(4), v = Iota(4);

  PASSES(CreateShell(4, Passing, &op));
  ASSERT_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 1, 1, 1, 1);
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 1, 2, 3);
  ASSERT_OK(CeedOperatorApplyTranspose(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 1, 2, 3);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(no_elements_are_no_error) {
  Pointwise w;
  CeedVector u = Iota(0), v = Iota(0);

  PASSES(PointwiseCreate(&w, 0, Power, &square));
  calls = 0;
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_EQ(calls, 0);
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_failing_function_gives_its_code_and_locks_nothing) {
  Pointwise w;
  Law law = square;
  CeedVector u = Iota(3), v = Iota(3);
  void *data = NULL;

  PASSES(PointwiseCreate(&w, 3, Failing, &law));
  for (failure = -7; failure <= 7; failure += 14) {
    ASSERT_CODE(failure, CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
    ASSERT_SAYS("f returned");
    ASSERT_CODE(failure, CeedOperatorApplyAdd(w.op, u, v, CEED_REQUEST_IMMEDIATE));
    PASSES(IsUnlocked(u));
    PASSES(IsUnlocked(v));
    ASSERT_OK(CeedQFunctionContextGetData(w.ctx, CEED_MEM_HOST, &data));
    ASSERT_OK(CeedQFunctionContextRestoreData(w.ctx, &data));
  }
  failure = 0;
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(vectors_that_are_out_are_refused_and_nothing_else_stays_locked) {
  Pointwise w;
  CeedVector u = Iota(3), v = Iota(3);
  CeedScalar *array = NULL;
  void *data = NULL;

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_OK(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedVectorRestoreArray(u, &array));
  PASSES(IsUnlocked(v));
  ASSERT_OK(CeedVectorGetArray(v, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedVectorRestoreArray(v, &array));
  PASSES(IsUnlocked(u));
  ASSERT_OK(CeedQFunctionContextGetData(w.ctx, CEED_MEM_HOST, &data));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedQFunctionContextRestoreData(w.ctx, &data));
  PASSES(IsUnlocked(u));
  PASSES(IsUnlocked(v));
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(input_and_output_at_once_is_refused) {
  Pointwise w;
  CeedVector u = Iota(3);

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorApply(w.op, u, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_SAYS("\"u\"");
  ASSERT_SAYS("\"v\"");
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  return TEST_PASSED;
}

TEST(vectors_of_other_lengths_are_refused) {
  Pointwise w;
  CeedVector u = Iota(3), v = Iota(4);

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_SAYS("output vector has 4 entries, the operator wants 3");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(w.op, v, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_FAILS(CeedOperatorApply(w.op, NULL, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_FAILS(CeedOperatorApply(w.op, CEED_VECTOR_NONE, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_SAYS("active input: give its vector");
  ASSERT_FAILS(CeedOperatorApply(w.op, CEED_VECTOR_ACTIVE, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_FAILS(CeedOperatorApply(NULL, u, v, CEED_REQUEST_IMMEDIATE));
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Passive outputs and inputs, no active ones
// ------------------------------------------------------------------------------------------------

// v = u + a, w = 10 u
static int TwoOutputs(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = in[0][i] + in[1][i];
    out[1][i] = 10 * in[0][i];
  }
  return 0;
}

TEST(data_are_inputs_and_outputs_as_well) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = Iota(2), a = VectorOf(2, (CeedScalar[]){100, 200}), v = Iota(2), w = Iota(2);

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 1, 2, 1, 2, (CeedInt[]){1, 2, 2}, &rstr));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, TwoOutputs, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "a", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "a", rstr, CEED_BASIS_NONE, a));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "w", rstr, CEED_BASIS_NONE, w));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 100, 201);
  ASSERT_VALUES(w, 0, 10);
  ASSERT_OK(CeedOperatorApplyAdd(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 200, 402);
  ASSERT_VALUES(w, 0, 20);
  ASSERT_OK(CeedOperatorApplyAddActive(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 300, 603);
  ASSERT_VALUES(w, 0, 10);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorApply(op, u, a, CEED_REQUEST_IMMEDIATE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorApply(op, w, v, CEED_REQUEST_IMMEDIATE));
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&a);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

TEST(an_operator_may_have_no_active_input) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector a = Iota(2), v = NULL;
  CeedSize in, out;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 1, 1, 2, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, a));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorGetActiveVectorLengths(op, &in, &out));
  ASSERT_EQ(in, -1);
  ASSERT_EQ(out, 2);
  ASSERT_OK(CeedVectorCreate(ceed, 2, &v));
  ASSERT_OK(CeedOperatorApply(op, CEED_VECTOR_NONE, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 1);
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&a);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(an_operator_keeps_what_its_fields_are_made_of) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector a = Iota(2), v = NULL;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 1, 1, 2, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, a));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  ASSERT_OK(CeedVectorDestroy(&a));
  ASSERT_OK(CeedVectorCreate(ceed, 2, &v));
  ASSERT_OK(CeedOperatorApply(op, CEED_VECTOR_NONE, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 1);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Fields that do not fit
// ------------------------------------------------------------------------------------------------

TEST(fields_that_do_not_fit_are_refused_by_name) {
  Box box, other;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedElemRestriction qdata = NULL, short_qdata = NULL;
  CeedVector wrong = Iota(3);

  PASSES(BoxCreate(&box, 2, 2, 2, 3, 1));
  PASSES(BoxCreate(&other, 2, 3, 1, 3, 1));
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 4, 9, 1, 36, CEED_STRIDES_BACKEND, &qdata));
  ASSERT_OK(
      CeedElemRestrictionCreateStrided(ceed, 4, 8, 1, 32, CEED_STRIDES_BACKEND, &short_qdata));
  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
#define FIELD(name, rstr, basis, vec) CeedOperatorSetField(op, name, rstr, basis, vec)
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FIELD("w", box.rstr_u, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_SAYS("no field \"w\": its fields are u, qdata, v");
  ASSERT_CODE(CEED_ERROR_DIMENSION, FIELD("u", box.rstr_u, other.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_SAYS("\"u\"");
  ASSERT_CODE(CEED_ERROR_DIMENSION, FIELD("u", box.rstr_x, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_DIMENSION, FIELD("u", box.rstr_x, box.basis_x, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_DIMENSION, FIELD("u", box.rstr_u, box.basis_u, wrong));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FIELD("u", box.rstr_u, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              FIELD("u", CEED_ELEMRESTRICTION_NONE, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FIELD("u", box.rstr_u, box.basis_u, CEED_VECTOR_NONE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FIELD("qdata", qdata, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_FAILS(FIELD("u", NULL, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_FAILS(FIELD("u", box.rstr_u, NULL, CEED_VECTOR_ACTIVE));
  ASSERT_FAILS(FIELD("u", box.rstr_u, box.basis_u, NULL));
  ASSERT_FAILS(FIELD(NULL, box.rstr_u, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(FIELD("u", box.rstr_u, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FIELD("u", box.rstr_u, box.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_SAYS("already");
  ASSERT_CODE(CEED_ERROR_DIMENSION, FIELD("v", other.rstr_u, other.basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_SAYS("9 elements, those before 4");
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              FIELD("qdata", short_qdata, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_SAYS("8 points");
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&qdata);
  CeedElemRestrictionDestroy(&short_qdata);
  CeedVectorDestroy(&wrong);
  BoxDestroy(&box);
  BoxDestroy(&other);
  return TEST_PASSED;
}

TEST(an_operator_that_is_not_complete_is_refused_by_the_missing_field) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = Iota(2), v = Iota(2);
  CeedInt count;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 1, 1, 2, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorGetNumElements(op, &count));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorGetNumQuadraturePoints(op, &count));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorCheckReady(op));
  ASSERT_SAYS("\"output\"");
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorLinearAssembleDiagonal(op, v, NULL));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorCheckReady(op));
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "more", 1, CEED_EVAL_NONE));
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(more_points_than_a_number_counts_are_refused) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector u = Iota(1), v = Iota(1);

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 1 << 30, 2, 1, 1, (CeedInt[]){0, 0, 0}, &rstr));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_SAYS("2147483647 points");
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Jacobians, transposes, routines, sums
// ------------------------------------------------------------------------------------------------

TEST(the_jacobian_is_that_of_the_second_function) {
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL, dqf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedOperator op = NULL;
  CeedVector u = VectorOf(2, (CeedScalar[]){1, 3}), du = VectorOf(2, (CeedScalar[]){1, -1});
  CeedVector v = Iota(2);
  Law cube = {{2, 0}, 3, true};

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 2, 1, 1, 2, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof cube, &cube));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Power, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, PowerDerivative, NULL, &dqf));
  ASSERT_OK(CeedQFunctionAddInput(dqf, "du", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(dqf, "state", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(dqf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionSetContext(dqf, ctx));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, dqf, dqf, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 2, 54);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorApplyJacobian(op, du, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedOperatorSetField(op, "du", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "state", rstr, CEED_BASIS_NONE, u));
  ASSERT_OK(CeedOperatorApplyJacobian(op, du, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 6, -54);
  ASSERT_OK(CeedOperatorApplyTranspose(op, du, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 6, -54);
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&qf);
  CeedQFunctionDestroy(&dqf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&du);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(an_operator_without_a_second_function_has_no_jacobian) {
  Pointwise w;
  CeedVector u = Iota(3), v = Iota(3);

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorApplyJacobian(w.op, u, v, NULL));
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// From 2 components of order 2 to 1 of order 1: v is tested by its gradient too.
static int CreateAdvection(const Box *box, const Box *out, CeedOperator *op) {
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Advection, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "du", 1, CEED_EVAL_GRAD));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "du", box->rstr_u, box->basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "u", box->rstr_u, box->basis_u, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "v", out->rstr_u, out->basis_u, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(the_transpose_of_a_linear_operator_is_its_adjoint) {
  Box box, out;
  CeedOperator op = NULL;
  CeedVector u, v = NULL, w, z = NULL;

  PASSES(BoxCreate(&box, 1, 4, 3, 5, 1));
  PASSES(BoxCreate(&out, 1, 4, 2, 5, 1));
  PASSES(CreateAdvection(&box, &out, &op));
  u = RandomVector(box.num_nodes, 1);
  w = RandomVector(out.num_nodes, 2);
  ASSERT_OK(CeedVectorCreate(ceed, out.num_nodes, &v));
  ASSERT_OK(CeedVectorCreate(ceed, box.num_nodes, &z));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_OK(CeedOperatorApplyTranspose(op, w, z, CEED_REQUEST_IMMEDIATE));
  ASSERT_CLOSE(Dot(v, w), Dot(u, z), 100 * TOLERANCE);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApplyTranspose(op, u, v, NULL));
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&z);
  CeedOperatorDestroy(&op);
  BoxDestroy(&box);
  BoxDestroy(&out);
  return TEST_PASSED;
}

// out = factor (in0 + in1), a routine from two numbers to one
static int ShellSum(void *ctx, CeedVector in, CeedVector out) {
  CeedScalar *factor = ctx;
  const CeedScalar *x;
  CeedScalar *y;

  if (*factor < 0) return 9;
  if (CeedVectorGetArrayRead(in, CEED_MEM_HOST, &x)) return 1;
  if (CeedVectorGetArrayWrite(out, CEED_MEM_HOST, &y)) return 1;
  y[0] = *factor * (x[0] + x[1]);
  CeedVectorRestoreArrayRead(in, &x);
  return CeedVectorRestoreArray(out, &y);
}

static int ShellSpread(void *ctx, CeedVector in, CeedVector out) {
  return CeedVectorSetValue(out, *(CeedScalar *)ctx * Entry(in, 0));
}

TEST(a_routine_is_an_operator) {
  CeedOperator op = NULL;
  CeedVector u = VectorOf(2, (CeedScalar[]){1, 2}), v = Iota(1), longer = Iota(2);
  CeedScalar factor = 10;
  CeedSize in, out;

  ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 1, ShellSum, ShellSpread, &factor, &op));
  ASSERT_OK(CeedOperatorCheckReady(op));
  ASSERT_OK(CeedOperatorGetActiveVectorLengths(op, &in, &out));
  ASSERT_EQ(in, 2);
  ASSERT_EQ(out, 1);
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 30);
  ASSERT_OK(CeedOperatorApplyAdd(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 60);
  ASSERT_OK(CeedOperatorApplyTranspose(op, v, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(u, 600, 600);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(op, v, u, CEED_REQUEST_IMMEDIATE));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(op, u, longer, CEED_REQUEST_IMMEDIATE));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorApplyJacobian(op, u, v, NULL));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorLinearAssembleDiagonal(op, u, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedOperatorSetField(op, "u", NULL, CEED_BASIS_NONE, CEED_VECTOR_NONE));
  ASSERT_VIEW(CeedOperatorView, op, "shell, 2 to 1");
  factor = -1;
  ASSERT_CODE(9, CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_SAYS("returned 9");
  CeedOperatorDestroy(&op);
  ASSERT_FAILS(CeedOperatorCreateShell(ceed, 2, 1, NULL, NULL, NULL, &op));
  ASSERT_FAILS(CeedOperatorCreateShell(ceed, -2, 1, ShellSum, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 1, ShellSum, NULL, NULL, &op));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorApplyTranspose(op, v, u, NULL));
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&longer);
  return TEST_PASSED;
}

TEST(a_composite_operator_is_the_sum_of_its_parts) {
  Pointwise a, b;
  CeedOperator sum = NULL, found, *list;
  CeedVector u = Iota(3), v = Iota(3);
  CeedInt count;
  CeedSize in, out;
  bool is_sequential;

  PASSES(PointwiseCreate(&a, 3, Power, &square));
  PASSES(PointwiseCreate(&b, 3, Power, &(Law){{5, 0}, 1, true}));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorApply(sum, u, v, NULL));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, a.op));
  ASSERT_OK(CeedOperatorSetName(b.op, "linear"));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, b.op));
  ASSERT_OK(CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 7, 18);
  ASSERT_OK(CeedOperatorApplyAdd(sum, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 14, 36);
  ASSERT_OK(CeedOperatorGetActiveVectorLengths(sum, &in, &out));
  ASSERT_EQ(in, 3);
  ASSERT_EQ(out, 3);
  ASSERT_OK(CeedOperatorCompositeGetNumSub(sum, &count));
  ASSERT_EQ(count, 2);
  ASSERT_OK(CeedOperatorCompositeGetSubList(sum, &list));
  ASSERT_SAME(list[1], b.op);
  ASSERT_OK(CeedOperatorCompositeGetSubByName(sum, "linear", &found));
  ASSERT_SAME(found, b.op);
  ASSERT_OK(CeedOperatorCompositeGetSubByName(sum, "cubic", &found));
  ASSERT(!found);
  ASSERT_OK(CeedOperatorCompositeSetSequential(sum, true));
  ASSERT_OK(CeedOperatorCompositeIsSequential(sum, &is_sequential));
  ASSERT(is_sequential);
  ASSERT_VIEW(CeedOperatorView, sum, "sum of 2", "linear", "Input \"u\"");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorCompositeAddSub(sum, sum));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorCompositeAddSub(a.op, b.op));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorApply(sum, u, u, NULL));
  PointwiseDestroy(&a);
  PointwiseDestroy(&b);
  PASSES(PointwiseCreate(&a, 4, Power, &square));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorCompositeAddSub(sum, a.op));
  ASSERT_OK(CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 7, 18);
  PointwiseDestroy(&a);
  CeedOperatorDestroy(&sum);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Values by label
// ------------------------------------------------------------------------------------------------

TEST(context_values_are_those_of_derivatives_too) {
  Pointwise own, slope;
  CeedOperator op = NULL;
  CeedVector u = Iota(3), v = Iota(3);
  CeedContextFieldLabel factor;

  PASSES(PointwiseCreate(&own, 3, Power, &square));
  PASSES(PointwiseCreate(&slope, 3, Power, &square));
  ASSERT_OK(CeedOperatorCreate(ceed, own.qf, slope.qf, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", own.rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", own.rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(op, "factor", &factor));
  ASSERT_OK(CeedOperatorSetContextDouble(op, factor, (double[]){3, 4}));
  ASSERT_OK(CeedOperatorApplyJacobian(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 3, 12);
  ASSERT_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 3, 12);
  ASSERT_OK(CeedOperatorDestroy(&op));
  PointwiseDestroy(&own);
  PointwiseDestroy(&slope);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(context_values_that_are_refused_lock_no_context) {
  Pointwise own, slope;
  CeedQFunctionContext other = NULL;
  CeedOperator op = NULL;
  CeedContextFieldLabel factor;
  void *data = NULL;

  PASSES(PointwiseCreate(&own, 3, Power, &square));
  PASSES(PointwiseCreate(&slope, 3, Power, NULL));
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &other));
  ASSERT_OK(CeedQFunctionContextSetData(other, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof square,
                                        (void *)(uintptr_t)&square));
  ASSERT_OK(CeedQFunctionContextRegisterInt32(other, "factor", 0, 1, NULL));
  ASSERT_OK(CeedQFunctionSetContext(slope.qf, other));
  ASSERT_OK(CeedOperatorCreate(ceed, own.qf, slope.qf, NULL, &op));
  ASSERT_OK(CeedQFunctionContextGetFieldLabel(own.ctx, "factor", &factor));
  ASSERT_FAILS(CeedOperatorSetContextDouble(op, factor, (double[]){3, 4}));
  ASSERT_OK(CeedQFunctionContextGetData(own.ctx, CEED_MEM_HOST, &data));
  ASSERT_NUMBER(((const Law *)data)->factor[0], 2);
  ASSERT_OK(CeedQFunctionContextRestoreData(own.ctx, &data));
  ASSERT_OK(CeedQFunctionContextGetData(other, CEED_MEM_HOST, &data));
  ASSERT_OK(CeedQFunctionContextRestoreData(other, &data));
  ASSERT_OK(CeedOperatorDestroy(&op));
  ASSERT_OK(CeedQFunctionContextDestroy(&other));
  PointwiseDestroy(&own);
  PointwiseDestroy(&slope);
  return TEST_PASSED;
}

TEST(context_values_change_between_applies) {
  Pointwise w;
  CeedVector u = Iota(3), v = Iota(3);
  CeedContextFieldLabel factor, power, is_on, none;
  const double *factors = NULL;
  const int32_t *powers = NULL;
  const bool *switches = NULL;
  size_t count;
  CeedQFunctionContext ctx = NULL;

  PASSES(PointwiseCreate(&w, 3, Power, &square));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(w.op, "factor", &factor));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(w.op, "power", &power));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(w.op, "is_on", &is_on));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(w.op, "colour", &none));
  ASSERT(!none);
  ASSERT_OK(CeedOperatorSetContextDouble(w.op, factor, (double[]){3, 4}));
  ASSERT_OK(CeedOperatorSetContextInt32(w.op, power, (int32_t[]){1}));
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 3, 6);
  ASSERT_OK(CeedOperatorSetContextBoolean(w.op, is_on, (bool[]){false}));
  ASSERT_OK(CeedOperatorApply(w.op, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 0, 0);
  ASSERT_OK(CeedOperatorGetContextDoubleRead(w.op, factor, &count, &factors));
  ASSERT_EQ(count, 2);
  ASSERT_NUMBER(factors[1], 4);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorSetContextDouble(w.op, factor, (double[]){0, 0}));
  ASSERT_OK(CeedOperatorRestoreContextDoubleRead(w.op, factor, &factors));
  ASSERT(!factors);
  ASSERT_FAILS(CeedOperatorRestoreContextDoubleRead(w.op, factor, &factors));
  ASSERT_OK(CeedOperatorGetContextInt32Read(w.op, power, NULL, &powers));
  ASSERT_EQ(*powers, 1);
  ASSERT_OK(CeedOperatorRestoreContextInt32Read(w.op, power, &powers));
  ASSERT_OK(CeedOperatorGetContextBooleanRead(w.op, is_on, &count, &switches));
  ASSERT(!*switches);
  ASSERT_OK(CeedOperatorRestoreContextBooleanRead(w.op, is_on, &switches));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorSetContextDouble(w.op, power, (double[]){1}));
  ASSERT_SAYS("int32, not double");
  ASSERT_FAILS(CeedOperatorSetContextDouble(w.op, NULL, (double[]){1}));
  ASSERT_FAILS(CeedOperatorSetContextDouble(w.op, factor, NULL));
  ASSERT_OK(CeedOperatorGetContext(w.op, &ctx));
  ASSERT_SAME(ctx, w.ctx);
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  PointwiseDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_label_of_a_composite_is_for_all_its_parts) {
  Pointwise a, b, c;
  CeedOperator sum = NULL;
  CeedVector u = Iota(3), v = Iota(3);
  CeedContextFieldLabel factor = NULL, again = NULL;

  PASSES(PointwiseCreate(&a, 3, Power, &square));
  PASSES(PointwiseCreate(&b, 3, Power, &(Law){{5, 0}, 1, true}));
  PASSES(PointwiseCreate(&c, 3, Failing, NULL));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, c.op));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, a.op));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, b.op));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(sum, "factor", &factor));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(sum, "factor", &again));
  ASSERT(factor);
  ASSERT_SAME(factor, again);
  ASSERT_OK(CeedOperatorSetContextDouble(sum, factor, (double[]){1, 0}));
  failure = 0;
  ASSERT_OK(CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  ASSERT_VALUES(v, 0, 3, 8);
  failure = 5;
  ASSERT_CODE(5, CeedOperatorApply(sum, u, v, CEED_REQUEST_IMMEDIATE));
  PASSES(IsUnlocked(u));
  PASSES(IsUnlocked(v));
  CeedOperatorDestroy(&sum);
  PointwiseDestroy(&a);
  PointwiseDestroy(&b);
  PointwiseDestroy(&c);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What it tells
// ------------------------------------------------------------------------------------------------

TEST(an_operator_tells_its_fields_and_counts) {
  Box box;
  CeedOperator op = NULL, copy = NULL;
  CeedOperatorField *in, *out, field;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector vec = NULL;
  CeedInt num_in, num_out, count;
  CeedSize flops;
  const char *name;
  Ceed other = NULL;

  PASSES(BoxCreate(&box, 2, 3, 2, 4, 1));
  PASSES(BoxOperator(&box, "Mass", 1, &op));
  ASSERT_OK(CeedOperatorGetNumElements(op, &count));
  ASSERT_EQ(count, 9);
  ASSERT_OK(CeedOperatorGetNumQuadraturePoints(op, &count));
  ASSERT_EQ(count, 16);
  ASSERT_OK(CeedOperatorGetFields(op, &num_in, &in, &num_out, &out));
  ASSERT_EQ(num_in, 2);
  ASSERT_EQ(num_out, 1);
  ASSERT_OK(CeedOperatorFieldGetName(in[1], &name));
  ASSERT_TEXT(name, "qdata");
  ASSERT_OK(CeedOperatorFieldGetBasis(in[1], &basis));
  ASSERT_SAME(basis, CEED_BASIS_NONE);
  ASSERT_OK(CeedOperatorGetFieldByName(op, "v", &field));
  ASSERT_SAME(field, out[0]);
  ASSERT_OK(CeedOperatorFieldGetData(field, &name, &rstr, &basis, &vec));
  ASSERT_SAME(rstr, box.rstr_u);
  ASSERT_SAME(basis, box.basis_u);
  ASSERT_SAME(vec, CEED_VECTOR_ACTIVE);
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedBasisDestroy(&basis));
  ASSERT_OK(CeedOperatorFieldGetElemRestriction(field, &rstr));
  ASSERT_OK(CeedElemRestrictionDestroy(&rstr));
  ASSERT_OK(CeedOperatorFieldGetVector(in[1], &vec));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedOperatorGetFieldByName(op, "w", &field));
  ASSERT(!field);
  // interpolation and its transpose: 2 (4 3 3 + 4 4 3) each; 1 a point; 9 nodes summed
  ASSERT_OK(CeedOperatorGetFlopsEstimate(op, &flops));
  ASSERT_EQ(flops, 9 * (2 * 2 * (4 * 3 * 3 + 4 * 4 * 3) + 16 + 9));
  ASSERT_OK(CeedOperatorGetName(op, &name));
  ASSERT_TEXT(name, "");
  ASSERT_OK(CeedOperatorSetName(op, "mass"));
  ASSERT_OK(CeedOperatorGetName(op, &name));
  ASSERT_TEXT(name, "mass");
  ASSERT_FAILS(CeedOperatorSetName(op, NULL));
  ASSERT_VIEW(CeedOperatorView, op, "mass: 9 elements of 16 points",
              "\"u\": 1, interpolation, active", "\"qdata\": 1, none, data");
  ASSERT_VIEW(CeedOperatorViewTerse, op, "mass: 9 elements");
  ASSERT_FAILS(CeedOperatorView(op, NULL));
  ASSERT_OK(CeedOperatorGetCeed(op, &other));
  ASSERT_SAME(other, ceed);
  CeedDestroy(&other);
  ASSERT_SAME(CeedOperatorReturnCeed(op), ceed);
  ASSERT_OK(CeedOperatorReferenceCopy(op, &copy));
  ASSERT_OK(CeedOperatorDestroy(&op));
  ASSERT_OK(CeedOperatorDestroy(&op));
  ASSERT_OK(CeedOperatorDestroy(&copy));
  ASSERT_OK(CeedOperatorDestroy(NULL));
  BoxDestroy(&box);
  return TEST_PASSED;
}

TEST(wrong_arguments_are_refused) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  ASSERT_FAILS(CeedOperatorCreate(NULL, qf, NULL, NULL, &op));
  ASSERT_FAILS(CeedOperatorCreate(ceed, NULL, NULL, NULL, &op));
  ASSERT_FAILS(CeedOperatorCreate(ceed, CEED_QFUNCTION_NONE, NULL, NULL, &op));
  ASSERT_FAILS(CeedOperatorCreate(ceed, qf, (CeedQFunction)ceed, NULL, &op));
  ASSERT_FAILS(CeedOperatorCreate(ceed, qf, NULL, NULL, NULL));
  ASSERT_FAILS(CeedOperatorCreateComposite(ceed, NULL));
  ASSERT_FAILS(CeedOperatorCheckReady(NULL));
  ASSERT_FAILS(CeedOperatorCheckReady((CeedOperator)qf));
  ASSERT_SAYS("CeedQFunction of");
  ASSERT(!op);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(mass_of_ones_is_the_volume),
    BEHAVIOUR(poisson_of_a_coordinate_has_the_volume_as_energy),
    BEHAVIOUR(apply_is_the_product_with_the_dense_matrix),
    BEHAVIOUR(borrowed_memory_need_not_be_aligned_for_more_than_a_number),
    BEHAVIOUR(apply_sets_and_apply_add_adds),
    BEHAVIOUR(a_nan_in_makes_what_depends_on_it_nan),
    BEHAVIOUR(all_points_a_call_are_one_call),
    BEHAVIOUR(memory_of_a_routine_on_vectors_is_used_for_one_call),
    BEHAVIOUR(a_routine_on_vectors_may_give_the_memory_of_its_input),
    BEHAVIOUR(no_elements_are_no_error),
    BEHAVIOUR(a_failing_function_gives_its_code_and_locks_nothing),
    BEHAVIOUR(vectors_that_are_out_are_refused_and_nothing_else_stays_locked),
    BEHAVIOUR(input_and_output_at_once_is_refused),
    BEHAVIOUR(vectors_of_other_lengths_are_refused),
    BEHAVIOUR(data_are_inputs_and_outputs_as_well),
    BEHAVIOUR(an_operator_may_have_no_active_input),
    BEHAVIOUR(an_operator_keeps_what_its_fields_are_made_of),
    BEHAVIOUR(fields_that_do_not_fit_are_refused_by_name),
    BEHAVIOUR(an_operator_that_is_not_complete_is_refused_by_the_missing_field),
    BEHAVIOUR(more_points_than_a_number_counts_are_refused),
    BEHAVIOUR(the_jacobian_is_that_of_the_second_function),
    BEHAVIOUR(an_operator_without_a_second_function_has_no_jacobian),
    BEHAVIOUR(the_transpose_of_a_linear_operator_is_its_adjoint),
    BEHAVIOUR(a_routine_is_an_operator),
    BEHAVIOUR(a_composite_operator_is_the_sum_of_its_parts),
    BEHAVIOUR(context_values_are_those_of_derivatives_too),
    BEHAVIOUR(context_values_that_are_refused_lock_no_context),
    BEHAVIOUR(context_values_change_between_applies),
    BEHAVIOUR(a_label_of_a_composite_is_for_all_its_parts),
    BEHAVIOUR(an_operator_tells_its_fields_and_counts),
    BEHAVIOUR(wrong_arguments_are_refused),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
