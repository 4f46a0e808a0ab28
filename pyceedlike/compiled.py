# SPDX-License-Identifier: BSD-2-Clause
"""C functions from source: compiled once, kept in a folder of the user's cache.

A library's name says what it was made of: the source, the flags and the header; the processor that
it is for; the compiler. Where there is no compiler, any compiler's will do, so that what was
compiled elsewhere is found in the folder that CEEDLIKE_CACHE_DIR names.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import platform
import re
import shlex
import subprocess
import tempfile
import warnings
from typing import Any

from ._lib import CeedIncompatibleError, CeedUnsupportedError
from .buildflags import LIBRARIES, include, libs

INCLUDE = include()
# Errno and the traps of floating point are what nobody asks for. A product and its sum may be one
# instruction, which rounds once. A short loop that straddles two cache lines takes up to half as
# long again.
FLAGS = ("-std=gnu99", "-O3", "-fno-math-errno", "-fno-trapping-math", "-falign-loops=32")
FLAGS += ("-fPIC", "-shared", "-Werror=incompatible-pointer-types", "-Werror=int-conversion")

# Vector forms of the functions of <math.h>, with errors below 4 units in the last place.
ONE = "exp log sin cos"
MORE = "exp2 expm1 log1p log2 tan asin acos atan sinh cosh tanh asinh acosh atanh cbrt erf erfc"


def _vector_forms(names: str, arguments: int) -> str:
    lines = []
    for name in names.split():
        for real, end in (("double", ""), ("float", "f")):
            types = ", ".join([real] * arguments)
            lines.append(f'__attribute__((simd("notinbranch"))) {real} {name}{end}({types});')
    return "\n".join(lines)


HEAD = f"""\
#include <ceedlike.h>
#include <math.h>
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 22)
{_vector_forms(ONE, 1)}
{_vector_forms("pow", 2)}
#endif
#if __GLIBC_PREREQ(2, 35)
{_vector_forms(MORE, 1)}
{_vector_forms("atan2", 2)}
#endif
#endif
"""


# Words of C, and names that its headers replace: no variable can have them.
WORDS = """
alignas alignof asm auto bool break case char const continue default do double else enum extern
false float for goto if inline int long nullptr register restrict return short signed sizeof static
struct switch true typedef typeof union unsigned void volatile while
EOF HUGE_VAL INFINITY MAXFLOAT NAN NULL linux unix
""".split()  # noqa: SIM905 - many lines otherwise


def is_word(name: str) -> bool:
    """Return whether a name can't be that of a variable in C."""
    return name in WORDS or re.fullmatch(r"M_[A-Z0-9_]+", name) is not None


class NoCompilerError(CeedUnsupportedError):
    """There is no compiler, and nobody has compiled this before."""


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
    path, folder = _library(code, name, scalar)
    try:
        library = ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    except OSError:  # cut short, where the disk was full or the machine stopped
        path.unlink(missing_ok=True)
        path, folder = _library(code, name, scalar)
        library = ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    return int(ffi.cast("uintptr_t", library.pyceedlike_function())), (library, folder)


def _library(code: str, name: str, scalar: str) -> tuple[pathlib.Path, Any]:
    """Return the shared library of the code, made unless it is there; and what it stays for."""
    compiler, options = _compiler()
    flags = [*_processor_flags(options), *FLAGS, *options]
    flags += ["-DCEEDLIKE_SINGLE"] if scalar == "float32" else []
    # The function may be static, as CEED_QFUNCTION() makes it.
    text = f"""{HEAD}#line 1 "{name}"
{code}
CeedQFunctionUser pyceedlike_function(void) {{ return {name}; }}
"""
    cache = _folder()
    made_of = _key(*flags, LIBRARIES[scalar], text, _header())
    parts = [made_of, _processor() if "native" in " ".join(flags) else "any"]
    version = _version(tuple(compiler))
    if version is None:
        if made := sorted(cache.glob("-".join([*parts, "*.so"]))):
            return made[0], None
        raise NoCompilerError(
            f"there is no C compiler {shlex.join(compiler)!r}: install one, name another by CC, or "
            "let CEEDLIKE_CACHE_DIR name a folder where this has been compiled before"
        )
    command = [*compiler, *flags, f"-I{INCLUDE}", f"-I{INCLUDE / 'compat'}", "-x", "c", "-"]
    # Headers of others may change without a word in the code that includes them.
    included = _run([*command, "-E"], text) if "include" in code else ""
    target = cache / f"{'-'.join([*parts, _key(version, included)])}.so"
    if target.exists():
        return target, None
    return _make(command, text, [*shlex.split(libs(scalar)), "-lm"], target)


def _compiler() -> tuple[list[str], list[str]]:
    """Return the command that CC names, be it of several words, and its options."""
    chosen = os.environ.get("CC", "")
    try:
        words = shlex.split(chosen) or ["cc"]
    except ValueError as error:
        raise CeedIncompatibleError(f"CC={chosen!r} is no command: {error}") from error
    first = next((k for k, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:first], words[first:]


def _make(
    command: list[str], text: str, linked: list[str], target: pathlib.Path
) -> tuple[pathlib.Path, Any]:
    """Compile into the cache; or into a folder that goes with the process, and say so."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=target.parent)
    except OSError as error:
        warnings.warn(
            f"compiled C code is not kept, since {target.parent} can't be written "
            f"({error.strerror}): let CEEDLIKE_CACHE_DIR name a folder that can",
            RuntimeWarning,
            stacklevel=2,
        )
        folder = tempfile.TemporaryDirectory()
        made = pathlib.Path(folder.name, target.name)
        _run([*command, "-o", str(made), *linked], text)
        return made, folder
    with folder:
        made = pathlib.Path(folder.name, target.name)
        _run([*command, "-o", str(made), *linked], text)
        made.replace(target)  # at once, whoever else makes it
    return target, None


def _folder() -> pathlib.Path:
    if chosen := os.environ.get("CEEDLIKE_CACHE_DIR"):
        return pathlib.Path(chosen).absolute()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        try:
            cache = pathlib.Path.home() / ".cache"
        except RuntimeError:  # a user whom the system does not know has no home
            cache = pathlib.Path(os.devnull)  # where nothing is kept, which is said then
    return cache / "pyceedlike"


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CeedIncompatibleError(f"the C source does not compile:\n{done.stderr}")
    return done.stdout


# ---- What a compiled function depends on ---------------------------------------------------------


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@functools.cache
def _header() -> str:
    return (INCLUDE / "ceedlike.h").read_text()


@functools.cache
def _version(compiler: tuple[str, ...]) -> str | None:
    try:
        done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return None if done.returncode else done.stdout


def _processor_flags(options: list[str]) -> list[str]:
    """Return what asks for this machine's instructions, unless CC says for which to compile."""
    option = "-mcpu" if platform.machine() == "aarch64" else "-march"
    chosen = any(word.startswith(("-march=", "-mcpu=")) for word in options)
    return [] if chosen else [f"{option}=native"]


@functools.cache
def _processor() -> str:
    """Return a key of the processor, by what tells its instructions."""
    wanted = "model name", "flags", "Features", "CPU implementer", "CPU part"
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return _key(*dict.fromkeys(line for line in lines if line.startswith(wanted)))
