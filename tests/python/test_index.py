# SPDX-License-Identifier: BSD-2-Clause
"""Solver indices against a model: a dict from each cell of a box to its value."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyceedlike.index import Axis, positions

NAMES = "xyzn"


def axes_of(lows, highs):
    return tuple(Axis(*axis) for axis in zip(NAMES, lows, highs, strict=False))


def array_of(axes):
    """Return an array over a box, each value of which tells its place."""
    shape = [axis.hi - axis.lo + 1 for axis in axes]
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


def cells_of(axes):
    """Return the model: what is at each tuple of solver indices."""
    ranges = [range(axis.lo, axis.hi + 1) for axis in axes]
    return dict(zip(itertools.product(*ranges), array_of(axes).ravel().tolist(), strict=True))


def take(key, axes):
    return array_of(axes)[positions(key, axes)]


@st.composite
def boxes(draw, max_ndim=3):
    ndim = draw(st.integers(1, max_ndim))
    lows = draw(st.lists(st.integers(-9, 9), min_size=ndim, max_size=ndim))
    lengths = draw(st.lists(st.integers(1, 4), min_size=ndim, max_size=ndim))
    return axes_of(lows, [lo + n - 1 for lo, n in zip(lows, lengths, strict=True)])


numbers = st.integers(-14, 14)
slices = st.builds(
    slice, st.none() | numbers, st.none() | numbers, st.none() | st.sampled_from([-3, -2, -1, 1, 2])
)


def named(item, axis):
    """Return the solver indices that an item names, by what Python's range does."""
    if isinstance(item, int):
        return [item]
    step = 1 if item.step is None else item.step
    first, last = (axis.lo, axis.hi + 1) if step > 0 else (axis.hi, axis.lo - 1)
    start = first if item.start is None else item.start
    stop = last if item.stop is None else item.stop
    return list(range(start, stop, step))


@given(boxes(), st.data())
def test_integers_and_slices_give_the_cells_that_they_name_or_an_error(axes, data):
    items = [data.draw(numbers | slices) for _ in axes]
    wanted = list(itertools.product(*map(named, items, axes)))
    cells = cells_of(axes)
    try:
        given_cells = np.atleast_1d(take(tuple(items), axes)).ravel().tolist()
    except IndexError:
        inside = all(cell in cells for cell in wanted)
        assert not (wanted and inside)
    else:
        assert given_cells == [cells[cell] for cell in wanted]


@given(boxes(), st.data())
def test_arrays_of_indices_give_the_cells_that_they_name_or_an_error(axes, data):
    count = data.draw(st.integers(0, 4))
    lists = [data.draw(st.lists(numbers, min_size=count, max_size=count)) for _ in axes]
    wanted = list(zip(*lists, strict=True))
    cells = cells_of(axes)
    if all(cell in cells for cell in wanted):
        assert take(tuple(lists), axes).tolist() == [cells[cell] for cell in wanted]
    else:
        with pytest.raises(IndexError, match="is outside of axis"):
            take(tuple(lists), axes)


@given(boxes(), st.data())
def test_no_position_counts_from_the_end(axes, data):
    items = tuple(data.draw(numbers | slices | st.lists(numbers, max_size=3)) for _ in axes)
    try:
        found = positions(items, axes)
    except IndexError:
        return
    for position in found:
        if isinstance(position, slice):
            assert position.start >= 0
            assert position.stop is None or position.stop >= 0
        else:
            assert np.all(np.asarray(position) >= 0)


STRADDLES = axes_of([-3], [4])  # -3 .. 4


def test_bounds_of_exactly_0_are_bounds():
    assert take(slice(0, None), STRADDLES).tolist() == [3, 4, 5, 6, 7]
    assert take(slice(None, 0), STRADDLES).tolist() == [0, 1, 2]
    assert take(slice(0, 0), STRADDLES).tolist() == []
    assert take(slice(0, None, -1), STRADDLES).tolist() == [3, 2, 1, 0]
    assert take(slice(None, 0, -1), STRADDLES).tolist() == [7, 6, 5, 4]


def test_minus_one_is_a_ghost_cell_or_an_error():
    assert take(-1, STRADDLES) == 2
    with pytest.raises(IndexError, match=r"^-1 is outside of axis x, which is 0\.\.7$"):
        take(-1, axes_of([0], [7]))


def test_a_slice_from_the_end_is_an_error():
    for key in (slice(-4, 0), slice(2, -2), slice(-2, None), slice(None, -1)):
        with pytest.raises(IndexError, match="outside of axis x"):
            take(key, axes_of([0], [7]))


def test_a_slice_past_the_box_is_an_error():
    for key in (slice(0, 9), slice(9, None), slice(8, 20), slice(9, 9)):
        with pytest.raises(IndexError, match=r"outside of axis x, which is 0\.\.7"):
            take(key, axes_of([0], [7]))


def test_a_stop_that_a_step_jumps_over_may_lie_outside():
    assert take(slice(-3, 6, 3), STRADDLES).tolist() == [0, 3, 6]


def test_a_slice_to_before_the_first_cell_goes_down_to_it():
    assert take(slice(1, -1, -1), axes_of([0], [7])).tolist() == [1, 0]


def test_what_is_left_out_is_whole():
    axes = axes_of([-1, -1, 0], [1, 1, 1])
    whole = array_of(axes)
    assert np.array_equal(take((), axes), whole)
    assert np.array_equal(take(-1, axes), whole[0])
    assert np.array_equal(take((..., 1), axes), whole[..., 1])
    assert np.array_equal(take((0, ..., 1), axes), whole[1, :, 1])
    assert np.array_equal(take((0, 0, ..., 1), axes), whole[1, 1, 1])


@pytest.mark.parametrize(
    "indices",
    [[-3, 4], (-3, 4), range(-3, 5, 7), np.array([-3, 4]), np.array([-3, 4], "int8")],
    ids=lambda x: type(x).__name__,
)
def test_indices_may_be_any_sequence_of_integers(indices):
    assert take((indices,), STRADDLES).tolist() == [0, 7]


def test_unsigned_indices_of_64_bits_are_exact():
    assert take(np.array([1, 4], "uint64"), STRADDLES).tolist() == [4, 7]
    with pytest.raises(IndexError, match="18446744073709551615 is outside"):
        take(np.array([2**64 - 1], "uint64"), STRADDLES)


def test_arrays_without_indices_select_nothing():
    assert take([], STRADDLES).shape == (0,)
    assert take((np.zeros((0, 2), int), 0), axes_of([0, 0], [1, 1])).shape == (0, 2)


def test_scalar_arrays_are_integers():
    assert take(np.array(-3), STRADDLES) == 0
    assert take(np.int8(-3), STRADDLES) == 0


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (1.0, "1.0 is no solver index of axis x"),
        ("x", "indices of axis x are integers; these are <U1"),
        ([1.5], "indices of axis x are integers; these are float64"),
        (slice(0.5, None), "0.5 is no solver index"),
        (slice(None, None, 0), "a slice of axis x has step 0"),
        (True, "True is no solver index of axis x: masks select in the plain array"),
        (np.True_, "True.* is no solver index of axis x: masks"),
        ([True] * 8, "a mask is no solver index of axis x: masks select"),
        (None, "a new axis"),
        ((0, 0), "2 indices for the 1 axis of"),
        ((..., ...), "one Ellipsis"),
        (5, r"5 is outside of axis x, which is -3\.\.4"),
    ],
)
def test_what_is_no_index_is_an_error_that_says_so(key, text):
    with pytest.raises(IndexError, match=text):
        positions(key, STRADDLES)


def test_an_empty_axis_has_its_empty_slice_and_no_cell():
    axes = axes_of([2], [1])
    assert positions(slice(None), axes) == (slice(0, 0, 1),)
    with pytest.raises(IndexError, match="which is empty"):
        positions(2, axes)
