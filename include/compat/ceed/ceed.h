// SPDX-License-Identifier: BSD-2-Clause
/// For programs written for libCEED, where this header has the whole interface.
#include "../ceed.h"
