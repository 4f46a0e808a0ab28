// SPDX-License-Identifier: BSD-2-Clause
#include "filter.h"

#include <stdlib.h>

typedef struct {
  DLManagedTensor managed;
  int64_t length;
  double values[];
} Line;

static void Delete(DLManagedTensor *tensor) { free(tensor->manager_ctx); }

static int IsLine(const DLTensor *tensor) {
  return tensor->device.device_type == kDLCPU && tensor->ndim == 1 && tensor->shape[0] > 1 &&
         tensor->dtype.code == kDLFloat && tensor->dtype.bits == 64 && tensor->dtype.lanes == 1;
}

static Line *MakeLine(const DLTensor *like) {
  Line *line = calloc(1, sizeof *line + (size_t)like->shape[0] * sizeof(double));

  if (!line) return NULL;
  line->length = like->shape[0];
  line->managed.dl_tensor = *like;
  line->managed.dl_tensor.data = line->values;
  line->managed.dl_tensor.shape = &line->length;
  line->managed.dl_tensor.strides = NULL;
  line->managed.dl_tensor.byte_offset = 0;
  line->managed.manager_ctx = line;
  line->managed.deleter = Delete;
  return line;
}

DLManagedTensor *FilterSmooth(DLManagedTensor *field) {
  const DLTensor *tensor = &field->dl_tensor;
  Line *line = IsLine(tensor) ? MakeLine(tensor) : NULL;

  if (!line) return NULL;
  {
    const double *u =
        (const double *)(const void *)((const char *)tensor->data + tensor->byte_offset);
    const int64_t n = line->length, step = tensor->strides ? tensor->strides[0] : 1;

    line->values[0] = u[0];
    line->values[n - 1] = u[(n - 1) * step];
    for (int64_t i = 1; i < n - 1; i++) {
      line->values[i] = (u[(i - 1) * step] + u[i * step] + u[(i + 1) * step]) / 3;
    }
  }
  if (field->deleter) field->deleter(field);
  return &line->managed;
}
