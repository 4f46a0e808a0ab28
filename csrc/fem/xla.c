// Operators that programs compiled by XLA, as those of jax.jit, call by an id. Their arrays become
// the memory of vectors for the time of a call.
// SPDX-License-Identifier: BSD-2-Clause
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../xla_abi.h"
#include "fem.h"

static const char what[] = "XLA's call";

/* An operand behind the active one: the vector of a field, or a field of the context. */
typedef struct {
  const char *name; /* lent by the operator */
  CeedVector vec;   /* counted; or NULL */
  CeedQFunctionContext ctx;
  CeedContextFieldLabel label;
} Operand;

/* What an id stands for. */
typedef struct {
  int64_t id;
  CeedInt references; /* of the table and of calls; changed under the table's lock */
  CeedOperator op;
  CeedXLAForm form;
  CeedVector in, out; /* without memory between calls; `in` may be CEED_VECTOR_NONE */
  CeedInt num_operands;
  Operand operand[];
} Entry;

// ------------------------------------------------------------------------------------------------
// The table
// ------------------------------------------------------------------------------------------------

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static Entry **table; /* ids ascend */
static size_t num_entries, capacity;
static int64_t last_id;

static void FreeEntry(Entry *entry) {
  (void)CeedVectorDestroy(&entry->in);
  (void)CeedVectorDestroy(&entry->out);
  for (CeedInt i = 0; i < entry->num_operands; i++) {
    (void)CeedVectorDestroy(&entry->operand[i].vec);
    (void)CeedQFunctionContextDestroy(&entry->operand[i].ctx);
  }
  (void)CeedOperatorDestroy(&entry->op);
  free(entry);
}

/* Where an id is, or would be. */
static size_t Find(int64_t id) {
  size_t low = 0, high = num_entries;

  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table[middle]->id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static Entry *Refer(int64_t id) {
  Entry *entry = NULL;
  size_t i;

  pthread_mutex_lock(&table_lock);
  i = Find(id);
  if (i < num_entries && table[i]->id == id) entry = table[i];
  if (entry) entry->references++;
  pthread_mutex_unlock(&table_lock);
  return entry;
}

static void Release(Entry *entry) {
  bool is_last;

  pthread_mutex_lock(&table_lock);
  is_last = --entry->references == 0;
  pthread_mutex_unlock(&table_lock);
  if (is_last) FreeEntry(entry);
}

/* Ids begin with the time, so that a program which another process has compiled and kept finds
   none of its ids here. */
static int64_t NextId(void) {
  if (!last_id) last_id = (int64_t)time(NULL) << 24;
  return ++last_id;
}

static void FreeTable(void) {
  free(table);
  table = NULL;
  capacity = 0;
}

static int Add(Entry *entry, int64_t *id) {
  int code = CEED_ERROR_SUCCESS;

  pthread_mutex_lock(&table_lock);
  if (num_entries == capacity) {
    size_t more = 2 * capacity + 16;
    Entry **larger = realloc(table, more * sizeof *table);
    if (larger) {
      table = larger;
      capacity = more;
    } else {
      code = CEED_ERROR_MAJOR;
    }
  }
  if (!code) {
    *id = entry->id = NextId();
    table[num_entries++] = entry;
  }
  pthread_mutex_unlock(&table_lock);
  CeedCheck(!code, entry->op->base.ceed, code, "Out of memory: the table of operators");
  return code;
}

// ------------------------------------------------------------------------------------------------
// Opening
// ------------------------------------------------------------------------------------------------

/* The form whose QFunction is called; the transpose may come by assembly. */
static CeedFormKind KindOf(CeedOperator op, CeedXLAForm form) {
  if (form == CEED_XLA_APPLY) return FORM_APPLY;
  if (form == CEED_XLA_JACOBIAN) return FORM_JACOBIAN;
  return op->form[FORM_TRANSPOSE].qf ? FORM_TRANSPOSE : CeedOperatorLinearKind(op);
}

/* A function of JAX that is called from within a computation of JAX may wait for it for ever. */
static int CheckQFunctions(CeedOperator op, CeedXLAForm form) {
  for (CeedInt i = 0; i < CeedOperatorNumParts(op); i++) {
    CeedOperator part = CeedOperatorPart(op, i);
    CeedQFunction qf = part->form[KindOf(part, form)].qf;
    CeedCheck(!qf || !qf->shell, op->base.ceed, CEED_ERROR_UNSUPPORTED,
              "The QFunction \"%s\" is called back, as Python's are, and must not be from within a "
              "compiled program, where a function of JAX may wait for ever: make it native "
              "(pyceedlike.native.qfunction, with a C compiler), or call it in JAX on values at "
              "the points, between "
              "field.jax(mode) and its transpose",
              qf->source ? qf->source : "");
  }
  return CEED_ERROR_SUCCESS;
}

static int Lengths(CeedOperator op, CeedXLAForm form, CeedSize *in, CeedSize *out) {
  CeedFormKind kind = KindOf(op, form);
  bool has_routine = form == CEED_XLA_APPLY || (form == CEED_XLA_TRANSPOSE && op->apply_transpose);
  bool is_turned = form == CEED_XLA_TRANSPOSE && kind != FORM_TRANSPOSE;
  CeedSize *to = is_turned ? in : out, *from = is_turned ? out : in;

  CeedCheck(op->kind != OPERATOR_SHELL || has_routine, op->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The shell operator was made without a routine for its %s",
            form == CEED_XLA_JACOBIAN ? "Jacobian" : "transpose");
  if (op->kind == OPERATOR_OF_QFUNCTION) {
    CeedCheck(op->form[kind].qf, op->base.ceed, CEED_ERROR_UNSUPPORTED,
              "The operator was made without a QFunction for its Jacobian");
    CeedCall(CeedOperatorFormCheckReady(op, &op->form[kind]));
    CeedOperatorFormLengths(&op->form[kind], from, to);
  } else {
    CeedCall(CeedOperatorCheckReady(op));
    CeedCall(CeedOperatorLengths(op, from, to));
  }
  CeedCheck(*out >= 0, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "The operator has no active output");
  return CEED_ERROR_SUCCESS;
}

/* An operand's memory is lent once. */
static int CheckNew(const Entry *entry, const Operand *operand) {
  const Operand *other = entry->operand;

  while (other != operand && (other->vec != operand->vec || other->label != operand->label))
    other++;
  CeedCheck(other == operand, entry->op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "\"%s\" and \"%s\" are the same vector or value: an operand is named once", other->name,
            operand->name);
  return CEED_ERROR_SUCCESS;
}

static int FindOperand(CeedOperator op, CeedXLAForm form, const char *name, Operand *operand) {
  CeedQFunction qf = op->form[KindOf(op, form)].qf;
  CeedOperatorField field = op->fields;

  CeedCheck(name, op->base.ceed, CEED_ERROR_INCOMPATIBLE, "A name is NULL");
  operand->name = name;
  while (field && strcmp(field->name, name)) field = field->next;
  if (field) {
    operand->name = field->name;
    CeedCheck(CeedObjectIs(field->vec, CEED_KIND_VECTOR), op->base.ceed, CEED_ERROR_INCOMPATIBLE,
              "The field \"%s\" has no vector of its own", name);
    return CeedVectorReferenceCopy(field->vec, &operand->vec);
  }
  if (qf && qf->ctx) operand->label = CeedQFunctionContextFind(qf->ctx, name);
  CeedCheck(operand->label, op->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "The operator has no field and no context field \"%s\"", name);
  operand->name = operand->label->name;
  return CeedQFunctionContextReferenceCopy(qf->ctx, &operand->ctx);
}

static int Fill(Entry *entry, const char *const *names) {
  Ceed ceed = entry->op->base.ceed;
  CeedSize in, out;

  CeedCall(Lengths(entry->op, entry->form, &in, &out));
  CeedCall(CheckQFunctions(entry->op, entry->form));
  if (in >= 0) CeedCall(CeedVectorCreate(ceed, in, &entry->in));
  CeedCall(CeedVectorCreate(ceed, out, &entry->out));
  for (CeedInt i = 0; i < entry->num_operands; i++) {
    CeedCall(FindOperand(entry->op, entry->form, names[i], &entry->operand[i]));
    CeedCall(CheckNew(entry, &entry->operand[i]));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorXLAOpen(CeedOperator op, CeedXLAForm form, CeedInt num_names,
                        const char *const *names, int64_t *id) {
  Ceed ceed;
  Entry *entry;
  int code;

  CeedCall(CeedObjectCheck(op, CEED_KIND_OPERATOR));
  ceed = op->base.ceed;
  CeedCheckOutput(id, ceed);
  CeedCheck(form == CEED_XLA_APPLY || form == CEED_XLA_JACOBIAN || form == CEED_XLA_TRANSPOSE, ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no form of an operator", (int)form);
  CeedCheck(num_names >= 0 && (names || !num_names), ceed, CEED_ERROR_INCOMPATIBLE,
            "The names are NULL, or fewer than none");
  entry = calloc(1, sizeof *entry + (size_t)num_names * sizeof *entry->operand);
  CeedCheck(entry, ceed, CEED_ERROR_MAJOR, "Out of memory: an operator for XLA");
  CeedObjectRefer(op);
  *entry = (Entry){.references = 1, .op = op, .form = form, .in = CEED_VECTOR_NONE};
  entry->num_operands = num_names;
  code = Fill(entry, names);
  if (!code) code = Add(entry, id);
  if (code) FreeEntry(entry);
  return code;
}

int CeedXLAClose(int64_t id) {
  Entry *entry = NULL;
  size_t i;

  pthread_mutex_lock(&table_lock);
  i = Find(id);
  if (i < num_entries && table[i]->id == id) {
    entry = table[i];
    memmove(&table[i], &table[i + 1], (--num_entries - i) * sizeof *table);
    if (!num_entries) FreeTable();
  }
  pthread_mutex_unlock(&table_lock);
  CeedCheck(entry, NULL, CEED_ERROR_INCOMPATIBLE, "There is no operator of the id %lld",
            (long long)id);
  Release(entry);
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Calling
// ------------------------------------------------------------------------------------------------

enum { REAL_TYPE = sizeof(CeedScalar) == 8 ? XLA_FLOAT64 : XLA_FLOAT32 };

static const char *TypeName(int type) {
  switch (type) {
    case XLA_BOOL:
      return "bool";
    case XLA_INT32:
      return "int32";
    case XLA_FLOAT32:
      return "float32";
    case XLA_FLOAT64:
      return "float64";
    default:
      return "another type";
  }
}

static int CheckBuffer(Ceed ceed, const XLA_FFI_Buffer *buffer, const char *name, int type,
                       CeedSize count) {
  int64_t size = 1;

  for (int64_t i = 0; i < buffer->rank; i++) size *= buffer->dims[i];
  CeedCheck(buffer->dtype == type, ceed, CEED_ERROR_INCOMPATIBLE,
            "%s: the array of \"%s\" is of %s, not %s", what, name, TypeName(buffer->dtype),
            TypeName(type));
  CeedCheck(size == count, ceed, CEED_ERROR_DIMENSION,
            "%s: the array of \"%s\" has %lld entries, not %td", what, name, (long long)size,
            count);
  return CEED_ERROR_SUCCESS;
}

/* Until TakeBack(). */
static int Lend(CeedVector vec, const XLA_FFI_Buffer *buffer, const char *name, bool read_only) {
  CeedMemory memory = {.kind = MEMORY_BORROWED,
                       .data = buffer->data,
                       .device = {DLPACK_CPU, 0},
                       .read_only = read_only};

  CeedCall(CheckBuffer(vec->base.ceed, buffer, name, REAL_TYPE, vec->length));
  return CeedVectorMove(vec, CEED_MEM_HOST, memory, what);
}

static int TakeBack(CeedVector vec) { return CeedVectorTakeArray(vec, CEED_MEM_HOST, NULL); }

/* Read the values that a routine has put in other memory or left on the device. */
static int ReadResult(CeedVector out, void *data) {
  const CeedScalar *values;

  CeedCheck((CeedBufferWord(out->buffer) & VALID) || !out->length, out->base.ceed,
            CEED_ERROR_INCOMPLETE, "%s: the operator's routine has written no output", what);
  CeedCall(CeedVectorAcquireRead(out, CEED_MEM_HOST, &values, what));
  if (values != data && out->length) memcpy(data, values, out->buffer->bytes);
  CeedVectorReleaseRead(out);
  return CEED_ERROR_SUCCESS;
}

/* Memory that a routine has given the output instead is let go of. */
static int TakeOutput(CeedVector out, const XLA_FFI_Buffer *buffer) {
  if (out->buffer->memory[CEED_MEM_HOST].data != buffer->data) {
    CeedCall(Lend(out, buffer, "the active output", false));
  }
  return TakeBack(out);
}

/* A context holds doubles in either precision. */
static int SetDoubles(const Operand *operand, const XLA_FFI_Buffer *buffer, double *values) {
  const CeedScalar *from = buffer->data;

  CeedCall(CheckBuffer(operand->ctx->base.ceed, buffer, operand->name, REAL_TYPE,
                       (CeedSize)operand->label->num_values));
  for (size_t i = 0; i < operand->label->num_values; i++) values[i] = from[i];
  return CEED_ERROR_SUCCESS;
}

static int SetValues(const Operand *operand, const XLA_FFI_Buffer *buffer) {
  CeedContextFieldType kind = operand->label->type;
  void *data, *address;
  int code;

  CeedCall(CeedQFunctionContextAcquire(operand->ctx, true, what, &data));
  code = CeedQFunctionContextLocate(operand->ctx, operand->label, kind, &address);
  if (!code && kind == CEED_CONTEXT_FIELD_DOUBLE) {
    code = SetDoubles(operand, buffer, address);
  } else if (!code) {
    code = CheckBuffer(operand->ctx->base.ceed, buffer, operand->name,
                       kind == CEED_CONTEXT_FIELD_BOOL ? XLA_BOOL : XLA_INT32,
                       (CeedSize)operand->label->num_values);
    if (!code) memcpy(address, buffer->data, CeedLabelBytes(operand->label));
  }
  CeedQFunctionContextRelease(operand->ctx);
  return code;
}

static int Apply(const Entry *entry) {
  switch (entry->form) {
    case CEED_XLA_JACOBIAN:
      return CeedOperatorApplyJacobian(entry->op, entry->in, entry->out, NULL);
    case CEED_XLA_TRANSPOSE:
      return CeedOperatorApplyTranspose(entry->op, entry->in, entry->out, NULL);
    default:
      return CeedOperatorApply(entry->op, entry->in, entry->out, NULL);
  }
}

/* Lend the arrays of the operands from number i on, apply, take them back. */
static int WithOperands(const Entry *entry, CeedInt i, void **buffers) {
  const Operand *operand = &entry->operand[i];
  int code, back;

  if (i == entry->num_operands) return Apply(entry);
  if (!operand->vec) {
    CeedCall(SetValues(operand, buffers[i]));
    return WithOperands(entry, i + 1, buffers);
  }
  CeedCall(Lend(operand->vec, buffers[i], operand->name, true));
  code = WithOperands(entry, i + 1, buffers);
  back = TakeBack(operand->vec);
  return code ? code : back;
}

static int WithActive(const Entry *entry, void **args) {
  bool has_input = entry->in != CEED_VECTOR_NONE;
  int code, back = CEED_ERROR_SUCCESS;

  if (has_input) CeedCall(Lend(entry->in, args[0], "the active input", true));
  code = WithOperands(entry, 0, args + has_input);
  if (has_input) back = TakeBack(entry->in);
  return code ? code : back;
}

static int WithOutput(const Entry *entry, const XLA_FFI_CallFrame *frame) {
  CeedInt count = entry->num_operands + (entry->in != CEED_VECTOR_NONE);
  const XLA_FFI_Buffer *result;
  int code, back;

  CeedCheck(frame->args.size == count && frame->rets.size == 1, entry->op->base.ceed,
            CEED_ERROR_DIMENSION, "%s has %lld operands and %lld results, not %d and 1", what,
            (long long)frame->args.size, (long long)frame->rets.size, count);
  result = frame->rets.rets[0];
  CeedCall(Lend(entry->out, result, "the active output", false));
  CeedBufferForget(entry->out->buffer);
  code = WithActive(entry, frame->args.args);
  if (!code) code = ReadResult(entry->out, result->data);
  back = TakeOutput(entry->out, result);
  return code ? code : back;
}

static int CallLocked(const Entry *entry, const XLA_FFI_CallFrame *frame) {
  int code;

  pthread_mutex_lock(&entry->op->lock);
  code = WithOutput(entry, frame);
  pthread_mutex_unlock(&entry->op->lock);
  return code;
}

static int Id(const XLA_FFI_Attrs *attrs, int64_t *id) {
  for (int64_t i = 0; i < attrs->size; i++) {
    const XLA_FFI_Scalar *scalar = attrs->attrs[i];
    if (attrs->names[i]->len != 2 || memcmp(attrs->names[i]->ptr, "id", 2)) continue;
    if (attrs->types[i] != XLA_SCALAR || scalar->dtype != XLA_INT64) break;
    memcpy(id, scalar->value, sizeof *id);
    return CEED_ERROR_SUCCESS;
  }
  return CeedError(NULL, CEED_ERROR_INCOMPATIBLE, "%s has no attribute \"id\" of type int64", what);
}

static int Open(const XLA_FFI_CallFrame *frame, Entry **entry) {
  int64_t id;

  CeedCall(Id(&frame->attrs, &id));
  *entry = Refer(id);
  CeedCheck(*entry, NULL, CEED_ERROR_ACCESS,
            "%s is of an operator (id %lld) that is no more, or of another process: trace the "
            "function again",
            what, (long long)id);
  return CEED_ERROR_SUCCESS;
}

static int CodeOf(int code) {
  switch (code) {
    case CEED_ERROR_DIMENSION:
    case CEED_ERROR_INCOMPATIBLE:
      return XLA_INVALID_ARGUMENT;
    case CEED_ERROR_ACCESS:
    case CEED_ERROR_INCOMPLETE:
      return XLA_FAILED_PRECONDITION;
    case CEED_ERROR_MAJOR:
      return XLA_RESOURCE_EXHAUSTED;
    case CEED_ERROR_BACKEND:
    case CEED_ERROR_UNSUPPORTED:
      return XLA_UNIMPLEMENTED;
    default:
      return XLA_INTERNAL;
  }
}

static XLA_FFI_Error *Result(const XLA_FFI_Api *api, int code) {
  XLA_FFI_Error_Create_Args error = {.struct_size = sizeof error};

  if (!code) return NULL;
  (void)CeedGetErrorMessage(NULL, &error.message);
  error.errc = CodeOf(code);
  return api->XLA_FFI_Error_Create(&error);
}

/* What XLA asks before the first call, or NULL. */
static XLA_FFI_Metadata *Asked(const XLA_FFI_CallFrame *frame) {
  XLA_FFI_Extension_Base *extension = frame->extension_start;

  while (extension && extension->type != XLA_METADATA) extension = extension->next;
  return extension ? ((XLA_FFI_Metadata_Extension *)(void *)extension)->metadata : NULL;
}

static void TellVersion(XLA_FFI_Metadata *metadata) {
  metadata->api_version.major_version = XLA_MAJOR;
  metadata->api_version.minor_version = XLA_MINOR;
}

// ------------------------------------------------------------------------------------------------
// The state of a program: a reference of what it calls, so that it lives as long as the program
// ------------------------------------------------------------------------------------------------

static XLA_FFI_TypeId state_type;

static void ReleaseState(void *state) { Release(state); }

static bool KeepsStates(const XLA_FFI_Api *api) {
  return api->api_version.major_version == XLA_MAJOR &&
         api->api_version.minor_version >= XLA_MINOR_OF_STATES;
}

static XLA_FFI_Error *RegisterState(const XLA_FFI_Api *api, XLA_FFI_Metadata *metadata) {
  const char *name = sizeof(CeedScalar) == 8 ? "ceedlike_float64" : "ceedlike_float32";
  static const XLA_FFI_TypeInfo info = {sizeof info, NULL, ReleaseState};
  XLA_FFI_Type_Register_Args args = {.struct_size = sizeof args, .type_info = &info};
  XLA_FFI_Error *error;

  args.name = (XLA_FFI_ByteSpan){name, strlen(name)};
  args.type_id = &state_type;
  error = api->XLA_FFI_Type_Register(&args);
  metadata->state_type_id = state_type;
  return error;
}

static XLA_FFI_State_Args StateArgs(const XLA_FFI_CallFrame *frame, void *state) {
  return (XLA_FFI_State_Args){.struct_size = sizeof(XLA_FFI_State_Args),
                              .ctx = frame->ctx,
                              .stage = XLA_INSTANTIATE,
                              .type_id = &state_type,
                              .state = state};
}

struct XLA_FFI_Error *CeedXLAInstantiate(struct XLA_FFI_CallFrame *frame) {
  XLA_FFI_Metadata *metadata = Asked(frame);
  XLA_FFI_State_Args args;
  XLA_FFI_Error *error;
  Entry *entry;
  int code;

  if (metadata) {
    TellVersion(metadata);
    return KeepsStates(frame->api) ? RegisterState(frame->api, metadata) : NULL;
  }
  if (!KeepsStates(frame->api)) return NULL;
  code = Open(frame, &entry);
  if (code) return Result(frame->api, code);
  args = StateArgs(frame, entry);
  error = frame->api->XLA_FFI_State_Set(&args);
  if (error) Release(entry);
  return error;
}

/* An older XLA looks the id up at each call. */
static XLA_FFI_Error *CallById(const XLA_FFI_CallFrame *frame) {
  Entry *entry;
  int code = Open(frame, &entry);

  if (!code) {
    code = CallLocked(entry, frame);
    Release(entry);
  }
  return Result(frame->api, code);
}

struct XLA_FFI_Error *CeedXLACall(struct XLA_FFI_CallFrame *frame) {
  XLA_FFI_Metadata *metadata = Asked(frame);
  XLA_FFI_State_Args args;
  XLA_FFI_Error *error;

  if (metadata) TellVersion(metadata);
  if (metadata || frame->stage != XLA_EXECUTE) return NULL;
  if (!KeepsStates(frame->api)) return CallById(frame);
  args = StateArgs(frame, NULL);
  error = frame->api->XLA_FFI_State_Get(&args);
  return error ? error : Result(frame->api, CallLocked(args.state, frame));
}
