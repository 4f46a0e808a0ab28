// QFunctions: fields, context, and calls.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

static struct CeedQFunction_private none = {
    .base = {CEED_MAGIC_OF(8 * sizeof(CeedScalar), CEED_KIND_SENTINEL), 1, NULL}};
const CeedQFunction CEED_QFUNCTION_NONE = &none;

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

const char *CeedQFunctionOut(void *object) {
  CeedQFunction qf = object;

  return qf->ctx ? CeedOutOfLast(qf->ctx, CeedQFunctionContextOut) : NULL;
}

static void FreeFields(CeedQFunctionFields *fields) {
  for (CeedInt i = 0; i < fields->count; i++) {
    CeedObjectEnd(fields->field[i]);
    free(fields->field[i]);
  }
}

static void Free(void *object) {
  CeedQFunction qf = object;

  FreeFields(&qf->in);
  FreeFields(&qf->out);
  (void)CeedQFunctionContextDestroy(&qf->ctx);
  free(qf->source);
  free(qf);
}

static const CeedClass class = {CEED_KIND_QFUNCTION, CeedQFunctionOut, Free};
CEED_OBJECT(CeedQFunction, class)
CEED_OBJECT_CEED(CeedQFunction, CEED_KIND_QFUNCTION)

static int New(Ceed ceed, const char *source, CeedQFunction *qf) {
  size_t size = source ? strlen(source) + 1 : 0;
  CeedQFunction new_qf = CeedObjectNew(ceed, CEED_KIND_QFUNCTION, sizeof *new_qf);

  if (new_qf && source) new_qf->source = malloc(size);
  if (!new_qf || (source && !new_qf->source)) {
    (void)CeedQFunctionDestroy(&new_qf);
    return CeedError(ceed, CEED_ERROR_MAJOR, "Out of memory: a QFunction");
  }
  if (source) memcpy(new_qf->source, source, size);
  new_qf->vec_length = 1;
  new_qf->ctx_is_writable = true;
  new_qf->flops = -1;
  *qf = new_qf;
  return CEED_ERROR_SUCCESS;
}

static int NewOfUser(Ceed ceed, bool has_function, const char *source, CeedQFunction *qf) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(qf, ceed);
  CeedCheck(has_function, ceed, CEED_ERROR_INCOMPATIBLE, "The function is NULL");
  return New(ceed, source, qf);
}

int CeedQFunctionCreateInterior(Ceed ceed, CeedInt vec_length, CeedQFunctionUser f,
                                const char *source, CeedQFunction *qf) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheck(vec_length >= 1, ceed, CEED_ERROR_DIMENSION, "%d is no vector length", vec_length);
  CeedCall(NewOfUser(ceed, f != NULL, source, qf));
  (*qf)->f = f;
  (*qf)->vec_length = vec_length;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionCreateShell(Ceed ceed, CeedQFunctionShellUser f, const char *source,
                             CeedQFunction *qf) {
  CeedCall(NewOfUser(ceed, f != NULL, source, qf));
  (*qf)->shell = f;
  (*qf)->points_per_call = CEED_POINTS_ALL;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// The gallery
// ------------------------------------------------------------------------------------------------

static int FillFromGallery(CeedQFunction qf, const CeedGalleryRow *row) {
  for (int i = 0; i < 2 && row->in[i].name; i++) {
    CeedCall(CeedQFunctionAddInput(qf, row->in[i].name, row->in[i].size, row->in[i].eval_mode));
  }
  CeedCall(CeedQFunctionAddOutput(qf, row->out.name, row->out.size, row->out.eval_mode));
  qf->f = row->f;
  qf->flops = row->flops;
  qf->is_copy = qf->is_open = !row->f;
  qf->is_scaled = !strcmp(row->name, "Scale");
  return CEED_ERROR_SUCCESS;
}

static int FailGallery(Ceed ceed, const char *name) {
  char list[512] = "";

  for (const CeedGalleryRow *row = CeedGallery; row->name; row++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", row->name);
  }
  return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "No QFunction \"%s\"; there are %s", name, list);
}

int CeedQFunctionCreateInteriorByName(Ceed ceed, const char *name, CeedQFunction *qf) {
  const CeedGalleryRow *row = CeedGallery;
  CeedQFunction new_qf;
  int code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(qf, ceed);
  CeedCheck(name, ceed, CEED_ERROR_INCOMPATIBLE, "The name is NULL");
  while (row->name && strcmp(row->name, name)) row++;
  if (!row->name) return FailGallery(ceed, name);
  CeedCall(New(ceed, name, &new_qf));
  code = FillFromGallery(new_qf, row);
  if (code) {
    (void)CeedQFunctionDestroy(&new_qf);
    return code;
  }
  *qf = new_qf;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionCreateIdentity(Ceed ceed, CeedInt size, CeedEvalMode in_mode,
                                CeedEvalMode out_mode, CeedQFunction *qf) {
  CeedQFunction new_qf = NULL;
  int code;

  CeedCall(CeedQFunctionCreateInteriorByName(ceed, "Identity", qf ? &new_qf : NULL));
  code = CeedQFunctionAddInput(new_qf, "input", size, in_mode);
  if (!code) code = CeedQFunctionAddOutput(new_qf, "output", size, out_mode);
  if (code) {
    (void)CeedQFunctionDestroy(&new_qf);
    return code;
  }
  new_qf->is_open = false;
  *qf = new_qf;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Fields
// ------------------------------------------------------------------------------------------------

static CeedQFunctionField Find(const CeedQFunctionFields *fields, const char *name) {
  for (CeedInt i = 0; i < fields->count; i++) {
    if (!strcmp(fields->field[i]->name, name)) return fields->field[i];
  }
  return NULL;
}

static int CheckField(CeedQFunction qf, const char *name, CeedInt size, CeedEvalMode eval_mode,
                      bool is_input) {
  Ceed ceed;
  bool is_weight = eval_mode == CEED_EVAL_WEIGHT;

  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  ceed = qf->base.ceed;
  CeedCheck(name && name[0], ceed, CEED_ERROR_INCOMPATIBLE, "The field has no name");
  CeedCheck(!__atomic_load_n(&qf->is_used, __ATOMIC_RELAXED), ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" can't be added: an operator has the QFunction", name);
  CeedCall(CeedEvalModeCheck(ceed, eval_mode));
  CeedCheck(size >= 1, ceed, CEED_ERROR_DIMENSION, "The field \"%s\" has %d components", name,
            size);
  CeedCheck(!is_weight || (is_input && size == 1), ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" of quadrature weights must be an input of one component", name);
  return CEED_ERROR_SUCCESS;
}

static int AddField(CeedQFunction qf, CeedQFunctionFields *fields, const char *name, CeedInt size,
                    CeedEvalMode eval_mode) {
  Ceed ceed = qf->base.ceed;
  size_t name_size = strlen(name) + 1;
  CeedQFunctionField field = Find(fields, name);

  if (!field || !qf->is_open) {
    CeedCheck(!Find(&qf->in, name) && !Find(&qf->out, name), ceed, CEED_ERROR_INCOMPATIBLE,
              "The QFunction has a field \"%s\" already", name);
    CeedCheck(!qf->is_copy, ceed, CEED_ERROR_INCOMPATIBLE, "%s has no field \"%s\"", qf->source,
              name);
    CeedCheck(fields->count < CEED_MAX_FIELDS, ceed, CEED_ERROR_DIMENSION,
              "The QFunction has no room for a field \"%s\" more than %d", name, CEED_MAX_FIELDS);
    field = calloc(1, sizeof *field + name_size);
    CeedCheck(field, ceed, CEED_ERROR_MAJOR, "Out of memory: a field");
    field->base.magic = CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_QFUNCTION_FIELD);
    memcpy(field->name, name, name_size);
    fields->field[fields->count++] = field;
  }
  field->size = size;
  field->eval_mode = eval_mode;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionAddInput(CeedQFunction qf, const char *field_name, CeedInt size,
                          CeedEvalMode eval_mode) {
  CeedCall(CheckField(qf, field_name, size, eval_mode, true));
  return AddField(qf, &qf->in, field_name, size, eval_mode);
}

int CeedQFunctionAddOutput(CeedQFunction qf, const char *field_name, CeedInt size,
                           CeedEvalMode eval_mode) {
  CeedCall(CheckField(qf, field_name, size, eval_mode, false));
  return AddField(qf, &qf->out, field_name, size, eval_mode);
}

int CeedQFunctionGetFields(CeedQFunction qf, CeedInt *num_input_fields,
                           CeedQFunctionField **input_fields, CeedInt *num_output_fields,
                           CeedQFunctionField **output_fields) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  if (num_input_fields) *num_input_fields = qf->in.count;
  if (input_fields) *input_fields = qf->in.field;
  if (num_output_fields) *num_output_fields = qf->out.count;
  if (output_fields) *output_fields = qf->out.field;
  return CEED_ERROR_SUCCESS;
}

#define GET(Name, type, value) \
  CEED_GET(CeedQFunctionFieldGet##Name, CeedQFunctionField, CEED_KIND_QFUNCTION_FIELD, type, value)
GET(Name, const char *, name)
GET(Size, CeedInt, size)
GET(EvalMode, CeedEvalMode, eval_mode)

int CeedQFunctionFieldGetData(CeedQFunctionField qf_field, const char **field_name, CeedInt *size,
                              CeedEvalMode *eval_mode) {
  CeedCall(CeedObjectCheck(qf_field, CEED_KIND_QFUNCTION_FIELD));
  if (field_name) *field_name = qf_field->name;
  if (size) *size = qf_field->size;
  if (eval_mode) *eval_mode = qf_field->eval_mode;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// What else it is told
// ------------------------------------------------------------------------------------------------

int CeedQFunctionSetContext(CeedQFunction qf, CeedQFunctionContext ctx) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  if (!ctx) return CeedQFunctionContextDestroy(&qf->ctx);
  return CeedQFunctionContextReferenceCopy(ctx, &qf->ctx);
}

int CeedQFunctionSetContextWritable(CeedQFunction qf, bool is_writable) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  qf->ctx_is_writable = is_writable;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionSetPointsPerCall(CeedQFunction qf, CeedInt n) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  CeedCheck(n == 0 || n == CEED_POINTS_ALL, qf->base.ceed, CEED_ERROR_UNSUPPORTED,
            "%d points a call are not supported: 0 leaves it to the backend, CEED_POINTS_ALL asks "
            "for all",
            n);
  CeedCheck(!qf->shell || n == CEED_POINTS_ALL, qf->base.ceed, CEED_ERROR_UNSUPPORTED,
            "A routine on vectors has all points in one call");
  qf->points_per_call = n;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionSetUserFlopsEstimate(CeedQFunction qf, CeedSize flops) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  CeedCheck(flops >= 0, qf->base.ceed, CEED_ERROR_INCOMPATIBLE, "%td is no number of operations",
            flops);
  qf->flops = flops;
  return CEED_ERROR_SUCCESS;
}

static void ViewFields(const char *what, const CeedQFunctionFields *fields, FILE *stream) {
  for (CeedInt i = 0; i < fields->count; i++) {
    CeedQFunctionField field = fields->field[i];
    fprintf(stream, "  %s \"%s\": %d, %s\n", what, field->name, field->size,
            CeedEvalModes[field->eval_mode]);
  }
}

int CeedQFunctionView(CeedQFunction qf, FILE *stream) {
  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  CeedCall(CeedStreamCheck(qf->base.ceed, stream));
  fprintf(stream, "CeedQFunction %s\n", qf->source ? qf->source : "");
  ViewFields("Input", &qf->in, stream);
  ViewFields("Output", &qf->out, stream);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Calls
// ------------------------------------------------------------------------------------------------

static int CheckCopy(CeedQFunction qf) {
  Ceed ceed = qf->base.ceed;

  CeedCheck(qf->in.field[0]->size == qf->out.field[0]->size, ceed, CEED_ERROR_DIMENSION,
            "%s has %d components in and %d out", qf->source, qf->in.field[0]->size,
            qf->out.field[0]->size);
  if (!qf->is_scaled) return CEED_ERROR_SUCCESS;
  CeedCheck(qf->ctx, ceed, CEED_ERROR_INCOMPLETE, "%s has no context with the number to scale by",
            qf->source);
  CeedCheck(qf->ctx->data.size >= sizeof(CeedScalar), ceed, CEED_ERROR_DIMENSION,
            "The context of %s is smaller than a CeedScalar", qf->source);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionBegin(CeedQFunction qf, CeedSize num_points, CeedQFunctionCalls *calls) {
  *calls = (CeedQFunctionCalls){qf, qf->ctx, NULL};
  CeedCheck(num_points % qf->vec_length == 0, qf->base.ceed, CEED_ERROR_DIMENSION,
            "%td points are no multiple of the vector length %d", num_points, qf->vec_length);
  if (qf->is_copy) CeedCall(CheckCopy(qf));
  if (qf->ctx) {
    CeedCall(CeedQFunctionContextAcquire(qf->ctx, qf->ctx_is_writable, "A call of a QFunction",
                                         &calls->ctx_data));
    CeedObjectRefer(qf->ctx);
  }
  CeedObjectRefer(qf);
  return CEED_ERROR_SUCCESS;
}

void CeedQFunctionEnd(CeedQFunctionCalls *calls) {
  if (calls->ctx) CeedQFunctionContextRelease(calls->ctx);
  (void)CeedQFunctionContextDestroy(&calls->ctx);
  (void)CeedQFunctionDestroy(&calls->qf);
}

static void Copy(const CeedQFunctionCalls *calls, CeedInt Q, const CeedScalar *in,
                 CeedScalar *out) {
  CeedSize count = (CeedSize)calls->qf->in.field[0]->size * Q;
  CeedScalar factor = 1;

  if (calls->qf->is_scaled) memcpy(&factor, calls->ctx_data, sizeof factor);
  for (CeedSize i = 0; i < count; i++) out[i] = factor * in[i];
}

/* The code of a function that has failed, with a text unless it gave one itself. */
static int Failed(CeedQFunction qf, int code, uint64_t errors) {
  if (CeedErrorCount() != errors) return code;
  return CeedError(qf->base.ceed, code, "The QFunction %s returned %d",
                   qf->source ? qf->source : "", code);
}

int CeedQFunctionCall(const CeedQFunctionCalls *calls, CeedInt Q, const CeedScalar *const *in,
                      CeedScalar *const *out) {
  CeedQFunction qf = calls->qf;
  uint64_t errors = CeedErrorCount();
  int code;

  if (!Q) return CEED_ERROR_SUCCESS;
  if (qf->is_copy) {
    Copy(calls, Q, in[0], out[0]);
    return CEED_ERROR_SUCCESS;
  }
  code = qf->f(calls->ctx_data, Q, in, out);
  return code ? Failed(qf, code, errors) : CEED_ERROR_SUCCESS;
}

static int CallShell(const CeedQFunctionCalls *calls, CeedInt Q, const CeedVector *u,
                     const CeedVector *v) {
  CeedQFunction qf = calls->qf;
  uint64_t errors = CeedErrorCount();
  int code = Q ? qf->shell(calls->ctx_data, Q, u, v) : CEED_ERROR_SUCCESS;

  if (code) return Failed(qf, code, errors);
  for (CeedInt i = 0; Q && i < qf->out.count; i++) {
    CeedCheck(CeedBufferWord(v[i]->buffer) & VALID, qf->base.ceed, CEED_ERROR_INCOMPLETE,
              "The QFunction %s gave no values for the output \"%s\"", qf->source ? qf->source : "",
              qf->out.field[i]->name);
  }
  return CEED_ERROR_SUCCESS;
}

static int CallOnVectors(const CeedQFunctionCalls *calls, CeedInt Q, const CeedArguments *a,
                         const CeedVector *u, const CeedVector *v) {
  CeedInt num_in = calls->qf->in.count;
  const CeedScalar *in[CEED_MAX_FIELDS];
  CeedScalar *out[CEED_MAX_FIELDS];

  if (calls->qf->shell) return CallShell(calls, Q, u, v);
  for (CeedInt i = 0; i < num_in; i++) in[i] = a->list[i].from;
  for (CeedInt i = 0; i < calls->qf->out.count; i++) out[i] = a->list[num_in + i].to;
  return CeedQFunctionCall(calls, Q, in, out);
}

/* Inputs, then outputs where `v` is not NULL. */
static void SetArguments(CeedQFunction qf, const CeedVector *u, const CeedVector *v,
                         CeedArguments *a) {
  a->what = "QFunctionApply";
  a->count = 0;
  for (CeedInt i = 0; i < qf->in.count; i++) CeedArgumentsAddRead(a, u[i], qf->in.field[i]->name);
  for (CeedInt i = 0; v && i < qf->out.count; i++) {
    CeedArgumentsAddWrite(a, v[i], qf->out.field[i]->name, false);
  }
}

static int Finish(CeedArguments *a, int code) {
  if (!code) return CeedArgumentsRelease(a);
  CeedArgumentsCancel(a);
  return code;
}

int CeedQFunctionRun(const CeedQFunctionCalls *calls, CeedInt Q, CeedVector *u, CeedVector *v) {
  CeedArguments a;

  SetArguments(calls->qf, u, calls->qf->shell ? NULL : v, &a);
  CeedCall(CeedArgumentsAcquire(calls->qf->base.ceed, &a));
  return Finish(&a, CallOnVectors(calls, Q, &a, u, v));
}

/* A shell may replace the memory of its outputs, but not that of the caller's vectors. */
static int RunAndCopy(const CeedQFunctionCalls *calls, CeedInt Q, CeedVector *u, CeedVector *v) {
  CeedInt num_in = calls->qf->in.count, count = calls->qf->out.count;
  CeedVector own[CEED_MAX_FIELDS] = {NULL};
  CeedArguments a;
  int code = CEED_ERROR_SUCCESS;

  SetArguments(calls->qf, u, v, &a);
  CeedCall(CeedArgumentsAcquire(calls->qf->base.ceed, &a));
  for (CeedInt i = 0; !code && i < count; i++) {
    code = CeedVectorCreate(calls->qf->base.ceed, v[i]->length, &own[i]);
  }
  if (!code) code = CeedQFunctionRun(calls, Q, u, own);
  for (CeedInt i = 0; !code && i < count; i++) {
    code = CeedVectorCopyTo(own[i], a.list[num_in + i].to, a.what);
  }
  for (CeedInt i = 0; i < count; i++) (void)CeedVectorDestroy(&own[i]);
  return Finish(&a, code);
}

static int CheckVectors(const CeedQFunctionFields *fields, CeedInt Q, CeedVector *vectors,
                        Ceed ceed) {
  CeedCheck(vectors || !fields->count, ceed, CEED_ERROR_INCOMPATIBLE,
            "QFunctionApply: the vectors are NULL");
  for (CeedInt i = 0; i < fields->count; i++) {
    CeedCall(CeedObjectCheck(vectors[i], CEED_KIND_VECTOR));
    CeedCall(CeedVectorLengthCheck(vectors[i], (CeedSize)fields->field[i]->size * Q,
                                   fields->field[i]->name));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionApply(CeedQFunction qf, CeedInt Q, CeedVector *u, CeedVector *v) {
  CeedQFunctionCalls calls;
  int code;

  CeedCall(CeedObjectCheck(qf, CEED_KIND_QFUNCTION));
  CeedCheck(Q >= 0, qf->base.ceed, CEED_ERROR_DIMENSION, "%d is no number of points", Q);
  CeedCall(CheckVectors(&qf->in, Q, u, qf->base.ceed));
  CeedCall(CheckVectors(&qf->out, Q, v, qf->base.ceed));
  CeedCall(CeedQFunctionBegin(qf, Q, &calls));
  code = (qf->shell ? RunAndCopy : CeedQFunctionRun)(&calls, Q, u, v);
  CeedQFunctionEnd(&calls);
  return code;
}
