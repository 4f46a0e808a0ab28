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
  uint64_t replaced;     /* how often box and memory were */
  uint64_t former_moves; /* of other vectors, less those of this one before the fab had it */
  int32_t members; /* how often it is one of a MultiFab, whose box and components it then has */
};

/* Some entries of a fab: where the first lies in the vector, and how many there are on each axis. */
typedef struct {
  CeedSize first;
  CeedSize lengths[4];
} CeedFabPart;

int CeedGhostCheck(Ceed ceed, CeedInt dim, CeedGhost *ghost);
int CeedFabShapeMake(Ceed ceed, CeedBox box, CeedGhost ghost, CeedInt num_comp,
                     CeedFabShape *shape);
int CeedFabShapeSetStrides(Ceed ceed, const CeedSize strides[4], CeedFabShape *shape);
bool CeedFabShapeIsCompact(const CeedFabShape *shape);

/* Takes the reference of the vector, on failure too. */
int CeedFabAssemble(CeedVector vec, CeedSize first, const CeedFabShape *shape, CeedFab *fab);

int CeedAxisOrderCheck(Ceed ceed, CeedAxisOrder order);

/* The axis of a tensor that is the i-th of x, y, z and the component. */
int CeedAxisOf(CeedAxisOrder order, int dim, int i);

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

static inline CeedScalar *CeedHostEntry(CeedFab fab, CeedSize first) {
  return CeedEntryAt(fab->vec->buffer->memory[CEED_MEM_HOST].data, first);
}

/* Entries in memory, by axes; what is copied does not overlap. */
void CeedEntriesCopy(const CeedSize lengths[4], const CeedScalar *from,
                     const CeedSize from_strides[4], CeedScalar *to, const CeedSize to_strides[4]);
void CeedEntriesSet(const CeedSize lengths[4], CeedScalar value, CeedScalar *to,
                    const CeedSize to_strides[4]);

// ------------------------------------------------------------------------------------------------
// MultiFabs
// ------------------------------------------------------------------------------------------------

/* Where the boxes of a list are, for those who look for the ones near a region. */
typedef struct CeedBoxTree_private *CeedBoxTree;

int CeedBoxTreeCreate(Ceed ceed, CeedInt num_boxes, const CeedBox *boxes, CeedBoxTree *tree);
void CeedBoxTreeDestroy(CeedBoxTree tree);

/* The boxes that have an index in common with a region, ascending; lent until the next call. */
CeedInt CeedBoxTreeFind(CeedBoxTree tree, const CeedBox *region, const CeedInt **found);

/* Which ghost cells are copies of which valid cells. */
typedef struct CeedGhostPlan_private *CeedGhostPlan;

void CeedGhostPlanDestroy(CeedGhostPlan plan);

/* What a redefinition replaces. */
typedef struct {
  CeedInt num_boxes, num_local, rank, num_comp;
  CeedGhost ghost;
  CeedBox *boxes;     /* the valid boxes of all processes */
  CeedInt *owners;    /* of each box */
  CeedInt *local;     /* the boxes of this process, ascending */
  CeedInt *places;    /* of all boxes among those; -1: another process has it */
  CeedFab *fabs;      /* of those */
  CeedGhostPlan plan; /* of the last filling; NULL: there was none */
} CeedFabList;

struct CeedMultiFab_private {
  CeedBase base;
  CeedFabList list;
  CeedInt level, ratio[3];
  uint64_t generation;
};

static inline CeedFab CeedMultiFabLocal(CeedMultiFab mf, CeedInt local) {
  return mf->list.fabs[local];
}

/* A tree of the local boxes. */
int CeedMultiFabTree(CeedMultiFab mf, CeedBoxTree *tree);

/* A fab for each vector, by address: the largest of those that share one. */
typedef struct {
  CeedFab *fabs;
  CeedInt count;
} CeedVectorList;

int CeedVectorListCreate(Ceed ceed, CeedInt count, const CeedFab *fabs, CeedVectorList *vectors);
bool CeedVectorListHas(const CeedVectorList *vectors, CeedVector vec);

typedef enum { FAB_READ, FAB_WRITE, FAB_REPLACE } CeedFabAccess;

/* Access to the host memory of all fabs, or of none. Ending it frees the list, too. */
int CeedVectorListAcquire(Ceed ceed, CeedInt count, const CeedFab *fabs, CeedFabAccess access,
                          const char *what, CeedVectorList *vectors);
int CeedVectorListRelease(CeedVectorList *vectors, CeedFabAccess access);
void CeedVectorListCancel(CeedVectorList *vectors, CeedInt count, CeedFabAccess access);

#endif
