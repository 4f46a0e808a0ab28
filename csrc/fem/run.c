// What runs an operator of a QFunction: one at a time, with all that it needs from beginning to end.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// Vectors between the steps
// ------------------------------------------------------------------------------------------------

int CeedRunVectorMake(CeedOperator op, CeedSize length, bool has_memory, CeedVector *vec) {
  if (!*vec) CeedCall(CeedVectorCreate(op->base.ceed, length, vec));
  return has_memory ? CeedBufferAllocate(op->base.ceed, (*vec)->buffer, CEED_MEM_HOST)
                    : CEED_ERROR_SUCCESS;
}

static int MakePoints(CeedOperator op, const CeedQFunctionFields *qf_fields, bool is_given,
                      CeedVector *q) {
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    CeedSize length = (CeedSize)qf_fields->field[i]->size * CeedOperatorNumPoints(op);
    CeedCall(CeedRunVectorMake(op, length, !is_given, &q[i]));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedPointsSetUp(CeedOperator op, CeedOperatorForm *form) {
  CeedCall(MakePoints(op, &form->qf->in, false, form->q_in));
  return MakePoints(op, &form->qf->out, form->qf->shell != NULL, form->q_out);
}

void CeedPointsTearDown(CeedOperatorForm *form) {
  for (CeedInt i = 0; form->qf->shell && i < form->qf->out.count; i++) {
    (void)CeedVectorDestroy(&form->q_out[i]);
  }
}

// ------------------------------------------------------------------------------------------------
// From beginning to end
// ------------------------------------------------------------------------------------------------

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
  CeedPointsTearDown(run->form);
  CeedQFunctionEnd(&run->calls);
  __atomic_store_n(&run->form->is_running, false, __ATOMIC_RELEASE);
  return code;
}
