// The single-precision half of test_both: a vector (3, 4) of the float32 library.
// SPDX-License-Identifier: BSD-2-Clause
#include "both.h"
#include "ceedlike.h"

static Ceed ceed;
static CeedVector vector;

int SingleBegin(void) {
  CeedScalar values[2] = {3, 4};
  int code = CeedInit("/cpu/self", &ceed);

  if (!code) code = CeedVectorCreate(ceed, 2, &vector);
  return code ? code : CeedVectorSetArray(vector, CEED_MEM_HOST, CEED_COPY_VALUES, values);
}

int SingleEnd(void) {
  int code = CeedVectorDestroy(&vector);

  return code ? code : CeedDestroy(&ceed);
}

void *SingleContext(void) { return ceed; }

void *SingleVector(void) { return vector; }

float SingleNorm(void) {
  CeedScalar norm = -1;

  CeedVectorNorm(vector, CEED_NORM_2, &norm);
  return norm;
}

int SingleSetValue(void *vec, float value) { return CeedVectorSetValue(vec, value); }

int SingleExport(void **tensor) {
  struct DLManagedTensorVersioned *given = NULL;
  int code = CeedVectorToDLPackVersioned(ceed, vector, CEED_MEM_HOST, &given);

  *tensor = given;
  return code;
}

int SingleTake(void *tensor) {
  return CeedVectorTakeFromDLPackVersioned(ceed, vector, tensor, CEED_USE_POINTER);
}

const char *SingleMessage(void) {
  const char *text = 0;

  CeedGetErrorMessage(ceed, &text);
  return text;
}

const char *SingleBuild(void) {
  const char *text = 0;

  CeedGetBuildConfiguration(&text);
  return text;
}

int SingleScalarType(void) {
  CeedScalarType type;

  return CeedGetScalarType(&type) ? -1 : (int)type;
}
