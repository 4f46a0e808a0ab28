// Linear operators as numbers: the derivatives of the QFunction at every point.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

void CeedActiveFieldsFind(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                          CeedActiveFields *active) {
  active->count = active->num_comp = 0;
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    if (fields[i]->vec != CEED_VECTOR_ACTIVE) continue;
    active->index[active->count] = i;
    active->first_comp[active->count++] = active->num_comp;
    active->num_comp += qf_fields->field[i]->size;
  }
}

int CeedAssembledLength(CeedOperator op, CeedSize *length) {
  CeedOperatorForm *form = &op->form[CeedOperatorLinearKind(op)];
  CeedActiveFields ins, outs;

  CeedActiveFieldsFind(&form->qf->in, form->in, &ins);
  CeedActiveFieldsFind(&form->qf->out, form->out, &outs);
  return CeedSizeOf(op->base.ceed, "The assembled QFunction", length, ins.num_comp, outs.num_comp,
                    CeedOperatorNumPoints(op));
}

/* What the QFunction gives with one input component set to 1, of all active outputs; a shell may
   give the memory of its input. */
static int Probe(const CeedRun *run, CeedVector q_in, CeedInt comp, const CeedActiveFields *outs,
                 CeedScalar *to) {
  CeedOperatorForm *form = run->form;
  CeedSize n = CeedOperatorNumPoints(run->op);

  CeedCall(CeedVectorSetValueStrided(q_in, comp * n, (comp + 1) * n, 1, 1));
  CeedCall(CeedQFunctionRun(&run->calls, (CeedInt)n, form->q_in, form->q_out));
  for (CeedInt o = 0; o < outs->count; o++) {
    CeedCall(CeedVectorCopyTo(form->q_out[outs->index[o]], to + outs->first_comp[o] * n,
                              run->arguments.what));
  }
  return CeedVectorSetValueStrided(q_in, comp * n, (comp + 1) * n, 1, 0);
}

/* Passive inputs are what they are; active ones are 0. */
static int SetInputs(const CeedRun *run) {
  CeedOperatorForm *form = run->form;

  for (CeedInt i = 0; i < form->qf->in.count; i++) {
    CeedOperatorField field = form->in[i];
    if (field->vec == CEED_VECTOR_ACTIVE) {
      CeedCall(CeedVectorSetValue(form->q_in[i], 0));
    } else {
      CeedCall(CeedRefToPoints(run->op, field, form->qf->in.field[i]->eval_mode, field->vec,
                               form->e_in[i], form->q_in[i]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

int CeedAssemblePoints(const CeedRun *run, CeedScalar *D) {
  CeedOperatorForm *form = run->form;
  CeedQFunction qf = form->qf;
  CeedActiveFields ins, outs;

  CeedActiveFieldsFind(&qf->in, form->in, &ins);
  CeedActiveFieldsFind(&qf->out, form->out, &outs);
  CeedCall(CeedRefSetUp(run->op, form));
  CeedCall(SetInputs(run));
  for (CeedInt i = 0; i < ins.count; i++) {
    for (CeedInt comp = 0; comp < qf->in.field[ins.index[i]]->size; comp++) {
      CeedCall(CeedRefSetUp(run->op, form));
      CeedCall(Probe(run, form->q_in[ins.index[i]], comp, &outs, D));
      CeedPointsTearDown(form);
      D += outs.num_comp * CeedOperatorNumPoints(run->op);
    }
  }
  return CEED_ERROR_SUCCESS;
}

int CeedAssemblyCheck(CeedOperator op) {
  CeedSize in, out;

  CeedCall(CeedOperatorCheckReady(op));
  CeedCheck(op->kind == OPERATOR_OF_QFUNCTION, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "Only operators of QFunctions can be assembled");
  CeedCall(CeedOperatorFormCheckReady(op, &op->form[CeedOperatorLinearKind(op)]));
  CeedCall(CeedOperatorLengths(op, &in, &out));
  CeedCheck(in >= 0 && out >= 0, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "An operator without active input and output can't be assembled");
  return CEED_ERROR_SUCCESS;
}

int CeedAssemblyBegin(CeedOperator op, CeedVector assembled, bool add, CeedRun *run) {
  int code;

  CeedCall(CeedRunBegin(op, CeedOperatorLinearKind(op), "Assemble", run));
  CeedRunAddInputs(run, NULL);
  CeedArgumentsAddWrite(&run->arguments, assembled, "assembled", add);
  code = CeedArgumentsAcquire(op->base.ceed, &run->arguments);
  return code ? CeedRunEnd(run, code) : CEED_ERROR_SUCCESS;
}

static int AssembleInto(CeedOperator op, CeedVector assembled) {
  CeedRun run;
  int code;

  CeedCall(CeedAssemblyBegin(op, assembled, false, &run));
  CeedRunZeroOutputs(&run);
  CeedObjectRefer(op);
  code = CeedAssemblePoints(&run, run.arguments.list[run.arguments.count - 1].to);
  code = CeedRunEnd(&run, code);
  (void)CeedOperatorDestroy(&op);
  return code;
}

static int CreateAssembledRestriction(CeedOperator op, CeedElemRestriction *rstr) {
  CeedOperatorForm *form = &op->form[CeedOperatorLinearKind(op)];
  CeedInt n = CeedOperatorNumPoints(op), strides[3] = {1, n, op->num_qpts};
  CeedActiveFields ins, outs;
  CeedSize length, num_comp;

  CeedActiveFieldsFind(&form->qf->in, form->in, &ins);
  CeedActiveFieldsFind(&form->qf->out, form->out, &outs);
  CeedCall(CeedAssembledLength(op, &length));
  CeedCall(
      CeedSizeOf(op->base.ceed, "The assembled QFunction", &num_comp, ins.num_comp, outs.num_comp));
  CeedCheck(num_comp <= INT32_MAX, op->base.ceed, CEED_ERROR_DIMENSION,
            "%td components of an assembled QFunction are no CeedInt", num_comp);
  return CeedElemRestrictionCreateStrided(op->base.ceed, op->num_elem, op->num_qpts,
                                          (CeedInt)num_comp, length, strides, rstr);
}

int CeedOperatorLinearAssembleQFunctionBuildOrUpdate(CeedOperator op, CeedVector *assembled,
                                                     CeedElemRestriction *rstr,
                                                     CeedRequest *request) {
  CeedElemRestriction new_rstr = NULL;
  CeedVector vec = NULL;
  CeedSize length;
  int code;

  (void)request;
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(assembled, op->base.ceed);
  CeedCheckOutput(rstr, op->base.ceed);
  CeedCall(CeedAssemblyCheck(op));
  CeedCall(CeedAssembledLength(op, &length));
  if (*assembled) {
    CeedCall(CeedObjectCheck(*assembled, CEED_KIND_VECTOR));
    CeedCall(CeedVectorLengthCheck(*assembled, length, "assembled"));
    return AssembleInto(op, *assembled);
  }
  CeedCall(CreateAssembledRestriction(op, &new_rstr));
  code = CeedVectorCreate(op->base.ceed, length, &vec);
  if (!code) code = AssembleInto(op, vec);
  if (code) {
    (void)CeedVectorDestroy(&vec);
    (void)CeedElemRestrictionDestroy(&new_rstr);
    return code;
  }
  *assembled = vec;
  *rstr = new_rstr;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLinearAssembleQFunction(CeedOperator op, CeedVector *assembled,
                                        CeedElemRestriction *rstr, CeedRequest *request) {
  CeedVector vec = NULL;

  CeedCall(
      CeedOperatorLinearAssembleQFunctionBuildOrUpdate(op, assembled ? &vec : NULL, rstr, request));
  *assembled = vec;
  return CEED_ERROR_SUCCESS;
}
