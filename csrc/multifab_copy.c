// MultiFabs: setting, copying to another list of boxes, gathering in one array.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

static void CopyRegion(CeedFab from, CeedFab to, const CeedBox *region) {
  CeedFabPart source = CeedFabPartOf(from, region), part = CeedFabPartOf(to, region);

  CeedEntriesCopy(part.lengths, CeedHostEntry(from, source.first), from->shape.strides,
                  CeedHostEntry(to, part.first), to->shape.strides);
}

// ------------------------------------------------------------------------------------------------
// Setting and copying
// ------------------------------------------------------------------------------------------------

int CeedMultiFabSetValue(CeedMultiFab mf, CeedScalar value) {
  CeedVectorList vectors;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedVectorListAcquire(mf->base.ceed, mf->list.num_local, mf->list.fabs, FAB_REPLACE,
                                 "SetValue", &vectors));
  for (CeedInt i = 0; i < mf->list.num_local; i++) {
    CeedFab fab = CeedMultiFabLocal(mf, i);
    CeedEntriesSet(fab->shape.lengths, value, CeedHostEntry(fab, fab->first), fab->shape.strides);
  }
  return CeedVectorListRelease(&vectors, FAB_REPLACE);
}

static int CheckAlike(CeedMultiFab mf, const CeedBox *box, CeedInt num_comp) {
  if (mf->list.num_boxes) CeedCall(CeedBoxCheckKind(mf->base.ceed, &mf->list.boxes[0], box));
  CeedCheck(mf->list.num_comp == num_comp, mf->base.ceed, CEED_ERROR_DIMENSION,
            "A MultiFab of %" PRId32 " components, and %" PRId32, mf->list.num_comp, num_comp);
  return CEED_ERROR_SUCCESS;
}

static int CopyOfValid(CeedFab fab, CeedFab *copy) {
  const CeedFabShape *shape = &fab->shape;
  const CeedGhost none = {{0}, {0}};
  int code;

  CeedCall(CeedFabCreate(fab->base.ceed, shape->valid, none, shape->num_comp, copy));
  code = CeedFabCopy(fab, NULL, shape->comp_base, shape->num_comp, *copy, 0);
  if (code) (void)CeedFabDestroy(copy);
  return code;
}

/* The fabs to copy from; of those whose memory is written meanwhile, copies. */
typedef struct {
  CeedInt count;
  CeedFab *fabs;
  CeedBoxTree tree;
} Sources;

static void Drop(Sources *from) {
  for (CeedInt i = 0; i < from->count; i++) (void)CeedFabDestroy(&from->fabs[i]);
  free(from->fabs);
  CeedBoxTreeDestroy(from->tree);
}

static int FillSources(CeedMultiFab mf, const CeedVectorList *written, Sources *from) {
  CeedCall(CeedAllocate(mf->base.ceed, mf->list.num_local, sizeof *from->fabs, &from->fabs));
  for (; from->count < mf->list.num_local; from->count++) {
    CeedFab fab = CeedMultiFabLocal(mf, from->count), *source = &from->fabs[from->count];
    CeedCall(CeedVectorListHas(written, fab->vec) ? CopyOfValid(fab, source)
                                                  : CeedFabReferenceCopy(fab, source));
  }
  return CeedMultiFabTree(mf, &from->tree);
}

static int MakeSources(CeedMultiFab mf, CeedMultiFab mf_copy, Sources *from) {
  CeedVectorList written;
  int code;

  CeedCall(
      CeedVectorListCreate(mf->base.ceed, mf_copy->list.num_local, mf_copy->list.fabs, &written));
  code = FillSources(mf, &written, from);
  free(written.fabs);
  return code;
}

/* The first source in the list last, so that it counts. */
static void CopyFound(const Sources *from, CeedFab to) {
  const CeedInt *found;

  for (CeedInt n = CeedBoxTreeFind(from->tree, &to->shape.valid, &found); n-- > 0;) {
    CeedFab source = from->fabs[found[n]];
    CeedBox region = BoxMeet(&to->shape.valid, &source->shape.valid);
    CopyRegion(source, to, &region);
  }
}

static int CopyAll(const Sources *from, CeedMultiFab mf_copy) {
  Ceed ceed = mf_copy->base.ceed;
  CeedVectorList read, written;
  int code;

  CeedCall(CeedVectorListAcquire(ceed, from->count, from->fabs, FAB_READ, "Copy", &read));
  code = CeedVectorListAcquire(ceed, mf_copy->list.num_local, mf_copy->list.fabs, FAB_WRITE, "Copy",
                               &written);
  if (code) {
    CeedVectorListCancel(&read, read.count, FAB_READ);
    return code;
  }
  for (CeedInt i = 0; i < mf_copy->list.num_local; i++) {
    CopyFound(from, CeedMultiFabLocal(mf_copy, i));
  }
  (void)CeedVectorListRelease(&read, FAB_READ);
  return CeedVectorListRelease(&written, FAB_WRITE);
}

int CeedMultiFabCopy(CeedMultiFab mf, CeedMultiFab mf_copy) {
  Sources from = {0, NULL, NULL};
  int code;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedObjectCheck(mf_copy, CEED_KIND_MULTIFAB));
  if (mf == mf_copy || !mf->list.num_boxes || !mf_copy->list.num_boxes) return CEED_ERROR_SUCCESS;
  CeedCall(CheckAlike(mf, &mf_copy->list.boxes[0], mf_copy->list.num_comp));
  code = MakeSources(mf, mf_copy, &from);
  if (!code) code = CopyAll(&from, mf_copy);
  Drop(&from);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Gathering
// ------------------------------------------------------------------------------------------------

static void GatherRegion(CeedFab from, CeedBox region, CeedFab to, CeedInt8 mark, CeedInt8 *cover) {
  const CeedBox *whole = &to->shape.whole;

  region = BoxMeet(&region, whole);
  if (!BoxHasIndices(&region)) return;
  CopyRegion(from, to, &region);
  if (!cover) return;
  for (CeedSize z = 0; z < BoxLength(&region, 2); z++) {
    for (CeedSize y = 0; y < BoxLength(&region, 1); y++) {
      CeedSize line = region.lo[2] + z - whole->lo[2];
      line = line * BoxLength(whole, 1) + region.lo[1] + y - whole->lo[1];
      memset(cover + line * BoxLength(whole, 0) + (region.lo[0] - whole->lo[0]), mark,
             (size_t)BoxLength(&region, 0));
    }
  }
}

/* Valid cells after ghosts, and the first in the list after the others, so that they count. */
static void GatherAll(CeedMultiFab mf, bool with_ghosts, CeedFab to, CeedInt8 *cover) {
  for (CeedInt i = mf->list.num_local; with_ghosts && i-- > 0;) {
    CeedFab from = CeedMultiFabLocal(mf, i);
    GatherRegion(from, from->shape.whole, to, CEED_COVER_GHOST, cover);
  }
  for (CeedInt i = mf->list.num_local; i-- > 0;) {
    CeedFab from = CeedMultiFabLocal(mf, i);
    GatherRegion(from, from->shape.valid, to, CEED_COVER_VALID, cover);
  }
}

int CeedMultiFabGather(CeedMultiFab mf, bool with_ghosts, CeedScalar fill, CeedFab fab,
                       CeedInt8 *cover) {
  CeedVectorList vectors;
  CeedScalar *data;
  int code;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CheckAlike(mf, &fab->shape.whole, fab->shape.num_comp));
  CeedCall(CeedVectorListAcquire(mf->base.ceed, mf->list.num_local, mf->list.fabs, FAB_READ,
                                 "Gather", &vectors));
  code = CeedVectorAcquireWrite(fab->vec, CEED_MEM_HOST, CeedFabKeeps(fab, true), &data, "Gather");
  if (code) {
    CeedVectorListCancel(&vectors, vectors.count, FAB_READ);
    return code;
  }
  CeedEntriesSet(fab->shape.lengths, fill, CeedEntryAt(data, fab->first), fab->shape.strides);
  if (cover) {
    memset(cover, CEED_COVER_NONE, (size_t)(fab->shape.count / fab->shape.num_comp));
  }
  GatherAll(mf, with_ghosts, fab, cover);
  (void)CeedVectorListRelease(&vectors, FAB_READ);
  return CeedVectorReleaseWrite(fab->vec);
}
