# SPDX-License-Identifier: BSD-2-Clause
"""Live MultiFabs of pyAMReX, which is started in a process of its own each time."""

import pytest
from helpers import run_well

pytest.importorskip("amrex.space3d", reason="pyAMReX comes with impactx-noacc")

BEGIN = """
import gc
import numpy as np
import amrex.space3d as amr
import pyceedlike
from pyceedlike import Box, MultiFab
amr.initialize([])

def theirs(centring=(0, 0, 0)):
    domain = amr.Box(amr.IntVect(-6, -4, 2), amr.IntVect(5, 3, 9), amr.IntVect(*centring))
    boxes = amr.BoxArray(domain)
    boxes.max_size(4)
    mf = amr.MultiFab(boxes, amr.DistributionMapping(boxes), 2, amr.IntVect(1, 0, 2))
    mf.set_val(0.0)
    return mf
"""


def run(code):
    run_well(BEGIN + code)


def test_boxes_ghosts_and_owners_are_those_of_pyamrex():
    run("""
mf = theirs(centring=(0, 1, 0))
ours = MultiFab.from_amrex(mf)
assert ours.scalar == "float64"
assert (len(ours), ours.ncomp, ours.ghost) == (mf.size, 2, ((1, 1), (0, 0), (2, 2)))
assert ours.owners == list(mf.dm().ProcessorMap())
for index, box in enumerate(ours.boxes):
    box_array = mf.box_array()[index]
    assert list(box.lo) == list(box_array.small_end)
    assert list(box.hi) == list(box_array.big_end)
    assert box.centring == (0, 1, 0)
for block, fab in zip(mf, ours, strict=True):
    assert list(fab.whole.lo) == list(block.fabbox().small_end)
    assert fab.box == ours.boxes[block.index]
""")


def test_writes_are_seen_on_both_sides():
    run("""
mf = theirs()
ours = MultiFab.from_amrex(mf)
mf.set_val(3.0)
assert all((fab.to_numpy() == 3.0).all() for fab in ours)
ours[0].at[-7, -4, 0, 1] = 5.0
(first,) = [mf.array(block).to_numpy()[0, 0, 0, 1] for block in mf if block.index == 0]
assert first == 5.0
ours.set_value(1.0)
assert mf.min(0) == mf.max(1) == 1.0
""")


def test_indices_are_the_solvers():
    run("""
mf = theirs()
for block in mf:
    low = list(block.fabbox().small_end)
    array = mf.array(block).to_numpy()
    i, j, k, n = (np.arange(m) + lo for m, lo in zip(array.shape, [*low, 0]))
    array[...] = i[:, None, None, None] + 31 * j[:, None, None] + 997 * k[:, None] + 40000 * n
for fab in MultiFab.from_amrex(mf):
    i, j, k = fab.box.hi
    assert fab.at[i, j, k, 1] == i + 31 * j + 997 * k + 40000
""")


def test_ours_keeps_theirs_alive():
    run("""
mf = theirs()
mf.set_val(7.0)
arrays = MultiFab.from_amrex(mf).to_numpy()
del mf
gc.collect()
others = [theirs() for _ in range(3)]
assert all((array == 7.0).all() for array in arrays)
""")


def test_ghosts_are_filled_as_pyamrex_fills_them():
    run("""
mf, other = theirs(), theirs()
ours = MultiFab.from_amrex(other)
for block, fab in zip(mf, ours, strict=True):
    values = np.random.default_rng(block.index).random(fab.box.shape + (2,))
    mf.array(block).to_numpy()[1:-1, :, 2:-2] = values
    fab.to_numpy("valid")[...] = values
domain = amr.Box(amr.IntVect(-6, -4, 2), amr.IntVect(5, 3, 9))
mf.fill_boundary(amr.Periodicity(amr.IntVect(12, 0, 8)))
ours.fill_ghosts([12, 0, 8])
for block, fab in zip(mf, ours, strict=True):
    assert np.array_equal(mf.array(block).to_numpy(), fab.to_numpy())
""")


def test_ours_is_handed_over_with_boxes_values_and_owners():
    run("""
boxes = [Box([-4, 0, 1], [-1, 3, 2]), Box([0, 0, 1], [3, 3, 2])]
ours = pyceedlike.Ceed().MultiFab(boxes, ncomp=2, ghost=[1, 0, 2])
ours.set_value(1.0)
ours[1].at[-1, 0, 3, 1] = 9.0
mf = ours.to_amrex()
assert [list(mf.box_array()[i].small_end) for i in range(2)] == [list(b.lo) for b in boxes]
assert list(mf.n_grow_vect) == [1, 0, 2]
arrays = [mf.array(block).to_numpy() for block in mf]
assert arrays[1][0, 0, 4, 1] == 9.0
assert arrays[0].sum() == arrays[0].size
arrays[0][...] = 4.0
assert (ours[0].to_numpy() == 4.0).all()
ours.set_value(2.0)
assert mf.min(0) == mf.max(1) == 2.0
""")


def test_what_amrex_has_not_is_not_handed_over():
    run("""
ours = pyceedlike.Ceed().MultiFab([Box([0] * 3, [3] * 3)], ghost=[(0, 1), 0, 0])
ours.set_value(1.0)
try:
    ours.to_amrex()
except pyceedlike.CeedIncompatibleError as error:
    assert "as many ghost layers on both sides" in str(error)
else:
    raise SystemExit("it was handed over")
two = pyceedlike.Ceed().MultiFab([Box([0] * 3, [3] * 3), Box([4] * 3, [7] * 3)])
two.set_value(1.0)
first, view = two[0], two[1].to_numpy()
try:
    two.to_amrex()
except pyceedlike.CeedAccessError as error:
    assert "1 view lives" in str(error)
else:
    raise SystemExit("it was handed over")
assert two[0].handle == first.handle and first.generation == 0
""")


def test_index_forms_of_pyamrex_are_those_of_the_table():
    """The table is in docs/fields.md."""
    run("""
domain = amr.Box(amr.IntVect(-4, 0, 0), amr.IntVect(3, 3, 3))
boxes = amr.BoxArray(domain)
boxes.max_size(4)
mf = amr.MultiFab(boxes, amr.DistributionMapping(boxes), 1, amr.IntVect(1))
for block in mf:
    array = mf.array(block).to_numpy()
    first = list(block.fabbox().small_end)[0]
    array[...] = (first + np.arange(array.shape[0]))[:, None, None, None]
ours = MultiFab.from_amrex(mf)
whole, _ = ours.gather(ours.hull.grow(1), with_ghosts=True)
there, here = (lambda *key: np.asarray(mf[(*key, 0, 0, 0)]).tolist(),
               lambda *key: np.asarray(whole.at[(*key, 0, 0, 0)]).tolist())
for theirs, solvers in [(3, 3), (-1j, -5), (1j, 4), (slice(None), slice(-4, 4)),
                        ((), slice(None)), (slice(-1j, 1j), slice(-5, 4))]:
    assert there(theirs) == here(solvers), (theirs, solvers)
assert here(-4) == -4.0 != there(-4)
assert there(slice(-4, 0)) == [] and here(slice(-4, 0)) == [-4, -3, -2, -1]
assert there(slice(0, 4, 2)) == [0, 1, 2, 3] and here(slice(0, 4, 2)) == [0, 2]
""")
