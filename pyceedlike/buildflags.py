# SPDX-License-Identifier: BSD-2-Clause
"""What a C, C++ or Fortran program is compiled and linked with to use the library of this package.

`python -m pyceedlike --cflags --libs` prints it for a Makefile.
"""

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


def cflags(scalar: str = "float64") -> str:
    """Return the flags of the C and C++ compilers.

    >>> from pyceedlike import buildflags
    >>> buildflags.cflags("float32").endswith("include/ceedlike -DCEEDLIKE_SINGLE")
    True
    """
    single = ["-DCEEDLIKE_SINGLE"] if scalar == "float32" else []
    return shlex.join([f"-I{include()}", *single])


def libs(scalar: str = "float64") -> str:
    """Return the flags of the linker, with a run path: no LD_LIBRARY_PATH is needed."""
    return shlex.join([f"-L{lib()}", f"-l:{LIBRARIES[scalar]}", f"-Wl,-rpath,{lib()}"])


def fortran() -> str:
    """Return the path of the Fortran module's source."""
    return shlex.quote(str(include() / "ceedlike.F90"))


def cmake_dir() -> str:
    """Return the folder that find_package(ceedlike) is to look in."""
    return shlex.quote(str(lib() / "cmake" / "ceedlike"))
