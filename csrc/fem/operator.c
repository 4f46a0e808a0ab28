// Operators: how they are made, what they are made of, and what they tell.
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
// Fields
// ------------------------------------------------------------------------------------------------

/* The arguments of CeedOperatorSetField(). */
typedef struct {
  const char *name;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
} Field;

static int CheckHandles(const Field *f) {
  if (f->rstr != CEED_ELEMRESTRICTION_NONE) {
    CeedCall(CeedObjectCheck(f->rstr, CEED_KIND_RESTRICTION));
  }
  if (f->basis != CEED_BASIS_NONE) CeedCall(CeedObjectCheck(f->basis, CEED_KIND_BASIS));
  if (f->vec != CEED_VECTOR_ACTIVE && f->vec != CEED_VECTOR_NONE) {
    CeedCall(CeedObjectCheck(f->vec, CEED_KIND_VECTOR));
    if (f->rstr != CEED_ELEMRESTRICTION_NONE) {
      CeedCall(CeedVectorLengthCheck(f->vec, f->rstr->l_size, f->name));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int CheckWeight(Ceed ceed, const Field *f) {
  CeedCheck(f->basis != CEED_BASIS_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" of quadrature weights needs a basis", f->name);
  CeedCheck(f->vec == CEED_VECTOR_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" of quadrature weights takes no vector: give CEED_VECTOR_NONE",
            f->name);
  return CEED_ERROR_SUCCESS;
}

static int CheckStored(Ceed ceed, const Field *f, CeedInt size) {
  CeedCheck(f->basis == CEED_BASIS_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" is not evaluated: give CEED_BASIS_NONE", f->name);
  CeedCheck(f->rstr->num_comp == size, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has %d components in the QFunction, %d in the restriction", f->name,
            size, f->rstr->num_comp);
  return CEED_ERROR_SUCCESS;
}

static int CheckEvaluated(Ceed ceed, const Field *f, CeedInt size, CeedEvalMode eval_mode) {
  CeedBasis basis = f->basis;
  CeedInt factor;

  CeedCheck(basis != CEED_BASIS_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" needs a basis for its %s", f->name, CeedEvalModes[eval_mode]);
  factor = eval_mode == CEED_EVAL_GRAD ? basis->dim : 1;
  CeedCheck(f->rstr->elem_size == basis->P, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has elements of %d nodes in the restriction, %d in the basis",
            f->name, f->rstr->elem_size, basis->P);
  CeedCheck(f->rstr->num_comp == basis->num_comp, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has %d components in the restriction, %d in the basis", f->name,
            f->rstr->num_comp, basis->num_comp);
  CeedCheck((CeedSize)basis->num_comp * factor == size, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has %d components in the QFunction, %d times %d in the basis",
            f->name, size, factor, basis->num_comp);
  return CEED_ERROR_SUCCESS;
}

static int CheckAgainst(Ceed ceed, const Field *f, CeedQFunctionField qf_field) {
  if (qf_field->eval_mode == CEED_EVAL_WEIGHT) return CheckWeight(ceed, f);
  CeedCheck(f->rstr != CEED_ELEMRESTRICTION_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" needs a restriction", f->name);
  CeedCheck(f->vec != CEED_VECTOR_NONE, ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" needs a vector, or CEED_VECTOR_ACTIVE", f->name);
  if (qf_field->eval_mode == CEED_EVAL_NONE) return CheckStored(ceed, f, qf_field->size);
  return CheckEvaluated(ceed, f, qf_field->size, qf_field->eval_mode);
}

/* Elements and points are the same for all fields. */
static int CheckCounts(CeedOperator op, const Field *f, CeedInt *num_elem, CeedInt *num_qpts) {
  bool has_rstr = f->rstr != CEED_ELEMRESTRICTION_NONE, has_basis = f->basis != CEED_BASIS_NONE;
  Ceed ceed = op->base.ceed;

  *num_elem = has_rstr ? f->rstr->num_elem : op->num_elem;
  *num_qpts = has_basis ? f->basis->Q : f->rstr->elem_size;
  CeedCheck(op->num_elem < 0 || op->num_elem == *num_elem, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has %d elements, those before %d", f->name, *num_elem, op->num_elem);
  CeedCheck(op->num_qpts < 0 || op->num_qpts == *num_qpts, ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" has %d points an element, those before %d", f->name, *num_qpts,
            op->num_qpts);
  return CEED_ERROR_SUCCESS;
}

/* Where a QFunction has the field, or NULL; *qf_field is its description there. */
static CeedOperatorField *Slot(CeedOperatorForm *form, const char *name,
                               CeedQFunctionField *qf_field) {
  if (!form->qf) return NULL;
  for (CeedInt i = 0; i < form->qf->in.count; i++) {
    *qf_field = form->qf->in.field[i];
    if (!strcmp((*qf_field)->name, name)) return &form->in[i];
  }
  for (CeedInt i = 0; i < form->qf->out.count; i++) {
    *qf_field = form->qf->out.field[i];
    if (!strcmp((*qf_field)->name, name)) return &form->out[i];
  }
  return NULL;
}

/* The length of the active vector of one side, -1 for none; all active fields have the same. */
static CeedSize SideLength(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields) {
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    if (fields[i] && fields[i]->vec == CEED_VECTOR_ACTIVE) return fields[i]->rstr->l_size;
  }
  return -1;
}

static int CheckLengths(CeedOperator op, const Field *f) {
  for (int i = 0; f->vec == CEED_VECTOR_ACTIVE && i < NUM_FORMS; i++) {
    CeedOperatorForm *form = &op->form[i];
    CeedQFunctionField qf_field;
    CeedOperatorField *slot = Slot(form, f->name, &qf_field);
    bool is_input = slot >= form->in && slot < form->in + CEED_MAX_FIELDS;
    CeedSize length = -1;
    if (slot)
      length =
          is_input ? SideLength(&form->qf->in, form->in) : SideLength(&form->qf->out, form->out);
    CeedCheck(length < 0 || length == f->rstr->l_size, op->base.ceed, CEED_ERROR_DIMENSION,
              "The active field \"%s\" has an L-vector of %td entries, those before %td", f->name,
              f->rstr->l_size, length);
  }
  return CEED_ERROR_SUCCESS;
}

static CeedOperatorField Find(CeedOperator op, const char *name) {
  CeedOperatorField field = op->fields;

  while (field && strcmp(field->name, name)) field = field->next;
  return field;
}

static int CheckField(CeedOperator op, const Field *f) {
  Ceed ceed = op->base.ceed;
  bool is_known = false;

  CeedCheck(f->name, ceed, CEED_ERROR_INCOMPATIBLE, "The field has no name");
  CeedCheck(!Find(op, f->name), ceed, CEED_ERROR_INCOMPATIBLE, "The field \"%s\" is set already",
            f->name);
  CeedCall(CheckHandles(f));
  for (int i = 0; i < NUM_FORMS; i++) {
    CeedQFunctionField qf_field;
    if (!Slot(&op->form[i], f->name, &qf_field)) continue;
    CeedCall(CheckAgainst(ceed, f, qf_field));
    is_known = true;
  }
  CeedCheck(is_known, ceed, CEED_ERROR_INCOMPATIBLE, "The QFunction has no field \"%s\"", f->name);
  return CEED_ERROR_SUCCESS;
}

static void Refer(const Field *f) {
  if (f->rstr != CEED_ELEMRESTRICTION_NONE) CeedObjectRefer(f->rstr);
  if (f->basis != CEED_BASIS_NONE) CeedObjectRefer(f->basis);
  if (f->vec != CEED_VECTOR_ACTIVE && f->vec != CEED_VECTOR_NONE) CeedObjectRefer(f->vec);
}

int CeedOperatorSetField(CeedOperator op, const char *field_name, CeedElemRestriction rstr,
                         CeedBasis basis, CeedVector vec) {
  Field f = {field_name, rstr, basis, vec};
  CeedInt num_elem, num_qpts;
  CeedOperatorField field;
  size_t name_size;

  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "SetField"));
  CeedCall(CheckField(op, &f));
  CeedCall(CheckCounts(op, &f, &num_elem, &num_qpts));
  CeedCall(CheckLengths(op, &f));
  name_size = strlen(field_name) + 1;
  field = calloc(1, sizeof *field + name_size);
  CeedCheck(field, op->base.ceed, CEED_ERROR_MAJOR, "Out of memory: a field");
  Refer(&f);
  field->base.magic = CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_OPERATOR_FIELD);
  field->rstr = rstr;
  field->basis = basis;
  field->vec = vec;
  memcpy(field->name, field_name, name_size);
  field->next = op->fields;
  op->fields = field;
  op->num_elem = num_elem;
  op->num_qpts = num_qpts;
  for (int i = 0; i < NUM_FORMS; i++) {
    CeedQFunctionField qf_field;
    CeedOperatorField *slot = Slot(&op->form[i], field_name, &qf_field);
    if (slot) *slot = field;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetFields(CeedOperator op, CeedInt *num_input_fields,
                          CeedOperatorField **input_fields, CeedInt *num_output_fields,
                          CeedOperatorField **output_fields) {
  CeedOperatorForm *form;

  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "GetFields"));
  CeedCall(CeedOperatorCheckReady(op));
  form = &op->form[FORM_APPLY];
  if (num_input_fields) *num_input_fields = form->qf->in.count;
  if (input_fields) *input_fields = form->in;
  if (num_output_fields) *num_output_fields = form->qf->out.count;
  if (output_fields) *output_fields = form->out;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetFieldByName(CeedOperator op, const char *field_name,
                               CeedOperatorField *op_field) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "GetFieldByName"));
  CeedCheck(field_name, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The field name is NULL");
  CeedCheckOutput(op_field, op->base.ceed);
  *op_field = Find(op, field_name);
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFieldGetName(CeedOperatorField op_field, const char **field_name) {
  CeedCall(CeedObjectCheck(op_field, CEED_KIND_OPERATOR_FIELD));
  CeedCheckOutput(field_name, NULL);
  *field_name = op_field->name;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFieldGetData(CeedOperatorField op_field, const char **field_name,
                             CeedElemRestriction *rstr, CeedBasis *basis, CeedVector *vec) {
  Field shared = {NULL, CEED_ELEMRESTRICTION_NONE, CEED_BASIS_NONE, CEED_VECTOR_NONE};

  CeedCall(CeedObjectCheck(op_field, CEED_KIND_OPERATOR_FIELD));
  if (field_name) *field_name = op_field->name;
  if (rstr) *rstr = shared.rstr = op_field->rstr;
  if (basis) *basis = shared.basis = op_field->basis;
  if (vec) *vec = shared.vec = op_field->vec;
  Refer(&shared);
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFieldGetElemRestriction(CeedOperatorField op_field, CeedElemRestriction *rstr) {
  CeedCheckOutput(rstr, NULL);
  return CeedOperatorFieldGetData(op_field, NULL, rstr, NULL, NULL);
}

int CeedOperatorFieldGetBasis(CeedOperatorField op_field, CeedBasis *basis) {
  CeedCheckOutput(basis, NULL);
  return CeedOperatorFieldGetData(op_field, NULL, NULL, basis, NULL);
}

int CeedOperatorFieldGetVector(CeedOperatorField op_field, CeedVector *vec) {
  CeedCheckOutput(vec, NULL);
  return CeedOperatorFieldGetData(op_field, NULL, NULL, NULL, vec);
}

// ------------------------------------------------------------------------------------------------
// Whether it is ready, and for which vectors
// ------------------------------------------------------------------------------------------------

void CeedOperatorFormLengths(const CeedOperatorForm *form, CeedSize *input_size,
                             CeedSize *output_size) {
  *input_size = SideLength(&form->qf->in, form->in);
  *output_size = SideLength(&form->qf->out, form->out);
}

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

// ------------------------------------------------------------------------------------------------
// What it tells
// ------------------------------------------------------------------------------------------------

int CeedOperatorSetName(CeedOperator op, const char *name) {
  size_t size;
  char *copy;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheck(name, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The name is NULL");
  size = strlen(name) + 1;
  copy = malloc(size);
  CeedCheck(copy, op->base.ceed, CEED_ERROR_MAJOR, "Out of memory: a name");
  memcpy(copy, name, size);
  free(op->name);
  op->name = copy;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetName(CeedOperator op, const char **name) {
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(name, op->base.ceed);
  *name = op->name ? op->name : "";
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetNumElements(CeedOperator op, CeedInt *num_elem) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "GetNumElements"));
  CeedCheckOutput(num_elem, op->base.ceed);
  CeedCheck(op->num_elem >= 0, op->base.ceed, CEED_ERROR_INCOMPLETE,
            "No field has a restriction yet");
  *num_elem = op->num_elem;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetNumQuadraturePoints(CeedOperator op, CeedInt *num_qpts) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "GetNumQuadraturePoints"));
  CeedCheckOutput(num_qpts, op->base.ceed);
  CeedCheck(op->num_qpts >= 0, op->base.ceed, CEED_ERROR_INCOMPLETE, "No field is set yet");
  *num_qpts = op->num_qpts;
  return CEED_ERROR_SUCCESS;
}

static int Add(Ceed ceed, CeedSize flops, CeedSize *sum) {
  CeedCheck(!__builtin_add_overflow(*sum, flops, sum), ceed, CEED_ERROR_DIMENSION,
            "The number of operations is too large");
  return CEED_ERROR_SUCCESS;
}

/* Evaluations, and for outputs the sum over elements. */
static int AddFieldFlops(CeedOperatorField field, CeedEvalMode eval_mode, bool is_output,
                         CeedSize *sum) {
  CeedElemRestriction rstr = field->rstr;
  Ceed ceed = rstr->base.ceed;

  if (eval_mode == CEED_EVAL_WEIGHT) return CEED_ERROR_SUCCESS;
  if (field->basis != CEED_BASIS_NONE) {
    CeedSize flops;
    CeedCall(CeedSizeOf(ceed, "The number of operations", &flops,
                        CeedBasisFlops(field->basis, eval_mode), rstr->num_comp, rstr->num_elem));
    CeedCall(Add(ceed, flops, sum));
  }
  return is_output ? Add(ceed, rstr->e_size, sum) : CEED_ERROR_SUCCESS;
}

static int AddFlops(CeedOperator op, CeedSize *sum) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  CeedQFunction qf = form->qf;
  CeedSize flops;

  CeedCheck(qf->flops >= 0, op->base.ceed, CEED_ERROR_INCOMPLETE,
            "The QFunction has no estimate: CeedQFunctionSetUserFlopsEstimate");
  CeedCall(CeedSizeOf(op->base.ceed, "The number of operations", &flops, qf->flops,
                      CeedOperatorNumPoints(op)));
  CeedCall(Add(op->base.ceed, flops, sum));
  for (CeedInt i = 0; i < qf->in.count; i++) {
    CeedCall(AddFieldFlops(form->in[i], qf->in.field[i]->eval_mode, false, sum));
  }
  for (CeedInt i = 0; i < qf->out.count; i++) {
    CeedCall(AddFieldFlops(form->out[i], qf->out.field[i]->eval_mode, true, sum));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetFlopsEstimate(CeedOperator op, CeedSize *flops) {
  CeedSize sum = 0;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheckOutput(flops, op->base.ceed);
  CeedCall(CeedOperatorCheckReady(op));
  for (CeedInt i = 0; i < CeedOperatorNumParts(op); i++) {
    CeedOperator part = CeedOperatorPart(op, i);
    CeedCheck(part->kind != OPERATOR_SHELL, op->base.ceed, CEED_ERROR_INCOMPLETE,
              "A shell operator has no estimate of its operations");
    CeedCall(AddFlops(part, &sum));
  }
  *flops = sum;
  return CEED_ERROR_SUCCESS;
}

static void ViewFields(const CeedQFunctionFields *qf_fields, const CeedOperatorField *fields,
                       const char *what, FILE *stream) {
  for (CeedInt i = 0; i < qf_fields->count; i++) {
    CeedQFunctionField f = qf_fields->field[i];
    const char *vec = "not set";
    if (fields[i]) vec = fields[i]->vec == CEED_VECTOR_ACTIVE ? "active" : "data";
    if (fields[i] && fields[i]->vec == CEED_VECTOR_NONE) vec = "no vector";
    fprintf(stream, "  %s \"%s\": %d, %s, %s\n", what, f->name, f->size,
            CeedEvalModes[f->eval_mode], vec);
  }
}

static void View(CeedOperator op, bool is_terse, FILE *stream) {
  CeedOperatorForm *form = &op->form[FORM_APPLY];
  const char *name = op->name ? op->name : "";

  if (op->kind == OPERATOR_SHELL) {
    fprintf(stream, "CeedOperator %s: shell, %td to %td entries\n", name, op->shell_size[0],
            op->shell_size[1]);
  } else if (op->kind == OPERATOR_COMPOSITE) {
    fprintf(stream, "CeedOperator %s: sum of %d\n", name, op->num_sub);
    for (CeedInt i = 0; i < op->num_sub; i++) View(op->sub[i], is_terse, stream);
  } else {
    fprintf(stream, "CeedOperator %s: %d elements of %d points\n", name,
            CeedIntMax(op->num_elem, 0), CeedIntMax(op->num_qpts, 0));
    if (is_terse) return;
    ViewFields(&form->qf->in, form->in, "Input", stream);
    ViewFields(&form->qf->out, form->out, "Output", stream);
  }
}

int CeedOperatorView(CeedOperator op, FILE *stream) {
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedStreamCheck(op->base.ceed, stream));
  View(op, false, stream);
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorViewTerse(CeedOperator op, FILE *stream) {
  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedStreamCheck(op->base.ceed, stream));
  View(op, true, stream);
  return CEED_ERROR_SUCCESS;
}
