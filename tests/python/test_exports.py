# SPDX-License-Identifier: BSD-2-Clause
"""The table of exports: what is alive, what is asked for, and whether that is granted."""

import contextlib

import numpy as np
import pytest
from helpers import Interface, address_of, values_of, vector_of

import pyceedlike
from pyceedlike import CeedAccessError, from_dlpack

VERSIONED = (1, 0)
READ_ONLY = 1


def borrowing(ceed, n=4):
    """Return a vector that borrows an array of 0, 1, …, n-1, and the array."""
    array = np.arange(n, dtype=ceed.scalar)
    vector = ceed.Vector(n)
    vector.set_array(array, cmode=pyceedlike.USE_POINTER)
    return vector, array


# --- What may be alive: each gives what ends it ----------------------------------------------


def bracket(vector):
    vector.get_array()
    return vector.restore_array


def bracket_for_writing(vector):
    vector.get_array_write()
    return vector.restore_array


def reader(vector):
    vector.get_array_read()
    return vector.restore_array_read


def two_readers(vector):
    vector.get_array_read()
    vector.get_array_read()

    def end():
        vector.restore_array_read()
        vector.restore_array_read()

    return end


def holding(*things):
    """Return what forgets some things."""
    held = list(things)
    return held.clear


def shared(vector):
    return holding(np.from_dlpack(vector))


def shared_legacy(vector):
    return holding(vector.__dlpack__())


def shared_capsule(vector):
    return holding(vector.__dlpack__(max_version=VERSIONED))


def shared_buffer(vector):
    return memoryview(vector).release


def read_lease(vector):
    return holding(vector.to_dlpack(mode="read", max_version=VERSIONED))


def two_read_leases(vector):
    return holding(*(vector.to_dlpack(mode="read", max_version=VERSIONED) for _ in range(2)))


def write_lease(vector):
    return holding(vector.to_dlpack(mode="write", max_version=VERSIONED))


def read_only_view(vector):
    lease = vector.to_dlpack(mode="read", max_version=VERSIONED)
    view = np.from_dlpack(vector)
    assert view.flags.writeable is False
    del lease
    return holding(view)


def reader_left_over(vector):
    with vector.array_read() as array:
        pass
    return holding(array)


def writer_left_over(vector):
    with vector.array() as array:
        pass
    return holding(array)


def pin(vector):
    assert vector.__array_interface__["data"][0]
    return None  # for the vector's life


ALIVE = {
    "GetArray bracket": (bracket, bracket_for_writing),
    "reader brackets": (reader, two_readers),
    "writable shared exports": (shared, shared_legacy, shared_capsule, shared_buffer),
    "read leases": (read_lease, two_read_leases),
    "write lease": (write_lease,),
    "neutral references": (read_only_view, reader_left_over, writer_left_over, pin),
}


# --- What may be asked for: each is undone at once -------------------------------------------


def get_array(vector):
    vector.get_array()
    vector.restore_array()


def get_array_write(vector):
    array = vector.get_array_write()
    array[:] = 0
    vector.restore_array()


def array_block(vector):
    with vector.array():
        pass


def array_write_block(vector):
    with vector.array_write() as array:
        array[:] = 0


def other(vector):
    return vector_of(vector.ceed, np.ones(len(vector)))


WRITE = {
    "get_array": get_array,
    "get_array_write": get_array_write,
    "array": array_block,
    "array_write": array_write_block,
    "set_value": lambda v: v.set_value(1),
    "set_value_strided": lambda v: v.set_value_strided(0, 2, 1, 1),
    "set_array": lambda v: v.set_array(np.ones(len(v), dtype=v.scalar)),
    "copy_from": lambda v: v.copy_from(other(v)),
    "copy_strided": lambda v: v.copy_strided(0, 2, 1, other(v)),
    "scale": lambda v: v.scale(2),
    "filter": lambda v: v.filter(0.5),
    "reciprocal": lambda v: v.reciprocal(),
    "axpy": lambda v: v.axpy(1, other(v)),
    "axpby": lambda v: v.axpby(1, 1, other(v)),
    "pointwise_mult": lambda v: v.pointwise_mult(other(v), other(v)),
}


def get_array_read(vector):
    vector.get_array_read()
    vector.restore_array_read()


def array_read_block(vector):
    with vector.array_read():
        pass


READ = {
    "get_array_read": get_array_read,
    "array_read": array_read_block,
    "norm": lambda v: v.norm(),
    "view": lambda v: v.view(),
    "as x of axpy": lambda v: other(v).axpy(1, v),
    "as source of copy_from": lambda v: other(v).copy_from(v),
    "sync_array": lambda v: v.sync_array(pyceedlike.MEM_HOST),
}

SHARED = {
    "__dlpack__ versioned": lambda v: v.__dlpack__(max_version=VERSIONED),
    "to_dlpack shared": lambda v: v.to_dlpack(max_version=VERSIONED),
    "np.from_dlpack": np.from_dlpack,
    "memoryview": memoryview,
    "np.asarray": np.asarray,
    "to_numpy": lambda v: v.to_numpy(),
    "from_dlpack": from_dlpack,
}

LEASE = {"to_dlpack read": lambda v: v.to_dlpack(mode="read", max_version=VERSIONED)}

EXCLUSIVE = {"to_dlpack write": lambda v: v.to_dlpack(mode="write", max_version=VERSIONED)}

MOVE = {
    "set_array of a pointer": lambda v: v.set_array(
        np.ones(len(v), dtype=v.scalar), cmode=pyceedlike.USE_POINTER
    ),
    "take_array": lambda v: v.take_array(),
    "take_from_dlpack adopting": lambda v: v.take_from_dlpack(
        np.ones(len(v), dtype=v.scalar), cmode=pyceedlike.USE_POINTER
    ),
}

ASKED = {
    "write": WRITE,
    "read": READ,
    "export shared": SHARED,
    "export read": LEASE,
    "export write": EXCLUSIVE,
    "move": MOVE,
}

# fmt: off
TABLE = {  # in the order of ALIVE
    "write":         (False, False, True,  False, False, True),
    "read":          (False, True,  True,  True,  False, True),
    "export shared": (False, True,  True,  True,  False, True),
    "export read":   (False, True,  False, True,  False, True),
    "export write":  (False, False, False, False, False, False),
    "move":          (False, False, False, False, False, False),
}
# fmt: on

CELLS = [
    pytest.param(start, action, granted, id=f"{start.__name__}-{name}-{'yes' if granted else 'no'}")
    for asked, row in TABLE.items()
    for starts, granted in zip(ALIVE.values(), row, strict=True)
    for start in starts
    for name, action in ASKED[asked].items()
]


@pytest.mark.parametrize(("start", "action", "granted"), CELLS)
def test_cell_of_the_table(ceed, start, action, granted):
    vector, array = borrowing(ceed)
    end = start(vector)
    if granted:
        action(vector)
        return
    with pytest.raises(BufferError) as error:
        action(vector)
    assert isinstance(error.value, pyceedlike.CeedError)
    del error
    if end:
        end()
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("start", [s for starts in ALIVE.values() for s in starts if s is not pin])
@pytest.mark.parametrize("asked", ASKED)
def test_everything_is_allowed_again_when_it_ends(ceed, start, asked):
    for action in ASKED[asked].values():
        vector, _ = borrowing(ceed)
        end = start(vector)
        end()
        action(vector)
        assert vector.export_count == 0


@pytest.mark.parametrize("start", [s for starts in ALIVE.values() for s in starts if s is not pin])
def test_the_count_of_exports_returns_to_zero(ceed, start):
    vector, _ = borrowing(ceed)
    start(vector)()
    assert vector.export_count == 0


@pytest.mark.parametrize(
    ("mode", "how"),
    [
        (m, h)
        for m in ("shared", "read", "write")
        for h in ("release_in_thread", "release_without_gil")
    ],
)
def test_everything_is_allowed_again_after_a_deleter_in_another_thread(partner, ceed, mode, how):
    vector, _ = borrowing(ceed)
    sink = partner.Sink(vector.to_dlpack(mode=mode, max_version=VERSIONED))
    getattr(sink, how)()
    sink.join()
    assert vector.export_count == 0
    for action in (*WRITE.values(), *READ.values(), *LEASE.values(), *EXCLUSIVE.values()):
        action(vector)
    assert vector.export_count == 0


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_lease_is_lifted_by_its_deleter_only(partner, ceed, mode):
    vector, _ = borrowing(ceed)
    capsule = vector.to_dlpack(mode=mode, max_version=VERSIONED)
    sink = partner.Sink(capsule)
    del capsule
    with pytest.raises(CeedAccessError):
        vector.set_value(1)
    sink.release()
    vector.set_value(1)


def test_the_last_of_several_leases_lifts_them(ceed):
    vector, _ = borrowing(ceed)
    leases = [vector.to_dlpack(mode="read", max_version=VERSIONED) for _ in range(3)]
    while leases:
        with pytest.raises(CeedAccessError, match=rf"\b{len(leases)}\b"):
            vector.set_value(1)
        leases.pop()
    vector.set_value(1)


# --- What the flags of an export say ---------------------------------------------------------


def test_a_shared_export_during_a_lease_is_read_only(partner, v4):
    lease = v4.to_dlpack(mode="read", max_version=VERSIONED)
    assert partner.Sink(v4.__dlpack__(max_version=VERSIONED)).flags == READ_ONLY
    assert memoryview(v4).readonly
    del lease
    assert partner.Sink(v4.__dlpack__(max_version=VERSIONED)).flags == 0
    assert not memoryview(v4).readonly


def test_a_read_lease_says_read_only(partner, v4):
    assert partner.Sink(v4.to_dlpack(mode="read", max_version=VERSIONED)).flags == READ_ONLY


def test_a_write_lease_may_write(partner, v4):
    sink = partner.Sink(v4.to_dlpack(mode="write", max_version=VERSIONED))
    assert sink.flags == 0
    sink.write(2, 22)
    sink.release()
    assert values_of(v4).tolist() == [0, 1, 22, 3]


def test_a_legacy_request_during_a_lease_gets_a_private_copy(partner, v4):
    address = address_of(v4)
    lease = v4.to_dlpack(mode="read", max_version=VERSIONED)
    sink = partner.Sink(v4.__dlpack__())
    assert sink.data != address
    sink.write(0, 99)
    del lease
    assert values_of(v4).tolist() == [0, 1, 2, 3]


def test_a_legacy_request_during_a_lease_without_a_copy_is_refused(v4):
    lease = v4.to_dlpack(mode="read", max_version=VERSIONED)
    with pytest.raises(BufferError):
        v4.__dlpack__(copy=False)
    del lease


def test_a_view_of_a_read_only_view_is_no_writer(v4):
    lease = v4.to_dlpack(mode="read", max_version=VERSIONED)
    view = np.from_dlpack(v4)
    del lease
    v4.set_value(4)
    assert view.tolist() == [4, 4, 4, 4]
    assert view.flags.writeable is False


# --- What the errors say ---------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_error_of_a_refused_lease_counts_the_writable_views(v4, count):
    views = [np.from_dlpack(v4) for _ in range(count)]
    with pytest.raises(BufferError, match=rf"{count} writable"):
        v4.to_dlpack(mode="read", max_version=VERSIONED)
    assert len(views) == v4.export_count == count


def test_the_error_of_a_refused_write_counts_the_leases(v4):
    leases = [v4.to_dlpack(mode="read", max_version=VERSIONED) for _ in range(2)]
    with pytest.raises(CeedAccessError, match=r"\b2\b.*lease"):
        v4.set_value(1)
    del leases


def test_the_error_of_a_second_writer_says_so(v4):
    v4.get_array()
    with pytest.raises(CeedAccessError, match=r"(?i)restore|out|array"):
        v4.get_array()
    v4.restore_array()


# --- Pins ------------------------------------------------------------------------------------


def test_a_pin_lasts_as_long_as_the_vector(ceed):
    vector, _ = borrowing(ceed)
    address, _ = vector.__array_interface__["data"]
    for _ in range(3):
        with pytest.raises(CeedAccessError):
            vector.take_array()
    assert address_of(vector) == address


def test_a_pin_blocks_no_lease(v4):
    array = np.asarray(Interface(v4))
    lease = v4.to_dlpack(mode="read", max_version=VERSIONED)
    assert array.tolist() == [0, 1, 2, 3]
    del lease
    v4.set_value(1)


def test_many_pins_are_harmless(v4):
    dictionaries = [v4.__array_interface__ for _ in range(1000)]
    assert all(d == dictionaries[0] for d in dictionaries)
    v4.set_value(1)


# --- Exports and the life of the vector ------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [
        shared,
        shared_legacy,
        shared_capsule,
        read_lease,
        write_lease,
        read_only_view,
        reader_left_over,
    ],
)
def test_exports_never_keep_a_vector_from_going(ceed, start):
    vector, _ = borrowing(ceed)
    end = start(vector)
    del vector
    end()


@pytest.mark.parametrize("mode", ["shared", "read", "write"])
def test_exported_memory_lives_in_every_mode(partner, ceed, mode):
    vector = vector_of(ceed, range(100))
    sink = partner.Sink(vector.to_dlpack(mode=mode, max_version=VERSIONED))
    del vector
    assert sink.values() == list(range(100))


def test_two_vectors_of_one_object_share_the_rules(ceed):
    vector = vector_of(ceed, range(4))
    same = pyceedlike.Vector.from_handle(vector.handle)
    lease = vector.to_dlpack(mode="read", max_version=VERSIONED)
    with pytest.raises(CeedAccessError):
        same.set_value(1)
    assert same.export_count == 1
    del lease
    same.set_value(1)
    assert values_of(vector).tolist() == [1, 1, 1, 1]


def test_vectors_of_other_memory_are_untouched_by_a_lease(ceed):
    vector, other_vector = vector_of(ceed, range(4)), vector_of(ceed, range(4))
    lease = vector.to_dlpack(mode="write", max_version=VERSIONED)
    other_vector.set_value(1)
    del lease


def test_a_refused_request_leaves_no_count(v4):
    v4.get_array()
    for action in (*SHARED.values(), *LEASE.values(), *EXCLUSIVE.values()):
        with contextlib.suppress(BufferError):
            action(v4)
    assert v4.export_count == 0
    v4.restore_array()
