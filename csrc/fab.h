// Private structs of fabs and MultiFabs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_FAB_H
#define CEEDLIKE_FAB_H

#include "box.h"
#include "object.h"

/* What the indices of a fab are, and how far apart its entries lie: axes are x, y, z and the
   component. */
typedef struct {
  CeedBox valid, whole;
  CeedGhost ghost;
  CeedInt num_comp, comp_base;
  CeedSize lengths[4], strides[4];
  CeedSize count, reach; /* entries, and how many lie from the first to the last of them */
} CeedFabShape;

/* The memory is that of a vector, which may be longer: so everything about memory is said once. */
struct CeedFab_private {
  CeedBase base;
  CeedVector vec;
  CeedSize first; /* the entry of the vector with the lowest indices */
  CeedFabShape shape;
  uint64_t generation;
  int32_t members; /* how often it is one of a MultiFab, whose box and components it then has */
};

/* Some entries of a fab: where the first lies in the vector, and how many there are on each axis. */
typedef struct {
  CeedSize first;
  CeedSize lengths[4];
} CeedFabPart;

/* NULL is the whole block. */
int CeedFabSelect(CeedFab fab, const CeedBox *region, CeedInt comp, CeedInt num_comp,
                  CeedFabPart *part);

/* A region that is known to lie in the fab, with all components. */
CeedFabPart CeedFabPartOf(CeedFab fab, const CeedBox *region);

/* The entries of the vector that are not the fab's belong to somebody else. */
static inline bool CeedFabFillsVector(CeedFab fab) { return fab->shape.count == fab->vec->length; }

/* Whether what the memory holds stays, in part, where all entries of the fab are written or some. */
static inline bool CeedFabKeeps(CeedFab fab, bool writes_all) {
  return !writes_all || !CeedFabFillsVector(fab);
}

/* Whether the memory may be replaced: views count unless they are to keep it. */
int CeedFabCheckUnused(CeedFab fab, bool keep_views, const char *what);
void CeedFabMakeStale(CeedFab fab);

/* An entry of memory, which is NULL where there are none. */
static inline CeedScalar *CeedEntryAt(const CeedScalar *data, CeedSize first) {
  return (CeedScalar *)(uintptr_t)(data ? data + first : data);
}

/* Entries in memory, by axes; what is copied does not overlap. */
void CeedEntriesCopy(const CeedSize lengths[4], const CeedScalar *from,
                     const CeedSize from_strides[4], CeedScalar *to, const CeedSize to_strides[4]);
void CeedEntriesSet(const CeedSize lengths[4], CeedScalar value, CeedScalar *to,
                    const CeedSize to_strides[4]);

// ------------------------------------------------------------------------------------------------
// MultiFabs
// ------------------------------------------------------------------------------------------------

/* What a redefinition replaces. */
typedef struct {
  CeedInt num_boxes, num_local, rank, num_comp;
  CeedGhost ghost;
  CeedBox *boxes;  /* the valid boxes of all processes */
  CeedInt *owners; /* of each box */
  CeedInt *local;  /* the boxes of this process, ascending */
  CeedFab *fabs;   /* of each box; NULL: another process has it */
} CeedFabList;

struct CeedMultiFab_private {
  CeedBase base;
  CeedFabList list;
  CeedInt level, ratio[3];
  uint64_t generation;
};

static inline CeedFab CeedMultiFabLocal(CeedMultiFab mf, CeedInt local) {
  return mf->list.fabs[mf->list.local[local]];
}

/* A fab for each vector: the largest of those that share one. */
typedef struct {
  CeedFab *fabs;
  CeedInt count;
} CeedVectorList;

int CeedMultiFabVectors(CeedMultiFab mf, CeedVectorList *vectors);

/* Where boxes are, for those who look for the ones near a region. */
typedef struct CeedBoxMap_private *CeedBoxMap;

int CeedBoxMapCreate(Ceed ceed, CeedInt count, const CeedBox *boxes, CeedBoxMap *map);
void CeedBoxMapDestroy(CeedBoxMap map);

/* The boxes that have an index in common with a region, ascending; lent until the next call. */
CeedInt CeedBoxMapFind(CeedBoxMap map, const CeedBox *region, const CeedInt **found);

#endif
