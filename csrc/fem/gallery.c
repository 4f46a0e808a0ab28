// The QFunctions that have names: mass and Poisson operators in one to three dimensions.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

/* Bodies are written once for all sizes, which are constants where they are inlined. */
#define INLINE static inline __attribute__((always_inline))

typedef const CeedScalar *const *Inputs;
typedef CeedScalar *const *Outputs;

/* Entry (a, b) of a symmetric matrix, stored 11,22,33,23,13,12 or 11,22,12. */
INLINE int Symmetric(int dim, int a, int b) { return a == b ? a : dim == 2 ? 2 : 6 - a - b; }

/* The determinant of J[component][direction]; A becomes its adjugate, det J times the inverse. */
INLINE CeedScalar Adjugate(int dim, CeedScalar J[3][3], CeedScalar A[3][3]) {
  if (dim == 1) {
    A[0][0] = 1;
    return J[0][0];
  }
  if (dim == 2) {
    A[0][0] = J[1][1], A[0][1] = -J[0][1];
    A[1][0] = -J[1][0], A[1][1] = J[0][0];
    return J[0][0] * A[0][0] + J[0][1] * A[1][0];
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      A[i][j] = J[j1][i1] * J[j2][i2] - J[j1][i2] * J[j2][i1];
    }
  }
  return J[0][0] * A[0][0] + J[0][1] * A[1][0] + J[0][2] * A[2][0];
}

INLINE CeedScalar AdjugateAt(int dim, CeedInt Q, const CeedScalar *dx, CeedInt i,
                             CeedScalar A[3][3]) {
  CeedScalar J[3][3];

  for (int d = 0; d < dim; d++) {
    for (int c = 0; c < dim; c++) J[c][d] = dx[(CeedSize)(d * dim + c) * Q + i];
  }
  return Adjugate(dim, J, A);
}

INLINE int MassBuild(int dim, CeedInt Q, Inputs in, Outputs out) {
  const CeedScalar *restrict dx = in[0], *restrict weights = in[1];
  CeedScalar *restrict qdata = out[0], A[3][3];

  for (CeedInt i = 0; i < Q; i++) qdata[i] = weights[i] * AdjugateAt(dim, Q, dx, i, A);
  return CEED_ERROR_SUCCESS;
}

INLINE int PoissonBuild(int dim, CeedInt Q, Inputs in, Outputs out) {
  const CeedScalar *restrict dx = in[0], *restrict weights = in[1];
  CeedScalar *restrict qdata = out[0], A[3][3];

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar scale = weights[i] / AdjugateAt(dim, Q, dx, i, A);
    for (int a = 0; a < dim; a++) {
      for (int b = a; b < dim; b++) {
        CeedScalar sum = 0;
        for (int c = 0; c < dim; c++) sum += A[a][c] * A[b][c];
        qdata[(CeedSize)Symmetric(dim, a, b) * Q + i] = scale * sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

INLINE int MassApply(int n, CeedInt Q, Inputs in, Outputs out) {
  const CeedScalar *restrict u = in[0], *restrict qdata = in[1];
  CeedScalar *restrict v = out[0];

  for (int c = 0; c < n; c++) {
    for (CeedInt i = 0; i < Q; i++) v[(CeedSize)c * Q + i] = qdata[i] * u[(CeedSize)c * Q + i];
  }
  return CEED_ERROR_SUCCESS;
}

INLINE int PoissonApply(int dim, int n, CeedInt Q, Inputs in, Outputs out) {
  const CeedScalar *restrict du = in[0], *restrict qdata = in[1];
  CeedScalar *restrict dv = out[0];

  for (int c = 0; c < n; c++) {
    for (CeedInt i = 0; i < Q; i++) {
      for (int a = 0; a < dim; a++) {
        CeedScalar sum = 0;
        for (int b = 0; b < dim; b++) {
          sum += qdata[(CeedSize)Symmetric(dim, a, b) * Q + i] * du[(CeedSize)(b * n + c) * Q + i];
        }
        dv[(CeedSize)(a * n + c) * Q + i] = sum;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

#define QFUNCTION(name, body)                                     \
  static int name(void *ctx, CeedInt Q, Inputs in, Outputs out) { \
    (void)ctx;                                                    \
    return body;                                                  \
  }
QFUNCTION(Mass1DBuild, MassBuild(1, Q, in, out))
QFUNCTION(Mass2DBuild, MassBuild(2, Q, in, out))
QFUNCTION(Mass3DBuild, MassBuild(3, Q, in, out))
QFUNCTION(Poisson1DBuild, PoissonBuild(1, Q, in, out))
QFUNCTION(Poisson2DBuild, PoissonBuild(2, Q, in, out))
QFUNCTION(Poisson3DBuild, PoissonBuild(3, Q, in, out))
QFUNCTION(MassApply1, MassApply(1, Q, in, out))
QFUNCTION(MassApply3, MassApply(3, Q, in, out))
QFUNCTION(Poisson1DApply, PoissonApply(1, 1, Q, in, out))
QFUNCTION(Poisson2DApply, PoissonApply(2, 1, Q, in, out))
QFUNCTION(Poisson3DApply, PoissonApply(3, 1, Q, in, out))
QFUNCTION(Poisson1DApply3, PoissonApply(1, 3, Q, in, out))
QFUNCTION(Poisson2DApply3, PoissonApply(2, 3, Q, in, out))
QFUNCTION(Poisson3DApply3, PoissonApply(3, 3, Q, in, out))

#define BUILD(name, f, dim, size, flops)                                            \
  {                                                                                 \
    name, f, {{"dx", dim * dim, CEED_EVAL_GRAD}, {"weights", 1, CEED_EVAL_WEIGHT}}, \
        {"qdata", size, CEED_EVAL_NONE}, flops                                      \
  }
#define MASS(name, f, n)                                                 \
  {                                                                      \
    name, f, {{"u", n, CEED_EVAL_INTERP}, {"qdata", 1, CEED_EVAL_NONE}}, \
        {"v", n, CEED_EVAL_INTERP}, n                                    \
  }
#define POISSON(name, f, dim, n)                                                                \
  {                                                                                             \
    name, f, {{"du", n * dim, CEED_EVAL_GRAD}, {"qdata", dim * (dim + 1) / 2, CEED_EVAL_NONE}}, \
        {"dv", n * dim, CEED_EVAL_GRAD}, n *dim *(2 * dim - 1)                                  \
  }
#define COPY(name, flops) \
  { name, NULL, {{"input", 1, CEED_EVAL_NONE}}, {"output", 1, CEED_EVAL_NONE}, flops }

const CeedGalleryRow CeedGallery[] = {
    COPY("Identity", 0),
    COPY("Scale", 1),
    BUILD("Mass1DBuild", Mass1DBuild, 1, 1, 1),
    BUILD("Mass2DBuild", Mass2DBuild, 2, 1, 4),
    BUILD("Mass3DBuild", Mass3DBuild, 3, 1, 15),
    BUILD("Poisson1DBuild", Poisson1DBuild, 1, 1, 2),
    BUILD("Poisson2DBuild", Poisson2DBuild, 2, 3, 16),
    BUILD("Poisson3DBuild", Poisson3DBuild, 3, 6, 69),
    MASS("MassApply", MassApply1, 1),
    MASS("Vector3MassApply", MassApply3, 3),
    POISSON("Poisson1DApply", Poisson1DApply, 1, 1),
    POISSON("Poisson2DApply", Poisson2DApply, 2, 1),
    POISSON("Poisson3DApply", Poisson3DApply, 3, 1),
    POISSON("Vector3Poisson1DApply", Poisson1DApply3, 1, 3),
    POISSON("Vector3Poisson2DApply", Poisson2DApply3, 2, 3),
    POISSON("Vector3Poisson3DApply", Poisson3DApply3, 3, 3),
    {NULL, NULL, {{NULL, 0, CEED_EVAL_NONE}}, {NULL, 0, CEED_EVAL_NONE}, 0},
};
