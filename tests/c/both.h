// What the single-precision half of test_both offers to its double-precision half.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef BOTH_H
#define BOTH_H

// Handles and tensors cross as addresses: the types of the two halves have the same names.
int SingleBegin(void);
int SingleEnd(void);
void *SingleContext(void);
void *SingleVector(void);
float SingleNorm(void);
int SingleSetValue(void *vec, float value);
int SingleExport(void **tensor);
int SingleTake(void *tensor);
const char *SingleMessage(void);
const char *SingleBuild(void);
int SingleScalarType(void);

#endif
