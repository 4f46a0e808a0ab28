// Fuzz target: CeedDLPackCheck() and the descriptions, which read any metadata and follow none of
// it. SPDX-License-Identifier: BSD-2-Clause
#include "tensor_from_bytes.h"

static CeedDLPackSpec SpecFromBytes(Input *input, int64_t *shape) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;
  uint64_t choice = Next(input, 1);

  if (choice & 1) spec.code = (int32_t)Next(input, 1);
  if (choice & 2) spec.bits = (int32_t)Next(input, 1);
  if (choice & 4) spec.device_type = (int32_t)Next(input, 1);
  if (choice & 8) spec.ndim = (int32_t)NextNumber(input);
  if (choice & 16 && spec.ndim <= 8) spec.shape = shape;
  for (int i = 0; i < 8; i++) shape[i] = NextNumber(input);
  spec.contiguous = choice & 32;
  spec.writable = choice & 64;
  spec.alignment = choice & 128 ? (size_t)Next(input, 1) : 0;
  return spec;
}

/* What the check lets through is what was asked for. */
static void CheckPassed(const Subject *subject, const DLTensor *tensor,
                        const CeedDLPackSpec *spec) {
  REQUIRE(tensor->ndim >= 0 && tensor->ndim <= 64 && (tensor->shape || !tensor->ndim));
  REQUIRE(spec->ndim == -1 || spec->ndim == tensor->ndim);
  REQUIRE(spec->code == -1 || spec->code == tensor->dtype.code);
  REQUIRE(spec->bits == -1 || spec->bits == tensor->dtype.bits);
  REQUIRE(!spec->writable || !subject->is_versioned || !(subject->tensor.versioned.flags & 1));
  for (int32_t i = 0; i < tensor->ndim; i++) REQUIRE(tensor->shape[i] >= 0);
  for (int32_t i = 0; spec->shape && i < tensor->ndim; i++) {
    REQUIRE(spec->shape[i] == -1 || spec->shape[i] == tensor->shape[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static CeedScalar memory[1];
  Input input = {data, size};
  int64_t shape[8];
  CeedDLPackSpec spec = SpecFromBytes(&input, shape);
  Subject subject;
  void *tensor = SubjectFromBytes(&subject, &input, memory);
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);

  if (!CeedDLPackCheck(tensor, subject.is_versioned, &spec)) {
    CheckPassed(&subject, TensorOf(&subject), &spec);
  }
  REQUIRE(stream);
  REQUIRE(!(subject.is_versioned ? CeedDLPackViewVersioned(tensor, stream)
                                 : CeedDLPackView(tensor, stream)));
  REQUIRE(!fclose(stream) && length > 0);
  free(text);
  REQUIRE(subject.deleted == 0);
  return 0;
}
