// Fabs: how the entries of a box lie in memory.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>

#include "fab.h"

int CeedGhostCheck(Ceed ceed, CeedInt dim, CeedGhost *ghost) {
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) {
    if (d >= dim) ghost->lo[d] = ghost->hi[d] = 0;
    CeedCheck(ghost->lo[d] >= 0 && ghost->hi[d] >= 0, ceed, CEED_ERROR_DIMENSION,
              "The ghost widths %" PRId32 " and %" PRId32 " of %c: none can be negative",
              ghost->lo[d], ghost->hi[d], "xyz"[d]);
  }
  return CEED_ERROR_SUCCESS;
}

static int CheckValid(Ceed ceed, const CeedBox *valid) {
  char text[CEED_BOX_TEXT];

  for (int d = 0; d < valid->dim; d++) {
    CeedCheck(valid->hi[d] >= (int64_t)valid->lo[d] - 1, ceed, CEED_ERROR_DIMENSION,
              "The valid box %s is less than empty in %c", BoxText(valid, text), "xyz"[d]);
  }
  return CEED_ERROR_SUCCESS;
}

/* Lengths, and the strides of compact memory, the first axis fastest. */
static int MakeCompact(Ceed ceed, CeedFabShape *shape) {
  CeedSize count = 1;
  char text[CEED_BOX_TEXT];
  bool fits = true;

  for (int i = 0; i < 4; i++) {
    shape->lengths[i] = i < 3 ? BoxLength(&shape->whole, i) : shape->num_comp;
    shape->strides[i] = count;
    if (__builtin_mul_overflow(count, shape->lengths[i], &count)) fits = false;
  }
  CeedCheck(fits && (size_t)count <= CEED_MAX_BYTES / sizeof(CeedScalar), ceed,
            CEED_ERROR_DIMENSION, "%" PRId32 " components of the box %s are more than memory holds",
            shape->num_comp, BoxText(&shape->whole, text));
  shape->count = shape->reach = count;
  return CEED_ERROR_SUCCESS;
}

int CeedFabShapeMake(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp,
                     CeedFabShape *shape) {
  CeedCall(CeedBoxNormalize(ceed, &box));
  CeedCall(CheckValid(ceed, &box));
  CeedCall(CeedGhostCheck(ceed, box.dim, &ghost));
  CeedCheck(num_comp >= 1, ceed, CEED_ERROR_DIMENSION,
            "%" PRId32 " components; there must be one at least", num_comp);
  *shape = (CeedFabShape){.valid = box, .ghost = ghost, .num_comp = num_comp};
  CeedCall(CeedBoxGrow(box, ghost, &shape->whole));
  return MakeCompact(ceed, shape);
}

/* Where there are other strides than those of compact memory: from the smallest to the largest each
   must step over all that the smaller ones reach. Axes of one entry have no stride. */
int CeedFabShapeSetStrides(Ceed ceed, const CeedSize strides[4], CeedFabShape *shape) {
  bool done[4] = {false}, sound = true;

  shape->reach = shape->count ? 1 : 0;
  for (int n = 0; n < 4 && shape->count; n++) {
    CeedSize step;
    int next = -1;
    for (int i = 0; i < 4; i++) {
      if (shape->lengths[i] > 1 && !done[i] && (next < 0 || strides[i] < strides[next])) next = i;
    }
    if (next < 0) break;
    done[next] = true;
    shape->strides[next] = strides[next];
    sound = sound && strides[next] >= shape->reach &&
            !__builtin_mul_overflow(shape->lengths[next] - 1, strides[next], &step) &&
            !__builtin_add_overflow(shape->reach, step, &shape->reach) &&
            (size_t)shape->reach <= CEED_MAX_BYTES / sizeof(CeedScalar);
  }
  CeedCheck(sound, ceed, CEED_ERROR_INCOMPATIBLE,
            "The strides (%td, %td, %td, %td) of a fab of lengths (%td, %td, %td, %td) are not "
            "positive, too large, or let entries share memory: copy the entries (CEED_COPY_VALUES)",
            strides[0], strides[1], strides[2], strides[3], shape->lengths[0], shape->lengths[1],
            shape->lengths[2], shape->lengths[3]);
  return CEED_ERROR_SUCCESS;
}

bool CeedFabShapeIsCompact(const CeedFabShape *shape) {
  CeedSize step = 1;

  for (int i = 0; i < 4; i++) {
    if (shape->lengths[i] > 1 && shape->strides[i] != step) return false;
    step *= shape->lengths[i];
  }
  return true;
}
