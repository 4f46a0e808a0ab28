# SPDX-License-Identifier: BSD-2-Clause
"""Code of others that misbehaves while memory is exchanged: nothing crashes, all of it is told."""

import gc
import signal
import sys

import numpy as np
import pytest
from helpers import Interface, address_of, fake_over, producer_of, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import (
    COPY_VALUES,
    USE_POINTER,
    CeedIncompatibleError,
    Vector,
    _exchange,
    from_dlpack,
)
from pyceedlike.interop.numpy import view


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
    assert seen == [(0, 0, (False, "nothing was exchanged yet"))]


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


def test_a_deleters_exception_is_no_failure_of_taking_back(partner, ceed, scalar, unraised):
    source = producer_of(fake_over(partner, np.arange(4, dtype=scalar), (1, 0), raises=True))
    vector = ceed.Vector(4)
    vector.set_array(source, cmode=USE_POINTER)
    assert vector.take_array() is source
    assert [str(error) for error in unraised] == ["left by a deleter"]


# --- Brackets that C code has closed ---------------------------------------------------------


def restore_in_c(vector, array):
    ffi, lib = vector._library.ffi, vector._library.lib
    pointer = ffi.new("CeedScalar **", ffi.from_buffer("CeedScalar[]", array))
    vector._library.check(lib.CeedVectorRestoreArray(vector._cdata, pointer))


def test_a_bracket_that_c_code_has_closed_is_reported_when_it_goes(ceed, unraised):
    vector = vector_of(ceed, range(4))
    bracket = vector._open(0, pyceedlike.MEM_HOST)
    restore_in_c(vector, view(bracket))
    del bracket
    gc.collect()
    assert [type(error) for error in unraised] == [pyceedlike.CeedAccessError]
    vector.set_value(1)


# --- Buffers that are not what was asked for -------------------------------------------------


def test_a_buffer_without_strides_is_compact(partner):
    array = np.arange(6.0).reshape(2, 3)
    source = partner.Buffer(array.ctypes.data, 48, (2, 3), None, ndim=2)
    vector = from_dlpack(source)
    assert address_of(vector) == array.ctypes.data
    assert values_of(vector).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_buffer_of_one_axis_needs_no_shape(partner, scalar):
    array = np.arange(6, dtype=scalar)
    source = partner.Buffer(array.ctypes.data, array.nbytes, None, None, format=array.dtype.char)
    assert values_of(from_dlpack(source)).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("shape", "strides", "more", "fault"),
    [
        (None, None, {"ndim": 2}, "without lengths"),
        ((6,), (8,), {"suboffsets": (0,)}, "pointers"),
        ((7,), (8,), {}, "another length"),
        ((5,), (8,), {}, "another length"),
        ((-6,), (8,), {}, "negative"),
        ((2**61, 8), (8, 8), {"ndim": 2}, "overflows"),
        ((6,), (8,), {"ndim": -1}, "axes"),
        ((6,), (8,), {"ndim": 65}, "axes"),
        ((6,), (8,), {"ndim": 10**9}, "axes"),
        ((6,), (12,), {}, "multiple"),
        ((6,), (8,), {"format": "d\xff"}, "in 8 bytes"),
    ],
)
def test_a_malformed_buffer_is_refused_and_released(partner, shape, strides, more, fault):
    array = np.arange(6.0)
    source = partner.Buffer(array.ctypes.data, array.nbytes, shape, strides, **more)
    with pytest.raises(CeedIncompatibleError, match=fault):
        from_dlpack(source)
    assert source.held == 0


def test_a_buffer_is_held_as_long_as_the_vector(partner):
    array = np.arange(6.0)
    source = partner.Buffer(array.ctypes.data, array.nbytes, (6,), (8,))
    vector = from_dlpack(source)
    assert source.held == 1
    del vector
    assert source.held == 0


# --- Addresses, and arguments of the extension -----------------------------------------------


def test_from_handle_of_memory_that_nobody_may_read(partner):
    with pytest.raises(CeedIncompatibleError, match="no object can be there"):
        Vector.from_handle(partner.forbidden_page())


@pytest.mark.parametrize("address", [-8, 2**64, 2**64 + 8])
def test_an_interface_at_no_address_is_refused(address):
    with pytest.raises(CeedIncompatibleError, match="no address"):
        from_dlpack(Interface(np.zeros(4), data=(address, False)))


@pytest.mark.parametrize("address", [8.0, "8", None])
def test_an_interface_at_what_is_no_integer_is_a_type_error(address):
    with pytest.raises(TypeError):
        from_dlpack(Interface(np.zeros(4), data=(address, False)))


@pytest.mark.parametrize("item_size", [0, -8, 1, 16, 2**40])
def test_an_entry_of_another_size_is_refused(item_size):
    with pytest.raises(ValueError, match="8 or 4 bytes"):
        _exchange.borrow_address(None, 0, False, item_size, (), None, 1)


def test_more_axes_than_a_tensor_has_are_refused():
    array = np.zeros(1)
    with pytest.raises(CeedIncompatibleError, match="65 axes"):
        from_dlpack(Interface(array, shape=(1,) * 65))


@pytest.mark.parametrize("junk", [7, None, "x", int])
@pytest.mark.parametrize("place", [0, 2, 5, 6], ids=["codes", "Vector", "copy", "export"])
def test_setup_refuses_junk(place, junk):
    objects = [
        *({}, pyceedlike.Exchange, Vector, pyceedlike.Ceed, None),
        *(pyceedlike.CeedCopyError, pyceedlike.CeedExportError),
    ]
    objects[place] = junk if place else {1: junk}
    with pytest.raises(TypeError):
        _exchange.setup(*objects)


@pytest.mark.parametrize("mem_type", [7, -1, 2**31, 2**32, -(2**70)])
def test_to_dlpack_of_an_unknown_memory_type_is_refused(v4, mem_type):
    with pytest.raises(CeedIncompatibleError, match=f"{mem_type} is no memory type"):
        v4.to_dlpack(mem_type)


@pytest.mark.parametrize("mem_type", ["host", 0.0, True])
def test_to_dlpack_of_what_is_no_memory_type_is_a_type_error(v4, mem_type):
    with pytest.raises(TypeError):
        v4.to_dlpack(mem_type)


@pytest.mark.parametrize("module", ["pyceedlike", "pyceedlike._exchange"])
def test_the_extension_may_be_imported_again(module):
    run_well(f"""
import sys
import numpy as np
import pyceedlike
vector = pyceedlike.from_dlpack(np.zeros(4))
for name in [name for name in sys.modules if name.startswith({module!r})]:
    del sys.modules[name]
import {module} as again
assert len(again.from_dlpack(vector) if again.__name__ == "pyceedlike" else vector) == 4
assert hasattr(type(vector), "__dlpack_c_exchange_api__")
""")


# --- Producers that can't do what is asked ---------------------------------------------------


class Answering:
    """A producer that answers each request with the next of some exceptions."""

    def __init__(self, *errors):
        self.errors = list(errors)

    def __dlpack__(self, **request):
        raise self.errors.pop(0)


@pytest.mark.parametrize("copy", [None, True])
def test_the_first_type_error_of_a_producer_is_the_one_that_is_told(copy):
    with pytest.raises(TypeError, match="first"):
        from_dlpack(Answering(*map(TypeError, ("first", "second", "third"))), copy=copy)


def test_a_better_reason_than_unknown_keywords_is_told():
    with pytest.raises(BufferError, match="in use"):
        from_dlpack(Answering(TypeError("no keywords"), BufferError("in use")))


@pytest.mark.parametrize("source", [np.zeros(4), [0.0] * 4], ids=["array", "list"])
@pytest.mark.parametrize("cmode", [3, 7, -1])
def test_an_unknown_copy_mode_is_told(cmode, source):
    vector = pyceedlike.Ceed().Vector(4)
    for take in (vector.take_from_dlpack, vector.set_array):
        with pytest.raises(CeedIncompatibleError, match=f"{cmode} is no copy mode"):
            take(source, cmode=cmode)


IS_COPIED = 2


def copying_producer(partner, array):
    return producer_of(fake_over(partner, array, (1, 0), flags=IS_COPIED))


def test_a_copy_that_the_source_made_is_not_borrowed(partner, ceed, scalar):
    source = copying_producer(partner, np.arange(4, dtype=scalar))
    vector = vector_of(ceed, np.zeros(4))
    with pytest.raises(pyceedlike.CeedCopyError, match="made a copy"):
        vector.set_array(source, cmode=USE_POINTER)
    assert values_of(vector).tolist() == [0, 0, 0, 0]


def test_a_copy_that_the_source_made_is_owned_and_told(partner, ceed, scalar):
    array = np.arange(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.take_from_dlpack(copying_producer(partner, array), pyceedlike.OWN_POINTER)
    assert address_of(vector) == array.ctypes.data
    assert vector.exchange == (False, "adopts a copy that the source made")


# --- Attributes, names and numbers -----------------------------------------------------------


def test_numpy_makes_no_scalar_of_a_vector_without_values(ceed):
    with pytest.raises(pyceedlike.CeedExportError, match="no values"):
        np.asarray(ceed.Vector(4))


def test_numpy_makes_no_scalar_of_a_vector_that_somebody_writes(v4):
    with v4.array(), pytest.raises(pyceedlike.CeedAccessError, match="is out"):
        np.asarray(v4)


def test_an_array_of_a_bracket_that_has_closed_is_an_error(v4):
    bracket = v4._open(0, pyceedlike.MEM_HOST)
    bracket.restore()
    with pytest.raises(pyceedlike.CeedAccessError, match="restored"):
        view(bracket)


def test_a_resource_with_a_nul_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        pyceedlike.Ceed("/cpu/self\0x")


@pytest.mark.parametrize("name", [n for n in pyceedlike.__all__ if n.endswith("Error")])
def test_an_error_is_told_by_its_public_name(name):
    assert getattr(pyceedlike, name).__module__ == "pyceedlike"


LARGE = {"float64": 2**53, "float32": 2**24}


@pytest.mark.parametrize("make", [list, lambda x: [*x, 0.5], lambda x: x[0], np.int64, tuple])
def test_an_integer_that_would_be_rounded_is_refused(ceed, scalar, make):
    number = LARGE[scalar] + 1
    source = make([number]) if make is not np.int64 else [np.int64(number)]
    with pytest.raises(ValueError, match=f"{number} would be rounded"):
        Vector.from_dlpack(source, ceed=ceed)


def test_large_integers_that_are_numbers_of_the_precision_are_taken(ceed, scalar):
    numbers = [LARGE[scalar] - 1, -LARGE[scalar], LARGE[scalar] + 2, 2**62]
    assert values_of(Vector.from_dlpack(numbers, ceed=ceed)).tolist() == numbers


# --- Attributes of others -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["handle", "scalar"])
def test_what_a_context_raises_while_it_is_read_is_raised(name):
    class Stopped(pyceedlike.Ceed):
        is_on = False

        def __getattribute__(self, attribute):
            if attribute == name and Stopped.is_on:
                raise KeyboardInterrupt
            return super().__getattribute__(attribute)

    ceed = Stopped()
    Stopped.is_on = True
    with pytest.raises(KeyboardInterrupt):
        Vector.from_dlpack(np.ones(3), ceed=ceed)


def test_the_reason_of_a_copy_is_a_text(v4):
    before = v4.exchange
    with pytest.raises(TypeError):
        v4._note_copy(3)
    assert v4.exchange == before


# --- Waiting for a lease to end --------------------------------------------------------------


def test_signals_do_not_shorten_the_wait_for_a_lease(v4):
    lease = v4._lease()
    held = [lease.__dlpack__()]
    signals = []

    def note(number, frame):
        signals.append(number)
        if len(signals) == 200:
            held.clear()

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        assert lease.wait(5.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("seconds", [0.0, -1.0, -1e300, float("nan")])
def test_a_wait_of_no_time_tells_how_it_is(v4, seconds):
    lease = v4._lease()
    capsule = lease.__dlpack__()
    assert not lease.wait(seconds)
    del capsule
    assert lease.wait(seconds)


def test_a_wait_without_an_end_ends_with_the_lease(v4):
    lease = v4._lease()
    capsule = lease.__dlpack__()
    del capsule
    assert lease.wait(float("inf"))


@pytest.mark.parametrize("timeout", [float("nan"), -1, -0.5])
def test_a_timeout_that_is_no_time_is_refused_before_the_block(jax, v4, timeout):
    with pytest.raises(ValueError, match="timeout"), v4.jax(timeout=timeout):
        pytest.fail("the block was entered")
    v4.set_value(1)


@pytest.mark.parametrize("timeout", [None, "5", []])
def test_a_timeout_that_is_no_number_is_refused_before_the_block(jax, v4, timeout):
    with pytest.raises(TypeError), v4.jax(timeout=timeout):
        pytest.fail("the block was entered")
    v4.set_value(1)


def test_an_error_of_a_block_is_told_though_its_lease_does_not_end(jax, v4):
    kept = []

    def work():
        with v4.jax(timeout=0) as x:
            kept.append(np.asarray(x))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        work()
    assert "JAX still reads the vector" in "".join(caught.value.__notes__)


def test_an_error_of_a_block_is_told_though_c_code_has_restored_its_array(ceed):
    vector = vector_of(ceed, range(4))

    def work():
        with vector.array() as array:
            restore_in_c(vector, array)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        work()
    assert "no array is out" in "".join(caught.value.__notes__)


def test_a_block_whose_array_c_code_has_restored_is_an_error(ceed):
    vector = vector_of(ceed, range(4))
    with pytest.raises(pyceedlike.CeedAccessError), vector.array() as array:
        restore_in_c(vector, array)
