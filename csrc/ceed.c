// The context, its resources, and error handling.
// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#ifndef CEEDLIKE_GIT_VERSION
#define CEEDLIKE_GIT_VERSION "unknown"
#endif
#ifndef CEEDLIKE_BUILD_CONFIG
#define CEEDLIKE_BUILD_CONFIG "unknown"
#endif

static const char no_message[] = "No error message stored";
static __thread char message[1024];
static __thread uint64_t errors;

static const char *const error_types[] = {
    "CEED_ERROR_UNSUPPORTED", "CEED_ERROR_BACKEND",      "CEED_ERROR_MAJOR",
    "CEED_ERROR_SUCCESS",     "CEED_ERROR_MINOR",        "CEED_ERROR_DIMENSION",
    "CEED_ERROR_INCOMPLETE",  "CEED_ERROR_INCOMPATIBLE", "CEED_ERROR_ACCESS",
};
const char *const *const CeedErrorTypes = &error_types[-CEED_ERROR_UNSUPPORTED];
const char *const CeedMemTypes[] = {"host", "device"};
const char *const CeedCopyModes[] = {"copy values", "use pointer", "own pointer"};
const char *const CeedContextFieldTypes[] = {"none", "double", "int32", "bool"};

static struct CeedRequest_private { char unused; } request_immediate, request_ordered;
static CeedRequest immediate = &request_immediate, ordered = &request_ordered;
CeedRequest *const CEED_REQUEST_IMMEDIATE = &immediate;
CeedRequest *const CEED_REQUEST_ORDERED = &ordered;

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

static int HandlerFromEnvironment(CeedErrorHandler *handler) {
  static const struct {
    const char *name;
    CeedErrorHandler handler;
  } known[] = {{"store", CeedErrorStore},
               {"return", CeedErrorReturn},
               {"exit", CeedErrorExit},
               {"abort", CeedErrorAbort}};
  const char *name = getenv("CEED_ERROR_HANDLER");

  if (!name || !*name) name = known[0].name;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(name, known[i].name)) continue;
    *handler = known[i].handler;
    return CEED_ERROR_SUCCESS;
  }
  return CeedError(NULL, CEED_ERROR_UNSUPPORTED,
                   "CEED_ERROR_HANDLER=%s is none of store, return, exit, abort", name);
}

/* Whatever the handler does, the text is kept. */
int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...) {
  va_list args, again;
  int code;

  errors++;
  va_start(args, format);
  va_copy(again, args);
  code = CeedErrorStore(ceed, filename, lineno, func, ecode, format, &again);
  va_end(again);
  if (CeedObjectIs(ceed, CEED_KIND_CEED) && ceed->handler != CeedErrorStore) {
    code = ceed->handler(ceed, filename, lineno, func, ecode, format, &args);
  }
  va_end(args);
  return code;
}

uint64_t CeedErrorCount(void) { return errors; }

int CeedErrorReturn(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                    const char *format, va_list *args) {
  (void)ceed;
  (void)filename;
  (void)line_no;
  (void)func;
  (void)format;
  (void)args;
  return err_code;
}

int CeedErrorStore(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                   const char *format, va_list *args) {
  char text[sizeof message]; /* an argument may be the message before */

  (void)ceed;
  (void)filename;
  (void)line_no;
  (void)func;
  vsnprintf(text, sizeof text, format, *args);
  memcpy(message, text, sizeof text);
  return err_code;
}

static void Print(const char *filename, int line_no, const char *func, const char *format,
                  va_list *args) {
  fprintf(stderr, "%s:%d in %s(): ", filename, line_no, func);
  vfprintf(stderr, format, *args);
  fprintf(stderr, "\n");
}

int CeedErrorExit(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                  const char *format, va_list *args) {
  (void)ceed;
  Print(filename, line_no, func, format, args);
  exit(err_code);
}

int CeedErrorAbort(Ceed ceed, const char *filename, int line_no, const char *func, int err_code,
                   const char *format, va_list *args) {
  (void)ceed;
  (void)err_code;
  Print(filename, line_no, func, format, args);
  abort();
}

int CeedSetErrorHandler(Ceed ceed, CeedErrorHandler handler) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  ceed->handler = handler ? handler : CeedErrorStore;
  return CEED_ERROR_SUCCESS;
}

int CeedGetErrorMessage(Ceed ceed, const char **err_msg) {
  (void)ceed;
  CeedCheckOutput(err_msg, NULL);
  *err_msg = message[0] ? message : no_message;
  return CEED_ERROR_SUCCESS;
}

int CeedResetErrorMessage(Ceed ceed, const char **err_msg) {
  (void)ceed;
  message[0] = '\0';
  if (err_msg) *err_msg = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedReportError(Ceed ceed, int err_code, const char *err_msg) {
  return CeedError(ceed, err_code, "%s", err_msg ? err_msg : "");
}

static const char *KindName(unsigned kind) {
  static const char *const names[] = {"Ceed",
                                      "CeedVector",
                                      "sentinel",
                                      "CeedContextFieldLabel",
                                      "CeedElemRestriction",
                                      "CeedBasis",
                                      "CeedQFunctionContext",
                                      "CeedQFunction",
                                      "CeedQFunctionField",
                                      "CeedOperator",
                                      "CeedOperatorField",
                                      "CeedFab",
                                      "CeedMultiFab"};
  return kind >= CEED_KIND_CEED && kind <= CEED_KIND_MULTIFAB ? names[kind - 1] : NULL;
}

/* The first word of whatever was passed is read: as far as a handle can be told from a stray one.
 */
int CeedObjectFail(const void *object, CeedKind kind) {
  const char *wanted = KindName(kind), *found = NULL;
  uint64_t magic = 0;
  unsigned bits;

  CeedCheck(object, NULL, CEED_ERROR_INCOMPATIBLE, "The %s handle is NULL", wanted);
  if ((uintptr_t)object % sizeof magic == 0) memcpy(&magic, object, sizeof magic);
  bits = (unsigned)(magic >> 8 & 0xFFFFFF);
  if ((magic & CEED_MAGIC_MASK) == CEED_MAGIC) found = KindName((unsigned)(magic & 0xFF));
  CeedCheck(found, NULL, CEED_ERROR_INCOMPATIBLE,
            "The handle %p is no object of this library, or was destroyed: a %s is wanted", object,
            wanted);
  return CeedError(NULL, CEED_ERROR_INCOMPATIBLE,
                   "The handle %p is a %s of the float%u library; a %s of the float%u library is "
                   "wanted",
                   object, found, bits, wanted, CEED_SCALAR_BITS);
}

// ------------------------------------------------------------------------------------------------
// Contexts
// ------------------------------------------------------------------------------------------------

static const CeedResource *FindResource(const char *name) {
  const CeedResource *best = NULL;
  size_t length = strcspn(name, ":");

  for (const CeedResource *r = CeedResources; r->name; r++) {
    bool matches = length && !strncmp(r->name, name, length);
    if (matches && (!best || r->priority < best->priority)) best = r;
  }
  return best;
}

static int FailResource(const char *name) {
  char list[512] = "";

  for (const CeedResource *r = CeedResources; r->name; r++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", r->name);
  }
  return CeedError(NULL, CEED_ERROR_UNSUPPORTED, "No resource \"%s\"; there are %s", name, list);
}

/* One key=value after a `:` of the resource's name. */
static int SetOption(Ceed ceed, const char *option, size_t length) {
  const char *name = ceed->resource->name;
  const size_t key = strlen("device_id=");

  if (!strncmp(option, "device_id=", key) && isdigit((unsigned char)option[key])) {
    char *end;
    long id = strtol(option + key, &end, 10);
    if (end == option + length && id <= INT32_MAX) {
      ceed->device_id = (int32_t)id;
      return CEED_ERROR_SUCCESS;
    }
  }
  CeedCheck(length == strlen("host=pinned") && !strncmp(option, "host=pinned", length), NULL,
            CEED_ERROR_UNSUPPORTED,
            "%s has no option \"%.*s\"; there are device_id=N and host=pinned", name, (int)length,
            option);
  CeedCheck(ceed->resource->device->pinned, NULL, CEED_ERROR_UNSUPPORTED,
            "%s has no pinned host memory", name);
  ceed->device[CEED_MEM_HOST] = ceed->resource->device->pinned;
  return CEED_ERROR_SUCCESS;
}

static int SetOptions(Ceed ceed, const char *resource) {
  for (const char *option = strchr(resource, ':'); option; option = strchr(option, ':')) {
    size_t length = strcspn(++option, ":");

    if (length) CeedCall(SetOption(ceed, option, length));
  }
  return CEED_ERROR_SUCCESS;
}

static int OpenDevice(Ceed ceed, const char *resource) {
  const CeedDevice *device = ceed->device[CEED_MEM_DEVICE];

  if (!device) return CEED_ERROR_SUCCESS;
  CeedCall(SetOptions(ceed, resource));
  return device->open(ceed);
}

int CeedInit(const char *resource, Ceed *ceed) {
  const CeedResource *found;
  CeedErrorHandler handler;
  Ceed new_ceed;
  int code;

  CeedCheck(resource, NULL, CEED_ERROR_INCOMPATIBLE, "The resource is NULL");
  CeedCheckOutput(ceed, NULL);
  found = FindResource(resource);
  if (!found) return FailResource(resource);
  CeedCall(HandlerFromEnvironment(&handler));
  new_ceed = calloc(1, sizeof *new_ceed);
  CeedCheck(new_ceed, NULL, CEED_ERROR_MAJOR, "Out of memory: a context");
  new_ceed->base.magic = CEED_MAGIC_OF(CEED_SCALAR_BITS, CEED_KIND_CEED);
  new_ceed->base.ref_count = 1;
  new_ceed->resource = found;
  new_ceed->device[CEED_MEM_HOST] = &CeedDeviceHost;
  new_ceed->device[CEED_MEM_DEVICE] = found->device;
  new_ceed->handler = CeedErrorStore;
  code = OpenDevice(new_ceed, resource);
  if (code) {
    free(new_ceed);
    return code;
  }
  new_ceed->handler = handler;
  *ceed = new_ceed;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Streams
// ------------------------------------------------------------------------------------------------

#define CheckStreams(ceed)                                                   \
  do {                                                                       \
    CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));                         \
    CeedCheck((ceed)->device[CEED_MEM_DEVICE], ceed, CEED_ERROR_UNSUPPORTED, \
              "The resource %s has no streams", (ceed)->resource->name);     \
  } while (0)

int CeedSetStream(Ceed ceed, void *handle) {
  CheckStreams(ceed);
  ceed->stream = handle;
  return handle ? CEED_ERROR_SUCCESS : ceed->device[CEED_MEM_DEVICE]->open(ceed);
}

int CeedGetStream(Ceed ceed, void **handle) {
  CheckStreams(ceed);
  CeedCheckOutput(handle, ceed);
  *handle = ceed->stream;
  return CEED_ERROR_SUCCESS;
}

int CeedOrderBefore(Ceed ceed, void *handle) {
  CheckStreams(ceed);
  return ceed->device[CEED_MEM_DEVICE]->order(ceed, ceed->stream, handle);
}

int CeedOrderAfter(Ceed ceed, void *handle) {
  CheckStreams(ceed);
  return ceed->device[CEED_MEM_DEVICE]->order(ceed, handle, ceed->stream);
}

int CeedReferenceCopy(Ceed ceed, Ceed *ceed_copy) {
  int code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(ceed_copy, ceed);
  CeedObjectRefer(ceed);
  code = CeedDestroy(ceed_copy);
  if (code) {
    (void)CeedObjectRelease(ceed);
    return code;
  }
  *ceed_copy = ceed;
  return CEED_ERROR_SUCCESS;
}

int CeedGetResource(Ceed ceed, const char **resource) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(resource, ceed);
  *resource = ceed->resource->name;
  return CEED_ERROR_SUCCESS;
}

int CeedIsDeterministic(Ceed ceed, bool *is_deterministic) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(is_deterministic, ceed);
  *is_deterministic = true;
  return CEED_ERROR_SUCCESS;
}

int CeedGetPreferredMemType(Ceed ceed, CeedMemType *type) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(type, ceed);
  *type = ceed->device[CEED_MEM_DEVICE] ? CEED_MEM_DEVICE : CEED_MEM_HOST;
  return CEED_ERROR_SUCCESS;
}

static bool IsMemType(CeedMemType mem_type) {
  return mem_type == CEED_MEM_HOST || mem_type == CEED_MEM_DEVICE;
}

int CeedCopyModeCheck(Ceed ceed, CeedCopyMode copy_mode) {
  CeedCheck(copy_mode >= CEED_COPY_VALUES && copy_mode <= CEED_OWN_POINTER, ceed,
            CEED_ERROR_INCOMPATIBLE, "%d is no copy mode", (int)copy_mode);
  return CEED_ERROR_SUCCESS;
}

int CeedMemTypeCheck(Ceed ceed, CeedMemType mem_type) {
  CeedCheck(IsMemType(mem_type), ceed, CEED_ERROR_INCOMPATIBLE, "%d is no memory type",
            (int)mem_type);
  CeedCheck(ceed->device[mem_type], ceed, CEED_ERROR_BACKEND, "The resource %s has no %s memory",
            ceed->resource->name, CeedMemTypes[mem_type]);
  return CEED_ERROR_SUCCESS;
}

int CeedMemTypeIsAvailable(Ceed ceed, CeedMemType mem_type, bool *is_available) {
  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheckOutput(is_available, ceed);
  CeedCheck(IsMemType(mem_type), ceed, CEED_ERROR_INCOMPATIBLE, "%d is no memory type",
            (int)mem_type);
  *is_available = ceed->device[mem_type] != NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedGetDLPackDevice(Ceed ceed, CeedMemType mem_type, int32_t *device_type, int32_t *device_id) {
  DLDevice place;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCall(CeedMemTypeCheck(ceed, mem_type));
  CeedCheckOutput(device_type, ceed);
  CeedCheckOutput(device_id, ceed);
  place = CeedPlaceOf(ceed, mem_type);
  *device_type = place.device_type;
  *device_id = place.device_id;
  return CEED_ERROR_SUCCESS;
}

static int ViewDevice(Ceed ceed, FILE *stream) {
  const CeedDevice *device = ceed->device[CEED_MEM_DEVICE];

  if (!device) return CEED_ERROR_SUCCESS;
  fprintf(stream, "  Device: %" PRId32 ", ", ceed->device_id);
  CeedCall(device->view(ceed, stream));
  fprintf(stream, "\n  Arithmetic and operators: through host memory\n");
  return CEED_ERROR_SUCCESS;
}

int CeedView(Ceed ceed, FILE *stream) {
  const CeedDevice *device;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheck(stream, ceed, CEED_ERROR_INCOMPATIBLE, "The stream is NULL");
  device = ceed->device[CEED_MEM_DEVICE];
  fprintf(stream,
          "Ceed\n"
          "  Resource: %s\n"
          "  Scalar type: float%u\n"
          "  Memory: %s%s%s\n"
          "  Preferred memory type: %s\n",
          ceed->resource->name, CEED_SCALAR_BITS, ceed->device[CEED_MEM_HOST]->name,
          device ? ", " : "", device ? device->name : "",
          CeedMemTypes[device ? CEED_MEM_DEVICE : CEED_MEM_HOST]);
  return ViewDevice(ceed, stream);
}

int CeedDestroy(Ceed *ceed) {
  if (!ceed || !*ceed) return CEED_ERROR_SUCCESS;
  CeedCall(CeedObjectCheck(*ceed, CEED_KIND_CEED));
  if (CeedObjectRelease(*ceed)) {
    CeedObjectEnd(*ceed);
    free(*ceed);
  }
  *ceed = NULL;
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// The library itself; requests; labels
// ------------------------------------------------------------------------------------------------

int CeedGetVersion(int *major, int *minor, int *patch, bool *release) {
  if (major) *major = CEED_VERSION_MAJOR;
  if (minor) *minor = CEED_VERSION_MINOR;
  if (patch) *patch = CEED_VERSION_PATCH;
  if (release) *release = CEED_VERSION_RELEASE;
  return CEED_ERROR_SUCCESS;
}

int CeedGetGitVersion(const char **git_version) {
  CeedCheckOutput(git_version, NULL);
  *git_version = CEEDLIKE_GIT_VERSION;
  return CEED_ERROR_SUCCESS;
}

int CeedGetBuildConfiguration(const char **build_config) {
  CeedCheckOutput(build_config, NULL);
  *build_config = CEEDLIKE_BUILD_CONFIG;
  return CEED_ERROR_SUCCESS;
}

int CeedGetScalarType(CeedScalarType *scalar_type) {
  CeedCheckOutput(scalar_type, NULL);
  *scalar_type = CEED_SCALAR_TYPE;
  return CEED_ERROR_SUCCESS;
}

int CeedRequestWait(CeedRequest *req) {
  CeedCheck(req, NULL, CEED_ERROR_INCOMPATIBLE, "The request is NULL");
  CeedCheck(!*req || req == CEED_REQUEST_IMMEDIATE || req == CEED_REQUEST_ORDERED, NULL,
            CEED_ERROR_INCOMPATIBLE, "The request %p is not of this library", (void *)*req);
  return CEED_ERROR_SUCCESS;
}

int CeedContextFieldLabelGetDescription(CeedContextFieldLabel label, const char **field_name,
                                        size_t *field_offset, size_t *num_values,
                                        const char **field_description,
                                        CeedContextFieldType *field_type) {
  CeedCall(CeedObjectCheck(label, CEED_KIND_LABEL));
  if (field_name) *field_name = label->name;
  if (field_offset) *field_offset = label->offset;
  if (num_values) *num_values = label->num_values;
  if (field_description) *field_description = label->description;
  if (field_type) *field_type = label->type;
  return CEED_ERROR_SUCCESS;
}
