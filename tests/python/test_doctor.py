# SPDX-License-Identifier: BSD-2-Clause
"""python -m pyceedlike doctor: what it says of this machine's libraries is so."""

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys

import pytest

import pyceedlike
from pyceedlike import doctor
from pyceedlike.explain import MANNERS
from pyceedlike.partners import PARTNERS

INSTALLED = [key for key in PARTNERS if importlib.util.find_spec(key)]
ON_HOST = [key for key in INSTALLED if key not in ("cupy", "dpnp")]  # the others want a device
ABSENT = sorted(PARTNERS.keys() - INSTALLED)


def command(*arguments, folder="/", **environment):
    """Run the program; return the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "pyceedlike", *arguments],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def answer(*arguments, **options):
    done = command(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def alone(folder, *kept, **fakes):
    """Return a folder of modules that stand before the libraries: those not kept do not import."""
    for key in PARTNERS:
        if key not in kept:
            (folder / f"{key}.py").write_text(fakes.get(key, "raise ImportError('kept out')"))
    inherited = filter(None, [os.environ.get("PYTHONPATH")])
    return os.pathsep.join([str(folder), *inherited])


def library(report, key):
    return next(row for row in report["libraries"] if row["module"] == key)


@pytest.fixture(scope="session")
def report():
    """What the program says of this machine."""
    return answer("doctor")


# --- Machine and build -----------------------------------------------------------------------


def test_the_build_is_that_of_the_package(report):
    machine = report["machine"]
    assert machine["pyceedlike"] == pyceedlike.__version__
    assert machine["package"] == pyceedlike.__path__[0]
    assert "CeedScalar = double" in machine["build"]["float64"]
    assert "CeedScalar = float" in machine["build"]["float32"]


def test_every_resource_of_the_host_works(report):
    names = [row["resource"] for row in report["resources"]]
    assert pyceedlike.Ceed().get_resource() in names
    for row in report["resources"]:
        if row["resource"].startswith("/cpu"):
            assert row["float64"] == row["float32"] == "works"


def test_a_device_works_or_names_the_library_that_is_missing(report):
    libraries = {
        "cuda": "libcuda.so.1",
        "hip": "libamdhip64.so",
        "sycl": "libDPCTLSyclInterface.so",
    }
    for row in report["resources"]:
        _, place, name, *_ = row["resource"].split("/")
        if place == "gpu":
            name = name.partition(":")[0]
            assert row["float64"] == row["float32"]
            assert row["device"] if row["float64"] == "works" else libraries[name] in row["float64"]


# --- Libraries -------------------------------------------------------------------------------


def test_every_library_has_a_row(report):
    assert [row["module"] for row in report["libraries"]] == list(PARTNERS)
    assert [row["module"] for row in report["libraries"] if row["status"] == "absent"] == [
        key for key in PARTNERS if key in ABSENT
    ]


@pytest.mark.parametrize("key", INSTALLED)
def test_the_version_is_the_installed_one(report, key):
    name = importlib.metadata.packages_distributions()[key][0]
    assert library(report, key)["version"] == importlib.metadata.version(name)


@pytest.mark.parametrize("key", ON_HOST)
def test_no_outcome_is_unforeseen(report, key):
    row = library(report, key)
    assert "unforeseen" not in row["from_vector"]["why"]
    assert row["from_vector"]["float32"] == "shared"
    assert row["from_vector"]["microseconds"] > 0
    if PARTNERS[key].make:
        assert row["into_vector"]["float32"] == "shared"


READ_ONLY = {
    "numpy": ("kept", "kept"),
    "jax": ("copied", "kept"),
    "torch": ("lost", "none"),
    "tensorflow": ("copied", "kept"),
    "pyarrow": ("kept", "assumed"),
    "numba": ("kept", None),
    "mpi4py": ("kept", None),
}


@pytest.mark.parametrize("key", [key for key in READ_ONLY if key in INSTALLED])
def test_what_becomes_of_read_only_memory(report, key):
    row = library(report, key)
    there, here = READ_ONLY[key]
    assert row["from_vector"]["read_only"] == there
    if here:
        assert row["into_vector"]["read_only"] == here


@pytest.mark.parametrize("x64", ["0", "1"])
def test_jax_is_told_of_as_it_is_configured(tmp_path, jax, x64):
    row = library(
        answer("doctor", PYTHONPATH=alone(tmp_path, "jax", "numpy"), JAX_ENABLE_X64=x64), "jax"
    )
    expected = ("shared", "shared") if x64 == "1" else ("copied", "none")
    assert (row["from_vector"]["float64"], row["into_vector"]["float64"]) == expected
    assert ("jax_enable_x64 is off" in row["from_vector"]["why"]) == (x64 == "0")


def test_a_library_that_does_not_import_is_a_row_that_says_so(tmp_path):
    path = alone(
        tmp_path,
        "numpy",
        cupy="raise RuntimeError('no driver\\nand more')",
        dpnp="import os; os._exit(7)",
        torch="import os, signal; os.kill(os.getpid(), signal.SIGILL)",
    )
    found = answer("doctor", PYTHONPATH=path)
    assert library(found, "cupy")["status"] == "fails to import: RuntimeError: no driver"
    assert library(found, "dpnp")["status"].startswith("ends the program with 7")
    assert library(found, "torch")["status"].startswith("ends the program with -4")
    assert library(found, "numpy")["from_vector"]["float64"] == "shared"


def test_a_library_that_ends_the_program_with_success_is_a_row_that_says_so(tmp_path):
    path = alone(
        tmp_path,
        "numpy",
        cupy="raise SystemExit(0)",
        dpnp="import os; os._exit(0)",
    )
    found = answer("doctor", PYTHONPATH=path)
    assert library(found, "cupy")["status"].startswith("ends the program with 0")
    assert library(found, "dpnp")["status"].startswith("ends the program with 0")
    assert library(found, "numpy")["from_vector"]["float64"] == "shared"


def test_a_library_may_print_whatever_it_likes(tmp_path):
    fake = """
import atexit, os
__version__ = "1.0"
atexit.register(lambda: print("{not json"))
os.write(1, bytes([255, 10]))
"""
    found = answer("doctor", PYTHONPATH=alone(tmp_path, "numpy", cupy=fake))
    assert library(found, "cupy")["version"] == "1.0"


def test_a_library_that_makes_no_arrays_is_a_row_that_says_so(tmp_path):
    fake = """
__version__ = "1.0"
print("{noise}")
def from_dlpack(x): raise RuntimeError("no driver")
def array(x): raise RuntimeError("no memory")
"""
    found = library(answer("doctor", PYTHONPATH=alone(tmp_path, "numpy", cupy=fake)), "cupy")
    assert (found["status"], found["version"]) == ("works", "1.0")
    for direction, why in ("from_vector", "no driver"), ("into_vector", "no memory"):
        assert found[direction]["float64"] == found[direction]["float32"] == "fails"
        assert found[direction]["why"] == f"RuntimeError: {why}"


def test_a_library_that_hangs_is_a_row_that_says_so(monkeypatch):
    monkeypatch.setattr(doctor, "PATIENCE", 0.001)
    rows = {row["module"]: row["status"] for row in doctor.libraries()}
    assert rows["numpy"] == "did not answer in 0.001 s"


# --- The text --------------------------------------------------------------------------------


def test_the_text_says_what_the_json_says(report):
    text = doctor.text_of(report)
    assert text.startswith(f"pyceedlike {pyceedlike.__version__}, revision ")
    for row in report["libraries"]:
        assert f"{row['library']} " in text
        assert row.get("version", row["status"]) in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_the_program_prints_the_text(tmp_path):
    done = command("doctor", PYTHONPATH=alone(tmp_path, "numpy"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "from a vector to  float64  float32  read-only" in done.stdout
    assert "ImportError: kept out" in done.stdout


# --- The user's own object -------------------------------------------------------------------


@pytest.fixture
def mine(tmp_path):
    """How a program runs that has a module of this name, and of all libraries NumPy alone."""
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ngrid = np.zeros((4, 4))\nvalues = [1.0, 2.0]\ncounts = np.arange(3)\n"
    )
    return {"PYTHONPATH": alone(tmp_path, "numpy")}


def taken(mine, expression, library):
    found = answer("doctor", f"mine:{expression}", **mine)
    return next(row for row in found["taken"] if row["library"] == library)


def test_an_object_is_handed_to_each_library(mine):
    row = taken(mine, "grid", "pyceedlike")
    assert (row["outcome"], row["found"], row["writable"]) == ("share", "shared", True)
    assert row["microseconds"] > 0


def test_an_expression_is_evaluated_in_its_module(mine):
    row = taken(mine, "grid[:, 1:3]", "pyceedlike")
    assert (row["outcome"], row["found"]) == ("copy", "copied")
    assert "not C-contiguous" in row["reason"]


def test_what_is_foreseen_to_fail_is_not_tried(mine):
    row = taken(mine, "counts", "pyceedlike")
    assert (row["outcome"], row["found"]) == ("fail", "not tried")
    assert row["change"] == "convert it first"


def test_values_without_memory_are_handed_over_too(mine):
    assert taken(mine, "values", "pyceedlike")["found"] == "copied"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@property\n def __dlpack__(self): raise OSError('closed')", "OSError: closed"),
        ("def __dlpack__(self, **request): raise SystemExit(3)", "SystemExit: 3"),
        ("def __getattr__(self, name): raise OSError('closed')", "OSError: closed"),
    ],
)
def test_an_object_that_raises_is_said_to_fail(mine, tmp_path, body, said):
    (tmp_path / "hostile.py").write_text(f"class Hostile:\n {body}\nx = Hostile()\n")
    found = answer("doctor", "hostile:x", **mine)
    assert {row["outcome"] for row in found["taken"]} == {"fail"}
    assert all(said in row["reason"] for row in found["taken"])


def test_text_of_tensorflow_is_not_asked_for_a_tensor(mine, tmp_path):
    """It would end the program."""
    (tmp_path / "hostile.py").write_text("""
import os
class Text:
    class dtype:
        name = "string"
    def __dlpack__(self, **request): os.abort()
""")
    found = answer("doctor", "hostile:Text()", **mine)
    assert found["tensor"] == "Text holds no numbers: its type is string"
    assert {row["outcome"] for row in found["taken"]} == {"fail"}


def test_an_object_that_is_taken_once_only_is_said_to_fail_then(mine, tmp_path):
    (tmp_path / "hostile.py").write_text("""
import numpy as np
class Once:
    asked = 0
    def __dlpack_device__(self): return 1, 0
    def __dlpack__(self, **request):
        self.asked += 1
        if self.asked > 3: raise OSError("closed")
        return np.ones(3).__dlpack__(**request)
""")
    (tmp_path / "once.py").write_text("import hostile\nx = hostile.Once()\n")
    rows = {row["library"]: row for row in answer("doctor", "once:x", **mine)["taken"]}
    assert rows["pyceedlike"]["found"] == "fails"
    assert rows["pyceedlike"]["complaint"] == "OSError: closed"


def test_an_object_is_described_in_the_text(mine):
    done = command("doctor", "mine:grid", **mine)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mine:grid: numpy.ndarray\nDLPack tensor, version 1.0")
    assert "foreseen  found" in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere:x", "ModuleNotFoundError: No module named 'nowhere'"),
        ("mine:nothing", "NameError: name 'nothing' is not defined"),
        ("mine", "is not of the form module:expression"),
    ],
)
def test_an_object_that_is_not_there_is_a_clear_error(mine, name, said):
    done = command("doctor", name, **mine)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("key", [key for key in MANNERS if key in INSTALLED])
def test_an_object_is_shared_with_each_library_as_foreseen(v4, key):
    row = next(row for row in doctor.hand_over(v4) if row["library"] == key)
    foreseen = {"share": "shared", "copy": "copied"}[row["outcome"]]
    assert row["found"] == foreseen


def test_a_module_of_the_current_folder_is_found(mine, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "beside.py").write_text("x = [1.0]")
    done = command("doctor", "beside:x", folder=tmp_path / "here", PYTHONSAFEPATH="", **mine)
    assert done.returncode == 0, done.stderr


def test_no_command_is_an_error_that_names_them():
    done = command()
    assert done.returncode == 2
    assert "{doctor,compile}" in done.stderr


def test_the_version_is_printed():
    assert command("--version").stdout == f"{pyceedlike.__version__}\n"
