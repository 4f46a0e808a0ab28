# SPDX-License-Identifier: BSD-2-Clause
"""C functions from source: compiled once, kept in a folder of the user's cache."""

from __future__ import annotations

import hashlib
import inspect
import os
import pathlib
import shlex
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from ._lib import CeedIncompatibleError, CeedUnsupportedError

if TYPE_CHECKING:
    from .callback import Physics, QField
    from .context import ContextField

INCLUDE = pathlib.Path(__file__).parent / "include" / "ceedlike"
FLAGS = ("-std=gnu99", "-O3", "-fPIC", "-shared", "-Werror=incompatible-pointer-types")


def compile_function(code: str, name: str, scalar: str) -> tuple[int, Any]:
    """Return the address of a QFunction of C code, and what keeps it in memory.

    Raises CeedIncompatibleError, with the compiler's messages, for code that does not compile or
    has no such QFunction, CeedUnsupportedError where there is no compiler.
    """
    import cffi

    if not name.isidentifier():
        raise CeedIncompatibleError(f'source must be "file:name" of the C function, not {name!r}')
    ffi = cffi.FFI()
    ffi.cdef("void *pyceedlike_function(void);")
    library = ffi.dlopen(str(_library(code, name, scalar)), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    return int(ffi.cast("uintptr_t", library.pyceedlike_function())), library


def _library(code: str, name: str, scalar: str) -> pathlib.Path:
    """Return the shared library of the code, made unless it is there."""
    single = ["-DCEEDLIKE_SINGLE"] if scalar == "float32" else []
    command = [*shlex.split(os.environ.get("CC", "cc")), *FLAGS, *single, f"-I{INCLUDE}"]
    # The function may be static, as CEED_QFUNCTION() makes it.
    text = f"""#include <ceedlike.h>
#line 1 "{name}"
{code}
CeedQFunctionUser pyceedlike_function(void) {{ return {name}; }}
"""
    key = hashlib.sha256("\0".join([*command, text]).encode()).hexdigest()
    target = _folder() / f"{key}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            made = pathlib.Path(folder, target.name)
            _run([*command, "-x", "c", "-", "-o", str(made), "-lm"], text)
            made.replace(target)  # at once, whoever else makes it
    return target


def _folder() -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache, "pyceedlike")


def _run(command: list[str], text: str) -> None:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CeedUnsupportedError(f"there is no C compiler {command[0]!r}; CC names one") from None
    if done.returncode:
        raise CeedIncompatibleError(f"the C source does not compile:\n{done.stderr}")


# ---- C code in a docstring -----------------------------------------------------------------------

_TAKEN = {"ctx", "Q", "in", "out", "i"}  # names of the C function itself
_CTYPES = {1: "double", 2: "int32_t", 3: "bool"}


def function_of(physics: Physics) -> tuple[str, str]:
    """Return C code, and the name of its function, that runs a docstring for each point i.

    A field of the shape (2, 3) is u[2][3][points] there, and the values of the context are
    constants or arrays.
    """
    body, name = inspect.getdoc(physics.function), physics.function.__name__
    if not body:
        raise CeedIncompatibleError(f"{physics.name} has no docstring, which is the C code")
    fields = [*physics.inputs, *physics.outputs, *(value.name for value in physics.context)]
    for taken in _TAKEN.intersection(fields):
        raise CeedIncompatibleError(f"{taken!r} of {physics.name} has another meaning in C: rename")
    lines = [_field(f"in[{k}]", "const ", *f) for k, f in enumerate(physics.inputs.items())]
    lines += [_field(f"out[{k}]", "", *f) for k, f in enumerate(physics.outputs.items())]
    lines += map(_value, physics.context)
    return (
        f"""CEED_QFUNCTION({name})(void *ctx, CeedInt Q, const CeedScalar *const *in,
                      CeedScalar *const *out) {{
  {" ".join(lines)}
  for (CeedInt i = 0; i < Q; i++) {{
#line 1 "{physics.name}"
{body}
  }}
  return 0;
}}
""",
        name,
    )


def _field(pointer: str, const: str, name: str, field: QField) -> str:
    inner = "".join(f"[{n}]" for n in field.shape[1:]) + "[Q]" if field.shape else ""
    place = f"(*const {name}){inner}" if inner else f"*const {name}"
    return f"{const}CeedScalar {place} = ({const}void *){pointer}; (void){name};"


def _value(value: ContextField) -> str:
    ctype, name = _CTYPES[value.kind], value.name
    place = f"({ctype} const *)((char const *)ctx + {value.offset})"
    what = f"{ctype} const {name} = *" if value.is_number else f"{ctype} const *const {name} = "
    return f"{what}{place}; (void){name};"
