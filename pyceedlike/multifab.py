# SPDX-License-Identifier: BSD-2-Clause
"""MultiFabs: the boxes of one level, and the fabs of this process."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _exchange
from ._lib import LIBRARIES, CeedDimensionError, Library
from ._object import Object
from .box import Box, Ghost, box_of, ghost_from, ghost_of, ghost_struct, integers
from .ceed import Ceed
from .fab import Fab
from .fab_view import Components, Region

if TYPE_CHECKING:
    import matplotlib.cm
    import numpy


class MultiFab(Object):
    """A CeedMultiFab: the boxes of one level, who owns each, and the fabs of this process.

    Made by Ceed.MultiFab(boxes), MultiFab.from_amrex(mf) and MultiFab.from_handle(address). The
    boxes are valid boxes of one centring, which may leave holes. mf[i] is the fab of the box i of
    the list. A loop is over the fabs that are here, whose numbers mf.local has; loops may nest and
    end early.

    >>> boxes = [pyceedlike.Box([-4], [-1]), pyceedlike.Box([0], [3])]
    >>> mf = pyceedlike.Ceed().MultiFab(boxes, ghost=1)
    >>> for index, fab in zip(mf.local, mf):
    ...     fab.set_value(index)
    >>> mf.fill_ghosts(period=8)
    >>> mf[0].to_numpy().ravel()
    array([1., 0., 0., 0., 0., 1.])
    """

    __slots__ = ()

    _kind = "MultiFab"

    # Making MultiFabs.

    def __init__(
        self, ceed: Ceed, boxes: Iterable[Box], ncomp: int, ghost: Any, owners: Any, rank: int
    ) -> None:
        super().__init__(
            ceed, "CeedMultiFabCreate", *_lists(ceed._library, boxes, owners, rank, ghost), ncomp
        )

    @classmethod
    def from_handle(cls, address: int) -> MultiFab:
        """Return a MultiFab over the CeedMultiFab at an address, with a reference of its own.

        Raises CeedIncompatibleError where no MultiFab of this library is.

        >>> mf = pyceedlike.Ceed().MultiFab([pyceedlike.Box([0], [3])])
        >>> len(MultiFab.from_handle(mf.handle))
        1
        """
        own, single = _exchange.refer_to_multifab(address)
        self = cls.__new__(cls)
        library = LIBRARIES["float32" if single else "float64"]
        box = library.ffi.new("CeedMultiFab *", library.ffi.cast("CeedMultiFab", own))
        self._box = library.ffi.gc(box, library.lib.CeedMultiFabDestroy)
        self._ceed = Ceed._of(library, library.lib.CeedMultiFabGetCeed, box[0])
        return self

    @classmethod
    def from_amrex(cls, mf: Any) -> MultiFab:
        """Return a MultiFab over the memory of a live MultiFab of pyAMReX.

        Boxes, ghost layers, components and owners are its own; writes are seen on both sides. It
        keeps `mf` alive, but what mf.clear() frees is gone for both.
        """
        from .interop.amrex import adopt

        return adopt(mf)

    # What it is.

    def __len__(self) -> int:
        return self._get("CeedInt", "GetNumBoxes")

    @property
    def boxes(self) -> list[Box]:
        """The valid boxes, of all processes."""
        return [Box._of(self._get("CeedBox", "GetBox", i)) for i in range(len(self))]

    @property
    def owners(self) -> list[int]:
        """The rank that owns each box."""
        return [self._get("CeedInt", "GetOwner", i) for i in range(len(self))]

    @property
    def rank(self) -> int:
        """The rank of this process."""
        return self._get("CeedInt", "GetRank")

    @property
    def local(self) -> list[int]:
        """The places in the list of the boxes that this process owns."""
        count = self._get("CeedInt", "GetNumLocal")
        return [self._get("CeedInt", "GetLocalIndex", i) for i in range(count)]

    @property
    def ncomp(self) -> int:
        """The number of components."""
        return self._get("CeedInt", "GetNumComponents")

    @property
    def ghost(self) -> Ghost:
        """The layers around each box: a pair (low, high) for each direction."""
        dim = self._get("CeedBox", "GetBox", 0).dim if len(self) else 3
        return ghost_from(self._get("CeedGhost", "GetGhost"), dim)

    @property
    def hull(self) -> Box:
        """The smallest box that contains all valid boxes."""
        return Box._of(self._get("CeedBox", "GetHull"))

    @property
    def level(self) -> int:
        """The level, 0 unless it is set."""
        return self._level()[0]

    @property
    def ratio(self) -> tuple[int, ...]:
        """How many cells lie along one of the next coarser level, in x, y and z."""
        return self._level()[1]

    def _level(self) -> tuple[int, tuple[int, ...]]:
        level, ratio = self._library.ffi.new("CeedInt *"), self._library.ffi.new("CeedInt[3]")
        self._call("GetLevel", level, ratio)
        return level[0], tuple(ratio)

    def set_level(self, level: int, ratio: Any = 1) -> None:
        """Set the level, and how fine it is beside the next coarser one, in x, y and z."""
        self._call("SetLevel", level, integers(ratio, "ratio", 3))

    @property
    def generation(self) -> int:
        """A number that grows with redefine()."""
        return self._get("uint64_t", "GetGeneration")

    def __repr__(self) -> str:
        count = len(self)
        return (
            f"<pyceedlike.MultiFab of {count} box{'es' * (count != 1)}, {self.ncomp} "
            f"{self.scalar}, level {self.level}>"
        )

    # Fabs.

    def __getitem__(self, index: int) -> Fab:
        count = len(self)
        place = operator.index(index)
        if not -count <= place < count:
            raise IndexError(f"box {place} of {count}")
        return self._fab(place % count)

    def __iter__(self) -> Iterator[Fab]:
        return iter(_exchange.list_fabs(self.handle, self.scalar == "float32", Fab))

    __reversed__ = None  # by numbers it would be over the fabs of all processes

    def _fab(self, index: int) -> Fab:
        library = self._library
        return Fab._of(library, library.lib.CeedMultiFabGetFab, self._box[0], index)

    def _load(self) -> None:
        """Bring in the values of all fabs, where they are read when they are asked for."""

    def set_fab(self, index: int, fab: Fab, *, keep_views: bool = False) -> None:
        """Put another fab in the place of one: memory of the solver, of the same valid box.

        Ghost layers may differ. The fab that was there is on its own from then on, and its views
        are stale. Raises CeedAccessError while such views live, unless they are to keep the old
        memory.
        """
        if not isinstance(fab, Fab):
            raise TypeError(f"a Fab is wanted here, not {type(fab).__name__}")
        handle = self._library.ffi.cast("CeedFab", fab.handle)
        self._call("SetFab", index, handle, keep_views)

    def redefine(
        self,
        boxes: Iterable[Box],
        ncomp: int | None = None,
        ghost: Any = None,
        owners: Any = None,
        rank: int = 0,
        *,
        keep_views: bool = False,
    ) -> None:
        """Give the MultiFab other boxes, with new fabs without values, as a regrid does.

        ncomp and ghost are as they were unless they are given. Fabs that were taken before are on
        their own from then on, and views of them are stale: take mf[i] anew. Raises
        CeedAccessError, with their number, while such views live; with keep_views they keep the
        old memory until the last of them ends.

        >>> mf = pyceedlike.Ceed().MultiFab([pyceedlike.Box([0], [3])])
        >>> old = mf[0]
        >>> mf.redefine([pyceedlike.Box([0], [7])])
        >>> old == mf[0], old.box, mf[0].box
        (False, Box((0,), (3,)), Box((0,), (7,)))
        """
        *lists, layers = _lists(self._library, boxes, owners, rank, 0 if ghost is None else ghost)
        if ghost is None:
            layers = self._get("CeedGhost", "GetGhost")
        ncomp = self.ncomp if ncomp is None else ncomp
        self._call("Redefine", *lists, layers, ncomp, keep_views)

    # Values.

    def set_value(self, value: float) -> None:
        """Set all entries of all fabs that are here, ghost layers included."""
        self._load()
        self._call("SetValue", value)

    def fill_ghosts(self, period: Any = None) -> None:
        """Fill ghost cells from valid cells of the boxes that are here, and of periodic images.

        period is the number of cells after which each direction repeats itself, 0 where it does
        not. Other ghost cells stay as they are. Which cells come from which is kept for the next
        call, as long as boxes, fabs and period are the same.
        """
        self._load()
        if not len(self):
            return
        ffi = self._library.ffi
        dim = self.hull.dim
        self._call("FillGhosts", ffi.NULL if period is None else integers(period, "period", dim))

    def copy_from(self, other: MultiFab) -> None:
        """Copy the valid cells that both MultiFabs have here: what a regrid keeps."""
        if not isinstance(other, MultiFab):
            raise TypeError(f"a MultiFab is wanted here, not {type(other).__name__}")
        self._load()
        other._load()
        library = self._library
        source = library.ffi.cast("CeedMultiFab", other.handle)
        library.check(library.lib.CeedMultiFabCopy(source, self._box[0]))

    def gather(
        self, box: Box | None = None, *, fill: float = math.nan, with_ghosts: bool = False
    ) -> tuple[Fab, numpy.ndarray]:
        """Return one fab over a box, the hull unless it is given, and where its cells come from.

        A cell is that of a valid box, else with `with_ghosts` that of a ghost layer, else `fill`.
        The second is an array of the cells: 2 valid, 1 ghost, 0 fill.

        >>> mf = pyceedlike.Ceed().MultiFab([pyceedlike.Box([0], [1]), pyceedlike.Box([4], [4])])
        >>> mf.set_value(1.0)
        >>> fab, cover = mf.gather(fill=0.0)
        >>> fab.to_numpy().ravel()
        array([1., 1., 0., 0., 1.])
        >>> cover
        array([2, 2, 0, 0, 2], dtype=int8)
        """
        from .interop.numpy import cover

        self._load()
        fab = self.ceed.Fab(self.hull if box is None else box, ncomp=self.ncomp)
        array = cover(fab.box.shape)
        pointer = self._library.ffi.from_buffer("CeedInt8[]", array.ravel("K"))
        self._call("Gather", with_ghosts, fill, fab._cdata, pointer)
        return fab, array

    # Machine learning.

    def batch(
        self, ghost: Any = 0, components: Components = None, order: str = "nzyx"
    ) -> dict[tuple[int, ...], numpy.ndarray]:
        """Return one compact array for each shape that the boxes which are here have.

        Its first axis counts blocks in the order of the list; the others are [component, z, y, x],
        as convolutions of PyTorch have them, or [x, y, z, component] for the order "xyzn". `ghost`
        layers around the valid cells come with them, as they are. The keys are the shapes of the
        valid boxes. Values are copied; scatter() brings others back.

        >>> boxes = [pyceedlike.Box([0, 0], [3, 1]), pyceedlike.Box([4, 0], [7, 1])]
        >>> mf = pyceedlike.Ceed().MultiFab(boxes, ghost=1)
        >>> mf.set_value(1.0)
        >>> {shape: tensor.shape for shape, tensor in mf.batch(ghost=1).items()}
        {(4, 2): (2, 1, 4, 6)}
        """
        from .interop.numpy import stack

        return {
            shape: stack([fab.to_numpy(fab.box.grow(ghost), components, order) for fab in fabs])
            for shape, fabs in self._by_shape().items()
        }

    def scatter(
        self,
        tensors: Mapping[tuple[int, ...], Any],
        ghost: Any = 0,
        components: Components = None,
        order: str = "nzyx",
    ) -> None:
        """Write the valid cells of arrays that are laid out as those of batch() are.

        They have `ghost` layers around the valid cells, which are left out, and are of any library
        with DLPack on the host. They may lie in the memory of the fabs. Raises CeedDimensionError
        for shapes that are not those of batch(); nothing was written then.
        """
        from .interop.numpy import blocks_of, write_batches

        if not isinstance(tensors, Mapping):
            raise TypeError(
                "a dict of arrays by shape, as batch() gives, is wanted here, not "
                f"{type(tensors).__name__}"
            )
        groups = self._by_shape()
        batches, places = [], []
        for shape, tensor in tensors.items():
            if shape not in groups:
                known = ", ".join(map(str, groups)) or "none"
                raise CeedDimensionError(f"no block here has the shape {shape}: there are {known}")
            views = [fab.to_numpy("valid", components, order) for fab in groups[shape]]
            layers = ghost_of(ghost, len(shape))
            what = f"the tensor of shape {shape}"
            batches.append(blocks_of(tensor, views, layers, order, what))
            places.append(views)
        write_batches(batches, places)

    def _by_shape(self) -> dict[tuple[int, ...], list[Fab]]:
        groups: dict[tuple[int, ...], list[Fab]] = {}
        for fab in self:
            groups.setdefault(fab.box.shape, []).append(fab)
        return groups

    # To other libraries.

    def to_numpy(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> list[numpy.ndarray]:
        """Return the arrays of the fabs that are here, which share the memory."""
        from .interop.numpy import share_parts

        return share_parts((fab._part(region, components, order) for fab in self), copy)

    def to_amrex(self) -> Any:
        """Return a MultiFab of pyAMReX with these boxes, whose memory this one has from now on.

        It has these values; from then on both sides see each other's writes. Raises CeedAccessError
        while views live, CeedIncompatibleError for ghost layers that differ from side to side.
        """
        from .interop.amrex import hand_over

        return hand_over(self)

    def plot(
        self,
        component: int | None = None,
        *,
        axes: Any = None,
        normal: str = "z",
        index: int | None = None,
        cell_size: Sequence[float] | float = 1.0,
        origin: Sequence[float] | float = 0.0,
        outlines: bool = True,
        **style: Any,
    ) -> matplotlib.cm.ScalarMappable:
        """Draw the valid cells of one component with matplotlib; return what colorbar() takes.

        In three directions it is the slice at `index` along `normal`, the middle if it is None.
        The cell i lies between origin + i cell_size and origin + (i + 1) cell_size, so that levels
        drawn one after the other on the same axes make a composite picture. Boxes have outlines of
        a colour for each level. style is what colours are chosen by: cmap, and vmin and vmax, or
        norm.
        """
        from .interop.matplotlib import Plane, draw

        plane = Plane(self.hull, normal, index, cell_size, origin)
        return draw(self, component, axes, plane, outlines, style)


def _lists(
    library: Library, boxes: Iterable[Box], owners: Any, rank: int, ghost: Any
) -> tuple[Any, ...]:
    """Return what C takes: the number of boxes, boxes, owners, rank, ghost layers."""
    boxes = list(map(box_of, boxes))
    structs = library.ffi.new("CeedBox[]", [box._pointer(library)[0] for box in boxes])
    ranks = library.ffi.NULL
    if owners is not None:
        ranks = [operator.index(owner) for owner in owners]
        if len(ranks) != len(boxes):
            raise ValueError(f"{len(ranks)} owners for {len(boxes)} boxes")
    dim = boxes[0].dim if boxes else 3
    layers = ghost_struct(library, ghost_of(ghost, dim))
    return len(boxes), structs, ranks, rank, layers[0]
