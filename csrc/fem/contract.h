// Contractions along one axis of a tensor whose entries are groups of elements.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef CEEDLIKE_CONTRACT_H
#define CEEDLIKE_CONTRACT_H

#include "fem.h"

/* y[after][m][before] = or += A[m][n] x[after][n][before], each entry being CEED_LANES numbers. */
typedef void (*CeedContract)(CeedInt m, CeedInt n, const CeedScalar *A, CeedSize before,
                             CeedSize after, bool add, const CeedScalar *x, CeedScalar *y);

/* The fastest one that this machine has for a matrix of m rows and n columns. */
CeedContract CeedContractGet(CeedInt m, CeedInt n);

#endif
