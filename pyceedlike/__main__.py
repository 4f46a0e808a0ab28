# SPDX-License-Identifier: BSD-2-Clause
"""`python -m pyceedlike`: what builds need to know of the package."""

import argparse

from . import buildflags


def main() -> None:
    """Print what was asked for, in one line."""
    parser = argparse.ArgumentParser(prog="python -m pyceedlike", description=__doc__)
    add = parser.add_argument
    add("--cflags", action="store_true", help="flags of the C and C++ compilers")
    add("--libs", action="store_true", help="flags of the linker, with a run path")
    add("--fortran", action="store_true", help="the source of the Fortran module")
    add("--prefix", action="store_true", help="the folder that holds include/ and lib/")
    add("--cmake-dir", action="store_true", help="where find_package(ceedlike) is to look")
    add("--scalar", choices=buildflags.LIBRARIES, default="float64", help="the precision")
    asked = parser.parse_args()
    words = [
        buildflags.cflags(asked.scalar) if asked.cflags else "",
        buildflags.fortran() if asked.fortran else "",
        buildflags.libs(asked.scalar) if asked.libs else "",
        str(buildflags.prefix()) if asked.prefix else "",
        buildflags.cmake_dir() if asked.cmake_dir else "",
    ]
    if not any(words):
        parser.error("nothing is asked for")
    print(*filter(None, words))


if __name__ == "__main__":
    main()
