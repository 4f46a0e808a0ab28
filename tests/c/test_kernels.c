// All sets of instructions give the same bits; the loops are compiled here once more to see them.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

#undef SCALAR_MIN
#undef SCALAR_MAX
#include "../../csrc/kernels.c"

// Across the ends of registers, blocks and chunks.
enum { LONGEST = 3 * CHUNK + 77 };
static const CeedSize lengths[] = {1, 7, 33, BLOCK - 1, BLOCK + 5, CHUNK, CHUNK + 1, LONGEST};

static CeedScalar x[LONGEST], y[LONGEST], copies[2][LONGEST];

static int FillWithRandomNumbers(void) {
  uint64_t seed = 1;

  for (int i = 0; i < LONGEST; i++) x[i] = (CeedScalar)RandomUnit(&seed);
  for (int i = 0; i < LONGEST; i++) y[i] = (CeedScalar)RandomUnit(&seed);
  return TEST_PASSED;
}

static int KeepContext(void) { return TEST_PASSED; }

static int ChosenKernels(const CeedKernels **chosen) {
  *chosen = CeedKernelsGet();
  return *chosen == &kernelsBaseline ? TestSkip("this processor has the baseline alone") : 0;
}

static bool SameBits(CeedScalar a, CeedScalar b) { return memcmp(&a, &b, sizeof a) == 0; }

static int sums_and_largest_entries_have_the_bits_of_the_baseline(void) {
  const CeedKernels *chosen, *base = &kernelsBaseline;
  int skipped = ChosenKernels(&chosen);

  for (int l = 0; !skipped && l < COUNT_OF(lengths); l++) {
    CeedSize n = lengths[l];
    ASSERT(SameBits(chosen->sum_abs(n, x), base->sum_abs(n, x)));
    ASSERT(SameBits(chosen->sum_squares(n, 1, x), base->sum_squares(n, 1, x)));
    ASSERT(SameBits(chosen->sum_squares(n, 3, x), base->sum_squares(n, 3, x)));
    ASSERT(SameBits(chosen->max_abs(n, x), base->max_abs(n, x)));
  }
  return skipped;
}

static void RunAll(const CeedKernels *kernels, CeedSize n, CeedScalar *out) {
  kernels->set(n, (CeedScalar)0.3, out);
  kernels->axpy(n, (CeedScalar)1.7, x, out);
  kernels->axpby(n, (CeedScalar)0.7, y, (CeedScalar)-1.3, out);
  kernels->multiply(n, x, out, out);
  kernels->scale(n, (CeedScalar)1.1, out);
  kernels->filter(n, (CeedScalar)1e-3, out);
  kernels->reciprocal(n, out);
}

static int entries_have_the_bits_of_the_baseline(void) {
  const CeedKernels *chosen;
  int skipped = ChosenKernels(&chosen);

  for (int l = 0; !skipped && l < COUNT_OF(lengths); l++) {
    RunAll(chosen, lengths[l], copies[0]);
    RunAll(&kernelsBaseline, lengths[l], copies[1]);
    ASSERT(memcmp(copies[0], copies[1], (size_t)lengths[l] * sizeof(CeedScalar)) == 0);
  }
  return skipped;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(sums_and_largest_entries_have_the_bits_of_the_baseline),
    BEHAVIOUR(entries_have_the_bits_of_the_baseline),
};

int main(int argc, char **argv) {
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), FillWithRandomNumbers, KeepContext);
}
