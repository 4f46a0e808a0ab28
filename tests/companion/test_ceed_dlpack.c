// companion/ceed-dlpack.c over an installed libCEED: test_ceed_dlpack RESOURCE.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ceed-dlpack.h"
#include "dlpack_abi.h"

enum { N = 24 };

static Ceed ceed;
static int failures, deletions;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition); \
      failures++;                                                     \
    }                                                                 \
  } while (0)
#define OK(...) CHECK((__VA_ARGS__) == CEED_ERROR_SUCCESS)

static bool Says(const char *part) {
  const char *text;

  OK(CeedGetErrorMessage(ceed, &text));
  const bool found = strstr(text, part) != NULL;
  if (!found) fprintf(stderr, "\"%s\" is not in \"%s\"\n", part, text);
  OK(CeedResetErrorMessage(ceed, &text));
  return found;
}
#define FAILS(code, part, ...) CHECK((__VA_ARGS__) == (code) && Says(part))

static CeedVector CountingVector(void) {
  CeedVector vec;
  CeedScalar *array;

  OK(CeedVectorCreate(ceed, N, &vec));
  OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < N; i++) array[i] = i;
  OK(CeedVectorRestoreArray(vec, &array));
  return vec;
}

// Whether the vector holds scale * (0, 1, 2, ...).
static bool Holds(CeedVector vec, CeedScalar scale) {
  const CeedScalar *array;
  bool holds = true;

  OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < N; i++) holds = holds && array[i] == scale * i;
  OK(CeedVectorRestoreArrayRead(vec, &array));
  return holds;
}

static void Deleted(DLManagedTensor *tensor) {
  (void)tensor;
  deletions++;
}
static void DeletedVersioned(DLManagedTensorVersioned *tensor) {
  (void)tensor;
  deletions++;
}

typedef struct {
  CeedScalar data[N];
  int64_t shape[3], strides[3];
} Memory;

static DLTensor Tensor(Memory *memory) {
  *memory = (Memory){.shape = {2, 3, 4}, .strides = {12, 4, 1}};
  for (int i = 0; i < N; i++) memory->data[i] = 2 * i;
  return (DLTensor){.data = memory->data,
                    .device = {DLPACK_CPU, 0},
                    .ndim = 3,
                    .dtype = {DLPACK_FLOAT, 8 * sizeof(CeedScalar), 1},
                    .shape = memory->shape,
                    .strides = memory->strides};
}

static DLManagedTensorVersioned ReadOnlyTensor(Memory *memory) {
  return (DLManagedTensorVersioned){.version = {1, 0},
                                    .flags = DLPACK_FLAG_READ_ONLY,
                                    .deleter = DeletedVersioned,
                                    .dl_tensor = Tensor(memory)};
}

static void AnExportIsTheVectorsMemory(void) {
  CeedVector vec = CountingVector();
  DLManagedTensorVersioned *dl = NULL;
  const CeedScalar *array;
  void *data;

  OK(CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_HOST, &dl));
  CHECK(dl->version.major == 1 && dl->flags == 0);
  CHECK(dl->dl_tensor.device.device_type == DLPACK_CPU && dl->dl_tensor.device.device_id == 0);
  CHECK(dl->dl_tensor.dtype.code == DLPACK_FLOAT && dl->dl_tensor.dtype.lanes == 1);
  CHECK(dl->dl_tensor.dtype.bits == 8 * sizeof(CeedScalar));
  CHECK(dl->dl_tensor.ndim == 1 && dl->dl_tensor.shape[0] == N && dl->dl_tensor.strides[0] == 1);
  data = dl->dl_tensor.data;
  for (int i = 0; i < N; i++) ((CeedScalar *)data)[i] *= 3;
  dl->deleter(dl);
  CHECK(Holds(vec, 3));
  OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  CHECK(array == data);
  OK(CeedVectorRestoreArrayRead(vec, &array));
  OK(CeedVectorDestroy(&vec));
}

static void AnExportHoldsWriteAccessUntilItsDeleter(void) {
  CeedVector vec = CountingVector();
  DLManagedTensor *dl = NULL, *second = NULL;
  const CeedScalar *array;

  OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &dl));
  CHECK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array) != CEED_ERROR_SUCCESS);
  CHECK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &second) != CEED_ERROR_SUCCESS);
  CHECK(second == NULL);
  dl->deleter(dl);
  OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &second));
  second->deleter(second);
  OK(CeedVectorDestroy(&vec));
}

static void ReadersLiveTogether(void) {
  CeedVector vec = CountingVector();
  DLManagedTensorVersioned *dl = NULL, *second = NULL;
  CeedScalar *array;

  OK(CeedVectorReadToDLPack(ceed, vec, CEED_MEM_HOST, &dl));
  CHECK(dl->flags == DLPACK_FLAG_READ_ONLY);
  OK(CeedVectorReadToDLPack(ceed, vec, CEED_MEM_HOST, &second));
  CHECK(second->dl_tensor.data == dl->dl_tensor.data);
  CHECK(Holds(vec, 1));
  CHECK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array) != CEED_ERROR_SUCCESS);
  dl->deleter(dl);
  CHECK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array) != CEED_ERROR_SUCCESS);
  second->deleter(second);
  OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  OK(CeedVectorRestoreArray(vec, &array));
  OK(CeedVectorDestroy(&vec));
}

static void AnExportOutlivesItsVector(void) {
  CeedVector vec = CountingVector();
  DLManagedTensor *dl = NULL;

  OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &dl));
  OK(CeedVectorDestroy(&vec));
  for (int i = 0; i < N; i++) CHECK(((CeedScalar *)dl->dl_tensor.data)[i] == i);
  dl->deleter(dl);
}

static void AnExportOfNothingIsAnError(void) {
  CeedVector vec = CountingVector(), empty;
  DLManagedTensor *dl = NULL;

  FAILS(CEED_ERROR_INCOMPLETE, "vector is NULL",
        CeedVectorToDLPack(ceed, NULL, CEED_MEM_HOST, &dl));
  FAILS(CEED_ERROR_INCOMPLETE, "dl is NULL", CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, NULL));
  FAILS(CEED_ERROR_INCOMPATIBLE, "no memory type", CeedVectorToDLPack(ceed, vec, 7, &dl));
  FAILS(CEED_ERROR_UNSUPPORTED, "no device memory",
        CeedVectorToDLPack(ceed, vec, CEED_MEM_DEVICE, &dl));
  OK(CeedVectorCreate(ceed, N, &empty));
  CHECK(CeedVectorToDLPack(ceed, empty, CEED_MEM_HOST, &dl) != CEED_ERROR_SUCCESS);
  CHECK(dl == NULL);
  OK(CeedVectorDestroy(&empty));
  OK(CeedVectorDestroy(&vec));
}

static void AnEmptyVectorCrosses(void) {
  CeedVector vec;
  DLManagedTensor *dl = NULL;

  OK(CeedVectorCreate(ceed, 0, &vec));
  OK(CeedVectorSetValue(vec, 0));
  OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &dl));
  CHECK(dl->dl_tensor.shape[0] == 0);
  dl->deleter(dl);
  OK(CeedVectorDestroy(&vec));
}

static void ACopiedTensorIsTaken(void) {
  CeedVector vec = CountingVector();
  Memory memory;
  DLManagedTensorVersioned dl = ReadOnlyTensor(&memory);

  deletions = 0;
  OK(CeedVectorTakeFromDLPackVersioned(ceed, vec, &dl, CEED_COPY_VALUES));
  CHECK(deletions == 1);
  memset(memory.data, 0, sizeof memory.data);
  CHECK(Holds(vec, 2));
  OK(CeedVectorDestroy(&vec));
}

static void AUsedTensorStaysTheCallers(void) {
  CeedVector vec = CountingVector();
  Memory memory;
  DLManagedTensor dl = {.dl_tensor = Tensor(&memory), .deleter = Deleted};
  CeedScalar *taken;

  deletions = 0;
  OK(CeedVectorTakeFromDLPack(ceed, vec, &dl, CEED_USE_POINTER));
  OK(CeedVectorScale(vec, 5));
  OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &taken));
  CHECK(taken == memory.data && deletions == 0);
  for (int i = 0; i < N; i++) CHECK(memory.data[i] == 10 * i);
  OK(CeedVectorDestroy(&vec));
}

static void AByteOffsetIsHonoured(void) {
  CeedVector vec;
  Memory memory;
  DLManagedTensor dl = {.dl_tensor = Tensor(&memory)};
  const CeedScalar *array;

  OK(CeedVectorCreate(ceed, 2, &vec));
  dl.dl_tensor.ndim = 1;
  memory.shape[0] = 2;
  memory.strides[0] = 1;
  dl.dl_tensor.byte_offset = 3 * sizeof(CeedScalar);
  OK(CeedVectorTakeFromDLPack(ceed, vec, &dl, CEED_COPY_VALUES));
  OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  CHECK(array[0] == 6 && array[1] == 8);
  OK(CeedVectorRestoreArrayRead(vec, &array));
  OK(CeedVectorDestroy(&vec));
}

static void TheStrideOfOneEntryMeansNothing(void) {
  CeedVector vec = CountingVector();
  Memory memory;
  DLManagedTensor dl = {.dl_tensor = Tensor(&memory)};

  memory.shape[0] = 1, memory.shape[1] = 6;
  memory.strides[0] = -999;
  OK(CeedVectorTakeFromDLPack(ceed, vec, &dl, CEED_COPY_VALUES));
  CHECK(Holds(vec, 2));
  OK(CeedVectorDestroy(&vec));
}

// Each spoils one thing; the vector keeps its values, the tensor its owner.
static void AWrongTensorIsRefusedAndNothingChanges(void) {
  static const char *const texts[] = {"type (0,",         "type (2, 16, 1)",  "type (2, ",
                                      "impossible shape", "impossible shape", "12 entries",
                                      "no data",          "C order",          "not aligned",
                                      "no device memory", "impossible shape"};
  CeedVector vec = CountingVector();
  Memory memory;

  for (int spoilt = 0; spoilt < (int)(sizeof texts / sizeof texts[0]); spoilt++) {
    DLManagedTensor dl = {.dl_tensor = Tensor(&memory), .deleter = Deleted};

    deletions = 0;
    switch (spoilt) {
      case 0:
        dl.dl_tensor.dtype.code = DLPACK_INT;
        break;
      case 1:
        dl.dl_tensor.dtype.bits = 16;
        break;
      case 2:
        dl.dl_tensor.dtype.lanes = 2;
        break;
      case 3:
        memory.shape[1] = -3;
        break;
      case 4:
        dl.dl_tensor.ndim = -1;
        break;
      case 5:
        memory.shape[0] = 1;
        break;
      case 6:
        dl.dl_tensor.data = NULL;
        break;
      case 7:
        memory.strides[0] = 4, memory.strides[1] = 8;
        break;
      case 8:
        dl.dl_tensor.byte_offset = 1;
        break;
      case 9:
        dl.dl_tensor.device.device_type = DLPACK_CUDA;
        break;
      case 10:
        memory.shape[0] = memory.shape[1] = INT64_MAX / 2;
        break;
    }
    CHECK(CeedVectorTakeFromDLPack(ceed, vec, &dl, CEED_COPY_VALUES) != CEED_ERROR_SUCCESS);
    CHECK(Says(texts[spoilt]));
    CHECK(deletions == 0 && Holds(vec, 1));
  }
  OK(CeedVectorDestroy(&vec));
}

static void AWrongRequestIsRefused(void) {
  CeedVector vec = CountingVector();
  Memory memory;
  DLManagedTensorVersioned dl = ReadOnlyTensor(&memory);
  DLManagedTensor *held;
  CeedVector other = CountingVector();

  deletions = 0;
  FAILS(CEED_ERROR_ACCESS, "read-only",
        CeedVectorTakeFromDLPackVersioned(ceed, vec, &dl, CEED_USE_POINTER));
  FAILS(CEED_ERROR_UNSUPPORTED, "free()",
        CeedVectorTakeFromDLPackVersioned(ceed, vec, &dl, CEED_OWN_POINTER));
  FAILS(CEED_ERROR_INCOMPATIBLE, "no copy mode",
        CeedVectorTakeFromDLPackVersioned(ceed, vec, &dl, 9));
  FAILS(CEED_ERROR_INCOMPLETE, "tensor is NULL",
        CeedVectorTakeFromDLPack(ceed, vec, NULL, CEED_COPY_VALUES));
  FAILS(CEED_ERROR_INCOMPLETE, "vector is NULL",
        CeedVectorTakeFromDLPackVersioned(ceed, NULL, &dl, CEED_COPY_VALUES));
  dl.version.major = 2;
  FAILS(CEED_ERROR_INCOMPATIBLE, "DLPack 2.0",
        CeedVectorTakeFromDLPackVersioned(ceed, vec, &dl, CEED_COPY_VALUES));
  CHECK(deletions == 0);
  OK(CeedVectorToDLPack(ceed, other, CEED_MEM_HOST, &held));
  CHECK(CeedVectorTakeFromDLPack(ceed, other, held, CEED_COPY_VALUES) != CEED_ERROR_SUCCESS);
  held->deleter(held);
  CHECK(Holds(other, 1));
  OK(CeedVectorDestroy(&other));
  OK(CeedVectorDestroy(&vec));
}

static void OneVectorsTensorFillsAnother(void) {
  CeedVector from = CountingVector(), to;
  DLManagedTensor *dl;

  OK(CeedVectorCreate(ceed, N, &to));
  OK(CeedVectorToDLPack(ceed, from, CEED_MEM_HOST, &dl));
  OK(CeedVectorTakeFromDLPack(ceed, to, dl, CEED_COPY_VALUES));
  OK(CeedVectorScale(from, 7));
  CHECK(Holds(to, 1) && Holds(from, 7));
  OK(CeedVectorDestroy(&from));
  OK(CeedVectorDestroy(&to));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  if (CeedInit(argv[1], &ceed) != CEED_ERROR_SUCCESS) return 2;
  OK(CeedSetErrorHandler(ceed, CeedErrorStore));
  AnExportIsTheVectorsMemory();
  AnExportHoldsWriteAccessUntilItsDeleter();
  ReadersLiveTogether();
  AnExportOutlivesItsVector();
  AnExportOfNothingIsAnError();
  AnEmptyVectorCrosses();
  ACopiedTensorIsTaken();
  AUsedTensorStaysTheCallers();
  AByteOffsetIsHonoured();
  TheStrideOfOneEntryMeansNothing();
  AWrongTensorIsRefusedAndNothingChanges();
  AWrongRequestIsRefused();
  OneVectorsTensorFillsAnother();
  OK(CeedDestroy(&ceed));
  return failures != 0;
}
