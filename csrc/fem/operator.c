// Operators: how they are made, whether they are ready, and sums of them.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

static const char *VectorOut(CeedVector vec) {
  bool is_out = CeedBufferWord(vec->buffer) & (WRITER_ONE | READERS);

  return is_out ? "The array of a field's vector is out" : NULL;
}

static const char *FieldOut(CeedOperatorField field) {
  const char *out = NULL;

  if (field->rstr != CEED_ELEMRESTRICTION_NONE) {
    out = CeedOutOfLast(field->rstr, CeedElemRestrictionOut);
  }
  if (!out && CeedObjectIs(field->vec, CEED_KIND_VECTOR)) {
    out = CeedOutOfLast(field->vec, VectorOut);
  }
  return out;
}

/* What the caller still has of all that would end with the operator. */
static const char *Out(void *object) {
  CeedOperator op = object;
  const char *out = op->num_loans ? "Values of the context are out" : NULL;

  for (int i = 0; !out && i < NUM_FORMS; i++) {
    CeedQFunction qf = op->form[i].qf;
    if (qf) out = CeedOutOfLast(qf, CeedQFunctionOut);
  }
  for (CeedOperatorField field = op->fields; !out && field; field = field->next) {
    out = FieldOut(field);
  }
  for (CeedInt i = 0; !out && i < op->num_sub; i++) out = CeedOutOfLast(op->sub[i], Out);
  return out;
}

static void FreeForm(CeedOperatorForm *form) {
  for (int i = 0; i < CEED_MAX_FIELDS; i++) {
    (void)CeedVectorDestroy(&form->e_in[i]);
    (void)CeedVectorDestroy(&form->q_in[i]);
    (void)CeedVectorDestroy(&form->e_out[i]);
    (void)CeedVectorDestroy(&form->q_out[i]);
  }
  (void)CeedQFunctionDestroy(&form->qf);
  free(form->memory);
}

static void FreeField(CeedOperatorField field) {
  (void)CeedElemRestrictionDestroy(&field->rstr);
  (void)CeedBasisDestroy(&field->basis);
  (void)CeedVectorDestroy(&field->vec);
  CeedObjectEnd(field);
  free(field);
}

static void Free(void *object) {
  CeedOperator op = object;

  for (int i = 0; i < NUM_FORMS; i++) FreeForm(&op->form[i]);
  for (CeedOperatorField field = op->fields, next; field; field = next) {
    next = field->next;
    FreeField(field);
  }
  for (CeedInt i = 0; i < op->num_sub; i++) (void)CeedOperatorDestroy(&op->sub[i]);
  CeedLabelsFree(&op->labels);
  free(op->loans);
  free(op->sub);
  free(op->name);
  (void)pthread_mutex_destroy(&op->lock);
  free(op);
}

static const CeedClass class = {CEED_KIND_OPERATOR, Out, Free};
CEED_OBJECT(CeedOperator, class)
CEED_OBJECT_CEED(CeedOperator, CEED_KIND_OPERATOR)

static int New(Ceed ceed, CeedOperatorKind kind, CeedOperator *op) {
  CeedOperator new_op;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(op, ceed);
  new_op = CeedObjectNew(ceed, CEED_KIND_OPERATOR, sizeof *new_op);
  CeedCheck(new_op, ceed, CEED_ERROR_MAJOR, "Out of memory: an operator");
  (void)pthread_mutex_init(&new_op->lock, NULL);
  new_op->kind = kind;
  new_op->num_elem = new_op->num_qpts = -1;
  *op = new_op;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCreate(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                       CeedOperator *op) {
  CeedQFunction qfs[NUM_FORMS] = {qf, dqf, dqfT};
  CeedOperator new_op = NULL;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  for (int i = 0; i < NUM_FORMS; i++) {
    if (i != FORM_APPLY && (!qfs[i] || qfs[i] == CEED_QFUNCTION_NONE)) {
      qfs[i] = NULL;
    } else {
      CeedCall(CeedObjectCheck(qfs[i], CEED_KIND_QFUNCTION));
    }
  }
  CeedCall(New(ceed, OPERATOR_OF_QFUNCTION, op ? &new_op : NULL));
  for (int i = 0; i < NUM_FORMS; i++) {
    if (!qfs[i]) continue;
    CeedObjectRefer(qfs[i]);
    new_op->form[i].qf = qfs[i];
    __atomic_store_n(&qfs[i]->is_used, true, __ATOMIC_RELAXED);
  }
  *op = new_op;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCreateComposite(Ceed ceed, CeedOperator *op) {
  return New(ceed, OPERATOR_COMPOSITE, op);
}

int CeedOperatorCreateShell(Ceed ceed, CeedSize input_size, CeedSize output_size,
                            CeedOperatorShellUser apply, CeedOperatorShellUser apply_transpose,
                            void *ctx, CeedOperator *op) {
  CeedOperator new_op = NULL;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheck(apply, ceed, CEED_ERROR_INCOMPATIBLE, "The routine is NULL");
  CeedCheck(input_size >= 0 && output_size >= 0, ceed, CEED_ERROR_DIMENSION,
            "%td and %td are no lengths of vectors", input_size, output_size);
  CeedCall(New(ceed, OPERATOR_SHELL, op ? &new_op : NULL));
  new_op->apply = apply;
  new_op->apply_transpose = apply_transpose;
  new_op->shell_ctx = ctx;
  new_op->shell_size[0] = input_size;
  new_op->shell_size[1] = output_size;
  *op = new_op;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCheckKind(CeedOperator op, CeedOperatorKind kind, const char *what) {
  static const char *const kinds[] = {"an operator of a QFunction", "a composite operator",
                                      "a shell operator"};

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheck(op->kind == kind, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "%s needs %s, not %s", what,
            kinds[kind], kinds[op->kind]);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Whether it is ready, and for which vectors
// ------------------------------------------------------------------------------------------------

static int Join(CeedOperator op, CeedSize part, CeedSize *whole) {
  CeedCheck(part < 0 || *whole < 0 || part == *whole, op->base.ceed, CEED_ERROR_DIMENSION,
            "The parts of the composite operator have active vectors of %td and %td entries",
            *whole, part);
  if (part >= 0) *whole = part;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorLengths(CeedOperator op, CeedSize *input_size, CeedSize *output_size) {
  *input_size = op->kind == OPERATOR_SHELL ? op->shell_size[0] : -1;
  *output_size = op->kind == OPERATOR_SHELL ? op->shell_size[1] : -1;
  if (op->kind == OPERATOR_OF_QFUNCTION) {
    CeedOperatorFormLengths(&op->form[FORM_APPLY], input_size, output_size);
  }
  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedSize in, out;
    CeedCall(CeedOperatorLengths(op->sub[i], &in, &out));
    CeedCall(Join(op, in, input_size));
    CeedCall(Join(op, out, output_size));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetActiveVectorLengths(CeedOperator op, CeedSize *input_size,
                                       CeedSize *output_size) {
  CeedSize in, out;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedOperatorLengths(op, &in, &out));
  if (input_size) *input_size = in;
  if (output_size) *output_size = out;
  return CEED_ERROR_SUCCESS;
}

CeedInt CeedOperatorNumPoints(CeedOperator op) { return op->num_elem * op->num_qpts; }

int CeedOperatorFormReserve(CeedOperator op, CeedOperatorForm *form, size_t bytes) {
  void *more;

  if (bytes <= form->bytes) return CEED_ERROR_SUCCESS;
  CeedCall(CeedDeviceHost.allocate(op->base.ceed, bytes, &more));
  free(form->memory);
  form->memory = more;
  form->bytes = bytes;
  return CEED_ERROR_SUCCESS;
}

static int CheckAllSet(Ceed ceed, const CeedQFunctionFields *qf_fields,
                       const CeedOperatorField *fields) {
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    CeedCheck(fields[i], ceed, CEED_ERROR_INCOMPLETE, "The field \"%s\" is not set",
              qf_fields->field[i]->name);
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFormCheckReady(CeedOperator op, const CeedOperatorForm *form) {
  Ceed ceed = op->base.ceed;

  CeedCheck(form->qf->in.count + form->qf->out.count, ceed, CEED_ERROR_INCOMPLETE,
            "The QFunction has no fields");
  CeedCall(CheckAllSet(ceed, &form->qf->in, form->in));
  CeedCall(CheckAllSet(ceed, &form->qf->out, form->out));
  CeedCheck(op->num_elem >= 0, ceed, CEED_ERROR_INCOMPLETE,
            "No field has a restriction: the number of elements is not known");
  CeedCheck((CeedSize)op->num_elem * op->num_qpts <= INT32_MAX, ceed, CEED_ERROR_DIMENSION,
            "%d elements of %d points each have more than %d points", op->num_elem, op->num_qpts,
            INT32_MAX);
  return CEED_ERROR_SUCCESS;
}

CeedFormKind CeedOperatorLinearKind(CeedOperator op) {
  return op->form[FORM_JACOBIAN].qf ? FORM_JACOBIAN : FORM_APPLY;
}

int CeedOperatorCheckReady(CeedOperator op) {
  CeedSize in, out;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  if (op->kind == OPERATOR_OF_QFUNCTION) {
    return CeedOperatorFormCheckReady(op, &op->form[FORM_APPLY]);
  }
  if (op->kind == OPERATOR_SHELL) return CEED_ERROR_SUCCESS;
  CeedCheck(op->num_sub, op->base.ceed, CEED_ERROR_INCOMPLETE,
            "The composite operator has no parts");
  for (CeedInt i = 0; i < op->num_sub; i++) CeedCall(CeedOperatorCheckReady(op->sub[i]));
  return CeedOperatorLengths(op, &in, &out);
}

int CeedActiveVectorCheck(CeedOperator op, CeedVector vec, CeedSize length, const char *what) {
  if (length < 0 && vec == CEED_VECTOR_NONE) return CEED_ERROR_SUCCESS;
  CeedCheck(vec != CEED_VECTOR_NONE && vec != CEED_VECTOR_ACTIVE, op->base.ceed,
            CEED_ERROR_INCOMPATIBLE, "The operator has an active %s: give its vector", what);
  CeedCall(CeedObjectCheck(vec, CEED_KIND_VECTOR));
  CeedCheck(length < 0 || vec->length == length, op->base.ceed, CEED_ERROR_DIMENSION,
            "The %s vector has %td entries, the operator wants %td", what, vec->length, length);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Composites
// ------------------------------------------------------------------------------------------------

int CeedOperatorCompositeAddSub(CeedOperator composite_op, CeedOperator sub_op) {
  CeedOperator op = composite_op, *subs;
  CeedSize in, out;
  int code;

  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "AddSub"));
  CeedCall(CeedObjectCheck(sub_op, CEED_KIND_OPERATOR));
  CeedCheck(sub_op->kind != OPERATOR_COMPOSITE, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "A composite operator can't be part of another");
  subs = realloc(op->sub, ((size_t)op->num_sub + 1) * sizeof(CeedOperator));
  CeedCheck(subs, op->base.ceed, CEED_ERROR_MAJOR, "Out of memory: the list of parts");
  op->sub = subs;
  op->sub[op->num_sub++] = sub_op;
  code = CeedOperatorLengths(op, &in, &out);
  if (code) {
    op->num_sub--;
  } else {
    CeedObjectRefer(sub_op);
  }
  return code;
}

int CeedOperatorCompositeGetNumSub(CeedOperator op, CeedInt *num_suboperators) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "GetNumSub"));
  CeedCheckOutput(num_suboperators, op->base.ceed);
  *num_suboperators = op->num_sub;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeGetSubList(CeedOperator op, CeedOperator **sub_operators) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "GetSubList"));
  CeedCheckOutput(sub_operators, op->base.ceed);
  *sub_operators = op->sub;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeGetSubByName(CeedOperator op, const char *op_name, CeedOperator *sub_op) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "GetSubByName"));
  CeedCheck(op_name, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The name is NULL");
  CeedCheckOutput(sub_op, op->base.ceed);
  *sub_op = NULL;
  for (CeedInt i = 0; i < op->num_sub && !*sub_op; i++) {
    const char *name = op->sub[i]->name;
    if (name && !strcmp(name, op_name)) *sub_op = op->sub[i];
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeSetSequential(CeedOperator op, bool is_sequential) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "SetSequential"));
  op->is_sequential = is_sequential;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeIsSequential(CeedOperator op, bool *is_sequential) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_COMPOSITE, "IsSequential"));
  CeedCheckOutput(is_sequential, op->base.ceed);
  *is_sequential = op->is_sequential;
  return CEED_ERROR_SUCCESS;
}
