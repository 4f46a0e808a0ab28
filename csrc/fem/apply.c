// Applying operators of all kinds: the operator, its Jacobian, its transpose.
// SPDX-License-Identifier: BSD-2-Clause
#include "fem.h"

// ------------------------------------------------------------------------------------------------
// An operator of a QFunction
// ------------------------------------------------------------------------------------------------

static int CheckDistinct(CeedOperator op, const CeedOperatorForm *form, CeedVector in,
                         CeedVector out) {
  for (CeedInt i = 0; i < form->qf->out.count; i++) {
    CeedVector written = CeedOperatorFieldVector(form->out[i], out);
    for (CeedInt j = 0; j < form->qf->in.count; j++) {
      CeedCheck(written != CeedOperatorFieldVector(form->in[j], in), op->base.ceed,
                CEED_ERROR_INCOMPATIBLE,
                "One vector is input, of the field \"%s\", and output, of \"%s\", at once",
                form->in[j]->name, form->out[i]->name);
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int ApplyForm(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                     CeedVector out) {
  CeedOperatorForm *form = &op->form[kind];
  CeedSize in_size, out_size;

  CeedCheck(form->qf, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The operator was made without a QFunction for its Jacobian");
  CeedCall(CeedOperatorFormCheckReady(op, form));
  CeedCall(CeedOperatorFormLengths(form, &in_size, &out_size));
  CeedCall(CeedActiveVectorCheck(op, in, in_size, "input"));
  CeedCall(CeedActiveVectorCheck(op, out, out_size, "output"));
  CeedCall(CheckDistinct(op, form, in, out));
  return (op->base.ceed->resource->is_fused ? CeedOptApply : CeedRefApply)(op, form, mode, in, out);
}

// ------------------------------------------------------------------------------------------------
// The transpose of a linear one: from the points of the outputs to the points of the inputs
// ------------------------------------------------------------------------------------------------

/* q_in[i] = sum over outputs of the derivatives times q_out. */
static int TransposePoints(CeedOperator op, const CeedActiveFields *ins,
                           const CeedActiveFields *outs, CeedVector assembled) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedSize n = CeedOperatorNumPoints(op);
  const CeedScalar *D, *q_out[CEED_MAX_FIELDS];
  CeedScalar *q_in;
  int code = CeedVectorAcquireRead(assembled, CEED_MEM_HOST, &D, "ApplyTranspose");

  if (code) return code;
  for (CeedInt o = 0; o < outs->count; o++) {
    q_out[o] = form->q_out[outs->index[o]]->buffer->memory[CEED_MEM_HOST].data;
  }
  for (CeedInt i = 0; !code && i < ins->count; i++) {
    CeedVector vec = form->q_in[ins->index[i]];
    code = CeedVectorAcquireWrite(vec, CEED_MEM_HOST, false, &q_in, "ApplyTranspose");
    if (code) break;
    for (CeedSize k = 0; k < vec->length; k++) q_in[k] = 0;
    for (CeedSize k = 0; k < vec->length; k++) {
      CeedSize row = ins->first_comp[i] + k / n;
      for (CeedInt o = 0; o < outs->count; o++) {
        CeedInt size = form->qf->out.field[outs->index[o]]->size;
        const CeedScalar *d = D + (row * outs->num_comp + outs->first_comp[o]) * n + k % n;
        for (CeedInt c = 0; c < size; c++) q_in[k] += d[c * n] * q_out[o][c * n + k % n];
      }
    }
    code = CeedVectorReleaseWrite(vec);
  }
  CeedVectorReleaseRead(assembled);
  return code;
}

/* Needs E- and Q-vectors of its own state only while it runs; the assembly has used them before. */
static int TransposeSteps(CeedOperator op, CeedVector assembled, CeedVector in, CeedVector out) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedQFunction qf = form->qf;
  CeedActiveFields ins, outs;

  CeedCall(CeedRefSetUp(op, form));
  CeedActiveFieldsFind(&qf->in, form->in, &ins);
  CeedActiveFieldsFind(&qf->out, form->out, &outs);
  for (CeedInt o = 0; o < outs.count; o++) {
    CeedInt i = outs.index[o];
    CeedCall(CeedRefToPoints(op, form->out[i], qf->out.field[i]->eval_mode, in, form->e_out[i],
                             form->q_out[i]));
  }
  CeedCall(TransposePoints(op, &ins, &outs, assembled));
  for (CeedInt k = 0; k < ins.count; k++) {
    CeedInt i = ins.index[k];
    CeedCall(CeedRefFromPoints(op, form->in[i], qf->in.field[i]->eval_mode, form->q_in[i],
                               form->e_in[i], out));
  }
  return CEED_ERROR_SUCCESS;
}

static int TransposeByAssembly(CeedOperator op, CeedApplyMode mode, CeedVector in, CeedVector out) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedSize in_size, out_size;
  CeedVector assembled = NULL;
  int code;

  CeedCall(CeedOperatorFormCheckReady(op, form));
  CeedCall(CeedOperatorFormLengths(form, &in_size, &out_size));
  CeedCheck(in_size >= 0 && out_size >= 0, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The operator has no transpose without an active input and an active output");
  CeedCall(CeedActiveVectorCheck(op, in, out_size, "input"));
  CeedCall(CeedActiveVectorCheck(op, out, in_size, "output"));
  CeedCheck(in != out, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "One vector is input and output at once");
  CeedCall(CeedVectorCreate(op->base.ceed, CeedAssembledLength(op), &assembled));
  code = CeedAssemblePoints(op, assembled);
  if (!code && mode == APPLY_SET) code = CeedVectorSetValue(out, 0);
  if (!code) code = TransposeSteps(op, assembled, in, out);
  CeedRefTearDown(form);
  CeedVectorDestroy(&assembled);
  return code;
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

static int ApplyShell(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                      CeedVector out) {
  bool transpose = kind == FORM_TRANSPOSE;
  CeedOperatorShellUser f = transpose ? op->apply_transpose : op->apply;
  CeedVector sum = NULL;
  int code;

  CeedCheck(kind != FORM_JACOBIAN && f, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The shell operator was made without a routine for its %s",
            transpose ? "transpose" : "Jacobian");
  CeedCall(CeedActiveVectorCheck(op, in, op->shell_size[transpose], "input"));
  CeedCall(CeedActiveVectorCheck(op, out, op->shell_size[!transpose], "output"));
  CeedCheck(in != out, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "One vector is input and output at once");
  if (mode == APPLY_SET) return CallShell(op, f, in, out);
  CeedCall(CeedVectorCreate(op->base.ceed, out->length, &sum));
  code = CallShell(op, f, in, sum);
  if (!code) code = CeedVectorAXPY(out, 1, sum);
  CeedVectorDestroy(&sum);
  return code;
}

// ------------------------------------------------------------------------------------------------
// Any operator
// ------------------------------------------------------------------------------------------------

static int ApplyOne(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                    CeedVector out) {
  if (op->kind == OPERATOR_SHELL) return ApplyShell(op, kind, mode, in, out);
  if (kind == FORM_TRANSPOSE && !op->form[kind].qf) return TransposeByAssembly(op, mode, in, out);
  return ApplyForm(op, kind, mode, in, out);
}

/* The active output of a composite operator is zeroed once, and all its parts add to it. */
static int ApplyComposite(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                          CeedVector out) {
  CeedCall(CeedOperatorCheckReady(op));
  CeedCheck(in != out || in == CEED_VECTOR_NONE, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "One vector is input and output at once");
  if (mode == APPLY_SET) {
    if (out != CEED_VECTOR_NONE) CeedCall(CeedVectorSetValue(out, 0));
    mode = APPLY_ADD_ACTIVE;
  }
  for (CeedInt i = 0; i < op->num_sub; i++) CeedCall(ApplyOne(op->sub[i], kind, mode, in, out));
  return CEED_ERROR_SUCCESS;
}

static int Apply(CeedOperator op, CeedFormKind kind, CeedApplyMode mode, CeedVector in,
                 CeedVector out) {
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  if (op->kind == OPERATOR_COMPOSITE) return ApplyComposite(op, kind, mode, in, out);
  return ApplyOne(op, kind, mode, in, out);
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
