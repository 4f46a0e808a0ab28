// SPDX-License-Identifier: BSD-2-Clause
/// For programs written for libCEED, where this header has what the
/// source of a quadrature function needs.
#include "../ceed.h"
