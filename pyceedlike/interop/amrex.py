# SPDX-License-Identifier: BSD-2-Clause
"""pyAMReX: its MultiFabs as ours over the same memory, and ours as its."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from .. import _exchange
from .._lib import CPU, CeedAccessError, CeedIncompatibleError
from ..box import Box
from ..ceed import Ceed
from ..fab import Fab
from ..multifab import MultiFab

_SCALAR = {"DOUBLE": "float64", "SINGLE": "float32"}


class _Memory:
    """A capsule as what has __dlpack__."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **request: Any) -> Any:
        return self.capsule


def adopt(mf: Any) -> MultiFab:
    """Return a MultiFab over the memory of one of pyAMReX."""
    amr = inspect.getmodule(mf)
    if not hasattr(amr, "ParallelDescriptor"):
        raise TypeError(f"a MultiFab of pyAMReX is wanted here, not {type(mf).__name__}")
    boxes = [_box_of(mf.box_array()[i]) for i in range(mf.size)]
    ghost = list(mf.n_grow_vect)
    ceed = Ceed(scalar=_SCALAR[str(amr.Config.precision)])
    owners = list(mf.dm().ProcessorMap())
    rank = amr.ParallelDescriptor.MyProc()
    ours = MultiFab(ceed, boxes, mf.n_comp, ghost, owners, rank)
    for block in mf:
        ours.set_fab(block.index, _fab_of(mf, block, ghost, ceed))
    return ours


def _box_of(box: Any) -> Box:
    kind = box.ix_type
    centring = [int(kind.node_centered(i)) for i in range(len(box.small_end))]
    return Box(list(box.small_end), list(box.big_end), centring)


def _fab_of(mf: Any, block: Any, ghost: list[int], ceed: Ceed) -> Fab:
    """Return a fab over a block; its array has the axes [component, z, y, x] in any directions."""
    array = mf.array(block)
    interface = array.__array_interface__
    if interface["typestr"] not in ("d", "<f8", "f", "<f4"):
        raise CeedIncompatibleError(f"this MultiFab holds {interface['typestr']!r}, not floats")
    box = _box_of(block.fabbox())
    axes = [0, *range(4 - box.dim, 4)]
    capsule = _exchange.borrow_address(
        (mf, array),
        interface["data"][0],
        False,
        {"float64": 8, "float32": 4}[ceed.scalar],
        tuple(interface["shape"][i] for i in axes),
        tuple(interface["strides"][i] for i in axes),
        CPU,
    )
    return Fab.from_dlpack(
        _Memory(capsule), lo=box.lo, ghost=ghost, centring=box.centring, order="nzyx", ceed=ceed,
        copy=False,
    )  # fmt: skip


def hand_over(ours: MultiFab) -> Any:
    """Return a MultiFab of pyAMReX that has these values, in memory that ours works on, too."""
    dim = ours.hull.dim
    amr = importlib.import_module(f"amrex.space{dim}d")
    if any(low != high for low, high in ours.ghost):
        raise CeedIncompatibleError(
            f"AMReX has as many ghost layers on both sides of a direction, not {ours.ghost}"
        )
    boxes = amr.BoxArray(amr.Vector_Box([_amrex_box(amr, box) for box in ours.boxes]))
    owners = amr.DistributionMapping(amr.Vector_int(ours.owners))
    ghost = amr.IntVect(*[low for low, _ in ours.ghost])
    theirs = amr.MultiFab(boxes, owners, ours.ncomp, ghost)
    fabs = {block.index: _fab_of(theirs, block, list(ghost), ours.ceed) for block in theirs}
    for index, fab in fabs.items():
        old = ours[index]
        fab.component_base = old.component_base
        fab.set_value(0.0)
        fab.copy_from(old)
    _check_unseen(ours)
    for index, fab in fabs.items():
        ours.set_fab(index, fab)
    return theirs


def _check_unseen(ours: MultiFab) -> None:
    """Raise before any fab is replaced where one could not be."""
    views = sum(fab.export_count for fab in ours)
    if views:
        raise CeedAccessError(
            f"to_amrex refused: {views} view{'s live' if views != 1 else ' lives'}; del them first"
        )


def _amrex_box(amr: Any, box: Box) -> Any:
    return amr.Box(*(amr.IntVect(*part) for part in (box.lo, box.hi, box.centring)))
