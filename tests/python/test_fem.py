# SPDX-License-Identifier: BSD-2-Clause
"""Restrictions, bases, QFunctions and operators against matrices made by NumPy alone."""

import functools
import gc
import importlib.util
import itertools
import traceback
import weakref

import numpy as np
import pytest
from helpers import OTHER, churn, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import (
    BASIS_NONE,
    ELEMRESTRICTION_NONE,
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    GAUSS,
    GAUSS_LOBATTO,
    VECTOR_ACTIVE,
    VECTOR_NONE,
    Data,
    Grad,
    Interp,
    Weight,
)

TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


def close(actual, expected, scalar):
    expected = np.asarray(expected)
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[scalar] * scale)


# ---- A box of quads or hexes, in NumPy -----------------------------------------------------------


def lagrange(nodes, x):
    """Return values and derivatives [point][node] of the Lagrange polynomials."""
    powers = np.linalg.inv(np.vander(nodes, increasing=True))
    derivative = np.arange(1, len(nodes))[:, None] * powers[1:]
    return np.vander(x, len(nodes), increasing=True) @ powers, (
        np.vander(x, len(nodes) - 1, increasing=True) @ derivative
    )


def lobatto(n):
    """Return the n Gauss-Lobatto points, by NumPy's polynomials."""
    inner = np.polynomial.legendre.Legendre.basis(n - 1).deriv().roots()
    return np.concatenate([[-1], np.sort(inner.real), [1]])


class Box:
    """Elements of an order on [0, 1]^dim, slightly bent, and the matrices they assemble to."""

    def __init__(self, dim, elements, order):
        self.dim, self.order = dim, order
        self.shape = [n * order + 1 for n in elements]  # nodes in x, y, z
        strides = np.cumprod([1, *self.shape[:-1]])
        cells = itertools.product(*map(range, elements[::-1]))
        nodes = list(itertools.product(range(order + 1), repeat=dim))  # x is the last and fastest
        self.offsets = np.array(
            [
                [sum((order * c + i) * s for c, i, s in zip(e[::-1], n[::-1], strides, strict=True))
                 for n in nodes]
                for e in cells
            ]
        )  # fmt: skip
        axes = []
        for n in elements:
            ends = np.linspace(0, 1, n + 1)
            local = (lobatto(order + 1) + 1) / 2
            axes.append(np.append((ends[:-1, None] + local[:-1] / n).ravel(), 1.0))
        grid = np.meshgrid(*axes[::-1], indexing="ij")[::-1]
        self.points = np.array([g.ravel() for g in grid])  # [dim][node]
        self.points += 0.05 * np.sin(3 * self.points[::-1] + 1)
        self.size = self.points.shape[1]
        self.q1d = order + 2
        self._reference()

    def _reference(self):
        x, w = np.polynomial.legendre.leggauss(self.q1d)
        value, slope = lagrange(lobatto(self.order + 1), x)
        self.interp, self.weights = np.ones((1, 1)), np.ones(1)
        self.grad = [np.ones((1, 1))] * self.dim
        for axis in reversed(range(self.dim)):
            self.grad = [np.kron(g, slope if d == axis else value) for d, g in enumerate(self.grad)]
            self.interp, self.weights = np.kron(self.interp, value), np.kron(self.weights, w)
        self.grad = np.array(self.grad)

    def assemble(self, kind):
        matrix = np.zeros((self.size, self.size))
        for nodes in self.offsets:
            jacobian = np.einsum("dqn,cn->qcd", self.grad, self.points[:, nodes])
            weight = self.weights * np.linalg.det(jacobian)
            if kind == "mass":
                local = np.einsum("qi,q,qj->ij", self.interp, weight, self.interp)
            else:
                slope = np.einsum("dqn,qdc->cqn", self.grad, np.linalg.inv(jacobian))
                local = np.einsum("cqi,q,cqj->ij", slope, weight, slope)
            matrix[np.ix_(nodes, nodes)] += local
        return matrix


BOXES = [(2, (3, 2), 1), (2, (2, 2), 3), (3, (2, 1, 2), 2)]
IDS = ["quads-1", "quads-3", "hexes-2"]


@pytest.fixture
def x64():
    """64-bit types in JAX, where it is installed."""
    if importlib.util.find_spec("jax"):
        import jax

        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        yield
        jax.config.update("jax_enable_x64", before)
    else:
        yield


@pytest.fixture(params=BOXES, ids=IDS)
def box(request):
    return Box(*request.param)


class Discrete:
    """The box in the library, with quadrature data by the gallery."""

    def __init__(self, ceed, box, kind):
        self.ceed, self.box, self.kind = ceed, box, kind
        dim, nelem, size = box.dim, *box.offsets.shape
        self.r_u = ceed.ElemRestriction(nelem, size, 1, 1, box.size, box.offsets)
        self.r_x = ceed.ElemRestriction(nelem, size, dim, box.size, dim * box.size, box.offsets)
        p, q = box.order + 1, box.q1d
        self.b_u = ceed.BasisTensorH1Lagrange(dim, 1, p, q, GAUSS)
        self.b_x = ceed.BasisTensorH1Lagrange(dim, dim, p, q, GAUSS)
        self.parts = 1 if kind == "mass" else dim * (dim + 1) // 2
        points = q**dim
        self.r_q = ceed.StridedElemRestriction(
            nelem, points, self.parts, nelem * points * self.parts, None
        )
        build = ceed.Operator(
            ceed.QFunctionByName(f"{'Mass' if kind == 'mass' else 'Poisson'}{dim}DBuild")
        )
        build.set_field("dx", self.r_x, self.b_x, VECTOR_ACTIVE)
        build.set_field("weights", ELEMRESTRICTION_NONE, self.b_x, VECTOR_NONE)
        build.set_field("qdata", self.r_q, BASIS_NONE, VECTOR_ACTIVE)
        self.qdata = build(vector_of(ceed, box.points))

    def operator(self, qf, u="u", v="v"):
        op = self.ceed.Operator(qf)
        op.set_field(u, self.r_u, self.b_u, VECTOR_ACTIVE)
        op.set_field("qdata", self.r_q, BASIS_NONE, self.qdata)
        op.set_field(v, self.r_u, self.b_u, VECTOR_ACTIVE)
        return op


def mass(u, qdata):
    return u * qdata


def poisson_2d(du, qdata):
    a, b, c = qdata
    return np.stack([a * du[0] + c * du[1], c * du[0] + b * du[1]])


def poisson_3d(du, qdata):
    xx, yy, zz, yz, xz, xy = qdata
    return np.stack(
        [
            xx * du[0] + xy * du[1] + xz * du[2],
            xy * du[0] + yy * du[1] + yz * du[2],
            xz * du[0] + yz * du[1] + zz * du[2],
        ]
    )


def by_gallery(ceed, box, kind):
    discrete = Discrete(ceed, box, kind)
    if kind == "mass":
        return discrete.operator(ceed.QFunctionByName("MassApply"))
    return discrete.operator(ceed.QFunctionByName(f"Poisson{box.dim}DApply"), "du", "dv")


def by_numpy(ceed, box, kind):
    discrete = Discrete(ceed, box, kind)
    if kind == "mass":
        return discrete.operator(ceed.qfunction(Interp(), Data(), v=Interp())(mass))
    qf = ceed.qfunction(Grad(box.dim), Data(discrete.parts), dv=Grad(box.dim))
    return discrete.operator(qf(poisson_2d if box.dim == 2 else poisson_3d), "du", "dv")


def by_jax(ceed, box, kind):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    discrete = Discrete(ceed, box, kind)
    if kind == "mass":
        return discrete.operator(ceed.qfunction(Interp(), Data(), v=Interp())(jax.jit(mass)))
    if box.dim == 2:

        @ceed.qfunction(Grad(2), Data(3), dv=Grad(2))
        @jax.jit
        def poisson(du, qdata):
            return jax.numpy.einsum("ijq,jq->iq", qdata[jax.numpy.array([[0, 2], [2, 1]])], du)
    else:

        @ceed.qfunction(Grad(3), Data(6), dv=Grad(3))
        @jax.jit
        def poisson(du, qdata):
            places = jax.numpy.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
            return jax.numpy.einsum("ijq,jq->iq", qdata[places], du)

    return discrete.operator(poisson, "du", "dv")


def by_numba(ceed, box, kind):
    numba = pytest.importorskip("numba", reason="numba is not installed")
    t = numba.types
    real = t.float64 if ceed.scalar == "float64" else t.float32
    fields, dim = t.CPointer(t.CPointer(real)), box.dim
    places = np.array([[0, 2], [2, 1]] if dim == 2 else [[0, 5, 4], [5, 1, 3], [4, 3, 2]])
    if kind == "mass":
        places = np.zeros((1, 1), int)

    @numba.cfunc(t.intc(t.voidptr, t.int32, fields, fields))
    def multiply(context, q, inputs, outputs):
        for i in range(places.shape[0]):
            for point in range(q):
                total = inputs[0][0] * 0
                for j in range(places.shape[0]):
                    total += inputs[1][places[i, j] * q + point] * inputs[0][j * q + point]
                outputs[0][i * q + point] = total
        return 0

    discrete, qf = Discrete(ceed, box, kind), ceed.QFunction(1, multiply, "test_fem.py:multiply")
    mode, size = (EVAL_INTERP, 1) if kind == "mass" else (EVAL_GRAD, dim)
    qf.add_input("u", size, mode)
    qf.add_input("qdata", discrete.parts, EVAL_NONE)
    qf.add_output("v", size, mode)
    return discrete.operator(qf)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("kind", ["mass", "poisson"])
@pytest.mark.parametrize("make", [by_gallery, by_numpy, by_jax, by_numba])
@pytest.mark.parametrize("resource", ["/cpu/self/ref/serial", "/cpu/self/opt/blocked"])
def test_an_operator_is_the_matrix_that_numpy_assembles(resource, scalar, box, kind, make, random):
    ceed = pyceedlike.Ceed(resource, scalar=scalar)
    matrix, op = box.assemble(kind), make(ceed, box, kind)
    u = random.standard_normal(box.size)
    assert op.shape == matrix.shape
    close(op(u.astype(scalar)).to_numpy(), matrix @ u, scalar)


@pytest.mark.parametrize("make", [by_gallery, by_numpy])
def test_the_diagonal_is_that_of_the_matrix(ceed, scalar, box, make):
    op = make(ceed, box, "poisson")
    close(op.diagonal().to_numpy(), np.diag(box.assemble("poisson")), scalar)


@pytest.mark.parametrize("make", [by_gallery, by_numpy])
def test_the_assembled_operator_is_the_matrix(ceed, scalar, box, make):
    pytest.importorskip("scipy")
    sparse = make(ceed, box, "poisson").to_scipy(assembled=True)
    close(sparse.toarray(), box.assemble("poisson"), scalar)


def test_scipy_solves_with_an_operator(scalar, ceed):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    box = Box(2, (3, 2), 2)
    matrix, b = box.assemble("mass"), np.ones(box.size)
    op = by_numpy(ceed, box, "mass").to_scipy()
    x, info = linalg.cg(op, b.astype(scalar), rtol=1e-6, maxiter=1000)
    assert info == 0
    assert np.linalg.norm(matrix @ x - b) <= 1e-5 * np.linalg.norm(b)


def test_scipy_applies_the_transpose(ceed, scalar, random):
    pytest.importorskip("scipy")
    box = Box(2, (2, 2), 1)
    op, u = by_numpy(ceed, box, "poisson").to_scipy(), random.standard_normal(box.size)
    close(op.rmatvec(u), box.assemble("poisson").T @ u, scalar)


def test_a_composite_operator_is_the_sum(ceed, scalar, random):
    box = Box(2, (3, 2), 1)
    both = ceed.CompositeOperator()
    for kind in ("mass", "poisson"):
        both.add_sub(by_gallery(ceed, box, kind))
    u = random.standard_normal(box.size)
    close(
        both(u.astype(scalar)).to_numpy(),
        (box.assemble("mass") + box.assemble("poisson")) @ u,
        scalar,
    )


def test_apply_add_adds(ceed, scalar):
    box = Box(2, (3, 2), 1)
    op, v = by_gallery(ceed, box, "mass"), ceed.Vector(box.size)
    v.set_value(5.0)
    op.apply_add(vector_of(ceed, np.ones(box.size)), v)
    close(values_of(v), 5.0 + box.assemble("mass").sum(axis=1), scalar)


def test_a_jacobian_has_a_qfunction_of_its_own(ceed, scalar):
    def doubled(u):
        return 2 * u

    def fivefold(u):
        return 5 * u

    qf, dqf, dqf_t = (ceed.qfunction(Data(), v=Data())(f) for f in (lambda u: u, doubled, fivefold))
    op, rstr = ceed.Operator(qf, dqf, dqf_t), ceed.StridedElemRestriction(1, 3, 1, 3, None)
    for name in ("u", "v"):
        op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)
    u, v = vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    op.apply_jacobian(u, v)
    np.testing.assert_array_equal(values_of(v), [2, 4, 6])
    op.apply_transpose(u, v)
    np.testing.assert_array_equal(values_of(v), [5, 10, 15])


@pytest.mark.parametrize("is_composite", [False, True])
def test_what_has_to_be_linear_is_the_jacobian(ceed, scalar, random, is_composite):
    pytest.importorskip("scipy")
    state = random.standard_normal(9)
    space = pyceedlike.Mesh.box(2, 2).space(ceed, 1)
    cubed = ceed.qfunction(Interp(), Data(), v=Interp())(lambda u, dV: u**3 * dV)
    derivative = ceed.qfunction(Interp(), Interp(), Data(), v=Interp())(
        lambda u, state, dV: 3 * state**2 * u * dV
    )
    dV, at = space.geometry.dV, space.field(vector_of(ceed, state))  # noqa: N806
    op = space.operator(cubed, derivative, dV=dV, state=at)
    weighted = space.operator(derivative, dV=dV, state=at)
    # Column by column, of the linear operator of the derivative alone.
    wanted = np.stack([weighted(e.astype(scalar)).to_numpy() for e in np.eye(9)], axis=1)
    if is_composite:
        whole = ceed.CompositeOperator()
        whole.add_sub(op)
        op = whole
    u = random.standard_normal(9)
    close(op.to_scipy() @ u.astype(scalar), wanted @ u, scalar)
    close(op.to_scipy().T @ u.astype(scalar), wanted.T @ u, scalar)
    close(op.to_scipy(assembled=True).toarray(), wanted, scalar)
    close(op.diagonal().to_numpy(), wanted.diagonal(), scalar)


# ---- Restrictions --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "uint64", ">i8", "list"])
def test_offsets_are_taken_from_any_integers(ceed, kind):
    offsets = [[0, 1], [1, 2]] if kind == "list" else np.array([[0, 1], [1, 2]], kind)
    rstr = ceed.ElemRestriction(2, 2, 1, 1, 3, offsets)
    np.testing.assert_array_equal(values_of(rstr @ vector_of(ceed, [5, 6, 7])), [5, 6, 6, 7])


def test_offsets_are_taken_with_their_strides(ceed):
    offsets = np.arange(8)[::-2].reshape(2, 2)
    rstr = ceed.ElemRestriction(2, 2, 1, 1, 8, offsets)
    np.testing.assert_array_equal(values_of(rstr @ vector_of(ceed, range(8))), [7, 5, 3, 1])


def test_offsets_are_not_kept(ceed):
    offsets = np.array([[0, 1]], "int32")
    rstr = ceed.ElemRestriction(1, 2, 1, 1, 2, offsets)
    offsets[:] = 1000000
    del offsets
    churn()
    np.testing.assert_array_equal(values_of(rstr @ vector_of(ceed, [3, 4])), [3, 4])


@pytest.mark.parametrize("wrong", [2**31, -(2**31) - 1, 2**63 - 1, 2**32])
def test_an_offset_that_fits_in_no_int32_is_refused(ceed, wrong):
    with pytest.raises(
        pyceedlike.CeedDimensionError, match=f"offset {wrong} of element 1, node 0 "
    ):
        ceed.ElemRestriction(2, 2, 1, 1, 3, np.array([[0, 1], [wrong, 2]], "int64"))


@pytest.mark.parametrize("wrong", [3, -1, 2**31 - 1, -(2**31)])
def test_an_offset_outside_the_vector_is_refused(ceed, wrong):
    with pytest.raises(pyceedlike.CeedDimensionError, match=str(wrong)):
        ceed.ElemRestriction(2, 2, 1, 1, 3, np.array([[0, 1], [wrong, 2]]))


@pytest.mark.parametrize("offsets", [np.zeros(2), [[0.0, 1.0]], [2**70, 0], np.zeros(2, bool)])
def test_offsets_that_are_no_integers_are_refused(ceed, offsets):
    with pytest.raises(TypeError, match="offsets are integers"):
        ceed.ElemRestriction(1, 2, 1, 1, 3, offsets)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (1, 6), (7,)])
def test_offsets_of_another_shape_are_refused(ceed, shape):
    match = r"offsets: the shape is .*, \(2, 3\) or \(6,\) is wanted"
    with pytest.raises(pyceedlike.CeedDimensionError, match=match):
        ceed.ElemRestriction(2, 3, 1, 1, 3, np.zeros(shape, int))


def test_a_restriction_of_no_elements_takes_everything_to_nothing(ceed):
    rstr = ceed.ElemRestriction(0, 3, 1, 1, 4, [])
    assert rstr.shape == (0, 4)
    np.testing.assert_array_equal(values_of(rstr.T @ rstr.create_vector()[1]), np.zeros(4))


def test_a_restriction_and_its_transpose_are_matrices(ceed, scalar, random):
    offsets = random.integers(0, 6, (4, 3))
    rstr = ceed.ElemRestriction(4, 3, 2, 6, 12, offsets)
    node, component, element = rstr.get_e_layout()
    dense = np.zeros(rstr.shape)
    for e, n, c in itertools.product(range(4), range(3), range(2)):
        dense[e * element + n * node + c * component, offsets[e, n] + 6 * c] = 1
    u, v = random.standard_normal(12), random.standard_normal(24)
    close(values_of(rstr @ vector_of(ceed, u)), dense @ u, scalar)
    close(values_of(rstr.T @ vector_of(ceed, v)), dense.T @ v, scalar)
    np.testing.assert_array_equal(values_of(rstr.get_multiplicity()), dense.sum(axis=0))
    assert rstr.T.shape == (12, 24)
    assert rstr.T.T is rstr


def test_a_restriction_is_no_matrix_for_arrays(ceed):
    rstr = ceed.StridedElemRestriction(1, 2, 1, 2, (1, 1, 2))
    for matrix in (rstr, rstr.T):
        with pytest.raises(TypeError):
            matrix @ 3


# ---- Bases ---------------------------------------------------------------------------------------


def test_a_tensor_basis_has_the_matrices_of_the_polynomials(ceed, scalar):
    box, basis = Box(3, (1, 1, 1), 2), ceed.BasisTensorH1Lagrange(3, 1, 3, 4, GAUSS)
    close(basis.get_interp(), box.interp, scalar)
    close(basis.get_grad(), box.grad, scalar)
    close(basis.get_weights(), box.weights, scalar)


def test_a_basis_of_arrays_is_that_of_the_polynomials(ceed, scalar):
    x, w = ceed.gauss_quadrature(3)
    value, slope = lagrange(lobatto(2), x)
    basis = ceed.BasisTensorH1(2, 1, 2, 3, value, slope, x, w)
    close(basis.get_interp(), np.kron(value, value), scalar)
    assert (basis.get_dimension(), basis.get_num_components()) == (2, 1)
    assert (basis.get_num_nodes(), basis.get_num_quadrature_points()) == (4, 9)


def test_a_basis_on_triangles_takes_its_own_arrays(ceed, scalar):
    interp, grad = np.full((1, 3), 1 / 3), np.array([[[-1, 1, 0]], [[-1, 0, 1]]])
    basis = ceed.BasisH1(
        pyceedlike.TOPOLOGY_TRIANGLE, 1, 3, 1, interp, grad, [[1 / 3], [1 / 3]], [0.5]
    )
    v = ceed.Vector(2)
    basis.apply(1, EVAL_GRAD, vector_of(ceed, [1, 3, 7]), v)
    np.testing.assert_array_equal(values_of(v), [2, 6])
    close(basis.get_interp(), interp, scalar)


@pytest.mark.parametrize("name", ["interp1d", "grad1d", "qref1d", "qweight1d"])
def test_an_array_of_another_size_is_named(ceed, name):
    arrays = {"interp1d": np.eye(2), "grad1d": np.eye(2), "qref1d": [0, 0], "qweight1d": [1, 1]}
    arrays[name] = np.ones(3)
    with pytest.raises(pyceedlike.CeedDimensionError, match=rf"{name}: the shape is \(3,\), \("):
        ceed.BasisTensorH1(1, 1, 2, 2, *arrays.values())


@pytest.mark.parametrize("name", ["interp", "grad", "qref"])
def test_an_array_that_is_transposed_is_named(ceed, name):
    shapes = {"interp": (4, 3), "grad": (2, 4, 3), "qref": (2, 4), "qweights": (4,)}
    arrays = {n: np.ones(shape) for n, shape in shapes.items()}
    make = functools.partial(ceed.BasisH1, pyceedlike.TOPOLOGY_TRIANGLE, 1, 3, 4)
    make(*arrays.values())
    make(*(x.ravel() for x in arrays.values()))
    arrays[name] = arrays[name].T
    with pytest.raises(pyceedlike.CeedDimensionError, match=f"{name}: the shape is"):
        make(*arrays.values())


def test_lobatto_points_are_the_nodes(ceed, scalar):
    close(ceed.BasisTensorH1Lagrange(1, 1, 4, 4, GAUSS_LOBATTO).get_interp(), np.eye(4), scalar)


def test_the_transpose_of_a_basis_sums(ceed, scalar):
    basis, v = ceed.BasisTensorH1Lagrange(1, 1, 2, 2, GAUSS), ceed.Vector(2)
    basis.apply(1, EVAL_INTERP, vector_of(ceed, [1, 0]), v, tmode=pyceedlike.TRANSPOSE)
    close(values_of(v), basis.get_interp()[0], scalar)


# ---- Operators that are set up wrongly -----------------------------------------------------------


def identity(ceed, f=lambda u: u):
    """Return an operator of three points, not yet of any fields, and its restriction."""
    qf = ceed.qfunction(Data(), v=Data())(f)
    return ceed.Operator(qf), ceed.StridedElemRestriction(1, 3, 1, 3, (1, 1, 3))


def ready(ceed, f=lambda u: u):
    op, rstr = identity(ceed, f)
    op.set_field("u", rstr, BASIS_NONE, VECTOR_ACTIVE)
    op.set_field("v", rstr, BASIS_NONE, VECTOR_ACTIVE)
    return op


def test_a_missing_field_is_named(ceed):
    op, rstr = identity(ceed)
    op.set_field("u", rstr, BASIS_NONE, VECTOR_ACTIVE)
    with pytest.raises(pyceedlike.CeedIncompleteError, match='"v"'):
        op.apply(vector_of(ceed, [1, 2, 3]), ceed.Vector(3))


def test_a_field_that_is_not_there_or_set_twice_is_named(ceed):
    op, rstr = identity(ceed)
    op.set_field("u", rstr, BASIS_NONE, VECTOR_ACTIVE)
    for name in ("u", "w"):
        with pytest.raises(pyceedlike.CeedIncompatibleError, match=f'"{name}"'):
            op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)


def test_a_field_of_another_size_is_named(ceed):
    op, _ = identity(ceed)
    with pytest.raises(pyceedlike.CeedDimensionError, match='"u"'):
        op.set_field("u", ceed.StridedElemRestriction(1, 3, 2, 6, None), BASIS_NONE, VECTOR_ACTIVE)


def test_what_is_no_object_of_the_right_kind_is_refused(ceed):
    op, rstr = identity(ceed)
    for arguments in [
        (rstr, VECTOR_ACTIVE, BASIS_NONE),
        (BASIS_NONE, BASIS_NONE, VECTOR_ACTIVE),
        (rstr, BASIS_NONE, np.zeros(3)),
        (None, BASIS_NONE, VECTOR_ACTIVE),
    ]:
        with pytest.raises(TypeError, match="is wanted for the field 'u'"):
            op.set_field("u", *arguments)


def test_objects_of_the_other_precision_are_refused(ceed, scalar):
    op, _ = identity(ceed)
    other = pyceedlike.Ceed(scalar=OTHER[scalar])
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"precision|float"):
        op.set_field("u", other.StridedElemRestriction(1, 3, 1, 3, None), BASIS_NONE, VECTOR_ACTIVE)


def test_a_vector_is_not_input_and_output_at_once(ceed):
    vector = vector_of(ceed, [1, 2, 3])
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        ready(ceed).apply(vector, vector)
    np.testing.assert_array_equal(values_of(vector), [1, 2, 3])


def test_a_request_is_one_of_two(ceed):
    u, v = vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    for request in (pyceedlike.REQUEST_IMMEDIATE, pyceedlike.REQUEST_ORDERED):
        ready(ceed).apply(u, v, request)
        np.testing.assert_array_equal(values_of(v), [1, 2, 3])
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="request"):
        ready(ceed).apply(u, v, VECTOR_NONE)


def test_operators_keep_what_they_are_made_of(ceed):
    op = ready(ceed, lambda u: 2 * u)
    churn()
    np.testing.assert_array_equal(op(vector_of(ceed, [1, 2, 3])).to_numpy(), [2, 4, 6])


def test_operators_keep_memory_borrowed_from_an_array(ceed, scalar):
    data = np.array([2, 3, 4], scalar)
    passive = ceed.Vector(3)
    passive.set_array(data, cmode=pyceedlike.USE_POINTER)
    op = ceed.Operator(ceed.qfunction(Data(), Data(), v=Data())(lambda u, w: u * w))
    rstr = ceed.StridedElemRestriction(1, 3, 1, 3, None)
    for name, vector in (("u", VECTOR_ACTIVE), ("w", passive), ("v", VECTOR_ACTIVE)):
        op.set_field(name, rstr, BASIS_NONE, vector)
    del data, passive, vector
    churn()
    np.testing.assert_array_equal(op(vector_of(ceed, [1, 1, 1])).to_numpy(), [2, 3, 4])


def test_an_operator_is_given_a_name(ceed):
    op = ready(ceed)
    op.name = "diffusion"
    assert op.name == "diffusion"
    assert repr(op).startswith("<pyceedlike.Operator 'diffusion' of u from 3 to 3 float")
    assert (op.get_num_elements(), op.get_num_quadrature_points()) == (1, 3)


def test_an_operator_of_no_input_is_called_without(ceed, scalar):
    op = ceed.Operator(ceed.qfunction(Weight(), v=Interp())(lambda w: w))
    basis = ceed.BasisTensorH1Lagrange(1, 1, 2, 2, GAUSS)
    op.set_field("w", ELEMRESTRICTION_NONE, basis, VECTOR_NONE)
    op.set_field("v", ceed.ElemRestriction(1, 2, 1, 1, 2, [0, 1]), basis, VECTOR_ACTIVE)
    close(values_of(op()), [1, 1], scalar)


# ---- QFunctions in Python ------------------------------------------------------------------------


def called(qf, ceed, *inputs, size=None):
    """Return what a QFunction of one output of one component makes of its inputs."""
    q = len(inputs[0])
    out = ceed.Vector(q if size is None else size)
    qf.apply(q, [vector_of(ceed, x) for x in inputs], [out])
    return values_of(out)


def test_arrays_have_the_shapes_of_the_fields_and_points_behind(ceed, scalar):
    seen = []

    @ceed.qfunction(Interp(), Interp(3), Grad(2), Grad(2, 3), Data(2, 2), Weight(), v=Interp())
    def look(a, b, c, d, e, w):
        seen.extend((x.shape, x.dtype, x.flags.writeable) for x in (a, b, c, d, e, w))
        return a

    sizes = 1, 3, 2, 6, 4, 1
    look.apply(5, [vector_of(ceed, np.zeros(5 * n)) for n in sizes], [ceed.Vector(5)])
    shapes = (5,), (3, 5), (2, 5), (2, 3, 5), (2, 2, 5), (5,)
    assert seen == [(shape, np.dtype(scalar), False) for shape in shapes]


def test_inputs_are_the_vectors_memory(ceed):
    u, addresses = vector_of(ceed, [1, 2]), []

    @ceed.qfunction(Data(), v=Data())
    def look(u):
        addresses.append(u.ctypes.data)
        return u

    look.apply(2, [u], [ceed.Vector(2)])
    with u.array_read() as array:
        assert addresses == [array.ctypes.data]


def test_a_qfunction_knows_its_fields(ceed):
    qf = ceed.qfunction(Grad(2, 3), Data(), a=Data(2), b=Interp())(lambda du, w: (du, w))
    field = pyceedlike.QFunctionField
    assert qf.inputs == {"du": field(6, EVAL_GRAD), "w": field(1, EVAL_NONE)}
    assert qf.outputs == {"a": field(size=2, mode=EVAL_NONE), "b": (1, EVAL_INTERP)}


def test_an_operator_calls_the_function_once_for_all_points(ceed):
    calls = []

    @ceed.qfunction(Interp(), v=Interp())
    def count(u):
        calls.append(u.shape)
        return u

    basis = ceed.BasisTensorH1Lagrange(1, 1, 2, 3, GAUSS)
    offsets = np.stack([np.arange(50), np.arange(1, 51)], axis=1)
    rstr, op = ceed.ElemRestriction(50, 2, 1, 1, 51, offsets), ceed.Operator(count)
    for name in ("u", "v"):
        op.set_field(name, rstr, basis, VECTOR_ACTIVE)
    op(vector_of(ceed, np.ones(51)))
    assert calls == [(150,)]


def test_several_results_are_a_tuple(ceed):
    qf = ceed.qfunction(Data(), s=Data(), p=Data(2))(lambda u: (u + 1, np.stack([u, 2 * u])))
    s, p = ceed.Vector(2), ceed.Vector(4)
    qf.apply(2, [vector_of(ceed, [1, 5])], [s, p])
    np.testing.assert_array_equal(values_of(s), [2, 6])
    np.testing.assert_array_equal(values_of(p), [1, 5, 2, 10])


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (lambda u: u[:1], pyceedlike.CeedDimensionError, r"'v' of .* \(1,\), \(3,\) is wanted"),
        (lambda u: u + 0j, pyceedlike.CeedIncompatibleError, "'v' of .* is complex"),
        (lambda u: u.astype(int), pyceedlike.CeedIncompatibleError, "'v' of .* is int64"),
        (lambda u: 1.0, pyceedlike.CeedDimensionError, r"'v' of .* \(\), "),
    ],
)
def test_a_wrong_result_is_named(ceed, result, error, text):
    with pytest.raises(error, match=text):
        ready(ceed, result)(vector_of(ceed, [1, 2, 3]))


def test_a_result_of_the_other_precision_is_named(ceed, scalar):
    op = ready(ceed, lambda u: u.astype(OTHER[scalar]))
    with pytest.raises(
        pyceedlike.CeedIncompatibleError, match=f"is {OTHER[scalar]}, {scalar} is wanted"
    ):
        op(vector_of(ceed, [1, 2, 3]))


def test_a_wrong_number_of_results_is_refused(ceed):
    qf = ceed.qfunction(Data(), s=Data(), p=Data())(lambda u: (u,))
    with pytest.raises(pyceedlike.CeedDimensionError, match="2 arrays: s, p"):
        qf.apply(1, [vector_of(ceed, [1])], [ceed.Vector(1), ceed.Vector(1)])


@pytest.mark.parametrize(
    ("inputs", "outputs", "what"),
    [
        ((Interp,), {"v": Interp()}, "input 1"),
        ((Interp(),), {"v": Interp}, "the output 'v'"),
        ((lambda u: u,), {}, "input 1"),  # without parentheses
        ((np.ones(2),), {"v": Interp()}, "input 1"),
    ],
    ids=["input", "output", "function", "array"],
)
def test_what_describes_no_field_is_named_at_the_decorator(ceed, inputs, outputs, what):
    from pyceedlike import native

    for decorator in ceed.qfunction, native.qfunction:
        with pytest.raises(TypeError, match=rf"{what} is described by a call of Interp, .*not by"):
            decorator(*inputs, **outputs)


def test_a_function_that_returns_nothing_is_named(ceed):
    @ceed.qfunction(Interp(), v=Interp())
    def forgetful(u):
        u * 2

    with pytest.raises(TypeError, match="forgetful returned None: it must return v"):
        forgetful.apply(1, [vector_of(ceed, [1])], [ceed.Vector(1)])


def test_a_context_field_that_there_is_not_is_named_with_those_there_are(ceed):
    qf = ceed.qfunction(Data(), v=Data())(lambda u, *, speed=1.0, steps=2: u)
    op = ceed.Operator(qf)
    both = ceed.CompositeOperator()
    rstr = ceed.StridedElemRestriction(1, 3, 1, 3, None)
    for name in "u", "v":
        op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)
    both.add_sub(op)
    for owner in qf.context.set_fields, op.set_context_fields, both.set_context_fields:
        with pytest.raises(pyceedlike.CeedIncompatibleError, match="'sped': there is speed, steps"):
            owner(sped=1.0)


def test_parameters_must_be_the_inputs(ceed):
    with pytest.raises(pyceedlike.CeedDimensionError, match="inputs described: 1, mass has 2"):
        ceed.qfunction(Data(), v=Data())(mass)


def test_a_context_value_without_default_is_named(ceed):
    def scale(u, *, factor):
        return factor * u

    with pytest.raises(pyceedlike.CeedIncompatibleError, match="'factor'"):
        ceed.qfunction(Data(), v=Data())(scale)


class Stop(BaseException):
    """What stops a program, as KeyboardInterrupt does."""


@pytest.mark.parametrize("kind", [ValueError, KeyError, Stop])
def test_an_exception_reaches_the_caller_with_its_traceback(ceed, kind):
    raised = []

    def fail(u):
        raised.append(kind("the metric is singular"))
        raise raised[0]

    with pytest.raises(kind) as caught:
        ready(ceed, fail)(vector_of(ceed, [1, 2, 3]))
    assert caught.value is raised[0]
    assert "fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize("text", ["x" * 100000, "a\0b", "\udcff", "%s %n", ""])
def test_an_exception_reaches_the_caller_whatever_its_text(ceed, text):
    def fail(u):
        raise ValueError(text)

    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared below
        ready(ceed, fail)(vector_of(ceed, [1, 2, 3]))
    assert type(caught.value) is ValueError
    assert str(caught.value) == text


def test_an_exception_leaves_no_lock(ceed):
    def fail(u):
        raise ValueError

    u, v = vector_of(ceed, [1, 2, 3]), vector_of(ceed, [0, 0, 0])
    with pytest.raises(ValueError):  # noqa: PT011 - it has no text
        ready(ceed, fail).apply(u, v)
    with u.array(), v.array():
        pass
    ready(ceed).apply(u, v)
    np.testing.assert_array_equal(values_of(v), [1, 2, 3])


def test_an_exception_is_not_raised_twice(ceed):
    def fail(u):
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        ready(ceed, fail)(vector_of(ceed, [1, 2, 3]))
    with pytest.raises(pyceedlike.CeedDimensionError):
        vector_of(ceed, [1]).copy_from(ceed.Vector(2))


def test_a_c_caller_gets_the_text_of_an_exception(ceed):
    def fail(u):
        raise ValueError("the metric is singular")

    op, u, v = ready(ceed, fail), vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    lib, ffi = c_library(ceed)
    text = ffi.new("const char **")
    handles = (ffi.cast("CeedVector", x.handle) for x in (u, v))
    op_handle = ffi.cast("CeedOperator", op.handle)
    assert lib.CeedOperatorApply(op_handle, *handles, ffi.NULL) == lib.CEED_ERROR_MINOR
    assert lib.CeedGetErrorMessage(ffi.NULL, text) == 0
    assert ffi.string(text[0]) == b"ValueError: the metric is singular"


def c_library(ceed):
    """Return the functions of the C library in the context's precision."""
    import pyceedlike._ceedlike_f32 as single
    import pyceedlike._ceedlike_f64 as double

    module = single if ceed.scalar == "float32" else double
    return module.lib, module.ffi


def test_a_function_lives_as_long_as_anything_calls_it(ceed):
    class Function:
        __name__ = __qualname__ = "Function"

        def __call__(self, u):
            return 3 * u

    function = Function()
    dropped = weakref.ref(function)
    op = ready(ceed, function)
    del function
    churn()
    np.testing.assert_array_equal(op(vector_of(ceed, [1, 2, 3])).to_numpy(), [3, 6, 9])
    del op
    gc.collect()
    assert dropped() is None


def test_a_function_lives_in_c_when_python_has_let_go(ceed):
    op = ready(ceed, lambda u: 4 * u)
    lib, ffi = c_library(ceed)
    kept = ffi.new("CeedOperator *")
    assert lib.CeedOperatorReferenceCopy(ffi.cast("CeedOperator", op.handle), kept) == 0
    del op
    churn()
    u, v = vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    handles = (ffi.cast("CeedVector", x.handle) for x in (u, v))
    assert lib.CeedOperatorApply(kept[0], *handles, ffi.NULL) == 0
    assert lib.CeedOperatorDestroy(kept) == 0
    np.testing.assert_array_equal(values_of(v), [4, 8, 12])


# ---- QFunctions in JAX ---------------------------------------------------------------------------


def test_jax_reads_the_vectors_memory_and_returns_several_results(ceed, jax):
    qf = ceed.qfunction(Data(), s=Data(), p=Data())(jax.jit(lambda u: (u, 2 * u)))
    s, p = ceed.Vector(2), ceed.Vector(2)
    for x in ([1, 5], [3, 4]):
        qf.apply(2, [vector_of(ceed, x)], [s, p])
        np.testing.assert_array_equal(values_of(s), x)
        np.testing.assert_array_equal(values_of(p), np.multiply(x, 2))


def test_a_jitted_function_is_traced_once_for_all_context_values(ceed, jax):
    traced = []

    @jax.jit
    def scale(u, *, factor=2.0, speeds=(1.0, 2.0)):
        traced.append(u.shape)
        return factor * u + speeds[1]

    op, u = ready(ceed, scale), vector_of(ceed, [1, 2, 3])
    np.testing.assert_array_equal(values_of(op(u)), [4, 6, 8])
    op.set_context_fields(factor=3.0, speeds=[0, 1])
    np.testing.assert_array_equal(values_of(op(u)), [4, 7, 10])
    assert traced == [(3,)]


def test_jax_must_keep_the_precision(jax):
    ceed = pyceedlike.Ceed()
    op = ready(ceed, jax.jit(lambda u: u))
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="jax_enable_x64"):
        op(vector_of(ceed, [1, 2, 3]))
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="jax_enable_x64"):
        ready(ceed, jax.jit(lambda u: u))


def test_an_exception_of_a_jitted_function_reaches_the_caller(ceed, jax):
    def fail(u):
        raise ValueError("no such material")

    with pytest.raises(ValueError, match="no such material"):
        ready(ceed, jax.jit(fail))(vector_of(ceed, [1, 2, 3]))


# ---- Contexts ------------------------------------------------------------------------------------


def test_context_values_are_keyword_arguments_that_change_between_applies(ceed):
    def affine(u, *, factor=2.0, shift=0, on=True):
        return factor * u + shift if on else u

    op, u = ready(ceed, affine), vector_of(ceed, [1, 2, 3])
    for values, expected in [
        ({}, [2, 4, 6]),
        ({"factor": 3}, [3, 6, 9]),
        ({"shift": -1, "factor": 1.5}, [0.5, 2, 3.5]),
        ({"on": False}, [1, 2, 3]),
    ]:
        op.set_context_fields(**values)
        np.testing.assert_array_equal(values_of(op(u)), expected)


def test_a_context_value_is_that_of_the_jacobian_and_the_transpose_too(ceed):
    make = ceed.qfunction(Data(), v=Data())
    qfunctions = [make(lambda u, *, factor=2.0: u.dtype.type(factor) * u) for _ in range(2)]
    transpose = ceed.qfunction(Data(), u=Data())(lambda v, *, factor=2.0: v.dtype.type(factor) * v)
    op = ceed.Operator(*qfunctions, transpose)
    r = ceed.StridedElemRestriction(1, 3, 1, 3, None)
    for name in "uv":
        op.set_field(name, r, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
    op.set_context_fields(factor=3.0)
    for apply in (op.apply, op.apply_jacobian, op.apply_transpose):
        v = ceed.Vector(3)
        apply(vector_of(ceed, [1, 2, 3]), v)
        np.testing.assert_array_equal(values_of(v), [3, 6, 9])


def test_a_context_value_of_several_numbers_is_an_array(ceed, scalar):
    seen = []

    @ceed.qfunction(Data(), v=Data())
    def look(u, *, speeds=(1.0, 2.5)):
        seen.append(speeds)
        return u

    called(look, ceed, [1, 2])
    look.context.set_fields(speeds=np.array([4.0, 5.0]))
    called(look, ceed, [1, 2])
    np.testing.assert_array_equal(seen, [[1, 2.5], [4, 5]])


def test_a_context_value_that_is_not_there_is_named_and_nothing_is_set(ceed):
    def scale(u, *, factor=2.0):
        return u.dtype.type(factor) * u

    op = ready(ceed, scale)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="'speed'"):
        op.set_context_fields(factor=9.0, speed=1.0)
    np.testing.assert_array_equal(values_of(op(vector_of(ceed, [1, 2, 3]))), [2, 4, 6])


def test_context_values_are_set_in_all_parts_or_in_none(ceed):
    both = ceed.CompositeOperator()
    first = ready(ceed, lambda u, *, a=1.0: u.dtype.type(a) * u)
    second = ready(ceed, lambda u, *, b=1.0: u.dtype.type(b) * u)
    both.add_sub(first)
    both.add_sub(second)
    contexts = [part._qfunctions[0].context for part in (first, second)]
    with contexts[1]._data(), pytest.raises(pyceedlike.CeedAccessError, match="reading"):
        both.set_context_fields(a=9.0, b=9.0)
    assert contexts[0].get_fields() == {"a": 1}
    both.set_context_fields(a=2.0, b=3.0)
    np.testing.assert_array_equal(values_of(both(vector_of(ceed, [1, 2, 3]))), [5, 10, 15])


@pytest.mark.parametrize("value", ["a", None, [], [1, "b"], 1j, [True, 2]])
def test_a_context_value_that_is_no_number_is_named(ceed, value):
    with pytest.raises(TypeError, match="'speed'"):
        ceed.QFunctionContext(speed=value)


def test_a_context_value_of_another_count_is_named(ceed):
    context = ceed.QFunctionContext(speeds=[1.0, 2.0])
    with pytest.raises(pyceedlike.CeedDimensionError, match="'speeds' has 2 values, not 3"):
        context.set_fields(speeds=[1, 2, 3])


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_an_integer_of_a_context_must_fit(ceed, value):
    context = ceed.QFunctionContext(n=1)
    with pytest.raises(OverflowError):
        context.set_fields(n=value)


@pytest.mark.parametrize("kind", ["int8", "float32", "float64", "complex128"])
def test_the_size_of_a_context_is_that_of_the_buffer(ceed, kind):
    context = ceed.QFunctionContext()
    context.set_data(np.zeros(3, kind))
    assert context.get_size() == 3 * np.dtype(kind).itemsize


def test_a_context_field_outside_the_data_is_refused(ceed):
    context = ceed.QFunctionContext()
    context.set_data(bytes(12))
    with pytest.raises(pyceedlike.CeedDimensionError, match="speed"):
        context.register("speed", "double", 8)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="no type of a field"):
        context.register("speed", "float", 8)


def test_a_python_function_keeps_its_own_context(ceed):
    qf = ceed.qfunction(Data(), v=Data())(lambda u: u)
    with pytest.raises(pyceedlike.CeedAccessError, match="its own context"):
        qf.set_context(ceed.QFunctionContext())
    with pytest.raises(pyceedlike.CeedAccessError, match="keeps its data"):
        qf.context.set_data(bytes(64))
    with pytest.raises(pyceedlike.CeedAccessError, match="keeps its data"):
        qf.context.register("start", "double", 0)
    np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [1, 2])


def test_the_gallery_scales_by_its_context(ceed, scalar):
    qf, context = ceed.QFunctionByName("Scale"), ceed.QFunctionContext()
    context.set_data(np.array([5], scalar))
    qf.add_input("input", 1, EVAL_NONE)
    qf.add_output("output", 1, EVAL_NONE)
    qf.set_context(context)
    del context
    churn()
    np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [5, 10])


# ---- QFunctions in C -----------------------------------------------------------------------------


def test_the_gallery_names_what_there_is(ceed):
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="MassApply"):
        ceed.QFunctionByName("Nonsense")


def test_a_wrong_number_of_vectors_is_refused(ceed):
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"1 inputs given; .* 2: u, qdata"):
        ceed.QFunctionByName("MassApply").apply(1, [ceed.Vector(1)], [ceed.Vector(1)])


def test_a_vector_of_another_length_is_named(ceed):
    u, w = vector_of(ceed, [1, 2]), vector_of(ceed, [1])
    with pytest.raises(pyceedlike.CeedDimensionError, match="qdata"):
        ceed.QFunctionByName("MassApply").apply(2, [u, w], [ceed.Vector(2)])


def halve(context, q, inputs, outputs):
    for i in range(q):
        outputs[0][i] = inputs[0][i] / 2
    return 0


def halving(ceed, function):
    """Return a QFunction of what made halve() a C function, which nobody else holds."""
    qf = ceed.QFunction(1, function, "test_fem.py:halve")
    qf.add_input("u", 1, EVAL_NONE)
    qf.add_output("v", 1, EVAL_NONE)
    return qf


def test_a_cffi_function_is_a_qfunction(ceed, scalar):
    import cffi

    ffi = cffi.FFI()
    real = "double" if scalar == "float64" else "float"
    pointer = f"int(void *, int, const {real} *const *, {real} *const *)"

    qf = halving(ceed, ffi.callback(pointer)(halve))
    churn()
    np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [0.5, 1])


SCALE = """
typedef struct { double factor; int32_t shift; } Context;
CEED_QFUNCTION(scale)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const Context *c = ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = c->factor * in[0][i] + c->shift;
  return 0;
}
"""


@pytest.fixture
def cache(tmp_path, monkeypatch, compiler):
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", " ".join(compiler))
    return tmp_path / "pyceedlike"


def test_c_code_is_a_qfunction_that_reads_its_context(ceed, cache):
    for _ in range(2):
        qf = ceed.QFunction(1, SCALE, "test_fem.py:scale")
        qf.add_input("u", 1, EVAL_NONE)
        qf.add_output("v", 1, EVAL_NONE)
        qf.set_context(ceed.QFunctionContext(factor=2.0, shift=1))
        np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [3, 5])
        qf.context.set_fields(factor=4)
        np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [5, 9])
    assert [path.suffix for path in cache.iterdir()] == [".so"]


@pytest.mark.parametrize(
    ("code", "source", "text"),
    [
        ("int scale(void) { return nothing; }", "scale", "nothing"),
        (SCALE, "test_fem.py:scall", "scall"),
        ("int scale(int x) { return x; }", "scale", "incompatible"),
        (SCALE, "a-b", "file:name"),
    ],
)
def test_c_code_that_is_no_qfunction_is_refused(ceed, cache, code, source, text):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=text):
        ceed.QFunction(1, code, source)
    assert not cache.exists() or not list(cache.iterdir())


def test_a_compiler_that_is_missing_is_named(ceed, cache, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="no-such-compiler"):
        ceed.QFunction(1, SCALE, "scale")


def test_a_numba_cfunc_is_a_qfunction(ceed, scalar):
    numba = pytest.importorskip("numba")
    t = numba.types
    real = t.float64 if scalar == "float64" else t.float32
    fields = t.CPointer(t.CPointer(real))

    qf = halving(ceed, numba.cfunc(t.intc(t.voidptr, t.int32, fields, fields))(halve))
    churn()
    np.testing.assert_array_equal(called(qf, ceed, [1, 2]), [0.5, 1])


# ---- The rest of what is public ------------------------------------------------------------------


def test_constants_are_those_of_the_c_library(ceed):
    lib, _ = c_library(ceed)
    for name in [
        *("NOTRANSPOSE", "TRANSPOSE", "GAUSS", "GAUSS_LOBATTO"),
        *("EVAL_NONE", "EVAL_INTERP", "EVAL_GRAD", "EVAL_DIV", "EVAL_CURL", "EVAL_WEIGHT"),
        *("TOPOLOGY_LINE", "TOPOLOGY_TRIANGLE", "TOPOLOGY_QUAD", "TOPOLOGY_TET"),
        *("TOPOLOGY_PYRAMID", "TOPOLOGY_PRISM", "TOPOLOGY_HEX"),
    ]:
        assert getattr(pyceedlike, name) == getattr(lib, f"CEED_{name}")


def test_divergence_and_curl_are_not_supported_and_named(ceed):
    qf = ceed.IdentityQFunction(1, EVAL_NONE, EVAL_NONE)
    assert isinstance(qf, pyceedlike.QFunction)
    for mode in (pyceedlike.EVAL_DIV, pyceedlike.EVAL_CURL):
        with pytest.raises(pyceedlike.CeedUnsupportedError):
            ceed.IdentityQFunction(1, mode, EVAL_NONE)


def test_the_parts_of_an_assembly_sum_to_the_matrix(ceed, scalar):
    box = Box(2, (2, 1), 1)
    op, matrix = by_gallery(ceed, box, "mass"), np.zeros((box.size, box.size))
    rows, columns = op.linear_assemble_symbolic()
    values, diagonal = ceed.Vector(len(rows)), ceed.Vector(box.size)
    op.linear_assemble(values)
    op.linear_assemble_diagonal(diagonal)
    np.add.at(matrix, (rows, columns), values_of(values))
    close(matrix, box.assemble("mass"), scalar)
    close(values_of(diagonal), np.diag(matrix), scalar)


def test_objects_say_what_they_are(ceed, scalar):
    basis = ceed.BasisTensorH1Lagrange(1, 2, 3, 4, GAUSS)
    rstr = ceed.StridedElemRestriction(2, 3, 1, 6, (1, 1, 3))
    assert isinstance(basis, pyceedlike.Basis)
    assert rstr.get_element_size() == 3
    assert Weight() == pyceedlike.QField(pyceedlike.EVAL_WEIGHT, ())
    for thing, text in [
        (basis, f"Basis in 1-D, 2 components, 3 nodes, 4 quadrature points, {scalar}"),
        (rstr, f"ElemRestriction of 2 elements, 3 nodes, 1 component: 6 to 6 {scalar}"),
        (ceed.QFunctionContext(a=1.0), "QFunctionContext of 8 bytes: a"),
        (
            ceed.IdentityQFunction(1, EVAL_NONE, EVAL_NONE),
            f"QFunction of input to output, {scalar}",
        ),
        (VECTOR_ACTIVE, "VECTOR_ACTIVE"),
    ]:
        assert repr(thing) == f"<pyceedlike.{text}>"
    assert repr(rstr.T) == f"{rstr!r}.T"
    assert basis.ceed == rstr.ceed == ceed


def test_reading_about_operators_imports_no_array_library():
    output = run_well("""
import sys, pyceedlike
ceed = pyceedlike.Ceed()
op = ceed.Operator(ceed.QFunctionByName("MassApply"))
repr(ceed.BasisTensorH1Lagrange(1, 1, 2, 2, pyceedlike.GAUSS)), ceed.QFunctionContext(a=1.0)
ceed.StridedElemRestriction(1, 3, 1, 3, None).get_multiplicity()
print(*sys.modules)
""")
    assert not {"numpy", "scipy", "jax"} & {name.partition(".")[0] for name in output.split()}


def test_operators_may_be_alive_when_python_ends():
    run_well("""
import numpy as np, pyceedlike
ceed = pyceedlike.Ceed()
qf = ceed.qfunction(pyceedlike.Data(), v=pyceedlike.Data())(lambda u: u)
op, rstr = ceed.Operator(qf), ceed.StridedElemRestriction(1, 3, 1, 3, None)
for name in "u", "v":
    op.set_field(name, rstr, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
op(np.ones(3))
cycle = [op]
cycle.append(cycle)
""")


# ---- What else operators and their parts tell ----------------------------------------------------


@pytest.mark.parametrize("resource", ["/cpu/self/ref/serial", "/cpu/self/opt/blocked"])
def test_blocks_of_the_diagonal_are_those_of_the_matrix(resource, scalar, random):
    ceed = pyceedlike.Ceed(resource, scalar=scalar)
    space = pyceedlike.Mesh.box(2, 3).space(ceed, 2, ncomp=2)
    mixing = np.array([[2.0, 0.5], [-1.0, 3.0]], scalar)

    @ceed.qfunction(Interp(2), Data(), v=Interp(2))
    def mix(u, dV):
        return np.einsum("ij,jq->iq", mixing, u) * dV

    op = space.operator(mix, dV=space.geometry.dV)
    matrix, n = op.to_scipy(assembled=True).toarray(), len(space.nodes)
    blocks = op.point_block_diagonal()
    wanted = matrix.reshape(2, n, 2, n)[:, range(n), :, range(n)]
    tolerance = {"float64": 1e-13, "float32": 1e-5}[scalar]
    found = values_of(blocks).reshape(n, 2, 2)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)
    op.linear_assemble_point_block_diagonal(blocks)
    rows, columns = op.linear_assemble_point_block_diagonal_symbolic()
    np.testing.assert_allclose(values_of(blocks), matrix[rows, columns], atol=tolerance)
    d = vector_of(ceed, np.ones(2 * n))
    op.linear_assemble_add_diagonal(d)
    np.testing.assert_allclose(values_of(d), 1 + matrix.diagonal(), rtol=tolerance)


def test_an_assembled_qfunction_is_its_derivatives_at_the_points(ceed, random):
    space = pyceedlike.Mesh.box(2, 2).space(ceed, 1)
    metric = random.uniform(1, 2, (2, 2))

    @ceed.qfunction(Grad(2), dv=Grad(2))
    def stretch(du):
        return (metric.astype(ceed.scalar) @ du).astype(ceed.scalar)

    derivatives, restriction = space.operator(stretch).linear_assemble_qfunction()
    elements, points = restriction.get_num_elements(), restriction.get_element_size()
    assert restriction.get_num_components() == 4
    at_points = values_of(restriction @ derivatives).reshape(2, 2, elements * points)
    wanted = np.repeat(metric.T[:, :, None], elements * points, axis=2)
    np.testing.assert_allclose(at_points, wanted, rtol=1e-6)


def test_a_projection_keeps_the_polynomials_of_both(ceed):
    coarse, fine = (ceed.BasisTensorH1Lagrange(2, 1, p, 5, GAUSS) for p in (3, 4))
    projection = ceed.BasisProjection(coarse, fine)
    x, _ = ceed.lobatto_quadrature(3)
    to, _ = ceed.lobatto_quadrature(4)
    values = np.outer(x**2, x + 1).ravel()
    wanted = np.outer(to**2, to + 1).ravel()
    np.testing.assert_allclose(projection.get_interp() @ values, wanted, atol=1e-5)
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        ceed.BasisProjection(coarse, ceed.BasisTensorH1Lagrange(2, 1, 3, 4, GAUSS))


def test_a_restriction_tells_its_offsets_and_layouts(ceed):
    offsets = [[0, 1, 2], [2, 3, 4]]
    rstr = ceed.ElemRestriction(2, 3, 2, 5, 10, offsets)
    copy = rstr.get_offsets()
    np.testing.assert_array_equal(copy, offsets)
    copy[:] = 0
    np.testing.assert_array_equal(rstr.get_offsets(), offsets)
    assert rstr.get_comp_stride() == 5
    strided = ceed.StridedElemRestriction(2, 3, 1, 6, (1, 6, 3))
    assert strided.get_l_layout() == (1, 6, 3)
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        strided.get_offsets()
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        rstr.get_l_layout()


def test_a_basis_tells_its_matrices_of_one_direction(ceed):
    basis = ceed.BasisTensorH1Lagrange(2, 1, 3, 4, GAUSS)
    assert basis.get_topology() == pyceedlike.TOPOLOGY_QUAD
    assert (basis.get_num_nodes1d(), basis.get_num_quadrature_points1d()) == (3, 4)
    interp, grad = basis.get_interp1d(), basis.get_grad1d()
    np.testing.assert_allclose(np.kron(interp, interp), basis.get_interp(), atol=1e-6)
    np.testing.assert_allclose(np.kron(interp, grad), basis.get_grad()[0], atol=1e-5)
    triangle = ceed.BasisH1(
        pyceedlike.TOPOLOGY_TRIANGLE, 1, 1, 1, [1], [0, 0], [1 / 3, 1 / 3], [0.5]
    )
    with pytest.raises(pyceedlike.CeedError):
        triangle.get_num_nodes1d()


def test_an_operator_tells_its_operations_and_what_it_lacks(ceed):
    space = pyceedlike.Mesh.box(2).space(ceed, 1)
    mass = ceed.QFunctionByName("MassApply")
    mass.set_user_flops_estimate(10)
    op = ceed.Operator(mass)
    with pytest.raises(pyceedlike.CeedIncompleteError, match='"u" is not set'):
        op.check_ready()
    for name in "u", "v":
        op.set_field(name, space.restriction, space.basis, VECTOR_ACTIVE)
    op.set_field("qdata", *space.geometry.dV)
    op.check_ready()
    # 3 points and 2 nodes in each of 2 elements: both evaluations, the sum, and the function
    assert op.get_flops_estimate() == 2 * (2 * 2 * 3 * 2 + 2 + 3 * 10)
    assert 'Input "u": 1, interpolation, active' in op.view()
    assert "Elements: 2 of 2 nodes" in space.restriction.view()
    assert "CeedBasis" in space.basis.view()


def test_data_are_set_where_the_active_output_is_added_to(ceed):
    one = ceed.StridedElemRestriction(3, 1, 1, 3, (1, 1, 1))

    @ceed.qfunction(Data(), v=Data(), w=Data())
    def twice(u):
        return u, 2 * u

    op, w, v = ceed.Operator(twice), ceed.Vector(3), vector_of(ceed, [1, 1, 1])
    for name, vector in {"u": VECTOR_ACTIVE, "v": VECTOR_ACTIVE, "w": w}.items():
        op.set_field(name, one, BASIS_NONE, vector)
    w.set_value(7)
    op.apply_add_active(vector_of(ceed, [1, 2, 3]), v)
    np.testing.assert_array_equal(values_of(v), [2, 3, 4])
    np.testing.assert_array_equal(values_of(w), [2, 4, 6])


@pytest.mark.parametrize("name", [3, None, b"u", ("u", "v")])
def test_a_name_that_is_no_text_is_refused(ceed, name):
    with pytest.raises(TypeError, match=f"a name is a str, not {type(name).__name__}"):
        ceed.QFunctionByName(name)
