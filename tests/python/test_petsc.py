# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's vectors in the memory of ours and back, and operators on its meshes, in one process."""

import _ctypes
import gc
import weakref

import numpy as np
import pytest
from helpers import Memory, address_of, eventually, run_well, values_of, vector_of

import pyceedlike

pytest.importorskip("petsc4py", reason="petsc4py is not installed: make check-petsc")
from petsc4py import PETSc

from pyceedlike.interop.petsc import _locks, lend, share, view
from pyceedlike.interop.petsc_dm import Equations, Part, matrix

SCALAR = np.dtype(PETSc.ScalarType).name
OTHER = {"float64": "float32", "float32": "float64"}[SCALAR]


def vec_of(values):
    vec = PETSc.Vec().createSeq(len(values))
    vec.setArray(values)
    return vec


def ours_of(values, **options):
    return pyceedlike.from_dlpack(np.array(values, SCALAR), copy=True, **options)


# --- view ------------------------------------------------------------------------------------


def test_a_view_is_the_memory_of_the_vec():
    vec = vec_of([1, 2, 3])
    ours = view(vec)
    assert address_of(ours) == vec.getArray(readonly=True).ctypes.data
    ours.scale(2)
    del ours
    assert vec.array.tolist() == [2, 4, 6]


def test_petsc_knows_what_was_written_in_a_view():
    vec = vec_of([3, 4])
    assert vec.norm() == 5  # which PETSc remembers
    before = vec.stateGet()
    array = view(vec).to_numpy()
    array *= 2
    del array
    gc.collect()
    assert vec.stateGet() > before
    assert vec.norm() == 10


def test_a_view_for_reading_leaves_the_state_and_cant_be_written():
    vec = vec_of([3, 4])
    before = vec.stateGet()
    ours = view(vec, writable=False)
    with pytest.raises(pyceedlike.CeedAccessError):
        ours.scale(2)
    assert not ours.to_numpy().flags.writeable
    del ours
    gc.collect()
    assert vec.stateGet() == before


def test_petsc_cant_write_what_a_view_reads():
    vec = vec_of([3, 4])
    array = view(vec, writable=False).to_numpy()
    with pytest.raises(PETSc.Error):
        vec.set(1)
    with pytest.raises(pyceedlike.CeedAccessError, match="PETSc gives no access"):
        view(vec)
    assert vec.norm() == 5
    assert view(vec, writable=False).norm() == 5
    del array
    vec.set(1)
    assert vec.array.tolist() == [1, 1]


def test_petsc_cant_use_what_a_view_writes():
    vec = vec_of([3, 4])
    ours = view(vec)
    for writable in (True, False):
        with pytest.raises(pyceedlike.CeedAccessError, match="PETSc gives no access"):
            view(vec, writable=writable)
    with pytest.raises(PETSc.Error):
        vec.norm()
    del ours
    assert vec.norm() == 5


def test_a_view_keeps_the_vec_alive():
    array = view(vec_of([1, 2, 3])).to_numpy()
    gc.collect()
    assert array.tolist() == [1, 2, 3]


def test_a_view_outlives_the_end_of_petsc():
    run_well(
        "from petsc4py import PETSc\n"
        "from pyceedlike.interop.petsc import view\n"
        "vecs = PETSc.Vec().createSeq(3), PETSc.Vec().createSeq(3)\n"
        "views = view(vecs[0]).to_numpy(), view(vecs[1], writable=False)\n"
    )


def test_torch_works_in_a_view(torch):
    vec = vec_of([1, 2, 3])
    view(vec).to_torch().mul_(torch.tensor(3.0))
    assert vec.array.tolist() == [3, 6, 9]


def test_a_vec_without_entries_has_a_view():
    assert len(view(vec_of([]))) == 0


# --- lend ------------------------------------------------------------------------------------


def test_petsc_works_in_lent_memory():
    ours, vec = ours_of([0, 1, 2]), vec_of([7, 7, 7])
    where = address_of(ours)
    with lend(ours, vec) as borrowed:
        assert borrowed is vec
        assert vec.getArray(readonly=True).ctypes.data == where
        vec.scale(2)
    assert values_of(ours).tolist() == [0, 2, 4]
    assert vec.array.tolist() == [7, 7, 7]


def test_norms_of_a_vec_are_those_of_the_memory_it_has():
    ours, vec = ours_of([3, 4]), vec_of([5, 12])
    assert vec.norm() == 13
    with lend(ours, vec):
        assert vec.norm() == 5
    assert vec.norm() == 13


def test_a_lent_vector_is_petscs_alone():
    ours, vec = ours_of([0, 1, 2]), vec_of([7, 7, 7])
    with lend(ours, vec), pytest.raises(pyceedlike.CeedAccessError):
        ours.scale(2)
    assert ours.export_count == 0
    ours.scale(2)
    assert values_of(ours).tolist() == [0, 2, 4]


def test_an_exception_in_the_block_ends_the_loan():
    ours, vec = ours_of([0, 1, 2]), vec_of([7, 7, 7])
    with pytest.raises(ZeroDivisionError), lend(ours, vec):
        raise ZeroDivisionError
    ours.scale(2)
    vec.set(1)
    assert values_of(ours).tolist() == [0, 2, 4]


def test_a_loan_ends_with_a_vec_that_is_destroyed_in_it():
    ours, vec = ours_of([0, 1, 2]), vec_of([7, 7, 7])
    with lend(ours, vec):
        vec.scale(2)
        vec.destroy()
    ours.scale(2)
    assert values_of(ours).tolist() == [0, 4, 8]


def test_memory_is_not_lent_twice():
    ours, more, vec = ours_of([0, 1, 2]), ours_of([3, 4, 5]), vec_of([7, 7, 7])
    refused = pytest.raises(pyceedlike.CeedAccessError, match="PETSc takes no memory now")
    with lend(ours, vec):
        with refused, lend(more, vec):
            raise AssertionError
        assert vec.array.tolist() == [0, 1, 2]
    assert vec.array.tolist() == [7, 7, 7]


@pytest.mark.parametrize("writable", [True, False])
def test_what_a_view_uses_is_lent_nothing(writable):
    ours, vec = ours_of([0, 1, 2]), vec_of([7, 7, 7])
    array = view(vec, writable=writable).to_numpy()
    with pytest.raises(pyceedlike.CeedAccessError, match="locked"), lend(ours, vec):
        raise AssertionError
    assert array.tolist() == [7, 7, 7]
    del array
    ours.scale(2)
    assert vec.array.tolist() == [7, 7, 7]


def test_ghosts_have_no_room_in_a_loan_and_views_leave_them_alone():
    vec = PETSc.Vec().createGhost([0, 2], (3, None), comm=PETSc.COMM_SELF)
    vec.setArray([1, 2, 3])
    vec.ghostUpdate()
    with (
        pytest.raises(pyceedlike.CeedIncompatibleError, match="ghosts"),
        lend(ours_of([0] * 3), vec),
    ):
        raise AssertionError
    view(vec).scale(2)
    with vec.localForm() as form:
        assert form.array.tolist() == [2, 4, 6, 1, 3]
        with lend(ours_of([0, 1, 2, 3, 4]), form):
            form.scale(2)
            assert form.array.tolist() == [0, 2, 4, 6, 8]
        assert form.array.tolist() == [2, 4, 6, 1, 3]


def test_a_loan_that_petsc_still_reads_is_an_error_and_keeps_the_memory():
    memory = Memory(np.dtype(SCALAR).itemsize * 3)
    kept = weakref.ref(memory)
    ours, vec = pyceedlike.from_dlpack(np.frombuffer(memory, SCALAR), copy=False), vec_of([7] * 3)
    del memory
    with pytest.raises(pyceedlike.CeedAccessError, match="still uses"), lend(ours, vec):
        reading = view(vec, writable=False)
    del ours
    gc.collect()
    assert kept() is not None
    assert values_of(reading).tolist() == [0, 0, 0]
    del reading
    vec.resetArray()
    vec.destroy()
    assert eventually(lambda: kept() is None)


# --- share -----------------------------------------------------------------------------------


def test_a_shared_vec_is_our_memory_for_good():
    ours = ours_of([3, 4])
    vec = share(ours)
    del ours
    gc.collect()
    twin = vec.duplicate()
    vec.copy(twin)
    vec.scale(2)
    assert vec.array.tolist() == [6, 8]
    assert twin.array.tolist() == [3, 4]


def test_a_shared_vec_counts_as_an_export_until_it_is_gone():
    ours = ours_of([3, 4])
    vec = share(ours)
    assert ours.export_count == 1
    del vec
    assert eventually(lambda: ours.export_count == 0)


def test_jax_and_petsc_share_our_memory(jax):
    ours = pyceedlike.Ceed(scalar=SCALAR).Vector(3)
    ours.set_value(2)
    vec = share(ours)
    x = jax.dlpack.from_dlpack(ours, copy=False)
    assert x.unsafe_buffer_pointer() == address_of(ours)
    vec.scale(2)  # PETSc writes
    assert np.asarray(x).tolist() == [4, 4, 4]


def test_petsc_waits_until_jax_has_read(jax):
    vec = share(vector_of(pyceedlike.Ceed(scalar=SCALAR), [1, 2, 3]))
    with view(vec, writable=False).jax() as x:
        assert x.unsafe_buffer_pointer() == vec.getArray(readonly=True).ctypes.data
        with pytest.raises(PETSc.Error):
            vec.scale(2)
        assert x.tolist() == [1, 2, 3]
    vec.scale(2)
    assert view(vec, writable=False).to_jax().tolist() == [2, 4, 6]


def test_memory_that_is_read_only_is_not_shared():
    array = np.ones(3, SCALAR)
    array.flags.writeable = False
    with pytest.raises(pyceedlike.CeedAccessError, match="read-only"):
        share(pyceedlike.from_dlpack(array))


# --- Refusals --------------------------------------------------------------------------------


ENTRIES = {
    "view": lambda: view(vec_of([1])),
    "lend": lambda: lend(ours_of([1]), vec_of([1])).__enter__(),
    "share": lambda: share(ours_of([1])),
    "Part": lambda: Part(box(2, 2)),
    "matrix": lambda: matrix(None, box(2, 2)),
    "Equations": lambda: Equations(None, box(2, 2)),
}


@pytest.mark.parametrize("kind", ["complex128", "complex64", "longdouble"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_a_petsc_of_other_numbers_is_refused_by_name(monkeypatch, kind, entry):
    """Replaced is the type that petsc4py tells; the Vecs and DMs are those of this PETSc."""
    monkeypatch.setattr(PETSc, "ScalarType", np.dtype(kind).type)
    refused = f"{np.dtype(kind).name}.*--with-scalar-type=real"
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=refused):
        ENTRIES[entry]()


@pytest.mark.parametrize("entry", ["view", "lend"])
def test_a_petsc_without_locks_is_refused_by_name(monkeypatch, entry):
    """Replaced is PETSc's library, by another that has no functions for locks."""
    monkeypatch.setattr(PETSc, "__file__", _ctypes.__file__)
    _locks.cache_clear()
    with pytest.raises(pyceedlike.CeedUnsupportedError, match=r"PETSc \d+.* without locks"):
        ENTRIES[entry]()


@pytest.mark.parametrize("use", [share, lambda x: lend(x, vec_of([1, 2, 3])).__enter__()])
def test_a_vector_of_the_other_precision_is_refused_by_name(use):
    ours = pyceedlike.Ceed(scalar=OTHER).Vector(3)
    ours.set_value(1)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=rf"{SCALAR}.*{OTHER}"):
        use(ours)


def test_another_length_is_not_lent():
    vec = vec_of([7, 7])
    refused = pytest.raises(pyceedlike.CeedDimensionError, match=r"3 entries.* 2 ")
    with refused, lend(ours_of([1, 2, 3]), vec):
        raise AssertionError
    assert vec.array.tolist() == [7, 7]


def test_only_petscs_vecs_have_views_and_borrow():
    for stranger in (np.ones(3), PETSc.Vec(), PETSc.Mat()):
        with pytest.raises(TypeError, match="Vec that was created"):
            view(stranger)
        with pytest.raises(TypeError), lend(ours_of([1]), stranger):
            raise AssertionError
    with pytest.raises(TypeError, match="ndarray"):
        share(np.ones(3))


# --- Meshes ----------------------------------------------------------------------------------


def box(*counts, width=1, **options):
    """Return a DMDA on [0, 1] x [0, 2] x [0, 3]."""
    dm = PETSc.DMDA().create(
        [n + 1 for n in counts],
        stencil_type="box",
        stencil_width=width,
        comm=PETSc.COMM_SELF,
        **options,
    )
    dm.setUniformCoordinates(*(end for d in range(3) for end in (0, d + 1)))
    return dm


def plex(*counts, ncomp=1):
    """Return the same as a DMPlex of quads or hexes, with a section on its vertices."""
    upper = range(1, len(counts) + 1)
    dm = PETSc.DMPlex().createBoxMesh(counts, upper=upper, simplex=False, comm=PETSc.COMM_SELF)
    return with_section(dm, ncomp)


def with_section(dm, ncomp=1):
    dm.setNumFields(1)
    dm.setLocalSection(dm.createSection([ncomp], [ncomp] + dm.getDimension() * [0]))
    return dm


def simplices(*counts):
    """Return the same, each box cut in 2 triangles or 6 tets, in PETSc's order of vertices."""
    mesh = pyceedlike.Mesh.box(*(np.linspace(0, d + 1, n + 1) for d, n in enumerate(counts)))
    cut = {
        2: [[0, 1, 3], [0, 3, 2]],
        3: [[1, 0, 3, 7], [3, 0, 2, 7], [2, 0, 6, 7], [6, 0, 4, 7], [4, 0, 5, 7], [5, 0, 1, 7]],
    }[mesh.dim]
    cells = mesh.elements[:, cut].reshape(-1, mesh.dim + 1).astype(PETSc.IntType)
    make = PETSc.DMPlex().createFromCellList
    return with_section(make(mesh.dim, cells, mesh.nodes, comm=PETSc.COMM_SELF))


MESHES = {
    "da, 1-D": lambda: box(4),
    "da, 2-D": lambda: box(3, 2),
    "da, wide": lambda: box(3, 2, width=2),
    "da, 3-D": lambda: box(2, 3, 2),
    "lines": lambda: plex(4),
    "quads": lambda: plex(3, 2),
    "triangles": lambda: simplices(3, 2),
    "hexes": lambda: plex(2, 3, 2),
    "tets": lambda: simplices(2, 3, 2),
}


@pytest.fixture(params=MESHES)
def dm(request):
    return MESHES[request.param]()


def linear(part, name):
    """Return an operator of the gallery on local vectors."""
    space = part.mesh.space(pyceedlike.Ceed(scalar=SCALAR), 1)
    dim, ceed = part.mesh.dim, space.ceed
    build = f"{name}{dim}DBuild"
    qdata = space.evaluate(ceed.QFunctionByName(build), dx=space.coordinates)
    apply = "MassApply" if name == "Mass" else f"{name}{dim}DApply"
    qf = ceed.QFunctionByName(apply)
    u = part.field(space)
    own = {n: u for n in (qf.inputs | qf.outputs) if n != "qdata"}
    return space.operator(qf, qdata=qdata, **own)


def dense(mat):
    """Return the matrix that a shell stands for, column by column."""
    x, y = mat.createVecs()
    columns = []
    for k in range(x.getSize()):
        x.set(0)
        x.setValue(k, 1)
        x.assemble()
        mat.mult(x, y)
        columns.append(y.array.copy())
    return np.array(columns).T


def test_a_part_is_the_whole_mesh_where_there_is_one_process(dm):
    part = Part(dm)
    dim = part.mesh.dim
    mass = matrix(linear(part, "Mass"), dm)
    one, integral = mass.createVecs()
    one.set(1)
    mass.mult(one, integral)
    assert integral.sum() == pytest.approx(
        [0, 1, 2, 6][dim], rel=1e-6 if SCALAR == "float32" else 1e-13
    )
    assert len(part.mesh.nodes) == len(np.unique(part.places)) == one.getSize()


def test_a_part_has_the_coordinates_of_its_places(dm):
    """The mass matrix integrates x y against 1: its row sums are the places' own."""
    part = Part(dm)
    dim = part.mesh.dim
    mass = matrix(linear(part, "Mass"), dm)
    x, y = mass.createVecs()
    x.setArray(np.zeros(x.getLocalSize(), SCALAR))
    with x.getBuffer() as array:
        array[part.places] = part.mesh.nodes[:, 0]
    mass.mult(x, y)
    assert y.sum() == pytest.approx([0, 0.5, 1, 3][dim], rel=1e-6 if SCALAR == "float32" else 1e-13)


def test_the_matrix_is_that_of_the_operator_with_rows_of_the_identity(dm):
    part = Part(dm)
    op = linear(part, "Poisson")
    fixed = part.places[:2]
    expected = op.to_scipy(assembled=True).toarray()
    expected[fixed] = expected[:, fixed] = 0
    expected[fixed, fixed] = 1
    shell = matrix(op, dm, fixed)
    np.testing.assert_allclose(dense(shell), expected, atol=1e-5 if SCALAR == "float32" else 1e-13)


def test_the_transpose_and_the_diagonal_are_those_of_the_matrix(dm):
    part = Part(dm)
    shell = matrix(linear(part, "Poisson"), dm, part.places[:2])
    expected = dense(shell)
    x, y = shell.createVecs()
    x.setRandom()
    shell.multTranspose(x, y)
    tolerance = 1e-5 if SCALAR == "float32" else 1e-13
    np.testing.assert_allclose(y.array, expected.T @ x.array, atol=tolerance)
    np.testing.assert_allclose(shell.getDiagonal().array, expected.diagonal(), atol=tolerance)


def test_a_section_takes_what_it_constrains_out_of_the_matrix():
    free = plex(3, 2)
    op = linear(Part(free), "Poisson")
    expected = op.to_scipy(assembled=True).toarray()

    dm = plex(3, 2)
    dm.createLabel("sides")
    dm.markBoundaryFaces("sides", 1)
    dm.labelComplete(dm.getLabel("sides"))
    sides = dm.getStratumIS("sides", 1)
    dm.setLocalSection(dm.createSection([1], [1, 0, 0], bcField=[0], bcPoints=[sides]))
    first, last = dm.getDepthStratum(0)
    inside = np.setdiff1d(np.arange(first, last), sides.getIndices()) - first
    assert len(inside) == 2
    shell = matrix(linear(Part(dm), "Poisson"), dm)
    tolerance = 1e-5 if SCALAR == "float32" else 1e-13
    np.testing.assert_allclose(dense(shell), expected[np.ix_(inside, inside)], atol=tolerance)
    diagonal = expected.diagonal()[inside]
    np.testing.assert_allclose(shell.getDiagonal().array, diagonal, atol=tolerance)


def test_components_lie_one_behind_the_other():
    dm = plex(2, 2, ncomp=2)
    part = Part(dm)
    ceed = pyceedlike.Ceed(scalar=SCALAR)
    space = part.mesh.space(ceed, 1, ncomp=2)

    @ceed.qfunction(pyceedlike.Interp(2), pyceedlike.Data(), v=pyceedlike.Interp(2))
    def second_twice(u, dV):
        return np.stack([u[0], 2 * u[1]]) * dV

    u = part.field(space)
    op = space.operator(second_twice, dV=space.geometry.dV, u=u, v=u)
    mass = matrix(op, dm)
    one, integral = mass.createVecs()
    one.set(1)
    mass.mult(one, integral)
    sums = integral.array[part.unknowns(slice(None))].reshape(-1, 2).sum(axis=0)
    assert sums == pytest.approx([2, 4])


def test_an_error_in_a_qfunction_reaches_the_caller_of_petsc():
    dm = box(2, 2)
    part = Part(dm)
    ceed = pyceedlike.Ceed(scalar=SCALAR)
    space = part.mesh.space(ceed, 1)

    @ceed.qfunction(pyceedlike.Interp(), v=pyceedlike.Interp())
    def broken(u):
        raise ValueError("not today")

    shell = matrix(space.operator(broken, u=part.field(space), v=part.field(space)), dm)
    x, y = shell.createVecs()
    with pytest.raises(PETSc.Error) as error:
        shell.mult(x, y)
    assert repr(error.value.__cause__) == "ValueError('not today')"


def test_newton_converges_quadratically_where_the_state_is_that_of_the_point():
    """u^3 + u = b at the nodes, by a mass matrix: the Jacobian is 3 u^2 + 1."""
    dm = box(3, 3)
    part = Part(dm)
    ceed = pyceedlike.Ceed(scalar=SCALAR)
    space = part.mesh.space(ceed, 1)
    state = ceed.Vector(part.size)
    interp, data = pyceedlike.Interp(), pyceedlike.Data()

    @ceed.qfunction(interp, data, v=interp)
    def cubic(u, dV):
        return (u**3 + u - 10) * dV

    @ceed.qfunction(interp, interp, data, v=interp)
    def slope(u, at, dV):
        return (3 * at**2 + 1) * u * dV

    u, at = part.field(space), part.field(space, state)
    op = space.operator(cubic, slope, u=u, v=u, at=at, dV=space.geometry.dV)
    equations = Equations(op, dm, state, part.places[:1], 2.0)  # 8 + 2 is 10
    x, snes = dm.createGlobalVec(), PETSc.SNES().create(PETSc.COMM_SELF)
    snes.setFunction(equations.residual, x.duplicate())
    snes.setJacobian(equations.jacobian, equations.matrix)
    snes.getKSP().getPC().setType("none")
    x.set(1)
    snes.setTolerances(rtol=1e-5)
    snes.getKSP().setTolerances(rtol=1e-6)
    snes.solve(None, x)
    assert snes.converged
    assert snes.getIterationNumber() <= 7
    np.testing.assert_allclose(x.array, 2, atol=1e-4)


def vertices_and_edges():
    dm = plex(2, 2)
    dm.setLocalSection(dm.createSection([1], [1, 1, 0]))
    return dm


def without_section():
    return PETSc.DMPlex().createBoxMesh([2, 2], simplex=False, comm=PETSc.COMM_SELF)


def star():
    dm = PETSc.DMDA().create([4, 4], stencil_type="star", stencil_width=1, comm=PETSc.COMM_SELF)
    dm.setUniformCoordinates(0, 1, 0, 1)
    return dm


def nowhere():
    return PETSc.DMDA().create([4, 4], stencil_type="box", stencil_width=1, comm=PETSc.COMM_SELF)


def periodic():
    dm = PETSc.DMPlex().createBoxMesh([4, 4], simplex=False, periodic=True, comm=PETSc.COMM_SELF)
    return with_section(dm)


def uneven():
    """Two unknowns at a vertex and none at another: as many as if each had one."""
    dm = plex(1, 1)
    section = dm.getLocalSection().clone()
    first, last = dm.getDepthStratum(0)
    section.setChart(0, last)
    for vertex, count in zip(range(first, last), (2, 0, 1, 1), strict=True):
        section.setDof(vertex, count)
    section.setUp()
    dm.setLocalSection(section)
    return dm


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: box(4, 4, boundary_type="periodic"), "boundary_type"),
        (lambda: box(4, 4, boundary_type=("none", "ghosted")), "boundary_type"),
        (periodic, "periodic"),
        (uneven, "at the vertices only"),
        (vertices_and_edges, "at the vertices only"),
        (without_section, "needs a section"),
        (star, "stencil_type"),
        (nowhere, "no coordinates"),
        (lambda: PETSc.DMShell().create(comm=PETSc.COMM_SELF), "shell"),
    ],
)
def test_meshes_that_have_no_part_are_refused_by_name(make, message):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=message):
        Part(make())


def test_a_process_without_elements_is_an_error_that_names_it():
    with pytest.raises(pyceedlike.CeedDimensionError, match="process 0 of 1 has no elements"):
        Part(box(0, 3))


def test_another_space_and_another_size_are_refused():
    dm = box(2, 2)
    part = Part(dm)
    ceed = pyceedlike.Ceed(scalar=SCALAR)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"mesh\.space"):
        part.field(part.mesh.space(ceed, 2))
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"mesh\.space"):
        part.field(pyceedlike.Mesh.box(2, 2).space(ceed, 1))
    with pytest.raises(pyceedlike.CeedDimensionError, match="16 entries"):
        matrix(linear(part, "Mass"), box(3, 3))
