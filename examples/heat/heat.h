// SPDX-License-Identifier: BSD-2-Clause
/// A solver of the heat equation u_t = kappa (u_xx + u_yy) + s on the unit square, with u = 0 on
/// its edge. A field is a CeedVector of the n x n inner nodes of a grid of spacing 1/(n+1) and of
/// HeatGhosts() layers of nodes around them, row by row. Every function returns an error code of
/// the library; the text is in HeatError().
#ifndef HEAT_H
#define HEAT_H

#include <ceedlike.h>

/* cffi: begin */

typedef struct Heat_private *Heat;

/// Make a solver for n x n inner nodes that advances by `dt` a step.
int HeatCreate(Ceed ceed, CeedInt n, double kappa, double dt, Heat *heat);

/// How many layers around the inner nodes a field holds: none in C, one (the edge) in Fortran.
int HeatGhosts(void);

/// Advance `temperature` by some steps, in place, while `source` stays as it is.
int HeatStep(Heat heat, CeedVector source, CeedVector temperature, CeedInt num_steps);

/// From a source to what it makes of a cold plate in some steps: linear and, as the two directions
/// commute, its own transpose. A CeedOperatorShellUser; `response` is a HeatResponse.
typedef struct {
  Heat heat;
  CeedInt num_steps;
} HeatResponse;
int HeatRespond(void *response, CeedVector source, CeedVector temperature);

/// Where the entries of a vector lie, as C sees them.
int HeatAddress(CeedVector vec, uintptr_t *address);

/// The text of the last error in this thread.
const char *HeatError(void);

/// Release a solver and set `*heat` to NULL.
int HeatDestroy(Heat *heat);

/* cffi: end */

#endif
