// What runs an operator of a QFunction: one at a time, with all that it needs from beginning to end.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "fem.h"

int CeedRunBegin(CeedOperator op, CeedFormKind kind, const char *what, CeedRun *run) {
  CeedOperatorForm *form = &op->form[kind];
  int code;

  CeedCheck(!__atomic_exchange_n(&form->is_running, true, __ATOMIC_ACQUIRE), op->base.ceed,
            CEED_ERROR_ACCESS,
            "%s refused: the operator is running, as its own QFunction's caller or in another "
            "thread",
            what);
  run->op = op;
  run->form = form;
  run->arguments.what = what;
  run->arguments.count = 0;
  run->has_written = false;
  code = CeedQFunctionBegin(form->qf, CeedOperatorNumPoints(op), &run->calls);
  if (code) __atomic_store_n(&form->is_running, false, __ATOMIC_RELEASE);
  return code;
}

void CeedRunAddInputs(CeedRun *run, CeedVector active) {
  const CeedQFunctionFields *qf_fields = &run->form->qf->in;

  for (CeedInt i = 0; i < qf_fields->count; i++) {
    CeedOperatorField field = run->form->in[i];
    if (qf_fields->field[i]->eval_mode == CEED_EVAL_WEIGHT) continue;
    if (field->vec == CEED_VECTOR_ACTIVE && !active) continue;
    CeedArgumentsAddRead(&run->arguments, CeedOperatorFieldVector(field, active), field->name);
  }
}

void CeedRunZeroOutputs(CeedRun *run) {
  run->has_written = true;
  for (CeedInt i = 0; i < run->arguments.count; i++) {
    const CeedArgument *a = &run->arguments.list[i];
    size_t bytes = a->vec->buffer->bytes;
    if (a->is_written && !a->keeps_values && bytes) memset(a->to, 0, bytes);
  }
}

int CeedRunEnd(CeedRun *run, int code) {
  if (run->has_written) {
    int released = CeedArgumentsRelease(&run->arguments);
    if (!code) code = released;
  } else {
    CeedArgumentsCancel(&run->arguments);
  }
  CeedRefTearDown(run->form);
  CeedQFunctionEnd(&run->calls);
  __atomic_store_n(&run->form->is_running, false, __ATOMIC_RELEASE);
  return code;
}
