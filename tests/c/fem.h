// What tests of restrictions, bases, QFunctions and operators begin with: every test runs on both
// resources, in a context of its own.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FEM_TEST_H
#define FEM_TEST_H

#include "fixture.h"

#define REF "/cpu/self/ref/serial"
#define OPT "/cpu/self/opt/blocked"

static inline int OnResource(const char *resource, int (*run)(void)) {
  int result;

  ASSERT_OK(CeedInit(resource, &ceed));
  result = run();
  if (result == TEST_FAILED) fprintf(stderr, "# on %s\n", resource);
  if (result == TEST_PASSED) PASSES(DestroyContext());
  return result;
}

#define TEST(name)                        \
  static int name##_here(void);           \
  static int name(void) {                 \
    PASSES(OnResource(REF, name##_here)); \
    return OnResource(OPT, name##_here);  \
  }                                       \
  static int name##_here(void)

// Values that a sum of a few products may miss by rounding.
#define TOLERANCE (64 * UNIT_ROUNDOFF)

static inline CeedScalar Entry(CeedVector vec, CeedSize i) {
  const CeedScalar *array;
  CeedScalar value;

  if (CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array)) return (CeedScalar)NAN;
  value = array[i];
  CeedVectorRestoreArrayRead(vec, &array);
  return value;
}

// A view function prints these words.

#define ASSERT_VIEW(View, object, ...)                      \
  do {                                                      \
    const char *const words_of_view[] = {__VA_ARGS__};      \
    char viewed_[8192];                                     \
    FILE *stream_ = fmemopen(viewed_, sizeof viewed_, "w"); \
    ASSERT(stream_);                                        \
    ASSERT_OK(View(object, stream_));                       \
    fclose(stream_);                                        \
    for (int i_ = 0; i_ < COUNT_OF(words_of_view); i_++) {  \
      ASSERT_HAS(viewed_, words_of_view[i_]);               \
    }                                                       \
  } while (0)

#endif
