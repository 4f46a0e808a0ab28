# SPDX-License-Identifier: BSD-2-Clause
"""Boxes and memory that are replaced while views of them live."""

import gc
import itertools
import weakref

import numpy as np
import pytest
from fields import box_of, expected, numbered
from helpers import Memory

import pyceedlike
from pyceedlike import Box, Fab


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


def test_the_same_address_with_another_box_is_another_field(kind):
    dim, ncomp, scalar = kind
    shape, other = (4, 3, 2)[:dim], (2, 1, 3)[:dim]
    memory = np.arange(72, dtype=scalar)

    def over_memory(shape, lo, ghost):
        part = memory[: np.prod(shape) * ncomp].reshape(*shape, ncomp)
        return Fab.from_dlpack(part, lo=lo[:dim], ghost=ghost[:dim])

    first = over_memory(shape, [-2, 0, 7], ((1, 0), (0, 1), (1, 0)))
    fab = Fab.from_handle(first.handle)
    view = fab.view()
    before = fab.generation
    fab.replace(over_memory(other, [5, -7, 0], ((0, 1), (0, 0), (1, 1))))
    assert view.is_stale
    assert fab.generation != before
    assert first.whole == fab.whole == Box([5, -7, 0][:dim], [6, -7, 2][:dim])
    assert first.box == Box([5, -7, 1][:dim], [5, -7, 1][:dim])
    assert first.to_numpy().ctypes.data == memory.ctypes.data
    wanted = memory[: np.prod(other) * ncomp].reshape(*other, ncomp)
    assert np.array_equal(first.to_numpy(), wanted)
    assert first.at[fab.whole.hi].tolist() == wanted[(-1,) * dim].tolist()


def test_a_view_is_stale_when_its_vector_has_other_memory(kind):
    _, ncomp, scalar = kind
    fab = numbered(kind)
    view, before = fab.view("valid"), fab.generation
    fab.vector().set_value(1.0)
    assert not view.is_stale
    other = np.full(fab.whole.size * ncomp, 7, scalar)
    fab.vector().take_from_dlpack(other, pyceedlike.USE_POINTER)
    assert view.is_stale
    assert fab.generation > before
    with pytest.raises(pyceedlike.CeedAccessError, match="The view is stale"):
        np.from_dlpack(view)
    assert np.shares_memory(fab.to_numpy("valid"), other)


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

GHOSTS = ((1, 0), (0, 2), (1, 1))


def boxes_of(dim, *cuts):
    """Return boxes one behind the other in x, from each number up to the next."""
    return [
        Box([low, -1, 3][:dim], [high - 1, 1, 4][:dim]) for low, high in itertools.pairwise(cuts)
    ]


def before_of(dim):
    return boxes_of(dim, 0, 4, 8)


def after_of(dim):
    return boxes_of(dim, 0, 2, 8)


@pytest.fixture
def field(kind):
    """A MultiFab of a kind, in which every value tells its place."""
    dim, ncomp, scalar = kind
    mf = pyceedlike.Ceed(scalar=scalar).MultiFab(before_of(dim), ncomp, GHOSTS[:dim])
    for fab in mf:
        fab.set_value(0.0)
        fab.to_numpy()[...] = expected(fab.whole, ncomp)
    return mf


def test_a_regrid_under_views_is_an_error_that_counts_them(kind, field):
    dim = kind[0]
    arrays = field.to_numpy("valid")
    with pytest.raises(pyceedlike.CeedAccessError, match="2 views of the fabs live"):
        field.redefine(after_of(dim))
    assert field.boxes == before_of(dim)
    assert np.array_equal(arrays[1], expected(field.boxes[1], kind[1]))
    del arrays
    ghost = ((0, 3), (1, 0), (2, 2))[:dim]
    field.redefine(after_of(dim), ncomp=2, ghost=ghost)
    assert (field.boxes, field.ncomp, field.ghost) == (after_of(dim), 2, ghost)


def test_a_regrid_makes_views_stale(kind, field):
    view, before = field[0].view(), field.generation
    field.redefine(after_of(kind[0]))
    assert view.is_stale
    assert field.generation > before


def test_arrays_keep_what_was_before_a_regrid(kind, field):
    arrays = field.to_numpy("valid")
    field.redefine(after_of(kind[0]), keep_views=True)
    field.set_value(0.0)
    for array, box in zip(arrays, before_of(kind[0]), strict=True):
        assert np.array_equal(array, expected(box, kind[1]))


def test_a_regrid_keeps_the_values_that_are_copied(kind, field):
    dim, ncomp, _ = kind
    new = field.ceed.MultiFab(after_of(dim), ncomp, ghost=1)
    new.set_value(-1.0)
    new.copy_from(field)
    for fab in new:
        assert np.array_equal(fab.to_numpy("valid"), expected(fab.box, ncomp))


def test_a_regrid_may_keep_fabs_of_the_old_boxes(kind, field):
    dim, ncomp, _ = kind
    new = field.ceed.MultiFab(boxes_of(dim, 0, 4, 6, 8), ncomp)
    new.set_value(-1.0)
    new.set_fab(0, field[0])
    new.copy_from(field)
    for fab in new:
        assert np.array_equal(fab.to_numpy("valid"), expected(fab.box, ncomp))


def test_another_fab_in_its_place_makes_views_stale(kind, field):
    _, ncomp, scalar = kind
    view = field[1].view()
    box = field.boxes[1]

    def mine():
        zeros = np.zeros((*box.shape, ncomp), scalar)
        return Fab.from_dlpack(zeros, lo=box.lo, ceed=field.ceed)

    fab = mine()
    field.set_fab(1, fab)
    assert view.is_stale
    assert np.shares_memory(field[1].to_numpy(), fab.to_numpy())
    array = field[1].to_numpy()
    with pytest.raises(pyceedlike.CeedAccessError):
        field.set_fab(1, mine())
    assert array.shape == (*box.shape, ncomp)
    with pytest.raises(pyceedlike.CeedDimensionError):
        field.set_fab(0, fab)


ENDS = ["view", "array", "fab", "mf"]


@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("step", [1, 3])
def test_memory_of_a_multifab_lives_until_its_last_holder_goes(kind, shift, step):
    dim, ncomp, scalar = kind
    box, ghost = before_of(dim)[0], GHOSTS[:dim]
    whole = box.grow(ghost)
    memory = Memory(whole.size * ncomp * np.dtype(scalar).itemsize)
    alive = weakref.ref(memory)
    ceed = pyceedlike.Ceed(scalar=scalar)
    held = {"mf": ceed.MultiFab([box], ncomp, ghost)}
    source = np.frombuffer(memory, scalar).reshape(*whole.shape, ncomp)
    held["mf"].set_fab(0, Fab.from_dlpack(source, lo=whole.lo, ghost=ghost, ceed=ceed))
    del memory, source
    held["fab"] = next(iter(held["mf"]))
    held["view"] = held["fab"].view("valid")
    held["array"] = np.from_dlpack(held["view"])
    for i in range(4):
        assert alive() is not None
        if "array" in held:
            held["array"][...] = 3.0
        del held[ENDS[(shift + step * i) % 4]]
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
