// MultiFabs: what goes from one fab to others, and to one array.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

// ------------------------------------------------------------------------------------------------
// Access to all fabs at once, so that nothing is written unless everything can be
// ------------------------------------------------------------------------------------------------

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_REPLACE } Access;

static CeedScalar *EntryOf(CeedFab fab, CeedSize first) {
  return CeedEntryAt(fab->vec->buffer->memory[CEED_MEM_HOST].data, first);
}

static void Cancel(CeedVectorList *vectors, CeedInt count, Access access) {
  for (CeedInt i = 0; i < count; i++) {
    (access == ACCESS_READ ? CeedVectorReleaseRead : CeedVectorCancelWrite)(vectors->fabs[i]->vec);
  }
  free(vectors->fabs);
}

static int AcquireVector(CeedFab fab, Access access, const char *what) {
  bool keep = CeedFabKeeps(fab, access == ACCESS_REPLACE);
  const CeedScalar *values;
  CeedScalar *data;

  if (access == ACCESS_READ) return CeedVectorAcquireRead(fab->vec, CEED_MEM_HOST, &values, what);
  return CeedVectorAcquireWrite(fab->vec, CEED_MEM_HOST, keep, &data, what);
}

static int Acquire(CeedMultiFab mf, Access access, const char *what, CeedVectorList *vectors) {
  CeedCall(CeedMultiFabVectors(mf, vectors));
  for (CeedInt i = 0; i < vectors->count; i++) {
    int code = AcquireVector(vectors->fabs[i], access, what);
    if (code) {
      Cancel(vectors, i, access);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int Release(CeedVectorList *vectors, Access access) {
  int code = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < vectors->count; i++) {
    if (access == ACCESS_READ) {
      CeedVectorReleaseRead(vectors->fabs[i]->vec);
    } else {
      int release = CeedVectorReleaseWrite(vectors->fabs[i]->vec);
      if (!code) code = release;
    }
  }
  free(vectors->fabs);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Filling
// ------------------------------------------------------------------------------------------------

/* A region of one fab, whose indices are `by` less in another, from there. */
static void CopyShifted(CeedFab from, CeedFab to, const CeedBox *region, const int64_t by[3]) {
  CeedFabPart source, part = CeedFabPartOf(to, region);
  CeedBox there = *region;

  for (int d = 0; d < region->dim; d++) {
    there.lo[d] = (CeedInt)(region->lo[d] - by[d]);
    there.hi[d] = (CeedInt)(region->hi[d] - by[d]);
  }
  source = CeedFabPartOf(from, &there);
  CeedEntriesCopy(part.lengths, EntryOf(from, source.first), from->shape.strides,
                  EntryOf(to, part.first), to->shape.strides);
}

/* What is outside the valid box: a slab below and one above it in each direction in turn. */
static void FillOutside(CeedFab from, CeedFab to, CeedBox region, const int64_t by[3]) {
  const CeedBox *valid = &to->shape.valid;

  for (int d = 0; d < region.dim; d++) {
    CeedBox slab = region;
    if (region.lo[d] < valid->lo[d]) {
      slab.hi[d] = CeedIntMin(region.hi[d], valid->lo[d] - 1);
      CopyShifted(from, to, &slab, by);
      slab.hi[d] = region.hi[d];
      region.lo[d] = valid->lo[d];
    }
    if (region.hi[d] > valid->hi[d]) {
      slab.lo[d] = CeedIntMax(slab.lo[d], valid->hi[d] + 1);
      CopyShifted(from, to, &slab, by);
      region.hi[d] = valid->hi[d];
    }
    if (region.hi[d] < region.lo[d]) return;
  }
}

typedef struct {
  CeedMultiFab mf;
  CeedBoxMap map; /* of the local boxes */
  CeedBox *boxes;
  CeedBox hull;
  CeedInt period[3];
} Filling;

/* From the valid boxes that are `by` away; the first of them in the list last, so that it counts. */
static void FillFromImage(const Filling *f, CeedInt local, const int64_t by[3]) {
  CeedFab to = CeedMultiFabLocal(f->mf, local);
  CeedBox wanted = f->hull;
  const CeedInt *found;

  for (int d = 0; d < wanted.dim; d++) {
    int64_t lo = to->shape.whole.lo[d] - by[d], hi = to->shape.whole.hi[d] - by[d];
    if (hi < wanted.lo[d] || lo > wanted.hi[d]) return;
    if (lo > wanted.lo[d]) wanted.lo[d] = (CeedInt)lo;
    if (hi < wanted.hi[d]) wanted.hi[d] = (CeedInt)hi;
  }
  for (CeedInt n = CeedBoxMapFind(f->map, &wanted, &found); n-- > 0;) {
    CeedBox region = BoxMeet(&wanted, &f->boxes[found[n]]);
    for (int d = 0; d < region.dim; d++) {
      region.lo[d] = (CeedInt)(region.lo[d] + by[d]);
      region.hi[d] = (CeedInt)(region.hi[d] + by[d]);
    }
    FillOutside(CeedMultiFabLocal(f->mf, found[n]), to, region, by);
  }
}

static int64_t CeilDivide(int64_t number, int64_t by) { return number / by + (number % by > 0); }

/* The images of the boxes that reach a fab: from the far ones to the boxes themselves. */
static void FillFab(const Filling *f, CeedInt local) {
  const CeedBox *whole = &CeedMultiFabLocal(f->mf, local)->shape.whole;
  int64_t first[3] = {0, 0, 0}, last[3] = {0, 0, 0}, none[3] = {0, 0, 0}, by[3], k[3];

  for (int d = 0; d < whole->dim; d++) {
    if (!f->period[d]) continue;
    first[d] = CeilDivide((int64_t)whole->lo[d] - f->hull.hi[d], f->period[d]);
    last[d] = -CeilDivide((int64_t)f->hull.lo[d] - whole->hi[d], f->period[d]);
  }
  for (k[2] = first[2]; k[2] <= last[2]; k[2]++) {
    for (k[1] = first[1]; k[1] <= last[1]; k[1]++) {
      for (k[0] = first[0]; k[0] <= last[0]; k[0]++) {
        for (int d = 0; d < 3; d++) by[d] = k[d] * f->period[d];
        if (k[0] || k[1] || k[2]) FillFromImage(f, local, by);
      }
    }
  }
  FillFromImage(f, local, none);
}

/* Images of cells that overlap the cells themselves would be a contradiction; nodes share one. */
static int CheckPeriod(CeedMultiFab mf, const CeedBox *hull, const CeedInt *period) {
  char text[CEED_BOX_TEXT];

  for (int d = 0; d < hull->dim; d++) {
    CeedSize cells = BoxLength(hull, d) - (hull->centring >> d & 1);
    CeedCheck(period[d] == 0 || (period[d] > 0 && period[d] >= cells), mf->base.ceed,
              CEED_ERROR_DIMENSION,
              "The period %" PRId32 " of %c is shorter than the boxes' %s, and not 0", period[d],
              "xyz"[d], BoxText(hull, text));
  }
  return CEED_ERROR_SUCCESS;
}

static int BeginFilling(CeedMultiFab mf, const CeedInt *period, Filling *f) {
  CeedInt num_local = mf->list.num_local;

  *f = (Filling){.mf = mf};
  CeedCall(CeedMultiFabGetHull(mf, &f->hull));
  for (int d = 0; period && d < f->hull.dim; d++) f->period[d] = period[d];
  CeedCall(CheckPeriod(mf, &f->hull, f->period));
  CeedCall(CeedAllocate(mf->base.ceed, num_local, sizeof(CeedBox), &f->boxes));
  for (CeedInt i = 0; i < num_local; i++) f->boxes[i] = CeedMultiFabLocal(mf, i)->shape.valid;
  return CeedBoxMapCreate(mf->base.ceed, num_local, f->boxes, &f->map);
}

static void EndFilling(Filling *f) {
  CeedBoxMapDestroy(f->map);
  free(f->boxes);
}

int CeedMultiFabFillGhosts(CeedMultiFab mf, const CeedInt *period) {
  CeedVectorList vectors;
  Filling f;
  int code;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  if (!mf->list.num_boxes) return CEED_ERROR_SUCCESS;
  code = BeginFilling(mf, period, &f);
  if (!code) code = Acquire(mf, ACCESS_WRITE, "FillGhosts", &vectors);
  if (!code) {
    for (CeedInt i = 0; i < mf->list.num_local; i++) FillFab(&f, i);
    code = Release(&vectors, ACCESS_WRITE);
  }
  EndFilling(&f);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Setting and copying
// ------------------------------------------------------------------------------------------------

int CeedMultiFabSetValue(CeedMultiFab mf, CeedScalar value) {
  CeedVectorList vectors;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(Acquire(mf, ACCESS_REPLACE, "SetValue", &vectors));
  for (CeedInt i = 0; i < mf->list.num_local; i++) {
    CeedFab fab = CeedMultiFabLocal(mf, i);
    CeedEntriesSet(fab->shape.lengths, value, EntryOf(fab, fab->first), fab->shape.strides);
  }
  return Release(&vectors, ACCESS_REPLACE);
}

static int CheckAlike(CeedMultiFab mf, const CeedBox *box, CeedInt num_comp) {
  if (mf->list.num_boxes) CeedCall(CeedBoxCheckKind(mf->base.ceed, &mf->list.boxes[0], box));
  CeedCheck(mf->list.num_comp == num_comp, mf->base.ceed, CEED_ERROR_DIMENSION,
            "A MultiFab of %" PRId32 " components, and %" PRId32, mf->list.num_comp, num_comp);
  return CEED_ERROR_SUCCESS;
}

static void CopyFound(const Filling *f, CeedFab to) {
  const int64_t none[3] = {0, 0, 0};
  const CeedInt *found;

  for (CeedInt n = CeedBoxMapFind(f->map, &to->shape.valid, &found); n-- > 0;) {
    CeedBox region = BoxMeet(&to->shape.valid, &f->boxes[found[n]]);
    CopyShifted(CeedMultiFabLocal(f->mf, found[n]), to, &region, none);
  }
}

static int CopyAll(const Filling *f, CeedMultiFab mf_copy) {
  CeedVectorList from, to;
  int code;

  CeedCall(Acquire(f->mf, ACCESS_READ, "Copy", &from));
  code = Acquire(mf_copy, ACCESS_WRITE, "Copy", &to);
  if (code) {
    Cancel(&from, from.count, ACCESS_READ);
    return code;
  }
  for (CeedInt i = 0; i < mf_copy->list.num_local; i++) CopyFound(f, CeedMultiFabLocal(mf_copy, i));
  (void)Release(&from, ACCESS_READ);
  return Release(&to, ACCESS_WRITE);
}

int CeedMultiFabCopy(CeedMultiFab mf, CeedMultiFab mf_copy) {
  Filling f;
  int code;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  CeedCall(CeedObjectCheck(mf_copy, CEED_KIND_MULTIFAB));
  if (mf == mf_copy || !mf->list.num_boxes || !mf_copy->list.num_boxes) return CEED_ERROR_SUCCESS;
  CeedCall(CheckAlike(mf, &mf_copy->list.boxes[0], mf_copy->list.num_comp));
  code = BeginFilling(mf, NULL, &f);
  if (!code) code = CopyAll(&f, mf_copy);
  EndFilling(&f);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Gathering
// ------------------------------------------------------------------------------------------------

static void GatherRegion(CeedFab from, CeedBox region, CeedFab to, CeedInt8 mark, CeedInt8 *cover) {
  const int64_t none[3] = {0, 0, 0};
  const CeedBox *whole = &to->shape.whole;

  region = BoxMeet(&region, whole);
  if (!BoxHasIndices(&region)) return;
  CopyShifted(from, to, &region, none);
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
  CeedCall(Acquire(mf, ACCESS_READ, "Gather", &vectors));
  code = CeedVectorAcquireWrite(fab->vec, CEED_MEM_HOST, CeedFabKeeps(fab, true), &data, "Gather");
  if (code) {
    Cancel(&vectors, vectors.count, ACCESS_READ);
    return code;
  }
  CeedEntriesSet(fab->shape.lengths, fill, CeedEntryAt(data, fab->first), fab->shape.strides);
  if (cover) {
    memset(cover, CEED_COVER_NONE, (size_t)(fab->shape.count / fab->shape.num_comp));
  }
  GatherAll(mf, with_ghosts, fab, cover);
  (void)Release(&vectors, ACCESS_READ);
  return CeedVectorReleaseWrite(fab->vec);
}
