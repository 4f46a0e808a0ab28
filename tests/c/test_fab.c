// Fabs: indices from any lower bound, ghost layers that differ on every side, views of the same
// memory, memory of others, and what becomes of views when a fab is replaced.
// SPDX-License-Identifier: BSD-2-Clause
#include "fabs.h"

static const CeedAxisOrder orders[] = {CEED_ORDER_XYZN, CEED_ORDER_NZYX};

#define BOTH_ORDERS(order) for (CeedAxisOrder order = 0; order <= CEED_ORDER_NZYX; order++)

// ------------------------------------------------------------------------------------------------
// Shape
// ------------------------------------------------------------------------------------------------

static int a_fab_has_a_valid_box_and_ghosts_on_every_side(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    CeedGhost found;
    ASSERT(fab);
    ASSERT(IsSameBox(ValidOf(fab), ValidBox(dim)));
    ASSERT(IsSameBox(WholeOf(fab), BoxOf(dim, -4, -1, -4, 6, 4, 1)));
    ASSERT_OK(CeedFabGetGhost(fab, &found));
    for (int d = 0; d < dim; d++) {
      ASSERT_EQ(found.lo[d], ghosts.lo[d]);
      ASSERT_EQ(found.hi[d], ghosts.hi[d]);
    }
    ASSERT_EQ(CompsOf(fab), ncomp);
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int the_first_direction_is_fastest_and_the_component_slowest(void) {
  CeedFab fab = FabOf(ValidBox(3), ghosts, 3);
  CeedSize strides[4];

  ASSERT_OK(CeedFabGetStrides(fab, strides));
  ASSERT_EQ(strides[0], 1);
  ASSERT_EQ(strides[1], 11);
  ASSERT_EQ(strides[2], 11 * 6);
  ASSERT_EQ(strides[3], 11 * 6 * 6);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int shapes_that_cannot_be_are_errors(void) {
  const CeedInt m = INT32_MAX;
  CeedGhost negative = {{0, -1, 0}, {0, 0, 0}}, one = {{1, 1, 1}, {1, 1, 1}};
  CeedBox huge = BoxOf(3, 0, 0, 0, m - 1, m - 1, 0);
  CeedFab fab = NULL;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCreate(ceed, ValidBox(2), negative, 1, &fab));
  ASSERT_SAYS("ghost widths -1");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCreate(ceed, ValidBox(2), ghosts, 0, &fab));
  ASSERT_SAYS("components");
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabCreate(ceed, BoxOf(1, 0, 0, 0, -2, 0, 0), no_ghost, 1, &fab));
  ASSERT_SAYS("less than empty");
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCreate(ceed, BoxOf(1, 0, 0, 0, m, 0, 0), one, 1, &fab));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCreate(ceed, huge, one, 1, &fab));
  ASSERT_SAYS("more than memory holds");
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabCreate(ceed, BoxOf(3, 0, 0, 0, m - 1, m - 1, m - 1), one, m, &fab));
  // 2^64 cells, which are 0 to a product of 64 bits.
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabCreate(ceed, BoxOf(2, INT32_MIN, INT32_MIN, 0, m, m, 0), no_ghost, 1, &fab));
  ASSERT_SAYS("more than memory holds");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabCreate(ceed, (CeedBox){.dim = 4}, one, 1, &fab));
  ASSERT(!fab);
  return TEST_PASSED;
}

// u(-2:nx+2) of Fortran, with two ghost cells on either side
static int a_fab_of_any_number_of_cells(void) {
  static const CeedInt sizes[] = {-1, 0, 1, 50};
  const CeedGhost two = {{2}, {2}};

  for (int i = 0; i < COUNT_OF(sizes); i++) {
    CeedFab fab = FabOf(BoxOf(1, 0, 0, 0, sizes[i], 0, 0), two, 1);
    ASSERT(fab);
    ASSERT_EQ(WholeOf(fab).lo[0], -2);
    ASSERT_EQ(WholeOf(fab).hi[0], sizes[i] + 2);
    ASSERT_EQ(CountOf(WholeOf(fab)), sizes[i] + 5);
    ASSERT_EQ(CountOf(ValidOf(fab)), sizes[i] + 1);
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int a_fab_without_cells_works_everywhere(void) {
  CeedFab fab = NULL, other = NULL;
  DLManagedTensorVersioned *tensor;
  CeedScalar *array;
  CeedBox box;

  ASSERT_OK(CeedFabCreate(ceed, BoxOf(2, 3, 0, 0, 2, 4, 0), no_ghost, 3, &fab));
  ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 3, 1));
  ASSERT_OK(CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  tensor = WholeView(fab);
  ASSERT(tensor);
  ASSERT_SAME(tensor->dl_tensor.data, NULL);
  ASSERT_EQ(tensor->dl_tensor.shape[0], 0);
  ASSERT_EQ(tensor->dl_tensor.shape[1], 5);
  ASSERT_EQ(tensor->dl_tensor.shape[2], 3);
  Release(tensor);
  ASSERT_OK(CeedFabGetRegion(fab, CEED_REGION_INTERIOR, &box));
  ASSERT_EQ(CountOf(box), 0);
  ASSERT_OK(CeedFabReferenceCopy(fab, &other));
  ASSERT_OK(CeedFabCopy(fab, NULL, 0, 3, other, 0));
  ASSERT_OK(CeedFabDestroy(&other));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Regions
// ------------------------------------------------------------------------------------------------

// The valid box and the ghost regions of all sides: every index lies in one of them, and only one.
static int the_valid_box_and_the_sides_make_the_whole_block(void) {
  for (CeedInt dim = 1; dim <= 3; dim++) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, 1);
    CeedBox sides = BoxOf(dim, -1, -1, -1, 1, 1, 1);
    EVERY_INDEX(at, WholeOf(fab)) {
      int times = 0;
      EVERY_INDEX(side, sides) {
        CeedBox region;
        ASSERT_OK(CeedFabGetGhostRegion(fab, side.index, &region));
        times += IsIn(region, at.index);
      }
      ASSERT_EQ(times, 1);
    }
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int faces_edges_and_corners_lie_outside_the_valid_box(void) {
  CeedFab fab = FabOf(ValidBox(3), ghosts, 1);
  CeedBox region;

  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){-1, 0, 0}, &region));
  ASSERT(IsSameBox(region, BoxOf(3, -4, -1, -3, -3, 1, 1)));
  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){1, 1, 0}, &region));
  ASSERT(IsSameBox(region, BoxOf(3, 6, 2, -3, 6, 4, 1)));
  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){-1, 1, -1}, &region));
  ASSERT(IsSameBox(region, BoxOf(3, -4, 2, -4, -3, 4, -4)));
  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){0, -1, 0}, &region));
  ASSERT_EQ(CountOf(region), 0);
  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){0, 0, 0}, &region));
  ASSERT(IsSameBox(region, ValidBox(3)));
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabGetGhostRegion(fab, (const CeedInt[]){0, 2, 0}, &region));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int the_interior_is_where_a_stencil_reads_no_ghost(void) {
  CeedFab fab = FabOf(ValidBox(3), ghosts, 1);
  CeedBox region;

  ASSERT_OK(CeedFabGetRegion(fab, CEED_REGION_INTERIOR, &region));
  ASSERT(!CountOf(region));  // y: 3 cells, 3 layers above
  ASSERT_OK(CeedFabDestroy(&fab));
  fab = FabOf(BoxOf(3, -2, -1, -3, 5, 8, 1), ghosts, 1);
  ASSERT_OK(CeedFabGetRegion(fab, CEED_REGION_INTERIOR, &region));
  ASSERT(IsSameBox(region, BoxOf(3, 0, -1, -2, 4, 5, 1)));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetRegion(fab, (CeedRegion)7, &region));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// Widths of 0 have emptied views elsewhere, and one number for all sides has been assumed.
static int the_valid_region_is_right_for_every_kind_of_ghosts(void) {
  static const CeedGhost kinds[] = {{{0, 0, 0}, {0, 0, 0}},
                                    {{1, 0, 2}, {1, 0, 2}},
                                    {{0, 0, 3}, {2, 0, 0}},
                                    {{4, 4, 4}, {4, 4, 4}}};

  for (int i = 0; i < COUNT_OF(kinds); i++) {
    EVERY_KIND(dim, ncomp) {
      CeedFab fab = FabOf(ValidBox(dim), kinds[i], ncomp);
      CeedBox valid = ValidOf(fab);
      DLManagedTensorVersioned *tensor =
          ViewOf(fab, CEED_EXPORT_SHARED, &valid, 0, ncomp, CEED_ORDER_XYZN);
      ASSERT(tensor);
      for (int d = 0; d < dim; d++) ASSERT_EQ(tensor->dl_tensor.shape[d], ((int[]){8, 3, 5})[d]);
      ASSERT_VIEW(&tensor->dl_tensor, CEED_ORDER_XYZN, valid, 0, ncomp);
      Release(tensor);
      ASSERT_OK(CeedFabDestroy(&fab));
    }
  }
  return TEST_PASSED;
}

static int regions_at_the_ends_of_the_integers(void) {
  const CeedInt m = INT32_MAX, l = INT32_MIN;
  CeedFab fab = FabOf(BoxOf(2, l, m - 2, 0, l + 2, m, 0), no_ghost, 1);
  CeedBox region;

  ASSERT(fab);
  EVERY_INDEX(side, BoxOf(2, -1, -1, 0, 1, 1, 0)) {
    ASSERT_OK(CeedFabGetGhostRegion(fab, side.index, &region));
    ASSERT_EQ(CountOf(region), side.index[0] || side.index[1] ? 0 : 9);
  }
  ASSERT_OK(CeedFabDestroy(&fab));
  fab = FabOf(BoxOf(1, l + 3, 0, 0, l + 4, 0, 0), (CeedGhost){{3}, {3}}, 1);
  ASSERT_OK(CeedFabGetRegion(fab, CEED_REGION_INTERIOR, &region));
  ASSERT_EQ(CountOf(region), 0);
  ASSERT_OK(CeedFabGetGhostRegion(fab, (const CeedInt[]){-1}, &region));
  ASSERT(IsSameBox(region, BoxOf(1, l, 0, 0, l + 2, 0, 0)));
  region = BoxOf(1, l, 0, 0, m, 0, 0);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabSetValue(fab, &region, 0, 1, 0));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Views
// ------------------------------------------------------------------------------------------------

static int every_element_is_seen_in_both_orders(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    BOTH_ORDERS(order) {
      DLManagedTensorVersioned *tensor = ViewOf(fab, CEED_EXPORT_SHARED, NULL, 0, ncomp, order);
      ASSERT(tensor);
      ASSERT_EQ(tensor->dl_tensor.ndim, dim + 1);
      ASSERT_EQ(tensor->dl_tensor.byte_offset, 0);
      ASSERT_EQ(tensor->flags, 0);
      ASSERT_VIEW(&tensor->dl_tensor, order, WholeOf(fab), 0, ncomp);
      Release(tensor);
    }
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int a_legacy_view_has_every_element_in_both_orders(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    CeedBox regions[] = {WholeOf(fab), ValidOf(fab)};
    for (int i = 0; i < 2; i++) {
      BOTH_ORDERS(order) {
        DLManagedTensor *tensor = NULL;
        ASSERT_OK(CeedFabToDLPack(fab, CEED_MEM_HOST, i ? &regions[i] : NULL, ncomp - 1, 1, order,
                                  &tensor));
        ASSERT_EQ(tensor->dl_tensor.ndim, dim + 1);
        ASSERT_VIEW(&tensor->dl_tensor, order, regions[i], ncomp - 1, 1);
        ASSERT_EQ(ViewCount(fab), 1);
        tensor->deleter(tensor);
        ASSERT_EQ(ViewCount(fab), 0);
      }
    }
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int a_legacy_view_of_what_may_not_be_written_is_an_error(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  DLManagedTensorVersioned *lease = ViewOf(fab, CEED_EXPORT_READ, NULL, 0, 3, CEED_ORDER_XYZN);
  DLManagedTensor *tensor = NULL;

  ASSERT_CODE(CEED_ERROR_ACCESS,
              CeedFabToDLPack(fab, CEED_MEM_HOST, NULL, 0, 3, CEED_ORDER_XYZN, &tensor));
  ASSERT_SAYS("a legacy tensor can't say so");
  Release(lease);
  ASSERT_CODE(CEED_ERROR_DIMENSION,
              CeedFabToDLPack(fab, CEED_MEM_HOST, NULL, 1, 3, CEED_ORDER_XYZN, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedFabToDLPack(fab, CEED_MEM_HOST, NULL, 0, 3, (CeedAxisOrder)2, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedFabToDLPack(fab, CEED_MEM_HOST, NULL, 0, 3, CEED_ORDER_XYZN, NULL));
  ASSERT(!tensor);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int TestSameMemory(CeedFab fab, CeedBox region, CeedInt comp, CeedInt num_comp,
                          const DLTensor *whole) {
  BOTH_ORDERS(order) {
    DLManagedTensorVersioned *tensor =
        ViewOf(fab, CEED_EXPORT_SHARED, &region, comp, num_comp, order);
    ASSERT(tensor);
    for (CeedInt n = 0; n < num_comp; n++) {
      EVERY_INDEX(at, region) {
        ASSERT_SAME(EntryAt(&tensor->dl_tensor, order, region, at.index, n),
                    EntryAt(whole, CEED_ORDER_XYZN, WholeOf(fab), at.index, comp + n));
      }
    }
    if (!CountOf(region)) ASSERT_SAME(tensor->dl_tensor.data, NULL);
    Release(tensor);
  }
  return TEST_PASSED;
}

static int every_view_is_of_the_same_memory(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    DLManagedTensorVersioned *whole = WholeView(fab);
    ASSERT(whole);
    for (CeedRegion part = 0; part <= CEED_REGION_INTERIOR; part++) {
      CeedBox region;
      ASSERT_OK(CeedFabGetRegion(fab, part, &region));
      PASSES(TestSameMemory(fab, region, 0, ncomp, &whole->dl_tensor));
    }
    EVERY_INDEX(side, BoxOf(dim, -1, -1, -1, 1, 1, 1)) {
      CeedBox region;
      ASSERT_OK(CeedFabGetGhostRegion(fab, side.index, &region));
      PASSES(TestSameMemory(fab, region, ncomp - 1, 1, &whole->dl_tensor));
    }
    PASSES(TestSameMemory(fab, BoxOf(dim, 0, 0, 0, 0, 0, 0), 0, ncomp, &whole->dl_tensor));
    if (ncomp == 3) PASSES(TestSameMemory(fab, WholeOf(fab), 1, 2, &whole->dl_tensor));
    Release(whole);
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int what_is_written_through_a_view_is_seen_by_all(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  CeedBox valid = ValidOf(fab);
  DLManagedTensorVersioned *view = ViewOf(fab, CEED_EXPORT_SHARED, &valid, 1, 1, CEED_ORDER_NZYX);

  *EntryAt(&view->dl_tensor, CEED_ORDER_NZYX, valid, (const CeedInt[]){-1, 0}, 0) = -5;
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){-1, 0}, 1), -5);
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_view_keeps_the_memory_when_the_fab_goes(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    CeedBox valid = ValidOf(fab);
    DLManagedTensorVersioned *view =
        ViewOf(fab, CEED_EXPORT_SHARED, &valid, 0, ncomp, CEED_ORDER_XYZN);
    ASSERT_OK(CeedFabDestroy(&fab));
    ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, valid, 0, ncomp);
    Release(view);
  }
  return TEST_PASSED;
}

static int a_copy_is_compact_in_the_order_asked_for(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    CeedBox valid = ValidOf(fab);
    BOTH_ORDERS(order) {
      DLManagedTensorVersioned *copy = ViewOf(fab, CEED_EXPORT_COPY, &valid, 0, ncomp, order);
      int64_t step = 1;
      ASSERT(copy);
      for (int i = dim; i >= 0; i--) {
        ASSERT_EQ(copy->dl_tensor.strides[i], step);
        step *= copy->dl_tensor.shape[i];
      }
      ASSERT_EQ(copy->flags, IS_COPIED);
      ASSERT_EQ((uintptr_t)copy->dl_tensor.data % 64, 0);
      ASSERT_EQ(ViewCount(fab), 0);
      ASSERT_VIEW(&copy->dl_tensor, order, valid, 0, ncomp);
      Release(copy);
    }
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

// A copy that was a temporary of the exporter's has shown garbage elsewhere.
static int a_copy_outlives_everything_and_changes_with_nothing(void) {
  enum { CELLS = 1000000 };
  CeedFab fab = NULL;
  CeedScalar *array, *noise, *copied;
  DLManagedTensorVersioned *copy;

  ASSERT_OK(CeedFabCreate(ceed, BoxOf(1, -5, 0, 0, CELLS - 6, 0, 0), no_ghost, 1, &fab));
  ASSERT_OK(CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  for (int i = 0; i < CELLS; i++) array[i] = (CeedScalar)(i % 4096);
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  copy = ViewOf(fab, CEED_EXPORT_COPY, NULL, 0, 1, CEED_ORDER_XYZN);
  ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, -1));
  ASSERT_OK(CeedFabDestroy(&fab));
  noise = malloc(CELLS * sizeof *noise);
  for (int i = 0; i < CELLS; i++) noise[i] = -2;
  copied = copy->dl_tensor.data;
  for (int i = 0; i < CELLS; i++) ASSERT_NUMBER(copied[i], i % 4096);
  Release(copy);
  free(noise);
  return TEST_PASSED;
}

static int views_are_read_only_where_asked(void) {
  CeedFab fab = FabOf(ValidBox(3), ghosts, 3);
  CeedBox valid = ValidOf(fab);
  DLManagedTensorVersioned *lease = ViewOf(fab, CEED_EXPORT_READ, &valid, 0, 3, CEED_ORDER_XYZN);
  CeedScalar *array;

  ASSERT_EQ(lease->flags, READ_ONLY);
  ASSERT_EQ(ViewCount(fab), 1);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_SAYS("1 read lease");
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabSetValue(fab, &valid, 0, 1, 0));
  Release(lease);
  ASSERT_OK(CeedFabSetValue(fab, &valid, 0, 1, 0));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int views_of_what_is_not_there_are_errors(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  CeedBox out = BoxOf(2, -4, -1, 0, 7, 4, 0), nodes = BoxOf(2, 0, 0, 0, 1, 1, 0);
  CeedBox line = BoxOf(1, 0, 0, 0, 1, 0, 0);
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, &out, 0,
                                                  3, CEED_ORDER_XYZN, &tensor));
  ASSERT_SAYS("((-4,-1) (7,4) (0,0))");
  ASSERT_SAYS("((-4,-1) (6,4) (0,0))");
  nodes.centring = 1;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, &nodes,
                                                     0, 3, CEED_ORDER_XYZN, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, &line,
                                                     0, 3, CEED_ORDER_XYZN, &tensor));
  for (CeedInt comp = -1; comp <= 3; comp++) {
    bool is_there = comp >= 0 && comp + 2 <= 3;
    int code = CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL, comp, 2, CEED_ORDER_XYZN,
                             &tensor);
    ASSERT_EQ(code, is_there ? 0 : CEED_ERROR_DIMENSION);
    if (is_there) Release(tensor);
  }
  tensor = NULL;
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL,
                                                  INT32_MAX, INT32_MAX, CEED_ORDER_XYZN, &tensor));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL, 0,
                                                  0, CEED_ORDER_XYZN, &tensor));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL,
                                                     0, 3, (CeedAxisOrder)2, &tensor));
  ASSERT(!tensor);
  ASSERT_EQ(ViewCount(fab), 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int components_count_from_the_base(void) {
  CeedFab fab = FabOf(ValidBox(1), ghosts, 3);
  DLManagedTensorVersioned *tensor = NULL;
  CeedInt base;

  ASSERT_OK(CeedFabSetComponentBase(fab, 1));
  ASSERT_OK(CeedFabGetComponentBase(fab, &base));
  ASSERT_EQ(base, 1);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL, 0,
                                                  1, CEED_ORDER_XYZN, &tensor));
  ASSERT_SAYS("3 from 1");
  tensor = ViewOf(fab, CEED_EXPORT_SHARED, NULL, 3, 1, CEED_ORDER_XYZN);
  ASSERT_VIEW(&tensor->dl_tensor, CEED_ORDER_XYZN, WholeOf(fab), 2, 1);
  Release(tensor);
  ASSERT_OK(CeedFabResize(fab, ValidBox(1), ghosts, 3, false));
  PASSES(FillFab(fab));
  ASSERT_OK(CeedFabGetComponentBase(fab, &base));
  ASSERT_EQ(base, 1);
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabSetComponentBase(fab, INT32_MAX - 1));
  ASSERT_OK(CeedFabSetComponentBase(fab, INT32_MIN));
  tensor = ViewOf(fab, CEED_EXPORT_SHARED, NULL, INT32_MIN + 1, 2, CEED_ORDER_XYZN);
  ASSERT_VIEW(&tensor->dl_tensor, CEED_ORDER_XYZN, WholeOf(fab), 1, 2);
  Release(tensor);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_without_values_is_not_exported(void) {
  CeedFab fab = NULL;
  DLManagedTensorVersioned *tensor = NULL;

  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 1, &fab));
  for (CeedExportMode mode = 0; mode <= CEED_EXPORT_COPY; mode++) {
    ASSERT_CODE(CEED_ERROR_INCOMPLETE,
                CeedFabExport(fab, CEED_MEM_HOST, mode, NULL, 0, 1, CEED_ORDER_XYZN, &tensor));
  }
  ASSERT(!tensor);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int device_memory_of_a_host_context_is_an_error(void) {
  CeedScalar array[8] = {0};
  DLManagedTensorVersioned *tensor = NULL;
  CeedFab fab = NULL, made = NULL;

  OF_HOST_CONTEXTS();
  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), no_ghost, 1, &fab));
  ASSERT_CODE(CEED_ERROR_BACKEND, CeedFabExport(fab, CEED_MEM_DEVICE, CEED_EXPORT_SHARED, NULL, 0,
                                                1, CEED_ORDER_XYZN, &tensor));
  ASSERT_CODE(CEED_ERROR_BACKEND,
              CeedFabCreateFromArray(ceed, ValidBox(2), no_ghost, 1, CEED_MEM_DEVICE,
                                     CEED_USE_POINTER, NULL, array, &made));
  ASSERT(!tensor && !made);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int extents_of_one_have_the_strides_of_c_order(void) {
  CeedFab fab = FabOf(BoxOf(3, 4, 4, 4, 4, 6, 4), no_ghost, 1);
  DLManagedTensorVersioned *tensor = WholeView(fab);

  ASSERT_EQ(tensor->dl_tensor.strides[0], 3);
  ASSERT_EQ(tensor->dl_tensor.strides[1], 1);
  ASSERT_EQ(tensor->dl_tensor.strides[2], 1);
  ASSERT_EQ(tensor->dl_tensor.strides[3], 1);
  Release(tensor);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Over a vector
// ------------------------------------------------------------------------------------------------

static int the_vector_of_a_compact_fab_has_its_memory(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  DLManagedTensorVersioned *view = WholeView(fab);
  CeedVector vec = NULL;
  CeedScalar *array;
  CeedSize length;

  ASSERT_OK(CeedFabGetVector(fab, &vec));
  ASSERT_OK(CeedVectorGetLength(vec, &length));
  ASSERT_EQ(length, 11 * 6 * 3);
  ASSERT_OK(CeedVectorGetArray(vec, CEED_MEM_HOST, &array));
  ASSERT_SAME(array, view->dl_tensor.data);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedVectorRestoreArray(vec, &array));
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedVectorSetValue(vec, 1));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int fabs_lie_side_by_side_in_a_vector(void) {
  CeedVector vec = Iota(2 * 8 + 3), other = NULL;
  CeedBox box = BoxOf(1, -2, 0, 0, 5, 0, 0);
  CeedFab first = NULL, second = NULL;

  ASSERT_OK(CeedFabCreateFromVector(vec, 3, NULL, box, no_ghost, 1, &first));
  ASSERT_OK(CeedFabCreateFromVector(vec, 11, NULL, box, no_ghost, 1, &second));
  ASSERT_NUMBER(EntryOf(first, (const CeedInt[]){-2}, 0), 3);
  ASSERT_NUMBER(EntryOf(second, (const CeedInt[]){5}, 0), 18);
  ASSERT_OK(CeedFabSetValue(second, NULL, 0, 1, 0));
  ASSERT_NUMBER(EntryOf(first, (const CeedInt[]){5}, 0), 10);
  ASSERT_NUMBER(EntryOf(second, (const CeedInt[]){-2}, 0), 0);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetVector(first, &other));
  ASSERT_SAYS("8 entries from entry 3 of 19");
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_NUMBER(EntryOf(first, (const CeedInt[]){0}, 0), 5);
  ASSERT_OK(CeedFabDestroy(&first));
  ASSERT_OK(CeedFabDestroy(&second));
  return TEST_PASSED;
}

static int a_fab_goes_where_its_vector_goes(void) {
  CeedScalar array[] = {5, 6, 7, 8};
  CeedVector vec = Iota(4);
  CeedFab fab = NULL;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, BoxOf(1, -1, 0, 0, 2, 0, 0), no_ghost, 1, &fab));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, array));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){-1}, 0), 5);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// Other memory of its vector, each fab of it and each of several fabs with their own numbers.
static int memory_replaced_in_the_vector_is_another_generation(void) {
  CeedScalar arrays[2][4] = {{5, 6, 7, 8}, {9, 10, 11, 12}};
  CeedVector vec = Iota(4);
  CeedBox box = BoxOf(1, -1, 0, 0, 2, 0, 0);
  CeedFab fab = NULL, by = FabOf(box, no_ghost, 1);
  uint64_t before;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, box, no_ghost, 1, &fab));
  before = Generation(fab);
  ASSERT_OK(CeedVectorSetValue(vec, 3));
  ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_COPY_VALUES, arrays[0]));
  ASSERT_EQ(Generation(fab), before);
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(CeedVectorSetArray(vec, CEED_MEM_HOST, CEED_USE_POINTER, arrays[i]));
    ASSERT(Generation(fab) > before);
    before = Generation(fab);
  }
  ASSERT_OK(CeedVectorTakeArray(vec, CEED_MEM_HOST, NULL));
  ASSERT(Generation(fab) > before);
  before = Generation(fab);
  ASSERT_OK(CeedFabReplace(fab, by, false));
  ASSERT(Generation(fab) > before);
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedFabDestroy(&by));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_that_reaches_out_of_its_vector_is_an_error(void) {
  CeedVector vec = Iota(20);
  CeedBox box = BoxOf(1, -2, 0, 0, 5, 0, 0);
  CeedFab fab = NULL;

  for (int i = 0; i < 5; i++) {
    CeedSize offset = ((CeedSize[]){-1, 13, 21, PTRDIFF_MAX, PTRDIFF_MIN})[i];
    ASSERT_CODE(CEED_ERROR_DIMENSION,
                CeedFabCreateFromVector(vec, offset, NULL, box, no_ghost, 1, &fab));
  }
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCreateFromVector(vec, 0, (const CeedSize[]){3, 1, 1, 1},
                                                            box, no_ghost, 1, &fab));
  ASSERT_SAYS("22 entries");
  ASSERT_OK(CeedFabCreateFromVector(vec, 12, NULL, box, no_ghost, 1, &fab));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Over an array
// ------------------------------------------------------------------------------------------------

// u(0:1, 0:2) of 2 components inside an array of 4 x 3 x 2
enum { PADDED = 24 };
static const CeedSize padded[4] = {1, 4, 12, 12};

static int an_array_is_borrowed_with_its_strides(void) {
  CeedScalar array[PADDED];
  CeedFab fab = NULL;

  for (int i = 0; i < PADDED; i++) array[i] = -1;
  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(2, 0, 0, 0, 1, 2, 0), no_ghost, 2, CEED_MEM_HOST,
                                   CEED_USE_POINTER, padded, array, &fab));
  PASSES(FillFab(fab));
  for (int i = 0; i < PADDED; i++) {
    CeedInt index[3] = {i % 4, i / 4 % 3, 0};
    ASSERT_NUMBER(array[i], i % 4 < 2 ? ValueAt(index, i / 12) : -1);
  }
  ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 2, 3));
  for (int i = 0; i < PADDED; i++) ASSERT_NUMBER(array[i], i % 4 < 2 ? 3 : -1);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_NUMBER(array[0], 3);
  return TEST_PASSED;
}

static int views_of_a_borrowed_array_are_of_the_array(void) {
  CeedScalar array[PADDED] = {0};
  DLManagedTensorVersioned *view;
  CeedVector vec = NULL;
  CeedFab fab = NULL;

  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(2, -7, -7, 0, -6, -5, 0), no_ghost, 2, CEED_MEM_HOST,
                                   CEED_USE_POINTER, padded, array, &fab));
  PASSES(FillFab(fab));
  view = ViewOf(fab, CEED_EXPORT_SHARED, NULL, 1, 1, CEED_ORDER_XYZN);
  ASSERT_SAME(view->dl_tensor.data, array + 12);
  ASSERT_EQ(view->dl_tensor.strides[1], 4);
  ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, WholeOf(fab), 1, 1);
  Release(view);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetVector(fab, &vec));
  ASSERT_SAYS("(1, 4, ");
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int an_array_is_taken(void) {
  CeedScalar *array = calloc(8, sizeof *array);
  CeedFab fab = NULL;

  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(1, 1, 0, 0, 8, 0, 0), no_ghost, 1, CEED_MEM_HOST,
                                   CEED_OWN_POINTER, NULL, array, &fab));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){8}, 0), 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// The values at strides of any sign, as they are copied into compact memory.
static int an_array_of_any_strides_is_copied(void) {
  static const CeedSize kinds[][4] = {{1, 4, 12, 12}, {-1, 4, 1, 12}, {1, -4, 1, -12},
                                      {0, 0, 0, 0},   {2, 0, 0, 1},   {-2, 3, 5, 0}};
  CeedScalar array[64];

  for (int i = 0; i < 64; i++) array[i] = (CeedScalar)i;
  for (int k = 0; k < COUNT_OF(kinds); k++) {
    const CeedSize *s = kinds[k];
    CeedFab fab = NULL;
    CeedVector vec = NULL;
    ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(2, 0, 0, 0, 1, 2, 0), no_ghost, 2, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, s, array + 32, &fab));
    for (CeedInt n = 0; n < 2; n++) {
      EVERY_INDEX(at, WholeOf(fab)) {
        CeedSize place = 32 + at.index[0] * s[0] + at.index[1] * s[1] + n * s[3];
        ASSERT_NUMBER(EntryOf(fab, at.index, n), place);
      }
    }
    ASSERT_OK(CeedFabGetVector(fab, &vec));
    ASSERT_OK(CeedVectorDestroy(&vec));
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int strides_with_which_entries_share_memory_are_refused(void) {
  static const CeedSize kinds[][4] = {{1, 1, 1, 6},
                                      {0, 2, 1, 6},
                                      {-1, 2, 1, 6},
                                      {1, 2, 1, 5},
                                      {3, 1, 1, 4},
                                      {1, PTRDIFF_MAX, 1, 6},
                                      {1, 2, 1, PTRDIFF_MAX / 2}};
  CeedScalar array[64] = {0};
  CeedFab fab = NULL;

  for (int k = 0; k < COUNT_OF(kinds); k++) {
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
                CeedFabCreateFromArray(ceed, BoxOf(2, 0, 0, 0, 1, 2, 0), no_ghost, 2, CEED_MEM_HOST,
                                       CEED_USE_POINTER, kinds[k], array, &fab));
    ASSERT_SAYS("CEED_COPY_VALUES");
  }
  ASSERT(!fab);
  return TEST_PASSED;
}

static int bad_arrays_are_errors(void) {
  CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
  CeedScalar array[8] = {0};
  CeedScalar *odd = (CeedScalar *)(void *)((char *)array + 1);
  CeedFab fab = NULL;

  for (CeedCopyMode mode = 0; mode <= CEED_USE_POINTER; mode++) {
    ASSERT_CODE(
        CEED_ERROR_INCOMPATIBLE,
        CeedFabCreateFromArray(ceed, box, no_ghost, 1, CEED_MEM_HOST, mode, NULL, NULL, &fab));
    ASSERT_CODE(
        CEED_ERROR_INCOMPATIBLE,
        CeedFabCreateFromArray(ceed, box, no_ghost, 1, CEED_MEM_HOST, mode, NULL, odd, &fab));
  }
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabCreateFromArray(ceed, box, no_ghost, 1, CEED_MEM_HOST,
                                                              (CeedCopyMode)3, NULL, array, &fab));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
              CeedFabCreateFromArray(ceed, box, no_ghost, 1, CEED_MEM_HOST, CEED_COPY_VALUES,
                                     (const CeedSize[]){PTRDIFF_MAX, 1, 1, 1}, array, &fab));
  ASSERT_SAYS("overflow");
  ASSERT(!fab);
  return TEST_PASSED;
}

static int borrowed_memory_is_given_back_when_no_view_lives(void) {
  CeedScalar array[4] = {1, 2, 3, 4}, *back = NULL;
  CeedFab fab = NULL;
  DLManagedTensorVersioned *view, *none = NULL;
  uint64_t before;

  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(1, 0, 0, 0, 3, 0, 0), no_ghost, 1, CEED_MEM_HOST,
                                   CEED_USE_POINTER, NULL, array, &fab));
  view = WholeView(fab);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabTakeArray(fab, CEED_MEM_HOST, &back));
  ASSERT_SAYS("1 writable view lives");
  Release(view);
  before = Generation(fab);
  ASSERT_OK(CeedFabTakeArray(fab, CEED_MEM_HOST, &back));
  ASSERT_SAME(back, array);
  ASSERT(Generation(fab) != before);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, NULL, 0,
                                                   1, CEED_ORDER_XYZN, &none));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Of tensors
// ------------------------------------------------------------------------------------------------

static int FabFrom(Fake *fake, bool versioned, CeedAxisOrder order, const CeedInt *lo,
                   CeedGhost ghost, CeedCopyMode mode, CeedFab *fab) {
  if (versioned) {
    return CeedFabCreateFromDLPackVersioned(ceed, &fake->versioned, order, lo, 0, ghost, mode, fab);
  }
  return CeedFabCreateFromDLPack(ceed, &fake->legacy, order, lo, 0, ghost, mode, fab);
}

// A tensor of compact memory in C order with one axis more than there are directions.
static int64_t CompactTensor(Fake *fake, CeedScalar *data, CeedAxisOrder order, CeedInt dim,
                             CeedInt ncomp) {
  static const int64_t lengths[] = {4, 3, 5};
  int64_t shape[4], count = 1;

  for (int i = 0; i <= dim; i++) {
    shape[order == CEED_ORDER_XYZN ? i : dim - i] = i == dim ? ncomp : lengths[i];
  }
  for (int i = 0; i <= dim; i++) count *= shape[i];
  for (int64_t i = 0; i < count; i++) data[i] = (CeedScalar)i;
  FakeInit(fake, data, dim + 1, shape, NULL);
  return count;
}

// C order: the last axis is the fastest.
static CeedScalar InCOrder(CeedAxisOrder order, CeedInt dim, CeedInt ncomp, const CeedInt *lo,
                           const CeedInt *index, CeedInt comp) {
  static const int64_t lengths[] = {4, 3, 5};
  int64_t place = 0;

  for (int axis = 0; axis <= dim; axis++) {
    int i = order == CEED_ORDER_XYZN ? axis : dim - axis;
    place = i == dim ? place * ncomp + comp : place * lengths[i] + index[i] - lo[i];
  }
  return (CeedScalar)place;
}

static int a_tensor_keeps_its_place_and_gets_bounds(void) {
  const CeedInt lo[] = {-2, 0, 7};
  const CeedGhost ghost = {{2, 0, 1}, {0, 1, 1}};
  CeedScalar data[4 * 3 * 5 * 3];

  for (int way = 0; way < 8; way++) {
    CeedCopyMode mode = way & 1 ? CEED_USE_POINTER : CEED_COPY_VALUES;
    CeedAxisOrder order = orders[way >> 1 & 1];
    bool versioned = way >> 2;
    EVERY_KIND(dim, ncomp) {
      Fake fake;
      CeedFab fab = NULL;
      DLManagedTensorVersioned *view;
      CompactTensor(&fake, data, order, dim, ncomp);
      ASSERT_OK(FabFrom(&fake, versioned, order, lo, ghost, mode, &fab));
      ASSERT(IsSameBox(WholeOf(fab), BoxOf(dim, -2, 0, 7, 1, 2, 11)));
      ASSERT(IsSameBox(ValidOf(fab), BoxOf(dim, 0, 0, 8, 1, 1, 10)));
      for (CeedInt n = 0; n < ncomp; n++) {
        EVERY_INDEX(at, WholeOf(fab)) {
          ASSERT_NUMBER(EntryOf(fab, at.index, n), InCOrder(order, dim, ncomp, lo, at.index, n));
        }
      }
      view = ViewOf(fab, CEED_EXPORT_SHARED, NULL, 0, ncomp, order);
      ASSERT(mode == CEED_COPY_VALUES || view->dl_tensor.data == (void *)data);
      Release(view);
      ASSERT_EQ(fake.deletions, mode == CEED_COPY_VALUES);
      ASSERT_OK(CeedFabDestroy(&fab));
      ASSERT_EQ(fake.deletions, 1);
    }
  }
  return TEST_PASSED;
}

static int the_memory_of_a_tensor_lives_as_long_as_a_view(void) {
  CeedScalar data[12];
  CeedFab fab = NULL;
  DLManagedTensorVersioned *view;
  Fake fake;

  CompactTensor(&fake, data, CEED_ORDER_NZYX, 2, 1);
  ASSERT_OK(FabFrom(&fake, true, CEED_ORDER_NZYX, (const CeedInt[]){0, 0}, no_ghost,
                    CEED_OWN_POINTER, &fab));
  view = WholeView(fab);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_EQ(fake.deletions, 0);
  Release(view);
  ASSERT_EQ(fake.deletions, 1);
  return TEST_PASSED;
}

static int strided_tensors_are_adopted_as_they_lie(void) {
  CeedScalar data[PADDED];
  CeedFab fab = NULL;
  CeedSize strides[4];
  Fake fake;

  for (int i = 0; i < PADDED; i++) data[i] = (CeedScalar)i;
  FakeInit(&fake, data, 3, DIMS(2, 3, 2), DIMS(12, 4, 2));
  ASSERT_OK(FabFrom(&fake, true, CEED_ORDER_NZYX, (const CeedInt[]){-1, -1}, no_ghost,
                    CEED_USE_POINTER, &fab));
  ASSERT_OK(CeedFabGetStrides(fab, strides));
  ASSERT_EQ(strides[0], 2);
  ASSERT_EQ(strides[1], 4);
  ASSERT_EQ(strides[3], 12);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){0, 1}, 1), 12 + 8 + 2);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_EQ(fake.deletions, 1);
  return TEST_PASSED;
}

// Reversed, broadcast, with a step: each exact when it is copied, and refused where it is not.
static int tensors_of_any_strides_are_copied_or_refused(void) {
  static const int64_t kinds[][3] = {{1, -2, 1}, {0, 1, 6}, {-12, 4, 2}, {6, 0, 0}};
  CeedScalar data[64];
  CeedFab fab = NULL;
  Fake fake;

  for (int i = 0; i < 64; i++) data[i] = (CeedScalar)i;
  for (int k = 0; k < COUNT_OF(kinds); k++) {
    const int64_t *s = kinds[k];
    FakeInit(&fake, data + 32, 3, DIMS(2, 3, 2), s);
    ASSERT_CODE(CEED_ERROR_INCOMPATIBLE,
                FabFrom(&fake, true, CEED_ORDER_XYZN, (const CeedInt[]){0, 0}, no_ghost,
                        CEED_USE_POINTER, &fab));
    ASSERT_EQ(fake.deletions, 0);
    ASSERT_OK(FabFrom(&fake, true, CEED_ORDER_XYZN, (const CeedInt[]){0, 0}, no_ghost,
                      CEED_COPY_VALUES, &fab));
    for (CeedInt n = 0; n < 2; n++) {
      EVERY_INDEX(at, WholeOf(fab)) {
        ASSERT_NUMBER(EntryOf(fab, at.index, n),
                      32 + at.index[0] * s[0] + at.index[1] * s[1] + n * s[2]);
      }
    }
    ASSERT_OK(CeedFabDestroy(&fab));
    ASSERT_EQ(fake.deletions, 1);
  }
  return TEST_PASSED;
}

static int read_only_tensors_stay_read_only(void) {
  CeedScalar data[12], *array;
  CeedFab fab = NULL;
  DLManagedTensorVersioned *view;
  Fake fake;

  CompactTensor(&fake, data, CEED_ORDER_XYZN, 2, 1);
  fake.versioned.flags = READ_ONLY;
  ASSERT_OK(FabFrom(&fake, true, CEED_ORDER_XYZN, (const CeedInt[]){0, 0}, no_ghost,
                    CEED_USE_POINTER, &fab));
  view = WholeView(fab);
  ASSERT_EQ(view->flags, READ_ONLY);
  Release(view);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabSetValue(fab, NULL, 0, 1, 0));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int TestRefused(Fake *fake, int code, CeedAxisOrder order, const CeedInt *lo,
                       CeedGhost ghost) {
  for (int way = 0; way < 4; way++) {
    CeedFab fab = NULL;
    ASSERT_CODE(code,
                FabFrom(fake, way & 1, order, lo, ghost, way >> 1 ? CEED_OWN_POINTER : 0, &fab));
    ASSERT(!fab);
    ASSERT_EQ(fake->deletions, 0);
  }
  return TEST_PASSED;
}

static int tensors_that_are_no_fab_are_refused_and_left_alone(void) {
  const CeedInt zero[3] = {0, 0, 0}, end[3] = {INT32_MAX - 1, 0, 0};
  CeedScalar data[64] = {0};
  Fake fake;

  FakeInit(&fake, data, 1, DIMS(8), NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  ASSERT_SAYS("1 axes");
  FakeInit(&fake, data, 5, DIMS(2, 2, 2, 2, 2), NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  FakeInit(&fake, data, 0, NULL, NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  FakeInit(&fake, data, 3, DIMS(4, 4, 0), NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  ASSERT_SAYS("0 components");
  FakeInit(&fake, data, 2, DIMS(0, ((int64_t)1 << 32) + 1), NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  ASSERT_SAYS("4294967297 components");
  FakeInit(&fake, data, 2, DIMS(4, 1), NULL);
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, end, no_ghost));
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, (CeedGhost){{3}, {2}}));
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, (CeedGhost){{-1}, {0}}));
  PASSES(TestRefused(&fake, CEED_ERROR_INCOMPATIBLE, CEED_ORDER_XYZN, NULL, no_ghost));
  PASSES(TestRefused(&fake, CEED_ERROR_INCOMPATIBLE, (CeedAxisOrder)-1, zero, no_ghost));
  FakeType(&fake, 2, 96 - SCALAR_BITS, 1);
  PASSES(TestRefused(&fake, CEED_ERROR_INCOMPATIBLE, CEED_ORDER_XYZN, zero, no_ghost));
  ASSERT_SAYS(OTHER_NAME);
  FakeType(&fake, 2, SCALAR_BITS, 1);
  FakeDevice(&fake, CUDA, 0);
  PASSES(TestRefused(&fake, CEED_ERROR_INCOMPATIBLE, CEED_ORDER_XYZN, zero, no_ghost));
  FakeInit(&fake, data, 2, DIMS(INT64_MAX, 1), DIMS(0, 1));
  PASSES(TestRefused(&fake, CEED_ERROR_INCOMPATIBLE, CEED_ORDER_XYZN, zero, no_ghost));
  FakeInit(&fake, data, 2, DIMS((int64_t)1 << 33, 1), DIMS(0, 1));
  PASSES(TestRefused(&fake, CEED_ERROR_DIMENSION, CEED_ORDER_XYZN, zero, no_ghost));
  return TEST_PASSED;
}

static int a_tensor_without_cells_is_a_fab_without_cells(void) {
  CeedFab fab = NULL;
  Fake fake;

  FakeInit(&fake, NULL, 3, DIMS(0, 4, 2), NULL);
  ASSERT_OK(FabFrom(&fake, true, CEED_ORDER_XYZN, (const CeedInt[]){-2, -2}, no_ghost,
                    CEED_USE_POINTER, &fab));
  ASSERT_EQ(WholeOf(fab).hi[0], -3);
  ASSERT_EQ(CountOf(WholeOf(fab)), 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_EQ(fake.deletions, 1);
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Replacing what is seen
// ------------------------------------------------------------------------------------------------

static int resizing_under_views_is_an_error_that_counts_them(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 1);
  CeedBox valid = ValidOf(fab), larger = Grown(valid, ghosts);
  DLManagedTensorVersioned *first = WholeView(fab);
  DLManagedTensorVersioned *second = ViewOf(fab, CEED_EXPORT_SHARED, &valid, 0, 1, CEED_ORDER_NZYX);

  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabResize(fab, larger, ghosts, 2, false));
  ASSERT_SAYS("Resize refused: 2 writable views live");
  ASSERT(IsSameBox(ValidOf(fab), valid));
  ASSERT_EQ(Generation(fab), 0);
  ASSERT_VIEW(&first->dl_tensor, CEED_ORDER_XYZN, WholeOf(fab), 0, 1);
  Release(first);
  Release(second);
  ASSERT_OK(CeedFabResize(fab, larger, ghosts, 2, false));
  ASSERT(IsSameBox(ValidOf(fab), larger));
  ASSERT_EQ(CompsOf(fab), 2);
  ASSERT(Generation(fab) != 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_view_of_any_mode_is_in_the_way_and_a_copy_is_not(void) {
  for (CeedExportMode mode = 0; mode <= CEED_EXPORT_COPY; mode++) {
    CeedFab fab = FabOf(ValidBox(1), ghosts, 1);
    DLManagedTensorVersioned *view = ViewOf(fab, mode, NULL, 0, 1, CEED_ORDER_XYZN);
    int code = CeedFabResize(fab, ValidBox(1), ghosts, 1, false);
    ASSERT_EQ(code, mode == CEED_EXPORT_COPY ? 0 : CEED_ERROR_ACCESS);
    ASSERT_OK(CeedFabResize(fab, ValidBox(1), ghosts, 1, true));
    ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, WholeOf(fab), 0, 1);
    Release(view);
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

static int views_keep_the_old_memory_on_request(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  CeedBox whole = WholeOf(fab);
  DLManagedTensorVersioned *view = WholeView(fab), *fresh;
  uint64_t before = Generation(fab);

  ASSERT_OK(CeedFabResize(fab, BoxOf(2, 0, 0, 0, 3, 3, 0), no_ghost, 1, true));
  ASSERT(Generation(fab) != before);
  ASSERT_EQ(ViewCount(fab), 0);
  PASSES(FillFab(fab));
  fresh = WholeView(fab);
  ASSERT(fresh->dl_tensor.data != view->dl_tensor.data);
  ASSERT_VIEW(&view->dl_tensor, CEED_ORDER_XYZN, whole, 0, 3);
  Release(view);
  Release(fresh);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int resizing_under_an_array_is_an_error_even_so(void) {
  CeedFab fab = FabOf(ValidBox(1), ghosts, 1);
  const CeedScalar *array;

  ASSERT_OK(CeedFabGetArrayRead(fab, CEED_MEM_HOST, &array));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabResize(fab, ValidBox(1), no_ghost, 1, true));
  ASSERT_SAYS("1 reader's array is out");
  ASSERT_OK(CeedFabRestoreArrayRead(fab, &array));
  ASSERT_OK(CeedFabResize(fab, ValidBox(1), no_ghost, 1, true));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_failed_resize_changes_nothing(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 1);

  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabResize(fab, ValidBox(2), ghosts, 0, true));
  ASSERT_EQ(Generation(fab), 0);
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){-2, 0}, 0), ValueAt((const CeedInt[]){-2, 0, 0}, 0));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// After a reallocation at the same address a cached array of the old shape came back elsewhere.
static int the_same_address_with_another_box_is_another_generation(void) {
  CeedScalar array[12] = {0};
  CeedFab fab = NULL, by = NULL;
  DLManagedTensorVersioned *view;
  uint64_t before;

  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(2, 0, 0, 0, 3, 2, 0), no_ghost, 1, CEED_MEM_HOST,
                                   CEED_USE_POINTER, NULL, array, &fab));
  before = Generation(fab);
  ASSERT_OK(CeedFabCreateFromArray(ceed, BoxOf(2, -1, 5, 0, 0, 10, 0), no_ghost, 1, CEED_MEM_HOST,
                                   CEED_USE_POINTER, NULL, array, &by));
  ASSERT_OK(CeedFabReplace(fab, by, false));
  ASSERT_OK(CeedFabDestroy(&by));
  ASSERT(Generation(fab) != before);
  ASSERT_EQ(WholeOf(fab).lo[1], 5);
  view = WholeView(fab);
  ASSERT_SAME(view->dl_tensor.data, array);
  ASSERT_EQ(view->dl_tensor.shape[0], 2);
  ASSERT_EQ(view->dl_tensor.shape[1], 6);
  Release(view);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_replaced_by_itself_stays_what_it_is(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 1);

  ASSERT_OK(CeedFabReplace(fab, fab, false));
  ASSERT_NUMBER(EntryOf(fab, (const CeedInt[]){-2, 0}, 0), ValueAt((const CeedInt[]){-2, 0, 0}, 0));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Access
// ------------------------------------------------------------------------------------------------

static int arrays_go_out_and_come_back(void) {
  CeedVector vec = Iota(20);
  CeedFab fab = NULL;
  const CeedScalar *read;
  CeedScalar *array, *wrong;

  ASSERT_OK(CeedFabCreateFromVector(vec, 4, NULL, BoxOf(1, -2, 0, 0, 5, 0, 0), no_ghost, 2, &fab));
  ASSERT_OK(CeedFabGetArrayRead(fab, CEED_MEM_HOST, &read));
  ASSERT_NUMBER(read[0], 4);
  ASSERT_OK(CeedFabRestoreArrayRead(fab, &read));
  ASSERT(!read);
  ASSERT_OK(CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  ASSERT_NUMBER(array[-1], 3);
  wrong = array + 1;
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabRestoreArray(fab, &wrong));
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  ASSERT(!array);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabRestoreArray(fab, &wrong));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_whose_array_is_out_stays(void) {
  CeedFab fab = FabOf(ValidBox(1), ghosts, 1), other = NULL;
  CeedScalar *array;

  ASSERT_OK(CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedFabReferenceCopy(fab, &other));
  ASSERT_OK(CeedFabDestroy(&other));
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabDestroy(&fab));
  ASSERT_SAYS("restore");
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT(!fab);
  ASSERT_OK(CeedFabDestroy(&fab));
  ASSERT_OK(CeedFabDestroy(NULL));
  return TEST_PASSED;
}

static int handles_of_other_kinds_are_errors(void) {
  CeedVector vec = Iota(3);
  CeedFab fab = FabOf(ValidBox(1), ghosts, 1), none = NULL;
  CeedBox box;
  Ceed context = NULL;

  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetBox((CeedFab)(void *)vec, &box));
  ASSERT_SAYS("is a CeedVector");
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetBox(NULL, &box));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabGetBox(fab, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedVectorDestroy((CeedVector *)(void *)&fab));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabCreate(ceed, ValidBox(1), ghosts, 1, NULL));
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabCreate(NULL, ValidBox(1), ghosts, 1, &none));
  ASSERT_OK(CeedFabGetCeed(fab, &context));
  ASSERT_SAME(context, ceed);
  ASSERT_SAME(CeedFabReturnCeed(fab), ceed);
  ASSERT_SAME(CeedFabReturnCeed(NULL), NULL);
  ASSERT_OK(CeedDestroy(&context));
  ASSERT_OK(CeedVectorDestroy(&vec));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_tells_where_its_memory_is(void) {
  CeedFab fab = NULL;
  bool holds[2], current[2];
  int32_t type, id;

  ASSERT_OK(CeedFabCreate(ceed, ValidBox(1), ghosts, 1, &fab));
  ASSERT_OK(CeedFabGetMemTypes(fab, holds, current));
  ASSERT(!holds[CEED_MEM_HOST] && !current[CEED_MEM_HOST]);
  PASSES(FillFab(fab));
  ASSERT_OK(CeedFabGetMemTypes(fab, holds, current));
  ASSERT(holds[CEED_MEM_HOST] && current[CEED_MEM_HOST] && !holds[CEED_MEM_DEVICE]);
  ASSERT_OK(CeedFabGetDLPackDevice(fab, CEED_MEM_HOST, &type, &id));
  ASSERT_EQ(type, CPU);
  ASSERT_EQ(id, 0);
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_fab_is_described(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);

  ASSERT_OK(CeedFabView(fab, stream));
  fclose(stream);
  ASSERT_HAS(text, "CeedFab ((-2,-1) (5,1) (0,0))");
  ASSERT_HAS(text, "((-4,-1) (6,4) (0,0))");
  ASSERT_HAS(text, "3 from 0");
  free(text);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabView(fab, NULL));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// ------------------------------------------------------------------------------------------------
// Values
// ------------------------------------------------------------------------------------------------

static int a_value_is_set_in_a_region_and_nowhere_else(void) {
  EVERY_KIND(dim, ncomp) {
    CeedFab fab = FabOf(ValidBox(dim), ghosts, ncomp);
    CeedBox valid = ValidOf(fab);
    ASSERT_OK(CeedFabSetValue(fab, &valid, ncomp - 1, 1, -3));
    for (CeedInt n = 0; n < ncomp; n++) {
      EVERY_INDEX(at, WholeOf(fab)) {
        bool is_set = n == ncomp - 1 && IsIn(valid, at.index);
        ASSERT_NUMBER(EntryOf(fab, at.index, n), is_set ? -3 : ValueAt(at.index, n));
      }
    }
    ASSERT_OK(CeedFabDestroy(&fab));
  }
  return TEST_PASSED;
}

// All of a fab is not all of its vector.
static int a_part_of_a_vector_without_values_is_not_written(void) {
  const CeedSize gaps[4] = {2, 1, 1, 1};
  CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
  CeedFab from = FabOf(box, no_ghost, 1), fab = NULL;
  CeedVector vec = NULL;
  CeedScalar *array;

  for (int is_strided = 0; is_strided <= 1; is_strided++) {
    ASSERT_OK(CeedVectorCreate(ceed, 8, &vec));
    ASSERT_OK(CeedFabCreateFromVector(vec, 1, is_strided ? gaps : NULL, box, no_ghost, 1, &fab));
    ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabSetValue(fab, NULL, 0, 1, 0));
    ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabCopy(from, NULL, 0, 1, fab, 0));
    ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
    ASSERT_OK(CeedVectorSetValue(vec, 5));
    ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, 1));
    if (is_strided) {
      ASSERT_VALUES(vec, 5, 1, 5, 1, 5, 1, 5, 1);
    } else {
      ASSERT_VALUES(vec, 5, 1, 1, 1, 1, 5, 5, 5);
    }
    ASSERT_OK(CeedFabDestroy(&fab));
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  ASSERT_OK(CeedFabDestroy(&from));
  return TEST_PASSED;
}

static int a_part_of_a_fab_without_values_is_not_set(void) {
  CeedFab fab = NULL;
  CeedBox valid;

  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 1, &fab));
  valid = ValidOf(fab);
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabSetValue(fab, &valid, 0, 1, 0));
  ASSERT_OK(CeedFabSetValue(fab, NULL, 0, 1, 0));
  ASSERT_OK(CeedFabSetValue(fab, &valid, 0, 1, 1));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

// To a fab that is shifted and has other ghosts: what both have, and only that.
static int fabs_are_copied_where_both_are(void) {
  const CeedGhost others = {{0, 1, 1}, {2, 2, 0}};

  EVERY_KIND(dim, ncomp) {
    CeedFab from = FabOf(ValidBox(dim), ghosts, ncomp), to = NULL;
    CeedBox region = BoxOf(dim, -90, 0, -90, 4, 90, 90);
    ASSERT_OK(CeedFabCreate(ceed, BoxOf(dim, 0, -3, 0, 9, 0, 3), others, ncomp, &to));
    ASSERT_OK(CeedFabSetValue(to, NULL, 0, ncomp, -1));
    ASSERT_OK(CeedFabCopy(from, &region, 0, ncomp, to, 0));
    for (CeedInt n = 0; n < ncomp; n++) {
      EVERY_INDEX(at, WholeOf(to)) {
        bool is_both = IsIn(WholeOf(from), at.index) && IsIn(region, at.index);
        ASSERT_NUMBER(EntryOf(to, at.index, n), is_both ? ValueAt(at.index, n) : -1);
      }
    }
    ASSERT_OK(CeedFabDestroy(&from));
    ASSERT_OK(CeedFabDestroy(&to));
  }
  return TEST_PASSED;
}

static int components_are_copied_to_others(void) {
  CeedFab from = FabOf(ValidBox(2), ghosts, 3), to = FabOf(ValidBox(2), no_ghost, 3);

  ASSERT_OK(CeedFabSetComponentBase(to, 1));
  ASSERT_OK(CeedFabCopy(from, NULL, 2, 1, to, 1));
  EVERY_INDEX(at, WholeOf(to)) {
    ASSERT_NUMBER(EntryOf(to, at.index, 0), ValueAt(at.index, 2));
    ASSERT_NUMBER(EntryOf(to, at.index, 1), ValueAt(at.index, 1));
  }
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCopy(from, NULL, 2, 2, to, 1));
  ASSERT_CODE(CEED_ERROR_DIMENSION, CeedFabCopy(from, NULL, 0, 1, to, 0));
  ASSERT_OK(CeedFabDestroy(&from));
  ASSERT_OK(CeedFabDestroy(&to));
  return TEST_PASSED;
}

static int a_whole_copy_is_a_first_value(void) {
  CeedFab from = FabOf(ValidBox(2), ghosts, 1), to = NULL;

  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), no_ghost, 1, &to));
  ASSERT_OK(CeedFabCopy(from, NULL, 0, 1, to, 0));
  EVERY_INDEX(at, WholeOf(to)) ASSERT_NUMBER(EntryOf(to, at.index, 0), ValueAt(at.index, 0));
  ASSERT_OK(CeedFabResize(to, Grown(ValidBox(2), ghosts), ghosts, 1, false));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabCopy(from, NULL, 0, 1, to, 0));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabCopy(to, NULL, 0, 1, from, 0));
  ASSERT_NUMBER(EntryOf(from, (const CeedInt[]){-2, 0}, 0),
                ValueAt((const CeedInt[]){-2, 0, 0}, 0));
  ASSERT_OK(CeedFabDestroy(&from));
  ASSERT_OK(CeedFabDestroy(&to));
  return TEST_PASSED;
}

static int fabs_that_do_not_meet_are_not_changed(void) {
  CeedFab from = FabOf(ValidBox(2), no_ghost, 1),
          to = FabOf(BoxOf(2, 60, 60, 0, 61, 61, 0), no_ghost, 1);

  ASSERT_OK(CeedFabCopy(from, NULL, 0, 1, to, 0));
  EVERY_INDEX(at, WholeOf(to)) ASSERT_NUMBER(EntryOf(to, at.index, 0), ValueAt(at.index, 0));
  ASSERT_OK(CeedFabDestroy(&to));
  to = FabOf(ValidBox(1), no_ghost, 1);
  ASSERT_CODE(CEED_ERROR_INCOMPATIBLE, CeedFabCopy(from, NULL, 0, 1, to, 0));
  ASSERT_OK(CeedFabDestroy(&from));
  ASSERT_OK(CeedFabDestroy(&to));
  return TEST_PASSED;
}

// Two fabs over one vector, shifted by an entry: as if by way of memory apart.
static int fabs_that_share_memory_are_copied(void) {
  CeedVector vec = Iota(9);
  CeedBox box = BoxOf(1, 0, 0, 0, 7, 0, 0);
  CeedFab low = NULL, high = NULL;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, NULL, box, no_ghost, 1, &low));
  ASSERT_OK(CeedFabCreateFromVector(vec, 1, NULL, box, no_ghost, 1, &high));
  ASSERT_OK(CeedFabCopy(low, NULL, 0, 1, high, 0));
  ASSERT_VALUES(vec, 0, 0, 1, 2, 3, 4, 5, 6, 7);
  ASSERT_OK(CeedFabCopy(high, NULL, 0, 1, low, 0));
  ASSERT_VALUES(vec, 0, 1, 2, 3, 4, 5, 6, 7, 7);
  ASSERT_OK(CeedFabCopy(low, NULL, 0, 1, low, 0));
  ASSERT_VALUES(vec, 0, 1, 2, 3, 4, 5, 6, 7, 7);
  ASSERT_OK(CeedFabDestroy(&low));
  ASSERT_OK(CeedFabDestroy(&high));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

// Entry by entry, every one would be the first.
// The last entry of one is the first of the other; between the entries lie those of others.
static int fabs_that_share_one_entry_are_copied(void) {
  const CeedSize strides[4] = {2, 1, 1, 1};

  for (int up = 0; up < 2; up++) {
    CeedBox box = BoxOf(1, 0, 0, 0, 3, 0, 0);
    CeedVector vec = Iota(13);
    CeedFab low = NULL, high = NULL;
    ASSERT_OK(CeedFabCreateFromVector(vec, 0, strides, box, no_ghost, 1, &low));
    ASSERT_OK(CeedFabCreateFromVector(vec, 6, strides, box, no_ghost, 1, &high));
    ASSERT_OK(CeedFabCopy(up ? low : high, NULL, 0, 1, up ? high : low, 0));
    if (up) {
      ASSERT_VALUES(vec, 0, 1, 2, 3, 4, 5, 0, 7, 2, 9, 4, 11, 6);
    } else {
      ASSERT_VALUES(vec, 6, 1, 8, 3, 10, 5, 12, 7, 8, 9, 10, 11, 12);
    }
    ASSERT_OK(CeedFabDestroy(&low));
    ASSERT_OK(CeedFabDestroy(&high));
    ASSERT_OK(CeedVectorDestroy(&vec));
  }
  return TEST_PASSED;
}

static int a_fab_without_values_has_none_to_copy_to_itself(void) {
  CeedFab fab = NULL;
  CeedScalar *array;

  ASSERT_OK(CeedFabCreate(ceed, ValidBox(2), ghosts, 3, &fab));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabCopy(fab, NULL, 0, 3, fab, 0));
  ASSERT_CODE(CEED_ERROR_INCOMPLETE, CeedFabGetArray(fab, CEED_MEM_HOST, &array));
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int fabs_that_lie_inside_each_other_are_copied(void) {
  const CeedSize strides[4] = {2, 1, 1, 1};
  CeedVector vec = Iota(9);
  CeedBox box = BoxOf(1, 0, 0, 0, 2, 0, 0);
  CeedFab low = NULL, high = NULL;

  ASSERT_OK(CeedFabCreateFromVector(vec, 0, strides, box, no_ghost, 1, &low));
  ASSERT_OK(CeedFabCreateFromVector(vec, 2, strides, box, no_ghost, 1, &high));
  ASSERT_OK(CeedFabCopy(low, NULL, 0, 1, high, 0));
  ASSERT_VALUES(vec, 0, 1, 0, 3, 2, 5, 4, 7, 8);
  ASSERT_OK(CeedFabDestroy(&low));
  ASSERT_OK(CeedFabDestroy(&high));
  ASSERT_OK(CeedVectorDestroy(&vec));
  return TEST_PASSED;
}

static int components_of_one_fab_are_copied_to_each_other(void) {
  CeedFab fab = FabOf(ValidBox(2), ghosts, 3);

  ASSERT_OK(CeedFabCopy(fab, NULL, 0, 2, fab, 1));
  EVERY_INDEX(at, WholeOf(fab)) {
    ASSERT_NUMBER(EntryOf(fab, at.index, 0), ValueAt(at.index, 0));
    ASSERT_NUMBER(EntryOf(fab, at.index, 1), ValueAt(at.index, 0));
    ASSERT_NUMBER(EntryOf(fab, at.index, 2), ValueAt(at.index, 1));
  }
  ASSERT_OK(CeedFabDestroy(&fab));
  return TEST_PASSED;
}

static int a_refused_copy_changes_nothing(void) {
  CeedFab from = FabOf(ValidBox(2), ghosts, 1), to = FabOf(ValidBox(2), no_ghost, 1);
  DLManagedTensorVersioned *lease = ViewOf(to, CEED_EXPORT_READ, NULL, 0, 1, CEED_ORDER_XYZN);
  DLManagedTensorVersioned *write;

  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabCopy(from, NULL, 0, 1, to, 0));
  Release(lease);
  write = ViewOf(from, CEED_EXPORT_WRITE, NULL, 0, 1, CEED_ORDER_XYZN);
  ASSERT_CODE(CEED_ERROR_ACCESS, CeedFabCopy(from, NULL, 0, 1, to, 0));
  Release(write);
  ASSERT_OK(CeedFabCopy(from, NULL, 0, 1, to, 0));
  ASSERT_OK(CeedFabDestroy(&from));
  ASSERT_OK(CeedFabDestroy(&to));
  return TEST_PASSED;
}

static const Behaviour behaviours[] = {
    BEHAVIOUR(a_fab_has_a_valid_box_and_ghosts_on_every_side),
    BEHAVIOUR(the_first_direction_is_fastest_and_the_component_slowest),
    BEHAVIOUR(shapes_that_cannot_be_are_errors),
    BEHAVIOUR(a_fab_of_any_number_of_cells),
    BEHAVIOUR(a_fab_without_cells_works_everywhere),
    BEHAVIOUR(the_valid_box_and_the_sides_make_the_whole_block),
    BEHAVIOUR(faces_edges_and_corners_lie_outside_the_valid_box),
    BEHAVIOUR(the_interior_is_where_a_stencil_reads_no_ghost),
    BEHAVIOUR(the_valid_region_is_right_for_every_kind_of_ghosts),
    BEHAVIOUR(regions_at_the_ends_of_the_integers),
    BEHAVIOUR(every_element_is_seen_in_both_orders),
    BEHAVIOUR(a_legacy_view_has_every_element_in_both_orders),
    BEHAVIOUR(a_legacy_view_of_what_may_not_be_written_is_an_error),
    BEHAVIOUR(every_view_is_of_the_same_memory),
    BEHAVIOUR(what_is_written_through_a_view_is_seen_by_all),
    BEHAVIOUR(a_view_keeps_the_memory_when_the_fab_goes),
    BEHAVIOUR(a_copy_is_compact_in_the_order_asked_for),
    BEHAVIOUR(a_copy_outlives_everything_and_changes_with_nothing),
    BEHAVIOUR(views_are_read_only_where_asked),
    BEHAVIOUR(views_of_what_is_not_there_are_errors),
    BEHAVIOUR(components_count_from_the_base),
    BEHAVIOUR(a_fab_without_values_is_not_exported),
    BEHAVIOUR(device_memory_of_a_host_context_is_an_error),
    BEHAVIOUR(extents_of_one_have_the_strides_of_c_order),
    BEHAVIOUR(the_vector_of_a_compact_fab_has_its_memory),
    BEHAVIOUR(fabs_lie_side_by_side_in_a_vector),
    BEHAVIOUR(a_fab_goes_where_its_vector_goes),
    BEHAVIOUR(memory_replaced_in_the_vector_is_another_generation),
    BEHAVIOUR(a_fab_that_reaches_out_of_its_vector_is_an_error),
    BEHAVIOUR(an_array_is_borrowed_with_its_strides),
    BEHAVIOUR(views_of_a_borrowed_array_are_of_the_array),
    BEHAVIOUR(an_array_is_taken),
    BEHAVIOUR(an_array_of_any_strides_is_copied),
    BEHAVIOUR(strides_with_which_entries_share_memory_are_refused),
    BEHAVIOUR(bad_arrays_are_errors),
    BEHAVIOUR(borrowed_memory_is_given_back_when_no_view_lives),
    BEHAVIOUR(a_tensor_keeps_its_place_and_gets_bounds),
    BEHAVIOUR(the_memory_of_a_tensor_lives_as_long_as_a_view),
    BEHAVIOUR(strided_tensors_are_adopted_as_they_lie),
    BEHAVIOUR(tensors_of_any_strides_are_copied_or_refused),
    BEHAVIOUR(read_only_tensors_stay_read_only),
    BEHAVIOUR(tensors_that_are_no_fab_are_refused_and_left_alone),
    BEHAVIOUR(a_tensor_without_cells_is_a_fab_without_cells),
    BEHAVIOUR(resizing_under_views_is_an_error_that_counts_them),
    BEHAVIOUR(a_view_of_any_mode_is_in_the_way_and_a_copy_is_not),
    BEHAVIOUR(views_keep_the_old_memory_on_request),
    BEHAVIOUR(resizing_under_an_array_is_an_error_even_so),
    BEHAVIOUR(a_failed_resize_changes_nothing),
    BEHAVIOUR(the_same_address_with_another_box_is_another_generation),
    BEHAVIOUR(a_fab_replaced_by_itself_stays_what_it_is),
    BEHAVIOUR(arrays_go_out_and_come_back),
    BEHAVIOUR(a_fab_whose_array_is_out_stays),
    BEHAVIOUR(handles_of_other_kinds_are_errors),
    BEHAVIOUR(a_fab_tells_where_its_memory_is),
    BEHAVIOUR(a_fab_is_described),
    BEHAVIOUR(a_value_is_set_in_a_region_and_nowhere_else),
    BEHAVIOUR(a_part_of_a_vector_without_values_is_not_written),
    BEHAVIOUR(a_part_of_a_fab_without_values_is_not_set),
    BEHAVIOUR(fabs_are_copied_where_both_are),
    BEHAVIOUR(components_are_copied_to_others),
    BEHAVIOUR(a_whole_copy_is_a_first_value),
    BEHAVIOUR(fabs_that_do_not_meet_are_not_changed),
    BEHAVIOUR(fabs_that_share_memory_are_copied),
    BEHAVIOUR(fabs_that_share_one_entry_are_copied),
    BEHAVIOUR(a_fab_without_values_has_none_to_copy_to_itself),
    BEHAVIOUR(fabs_that_lie_inside_each_other_are_copied),
    BEHAVIOUR(components_of_one_fab_are_copied_to_each_other),
    BEHAVIOUR(a_refused_copy_changes_nothing),
};

int main(int argc, char **argv) {
  unsetenv("CEED_ERROR_HANDLER");
  return TestMain(argc, argv, behaviours, COUNT_OF(behaviours), CreateContext, DestroyContext);
}
