# SPDX-License-Identifier: BSD-2-Clause
"""Meshes of PETSc in several processes; examples/petsc takes the same steps on 1, 2 and 4."""

import importlib.util
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from helpers import ROOT
from programs import EXAMPLES, PARALLEL, WARNINGS, need, run

PETSC = EXAMPLES / "petsc"
RANKS = (1, 2, 4)

#: One process for each core, each of one thread.
ENVIRONMENT = PARALLEL | {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
ENVIRONMENT.pop("PYTHONSAFEPATH", None)  # laws.py is in the folder


def solve(command, ranks, folder, **environment):
    """Run a program; return what it says, and its solution by the places of the nodes."""
    need("mpirun")
    output = folder / f"solution-{ranks}"
    said = run(
        *("mpirun", "-n", ranks, *command, output), env=ENVIRONMENT | environment, timeout=400
    )
    table = np.loadtxt(output)
    return said, table[np.lexsort(table[:, :2].round(10).T)]


def assert_the_same(command, folder, numbers=RANKS):
    """Assert that a program says and finds the same on each number of processes."""
    first, solution = solve(command, numbers[0], folder)
    assert first.endswith("good\n")
    for ranks in numbers[1:]:
        said, other = solve(command, ranks, folder)
        assert said == first
        np.testing.assert_allclose(other, solution, rtol=0, atol=1e-10)
    return first


def python(*options):
    for name in ("petsc4py", "mpi4py", "jax"):
        if not importlib.util.find_spec(name):
            pytest.skip(f"{name} is not installed: make check-petsc")
    return [sys.executable, PETSC / "diffusion.py", *options, "--output"]


@pytest.mark.parametrize("a", [0, 1], ids=["Poisson", "nonlinear"])
@pytest.mark.parametrize("mesh", ["da", "plex"])
def test_in_python_with_physics_in_jax(mesh, a, tmp_path):
    assert_the_same(python("--mesh", mesh, "--a", str(a)), tmp_path)


def test_physics_in_numba_takes_the_steps_of_that_in_jax(tmp_path):
    if not importlib.util.find_spec("numba"):
        pytest.skip("numba is not installed")
    options = "--n", "12", "--physics"
    by_numba = assert_the_same(python(*options, "numba"), tmp_path, numbers=(1, 2))
    by_jax, _ = solve(python(*options, "jax"), 1, tmp_path)
    assert by_numba.replace("numba", "jax") == by_jax


def test_four_processes_start_on_an_empty_cache(tmp_path):
    cache = tmp_path / "cache"
    cold = {"CEEDLIKE_CACHE_DIR": str(cache)}
    said, solution = solve(python("--n", "12"), 4, tmp_path, **cold)
    assert sorted(path.suffix for path in cache.iterdir()) == [".so", ".so"]
    again, other = solve(python("--n", "12"), 4, tmp_path, **cold)
    assert said == again
    np.testing.assert_array_equal(solution, other)


FAILING = """
import runpy, sys
import laws
from petsc4py import PETSc

def exact(x, y):
    assert PETSc.COMM_WORLD.rank != 1, "not in this process"
    return x

laws.exact = exact
sys.argv = ["diffusion.py"]
runpy.run_path("diffusion.py", run_name="__main__")
"""


def test_an_exception_in_one_process_ends_all():
    need("mpirun")
    done = subprocess.run(
        ["mpirun", "-n", "2", *python()[:1], "-c", FAILING],
        capture_output=True,
        text=True,
        check=False,
        cwd=PETSC,
        env=ENVIRONMENT,
        timeout=100,
    )
    assert done.returncode
    assert "not in this process" in done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program in C, against the PETSc that pkg-config finds."""
    need("mpicc", "mpirun", "pkg-config", "make")
    if os.system("pkg-config --exists petsc") or not importlib.util.find_spec("jax"):
        pytest.skip("petsc-dev or jax is not installed")
    folder = tmp_path_factory.mktemp("petsc") / "petsc"
    shutil.copytree(PETSC, folder)
    flags = " ".join(["-O2", *WARNINGS])
    run("make", f"PYTHON={sys.executable}", f"CFLAGS={flags}", cwd=folder)
    return folder / "diffusion"


@pytest.mark.parametrize("a", [0, 1], ids=["Poisson", "nonlinear"])
@pytest.mark.parametrize("mesh", ["da", "plex"])
def test_in_c(program, mesh, a, tmp_path):
    assert_the_same([program, "-mesh", mesh, "-a", str(a), "-output"], tmp_path)


def test_the_program_in_c_names_complex_numbers_where_it_does_not_compile(tmp_path):
    """The headers are of a real PETSc; what its configuration would define is given."""
    need("mpicc", "pkg-config")
    if os.system("pkg-config --exists petsc"):
        pytest.skip("petsc-dev is not installed")
    flags = run("pkg-config", "--cflags", "petsc").split()
    (tmp_path / "diffusion.h").touch()
    flags += ["-DPETSC_USE_COMPLEX", f"-I{ROOT / 'include'}", f"-I{tmp_path}"]
    done = subprocess.run(
        ["mpicc", "-fsyntax-only", *flags, PETSC / "diffusion.c"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "complex numbers: use one configured --with-scalar-type=real" in done.stderr


BEGINNING = """
import faulthandler
from petsc4py import PETSc
import pyceedlike
from pyceedlike.interop.petsc_dm import Part, matrix
faulthandler.dump_traceback_later(100, exit=True)

def plex(n, overlap=0):
    dm = PETSc.DMPlex().createBoxMesh([n, n], simplex=False)
    dm.distribute(overlap=overlap)
    dm.setNumFields(1)
    dm.setLocalSection(dm.createSection([1], [1, 0, 0]))
    return dm

def box(n):
    dm = PETSc.DMDA().create([n, n], stencil_type="box", stencil_width=1)
    dm.setUniformCoordinates(0, 1, 0, 1)
    return dm

def wrong_in_one_process():
    dm = box(5)
    part = Part(dm)
    space = part.mesh.space(pyceedlike.Ceed(scalar=str(PETSc.ScalarType().dtype)), 1)
    u = part.field(space)
    mass = space.ceed.QFunctionByName("MassApply")
    op = space.operator(mass, qdata=space.geometry.dV, u=u, v=u)
    matrix(op, dm, [part.size] if dm.comm.rank else [])

try:
    {program}
except (pyceedlike.CeedError, IndexError) as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("program", "messages"),
    [
        ("Part(plex(4, overlap=1))", 2 * ["would count twice: distribute(overlap=0)"]),
        ("Part(box(2))", ["process 0 of 2 has no elements", "process 0 of 2 has raised an error"]),
        ("wrong_in_one_process()", ["out of bounds", "process 1 of 2 has raised an error"]),
    ],
)
def test_an_error_of_one_process_is_one_of_all(program, messages):
    need("mpirun")
    code = BEGINNING.format(program=program)
    said = run("mpirun", "-n", 2, *python()[:1], "-P", "-c", code, env=ENVIRONMENT)
    assert len(said.splitlines()) == 2
    for message in messages:
        assert said.count(message) == messages.count(message)
