# SPDX-License-Identifier: BSD-2-Clause
"""The examples run, and what they check of themselves is checked."""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from helpers import ROOT
from programs import EXAMPLES, PARALLEL, WARNINGS, fortran, need, package_flags, run, shared_fortran

pyceedlike = pytest.importorskip("pyceedlike")

HEAT, FISHER = EXAMPLES / "heat", EXAMPLES / "fisher"
PACKAGE = pathlib.Path(pyceedlike.__file__).parent
# A program may import what lies beside it.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
ENVIRONMENT |= {"JAX_PLATFORMS": "cpu", "OPENBLAS_NUM_THREADS": "1"}
SMALL = ["--n", "31", "--steps", "100", "--dt", "0.01"]


def build_response(compiler, folder):
    """Build what the solvers of both languages have in common."""
    target, include = folder / "response.o", PACKAGE / "include/ceedlike"
    flags = ["-std=c99", "-O2", "-fPIC", "-Wpedantic", *WARNINGS]
    run(*compiler, *flags, "-c", HEAT / "response.c", f"-I{include}", "-o", target)
    return target


def build_c(compiler, library, response):
    source = [str(HEAT / "heat.c"), str(response), f"-I{PACKAGE / 'include/ceedlike'}"]
    link = [str(PACKAGE / "lib/libceedlike.so.0"), f"-Wl,-rpath,{PACKAGE / 'lib'}"]
    flags = ["-std=c99", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([*compiler, *flags, *source, *link, "-o", str(library)], check=True)
    return library


@pytest.fixture(scope="module", params=["c", "fortran"])
def heat(request, tmp_path_factory):
    """Build the solver in a language; return a function that runs heat.py with some arguments."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    missing = [m for m in ("cffi", "jax", "matplotlib", "tqdm") if not importlib.util.find_spec(m)]
    missing += [compiler[0]] if not shutil.which(compiler[0]) else []
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("heat")
    response = build_response(compiler, folder)
    if request.param == "fortran":
        library = shared_fortran(HEAT / "heat.F90", folder, response)
    else:
        library = build_c(compiler, folder / "libheat.so", response)

    def run(*arguments, script="heat.py"):
        return subprocess.run(
            [sys.executable, str(HEAT / script), *arguments],
            env=ENVIRONMENT | {"HEAT_LIBRARY": str(library)},
            cwd=folder, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return run


def test_heat_agrees_with_the_analytic_solution_and_shares_its_memory(heat, tmp_path):
    picture = tmp_path / "field.png"
    result = heat(*SMALL, "--output", str(picture))
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 2
    assert "COPIED" not in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_heat_shows_its_progress(heat, tmp_path):
    result = heat(*SMALL, "--output", str(tmp_path / "field.png"))
    assert "100/100" in result.stderr


def test_heat_says_what_is_wrong_with_its_arguments(heat):
    result = heat("--n", "0")
    assert result.returncode != 0
    assert "must be positive" in result.stderr


def test_the_source_of_a_temperature_is_found_through_the_solver(heat):
    result = heat(script="source.py")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 3


@pytest.fixture
def fisher(tmp_path):
    """A function that builds the program in Fortran with a compiler; in a folder of its own."""
    if not importlib.util.find_spec("jax"):
        pytest.skip("JAX is not installed")
    shutil.copy(FISHER / "growth.py", tmp_path)

    def build(compiler, *flags):
        sources = [*package_flags("--fortran"), FISHER / "parallel.F90", FISHER / "fisher.F90"]
        flags = ["-std=f2018", "-O2", *WARNINGS, *flags, "-J", tmp_path]
        run(*compiler, *flags, *sources, "-o", tmp_path / "fisher", *package_flags("--libs"))
        return tmp_path / "fisher"

    return build


def solves(*command, folder):
    environment = PARALLEL | {"CEEDLIKE_PYTHON": sys.executable, "JAX_PLATFORMS": "cpu"}
    environment.pop("PYTHONSAFEPATH", None)  # growth.py is in the folder
    printed = run(*command, cwd=folder, env=environment)
    return printed == "errors  1.1E-03 and  2.7E-04, order  2.0: good\n"


def test_a_fortran_program_has_its_source_term_from_jax(fisher, tmp_path):
    assert solves(fisher(fortran()), folder=tmp_path)


def test_its_processes_each_call_python(fisher, tmp_path):
    compiler, launcher = need("mpifort", "mpirun")
    assert solves(launcher, "-n", "2", fisher([compiler], "-DWITH_MPI"), folder=tmp_path)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ghost_cells_come_from_other_processes(ranks):
    if not importlib.util.find_spec("mpi4py"):
        pytest.skip("mpi4py is not installed")
    (launcher,) = need("mpirun")
    said = run(launcher, "-n", ranks, sys.executable, EXAMPLES / "ghosts/ghosts.py", env=PARALLEL)
    assert said == "ghost cells of 9 boxes: good\n"


@pytest.mark.parametrize("directions", [1, 2, 3])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_box_of_amrex_is_wrapped(compiler, directions, tmp_path):
    stub = [f"-I{ROOT / 'tests' / 'amrex'}", f"-DAMREX_SPACEDIM={directions}"]
    flags = ["-std=c++17", *WARNINGS, *stub, *package_flags("--cflags")]
    program = tmp_path / "wrap"
    source = EXAMPLES / "amrex" / "wrap.cpp"
    run(*need(compiler), *flags, source, "-o", program, *package_flags("--libs"))
    assert run(program) == "valid cells written through the fab: good\n"


# ---- Finite elements -----------------------------------------------------------------------------


def fem(program, *arguments, needs):
    """Run a program of examples/fem, where what it needs is installed; return the process."""
    missing = [m for m in needs if not importlib.util.find_spec(m)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    command = [sys.executable, EXAMPLES / "fem" / program, *arguments]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module", params=[("quad", 2), ("triangle", 1)], ids=["quads", "triangles"])
def plates(request, tmp_path_factory):
    """Meshes of Gmsh, the second twice as fine as the first."""
    kind, order = request.param
    folder = tmp_path_factory.mktemp("plates")
    arguments = [folder, "--kind", kind, "--order", str(order), "--levels", "2"]
    result = fem("plate.py", *arguments, needs=["gmsh"])
    if "OSError" in result.stderr:
        pytest.skip(f"Gmsh lacks libraries: {result.stderr.splitlines()[-1]}")
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


@pytest.mark.parametrize("program", ["poisson.py", "elasticity.py"])
def test_the_error_falls_with_the_order_and_one(plates, program):
    result = fem(program, *plates, needs=["meshio", "scipy"])
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 4


@pytest.mark.parametrize("program", ["poisson.py", "elasticity.py"])
def test_a_solution_is_drawn(plates, program, tmp_path):
    picture = tmp_path / "field.png"
    needs = ["meshio", "scipy", "matplotlib"]
    result = fem(program, plates[0], "--output", picture, needs=needs)
    assert result.returncode == 0, result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_newton_takes_the_same_steps_in_every_language():
    result = fem("diffusion.py", needs=["jax", "numba", "scipy"])
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 4


# ---- hyperelastic: the solvers without Python are in test_compile.py -----------------------------


@pytest.mark.parametrize(
    ("program", "arguments", "off"),
    [
        ("homes.py", ["--elements", "2", "--steps", "40", "--output", "rubber.png"], 0.05),
        ("learn.py", ["--steps", "25"], 0.03),
    ],
    ids=["homes", "learn"],
)
def test_what_is_unknown_is_found_through_the_solver(program, arguments, off, tmp_path):
    for name in ("jax", "scipy", "tqdm", "matplotlib"):
        pytest.importorskip(name)
    command = [sys.executable, EXAMPLES / "hyperelastic" / program, *arguments]
    result = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WRONG" not in result.stdout
    percents = [float(x) / 100 for x in re.findall(r"off by ([\d.]+)%", result.stdout)]
    assert percents[-1] < off
