// Calls of Python that never reach it: bad arguments, and no Python to be had.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

static int bad_vectors_are_errors_before_python_is_looked_for(void) {
  CeedVector x = Iota(2), none = NULL;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedPythonCall(NULL, "m:f", 0, NULL, 0, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedPythonCall(ceed, NULL, 0, NULL, 0, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedPythonCall(ceed, "m:f", 1, &none, 0, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedPythonCall(ceed, "m:f", 1, &x, 1, &none));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedPythonCall(ceed, "m:f", 1, NULL, 0, NULL));
  ASSERT_SAYS("inputs");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedPythonCall(ceed, "m:f", 1, &x, -1, &x));
  ASSERT_SAYS("-1 outputs");
  ASSERT_OK(CeedVectorDestroy(&x));
  return TEST_PASSED;
}

static int without_a_python_in_path_the_remedy_is_told(void) {
  setenv("PATH", "/no/such/place:/neither", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  ASSERT_SAYS("set CEEDLIKE_PYTHON to an environment with pyceedlike");
  unsetenv("PATH");
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  return TEST_PASSED;
}

static int a_variable_that_names_no_python_is_an_error_that_says_so(void) {
  char very_long[9000];

  setenv("CEEDLIKE_PYTHON", "/no/such/place", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  ASSERT_SAYS("CEEDLIKE_PYTHON=/no/such/place");
  setenv("CEEDLIKE_PYTHON", "/bin/sh", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  ASSERT_SAYS("/bin/sh does not lead to a python3.x");
  setenv("CEEDLIKE_PYTHON", "/dev", 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  memset(very_long, 'x', sizeof very_long - 1);
  very_long[sizeof very_long - 1] = '\0';
  setenv("CEEDLIKE_PYTHON", very_long, 1);
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedPythonCall(ceed, "m:f", 0, NULL, 0, NULL));
  unsetenv("CEEDLIKE_PYTHON");
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(bad_vectors_are_errors_before_python_is_looked_for),
    BEHAVIOUR(without_a_python_in_path_the_remedy_is_told),
    BEHAVIOUR(a_variable_that_names_no_python_is_an_error_that_says_so),
};

int main(int argc, char **argv) {
  unsetenv("CEEDLIKE_PYTHON");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
