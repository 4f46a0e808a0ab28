// The functions of _numbers.h in single precision.
// SPDX-License-Identifier: BSD-2-Clause
#define CEEDLIKE_SINGLE
#include "_numbers.c"
