# SPDX-License-Identifier: BSD-2-Clause
"""Capsules and memory that can't be had: the extension, compiled so that they fail on demand."""

import re
import shutil
import subprocess

import pytest
from helpers import ROOT, package_file, run_well

# Read before the sources; the counters say how many calls from now the failing one is.
FAILING = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#define SHOWN __attribute__((weak, visibility("default"), unused))
SHOWN int failing_new, failing_set_name, failing_malloc;
__attribute__((unused)) static void *FailingMalloc(size_t size) {
  return failing_malloc && !--failing_malloc ? NULL : malloc(size);
}
__attribute__((unused)) static PyObject *FailingNew(void *pointer, const char *name,
                                                    PyCapsule_Destructor destructor) {
  if (failing_new && !--failing_new) return PyErr_NoMemory();
  return PyCapsule_New(pointer, name, destructor);
}
__attribute__((unused)) static int FailingSetName(PyObject *capsule, const char *name) {
  if (failing_set_name && !--failing_set_name) {
    PyErr_SetString(PyExc_OSError, "no renaming today");
    return -1;
  }
  return PyCapsule_SetName(capsule, name);
}
#define malloc FailingMalloc
#define PyCapsule_New FailingNew
#define PyCapsule_SetName FailingSetName
"""

BEGIN = """
import ctypes
import sys
import numpy as np
import pyceedlike
import _partner
from pyceedlike import _exchange, from_dlpack
from helpers import *

def counter(name):
    return ctypes.c_int.in_dll(ctypes.PyDLL(_exchange.__file__), name)

def raises(error, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except error as caught:
        assert str(caught) or isinstance(caught, MemoryError)
        return
    raise AssertionError(f"no {error}")

failing_new, failing_set_name = counter("failing_new"), counter("failing_set_name")
failing_malloc = counter("failing_malloc")
scalar = sys.argv[1]
version = (1, 3) if sys.argv[2] == "versioned" else None
array = np.arange(4, dtype=scalar)
ceed = pyceedlike.Ceed(scalar=scalar)
vector = vector_of(ceed, range(4))
"""


@pytest.fixture(scope="module")
def failing_package(compiler, python_headers, tmp_path_factory):
    """A copy of the installed package whose extension fails on demand."""
    folder = ROOT / "pyceedlike"
    sources = sorted(folder.glob("_*.c"))
    if not (folder / "_exchange.c").exists():
        pytest.skip("the sources of the extension are not here")
    text = "".join(source.read_text() for source in sources)
    sources = [s for s in sources if not re.search(rf'#include "{s.name}"', text)]
    target = tmp_path_factory.mktemp("failing")
    shutil.copytree(package_file("."), target / "pyceedlike")
    (target / "failing.h").write_text(FAILING)
    (built,) = (target / "pyceedlike").glob("_exchange*.so")
    libraries = target / "pyceedlike" / "lib"
    subprocess.run(
        [
            *compiler,
            *(
                "-shared",
                "-fPIC",
                "-O1",
                "-g",
                "-fvisibility=hidden",
                "-DPy_LIMITED_API=0x030B0000",
            ),
            *("-include", str(target / "failing.h")),
            *(f"-I{path}" for path in (python_headers, ROOT / "include", ROOT / "csrc", folder)),
            *map(str, sources),
            *(f"-L{libraries}", "-l:libceedlike.so.0", "-l:libceedlike_f32.so.0"),
            *("-Wl,-rpath,$ORIGIN/lib", "-o", str(built)),
        ],
        check=True,
    )
    return target


PROGRAMS = {
    "a capsule that cannot be made gives the export back": """
max_version = version and (1, 0)
for request in {}, {"copy": False}, {"copy": True}, {"dl_device": (1, 0)}:
    failing_new.value = 1
    raises(MemoryError, vector.__dlpack__, max_version=max_version, **request)
    assert failing_new.value == 0
    assert vector.export_count == 0
    assert _partner.Sink(vector.__dlpack__(max_version=max_version)).values() == [0, 1, 2, 3]
""",
    "a lease whose capsule cannot be made ends at once": """
for mode in "shared", "read", "write":
    failing_new.value = 1
    raises(MemoryError, vector.to_dlpack, mode=mode, max_version=(1, 0))
    assert vector.export_count == 0
    vector.set_value(1)
""",
    "a read-only vector's private copy that gets no capsule": """
array.flags.writeable = False
read_only = from_dlpack(array)
failing_new.value = 1
raises(MemoryError, read_only.__dlpack__)
assert read_only.export_count == 0
""",
    "a failed export keeps nothing alive": """
import weakref
lent = np.arange(4, dtype=scalar)
alive = weakref.ref(lent)
borrowing = ceed.Vector(4)
borrowing.set_array(lent, cmode=pyceedlike.USE_POINTER)
for _ in range(20):
    failing_new.value = 1
    raises(MemoryError, borrowing.__dlpack__, max_version=version and (1, 0))
del lent, borrowing
assert eventually(lambda: alive() is None)
""",
    "values that get no capsule": """
for source in array, memoryview(array), Interface(array), array.tolist():
    failing_new.value = 1
    try:
        assert values_of(from_dlpack(source)).tolist() == [0, 1, 2, 3]
    except MemoryError:
        pass
    failing_new.value = 0
    assert values_of(from_dlpack(source)).tolist() == [0, 1, 2, 3]
""",
    "a capsule that cannot be renamed is not taken": """
for copy in None, True, False:
    fake = fake_over(_partner, array, version)
    failing_set_name.value = 1
    raises(OSError, from_dlpack, producer_of(fake), copy=copy)
    failing_set_name.value = 0
    assert fake.calls == 1, fake.calls
    assert fake.intact
""",
    "a capsule that cannot be renamed can be taken later": """
fake = fake_over(_partner, array, version)
capsule = fake.capsule()
failing_set_name.value = 1
raises(OSError, from_dlpack, Producer(lambda: capsule))
assert fake.calls == 0
again = from_dlpack(Producer(lambda: capsule))
assert values_of(again).tolist() == [0, 1, 2, 3]
del again, capsule
assert fake.calls == 1
""",
    "taking into a vector with a capsule that cannot be renamed": """
for mode in pyceedlike.COPY_VALUES, pyceedlike.USE_POINTER, pyceedlike.OWN_POINTER:
    fake = fake_over(_partner, array * 10, version)
    failing_set_name.value = 1
    raises(OSError, vector.take_from_dlpack, producer_of(fake), mode)
    failing_set_name.value = 0
    assert fake.calls == 1, fake.calls
    assert values_of(vector).tolist() == [0, 1, 2, 3]
""",
    "memory for a tensor that says read-only": """
fake = fake_over(_partner, array, version)
failing_malloc.value = 1
try:
    pyceedlike.Vector.from_dlpack(producer_of(fake), writable=False)
    raise AssertionError("no error")
except pyceedlike.CeedMemoryError as error:
    assert "read-only" in str(error)
assert failing_malloc.value == 0
assert fake.calls == 1 and fake.intact
""",
    "a refused capsule that cannot be renamed back is released once": """
short = ceed.Vector(3)
fake = fake_over(_partner, array, version)
failing_set_name.value = 2
raises((OSError, ValueError), short.take_from_dlpack, producer_of(fake))
failing_set_name.value = 0
assert fake.calls == 1, fake.calls
""",
}


@pytest.mark.parametrize("kind", ["legacy", "versioned"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_when_capsules_fail(failing_package, script_paths, program, kind):
    for scalar in ("float64", "float32"):
        run_well(BEGIN + PROGRAMS[program], scalar, kind, paths=[failing_package, *script_paths])


def test_the_failing_extension_is_the_one_that_runs(failing_package, script_paths):
    output = run_well(
        "import pyceedlike; print(pyceedlike.__file__)", paths=[failing_package, *script_paths]
    )
    assert output.startswith(str(failing_package))
