# SPDX-License-Identifier: BSD-2-Clause
"""Solver indices of an array over a box, and the positions in the array that they mean.

A solver counts from the lower bound of its box, which may be negative; an array counts from 0, and
takes a negative index for one from the end. Here an index means a cell of the box or is an error.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import CeedAccessError, CeedDimensionError

if TYPE_CHECKING:
    import numpy

    from .fab import Fab
    from .fab_view import Components, Region


class Axis(NamedTuple):
    """An axis of an array, and the solver's indices along it: both bounds are inside."""

    name: str
    lo: int
    hi: int


def positions(key: Any, axes: tuple[Axis, ...]) -> tuple[Any, ...]:
    """Return what selects in an array of these axes the cells that a key of solver indices means.

    A key is what NumPy takes: integers, slices, arrays of integers and an Ellipsis, for as many
    axes as there are or less. A slice means the cells of range(start, stop, step), each of which is
    in the box. No number that is returned counts from the end, and a length is given for each axis.
    Raises IndexError, with the axis and its bounds, for a cell that the box has not, and for masks
    and new axes, which are no indices of a solver.
    """
    items = _fill(key if isinstance(key, tuple) else (key,), len(axes))
    return tuple(_position(item, axis) for item, axis in zip(items, axes, strict=True))


def _fill(items: tuple[Any, ...], count: int) -> list[Any]:
    """Return one item for each axis: whole axes where the Ellipsis stands, or else at the end."""
    places = [i for i, item in enumerate(items) if item is Ellipsis] or [len(items)]
    given = [item for item in items if item is not Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can have one Ellipsis ('...')")
    if len(given) > count:
        axes = "1 axis" if count == 1 else f"{count} axes"
        raise IndexError(f"{len(given)} indices for the {axes} of the array")
    place = places[0]
    return given[:place] + [slice(None)] * (count - len(given)) + given[place:]


def _position(item: Any, axis: Axis) -> Any:
    if isinstance(item, slice):
        return _slice(item, axis)
    if item is None:
        raise IndexError("a new axis (None) has no solver indices: add it to the result")
    if hasattr(item, "__len__") and getattr(item, "ndim", 1):
        return _array(item, axis)
    return _inside(_integer(item, axis), axis) - axis.lo


def _integer(item: Any, axis: Axis) -> int:
    if isinstance(item, bool) or "bool" in str(getattr(item, "dtype", "")):
        raise IndexError(f"{item!r} is no solver index of axis {axis.name}: {_MASKS}")
    try:
        return operator.index(item)
    except TypeError:
        raise IndexError(
            f"{item!r} is no solver index of axis {axis.name}: integers, slices and arrays of "
            "integers are"
        ) from None


_MASKS = "masks select in the plain array, as of to_numpy()"


def _inside(index: int, axis: Axis) -> int:
    if axis.lo <= index <= axis.hi:
        return index
    raise IndexError(f"{index} is outside of axis {axis.name}, {_bounds(axis)}")


def _bounds(axis: Axis) -> str:
    return f"which is {axis.lo}..{axis.hi}" if axis.lo <= axis.hi else "which is empty"


def _slice(item: slice, axis: Axis) -> slice:
    step = 1 if item.step is None else _integer(item.step, axis)
    if step == 0:
        raise IndexError(f"a slice of axis {axis.name} has step 0")
    first, last = (axis.lo, axis.hi + 1) if step > 0 else (axis.hi, axis.lo - 1)
    start = first if item.start is None else _integer(item.start, axis)
    stop = last if item.stop is None else _integer(item.stop, axis)
    cells = range(start, stop, step)
    if not cells:
        return _empty(min(first, last), start, stop, step, axis)
    for cell in (cells[0], cells[-1]):
        _inside(cell, axis)
    end = cells[-1] - axis.lo + (1 if step > 0 else -1)
    return slice(start - axis.lo, end if end >= 0 else None, step)


def _empty(least: int, start: int, stop: int, step: int, axis: Axis) -> slice:
    """Return a slice without cells; one with a bound outside was meant to have some."""
    for bound in (start, stop):
        if not 0 <= bound - least <= axis.hi + 1 - axis.lo:
            raise IndexError(
                f"{start}:{stop}:{step} has no cells, and {bound} is outside of axis {axis.name}, "
                f"{_bounds(axis)}: solver indices don't count from the end"
            )
    return slice(0, 0, step)


def _array(item: Any, axis: Axis) -> numpy.ndarray:
    import numpy

    array = numpy.asarray(item)
    if array.dtype == bool:
        raise IndexError(f"a mask is no solver index of axis {axis.name}: {_MASKS}")
    if array.size == 0:
        return numpy.zeros(array.shape, numpy.intp)
    if array.dtype.kind not in "iu":
        raise IndexError(f"indices of axis {axis.name} are integers; these are {array.dtype}")
    for extreme in (array.min(), array.max()):
        _inside(int(extreme), axis)
    return array.astype(numpy.intp) - axis.lo


class At:
    """The cells of a fab, or of an array of one, by solver indices.

    An index is one of NumPy's, but counts as the solver does: -1 is the cell -1, never the last
    one, and what is outside of the box is an IndexError. A slice start:stop:step has the cells of
    range(start, stop, step). Where NumPy's indexing gives a view, so does this. Cells of a fab are
    set from numbers, and from arrays of its precision: another one is a CeedIncompatibleError.

    >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]))
    >>> fab.set_value(0.0)
    >>> fab.at[-1:2] = 1.0
    >>> fab.at[[-2, -1, 5], 0]
    array([0., 1., 0.])
    """

    __slots__ = ("_array", "_axes", "_fab")

    __iter__ = None  # the protocol of old would count from 0 on
    __contains__ = None

    def __init__(self, fab: Fab, array: Any = None, axes: tuple[Axis, ...] | None = None) -> None:
        self._fab = fab
        self._array = array
        self._axes = axes

    def __call__(
        self,
        array: Any,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
    ) -> At:
        """Return the cells of an array that was made of this region of the fab, or is as large.

        The array is of any library; what is written is written as that library writes. Axes are
        those of the array. Raises CeedDimensionError for another shape.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]))
        >>> fab.set_value(2.0)
        >>> float(fab.at(np.sqrt(fab.to_numpy()))[-2, 0]) ** 2  # doctest: +ELLIPSIS
        2.0...
        """
        if not hasattr(array, "shape"):
            raise TypeError(f"an array is wanted here, not {type(array).__name__}")
        axes = self._fab._axes(region, components, order)
        shape = tuple(max(axis.hi - axis.lo + 1, 0) for axis in axes)
        if tuple(array.shape) != shape:
            raise CeedDimensionError(
                f"the array has shape {tuple(array.shape)}, this region of the fab has {shape}"
            )
        return At(self._fab, array, axes)

    def positions(self, key: Any) -> tuple[Any, ...]:
        """Return the plain index that means these cells: x.at[fab.at.positions(key)] for JAX.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]))
        >>> fab.at.positions(slice(-1, 2))
        (slice(1, 4, 1), slice(0, 1, 1))
        """
        return positions(key, self._axes or self._fab._axes("whole", None, "xyzn"))

    def _find(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the array, and the index that means these cells to its library."""
        places = self.positions(key)
        array = self._fab.to_numpy() if self._array is None else self._array
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(array, torch.Tensor):
            return array, places
        from .interop.torch import index

        return array, index(array, places)

    def __getitem__(self, key: Any) -> Any:
        array, places = self._find(key)
        return array[places]

    def __setitem__(self, key: Any, value: Any) -> None:
        array, places = self._find(key)
        if self._array is None:
            value = _for_fab(array, value)
        array[places] = value


def _for_fab(array: numpy.ndarray, value: Any) -> Any:
    """Return what is to be written to the array of a fab; raise where it can't or must not."""
    from .interop.numpy import values_for

    if not array.flags.writeable:
        raise CeedAccessError(
            "the fab is read-only, or readers hold it: an array of JAX keeps a read lease as long "
            "as it lives"
        )
    return values_for(value, array.dtype.name)
