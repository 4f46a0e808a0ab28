// A program as users of libCEED write it: <ceed.h>, no return codes looked at, errors that abort.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include <ceed.h>
#include <ceed/backend.h>
#include <ceed/ceed.h>
#include <ceed/types.h>

#include "testing.h"

#if !CEED_VERSION_GE(0, 12, 0)
#error "programs ask for version 0.12 or later"
#endif

// Each test makes its own context and drops it, as programs do.
static int a_program_makes_a_context_and_a_vector(void) {
  Ceed ceed;
  CeedVector x;
  CeedSize length;
  const char *resource;

  CeedInit("/cpu/self", &ceed);
  CeedVectorCreate(ceed, 10, &x);
  CeedGetResource(ceed, &resource);
  CeedVectorGetLength(x, &length);
  ASSERT(strstr(resource, "/cpu/self") == resource);
  ASSERT_EQ(length, 10);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  ASSERT(!x && !ceed);
  return TEST_PASSED;
}

static int a_program_uses_an_array_in_place_and_takes_it_back(void) {
  Ceed ceed;
  CeedVector x;
  CeedScalar a[10], *taken;
  const CeedScalar *b;

  CeedInit("/cpu/self/ref/serial", &ceed);
  CeedVectorCreate(ceed, 10, &x);
  for (CeedInt i = 0; i < 10; i++) a[i] = (CeedScalar)(10 + i);
  CeedVectorSetArray(x, CEED_MEM_HOST, CEED_USE_POINTER, a);
  CeedVectorScale(x, -0.5);
  CeedVectorGetArrayRead(x, CEED_MEM_HOST, &b);
  for (CeedInt i = 0; i < 10; i++) ASSERT_NUMBER(b[i], -(10 + i) / 2.0);
  CeedVectorRestoreArrayRead(x, &b);
  CeedVectorSyncArray(x, CEED_MEM_HOST);
  CeedVectorTakeArray(x, CEED_MEM_HOST, &taken);
  ASSERT_SAME(taken, a);
  ASSERT_NUMBER(a[9], -9.5);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static int a_program_computes(void) {
  Ceed ceed;
  CeedVector x, y, w;
  CeedScalar norm;

  CeedInit("/cpu/self", &ceed);
  CeedVectorCreate(ceed, 4, &x);
  CeedVectorCreate(ceed, 4, &y);
  CeedVectorCreate(ceed, 4, &w);
  CeedVectorSetValue(x, 2);
  CeedVectorSetValue(y, 3);
  CeedVectorAXPY(y, 2, x);           // 7
  CeedVectorAXPBY(y, 1, 2, x);       // 16
  CeedVectorPointwiseMult(w, x, y);  // 32
  CeedVectorReciprocal(x);           // 1/2
  CeedVectorPointwiseMult(w, w, x);  // 16
  CeedVectorNorm(w, CEED_NORM_1, &norm);
  ASSERT_NUMBER(norm, 64);
  CeedVectorNorm(w, CEED_NORM_2, &norm);
  ASSERT_NUMBER(norm, 32);
  CeedVectorNorm(w, CEED_NORM_MAX, &norm);
  ASSERT_NUMBER(norm, 16);
  CeedVectorSetValueStrided(w, 0, -1, 2, 1);
  CeedVectorFilter(w, 1);
  CeedVectorNorm(w, CEED_NORM_1, &norm);
  ASSERT_NUMBER(norm, 32);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  CeedVectorDestroy(&w);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static int a_program_watches_the_state(void) {
  Ceed ceed;
  CeedVector x;
  CeedScalar *a;
  uint64_t before, during, after;

  CeedInit("/cpu/self", &ceed);
  CeedVectorCreate(ceed, 4, &x);
  CeedVectorSetValue(x, 0);
  CeedVectorGetState(x, &before);
  CeedVectorGetArray(x, CEED_MEM_HOST, &a);
  CeedVectorGetState(x, &during);
  CeedVectorRestoreArray(x, &a);
  CeedVectorGetState(x, &after);
  ASSERT(before % 2 == 0 && during == before + 1 && after == before + 2);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static int a_program_integrates(void) {
  CeedScalar points[5], weights[5];
  long double sum = 0;

  CeedGaussQuadrature(5, points, weights);
  for (CeedInt i = 0; i < 5; i++) sum += weights[i] * expl(points[i]);
  ASSERT_CLOSE(sum, expl(1) - expl(-1), sizeof(CeedScalar) == 8 ? 1e-9 : 1e-5);
  CeedLobattoQuadrature(5, points, weights);
  ASSERT(points[0] == -1 && points[4] == 1);
  return TEST_PASSED;
}

static int a_program_prints(void) {
  Ceed ceed;
  CeedVector x;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  CeedInit("/cpu/self", &ceed);
  CeedVectorCreate(ceed, 2, &x);
  CeedVectorSetValue(x, 1.5);
  CeedVectorView(x, "%4.2f", stream);
  fclose(stream);
  ASSERT_TEXT(text, "CeedVector length 2\n1.50\n1.50\n");
  free(text);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static int helpers_for_sources_are_there(void) {
  CeedInt8 sign = -1;
  char text[64];

  snprintf(text, sizeof text, "%" CeedInt_FMT " %" CeedSize_FMT, (CeedInt)-7, (CeedSize)8);
  ASSERT_TEXT(text, "-7 8");
  ASSERT_EQ(CeedIntPow(3, 4), 81);
  ASSERT(sign < 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

static void ReadWithoutValues(void) {
  Ceed ceed;
  CeedVector x;
  const CeedScalar *a;

  CeedInit("/cpu/self", &ceed);
  CeedVectorCreate(ceed, 10, &x);
  CeedVectorGetArrayRead(x, CEED_MEM_HOST, &a);
}

static void AskForNoSuchResource(void) {
  Ceed ceed;

  CeedInit("/gpu/none", &ceed);
}

// The text is `file:line in func(): message`.
static int Aborts(void (*body)(void), const char *func, const char *message) {
  char text[2000];
  int status = TestChild(body, text, sizeof text);
  char *place;

  if (!WIFSIGNALED(status)) FAIL("status 0x%x, text \"%s\"", (unsigned)status, text);
  ASSERT_EQ(WTERMSIG(status), SIGABRT);
  ASSERT_HAS(text, func);
  ASSERT_HAS(text, message);
  place = strchr(text, ':');
  ASSERT(place && strtol(place + 1, &place, 10) > 0);
  ASSERT(!strncmp(place, " in ", 4));
  ASSERT_HAS(place, "(): ");
  return TEST_PASSED;
}

static int by_default_an_error_aborts_and_says_where(void) {
  return Aborts(ReadWithoutValues, "GetArrayRead", "values");
}

static int an_unknown_resource_aborts_and_lists_those_there_are(void) {
  return Aborts(AskForNoSuchResource, "Init", "/cpu/self/ref/serial");
}

static int a_null_vector_is_returned_and_not_aborted_on(void) {
  ASSERT_EQ(CeedVectorSetValue(NULL, 1), CEED_ERROR_INCOMPATIBLE);
  return TEST_PASSED;
}

static int the_environment_may_ask_for_stored_errors(void) {
  Ceed ceed = NULL;
  CeedVector x;
  const CeedScalar *a = NULL;
  const char *text;
  int code;

  setenv("CEED_ERROR_HANDLER", "store", 1);
  CeedInit("/cpu/self", &ceed);
  code = CeedInit("/gpu/none", &(Ceed){NULL});
  unsetenv("CEED_ERROR_HANDLER");
  ASSERT_EQ(code, CEED_ERROR_UNSUPPORTED);
  CeedVectorCreate(ceed, 10, &x);
  ASSERT_EQ(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &a), CEED_ERROR_INCOMPLETE);
  CeedGetErrorMessage(ceed, &text);
  ASSERT(strlen(text) > 10);
  CeedResetErrorMessage(ceed, &text);
  CeedGetErrorMessage(ceed, &text);
  ASSERT_TEXT(text, "No error message stored");
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static int the_environment_may_ask_for_an_exit(void) {
  char text[2000];
  int status;

  setenv("CEED_ERROR_HANDLER", "exit", 1);
  status = TestChild(ReadWithoutValues, text, sizeof text);
  unsetenv("CEED_ERROR_HANDLER");
  ASSERT(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), CEED_ERROR_INCOMPLETE);
  ASSERT_HAS(text, "(): ");
  return TEST_PASSED;
}

static int a_program_may_choose_its_handler(void) {
  Ceed ceed;
  CeedVector x;
  CeedScalar *a = NULL;

  CeedInit("/cpu/self", &ceed);
  CeedSetErrorHandler(ceed, CeedErrorStore);
  CeedVectorCreate(ceed, 3, &x);
  ASSERT_EQ(CeedVectorGetArray(x, CEED_MEM_HOST, &a), CEED_ERROR_INCOMPLETE);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

CEED_QFUNCTION(mass_setup)
(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *weights = in[1];
  const CeedScalar(*J)[1][CEED_Q_VLA] = (const CeedScalar(*)[1][CEED_Q_VLA])in[0];
  CeedScalar *qdata = out[0];

  (void)ctx;
  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) { qdata[i] = weights[i] * J[0][0][i]; }
  return 0;
}

CEED_QFUNCTION_HELPER CeedScalar Product(CeedScalar a, CeedScalar b) { return a * b; }

CEED_QFUNCTION(mass)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = Product(in[1][i], in[0][i]);
  return 0;
}

// The length of [0, 3] by a mass matrix on two elements.
static int a_program_integrates_with_functions_of_its_own(void) {
  Ceed ceed;
  CeedElemRestriction rstr, rstr_q;
  CeedBasis basis;
  CeedQFunction qf_setup, qf_mass;
  CeedOperator op_setup, op_mass;
  CeedVector x, qdata, u, v;
  CeedScalar nodes[] = {0, 1, 3}, sum = 0;
  CeedInt offsets[] = {0, 1, 1, 2};
  const CeedScalar *array;

  CeedInit("/cpu/self", &ceed);
  CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_USE_POINTER, offsets, &rstr);
  CeedElemRestrictionCreateStrided(ceed, 2, 4, 1, 8, CEED_STRIDES_BACKEND, &rstr_q);
  CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 4, CEED_GAUSS, &basis);
  CeedElemRestrictionCreateVector(rstr, &x, NULL);
  CeedVectorSetArray(x, CEED_MEM_HOST, CEED_USE_POINTER, nodes);
  CeedVectorCreate(ceed, 8, &qdata);

  CeedQFunctionCreateInterior(ceed, 1, mass_setup, mass_setup_loc, &qf_setup);
  CeedQFunctionAddInput(qf_setup, "dx", 1, CEED_EVAL_GRAD);
  CeedQFunctionAddInput(qf_setup, "weights", 1, CEED_EVAL_WEIGHT);
  CeedQFunctionAddOutput(qf_setup, "rho", 1, CEED_EVAL_NONE);
  CeedOperatorCreate(ceed, qf_setup, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op_setup);
  CeedOperatorSetField(op_setup, "dx", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op_setup, "weights", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
  CeedOperatorSetField(op_setup, "rho", rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedOperatorApply(op_setup, x, qdata, CEED_REQUEST_IMMEDIATE);

  CeedQFunctionCreateInterior(ceed, 1, mass, mass_loc, &qf_mass);
  CeedQFunctionAddInput(qf_mass, "rho", 1, CEED_EVAL_NONE);
  CeedQFunctionAddInput(qf_mass, "u", 1, CEED_EVAL_INTERP);
  CeedQFunctionAddOutput(qf_mass, "v", 1, CEED_EVAL_INTERP);
  CeedOperatorCreate(ceed, qf_mass, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op_mass);
  CeedOperatorSetField(op_mass, "rho", rstr_q, CEED_BASIS_NONE, qdata);
  CeedOperatorSetField(op_mass, "u", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op_mass, "v", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionCreateVector(rstr, &u, NULL);
  CeedElemRestrictionCreateVector(rstr, &v, NULL);
  CeedVectorSetValue(u, 1);
  CeedOperatorApply(op_mass, u, v, CEED_REQUEST_IMMEDIATE);
  CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array);
  for (int i = 0; i < 3; i++) sum += array[i];
  CeedVectorRestoreArrayRead(v, &array);
  ASSERT_CLOSE(sum, 3, 100 * UNIT_ROUNDOFF);

  CeedVectorDestroy(&x);
  CeedVectorDestroy(&qdata);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf_setup);
  CeedQFunctionDestroy(&qf_mass);
  CeedOperatorDestroy(&op_setup);
  CeedOperatorDestroy(&op_mass);
  CeedDestroy(&ceed);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_program_integrates_with_functions_of_its_own),
    BEHAVIOUR(a_program_makes_a_context_and_a_vector),
    BEHAVIOUR(a_program_uses_an_array_in_place_and_takes_it_back),
    BEHAVIOUR(a_program_computes),
    BEHAVIOUR(a_program_watches_the_state),
    BEHAVIOUR(a_program_integrates),
    BEHAVIOUR(a_program_prints),
    BEHAVIOUR(helpers_for_sources_are_there),
    BEHAVIOUR(by_default_an_error_aborts_and_says_where),
    BEHAVIOUR(an_unknown_resource_aborts_and_lists_those_there_are),
    BEHAVIOUR(a_null_vector_is_returned_and_not_aborted_on),
    BEHAVIOUR(the_environment_may_ask_for_stored_errors),
    BEHAVIOUR(the_environment_may_ask_for_an_exit),
    BEHAVIOUR(a_program_may_choose_its_handler),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), NULL, NULL);
}
