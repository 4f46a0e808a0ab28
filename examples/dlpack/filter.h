// SPDX-License-Identifier: BSD-2-Clause
/// A library that knows dlpack.h and nothing of ceedlike.
#ifndef FILTER_H
#define FILTER_H

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The mean of each entry and its two neighbours, the ends as they are. Takes `field`, one axis of
/// float64 in host memory, and gives a new tensor, which the caller deletes. For anything else the
/// result is NULL and the caller keeps `field`.
DLManagedTensor *FilterSmooth(DLManagedTensor *field);

#ifdef __cplusplus
}
#endif

#endif
