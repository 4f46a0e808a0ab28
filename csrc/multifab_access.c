// MultiFabs: access to many fabs at once, so that nothing is written unless everything can be.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fab.h"

static int CompareVectors(const void *a, const void *b) {
  const CeedFab x = *(const CeedFab *)a, y = *(const CeedFab *)b;

  if (x->vec != y->vec) return (uintptr_t)x->vec < (uintptr_t)y->vec ? -1 : 1;
  return (x->shape.count < y->shape.count) - (x->shape.count > y->shape.count);
}

int CeedVectorListCreate(Ceed ceed, CeedInt count, const CeedFab *fabs, CeedVectorList *vectors) {
  CeedFab *sorted;
  CeedInt kept = 0;

  CeedCall(CeedAllocate(ceed, count, sizeof(CeedFab), &sorted));
  if (count) memcpy(sorted, fabs, (size_t)count * sizeof(CeedFab));
  qsort(sorted, (size_t)count, sizeof(CeedFab), CompareVectors);
  for (CeedInt i = 0; i < count; i++) {
    if (!i || sorted[i]->vec != sorted[kept - 1]->vec) sorted[kept++] = sorted[i];
  }
  *vectors = (CeedVectorList){sorted, kept};
  return CEED_ERROR_SUCCESS;
}

bool CeedVectorListHas(const CeedVectorList *vectors, CeedVector vec) {
  CeedInt first = 0, last = vectors->count;

  while (first < last) {
    CeedInt middle = first + (last - first) / 2;
    if ((uintptr_t)vectors->fabs[middle]->vec < (uintptr_t)vec) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < vectors->count && vectors->fabs[first]->vec == vec;
}

void CeedVectorListCancel(CeedVectorList *vectors, CeedInt count, CeedFabAccess access) {
  for (CeedInt i = 0; i < count; i++) {
    (access == FAB_READ ? CeedVectorReleaseRead : CeedVectorCancelWrite)(vectors->fabs[i]->vec);
  }
  free(vectors->fabs);
}

static int AcquireVector(CeedFab fab, CeedFabAccess access, const char *what) {
  bool keep = CeedFabKeeps(fab, access == FAB_REPLACE);
  const CeedScalar *values;
  CeedScalar *data;

  if (access == FAB_READ) return CeedVectorAcquireRead(fab->vec, CEED_MEM_HOST, &values, what);
  return CeedVectorAcquireWrite(fab->vec, CEED_MEM_HOST, keep, &data, what);
}

int CeedVectorListAcquire(Ceed ceed, CeedInt count, const CeedFab *fabs, CeedFabAccess access,
                          const char *what, CeedVectorList *vectors) {
  CeedCall(CeedVectorListCreate(ceed, count, fabs, vectors));
  for (CeedInt i = 0; i < vectors->count; i++) {
    int code = AcquireVector(vectors->fabs[i], access, what);
    if (code) {
      CeedVectorListCancel(vectors, i, access);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

int CeedVectorListRelease(CeedVectorList *vectors, CeedFabAccess access) {
  int code = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < vectors->count; i++) {
    if (access == FAB_READ) {
      CeedVectorReleaseRead(vectors->fabs[i]->vec);
    } else {
      int release = CeedVectorReleaseWrite(vectors->fabs[i]->vec);
      if (!code) code = release;
    }
  }
  free(vectors->fabs);
  return code;
}
