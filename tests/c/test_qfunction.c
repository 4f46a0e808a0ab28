// QFunctions: fields, contexts, calls on vectors, the gallery, and what is refused.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

static int calls;

CEED_QFUNCTION(scale_and_sum)
(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const double *factor = ctx;

  calls++;
  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = (CeedScalar)((factor ? *factor : 1) * (double)(in[0][i] + in[0][Q + i]));
  }
  return 0;
}

static int Failing(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return 42;
}

static int Explaining(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return CeedError(ceed, 43, "the pressure is negative");
}

static CeedQFunction Made(CeedQFunctionUser f) {
  CeedQFunction qf = NULL;

  CeedQFunctionCreateInterior(ceed, 1, f, scale_and_sum_loc, &qf);
  CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  return qf;
}

TEST(a_function_is_called_once_with_one_array_a_field) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedVector u = VectorOf(6, (CeedScalar[]){1, 2, 3, 10, 20, 30}), v = NULL;

  calls = 0;
  ASSERT_OK(CeedVectorCreate(ceed, 3, &v));
  ASSERT_OK(CeedQFunctionApply(qf, 3, &u, &v));
  ASSERT_VALUES(v, 11, 22, 33);
  ASSERT_EQ(calls, 1);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  return TEST_PASSED;
}

TEST(no_points_are_no_call) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedVector u = Iota(0), v = Iota(0);

  calls = 0;
  ASSERT_OK(CeedQFunctionApply(qf, 0, &u, &v));
  ASSERT_EQ(calls, 0);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(the_context_reaches_the_function) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedQFunctionContext ctx = NULL;
  CeedVector u = VectorOf(2, (CeedScalar[]){1, 2}), v = Iota(1);
  double factor = 4;

  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof factor, &factor));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_VALUES(v, 12);
  factor = 5;
  ASSERT_OK(CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_VALUES(v, 15);
  ASSERT_OK(CeedQFunctionSetContext(qf, NULL));
  ASSERT_OK(CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_VALUES(v, 3);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_context_that_is_out_is_refused_unless_both_read) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedQFunctionContext ctx = NULL;
  CeedVector u = Iota(2), v = Iota(1);
  double factor = 4;
  void *data = NULL;

  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, sizeof factor, &factor));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_OK(CeedQFunctionSetContextWritable(qf, false));
  ASSERT_OK(CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &data));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_function_that_fails_gives_its_code_and_every_vector_back) {
  CeedQFunction qf = Made(Failing);
  CeedVector u = Iota(2), v = Iota(1);

  ASSERT_CODE(42, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_SAYS("scale_and_sum returned 42");
  ASSERT_OK(CeedVectorSetValue(u, 1));
  ASSERT_OK(CeedVectorSetValue(v, 1));
  CeedQFunctionDestroy(&qf);
  qf = Made(Explaining);
  ASSERT_CODE(43, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_SAYS("the pressure is negative");
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(vectors_that_do_not_fit_are_refused_by_the_name_of_the_field) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedVector u = Iota(2), v = Iota(1), w = Iota(2), none = NULL;
  CeedScalar *array;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_SAYS("u: the vector has 2 entries, not 4");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionApply(qf, 1, &u, &w));
  ASSERT_FAILS(CeedQFunctionApply(qf, -1, &u, &v));
  ASSERT_FAILS(CeedQFunctionApply(qf, 1, NULL, &v));
  ASSERT_FAILS(CeedQFunctionApply(qf, 1, &u, NULL));
  ASSERT_FAILS(CeedQFunctionApply(qf, 1, &u, &none));
  ASSERT_FAILS(CeedQFunctionApply(NULL, 1, &u, &v));
  ASSERT_FAILS(CeedQFunctionApply(CEED_QFUNCTION_NONE, 1, &u, &v));
  ASSERT_OK(CeedVectorGetArray(v, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_OK(CeedVectorRestoreArray(v, &array));
  ASSERT_OK(CeedVectorSetValue(u, 1));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(input_and_output_at_once_is_refused) {
  CeedQFunction qf = NULL;
  CeedVector u = Iota(1);

  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionApply(qf, 1, &u, &u));
  ASSERT_SAYS("\"input\" and output \"output\"");
  CeedVectorDestroy(&u);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(identity_copies_whatever_its_context_is) {
  CeedScalar three = 3;
  CeedQFunctionContext ctx = NULL;
  CeedQFunction qf = NULL;
  CeedVector u = Iota(2), v = Iota(2);

  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof three, &three));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_VALUES(v, 0, 1);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(fields_are_told_in_their_order) {
  CeedQFunction qf = Made(scale_and_sum);
  CeedQFunctionField *in, *out;
  CeedInt num_in, num_out, size;
  const char *name;
  CeedEvalMode mode;

  ASSERT_OK(CeedQFunctionAddInput(qf, "dx", 4, CEED_EVAL_GRAD));
  ASSERT_OK(CeedQFunctionGetFields(qf, &num_in, &in, &num_out, &out));
  ASSERT_EQ(num_in, 2);
  ASSERT_EQ(num_out, 1);
  ASSERT_OK(CeedQFunctionFieldGetName(in[1], &name));
  ASSERT_TEXT(name, "dx");
  ASSERT_OK(CeedQFunctionFieldGetSize(in[1], &size));
  ASSERT_EQ(size, 4);
  ASSERT_OK(CeedQFunctionFieldGetEvalMode(in[1], &mode));
  ASSERT_EQ(mode, CEED_EVAL_GRAD);
  ASSERT_OK(CeedQFunctionFieldGetData(out[0], &name, &size, NULL));
  ASSERT_TEXT(name, "v");
  ASSERT_FAILS(CeedQFunctionFieldGetName((CeedQFunctionField)qf, &name));
  ASSERT_SAYS("CeedQFunctionField");
  ASSERT_VIEW(CeedQFunctionView, qf, "scale_and_sum", "Input \"dx\": 4, gradient",
              "Output \"v\": 1");
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(fields_that_are_none_are_refused) {
  CeedQFunction qf = Made(scale_and_sum);
  char name[] = "a";

  ASSERT_FAILS(CeedQFunctionAddInput(qf, NULL, 1, CEED_EVAL_NONE));
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "", 1, CEED_EVAL_NONE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionAddOutput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_SAYS("\"u\"");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, "w", 0, CEED_EVAL_NONE));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_DIV));
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "w", 1, (CeedEvalMode)3));
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "w", 2, CEED_EVAL_WEIGHT));
  ASSERT_FAILS(CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_WEIGHT));
  for (; name[0] < 'a' + 15; name[0]++) {
    ASSERT_OK(CeedQFunctionAddInput(qf, name, 1, CEED_EVAL_NONE));
  }
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionAddInput(qf, name, 1, CEED_EVAL_NONE));
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_length_of_vectors_divides_the_points) {
  CeedQFunction qf = NULL;
  CeedVector v[] = {Iota(6)};

  ASSERT_FAILS(CeedQFunctionCreateInterior(ceed, 0, scale_and_sum, NULL, &qf));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 4, scale_and_sum, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionApply(qf, 6, NULL, v));
  ASSERT_SAYS("multiple");
  CeedVectorDestroy(&v[0]);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(points_per_call_are_all_or_the_backends_choice) {
  CeedQFunction qf = Made(scale_and_sum);

  ASSERT_OK(CeedQFunctionSetPointsPerCall(qf, CEED_POINTS_ALL));
  ASSERT_OK(CeedQFunctionSetPointsPerCall(qf, 0));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedQFunctionSetPointsPerCall(qf, 64));
  ASSERT_FAILS(CeedQFunctionSetUserFlopsEstimate(qf, -1));
  ASSERT_OK(CeedQFunctionSetUserFlopsEstimate(qf, 2));
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(the_identity_copies_all_components) {
  CeedQFunction qf = NULL;
  CeedVector u = Iota(6), v = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 6, &v));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 3, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_VALUES(v, 0, 1, 2, 3, 4, 5);
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "input", 1, CEED_EVAL_NONE));
  ASSERT_FAILS(CeedQFunctionAddInput(qf, "more", 1, CEED_EVAL_NONE));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(scale_multiplies_by_its_context) {
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedVector u = Iota(4), v = Iota(4);
  CeedScalar factor = 2.5;

  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, "Scale", &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "input", 2, CEED_EVAL_INTERP));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionApply(qf, 4, &u, &v));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "output", 2, CEED_EVAL_INTERP));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 1, &factor));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof factor, &factor));
  ASSERT_OK(CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_VALUES(v, 0, 2.5, 5, 7.5);
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_name_that_is_none_gives_the_list) {
  CeedQFunction qf = NULL;

  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedQFunctionCreateInteriorByName(ceed, "Mass4DBuild", &qf));
  ASSERT_SAYS("Mass3DBuild");
  ASSERT_SAYS("Vector3Poisson3DApply");
  ASSERT_FAILS(CeedQFunctionCreateInteriorByName(ceed, NULL, &qf));
  ASSERT_FAILS(CeedQFunctionCreateInteriorByName(NULL, "Scale", &qf));
  ASSERT_FAILS(CeedQFunctionCreateInteriorByName(ceed, "Scale", NULL));
  ASSERT_FAILS(CeedQFunctionCreateIdentity(ceed, 0, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT(!qf);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Routines on vectors
// ------------------------------------------------------------------------------------------------

// v = u[0] + u[1], in memory of its own.
static CeedScalar shell_memory[3];

static int Giving(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  const CeedScalar *u;

  (void)ctx;
  calls++;
  CeedVectorGetArrayRead(in[0], CEED_MEM_HOST, &u);
  for (CeedInt i = 0; i < Q; i++) shell_memory[i] = u[i] + u[Q + i];
  CeedVectorRestoreArrayRead(in[0], &u);
  return CeedVectorSetArray(out[0], CEED_MEM_HOST, CEED_USE_POINTER, shell_memory);
}

static int Writing(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  const double *factor = ctx;

  (void)Q, (void)in;
  return CeedVectorSetValue(out[0], factor ? (CeedScalar)*factor : 7);
}

static int Forgetting(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return 0;
}

static int Overwriting(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  (void)ctx, (void)Q, (void)out;
  return CeedVectorSetValue(in[0], 1);
}

static int Refusing(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  (void)ctx, (void)Q, (void)in, (void)out;
  return 42;
}

static CeedQFunction MadeShell(CeedQFunctionShellUser f) {
  CeedQFunction qf = NULL;

  CeedQFunctionCreateShell(ceed, f, "test_qfunction.c:shell", &qf);
  CeedQFunctionAddInput(qf, "u", 2, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  return qf;
}

TEST(a_routine_on_vectors_gives_memory_that_the_callers_vectors_get_copies_of) {
  CeedQFunction qf = MadeShell(Giving);
  CeedScalar own[3] = {0, 0, 0};
  CeedVector u = VectorOf(6, (CeedScalar[]){1, 2, 3, 10, 20, 30}), v = NULL;

  calls = 0;
  ASSERT_OK(CeedVectorCreate(ceed, 3, &v));
  ASSERT_OK(CeedVectorSetArray(v, CEED_MEM_HOST, CEED_USE_POINTER, own));
  ASSERT_OK(CeedQFunctionApply(qf, 3, &u, &v));
  ASSERT_EQ(calls, 1);
  ASSERT_VALUES(v, 11, 22, 33);
  ASSERT_NUMBER(own[2], 33);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_routine_on_vectors_gets_the_context) {
  CeedQFunction qf = MadeShell(Writing);
  CeedQFunctionContext ctx = NULL;
  CeedVector u = Iota(4), v = Iota(2);
  double factor = 3;

  ASSERT_OK(CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_VALUES(v, 7, 7);
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(
      CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof factor, &factor));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionApply(qf, 2, &u, &v));
  ASSERT_VALUES(v, 3, 3);
  CeedQFunctionContextDestroy(&ctx);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

static int ShellFails(CeedQFunctionShellUser f, int code, const char *text) {
  CeedQFunction qf = MadeShell(f);
  CeedVector u = Iota(2), v = Iota(1);

  ASSERT_CODE(code, CeedQFunctionApply(qf, 1, &u, &v));
  ASSERT_SAYS(text);
  ASSERT_VALUES(v, 0);
  ASSERT_OK(CeedVectorSetValue(u, 1));
  ASSERT_OK(CeedVectorSetValue(v, 1));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(a_routine_on_vectors_that_fails_locks_nothing) {
  PASSES(ShellFails(Refusing, 42, "test_qfunction.c:shell returned 42"));
  PASSES(ShellFails(Forgetting, CEED_ERROR_INCOMPLETE, "no values for the output \"v\""));
  PASSES(ShellFails(Overwriting, CEED_ERROR_ACCESS, "SetValue"));
  return TEST_PASSED;
}

TEST(a_routine_on_vectors_has_all_points) {
  CeedQFunction qf = MadeShell(Writing), none = NULL;
  CeedVector u = Iota(0), v = Iota(0);

  ASSERT_OK(CeedQFunctionSetPointsPerCall(qf, CEED_POINTS_ALL));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedQFunctionSetPointsPerCall(qf, 0));
  ASSERT_OK(CeedQFunctionApply(qf, 0, &u, &v));
  ASSERT_FAILS(CeedQFunctionCreateShell(ceed, NULL, NULL, &none));
  ASSERT_FAILS(CeedQFunctionCreateShell(ceed, Writing, NULL, NULL));
  ASSERT_FAILS(CeedQFunctionCreateShell(NULL, Writing, NULL, &none));
  ASSERT(!none);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The gallery at random points, against the formulas by Gauss elimination
// ------------------------------------------------------------------------------------------------

enum { POINTS = 3 };

// inverse and determinant of J[component][direction]
static double Invert(int dim, double J[3][3], double inverse[3][3]) {
  double det = 1;

  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) inverse[i][j] = i == j;
  }
  for (int k = 0; k < dim; k++) {
    double pivot = J[k][k];
    det *= pivot;
    for (int j = 0; j < dim; j++) J[k][j] /= pivot, inverse[k][j] /= pivot;
    for (int i = 0; i < dim; i++) {
      double factor = J[i][k];
      if (i == k) continue;
      for (int j = 0; j < dim; j++) {
        J[i][j] -= factor * J[k][j];
        inverse[i][j] -= factor * inverse[k][j];
      }
    }
  }
  return det;
}

static const int voigt[4][6][2] = {
    {{0}}, {{0, 0}}, {{0, 0}, {1, 1}, {0, 1}}, {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};

static int BuildMatches(int dim, bool is_mass) {
  char name[32];
  CeedQFunction qf = NULL;
  int size = is_mass ? 1 : dim * (dim + 1) / 2;
  CeedVector in[2], out[1] = {NULL};

  snprintf(name, sizeof name, "%s%dDBuild", is_mass ? "Mass" : "Poisson", dim);
  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, name, &qf));
  in[0] = RandomVector(dim * dim * POINTS, 3);
  in[1] = RandomVector(POINTS, 4);
  ASSERT_OK(CeedVectorCreate(ceed, size * POINTS, &out[0]));
  ASSERT_OK(CeedQFunctionApply(qf, POINTS, in, out));
  for (int q = 0; q < POINTS; q++) {
    double J[3][3], inverse[3][3], det, weight = (double)Entry(in[1], q);
    for (int d = 0; d < dim; d++) {
      for (int c = 0; c < dim; c++) J[c][d] = (double)Entry(in[0], (d * dim + c) * POINTS + q);
    }
    det = Invert(dim, J, inverse);
    for (int s = 0; s < size; s++) {
      double expected = weight * det, sum = 0, scale = 0;
      for (int c = 0; c < dim; c++) {
        double term = inverse[voigt[dim][s][0]][c] * inverse[voigt[dim][s][1]][c];
        sum += term, scale += fabs(term);
      }
      if (!is_mass) expected *= sum;
      ASSERT_CLOSE(Entry(out[0], s * POINTS + q), expected,
                   100 * TOLERANCE * (1 + fabs(weight * det) * scale));
    }
  }
  CeedVectorDestroy(&in[0]);
  CeedVectorDestroy(&in[1]);
  CeedVectorDestroy(&out[0]);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(building_is_the_determinant_or_the_pulled_back_metric) {
  for (int dim = 1; dim <= 3; dim++) {
    PASSES(BuildMatches(dim, true));
    PASSES(BuildMatches(dim, false));
  }
  return TEST_PASSED;
}

static int PoissonMatches(int dim, int n) {
  char name[32];
  CeedQFunction qf = NULL;
  int size = dim * (dim + 1) / 2;
  CeedVector in[2], out[1] = {NULL};

  snprintf(name, sizeof name, "%sPoisson%dDApply", n == 3 ? "Vector3" : "", dim);
  ASSERT_OK(CeedQFunctionCreateInteriorByName(ceed, name, &qf));
  in[0] = RandomVector(n * dim * POINTS, 5);
  in[1] = RandomVector(size * POINTS, 6);
  ASSERT_OK(CeedVectorCreate(ceed, n * dim * POINTS, &out[0]));
  ASSERT_OK(CeedQFunctionApply(qf, POINTS, in, out));
  for (int q = 0; q < POINTS; q++) {
    double D[3][3];
    for (int s = 0; s < size; s++) {
      int a = voigt[dim][s][0], b = voigt[dim][s][1];
      D[a][b] = D[b][a] = (double)Entry(in[1], s * POINTS + q);
    }
    for (int i = 0; i < n * dim; i++) {
      double sum = 0;
      for (int b = 0; b < dim; b++) {
        sum += D[i / n][b] * (double)Entry(in[0], (b * n + i % n) * POINTS + q);
      }
      ASSERT_CLOSE(Entry(out[0], i * POINTS + q), sum, TOLERANCE);
    }
  }
  CeedVectorDestroy(&in[0]);
  CeedVectorDestroy(&in[1]);
  CeedVectorDestroy(&out[0]);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(poisson_multiplies_gradients_by_the_symmetric_matrix) {
  for (int dim = 1; dim <= 3; dim++) {
    PASSES(PoissonMatches(dim, 1));
    PASSES(PoissonMatches(dim, 3));
  }
  return TEST_PASSED;
}

TEST(mass_multiplies_values_by_the_weight) {
  for (int n = 1; n <= 3; n += 2) {
    CeedQFunction qf = NULL;
    CeedVector in[] = {RandomVector(n * POINTS, 7), RandomVector(POINTS, 8)}, out[1] = {NULL};

    ASSERT_OK(
        CeedQFunctionCreateInteriorByName(ceed, n == 3 ? "Vector3MassApply" : "MassApply", &qf));
    ASSERT_OK(CeedVectorCreate(ceed, n * POINTS, &out[0]));
    ASSERT_OK(CeedQFunctionApply(qf, POINTS, in, out));
    for (int i = 0; i < n * POINTS; i++) {
      ASSERT_NUMBER(Entry(out[0], i), Entry(in[0], i) * Entry(in[1], i % POINTS));
    }
    CeedVectorDestroy(&in[0]);
    CeedVectorDestroy(&in[1]);
    CeedVectorDestroy(&out[0]);
    CeedQFunctionDestroy(&qf);
  }
  return TEST_PASSED;
}

TEST(references_share_it_and_destroying_twice_is_safe) {
  CeedQFunction qf = Made(scale_and_sum), copy = NULL;
  Ceed other = NULL;

  ASSERT_OK(CeedQFunctionReferenceCopy(qf, &copy));
  ASSERT_SAME(copy, qf);
  ASSERT_OK(CeedQFunctionGetCeed(qf, &other));
  ASSERT_SAME(other, ceed);
  CeedDestroy(&other);
  ASSERT_SAME(CeedQFunctionReturnCeed(qf), ceed);
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  ASSERT_OK(CeedQFunctionDestroy(NULL));
  ASSERT_OK(CeedQFunctionDestroy(&copy));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_function_is_called_once_with_one_array_a_field),
    BEHAVIOUR(no_points_are_no_call),
    BEHAVIOUR(the_context_reaches_the_function),
    BEHAVIOUR(a_context_that_is_out_is_refused_unless_both_read),
    BEHAVIOUR(a_function_that_fails_gives_its_code_and_every_vector_back),
    BEHAVIOUR(vectors_that_do_not_fit_are_refused_by_the_name_of_the_field),
    BEHAVIOUR(input_and_output_at_once_is_refused),
    BEHAVIOUR(identity_copies_whatever_its_context_is),
    BEHAVIOUR(fields_are_told_in_their_order),
    BEHAVIOUR(fields_that_are_none_are_refused),
    BEHAVIOUR(a_length_of_vectors_divides_the_points),
    BEHAVIOUR(points_per_call_are_all_or_the_backends_choice),
    BEHAVIOUR(the_identity_copies_all_components),
    BEHAVIOUR(scale_multiplies_by_its_context),
    BEHAVIOUR(a_name_that_is_none_gives_the_list),
    BEHAVIOUR(a_routine_on_vectors_gives_memory_that_the_callers_vectors_get_copies_of),
    BEHAVIOUR(a_routine_on_vectors_gets_the_context),
    BEHAVIOUR(a_routine_on_vectors_that_fails_locks_nothing),
    BEHAVIOUR(a_routine_on_vectors_has_all_points),
    BEHAVIOUR(building_is_the_determinant_or_the_pulled_back_metric),
    BEHAVIOUR(poisson_multiplies_gradients_by_the_symmetric_matrix),
    BEHAVIOUR(mass_multiplies_values_by_the_weight),
    BEHAVIOUR(references_share_it_and_destroying_twice_is_safe),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
