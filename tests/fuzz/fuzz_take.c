// Fuzz target: taking a tensor of any metadata. On success it is ours and deleted once; on failure
// the caller still owns it and the vector is as it was. What is copied is compared entry by entry.
// SPDX-License-Identifier: BSD-2-Clause
#include "tensor_from_bytes.h"

enum { MEMORY = 4096, LENGTH = 16 };

static CeedScalar memory[MEMORY];

static int Take(Ceed ceed, CeedVector vec, Subject *subject, CeedCopyMode mode) {
  return subject->is_versioned
             ? CeedVectorTakeFromDLPackVersioned(ceed, vec, &subject->tensor.versioned, mode)
             : CeedVectorTakeFromDLPack(ceed, vec, &subject->tensor.legacy, mode);
}

/* Where entry i of C order lies, from the middle of the memory; false when outside. 128 bits, so
   that this can't overflow where the library must not. */
static bool Locate(const DLTensor *tensor, int64_t i, __int128 *at) {
  __int128 step = 1, offset = (__int128)tensor->byte_offset;

  if (tensor->data != &memory[MEMORY / 2] || offset % sizeof(CeedScalar)) return false;
  *at = MEMORY / 2 + offset / (__int128)sizeof(CeedScalar);
  for (int32_t axis = tensor->ndim - 1; axis >= 0; axis--) {
    int64_t index = i % tensor->shape[axis];
    *at += index * (tensor->strides ? (__int128)tensor->strides[axis] : step);
    step *= tensor->shape[axis];
    i /= tensor->shape[axis];
  }
  return *at >= 0 && *at < MEMORY;
}

/* Only the test knows how much memory there really is behind a tensor. */
static bool IsCopySafe(const Subject *subject, const DLTensor *tensor) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;
  __int128 at;

  if (CeedDLPackCheck(&subject->tensor, subject->is_versioned, &spec)) return true;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] == 0) return true;
  }
  for (int64_t i = 0; i < LENGTH; i++) {
    if (!Locate(tensor, i, &at)) return false;
  }
  return true;
}

static void CheckUntouched(CeedVector vec) {
  const CeedScalar *array;

  REQUIRE(!CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < LENGTH; i++) REQUIRE(array[i] == -1);
  REQUIRE(!CeedVectorRestoreArrayRead(vec, &array));
}

static void CheckCopied(CeedVector vec, const DLTensor *tensor) {
  const CeedScalar *array;
  __int128 at;

  REQUIRE(!CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < LENGTH; i++) {
    REQUIRE(Locate(tensor, i, &at));
    REQUIRE(array[i] == memory[at]);
  }
  REQUIRE(!CeedVectorRestoreArrayRead(vec, &array));
}

static void TakeOnce(Ceed ceed, Subject *subject, CeedCopyMode mode) {
  CeedVector vec = NULL;
  int code, deletions = HasDeleter(subject);

  REQUIRE(!CeedVectorCreate(ceed, LENGTH, &vec));
  REQUIRE(!CeedVectorSetValue(vec, -1));
  code = Take(ceed, vec, subject, mode);
  REQUIRE(subject->deleted == (!code && mode == CEED_COPY_VALUES ? deletions : 0));
  if (code) CheckUntouched(vec);
  if (!code && mode == CEED_COPY_VALUES) CheckCopied(vec, TensorOf(subject));
  REQUIRE(!CeedVectorDestroy(&vec));
  REQUIRE(subject->deleted == (code ? 0 : deletions));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  CeedCopyMode mode = (CeedCopyMode)(Next(&input, 1) % 3);
  Subject subject;
  Ceed ceed = NULL;

  for (int i = 0; i < MEMORY; i++) memory[i] = (CeedScalar)i;
  SubjectFromBytes(&subject, &input, &memory[MEMORY / 2]);
  REQUIRE(!CeedInit("/cpu/self", &ceed));
  if (mode != CEED_COPY_VALUES || IsCopySafe(&subject, TensorOf(&subject))) {
    TakeOnce(ceed, &subject, mode);
  }
  REQUIRE(!CeedDestroy(&ceed));
  return 0;
}
