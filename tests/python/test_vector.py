# SPDX-License-Identifier: BSD-2-Clause
"""Every method of a vector, against NumPy."""

import array
import copy
import gc
import io
import itertools
import math
import pickle
import struct
import sys
import warnings
import weakref

import numpy as np
import pytest
from helpers import (
    OTHER,
    Interface,
    Memory,
    address_of,
    churn,
    eventually,
    values_of,
    vector_of,
)

import pyceedlike
from pyceedlike import (
    COPY_VALUES,
    MEM_DEVICE,
    MEM_HOST,
    NORM_1,
    NORM_2,
    NORM_MAX,
    OWN_POINTER,
    USE_POINTER,
    CeedAccessError,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedIncompleteError,
    Vector,
    from_dlpack,
)

LENGTHS = [0, 1, 2, 7, 63, 64, 65, 1001, 100_003]
lengths = pytest.mark.parametrize("n", LENGTHS)


def ulps(scalar, count):
    """Return a relative tolerance of a number of units in the last place."""
    return count * float(np.finfo(scalar).eps)


@pytest.fixture
def numbers(random, scalar):
    """Give arrays of random numbers of the precision."""
    return lambda n: random.standard_normal(n).astype(scalar)


# --- Making ----------------------------------------------------------------------------------


def test_vector_itself_cannot_be_called():
    with pytest.raises(TypeError, match=r"Ceed|ceed\.Vector|from_dlpack"):
        Vector(3)


def test_vector_cannot_be_made_from_an_address():
    with pytest.raises(TypeError):
        Vector(0x1000, 0)


def test_get_length_is_len(ceed):
    vector = ceed.Vector(17)
    assert vector.get_length() == len(vector) == 17


def test_a_new_vector_has_no_values(ceed):
    vector = ceed.Vector(3)
    reads = [vector.norm, vector.view, vector.get_array, vector.get_array_read]
    for read in (*reads, lambda: vector.scale(2), lambda: vector.set_value_strided(0, 1, 1, 1)):
        with pytest.raises(CeedIncompleteError):
            read()


def test_a_new_vector_begins_with_any_of_its_writers(ceed, scalar):
    ones = np.ones(3, dtype=scalar)

    def written(vector):
        with vector.array_write() as values:
            values[:] = 1

    beginnings = [
        lambda v: v.set_value(1),
        lambda v: v.set_array(ones),
        lambda v: v.set_array(ones, cmode=USE_POINTER),
        lambda v: v.copy_from(vector_of(ceed, ones)),
        lambda v: v.pointwise_mult(vector_of(ceed, ones), vector_of(ceed, ones)),
        lambda v: v.take_from_dlpack(ones),
        written,
    ]
    for begin in beginnings:
        vector = ceed.Vector(3)
        begin(vector)
        assert values_of(vector).tolist() == [1, 1, 1]


def test_scalar_and_ceed(ceed, scalar):
    vector = ceed.Vector(3)
    assert vector.scalar == scalar
    assert vector.ceed.handle == ceed.handle
    assert vector.ceed.scalar == scalar


@pytest.mark.parametrize(
    "make",
    [
        lambda: Vector.__new__(Vector),
        lambda: object.__new__(Vector),
        lambda: type("Mine", (Vector,), {})(),
        lambda: copy.copy(from_dlpack([1.0])),
        lambda: copy.deepcopy(from_dlpack([1.0])),
        lambda: pickle.dumps(from_dlpack([1.0])),
        lambda: type(from_dlpack([1.0]))(from_dlpack([1.0])),
    ],
    ids=["__new__", "object.__new__", "subclass", "copy", "deepcopy", "pickle", "call"],
)
def test_a_vector_without_a_c_object_cannot_be_made(make):
    with pytest.raises(TypeError):
        make()


@pytest.mark.usefixtures("of_host_contexts")
def test_device_of_a_vector_without_values(ceed):
    assert ceed.Vector(3).__dlpack_device__() == (1, 0)


def test_exchange_before_the_first(ceed):
    assert ceed.Vector(3).exchange == (False, "nothing was exchanged yet")


# --- Arithmetic ------------------------------------------------------------------------------


@lengths
def test_set_value(ceed, n):
    vector = ceed.Vector(n)
    vector.set_value(2.5)
    np.testing.assert_array_equal(values_of(vector), np.full(n, 2.5))


@lengths
def test_copy_from(ceed, numbers, n):
    x = numbers(n)
    vector = ceed.Vector(n)
    vector.copy_from(vector_of(ceed, x))
    np.testing.assert_array_equal(values_of(vector), x)


@lengths
def test_scale(ceed, numbers, n):
    x = numbers(n)
    vector = vector_of(ceed, x)
    vector.scale(-1.5)
    np.testing.assert_array_equal(values_of(vector), x.dtype.type(-1.5) * x)


@lengths
@pytest.mark.parametrize("alpha", [0.0, 1.0, -2.5])
def test_axpy(ceed, numbers, scalar, n, alpha):
    x, y = numbers(n), numbers(n)
    vector = vector_of(ceed, y)
    vector.axpy(alpha, vector_of(ceed, x))
    expected = alpha * x.astype(np.longdouble) + y
    np.testing.assert_allclose(
        values_of(vector), expected, rtol=0, atol=ulps(scalar, 2) * (1 + 5 * abs(alpha))
    )


@lengths
@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 3.0), (-1.5, 0.0), (0.0, 2.0), (1.0, 1.0)])
def test_axpby(ceed, numbers, scalar, n, alpha, beta):
    x, y = numbers(n), numbers(n)
    vector = vector_of(ceed, y)
    vector.axpby(alpha, beta, vector_of(ceed, x))
    expected = alpha * x.astype(np.longdouble) + beta * y.astype(np.longdouble)
    np.testing.assert_allclose(values_of(vector), expected, rtol=0, atol=ulps(scalar, 40))


@lengths
def test_pointwise_mult(ceed, numbers, n):
    x, y = numbers(n), numbers(n)
    vector = ceed.Vector(n)
    vector.pointwise_mult(vector_of(ceed, x), vector_of(ceed, y))
    np.testing.assert_array_equal(values_of(vector), x * y)


@pytest.mark.parametrize("which", ["x", "y", "both"])
def test_pointwise_mult_in_place(ceed, numbers, which):
    x, y = numbers(101), numbers(101)
    vector, other = vector_of(ceed, x), vector_of(ceed, y)
    if which == "x":
        vector.pointwise_mult(vector, other)
    elif which == "y":
        vector.pointwise_mult(other, vector)
    else:
        vector.pointwise_mult(vector, vector)
    np.testing.assert_array_equal(values_of(vector), x * (x if which == "both" else y))


@lengths
def test_reciprocal(ceed, numbers, scalar, n):
    x = numbers(n)
    vector = vector_of(ceed, x)
    vector.reciprocal()
    np.testing.assert_allclose(values_of(vector), 1 / x, rtol=ulps(scalar, 2))


def test_reciprocal_leaves_what_is_almost_zero(ceed, scalar):
    epsilon = 1e-16 if scalar == "float64" else 6e-8
    x = np.array([0.0, -0.0, epsilon / 2, -epsilon / 2, 4.0, -2.0], dtype=scalar)
    vector = vector_of(ceed, x)
    vector.reciprocal()
    np.testing.assert_array_equal(values_of(vector), [*x[:4], 0.25, -0.5])


@lengths
def test_filter(ceed, numbers, n):
    x = numbers(n)
    vector = vector_of(ceed, x)
    vector.filter(0.5)
    np.testing.assert_array_equal(values_of(vector), np.where(np.abs(x) <= 0.5, 0, x))


def test_filter_includes_the_threshold(ceed):
    vector = vector_of(ceed, [-2, -1, 0, 1, 2])
    vector.filter(1)
    assert values_of(vector).tolist() == [-2, 0, 0, 0, 2]


@pytest.mark.parametrize("kind", [NORM_1, NORM_2, NORM_MAX])
@lengths
def test_norm(ceed, numbers, scalar, n, kind):
    x = numbers(n)
    order = {NORM_1: 1, NORM_2: 2, NORM_MAX: np.inf}[kind]
    expected = float(np.linalg.norm(x.astype(np.longdouble), order)) if n else 0.0
    norm = vector_of(ceed, x).norm(kind)
    assert isinstance(norm, float)
    assert norm == pytest.approx(expected, rel=ulps(scalar, 20 + math.log2(n + 1)))


def test_norm_is_the_2_norm_by_default(ceed):
    assert vector_of(ceed, [3, -4]).norm() == 5


def test_the_maximum_norm_is_exact(ceed, numbers):
    x = numbers(1001)
    assert vector_of(ceed, x).norm(NORM_MAX) == np.abs(x).max()


@pytest.mark.parametrize("kind", [NORM_1, NORM_2, NORM_MAX])
@pytest.mark.parametrize("place", [0, 1, 63, 500, 1000])
def test_a_nan_anywhere_is_a_nan_norm(ceed, kind, place):
    x = np.ones(1001)
    x[place] = np.nan
    assert math.isnan(vector_of(ceed, x).norm(kind))


@pytest.mark.parametrize("kind", [NORM_1, NORM_2, NORM_MAX])
def test_an_infinity_is_an_infinite_norm(ceed, kind):
    assert vector_of(ceed, [1, -np.inf, 2]).norm(kind) == np.inf


def test_the_2_norm_does_not_overflow(ceed, scalar):
    big = float(np.finfo(scalar).max) / 8
    norm = vector_of(ceed, [3 * big / 4, -big]).norm()
    assert norm == pytest.approx(1.25 * big, rel=ulps(scalar, 8))


def test_the_2_norm_does_not_underflow(ceed, scalar):
    small = float(np.finfo(scalar).tiny) * 16
    norm = vector_of(ceed, [3 * small, -4 * small]).norm()
    assert norm == pytest.approx(5 * small, rel=ulps(scalar, 8))


@pytest.mark.parametrize("kind", [-1, 3, 99])
def test_an_unknown_norm_is_refused(ceed, kind):
    with pytest.raises((pyceedlike.CeedError, ValueError, OverflowError)):
        vector_of(ceed, [1, 2]).norm(kind)


RANGES = [(0, 10, 1), (0, -1, 1), (2, 9, 3), (9, 10, 1), (3, 3, 1), (10, 10, 5), (0, 10, 100)]


@pytest.mark.parametrize(("start", "stop", "step"), RANGES)
def test_set_value_strided(ceed, start, stop, step):
    vector = vector_of(ceed, range(10))
    vector.set_value_strided(start, stop, step, -5)
    expected = np.arange(10.0)
    expected[start : 10 if stop == -1 else stop : step] = -5
    np.testing.assert_array_equal(values_of(vector), expected)


@pytest.mark.parametrize(("start", "stop", "step"), RANGES)
def test_copy_strided(ceed, start, stop, step):
    vector = vector_of(ceed, range(10))
    vector.copy_strided(start, stop, step, vector_of(ceed, np.arange(10) + 100))
    expected = np.arange(10.0)
    piece = np.s_[start : 10 if stop == -1 else stop : step]
    expected[piece] += 100
    np.testing.assert_array_equal(values_of(vector), expected)


BAD_RANGES = [(-1, 5, 1), (0, 11, 1), (6, 5, 1), (0, 5, 0), (0, 5, -1), (0, -2, 1), (11, 11, 1)]


@pytest.mark.parametrize(("start", "stop", "step"), BAD_RANGES)
def test_ranges_outside_the_vector_are_refused(ceed, start, stop, step):
    vector = vector_of(ceed, range(10))
    with pytest.raises(CeedDimensionError):
        vector.set_value_strided(start, stop, step, 1)
    with pytest.raises(CeedDimensionError):
        vector.copy_strided(start, stop, step, vector_of(ceed, np.zeros(10)))
    assert values_of(vector).tolist() == list(range(10))


def test_a_large_vector(ceed, random, scalar):
    x = random.standard_normal(1_000_000).astype(scalar)
    vector = vector_of(ceed, x)
    vector.axpy(1, vector_of(ceed, x))
    np.testing.assert_array_equal(values_of(vector), x + x)
    assert vector.norm(NORM_1) == pytest.approx(
        2 * float(np.abs(x.astype(np.longdouble)).sum()), rel=ulps(scalar, 30)
    )


@pytest.mark.parametrize(
    "call",
    {
        "copy_from": lambda v, w: v.copy_from(w),
        "axpy": lambda v, w: v.axpy(1, w),
        "axpby": lambda v, w: v.axpby(1, 1, w),
        "pointwise_mult x": lambda v, w: v.pointwise_mult(w, v),
        "pointwise_mult y": lambda v, w: v.pointwise_mult(v, w),
    }.items(),
    ids=lambda item: item[0],
)
class TestOperandsThatDoNotFit:
    def test_another_length_is_told_with_both(self, ceed, call):
        vector = vector_of(ceed, range(4))
        with pytest.raises(CeedDimensionError) as error:
            call[1](vector, vector_of(ceed, range(7000)))
        assert "4" in str(error.value)
        assert "7000" in str(error.value)
        assert values_of(vector).tolist() == [0, 1, 2, 3]

    def test_another_precision_is_told_by_name(self, ceed, scalar, call):
        vector = vector_of(ceed, range(4))
        stranger = vector_of(pyceedlike.Ceed(scalar=OTHER[scalar]), range(4))
        with pytest.raises(CeedIncompatibleError, match=OTHER[scalar]):
            call[1](vector, stranger)
        assert values_of(vector).tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize("thing", [None, 3, "x", np.zeros(4)], ids=["None", "3", "x", "array"])
    def test_what_is_no_vector_is_a_type_error(self, ceed, call, thing):
        vector = vector_of(ceed, range(4))
        with pytest.raises(TypeError):
            call[1](vector, thing)

    def test_a_vector_without_values_is_incomplete(self, ceed, call):
        vector = vector_of(ceed, range(4))
        with pytest.raises(CeedIncompleteError):
            call[1](vector, ceed.Vector(4))
        assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_axpy_of_itself(ceed):
    vector = vector_of(ceed, range(4))
    vector.axpy(2, vector)
    assert values_of(vector).tolist() == [0, 3, 6, 9]


def test_copy_from_itself(ceed):
    vector = vector_of(ceed, range(4))
    vector.copy_from(vector)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("thing", ["1", None, [1], 1j], ids=repr)
def test_a_value_that_is_no_number_is_a_type_error(ceed, thing):
    vector = vector_of(ceed, range(4))
    for call in (vector.set_value, vector.scale, vector.filter):
        with pytest.raises(TypeError):
            call(thing)


# --- Arrays: get and restore -----------------------------------------------------------------


def test_get_array_reads_and_writes(ceed, scalar):
    vector = vector_of(ceed, range(4))
    values = vector.get_array()
    assert (values.dtype, values.tolist()) == (scalar, [0, 1, 2, 3])
    values[1] = 11
    vector.restore_array()
    assert values_of(vector).tolist() == [0, 11, 2, 3]


def test_get_array_read_gives_a_read_only_array(ceed):
    vector = vector_of(ceed, range(4))
    values = vector.get_array_read()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1
    vector.restore_array_read()


def test_get_array_write_needs_no_values(ceed):
    vector = ceed.Vector(4)
    values = vector.get_array_write()
    values[:] = range(4)
    vector.restore_array()
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_the_array_is_the_memory(ceed):
    vector = vector_of(ceed, range(4))
    first = vector.get_array().ctypes.data
    vector.restore_array()
    assert address_of(vector) == first


def test_readers_nest(ceed):
    vector = vector_of(ceed, range(4))
    first, second = vector.get_array_read(), vector.get_array_read()
    assert first.ctypes.data == second.ctypes.data
    vector.restore_array_read()
    with pytest.raises(CeedAccessError):
        vector.set_value(1)
    vector.restore_array_read()
    vector.set_value(1)


@pytest.mark.parametrize("get", ["get_array", "get_array_write"])
def test_the_array_is_read_only_after_restore(ceed, get):
    vector = vector_of(ceed, range(4))
    values = getattr(vector, get)()
    values[:] = 1
    vector.restore_array()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 9


def test_restore_without_get_is_an_access_error(ceed):
    vector = vector_of(ceed, range(4))
    with pytest.raises(CeedAccessError):
        vector.restore_array()
    with pytest.raises(CeedAccessError):
        vector.restore_array_read()


def test_restore_of_the_other_kind_is_an_access_error(ceed):
    vector = vector_of(ceed, range(4))
    vector.get_array()
    with pytest.raises(CeedAccessError):
        vector.restore_array_read()
    vector.restore_array()
    vector.get_array_read()
    with pytest.raises(CeedAccessError):
        vector.restore_array()
    vector.restore_array_read()


@pytest.mark.usefixtures("of_host_contexts")
@pytest.mark.parametrize("name", ["get_array", "get_array_read", "get_array_write"])
def test_device_memory_is_refused_on_a_host_context(ceed, name):
    vector = vector_of(ceed, range(4))
    with pytest.raises(pyceedlike.CeedBackendError) as error:
        getattr(vector, name)(MEM_DEVICE)
    assert "device" in str(error.value).lower()


@pytest.mark.parametrize("memtype", [-1, 2, 99])
def test_an_unknown_memory_type_is_refused(ceed, memtype):
    vector = vector_of(ceed, range(4))
    with pytest.raises((pyceedlike.CeedError, ValueError)):
        vector.get_array(memtype)


def test_an_array_without_a_name_for_its_vector(ceed):
    values = vector_of(ceed, range(1000)).get_array_read()
    churn()
    np.testing.assert_array_equal(values, np.arange(1000))


def test_a_vector_may_go_while_its_array_is_out(ceed):
    vector = vector_of(ceed, range(1000))
    values = vector.get_array()
    del vector
    churn()
    values += 1
    np.testing.assert_array_equal(values, np.arange(1000) + 1)


def test_arrays_of_no_entries(ceed):
    vector = ceed.Vector(0)
    vector.set_value(1)
    assert vector.get_array().shape == (0,)
    vector.restore_array()
    assert vector.get_array_read().shape == (0,)
    vector.restore_array_read()


# --- Arrays: with-blocks ---------------------------------------------------------------------

BLOCKS = {"array": True, "array_write": True, "array_read": False}


@pytest.mark.parametrize("name", BLOCKS)
def test_block_gives_the_memory(ceed, scalar, name):
    vector = vector_of(ceed, range(4))
    address = address_of(vector)
    with getattr(vector, name)() as values:
        assert (values.dtype, values.shape) == (scalar, (4,))
        assert values.ctypes.data == address
        assert values.flags.writeable is BLOCKS[name]


@pytest.mark.parametrize("name", BLOCKS)
def test_block_releases_on_an_exception(ceed, name):
    vector = vector_of(ceed, range(4))
    with pytest.raises(KeyError, match="mine"), getattr(vector, name)():
        raise KeyError("mine")
    vector.set_value(1)
    assert vector.export_count == 0


@pytest.mark.parametrize("name", ["array", "array_write"])
def test_block_ends_the_right_to_write(ceed, name):
    vector = vector_of(ceed, range(4))
    with getattr(vector, name)() as values:
        values[:] = 5
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 9
    assert values_of(vector).tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("name", BLOCKS)
def test_block_locks_the_vector(ceed, name):
    vector = vector_of(ceed, range(4))
    with getattr(vector, name)(), pytest.raises(CeedAccessError):
        vector.set_value(1)
    vector.set_value(1)


def test_blocks_for_reading_nest(ceed):
    vector = vector_of(ceed, range(4))
    with vector.array_read() as first, vector.array_read() as second:
        assert first.ctypes.data == second.ctypes.data


def test_an_array_that_outlives_its_block_keeps_the_memory(ceed):
    vector = vector_of(ceed, range(1000))
    with vector.array() as values:
        pass
    assert vector.export_count == 1
    del vector
    churn()
    np.testing.assert_array_equal(values, np.arange(1000))


def test_a_derived_view_outlives_its_block(ceed):
    vector = vector_of(ceed, range(1000))
    with vector.array_read() as values:
        part = values[10:20]
    del values, vector
    churn()
    np.testing.assert_array_equal(part, np.arange(10, 20))


def test_what_outlives_its_block_is_counted_until_it_goes(ceed):
    vector = vector_of(ceed, range(4))
    with vector.array() as values:
        pass
    vector.set_value(1)
    with pytest.raises(CeedAccessError):
        vector.set_array(np.ones(4, dtype=vector.scalar), cmode=USE_POINTER)
    del values
    gc.collect()
    vector.set_array(np.ones(4, dtype=vector.scalar), cmode=USE_POINTER)


def test_a_block_that_is_never_entered_locks_nothing(ceed):
    vector = vector_of(ceed, range(4))
    block = vector.array()
    vector.set_value(1)
    del block


def test_a_failing_block_locks_nothing(ceed):
    vector = ceed.Vector(4)
    with pytest.raises(CeedIncompleteError):
        vector.array().__enter__()
    vector.set_value(1)


# --- set_array and take_array ----------------------------------------------------------------


def sources(values, scalar):
    """Return the same numbers in everything that set_array takes."""
    flat = np.asarray(values, dtype=scalar)
    code = "d" if scalar == "float64" else "f"
    padded = np.zeros(2 * flat.size, dtype=scalar)
    padded[::2] = flat
    read_only = flat.copy()
    read_only.flags.writeable = False
    return {
        "ndarray": flat.copy(),
        "step 2": padded[::2],
        "step -1": flat[::-1].copy()[::-1],
        "two axes": flat.reshape(2, -1).copy(),
        "transposed": np.asfortranarray(flat.reshape(2, -1)),
        "read-only": read_only,
        "array.array": array.array(code, values),
        "memoryview": memoryview(flat.copy()),
        "memoryview step 2": memoryview(padded)[::2],
        "bytearray": memoryview(bytearray(flat.tobytes())).cast(code),
        "bytes": memoryview(flat.tobytes()).cast(code),
        "interface": Interface(flat.copy()),
        "strided interface": Interface(padded[::2]),
        "list": list(map(float, values)),
        "tuple": tuple(values),
        "nested list": [list(values[: len(values) // 2]), list(values[len(values) // 2 :])],
        "vector": vector_of(pyceedlike.Ceed(scalar=scalar), values),
    }


SOURCES = list(sources([1, 2, 3, 4], "float64"))
BORROWED = [s for s in SOURCES if s not in {"list", "tuple", "nested list", "vector"}]
COMPACT = [s for s in BORROWED if "step" not in s and "strided" not in s and s != "transposed"]
WRITABLE = [s for s in COMPACT if s not in {"read-only", "bytes"}]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("n", [2, 8, 1002])
def test_set_array_copies_from(ceed, scalar, kind, n):
    values = list(range(1, n + 1))
    vector = ceed.Vector(n)
    vector.set_array(sources(values, scalar)[kind])
    assert values_of(vector).tolist() == values


@pytest.mark.parametrize("kind", BORROWED)
def test_a_copy_shares_nothing(ceed, scalar, kind):
    source = sources([1, 2, 3, 4], scalar)[kind]
    vector = ceed.Vector(4)
    vector.set_array(source, cmode=COPY_VALUES)
    vector.set_value(0)
    assert np.asarray(source).ravel().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", COMPACT)
def test_set_array_borrows_from(ceed, scalar, kind):
    source = sources([1, 2, 3, 4], scalar)[kind]
    vector = ceed.Vector(4)
    vector.set_array(source, cmode=USE_POINTER)
    assert address_of(vector) == np.asarray(source).ctypes.data
    assert values_of(vector).tolist() == [1, 2, 3, 4]
    assert vector.exchange.shared is True


@pytest.mark.parametrize("kind", WRITABLE)
def test_what_is_borrowed_is_written(ceed, scalar, kind):
    source = sources([1, 2, 3, 4], scalar)[kind]
    vector = ceed.Vector(4)
    vector.set_array(source, cmode=USE_POINTER)
    vector.scale(10)
    assert np.asarray(source).ravel().tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize("kind", ["read-only", "bytes"])
def test_what_is_borrowed_read_only_is_not_written(ceed, scalar, kind):
    source = sources([1, 2, 3, 4], scalar)[kind]
    vector = ceed.Vector(4)
    vector.set_array(source, cmode=USE_POINTER)
    with pytest.raises(CeedAccessError, match="read-only"):
        vector.set_value(9)
    assert np.asarray(source).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [s for s in BORROWED if s not in COMPACT])
def test_what_is_not_compact_is_not_borrowed(ceed, scalar, kind):
    vector = vector_of(ceed, range(4))
    with pytest.raises((CeedIncompatibleError, pyceedlike.CeedCopyError), match="strides"):
        vector.set_array(sources([1, 2, 3, 4], scalar)[kind], cmode=USE_POINTER)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["list", "tuple", "nested list"])
def test_a_list_is_not_borrowed(ceed, scalar, kind):
    vector = vector_of(ceed, range(4))
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError)):
        vector.set_array(sources([1, 2, 3, 4], scalar)[kind], cmode=USE_POINTER)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["ndarray", "list", "array.array"])
def test_own_pointer_is_refused_from_python(ceed, scalar, kind):
    vector = vector_of(ceed, range(4))
    with pytest.raises(pyceedlike.CeedError, match=r"(?i)dlpack"):
        vector.set_array(sources([1, 2, 3, 4], scalar)[kind], cmode=OWN_POINTER)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", BORROWED)
@pytest.mark.parametrize("cmode", [COPY_VALUES, USE_POINTER])
def test_another_length_is_told_with_both(ceed, scalar, kind, cmode):
    source = sources([1, 2, 3, 4, 5, 6], scalar)[kind]
    vector = ceed.Vector(7000)
    with pytest.raises((CeedDimensionError, CeedIncompatibleError)) as error:
        vector.set_array(source, cmode=cmode)
    if kind in COMPACT or cmode == COPY_VALUES:
        assert isinstance(error.value, CeedDimensionError)
        assert "6" in str(error.value)
        assert "7000" in str(error.value)


@pytest.mark.parametrize("kind", BORROWED)
@pytest.mark.parametrize("cmode", [COPY_VALUES, USE_POINTER])
def test_another_precision_is_told_with_both(ceed, scalar, kind, cmode):
    vector = vector_of(ceed, range(4))
    with pytest.raises(CeedIncompatibleError) as error:
        vector.set_array(sources([1, 2, 3, 4], OTHER[scalar])[kind], cmode=cmode)
    assert OTHER[scalar] in str(error.value)
    assert scalar in str(error.value)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "name", ["int8", "int32", "int64", "uint16", "float16", "complex64", "bool"]
)
@pytest.mark.parametrize("wrap", [np.asarray, memoryview, Interface], ids=lambda f: f.__name__)
@pytest.mark.parametrize("cmode", [COPY_VALUES, USE_POINTER])
def test_another_type_is_named(ceed, scalar, name, wrap, cmode):
    vector = vector_of(ceed, range(4))
    array = np.ones(4, dtype=name)
    source = wrap(array)
    word = {memoryview: memoryview(array).format, Interface: array.dtype.str}.get(wrap, name)
    with pytest.raises(CeedIncompatibleError) as error:
        vector.set_array(source, cmode=cmode)
    text = str(error.value)
    assert name in text or repr(word) in text
    assert scalar in text
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("wrap", [memoryview, Interface], ids=lambda f: f.__name__)
def test_swapped_bytes_are_refused(ceed, scalar, wrap):
    swapped = np.arange(4, dtype=scalar).astype(np.dtype(scalar).newbyteorder())
    vector = vector_of(ceed, range(4))
    with pytest.raises((pyceedlike.CeedError, BufferError, ValueError)):
        vector.set_array(wrap(swapped))
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "thing", [["a", "b"], [None] * 4, [1j] * 4, ["1"] * 4, {1: 2}, object(), "1234"], ids=repr
)
def test_values_that_are_no_numbers_are_refused(ceed, thing):
    vector = vector_of(ceed, range(4))
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError)):
        vector.set_array(thing)
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_bytes_are_no_numbers(ceed, scalar):
    data = np.arange(4, dtype=scalar).tobytes()
    vector = vector_of(ceed, range(4))
    with pytest.raises(CeedIncompatibleError, match=r"uint8|'B'"):
        vector.set_array(data)


def test_a_ragged_list_is_refused(ceed):
    vector = vector_of(ceed, range(4))
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError)):
        vector.set_array([[1, 2, 3], [4]])


def test_a_list_takes_the_vectors_precision(ceed, scalar):
    vector = ceed.Vector(2)
    vector.set_array([0.1, 1])
    assert values_of(vector)[0] == np.dtype(scalar).type(0.1)


@pytest.mark.parametrize("make", [int, float, lambda x: np.asarray(x)[()]])
def test_a_scalar_is_one_value(ceed, scalar, make):
    vector = ceed.Vector(1)
    vector.set_array(make(np.dtype(scalar).type(3)))
    assert values_of(vector).tolist() == [3]


@pytest.mark.usefixtures("of_host_contexts")
def test_set_array_of_a_device_is_refused(ceed, scalar):
    vector = ceed.Vector(4)
    with pytest.raises((pyceedlike.CeedError, NotImplementedError)):
        vector.set_array(np.ones(4, dtype=scalar), memtype=MEM_DEVICE)


@pytest.mark.parametrize("cmode", [-1, 3, 17])
def test_an_unknown_copy_mode_is_refused(ceed, scalar, cmode):
    vector = ceed.Vector(4)
    with pytest.raises((pyceedlike.CeedError, ValueError)):
        vector.set_array(np.ones(4, dtype=scalar), cmode=cmode)


def test_a_copy_after_a_borrow_writes_into_what_was_borrowed(ceed, scalar):
    lent = np.zeros(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    vector.set_array(np.arange(4, dtype=scalar), cmode=COPY_VALUES)
    assert lent.tolist() == [0, 1, 2, 3]


def test_what_the_lender_writes_is_seen(ceed, scalar):
    lent = np.zeros(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    lent[:] = 4
    vector.sync_array(MEM_HOST)
    assert values_of(vector).tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize("make", [np.zeros, lambda n: Memory(8 * n)], ids=["ndarray", "bytearray"])
def test_a_lender_lives_as_long_as_the_vector(make):
    lent = make(4)
    alive = weakref.ref(lent)
    vector = pyceedlike.Ceed().Vector(4)
    view = memoryview(lent).cast("d") if isinstance(lent, Memory) else lent
    vector.set_array(view, cmode=USE_POINTER)
    del lent, view
    churn()
    assert alive() is not None
    assert values_of(vector).tolist() == [0, 0, 0, 0]
    del vector
    assert eventually(lambda: alive() is None)


def test_a_lender_is_let_go_when_another_one_comes(ceed, scalar):
    first, second = np.zeros(4, dtype=scalar), np.ones(4, dtype=scalar)
    alive = weakref.ref(first)
    vector = ceed.Vector(4)
    vector.set_array(first, cmode=USE_POINTER)
    del first
    vector.set_array(second, cmode=USE_POINTER)
    assert eventually(lambda: alive() is None)
    assert values_of(vector).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("kind", BORROWED)
@pytest.mark.parametrize("cmode", [COPY_VALUES, USE_POINTER])
def test_a_refused_source_is_not_kept(ceed, scalar, kind, cmode):
    vector = vector_of(ceed, range(7000))
    source = sources([1, 2, 3, 4], scalar)[kind]
    references = sys.getrefcount(source)
    for _ in range(10):
        with pytest.raises(pyceedlike.CeedError):
            vector.set_array(source, cmode=cmode)
    assert sys.getrefcount(source) == references


def test_take_array_gives_back_what_was_borrowed(ceed, scalar):
    lent = np.zeros(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    vector.set_value(3)
    taken = vector.take_array()
    assert taken.ctypes.data == lent.ctypes.data
    assert (taken.dtype, taken.tolist(), lent.tolist()) == (scalar, [3] * 4, [3] * 4)


def test_after_take_array_the_vector_has_no_values(ceed, scalar):
    lent = np.zeros(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    vector.take_array()
    with pytest.raises(CeedIncompleteError):
        vector.norm()
    vector.set_value(1)
    assert lent.tolist() == [0, 0, 0, 0]


def test_after_take_array_the_lender_is_let_go(ceed, scalar):
    lent = np.zeros(4, dtype=scalar)
    alive = weakref.ref(lent)
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    taken = vector.take_array()
    del lent, taken
    assert eventually(lambda: alive() is None)


def test_take_array_outlives_everything(ceed, scalar):
    vector = ceed.Vector(1000)
    vector.set_array(np.arange(1000, dtype=scalar), cmode=USE_POINTER)
    taken = vector.take_array()
    del vector
    churn()
    np.testing.assert_array_equal(taken, np.arange(1000))


def test_take_array_of_no_entries(ceed, scalar):
    vector = ceed.Vector(0)
    vector.set_array(np.zeros(0, dtype=scalar), cmode=USE_POINTER)
    assert vector.take_array().shape == (0,)


@pytest.mark.parametrize("piece", [np.s_[:], np.s_[::-1]], ids=["forwards", "backwards"])
def test_a_copy_from_the_vectors_own_memory(ceed, piece):
    vector = vector_of(ceed, range(9))
    vector.set_array(vector.to_numpy()[piece])
    assert values_of(vector).tolist() == list(range(9))[piece]


def test_a_copy_from_a_transposed_view_of_its_own_memory(ceed):
    vector = vector_of(ceed, range(9))
    vector.take_from_dlpack(vector.to_numpy().reshape(3, 3).T)
    assert values_of(vector).tolist() == [0, 3, 6, 1, 4, 7, 2, 5, 8]


def test_take_array_of_what_was_not_borrowed_is_an_access_error(ceed):
    with pytest.raises(CeedAccessError):
        vector_of(ceed, range(4)).take_array()
    with pytest.raises(CeedAccessError):
        ceed.Vector(4).take_array()


def test_take_array_of_an_adopted_tensor_says_to_export_it(partner, scalar):
    vector = from_dlpack(np.arange(4, dtype=scalar))
    with pytest.raises(CeedAccessError, match="export"):
        vector.take_array()
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("of_host_contexts")
def test_sync_array_of_a_device_is_refused_on_a_host_context(ceed):
    with pytest.raises(pyceedlike.CeedBackendError):
        vector_of(ceed, range(4)).sync_array(MEM_DEVICE)


# --- from_dlpack with other sources ----------------------------------------------------------


@pytest.mark.parametrize("kind", [s for s in SOURCES if "list" not in s and s != "tuple"])
def test_from_dlpack_takes(scalar, kind):
    vector = from_dlpack(sources([1, 2, 3, 4], scalar)[kind])
    assert vector.scalar == scalar
    assert values_of(vector).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", COMPACT)
def test_from_dlpack_shares_with(scalar, kind):
    source = sources([1, 2, 3, 4], scalar)[kind]
    vector = from_dlpack(source, copy=False)
    assert address_of(vector) == np.asarray(source).ctypes.data


@pytest.mark.parametrize("kind", [s for s in BORROWED if s not in COMPACT])
def test_from_dlpack_without_a_copy_refuses(scalar, kind):
    with pytest.raises(pyceedlike.CeedCopyError):
        from_dlpack(sources([1, 2, 3, 4], scalar)[kind], copy=False)


@pytest.mark.parametrize("thing", [[1, 2, 3], (1.0, 2, 3), [[1], [2], [3]], range(1, 4)], ids=repr)
def test_from_dlpack_of_values_is_double_precision(thing):
    vector = from_dlpack(thing)
    assert vector.scalar == "float64"
    assert values_of(vector).tolist() == [1, 2, 3]
    assert vector.exchange.shared is False


@pytest.mark.parametrize("thing", [3, 2.5, np.float64(7)])
def test_from_dlpack_of_a_scalar_is_one_value(thing):
    assert values_of(from_dlpack(thing)).tolist() == [thing]


def test_from_dlpack_of_values_takes_the_contexts_precision(ceed, scalar):
    vector = Vector.from_dlpack([1, 2, 3], ceed=ceed)
    assert (vector.scalar, values_of(vector).tolist()) == (scalar, [1, 2, 3])


@pytest.mark.parametrize("thing", [[1, 2, 3], 3.0, (1,)], ids=repr)
def test_from_dlpack_of_values_without_a_copy_is_refused(thing):
    with pytest.raises(pyceedlike.CeedCopyError):
        from_dlpack(thing, copy=False)


@pytest.mark.parametrize("thing", [["a"], "abc", [None], [1j], {}, None, {1, 2}], ids=repr)
def test_from_dlpack_of_what_is_no_number_is_refused(thing):
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError, AttributeError)):
        from_dlpack(thing)


def test_vector_from_dlpack_is_made_in_the_context(ceed, scalar):
    vector = Vector.from_dlpack(np.arange(4, dtype=scalar), ceed=ceed)
    assert vector.ceed.handle == ceed.handle


def test_from_dlpack_of_a_subclass_is_of_the_subclass(scalar):
    class Mine(Vector):
        pass

    assert type(Mine.from_dlpack(np.arange(4, dtype=scalar))) is Mine


def test_an_interface_keeps_its_object_alive(scalar):
    source = Interface(np.arange(1000, dtype=scalar))
    alive = weakref.ref(source)
    vector = from_dlpack(source)
    del source
    churn()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))
    del vector
    assert eventually(lambda: alive() is None)


def test_a_read_only_interface_stays_so(scalar):
    array_ = np.arange(4, dtype=scalar)
    vector = from_dlpack(Interface(array_, data=(array_.ctypes.data, True)))
    with pytest.raises(CeedAccessError):
        vector.set_value(1)


@pytest.mark.parametrize(
    "changes",
    [
        {"data": (0, False)},
        {"shape": (-1,)},
        {"shape": (2**62, 2**62)},
        {"typestr": "<f9"},
        {"typestr": 3},
        {"typestr": ["<f8"]},
        {"shape": "x"},
        {"data": None},
        {"strides": (8, 8)},
        {"strides": ()},
        {"strides": "x"},
        {"strides": (3,)},
    ],
    ids=str,
)
def test_a_malformed_interface_is_refused(scalar, changes):
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError, OverflowError)):
        from_dlpack(Interface(np.arange(4, dtype=scalar), **changes))


@pytest.mark.parametrize("number", [int, float])
def test_the_bytes_of_a_vector_are_no_digits(number):
    with pytest.raises(TypeError, match="no number"):
        number(from_dlpack(np.frombuffer(b"12345678")))


@pytest.mark.parametrize("key", ["typestr", "shape", "data"])
def test_an_interface_without_a_needed_key_is_refused(scalar, key):
    source = Interface(np.arange(4, dtype=scalar))
    del source.__array_interface__[key]
    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError)):
        from_dlpack(source)


@pytest.mark.parametrize("interface", [None, 3, "x", []], ids=repr)
def test_an_interface_that_is_no_dictionary_is_refused(interface):
    class Source:
        __array_interface__ = interface

    with pytest.raises((pyceedlike.CeedError, TypeError, ValueError)):
        from_dlpack(Source())


def test_more_memory_than_there_is_is_a_memory_error(scalar):
    with pytest.raises(pyceedlike.CeedMemoryError):
        from_dlpack(np.broadcast_to(np.ones(1, dtype=scalar), 2**46))


@pytest.mark.parametrize("ceed", [3, "float64", None.__class__], ids=repr)
def test_from_dlpack_into_what_is_no_context(scalar, ceed):
    with pytest.raises(TypeError):
        Vector.from_dlpack(np.arange(4, dtype=scalar), ceed=ceed)


def test_a_released_memoryview_is_refused(scalar):
    view = memoryview(np.arange(4, dtype=scalar))
    view.release()
    with pytest.raises((ValueError, BufferError)):
        from_dlpack(view)


# --- The buffer protocol and the array interface ---------------------------------------------


def test_memoryview_shows_the_vector(ceed, scalar):
    view = memoryview(vector_of(ceed, range(4)))
    assert (view.format, view.itemsize) == (("d", 8) if scalar == "float64" else ("f", 4))
    assert (view.ndim, view.shape, view.strides) == (1, (4,), (view.itemsize,))
    assert (view.readonly, view.contiguous, view.tolist()) == (False, True, [0, 1, 2, 3])


def test_memoryview_writes_are_seen(ceed):
    vector = vector_of(ceed, range(4))
    memoryview(vector)[2] = 22
    assert values_of(vector).tolist() == [0, 1, 22, 3]


def test_memoryview_is_an_export(ceed):
    vector = vector_of(ceed, range(4))
    view = memoryview(vector)
    assert vector.export_count == 1
    view.release()
    assert vector.export_count == 0


def test_memoryview_outlives_the_vector(ceed):
    view = memoryview(vector_of(ceed, range(1000)))
    churn()
    assert view.tolist() == list(range(1000))


def test_memoryview_of_no_entries(ceed):
    vector = ceed.Vector(0)
    vector.set_value(1)
    view = memoryview(vector)
    assert (view.shape, view.nbytes, view.tolist()) == ((0,), 0, [])


def test_memoryview_of_a_vector_without_values_is_refused(ceed):
    with pytest.raises((BufferError, CeedIncompleteError)):
        memoryview(ceed.Vector(4))


def test_plain_bytes_of_a_vector(ceed, scalar):
    assert bytes(vector_of(ceed, range(4))) == np.arange(4, dtype=scalar).tobytes()


def test_others_write_through_the_buffer(ceed, scalar):
    vector = vector_of(ceed, range(4))
    io.BytesIO(np.full(4, 6, dtype=scalar).tobytes()).readinto(vector)
    struct.pack_into("d" if scalar == "float64" else "f", vector, 0, 1.5)
    assert values_of(vector).tolist() == [1.5, 6, 6, 6]


def test_others_do_not_write_through_a_read_only_buffer(ceed, scalar):
    source = np.arange(4, dtype=scalar)
    source.flags.writeable = False
    vector = from_dlpack(source)
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(bytes(100)).readinto(vector)
    assert source.tolist() == [0, 1, 2, 3]
    assert vector.export_count == 0


def test_asarray_shares(ceed, scalar):
    vector = vector_of(ceed, range(4))
    shown = np.asarray(vector)
    assert (shown.dtype, shown.ctypes.data) == (scalar, address_of(vector))


def test_array_interface_describes_the_memory(ceed, scalar):
    vector = vector_of(ceed, range(4))
    interface = vector.__array_interface__
    assert interface["version"] == 3
    assert interface["shape"] == (4,)
    assert interface["data"] == (address_of(vector), False)
    assert np.dtype(interface["typestr"]) == np.dtype(scalar)


def test_array_interface_is_enough_for_numpy(ceed):
    vector = vector_of(ceed, range(4))
    shown = np.asarray(Interface(vector))
    vector.scale(3)
    assert shown.tolist() == [0, 3, 6, 9]


def test_memory_read_through_the_array_interface_outlives_the_name(ceed):
    shown = np.asarray(Interface(vector_of(ceed, range(1000))))
    churn()
    np.testing.assert_array_equal(shown, np.arange(1000))


@pytest.mark.usefixtures("of_host_contexts")
def test_there_is_no_cuda_array_interface_on_host_memory(ceed):
    vector = vector_of(ceed, range(4))
    assert not hasattr(vector, "__cuda_array_interface__")
    with pytest.raises(AttributeError):
        vector.__cuda_array_interface__  # noqa: B018


# --- Views in words --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 5])
def test_view_prints_the_length_and_one_entry_a_line(ceed, n):
    vector = vector_of(ceed, np.arange(n) / 2)
    lines = vector.view().splitlines()
    assert lines[0].strip() == f"CeedVector length {n}"
    assert [float(line) for line in lines[1 : n + 1]] == [i / 2 for i in range(n)]


@pytest.mark.parametrize("fmt", ["%g", "%.3f", "%12.4e", "value %g", "%5.1f%%"])
def test_view_prints_in_a_format(ceed, fmt):
    lines = vector_of(ceed, [0.5, -2]).view(fmt).splitlines()
    assert [line.strip() for line in lines[1:3]] == [(fmt % x).strip() for x in (0.5, -2)]


@pytest.mark.parametrize("fmt", ["%d", "%s", "%n", "%g %g", "no conversion", "%", "%*g", "%Lf"])
def test_view_refuses_formats_that_are_not_of_one_number(ceed, fmt):
    with pytest.raises((pyceedlike.CeedError, ValueError)):
        vector_of(ceed, [0.5]).view(fmt)


def test_view_of_many_entries_is_complete(ceed):
    assert len(vector_of(ceed, np.zeros(10_000)).view().splitlines()) == 10_001


def test_repr_tells_length_precision_place_and_exports(ceed, scalar):
    vector = vector_of(ceed, np.zeros(1234))
    before = repr(vector)
    for word in ("Vector", "1234", scalar, "host"):
        assert word in before.replace("_", "").replace(",", "")
    view = memoryview(vector)
    assert repr(vector) != before
    view.release()
    assert repr(vector) == before


def test_repr_of_a_vector_in_any_state(ceed):
    vector = ceed.Vector(3)
    assert "3" in repr(vector)
    vector.set_value(1)
    vector.get_array()
    assert "3" in repr(vector)
    vector.restore_array()


# --- State, counts, handles ------------------------------------------------------------------


def test_state_is_odd_while_a_writer_holds_the_array(ceed):
    vector = vector_of(ceed, range(4))
    assert vector.state % 2 == 0
    vector.get_array()
    assert vector.state % 2 == 1
    vector.restore_array()
    assert vector.state % 2 == 0


@pytest.mark.parametrize(
    "write",
    {
        "set_value": lambda v: v.set_value(1),
        "scale": lambda v: v.scale(2),
        "set_array": lambda v: v.set_array([1, 2, 3, 4]),
        "reciprocal": lambda v: v.reciprocal(),
    }.items(),
    ids=lambda item: item[0],
)
def test_state_grows_by_two_with_a_write(ceed, write):
    vector = vector_of(ceed, range(4))
    before = vector.state
    write[1](vector)
    assert vector.state == before + 2


def test_state_does_not_change_with_a_read(ceed):
    vector = vector_of(ceed, range(4))
    before = vector.state
    vector.norm()
    vector.view()
    values_of(vector)
    vector_of(ceed, range(4)).axpy(1, vector)
    vector.to_numpy()
    assert vector.state == before


def test_state_does_not_change_with_a_refused_write(ceed):
    vector = vector_of(ceed, range(4))
    before = vector.state
    with pytest.raises(CeedDimensionError):
        vector.copy_from(vector_of(ceed, range(5)))
    with pytest.raises(CeedDimensionError):
        vector.set_array(np.ones(9, dtype=vector.scalar))
    assert vector.state == before


def test_export_count_counts_what_lives(ceed):
    vector = vector_of(ceed, range(4))
    held = []
    for count in range(1, 6):
        held.append(vector.to_numpy())
        assert vector.export_count == count
    held.clear()
    assert vector.export_count == 0


def test_handle_is_an_integer_of_the_object(ceed):
    vector, other = vector_of(ceed, range(4)), vector_of(ceed, range(4))
    assert isinstance(vector.handle, int)
    assert vector.handle == vector.handle != other.handle


def test_from_handle_is_the_same_object(ceed, scalar):
    vector = vector_of(ceed, range(4))
    same = Vector.from_handle(vector.handle)
    assert (same.handle, same.scalar, len(same)) == (vector.handle, scalar, 4)
    same.scale(2)
    assert values_of(vector).tolist() == [0, 2, 4, 6]


def test_from_handle_takes_a_reference_of_its_own(ceed):
    vector = vector_of(ceed, range(1000))
    same = Vector.from_handle(vector.handle)
    del vector
    churn()
    np.testing.assert_array_equal(values_of(same), np.arange(1000))


def test_from_handle_knows_the_precision(scalar):
    vector = vector_of(pyceedlike.Ceed(scalar=scalar), range(4))
    assert Vector.from_handle(vector.handle).scalar == scalar


def test_from_handle_of_null(ceed):
    with pytest.raises(CeedIncompatibleError, match="NULL"):
        Vector.from_handle(0)


def test_from_handle_of_another_kind_says_so(ceed):
    with pytest.raises(CeedIncompatibleError, match="Ceed"):
        Vector.from_handle(ceed.handle)


def test_from_handle_of_a_stranger_says_so():
    memory = np.zeros(64)
    with pytest.raises(CeedIncompatibleError, match="no object of this library"):
        Vector.from_handle(memory.ctypes.data)


@pytest.mark.parametrize("address", [-1, 2**64, 2**70])
def test_from_handle_of_what_is_no_address(address):
    with pytest.raises((OverflowError, ValueError, TypeError)):
        Vector.from_handle(address)


@pytest.mark.parametrize("address", ["0", None, 1.5, b"x"])
def test_from_handle_of_what_is_no_integer(address):
    with pytest.raises(TypeError):
        Vector.from_handle(address)


def test_attributes_cannot_be_set(ceed):
    vector = ceed.Vector(3)
    for name in ("scalar", "handle", "state", "export_count", "exchange", "ceed"):
        with pytest.raises(AttributeError):
            setattr(vector, name, 1)


def test_a_vector_may_be_referenced_weakly(ceed):
    vector = ceed.Vector(3)
    alive = weakref.ref(vector)
    del vector
    assert alive() is None


def test_a_vector_keeps_nothing_of_a_method_call(ceed):
    x, y = vector_of(ceed, range(4)), vector_of(ceed, range(4))
    before = sys.getrefcount(x), sys.getrefcount(y)
    y.axpy(1, x)
    y.axpby(1, 1, x)
    y.copy_from(x)
    y.pointwise_mult(x, x)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


def test_vectors_compare_by_identity(ceed):
    vector = vector_of(ceed, range(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vector == vector
        assert vector != vector_of(ceed, range(4))
    assert len({vector, vector}) == 1


def test_errors_are_of_this_failure(ceed):
    vector = vector_of(ceed, range(4))
    texts = set()
    for call in (
        lambda: vector.copy_from(ceed.Vector(7)),
        lambda: vector.set_array(np.ones(4, dtype="int16")),
        lambda: vector.take_array(),
        lambda: ceed.Vector(3).norm(),
    ):
        with pytest.raises(pyceedlike.CeedError) as error:
            call()
        texts.add(str(error.value))
    assert len(texts) == 4
    assert all(texts)


def test_every_pair_of_numpy_views_agrees(ceed, scalar):
    """A vector set from any pair of slices holds what NumPy's ravel gives."""
    grid = np.arange(24, dtype=scalar).reshape(4, 6)
    pieces = [np.s_[:], np.s_[::2], np.s_[::-1], np.s_[1:3], np.s_[3:0:-2], np.s_[:0]]
    for rows, columns in itertools.product(pieces, pieces):
        view = grid[rows, columns]
        vector = ceed.Vector(view.size)
        vector.set_array(view)
        np.testing.assert_array_equal(values_of(vector), view.ravel(order="C"))
