# SPDX-License-Identifier: BSD-2-Clause
"""The cffi modules, out of line: one a precision, both linked with the shared library."""

import os
import pathlib
import sys
import sysconfig

import cffi

HEADER = pathlib.Path(__file__).resolve().parent / "include" / "ceedlike.h"


def installed() -> pathlib.Path | None:
    """Return the prefix of the installed library to build against, None for the copy in here."""
    prefix = os.environ.get("CEEDLIKE_DIR")
    return pathlib.Path(prefix).resolve() if prefix else None


def link() -> dict[str, list[str]]:
    """Return where the headers and the libraries are, when building and when running."""
    prefix = installed()
    if not prefix:
        return {
            "include_dirs": ["include", "csrc"],
            "library_dirs": ["build/lib"],
            "runtime_library_dirs": ["$ORIGIN/lib"],
        }
    folders = [
        prefix / "lib",
        prefix / "lib64",
        prefix / "lib" / sysconfig.get_config_var("MULTIARCH"),
    ]
    found = [str(folder) for folder in folders if (folder / "libceedlike.so.0").exists()]
    if not found:
        sys.exit(f"CEEDLIKE_DIR: no libceedlike.so.0 in {', '.join(map(str, folders))}")
    return {
        "include_dirs": [str(prefix / "include/ceedlike"), "csrc"],
        "library_dirs": found,
        "runtime_library_dirs": found,
    }


def region() -> str:
    """Return the part of the public header that is written for cffi."""
    _, begin, rest = HEADER.read_text().partition("/* cffi: begin */")
    text, end, _ = rest.partition("/* cffi: end */")
    if not (begin and end):
        raise RuntimeError(f"{HEADER} has no region between 'cffi: begin' and 'cffi: end'")
    return text


# What the package needs besides: to give memory back, to tell C of an exception, and the functions
# of C that stand for Python's.
BESIDES = """
void free(void *);
int CeedErrorImpl(Ceed ceed, const char *filename, int lineno, const char *func, int ecode,
                  const char *format, ...);
int pyceedlike_shell(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out);
int pyceedlike_again(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);
int pyceedlike_drop(void *data);
extern "Python" int pyceedlike_python_shell(void *, CeedInt, const CeedVector *,
                                            const CeedVector *);
extern "Python" int pyceedlike_python_again(void *, CeedInt, const CeedScalar *const *,
                                            CeedScalar *const *);
extern "Python" int pyceedlike_python_drop(void *);
"""

# A program may use operators, and destroy them, when its Python has ended.
SOURCE = """
#include "ceedlike.h"
#include <stdlib.h>

static int pyceedlike_python_shell(void *, CeedInt, const CeedVector *, const CeedVector *);
static int pyceedlike_python_again(void *, CeedInt, const CeedScalar *const *, CeedScalar *const *);
static int pyceedlike_python_drop(void *);

static int CheckPython(void) {
  if (Py_IsInitialized()) return CEED_ERROR_SUCCESS;
  return CeedError(NULL, CEED_ERROR_BACKEND, "The QFunction is Python's, and Python has ended");
}

static int pyceedlike_shell(void *ctx, CeedInt Q, const CeedVector *in, const CeedVector *out) {
  int code = CheckPython();

  return code ? code : pyceedlike_python_shell(ctx, Q, in, out);
}

static int pyceedlike_again(void *ctx, CeedInt Q, const CeedScalar *const *in,
                            CeedScalar *const *out) {
  int code = CheckPython();

  return code ? code : pyceedlike_python_again(ctx, Q, in, out);
}

static int pyceedlike_drop(void *data) {
  return Py_IsInitialized() ? pyceedlike_python_drop(data) : 0;
}
"""


def builder(name: str, library: str, macros: list[tuple[str, str]]) -> cffi.FFI:
    """Return the description of one extension module, `pyceedlike.<name>`."""
    ffi = cffi.FFI()
    # The C compiler supplies the width of CeedScalar, so that one text serves both precisions.
    ffi.cdef("typedef float... CeedScalar;\n" + region())
    ffi.cdef(BESIDES)
    ffi.set_source(
        f"pyceedlike.{name}",
        SOURCE,
        define_macros=macros,
        depends=["include/ceedlike.h", "include/ceedlike_names.h"],
        extra_link_args=[f"-l:{library}"],
        **link(),
    )
    return ffi


ffi_f64 = builder("_ceedlike_f64", "libceedlike.so.0", [])
ffi_f32 = builder("_ceedlike_f32", "libceedlike_f32.so.0", [("CEEDLIKE_SINGLE", "1")])
