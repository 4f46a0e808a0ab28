// Applying operators of all kinds: the operator, its Jacobian, its transpose. Everything is checked
// and locked before an output is touched.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

static const char apply[] = "OperatorApply";

typedef struct {
  CeedFormKind kind;
  CeedApplyMode mode;
  CeedVector in, out;
  bool is_trial; /* find out whether it would be refused, and do nothing */
} Call;

// ------------------------------------------------------------------------------------------------
// An operator of a QFunction
// ------------------------------------------------------------------------------------------------

static CeedArgument *FindOutput(CeedRun *run, CeedVector vec) {
  for (CeedInt i = 0; i < run->arguments.count; i++) {
    CeedArgument *a = &run->arguments.list[i];
    if (a->is_written && a->vec == vec) return a;
  }
  return NULL;
}

/* Outputs in one vector are added to each other. */
static void AddOutputs(CeedRun *run, const Call *call) {
  for (CeedInt i = 0; i < run->form->qf->out.count; i++) {
    CeedOperatorField field = run->form->out[i];
    bool is_active = field->vec == CEED_VECTOR_ACTIVE;
    bool adds = call->mode == APPLY_ADD || (call->mode == APPLY_ADD_ACTIVE && is_active);
    CeedVector vec = CeedOperatorFieldVector(field, call->out);
    if (FindOutput(run, vec)) continue;
    CeedArgumentsAddWrite(&run->arguments, vec, field->name, adds);
  }
}

/* Arguments are the inputs in their order, then the outputs. */
static void SetArrays(CeedRun *run, const Call *call) {
  const CeedQFunctionFields *in = &run->form->qf->in, *out = &run->form->qf->out;
  const CeedArgument *next = run->arguments.list;

  run->in = call->in;
  for (CeedInt i = 0; i < in->count; i++) {
    run->from[i] = in->field[i]->eval_mode == CEED_EVAL_WEIGHT ? NULL : next++->from;
  }
  for (CeedInt i = 0; i < out->count; i++) {
    run->to[i] = FindOutput(run, CeedOperatorFieldVector(run->form->out[i], call->out))->to;
  }
}

static int ApplyForm(CeedOperator op, const Call *call) {
  CeedOperatorForm *form = &op->form[call->kind];
  CeedSize in_size, out_size;
  bool is_opt;
  CeedRun run;
  int code;

  CeedCheck(form->qf, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The operator was made without a QFunction for its Jacobian");
  CeedCall(CeedOperatorFormCheckReady(op, form));
  CeedOperatorFormLengths(form, &in_size, &out_size);
  CeedCall(CeedActiveVectorCheck(op, call->in, in_size, "input"));
  CeedCall(CeedActiveVectorCheck(op, call->out, out_size, "output"));
  is_opt = op->base.ceed->resource->is_fused;
  CeedCall(CeedRunBegin(op, call->kind, apply, &run));
  code = (is_opt ? CeedOptSetUp : CeedRefSetUp)(op, form);
  if (code) return CeedRunEnd(&run, code);
  CeedRunAddInputs(&run, call->in);
  AddOutputs(&run, call);
  code = CeedArgumentsAcquire(op->base.ceed, &run.arguments);
  if (code || call->is_trial) return CeedRunEnd(&run, code);
  SetArrays(&run, call);
  return CeedRunEnd(&run, (is_opt ? CeedOptApply : CeedRefApply)(&run));
}

// ------------------------------------------------------------------------------------------------
// The transpose of a linear one: from the points of the outputs to the points of the inputs
// ------------------------------------------------------------------------------------------------

/* q_in = sum over the components of an output field of the derivatives times q_out. */
static void AddProducts(CeedSize n, CeedInt size, const CeedScalar *D, const CeedScalar *q_out,
                        CeedScalar *q_in) {
  for (CeedInt c = 0; c < size; c++) {
    for (CeedSize i = 0; i < n; i++) q_in[i] += D[c * n + i] * q_out[c * n + i];
  }
}

static int TransposePoints(const CeedRun *run, const CeedActiveFields *ins,
                           const CeedActiveFields *outs, const CeedScalar *D) {
  const CeedQFunctionFields *in = &run->form->qf->in, *out = &run->form->qf->out;
  CeedSize n = CeedOperatorNumPoints(run->op);

  for (CeedInt i = 0; i < ins->count; i++) {
    CeedArguments a = {.what = apply};
    CeedVector q_in = run->form->q_in[ins->index[i]];
    CeedScalar *to;
    for (CeedInt o = 0; o < outs->count; o++) {
      CeedArgumentsAddRead(&a, run->form->q_out[outs->index[o]], out->field[outs->index[o]]->name);
    }
    CeedArgumentsAddWrite(&a, q_in, in->field[ins->index[i]]->name, false);
    CeedCall(CeedArgumentsAcquire(run->op->base.ceed, &a));
    to = a.list[outs->count].to;
    if (n) memset(to, 0, q_in->buffer->bytes);
    for (CeedInt c = 0; c < in->field[ins->index[i]]->size; c++) {
      const CeedScalar *row = D + (ins->first_comp[i] + c) * outs->num_comp * n;
      for (CeedInt o = 0; o < outs->count; o++) {
        AddProducts(n, out->field[outs->index[o]]->size, row + outs->first_comp[o] * n,
                    a.list[o].from, to + c * n);
      }
    }
    CeedCall(CeedArgumentsRelease(&a));
  }
  return CEED_ERROR_SUCCESS;
}

/* The assembly has used the E- and Q-vectors, whose memory a shell has replaced. */
static int TransposeSteps(const CeedRun *run, const CeedScalar *D, CeedVector in, CeedScalar *out) {
  CeedOperatorForm *form = run->form;
  CeedQFunction qf = form->qf;
  CeedActiveFields ins, outs;

  CeedCall(CeedRefSetUp(run->op, form));
  CeedActiveFieldsFind(&qf->in, form->in, &ins);
  CeedActiveFieldsFind(&qf->out, form->out, &outs);
  for (CeedInt o = 0; o < outs.count; o++) {
    CeedInt i = outs.index[o];
    CeedCall(CeedRefToPoints(run->op, form->out[i], qf->out.field[i]->eval_mode, in, form->e_out[i],
                             form->q_out[i]));
  }
  CeedCall(TransposePoints(run, &ins, &outs, D));
  for (CeedInt k = 0; k < ins.count; k++) {
    CeedInt i = ins.index[k];
    CeedCall(CeedRefFromPoints(run->op, form->in[i], qf->in.field[i]->eval_mode, form->q_in[i],
                               form->e_in[i], out));
  }
  return CEED_ERROR_SUCCESS;
}

static int AssembleAndTranspose(CeedRun *run, const Call *call) {
  CeedSize length;
  CeedScalar *D;
  int code;

  CeedCall(CeedAssembledLength(run->op, &length));
  CeedCall(CeedAllocate(run->op->base.ceed, length, sizeof *D, &D));
  code = CeedAssemblePoints(run, D);
  if (!code) {
    CeedRunZeroOutputs(run);
    code = TransposeSteps(run, D, call->in, FindOutput(run, call->out)->to);
  }
  free(D);
  return code;
}

static int TransposeByAssembly(CeedOperator op, const Call *call) {
  CeedOperatorForm *form = &op->form[CeedOperatorLinearKind(op)];
  CeedSize in_size, out_size;
  CeedRun run;
  int code;

  CeedCall(CeedOperatorFormCheckReady(op, form));
  CeedOperatorFormLengths(form, &in_size, &out_size);
  CeedCheck(in_size >= 0 && out_size >= 0, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The operator has no transpose without an active input and an active output");
  CeedCall(CeedActiveVectorCheck(op, call->in, out_size, "input"));
  CeedCall(CeedActiveVectorCheck(op, call->out, in_size, "output"));
  CeedCall(CeedRunBegin(op, CeedOperatorLinearKind(op), apply, &run));
  CeedRunAddInputs(&run, NULL);
  CeedArgumentsAddRead(&run.arguments, call->in, "in");
  CeedArgumentsAddWrite(&run.arguments, call->out, "out", call->mode != APPLY_SET);
  code = CeedArgumentsAcquire(op->base.ceed, &run.arguments);
  if (!code && !call->is_trial) code = AssembleAndTranspose(&run, call);
  return CeedRunEnd(&run, code);
}

// ------------------------------------------------------------------------------------------------
// A routine
// ------------------------------------------------------------------------------------------------

static int CallShell(CeedOperator op, CeedOperatorShellUser f, CeedVector in, CeedVector out) {
  uint64_t errors = CeedErrorCount();
  int code = f(op->shell_ctx, in, out);

  if (!code || CeedErrorCount() != errors) return code;
  return CeedError(op->base.ceed, code, "The routine of the shell operator returned %d", code);
}

static int ApplyShell(CeedOperator op, const Call *call) {
  bool transpose = call->kind == FORM_TRANSPOSE;
  CeedOperatorShellUser f = transpose ? op->apply_transpose : op->apply;
  CeedVector sum = NULL;
  int code;

  CeedCheck(call->kind != FORM_JACOBIAN && f, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The shell operator was made without a routine for its %s",
            transpose ? "transpose" : "Jacobian");
  CeedCall(CeedActiveVectorCheck(op, call->in, op->shell_size[transpose], "input"));
  CeedCall(CeedActiveVectorCheck(op, call->out, op->shell_size[!transpose], "output"));
  CeedCheck(call->in != call->out, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "One vector is input and output at once");
  if (call->is_trial) return CEED_ERROR_SUCCESS;
  if (call->mode == APPLY_SET) return CallShell(op, f, call->in, call->out);
  CeedCall(CeedVectorCreate(op->base.ceed, call->out->length, &sum));
  code = CallShell(op, f, call->in, sum);
  if (!code) code = CeedVectorAXPY(call->out, 1, sum);
  (void)CeedVectorDestroy(&sum);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Any operator
// ------------------------------------------------------------------------------------------------

static int ApplyOne(CeedOperator op, const Call *call) {
  if (op->kind == OPERATOR_SHELL) return ApplyShell(op, call);
  if (call->kind == FORM_TRANSPOSE && !op->form[call->kind].qf)
    return TransposeByAssembly(op, call);
  return ApplyForm(op, call);
}

/* Each part locks what it needs while it runs, for it may read what one before it has written. So
   all are tried first; then the active output is zeroed, and all add to it. */
static int ApplyComposite(CeedOperator op, const Call *call) {
  CeedInt num_sub = op->num_sub;
  Call part = *call;

  CeedCall(CeedOperatorCheckReady(op));
  CeedCheck(call->in != call->out || call->in == CEED_VECTOR_NONE, op->base.ceed,
            CEED_ERROR_INCOMPATIBLE, "One vector is input and output at once");
  part.is_trial = true;
  for (CeedInt i = 0; i < num_sub; i++) CeedCall(ApplyOne(op->sub[i], &part));
  part.is_trial = false;
  if (call->mode == APPLY_SET) {
    if (call->out != CEED_VECTOR_NONE) CeedCall(CeedVectorSetValue(call->out, 0));
    part.mode = APPLY_ADD_ACTIVE;
  }
  for (CeedInt i = 0; i < num_sub; i++) CeedCall(ApplyOne(op->sub[i], &part));
  return CEED_ERROR_SUCCESS;
}

static CeedVector Hold(CeedVector vec) {
  if (!CeedObjectIs(vec, CEED_KIND_VECTOR)) return NULL;
  CeedObjectRefer(vec);
  return vec;
}

/* The function of the user may destroy the operator and the vectors, but not before the end. */
static int Apply(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                 CeedVector out) {
  Call call = {kind, mode, in, out, false};
  CeedVector held_in, held_out;
  int code;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  held_in = Hold(in);
  held_out = Hold(out);
  CeedObjectRefer(op);
  code = (op->kind == OPERATOR_COMPOSITE ? ApplyComposite : ApplyOne)(op, &call);
  (void)CeedVectorDestroy(&held_in);
  (void)CeedVectorDestroy(&held_out);
  (void)CeedOperatorDestroy(&op);
  return code;
}

int CeedOperatorApply(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request) {
  (void)request;
  return Apply(op, FORM_APPLY, APPLY_SET, in, out);
}

int CeedOperatorApplyAdd(CeedOperator op, CeedVector in, CeedVector out, CeedRequest *request) {
  (void)request;
  return Apply(op, FORM_APPLY, APPLY_ADD, in, out);
}

int CeedOperatorApplyAddActive(CeedOperator op, CeedVector in, CeedVector out,
                               CeedRequest *request) {
  (void)request;
  return Apply(op, FORM_APPLY, APPLY_ADD_ACTIVE, in, out);
}

int CeedOperatorApplyJacobian(CeedOperator op, CeedVector in, CeedVector out,
                              CeedRequest *request) {
  (void)request;
  return Apply(op, FORM_JACOBIAN, APPLY_SET, in, out);
}

int CeedOperatorApplyTranspose(CeedOperator op, CeedVector in, CeedVector out,
                               CeedRequest *request) {
  (void)request;
  return Apply(op, FORM_TRANSPOSE, APPLY_SET, in, out);
}
