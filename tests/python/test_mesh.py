# SPDX-License-Identifier: BSD-2-Clause
"""Meshes and the spaces on them: numbering, geometry, files, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from helpers import OTHER, values_of, vector_of

import pyceedlike
from pyceedlike import Data, Grad, Interp, Mesh, Weight
from pyceedlike.lagrange import CELLS

TOLERANCE = {"float64": 1e-12, "float32": 2e-5}
ALL = [*CELLS.values()]


@pytest.fixture(params=ALL, ids=lambda cell: cell.name)
def cell(request):
    return request.param


def turns(cell):
    """Return the orders of the vertices in which a cell may be turned, without a mirror."""
    if not cell.is_tensor:
        pairs = list(itertools.combinations(range(cell.dim + 1), 2))
        orders = itertools.permutations(range(cell.dim + 1))
        return [list(o) for o in orders if sum(o[a] > o[b] for a, b in pairs) % 2 == 0]
    corners = [c[::-1] for c in itertools.product((-1, 1), repeat=cell.dim)]
    matrices = [
        np.diag(signs)[list(axes)]
        for axes in itertools.permutations(range(cell.dim))
        for signs in itertools.product((-1, 1), repeat=cell.dim)
    ]
    return [
        [corners.index(tuple(m @ c)) for c in corners] for m in matrices if np.linalg.det(m) > 0
    ]


def bend(nodes):
    """Return nodes of the unit box moved by a smooth map that keeps the sides of x."""
    moved = nodes.copy()
    moved[:, 0] += 0.05 * np.sin(np.pi * nodes[:, 0]) * (1 + nodes[:, 1:].sum(axis=1))
    return moved


def sample(cell, order=1, random=None):
    """Return a bent box of elements of a kind, turned at random."""
    counts = (3, 2, 2)[: cell.dim]
    box = Mesh.box(*counts)
    corners, nodes = box.elements, box.nodes
    if not cell.is_tensor:  # Kuhn's simplices, from vertex 0 to the last
        paths = [
            np.cumsum([0, *(1 << axis for axis in axes)])
            for axes in itertools.permutations(range(cell.dim))
        ]
        corners = np.concatenate([corners[:, path] for path in paths])
        negative = np.linalg.det(nodes[corners[:, 1:]] - nodes[corners[:, :1]]) < 0
        corners[negative, :2] = corners[negative, 1::-1]
    if random:
        orders = np.array(turns(cell))[random.integers(len(turns(cell)), size=len(corners))]
        corners = np.take_along_axis(corners, orders, axis=1)
    mesh = Mesh(nodes, corners, cell.topology)
    if order > 1:
        space = mesh.space(pyceedlike.Ceed(), order)
        mesh = Mesh(space.nodes, space.offsets, cell.topology, order)
    return Mesh(bend(mesh.nodes), mesh.elements, cell.topology, order)


def integral(space, f):
    """Return the integral of a function of the coordinates."""
    qf = space.ceed.qfunction(Interp(space.mesh.dim), Data(), integrand=Data())(
        lambda x, dV: f(*x) * dV
    )
    found = space.evaluate(qf, x=space.coordinates, dV=space.geometry.dV)
    return values_of(found.vector).sum()


# ---- Reference elements --------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_shape_functions_are_one_at_their_node_and_zero_at_the_others(cell, order):
    values = cell.tabulate(order, cell.nodes(order))[0]
    np.testing.assert_allclose(values, np.eye(len(values)), atol=1e-12)


@pytest.mark.parametrize("cell", [c for c in CELLS.values() if not c.is_tensor])
def test_an_order_that_the_nodes_of_a_simplex_do_not_resolve_is_refused(cell):
    points = cell.quadrature(3)[0]
    np.testing.assert_allclose(cell.tabulate(10, points)[0].sum(axis=1), 1, atol=1e-9)
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="orders up to 10, not 11"):
        cell.tabulate(11, points)
    nodes = cell.lattice(1)
    mesh = Mesh(nodes, [range(len(nodes))], cell.topology)
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="orders up to 10, not 11"):
        mesh.space(pyceedlike.Ceed(), 11)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_polynomials_up_to_the_order_are_differentiated_exactly(cell, order, random):
    points = random.random((5, cell.dim))
    slopes = cell.tabulate(order, points)[1]
    for powers in itertools.product(range(order + 1), repeat=cell.dim):
        if sum(powers) <= order:
            nodal = (cell.nodes(order) ** powers).prod(axis=1)
            for d, n in enumerate(powers):
                lower = np.array(powers) - np.eye(cell.dim, dtype=int)[d]
                exact = n * (points ** np.maximum(lower, 0)).prod(axis=1)
                np.testing.assert_allclose(slopes[d] @ nodal, exact, atol=1e-11)


@pytest.mark.parametrize("q", [1, 2, 3, 4, 5, 6])
def test_quadrature_is_exact_to_its_degree(cell, q):
    points, weights = cell.quadrature(q)
    assert (weights > 0).all()
    degree = 2 * q - (1 if cell.is_tensor else cell.dim)
    for powers in itertools.product(range(max(degree, 0) + 1), repeat=cell.dim):
        if cell.is_tensor:
            exact = math.prod((1 + (-1) ** n) / (n + 1) for n in powers)
        elif sum(powers) <= degree:  # Dirichlet's integral
            exact = math.prod(map(math.factorial, powers)) / math.factorial(sum(powers) + cell.dim)
        else:
            continue
        assert weights @ (points**powers).prod(axis=1) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("q", [2, 4])
def test_the_basis_of_a_simplex_is_the_table(ceed, scalar, q):
    for cell in ALL:
        basis = cell.basis(ceed, 2, 3, q)
        points, weights = cell.quadrature(q)
        interp, grad = cell.tabulate(3, points)
        tolerance = 10 * TOLERANCE[scalar]
        np.testing.assert_allclose(basis.get_interp(), interp, atol=tolerance)
        np.testing.assert_allclose(basis.get_grad(), grad, atol=tolerance)
        np.testing.assert_allclose(basis.get_weights(), weights, atol=tolerance)


# ---- Numbering -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_nodes_are_the_same_exactly_where_they_meet(cell, order, random):
    mesh = sample(cell, 2, random)
    space = mesh.space(pyceedlike.Ceed(), order)
    shapes = cell.tabulate(2, cell.nodes(order))[0]
    np.testing.assert_allclose(  # what an element sees of a node is where the node is
        space.nodes[space.offsets], shapes @ mesh.nodes[mesh.elements], atol=1e-12
    )
    apart = np.linalg.norm(space.nodes[:, None] - space.nodes, axis=2)
    assert (apart + np.eye(len(apart))).min() > 1e-3  # no two nodes are at one place
    assert sorted(set(space.offsets.ravel())) == list(range(len(space.nodes)))


def test_nodes_of_the_order_of_the_mesh_are_those_of_the_mesh(cell, random):
    mesh = sample(cell, 2, random)
    space = mesh.space(pyceedlike.Ceed(), 2)
    np.testing.assert_array_equal(space.nodes, mesh.nodes)
    np.testing.assert_array_equal(space.offsets, mesh.elements)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_boundary_is_where_the_box_ends(cell, order, random):
    space = sample(cell, 1, random).space(pyceedlike.Ceed(), order)
    straight = Mesh.box(*(3, 2, 2)[: cell.dim])
    flat = Mesh(straight.nodes, space.mesh.elements, cell.topology)
    nodes = flat.space(pyceedlike.Ceed(), order).nodes
    ends = (np.minimum(nodes, 1 - nodes) < 1e-12).any(axis=1)
    np.testing.assert_array_equal(space.boundary(), np.flatnonzero(ends))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("axes", [(3,), (2, 3), (3, 1, 2)])
def test_a_box_is_numbered_along_x_first(axes, order):
    mesh = Mesh.box(*axes, order=order)
    counts = [n * order + 1 for n in axes]
    nodes = mesh.nodes.reshape(*counts[::-1], len(axes))
    for d in range(len(axes)):
        line = np.moveaxis(nodes[..., d], len(axes) - 1 - d, -1)
        np.testing.assert_array_equal(
            line, np.broadcast_to(line.reshape(-1, counts[d])[0], line.shape)
        )
        assert (np.diff(line) > 0).all()
        assert (line.min(), line.max()) == (0, 1)


def test_a_box_has_the_coordinates_that_it_is_given():
    assert len(Mesh.box(np.int64(3)).elements) == 3
    mesh = Mesh.box([0, 1, 4], np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(mesh.nodes, [[0, -1], [1, -1], [4, -1], [0, 2], [1, 2], [4, 2]])
    np.testing.assert_array_equal(mesh.elements, [[0, 1, 3, 4], [1, 2, 4, 5]])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_boundaries_of_a_box_have_names(order):
    space = Mesh.box(2, 3, 2, order=order).space(pyceedlike.Ceed(), 2)
    for d, letter in enumerate("xyz"):
        for sign, end in (("-", 0), ("+", 1)):
            wanted = np.flatnonzero(abs(space.nodes[:, d] - end) < 1e-12)
            np.testing.assert_array_equal(space.boundary(letter + sign), wanted)
    both = np.union1d(space.boundary("x-"), space.boundary("z+"))
    np.testing.assert_array_equal(space.boundary("x-", "z+"), both)


# ---- Geometry and operators ----------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_the_measure_integrates_over_the_mesh(ceed, scalar, cell, order, random):
    # The map keeps the ends of x and moves points along x alone: it preserves these integrals.
    space = sample(cell, order, random).space(ceed, 3, q=5)
    rest = space.mesh.nodes[:, 1:]
    assert integral(space, lambda *x: np.ones_like(x[0])) == pytest.approx(1, rel=1e-5)
    if rest.size:
        found = integral(space, lambda *x: x[1] ** 3)
        assert found == pytest.approx(1 / 4, rel=1e-5)


def test_gradients_are_those_in_space(ceed, scalar, cell, random):
    space = sample(cell, 2, random).space(ceed, 2)
    slope = random.standard_normal(cell.dim)

    @ceed.qfunction(Grad(cell.dim), Data(cell.dim, cell.dim), grad=Data(cell.dim))
    def gradient(du, dXdx):
        return np.einsum("ijq,iq->jq", dXdx, du)

    u = vector_of(ceed, space.nodes @ slope)
    found = space.evaluate(gradient, du=space.field(u), dXdx=space.geometry.dXdx)
    expected = np.repeat(np.sort(slope), len(found.vector) // cell.dim)
    np.testing.assert_allclose(
        np.sort(values_of(found.vector)), expected, atol=100 * TOLERANCE[scalar]
    )


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_linear_function_has_a_residual_on_the_boundary_alone(ceed, scalar, cell, order, random):
    space = sample(cell, 1, random).space(ceed, order)
    build = ceed.QFunctionByName(f"Poisson{cell.dim}DBuild")
    qdata = space.evaluate(build, dx=space.coordinates)
    op = space.operator(ceed.QFunctionByName(f"Poisson{cell.dim}DApply"), qdata=qdata)
    u = (space.nodes @ random.standard_normal(cell.dim)).astype(scalar)
    inside = np.setdiff1d(np.arange(space.size), space.boundary())
    residual = values_of(op(u))
    assert len(inside) > 0 or order == 1
    assert abs(residual[inside]).max(initial=0) < 100 * TOLERANCE[scalar]
    assert abs(residual).max() > 0.01


@pytest.mark.parametrize("name", ["triangle", "tet"])
def test_linear_simplices_have_their_known_stiffness(ceed, scalar, name, random):
    pytest.importorskip("scipy", reason="SciPy is not installed")
    cell = next(c for c in ALL if c.name == name)
    mesh = sample(cell, 1, random)
    expected = np.zeros((len(mesh.nodes),) * 2)
    for nodes in mesh.elements:
        affine = np.linalg.inv(np.column_stack([np.ones(len(nodes)), mesh.nodes[nodes]]))
        volume = 1 / abs(np.linalg.det(affine)) / math.factorial(cell.dim)
        expected[np.ix_(nodes, nodes)] += volume * affine[1:].T @ affine[1:]
    space = mesh.space(ceed, 1)
    build = ceed.QFunctionByName(f"Poisson{cell.dim}DBuild")
    qdata = space.evaluate(build, dx=space.coordinates)
    op = space.operator(ceed.QFunctionByName(f"Poisson{cell.dim}DApply"), qdata=qdata)
    np.testing.assert_allclose(
        op.to_scipy(assembled=True).toarray(), expected, atol=100 * TOLERANCE[scalar]
    )


def test_components_lie_one_behind_the_other(ceed, scalar):
    space = Mesh.box(2, 2).space(ceed, 2, ncomp=2)
    n = len(space.nodes)

    @ceed.qfunction(Interp(2), Data(), v=Interp(2))
    def second(u, dV):
        return np.stack([0 * u[0], u[1] * dV])

    u = np.concatenate([np.zeros(n), np.ones(n)])
    v = values_of(space.operator(second, dV=space.geometry.dV)(u.astype(scalar))).reshape(2, n)
    assert space.size == 2 * n
    assert not v[0].any()
    assert v[1].sum() == pytest.approx(1, rel=1e-5)


def scaled(ceed, space):
    """Return an operator of two components that multiplies the second by 3."""
    qf = ceed.qfunction(Interp(2), Data(), v=Interp(2))(
        lambda u, dV: np.stack([u[0], 3 * u[1]]) * dV
    )
    return space.operator(qf, dV=space.geometry.dV)


def test_an_array_of_components_and_nodes_is_an_l_vector(ceed, scalar):
    space = Mesh.box(2, 3).space(ceed, 1, ncomp=2)
    both = ceed.CompositeOperator()
    both.add_sub(scaled(ceed, space))
    u = np.arange(space.size, dtype=scalar)
    for op in scaled(ceed, space), both:
        expected = op(u).to_numpy()
        np.testing.assert_array_equal(op(u.reshape(2, -1)).to_numpy(), expected)
        with pytest.raises(
            pyceedlike.CeedDimensionError, match=r"\(12, 2\), \(24,\) or \(2, 12\) is wanted"
        ):
            op(u.reshape(-1, 2))


def test_an_array_of_nodes_and_components_is_an_l_vector_where_components_lie_together(
    ceed, scalar
):
    space = Mesh.box(2).space(ceed, 1, ncomp=2)
    op = ceed.Operator(ceed.IdentityQFunction(2, pyceedlike.EVAL_INTERP, pyceedlike.EVAL_INTERP))
    restriction = ceed.ElemRestriction(2, 2, 2, 1, 6, 2 * space.offsets)
    for name in "input", "output":
        op.set_field(name, restriction, space.basis, pyceedlike.VECTOR_ACTIVE)
    u = np.arange(6, dtype=scalar)
    np.testing.assert_array_equal(op(u.reshape(3, 2)).to_numpy(), op(u).to_numpy())
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"\(3, 2\) is wanted"):
        op(u.reshape(2, 3))


def test_an_operator_takes_the_qfunctions_of_its_jacobian(ceed, scalar):
    space = Mesh.box(3).space(ceed, 1)
    make = ceed.qfunction(Interp(), Data(), v=Interp())
    square, twice = make(lambda u, dV: u * u * dV), make(lambda u, dV: 2 * u * dV)
    op, v = space.operator(square, twice, dV=space.geometry.dV), ceed.Vector(space.size)
    u = vector_of(ceed, np.ones(space.size))
    for apply, total in ((op.apply, 1), (op.apply_jacobian, 2)):
        apply(u, v)
        assert values_of(v).sum() == pytest.approx(total, rel=1e-5)


def test_a_field_of_a_space_is_what_an_operator_takes(ceed):
    space = Mesh.box(2, 3).space(ceed, 2, q=3)
    field, x = space.field(), space.coordinates
    assert isinstance(space, pyceedlike.Space)
    assert isinstance(field, pyceedlike.OperatorField)
    assert isinstance(space.geometry, pyceedlike.Geometry)
    assert field == (space.restriction, space.basis, pyceedlike.VECTOR_ACTIVE)
    assert space.restriction.shape == (6 * 9, space.size)
    assert x.restriction.get_num_components() == 2
    np.testing.assert_allclose(values_of(x.vector), space.mesh.nodes.T.ravel(), rtol=1e-6)
    for basis in (space.basis, x.basis):
        assert basis.get_num_quadrature_points() == 9
    assert space.geometry.dV.basis == pyceedlike.BASIS_NONE


def test_weights_are_known_to_a_space(ceed, scalar):
    space = Mesh.box(3).space(ceed, 1)
    qf = ceed.qfunction(Weight(), v=Interp())(lambda w: w)
    assert values_of(space.operator(qf)()).sum() == pytest.approx(3 * 2)


def test_values_at_points_that_are_not_given_are_named(ceed):
    with pytest.raises(pyceedlike.CeedIncompleteError, match=r"'qdata'.*space.geometry has dV"):
        Mesh.box(3).space(ceed, 1).operator(ceed.QFunctionByName("MassApply"))


@pytest.mark.parametrize(
    ("what", "field"), [("values", Interp()), ("gradients", Grad(1))], ids=["values", "gradients"]
)
def test_two_inputs_that_would_be_the_same_are_one_that_was_forgotten(ceed, what, field):
    space = Mesh.box(3).space(ceed, 1)
    qf = ceed.qfunction(field, field, v=field)(lambda u, kappa: u * kappa)
    match = rf"u, kappa would all be {what} of the active vector: .* kappa=space.field\(vector\)"
    with pytest.raises(pyceedlike.CeedIncompleteError, match=match):
        space.operator(qf)
    both = space.operator(qf, kappa=space.field())  # as asked
    assert repr(both).startswith("<pyceedlike.Operator of u, kappa from 4 to 4 float")


def test_values_and_gradients_of_one_function_are_active_together(ceed):
    space = Mesh.box(3).space(ceed, 1)
    qf = ceed.qfunction(Grad(1), Interp(), Data(), v=Interp())(lambda du, u, dV: du[0] * u * dV)
    operator = space.operator(qf, dV=space.geometry.dV)
    assert repr(operator).startswith("<pyceedlike.Operator of du, u from 4 to 4 float")


def test_a_field_that_is_no_vector_is_named(ceed, scalar):
    space = Mesh.box(3).space(ceed, 1)
    qf = ceed.qfunction(Interp(), Interp(), v=Interp())(lambda u, kappa: u * kappa)
    match = r"a Vector is wanted for the field 'kappa', not ndarray .*: pyceedlike.from_dlpack"
    with pytest.raises(TypeError, match=match):
        space.operator(qf, kappa=space.field(np.ones(4, scalar)))


def product(ceed, space, vector):
    """Return the operator that multiplies values by those of a vector, its field `kappa`."""
    qf = ceed.qfunction(Interp(), Interp(), v=Interp())(lambda u, kappa: u * kappa)
    return space.operator(qf, kappa=space.field(vector))


@pytest.mark.parametrize(
    "given", [lambda s: s.coordinates.vector, lambda s: np.ones(3), lambda s: 1.0, lambda s: None]
)
def test_what_is_no_field_is_named_with_what_makes_one(ceed, given):
    space = Mesh.box(3).space(ceed, 1)
    qf = ceed.qfunction(Interp(), Interp(), v=Interp())(lambda u, kappa: u * kappa)
    with pytest.raises(TypeError, match=r"give kappa=space.field\(vector\)"):
        space.operator(qf, kappa=given(space))


def test_a_geometry_in_the_place_of_its_field_is_named(ceed):
    space = Mesh.box(3).space(ceed, 1)
    with pytest.raises(TypeError, match=r"give qdata=space.geometry.dV"):
        space.operator(ceed.QFunctionByName("MassApply"), qdata=space.geometry)


def test_a_misspelt_field_is_named_with_those_there_are(ceed):
    space = Mesh.box(3).space(ceed, 1)
    match = '"qdta": its fields are u, qdata, v'
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=match):
        space.operator(ceed.QFunctionByName("MassApply"), qdta=space.geometry.dV)


def test_the_entries_of_nodes_are_those_of_their_components(ceed, scalar):
    space = Mesh.box(2, 3).space(ceed, 2, ncomp=3)
    nodes = space.boundary("x+")
    u = np.zeros((3, len(space.nodes)), scalar)
    u[:, nodes] = 1
    np.testing.assert_array_equal(space.dofs(nodes), np.flatnonzero(u))
    np.testing.assert_array_equal(space.dofs(nodes, 2), np.flatnonzero(u)[2 * len(nodes) :])
    np.testing.assert_array_equal(
        space.dofs(nodes, 2, 0), [*space.dofs(nodes, 2), *space.dofs(nodes, 0)]
    )
    with pytest.raises(pyceedlike.CeedDimensionError, match="component 3 is none of 0 to 2"):
        space.dofs(nodes, 3)


def test_a_field_of_the_other_precision_is_named(ceed, scalar):
    space = Mesh.box(3).space(ceed, 1)
    match = rf"a Vector of {scalar} is wanted for the field 'kappa', not .*astype\('{scalar}'\)"
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=match):
        product(ceed, space, pyceedlike.Ceed(scalar=OTHER[scalar]).Vector(4))


def test_a_field_without_values_is_named(ceed):
    space = Mesh.box(3).space(ceed, 1)
    op, u = product(ceed, space, ceed.Vector(4)), vector_of(ceed, np.ones(4))
    calls = (lambda: op(u)), op.diagonal
    for call in calls:
        with pytest.raises(
            pyceedlike.CeedIncompleteError, match='input "kappa": there are no values yet'
        ):
            call()


def test_a_field_that_is_being_written_is_named(ceed):
    space, kappa = Mesh.box(3).space(ceed, 1), vector_of(ceed, np.ones(4))
    op, u = product(ceed, space, kappa), vector_of(ceed, np.ones(4))
    with kappa.array(), pytest.raises(pyceedlike.CeedAccessError, match='input "kappa" refused'):
        op(u)


def test_an_operator_called_without_its_active_input_says_so(ceed):
    op = product(ceed, Mesh.box(3).space(ceed, 1), vector_of(ceed, np.ones(4)))
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="has an active input: give"):
        op()


def test_a_field_that_the_qfunction_has_not_is_named(ceed):
    space = Mesh.box(3).space(ceed, 1)
    qf, dV = ceed.QFunctionByName("MassApply"), space.geometry.dV  # noqa: N806
    with pytest.raises(pyceedlike.CeedIncompatibleError, match='"density"'):
        space.operator(qf, qdata=dV, density=dV)


def test_what_is_evaluated_has_one_output(ceed):
    space = Mesh.box(2).space(ceed, 1)
    qf = ceed.qfunction(Data(), a=Data(), b=Data())(lambda u: (u, u))
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="one output"):
        space.evaluate(qf, u=space.geometry.dV)


# ---- Tables that are no meshes -------------------------------------------------------------------

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("nodes", "elements", "text"),
    [
        ([[0, 0, 0]] * 4, [[0, 1, 2, 3]], r"coordinates \[node\]\[2\], .* \(4, 3\)"),
        (SQUARE, np.zeros((0, 4), int), "at least one element"),
        (SQUARE, [[0, 1, 2]], r"\[element\]\[4\], these have shape \(1, 3\)"),
        (SQUARE, [[0, 1, 2, 4]], "element 0 has nodes .* of 4"),
        (SQUARE, [[0, 1, 2, -1]], "element 0 has nodes"),
        (SQUARE, [[0, 1, 2, 2]], "element 0 has a node twice"),
        ([*SQUARE, [2, 2]], [[0, 1, 2, 3]], "node 4 belongs to no element"),
        ([[0, 0], [1, np.nan], [0, 1], [1, 1]], [[0, 1, 2, 3]], "node 1 is not finite"),
    ],
)
def test_a_table_that_is_no_mesh_is_refused(nodes, elements, text):
    with pytest.raises(pyceedlike.CeedDimensionError, match=text):
        Mesh(nodes, elements, pyceedlike.TOPOLOGY_QUAD)


def test_elements_and_groups_are_integers():
    with pytest.raises(TypeError, match="elements are integers"):
        Mesh(SQUARE, [[0.0, 1.0, 2.0, 3.0]], pyceedlike.TOPOLOGY_QUAD)
    for groups in ({"regions": {"steel": [0.0]}}, {"boundaries": {"steel": [[0.0, 1.0]]}}):
        with pytest.raises(TypeError, match="'steel' are integers"):
            Mesh(SQUARE, [[0, 1, 2, 3]], pyceedlike.TOPOLOGY_QUAD, **groups)


@pytest.mark.parametrize("kind", ["uint8", "int32", ">i8", "uint64"])
def test_tables_of_any_integers_are_copied(kind):
    nodes, elements = np.array(SQUARE, float), np.array([[0, 1, 2, 3]], kind)
    mesh = Mesh(nodes, elements, pyceedlike.TOPOLOGY_QUAD)
    nodes[:], elements[:] = 7, 7
    np.testing.assert_array_equal(mesh.nodes, SQUARE)
    np.testing.assert_array_equal(mesh.elements, [[0, 1, 2, 3]])
    assert mesh.space(pyceedlike.Ceed(), 3).size == 16


def test_an_inverted_element_is_named(cell):
    mesh = sample(cell)
    elements = mesh.elements.copy()
    elements[1, :2] = elements[1, 1::-1]
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="element 1 is inverted"):
        Mesh(mesh.nodes, elements, cell.topology)


def test_an_element_whose_jacobian_overflows_is_named():
    square = 1e200 * np.array([[0.0, 0], [1, 0], [0, 1]])
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="element 0 is too large"):
        pyceedlike.Mesh(square, [[0, 1, 2]], pyceedlike.TOPOLOGY_TRIANGLE)


def test_a_degenerate_element_is_named():
    nodes = [[0, 0], [1, 0], [2, 0]]
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"element 0 .* degenerate"):
        Mesh(nodes, [[0, 1, 2]], pyceedlike.TOPOLOGY_TRIANGLE)


@pytest.mark.parametrize("topology", [pyceedlike.TOPOLOGY_PRISM, "triangle"])
def test_other_kinds_of_elements_are_refused(topology):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"TOPOLOGY_HEX, .*, not"):
        Mesh(SQUARE, [[0, 1, 2, 3]], topology)


def test_a_side_of_three_elements_is_refused():
    nodes = [[0, 0], [1, 0], [0, 1], [0.2, 1], [0.4, 1]]
    mesh = Mesh(nodes, [[0, 1, 2], [0, 1, 3], [0, 1, 4]], pyceedlike.TOPOLOGY_TRIANGLE)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="a side of element 0"):
        _ = mesh.boundary


def test_groups_are_parts_of_the_mesh():
    make = {"nodes": SQUARE, "elements": [[0, 1, 2, 3]], "topology": pyceedlike.TOPOLOGY_QUAD}
    mesh = Mesh(**make, regions={"all": [0]}, boundaries={"left": [[2, 0]], "none": []})
    np.testing.assert_array_equal(mesh.regions["all"], [0])
    np.testing.assert_array_equal(mesh.boundaries["left"], [[0, 0]])
    assert mesh.boundaries["none"].shape == (0, 2)
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"'wall' has \[0 3\], .* no side"):
        Mesh(**make, boundaries={"wall": [[0, 1], [0, 3]]})
    with pytest.raises(pyceedlike.CeedDimensionError, match="'steel' has element 1"):
        Mesh(**make, regions={"steel": [0, 1]})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"boundaries": {"wall": [0, 1, 1, 3]}}, r"'wall' is vertices \[side\]\[2\].* \(4,\)"),
        ({"boundaries": {"wall": [[0, 1, 3]]}}, r"'wall' is vertices \[side\]\[2\].* \(1, 3\)"),
        ({"boundaries": {"wall": [[0, 1], [3]]}}, "'wall' are a table"),
        ({"regions": {"steel": [[0]]}}, r"'steel' is a list of elements.* \(1, 1\)"),
        ({"elements": [[0, 1, 2, 3], [0, 1]]}, "elements are a table"),
        ({"nodes": [[0, 0], [1]]}, "nodes are a table"),
    ],
)
def test_tables_of_another_shape_are_refused_by_name(given, text):
    make = {"nodes": SQUARE, "elements": [[0, 1, 2, 3]], "topology": pyceedlike.TOPOLOGY_QUAD}
    with pytest.raises(pyceedlike.CeedDimensionError, match=text):
        Mesh(**(make | given))


def test_tables_that_are_checked_do_not_change():
    nodes = np.array(SQUARE, float)
    mesh = Mesh(nodes, [[0, 1, 2, 3]], pyceedlike.TOPOLOGY_QUAD)
    for table in mesh.nodes, mesh.elements, mesh.space(pyceedlike.Ceed(), 1).offsets:
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
    nodes[0] = 7  # the mesh has a copy
    assert mesh.nodes[0, 0] == SQUARE[0][0]


@pytest.mark.parametrize("kind", [complex, str])
def test_nodes_are_real_numbers(kind):
    nodes = np.array(SQUARE).astype(kind)
    with pytest.raises(TypeError, match="nodes are coordinates, not"):
        Mesh(nodes, [[0, 1, 2, 3]], pyceedlike.TOPOLOGY_QUAD)


def test_a_boundary_that_is_not_there_is_named():
    space = Mesh.box(2).space(pyceedlike.Ceed(), 1)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"'wall': there is x-, x\+"):
        space.boundary("wall")


@pytest.mark.parametrize("axis", [0, -1, [1], [0, 0], [1, 0], [[0, 1]], [0, np.nan], [0, np.inf]])
def test_an_axis_that_is_none_is_refused(axis):
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"\by\b"):
        Mesh.box(2, axis)


@pytest.mark.parametrize("axes", [(), (1, 1, 1, 1)])
def test_a_box_has_one_to_three_axes(axes):
    with pytest.raises(pyceedlike.CeedDimensionError, match="1 to 3 axes"):
        Mesh.box(*axes)


@pytest.mark.parametrize("wrong", [{"order": 0}, {"order": 1, "ncomp": 0}, {"order": 1, "q": 0}])
def test_a_space_of_nothing_is_refused(wrong):
    with pytest.raises(pyceedlike.CeedDimensionError, match=f"{list(wrong)[-1]} is at least 1"):
        Mesh.box(2).space(pyceedlike.Ceed(), **wrong)


def test_a_mesh_and_a_space_say_what_they_are(cell):
    mesh = sample(cell)
    assert f"{len(mesh.elements)} {cell.name}" in repr(mesh)
    assert (mesh.dim, mesh.topology) == (cell.dim, cell.topology)
    space = mesh.space(pyceedlike.Ceed(), 2, ncomp=3)
    assert f"order 2, 3 components, {len(space.nodes)} nodes" in repr(space)
