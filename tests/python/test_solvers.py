# SPDX-License-Identifier: BSD-2-Clause
"""The examples of solvers and libraries that know no Python."""

import importlib.util
import pathlib

import pytest
from programs import EXAMPLES, WARNINGS, fortran, need, package_flags, run

DLPACK = EXAMPLES / "dlpack"
C = ["-std=c99", "-Wpedantic", *WARNINGS]
F = ["-std=f2018", *WARNINGS]


@pytest.fixture(scope="module")
def dlpack_header():
    """The flag with which an official dlpack.h of version 1 is found."""
    spec = importlib.util.find_spec("tvm_ffi")
    if not spec or not spec.origin:
        pytest.skip("apache-tvm-ffi, which brings dlpack.h, is not installed")
    return ["-isystem", str(pathlib.Path(spec.origin).parent / "include")]


@pytest.fixture
def compile_c(compiler, dlpack_header, tmp_path):
    """A function that compiles sources of the example and returns the objects."""

    def objects(*names):
        flags = [*C, "-fPIC", *package_flags("--cflags"), *dlpack_header]
        made = [tmp_path / f"{name}.o" for name in names]
        for name, target in zip(names, made, strict=True):
            run(*compiler, *flags, "-c", DLPACK / f"{name}.c", "-o", target)
        return made

    return objects


def link_c(compiler, folder, objects):
    run(*compiler, *objects, "-o", folder / "program", *package_flags("--libs"), "-lm")
    return run(folder / "program")


def link_fortran(folder, source, objects):
    sources = [*package_flags("--fortran"), source]
    libs = [*package_flags("--libs"), "-lm"]
    run(*fortran(), *F, "-J", folder, *sources, *objects, "-o", folder / "program", *libs)
    return run(folder / "program")


def test_a_tensor_goes_to_a_library_that_knows_only_dlpack_and_back(compiler, compile_c, tmp_path):
    objects = compile_c("smooth", "filter")
    assert link_c(compiler, tmp_path, objects) == "smoothed sine: good\n"


def test_a_tensor_goes_from_fortran_to_that_library_and_back(compile_c, tmp_path):
    objects = compile_c("filter")
    assert link_fortran(tmp_path, DLPACK / "smooth.F90", objects) == "smoothed sine: good\n"


def test_the_library_needs_nothing_of_ours(compiler, compile_c, tmp_path):
    (filter_object,) = compile_c("filter")
    undefined = run(*need("nm"), "-u", filter_object)
    assert "Ceed" not in undefined


REFUSAL = "centroid: good\nrefused: The tensor has 1 axes, 2 are wanted\n"


def test_a_library_without_vectors_has_its_tensors_checked(compiler, compile_c, tmp_path):
    objects = compile_c("polygon", "centroid")
    assert link_c(compiler, tmp_path, objects) == REFUSAL


def test_a_fortran_library_without_vectors_has_its_tensors_checked(compile_c, tmp_path):
    objects = compile_c("polygon")
    assert link_fortran(tmp_path, DLPACK / "centroid.F90", objects) == REFUSAL
