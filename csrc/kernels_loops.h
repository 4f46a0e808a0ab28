// The loops, once for each set of instructions: kernels.c defines NAME and TARGET before.
// SPDX-License-Identifier: BSD-2-Clause

TARGET static void NAME(Set)(CeedSize n, CeedScalar a, CeedScalar *x) {
  for (CeedSize i = 0; i < n; i++) x[i] = a;
}

TARGET static void NAME(Scale)(CeedSize n, CeedScalar a, CeedScalar *x) {
  for (CeedSize i = 0; i < n; i++) x[i] *= a;
}

TARGET static void NAME(Filter)(CeedSize n, CeedScalar threshold, CeedScalar *x) {
  for (CeedSize i = 0; i < n; i++) x[i] = Select(Abs(x[i]) <= threshold, 0, x[i]);
}

TARGET static void NAME(Reciprocal)(CeedSize n, CeedScalar *x) {
  for (CeedSize i = 0; i < n; i++) {
    CeedScalar divisor = Select(Abs(x[i]) > CEED_EPSILON, x[i], 1);
    x[i] = Select(Abs(x[i]) > CEED_EPSILON, 1 / divisor, x[i]);
  }
}

TARGET static void NAME(Axpy)(CeedSize n, CeedScalar a, const CeedScalar *x, CeedScalar *y) {
  for (CeedSize i = 0; i < n; i++) y[i] += a * x[i];
}

TARGET static void NAME(Axpby)(CeedSize n, CeedScalar a, const CeedScalar *x, CeedScalar b,
                               CeedScalar *y) {
  for (CeedSize i = 0; i < n; i++) y[i] = a * x[i] + b * y[i];
}

TARGET static void NAME(Multiply)(CeedSize n, const CeedScalar *x, const CeedScalar *y,
                                  CeedScalar *w) {
  for (CeedSize i = 0; i < n; i++) w[i] = x[i] * y[i];
}

/* Inlined, so that the kind of the terms is chosen outside the loop. */
TARGET static inline __attribute__((always_inline)) void NAME(AddBlock)(CeedSize n, Terms terms,
                                                                        CeedScalar scale,
                                                                        const CeedScalar *x,
                                                                        CeedScalar *lanes) {
  CeedScalar sums[LANES];
  CeedSize i = 0;

  for (int j = 0; j < LANES; j++) sums[j] = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int j = 0; j < LANES; j++) sums[j] += Term(terms, scale, x[i + j]);
  }
  for (int j = 0; j < LANES; j++) lanes[j] += sums[j];
  for (int j = 0; i + j < n; j++) lanes[j] += Term(terms, scale, x[i + j]);
}

TARGET static inline __attribute__((always_inline)) void NAME(SumBlocks)(CeedSize n, Terms terms,
                                                                         CeedScalar scale,
                                                                         const CeedScalar *x,
                                                                         CeedScalar *lanes) {
  for (int j = 0; j < LANES; j++) lanes[j] = 0;
  for (CeedSize i = 0; i < n; i += BLOCK) {
    NAME(AddBlock)(n - i < BLOCK ? n - i : BLOCK, terms, scale, x + i, lanes);
  }
}

TARGET static void NAME(SumInLanes)(CeedSize n, Terms terms, CeedScalar scale, const CeedScalar *x,
                                    CeedScalar *lanes) {
  CeedSize half = HalfOf(n);
  CeedScalar right[LANES];

  if (n > CHUNK) {
    NAME(SumInLanes)(half, terms, scale, x, lanes);
    NAME(SumInLanes)(n - half, terms, scale, x + half, right);
    for (int j = 0; j < LANES; j++) lanes[j] += right[j];
  } else if (terms == MAGNITUDES) {
    NAME(SumBlocks)(n, MAGNITUDES, 1, x, lanes);
  } else if (scale == 1) {
    NAME(SumBlocks)(n, SQUARES, 1, x, lanes);
  } else {
    NAME(SumBlocks)(n, SQUARES, scale, x, lanes);
  }
}

TARGET static CeedScalar NAME(SumAbs)(CeedSize n, const CeedScalar *x) {
  CeedScalar lanes[LANES];

  NAME(SumInLanes)(n, MAGNITUDES, 1, x, lanes);
  return SumOfLanes(lanes);
}

TARGET static CeedScalar NAME(SumSquares)(CeedSize n, CeedScalar scale, const CeedScalar *x) {
  CeedScalar lanes[LANES];

  NAME(SumInLanes)(n, SQUARES, scale, x, lanes);
  return SumOfLanes(lanes);
}

/* Magnitudes are ordered as the integers of their bits are, and NaN comes after infinity. */
TARGET static CeedScalar NAME(MaxAbs)(CeedSize n, const CeedScalar *x) {
  ScalarBits largest = 0;
  CeedScalar result;

  for (CeedSize i = 0; i < n; i++) {
    ScalarBits bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= MAGNITUDE_BITS;
    largest = bits > largest ? bits : largest;
  }
  memcpy(&result, &largest, sizeof result);
  return result;
}

static const CeedKernels NAME(kernels) = {
    NAME(Set),   NAME(Scale),    NAME(Filter), NAME(Reciprocal), NAME(Axpy),
    NAME(Axpby), NAME(Multiply), NAME(SumAbs), NAME(SumSquares), NAME(MaxAbs),
};
