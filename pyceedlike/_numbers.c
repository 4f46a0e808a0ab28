// The functions of _numbers.h in double precision; _numbers_f32.c includes this for the other one.
// SPDX-License-Identifier: BSD-2-Clause
#include "_numbers.h"

static int SetValue(CeedVector vec, double value) {
  return CeedVectorSetValue(vec, (CeedScalar)value);
}

static int Norm(CeedVector vec, CeedNormType type, double *norm) {
  CeedScalar result = 0;
  int code = CeedVectorNorm(vec, type, &result);

  *norm = result;
  return code;
}

static int Scale(CeedVector x, double alpha) { return CeedVectorScale(x, (CeedScalar)alpha); }

static int Filter(CeedVector x, double threshold) {
  return CeedVectorFilter(x, (CeedScalar)threshold);
}

static int Axpy(CeedVector y, double alpha, CeedVector x) {
  return CeedVectorAXPY(y, (CeedScalar)alpha, x);
}

static int Axpby(CeedVector y, double alpha, double beta, CeedVector x) {
  return CeedVectorAXPBY(y, (CeedScalar)alpha, (CeedScalar)beta, x);
}

#ifdef CEEDLIKE_SINGLE
const Numbers numbers_f32
#else
const Numbers numbers_f64
#endif
    = {SetValue, Norm, Scale, Filter, Axpy, Axpby};
