// Which points a QFunction is called for: each one of the operator once, whatever the backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "multiply.h"

// Counts the points and sums the weights, and v = u.
typedef struct {
  double points, weights;
} Sums;

static int SumUp(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  Sums *sums = ctx;

  sums->points += Q;
  for (CeedInt i = 0; i < Q; i++) {
    sums->weights += (double)in[1][i];
    out[0][i] = in[0][i];
  }
  return 0;
}

// Elements of the length 2, of 3 points.
static int SumsAreRight(CeedInt num_elem) {
  CeedInt n = 3 * num_elem;
  CeedElemRestriction rstr = NULL;
  CeedQFunctionContext ctx = NULL;
  CeedVector u = RandomVector(n, 5), v = Constant(n, 0);
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedBasis basis = NULL;
  Sums *sums = &(Sums){0, 0};

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, num_elem, 3, 1, n, (CeedInt[]){1, 3, 3}, &rstr));
  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &basis));
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof *sums, sums));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, SumUp, NULL, &qf));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(
      CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  for (int i = 0; i < 2; i++) ASSERT_OK(CeedOperatorApply(op, u, v, NULL));
  for (CeedInt i = 0; i < n; i++) ASSERT_NUMBER(Entry(v, i), Entry(u, i));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &sums));
  ASSERT_NUMBER(sums->points, 2 * n);
  ASSERT_CLOSE(sums->weights, 2 * 2 * num_elem, n * TOLERANCE);
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &sums));
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_function_may_sum_over_the_points_in_its_context) {
  for (CeedInt num_elem = 1; num_elem <= 17; num_elem++) PASSES(SumsAreRight(num_elem));
  return TEST_PASSED;
}

static CeedInt wanted_divisor;

static int MultiplyInLengths(void *ctx, CeedInt Q, const CeedScalar *const *in,
                             CeedScalar *const *out) {
  return Q % wanted_divisor ? CEED_ERROR_MINOR : Multiply(ctx, Q, in, out);
}

// n elements of a point, and a length of vectors that divides n or not.
static int LengthIs(CeedInt n, CeedInt length, bool fits) {
  CeedElemRestriction rstr = Line(n);
  CeedVector w = Constant(n, 5), u = Constant(n, 3), v = Constant(n, 7);
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  wanted_divisor = length;
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, length, MultiplyInLengths, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "w", rstr, CEED_BASIS_NONE, w));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  if (fits) {
    ASSERT_OK(CeedOperatorApply(op, u, v, NULL));
  } else {
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedOperatorApply(op, u, v, NULL));
  }
  ASSERT_NUMBER(Entry(v, n - 1), fits ? 15 : 7);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_length_of_vectors_divides_the_points_of_every_call) {
  PASSES(LengthIs(16, 8, true));
  PASSES(LengthIs(20, 4, true));
  PASSES(LengthIs(20, 5, true));
  PASSES(LengthIs(48, 16, true));
  PASSES(LengthIs(3, 8, false));
  PASSES(LengthIs(20, 8, false));
  return TEST_PASSED;
}

int main(int argc, char **argv) {
  static const Behaviour behaviours[] = {
      BEHAVIOUR(a_function_may_sum_over_the_points_in_its_context),
      BEHAVIOUR(a_length_of_vectors_divides_the_points_of_every_call),
  };
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
