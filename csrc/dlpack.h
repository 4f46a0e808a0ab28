// What fabs use of the exchange of vectors.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DLPACK_H
#define CEEDLIKE_DLPACK_H

#include "tensor.h"

/* What is asked for, from the entry `first` on; strides may be NULL, for C order. A legacy tensor
   is a shared one. */
typedef struct {
  CeedExportMode mode;
  CeedMemType mem_type;
  CeedInt ndim;
  const int64_t *shape, *strides;
  bool is_legacy;
  CeedSize first;
} CeedExportRequest;

/* The handle has been checked, and `first` lies in the vector. */
int CeedVectorExportPart(CeedVector vec, const CeedExportRequest *request, CeedExport **block);

/* A tensor found fit for vectors of a context. */
typedef struct {
  AnyTensor any;
  TensorLayout layout;
  CeedMemType mem_type;
} CeedIncoming;

int CeedTensorInspect(Ceed ceed, const void *managed, bool versioned, CeedIncoming *in);

/* Set a vector to its entries in C order, or put its memory, as it lies, in the place of the
   vector's. */
int CeedVectorCopyIncoming(CeedVector vec, const CeedIncoming *in);
int CeedVectorAdopt(CeedVector vec, const CeedIncoming *in);

#endif
