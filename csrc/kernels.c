// Loops over arrays in host memory: compiled for the baseline and for AVX2, chosen at run time.
// SPDX-License-Identifier: BSD-2-Clause
#include "kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef CEEDLIKE_SINGLE
typedef int32_t ScalarBits;
#define MAGNITUDE_BITS INT32_MAX
#define SCALAR_MIN FLT_MIN
#define SCALAR_MAX FLT_MAX
#define Abs fabsf
enum { MIN_EXPONENT = -100 }; /* of a scale whose power of two is no subnormal number */
#else
typedef int64_t ScalarBits;
#define MAGNITUDE_BITS INT64_MAX
#define SCALAR_MIN DBL_MIN
#define SCALAR_MAX DBL_MAX
#define Abs fabs
enum { MIN_EXPONENT = -1000 };
#endif

/* The shape of all sums, whatever the instructions: lanes of a block, blocks of a chunk one after
   the other, chunks pairwise. Lanes fill four registers; chunks are long, because their ends cost
   more than their sums when memory is read at full speed. */
enum { LANES = 128 / sizeof(CeedScalar), BLOCK = 128 * LANES, CHUNK = 4 * BLOCK };

/* By bits, because a compiler turns a choice between x[i] and something else into a conditional
   store, and doesn't vectorise the loop around it. */
static inline CeedScalar Select(bool condition, CeedScalar yes, CeedScalar no) {
  ScalarBits mask = -(ScalarBits)condition, a, b;

  memcpy(&a, &yes, sizeof a);
  memcpy(&b, &no, sizeof b);
  a = (a & mask) | (b & ~mask);
  memcpy(&yes, &a, sizeof a);
  return yes;
}

static inline CeedScalar Square(CeedScalar x) { return x * x; }

typedef enum { MAGNITUDES, SQUARES } Terms;

static inline CeedScalar Term(Terms terms, CeedScalar scale, CeedScalar x) {
  return terms == MAGNITUDES ? Abs(x) : Square(scale * x);
}

static inline CeedScalar SumOfLanes(CeedScalar *lanes) {
  for (int width = LANES / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; j++) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

static inline CeedSize HalfOf(CeedSize n) { return (n / 2 + CHUNK - 1) / CHUNK * CHUNK; }

#define NAME(name) name##Baseline
#define TARGET
#include "kernels_loops.h"
#undef NAME
#undef TARGET

#ifdef __x86_64__
#define NAME(name) name##Avx2
#define TARGET __attribute__((target("avx2")))
#include "kernels_loops.h"
#undef NAME
#undef TARGET
#endif

const CeedKernels *CeedKernelsGet(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return &kernelsAvx2;
#endif
  return &kernelsBaseline;
}

/* Squares that overflow or vanish are summed again, scaled by a power of two, which is exact. */
static CeedScalar Norm2(CeedSize n, const CeedScalar *x) {
  const CeedKernels *kernels = CeedKernelsGet();
  CeedScalar sum = kernels->sum_squares(n, 1, x), largest, scale;
  int exponent;

  if (sum >= SCALAR_MIN / CEED_EPSILON && sum <= SCALAR_MAX) return (CeedScalar)sqrt((double)sum);
  largest = kernels->max_abs(n, x);
  if (!(largest > 0 && largest <= SCALAR_MAX)) return largest;
  frexp((double)largest, &exponent);
  scale = (CeedScalar)ldexp(1, -CeedIntMax(exponent, MIN_EXPONENT));
  return (CeedScalar)sqrt((double)kernels->sum_squares(n, scale, x)) / scale;
}

CeedScalar CeedNormOf(CeedSize n, const CeedScalar *x, CeedNormType type) {
  if (type == CEED_NORM_1) return CeedKernelsGet()->sum_abs(n, x);
  if (type == CEED_NORM_2) return Norm2(n, x);
  return CeedKernelsGet()->max_abs(n, x);
}
