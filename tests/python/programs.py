# SPDX-License-Identifier: BSD-2-Clause
"""Building and running of programs in C, C++ and Fortran against an installed library."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT

EXAMPLES = ROOT / "examples"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]

#: What a make above says of its jobs and its flavour is not meant for what is built here.
ENVIRONMENT = {
    k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "SAN")
}


#: Two processes run on any machine, and for any user.
PARALLEL = ENVIRONMENT | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def need(*programs):
    """Return the commands, or skip the test that lacks one."""
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    return programs


def fortran():
    """Return the command of the Fortran compiler, or skip."""
    command = shlex.split(os.environ.get("FC", "gfortran"))
    need(command[0])
    return command


def run(*command, **options):
    """Run a command that has to succeed; return what it printed."""
    options = {"env": ENVIRONMENT, "timeout": 300, **options}
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def package_flags(*what):
    """Return what `python -m pyceedlike` says, as words."""
    return shlex.split(run(sys.executable, "-P", "-m", "pyceedlike", *what))


def shared_fortran(source, folder, *more):
    """Build a Fortran source, and the module, as a shared library; return its path."""
    library = pathlib.Path(folder) / f"lib{pathlib.Path(source).stem}.so"
    flags = ["-std=f2018", "-O1", "-g", "-fPIC", "-shared", *WARNINGS, *more]
    run(
        *fortran(), *flags, *package_flags("--fortran"), source,
        "-J", folder, "-o", library, *package_flags("--libs"),
    )  # fmt: skip
    return library
