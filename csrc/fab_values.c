// Fabs: setting, copying and describing what is in them.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"

// ------------------------------------------------------------------------------------------------
// Entries in memory
// ------------------------------------------------------------------------------------------------

/* Axes that follow each other in both memories, as one. */
typedef struct {
  int count;
  CeedSize lengths[4], from[4], to[4];
} Axes;

static Axes Join(const CeedSize lengths[4], const CeedSize from[4], const CeedSize to[4]) {
  Axes axes = {.count = 0};

  for (int i = 0; i < 4; i++) {
    int last = axes.count - 1;
    if (lengths[i] == 1) continue;
    if (last >= 0 && from[i] == axes.from[last] * axes.lengths[last] &&
        to[i] == axes.to[last] * axes.lengths[last]) {
      axes.lengths[last] *= lengths[i];
    } else {
      axes.lengths[axes.count] = lengths[i];
      axes.from[axes.count] = from[i];
      axes.to[axes.count++] = to[i];
    }
  }
  return axes;
}

static void CopyLine(CeedSize length, const CeedScalar *from, CeedSize from_step, CeedScalar *to,
                     CeedSize to_step) {
  if (from_step == 1 && to_step == 1) {
    memcpy(to, from, (size_t)length * sizeof *to);
    return;
  }
  for (CeedSize i = 0; i < length; i++) to[i * to_step] = from[i * from_step];
}

static void CopyAxes(const Axes *axes, int axis, const CeedScalar *from, CeedScalar *to) {
  if (axis < 0) {
    *to = *from;
  } else if (axis == 0) {
    CopyLine(axes->lengths[0], from, axes->from[0], to, axes->to[0]);
  } else {
    for (CeedSize i = 0; i < axes->lengths[axis]; i++) {
      CopyAxes(axes, axis - 1, from + i * axes->from[axis], to + i * axes->to[axis]);
    }
  }
}

static bool HasNone(const CeedSize lengths[4]) {
  return !lengths[0] || !lengths[1] || !lengths[2] || !lengths[3];
}

void CeedEntriesCopy(const CeedSize lengths[4], const CeedScalar *from,
                     const CeedSize from_strides[4], CeedScalar *to, const CeedSize to_strides[4]) {
  Axes axes = Join(lengths, from_strides, to_strides);

  if (!HasNone(lengths)) CopyAxes(&axes, axes.count - 1, from, to);
}

void CeedEntriesSet(const CeedSize lengths[4], CeedScalar value, CeedScalar *to,
                    const CeedSize to_strides[4]) {
  const CeedSize still[4] = {0, 0, 0, 0};
  Axes axes = Join(lengths, still, to_strides);

  if (!HasNone(lengths)) CopyAxes(&axes, axes.count - 1, &value, to);
}

// ------------------------------------------------------------------------------------------------
// Setting and copying
// ------------------------------------------------------------------------------------------------

static bool IsAll(CeedFab fab, const CeedFabPart *part) {
  return !memcmp(part->lengths, fab->shape.lengths, sizeof part->lengths);
}

int CeedFabSetValue(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                    CeedScalar value) {
  CeedFabPart part;
  CeedScalar *data;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedFabSelect(fab, region, comp, num_comp, &part));
  CeedCall(CeedVectorAcquireWrite(fab->vec, CEED_MEM_HOST, CeedFabKeeps(fab, IsAll(fab, &part)),
                                  &data, "SetValue"));
  CeedEntriesSet(part.lengths, value, CeedEntryAt(data, part.first), fab->shape.strides);
  return CeedVectorReleaseWrite(fab->vec);
}

/* From the first to the last of some entries. */
static CeedSize ReachOf(const CeedSize lengths[4], const CeedSize strides[4]) {
  CeedSize reach = 1;

  for (int i = 0; i < 4; i++) reach += (lengths[i] - 1) * strides[i];
  return reach;
}

static bool Overlaps(const CeedSize lengths[4], const CeedScalar *a, const CeedSize a_strides[4],
                     const CeedScalar *b, const CeedSize b_strides[4]) {
  return a < b + ReachOf(lengths, b_strides) && b < a + ReachOf(lengths, a_strides);
}

/* By way of memory apart, where that of the two fabs overlaps. */
static int CopyEntries(Ceed ceed, const CeedSize lengths[4], const CeedScalar *from,
                       const CeedSize from_strides[4], CeedScalar *to,
                       const CeedSize to_strides[4]) {
  CeedSize strides[4], count = 1;
  CeedScalar *apart;

  if (HasNone(lengths)) return CEED_ERROR_SUCCESS;
  if (!Overlaps(lengths, from, from_strides, to, to_strides)) {
    CeedEntriesCopy(lengths, from, from_strides, to, to_strides);
    return CEED_ERROR_SUCCESS;
  }
  for (int i = 0; i < 4; i++) {
    strides[i] = count;
    count *= lengths[i];
  }
  CeedCall(CeedAllocate(ceed, count, sizeof *apart, &apart));
  CeedEntriesCopy(lengths, from, from_strides, apart, strides);
  CeedEntriesCopy(lengths, apart, strides, to, to_strides);
  free(apart);
  return CEED_ERROR_SUCCESS;
}

/* The parts of a region that both fabs have, or none. */
static int SelectBoth(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                      CeedFab fab_copy, CeedInt copy_comp, CeedFabPart *from, CeedFabPart *to) {
  CeedBox box = region ? *region : fab->shape.whole;

  CeedCall(CeedBoxNormalize(fab->base.ceed, &box));
  CeedCall(CeedBoxCheckKind(fab->base.ceed, &box, &fab->shape.whole));
  CeedCall(CeedBoxCheckKind(fab->base.ceed, &box, &fab_copy->shape.whole));
  box = BoxMeet(&box, &fab->shape.whole);
  box = BoxMeet(&box, &fab_copy->shape.whole);
  CeedCall(CeedFabSelect(fab, &box, comp, num_comp, from));
  return CeedFabSelect(fab_copy, &box, copy_comp, num_comp, to);
}

/* Where both fabs have one vector, its writer reads, too. */
int CeedFabCopy(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                CeedFab fab_copy, CeedInt copy_comp) {
  CeedFabPart from, to;
  const CeedScalar *source;
  CeedScalar *data;
  int code;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedObjectCheck(fab_copy, CEED_KIND_FAB));
  CeedCall(SelectBoth(fab, region, comp, num_comp, fab_copy, copy_comp, &from, &to));
  bool is_one = fab->vec == fab_copy->vec, keep = is_one || !IsAll(fab_copy, &to);
  CeedCall(CeedVectorAcquireWrite(fab_copy->vec, CEED_MEM_HOST, CeedFabKeeps(fab_copy, !keep),
                                  &data, "Copy"));
  source = data;
  code = is_one ? 0 : CeedVectorAcquireRead(fab->vec, CEED_MEM_HOST, &source, "Copy");
  if (!code) {
    code = CopyEntries(fab->base.ceed, from.lengths, CeedEntryAt(source, from.first),
                       fab->shape.strides, CeedEntryAt(data, to.first), fab_copy->shape.strides);
    if (!is_one) CeedVectorReleaseRead(fab->vec);
  }
  if (code) {
    CeedVectorCancelWrite(fab_copy->vec);
    return code;
  }
  return CeedVectorReleaseWrite(fab_copy->vec);
}

// ------------------------------------------------------------------------------------------------
// Describing
// ------------------------------------------------------------------------------------------------

int CeedFabView(CeedFab fab, FILE *stream) {
  const CeedFabShape *shape;
  char valid[CEED_BOX_TEXT], whole[CEED_BOX_TEXT];
  bool written;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedStreamCheck(fab->base.ceed, stream));
  shape = &fab->shape;
  written = fprintf(stream,
                    "CeedFab %s\n  with ghosts: %s\n  components:  %" PRId32 " from %" PRId32
                    "\n  strides:     (%td, %td, %td, %td)\n",
                    BoxText(&shape->valid, valid), BoxText(&shape->whole, whole), shape->num_comp,
                    shape->comp_base, shape->strides[0], shape->strides[1], shape->strides[2],
                    shape->strides[3]) > 0;
  CeedCheck(written, fab->base.ceed, CEED_ERROR_MINOR, "View: the stream can't be written");
  return CEED_ERROR_SUCCESS;
}
