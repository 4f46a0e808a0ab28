# SPDX-License-Identifier: BSD-2-Clause
"""The real libCEED and both our precisions in one process, imported in either order."""

import pytest
from helpers import run_well

OURS = """
import pyceedlike
"""
THEIRS = """
import libceed
from _ceed_cffi import ffi
"""
TOGETHER = """
import numpy as np

theirs = libceed.Ceed("/cpu/self").Vector(3)
ours = {s: pyceedlike.Ceed("/cpu/self", scalar=s).Vector(3) for s in ("float64", "float32")}
"""
VALUES = """
theirs.set_value(2.0)
for i, vector in enumerate(ours.values()):
    vector.set_value(5.0 + i)
assert theirs.norm() == np.sqrt(12), theirs.norm()
assert ours["float64"].norm(pyceedlike.NORM_1) == 15
assert ours["float32"].norm(pyceedlike.NORM_1) == 18
with theirs.array_read() as a:
    assert a.tolist() == [2, 2, 2]
with ours["float64"].array_read() as a:
    assert a.tolist() == [5, 5, 5]
with ours["float32"].array_read() as a:
    assert (a.dtype, a.tolist()) == (np.float32, [6, 6, 6])
"""
MEMORY = """
lent = np.arange(3.0)
theirs.set_array(lent, cmode=libceed.USE_POINTER)
ours["float64"].set_array(lent, cmode=pyceedlike.USE_POINTER)
theirs.scale(10.0)
theirs.sync_array()
assert lent.tolist() == [0, 10, 20]
ours["float64"].scale(2)
assert lent.tolist() == [0, 20, 40]
"""
RESOURCES = """
assert ours["float64"].ceed.get_resource().startswith("/cpu/self/")
assert libceed.Ceed("/cpu/self/ref/serial").get_resource() == "/cpu/self/ref/serial"
"""
HANDLE = """
theirs.set_value(2.0)
address = int(ffi.cast("uintptr_t", theirs._pointer[0]))
try:
    pyceedlike.Vector.from_handle(address)
except pyceedlike.CeedIncompatibleError as error:
    assert "no object of this library" in str(error), error
else:
    raise AssertionError("a stranger's vector was taken")
assert theirs.norm() == np.sqrt(12)
"""
ERRORS = """
try:
    ours["float64"].copy_from(ours["float64"].ceed.Vector(7))
except pyceedlike.CeedDimensionError as error:
    assert "7" in str(error)
else:
    raise AssertionError
theirs.set_value(1.0)
assert theirs.norm(libceed.NORM_1) == 3
"""
ORDERS = {"libceed first": THEIRS + OURS, "libceed last": OURS + THEIRS}


@pytest.fixture(autouse=True, scope="module")
def libceed():
    return pytest.importorskip("libceed", reason="libceed (0.12.0) is not installed")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "what",
    [
        pytest.param(VALUES, id="values"),
        pytest.param(MEMORY, id="memory"),
        pytest.param(RESOURCES, id="resources"),
        pytest.param(HANDLE, id="handle"),
        pytest.param(ERRORS, id="errors"),
    ],
)
def test_each_has_its_own(order, what):
    run_well(ORDERS[order] + TOGETHER + what)
