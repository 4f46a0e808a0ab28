// Fuzz target: exporting and wrapping with any shape and strides. A tensor reaches nothing outside
// the memory, says the shape that was asked for, and is gone when its deleter was called; a refusal
// leaves no trace.
// SPDX-License-Identifier: BSD-2-Clause
#include "tensor_from_bytes.h"

enum { LENGTH = 64, MAX_COPY = 4096, AXES = 80 };

typedef struct {
  int32_t ndim;
  int64_t shape[AXES], strides[AXES];
  bool has_strides, has_shape;
} Request;

static Request RequestFromBytes(Input *input) {
  uint64_t choice = Next(input, 1);
  Request r = {.has_shape = choice % 16 != 0, .has_strides = choice & 128};

  r.ndim = choice & 64 ? (int32_t)NextNumber(input) : (int32_t)(choice / 16 % 4);
  for (int32_t i = 0; i < AXES && i < r.ndim; i++) {
    r.shape[i] = NextNumber(input);
    if (r.has_strides) r.strides[i] = NextNumber(input);
  }
  return r;
}

/* The entries of a shape whose lengths are not negative; far too many are as good as any number. */
static Wide CountOf(const DLTensor *tensor) {
  Wide count = 1;

  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] == 0) return 0;
    if (count <= INT64_MAX) count *= tensor->shape[i];
  }
  return count;
}

/* Whether a copy would have few entries; what is malformed is refused before anything is copied. */
static bool IsCopySmall(const Request *r) {
  DLTensor tensor = {.ndim = r->ndim, .shape = (int64_t *)r->shape};

  if (!r->has_shape || r->ndim < 0 || r->ndim > DLPACK_MAX_NDIM) return true;
  for (int32_t i = 0; i < r->ndim; i++) {
    if (r->shape[i] < 0) return true;
  }
  return CountOf(&tensor) <= MAX_COPY;
}

/* Where entry i of C order lies. */
static Wide Locate(const DLTensor *tensor, int64_t i) {
  Wide at = 0;

  for (int32_t axis = tensor->ndim - 1; axis >= 0; axis--) {
    at += (Wide)(i % tensor->shape[axis]) * tensor->strides[axis];
    i /= tensor->shape[axis];
  }
  return at;
}

/* `last` is the last entry that is reached, from the first. */
static void CheckShape(const DLTensor *tensor, const Request *r, bool keeps_strides, Wide *last) {
  REQUIRE(tensor->ndim == r->ndim && tensor->ndim >= 0 && tensor->ndim <= DLPACK_MAX_NDIM);
  *last = 0;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    REQUIRE(tensor->shape[i] == r->shape[i] && tensor->shape[i] >= 0);
    if (keeps_strides && tensor->shape[i] > 1) REQUIRE(tensor->strides[i] == r->strides[i]);
    *last += (Wide)(tensor->shape[i] - 1) * tensor->strides[i];
  }
  REQUIRE(!CountOf(tensor) == !tensor->data);
  REQUIRE(tensor->byte_offset == 0 && tensor->dtype.bits == 8 * sizeof(CeedScalar));
}

/* Entry i of a copy is compact, entry i of anything else lies where the strides say. */
static void CheckEntries(const DLTensor *tensor, const Request *r, CeedExportMode mode) {
  bool is_copy = mode == CEED_EXPORT_COPY;
  const CeedScalar *data = tensor->data;
  DLTensor source = *tensor;
  Wide count = CountOf(tensor), last;

  CheckShape(tensor, r, r->has_strides && !is_copy, &last);
  REQUIRE(!count || (is_copy ? last == count - 1 : last < LENGTH));
  if (r->has_strides) source.strides = (int64_t *)r->strides;
  for (int64_t i = 0; i < count && count <= MAX_COPY; i++) {
    REQUIRE(data[Locate(tensor, i)] == (CeedScalar)Locate(&source, i));
  }
}

static void CheckExportCount(CeedVector vec, CeedSize expected) {
  CeedSize count;

  REQUIRE(!CeedVectorGetExportCount(vec, &count));
  REQUIRE(count == expected);
}

static void ExportOnce(CeedVector vec, CeedMemType mem_type, CeedExportMode mode,
                       const Request *r) {
  DLManagedTensorVersioned *tensor = NULL;
  CeedSize before;
  int code;

  REQUIRE(!CeedVectorGetExportCount(vec, &before));
  code = CeedVectorExport(vec, mem_type, mode, r->ndim, r->has_shape ? r->shape : NULL,
                          r->has_strides ? r->strides : NULL, &tensor);
  REQUIRE(!code == !!tensor);
  CheckExportCount(vec, before + (!code && mode != CEED_EXPORT_COPY));
  if (code) return;
  CheckEntries(&tensor->dl_tensor, r, mode);
  tensor->deleter(tensor);
  CheckExportCount(vec, before);
}

static CeedVector VectorOfIndices(Ceed ceed) {
  CeedVector vec = NULL;
  CeedScalar *array;

  REQUIRE(!CeedVectorCreate(ceed, LENGTH, &vec));
  REQUIRE(!CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < LENGTH; i++) array[i] = (CeedScalar)i;
  REQUIRE(!CeedVectorRestoreArray(vec, &array));
  return vec;
}

/* Exports beside another one, in any mode, that lives meanwhile. */
static void ExportFromBytes(Input *input, const Request *r) {
  CeedMemType mem_type = (CeedMemType)(Next(input, 1) % 3);
  CeedExportMode mode = (CeedExportMode)(Next(input, 1) % 6), other = Next(input, 1) % 6;
  DLManagedTensorVersioned *beside = NULL;
  const int64_t length = LENGTH;
  CeedVector vec;
  Ceed ceed = NULL;

  if (mode == CEED_EXPORT_COPY && !IsCopySmall(r)) return;
  REQUIRE(!CeedInit("/cpu/self", &ceed));
  vec = VectorOfIndices(ceed);
  (void)CeedVectorExport(vec, CEED_MEM_HOST, other, 1, &length, NULL, &beside);
  ExportOnce(vec, mem_type, mode, r);
  if (beside) beside->deleter(beside);
  REQUIRE(!CeedVectorSetValue(vec, 0));
  REQUIRE(!CeedVectorDestroy(&vec));
  REQUIRE(!CeedDestroy(&ceed));
}

/* Nobody but the caller knows how long the wrapped memory is: no entry is looked at. */
static void WrapFromBytes(Input *input, const Request *r) {
  static CeedScalar memory[1];
  CeedMemType mem_type = (CeedMemType)(Next(input, 1) % 3);
  uint64_t choice = Next(input, 1);
  DLManagedTensorVersioned *tensor = NULL;
  Wide last;
  int code = CeedDLPackWrap(choice & 1 ? memory : NULL, mem_type, r->ndim,
                            r->has_shape ? r->shape : NULL, choice & 2, &tensor);

  REQUIRE(!code == !!tensor);
  if (code) return;
  CheckShape(&tensor->dl_tensor, r, false, &last);
  REQUIRE(!CountOf(&tensor->dl_tensor) || last == CountOf(&tensor->dl_tensor) - 1);
  REQUIRE((tensor->flags & DLPACK_FLAG_READ_ONLY) == !!(choice & 2));
  tensor->deleter(tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  uint64_t choice = Next(&input, 1);
  Request r = RequestFromBytes(&input);

  (choice & 1 ? WrapFromBytes : ExportFromBytes)(&input, &r);
  return 0;
}
