// How memory comes in: capsules are consumed, memory of Python objects is dressed as a tensor.
// SPDX-License-Identifier: BSD-2-Clause
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "_exchange.h"

typedef struct {
  int copy, writable; /* 1, 0, or -1 for "as it comes" */
  PyObject *device;   /* cpu_device where the caller asks for it, else NULL */
  const Library *lib; /* NULL: the precision that the tensor has */
  Ceed ceed;
} Wish;

/* A tensor that is still the producer's. */
typedef struct {
  PyObject *capsule; /* NULL: handed over without one */
  void *tensor;
  bool versioned;
  PyObject *detail; /* why its values are copied in any case, or NULL */
} Parcel;

static PyObject *s_dlpack, *s_ceed, *s_copy, *s_writable, *s_device, *s_handle, *s_scalar;
static PyObject *no_arguments, *cpu_device, *plain_request, *copy_requests[2];

static const char used_versioned_name[] = "used_dltensor_versioned";
static const char used_legacy_name[] = "used_dltensor";

static const char shares[] = "shares the source's memory";
static const char shares_read_only[] = "shares the source's memory, which is read-only";
static const char shares_legacy[] =
    "shares the source's memory, read-only: a legacy tensor can't say whether it may be written "
    "(writable=True says so)";
static const char shares_frozen[] = "shares the source's memory, read-only as asked";
static const char adopts_copy[] = "adopts a copy that the source made, as asked";
static const char copied[] = "values copied, as asked";
static const char copied_writable[] = "values copied: the source is read-only and writable=True";
static const char copied_because[] = "values copied";

// ------------------------------------------------------------------------------------------------
// Asking for a capsule
// ------------------------------------------------------------------------------------------------

static PyObject *RequestWithDevice(const Wish *wish) {
  PyObject *request = PyDict_Copy(wish->copy < 0 ? plain_request : copy_requests[wish->copy]);

  if (request && PyDict_SetItemString(request, "dl_device", wish->device)) Py_CLEAR(request);
  return request;
}

/* Producers from before a keyword answer TypeError, and some can't copy; what they could not be
   told is seen to later. */
static bool MayAskForLess(const Wish *wish) {
  return PyErr_ExceptionMatches(PyExc_TypeError) ||
         (wish->copy == 1 && !wish->device && PyErr_ExceptionMatches(PyExc_BufferError));
}

static PyObject *Ask(PyObject *method, const Wish *wish) {
  PyObject *request = wish->copy < 0 ? plain_request : copy_requests[wish->copy], *capsule;

  if (wish->device) {
    request = RequestWithDevice(wish);
    if (!request) return NULL;
  }
  capsule = PyObject_Call(method, no_arguments, request);
  if (wish->device) Py_DECREF(request);
  if (!capsule && request != plain_request && MayAskForLess(wish)) {
    PyErr_Clear();
    capsule = PyObject_Call(method, no_arguments, plain_request);
  }
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = PyObject_CallNoArgs(method);
  }
  return capsule;
}

/* What has no __dlpack__ is made a capsule in Python, from the other protocols or from values. */
static int AskOtherwise(PyObject *source, const Wish *wish, const Library *lib, Parcel *parcel) {
  PyObject *answer = PyObject_CallFunction(given[FALLBACK], "Osi", source, lib ? lib->scalar : NULL,
                                           wish->copy != 0);
  PyObject *detail;

  if (!answer) return -1;
  if (!PyArg_ParseTuple(answer, "OO", &parcel->capsule, &detail)) {
    Py_DECREF(answer);
    return -1;
  }
  Py_INCREF(parcel->capsule);
  if (detail != Py_None) {
    Py_INCREF(detail);
    parcel->detail = detail;
  }
  Py_DECREF(answer);
  return 0;
}

static void ParcelDrop(Parcel *parcel) {
  Py_CLEAR(parcel->capsule);
  Py_CLEAR(parcel->detail);
}

static int Request(PyObject *source, const Wish *wish, const Library *lib, Parcel *parcel) {
  PyObject *method = PyObject_GetAttr(source, s_dlpack);

  *parcel = (Parcel){NULL, NULL, false, NULL};
  if (method) {
    parcel->capsule = Ask(method, wish);
    Py_DECREF(method);
    if (!parcel->capsule) return -1;
  } else {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    if (AskOtherwise(source, wish, lib, parcel)) return -1;
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
static int Seize(Parcel *parcel) {
  PyObject *capsule = parcel->capsule;
  const char *name;

  if (!capsule) return 0;
  parcel->versioned = PyCapsule_IsValid(capsule, versioned_name);
  name = parcel->versioned ? versioned_name : legacy_name;
  if (!PyCapsule_IsValid(capsule, name)) return RefuseCapsule(capsule);
  parcel->tensor = PyCapsule_GetPointer(capsule, name);
  return PyCapsule_SetName(capsule, parcel->versioned ? used_versioned_name : used_legacy_name);
}

static void CallDeleter(Parcel *parcel) {
  DLManagedTensorVersioned *versioned = parcel->tensor;
  DLManagedTensor *legacy = parcel->tensor;

  if (parcel->versioned) {
    if (versioned->deleter) versioned->deleter(versioned);
  } else if (legacy->deleter) {
    legacy->deleter(legacy);
  }
}

/* Make the producer the owner again; an exception is set and stays. */
static void GiveBack(Parcel *parcel) {
  PyObject *type, *value, *trace;

  if (!parcel->capsule) return;
  PyErr_Fetch(&type, &value, &trace);
  if (PyCapsule_SetName(parcel->capsule, parcel->versioned ? versioned_name : legacy_name)) {
    PyErr_Clear();
    CallDeleter(parcel);
  }
  PyErr_Restore(type, value, trace);
}

// ------------------------------------------------------------------------------------------------
// Looking at a tensor
// ------------------------------------------------------------------------------------------------

/* NULL where the version forbids to look. */
static const DLTensor *Look(const Parcel *parcel) {
  const DLManagedTensorVersioned *versioned = parcel->tensor;

  if (!parcel->versioned) return &((const DLManagedTensor *)parcel->tensor)->dl_tensor;
  return versioned->version.major == DLPACK_MAJOR ? &versioned->dl_tensor : NULL;
}

static bool HasFlag(const Parcel *parcel, uint64_t flag) {
  return parcel->versioned && Look(parcel) &&
         (((const DLManagedTensorVersioned *)parcel->tensor)->flags & flag);
}

static const Library *LibraryOf(const Parcel *parcel) {
  const DLTensor *tensor = Look(parcel);

  return &libraries[tensor && tensor->dtype.code == DLPACK_FLOAT && tensor->dtype.bits == 32];
}

/* Whether other threads should run meanwhile. */
static bool IsLarge(const Parcel *parcel) {
  const DLTensor *tensor = Look(parcel);
  int64_t count = 1;

  if (!tensor || !tensor->shape) return false;
  for (int32_t i = 0; i < tensor->ndim && i < DLPACK_MAX_NDIM; i++) {
    if (tensor->shape[i] <= 0) return false;
    if (tensor->shape[i] > (1 << 16) || (count *= tensor->shape[i]) > (1 << 16)) return true;
  }
  return false;
}

/* Whether the layout alone stood against adopting. */
static bool CopyHelps(const Parcel *parcel, const Library *lib) {
  CeedDLPackSpec spec = CEED_DLPACK_ANY;

  spec.code = DLPACK_FLOAT;
  spec.bits = (int32_t)(8 * lib->item_size);
  spec.lanes = 1;
  return lib->DLPackCheck(parcel->tensor, parcel->versioned, &spec) == CEED_ERROR_SUCCESS;
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

static PyObject *DescribeLayout(const DLTensor *tensor, const Library *lib) {
  PyObject *shape = Integers(tensor->shape, tensor->ndim), *text = NULL;
  PyObject *strides = shape ? Integers(tensor->strides, tensor->ndim) : NULL;

  if (strides) {
    text = PyUnicode_FromFormat(
        "shape %S with strides %S at address %p is not C-contiguous and aligned to %zd bytes",
        shape, strides, (char *)tensor->data + tensor->byte_offset, lib->item_size);
  }
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  return text;
}

// ------------------------------------------------------------------------------------------------
// Taking
// ------------------------------------------------------------------------------------------------

/* Where it goes: into a vector, or into a new one of `ceed` where vec is still NULL. */
typedef struct {
  const Library *lib;
  Ceed ceed;
  CeedVector vec;
  const char *reason;
  PyObject *detail;
  bool shared;
} Target;

static int Take(Target *target, void *tensor, bool versioned, CeedCopyMode mode) {
  const Library *lib = target->lib;

  if (target->vec) {
    return versioned ? lib->VectorTakeFromDLPackVersioned(NULL, target->vec, tensor, mode)
                     : lib->VectorTakeFromDLPack(NULL, target->vec, tensor, mode);
  }
  return versioned ? lib->VectorCreateFromDLPackVersioned(target->ceed, tensor, mode, &target->vec)
                   : lib->VectorCreateFromDLPack(target->ceed, tensor, mode, &target->vec);
}

static int Copy(Parcel *parcel, Target *target, const char *reason) {
  int code;

  if (IsLarge(parcel)) {
    Py_BEGIN_ALLOW_THREADS;
    code = Take(target, parcel->tensor, parcel->versioned, CEED_COPY_VALUES);
    Py_END_ALLOW_THREADS;
  } else {
    code = Take(target, parcel->tensor, parcel->versioned, CEED_COPY_VALUES);
  }
  if (code) {
    Raise(target->lib, code);
    return -1;
  }
  target->shared = false;
  target->reason = reason;
  return 0;
}

/* A coat that says read-only, over a tensor that can't or doesn't. */
typedef struct {
  DLManagedTensorVersioned outer;
  Parcel inner;
} ReadOnlyCoat;

static void DeleteReadOnlyCoat(DLManagedTensorVersioned *outer) {
  ReadOnlyCoat *coat = outer->manager_ctx;

  CallDeleter(&coat->inner);
  free(coat);
}

static int TakeReadOnly(Parcel *parcel, Target *target, CeedCopyMode mode) {
  ReadOnlyCoat *coat = malloc(sizeof(*coat));
  int code;

  if (!coat) return CEED_ERROR_MAJOR;
  coat->outer = (DLManagedTensorVersioned){
      {DLPACK_MAJOR, DLPACK_MINOR}, coat, DeleteReadOnlyCoat, DLPACK_FLAG_READ_ONLY, *Look(parcel)};
  coat->inner = *parcel;
  code = Take(target, &coat->outer, true, mode);
  if (code) free(coat);
  return code;
}

/* The code of the library; an exception is set where it is not 0. */
static int Adopt(Parcel *parcel, Target *target, CeedCopyMode mode, int writable) {
  bool says_read_only = HasFlag(parcel, DLPACK_FLAG_READ_ONLY);
  bool coat = Look(parcel) && !says_read_only && (parcel->versioned ? !writable : writable != 1);
  int code = coat ? TakeReadOnly(parcel, target, mode)
                  : Take(target, parcel->tensor, parcel->versioned, mode);

  if (code) {
    Raise(target->lib, code);
    return code;
  }
  target->shared = true;
  target->reason = says_read_only ? shares_read_only
                   : !coat        ? shares
                   : !writable    ? shares_frozen
                                  : shares_legacy;
  return 0;
}

static int RefuseCopy(PyObject *detail) {
  PyErr_Format(given[COPY_ERROR],
               "copy=False, but the memory can't be shared: %U; copy=None or copy=True copies it",
               detail);
  return -1;
}

static int RefuseCopyText(const char *text) {
  PyObject *detail = PyUnicode_FromString(text);
  int code = detail ? RefuseCopy(detail) : -1;

  Py_XDECREF(detail);
  return code;
}

static int AdoptOrCopy(Parcel *parcel, Target *target, const Wish *wish) {
  int code = Adopt(parcel, target, CEED_USE_POINTER, wish->writable);

  if (code != CEED_ERROR_INCOMPATIBLE) return code ? -1 : 0;
  if (!CopyHelps(parcel, target->lib)) return -1;
  PyErr_Clear();
  target->detail = DescribeLayout(Look(parcel), target->lib);
  if (!target->detail) return -1;
  if (wish->copy == 0) return RefuseCopy(target->detail);
  return Copy(parcel, target, copied_because);
}

/* Put a tensor where it goes, sharing what may be shared; on failure an exception is set and the
   tensor is still the producer's. */
static int Place(Parcel *parcel, Target *target, const Wish *wish) {
  bool is_copy = HasFlag(parcel, DLPACK_FLAG_IS_COPIED);
  bool locked = wish->writable == 1 && HasFlag(parcel, DLPACK_FLAG_READ_ONLY);

  if (parcel->detail) {
    Py_INCREF(parcel->detail);
    target->detail = parcel->detail;
    return Copy(parcel, target, copied_because);
  }
  if (wish->copy == 0) {
    if (is_copy) return RefuseCopyText("the source made a copy");
    if (locked) return RefuseCopyText("it is read-only and writable=True");
  }
  if (locked) return Copy(parcel, target, copied_writable);
  if (wish->copy == 1 && (!is_copy || HasFlag(parcel, DLPACK_FLAG_READ_ONLY))) {
    return Copy(parcel, target, copied);
  }
  if (AdoptOrCopy(parcel, target, wish)) return -1;
  if (is_copy && target->shared) {
    target->shared = false;
    target->reason = adopts_copy;
  }
  return 0;
}

static void TellTarget(Exporter *self, Target *target) {
  Tell(self, target->shared, target->reason);
  self->detail = target->detail;
}

static int PlaceNew(Parcel *parcel, const Wish *wish, Target *target) {
  target->lib = wish->lib ? wish->lib : LibraryOf(parcel);
  target->ceed = wish->ceed ? wish->ceed : contexts[target->lib - libraries];
  if (!Place(parcel, target, wish)) return 0;
  GiveBack(parcel);
  Py_XDECREF(target->detail);
  return -1;
}

/* The Python object is there before anything is taken: nothing can fail afterwards. */
static PyObject *Import(PyTypeObject *type, Parcel *parcel, const Wish *wish) {
  Exporter *self = (Exporter *)Allocate(type);
  Target target = {NULL, NULL, NULL, NULL, NULL, false};
  CeedSize length;

  if (!self) return NULL;
  if (Seize(parcel) || PlaceNew(parcel, wish, &target)) {
    Py_DECREF((PyObject *)self);
    return NULL;
  }
  self->lib = target.lib;
  self->vec = target.vec;
  self->lib->VectorGetLength(self->vec, &length);
  self->shape[0] = length;
  self->strides[0] = 1;
  TellTarget(self, &target);
  return (PyObject *)self;
}

PyObject *ImportVersioned(PyTypeObject *type, DLManagedTensorVersioned *tensor) {
  Wish wish = {-1, -1, NULL, NULL, NULL};
  Parcel parcel = {NULL, tensor, true, NULL};

  return Import(type, &parcel, &wish);
}

// ------------------------------------------------------------------------------------------------
// The methods
// ------------------------------------------------------------------------------------------------

static int ParseCeed(PyObject *value, Wish *wish) {
  PyObject *handle, *scalar;
  int known = PyObject_IsInstance(value, given[CEED_TYPE]);

  if (known < 0) return -1;
  if (!known) {
    PyErr_Format(PyExc_TypeError, "ceed must be a Ceed, not %R", (PyObject *)Py_TYPE(value));
    return -1;
  }
  handle = PyObject_GetAttr(value, s_handle);
  scalar = PyObject_GetAttr(value, s_scalar);
  if (handle && scalar) {
    wish->ceed = (Ceed)PyLong_AsVoidPtr(handle);
    wish->lib = &libraries[PyUnicode_CompareWithASCIIString(scalar, "float32") == 0];
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

static int ParseDevice(PyObject *value, Wish *wish) {
  int same = PyUnicode_Check(value) ? PyUnicode_CompareWithASCIIString(value, "cpu") == 0
                                    : PyObject_RichCompareBool(value, cpu_device, Py_EQ);

  if (same < 0) return -1;
  if (!same) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "device=%R is not available: it must be None, 'cpu' or (1, 0)", value);
    return -1;
  }
  wish->device = cpu_device;
  return 0;
}

static int ParseWish(PyObject *name, PyObject *value, Wish *wish) {
  bool none = value == Py_None;

  if (SameName(name, s_copy)) return none ? 0 : ParseFlag(value, "copy", &wish->copy);
  if (SameName(name, s_writable)) return none ? 0 : ParseFlag(value, "writable", &wish->writable);
  if (SameName(name, s_ceed)) return none ? 0 : ParseCeed(value, wish);
  if (SameName(name, s_device)) return none ? 0 : ParseDevice(value, wish);
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
    "shared; v.exchange says why. Legacy tensors come in read-only unless writable is True.\n"
    "Raises CeedIncompatibleError for another type or device, CeedCopyError where copy=False\n"
    "would need a copy.\n\n"
    ">>> a = np.arange(3.0)\n"
    ">>> v = pyceedlike.Vector.from_dlpack(a)\n"
    ">>> v.exchange\n"
    "Exchange(shared=True, reason=\"shares the source's memory\")\n";

PyObject *ImportMethod(PyObject *type, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
  Wish wish = {-1, -1, NULL, NULL, NULL};
  Py_ssize_t count = names ? PyTuple_Size(names) : 0;
  PyObject *self = NULL;
  Parcel parcel;

  if (nargs != 1) {
    PyErr_Format(PyExc_TypeError, "from_dlpack() takes one positional argument, not %zd", nargs);
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (ParseWish(PyTuple_GetItem(names, i), args[1 + i], &wish)) return NULL;
  }
  if (Request(args[0], &wish, wish.lib, &parcel)) return NULL;
  self = Import((PyTypeObject *)type, &parcel, &wish);
  ParcelDrop(&parcel);
  return self;
}

static int RefuseToShare(PyObject *detail) {
  PyErr_Format(given[COPY_ERROR], "the memory can't be shared: %U; COPY_VALUES copies the values",
               detail);
  return -1;
}

static int PlaceInto(Parcel *parcel, Target *target, CeedCopyMode mode) {
  PyObject *detail;
  int code;

  if (mode == CEED_COPY_VALUES) return Copy(parcel, target, copied);
  if (parcel->detail) return RefuseToShare(parcel->detail);
  code = Adopt(parcel, target, mode, -1);
  if (code != CEED_ERROR_INCOMPATIBLE || !CopyHelps(parcel, target->lib)) return code ? -1 : 0;
  PyErr_Clear();
  detail = DescribeLayout(Look(parcel), target->lib);
  if (detail) RefuseToShare(detail);
  Py_XDECREF(detail);
  return -1;
}

/* _take(source, copy_mode): into this vector, in its precision. */
PyObject *TakeMethod(PyObject *object, PyObject *args) {
  Exporter *self = (Exporter *)object;
  Wish wish = {-1, -1, NULL, NULL, NULL};
  Target target = {self->lib, NULL, self->vec, NULL, NULL, false};
  PyObject *source;
  Parcel parcel;
  int mode, failed;

  if (!PyArg_ParseTuple(args, "Oi", &source, &mode)) return NULL;
  if (Request(source, &wish, self->lib, &parcel)) return NULL;
  failed = Seize(&parcel);
  if (!failed) {
    failed = PlaceInto(&parcel, &target, (CeedCopyMode)mode);
    if (failed) GiveBack(&parcel);
  }
  ParcelDrop(&parcel);
  if (failed) return NULL;
  TellTarget(self, &target);
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------
// Memory of Python objects
// ------------------------------------------------------------------------------------------------

typedef struct {
  DLManagedTensorVersioned tensor;
  PyObject *owner; /* NULL: the view holds it */
  Py_buffer view;
  int64_t dims[]; /* shape, strides */
} Borrowed;

/* Comes from any thread, with the GIL or without. When the interpreter is gone, or going, nobody
   can release its objects any more. */
static void DeleteBorrowed(DLManagedTensorVersioned *tensor) {
  Borrowed *borrowed = tensor->manager_ctx;
  PyObject *type, *value, *trace;
  PyGILState_STATE state;

  if (!Py_IsInitialized()) return;
  state = PyGILState_Ensure();
  PyErr_Fetch(&type, &value, &trace);
  if (borrowed->owner) {
    Py_DECREF(borrowed->owner);
  } else {
    PyBuffer_Release(&borrowed->view);
  }
  free(borrowed);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
}

static Borrowed *BorrowedCreate(void *data, Py_ssize_t item_size, Py_ssize_t ndim, bool read_only) {
  Borrowed *borrowed = malloc(sizeof(*borrowed) + 2 * (size_t)ndim * sizeof(int64_t));

  if (!borrowed) {
    PyErr_NoMemory();
    return NULL;
  }
  borrowed->owner = NULL;
  borrowed->tensor = (DLManagedTensorVersioned){{DLPACK_MAJOR, DLPACK_MINOR},
                                                borrowed,
                                                DeleteBorrowed,
                                                read_only ? DLPACK_FLAG_READ_ONLY : 0,
                                                {data,
                                                 {DLPACK_CPU, 0},
                                                 (int32_t)ndim,
                                                 {DLPACK_FLOAT, (uint8_t)(8 * item_size), 1},
                                                 borrowed->dims,
                                                 borrowed->dims + ndim,
                                                 0}};
  return borrowed;
}

/* Strides come in bytes; the one of an axis that is never stepped along means nothing. */
static int SetAxis(Borrowed *borrowed, int32_t axis, Py_ssize_t length, Py_ssize_t stride) {
  int32_t ndim = borrowed->tensor.dl_tensor.ndim;
  Py_ssize_t item_size = borrowed->tensor.dl_tensor.dtype.bits / 8;

  if (length > 1 && stride % item_size) {
    PyErr_Format(ErrorClass(CEED_ERROR_INCOMPATIBLE),
                 "a stride of %zd bytes is no multiple of the %zd bytes of an entry: copy the "
                 "source first",
                 stride, item_size);
    return -1;
  }
  borrowed->dims[axis] = length;
  borrowed->dims[ndim + axis] = stride / item_size;
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
  PyErr_Format(
      ErrorClass(CEED_ERROR_INCOMPATIBLE),
      "the buffer of %R holds items of format '%s', a vector holds native float64 ('d') or "
      "float32 ('f'): convert it first",
      (PyObject *)Py_TYPE(object), format);
  return 0;
}

static Borrowed *BorrowedFromView(const Py_buffer *view, PyObject *object) {
  Py_ssize_t item_size = ItemSize(view, object);
  Borrowed *borrowed;

  if (!item_size) return NULL;
  borrowed = BorrowedCreate(view->buf, item_size, view->ndim, view->readonly);
  for (int32_t i = 0; borrowed && i < view->ndim; i++) {
    if (SetAxis(borrowed, i, view->shape[i], view->strides[i])) {
      free(borrowed);
      return NULL;
    }
  }
  if (borrowed) borrowed->view = *view;
  return borrowed;
}

const char borrow_buffer_doc[] =
    "Return a capsule over the memory of an object with the buffer protocol.";

PyObject *BorrowBuffer(PyObject *Py_UNUSED(module), PyObject *object) {
  Borrowed *borrowed;
  Py_buffer view;

  if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS_RO)) return NULL;
  borrowed = BorrowedFromView(&view, object);
  if (!borrowed) {
    PyBuffer_Release(&view);
    return NULL;
  }
  return WrapVersioned(&borrowed->tensor);
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
    "item_size, shape, strides in bytes or None).";

PyObject *BorrowAddress(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *owner, *shape, *strides;
  unsigned long long address;
  Py_ssize_t item_size;
  Borrowed *borrowed;
  int read_only;

  if (!PyArg_ParseTuple(args, "OKpnO!O", &owner, &address, &read_only, &item_size, &PyTuple_Type,
                        &shape, &strides)) {
    return NULL;
  }
  borrowed = BorrowedCreate((void *)(uintptr_t)address, item_size, PyTuple_Size(shape), read_only);
  if (!borrowed) return NULL;
  if (SetAxes(borrowed, shape, strides)) {
    free(borrowed);
    return NULL;
  }
  Py_INCREF(owner);
  borrowed->owner = owner;
  return WrapVersioned(&borrowed->tensor);
}

int InitImports(void) {
  s_dlpack = PyUnicode_InternFromString("__dlpack__");
  s_ceed = PyUnicode_InternFromString("ceed");
  s_copy = PyUnicode_InternFromString("copy");
  s_writable = PyUnicode_InternFromString("writable");
  s_device = PyUnicode_InternFromString("device");
  s_handle = PyUnicode_InternFromString("handle");
  s_scalar = PyUnicode_InternFromString("scalar");
  no_arguments = PyTuple_New(0);
  cpu_device = Py_BuildValue("(ii)", DLPACK_CPU, 0);
  plain_request = Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
  for (int i = 0; i < 2; i++) {
    copy_requests[i] = Py_BuildValue("{s(ii)sO}", "max_version", DLPACK_MAJOR, DLPACK_MINOR, "copy",
                                     i ? Py_True : Py_False);
  }
  return PyErr_Occurred() ? -1 : 0;
}
