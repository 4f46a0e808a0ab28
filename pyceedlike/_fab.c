// The C base types of Fab, which owns the C object, and of FabView, which is a part of one.
// SPDX-License-Identifier: BSD-2-Clause
#include "_exchange.h"

// ------------------------------------------------------------------------------------------------
// A fab as a whole, as it is now
// ------------------------------------------------------------------------------------------------

static int ExportFab(Exporter *self, CeedExportMode mode, const Request *request,
                     DLManagedTensorVersioned **tensor) {
  const Library *lib = self->lib;
  CeedInt base, num_comp;
  int code = lib->FabGetComponentBase(self->fab, &base);

  if (!code) code = lib->FabGetNumComponents(self->fab, &num_comp);
  if (code) return code;
  return lib->FabExport(self->fab, request->mem_type, mode, NULL, base, num_comp, CEED_ORDER_XYZN,
                        tensor);
}

static int ShareFab(Exporter *self, CeedMemType mem_type, DLManagedTensorVersioned **tensor) {
  const Request request = {.mem_type = mem_type};

  return ExportFab(self, CEED_EXPORT_SHARED, &request, tensor);
}

static int GetFabDevice(Exporter *self, CeedMemType mem_type, int32_t *type, int32_t *id) {
  return self->lib->FabGetDLPackDevice(self->fab, mem_type, type, id);
}

static int DestroyFab(Exporter *self) { return self->lib->FabDestroy(&self->fab); }

const Kind fab_kind = {
    .noun = "fab",
    .shares = "shares the fab's memory",
    .leases = "shares the fab's memory with readers, who hold a lease",
    .share = ShareFab,
    .export = ExportFab,
    .device = GetFabDevice,
    .destroy = DestroyFab,
};

// ------------------------------------------------------------------------------------------------
// A part of a fab, as the fab was when the view was made
// ------------------------------------------------------------------------------------------------

typedef struct {
  Exporter base;
  CeedBox region;
  CeedInt comp, num_comp; /* the first counts from 0, whatever the base is */
  CeedAxisOrder order;
  uint64_t generation;
  bool read_only;
} FabView;

static int ExportPart(FabView *self, CeedExportMode mode, const Request *request,
                      DLManagedTensorVersioned **tensor) {
  const Library *lib = self->base.lib;
  CeedInt base;
  int code = lib->FabGetComponentBase(self->base.fab, &base);

  if (code) return code;
  return lib->FabExport(self->base.fab, request->mem_type, mode, &self->region, base + self->comp,
                        self->num_comp, self->order, tensor);
}

/* For a shared export that may not be written: it is neutral, as a pin is, once there are values. */
static int ExportReadOnly(FabView *self, const Request *request,
                          DLManagedTensorVersioned **tensor) {
  DLManagedTensorVersioned *shared;
  int code = ExportPart(self, CEED_EXPORT_SHARED, request, &shared);

  if (code) return code;
  code = ExportPart(self, CEED_EXPORT_PIN, request, tensor);
  shared->deleter(shared);
  return code;
}

static bool IsStale(const FabView *self) {
  uint64_t generation;

  return self->base.lib->FabGetGeneration(self->base.fab, &generation) ||
         generation != self->generation;
}

static int ExportView(Exporter *base, CeedExportMode mode, const Request *request,
                      DLManagedTensorVersioned **tensor) {
  FabView *self = (FabView *)base;
  const Library *lib = base->lib;

  if (IsStale(self)) {
    return lib->ErrorImpl(NULL, __FILE__, __LINE__, __func__, CEED_ERROR_ACCESS,
                          "The view is stale: the fab has got another box or other memory since "
                          "it was made; make a new one");
  }
  if (self->read_only && mode == CEED_EXPORT_SHARED) {
    return ExportReadOnly(self, request, tensor);
  }
  return ExportPart(self, mode, request, tensor);
}

static int ShareView(Exporter *self, CeedMemType mem_type, DLManagedTensorVersioned **tensor) {
  const Request request = {.mem_type = mem_type};

  return ExportView(self, CEED_EXPORT_SHARED, &request, tensor);
}

const Kind fab_view_kind = {
    .noun = "view",
    .shares = "shares the fab's memory",
    .leases = "shares the fab's memory with readers, who hold a lease",
    .share = ShareView,
    .export = ExportView,
    .device = GetFabDevice,
    .destroy = DestroyFab,
};

static PyObject *GetIsStale(PyObject *object, void *Py_UNUSED(unused)) {
  return PyBool_FromLong(IsStale((FabView *)object));
}

/* The region is one that has a name, or else the box at an address. */
static int FillView(FabView *self, const Exporter *fab, int name, const CeedBox *box) {
  const Library *lib = self->base.lib = fab->lib;
  int code = lib->FabReferenceCopy(fab->fab, &self->base.fab);

  if (!code) SetCeed(&self->base, fab->ceed);
  if (!code) code = lib->FabGetGeneration(fab->fab, &self->generation);
  if (!code && self->num_comp < 0) code = lib->FabGetNumComponents(fab->fab, &self->num_comp);
  if (code || name < 0) {
    if (!code) self->region = *box;
    return code;
  }
  return lib->FabGetRegion(fab->fab, (CeedRegion)name, &self->region);
}

/* _of(fab, name, box, comp, num_comp, order, read_only), where name is a CeedRegion, or -1 and box
   the address of a CeedBox; comp counts from 0, num_comp is -1 for all components. */
static PyObject *MakeView(PyObject *type, PyObject *args) {
  int name, comp, num_comp, order, read_only, code;
  unsigned long long box;
  PyObject *fab;
  FabView *self;

  if (!PyArg_ParseTuple(args, "O!iKiiip", fab_type, &fab, &name, &box, &comp, &num_comp, &order,
                        &read_only)) {
    return NULL;
  }
  self = (FabView *)AllocateExporter((PyTypeObject *)type, &fab_view_kind);
  if (!self) return NULL;
  self->comp = comp;
  self->num_comp = num_comp;
  self->order = (CeedAxisOrder)order;
  self->read_only = read_only;
  code = FillView(self, (Exporter *)fab, name, (const CeedBox *)(uintptr_t)box);
  if (!code) return (PyObject *)self;
  Raise(self->base.lib, code);
  Py_DECREF((PyObject *)self);
  return NULL;
}

/* _part: (address of the box, first component, number of components, order). */
static PyObject *GetPart(PyObject *object, void *Py_UNUSED(unused)) {
  FabView *self = (FabView *)object;
  CeedInt base;
  int code = self->base.lib->FabGetComponentBase(self->base.fab, &base);

  if (code) return Raise(self->base.lib, code);
  return Py_BuildValue("Niii", PyLong_FromVoidPtr(&self->region), (int)(base + self->comp),
                       (int)self->num_comp, (int)self->order);
}

static PyMethodDef fab_view_methods[] = {
    {"_of", MakeView, METH_VARARGS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef fab_view_attributes[] = {
    {"is_stale", GetIsStale, NULL,
     "Whether the fab has got another box or other memory since the view was made.", NULL},
    {"_part", GetPart, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot fab_view_slots[] = {
    {Py_tp_methods, fab_view_methods},
    {Py_tp_getset, fab_view_attributes},
    {0, NULL},
};

PyType_Spec fab_view_spec = {"pyceedlike._exchange.FabViewBase", sizeof(FabView), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, fab_view_slots};

// ------------------------------------------------------------------------------------------------
// Making fabs
// ------------------------------------------------------------------------------------------------

void SetFab(Exporter *self, const Library *lib, CeedFab fab) {
  self->lib = lib;
  self->fab = fab;
  SetCeed(self, lib->FabReturnCeed(fab));
}

/* Takes the reference, on failure too. */
static PyObject *OwnFab(PyTypeObject *type, const Library *lib, CeedFab fab) {
  Exporter *self = AllocateExporter(type, &fab_kind);

  if (!self) {
    lib->FabDestroy(&fab);
    return NULL;
  }
  SetFab(self, lib, fab);
  return (PyObject *)self;
}

/* _own(address, single): a fab over a reference that C has given. */
static PyObject *OwnMethod(PyObject *type, PyObject *args) {
  unsigned long long fab;
  int single;

  if (!PyArg_ParseTuple(args, "Kp", &fab, &single)) return NULL;
  return OwnFab((PyTypeObject *)type, &libraries[single], (CeedFab)(uintptr_t)fab);
}

PyDoc_STRVAR(
    from_handle_doc,
    "from_handle(address)\n--\n\n"
    "Return a fab over the CeedFab at an address, with a reference of its own; it has the\n"
    "precision of the library that made it.\n\n"
    "Raises CeedIncompatibleError where no fab of this library is.\n\n"
    ">>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]))\n"
    ">>> pyceedlike.Fab.from_handle(fab.handle).box\n"
    "Box((-2,), (5,))\n");

static int ReferToFab(const Library *lib, void *object, void **copy) {
  return lib->FabReferenceCopy(object, (CeedFab *)copy);
}

static PyObject *FromHandleMethod(PyObject *type, PyObject *address) {
  void *fab = NULL;
  const Library *lib = FindObject(address, ReferToFab, &fab);

  return lib ? OwnFab((PyTypeObject *)type, lib, fab) : NULL;
}

static PyObject *ViewMethod(PyObject *object, PyObject *Py_UNUSED(unused)) {
  Exporter *self = (Exporter *)object;
  Printed printed;

  if (!PrintedOpen(&printed)) return NULL;
  return PrintedClose(&printed, self->lib, self->lib->FabView(self->fab, printed.stream));
}

/* _note(part): what became of the exchange of a part of this fab. */
static PyObject *NoteMethod(PyObject *object, PyObject *part) {
  Exporter *self = (Exporter *)object, *other = (Exporter *)part;

  if (!PyObject_TypeCheck(part, exporter_type)) {
    PyErr_SetString(PyExc_TypeError, "a part is a view of the fab");
    return NULL;
  }
  Py_XINCREF(other->detail);
  RecordExchange(self, other->shared, other->reason);
  self->detail = other->detail;
  Py_RETURN_NONE;
}

static PyMethodDef fab_methods[] = {
    {"from_handle", FromHandleMethod, METH_O | METH_CLASS, from_handle_doc},
    {"_import", (PyCFunction)(void (*)(void))ImportFabMethod,
     METH_FASTCALL | METH_KEYWORDS | METH_CLASS, NULL},
    {"_own", OwnMethod, METH_VARARGS | METH_CLASS, NULL},
    {"_note", NoteMethod, METH_O, NULL},
    {"_print", ViewMethod, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot fab_slots[] = {{Py_tp_methods, fab_methods}, {0, NULL}};

PyType_Spec fab_spec = {"pyceedlike._exchange.FabBase", sizeof(Exporter), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, fab_slots};

// ------------------------------------------------------------------------------------------------
// MultiFabs
// ------------------------------------------------------------------------------------------------

static int ReferTo(const Library *lib, void *object, void **copy) {
  return lib->MultiFabReferenceCopy(object, (CeedMultiFab *)copy);
}

/* refer_to_multifab(address): a new reference, and whether it is the single library's. */
PyObject *ReferToMultiFab(PyObject *Py_UNUSED(module), PyObject *address) {
  void *mf = NULL;
  const Library *lib = FindObject(address, ReferTo, &mf);

  return lib ? Py_BuildValue("NN", PyLong_FromVoidPtr(mf), PyBool_FromLong(lib != libraries))
             : NULL;
}

/* list_fabs(address, single, type): the fabs of a MultiFab that are here. */
PyObject *ListFabs(PyObject *Py_UNUSED(module), PyObject *args) {
  unsigned long long address;
  PyObject *type, *list;
  CeedInt count, index;
  const Library *lib;
  CeedMultiFab mf;
  int single, code;

  if (!PyArg_ParseTuple(args, "KpO!", &address, &single, &PyType_Type, &type)) return NULL;
  lib = &libraries[single];
  mf = (CeedMultiFab)(uintptr_t)address;
  code = lib->MultiFabGetNumLocal(mf, &count);
  list = code ? Raise(lib, code) : PyList_New(count);
  for (CeedInt i = 0; list && i < count; i++) {
    CeedFab fab = NULL;
    PyObject *object;
    code = lib->MultiFabGetLocalIndex(mf, i, &index);
    if (!code) code = lib->MultiFabGetFab(mf, index, &fab);
    object = code ? Raise(lib, code) : OwnFab((PyTypeObject *)type, lib, fab);
    if (!object) {
      Py_CLEAR(list);
    } else {
      PyList_SetItem(list, i, object);
    }
  }
  return list;
}
