// Tensors made of arbitrary bytes, legacy and versioned, for the fuzz targets.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TENSOR_FROM_BYTES_H
#define TENSOR_FROM_BYTES_H

#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ceedlike.h"
#include "dlpack_abi.h"

#define REQUIRE(condition)     \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

__extension__ typedef __int128 Wide;

typedef struct {
  const uint8_t *bytes;
  size_t left;
} Input;

/* The next bytes, zeros once they are used up. */
static inline uint64_t Next(Input *input, size_t size) {
  uint64_t value = 0;

  if (size > input->left) size = input->left;
  memcpy(&value, input->bytes, size);
  input->bytes += size;
  input->left -= size;
  return value;
}

/* A number that is small, or near a power of two, or anything. */
static inline int64_t NextNumber(Input *input) {
  uint64_t kind = Next(input, 1), value;

  if (kind < 160) return (int64_t)(kind % 16) - 3;
  if (kind < 200) return (int64_t)((UINT64_C(1) << Next(input, 1) % 64) + kind % 3 - 1);
  value = Next(input, 8);
  return (int64_t)value;
}

typedef struct {
  union {
    DLManagedTensor legacy;
    DLManagedTensorVersioned versioned;
  } tensor;
  int64_t shape[80], strides[80];
  int deleted;
  bool is_versioned;
} Subject;

static inline void CountLegacy(DLManagedTensor *tensor) {
  ((Subject *)tensor->manager_ctx)->deleted++;
}

static inline void CountVersioned(DLManagedTensorVersioned *tensor) {
  ((Subject *)tensor->manager_ctx)->deleted++;
}

static inline DLTensor *TensorOf(Subject *subject) {
  return subject->is_versioned ? &subject->tensor.versioned.dl_tensor
                               : &subject->tensor.legacy.dl_tensor;
}

static inline void FillMetadata(Subject *subject, Input *input, void *memory) {
  DLTensor *tensor = TensorOf(subject);
  uint64_t choice = Next(input, 1);
  int32_t axes;

  tensor->data = choice % 8 == 0   ? NULL
                 : choice % 8 == 1 ? (void *)(uintptr_t)Next(input, 8)
                                   : memory;
  tensor->device.device_type = choice & 16 ? (int32_t)Next(input, 4) : DLPACK_CPU;
  tensor->device.device_id = (int32_t)Next(input, 1);
  tensor->ndim = choice & 32 ? (int32_t)Next(input, 4) : (int32_t)Next(input, 1) % 6;
  tensor->dtype = (DLDataType){DLPACK_FLOAT, 8 * sizeof(CeedScalar), 1};
  if (choice & 64) {
    tensor->dtype =
        (DLDataType){(uint8_t)Next(input, 1), (uint8_t)Next(input, 1), (uint16_t)Next(input, 2)};
  }
  tensor->byte_offset = choice & 128 ? (uint64_t)NextNumber(input) : 0;
  tensor->shape = Next(input, 1) % 16 ? subject->shape : NULL;
  tensor->strides = Next(input, 1) % 4 ? subject->strides : NULL;
  axes = tensor->ndim < 0 ? 0 : tensor->ndim > 80 ? 80 : tensor->ndim;
  for (int32_t i = 0; i < axes; i++) {
    subject->shape[i] = NextNumber(input);
    subject->strides[i] = NextNumber(input);
  }
}

static inline void *SubjectFromBytes(Subject *subject, Input *input, void *memory) {
  uint64_t choice = Next(input, 1);

  memset(subject, 0, sizeof *subject);
  subject->is_versioned = choice & 1;
  if (subject->is_versioned) {
    DLManagedTensorVersioned *tensor = &subject->tensor.versioned;
    tensor->version = (DLPackVersion){choice & 2 ? (uint32_t)Next(input, 1) : 1, 3};
    tensor->flags = choice & 4 ? Next(input, 8) : 0;
    tensor->manager_ctx = subject;
    tensor->deleter = choice & 8 ? NULL : CountVersioned;
  } else {
    subject->tensor.legacy.manager_ctx = subject;
    subject->tensor.legacy.deleter = choice & 8 ? NULL : CountLegacy;
  }
  FillMetadata(subject, input, memory);
  return &subject->tensor;
}

static inline bool HasDeleter(const Subject *subject) {
  return subject->is_versioned ? subject->tensor.versioned.deleter != NULL
                               : subject->tensor.legacy.deleter != NULL;
}

/* With the name of a folder this is a test that reads the inputs in it, of any compiler. */
#ifdef CORPUS
#include "replay.h"
#endif

#endif
