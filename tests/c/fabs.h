// What tests of fabs begin with: boxes of 1 to 3 directions with ghost layers that differ on every
// side, and a value for each index and component that no other has.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FABS_H
#define FABS_H

#include "fixture.h"

// Loops over what is tested everywhere: 1 to 3 directions with 1 and 3 components.
#define EVERY_KIND(dim, ncomp)           \
  for (CeedInt dim = 1; dim <= 3; dim++) \
    for (CeedInt ncomp = 1; ncomp <= 3; ncomp += 2)

static const CeedGhost no_ghost = {{0, 0, 0}, {0, 0, 0}};
static const CeedGhost ghosts = {{2, 0, 1}, {1, 3, 0}};

static inline CeedBox BoxOf(CeedInt dim, CeedInt lo0, CeedInt lo1, CeedInt lo2, CeedInt hi0,
                            CeedInt hi1, CeedInt hi2) {
  CeedBox box = {.dim = dim};

  CeedBoxSet(dim, (const CeedInt[]){lo0, lo1, lo2}, (const CeedInt[]){hi0, hi1, hi2}, 0, &box);
  return box;
}

// Straddles 0 in every direction; lengths 8, 3 and 5.
static inline CeedBox ValidBox(CeedInt dim) { return BoxOf(dim, -2, -1, -3, 5, 1, 1); }

static inline CeedBox Grown(CeedBox box, CeedGhost ghost) {
  CeedBoxGrow(box, ghost, &box);
  return box;
}

static inline CeedSize CountOf(CeedBox box) {
  CeedSize size = -1;

  CeedBoxGetSize(box, &size);
  return size;
}

static inline bool IsIn(CeedBox box, const CeedInt *index) {
  for (int d = 0; d < box.dim; d++) {
    if (index[d] < box.lo[d] || index[d] > box.hi[d]) return false;
  }
  return true;
}

static inline bool IsSameBox(CeedBox a, CeedBox b) {
  bool is_equal = false;

  CeedBoxIsEqual(a, b, &is_equal);
  return is_equal;
}

// All indices of a box: `index` is the next one, first direction fastest; false after the last.
typedef struct {
  CeedBox box;
  CeedInt index[3];
  bool begun;
} Walk;

static inline bool Next(Walk *walk) {
  if (!walk->begun) {
    for (int d = 0; d < 3; d++) walk->index[d] = d < walk->box.dim ? walk->box.lo[d] : 0;
    walk->begun = true;
    return CountOf(walk->box) > 0;
  }
  for (int d = 0; d < walk->box.dim; d++) {
    if (walk->index[d] < walk->box.hi[d]) {
      walk->index[d]++;
      return true;
    }
    walk->index[d] = walk->box.lo[d];
  }
  return false;
}

#define EVERY_INDEX(walk, box_) for (Walk walk = {.box = (box_)}; Next(&walk);)

// Exact in both precisions for indices below 50.
static inline CeedScalar ValueAt(const CeedInt *index, CeedInt comp) {
  return (CeedScalar)(index[0] + INT64_C(100) * index[1] + INT64_C(10000) * index[2] +
                      INT64_C(1000000) * comp + 7);
}

// ------------------------------------------------------------------------------------------------
// Fabs of known values
// ------------------------------------------------------------------------------------------------

static inline CeedBox WholeOf(CeedFab fab) {
  CeedBox box = {.dim = 1, .hi = {-1}};

  CeedFabGetRegion(fab, CEED_REGION_WHOLE, &box);
  return box;
}

static inline CeedBox ValidOf(CeedFab fab) {
  CeedBox box = {.dim = 1, .hi = {-1}};

  CeedFabGetBox(fab, &box);
  return box;
}

static inline CeedInt CompsOf(CeedFab fab) {
  CeedInt num_comp = 0;

  CeedFabGetNumComponents(fab, &num_comp);
  return num_comp;
}

// Where an index lies from the first entry on; components from 0.
static inline CeedSize PlaceOf(CeedFab fab, const CeedInt *index, CeedInt comp) {
  CeedBox whole = WholeOf(fab);
  CeedSize strides[4] = {0}, place;

  CeedFabGetStrides(fab, strides);
  place = comp * strides[3];
  for (int d = 0; d < whole.dim; d++) place += (index[d] - whole.lo[d]) * strides[d];
  return place;
}

static inline int FillFab(CeedFab fab) {
  CeedScalar *array;

  ASSERT_OK(CeedFabGetArrayWrite(fab, CEED_MEM_HOST, &array));
  for (CeedInt n = 0; n < CompsOf(fab); n++) {
    EVERY_INDEX(at, WholeOf(fab)) array[PlaceOf(fab, at.index, n)] = ValueAt(at.index, n);
  }
  ASSERT_OK(CeedFabRestoreArray(fab, &array));
  return TEST_PASSED;
}

static inline CeedFab FabOf(CeedBox valid, CeedGhost ghost, CeedInt num_comp) {
  CeedFab fab = NULL;

  if (CeedFabCreate(ceed, valid, ghost, num_comp, &fab) || FillFab(fab)) return NULL;
  return fab;
}

// One entry, NaN where it can't be read.
static inline CeedScalar EntryOf(CeedFab fab, const CeedInt *index, CeedInt comp) {
  const CeedScalar *array;
  CeedScalar value;

  if (CeedFabGetArrayRead(fab, CEED_MEM_HOST, &array)) return NAN;
  value = array[PlaceOf(fab, index, comp)];
  CeedFabRestoreArrayRead(fab, &array);
  return value;
}

// ------------------------------------------------------------------------------------------------
// Views
// ------------------------------------------------------------------------------------------------

static inline DLManagedTensorVersioned *ViewOf(CeedFab fab, CeedExportMode mode,
                                               const CeedBox *region, CeedInt comp,
                                               CeedInt num_comp, CeedAxisOrder order) {
  DLManagedTensorVersioned *tensor = NULL;

  if (CeedFabExport(fab, CEED_MEM_HOST, mode, region, comp, num_comp, order, &tensor)) return NULL;
  return tensor;
}

// The whole block, shared.
static inline DLManagedTensorVersioned *WholeView(CeedFab fab) {
  return ViewOf(fab, CEED_EXPORT_SHARED, NULL, 0, CompsOf(fab), CEED_ORDER_XYZN);
}

// An entry of a tensor of dim + 1 axes; indices and component count from 0.
static inline CeedScalar *EntryIn(const DLTensor *tensor, CeedAxisOrder order, const CeedInt *index,
                                  CeedInt comp) {
  CeedScalar *entry = (CeedScalar *)tensor->data;
  int dim = tensor->ndim - 1;

  for (int i = 0; i <= dim; i++) {
    int64_t at = i == dim ? comp : index[i];
    entry += at * tensor->strides[order == CEED_ORDER_XYZN ? i : dim - i];
  }
  return entry;
}

// The same, with the indices of the region that the tensor was made of.
static inline CeedScalar *EntryAt(const DLTensor *tensor, CeedAxisOrder order, CeedBox region,
                                  const CeedInt *index, CeedInt comp) {
  CeedInt inside[3] = {0};

  for (int d = 0; d < region.dim; d++) inside[d] = index[d] - region.lo[d];
  return EntryIn(tensor, order, inside, comp);
}

// Every entry of a view has the value of its index.
static inline int TestView(const char *file, int line, const DLTensor *tensor, CeedAxisOrder order,
                           CeedBox region, CeedInt comp, CeedInt num_comp) {
  for (CeedInt n = 0; n < num_comp; n++) {
    EVERY_INDEX(at, region) {
      CeedScalar found = *EntryAt(tensor, order, region, at.index, n);
      CeedScalar wanted = ValueAt(at.index, comp + n);
      if (found != wanted) {
        return TestFailed(file, line, "(%d,%d,%d) of component %d is %g, not %g", at.index[0],
                          at.index[1], at.index[2], comp + n, (double)found, (double)wanted);
      }
    }
  }
  return TEST_PASSED;
}

#define ASSERT_VIEW(tensor, order, region, comp, num_comp) \
  PASSES(TestView(__FILE__, __LINE__, (tensor), (order), (region), (comp), (num_comp)))

static inline CeedSize ViewCount(CeedFab fab) {
  CeedSize count = -1;

  CeedFabGetExportCount(fab, &count);
  return count;
}

static inline uint64_t Generation(CeedFab fab) {
  uint64_t generation = UINT64_MAX;

  CeedFabGetGeneration(fab, &generation);
  return generation;
}

#endif
