// The extension module: the base type of what shares memory, and how it gives its memory away.
// SPDX-License-Identifier: BSD-2-Clause
#include "_exchange.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define POINTER(name) Ceedlike##name##_f64,
#define POINTER_F32(name) Ceedlike##name##_f32,

const Library libraries[2] = {
    [FLOAT64] = {FUNCTIONS(POINTER) & numbers_f64, "float64", "d", "<f8", sizeof(double)},
    [FLOAT32] = {FUNCTIONS(POINTER_F32) & numbers_f32, "float32", "f", "<f4", sizeof(float)},
};
Ceed contexts[2];
PyObject *given[GIVEN_COUNT];
PyTypeObject *exporter_type, *vector_type, *fab_type, *fab_view_type, *bracket_type, *lease_type;

static PyObject *error_classes[CEED_ERROR_ACCESS - CEED_ERROR_UNSUPPORTED + 1];
static PyObject *s_stream, *s_max_version, *s_dl_device, *s_copy, *s_release, *cpu_device;

static const char copied_as_asked[] = "a private copy, as asked";
static const char copied_for_legacy[] =
    "a private copy: the memory is read-only or leased to readers, and a legacy tensor can't say "
    "so";

// ------------------------------------------------------------------------------------------------
// Errors
// ------------------------------------------------------------------------------------------------

Exception PutAside(void) {
  Exception before = {NULL, NULL, NULL};

  if (PyErr_Occurred()) PyErr_Fetch(&before.type, &before.value, &before.trace);
  return before;
}

void ReportException(void) {
  if (PyErr_Occurred()) PyErr_WriteUnraisable(s_release);
}

void Resume(Exception before) {
  ReportException();
  if (before.type) PyErr_Restore(before.type, before.value, before.trace);
}

PyObject *ErrorClass(int code) {
  PyObject *type = NULL;

  if (code >= CEED_ERROR_UNSUPPORTED && code <= CEED_ERROR_ACCESS) {
    type = error_classes[code - CEED_ERROR_UNSUPPORTED];
  }
  return type ? type : PyExc_RuntimeError;
}

static PyObject *RaiseAs(PyObject *type, const Library *lib) {
  const char *text = "";
  PyObject *message;

  lib->GetErrorMessage(NULL, &text);
  message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  if (message) PyErr_SetObject(type, message);
  Py_XDECREF(message);
  return NULL;
}

PyObject *Raise(const Library *lib, int code) { return RaiseAs(ErrorClass(code), lib); }

PyObject *RaiseExport(const Library *lib, int code) {
  bool keeps_class = code == CEED_ERROR_ACCESS || code == CEED_ERROR_INCOMPATIBLE ||
                     code == CEED_ERROR_MAJOR || !given[EXPORT_ERROR];

  return RaiseAs(keeps_class ? ErrorClass(code) : given[EXPORT_ERROR], lib);
}

// ------------------------------------------------------------------------------------------------
// Capsules
// ------------------------------------------------------------------------------------------------

const char versioned_name[] = "dltensor_versioned", legacy_name[] = "dltensor";

/* The memory may be a foreign tensor's, whose deleter may be anybody's code. */
static void DeleteVersioned(DLManagedTensorVersioned *tensor) {
  Exception before = PutAside();

  tensor->deleter(tensor);
  Resume(before);
}

static void DeleteLegacy(DLManagedTensor *tensor) {
  Exception before = PutAside();

  tensor->deleter(tensor);
  Resume(before);
}

static bool IsNamed(PyObject *capsule, const char *known) {
  const char *name = PyCapsule_GetName(capsule);

  return name == known || (name && !strcmp(name, known));
}

static void DropVersioned(PyObject *capsule) {
  if (IsNamed(capsule, versioned_name)) {
    DeleteVersioned(PyCapsule_GetPointer(capsule, versioned_name));
  }
}

static void DropLegacy(PyObject *capsule) {
  if (IsNamed(capsule, legacy_name)) DeleteLegacy(PyCapsule_GetPointer(capsule, legacy_name));
}

PyObject *WrapVersioned(DLManagedTensorVersioned *tensor) {
  PyObject *capsule = PyCapsule_New(tensor, versioned_name, DropVersioned);

  if (!capsule) DeleteVersioned(tensor);
  return capsule;
}

PyObject *WrapLegacy(DLManagedTensor *tensor) {
  PyObject *capsule = PyCapsule_New(tensor, legacy_name, DropLegacy);

  if (!capsule) DeleteLegacy(tensor);
  return capsule;
}

static void DeleteWrapper(DLManagedTensor *wrapper) {
  DLManagedTensorVersioned *inner = wrapper->manager_ctx;

  free(wrapper);
  inner->deleter(inner);
}

PyObject *WrapInLegacy(DLManagedTensorVersioned *inner) {
  DLManagedTensor *wrapper = malloc(sizeof(*wrapper));

  if (!wrapper) {
    inner->deleter(inner);
    return PyErr_NoMemory();
  }
  *wrapper = (DLManagedTensor){inner->dl_tensor, inner, DeleteWrapper};
  return WrapLegacy(wrapper);
}

// ------------------------------------------------------------------------------------------------
// What a consumer asks for
// ------------------------------------------------------------------------------------------------

int ParseLong(PyObject *value, const char *fault, long *number) {
  int overflow;

  if (!PyIndex_Check(value) || PyBool_Check(value)) {
    PyErr_SetString(PyExc_TypeError, fault);
    return -1;
  }
  *number = PyLong_AsLongAndOverflow(value, &overflow);
  if (overflow) *number = overflow > 0 ? LONG_MAX : LONG_MIN;
  return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int ParsePair(PyObject *value, const char *fault, long pair[2]) {
  if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
    PyErr_SetString(PyExc_TypeError, fault);
    return -1;
  }
  return ParseLong(PyTuple_GetItem(value, 0), fault, &pair[0]) ||
                 ParseLong(PyTuple_GetItem(value, 1), fault, &pair[1])
             ? -1
             : 0;
}

static int ParseVersion(PyObject *value, Request *request) {
  long pair[2];

  if (value == Py_None) return 0;
  if (ParsePair(value, "max_version must be None or a tuple of two integers", pair)) return -1;
  request->versioned = pair[0] >= 1;
  return 0;
}

static int ParseCopy(PyObject *value, Request *request) {
  if (value == Py_None) return 0;
  if (!PyBool_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "copy must be True, False or None");
    return -1;
  }
  request->copy = value == Py_True;
  return 0;
}

static int ParseDevice(Exporter *self, PyObject *value, Request *request) {
  int32_t type, id;
  long pair[2];
  int code;

  if (value == Py_None) return 0;
  if (ParsePair(value, "dl_device must be None or a tuple of two integers", pair)) return -1;
  code = self->kind->device(self, self->mem_type, &type, &id);
  if (code) {
    RaiseExport(self->lib, code);
    return -1;
  }
  if (pair[0] == type && pair[1] == id) return 0;
  request->relabel = pair[0] == DLPACK_CPU && pair[1] == 0;
  if (request->relabel) return 0;
  PyErr_Format(given[EXPORT_ERROR],
               "dl_device=(%ld, %ld) can't be served: this %s's memory is on (%d, %d)", pair[0],
               pair[1], self->kind->noun, (int)type, (int)id);
  return -1;
}

static int ParseOne(Exporter *self, PyObject *name, PyObject *value, Request *request) {
  if (SameName(name, s_max_version)) return ParseVersion(value, request);
  if (SameName(name, s_copy)) return ParseCopy(value, request);
  if (SameName(name, s_dl_device)) return ParseDevice(self, value, request);
  if (SameName(name, s_stream)) return ParseStream(self, value, request);
  PyErr_Format(PyExc_TypeError, "__dlpack__() got an unexpected keyword argument '%U'", name);
  return -1;
}

/* A consumer passes the same constant each time: the last tuple is known again by its address. */
static PyObject *last_version;
static bool last_versioned;

static void RememberVersion(PyObject *value, bool versioned) {
  PyObject *old = last_version;

  if (!PyTuple_CheckExact(value)) return;
  Py_INCREF(value);
  last_version = value;
  last_versioned = versioned;
  Py_XDECREF(old);
}

static int ParseRequest(Exporter *self, PyObject *const *args, PyObject *names, Request *request) {
  Py_ssize_t count = PyTuple_Size(names);

  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *name = PyTuple_GetItem(names, i), *value = args[i];
    if (name == s_max_version && value == last_version) {
      request->versioned = last_versioned;
      continue;
    }
    if (value == Py_None && (name == s_dl_device || name == s_copy || name == s_stream)) continue;
    if (ParseOne(self, name, value, request)) return -1;
    if (name == s_max_version) RememberVersion(value, request->versioned);
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------
// Exports
// ------------------------------------------------------------------------------------------------

static PyObject *Export(Exporter *self, const Request *request,
                        PyObject *(*raise)(const Library *, int)) {
  const Library *lib = self->lib;
  const char *reason = request->copy == 1 ? copied_as_asked : self->kind->shares;
  CeedExportMode mode = request->copy == 1 ? CEED_EXPORT_COPY : request->mode;
  DLManagedTensorVersioned *tensor;
  int code = ExportAs(self, mode, request, &tensor);

  if (!code && !request->versioned && (tensor->flags & DLPACK_FLAG_READ_ONLY)) {
    tensor->deleter(tensor);
    if (request->copy == 0) {
      PyErr_SetString(given[COPY_ERROR],
                      "copy=False, but this memory is read-only or leased to readers and a legacy "
                      "tensor can't say so: ask with max_version=(1, 0), or let it copy");
      return NULL;
    }
    reason = copied_for_legacy;
    code = ExportAs(self, CEED_EXPORT_COPY, request, &tensor);
  }
  if (code) return raise(lib, code);
  if (request->relabel) tensor->dl_tensor.device = (DLDevice){DLPACK_CPU, 0};
  RecordExchange(self, reason == self->kind->shares, reason);
  return request->versioned ? WrapVersioned(tensor) : WrapInLegacy(tensor);
}

PyDoc_STRVAR(
    dlpack_doc,
    "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
    "Return a DLPack capsule that shares the memory, which lives as long as the capsule's "
    "tensor.\n\n"
    "Without max_version=(1, 0) or later it is a legacy tensor; read-only or leased memory is "
    "then\n"
    "a private copy, or a BufferError where copy is False. Raises BufferError while the memory is\n"
    "in use or when there are no values yet.");

static PyObject *ExportVersioned(Exporter *self) {
  DLManagedTensorVersioned *tensor;
  int code = Share(self, CEED_MEM_HOST, &tensor);

  if (__builtin_expect(code, 0)) return RaiseExport(self->lib, code);
  RecordExchange(self, true, self->kind->shares);
  return WrapVersioned(tensor);
}

static PyObject *ExportLegacy(Exporter *self, const Request *request) {
  DLManagedTensor *tensor;

  if (!self->kind->share_legacy || self->kind->share_legacy(self, CEED_MEM_HOST, &tensor)) {
    return Export(self, request, RaiseExport); /* which knows when to copy */
  }
  RecordExchange(self, true, self->kind->shares);
  return WrapLegacy(tensor);
}

static const char copied_to_host[] =
    "copy=False, but this memory is a device's: dl_device=(1, 0) is a copy";

/* Of a device, whose host memory is no more than a copy to the consumer. */
static PyObject *ExportFromDevice(Exporter *self, Request *request) {
  if (request->relabel && request->copy == 0) {
    PyErr_SetString(given[COPY_ERROR], copied_to_host);
    return NULL;
  }
  if (request->relabel) {
    request->mem_type = CEED_MEM_HOST;
    request->copy = 1;
  } else if (OrderExport(self, request)) {
    return NULL;
  }
  return Export(self, request, RaiseExport);
}

static PyObject *DLPackMethod(PyObject *object, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *names) {
  Exporter *self = (Exporter *)object;
  Request request = {self->mem_type, CEED_EXPORT_SHARED, 1, self->shape, .copy = -1};

  if (nargs) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__() takes keyword arguments only");
    return NULL;
  }
  if (names && ParseRequest(self, args, names, &request)) return NULL;
  if (self->mem_type == CEED_MEM_DEVICE) return ExportFromDevice(self, &request);
  if (request.copy == 1 || request.relabel) return Export(self, &request, RaiseExport);
  return request.versioned ? ExportVersioned(self) : ExportLegacy(self, &request);
}

PyDoc_STRVAR(device_doc,
             "__dlpack_device__($self, /)\n--\n\n"
             "Return the DLPack device of the memory as a tuple (type, id); (1, 0) is the host.");

static PyObject *DeviceMethod(PyObject *object, PyObject *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;
  int32_t type, id;
  int code = self->kind->device(self, self->mem_type, &type, &id);

  if (code) return RaiseExport(self->lib, code);
  if (type != DLPACK_CPU || id) return Py_BuildValue("(ii)", (int)type, (int)id);
  Py_INCREF(cpu_device);
  return cpu_device;
}

static int ParseMode(const char *name, CeedExportMode *mode) {
  static const char *const names[] = {"shared", "read", "write"};

  for (int i = CEED_EXPORT_SHARED; i <= CEED_EXPORT_WRITE; i++) {
    if (!strcmp(name, names[i])) {
      *mode = (CeedExportMode)i;
      return 0;
    }
  }
  PyErr_Format(PyExc_ValueError, "mode must be 'shared', 'read' or 'write', not '%s'", name);
  return -1;
}

static int ParseMemType(PyObject *value, CeedMemType *mem_type) {
  long number;

  if (ParseLong(value, "mem_type must be None, MEM_HOST or MEM_DEVICE", &number)) return -1;
  if (number < INT_MIN || number > INT_MAX) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE), "%R is no memory type", value);
    return -1;
  }
  *mem_type = (CeedMemType)number;
  return 0;
}

static int ParseShape(PyObject *value, int64_t shape[DLPACK_MAX_NDIM], CeedInt *ndim) {
  PyObject *axes = PyIndex_Check(value) ? PyTuple_Pack(1, value) : PySequence_Tuple(value);
  Py_ssize_t count = axes ? PyTuple_Size(axes) : 0;

  if (count > DLPACK_MAX_NDIM) {
    PyErr_Format(PyExc_ValueError, "shape has %zd axes, DLPack tensors have at most %d here", count,
                 DLPACK_MAX_NDIM);
  }
  for (Py_ssize_t i = 0; !PyErr_Occurred() && i < count; i++) {
    shape[i] = PyNumber_AsSsize_t(PyTuple_GetItem(axes, i), PyExc_OverflowError);
  }
  Py_XDECREF(axes);
  *ndim = (CeedInt)count;
  return PyErr_Occurred() ? -1 : 0;
}

static int CheckMode(const Request *request) {
  if (request->mode == CEED_EXPORT_SHARED) return 0;
  if (request->copy == 1) {
    PyErr_SetString(PyExc_ValueError, "a copy is nobody else's: mode must be 'shared'");
  } else if (!request->versioned) {
    PyErr_SetString(given[EXPORT_ERROR],
                    "a legacy tensor can't say how it is meant: ask with max_version=(1, 0)");
  }
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject *RefuseShape(const Exporter *self) {
  PyErr_Format(PyExc_TypeError, "shape is for vectors: a %s has the axes of its box",
               self->kind->noun);
  return NULL;
}

PyDoc_STRVAR(
    to_dlpack_doc,
    "to_dlpack($self, mem_type=None, *, shape=None, mode='shared', copy=None,\n"
    "          max_version=None)\n--\n\n"
    "Return a DLPack capsule of the memory; of a vector with a shape if one is given (C order, "
    "from\n"
    "the first entry on).\n\n"
    "mode 'shared': both sides see each other's writes; 'read': nobody writes until the tensor is\n"
    "released; 'write': nobody else reads or writes until then; the last two need\n"
    "max_version=(1, 0). copy=True: a private copy. Raises CeedAccessError while the memory is in\n"
    "use, CeedDimensionError for a shape that reaches outside.\n\n"
    ">>> capsule = pyceedlike.from_dlpack(np.arange(6.0)).to_dlpack(shape=(2, 3))\n");

static PyObject *ToDLPackMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"mem_type", "shape", "mode", "copy", "max_version", NULL};
  Exporter *self = (Exporter *)object;
  Request request = {self->mem_type, CEED_EXPORT_SHARED, 1, self->shape, .copy = -1};
  PyObject *mem_type = Py_None, *shape = Py_None, *copy = Py_None, *version = Py_None;
  const char *mode = "shared";
  int64_t axes[DLPACK_MAX_NDIM];

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$OsOO:to_dlpack", names, &mem_type, &shape,
                                   &mode, &copy, &version)) {
    return NULL;
  }
  if ((mem_type != Py_None && ParseMemType(mem_type, &request.mem_type)) ||
      ParseMode(mode, &request.mode) || ParseCopy(copy, &request) ||
      ParseVersion(version, &request) || CheckMode(&request)) {
    return NULL;
  }
  if (shape != Py_None) {
    if (self->kind != &vector_kind) return RefuseShape(self);
    if (ParseShape(shape, axes, &request.ndim)) return NULL;
    request.shape = axes;
  }
  if (request.mem_type == CEED_MEM_DEVICE && HasDevice(self->lib, self->ceed) &&
      OrderExport(self, &request)) {
    return NULL;
  }
  return Export(self, &request, Raise);
}

// ------------------------------------------------------------------------------------------------
// Texts that the library prints
// ------------------------------------------------------------------------------------------------

FILE *PrintedOpen(Printed *printed) {
  *printed = (Printed){NULL, 0, NULL};
  printed->stream = open_memstream(&printed->text, &printed->size);
  if (!printed->stream) PyErr_NoMemory();
  return printed->stream;
}

PyObject *PrintedClose(Printed *printed, const Library *lib, int code) {
  PyObject *text = NULL;

  if (fclose(printed->stream) && !code) {
    PyErr_NoMemory();
  } else if (code) {
    Raise(lib, code);
  } else {
    text = PyUnicode_DecodeUTF8(printed->text, (Py_ssize_t)printed->size, "replace");
  }
  free(printed->text);
  return text;
}

static PyObject *ViewCeed(PyObject *Py_UNUSED(module), PyObject *args) {
  unsigned long long address;
  int single;
  Printed printed;

  if (!PyArg_ParseTuple(args, "Kp", &address, &single) || !PrintedOpen(&printed)) return NULL;
  return PrintedClose(&printed, &libraries[single],
                      libraries[single].View((Ceed)(uintptr_t)address, printed.stream));
}

PyDoc_STRVAR(describe_doc,
             "Return what an unused DLPack capsule says of its tensor, which it keeps.");

static PyObject *Describe(PyObject *Py_UNUSED(module), PyObject *capsule) {
  bool versioned = PyCapsule_IsValid(capsule, versioned_name);
  const Library *lib = &libraries[FLOAT64];
  Printed printed;
  int code;

  if (!versioned && !PyCapsule_IsValid(capsule, legacy_name)) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE), "%R is no DLPack capsule, or a used one",
                 capsule);
    return NULL;
  }
  if (!PrintedOpen(&printed)) return NULL;
  code = versioned ? lib->DLPackViewVersioned(PyCapsule_GetPointer(capsule, versioned_name),
                                              printed.stream)
                   : lib->DLPackView(PyCapsule_GetPointer(capsule, legacy_name), printed.stream);
  return PrintedClose(&printed, lib, code);
}

// ------------------------------------------------------------------------------------------------
// Making and releasing
// ------------------------------------------------------------------------------------------------

PyObject *Allocate(PyTypeObject *type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);

  return allocate(type, 0);
}

/* Others see it from here on, before it is filled: collections, and the finalizers of a subclass
   when what should fill it fails. */
Exporter *AllocateExporter(PyTypeObject *type, const Kind *kind) {
  Exporter *self = (Exporter *)Allocate(type);

  if (!self) return NULL;
  self->lib = &libraries[FLOAT64];
  self->kind = kind;
  return self;
}

void Release(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

  release(object);
  Py_DECREF(type);
}

static PyObject *ExporterNew(PyTypeObject *type, PyObject *Py_UNUSED(args),
                             PyObject *Py_UNUSED(keywords)) {
  PyErr_Format(PyExc_TypeError,
               "%R is not called: vectors are made by Ceed.Vector(n), from_dlpack(x) and "
               "Vector.from_handle(address), fabs by Ceed.Fab(box), Fab.from_dlpack(x, lo=lo) and "
               "Fab.from_handle(address)",
               type);
  return NULL;
}

static void ExporterDealloc(PyObject *object) {
  Exporter *self = (Exporter *)object;
  Exception before = PutAside();
  int code;

  for (int i = CEED_MEM_HOST; i <= CEED_MEM_DEVICE; i++) {
    if (self->pin[i]) self->pin[i]->deleter(self->pin[i]);
  }
  code = self->kind->destroy(self);
  if (code) Raise(self->lib, code);
  Resume(before);
  Py_XDECREF(self->detail);
  Release(object);
}

void SetCeed(Exporter *self, Ceed ceed) {
  self->ceed = ceed;
  self->lib->GetPreferredMemType(ceed, &self->mem_type);
}

/* What CEED_ERROR_HANDLER says is meant for C programs: Python needs the text, and to go on. */
static PyObject *StoreErrors(PyObject *Py_UNUSED(module), PyObject *args) {
  unsigned long long ceed;
  int single, code;

  if (!PyArg_ParseTuple(args, "Kp", &ceed, &single)) return NULL;
  code = libraries[single].SetErrorHandler((Ceed)(uintptr_t)ceed, libraries[single].ErrorStore);
  if (code) return Raise(&libraries[single], code);
  Py_RETURN_NONE;
}

int ParseAddress(PyObject *object, uintptr_t *address) {
  PyObject *number = PyNumber_Index(object);

  if (!number) return -1;
  *address = (uintptr_t)PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (!PyErr_Occurred()) return 0;
  PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE), "%R is no address: it is not in 0..2**64-1",
               object);
  return -1;
}

/* Whether a magic word may be looked for here. The kernel reads it, as it knows what is mapped and
   for whom; where it must not, there is no better way than to look. */
static bool IsReadable(uintptr_t address) {
  uint64_t word;
  struct iovec here = {&word, sizeof(word)}, there = {(void *)address, sizeof(word)};

  if (address % sizeof(word)) return false;
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof(word) || errno == EPERM ||
         errno == ENOSYS;
}

const Library *FindObject(PyObject *address, Refer refer, void **object) {
  uintptr_t place;

  if (ParseAddress(address, &place)) return NULL;
  if (place && !IsReadable(place)) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "%R is no address of an object of this library: no object can be there", address);
    return NULL;
  }
  for (int i = FLOAT64; i <= FLOAT32; i++) {
    int code = refer(&libraries[i], (void *)place, object);
    if (!code) return &libraries[i];
    if (code != CEED_ERROR_INCOMPATIBLE) {
      Raise(&libraries[i], code);
      return NULL;
    }
  }
  Raise(&libraries[FLOAT64], CEED_ERROR_INCOMPATIBLE);
  return NULL;
}

// ------------------------------------------------------------------------------------------------
// Attributes
// ------------------------------------------------------------------------------------------------

static PyObject *GetHandle(PyObject *object, void *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;

  return PyLong_FromVoidPtr(self->vec ? (void *)self->vec : (void *)self->fab);
}

static PyObject *GetScalar(PyObject *object, void *Py_UNUSED(unused)) {
  return PyUnicode_FromString(((Exporter *)object)->lib->scalar);
}

static PyObject *GetLibrary(PyObject *object, void *Py_UNUSED(unused)) {
  bool is_single = ((Exporter *)object)->lib == &libraries[FLOAT32];

  return Py_NewRef(given[is_single ? LIBRARY_FLOAT32 : LIBRARY_FLOAT64]);
}

static PyObject *GetExchange(PyObject *object, void *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;
  PyObject *shared = self->shared ? Py_True : Py_False;

  if (!self->reason) {
    return PyObject_CallFunction(given[EXCHANGE_TYPE], "Os", Py_False, "nothing was exchanged yet");
  }
  if (!self->detail) {
    return PyObject_CallFunction(given[EXCHANGE_TYPE], "Os", shared, self->reason);
  }
  return PyObject_CallFunction(given[EXCHANGE_TYPE], "ON", shared,
                               PyUnicode_FromFormat("%s: %U", self->reason, self->detail));
}

/* _note_copy(why): that the last exchange was a copy, which somebody else has made. */
static PyObject *NoteCopyMethod(PyObject *object, PyObject *args) {
  PyObject *why;

  if (!PyArg_ParseTuple(args, "U", &why)) return NULL;
  RecordCopy((Exporter *)object, why);
  Py_RETURN_NONE;
}

static PyMethodDef exporter_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))DLPackMethod, METH_FASTCALL | METH_KEYWORDS,
     dlpack_doc},
    {"__dlpack_device__", DeviceMethod, METH_NOARGS, device_doc},
    {"to_dlpack", (PyCFunction)(void (*)(void))ToDLPackMethod, METH_VARARGS | METH_KEYWORDS,
     to_dlpack_doc},
    {"_lease", LeaseMethod, METH_VARARGS, NULL},
    {"_note_copy", NoteCopyMethod, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef exporter_attributes[] = {
    {"handle", GetHandle, NULL, "The address of the object, for C code of this process.", NULL},
    {"scalar", GetScalar, NULL, "The precision: 'float64' or 'float32'.", NULL},
    {"_library", GetLibrary, NULL, NULL, NULL},
    {"exchange", GetExchange, NULL, "Whether the last import or export shared memory, and why.",
     NULL},
    {"__array_interface__", GetArrayInterface, NULL,
     "The array interface; reading it keeps the memory in place for the object's life.", NULL},
    {"__cuda_array_interface__", GetCudaInterface, NULL,
     "The array interface of CUDA, on its devices only; reading it keeps the memory in place.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot exporter_slots[] = {
    {Py_tp_new, ExporterNew},
    {Py_tp_dealloc, ExporterDealloc},
    {Py_tp_methods, exporter_methods},
    {Py_tp_getset, exporter_attributes},
    {Py_bf_getbuffer, GetBuffer},
    {Py_bf_releasebuffer, ReleaseBuffer},
    {0, NULL},
};

static PyType_Spec exporter_spec = {"pyceedlike._exchange.Exporter", sizeof(Exporter), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, exporter_slots};

// ------------------------------------------------------------------------------------------------
// The module
// ------------------------------------------------------------------------------------------------

/* The old one may run code when it goes, which must find the new one. */
static void Replace(PyObject **place, PyObject *object) {
  PyObject *old = *place;

  Py_INCREF(object);
  *place = object;
  Py_XDECREF(old);
}

static int CheckVector(PyTypeObject *type) {
  if (PyType_IsSubtype(type, vector_type)) return 0;
  PyErr_Format(PyExc_TypeError, "%R is no subclass of %R", (PyObject *)type,
               (PyObject *)vector_type);
  return -1;
}

static int CheckError(PyObject *type) {
  if (PyExceptionClass_Check(type)) return 0;
  PyErr_Format(PyExc_TypeError, "%R is no class of exceptions", type);
  return -1;
}

static int SetupErrors(PyObject *classes) {
  for (int code = CEED_ERROR_UNSUPPORTED; code <= CEED_ERROR_ACCESS; code++) {
    PyObject *number = PyLong_FromLong(code);
    PyObject *type = number ? PyDict_GetItemWithError(classes, number) : NULL;
    Py_XDECREF(number);
    if (PyErr_Occurred() || (type && CheckError(type))) return -1;
    if (type) Replace(&error_classes[code - CEED_ERROR_UNSUPPORTED], type);
  }
  return 0;
}

PyDoc_STRVAR(setup_doc,
             "Receive what stands in Python: the exception of each code, and by position what "
             "_exchange.h lists.");

static PyObject *Setup(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *classes, *objects[GIVEN_COUNT];

  if (!PyArg_ParseTuple(args, "O!OO!O!OOOOO:setup", &PyDict_Type, &classes, &objects[EXCHANGE_TYPE],
                        &PyType_Type, &objects[VECTOR_TYPE], &PyType_Type, &objects[CEED_TYPE],
                        &objects[FALLBACK], &objects[COPY_ERROR], &objects[EXPORT_ERROR],
                        &objects[LIBRARY_FLOAT64], &objects[LIBRARY_FLOAT32]) ||
      CheckVector((PyTypeObject *)objects[VECTOR_TYPE]) || CheckError(objects[COPY_ERROR]) ||
      CheckError(objects[EXPORT_ERROR]) || SetupErrors(classes)) {
    return NULL;
  }
  for (int i = 0; i < GIVEN_COUNT; i++) Replace(&given[i], objects[i]);
  Py_RETURN_NONE;
}

/* What JAX registers: a capsule without a name around a function of C, for each stage. */
static PyObject *XLAHandlers(PyObject *Py_UNUSED(module), PyObject *is_single) {
  const Library *lib = &libraries[is_single == Py_True ? FLOAT32 : FLOAT64];
  PyObject *instantiate = PyCapsule_New((void *)(uintptr_t)lib->XLAInstantiate, NULL, NULL);
  PyObject *execute = PyCapsule_New((void *)(uintptr_t)lib->XLACall, NULL, NULL);

  return Py_BuildValue("{sNsN}", "instantiate", instantiate, "execute", execute);
}

static PyMethodDef module_functions[] = {
    {"setup", Setup, METH_VARARGS, setup_doc},
    {"create", CreateVector, METH_VARARGS, NULL},
    {"store_errors", StoreErrors, METH_VARARGS, NULL},
    {"list_fabs", ListFabs, METH_VARARGS, NULL},
    {"refer_to_multifab", ReferToMultiFab, METH_O, NULL},
    {"view_ceed", ViewCeed, METH_VARARGS, NULL},
    {"xla_handlers", XLAHandlers, METH_O, NULL},
    {"describe", Describe, METH_O, describe_doc},
    {"examine", Examine, METH_O, examine_doc},
    {"borrow_buffer", BorrowBuffer, METH_O, borrow_buffer_doc},
    {"borrow_address", BorrowAddress, METH_VARARGS, borrow_address_doc},
    {"adopt", AdoptBuffer, METH_VARARGS, adopt_doc},
    {NULL, NULL, 0, NULL},
};

#define STRING(number) #number
#define DOTTED(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)
#define VERSION DOTTED(CEED_VERSION_MAJOR, CEED_VERSION_MINOR, CEED_VERSION_PATCH)

/* Another library of this name may have been loaded before ours. */
static int CheckVersion(const Library *lib) {
  int major, minor, patch;
  bool release;

  lib->GetVersion(&major, &minor, &patch, &release);
  if (major == CEED_VERSION_MAJOR && minor == CEED_VERSION_MINOR && patch == CEED_VERSION_PATCH) {
    return 0;
  }
  PyErr_Format(
      PyExc_ImportError,
      "the loaded libceedlike (%s) is version %d.%d.%d, pyceedlike was built for %d.%d.%d; "
      "import pyceedlike before what loads another one",
      lib->scalar, major, minor, patch, CEED_VERSION_MAJOR, CEED_VERSION_MINOR, CEED_VERSION_PATCH);
  return -1;
}

static int InitLibraries(void) {
  for (int i = FLOAT64; i <= FLOAT32; i++) {
    int code;
    if (CheckVersion(&libraries[i])) return -1;
    if (contexts[i]) continue;
    code = libraries[i].Init("/cpu/self", &contexts[i]);
    if (!code) code = libraries[i].SetErrorHandler(contexts[i], libraries[i].ErrorStore);
    if (code) {
      Raise(&libraries[i], code);
      return -1;
    }
  }
  return 0;
}

static int InitType(PyTypeObject **type, PyType_Spec *spec, PyTypeObject *base) {
  if (!*type) *type = (PyTypeObject *)PyType_FromSpecWithBases(spec, (PyObject *)base);
  return *type ? 0 : -1;
}

/* Once more after each import: the last one may have failed halfway. */
static int InitExporter(void) {
  PyObject *capsule;
  int code;

  if (InitType(&exporter_type, &exporter_spec, NULL)) return -1;
  capsule = PyCapsule_New(&exchange_api, "dlpack_exchange_api", NULL);
  if (!capsule) return -1;
  code = PyObject_SetAttrString((PyObject *)exporter_type, "__dlpack_c_exchange_api__", capsule);
  Py_DECREF(capsule);
  return code;
}

static int InitNames(void) {
  return Keep(&s_stream, PyUnicode_InternFromString("stream")) ||
                 Keep(&s_max_version, PyUnicode_InternFromString("max_version")) ||
                 Keep(&s_dl_device, PyUnicode_InternFromString("dl_device")) ||
                 Keep(&s_copy, PyUnicode_InternFromString("copy")) ||
                 Keep(&s_release, PyUnicode_FromString("the release of exchanged memory")) ||
                 Keep(&cpu_device, Py_BuildValue("(ii)", DLPACK_CPU, 0))
             ? -1
             : 0;
}

/* The types and what they know of are the process's: one interpreter has them. */
static int Execute(PyObject *module) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "pyceedlike works in the main interpreter only");
    return -1;
  }
  if (InitNames() || InitImports() || InitLibraries() || InitExporter() ||
      InitType(&vector_type, &vector_spec, exporter_type) ||
      InitType(&fab_type, &fab_spec, exporter_type) ||
      InitType(&fab_view_type, &fab_view_spec, exporter_type) ||
      InitType(&bracket_type, &bracket_spec, NULL) || InitType(&lease_type, &lease_spec, NULL)) {
    return -1;
  }
  if (PyModule_AddObjectRef(module, "Exporter", (PyObject *)exporter_type) ||
      PyModule_AddObjectRef(module, "VectorBase", (PyObject *)vector_type) ||
      PyModule_AddObjectRef(module, "FabBase", (PyObject *)fab_type) ||
      PyModule_AddObjectRef(module, "FabViewBase", (PyObject *)fab_view_type)) {
    return -1;
  }
  return PyModule_AddStringConstant(module, "version", VERSION);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)Execute}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    "_exchange",
    "The border between Python objects and DLPack tensors; see vector.py.",
    0,
    module_functions,
    module_slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__exchange(void) { return PyModuleDef_Init(&module_definition); }
