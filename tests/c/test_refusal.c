// What is refused changes nothing: outputs keep their values, and no lock stays.
// SPDX-License-Identifier: BSD-2-Clause
#include "multiply.h"

enum { N = 11 };  // not a whole number of groups of the fast backend

// Every entry is this value, and a write goes through.
static int IsStill(CeedVector vec, CeedScalar value) {
  CeedScalar *array = NULL;
  CeedSize length = 0;
  int result = TEST_PASSED;

  ASSERT_OK(CeedVectorGetLength(vec, &length));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) result |= array[i] != value;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT(!result);
  return TEST_PASSED;
}

// The operator alone, and with another in a composite one, whose part it is first or second.
typedef struct {
  CeedVector w, ones, u, v;
  CeedOperator op, other, as[3];
} Operators;

static int OperatorsCreate(Operators *o, CeedQFunctionUser f, CeedQFunction *qf) {
  *o = (Operators){
      .w = Constant(N, 5), .ones = Constant(N, 1), .u = Constant(N, 2), .v = Constant(N, 7)};
  PASSES(MultiplyCreate(o->w, f, qf, &o->op));
  PASSES(MultiplyCreate(o->ones, Multiply, NULL, &o->other));
  ASSERT_OK(CeedOperatorReferenceCopy(o->op, &o->as[0]));
  for (int i = 1; i < 3; i++) {
    ASSERT_OK(CeedOperatorCreateComposite(ceed, &o->as[i]));
    ASSERT_OK(CeedOperatorCompositeAddSub(o->as[i], i == 1 ? o->op : o->other));
    ASSERT_OK(CeedOperatorCompositeAddSub(o->as[i], i == 1 ? o->other : o->op));
  }
  return TEST_PASSED;
}

static void OperatorsDestroy(Operators *o) {
  for (int i = 0; i < 3; i++) CeedOperatorDestroy(&o->as[i]);
  CeedOperatorDestroy(&o->op);
  CeedOperatorDestroy(&o->other);
  CeedVectorDestroy(&o->w);
  CeedVectorDestroy(&o->ones);
  CeedVectorDestroy(&o->u);
  CeedVectorDestroy(&o->v);
}

// ------------------------------------------------------------------------------------------------
// Apply
// ------------------------------------------------------------------------------------------------

typedef int (*ApplyFunction)(CeedOperator, CeedVector, CeedVector, CeedRequest *);

static const ApplyFunction applies[] = {CeedOperatorApply, CeedOperatorApplyAdd,
                                        CeedOperatorApplyAddActive, CeedOperatorApplyTranspose};

#define EVERY_APPLY(o, op, apply)                       \
  for (int i_ = 0; i_ < 3; i_++)                        \
    for (int j_ = 0; j_ < COUNT_OF(applies); j_++)      \
      for (CeedOperator op = (o).as[i_]; op; op = NULL) \
        for (ApplyFunction apply = applies[j_]; apply; apply = NULL)

TEST(a_refused_apply_leaves_the_output_as_it_was) {
  Operators o;
  CeedVector shorter = Constant(N - 1, 1), empty = NULL;
  CeedScalar *array = NULL;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  ASSERT_OK(CeedVectorCreate(ceed, N, &empty));
  EVERY_APPLY(o, op, apply) {
    ASSERT_CODE(CEED_ERROR_DIMENSION, apply(op, shorter, o.v, NULL));
    ASSERT_FAILS(apply(op, NULL, o.v, NULL));
    ASSERT_FAILS(apply(op, CEED_VECTOR_NONE, o.v, NULL));
    ASSERT_CODE(CEED_ERROR_INCOMPLETE, apply(op, empty, o.v, NULL));
    ASSERT_OK(CeedVectorGetArray(o.u, CEED_MEM_HOST, &array));
    ASSERT_CODE(CEED_ERROR_ACCESS, apply(op, o.u, o.v, NULL));
    ASSERT_OK(CeedVectorRestoreArray(o.u, &array));
    ASSERT_OK(CeedVectorGetArray(o.w, CEED_MEM_HOST, &array));
    ASSERT_CODE(CEED_ERROR_ACCESS, apply(op, o.u, o.v, NULL));
    ASSERT_OK(CeedVectorRestoreArray(o.w, &array));
    ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorApplyJacobian(op, o.u, o.v, NULL));
    PASSES(IsStill(o.v, 7));
    PASSES(IsStill(o.u, 2));
  }
  CeedVectorDestroy(&shorter);
  CeedVectorDestroy(&empty);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

TEST(a_context_that_is_out_refuses_before_an_output_is_touched) {
  Operators o;
  CeedQFunction qf = NULL;
  CeedQFunctionContext ctx = ContextOf(1);
  double *data;

  PASSES(OperatorsCreate(&o, Multiply, &qf));
  ASSERT_OK(CeedQFunctionSetContext(qf, ctx));
  ASSERT_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  EVERY_APPLY(o, op, apply) {
    ASSERT_CODE(CEED_ERROR_ACCESS, apply(op, o.u, o.v, NULL));
    PASSES(IsStill(o.v, 7));
  }
  ASSERT_OK(CeedQFunctionContextRestoreData(ctx, &data));
  CeedQFunctionContextDestroy(&ctx);
  CeedQFunctionDestroy(&qf);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

TEST(an_output_that_is_data_as_well_is_refused_and_the_data_stay) {
  Operators o;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  EVERY_APPLY(o, op, apply) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, apply(op, o.u, o.w, NULL));
    ASSERT_SAYS("\"w\"");
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, apply(op, o.u, o.u, NULL));
    PASSES(IsStill(o.w, 5));
    PASSES(IsStill(o.u, 2));
  }
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

static int CopyTwice(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = out[1][i] = in[0][i];
  return 0;
}

TEST(one_output_that_is_out_keeps_the_others_as_they_were) {
  CeedElemRestriction rstr = Line(N);
  CeedVector u = Constant(N, 1), v = Constant(N, 7), w = Constant(N, 9);
  const CeedScalar *array = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, CopyTwice, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "w", rstr, CEED_BASIS_NONE, w));
  ASSERT_OK(CeedVectorGetArrayRead(w, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorApply(op, u, v, NULL));
  ASSERT_OK(CeedVectorRestoreArrayRead(w, &array));
  PASSES(IsStill(v, 7));
  PASSES(IsStill(w, 9));
  ASSERT_OK(CeedOperatorApply(op, u, v, NULL));
  PASSES(IsStill(v, 1));
  PASSES(IsStill(w, 1));
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Assembly
// ------------------------------------------------------------------------------------------------

typedef int (*DiagonalFunction)(CeedOperator, CeedVector, CeedRequest *);

static const DiagonalFunction diagonals[] = {
    CeedOperatorLinearAssembleDiagonal, CeedOperatorLinearAssembleAddDiagonal,
    CeedOperatorLinearAssemblePointBlockDiagonal, CeedOperatorLinearAssembleAddPointBlockDiagonal};

TEST(a_refused_assembly_leaves_the_vector_as_it_was) {
  Operators o;
  CeedVector shorter = Constant(N - 1, 7);
  CeedScalar *array = NULL;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  for (int i = 0; i < 3 * COUNT_OF(diagonals); i++) {
    DiagonalFunction diagonal = diagonals[i / 3];
    ASSERT_CODE(CEED_ERROR_DIMENSION, diagonal(o.as[i % 3], shorter, NULL));
    PASSES(IsStill(shorter, 7));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, diagonal(o.as[i % 3], o.w, NULL));
    PASSES(IsStill(o.w, 5));
    ASSERT_OK(CeedVectorGetArray(o.w, CEED_MEM_HOST, &array));
    ASSERT_CODE(CEED_ERROR_ACCESS, diagonal(o.as[i % 3], o.v, NULL));
    ASSERT_OK(CeedVectorRestoreArray(o.w, &array));
    PASSES(IsStill(o.v, 7));
  }
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorLinearAssemble(o.op, o.w));
  PASSES(IsStill(o.w, 5));
  CeedVectorDestroy(&shorter);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

static int DoNothing(void *ctx, CeedVector in, CeedVector out) {
  (void)ctx, (void)in, (void)out;
  return 0;
}

TEST(a_part_without_a_diagonal_is_found_before_the_vector_is_touched) {
  Operators o;
  CeedOperator shell = NULL;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  ASSERT_OK(CeedOperatorCreateShell(ceed, N, N, DoNothing, NULL, NULL, &shell));
  ASSERT_OK(CeedOperatorCompositeAddSub(o.as[1], shell));
  for (int i = 0; i < COUNT_OF(diagonals); i++) {
    ASSERT_CODE(CEED_ERROR_UNSUPPORTED, diagonals[i](o.as[1], o.v, NULL));
    PASSES(IsStill(o.v, 7));
  }
  CeedOperatorDestroy(&shell);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

TEST(an_assembled_function_into_the_operators_own_data_is_refused) {
  Operators o;
  CeedElemRestriction rstr = NULL;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedOperatorLinearAssembleQFunctionBuildOrUpdate(o.op, &o.w, &rstr, NULL));
  PASSES(IsStill(o.w, 5));
  ASSERT(!rstr);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

TEST(a_failed_assembly_leaves_the_handles_as_they_were) {
  CeedVector v = Constant(N, 1), assembled = v;
  CeedElemRestriction rstr = Line(N), assembled_rstr = rstr;
  CeedOperator shell = NULL;

  ASSERT_OK(CeedOperatorCreateShell(ceed, N, N, DoNothing, NULL, NULL, &shell));
  ASSERT_FAILS(CeedOperatorLinearAssembleQFunction(NULL, &assembled, &assembled_rstr, NULL));
  ASSERT_FAILS(CeedOperatorLinearAssembleQFunction(shell, &assembled, &assembled_rstr, NULL));
  ASSERT_SAME(assembled, v);
  ASSERT_SAME(assembled_rstr, rstr);
  CeedOperatorDestroy(&shell);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Vectors over the same memory
// ------------------------------------------------------------------------------------------------

static CeedVector Over(CeedSize length, CeedScalar *memory) {
  CeedVector vec = NULL;

  if (CeedVectorCreate(ceed, length, &vec)) return NULL;
  if (CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, memory)) return NULL;
  return vec;
}

// u over the first entries, v over as many from `shift` on.
static int IsRefusedOver(CeedSize shift, bool refused) {
  CeedScalar memory[2 * N] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  CeedVector u = Over(N, memory), v = Over(N, memory + shift);
  Operators o;

  PASSES(OperatorsCreate(&o, Multiply, NULL));
  EVERY_APPLY(o, op, apply) {
    if (refused) {
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, apply(op, u, v, NULL));
      ASSERT_SAYS("same memory");
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, apply(op, v, u, NULL));
    } else {
      ASSERT_OK(apply(op, u, v, NULL));
    }
  }
  for (CeedInt i = 0; i < N; i++) ASSERT_NUMBER(memory[i], i + 1);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

TEST(vectors_over_the_same_memory_are_refused) {
  PASSES(IsRefusedOver(0, true));
  PASSES(IsRefusedOver(N - 1, true));
  return TEST_PASSED;
}

TEST(vectors_side_by_side_in_memory_are_not_refused) {
  PASSES(IsRefusedOver(N, false));
  return TEST_PASSED;
}

TEST(parts_of_an_operator_refuse_vectors_over_the_same_memory) {
  CeedScalar memory[4] = {1, 2, 3, 4};
  CeedVector u = Over(2, memory), v = Over(2, memory + 1);
  CeedElemRestriction rstr = Line(2);
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis));
  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  for (int transpose = 0; transpose < 2; transpose++) {
    CeedTransposeMode mode = transpose ? CEED_TRANSPOSE : CEED_NOTRANSPOSE;
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedElemRestrictionApply(rstr, mode, u, v, NULL));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisApply(basis, 1, mode, CEED_EVAL_GRAD, u, v));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBasisApplyAdd(basis, 1, mode, CEED_EVAL_GRAD, u, v));
  }
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionApply(qf, 2, &u, &v));
  for (int i = 0; i < 4; i++) ASSERT_NUMBER(memory[i], i + 1);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// An operator in its own QFunction
// ------------------------------------------------------------------------------------------------

static CeedOperator own;
static CeedVector own_in, own_out;
static int num_refused, num_tried;

static int RunItself(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  num_tried += 2;
  num_refused += CeedOperatorApply(own, own_in, own_out, NULL) == CEED_ERROR_ACCESS;
  num_refused += CeedOperatorLinearAssembleDiagonal(own, own_out, NULL) == CEED_ERROR_ACCESS;
  return Multiply(ctx, Q, in, out);
}

TEST(an_operator_cannot_run_in_its_own_function) {
  Operators o;

  PASSES(OperatorsCreate(&o, RunItself, NULL));
  own_in = Constant(N, 100);
  own_out = Constant(N, 7);
  for (int i = 0; i < 3; i++) {
    num_refused = num_tried = 0;
    own = o.as[i];
    ASSERT_OK(CeedOperatorApply(o.as[i], o.u, o.v, NULL));
    PASSES(IsStill(o.v, i ? 12 : 10));
    ASSERT(num_tried > 0);
    ASSERT_EQ(num_refused, num_tried);
  }
  PASSES(IsStill(own_out, 7));
  CeedVectorDestroy(&own_in);
  CeedVectorDestroy(&own_out);
  OperatorsDestroy(&o);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Context fields of several parts
// ------------------------------------------------------------------------------------------------

TEST(a_context_field_is_set_in_all_parts_or_in_none) {
  CeedVector w = Constant(N, 1);
  CeedQFunctionContext ctx[3] = {ContextOf(1), ContextOf(1), ContextOf(1)};
  CeedOperator sum = NULL;
  CeedContextFieldLabel label = NULL;
  double *data, two = 2;

  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  for (int i = 0; i < 4; i++) {  // the last part shares the first context
    CeedOperator op = NULL;
    CeedQFunction qf = NULL;
    PASSES(MultiplyCreate(w, Multiply, &qf, &op));
    ASSERT_OK(CeedQFunctionSetContext(qf, ctx[i % 3]));
    ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
    CeedQFunctionDestroy(&qf);
    CeedOperatorDestroy(&op);
  }
  ASSERT_OK(CeedOperatorGetContextFieldLabel(sum, "k", &label));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx[1], CEED_MEM_HOST, &data));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedOperatorSetContextDouble(sum, label, &two));
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx[1], &data));
  for (int i = 0; i < 3; i++) ASSERT_NUMBER(ValueOf(ctx[i]), 1);
  ASSERT_FAILS(CeedOperatorSetContextDouble(sum, label, NULL));
  ASSERT_OK(CeedOperatorSetContextDouble(sum, label, &two));
  for (int i = 0; i < 3; i++) ASSERT_NUMBER(ValueOf(ctx[i]), 2);
  for (int i = 0; i < 3; i++) PASSES(IsFree(ctx[i]));
  for (int i = 0; i < 3; i++) CeedQFunctionContextDestroy(&ctx[i]);
  CeedOperatorDestroy(&sum);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Sizes
// ------------------------------------------------------------------------------------------------

static int CreateIdentity(CeedElemRestriction rstr, CeedInt size, CeedOperator *op) {
  CeedQFunction qf = NULL;

  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, size, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  return TEST_PASSED;
}

TEST(an_element_that_no_memory_holds_is_refused) {
  CeedInt n = 1 << 29, strides[3] = {0, 0, 0};  // one entry at all of 2^58 places
  CeedElemRestriction rstr = NULL;
  CeedVector u = Constant(1, 1), v = Constant(1, 7);
  CeedOperator op = NULL;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 1, n, n, 1, strides, &rstr));
  PASSES(CreateIdentity(rstr, n, &op));
  ASSERT_FAILS(CeedOperatorApply(op, u, v, NULL));
  PASSES(IsStill(v, 7));
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(no_elements_of_any_size_need_no_memory) {
  CeedElemRestriction rstr = NULL;
  CeedVector u = Constant(0, 1), v = Constant(0, 1);
  CeedOperator op = NULL;

  ASSERT_OK(
      CeedElemRestrictionCreateStrided(ceed, 0, INT32_MAX, 1, 0, (CeedInt[]){1, 1, 1}, &rstr));
  PASSES(CreateIdentity(rstr, 1, &op));
  ASSERT_OK(CeedOperatorApply(op, u, v, NULL));
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return TEST_PASSED;
}

TEST(strides_and_blocks_that_no_number_counts_are_refused) {
  CeedElemRestriction backend = NULL, sparse = NULL;
  CeedOperator op = NULL;
  CeedInt layout[3], *rows = NULL, *cols = NULL;
  CeedSize count = 0;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 0, 1 << 20, 1 << 12, 0, CEED_STRIDES_BACKEND,
                                             &backend));
  ASSERT_FAILS(CeedElemRestrictionGetLLayout(backend, layout));
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 1, 4, 4, (CeedSize)1 << 62, (CeedInt[]){1, 4, 4},
                                             &sparse));
  PASSES(CreateIdentity(sparse, 4, &op));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(op, &count, &rows, &cols));
  CeedOperatorDestroy(&op);
  CeedElemRestrictionDestroy(&backend);
  CeedElemRestrictionDestroy(&sparse);
  return TEST_PASSED;
}

TEST(an_assembled_function_of_too_many_components_is_refused) {
  CeedElemRestriction rstr = NULL, assembled_rstr = NULL;
  CeedVector assembled = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  ASSERT_OK(
      CeedElemRestrictionCreateStrided(ceed, 1, 1, INT32_MAX, 1, (CeedInt[]){0, 0, 0}, &rstr));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Multiply, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", INT32_MAX, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "w", INT32_MAX, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", INT32_MAX, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "w", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedOperatorLinearAssembleQFunction(op, &assembled, &assembled_rstr, NULL));
  ASSERT_SAYS("9223372028264841218 components");  // 2 (2^31 - 1)^2
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

TEST(a_basis_of_more_points_than_the_rule_has_is_refused) {
  CeedBasis basis = NULL;

  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 20000, CEED_GAUSS, &basis));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 20000, 2, CEED_GAUSS, &basis));
  ASSERT(!basis);
  return TEST_PASSED;
}

TEST(a_second_active_field_of_another_length_is_refused) {
  CeedElemRestriction rstr = Line(N), longer = NULL;
  CeedVector w = Constant(N + 1, 1);
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, N, 1, 1, N + 1, (CeedInt[]){1, 1, 1}, &longer));
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, Multiply, NULL, &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedOperatorSetField(op, "w", longer, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "w", longer, CEED_BASIS_NONE, w));
  ASSERT_OK(CeedOperatorSetField(op, "v", longer, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorCheckReady(op));
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&longer);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

int main(int argc, char **argv) {
  static const Behaviour behaviours[] = {
      BEHAVIOUR(a_refused_apply_leaves_the_output_as_it_was),
      BEHAVIOUR(a_context_that_is_out_refuses_before_an_output_is_touched),
      BEHAVIOUR(an_output_that_is_data_as_well_is_refused_and_the_data_stay),
      BEHAVIOUR(one_output_that_is_out_keeps_the_others_as_they_were),
      BEHAVIOUR(a_refused_assembly_leaves_the_vector_as_it_was),
      BEHAVIOUR(a_part_without_a_diagonal_is_found_before_the_vector_is_touched),
      BEHAVIOUR(an_assembled_function_into_the_operators_own_data_is_refused),
      BEHAVIOUR(a_failed_assembly_leaves_the_handles_as_they_were),
      BEHAVIOUR(vectors_over_the_same_memory_are_refused),
      BEHAVIOUR(vectors_side_by_side_in_memory_are_not_refused),
      BEHAVIOUR(parts_of_an_operator_refuse_vectors_over_the_same_memory),
      BEHAVIOUR(an_operator_cannot_run_in_its_own_function),
      BEHAVIOUR(a_context_field_is_set_in_all_parts_or_in_none),
      BEHAVIOUR(an_element_that_no_memory_holds_is_refused),
      BEHAVIOUR(no_elements_of_any_size_need_no_memory),
      BEHAVIOUR(strides_and_blocks_that_no_number_counts_are_refused),
      BEHAVIOUR(an_assembled_function_of_too_many_components_is_refused),
      BEHAVIOUR(a_basis_of_more_points_than_the_rule_has_is_refused),
      BEHAVIOUR(a_second_active_field_of_another_length_is_refused),
  };
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
