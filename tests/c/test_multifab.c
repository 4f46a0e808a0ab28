// MultiFabs: lists of boxes with owners, ghosts from neighbours and periodic images, one array of
// all, and redefinition under views.
// SPDX-License-Identifier: BSD-2-Clause
#include "fabs.h"

enum { MANY = 64 };

static CeedMultiFab MultiFabOf(CeedInt num_boxes, const CeedBox *boxes, CeedGhost ghost,
                               CeedInt num_comp) {
  CeedMultiFab mf = NULL;

  if (CeedMultiFabCreate(ceed, num_boxes, boxes, NULL, 0, ghost, num_comp, &mf)) return NULL;
  return mf;
}

static CeedInt BoxesOf(CeedMultiFab mf) {
  CeedInt count = -1;

  CeedMultiFabGetNumBoxes(mf, &count);
  return count;
}

static CeedBox BoxAt(CeedMultiFab mf, CeedInt index) {
  CeedBox box = {.dim = 1, .hi = {-1}};

  CeedMultiFabGetBox(mf, index, &box);
  return box;
}

static CeedFab FabAt(CeedMultiFab mf, CeedInt index) {
  CeedFab fab = NULL;

  CeedMultiFabGetFab(mf, index, &fab);
  return fab;
}

// Valid cells have the values of their indices, ghosts `ghost`.
static int FillValid(CeedMultiFab mf, CeedScalar ghost) {
  for (CeedInt i = 0; i < BoxesOf(mf); i++) {
    CeedFab fab = FabAt(mf, i);
    CeedScalar *array;
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, CompsOf(fab), ghost));
    ASSERT_OK(CeedFabGetArray(fab, CEED_MEM_HOST, &array));
    for (CeedInt n = 0; n < CompsOf(fab); n++) {
      EVERY_INDEX(at, ValidOf(fab)) array[PlaceOf(fab, at.index, n)] = ValueAt(at.index, n);
    }
    ASSERT_OK(CeedFabRestoreArray(fab, &array));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

// An L of three boxes that straddles 0; in one direction three boxes with a gap.
static CeedInt LShape(CeedInt dim, CeedBox boxes[3]) {
  boxes[0] = BoxOf(dim, -4, -3, -2, -1, 0, 0);
  boxes[1] = BoxOf(dim, 0, -3, -2, 4, 0, 0);
  boxes[2] = dim == 1 ? BoxOf(1, 7, 0, 0, 9, 0, 0) : BoxOf(dim, -4, 1, -2, -1, 4, 0);
  return 3;
}

// ------------------------------------------------------------------------------------------------
// Lists
// ------------------------------------------------------------------------------------------------

static int every_process_has_the_fabs_of_its_boxes(void) {
  const CeedInt owners[] = {1, 0, 1};
  CeedInt owner, count, index;
  CeedMultiFab mf = NULL;
  CeedFab fab = NULL;
  CeedBox boxes[3];

  LShape(2, boxes);
  ASSERT_OK(CeedMultiFabCreate(ceed, 3, boxes, owners, 1, ghosts, 2, &mf));
  ASSERT_EQ(BoxesOf(mf), 3);
  ASSERT_OK(CeedMultiFabGetNumLocal(mf, &count));
  ASSERT_EQ(count, 2);
  for (CeedInt i = 0; i < 3; i++) {
    ASSERT(IsSameBox(BoxAt(mf, i), boxes[i]));
    ASSERT_OK(CeedMultiFabGetOwner(mf, i, &owner));
    ASSERT_EQ(owner, owners[i]);
  }
  for (CeedInt i = 0; i < 2; i++) {
    ASSERT_OK(CeedMultiFabGetLocalIndex(mf, i, &index));
    ASSERT_EQ(index, 2 * i);
    fab = FabAt(mf, index);
    ASSERT(IsSameBox(ValidOf(fab), boxes[index]));
    ASSERT_EQ(CompsOf(fab), 2);
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabGetFab(mf, 1, &fab));
  ASSERT_SAYS("rank 0");
  ASSERT(!fab);
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int places_that_are_not_there_are_errors(void) {
  CeedBox boxes[3], box;
  CeedMultiFab mf;
  CeedFab fab = NULL;
  CeedInt number;

  LShape(1, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  for (int i = 0; i < 4; i++) {
    CeedInt index = ((CeedInt[]){-1, 3, INT32_MAX, INT32_MIN})[i];
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabGetBox(mf, index, &box));
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabGetOwner(mf, index, &number));
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabGetFab(mf, index, &fab));
    ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabGetLocalIndex(mf, index, &number));
  }
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int lists_that_cannot_be_are_errors(void) {
  CeedBox boxes[3];
  CeedMultiFab mf = NULL;

  LShape(2, boxes);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabCreate(ceed, -1, boxes, NULL, 0, ghosts, 1, &mf));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabCreate(ceed, 3, NULL, NULL, 0, ghosts, 1, &mf));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabCreate(ceed, 3, boxes, NULL, 0, ghosts, 0, &mf));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabCreate(ceed, 3, boxes, (const CeedInt[]){5, 5, 5},
                                                       0, (CeedGhost){{0, -1}, {0}}, 1, &mf));
  boxes[2].centring = 1;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabCreate(ceed, 3, boxes, NULL, 0, ghosts, 1, &mf));
  ASSERT_SAYS("centring");
  boxes[2] = BoxOf(1, 0, 0, 0, 1, 0, 0);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabCreate(ceed, 3, boxes, NULL, 0, ghosts, 1, &mf));
  boxes[2].dim = 0;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabCreate(ceed, 3, boxes, NULL, 0, ghosts, 1, &mf));
  boxes[2] = BoxOf(2, 0, 0, 0, INT32_MAX, INT32_MAX - 9, 0);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabCreate(ceed, 3, boxes, NULL, 0, ghosts, 1, &mf));
  ASSERT(!mf);
  return TEST_PASSED;
}

static int no_boxes_at_all_are_a_level_too(void) {
  CeedMultiFab mf = MultiFabOf(0, NULL, ghosts, 1), other = MultiFabOf(0, NULL, ghosts, 1);
  CeedFab fab = NULL;
  CeedBox hull;

  ASSERT(mf);
  ASSERT_OK(CeedMultiFabSetValue(mf, 1));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  ASSERT_OK(CeedMultiFabCopy(mf, other));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedMultiFabGetHull(mf, &hull));
  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 1, &fab));
  ASSERT_OK(CeedMultiFabGather(mf, true, 5, fab, NULL));
  EVERY_INDEX(at, WholeOf(fab)) ASSERT_NUMBER(EntryOf(fab, at.index, 0), 5);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedMultiFabDestroy(&other));
  return TEST_PASSED;
}

static int a_multifab_tells_what_it_was_made_with(void) {
  CeedBox boxes[3], hull;
  CeedInt level, ratio[3], number;
  CeedMultiFab mf, copy = NULL;
  CeedGhost ghost;
  Ceed context = NULL;

  LShape(3, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 2);
  ASSERT_OK(CeedMultiFabGetLevel(mf, &level, ratio));
  ASSERT_EQ(level, 0);
  ASSERT_EQ(ratio[2], 1);
  ASSERT_OK(CeedMultiFabSetLevel(mf, 2, (const CeedInt[]){2, 2, 4}));
  ASSERT_OK(CeedMultiFabGetLevel(mf, &level, ratio));
  ASSERT_EQ(level, 2);
  ASSERT_EQ(ratio[2], 4);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabSetLevel(mf, -1, ratio));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabSetLevel(mf, 0, (const CeedInt[]){2, 0, 4}));
  ASSERT_OK(CeedMultiFabGetNumComponents(mf, &number));
  ASSERT_EQ(number, 2);
  ASSERT_OK(CeedMultiFabGetRank(mf, &number));
  ASSERT_EQ(number, 0);
  ASSERT_OK(CeedMultiFabGetGhost(mf, &ghost));
  ASSERT_EQ(ghost.hi[1], 3);
  ASSERT_OK(CeedMultiFabGetHull(mf, &hull));
  ASSERT(IsSameBox(hull, BoxOf(3, -4, -3, -2, 4, 4, 0)));
  ASSERT_OK(CeedMultiFabGetCeed(mf, &context));
  ASSERT_SAME(context, CeedMultiFabReturnCeed(mf));
  ASSERT_OK(CeedDestroy(&context));
  ASSERT_OK(CeedMultiFabReferenceCopy(mf, &copy));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_EQ(BoxesOf(copy), 3);
  ASSERT_OK(CeedMultiFabDestroy(&copy));
  ASSERT_OK(CeedMultiFabDestroy(&copy));
  return TEST_PASSED;
}

static int a_multifab_is_described(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  ASSERT_OK(CeedMultiFabView(mf, stream));
  fclose(stream);
  ASSERT_HAS(text, "CeedMultiFab of level 0: 3 boxes");
  ASSERT_HAS(text, "((-4,1) (-1,4) (0,0)) of rank 0");
  free(text);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabView(mf, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabView(NULL, stdout));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Ghosts
// ------------------------------------------------------------------------------------------------

static bool InABox(CeedMultiFab mf, const CeedInt *index) {
  for (CeedInt i = 0; i < BoxesOf(mf); i++) {
    if (IsIn(BoxAt(mf, i), index)) return true;
  }
  return false;
}

// The index of the cell that a ghost cell is an image of: between the first cells of the hull and
// those one period further.
static void Unwrap(CeedBox hull, const CeedInt *period, const CeedInt *index, CeedInt *image) {
  for (int d = 0; d < 3; d++) {
    CeedInt from = d < hull.dim ? index[d] - hull.lo[d] : 0;
    image[d] = index[d];
    if (d < hull.dim && period[d]) {
      image[d] = hull.lo[d] + (from % period[d] + period[d]) % period[d];
    }
  }
}

// What brute force finds for every cell: its own value, that of its image, or the ghost's.
static int TestGhosts(CeedMultiFab mf, const CeedInt *period, CeedScalar ghost) {
  CeedBox hull;

  ASSERT_OK(CeedMultiFabGetHull(mf, &hull));
  for (CeedInt i = 0; i < BoxesOf(mf); i++) {
    CeedFab fab = FabAt(mf, i);
    const CeedScalar *array;
    ASSERT_OK(CeedFabGetArrayRead(fab, CEED_MEM_HOST, &array));
    for (CeedInt n = 0; n < CompsOf(fab); n++) {
      EVERY_INDEX(at, WholeOf(fab)) {
        CeedInt image[3];
        Unwrap(hull, period, at.index, image);
        if (InABox(mf, at.index)) memcpy(image, at.index, sizeof image);
        ASSERT_NUMBER(array[PlaceOf(fab, at.index, n)],
                      InABox(mf, image) ? ValueAt(image, n) : ghost);
      }
    }
    ASSERT_OK(CeedFabRestoreArrayRead(fab, &array));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int TestFilling(CeedInt count, const CeedBox *boxes, CeedGhost ghost, CeedInt ncomp,
                       const CeedInt *period) {
  CeedMultiFab mf = MultiFabOf(count, boxes, ghost, ncomp);

  ASSERT(mf);
  PASSES(FillValid(mf, -5));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, period));
  PASSES(TestGhosts(mf, period ? period : (const CeedInt[]){0, 0, 0}, -5));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int ghosts_are_filled_from_neighbours(void) {
  EVERY_KIND(dim, ncomp) {
    CeedBox boxes[3];
    LShape(dim, boxes);
    PASSES(TestFilling(3, boxes, ghosts, ncomp, NULL));
    PASSES(TestFilling(3, boxes, no_ghost, ncomp, NULL));
    PASSES(TestFilling(1, boxes, ghosts, ncomp, NULL));
  }
  return TEST_PASSED;
}

static int ghosts_are_filled_from_periodic_images(void) {
  static const CeedInt periods[][3] = {{0, 8, 3}, {14, 8, 3}, {14, 0, 0}, {15, 9, 0}, {20, 20, 20}};

  EVERY_KIND(dim, ncomp) {
    for (int i = 0; i < COUNT_OF(periods); i++) {
      CeedBox boxes[3];
      LShape(dim, boxes);
      PASSES(TestFilling(3, boxes, ghosts, ncomp, periods[i]));
    }
  }
  return TEST_PASSED;
}

static int ghosts_wider_than_a_period_see_several_images(void) {
  const CeedGhost wide = {{5, 4, 0}, {3, 7, 1}};

  for (CeedInt dim = 1; dim <= 3; dim++) {
    CeedBox box = BoxOf(dim, -1, 0, 2, 0, 1, 2);
    PASSES(TestFilling(1, &box, wide, 1, (const CeedInt[]){2, 2, 1}));
    PASSES(TestFilling(1, &box, wide, 3, (const CeedInt[]){3, 2, 0}));
  }
  return TEST_PASSED;
}

// Boxes of several sizes that tile a part of a domain, in no order.
static CeedInt ManyBoxes(CeedInt dim, uint64_t seed, CeedBox *boxes) {
  CeedInt count = 0;
  Walk walk = {.box = BoxOf(dim, -2, -2, -1, 2, 1, 1)};

  while (Next(&walk)) {
    CeedInt lo[3] = {4 * walk.index[0], 3 * walk.index[1], 2 * walk.index[2]}, hi[3];
    double dice = RandomUnit(&seed);
    for (int d = 0; d < 3; d++) hi[d] = lo[d] + 3 - d;
    if (dice < -0.6) continue;
    if (dice > 0.5) hi[0]--;
    if (dice > 0.8) lo[0]++;
    boxes[count++] = BoxOf(dim, lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
  }
  for (CeedInt i = count - 1; i > 0; i--) {
    CeedInt other = (CeedInt)((RandomUnit(&seed) + 1) / 2 * i);
    CeedBox box = boxes[i];
    boxes[i] = boxes[other];
    boxes[other] = box;
  }
  return count;
}

static int ghosts_of_many_boxes_are_what_brute_force_finds(void) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (uint64_t seed = 1; seed < 6; seed++) {
      CeedBox boxes[MANY];
      CeedInt count = ManyBoxes(dim, seed * 7919, boxes);
      PASSES(TestFilling(count, boxes, ghosts, 1, NULL));
      PASSES(TestFilling(count, boxes, ghosts, 1, (const CeedInt[]){20, 12, 6}));
    }
  }
  return TEST_PASSED;
}

// One box that is as long as all others together, along each direction.
static int ghosts_beside_a_long_box_are_what_brute_force_finds(void) {
  for (CeedInt dim = 2; dim <= 3; dim++) {
    for (int along = 0; along < dim; along++) {
      CeedBox boxes[17];
      for (CeedInt i = 0; i <= 16; i++) {
        CeedInt lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
        lo[along] = i < 16 ? i - 8 : -8;
        hi[along] = i < 16 ? i - 8 : 7;
        lo[(along + 1) % dim] = hi[(along + 1) % dim] = i < 16 ? 0 : 1;
        boxes[i] = BoxOf(dim, lo[0], lo[1], lo[2], hi[0], hi[1], hi[2]);
      }
      PASSES(TestFilling(17, boxes, ghosts, 1, NULL));
      PASSES(TestFilling(17, boxes, ghosts, 3, (const CeedInt[]){16, 16, 16}));
    }
  }
  return TEST_PASSED;
}

static int FillAndTest(CeedMultiFab mf, const CeedInt *period) {
  PASSES(FillValid(mf, -5));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, period));
  return TestGhosts(mf, period, -5);
}

// Whatever may have changed since the last filling: nothing, the period, memory, fabs, boxes.
static int each_filling_is_of_the_fabs_as_they_are(void) {
  const CeedInt none[3] = {0, 0, 0}, period[3] = {14, 9, 3};

  EVERY_KIND(dim, ncomp) {
    CeedBox boxes[3], others[MANY];
    CeedInt count = ManyBoxes(dim, 5, others);
    CeedMultiFab mf;
    CeedFab fab, wide;
    LShape(dim, boxes);
    mf = MultiFabOf(3, boxes, ghosts, ncomp);
    for (int i = 0; i < 2; i++) PASSES(FillAndTest(mf, none));
    for (int i = 0; i < 2; i++) PASSES(FillAndTest(mf, period));
    wide = FabOf(boxes[1], (CeedGhost){{3, 1, 2}, {0, 4, 1}}, ncomp);
    fab = FabAt(mf, 1);
    ASSERT_OK(CeedFabReplace(fab, wide, false));
    PASSES(FillAndTest(mf, period));
    ASSERT_OK(CeedFabDestroy(&wide));
    ASSERT_OK(CeedFabResize(fab, boxes[1], no_ghost, ncomp, false));
    PASSES(FillAndTest(mf, period));
    ASSERT_OK(CeedFabDestroy(&fab));
    wide = FabOf(boxes[0], (CeedGhost){{1, 4, 3}, {5, 0, 2}}, ncomp);
    ASSERT_OK(CeedMultiFabSetFab(mf, 0, wide, false));
    ASSERT_OK(CeedFabDestroy(&wide));
    PASSES(FillAndTest(mf, period));
    ASSERT_OK(CeedMultiFabRedefine(mf, count, others, NULL, 0, ghosts, ncomp, false));
    PASSES(FillAndTest(mf, none));
    ASSERT_OK(CeedMultiFabDestroy(&mf));
  }
  return TEST_PASSED;
}

static int a_refused_period_leaves_the_last_one(void) {
  const CeedInt none[3] = {0, 0, 0};
  CeedBox boxes[3];
  CeedMultiFab mf;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  PASSES(FillAndTest(mf, none));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabFillGhosts(mf, (const CeedInt[]){8, 8}));
  PASSES(FillAndTest(mf, none));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int boxes_at_the_ends_of_the_integers_are_neighbours(void) {
  const CeedInt m = INT32_MAX, l = INT32_MIN;
  const CeedGhost one = {{1}, {1}};
  CeedBox boxes[] = {BoxOf(1, l + 1, 0, 0, l + 3, 0, 0), BoxOf(1, l + 4, 0, 0, l + 5, 0, 0),
                     BoxOf(1, m - 3, 0, 0, m - 1, 0, 0)};
  CeedMultiFab mf = MultiFabOf(3, boxes, one, 1);
  CeedFab fab;

  for (CeedInt i = 0; i < 3; i++) {
    fab = FabAt(mf, i);
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, (CeedScalar)i));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  fab = FabAt(mf, 0);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){l}, 0), 0);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){l + 4}, 0), 1);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabFillGhosts(mf, (const CeedInt[]){m}));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// Nodes on shared faces are valid in both boxes: no valid node is written, and a ghost node that
// both have is the first one's.
static int valid_nodes_are_left_and_the_first_box_counts(void) {
  const CeedGhost one = {{1}, {1}};
  CeedBox boxes[3] = {BoxOf(1, 0, 0, 0, 4, 0, 0), BoxOf(1, 4, 0, 0, 8, 0, 0),
                      BoxOf(1, 5, 0, 0, 9, 0, 0)};
  CeedMultiFab mf;
  CeedFab fab;

  for (int i = 0; i < 3; i++) boxes[i].centring = 1;
  mf = MultiFabOf(3, boxes, one, 1);
  for (CeedInt i = 0; i < 3; i++) {
    fab = FabAt(mf, i);
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, (CeedScalar)(10 * i)));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  fab = FabAt(mf, 1);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){3}, 0), 0);   // of the first box
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){4}, 0), 10);  // its own
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){9}, 0), 20);  // of the last
  ASSERT_OK(CeedFabDestroy(&fab));
  fab = FabAt(mf, 2);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){4}, 0), 0);  // the first and the second have it
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, (const CeedInt[]){9}));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int the_first_box_of_the_list_counts_wherever_it_lies(void) {
  CeedBox boxes[3] = {BoxOf(1, 5, 0, 0, 9, 0, 0), BoxOf(1, 4, 0, 0, 8, 0, 0),
                      BoxOf(1, 0, 0, 0, 4, 0, 0)};
  CeedMultiFab mf;
  CeedFab fab;

  for (int i = 0; i < 3; i++) boxes[i].centring = 1;
  mf = MultiFabOf(3, boxes, (CeedGhost){{1}, {1}}, 1);
  for (CeedInt i = 0; i < 3; i++) {
    fab = FabAt(mf, i);
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, (CeedScalar)(10 + i)));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  fab = FabAt(mf, 2);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){5}, 0), 10);  // the first and the second have it
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int periods_that_boxes_do_not_fit_in_are_errors(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  PASSES(FillValid(mf, -5));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabFillGhosts(mf, (const CeedInt[]){8, 8}));
  ASSERT_SAYS("period 8 of x");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabFillGhosts(mf, (const CeedInt[]){9, -8}));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, (const CeedInt[]){9, 8}));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int a_refused_filling_writes_no_cell(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  CeedFab fab, empty = NULL;
  DLManagedTensorVersioned *lease;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  PASSES(FillValid(mf, -5));
  fab = FabAt(mf, 1);
  lease = ViewOf(fab, CEED_EXPORT_READ, NULL, 0, 1, CEED_ORDER_XYZN);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabFillGhosts(mf, NULL));
  ASSERT_SAYS("1 read lease");
  Release(lease);
  ASSERT_OK(CeedFabCreate(ceed, boxes[2], ghosts, 1, &empty));
  ASSERT_OK(CeedMultiFabSetFab(mf, 2, empty, false));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedMultiFabFillGhosts(mf, NULL));
  EVERY_INDEX(at, WholeOf(fab)) {
    ASSERT_NUMBER(EntryOf(fab, at.index, 0), IsIn(boxes[1], at.index) ? ValueAt(at.index, 0) : -5);
  }
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(&empty));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// The fabs of one level side by side in one vector, one with ghosts that differ from the others'.
static int fabs_that_share_a_vector_are_filled(void) {
  const CeedGhost one = {{1}, {1}}, two = {{2}, {2}};
  CeedBox boxes[] = {BoxOf(1, 0, 0, 0, 2, 0, 0), BoxOf(1, 3, 0, 0, 5, 0, 0)};
  CeedVector vec = Iota(12);
  CeedMultiFab mf = MultiFabOf(2, boxes, one, 1);
  CeedFab fab = NULL;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, boxes[0], one, 1, &fab));
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, false));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabCreateFromVector(vec, 5, NULL, boxes[1], two, 1, &fab));
  ASSERT_OK(CeedMultiFabSetFab(mf, 1, fab, false));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, (const CeedInt[]){6}));
  ASSERT_VALUES(vec, 9, 1, 2, 3, 7, 2, 3, 7, 8, 9, 1, 2);
  ASSERT_OK(CeedMultiFabSetValue(mf, 4));
  ASSERT_VALUES(vec, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// The other fab has a vector of its own, which it fills.
// One fab is the whole vector, the other lies inside of it, in either order.
static int setting_a_whole_vector_without_values_is_its_first_value(void) {
  const CeedGhost two = {{2}, {2}};

  for (CeedInt first = 0; first < 2; first++) {
    CeedBox boxes[] = {BoxOf(1, 0, 0, 0, 3, 0, 0), BoxOf(1, 4, 0, 0, 7, 0, 0)};
    CeedVector vec = NULL;
    CeedMultiFab mf = MultiFabOf(2, boxes, no_ghost, 1);
    ASSERT_OK(CeedVectorCreate(ceed, 8, &vec));
    for (CeedInt i = 0; i < 2; i++) {
      bool is_whole = i == first;
      CeedFab fab = NULL;
      ASSERT_OK(CeedFabCreateFromVector(vec, is_whole ? 0 : 2, NULL, boxes[i],
                                        is_whole ? two : no_ghost, 1, &fab));
      ASSERT_OK(CeedMultiFabSetFab(mf, i, fab, false));
      ASSERT_OK(CeedFabDestroy(&fab));
    }
    ASSERT_OK(CeedMultiFabSetValue(mf, 3));
    ASSERT_VALUES(vec, 3, 3, 3, 3, 3, 3, 3, 3);
    ASSERT_OK(CeedMultiFabDestroy(&mf));
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int setting_a_part_of_a_vector_without_values_is_an_error(void) {
  CeedBox boxes[] = {BoxOf(1, 0, 0, 0, 2, 0, 0), BoxOf(1, 3, 0, 0, 5, 0, 0)};
  CeedMultiFab mf = MultiFabOf(2, boxes, no_ghost, 1);
  CeedFab fab = NULL, other = FabAt(mf, 1);
  CeedVector vec = NULL;

  ASSERT_OK(CeedVectorCreate(ceed, 4, &vec));
  ASSERT_OK(CeedFabCreateFromVector(vec, 1, NULL, boxes[0], no_ghost, 1, &fab));
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, false));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedMultiFabSetValue(mf, 4));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedMultiFabSetValue(mf, 4));
  ASSERT_VALUES(vec, 1, 4, 4, 4);
  ASSERT_NUMBER(EntryOf(other, (const CeedInt[]){5}, 0), 4);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(&other));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// One array of all
// ------------------------------------------------------------------------------------------------

static int GatherAndTest(CeedMultiFab mf, CeedBox region, bool with_ghosts, CeedScalar ghost) {
  CeedInt ncomp;
  CeedInt8 *cover;
  CeedFab fab = NULL;
  CeedSize cell = 0;

  ASSERT_OK(CeedMultiFabGetNumComponents(mf, &ncomp));
  ASSERT_OK(CeedFabCreate(ceed, region, no_ghost, ncomp, &fab));
  cover = malloc((size_t)CountOf(region));
  ASSERT_OK(CeedMultiFabGather(mf, with_ghosts, 99, fab, cover));
  EVERY_INDEX(at, region) {
    bool is_ghost = false, is_valid = InABox(mf, at.index);
    for (CeedInt i = 0; i < BoxesOf(mf); i++) {
      is_ghost = is_ghost || (with_ghosts && IsIn(Grown(BoxAt(mf, i), ghosts), at.index));
    }
    ASSERT_EQ(cover[cell], is_valid   ? CEED_COVER_VALID
                           : is_ghost ? CEED_COVER_GHOST
                                      : CEED_COVER_NONE);
    for (CeedInt n = 0; n < ncomp; n++) {
      ASSERT_NUMBER(EntryOf(fab, at.index, n), is_valid   ? ValueAt(at.index, n)
                                               : is_ghost ? ghost
                                                          : 99);
    }
    cell++;
  }
  free(cover);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// Valid before ghost before fill value: holes stay holes, and no ghost hides a valid cell.
static int gathering_prefers_valid_cells_and_says_what_is_covered(void) {
  EVERY_KIND(dim, ncomp) {
    CeedBox boxes[3], hull;
    CeedMultiFab mf;
    LShape(dim, boxes);
    mf = MultiFabOf(3, boxes, ghosts, ncomp);
    PASSES(FillValid(mf, -8));
    ASSERT_OK(CeedMultiFabGetHull(mf, &hull));
    PASSES(GatherAndTest(mf, hull, false, -8));
    PASSES(GatherAndTest(mf, hull, true, -8));
    PASSES(GatherAndTest(mf, BoxOf(dim, -9, -1, -1, 20, 9, 9), true, -8));
    PASSES(GatherAndTest(mf, BoxOf(dim, 50, 50, 50, 51, 51, 51), true, -8));
    ASSERT_OK(CeedMultiFabDestroy(&mf));
  }
  return TEST_PASSED;
}

static int no_stale_ghost_gets_inside(void) {
  CeedBox boxes[MANY], hull;
  CeedInt count = ManyBoxes(3, 5, boxes);
  CeedMultiFab mf = MultiFabOf(count, boxes, ghosts, 1);
  CeedFab fab = NULL;

  PASSES(FillValid(mf, NAN));
  ASSERT_OK(CeedMultiFabGetHull(mf, &hull));
  ASSERT_OK(CeedFabCreate(ceed, hull, no_ghost, 1, &fab));
  ASSERT_OK(CeedMultiFabGather(mf, true, 0, fab, NULL));
  EVERY_INDEX(at, hull) {
    if (InABox(mf, at.index)) ASSERT_NUMBER(EntryOf(fab, at.index, 0), ValueAt(at.index, 0));
  }
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// All entries of the i-th fab of two are i + 1; the one of `index` in the gathered array.
static CeedScalar GatheredAt(const CeedBox *boxes, CeedGhost ghost, bool with_ghosts,
                             CeedInt index) {
  CeedMultiFab mf = MultiFabOf(2, boxes, ghost, 1);
  CeedBox hull = {0};
  CeedFab fab = NULL;
  CeedScalar value;

  for (CeedInt i = 0; i < 2; i++) {
    fab = FabAt(mf, i);
    CeedFabSetValue(fab, NULL, 0, 1, (CeedScalar)(i + 1));
    CeedFabDestroy(&fab);
  }
  CeedMultiFabGetHull(mf, &hull);
  CeedFabCreate(ceed, hull, no_ghost, 1, &fab);
  CeedMultiFabGather(mf, with_ghosts, -1, fab, NULL);
  value = EntryOf(fab, &index, 0);
  CeedFabDestroy(&fab);
  CeedMultiFabDestroy(&mf);
  return value;
}

static int of_gathered_nodes_and_ghosts_the_first_in_the_list_counts(void) {
  const CeedGhost one = {{1}, {1}};

  for (int first = 0; first < 2; first++) {
    CeedBox nodes[2], apart[2];
    nodes[first] = BoxOf(1, 0, 0, 0, 4, 0, 0);
    nodes[1 - first] = BoxOf(1, 4, 0, 0, 8, 0, 0);
    apart[first] = BoxOf(1, 0, 0, 0, 1, 0, 0);
    apart[1 - first] = BoxOf(1, 3, 0, 0, 4, 0, 0);
    for (int i = 0; i < 2; i++) nodes[i].centring = 1;
    ASSERT_NUMBER(GatheredAt(nodes, no_ghost, false, 4), 1);
    ASSERT_NUMBER(GatheredAt(nodes, no_ghost, false, 0), first + 1);
    ASSERT_NUMBER(GatheredAt(apart, one, true, 2), 1);
    ASSERT_NUMBER(GatheredAt(apart, one, true, 4), 2 - first);
    ASSERT_NUMBER(GatheredAt(apart, one, false, 2), -1);
  }
  return TEST_PASSED;
}

static int gathering_into_what_does_not_fit_is_an_error(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  CeedFab fab = NULL, own;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 2);
  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 2, &fab));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedMultiFabGather(mf, false, 0, fab, NULL));
  PASSES(FillValid(mf, 0));
  ASSERT_OK(CeedMultiFabGather(mf, false, 0, fab, NULL));
  own = FabAt(mf, 1);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabGather(mf, false, 0, own, NULL));
  ASSERT_OK(CeedFabDestroy(&own));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 1, &fab));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabGather(mf, false, 0, fab, NULL));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabCreate(ceed, ValidBox(3), ghosts, 2, &fab));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabGather(mf, false, 0, fab, NULL));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// What a regrid keeps: the valid cells that both lists have.
static int valid_cells_are_copied_to_another_list_of_boxes(void) {
  EVERY_KIND(dim, ncomp) {
    CeedBox boxes[3], others[MANY];
    CeedInt count = ManyBoxes(dim, 3, others);
    CeedMultiFab from, to;
    LShape(dim, boxes);
    from = MultiFabOf(3, boxes, ghosts, ncomp);
    to = MultiFabOf(count, others, ghosts, ncomp);
    PASSES(FillValid(from, NAN));
    ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedMultiFabCopy(from, to));
    ASSERT_OK(CeedMultiFabSetValue(to, 4));
    ASSERT_OK(CeedMultiFabCopy(from, to));
    for (CeedInt i = 0; i < count; i++) {
      CeedFab fab = FabAt(to, i);
      EVERY_INDEX(at, WholeOf(fab)) {
        bool is_both = IsIn(others[i], at.index) && InABox(from, at.index);
        ASSERT_NUMBER(EntryOf(fab, at.index, ncomp - 1),
                      is_both ? ValueAt(at.index, ncomp - 1) : 4);
      }
      ASSERT_OK(CeedFabDestroy(&fab));
    }
    ASSERT_OK(CeedMultiFabDestroy(&from));
    ASSERT_OK(CeedMultiFabDestroy(&to));
  }
  return TEST_PASSED;
}

// Memory that was put into the new list before: the old fab's, that of both in one vector.
static int fabs_of_both_lists_are_copied(void) {
  EVERY_KIND(dim, ncomp) {
    CeedBox boxes[3];
    CeedMultiFab from, to;
    LShape(dim, boxes);
    from = MultiFabOf(3, boxes, ghosts, ncomp);
    PASSES(FillValid(from, -5));
    to = MultiFabOf(2, boxes, no_ghost, ncomp);
    ASSERT_OK(CeedMultiFabSetValue(to, 4));
    for (CeedInt i = 0; i < 2; i++) {
      CeedFab fab = FabAt(from, i);
      if (i == 0) ASSERT_OK(CeedMultiFabSetFab(to, i, fab, false));
      ASSERT_OK(CeedFabDestroy(&fab));
    }
    ASSERT_OK(CeedMultiFabCopy(from, to));
    ASSERT_OK(CeedMultiFabCopy(to, from));
    for (CeedInt i = 0; i < 2; i++) {
      CeedFab fab = FabAt(to, i);
      EVERY_INDEX(at, ValidOf(fab)) {
        ASSERT_NUMBER(EntryOf(fab, at.index, ncomp - 1), ValueAt(at.index, ncomp - 1));
      }
      ASSERT_OK(CeedFabDestroy(&fab));
    }
    ASSERT_OK(CeedMultiFabDestroy(&from));
    ASSERT_OK(CeedMultiFabDestroy(&to));
  }
  return TEST_PASSED;
}

// The first in the list counts as it was before: the second box writes its node into the first fab.
static int a_fab_of_both_lists_counts_as_it_was(void) {
  CeedBox boxes[] = {BoxOf(1, 0, 0, 0, 4, 0, 0), BoxOf(1, 4, 0, 0, 8, 0, 0)};
  CeedMultiFab from, to;
  CeedFab fab;

  for (int i = 0; i < 2; i++) boxes[i].centring = 1;
  from = MultiFabOf(2, boxes, no_ghost, 1);
  to = MultiFabOf(2, boxes, no_ghost, 1);
  for (CeedInt i = 0; i < 2; i++) {
    fab = FabAt(from, i);
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, (CeedScalar)(i + 1)));
    ASSERT_OK(CeedMultiFabSetFab(to, i, fab, false));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  ASSERT_OK(CeedMultiFabCopy(from, to));
  fab = FabAt(to, 0);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){4}, 0), 1);
  ASSERT_OK(CeedFabDestroy(&fab));
  fab = FabAt(to, 1);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){4}, 0), 1);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){5}, 0), 2);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&from));
  ASSERT_OK(CeedMultiFabDestroy(&to));
  return TEST_PASSED;
}

static int lists_of_other_kinds_are_not_copied(void) {
  CeedBox boxes[3], line[3];
  CeedMultiFab mf, fewer, other;

  LShape(2, boxes);
  LShape(1, line);
  mf = MultiFabOf(3, boxes, ghosts, 2);
  fewer = MultiFabOf(3, boxes, ghosts, 1);
  other = MultiFabOf(3, line, ghosts, 2);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabCopy(mf, fewer));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedMultiFabCopy(mf, other));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedMultiFabDestroy(&fewer));
  ASSERT_OK(CeedMultiFabDestroy(&other));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Redefinition
// ------------------------------------------------------------------------------------------------

static int redefining_under_views_is_an_error_that_counts_them(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  CeedFab first, last;
  DLManagedTensorVersioned *views[3];
  uint64_t generation;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  PASSES(FillValid(mf, 0));
  first = FabAt(mf, 0);
  last = FabAt(mf, 2);
  views[0] = WholeView(first);
  views[1] = ViewOf(first, CEED_EXPORT_READ, NULL, 0, 1, CEED_ORDER_XYZN);
  ASSERT(!views[1]);
  views[1] = ViewOf(first, CEED_EXPORT_SHARED, &boxes[0], 0, 1, CEED_ORDER_NZYX);
  views[2] = ViewOf(last, CEED_EXPORT_READ, NULL, 0, 1, CEED_ORDER_XYZN);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabRedefine(mf, 1, boxes, NULL, 0, no_ghost, 1, false));
  ASSERT_SAYS("3 views of the fabs live");
  ASSERT_EQ(BoxesOf(mf), 3);
  for (int i = 0; i < 3; i++) Release(views[i]);
  ASSERT_OK(CeedMultiFabRedefine(mf, 1, boxes, NULL, 0, no_ghost, 1, false));
  ASSERT_EQ(BoxesOf(mf), 1);
  ASSERT_OK(CeedMultiFabGetGeneration(mf, &generation));
  ASSERT_EQ(generation, 1);
  ASSERT_OK(CeedFabDestroy(&first));
  ASSERT_OK(CeedFabDestroy(&last));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int views_of_a_redefined_multifab_are_stale_and_keep_their_memory(void) {
  CeedBox boxes[3], whole;
  CeedMultiFab mf;
  CeedFab fab;
  DLManagedTensorVersioned *view;
  uint64_t before;

  LShape(3, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 3);
  PASSES(FillValid(mf, 0));
  fab = FabAt(mf, 1);
  whole = WholeOf(fab);
  PASSES(FillFab(fab));
  before = Generation(fab);
  view = WholeView(fab);
  ASSERT_OK(CeedMultiFabRedefine(mf, 2, boxes, NULL, 0, ghosts, 1, true));
  ASSERT(Generation(fab) != before);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, whole, 0, 3);
  Release(view);
  return TEST_PASSED;
}

static int redefining_under_an_array_is_an_error_even_so(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  CeedFab fab;
  CeedScalar *array;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  PASSES(FillValid(mf, 0));
  fab = FabAt(mf, 1);
  ASSERT_OK(CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabRedefine(mf, 1, boxes, NULL, 0, no_ghost, 1, true));
  ASSERT_SAYS("1 arrays are out");
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabRedefine(mf, 1, boxes, NULL, 0, no_ghost, 0, true));
  ASSERT_EQ(BoxesOf(mf), 3);
  ASSERT_EQ(Generation(fab), 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int a_multifab_whose_array_is_out_stays(void) {
  CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
  CeedMultiFab mf = MultiFabOf(1, &box, ghosts, 1);
  CeedFab fab = FabAt(mf, 0), same = fab;
  CeedScalar *array;

  ASSERT_OK(CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedFabRestoreArray(same, &array));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static int memory_of_the_code_takes_the_place_of_a_fab(void) {
  CeedScalar array[6 + 2] = {0};
  CeedBox boxes[] = {BoxOf(1, -2, 0, 0, 3, 0, 0), BoxOf(1, 4, 0, 0, 5, 0, 0)};
  CeedMultiFab mf = MultiFabOf(2, boxes, no_ghost, 1);
  CeedFab fab = NULL, old = FabAt(mf, 0);
  DLManagedTensorVersioned *view;
  uint64_t before, after;

  PASSES(FillValid(mf, 0));
  view = WholeView(old);
  before = Generation(old);
  ASSERT_OK(CeedFabCreateFromArray(ceed, boxes[0], (CeedGhost){{1}, {1}}, 1, CEED_MEM_HOST,
                                   CEED_USE_POINTER, NULL, array, &fab));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedMultiFabSetFab(mf, 0, fab, false));
  ASSERT_SAYS("1 writable view lives");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedMultiFabSetFab(mf, 1, fab, true));
  ASSERT_SAYS("((4) (5) (0))");
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, true));
  ASSERT(Generation(old) != before);
  Release(view);
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  ASSERT_NUMBER(array[7], ValueAt((const CeedInt[]){4, 0, 0}, 0));
  view = WholeView(fab);
  after = Generation(fab);
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, fab, false));
  ASSERT_EQ(Generation(fab), after);
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(&old));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

// In each of the 6 orders in which view, fab and MultiFab can go.
// What the list says of its fabs is what copies go by.
static int a_fab_of_a_multifab_keeps_its_box_and_components(void) {
  CeedBox boxes[] = {BoxOf(1, 0, 0, 0, 3, 0, 0), BoxOf(1, 4, 0, 0, 7, 0, 0)};
  CeedMultiFab mf = MultiFabOf(2, boxes, no_ghost, 3);
  CeedFab fab = FabAt(mf, 0), by = FabOf(boxes[0], no_ghost, 1), in = FabOf(boxes[0], ghosts, 3);

  PASSES(FillValid(mf, 0));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabResize(fab, boxes[0], no_ghost, 1, false));
  ASSERT_SAYS("Resize refused: the fab is one of a MultiFab, of 3 components of ((0) (3) (0))");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabResize(fab, boxes[1], no_ghost, 3, false));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabResize(fab, BoxOf(2, 0, 0, 0, 3, 0, 0), no_ghost, 3, false));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabReplace(fab, by, true));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){3}, 2), ValueAt((const CeedInt[]){3, 0, 0}, 2));
  ASSERT_OK(CeedFabReplace(fab, in, false));
  ASSERT_OK(CeedMultiFabFillGhosts(mf, NULL));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){4}, 2), ValueAt((const CeedInt[]){4, 0, 0}, 2));
  ASSERT_OK(CeedMultiFabSetFab(mf, 0, in, false));
  ASSERT_OK(CeedFabResize(fab, boxes[1], no_ghost, 1, false));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabResize(in, boxes[1], no_ghost, 3, false));
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  ASSERT_OK(CeedFabResize(in, boxes[1], no_ghost, 1, false));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(&by));
  ASSERT_OK(CeedFabDestroy(&in));
  return TEST_PASSED;
}

static int whoever_goes_last_keeps_the_memory(void) {
  static const int ways[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  for (int way = 0; way < 6; way++) {
    CeedBox boxes[3], whole;
    CeedMultiFab mf;
    CeedFab fab;
    DLManagedTensorVersioned *view;
    LShape(2, boxes);
    mf = MultiFabOf(3, boxes, ghosts, 1);
    fab = FabAt(mf, 1);
    PASSES(FillFab(fab));
    whole = WholeOf(fab);
    view = WholeView(fab);
    for (int i = 0; i < 3; i++) {
      if (ways[way][i] == 0) {
        ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, whole, 0, 1);
        Release(view);
      } else if (ways[way][i] == 1) {
        ASSERT_NUMBER(EntryOf(fab, boxes[1].lo, 0), ValueAt(boxes[1].lo, 0));
        ASSERT_OK(CeedFabDestroy(&fab));
      } else {
        ASSERT_OK(CeedMultiFabDestroy(&mf));
      }
    }
  }
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Loops
// ------------------------------------------------------------------------------------------------

// Leaving a loop and beginning another has ended processes elsewhere.
static int loops_over_fabs_are_nested_and_left_early(void) {
  CeedBox boxes[3];
  CeedMultiFab mf;
  CeedInt count, outer, inner, visits = 0;

  LShape(2, boxes);
  mf = MultiFabOf(3, boxes, ghosts, 1);
  ASSERT_OK(CeedMultiFabGetNumLocal(mf, &count));
  for (CeedInt i = 0; i < count; i++) {
    for (CeedInt j = 0; j < count; j++) {
      CeedFab fab = NULL;
      ASSERT_OK(CeedMultiFabGetLocalIndex(mf, i, &outer));
      ASSERT_OK(CeedMultiFabGetLocalIndex(mf, j, &inner));
      ASSERT_OK(CeedMultiFabGetFab(mf, inner, &fab));
      ASSERT(IsSameBox(ValidOf(fab), boxes[j]));
      ASSERT_OK(CeedFabDestroy(&fab));
      visits++;
      if (inner == outer) break;
    }
  }
  ASSERT_EQ(visits, 1 + 2 + 3);
  ASSERT_OK(CeedMultiFabDestroy(&mf));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(every_process_has_the_fabs_of_its_boxes),
    BEHAVIOUR(places_that_are_not_there_are_errors),
    BEHAVIOUR(lists_that_cannot_be_are_errors),
    BEHAVIOUR(no_boxes_at_all_are_a_level_too),
    BEHAVIOUR(a_multifab_tells_what_it_was_made_with),
    BEHAVIOUR(a_multifab_is_described),
    BEHAVIOUR(ghosts_are_filled_from_neighbours),
    BEHAVIOUR(ghosts_are_filled_from_periodic_images),
    BEHAVIOUR(ghosts_wider_than_a_period_see_several_images),
    BEHAVIOUR(ghosts_of_many_boxes_are_what_brute_force_finds),
    BEHAVIOUR(ghosts_beside_a_long_box_are_what_brute_force_finds),
    BEHAVIOUR(each_filling_is_of_the_fabs_as_they_are),
    BEHAVIOUR(a_refused_period_leaves_the_last_one),
    BEHAVIOUR(boxes_at_the_ends_of_the_integers_are_neighbours),
    BEHAVIOUR(valid_nodes_are_left_and_the_first_box_counts),
    BEHAVIOUR(the_first_box_of_the_list_counts_wherever_it_lies),
    BEHAVIOUR(periods_that_boxes_do_not_fit_in_are_errors),
    BEHAVIOUR(a_refused_filling_writes_no_cell),
    BEHAVIOUR(fabs_that_share_a_vector_are_filled),
    BEHAVIOUR(setting_a_whole_vector_without_values_is_its_first_value),
    BEHAVIOUR(setting_a_part_of_a_vector_without_values_is_an_error),
    BEHAVIOUR(gathering_prefers_valid_cells_and_says_what_is_covered),
    BEHAVIOUR(no_stale_ghost_gets_inside),
    BEHAVIOUR(of_gathered_nodes_and_ghosts_the_first_in_the_list_counts),
    BEHAVIOUR(gathering_into_what_does_not_fit_is_an_error),
    BEHAVIOUR(valid_cells_are_copied_to_another_list_of_boxes),
    BEHAVIOUR(fabs_of_both_lists_are_copied),
    BEHAVIOUR(a_fab_of_both_lists_counts_as_it_was),
    BEHAVIOUR(lists_of_other_kinds_are_not_copied),
    BEHAVIOUR(redefining_under_views_is_an_error_that_counts_them),
    BEHAVIOUR(views_of_a_redefined_multifab_are_stale_and_keep_their_memory),
    BEHAVIOUR(redefining_under_an_array_is_an_error_even_so),
    BEHAVIOUR(a_multifab_whose_array_is_out_stays),
    BEHAVIOUR(memory_of_the_code_takes_the_place_of_a_fab),
    BEHAVIOUR(a_fab_of_a_multifab_keeps_its_box_and_components),
    BEHAVIOUR(whoever_goes_last_keeps_the_memory),
    BEHAVIOUR(loops_over_fabs_are_nested_and_left_early),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
