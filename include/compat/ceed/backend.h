// SPDX-License-Identifier: BSD-2-Clause
/// For programs written for libCEED, where this header has what some
/// programs need beyond ceed.h.
#include "../ceed.h"
