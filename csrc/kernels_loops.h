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

TARGET static CeedScalar NAME(BlockSumAbs)(CeedSize n, const CeedScalar *x) {
  CeedScalar lanes[LANES], rest = 0;
  CeedSize i = n < LANES ? 0 : LANES;

  for (int j = 0; j < LANES; j++) lanes[j] = i ? Abs(x[j]) : 0;
  for (; i + LANES <= n; i += LANES) {
    for (int j = 0; j < LANES; j++) lanes[j] += Abs(x[i + j]);
  }
  for (; i < n; i++) rest += Abs(x[i]);
  return rest + SumLanes(lanes);
}

/* Inlined, so that a scale of 1 is no multiplication. */
TARGET static inline __attribute__((always_inline)) CeedScalar NAME(BlockSumSquares)(
    CeedSize n, CeedScalar scale, const CeedScalar *x) {
  CeedScalar lanes[LANES], rest = 0;
  CeedSize i = n < LANES ? 0 : LANES;

  for (int j = 0; j < LANES; j++) lanes[j] = i ? Square(scale * x[j]) : 0;
  for (; i + LANES <= n; i += LANES) {
    for (int j = 0; j < LANES; j++) lanes[j] += Square(scale * x[i + j]);
  }
  for (; i < n; i++) rest += Square(scale * x[i]);
  return rest + SumLanes(lanes);
}

TARGET static CeedScalar NAME(SumAbs)(CeedSize n, const CeedScalar *x) {
  CeedSize half = HalfOf(n);

  if (n <= BLOCK) return NAME(BlockSumAbs)(n, x);
  return NAME(SumAbs)(half, x) + NAME(SumAbs)(n - half, x + half);
}

TARGET static CeedScalar NAME(SumSquares)(CeedSize n, CeedScalar scale, const CeedScalar *x) {
  CeedSize half = HalfOf(n);

  if (n <= BLOCK && scale == 1) return NAME(BlockSumSquares)(n, 1, x);
  if (n <= BLOCK) return NAME(BlockSumSquares)(n, scale, x);
  return NAME(SumSquares)(half, scale, x) + NAME(SumSquares)(n - half, scale, x + half);
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
