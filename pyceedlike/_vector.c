// The base type of Vector: how vectors give their memory away, and arithmetic.
// SPDX-License-Identifier: BSD-2-Clause
#include "_exchange.h"

// ------------------------------------------------------------------------------------------------
// Exports
// ------------------------------------------------------------------------------------------------

static int ShareVector(Exporter *self, CeedMemType mem_type, DLManagedTensorVersioned **tensor) {
  return self->lib->VectorToDLPackVersioned(NULL, self->vec, mem_type, tensor);
}

static int ShareVectorLegacy(Exporter *self, CeedMemType mem_type, DLManagedTensor **tensor) {
  return self->lib->VectorToDLPack(NULL, self->vec, mem_type, tensor);
}

static int ExportVector(Exporter *self, CeedExportMode mode, const Request *request,
                        DLManagedTensorVersioned **tensor) {
  return self->lib->VectorExport(self->vec, request->mem_type, mode, request->ndim, request->shape,
                                 NULL, tensor);
}

static int GetVectorDevice(Exporter *self, CeedMemType mem_type, int32_t *type, int32_t *id) {
  return self->lib->VectorGetDLPackDevice(self->vec, mem_type, type, id);
}

static int DestroyVector(Exporter *self) { return self->lib->VectorDestroy(&self->vec); }

const Kind vector_kind = {
    .noun = "vector",
    .shares = "shares the vector's memory",
    .leases = "shares the vector's memory with readers, who hold a lease",
    .share = ShareVector,
    .share_legacy = ShareVectorLegacy,
    .export = ExportVector,
    .device = GetVectorDevice,
    .destroy = DestroyVector,
};

// ------------------------------------------------------------------------------------------------
// Making
// ------------------------------------------------------------------------------------------------

void SetVector(Exporter *self, const Library *lib, CeedVector vec) {
  CeedSize length;

  self->lib = lib;
  self->vec = vec;
  SetCeed(self, lib->VectorReturnCeed(vec));
  lib->VectorGetLength(vec, &length);
  self->shape[0] = length;
  self->strides[0] = 1;
}

/* Takes the reference, on failure too. */
static PyObject *OwnVector(PyTypeObject *type, const Library *lib, CeedVector vec) {
  Exporter *self = AllocateExporter(type, &vector_kind);

  if (!self) {
    lib->VectorDestroy(&vec);
    return NULL;
  }
  SetVector(self, lib, vec);
  return (PyObject *)self;
}

PyObject *CreateVector(PyObject *Py_UNUSED(module), PyObject *args) {
  unsigned long long ceed;
  CeedVector vec = NULL;
  Py_ssize_t length;
  int single, code;

  if (!PyArg_ParseTuple(args, "Kpn:Vector", &ceed, &single, &length)) return NULL;
  code = libraries[single].VectorCreate((Ceed)(uintptr_t)ceed, length, &vec);
  if (code) return Raise(&libraries[single], code);
  return OwnVector((PyTypeObject *)given[VECTOR_TYPE], &libraries[single], vec);
}

PyDoc_STRVAR(
    from_handle_doc,
    "from_handle(address)\n--\n\n"
    "Return a vector over the CeedVector at an address, with a reference of its own; it has the\n"
    "precision of the library that made it.\n\n"
    "Raises CeedIncompatibleError where no vector of this library is.\n\n"
    ">>> v = pyceedlike.Ceed().Vector(3)\n"
    ">>> len(pyceedlike.Vector.from_handle(v.handle))\n"
    "3\n");

static int ReferToVector(const Library *lib, void *object, void **copy) {
  return lib->VectorReferenceCopy(object, (CeedVector *)copy);
}

static PyObject *FromHandleMethod(PyObject *type, PyObject *address) {
  void *vec = NULL;
  const Library *lib = FindObject(address, ReferToVector, &vec);

  return lib ? OwnVector((PyTypeObject *)type, lib, vec) : NULL;
}

// ------------------------------------------------------------------------------------------------
// Printing
// ------------------------------------------------------------------------------------------------

static PyObject *ViewMethod(PyObject *object, PyObject *args) {
  Exporter *self = (Exporter *)object;
  const char *format;
  Printed printed;

  if (!PyArg_ParseTuple(args, "s:view", &format) || !PrintedOpen(&printed)) return NULL;
  return PrintedClose(&printed, self->lib,
                      self->lib->VectorView(self->vec, format, printed.stream));
}

// ------------------------------------------------------------------------------------------------
// Arithmetic: in C, because a call is most of the time of a short vector
// ------------------------------------------------------------------------------------------------

static int ParseVector(PyObject *object, void *vec) {
  if (!PyObject_TypeCheck(object, vector_type)) {
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name) PyErr_Format(PyExc_TypeError, "a Vector is wanted here, not %U", name);
    Py_XDECREF(name);
    return 0;
  }
  *(CeedVector *)vec = ((Exporter *)object)->vec;
  return 1;
}

static PyObject *Finish(const Exporter *self, int code) {
  if (code) return Raise(self->lib, code);
  Py_RETURN_NONE;
}

typedef int (*Call)(CeedVector vec, double number);

static const Numbers *NumbersOf(PyObject *object) { return ((Exporter *)object)->lib->numbers; }

/* A method with one number, of this name. */
static PyObject *CallWithNumber(PyObject *object, PyObject *args, PyObject *keywords,
                                const char *format, char *name, Call call) {
  char *names[] = {name, NULL};
  Exporter *self = (Exporter *)object;
  double number;
  int code;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &number)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  code = call(self->vec, number);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

PyDoc_STRVAR(norm_doc,
             "norm($self, normtype=1)\n--\n\n"
             "Return the 1-, 2- or maximum norm: NORM_1, NORM_2 (the default) or NORM_MAX.\n\n"
             ">>> pyceedlike.from_dlpack(np.array([3.0, -4.0])).norm()\n"
             "5.0\n");

static PyObject *NormMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"normtype", NULL};
  Exporter *self = (Exporter *)object;
  int type = CEED_NORM_2, code;
  double norm;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|i:norm", names, &type)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  code = NumbersOf(object)->norm(self->vec, (CeedNormType)type, &norm);
  Py_END_ALLOW_THREADS;
  return code ? Raise(self->lib, code) : PyFloat_FromDouble(norm);
}

PyDoc_STRVAR(reciprocal_doc,
             "reciprocal($self)\n--\n\n"
             "Replace the entries that are not nearly zero by their reciprocals.");

static PyObject *ReciprocalMethod(PyObject *object, PyObject *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;
  int code;

  Py_BEGIN_ALLOW_THREADS;
  code = self->lib->VectorReciprocal(self->vec);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

PyDoc_STRVAR(set_value_doc, "set_value($self, value)\n--\n\nSet every entry to a value.");

static PyObject *SetValueMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  Call call = NumbersOf(object)->set_value;

  return CallWithNumber(object, args, keywords, "d:set_value", "value", call);
}

PyDoc_STRVAR(copy_from_doc,
             "copy_from($self, other)\n--\n\n"
             "Set all entries to those of another vector of this length.\n\n"
             ">>> v = pyceedlike.Ceed().Vector(2)\n"
             ">>> v.copy_from(pyceedlike.from_dlpack(np.array([1.0, 2.0])))\n");

static PyObject *CopyFromMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"other", NULL};
  Exporter *self = (Exporter *)object;
  CeedVector other;
  int code;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&:copy_from", names, ParseVector, &other)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  code = self->lib->VectorCopy(other, self->vec);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

PyDoc_STRVAR(scale_doc, "scale($self, a)\n--\n\nMultiply every entry by a number.");

static PyObject *ScaleMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  Call call = NumbersOf(object)->scale;

  return CallWithNumber(object, args, keywords, "d:scale", "a", call);
}

PyDoc_STRVAR(filter_doc,
             "filter($self, threshold)\n--\n\nSet the entries of at most this magnitude to zero.");

static PyObject *FilterMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  Call call = NumbersOf(object)->filter;

  return CallWithNumber(object, args, keywords, "d:filter", "threshold", call);
}

PyDoc_STRVAR(axpy_doc,
             "axpy($self, a, x)\n--\n\n"
             "Add a x to this vector.\n\n"
             ">>> y, x = (pyceedlike.from_dlpack(np.array(v)) for v in ([1.0, 1.0], [1.0, 2.0]))\n"
             ">>> y.axpy(10.0, x)\n"
             ">>> y.to_numpy()\n"
             "array([11., 21.])\n");

static PyObject *AxpyMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"a", "x", NULL};
  Exporter *self = (Exporter *)object;
  double a;
  CeedVector x;
  int code;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "dO&:axpy", names, &a, ParseVector, &x)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  code = NumbersOf(object)->axpy(self->vec, a, x);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

PyDoc_STRVAR(axpby_doc, "axpby($self, a, b, x)\n--\n\nSet this vector y to a x + b y.");

static PyObject *AxpbyMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"a", "b", "x", NULL};
  Exporter *self = (Exporter *)object;
  double a, b;
  CeedVector x;
  int code;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ddO&:axpby", names, &a, &b, ParseVector, &x)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  code = NumbersOf(object)->axpby(self->vec, a, b, x);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

PyDoc_STRVAR(
    pointwise_mult_doc,
    "pointwise_mult($self, x, y)\n--\n\nSet this vector to x .* y; it may be one of them.");

static PyObject *PointwiseMultMethod(PyObject *object, PyObject *args, PyObject *keywords) {
  static char *names[] = {"x", "y", NULL};
  Exporter *self = (Exporter *)object;
  CeedVector x, y;
  int code;

  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O&:pointwise_mult", names, ParseVector, &x,
                                   ParseVector, &y)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  code = self->lib->VectorPointwiseMult(self->vec, x, y);
  Py_END_ALLOW_THREADS;
  return Finish(self, code);
}

// ------------------------------------------------------------------------------------------------
// The type
// ------------------------------------------------------------------------------------------------

static Py_ssize_t Length(PyObject *object) { return (Py_ssize_t)((Exporter *)object)->shape[0]; }

static PyMethodDef vector_methods[] = {
    {"from_dlpack", (PyCFunction)(void (*)(void))ImportMethod,
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, import_doc},
    {"from_handle", FromHandleMethod, METH_O | METH_CLASS, from_handle_doc},
    {"norm", (PyCFunction)(void (*)(void))NormMethod, METH_VARARGS | METH_KEYWORDS, norm_doc},
    {"set_value", (PyCFunction)(void (*)(void))SetValueMethod, METH_VARARGS | METH_KEYWORDS,
     set_value_doc},
    {"copy_from", (PyCFunction)(void (*)(void))CopyFromMethod, METH_VARARGS | METH_KEYWORDS,
     copy_from_doc},
    {"scale", (PyCFunction)(void (*)(void))ScaleMethod, METH_VARARGS | METH_KEYWORDS, scale_doc},
    {"filter", (PyCFunction)(void (*)(void))FilterMethod, METH_VARARGS | METH_KEYWORDS, filter_doc},
    {"axpy", (PyCFunction)(void (*)(void))AxpyMethod, METH_VARARGS | METH_KEYWORDS, axpy_doc},
    {"axpby", (PyCFunction)(void (*)(void))AxpbyMethod, METH_VARARGS | METH_KEYWORDS, axpby_doc},
    {"pointwise_mult", (PyCFunction)(void (*)(void))PointwiseMultMethod,
     METH_VARARGS | METH_KEYWORDS, pointwise_mult_doc},
    {"reciprocal", ReciprocalMethod, METH_NOARGS, reciprocal_doc},
    {"_take", TakeMethod, METH_VARARGS, NULL},
    {"_let_go", LetGoMethod, METH_VARARGS, NULL},
    {"_open", OpenMethod, METH_VARARGS, NULL},
    {"_view", ViewMethod, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vector_slots[] = {
    {Py_tp_methods, vector_methods},
    {Py_sq_length, Length},
    {0, NULL},
};

PyType_Spec vector_spec = {"pyceedlike._exchange.VectorBase", sizeof(Exporter), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, vector_slots};
