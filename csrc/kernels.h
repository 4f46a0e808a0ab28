// Loops over arrays in host memory, in the widest instructions of the machine at hand.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_KERNELS_H
#define CEEDLIKE_KERNELS_H

#include "ceedlike.h"

/* Arrays may overlap only where they are the same. All sets of instructions give the same bits. */
typedef struct {
  void (*set)(CeedSize n, CeedScalar a, CeedScalar *x);
  void (*scale)(CeedSize n, CeedScalar a, CeedScalar *x);
  void (*filter)(CeedSize n, CeedScalar threshold, CeedScalar *x);
  void (*reciprocal)(CeedSize n, CeedScalar *x);
  void (*axpy)(CeedSize n, CeedScalar a, const CeedScalar *x, CeedScalar *y);
  void (*axpby)(CeedSize n, CeedScalar a, const CeedScalar *x, CeedScalar b, CeedScalar *y);
  void (*multiply)(CeedSize n, const CeedScalar *x, const CeedScalar *y, CeedScalar *w);
  CeedScalar (*sum_abs)(CeedSize n, const CeedScalar *x);
  CeedScalar (*sum_squares)(CeedSize n, CeedScalar scale, const CeedScalar *x); /* of scale x */
  CeedScalar (*max_abs)(CeedSize n, const CeedScalar *x);                       /* NaN wins */
} CeedKernels;

const CeedKernels *CeedKernelsGet(void);

CeedScalar CeedNormOf(CeedSize n, const CeedScalar *x, CeedNormType type);

/* The step of a strided loop, which never overflows near the end. */
static inline CeedSize CeedStep(CeedSize step, CeedSize left) { return step < left ? step : left; }

#endif
