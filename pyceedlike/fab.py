# SPDX-License-Identifier: BSD-2-Clause
"""Fabs: memory with a box of indices, ghost layers around it, and components."""

from __future__ import annotations

import operator
from typing import Any

from ._exchange import FabBase
from ._lib import LIBRARIES, CeedDimensionError, CeedIncompatibleError
from ._object import Shared
from .box import (
    Box,
    Ghost,
    box_of,
    centring_bits,
    centring_of,
    ghost_from,
    ghost_of,
    ghost_struct,
    integers,
)
from .ceed import Ceed
from .fab_arrays import Arrays
from .fab_view import ORDERS, REGIONS, Components, FabView, Region, is_whole, order_of
from .index import At, Axis, positions
from .vector import Vector


def _one(component: Any) -> int:
    try:
        return operator.index(component)
    except TypeError:
        raise IndexError(
            f"components are None, a number, a slice or a range, not {component!r}"
        ) from None


class Fab(Shared, Arrays, FabBase):
    """A CeedFab: memory with a box of indices, ghost layers around it, and components.

    Two of them are equal where they are of one object in C.

    Made by Ceed.Fab(box), Fab.from_dlpack(x, lo=...), Fab.from_vector(v, box) and
    Fab.from_handle(address). It owns one reference of the C object; its memory lives as long as the
    fab or anything that shares it. Libraries that are handed the fab itself see the whole block,
    ghost layers included, with the axes [x, y, z, component] in as many directions as there are.

    A region is "whole", "valid" (the box), "interior" (the box without the layers in which a
    stencil as wide as the ghost layers would read them), a Box inside, or the side that ghost cells
    are on: -1, 0 or 1 for each direction, so that (-1, 0) is the face below in x. Components are
    all, one by its number, or a range; their axis is always there.

    >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2, 0], [5, 3]), ghost=1)
    >>> fab.set_value(0.0)
    >>> fab.at[-3:0, 0] = 7.0
    >>> float(fab.to_numpy().sum())
    21.0
    >>> fab
    <pyceedlike.Fab of 1 float64 over Box((-2, 0), (5, 3)), ghost ((1, 1), (1, 1)), 0 exports>
    """

    __slots__ = ("__weakref__",)

    _kind = "Fab"

    # Making fabs.

    @classmethod
    def _create(cls, ceed: Ceed, box: Box, ncomp: int, ghost: Any) -> Fab:
        library = ceed._library
        layers = ghost_struct(library, ghost_of(ghost, box_of(box).dim))
        return cls._of(
            library, library.lib.CeedFabCreate, ceed._box[0], box._pointer(library)[0], layers[0],
            ncomp,
        )  # fmt: skip

    @classmethod
    def _of(cls, library: Any, function: Any, *arguments: Any) -> Fab:
        """Return a fab over the reference that a function of C gives."""
        fab = library.get("CeedFab", function, *arguments)
        return cls._own(int(library.ffi.cast("uintptr_t", fab)), library.scalar == "float32")

    @classmethod
    def from_dlpack(
        cls,
        x: Any,
        /,
        *,
        lo: Any,
        ghost: Any = 0,
        centring: Any = 0,
        order: str = "xyzn",
        ceed: Ceed | None = None,
        copy: bool | None = None,
        writable: bool | None = None,
    ) -> Fab:
        """Return a fab over the memory of x, whose first entry has the indices lo.

        x has an axis for each direction and one for the components, as `order` says; `ghost` layers
        of it are not valid. Its memory is shared where copy is not True and the strides are
        positive; copy=None copies what can't be shared, and fab.exchange says why. What x may be,
        precision and writable are as Vector.from_dlpack() has them. Raises CeedDimensionError for
        another number of axes, CeedIncompatibleError for another type, CeedCopyError where
        copy=False would need a copy.

        >>> u = np.zeros((9, 6, 1))  # Fortran's u(-2:6, 0:5)
        >>> fab = pyceedlike.Fab.from_dlpack(u, lo=[-2, 0], ghost=1)
        >>> fab.box
        Box((-1, 1), (5, 4))
        >>> fab.at[-2, 0] = 5.0
        >>> float(u[0, 0, 0])
        5.0
        """
        lows = integers(lo, "lo")
        bits = centring_bits(centring_of(centring, len(lows)))
        library = LIBRARIES["float64"]  # whose structs are those of the other precision, too
        low = library.ffi.new("CeedInt[3]", lows)
        layers = ghost_struct(library, ghost_of(ghost, len(lows)))
        addresses = [int(library.ffi.cast("uintptr_t", struct)) for struct in (low, layers)]
        layout = (order_of(order), len(lows), addresses[0], bits, addresses[1])
        return cls._import(x, layout, ceed=ceed, copy=copy, writable=writable)

    @classmethod
    def from_vector(
        cls,
        vector: Vector,
        box: Box,
        *,
        ghost: Any = 0,
        ncomp: int = 1,
        offset: int = 0,
        strides: Any = None,
    ) -> Fab:
        """Return a fab over the entries of a vector, from `offset` on.

        strides, in entries, are of x, y, z and the component; None is compact, with x fastest.
        Raises CeedDimensionError where the fab reaches out of the vector.

        >>> v = pyceedlike.from_dlpack(np.arange(8.0))
        >>> fab = pyceedlike.Fab.from_vector(v, pyceedlike.Box([1, 1], [4, 2]))
        >>> float(fab.at[1, 2, 0])
        4.0
        """
        if not isinstance(vector, Vector):
            raise TypeError(
                f"a Vector is wanted here, not {type(vector).__name__}: Fab.from_dlpack() takes "
                "arrays"
            )
        library = vector._library
        layers = ghost_struct(library, ghost_of(ghost, box_of(box).dim))
        steps = library.ffi.NULL if strides is None else tuple(map(operator.index, strides))
        if strides is not None and len(steps) != 4:
            raise CeedDimensionError(
                f"strides has {len(steps)} numbers; of x, y, z and the component there are 4"
            )
        return cls._of(
            library, library.lib.CeedFabCreateFromVector, vector._cdata, offset, steps,
            box._pointer(library)[0], layers[0], ncomp,
        )  # fmt: skip

    # What it is.

    @property
    def box(self) -> Box:
        """The valid box."""
        return Box._of(self._get("CeedBox", "GetBox"))

    @property
    def whole(self) -> Box:
        """The box of all memory, ghost layers included."""
        return self.region("whole")

    @property
    def ghost(self) -> Ghost:
        """The layers around the valid box: a pair (low, high) for each direction."""
        return ghost_from(self._get("CeedGhost", "GetGhost"), self.box.dim)

    @property
    def ncomp(self) -> int:
        """The number of components."""
        return self._get("CeedInt", "GetNumComponents")

    @property
    def component_base(self) -> int:
        """The number of the first component: 0 unless it is set; Fortran's is 1."""
        return self._get("CeedInt", "GetComponentBase")

    @component_base.setter
    def component_base(self, base: int) -> None:
        self._call("SetComponentBase", base)

    @property
    def strides(self) -> tuple[int, ...]:
        """How many entries lie between neighbours in x, y, z and the component."""
        steps = self._library.ffi.new("CeedSize[4]")
        self._call("GetStrides", steps)
        return tuple(steps)

    @property
    def generation(self) -> int:
        """A number that grows when box or memory are replaced, also in a MultiFab or a vector."""
        return self._get("uint64_t", "GetGeneration")

    @property
    def export_count(self) -> int:
        """How many exports of the memory live."""
        return self._get("CeedSize", "GetExportCount")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fab) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        exports = self.export_count
        return (
            f"<pyceedlike.Fab of {self.ncomp} {self.scalar} over {self.box!r}, ghost {self.ghost}, "
            f"{exports} export{'s' * (exports != 1)}>"
        )

    def __str__(self) -> str:
        return self._print()

    # Parts.

    def region(self, region: Region) -> Box:
        """Return the box of a region.

        Raises CeedDimensionError for a box that is not inside and for sides of other directions.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([0, 0], [7, 7]), ghost=[1, 2])
        >>> fab.region((-1, 1))
        Box((-1, 8), (-1, 9))
        >>> fab.region("interior")
        Box((1, 2), (6, 5))
        """
        if isinstance(region, Box):
            return self._inside(region)
        if not isinstance(region, str):
            side = integers(region, "a side", self.box.dim, spread=False)
            return Box._of(self._get("CeedBox", "GetGhostRegion", side))
        if region not in REGIONS:
            raise CeedIncompatibleError(
                f"a region is 'whole', 'valid', 'interior', a Box or a side, not {region!r}"
            )
        return Box._of(self._get("CeedBox", "GetRegion", REGIONS[region]))

    def _inside(self, box: Box) -> Box:
        whole = self.whole
        if not box.is_empty and box not in whole:
            raise CeedDimensionError(f"{box!r} is not inside of the fab's {whole!r}")
        return box

    def components(self, components: Components) -> range:
        """Return the numbers of components, counted from component_base on.

        Raises IndexError for what is not there.
        """
        base = self.component_base
        axis = Axis("component", base, base + self.ncomp - 1)
        if components is None:
            return range(axis.lo, axis.hi + 1)
        if isinstance(components, range):
            components = slice(components.start, components.stop, components.step)
        if not isinstance(components, slice):
            components = _one(components)
            (place,) = positions(components, (axis,))
            return range(base + place, base + place + 1)
        (place,) = positions(components, (axis,))
        if place.start == place.stop:
            raise IndexError(f"{components} has no components, of which there is one at least")
        if place.step != 1:
            raise IndexError(f"components lie side by side: a step of {place.step} can't be taken")
        return range(base + place.start, base + place.stop)

    def view(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        read_only: bool = False,
    ) -> FabView:
        """Return a part of the fab, which shares its memory with whoever takes it.

        order is "xyzn" or "nzyx", the same memory with its axes the other way round.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2, 0], [5, 3]), ncomp=3, ghost=1)
        >>> fab.set_value(1.0)
        >>> np.from_dlpack(fab.view("valid", components=2)).shape
        (8, 4, 1)
        """
        name = REGIONS.get(region, -1) if isinstance(region, str) else -1
        box = address = 0
        if name < 0:
            box = self._box(region)
            address = int(self._library.ffi.cast("uintptr_t", box))
        first, count = 0, -1
        if components is not None:
            numbers = self.components(components)
            first, count = numbers.start - self.component_base, len(numbers)
        return FabView._of(self, name, address, first, count, order_of(order), read_only)

    @property
    def at(self) -> At:
        """The cells by solver indices: fab.at[-2:3, 0], fab.at(array)[-2:3, 0]."""
        return At(self)

    # Values.

    def set_value(
        self, value: float, region: Region = "whole", components: Components = None
    ) -> None:
        """Set all entries of a region to a value."""
        numbers = self.components(components)
        box = self._library.ffi.NULL if is_whole(region) else self._box(region)
        self._call("SetValue", box, numbers.start, len(numbers), value)

    def copy_from(
        self,
        other: Fab,
        region: Region | None = None,
        components: Components = None,
        first: int | None = None,
    ) -> None:
        """Copy the cells that both fabs have, ghost layers included, of a region or everywhere.

        `components` are those of the other fab, and go to components from `first` on here; None is
        the first one.

        >>> ceed = pyceedlike.Ceed()
        >>> a, b = ceed.Fab(pyceedlike.Box([0], [7])), ceed.Fab(pyceedlike.Box([5], [9]))
        >>> a.set_value(0.0)
        >>> b.set_value(1.0)
        >>> a.copy_from(b)
        >>> a.to_numpy().ravel()
        array([0., 0., 0., 0., 0., 1., 1., 1.])
        """
        source = self._peer(other)
        numbers = other.components(components)
        first = self.component_base if first is None else first
        box = self._library.ffi.NULL if region is None else self._box(region)
        library = self._library
        library.check(
            library.lib.CeedFabCopy(source, box, numbers.start, len(numbers), self._cdata, first)
        )

    def _box(self, region: Region) -> Any:
        return self.region(region)._pointer(self._library)

    def vector(self) -> Vector:
        """Return the vector of all entries, x fastest and the component slowest; it is shared.

        Raises CeedIncompatibleError, with the strides, where the memory is not compact.
        """
        library = self._library
        handle = library.ffi.new("CeedVector *")
        self._call("GetVector", handle)
        vector = Vector.from_handle(int(library.ffi.cast("uintptr_t", handle[0])))
        library.check(library.lib.CeedVectorDestroy(handle))
        return vector

    def resize(
        self, box: Box, ghost: Any = None, ncomp: int | None = None, *, keep_views: bool = False
    ) -> None:
        """Give the fab another box in new memory without values; views of the old one are stale.

        ghost and ncomp are as they were unless they are given. Raises CeedAccessError, with their
        number, while views live; with keep_views they keep the old memory until the last of them
        ends. Raises CeedDimensionError for another box or ncomp while a MultiFab has the fab.
        """
        library = self._library
        layers = self._get("CeedGhost", "GetGhost")
        if ghost is not None:
            layers = ghost_struct(library, ghost_of(ghost, box_of(box).dim))[0]
        ncomp = self.ncomp if ncomp is None else ncomp
        self._call("Resize", box_of(box)._pointer(library)[0], layers, ncomp, keep_views)

    def replace(self, by: Fab, *, keep_views: bool = False) -> None:
        """Give the fab box, components and memory of another one, which keeps them, too.

        So a code says that a field has moved. Raises CeedAccessError as resize() does.
        """
        self._call("Replace", self._peer(by), keep_views)

    def _axes(self, region: Region, components: Components, order: str) -> tuple[Axis, ...]:
        """Return the axes of an array of a region, with their solver indices."""
        box, numbers = self.region(region), self.components(components)
        axes = [Axis(*axis) for axis in zip("xyz", box.lo, box.hi, strict=False)]
        axes.append(Axis("component", numbers.start, numbers.stop - 1))
        return tuple(axes if order_of(order) == ORDERS["xyzn"] else reversed(axes))
