// Reading tensors of strangers: what they say of themselves, checked before it is believed.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_TENSOR_H
#define CEEDLIKE_TENSOR_H

#include "impl.h"

/* Where the entries of a tensor lie, once its shape and strides have been found sound. */
typedef struct {
  int64_t count;
  bool contiguous;   /* in C order */
  char *first;       /* the first entry; NULL where there is none */
  int64_t low, high; /* the entries that are reached, counted from the first */
} TensorLayout;

const char *DeviceName(int32_t device_type);
const char *TypeName(DLDataType type, char *text, size_t size);

enum { TENSOR_TEXT = 1536 }; /* room for all the axes there can be */
const char *NumbersText(int32_t ndim, const int64_t *numbers, char *text, size_t size);

bool IsHostAddressable(DLDevice device);

/* Either kind of managed tensor: what both have, and how to let it go. */
typedef struct {
  void *managed;
  bool versioned, read_only;
  const DLTensor *tensor;
} AnyTensor;

int AnyTensorOpen(Ceed ceed, const void *managed, bool versioned, AnyTensor *any);
void AnyTensorRelease(const AnyTensor *any);

int TensorCheckLayout(Ceed ceed, const DLTensor *tensor, size_t item_bytes, TensorLayout *layout);

#endif
