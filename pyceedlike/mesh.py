# SPDX-License-Identifier: BSD-2-Clause
"""Meshes, as tables of nodes and elements, and the Lagrange spaces on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import (
    EVAL_NONE,
    EVAL_WEIGHT,
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_QUAD,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedIncompleteError,
)
from ._object import BASIS_NONE, ELEMRESTRICTION_NONE, VECTOR_ACTIVE, VECTOR_NONE, StandIn
from .callback import Data, Grad
from .ceed import Ceed
from .fem import Basis, ElemRestriction, Operator, OperatorField
from .lagrange import CELLS, grid
from .qfunction import QFunction
from .vector import Vector

if TYPE_CHECKING:
    import os

    import meshio
    import numpy


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
        import numpy

        if topology not in CELLS:
            names = ", ".join(cell.name for cell in CELLS.values())
            raise CeedIncompatibleError(f"a mesh is of one of {names}, not of topology {topology}")
        self.cell = CELLS[topology]
        self.order = _positive(order, "order")
        self.nodes = numpy.array(nodes, float, order="C")
        self.elements = _integers(elements, "elements")
        self._check_tables()
        self._check_jacobians()
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
        inner = (CELLS[TOPOLOGY_LINE].nodes(_positive(order, "order"))[:-1, 0] + 1) / 2
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

    def _region(self, name: str, cells: Any) -> numpy.ndarray:
        cells = _integers(cells, f"elements of the region {name!r}")
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
        return _same(numpy.sort(rows.reshape(-1, rows.shape[2]), axis=1))

    def _sides(self, numbers: numpy.ndarray) -> numpy.ndarray:
        import numpy

        return numpy.stack(numpy.divmod(numbers, len(self.cell.sides())), axis=1)

    def _boundary(self, name: str, vertices: Any) -> numpy.ndarray:
        """Return the pairs (element, side) of sides that are given by their vertices."""
        import numpy

        own = self.corners[:, self.cell.sides()]
        rows = _integers(vertices, f"vertices of the boundary {name!r}").reshape(-1, own.shape[2])
        ids = _same(numpy.sort(numpy.concatenate([own.reshape(-1, own.shape[2]), rows]), axis=1))
        known, first = numpy.unique(ids[: -len(rows) or None], return_index=True)
        wanted = ids[len(ids) - len(rows) :]
        place = numpy.searchsorted(known, wanted).clip(max=len(known) - 1)
        _refuse(
            known[place] != wanted,
            lambda i: f"the boundary {name!r} has {rows[i]}, which is no side of an element",
        )
        return self._sides(first[place])

    def __repr__(self) -> str:
        kind = self.cell.name if len(self.elements) == 1 else _plural(self.cell.name)
        parts = [("region", self.regions), ("boundary", self.boundaries)]
        names = "".join(
            f"; {word if len(group) == 1 else _plural(word)} {', '.join(group)}"
            for word, group in parts
            if group
        )
        return (
            f"<pyceedlike.Mesh of {len(self.elements)} {kind} of order {self.order}, "
            f"{len(self.nodes)} nodes in {self.dim}-D{names}>"
        )


class Geometry(NamedTuple):
    """The map from reference elements to a mesh, as fields at the quadrature points.

    dV is the weight of a point times the determinant of the Jacobian, Data(); dXdx[i][j] the
    derivative of the reference coordinate i along x_j, Data(dim, dim).
    """

    dV: OperatorField  # noqa: N815 - the names of the field
    dXdx: OperatorField  # noqa: N815


class Space:
    """The continuous Lagrange functions of an order on a mesh, with their quadrature.

    Made by Mesh.space(). An L-vector is [component][node]. Nodes of the mesh's own order are the
    mesh's; those of another are numbered as elements come, and so are the same wherever elements
    share a vertex, an edge or a face.

    >>> space = pyceedlike.Mesh.box(3).space(pyceedlike.Ceed(), 2)
    >>> space.offsets
    array([[0, 1, 2],
           [2, 3, 4],
           [4, 5, 6]])
    >>> space.boundary()
    array([0, 6])
    """

    def __init__(self, ceed: Ceed, mesh: Mesh, order: int, ncomp: int, q: int | None) -> None:
        self.ceed = ceed
        self.mesh = mesh
        self.order = _positive(order, "order")
        self.ncomp = _positive(ncomp, "ncomp")
        self.q = order + 2 if q is None else _positive(q, "q")
        self.offsets, self.nodes = self._nodes()

    def _nodes(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return the nodes of the elements, and their coordinates."""
        import numpy

        mesh, cell, order = self.mesh, self.mesh.cell, self.order
        if order == mesh.order:
            return mesh.elements, mesh.nodes
        offsets = _number(mesh.corners, cell.weights(order))
        shapes = cell.tabulate(mesh.order, cell.nodes(order))[0]
        nodes = numpy.empty((offsets.max() + 1, mesh.dim))
        nodes[offsets] = shapes @ mesh.nodes[mesh.elements]
        return offsets, nodes

    @property
    def size(self) -> int:
        """The length of an L-vector."""
        return self.ncomp * len(self.nodes)

    def boundary(self, *names: str) -> numpy.ndarray:
        """Return the nodes on the boundaries of these names, or on all of the mesh's boundary.

        Raises CeedIncompatibleError, with those there are, for a name that is not one.
        """
        import numpy

        mesh = self.mesh
        for name in names:
            if name not in mesh.boundaries:
                known = ", ".join(mesh.boundaries) or "none"
                raise CeedIncompatibleError(f"there is no boundary {name!r}: there is {known}")
        sides = [mesh.boundaries[name] for name in names] if names else [mesh.boundary]
        element, side = numpy.concatenate(sides).T
        nodes = mesh.cell.side_nodes(self.order)[side]
        return numpy.unique(self.offsets[element[:, None], nodes])

    # What operators are made of.

    @cached_property
    def restriction(self) -> ElemRestriction:
        """The restriction from all nodes to those of the elements."""
        n = len(self.nodes)
        sizes = *self.offsets.shape, self.ncomp, n, self.size
        return self.ceed.ElemRestriction(*sizes, self.offsets)

    @cached_property
    def basis(self) -> Basis:
        """The basis, from the nodes to the quadrature points."""
        return self.mesh.cell.basis(self.ceed, self.ncomp, self.order, self.q)

    def field(self, vector: Vector | StandIn = VECTOR_ACTIVE) -> OperatorField:
        """Return a function of this space as a field of an operator: the active one, or data."""
        return OperatorField(self.restriction, self.basis, vector)

    @property
    def weights(self) -> OperatorField:
        """The weights of the quadrature points as a field of an operator."""
        return OperatorField(ELEMRESTRICTION_NONE, self.basis, VECTOR_NONE)

    @cached_property
    def coordinates(self) -> OperatorField:
        """The coordinates as a field of dim components, with the same quadrature points."""
        mesh = self.mesh
        space = Space(self.ceed, mesh, mesh.order, mesh.dim, self.q)
        x = self.ceed.Vector(space.size)
        x.set_array(mesh.nodes.T.astype(self.ceed.scalar).ravel())
        return space.field(x)

    @cached_property
    def geometry(self) -> Geometry:
        """The map from reference elements to the mesh at the quadrature points."""
        dim, ceed, dx = self.mesh.dim, self.ceed, self.coordinates
        measure = ceed.QFunctionByName(f"Mass{dim}DBuild")
        invert = ceed.qfunction(Grad(dim, dim), dXdx=Data(dim, dim))(_inverse)
        return Geometry(self.evaluate(measure, dx=dx), self.evaluate(invert, dx=dx))

    def operator(self, qf: QFunction, *derivatives: QFunction, **fields: OperatorField) -> Operator:
        """Return the operator of a QFunction, and of those of its Jacobian and transpose.

        Fields that are not given are functions of this space and active, or are the weights. Raises
        CeedIncompleteError for one of values at the points, which has to be given.

        >>> ceed = pyceedlike.Ceed()
        >>> space = pyceedlike.Mesh.box(4).space(ceed, 1)
        >>> mass = space.operator(ceed.QFunctionByName("MassApply"), qdata=space.geometry.dV)
        >>> mass(np.ones(5)).to_numpy()
        array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
        """
        op = self.ceed.Operator(qf, *derivatives)
        for name, (_, mode) in (qf.inputs | qf.outputs).items():
            if name not in fields:
                op.set_field(name, *self._own_field(name, mode))
        for name, field in fields.items():
            op.set_field(name, *field)
        return op

    def _own_field(self, name: str, mode: int) -> OperatorField:
        if mode == EVAL_NONE:
            raise CeedIncompleteError(f"the field {name!r} has values at the points: give it")
        return self.weights if mode == EVAL_WEIGHT else self.field()

    def evaluate(self, qf: QFunction, **fields: OperatorField) -> OperatorField:
        """Return what a QFunction makes of fields at the quadrature points, as another field.

        The QFunction has one output, stored at the points; the order of the values
        in the vector is the backend's own.

        >>> from pyceedlike import Data, Interp
        >>> ceed = pyceedlike.Ceed()
        >>> space = pyceedlike.Mesh.box(4).space(ceed, 1)
        >>> @ceed.qfunction(Interp(1), Data(), integrand=Data())
        ... def square(x, dV):
        ...     return x[0]**2 * dV
        >>> found = space.evaluate(square, x=space.coordinates, dV=space.geometry.dV)
        >>> float(found.vector.to_numpy().sum().round(12))
        0.333333333333
        """
        if len(qf.outputs) != 1:
            raise CeedIncompatibleError(f"a QFunction of one output is wanted, not of {qf!r}")
        ((output, (size, _)),) = qf.outputs.items()
        nelem, points = len(self.mesh.elements), self.basis.get_num_quadrature_points()
        r = self.ceed.StridedElemRestriction(nelem, points, size, nelem * points * size, None)
        data = OperatorField(r, BASIS_NONE, VECTOR_ACTIVE)
        return data._replace(vector=self.operator(qf, **fields, **{output: data})())

    def __repr__(self) -> str:
        kind = self.mesh.cell.name if len(self.offsets) == 1 else _plural(self.mesh.cell.name)
        components = "1 component" if self.ncomp == 1 else f"{self.ncomp} components"
        return (
            f"<pyceedlike.Space of order {self.order}, {components}, {len(self.nodes)} nodes, "
            f"on {len(self.offsets)} {kind}>"
        )


def _inverse(dx: numpy.ndarray) -> numpy.ndarray:
    """Return dX_i/dx_j [i][j][point] of dx_j/dX_i [i][j][point]."""
    import numpy

    dim, points = dx.shape[1:]
    basis = numpy.zeros((3, 3, points), dx.dtype)
    basis[range(3), range(3)] = 1  # the directions that there are not
    basis[:dim, :dim] = dx
    reciprocal = numpy.array([numpy.cross(basis[i - 2], basis[i - 1], axis=0) for i in range(3)])
    return (reciprocal / (basis[0] * reciprocal[0]).sum(axis=0))[:dim, :dim]


def _number(corners: numpy.ndarray, weights: numpy.ndarray) -> numpy.ndarray:
    """Return numbers [element][node] of nodes by their weights of vertices, [node][vertex].

    Two are the same node when they have the same weights of the same vertices.
    """
    import numpy

    ids = numpy.empty((len(corners), len(weights)), int)
    count = 0
    extent = (weights > 0).sum(axis=1)  # 1 vertex, 2 on an edge, ...
    for n in numpy.unique(extent):
        nodes = numpy.flatnonzero(extent == n)
        near = numpy.argsort(weights[nodes] == 0, axis=1, kind="stable")[:, :n]
        vertices = corners[:, near].reshape(-1, n)
        weight = numpy.take_along_axis(weights[nodes], near, axis=1)
        order = numpy.argsort(vertices, axis=1)
        weight = numpy.take_along_axis(numpy.tile(weight, (len(corners), 1)), order, axis=1)
        vertices = numpy.take_along_axis(vertices, order, axis=1)
        same = _same(numpy.hstack([vertices, weight]))
        ids[:, nodes] = count + same.reshape(len(corners), -1)
        count += same.max() + 1
    _, first, inverse = numpy.unique(ids, return_index=True, return_inverse=True)
    rank = numpy.empty(len(first), int)
    rank[numpy.argsort(first)] = numpy.arange(len(first))
    return rank[inverse].reshape(ids.shape)


def _same(rows: numpy.ndarray) -> numpy.ndarray:
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
        axis = numpy.linspace(0, 1, _positive(axis, f"the number of elements along {name}") + 1)
    ends = numpy.asarray(axis, float)
    if ends.ndim != 1 or len(ends) < 2 or not (numpy.diff(ends) > 0).all():
        raise CeedDimensionError(
            f"{name} is a number of elements or two and more increasing coordinates, not {axis}"
        )
    return ends


def _integers(x: Any, what: str) -> numpy.ndarray:
    """Return a copy as compact int64."""
    import numpy

    array = numpy.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{what} are integers, not {array.dtype}")
    return numpy.array(array, "int64", order="C")


def _positive(n: Any, name: str) -> int:
    import operator

    if operator.index(n) < 1:
        raise CeedDimensionError(f"{name} is at least 1, not {n}")
    return operator.index(n)


def _refuse(
    wrong: numpy.ndarray, say: Callable[[int], str], error: type = CeedDimensionError
) -> None:
    """Raise an error that names the first place where something is wrong."""
    if wrong.any():
        raise error(say(wrong.argmax()))


def _plural(word: str) -> str:
    return {"hex": "hexes", "boundary": "boundaries"}.get(word, f"{word}s")
