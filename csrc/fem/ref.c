// The reference backend: every step of an operator for all elements at once, by the functions that
// anybody can call; the last one alone, into outputs that are locked already, is the library's own.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

/* What is evaluated by a basis has an E-vector. */
static int MakeElementVectors(CeedOperator op, const CeedQFunctionFields *qf_fields,
                              const CeedOperatorField *fields, CeedVector *e) {
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    CeedEvalMode mode = qf_fields->field[i]->eval_mode;
    if (mode != CEED_EVAL_INTERP && mode != CEED_EVAL_GRAD) continue;
    CeedCall(CeedRunVectorMake(op, fields[i]->rstr->e_size, true, &e[i]));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedRefSetUp(CeedOperator op, CeedOperatorForm *form) {
  CeedCall(MakeElementVectors(op, &form->qf->in, form->in, form->e_in));
  CeedCall(MakeElementVectors(op, &form->qf->out, form->out, form->e_out));
  return CeedPointsSetUp(op, form);
}

int CeedRefToPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode, CeedVector l,
                    CeedVector e, CeedVector q) {
  CeedElemRestriction rstr = field->rstr;

  switch (eval_mode) {
    case CEED_EVAL_NONE:
      return CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l, q, CEED_REQUEST_IMMEDIATE);
    case CEED_EVAL_WEIGHT:
      return CeedBasisApply(field->basis, op->num_elem, CEED_NOTRANSPOSE, eval_mode,
                            CEED_VECTOR_NONE, q);
    default:
      CeedCall(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, l, e, CEED_REQUEST_IMMEDIATE));
      return CeedBasisApply(field->basis, op->num_elem, CEED_NOTRANSPOSE, eval_mode, e, q);
  }
}

int CeedRefFromPoints(CeedOperator op, CeedOperatorField field, CeedEvalMode eval_mode,
                      CeedVector q, CeedVector e, CeedScalar *l) {
  const CeedScalar *from;

  if (eval_mode != CEED_EVAL_NONE) {
    CeedCall(CeedBasisApply(field->basis, op->num_elem, CEED_TRANSPOSE, eval_mode, q, e));
    q = e;
  }
  CeedCall(CeedVectorAcquireRead(q, CEED_MEM_HOST, &from, "OperatorApply"));
  CeedElemRestrictionScatterAdd(field->rstr, from, l);
  CeedVectorReleaseRead(q);
  return CEED_ERROR_SUCCESS;
}

int CeedRefApply(CeedRun *run) {
  CeedOperatorForm *form = run->form;
  CeedQFunction qf = form->qf;
  CeedOperator op = run->op;

  for (CeedInt i = 0; i < qf->in.count; i++) {
    CeedCall(CeedRefToPoints(op, form->in[i], qf->in.field[i]->eval_mode,
                             CeedOperatorFieldVector(form->in[i], run->in), form->e_in[i],
                             form->q_in[i]));
  }
  CeedCall(CeedQFunctionRun(&run->calls, CeedOperatorNumPoints(op), form->q_in, form->q_out));
  CeedRunZeroOutputs(run);
  for (CeedInt i = 0; i < qf->out.count; i++) {
    CeedCall(CeedRefFromPoints(op, form->out[i], qf->out.field[i]->eval_mode, form->q_out[i],
                               form->e_out[i], run->to[i]));
  }
  return CEED_ERROR_SUCCESS;
}
