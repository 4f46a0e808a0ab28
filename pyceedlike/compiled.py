# SPDX-License-Identifier: BSD-2-Clause
"""C functions from source: compiled once, kept in a folder of the user's cache."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
import subprocess
import tempfile
from typing import Any

from ._lib import CeedIncompatibleError, CeedUnsupportedError

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
