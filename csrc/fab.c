// Fabs: a vector's memory with a box. Life, other memory, access.
// SPDX-License-Identifier: BSD-2-Clause
#include "fab.h"

#include <inttypes.h>
#include <stdlib.h>

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

int CeedFabAssemble(CeedVector vec, CeedSize first, const CeedFabShape *shape, CeedFab *fab) {
  Ceed ceed = vec->base.ceed;
  CeedFab new_fab = CeedObjectNew(ceed, CEED_KIND_FAB, sizeof *new_fab);

  if (!new_fab) {
    (void)CeedVectorDestroy(&vec);
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: a fab");
  }
  new_fab->vec = vec;
  new_fab->first = first;
  new_fab->shape = *shape;
  *fab = new_fab;
  return CEED_ERROR_SUCCESS;
}

int CeedFabCreate(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp, CeedFab *fab) {
  CeedFabShape shape;
  CeedVector vec = NULL;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(fab, ceed);
  CeedCall(CeedFabShapeMake(ceed, box, ghost, num_comp, &shape));
  CeedCall(CeedVectorCreate(ceed, shape.count, &vec));
  return CeedFabAssemble(vec, 0, &shape, fab);
}

int CeedFabCreateFromVector(CeedVector vec, CeedSize offset, const CeedSize strides[4], CeedBox box,
                            CeedGhost ghost, CeedInt num_comp, CeedFab *fab) {
  CeedFabShape shape;
  CeedVector reference = NULL;
  Ceed ceed;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  ceed = vec->base.ceed;
  CeedCheckOutput(fab, ceed);
  CeedCall(CeedFabShapeMake(ceed, box, ghost, num_comp, &shape));
  if (strides) CeedCall(CeedFabShapeSetStrides(ceed, strides, &shape));
  CeedCheck(offset >= 0 && offset <= vec->length && shape.reach <= vec->length - offset, ceed,
            CEED_ERROR_DIMENSION, "The fab reaches %td entries from entry %td, the vector has %td",
            shape.reach, offset, vec->length);
  CeedCall(CeedVectorReferenceCopy(vec, &reference));
  return CeedFabAssemble(reference, offset, &shape, fab);
}

/* What the caller still has, where the end of the fab would be that of a vector in use. */
static const char *Out(void *object) {
  CeedFab fab = object;
  bool is_last = __atomic_load_n(&fab->vec->base.ref_count, __ATOMIC_ACQUIRE) == 1;

  return is_last && (CeedBufferWord(fab->vec->buffer) & (WRITER_ONE | READERS))
             ? "The fab's array is out"
             : NULL;
}

static void Free(void *object) {
  CeedFab fab = object;

  (void)CeedVectorDestroy(&fab->vec);
  free(fab);
}

static const CeedClass class = {CEED_KIND_FAB, Out, Free};
CEED_OBJECT(CeedFab, class)
CEED_OBJECT_CEED(CeedFab, CEED_KIND_FAB)

// ------------------------------------------------------------------------------------------------
// Replacing
// ------------------------------------------------------------------------------------------------

int CeedFabCheckUnused(CeedFab fab, bool keep_views, const char *what) {
  uint64_t word = CeedBufferWord(fab->vec->buffer);
  uint64_t blockers = keep_views ? WRITER_ONE | READERS : OTHERS;

  if (word & blockers) return CeedBufferRefuse(fab->base.ceed, word, what);
  return CEED_ERROR_SUCCESS;
}

void CeedFabMakeStale(CeedFab fab) { __atomic_add_fetch(&fab->replaced, 1, __ATOMIC_RELAXED); }

/* A MultiFab tells the boxes and components of its fabs, so that they stay. */
static int CheckMember(CeedFab fab, const CeedFabShape *by, const char *what) {
  const CeedFabShape *shape = &fab->shape;
  char text[CEED_BOX_TEXT], by_text[CEED_BOX_TEXT];

  if (!__atomic_load_n(&fab->members, __ATOMIC_ACQUIRE)) return CEED_ERROR_SUCCESS;
  CeedCheck(BoxIsEqual(&shape->valid, &by->valid) && shape->num_comp == by->num_comp,
            fab->base.ceed, CEED_ERROR_DIMENSION,
            "%s refused: the fab is one of a MultiFab, of %" PRId32
            " components of %s, not %" PRId32
            " of %s; give the MultiFab other boxes (CeedMultiFabRedefine)",
            what, shape->num_comp, BoxText(&shape->valid, text), by->num_comp,
            BoxText(&by->valid, by_text));
  return CEED_ERROR_SUCCESS;
}

static int Replace(CeedFab fab, CeedFab by, bool keep_views, const char *what) {
  CeedVector reference = NULL, old = fab->vec;

  CeedCall(CheckMember(fab, &by->shape, what));
  CeedCall(CeedFabCheckUnused(fab, keep_views, what));
  CeedCall(CeedVectorReferenceCopy(by->vec, &reference));
  fab->former_moves += CeedVectorMoves(old) - CeedVectorMoves(reference);
  fab->vec = reference;
  fab->first = by->first;
  fab->shape = by->shape;
  CeedFabMakeStale(fab);
  return CeedVectorDestroy(&old);
}

int CeedFabReplace(CeedFab fab, CeedFab by, bool keep_views) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedObjectCheck(by, CEED_KIND_FAB));
  CeedCheck(fab->base.ceed == by->base.ceed, fab->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The fabs belong to different contexts");
  return Replace(fab, by, keep_views, "Replace");
}

int CeedFabResize(CeedFab fab, CeedBox box, CeedGhost ghost, CeedInt num_comp, bool keep_views) {
  CeedFab by = NULL;
  int code;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedFabCreate(fab->base.ceed, box, ghost, num_comp, &by));
  by->shape.comp_base = fab->shape.comp_base;
  code = Replace(fab, by, keep_views, "Resize");
  (void)CeedFabDestroy(&by);
  return code;
}

int CeedFabTakeArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorTakeArray(fab->vec, mem_type, array);
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

CEED_GET(CeedFabGetBox, CeedFab, CEED_KIND_FAB, CeedBox, shape.valid)
CEED_GET(CeedFabGetGhost, CeedFab, CEED_KIND_FAB, CeedGhost, shape.ghost)
CEED_GET(CeedFabGetNumComponents, CeedFab, CEED_KIND_FAB, CeedInt, shape.num_comp)
CEED_GET(CeedFabGetComponentBase, CeedFab, CEED_KIND_FAB, CeedInt, shape.comp_base)

int CeedFabSetComponentBase(CeedFab fab, CeedInt base) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheck((int64_t)base + fab->shape.num_comp - 1 <= INT32_MAX, fab->base.ceed,
            CEED_ERROR_DIMENSION, "%" PRId32 " components from %" PRId32 " on do not fit CeedInt",
            fab->shape.num_comp, base);
  fab->shape.comp_base = base;
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetGeneration(CeedFab fab, uint64_t *generation) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(generation, fab->base.ceed);
  *generation = __atomic_load_n(&fab->replaced, __ATOMIC_RELAXED) + fab->former_moves +
                CeedVectorMoves(fab->vec);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetStrides(CeedFab fab, CeedSize strides[4]) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(strides, fab->base.ceed);
  for (int i = 0; i < 4; i++) strides[i] = fab->shape.strides[i];
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetVector(CeedFab fab, CeedVector *vec) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(vec, fab->base.ceed);
  CeedCheck(CeedFabShapeIsCompact(&fab->shape) && CeedFabFillsVector(fab), fab->base.ceed,
            CEED_ERROR_INCOMPATIBLE,
            "The fab's memory is not compact: strides (%td, %td, %td, %td), %td entries from entry "
            "%td of %td; copy it into a fab of its own memory (CeedFabCopy)",
            fab->shape.strides[0], fab->shape.strides[1], fab->shape.strides[2],
            fab->shape.strides[3], fab->shape.count, fab->first, fab->vec->length);
  return CeedVectorReferenceCopy(fab->vec, vec);
}

int CeedFabGetExportCount(CeedFab fab, CeedSize *count) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetExportCount(fab->vec, count);
}

int CeedFabGetDLPackDevice(CeedFab fab, CeedMemType mem_type, int32_t *device_type,
                           int32_t *device_id) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetDLPackDevice(fab->vec, mem_type, device_type, device_id);
}

int CeedFabGetMemTypes(CeedFab fab, bool holds[2], bool current[2]) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetMemTypes(fab->vec, holds, current);
}

// ------------------------------------------------------------------------------------------------
// Access
// ------------------------------------------------------------------------------------------------

int CeedFabGetArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedVectorGetArray(fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetArrayRead(CeedFab fab, CeedMemType mem_type, const CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedVectorGetArrayRead(fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetArrayWrite(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall((CeedFabKeeps(fab, true) ? CeedVectorGetArray : CeedVectorGetArrayWrite)(
      fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabRestoreArray(CeedFab fab, CeedScalar **array) {
  CeedScalar *first;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(array, fab->base.ceed);
  first = *array ? *array - fab->first : NULL;
  CeedCall(CeedVectorRestoreArray(fab->vec, &first));
  *array = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedFabRestoreArrayRead(CeedFab fab, const CeedScalar **array) {
  const CeedScalar *first;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(array, fab->base.ceed);
  first = *array ? *array - fab->first : NULL;
  CeedCall(CeedVectorRestoreArrayRead(fab->vec, &first));
  *array = NULL;
  return CEED_ERROR_SUCCESS;
}
