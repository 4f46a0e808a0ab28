// Context fields of operators: their labels, and access to their values.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// Which contexts
// ------------------------------------------------------------------------------------------------

static CeedQFunctionContext ContextOf(CeedOperator op, CeedFormKind form) {
  CeedQFunction qf = op->form[form].qf;

  return qf ? qf->ctx : NULL;
}

int CeedOperatorGetContext(CeedOperator op, CeedQFunctionContext *ctx) {
  CeedCall(CeedOperatorCheckKind(op, OPERATOR_OF_QFUNCTION, "GetContext"));
  CeedCheckOutput(ctx, op->base.ceed);
  *ctx = ContextOf(op, FORM_APPLY);
  if (*ctx) CeedObjectRefer(*ctx);
  return CEED_ERROR_SUCCESS;
}

/* Context number i: the parts have one for each form, so that a derivative is that of the rest. */
static CeedQFunctionContext NumberedContext(CeedOperator op, CeedInt i) {
  return ContextOf(CeedOperatorPart(op, i / NUM_FORMS), (CeedFormKind)(i % NUM_FORMS));
}

static bool IsEarlier(CeedOperator op, CeedInt i, CeedQFunctionContext ctx) {
  for (CeedInt j = 0; j < i; j++) {
    if (NumberedContext(op, j) == ctx) return true;
  }
  return false;
}

/* The contexts that have the field, each once, from number *i on; NULL at the end. */
static CeedQFunctionContext NextContext(CeedOperator op, const char *name, CeedInt *i) {
  for (; *i < NUM_FORMS * CeedOperatorNumParts(op); ++*i) {
    CeedQFunctionContext ctx = NumberedContext(op, *i);
    if (ctx && CeedQFunctionContextFind(ctx, name) && !IsEarlier(op, *i, ctx)) return ctx;
  }
  return NULL;
}

// ------------------------------------------------------------------------------------------------
// Labels
// ------------------------------------------------------------------------------------------------

static bool IsLike(CeedContextFieldLabel a, CeedContextFieldLabel b) {
  return a->type == b->type && a->num_values == b->num_values;
}

/* The operator's own label, which outlives the contexts that its QFunctions have just now. */
static int OwnLabel(CeedOperator op, CeedContextFieldLabel like, CeedContextFieldLabel *label) {
  for (CeedInt i = 0; i < op->labels.count; i++) {
    *label = op->labels.label[i];
    if (!strcmp((*label)->name, like->name) && IsLike(*label, like)) return CEED_ERROR_SUCCESS;
  }
  return CeedLabelsAdd(op->base.ceed, &op->labels, like, label);
}

int CeedOperatorGetContextFieldLabel(CeedOperator op, const char *field_name,
                                     CeedContextFieldLabel *field_label) {
  CeedContextFieldLabel found = NULL;
  CeedQFunctionContext ctx;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCheck(field_name, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The field name is NULL");
  CeedCheckOutput(field_label, op->base.ceed);
  for (CeedInt i = 0; (ctx = NextContext(op, field_name, &i)); i++) {
    CeedContextFieldLabel label = CeedQFunctionContextFind(ctx, field_name);
    CeedCheck(!found || IsLike(found, label), op->base.ceed, CEED_ERROR_INCOMPATIBLE,
              "The parts of the operator have different fields \"%s\"", field_name);
    if (!found) found = label;
  }
  if (found) return OwnLabel(op, found, field_label);
  *field_label = NULL;
  return CEED_ERROR_SUCCESS;
}

static int FirstContext(CeedOperator op, CeedContextFieldLabel label, CeedQFunctionContext *ctx) {
  CeedInt i = 0;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedObjectCheck(label, CEED_KIND_LABEL));
  *ctx = NextContext(op, label->name, &i);
  CeedCheck(*ctx, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The operator has no context field \"%s\"", label->name);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Setting
// ------------------------------------------------------------------------------------------------

/* Lock all contexts; those before number *end are locked, on failure as well. */
static int LockAll(CeedOperator op, CeedContextFieldLabel label, CeedContextFieldType type,
                   CeedInt *end) {
  CeedQFunctionContext ctx;

  for (; (ctx = NextContext(op, label->name, end)); ++*end) {
    void *data, *address;
    int code;
    CeedCall(CeedQFunctionContextAcquire(ctx, true, "Setting a field", &data));
    code = CeedQFunctionContextLocate(ctx, label, type, &address);
    if (code) {
      CeedQFunctionContextRelease(ctx);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

/* All contexts are locked before one is set. */
static int SetContext(CeedOperator op, CeedContextFieldLabel label, CeedContextFieldType type,
                      const void *values) {
  CeedQFunctionContext ctx;
  CeedInt end = 0;
  int code;

  CeedCall(FirstContext(op, label, &ctx));
  CeedCheck(values, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The values are NULL");
  code = LockAll(op, label, type, &end);
  for (CeedInt i = 0; (ctx = NextContext(op, label->name, &i)) && i < end; i++) {
    void *address;
    if (!code) code = CeedQFunctionContextLocate(ctx, label, type, &address);
    if (!code) memcpy(address, values, CeedLabelBytes(label));
    CeedQFunctionContextRelease(ctx);
  }
  return code;
}

// ------------------------------------------------------------------------------------------------
// Reading: the values are on loan until they are restored
// ------------------------------------------------------------------------------------------------

/* Room for one more loan. */
static int ReserveLoan(CeedOperator op) {
  size_t bytes = ((size_t)op->num_loans + 1) * sizeof *op->loans;
  CeedContextLoan *loans = realloc(op->loans, bytes);

  CeedCheck(loans, op->base.ceed, CEED_ERROR_MAJOR, "Out of memory: values of a context");
  op->loans = loans;
  return CEED_ERROR_SUCCESS;
}

static int Locate(CeedQFunctionContext ctx, CeedContextFieldLabel label, CeedContextFieldType type,
                  size_t alignment, void **values) {
  CeedCall(CeedQFunctionContextLocate(ctx, label, type, values));
  CeedCheck((uintptr_t)*values % alignment == 0, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" is not aligned", label->name);
  return CEED_ERROR_SUCCESS;
}

static int GetContextRead(CeedOperator op, CeedContextFieldLabel label, CeedContextFieldType type,
                          size_t alignment, size_t *num_values, void **values) {
  CeedQFunctionContext ctx;
  CeedContextFieldLabel own;
  void *data;
  int code;

  CeedCall(FirstContext(op, label, &ctx));
  CeedCall(OwnLabel(op, label, &own));
  CeedCall(ReserveLoan(op));
  CeedCall(CeedQFunctionContextAcquire(ctx, false, "Reading a field", &data));
  code = Locate(ctx, label, type, alignment, values);
  if (code) {
    CeedQFunctionContextRelease(ctx);
    return code;
  }
  CeedObjectRefer(ctx);
  op->loans[op->num_loans++] = (CeedContextLoan){ctx, own, *values};
  if (num_values) *num_values = label->num_values;
  return CEED_ERROR_SUCCESS;
}

static CeedContextLoan *FindLoan(CeedOperator op, CeedContextFieldLabel label,
                                 CeedContextFieldType type, const void *values) {
  for (CeedInt i = 0; i < op->num_loans; i++) {
    CeedContextLoan *loan = &op->loans[i];
    bool is_field = !strcmp(loan->label->name, label->name) && loan->label->type == type;
    if (is_field && loan->values == values) return loan;
  }
  return NULL;
}

static int RestoreContextRead(CeedOperator op, CeedContextFieldLabel label,
                              CeedContextFieldType type, const void *values) {
  CeedContextLoan *loan;
  CeedQFunctionContext ctx;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  CeedCall(CeedObjectCheck(label, CEED_KIND_LABEL));
  loan = FindLoan(op, label, type, values);
  CeedCheck(loan, op->base.ceed, CEED_ERROR_ACCESS,
            "%p are not values of the field \"%s\" that are out", values, label->name);
  ctx = loan->ctx;
  *loan = op->loans[--op->num_loans];
  CeedQFunctionContextRelease(ctx);
  return CeedQFunctionContextDestroy(&ctx);
}

#define CONTEXT_FUNCTIONS(Name, value_type, TYPE)                                                \
  int CeedOperatorSetContext##Name(CeedOperator op, CeedContextFieldLabel field_label,           \
                                   value_type *values) {                                         \
    return SetContext(op, field_label, TYPE, values);                                            \
  }                                                                                              \
                                                                                                 \
  int CeedOperatorGetContext##Name##Read(CeedOperator op, CeedContextFieldLabel field_label,     \
                                         size_t *num_values, const value_type **values) {        \
    void *address;                                                                               \
                                                                                                 \
    CeedCheckOutput(values, NULL);                                                               \
    CeedCall(GetContextRead(op, field_label, TYPE, sizeof **values, num_values, &address));      \
    *values = address;                                                                           \
    return CEED_ERROR_SUCCESS;                                                                   \
  }                                                                                              \
                                                                                                 \
  int CeedOperatorRestoreContext##Name##Read(CeedOperator op, CeedContextFieldLabel field_label, \
                                             const value_type **values) {                        \
    CeedCheckOutput(values, NULL);                                                               \
    CeedCall(RestoreContextRead(op, field_label, TYPE, *values));                                \
    *values = NULL;                                                                              \
    return CEED_ERROR_SUCCESS;                                                                   \
  }
CONTEXT_FUNCTIONS(Double, double, CEED_CONTEXT_FIELD_DOUBLE)
CONTEXT_FUNCTIONS(Int32, int32_t, CEED_CONTEXT_FIELD_INT32)
CONTEXT_FUNCTIONS(Boolean, bool, CEED_CONTEXT_FIELD_BOOL)
