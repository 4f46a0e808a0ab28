// The functions of _numbers.h in single precision.
// SPDX-License-Identifier: BSD-2-Clause
#define CEEDLIKE_SINGLE
#define NUMBERS numbers_f32
#include "_numbers_calls.h"
