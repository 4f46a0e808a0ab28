// The functions of _numbers.h in double precision.
// SPDX-License-Identifier: BSD-2-Clause
#define NUMBERS numbers_f64
#include "_numbers_calls.h"
