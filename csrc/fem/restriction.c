// Restrictions: from vectors of unknowns to the elements and back.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

static struct CeedElemRestriction_private none = {
    .base = {CEED_MAGIC_OF(8 * sizeof(CeedScalar), CEED_KIND_SENTINEL), 1, NULL}};
const CeedElemRestriction CEED_ELEMRESTRICTION_NONE = &none;

/* Known by its values, because a program may have a copy of the array. */
const CeedInt CEED_STRIDES_BACKEND[3] = {-INT32_MAX, -INT32_MAX, -INT32_MAX};

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

const char *CeedElemRestrictionOut(void *object) {
  CeedElemRestriction rstr = object;

  return __atomic_load_n(&rstr->readers, __ATOMIC_ACQUIRE) ? "The offsets are out" : NULL;
}

static void Free(void *object) {
  CeedElemRestriction rstr = object;

  free(rstr->own_offsets);
  free(rstr);
}

static const CeedClass class = {CEED_KIND_RESTRICTION, CeedElemRestrictionOut, Free};
CEED_OBJECT(CeedElemRestriction, class)
CEED_OBJECT_CEED(CeedElemRestriction, CEED_KIND_RESTRICTION)

/* A restriction whose sizes are checked. */
static int New(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp, CeedSize l_size,
               CeedElemRestriction *rstr) {
  CeedSize e_size;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(rstr, ceed);
  CeedCheck(num_elem >= 0, ceed, CEED_ERROR_DIMENSION, "%d is no number of elements", num_elem);
  CeedCheck(elem_size >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no element size", elem_size);
  CeedCheck(num_comp >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no number of components", num_comp);
  CeedCheck(l_size >= 0, ceed, CEED_ERROR_DIMENSION, "%td is no length of an L-vector", l_size);
  CeedCall(CeedSizeOf(ceed, "The E-vector", &e_size, num_elem, elem_size, num_comp));
  CeedElemRestriction new_rstr = CeedObjectNew(ceed, CEED_KIND_RESTRICTION, sizeof *new_rstr);
  CeedCheck(new_rstr, ceed, CEED_ERROR_MAJOR, "Out of memory: a restriction");
  new_rstr->num_elem = num_elem;
  new_rstr->elem_size = elem_size;
  new_rstr->num_comp = num_comp;
  new_rstr->l_size = l_size;
  new_rstr->e_size = e_size;
  *rstr = new_rstr;
  return CEED_ERROR_SUCCESS;
}

static int CheckOffsets(CeedElemRestriction rstr, const CeedInt *offsets) {
  CeedSize count = (CeedSize)rstr->num_elem * rstr->elem_size;
  CeedSize end = rstr->l_size - (CeedSize)(rstr->num_comp - 1) * rstr->comp_stride;

  for (CeedSize i = 0; i < count; i++) {
    CeedCheck(
        offsets[i] >= 0 && offsets[i] < end, rstr->base.ceed, CEED_ERROR_DIMENSION,
        "The offset %d of node %td of element %td, with %d components %d apart, is not in the "
        "L-vector of %td entries",
        offsets[i], i % rstr->elem_size, i / rstr->elem_size, rstr->num_comp, rstr->comp_stride,
        rstr->l_size);
  }
  return CEED_ERROR_SUCCESS;
}

static int SetOffsets(CeedElemRestriction rstr, CeedMemType mem_type, CeedCopyMode copy_mode,
                      const CeedInt *offsets) {
  Ceed ceed = rstr->base.ceed;
  CeedSize count = (CeedSize)rstr->num_elem * rstr->elem_size;

  CeedCheck(rstr->comp_stride >= 0, ceed, CEED_ERROR_DIMENSION, "%d is no component stride",
            rstr->comp_stride);
  CeedCall(CeedMemTypeCheck(ceed, mem_type));
  CeedCheck(mem_type == CEED_MEM_HOST, ceed, CEED_ERROR_UNSUPPORTED,
            "Offsets are wanted in host memory");
  CeedCheck(offsets || !count, ceed, CEED_ERROR_INCOMPATIBLE, "The offsets are NULL");
  CeedCheck((uintptr_t)offsets % sizeof *offsets == 0, ceed, CEED_ERROR_INCOMPATIBLE,
            "The offsets are not aligned");
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  CeedCall(CheckOffsets(rstr, offsets));
  if (copy_mode != CEED_COPY_VALUES && offsets) {
    rstr->offsets = offsets;
    if (copy_mode == CEED_OWN_POINTER) rstr->own_offsets = (CeedInt *)(uintptr_t)offsets;
    return CEED_ERROR_SUCCESS;
  }
  CeedCall(CeedAllocate(ceed, count, sizeof *offsets, &rstr->own_offsets));
  if (count) memcpy(rstr->own_offsets, offsets, (size_t)count * sizeof *offsets);
  rstr->offsets = rstr->own_offsets;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionCreate(Ceed ceed, CeedInt num_elem, CeedInt elem_size, CeedInt num_comp,
                              CeedInt comp_stride, CeedSize l_size, CeedMemType mem_type,
                              CeedCopyMode copy_mode, const CeedInt *offsets,
                              CeedElemRestriction *rstr) {
  CeedElemRestriction new_rstr;
  int code;

  CeedCall(New(ceed, num_elem, elem_size, num_comp, l_size, rstr ? &new_rstr : NULL));
  new_rstr->comp_stride = comp_stride;
  code = SetOffsets(new_rstr, mem_type, copy_mode, offsets);
  if (code) {
    (void)CeedElemRestrictionDestroy(&new_rstr);
    return code;
  }
  *rstr = new_rstr;
  return CEED_ERROR_SUCCESS;
}

/* The first and the last entry that the strides lead to lie in the L-vector. */
static int CheckStrides(CeedElemRestriction rstr) {
  const CeedSize last[3] = {rstr->elem_size - 1, rstr->num_comp - 1, rstr->num_elem - 1};
  CeedSize lowest = 0, highest = 0;

  if (!rstr->num_elem) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < 3; i++) {
    CeedSize reach = last[i] * rstr->strides[i]; /* of two numbers below 2^31 */
    *(reach < 0 ? &lowest : &highest) += reach;
  }
  CeedCheck(lowest >= 0 && highest < rstr->l_size, rstr->base.ceed, CEED_ERROR_DIMENSION,
            "The strides (%d, %d, %d) lead to the entries %td to %td, out of the L-vector of %td",
            rstr->strides[0], rstr->strides[1], rstr->strides[2], lowest, highest, rstr->l_size);
  return CEED_ERROR_SUCCESS;
}

static int SetStrides(CeedElemRestriction rstr, const CeedInt strides[3]) {
  Ceed ceed = rstr->base.ceed;

  CeedCheck(strides, ceed, CEED_ERROR_INCOMPATIBLE, "The strides are NULL");
  memcpy(rstr->strides, strides, sizeof rstr->strides);
  if (memcmp(strides, CEED_STRIDES_BACKEND, sizeof CEED_STRIDES_BACKEND)) return CheckStrides(rstr);
  CeedCheck(rstr->e_size <= rstr->l_size, ceed, CEED_ERROR_DIMENSION,
            "The L-vector of %td entries is shorter than the E-vector of %td", rstr->l_size,
            rstr->e_size);
  rstr->lanes = ceed->resource->is_fused ? CEED_LANES : 1;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionCreateStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                     CeedInt num_comp, CeedSize l_size, const CeedInt strides[3],
                                     CeedElemRestriction *rstr) {
  CeedElemRestriction new_rstr;
  int code;

  CeedCall(New(ceed, num_elem, elem_size, num_comp, l_size, rstr ? &new_rstr : NULL));
  code = SetStrides(new_rstr, strides);
  if (code) {
    (void)CeedElemRestrictionDestroy(&new_rstr);
    return code;
  }
  *rstr = new_rstr;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Queries
// ------------------------------------------------------------------------------------------------

#define GET(Name, type, value) \
  CEED_GET(CeedElemRestrictionGet##Name, CeedElemRestriction, CEED_KIND_RESTRICTION, type, value)
GET(CompStride, CeedInt, comp_stride)
GET(NumElements, CeedInt, num_elem)
GET(ElementSize, CeedInt, elem_size)
GET(NumComponents, CeedInt, num_comp)
GET(LVectorSize, CeedSize, l_size)
GET(EVectorSize, CeedSize, e_size)
GET(NumBlocks, CeedInt, num_elem)

int CeedElemRestrictionGetBlockSize(CeedElemRestriction rstr, CeedInt *block_size) {
  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCheckOutput(block_size, rstr->base.ceed);
  *block_size = 1;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetELayout(CeedElemRestriction rstr, CeedInt layout[3]) {
  CeedSize comp_stride;

  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCheckOutput(layout, rstr->base.ceed);
  comp_stride = (CeedSize)rstr->elem_size * rstr->num_elem;
  CeedCheck(comp_stride <= INT32_MAX, rstr->base.ceed, CEED_ERROR_DIMENSION,
            "The stride %td of components is no CeedInt", comp_stride);
  layout[0] = 1;
  layout[1] = (CeedInt)comp_stride;
  layout[2] = rstr->elem_size;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetLLayout(CeedElemRestriction rstr, CeedInt layout[3]) {
  CeedSize stride;
  Ceed ceed;

  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  ceed = rstr->base.ceed;
  CeedCheckOutput(layout, ceed);
  CeedCheck(!rstr->offsets, ceed, CEED_ERROR_INCOMPATIBLE,
            "A restriction by offsets has no layout of its L-vector");
  CeedCheck(rstr->lanes <= 1, ceed, CEED_ERROR_UNSUPPORTED,
            "The layout of %s for CEED_STRIDES_BACKEND has no strides", ceed->resource->name);
  stride = (CeedSize)rstr->elem_size * rstr->num_comp;
  CeedCheck(!rstr->lanes || stride <= INT32_MAX, ceed, CEED_ERROR_DIMENSION,
            "The stride %td of elements is no CeedInt", stride);
  layout[0] = rstr->lanes ? 1 : rstr->strides[0];
  layout[1] = rstr->lanes ? rstr->elem_size : rstr->strides[1];
  layout[2] = rstr->lanes ? (CeedInt)stride : rstr->strides[2];
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionGetOffsets(CeedElemRestriction rstr, CeedMemType mem_type,
                                  const CeedInt **offsets) {
  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCheckOutput(offsets, rstr->base.ceed);
  CeedCall(CeedMemTypeCheck(rstr->base.ceed, mem_type));
  CeedCheck(mem_type == CEED_MEM_HOST, rstr->base.ceed, CEED_ERROR_UNSUPPORTED,
            "Offsets are in host memory");
  CeedCheck(rstr->offsets, rstr->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "A strided restriction has no offsets");
  *offsets = rstr->offsets;
  __atomic_add_fetch(&rstr->readers, 1, __ATOMIC_RELAXED);
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionRestoreOffsets(CeedElemRestriction rstr, const CeedInt **offsets) {
  int64_t readers;

  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCheckOutput(offsets, rstr->base.ceed);
  readers = __atomic_load_n(&rstr->readers, __ATOMIC_RELAXED);
  do {
    CeedCheck(readers, rstr->base.ceed, CEED_ERROR_ACCESS, "RestoreOffsets: no offsets are out");
    CeedCheck(*offsets == rstr->offsets, rstr->base.ceed, CEED_ERROR_INCOMPATIBLE,
              "RestoreOffsets: %p are not the offsets that are out", (const void *)*offsets);
  } while (!__atomic_compare_exchange_n(&rstr->readers, &readers, readers - 1, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  *offsets = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedElemRestrictionView(CeedElemRestriction rstr, FILE *stream) {
  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCall(CeedStreamCheck(rstr->base.ceed, stream));
  fprintf(stream,
          "CeedElemRestriction\n"
          "  L-vector: %td entries\n"
          "  Elements: %d of %d nodes\n"
          "  Components: %d\n",
          rstr->l_size, rstr->num_elem, rstr->elem_size, rstr->num_comp);
  if (rstr->offsets) {
    fprintf(stream, "  Offsets, component stride %d\n", rstr->comp_stride);
  } else if (rstr->lanes) {
    fprintf(stream, "  Strides of the backend\n");
  } else {
    fprintf(stream, "  Strides: node %d, component %d, element %d\n", rstr->strides[0],
            rstr->strides[1], rstr->strides[2]);
  }
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// From all unknowns to the elements, and back
// ------------------------------------------------------------------------------------------------

int CeedElemRestrictionCreateVector(CeedElemRestriction rstr, CeedVector *lvec, CeedVector *evec) {
  CeedVector new_lvec = NULL;

  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  if (lvec) CeedCall(CeedVectorCreate(rstr->base.ceed, rstr->l_size, &new_lvec));
  if (evec) {
    int code = CeedVectorCreate(rstr->base.ceed, rstr->e_size, evec);
    if (code) {
      (void)CeedVectorDestroy(&new_lvec);
      return code;
    }
  }
  if (lvec) *lvec = new_lvec;
  return CEED_ERROR_SUCCESS;
}

static void Gather(CeedElemRestriction rstr, const CeedScalar *l, CeedScalar *e) {
  for (CeedInt comp = 0; comp < rstr->num_comp; comp++) {
    for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
      for (CeedInt node = 0; node < rstr->elem_size; node++) {
        *e++ = l[CeedElemRestrictionIndex(rstr, elem, comp, node)];
      }
    }
  }
}

void CeedElemRestrictionScatterAdd(CeedElemRestriction rstr, const CeedScalar *e, CeedScalar *l) {
  for (CeedInt comp = 0; comp < rstr->num_comp; comp++) {
    for (CeedInt elem = 0; elem < rstr->num_elem; elem++) {
      for (CeedInt node = 0; node < rstr->elem_size; node++) {
        l[CeedElemRestrictionIndex(rstr, elem, comp, node)] += e ? *e++ : 1;
      }
    }
  }
}

int CeedElemRestrictionApply(CeedElemRestriction rstr, CeedTransposeMode t_mode, CeedVector u,
                             CeedVector ru, CeedRequest *request) {
  static const char what[] = "ElemRestrictionApply";
  bool transpose = t_mode == CEED_TRANSPOSE;
  CeedArguments a = {.what = what};

  (void)request;
  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCall(CeedTransposeModeCheck(rstr->base.ceed, t_mode));
  CeedCall(CeedObjectCheck(u, CEED_KIND_VECTOR));
  CeedCall(CeedObjectCheck(ru, CEED_KIND_VECTOR));
  CeedCall(CeedVectorLengthCheck(u, transpose ? rstr->e_size : rstr->l_size, what));
  CeedCall(CeedVectorLengthCheck(ru, transpose ? rstr->l_size : rstr->e_size, what));
  CeedArgumentsAddRead(&a, u, "u");
  CeedArgumentsAddWrite(&a, ru, "ru", transpose);
  CeedCall(CeedArgumentsAcquire(rstr->base.ceed, &a));
  (transpose ? CeedElemRestrictionScatterAdd : Gather)(rstr, a.list[0].from, a.list[1].to);
  return CeedArgumentsRelease(&a);
}

int CeedElemRestrictionGetMultiplicity(CeedElemRestriction rstr, CeedVector mult) {
  static const char what[] = "GetMultiplicity";
  CeedScalar *counts;

  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  CeedCall(CeedObjectCheck(mult, CEED_KIND_VECTOR));
  CeedCall(CeedVectorLengthCheck(mult, rstr->l_size, what));
  CeedCall(CeedVectorAcquireWrite(mult, CEED_MEM_HOST, false, &counts, what));
  if (mult->length) memset(counts, 0, (size_t)mult->length * sizeof *counts);
  CeedElemRestrictionScatterAdd(rstr, NULL, counts);
  return CeedVectorReleaseWrite(mult);
}

// ------------------------------------------------------------------------------------------------
// What there is not
// ------------------------------------------------------------------------------------------------

static int Unsupported(Ceed ceed, const char *what) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%s restrictions are not supported", what);
}

int CeedElemRestrictionCreateOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                      CeedInt num_comp, CeedInt comp_stride, CeedSize l_size,
                                      CeedMemType mem_type, CeedCopyMode copy_mode,
                                      const CeedInt *offsets, const bool *orients,
                                      CeedElemRestriction *rstr) {
  (void)num_elem, (void)elem_size, (void)num_comp, (void)comp_stride, (void)l_size;
  (void)mem_type, (void)copy_mode, (void)offsets, (void)orients, (void)rstr;
  return Unsupported(ceed, "Oriented");
}

int CeedElemRestrictionCreateBlocked(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                     CeedInt block_size, CeedInt num_comp, CeedInt comp_stride,
                                     CeedSize l_size, CeedMemType mem_type, CeedCopyMode copy_mode,
                                     const CeedInt *offsets, CeedElemRestriction *rstr) {
  (void)num_elem, (void)elem_size, (void)block_size, (void)num_comp, (void)comp_stride;
  (void)l_size, (void)mem_type, (void)copy_mode, (void)offsets, (void)rstr;
  return Unsupported(ceed, "Blocked");
}

int CeedElemRestrictionCreateBlockedOriented(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                             CeedInt block_size, CeedInt num_comp,
                                             CeedInt comp_stride, CeedSize l_size,
                                             CeedMemType mem_type, CeedCopyMode copy_mode,
                                             const CeedInt *offsets, const bool *orients,
                                             CeedElemRestriction *rstr) {
  (void)num_elem, (void)elem_size, (void)block_size, (void)num_comp, (void)comp_stride;
  (void)l_size, (void)mem_type, (void)copy_mode, (void)offsets, (void)orients, (void)rstr;
  return Unsupported(ceed, "Blocked");
}

int CeedElemRestrictionCreateBlockedStrided(Ceed ceed, CeedInt num_elem, CeedInt elem_size,
                                            CeedInt block_size, CeedInt num_comp, CeedSize l_size,
                                            const CeedInt strides[3], CeedElemRestriction *rstr) {
  (void)num_elem, (void)elem_size, (void)block_size, (void)num_comp, (void)l_size;
  (void)strides, (void)rstr;
  return Unsupported(ceed, "Blocked");
}

int CeedElemRestrictionApplyBlock(CeedElemRestriction rstr, CeedInt block, CeedTransposeMode t_mode,
                                  CeedVector u, CeedVector ru, CeedRequest *request) {
  (void)block, (void)t_mode, (void)u, (void)ru, (void)request;
  CeedCall(CeedObjectCheck(rstr, CEED_KIND_RESTRICTION));
  return Unsupported(rstr->base.ceed, "Blocked");
}
