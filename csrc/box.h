// Boxes inside the library, where both bounds and centrings are known to be sound.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_BOX_H
#define CEEDLIKE_BOX_H

#include "impl.h"

enum { CEED_MAX_BOX_DIM = 3 };

/* Check a box of the caller, and clear what stands in directions that are not there. */
int CeedBoxNormalize(Ceed ceed, CeedBox *box);

/* Of one kind are boxes of as many directions and of one centring. */
int CeedBoxCheckKind(Ceed ceed, const CeedBox *a, const CeedBox *b);

const char *BoxText(const CeedBox *box, char text[CEED_BOX_TEXT]);

/* How many indices a direction has: at most 2^32. */
static inline CeedSize BoxLength(const CeedBox *box, int d) {
  if (d >= box->dim) return 1;
  return box->hi[d] < box->lo[d] ? 0 : (CeedSize)box->hi[d] - box->lo[d] + 1;
}

static inline bool BoxHasIndices(const CeedBox *box) {
  for (int d = 0; d < box->dim; d++) {
    if (box->hi[d] < box->lo[d]) return false;
  }
  return true;
}

/* What two boxes of one kind have in common. */
static inline CeedBox BoxMeet(const CeedBox *a, const CeedBox *b) {
  CeedBox both = *a;

  for (int d = 0; d < a->dim; d++) {
    both.lo[d] = CeedIntMax(a->lo[d], b->lo[d]);
    both.hi[d] = CeedIntMin(a->hi[d], b->hi[d]);
  }
  return both;
}

/* A box moved to where CeedInt holds it. */
static inline CeedBox BoxShifted(const CeedBox *box, const int64_t by[3]) {
  CeedBox shifted = *box;

  for (int d = 0; d < box->dim; d++) {
    shifted.lo[d] = (CeedInt)(box->lo[d] + by[d]);
    shifted.hi[d] = (CeedInt)(box->hi[d] + by[d]);
  }
  return shifted;
}

/* Make a direction empty, at its lower bound or next to it. */
static inline void BoxMakeEmpty(CeedBox *box, int d, CeedInt lo) {
  box->lo[d] = CeedIntMax(lo, -INT32_MAX);
  box->hi[d] = box->lo[d] - 1;
}

static inline CeedBox BoxHull(const CeedBox *a, const CeedBox *b) {
  CeedBox hull = *a;

  if (!BoxHasIndices(a)) return *b;
  if (!BoxHasIndices(b)) return *a;
  for (int d = 0; d < a->dim; d++) {
    hull.lo[d] = CeedIntMin(a->lo[d], b->lo[d]);
    hull.hi[d] = CeedIntMax(a->hi[d], b->hi[d]);
  }
  return hull;
}

static inline bool BoxIsEqual(const CeedBox *a, const CeedBox *b) {
  bool is_equal = a->dim == b->dim && a->centring == b->centring;

  for (int d = 0; is_equal && d < a->dim; d++) {
    is_equal = a->lo[d] == b->lo[d] && a->hi[d] == b->hi[d];
  }
  return is_equal;
}

#endif
