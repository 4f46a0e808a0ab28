// Python functions, called from C. An interpreter is found and started when one is first called.
// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

// ------------------------------------------------------------------------------------------------
// What we use of Python: what every one from 3.11 on has, so that one library serves them all
// ------------------------------------------------------------------------------------------------

typedef struct PyObject_private PyObject;

#define PYTHON_FUNCTIONS(X)                                                         \
  X(int, Py_IsInitialized, (void))                                                  \
  X(void, Py_InitializeEx, (int))                                                   \
  X(void, Py_SetProgramName, (const wchar_t *))                                     \
  X(wchar_t *, Py_DecodeLocale, (const char *, size_t *))                           \
  X(void, PyMem_RawFree, (void *))                                                  \
  X(void *, PyEval_SaveThread, (void))                                              \
  X(int, PyGILState_Ensure, (void))                                                 \
  X(void, PyGILState_Release, (int))                                                \
  X(PyObject *, PyImport_ImportModule, (const char *))                              \
  X(PyObject *, PyObject_CallMethod, (PyObject *, const char *, const char *, ...)) \
  X(int, PyArg_ParseTuple, (PyObject *, const char *, ...))                         \
  X(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))                     \
  X(PyObject *, PyObject_Str, (PyObject *))                                         \
  X(const char *, PyUnicode_AsUTF8AndSize, (PyObject *, ptrdiff_t *))               \
  X(void, Py_DecRef, (PyObject *))

#define PYTHON_MEMBER(type, name, arguments) type(*name) arguments;
#define PYTHON_NAME(type, name, arguments) #name,

static struct { PYTHON_FUNCTIONS(PYTHON_MEMBER) } python;
static const char *const python_names[] = {PYTHON_FUNCTIONS(PYTHON_NAME)};
static bool is_ready;
static char program[PATH_MAX]; /* that an interpreter of ours was started as */

static int LoadFunctions(Ceed ceed, void *library) {
  for (size_t i = 0; i < sizeof python_names / sizeof *python_names; i++) {
    void *symbol = dlsym(library, python_names[i]);

    CeedCheck(symbol, ceed, CEED_ERROR_UNSUPPORTED, "This Python has no %s", python_names[i]);
    memcpy((char *)&python + i * sizeof symbol, &symbol, sizeof symbol);
  }
  return CEED_ERROR_SUCCESS;
}

// ------------------------------------------------------------------------------------------------
// Which Python: of CEEDLIKE_PYTHON, of the environment that holds this library, of PATH
// ------------------------------------------------------------------------------------------------

/* Whether a folder holds a program, whose path then is in `program`. */
static bool IsIn(const char *folder, size_t length, const char *name) {
  int written = snprintf(program, sizeof program, "%.*s/%s", (int)length, folder, name);

  return written > 0 && (size_t)written < sizeof program && !access(program, X_OK);
}

static bool FindInEnvironment(void) {
  char path[PATH_MAX], *end;
  Dl_info info;

  if (!dladdr(&python, &info) || !realpath(info.dli_fname, path)) return false;
  if (!strstr(path, "/pyceedlike/lib/")) return false;
  while ((end = strrchr(path, '/')) && end != path) {
    *end = '\0';
    if (IsIn(path, strlen(path), "bin/python3")) return true;
  }
  return false;
}

static bool FindInPath(void) {
  const char *path = getenv("PATH");

  while (path && *path) {
    size_t length = strcspn(path, ":");

    if (IsIn(path, length, "python3")) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

static int FindProgram(Ceed ceed) {
  const char *given = getenv("CEEDLIKE_PYTHON");

  if (given && *given) {
    if (IsIn(given, strlen(given), "bin/python3")) return CEED_ERROR_SUCCESS;
    CeedCheck(strlen(given) < sizeof program && !access(given, X_OK), ceed, CEED_ERROR_UNSUPPORTED,
              "CEEDLIKE_PYTHON=%s is neither an environment with a bin/python3 nor a program",
              given);
    strcpy(program, given);
    return CEED_ERROR_SUCCESS;
  }
  CeedCheck(FindInEnvironment() || FindInPath(), ceed, CEED_ERROR_UNSUPPORTED,
            "No python3 is in PATH: set CEEDLIKE_PYTHON to an environment with pyceedlike");
  return CEED_ERROR_SUCCESS;
}

/* Open the shared library of the program, for extension modules too, which look it up globally. */
static int OpenLibrary(Ceed ceed, void **library) {
  char real[PATH_MAX], path[2 * PATH_MAX];
  const char *name = realpath(program, real) ? strrchr(real, '/') + 1 : "";
  int folder = (int)(name - real);

  CeedCheck(!strncmp(name, "python3.", 8), ceed, CEED_ERROR_UNSUPPORTED,
            "%s does not lead to a python3.x, whose library could be loaded: set CEEDLIKE_PYTHON "
            "to an environment with pyceedlike, or to its python3.x",
            program);
  snprintf(path, sizeof path, "%.*s../lib/lib%s.so.1.0", folder, real, name);
  *library = dlopen(access(path, R_OK) ? strrchr(path, '/') + 1 : path, RTLD_NOW | RTLD_GLOBAL);
  CeedCheck(*library, ceed, CEED_ERROR_UNSUPPORTED,
            "%s can't be started inside a program: %s (Debian, Ubuntu: apt install lib%s; a Python "
            "that you build: configure --enable-shared)",
            program, dlerror(), name);
  return CEED_ERROR_SUCCESS;
}

static int Start(Ceed ceed) {
  void *library = RTLD_DEFAULT;

  if (!dlsym(RTLD_DEFAULT, "Py_IsInitialized")) {
    CeedCall(FindProgram(ceed));
    CeedCall(OpenLibrary(ceed, &library));
  }
  CeedCall(LoadFunctions(ceed, library));
  if (!python.Py_IsInitialized()) {
    wchar_t *name;

    if (!*program) CeedCall(FindProgram(ceed));
    name = python.Py_DecodeLocale(program, NULL);
    python.Py_SetProgramName(name); /* by which Python finds the environment */
    python.Py_InitializeEx(0);      /* signals stay the program's */
    python.PyMem_RawFree(name);
    python.PyEval_SaveThread();
  }
  is_ready = true;
  return CEED_ERROR_SUCCESS;
}

/* The lock of stderr is the one that the libraries of both precisions share. */
static int StartOnce(Ceed ceed) {
  int code;

  flockfile(stderr);
  code = is_ready ? CEED_ERROR_SUCCESS : Start(ceed);
  funlockfile(stderr);
  return code;
}

// ------------------------------------------------------------------------------------------------
// The call
// ------------------------------------------------------------------------------------------------

static int FailImport(Ceed ceed) {
  PyObject *type, *value, *trace, *text;
  const char *utf8;
  int code;

  python.PyErr_Fetch(&type, &value, &trace);
  text = python.PyObject_Str(value);
  utf8 = text ? python.PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  code = CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%s can't use pyceedlike: %s",
                   *program ? program : "The Python of this process", utf8 ? utf8 : "no memory");
  python.Py_DecRef(type);
  python.Py_DecRef(value);
  python.Py_DecRef(trace);
  python.Py_DecRef(text);
  return code;
}

#define STRING(x) #x
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)

/* Vectors cross as addresses: the package checks that its library is of our version. */
static int Call(Ceed ceed, const char *function, CeedInt num_inputs, CeedVector *inputs,
                CeedInt num_outputs, CeedVector *outputs) {
  PyObject *module = python.PyImport_ImportModule("pyceedlike.embedding"), *result = NULL;
  const char *text;
  int code;

  if (module) {
    result = python.PyObject_CallMethod(
        module, "call", "sIyiKiK",
        VERSION(CEED_VERSION_MAJOR, CEED_VERSION_MINOR, CEED_VERSION_PATCH), CEED_SCALAR_BITS,
        function, (int)num_inputs, (unsigned long long)(uintptr_t)inputs, (int)num_outputs,
        (unsigned long long)(uintptr_t)outputs);
  }
  if (!result || !python.PyArg_ParseTuple(result, "is", &code, &text)) {
    code = FailImport(ceed);
  } else if (code) {
    code = CeedError(ceed, code, "%s", text);
  }
  python.Py_DecRef(result);
  python.Py_DecRef(module);
  return code;
}

static int CheckVectors(Ceed ceed, const char *what, CeedInt count, CeedVector *vectors) {
  CeedCheck(count >= 0, ceed, CEED_ERROR_DIMENSION, "PythonCall: %" CeedInt_FMT " %s", count, what);
  CeedCheck(!count || vectors, ceed, CEED_ERROR_INCOMPATIBLE, "PythonCall: the %s are NULL", what);
  for (CeedInt i = 0; i < count; i++) CeedCall(CeedObjectCheck(vectors[i], CEED_KIND_VECTOR));
  return CEED_ERROR_SUCCESS;
}

int CeedPythonCall(Ceed ceed, const char *function, CeedInt num_inputs, CeedVector *inputs,
                   CeedInt num_outputs, CeedVector *outputs) {
  int state, code;

  CeedCall(CeedObjectCheck(ceed, CEED_KIND_CEED));
  CeedCheck(function, ceed, CEED_ERROR_INCOMPATIBLE, "PythonCall: the function is NULL");
  CeedCall(CheckVectors(ceed, "inputs", num_inputs, inputs));
  CeedCall(CheckVectors(ceed, "outputs", num_outputs, outputs));
  CeedCall(StartOnce(ceed));
  state = python.PyGILState_Ensure();
  code = Call(ceed, function, num_inputs, inputs, num_outputs, outputs);
  python.PyGILState_Release(state);
  return code;
}
