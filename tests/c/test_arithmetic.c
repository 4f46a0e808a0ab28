// Arithmetic on vectors, against sums and products in longer precision, and norms at their limits.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

// Around the widths of vector registers, and around the blocks and chunks of a sum.
static const CeedSize lengths[] = {1,  2,  3,  4,   5,   7,   8,    9,    15,   16,    17,
                                   31, 33, 63, 127, 128, 129, 1000, 4097, 8193, 16385, 100003};

static const CeedScalar *Read(CeedVector vec) {
  const CeedScalar *array = NULL;

  CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array);
  return array;
}

static void Done(CeedVector vec, const CeedScalar *array) {
  CeedVectorRestoreArrayRead(vec, &array);
}

static CeedVector Filled(CeedSize length, CeedScalar value) {
  CeedVector vec = NULL;

  CeedVectorCreate(ceed, length, &vec);
  CeedVectorSetValue(vec, value);
  return vec;
}

static CeedScalar Norm(CeedVector vec, CeedNormType type) {
  CeedScalar norm = -1;

  CeedVectorNorm(vec, type, &norm);
  return norm;
}

static CeedScalar Above(CeedScalar x) {
#ifdef CEEDLIKE_SINGLE
  return nextafterf(x, SCALAR_MAX);
#else
  return nextafter(x, SCALAR_MAX);
#endif
}

// ------------------------------------------------------------------------------------------------
// Entry by entry: y becomes what the formula says of (x, y), to a rounding or two
// ------------------------------------------------------------------------------------------------

static const CeedScalar alpha = (CeedScalar)1.7, beta = (CeedScalar)-0.3;

typedef int (*Operation)(CeedVector x, CeedVector y);
typedef long double (*Formula)(long double x, long double y);

static int DoSetValue(CeedVector x, CeedVector y) { return (void)x, CeedVectorSetValue(y, alpha); }
static int DoCopy(CeedVector x, CeedVector y) { return CeedVectorCopy(x, y); }
static int DoScale(CeedVector x, CeedVector y) { return (void)x, CeedVectorScale(y, alpha); }
static int DoAXPY(CeedVector x, CeedVector y) { return CeedVectorAXPY(y, alpha, x); }
static int DoAXPBY(CeedVector x, CeedVector y) { return CeedVectorAXPBY(y, alpha, beta, x); }
static int DoMult(CeedVector x, CeedVector y) { return CeedVectorPointwiseMult(y, x, y); }
static int DoMultSwapped(CeedVector x, CeedVector y) { return CeedVectorPointwiseMult(y, y, x); }
static int DoSquare(CeedVector x, CeedVector y) {
  return (void)x, CeedVectorPointwiseMult(y, y, y);
}
static int DoReciprocal(CeedVector x, CeedVector y) { return (void)x, CeedVectorReciprocal(y); }
static int DoFilter(CeedVector x, CeedVector y) {
  return (void)x, CeedVectorFilter(y, (CeedScalar)0.5);
}
static int DoAXPYSelf(CeedVector x, CeedVector y) { return (void)x, CeedVectorAXPY(y, alpha, y); }
static int DoAXPBYSelf(CeedVector x, CeedVector y) {
  return (void)x, CeedVectorAXPBY(y, alpha, beta, y);
}

static long double IsAlpha(long double x, long double y) { return (void)x, (void)y, alpha; }
static long double IsX(long double x, long double y) { return (void)y, x; }
static long double IsScaled(long double x, long double y) { return (void)x, alpha * y; }
static long double IsAXPY(long double x, long double y) { return alpha * x + y; }
static long double IsAXPBY(long double x, long double y) { return alpha * x + beta * y; }
static long double IsProduct(long double x, long double y) { return x * y; }
static long double IsSquare(long double x, long double y) { return (void)x, y * y; }
static long double IsFiltered(long double x, long double y) {
  return (void)x, fabsl(y) <= 0.5L ? 0 : y;
}
static long double IsReciprocal(long double x, long double y) {
  return (void)x, fabsl(y) > CEED_EPSILON ? 1 / y : y;
}
static long double IsAXPYSelf(long double x, long double y) { return (void)x, alpha * y + y; }
static long double IsAXPBYSelf(long double x, long double y) {
  return (void)x, alpha * y + beta * y;
}

static int EntriesFollow(Operation operation, Formula formula, CeedSize length) {
  CeedVector x = RandomVector(length, 3), y = RandomVector(length, 5), old = NULL;
  const CeedScalar *before, *with, *after;

  ASSERT_OK(CeedVectorCreate(ceed, length, &old));
  ASSERT_OK(CeedVectorCopy(y, old));
  ASSERT_OK(operation(x, y));
  before = Read(old), with = Read(x), after = Read(y);
  for (CeedSize i = 0; i < length; i++) {
    long double expected = formula(with[i], before[i]);
    long double scale = fabsl(with[i]) + fabsl(before[i]) + fabsl(expected);
    ASSERT_CLOSE(after[i], expected, 4 * UNIT_ROUNDOFF * scale);
  }
  Done(old, before), Done(x, with), Done(y, after);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  ASSERT_OK(CeedVectorDestroy(&old));
  return TEST_PASSED;
}

static int Follows(Operation operation, Formula formula) {
  for (int i = 0; i < COUNT_OF(lengths); i++) PASSES(EntriesFollow(operation, formula, lengths[i]));
  return TEST_PASSED;
}

static int set_value_sets_every_entry(void) { return Follows(DoSetValue, IsAlpha); }
static int copy_copies_every_entry(void) { return Follows(DoCopy, IsX); }
static int scale_multiplies_every_entry(void) { return Follows(DoScale, IsScaled); }
static int axpy_adds_a_multiple(void) { return Follows(DoAXPY, IsAXPY); }
static int axpby_is_a_sum_of_multiples(void) { return Follows(DoAXPBY, IsAXPBY); }
static int filter_zeroes_small_entries(void) { return Follows(DoFilter, IsFiltered); }
static int reciprocal_inverts_every_entry(void) { return Follows(DoReciprocal, IsReciprocal); }
static int axpy_of_a_vector_with_itself(void) { return Follows(DoAXPYSelf, IsAXPYSelf); }
static int axpby_of_a_vector_with_itself(void) { return Follows(DoAXPBYSelf, IsAXPBYSelf); }

static int pointwise_mult_multiplies_entry_by_entry(void) {
  PASSES(Follows(DoMult, IsProduct));
  PASSES(Follows(DoMultSwapped, IsProduct));
  PASSES(Follows(DoSquare, IsSquare));
  return TEST_PASSED;
}

static int pointwise_mult_needs_no_values_in_its_result(void) {
  CeedVector x = VectorOf(3, (CeedScalar[]){1, 2, 3}), y = VectorOf(3, (CeedScalar[]){4, 5, 6});
  CeedVector w = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &w));
  ASSERT_OK(CeedVectorPointwiseMult(w, x, y));
  ASSERT_VALUES(w, 4, 10, 18);
  ASSERT_VALUES(x, 1, 2, 3);
  ASSERT_VALUES(y, 4, 5, 6);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  ASSERT_OK(CeedVectorDestroy(&w));
  return TEST_PASSED;
}

static int small_numbers_come_out_exactly(void) {
  CeedVector x = VectorOf(3, (CeedScalar[]){1, 2, 3}), y = VectorOf(3, (CeedScalar[]){10, 20, 30});

  ASSERT_OK(CeedVectorAXPY(y, 2, x));
  ASSERT_VALUES(y, 12, 24, 36);
  ASSERT_OK(CeedVectorAXPBY(y, 3, 2, x));
  ASSERT_VALUES(y, 27, 54, 81);
  ASSERT_OK(CeedVectorScale(y, -1));
  ASSERT_VALUES(y, -27, -54, -81);
  ASSERT_OK(CeedVectorPointwiseMult(x, x, y));
  ASSERT_VALUES(x, -27, -108, -243);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Thresholds and special values
// ------------------------------------------------------------------------------------------------

static int filter_zeroes_entries_at_the_threshold(void) {
  CeedVector vec = VectorOf(6, (CeedScalar[]){-2, -1, 0, 1, 2, 0.5});

  ASSERT_OK(CeedVectorFilter(vec, 1));
  ASSERT_VALUES(vec, -2, 0, 0, 0, 2, 0);
  ASSERT_OK(CeedVectorFilter(vec, 0));
  ASSERT_VALUES(vec, -2, 0, 0, 0, 2, 0);
  ASSERT_OK(CeedVectorFilter(vec, -1));
  ASSERT_VALUES(vec, -2, 0, 0, 0, 2, 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int filter_keeps_entries_just_above_the_threshold(void) {
  CeedScalar above = Above(1);
  CeedVector vec = VectorOf(2, (CeedScalar[]){above, -above});

  ASSERT_OK(CeedVectorFilter(vec, 1));
  ASSERT_VALUES(vec, above, -above);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int reciprocal_leaves_entries_at_epsilon_alone(void) {
  const CeedScalar epsilon = CEED_EPSILON, above = Above(CEED_EPSILON);
  CeedVector vec = VectorOf(7, (CeedScalar[]){epsilon, -epsilon, 0, epsilon / 2, above, -above, 4});
  const CeedScalar *array;

  ASSERT_OK(CeedVectorReciprocal(vec));
  array = Read(vec);
  ASSERT_NUMBER(array[0], epsilon);
  ASSERT_NUMBER(array[1], -epsilon);
  ASSERT_NUMBER(array[2], 0);
  ASSERT_NUMBER(array[3], epsilon / 2);
  ASSERT_CLOSE(array[4] * above, 1, 4 * UNIT_ROUNDOFF);
  ASSERT_CLOSE(array[5] * above, -1, 4 * UNIT_ROUNDOFF);
  ASSERT_NUMBER(array[6], 0.25);
  Done(vec, array);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int not_a_number_stays_so(void) {
  CeedVector vec = Filled(9, (CeedScalar)NAN), x = Filled(9, 1);
  const CeedScalar *array;

  ASSERT_OK(CeedVectorScale(vec, 0));
  ASSERT_OK(CeedVectorFilter(vec, 1));
  ASSERT_OK(CeedVectorReciprocal(vec));
  ASSERT_OK(CeedVectorAXPY(vec, 1, x));
  ASSERT_OK(CeedVectorAXPBY(vec, 1, 0, x));
  ASSERT_OK(CeedVectorPointwiseMult(vec, vec, x));
  array = Read(vec);
  for (int i = 0; i < 9; i++) ASSERT(isnan(array[i]));
  Done(vec, array);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&x));
  return TEST_PASSED;
}

static int infinities_follow_arithmetic(void) {
  CeedScalar infinity = (CeedScalar)INFINITY;
  CeedVector vec = VectorOf(2, (CeedScalar[]){infinity, -infinity});

  ASSERT_OK(CeedVectorFilter(vec, SCALAR_MAX));
  ASSERT_VALUES(vec, infinity, -infinity);
  ASSERT_OK(CeedVectorReciprocal(vec));
  ASSERT_VALUES(vec, 0, 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Lengths, missing values
// ------------------------------------------------------------------------------------------------

static int vectors_on_the_same_memory_are_one(void) {
  CeedScalar memory[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  CeedVector x = NULL, y = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 9, &x));
  ASSERT_OK(CeedVectorCreate(ceed, 9, &y));
  ASSERT_OK(CeedVectorSetArray(x, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorSetArray(y, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorAXPY(y, 1, x));
  ASSERT_VALUES(x, 0, 2, 4, 6, 8, 10, 12, 14, 16);
  ASSERT_OK(CeedVectorAXPBY(y, 2, -1, x));
  ASSERT_VALUES(x, 0, 2, 4, 6, 8, 10, 12, 14, 16);
  ASSERT_OK(CeedVectorPointwiseMult(y, x, x));
  ASSERT_VALUES(x, 0, 4, 16, 36, 64, 100, 144, 196, 256);
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_VALUES(y, 0, 4, 16, 36, 64, 100, 144, 196, 256);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static CeedVector Over(CeedSize length, CeedScalar *memory) {
  CeedVector vec = NULL;

  CeedVectorCreate(ceed, length, &vec);
  CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, memory);
  return vec;
}

static int copying_between_overlapping_memories_is_right(void) {
  CeedScalar memory[6] = {0, 1, 2, 3, 4, 5};
  CeedVector low = Over(5, memory), high = Over(5, memory + 1);

  ASSERT_OK(CeedVectorCopy(low, high));
  ASSERT_VALUES(high, 0, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorCopy(high, low));
  ASSERT_VALUES(low, 0, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorDestroy(&low));
  ASSERT_OK(CeedVectorDestroy(&high));
  return TEST_PASSED;
}

static int copying_ranges_between_overlapping_memories_is_right(void) {
  CeedScalar memory[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  CeedVector low = Over(7, memory), high = Over(7, memory + 2);

  ASSERT_OK(CeedVectorCopyStrided(low, 0, -1, 2, high));
  ASSERT_VALUES(high, 0, 3, 2, 5, 4, 7, 6);
  ASSERT_OK(CeedVectorCopyStrided(high, 1, 6, 1, low));
  ASSERT_VALUES(low, 0, 3, 2, 5, 4, 7, 4);
  ASSERT_OK(CeedVectorCopyStrided(low, 3, 3, 5, high));
  ASSERT_VALUES(high, 2, 5, 4, 7, 4, 7, 6);
  ASSERT_OK(CeedVectorDestroy(&low));
  ASSERT_OK(CeedVectorDestroy(&high));
  return TEST_PASSED;
}

static int arithmetic_on_memories_that_overlap_in_part_is_refused(void) {
  const Operation operations[] = {DoAXPY, DoAXPBY, DoMult, DoMultSwapped};
  CeedScalar memory[6] = {0, 1, 2, 3, 4, 5};
  CeedVector low = Over(5, memory), high = Over(5, memory + 1);

  for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, operations[i](low, high));
    ASSERT_SAYS("overlaps");
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, operations[i](high, low));
  }
  ASSERT_OK(CeedVectorScale(high, 1)); /* nothing stays held */
  ASSERT_OK(CeedVectorScale(low, 1));
  ASSERT_VALUES(low, 0, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorDestroy(&low));
  ASSERT_OK(CeedVectorDestroy(&high));
  return TEST_PASSED;
}

static int arithmetic_on_memories_side_by_side_is_no_overlap(void) {
  CeedScalar memory[6] = {0, 1, 2, 3, 4, 5};
  CeedVector low = Over(3, memory), high = Over(3, memory + 3);

  ASSERT_OK(CeedVectorAXPY(high, 1, low));
  ASSERT_VALUES(high, 3, 5, 7);
  ASSERT_OK(CeedVectorAXPY(low, 1, high));
  ASSERT_VALUES(low, 3, 6, 9);
  ASSERT_OK(CeedVectorDestroy(&low));
  ASSERT_OK(CeedVectorDestroy(&high));
  return TEST_PASSED;
}

static int lengths_that_differ_are_errors_with_both(void) {
  CeedVector x = Iota(41), y = Iota(5);

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorAXPY(y, 1, x));
  ASSERT_SAYS("41");
  ASSERT_SAYS("5");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorAXPY(x, 1, y));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorAXPBY(y, 1, 1, x));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorPointwiseMult(y, y, x));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorPointwiseMult(y, x, y));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorPointwiseMult(x, y, y));
  ASSERT_VALUES(y, 0, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int arithmetic_without_values_is_an_error(void) {
  CeedVector none = NULL, vec = Iota(3);
  CeedScalar norm;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &none));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorNorm(none, CEED_NORM_2, &norm));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorScale(none, 2));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorFilter(none, 2));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorReciprocal(none));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorAXPY(none, 2, vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorAXPY(vec, 2, none));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorAXPBY(vec, 2, 3, none));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorPointwiseMult(vec, none, vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorPointwiseMult(vec, vec, none));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&none));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int arithmetic_of_different_contexts_works(void) {
  Ceed other = NULL;
  CeedVector x = NULL, y = Iota(3);

  ASSERT_OK(CeedInit("/cpu/self/ref/serial", &other));
  ASSERT_OK(CeedVectorCreate(other, 3, &x));
  ASSERT_OK(CeedVectorSetValue(x, 1));
  ASSERT_OK(CeedVectorAXPY(y, 10, x));
  ASSERT_VALUES(y, 10, 11, 12);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Norms
// ------------------------------------------------------------------------------------------------

static int norms_have_their_known_values(void) {
  CeedVector vec = VectorOf(4, (CeedScalar[]){3, -4, 0, 0}), one = VectorOf(1, (CeedScalar[]){-7});

  ASSERT_NUMBER(Norm(vec, CEED_NORM_1), 7);
  ASSERT_NUMBER(Norm(vec, CEED_NORM_2), 5);
  ASSERT_NUMBER(Norm(vec, CEED_NORM_MAX), 4);
  ASSERT_NUMBER(Norm(one, CEED_NORM_1), 7);
  ASSERT_NUMBER(Norm(one, CEED_NORM_2), 7);
  ASSERT_NUMBER(Norm(one, CEED_NORM_MAX), 7);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&one));
  return TEST_PASSED;
}

static int unknown_norms_are_errors(void) {
  CeedVector vec = Iota(3);
  CeedScalar norm = 77;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorNorm(vec, (CeedNormType)3, &norm));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorNorm(vec, (CeedNormType)-1, &norm));
  ASSERT_NUMBER(norm, 77);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// Compensated in longer precision: its own error is nothing beside the bounds below.
static long double Sum(const CeedScalar *array, CeedSize length, bool squares) {
  long double sum = 0, lost = 0;

  for (CeedSize i = 0; i < length; i++) {
    long double term = squares ? (long double)array[i] * array[i] : fabsl(array[i]);
    long double corrected = term - lost, next = sum + corrected;
    lost = (next - sum) - corrected;
    sum = next;
  }
  return sum;
}

static int NormsKeepTheirBounds(CeedVector vec, CeedSize length) {
  const CeedScalar *array = Read(vec);
  long double one = Sum(array, length, false), two = sqrtl(Sum(array, length, true));
  long double bound = (40 + log2l(length)) * UNIT_ROUNDOFF, largest = 0;

  for (CeedSize i = 0; i < length; i++) largest = fmaxl(largest, fabsl(array[i]));
  Done(vec, array);
  ASSERT_CLOSE(Norm(vec, CEED_NORM_1), one, bound * one);
  ASSERT_CLOSE(Norm(vec, CEED_NORM_2), two, bound / 2 * two);
  ASSERT_CLOSE(Norm(vec, CEED_NORM_MAX), largest, 0);
  return TEST_PASSED;
}

static int norms_of_random_data_keep_their_error_bounds(void) {
  for (int i = 0; i < COUNT_OF(lengths); i++) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
      CeedVector vec = RandomVector(lengths[i], seed);
      PASSES(NormsKeepTheirBounds(vec, lengths[i]));
      ASSERT_OK(CeedVectorDestroy(&vec));
    }
  }
  return TEST_PASSED;
}

static int norms_of_a_million_equal_entries_keep_their_error_bounds(void) {
  CeedVector vec = Filled(1000003, (CeedScalar)0.1);

  PASSES(NormsKeepTheirBounds(vec, 1000003));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int norms_of_growing_entries_keep_their_error_bounds(void) {
  CeedVector vec = Iota(100003);

  PASSES(NormsKeepTheirBounds(vec, 100003));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int the_two_norm_does_not_overflow_before_its_value_does(void) {
  for (CeedSize length = 1; length <= 200; length += 13) {
    CeedScalar entry = SCALAR_MAX / 16;
    CeedVector vec = Filled(length, entry);
    long double expected = sqrtl((long double)length) * entry;
    ASSERT_CLOSE(Norm(vec, CEED_NORM_2), expected, 40 * UNIT_ROUNDOFF * expected);
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int the_two_norm_does_not_underflow_before_its_value_does(void) {
  for (CeedSize length = 1; length <= 200; length += 13) {
    CeedVector vec = Filled(length, SCALAR_MIN);
    long double expected = sqrtl((long double)length) * SCALAR_MIN;
    ASSERT_CLOSE(Norm(vec, CEED_NORM_2), expected, 40 * UNIT_ROUNDOFF * expected);
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int the_two_norm_of_the_smallest_numbers_is_exact(void) {
  CeedScalar smallest = SCALAR_MIN * 2 * UNIT_ROUNDOFF;
  CeedVector four = Filled(4, smallest), hundred = Filled(10000, smallest);

  ASSERT(smallest > 0);
  ASSERT_NUMBER(Norm(four, CEED_NORM_2), 2 * smallest);
  ASSERT_NUMBER(Norm(hundred, CEED_NORM_2), 100 * smallest);
  ASSERT_OK(CeedVectorDestroy(&four));
  ASSERT_OK(CeedVectorDestroy(&hundred));
  return TEST_PASSED;
}

static int one_large_entry_among_small_ones_is_the_norm(void) {
  enum { LENGTH = 1000 };

  for (CeedSize place = 0; place < LENGTH; place += 111) {
    CeedVector vec = Filled(LENGTH, SCALAR_MIN);
    ASSERT_OK(CeedVectorSetValueStrided(vec, place, place + 1, 1, SCALAR_MAX / 2));
    ASSERT_NUMBER(Norm(vec, CEED_NORM_2), SCALAR_MAX / 2);
    ASSERT_NUMBER(Norm(vec, CEED_NORM_MAX), SCALAR_MAX / 2);
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int norms_beyond_the_largest_number_are_infinite(void) {
  CeedVector vec = Filled(100, SCALAR_MAX);

  ASSERT(isinf(Norm(vec, CEED_NORM_1)));
  ASSERT(isinf(Norm(vec, CEED_NORM_2)));
  ASSERT_NUMBER(Norm(vec, CEED_NORM_MAX), SCALAR_MAX);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int NormsOfOneSpecialEntry(CeedSize length, CeedSize place, CeedScalar entry) {
  CeedVector vec = Filled(length, 1);

  ASSERT_OK(CeedVectorSetValueStrided(vec, place, place + 1, 1, entry));
  for (int type = CEED_NORM_1; type <= CEED_NORM_MAX; type++) {
    CeedScalar norm = Norm(vec, (CeedNormType)type);
    if (isnan(entry) ? !isnan(norm) : !(isinf(norm) && norm > 0)) {
      FAIL("norm %d of %td entries with %g at %td is %g", type, length, (double)entry, place,
           (double)norm);
    }
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int not_a_number_anywhere_gives_not_a_number(void) {
  for (CeedSize length = 1; length <= 70; length++) {
    for (CeedSize place = 0; place < length; place++) {
      PASSES(NormsOfOneSpecialEntry(length, place, (CeedScalar)NAN));
    }
  }
  PASSES(NormsOfOneSpecialEntry(5000, 4998, (CeedScalar)NAN));
  return TEST_PASSED;
}

static int an_infinity_anywhere_gives_infinity(void) {
  for (CeedSize length = 1; length <= 70; length++) {
    for (CeedSize place = 0; place < length; place++) {
      PASSES(NormsOfOneSpecialEntry(length, place, (CeedScalar)-INFINITY));
    }
  }
  return TEST_PASSED;
}

static int not_a_number_beats_infinity(void) {
  for (CeedSize place = 1; place < 70; place++) {
    CeedVector vec = Filled(70, (CeedScalar)INFINITY);
    ASSERT_OK(CeedVectorSetValueStrided(vec, place, place + 1, 1, (CeedScalar)NAN));
    for (int type = CEED_NORM_1; type <= CEED_NORM_MAX; type++) {
      ASSERT(isnan(Norm(vec, (CeedNormType)type)));
    }
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int equal_calls_give_equal_bits(void) {
  CeedVector vec = RandomVector(100003, 9);
  CeedScalar first = Norm(vec, CEED_NORM_2), sum = Norm(vec, CEED_NORM_1);

  for (int i = 0; i < 5; i++) {
    ASSERT_NUMBER(Norm(vec, CEED_NORM_2), first);
    ASSERT_NUMBER(Norm(vec, CEED_NORM_1), sum);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(set_value_sets_every_entry),
    BEHAVIOUR(copy_copies_every_entry),
    BEHAVIOUR(scale_multiplies_every_entry),
    BEHAVIOUR(axpy_adds_a_multiple),
    BEHAVIOUR(axpby_is_a_sum_of_multiples),
    BEHAVIOUR(filter_zeroes_small_entries),
    BEHAVIOUR(reciprocal_inverts_every_entry),
    BEHAVIOUR(axpy_of_a_vector_with_itself),
    BEHAVIOUR(axpby_of_a_vector_with_itself),
    BEHAVIOUR(pointwise_mult_multiplies_entry_by_entry),
    BEHAVIOUR(pointwise_mult_needs_no_values_in_its_result),
    BEHAVIOUR(small_numbers_come_out_exactly),
    BEHAVIOUR(filter_zeroes_entries_at_the_threshold),
    BEHAVIOUR(filter_keeps_entries_just_above_the_threshold),
    BEHAVIOUR(reciprocal_leaves_entries_at_epsilon_alone),
    BEHAVIOUR(not_a_number_stays_so),
    BEHAVIOUR(infinities_follow_arithmetic),
    BEHAVIOUR(lengths_that_differ_are_errors_with_both),
    BEHAVIOUR(arithmetic_without_values_is_an_error),
    BEHAVIOUR(arithmetic_of_different_contexts_works),
    BEHAVIOUR(norms_have_their_known_values),
    BEHAVIOUR(unknown_norms_are_errors),
    BEHAVIOUR(norms_of_random_data_keep_their_error_bounds),
    BEHAVIOUR(norms_of_a_million_equal_entries_keep_their_error_bounds),
    BEHAVIOUR(norms_of_growing_entries_keep_their_error_bounds),
    BEHAVIOUR(the_two_norm_does_not_overflow_before_its_value_does),
    BEHAVIOUR(the_two_norm_does_not_underflow_before_its_value_does),
    BEHAVIOUR(the_two_norm_of_the_smallest_numbers_is_exact),
    BEHAVIOUR(one_large_entry_among_small_ones_is_the_norm),
    BEHAVIOUR(norms_beyond_the_largest_number_are_infinite),
    BEHAVIOUR(not_a_number_anywhere_gives_not_a_number),
    BEHAVIOUR(an_infinity_anywhere_gives_infinity),
    BEHAVIOUR(not_a_number_beats_infinity),
    BEHAVIOUR(equal_calls_give_equal_bits),
    BEHAVIOUR(vectors_on_the_same_memory_are_one),
    BEHAVIOUR(copying_between_overlapping_memories_is_right),
    BEHAVIOUR(copying_ranges_between_overlapping_memories_is_right),
    BEHAVIOUR(arithmetic_on_memories_that_overlap_in_part_is_refused),
    BEHAVIOUR(arithmetic_on_memories_side_by_side_is_no_overlap),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
