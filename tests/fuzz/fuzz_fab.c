// Fuzz target: a fab of any box, ghost widths and strides over a vector, and a view of any region of
// it. What is not refused lies inside the vector, entry by entry, and no two entries of the fab share
// memory. SPDX-License-Identifier: BSD-2-Clause
#include "tensor_from_bytes.h"

enum { LENGTH = 96 };

static CeedInt NextInt(Input *input) { return (CeedInt)(uint32_t)NextNumber(input); }

static CeedBox NextBox(Input *input) {
  CeedBox box;

  box.dim = (CeedInt)(Next(input, 1) % 8);
  box.centring = (CeedInt)(Next(input, 1) % 16);
  if (box.dim > 4) box.dim -= 4;
  for (int d = 0; d < 3; d++) {
    box.lo[d] = NextInt(input);
    box.hi[d] = Next(input, 1) % 4
                    ? (CeedInt)(uint32_t)(box.lo[d] + (int64_t)Next(input, 1) % 6 - 1)
                    : NextInt(input);
  }
  return box;
}

static CeedGhost NextGhost(Input *input) {
  CeedGhost ghost;

  for (int d = 0; d < 3; d++) {
    ghost.lo[d] = Next(input, 1) % 8 ? (CeedInt)Next(input, 1) % 3 : NextInt(input);
    ghost.hi[d] = Next(input, 1) % 8 ? (CeedInt)Next(input, 1) % 3 : NextInt(input);
  }
  return ghost;
}

/* Marks every place that a walk over lengths and strides reaches; each must be inside. */
static void Reach(int axes, const int64_t *lengths, const int64_t *strides, Wide place,
                  int *times) {
  if (!axes) {
    REQUIRE(place >= 0 && place < LENGTH);
    times[place]++;
    return;
  }
  for (int64_t i = 0; i < lengths[axes - 1]; i++) {
    Reach(axes - 1, lengths, strides, place + (Wide)i * strides[axes - 1], times);
  }
}

static bool IsEmpty(int axes, const int64_t *lengths) {
  for (int i = 0; i < axes; i++) {
    if (!lengths[i]) return true;
  }
  return false;
}

static void CheckFab(CeedFab fab, const CeedScalar *first) {
  const CeedScalar *array;
  int64_t lengths[4], strides[4];
  CeedSize steps[4], sizes[3];
  int times[LENGTH] = {0};
  CeedInt num_comp;
  CeedBox whole;

  REQUIRE(!CeedFabGetRegion(fab, CEED_REGION_WHOLE, &whole));
  REQUIRE(!CeedBoxGetLengths(whole, sizes));
  REQUIRE(!CeedFabGetNumComponents(fab, &num_comp));
  REQUIRE(!CeedFabGetStrides(fab, steps));
  for (int i = 0; i < 4; i++) {
    lengths[i] = i < 3 ? sizes[i] : num_comp;
    strides[i] = steps[i];
  }
  REQUIRE(!CeedFabGetArrayRead(fab, CEED_MEM_HOST, &array));
  if (!IsEmpty(4, lengths)) Reach(4, lengths, strides, array - first, times);
  for (int i = 0; i < LENGTH; i++) REQUIRE(times[i] <= 1);
  REQUIRE(!CeedFabRestoreArrayRead(fab, &array));
}

static void CheckView(CeedFab fab, Input *input, const CeedScalar *first) {
  bool is_whole = Next(input, 1) % 4 == 0;
  CeedBox region = NextBox(input);
  CeedInt comp = NextInt(input), num_comp = NextInt(input);
  CeedAxisOrder order = (CeedAxisOrder)(Next(input, 1) % 3);
  DLManagedTensorVersioned *view = NULL;
  const DLTensor *tensor;
  int times[LENGTH] = {0};
  bool is_empty;

  if (CeedFabExport(fab, CEED_MEM_HOST, CEED_EXPORT_SHARED, is_whole ? NULL : &region, comp,
                    num_comp, order, &view)) {
    REQUIRE(!view);
    return;
  }
  tensor = &view->dl_tensor;
  is_empty = IsEmpty(tensor->ndim, tensor->shape);
  REQUIRE(is_empty == !tensor->data);
  if (!is_empty) {
    Reach(tensor->ndim, tensor->shape, tensor->strides, (CeedScalar *)tensor->data - first, times);
  }
  view->deleter(view);
}

static void Try(Ceed ceed, CeedVector vec, Input *input) {
  CeedSize strides[4];
  CeedBox box = NextBox(input);
  CeedGhost ghost = NextGhost(input);
  CeedInt num_comp = NextInt(input);
  CeedSize offset = Next(input, 1) % 4 ? 0 : (CeedSize)NextNumber(input);
  bool is_compact = Next(input, 1) % 2;
  const CeedScalar *first;
  CeedFab fab = NULL, own = NULL;

  for (int i = 0; i < 4; i++) strides[i] = (CeedSize)NextNumber(input);
  REQUIRE(!CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &first));
  if (!CeedFabCreateFromVector(vec, offset, is_compact ? NULL : strides, box, ghost, num_comp,
                               &fab)) {
    CheckFab(fab, first);
    CheckView(fab, input, first);
  }
  (void)CeedFabCreate(ceed, box, ghost, num_comp, &own);
  REQUIRE(!CeedFabDestroy(&own));
  REQUIRE(!CeedFabDestroy(&fab));
  REQUIRE(!CeedVectorRestoreArrayRead(vec, &first));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  CeedVector vec = NULL;
  Ceed ceed = NULL;

  REQUIRE(!CeedInit("/cpu/self", &ceed));
  REQUIRE(!CeedVectorCreate(ceed, LENGTH, &vec));
  REQUIRE(!CeedVectorSetValue(vec, 1));
  Try(ceed, vec, &input);
  REQUIRE(!CeedVectorDestroy(&vec));
  REQUIRE(!CeedDestroy(&ceed));
  return 0;
}
