// Finding the boxes near a region: by bins as long as the longest box, so that a box begins in the
// bin of each of its indices or in the one before.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fab.h"

typedef struct {
  int64_t bin[CEED_MAX_BOX_DIM]; /* of the lower bounds; the slowest direction first */
  CeedInt index;
} Entry;

struct CeedBoxMap_private {
  const CeedBox *boxes;
  CeedInt count; /* of boxes that have indices */
  int64_t length[CEED_MAX_BOX_DIM];
  Entry *entries; /* by bins */
  CeedInt *found;
};

/* Rounded to 0, so that the bin there is the longest; all that counts is the order. */
static int64_t BinOf(CeedBoxMap map, int d, int64_t index) { return index / map->length[d]; }

static int CompareBins(const int64_t *a, const int64_t *b) {
  for (int i = 0; i < CEED_MAX_BOX_DIM; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

static int CompareEntries(const void *a, const void *b) {
  const Entry *x = a, *y = b;

  return CompareBins(x->bin, y->bin);
}

static int CompareInts(const void *a, const void *b) {
  CeedInt x = *(const CeedInt *)a, y = *(const CeedInt *)b;

  return x < y ? -1 : x > y;
}

static void FillMap(CeedBoxMap map, CeedInt count) {
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) {
    map->length[d] = 1;
    for (CeedInt i = 0; i < count; i++) {
      int64_t length = BoxLength(&map->boxes[i], d);
      if (length > map->length[d]) map->length[d] = length;
    }
  }
  for (CeedInt i = 0; i < count; i++) {
    Entry *entry = &map->entries[map->count];
    if (!BoxHasIndices(&map->boxes[i])) continue;
    for (int d = 0; d < CEED_MAX_BOX_DIM; d++) {
      entry->bin[CEED_MAX_BOX_DIM - 1 - d] = BinOf(map, d, map->boxes[i].lo[d]);
    }
    entry->index = i;
    map->count++;
  }
  qsort(map->entries, (size_t)map->count, sizeof *map->entries, CompareEntries);
}

int CeedBoxMapCreate(Ceed ceed, CeedInt count, const CeedBox *boxes, CeedBoxMap *map) {
  CeedBoxMap new_map;
  int code;

  CeedCall(CeedAllocate(ceed, 1, sizeof *new_map, &new_map));
  new_map->boxes = boxes;
  code = CeedAllocate(ceed, count, sizeof *new_map->entries, &new_map->entries);
  if (!code) code = CeedAllocate(ceed, count, sizeof *new_map->found, &new_map->found);
  if (code) {
    CeedBoxMapDestroy(new_map);
    return code;
  }
  FillMap(new_map, count);
  *map = new_map;
  return CEED_ERROR_SUCCESS;
}

void CeedBoxMapDestroy(CeedBoxMap map) {
  if (!map) return;
  free(map->entries);
  free(map->found);
  free(map);
}

/* The first entry that does not stand before a bin. */
static CeedInt LowerBound(CeedBoxMap map, const int64_t *bin) {
  CeedInt first = 0, last = map->count;

  while (first < last) {
    CeedInt middle = first + (last - first) / 2;
    if (CompareBins(map->entries[middle].bin, bin) < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

static void Keep(CeedBoxMap map, CeedInt index, const CeedBox *region, CeedInt *num) {
  CeedBox both = BoxMeet(&map->boxes[index], region);

  if (BoxHasIndices(&both)) map->found[(*num)++] = index;
}

/* The bins of one line from `lo` to `hi` along the first direction. */
static void SearchLine(CeedBoxMap map, const int64_t lo[3], const int64_t hi[3],
                       const CeedBox *region, CeedInt *num) {
  for (CeedInt i = LowerBound(map, lo); i < map->count; i++) {
    if (CompareBins(map->entries[i].bin, hi) > 0) break;
    Keep(map, map->entries[i].index, region, num);
  }
}

CeedInt CeedBoxMapFind(CeedBoxMap map, const CeedBox *region, const CeedInt **found) {
  int64_t lo[CEED_MAX_BOX_DIM], hi[CEED_MAX_BOX_DIM], from[CEED_MAX_BOX_DIM], to[CEED_MAX_BOX_DIM];
  CeedInt num = 0;

  *found = map->found;
  if (!BoxHasIndices(region)) return 0;
  for (int d = 0; d < CEED_MAX_BOX_DIM; d++) {
    lo[d] = BinOf(map, d, (int64_t)region->lo[d] - map->length[d] + 1);
    hi[d] = BinOf(map, d, region->hi[d]);
  }
  if ((double)(hi[2] - lo[2] + 1) * (double)(hi[1] - lo[1] + 1) > map->count) {
    for (CeedInt i = 0; i < map->count; i++) Keep(map, map->entries[i].index, region, &num);
  } else {
    for (from[0] = lo[2]; from[0] <= hi[2]; from[0]++) {
      for (from[1] = lo[1]; from[1] <= hi[1]; from[1]++) {
        from[2] = lo[0];
        memcpy(to, from, sizeof to);
        to[2] = hi[0];
        SearchLine(map, from, to, region, &num);
      }
    }
  }
  qsort(map->found, (size_t)num, sizeof *map->found, CompareInts);
  return num;
}
