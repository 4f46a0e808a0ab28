// Contexts of QFunctions: data, who has them, and the values in them that have names.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// Labels
// ------------------------------------------------------------------------------------------------

CeedContextFieldLabel CeedLabelNew(const char *name, const char *description, size_t offset,
                                   size_t num_values, CeedContextFieldType type) {
  size_t name_size = strlen(name) + 1, size = strlen(description) + 1;
  CeedContextFieldLabel label = calloc(1, sizeof *label + name_size + size);
  char *texts = (char *)(label + 1);

  if (!label) return NULL;
  memcpy(texts, name, name_size);
  memcpy(texts + name_size, description, size);
  label->base = (CeedBase){CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_LABEL), 1, NULL};
  label->name = texts;
  label->description = texts + name_size;
  label->offset = offset;
  label->num_values = num_values;
  label->type = type;
  return label;
}

void CeedLabelFree(CeedContextFieldLabel label) {
  CeedObjectEnd(label);
  free(label);
}

static size_t TypeSize(CeedContextFieldType type) {
  if (type == CEED_CONTEXT_FIELD_DOUBLE) return sizeof(double);
  return type == CEED_CONTEXT_FIELD_INT32 ? sizeof(int32_t) : sizeof(bool);
}

static bool Fits(CeedContextFieldLabel label, size_t size) {
  return label->offset <= size &&
         label->num_values <= (size - label->offset) / TypeSize(label->type);
}

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

static const char *Out(CeedQFunctionContext ctx) {
  return ctx->readers ? "The data of the context are out" : NULL;
}

static void LetGo(CeedQFunctionContext ctx) {
  if (ctx->destroy) ctx->destroy(ctx->data);
  if (ctx->kind == MEMORY_OWNED) free(ctx->data);
  ctx->destroy = NULL;
  ctx->data = NULL;
  ctx->size = 0;
  ctx->kind = MEMORY_NONE;
}

static void Free(CeedQFunctionContext ctx) {
  LetGo(ctx);
  for (CeedInt i = 0; i < ctx->num_labels; i++) CeedLabelFree(ctx->labels[i]);
  free(ctx->labels);
  free(ctx);
}

CEED_OBJECT(CeedQFunctionContext, CEED_KIND_CONTEXT, Out, Free)
CEED_OBJECT_CEED(CeedQFunctionContext, CEED_KIND_CONTEXT)

int CeedQFunctionContextCreate(Ceed ceed, CeedQFunctionContext *ctx) {
  CeedQFunctionContext new_ctx;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(ctx, ceed);
  new_ctx = CeedObjectNew(ceed, CEED_KIND_CONTEXT, sizeof *new_ctx);
  CeedCheck(new_ctx, ceed, CEED_ERROR_MAJOR, "Out of memory: a QFunction context");
  *ctx = new_ctx;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Data
// ------------------------------------------------------------------------------------------------

static int CheckHost(CeedQFunctionContext ctx, CeedMemType mem_type) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCall(CeedMemTypeCheck(ctx->base.ceed, mem_type));
  CeedCheck(mem_type == CEED_MEM_HOST, ctx->base.ceed, CEED_ERROR_UNSUPPORTED,
            "The data of contexts are in host memory");
  return CEED_ERROR_SUCCESS;
}

static int CheckFree(CeedQFunctionContext ctx, const char *what) {
  CeedCheck(!ctx->readers, ctx->base.ceed, CEED_ERROR_ACCESS,
            "%s refused: the data of the context are out", what);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetData(CeedQFunctionContext ctx, CeedMemType mem_type,
                                CeedCopyMode copy_mode, size_t size, void *data) {
  CeedMemoryKind kind = copy_mode == CEED_USE_POINTER ? MEMORY_BORROWED : MEMORY_OWNED;
  Ceed ceed;

  CeedCall(CheckHost(ctx, mem_type));
  ceed = ctx->base.ceed;
  CeedCall(CheckFree(ctx, "SetData"));
  CeedCheck(data || !size, ceed, CEED_ERROR_INCOMPATIBLE, "The data are NULL");
  CeedCheck(size <= CEED_MAX_BYTES, ceed, CEED_ERROR_DIMENSION, "%zu bytes are too many", size);
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    CeedCheck(Fits(ctx->labels[i], size), ceed, CEED_ERROR_DIMENSION,
              "The field \"%s\" does not fit in %zu bytes", ctx->labels[i]->name, size);
  }
  if (copy_mode == CEED_COPY_VALUES) {
    void *copy;
    CeedCall(CeedAllocate(ceed, (CeedSize)size, 1, &copy));
    if (size) memcpy(copy, data, size);
    data = copy;
  }
  LetGo(ctx);
  ctx->data = data;
  ctx->size = size;
  ctx->kind = kind;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetDataDestroy(CeedQFunctionContext ctx, CeedMemType f_mem_type,
                                       CeedQFunctionContextDataDestroyUser f) {
  CeedCall(CheckHost(ctx, f_mem_type));
  CeedCheck(ctx->kind != MEMORY_NONE, ctx->base.ceed, CEED_ERROR_INCOMPLETE,
            "SetDataDestroy: the context has no data yet");
  ctx->destroy = f;
  return CEED_ERROR_SUCCESS;
}

/* `data` is the address of a pointer of any type. */
static void SetPointer(void *data, void *pointer) { memcpy(data, &pointer, sizeof pointer); }

int CeedQFunctionContextTakeData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  CeedCall(CheckHost(ctx, mem_type));
  CeedCall(CheckFree(ctx, "TakeData"));
  CeedCheck(ctx->kind == MEMORY_BORROWED, ctx->base.ceed, CEED_ERROR_ACCESS,
            "TakeData: no data were borrowed");
  if (data) SetPointer(data, ctx->data);
  ctx->destroy = NULL;
  LetGo(ctx);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextAcquire(CeedQFunctionContext ctx, bool writable, void **data) {
  CeedCheck(ctx->kind != MEMORY_NONE, ctx->base.ceed, CEED_ERROR_INCOMPLETE,
            "The context has no data yet");
  CeedCheck(ctx->readers >= 0, ctx->base.ceed, CEED_ERROR_ACCESS,
            "The data of the context are out for writing");
  CeedCheck(!writable || !ctx->readers, ctx->base.ceed, CEED_ERROR_ACCESS,
            "The data of the context are out for reading");
  ctx->readers += writable ? -1 : 1;
  *data = ctx->data;
  return CEED_ERROR_SUCCESS;
}

void CeedQFunctionContextRelease(CeedQFunctionContext ctx) {
  ctx->readers += ctx->readers < 0 ? 1 : -1;
}

static int Get(CeedQFunctionContext ctx, CeedMemType mem_type, bool writable, void *data) {
  void *pointer;

  CeedCall(CheckHost(ctx, mem_type));
  CeedCheckOutput(data, ctx->base.ceed);
  CeedCall(CeedQFunctionContextAcquire(ctx, writable, &pointer));
  SetPointer(data, pointer);
  return CEED_ERROR_SUCCESS;
}

static int Restore(CeedQFunctionContext ctx, bool writable, void *data) {
  void *pointer;

  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCheckOutput(data, ctx->base.ceed);
  CeedCheck(writable ? ctx->readers < 0 : ctx->readers > 0, ctx->base.ceed, CEED_ERROR_ACCESS,
            "The data of the context are not out for %s", writable ? "writing" : "reading");
  memcpy(&pointer, data, sizeof pointer);
  CeedCheck(pointer == ctx->data, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE,
            "%p are not the data that are out", pointer);
  CeedQFunctionContextRelease(ctx);
  SetPointer(data, NULL);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextGetData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  return Get(ctx, mem_type, true, data);
}

int CeedQFunctionContextGetDataRead(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  return Get(ctx, mem_type, false, data);
}

int CeedQFunctionContextRestoreData(CeedQFunctionContext ctx, void *data) {
  return Restore(ctx, true, data);
}

int CeedQFunctionContextRestoreDataRead(CeedQFunctionContext ctx, void *data) {
  return Restore(ctx, false, data);
}

// ------------------------------------------------------------------------------------------------
// Registered fields
// ------------------------------------------------------------------------------------------------

CeedContextFieldLabel CeedQFunctionContextFind(CeedQFunctionContext ctx, const char *name) {
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    if (!strcmp(ctx->labels[i]->name, name)) return ctx->labels[i];
  }
  return NULL;
}

static int AddLabel(CeedQFunctionContext ctx, CeedContextFieldLabel label) {
  size_t bytes = ((size_t)ctx->num_labels + 1) * sizeof *ctx->labels;
  CeedContextFieldLabel *labels = label ? realloc(ctx->labels, bytes) : NULL;

  CeedCheck(labels, ctx->base.ceed, CEED_ERROR_MAJOR, "Out of memory: a context field");
  ctx->labels = labels;
  ctx->labels[ctx->num_labels++] = label;
  return CEED_ERROR_SUCCESS;
}

static int Register(CeedQFunctionContext ctx, const char *name, size_t offset, size_t num_values,
                    const char *description, CeedContextFieldType type) {
  struct CeedContextFieldLabel_private wanted = {
      .offset = offset, .num_values = num_values, .type = type};
  CeedContextFieldLabel label;
  Ceed ceed;
  int code;

  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  ceed = ctx->base.ceed;
  CeedCheck(name && name[0], ceed, CEED_ERROR_INCOMPATIBLE, "The context field has no name");
  CeedCheck(ctx->kind != MEMORY_NONE, ceed, CEED_ERROR_INCOMPLETE,
            "The field \"%s\" can't be registered: the context has no data yet", name);
  CeedCheck(!CeedQFunctionContextFind(ctx, name), ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" is registered already", name);
  CeedCheck(num_values > 0 && Fits(&wanted, ctx->size), ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" of %zu values at offset %zu does not fit in %zu bytes", name,
            num_values, offset, ctx->size);
  label = CeedLabelNew(name, description ? description : "", offset, num_values, type);
  code = AddLabel(ctx, label);
  if (code) free(label);
  return code;
}

int CeedQFunctionContextRegisterDouble(CeedQFunctionContext ctx, const char *field_name,
                                       size_t field_offset, size_t num_values,
                                       const char *field_description) {
  return Register(ctx, field_name, field_offset, num_values, field_description,
                  CEED_CONTEXT_FIELD_DOUBLE);
}

int CeedQFunctionContextRegisterInt32(CeedQFunctionContext ctx, const char *field_name,
                                      size_t field_offset, size_t num_values,
                                      const char *field_description) {
  return Register(ctx, field_name, field_offset, num_values, field_description,
                  CEED_CONTEXT_FIELD_INT32);
}

int CeedQFunctionContextRegisterBoolean(CeedQFunctionContext ctx, const char *field_name,
                                        size_t field_offset, size_t num_values,
                                        const char *field_description) {
  return Register(ctx, field_name, field_offset, num_values, field_description,
                  CEED_CONTEXT_FIELD_BOOL);
}

int CeedQFunctionContextGetAllFieldLabels(CeedQFunctionContext ctx,
                                          const CeedContextFieldLabel **field_labels,
                                          CeedInt *num_fields) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCheckOutput(field_labels, ctx->base.ceed);
  CeedCheckOutput(num_fields, ctx->base.ceed);
  *field_labels = ctx->labels;
  *num_fields = ctx->num_labels;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextGetFieldLabel(CeedQFunctionContext ctx, const char *field_name,
                                      CeedContextFieldLabel *field_label) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCheck(field_name, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE, "The field name is NULL");
  CeedCheckOutput(field_label, ctx->base.ceed);
  *field_label = CeedQFunctionContextFind(ctx, field_name);
  return CEED_ERROR_SUCCESS;
}

/* Labels are the same by name, so that one of a composite operator is good for all its parts. */
int CeedQFunctionContextLocate(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                               CeedContextFieldType type, void **address) {
  Ceed ceed = ctx->base.ceed;
  CeedContextFieldLabel own;

  CeedCall(CeedObjectCheck(label, CEED_KIND_LABEL));
  CeedCheck(label->type == type, ceed, CEED_ERROR_INCOMPATIBLE, "The field \"%s\" is %s, not %s",
            label->name, CeedContextFieldTypes[label->type], CeedContextFieldTypes[type]);
  own = CeedQFunctionContextFind(ctx, label->name);
  CeedCheck(own && own->type == type && own->num_values == label->num_values, ceed,
            CEED_ERROR_INCOMPATIBLE, "The context has no field \"%s\" of %zu values", label->name,
            label->num_values);
  CeedCheck(ctx->kind != MEMORY_NONE, ceed, CEED_ERROR_INCOMPLETE, "The context has no data");
  *address = (char *)ctx->data + own->offset;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetField(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                                 CeedContextFieldType type, const void *values) {
  void *address;

  CeedCall(CeedQFunctionContextLocate(ctx, label, type, &address));
  CeedCheck(values, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE, "The values are NULL");
  CeedCall(CheckFree(ctx, "Setting a field"));
  memcpy(address, values, label->num_values * TypeSize(type));
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetDouble(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                  double *values) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  return CeedQFunctionContextSetField(ctx, field_label, CEED_CONTEXT_FIELD_DOUBLE, values);
}

int CeedQFunctionContextSetInt32(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                 int32_t *values) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  return CeedQFunctionContextSetField(ctx, field_label, CEED_CONTEXT_FIELD_INT32, values);
}

int CeedQFunctionContextSetBoolean(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                   bool *values) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  return CeedQFunctionContextSetField(ctx, field_label, CEED_CONTEXT_FIELD_BOOL, values);
}

CEED_GET(CeedQFunctionContextGetContextSize, CeedQFunctionContext, CEED_KIND_CONTEXT, size_t, size)

int CeedQFunctionContextView(CeedQFunctionContext ctx, FILE *stream) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCall(CeedStreamCheck(ctx->base.ceed, stream));
  fprintf(stream, "CeedQFunctionContext\n  Size: %zu bytes\n", ctx->size);
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    CeedContextFieldLabel label = ctx->labels[i];
    fprintf(stream, "  %s: %zu of %s at byte %zu%s%s\n", label->name, label->num_values,
            CeedContextFieldTypes[label->type], label->offset, label->description[0] ? ", " : "",
            label->description);
  }
  return CEED_ERROR_SUCCESS;
}
