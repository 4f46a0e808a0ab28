# SPDX-License-Identifier: BSD-2-Clause
"""The cells of fabs, and of arrays made of them, by solver indices."""

import itertools
import sys

import numpy as np
import pytest
from fields import (
    GHOST,
    expected,
    numbered,
)

import pyceedlike
from pyceedlike import Box, CeedIncompatibleError, Fab


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


@pytest.mark.parametrize("value", [2, [1, 2.5], (3,), range(2), np.float32(0.5), np.int64(7)],
                         ids=repr)  # fmt: skip
def test_at_takes_numbers_of_python(value):
    fab = numbered((1, 1, "float64"))
    fab.at[-2:0, 0] = value
    assert np.array_equal(fab.at[-2:0, 0], np.broadcast_to(np.array(value, float), 2))


@pytest.mark.parametrize(
    ("scalar", "other"),
    [("float32", "float64"), ("float64", "float32"), ("float64", "int64"), ("float64", "complex")],
)
def test_at_converts_no_array_to_another_type(scalar, other):
    fab = numbered((1, 1, scalar))
    before = fab.to_numpy(copy=True)
    with pytest.raises(CeedIncompatibleError, match=rf"array is {other}.* x\.astype\('{scalar}'\)"):
        fab.at[-2:0, 0] = np.ones(2, other)
    assert np.array_equal(fab.to_numpy(), before)


def test_at_converts_no_tensor_to_another_type():
    torch = pytest.importorskip("torch")
    fab = numbered((1, 1, "float64"))
    with pytest.raises(CeedIncompatibleError, match=r"array is float32"):
        fab.at[-2:0, 0] = torch.ones(2)


@pytest.mark.parametrize("value", [1j, [1, 2j], np.complex128(2)], ids=repr)
def test_at_takes_no_complex_numbers(value):
    with pytest.raises(TypeError, match="real numbers are wanted; these are complex128"):
        numbered((1, 1, "float64")).at[-2:0, 0] = value


def test_writing_a_part_of_memory_without_values_names_the_remedy():
    ceed = pyceedlike.Ceed()
    fab, boxes = ceed.Fab(Box([0], [3])), ceed.MultiFab([Box([0], [3])])
    with pytest.raises(pyceedlike.CeedExportError, match=r"no values yet.* set_value\(0\.0\)"):
        fab.at[0:2] = 1.0
    with pytest.raises(pyceedlike.CeedExportError, match=r"no values yet.* set_value\(0\.0\)"):
        boxes.scatter({(4,): np.ones((1, 1, 4))})
    fab.set_value(0.0)
    fab.at[0:2] = 1.0
    assert fab.to_numpy().ravel().tolist() == [1, 1, 0, 0]


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
