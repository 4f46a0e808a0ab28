// What lives how long: during a call of a QFunction, and while something is out.
// SPDX-License-Identifier: BSD-2-Clause
#include "multiply.h"

// ------------------------------------------------------------------------------------------------
// During a call
// ------------------------------------------------------------------------------------------------

static CeedOperator dying;
static CeedQFunction dying_qf;
static CeedVector dying_in, dying_out, dying_data;

static int DestroyAll(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedOperatorDestroy(&dying);
  CeedQFunctionDestroy(&dying_qf);
  CeedVectorDestroy(&dying_in);
  CeedVectorDestroy(&dying_out);
  CeedVectorDestroy(&dying_data);
  return Multiply(ctx, Q, in, out);
}

// An operator, or a sum of twice that operator, of which nobody but `dying` and its parts holds
// anything; `out` is one more reference of the vector for results.
static int DyingCreate(bool is_composite, CeedVector *out) {
  CeedOperator op = NULL, sum = NULL;

  dying_in = Constant(20, 3), dying_out = Constant(20, 7), dying_data = Constant(20, 5);
  ASSERT_OK(CeedVectorReferenceCopy(dying_out, out));
  PASSES(MultiplyCreate(dying_data, DestroyAll, &dying_qf, &op));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  dying = is_composite ? sum : op;
  ASSERT_OK(CeedOperatorDestroy(is_composite ? &op : &sum));
  return TEST_PASSED;
}

// Sanitizers see what is used after it is freed.
static int DyingHasGone(CeedVector *out, CeedScalar result) {
  ASSERT_NUMBER(Entry(*out, 19), result);
  ASSERT_OK(CeedVectorDestroy(out));
  ASSERT(!dying && !dying_qf && !dying_in && !dying_out && !dying_data);
  return TEST_PASSED;
}

TEST(a_function_may_destroy_all_that_its_call_uses) {
  for (int is_composite = 0; is_composite < 2; is_composite++) {
    CeedVector out = NULL;

    PASSES(DyingCreate(is_composite, &out));
    ASSERT_OK(CeedOperatorApply(dying, dying_in, out, NULL));
    PASSES(DyingHasGone(&out, is_composite ? 30 : 15));
  }
  return TEST_PASSED;
}

TEST(a_function_may_destroy_all_that_its_assembly_uses) {
  for (int is_composite = 0; is_composite < 2; is_composite++) {
    CeedVector out = NULL;

    PASSES(DyingCreate(is_composite, &out));
    ASSERT_OK(CeedOperatorLinearAssembleDiagonal(dying, out, NULL));
    PASSES(DyingHasGone(&out, is_composite ? 10 : 5));
  }
  return TEST_PASSED;
}

static CeedQFunctionContext other_ctx;

static int ChangeContext(void *ctx, CeedInt Q, const CeedScalar *const *in,
                         CeedScalar *const *out) {
  if (CeedQFunctionSetContext(dying_qf, other_ctx)) return CEED_ERROR_MINOR;
  *(double *)ctx += 1;
  return Multiply(ctx, Q, in, out);
}

// To another context, or to none.
static int ContextsAreFreeAfterChange(CeedQFunctionContext to) {
  CeedVector w = Constant(20, 5), u = Constant(20, 3), v = Constant(20, 7);
  CeedQFunctionContext ctx = ContextOf(0);
  CeedOperator op = NULL;

  other_ctx = to;
  PASSES(MultiplyCreate(w, ChangeContext, &dying_qf, &op));
  ASSERT_OK(CeedQFunctionSetContext(dying_qf, ctx));
  ASSERT_OK(CeedOperatorApply(op, u, v, NULL));
  ASSERT_NUMBER(Entry(v, 0), 15);
  ASSERT(ValueOf(ctx) > 0);
  PASSES(IsFree(ctx));
  if (to) PASSES(IsFree(to));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedQFunctionDestroy(&dying_qf));
  ASSERT_OK(CeedOperatorDestroy(&op));
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(a_function_may_change_its_context) {
  CeedQFunctionContext to = ContextOf(0);

  PASSES(ContextsAreFreeAfterChange(to));
  ASSERT_OK(CeedQFunctionContextDestroy(&to));
  return ContextsAreFreeAfterChange(NULL);
}

// ------------------------------------------------------------------------------------------------
// Labels
// ------------------------------------------------------------------------------------------------

TEST(a_label_of_an_operator_outlives_the_context) {
  CeedVector w = Constant(2, 1);
  CeedQFunctionContext first = ContextOf(1), second = ContextOf(2);
  CeedContextFieldLabel label = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  const double *values = NULL;
  double three = 3;

  PASSES(MultiplyCreate(w, Multiply, &qf, &op));
  ASSERT_OK(CeedQFunctionSetContext(qf, first));
  ASSERT_OK(CeedQFunctionContextDestroy(&first));
  ASSERT_OK(CeedOperatorGetContextFieldLabel(op, "k", &label));
  ASSERT_OK(CeedOperatorGetContextDoubleRead(op, label, NULL, &values));
  ASSERT_OK(CeedQFunctionSetContext(qf, second));
  ASSERT_NUMBER(*values, 1);
  ASSERT_OK(CeedOperatorRestoreContextDoubleRead(op, label, &values));
  ASSERT_OK(CeedOperatorSetContextDouble(op, label, &three));
  ASSERT_NUMBER(ValueOf(second), 3);
  CeedQFunctionContextDestroy(&second);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Destruction while something is out
// ------------------------------------------------------------------------------------------------

TEST(an_operator_stays_while_values_of_its_context_are_out) {
  CeedVector w = Constant(2, 1);
  CeedQFunctionContext ctx = ContextOf(1);
  CeedContextFieldLabel label = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  const double *values = NULL;

  PASSES(MultiplyCreate(w, Multiply, &qf, &op));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&qf);
  ASSERT_OK(CeedOperatorGetContextFieldLabel(op, "k", &label));
  ASSERT_OK(CeedOperatorGetContextDoubleRead(op, label, NULL, &values));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorDestroy(&op));
  ASSERT(op);
  ASSERT_OK(CeedOperatorRestoreContextDoubleRead(op, label, &values));
  ASSERT_OK(CeedOperatorDestroy(&op));
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

// The array of the data, the data of the context and the offsets can be restored only while there
// is a handle; the operator has the last ones.
TEST(an_operator_stays_while_something_that_it_alone_keeps_is_out) {
  CeedVector w = Constant(2, 1), lent = NULL;
  CeedQFunctionContext ctx = ContextOf(1), lent_ctx = ctx;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, sum = NULL;
  CeedScalar *array = NULL;
  double *data = NULL;

  PASSES(MultiplyCreate(w, Multiply, &qf, &op));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionDestroy(&qf));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  ASSERT_OK(CeedOperatorDestroy(&op));
  lent = w;
  ASSERT_OK(CeedVectorGetArray(lent, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorDestroy(&w));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorDestroy(&sum));
  ASSERT_OK(CeedVectorRestoreArray(lent, &array));
  ASSERT_OK(CeedQFunctionContextGetData(lent_ctx, CEED_MEM_HOST, &data));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorDestroy(&sum));
  ASSERT_OK(CeedQFunctionContextRestoreData(lent_ctx, &data));
  ASSERT_OK(CeedOperatorDestroy(&sum));
  return TEST_PASSED;
}

int main(int argc, char **argv) {
  static const Behaviour behaviours[] = {
      BEHAVIOUR(a_function_may_destroy_all_that_its_call_uses),
      BEHAVIOUR(a_function_may_destroy_all_that_its_assembly_uses),
      BEHAVIOUR(a_function_may_change_its_context),
      BEHAVIOUR(a_label_of_an_operator_outlives_the_context),
      BEHAVIOUR(an_operator_stays_while_values_of_its_context_are_out),
      BEHAVIOUR(an_operator_stays_while_something_that_it_alone_keeps_is_out),
  };
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
