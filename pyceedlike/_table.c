// The C exchange API of DLPack 1.3: what libraries call that skip Python on the way.
// SPDX-License-Identifier: BSD-2-Clause
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "_exchange.h"

static int CheckObject(void *object) {
  if (PyObject_TypeCheck((PyObject *)object, exporter_type)) return 0;
  PyErr_Format(PyExc_TypeError, "%R shares no memory of pyceedlike",
               (PyObject *)Py_TYPE((PyObject *)object));
  return -1;
}

/* What CurrentStream() tells is where the memory may be used. */
static const Request on_default_stream = {.stream = NULL};

static int FromObject(void *object, DLManagedTensorVersioned **out) {
  Exporter *self = object;
  int code;

  if (CheckObject(object)) return -1;
  if (self->mem_type == CEED_MEM_DEVICE && OrderExport(self, &on_default_stream)) return -1;
  code = Share(self, self->mem_type, out);
  if (!code) return 0;
  RaiseExport(self->lib, code);
  return -1;
}

/* Takes the tensor on success only. */
static int ToObject(DLManagedTensorVersioned *tensor, void **out) {
  *out = ImportVersioned((PyTypeObject *)given[VECTOR_TYPE], tensor);
  return *out ? 0 : -1;
}

/* Lent until control returns to the caller, so that no export is kept; shape and strides are kept in
   the object. */
static int Borrow(void *object, DLTensor *out) {
  DLManagedTensorVersioned *tensor;
  Exporter *self = object;
  DLTensor lent;
  bool read_only;

  if (FromObject(object, &tensor)) return -1;
  read_only = tensor->flags & DLPACK_FLAG_READ_ONLY;
  lent = tensor->dl_tensor;
  memcpy(self->shape, lent.shape, (size_t)lent.ndim * sizeof(*self->shape));
  memcpy(self->strides, lent.strides, (size_t)lent.ndim * sizeof(*self->strides));
  tensor->deleter(tensor);
  if (read_only) {
    PyErr_SetString(ErrorClass(CEED_ERROR_ACCESS),
                    "this memory is read-only or leased to readers, and a DLTensor can't say so");
    return -1;
  }
  lent.shape = self->shape;
  lent.strides = self->strides;
  *out = lent;
  return 0;
}

static int CurrentStream(int32_t Py_UNUSED(type), int32_t Py_UNUSED(id), void **out) {
  *out = NULL;
  return 0;
}

// ------------------------------------------------------------------------------------------------
// The allocator: plain C, any thread
// ------------------------------------------------------------------------------------------------

enum { ALIGNMENT = 256 };

static void FreeTensor(DLManagedTensorVersioned *tensor) { free(tensor); }

/* The bytes of the entries, which are packed where they are smaller than one. */
static const char *CountBytes(const DLTensor *prototype, size_t *bytes) {
  uint64_t bits;
  int64_t count = 1;

  if (!prototype) return "the prototype is NULL";
  if (prototype->device.device_type != DLPACK_CPU) return "only host memory is allocated here";
  if (prototype->ndim < 0 || prototype->ndim > DLPACK_MAX_NDIM) return "ndim is not in 0..64";
  if (prototype->ndim && !prototype->shape) return "the shape is NULL";
  if (!prototype->dtype.bits || !prototype->dtype.lanes) return "the type has no bits or no lanes";
  for (int32_t i = 0; i < prototype->ndim; i++) {
    if (prototype->shape[i] < 0) return "a length is negative";
    if (prototype->shape[i] == 0) count = 0;
  }
  for (int32_t i = 0; count && i < prototype->ndim; i++) {
    if (__builtin_mul_overflow(count, prototype->shape[i], &count)) return "the shape overflows";
  }
  bits = (uint64_t)prototype->dtype.bits * prototype->dtype.lanes;
  if (__builtin_mul_overflow(bits, (uint64_t)count, &bits)) return "the shape overflows";
  *bytes = bits / 8 + (bits % 8 != 0);
  return NULL;
}

static void FillTensor(DLManagedTensorVersioned *tensor, const DLTensor *prototype, void *data) {
  int64_t *shape = (int64_t *)(tensor + 1), *strides = shape + prototype->ndim, step = 1;

  for (int32_t i = prototype->ndim - 1; i >= 0; i--) {
    shape[i] = prototype->shape[i];
    strides[i] = step;
    if (shape[i] && __builtin_mul_overflow(step, shape[i], &step)) step = 0; /* it is empty */
  }
  *tensor = (DLManagedTensorVersioned){
      {DLPACK_MAJOR, DLPACK_MINOR},
      NULL,
      FreeTensor,
      0,
      {data, {DLPACK_CPU, 0}, prototype->ndim, prototype->dtype, shape, strides, 0}};
}

/* Struct, shape, strides and entries are one block. */
static int Allocator(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                     void (*set_error)(void *error_ctx, const char *kind, const char *message)) {
  size_t bytes = 0, head;
  void *block = NULL;
  const char *fault = out ? CountBytes(prototype, &bytes) : "the output is NULL";

  if (fault) {
    set_error(error_ctx, "ValueError", fault);
    return -1;
  }
  head = sizeof(DLManagedTensorVersioned) + 2 * (size_t)prototype->ndim * sizeof(int64_t);
  head = (head + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (bytes > PTRDIFF_MAX - head || posix_memalign(&block, ALIGNMENT, head + bytes)) {
    set_error(error_ctx, "MemoryError", "out of memory");
    return -1;
  }
  FillTensor(block, prototype, bytes ? (char *)block + head : NULL);
  *out = block;
  return 0;
}

DLPackExchangeAPI exchange_api = {
    {{DLPACK_MAJOR, DLPACK_MINOR}, NULL}, Allocator, FromObject, ToObject, Borrow, CurrentStream};
