// Access that ends: the bracket of Get and Restore, and the lease that JAX reads under.
// SPDX-License-Identifier: BSD-2-Clause
#include <Python.h>
#include <stdlib.h>
#include <time.h>

#include "_exchange.h"

// ------------------------------------------------------------------------------------------------
// Bracket: owns a reference of the vector and shows its memory while the array is out. Views that
// outlive that keep the memory in place by a pin.
// ------------------------------------------------------------------------------------------------

enum { READ_WRITE, READ, WRITE };

typedef struct {
  PyObject_HEAD
  const Library *lib;
  CeedVector vec;
  CeedScalar *data;
  CeedMemType mem_type;
  int64_t shape[1], step;        /* the step in bytes */
  DLManagedTensorVersioned *pin; /* once restored, while views are left */
  Py_ssize_t views;
  bool reads, is_open, has_device;
} Bracket;

static int GetArray(Bracket *self, int kind) {
  const Library *lib = self->lib;
  PyThreadState *state = Unlock(self->has_device);
  int code = kind == READ    ? lib->VectorGetArrayRead(self->vec, self->mem_type,
                                                       (const CeedScalar **)&self->data)
             : kind == WRITE ? lib->VectorGetArrayWrite(self->vec, self->mem_type, &self->data)
                             : lib->VectorGetArray(self->vec, self->mem_type, &self->data);

  Lock(state);
  return code;
}

static int RestoreArray(Bracket *self) {
  PyThreadState *state = Unlock(self->has_device);
  CeedScalar *data = self->data;
  int code = self->reads ? self->lib->VectorRestoreArrayRead(self->vec, (const CeedScalar **)&data)
                         : self->lib->VectorRestoreArray(self->vec, &data);

  Lock(state);
  return code;
}

/* Before the array is restored, so that the memory never lies free under a view. */
static int PinViews(Bracket *self) {
  if (!self->views) return 0;
  return self->lib->VectorExport(self->vec, self->mem_type, CEED_EXPORT_PIN, 1, self->shape, NULL,
                                 &self->pin);
}

static void DropPin(Bracket *self) {
  DLManagedTensorVersioned *pin = self->pin;

  self->pin = NULL;
  if (pin) pin->deleter(pin);
}

static int Close(Bracket *self) {
  int code;

  if (!self->is_open) return 0;
  code = PinViews(self);
  if (code) return code;
  self->is_open = false; /* where this fails C code has restored it: then, too, it is over */
  return RestoreArray(self);
}

/* _open(kind, mem_type): a bracket whose array is out. */
PyObject *OpenMethod(PyObject *object, PyObject *args) {
  Exporter *owner = (Exporter *)object;
  int kind, mem_type, code;
  Bracket *self;

  if (!PyArg_ParseTuple(args, "ii", &kind, &mem_type)) return NULL;
  if (mem_type == CEED_MEM_DEVICE && owner->mem_type == CEED_MEM_DEVICE) {
    PyErr_SetString(
        ErrorClass(CEED_ERROR_UNSUPPORTED),
        "NumPy can't show a device's memory: share it by DLPack, as cupy.from_dlpack(v) "
        "and torch.from_dlpack(v) do");
    return NULL;
  }
  self = (Bracket *)Allocate(bracket_type);
  if (!self) return NULL;
  self->lib = owner->lib;
  self->shape[0] = owner->shape[0];
  self->step = owner->lib->item_size;
  self->mem_type = (CeedMemType)mem_type;
  self->reads = kind == READ;
  self->has_device = owner->mem_type == CEED_MEM_DEVICE;
  code = self->lib->VectorReferenceCopy(owner->vec, &self->vec);
  if (!code) code = GetArray(self, kind);
  if (!code) {
    self->is_open = true;
    return (PyObject *)self;
  }
  Raise(self->lib, code);
  Py_DECREF((PyObject *)self);
  return NULL;
}

static PyObject *Restore(PyObject *object, PyObject *Py_UNUSED(unused)) {
  Bracket *self = (Bracket *)object;
  int code = Close(self);

  if (code) return Raise(self->lib, code);
  Py_RETURN_NONE;
}

static void Report(const Bracket *self, int code) {
  if (code) Raise(self->lib, code);
  ReportException();
}

static void BracketDealloc(PyObject *object) {
  Bracket *self = (Bracket *)object;
  Exception before = PutAside();

  Report(self, Close(self));
  Report(self, self->lib->VectorDestroy(&self->vec));
  Resume(before);
  Release(object);
}

static int BracketGetBuffer(PyObject *object, Py_buffer *view, int flags) {
  Bracket *self = (Bracket *)object;
  const Memory memory = {self->data, 1, self->shape, &self->step, self->reads};

  view->obj = NULL;
  if (!self->is_open) {
    PyErr_SetString(ErrorClass(CEED_ERROR_ACCESS), "the array was restored");
    return -1;
  }
  if (FillBuffer(object, view, flags, self->lib, &memory)) return -1;
  self->views++;
  return 0;
}

static void BracketReleaseBuffer(PyObject *object, Py_buffer *Py_UNUSED(view)) {
  Bracket *self = (Bracket *)object;

  self->views--;
  if (!self->views) DropPin(self);
}

static PyMethodDef bracket_methods[] = {
    {"restore", Restore, METH_NOARGS, "End the access; once more does nothing."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bracket_slots[] = {
    {Py_tp_doc, "The memory of a vector between Get and Restore, by the buffer protocol."},
    {Py_tp_dealloc, BracketDealloc},
    {Py_tp_methods, bracket_methods},
    {Py_bf_getbuffer, BracketGetBuffer},
    {Py_bf_releasebuffer, BracketReleaseBuffer},
    {0, NULL},
};

PyType_Spec bracket_spec = {"pyceedlike._exchange.Bracket", sizeof(Bracket), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bracket_slots};

// ------------------------------------------------------------------------------------------------
// Lease: a read lease in a legacy wrapper, for a consumer that never writes. Its
// end can be awaited.
// ------------------------------------------------------------------------------------------------

/* Two hold it: the tensor in the consumer's hands, and the Python object that waits. */
typedef struct {
  DLManagedTensor tensor;
  DLManagedTensorVersioned *inner;
  PyThread_type_lock ended; /* held until the deleter has run */
  bool is_on_device;
  int holders;
} LeaseState;

typedef struct {
  PyObject_HEAD
  LeaseState *state;
  Exporter *owner; /* of whose device and stream the memory is */
  bool given;
} Lease;

static void DropState(LeaseState *state) {
  if (__atomic_sub_fetch(&state->holders, 1, __ATOMIC_ACQ_REL)) return;
  PyThread_free_lock(state->ended);
  free(state);
}

/* Needs no Python: JAX calls it from its own threads. */
static void DeleteLease(DLManagedTensor *tensor) {
  LeaseState *state = tensor->manager_ctx;

  state->inner->deleter(state->inner);
  PyThread_release_lock(state->ended);
  DropState(state);
}

/* Takes the tensor on success. */
static LeaseState *StateCreate(DLManagedTensorVersioned *inner, bool is_on_device) {
  LeaseState *state = malloc(sizeof(*state));

  if (!state) return NULL;
  state->ended = PyThread_allocate_lock();
  if (!state->ended) {
    free(state);
    return NULL;
  }
  PyThread_acquire_lock(state->ended, WAIT_LOCK);
  state->tensor = (DLManagedTensor){inner->dl_tensor, state, DeleteLease};
  state->inner = inner;
  state->is_on_device = is_on_device;
  state->holders = 2;
  return state;
}

/* _lease(mem_type=MEM_HOST, why=None): the memory for readers, until the consumer lets go; or a compact copy
   of it, where there is a reason why. */
PyObject *LeaseMethod(PyObject *object, PyObject *args) {
  Exporter *owner = (Exporter *)object;
  Request whole = {.ndim = 1, .shape = owner->shape};
  DLManagedTensorVersioned *inner;
  PyObject *why = NULL;
  Lease *self;
  int mem_type = CEED_MEM_HOST, code;

  if (!PyArg_ParseTuple(args, "|iU", &mem_type, &why)) return NULL;
  whole.mem_type = (CeedMemType)mem_type;
  code = ExportAs(owner, why ? CEED_EXPORT_COPY : CEED_EXPORT_READ, &whole, &inner);
  if (code) return Raise(owner->lib, code);
  self = (Lease *)Allocate(lease_type);
  if (self) self->state = StateCreate(inner, whole.mem_type == CEED_MEM_DEVICE);
  if (self && self->state) {
    Py_INCREF(object);
    self->owner = owner;
    if (why) {
      RecordCopy(owner, why);
    } else {
      RecordExchange(owner, true, owner->kind->leases);
    }
    return (PyObject *)self;
  }
  inner->deleter(inner);
  if (self) PyErr_NoMemory();
  Py_XDECREF((PyObject *)self);
  return NULL;
}

static void LeaseDealloc(PyObject *object) {
  Lease *self = (Lease *)object;

  if (self->state) {
    Exception before = PutAside();
    if (!self->given) DeleteLease(&self->state->tensor);
    DropState(self->state);
    Resume(before);
    Py_DECREF((PyObject *)self->owner);
  }
  Release(object);
}

static int OrderLease(Lease *self, PyObject *keywords) {
  PyObject *stream = keywords ? PyDict_GetItemString(keywords, "stream") : NULL;
  Request request = {.stream = NULL};

  if (stream && ParseStream(self->owner, stream, &request)) return -1;
  return OrderExport(self->owner, &request);
}

static PyObject *LeaseDLPack(PyObject *object, PyObject *Py_UNUSED(args), PyObject *keywords) {
  Lease *self = (Lease *)object;

  if (self->given) {
    PyErr_SetString(PyExc_BufferError, "this lease was handed out before");
    return NULL;
  }
  if (self->state->is_on_device && OrderLease(self, keywords)) return NULL;
  self->given = true;
  return WrapLegacy(&self->state->tensor);
}

static PyObject *LeaseDevice(PyObject *object, PyObject *Py_UNUSED(unused)) {
  DLDevice device = ((Lease *)object)->state->tensor.dl_tensor.device;

  return Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}

static PyLockStatus Acquire(PyThread_type_lock lock, long long microseconds) {
  PyLockStatus status;

  Py_BEGIN_ALLOW_THREADS;
  status = PyThread_acquire_lock_timed(lock, microseconds, 1);
  Py_END_ALLOW_THREADS;
  return status;
}

static double Now(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double Clamp(double value, double limit) {
  return value < 0 ? 0 : value < limit ? value : limit;
}

/* wait(seconds): whether it has ended by then. In slices, so that a signal is answered soon. */
static PyObject *LeaseWait(PyObject *object, PyObject *args) {
  static const double slice = 0.05;
  PyThread_type_lock ended = ((Lease *)object)->state->ended;
  double seconds, deadline, left;

  if (!PyArg_ParseTuple(args, "d", &seconds)) return NULL;
  deadline = Now() + seconds;
  do {
    left = deadline - Now();
    if (Acquire(ended, (long long)(1e6 * Clamp(left, slice))) == PY_LOCK_ACQUIRED) {
      PyThread_release_lock(ended);
      Py_RETURN_TRUE;
    }
    if (PyErr_CheckSignals()) return NULL;
  } while (left > 0);
  Py_RETURN_FALSE;
}

static PyObject *LeaseAddress(PyObject *object, void *Py_UNUSED(unused)) {
  return PyLong_FromVoidPtr(((Lease *)object)->state->tensor.dl_tensor.data);
}

static PyMethodDef lease_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))LeaseDLPack, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", LeaseDevice, METH_NOARGS, NULL},
    {"wait", LeaseWait, METH_VARARGS, "Return whether the lease ends within so many seconds."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef lease_attributes[] = {
    {"address", LeaseAddress, NULL, "Where the memory lies, while the lease lasts.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot lease_slots[] = {
    {Py_tp_doc, "A read lease that is handed to one consumer of legacy tensors."},
    {Py_tp_dealloc, LeaseDealloc},
    {Py_tp_methods, lease_methods},
    {Py_tp_getset, lease_attributes},
    {0, NULL},
};

PyType_Spec lease_spec = {"pyceedlike._exchange.Lease", sizeof(Lease), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, lease_slots};
