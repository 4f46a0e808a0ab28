// Fabs: their regions, and exports of them.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>

#include "dlpack.h"
#include "fab.h"

// ------------------------------------------------------------------------------------------------
// Regions
// ------------------------------------------------------------------------------------------------

/* Without the layers near the faces that are as many as there are ghost layers. */
static CeedBox InteriorOf(const CeedFabShape *shape) {
  CeedBox interior = shape->valid;

  for (int d = 0; d < interior.dim; d++) {
    int64_t lo = (int64_t)interior.lo[d] + shape->ghost.lo[d];
    int64_t hi = (int64_t)interior.hi[d] - shape->ghost.hi[d];
    if (hi < lo) {
      BoxMakeEmpty(&interior, d, interior.lo[d]);
    } else {
      interior.lo[d] = (CeedInt)lo;
      interior.hi[d] = (CeedInt)hi;
    }
  }
  return interior;
}

int CeedFabGetRegion(CeedFab fab, CeedRegion region, CeedBox *box) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(box, fab->base.ceed);
  CeedCheck(region >= CEED_REGION_WHOLE && region <= CEED_REGION_INTERIOR, fab->base.ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no region", (int)region);
  *box = region == CEED_REGION_WHOLE   ? fab->shape.whole
         : region == CEED_REGION_VALID ? fab->shape.valid
                                       : InteriorOf(&fab->shape);
  return CEED_ERROR_SUCCESS;
}

/* The layers on one side of a direction, which lie within what CeedInt holds. */
static void MoveToSide(const CeedFabShape *shape, CeedInt side, int d, CeedBox *region) {
  CeedInt lo = shape->valid.lo[d], hi = shape->valid.hi[d];

  if (!(side < 0 ? shape->ghost.lo : shape->ghost.hi)[d]) {
    BoxMakeEmpty(region, d, lo);
  } else if (side < 0) {
    region->lo[d] = shape->whole.lo[d];
    region->hi[d] = lo - 1;
  } else {
    region->lo[d] = hi + 1;
    region->hi[d] = shape->whole.hi[d];
  }
}

int CeedFabGetGhostRegion(CeedFab fab, const CeedInt *side, CeedBox *box) {
  CeedBox region;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(box, fab->base.ceed);
  CeedCheck(side, fab->base.ceed, CEED_ERROR_INCOMPATIBLE, "The side is NULL");
  region = fab->shape.valid;
  for (int d = 0; d < region.dim; d++) {
    CeedCheck(side[d] >= -1 && side[d] <= 1, fab->base.ceed, CEED_ERROR_DIMENSION,
              "The side %" PRId32 " of %c is not -1, 0 or 1", side[d], "xyz"[d]);
    if (side[d]) MoveToSide(&fab->shape, side[d], d, &region);
  }
  *box = region;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Parts
// ------------------------------------------------------------------------------------------------

CeedFabPart CeedFabPartOf(CeedFab fab, const CeedBox *region) {
  const CeedFabShape *shape = &fab->shape;
  CeedFabPart part = {.first = fab->first};

  part.lengths[3] = shape->num_comp;
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) part.lengths[d] = BoxLength(region, d);
  for (int d = 0; d < region->dim && BoxHasIndices(region); d++) {
    part.first += ((CeedSize)region->lo[d] - shape->whole.lo[d]) * shape->strides[d];
  }
  return part;
}

/* An empty direction may lie anywhere. */
static int CheckRegion(CeedFab fab, const CeedBox *region) {
  const CeedBox *whole = &fab->shape.whole;
  char text[CEED_BOX_TEXT], whole_text[CEED_BOX_TEXT];

  CeedCall(CeedBoxCheckKind(fab->base.ceed, region, whole));
  for (int d = 0; d < region->dim; d++) {
    CeedCheck(
        !BoxLength(region, d) || (region->lo[d] >= whole->lo[d] && region->hi[d] <= whole->hi[d]),
        fab->base.ceed, CEED_ERROR_DIMENSION, "The region %s is not in the fab of %s",
        BoxText(region, text), BoxText(whole, whole_text));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedFabSelect(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                  CeedFabPart *part) {
  const CeedFabShape *shape = &fab->shape;
  CeedBox box = region ? *region : shape->whole;
  int64_t first = (int64_t)comp - shape->comp_base;

  CeedCheck(first >= 0 && num_comp >= 1 && num_comp <= shape->num_comp - first, fab->base.ceed,
            CEED_ERROR_DIMENSION,
            "%" PRId32 " components from %" PRId32 " on; the fab has %" PRId32 " from %" PRId32,
            num_comp, comp, shape->num_comp, shape->comp_base);
  CeedCall(CeedBoxNormalize(fab->base.ceed, &box));
  CeedCall(CheckRegion(fab, &box));
  *part = CeedFabPartOf(fab, &box);
  part->lengths[3] = num_comp;
  part->first += (CeedSize)first * shape->strides[3];
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Exports
// ------------------------------------------------------------------------------------------------

int CeedAxisOrderCheck(Ceed ceed, CeedAxisOrder order) {
  CeedCheck(order == CEED_ORDER_XYZN || order == CEED_ORDER_NZYX, ceed, CEED_ERROR_INCOMPATIBLE,
            "%d is no order of axes", (int)order);
  return CEED_ERROR_SUCCESS;
}

int CeedAxisOf(CeedAxisOrder order, int dim, int i) {
  int axis = i == 3 ? dim : i;

  return order == CEED_ORDER_XYZN ? axis : dim - axis;
}

static int Export(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                  CeedAxisOrder order, CeedExportRequest request, CeedExport **block) {
  int64_t shape[4], strides[4];
  CeedFabPart part;
  int dim;

  CeedCall(CeedAxisOrderCheck(fab->base.ceed, order));
  CeedCall(CeedFabSelect(fab, region, comp, num_comp, &part));
  dim = fab->shape.whole.dim;
  for (int i = 0; i < 4; i++) {
    if (i >= dim && i < 3) continue;
    shape[CeedAxisOf(order, dim, i)] = part.lengths[i];
    strides[CeedAxisOf(order, dim, i)] = fab->shape.strides[i];
  }
  request.ndim = dim + 1;
  request.shape = shape;
  request.strides = strides;
  request.first = part.first;
  return CeedVectorExportPart(fab->vec, &request, block);
}

int CeedFabExport(CeedFab fab, CeedMemType mem_type, CeedExportMode mode, const CeedBox *region,
                  CeedInt comp, CeedInt num_comp, CeedAxisOrder order,
                  DLManagedTensorVersioned **tensor) {
  const CeedExportRequest request = {.mode = mode, .mem_type = mem_type};
  CeedExport *block;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(tensor, fab->base.ceed);
  CeedCall(Export(fab, region, comp, num_comp, order, request, &block));
  *tensor = &block->tensor.versioned;
  return CEED_ERROR_SUCCESS;
}

int CeedFabToDLPack(CeedFab fab, CeedMemType mem_type, const CeedBox *region, CeedInt comp,
                    CeedInt num_comp, CeedAxisOrder order, DLManagedTensor **tensor) {
  const CeedExportRequest request = {
      .mode = CEED_EXPORT_SHARED, .mem_type = mem_type, .is_legacy = true};
  CeedExport *block;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(tensor, fab->base.ceed);
  CeedCall(Export(fab, region, comp, num_comp, order, request, &block));
  *tensor = &block->tensor.legacy;
  return CEED_ERROR_SUCCESS;
}
