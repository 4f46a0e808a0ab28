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

/* CUDA's handles 1 and 2 are what DLPack means by them; HIP has no 1 and 2. */
static int CheckStream(int32_t type, long stream) {
  bool is_cuda = type == DLPACK_CUDA;

  if (type == DLPACK_CPU) {
    PyErr_SetString(PyExc_ValueError, "host memory has no streams: stream must be None or -1");
    return -1;
  }
  if (is_cuda ? stream > 0 : stream == 0 || stream > PER_THREAD) return 0;
  PyErr_Format(PyExc_ValueError, "stream=%ld is none of %s: it must be None, -1, %s or an address",
               stream, is_cuda ? "CUDA's" : "HIP's", is_cuda ? "1, 2" : "0");
  return -1;
}

int ParseStream(Exporter *self, PyObject *value, Request *request) {
  long stream;

  if (value == Py_None) return 0;
  if (ParseLong(value, "stream must be None or an integer", &stream)) return -1;
  request->is_unordered = stream == NO_ORDER;
  if (request->is_unordered) return 0;
  if (CheckStream(DeviceType(self->lib, self->ceed), stream)) return -1;
  request->stream = (void *)(uintptr_t)stream;
  return 0;
}

int OrderExport(Exporter *self, const Request *request) {
  int code = request->is_unordered ? 0 : self->lib->OrderBefore(self->ceed, request->stream);

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

PyObject *StreamOfImport(PyObject *source, const Library *lib, Ceed ceed) {
  bool is_on;

  if (IsOnDevice(source, DeviceType(lib, ceed), &is_on)) return NULL;
  if (is_on) return StreamNumber(lib, ceed);
  Py_INCREF(Py_None);
  return Py_None;
}

int OrderImport(const Library *lib, Ceed ceed, PyObject *stream) {
  long number;
  int code;

  if (stream == Py_None || !ceed || !HasDevice(lib, ceed)) return 0;
  if (ParseLong(stream, "the stream of an interface must be None or an integer", &number) ||
      CheckStream(DLPACK_CUDA, number)) {
    return -1;
  }
  code = lib->OrderAfter(ceed, (void *)(uintptr_t)number);
  if (code) Raise(lib, code);
  return code ? -1 : 0;
}
