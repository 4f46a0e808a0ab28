// What fabs use of the exchange of vectors.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_DLPACK_H
#define CEEDLIKE_DLPACK_H

#include "tensor.h"

/* CeedVectorExport() from the entry `first` on; the handle has been checked. */
int CeedVectorExportFrom(CeedVector vec, CeedSize first, CeedMemType mem_type, CeedExportMode mode,
                         CeedInt ndim, const int64_t *shape, const int64_t *strides,
                         DLManagedTensorVersioned **tensor);

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
