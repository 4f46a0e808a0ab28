// SPDX-License-Identifier: BSD-2-Clause
// The solver as a linear operator, whatever language it is written in.
#include "heat.h"

int HeatRespond(void *response, CeedVector source, CeedVector temperature) {
  const HeatResponse *r = response;
  const int code = CeedVectorSetValue(temperature, 0);

  return code ? code : HeatStep(r->heat, source, temperature, r->num_steps);
}
