// The contractions of contract.c, once for each set of instructions: NAME and TARGET say which.
// SPDX-License-Identifier: BSD-2-Clause

TARGET static inline __attribute__((always_inline)) void NAME(Any)(CeedInt m, CeedInt n,
                                                                   const CeedScalar *A,
                                                                   CeedSize before, CeedSize after,
                                                                   bool add, const CeedScalar *x,
                                                                   CeedScalar *y) {
  for (CeedSize a = 0; a < after; a++) {
    for (CeedSize b = 0; b < before; b++) {
      const Lanes *restrict from = (const Lanes *)x + a * n * before + b;
      Lanes *restrict to = (Lanes *)y + a * m * before + b;
#pragma GCC unroll 16
      for (CeedInt i = 0; i < m; i++) {
        Lanes sum = add ? to[i * before] : (Lanes){0};
#pragma GCC unroll 16
        for (CeedInt j = 0; j < n; j++) sum += A[i * n + j] * from[j * before];
        to[i * before] = sum;
      }
    }
  }
}

/* Sizes that the compiler knows: what usual orders have, and some points more or less. */
#define SIZE(M, N)                                                                  \
  TARGET static void NAME(Size##M##x##N)(CeedInt m, CeedInt n, const CeedScalar *A, \
                                         CeedSize before, CeedSize after, bool add, \
                                         const CeedScalar *x, CeedScalar *y) {      \
    (void)m, (void)n;                                                               \
    if (add) {                                                                      \
      NAME(Any)(M, N, A, before, after, true, x, y);                                \
    } else {                                                                        \
      NAME(Any)(M, N, A, before, after, false, x, y);                               \
    }                                                                               \
  }
SIZES
#undef SIZE

TARGET static void NAME(General)(CeedInt m, CeedInt n, const CeedScalar *A, CeedSize before,
                                 CeedSize after, bool add, const CeedScalar *x, CeedScalar *y) {
  NAME(Any)(m, n, A, before, after, add, x, y);
}

static CeedContract NAME(Get)(CeedInt m, CeedInt n) {
#define SIZE(M, N) \
  if (m == M && n == N) return NAME(Size##M##x##N);
  SIZES
#undef SIZE
  return NAME(General);
}
