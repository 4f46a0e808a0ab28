// Whose work on a device comes first: the streams of consumers and producers beside the context's.
// SPDX-License-Identifier: BSD-2-Clause
#include "_exchange.h"

enum { NO_ORDER = -1, LEGACY = 1, PER_THREAD = 2 };

static int32_t DeviceType(const Library *lib, Ceed ceed) {
  CeedMemType mem_type = CEED_MEM_HOST;
  int32_t type = DLPACK_CPU, id;

  lib->GetPreferredMemType(ceed, &mem_type);
  if (mem_type == CEED_MEM_DEVICE) lib->GetDLPackDevice(ceed, mem_type, &type, &id);
  return type;
}

bool HasDevice(const Library *lib, Ceed ceed) { return DeviceType(lib, ceed) != DLPACK_CPU; }

/* CUDA's handles 1 and 2 are what DLPack means by them; HIP has no 1 and 2, SYCL addresses alone. */
static int CheckStream(int32_t type, long stream) {
  bool is_cuda = type == DLPACK_CUDA, is_hip = type == DLPACK_ROCM;

  if (type == DLPACK_CPU) {
    PyErr_SetString(PyExc_ValueError, "host memory has no streams: stream must be None or -1");
    return -1;
  }
  if (is_cuda ? stream > 0 : stream > PER_THREAD || (is_hip && stream == 0)) return 0;
  PyErr_Format(PyExc_ValueError, "stream=%ld is none of %s: it must be None, -1, %san address",
               stream,
               is_cuda  ? "CUDA's"
               : is_hip ? "HIP's"
                        : "SYCL's",
               is_cuda  ? "1, 2 or "
               : is_hip ? "0 or "
                        : "or ");
  return -1;
}

/* A stream, or a queue of dpctl. */
static int ParseHandle(int32_t type, PyObject *value, long *stream) {
  PyObject *address = NULL;
  int failed;

  if (type == DLPACK_ONEAPI && PyObject_HasAttrString(value, "addressof_ref")) {
    address = PyObject_CallMethod(value, "addressof_ref", NULL);
    if (!address) return -1;
  }
  failed = ParseLong(address ? address : value, "stream must be None or an integer", stream);
  Py_XDECREF(address);
  return failed;
}

int ParseStream(Exporter *self, PyObject *value, Request *request) {
  int32_t type = DeviceType(self->lib, self->ceed);
  long stream;

  if (value == Py_None) return 0;
  if (ParseHandle(type, value, &stream)) return -1;
  request->is_unordered = stream == NO_ORDER;
  if (request->is_unordered) return 0;
  if (CheckStream(type, stream)) return -1;
  request->stream = (void *)(uintptr_t)stream;
  return 0;
}

int OrderExport(Exporter *self, const Request *request) {
  PyThreadState *state;
  int code;

  if (request->is_unordered) return 0;
  state = Unlock(true);
  code = self->lib->OrderBefore(self->ceed, request->stream);
  Lock(state);
  if (code) RaiseExport(self->lib, code);
  return code ? -1 : 0;
}

PyObject *StreamNumber(const Library *lib, Ceed ceed) {
  void *stream = NULL;
  int code = lib->GetStream(ceed, &stream);

  if (code) return Raise(lib, code);
  if (!stream && DeviceType(lib, ceed) == DLPACK_CUDA) return PyLong_FromLong(LEGACY);
  return PyLong_FromVoidPtr(stream);
}

/* Managed memory is written by streams, too. */
static int IsOnDevice(PyObject *source, int32_t device_type, bool *is_on) {
  PyObject *place = PyObject_CallMethod(source, "__dlpack_device__", NULL);
  int type, id;

  *is_on = false;
  if (!place && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    return 0;
  }
  if (place && PyTuple_Check(place) && PyArg_ParseTuple(place, "ii", &type, &id)) {
    *is_on = type == device_type || (type == DLPACK_CUDA_MANAGED && device_type == DLPACK_CUDA);
  }
  Py_XDECREF(place);
  return PyErr_Occurred() ? -1 : 0;
}

int OrderImport(const Library *lib, Ceed ceed, PyObject *stream) {
  int32_t type = ceed ? DeviceType(lib, ceed) : DLPACK_CPU;
  PyThreadState *state;
  long number;
  int code;

  if (stream == Py_None || type == DLPACK_CPU) return 0;
  if (ParseHandle(type, stream, &number) || CheckStream(type, number)) return -1;
  state = Unlock(true);
  code = lib->OrderAfter(ceed, (void *)(uintptr_t)number);
  Lock(state);
  if (code) Raise(lib, code);
  return code ? -1 : 0;
}

/* An array of SYCL tells its queue, and is told none. */
static PyObject *FollowQueue(PyObject *source, const Library *lib, Ceed ceed) {
  PyObject *queue = PyObject_GetAttrString(source, "sycl_queue");
  int failed = 0;

  if (queue) {
    failed = OrderImport(lib, ceed, queue);
  } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
  } else {
    return NULL;
  }
  Py_XDECREF(queue);
  if (failed) return NULL;
  Py_INCREF(Py_None);
  return Py_None;
}

PyObject *StreamOfImport(PyObject *source, const Library *lib, Ceed ceed) {
  int32_t type = DeviceType(lib, ceed);
  bool is_on;

  if (IsOnDevice(source, type, &is_on)) return NULL;
  if (is_on && type != DLPACK_ONEAPI) return StreamNumber(lib, ceed);
  if (is_on) return FollowQueue(source, lib, ceed);
  Py_INCREF(Py_None);
  return Py_None;
}
