# SPDX-License-Identifier: BSD-2-Clause
"""The Fortran module: what it holds, what its compiler refuses, and its handles in this process."""

import gc
import itertools
import re
import subprocess

import cffi
import numpy as np
import pytest
from helpers import ROOT, package_file
from programs import fortran, package_flags, run, shared_fortran

import pyceedlike
from pyceedlike import buildflags

SHAPE = (2, 3, 4)

#: What there is of the C interface and not of the module: Fortran has nothing to call them with, or
#: says the same by another function.
C_ONLY = {
    *("CeedVectorView", "CeedQFunctionFieldGetData", "CeedOperatorFieldGetData"),
    *("CeedSetErrorHandler", "CeedErrorImpl", "CeedErrorReturn", "CeedErrorStore"),
    *("CeedErrorExit", "CeedErrorAbort"),
    *("CeedOperatorXLAOpen", "CeedXLAClose", "CeedXLAInstantiate", "CeedXLACall"),
}

#: What only returns CEED_ERROR_UNSUPPORTED.
UNSUPPORTED = re.compile("CeedElemRestriction(Create(Oriented|Blocked)|ApplyBlock)")


def source_of_the_module():
    """Return the text of the module with what it includes."""
    folder = buildflags.include()
    return "".join(f.read_text() for f in [folder / "ceedlike.F90", *folder.glob("*.inc")])


def names_of_the_header():
    names = package_file("include/ceedlike/ceedlike_names.h").read_text()
    return set(re.findall(r"#define (Ceed\w+) CEEDLIKE_NAME", names))


def test_the_module_binds_every_function_of_its_objects():
    text = source_of_the_module()
    bound = {f"Ceed{name}" for name in re.findall(r'name="Ceedlike(\w+)"//SFX', text)}
    missing = {n for n in names_of_the_header() - bound if not UNSUPPORTED.match(n)}
    assert {name for name in missing if not is_table(name)} == C_ONLY
    assert bound <= names_of_the_header()


def is_table(name):
    """Return whether this is a table of the names of enum values."""
    header = package_file("include/ceedlike/ceedlike.h").read_text()
    return re.search(rf"extern const char \*const.*\b{name}\b", header) is not None


def test_the_module_has_the_values_of_the_header():
    header = package_file("include/ceedlike/ceedlike.h").read_text()
    values = re.findall(r"\b(CEED_\w+) = (-?\w+)", header)
    values = {n.lower(): int(v, 0) for n, v in values if not n.startswith("CEED_XLA_")}
    text = re.sub(r'int\(z"(\w+)", c_int\)', r"0x\1", source_of_the_module())
    found = {}
    for line in re.findall(r"integer\((?:c|ceed)_int\), parameter :: (.*)", text):
        found |= {name: int(value, 0) for name, value in re.findall(r"(\w+) = (-?\w+)", line)}
    assert found == values


# ---- What the compiler refuses -------------------------------------------------------------------

PROGRAM = """
program p
  use ceedlike
  implicit none
  type(ceed_context) :: ceed
  type(ceed_vector) :: x
  integer :: code
  {declaration}
  {call}
end program
"""
SET = "code = ceed_vector_set_array(x, ceed_mem_host, ceed_copy_values, {})"
GET = "code = ceed_vector_get_array(x, ceed_mem_host, {})"


@pytest.mark.parametrize(
    ("declaration", "call"),
    [
        pytest.param("real, target :: a(3)", SET.format("a"), id="another kind"),
        pytest.param("integer, target :: a(3)", SET.format("a"), id="another type"),
        pytest.param("real(ceed_scalar) :: a(3)", SET.format("a"), id="not a target"),
        pytest.param("real(ceed_scalar), allocatable :: a(:)", GET.format("a"), id="not a pointer"),
        pytest.param("real(ceed_scalar), pointer :: a(:, :)", GET.format("a"), id="no bounds"),
        pytest.param(
            "real(ceed_scalar), pointer :: a(:,:,:,:,:,:,:,:)",
            GET.format("a, [1,1,1,1,1,1,1,1], [1,1,1,1,1,1,1,1]"),
            id="rank 8",
        ),
        pytest.param(
            "real(ceed_scalar), target :: a(1,1,1,1,1,1,1,1)", SET.format("a"), id="set from rank 8"
        ),
        pytest.param("", "code = ceed_vector_set_value(ceed, 1._ceed_scalar)", id="a context"),
        pytest.param("", "code = ceed_vector_set_value(x, 1.0)", id="a value of another kind"),
    ],
)
def test_what_is_wrong_is_an_error_of_the_compiler(declaration, call, tmp_path):
    program = tmp_path / "program.F90"
    module = package_flags("--fortran")
    run(*fortran(), "-fsyntax-only", "-J", tmp_path, *module)
    program.write_text(
        PROGRAM.format(declaration="integer :: unused", call="code = ceed_destroy(ceed)")
    )
    run(*fortran(), "-fsyntax-only", "-I", tmp_path, program)
    program.write_text(PROGRAM.format(declaration=declaration, call=call))
    command = [*fortran(), "-fsyntax-only", "-I", str(tmp_path), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Error" in done.stderr


@pytest.mark.parametrize("flag", ["-fdefault-integer-8", "-fdefault-real-8", "-fcheck=all"])
def test_the_module_compiles_under_the_flags_of_others(flag, tmp_path):
    flags = ["-std=f2018", "-Wall", "-Wextra", "-Werror", flag, "-J", tmp_path]
    run(*fortran(), *flags, "-c", *package_flags("--fortran"), "-o", tmp_path / "module.o")


# ---- Handles cross -------------------------------------------------------------------------------

ffi = cffi.FFI()
ffi.cdef("""
typedef void *Handle;
int lend_field(Handle ceed, Handle *vec, intptr_t *address);
int export_field(Handle vec, void **tensor);
double entry(int i, int j, int k);
int fill_vector(Handle vec);
int keep(Handle vec, Handle *kept);
int let_go(Handle *vec);
""")


@pytest.fixture(scope="module")
def solver(tmp_path_factory):
    """A library in Fortran, loaded into this process."""
    source = ROOT / "tests/fortran/handles.F90"
    return ffi.dlopen(str(shared_fortran(source, tmp_path_factory.mktemp("handles"))))


def handle(thing):
    return ffi.cast("Handle", thing.handle)


@pytest.fixture
def lent(solver):
    """A vector on an array of the solver: ours, the solver's variable, and the address."""
    vec, address = ffi.new("Handle *"), ffi.new("intptr_t *")
    assert solver.lend_field(handle(pyceedlike.Ceed()), vec, address) == 0
    vector = pyceedlike.Vector.from_handle(int(ffi.cast("uintptr_t", vec[0])))
    yield vector, vec, address[0]
    if vec[0]:
        assert solver.let_go(vec) == 0


def check_entries(solver, array):
    for i, j, k in itertools.product(*map(range, SHAPE)):
        assert array[i, j, k] == solver.entry(i, j, k) == 100 * i + 10 * j + k


def test_a_fortran_array_reaches_numpy_without_a_copy(lent):
    vector, _, address = lent
    array = np.from_dlpack(vector)
    assert array.shape == (24,)
    assert array.__array_interface__["data"][0] == address


def test_the_first_index_is_the_first_axis_in_fortran_order(solver, lent):
    array = np.from_dlpack(lent[0]).reshape(SHAPE, order="F")
    assert np.shares_memory(array, np.from_dlpack(lent[0]))
    check_entries(solver, array)
    array[1, 2, 3] = 7
    assert solver.entry(1, 2, 3) == 7


def test_the_first_index_is_the_last_axis_in_c_order(solver, lent):
    array = np.from_dlpack(lent[0]).reshape(SHAPE[::-1])
    check_entries(solver, array.transpose(2, 1, 0))


def test_a_vector_of_python_is_filled_by_fortran(solver):
    vector = pyceedlike.Ceed().Vector(24)
    assert solver.fill_vector(handle(vector)) == 0
    with vector.array_read() as array:
        check = array.reshape(SHAPE, order="F")
        for i, j, k in itertools.product(*map(range, SHAPE)):
            assert check[i, j, k] == 100 * i + 10 * j + k


def test_bounds_that_do_not_fit_a_vector_of_python_are_an_error(solver):
    assert solver.fill_vector(handle(pyceedlike.Ceed().Vector(23))) == 2


def test_an_export_of_fortran_has_the_shape_and_strides_of_its_array(solver, lent):
    vector, vec, _ = lent
    tensor = ffi.new("void **")
    assert solver.export_field(vec[0], tensor) == 0
    assert vector.export_count == 1
    text = ffi.new("int64_t **")
    ffi.memmove(text, ffi.cast("char *", tensor[0]) + 56, 8)  # dl_tensor.shape
    assert list(text[0][0:3]) == list(SHAPE)
    ffi.memmove(text, ffi.cast("char *", tensor[0]) + 64, 8)  # dl_tensor.strides
    assert list(text[0][0:3]) == [1, 2, 6]
    deleter = ffi.new("void (**)(void *)")
    ffi.memmove(deleter, ffi.cast("char *", tensor[0]) + 16, 8)
    deleter[0](tensor[0])
    assert vector.export_count == 0


def test_python_keeps_a_vector_that_the_solver_lets_go(solver, lent):
    vector, vec, _ = lent
    assert solver.let_go(vec) == 0
    assert not vec[0]
    assert vector.norm(pyceedlike.NORM_MAX) == 123


def test_the_solver_keeps_a_vector_that_python_lets_go(solver):
    kept = ffi.new("Handle *")
    vector = pyceedlike.from_dlpack(np.arange(3.0))
    assert solver.keep(handle(vector), kept) == 0
    del vector
    gc.collect()
    again = pyceedlike.Vector.from_handle(int(ffi.cast("uintptr_t", kept[0])))
    assert again.norm(pyceedlike.NORM_1) == 3
    assert solver.let_go(kept) == 0
    assert again.norm(pyceedlike.NORM_1) == 3


def test_an_array_outlives_the_solvers_and_pythons_vector(solver):
    kept = ffi.new("Handle *")
    vector = pyceedlike.from_dlpack(np.arange(3.0))
    array = np.from_dlpack(vector)
    assert solver.keep(handle(vector), kept) == 0
    del vector
    assert solver.let_go(kept) == 0
    gc.collect()
    assert array.tolist() == [0, 1, 2]


# ---- Both precisions in one program --------------------------------------------------------------

BOTH = """
program both
  use ceedlike
  use ceedlike_f32, only: f32 => ceed_scalar, f32_init => ceed_init, &
    f32_create => ceed_vector_create, f32_set_value => ceed_vector_set_value, &
    f32_norm => ceed_vector_norm, f32_message => ceed_error_message, &
    f32_destroy => ceed_vector_destroy, f32_end => ceed_destroy
  implicit none
  type(ceed_context) :: ceed, single_ceed
  type(ceed_vector) :: x, y
  real(ceed_scalar) :: norm
  real(f32) :: single_norm
  integer :: code

  code = ceed_init("/cpu/self", ceed)
  code = f32_init("/cpu/self", single_ceed)
  code = ceed_vector_create(ceed, 4, x)
  code = f32_create(single_ceed, 4, y)
  code = ceed_vector_set_value(x, 1._ceed_scalar)
  code = f32_set_value(y, 2._f32)
  code = ceed_vector_norm(x, ceed_norm_2, norm)
  code = f32_norm(y, ceed_norm_2, single_norm)
  print "(2(f3.1, 1x))", norm, single_norm
  code = f32_set_value(x, 3._f32)
  print "(i0, 1x, 2(l1, 1x))", code, index(f32_message(), "float64") > 0, &
    index(f32_message(), "float32") > 0
  code = ceed_vector_destroy(x)
  code = f32_destroy(y)
  code = ceed_destroy(ceed)
  code = f32_end(single_ceed)
end program
"""


def test_one_program_uses_both_precisions(tmp_path):
    program, module = tmp_path / "both.F90", package_flags("--fortran")[0]
    program.write_text(BOTH)
    for flags in ([], ["-DCEEDLIKE_SINGLE"]):
        target = tmp_path / f"module{len(flags)}.o"
        run(*fortran(), *flags, "-c", module, "-J", tmp_path, "-o", target)
    objects = sorted(tmp_path.glob("*.o"))
    libs = [*package_flags("--libs"), *package_flags("--libs", "--scalar", "float32")]
    run(*fortran(), "-I", tmp_path, program, *objects, "-o", tmp_path / "both", *libs)
    lines = run(tmp_path / "both").splitlines()
    assert [line.split() for line in lines] == [["2.0", "4.0"], ["4", "T", "T"]]
