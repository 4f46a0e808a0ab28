// Fabs: a vector's memory with a box. Life, shape, access, exports.
// SPDX-License-Identifier: BSD-2-Clause
#include "fab.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dlpack.h"

// ------------------------------------------------------------------------------------------------
// Shapes
// ------------------------------------------------------------------------------------------------

static int CheckGhost(Ceed ceed, CeedInt dim, CeedGhost *ghost) {
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

static int MakeShape(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp,
                     CeedFabShape *shape) {
  CeedCall(CeedBoxNormalize(ceed, &box));
  CeedCall(CheckValid(ceed, &box));
  CeedCall(CheckGhost(ceed, box.dim, &ghost));
  CeedCheck(num_comp >= 1, ceed, CEED_ERROR_DIMENSION,
            "%" PRId32 " components; there must be one at least", num_comp);
  *shape = (CeedFabShape){.valid = box, .ghost = ghost, .num_comp = num_comp};
  CeedCall(CeedBoxGrow(box, ghost, &shape->whole));
  return MakeCompact(ceed, shape);
}

/* Where there are other strides than those of compact memory: from the smallest to the largest each
   must step over all that the smaller ones reach. Axes of one entry have no stride. */
static int SetStrides(Ceed ceed, const CeedSize strides[4], CeedFabShape *shape) {
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

static bool IsCompact(const CeedFabShape *shape) {
  CeedSize step = 1;

  for (int i = 0; i < 4; i++) {
    if (shape->lengths[i] > 1 && shape->strides[i] != step) return false;
    step *= shape->lengths[i];
  }
  return true;
}

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

/* Takes the reference of the vector, on failure too. */
static int Assemble(CeedVector vec, CeedSize first, const CeedFabShape *shape, CeedFab *fab) {
  Ceed ceed = vec->base.ceed;
  CeedFab new_fab = CeedObjectNew(ceed, CEED_KIND_FAB, sizeof *new_fab);

  if (!new_fab) {
    (void)CeedVectorDestroy(&vec);
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: a fab");
  }
  new_fab->vec = vec;
  new_fab->first = first;
  new_fab->shape = *shape;
  *fab = new_fab;
  return CEED_ERROR_SUCCESS;
}

int CeedFabCreate(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp, CeedFab *fab) {
  CeedFabShape shape;
  CeedVector vec = NULL;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(fab, ceed);
  CeedCall(MakeShape(ceed, box, ghost, num_comp, &shape));
  CeedCall(CeedVectorCreate(ceed, shape.count, &vec));
  return Assemble(vec, 0, &shape, fab);
}

int CeedFabCreateFromVector(CeedVector vec, CeedSize offset, const CeedSize strides[4], CeedBox box,
                            CeedGhost ghost, CeedInt num_comp, CeedFab *fab) {
  CeedFabShape shape;
  CeedVector reference = NULL;
  Ceed ceed;

  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  ceed = vec->base.ceed;
  CeedCheckOutput(fab, ceed);
  CeedCall(MakeShape(ceed, box, ghost, num_comp, &shape));
  if (strides) CeedCall(SetStrides(ceed, strides, &shape));
  CeedCheck(offset >= 0 && offset <= vec->length && shape.reach <= vec->length - offset, ceed,
            CEED_ERROR_DIMENSION, "The fab reaches %td entries from entry %td, the vector has %td",
            shape.reach, offset, vec->length);
  CeedCall(CeedVectorReferenceCopy(vec, &reference));
  return Assemble(reference, offset, &shape, fab);
}

/* What the caller still has, where the end of the fab would be that of a vector in use. */
static const char *Out(void *object) {
  CeedFab fab = object;
  bool is_last = __atomic_load_n(&fab->vec->base.ref_count, __ATOMIC_ACQUIRE) == 1;

  return is_last && (CeedBufferWord(fab->vec->buffer) & (WRITER_ONE | READERS))
             ? "The fab's array is out"
             : NULL;
}

static void Free(void *object) {
  CeedFab fab = object;

  (void)CeedVectorDestroy(&fab->vec);
  free(fab);
}

static const CeedClass class = {CEED_KIND_FAB, Out, Free};
CEED_OBJECT(CeedFab, class)
CEED_OBJECT_CEED(CeedFab, CEED_KIND_FAB)

// ------------------------------------------------------------------------------------------------
// From memory of others
// ------------------------------------------------------------------------------------------------

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
  return Assemble(vec, 0, shape, fab);
}

static int CreateOver(Ceed ceed, CeedMemType mem_type, CeedCopyMode copy_mode, CeedScalar *array,
                      const CeedFabShape *shape, CeedFab *fab) {
  CeedVector vec = NULL;
  CeedFab new_fab;
  int code;

  CeedCall(CeedVectorCreate(ceed, shape->reach, &vec));
  CeedCall(Assemble(vec, 0, shape, &new_fab));
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
  CeedCall(MakeShape(ceed, box, ghost, num_comp, &shape));
  if (strides && copy_mode == CEED_COPY_VALUES) return CreateCopy(ceed, &in, &shape, strides, fab);
  if (strides) CeedCall(SetStrides(ceed, strides, &shape));
  return CreateOver(ceed, mem_type, copy_mode, array, &shape, fab);
}

static int CheckOrder(Ceed ceed, CeedAxisOrder order) {
  CeedCheck(order == CEED_ORDER_XYZN || order == CEED_ORDER_NZYX, ceed, CEED_ERROR_INCOMPATIBLE,
            "%d is no order of axes", (int)order);
  return CEED_ERROR_SUCCESS;
}

/* The axis of a tensor that is the i-th of x, y, z and the component. */
static int AxisOf(CeedAxisOrder order, int dim, int i) {
  int axis = i == 3 ? dim : i;

  return order == CEED_ORDER_XYZN ? axis : dim - axis;
}

/* The shape of a fab that a tensor makes from the indices `lo` on; and its strides. */
static int ShapeOfTensor(Ceed ceed, const DLTensor *tensor, CeedAxisOrder order, CeedBox whole,
                         CeedGhost ghost, CeedFabShape *shape, CeedSize strides[4]) {
  CeedGhost inwards;
  int64_t dense = 1, num_comp = tensor->shape[AxisOf(order, whole.dim, 3)];
  int64_t steps[4];

  CeedCall(CheckGhost(ceed, whole.dim, &ghost));
  CeedCheck(num_comp <= INT32_MAX, ceed, CEED_ERROR_DIMENSION,
            "%" PRId64 " components do not fit CeedInt", num_comp);
  for (int d = 0; d < whole.dim; d++) {
    int64_t length = tensor->shape[AxisOf(order, whole.dim, d)], hi;
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
  CeedCall(MakeShape(ceed, whole, ghost, (CeedInt)num_comp, shape));
  for (int axis = whole.dim; axis >= 0; axis--) {
    steps[axis] = tensor->strides ? tensor->strides[axis] : dense;
    dense = (int64_t)((uint64_t)dense * (uint64_t)tensor->shape[axis]); /* wraps when empty */
  }
  for (int i = 0; i < 4; i++) {
    bool is_there = i < whole.dim || i == 3;
    strides[i] = is_there ? steps[AxisOf(order, whole.dim, i)] : shape->strides[i];
  }
  return CEED_ERROR_SUCCESS;
}

static int CreateAdopting(Ceed ceed, const CeedIncoming *in, CeedFabShape *shape,
                          const CeedSize strides[4], CeedFab *fab) {
  CeedVector vec = NULL;
  CeedFab new_fab;
  int code;

  CeedCall(SetStrides(ceed, strides, shape));
  CeedCall(CeedVectorCreate(ceed, shape->reach, &vec));
  CeedCall(Assemble(vec, 0, shape, &new_fab));
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
  CeedCall(CheckOrder(ceed, order));
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

// ------------------------------------------------------------------------------------------------
// Replacing
// ------------------------------------------------------------------------------------------------

int CeedFabCheckUnused(CeedFab fab, bool keep_views, const char *what) {
  uint64_t word = CeedBufferWord(fab->vec->buffer);
  uint64_t blockers = keep_views ? WRITER_ONE | READERS : ~(FLAGS | REF_ONE);

  if (word & blockers & ~SLOTS) return CeedBufferRefuse(fab->base.ceed, word, what);
  return CEED_ERROR_SUCCESS;
}

void CeedFabMakeStale(CeedFab fab) { __atomic_add_fetch(&fab->generation, 1, __ATOMIC_RELAXED); }

/* A MultiFab tells the boxes and components of its fabs, so that they stay. */
static int CheckMember(CeedFab fab, const CeedFabShape *by, const char *what) {
  const CeedFabShape *shape = &fab->shape;
  char text[CEED_BOX_TEXT], by_text[CEED_BOX_TEXT];

  if (!__atomic_load_n(&fab->members, __ATOMIC_ACQUIRE)) return CEED_ERROR_SUCCESS;
  CeedCheck(BoxIsEqual(&shape->valid, &by->valid) && shape->num_comp == by->num_comp,
            fab->base.ceed, CEED_ERROR_DIMENSION,
            "%s refused: the fab is one of a MultiFab, of %" PRId32
            " components of %s, not %" PRId32
            " of %s; give the MultiFab other boxes (CeedMultiFabRedefine)",
            what, shape->num_comp, BoxText(&shape->valid, text), by->num_comp,
            BoxText(&by->valid, by_text));
  return CEED_ERROR_SUCCESS;
}

static int Replace(CeedFab fab, CeedFab by, bool keep_views, const char *what) {
  CeedVector reference = NULL, old = fab->vec;

  CeedCall(CheckMember(fab, &by->shape, what));
  CeedCall(CeedFabCheckUnused(fab, keep_views, what));
  CeedCall(CeedVectorReferenceCopy(by->vec, &reference));
  fab->vec = reference;
  fab->first = by->first;
  fab->shape = by->shape;
  CeedFabMakeStale(fab);
  return CeedVectorDestroy(&old);
}

int CeedFabReplace(CeedFab fab, CeedFab by, bool keep_views) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedObjectCheck(by, CEED_KIND_FAB));
  CeedCheck(fab->base.ceed == by->base.ceed, fab->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The fabs belong to different contexts");
  return Replace(fab, by, keep_views, "Replace");
}

int CeedFabResize(CeedFab fab, CeedBox box, CeedGhost ghost, CeedInt num_comp, bool keep_views) {
  CeedFab by = NULL;
  int code;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedFabCreate(fab->base.ceed, box, ghost, num_comp, &by));
  by->shape.comp_base = fab->shape.comp_base;
  code = Replace(fab, by, keep_views, "Resize");
  (void)CeedFabDestroy(&by);
  return code;
}

int CeedFabTakeArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedVectorTakeArray(fab->vec, mem_type, array));
  CeedFabMakeStale(fab);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

CEED_GET(CeedFabGetBox, CeedFab, CEED_KIND_FAB, CeedBox, shape.valid)
CEED_GET(CeedFabGetGhost, CeedFab, CEED_KIND_FAB, CeedGhost, shape.ghost)
CEED_GET(CeedFabGetNumComponents, CeedFab, CEED_KIND_FAB, CeedInt, shape.num_comp)
CEED_GET(CeedFabGetComponentBase, CeedFab, CEED_KIND_FAB, CeedInt, shape.comp_base)

int CeedFabSetComponentBase(CeedFab fab, CeedInt base) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheck((int64_t)base + fab->shape.num_comp - 1 <= INT32_MAX, fab->base.ceed,
            CEED_ERROR_DIMENSION, "%" PRId32 " components from %" PRId32 " on do not fit CeedInt",
            fab->shape.num_comp, base);
  fab->shape.comp_base = base;
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetGeneration(CeedFab fab, uint64_t *generation) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(generation, fab->base.ceed);
  *generation = __atomic_load_n(&fab->generation, __ATOMIC_RELAXED);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetStrides(CeedFab fab, CeedSize strides[4]) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(strides, fab->base.ceed);
  for (int i = 0; i < 4; i++) strides[i] = fab->shape.strides[i];
  return CEED_ERROR_SUCCESS;
}

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

int CeedFabGetVector(CeedFab fab, CeedVector *vec) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(vec, fab->base.ceed);
  CeedCheck(IsCompact(&fab->shape) && CeedFabFillsVector(fab), fab->base.ceed,
            CEED_ERROR_INCOMPATIBLE,
            "The fab's memory is not compact: strides (%td, %td, %td, %td), %td entries from entry "
            "%td of %td; copy it into a fab of its own memory (CeedFabCopy)",
            fab->shape.strides[0], fab->shape.strides[1], fab->shape.strides[2],
            fab->shape.strides[3], fab->shape.count, fab->first, fab->vec->length);
  return CeedVectorReferenceCopy(fab->vec, vec);
}

int CeedFabGetExportCount(CeedFab fab, CeedSize *count) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetExportCount(fab->vec, count);
}

int CeedFabGetDLPackDevice(CeedFab fab, CeedMemType mem_type, int32_t *device_type,
                           int32_t *device_id) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetDLPackDevice(fab->vec, mem_type, device_type, device_id);
}

int CeedFabGetMemTypes(CeedFab fab, bool holds[2], bool current[2]) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  return CeedVectorGetMemTypes(fab->vec, holds, current);
}

// ------------------------------------------------------------------------------------------------
// Access
// ------------------------------------------------------------------------------------------------

int CeedFabGetArray(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedVectorGetArray(fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetArrayRead(CeedFab fab, CeedMemType mem_type, const CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CeedVectorGetArrayRead(fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabGetArrayWrite(CeedFab fab, CeedMemType mem_type, CeedScalar **array) {
  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall((CeedFabKeeps(fab, true) ? CeedVectorGetArray : CeedVectorGetArrayWrite)(
      fab->vec, mem_type, array));
  *array = CeedEntryAt(*array, fab->first);
  return CEED_ERROR_SUCCESS;
}

int CeedFabRestoreArray(CeedFab fab, CeedScalar **array) {
  CeedScalar *first;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(array, fab->base.ceed);
  first = *array ? *array - fab->first : NULL;
  CeedCall(CeedVectorRestoreArray(fab->vec, &first));
  *array = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedFabRestoreArrayRead(CeedFab fab, const CeedScalar **array) {
  const CeedScalar *first;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCheckOutput(array, fab->base.ceed);
  first = *array ? *array - fab->first : NULL;
  CeedCall(CeedVectorRestoreArrayRead(fab->vec, &first));
  *array = NULL;
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

int CeedFabExport(CeedFab fab, CeedMemType mem_type, CeedExportMode mode, const CeedBox *region,
                  CeedInt comp, CeedInt num_comp, CeedAxisOrder order,
                  DLManagedTensorVersioned **tensor) {
  CeedFabPart part;
  int64_t shape[4], strides[4];
  int dim;

  CeedCall(CeedObjectCheck(fab, CEED_KIND_FAB));
  CeedCall(CheckOrder(fab->base.ceed, order));
  CeedCall(CeedFabSelect(fab, region, comp, num_comp, &part));
  dim = fab->shape.whole.dim;
  for (int i = 0; i < 4; i++) {
    if (i >= dim && i < 3) continue;
    shape[AxisOf(order, dim, i)] = part.lengths[i];
    strides[AxisOf(order, dim, i)] = fab->shape.strides[i];
  }
  return CeedVectorExportFrom(fab->vec, part.first, mem_type, mode, dim + 1, shape, strides,
                              tensor);
}
