# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures. The tests import the installed package, never the unbuilt one of the checkout."""

import importlib.util
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

os.environ.setdefault("JAX_PLATFORMS", "cpu")
if not list((ROOT / "pyceedlike").glob("_exchange*.so")):
    sys.path[:] = [p for p in sys.path if pathlib.Path(p or os.curdir).resolve() != ROOT]

import numpy  # noqa: E402
from fields import KINDS, numbered  # noqa: E402
from helpers import SCALARS, vector_of  # noqa: E402

import pyceedlike  # noqa: E402


def c_compiler():
    """Return the command of the C compiler, or skip."""
    command = shlex.split(os.environ.get("CC", "cc"))
    for candidate in (command, ["gcc"], ["clang"]):
        if shutil.which(candidate[0]):
            return candidate
    return pytest.skip("no C compiler on this machine")


@pytest.fixture(scope="session")
def compiler():
    """The command of the C compiler."""
    return c_compiler()


@pytest.fixture(scope="session")
def python_headers():
    """The folder with Python.h."""
    folder = pathlib.Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").exists():
        pytest.skip("no Python.h on this machine")
    return folder


@pytest.fixture(scope="session")
def partner(compiler, python_headers, tmp_path_factory):
    """The partner library of the tests, _partner.c, built for this session."""
    target = tmp_path_factory.mktemp("partner") / "_partner.so"
    command = [
        *compiler,
        "-shared",
        "-fPIC",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
    ]
    command += [f"-I{python_headers}", str(HERE / "_partner.c"), "-o", str(target)]
    subprocess.run(command, check=True)
    specification = importlib.util.spec_from_file_location("_partner", target)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def script_paths(partner):
    """Where a program of its own finds the partner library and the helpers."""
    return [pathlib.Path(partner.__file__).parent, HERE]


@pytest.fixture(params=SCALARS)
def scalar(request):
    """The precision, each in turn."""
    return request.param


RESOURCE = os.environ.get("CEEDLIKE_TEST_RESOURCE", "/cpu/self")


@pytest.fixture
def ceed(scalar):
    """A context of each precision."""
    return pyceedlike.Ceed(RESOURCE, scalar=scalar)


@pytest.fixture
def of_host_contexts():
    """For what is said of contexts that have host memory only."""
    if not RESOURCE.startswith("/cpu"):
        pytest.skip("this is said of host contexts")


@pytest.fixture
def v4(ceed):
    """A vector of 0, 1, 2, 3."""
    return vector_of(ceed, range(4))


@pytest.fixture
def random():
    """Random numbers, the same in every run."""
    return numpy.random.default_rng(20260)


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture(scope="session")
def tvm_ffi():
    return pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")


@pytest.fixture
def jax():
    """JAX with 64-bit types."""
    module = pytest.importorskip("jax", reason="JAX is not installed")
    importlib.import_module("jax.dlpack")
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield module
    module.config.update("jax_enable_x64", before)


@pytest.fixture(params=KINDS)
def kind(request):
    """Directions, components, precision."""
    return request.param


@pytest.fixture
def fab(kind):
    """A fab of a kind, in which every value tells its place."""
    return numbered(kind)
