// What operators tell: their name, how much there is of them, and how much they compute.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

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
