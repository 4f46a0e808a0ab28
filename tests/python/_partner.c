// A partner library made for the tests: tensors of any metadata, honest or not, and a consumer
// that calls deleters from where a test wants it. It declares the structs of DLPack 1.3 itself.
// SPDX-License-Identifier: BSD-2-Clause
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  uint32_t major, minor;
} Version;

typedef struct {
  void *data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct Legacy {
  Tensor tensor;
  void *context;
  void (*deleter)(struct Legacy *);
} Legacy;

typedef struct Versioned {
  Version version;
  void *context;
  void (*deleter)(struct Versioned *);
  uint64_t flags;
  Tensor tensor;
} Versioned;

typedef struct Header {
  Version version;
  struct Header *previous;
} Header;

typedef void (*SetError)(void *context, const char *kind, const char *message);

typedef struct {
  Header header;
  int (*allocate)(Tensor *, Versioned **, void *, SetError);
  int (*from_object)(void *, Versioned **);
  int (*to_object)(Versioned *, void **);
  int (*borrow)(void *, Tensor *);
  int (*stream)(int32_t, int32_t, void **);
} Exchange;

enum { MAX_NDIM = 128 };

static const char *const unused_names[] = {"dltensor", "dltensor_versioned"};
static const char *const used_names[] = {"used_dltensor", "used_dltensor_versioned"};

static PyTypeObject *fake_type, *sink_type, *buffer_type;

static unsigned long ThisThread(void) { return (unsigned long)(uintptr_t)pthread_self(); }

// ------------------------------------------------------------------------------------------------
// Fake: a tensor of any metadata. Its deleter only takes notes; its memory is never freed, so that
// a second call of the deleter is seen instead of crashing.
// ------------------------------------------------------------------------------------------------

typedef struct {
  union {
    Legacy legacy;
    Versioned versioned;
  } as;
  int64_t shape[MAX_NDIM], strides[MAX_NDIM];
} Block;

typedef struct {
  Block block, original;  // what the consumer sees, and what it was
  bool is_versioned, raises;
  long calls, calls_with_gil;
  unsigned long thread;
} Notes;

typedef struct {
  PyObject_HEAD
  Notes *notes;
} Fake;

static void LeaveException(void) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyErr_SetString(PyExc_RuntimeError, "left by a deleter");
  PyGILState_Release(state);
}

static void TakeNote(void *tensor) {
  Notes *notes = tensor;  // the tensor is its first member
  if (notes->raises) LeaveException();
  __atomic_store_n(&notes->thread, ThisThread(), __ATOMIC_SEQ_CST);
  if (PyGILState_Check()) __atomic_add_fetch(&notes->calls_with_gil, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&notes->calls, 1, __ATOMIC_SEQ_CST);
}
static void DeleteLegacy(Legacy *tensor) { TakeNote(tensor); }
static void DeleteVersioned(Versioned *tensor) { TakeNote(tensor); }

static int Numbers(PyObject *sequence, int64_t *out) {
  PyObject *items = PySequence_Fast(sequence, "a sequence of integers");
  if (!items) return -1;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  if (count > MAX_NDIM) {
    PyErr_SetString(PyExc_ValueError, "too many axes for the tests");
    count = -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    out[i] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(items, i));
    if (out[i] == -1 && PyErr_Occurred()) count = -1;
  }
  Py_DECREF(items);
  return (int)count;
}

/// Fake(data, shape, *, strides=None, dtype=(2, 64, 1), device=(1, 0), byte_offset=0, version=None,
/// flags=0, ndim=None, shape_pointer=None, deleter=True, raises=False): version None is the legacy
/// kind; shape None is a NULL pointer; ndim and shape_pointer lie about the shape; a deleter that
/// raises leaves an exception behind.
static PyObject *FakeNew(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"data",        "shape",   "strides", "dtype", "device",
                          "byte_offset", "version", "flags",   "ndim",  "shape_pointer",
                          "deleter",     "raises",  NULL};
  unsigned long long data, byte_offset = 0, flags = 0;
  PyObject *shape = Py_None, *strides = Py_None, *version = Py_None, *ndim = Py_None;
  PyObject *shape_pointer = Py_None;
  int code = 2, bits = 64, lanes = 1, device_type = 1, device_id = 0, deleter = 1, axes = 0;
  int raises = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KO|$O(iii)(ii)KOKOOpp", names, &data, &shape,
                                   &strides, &code, &bits, &lanes, &device_type, &device_id,
                                   &byte_offset, &version, &flags, &ndim, &shape_pointer, &deleter,
                                   &raises)) {
    return NULL;
  }
  Notes *notes = calloc(1, sizeof *notes);
  Fake *self = (Fake *)type->tp_alloc(type, 0);
  if (!notes || !self) return PyErr_NoMemory();
  self->notes = notes;
  notes->is_versioned = version != Py_None;
  notes->raises = raises;
  Block *block = &notes->block;
  Tensor *tensor = notes->is_versioned ? &block->as.versioned.tensor : &block->as.legacy.tensor;
  if (notes->is_versioned) {
    block->as.versioned.deleter = deleter ? DeleteVersioned : NULL;
    block->as.versioned.flags = flags;
    if (!PyArg_ParseTuple(version, "II", &block->as.versioned.version.major,
                          &block->as.versioned.version.minor)) {
      return NULL;
    }
  } else {
    block->as.legacy.deleter = deleter ? DeleteLegacy : NULL;
  }
  if (shape != Py_None) {
    axes = Numbers(shape, block->shape);
    if (axes < 0) return NULL;
    tensor->shape = block->shape;
  }
  if (strides != Py_None) {
    if (Numbers(strides, block->strides) < 0) return NULL;
    tensor->strides = block->strides;
  }
  tensor->ndim = ndim == Py_None ? axes : (int32_t)PyLong_AsLong(ndim);
  if (shape_pointer != Py_None) tensor->shape = PyLong_AsVoidPtr(shape_pointer);
  if (PyErr_Occurred()) return NULL;
  tensor->data = (void *)(uintptr_t)data;
  tensor->device_type = device_type;
  tensor->device_id = device_id;
  tensor->code = (uint8_t)code;
  tensor->bits = (uint8_t)bits;
  tensor->lanes = (uint16_t)lanes;
  tensor->byte_offset = byte_offset;
  notes->original = *block;
  return (PyObject *)self;
}

static void FakeDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

static void DropCapsule(PyObject *capsule) {
  for (int kind = 0; kind < 2; kind++) {
    if (!PyCapsule_IsValid(capsule, unused_names[kind])) continue;
    void *tensor = PyCapsule_GetPointer(capsule, unused_names[kind]);
    if (kind && ((Versioned *)tensor)->deleter) ((Versioned *)tensor)->deleter(tensor);
    if (!kind && ((Legacy *)tensor)->deleter) ((Legacy *)tensor)->deleter(tensor);
  }
}

/// capsule(name=None): a new capsule of the tensor; None is the name that its kind must have.
static PyObject *FakeCapsule(PyObject *self, PyObject *args) {
  const char *name = NULL;
  Notes *notes = ((Fake *)self)->notes;
  if (!PyArg_ParseTuple(args, "|z", &name)) return NULL;
  name = name ? strdup(name) : unused_names[notes->is_versioned];
  return PyCapsule_New(notes, name, DropCapsule);
}

static PyObject *FakeCalls(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(__atomic_load_n(&((Fake *)self)->notes->calls, __ATOMIC_SEQ_CST));
}
static PyObject *FakeCallsWithGil(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((Fake *)self)->notes->calls_with_gil);
}
static PyObject *FakeThread(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLong(((Fake *)self)->notes->thread);
}
static PyObject *FakeIntact(PyObject *self, void *unused) {
  Notes *notes = ((Fake *)self)->notes;
  (void)unused;
  return PyBool_FromLong(!memcmp(&notes->block, &notes->original, sizeof notes->block));
}

static PyMethodDef fake_methods[] = {{"capsule", FakeCapsule, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyGetSetDef fake_getset[] = {
    {"calls", FakeCalls, NULL, "how often the deleter was called", NULL},
    {"calls_with_gil", FakeCallsWithGil, NULL, "how often with the GIL held", NULL},
    {"thread", FakeThread, NULL, "the thread of the last call", NULL},
    {"intact", FakeIntact, NULL, "whether nobody changed the struct, shape or strides", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot fake_slots[] = {{Py_tp_new, FakeNew},
                                   {Py_tp_dealloc, FakeDealloc},
                                   {Py_tp_methods, fake_methods},
                                   {Py_tp_getset, fake_getset},
                                   {0, NULL}};
static PyType_Spec fake_spec = {"_partner.Fake", sizeof(Fake), 0, Py_TPFLAGS_DEFAULT, fake_slots};

// ------------------------------------------------------------------------------------------------
// Sink: a consumer. It takes a tensor out of its capsule and calls the deleter when told to.
// ------------------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD
  void *managed;  // NULL once released
  Tensor *tensor;
  pthread_t thread;
  double delay;
  bool is_versioned, is_running;
} Sink;

static PyObject *SinkMake(PyTypeObject *type, void *managed, bool is_versioned) {
  Sink *self = (Sink *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->managed = managed;
  self->is_versioned = is_versioned;
  self->tensor = is_versioned ? &((Versioned *)managed)->tensor : &((Legacy *)managed)->tensor;
  return (PyObject *)self;
}

/// Sink(capsule): take the tensor, whatever it is, and rename the capsule.
static PyObject *SinkNew(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *capsule;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
  for (int kind = 0; kind < 2; kind++) {
    if (!PyCapsule_IsValid(capsule, unused_names[kind])) continue;
    void *managed = PyCapsule_GetPointer(capsule, unused_names[kind]);
    if (PyCapsule_SetName(capsule, used_names[kind])) return NULL;
    return SinkMake(type, managed, kind);
  }
  PyErr_SetString(PyExc_ValueError, "no capsule of an unused tensor");
  return NULL;
}

static void Release(Sink *self) {
  void *managed = self->managed;
  self->managed = NULL;
  self->tensor = NULL;
  if (!managed) return;
  if (self->is_versioned) {
    ((Versioned *)managed)->deleter(managed);
  } else {
    ((Legacy *)managed)->deleter(managed);
  }
}

static void Join(Sink *self) {
  if (!self->is_running) return;
  self->is_running = false;
  Py_BEGIN_ALLOW_THREADS;
  pthread_join(self->thread, NULL);
  Py_END_ALLOW_THREADS;
}

static void SinkDealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  Join((Sink *)object);
  Release((Sink *)object);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject *SinkRelease(PyObject *self, PyObject *unused) {
  (void)unused;
  Release((Sink *)self);
  Py_RETURN_NONE;
}

static PyObject *SinkReleaseWithoutGil(PyObject *self, PyObject *unused) {
  (void)unused;
  Py_BEGIN_ALLOW_THREADS;
  Release((Sink *)self);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static void *ReleaseInThread(void *object) {
  Sink *self = object;
  struct timespec time = {(time_t)self->delay, (long)((self->delay - (time_t)self->delay) * 1e9)};
  nanosleep(&time, NULL);
  Release(self);
  return NULL;
}

/// release_in_thread(delay=0.0): from a thread that Python does not know; join() waits for it.
static PyObject *SinkReleaseInThread(PyObject *object, PyObject *args) {
  Sink *self = (Sink *)object;
  if (!PyArg_ParseTuple(args, "|d", &self->delay)) return NULL;
  if (pthread_create(&self->thread, NULL, ReleaseInThread, self)) {
    PyErr_SetString(PyExc_OSError, "no thread");
    return NULL;
  }
  self->is_running = true;
  Py_RETURN_NONE;
}

static PyObject *SinkJoin(PyObject *self, PyObject *unused) {
  (void)unused;
  Join((Sink *)self);
  Py_RETURN_NONE;
}

static PyObject *Tuple(const int64_t *numbers, int32_t count) {
  if (!numbers) Py_RETURN_NONE;
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; i++) {
    PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

static PyObject *Describe(const Tensor *tensor) {
  return Py_BuildValue(
      "{sK sK s(ii) si s(iii) sN sN sK}", "data", (unsigned long long)(uintptr_t)tensor->data,
      "address", (unsigned long long)((uintptr_t)tensor->data + tensor->byte_offset), "device",
      tensor->device_type, tensor->device_id, "ndim", tensor->ndim, "dtype", tensor->code,
      tensor->bits, tensor->lanes, "shape", Tuple(tensor->shape, tensor->ndim), "strides",
      Tuple(tensor->strides, tensor->ndim), "byte_offset", (unsigned long long)tensor->byte_offset);
}

/// The fields of the tensor, and those of the managed struct, are attributes. Methods are found
/// first, without a look at a tensor that another thread may be releasing.
static PyObject *SinkGetAttr(PyObject *object, PyObject *name) {
  Sink *self = (Sink *)object;
  PyObject *value = PyObject_GenericGetAttr(object, name), *fields, *extra;
  if (value || !self->tensor || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  PyErr_Clear();
  fields = Describe(self->tensor);
  if (self->is_versioned) {
    Versioned *managed = self->managed;
    extra = Py_BuildValue("{s(II) sK sN sK}", "version", managed->version.major,
                          managed->version.minor, "flags", (unsigned long long)managed->flags,
                          "has_deleter", PyBool_FromLong(managed->deleter != NULL), "struct",
                          (unsigned long long)(uintptr_t)managed);
  } else {
    Legacy *managed = self->managed;
    extra = Py_BuildValue("{sO sO sN sK}", "version", Py_None, "flags", Py_None, "has_deleter",
                          PyBool_FromLong(managed->deleter != NULL), "struct",
                          (unsigned long long)(uintptr_t)managed);
  }
  if (fields && extra && !PyDict_Update(fields, extra)) {
    value = PyDict_GetItemWithError(fields, name);
    if (!value && !PyErr_Occurred()) PyErr_SetObject(PyExc_AttributeError, name);
  }
  Py_XINCREF(value);
  Py_XDECREF(extra);
  Py_XDECREF(fields);
  return value;
}

static char *Entry(const Tensor *tensor, int64_t flat) {
  int64_t offset = 0, compact = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
    int64_t stride = tensor->strides ? tensor->strides[i] : compact;
    offset += flat % tensor->shape[i] * stride;
    flat /= tensor->shape[i];
    compact *= tensor->shape[i];
  }
  return (char *)tensor->data + tensor->byte_offset + offset * (tensor->bits / 8);
}

static bool IsReal(const Tensor *tensor) {
  if (tensor && tensor->code == 2 && (tensor->bits == 32 || tensor->bits == 64)) return true;
  PyErr_SetString(PyExc_ValueError, "released, or not real numbers");
  return false;
}

/// values(): all entries in C order, as a list of floats.
static PyObject *SinkValues(PyObject *self, PyObject *unused) {
  const Tensor *tensor = ((Sink *)self)->tensor;
  int64_t count = 1;
  (void)unused;
  if (!IsReal(tensor)) return NULL;
  for (int32_t i = 0; i < tensor->ndim; i++) count *= tensor->shape[i];
  PyObject *list = PyList_New(count);
  for (int64_t i = 0; list && i < count; i++) {
    const char *entry = Entry(tensor, i);
    PyList_SET_ITEM(
        list, i,
        PyFloat_FromDouble(tensor->bits == 64 ? *(const double *)entry : *(const float *)entry));
  }
  return list;
}

/// write(i, value): change entry i, counted in C order, whatever the flags say.
static PyObject *SinkWrite(PyObject *self, PyObject *args) {
  const Tensor *tensor = ((Sink *)self)->tensor;
  long long i;
  double value;
  if (!PyArg_ParseTuple(args, "Ld", &i, &value) || !IsReal(tensor)) return NULL;
  if (tensor->bits == 64) {
    *(double *)Entry(tensor, i) = value;
  } else {
    *(float *)Entry(tensor, i) = (float)value;
  }
  Py_RETURN_NONE;
}

static PyMethodDef sink_methods[] = {
    {"release", SinkRelease, METH_NOARGS, NULL},
    {"release_without_gil", SinkReleaseWithoutGil, METH_NOARGS, NULL},
    {"release_in_thread", SinkReleaseInThread, METH_VARARGS, NULL},
    {"join", SinkJoin, METH_NOARGS, NULL},
    {"values", SinkValues, METH_NOARGS, NULL},
    {"write", SinkWrite, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot sink_slots[] = {{Py_tp_new, SinkNew},
                                   {Py_tp_dealloc, SinkDealloc},
                                   {Py_tp_getattro, SinkGetAttr},
                                   {Py_tp_methods, sink_methods},
                                   {0, NULL}};
static PyType_Spec sink_spec = {"_partner.Sink", sizeof(Sink), 0, Py_TPFLAGS_DEFAULT, sink_slots};

// ------------------------------------------------------------------------------------------------
// Buffer: an exporter of the buffer protocol that says what it is told, whoever asks for what
// ------------------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD
  Py_buffer view;
  Py_ssize_t shape[MAX_NDIM], strides[MAX_NDIM], suboffsets[MAX_NDIM];
  long held;
} Buffer;

static int Axes(PyObject *sequence, Py_ssize_t *numbers, Py_ssize_t **out) {
  *out = sequence == Py_None ? NULL : numbers;
  return sequence == Py_None || Numbers(sequence, (int64_t *)numbers) >= 0 ? 0 : -1;
}

/// Buffer(address, len, shape, strides, *, suboffsets=None, ndim=1, format="d"): None is NULL.
static PyObject *BufferNew(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"address",    "len",  "shape",  "strides",
                          "suboffsets", "ndim", "format", NULL};
  PyObject *shape, *strides, *suboffsets = Py_None;
  unsigned long long address;
  const char *format = "d";
  Buffer *self = (Buffer *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  Py_buffer *view = &self->view;
  view->ndim = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KnOO|$Ois", names, &address, &view->len, &shape,
                                   &strides, &suboffsets, &view->ndim, &format) ||
      Axes(shape, self->shape, &view->shape) || Axes(strides, self->strides, &view->strides) ||
      Axes(suboffsets, self->suboffsets, &view->suboffsets)) {
    Py_DECREF(self);
    return NULL;
  }
  view->buf = (void *)(uintptr_t)address;
  view->format = strdup(format);
  view->itemsize = *format == 'f' ? sizeof(float) : sizeof(double);
  return (PyObject *)self;
}

static int BufferGet(PyObject *object, Py_buffer *view, int flags) {
  Buffer *self = (Buffer *)object;
  (void)flags;
  *view = self->view;
  view->obj = Py_NewRef(object);
  self->held++;
  return 0;
}

static void BufferRelease(PyObject *object, Py_buffer *view) {
  (void)view;
  ((Buffer *)object)->held--;
}

static PyObject *BufferHeld(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((Buffer *)self)->held);
}

static PyGetSetDef buffer_getset[] = {{"held", BufferHeld, NULL, "how many views live", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot buffer_slots[] = {{Py_tp_new, BufferNew},
                                     {Py_tp_dealloc, FakeDealloc},
                                     {Py_tp_getset, buffer_getset},
                                     {Py_bf_getbuffer, BufferGet},
                                     {Py_bf_releasebuffer, BufferRelease},
                                     {0, NULL}};
static PyType_Spec buffer_spec = {"_partner.Buffer", sizeof(Buffer), 0, Py_TPFLAGS_DEFAULT,
                                  buffer_slots};

// ------------------------------------------------------------------------------------------------
// The exchange API of a type, called as a consumer calls it
// ------------------------------------------------------------------------------------------------

static const Exchange *ExchangeOf(PyObject *type) {
  PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  if (!capsule) return NULL;
  const Exchange *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_DECREF(capsule);
  return api;
}

/// exchange_header(type): (major, minor), whether there is a previous API, and which functions.
static PyObject *ExchangeHeader(PyObject *module, PyObject *type) {
  (void)module;
  const Exchange *api = ExchangeOf(type);
  if (!api) return NULL;
  return Py_BuildValue(
      "(II)N(NNNNN)", api->header.version.major, api->header.version.minor,
      PyBool_FromLong(api->header.previous != NULL), PyBool_FromLong(api->allocate != NULL),
      PyBool_FromLong(api->from_object != NULL), PyBool_FromLong(api->to_object != NULL),
      PyBool_FromLong(api->borrow != NULL), PyBool_FromLong(api->stream != NULL));
}

/// exchange_from(type, object): a Sink of the object's tensor.
static PyObject *ExchangeFrom(PyObject *module, PyObject *args) {
  PyObject *type, *object;
  Versioned *managed = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO", &type, &object)) return NULL;
  const Exchange *api = ExchangeOf(type);
  if (!api) return NULL;
  int code = api->from_object(object, &managed);
  if (!code && !PyErr_Occurred()) return SinkMake(sink_type, managed, true);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an exception");
  return NULL;
}

/// exchange_to(type, fake): an object of that library; the fake is stolen on success only.
static PyObject *ExchangeTo(PyObject *module, PyObject *args) {
  PyObject *type, *fake;
  void *object = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO!", &type, fake_type, &fake)) return NULL;
  const Exchange *api = ExchangeOf(type);
  if (!api) return NULL;
  int code = api->to_object((Versioned *)((Fake *)fake)->notes, &object);
  if (!code && !PyErr_Occurred()) return object;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an exception");
  return NULL;
}

/// exchange_borrow(type, object): the fields of the object's tensor.
static PyObject *ExchangeBorrow(PyObject *module, PyObject *args) {
  PyObject *type, *object;
  Tensor tensor;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO", &type, &object)) return NULL;
  const Exchange *api = ExchangeOf(type);
  if (!api) return NULL;
  memset(&tensor, 0, sizeof tensor);
  if (!api->borrow(object, &tensor)) return Describe(&tensor);
  if (tensor.data || tensor.shape)
    PyErr_SetString(PyExc_SystemError, "failed, and wrote its output");
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "failed without an exception");
  return NULL;
}

typedef struct {
  int calls;
  char kind[64], message[512];
} Complaint;

static void Complain(void *context, const char *kind, const char *message) {
  Complaint *complaint = context;
  complaint->calls++;
  snprintf(complaint->kind, sizeof complaint->kind, "%s", kind);
  snprintf(complaint->message, sizeof complaint->message, "%s", message);
}

/// exchange_allocate(type, shape, dtype, device): a Sink of new memory, asked for without the GIL
/// and with NULL strides; or RuntimeError(calls of SetError, kind, message).
static PyObject *ExchangeAllocate(PyObject *module, PyObject *args) {
  PyObject *type, *shape;
  int code, bits, lanes, failed;
  int64_t lengths[MAX_NDIM];
  Tensor tensor;
  Versioned *managed = NULL;
  Complaint complaint = {0, "", ""};
  (void)module;
  memset(&tensor, 0, sizeof tensor);
  if (!PyArg_ParseTuple(args, "OO(iii)(ii)", &type, &shape, &code, &bits, &lanes,
                        &tensor.device_type, &tensor.device_id)) {
    return NULL;
  }
  const Exchange *api = ExchangeOf(type);
  tensor.ndim = Numbers(shape, lengths);
  if (!api || tensor.ndim < 0) return NULL;
  tensor.shape = lengths;
  tensor.code = (uint8_t)code;
  tensor.bits = (uint8_t)bits;
  tensor.lanes = (uint16_t)lanes;
  Py_BEGIN_ALLOW_THREADS;
  failed = api->allocate(&tensor, &managed, &complaint, Complain);
  Py_END_ALLOW_THREADS;
  if (!failed) return SinkMake(sink_type, managed, true);
  PyObject *what = Py_BuildValue("iss", complaint.calls, complaint.kind, complaint.message);
  PyErr_SetObject(PyExc_RuntimeError, what);
  Py_XDECREF(what);
  return NULL;
}

/// exchange_stream(type, device_type, device_id): the stream, as an integer.
static PyObject *ExchangeStream(PyObject *module, PyObject *args) {
  PyObject *type;
  int device_type, device_id;
  void *stream = (void *)1;
  (void)module;
  if (!PyArg_ParseTuple(args, "Oii", &type, &device_type, &device_id)) return NULL;
  const Exchange *api = ExchangeOf(type);
  if (!api || api->stream(device_type, device_id, &stream)) return NULL;
  return PyLong_FromVoidPtr(stream);
}

// ------------------------------------------------------------------------------------------------
// Capsules and memory
// ------------------------------------------------------------------------------------------------

/// name(capsule): the name it has now.
static PyObject *Name(PyObject *module, PyObject *capsule) {
  (void)module;
  const char *name = PyCapsule_GetName(capsule);
  if (!name && PyErr_Occurred()) return NULL;
  return Py_BuildValue("z", name);
}

/// rename(capsule, name): the name stays allocated.
static PyObject *Rename(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *name;
  (void)module;
  if (!PyArg_ParseTuple(args, "Os", &capsule, &name)) return NULL;
  if (PyCapsule_SetName(capsule, strdup(name))) return NULL;
  Py_RETURN_NONE;
}

/// drop_while_raising(list): with a KeyError pending, drop the one object of the list, which nobody
/// else may hold; return the exception that is pending afterwards, or None.
static PyObject *DropWhileRaising(PyObject *module, PyObject *list) {
  PyObject *object, *type, *value, *traceback, *key;
  (void)module;
  if (!PyList_Check(list) || PyList_GET_SIZE(list) != 1) {
    PyErr_SetString(PyExc_ValueError, "a list of one object");
    return NULL;
  }
  object = Py_NewRef(PyList_GET_ITEM(list, 0));
  if (PyList_SetSlice(list, 0, 1, NULL)) return NULL;
  if (Py_REFCNT(object) != 1) {
    PyErr_SetString(PyExc_ValueError, "somebody else holds the object");
    return NULL;
  }
  key = PyUnicode_FromString("pending");
  PyErr_SetObject(PyExc_KeyError, key);
  Py_DECREF(key);
  Py_DECREF(object);
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  if (!value) Py_RETURN_NONE;
  return value;
}

/// forbidden_page(): the address of memory that nobody may read.
static PyObject *ForbiddenPage(PyObject *module, PyObject *unused) {
  static void *page;
  (void)module;
  (void)unused;
  if (!page) {
    page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (page == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
  return PyLong_FromVoidPtr(page);
}

static PyMethodDef methods[] = {{"exchange_header", ExchangeHeader, METH_O, NULL},
                                {"exchange_from", ExchangeFrom, METH_VARARGS, NULL},
                                {"exchange_to", ExchangeTo, METH_VARARGS, NULL},
                                {"exchange_borrow", ExchangeBorrow, METH_VARARGS, NULL},
                                {"exchange_allocate", ExchangeAllocate, METH_VARARGS, NULL},
                                {"exchange_stream", ExchangeStream, METH_VARARGS, NULL},
                                {"name", Name, METH_O, NULL},
                                {"rename", Rename, METH_VARARGS, NULL},
                                {"drop_while_raising", DropWhileRaising, METH_O, NULL},
                                {"forbidden_page", ForbiddenPage, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_partner", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__partner(void) {
  PyObject *module = PyModule_Create(&definition);
  fake_type = (PyTypeObject *)PyType_FromSpec(&fake_spec);
  sink_type = (PyTypeObject *)PyType_FromSpec(&sink_spec);
  buffer_type = (PyTypeObject *)PyType_FromSpec(&buffer_spec);
  if (!module || !fake_type || !sink_type || !buffer_type || PyModule_AddType(module, fake_type) ||
      PyModule_AddType(module, sink_type) || PyModule_AddType(module, buffer_type)) {
    return NULL;
  }
  return module;
}
