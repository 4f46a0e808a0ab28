// Operators called as programs of XLA call them: frames made by hand, with the structs of its FFI.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"
#include "xla_abi.h"

enum { INVALID_ARGUMENT = 3, FAILED_PRECONDITION = 9, UNIMPLEMENTED = 12, INTERNAL = 13 };
enum { BOOL = 1, INT32 = 4, INT64 = 5, REAL = sizeof(CeedScalar) == 8 ? 12 : 11 };

// ------------------------------------------------------------------------------------------------
// XLA, as far as a call sees it
// ------------------------------------------------------------------------------------------------

struct XLA_FFI_Error {
  int code;
  char text[1000];
};

static __thread XLA_FFI_Error error;

static XLA_FFI_Error *MakeError(XLA_FFI_Error_Create_Args *args) {
  error.code = args->errc;
  snprintf(error.text, sizeof error.text, "%s", args->message);
  return &error;
}

static const XLA_FFI_Api api = {.struct_size = sizeof api, .XLA_FFI_Error_Create = MakeError};

// One program, which keeps the state of its only call.
static void (*state_deleter)(void *);
static void *state;

static XLA_FFI_Error *RegisterType(XLA_FFI_Type_Register_Args *args) {
  state_deleter = args->type_info->deleter;
  args->type_id->type_id = 5;
  return NULL;
}

static bool refuses_states;

static XLA_FFI_Error *SetState(XLA_FFI_State_Args *args) {
  error.code = INTERNAL;
  if (refuses_states) return &error;
  state = args->type_id->type_id == 5 && args->stage == 0 ? args->state : NULL;
  return NULL;
}

static XLA_FFI_Error *GetState(XLA_FFI_State_Args *args) {
  args->state = args->type_id->type_id == 5 && args->stage == 0 ? state : NULL;
  return NULL;
}

static const XLA_FFI_Api newer_api = {.struct_size = sizeof newer_api,
                                      .api_version = {.minor_version = 3},
                                      .XLA_FFI_Error_Create = MakeError,
                                      .XLA_FFI_Type_Register = RegisterType,
                                      .XLA_FFI_State_Set = SetState,
                                      .XLA_FFI_State_Get = GetState};

typedef struct {
  int type;
  int64_t length;
  void *data;
} Array;

#define ARRAY(type, data) \
  (Array) { type, (int64_t)COUNT_OF(data), data }

// The code of the error, or 0. The first of the arrays is the result.
static int StageOf(const XLA_FFI_Api *xla, int stage, int64_t id, int id_type, int count,
                   const Array *arrays) {
  XLA_FFI_Buffer buffers[8];
  void *places[8], *attributes[1];
  int types[8] = {1, 1, 1, 1, 1, 1, 1, 1}, kinds[1] = {3};
  XLA_FFI_ByteSpan name = {"id", 2}, *names[1] = {&name};
  XLA_FFI_Scalar number = {id_type, &id};
  XLA_FFI_CallFrame frame = {.struct_size = sizeof frame, .api = xla, .stage = stage};
  XLA_FFI_Error *result;

  for (int i = 0; i < count; i++) {
    buffers[i] = (XLA_FFI_Buffer){.struct_size = sizeof buffers[i],
                                  .dtype = arrays[i].type,
                                  .data = arrays[i].data,
                                  .rank = 1};
    buffers[i].dims = (int64_t *)&arrays[i].length;
    places[i] = &buffers[i];
  }
  attributes[0] = &number;
  frame.rets = (XLA_FFI_Rets){sizeof frame.rets, NULL, 1, types, places};
  frame.args = (XLA_FFI_Args){sizeof frame.args, NULL, count - 1, types, places + 1};
  frame.attrs = (XLA_FFI_Attrs){sizeof frame.attrs, NULL, 1, kinds, names, attributes};
  result = (stage == 0 ? CeedXLAInstantiate : CeedXLACall)(&frame);
  return result ? result->code : 0;
}

static int CallOf(int64_t id, int id_type, int count, const Array *arrays) {
  return StageOf(&api, 3, id, id_type, count, arrays);
}

#define CALL(id, ...) \
  CallOf(id, INT64, COUNT_OF(((const Array[]){__VA_ARGS__})), (const Array[]){__VA_ARGS__})

// ------------------------------------------------------------------------------------------------
// An operator: out = (scale + shift) * w * in, and dout = -scale * w * in, its Jacobian by name
// ------------------------------------------------------------------------------------------------

typedef struct {
  double scale;
  int32_t shift;
  bool fails;
} Law;

static int Scale(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Law *law = ctx;

  if (law->fails) return CeedError(NULL, 77, "the law fails");
  for (CeedInt i = 0; i < Q; i++) {
    out[0][i] = (CeedScalar)(law->scale + law->shift) * in[1][i] * in[0][i];
  }
  return 0;
}

static int Jacobian(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Law *law = ctx;

  for (CeedInt i = 0; i < Q; i++) out[0][i] = -(CeedScalar)law->scale * in[0][i] * in[1][i];
  return 0;
}

static int MakeQFunction(CeedQFunctionUser f, const char *in, const char *out, CeedQFunction *qf) {
  Law law = {2, 1, false};
  CeedQFunctionContext ctx = NULL;

  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, f, "test_xla.c:f", qf));
  ASSERT_OK(CeedQFunctionAddInput(*qf, in, 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(*qf, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(*qf, out, 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof law, &law));
  ASSERT_OK(CeedQFunctionContextRegisterDouble(ctx, "scale", offsetof(Law, scale), 1, ""));
  ASSERT_OK(CeedQFunctionContextRegisterInt32(ctx, "shift", offsetof(Law, shift), 1, ""));
  ASSERT_OK(CeedQFunctionContextRegisterBoolean(ctx, "fails", offsetof(Law, fails), 1, ""));
  ASSERT_OK(CeedQFunctionSetContext(*qf, ctx));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

// `w` is 1, 2, 3. Without a QFunction of its own, the transpose is that of the Jacobian.
static int MakeOperatorOf(bool has_transpose, CeedOperator *op, CeedVector *w) {
  CeedQFunction qf = NULL, dqf = NULL, dqfT = NULL;
  CeedElemRestriction rstr = NULL;

  PASSES(MakeQFunction(Scale, "u", "v", &qf));
  PASSES(MakeQFunction(Jacobian, "u", "v", &dqf));
  if (has_transpose) PASSES(MakeQFunction(Jacobian, "v", "u", &dqfT));
  *w = VectorOf(3, (CeedScalar[]){1, 2, 3});
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 3, 1, 1, 3, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, dqf, dqfT, op));
  ASSERT_OK(CeedOperatorSetField(*op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "w", rstr, CEED_BASIS_NONE, *w));
  ASSERT_OK(CeedOperatorSetField(*op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedQFunctionDestroy(&qf);
  CeedQFunctionDestroy(&dqf);
  CeedQFunctionDestroy(&dqfT);
  CeedElemRestrictionDestroy(&rstr);
  return TEST_PASSED;
}

static int MakeOperator(CeedOperator *op, CeedVector *w) { return MakeOperatorOf(true, op, w); }

static int Open(CeedXLAForm form, int count, const char **names, int64_t *id) {
  CeedOperator op = NULL;
  CeedVector w = NULL;

  PASSES(MakeOperator(&op, &w));
  ASSERT_OK(CeedOperatorXLAOpen(op, form, count, names, id));
  ASSERT_OK(CeedOperatorDestroy(&op));  // the table has a reference of its own
  ASSERT_OK(CeedVectorDestroy(&w));
  return TEST_PASSED;
}

#define ASSERT_ARRAY(array, a, b, c) \
  ASSERT((array)[0] == (a) && (array)[1] == (b) && (array)[2] == (c))

// ------------------------------------------------------------------------------------------------
// Calls
// ------------------------------------------------------------------------------------------------

TEST(a_call_applies_the_operator_to_the_arrays_of_the_program) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  int64_t id;

  PASSES(Open(CEED_XLA_APPLY, 0, NULL, &id));
  for (int again = 0; again < 2; again++) {
    ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
    ASSERT_ARRAY(v, 3, 6, 18);
  }
  ASSERT_ARRAY(u, 1, 1, 2);
  ASSERT_OK(CeedXLAClose(id));
  return TEST_PASSED;
}

TEST(jacobian_and_transpose_are_other_ids) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  int64_t jacobian, transpose;

  PASSES(Open(CEED_XLA_JACOBIAN, 0, NULL, &jacobian));
  PASSES(Open(CEED_XLA_TRANSPOSE, 0, NULL, &transpose));
  ASSERT_EQ(CALL(jacobian, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
  ASSERT_ARRAY(v, -2, -4, -12);
  v[0] = v[1] = v[2] = 0;
  ASSERT_EQ(CALL(transpose, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
  ASSERT_ARRAY(v, -2, -4, -12);
  ASSERT_OK(CeedXLAClose(jacobian));
  ASSERT_OK(CeedXLAClose(transpose));
  return TEST_PASSED;
}

TEST(fields_and_values_of_the_context_are_operands_by_name) {
  const char *names[] = {"shift", "w", "scale", "fails"};
  CeedScalar u[] = {1, 1, 2}, v[3], w[] = {1, 0, 1}, scale[] = {10};
  int32_t shift[] = {5};
  bool fails[] = {false};
  int64_t id;

  PASSES(Open(CEED_XLA_APPLY, 4, names, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(INT32, shift), ARRAY(REAL, w),
                 ARRAY(REAL, scale), ARRAY(BOOL, fails)),
            0);
  ASSERT_ARRAY(v, 15, 0, 30);
  fails[0] = true;
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(INT32, shift), ARRAY(REAL, w),
                 ARRAY(REAL, scale), ARRAY(BOOL, fails)),
            INTERNAL);
  ASSERT_HAS(error.text, "the law fails");
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(REAL, scale), ARRAY(REAL, w),
                 ARRAY(REAL, scale), ARRAY(BOOL, fails)),
            INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "\"shift\"");
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(INT32, shift), ARRAY(REAL, w),
                 ARRAY(REAL, w), ARRAY(BOOL, fails)),
            INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "\"scale\" has 3 entries, not 1");
  fails[0] = false;
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(INT32, shift), ARRAY(REAL, w),
                 ARRAY(REAL, scale), ARRAY(BOOL, fails)),
            0);
  ASSERT_OK(CeedXLAClose(id));
  return TEST_PASSED;
}

TEST(values_of_the_context_are_those_of_the_form) {
  const CeedXLAForm forms[] = {CEED_XLA_JACOBIAN, CEED_XLA_TRANSPOSE, CEED_XLA_TRANSPOSE};
  const char *names[] = {"scale", "w"};
  CeedScalar u[] = {1, 1, 2}, v[3], scale[] = {10}, w[] = {1, 0, 1};

  for (int i = 0; i < COUNT_OF(forms); i++) {
    CeedOperator op = NULL;
    CeedVector own = NULL;
    int64_t id;
    PASSES(MakeOperatorOf(i < 2, &op, &own));
    ASSERT_OK(CeedOperatorXLAOpen(op, forms[i], 2, names, &id));
    ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(REAL, scale), ARRAY(REAL, w)), 0);
    ASSERT_ARRAY(v, -10, 0, -20);
    ASSERT_OK(CeedXLAClose(id));
    CeedOperatorDestroy(&op);
    CeedVectorDestroy(&own);
  }
  return TEST_PASSED;
}

TEST(a_field_that_is_an_operand_has_no_values_between_calls) {
  const char *names[] = {"w"};
  CeedScalar u[] = {1, 1, 2}, v[3], w[] = {1, 0, 1};
  const CeedScalar *array;
  CeedOperator op = NULL;
  CeedVector vec = NULL;
  int64_t id;

  PASSES(MakeOperator(&op, &vec));
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 1, names, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(REAL, w)), 0);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(REAL, w)), FAILED_PRECONDITION);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u), ARRAY(REAL, w)), 0);
  ASSERT_OK(CeedXLAClose(id));
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&vec);
  return TEST_PASSED;
}

TEST(arrays_that_do_not_fit_are_refused) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  int64_t id;

  PASSES(Open(CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), (Array){REAL, 2, u}), INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "\"the active input\" has 2 entries, not 3");
  ASSERT_EQ(CALL(id, (Array){REAL, 4, v}, ARRAY(REAL, u)), INVALID_ARGUMENT);
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(23 - REAL, u)), INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "is of float");
  ASSERT_EQ(CALL(id, ARRAY(REAL, v)), INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "0 operands and 1 results, not 1 and 1");
  ASSERT_EQ(CallOf(id, INT32, 2, (Array[]){ARRAY(REAL, v), ARRAY(REAL, u)}), INVALID_ARGUMENT);
  ASSERT_HAS(error.text, "\"id\" of type int64");
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
  ASSERT_OK(CeedXLAClose(id));
  return TEST_PASSED;
}

TEST(a_stale_id_is_an_error_and_ids_are_never_used_again) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  int64_t id[20];

  for (int i = 0; i < 20; i++) {
    PASSES(Open(CEED_XLA_APPLY, 0, NULL, &id[i]));
    ASSERT(i == 0 || id[i] > id[i - 1]);
    if (i % 3 == 0) ASSERT_OK(CeedXLAClose(id[i]));
  }
  for (int i = 0; i < 20; i++) {
    int code = CALL(id[i], ARRAY(REAL, v), ARRAY(REAL, u));
    ASSERT_EQ(code, i % 3 == 0 ? FAILED_PRECONDITION : 0);
    if (i % 3) ASSERT_OK(CeedXLAClose(id[i]));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedXLAClose(id[i]));
  }
  ASSERT_EQ(CALL(id[7], ARRAY(REAL, v), ARRAY(REAL, u)), FAILED_PRECONDITION);
  ASSERT_HAS(error.text, "trace the function again");
  return TEST_PASSED;
}

TEST(a_program_keeps_what_it_calls) {
  XLA_FFI_Metadata metadata = {.struct_size = sizeof metadata};
  XLA_FFI_Metadata_Extension extension = {{sizeof extension, 1, NULL}, &metadata};
  XLA_FFI_CallFrame frame = {
      .struct_size = sizeof frame, .extension_start = &extension.extension_base, .api = &newer_api};
  CeedScalar u[] = {1, 1, 2}, v[3];
  Array arrays[] = {ARRAY(REAL, v), ARRAY(REAL, u)};
  int64_t id;

  PASSES(Open(CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT(!CeedXLAInstantiate(&frame));
  ASSERT_EQ(metadata.state_type_id.type_id, 5);
  ASSERT_EQ(StageOf(&newer_api, 0, id, INT64, 2, arrays), 0);
  ASSERT_OK(CeedXLAClose(id));
  ASSERT_EQ(StageOf(&newer_api, 3, id, INT64, 2, arrays), 0);
  ASSERT_ARRAY(v, 3, 6, 18);
  state_deleter(state);
  ASSERT_EQ(StageOf(&newer_api, 0, id, INT64, 2, arrays), FAILED_PRECONDITION);
  ASSERT_EQ(StageOf(&newer_api, 0, id, INT32, 2, arrays), INVALID_ARGUMENT);
  return TEST_PASSED;
}

static bool is_dropped;

static int Drop(void *data) {
  (void)data;
  is_dropped = true;
  return 0;
}

TEST(a_program_that_gets_no_state_keeps_nothing) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  Array arrays[] = {ARRAY(REAL, v), ARRAY(REAL, u)};
  CeedQFunctionContext ctx = NULL;
  CeedOperator op = NULL;
  CeedVector w = NULL;
  int64_t id;

  PASSES(MakeOperator(&op, &w));
  ASSERT_OK(CeedOperatorGetContext(op, &ctx));
  ASSERT_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, Drop));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  refuses_states = true;
  ASSERT_EQ(StageOf(&newer_api, 0, id, INT64, 2, arrays), INTERNAL);
  refuses_states = false;
  ASSERT_OK(CeedXLAClose(id));
  CeedVectorDestroy(&w);
  ASSERT_OK(CeedOperatorDestroy(&op));
  ASSERT(is_dropped);
  return TEST_PASSED;
}

TEST(the_version_is_told_and_other_stages_do_nothing) {
  XLA_FFI_Metadata metadata = {.struct_size = sizeof metadata};
  XLA_FFI_Metadata_Extension extension = {{sizeof extension, 1, NULL}, &metadata};
  XLA_FFI_Extension_Base other = {sizeof other, 2, &extension.extension_base};
  XLA_FFI_CallFrame frame = {.struct_size = sizeof frame, .extension_start = &other, .api = &api};

  for (int stage = 0; stage < 2; stage++) {
    metadata.api_version.major_version = metadata.api_version.minor_version = 9;
    ASSERT(!(stage ? CeedXLACall : CeedXLAInstantiate)(&frame));
    ASSERT_EQ(metadata.api_version.major_version, 0);
    ASSERT_EQ(metadata.api_version.minor_version, 1);
    ASSERT_EQ(metadata.state_type_id.type_id, 0);
  }
  frame.extension_start = NULL;
  ASSERT(!CeedXLAInstantiate(&frame));  // an older XLA keeps no state
  frame.stage = 2;
  ASSERT(!CeedXLACall(&frame));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What can't be opened
// ------------------------------------------------------------------------------------------------

static int Refuses(CeedOperator op, CeedXLAForm form, const char *name, int code) {
  const char *names[] = {name};
  int64_t id = 5;

  ASSERT_CODE(code, CeedOperatorXLAOpen(op, form, 1, names, &id));
  ASSERT_EQ(id, 5);
  return TEST_PASSED;
}

TEST(names_that_there_are_not_are_told) {
  CeedOperator op = NULL;
  CeedVector w = NULL;
  int64_t id;

  PASSES(MakeOperator(&op, &w));
  PASSES(Refuses(op, CEED_XLA_APPLY, "x", CEED_ERROR_INCOMPATIBLE));
  ASSERT_SAYS("no field and no context field \"x\"");
  PASSES(Refuses(op, CEED_XLA_APPLY, "u", CEED_ERROR_INCOMPATIBLE));
  ASSERT_SAYS("\"u\" has no vector of its own");
  PASSES(Refuses(op, CEED_XLA_APPLY, NULL, CEED_ERROR_INCOMPATIBLE));
  PASSES(Refuses(op, (CeedXLAForm)3, "w", CEED_ERROR_INCOMPATIBLE));
  for (int i = 0; i < 2; i++) {
    const char *names[] = {i ? "w" : "scale", i ? "w" : "scale"};
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 2, names, &id));
    ASSERT_SAYS("named once");
  }
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 1, NULL, &id));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedOperatorXLAOpen(NULL, CEED_XLA_APPLY, 0, NULL, &id));
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

static int Routine(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  (void)ctx;
  (void)Q;
  return CeedVectorCopy(in[0], out[0]);
}

TEST(a_transpose_by_a_jacobian_that_is_called_back_is_refused) {
  CeedQFunction qf = NULL, dqf = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator op = NULL;
  int64_t id;

  ASSERT_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  ASSERT_OK(CeedQFunctionCreateShell(ceed, Routine, "laws.py:slope", &dqf));
  ASSERT_OK(CeedQFunctionAddInput(dqf, "input", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(dqf, "output", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 3, 1, 1, 3, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, dqf, NULL, &op));
  ASSERT_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorXLAOpen(op, CEED_XLA_TRANSPOSE, 0, NULL, &id));
  ASSERT_SAYS("laws.py:slope");
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_OK(CeedXLAClose(id));
  CeedQFunctionDestroy(&qf);
  CeedQFunctionDestroy(&dqf);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

TEST(a_qfunction_that_is_called_back_is_refused_with_the_remedy) {
  CeedQFunction qf = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator op = NULL;
  int64_t id;

  ASSERT_OK(CeedElemRestrictionCreateStrided(ceed, 3, 1, 1, 3, (CeedInt[]){1, 1, 1}, &rstr));
  ASSERT_OK(CeedQFunctionCreateShell(ceed, Routine, "laws.py:law", &qf));
  ASSERT_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_OK(CeedOperatorSetField(op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_SAYS("laws.py:law");
  ASSERT_SAYS("make it native");
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedOperatorXLAOpen(op, CEED_XLA_JACOBIAN, 0, NULL, &id));
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

static int Sum(void *ctx, CeedVector in, CeedVector out) {
  (void)ctx;
  return CeedVectorSetValue(out, Entry(in, 0) + Entry(in, 1));
}

static int Spread(void *ctx, CeedVector in, CeedVector out) {
  (void)ctx;
  return CeedVectorSetValue(out, Entry(in, 0));
}

TEST(a_routine_is_called_with_its_transpose_where_it_has_one) {
  CeedScalar u[] = {1, 2}, v[1];
  CeedOperator op = NULL;
  int64_t id;

  ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 1, Sum, Spread, NULL, &op));
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
  ASSERT_NUMBER(v[0], 3);
  ASSERT_OK(CeedXLAClose(id));
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_TRANSPOSE, 0, NULL, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, u), ARRAY(REAL, v)), 0);
  ASSERT(u[0] == 3 && u[1] == 3);
  ASSERT_OK(CeedXLAClose(id));
  CeedOperatorDestroy(&op);
  ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 1, Sum, NULL, NULL, &op));
  PASSES(Refuses(op, CEED_XLA_TRANSPOSE, "w", CEED_ERROR_UNSUPPORTED));
  PASSES(Refuses(op, CEED_XLA_JACOBIAN, "w", CEED_ERROR_UNSUPPORTED));
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

static CeedScalar own[2] = {7, 8};

static int Borrow(void *ctx, CeedVector in, CeedVector out) {
  (void)ctx;
  (void)in;
  return CeedVectorSetArray(out, CEED_MEM_HOST, CEED_USE_POINTER, own);
}

static int Own(void *ctx, CeedVector in, CeedVector out) {
  CeedScalar *array = malloc(sizeof own);

  (void)ctx;
  (void)in;
  memcpy(array, own, sizeof own);
  return CeedVectorSetArray(out, CEED_MEM_HOST, CEED_OWN_POINTER, array);
}

TEST(memory_that_a_routine_gives_its_output_is_copied_to_the_result) {
  CeedOperatorShellUser routines[] = {Borrow, Own};

  for (int i = 0; i < 2; i++) {
    CeedScalar u[] = {1, 2}, v[] = {-1, -1};
    CeedOperator op = NULL;
    int64_t id;
    ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 2, routines[i], NULL, NULL, &op));
    ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
    for (int again = 0; again < 2; again++) {
      v[0] = v[1] = -1;
      ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
      ASSERT(v[0] == 7 && v[1] == 8);
    }
    ASSERT(own[0] == 7 && own[1] == 8);
    ASSERT_OK(CeedXLAClose(id));
    CeedOperatorDestroy(&op);
  }
  return TEST_PASSED;
}

static int Nothing(void *ctx, CeedVector in, CeedVector out) {
  (void)ctx;
  (void)in;
  (void)out;
  return 0;
}

TEST(a_routine_that_writes_no_output_is_an_error) {
  CeedScalar u[] = {1, 2}, v[2];
  CeedOperator op = NULL;
  int64_t id;

  ASSERT_OK(CeedOperatorCreateShell(ceed, 2, 2, Nothing, NULL, NULL, &op));
  ASSERT_OK(CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id));
  for (int again = 0; again < 2; again++) {
    ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), FAILED_PRECONDITION);
    ASSERT_HAS(error.text, "has written no output");
  }
  ASSERT_OK(CeedXLAClose(id));
  CeedOperatorDestroy(&op);
  return TEST_PASSED;
}

TEST(a_composite_operator_is_called_as_a_whole) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  CeedOperator op = NULL, sum = NULL;
  CeedVector w = NULL;
  int64_t id;

  PASSES(MakeOperator(&op, &w));
  ASSERT_OK(CeedOperatorCreateComposite(ceed, &sum));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  ASSERT_OK(CeedOperatorCompositeAddSub(sum, op));
  ASSERT_OK(CeedOperatorXLAOpen(sum, CEED_XLA_APPLY, 0, NULL, &id));
  ASSERT_EQ(CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)), 0);
  ASSERT_ARRAY(v, 6, 12, 36);
  ASSERT_OK(CeedXLAClose(id));
  CeedOperatorDestroy(&sum);
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Threads
// ------------------------------------------------------------------------------------------------

static void *CallOften(void *argument) {
  const int64_t *id = argument;
  size_t wrong = 0;

  for (int i = 0; i < 200; i++) {
    CeedScalar x = (CeedScalar)i, u[] = {x, x, x}, v[3] = {-1, -1, -1};
    wrong += CALL(*id, ARRAY(REAL, v), ARRAY(REAL, u)) || v[2] != 9 * x;
  }
  return (void *)wrong;
}

TEST(calls_of_threads_take_turns) {
  pthread_t threads[8];
  int64_t id;

  PASSES(Open(CEED_XLA_APPLY, 0, NULL, &id));
  for (int i = 0; i < 8; i++) ASSERT(!pthread_create(&threads[i], NULL, CallOften, &id));
  for (int i = 0; i < 8; i++) {
    void *wrong;
    ASSERT(!pthread_join(threads[i], &wrong));
    ASSERT(!wrong);
  }
  ASSERT_OK(CeedXLAClose(id));
  return TEST_PASSED;
}

static void *OpenAndClose(void *argument) {
  CeedScalar u[] = {1, 1, 2}, v[3];
  CeedOperator op = argument;
  size_t wrong = 0;

  for (int i = 0; i < 100; i++) {
    int64_t id;
    wrong += CeedOperatorXLAOpen(op, CEED_XLA_APPLY, 0, NULL, &id) != 0;
    wrong += CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)) || v[2] != 18;
    wrong += CeedXLAClose(id) != 0;
    wrong += CALL(id, ARRAY(REAL, v), ARRAY(REAL, u)) != FAILED_PRECONDITION;
  }
  return (void *)wrong;
}

TEST(threads_open_and_close_ids_at_any_time) {
  pthread_t threads[8];
  CeedOperator op = NULL;
  CeedVector w = NULL;

  PASSES(MakeOperator(&op, &w));
  for (int i = 0; i < 8; i++) ASSERT(!pthread_create(&threads[i], NULL, OpenAndClose, op));
  for (int i = 0; i < 8; i++) {
    void *wrong;
    ASSERT(!pthread_join(threads[i], &wrong));
    ASSERT(!wrong);
  }
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&w);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_call_applies_the_operator_to_the_arrays_of_the_program),
    BEHAVIOUR(jacobian_and_transpose_are_other_ids),
    BEHAVIOUR(fields_and_values_of_the_context_are_operands_by_name),
    BEHAVIOUR(values_of_the_context_are_those_of_the_form),
    BEHAVIOUR(a_field_that_is_an_operand_has_no_values_between_calls),
    BEHAVIOUR(arrays_that_do_not_fit_are_refused),
    BEHAVIOUR(a_stale_id_is_an_error_and_ids_are_never_used_again),
    BEHAVIOUR(a_program_keeps_what_it_calls),
    BEHAVIOUR(a_program_that_gets_no_state_keeps_nothing),
    BEHAVIOUR(the_version_is_told_and_other_stages_do_nothing),
    BEHAVIOUR(names_that_there_are_not_are_told),
    BEHAVIOUR(a_qfunction_that_is_called_back_is_refused_with_the_remedy),
    BEHAVIOUR(a_transpose_by_a_jacobian_that_is_called_back_is_refused),
    BEHAVIOUR(a_routine_is_called_with_its_transpose_where_it_has_one),
    BEHAVIOUR(memory_that_a_routine_gives_its_output_is_copied_to_the_result),
    BEHAVIOUR(a_routine_that_writes_no_output_is_an_error),
    BEHAVIOUR(a_composite_operator_is_called_as_a_whole),
    BEHAVIOUR(calls_of_threads_take_turns),
    BEHAVIOUR(threads_open_and_close_ids_at_any_time),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
