# SPDX-License-Identifier: BSD-2-Clause
"""Fabs: parts, values, what they say of themselves, and who holds what."""

import itertools
import weakref

import numpy as np
import pytest
from fields import (
    GHOST,
    HI,
    LO,
    address,
    box_of,
    expected,
    incoming,
    numbered,
    of_region,
    regions,
)
from helpers import Memory, run_well

import pyceedlike
from pyceedlike import Box, Fab

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
