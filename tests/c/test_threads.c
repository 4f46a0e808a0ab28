// Eight threads at once, within the documented rules: references, exports and deleters in any
// thread at any time, all other calls on one object in one thread. For sanitizers, too.
// SPDX-License-Identifier: BSD-2-Clause
#include "fabs.h"

enum { THREADS = 8, ROUNDS = 2000, LENGTH = 100 };

static CeedVector shared;
static pthread_barrier_t barrier;

typedef struct {
  pthread_t thread;
  int number, failures;
  uint64_t seed;
} Worker;

static unsigned Dice(Worker *worker, unsigned sides) {
  return (unsigned)((RandomUnit(&worker->seed) + 1) / 2 * sides) % sides;
}

static void Expect(Worker *worker, bool condition) { worker->failures += !condition; }

// All workers run `body`, from the same moment on; the sum of their failures is returned.
static int Run(void *(*body)(void *)) {
  Worker workers[THREADS];
  int failures = 0;

  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){.number = i, .seed = (uint64_t)i * 7919 + 1};
    if (pthread_create(&workers[i].thread, NULL, body, &workers[i])) return -1;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    failures += workers[i].failures;
  }
  pthread_barrier_destroy(&barrier);
  return failures;
}

static int Begin(void) {
  PASSES(CreateContext());
  shared = Iota(LENGTH);
  ASSERT(shared);
  return TEST_PASSED;
}

static int End(void) {
  ASSERT_EQ(ExportCount(shared), 0);
  ASSERT_OK(CeedVectorSetArray(shared, CEED_MEM_HOST, CEED_OWN_POINTER,
                               calloc(LENGTH, sizeof(CeedScalar))));
  ASSERT_OK(CeedVectorDestroy(&shared));
  return DestroyContext();
}

// An export may be refused for what another thread does just now, and for nothing else.
static DLManagedTensorVersioned *TryExport(Worker *worker, CeedExportMode mode) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedVectorExport(shared, CEED_MEM_HOST, mode, 1, DIMS(LENGTH), NULL, &tensor);

  Expect(worker, code == CEED_ERROR_SUCCESS || code == CEED_ERROR_ACCESS);
  if (code) Expect(worker, strlen(TestText()) > 20);
  if (!code) Expect(worker, tensor->dl_tensor.shape[0] == LENGTH && tensor->dl_tensor.data);
  return tensor;
}

// ------------------------------------------------------------------------------------------------
// Exports of every mode
// ------------------------------------------------------------------------------------------------

static void *ExportInEveryMode(void *argument) {
  Worker *worker = argument;
  DLManagedTensorVersioned *held[4] = {NULL};

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensorVersioned **place = &held[Dice(worker, 4)];
    if (*place) Release(*place);
    *place = TryExport(worker, (CeedExportMode)Dice(worker, CEED_EXPORT_COPY + 1));
  }
  for (int i = 0; i < 4; i++) {
    if (held[i]) Release(held[i]);
  }
  return NULL;
}

static int exports_of_every_mode_end_balanced(void) {
  ASSERT_EQ(Run(ExportInEveryMode), 0);
  return TEST_PASSED;
}

static void *ExportLegacy(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensor *tensor = NULL;
    Expect(worker, !CeedVectorToDLPack(NULL, shared, CEED_MEM_HOST, &tensor));
    if (tensor) tensor->deleter(tensor);
  }
  return NULL;
}

static int shared_exports_never_refuse_each_other(void) {
  ASSERT_EQ(Run(ExportLegacy), 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Deleters in threads that did not export
// ------------------------------------------------------------------------------------------------

enum { PLACES = 16 };
static DLManagedTensorVersioned *places[PLACES];

static void *ExportAndDeleteOthers(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensorVersioned *tensor = TryExport(worker, (CeedExportMode)Dice(worker, 4));
    DLManagedTensorVersioned **place = &places[Dice(worker, PLACES)];
    tensor = __atomic_exchange_n(place, tensor, __ATOMIC_ACQ_REL);
    if (tensor) Release(tensor);
  }
  return NULL;
}

static int deleters_run_in_other_threads(void) {
  ASSERT_EQ(Run(ExportAndDeleteOthers), 0);
  for (int i = 0; i < PLACES; i++) {
    if (places[i]) Release(places[i]);
    places[i] = NULL;
  }
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// One thread writes, the others export
// ------------------------------------------------------------------------------------------------

static void Write(Worker *worker, int i) {
  CeedScalar *array = NULL;
  int code = i % 2 ? CeedVectorSetValue(shared, (CeedScalar)i)
                   : CeedVectorGetArray(shared, CEED_MEM_HOST, &array);

  Expect(worker, code == CEED_ERROR_SUCCESS || code == CEED_ERROR_ACCESS);
  if (!array) return;
  for (int j = 0; j < LENGTH; j++) array[j] = (CeedScalar)i;
  Expect(worker, !CeedVectorRestoreArray(shared, &array));
}

// Under a lease nobody writes, so that all entries are those of one write.
static void ReadWhole(Worker *worker, CeedExportMode mode) {
  DLManagedTensorVersioned *tensor = TryExport(worker, mode);
  const CeedScalar *array;

  if (!tensor) return;
  array = tensor->dl_tensor.data;
  for (int j = 1; j < LENGTH; j++) Expect(worker, array[j] == array[0]);
  Release(tensor);
}

static void *OneWritesOthersRead(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    if (worker->number == 0) {
      Write(worker, i);
    } else {
      ReadWhole(worker, i % 2 ? CEED_EXPORT_READ : CEED_EXPORT_COPY);
    }
  }
  return NULL;
}

static int leases_and_copies_see_whole_writes(void) {
  ASSERT_OK(CeedVectorSetValue(shared, -1));
  ASSERT_EQ(Run(OneWritesOthersRead), 0);
  return TEST_PASSED;
}

static void *EveryoneWritesInTurn(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensorVersioned *tensor = TryExport(worker, CEED_EXPORT_WRITE);
    if (!tensor) continue;
    for (int j = 0; j < LENGTH; j++) ((CeedScalar *)tensor->dl_tensor.data)[j] += 1;
    Release(tensor);
  }
  return NULL;
}

static int write_leases_exclude_each_other(void) {
  const CeedScalar *array = NULL;

  ASSERT_OK(CeedVectorSetValue(shared, 0));
  ASSERT_EQ(Run(EveryoneWritesInTurn), 0);
  ASSERT_OK(CeedVectorGetArrayRead(shared, CEED_MEM_HOST, &array));
  ASSERT(array[0] > 0);
  for (int i = 1; i < LENGTH; i++) ASSERT_NUMBER(array[i], array[0]);
  ASSERT_OK(CeedVectorRestoreArrayRead(shared, &array));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Taking: every thread into a vector of its own, one thread into the shared one
// ------------------------------------------------------------------------------------------------

static void ImportInto(Worker *worker, CeedVector vec, CeedCopyMode mode) {
  DLManagedTensorVersioned *tensor = TryExport(worker, CEED_EXPORT_SHARED);
  CeedScalar *norm = &(CeedScalar){-1};
  int code;

  if (!tensor) return;
  code = CeedVectorTakeFromDLPackVersioned(NULL, vec, tensor, mode);
  Expect(worker, !code);
  if (code) Release(tensor);
  Expect(worker, !CeedVectorNorm(vec, CEED_NORM_MAX, norm) && *norm == LENGTH - 1);
}

static void *ImportCopies(void *argument) {
  Worker *worker = argument;
  CeedVector own = NULL;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    Expect(worker, !CeedVectorCreate(ceed, LENGTH, &own));
    ImportInto(worker, own, i % 2 ? CEED_USE_POINTER : CEED_COPY_VALUES);
    Expect(worker, !CeedVectorDestroy(&own));
  }
  return NULL;
}

static int every_thread_adopts_and_copies_the_shared_vector(void) {
  ASSERT_EQ(Run(ImportCopies), 0);
  return TEST_PASSED;
}

static void *AdoptOnly(void *argument) {
  Worker *worker = argument;
  CeedVector own = NULL;

  pthread_barrier_wait(&barrier);
  Expect(worker, !CeedVectorCreate(ceed, LENGTH, &own));
  for (int i = 0; i < ROUNDS; i++) ImportInto(worker, own, CEED_USE_POINTER);
  Expect(worker, !CeedVectorDestroy(&own));
  return NULL;
}

static int every_thread_replaces_what_it_adopted(void) {
  ASSERT_EQ(Run(AdoptOnly), 0);
  return TEST_PASSED;
}

static CeedScalar incoming[LENGTH];
static int64_t incoming_shape[1] = {LENGTH};

static void DeleteCounting(DLManagedTensorVersioned *tensor) {
  __atomic_add_fetch((int *)tensor->manager_ctx, 1, __ATOMIC_RELAXED);
}

// The memory moves from under the exports' feet, unless an export stands on it.
static void Replace(Worker *worker, int *deletions, DLManagedTensorVersioned *tensor, int *taken) {
  Fake fake;
  int code;

  FakeInit(&fake, incoming, 1, DIMS(LENGTH), NULL);
  *tensor = fake.versioned;
  tensor->dl_tensor.shape = incoming_shape;
  tensor->manager_ctx = deletions;
  tensor->deleter = DeleteCounting;
  code = CeedVectorTakeFromDLPackVersioned(NULL, shared, tensor, CEED_USE_POINTER);
  Expect(worker, code == CEED_ERROR_SUCCESS || code == CEED_ERROR_ACCESS);
  *taken += !code;
}

static int deletions, taken;

static void *OneReplacesOthersExport(void *argument) {
  Worker *worker = argument;
  static DLManagedTensorVersioned tensors[ROUNDS];

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    if (worker->number == 0) {
      Replace(worker, &deletions, &tensors[i], &taken);
    } else {
      DLManagedTensorVersioned *tensor = TryExport(worker, (CeedExportMode)Dice(worker, 4));
      if (tensor) Release(tensor);
    }
  }
  return NULL;
}

static CeedScalar lent[LENGTH];

/* One thread begins and ends histories of the memory: none, borrowed, none, own, borrowed. */
static void *OneTakesOthersPin(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    if (worker->number == 0) {
      CeedVectorSetArray(shared, CEED_MEM_HOST, CEED_USE_POINTER, lent);
      CeedVectorTakeArray(shared, CEED_MEM_HOST, NULL);
      if (i % 16 == 0) CeedVectorSetValue(shared, (CeedScalar)i);
    } else {
      DLManagedTensorVersioned *tensor = NULL;
      int code =
          CeedVectorExport(shared, CEED_MEM_HOST, CEED_EXPORT_PIN, 1, DIMS(LENGTH), NULL, &tensor);
      Expect(worker, !code || code == CEED_ERROR_ACCESS || code == CEED_ERROR_INCOMPLETE);
      if (!code) Expect(worker, tensor->dl_tensor.data != NULL);
      if (!code) Release(tensor);
    }
  }
  return NULL;
}

static int pins_are_of_memory_that_is_there(void) {
  ASSERT_EQ(Run(OneTakesOthersPin), 0);
  return TEST_PASSED;
}

static int one_thread_replaces_the_memory_that_others_export(void) {
  deletions = taken = 0;
  ASSERT_EQ(Run(OneReplacesOthersExport), 0);
  ASSERT_OK(CeedVectorSetArray(shared, CEED_MEM_HOST, CEED_USE_POINTER, incoming));
  ASSERT_EQ(deletions, taken);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// References
// ------------------------------------------------------------------------------------------------

static void *ReferAndDestroy(void *argument) {
  Worker *worker = argument;
  CeedVector own = NULL;
  Ceed context = NULL;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    Expect(worker, !CeedVectorReferenceCopy(shared, &own));
    Expect(worker, !CeedVectorGetCeed(own, &context));
    Expect(worker, !CeedReferenceCopy(context, &context));
    Expect(worker, !CeedDestroy(&context));
    Expect(worker, !CeedVectorDestroy(&own) && !own);
  }
  return NULL;
}

static int references_end_balanced(void) {
  CeedScalar sum = -1;

  ASSERT_EQ(Run(ReferAndDestroy), 0);
  ASSERT_OK(CeedVectorNorm(shared, CEED_NORM_1, &sum));
  ASSERT_NUMBER(sum, LENGTH * (LENGTH - 1) / 2);
  return TEST_PASSED;
}

static CeedVector last[THREADS];
static DLManagedTensorVersioned *last_tensors[THREADS];

// Half of the threads destroy references, the others delete exports: whoever is last frees.
static void *EndTogether(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  if (worker->number % 2) {
    Expect(worker, !CeedVectorDestroy(&last[worker->number]));
  } else {
    Release(last_tensors[worker->number]);
  }
  return NULL;
}

static int whoever_is_last_frees_the_memory(void) {
  for (int round = 0; round < 50; round++) {
    CeedVector vec = Iota(3);
    for (int i = 0; i < THREADS; i++) {
      last[i] = NULL;
      if (i % 2) ASSERT_OK(CeedVectorReferenceCopy(vec, &last[i]));
      if (i % 2 == 0) last_tensors[i] = Export(vec, CEED_EXPORT_SHARED);
    }
    ASSERT_OK(CeedVectorDestroy(&vec));
    ASSERT_EQ(Run(EndTogether), 0);
  }
  return TEST_PASSED;
}

static void *BeginTogether(void *argument) {
  Worker *worker = argument;
  Ceed own = NULL;
  CeedVector vec = NULL;
  CeedScalar norm = -1;

  pthread_barrier_wait(&barrier);
  Expect(worker, !CeedInit("/cpu/self", &own));
  Expect(worker, !CeedVectorCreate(own, 1000, &vec));
  Expect(worker, !CeedVectorSetValue(vec, 2) && !CeedVectorNorm(vec, CEED_NORM_1, &norm));
  Expect(worker, norm == 2000);
  Expect(worker, CeedInit("/nothing", &own) == CEED_ERROR_UNSUPPORTED);
  Expect(worker, strstr(TestText(), "/nothing") != NULL);
  Expect(worker, !CeedVectorDestroy(&vec) && !CeedDestroy(&own));
  return NULL;
}

static int the_first_calls_may_come_from_eight_threads(void) {
  ASSERT_EQ(Run(BeginTogether), 0);
  return TEST_PASSED;
}

// Loops over the fabs of one level, each its own, with views that are taken and dropped in between.
enum { BOXES = 12 };
static CeedMultiFab level;

static void SeeFab(Worker *worker, CeedInt index) {
  CeedFab fab = NULL;
  CeedBox valid;
  DLManagedTensorVersioned *view = NULL;
  int code;

  Expect(worker, !CeedMultiFabGetFab(level, index, &fab));
  Expect(worker, !CeedFabGetBox(fab, &valid) && valid.lo[0] == 4 * index);
  code = CeedFabExport(fab, CEED_MEM_HOST, (CeedExportMode)Dice(worker, 2), &valid, 0, 1,
                       CEED_ORDER_NZYX, &view);
  Expect(worker, !code || code == CEED_ERROR_ACCESS);
  Expect(worker, !CeedFabDestroy(&fab));
  if (!view) return;
  Expect(worker, *(CeedScalar *)view->dl_tensor.data == 3);
  Release(view);
}

static void *LoopOverFabs(void *argument) {
  Worker *worker = argument;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS / 20; i++) {
    for (CeedInt outer = 0; outer < BOXES; outer++) {
      for (CeedInt inner = 0; inner < BOXES; inner++) {
        SeeFab(worker, inner);
        if (Dice(worker, 3) == 0) break;
      }
    }
  }
  return NULL;
}

static int loops_over_fabs_run_in_every_thread(void) {
  CeedBox boxes[BOXES];

  for (CeedInt i = 0; i < BOXES; i++) boxes[i] = BoxOf(2, 4 * i, 0, 0, 4 * i + 3, 2, 0);
  ASSERT_OK(CeedMultiFabCreate(ceed, BOXES, boxes, NULL, 0, ghosts, 1, &level));
  ASSERT_OK(CeedMultiFabSetValue(level, 3));
  ASSERT_EQ(Run(LoopOverFabs), 0);
  ASSERT_OK(CeedMultiFabRedefine(level, 0, NULL, NULL, 0, no_ghost, 1, false));
  ASSERT_OK(CeedMultiFabDestroy(&level));
  return TEST_PASSED;
}

static void *Everything(void *argument) {
  Worker *worker = argument;
  CeedVector own = NULL, same = NULL;

  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensorVersioned *tensor = TryExport(worker, (CeedExportMode)(Dice(worker, 2) * 3));
    Expect(worker, !CeedVectorReferenceCopy(shared, &same));
    if (tensor &&
        CeedVectorCreateFromDLPackVersioned(ceed, tensor, (CeedCopyMode)Dice(worker, 3), &own)) {
      worker->failures++;
      Release(tensor);
    }
    if (worker->number == 0) CeedVectorNorm(shared, CEED_NORM_2, &(CeedScalar){0});
    Expect(worker, !CeedVectorDestroy(&same));
    Expect(worker, !CeedVectorDestroy(&own));
  }
  return NULL;
}

static int everything_at_once_ends_balanced(void) {
  ASSERT_EQ(Run(Everything), 0);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(the_first_calls_may_come_from_eight_threads),
    BEHAVIOUR(exports_of_every_mode_end_balanced),
    BEHAVIOUR(shared_exports_never_refuse_each_other),
    BEHAVIOUR(deleters_run_in_other_threads),
    BEHAVIOUR(leases_and_copies_see_whole_writes),
    BEHAVIOUR(write_leases_exclude_each_other),
    BEHAVIOUR(every_thread_adopts_and_copies_the_shared_vector),
    BEHAVIOUR(every_thread_replaces_what_it_adopted),
    BEHAVIOUR(one_thread_replaces_the_memory_that_others_export),
    BEHAVIOUR(pins_are_of_memory_that_is_there),
    BEHAVIOUR(references_end_balanced),
    BEHAVIOUR(whoever_is_last_frees_the_memory),
    BEHAVIOUR(loops_over_fabs_run_in_every_thread),
    BEHAVIOUR(everything_at_once_ends_balanced),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, End);
}
