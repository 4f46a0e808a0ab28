// Exporting vectors as tensors: what they say, what they share, and how long the memory lives.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

static int ExportAs(CeedVector vec, CeedExportMode mode, CeedInt ndim, const int64_t *shape,
                    const int64_t *strides, DLManagedTensorVersioned **tensor) {
  return CeedVectorExport(vec, CEED_MEM_HOST, mode, ndim, shape, strides, tensor);
}

static const CeedScalar *AddressOf(CeedVector vec) {
  const CeedScalar *array = NULL, *address;

  CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array);
  address = array;
  CeedVectorRestoreArrayRead(vec, &array);
  return address;
}

// ------------------------------------------------------------------------------------------------
// What a tensor says
// ------------------------------------------------------------------------------------------------

static int TensorIsWhole(const DLTensor *tensor, const void *data, CeedSize length) {
  ASSERT_SAME(tensor->data, data);
  ASSERT_EQ(tensor->device.device_type, CPU);
  ASSERT_EQ(tensor->device.device_id, 0);
  ASSERT_EQ(tensor->ndim, 1);
  ASSERT_EQ(tensor->dtype.code, 2);
  ASSERT_EQ(tensor->dtype.bits, SCALAR_BITS);
  ASSERT_EQ(tensor->dtype.lanes, 1);
  ASSERT_EQ(tensor->shape[0], length);
  ASSERT_EQ(tensor->strides[0], 1);
  ASSERT_EQ(tensor->byte_offset, 0);
  return TEST_PASSED;
}

static int a_versioned_tensor_says_what_the_vector_is(void) {
  CeedVector vec = Iota(7);
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_HOST, &tensor));
  PASSES(TensorIsWhole(&tensor->dl_tensor, AddressOf(vec), 7));
  ASSERT_EQ(tensor->version.major, 1);
  ASSERT_EQ(tensor->version.minor, 3);
  ASSERT_EQ(tensor->flags, 0);
  ASSERT(tensor->deleter);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_legacy_tensor_says_what_the_vector_is(void) {
  CeedVector vec = Iota(7);
  DLManagedTensor *tensor = NULL;

  ASSERT_OK(CeedVectorToDLPack(NULL, vec, CEED_MEM_HOST, &tensor));
  PASSES(TensorIsWhole(&tensor->dl_tensor, AddressOf(vec), 7));
  ASSERT(tensor->deleter);
  ASSERT_EQ(ExportCount(vec), 1);
  tensor->deleter(tensor);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int both_sides_see_each_others_writes(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_SHARED);
  CeedScalar *shared = tensor->dl_tensor.data;

  shared[1] = 50;
  ASSERT_VALUES(vec, 0, 50, 2);
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_NUMBER(shared[2], 4);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int exported_memory_is_aligned_to_256_bytes(void) {
  for (CeedSize length = 1; length <= 200; length++) {
    CeedVector vec = Iota(length);
    for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
      DLManagedTensorVersioned *tensor = Export(vec, (CeedExportMode)mode);
      ASSERT_EQ((uintptr_t)tensor->dl_tensor.data % 256, 0);
      Release(tensor);
    }
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int an_empty_vector_exports_null_data(void) {
  CeedVector vec = NULL;
  DLManagedTensor *legacy = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 0, &vec));
  ASSERT_OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &legacy));
  PASSES(TensorIsWhole(&legacy->dl_tensor, NULL, 0));
  legacy->deleter(legacy);
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
    DLManagedTensorVersioned *tensor = Export(vec, (CeedExportMode)mode);
    ASSERT(tensor);
    PASSES(TensorIsWhole(&tensor->dl_tensor, NULL, 0));
    Release(tensor);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int modes_set_their_flags(void) {
  const uint64_t flags[] = {0, READ_ONLY, 0};
  CeedVector vec = Iota(3);
  const CeedScalar *address = AddressOf(vec);

  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_WRITE; mode++) {
    DLManagedTensorVersioned *tensor = Export(vec, (CeedExportMode)mode);
    ASSERT_EQ(tensor->flags, flags[mode]);
    ASSERT_SAME(tensor->dl_tensor.data, address);
    Release(tensor);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Shapes and strides
// ------------------------------------------------------------------------------------------------

static int Says(CeedVector vec, CeedExportMode mode, int ndim, const int64_t *shape,
                const int64_t *given, const int64_t *expected) {
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(ExportAs(vec, mode, ndim, shape, given, &tensor));
  ASSERT_EQ(tensor->dl_tensor.ndim, ndim);
  ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
  for (int i = 0; i < ndim; i++) {
    ASSERT_EQ(tensor->dl_tensor.shape[i], shape[i]);
    ASSERT_EQ(tensor->dl_tensor.strides[i], expected[i]);
  }
  Release(tensor);
  return TEST_PASSED;
}

static int null_strides_are_c_order(void) {
  CeedVector vec = Iota(24);

  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(4, 6), NULL, DIMS(6, 1)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 3, DIMS(2, 3, 4), NULL, DIMS(12, 4, 1)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(2, 3), NULL, DIMS(3, 1)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int given_strides_are_kept(void) {
  CeedVector vec = Iota(24);

  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(4, 6), DIMS(1, 4), DIMS(1, 4)));
  PASSES(Says(vec, CEED_EXPORT_READ, 1, DIMS(8), DIMS(3), DIMS(3)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(3, 2), DIMS(8, 7), DIMS(8, 7)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int axes_of_length_one_have_the_stride_of_c_order(void) {
  CeedVector vec = Iota(12);

  PASSES(Says(vec, CEED_EXPORT_SHARED, 1, DIMS(1), DIMS(3), DIMS(1)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(1, 4), DIMS(100, 1), DIMS(4, 1)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(4, 1), DIMS(3, 99), DIMS(3, 1)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 3, DIMS(2, 1, 3), DIMS(3, 77, 1), DIMS(3, 3, 1)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int empty_shapes_may_be_exported_of_any_vector(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(ExportAs(vec, CEED_EXPORT_SHARED, 2, DIMS(0, 5), NULL, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  ASSERT_EQ(tensor->dl_tensor.shape[1], 5);
  ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
  Release(tensor);
  ASSERT_OK(ExportAs(vec, CEED_EXPORT_SHARED, 2, DIMS(5, 0), NULL, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// Whatever the answer is, it comes without an overflow.
static int empty_shapes_of_huge_lengths_are_exported_or_refused(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = NULL;

  if (ExportAs(vec, CEED_EXPORT_SHARED, 3, DIMS(INT64_MAX, INT64_MAX, 0), NULL, &tensor)) {
    ASSERT(!tensor);
  } else {
    ASSERT(!tensor->dl_tensor.data);
    Release(tensor);
  }
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int no_axes_are_the_first_entry(void) {
  CeedVector vec = Iota(3), none = NULL;
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(ExportAs(vec, CEED_EXPORT_SHARED, 0, NULL, NULL, &tensor));
  ASSERT_EQ(tensor->dl_tensor.ndim, 0);
  ASSERT_SAME(tensor->dl_tensor.data, AddressOf(vec));
  Release(tensor);
  ASSERT_OK(CeedVectorCreate(ceed, 0, &none));
  ASSERT_CODE(CEED_ERROR_DIMENSION, ExportAs(none, CEED_EXPORT_SHARED, 0, NULL, NULL, &tensor));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&none));
  return TEST_PASSED;
}

static int up_to_sixty_four_axes_can_be(void) {
  CeedVector vec = Iota(6);
  int64_t shape[66], strides[66];

  for (int i = 0; i < 66; i++) shape[i] = strides[i] = 1;
  shape[0] = 2, shape[63] = 3, strides[0] = 3;
  for (int i = 1; i < 63; i++) strides[i] = 3;
  PASSES(Says(vec, CEED_EXPORT_SHARED, 64, shape, NULL, strides));
  ASSERT_FAILS(
      ExportAs(vec, CEED_EXPORT_SHARED, 65, shape, NULL, &(DLManagedTensorVersioned *){NULL}));
  ASSERT_FAILS(
      ExportAs(vec, CEED_EXPORT_SHARED, -1, shape, NULL, &(DLManagedTensorVersioned *){NULL}));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int ShapeIsRefused(CeedVector vec, CeedInt ndim, const int64_t *shape,
                          const int64_t *strides) {
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
    DLManagedTensorVersioned *tensor = NULL;
    ASSERT_CODE(CEED_ERROR_DIMENSION,
                ExportAs(vec, (CeedExportMode)mode, ndim, shape, strides, &tensor));
    ASSERT(!tensor);
  }
  ASSERT_EQ(ExportCount(vec), 0);
  return TEST_PASSED;
}

static int shapes_that_reach_outside_are_errors(void) {
  CeedVector vec = Iota(12);

  PASSES(ShapeIsRefused(vec, 1, DIMS(13), NULL));
  ASSERT_SAYS("13");
  ASSERT_SAYS("12");
  PASSES(ShapeIsRefused(vec, 2, DIMS(3, 5), NULL));
  PASSES(ShapeIsRefused(vec, 1, DIMS(7), DIMS(2)));
  PASSES(ShapeIsRefused(vec, 2, DIMS(2, 2), DIMS(10, 2)));
  PASSES(Says(vec, CEED_EXPORT_SHARED, 2, DIMS(2, 2), DIMS(10, 1), DIMS(10, 1)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int negative_lengths_and_strides_are_errors(void) {
  CeedVector vec = Iota(12);

  PASSES(ShapeIsRefused(vec, 1, DIMS(-1), NULL));
  PASSES(ShapeIsRefused(vec, 2, DIMS(-2, -3), NULL));
  PASSES(ShapeIsRefused(vec, 1, DIMS(INT64_MIN), NULL));
  PASSES(ShapeIsRefused(vec, 1, DIMS(3), DIMS(-1)));
  PASSES(ShapeIsRefused(vec, 2, DIMS(2, 3), DIMS(3, INT64_MIN)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int shapes_that_overflow_are_errors(void) {
  CeedVector vec = Iota(12);

  PASSES(ShapeIsRefused(vec, 2, DIMS(INT64_C(1) << 62, 4), NULL));
  PASSES(ShapeIsRefused(vec, 2, DIMS(INT64_MAX, INT64_MAX), NULL));
  PASSES(ShapeIsRefused(vec, 1, DIMS(INT64_MAX), NULL));
  PASSES(ShapeIsRefused(vec, 1, DIMS(3), DIMS(INT64_MAX)));
  PASSES(ShapeIsRefused(vec, 1, DIMS(2), DIMS(INT64_MAX)));
  PASSES(ShapeIsRefused(vec, 2, DIMS(2, 2), DIMS(INT64_MAX, INT64_MAX)));
  PASSES(ShapeIsRefused(vec, 2, DIMS(INT64_C(1) << 32, INT64_C(1) << 32), DIMS(0, 0)));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Copies
// ------------------------------------------------------------------------------------------------

static int a_copy_is_private_and_says_so(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_COPY);
  CeedScalar *copy = tensor->dl_tensor.data;

  ASSERT_EQ(tensor->flags, IS_COPIED);
  ASSERT(copy != AddressOf(vec));
  ASSERT_EQ(ExportCount(vec), 0);
  copy[0] = 99;
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_VALUES(vec, 0, 2, 4);
  ASSERT(copy[0] == 99 && copy[1] == 1 && copy[2] == 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_NUMBER(copy[2], 2);
  Release(tensor);
  return TEST_PASSED;
}

static int a_copy_is_compact(void) {
  CeedVector vec = Iota(12);
  DLManagedTensorVersioned *tensor = NULL;
  const CeedScalar expected[6] = {0, 2, 4, 1, 3, 5};

  PASSES(Says(vec, CEED_EXPORT_COPY, 2, DIMS(2, 3), DIMS(1, 2), DIMS(3, 1)));
  ASSERT_OK(ExportAs(vec, CEED_EXPORT_COPY, 2, DIMS(2, 3), DIMS(1, 2), &tensor));
  ASSERT(!memcmp(tensor->dl_tensor.data, expected, sizeof expected));
  Release(tensor);
  ASSERT_OK(ExportAs(vec, CEED_EXPORT_COPY, 1, DIMS(3), DIMS(5), &tensor));
  for (int i = 0; i < 3; i++) ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[i], 5 * i);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_copy_of_one_entry_or_of_none(void) {
  CeedVector vec = Iota(12);
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(ExportAs(vec, CEED_EXPORT_COPY, 0, NULL, NULL, &tensor));
  ASSERT_NUMBER(*(CeedScalar *)tensor->dl_tensor.data, 0);
  Release(tensor);
  ASSERT_OK(ExportAs(vec, CEED_EXPORT_COPY, 2, DIMS(0, 7), NULL, &tensor));
  ASSERT(!tensor->dl_tensor.data);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_copy_of_read_only_memory_is_writable(void) {
  CeedScalar memory[3] = {4, 5, 6};
  CeedVector vec = NULL;
  DLManagedTensorVersioned *tensor;
  Fake fake;

  FakeInit(&fake, memory, 1, DIMS(3), NULL);
  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FakeCreate(&fake, true, CEED_USE_POINTER, &vec));
  tensor = Export(vec, CEED_EXPORT_COPY);
  ASSERT_EQ(tensor->flags, IS_COPIED);
  ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[2], 6);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake.deletions, 1);
  Release(tensor);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

static int exported_memory_outlives_the_vector(void) {
  CeedVector vec = Iota(100);
  Ceed other = NULL;
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_SHARED);

  ASSERT_OK(CeedVectorGetCeed(vec, &other));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedDestroy(&other));
  for (int i = 0; i < 1000; i++) {
    char *scribble = malloc((size_t)(i % 200) + 1);
    memset(scribble, 0x55, (size_t)(i % 200) + 1);
    free(scribble);
  }
  ASSERT_EQ(tensor->dl_tensor.shape[0], 100);
  ASSERT_EQ(tensor->dl_tensor.strides[0], 1);
  for (int i = 0; i < 100; i++) ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[i], i);
  Release(tensor);
  return TEST_PASSED;
}

static int an_export_outlives_the_context(void) {
  Ceed other = NULL;
  CeedVector vec = NULL;
  DLManagedTensorVersioned *tensor;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  ASSERT_OK(CeedVectorCreate(other, 3, &vec));
  ASSERT_OK(CeedVectorSetValue(vec, 5));
  tensor = Export(vec, CEED_EXPORT_SHARED);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedDestroy(&other));
  ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[2], 5);
  Release(tensor);
  return TEST_PASSED;
}

static int two_exports_are_two_tensors(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *first = Export(vec, CEED_EXPORT_SHARED);
  DLManagedTensorVersioned *second = Export(vec, CEED_EXPORT_SHARED);

  ASSERT(first != second);
  ASSERT(first->dl_tensor.shape != second->dl_tensor.shape);
  ASSERT(first->dl_tensor.strides != second->dl_tensor.strides);
  ASSERT_SAME(first->dl_tensor.data, second->dl_tensor.data);
  Release(first);
  ASSERT_EQ(second->dl_tensor.shape[0], 3);
  ASSERT_EQ(((CeedScalar *)second->dl_tensor.data)[2], 2);
  ASSERT_EQ(ExportCount(vec), 1);
  Release(second);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int exports_may_end_in_any_order(void) {
  enum { COUNT = 5 };
  const int orders[][COUNT] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};

  for (int i = 0; i < COUNT_OF(orders); i++) {
    DLManagedTensorVersioned *tensors[COUNT];
    CeedVector vec = Iota(3);
    for (int j = 0; j < COUNT; j++) tensors[j] = Export(vec, CEED_EXPORT_SHARED);
    for (int j = 0; j < COUNT - 2; j++) Release(tensors[orders[i][j]]);
    ASSERT_EQ(ExportCount(vec), 2);
    ASSERT_OK(CeedVectorDestroy(&vec));
    for (int j = COUNT - 2; j < COUNT; j++) Release(tensors[orders[i][j]]);
  }
  return TEST_PASSED;
}

static int exports_of_borrowed_memory_show_it(void) {
  CeedScalar borrowed[3] = {4, 5, 6};
  CeedVector vec = NULL;
  DLManagedTensorVersioned *tensor;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  tensor = Export(vec, CEED_EXPORT_SHARED);
  ASSERT_SAME(tensor->dl_tensor.data, borrowed);
  ASSERT_OK(CeedVectorDestroy(&vec));
  Release(tensor);
  ASSERT_NUMBER(borrowed[2], 6);
  return TEST_PASSED;
}

static int the_callers_shape_is_not_kept(void) {
  CeedVector vec = Iota(6);
  int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(ExportAs(vec, CEED_EXPORT_SHARED, 2, shape, strides, &tensor));
  shape[0] = strides[0] = -1;
  ASSERT_EQ(tensor->dl_tensor.shape[0], 2);
  ASSERT_EQ(tensor->dl_tensor.strides[0], 3);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What is refused
// ------------------------------------------------------------------------------------------------

static int a_vector_without_values_is_not_exported(void) {
  CeedVector vec = NULL;
  DLManagedTensorVersioned *tensor = NULL;
  DLManagedTensor *legacy = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &legacy));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE,
              CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_HOST, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, ExportAs(vec, CEED_EXPORT_READ, 1, DIMS(3), NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, ExportAs(vec, CEED_EXPORT_WRITE, 1, DIMS(3), NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, ExportAs(vec, CEED_EXPORT_COPY, 1, DIMS(3), NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, ExportAs(vec, CEED_EXPORT_PIN, 1, DIMS(3), NULL, &tensor));
  ASSERT(!tensor && !legacy);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_pin_needs_memory_but_no_values(void) {
  CeedVector vec = NULL;
  CeedScalar *array = NULL;
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(ExportAs(vec, CEED_EXPORT_PIN, 1, DIMS(3), NULL, &tensor));
  ASSERT_EQ(tensor->flags, READ_ONLY);
  ASSERT_SAME(tensor->dl_tensor.data, array);
  Release(tensor);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int device_memory_of_a_host_context_is_an_error(void) {
  CeedVector vec;
  DLManagedTensorVersioned *tensor = NULL;
  DLManagedTensor *legacy = NULL;
  int32_t type, id;

  OF_HOST_CONTEXTS();
  vec = Iota(3);
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorToDLPack(ceed, vec, CEED_MEM_DEVICE, &legacy));
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_DEVICE, &tensor));
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
    ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorExport(vec, CEED_MEM_DEVICE, (CeedExportMode)mode, 1,
                                                     DIMS(3), NULL, &tensor));
  }
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedVectorGetDLPackDevice(vec, CEED_MEM_DEVICE, &type, &id));
  ASSERT(!tensor && !legacy);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int bad_arguments_are_errors(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = NULL;
  int32_t number;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, ExportAs(vec, (CeedExportMode)5, 1, DIMS(3), NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              ExportAs(vec, (CeedExportMode)-1, 1, DIMS(3), NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorExport(vec, (CeedMemType)2, CEED_EXPORT_SHARED, 1, DIMS(3), NULL, &tensor));
  ASSERT_FAILS(ExportAs(vec, CEED_EXPORT_SHARED, 1, NULL, NULL, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, ExportAs(vec, CEED_EXPORT_SHARED, 1, DIMS(3), NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorToDLPackVersioned(ceed, vec, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, NULL, &number));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, &number, NULL));
  ASSERT(!tensor);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int another_context_than_the_vectors_is_an_error(void) {
  CeedVector vec = Iota(3);
  Ceed other = NULL;
  DLManagedTensorVersioned *tensor = NULL;
  DLManagedTensor *legacy = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorToDLPack(other, vec, CEED_MEM_HOST, &legacy));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorToDLPackVersioned(other, vec, CEED_MEM_HOST, &tensor));
  ASSERT(!tensor && !legacy);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

static int host_memory_is_the_cpu_of_dlpack(void) {
  CeedVector vec = NULL;
  int32_t type = -1, id = -1;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, &type, &id));
    ASSERT(type == CPU && id == 0);
    ASSERT_OK(CeedVectorSetValue(vec, 1));
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_versioned_tensor_says_what_the_vector_is),
    BEHAVIOUR(a_legacy_tensor_says_what_the_vector_is),
    BEHAVIOUR(both_sides_see_each_others_writes),
    BEHAVIOUR(exported_memory_is_aligned_to_256_bytes),
    BEHAVIOUR(an_empty_vector_exports_null_data),
    BEHAVIOUR(modes_set_their_flags),
    BEHAVIOUR(null_strides_are_c_order),
    BEHAVIOUR(given_strides_are_kept),
    BEHAVIOUR(axes_of_length_one_have_the_stride_of_c_order),
    BEHAVIOUR(empty_shapes_may_be_exported_of_any_vector),
    BEHAVIOUR(empty_shapes_of_huge_lengths_are_exported_or_refused),
    BEHAVIOUR(no_axes_are_the_first_entry),
    BEHAVIOUR(up_to_sixty_four_axes_can_be),
    BEHAVIOUR(shapes_that_reach_outside_are_errors),
    BEHAVIOUR(negative_lengths_and_strides_are_errors),
    BEHAVIOUR(shapes_that_overflow_are_errors),
    BEHAVIOUR(a_copy_is_private_and_says_so),
    BEHAVIOUR(a_copy_is_compact),
    BEHAVIOUR(a_copy_of_one_entry_or_of_none),
    BEHAVIOUR(a_copy_of_read_only_memory_is_writable),
    BEHAVIOUR(exported_memory_outlives_the_vector),
    BEHAVIOUR(an_export_outlives_the_context),
    BEHAVIOUR(two_exports_are_two_tensors),
    BEHAVIOUR(exports_may_end_in_any_order),
    BEHAVIOUR(exports_of_borrowed_memory_show_it),
    BEHAVIOUR(the_callers_shape_is_not_kept),
    BEHAVIOUR(a_vector_without_values_is_not_exported),
    BEHAVIOUR(a_pin_needs_memory_but_no_values),
    BEHAVIOUR(device_memory_of_a_host_context_is_an_error),
    BEHAVIOUR(bad_arguments_are_errors),
    BEHAVIOUR(another_context_than_the_vectors_is_an_error),
    BEHAVIOUR(host_memory_is_the_cpu_of_dlpack),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
