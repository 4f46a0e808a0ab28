# SPDX-License-Identifier: BSD-2-Clause
"""Boxes and memory that are replaced while views of them live."""

import gc
import weakref

import numpy as np
import pytest
from fields import KINDS, box_of, expected, numbered
from helpers import Memory

import pyceedlike
from pyceedlike import Box, Fab


@pytest.fixture(params=KINDS)
def fab(request):
    return numbered(request.param)


def test_a_resize_under_views_is_an_error_that_counts_them(fab):
    views = [fab.to_numpy("valid") for _ in range(3)]
    with pytest.raises(pyceedlike.CeedAccessError, match=r"\b3 writable views live"):
        fab.resize(fab.box.grow(1))
    assert np.array_equal(views[0], expected(fab.box, fab.ncomp))
    del views
    fab.resize(fab.box.grow(1), ghost=2, ncomp=5)
    assert (fab.box, fab.ncomp) == (box_of(fab.box.dim).grow(1), 5)
    assert fab.ghost == ((2, 2),) * fab.box.dim


def test_views_keep_the_old_memory_where_they_may(fab):
    old, box, ncomp = fab.to_numpy("valid"), fab.box, fab.ncomp
    fab.resize(Box([0] * box.dim, [1] * box.dim), keep_views=True)
    fab.set_value(-1.0)
    assert np.array_equal(old, expected(box, ncomp))
    old[...] = 3.0
    assert (fab.to_numpy() == -1.0).all()
    assert fab.export_count == 0


def test_the_old_memory_goes_with_its_last_view():
    memory = Memory(8 * 6)
    alive = weakref.ref(memory)
    fab = Fab.from_dlpack(np.frombuffer(memory, float).reshape(3, 2), lo=[0])
    del memory
    old = fab.to_numpy()
    fab.resize(Box([0], [3]), keep_views=True)
    gc.collect()
    assert alive() is not None
    del old
    gc.collect()
    assert alive() is None


def test_a_view_knows_that_it_is_stale(fab):
    view = fab.view("valid")
    assert not view.is_stale
    before = fab.generation
    fab.resize(fab.box)
    assert view.is_stale
    assert fab.generation != before
    assert "stale" in repr(view)
    fab.set_value(1.0)
    for take in (view.__dlpack__, lambda: memoryview(view), lambda: np.from_dlpack(view),
                 lambda: view.__array_interface__):  # fmt: skip
        with pytest.raises(pyceedlike.CeedAccessError, match="The view is stale"):
            take()
    assert not fab.view("valid").is_stale


def test_the_same_address_with_another_box_is_another_field():
    memory = np.arange(12.0)
    first = Fab.from_dlpack(memory.reshape(4, 3, 1), lo=[-2, 0])
    fab = Fab.from_handle(first.handle)
    view = fab.view()
    before = fab.generation
    fab.replace(Fab.from_dlpack(memory.reshape(2, 6, 1), lo=[5, -7]))
    assert view.is_stale
    assert fab.generation != before
    assert first.box == fab.box == Box([5, -7], [6, -2])
    assert first.to_numpy().ctypes.data == memory.ctypes.data
    assert first.to_numpy().shape == (2, 6, 1)
    assert first.at[5, -2, 0] == 5.0


def test_a_replacement_under_views_is_an_error():
    fab = numbered((2, 1, "float64"))
    other = fab.ceed.Fab(Box([0], [3]))
    other.set_value(0.0)
    array, whole = fab.to_numpy(), fab.whole
    with pytest.raises(pyceedlike.CeedAccessError, match=r"\b1 writable view lives"):
        fab.replace(other)
    fab.replace(other, keep_views=True)
    assert np.array_equal(array, expected(whole, 1))
    assert np.shares_memory(fab.to_numpy(), other.to_numpy())


def test_memory_that_the_interface_has_shown_stays():
    fab = numbered((1, 1, "float64"))
    shown = fab.__array_interface__
    with pytest.raises(pyceedlike.CeedAccessError):
        fab.resize(Box([0], [3]))
    fab.resize(Box([0], [3]), ghost=0, keep_views=True)
    fab.set_value(0.0)
    with pytest.raises(pyceedlike.CeedAccessError, match="has shown the memory of before"):
        _ = fab.__array_interface__
    assert shown["shape"] == (4, 1)
    assert np.from_dlpack(fab).tolist() == [[0.0]] * 4


def test_an_import_is_not_resized_behind_jax(jax):
    fab = numbered((1, 1, "float64"))
    x = fab.to_jax()
    with pytest.raises(pyceedlike.CeedAccessError, match="lease"):
        fab.resize(Box([0], [3]))
    fab.resize(Box([0], [3]), keep_views=True)
    assert np.array_equal(np.asarray(x), expected(box_of(1).grow([(1, 0)]), 1))


# --- MultiFabs -------------------------------------------------------------------------------

OLD, NEW = [Box([0], [3]), Box([4], [7])], [Box([0], [1]), Box([2], [7])]


def field():
    mf = pyceedlike.Ceed().MultiFab(OLD, ghost=1)
    for fab in mf:
        fab.set_value(0.0)
        fab.to_numpy()[...] = expected(fab.whole, 1)
    return mf


def test_a_regrid_under_views_is_an_error_that_counts_them():
    mf = field()
    arrays = mf.to_numpy()
    with pytest.raises(pyceedlike.CeedAccessError, match="2 views of the fabs live"):
        mf.redefine(NEW)
    assert mf.boxes == OLD
    del arrays
    mf.redefine(NEW, ncomp=2, ghost=[(0, 3)])
    assert (mf.boxes, mf.ncomp, mf.ghost) == (NEW, 2, ((0, 3),))


def test_a_regrid_makes_views_stale():
    mf = field()
    view, before = mf[0].view(), mf.generation
    mf.redefine(NEW)
    assert view.is_stale
    assert mf.generation > before


def test_arrays_keep_what_was_before_a_regrid():
    mf = field()
    arrays = mf.to_numpy("valid")
    mf.redefine(NEW, keep_views=True)
    mf.set_value(0.0)
    for array, box in zip(arrays, OLD, strict=True):
        assert np.array_equal(array, expected(box, 1))


def test_a_regrid_keeps_the_values_that_are_copied():
    old = field()
    new = pyceedlike.Ceed().MultiFab(NEW)
    new.set_value(-1.0)
    new.copy_from(old)
    for fab in new:
        assert np.array_equal(fab.to_numpy(), expected(fab.box, 1))


def test_another_fab_in_its_place_makes_views_stale():
    mf = field()
    view = mf[1].view()
    mine = Fab.from_dlpack(np.zeros((4, 1)), lo=[4], ceed=mf.ceed)
    mf.set_fab(1, mine)
    assert view.is_stale
    assert np.shares_memory(mf[1].to_numpy(), mine.to_numpy())
    array = mf[1].to_numpy()
    with pytest.raises(pyceedlike.CeedAccessError):
        mf.set_fab(1, Fab.from_dlpack(np.zeros((4, 1)), lo=[4], ceed=mf.ceed))
    assert array.shape == (4, 1)
    with pytest.raises(pyceedlike.CeedDimensionError):
        mf.set_fab(0, mine)


ENDS = ["view", "array", "fab", "mf"]


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("step", [1, 3])
def test_memory_of_a_multifab_lives_until_its_last_holder_goes(shift, step):
    memory = Memory(8 * 4)
    alive = weakref.ref(memory)
    ceed = pyceedlike.Ceed()
    held = {"mf": ceed.MultiFab([Box([0], [3])])}
    source = np.frombuffer(memory, float).reshape(4, 1)
    held["mf"].set_fab(0, Fab.from_dlpack(source, lo=[0], ceed=ceed))
    del memory, source
    held["fab"] = next(iter(held["mf"]))
    held["view"] = held["fab"].view("valid")
    held["array"] = np.from_dlpack(held["view"])
    for i in range(4):
        assert alive() is not None
        if "array" in held:
            held["array"][...] = 3.0
        del held[ENDS[(shift + step * i) % 4]]
        gc.collect()
    assert alive() is None


def test_a_regrid_keeps_components_and_ghost_layers_unless_told():
    ghost = ((1, 2),)
    fab = pyceedlike.Ceed().Fab(Box([0], [3]), ncomp=5, ghost=ghost)
    fab.resize(Box([4], [9]))
    assert (fab.ncomp, fab.ghost) == (5, ghost)
    fab.resize(Box([4], [9]), ghost=0, ncomp=1)
    assert (fab.ncomp, fab.ghost) == (1, ((0, 0),))
    mf = pyceedlike.Ceed().MultiFab([Box([0], [3])], ncomp=5, ghost=ghost)
    mf.redefine([Box([4], [9])])
    assert (mf.ncomp, mf.ghost, mf[0].ghost) == (5, ghost, ghost)
    mf.redefine([Box([4], [9])], ncomp=1, ghost=0)
    assert (mf.ncomp, mf.ghost) == (1, ((0, 0),))
