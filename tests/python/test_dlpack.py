# SPDX-License-Identifier: BSD-2-Clause
"""DLPack as its specification has it, against partners that keep it and partners that don't."""

import contextlib
import gc
import itertools
import sys
import weakref

import numpy as np
import pytest
from helpers import (
    NAMES,
    OTHER,
    RUNS,
    SCALARS,
    TRIPLE,
    VERSIONS,
    Memory,
    OldProducer,
    OneCapsule,
    Producer,
    address_of,
    churn,
    eventually,
    fake_over,
    producer_of,
    values_of,
    vector_of,
)

import pyceedlike
from pyceedlike import Vector, from_dlpack

VERSIONED = (1, 0)
READ_ONLY, IS_COPIED, PADDED = 1, 2, 4

versions = pytest.mark.parametrize("version", VERSIONS, ids=["legacy", "1.0", "1.3"])
both_kinds = pytest.mark.parametrize("max_version", [None, VERSIONED], ids=["legacy", "versioned"])


# --- What we export: the fields --------------------------------------------------------------


@both_kinds
def test_capsule_has_the_name_of_its_kind(partner, v4, max_version):
    capsule = v4.__dlpack__(max_version=max_version)
    assert partner.name(capsule) == NAMES[max_version is not None]


@both_kinds
@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_export_describes_the_vector(partner, ceed, scalar, n, max_version):
    sink = partner.Sink(vector_of(ceed, range(n)).__dlpack__(max_version=max_version))
    assert (sink.ndim, sink.shape, sink.strides) == (1, (n,), (1,))
    assert (sink.dtype, sink.device, sink.byte_offset) == (TRIPLE[scalar], (1, 0), 0)
    assert sink.values() == list(range(n))


@both_kinds
def test_export_of_no_entries_has_no_data(partner, ceed, max_version):
    vector = ceed.Vector(0)
    vector.set_value(0)
    sink = partner.Sink(vector.__dlpack__(max_version=max_version))
    assert (sink.ndim, sink.shape, sink.strides) == (1, (0,), (1,))
    assert (sink.data, sink.byte_offset) == (0, 0)


def test_versioned_export_says_1_3_and_no_flags(partner, v4):
    sink = partner.Sink(v4.__dlpack__(max_version=VERSIONED))
    assert (sink.version, sink.flags) == ((1, 3), 0)


@both_kinds
def test_every_export_has_a_deleter(partner, v4, max_version):
    exports = [v4.__dlpack__(max_version=max_version, copy=copy) for copy in (None, True, False)]
    assert all(partner.Sink(capsule).has_deleter for capsule in exports)


@both_kinds
def test_memory_is_aligned_to_256_bytes(partner, ceed, max_version):
    vectors = [vector_of(ceed, range(n)) for n in range(1, 50)]
    sinks = [partner.Sink(v.__dlpack__(max_version=max_version)) for v in vectors]
    assert {sink.data % 256 for sink in sinks} == {0}


@pytest.mark.parametrize(
    ("max_version", "versioned"),
    [
        (None, False),
        ((0, 8), False),
        ((1, 0), True),
        ((1, 3), True),
        ((1, 99), True),
        ((2, 0), True),
    ],
)
def test_max_version_chooses_the_kind(partner, v4, max_version, versioned):
    capsule = v4.__dlpack__(max_version=max_version)
    assert partner.name(capsule) == NAMES[versioned]
    assert partner.Sink(capsule).version == ((1, 3) if versioned else None)


@both_kinds
def test_two_exports_are_two_tensors(partner, v4, max_version):
    first, second = (partner.Sink(v4.__dlpack__(max_version=max_version)) for _ in range(2))
    assert first.struct != second.struct
    assert first.data == second.data
    first.release()
    assert second.values() == [0, 1, 2, 3]


@both_kinds
def test_one_export_is_consumed_and_the_other_dropped(partner, v4, max_version):
    used, dropped = (v4.__dlpack__(max_version=max_version) for _ in range(2))
    sink = partner.Sink(used)
    del used, dropped
    assert sink.values() == [0, 1, 2, 3]
    assert v4.export_count == 1


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2), (1, 6), (1, 2, 3, 1), (4,), (2, 2)])
def test_to_dlpack_gives_a_shape_in_c_order(partner, ceed, shape):
    vector = vector_of(ceed, range(6))
    sink = partner.Sink(vector.to_dlpack(shape=shape, max_version=VERSIONED))
    count = int(np.prod(shape))
    assert sink.shape == shape
    assert sink.strides == tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    assert sink.values() == list(range(count))


@pytest.mark.parametrize("shape", [(7,), (2, 4), (-1,), (2, -3), (2**62, 2), (2**62, 4)])
def test_to_dlpack_refuses_a_shape_outside_the_vector(ceed, shape):
    vector = vector_of(ceed, range(6))
    with pytest.raises(pyceedlike.CeedDimensionError):
        vector.to_dlpack(shape=shape, max_version=VERSIONED)
    assert vector.export_count == 0


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_legacy_lease_is_refused_with_the_remedy(v4, mode):
    with pytest.raises(pyceedlike.CeedExportError, match=r"max_version=\(1, 0\)"):
        v4.to_dlpack(mode=mode)
    assert v4.export_count == 0


def test_an_unknown_mode_is_refused(v4):
    with pytest.raises((ValueError, TypeError)):
        v4.to_dlpack(mode="sideways", max_version=VERSIONED)


def test_to_dlpack_gives_what_dunder_dlpack_gives(partner, v4):
    sinks = [partner.Sink(v4.to_dlpack(max_version=m)) for m in (None, VERSIONED)]
    assert [sink.version for sink in sinks] == [None, (1, 3)]
    assert {sink.data for sink in sinks} == {address_of(v4)}


def test_to_dlpack_of_host_memory_by_its_type(partner, v4):
    sink = partner.Sink(v4.to_dlpack(pyceedlike.MEM_HOST))
    assert sink.data == address_of(v4)


@pytest.mark.parametrize("memtype", [-1, 2, 17])
def test_to_dlpack_of_an_unknown_memory_type_is_refused(v4, memtype):
    with pytest.raises((pyceedlike.CeedError, ValueError)):
        v4.to_dlpack(memtype, max_version=VERSIONED)


def test_the_export_of_one_entry_has_the_stride_of_one(partner, scalar):
    vector = from_dlpack(np.arange(9, dtype=scalar)[4:6:3])
    sink = partner.Sink(vector.__dlpack__(max_version=VERSIONED))
    assert (sink.shape, sink.strides, sink.values()) == ((1,), (1,), [4])


def test_to_dlpack_of_device_memory_is_refused_on_a_host_context(v4):
    with pytest.raises(pyceedlike.CeedBackendError, match="no device memory") as error:
        v4.to_dlpack(pyceedlike.MEM_DEVICE, max_version=VERSIONED)
    assert isinstance(error.value, NotImplementedError)


def test_an_export_of_a_vector_without_values_is_refused(ceed):
    with pytest.raises(BufferError) as error:
        ceed.Vector(3).__dlpack__(max_version=VERSIONED)
    assert isinstance(error.value, pyceedlike.CeedError)


# --- What we export: the arguments -----------------------------------------------------------


def test_device_is_a_plain_tuple_of_integers(v4):
    device = v4.__dlpack_device__()
    assert type(device) is tuple
    assert (int(device[0]), int(device[1])) == (1, 0)
    assert device == (1, 0)
    assert hash(device[0]) == hash(1)


@pytest.mark.parametrize("stream", [None, -1])
def test_streams_that_host_memory_takes(partner, v4, stream):
    assert partner.Sink(v4.__dlpack__(stream=stream)).values() == [0, 1, 2, 3]


@pytest.mark.parametrize("stream", [0, 1, 2, 0x7000, -2])
def test_streams_that_host_memory_does_not_have(v4, stream):
    with pytest.raises(ValueError, match="stream"):
        v4.__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", [True, False, 1.5, "1", (1,)])
def test_streams_that_are_no_numbers(v4, stream):
    with pytest.raises(TypeError, match="stream"):
        v4.__dlpack__(stream=stream)


@pytest.mark.parametrize("arguments", [{"color": 1}, {"Copy": True}, {"max_versions": (1, 0)}])
def test_unknown_keywords_are_type_errors(v4, arguments):
    with pytest.raises(TypeError, match=next(iter(arguments))):
        v4.__dlpack__(**arguments)


def test_positional_arguments_are_type_errors(v4):
    with pytest.raises(TypeError):
        v4.__dlpack__(None)


@pytest.mark.parametrize("name", ["max_version", "dl_device"])
@pytest.mark.parametrize("value", [[1, 0], (1,), (1, 0, 0), 1, "10", (1.0, 0), ("1", "0")])
def test_pairs_must_be_tuples_of_two_integers(v4, name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        v4.__dlpack__(**{name: value})
    assert v4.export_count == 0


@pytest.mark.parametrize("copy", [1, 0, "yes", ()])
def test_copy_must_be_true_false_or_none(v4, copy):
    with pytest.raises((TypeError, ValueError), match="copy"):
        v4.__dlpack__(copy=copy)


@pytest.mark.parametrize("device", [(2, 0), (10, 1), (14, 0), (99, 0), (2**40, 0)])
@both_kinds
def test_a_device_we_do_not_have_is_a_buffer_error(v4, device, max_version):
    with pytest.raises((BufferError, OverflowError)):
        v4.__dlpack__(dl_device=device, max_version=max_version)
    assert v4.export_count == 0


@both_kinds
def test_our_own_device_may_be_asked_for(partner, v4, max_version):
    sink = partner.Sink(v4.__dlpack__(dl_device=(1, 0), max_version=max_version))
    assert sink.data == address_of(v4)


@both_kinds
def test_copy_false_shares(partner, v4, max_version):
    sink = partner.Sink(v4.__dlpack__(copy=False, max_version=max_version))
    assert sink.data == address_of(v4)


@both_kinds
def test_copy_true_is_a_copy_that_the_consumer_owns(partner, v4, max_version):
    sink = partner.Sink(v4.__dlpack__(copy=True, max_version=max_version))
    assert sink.data != address_of(v4)
    sink.write(0, 50)
    v4.scale(10)
    assert sink.values() == [50, 1, 2, 3]
    assert values_of(v4).tolist() == [0, 10, 20, 30]


def test_copy_true_says_copied_and_never_read_only(partner, ceed):
    source = np.arange(4, dtype=ceed.scalar)
    source.flags.writeable = False
    vector = from_dlpack(source)
    sink = partner.Sink(vector.__dlpack__(copy=True, max_version=VERSIONED))
    assert sink.flags == IS_COPIED


@both_kinds
def test_copy_true_is_no_export_of_the_vector(v4, max_version):
    capsule = v4.__dlpack__(copy=True, max_version=max_version)
    assert v4.export_count == 0
    del capsule


@both_kinds
def test_a_copy_outlives_the_vector(partner, ceed, max_version):
    sink = partner.Sink(vector_of(ceed, range(9)).__dlpack__(copy=True, max_version=max_version))
    churn()
    assert sink.values() == list(range(9))


@both_kinds
def test_failing_exports_leave_nothing_behind(ceed, max_version):
    vector = vector_of(ceed, range(4))
    bad = [{"dl_device": (2, 0)}, {"stream": 5}, {"copy": "?"}, {"max_version": [1]}, {"x": 1}]
    locked = vector_of(ceed, range(4))
    locked.get_array()
    references = sys.getrefcount(vector), sys.getrefcount(locked)

    def fail():
        for request in bad:
            with pytest.raises((BufferError, ValueError, TypeError)):
                vector.__dlpack__(**{"max_version": max_version, **request})
        with pytest.raises(BufferError):
            locked.__dlpack__(max_version=max_version)

    for _ in range(20):
        fail()
    before = resident_memory()
    for _ in range(1000):
        fail()
    assert resident_memory() - before < 2_000_000
    assert (vector.export_count, locked.export_count) == (0, 0)
    assert (sys.getrefcount(vector), sys.getrefcount(locked)) == references
    locked.restore_array()


def resident_memory():
    """Return the resident memory of this process, in bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


# --- What we export: its life ----------------------------------------------------------------


@both_kinds
def test_an_unconsumed_capsule_releases_its_export(v4, max_version):
    capsule = v4.__dlpack__(max_version=max_version)
    assert v4.export_count == 1
    del capsule
    assert v4.export_count == 0


@both_kinds
def test_a_consumed_capsule_leaves_the_export_to_the_consumer(partner, v4, max_version):
    capsule = v4.__dlpack__(max_version=max_version)
    sink = partner.Sink(capsule)
    del capsule
    assert v4.export_count == 1
    sink.release()
    assert v4.export_count == 0


@both_kinds
@pytest.mark.parametrize("how", ["release", "release_without_gil", "release_in_thread"])
def test_the_deleter_may_be_called_from_anywhere(partner, v4, max_version, how):
    sink = partner.Sink(v4.__dlpack__(max_version=max_version))
    getattr(sink, how)()
    sink.join()
    assert v4.export_count == 0


@both_kinds
def test_exported_memory_outlives_the_vector(partner, ceed, max_version):
    vector = vector_of(ceed, range(1000))
    sink = partner.Sink(vector.__dlpack__(max_version=max_version))
    del vector
    churn()
    assert (sink.shape, sink.strides) == ((1000,), (1,))
    assert sink.values() == list(range(1000))


@both_kinds
def test_an_unconsumed_capsule_outlives_the_vector(partner, ceed, max_version):
    capsule = vector_of(ceed, range(100)).__dlpack__(max_version=max_version)
    churn()
    assert partner.Sink(capsule).values() == list(range(100))


@both_kinds
@pytest.mark.parametrize("state", ["unconsumed", "consumed", "renamed"])
def test_dropping_a_capsule_keeps_a_pending_exception(partner, v4, max_version, state):
    held = [v4.__dlpack__(max_version=max_version)]
    sink = partner.Sink(held[0]) if state == "consumed" else None
    if state == "renamed":
        partner.rename(held[0], "a word of somebody else")
    pending = partner.drop_while_raising(held)
    assert isinstance(pending, KeyError)
    assert pending.args == ("pending",)
    del sink


@both_kinds
def test_a_capsule_of_another_name_is_left_alone(partner, v4, max_version):
    capsule = v4.__dlpack__(max_version=max_version)
    partner.rename(capsule, "a word of somebody else")
    del capsule
    assert v4.export_count == 1  # nobody may touch a tensor of a name that nobody knows


@both_kinds
def test_the_name_counts_not_its_address(partner, v4, max_version):
    capsule = v4.__dlpack__(max_version=max_version)
    partner.rename(capsule, NAMES[max_version is not None])
    del capsule
    assert v4.export_count == 0


def test_a_lender_is_released_by_a_thread_without_the_gil(partner, ceed):
    for _ in range(10 * RUNS):
        memory = Memory(4 * np.dtype(ceed.scalar).itemsize)
        alive = weakref.ref(memory)
        vector = ceed.Vector(4)
        view = memoryview(memory).cast("d" if ceed.scalar == "float64" else "f")
        vector.set_array(view, cmode=pyceedlike.USE_POINTER)
        sink = partner.Sink(vector.__dlpack__(max_version=VERSIONED))
        del vector, view, memory
        assert alive() is not None
        sink.release_in_thread(1e-5)
        sum(range(3000))
        sink.join()
        assert eventually(lambda alive=alive: alive() is None)


# --- What we import: layout ------------------------------------------------------------------


@versions
def test_null_strides_are_c_order(partner, scalar, version):
    array = np.arange(6, dtype=scalar)
    fake = partner.Fake(array.ctypes.data, (2, 3), dtype=TRIPLE[scalar], version=version)
    vector = from_dlpack(producer_of(fake), copy=False)
    assert values_of(vector).tolist() == [0, 1, 2, 3, 4, 5]
    assert address_of(vector) == array.ctypes.data


@versions
def test_no_axes_are_one_entry(partner, scalar, version):
    array = np.array([7], dtype=scalar)
    fake = partner.Fake(array.ctypes.data, None, dtype=TRIPLE[scalar], version=version)
    vector = from_dlpack(producer_of(fake))
    assert values_of(vector).tolist() == [7]


@versions
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 2**62, 2**62), (2**62, 2**62, 0)])
@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("null", [True, False])
def test_a_tensor_of_no_entries_is_released_once(partner, scalar, version, shape, copy, null):
    page = 0 if null else partner.forbidden_page()
    fake = partner.Fake(page, shape, dtype=TRIPLE[scalar], version=version)
    vector = from_dlpack(producer_of(fake), copy=copy)
    assert len(vector) == 0
    assert values_of(vector).tolist() == []
    del vector
    assert fake.calls == 1


LAYOUTS = {
    "C order": lambda x: x,
    "transpose": lambda x: x.T,
    "every second column": lambda x: x[:, ::2],
    "every second row": lambda x: x[::2],
    "reversed rows": lambda x: x[::-1],
    "reversed columns": lambda x: x[:, ::-1],
    "Fortran order": np.asfortranarray,
    "one row": lambda x: x[1:2],
    "one column": lambda x: x[:, 1:2],
    "an inner block": lambda x: x[1:, 1:3],
    "a new axis": lambda x: x[:, None, :],
    "broadcast": lambda x: np.broadcast_to(x[0], (5, 4)),
}


@versions
@pytest.mark.parametrize("layout", LAYOUTS)
def test_axes_are_flattened_in_c_order(partner, scalar, version, layout):
    array = LAYOUTS[layout](np.arange(12, dtype=scalar).reshape(3, 4))
    vector = from_dlpack(producer_of(fake_over(partner, array, version)))
    np.testing.assert_array_equal(values_of(vector), array.ravel(order="C"))


@versions
@pytest.mark.parametrize("layout", LAYOUTS)
def test_only_compact_c_order_is_shared(partner, scalar, version, layout):
    array = LAYOUTS[layout](np.arange(12, dtype=scalar).reshape(3, 4))
    fake = fake_over(partner, array, version)
    vector = from_dlpack(producer_of(fake))
    shares = address_of(vector) == array.ctypes.data
    assert shares is bool(array.flags.c_contiguous)
    assert vector.exchange.shared is shares


@versions
@pytest.mark.parametrize(
    "layout", [k for k, f in LAYOUTS.items() if not f(np.zeros((3, 4))).flags.c_contiguous]
)
def test_a_refused_layout_is_told_with_its_remedy(partner, scalar, version, layout):
    array = LAYOUTS[layout](np.arange(12, dtype=scalar).reshape(3, 4))
    fake = fake_over(partner, array, version)
    with pytest.raises(pyceedlike.CeedCopyError) as error:
        from_dlpack(producer_of(fake), copy=False)
    text = str(error.value)
    assert str(tuple(array.shape)) in text
    assert str(tuple(s // array.itemsize for s in array.strides)) in text
    assert "copy=True" in text
    del error
    assert fake.calls == 1


def test_backward_memory_that_ends_in_the_vectors_own_is_copied_as_it_was(scalar):
    memory = np.arange(12, dtype=scalar)
    vector = from_dlpack(memory[:8])
    vector.take_from_dlpack(memory[4:12][::-1])
    assert values_of(vector).tolist() == [11, 10, 9, 8, 7, 6, 5, 4]


@versions
@pytest.mark.parametrize("piece", [np.s_[::-1], np.s_[7:2:-2], np.s_[::-3], np.s_[9:9:-1]])
def test_negative_strides(partner, scalar, version, piece):
    array = np.arange(10, dtype=scalar)[piece]
    vector = from_dlpack(producer_of(fake_over(partner, array, version)))
    np.testing.assert_array_equal(values_of(vector), array)


@versions
@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1,), (1, 1, 5)])
@pytest.mark.parametrize("stride", [0, 1, -7, 2**40])
def test_the_stride_of_an_axis_of_one_does_not_matter(partner, scalar, version, shape, stride):
    array = np.arange(np.prod(shape), dtype=scalar)
    strides = [stride if n == 1 else 1 for n in shape]
    fake = partner.Fake(
        array.ctypes.data, shape, strides=strides, dtype=TRIPLE[scalar], version=version
    )
    vector = from_dlpack(producer_of(fake), copy=False)
    assert address_of(vector) == array.ctypes.data
    np.testing.assert_array_equal(values_of(vector), array)


@versions
def test_byte_offset_counts(partner, scalar, version):
    array = np.arange(10, dtype=scalar)
    offset = 2 * array.itemsize
    fake = partner.Fake(
        array.ctypes.data, (4,), byte_offset=offset, dtype=TRIPLE[scalar], version=version
    )
    vector = Vector.from_dlpack(producer_of(fake), writable=True)
    assert values_of(vector).tolist() == [2, 3, 4, 5]
    vector.set_value_strided(0, 1, 1, 100)
    assert array[2] == 100
    assert np.from_dlpack(vector).tolist() == [100, 3, 4, 5]
    assert np.from_dlpack(vector).ctypes.data == array.ctypes.data + offset


@versions
@pytest.mark.parametrize("offset", [1, 2, 3, 7])
def test_misaligned_entries_are_copied(partner, scalar, version, offset):
    memory = np.zeros(100, dtype=np.uint8)
    memory[offset : offset + 5 * np.dtype(scalar).itemsize] = np.frombuffer(
        np.arange(5, dtype=scalar).tobytes(), np.uint8
    )
    fake = partner.Fake(
        memory.ctypes.data, (5,), byte_offset=offset, dtype=TRIPLE[scalar], version=version
    )
    vector = from_dlpack(producer_of(fake))
    assert values_of(vector).tolist() == [0, 1, 2, 3, 4]
    assert vector.exchange.shared is False


@versions
def test_misaligned_entries_without_a_copy_are_refused(partner, scalar, version):
    memory = np.zeros(100, dtype=np.uint8)
    fake = partner.Fake(memory.ctypes.data + 2, (5,), dtype=TRIPLE[scalar], version=version)
    with pytest.raises(pyceedlike.CeedCopyError, match="align"):
        from_dlpack(producer_of(fake), copy=False)
    assert fake.calls == 1


# --- What we import: malformed tensors -------------------------------------------------------

MALFORMED = {
    "negative ndim": {"shape": None, "ndim": -1},
    "too many axes": {"shape": (1,) * 65},
    "no shape": {"shape": None, "ndim": 2},
    "a negative length": {"shape": (-4,)},
    "two negative lengths": {"shape": (-2, -2)},
    "a product that overflows": {"shape": (2**32, 2**32)},
    "a product of bytes that overflows": {"shape": (2**61,)},
    "a product that wraps to a small number": {"shape": (2**62, 4, 3)},
    "a length near the end": {"shape": (2**63 - 1,)},
    "no data": {"shape": (4,), "data": 0},
    "strides beyond the address space": {"shape": (2, 2), "strides": (2**62, 1)},
    "strides that wrap": {"shape": (4, 4), "strides": (2**61, 2**61)},
    "the smallest stride there is": {"shape": (4, 4), "strides": (-(2**63), 1)},
    "an offset that wraps": {"shape": (4,), "byte_offset": 2**64 - 8},
}


@versions
@pytest.mark.parametrize("fault", MALFORMED)
@pytest.mark.parametrize("copy", [None, True, False])
def test_a_malformed_tensor_is_refused_and_released_once(partner, scalar, version, fault, copy):
    fields = dict(MALFORMED[fault])
    data, shape = fields.pop("data", partner.forbidden_page()), fields.pop("shape")
    fake = partner.Fake(data, shape, dtype=TRIPLE[scalar], version=version, **fields)
    with pytest.raises(BufferError) as error:
        from_dlpack(producer_of(fake), copy=copy)
    assert isinstance(error.value, pyceedlike.CeedError)
    assert str(error.value)
    del error
    assert fake.calls == 1
    assert fake.intact


@versions
@pytest.mark.parametrize("fault", MALFORMED)
def test_taking_a_malformed_tensor_changes_nothing(partner, v4, scalar, version, fault):
    fields = dict(MALFORMED[fault])
    data, shape = fields.pop("data", partner.forbidden_page()), fields.pop("shape")
    fake = partner.Fake(data, shape, dtype=TRIPLE[scalar], version=version, **fields)
    with pytest.raises((BufferError, pyceedlike.CeedDimensionError)):
        v4.take_from_dlpack(producer_of(fake))
    assert values_of(v4).tolist() == [0, 1, 2, 3]
    assert fake.calls == 1


@pytest.mark.parametrize("major", [0, 2, 3, 2**32 - 1])
def test_another_major_version_is_refused_unread(partner, major):
    page = partner.forbidden_page()
    fake = partner.Fake(page, None, version=(major, 0), ndim=3, shape_pointer=page)
    with pytest.raises(BufferError, match=str(major)):
        from_dlpack(producer_of(fake))
    assert fake.calls == 1


@pytest.mark.parametrize("minor", [0, 1, 4, 99])
def test_any_minor_version_is_taken(partner, scalar, minor):
    array = np.arange(3, dtype=scalar)
    vector = from_dlpack(producer_of(fake_over(partner, array, (1, minor))))
    assert address_of(vector) == array.ctypes.data


@pytest.mark.parametrize("flags", [PADDED, 8, 2**63, 2**64 - 1 - READ_ONLY - IS_COPIED])
def test_unknown_flags_are_ignored(partner, scalar, flags):
    array = np.arange(3, dtype=scalar)
    vector = from_dlpack(producer_of(fake_over(partner, array, (1, 3), flags=flags)))
    vector.set_value(5)
    assert array.tolist() == [5, 5, 5]


@versions
def test_a_tensor_without_a_deleter(partner, scalar, version):
    array = np.arange(3, dtype=scalar)
    for copy in (None, True, False):
        fake = fake_over(partner, array, version, deleter=False)
        vector = from_dlpack(producer_of(fake), copy=copy)
        assert values_of(vector).tolist() == [0, 1, 2]


@versions
def test_the_producers_fields_are_not_touched(partner, scalar, version):
    array = np.arange(12, dtype=scalar).reshape(3, 4)
    for x, copy in itertools.product([array, array.T, array[:1]], [None, True]):
        fake = fake_over(partner, x, version)
        vector = from_dlpack(producer_of(fake), copy=copy)
        assert fake.intact
        del vector
        assert fake.intact


# --- What we import: types -------------------------------------------------------------------

UNSUPPORTED = {
    (6, 8, 1): "bool",
    (6, 1, 1): "bool",
    (0, 8, 1): "int8",
    (0, 32, 1): "int32",
    (0, 64, 1): "int64",
    (1, 1, 1): "",
    (1, 64, 1): "uint64",
    (2, 16, 1): "float16",
    (2, 128, 1): "float128",
    (2, 0, 1): "",
    (3, 64, 1): "",
    (4, 16, 1): "bfloat16",
    (5, 64, 1): "complex64",
    (5, 128, 1): "complex128",
    (99, 8, 1): "",
    (0, 4, 1): "int4",
    (10, 8, 1): "float8",
    (17, 4, 1): "float4",
    (17, 4, 2): "float4",
    (2, 64, 0): "",
    (2, 64, 2): "",
    (2, 32, 2): "",
    (2, 64, 65535): "",
}


@versions
@pytest.mark.parametrize("triple", UNSUPPORTED, ids=str)
def test_a_type_we_do_not_have_is_named(partner, version, triple):
    fake = partner.Fake(partner.forbidden_page(), (4,), dtype=triple, version=version)
    with pytest.raises(pyceedlike.CeedIncompatibleError) as error:
        from_dlpack(producer_of(fake))
    text = str(error.value)
    assert str(triple) in text
    assert UNSUPPORTED[triple] in text.lower()
    del error
    assert fake.calls == 1


@versions
@pytest.mark.parametrize("triple", UNSUPPORTED, ids=str)
def test_taking_a_type_we_do_not_have_is_refused(partner, v4, version, triple):
    fake = partner.Fake(partner.forbidden_page(), (4,), dtype=triple, version=version)
    with pytest.raises(pyceedlike.CeedIncompatibleError) as error:
        v4.take_from_dlpack(producer_of(fake))
    assert str(triple) in str(error.value)
    assert values_of(v4).tolist() == [0, 1, 2, 3]
    del error
    assert fake.calls == 1


@versions
def test_the_other_precision_is_never_converted(partner, v4, scalar, version):
    array = np.arange(4, dtype=OTHER[scalar])
    fake = fake_over(partner, array, version)
    with pytest.raises(pyceedlike.CeedIncompatibleError) as error:
        v4.take_from_dlpack(producer_of(fake))
    text = str(error.value)
    assert f"tensor holds {OTHER[scalar]}" in text
    assert f"this vector holds {scalar}" in text
    assert str(TRIPLE[OTHER[scalar]]) in text
    del error
    assert fake.calls == 1


@versions
def test_a_context_of_the_other_precision_refuses(partner, ceed, scalar, version):
    array = np.arange(4, dtype=OTHER[scalar])
    fake = fake_over(partner, array, version)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=OTHER[scalar]):
        Vector.from_dlpack(producer_of(fake), ceed=ceed)
    assert fake.calls == 1


@versions
def test_the_precision_is_the_tensors_own(partner, scalar, version):
    array = np.arange(4, dtype=scalar)
    assert from_dlpack(producer_of(fake_over(partner, array, version))).scalar == scalar


@pytest.mark.parametrize("max_version", [None, VERSIONED])
def test_what_we_export_we_import(ceed, scalar, max_version):
    vector = vector_of(ceed, range(5))
    again = from_dlpack(Producer(lambda: vector.__dlpack__(max_version=max_version)))
    assert again.scalar == scalar
    assert address_of(again) == address_of(vector)


# --- What we import: devices -----------------------------------------------------------------

FOREIGN_DEVICES = {
    2: "kDLCUDA",
    4: "kDLOpenCL",
    7: "kDLVulkan",
    8: "kDLMetal",
    9: "kDLVPI",
    10: "kDLROCM",
    12: "kDLExtDev",
    14: "kDLOneAPI",
    15: "kDLWebGPU",
    16: "kDLHexagon",
    17: "kDLMAIA",
    18: "kDLTrn",
    0: "0",
    5: "5",
    99: "99",
    -1: "-1",
}


@versions
@pytest.mark.parametrize("device", FOREIGN_DEVICES)
@pytest.mark.parametrize("copy", [None, True, False])
def test_memory_of_another_device_is_refused_unread(partner, scalar, version, device, copy):
    fake = partner.Fake(
        partner.forbidden_page(),
        (4,),
        dtype=TRIPLE[scalar],
        version=version,
        device=(device, 0),
    )
    with pytest.raises(BufferError, match=FOREIGN_DEVICES[device]):
        from_dlpack(producer_of(fake, (device, 0)), copy=copy)
    assert fake.calls == 1


@versions
@pytest.mark.parametrize("device", [(1, 0), (1, 3), (3, 0), (11, 0), (13, 0), (13, 2)])
def test_memory_that_the_host_can_address_is_shared(partner, scalar, version, device):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, version, device=device)
    vector = from_dlpack(producer_of(fake, device), copy=False)
    assert address_of(vector) == array.ctypes.data


@pytest.mark.parametrize("device_type", [3, 11, 13])
def test_pinned_and_managed_memory_keeps_its_label(partner, scalar, device_type):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3), device=(device_type, 0))
    vector = from_dlpack(producer_of(fake, (device_type, 0)))
    device = vector.__dlpack_device__()
    assert (type(device), device) == (tuple, (device_type, 0))
    assert partner.Sink(vector.__dlpack__(max_version=VERSIONED)).device == device


@pytest.mark.parametrize("device_type", [3, 11, 13])
@pytest.mark.parametrize("request_", [{"copy": True}, {"dl_device": (1, 0)}], ids=str)
def test_pinned_and_managed_memory_as_host_memory(partner, scalar, device_type, request_):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3), device=(device_type, 0))
    vector = from_dlpack(producer_of(fake, (device_type, 0)))
    sink = partner.Sink(vector.__dlpack__(max_version=VERSIONED, **request_))
    assert sink.device == (1, 0)
    assert sink.values() == [0, 1, 2, 3]


def test_from_dlpack_refuses_to_move_to_another_device(scalar):
    with pytest.raises((BufferError, ValueError)):
        from_dlpack(np.arange(3, dtype=scalar), device=(2, 0))


# --- What we import: the capsule and its owner -----------------------------------------------


@versions
def test_a_consumed_capsule_gets_the_used_name(partner, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    capsule = fake.capsule()
    vector = from_dlpack(OneCapsule(capsule))
    assert partner.name(capsule) == "used_" + NAMES[version is not None]
    del capsule
    assert fake.calls == 0
    del vector
    assert fake.calls == 1


@versions
def test_the_deleter_runs_when_the_vector_lets_go(partner, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    vector = from_dlpack(producer_of(fake))
    gc.collect()
    assert fake.calls == 0
    del vector
    assert fake.calls == 1


@versions
def test_the_deleter_waits_for_the_last_view(partner, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    view = np.from_dlpack(from_dlpack(producer_of(fake)))
    assert fake.calls == 0
    assert view.tolist() == [0, 1, 2, 3]
    del view
    assert fake.calls == 1


@versions
def test_a_copy_calls_the_deleter_before_it_returns(partner, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    vector = from_dlpack(producer_of(fake), copy=True)
    assert fake.calls == 1
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    del vector
    assert fake.calls == 1


@versions
@pytest.mark.parametrize(
    "cmode", [pyceedlike.COPY_VALUES, pyceedlike.USE_POINTER, pyceedlike.OWN_POINTER]
)
def test_take_from_dlpack_takes_in_every_mode(partner, ceed, scalar, version, cmode):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, version)
    vector = ceed.Vector(4)
    vector.take_from_dlpack(producer_of(fake), cmode)
    copied = cmode == pyceedlike.COPY_VALUES
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    assert fake.calls == copied
    assert (address_of(vector) != array.ctypes.data) is copied
    del vector
    assert fake.calls == 1


@versions
def test_another_length_is_a_dimension_error_with_both(partner, ceed, scalar, version):
    fake = fake_over(partner, np.arange(5, dtype=scalar), version)
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"(?s)(5\b.*\b7000|7000\b.*\b5)"):
        ceed.Vector(7000).take_from_dlpack(producer_of(fake))
    assert fake.calls == 1


@versions
def test_a_capsule_is_consumed_once(partner, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    producer = OneCapsule(fake.capsule())
    vector = from_dlpack(producer)
    with pytest.raises((ValueError, BufferError)):
        from_dlpack(producer)
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    del vector, producer
    assert fake.calls == 1


@versions
def test_a_refused_capsule_can_still_be_consumed_by_another(partner, ceed, scalar, version):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    capsule = fake.capsule()
    with pytest.raises(pyceedlike.CeedDimensionError):
        ceed.Vector(5).take_from_dlpack(OneCapsule(capsule))
    assert partner.name(capsule) == NAMES[version is not None]
    vector = ceed.Vector(4)
    vector.take_from_dlpack(OneCapsule(capsule))
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@versions
def test_the_producer_is_not_kept_alive(partner, scalar, version):
    producer = producer_of(fake_over(partner, np.arange(4, dtype=scalar), version))
    gone = weakref.ref(producer)
    vector = from_dlpack(producer)
    del producer
    gc.collect()
    assert gone() is None
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_a_temporary_that_only_the_tensor_owns(scalar):
    class Temporary:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **request):
            return np.arange(1000, dtype=scalar).__dlpack__(**request)

    vector = from_dlpack(Temporary())
    churn()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))


@pytest.mark.parametrize("name", ["used_dltensor", "tensor", "dltensor_version", ""])
@versions
def test_a_capsule_of_another_name_is_refused_untouched(partner, scalar, version, name):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)
    with pytest.raises((ValueError, BufferError)):
        from_dlpack(Producer(lambda: fake.capsule(name)))
    assert fake.calls == 0


@pytest.mark.parametrize("result", [None, 3, "dltensor", (1, 2)])
def test_a_producer_that_gives_no_capsule(result):
    with pytest.raises((TypeError, ValueError, BufferError)):
        from_dlpack(Producer(lambda: result))


@pytest.mark.parametrize("error", [KeyError, BufferError, RuntimeError, KeyboardInterrupt])
def test_the_producers_exception_reaches_the_caller(error):
    def fail():
        raise error("mine")

    with pytest.raises(error, match="mine"):
        from_dlpack(Producer(fail))


def test_a_thing_that_is_no_array():
    with pytest.raises((TypeError, AttributeError, pyceedlike.CeedError)):
        from_dlpack(object())


def test_the_versioned_kind_is_asked_for_first(partner, scalar):
    producer = producer_of(fake_over(partner, np.arange(4, dtype=scalar), (1, 3)))
    from_dlpack(producer)
    assert producer.requests[0]["max_version"][0] == 1


def test_an_old_producer_is_asked_again(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, None)
    vector = from_dlpack(OldProducer(fake.capsule))
    assert address_of(vector) == array.ctypes.data


def test_an_old_producer_cannot_drop_a_wish_for_a_copy(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, None)
    vector = from_dlpack(OldProducer(fake.capsule), copy=True)
    array[:] = 9
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    assert fake.calls == 1


@versions
def test_a_producer_that_ignores_the_wish_for_a_copy(partner, scalar, version):
    array = np.arange(4, dtype=scalar)
    vector = from_dlpack(producer_of(fake_over(partner, array, version)), copy=True)
    array[:] = 9
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_a_producers_own_copy_is_not_copied_again(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3), flags=IS_COPIED)
    vector = from_dlpack(producer_of(fake), copy=True)
    assert address_of(vector) == array.ctypes.data


def test_a_copy_that_the_producer_froze_is_copied_again(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3), flags=IS_COPIED | READ_ONLY)
    vector = from_dlpack(producer_of(fake), copy=True)
    vector.set_value(3)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_legacy_tensor_says_how_to_write_to_it(partner, scalar):
    array = np.arange(4, dtype=scalar)
    reason = from_dlpack(producer_of(fake_over(partner, array, None))).exchange.reason
    assert "from_dlpack(x, writable=True) of Vector or Fab" in reason


@pytest.mark.parametrize("copy", [1, 0, "yes"])
def test_a_copy_that_is_no_bool_is_refused(scalar, copy):
    with pytest.raises((TypeError, ValueError), match="copy"):
        from_dlpack(np.arange(3, dtype=scalar), copy=copy)


def test_from_dlpack_takes_one_positional_argument(scalar):
    with pytest.raises(TypeError):
        from_dlpack(x=np.arange(3, dtype=scalar))
    with pytest.raises(TypeError):
        from_dlpack(np.arange(3, dtype=scalar), None)


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="since Python 3.12 no collection begins inside a call"
)
@pytest.mark.parametrize("copy", [None, True])
@versions
def test_a_capsule_that_a_collection_consumes_on_the_way(partner, scalar, version, copy):
    fake = fake_over(partner, np.arange(4, dtype=scalar), version)

    class Thief:
        def __init__(self, capsule):
            self.me, self.capsule = self, capsule

        def __del__(self):
            with contextlib.suppress(ValueError):
                partner.Sink(self.capsule).release()

    def make():
        capsule = fake.capsule()
        Thief(capsule)  # garbage at once, and plenty of it
        for _ in range(1000):
            cycle = []
            cycle.append(cycle)
        gc.enable()
        return capsule

    gc.disable()
    try:
        vector = from_dlpack(Producer(make), copy=copy)
    except (ValueError, BufferError):
        vector = None
    finally:
        gc.enable()
    gc.collect()
    del vector
    assert fake.calls == 1


def test_a_failed_import_keeps_no_reference(partner, scalar):
    producer = producer_of(fake_over(partner, np.arange(4, dtype=scalar), (2, 0)))
    references = sys.getrefcount(producer)
    for _ in range(100):
        with pytest.raises(BufferError):
            from_dlpack(producer)
    assert sys.getrefcount(producer) == references


# --- Read-only -------------------------------------------------------------------------------


def writes():
    """Return every way to write to a vector, by name."""
    return {
        "set_value": lambda v: v.set_value(9),
        "set_value_strided": lambda v: v.set_value_strided(0, 1, 1, 9),
        "set_array": lambda v: v.set_array(np.full(len(v), 9, dtype=v.scalar)),
        "scale": lambda v: v.scale(9),
        "filter": lambda v: v.filter(9),
        "reciprocal": lambda v: v.reciprocal(),
        "axpy": lambda v: v.axpy(9, vector_of(v.ceed, np.ones(len(v)))),
        "axpby": lambda v: v.axpby(9, 9, vector_of(v.ceed, np.ones(len(v)))),
        "pointwise_mult": lambda v: v.pointwise_mult(*[vector_of(v.ceed, [9] * len(v))] * 2),
        "copy_from": lambda v: v.copy_from(vector_of(v.ceed, np.ones(len(v)))),
        "copy_strided": lambda v: v.copy_strided(0, 1, 1, vector_of(v.ceed, np.ones(len(v)))),
        "get_array": lambda v: v.get_array(),
        "get_array_write": lambda v: v.get_array_write(),
        "take_from_dlpack": lambda v: v.take_from_dlpack(np.full(len(v), 9, dtype=v.scalar)),
    }


def read_only_vector(partner, scalar, version):
    """Return an array and a vector over it that may not write."""
    array = np.arange(1, 5, dtype=scalar)
    fake = fake_over(partner, array, version, flags=READ_ONLY if version else 0)
    return array, from_dlpack(producer_of(fake), copy=False)


@pytest.mark.parametrize("way", writes())
@versions
def test_read_only_memory_is_never_written(partner, scalar, version, way):
    array, vector = read_only_vector(partner, scalar, version)
    with pytest.raises(pyceedlike.CeedAccessError, match="read-only"):
        writes()[way](vector)
    assert array.tolist() == [1, 2, 3, 4]
    assert vector.norm(pyceedlike.NORM_1) == 10


@versions
def test_read_only_memory_stays_so_for_every_reader(partner, scalar, version):
    array, vector = read_only_vector(partner, scalar, version)
    assert partner.Sink(vector.__dlpack__(max_version=VERSIONED)).flags == READ_ONLY
    assert np.from_dlpack(vector).flags.writeable is False
    assert memoryview(vector).readonly
    assert vector.__array_interface__["data"] == (array.ctypes.data, True)
    assert vector.to_numpy().flags.writeable is False


@versions
def test_read_only_memory_is_copied_for_a_legacy_consumer(partner, scalar, version):
    array, vector = read_only_vector(partner, scalar, version)
    sink = partner.Sink(vector.__dlpack__())
    assert sink.version is None
    sink.write(0, 99)
    assert array.tolist() == [1, 2, 3, 4]
    assert sink.values() == [99, 2, 3, 4]


@versions
def test_a_legacy_consumer_that_wants_no_copy_of_read_only_memory(partner, scalar, version):
    _, vector = read_only_vector(partner, scalar, version)
    with pytest.raises(BufferError, match="read-only"):
        vector.__dlpack__(copy=False)
    assert vector.export_count == 0


@versions
def test_read_only_memory_is_not_exported_for_writing(partner, scalar, version):
    _, vector = read_only_vector(partner, scalar, version)
    with pytest.raises(BufferError):
        vector.to_dlpack(mode="write", max_version=VERSIONED)


@versions
def test_a_copy_of_read_only_memory_may_be_written(partner, scalar, version):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, version, flags=READ_ONLY if version else 0)
    vector = from_dlpack(producer_of(fake), copy=True)
    vector.set_value(3)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_legacy_tensor_is_writable_when_asked_for(partner, scalar):
    array = np.arange(4, dtype=scalar)
    vector = Vector.from_dlpack(producer_of(fake_over(partner, array, None)), writable=True)
    vector.scale(2)
    assert array.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("version", [(1, 0), (1, 3)])
def test_a_versioned_tensor_is_writable_as_it_says(partner, scalar, version):
    array = np.arange(4, dtype=scalar)
    from_dlpack(producer_of(fake_over(partner, array, version))).scale(2)
    assert array.tolist() == [0, 2, 4, 6]


def test_a_read_only_tensor_does_not_become_writable(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3), flags=READ_ONLY)
    with contextlib.suppress(BufferError):
        Vector.from_dlpack(producer_of(fake), writable=True).set_value(9)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_writable_tensor_may_be_taken_as_read_only(partner, scalar):
    array = np.arange(4, dtype=scalar)
    vector = Vector.from_dlpack(producer_of(fake_over(partner, array, (1, 3))), writable=False)
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.set_value(9)
    assert array.tolist() == [0, 1, 2, 3]


def test_take_from_dlpack_of_a_legacy_tensor_is_read_only(partner, ceed, scalar):
    array = np.arange(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.take_from_dlpack(
        producer_of(fake_over(partner, array, None)), cmode=pyceedlike.USE_POINTER
    )
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.set_value(9)
    assert array.tolist() == [0, 1, 2, 3]


@versions
def test_the_memory_of_a_broadcast_is_not_written(partner, scalar, version):
    array = np.arange(3, dtype=scalar)
    fake = partner.Fake(
        array.ctypes.data, (4, 3), strides=(0, 1), dtype=TRIPLE[scalar], version=version
    )
    vector = Vector.from_dlpack(producer_of(fake))
    assert values_of(vector).tolist() == [0, 1, 2] * 4
    vector.set_value(9)
    assert array.tolist() == [0, 1, 2]


# --- What exchange says ----------------------------------------------------------------------


def test_exchange_is_a_named_tuple_of_the_last_import(scalar):
    vector = from_dlpack(np.arange(6, dtype=scalar)[::2])
    shared, reason = vector.exchange
    assert (shared, reason) == (vector.exchange.shared, vector.exchange.reason)
    assert isinstance(vector.exchange, pyceedlike.Exchange)
    assert (shared, "stride" in reason or "contiguous" in reason) == (False, True)


def test_exchange_says_whether_it_was_the_layout_or_the_alignment(scalar):
    size = np.dtype(scalar).itemsize
    unaligned = np.frombuffer(bytearray(2 * size), scalar, 1, size // 2)
    for array, fault in (
        (np.zeros((2, 2), scalar).T, "is not C-contiguous"),
        (unaligned, f"is not aligned to {size} bytes"),
    ):
        assert from_dlpack(array).exchange.reason.endswith(fault)


def test_exchange_of_a_shared_import(scalar):
    vector = from_dlpack(np.arange(6, dtype=scalar))
    assert vector.exchange.shared is True
    assert isinstance(vector.exchange.reason, str)


def test_exchange_of_a_copy_that_was_asked_for(scalar):
    exchange = from_dlpack(np.arange(6, dtype=scalar), copy=True).exchange
    assert exchange.shared is False
    assert "copy" in exchange.reason


def test_exchange_of_the_last_export(v4):
    sink = v4.__dlpack__(max_version=VERSIONED)
    assert v4.exchange.shared is True
    copied = v4.__dlpack__(max_version=VERSIONED, copy=True)
    assert v4.exchange.shared is False
    del sink, copied


# --- The exchange API of C -------------------------------------------------------------------


def test_exchange_api_is_a_capsule_on_the_type(partner):
    assert type(Vector.__dlpack_c_exchange_api__).__name__ == "PyCapsule"
    assert partner.name(Vector.__dlpack_c_exchange_api__) == "dlpack_exchange_api"
    assert Vector.__dlpack_c_exchange_api__ is Vector.__dlpack_c_exchange_api__


def test_exchange_api_is_version_1_3_and_complete(partner):
    version, has_previous, functions = partner.exchange_header(Vector)
    assert (version, has_previous, functions) == ((1, 3), False, (True,) * 5)


def test_exchange_api_gives_the_tensor(partner, v4, scalar):
    sink = partner.exchange_from(Vector, v4)
    assert (sink.version, sink.flags, sink.shape, sink.strides) == ((1, 3), 0, (4,), (1,))
    assert (sink.dtype, sink.device, sink.data) == (TRIPLE[scalar], (1, 0), address_of(v4))
    assert v4.export_count == 1
    sink.release()
    assert v4.export_count == 0


def test_exchange_api_obeys_the_rules_of_access(partner, v4):
    v4.get_array()
    with pytest.raises(BufferError):
        partner.exchange_from(Vector, v4)
    v4.restore_array()


def test_exchange_api_says_read_only(partner, scalar):
    _, vector = read_only_vector(partner, scalar, (1, 3))
    assert partner.exchange_from(Vector, vector).flags == READ_ONLY


def test_exchange_api_serves_subclasses(partner, ceed):
    class Mine(Vector):
        pass

    original = vector_of(ceed, range(3))
    vector = Mine.from_handle(original.handle)
    assert type(vector) is Mine
    assert partner.exchange_from(Mine, vector).values() == [0, 1, 2]


@pytest.mark.parametrize("thing", [None, 3, np.arange(3.0), object()], ids=str)
def test_exchange_api_refuses_other_objects(partner, thing):
    with pytest.raises(TypeError):
        partner.exchange_from(Vector, thing)
    with pytest.raises(TypeError):
        partner.exchange_borrow(Vector, thing)


def test_exchange_api_makes_a_vector(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = fake_over(partner, array, (1, 3))
    vector = partner.exchange_to(Vector, fake)
    assert (type(vector), vector.scalar) == (Vector, scalar)
    assert address_of(vector) == array.ctypes.data
    vector.set_value(5)
    assert array.tolist() == [5, 5, 5, 5]
    assert fake.calls == 0
    del vector
    assert fake.calls == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"version": (2, 0)},
        {"version": (0, 9)},
        {"dtype": (0, 64, 1)},
        {"device": (2, 0)},
        {"ndim": -1},
        {"ndim": 4, "shape_pointer": 0},
    ],
    ids=str,
)
def test_exchange_api_leaves_a_refused_tensor_to_the_caller(partner, fault):
    fields = {"version": (1, 3), **fault}
    fake = partner.Fake(partner.forbidden_page(), (4,), **fields)
    with pytest.raises(BufferError):
        partner.exchange_to(Vector, fake)
    assert fake.calls == 0
    assert fake.intact


def test_exchange_api_lends_the_tensor(partner, v4, scalar):
    tensor = partner.exchange_borrow(Vector, v4)
    assert (tensor["shape"], tensor["strides"]) == ((4,), (1,))
    assert (tensor["dtype"], tensor["device"]) == (TRIPLE[scalar], (1, 0))
    assert tensor["address"] == address_of(v4)
    assert v4.export_count == 0


def test_exchange_api_does_not_lend_read_only_memory(partner, scalar):
    _, vector = read_only_vector(partner, scalar, (1, 3))
    with pytest.raises(BufferError):
        partner.exchange_borrow(Vector, vector)
    assert vector.export_count == 0


def test_exchange_api_does_not_lend_leased_memory(partner, v4):
    lease = partner.Sink(v4.to_dlpack(mode="read", max_version=VERSIONED))
    with pytest.raises(BufferError):
        partner.exchange_borrow(Vector, v4)
    lease.release()
    assert v4.export_count == 0


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (4, 0, 2), (1, 1, 7)])
@pytest.mark.parametrize("dtype", [(2, 64, 1), (2, 32, 1), (0, 8, 1), (5, 128, 1)])
def test_exchange_api_allocates(partner, shape, dtype):
    sink = partner.exchange_allocate(Vector, shape, dtype, (1, 0))
    compact = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    assert (sink.version, sink.dtype, sink.device, sink.ndim) == ((1, 3), dtype, (1, 0), len(shape))
    assert (sink.shape or (), sink.byte_offset) == (shape, 0)
    if 0 not in shape:
        assert (sink.strides or ()) == compact
        assert sink.data % 256 == 0


@pytest.mark.parametrize("scalar", SCALARS)
def test_exchange_api_allocates_memory_that_can_be_written(partner, scalar):
    sink = partner.exchange_allocate(Vector, (1000,), TRIPLE[scalar], (1, 0))
    for i in range(1000):
        sink.write(i, i)
    assert sink.values() == list(range(1000))


@pytest.mark.parametrize(
    ("shape", "device"),
    [((2**60,), (1, 0)), ((2**40, 2**40), (1, 0)), ((-3,), (1, 0)), ((4,), (2, 0))],
)
def test_exchange_api_reports_what_it_cannot_allocate(partner, shape, device):
    with pytest.raises(RuntimeError) as error:
        partner.exchange_allocate(Vector, shape, (2, 64, 1), device)
    calls, kind, message = error.value.args
    assert calls == 1
    assert kind.isidentifier()
    assert message


@pytest.mark.parametrize("device", [(1, 0), (2, 0), (99, 1)])
def test_exchange_api_has_no_streams(partner, device):
    assert partner.exchange_stream(Vector, *device) == 0


# --- describe --------------------------------------------------------------------------------


def test_describe_says_what_a_tensor_is(scalar):
    text = pyceedlike.describe(np.zeros((2, 3), dtype=scalar))
    assert isinstance(text, str)
    for word in (scalar, "kDLCPU", "2", "3", "deleter"):
        assert word in text


@versions
@pytest.mark.parametrize("fault", MALFORMED)
def test_describe_names_malformed_fields_and_follows_none(partner, version, fault):
    fields = dict(MALFORMED[fault])
    data, shape = fields.pop("data", partner.forbidden_page()), fields.pop("shape")
    fake = partner.Fake(data, shape, version=version, **fields)
    assert "kDLCPU" in pyceedlike.describe(producer_of(fake))
    assert fake.calls == 1


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"dtype": (4, 16, 1)}, "bfloat16"),
        ({"dtype": (0, 32, 1)}, "int32"),
        ({"device": (14, 0)}, "kDLOneAPI"),
        ({"flags": READ_ONLY}, "read-only"),
        ({"flags": IS_COPIED}, "copied"),
        ({"byte_offset": 24}, "24"),
        ({"version": (2, 7)}, "2.7"),
    ],
    ids=str,
)
def test_describe_tells_what_is_special(partner, fields, word):
    fake = partner.Fake(partner.forbidden_page(), (4,), **{"version": (1, 3), **fields})
    assert word.lower() in pyceedlike.describe(producer_of(fake)).lower()


def test_describe_gives_a_vector_back_as_it_was(v4, scalar):
    assert scalar in pyceedlike.describe(v4)
    assert v4.export_count == 0


def test_describe_of_a_thing_that_is_no_array():
    with pytest.raises((TypeError, AttributeError)):
        pyceedlike.describe(object())
