# SPDX-License-Identifier: BSD-2-Clause
"""Fabs to other libraries: every part through every protocol, read-only, copies, JAX."""

import ctypes
import gc
import hashlib
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from fields import (
    GHOST,
    address,
    box_of,
    expected,
    incoming,
    numbered,
    of_region,
)
from helpers import OldProducer

import pyceedlike
from pyceedlike import Box, Fab

# --- Protocols -------------------------------------------------------------------------------


def through_dlpack(view):
    return np.from_dlpack(view)


def through_legacy_dlpack(view):
    return np.from_dlpack(OldProducer(view.__dlpack__))


def through_the_buffer(view):
    return np.asarray(memoryview(view))


def through_the_interface(view):
    return np.asarray(SimpleNamespace(__array_interface__=view.__array_interface__, owner=view))


def through_asarray(view):
    return np.asarray(view)


def through_torch(view):
    torch = pytest.importorskip("torch")
    return torch.from_dlpack(view).numpy()


def through_torch_as_tensor(view):
    torch = pytest.importorskip("torch")
    return torch.as_tensor(view).numpy()


def through_tvm_ffi(view):
    tvm_ffi = pytest.importorskip("tvm_ffi")
    return np.from_dlpack(tvm_ffi.from_dlpack(view))


SHARING = [
    through_dlpack,
    through_legacy_dlpack,
    through_the_buffer,
    through_the_interface,
    through_asarray,
    through_torch,
    through_torch_as_tensor,
    through_tvm_ffi,
]


@pytest.mark.parametrize("through", SHARING, ids=lambda f: f.__name__[8:])
def test_every_protocol_has_every_element(fab, through):
    for region, order in itertools.product(["whole", "valid"], ["xyzn", "nzyx"]):
        view = fab.view(region, order=order)
        wanted, first = of_region(fab, region)
        array = through(view)
        assert array.dtype == fab.scalar
        assert np.array_equal(array.T if order == "nzyx" else array, wanted)
        assert address(array) == address(fab.to_numpy()) + first * array.itemsize


@pytest.mark.parametrize("through", SHARING, ids=lambda f: f.__name__[8:])
def test_the_fab_itself_is_its_whole_block(fab, through):
    array = through(fab)
    assert np.array_equal(array, expected(fab.whole, fab.ncomp))
    assert address(array) == address(fab.to_numpy())


def test_a_host_fab_has_no_interface_of_cuda(fab):
    assert not hasattr(fab, "__cuda_array_interface__")
    assert not hasattr(fab.view(), "__cuda_array_interface__")


def test_torch_as_a_reader_of_plain_bytes_is_refused(fab):
    torch = pytest.importorskip("torch")
    for whatever in (fab, fab.view("valid")):
        with pytest.raises((ValueError, BufferError, RuntimeError)):
            torch.asarray(whatever)  # it would take the bytes for float32


def test_a_field_has_no_plain_bytes(fab):
    with pytest.raises(BufferError, match="a field has no plain bytes"):
        hashlib.sha256(fab)


def test_jax_as_an_array_has_the_values(jax, fab):
    array = np.asarray(jax.numpy.asarray(fab))
    assert np.array_equal(array, expected(fab.whole, fab.ncomp))


def test_a_request_for_compact_memory_in_any_order_is_refused_where_there_is_none(ceed):
    fab = ceed.Fab(Box([0, 0], [3, 3]), ncomp=2)
    fab.set_value(1.0)
    ask, view = ctypes.pythonapi.PyObject_GetBuffer, ctypes.create_string_buffer(256)
    strides, any_contiguous = 0x1C, 0x9C  # PyBUF_STRIDES, PyBUF_ANY_CONTIGUOUS, with PyBUF_FORMAT
    gaps = fab.view(Box([1, 1], [2, 2]))
    with pytest.raises(pyceedlike.CeedAccessError, match="not compact"):
        ask(ctypes.py_object(gaps), view, any_contiguous)
    for source, flags in ((gaps, strides), (fab, any_contiguous)):
        assert ask(ctypes.py_object(source), view, flags) == 0
        ctypes.pythonapi.PyBuffer_Release(view)


def test_buffers_are_compact_only_where_they_say_so(fab):
    assert memoryview(fab).f_contiguous
    assert memoryview(fab.view(order="nzyx")).c_contiguous
    gaps = fab.box.dim + fab.ncomp > 2  # else the valid cells lie in one line
    assert memoryview(fab.view("valid")).contiguous is not gaps
    bytes_each = np.dtype(fab.scalar).itemsize * fab.ncomp
    assert memoryview(fab.view((0,) * fab.box.dim)).nbytes == bytes_each * fab.box.size


def test_a_whole_block_is_c_contiguous_with_its_axes_the_other_way_round(fab):
    for order, flag in (("nzyx", "C"), ("xyzn", "F")):
        assert fab.to_numpy(order=order).flags[flag + "_CONTIGUOUS"]
    assert address(fab.to_numpy(order="nzyx")) == address(fab.to_numpy())


def test_axes_of_length_one_and_none_are_there(kind):
    dim, ncomp, scalar = kind
    fab = pyceedlike.Ceed(scalar=scalar).Fab(Box([4] * dim, [4] * dim), ncomp, GHOST[:dim])
    fab.set_value(3.0)
    for through in (through_dlpack, through_the_buffer, through_asarray, through_torch):
        assert through(fab.view("valid")).shape == (1,) * dim + (ncomp,)
    empty = fab.view(Box([4] * dim, [3] * dim))
    for through in (through_dlpack, through_legacy_dlpack, through_the_buffer, through_torch):
        assert through(empty).shape == (0,) * dim + (ncomp,)


def test_a_fab_without_values_gives_nothing_away(kind):
    dim, ncomp, scalar = kind
    fab = pyceedlike.Ceed(scalar=scalar).Fab(box_of(dim), ncomp, GHOST[:dim])
    asks = [fab.__dlpack__, lambda: memoryview(fab), lambda: fab.__array_interface__,
            fab.to_numpy, lambda: fab.at[-2], lambda: np.from_dlpack(fab.view("valid")),
            lambda: memoryview(fab.view((-1,) * dim))]  # fmt: skip
    for ask in asks:
        with pytest.raises(BufferError, match="no values yet"):
            ask()
    fab.set_value(1.0)
    assert fab.to_numpy().sum() == fab.to_numpy().size


def test_a_fab_whose_memory_was_given_back_gives_nothing_away(kind):
    values, lo, ghost = incoming(kind)
    vector = pyceedlike.Ceed(scalar=kind[2]).Vector(values.size)
    vector.set_array(values.ravel("F"), cmode=pyceedlike.USE_POINTER)
    low, high = (np.array(side) for side in zip(*ghost, strict=True))
    box = Box(low + lo, np.array(lo) + values.shape[:-1] - 1 - high)
    fab = Fab.from_vector(vector, box, ghost=ghost, ncomp=kind[1])
    view = fab.view("valid")
    assert np.array_equal(fab.to_numpy(), values)
    vector.take_array()
    with pytest.raises(BufferError, match="no values yet"):
        fab.to_numpy()
    with pytest.raises(pyceedlike.CeedAccessError, match="The view is stale"):
        np.from_dlpack(view)


def test_a_fab_is_made_by_its_makers():
    with pytest.raises(TypeError, match=r"fabs by Ceed\.Fab\(box\)"):
        Fab()
    with pytest.raises(TypeError, match="is not called"):
        pyceedlike.FabView()


def test_a_fab_has_the_axes_of_its_box():
    with pytest.raises(TypeError, match="shape is for vectors: a fab has the axes of its box"):
        numbered((2, 1, "float64")).to_dlpack(shape=(3,))


# --- Read-only -------------------------------------------------------------------------------


@pytest.fixture
def frozen(kind):
    values, lo, ghost = incoming(kind)
    values.flags.writeable = False
    return Fab.from_dlpack(values, lo=lo, ghost=ghost)


def test_read_only_memory_is_so_in_every_protocol(frozen):
    for view in (frozen, frozen.view("valid"), frozen.view(order="nzyx")):
        assert not np.from_dlpack(view).flags.writeable
        assert memoryview(view).readonly
        assert view.__array_interface__["data"][1] is True
        assert not np.asarray(view).flags.writeable


def test_a_view_is_read_only_where_it_is_asked_to_be(fab):
    view = fab.view("valid", read_only=True)
    array = np.from_dlpack(view)
    assert not array.flags.writeable
    assert memoryview(view).readonly
    assert view.__array_interface__["data"][1] is True
    assert np.shares_memory(array, fab.to_numpy())
    assert np.from_dlpack(fab.view("valid")).flags.writeable


def test_a_legacy_request_for_read_only_memory_is_a_private_copy(frozen):
    view = frozen.view("valid")
    array = np.from_dlpack(OldProducer(view.__dlpack__))
    assert not np.shares_memory(array, frozen.to_numpy())
    assert view.exchange.shared is False
    with pytest.raises(BufferError, match="copy=False, but this memory is read-only"):
        view.__dlpack__(copy=False)


def test_torch_gets_a_copy_of_what_it_must_not_write(frozen):
    pytest.importorskip("torch")
    tensor = frozen.to_torch()
    before = frozen.to_numpy().copy()
    assert np.array_equal(tensor.numpy(), before)
    tensor[...] = -9.0
    assert np.array_equal(frozen.to_numpy(), before)
    with pytest.raises(pyceedlike.CeedCopyError, match="copy=False, but this memory is read-only"):
        frozen.to_torch(copy=False)


def test_read_only_memory_can_not_be_written(frozen):
    with pytest.raises(pyceedlike.CeedAccessError):
        frozen.set_value(1.0)
    with pytest.raises(pyceedlike.CeedAccessError, match="the fab is read-only, or readers"):
        frozen.at[frozen.box.lo] = 0.0


# --- Copies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["xyzn", "nzyx"])
def test_a_copy_is_compact_and_its_own(fab, order):
    for region in ("whole", "valid"):
        array = fab.to_numpy(region, order=order, copy=True)
        wanted = of_region(fab, region)[0]
        assert np.array_equal(array.T if order == "nzyx" else array, wanted)
        assert array.flags.c_contiguous
        assert not np.shares_memory(array, fab.to_numpy())
        array[...] = 0.0
        assert np.array_equal(fab.to_numpy(region), wanted)


@pytest.mark.parametrize("region", ["whole", "valid"])
def test_a_copy_outlives_everything_else(kind, region):
    fab = numbered(kind)
    box = fab.region(region)
    copy = fab.to_numpy(region, copy=True)
    other = np.asarray(fab.view(region)).copy()
    del fab
    small = [np.full(copy.shape, 1.0) for _ in range(100)]  # in the place of what is gone
    large = np.full(50 * 2**17, 1.0)
    assert np.array_equal(copy, expected(box, kind[1]))
    assert np.array_equal(copy, other)
    assert large.size > len(small)


# --- JAX -------------------------------------------------------------------------------------


def test_jax_shares_a_whole_block(jax, fab):
    x = fab.to_jax()
    assert fab.exchange.shared
    assert "lease" in fab.exchange.reason
    assert np.array_equal(np.asarray(x), expected(fab.whole, fab.ncomp))
    with pytest.raises(pyceedlike.CeedAccessError, match="lease"):
        fab.set_value(0.0)
    pointer = x.unsafe_buffer_pointer()
    del x
    gc.collect()
    assert pointer == address(fab.to_numpy())


def test_jax_gets_a_compact_copy_of_a_part_with_gaps(jax, fab):
    x = fab.to_jax("valid")
    gaps = not memoryview(fab.view("valid")).contiguous
    assert np.array_equal(np.asarray(x), expected(fab.box, fab.ncomp))
    if gaps:
        assert fab.exchange[0] is False
        assert "JAX shares no memory with gaps" in fab.exchange.reason
        with pytest.raises(pyceedlike.CeedCopyError, match="copy=False, but JAX shares no memory"):
            fab.to_jax("valid", copy=False)


def test_jax_reads_a_part_with_gaps_while_others_write(jax):
    fab = numbered((2, 3, "float64"))
    array = fab.to_numpy()
    x = fab.to_jax("valid")
    array[...] = 0.0
    assert np.array_equal(np.asarray(x), expected(fab.box, 3))


def test_jax_shares_each_axis_order(jax):
    fab = numbered((3, 3, "float64"))
    for order in ("xyzn", "nzyx"):
        x = fab.to_jax(order=order, copy=False)
        wanted = expected(fab.whole, 3)
        assert np.array_equal(np.asarray(x), wanted.T if order == "nzyx" else wanted)
        del x


def test_jax_shares_axes_of_length_one(jax, kind):
    dim, ncomp, scalar = kind
    for axis in range(dim):
        hi = [3 + i for i in range(dim)]
        hi[axis] = 0
        fab = pyceedlike.Ceed(scalar=scalar).Fab(Box([0] * dim, hi), ncomp)
        fab.set_value(2.0)
        x = fab.to_jax(copy=False)
        assert x.shape == (*(h + 1 for h in hi), ncomp)
        assert x.unsafe_buffer_pointer() % 64 == 0
        assert float(x.sum()) == 2.0 * x.size


def test_jax_copies_when_it_is_asked_to(jax):
    fab = numbered((1, 1, "float64"))
    x = fab.to_jax(copy=True)
    fab.set_value(0.0)
    assert fab.exchange.reason == "a private copy: as asked"
    assert np.array_equal(np.asarray(x), expected(fab.whole, 1))


def test_jax_copies_what_is_not_aligned(jax):
    memory = np.zeros(17)
    start = next(i for i in range(1, 9) if memory[i:].ctypes.data % 64)
    fab = Fab.from_dlpack(memory[start : start + 8].reshape(8, 1), lo=[0])
    fab.to_jax()
    assert "JAX shares memory from 64-byte boundaries on" in fab.exchange.reason
    with pytest.raises(pyceedlike.CeedCopyError, match="64-byte"):
        fab.to_jax(copy=False)


def test_cupy_gets_a_copy_on_the_device():
    cupy = pytest.importorskip("cupy")
    fab = numbered((2, 3, "float64"))
    assert np.array_equal(cupy.asnumpy(fab.to_cupy("valid")), expected(fab.box, 3))
    assert not fab.exchange.shared


def test_xp_is_numpy_on_the_host(fab):
    assert fab.to_xp("valid").tolist() == expected(fab.box, fab.ncomp).tolist()
    assert isinstance(fab.to_xp(), np.ndarray)


def test_xarray_has_solver_indices_as_coordinates(fab):
    pytest.importorskip("xarray")
    array = fab.to_xarray()
    assert np.shares_memory(array.values, fab.to_numpy())
    assert array.dims == (*"xyz"[: fab.box.dim], "component")
    for axis, low, high in zip("xyz", fab.whole.lo, fab.whole.hi, strict=False):
        assert array.coords[axis].values.tolist() == list(range(low, high + 1))
    corner = dict(zip("xyz", fab.box.lo, strict=False))
    assert array.sel(corner).values.tolist() == fab.at[fab.box.lo].tolist()
