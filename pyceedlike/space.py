# SPDX-License-Identifier: BSD-2-Clause
"""Lagrange spaces on meshes, which make operators."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedIncompleteError,
)
from ._object import BASIS_NONE, ELEMRESTRICTION_NONE, VECTOR_ACTIVE, VECTOR_NONE, StandIn
from .callback import Data, Grad
from .ceed import Ceed
from .fem import Basis, ElemRestriction, Operator, OperatorField
from .mesh import Mesh, plural, positive, same_rows
from .qfunction import QFunction, qfunction_of
from .vector import Vector

if TYPE_CHECKING:
    import numpy

    from .native import PointFunction


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
        self.order = positive(order, "order")
        mesh.cell.check_order(order)
        self.ncomp = positive(ncomp, "ncomp")
        self.q = order + 2 if q is None else positive(q, "q")
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

        They are rows of `nodes`, and entries of component 0 in an L-vector: dofs() are those of all
        components. Raises CeedIncompatibleError, with those there are, for a name that is not one.
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

    def dofs(self, nodes: Any, *components: int) -> numpy.ndarray:
        """Return the entries of an L-vector that belong to nodes: of all components, or of some.

        >>> space = pyceedlike.Mesh.box(3).space(pyceedlike.Ceed(), 1, ncomp=2)
        >>> space.dofs(space.boundary())
        array([0, 3, 4, 7])
        >>> space.dofs(space.boundary("x-"), 1)
        array([4])
        """
        import numpy

        for c in components:
            if not 0 <= c < self.ncomp:
                raise CeedDimensionError(f"component {c} is none of 0 to {self.ncomp - 1}")
        which = numpy.array(components or range(self.ncomp))
        return (which[:, None] * len(self.nodes) + numpy.asarray(nodes, int)).ravel()

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

    def operator(
        self,
        qf: QFunction | PointFunction,
        *derivatives: QFunction | PointFunction,
        **fields: OperatorField,
    ) -> Operator:
        """Return the operator of a QFunction, and of those of its Jacobian and transpose.

        Fields that are not given are functions of this space and active, or are the weights. Raises
        CeedIncompleteError for what has to be given: values at the points, and of two inputs that
        would be the same, since both are values or both gradients, one at least.

        >>> ceed = pyceedlike.Ceed()
        >>> space = pyceedlike.Mesh.box(4).space(ceed, 1)
        >>> mass = space.operator(ceed.QFunctionByName("MassApply"), qdata=space.geometry.dV)
        >>> mass(np.ones(5)).to_numpy()
        array([0.125, 0.25 , 0.25 , 0.25 , 0.125])
        """
        qf = qfunction_of(self.ceed, qf)
        op = self.ceed.Operator(qf, *derivatives)
        for name, field in fields.items():
            op.set_field(name, *_field_of(name, field))
        _check_apart({n: f.mode for n, f in qf.inputs.items() if n not in fields})
        for name, (_, mode) in (qf.inputs | qf.outputs).items():
            if name not in fields:
                op.set_field(name, *self._own_field(name, mode))
        return op

    def _own_field(self, name: str, mode: int) -> OperatorField:
        if mode == EVAL_NONE:
            raise CeedIncompleteError(
                f"the field {name!r} has values at the points: give it; space.geometry has dV and "
                "dXdx, space.evaluate() makes others"
            )
        return self.weights if mode == EVAL_WEIGHT else self.field()

    def evaluate(self, qf: QFunction | PointFunction, **fields: OperatorField) -> OperatorField:
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
        qf = qfunction_of(self.ceed, qf)
        if len(qf.outputs) != 1:
            raise CeedIncompatibleError(f"a QFunction of one output is wanted, not of {qf!r}")
        ((output, (size, _)),) = qf.outputs.items()
        nelem, points = len(self.mesh.elements), self.basis.get_num_quadrature_points()
        r = self.ceed.StridedElemRestriction(nelem, points, size, nelem * points * size, None)
        data = OperatorField(r, BASIS_NONE, VECTOR_ACTIVE)
        return data._replace(vector=self.operator(qf, **fields, **{output: data})())

    def __repr__(self) -> str:
        kind = self.mesh.cell.name if len(self.offsets) == 1 else plural(self.mesh.cell.name)
        components = "1 component" if self.ncomp == 1 else f"{self.ncomp} components"
        return (
            f"<pyceedlike.Space of order {self.order}, {components}, {len(self.nodes)} nodes, "
            f"on {len(self.offsets)} {kind}>"
        )


def _field_of(name: str, field: OperatorField) -> OperatorField:
    """Return what was given for a field; raise for what is none."""
    if isinstance(field, Geometry):
        raise TypeError(
            f"{name} is one field of a geometry: give {name}=space.geometry.dV, or dXdx"
        )
    if not isinstance(field, tuple) or len(field) != len(OperatorField._fields):
        raise TypeError(
            f"{name} is a field, not {type(field).__name__}: give {name}=space.field(vector); "
            "pyceedlike.from_dlpack(x) makes a vector of an array"
        )
    return OperatorField(*field)


def _check_apart(modes: dict[str, int]) -> None:
    """Raise where two inputs that are not given would be the same of the active vector."""
    for mode, what in (EVAL_INTERP, "values"), (EVAL_GRAD, "gradients"):
        same = [name for name, other in modes.items() if other == mode]
        if len(same) > 1:
            raise CeedIncompleteError(
                f"the fields {', '.join(same)} would all be {what} of the active vector: give all "
                f"but one, as in {same[-1]}=space.field(vector)"
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
        same = same_rows(numpy.hstack([vertices, weight]))
        ids[:, nodes] = count + same.reshape(len(corners), -1)
        count += same.max() + 1
    _, first, inverse = numpy.unique(ids, return_index=True, return_inverse=True)
    rank = numpy.empty(len(first), int)
    rank[numpy.argsort(first)] = numpy.arange(len(first))
    return rank[inverse].reshape(ids.shape)
