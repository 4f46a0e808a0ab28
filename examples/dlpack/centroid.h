// SPDX-License-Identifier: BSD-2-Clause
/// A library that takes tensors and makes no vector: all it wants of ceedlike is that a tensor is
/// checked before it is read.
#ifndef CENTROID_H
#define CENTROID_H

#include <stdbool.h>

/// The mean of n > 0 points, a tensor of shape (n, 3) of float64 in C order, which stays the
/// caller's: a DLManagedTensorVersioned where `versioned` is true, else a DLManagedTensor.
///
/// Returns the library's error code; the text is in CeedGetErrorMessage().
int Centroid(const void *points, bool versioned, double mean[3]);

#endif
