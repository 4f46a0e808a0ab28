# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of fabs share: fabs of all kinds, whose every value tells its place."""

import itertools

import numpy as np
import pytest
from plotfiles import values_over

import pyceedlike
from pyceedlike import Box

#: Directions, components, precision; every extent and every ghost width is another one.
KINDS = [
    pytest.param((dim, ncomp, scalar), id=f"{dim}-D, {ncomp} of {scalar}")
    for dim in (1, 2, 3)
    for ncomp in (1, 3)
    for scalar in ("float64", "float32")
]
LO, HI, GHOST = (-2, -4, 3), (0, 0, 9), ((1, 0), (2, 3), (0, 4))


def box_of(dim):
    return Box(LO[:dim], HI[:dim])


def expected(box, ncomp):
    """Return what numbered() writes, with the axes [x, y, z, component]."""
    return values_over(box.lo, box.hi, ncomp).T


def numbered(kind):
    """Return a fab of a kind, in which every value tells its place."""
    dim, ncomp, scalar = kind
    fab = pyceedlike.Ceed(scalar=scalar).Fab(box_of(dim), ncomp, GHOST[:dim])
    fab.set_value(0.0)
    fab.to_numpy()[...] = expected(fab.whole, ncomp)
    return fab


def regions(dim):
    """Return everything that a region can be."""
    inner = Box([lo + 1 for lo in LO[:dim]], HI[:dim])
    cell = Box(LO[:dim], LO[:dim])
    sides = itertools.product((-1, 0, 1), repeat=dim)
    return ["whole", "valid", "interior", inner, cell, *sides]


def incoming(kind):
    """Return an array of a kind, lower bounds for it, and its ghost layers."""
    dim, ncomp, scalar = kind
    shape = (*(4, 3, 5)[:dim], ncomp)
    ghost = ((1, 0), (1, 1), (0, 2))[:dim]
    return np.arange(float(np.prod(shape)), dtype=scalar).reshape(shape), LO[:dim], ghost


def of_region(fab, region):
    """Return the model of a region: the values, and where the first lies in the memory."""
    box = fab.region(region)
    whole = fab.whole
    steps = [a - b for a, b in zip(box.lo, whole.lo, strict=True)]
    return expected(box, fab.ncomp), sum(s * t for s, t in zip(steps, fab.strides, strict=False))


def address(array):
    return array.__array_interface__["data"][0]
