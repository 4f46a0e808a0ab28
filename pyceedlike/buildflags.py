# SPDX-License-Identifier: BSD-2-Clause
"""What a C, C++ or Fortran program is compiled and linked with to use the library of this package.

`python -m pyceedlike --cflags --libs` prints it for a Makefile.
"""

import argparse
import pathlib
import shlex

PACKAGE = pathlib.Path(__file__).resolve().parent
LIBRARIES = {"float64": "libceedlike.so.0", "float32": "libceedlike_f32.so.0"}


def prefix() -> pathlib.Path:
    """Return the folder that holds include/ and lib/: the package, or what it was built against."""
    elsewhere = PACKAGE / "prefix"
    return pathlib.Path(elsewhere.read_text().strip()) if elsewhere.exists() else PACKAGE


def include() -> pathlib.Path:
    """Return the folder of the headers."""
    return prefix() / "include" / "ceedlike"


def lib() -> pathlib.Path:
    """Return the folder of the libraries."""
    found = sorted(prefix().glob("lib*/**/libceedlike.so.0"))
    return found[0].parent if found else prefix() / "lib"


def cflags(scalar: str = "float64", compat: bool = False) -> str:
    """Return the flags of the C and C++ compilers.

    With `compat` they find <ceed.h>, which programs and QFunctions for libCEED include.

    >>> from pyceedlike import buildflags
    >>> buildflags.cflags("float32").endswith("include/ceedlike -DCEEDLIKE_SINGLE")
    True
    """
    for_libceed = [f"-I{include() / 'compat'}"] if compat else []
    single = ["-DCEEDLIKE_SINGLE"] if scalar == "float32" else []
    return shlex.join([f"-I{include()}", *for_libceed, *single])


def libs(scalar: str = "float64") -> str:
    """Return the flags of the linker, with a run path: no LD_LIBRARY_PATH is needed."""
    return shlex.join([f"-L{lib()}", f"-l:{LIBRARIES[scalar]}", f"-Wl,-rpath,{lib()}"])


def fortran() -> str:
    """Return the path of the Fortran module's source."""
    return shlex.quote(str(include() / "ceedlike.F90"))


def cmake_dir() -> str:
    """Return the folder that find_package(ceedlike) is to look in."""
    return shlex.quote(str(lib() / "cmake" / "ceedlike"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the questions to a command line."""
    add = parser.add_argument
    add("--cflags", action="store_true", help="flags of the C and C++ compilers")
    add("--compat", action="store_true", help="the same, for what includes libCEED's <ceed.h>")
    add("--libs", action="store_true", help="flags of the linker, with a run path")
    add("--fortran", action="store_true", help="the source of the Fortran module")
    add("--prefix", action="store_true", help="the folder that holds include/ and lib/")
    add("--cmake-dir", action="store_true", help="where find_package(ceedlike) is to look")
    add("--scalar", choices=LIBRARIES, default="float64", help="the precision (%(default)s)")


def answer(asked: argparse.Namespace) -> str:
    """Return the answers to the questions of a command line, in one line."""
    words = [
        cflags(asked.scalar, asked.compat) if asked.cflags or asked.compat else "",
        fortran() if asked.fortran else "",
        libs(asked.scalar) if asked.libs else "",
        shlex.quote(str(prefix())) if asked.prefix else "",
        cmake_dir() if asked.cmake_dir else "",
    ]
    return " ".join(filter(None, words))
