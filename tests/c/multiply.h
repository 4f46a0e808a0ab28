// The operator v = w u on a line of n points, w being data; tests give it the function they need.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MULTIPLY_H
#define MULTIPLY_H

#include "fem.h"

static inline int Multiply(void *ctx, CeedInt Q, const CeedScalar *const *in,
                           CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] * in[1][i];
  return 0;
}

static inline CeedVector Constant(CeedSize length, CeedScalar value) {
  CeedVector vec = NULL;

  if (CeedVectorCreate(ceed, length, &vec) || CeedVectorSetValue(vec, value)) return NULL;
  return vec;
}

static inline CeedElemRestriction Line(CeedInt n) {
  CeedElemRestriction rstr = NULL;

  if (CeedElemRestrictionCreateStrided(ceed, n, 1, 1, n, (CeedInt[]){1, 1, 1}, &rstr)) return NULL;
  return rstr;
}

// `*qf` is given where it is not NULL.
static inline int MultiplyCreate(CeedVector w, CeedQFunctionUser f, CeedQFunction *qf,
                                 CeedOperator *op) {
  CeedSize n = 0;
  CeedQFunction own = NULL;
  CeedElemRestriction rstr;

  ASSERT_OK(CeedVectorGetLength(w, &n));
  rstr = Line((CeedInt)n);
  ASSERT_OK(CeedQFunctionCreateInterior(ceed, 1, f, "multiply.h:Multiply", &own));
  ASSERT_OK(CeedQFunctionAddInput(own, "u", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddInput(own, "w", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedQFunctionAddOutput(own, "v", 1, CEED_EVAL_NONE));
  ASSERT_OK(CeedOperatorCreate(ceed, own, NULL, NULL, op));
  ASSERT_OK(CeedOperatorSetField(*op, "u", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  ASSERT_OK(CeedOperatorSetField(*op, "w", rstr, CEED_BASIS_NONE, w));
  ASSERT_OK(CeedOperatorSetField(*op, "v", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CeedElemRestrictionDestroy(&rstr);
  if (qf) ASSERT_OK(CeedQFunctionReferenceCopy(own, qf));
  ASSERT_OK(CeedQFunctionDestroy(&own));
  return TEST_PASSED;
}

// A context of one double, the field "k".
static inline CeedQFunctionContext ContextOf(double value) {
  CeedQFunctionContext ctx = NULL;

  if (CeedQFunctionContextCreate(ceed, &ctx)) return NULL;
  if (CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof value, &value)) {
    return NULL;
  }
  if (CeedQFunctionContextRegisterDouble(ctx, "k", 0, 1, NULL)) return NULL;
  return ctx;
}

static inline double ValueOf(CeedQFunctionContext ctx) {
  const double *data;
  double value;

  if (CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data)) return NAN;
  value = *data;
  CeedQFunctionContextRestoreDataRead(ctx, &data);
  return value;
}

// Nobody reads or writes the data.
static inline int IsFree(CeedQFunctionContext ctx) {
  double *data;

  ASSERT_OK(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  ASSERT_OK(CeedQFunctionContextRestoreData(ctx, &data));
  return TEST_PASSED;
}

#endif
