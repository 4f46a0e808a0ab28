// The functions of _numbers.h, once for each precision: the file that includes this names the table.
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

const Numbers NUMBERS = {SetValue, Norm, Scale, Filter, Axpy, Axpby};
