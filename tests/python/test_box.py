# SPDX-License-Identifier: BSD-2-Clause
"""Boxes against a model: the set of their indices."""

import array
import functools
import itertools

import numpy as np
import pytest
from helpers import Producer
from hypothesis import given
from hypothesis import strategies as st

import pyceedlike
from pyceedlike import Box


def cells(box):
    """Return the indices of a box."""
    ranges = [range(lo, hi + 1) for lo, hi in zip(box.lo, box.hi, strict=True)]
    return set(itertools.product(*ranges))


@st.composite
def boxes(draw, dim=None, centring=None):
    dim = dim or draw(st.integers(1, 3))
    numbers = st.lists(st.integers(-7, 7), min_size=dim, max_size=dim)
    lo = draw(numbers)
    hi = [a + draw(st.integers(-1, 4)) for a in lo]
    flags = st.lists(st.integers(0, 1), min_size=dim, max_size=dim)
    return Box(lo, hi, draw(flags) if centring is None else centring)


@st.composite
def pairs(draw):
    one = draw(boxes())
    return one, draw(boxes(one.dim, one.centring))


@given(boxes())
def test_a_box_has_its_indices(box):
    assert box.size == len(cells(box))
    assert box.is_empty == (not cells(box))
    assert all(index in box for index in cells(box))
    assert box.shape == tuple(b - a + 1 for a, b in zip(box.lo, box.hi, strict=True))
    assert tuple(b + 1 for b in box.hi) not in box


@given(pairs())
def test_what_two_boxes_share(two):
    a, b = two
    assert cells(a & b) == cells(a) & cells(b)
    assert (b in a) == (cells(b) <= cells(a))


@given(pairs())
def test_the_hull_has_both(two):
    a, b = two
    if a.is_empty or b.is_empty:
        return
    both = cells(a) | cells(b)
    lo = tuple(map(min, zip(*both, strict=True)))
    hi = tuple(map(max, zip(*both, strict=True)))
    assert a.hull(b) == Box(lo, hi, a.centring)


@given(boxes(), st.data())
def test_grow_and_shift_move_the_bounds(box, data):
    widths = [(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in box.lo]
    grown = box.grow(widths)
    assert grown.lo == tuple(a - g for a, (g, _) in zip(box.lo, widths, strict=True))
    assert grown.hi == tuple(b + g for b, (_, g) in zip(box.hi, widths, strict=True))
    by = [low for low, _ in widths]
    moved = {tuple(i + s for i, s in zip(index, by, strict=True)) for index in cells(box)}
    assert cells(box.shift(by)) == moved


@given(boxes(centring=0), st.integers(1, 4))
def test_refined_cells_lie_in_their_coarse_cell(box, ratio):
    fine = box.refine(ratio)
    assert {tuple(i // ratio for i in index) for index in cells(fine)} == cells(box)
    assert len(cells(fine)) == len(cells(box)) * ratio**box.dim


@given(boxes(), st.integers(1, 4))
def test_coarsened_boxes_cover(box, ratio):
    coarse = box.coarsen(ratio)
    for index in cells(box):
        low = tuple(i // ratio for i in index)
        high = tuple(-(-i // ratio) if c else i // ratio
                     for i, c in zip(index, box.centring, strict=True))  # fmt: skip
        assert low in coarse
        assert high in coarse


@given(boxes(centring=0))
def test_nodes_of_cells_and_back(box):
    nodes = box.convert([1] * box.dim)
    assert nodes == Box(box.lo, [b + 1 for b in box.hi], [1] * box.dim)
    assert nodes.convert([0] * box.dim) == box


@given(boxes())
def test_the_text_form_comes_back(box):
    assert Box.from_text(str(box)) == box
    assert hash(Box.from_text(str(box))) == hash(box)
    assert eval(repr(box)) == box


def test_the_text_form_is_amrexs():
    assert str(Box([-2, 0, 3], [5, 3, 4], [0, 1, 0])) == "((-2,0,3) (5,3,4) (0,1,0))"


SEQUENCES = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "int8": functools.partial(np.array, dtype="int8"),
    "array": functools.partial(array.array, "q"),
}


@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
@pytest.mark.parametrize("ncomp", [1, 3])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_bounds_come_as_any_sequence_of_integers(dim, ncomp, make):
    lo, hi, ghost = (-2, 5, 0)[:dim], (7, 7, 0)[:dim], ((1, 0), (2, 3), (0, 4))[:dim]
    box = Box(make(lo), make(hi))
    assert (box.lo, box.hi) == (lo, hi)
    assert box.shift(make(lo)).lo == tuple(2 * i for i in lo)
    assert box.grow(make(lo)).lo == (0,) * dim
    fab = pyceedlike.Ceed().Fab(box, ncomp, [make(widths) for widths in ghost])
    assert fab.ghost == ghost
    fab.set_value(1.0)
    assert fab.at[tuple(make([i]) for i in lo)].shape == (1, ncomp)


def test_bounds_on_a_device_are_refused_with_the_remedy():
    device = Producer(None, device=(2, 0))
    with pytest.raises(TypeError, match=r"lo lies in the memory of a device .*x\.tolist\(\)"):
        Box(device, [1, 1])
    with pytest.raises(TypeError, match="ghost lies in the memory of a device"):
        pyceedlike.Ceed().Fab(Box([0], [1]), ghost=device)


@pytest.mark.parametrize(
    ("lo", "hi", "error", "text"),
    [
        ([], [], ValueError, "lo has 0 numbers for 1 to 3 directions"),
        ([0] * 4, [1] * 4, ValueError, "lo has 4 numbers"),
        ([0, 0], [1], ValueError, "hi has 1 numbers for 2 directions"),
        ([2**31], [2**31], ValueError, "lo: 2147483648 does not fit in an int32"),
        ([0.5], [1], TypeError, "lo is made of integers, not of 0.5"),
        (["0"], [1], TypeError, "lo is made of integers, not of '0'"),
        ({0, 1}, [1, 1], TypeError, "lo is a sequence of integers, not a set"),
        ([0, 1], {1: 2, 3: 4}, TypeError, "hi is a sequence of integers, not a dict"),
    ],
)
def test_bounds_that_are_none_are_errors(lo, hi, error, text):
    with pytest.raises(error, match=text):
        Box(lo, hi)


def test_bounds_that_leave_the_integers_are_errors():
    box = Box([-(2**31)], [2**31 - 1])
    for leave in (lambda: box.grow(1), lambda: box.shift(1), lambda: box.refine(2)):
        with pytest.raises(pyceedlike.CeedDimensionError):
            leave()


def test_boxes_of_other_centring_have_nothing_in_common():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="centring"):
        Box([0], [3]) & Box([0], [3], [1])


@pytest.mark.parametrize("centring", [[2, 0], [0, -1], 3])
def test_centring_is_0_or_1(centring):
    source = np.zeros((4, 3, 1))
    for make in (
        lambda: Box([0, 0], [7, 7], centring),
        lambda: Box([0, 0], [7, 7]).convert(centring),
        lambda: pyceedlike.Fab.from_dlpack(source, lo=[0, 0], centring=centring),
    ):
        with pytest.raises(pyceedlike.CeedDimensionError, match="centring is 0 for cells and 1"):
            make()


def test_an_index_has_a_number_for_each_direction():
    assert 0 in Box([0], [1])
    assert [0, 1] in Box([0, 0], [1, 1])
    with pytest.raises(pyceedlike.CeedDimensionError, match="an index has 1 numbers for 2"):
        _ = 0 in Box([0, 0], [1, 1])


def test_a_text_ends_where_the_box_does():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="NUL"):
        Box.from_text("((0) (1) (0))\0junk")


def test_a_box_is_wanted():
    with pytest.raises(TypeError, match="a Box is wanted here, not int"):
        Box([0], [3]) & 3


def test_a_box_of_bytes_is_a_type_error():
    with pytest.raises(TypeError, match="from a str, not bytes"):
        pyceedlike.Box.from_text(b"((0,0) (1,1) (0,0))")
