// Every allocation of the library fails in turn: a clean error each time, nothing changed, nothing
// leaked. The allocation functions below stand before those of libc, for the library, too.
// SPDX-License-Identifier: BSD-2-Clause
#include "fabs.h"

// ------------------------------------------------------------------------------------------------
// Allocation that fails when it is told to
// ------------------------------------------------------------------------------------------------

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static __thread int fail_in;    // the allocation of this thread that fails; 0: none
static __thread bool watching;  // allocations are counted
static __thread long live, failed;

static bool Refuses(void) {
  if (fail_in <= 0 || --fail_in) return false;
  failed++;
  errno = ENOMEM;
  return true;
}

static void *Counted(void *memory) {
  if (watching && memory) live++;
  return memory;
}

void *malloc(size_t size) { return Refuses() ? NULL : Counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) {
  return Refuses() ? NULL : Counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  if (Refuses()) return NULL;
  return memory ? __libc_realloc(memory, size) : Counted(__libc_realloc(memory, size));
}

void *memalign(size_t alignment, size_t size) {
  return Refuses() ? NULL : Counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *given = memalign(alignment, size);

  if (!given) return ENOMEM;
  *memory = given;
  return 0;
}

void free(void *memory) {
  if (watching && memory) live--;
  __libc_free(memory);
}

// ------------------------------------------------------------------------------------------------
// What is tried: on success each operation undoes what it did
// ------------------------------------------------------------------------------------------------

enum { LENGTH = 6 };

static CeedScalar values[LENGTH];
static CeedVector full, empty;
static Fake fake;

static int DoInit(void) {
  Ceed other = NULL;
  int code = CeedInit("/cpu/self", &other);

  CeedDestroy(&other);
  return code;
}

static int DoCreate(void) {
  CeedVector vec = NULL;
  int code = CeedVectorCreate(ceed, LENGTH, &vec);

  CeedVectorDestroy(&vec);
  return code;
}

static int DoSetValue(void) { return CeedVectorSetValue(empty, 1); }
static int DoCopy(void) { return CeedVectorCopy(full, empty); }
static int DoMult(void) { return CeedVectorPointwiseMult(empty, full, full); }
static int DoSetArray(void) {
  return CeedVectorSetArray(empty, CEED_MEM_HOST, CEED_COPY_VALUES, values);
}
static int DoGetArrayWrite(void) {
  CeedScalar *array = NULL;
  int code = CeedVectorGetArrayWrite(empty, CEED_MEM_HOST, &array);

  return code ? code : CeedVectorRestoreArray(empty, &array);
}

static int DoExport(CeedExportMode mode, CeedInt ndim, const int64_t *strides) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedVectorExport(full, CEED_MEM_HOST, mode, ndim, DIMS(2, 3), strides, &tensor);

  if (tensor) Release(tensor);
  return code;
}
static int DoExportShared(void) { return DoExport(CEED_EXPORT_SHARED, 2, NULL); }
static int DoExportRead(void) { return DoExport(CEED_EXPORT_READ, 2, NULL); }
static int DoExportWrite(void) { return DoExport(CEED_EXPORT_WRITE, 2, NULL); }
static int DoExportPin(void) { return DoExport(CEED_EXPORT_PIN, 2, NULL); }
static int DoExportCopy(void) { return DoExport(CEED_EXPORT_COPY, 1, NULL); }
static int DoExportCopyStrided(void) { return DoExport(CEED_EXPORT_COPY, 2, DIMS(1, 2)); }

static int DoToDLPackTwice(void) {
  DLManagedTensorVersioned *first = NULL;
  DLManagedTensor *second = NULL;
  int code = CeedVectorToDLPackVersioned(NULL, full, CEED_MEM_HOST, &first);

  if (!code) code = CeedVectorToDLPack(NULL, full, CEED_MEM_HOST, &second);
  if (first) Release(first);
  if (second) second->deleter(second);
  return code;
}

static int DoWrap(void) {
  DLManagedTensorVersioned *tensor = NULL;
  int code = CeedDLPackWrap(values, CEED_MEM_HOST, 2, DIMS(2, 3), false, &tensor);

  if (tensor) Release(tensor);
  return code;
}

static int DoTake(CeedVector vec, CeedCopyMode mode) {
  FakeInit(&fake, values, 2, DIMS(2, 3), NULL);
  return FakeTake(vec, &fake, true, mode);
}
static int DoTakeCopy(void) { return DoTake(empty, CEED_COPY_VALUES); }
static int DoAdopt(void) { return DoTake(empty, CEED_USE_POINTER); }

// A view of the vector's own memory that needs a place apart for its values.
static int DoTakeReversed(void) {
  const CeedScalar *array = NULL, *last;
  int code = CeedVectorGetArrayRead(full, CEED_MEM_HOST, &array);

  last = array + LENGTH - 1;
  if (!code) code = CeedVectorRestoreArrayRead(full, &array);
  FakeInit(&fake, (void *)(uintptr_t)last, 1, DIMS(LENGTH), DIMS(-1));
  return code ? code : FakeTake(full, &fake, true, CEED_COPY_VALUES);
}

static int DoCreateFrom(bool versioned, CeedCopyMode mode) {
  CeedVector vec = NULL;
  int code;

  FakeInit(&fake, values, 2, DIMS(2, 3), NULL);
  code = FakeCreate(&fake, versioned, mode, &vec);
  if (code && vec) return -99;
  CeedVectorDestroy(&vec);
  return code;
}
static int DoCreateFromCopy(void) { return DoCreateFrom(false, CEED_COPY_VALUES); }
static int DoCreateFromCopyVersioned(void) { return DoCreateFrom(true, CEED_COPY_VALUES); }
static int DoCreateFromAdopt(void) { return DoCreateFrom(false, CEED_USE_POINTER); }
static int DoCreateFromAdoptVersioned(void) { return DoCreateFrom(true, CEED_OWN_POINTER); }

// Everything that an operator is made of, and what is made of it: whatever there is at a failure is
// released.
typedef struct {
  CeedElemRestriction rstr, stored, points;
  CeedBasis basis, project;
  CeedQFunctionContext ctx;
  CeedQFunction build, apply;
  CeedOperator builder, op, sum;
  CeedVector x, qdata, u, v, assembled;
  CeedInt *rows, *cols;
} Parts;

static int MakeParts(Parts *p) {
  static const CeedInt offsets[] = {0, 1, 1, 2};
  static const CeedScalar x[] = {0, 1, 3};
  int code = CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &p->rstr);

  if (!code) {
    code = CeedElemRestrictionCreateStrided(ceed, 2, 3, 1, 6, CEED_STRIDES_BACKEND, &p->stored);
  }
  if (!code) code = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &p->basis);
  if (!code) code = CeedBasisCreateProjection(p->basis, p->basis, &p->project);
  if (!code) code = CeedQFunctionContextCreate(ceed, &p->ctx);
  if (!code) {
    code =
        CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof values, values);
  }
  if (!code) code = CeedQFunctionContextRegisterInt32(p->ctx, "number", 0, 1, "of something");
  if (!code) code = CeedQFunctionCreateInteriorByName(ceed, "Mass1DBuild", &p->build);
  if (!code) code = CeedQFunctionSetContext(p->build, p->ctx);
  if (!code) code = CeedQFunctionCreateInteriorByName(ceed, "MassApply", &p->apply);
  if (!code) code = CeedElemRestrictionCreateVector(p->rstr, &p->x, NULL);
  if (!code) {
    code = CeedVectorSetArray(p->x, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)(uintptr_t)x);
  }
  if (!code) code = CeedElemRestrictionCreateVector(p->stored, &p->qdata, NULL);
  if (!code) code = CeedElemRestrictionCreateVector(p->rstr, &p->u, &p->assembled);
  CeedVectorDestroy(&p->assembled);
  if (!code) code = CeedVectorCreate(ceed, 3, &p->v);
  return code;
}

static int MakeOperators(Parts *p) {
  int code = CeedOperatorCreate(ceed, p->build, NULL, NULL, &p->builder);

  if (!code) code = CeedOperatorSetField(p->builder, "dx", p->rstr, p->basis, CEED_VECTOR_ACTIVE);
  if (!code) {
    code = CeedOperatorSetField(p->builder, "weights", CEED_ELEMRESTRICTION_NONE, p->basis,
                                CEED_VECTOR_NONE);
  }
  if (!code) {
    code =
        CeedOperatorSetField(p->builder, "qdata", p->stored, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  }
  if (!code) code = CeedOperatorApply(p->builder, p->x, p->qdata, NULL);
  if (!code) code = CeedOperatorCreate(ceed, p->apply, NULL, NULL, &p->op);
  if (!code) code = CeedOperatorSetField(p->op, "u", p->rstr, p->basis, CEED_VECTOR_ACTIVE);
  if (!code) code = CeedOperatorSetField(p->op, "v", p->rstr, p->basis, CEED_VECTOR_ACTIVE);
  if (!code) code = CeedOperatorSetField(p->op, "qdata", p->stored, CEED_BASIS_NONE, p->qdata);
  if (!code) code = CeedOperatorCreateComposite(ceed, &p->sum);
  if (!code) code = CeedOperatorCompositeAddSub(p->sum, p->op);
  if (!code) code = CeedOperatorSetName(p->sum, "sum");
  return code;
}

static int UseOperators(Parts *p) {
  CeedContextFieldLabel label;
  CeedSize count = 0;
  int64_t id;
  int code = CeedOperatorApply(p->sum, p->x, p->v, NULL);

  if (!code) code = CeedOperatorXLAOpen(p->sum, CEED_XLA_APPLY, 0, NULL, &id);
  if (!code) code = CeedXLAClose(id);
  if (!code) code = CeedOperatorGetContextFieldLabel(p->builder, "number", &label);
  if (!code) code = CeedOperatorApplyTranspose(p->op, p->x, p->v, NULL);
  if (!code) code = CeedOperatorLinearAssembleDiagonal(p->op, p->v, NULL);
  if (!code) {
    code = CeedOperatorLinearAssembleQFunction(p->op, &p->assembled, &p->points, NULL);
  }
  CeedVectorDestroy(&p->assembled);
  if (!code) code = CeedOperatorLinearAssembleSymbolic(p->sum, &count, &p->rows, &p->cols);
  if (!code) code = CeedVectorCreate(ceed, count, &p->assembled);
  if (!code) code = CeedOperatorLinearAssemble(p->sum, p->assembled);
  return code;
}

static void DropParts(Parts *p) {
  CeedElemRestrictionDestroy(&p->rstr);
  CeedElemRestrictionDestroy(&p->stored);
  CeedElemRestrictionDestroy(&p->points);
  CeedBasisDestroy(&p->basis);
  CeedBasisDestroy(&p->project);
  CeedQFunctionContextDestroy(&p->ctx);
  CeedQFunctionDestroy(&p->build);
  CeedQFunctionDestroy(&p->apply);
  CeedOperatorDestroy(&p->builder);
  CeedOperatorDestroy(&p->op);
  CeedOperatorDestroy(&p->sum);
  CeedVectorDestroy(&p->x);
  CeedVectorDestroy(&p->qdata);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedVectorDestroy(&p->assembled);
  free(p->rows);
  free(p->cols);
}

static int DoOperator(void) {
  Parts parts = {0};
  int code = MakeParts(&parts);

  if (!code) code = MakeOperators(&parts);
  if (!code) code = UseOperators(&parts);
  DropParts(&parts);
  return code;
}

// A fab made in every way, each released whatever fails.
static int EndFab(int code, CeedFab *fab) {
  if (code && *fab) return -99;
  CeedFabDestroy(fab);
  return code;
}

static int DoFab(void) {
  CeedFab fab = NULL;
  int code = CeedFabCreate(ceed, BoxOf(1, 0, 0, 0, 4, 0, 0), no_ghost, 2, &fab);

  if (!code) code = CeedFabSetValue(fab, NULL, 0, 2, 1);
  CeedFabDestroy(&fab);
  return code;
}

static int DoFabOfVector(void) {
  CeedFab fab = NULL;

  return EndFab(
      CeedFabCreateFromVector(full, 1, NULL, BoxOf(1, 0, 0, 0, 4, 0, 0), no_ghost, 1, &fab), &fab);
}

static int DoFabOfArray(CeedCopyMode mode) {
  CeedFab fab = NULL;

  return EndFab(CeedFabCreateFromArray(ceed, BoxOf(1, 0, 0, 0, 2, 0, 0), no_ghost, 1, CEED_MEM_HOST,
                                       mode, (const CeedSize[]){2, 1, 1, 1}, values, &fab),
                &fab);
}
static int DoFabOfArrayCopy(void) { return DoFabOfArray(CEED_COPY_VALUES); }
static int DoFabOfArrayUse(void) { return DoFabOfArray(CEED_USE_POINTER); }

static int DoFabOfTensor(CeedCopyMode mode) {
  CeedFab fab = NULL;

  FakeInit(&fake, values, 2, DIMS(2, 3), NULL);
  return EndFab(CeedFabCreateFromDLPackVersioned(ceed, &fake.versioned, CEED_ORDER_XYZN,
                                                 (const CeedInt[]){0}, 0, no_ghost, mode, &fab),
                &fab);
}
static int DoFabOfTensorCopy(void) { return DoFabOfTensor(CEED_COPY_VALUES); }
static int DoFabOfTensorUse(void) { return DoFabOfTensor(CEED_USE_POINTER); }

// A level in its whole life; whatever there is at a failure is released.
typedef struct {
  CeedMultiFab mf, other;
  CeedFab fab, low, high;
  CeedVector vec;
} Level;

static int UseFabs(Level *l) {
  const CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
  DLManagedTensorVersioned *view = NULL;
  DLManagedTensor *legacy = NULL;
  int code = CeedVectorCreate(ceed, 5, &l->vec);

  if (!code) code = CeedVectorSetValue(l->vec, 1);
  if (!code) code = CeedFabCreateFromVector(l->vec, 0, NULL, box, no_ghost, 1, &l->low);
  if (!code) code = CeedFabCreateFromVector(l->vec, 1, NULL, box, no_ghost, 1, &l->high);
  if (!code) code = CeedFabCopy(l->low, NULL, 0, 1, l->high, 0);
  if (!code) {
    code =
        CeedFabExport(l->low, CEED_MEM_HOST, CEED_EXPORT_COPY, NULL, 0, 1, CEED_ORDER_NZYX, &view);
  }
  if (view) Release(view);
  if (!code) {
    code = CeedFabToDLPack(l->low, CEED_MEM_HOST, NULL, 0, 1, CEED_ORDER_NZYX, &legacy);
  }
  if (legacy) legacy->deleter(legacy);
  if (!code) code = CeedFabResize(l->low, box, no_ghost, 2, false);
  return code;
}

static int UseLevel(Level *l) {
  const CeedBox boxes[] = {BoxOf(2, 0, 0, 0, 3, 2, 0), BoxOf(2, 4, 0, 0, 5, 2, 0)};
  int code = CeedMultiFabCreate(ceed, 2, boxes, NULL, 0, ghosts, 1, &l->mf);

  if (!code) code = CeedMultiFabCreate(ceed, 1, boxes, NULL, 0, ghosts, 1, &l->other);
  if (!code) code = CeedMultiFabSetValue(l->mf, 1);
  if (!code) code = CeedMultiFabSetValue(l->other, 2);
  if (!code) code = CeedMultiFabFillGhosts(l->mf, (const CeedInt[]){6, 3});
  if (!code) code = CeedMultiFabCopy(l->mf, l->other);
  if (!code) code = CeedMultiFabGetFab(l->mf, 0, &l->fab);
  if (!code) code = CeedMultiFabSetFab(l->other, 0, l->fab, false);
  if (!code) code = CeedMultiFabCopy(l->mf, l->other);
  CeedFabDestroy(&l->fab);
  if (!code) code = CeedFabCreate(ceed, boxes[1], no_ghost, 1, &l->fab);
  if (!code) code = CeedMultiFabGather(l->mf, true, 0, l->fab, NULL);
  if (!code) code = CeedMultiFabSetFab(l->mf, 1, l->fab, false);
  if (!code) code = CeedMultiFabRedefine(l->mf, 1, boxes, NULL, 0, ghosts, 1, false);
  return code;
}

static int DoLevel(void) {
  Level level = {0};
  int code = UseFabs(&level);

  if (!code) code = UseLevel(&level);
  CeedMultiFabDestroy(&level.mf);
  CeedMultiFabDestroy(&level.other);
  CeedFabDestroy(&level.fab);
  CeedFabDestroy(&level.low);
  CeedFabDestroy(&level.high);
  CeedVectorDestroy(&level.vec);
  return code;
}

// ------------------------------------------------------------------------------------------------
// The trial
// ------------------------------------------------------------------------------------------------

static int Begin(void) {
  for (int i = 0; i < LENGTH; i++) values[i] = (CeedScalar)(10 * i);
  return CreateContext();
}

static int MakeVectors(void) {
  full = Iota(LENGTH);
  ASSERT(full);
  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &empty));
  return TEST_PASSED;
}

static int DropVectors(void) {
  ASSERT_OK(CeedVectorDestroy(&full));
  ASSERT_OK(CeedVectorDestroy(&empty));
  return TEST_PASSED;
}

static int NothingChanged(uint64_t state) {
  const CeedScalar *array = NULL;

  ASSERT_VALUES(full, 0, 1, 2, 3, 4, 5);
  ASSERT_EQ(State(full), state);
  ASSERT_EQ(ExportCount(full), 0);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedVectorGetArrayRead(empty, CEED_MEM_HOST, &array));
  ASSERT_EQ(State(empty), 0);
  ASSERT_EQ(fake.deletions, 0);
  return TEST_PASSED;
}

// One run with the n-th allocation failing; `*done` when there is no n-th.
static int Try(int (*operation)(void), int n, bool *done) {
  uint64_t state;
  int code;

  PASSES(MakeVectors());
  memset(&fake, 0, sizeof fake);
  state = State(full);
  CeedResetErrorMessage(NULL, NULL);
  failed = 0;
  fail_in = n;
  code = operation();
  fail_in = 0;
  *done = !failed;
  if (failed) {
    PASSES(
        TestCode(__FILE__, __LINE__, "with an allocation failing", code, code == CEED_ERROR_MAJOR));
    ASSERT_SAYS("memory");
    PASSES(NothingChanged(state));
    code = operation();
  }
  ASSERT_OK(code);
  return DropVectors();
}

static int Survives(int (*operation)(void), int fewest) {
  int n = 0;
  bool done = false;

  while (!done && n < 300) {
    watching = true;
    live = 0;
    PASSES(Try(operation, ++n, &done));
    watching = false;
    ASSERT_EQ(live, 0);
  }
  ASSERT(done);
  ASSERT(n > fewest);
  return TEST_PASSED;
}

static int the_allocations_of_the_library_are_seen(void) {
  CeedVector vec = NULL;

  watching = true;
  live = 0;
  ASSERT_OK(CeedVectorCreate(ceed, LENGTH, &vec));
  ASSERT(live > 0);
  ASSERT_OK(CeedVectorDestroy(&vec));
  watching = false;
  ASSERT_EQ(live, 0);
  return TEST_PASSED;
}

static int making_a_context(void) { return Survives(DoInit, 1); }
static int making_a_vector(void) { return Survives(DoCreate, 1); }
static int the_first_value(void) { return Survives(DoSetValue, 1); }
static int the_first_copy(void) { return Survives(DoCopy, 1); }
static int the_first_product(void) { return Survives(DoMult, 1); }
static int the_first_array(void) { return Survives(DoSetArray, 1); }
static int the_first_access(void) { return Survives(DoGetArrayWrite, 1); }
static int a_shared_export(void) { return Survives(DoExportShared, 1); }
static int a_read_lease(void) { return Survives(DoExportRead, 1); }
static int a_write_lease(void) { return Survives(DoExportWrite, 1); }
static int a_pin(void) { return Survives(DoExportPin, 1); }
static int a_copy(void) { return Survives(DoExportCopy, 1); }
static int a_strided_copy(void) { return Survives(DoExportCopyStrided, 1); }
static int two_exports(void) { return Survives(DoToDLPackTwice, 0); }
static int a_wrapped_pointer(void) { return Survives(DoWrap, 1); }
static int taking_by_copy(void) { return Survives(DoTakeCopy, 1); }
static int adopting(void) { return Survives(DoAdopt, 0); }
static int taking_a_view_of_itself(void) { return Survives(DoTakeReversed, 1); }
static int a_vector_of_a_copied_tensor(void) {
  PASSES(Survives(DoCreateFromCopy, 1));
  PASSES(Survives(DoCreateFromCopyVersioned, 1));
  return TEST_PASSED;
}
static int a_vector_of_an_adopted_tensor(void) {
  PASSES(Survives(DoCreateFromAdopt, 1));
  PASSES(Survives(DoCreateFromAdoptVersioned, 1));
  return TEST_PASSED;
}

static int an_operator_and_all_that_it_is_made_of(void) { return Survives(DoOperator, 50); }

static int a_fab_of_its_own_memory(void) { return Survives(DoFab, 3); }
static int a_fab_of_a_vector(void) { return Survives(DoFabOfVector, 1); }
static int a_fab_of_an_array(void) {
  PASSES(Survives(DoFabOfArrayCopy, 3));
  PASSES(Survives(DoFabOfArrayUse, 2));
  return TEST_PASSED;
}
static int a_fab_of_a_tensor(void) {
  PASSES(Survives(DoFabOfTensorCopy, 3));
  PASSES(Survives(DoFabOfTensorUse, 2));
  return TEST_PASSED;
}
static int a_level_and_all_that_is_done_with_it(void) { return Survives(DoLevel, 50); }

static int a_large_import_and_export_allocate_no_more_than_small_ones(void) {
  enum { MANY = 1 << 20 };
  CeedScalar *data = calloc(MANY, sizeof *data);
  DLManagedTensorVersioned *tensor;
  CeedVector vec = NULL;

  FakeInit(&fake, data, 1, DIMS(MANY), NULL);
  watching = true;
  live = 0;
  ASSERT_OK(FakeCreate(&fake, true, CEED_USE_POINTER, &vec));
  tensor = Export(vec, CEED_EXPORT_SHARED);
  watching = false;
  ASSERT(live <= 4);
  ASSERT_SAME(tensor->dl_tensor.data, data);
  Release(tensor);
  ASSERT_OK(CeedVectorDestroy(&vec));
  free(data);
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(the_allocations_of_the_library_are_seen),
    BEHAVIOUR(making_a_context),
    BEHAVIOUR(making_a_vector),
    BEHAVIOUR(the_first_value),
    BEHAVIOUR(the_first_copy),
    BEHAVIOUR(the_first_product),
    BEHAVIOUR(the_first_array),
    BEHAVIOUR(the_first_access),
    BEHAVIOUR(a_shared_export),
    BEHAVIOUR(a_read_lease),
    BEHAVIOUR(a_write_lease),
    BEHAVIOUR(a_pin),
    BEHAVIOUR(a_copy),
    BEHAVIOUR(a_strided_copy),
    BEHAVIOUR(two_exports),
    BEHAVIOUR(a_wrapped_pointer),
    BEHAVIOUR(taking_by_copy),
    BEHAVIOUR(adopting),
    BEHAVIOUR(taking_a_view_of_itself),
    BEHAVIOUR(a_vector_of_a_copied_tensor),
    BEHAVIOUR(a_vector_of_an_adopted_tensor),
    BEHAVIOUR(an_operator_and_all_that_it_is_made_of),
    BEHAVIOUR(a_fab_of_its_own_memory),
    BEHAVIOUR(a_fab_of_a_vector),
    BEHAVIOUR(a_fab_of_an_array),
    BEHAVIOUR(a_fab_of_a_tensor),
    BEHAVIOUR(a_level_and_all_that_is_done_with_it),
    BEHAVIOUR(a_large_import_and_export_allocate_no_more_than_small_ones),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), Begin, DestroyContext);
}
