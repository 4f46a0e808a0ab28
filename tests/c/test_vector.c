// Vectors: handles, access to the entries, whose memory it is, strided ranges, the state counter.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

static int a_vector_knows_its_length(void) {
  const CeedSize lengths[] = {0, 1, 2, 17, 1000};

  for (int i = 0; i < COUNT_OF(lengths); i++) {
    CeedVector vec = NULL;
    CeedSize length = -1;
    ASSERT_OK(CeedVectorCreate(ceed, lengths[i], &vec));
    ASSERT_OK(CeedVectorGetLength(vec, &length));
    ASSERT_EQ(length, lengths[i]);
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int a_negative_length_is_an_error(void) {
  CeedVector vec = NULL;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCreate(ceed, -1, &vec));
  ASSERT_SAYS("-1");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCreate(ceed, PTRDIFF_MIN, &vec));
  ASSERT(!vec);
  return TEST_PASSED;
}

// Either the length is refused at once, or the first write finds that there is no such memory.
static int HugeVectorFails(CeedSize length) {
  CeedVector vec = NULL;
  CeedScalar *array = NULL;
  int code = CeedVectorCreate(ceed, length, &vec);

  if (code) {
    ASSERT(code == CEED_ERROR_DIMENSION || code == CEED_ERROR_MAJOR);
    ASSERT(!vec);
    return TEST_PASSED;
  }
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorSetValue(vec, 1));
  ASSERT_CODE(CEED_ERROR_MAJOR, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT(!array);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int lengths_near_the_largest_number_fail_cleanly(void) {
  const CeedSize entries = PTRDIFF_MAX / (CeedSize)sizeof(CeedScalar);

  PASSES(HugeVectorFails(PTRDIFF_MAX));
  PASSES(HugeVectorFails(PTRDIFF_MAX - 1));
  PASSES(HugeVectorFails(PTRDIFF_MAX / 2 + 1));
  PASSES(HugeVectorFails(PTRDIFF_MAX / 4 + 2));
  PASSES(HugeVectorFails(entries + 1));
  PASSES(HugeVectorFails(entries));
  PASSES(HugeVectorFails(entries - 64));
  return TEST_PASSED;
}

static int destroy_sets_null_and_is_safe_twice(void) {
  CeedVector vec = Iota(3);

  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT(!vec);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(NULL));
  return TEST_PASSED;
}

static int a_reference_copy_is_the_same_object_and_outlives_the_first(void) {
  CeedVector first = Iota(3), second = NULL;

  ASSERT_OK(CeedVectorReferenceCopy(first, &second));
  ASSERT_SAME(second, first);
  ASSERT_OK(CeedVectorDestroy(&first));
  ASSERT_VALUES(second, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&second));
  return TEST_PASSED;
}

static int a_reference_copy_releases_what_the_target_held(void) {
  CeedVector first = Iota(3), second = Iota(5);

  ASSERT_OK(CeedVectorReferenceCopy(first, &second));
  ASSERT_SAME(second, first);
  ASSERT_OK(CeedVectorDestroy(&first));
  ASSERT_OK(CeedVectorDestroy(&second));
  return TEST_PASSED;
}

static int a_reference_copy_onto_itself_changes_nothing(void) {
  CeedVector vec = Iota(3);

  ASSERT_OK(CeedVectorReferenceCopy(vec, &vec));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_reference_copy_that_cannot_release_its_target_changes_nothing(void) {
  CeedVector first = Iota(3), second = Iota(5), target = second;
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArray(second, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorReferenceCopy(first, &target));
  ASSERT_SAME(target, second);
  ASSERT_OK(CeedVectorRestoreArray(second, &array));
  ASSERT_OK(CeedVectorDestroy(&second));
  ASSERT_OK(CeedVectorDestroy(&first));
  return TEST_PASSED;
}

static int a_vector_gives_a_reference_of_its_context(void) {
  CeedVector vec = Iota(1);
  Ceed other = NULL;

  ASSERT_OK(CeedVectorGetCeed(vec, &other));
  ASSERT_SAME(other, ceed);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedGetPreferredMemType(other, &(CeedMemType){0}));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

static int a_vector_lends_its_context(void) {
  CeedVector vec = Iota(1);

  ASSERT_SAME(CeedVectorReturnCeed(vec), ceed);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT(!CeedVectorReturnCeed(NULL));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Bad handles and outputs: every function that takes a vector
// ------------------------------------------------------------------------------------------------

static CeedScalar scratch[4];
static CeedVector bystander;

static int GivenReferenceCopy(CeedVector x) {
  return CeedVectorReferenceCopy(x, &(CeedVector){NULL});
}
static int GivenCopyFrom(CeedVector x) { return CeedVectorCopy(x, bystander); }
static int GivenCopyTo(CeedVector x) { return CeedVectorCopy(bystander, x); }
static int GivenCopyStridedFrom(CeedVector x) {
  return CeedVectorCopyStrided(x, 0, 1, 1, bystander);
}
static int GivenCopyStridedTo(CeedVector x) { return CeedVectorCopyStrided(bystander, 0, 1, 1, x); }
static int GivenSetArray(CeedVector x) {
  return CeedVectorSetArray(x, CEED_MEM_HOST, CEED_COPY_VALUES, scratch);
}
static int GivenSetValue(CeedVector x) { return CeedVectorSetValue(x, 1); }
static int GivenSetValueStrided(CeedVector x) { return CeedVectorSetValueStrided(x, 0, 1, 1, 1); }
static int GivenSyncArray(CeedVector x) { return CeedVectorSyncArray(x, CEED_MEM_HOST); }
static int GivenTakeArray(CeedVector x) { return CeedVectorTakeArray(x, CEED_MEM_HOST, NULL); }
static int GivenGetArray(CeedVector x) {
  return CeedVectorGetArray(x, CEED_MEM_HOST, &(CeedScalar *){NULL});
}
static int GivenGetArrayRead(CeedVector x) {
  return CeedVectorGetArrayRead(x, CEED_MEM_HOST, &(const CeedScalar *){NULL});
}
static int GivenGetArrayWrite(CeedVector x) {
  return CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &(CeedScalar *){NULL});
}
static int GivenRestoreArray(CeedVector x) {
  return CeedVectorRestoreArray(x, &(CeedScalar *){scratch});
}
static int GivenRestoreArrayRead(CeedVector x) {
  return CeedVectorRestoreArrayRead(x, &(const CeedScalar *){scratch});
}
static int GivenNorm(CeedVector x) { return CeedVectorNorm(x, CEED_NORM_1, scratch); }
static int GivenScale(CeedVector x) { return CeedVectorScale(x, 2); }
static int GivenFilter(CeedVector x) { return CeedVectorFilter(x, 2); }
static int GivenAXPYTo(CeedVector x) { return CeedVectorAXPY(x, 2, bystander); }
static int GivenAXPYFrom(CeedVector x) { return CeedVectorAXPY(bystander, 2, x); }
static int GivenAXPBYTo(CeedVector x) { return CeedVectorAXPBY(x, 2, 3, bystander); }
static int GivenAXPBYFrom(CeedVector x) { return CeedVectorAXPBY(bystander, 2, 3, x); }
static int GivenMultTo(CeedVector x) { return CeedVectorPointwiseMult(x, bystander, bystander); }
static int GivenMultFirst(CeedVector x) { return CeedVectorPointwiseMult(bystander, x, bystander); }
static int GivenMultSecond(CeedVector x) {
  return CeedVectorPointwiseMult(bystander, bystander, x);
}
static int GivenReciprocal(CeedVector x) { return CeedVectorReciprocal(x); }
static int GivenViewRange(CeedVector x) { return CeedVectorViewRange(x, 0, 1, 1, NULL, stderr); }
static int GivenView(CeedVector x) { return CeedVectorView(x, NULL, stderr); }
static int GivenGetCeed(CeedVector x) { return CeedVectorGetCeed(x, &(Ceed){NULL}); }
static int GivenGetLength(CeedVector x) { return CeedVectorGetLength(x, &(CeedSize){0}); }
static int GivenGetState(CeedVector x) { return CeedVectorGetState(x, &(uint64_t){0}); }
static int GivenGetMemTypes(CeedVector x) {
  bool holds[2], current[2];
  return CeedVectorGetMemTypes(x, holds, current);
}
static int GivenGetExportCount(CeedVector x) { return CeedVectorGetExportCount(x, &(CeedSize){0}); }
static int GivenToDLPack(CeedVector x) {
  return CeedVectorToDLPack(NULL, x, CEED_MEM_HOST, &(struct DLManagedTensor *){NULL});
}
static int GivenToDLPackVersioned(CeedVector x) {
  return CeedVectorToDLPackVersioned(NULL, x, CEED_MEM_HOST,
                                     &(struct DLManagedTensorVersioned *){NULL});
}
static int GivenExport(CeedVector x) {
  return CeedVectorExport(x, CEED_MEM_HOST, CEED_EXPORT_SHARED, 1, DIMS(1), NULL,
                          &(struct DLManagedTensorVersioned *){NULL});
}
static int GivenTake(CeedVector x) {
  static Fake fake;
  FakeInit(&fake, scratch, 1, DIMS(1), NULL);
  return FakeTake(x, &fake, false, CEED_COPY_VALUES);
}
static int GivenTakeVersioned(CeedVector x) {
  static Fake fake;
  FakeInit(&fake, scratch, 1, DIMS(1), NULL);
  return FakeTake(x, &fake, true, CEED_COPY_VALUES);
}
static int GivenGetDLPackDevice(CeedVector x) {
  return CeedVectorGetDLPackDevice(x, CEED_MEM_HOST, &(int32_t){0}, &(int32_t){0});
}

static int (*const given_calls[])(CeedVector) = {
    GivenReferenceCopy,
    GivenCopyFrom,
    GivenCopyTo,
    GivenCopyStridedFrom,
    GivenCopyStridedTo,
    GivenSetArray,
    GivenSetValue,
    GivenSetValueStrided,
    GivenSyncArray,
    GivenTakeArray,
    GivenGetArray,
    GivenGetArrayRead,
    GivenGetArrayWrite,
    GivenRestoreArray,
    GivenRestoreArrayRead,
    GivenNorm,
    GivenScale,
    GivenFilter,
    GivenAXPYTo,
    GivenAXPYFrom,
    GivenAXPBYTo,
    GivenAXPBYFrom,
    GivenMultTo,
    GivenMultFirst,
    GivenMultSecond,
    GivenReciprocal,
    GivenViewRange,
    GivenView,
    GivenGetCeed,
    GivenGetLength,
    GivenGetState,
    GivenGetMemTypes,
    GivenGetExportCount,
    GivenToDLPack,
    GivenToDLPackVersioned,
    GivenExport,
    GivenTake,
    GivenTakeVersioned,
    GivenGetDLPackDevice,
};

static int RefusedByAll(CeedVector handle, const char *words) {
  bystander = VectorOf(1, (CeedScalar[]){3});
  for (int i = 0; i < COUNT_OF(given_calls); i++) {
    CeedResetErrorMessage(NULL, NULL);
    int code = given_calls[i](handle);
    if (code != CEED_ERROR_INCOMPATIBLE || !strstr(TestText(), words)) {
      FAIL("function %d of the table: code %d, text \"%s\"", i, code, TestText());
    }
  }
  ASSERT_VALUES(bystander, 3);
  ASSERT_OK(CeedVectorDestroy(&bystander));
  return TEST_PASSED;
}

static int null_vectors_are_errors(void) { return RefusedByAll(NULL, "NULL"); }

static int a_stranger_given_as_a_vector_is_an_error(void) {
  uint64_t stranger[64];

  memset(stranger, 0, sizeof stranger);
  PASSES(RefusedByAll((CeedVector)(void *)stranger, "no object of this library"));
  memset(stranger, 0xff, sizeof stranger);
  PASSES(RefusedByAll((CeedVector)(void *)stranger, "no object of this library"));
  stranger[0] = (uint64_t)(uintptr_t)stranger;
  PASSES(RefusedByAll((CeedVector)(void *)stranger, "no object of this library"));
  return TEST_PASSED;
}

static int a_context_given_as_a_vector_is_an_error_that_says_so(void) {
  return RefusedByAll((CeedVector)(void *)ceed, "is a Ceed of the " SCALAR_NAME " library");
}

static int sentinels_are_no_vectors(void) {
  PASSES(RefusedByAll(CEED_VECTOR_ACTIVE, "sentinel"));
  PASSES(RefusedByAll(CEED_VECTOR_NONE, "sentinel"));
  return TEST_PASSED;
}

static int a_bad_handle_has_no_context_to_lend(void) {
  uint64_t stranger[64] = {0};

  ASSERT(!CeedVectorReturnCeed((CeedVector)(void *)stranger));
  ASSERT(!CeedVectorReturnCeed((CeedVector)(void *)ceed));
  ASSERT(!CeedVectorReturnCeed(CEED_VECTOR_ACTIVE));
  return TEST_PASSED;
}

static int what_is_no_vector_is_not_destroyed(void) {
  uint64_t stranger[64] = {0};
  CeedVector handle = (CeedVector)(void *)stranger;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorDestroy(&handle));
  ASSERT_SAME(handle, stranger);
  handle = (CeedVector)(void *)ceed;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorDestroy(&handle));
  ASSERT_SAME(handle, ceed);
  return TEST_PASSED;
}

static int a_sentinel_outlives_its_destruction(void) {
  CeedVector handle = CEED_VECTOR_NONE;

  ASSERT_OK(CeedVectorDestroy(&handle));
  ASSERT(!handle);
  handle = CEED_VECTOR_NONE;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorSetValue(handle, 1));
  ASSERT_SAYS("sentinel");
  return TEST_PASSED;
}

static int null_outputs_are_errors(void) {
  CeedVector vec = Iota(1);
  bool types[2];

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorCreate(ceed, 1, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorReferenceCopy(vec, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetArray(vec, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorNorm(vec, CEED_NORM_1, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorView(vec, NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorViewRange(vec, 0, 1, 1, NULL, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetCeed(vec, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetLength(vec, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetState(vec, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetMemTypes(vec, NULL, types));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetMemTypes(vec, types, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorGetExportCount(vec, NULL));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Memory types, copy modes
// ------------------------------------------------------------------------------------------------

static int AccessIn(CeedVector vec, CeedMemType type, int code) {
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;

  ASSERT_CODE(code, CeedVectorGetArray(vec, type, &array));
  ASSERT_CODE(code, CeedVectorGetArrayRead(vec, type, &read));
  ASSERT_CODE(code, CeedVectorGetArrayWrite(vec, type, &array));
  ASSERT_CODE(code, CeedVectorSyncArray(vec, type));
  ASSERT_CODE(code, CeedVectorTakeArray(vec, type, &array));
  for (int mode = CEED_COPY_VALUES; mode <= CEED_OWN_POINTER; mode++) {
    ASSERT_CODE(code, CeedVectorSetArray(vec, type, (CeedCopyMode)mode, scratch));
  }
  ASSERT(!array && !read);
  return TEST_PASSED;
}

static int device_memory_of_a_host_context_is_an_error_that_says_so(void) {
  CeedVector vec;

  OF_HOST_CONTEXTS();
  vec = Iota(4);
  PASSES(AccessIn(vec, CEED_MEM_DEVICE, CEED_ERROR_BACKEND));
  ASSERT_SAYS("device memory");
  ASSERT_VALUES(vec, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int unknown_memory_types_are_errors(void) {
  CeedVector vec = Iota(4);

  PASSES(AccessIn(vec, (CeedMemType)2, CEED_ERROR_INCOMPATIBLE));
  PASSES(AccessIn(vec, (CeedMemType)-1, CEED_ERROR_INCOMPATIBLE));
  PASSES(AccessIn(vec, (CeedMemType)1000, CEED_ERROR_INCOMPATIBLE));
  ASSERT_VALUES(vec, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int unknown_copy_modes_are_errors(void) {
  CeedVector vec = Iota(4);

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, (CeedCopyMode)3, scratch));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, (CeedCopyMode)-1, scratch));
  ASSERT_VALUES(vec, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int MemTypesAre(CeedVector vec, bool holds_host, bool current_host) {
  bool holds[2] = {!holds_host, true}, current[2] = {!current_host, true};

  ASSERT_OK(CeedVectorGetMemTypes(vec, holds, current));
  ASSERT_EQ(holds[CEED_MEM_HOST], holds_host);
  ASSERT_EQ(current[CEED_MEM_HOST], current_host);
  ASSERT(!holds[CEED_MEM_DEVICE] && !current[CEED_MEM_DEVICE]);
  return TEST_PASSED;
}

static int memory_comes_with_the_first_write(void) {
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  PASSES(MemTypesAre(vec, false, false));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  PASSES(MemTypesAre(vec, true, true));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int own_memory_is_aligned_to_256_bytes(void) {
  for (CeedSize length = 1; length <= 200; length++) {
    CeedVector vec = Iota(length);
    const CeedScalar *array = NULL;
    ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
    ASSERT_EQ((uintptr_t)array % 256, 0);
    ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Brackets
// ------------------------------------------------------------------------------------------------

static int reading_a_vector_without_values_is_an_error(void) {
  CeedVector vec = NULL;
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT(!array && !read);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_written_array_holds_the_values_after_restore(void) {
  CeedVector vec = NULL;
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < 3; i++) array[i] = (CeedScalar)(i * i);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT(!array);
  ASSERT_VALUES(vec, 0, 1, 4);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int get_array_reads_and_writes(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  for (int i = 0; i < 3; i++) array[i] += 10;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT(!array);
  ASSERT_VALUES(vec, 10, 11, 12);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int one_writer_excludes_everybody(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL, *second = NULL;
  const CeedScalar *read = NULL;

  for (int write_only = 0; write_only < 2; write_only++) {
    if (write_only) ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
    if (!write_only) ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
    ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &second));
    ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
    ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &second));
    ASSERT(!second && !read);
    ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int many_readers_share_and_exclude_writers(void) {
  CeedVector vec = Iota(3);
  const CeedScalar *first = NULL, *second = NULL;
  CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &first));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &second));
  ASSERT_SAME(first, second);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &first));
  ASSERT(!first);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &second));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int restoring_what_is_not_out_is_an_error(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = scratch;
  const CeedScalar *read = scratch;

  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArray(vec, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  array = (CeedScalar *)(uintptr_t)read;
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  read = array;
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int restoring_twice_is_an_error(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL, *again;
  const CeedScalar *read = NULL, *read_again;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  again = array;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArray(vec, &again));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  read_again = read;
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorRestoreArrayRead(vec, &read_again));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int restoring_another_array_is_an_error_and_keeps_the_access(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL, *other = scratch;
  const CeedScalar *read = NULL, *other_read = scratch;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArray(vec, &other));
  ASSERT_SAME(other, scratch);
  other = array + 1;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArray(vec, &other));
  other = NULL;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArray(vec, &other));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArrayRead(vec, &other_read));
  other_read = NULL;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorRestoreArrayRead(vec, &other_read));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int memory_that_the_vector_owns_is_not_given_to_it_again(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = NULL, *own;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  own = array;
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, own));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, own));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, own));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_vector_whose_array_is_out_is_not_destroyed(void) {
  CeedVector vec = Iota(3), same = vec;
  CeedScalar *array = NULL;
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorDestroy(&vec));
  ASSERT_SAME(vec, same);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int more_readers_than_can_be_counted_are_an_error(void) {
  CeedVector vec = Iota(3);
  const CeedScalar *read = NULL, *given = NULL;
  CeedScalar *array = NULL;
  int out = 0, code = 0;

  for (; out < 200000 && !code; out += !code) {
    code = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read);
    if (!code) given = read;
  }
  if (code) ASSERT_EQ(code, CEED_ERROR_ACCESS);
  ASSERT(out >= 1000);
  for (; out > 0; out--) {
    ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
    read = given;
    ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  }
  ASSERT_OK(CeedVectorSetValue(vec, 4));
  ASSERT_VALUES(vec, 4, 4, 4);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int length_zero_works_everywhere(void) {
  CeedVector x = NULL, y = NULL;
  CeedScalar *array = NULL, norm = -1;
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 0, &x));
  ASSERT_OK(CeedVectorCreate(ceed, 0, &y));
  ASSERT_OK(CeedVectorSetValue(x, 1));
  ASSERT_OK(CeedVectorSetArray(x, CEED_MEM_HOST, CEED_COPY_VALUES, NULL));
  ASSERT_OK(CeedVectorGetArrayWrite(x, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(x, &array));
  ASSERT_OK(CeedVectorGetArray(x, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(x, &array));
  ASSERT_OK(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &read));
  ASSERT_OK(CeedVectorRestoreArrayRead(x, &read));
  for (int type = CEED_NORM_1; type <= CEED_NORM_MAX; type++) {
    ASSERT_OK(CeedVectorNorm(x, (CeedNormType)type, &norm));
    ASSERT_NUMBER(norm, 0);
  }
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_OK(CeedVectorCopyStrided(x, 0, -1, 1, y));
  ASSERT_OK(CeedVectorSetValueStrided(x, 0, 0, 1, 2));
  ASSERT_OK(CeedVectorScale(x, 2));
  ASSERT_OK(CeedVectorFilter(x, 2));
  ASSERT_OK(CeedVectorReciprocal(x));
  ASSERT_OK(CeedVectorAXPY(y, 2, x));
  ASSERT_OK(CeedVectorAXPBY(y, 2, 3, x));
  ASSERT_OK(CeedVectorPointwiseMult(y, x, x));
  ASSERT_OK(CeedVectorSyncArray(x, CEED_MEM_HOST));
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int no_entries_may_be_restored_as_null(void) {
  CeedVector vec = Iota(0);
  CeedScalar lent[1], *array = NULL;

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, lent));
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &(CeedScalar *){NULL}));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int an_empty_vector_has_values_from_the_start(void) {
  CeedVector vec = NULL;
  CeedScalar norm = -1;
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 0, &vec));
  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_2, &norm));
  ASSERT_NUMBER(norm, 0);
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Whose memory it is
// ------------------------------------------------------------------------------------------------

static int copy_values_keeps_no_pointer(void) {
  CeedScalar array[3] = {5, 6, 7};
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, array));
  array[0] = 99;
  ASSERT_VALUES(vec, 5, 6, 7);
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_NUMBER(array[1], 6);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int use_pointer_works_in_place_and_frees_nothing(void) {
  CeedScalar array[3] = {5, 6, 7};
  const CeedScalar *read = NULL;
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_SAME(read, array);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  ASSERT_NUMBER(array[2], 14);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_NUMBER(array[0], 10);
  return TEST_PASSED;
}

static int own_pointer_takes_the_memory(void) {
  CeedScalar *array = malloc(3 * sizeof *array);
  const CeedScalar *read = NULL;
  CeedVector vec = NULL;

  for (int i = 0; i < 3; i++) array[i] = (CeedScalar)i;
  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, array));
  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_SAME(read, array);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int owned_memory_is_replaced_by_other_owned_memory(void) {
  CeedVector vec = Iota(3);

  for (int i = 0; i < 3; i++) {
    CeedScalar *array = calloc(3, sizeof *array);
    ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, array));
  }
  ASSERT_VALUES(vec, 0, 0, 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int copying_values_after_a_borrow_writes_into_the_borrowed_array(void) {
  CeedScalar borrowed[3] = {1, 1, 1}, values[3] = {7, 8, 9};
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  ASSERT(!memcmp(borrowed, values, sizeof values));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int copying_values_that_overlap_the_borrowed_array_is_safe(void) {
  CeedScalar memory[5] = {1, 2, 3, 4, 5};
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 4, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, memory + 1));
  ASSERT_VALUES(vec, 2, 3, 4, 5);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, memory));
  ASSERT_VALUES(vec, 2, 3, 4, 5);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int take_array_gives_the_borrowed_array_back(void) {
  CeedScalar borrowed[3] = {1, 2, 3}, *array = NULL;
  const CeedScalar *read = NULL;
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  ASSERT_OK(CeedVectorScale(vec, 3));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_SAME(array, borrowed);
  ASSERT_NUMBER(borrowed[2], 9);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  PASSES(MemTypesAre(vec, false, false));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_vector_forgets_the_array_it_gave_back(void) {
  CeedScalar borrowed[3] = {1, 2, 3};
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, NULL));
  ASSERT_OK(CeedVectorSetValue(vec, 8));
  ASSERT_VALUES(vec, 8, 8, 8);
  ASSERT_NUMBER(borrowed[0], 1);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int taking_what_was_not_borrowed_is_an_error(void) {
  CeedScalar borrowed[3] = {0}, *array = NULL;
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 3, &vec));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_VALUES(vec, 1, 1, 1);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, calloc(3, sizeof *array)));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_borrowed_array_is_replaced_without_being_freed(void) {
  CeedScalar first[2] = {1, 2}, second[2] = {3, 4};
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 2, &vec));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, first));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, second));
  ASSERT_VALUES(vec, 3, 4);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, second));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, calloc(2, sizeof *first)));
  ASSERT_OK(CeedVectorSetValue(vec, 9));
  ASSERT(first[1] == 2 && second[1] == 4);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_null_array_is_an_error(void) {
  CeedVector vec = Iota(3);

  for (int mode = CEED_COPY_VALUES; mode <= CEED_OWN_POINTER; mode++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
                CeedVectorSetArray(vec, CEED_MEM_HOST, (CeedCopyMode)mode, NULL));
  }
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int an_array_that_is_not_aligned_is_an_error(void) {
  CeedVector vec = Iota(3);
  CeedScalar memory[4] = {0};
  CeedScalar *misaligned = (CeedScalar *)((uintptr_t)memory + 1);

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, misaligned));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, misaligned));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_refused_array_stays_with_the_caller(void) {
  CeedVector vec = Iota(3);
  CeedScalar *array = calloc(3, sizeof *array), *bracket = NULL;

  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &bracket));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_OWN_POINTER, array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &bracket));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  free(array);
  return TEST_PASSED;
}

static int syncing_host_memory_succeeds_while_it_is_read(void) {
  CeedVector vec = Iota(3);
  const CeedScalar *read = NULL;

  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &read));
  ASSERT_OK(CeedVectorSyncArray(vec, CEED_MEM_HOST));
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &read));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Copies and strided ranges
// ------------------------------------------------------------------------------------------------

static int copy_gives_equal_vectors_with_memory_of_their_own(void) {
  CeedVector x = Iota(4), y = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 4, &y));
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_OK(CeedVectorSetValue(x, 9));
  ASSERT_VALUES(y, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorCopy(y, y));
  ASSERT_VALUES(y, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int copy_crosses_contexts(void) {
  CeedVector x = Iota(3), y = NULL;
  Ceed other = NULL;

  ASSERT_OK(CeedInit("/cpu/self/ref/serial", &other));
  ASSERT_OK(CeedVectorCreate(other, 3, &y));
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_VALUES(y, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

static int copying_between_lengths_is_an_error_with_both(void) {
  CeedVector x = Iota(41), y = Iota(5);

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopy(x, y));
  ASSERT_SAYS("41");
  ASSERT_SAYS("5");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopy(y, x));
  ASSERT_VALUES(y, 0, 1, 2, 3, 4);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int copying_what_has_no_values_is_an_error_and_changes_nothing(void) {
  CeedVector x = NULL, y = Iota(3);

  ASSERT_OK(CeedVectorCreate(ceed, 3, &x));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorCopy(x, y));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorCopyStrided(x, 0, 3, 1, y));
  ASSERT_VALUES(y, 0, 1, 2);
  ASSERT_EQ(State(y) % 2, 0);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int a_strided_copy_touches_its_range_only(void) {
  CeedVector x = Iota(8), y = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 8, &y));
  ASSERT_OK(CeedVectorSetValue(y, -1));
  ASSERT_OK(CeedVectorCopyStrided(x, 1, 6, 2, y));
  ASSERT_VALUES(y, -1, 1, -1, 3, -1, 5, -1, -1);
  ASSERT_OK(CeedVectorCopyStrided(x, 6, -1, 1, y));
  ASSERT_VALUES(y, -1, 1, -1, 3, -1, 5, 6, 7);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int a_strided_copy_must_fit_both_lengths(void) {
  CeedVector longer = Iota(6), shorter = Iota(3);

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopyStrided(longer, 0, -1, 1, shorter));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopyStrided(longer, 0, 4, 1, shorter));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopyStrided(shorter, 0, 4, 1, longer));
  ASSERT_OK(CeedVectorSetValue(longer, 9));
  ASSERT_OK(CeedVectorCopyStrided(longer, 0, 3, 2, shorter));
  ASSERT_VALUES(shorter, 9, 1, 9);
  ASSERT_OK(CeedVectorCopyStrided(shorter, 0, -1, 1, longer));
  ASSERT_VALUES(longer, 9, 1, 9, 9, 9, 9);
  ASSERT_OK(CeedVectorDestroy(&longer));
  ASSERT_OK(CeedVectorDestroy(&shorter));
  return TEST_PASSED;
}

static int a_strided_copy_into_itself_changes_nothing(void) {
  CeedVector vec = Iota(4);

  ASSERT_OK(CeedVectorCopyStrided(vec, 0, -1, 3, vec));
  ASSERT_VALUES(vec, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int setting_a_strided_range_touches_its_entries_only(void) {
  CeedVector vec = Iota(7);

  ASSERT_OK(CeedVectorSetValueStrided(vec, 1, 6, 2, 50));
  ASSERT_VALUES(vec, 0, 50, 2, 50, 4, 50, 6);
  ASSERT_OK(CeedVectorSetValueStrided(vec, 4, -1, 1, 60));
  ASSERT_VALUES(vec, 0, 50, 2, 50, 60, 60, 60);
  ASSERT_OK(CeedVectorSetValueStrided(vec, 0, -1, 6, 70));
  ASSERT_VALUES(vec, 70, 50, 2, 50, 60, 60, 70);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int an_empty_range_touches_nothing(void) {
  CeedVector vec = Iota(3);

  ASSERT_OK(CeedVectorSetValueStrided(vec, 0, 0, 1, 9));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 3, 3, 1, 9));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 3, -1, 1, 9));
  ASSERT_OK(CeedVectorSetValueStrided(vec, 2, 2, 5, 9));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int the_largest_step_touches_the_first_entry(void) {
  CeedVector vec = Iota(3), other = Iota(3);

  ASSERT_OK(CeedVectorSetValueStrided(vec, 1, 3, PTRDIFF_MAX, 9));
  ASSERT_VALUES(vec, 0, 9, 2);
  ASSERT_OK(CeedVectorCopyStrided(vec, 1, -1, PTRDIFF_MAX, other));
  ASSERT_VALUES(other, 0, 9, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&other));
  return TEST_PASSED;
}

static int ranges_that_do_not_fit_are_errors(void) {
  static const CeedSize ranges[][3] = {
      {-1, 3, 1}, {0, 5, 1},  {0, PTRDIFF_MAX, 1}, {3, 2, 1},           {5, -1, 1},
      {5, 5, 1},  {0, -2, 1}, {0, 4, 0},           {0, 4, -1},          {0, 4, PTRDIFF_MIN},
      {4, 0, -1}, {0, 0, 0},  {PTRDIFF_MIN, 4, 1}, {PTRDIFF_MAX, 4, 1}, {0, PTRDIFF_MIN, 1},
  };
  CeedVector vec = Iota(4), other = Iota(4);

  for (int i = 0; i < COUNT_OF(ranges); i++) {
    const CeedSize *r = ranges[i];
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorSetValueStrided(vec, r[0], r[1], r[2], 9));
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedVectorCopyStrided(vec, r[0], r[1], r[2], other));
  }
  ASSERT_VALUES(vec, 0, 1, 2, 3);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&other));
  return TEST_PASSED;
}

static int setting_a_range_of_a_vector_without_values_is_an_error(void) {
  CeedVector vec = NULL, source = Iota(4);

  ASSERT_OK(CeedVectorCreate(ceed, 4, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorSetValueStrided(vec, 0, 2, 1, 9));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorCopyStrided(source, 0, 2, 1, vec));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&source));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The state counter
// ------------------------------------------------------------------------------------------------

static int the_state_is_odd_while_a_writer_has_the_array(void) {
  CeedVector vec = Iota(3);
  uint64_t before = State(vec);
  CeedScalar *array = NULL;

  ASSERT_EQ(before % 2, 0);
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_EQ(State(vec), before + 1);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_EQ(State(vec), before + 2);
  ASSERT_OK(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT_EQ(State(vec), before + 3);
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  ASSERT_EQ(State(vec), before + 4);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int the_state_grows_by_two_with_every_write(void) {
  CeedVector x = Iota(3), y = Iota(3);
  uint64_t state = State(y);
  CeedScalar borrowed[3] = {1, 2, 3};

  ASSERT_OK(CeedVectorSetValue(y, 1));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorSetValueStrided(y, 0, 2, 1, 2));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorCopyStrided(x, 0, 2, 1, y));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorScale(y, 2));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorFilter(y, 0));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorReciprocal(y));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorAXPY(y, 2, x));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorAXPBY(y, 2, 3, x));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorPointwiseMult(y, x, x));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorSetArray(y, CEED_MEM_HOST, CEED_COPY_VALUES, borrowed));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorSetArray(y, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  ASSERT_EQ(State(y), state += 2);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int reading_does_not_change_the_state(void) {
  CeedVector x = Iota(3), y = Iota(3);
  uint64_t state = State(x);
  const CeedScalar *read = NULL;
  CeedScalar norm;

  ASSERT_OK(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &read));
  ASSERT_OK(CeedVectorRestoreArrayRead(x, &read));
  ASSERT_OK(CeedVectorNorm(x, CEED_NORM_2, &norm));
  ASSERT_OK(CeedVectorCopy(x, y));
  ASSERT_OK(CeedVectorAXPY(y, 1, x));
  ASSERT_OK(CeedVectorPointwiseMult(y, x, x));
  ASSERT_OK(CeedVectorSyncArray(x, CEED_MEM_HOST));
  ASSERT_EQ(State(x), state);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static int a_failed_write_does_not_change_the_state(void) {
  CeedVector x = Iota(4), y = Iota(3);
  uint64_t state = State(y);
  const CeedScalar *read = NULL;
  CeedScalar *array = NULL;

  ASSERT_FAILS(CeedVectorCopy(x, y));
  ASSERT_FAILS(CeedVectorAXPY(y, 1, x));
  ASSERT_FAILS(CeedVectorAXPBY(y, 1, 1, x));
  ASSERT_FAILS(CeedVectorPointwiseMult(y, y, x));
  ASSERT_FAILS(CeedVectorSetValueStrided(y, 0, 9, 1, 1));
  ASSERT_OK(CeedVectorGetArrayRead(y, CEED_MEM_HOST, &read));
  ASSERT_FAILS(CeedVectorGetArray(y, CEED_MEM_HOST, &array));
  ASSERT_FAILS(CeedVectorSetValue(y, 1));
  ASSERT_OK(CeedVectorRestoreArrayRead(y, &read));
  ASSERT_EQ(State(y), state);
  ASSERT_VALUES(y, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&x));
  ASSERT_OK(CeedVectorDestroy(&y));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_vector_knows_its_length),
    BEHAVIOUR(a_negative_length_is_an_error),
    BEHAVIOUR(lengths_near_the_largest_number_fail_cleanly),
    BEHAVIOUR(destroy_sets_null_and_is_safe_twice),
    BEHAVIOUR(a_reference_copy_is_the_same_object_and_outlives_the_first),
    BEHAVIOUR(a_reference_copy_releases_what_the_target_held),
    BEHAVIOUR(a_reference_copy_onto_itself_changes_nothing),
    BEHAVIOUR(a_reference_copy_that_cannot_release_its_target_changes_nothing),
    BEHAVIOUR(a_vector_gives_a_reference_of_its_context),
    BEHAVIOUR(a_vector_lends_its_context),
    BEHAVIOUR(null_vectors_are_errors),
    BEHAVIOUR(a_stranger_given_as_a_vector_is_an_error),
    BEHAVIOUR(a_context_given_as_a_vector_is_an_error_that_says_so),
    BEHAVIOUR(sentinels_are_no_vectors),
    BEHAVIOUR(a_bad_handle_has_no_context_to_lend),
    BEHAVIOUR(what_is_no_vector_is_not_destroyed),
    BEHAVIOUR(a_sentinel_outlives_its_destruction),
    BEHAVIOUR(null_outputs_are_errors),
    BEHAVIOUR(device_memory_of_a_host_context_is_an_error_that_says_so),
    BEHAVIOUR(unknown_memory_types_are_errors),
    BEHAVIOUR(unknown_copy_modes_are_errors),
    BEHAVIOUR(memory_comes_with_the_first_write),
    BEHAVIOUR(own_memory_is_aligned_to_256_bytes),
    BEHAVIOUR(reading_a_vector_without_values_is_an_error),
    BEHAVIOUR(a_written_array_holds_the_values_after_restore),
    BEHAVIOUR(get_array_reads_and_writes),
    BEHAVIOUR(one_writer_excludes_everybody),
    BEHAVIOUR(many_readers_share_and_exclude_writers),
    BEHAVIOUR(restoring_what_is_not_out_is_an_error),
    BEHAVIOUR(restoring_twice_is_an_error),
    BEHAVIOUR(restoring_another_array_is_an_error_and_keeps_the_access),
    BEHAVIOUR(memory_that_the_vector_owns_is_not_given_to_it_again),
    BEHAVIOUR(a_vector_whose_array_is_out_is_not_destroyed),
    BEHAVIOUR(more_readers_than_can_be_counted_are_an_error),
    BEHAVIOUR(length_zero_works_everywhere),
    BEHAVIOUR(no_entries_may_be_restored_as_null),
    BEHAVIOUR(an_empty_vector_has_values_from_the_start),
    BEHAVIOUR(copy_values_keeps_no_pointer),
    BEHAVIOUR(use_pointer_works_in_place_and_frees_nothing),
    BEHAVIOUR(own_pointer_takes_the_memory),
    BEHAVIOUR(owned_memory_is_replaced_by_other_owned_memory),
    BEHAVIOUR(copying_values_after_a_borrow_writes_into_the_borrowed_array),
    BEHAVIOUR(copying_values_that_overlap_the_borrowed_array_is_safe),
    BEHAVIOUR(take_array_gives_the_borrowed_array_back),
    BEHAVIOUR(a_vector_forgets_the_array_it_gave_back),
    BEHAVIOUR(taking_what_was_not_borrowed_is_an_error),
    BEHAVIOUR(a_borrowed_array_is_replaced_without_being_freed),
    BEHAVIOUR(a_null_array_is_an_error),
    BEHAVIOUR(an_array_that_is_not_aligned_is_an_error),
    BEHAVIOUR(a_refused_array_stays_with_the_caller),
    BEHAVIOUR(syncing_host_memory_succeeds_while_it_is_read),
    BEHAVIOUR(copy_gives_equal_vectors_with_memory_of_their_own),
    BEHAVIOUR(copy_crosses_contexts),
    BEHAVIOUR(copying_between_lengths_is_an_error_with_both),
    BEHAVIOUR(copying_what_has_no_values_is_an_error_and_changes_nothing),
    BEHAVIOUR(a_strided_copy_touches_its_range_only),
    BEHAVIOUR(a_strided_copy_must_fit_both_lengths),
    BEHAVIOUR(a_strided_copy_into_itself_changes_nothing),
    BEHAVIOUR(setting_a_strided_range_touches_its_entries_only),
    BEHAVIOUR(an_empty_range_touches_nothing),
    BEHAVIOUR(the_largest_step_touches_the_first_entry),
    BEHAVIOUR(ranges_that_do_not_fit_are_errors),
    BEHAVIOUR(setting_a_range_of_a_vector_without_values_is_an_error),
    BEHAVIOUR(the_state_is_odd_while_a_writer_has_the_array),
    BEHAVIOUR(the_state_grows_by_two_with_every_write),
    BEHAVIOUR(reading_does_not_change_the_state),
    BEHAVIOUR(a_failed_write_does_not_change_the_state),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
