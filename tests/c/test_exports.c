// The table of exports: what may be asked of a vector while somebody else has its memory. Every
// cell is a behaviour of its own. SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

enum { LENGTH = 3 };

// ------------------------------------------------------------------------------------------------
// Columns: what lives. Of whatever there can be two of, there are two.
// ------------------------------------------------------------------------------------------------

typedef enum {
  nobody_has_it,
  a_writers_array_is_out,
  readers_arrays_are_out,
  shared_exports_live,
  read_leases_live,
  a_write_lease_lives,
  pins_live,
  read_only_views_live,
  the_memory_is_read_only,
} Column;

typedef struct {
  CeedVector vec;
  CeedScalar memory[LENGTH], *written;
  const CeedScalar *read[2];
  DLManagedTensorVersioned *tensor[2];
  Fake fake;
} Scene;

static int Arrays(Scene *scene, Column column) {
  if (column == a_writers_array_is_out) {
    ASSERT_OK(CeedVectorGetArray(scene->vec, CEED_MEM_HOST, &scene->written));
  } else {
    ASSERT_OK(CeedVectorGetArrayRead(scene->vec, CEED_MEM_HOST, &scene->read[0]));
    ASSERT_OK(CeedVectorGetArrayRead(scene->vec, CEED_MEM_HOST, &scene->read[1]));
  }
  return TEST_PASSED;
}

// Read-only views are shared exports that were made under a lease.
static int Views(Scene *scene, bool views, CeedExportMode mode) {
  DLManagedTensorVersioned *lease = views ? Export(scene->vec, CEED_EXPORT_READ) : NULL;
  int count = mode == CEED_EXPORT_WRITE ? 1 : 2;

  for (int i = 0; i < count; i++) {
    scene->tensor[i] = Export(scene->vec, mode);
    ASSERT(scene->tensor[i]);
    if (views) ASSERT_EQ(scene->tensor[i]->flags, READ_ONLY);
  }
  if (lease) Release(lease);
  return TEST_PASSED;
}

static int BeginScene(Scene *scene, Column column) {
  memset(scene, 0, sizeof *scene);
  for (int i = 0; i < LENGTH; i++) scene->memory[i] = (CeedScalar)i;
  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &scene->vec));
  if (column == the_memory_is_read_only) {
    FakeInit(&scene->fake, scene->memory, 1, DIMS(LENGTH), NULL);
    scene->fake.versioned.flags = READ_ONLY;
    ASSERT_OK(FakeTake(scene->vec, &scene->fake, true, CEED_USE_POINTER));
    return TEST_PASSED;
  }
  ASSERT_OK(CeedVectorSetArray(scene->vec, CEED_MEM_HOST, CEED_USE_POINTER, scene->memory));
  if (column == a_writers_array_is_out || column == readers_arrays_are_out) {
    return Arrays(scene, column);
  }
  if (column == shared_exports_live) return Views(scene, false, CEED_EXPORT_SHARED);
  if (column == read_leases_live) return Views(scene, false, CEED_EXPORT_READ);
  if (column == a_write_lease_lives) return Views(scene, false, CEED_EXPORT_WRITE);
  if (column == pins_live) return Views(scene, false, CEED_EXPORT_PIN);
  if (column == read_only_views_live) return Views(scene, true, CEED_EXPORT_SHARED);
  return TEST_PASSED;
}

static int EndAccess(Scene *scene) {
  if (scene->written) ASSERT_OK(CeedVectorRestoreArray(scene->vec, &scene->written));
  for (int i = 0; i < 2; i++) {
    if (scene->read[i]) ASSERT_OK(CeedVectorRestoreArrayRead(scene->vec, &scene->read[i]));
    if (scene->tensor[i]) Release(scene->tensor[i]);
    scene->tensor[i] = NULL;
  }
  return TEST_PASSED;
}

// Nothing is left behind: no counts, and everything is allowed again.
static int EndScene(Scene *scene, Column column) {
  CeedScalar memory[LENGTH] = {0};

  PASSES(EndAccess(scene));
  ASSERT_EQ(ExportCount(scene->vec), 0);
  ASSERT_EQ(State(scene->vec) % 2, 0);
  if (column != the_memory_is_read_only) {
    DLManagedTensorVersioned *tensor = Export(scene->vec, CEED_EXPORT_WRITE);
    ASSERT(tensor);
    Release(tensor);
  }
  ASSERT_OK(CeedVectorSetArray(scene->vec, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorSetValue(scene->vec, 1));
  ASSERT_OK(CeedVectorDestroy(&scene->vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Rows: what is asked, by every function that asks it
// ------------------------------------------------------------------------------------------------

typedef enum {
  write_entries,
  read_entries,
  export_shared,
  export_legacy,
  export_read,
  export_write,
  export_pin,
  export_copy,
  move_memory,
} Row;

typedef int (*Call)(Scene *scene, CeedVector other);

static int ByGetArray(Scene *s, CeedVector other) {
  CeedScalar *array = NULL;
  int code = CeedVectorGetArray(s->vec, CEED_MEM_HOST, &array);
  (void)other;
  return code ? code : CeedVectorRestoreArray(s->vec, &array);
}
static int ByGetArrayWrite(Scene *s, CeedVector other) {
  CeedScalar *array = NULL;
  int code = CeedVectorGetArrayWrite(s->vec, CEED_MEM_HOST, &array);
  (void)other;
  return code ? code : CeedVectorRestoreArray(s->vec, &array);
}
static int BySetValue(Scene *s, CeedVector other) {
  return (void)other, CeedVectorSetValue(s->vec, 1);
}
static int BySetValueStrided(Scene *s, CeedVector other) {
  return (void)other, CeedVectorSetValueStrided(s->vec, 0, 2, 1, 1);
}
static int BySetArrayCopy(Scene *s, CeedVector other) {
  CeedScalar values[LENGTH] = {0};
  return (void)other, CeedVectorSetArray(s->vec, CEED_MEM_HOST, CEED_COPY_VALUES, values);
}
static int ByCopyTo(Scene *s, CeedVector other) { return CeedVectorCopy(other, s->vec); }
static int ByCopyStridedTo(Scene *s, CeedVector other) {
  return CeedVectorCopyStrided(other, 0, 2, 1, s->vec);
}
static int ByScale(Scene *s, CeedVector other) { return (void)other, CeedVectorScale(s->vec, 1); }
static int ByFilter(Scene *s, CeedVector other) { return (void)other, CeedVectorFilter(s->vec, 0); }
static int ByReciprocal(Scene *s, CeedVector other) {
  return (void)other, CeedVectorReciprocal(s->vec);
}
static int ByAXPYTo(Scene *s, CeedVector other) { return CeedVectorAXPY(s->vec, 1, other); }
static int ByAXPYSelf(Scene *s, CeedVector other) {
  return (void)other, CeedVectorAXPY(s->vec, 1, s->vec);
}
static int ByAXPBYTo(Scene *s, CeedVector other) { return CeedVectorAXPBY(s->vec, 1, 1, other); }
static int ByMultTo(Scene *s, CeedVector other) {
  return CeedVectorPointwiseMult(s->vec, other, other);
}
static int ByTakeCopy(Scene *s, CeedVector other) {
  CeedScalar values[LENGTH] = {0};
  Fake fake;
  (void)other;
  FakeInit(&fake, values, 1, DIMS(LENGTH), NULL);
  int code = FakeTake(s->vec, &fake, true, CEED_COPY_VALUES);
  return fake.deletions == !code ? code : -99;
}

static int ByGetArrayRead(Scene *s, CeedVector other) {
  const CeedScalar *array = NULL;
  int code = CeedVectorGetArrayRead(s->vec, CEED_MEM_HOST, &array);
  (void)other;
  return code ? code : CeedVectorRestoreArrayRead(s->vec, &array);
}
static int ByNorm(Scene *s, CeedVector other) {
  return (void)other, CeedVectorNorm(s->vec, CEED_NORM_2, &(CeedScalar){0});
}
static int ByCopyFrom(Scene *s, CeedVector other) { return CeedVectorCopy(s->vec, other); }
static int ByCopyStridedFrom(Scene *s, CeedVector other) {
  return CeedVectorCopyStrided(s->vec, 0, 2, 1, other);
}
static int ByAXPYFrom(Scene *s, CeedVector other) { return CeedVectorAXPY(other, 1, s->vec); }
static int ByAXPBYFrom(Scene *s, CeedVector other) { return CeedVectorAXPBY(other, 1, 1, s->vec); }
static int ByMultFirst(Scene *s, CeedVector other) {
  return CeedVectorPointwiseMult(other, s->vec, other);
}
static int ByMultSecond(Scene *s, CeedVector other) {
  return CeedVectorPointwiseMult(other, other, s->vec);
}
static int BySyncArray(Scene *s, CeedVector other) {
  return (void)other, CeedVectorSyncArray(s->vec, CEED_MEM_HOST);
}
static int ByView(Scene *s, CeedVector other) {
  FILE *nowhere = fopen("/dev/null", "w");
  int code = CeedVectorView(s->vec, NULL, nowhere);
  (void)other;
  fclose(nowhere);
  return code;
}

static int ByExport(Scene *s, CeedExportMode mode) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedVectorExport(s->vec, CEED_MEM_HOST, mode, 1, DIMS(LENGTH), NULL, &tensor);
  if (tensor) Release(tensor);
  return code;
}
static int ByExportShared(Scene *s, CeedVector other) {
  return (void)other, ByExport(s, CEED_EXPORT_SHARED);
}
static int ByExportRead(Scene *s, CeedVector other) {
  return (void)other, ByExport(s, CEED_EXPORT_READ);
}
static int ByExportWrite(Scene *s, CeedVector other) {
  return (void)other, ByExport(s, CEED_EXPORT_WRITE);
}
static int ByExportPin(Scene *s, CeedVector other) {
  return (void)other, ByExport(s, CEED_EXPORT_PIN);
}
static int ByExportCopy(Scene *s, CeedVector other) {
  return (void)other, ByExport(s, CEED_EXPORT_COPY);
}
static int ByExportTwoAxes(Scene *s, CeedVector other) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedVectorExport(s->vec, CEED_MEM_HOST, CEED_EXPORT_SHARED, 2, DIMS(LENGTH, 1), NULL,
                              &tensor);
  (void)other;
  if (tensor) Release(tensor);
  return code;
}
static int ByToDLPackVersioned(Scene *s, CeedVector other) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedVectorToDLPackVersioned(NULL, s->vec, CEED_MEM_HOST, &tensor);
  (void)other;
  if (tensor) Release(tensor);
  return code;
}
static int ByToDLPack(Scene *s, CeedVector other) {
  DLManagedTensor *tensor = NULL;
  int code = CeedVectorToDLPack(NULL, s->vec, CEED_MEM_HOST, &tensor);
  (void)other;
  if (tensor) tensor->deleter(tensor);
  return code;
}

static int BySetArrayUse(Scene *s, CeedVector other) {
  return (void)other, CeedVectorSetArray(s->vec, CEED_MEM_HOST, CEED_USE_POINTER, s->memory);
}
static int BySetArrayOwn(Scene *s, CeedVector other) {
  CeedScalar *array = calloc(LENGTH, sizeof *array);
  int code = CeedVectorSetArray(s->vec, CEED_MEM_HOST, CEED_OWN_POINTER, array);
  (void)other;
  if (code) free(array);
  return code ? code : BySetArrayUse(s, other);
}
static int ByTakeArray(Scene *s, CeedVector other) {
  CeedScalar *array = NULL;
  int code = CeedVectorTakeArray(s->vec, CEED_MEM_HOST, &array);
  return code ? code : BySetArrayUse(s, other);
}
static int ByAdopt(Scene *s, CeedVector other, bool versioned, CeedCopyMode mode) {
  Fake fake;
  FakeInit(&fake, s->memory, 1, DIMS(LENGTH), NULL);
  int code = FakeTake(s->vec, &fake, versioned, mode);
  if (!code) code = BySetArrayUse(s, other);
  return fake.deletions == !code ? code : -99;
}
static int ByAdoptLegacy(Scene *s, CeedVector other) {
  return ByAdopt(s, other, false, CEED_USE_POINTER);
}
static int ByAdoptVersioned(Scene *s, CeedVector other) {
  return ByAdopt(s, other, true, CEED_OWN_POINTER);
}

#define MOST_CALLS 16
static const Call calls[][MOST_CALLS] = {
    {ByGetArray, ByGetArrayWrite, BySetValue, BySetValueStrided, BySetArrayCopy, ByCopyTo,
     ByCopyStridedTo, ByScale, ByFilter, ByReciprocal, ByAXPYTo, ByAXPYSelf, ByAXPBYTo, ByMultTo,
     ByTakeCopy},
    {ByGetArrayRead, ByNorm, ByCopyFrom, ByCopyStridedFrom, ByAXPYFrom, ByAXPBYFrom, ByMultFirst,
     ByMultSecond, BySyncArray, ByView},
    {ByExportShared, ByToDLPackVersioned, ByExportTwoAxes},
    {ByToDLPack},
    {ByExportRead},
    {ByExportWrite},
    {ByExportPin},
    {ByExportCopy},
    {BySetArrayUse, BySetArrayOwn, ByTakeArray, ByAdoptLegacy, ByAdoptVersioned},
};

// ------------------------------------------------------------------------------------------------
// Cells
// ------------------------------------------------------------------------------------------------

typedef enum { no, yes, ro } Answer;

static const Answer answers[][9] = {
    // nobody, writer, readers, shared, leases, write lease, pins, views, read-only memory
    {yes, no, no, yes, no, no, yes, yes, no},      // write
    {yes, no, yes, yes, yes, no, yes, yes, yes},   // read
    {yes, no, yes, yes, ro, no, yes, yes, ro},     // export shared
    {yes, no, yes, yes, no, no, yes, yes, no},     // export legacy: it can't say read-only
    {ro, no, ro, no, ro, no, ro, ro, ro},          // export read
    {yes, no, no, no, no, no, no, no, no},         // export write
    {yes, yes, yes, yes, yes, yes, yes, yes, ro},  // export pin
    {yes, no, yes, yes, yes, no, yes, yes, yes},   // export copy
    {yes, no, no, no, no, no, no, no, yes},        // move
};

static int FlagsAre(Scene *scene, Row row, Answer answer) {
  static const CeedExportMode modes[] = {
      [export_shared] = CEED_EXPORT_SHARED, [export_legacy] = CEED_EXPORT_SHARED,
      [export_read] = CEED_EXPORT_READ,     [export_write] = CEED_EXPORT_WRITE,
      [export_pin] = CEED_EXPORT_PIN,       [export_copy] = CEED_EXPORT_COPY,
  };
  DLManagedTensorVersioned *tensor;
  uint64_t flags;

  if (row < export_shared || row > export_copy || row == export_pin || answer == no) {
    return TEST_PASSED;
  }
  tensor = Export(scene->vec, modes[row]);
  ASSERT(tensor);
  flags = tensor->flags;
  Release(tensor);
  ASSERT_EQ(flags & READ_ONLY, answer == ro ? READ_ONLY : 0);
  ASSERT_EQ(flags & IS_COPIED, row == export_copy ? IS_COPIED : 0);
  return TEST_PASSED;
}

static int CallAnswers(Scene *scene, Column column, Row row, int index, Answer answer) {
  CeedVector other = Iota(LENGTH);
  CeedSize count = ExportCount(scene->vec);
  uint64_t state = State(scene->vec);
  int code;

  CeedResetErrorMessage(NULL, NULL);
  if (calls[row][index] == ByTakeArray && column == the_memory_is_read_only) answer = no;
  code = calls[row][index](scene, other);
  if (code != (answer == no ? CEED_ERROR_ACCESS : CEED_ERROR_SUCCESS)) {
    FAIL("function %d of the row: code %d, text \"%s\"", index, code, TestText());
  }
  if (code) ASSERT(strlen(TestText()) > 20);
  ASSERT_EQ(ExportCount(scene->vec), count);
  if (code) ASSERT_EQ(State(scene->vec), state);
  ASSERT_EQ(State(other) % 2, 0);
  ASSERT_OK(CeedVectorSetValue(other, 0));
  ASSERT_OK(CeedVectorDestroy(&other));
  return TEST_PASSED;
}

static int Cell(Row row, Column column) {
  Answer answer = answers[row][column];
  Scene scene;

  for (int i = 0; i < MOST_CALLS && calls[row][i]; i++) {
    PASSES(BeginScene(&scene, column));
    PASSES(CallAnswers(&scene, column, row, i, answer));
    PASSES(FlagsAre(&scene, row, answer));
    PASSES(EndScene(&scene, column));
  }
  return TEST_PASSED;
}

#define COLUMNS_OF(row, X)       \
  X(row, nobody_has_it)          \
  X(row, a_writers_array_is_out) \
  X(row, readers_arrays_are_out) \
  X(row, shared_exports_live)    \
  X(row, read_leases_live)       \
  X(row, a_write_lease_lives)    \
  X(row, pins_live)              \
  X(row, read_only_views_live)   \
  X(row, the_memory_is_read_only)

#define CELLS(X)               \
  COLUMNS_OF(write_entries, X) \
  COLUMNS_OF(read_entries, X)  \
  COLUMNS_OF(export_shared, X) \
  COLUMNS_OF(export_legacy, X) \
  COLUMNS_OF(export_read, X)   \
  COLUMNS_OF(export_write, X)  \
  COLUMNS_OF(export_pin, X)    \
  COLUMNS_OF(export_copy, X)   \
  COLUMNS_OF(move_memory, X)

#define DEFINE_CELL(row, column) \
  static int row##_while_##column(void) { return Cell(row, column); }
#define LIST_CELL(row, column) BEHAVIOUR(row##_while_##column),

CELLS(DEFINE_CELL)

// ------------------------------------------------------------------------------------------------
// Texts
// ------------------------------------------------------------------------------------------------

static int Explains(Column column, const char *count) {
  Scene scene;
  CeedScalar values[LENGTH];

  PASSES(BeginScene(&scene, column));
  ASSERT_CODE(CEED_ERROR_ACCESS,
              CeedVectorSetArray(scene.vec, CEED_MEM_HOST, CEED_USE_POINTER, values));
  ASSERT_SAYS(count);
  ASSERT_SAYS("restore");
  ASSERT_SAYS("deleter");
  PASSES(EndScene(&scene, column));
  return TEST_PASSED;
}

static int a_refusal_names_the_counts_and_both_causes(void) {
  PASSES(Explains(a_writers_array_is_out, "1 writer"));
  PASSES(Explains(readers_arrays_are_out, "2 reader"));
  PASSES(Explains(shared_exports_live, "2 writable view"));
  PASSES(Explains(read_leases_live, "2 read lease"));
  PASSES(Explains(a_write_lease_lives, "1 write lease"));
  PASSES(Explains(pins_live, "2 read-only view"));
  PASSES(Explains(read_only_views_live, "2 read-only view"));
  return TEST_PASSED;
}

static int a_refusal_names_everything_that_lives(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *shared = Export(vec, CEED_EXPORT_SHARED);
  DLManagedTensorVersioned *pin = Export(vec, CEED_EXPORT_PIN);
  const CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  ASSERT(!Export(vec, CEED_EXPORT_WRITE));
  ASSERT_SAYS("1 reader");
  ASSERT_SAYS("1 writable view");
  ASSERT_SAYS("1 read-only view");
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  Release(shared);
  Release(pin);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_lease_refused_for_writable_views_says_how_many(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *views[4];

  for (int i = 0; i < 4; i++) views[i] = Export(vec, CEED_EXPORT_SHARED);
  ASSERT(!Export(vec, CEED_EXPORT_READ));
  ASSERT_SAYS("4 writable views live");
  for (int i = 0; i < 4; i++) Release(views[i]);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// How accesses end
// ------------------------------------------------------------------------------------------------

static int one_of_two_leases_still_forbids_to_write(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *first = Export(vec, CEED_EXPORT_READ);
  DLManagedTensorVersioned *second = Export(vec, CEED_EXPORT_READ);

  Release(first);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 1));
  Release(second);
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_view_made_under_a_lease_stays_a_neutral_one(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *lease = Export(vec, CEED_EXPORT_READ);
  DLManagedTensorVersioned *view = Export(vec, CEED_EXPORT_SHARED);
  DLManagedTensorVersioned *again;

  ASSERT_EQ(view->flags, READ_ONLY);
  Release(lease);
  ASSERT_OK(CeedVectorSetValue(vec, 8));
  ASSERT_NUMBER(((CeedScalar *)view->dl_tensor.data)[1], 8);
  again = Export(vec, CEED_EXPORT_READ);
  ASSERT(again);
  Release(again);
  Release(view);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int a_pin_blocks_no_lease_but_keeps_the_memory_where_it_is(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *pin = Export(vec, CEED_EXPORT_PIN);
  DLManagedTensorVersioned *lease = Export(vec, CEED_EXPORT_READ);
  CeedScalar memory[3] = {0};

  ASSERT(lease);
  Release(lease);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorSetValue(vec, 8));
  ASSERT_NUMBER(((CeedScalar *)pin->dl_tensor.data)[2], 8);
  Release(pin);
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, memory));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static void *DeleteElsewhere(void *tensor) {
  Release(tensor);
  return NULL;
}

static int deleters_may_run_in_another_thread(void) {
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
    CeedVector vec = Iota(3);
    DLManagedTensorVersioned *tensor = Export(vec, (CeedExportMode)mode);
    pthread_t thread;
    ASSERT(!pthread_create(&thread, NULL, DeleteElsewhere, tensor));
    pthread_join(thread, NULL);
    ASSERT_EQ(ExportCount(vec), 0);
    ASSERT_OK(CeedVectorSetValue(vec, 1));
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int the_last_deleter_may_run_in_another_thread_after_the_vector_is_gone(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_WRITE);
  pthread_t thread;

  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT(!pthread_create(&thread, NULL, DeleteElsewhere, tensor));
  pthread_join(thread, NULL);
  return TEST_PASSED;
}

static int exports_never_block_destroy(void) {
  for (int mode = CEED_EXPORT_SHARED; mode <= CEED_EXPORT_COPY; mode++) {
    CeedVector vec = Iota(3);
    DLManagedTensorVersioned *tensor = Export(vec, (CeedExportMode)mode);
    ASSERT_OK(CeedVectorDestroy(&vec));
    ASSERT_NUMBER(((CeedScalar *)tensor->dl_tensor.data)[2], 2);
    Release(tensor);
  }
  return TEST_PASSED;
}

static int brackets_block_destroy_with_exports_too(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_SHARED);
  const CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorDestroy(&vec));
  ASSERT(vec);
  ASSERT_OK(CeedVectorRestoreArrayRead(vec, &array));
  ASSERT_OK(CeedVectorDestroy(&vec));
  Release(tensor);
  return TEST_PASSED;
}

static int write_leases_write(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *tensor = Export(vec, CEED_EXPORT_WRITE);

  ((CeedScalar *)tensor->dl_tensor.data)[0] = 40;
  Release(tensor);
  ASSERT_VALUES(vec, 40, 1, 2);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int exports_are_counted_but_copies_are_not(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *pin = Export(vec, CEED_EXPORT_PIN);
  DLManagedTensorVersioned *shared = Export(vec, CEED_EXPORT_SHARED);
  DLManagedTensorVersioned *copy = Export(vec, CEED_EXPORT_COPY);

  ASSERT_EQ(ExportCount(vec), 2);
  Release(shared);
  ASSERT_EQ(ExportCount(vec), 1);
  shared = Export(vec, CEED_EXPORT_READ);
  ASSERT_EQ(ExportCount(vec), 2);
  Release(copy);
  ASSERT_EQ(ExportCount(vec), 2);
  Release(pin);
  Release(shared);
  ASSERT_EQ(ExportCount(vec), 0);
  shared = Export(vec, CEED_EXPORT_WRITE);
  ASSERT_EQ(ExportCount(vec), 1);
  Release(shared);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// More than can be counted is an error; nothing overflows into a neighbour's count.
static int MoreThanCanBeCounted(CeedExportMode mode) {
  enum { MANY = 300000 };
  DLManagedTensorVersioned **tensors = malloc(MANY * sizeof *tensors);
  CeedVector vec = Iota(3);
  CeedSize count = 0;

  while (count < MANY && (tensors[count] = Export(vec, mode)) != NULL) {
    count++;
    if (count % 1000 == 0) ASSERT_EQ(ExportCount(vec), count);
  }
  ASSERT(count >= 1000);
  ASSERT_EQ(ExportCount(vec), count);
  if (count < MANY) {
    ASSERT_CODE(CEED_ERROR_ACCESS, ByExport(&(Scene){.vec = vec}, mode));
    ASSERT_SAYS("the most that there can be");
  }
  ASSERT_EQ(ExportCount(vec), count);
  ASSERT_OK(CeedVectorNorm(vec, CEED_NORM_1, &(CeedScalar){0}));
  for (CeedSize i = 0; i < count; i++) Release(tensors[i]);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  free(tensors);
  return TEST_PASSED;
}

static int more_exports_than_can_be_counted_are_an_error(void) {
  PASSES(MoreThanCanBeCounted(CEED_EXPORT_SHARED));
  PASSES(MoreThanCanBeCounted(CEED_EXPORT_READ));
  PASSES(MoreThanCanBeCounted(CEED_EXPORT_PIN));
  return TEST_PASSED;
}

static int ten_thousand_refusals_leave_no_trace(void) {
  CeedVector vec = Iota(3);
  DLManagedTensorVersioned *lease = Export(vec, CEED_EXPORT_READ), *none = NULL;
  DLManagedTensor *legacy = NULL;

  for (int i = 0; i < 10000; i++) {
    ASSERT(!Export(vec, CEED_EXPORT_WRITE));
    ASSERT(CeedVectorToDLPack(NULL, vec, CEED_MEM_HOST, &legacy));
    ASSERT(CeedVectorExport(vec, CEED_MEM_HOST, CEED_EXPORT_READ, 1, DIMS(4), NULL, &none));
    ASSERT(CeedVectorExport(vec, (CeedMemType)2, CEED_EXPORT_READ, 1, DIMS(3), NULL, &none));
    ASSERT_EQ(ExportCount(vec), 1);
  }
  ASSERT(!none && !legacy);
  Release(lease);
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int empty_vectors_follow_the_same_table(void) {
  CeedVector vec = Iota(0);
  DLManagedTensorVersioned *lease = Export(vec, CEED_EXPORT_READ), *shared;

  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetValue(vec, 1));
  Release(lease);
  shared = Export(vec, CEED_EXPORT_SHARED);
  ASSERT(!Export(vec, CEED_EXPORT_READ));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, NULL));
  Release(shared);
  ASSERT_EQ(ExportCount(vec), 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    CELLS(LIST_CELL) BEHAVIOUR(a_refusal_names_the_counts_and_both_causes),
    BEHAVIOUR(a_refusal_names_everything_that_lives),
    BEHAVIOUR(a_lease_refused_for_writable_views_says_how_many),
    BEHAVIOUR(one_of_two_leases_still_forbids_to_write),
    BEHAVIOUR(a_view_made_under_a_lease_stays_a_neutral_one),
    BEHAVIOUR(a_pin_blocks_no_lease_but_keeps_the_memory_where_it_is),
    BEHAVIOUR(deleters_may_run_in_another_thread),
    BEHAVIOUR(the_last_deleter_may_run_in_another_thread_after_the_vector_is_gone),
    BEHAVIOUR(exports_never_block_destroy),
    BEHAVIOUR(brackets_block_destroy_with_exports_too),
    BEHAVIOUR(write_leases_write),
    BEHAVIOUR(exports_are_counted_but_copies_are_not),
    BEHAVIOUR(more_exports_than_can_be_counted_are_an_error),
    BEHAVIOUR(empty_vectors_follow_the_same_table),
    BEHAVIOUR(ten_thousand_refusals_leave_no_trace),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
