// Fabs of memory of others: arrays and tensors.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>

#include "dlpack.h"
#include "fab.h"

/* The axes of a tensor in the order of a fab's compact memory: [n,z,y,x] in C order. */
typedef struct {
  CeedIncoming in;
  DLTensor tensor;
  int64_t dims[8];
} Reordered;

static int Reorder(Ceed ceed, const CeedIncoming *in, const CeedFabShape *shape,
                   const CeedSize strides[4], Reordered *r) {
  r->in = *in;
  r->tensor = *in->any.tensor;
  r->tensor.ndim = 4;
  r->tensor.shape = r->dims;
  r->tensor.strides = r->dims + 4;
  for (int i = 0; i < 4; i++) {
    r->dims[i] = shape->lengths[3 - i];
    r->dims[4 + i] = strides[3 - i];
  }
  r->in.any.tensor = &r->tensor;
  return TensorCheckLayout(ceed, &r->tensor, sizeof(CeedScalar), &r->in.layout);
}

/* A compact fab with the entries of a tensor that has these strides. */
static int CreateCopy(Ceed ceed, const CeedIncoming *in, const CeedFabShape *shape,
                      const CeedSize strides[4], CeedFab *fab) {
  CeedVector vec = NULL;
  Reordered r;
  int code;

  CeedCall(Reorder(ceed, in, shape, strides, &r));
  CeedCall(CeedVectorCreate(ceed, shape->count, &vec));
  code = CeedVectorCopyIncoming(vec, &r.in);
  if (code) {
    (void)CeedVectorDestroy(&vec);
    return code;
  }
  return CeedFabAssemble(vec, 0, shape, fab);
}

static int CreateOver(Ceed ceed, CeedMemType mem_type, CeedCopyMode copy_mode, CeedScalar *array,
                      const CeedFabShape *shape, CeedFab *fab) {
  CeedVector vec = NULL;
  CeedFab new_fab;
  int code;

  CeedCall(CeedVectorCreate(ceed, shape->reach, &vec));
  CeedCall(CeedFabAssemble(vec, 0, shape, &new_fab));
  code = CeedVectorSetArray(vec, mem_type, copy_mode, array);
  if (code) {
    (void)CeedFabDestroy(&new_fab);
    return code;
  }
  *fab = new_fab;
  return CEED_ERROR_SUCCESS;
}

int CeedFabCreateFromArray(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp,
                           CeedMemType mem_type, CeedCopyMode copy_mode, const CeedSize strides[4],
                           CeedScalar *array, CeedFab *fab) {
  DLTensor tensor = {.data = array};
  CeedIncoming in = {.any = {.tensor = &tensor}, .mem_type = mem_type};
  CeedFabShape shape;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(fab, ceed);
  CeedCall(CeedMemTypeCheck(ceed, mem_type));
  CeedCall(CeedFabShapeMake(ceed, box, ghost, num_comp, &shape));
  if (strides && copy_mode == CEED_COPY_VALUES) {
    CeedCall(CeedMemoryCheck(ceed, mem_type, array));
    return CreateCopy(ceed, &in, &shape, strides, fab);
  }
  if (strides) CeedCall(CeedFabShapeSetStrides(ceed, strides, &shape));
  return CreateOver(ceed, mem_type, copy_mode, array, &shape, fab);
}

/* The shape of a fab that a tensor makes from the indices `lo` on; and its strides. */
static int ShapeOfTensor(Ceed ceed, const DLTensor *tensor, CeedAxisOrder order, CeedBox whole,
                         CeedGhost ghost, CeedFabShape *shape, CeedSize strides[4]) {
  CeedGhost inwards;
  int64_t dense = 1, num_comp = tensor->shape[CeedAxisOf(order, whole.dim, 3)];
  int64_t steps[4];

  CeedCall(CeedGhostCheck(ceed, whole.dim, &ghost));
  CeedCheck(num_comp <= INT32_MAX, ceed, CEED_ERROR_DIMENSION,
            "%" PRId64 " components do not fit CeedInt", num_comp);
  for (int d = 0; d < whole.dim; d++) {
    int64_t length = tensor->shape[CeedAxisOf(order, whole.dim, d)], hi;
    CeedCheck(!__builtin_add_overflow((int64_t)whole.lo[d] - 1, length, &hi) && hi <= INT32_MAX &&
                  hi >= INT32_MIN,
              ceed, CEED_ERROR_DIMENSION,
              "%" PRId64 " indices of %c from %" PRId32 " on do not fit CeedInt", length, "xyz"[d],
              whole.lo[d]);
    whole.hi[d] = (CeedInt)hi;
    inwards.lo[d] = -ghost.lo[d];
    inwards.hi[d] = -ghost.hi[d];
  }
  CeedCall(CeedBoxGrow(whole, inwards, &whole));
  CeedCall(CeedFabShapeMake(ceed, whole, ghost, (CeedInt)num_comp, shape));
  for (int axis = whole.dim; axis >= 0; axis--) {
    steps[axis] = tensor->strides ? tensor->strides[axis] : dense;
    dense = (int64_t)((uint64_t)dense * (uint64_t)tensor->shape[axis]); /* wraps when empty */
  }
  for (int i = 0; i < 4; i++) {
    bool is_there = i < whole.dim || i == 3;
    strides[i] = is_there ? steps[CeedAxisOf(order, whole.dim, i)] : shape->strides[i];
  }
  return CEED_ERROR_SUCCESS;
}

static int CreateAdopting(Ceed ceed, const CeedIncoming *in, CeedFabShape *shape,
                          const CeedSize strides[4], CeedFab *fab) {
  CeedVector vec = NULL;
  CeedFab new_fab;
  int code;

  CeedCall(CeedFabShapeSetStrides(ceed, strides, shape));
  CeedCall(CeedVectorCreate(ceed, shape->reach, &vec));
  CeedCall(CeedFabAssemble(vec, 0, shape, &new_fab));
  code = CeedVectorAdopt(vec, in);
  if (code) {
    (void)CeedFabDestroy(&new_fab);
    return code;
  }
  *fab = new_fab;
  return CEED_ERROR_SUCCESS;
}

static int CreateFromTensor(Ceed ceed, const void *managed, bool versioned, CeedAxisOrder order,
                            const CeedInt *lo, CeedInt centring, CeedGhost ghost,
                            CeedCopyMode copy_mode, CeedFab *fab) {
  CeedBox whole = {.centring = centring};
  CeedFabShape shape;
  CeedSize strides[4];
  CeedIncoming in;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(fab, ceed);
  CeedCall(CeedAxisOrderCheck(ceed, order));
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  CeedCheck(lo, ceed, CEED_ERROR_INCOMPATIBLE, "The lower bounds are NULL");
  CeedCall(CeedTensorInspect(ceed, managed, versioned, &in));
  whole.dim = in.any.tensor->ndim - 1;
  CeedCheck(whole.dim >= 1 && whole.dim <= CEED_MAX_BOX_DIM, ceed, CEED_ERROR_DIMENSION,
            "the tensor has %" PRId32
            " axes; a fab's has 2 to 4: 1 to 3 directions and one for the "
            "component, of length 1 where there is but one",
            in.any.tensor->ndim);
  for (int d = 0; d < whole.dim; d++) whole.lo[d] = lo[d];
  CeedCall(ShapeOfTensor(ceed, in.any.tensor, order, whole, ghost, &shape, strides));
  if (copy_mode != CEED_COPY_VALUES) return CreateAdopting(ceed, &in, &shape, strides, fab);
  CeedCall(CreateCopy(ceed, &in, &shape, strides, fab));
  AnyTensorRelease(&in.any);
  return CEED_ERROR_SUCCESS;
}

int CeedFabCreateFromDLPack(Ceed ceed, DLManagedTensor *tensor, CeedAxisOrder order,
                            const CeedInt *lo, CeedInt centring, CeedGhost ghost,
                            CeedCopyMode copy_mode, CeedFab *fab) {
  return CreateFromTensor(ceed, tensor, false, order, lo, centring, ghost, copy_mode, fab);
}

int CeedFabCreateFromDLPackVersioned(Ceed ceed, DLManagedTensorVersioned *tensor,
                                     CeedAxisOrder order, const CeedInt *lo, CeedInt centring,
                                     CeedGhost ghost, CeedCopyMode copy_mode, CeedFab *fab) {
  return CreateFromTensor(ceed, tensor, true, order, lo, centring, ghost, copy_mode, fab);
}
