# SPDX-License-Identifier: BSD-2-Clause
"""Operators on PETSc's distributed meshes, DMDA and DMPlex: as matrices, as equations."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._lib import (
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_QUAD,
    TOPOLOGY_TET,
    TOPOLOGY_TRIANGLE,
    CeedDimensionError,
    CeedIncompatibleError,
)
from .._object import VECTOR_ACTIVE
from ..fem import OperatorField
from ..mesh import Mesh
from .petsc import check_numbers, lend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy
    from petsc4py import PETSc

    from .._object import StandIn
    from ..fem import Operator
    from ..space import Space
    from ..vector import Vector

# By the dimension and number of vertices: the topology, and the vertices in our order, x fastest.
_DMDA = {
    (1, 2): (TOPOLOGY_LINE, [0, 1]),
    (2, 4): (TOPOLOGY_QUAD, [0, 1, 3, 2]),
    (3, 8): (TOPOLOGY_HEX, [0, 1, 3, 2, 4, 5, 7, 6]),
}
_DMPLEX = {
    (1, 2): (TOPOLOGY_LINE, [0, 1]),
    (2, 3): (TOPOLOGY_TRIANGLE, [0, 1, 2]),
    (2, 4): (TOPOLOGY_QUAD, [0, 1, 3, 2]),
    (3, 4): (TOPOLOGY_TET, [1, 0, 2, 3]),
    (3, 8): (TOPOLOGY_HEX, [0, 3, 1, 2, 4, 5, 7, 6]),
}


class Part:
    """The elements of a DMDA or DMPlex that this process has, each being in one process.

    mesh is those elements as a Mesh of order 1, `places` where its nodes begin in a local vector of
    the DM, [node], and `size` the length of that; a node's components lie one behind the other. A
    DMDA needs a stencil of boxes, and coordinates; a DMPlex a section with unknowns at the vertices
    only, no overlap, and cells of one kind; neither may be periodic. Collective: where one process
    raises an error, all do. Raises CeedIncompatibleError for another DM or PETSc,
    CeedDimensionError in a process that has no elements.

    >>> from petsc4py import PETSc
    >>> dm = PETSc.DMDA().create([4, 3], stencil_type="box", stencil_width=1, comm=PETSc.COMM_SELF)
    >>> dm.setUniformCoordinates(0, 1, 0, 1)
    >>> part = pyceedlike.interop.petsc_dm.Part(dm)
    >>> part.mesh
    <pyceedlike.Mesh of 6 quads of order 1, 12 nodes in 2-D>
    """

    def __init__(self, dm: PETSc.DM) -> None:
        check_numbers()
        kind = dm.getType()
        if kind not in _ELEMENTS:
            raise CeedIncompatibleError(f"a DM of type {' or '.join(_ELEMENTS)} is wanted: {kind}")
        self.dm = dm
        points = _coordinates(dm)
        with _together(dm.comm):
            self._divide(points, *_ELEMENTS[kind])

    def _divide(self, points: numpy.ndarray, tables: dict, elements_of: Callable) -> None:
        import numpy

        dm = self.dm
        coordinates, elements, places, self.ncomp = elements_of(dm, points)
        if not elements.size:
            raise CeedDimensionError(
                f"process {dm.comm.rank} of {dm.comm.size} has no elements: take fewer processes"
            )
        shape = coordinates.shape[1], elements.shape[1]
        if shape not in tables:
            raise CeedIncompatibleError(
                f"cells of {shape[1]} vertices in {shape[0]}-D are not known"
            )
        topology, order = tables[shape]
        nodes, elements = numpy.unique(elements[:, order], return_inverse=True)
        elements = elements.reshape(-1, len(order))
        self.mesh = Mesh(coordinates[nodes], elements, topology)
        self.places = places[nodes]
        self.size = dm.createLocalVec().getLocalSize()

    def field(self, space: Space, vector: Vector | StandIn = VECTOR_ACTIVE) -> OperatorField:
        """Return a function of a space on the mesh as a field of an operator on local vectors."""
        if space.mesh is not self.mesh or space.order != 1 or space.ncomp != self.ncomp:
            raise CeedIncompatibleError(
                f"the unknowns of the DM are those of mesh.space(ceed, 1, {self.ncomp})"
            )
        offsets = self.places[space.offsets]
        r = space.ceed.ElemRestriction(*offsets.shape, self.ncomp, 1, self.size, offsets)
        return OperatorField(r, space.basis, vector)

    def unknowns(self, nodes: Any) -> numpy.ndarray:
        """Return the places of all components of nodes in a local vector."""
        import numpy

        return (self.places[nodes][:, None] + numpy.arange(self.ncomp)).ravel()


def matrix(op: Operator, dm: PETSc.DM, fixed: Any = ()) -> PETSc.Mat:
    """Return a linear operator on local vectors as a matrix on the global vectors of a DM.

    Nothing is assembled: what each process computes of its elements is added up by PETSc. Rows and
    columns of the unknowns at the places `fixed` of local vectors are those of the identity.
    Each process names the places that it has, of its neighbours' unknowns too. PETSc's Jacobi has
    the diagonal. Collective. Raises CeedDimensionError for an operator of another size,
    CeedUnsupportedError for a native function that is not linear.
    """
    linear = _Linear(op, dm, fixed)
    op._check_linear()
    return linear.as_petsc()


class Equations:
    """The equations op(u) = 0 on the mesh of a DM, for SNES; u has given values at some places.

    op acts on local vectors and has the QFunction of its Jacobian, which reads the point of the
    derivative from `state`, a local vector that is set here; None where there is nothing to read.
    `fixed` are places in local vectors, of neighbours' unknowns too, `values` what u is there, a
    number or one for each. What a section constrains is zero. Collective.

        snes.setFunction(equations.residual, dm.createGlobalVec())
        snes.setJacobian(equations.jacobian, equations.matrix)
    """

    def __init__(
        self,
        op: Operator,
        dm: PETSc.DM,
        state: Vector | None = None,
        fixed: Any = (),
        values: Any = 0.0,
    ) -> None:
        self._slope = _Matrix(op, dm, fixed)
        self.values = values
        self.state = state
        if state is not None:
            state.set_value(0)
        self.matrix = self._slope.as_petsc()

    def residual(self, snes: PETSc.SNES, x: PETSc.Vec, f: PETSc.Vec) -> None:
        """Set f to op(x), and to the distance from the values where they are given."""
        slope = self._slope
        slope.gather(x, slope.u, self.values)
        slope.op.apply(slope.u, slope.v)
        slope.add(slope.v, f)
        with slope.u.array_read() as local:
            slope.set_rows(f, x.getArray(readonly=True)[slope.rows] - local[slope.owned])

    def jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:  # noqa: N803
        """Linearise the matrix at x."""
        if self.state is not None:
            self._slope.gather(x, self.state, self.values)
        for matrix in (J, P):
            matrix.assemble()


class _Matrix:
    """The Jacobian of an operator on local vectors as a matrix on global ones.

    PETSc calls its methods by their names.
    """

    def __init__(self, op: Operator, dm: PETSc.DM, fixed: Any) -> None:
        check_numbers()
        self.op, self.dm, self.local = op, dm, dm.createLocalVec()
        vec, numbers = dm.createGlobalVec(), dm.getLGMap().getIndices()
        self.sizes = vec.getSizes()
        with _together(dm.comm):
            self._fix(fixed, numbers, *vec.getOwnershipRange())

    def _fix(self, fixed: Any, numbers: numpy.ndarray, start: int, end: int) -> None:
        import numpy

        op, n = self.op, self.local.getLocalSize()
        if op.shape != (n, n):
            raise CeedDimensionError(
                f"local vectors of the DM have {n} entries, the operator is {op.shape[0]} x "
                f"{op.shape[1]}: make its active fields by Part.field()"
            )
        self.u, self.v = op.ceed.Vector(n), op.ceed.Vector(n)
        self.u.set_value(0)
        self.fixed = numpy.asarray(fixed, int).ravel()
        numbers = numbers[self.fixed]
        mine = (start <= numbers) & (numbers < end)
        self.rows, self.owned = numbers[mine] - start, self.fixed[mine]

    def gather(self, x: PETSc.Vec, ours: Vector, values: Any) -> None:
        """Set a local vector of ours to the entries of x, and to values where they are fixed."""
        with lend(ours, self.local) as local:
            self.dm.globalToLocal(x, local)
        with ours.array() as array:
            array[self.fixed] = values

    def add(self, ours: Vector, y: PETSc.Vec) -> None:
        """Set y to the sum of the local vectors of all processes."""
        y.zeroEntries()
        with lend(ours, self.local) as local:
            self.dm.localToGlobal(local, y, addv=True)

    def set_rows(self, y: PETSc.Vec, values: Any) -> None:
        """Set the entries of y in this process that are fixed."""
        with y.getBuffer() as array:
            array[self.rows] = values

    def as_petsc(self) -> PETSc.Mat:
        """Return the matrix."""
        from petsc4py import PETSc

        matrix = PETSc.Mat().createPython((self.sizes, self.sizes), self, comm=self.dm.comm)
        matrix.setUp()
        return matrix

    def mult(self, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> None:
        self.act(self.op.apply_jacobian, x, y)

    def act(self, apply: Callable, x: PETSc.Vec, y: PETSc.Vec) -> None:
        """Set y to what a method of the operator makes of x; x where it is fixed."""
        self.gather(x, self.u, 0)
        apply(self.u, self.v)
        self.add(self.v, y)
        self.set_rows(y, x.getArray(readonly=True)[self.rows])


class _Linear(_Matrix):
    """A linear operator as a matrix."""

    def mult(self, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> None:
        self.act(self.op.apply, x, y)

    def multTranspose(self, mat: PETSc.Mat, x: PETSc.Vec, y: PETSc.Vec) -> None:  # noqa: N802
        self.act(self.op.apply_transpose, x, y)

    def getDiagonal(self, mat: PETSc.Mat, diagonal: PETSc.Vec) -> None:  # noqa: N802
        self.op.linear_assemble_diagonal(self.v)
        self.add(self.v, diagonal)
        self.set_rows(diagonal, 1)


@contextmanager
def _together(comm: PETSc.Comm) -> Iterator[None]:
    """Raise an error in every process where a block raises one in any, so that none waits."""
    from petsc4py import PETSc

    failure = None
    try:
        yield
    except Exception as error:
        failure = error
    flags = PETSc.Vec().createMPI((1, None), comm=comm)
    flags.set(failure is not None)
    where, failed = flags.max()
    if failure:
        raise failure
    if failed:
        raise CeedIncompatibleError(f"process {where} of {comm.size} has raised an error")


# ---- Elements ------------------------------------------------------------------------------------


_Tables = tuple["numpy.ndarray", "numpy.ndarray", "numpy.ndarray", int]


def _coordinates(dm: PETSc.DM) -> numpy.ndarray:
    """Return the coordinates of the nodes of this process."""
    vec = dm.getCoordinatesLocal()
    if not vec:
        raise CeedIncompatibleError("the DM has no coordinates: setUniformCoordinates()")
    return vec.getArray(readonly=True).reshape(-1, dm.getCoordinateDim())


def _of_dmda(dm: PETSc.DM, points: numpy.ndarray) -> _Tables:
    """Return coordinates, elements, places in a local vector, and the number of components."""
    import numpy

    if dm.getStencilType() != dm.StencilType.BOX or not dm.getStencilWidth():
        raise CeedIncompatibleError(
            'a DMDA needs stencil_type="box" and stencil_width=1, so that elements have their nodes'
        )
    if any(dm.getBoundaryType()):
        raise CeedIncompatibleError(
            "a DMDA that is periodic, or has ghosts outside, has elements without coordinates: "
            "boundary_type must be DM.BoundaryType.NONE"
        )
    places = dm.getDof() * numpy.arange(len(points))
    return points, numpy.array(dm.getElements(dm.ElementType.Q1)), places, dm.getDof()


def _of_dmplex(dm: PETSc.DM, points: numpy.ndarray) -> _Tables:
    import numpy

    if dm.getCoordinatesLocalized():
        raise CeedIncompatibleError("a periodic DMPlex has vertices with several coordinates")
    section, where = dm.getLocalSection(), dm.getCoordinateSection()
    first, last = dm.getDepthStratum(0)
    vertices = range(first, last)
    counts = {*map(section.getDof, vertices)} if section else {0}
    ncomp = max(counts, default=0)
    size = section.getStorageSize() if ncomp else 0
    if vertices and not (counts == {ncomp} and size == ncomp * len(vertices) > 0):
        raise CeedIncompatibleError("the DMPlex needs a section with unknowns at the vertices only")
    rows = []
    for cell in range(*_own_cells(dm)):
        closure = dm.getTransitiveClosure(cell)[0]
        rows.append(closure[(first <= closure) & (closure < last)] - first)
    lengths = {*map(len, rows)}
    if len(lengths) > 1:
        raise CeedIncompatibleError(f"the cells have {lengths} vertices: all must be of one kind")
    starts = numpy.array([where.getOffset(v) for v in vertices], int) // points.shape[1]
    places = numpy.array([section.getOffset(v) for v in vertices], int)
    return points[starts], numpy.array(rows), places, ncomp


def _own_cells(dm: PETSc.DM) -> tuple[int, int]:
    """Return where the numbers of cells begin and end, none of which another process has."""
    begin, end = dm.getHeightStratum(0)
    shared = dm.getPointSF().getGraph()[1]
    if shared is not None and ((begin <= shared) & (shared < end)).any():
        raise CeedIncompatibleError(
            "the cells of a DMPlex with overlap would count twice: distribute(overlap=0)"
        )
    return begin, end


_ELEMENTS = {"da": (_DMDA, _of_dmda), "plex": (_DMPLEX, _of_dmplex)}
