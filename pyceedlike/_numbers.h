// The functions of the C library that take or give a number, called with doubles.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef PYCEEDLIKE_NUMBERS_H
#define PYCEEDLIKE_NUMBERS_H

#include "ceedlike.h"

typedef struct {
  int (*set_value)(CeedVector vec, double value);
  int (*norm)(CeedVector vec, CeedNormType type, double *norm);
  int (*scale)(CeedVector x, double alpha);
  int (*filter)(CeedVector x, double threshold);
  int (*axpy)(CeedVector y, double alpha, CeedVector x);
  int (*axpby)(CeedVector y, double alpha, double beta, CeedVector x);
} Numbers;

extern const Numbers numbers_f64, numbers_f32;

#endif
