// Our own declaration of the structs of DLPack 1.3, so that no foreign header is needed to build.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DLPACK_ABI_H
#define CEEDLIKE_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3, DLPACK_MAX_NDIM = 64 };

enum {
  DLPACK_FLAG_READ_ONLY = 1 << 0,
  DLPACK_FLAG_IS_COPIED = 1 << 1,
  DLPACK_FLAG_SUBBYTE_PADDED = 1 << 2
};

enum {
  DLPACK_CPU = 1,
  DLPACK_CUDA = 2,
  DLPACK_CUDA_HOST = 3,
  DLPACK_ROCM = 10,
  DLPACK_ROCM_HOST = 11,
  DLPACK_CUDA_MANAGED = 13,
  DLPACK_ONEAPI = 14
};

enum { DLPACK_INT = 0, DLPACK_FLOAT = 2, DLPACK_BOOL = 6, DLPACK_FLOAT8 = 7 };

typedef struct {
  uint32_t major, minor;
} DLPackVersion;

typedef struct {
  int32_t device_type, device_id;
} DLDevice;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

typedef struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  struct DLPackExchangeAPIHeader *prev_api;
} DLPackExchangeAPIHeader;

typedef struct DLPackExchangeAPI {
  DLPackExchangeAPIHeader header;
  int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out,
                                  void *error_ctx,
                                  void (*set_error)(void *error_ctx, const char *kind,
                                                    const char *message));
  int (*managed_tensor_from_py_object_no_sync)(void *py_object, DLManagedTensorVersioned **out);
  int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor,
                                             void **out_py_object);
  int (*dltensor_from_py_object_no_sync)(void *py_object, DLTensor *out);
  int (*current_work_stream)(int32_t device_type, int32_t device_id, void **out_stream);
} DLPackExchangeAPI;

// A negative array length is C99's static assertion.
#define DLPACK_AT(type, member, offset) (offsetof(type, member) == (offset))
typedef char DLPackAbiHolds
    [sizeof(DLPackVersion) == 8 && sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4 &&
             DLPACK_AT(DLDataType, lanes, 2) && sizeof(DLTensor) == 48 &&
             DLPACK_AT(DLTensor, device, 8) && DLPACK_AT(DLTensor, ndim, 16) &&
             DLPACK_AT(DLTensor, dtype, 20) && DLPACK_AT(DLTensor, shape, 24) &&
             DLPACK_AT(DLTensor, strides, 32) && DLPACK_AT(DLTensor, byte_offset, 40) &&
             sizeof(DLManagedTensor) == 64 && DLPACK_AT(DLManagedTensor, manager_ctx, 48) &&
             DLPACK_AT(DLManagedTensor, deleter, 56) && sizeof(DLManagedTensorVersioned) == 80 &&
             DLPACK_AT(DLManagedTensorVersioned, manager_ctx, 8) &&
             DLPACK_AT(DLManagedTensorVersioned, deleter, 16) &&
             DLPACK_AT(DLManagedTensorVersioned, flags, 24) &&
             DLPACK_AT(DLManagedTensorVersioned, dl_tensor, 32) &&
             sizeof(DLPackExchangeAPIHeader) == 16 && sizeof(DLPackExchangeAPI) == 56
         ? 1
         : -1];

#endif
