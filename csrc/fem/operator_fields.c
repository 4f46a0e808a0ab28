// The fields of operators: what they are set to, and asked for.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fem.h"

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
            "The field \"%s\" has values at the points: give CEED_BASIS_NONE, and what holds them",
            f->name);
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

/* Append the names of fields that no form before this one has. */
static void AppendNames(CeedOperator op, int form, const CeedQFunctionFields *fields, char *list,
                        size_t size) {
  for (CeedInt i = 0; i < fields->count; i++) {
    const char *name = fields->field[i]->name;
    size_t used = strlen(list);
    CeedQFunctionField other;
    int first = 0;

    while (first < form && !Slot(&op->form[first], name, &other)) first++;
    if (first == form) snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
  }
}

static int FailField(CeedOperator op, const char *name) {
  char list[512] = "";

  for (int i = 0; i < NUM_FORMS; i++) {
    if (!op->form[i].qf) continue;
    AppendNames(op, i, &op->form[i].qf->in, list, sizeof list);
    AppendNames(op, i, &op->form[i].qf->out, list, sizeof list);
  }
  return CeedError(op->base.ceed, CEED_ERROR_INCOMPATIBLE,
                   "The QFunction has no field \"%s\": its fields are %s", name,
                   *list ? list : "none");
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
  return is_known ? CEED_ERROR_SUCCESS : FailField(op, f->name);
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

void CeedOperatorFormLengths(const CeedOperatorForm *form, CeedSize *input_size,
                             CeedSize *output_size) {
  *input_size = SideLength(&form->qf->in, form->in);
  *output_size = SideLength(&form->qf->out, form->out);
}
