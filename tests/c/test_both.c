// Both precisions in one program: each value comes from its own library, and no handle of one is
// taken for a handle of the other.
// SPDX-License-Identifier: BSD-2-Clause
#include "both.h"
#include "fixture.h"

static CeedVector vec;

static int Begin(void) {
  PASSES(CreateContext());
  vec = VectorOf(2, (CeedScalar[]){5, 12});
  ASSERT(vec);
  ASSERT_EQ(SingleBegin(), 0);
  return TEST_PASSED;
}

static int End(void) {
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(SingleEnd(), 0);
  return DestroyContext();
}

static int each_library_tells_its_own_precision(void) {
  CeedScalarType type;
  const char *build = NULL;

  ASSERT_OK(CeedGetScalarType(&type));
  ASSERT_EQ(type, CEED_SCALAR_FP64);
  ASSERT_EQ(SingleScalarType(), CEED_SCALAR_FP32);
  ASSERT_OK(CeedGetBuildConfiguration(&build));
  ASSERT(strcmp(build, SingleBuild()));
  return TEST_PASSED;
}

static int each_value_comes_from_its_own_library(void) {
  CeedScalar norm = -1;

  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_2, &norm));
  ASSERT_NUMBER(norm, 13);
  ASSERT_NUMBER(SingleNorm(), 5);
  return TEST_PASSED;
}

static int each_library_computes_in_its_own_precision(void) {
  CeedScalar norm = -1;

  ASSERT_OK(CeedVectorSetValue(vec, 0.1));
  ASSERT_EQ(SingleSetValue(SingleVector(), 0.1f), 0);
  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_MAX, &norm));
  ASSERT_NUMBER(norm, 0.1);
  ASSERT_CLOSE(SingleNorm(), 0.1L * sqrtl(2), 1e-7);
  ASSERT(fabs(SingleNorm() - 0.1 * sqrt(2.0)) > 1e-12);
  return TEST_PASSED;
}

static int a_float32_vector_given_to_the_float64_library_is_an_error_that_says_so(void) {
  CeedVector stranger = SingleVector();
  CeedScalar norm;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorNorm(stranger, CEED_NORM_2, &norm));
  ASSERT_SAYS("is a CeedVector of the float32 library");
  ASSERT_SAYS("float64");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorCopy(vec, stranger));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorAXPY(vec, 1, stranger));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorDestroy(&stranger));
  ASSERT_NUMBER(SingleNorm(), 5);
  return TEST_PASSED;
}

static int a_float64_vector_given_to_the_float32_library_is_an_error_that_says_so(void) {
  ASSERT_EQ(SingleSetValue(vec, 1), CEED_ERROR_INCOMPATIBLE);
  ASSERT_HAS(SingleMessage(), "is a CeedVector of the float64 library");
  ASSERT_HAS(SingleMessage(), "float32");
  ASSERT_VALUES(vec, 5, 12);
  return TEST_PASSED;
}

static int a_context_of_the_other_precision_is_an_error_that_says_so(void) {
  CeedVector none = NULL;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorCreate(SingleContext(), 1, &none));
  ASSERT_SAYS("is a Ceed of the float32 library");
  ASSERT(!none);
  return TEST_PASSED;
}

static int messages_of_the_libraries_are_apart(void) {
  ASSERT_CODE(CEED_ERROR_UNSUPPORTED, CeedInit("/of/the/first", &(Ceed){NULL}));
  ASSERT_EQ(SingleSetValue(NULL, 1), CEED_ERROR_INCOMPATIBLE);
  ASSERT_SAYS("/of/the/first");
  ASSERT_HAS(SingleMessage(), "NULL");
  return TEST_PASSED;
}

static int a_tensor_of_the_other_precision_is_refused_with_both_names(void) {
  void *tensor = NULL;
  DLManagedTensorVersioned *own;

  ASSERT_EQ(SingleExport(&tensor), 0);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorTakeFromDLPackVersioned(NULL, vec, tensor, CEED_COPY_VALUES));
  ASSERT_SAYS("tensor holds float32, this vector holds float64");
  Release(tensor);
  own = Export(vec, CEED_EXPORT_SHARED);
  ASSERT_EQ(SingleTake(own), CEED_ERROR_INCOMPATIBLE);
  ASSERT_HAS(SingleMessage(), "tensor holds float64, this vector holds float32");
  Release(own);
  return TEST_PASSED;
}

static int tensors_of_either_library_can_be_checked_by_the_other(void) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;
  void *tensor = NULL;

  spec.code = 2, spec.bits = 32, spec.lanes = 1;
  ASSERT_EQ(SingleExport(&tensor), 0);
  ASSERT_OK(CeedDLPackCheck(tensor, true, &spec));
  spec.bits = 64;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedDLPackCheck(tensor, true, &spec));
  Release(tensor);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(each_library_tells_its_own_precision),
    BEHAVIOUR(each_value_comes_from_its_own_library),
    BEHAVIOUR(each_library_computes_in_its_own_precision),
    BEHAVIOUR(a_float32_vector_given_to_the_float64_library_is_an_error_that_says_so),
    BEHAVIOUR(a_float64_vector_given_to_the_float32_library_is_an_error_that_says_so),
    BEHAVIOUR(a_context_of_the_other_precision_is_an_error_that_says_so),
    BEHAVIOUR(messages_of_the_libraries_are_apart),
    BEHAVIOUR(a_tensor_of_the_other_precision_is_refused_with_both_names),
    BEHAVIOUR(tensors_of_either_library_can_be_checked_by_the_other),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
