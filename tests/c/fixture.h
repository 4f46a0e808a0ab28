// What tests begin with: a context, vectors of known values, and tensors made by hand.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FIXTURE_H
#define FIXTURE_H

#include "testing.h"

// Facts of DLPack, written down here once more so that tests don't lean on the library's own names.
enum { CPU = 1, CUDA = 2, CUDA_HOST = 3, ROCM = 10, ROCM_HOST = 11 };
enum { CUDA_MANAGED = 13, ONE_API = 14 };
enum { READ_ONLY = 1, IS_COPIED = 2 };

#define SCALAR_BITS ((int)(8 * sizeof(CeedScalar)))
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define LEGACY_AND_VERSIONED(versioned) for (int versioned = 0; versioned < 2; versioned++)

static Ceed ceed;

// Tests of host memory hold on every resource; CEEDLIKE_TEST_RESOURCE chooses another one.
static inline int CreateContext(void) {
  const char *resource = getenv("CEEDLIKE_TEST_RESOURCE");

  ASSERT_OK(CeedInit(resource ? resource : "/cpu/self", &ceed));
  return TEST_PASSED;
}

// For what is said of contexts that have host memory only.
#define OF_HOST_CONTEXTS()                                                                  \
  do {                                                                                      \
    if (getenv("CEEDLIKE_TEST_RESOURCE")) return TestSkip("this is said of host contexts"); \
  } while (0)

static inline int DestroyContext(void) {
  ASSERT_OK(CeedDestroy(&ceed));
  ASSERT(!ceed);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Vectors of known values
// ------------------------------------------------------------------------------------------------

// A number generator of its own, so that every run and every machine sees the same data.
static inline double RandomUnit(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static inline CeedVector VectorOf(CeedSize length, const CeedScalar *values) {
  CeedVector vec = NULL;
  CeedScalar *array;

  if (CeedVectorCreate(ceed, length, &vec)) return NULL;
  if (CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array)) return NULL;
  for (CeedSize i = 0; i < length; i++) array[i] = values ? values[i] : (CeedScalar)i;
  CeedVectorRestoreArray(vec, &array);
  return vec;
}

// 0, 1, ..., length - 1
static inline CeedVector Iota(CeedSize length) { return VectorOf(length, NULL); }

static inline CeedVector RandomVector(CeedSize length, uint64_t seed) {
  CeedVector vec = NULL;
  CeedScalar *array;

  if (CeedVectorCreate(ceed, length, &vec)) return NULL;
  if (CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array)) return NULL;
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)RandomUnit(&seed);
  CeedVectorRestoreArray(vec, &array);
  return vec;
}

static inline int TestValues(const char *file, int line, CeedVector vec, CeedSize length,
                             const CeedScalar *expected) {
  const CeedScalar *array = NULL;
  CeedSize actual = -1, wrong = 0;
  int result = TEST_PASSED;

  ASSERT_OK(CeedVectorGetLength(vec, &actual));
  if (actual != length) return TestFailed(file, line, "length is %td, not %td", actual, length);
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  while (wrong < length && array[wrong] == expected[wrong]) wrong++;
  if (wrong < length) {
    result = TestFailed(file, line, "entry %td is %.17g, not %.17g", wrong, (double)array[wrong],
                        (double)expected[wrong]);
  }
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  return result;
}

#define ASSERT_VALUES(vec, ...)                                                          \
  do {                                                                                   \
    const CeedScalar values_[] = {__VA_ARGS__};                                          \
    PASSES(TestValues(__FILE__, __LINE__, (vec), (CeedSize)COUNT_OF(values_), values_)); \
  } while (0)

// ------------------------------------------------------------------------------------------------
// Tensors made by hand, in both coats at once. The deleter only counts, so that a second call
// shows.
// ------------------------------------------------------------------------------------------------

typedef struct {
  DLManagedTensor legacy;
  DLManagedTensorVersioned versioned;
  int64_t shape[80], strides[80];
  int deletions;
  pthread_t deleted_by;
} Fake;

static inline void FakeCount(Fake *fake) {
  fake->deletions++;
  fake->deleted_by = pthread_self();
}

static inline void FakeDelete(DLManagedTensor *tensor) { FakeCount(tensor->manager_ctx); }

static inline void FakeDeleteVersioned(DLManagedTensorVersioned *tensor) {
  FakeCount(tensor->manager_ctx);
}

static inline DLTensor *FakeTensor(Fake *fake, bool versioned) {
  return versioned ? &fake->versioned.dl_tensor : &fake->legacy.dl_tensor;
}

static inline void FakeShape(Fake *fake, int ndim, const int64_t *shape, const int64_t *strides) {
  for (int i = 0; i < ndim; i++) {
    fake->shape[i] = shape[i];
    fake->strides[i] = strides ? strides[i] : 0;
  }
  LEGACY_AND_VERSIONED(versioned) {
    DLTensor *tensor = FakeTensor(fake, versioned);
    tensor->ndim = ndim;
    tensor->shape = ndim ? fake->shape : NULL;
    tensor->strides = ndim && strides ? fake->strides : NULL;
  }
}

// A tensor of CeedScalar in host memory; NULL strides stay NULL.
static inline void FakeInit(Fake *fake, void *data, int ndim, const int64_t *shape,
                            const int64_t *strides) {
  memset(fake, 0, sizeof *fake);
  fake->legacy.manager_ctx = fake;
  fake->legacy.deleter = FakeDelete;
  fake->versioned.version.major = 1;
  fake->versioned.version.minor = 3;
  fake->versioned.manager_ctx = fake;
  fake->versioned.deleter = FakeDeleteVersioned;
  LEGACY_AND_VERSIONED(versioned) {
    DLTensor *tensor = FakeTensor(fake, versioned);
    tensor->data = data;
    tensor->device.device_type = CPU;
    tensor->dtype.code = 2;
    tensor->dtype.bits = (uint8_t)SCALAR_BITS;
    tensor->dtype.lanes = 1;
  }
  FakeShape(fake, ndim, shape, strides);
}

static inline void FakeType(Fake *fake, int code, int bits, int lanes) {
  LEGACY_AND_VERSIONED(versioned) {
    DLTensor *tensor = FakeTensor(fake, versioned);
    tensor->dtype.code = (uint8_t)code;
    tensor->dtype.bits = (uint8_t)bits;
    tensor->dtype.lanes = (uint16_t)lanes;
  }
}

static inline void FakeDevice(Fake *fake, int type, int id) {
  LEGACY_AND_VERSIONED(versioned) {
    DLTensor *tensor = FakeTensor(fake, versioned);
    memcpy(&tensor->device, (const int32_t[]){type, id}, sizeof tensor->device);
  }
}

static inline void FakeOffset(Fake *fake, uint64_t byte_offset) {
  LEGACY_AND_VERSIONED(versioned) FakeTensor(fake, versioned)->byte_offset = byte_offset;
}

static inline int FakeTake(CeedVector vec, Fake *fake, bool versioned, CeedCopyMode mode) {
  if (versioned) return CeedVectorTakeFromDLPackVersioned(NULL, vec, &fake->versioned, mode);
  return CeedVectorTakeFromDLPack(NULL, vec, &fake->legacy, mode);
}

static inline int FakeCreate(Fake *fake, bool versioned, CeedCopyMode mode, CeedVector *vec) {
  if (versioned) return CeedVectorCreateFromDLPackVersioned(ceed, &fake->versioned, mode, vec);
  return CeedVectorCreateFromDLPack(ceed, &fake->legacy, mode, vec);
}

// A page that nobody may read or write: whoever does, crashes.
static inline void *ForbiddenPage(void) {
  void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  return page == MAP_FAILED ? NULL : page;
}

static inline void ReleasePage(void *page) { munmap(page, 4096); }

// ------------------------------------------------------------------------------------------------
// Exports
// ------------------------------------------------------------------------------------------------

// Export the whole vector on one axis; NULL on failure.
static inline DLManagedTensorVersioned *Export(CeedVector vec, CeedExportMode mode) {
  DLManagedTensorVersioned *tensor = NULL;
  CeedSize length = 0;
  int64_t shape[1];

  if (CeedVectorGetLength(vec, &length)) return NULL;
  shape[0] = length;
  if (CeedVectorExport(vec, CEED_MEM_HOST, mode, 1, shape, NULL, &tensor)) return NULL;
  return tensor;
}

static inline void Release(DLManagedTensorVersioned *tensor) { tensor->deleter(tensor); }

static inline CeedSize ExportCount(CeedVector vec) {
  CeedSize count = -1;

  CeedVectorGetExportCount(vec, &count);
  return count;
}

static inline uint64_t State(CeedVector vec) {
  uint64_t state = UINT64_MAX;

  CeedVectorGetState(vec, &state);
  return state;
}

#endif
