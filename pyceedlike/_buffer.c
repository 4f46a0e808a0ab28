// The buffer protocol and the array interface: how memory is shown to what knows no DLPack.
// SPDX-License-Identifier: BSD-2-Clause
#include "_exchange.h"

// ------------------------------------------------------------------------------------------------
// The buffer protocol
// ------------------------------------------------------------------------------------------------

static int Refuse(const char *text) {
  PyErr_SetString(ErrorClass(CEED_ERROR_ACCESS), text);
  return -1;
}

static bool Wants(int flags, int wanted) { return (flags & wanted) == wanted; }

/* What a consumer does not ask about it takes for compact memory in C order. */
static int CheckLayout(const Py_buffer *view, int flags) {
  bool is_c = PyBuffer_IsContiguous(view, 'C'), is_fortran = PyBuffer_IsContiguous(view, 'F');

  if ((Wants(flags, PyBUF_C_CONTIGUOUS) || !Wants(flags, PyBUF_STRIDES)) && !is_c) {
    return Refuse("this memory is not compact in C order, and the request can't do with another");
  }
  if (Wants(flags, PyBUF_F_CONTIGUOUS) && !is_fortran) {
    return Refuse("this memory is not compact in Fortran order, which is asked for");
  }
  if (Wants(flags, PyBUF_ANY_CONTIGUOUS) && !is_c && !is_fortran) {
    return Refuse("this memory is not compact, and the request can't do with strides");
  }
  return 0;
}

int FillBuffer(PyObject *owner, Py_buffer *view, int flags, const Library *lib,
               const Memory *memory) {
  view->obj = NULL;
  if (memory->read_only && (flags & PyBUF_WRITABLE)) {
    return Refuse("this memory is for reading only");
  }
  view->buf = memory->data ? memory->data : (void *)owner; /* an empty buffer has an address, too */
  view->itemsize = view->len = lib->item_size;
  for (int i = 0; i < memory->ndim; i++) view->len *= (Py_ssize_t)memory->shape[i];
  view->readonly = memory->read_only;
  view->ndim = memory->ndim;
  view->shape = (Py_ssize_t *)memory->shape;
  view->strides = (Py_ssize_t *)memory->steps;
  view->suboffsets = NULL;
  view->internal = NULL;
  if (CheckLayout(view, flags)) return -1;
  view->format = flags & PyBUF_FORMAT ? (char *)lib->format : NULL;
  if (!Wants(flags, PyBUF_ND)) view->shape = NULL;
  if (!Wants(flags, PyBUF_STRIDES)) view->strides = NULL;
  Py_INCREF(owner);
  view->obj = owner;
  return 0;
}

/* The strides of a tensor that is nobody else's become bytes. */
static Memory MemoryOf(DLManagedTensorVersioned *managed, const Library *lib) {
  DLTensor *tensor = &managed->dl_tensor;

  for (int i = 0; i < tensor->ndim; i++) tensor->strides[i] *= lib->item_size;
  return (Memory){tensor->data, tensor->ndim, tensor->shape, tensor->strides,
                  managed->flags & DLPACK_FLAG_READ_ONLY};
}

int GetBuffer(PyObject *object, Py_buffer *view, int flags) {
  Exporter *self = (Exporter *)object;
  DLManagedTensorVersioned *tensor;
  Memory memory;
  int code;

  view->obj = NULL;
  if (self->kind != &vector_kind && !(flags & PyBUF_FORMAT)) {
    return Refuse("a field has no plain bytes: ask for axes and type, too, as memoryview() does");
  }
  code = Share(self, CEED_MEM_HOST, &tensor);
  if (code) {
    RaiseExport(self->lib, code);
    return -1;
  }
  memory = MemoryOf(tensor, self->lib);
  if (FillBuffer(object, view, flags, self->lib, &memory)) {
    tensor->deleter(tensor);
    return -1;
  }
  view->internal = tensor;
  return 0;
}

void ReleaseBuffer(PyObject *Py_UNUSED(object), Py_buffer *view) {
  DLManagedTensorVersioned *tensor = view->internal;

  tensor->deleter(tensor);
}

// ------------------------------------------------------------------------------------------------
// The array interface
// ------------------------------------------------------------------------------------------------

static PyObject *Interface(Exporter *self, const Memory *memory) {
  void *data = memory->data ? memory->data : (void *)self;
  PyObject *strides = Py_None;

  if (self->kind == &vector_kind) {
    Py_INCREF(strides);
  } else {
    strides = Integers(memory->steps, memory->ndim);
  }
  return Py_BuildValue("{s:i,s:s,s:N,s:(NO),s:N}", "version", 3, "typestr", self->lib->typestr,
                       "shape", Integers(memory->shape, memory->ndim), "data",
                       PyLong_FromVoidPtr(data), memory->read_only ? Py_True : Py_False, "strides",
                       strides);
}

/* Whoever reads this keeps an address and releases nothing: the memory is pinned for life. */
static PyObject *ShowPinned(Exporter *self, CeedMemType mem_type) {
  const Request whole = {.mem_type = mem_type, .ndim = 1, .shape = self->shape};
  DLManagedTensorVersioned *tensor, **pin = &self->pin[mem_type];
  PyObject *interface;
  Memory memory;
  int code = Share(self, mem_type, &tensor);

  if (code) return RaiseExport(self->lib, code);
  if (!*pin) code = ExportAs(self, CEED_EXPORT_PIN, &whole, pin);
  if (code || (*pin)->dl_tensor.data != tensor->dl_tensor.data) {
    tensor->deleter(tensor);
    if (code) return RaiseExport(self->lib, code);
    PyErr_SetString(
        ErrorClass(CEED_ERROR_ACCESS),
        "__array_interface__ has shown the memory of before, which it keeps for life: share "
        "the new one by DLPack or the buffer protocol");
    return NULL;
  }
  memory = MemoryOf(tensor, self->lib);
  interface = Interface(self, &memory);
  tensor->deleter(tensor);
  return interface;
}

/* No AttributeError, or numpy.asarray() would take the object for a scalar where its memory is in
   use. */
PyObject *GetArrayInterface(PyObject *object, void *Py_UNUSED(unused)) {
  return ShowPinned((Exporter *)object, CEED_MEM_HOST);
}

/* AttributeError is how an object says that it is none of CUDA's. */
PyObject *GetCudaInterface(PyObject *object, void *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;
  PyObject *interface, *stream;
  int32_t type = 0, id;

  if (self->mem_type == CEED_MEM_DEVICE) {
    self->lib->GetDLPackDevice(self->ceed, CEED_MEM_DEVICE, &type, &id);
  }
  if (type != DLPACK_CUDA) {
    PyErr_Format(PyExc_AttributeError, "this %s has no memory of CUDA", self->kind->noun);
    return NULL;
  }
  interface = ShowPinned(self, CEED_MEM_DEVICE);
  stream = interface ? StreamNumber(self->lib, self->ceed) : NULL;
  if (!stream || PyDict_SetItemString(interface, "stream", stream)) Py_CLEAR(interface);
  Py_XDECREF(stream);
  return interface;
}
