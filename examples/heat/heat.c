// SPDX-License-Identifier: BSD-2-Clause
// The solver: alternating directions (Peaceman and Rachford, 1955), second order in space and time,
// stable for every dt. It knows vectors of the library and nothing of who else holds them.
#include "heat.h"

#include <stdlib.h>

struct Heat_private {
  CeedInt n;
  double half_dt, q;     // dt / 2, kappa dt / (2 h^2)
  double *pivot;         // of the tridiagonal matrix (-q, 1 + 2q, -q), eliminated once
  CeedVector half_step;  // the field between the two directions
};

int HeatCreate(Ceed ceed, CeedInt n, double kappa, double dt, Heat *heat) {
  Heat h;
  int code;

  if (n < 1 || !(kappa > 0) || !(dt > 0)) {
    return CeedError(ceed, CEED_ERROR_DIMENSION, "HeatCreate: n, kappa and dt must be positive");
  }
  h = calloc(1, sizeof *h);
  if (h) h->pivot = malloc((size_t)n * sizeof *h->pivot);
  if (!h || !h->pivot) {
    HeatDestroy(&h);
    return CeedError(ceed, CEED_ERROR_MAJOR, "HeatCreate: out of memory");
  }
  h->n = n;
  h->half_dt = dt / 2;
  h->q = kappa * dt / 2 * (n + 1.0) * (n + 1.0);
  for (CeedInt k = 0; k < n; k++) {
    h->pivot[k] = 1 / (1 + 2 * h->q - (k ? h->q * h->q * h->pivot[k - 1] : 0));
  }
  code = CeedVectorCreate(ceed, (CeedSize)n * n, &h->half_step);
  if (code) {
    HeatDestroy(&h);
    return code;
  }
  *heat = h;
  return CEED_ERROR_SUCCESS;
}

int HeatGhosts(void) { return 0; }

// out = (1 - q D)^-1 ((1 + q E) u + dt/2 s), with D and E the second differences along and across
// lines of nodes that lie `along` apart, the lines themselves `across` apart.
static void HalfStep(Heat h, size_t along, size_t across, const CeedScalar *u, const CeedScalar *s,
                     CeedScalar *out) {
  const size_t n = (size_t)h->n;

  for (size_t line = 0; line < n; line++) {
    const size_t first = line * across, last = first + (n - 1) * along;
    double above = 0;

    for (size_t k = 0, i = first; k < n; k++, i += along) {
      const double before = line > 0 ? u[i - across] : 0, after = line < n - 1 ? u[i + across] : 0;
      const double right = u[i] + h->q * (before - 2 * u[i] + after) + h->half_dt * s[i];

      out[i] = above = (right + h->q * above) * h->pivot[k];
    }
    for (size_t k = n - 1, i = last; k-- > 0; i -= along) {
      out[i - along] += h->q * h->pivot[k] * out[i];
    }
  }
}

static int CheckLength(Heat h, CeedVector vec) {
  CeedSize length;
  const int code = CeedVectorGetLength(vec, &length);

  if (code || length == (CeedSize)h->n * h->n) return code;
  return CeedError(NULL, CEED_ERROR_DIMENSION,
                   "HeatStep: a field of %d x %d nodes, a vector of %td", (int)h->n, (int)h->n,
                   length);
}

int HeatStep(Heat h, CeedVector source, CeedVector temperature, CeedInt num_steps) {
  CeedScalar *u = NULL, *half = NULL;
  const CeedScalar *s = NULL;
  int code = CheckLength(h, source);

  if (!code) code = CheckLength(h, temperature);
  if (!code) code = CeedVectorGetArrayRead(source, CEED_MEM_HOST, &s);
  if (!code) code = CeedVectorGetArray(temperature, CEED_MEM_HOST, &u);
  if (!code) code = CeedVectorGetArrayWrite(h->half_step, CEED_MEM_HOST, &half);
  for (CeedInt step = 0; !code && step < num_steps; step++) {
    HalfStep(h, 1, (size_t)h->n, u, s, half);
    HalfStep(h, (size_t)h->n, 1, half, s, u);
  }
  if (half) CeedVectorRestoreArray(h->half_step, &half);
  if (u) CeedVectorRestoreArray(temperature, &u);
  if (s) CeedVectorRestoreArrayRead(source, &s);
  return code;
}

int HeatAddress(CeedVector vec, uintptr_t *address) {
  const CeedScalar *array;
  const int code = CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array);

  if (code) return code;
  *address = (uintptr_t)array;
  return CeedVectorRestoreArrayRead(vec, &array);
}

const char *HeatError(void) {
  const char *text;

  return CeedGetErrorMessage(NULL, &text) ? "" : text;
}

int HeatDestroy(Heat *heat) {
  if (heat && *heat) {
    CeedVectorDestroy(&(*heat)->half_step);
    free((*heat)->pivot);
    free(*heat);
    *heat = NULL;
  }
  return CEED_ERROR_SUCCESS;
}
