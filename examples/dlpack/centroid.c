// SPDX-License-Identifier: BSD-2-Clause
#include "centroid.h"

#include <ceedlike.h>
#include <dlpack/dlpack.h>

int Centroid(const void *points, bool versioned, double mean[3]) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;
  const int64_t shape[] = {-1, 3};
  const DLTensor *tensor;
  const double *xyz;
  int code;

  spec.code = kDLFloat;
  spec.bits = 64;
  spec.lanes = 1;
  spec.ndim = 2;
  spec.shape = shape;
  spec.contiguous = true;
  spec.alignment = sizeof(double);
  code = CeedDLPackCheck(points, versioned, &spec);
  if (code) return code;

  tensor = versioned ? &((const DLManagedTensorVersioned *)points)->dl_tensor
                     : &((const DLManagedTensor *)points)->dl_tensor;
  if (tensor->shape[0] == 0) return CeedError(NULL, CEED_ERROR_DIMENSION, "there are no points");
  xyz = (const double *)(const void *)((const char *)tensor->data + tensor->byte_offset);
  mean[0] = mean[1] = mean[2] = 0;
  for (int64_t i = 0; i < 3 * tensor->shape[0]; i++) mean[i % 3] += xyz[i];
  for (int i = 0; i < 3; i++) mean[i] /= (double)tensor->shape[0];
  return CEED_ERROR_SUCCESS;
}
