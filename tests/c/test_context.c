// Contexts of QFunctions: data in every copy mode, who has them, values by name.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

typedef struct {
  double viscosity[2];
  int32_t steps;
  bool is_on;
} Physics;

static Physics physics;

static CeedQFunctionContext Context(CeedCopyMode mode, void *data) {
  CeedQFunctionContext ctx = NULL;

  if (CeedQFunctionContextCreate(ceed, &ctx)) return NULL;
  if (CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, mode, sizeof physics, data)) {
    CeedQFunctionContextDestroy(&ctx);
  }
  return ctx;
}

static CeedQFunctionContext Registered(void) {
  CeedQFunctionContext ctx;

  physics = (Physics){{1.5, 2.5}, 7, true};
  ctx = Context(CEED_COPY_VALUES, &physics);
  CeedQFunctionContextRegisterDouble(ctx, "viscosity", offsetof(Physics, viscosity), 2,
                                     "of fluids");
  CeedQFunctionContextRegisterInt32(ctx, "steps", offsetof(Physics, steps), 1, NULL);
  CeedQFunctionContextRegisterBoolean(ctx, "is_on", offsetof(Physics, is_on), 1, "a switch");
  return ctx;
}

TEST(copied_data_are_apart) {
  Physics mine = {{1, 2}, 3, true}, *data = NULL;
  CeedQFunctionContext ctx = Context(CEED_COPY_VALUES, &mine);
  size_t size;

  mine.steps = 9;
  ASSERT_OK(CeedQFunctionContextGetContextSize(ctx, &size));
  ASSERT_EQ(size, sizeof mine);
  ASSERT_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  ASSERT(data != &mine);
  ASSERT_EQ(data->steps, 3);
  ASSERT_OK(CeedQFunctionContextRestoreData(ctx, &data));
  ASSERT(!data);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &data));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(borrowed_data_are_used_in_place_and_taken_back) {
  Physics mine = {{1, 2}, 3, true}, *data = NULL;
  CeedQFunctionContext ctx = Context(CEED_USE_POINTER, &mine);

  ASSERT_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  ASSERT_SAME(data, &mine);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, NULL));
  ASSERT_OK(CeedQFunctionContextRestoreData(ctx, &data));
  ASSERT_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, &data));
  ASSERT_SAME(data, &mine);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(taken_data_are_freed_once) {
  CeedQFunctionContext ctx = Context(CEED_OWN_POINTER, calloc(1, sizeof(Physics)));

  ASSERT(ctx);
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, 8, calloc(1, 8)));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

static int destroyed;

static int CountDestruction(void *data) {
  ASSERT_SAME(data, &physics);
  destroyed++;
  return 0;
}

TEST(the_destroy_function_runs_once_when_data_are_let_go_of) {
  CeedQFunctionContext ctx = Context(CEED_USE_POINTER, &physics);

  destroyed = 0;
  ASSERT_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, CountDestruction));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_EQ(destroyed, 1);
  ctx = Context(CEED_USE_POINTER, &physics);
  ASSERT_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, CountDestruction));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 1, "x"));
  ASSERT_EQ(destroyed, 2);
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_EQ(destroyed, 2);
  ctx = Context(CEED_USE_POINTER, &physics);
  ASSERT_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, CountDestruction));
  ASSERT_OK(CeedQFunctionContextTakeData(ctx, CEED_MEM_HOST, NULL));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_EQ(destroyed, 2);
  return TEST_PASSED;
}

TEST(data_that_the_context_would_let_go_of_are_not_set_again) {
  double *mine = calloc(2, sizeof *mine), *data = NULL;
  CeedQFunctionContext ctx = NULL;

  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, 16, mine));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_OWN_POINTER, 16, mine));
  ASSERT_SAYS("the context's own");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, 8, mine));
  mine[0] = 7;
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 16, mine));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data));
  ASSERT_NUMBER(data[0], 7);
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &data));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(data_that_the_destroy_function_would_be_given_are_not_set_again) {
  CeedQFunctionContext ctx = Context(CEED_USE_POINTER, &physics);

  destroyed = 0;
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, 8, &physics));
  ASSERT_OK(CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, CountDestruction));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_USE_POINTER, 8, &physics));
  ASSERT_EQ(destroyed, 0);
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_EQ(destroyed, 1);
  return TEST_PASSED;
}

TEST(one_writes_or_many_read) {
  CeedQFunctionContext ctx = Context(CEED_COPY_VALUES, &physics);
  void *a = NULL, *b = NULL, *c = NULL;

  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &a));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &b));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &c));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextRestoreData(ctx, &a));
  ASSERT_CODE(CEED_ERROR_ACCESS,
              CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 1, "x"));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &a));
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &b));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextRestoreDataRead(ctx, &b));
  ASSERT_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &c));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &a));
  b = &physics;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionContextRestoreData(ctx, &b));
  ASSERT_OK(CeedQFunctionContextRestoreData(ctx, &c));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(registered_values_are_set_by_label) {
  CeedQFunctionContext ctx = Registered();
  CeedContextFieldLabel viscosity, steps, is_on, none;
  const Physics *data = NULL;

  ASSERT_OK(CeedQFunctionContextGetFieldLabel(ctx, "viscosity", &viscosity));
  ASSERT_OK(CeedQFunctionContextGetFieldLabel(ctx, "steps", &steps));
  ASSERT_OK(CeedQFunctionContextGetFieldLabel(ctx, "is_on", &is_on));
  ASSERT_OK(CeedQFunctionContextGetFieldLabel(ctx, "what", &none));
  ASSERT(!none);
  ASSERT_OK(CeedQFunctionContextSetDouble(ctx, viscosity, (double[]){-1, -2}));
  ASSERT_OK(CeedQFunctionContextSetInt32(ctx, steps, (int32_t[]){INT32_MIN}));
  ASSERT_OK(CeedQFunctionContextSetBoolean(ctx, is_on, (bool[]){false}));
  ASSERT_OK(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data));
  ASSERT_NUMBER(data->viscosity[0], -1);
  ASSERT_NUMBER(data->viscosity[1], -2);
  ASSERT_EQ(data->steps, INT32_MIN);
  ASSERT(!data->is_on);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedQFunctionContextSetInt32(ctx, steps, (int32_t[]){1}));
  ASSERT_OK(CeedQFunctionContextRestoreDataRead(ctx, &data));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedQFunctionContextSetInt32(ctx, viscosity, (int32_t[]){1}));
  ASSERT_SAYS("double, not int32");
  ASSERT_FAILS(CeedQFunctionContextSetInt32(ctx, steps, NULL));
  ASSERT_FAILS(CeedQFunctionContextSetInt32(ctx, NULL, (int32_t[]){1}));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(labels_tell_what_they_stand_for) {
  CeedQFunctionContext ctx = Registered();
  const CeedContextFieldLabel *labels;
  CeedInt count;
  const char *name, *description;
  size_t offset, num_values;
  CeedContextFieldType type;

  ASSERT_OK(CeedQFunctionContextGetAllFieldLabels(ctx, &labels, &count));
  ASSERT_EQ(count, 3);
  ASSERT_OK(CeedContextFieldLabelGetDescription(labels[0], &name, &offset, &num_values,
                                                &description, &type));
  ASSERT_TEXT(name, "viscosity");
  ASSERT_TEXT(description, "of fluids");
  ASSERT_EQ(num_values, 2);
  ASSERT_EQ(type, CEED_CONTEXT_FIELD_DOUBLE);
  ASSERT_OK(CeedContextFieldLabelGetDescription(labels[2], NULL, &offset, NULL, NULL, &type));
  ASSERT_EQ(offset, offsetof(Physics, is_on));
  ASSERT_EQ(type, CEED_CONTEXT_FIELD_BOOL);
  ASSERT_VIEW(CeedQFunctionContextView, ctx, "viscosity: 2 of double", "steps: 1 of int32");
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(fields_that_do_not_fit_are_refused) {
  CeedQFunctionContext ctx = NULL;

  ASSERT_OK(CeedQFunctionContextCreate(ceed, &ctx));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedQFunctionContextRegisterDouble(ctx, "x", 0, 1, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE,
              CeedQFunctionContextSetDataDestroy(ctx, CEED_MEM_HOST, CountDestruction));
  ASSERT_OK(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 16, &physics));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionContextRegisterDouble(ctx, "x", 9, 1, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedQFunctionContextRegisterDouble(ctx, "x", SIZE_MAX, 1, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedQFunctionContextRegisterDouble(ctx, "x", 0, SIZE_MAX / 4, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedQFunctionContextRegisterDouble(ctx, "x", 0, SIZE_MAX / 8 + 2, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedQFunctionContextRegisterDouble(ctx, "x", 0, 0, NULL));
  ASSERT_OK(CeedQFunctionContextRegisterDouble(ctx, "x", 8, 1, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedQFunctionContextRegisterInt32(ctx, "x", 0, 1, NULL));
  ASSERT_SAYS("already");
  ASSERT_FAILS(CeedQFunctionContextRegisterInt32(ctx, NULL, 0, 1, NULL));
  ASSERT_FAILS(CeedQFunctionContextRegisterInt32(ctx, "", 0, 1, NULL));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 15, &physics));
  ASSERT_SAYS("\"x\"");
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

TEST(wrong_arguments_are_refused) {
  CeedQFunctionContext ctx = Context(CEED_COPY_VALUES, &physics), none = NULL;
  void *data = NULL;

  ASSERT_FAILS(CeedQFunctionContextCreate(NULL, &none));
  ASSERT_FAILS(CeedQFunctionContextCreate(ceed, NULL));
  ASSERT_FAILS(CeedQFunctionContextSetData(NULL, CEED_MEM_HOST, CEED_COPY_VALUES, 1, "x"));
  ASSERT_FAILS(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, 1, NULL));
  ASSERT_FAILS(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, (CeedCopyMode)5, 1, "x"));
  ASSERT_CODE(CEED_ERROR_BACKEND,
              CeedQFunctionContextSetData(ctx, CEED_MEM_DEVICE, CEED_COPY_VALUES, 1, "x"));
  ASSERT_FAILS(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, NULL));
  ASSERT_FAILS(CeedQFunctionContextGetData((CeedQFunctionContext)ceed, CEED_MEM_HOST, &data));
  ASSERT_FAILS(CeedQFunctionContextView(ctx, NULL));
  ASSERT_OK(CeedQFunctionContextDestroy(NULL));
  ASSERT_OK(CeedQFunctionContextDestroy(&none));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  ASSERT_OK(CeedQFunctionContextDestroy(&ctx));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(copied_data_are_apart),
    BEHAVIOUR(borrowed_data_are_used_in_place_and_taken_back),
    BEHAVIOUR(taken_data_are_freed_once),
    BEHAVIOUR(the_destroy_function_runs_once_when_data_are_let_go_of),
    BEHAVIOUR(data_that_the_context_would_let_go_of_are_not_set_again),
    BEHAVIOUR(data_that_the_destroy_function_would_be_given_are_not_set_again),
    BEHAVIOUR(one_writes_or_many_read),
    BEHAVIOUR(registered_values_are_set_by_label),
    BEHAVIOUR(labels_tell_what_they_stand_for),
    BEHAVIOUR(fields_that_do_not_fit_are_refused),
    BEHAVIOUR(wrong_arguments_are_refused),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
