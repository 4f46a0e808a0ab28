// What a DLPack tensor says of itself, as Python objects.
// SPDX-License-Identifier: BSD-2-Clause
#include <Python.h>

#include "_exchange.h"

/* NULL is as good as no numbers where there are no axes. */
static PyObject *Axes(const int64_t *numbers, int32_t count) {
  if (numbers) return Integers(numbers, count);
  if (!count) return PyTuple_New(0);
  Py_RETURN_NONE;
}

static PyObject *Report(const DLTensor *tensor, bool versioned, uint64_t flags) {
  PyObject *shape = Axes(tensor->shape, tensor->ndim);
  PyObject *strides = shape ? Axes(tensor->strides, tensor->ndim) : NULL;

  if (!strides) {
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue(
      "(NK(iii)(ii)NNK)", PyBool_FromLong(versioned), (unsigned long long)flags, tensor->dtype.code,
      tensor->dtype.bits, tensor->dtype.lanes, (int)tensor->device.device_type,
      (int)tensor->device.device_id, shape, strides,
      (unsigned long long)((uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset));
}

/* Nothing but the version and the device is believed before it is checked. */
static PyObject *ReportManaged(const void *managed, bool versioned) {
  const DLManagedTensorVersioned *head = managed;
  const DLTensor *tensor =
      versioned ? &head->dl_tensor : &((const DLManagedTensor *)managed)->dl_tensor;
  const Library *lib = &libraries[FLOAT64];
  CeedDLPackSpec anything = CEED_DLPACK_ANY;
  int code;

  if (!versioned || head->version.major == DLPACK_MAJOR) {
    anything.device_type = tensor->device.device_type;
  }
  code = lib->DLPackCheck(managed, versioned, &anything);
  return code ? Raise(lib, code) : Report(tensor, versioned, versioned ? head->flags : 0);
}

static PyObject *ReportObject(PyObject *object, const DLPackExchangeAPI *api) {
  PyObject *report, *type, *value, *trace;
  DLManagedTensorVersioned *tensor;

  if (api->header.version.major != DLPACK_MAJOR) {
    PyErr_SetString(ErrorClass(CEED_ERROR_INCOMPATIBLE), "an exchange API of another DLPack");
    return NULL;
  }
  if (api->managed_tensor_from_py_object_no_sync(object, &tensor)) return NULL;
  report = ReportManaged(tensor, true);
  PyErr_Fetch(&type, &value, &trace);
  if (tensor->deleter) tensor->deleter(tensor);
  PyErr_Restore(type, value, trace);
  return report;
}

static PyObject *ExamineByTable(PyObject *object) {
  PyObject *capsule =
      PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__dlpack_c_exchange_api__");
  const DLPackExchangeAPI *api;
  PyObject *report;

  if (!capsule) return NULL;
  api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  report = api ? ReportObject(object, api) : NULL;
  Py_DECREF(capsule);
  return report;
}

const char examine_doc[] =
    "Return what a tensor says of itself: (versioned, flags, type, device, shape, strides or None, "
    "address of the first entry). It is that of an unused capsule, which keeps it, or what the C "
    "exchange API of an object gives.";

PyObject *Examine(PyObject *Py_UNUSED(module), PyObject *object) {
  if (PyCapsule_IsValid(object, versioned_name)) {
    return ReportManaged(PyCapsule_GetPointer(object, versioned_name), true);
  }
  if (PyCapsule_IsValid(object, legacy_name)) {
    return ReportManaged(PyCapsule_GetPointer(object, legacy_name), false);
  }
  return ExamineByTable(object);
}
