// Taking tensors of others into vectors: whose they are afterwards, which are refused, and why.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

// The entries that tensors are made over: 0, 1, ..., 39, aligned as the library's own are.
static CeedScalar *data;
static Fake fake;

static int Begin(void) {
  void *memory = NULL;

  if (posix_memalign(&memory, 256, 40 * sizeof *data)) return TEST_FAILED;
  data = memory;
  for (int i = 0; i < 40; i++) data[i] = (CeedScalar)i;
  return CreateContext();
}

static int End(void) {
  free(data);
  return DestroyContext();
}

static CeedVector Empty(CeedSize length) {
  CeedVector vec = NULL;

  CeedVectorCreate(ceed, length, &vec);
  return vec;
}

// A tensor of `count` entries on one axis.
static void FakeLine(int64_t count) { FakeInit(&fake, data, 1, DIMS(count), NULL); }

static int Adopts(CeedCopyMode mode) { return mode != CEED_COPY_VALUES; }

#define COPY_MODES(mode)                                                         \
  for (CeedCopyMode mode = CEED_COPY_VALUES; (int)mode <= (int)CEED_OWN_POINTER; \
       mode = (CeedCopyMode)(mode + 1))

// ------------------------------------------------------------------------------------------------
// Whose the tensor is
// ------------------------------------------------------------------------------------------------

static int copying_calls_the_deleter_before_it_returns(void) {
  LEGACY_AND_VERSIONED(versioned) {
    CeedVector vec = Empty(4);
    FakeLine(4);
    ASSERT_OK(FakeTake(vec, &fake, versioned, CEED_COPY_VALUES));
    ASSERT_EQ(fake.deletions, 1);
    data[0] = 99;
    ASSERT_VALUES(vec, 0, 1, 2, 3);
    data[0] = 0;
    ASSERT_OK(CeedVectorDestroy(&vec));
    ASSERT_EQ(fake.deletions, 1);
  }
  return TEST_PASSED;
}

static int adopting_shares_the_memory_and_calls_the_deleter_at_the_end(void) {
  COPY_MODES(mode) {
    for (int versioned = 0; versioned < 2 && Adopts(mode); versioned++) {
      CeedVector vec = Empty(4);
      const CeedScalar *array = NULL;
      FakeLine(4);
      ASSERT_OK(FakeTake(vec, &fake, versioned, mode));
      ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
      ASSERT_SAME(array, data);
      ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
      ASSERT_EQ(fake.deletions, 0);
      ASSERT_OK(CeedVectorDestroy(&vec));
      ASSERT_EQ(fake.deletions, 1);
    }
  }
  return TEST_PASSED;
}

static int adopted_memory_is_written_in_place(void) {
  LEGACY_AND_VERSIONED(versioned) {
    CeedVector vec = Empty(3);
    FakeLine(3);
    ASSERT_OK(FakeTake(vec, &fake, versioned, CEED_USE_POINTER));
    ASSERT_OK(CeedVectorScale(vec, 2));
    ASSERT_NUMBER(data[2], 4);
    ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar[]){0, 1, 2}));
    ASSERT_NUMBER(data[2], 2);
    ASSERT_EQ(fake.deletions, 0);
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int the_vector_lets_go_when_it_gets_other_memory(void) {
  CeedScalar other[3] = {7, 8, 9};
  CeedVector vec = Empty(3);
  Fake second;

  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_OWN_POINTER));
  FakeInit(&second, data + 10, 1, DIMS(3), NULL);
  ASSERT_OK(FakeTake(vec, &second, false, CEED_USE_POINTER));
  ASSERT_EQ(fake.deletions, 1);
  ASSERT_VALUES(vec, 10, 11, 12);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, other));
  ASSERT_EQ(second.deletions, 1);
  ASSERT_VALUES(vec, 7, 8, 9);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT(fake.deletions == 1 && second.deletions == 1);
  return TEST_PASSED;
}

static int adopting_replaces_borrowed_and_owned_memory(void) {
  CeedScalar borrowed[3] = {7, 8, 9};
  CeedVector vec = Iota(3);

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_NUMBER(borrowed[0], 7);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int copying_after_a_borrow_writes_into_the_borrowed_array(void) {
  CeedScalar borrowed[3] = {7, 8, 9};
  CeedVector vec = Empty(3);

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, borrowed));
  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT(borrowed[0] == 0 && borrowed[1] == 1 && borrowed[2] == 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int copying_after_an_adoption_keeps_the_adopted_memory(void) {
  CeedVector vec = Empty(3);
  Fake second;

  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  FakeInit(&second, data + 20, 1, DIMS(3), NULL);
  ASSERT_OK(FakeTake(vec, &second, true, CEED_COPY_VALUES));
  ASSERT(fake.deletions == 0 && second.deletions == 1);
  ASSERT_NUMBER(data[1], 21);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT(fake.deletions == 1 && second.deletions == 1);
  return TEST_PASSED;
}

static int adopted_memory_outlives_the_vector_while_exports_live(void) {
  DLManagedTensorVersioned *tensor;
  CeedVector vec = Empty(3);

  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  tensor = Export(vec, CEED_EXPORT_SHARED);
  ASSERT_SAME(tensor->dl_tensor.data, data);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_EQ(fake.deletions, 0);
  Release(tensor);
  ASSERT_EQ(fake.deletions, 1);
  return TEST_PASSED;
}

static int adopted_memory_is_exported_not_taken_back(void) {
  CeedVector vec = Empty(3);
  CeedScalar *array = NULL;

  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorTakeArray(vec, CEED_MEM_HOST, &array));
  ASSERT_SAYS("export");
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_missing_deleter_is_not_called(void) {
  COPY_MODES(mode) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = Empty(3);
      FakeLine(3);
      fake.legacy.deleter = NULL;
      fake.versioned.deleter = NULL;
      ASSERT_OK(FakeTake(vec, &fake, versioned, mode));
      ASSERT_VALUES(vec, 0, 1, 2);
      ASSERT_OK(CeedVectorDestroy(&vec));
    }
  }
  return TEST_PASSED;
}

// Everything of this tensor is gone after its deleter ran, as the DLPack header asks.
static void FreeLegacy(DLManagedTensor *tensor) {
  free(tensor->dl_tensor.data);
  memset(tensor, 0xaa, sizeof *tensor);
  free(tensor);
}

static void FreeVersioned(DLManagedTensorVersioned *tensor) {
  free(tensor->dl_tensor.data);
  memset(tensor, 0xaa, sizeof *tensor);
  free(tensor);
}

static int TakeOneThatFreesItself(bool versioned, CeedCopyMode mode, CeedVector vec) {
  FakeInit(&fake, calloc(4, sizeof *data), 1, DIMS(4), NULL);
  if (versioned) {
    DLManagedTensorVersioned *tensor = malloc(sizeof *tensor);
    *tensor = fake.versioned;
    tensor->deleter = FreeVersioned;
    return CeedVectorTakeFromDLPackVersioned(ceed, vec, tensor, mode);
  }
  DLManagedTensor *tensor = malloc(sizeof *tensor);
  *tensor = fake.legacy;
  tensor->deleter = FreeLegacy;
  return CeedVectorTakeFromDLPack(ceed, vec, tensor, mode);
}

static int a_deleted_tensor_is_not_touched_again(void) {
  COPY_MODES(mode) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = Empty(4);
      ASSERT_OK(TakeOneThatFreesItself(versioned, mode, vec));
      ASSERT_VALUES(vec, 0, 0, 0, 0);
      ASSERT_OK(CeedVectorDestroy(&vec));
    }
  }
  return TEST_PASSED;
}

static CeedVector asked_by_deleter;
static int answer_to_deleter;

static void DeleteAndAsk(DLManagedTensorVersioned *tensor) {
  DLManagedTensorVersioned *view = NULL;

  FakeCount(tensor->manager_ctx);
  answer_to_deleter =
      CeedVectorToDLPackVersioned(NULL, asked_by_deleter, CEED_MEM_HOST, &view) ? -1 : 1;
  if (view) Release(view);
}

static CeedVector changed_by_deleter;

static void DeleteAndDestroy(DLManagedTensorVersioned *tensor) {
  FakeCount(tensor->manager_ctx);
  CeedVectorDestroy(&changed_by_deleter);
}

static void DeleteAndReplace(DLManagedTensorVersioned *tensor) {
  FakeCount(tensor->manager_ctx);
  changed_by_deleter = Iota(2);
}

static int a_deleter_may_destroy_the_vector_that_lets_go(void) {
  Fake next;

  FakeInit(&fake, data, 1, DIMS(3), NULL);
  fake.versioned.deleter = DeleteAndDestroy;
  FakeInit(&next, data, 1, DIMS(3), NULL);
  changed_by_deleter = Empty(3);
  ASSERT_OK(FakeTake(changed_by_deleter, &fake, true, CEED_USE_POINTER));
  ASSERT_OK(FakeTake(changed_by_deleter, &next, true, CEED_USE_POINTER));
  ASSERT(!changed_by_deleter);
  ASSERT_EQ(fake.deletions, 1);
  ASSERT_EQ(next.deletions, 1);
  return TEST_PASSED;
}

static int a_deleter_may_use_the_handle_that_is_destroyed(void) {
  FakeInit(&fake, data, 1, DIMS(3), NULL);
  fake.versioned.deleter = DeleteAndReplace;
  changed_by_deleter = Empty(3);
  ASSERT_OK(FakeTake(changed_by_deleter, &fake, true, CEED_USE_POINTER));
  ASSERT_OK(CeedVectorDestroy(&changed_by_deleter));
  ASSERT_EQ(fake.deletions, 1);
  ASSERT_VALUES(changed_by_deleter, 0, 1);
  ASSERT_OK(CeedVectorDestroy(&changed_by_deleter));
  return TEST_PASSED;
}

static int a_deleter_may_use_the_vector(void) {
  CeedVector vec = asked_by_deleter = Empty(3);
  CeedScalar other[3] = {4, 5, 6};

  COPY_MODES(mode) {
    FakeLine(3);
    fake.versioned.deleter = DeleteAndAsk;
    answer_to_deleter = 0;
    ASSERT_OK(FakeTake(vec, &fake, true, mode));
    ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, other));
    ASSERT_EQ(fake.deletions, 1);
    ASSERT_EQ(answer_to_deleter, 1);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// What is refused leaves everything as it was
// ------------------------------------------------------------------------------------------------

// In every copy mode and both coats: this code, these words, no deleter call, no change.
static int Refused(CeedSize length, int code, const char *words) {
  COPY_MODES(mode) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = Iota(length), none = NULL;
      uint64_t state = State(vec);
      CeedScalar first[3] = {0, 1, 2};
      ASSERT_CODE(code, FakeTake(vec, &fake, versioned, mode));
      ASSERT_SAYS(words);
      ASSERT_EQ(fake.deletions, 0);
      ASSERT_EQ(State(vec), state);
      if (length == 3) PASSES(TestValues(__FILE__, __LINE__, vec, 3, first));
      if (code != CEED_ERROR_DIMENSION) {
        ASSERT_CODE(code, FakeCreate(&fake, versioned, mode, &none));
        ASSERT_SAYS(words);
      }
      ASSERT(!none);
      ASSERT_OK(CeedVectorDestroy(&vec));
      ASSERT_EQ(fake.deletions, 0);
    }
  }
  return TEST_PASSED;
}

static int another_number_of_entries_is_an_error_with_both(void) {
  FakeLine(17);
  PASSES(Refused(3, CEED_ERROR_DIMENSION, "17"));
  ASSERT_SAYS("3");
  FakeInit(&fake, data, 2, DIMS(2, 2), NULL);
  PASSES(Refused(3, CEED_ERROR_DIMENSION, "4"));
  FakeInit(&fake, data, 2, DIMS(0, 7), NULL);
  PASSES(Refused(3, CEED_ERROR_DIMENSION, "0"));
  return TEST_PASSED;
}

static int a_huge_tensor_is_an_error_before_it_is_read(void) {
  FakeInit(&fake, data, 1, DIMS(INT64_C(1) << 40), NULL);
  PASSES(Refused(3, CEED_ERROR_DIMENSION, "1099511627776"));
  return TEST_PASSED;
}

static int null_tensors_are_errors(void) {
  CeedVector vec = Iota(3), none = NULL;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorTakeFromDLPack(ceed, vec, NULL, CEED_USE_POINTER));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorTakeFromDLPackVersioned(ceed, vec, NULL, CEED_USE_POINTER));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorCreateFromDLPack(ceed, NULL, CEED_COPY_VALUES, &none));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorCreateFromDLPackVersioned(ceed, NULL, CEED_COPY_VALUES, &none));
  ASSERT(!none);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int unknown_copy_modes_are_errors(void) {
  CeedVector vec = Iota(3), none = NULL;

  LEGACY_AND_VERSIONED(versioned) {
    FakeLine(3);
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, versioned, (CeedCopyMode)3));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, versioned, (CeedCopyMode)-1));
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, versioned, (CeedCopyMode)9, &none));
    ASSERT_EQ(fake.deletions, 0);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int another_context_than_the_vectors_is_an_error(void) {
  CeedVector vec = Iota(3);
  Ceed other = NULL;

  ASSERT_OK(CeedInit("/cpu/self", &other));
  FakeLine(3);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorTakeFromDLPack(other, vec, &fake.legacy, CEED_COPY_VALUES));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorTakeFromDLPackVersioned(other, vec, &fake.versioned, CEED_COPY_VALUES));
  ASSERT_EQ(fake.deletions, 0);
  ASSERT_OK(CeedVectorTakeFromDLPack(ceed, vec, &fake.legacy, CEED_COPY_VALUES));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedDestroy(&other));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Creating a vector of a tensor
// ------------------------------------------------------------------------------------------------

static int a_vector_is_created_with_the_tensors_number_of_entries(void) {
  COPY_MODES(mode) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = NULL;
      FakeInit(&fake, data, 2, DIMS(2, 3), NULL);
      ASSERT_OK(FakeCreate(&fake, versioned, mode, &vec));
      ASSERT_EQ(fake.deletions, !Adopts(mode));
      ASSERT_VALUES(vec, 0, 1, 2, 3, 4, 5);
      ASSERT_OK(CeedVectorDestroy(&vec));
      ASSERT_EQ(fake.deletions, 1);
    }
  }
  return TEST_PASSED;
}

static int creating_needs_a_context_and_an_output(void) {
  CeedVector vec = NULL;

  FakeLine(3);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorCreateFromDLPack(NULL, &fake.legacy, CEED_COPY_VALUES, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedVectorCreateFromDLPackVersioned(NULL, &fake.versioned, CEED_COPY_VALUES, &vec));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, false, CEED_COPY_VALUES, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, true, CEED_COPY_VALUES, NULL));
  ASSERT_EQ(fake.deletions, 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Empty tensors
// ------------------------------------------------------------------------------------------------

static int EmptyIsTaken(void *memory, int ndim, const int64_t *shape, const int64_t *strides) {
  COPY_MODES(mode) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = Empty(0), made = NULL;
      CeedSize length = -1;
      FakeInit(&fake, memory, ndim, shape, strides);
      ASSERT_OK(FakeTake(vec, &fake, versioned, mode));
      ASSERT_OK(CeedVectorDestroy(&vec));
      ASSERT_EQ(fake.deletions, 1);
      ASSERT_OK(FakeCreate(&fake, versioned, mode, &made));
      ASSERT_OK(CeedVectorGetLength(made, &length));
      ASSERT_EQ(length, 0);
      ASSERT_OK(CeedVectorDestroy(&made));
      ASSERT_EQ(fake.deletions, 2);
    }
  }
  return TEST_PASSED;
}

static int empty_tensors_are_taken_and_deleted_and_never_read(void) {
  void *memories[3] = {NULL, data, ForbiddenPage()};

  for (int i = 0; i < 3; i++) {
    PASSES(EmptyIsTaken(memories[i], 1, DIMS(0), NULL));
    PASSES(EmptyIsTaken(memories[i], 2, DIMS(0, 3), NULL));
    PASSES(EmptyIsTaken(memories[i], 2, DIMS(3, 0), NULL));
    PASSES(EmptyIsTaken(memories[i], 2, DIMS(3, 0), DIMS(-5, INT64_MAX)));
  }
  ReleasePage(memories[2]);
  return TEST_PASSED;
}

static int a_zero_length_beats_an_overflow(void) {
  PASSES(EmptyIsTaken(NULL, 3, DIMS(INT64_MAX, INT64_MAX, 0), NULL));
  PASSES(EmptyIsTaken(NULL, 3, DIMS(0, INT64_MAX, INT64_MAX), DIMS(INT64_MIN, INT64_MAX, 1)));
  return TEST_PASSED;
}

static int a_misaligned_empty_tensor_is_taken(void) {
  return EmptyIsTaken((char *)data + 1, 1, DIMS(0), DIMS(1));
}

// ------------------------------------------------------------------------------------------------
// Layouts
// ------------------------------------------------------------------------------------------------

// The tensor may be adopted and copied, and reads like this.
#define ASSERT_TAKEN(...)                                       \
  do {                                                          \
    COPY_MODES(mode_) {                                         \
      LEGACY_AND_VERSIONED(versioned_) {                        \
        CeedVector vec_ = NULL;                                 \
        ASSERT_OK(FakeCreate(&fake, versioned_, mode_, &vec_)); \
        ASSERT_VALUES(vec_, __VA_ARGS__);                       \
        ASSERT_OK(CeedVectorDestroy(&vec_));                    \
      }                                                         \
    }                                                           \
  } while (0)

// The tensor may be copied only, and reads like this.
#define ASSERT_COPIED(...)                                                 \
  do {                                                                     \
    LEGACY_AND_VERSIONED(versioned_) {                                     \
      CeedVector vec_ = NULL;                                              \
      fake.deletions = 0;                                                  \
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,                                 \
                  FakeCreate(&fake, versioned_, CEED_USE_POINTER, &vec_)); \
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,                                 \
                  FakeCreate(&fake, versioned_, CEED_OWN_POINTER, &vec_)); \
      ASSERT_SAYS("CEED_COPY_VALUES");                                     \
      ASSERT_EQ(fake.deletions, 0);                                        \
      ASSERT_OK(FakeCreate(&fake, versioned_, CEED_COPY_VALUES, &vec_));   \
      ASSERT_EQ(fake.deletions, 1);                                        \
      ASSERT_VALUES(vec_, __VA_ARGS__);                                    \
      ASSERT_OK(CeedVectorDestroy(&vec_));                                 \
    }                                                                      \
  } while (0)

static int null_strides_are_c_order_in_every_version(void) {
  for (uint32_t minor = 0; minor < 5; minor++) {
    FakeInit(&fake, data, 2, DIMS(2, 3), NULL);
    fake.versioned.version.minor = minor;
    ASSERT_TAKEN(0, 1, 2, 3, 4, 5);
  }
  return TEST_PASSED;
}

static int no_axes_are_one_entry(void) {
  FakeInit(&fake, data + 7, 0, NULL, NULL);
  ASSERT_TAKEN(7);
  return TEST_PASSED;
}

static int sixty_four_axes_can_be(void) {
  int64_t shape[64];

  for (int i = 0; i < 64; i++) shape[i] = 1;
  shape[10] = 3;
  shape[63] = 2;
  FakeInit(&fake, data, 64, shape, NULL);
  ASSERT_TAKEN(0, 1, 2, 3, 4, 5);
  return TEST_PASSED;
}

static int other_numbers_of_axes_are_errors(void) {
  FakeLine(3);
  const int32_t counts[] = {-1, 65, 1000000, INT32_MAX, INT32_MIN};

  for (int i = 0; i < COUNT_OF(counts); i++) {
    char text[16];
    LEGACY_AND_VERSIONED(versioned) FakeTensor(&fake, versioned)->ndim = counts[i];
    snprintf(text, sizeof text, "%" PRId32, counts[i]);
    PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, text));
  }
  return TEST_PASSED;
}

static int axes_without_a_shape_are_an_error(void) {
  for (int ndim = 1; ndim < 3; ndim++) {
    FakeLine(3);
    LEGACY_AND_VERSIONED(versioned) {
      FakeTensor(&fake, versioned)->ndim = ndim;
      FakeTensor(&fake, versioned)->shape = NULL;
    }
    PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "shape"));
  }
  return TEST_PASSED;
}

static int negative_lengths_are_errors(void) {
  FakeLine(-3);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "-3"));
  FakeInit(&fake, data, 2, DIMS(-1, -3), NULL);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "-"));
  FakeInit(&fake, data, 2, DIMS(0, -3), NULL);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "-3"));
  FakeLine(INT64_MIN);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "-"));
  return TEST_PASSED;
}

static int several_axes_are_flattened_in_c_order(void) {
  FakeInit(&fake, data, 3, DIMS(2, 2, 3), DIMS(6, 3, 1));
  ASSERT_TAKEN(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  return TEST_PASSED;
}

static int a_transpose_is_copied_in_its_own_order(void) {
  FakeInit(&fake, data, 2, DIMS(4, 3), DIMS(1, 4));
  ASSERT_COPIED(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11);
  return TEST_PASSED;
}

static int every_second_column_is_copied(void) {
  FakeInit(&fake, data, 2, DIMS(3, 2), DIMS(4, 2));
  ASSERT_COPIED(0, 2, 4, 6, 8, 10);
  return TEST_PASSED;
}

static int rows_apart_are_copied(void) {
  FakeInit(&fake, data, 3, DIMS(2, 1, 3), DIMS(10, 77, 1));
  ASSERT_COPIED(0, 1, 2, 10, 11, 12);
  return TEST_PASSED;
}

static int negative_strides_count_down_from_the_first_entry(void) {
  FakeInit(&fake, data + 9, 1, DIMS(10), DIMS(-1));
  ASSERT_COPIED(9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  FakeInit(&fake, data + 7, 1, DIMS(3), DIMS(-2));
  ASSERT_COPIED(7, 5, 3);
  FakeInit(&fake, data + 9, 1, DIMS(4), DIMS(-3));
  ASSERT_COPIED(9, 6, 3, 0);
  return TEST_PASSED;
}

static int reversed_rows_are_copied(void) {
  FakeInit(&fake, data + 8, 2, DIMS(3, 4), DIMS(-4, 1));
  ASSERT_COPIED(8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  return TEST_PASSED;
}

static int a_broadcast_is_copied(void) {
  FakeInit(&fake, data + 5, 1, DIMS(3), DIMS(0));
  ASSERT_COPIED(5, 5, 5);
  FakeInit(&fake, data, 2, DIMS(2, 3), DIMS(0, 1));
  ASSERT_COPIED(0, 1, 2, 0, 1, 2);
  return TEST_PASSED;
}

static int overlapping_windows_are_copied(void) {
  FakeInit(&fake, data, 2, DIMS(3, 2), DIMS(1, 1));
  ASSERT_COPIED(0, 1, 1, 2, 2, 3);
  return TEST_PASSED;
}

static int a_refused_layout_is_described(void) {
  CeedVector vec = NULL;

  FakeInit(&fake, data, 2, DIMS(4, 3), DIMS(1, 4));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, true, CEED_USE_POINTER, &vec));
  ASSERT_SAYS("shape (4, 3)");
  ASSERT_SAYS("strides (1, 4)");
  return TEST_PASSED;
}

static int the_stride_of_an_axis_of_length_one_means_nothing(void) {
  const int64_t strides[] = {0, 1, -7, INT64_C(1) << 40, INT64_MAX, INT64_MIN};

  for (int i = 0; i < COUNT_OF(strides); i++) {
    FakeInit(&fake, data, 2, DIMS(1, 4), DIMS(strides[i], 1));
    ASSERT_TAKEN(0, 1, 2, 3);
    FakeInit(&fake, data, 2, DIMS(4, 1), DIMS(1, strides[i]));
    ASSERT_TAKEN(0, 1, 2, 3);
    FakeInit(&fake, data, 1, DIMS(1), DIMS(strides[i]));
    ASSERT_TAKEN(0);
    FakeInit(&fake, data, 3, DIMS(1, 1, 5), DIMS(strides[i], strides[i], 1));
    ASSERT_TAKEN(0, 1, 2, 3, 4);
    FakeInit(&fake, data, 3, DIMS(1, 3, 1), DIMS(strides[i], 2, strides[i]));
    ASSERT_COPIED(0, 2, 4);
  }
  return TEST_PASSED;
}

static int the_byte_offset_counts_from_data(void) {
  FakeInit(&fake, data, 1, DIMS(4), DIMS(1));
  FakeOffset(&fake, 2 * sizeof(CeedScalar));
  ASSERT_TAKEN(2, 3, 4, 5);
  FakeInit(&fake, data, 2, DIMS(2, 2), DIMS(1, 2));
  FakeOffset(&fake, 2 * sizeof(CeedScalar));
  ASSERT_COPIED(2, 4, 3, 5);
  return TEST_PASSED;
}

static int writes_behind_a_byte_offset_arrive(void) {
  LEGACY_AND_VERSIONED(versioned) {
    DLManagedTensorVersioned *tensor;
    CeedVector vec = Empty(4);
    FakeLine(4);
    FakeOffset(&fake, 2 * sizeof(CeedScalar));
    ASSERT_OK(FakeTake(vec, &fake, versioned, CEED_USE_POINTER));
    ASSERT_OK(CeedVectorSetValueStrided(vec, 0, 1, 1, 100));
    ASSERT_NUMBER(data[2], 100);
    tensor = Export(vec, CEED_EXPORT_SHARED);
    ASSERT_SAME(tensor->dl_tensor.data, data + 2);
    ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
    Release(tensor);
    ASSERT_OK(CeedVectorDestroy(&vec));
    data[2] = 2;
  }
  return TEST_PASSED;
}

static int misaligned_entries_are_copied(void) {
  char *memory = malloc(4 * sizeof(CeedScalar));

  memcpy(memory + 1, data, 3 * sizeof(CeedScalar));
  FakeInit(&fake, memory + 1, 1, DIMS(3), NULL);
  ASSERT_COPIED(0, 1, 2);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, true, CEED_USE_POINTER, &(CeedVector){0}));
  ASSERT_SAYS("aligned");
  FakeInit(&fake, memory, 1, DIMS(3), NULL);
  FakeOffset(&fake, 1);
  ASSERT_COPIED(0, 1, 2);
  FakeInit(&fake, memory + 1 + 2 * sizeof(CeedScalar), 1, DIMS(3), DIMS(-1));
  ASSERT_COPIED(2, 1, 0);
  free(memory);
  return TEST_PASSED;
}

static int null_data_of_entries_is_an_error(void) {
  FakeInit(&fake, NULL, 1, DIMS(3), NULL);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "NULL"));
  FakeInit(&fake, NULL, 0, NULL, NULL);
  PASSES(Refused(1, CEED_ERROR_INCOMPATIBLE, "NULL"));
  return TEST_PASSED;
}

static int shapes_that_overflow_are_errors(void) {
  static const int64_t shapes[][3] = {
      {INT64_C(1) << 62, 4, 1},
      {INT64_MAX, INT64_MAX, INT64_MAX},
      {INT64_C(1) << 32, INT64_C(1) << 31, 1},
      {INT64_C(1) << 32, INT64_C(1) << 32, 1},
      {INT64_MAX, 1, 1},
      {INT64_C(1) << 61, 1, 1},
      {3, INT64_C(6148914691236517206), 1},
  };

  for (int i = 0; i < COUNT_OF(shapes); i++) {
    FakeInit(&fake, data, 3, shapes[i], NULL);
    PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "overflow"));
  }
  return TEST_PASSED;
}

static int strides_that_overflow_are_errors(void) {
  static const int64_t strides[][2] = {
      {INT64_MAX, 1},        {INT64_MIN, 1},
      {1, INT64_MAX},        {INT64_C(1) << 62, INT64_C(1) << 62},
      {INT64_C(1) << 60, 1}, {-(INT64_C(1) << 60), 1},
      {1, INT64_MIN},        {INT64_C(1) << 60, INT64_C(1) << 60},
  };

  for (int i = 0; i < COUNT_OF(strides); i++) {
    FakeInit(&fake, data, 2, DIMS(3, 2), strides[i]);
    PASSES(Refused(6, CEED_ERROR_INCOMPATIBLE, "overflow"));
  }
  return TEST_PASSED;
}

static int addresses_that_wrap_around_are_errors(void) {
  uintptr_t last = UINTPTR_MAX - sizeof(CeedScalar) + 1, low = sizeof(CeedScalar);

  FakeLine(3);
  FakeOffset(&fake, UINT64_MAX);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "overflow"));
  FakeOffset(&fake, UINT64_MAX - (uintptr_t)data);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "overflow"));
  FakeInit(&fake, (void *)last, 1, DIMS(3), NULL);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "overflow"));
  FakeInit(&fake, (void *)low, 1, DIMS(3), DIMS(-1));
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, "overflow"));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// The vector's own memory coming back
// ------------------------------------------------------------------------------------------------

static int a_reversed_view_of_the_vector_itself_is_copied_right(void) {
  CeedVector vec = Iota(6);
  DLManagedTensorVersioned *own = Export(vec, CEED_EXPORT_SHARED);

  FakeInit(&fake, (CeedScalar *)own->dl_tensor.data + 5, 1, DIMS(6), DIMS(-1));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 5, 4, 3, 2, 1, 0);
  Release(own);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_transposed_view_of_the_vector_itself_is_copied_right(void) {
  CeedVector vec = Iota(12);
  DLManagedTensorVersioned *own = Export(vec, CEED_EXPORT_SHARED);

  FakeInit(&fake, own->dl_tensor.data, 2, DIMS(4, 3), DIMS(1, 4));
  ASSERT_OK(FakeTake(vec, &fake, false, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11);
  Release(own);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_shifted_view_of_borrowed_memory_is_copied_right(void) {
  CeedVector vec = Empty(5);

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, data + 1));
  FakeInit(&fake, data, 1, DIMS(5), DIMS(1));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 0, 1, 2, 3, 4);
  FakeInit(&fake, data + 2, 1, DIMS(5), DIMS(1));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 1, 2, 3, 4, 6);
  FakeInit(&fake, data, 1, DIMS(5), DIMS(2));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 0, 2, 4, 6, 8);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_broadcast_of_the_vector_itself_is_copied_right(void) {
  CeedVector vec = Iota(5);
  DLManagedTensorVersioned *own = Export(vec, CEED_EXPORT_SHARED);

  FakeInit(&fake, (CeedScalar *)own->dl_tensor.data + 3, 1, DIMS(5), DIMS(0));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_COPY_VALUES));
  ASSERT_VALUES(vec, 3, 3, 3, 3, 3);
  Release(own);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_vectors_own_export_is_copied_and_deleted(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *own = Export(vec, CEED_EXPORT_SHARED);
  DLManagedTensor *legacy = NULL;

  ASSERT_OK(CeedVectorTakeFromDLPackVersioned(ceed, vec, own, CEED_COPY_VALUES));
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorToDLPack(ceed, vec, CEED_MEM_HOST, &legacy));
  ASSERT_OK(CeedVectorTakeFromDLPack(ceed, vec, legacy, CEED_COPY_VALUES));
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_vectors_own_export_is_not_adopted_by_it(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *own = Export(vec, CEED_EXPORT_SHARED);

  ASSERT_CODE(CEED_ERROR_ACCESS,
              CeedVectorTakeFromDLPackVersioned(ceed, vec, own, CEED_USE_POINTER));
  ASSERT_EQ(ExportCount(vec), 1);
  Release(own);
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int vectors_share_memory_through_a_chain_of_tensors(void) {
  CeedVector first = Iota(3), second = NULL, third = NULL;

  ASSERT_OK(CeedVectorCreateFromDLPackVersioned(ceed, Export(first, CEED_EXPORT_SHARED),
                                                CEED_USE_POINTER, &second));
  ASSERT_OK(CeedVectorCreateFromDLPackVersioned(ceed, Export(second, CEED_EXPORT_SHARED),
                                                CEED_USE_POINTER, &third));
  ASSERT_OK(CeedVectorScale(third, 10));
  ASSERT_VALUES(first, 0, 10, 20);
  ASSERT_OK(CeedVectorDestroy(&first));
  ASSERT_OK(CeedVectorDestroy(&second));
  ASSERT_VALUES(third, 0, 10, 20);
  ASSERT_OK(CeedVectorDestroy(&third));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Types
// ------------------------------------------------------------------------------------------------

typedef struct {
  int code, bits, lanes;
  const char *name;
} NamedType;

static const NamedType foreign_types[] = {
    {0, 8, 1, "int8"},
    {0, 16, 1, "int16"},
    {0, 32, 1, "int32"},
    {0, 64, 1, "int64"},
    {1, 8, 1, "uint8"},
    {1, 32, 1, "uint32"},
    {1, 64, 1, "uint64"},
    {2, 16, 1, "float16"},
    {2, 128, 1, "float128"},
    {3, 64, 1, "handle"},
    {4, 16, 1, "bfloat16"},
    {5, 32, 1, "complex32"},
    {5, 64, 1, "complex64"},
    {5, 128, 1, "complex128"},
    {6, 8, 1, "bool"},
    {7, 8, 1, "float8_e3m4"},
    {8, 8, 1, "float8_e4m3"},
    {9, 8, 1, "float8_e4m3b11fnuz"},
    {10, 8, 1, "float8_e4m3fn"},
    {11, 8, 1, "float8_e4m3fnuz"},
    {12, 8, 1, "float8_e5m2"},
    {13, 8, 1, "float8_e5m2fnuz"},
    {14, 8, 1, "float8_e8m0fnu"},
    {15, 6, 1, "float6_e2m3fn"},
    {16, 6, 1, "float6_e3m2fn"},
    {17, 4, 1, "float4_e2m1fn"},
    // Odd ones, of which the triple tells all there is.
    {6, 1, 1, "("},
    {1, 1, 1, "("},
    {99, 8, 1, "("},
    {255, 255, 1, "("},
    {0, 4, 1, "("},
    {17, 4, 2, "("},
    {2, 0, 1, "("},
    {0, SCALAR_BITS, 1, "int"},
    {1, SCALAR_BITS, 1, "uint"},
    {4, SCALAR_BITS, 1, "bfloat"},
    // Lanes: short vectors are no numbers, and none at all are nothing.
    {2, SCALAR_BITS, 0, SCALAR_NAME},
    {2, SCALAR_BITS, 2, SCALAR_NAME},
    {2, SCALAR_BITS / 2, 2, "x2"},
    {2, 32, 65535, "65535"},
    {2, 64, 65535, "65535"},
};

static int other_types_are_errors_that_name_them(void) {
  for (int i = 0; i < COUNT_OF(foreign_types); i++) {
    const NamedType *type = &foreign_types[i];
    char triple[32];
    FakeLine(3);
    FakeType(&fake, type->code, type->bits, type->lanes);
    snprintf(triple, sizeof triple, "(%d, %d, %d)", type->code, type->bits, type->lanes);
    PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, triple));
    ASSERT_SAYS(type->name);
    ASSERT_SAYS(SCALAR_NAME);
  }
  return TEST_PASSED;
}

static int another_precision_is_an_error_that_names_both(void) {
  FakeLine(3);
  FakeType(&fake, 2, 96 - SCALAR_BITS, 1);
  PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE,
                 "tensor holds " OTHER_NAME ", this vector holds " SCALAR_NAME ": "));
  return TEST_PASSED;
}

static int another_type_is_refused_when_empty_too(void) {
  FakeInit(&fake, NULL, 1, DIMS(0), NULL);
  FakeType(&fake, 0, 64, 1);
  return Refused(0, CEED_ERROR_INCOMPATIBLE, "int64");
}

// ------------------------------------------------------------------------------------------------
// Devices
// ------------------------------------------------------------------------------------------------

static const struct {
  int type;
  const char *name;
} foreign_devices[] = {
    {2, "kDLCUDA"},
    {4, "kDLOpenCL"},
    {7, "kDLVulkan"},
    {8, "kDLMetal"},
    {9, "kDLVPI"},
    {10, "kDLROCM"},
    {12, "kDLExtDev"},
    {14, "kDLOneAPI"},
    {15, "kDLWebGPU"},
    {16, "kDLHexagon"},
    {17, "kDLMAIA"},
    {18, "kDLTrn"},
    {0, "0"},
    {5, "5"},
    {6, "6"},
    {19, "19"},
    {99, "99"},
    {-1, "-1"},
    {INT32_MAX, "2147483647"},
};

static int32_t OwnDeviceType(void) {
  bool has_device = false;
  int32_t type = 0, id;

  CeedMemTypeIsAvailable(ceed, CEED_MEM_DEVICE, &has_device);
  if (has_device) CeedGetDLPackDevice(ceed, CEED_MEM_DEVICE, &type, &id);
  return type;
}

static int memory_elsewhere_is_an_error_that_names_the_device_and_is_never_read(void) {
  void *page = ForbiddenPage();

  for (int i = 0; i < COUNT_OF(foreign_devices); i++) {
    if (foreign_devices[i].type == OwnDeviceType()) continue;
    FakeInit(&fake, page, 1, DIMS(3), NULL);
    FakeDevice(&fake, foreign_devices[i].type, 0);
    PASSES(Refused(3, CEED_ERROR_INCOMPATIBLE, foreign_devices[i].name));
  }
  ReleasePage(page);
  return TEST_PASSED;
}

static int DeviceIs(CeedVector vec, int type, int id) {
  int32_t actual_type = -1, actual_id = -1;

  ASSERT_OK(CeedVectorGetDLPackDevice(vec, CEED_MEM_HOST, &actual_type, &actual_id));
  ASSERT_EQ(actual_type, type);
  ASSERT_EQ(actual_id, id);
  return TEST_PASSED;
}

static int host_addressable_memory_is_adopted_and_keeps_its_device(void) {
  const int types[] = {CPU, CUDA_HOST, ROCM_HOST, CUDA_MANAGED};

  for (int i = 0; i < COUNT_OF(types); i++) {
    LEGACY_AND_VERSIONED(versioned) {
      CeedVector vec = Empty(3);
      DLManagedTensorVersioned *tensor;
      FakeLine(3);
      FakeDevice(&fake, types[i], 0);
      ASSERT_OK(FakeTake(vec, &fake, versioned, CEED_USE_POINTER));
      PASSES(DeviceIs(vec, types[i], 0));
      ASSERT_OK(CeedVectorSetValue(vec, 1));
      PASSES(DeviceIs(vec, types[i], 0));
      tensor = Export(vec, CEED_EXPORT_SHARED);
      ASSERT(tensor->dl_tensor.data == data);
      ASSERT_EQ(tensor->dl_tensor.device.device_type, types[i]);
      ASSERT_EQ(tensor->dl_tensor.device.device_id, 0);
      Release(tensor);
      ASSERT_OK(CeedVectorDestroy(&vec));
    }
  }
  return TEST_PASSED;
}

static int copies_of_pinned_memory_are_plain_host_memory(void) {
  CeedVector vec = Empty(3), copy = Empty(3);
  DLManagedTensorVersioned *tensor;

  FakeLine(3);
  FakeDevice(&fake, CUDA_MANAGED, 0);
  ASSERT_OK(FakeTake(copy, &fake, true, CEED_COPY_VALUES));
  PASSES(DeviceIs(copy, CPU, 0));
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  tensor = Export(vec, CEED_EXPORT_COPY);
  ASSERT_EQ(tensor->dl_tensor.device.device_type, CPU);
  Release(tensor);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, data));
  PASSES(DeviceIs(vec, CPU, 0));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&copy));
  return TEST_PASSED;
}

static int any_id_of_a_cpu_is_accepted_and_none_is_given(void) {
  CeedVector vec = Empty(3);

  FakeLine(3);
  FakeDevice(&fake, CPU, 3);
  ASSERT_OK(FakeTake(vec, &fake, true, CEED_USE_POINTER));
  PASSES(DeviceIs(vec, CPU, 0));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Versions and flags
// ------------------------------------------------------------------------------------------------

// Nothing behind the deleter has its meaning in another major version.
static int another_major_version_is_refused_and_not_read(void) {
  const uint32_t majors[] = {0, 2, 3, UINT32_MAX};
  CeedVector vec = Iota(3), none = NULL;

  for (int i = 0; i < COUNT_OF(majors); i++) {
    FakeLine(3);
    memset(&fake.versioned.dl_tensor, 0xee, sizeof fake.versioned.dl_tensor);
    fake.versioned.version.major = majors[i];
    COPY_MODES(mode) {
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeTake(vec, &fake, true, mode));
      ASSERT_SAYS("version");
      ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, FakeCreate(&fake, true, mode, &none));
    }
    ASSERT_EQ(fake.deletions, 0);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int every_minor_version_and_unknown_flag_is_accepted(void) {
  FakeLine(3);
  fake.versioned.version.minor = 99;
  fake.versioned.flags = ~(uint64_t)READ_ONLY;
  ASSERT_TAKEN(0, 1, 2);
  return TEST_PASSED;
}

static CeedVector ReadOnlyVector(void) {
  CeedVector vec = Empty(3);

  FakeLine(3);
  fake.versioned.flags = READ_ONLY;
  CeedVectorTakeFromDLPackVersioned(ceed, vec, &fake.versioned, CEED_USE_POINTER);
  return vec;
}

static int WritesAreRefused(CeedVector vec, CeedVector other) {
  CeedScalar values[3] = {7, 7, 7}, *array = NULL;
  Fake source;

  FakeInit(&source, values, 1, DIMS(3), NULL);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 7));
  ASSERT_SAYS("read-only");
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, values));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValueStrided(vec, 0, 2, 1, 7));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorCopy(other, vec));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorCopyStrided(other, 0, 2, 1, vec));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorScale(vec, 7));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorFilter(vec, 7));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorReciprocal(vec));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorAXPY(vec, 7, other));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorAXPBY(vec, 7, 7, other));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorPointwiseMult(vec, other, other));
  ASSERT_CODE(CEED_ERROR_ACCESS, FakeTake(vec, &source, true, CEED_COPY_VALUES));
  ASSERT_EQ(source.deletions, 0);
  return TEST_PASSED;
}

static int memory_that_is_read_only_stays_so(void) {
  CeedVector vec = ReadOnlyVector(), other = Iota(3);

  PASSES(WritesAreRefused(vec, other));
  ASSERT_VALUES(vec, 0, 1, 2);
  ASSERT(data[0] == 0 && data[1] == 1 && data[2] == 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&other));
  ASSERT_EQ(fake.deletions, 1);
  return TEST_PASSED;
}

static int memory_that_is_read_only_is_read(void) {
  CeedVector vec = ReadOnlyVector(), other = Iota(3);
  CeedScalar norm = -1;

  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_1, &norm));
  ASSERT_NUMBER(norm, 3);
  ASSERT_OK(CeedVectorAXPY(other, 2, vec));
  ASSERT_VALUES(other, 0, 3, 6);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedVectorDestroy(&other));
  return TEST_PASSED;
}

static int copied_values_of_a_read_only_tensor_are_writable(void) {
  CeedVector vec = NULL;

  FakeLine(3);
  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FakeCreate(&fake, true, CEED_COPY_VALUES, &vec));
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_VALUES(vec, 0, 2, 4);
  ASSERT_NUMBER(data[1], 1);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int other_memory_in_place_of_read_only_memory_is_writable(void) {
  CeedVector vec = ReadOnlyVector();
  CeedScalar other[3] = {4, 5, 6};

  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, other));
  ASSERT_EQ(fake.deletions, 1);
  ASSERT_OK(CeedVectorScale(vec, 2));
  ASSERT_VALUES(vec, 8, 10, 12);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int the_memory_of_a_legacy_tensor_is_writable(void) {
  CeedVector vec = Empty(3);

  FakeLine(3);
  ASSERT_OK(FakeTake(vec, &fake, false, CEED_USE_POINTER));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_NUMBER(data[0], 1);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int taking_counts_as_a_write(void) {
  CeedVector vec = Iota(3);
  uint64_t state = State(vec);

  COPY_MODES(mode) {
    FakeLine(3);
    ASSERT_OK(FakeTake(vec, &fake, true, mode));
    ASSERT_EQ(State(vec), state += 2);
  }
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int the_producers_fields_are_left_alone(void) {
  CeedVector vec = NULL;
  Fake before;

  FakeInit(&fake, data, 2, DIMS(2, 3), NULL);
  before = fake;
  ASSERT_OK(FakeCreate(&fake, true, CEED_USE_POINTER, &vec));
  ASSERT(!memcmp(&fake.versioned, &before.versioned, sizeof before.versioned));
  ASSERT(!memcmp(fake.shape, before.shape, sizeof before.shape));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(copying_calls_the_deleter_before_it_returns),
    BEHAVIOUR(adopting_shares_the_memory_and_calls_the_deleter_at_the_end),
    BEHAVIOUR(adopted_memory_is_written_in_place),
    BEHAVIOUR(the_vector_lets_go_when_it_gets_other_memory),
    BEHAVIOUR(adopting_replaces_borrowed_and_owned_memory),
    BEHAVIOUR(copying_after_a_borrow_writes_into_the_borrowed_array),
    BEHAVIOUR(copying_after_an_adoption_keeps_the_adopted_memory),
    BEHAVIOUR(adopted_memory_outlives_the_vector_while_exports_live),
    BEHAVIOUR(adopted_memory_is_exported_not_taken_back),
    BEHAVIOUR(a_missing_deleter_is_not_called),
    BEHAVIOUR(a_deleted_tensor_is_not_touched_again),
    BEHAVIOUR(a_deleter_may_use_the_vector),
    BEHAVIOUR(a_deleter_may_destroy_the_vector_that_lets_go),
    BEHAVIOUR(a_deleter_may_use_the_handle_that_is_destroyed),
    BEHAVIOUR(another_number_of_entries_is_an_error_with_both),
    BEHAVIOUR(a_huge_tensor_is_an_error_before_it_is_read),
    BEHAVIOUR(null_tensors_are_errors),
    BEHAVIOUR(unknown_copy_modes_are_errors),
    BEHAVIOUR(another_context_than_the_vectors_is_an_error),
    BEHAVIOUR(a_vector_is_created_with_the_tensors_number_of_entries),
    BEHAVIOUR(creating_needs_a_context_and_an_output),
    BEHAVIOUR(empty_tensors_are_taken_and_deleted_and_never_read),
    BEHAVIOUR(a_zero_length_beats_an_overflow),
    BEHAVIOUR(a_misaligned_empty_tensor_is_taken),
    BEHAVIOUR(null_strides_are_c_order_in_every_version),
    BEHAVIOUR(no_axes_are_one_entry),
    BEHAVIOUR(sixty_four_axes_can_be),
    BEHAVIOUR(other_numbers_of_axes_are_errors),
    BEHAVIOUR(axes_without_a_shape_are_an_error),
    BEHAVIOUR(negative_lengths_are_errors),
    BEHAVIOUR(several_axes_are_flattened_in_c_order),
    BEHAVIOUR(a_transpose_is_copied_in_its_own_order),
    BEHAVIOUR(every_second_column_is_copied),
    BEHAVIOUR(rows_apart_are_copied),
    BEHAVIOUR(negative_strides_count_down_from_the_first_entry),
    BEHAVIOUR(reversed_rows_are_copied),
    BEHAVIOUR(a_broadcast_is_copied),
    BEHAVIOUR(overlapping_windows_are_copied),
    BEHAVIOUR(a_refused_layout_is_described),
    BEHAVIOUR(the_stride_of_an_axis_of_length_one_means_nothing),
    BEHAVIOUR(the_byte_offset_counts_from_data),
    BEHAVIOUR(writes_behind_a_byte_offset_arrive),
    BEHAVIOUR(misaligned_entries_are_copied),
    BEHAVIOUR(null_data_of_entries_is_an_error),
    BEHAVIOUR(shapes_that_overflow_are_errors),
    BEHAVIOUR(strides_that_overflow_are_errors),
    BEHAVIOUR(addresses_that_wrap_around_are_errors),
    BEHAVIOUR(a_reversed_view_of_the_vector_itself_is_copied_right),
    BEHAVIOUR(a_transposed_view_of_the_vector_itself_is_copied_right),
    BEHAVIOUR(a_shifted_view_of_borrowed_memory_is_copied_right),
    BEHAVIOUR(a_broadcast_of_the_vector_itself_is_copied_right),
    BEHAVIOUR(a_vectors_own_export_is_copied_and_deleted),
    BEHAVIOUR(a_vectors_own_export_is_not_adopted_by_it),
    BEHAVIOUR(vectors_share_memory_through_a_chain_of_tensors),
    BEHAVIOUR(other_types_are_errors_that_name_them),
    BEHAVIOUR(another_precision_is_an_error_that_names_both),
    BEHAVIOUR(another_type_is_refused_when_empty_too),
    BEHAVIOUR(memory_elsewhere_is_an_error_that_names_the_device_and_is_never_read),
    BEHAVIOUR(host_addressable_memory_is_adopted_and_keeps_its_device),
    BEHAVIOUR(copies_of_pinned_memory_are_plain_host_memory),
    BEHAVIOUR(any_id_of_a_cpu_is_accepted_and_none_is_given),
    BEHAVIOUR(another_major_version_is_refused_and_not_read),
    BEHAVIOUR(every_minor_version_and_unknown_flag_is_accepted),
    BEHAVIOUR(memory_that_is_read_only_stays_so),
    BEHAVIOUR(memory_that_is_read_only_is_read),
    BEHAVIOUR(copied_values_of_a_read_only_tensor_are_writable),
    BEHAVIOUR(other_memory_in_place_of_read_only_memory_is_writable),
    BEHAVIOUR(the_memory_of_a_legacy_tensor_is_writable),
    BEHAVIOUR(taking_counts_as_a_write),
    BEHAVIOUR(the_producers_fields_are_left_alone),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
