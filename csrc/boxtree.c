// Finding the boxes near a region: a binary tree of hulls, over the boxes in the order of a Z-curve
// through their centres. A box of any length makes only the hulls above it longer.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "fab.h"

typedef struct {
  uint64_t centre[CEED_MAX_BOX_DIM]; /* twice that, from the lowest there can be */
  CeedInt index;
} Leaf;

struct CeedBoxTree_private {
  CeedInt count;  /* of boxes */
  CeedBox *nodes; /* 1 is the root, 2i and 2i + 1 lie below i, from `count` on are the boxes */
  CeedInt *index; /* of each box in the list that it came from */
  CeedInt *found;
};

/* Along the Z-curve counts the direction whose numbers differ in the highest bit. */
static int CompareLeaves(const void *a, const void *b) {
  const Leaf *x = a, *y = b;
  uint64_t most = 0;
  int slowest = 0;

  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) {
    uint64_t bits = x->centre[d] ^ y->centre[d];
    if (bits > most && (bits ^ most) > most) {
      most = bits;
      slowest = d;
    }
  }
  if (x->centre[slowest] == y->centre[slowest])
    return (x->index > y->index) - (x->index < y->index);
  return x->centre[slowest] < y->centre[slowest] ? -1 : 1;
}

static void FillLeaves(CeedInt count, const CeedBox *boxes, Leaf *leaves) {
  for (CeedInt i = 0; i < count; i++) {
    for (int d = 0; d < boxes[i].dim; d++) {
      int64_t twice = (int64_t)boxes[i].lo[d] + boxes[i].hi[d];
      leaves[i].centre[d] = (uint64_t)(twice - 2 * (int64_t)INT32_MIN);
    }
    leaves[i].index = i;
  }
  qsort(leaves, (size_t)count, sizeof *leaves, CompareLeaves);
}

static int FillTree(Ceed ceed, const CeedBox *boxes, CeedBoxTree tree) {
  CeedInt count = tree->count;
  Leaf *leaves;

  CeedCall(CeedAllocate(ceed, 2 * (CeedSize)count, sizeof *tree->nodes, &tree->nodes));
  CeedCall(CeedAllocate(ceed, count, sizeof *tree->index, &tree->index));
  CeedCall(CeedAllocate(ceed, count, sizeof *tree->found, &tree->found));
  CeedCall(CeedAllocate(ceed, count, sizeof *leaves, &leaves));
  FillLeaves(count, boxes, leaves);
  for (CeedInt i = 0; i < count; i++) {
    tree->index[i] = leaves[i].index;
    tree->nodes[(size_t)count + (size_t)i] = boxes[leaves[i].index];
  }
  for (size_t i = (size_t)count; i-- > 1;) {
    tree->nodes[i] = BoxHull(&tree->nodes[2 * i], &tree->nodes[2 * i + 1]);
  }
  free(leaves);
  return CEED_ERROR_SUCCESS;
}

int CeedBoxTreeCreate(Ceed ceed, CeedInt num_boxes, const CeedBox *boxes, CeedBoxTree *tree) {
  CeedBoxTree new_tree;
  int code;

  CeedCall(CeedAllocate(ceed, 1, sizeof *new_tree, &new_tree));
  new_tree->count = num_boxes;
  code = FillTree(ceed, boxes, new_tree);
  if (code) {
    CeedBoxTreeDestroy(new_tree);
    return code;
  }
  *tree = new_tree;
  return CEED_ERROR_SUCCESS;
}

void CeedBoxTreeDestroy(CeedBoxTree tree) {
  if (!tree) return;
  free(tree->nodes);
  free(tree->index);
  free(tree->found);
  free(tree);
}

static void Search(CeedBoxTree tree, size_t node, const CeedBox *region, CeedInt *num) {
  CeedBox both = BoxMeet(&tree->nodes[node], region);

  if (!BoxHasIndices(&both)) return;
  if (node >= (size_t)tree->count) {
    tree->found[(*num)++] = tree->index[node - (size_t)tree->count];
  } else {
    Search(tree, 2 * node, region, num);
    Search(tree, 2 * node + 1, region, num);
  }
}

static int CompareInts(const void *a, const void *b) {
  CeedInt x = *(const CeedInt *)a, y = *(const CeedInt *)b;

  return x < y ? -1 : x > y;
}

CeedInt CeedBoxTreeFind(CeedBoxTree tree, const CeedBox *region, const CeedInt **found) {
  CeedInt num = 0;

  if (tree->count) Search(tree, 1, region, &num);
  qsort(tree->found, (size_t)num, sizeof *tree->found, CompareInts);
  *found = tree->found;
  return num;
}
