// Boxes: every operation from negative lower bounds, of cells and nodes, to the ends of CeedInt.
// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

enum { CELLS = 0, NODES = 7 };

static CeedBox Box1(CeedInt lo, CeedInt hi) { return (CeedBox){.dim = 1, .lo = {lo}, .hi = {hi}}; }

static CeedBox Box2(CeedInt lo0, CeedInt lo1, CeedInt hi0, CeedInt hi1, CeedInt centring) {
  return (CeedBox){.dim = 2, .lo = {lo0, lo1}, .hi = {hi0, hi1}, .centring = centring};
}

static CeedBox Box3(CeedInt lo0, CeedInt lo1, CeedInt lo2, CeedInt hi0, CeedInt hi1, CeedInt hi2,
                    CeedInt centring) {
  return (CeedBox){.dim = 3, .lo = {lo0, lo1, lo2}, .hi = {hi0, hi1, hi2}, .centring = centring};
}

static int TestBox(const char *file, int line, CeedBox found, const char *wanted) {
  char text[CEED_BOX_TEXT] = "";

  ASSERT_OK(CeedBoxToText(found, text, sizeof text));
  return strcmp(text, wanted) ? TestFailed(file, line, "%s, not %s", text, wanted) : TEST_PASSED;
}

#define ASSERT_BOX(found, wanted) PASSES(TestBox(__FILE__, __LINE__, (found), (wanted)))

static bool IsSame(CeedBox a, CeedBox b) {
  bool is_equal = false;

  CeedBoxIsEqual(a, b, &is_equal);
  return is_equal;
}

static CeedSize SizeOf(CeedBox box) {
  CeedSize size = -1;

  CeedBoxGetSize(box, &size);
  return size;
}

// ------------------------------------------------------------------------------------------------
// What a box is
// ------------------------------------------------------------------------------------------------

static int a_box_is_made_of_its_bounds(void) {
  CeedBox box;

  ASSERT_OK(CeedBoxSet(3, (const CeedInt[]){-2, -1, 0}, (const CeedInt[]){5, 3, 8}, 5, &box));
  ASSERT_BOX(box, "((-2,-1,0) (5,3,8) (1,0,1))");
  ASSERT_OK(CeedBoxSet(1, (const CeedInt[]){-3}, (const CeedInt[]){4}, CELLS, &box));
  ASSERT_BOX(box, "((-3) (4) (0))");
  ASSERT_EQ(box.lo[1], 0);
  ASSERT_EQ(box.hi[2], 0);
  return TEST_PASSED;
}

static int lengths_count_both_bounds(void) {
  CeedSize lengths[3];

  ASSERT_OK(CeedBoxGetLengths(Box2(-2, 0, 5, 0, CELLS), lengths));
  ASSERT_EQ(lengths[0], 8);
  ASSERT_EQ(lengths[1], 1);
  ASSERT_EQ(lengths[2], 1);
  ASSERT_EQ(SizeOf(Box3(-1, -1, -1, 1, 2, 3, CELLS)), 3 * 4 * 5);
  ASSERT_OK(CeedBoxGetLengths(Box1(INT32_MIN, INT32_MAX), lengths));
  ASSERT_EQ(lengths[0], (CeedSize)1 << 32);
  return TEST_PASSED;
}

static int a_box_that_ends_before_it_begins_is_empty(void) {
  CeedSize lengths[3];
  bool is_empty;

  ASSERT_OK(CeedBoxIsEmpty(Box2(0, 3, 5, 2, CELLS), &is_empty));
  ASSERT(is_empty);
  ASSERT_OK(CeedBoxIsEmpty(Box2(0, 3, 5, 3, CELLS), &is_empty));
  ASSERT(!is_empty);
  ASSERT_OK(CeedBoxGetLengths(Box2(0, 3, 5, -70, CELLS), lengths));
  ASSERT_EQ(lengths[1], 0);
  ASSERT_EQ(SizeOf(Box2(0, 3, 5, -70, CELLS)), 0);
  return TEST_PASSED;
}

static int what_stands_in_other_directions_is_ignored(void) {
  CeedBox box = Box1(-1, 1), clean = Box1(-1, 1), grown;
  const CeedGhost ghost = {{1, 1 << 30, 1 << 30}, {1, 1 << 30, 1 << 30}};

  box.lo[1] = 12;
  box.hi[2] = -12;
  ASSERT(IsSame(box, clean));
  ASSERT_EQ(SizeOf(box), 3);
  ASSERT_OK(CeedBoxGrow(box, ghost, &grown));
  ASSERT_BOX(grown, "((-2) (2) (0))");
  ASSERT_EQ(grown.lo[1], 0);
  return TEST_PASSED;
}

static int a_malformed_box_is_an_error(void) {
  CeedBox box = Box1(0, 1);
  CeedSize size;

  for (int dim = -1; dim <= 4; dim++) {
    box.dim = dim;
    if (dim >= 1 && dim <= 3) continue;
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxGetSize(box, &size));
    ASSERT_SAYS("1 to 3");
  }
  box.dim = 2;
  box.centring = 4;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxGetSize(box, &size));
  ASSERT_SAYS("centring");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxGetSize(Box1(0, 1), NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxSet(1, NULL, NULL, CELLS, &box));
  return TEST_PASSED;
}

static int a_size_that_overflows_is_an_error(void) {
  CeedBox box = Box3(INT32_MIN, INT32_MIN, 0, INT32_MAX, INT32_MAX, 0, CELLS);
  CeedSize size;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxGetSize(box, &size));
  ASSERT_SAYS("too large");
  box.hi[2] = -1;
  ASSERT_EQ(SizeOf(box), 0);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Boxes of boxes
// ------------------------------------------------------------------------------------------------

static int containing_and_meeting(void) {
  CeedBox box = Box2(-2, -1, 5, 3, CELLS), both;
  bool contains;

  ASSERT_OK(CeedBoxContains(box, Box2(0, 0, 5, 3, CELLS), &contains));
  ASSERT(contains);
  ASSERT_OK(CeedBoxContains(box, Box2(0, 0, 6, 3, CELLS), &contains));
  ASSERT(!contains);
  ASSERT_OK(CeedBoxContains(box, Box2(90, 0, 80, 0, CELLS), &contains));
  ASSERT(contains);
  ASSERT_OK(CeedBoxIntersect(box, Box2(3, -9, 9, 0, CELLS), &both));
  ASSERT_BOX(both, "((3,-1) (5,0) (0,0))");
  ASSERT_OK(CeedBoxIntersect(box, Box2(6, 0, 9, 0, CELLS), &both));
  ASSERT_EQ(SizeOf(both), 0);
  return TEST_PASSED;
}

static int the_hull_contains_both_and_no_more(void) {
  CeedBox hull;

  ASSERT_OK(CeedBoxHull(Box2(-2, 4, 0, 5, CELLS), Box2(3, -1, 3, 0, CELLS), &hull));
  ASSERT_BOX(hull, "((-2,-1) (3,5) (0,0))");
  ASSERT_OK(CeedBoxHull(Box2(-2, 4, 0, 5, CELLS), Box2(3, 0, 3, -1, CELLS), &hull));
  ASSERT_BOX(hull, "((-2,4) (0,5) (0,0))");
  ASSERT_OK(CeedBoxHull(Box2(7, 7, 6, 7, CELLS), Box2(-2, 4, 0, 5, CELLS), &hull));
  ASSERT_BOX(hull, "((-2,4) (0,5) (0,0))");
  return TEST_PASSED;
}

static int boxes_of_different_kinds_do_not_meet(void) {
  CeedBox out;
  bool contains;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedBoxIntersect(Box2(0, 0, 1, 1, CELLS), Box2(0, 0, 1, 1, 1), &out));
  ASSERT_SAYS("centring");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxHull(Box1(0, 1), Box2(0, 0, 1, 1, CELLS), &out));
  ASSERT_SAYS("directions");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedBoxContains(Box1(0, 1), Box2(0, 0, 1, 1, CELLS), &contains));
  ASSERT(!IsSame(Box2(0, 0, 1, 1, CELLS), Box2(0, 0, 1, 1, 2)));
  ASSERT(!IsSame(Box1(0, 1), Box2(0, 0, 1, 0, CELLS)));
  return TEST_PASSED;
}

static int growing_knows_every_side(void) {
  const CeedGhost ghost = {{1, 0, 2}, {3, 4, 0}}, back = {{-1, 0, -2}, {-3, -4, 0}};
  CeedBox box = Box3(-2, -1, 0, 5, 3, 8, CELLS), grown;

  ASSERT_OK(CeedBoxGrow(box, ghost, &grown));
  ASSERT_BOX(grown, "((-3,-1,-2) (8,7,8) (0,0,0))");
  ASSERT_OK(CeedBoxGrow(grown, back, &grown));
  ASSERT(IsSame(grown, box));
  return TEST_PASSED;
}

static int shifting_moves_both_bounds(void) {
  CeedBox box;

  ASSERT_OK(CeedBoxShift(Box2(-2, -1, 5, 3, 1), (const CeedInt[]){-4, 10}, &box));
  ASSERT_BOX(box, "((-6,9) (1,13) (1,0))");
  return TEST_PASSED;
}

static int refining_cells_and_nodes(void) {
  CeedBox fine;

  ASSERT_OK(CeedBoxRefine(Box2(-2, -1, 5, 3, CELLS), (const CeedInt[]){2, 4}, &fine));
  ASSERT_BOX(fine, "((-4,-4) (11,15) (0,0))");
  ASSERT_OK(CeedBoxRefine(Box2(-2, -1, 5, 3, NODES & 3), (const CeedInt[]){2, 4}, &fine));
  ASSERT_BOX(fine, "((-4,-4) (10,12) (1,1))");
  return TEST_PASSED;
}

// (lo, hi) -> floor(lo / r), floor(hi / r) or, of nodes, ceil(hi / r)
static int coarsening_rounds_to_cover_negatives_too(void) {
  CeedBox coarse;

  ASSERT_OK(CeedBoxCoarsen(Box2(-3, -5, -1, 4, CELLS), (const CeedInt[]){2, 4}, &coarse));
  ASSERT_BOX(coarse, "((-2,-2) (-1,1) (0,0))");
  ASSERT_OK(CeedBoxCoarsen(Box2(-3, -5, -1, 5, NODES & 3), (const CeedInt[]){2, 4}, &coarse));
  ASSERT_BOX(coarse, "((-2,-2) (0,2) (1,1))");
  ASSERT_OK(CeedBoxCoarsen(Box1(3, 2), (const CeedInt[]){2}, &coarse));
  ASSERT_EQ(SizeOf(coarse), 0);
  return TEST_PASSED;
}

static int coarsening_undoes_refining(void) {
  for (CeedInt centring = 0; centring < 8; centring++) {
    for (CeedInt r = 1; r < 6; r++) {
      CeedBox box = Box3(-7, 0, 3, -2, 0, 9, centring), there, back;
      ASSERT_OK(CeedBoxRefine(box, (const CeedInt[]){r, r + 1, 2 * r}, &there));
      ASSERT_OK(CeedBoxCoarsen(there, (const CeedInt[]){r, r + 1, 2 * r}, &back));
      ASSERT(IsSame(box, back));
    }
  }
  return TEST_PASSED;
}

static int cells_become_nodes_and_nodes_cells(void) {
  CeedBox box = Box3(-2, -1, 0, 5, 3, 8, 4), other;

  ASSERT_OK(CeedBoxConvert(box, 3, &other));
  ASSERT_BOX(other, "((-2,-1,0) (6,4,7) (1,1,0))");
  ASSERT_OK(CeedBoxConvert(other, 4, &other));
  ASSERT(IsSame(box, other));
  ASSERT_OK(CeedBoxConvert(Box1(3, 3), 1, &other));
  ASSERT_OK(CeedBoxConvert(other, 0, &other));
  ASSERT_BOX(other, "((3) (3) (0))");
  return TEST_PASSED;
}

static int bounds_that_do_not_fit_are_errors_and_change_nothing(void) {
  CeedBox out = Box1(7, 8), end = Box1(INT32_MAX - 1, INT32_MAX), begin = Box1(INT32_MIN, 0);

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxGrow(end, (CeedGhost){{0}, {1}}, &out));
  ASSERT_SAYS("2147483648");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxGrow(begin, (CeedGhost){{1}, {0}}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxShift(begin, (const CeedInt[]){-1}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxShift(end, (const CeedInt[]){INT32_MAX}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxRefine(end, (const CeedInt[]){2}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxRefine(begin, (const CeedInt[]){INT32_MAX}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxConvert(end, 1, &out));
  ASSERT_BOX(out, "((7) (8) (0))");
  ASSERT_OK(CeedBoxCoarsen(Box1(INT32_MIN, INT32_MAX), (const CeedInt[]){INT32_MAX}, &out));
  ASSERT_BOX(out, "((-2) (1) (0))");
  ASSERT_OK(CeedBoxRefine(Box1(INT32_MIN, INT32_MAX), (const CeedInt[]){1}, &out));
  ASSERT_BOX(out, "((-2147483648) (2147483647) (0))");
  return TEST_PASSED;
}

static int ratios_below_one_are_errors(void) {
  CeedBox out;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxRefine(Box1(0, 1), (const CeedInt[]){0}, &out));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxCoarsen(Box1(0, 1), (const CeedInt[]){-2}, &out));
  ASSERT_SAYS("-2");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxCoarsen(Box1(0, 1), NULL, &out));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Text
// ------------------------------------------------------------------------------------------------

static int boxes_are_read_as_amrex_writes_them(void) {
  CeedBox box;

  ASSERT_OK(CeedBoxFromText("((-2,-1,0) (5,3,8) (0,1,0))", &box));
  ASSERT(IsSame(box, Box3(-2, -1, 0, 5, 3, 8, 2)));
  ASSERT_OK(CeedBoxFromText(" ( ( 64, 504 )(71,511) (0,0) ) \n", &box));
  ASSERT(IsSame(box, Box2(64, 504, 71, 511, CELLS)));
  ASSERT_OK(CeedBoxFromText("((-2147483648) (2147483647) (1))", &box));
  ASSERT_EQ(box.lo[0], INT32_MIN);
  ASSERT_EQ(box.hi[0], INT32_MAX);
  ASSERT_EQ(box.centring, 1);
  return TEST_PASSED;
}

static int other_texts_are_errors_that_show_them(void) {
  static const char *const texts[] = {
      "",
      "((0) (1))",
      "((0) (1) (0)",
      "((0) (1) (0)) x",
      "((0,0) (1) (0,0))",
      "((0,0) (1,1) (0))",
      "((0) (1) (2))",
      "((0) (1) (-1))",
      "((0,0,0,0) (1,1,1,1) (0,0,0,0))",
      "((2147483648) (0) (0))",
      "((99999999999999999999) (0) (0))",
      "((a) (0) (0))",
      "(() () ())",
      "((0.5) (1) (0))",
  };
  CeedBox box = Box1(4, 5);

  for (int i = 0; i < COUNT_OF(texts); i++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxFromText(texts[i], &box));
    ASSERT_SAYS(texts[i]);
  }
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedBoxFromText(NULL, &box));
  ASSERT_BOX(box, "((4) (5) (0))");
  return TEST_PASSED;
}

static int the_longest_text_fits_and_short_memory_is_an_error(void) {
  const CeedInt m = INT32_MIN;
  char text[CEED_BOX_TEXT];
  CeedBox box;

  ASSERT_OK(CeedBoxToText(Box3(m, m, m, m, m, m, NODES), text, sizeof text));
  ASSERT_EQ((int)strlen(text) + 1, 86);
  ASSERT_OK(CeedBoxFromText(text, &box));
  ASSERT(IsSame(box, Box3(m, m, m, m, m, m, NODES)));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedBoxToText(box, text, 85));
  ASSERT_SAYS("86 bytes");
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_box_is_made_of_its_bounds),
    BEHAVIOUR(lengths_count_both_bounds),
    BEHAVIOUR(a_box_that_ends_before_it_begins_is_empty),
    BEHAVIOUR(what_stands_in_other_directions_is_ignored),
    BEHAVIOUR(a_malformed_box_is_an_error),
    BEHAVIOUR(a_size_that_overflows_is_an_error),
    BEHAVIOUR(containing_and_meeting),
    BEHAVIOUR(the_hull_contains_both_and_no_more),
    BEHAVIOUR(boxes_of_different_kinds_do_not_meet),
    BEHAVIOUR(growing_knows_every_side),
    BEHAVIOUR(shifting_moves_both_bounds),
    BEHAVIOUR(refining_cells_and_nodes),
    BEHAVIOUR(coarsening_rounds_to_cover_negatives_too),
    BEHAVIOUR(coarsening_undoes_refining),
    BEHAVIOUR(cells_become_nodes_and_nodes_cells),
    BEHAVIOUR(bounds_that_do_not_fit_are_errors_and_change_nothing),
    BEHAVIOUR(ratios_below_one_are_errors),
    BEHAVIOUR(boxes_are_read_as_amrex_writes_them),
    BEHAVIOUR(other_texts_are_errors_that_show_them),
    BEHAVIOUR(the_longest_text_fits_and_short_memory_is_an_error),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
