// Contexts of QFunctions: data, who has them, and the values in them that have names.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "fem.h"

// ------------------------------------------------------------------------------------------------
// Labels
// ------------------------------------------------------------------------------------------------

/* One block with copies of the texts, or NULL. */
static CeedContextFieldLabel NewLabel(const struct CeedContextFieldLabel_private *like) {
  size_t name_size = strlen(like->name) + 1, size = strlen(like->description) + 1;
  CeedContextFieldLabel label = calloc(1, sizeof *label + name_size + size);
  char *texts = (char *)(label + 1);

  if (!label) return NULL;
  memcpy(texts, like->name, name_size);
  memcpy(texts + name_size, like->description, size);
  *label = *like;
  label->base = (CeedBase){CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_LABEL), 1, NULL};
  label->name = texts;
  label->description = texts + name_size;
  return label;
}

int CeedLabelsAdd(Ceed ceed, CeedLabels *labels, const struct CeedContextFieldLabel_private *like,
                  CeedContextFieldLabel *label) {
  size_t bytes = ((size_t)labels->count + 1) * sizeof *labels->label;
  CeedContextFieldLabel *more = realloc(labels->label, bytes), new_label = NULL;

  if (more) labels->label = more;
  if (more) new_label = NewLabel(like);
  CeedCheck(new_label, ceed, CEED_ERROR_MAJOR, "Out of memory: a context field");
  labels->label[labels->count++] = *label = new_label;
  return CEED_ERROR_SUCCESS;
}

void CeedLabelsFree(CeedLabels *labels) {
  for (CeedInt i = 0; i < labels->count; i++) {
    CeedObjectEnd(labels->label[i]);
    free(labels->label[i]);
  }
  free(labels->label);
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

const char *CeedQFunctionContextOut(void *object) {
  CeedQFunctionContext ctx = object;

  return __atomic_load_n(&ctx->readers, __ATOMIC_ACQUIRE) ? "The data of the context are out"
                                                          : NULL;
}

static void LetGo(const CeedContextData *data) {
  if (data->destroy) (void)data->destroy(data->address);
  if (data->kind == MEMORY_OWNED) free(data->address);
}

static void Free(void *object) {
  CeedQFunctionContext ctx = object;

  LetGo(&ctx->data);
  CeedLabelsFree(&ctx->labels);
  free(ctx);
}

static const CeedClass class = {CEED_KIND_CONTEXT, CeedQFunctionContextOut, Free};
CEED_OBJECT(CeedQFunctionContext, class)
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

/* Count a reader, or the writer, in one step: operators in several threads share contexts. */
static int Lock(CeedQFunctionContext ctx, bool writable, const char *what) {
  int64_t readers = __atomic_load_n(&ctx->readers, __ATOMIC_RELAXED);

  do {
    CeedCheck(readers >= 0 && !(writable && readers), ctx->base.ceed, CEED_ERROR_ACCESS,
              "%s refused: the data of the context are out for %s", what,
              readers < 0 ? "writing" : "reading");
  } while (!__atomic_compare_exchange_n(&ctx->readers, &readers, writable ? -1 : readers + 1, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  return CEED_ERROR_SUCCESS;
}

void CeedQFunctionContextRelease(CeedQFunctionContext ctx) {
  bool is_writer = __atomic_load_n(&ctx->readers, __ATOMIC_RELAXED) < 0;

  __atomic_add_fetch(&ctx->readers, is_writer ? 1 : -1, __ATOMIC_RELEASE);
}

int CeedQFunctionContextAcquire(CeedQFunctionContext ctx, bool writable, const char *what,
                                void **data) {
  CeedCall(Lock(ctx, writable, what));
  if (ctx->data.kind == MEMORY_NONE) {
    CeedQFunctionContextRelease(ctx);
    return CeedError(ctx->base.ceed, CEED_ERROR_INCOMPLETE, "%s: the context has no data yet",
                     what);
  }
  *data = ctx->data.address;
  return CEED_ERROR_SUCCESS;
}

/* What was there before is let go of when nothing is locked: that may run code of anybody. */
static int Replace(CeedQFunctionContext ctx, CeedContextData data, const char *what) {
  CeedContextData old;

  CeedCall(Lock(ctx, true, what));
  old = ctx->data;
  ctx->data = data;
  CeedQFunctionContextRelease(ctx);
  LetGo(&old);
  return CEED_ERROR_SUCCESS;
}

/* Setting them again would let go of them. */
static bool OwnsData(CeedQFunctionContext ctx, const void *data) {
  const CeedContextData *own = &ctx->data;

  return data && own->address == data && (own->kind == MEMORY_OWNED || own->destroy);
}

int CeedQFunctionContextSetData(CeedQFunctionContext ctx, CeedMemType mem_type,
                                CeedCopyMode copy_mode, size_t size, void *data) {
  CeedMemoryKind kind = copy_mode == CEED_USE_POINTER ? MEMORY_BORROWED : MEMORY_OWNED;
  void *copy = NULL;
  Ceed ceed;
  int code;

  CeedCall(CheckHost(ctx, mem_type));
  ceed = ctx->base.ceed;
  CeedCheck(data || !size, ceed, CEED_ERROR_INCOMPATIBLE, "The data are NULL");
  CeedCheck(size <= CEED_MAX_BYTES, ceed, CEED_ERROR_DIMENSION, "%zu bytes are too many", size);
  CeedCall(CeedCopyModeCheck(ceed, copy_mode));
  for (CeedInt i = 0; i < ctx->labels.count; i++) {
    CeedCheck(Fits(ctx->labels.label[i], size), ceed, CEED_ERROR_DIMENSION,
              "The field \"%s\" does not fit in %zu bytes", ctx->labels.label[i]->name, size);
  }
  CeedCheck(copy_mode == CEED_COPY_VALUES || !OwnsData(ctx, data), ceed, CEED_ERROR_INCOMPATIBLE,
            "The data %p are the context's own", data);
  if (copy_mode == CEED_COPY_VALUES) {
    CeedCall(CeedAllocate(ceed, (CeedSize)size, 1, &copy));
    if (size) memcpy(copy, data, size);
    data = copy;
  }
  code = Replace(ctx, (CeedContextData){size, data, kind, NULL}, "SetData");
  if (code) free(copy);
  return code;
}

int CeedQFunctionContextSetDataDestroy(CeedQFunctionContext ctx, CeedMemType f_mem_type,
                                       CeedQFunctionContextDataDestroyUser f) {
  CeedCall(CheckHost(ctx, f_mem_type));
  CeedCheck(ctx->data.kind != MEMORY_NONE, ctx->base.ceed, CEED_ERROR_INCOMPLETE,
            "SetDataDestroy: the context has no data yet");
  ctx->data.destroy = f;
  return CEED_ERROR_SUCCESS;
}

/* `data` is the address of a pointer of any type. */
static void SetPointer(void *data, void *pointer) { memcpy(data, &pointer, sizeof pointer); }

int CeedQFunctionContextTakeData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  CeedContextData none = {0, NULL, MEMORY_NONE, NULL};
  void *taken;

  CeedCall(CheckHost(ctx, mem_type));
  CeedCheck(ctx->data.kind == MEMORY_BORROWED, ctx->base.ceed, CEED_ERROR_ACCESS,
            "TakeData: no data were borrowed");
  CeedCall(Lock(ctx, true, "TakeData"));
  taken = ctx->data.address;
  ctx->data = none;
  CeedQFunctionContextRelease(ctx);
  if (data) SetPointer(data, taken);
  return CEED_ERROR_SUCCESS;
}

static int Get(CeedQFunctionContext ctx, CeedMemType mem_type, bool writable, void *data) {
  void *pointer;

  CeedCall(CheckHost(ctx, mem_type));
  CeedCheckOutput(data, ctx->base.ceed);
  CeedCall(
      CeedQFunctionContextAcquire(ctx, writable, writable ? "GetData" : "GetDataRead", &pointer));
  SetPointer(data, pointer);
  return CEED_ERROR_SUCCESS;
}

static int Restore(CeedQFunctionContext ctx, bool writable, void *data) {
  int64_t readers;
  void *pointer;

  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCheckOutput(data, ctx->base.ceed);
  readers = __atomic_load_n(&ctx->readers, __ATOMIC_RELAXED);
  CeedCheck(writable ? readers < 0 : readers > 0, ctx->base.ceed, CEED_ERROR_ACCESS,
            "The data of the context are not out for %s", writable ? "writing" : "reading");
  memcpy(&pointer, data, sizeof pointer);
  CeedCheck(pointer == ctx->data.address, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE,
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
  for (CeedInt i = 0; i < ctx->labels.count; i++) {
    if (!strcmp(ctx->labels.label[i]->name, name)) return ctx->labels.label[i];
  }
  return NULL;
}

static int Register(CeedQFunctionContext ctx, const char *name, size_t offset, size_t num_values,
                    const char *description, CeedContextFieldType type) {
  struct CeedContextFieldLabel_private wanted = {.name = name,
                                                 .description = description ? description : "",
                                                 .offset = offset,
                                                 .num_values = num_values,
                                                 .type = type};
  CeedContextFieldLabel label;
  Ceed ceed;

  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  ceed = ctx->base.ceed;
  CeedCheck(name && name[0], ceed, CEED_ERROR_INCOMPATIBLE, "The context field has no name");
  CeedCheck(ctx->data.kind != MEMORY_NONE, ceed, CEED_ERROR_INCOMPLETE,
            "The field \"%s\" can't be registered: the context has no data yet", name);
  CeedCheck(!CeedQFunctionContextFind(ctx, name), ceed, CEED_ERROR_INCOMPATIBLE,
            "The field \"%s\" is registered already", name);
  CeedCheck(num_values > 0 && Fits(&wanted, ctx->data.size), ceed, CEED_ERROR_DIMENSION,
            "The field \"%s\" of %zu values at offset %zu does not fit in %zu bytes", name,
            num_values, offset, ctx->data.size);
  return CeedLabelsAdd(ceed, &ctx->labels, &wanted, &label);
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
  *field_labels = ctx->labels.label;
  *num_fields = ctx->labels.count;
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
  *address = (char *)ctx->data.address + own->offset;
  return CEED_ERROR_SUCCESS;
}

size_t CeedLabelBytes(CeedContextFieldLabel label) {
  return label->num_values * TypeSize(label->type);
}

static int SetField(CeedQFunctionContext ctx, CeedContextFieldLabel label,
                    CeedContextFieldType type, const void *values) {
  void *data, *address;
  int code;

  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCheck(values, ctx->base.ceed, CEED_ERROR_INCOMPATIBLE, "The values are NULL");
  CeedCall(CeedQFunctionContextAcquire(ctx, true, "Setting a field", &data));
  code = CeedQFunctionContextLocate(ctx, label, type, &address);
  if (!code) memcpy(address, values, CeedLabelBytes(label));
  CeedQFunctionContextRelease(ctx);
  return code;
}

int CeedQFunctionContextSetDouble(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                  double *values) {
  return SetField(ctx, field_label, CEED_CONTEXT_FIELD_DOUBLE, values);
}

int CeedQFunctionContextSetInt32(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                 int32_t *values) {
  return SetField(ctx, field_label, CEED_CONTEXT_FIELD_INT32, values);
}

int CeedQFunctionContextSetBoolean(CeedQFunctionContext ctx, CeedContextFieldLabel field_label,
                                   bool *values) {
  return SetField(ctx, field_label, CEED_CONTEXT_FIELD_BOOL, values);
}

CEED_GET(CeedQFunctionContextGetContextSize, CeedQFunctionContext, CEED_KIND_CONTEXT, size_t,
         data.size)

int CeedQFunctionContextView(CeedQFunctionContext ctx, FILE *stream) {
  CeedCall(CeedObjectCheck(ctx, CEED_KIND_CONTEXT));
  CeedCall(CeedStreamCheck(ctx->base.ceed, stream));
  fprintf(stream, "CeedQFunctionContext\n  Size: %zu bytes\n", ctx->data.size);
  for (CeedInt i = 0; i < ctx->labels.count; i++) {
    CeedContextFieldLabel label = ctx->labels.label[i];
    fprintf(stream, "  %s: %zu of %s at byte %zu%s%s\n", label->name, label->num_values,
            CeedContextFieldTypes[label->type], label->offset, label->description[0] ? ", " : "",
            label->description);
  }
  return CEED_ERROR_SUCCESS;
}
