// Fuzz target: taking a tensor of any metadata, into a vector or as a new one. On success it is
// ours and deleted once; on failure the caller still owns it and the vector is as it was. What is
// copied is compared entry by entry. SPDX-License-Identifier: BSD-2-Clause
#include "tensor_from_bytes.h"

enum { MEMORY = 4096, LENGTH = 16 };

static CeedScalar memory[MEMORY];

static int Take(Ceed ceed, CeedVector vec, Subject *subject, CeedCopyMode mode) {
  return subject->is_versioned
             ? CeedVectorTakeFromDLPackVersioned(ceed, vec, &subject->tensor.versioned, mode)
             : CeedVectorTakeFromDLPack(ceed, vec, &subject->tensor.legacy, mode);
}

static int Create(Ceed ceed, Subject *subject, CeedCopyMode mode, CeedVector *vec) {
  return subject->is_versioned
             ? CeedVectorCreateFromDLPackVersioned(ceed, &subject->tensor.versioned, mode, vec)
             : CeedVectorCreateFromDLPack(ceed, &subject->tensor.legacy, mode, vec);
}

/* Of a tensor that the check has let through; MEMORY + 1 stands for all that are too many. */
static int64_t CountOf(const DLTensor *tensor) {
  int64_t count = 1;

  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] == 0) return 0;
    if (count <= MEMORY) count = tensor->shape[i] > MEMORY ? MEMORY + 1 : count * tensor->shape[i];
  }
  return count > MEMORY ? MEMORY + 1 : count;
}

/* Where entry i of C order lies, from the middle of the memory; false when outside. 128 bits, so
   that this can't overflow where the library must not. */
static bool Locate(const DLTensor *tensor, int64_t i, Wide *at) {
  Wide step = 1, offset = (Wide)tensor->byte_offset;

  if (tensor->data != &memory[MEMORY / 2] || offset % sizeof(CeedScalar)) return false;
  *at = MEMORY / 2 + offset / (Wide)sizeof(CeedScalar);
  for (int32_t axis = tensor->ndim - 1; axis >= 0; axis--) {
    int64_t index = i % tensor->shape[axis];
    *at += index * (tensor->strides ? (Wide)tensor->strides[axis] : step);
    step *= tensor->shape[axis];
    i /= tensor->shape[axis];
  }
  return *at >= 0 && *at < MEMORY;
}

/* Only the test knows how much memory there really is behind a tensor. */
static bool IsCopySafe(const Subject *subject, const DLTensor *tensor) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;
  int64_t count;
  Wide at;

  if (CeedDLPackCheck(&subject->tensor, subject->is_versioned, &spec)) return true;
  count = CountOf(tensor);
  if (count > MEMORY) return false;
  for (int64_t i = 0; i < count; i++) {
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
  CeedSize length;
  Wide at;

  REQUIRE(!CeedVectorGetLength(vec, &length));
  REQUIRE(length == CountOf(tensor));
  REQUIRE(!CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) {
    REQUIRE(Locate(tensor, i, &at));
    REQUIRE(array[i] == memory[at]);
  }
  REQUIRE(!CeedVectorRestoreArrayRead(vec, &array));
}

/* What holds of a vector that a tensor was taken into, or was not. */
static void CheckTaken(CeedVector *vec, Subject *subject, CeedCopyMode mode, int code) {
  int deletions = HasDeleter(subject);

  REQUIRE(subject->deleted == (!code && mode == CEED_COPY_VALUES ? deletions : 0));
  if (!code && mode == CEED_COPY_VALUES) CheckCopied(*vec, TensorOf(subject));
  REQUIRE(!CeedVectorDestroy(vec));
  REQUIRE(subject->deleted == (code ? 0 : deletions));
}

static void TakeOnce(Ceed ceed, Subject *subject, CeedCopyMode mode) {
  CeedVector vec = NULL;
  int code;

  REQUIRE(!CeedVectorCreate(ceed, LENGTH, &vec));
  REQUIRE(!CeedVectorSetValue(vec, -1));
  code = Take(ceed, vec, subject, mode);
  if (code) CheckUntouched(vec);
  CheckTaken(&vec, subject, mode, code);
}

static void CreateOnce(Ceed ceed, Subject *subject, CeedCopyMode mode) {
  CeedVector vec = NULL;
  int code = Create(ceed, subject, mode, &vec);

  REQUIRE(!code == !!vec);
  CheckTaken(&vec, subject, mode, code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  uint64_t choice = Next(&input, 1);
  CeedCopyMode mode = (CeedCopyMode)(choice % 3);
  Subject subject;
  Ceed ceed = NULL;

  for (int i = 0; i < MEMORY; i++) memory[i] = (CeedScalar)i;
  SubjectFromBytes(&subject, &input, &memory[MEMORY / 2]);
  REQUIRE(!CeedInit("/cpu/self", &ceed));
  if (mode != CEED_COPY_VALUES || IsCopySafe(&subject, TensorOf(&subject))) {
    (choice & 128 ? CreateOnce : TakeOnce)(ceed, &subject, mode);
  }
  REQUIRE(!CeedDestroy(&ceed));
  return 0;
}
