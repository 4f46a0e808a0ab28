// MultiFabs: ghost cells from the valid cells of neighbours and of periodic images. Which come from
// which is found out once, and kept until a fab or the period is another one.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

/* Ghost cells of one fab, and the cells of another that they are copies of. */
typedef struct {
  CeedInt from, to; /* local fabs */
  CeedSize source, target;
  CeedSize lengths[4];
} Patch;

struct CeedGhostPlan_private {
  CeedInt period[3];
  uint64_t *replaced; /* of each local fab, when this was found out */
  CeedSize count, room;
  Patch *patches;
};

void CeedGhostPlanDestroy(CeedGhostPlan plan) {
  if (!plan) return;
  free(plan->replaced);
  free(plan->patches);
  free(plan);
}

// ------------------------------------------------------------------------------------------------
// Finding out
// ------------------------------------------------------------------------------------------------

typedef struct {
  CeedMultiFab mf;
  CeedBoxTree tree;
  CeedBox hull;
  CeedGhostPlan plan;
} Search;

static int MakeRoom(Ceed ceed, CeedGhostPlan plan) {
  CeedSize room = plan->room ? 2 * plan->room : 64;
  Patch *patches;

  if (plan->count < plan->room) return CEED_ERROR_SUCCESS;
  patches = realloc(plan->patches, (size_t)room * sizeof *patches);
  CeedCheck(patches, ceed, CEED_ERROR_MAJOR, "Out of memory: %td regions of ghost cells", room);
  plan->patches = patches;
  plan->room = room;
  return CEED_ERROR_SUCCESS;
}

/* A region of a fab, whose indices are `by` less in another one, from there. */
static int AddPatch(const Search *s, CeedInt from, CeedInt to, const CeedBox *region,
                    const int64_t by[3]) {
  const int64_t back[3] = {-by[0], -by[1], -by[2]};
  CeedBox there = BoxShifted(region, back);
  CeedFabPart source = CeedFabPartOf(CeedMultiFabLocal(s->mf, from), &there);
  CeedFabPart target = CeedFabPartOf(CeedMultiFabLocal(s->mf, to), region);
  Patch patch = {from, to, source.first, target.first, {0}};

  memcpy(patch.lengths, target.lengths, sizeof patch.lengths);
  CeedCall(MakeRoom(s->mf->base.ceed, s->plan));
  s->plan->patches[s->plan->count++] = patch;
  return CEED_ERROR_SUCCESS;
}

/* What is outside the valid box: a slab below and one above it in each direction in turn. */
static int AddOutside(const Search *s, CeedInt from, CeedInt to, CeedBox region,
                      const int64_t by[3]) {
  const CeedBox *valid = &CeedMultiFabLocal(s->mf, to)->shape.valid;

  for (int d = 0; d < region.dim; d++) {
    CeedBox slab = region;
    if (region.lo[d] < valid->lo[d]) {
      slab.hi[d] = CeedIntMin(region.hi[d], valid->lo[d] - 1);
      CeedCall(AddPatch(s, from, to, &slab, by));
      slab.hi[d] = region.hi[d];
      region.lo[d] = valid->lo[d];
    }
    if (region.hi[d] > valid->hi[d]) {
      slab.lo[d] = CeedIntMax(slab.lo[d], valid->hi[d] + 1);
      CeedCall(AddPatch(s, from, to, &slab, by));
      region.hi[d] = valid->hi[d];
    }
    if (region.hi[d] < region.lo[d]) break;
  }
  return CEED_ERROR_SUCCESS;
}

/* From the valid boxes that are `by` away; the first of them in the list last, so that it counts. */
static int AddImage(const Search *s, CeedInt to, const int64_t by[3]) {
  const CeedBox *whole = &CeedMultiFabLocal(s->mf, to)->shape.whole;
  CeedBox wanted = s->hull;
  const CeedInt *found;

  for (int d = 0; d < wanted.dim; d++) {
    int64_t lo = whole->lo[d] - by[d], hi = whole->hi[d] - by[d];
    if (hi < wanted.lo[d] || lo > wanted.hi[d]) return CEED_ERROR_SUCCESS;
    if (lo > wanted.lo[d]) wanted.lo[d] = (CeedInt)lo;
    if (hi < wanted.hi[d]) wanted.hi[d] = (CeedInt)hi;
  }
  for (CeedInt n = CeedBoxTreeFind(s->tree, &wanted, &found); n-- > 0;) {
    CeedBox region = BoxMeet(&wanted, &CeedMultiFabLocal(s->mf, found[n])->shape.valid);
    CeedCall(AddOutside(s, found[n], to, BoxShifted(&region, by), by));
  }
  return CEED_ERROR_SUCCESS;
}

static int64_t CeilDivide(int64_t number, int64_t by) { return number / by + (number % by > 0); }

/* The images of the boxes that reach a fab: from the far ones to the boxes themselves. */
static int AddFab(const Search *s, CeedInt to) {
  const CeedBox *whole = &CeedMultiFabLocal(s->mf, to)->shape.whole;
  const CeedInt *period = s->plan->period;
  int64_t first[3] = {0, 0, 0}, last[3] = {0, 0, 0}, none[3] = {0, 0, 0}, by[3], k[3];

  for (int d = 0; d < whole->dim; d++) {
    if (!period[d]) continue;
    first[d] = CeilDivide((int64_t)whole->lo[d] - s->hull.hi[d], period[d]);
    last[d] = -CeilDivide((int64_t)s->hull.lo[d] - whole->hi[d], period[d]);
  }
  for (k[2] = first[2]; k[2] <= last[2]; k[2]++) {
    for (k[1] = first[1]; k[1] <= last[1]; k[1]++) {
      for (k[0] = first[0]; k[0] <= last[0]; k[0]++) {
        for (int d = 0; d < 3; d++) by[d] = k[d] * period[d];
        if (k[0] || k[1] || k[2]) CeedCall(AddImage(s, to, by));
      }
    }
  }
  return AddImage(s, to, none);
}

static int AddAll(Search *s) {
  CeedMultiFab mf = s->mf;
  CeedInt num_local = mf->list.num_local;

  CeedCall(CeedAllocate(mf->base.ceed, num_local, sizeof *s->plan->replaced, &s->plan->replaced));
  CeedCall(CeedMultiFabTree(mf, &s->tree));
  for (CeedInt i = 0; i < num_local; i++) {
    s->plan->replaced[i] = CeedMultiFabLocal(mf, i)->replaced;
    CeedCall(AddFab(s, i));
  }
  return CEED_ERROR_SUCCESS;
}

/* Images of cells that overlap the cells themselves would be a contradiction; nodes share one. */
static int CheckPeriod(Ceed ceed, const CeedBox *hull, const CeedInt period[3]) {
  char text[CEED_BOX_TEXT];

  for (int d = 0; d < hull->dim; d++) {
    CeedSize cells = BoxLength(hull, d) - (hull->centring >> d & 1);
    CeedCheck(period[d] == 0 || (period[d] > 0 && period[d] >= cells), ceed, CEED_ERROR_DIMENSION,
              "The period %" PRId32 " of %c is shorter than the boxes' %s, and not 0", period[d],
              "xyz"[d], BoxText(hull, text));
  }
  return CEED_ERROR_SUCCESS;
}

static int MakePlan(CeedMultiFab mf, const CeedBox *hull, const CeedInt period[3],
                    CeedGhostPlan *plan) {
  Search s = {.mf = mf, .hull = *hull};
  int code;

  CeedCall(CeedAllocate(mf->base.ceed, 1, sizeof *s.plan, &s.plan));
  memcpy(s.plan->period, period, sizeof s.plan->period);
  code = AddAll(&s);
  CeedBoxTreeDestroy(s.tree);
  if (code) {
    CeedGhostPlanDestroy(s.plan);
    return code;
  }
  *plan = s.plan;
  return CEED_ERROR_SUCCESS;
}

static bool IsCurrent(CeedMultiFab mf, const CeedInt period[3]) {
  CeedGhostPlan plan = mf->list.plan;
  bool is_current = plan && !memcmp(plan->period, period, sizeof plan->period);

  for (CeedInt i = 0; is_current && i < mf->list.num_local; i++) {
    is_current = plan->replaced[i] == CeedMultiFabLocal(mf, i)->replaced;
  }
  return is_current;
}

static int UpdatePlan(CeedMultiFab mf, const CeedBox *hull, const CeedInt period[3]) {
  CeedGhostPlan plan;

  if (IsCurrent(mf, period)) return CEED_ERROR_SUCCESS;
  CeedCall(MakePlan(mf, hull, period, &plan));
  CeedGhostPlanDestroy(mf->list.plan);
  mf->list.plan = plan;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Filling
// ------------------------------------------------------------------------------------------------

static void Fill(CeedMultiFab mf, const Patch *patch) {
  CeedFab from = CeedMultiFabLocal(mf, patch->from), to = CeedMultiFabLocal(mf, patch->to);

  CeedEntriesCopy(patch->lengths, CeedHostEntry(from, patch->source), from->shape.strides,
                  CeedHostEntry(to, patch->target), to->shape.strides);
}

/* Who has the writer's access to all fabs is alone, with the plan, too. */
int CeedMultiFabFillGhosts(CeedMultiFab mf, const CeedInt *period) {
  CeedInt periods[3] = {0, 0, 0};
  CeedVectorList vectors;
  CeedBox hull;
  int code;

  CeedCall(CeedObjectCheck(mf, CEED_KIND_MULTIFAB));
  if (!mf->list.num_boxes) return CEED_ERROR_SUCCESS;
  for (int d = 0; period && d < mf->list.boxes[0].dim; d++) periods[d] = period[d];
  CeedCall(CeedMultiFabGetHull(mf, &hull));
  CeedCall(CheckPeriod(mf->base.ceed, &hull, periods));
  if (!mf->list.num_local) return CEED_ERROR_SUCCESS;
  CeedCall(CeedVectorListAcquire(mf->base.ceed, mf->list.num_local, mf->list.fabs, FAB_WRITE,
                                 "FillGhosts", &vectors));
  code = UpdatePlan(mf, &hull, periods);
  if (code) {
    CeedVectorListCancel(&vectors, vectors.count, FAB_WRITE);
    return code;
  }
  for (CeedSize i = 0; i < mf->list.plan->count; i++) Fill(mf, &mf->list.plan->patches[i]);
  return CeedVectorListRelease(&vectors, FAB_WRITE);
}
