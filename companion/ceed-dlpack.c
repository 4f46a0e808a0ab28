/// @file
/// CeedVectors as DLPack tensors, over the public functions of an installed libCEED.
/// SPDX-License-Identifier: BSD-2-Clause
#include "ceed-dlpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack_abi.h"

// What libCEED has reported is not reported again.
#define CeedCall(...)                              \
  do {                                             \
    const int code_ = (__VA_ARGS__);               \
    if (code_ != CEED_ERROR_SUCCESS) return code_; \
  } while (0)
#define CeedCheck(condition, ceed, ...)                    \
  do {                                                     \
    if (!(condition)) return CeedError(ceed, __VA_ARGS__); \
  } while (0)

#define SCALAR_BITS (8 * (int)sizeof(CeedScalar))

// ------------------------------------------------------------------------------------------------
// What both directions check
// ------------------------------------------------------------------------------------------------

// A program compiled for one precision may be linked to a libCEED of the other.
static int CheckPrecision(Ceed ceed) {
  CeedScalarType type;

  CeedCall(CeedGetScalarType(&type));
  CeedCheck(type == CEED_SCALAR_TYPE, ceed, CEED_ERROR_INCOMPATIBLE,
            "This file was compiled for %s, the libCEED it is linked to computes in %s",
            CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? "float32" : "float64",
            type == CEED_SCALAR_FP32 ? "float32" : "float64");
  return CEED_ERROR_SUCCESS;
}

// By the name of the context's resource, "/gpu/cuda/gen", with ":device_id=2" where it says so.
static int GetDevice(Ceed ceed, CeedMemType mem_type, DLDevice *device) {
  static const struct {
    const char *resource;
    int32_t type;
  } vendors[] = {
      {"/gpu/cuda", DLPACK_CUDA}, {"/gpu/hip", DLPACK_ROCM}, {"/gpu/sycl", DLPACK_ONEAPI}};
  static const char key[] = ":device_id=";
  const char *resource, *id;

  *device = (DLDevice){DLPACK_CPU, 0};
  if (mem_type == CEED_MEM_HOST) return CEED_ERROR_SUCCESS;
  CeedCheck(mem_type == CEED_MEM_DEVICE, ceed, CEED_ERROR_INCOMPATIBLE, "%d is no memory type",
            (int)mem_type);
  CeedCheck(ceed, ceed, CEED_ERROR_INCOMPLETE, "Device memory needs the context that holds it");
  CeedCall(CeedGetResource(ceed, &resource));
  for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++) {
    if (strncmp(resource, vendors[i].resource, strlen(vendors[i].resource))) continue;
    id = strstr(resource, key);
    *device = (DLDevice){vendors[i].type, id ? atoi(id + strlen(key)) : 0};
    return CEED_ERROR_SUCCESS;
  }
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%s has no device memory", resource);
}

// ------------------------------------------------------------------------------------------------
// A vector as a tensor
// ------------------------------------------------------------------------------------------------

typedef struct {
  CeedVector vec;
  bool read_only;
  CeedScalar *array;
  const CeedScalar *array_read;
  int64_t length, stride;
  DLManagedTensor legacy;
  DLManagedTensorVersioned versioned;
} VectorExport;

// A deleter has nobody to tell of an error; libCEED's handler has heard of it.
static void Release(VectorExport *held) {
  if (held->read_only)
    CeedVectorRestoreArrayRead(held->vec, &held->array_read);
  else
    CeedVectorRestoreArray(held->vec, &held->array);
  CeedVectorDestroy(&held->vec);
  free(held);
}

static void DeleteLegacy(DLManagedTensor *tensor) { Release(tensor->manager_ctx); }
static void DeleteVersioned(DLManagedTensorVersioned *tensor) { Release(tensor->manager_ctx); }

static int Hold(CeedVector vec, CeedMemType mem_type, VectorExport *held) {
  CeedSize length;

  CeedCall(CeedVectorGetLength(vec, &length));
  held->length = length;
  held->stride = 1;
  CeedCall(CeedVectorReferenceCopy(vec, &held->vec));
  if (held->read_only) return CeedVectorGetArrayRead(vec, mem_type, &held->array_read);
  return CeedVectorGetArray(vec, mem_type, &held->array);
}

static int Export(Ceed ceed, CeedVector vec, CeedMemType mem_type, bool read_only, DLTensor *tensor,
                  VectorExport **held) {
  DLDevice device;
  int code;

  CeedCheck(vec, ceed, CEED_ERROR_INCOMPLETE, "The vector is NULL");
  CeedCall(CheckPrecision(ceed));
  CeedCall(GetDevice(ceed, mem_type, &device));
  *held = calloc(1, sizeof **held);
  CeedCheck(*held, ceed, CEED_ERROR_MAJOR, "Out of memory");
  (*held)->read_only = read_only;
  code = Hold(vec, mem_type, *held);
  if (code != CEED_ERROR_SUCCESS) {
    CeedVectorDestroy(&(*held)->vec);
    free(*held);
    return code;
  }
  *tensor = (DLTensor){.data = read_only ? (void *)(*held)->array_read : (*held)->array,
                       .device = device,
                       .ndim = 1,
                       .dtype = {DLPACK_FLOAT, SCALAR_BITS, 1},
                       .shape = &(*held)->length,
                       .strides = &(*held)->stride};
  return CEED_ERROR_SUCCESS;
}

static int ExportVersioned(Ceed ceed, CeedVector vec, CeedMemType mem_type, bool read_only,
                           DLManagedTensorVersioned **dl) {
  VectorExport *held;
  DLTensor tensor;

  CeedCheck(dl, ceed, CEED_ERROR_INCOMPLETE, "There is no place for the tensor: dl is NULL");
  CeedCall(Export(ceed, vec, mem_type, read_only, &tensor, &held));
  held->versioned = (DLManagedTensorVersioned){.version = {DLPACK_MAJOR, DLPACK_MINOR},
                                               .manager_ctx = held,
                                               .deleter = DeleteVersioned,
                                               .flags = read_only ? DLPACK_FLAG_READ_ONLY : 0,
                                               .dl_tensor = tensor};
  *dl = &held->versioned;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type, DLManagedTensor **dl) {
  VectorExport *held;
  DLTensor tensor;

  CeedCheck(dl, ceed, CEED_ERROR_INCOMPLETE, "There is no place for the tensor: dl is NULL");
  CeedCall(Export(ceed, vec, mem_type, false, &tensor, &held));
  held->legacy = (DLManagedTensor){tensor, held, DeleteLegacy};
  *dl = &held->legacy;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorToDLPackVersioned(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                                DLManagedTensorVersioned **dl) {
  return ExportVersioned(ceed, vec, mem_type, false, dl);
}

int CeedVectorReadToDLPack(Ceed ceed, CeedVector vec, CeedMemType mem_type,
                           DLManagedTensorVersioned **dl) {
  return ExportVersioned(ceed, vec, mem_type, true, dl);
}

// ------------------------------------------------------------------------------------------------
// A tensor for a vector
// ------------------------------------------------------------------------------------------------

// The number of entries, or -1 where the shape is none or overflows.
static int64_t CountEntries(const DLTensor *tensor) {
  int64_t count = 1;

  if (tensor->ndim < 0 || tensor->ndim > DLPACK_MAX_NDIM) return -1;
  if (tensor->ndim > 0 && !tensor->shape) return -1;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] < 0) return -1;
    if (tensor->shape[i] == 0) return 0;
  }
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (count > INT64_MAX / tensor->shape[i]) return -1;
    count *= tensor->shape[i];
  }
  return count;
}

static bool IsCOrdered(const DLTensor *tensor) {
  int64_t expected = 1;

  if (!tensor->strides) return true;
  for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != expected) return false;
    expected *= tensor->shape[i];
  }
  return true;
}

// Managed and pinned memory may be read by the host at its address.
static int GetMemType(Ceed ceed, const DLTensor *tensor, CeedMemType *mem_type) {
  DLDevice device;

  *mem_type = CEED_MEM_HOST;
  switch (tensor->device.device_type) {
    case DLPACK_CPU:
    case DLPACK_CUDA_HOST:
    case DLPACK_ROCM_HOST:
    case DLPACK_CUDA_MANAGED:
      return CEED_ERROR_SUCCESS;
  }
  *mem_type = CEED_MEM_DEVICE;
  CeedCall(GetDevice(ceed, CEED_MEM_DEVICE, &device));
  CeedCheck(tensor->device.device_type == device.device_type &&
                tensor->device.device_id == device.device_id,
            ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor is on DLPack's device %d:%d, the vector's context computes on %d:%d",
            (int)tensor->device.device_type, (int)tensor->device.device_id, (int)device.device_type,
            (int)device.device_id);
  return CEED_ERROR_SUCCESS;
}

static int Check(Ceed ceed, CeedVector vec, const DLTensor *tensor) {
  const int64_t count = CountEntries(tensor);
  const DLDataType type = tensor->dtype;
  CeedSize length;

  CeedCall(CheckPrecision(ceed));
  CeedCall(CeedVectorGetLength(vec, &length));
  CeedCheck(type.code == DLPACK_FLOAT && type.bits == SCALAR_BITS && type.lanes == 1, ceed,
            CEED_ERROR_INCOMPATIBLE,
            "The tensor holds DLPack type (%d, %d, %d), this libCEED float%d; convert it first",
            type.code, type.bits, type.lanes, SCALAR_BITS);
  CeedCheck(count >= 0, ceed, CEED_ERROR_INCOMPATIBLE, "The tensor has an impossible shape");
  CeedCheck(count == length, ceed, CEED_ERROR_DIMENSION,
            "The tensor has %lld entries, the vector %lld", (long long)count, (long long)length);
  if (count == 0) return CEED_ERROR_SUCCESS;
  CeedCheck(tensor->data, ceed, CEED_ERROR_INCOMPATIBLE, "The tensor has no data");
  CeedCheck(IsCOrdered(tensor), ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor's entries do not lie one behind the other in C order; copy it first");
  CeedCheck(((uintptr_t)tensor->data + tensor->byte_offset) % sizeof(CeedScalar) == 0, ceed,
            CEED_ERROR_INCOMPATIBLE, "The tensor's data are not aligned for float%d", SCALAR_BITS);
  return CEED_ERROR_SUCCESS;
}

static int Set(Ceed ceed, CeedVector vec, const DLTensor *tensor, CeedCopyMode copy_mode,
               bool read_only) {
  CeedMemType mem_type;

  CeedCheck(vec, ceed, CEED_ERROR_INCOMPLETE, "The vector is NULL");
  CeedCheck(copy_mode != CEED_OWN_POINTER, ceed, CEED_ERROR_UNSUPPORTED,
            "libCEED frees what it owns with free(), a tensor ends with its deleter; use "
            "CEED_COPY_VALUES, or CEED_USE_POINTER and the deleter afterwards");
  CeedCheck(copy_mode == CEED_COPY_VALUES || copy_mode == CEED_USE_POINTER, ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no copy mode", (int)copy_mode);
  CeedCheck(!read_only || copy_mode == CEED_COPY_VALUES, ceed, CEED_ERROR_ACCESS,
            "The tensor is read-only and a vector's memory is not; use CEED_COPY_VALUES");
  CeedCall(Check(ceed, vec, tensor));
  CeedCall(GetMemType(ceed, tensor, &mem_type));
  return CeedVectorSetArray(vec, mem_type, copy_mode,
                            (CeedScalar *)((char *)tensor->data + tensor->byte_offset));
}

int CeedVectorTakeFromDLPack(Ceed ceed, CeedVector vec, DLManagedTensor *dl,
                             CeedCopyMode copy_mode) {
  CeedCheck(dl, ceed, CEED_ERROR_INCOMPLETE, "The tensor is NULL");
  CeedCall(Set(ceed, vec, &dl->dl_tensor, copy_mode, false));
  if (copy_mode == CEED_COPY_VALUES && dl->deleter) dl->deleter(dl);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorTakeFromDLPackVersioned(Ceed ceed, CeedVector vec, DLManagedTensorVersioned *dl,
                                      CeedCopyMode copy_mode) {
  CeedCheck(dl, ceed, CEED_ERROR_INCOMPLETE, "The tensor is NULL");
  CeedCheck(dl->version.major == DLPACK_MAJOR, ceed, CEED_ERROR_INCOMPATIBLE,
            "The tensor follows DLPack %u.%u, known here is version %d",
            (unsigned)dl->version.major, (unsigned)dl->version.minor, DLPACK_MAJOR);
  CeedCall(Set(ceed, vec, &dl->dl_tensor, copy_mode, dl->flags & DLPACK_FLAG_READ_ONLY));
  if (copy_mode == CEED_COPY_VALUES && dl->deleter) dl->deleter(dl);
  return CEED_ERROR_SUCCESS;
}
