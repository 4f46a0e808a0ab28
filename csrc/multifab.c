// MultiFabs: lists of boxes, and the fabs of this process.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>

#include "fab.h"

// ------------------------------------------------------------------------------------------------
// Lists
// ------------------------------------------------------------------------------------------------

static void Join(CeedFab fab) { __atomic_add_fetch(&fab->members, 1, __ATOMIC_ACQ_REL); }

static int Leave(CeedFab *fab) {
  if (*fab) __atomic_sub_fetch(&(*fab)->members, 1, __ATOMIC_ACQ_REL);
  return CeedFabDestroy(fab);
}

static void FreeList(CeedFabList *list) {
  for (CeedInt i = 0; list->fabs && i < list->num_local; i++) (void)Leave(&list->fabs[i]);
  free(list->boxes);
  free(list->owners);
  free(list->local);
  free(list->places);
  free(list->fabs);
  CeedGhostPlanDestroy(list->plan);
}

static int AllocateList(Ceed ceed, CeedFabList *list) {
  CeedCall(CeedAllocate(ceed, list->num_boxes, sizeof *list->boxes, &list->boxes));
  CeedCall(CeedAllocate(ceed, list->num_boxes, sizeof *list->owners, &list->owners));
  CeedCall(CeedAllocate(ceed, list->num_boxes, sizeof *list->local, &list->local));
  CeedCall(CeedAllocate(ceed, list->num_boxes, sizeof *list->places, &list->places));
  return CeedAllocate(ceed, list->num_boxes, sizeof *list->fabs, &list->fabs);
}

static int AddFab(Ceed ceed, CeedInt index, CeedFabList *list) {
  CeedFab *fab = &list->fabs[list->num_local];

  CeedCall(CeedFabCreate(ceed, list->boxes[index], list->ghost, list->num_comp, fab));
  Join(*fab);
  list->local[list->num_local++] = index;
  return CEED_ERROR_SUCCESS;
}

static int FillList(Ceed ceed, const CeedBox *boxes, const CeedInt *owners, CeedFabList *list) {
  CeedCall(AllocateList(ceed, list));
  for (CeedInt i = 0; i < list->num_boxes; i++) {
    list->boxes[i] = boxes[i];
    list->owners[i] = owners ? owners[i] : list->rank;
    CeedCall(CeedBoxNormalize(ceed, &list->boxes[i]));
    CeedCall(CeedBoxCheckKind(ceed, &list->boxes[i], &list->boxes[0]));
    list->places[i] = list->owners[i] == list->rank ? list->num_local : -1;
    if (list->places[i] >= 0) CeedCall(AddFab(ceed, i, list));
  }
  return CEED_ERROR_SUCCESS;
}

/* The fabs of other processes are not made, so that their widths are only checked here. */
static int CheckList(Ceed ceed, const CeedBox *boxes, CeedFabList *list) {
  CeedCheck(list->num_boxes >= 0, ceed, CEED_ERROR_DIMENSION, "%" PRId32 " boxes", list->num_boxes);
  CeedCheck(boxes || !list->num_boxes, ceed, CEED_ERROR_INCOMPATIBLE, "The boxes are NULL");
  CeedCheck(list->num_comp >= 1, ceed, CEED_ERROR_DIMENSION,
            "%" PRId32 " components; there must be one at least", list->num_comp);
  return CeedGhostCheck(ceed, list->num_boxes ? boxes->dim : CEED_MAX_BOX_DIM, &list->ghost);
}

static int MakeList(Ceed ceed, const CeedBox *boxes, const CeedInt *owners, CeedFabList *list) {
  int code;

  CeedCall(CheckList(ceed, boxes, list));
  code = FillList(ceed, boxes, owners, list);
  if (code) FreeList(list);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

int CeedMultiFabCreate(Ceed ceed, CeedInt num_boxes, const CeedBox *boxes, const CeedInt *owners,
                       CeedInt rank, CeedGhost ghost, CeedInt num_comp, CeedMultiFab *mf) {
  CeedFabList list = {num_boxes, 0, rank, num_comp, ghost, NULL, NULL, NULL, NULL, NULL, NULL};
  CeedMultiFab new_mf;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(mf, ceed);
  CeedCall(MakeList(ceed, boxes, owners, &list));
  new_mf = CeedObjectNew(ceed, CEED_KIND_MULTIFAB, sizeof *new_mf);
  if (!new_mf) {
    FreeList(&list);
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: a MultiFab");
  }
  new_mf->list = list;
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) new_mf->ratio[d] = 1;
  *mf = new_mf;
  return CEED_ERROR_SUCCESS;
}

static const char *Out(void *object) {
  CeedMultiFab mf = object;

  for (CeedInt i = 0; i < mf->list.num_local; i++) {
    CeedFab fab = CeedMultiFabLocal(mf, i);
    bool is_last = __atomic_load_n(&fab->base.ref_count, __ATOMIC_ACQUIRE) == 1;
    if (is_last && (CeedBufferWord(fab->vec->buffer) & (WRITER_ONE | READERS))) {
      return "The array of a fab is out";
    }
  }
  return NULL;
}

static void Free(void *object) {
  CeedMultiFab mf = object;

  FreeList(&mf->list);
  free(mf);
}

static const CeedClass class = {CEED_KIND_MULTIFAB, Out, Free};
CEED_OBJECT(CeedMultiFab, class)
CEED_OBJECT_CEED(CeedMultiFab, CEED_KIND_MULTIFAB)

// ------------------------------------------------------------------------------------------------
// Replacing
// ------------------------------------------------------------------------------------------------

static int CheckUnused(CeedMultiFab mf, bool keep_views) {
  CeedSize views = 0, arrays = 0, count;
  CeedVectorList vectors;

  CeedCall(CeedVectorListCreate(mf->base.ceed, mf->list.num_local, mf->list.fabs, &vectors));
  for (CeedInt i = 0; i < vectors.count; i++) {
    CeedVector vec = vectors.fabs[i]->vec;
    uint64_t word = CeedBufferWord(vec->buffer);
    arrays += (CeedSize)((word & READERS) / READER_ONE + (word & WRITER_ONE) / WRITER_ONE);
    if (!CeedVectorGetExportCount(vec, &count)) views += count;
  }
  free(vectors.fabs);
  CeedCheck(!arrays && (keep_views || !views), mf->base.ceed, CEED_ERROR_ACCESS,
            "Redefine refused: %td views of the fabs live, %td arrays are out; restore the arrays, "
            "and drop the views (in Python del them, in C call the deleters of the tensors) or "
            "redefine with keep_views",
            views, arrays);
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabRedefine(CeedMultiFab mf, CeedInt num_boxes, const CeedBox *boxes,
                         const CeedInt *owners, CeedInt rank, CeedGhost ghost, CeedInt num_comp,
                         bool keep_views) {
  CeedFabList list = {num_boxes, 0, rank, num_comp, ghost, NULL, NULL, NULL, NULL, NULL, NULL}, old;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CheckUnused(mf, keep_views));
  CeedCall(MakeList(mf->base.ceed, boxes, owners, &list));
  for (CeedInt i = 0; i < mf->list.num_local; i++) CeedFabMakeStale(CeedMultiFabLocal(mf, i));
  old = mf->list;
  mf->list = list;
  mf->generation++;
  FreeList(&old);
  return CEED_ERROR_SUCCESS;
}

static int CheckIndex(CeedMultiFab mf, CeedInt index) {
  CeedCheck(index >= 0 && index < mf->list.num_boxes, mf->base.ceed, CEED_ERROR_DIMENSION,
            "There is no box %" PRId32 "; there are %" PRId32 ", from 0 on", index,
            mf->list.num_boxes);
  return CEED_ERROR_SUCCESS;
}

static int FindLocal(CeedMultiFab mf, CeedInt index, CeedInt *local) {
  CeedCall(CheckIndex(mf, index));
  *local = mf->list.places[index];
  CeedCheck(*local >= 0, mf->base.ceed, CEED_ERROR_ACCESS,
            "The box %" PRId32 " belongs to rank %" PRId32 ", this is %" PRId32, index,
            mf->list.owners[index], mf->list.rank);
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabSetFab(CeedMultiFab mf, CeedInt index, CeedFab fab, bool keep_views) {
  char text[CEED_BOX_TEXT], wanted[CEED_BOX_TEXT];
  CeedFab old, reference = NULL;
  CeedInt local;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(FindLocal(mf, index, &local));
  CeedCheck(fab->base.ceed == mf->base.ceed, mf->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The fab belongs to another context");
  CeedCheck(BoxIsEqual(&fab->shape.valid, &mf->list.boxes[index]) &&
                fab->shape.num_comp == mf->list.num_comp,
            mf->base.ceed, CEED_ERROR_DIMENSION,
            "A fab of %" PRId32 " components of %s is no fab of %" PRId32 " components of %s",
            fab->shape.num_comp, BoxText(&fab->shape.valid, text), mf->list.num_comp,
            BoxText(&mf->list.boxes[index], wanted));
  old = mf->list.fabs[local];
  if (fab == old) return CEED_ERROR_SUCCESS;
  CeedCall(CeedFabCheckUnused(old, keep_views, "SetFab"));
  CeedCall(CeedFabReferenceCopy(fab, &reference));
  CeedFabMakeStale(old);
  mf->list.fabs[local] = reference;
  Join(reference);
  CeedGhostPlanDestroy(mf->list.plan);
  mf->list.plan = NULL;
  return Leave(&old);
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

CEED_GET(CeedMultiFabGetGeneration, CeedMultiFab, CEED_KIND_MULTIFAB, uint64_t, generation)
CEED_GET(CeedMultiFabGetNumBoxes, CeedMultiFab, CEED_KIND_MULTIFAB, CeedInt, list.num_boxes)
CEED_GET(CeedMultiFabGetNumComponents, CeedMultiFab, CEED_KIND_MULTIFAB, CeedInt, list.num_comp)
CEED_GET(CeedMultiFabGetGhost, CeedMultiFab, CEED_KIND_MULTIFAB, CeedGhost, list.ghost)
CEED_GET(CeedMultiFabGetRank, CeedMultiFab, CEED_KIND_MULTIFAB, CeedInt, list.rank)
CEED_GET(CeedMultiFabGetNumLocal, CeedMultiFab, CEED_KIND_MULTIFAB, CeedInt, list.num_local)

int CeedMultiFabSetLevel(CeedMultiFab mf, CeedInt level, const CeedInt ratio[3]) {
  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheck(level >= 0, mf->base.ceed, CEED_ERROR_DIMENSION, "The level %" PRId32, level);
  CeedCheck(ratio, mf->base.ceed, CEED_ERROR_INCOMPATIBLE, "The ratio is NULL");
  CeedCheck(ratio[0] >= 1 && ratio[1] >= 1 && ratio[2] >= 1, mf->base.ceed, CEED_ERROR_DIMENSION,
            "The ratio (%" PRId32 ", %" PRId32 ", %" PRId32 ") is not positive", ratio[0], ratio[1],
            ratio[2]);
  mf->level = level;
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) mf->ratio[d] = ratio[d];
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabGetLevel(CeedMultiFab mf, CeedInt *level, CeedInt ratio[3]) {
  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(level, mf->base.ceed);
  CeedCheckOutput(ratio, mf->base.ceed);
  *level = mf->level;
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) ratio[d] = mf->ratio[d];
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabGetBox(CeedMultiFab mf, CeedInt index, CeedBox *box) {
  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(box, mf->base.ceed);
  CeedCall(CheckIndex(mf, index));
  *box = mf->list.boxes[index];
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabGetOwner(CeedMultiFab mf, CeedInt index, CeedInt *owner) {
  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(owner, mf->base.ceed);
  CeedCall(CheckIndex(mf, index));
  *owner = mf->list.owners[index];
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabGetHull(CeedMultiFab mf, CeedBox *hull) {
  CeedBox box;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(hull, mf->base.ceed);
  CeedCheck(mf->list.num_boxes, mf->base.ceed, CEED_ERROR_INCOMPLETE, "There are no boxes");
  box = mf->list.boxes[0];
  for (CeedInt i = 1; i < mf->list.num_boxes; i++) box = BoxHull(&box, &mf->list.boxes[i]);
  *hull = box;
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabTree(CeedMultiFab mf, CeedBoxTree *tree) {
  CeedBox *boxes;
  int code;

  CeedCall(CeedAllocate(mf->base.ceed, mf->list.num_local, sizeof *boxes, &boxes));
  for (CeedInt i = 0; i < mf->list.num_local; i++) boxes[i] = mf->list.boxes[mf->list.local[i]];
  code = CeedBoxTreeCreate(mf->base.ceed, mf->list.num_local, boxes, tree);
  free(boxes);
  return code;
}

int CeedMultiFabGetLocalIndex(CeedMultiFab mf, CeedInt local, CeedInt *index) {
  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(index, mf->base.ceed);
  CeedCheck(local >= 0 && local < mf->list.num_local, mf->base.ceed, CEED_ERROR_DIMENSION,
            "There is no local box %" PRId32 "; there are %" PRId32 ", from 0 on", local,
            mf->list.num_local);
  *index = mf->list.local[local];
  return CEED_ERROR_SUCCESS;
}

int CeedMultiFabGetFab(CeedMultiFab mf, CeedInt index, CeedFab *fab) {
  CeedInt local;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCheckOutput(fab, mf->base.ceed);
  CeedCall(FindLocal(mf, index, &local));
  return CeedFabReferenceCopy(CeedMultiFabLocal(mf, local), fab);
}

int CeedMultiFabView(CeedMultiFab mf, FILE *stream) {
  char text[CEED_BOX_TEXT];
  bool written;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedStreamCheck(mf->base.ceed, stream));
  written = fprintf(stream,
                    "CeedMultiFab of level %" PRId32 ": %" PRId32 " boxes, %" PRId32
                    " of them of rank %" PRId32 ", %" PRId32 " components\n",
                    mf->level, mf->list.num_boxes, mf->list.num_local, mf->list.rank,
                    mf->list.num_comp) > 0;
  for (CeedInt i = 0; written && i < mf->list.num_boxes; i++) {
    written = fprintf(stream, "  %s of rank %" PRId32 "\n", BoxText(&mf->list.boxes[i], text),
                      mf->list.owners[i]) > 0;
  }
  CeedCheck(written, mf->base.ceed, CEED_ERROR_MINOR, "View: the stream can't be written");
  return CEED_ERROR_SUCCESS;
}
