# SPDX-License-Identifier: BSD-2-Clause
"""Code of others that misbehaves while memory is exchanged: nothing crashes, all of it is told."""

import gc
import sys

import numpy as np
import pytest
from helpers import fake_over, producer_of, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import COPY_VALUES, USE_POINTER, Vector, from_dlpack


@pytest.fixture
def unraised(monkeypatch):
    """What could not be raised: the exceptions, as they come."""
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_value))
    return reports


# --- Vectors that are half made --------------------------------------------------------------


def test_a_finalizer_sees_no_vector_where_an_import_failed():
    seen = []

    class Watched(Vector):
        def __del__(self):
            seen.append((len(self), self.handle, self.exchange))

    with pytest.raises(pyceedlike.CeedIncompatibleError, match="int64"):
        Watched.from_dlpack(np.arange(3))
    assert seen == [(0, 0, None)]


CALLS = {
    "repr": repr,
    "norm": lambda v: v.norm(),
    "ceed": lambda v: v.ceed,
    "view": lambda v: v.view(),
    "array": lambda v: v.get_array(),
    "memoryview": memoryview,
    "__dlpack__": lambda v: v.__dlpack__(),
    "__dlpack__, versioned": lambda v: v.__dlpack__(max_version=(1, 0)),
    "__dlpack__, on a device": lambda v: v.__dlpack__(dl_device=(1, 0)),
    "__dlpack_device__": lambda v: v.__dlpack_device__(),
    "to_dlpack": lambda v: v.to_dlpack(),
    "__array_interface__": lambda v: v.__array_interface__,
    "take_from_dlpack": lambda v: v.take_from_dlpack(np.zeros(0)),
    "set_array": lambda v: v.set_array([], cmode=COPY_VALUES),
    "from_dlpack": from_dlpack,
    "_lease": lambda v: v._lease(),
    "from_handle": lambda v: Vector.from_handle(v.handle),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_vector_yet_refuses(call):
    errors = []

    class Watched(Vector):
        def __del__(self):
            try:
                call(self)
            except Exception as error:
                errors.append(error)

    with pytest.raises(pyceedlike.CeedIncompatibleError):
        Watched.from_dlpack(np.arange(3))
    assert "NULL" in str(errors[0])


def test_a_collection_during_an_import_may_look_at_everything():
    run_well("""
import gc
import numpy as np
import pyceedlike

def look(phase, info):
    for thing in gc.get_objects():
        if isinstance(thing, pyceedlike.Vector):
            len(thing), thing.scalar, thing.handle, thing.exchange

gc.callbacks.append(look)
gc.set_threshold(1)
for n in range(200):
    pyceedlike.from_dlpack(np.zeros((4, 4))[:, 1])
""")


# --- Deleters that leave an exception --------------------------------------------------------


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("cmode", [COPY_VALUES, USE_POINTER])
def test_a_deleters_exception_is_no_failure_of_taking(
    partner, ceed, scalar, unraised, version, cmode
):
    array = np.arange(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.take_from_dlpack(producer_of(fake_over(partner, array, version, raises=True)), cmode)
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    vector.take_from_dlpack(array, USE_POINTER)
    assert [str(error) for error in unraised] == ["left by a deleter"]


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_deleters_exception_leaves_an_unused_capsule_alone(
    partner, scalar, unraised, max_version
):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 0), raises=True)
    capsule = from_dlpack(producer_of(fake)).__dlpack__(max_version=max_version)
    assert fake.calls == 0
    del capsule
    assert fake.calls == 1
    assert [str(error) for error in unraised] == ["left by a deleter"]


def test_a_deleters_exception_leaves_one_on_its_way_alone(partner, scalar, unraised):
    fake = fake_over(partner, np.arange(4, dtype=scalar), (1, 0), raises=True)
    capsules = [from_dlpack(producer_of(fake)).__dlpack__(max_version=(1, 0))]
    assert isinstance(partner.drop_while_raising(capsules), KeyError)
    assert [str(error) for error in unraised] == ["left by a deleter"]


@pytest.mark.parametrize("large", [False, True])
def test_a_deleters_exception_is_no_failure_of_an_import(partner, scalar, unraised, large):
    array = np.zeros(100_000 if large else 4, dtype=scalar)
    fake = fake_over(partner, array, (1, 0), raises=True)
    assert len(from_dlpack(producer_of(fake), copy=True)) == array.size
    assert [str(error) for error in unraised] == ["left by a deleter"]


# --- Brackets that C code has closed ---------------------------------------------------------


def test_a_bracket_that_c_code_has_closed_is_reported_when_it_goes(ceed, unraised):
    vector = vector_of(ceed, range(4))
    bracket = vector._open(0, pyceedlike.MEM_HOST)
    library = vector._library
    with memoryview(bracket) as memory:
        array = library.ffi.new("CeedScalar **", library.ffi.from_buffer("CeedScalar[]", memory))
        library.check(library.lib.CeedVectorRestoreArray(vector._cdata, array))
    del bracket, memory
    gc.collect()
    assert [type(error) for error in unraised] == [pyceedlike.CeedAccessError]
    vector.set_value(1)
