# SPDX-License-Identifier: BSD-2-Clause
"""Meshes, as tables of nodes and elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ._lib import (
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_QUAD,
    CeedDimensionError,
    CeedIncompatibleError,
)
from .ceed import Ceed
from .lagrange import CELLS, grid

if TYPE_CHECKING:
    import os

    import meshio
    import numpy

    from .space import Space


class Mesh:
    """Elements of one kind: lines, quads, hexes, triangles or tets of an order.

    Made by Mesh.read() of a file, by Mesh.box(), or of tables, which are copied: nodes are
    coordinates [node][dim], elements are nodes [element][node] with x as the fastest direction, in
    tensor products at the Gauss-Lobatto points of the order. regions are elements by name.
    boundaries are sides of elements by name: given by their vertices, [side][vertex], and kept as
    pairs of an element and the number of its side.

    Raises CeedDimensionError for a table of another shape, a node that is not there, that an
    element has twice, or that none has; CeedIncompatibleError for an element that is inverted. Both
    name the element.

    >>> mesh = pyceedlike.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], pyceedlike.TOPOLOGY_TRIANGLE)
    >>> mesh
    <pyceedlike.Mesh of 1 triangle of order 1, 3 nodes in 2-D>
    """

    def __init__(
        self,
        nodes: Any,
        elements: Any,
        topology: int,
        order: int = 1,
        regions: Mapping[str, Any] | None = None,
        boundaries: Mapping[str, Any] | None = None,
    ) -> None:
        if topology not in CELLS:
            names = ", ".join(f"TOPOLOGY_{cell.name.upper()}" for cell in CELLS.values())
            raise CeedIncompatibleError(f"topology is one of {names}, not {topology!r}")
        self.cell = CELLS[topology]
        self.order = positive(order, "order")
        self.nodes = _table(nodes, "nodes", "iuf", "coordinates").astype("float64")
        self.elements = _integers(elements, "elements")
        self._check_tables()
        self._check_jacobians()
        self.nodes.flags.writeable = self.elements.flags.writeable = False  # they are checked
        self.regions = {name: self._region(name, cells) for name, cells in (regions or {}).items()}
        self.boundaries = {
            name: self._boundary(name, sides) for name, sides in (boundaries or {}).items()
        }

    @classmethod
    def box(cls, *axes: Any, order: int = 1) -> Mesh:
        """Return a box of lines, quads or hexes, with boundaries "x-", "x+", "y-", ...

        An axis is a number of elements on [0, 1], or the increasing coordinates where they end.
        Nodes are numbered along x first, then y, then z.

        >>> mesh = pyceedlike.Mesh.box(2, [0, 1, 3])
        >>> mesh
        <pyceedlike.Mesh of 4 quads of order 1, 9 nodes in 2-D; boundaries x-, x+, y-, y+>
        >>> mesh.nodes[-1]
        array([1., 3.])
        """
        import numpy

        if not 1 <= len(axes) <= 3:
            raise CeedDimensionError(f"a box has 1 to 3 axes, not {len(axes)}")
        cell = CELLS[(TOPOLOGY_LINE, TOPOLOGY_QUAD, TOPOLOGY_HEX)[len(axes) - 1]]
        ends = [_ends(axis, name) for axis, name in zip(axes, "xyz", strict=False)]
        inner = (CELLS[TOPOLOGY_LINE].nodes(positive(order, "order"))[:-1, 0] + 1) / 2
        lines = [
            numpy.append((e[:-1, None] + numpy.diff(e)[:, None] * inner).ravel(), e[-1])
            for e in ends
        ]
        counts = [len(e) - 1 for e in ends]
        places = grid(counts)
        strides = numpy.cumprod([1, *(order * n + 1 for n in counts[:-1])])
        elements = (order * places @ strides)[:, None] + cell.lattice(order) @ strides
        corners = elements[:, cell.vertices(order)]
        at_end = [places[:, d] == end for d, n in enumerate(counts) for end in (0, n - 1)]
        names = [f"{name}{sign}" for name in "xyz"[: len(axes)] for sign in "-+"]
        boundaries = {
            name: corners[cells][:, side]
            for name, cells, side in zip(names, at_end, cell.sides(), strict=True)
        }
        nodes = numpy.stack(numpy.meshgrid(*lines[::-1], indexing="ij")[::-1], axis=-1)
        return cls(
            nodes.reshape(-1, len(axes)), elements, cell.topology, order, boundaries=boundaries
        )

    @classmethod
    def read(cls, path: str | os.PathLike) -> Mesh:
        """Return the mesh of a file in any format that meshio reads, as Gmsh's or VTK's.

        Cells of the highest dimension are the elements: all of one kind, of order 1, or 2 with all
        nodes (quad9, not quad8). Groups that have names are regions where they hold elements,
        and boundaries where they hold sides of elements; others are left out, as are nodes of no
        element. Raises FileNotFoundError, CeedIncompatibleError for what is no such mesh.
        """
        from .interop.meshio import read

        return cls.from_meshio(read(path))

    @classmethod
    def from_meshio(cls, mesh: meshio.Mesh) -> Mesh:
        """Return the mesh of a meshio.Mesh, as read() does.

        >>> import meshio
        >>> points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
        >>> pyceedlike.Mesh.from_meshio(meshio.Mesh(points, {"quad": [[0, 1, 2, 3]]})).elements
        array([[0, 1, 3, 2]])
        """
        from .interop.meshio import tables

        return cls(**tables(mesh))

    @property
    def dim(self) -> int:
        """The dimension, of the elements and of the space that they fill."""
        return self.cell.dim

    @property
    def topology(self) -> int:
        """The kind of the elements, as TOPOLOGY_QUAD."""
        return self.cell.topology

    @cached_property
    def corners(self) -> numpy.ndarray:
        """The vertices of the elements, [element][vertex]."""
        return self.elements[:, self.cell.vertices(self.order)]

    @cached_property
    def boundary(self) -> numpy.ndarray:
        """The sides that belong to one element only, pairs (element, side)."""
        import numpy

        times = numpy.bincount(self._side_ids)[self._side_ids]
        if times.max(initial=0) > 2:
            element = times.argmax() // len(self.cell.sides())
            raise CeedIncompatibleError(f"a side of element {element} is that of {times.max()}")
        return self._sides(numpy.flatnonzero(times == 1))

    def space(self, ceed: Ceed, order: int, ncomp: int = 1, q: int | None = None) -> Space:
        """Return the continuous Lagrange functions of an order, to make operators of.

        q is the number of Gauss points a direction, by default order + 2.

        >>> pyceedlike.Mesh.box(2, 2).space(pyceedlike.Ceed(), 3)
        <pyceedlike.Space of order 3, 1 component, 49 nodes, on 4 quads>
        """
        from .space import Space

        return Space(ceed, self, order, ncomp, q)

    # Checks.

    def _check_tables(self) -> None:
        import numpy

        cell, nodes, elements = self.cell, self.nodes, self.elements
        size, name = len(cell.lattice(self.order)), cell.name
        if nodes.ndim != 2 or nodes.shape[1] != cell.dim:
            raise CeedDimensionError(
                f"nodes of {name} elements are coordinates [node][{cell.dim}], these have shape "
                f"{nodes.shape}"
            )
        if not elements.size:
            raise CeedDimensionError("a mesh has at least one element, this one has none")
        if elements.ndim != 2 or elements.shape[1] != size:
            raise CeedDimensionError(
                f"{name} elements of order {self.order} are nodes [element][{size}], these have "
                f"shape {elements.shape}"
            )
        _refuse(~numpy.isfinite(nodes).all(axis=1), lambda n: f"node {n} is not finite: {nodes[n]}")
        _refuse(
            ((elements < 0) | (elements >= len(nodes))).any(axis=1),
            lambda e: f"element {e} has nodes {elements[e]}, of {len(nodes)} that there are",
        )
        ordered = numpy.sort(elements, axis=1)
        _refuse(
            (ordered[:, 1:] == ordered[:, :-1]).any(axis=1),
            lambda e: f"element {e} has a node twice: {elements[e]}",
        )
        _refuse(
            numpy.bincount(elements.ravel(), minlength=len(nodes)) == 0,
            lambda n: f"node {n} belongs to no element: leave it out",
        )

    def _check_jacobians(self) -> None:
        """Raise unless the determinants of the Jacobians are positive at all nodes."""
        import numpy

        slopes = self.cell.tabulate(self.order, self.cell.nodes(self.order))[1]
        points = self.nodes[self.elements]
        with numpy.errstate(all="ignore"):
            determinants = numpy.array(  # [node][element]
                [numpy.linalg.det(slope @ points) for slope in slopes.swapaxes(0, 1)]
            )

        def say(element: int) -> str:
            node = determinants[:, element].argmin()
            return (
                f"element {element} is inverted or degenerate: the determinant of its Jacobian is "
                f"{determinants[node, element]:.3g} at {points[element, node]}, its node {node}; "
                f"its nodes, x fastest, are {self.elements[element]}"
            )

        _refuse(~(determinants > 0).all(axis=0), say, CeedIncompatibleError)
        _refuse(
            ~numpy.isfinite(determinants).all(axis=0),
            lambda element: (
                f"element {element} is too large: the determinant of its Jacobian overflows"
            ),
            CeedIncompatibleError,
        )

    def _region(self, name: str, cells: Any) -> numpy.ndarray:
        cells = _integers(cells, f"elements of the region {name!r}")
        if cells.ndim != 1:
            raise CeedDimensionError(
                f"the region {name!r} is a list of elements, not a table of shape {cells.shape}"
            )
        _refuse(
            (cells < 0) | (cells >= len(self.elements)),
            lambda i: f"the region {name!r} has element {cells[i]}, of {len(self.elements)}",
        )
        return cells

    # Sides are numbered side by side, element by element.

    @cached_property
    def _side_ids(self) -> numpy.ndarray:
        """A number for each side, which neighbours share."""
        import numpy

        rows = self.corners[:, self.cell.sides()]
        return same_rows(numpy.sort(rows.reshape(-1, rows.shape[2]), axis=1))

    def _sides(self, numbers: numpy.ndarray) -> numpy.ndarray:
        import numpy

        return numpy.stack(numpy.divmod(numbers, len(self.cell.sides())), axis=1)

    def _boundary(self, name: str, vertices: Any) -> numpy.ndarray:
        """Return the pairs (element, side) of sides that are given by their vertices."""
        import numpy

        own = self.corners[:, self.cell.sides()]
        rows = _integers(vertices, f"vertices of the boundary {name!r}")
        if not rows.size:
            rows = rows.reshape(0, own.shape[2])
        if rows.shape[1:] != own.shape[2:]:
            raise CeedDimensionError(
                f"the boundary {name!r} is vertices [side][{own.shape[2]}], these have shape "
                f"{rows.shape}"
            )
        ids = same_rows(
            numpy.sort(numpy.concatenate([own.reshape(-1, own.shape[2]), rows]), axis=1)
        )
        known, first = numpy.unique(ids[: -len(rows) or None], return_index=True)
        wanted = ids[len(ids) - len(rows) :]
        place = numpy.searchsorted(known, wanted).clip(max=len(known) - 1)
        _refuse(
            known[place] != wanted,
            lambda i: f"the boundary {name!r} has {rows[i]}, which is no side of an element",
        )
        return self._sides(first[place])

    def __repr__(self) -> str:
        kind = self.cell.name if len(self.elements) == 1 else plural(self.cell.name)
        parts = [("region", self.regions), ("boundary", self.boundaries)]
        names = "".join(
            f"; {word if len(group) == 1 else plural(word)} {', '.join(group)}"
            for word, group in parts
            if group
        )
        return (
            f"<pyceedlike.Mesh of {len(self.elements)} {kind} of order {self.order}, "
            f"{len(self.nodes)} nodes in {self.dim}-D{names}>"
        )


def same_rows(rows: numpy.ndarray) -> numpy.ndarray:
    """Return a number for each row of integers, the same for equal rows."""
    import numpy

    ids = numpy.zeros(len(rows), int)
    for column in rows.T:
        ids = numpy.unique(ids * (column.max(initial=0) + 1) + column, return_inverse=True)[1]
    return ids


def _ends(axis: Any, name: str) -> numpy.ndarray:
    """Return the coordinates where the elements of a box end along an axis."""
    import numpy

    if numpy.ndim(axis) == 0:
        axis = numpy.linspace(0, 1, positive(axis, f"the number of elements along {name}") + 1)
    ends = _table(axis, f"the ends along {name}", "iuf", "coordinates").astype("float64")
    is_finite = numpy.isfinite(ends).all()
    if ends.ndim != 1 or len(ends) < 2 or not is_finite or not (numpy.diff(ends) > 0).all():
        raise CeedDimensionError(
            f"{name} is a number of elements or two and more finite coordinates that increase, "
            f"not {axis}"
        )
    return ends


def _table(x: Any, what: str, kinds: str, numbers: str) -> numpy.ndarray:
    """Return what is given as a compact array of some kinds of numbers."""
    import numpy

    try:
        array = numpy.array(x, order="C")
    except ValueError as error:
        raise CeedDimensionError(f"{what} are a table, whose rows are equally long") from error
    if array.size and array.dtype.kind not in kinds:
        raise TypeError(f"{what} are {numbers}, not {array.dtype}")
    return array


def _integers(x: Any, what: str) -> numpy.ndarray:
    """Return a copy as compact int64."""
    return _table(x, what, "iu", "integers").astype("int64")


def positive(n: Any, name: str) -> int:
    """Return a positive integer; raise CeedDimensionError or TypeError, with its name."""
    if operator.index(n) < 1:
        raise CeedDimensionError(f"{name} is at least 1, not {n}")
    return operator.index(n)


def _refuse(
    wrong: numpy.ndarray, say: Callable[[int], str], error: type = CeedDimensionError
) -> None:
    """Raise an error that names the first place where something is wrong."""
    if wrong.any():
        raise error(say(wrong.argmax()))


def plural(word: str) -> str:
    """Return the plural of a word."""
    return {"hex": "hexes", "boundary": "boundaries"}.get(word, f"{word}s")
