// Names of values, and checks that the objects of this folder have in common.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "fem.h"

const char *const CeedTransposeModes[] = {"no transpose", "transpose"};
const char *const CeedQuadModes[] = {"Gauss", "Gauss Lobatto"};
const char *const CeedEvalModes[CEED_EVAL_WEIGHT + 1] = {
    [CEED_EVAL_NONE] = "none",     [CEED_EVAL_INTERP] = "interpolation",
    [CEED_EVAL_GRAD] = "gradient", [CEED_EVAL_DIV] = "divergence",
    [CEED_EVAL_CURL] = "curl",     [CEED_EVAL_WEIGHT] = "quadrature weights",
};

/* Filled when the library is loaded: the table is long and nearly empty, and so takes no room in
   the file. */
static const char *topologies[CEED_TOPOLOGY_HEX + 1];
const char *const *const CeedElemTopologies = topologies;

__attribute__((constructor)) static void NameTopologies(void) {
  topologies[CEED_TOPOLOGY_LINE] = "line";
  topologies[CEED_TOPOLOGY_TRIANGLE] = "triangle";
  topologies[CEED_TOPOLOGY_QUAD] = "quadrilateral";
  topologies[CEED_TOPOLOGY_TET] = "tetrahedron";
  topologies[CEED_TOPOLOGY_PYRAMID] = "pyramid";
  topologies[CEED_TOPOLOGY_PRISM] = "prism";
  topologies[CEED_TOPOLOGY_HEX] = "hexahedron";
}

int CeedTransposeModeCheck(Ceed ceed, CeedTransposeMode t_mode) {
  CeedCheck(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, ceed, CEED_ERROR_INCOMPATIBLE,
            "%d is no transpose mode", (int)t_mode);
  return CEED_ERROR_SUCCESS;
}

int CeedEvalModeCheck(Ceed ceed, CeedEvalMode eval_mode) {
  CeedCheck(eval_mode != CEED_EVAL_DIV && eval_mode != CEED_EVAL_CURL, ceed, CEED_ERROR_UNSUPPORTED,
            "%s is not supported", CeedEvalModes[eval_mode]);
  CeedCheck(eval_mode == CEED_EVAL_NONE || eval_mode == CEED_EVAL_INTERP ||
                eval_mode == CEED_EVAL_GRAD || eval_mode == CEED_EVAL_WEIGHT,
            ceed, CEED_ERROR_INCOMPATIBLE, "%d is no evaluation mode", (int)eval_mode);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorLengthCheck(CeedVector vec, CeedSize length, const char *what) {
  CeedCheck(vec->length == length, vec->base.ceed, CEED_ERROR_DIMENSION,
            "%s: the vector has %td entries, not %td", what, vec->length, length);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCopyTo(CeedVector vec, CeedScalar *to, const char *what) {
  const CeedScalar *from;

  CeedCall(CeedVectorAcquireRead(vec, CEED_MEM_HOST, &from, what));
  if (vec->length) memcpy(to, from, vec->buffer->bytes);
  CeedVectorReleaseRead(vec);
  return CEED_ERROR_SUCCESS;
}

int CeedGetStandIns(CeedVector *vector_active, CeedVector *vector_none,
                    CeedElemRestriction *elemrestriction_none, CeedBasis *basis_none,
                    CeedQFunction *qfunction_none) {
  if (vector_active) *vector_active = CEED_VECTOR_ACTIVE;
  if (vector_none) *vector_none = CEED_VECTOR_NONE;
  if (elemrestriction_none) *elemrestriction_none = CEED_ELEMRESTRICTION_NONE;
  if (basis_none) *basis_none = CEED_BASIS_NONE;
  if (qfunction_none) *qfunction_none = CEED_QFUNCTION_NONE;
  return CEED_ERROR_SUCCESS;
}
