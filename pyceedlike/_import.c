// How memory comes in: capsules are consumed, memory of Python objects is dressed as a tensor.
// SPDX-License-Identifier: BSD-2-Clause
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "_exchange.h"

/* How a fab lies over a tensor. */
typedef struct {
  CeedAxisOrder order;
  CeedInt dim, lo[3], centring;
  CeedGhost ghost;
} Layout;

typedef struct {
  int copy, writable;   /* 1, 0, or -1 for "as it comes" */
  PyObject *device;     /* cpu_device where the caller asks for it, else NULL */
  const Library *lib;   /* NULL: the precision that the tensor has */
  const Layout *layout; /* of a fab; NULL: a vector is wanted */
  Ceed ceed;
} Options;

static const Options as_it_comes = {.copy = -1, .writable = -1};

/* A tensor that is still the producer's. */
typedef struct {
  PyObject *capsule; /* NULL: handed over without one */
  void *tensor;
  bool versioned;
  PyObject *detail; /* why its values are copied in any case, or NULL */
} Incoming;

static PyObject *s_dlpack, *s_ceed, *s_copy, *s_writable, *s_device, *s_handle, *s_scalar,
    *s_is_neg;
static PyObject *no_arguments, *cpu_device, *plain_request, *copy_requests[2];

static const char used_versioned_name[] = "used_dltensor_versioned";
static const char used_legacy_name[] = "used_dltensor";

static const char shares[] = "shares the source's memory";
static const char shares_read_only[] = "shares the source's memory, which is read-only";
static const char shares_legacy[] =
    "shares the source's memory, read-only: a legacy tensor can't say whether it may be written "
    "(from_dlpack(x, writable=True) of Vector or Fab does, for one that is not immutable)";
static const char shares_frozen[] = "shares the source's memory, read-only as asked";
static const char adopts_copy[] = "adopts a copy that the source made";
static const char copied[] = "values copied, as asked";
static const char copied_writable[] = "values copied: the source is read-only and writable=True";
static const char copied_because[] = "values copied";

// ------------------------------------------------------------------------------------------------
// Asking for a capsule
// ------------------------------------------------------------------------------------------------

/* A new dictionary, with one keyword more. */
static PyObject *RequestWith(PyObject *plain, const char *name, PyObject *value) {
  PyObject *request = PyDict_Copy(plain);

  if (request && PyDict_SetItemString(request, name, value)) Py_CLEAR(request);
  return request;
}

/* Producers from before a keyword answer TypeError, and some can't copy; what they could not be
   told is seen to later. */
static bool MayAskForLess(const Options *options) {
  return PyErr_ExceptionMatches(PyExc_TypeError) ||
         (options->copy == 1 && !options->device && PyErr_ExceptionMatches(PyExc_BufferError));
}

/* Ask once more, for less. The first answer is the one that tells what is wrong, unless this one is
   a better reason than that the producer doesn't know the keywords. */
static PyObject *AskAgain(PyObject *method, PyObject *request) {
  Exception first = PutAside();
  PyObject *capsule = PyObject_Call(method, no_arguments, request);

  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Restore(first.type, first.value, first.trace);
    return NULL;
  }
  Py_XDECREF(first.type);
  Py_XDECREF(first.value);
  Py_XDECREF(first.trace);
  return capsule;
}

static PyObject *AskWith(PyObject *method, PyObject *request, const Options *options) {
  PyObject *capsule = PyObject_Call(method, no_arguments, request);

  if (!capsule && request != plain_request && MayAskForLess(options)) {
    capsule = AskAgain(method, plain_request);
  }
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) capsule = AskAgain(method, NULL);
  return capsule;
}

static PyObject *Ask(PyObject *source, PyObject *method, const Options *options) {
  PyObject *request = options->copy < 0 ? plain_request : copy_requests[options->copy];
  bool is_on_device = options->ceed && HasDevice(options->lib, options->ceed);
  PyObject *stream, *capsule = NULL;

  if (options->device) {
    request = RequestWith(request, "dl_device", options->device);
  } else if (!is_on_device) {
    return AskWith(method, request, options);
  } else {
    stream = StreamOfImport(source, options->lib, options->ceed);
    request = stream ? RequestWith(request, "stream", stream) : NULL;
    Py_XDECREF(stream);
  }
  if (request) capsule = AskWith(method, request, options);
  Py_XDECREF(request);
  return capsule;
}

/* What has no __dlpack__ is made a capsule in Python, from the other protocols or from values. */
static int AskOtherwise(PyObject *source, const Options *options, const Library *lib,
                        Incoming *incoming) {
  PyObject *answer = PyObject_CallFunction(given[FALLBACK], "Osi", source, lib ? lib->scalar : NULL,
                                           options->copy != 0);
  PyObject *detail, *stream;

  if (!answer) return -1;
  if (!PyArg_ParseTuple(answer, "OOO", &incoming->capsule, &detail, &stream) ||
      OrderImport(lib, options->ceed, stream)) {
    incoming->capsule = NULL;
    Py_DECREF(answer);
    return -1;
  }
  Py_INCREF(incoming->capsule);
  if (detail != Py_None) {
    Py_INCREF(detail);
    incoming->detail = detail;
  }
  Py_DECREF(answer);
  return 0;
}

static void IncomingDrop(Incoming *incoming) {
  Py_CLEAR(incoming->capsule);
  Py_CLEAR(incoming->detail);
}

/* Whether a type has is_neg(); the last one that has not is known at once. */
static bool MayBeNegated(PyObject *type) {
  static PyObject *plain;

  if (type == plain) return false;
  if (PyObject_HasAttr(type, s_is_neg)) return true;
  Py_INCREF(type);
  Py_XDECREF(plain);
  plain = type;
  return false;
}

/* A tensor of PyTorch may stand for the negative of its memory, which it hands out all the same. */
static int RefuseNegated(PyObject *source) {
  PyObject *answer;
  int negated;

  if (!MayBeNegated((PyObject *)Py_TYPE(source))) return 0;
  answer = PyObject_CallMethodObjArgs(source, s_is_neg, NULL);
  negated = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  if (negated <= 0) return negated;
  PyErr_SetString(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                  "this tensor stands for the negative of its memory, which DLPack can't say: take "
                  "x.resolve_neg()");
  return -1;
}

static int AskFor(PyObject *source, const Options *options, const Library *lib,
                  Incoming *incoming) {
  PyObject *method = PyObject_GetAttr(source, s_dlpack);

  *incoming = (Incoming){NULL, NULL, false, NULL};
  if (method) {
    if (!RefuseNegated(source)) incoming->capsule = Ask(source, method, options);
    Py_DECREF(method);
    if (!incoming->capsule) return -1;
  } else {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    if (AskOtherwise(source, options, lib, incoming)) return -1;
  }
  return 0;
}

static int RefuseCapsule(PyObject *capsule) {
  PyErr_Format(
      PyCapsule_CheckExact(capsule) ? ErrorClass(CEED_ERROR_INCOMPATIBLE) : PyExc_TypeError,
      "__dlpack__ gave %R, which is no DLPack capsule, or one that was consumed before", capsule);
  return -1;
}

/* Take hold of the tensor. No Python code may run in between, nor may a collection, or somebody
   else might consume the capsule meanwhile. */
static int Seize(Incoming *incoming) {
  PyObject *capsule = incoming->capsule;
  const char *name;

  if (!capsule) return 0;
  incoming->versioned = PyCapsule_IsValid(capsule, versioned_name);
  name = incoming->versioned ? versioned_name : legacy_name;
  if (!PyCapsule_IsValid(capsule, name)) return RefuseCapsule(capsule);
  incoming->tensor = PyCapsule_GetPointer(capsule, name);
  return PyCapsule_SetName(capsule, incoming->versioned ? used_versioned_name : used_legacy_name);
}

static void CallDeleter(void *tensor, bool is_versioned) {
  DLManagedTensorVersioned *versioned = tensor;
  DLManagedTensor *legacy = tensor;

  if (is_versioned) {
    if (versioned->deleter) versioned->deleter(versioned);
  } else if (legacy->deleter) {
    legacy->deleter(legacy);
  }
}

/* Make the producer the owner again; an exception is set and stays. */
static void GiveBack(Incoming *incoming) {
  Exception before;

  if (!incoming->capsule) return;
  before = PutAside();
  if (PyCapsule_SetName(incoming->capsule, incoming->versioned ? versioned_name : legacy_name)) {
    PyErr_Clear();
    CallDeleter(incoming->tensor, incoming->versioned);
  }
  Resume(before);
}

// ------------------------------------------------------------------------------------------------
// Looking at a tensor
// ------------------------------------------------------------------------------------------------

/* NULL where the version forbids to look. */
static const DLTensor *Look(const Incoming *incoming) {
  const DLManagedTensorVersioned *versioned = incoming->tensor;

  if (!incoming->versioned) return &((const DLManagedTensor *)incoming->tensor)->dl_tensor;
  return versioned->version.major == DLPACK_MAJOR ? &versioned->dl_tensor : NULL;
}

static bool HasFlag(const Incoming *incoming, uint64_t flag) {
  return incoming->versioned && Look(incoming) &&
         (((const DLManagedTensorVersioned *)incoming->tensor)->flags & flag);
}

static const Library *LibraryOf(const Incoming *incoming) {
  const DLTensor *tensor = Look(incoming);

  return &libraries[tensor && tensor->dtype.code == DLPACK_FLOAT && tensor->dtype.bits == 32];
}

/* Whether other threads should run meanwhile. */
static bool IsLarge(const Incoming *incoming) {
  const DLTensor *tensor = Look(incoming);
  int64_t count = 1;

  if (!tensor || !tensor->shape) return false;
  for (int32_t i = 0; i < tensor->ndim && i < DLPACK_MAX_NDIM; i++) {
    if (tensor->shape[i] <= 0) return false;
    if (tensor->shape[i] > (1 << 16) || (count *= tensor->shape[i]) > (1 << 16)) return true;
  }
  return false;
}

/* Whether the layout stood against adopting, and nothing else. */
static bool CopyHelps(const Incoming *incoming, const Library *lib) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;

  spec.code = DLPACK_FLOAT;
  spec.bits = (int32_t)(8 * lib->item_size);
  spec.lanes = 1;
  if (lib->DLPackCheck(incoming->tensor, incoming->versioned, &spec)) return false;
  spec.contiguous = true;
  spec.alignment = (size_t)lib->item_size;
  return lib->DLPackCheck(incoming->tensor, incoming->versioned, &spec) != CEED_ERROR_SUCCESS;
}

PyObject *Integers(const int64_t *values, int32_t count) {
  PyObject *tuple;

  if (!values) return PyUnicode_FromString("none");
  tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; i++) {
    PyObject *number = PyLong_FromLongLong(values[i]);
    if (!number) {
      Py_CLEAR(tuple);
    } else {
      PyTuple_SetItem(tuple, i, number);
    }
  }
  return tuple;
}

// ------------------------------------------------------------------------------------------------
// Taking
// ------------------------------------------------------------------------------------------------

/* Where it goes: into an object, or into a new one of `ceed` where that is still NULL. */
typedef struct {
  const Library *lib;
  const Layout *layout; /* of a new fab; NULL: it is a vector */
  Ceed ceed;
  CeedVector vec;
  CeedFab fab;
  const char *reason;
  PyObject *detail;
  bool shared;
} Target;

static int TakeIntoVector(Target *target, void *tensor, bool versioned, CeedCopyMode mode) {
  const Library *lib = target->lib;

  return versioned ? lib->VectorTakeFromDLPackVersioned(NULL, target->vec, tensor, mode)
                   : lib->VectorTakeFromDLPack(NULL, target->vec, tensor, mode);
}

static int TakeAsFab(Target *target, void *tensor, bool versioned, CeedCopyMode mode) {
  const Library *lib = target->lib;
  const Layout *layout = target->layout;

  return versioned ? lib->FabCreateFromDLPackVersioned(target->ceed, tensor, layout->order,
                                                       layout->lo, layout->centring, layout->ghost,
                                                       mode, &target->fab)
                   : lib->FabCreateFromDLPack(target->ceed, tensor, layout->order, layout->lo,
                                              layout->centring, layout->ghost, mode, &target->fab);
}

static int TakeAny(Target *target, void *tensor, bool versioned, CeedCopyMode mode) {
  const Library *lib = target->lib;

  if (target->vec) return TakeIntoVector(target, tensor, versioned, mode);
  if (target->layout) return TakeAsFab(target, tensor, versioned, mode);
  return versioned ? lib->VectorCreateFromDLPackVersioned(target->ceed, tensor, mode, &target->vec)
                   : lib->VectorCreateFromDLPack(target->ceed, tensor, mode, &target->vec);
}

/* Where it may last, other threads run meanwhile. */
static int Take(Target *target, void *tensor, bool versioned, CeedCopyMode mode, bool lasts) {
  const Library *lib = target->lib;
  Ceed ceed = target->vec ? lib->VectorReturnCeed(target->vec) : target->ceed;
  PyThreadState *state = Unlock(lasts || HasDevice(lib, ceed));
  int code = TakeAny(target, tensor, versioned, mode);

  Lock(state);
  return code;
}

/* Deleters have run where it was taken, and some leave an exception behind. */
static int Finish(const Library *lib, int code) {
  if (code) {
    Raise(lib, code);
  } else {
    ReportException();
  }
  return code;
}

static PyObject *DescribeLayout(const DLTensor *tensor, const Target *target) {
  PyObject *shape = Integers(tensor->shape, tensor->ndim), *text = NULL;
  PyObject *strides = shape ? Integers(tensor->strides, tensor->ndim) : NULL;
  uintptr_t first = (uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset;
  const char *fault = target->layout
                          ? "has strides that are not positive, or entries that share memory"
                          : "is not C-contiguous";

  if (strides && first % (uintptr_t)target->lib->item_size) {
    text = PyUnicode_FromFormat("its first entry at %p is not aligned to %zd bytes", (void *)first,
                                target->lib->item_size);
  } else if (strides) {
    text = PyUnicode_FromFormat("shape %S with strides %S %s", shape, strides, fault);
  }
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  return text;
}

static int Copy(Incoming *incoming, Target *target, const char *reason) {
  int code =
      Take(target, incoming->tensor, incoming->versioned, CEED_COPY_VALUES, IsLarge(incoming));

  if (Finish(target->lib, code)) return -1;
  target->shared = false;
  target->reason = reason;
  return 0;
}

/* A wrapper that says read-only, over a tensor that can't or doesn't. */
typedef struct {
  DLManagedTensorVersioned outer;
  void *inner;
  bool versioned; /* the inner one */
} ReadOnlyWrapper;

static void DeleteReadOnlyWrapper(DLManagedTensorVersioned *outer) {
  ReadOnlyWrapper *wrapper = outer->manager_ctx;

  CallDeleter(wrapper->inner, wrapper->versioned);
  free(wrapper);
}

static int TakeReadOnly(Incoming *incoming, Target *target, CeedCopyMode mode) {
  ReadOnlyWrapper *wrapper = malloc(sizeof(*wrapper));
  int code;

  if (!wrapper) {
    PyErr_SetString(ErrorClass(CEED_ERROR_MAJOR), "Out of memory: a tensor that says read-only");
    return CEED_ERROR_MAJOR;
  }
  wrapper->outer = (DLManagedTensorVersioned){{DLPACK_MAJOR, DLPACK_MINOR},
                                              wrapper,
                                              DeleteReadOnlyWrapper,
                                              DLPACK_FLAG_READ_ONLY,
                                              *Look(incoming)};
  wrapper->inner = incoming->tensor;
  wrapper->versioned = incoming->versioned;
  code = Finish(target->lib, Take(target, &wrapper->outer, true, mode, false));
  if (code) free(wrapper);
  return code;
}

/* The code of the library; an exception is set where it is not 0. */
static int Adopt(Incoming *incoming, Target *target, CeedCopyMode mode, int writable) {
  bool is_copy = HasFlag(incoming, DLPACK_FLAG_IS_COPIED);
  bool says_read_only = HasFlag(incoming, DLPACK_FLAG_READ_ONLY);
  bool marked =
      Look(incoming) && !says_read_only && (incoming->versioned ? !writable : writable != 1);
  int code = marked ? TakeReadOnly(incoming, target, mode)
                    : Finish(target->lib,
                             Take(target, incoming->tensor, incoming->versioned, mode, false));

  if (code) return code;
  target->shared = !is_copy;
  target->reason = is_copy          ? adopts_copy
                   : says_read_only ? shares_read_only
                   : !marked        ? shares
                   : !writable      ? shares_frozen
                                    : shares_legacy;
  return 0;
}

static const char copy_is_false[] =
    "copy=False, but the memory can't be shared: %V; copy=None or copy=True copies it";
static const char mode_shares[] = "the memory can't be shared: %V; COPY_VALUES copies the values";

/* The detail is an object, or NULL and a text. */
static int RaiseCopyError(const char *format, PyObject *detail, const char *text) {
  PyErr_Format(given[COPY_ERROR], format, detail, text);
  return -1;
}

static int AdoptOrCopy(Incoming *incoming, Target *target, const Options *options) {
  int code = Adopt(incoming, target, CEED_USE_POINTER, options->writable);

  if (code != CEED_ERROR_INCOMPATIBLE) return code ? -1 : 0;
  if (!CopyHelps(incoming, target->lib)) return -1;
  PyErr_Clear();
  target->detail = DescribeLayout(Look(incoming), target);
  if (!target->detail) return -1;
  if (options->copy == 0) return RaiseCopyError(copy_is_false, target->detail, NULL);
  return Copy(incoming, target, copied_because);
}

/* Put a tensor where it goes, sharing what may be shared; on failure an exception is set and the
   tensor is still the producer's. */
static int Place(Incoming *incoming, Target *target, const Options *options) {
  bool is_copy = HasFlag(incoming, DLPACK_FLAG_IS_COPIED);
  bool locked = options->writable == 1 && HasFlag(incoming, DLPACK_FLAG_READ_ONLY);

  if (incoming->detail) {
    Py_INCREF(incoming->detail);
    target->detail = incoming->detail;
    return Copy(incoming, target, copied_because);
  }
  if (options->copy == 0) {
    if (is_copy) return RaiseCopyError(copy_is_false, NULL, "the source made a copy");
    if (locked) return RaiseCopyError(copy_is_false, NULL, "it is read-only and writable=True");
  }
  if (locked) return Copy(incoming, target, copied_writable);
  if (options->copy == 1 && (!is_copy || HasFlag(incoming, DLPACK_FLAG_READ_ONLY))) {
    return Copy(incoming, target, copied);
  }
  return AdoptOrCopy(incoming, target, options);
}

static void RecordTarget(Exporter *self, Target *target) {
  RecordExchange(self, target->shared, target->reason);
  self->detail = target->detail;
}

/* A fab is refused by the C library only where the tensor is understood. */
static int CheckAxes(const Incoming *incoming, const Target *target) {
  const DLTensor *tensor = Look(incoming);
  CeedInt axes = target->layout ? target->layout->dim + 1 : 0;

  if (!axes || !tensor || tensor->ndim == axes) return 0;
  PyErr_Format(ErrorClass(CEED_ERROR_DIMENSION),
               "the source has %d axes; lo has the length %d, which makes %d axes with that of the "
               "components%s",
               (int)tensor->ndim, (int)target->layout->dim, (int)axes,
               tensor->ndim + 1 == axes ? ": x[..., None] adds one" : "");
  return -1;
}

static int PlaceNew(Incoming *incoming, const Options *options, Target *target) {
  target->lib = options->lib ? options->lib : LibraryOf(incoming);
  target->layout = options->layout;
  target->ceed = options->ceed ? options->ceed : contexts[target->lib - libraries];
  if (!CheckAxes(incoming, target) && !Place(incoming, target, options)) return 0;
  GiveBack(incoming);
  Py_XDECREF(target->detail);
  return -1;
}

/* The Python object is there before anything is taken: nothing can fail afterwards. */
static PyObject *Import(PyTypeObject *type, Incoming *incoming, const Options *options) {
  Exporter *self = AllocateExporter(type, options->layout ? &fab_kind : &vector_kind);
  Target target = {.lib = NULL};

  if (!self) return NULL;
  if (Seize(incoming) || PlaceNew(incoming, options, &target)) {
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  if (target.layout) {
    SetFab(self, target.lib, target.fab);
  } else {
    SetVector(self, target.lib, target.vec);
  }
  RecordTarget(self, &target);
  return (PyObject *)self;
}

PyObject *ImportVersioned(PyTypeObject *type, DLManagedTensorVersioned *tensor) {
  Options options = as_it_comes;
  Incoming incoming = {NULL, tensor, true, NULL};

  return Import(type, &incoming, &options);
}

// ------------------------------------------------------------------------------------------------
// The methods
// ------------------------------------------------------------------------------------------------

static int ParseCeed(PyObject *value, Options *options) {
  PyObject *handle, *scalar;
  int known = PyObject_IsInstance(value, given[CEED_TYPE]);

  if (known < 0) return -1;
  if (!known) {
    PyErr_Format(PyExc_TypeError, "ceed must be a Ceed, not %R", (PyObject *)Py_TYPE(value));
    return -1;
  }
  handle = PyObject_GetAttr(value, s_handle);
  scalar = handle ? PyObject_GetAttr(value, s_scalar) : NULL;
  if (scalar) {
    options->ceed = (Ceed)PyLong_AsVoidPtr(handle);
    options->lib = &libraries[PyUnicode_CompareWithASCIIString(scalar, "float32") == 0];
  }
  Py_XDECREF(handle);
  Py_XDECREF(scalar);
  return PyErr_Occurred() ? -1 : 0;
}

static int ParseFlag(PyObject *value, const char *name, int *flag) {
  if (!PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be True, False or None, not %R", name, value);
    return -1;
  }
  *flag = value == Py_True;
  return 0;
}

static int ParseDevice(PyObject *value, Options *options) {
  int same = PyUnicode_Check(value) ? PyUnicode_CompareWithASCIIString(value, "cpu") == 0
                                    : PyObject_RichCompareBool(value, cpu_device, Py_EQ);

  if (same < 0) return -1;
  if (!same) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "device=%R is not available: it must be None, 'cpu' or (1, 0)", value);
    return -1;
  }
  options->device = cpu_device;
  return 0;
}

static int ParseOption(PyObject *name, PyObject *value, Options *options) {
  bool none = value == Py_None;

  if (SameName(name, s_copy)) return none ? 0 : ParseFlag(value, "copy", &options->copy);
  if (SameName(name, s_writable))
    return none ? 0 : ParseFlag(value, "writable", &options->writable);
  if (SameName(name, s_ceed)) return none ? 0 : ParseCeed(value, options);
  if (SameName(name, s_device)) return none ? 0 : ParseDevice(value, options);
  PyErr_Format(PyExc_TypeError, "from_dlpack() got an unexpected keyword argument '%U'", name);
  return -1;
}

const char import_doc[] =
    "from_dlpack(x, /, *, ceed=None, copy=None, writable=None, device=None)\n--\n\n"
    "Return a vector over the memory of x, which is shared where copy is not True and the memory\n"
    "is C-contiguous and aligned; several axes are flattened in C order.\n\n"
    "x has __dlpack__, the buffer protocol or __array_interface__, or is a list or a number, "
    "whose\n"
    "values are copied. The precision is that of x, or of ceed. copy=None copies what can't be\n"
    "shared; v.exchange says why. Legacy tensors come in read-only unless writable is True: never\n"
    "give that for an array of JAX, which is immutable and can't say so.\n"
    "Raises CeedIncompatibleError for another type or device, CeedCopyError where copy=False\n"
    "would need a copy.\n\n"
    ">>> a = np.arange(3.0)\n"
    ">>> v = pyceedlike.Vector.from_dlpack(a)\n"
    ">>> v.exchange\n"
    "Exchange(shared=True, reason=\"shares the source's memory\")\n";

static PyObject *ImportObject(PyTypeObject *type, PyObject *source, Options *options,
                              PyObject *const *values, PyObject *names) {
  Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  PyObject *self = NULL;
  Incoming incoming;

  for (Py_ssize_t i = 0; i < count; i++) {
    if (ParseOption(PyTuple_GetItem(names, i), values[i], options)) return NULL;
  }
  if (AskFor(source, options, options->lib, &incoming)) return NULL;
  self = Import(type, &incoming, options);
  IncomingDrop(&incoming);
  return self;
}

PyObject *ImportMethod(PyObject *type, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
  Options options = as_it_comes;

  if (nargs != 1) {
    PyErr_Format(PyExc_TypeError, "from_dlpack() takes one positional argument, not %zd", nargs);
    return NULL;
  }
  return ImportObject((PyTypeObject *)type, args[0], &options, args + 1, names);
}

/* _import(x, layout, **options), where the layout is (order, dim, address of lo, centring, address
   of a CeedGhost). */
PyObject *ImportFabMethod(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *names) {
  Options options = as_it_comes;
  unsigned long long lo, ghost;
  Layout layout;
  int order;

  if (nargs != 2 ||
      !PyArg_ParseTuple(args[1], "iiKiK", &order, &layout.dim, &lo, &layout.centring, &ghost)) {
    return NULL;
  }
  layout.order = (CeedAxisOrder)order;
  memcpy(layout.lo, (const CeedInt *)(uintptr_t)lo, sizeof(layout.lo));
  layout.ghost = *(const CeedGhost *)(uintptr_t)ghost;
  options.layout = &layout;
  return ImportObject((PyTypeObject *)type, args[0], &options, args + 2, names);
}

static bool IsPointer(CeedCopyMode mode) {
  return mode == CEED_USE_POINTER || mode == CEED_OWN_POINTER;
}

static int PlaceInto(Incoming *incoming, Target *target, CeedCopyMode mode) {
  PyObject *detail;
  int code;

  if (mode == CEED_COPY_VALUES) return Copy(incoming, target, copied);
  if (IsPointer(mode) && incoming->detail) {
    return RaiseCopyError(mode_shares, incoming->detail, NULL);
  }
  if (mode == CEED_USE_POINTER && HasFlag(incoming, DLPACK_FLAG_IS_COPIED)) {
    return RaiseCopyError(mode_shares, NULL, "the source made a copy");
  }
  code = Adopt(incoming, target, mode, -1);
  if (code != CEED_ERROR_INCOMPATIBLE || !IsPointer(mode) || !CopyHelps(incoming, target->lib)) {
    return code ? -1 : 0;
  }
  PyErr_Clear();
  detail = DescribeLayout(Look(incoming), target);
  if (detail) RaiseCopyError(mode_shares, detail, NULL);
  Py_XDECREF(detail);
  return -1;
}

/* _take(source, copy_mode): into this vector, in its precision. */
PyObject *TakeMethod(PyObject *object, PyObject *args) {
  Exporter *self = (Exporter *)object;
  Options options = as_it_comes;
  Target target = {.lib = self->lib, .vec = self->vec};
  PyObject *source;
  Incoming incoming;
  int mode, failed;

  if (!self->vec) return Raise(self->lib, self->lib->VectorGetLength(NULL, NULL));
  if (!PyArg_ParseTuple(args, "Oi", &source, &mode)) return NULL;
  options.lib = self->lib;
  options.ceed = self->ceed;
  if (AskFor(source, &options, self->lib, &incoming)) return NULL;
  failed = Seize(&incoming);
  if (!failed) {
    failed = PlaceInto(&incoming, &target, (CeedCopyMode)mode);
    if (failed) GiveBack(&incoming);
  }
  IncomingDrop(&incoming);
  if (failed) return NULL;
  RecordTarget(self, &target);
  Py_RETURN_NONE;
}

/* _let_go(mem_type): of memory that was borrowed, whose deleter runs. */
PyObject *LetGoMethod(PyObject *object, PyObject *args) {
  Exporter *self = (Exporter *)object;
  int mem_type;

  if (!PyArg_ParseTuple(args, "i", &mem_type)) return NULL;
  if (Finish(self->lib, self->lib->VectorTakeArray(self->vec, (CeedMemType)mem_type, NULL))) {
    return NULL;
  }
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------
// Memory of Python objects
// ------------------------------------------------------------------------------------------------

typedef struct {
  DLManagedTensorVersioned tensor;
  PyObject *owner; /* NULL: the view holds it */
  Py_buffer view;  /* never copied, as its pointers may go into itself */
  int64_t shape[DLPACK_MAX_NDIM], strides[DLPACK_MAX_NDIM];
} Borrowed;

/* Comes from any thread, with the GIL or without. When the interpreter is gone, or going, nobody
   can release its objects any more. */
static void DeleteBorrowed(DLManagedTensorVersioned *tensor) {
  Borrowed *borrowed = tensor->manager_ctx;
  PyGILState_STATE state;
  Exception before;

  if (!Py_IsInitialized()) return;
  state = PyGILState_Ensure();
  before = PutAside();
  if (borrowed->owner) {
    Py_DECREF(borrowed->owner);
  } else {
    PyBuffer_Release(&borrowed->view);
  }
  free(borrowed);
  Resume(before);
  PyGILState_Release(state);
}

static Borrowed *BorrowedCreate(void) {
  Borrowed *borrowed = malloc(sizeof(*borrowed));

  if (!borrowed) {
    PyErr_NoMemory();
    return NULL;
  }
  borrowed->owner = NULL;
  return borrowed;
}

static int SetMemory(Borrowed *borrowed, void *data, Py_ssize_t item_size, Py_ssize_t ndim,
                     bool read_only) {
  if (ndim < 0 || ndim > DLPACK_MAX_NDIM) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "the source has %zd axes: copy it to one of at most %d first", ndim,
                 DLPACK_MAX_NDIM);
    return -1;
  }
  borrowed->tensor = (DLManagedTensorVersioned){{DLPACK_MAJOR, DLPACK_MINOR},
                                                borrowed,
                                                DeleteBorrowed,
                                                read_only ? DLPACK_FLAG_READ_ONLY : 0,
                                                {data,
                                                 {DLPACK_CPU, 0},
                                                 (int32_t)ndim,
                                                 {DLPACK_FLOAT, (uint8_t)(8 * item_size), 1},
                                                 borrowed->shape,
                                                 borrowed->strides,
                                                 0}};
  return 0;
}

/* Strides come in bytes; the one of an axis that is never stepped along means nothing. */
static int SetAxis(Borrowed *borrowed, int32_t axis, Py_ssize_t length, Py_ssize_t stride) {
  Py_ssize_t item_size = borrowed->tensor.dl_tensor.dtype.bits / 8;

  if (length > 1 && stride % item_size) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "a stride of %zd bytes is no multiple of the %zd bytes of an entry: copy the "
                 "source first",
                 stride, item_size);
    return -1;
  }
  borrowed->shape[axis] = length;
  borrowed->strides[axis] = stride / item_size;
  return 0;
}

/* Native float64 and float32; 0 with an exception for anything else. */
static Py_ssize_t ItemSize(const Py_buffer *view, PyObject *object) {
  const char *format = view->format ? view->format : "B", *letter = format;

  if (*letter == '@' || *letter == '=' || *letter == '<') letter++;
  for (int i = FLOAT64; i <= FLOAT32; i++) {
    if (!strcmp(letter, libraries[i].format) && view->itemsize == libraries[i].item_size) {
      return view->itemsize;
    }
  }
  PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
               "the buffer of %R holds items of format '%s' in %zd bytes, a vector holds native "
               "float64 ('d') or float32 ('f'): convert it first",
               (PyObject *)Py_TYPE(object), format, view->itemsize);
  return 0;
}

static int RefuseBuffer(PyObject *object, const char *fault) {
  PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE), "the buffer of %R %s",
               (PyObject *)Py_TYPE(object), fault);
  return -1;
}

/* One axis needs no shape: it has what is there. */
static Py_ssize_t AxisLength(const Py_buffer *view, int axis) {
  return view->shape ? view->shape[axis] : view->len / view->itemsize;
}

/* Axes of compact memory may come without strides, though these were asked for. */
static int SetViewAxes(Borrowed *borrowed, PyObject *object) {
  const Py_buffer *view = &borrowed->view;
  Py_ssize_t step = view->itemsize;

  for (int i = view->ndim - 1; i >= 0; i--) {
    Py_ssize_t length = AxisLength(view, i);
    if (length < 0) return RefuseBuffer(object, "has a negative length");
    if (SetAxis(borrowed, i, length, view->strides ? view->strides[i] : step)) return -1;
    if (view->suboffsets && view->suboffsets[i] >= 0) {
      return RefuseBuffer(object, "is made of pointers to its rows: copy it first");
    }
    if (__builtin_mul_overflow(step, length, &step)) return RefuseBuffer(object, "overflows");
  }
  return step == view->len ? 0 : RefuseBuffer(object, "has another length than its shape says");
}

static int BorrowedFromView(Borrowed *borrowed, PyObject *object) {
  const Py_buffer *view = &borrowed->view;

  if (!ItemSize(view, object) ||
      SetMemory(borrowed, view->buf, view->itemsize, view->ndim, view->readonly)) {
    return -1;
  }
  if (view->ndim > 1 && !view->shape) return RefuseBuffer(object, "has axes without lengths");
  return SetViewAxes(borrowed, object);
}

const char borrow_buffer_doc[] =
    "Return a capsule over the memory of an object with the buffer protocol.";

static void BorrowedDrop(Borrowed *borrowed) {
  PyBuffer_Release(&borrowed->view);
  free(borrowed);
}

static Borrowed *BorrowedOfBuffer(PyObject *object) {
  Borrowed *borrowed = BorrowedCreate();

  if (!borrowed) return NULL;
  if (PyObject_GetBuffer(object, &borrowed->view, PyBUF_RECORDS_RO)) {
    free(borrowed);
    return NULL;
  }
  if (!BorrowedFromView(borrowed, object)) return borrowed;
  BorrowedDrop(borrowed);
  return NULL;
}

PyObject *BorrowBuffer(PyObject *Py_UNUSED(module), PyObject *object) {
  Borrowed *borrowed = BorrowedOfBuffer(object);

  return borrowed ? WrapVersioned(&borrowed->tensor) : NULL;
}

const char adopt_doc[] =
    "Let the vector of a handle use the memory of an object with the buffer protocol, which lives "
    "as long: (vector, single, object).";

PyObject *AdoptBuffer(PyObject *Py_UNUSED(module), PyObject *args) {
  unsigned long long address;
  const Library *lib;
  Borrowed *borrowed;
  PyObject *object;
  int single, code;

  if (!PyArg_ParseTuple(args, "KpO", &address, &single, &object)) return NULL;
  lib = &libraries[single];
  borrowed = BorrowedOfBuffer(object);
  if (!borrowed) return NULL;
  code = lib->VectorTakeFromDLPackVersioned(NULL, (CeedVector)(uintptr_t)address, &borrowed->tensor,
                                            CEED_USE_POINTER);
  if (code) BorrowedDrop(borrowed);
  if (Finish(lib, code)) return NULL;
  Py_RETURN_NONE;
}

static int SetAxes(Borrowed *borrowed, PyObject *shape, PyObject *strides) {
  int32_t ndim = borrowed->tensor.dl_tensor.ndim;
  Py_ssize_t step = borrowed->tensor.dl_tensor.dtype.bits / 8;

  if (strides != Py_None && PyTuple_Size(strides) != ndim) {
    if (!PyErr_Occurred()) {
      PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                   "the shape %R and the strides %R differ in length", shape, strides);
    }
    return -1;
  }
  for (int32_t i = ndim - 1; i >= 0; i--) {
    Py_ssize_t length = PyNumber_AsSsize_t(PyTuple_GetItem(shape, i), PyExc_OverflowError);
    Py_ssize_t stride = step;
    if (strides != Py_None && !PyErr_Occurred()) {
      stride = PyNumber_AsSsize_t(PyTuple_GetItem(strides, i), PyExc_OverflowError);
    }
    if (PyErr_Occurred() || SetAxis(borrowed, i, length, stride)) return -1;
    if (length > 0 && __builtin_mul_overflow(step, length, &step)) step = 0; /* refused later */
  }
  return 0;
}

const char borrow_address_doc[] =
    "Return a capsule over memory that an owner keeps alive: (owner, address, read_only, "
    "item_size, shape, strides in bytes or None, DLPack's type of its device).";

PyObject *BorrowAddress(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *owner, *number, *shape, *strides;
  Py_ssize_t item_size;
  uintptr_t address;
  Borrowed *borrowed;
  int read_only, device_type;

  if (!PyArg_ParseTuple(args, "OOpnO!Oi", &owner, &number, &read_only, &item_size, &PyTuple_Type,
                        &shape, &strides, &device_type) ||
      ParseAddress(number, &address)) {
    return NULL;
  }
  if (item_size != sizeof(double) && item_size != sizeof(float)) {
    PyErr_Format(PyExc_ValueError, "entries have 8 or 4 bytes, not %zd", item_size);
    return NULL;
  }
  borrowed = BorrowedCreate();
  if (!borrowed) return NULL;
  if (SetMemory(borrowed, (void *)address, item_size, PyTuple_Size(shape), read_only) ||
      SetAxes(borrowed, shape, strides)) {
    free(borrowed);
    return NULL;
  }
  borrowed->tensor.dl_tensor.device.device_type = device_type;
  Py_INCREF(owner);
  borrowed->owner = owner;
  return WrapVersioned(&borrowed->tensor);
}

static PyObject *CopyRequest(PyObject *copy) {
  return Py_BuildValue("{s(ii)sO}", "max_version", DLPACK_MAJOR, DLPACK_MINOR, "copy", copy);
}

int InitImports(void) {
  return Keep(&s_dlpack, PyUnicode_InternFromString("__dlpack__")) ||
                 Keep(&s_ceed, PyUnicode_InternFromString("ceed")) ||
                 Keep(&s_copy, PyUnicode_InternFromString("copy")) ||
                 Keep(&s_writable, PyUnicode_InternFromString("writable")) ||
                 Keep(&s_device, PyUnicode_InternFromString("device")) ||
                 Keep(&s_handle, PyUnicode_InternFromString("handle")) ||
                 Keep(&s_scalar, PyUnicode_InternFromString("scalar")) ||
                 Keep(&s_is_neg, PyUnicode_InternFromString("is_neg")) ||
                 Keep(&no_arguments, PyTuple_New(0)) ||
                 Keep(&cpu_device, Py_BuildValue("(ii)", DLPACK_CPU, 0)) ||
                 Keep(&plain_request,
                      Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR)) ||
                 Keep(&copy_requests[0], CopyRequest(Py_False)) ||
                 Keep(&copy_requests[1], CopyRequest(Py_True))
             ? -1
             : 0;
}
