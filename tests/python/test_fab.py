# SPDX-License-Identifier: BSD-2-Clause
"""Fabs: views of every part through every protocol, what comes in, and who holds what."""

import gc
import hashlib
import itertools
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from fields import GHOST, HI, KINDS, LO, box_of, expected, numbered, regions
from helpers import Memory, OldProducer, run_well

import pyceedlike
from pyceedlike import Box, Fab


def of_region(fab, region):
    """Return the model of a region: the values, and where the first lies in the memory."""
    box = fab.region(region)
    whole = fab.whole
    steps = [a - b for a, b in zip(box.lo, whole.lo, strict=True)]
    return expected(box, fab.ncomp), sum(s * t for s, t in zip(steps, fab.strides, strict=False))


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def fab(kind):
    return numbered(kind)


# --- Parts -----------------------------------------------------------------------------------


def test_regions_are_those_of_the_box_and_its_ghost_layers(kind):
    dim = kind[0]
    fab = numbered(kind)
    assert fab.box == fab.region("valid") == box_of(dim)
    assert fab.ghost == GHOST[:dim]
    low, high = zip(*GHOST[:dim], strict=True)
    assert fab.whole == Box(
        [a - g for a, g in zip(LO, low, strict=False)],
        [b + g for b, g in zip(HI, high, strict=False)],
    )
    for side in itertools.product((-1, 0, 1), repeat=dim):
        wanted = [
            {-1: (a - lo, a - 1), 0: (a, b), 1: (b + 1, b + hi)}[s]
            for s, a, b, (lo, hi) in zip(side, LO, HI, GHOST, strict=False)
        ]
        wanted = Box(*zip(*wanted, strict=True))
        found = fab.region(side)
        assert found == wanted or (found.is_empty and wanted.is_empty)


def test_sides_partition_the_whole_block(kind):
    fab = numbered(kind)
    seen = np.zeros(fab.whole.shape, int)
    for side in itertools.product((-1, 0, 1), repeat=kind[0]):
        axes = zip(fab.region(side).lo, fab.region(side).hi, fab.whole.lo, strict=True)
        seen[tuple(slice(a - c, b - c + 1) for a, b, c in axes)] += 1
    assert (seen == 1).all()


@pytest.mark.parametrize("order", ["xyzn", "nzyx"])
def test_every_part_is_a_view_of_the_same_memory(fab, order):
    base, item = address(fab.to_numpy()), np.dtype(fab.scalar).itemsize
    steps = [item * step for step in (*fab.strides[: fab.box.dim], fab.strides[3])]
    for region in regions(fab.box.dim):
        array = fab.to_numpy(region, order=order)
        wanted, first = of_region(fab, region)
        array = array.T if order == "nzyx" else array
        assert array.dtype == fab.scalar
        assert np.array_equal(array, wanted)
        if array.size:
            assert address(array) == base + item * first
            for axis, step in enumerate(steps):
                assert array.shape[axis] < 2 or array.strides[axis] == step


def test_components_are_ranges(fab):
    for first, last in itertools.combinations_with_replacement(range(fab.ncomp), 2):
        for components in (slice(first, last + 1), range(first, last + 1)):
            array = fab.to_numpy("valid", components)
            assert np.array_equal(array, expected(fab.box, fab.ncomp)[..., first : last + 1])
        assert fab.to_numpy(components=first).shape[-1] == 1


def test_components_count_from_their_base():
    fab = numbered((2, 3, "float64"))
    fab.component_base = 1
    assert fab.components(None) == range(1, 4)
    assert np.array_equal(fab.to_numpy("valid", 3), expected(fab.box, 3)[..., 2:])
    assert fab.at[-2, 0, 1] == expected(fab.box, 3)[0, 4, 0]
    with pytest.raises(IndexError, match=r"0 is outside of axis component, which is 1\.\.3"):
        fab.to_numpy(components=0)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"region": "ghost"}, pyceedlike.CeedIncompatibleError, "'whole', 'valid', 'interior'"),
        ({"region": (2, 0)}, pyceedlike.CeedDimensionError, "The side 2 of x is not -1, 0 or 1"),
        ({"region": (1,)}, pyceedlike.CeedDimensionError, "a side has 1 numbers"),
        ({"region": Box([-9, 0], [0, 0])}, pyceedlike.CeedDimensionError, "is not inside of"),
        ({"region": Box([0], [0])}, pyceedlike.CeedIncompatibleError, "direction"),
        ({"components": 3}, IndexError, "3 is outside of axis component"),
        ({"components": slice(0, 3, 2)}, IndexError, "a step of 2"),
        ({"order": "C"}, pyceedlike.CeedIncompatibleError, "order must be 'xyzn' or 'nzyx'"),
    ],
)
def test_a_part_that_is_not_there_is_an_error(arguments, error, text):
    with pytest.raises(error, match=text):
        numbered((2, 3, "float64")).to_numpy(**arguments)


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
    with pytest.raises(ValueError, match="read-only"):
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


# --- Solver indices --------------------------------------------------------------------------


def test_at_has_the_cell_of_each_index(fab):
    wanted = expected(fab.whole, fab.ncomp)
    for place in itertools.product(*map(range, wanted.shape)):
        index = tuple(i + lo for i, lo in zip(place, (*fab.whole.lo, 0), strict=True))
        assert fab.at[index] == wanted[place]


def test_bounds_of_exactly_0_are_bounds_in_every_direction(kind):
    dim, ncomp, scalar = kind
    fab = pyceedlike.Ceed(scalar=scalar).Fab(Box([-2, -1, -3][:dim], [1, 3, 2][:dim]), ncomp,
                                             GHOST[:dim])  # fmt: skip
    fab.set_value(0.0)
    wanted = expected(fab.whole, ncomp)
    fab.to_numpy()[...] = wanted
    for axis, low in enumerate(fab.whole.lo):
        part = (slice(None),) * axis
        for key, places in ((slice(0, None), slice(-low, None)), (slice(None, 0), slice(-low)),
                            (slice(0, 1), slice(-low, 1 - low)), (slice(-1, 0), [-low - 1]),
                            (slice(0, -2, -1), [-low, -low - 1]), ([0], [-low])):  # fmt: skip
            assert np.array_equal(fab.at[(*part, key)], wanted[(*part, places)])


def test_at_is_one_of_a_kind_for_all_arrays():
    fab = numbered((1, 1, "float64"))
    assert type(fab.at) is type(fab.at(fab.to_numpy())) is pyceedlike.At


def test_at_is_the_same_for_subclasses_of_tensors():
    torch = pytest.importorskip("torch")

    class Named(torch.Tensor):
        """As libraries over PyTorch have them."""

    fab = numbered((2, 3, "float64"))
    key = (-2, slice(2, -3, -1), [0, 1])
    array = fab.at(fab.to_torch().as_subclass(Named))[key]
    assert np.array_equal(array.as_subclass(torch.Tensor).numpy(), fab.at[key])


def test_at_is_no_sequence_that_counts_from_0():
    fab = numbered((1, 1, "float64"))
    with pytest.raises(TypeError):
        iter(fab.at)
    with pytest.raises(TypeError):
        _ = 5.0 in fab.at


@pytest.mark.parametrize("components", [1, slice(1, 3), None], ids=str)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_view_keeps_its_components_when_they_count_from_another_base(components, read_only):
    fab = numbered((2, 3, "float64"))
    fab.component_base = 2**31 - 3 if components is None else 0
    view = fab.view(components=components, read_only=read_only)
    wanted = np.from_dlpack(view).copy()
    count = len(view.components)
    first = view.components.start - fab.component_base
    fab.component_base = 5
    assert np.array_equal(np.from_dlpack(view), wanted)
    assert view.components == range(5 + first, 5 + first + count)


@pytest.mark.parametrize("components", [[0, 1], [0], range(0), slice(1, 1), "x", ()])
def test_what_is_no_component_is_an_error(components):
    fab = numbered((1, 3, "float64"))
    with pytest.raises(IndexError, match="components"):
        fab.view(components=components)


@pytest.mark.parametrize("side", [1, np.int64(-1), {-1, 1}, {0: 1, 1: 1}], ids=str)
def test_a_side_has_a_number_for_each_direction(side):
    fab = numbered((2, 1, "float64"))
    with pytest.raises((TypeError, pyceedlike.CeedDimensionError), match="a side"):
        fab.view(side)


def test_fabs_are_equal_where_they_are_one():
    fab = numbered((1, 1, "float64"))
    again = Fab.from_handle(fab.handle)
    assert fab == again
    assert hash(fab) == hash(again)
    assert fab != numbered((1, 1, "float64"))
    assert fab != fab.handle


def test_a_side_may_be_an_array():
    fab = numbered((2, 1, "float64"))
    side = np.array([-1, 0])
    assert np.array_equal(fab.to_numpy(side), fab.to_numpy((-1, 0)))
    fab.set_value(5.0, side)
    assert (fab.to_numpy((-1, 0)) == 5.0).all()


def test_at_sets_what_it_names():
    fab = numbered((2, 3, "float64"))
    fab.at[-2, -6:0:2] = -1.0
    wanted = expected(fab.whole, 3)
    wanted[1, 0:6:2] = -1.0
    assert np.array_equal(fab.to_numpy(), wanted)
    fab.at[[-3, 0], [3, -6], 2] = [5.0, 6.0]
    wanted[[0, 3], [9, 0], 2] = [5.0, 6.0]
    assert np.array_equal(fab.to_numpy(), wanted)


def test_at_is_a_view_where_numpys_index_is():
    fab = numbered((2, 1, "float64"))
    assert np.shares_memory(fab.at[-1:1, -4:0:2], fab.to_numpy())
    assert not np.shares_memory(fab.at[[-1, 0]], fab.to_numpy())


def libraries():
    def torch(fab, **part):
        return pytest.importorskip("torch") and fab.to_torch(**part)

    def jax(fab, **part):
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
        return fab.to_jax(**part, copy=True)

    return [torch, jax, lambda fab, **part: fab.to_numpy(**part)]


KEYS = [
    -2,
    (slice(-3, 0), 0, 1),
    (slice(None, None, -1), slice(3, -6, -2)),
    (..., 2),
    ([-3, 0, 0], [3, -6, 1]),
    ([-3, 0], slice(-4, 1), 1),
    (0, slice(-4, 1), [1, 2]),
    ([-3, 0], slice(0, -5, -1), 0),
    (slice(0, 0),),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("make", libraries(), ids=["torch", "jax", "numpy"])
def test_at_means_the_same_in_every_library(make, key):
    fab = numbered((2, 3, "float64"))
    wanted = fab.to_numpy()[fab.at.positions(key)]
    assert np.array_equal(np.asarray(fab.at(make(fab))[key]), wanted)
    assert np.array_equal(fab.at[key], wanted)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_at_sets_a_tensor_as_it_sets_an_array(key):
    pytest.importorskip("torch")
    fab = numbered((2, 3, "float64"))
    array, tensor = fab.to_numpy(copy=True), fab.to_torch(copy=True)
    values = np.arange(float(array[fab.at.positions(key)].size)).reshape(
        array[fab.at.positions(key)].shape
    )
    fab.at(array)[key] = values
    fab.at(tensor)[key] = sys.modules["torch"].from_numpy(values)
    assert np.array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("region", ["valid", (-1, 0), Box([-1, -2], [0, 0])], ids=str)
@pytest.mark.parametrize("order", ["xyzn", "nzyx"])
def test_at_knows_the_region_and_order_of_an_array(region, order):
    fab = numbered((2, 3, "float64"))
    box = fab.region(region)
    array = fab.to_numpy(region, slice(1, 3), order)
    cells = fab.at(array, region, slice(1, 3), order)
    index = (*box.hi, 2) if order == "xyzn" else (2, *box.hi[::-1])
    assert cells[index] == fab.at[(*box.hi, 2)]
    with pytest.raises(IndexError):
        cells[0 if order == "nzyx" else box.hi[0] + 1]


def test_an_array_of_another_shape_is_not_of_the_region():
    fab = numbered((2, 3, "float64"))
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"the array has shape \(3, 5, 3\)"):
        fab.at(fab.to_numpy("valid"))


def test_plain_arrays_keep_numpys_meaning(fab):
    wanted = expected(fab.whole, fab.ncomp)
    last = (-1,) * fab.box.dim
    assert np.array_equal(fab.to_numpy()[last], wanted[last])
    assert np.array_equal(fab.to_numpy()[last], fab.at[fab.whole.hi])


def test_minus_one_is_the_cell_or_an_error(fab):
    wanted = expected(fab.whole, fab.ncomp)
    for axis, low in enumerate(fab.whole.lo):
        key = (*(slice(None),) * axis, -1)
        if low <= -1:
            assert np.array_equal(fab.at[key], wanted[(*key[:-1], -1 - low)])
        else:
            with pytest.raises(IndexError, match="-1 is outside of axis"):
                fab.at[key]


def test_positions_index_what_can_not_be_set():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    fab = numbered((1, 1, "float64"))
    x = fab.to_jax(copy=True)
    y = x.at[fab.at.positions((slice(-1, 1), 0))].set(0.0)
    wanted = expected(fab.whole, 1)
    wanted[2:4] = 0.0
    assert np.array_equal(np.asarray(y), wanted)


# --- What comes in ---------------------------------------------------------------------------

SOURCES = {
    "C order": lambda a: a.copy(order="C"),
    "Fortran order": lambda a: a.copy(order="F"),
    "every second": lambda a: np.repeat(np.repeat(a, 2, 0), 2, -1)[::2, ..., ::2],
    "other axes first": lambda a: np.moveaxis(np.moveaxis(a, 0, -1).copy(), -1, 0),
}
COPIED = {
    "reversed": lambda a: a[::-1].copy()[::-1],
    "list": lambda a: a.tolist(),
}


def incoming(kind):
    """Return an array of a kind, lower bounds for it, and its ghost layers."""
    dim, ncomp, scalar = kind
    shape = (*(4, 3, 5)[:dim], ncomp)
    ghost = ((1, 0), (1, 1), (0, 2))[:dim]
    return np.arange(float(np.prod(shape)), dtype=scalar).reshape(shape), LO[:dim], ghost


@pytest.mark.parametrize("source", SOURCES)
def test_memory_with_positive_strides_is_adopted(source, kind):
    values, lo, ghost = incoming(kind)
    array = SOURCES[source](values)
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost)
    assert fab.exchange.shared
    assert (fab.scalar, fab.ncomp, fab.ghost) == (kind[2], kind[1], ghost)
    assert fab.whole == Box(lo, [i + n - 1 for i, n in zip(lo, values.shape, strict=False)])
    assert np.array_equal(fab.to_numpy(), values)
    assert np.shares_memory(fab.to_numpy(), array)
    fab.at[fab.box.hi] = 99.0
    corner = [i - j for i, j in zip(fab.box.hi, lo, strict=True)]
    assert (array[tuple(corner)] == 99.0).all()


@pytest.mark.parametrize("source", COPIED)
def test_other_memory_is_copied_and_says_so(source, kind):
    values, lo, ghost = incoming(kind)
    array = COPIED[source](values)
    ceed = pyceedlike.Ceed(scalar=kind[2])
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost, ceed=ceed)
    assert not fab.exchange.shared
    assert fab.exchange.reason.startswith("values copied: ")
    assert np.array_equal(fab.to_numpy(), values)
    with pytest.raises(pyceedlike.CeedCopyError, match="copy=False"):
        Fab.from_dlpack(array, lo=lo, ceed=ceed, copy=False)


def test_a_broadcast_array_is_copied_or_refused(kind):
    values, lo, _ = incoming(kind)
    array = np.broadcast_to(values[:1], values.shape)
    fab = Fab.from_dlpack(array, lo=lo)
    assert not fab.exchange.shared
    assert np.array_equal(fab.to_numpy(), array)
    with pytest.raises(pyceedlike.CeedCopyError, match="share memory"):
        Fab.from_dlpack(array, lo=lo, copy=False)


@pytest.mark.parametrize("dtype", [">f8", "i8", "c16", "f2", "?"])
def test_other_types_are_errors(kind, dtype):
    values, lo, ghost = incoming(kind)
    with pytest.raises((BufferError, TypeError)):
        Fab.from_dlpack(values.astype(dtype), lo=lo, ghost=ghost)


def test_another_precision_is_an_error_that_names_both(kind):
    values, lo, ghost = incoming(kind)
    (other,) = {"float32", "float64"} - {kind[2]}
    with pytest.raises(BufferError, match=rf"{kind[2]}.*{other}"):
        Fab.from_dlpack(values, lo=lo, ghost=ghost, ceed=pyceedlike.Ceed(scalar=other))


def test_read_only_memory_stays_so(kind):
    array, lo, ghost = incoming(kind)
    array.flags.writeable = False
    fab = Fab.from_dlpack(array, lo=lo, ghost=ghost)
    assert fab.exchange.shared
    with pytest.raises(pyceedlike.CeedAccessError):
        fab.set_value(1.0)
    assert Fab.from_dlpack(array, lo=lo, writable=True).exchange.shared is False


def test_reversed_memory_ends_no_interpreter():
    run_well("""
import itertools, numpy as np, pyceedlike
try:
    import torch
except ImportError:
    torch = None
for dim, ncomp in itertools.product((1, 2, 3), (1, 3)):
    shape = (*(4, 3, 5)[:dim], ncomp)
    values = np.arange(float(np.prod(shape))).reshape(shape)
    for axis in range(dim + 1):
        x = np.flip(values, axis)
        lo, ghost = [-2, 0, 3], [(1, 0), (1, 1), (0, 2)]
        fab = pyceedlike.Fab.from_dlpack(x, lo=lo[:dim], ghost=ghost[:dim])
        assert np.array_equal(fab.to_numpy(), x)
        if torch:
            assert np.array_equal(torch.from_dlpack(fab).numpy(), x)
            assert torch.from_dlpack(fab.view("valid")).numpy().size == fab.box.size * ncomp
""")


@pytest.mark.parametrize("order", ["xyzn", "nzyx"])
def test_memory_goes_out_and_comes_back_with_its_bounds(fab, order):
    dim = fab.box.dim
    again = Fab.from_dlpack(
        fab.view(order=order), lo=fab.whole.lo, ghost=GHOST[:dim], order=order, copy=False
    )
    assert (again.box, again.ghost, again.ncomp) == (fab.box, fab.ghost, fab.ncomp)
    assert again.strides == fab.strides
    fab.at[again.box.lo] = 42.0
    assert (again.at[fab.box.lo] == 42.0).all()


def test_a_jax_array_comes_in_read_only(jax):
    x = jax.numpy.arange(8.0).reshape(4, 2)
    fab = Fab.from_dlpack(x, lo=[-2])
    assert fab.exchange.shared
    assert fab.at[-2].tolist() == [0.0, 1.0]
    with pytest.raises(pyceedlike.CeedAccessError):
        fab.set_value(0.0)


def test_nodes_come_in_as_such():
    fab = Fab.from_dlpack(np.zeros((3, 4, 1)), lo=[0, 0], centring=[1, 0])
    assert fab.box == Box([0, 0], [2, 3], [1, 0])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"lo": [0]}, r"the source has 3 axes; lo has 1 directions, which makes 2"),
        ({"lo": [0, 0, 0]}, r"makes 4 axes with that of the components: x\[\.\.\., None\] adds"),
        ({"lo": [0, 0], "ghost": 2}, "is less than empty in y"),
        ({"lo": [0, 0], "ghost": -1}, "-1"),
        ({"lo": [0, 2**31 - 1]}, "3 indices of y from 2147483647 on"),
    ],
)
def test_bounds_that_do_not_fit_are_errors(arguments, text):
    with pytest.raises(pyceedlike.CeedDimensionError, match=text):
        Fab.from_dlpack(np.zeros((4, 3, 2)), **arguments)


@pytest.mark.parametrize("nx", [-1, 0, 1, 50])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_bounds_are_fortrans(dim, ncomp, nx):
    """U(-2:nx+2, -1:1, 0:4) has the bounds -2 and nx+2 and nx+5 elements in x."""
    array = np.zeros((*(nx + 5, 3, 5)[:dim], ncomp), order="F")
    fab = Fab.from_dlpack(array, lo=[-2, -1, 0][:dim], ghost=[2, (1, 0), (0, 3)][:dim])
    assert fab.whole == Box([-2, -1, 0][:dim], [nx + 2, 1, 4][:dim])
    assert fab.box == Box([0, 0, 0][:dim], [nx, 1, 1][:dim])
    assert fab.to_numpy().shape == array.shape
    assert fab.exchange.shared


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ncomp", [1, 3])
def test_openpmd_writes_what_the_fab_holds(tmp_path, dim, ncomp):
    io = pytest.importorskip("openpmd_api")
    fab = numbered((dim, ncomp, "float64"))
    shape = list(fab.whole.shape[::-1])
    path = str(tmp_path / "field.json")
    series = io.Series(path, io.Access.create)
    mesh = series.write_iterations()[0].meshes["u"]
    mesh.axis_labels = list("zyx"[-dim:])
    record = mesh[io.Mesh_Record_Component.SCALAR]
    record.reset_dataset(io.Dataset(np.dtype("float64"), shape))
    record.store_chunk(fab.to_numpy(order="nzyx")[-1])
    series.close()
    series = io.Series(path, io.Access.read_only)
    record = series.iterations[0].meshes["u"][io.Mesh_Record_Component.SCALAR]
    chunk = record.load_chunk()
    series.flush()
    assert np.array_equal(chunk, expected(fab.whole, ncomp)[..., -1].T)


# --- Values and vectors ----------------------------------------------------------------------


def test_set_value_sets_a_part():
    fab = numbered((2, 3, "float64"))
    fab.set_value(-1.0, (-1, 0), slice(1, 3))
    wanted = expected(fab.whole, 3)
    wanted[0, 2:7, 1:3] = -1.0
    assert np.array_equal(fab.to_numpy(), wanted)


def test_copy_from_copies_what_both_have(kind):
    dim, ncomp, scalar = kind
    source = numbered(kind)
    fab = pyceedlike.Ceed(scalar=scalar).Fab(source.box.shift([1] * dim), ncomp)
    fab.set_value(-1.0)
    fab.copy_from(source)
    common = fab.whole & source.whole
    wanted = np.full_like(fab.to_numpy(), -1.0)
    part = tuple(slice(a - c, b - c + 1)
                 for a, b, c in zip(common.lo, common.hi, fab.whole.lo, strict=True))  # fmt: skip
    wanted[part] = expected(common, ncomp)
    assert np.array_equal(fab.to_numpy(), wanted)


def test_copy_from_copies_components_to_others():
    source, fab = numbered((1, 3, "float64")), pyceedlike.Ceed().Fab(box_of(1), 2)
    fab.set_value(0.0)
    fab.copy_from(source, "valid", components=2, first=1)
    assert np.array_equal(fab.to_numpy()[:, 1], expected(source.box, 3)[:, 2])
    assert (fab.to_numpy()[:, 0] == 0).all()
    with pytest.raises(TypeError, match="a Fab is wanted here, not ndarray"):
        fab.replace(np.zeros(3))


def test_a_vector_and_a_fab_share_their_entries():
    fab = numbered((2, 3, "float64"))
    vector = fab.vector()
    assert len(vector) == fab.whole.size * 3
    assert vector.to_numpy().tolist() == fab.to_numpy(order="nzyx").ravel().tolist()
    again = Fab.from_vector(vector, fab.box, ghost=fab.ghost, ncomp=3)
    assert np.shares_memory(again.to_numpy(), fab.to_numpy())
    assert np.array_equal(again.to_numpy(), fab.to_numpy())


def test_a_fab_lies_in_a_vector_by_offset_and_strides():
    vector = pyceedlike.from_dlpack(np.arange(20.0))
    fab = Fab.from_vector(vector, Box([0, 0], [2, 1]), offset=1, strides=(2, 8, 1, 1), ncomp=1)
    assert fab.to_numpy()[..., 0].tolist() == [[1, 9], [3, 11], [5, 13]]
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="strides"):
        fab.vector()
    with pytest.raises(pyceedlike.CeedDimensionError):
        Fab.from_vector(vector, Box([0], [20]))


@pytest.mark.parametrize("strides", [(), (1,), (1, 4, 16), (1, 4, 16, 64, 128)])
def test_there_are_four_strides(strides):
    vector = pyceedlike.from_dlpack(np.zeros(64))
    with pytest.raises(pyceedlike.CeedDimensionError, match=f"strides has {len(strides)} numbers"):
        Fab.from_vector(vector, Box([0], [3]), strides=strides)


def test_a_handle_is_the_same_fab():
    fab = numbered((2, 3, "float32"))
    again = Fab.from_handle(fab.handle)
    assert (again.handle, again.scalar, again.box) == (fab.handle, "float32", fab.box)
    del fab
    assert np.array_equal(again.to_numpy("valid"), expected(again.box, 3).astype("float32"))


@pytest.mark.parametrize("make", [lambda: 0, lambda: 8, lambda: pyceedlike.Ceed().handle,
                                  lambda: pyceedlike.Ceed().Vector(3).handle])  # fmt: skip
def test_no_other_address_is_a_fab(make):
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        Fab.from_handle(make())


def test_what_a_fab_says_of_itself():
    fab = numbered((2, 3, "float64"))
    array = fab.to_numpy()
    assert repr(fab) == (
        "<pyceedlike.Fab of 3 float64 over Box((-2, -4), (0, 0)), ghost ((1, 0), (2, 3)), 1 export>"
    )
    assert str(fab).startswith("CeedFab ((-2,-4) (0,0) (0,0))\n")
    view = fab.view((-1, 0), 1)
    assert repr(view) == ("<pyceedlike.FabView of Box((-3, -4), (-3, 0)), components 1..1, xyzn>")
    assert (view.box, view.components, view.order) == (fab.region((-1, 0)), range(1, 2), "xyzn")
    assert array.size


# --- Lifetimes -------------------------------------------------------------------------------


ORDERS_OF_ENDS = list(itertools.permutations(["array", "view", "fab"]))


@pytest.mark.parametrize("names", ORDERS_OF_ENDS, ids="-".join)
def test_memory_lives_until_the_last_holder_goes(kind, names):
    values, lo, ghost = incoming(kind)
    memory = Memory(values.nbytes)
    source = np.frombuffer(memory, kind[2]).reshape(values.shape)
    alive = weakref.ref(memory)
    holders = {"fab": Fab.from_dlpack(source, lo=lo, ghost=ghost)}
    holders["view"] = holders["fab"].view("valid")
    holders["array"] = np.from_dlpack(holders["view"])
    del memory, source
    for name in names:
        assert alive() is not None
        if "array" in holders:
            holders["array"][...] = 3.0
        del holders[name]
    assert alive() is None


def test_views_make_no_memory():
    fab = pyceedlike.Ceed().Fab(Box([0], [10**6]))
    fab.set_value(0.0)
    assert address(fab.to_numpy()) == address(np.from_dlpack(fab.view("valid")))
    assert fab.export_count == 0
    views = [fab.to_numpy("interior") for _ in range(100)]
    assert fab.export_count == 100
    del views
    assert fab.export_count == 0


def test_fields_need_no_array_library_to_be_made():
    output = run_well("""
import sys, pyceedlike
fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]), ghost=1)
fab.set_value(2)
memoryview(fab.view("valid")).tolist(), fab.__dlpack__(), repr(fab)
mf = pyceedlike.Ceed().MultiFab([fab.box])
mf.set_value(1), list(mf)
print("numpy" in sys.modules)
""")
    assert output.strip() == "False"
