# SPDX-License-Identifier: BSD-2-Clause
"""Mass and diffusion on every topology and in every order, against sums of products by NumPy.

The restriction is SciPy's sparse matrix of random places, what a QFunction multiplies by is random:
no geometry hides an error.
"""

import itertools

import numpy as np
import pytest
from helpers import values_of, vector_of

import pyceedlike
from pyceedlike import (
    BASIS_NONE,
    ELEMRESTRICTION_NONE,
    GAUSS,
    VECTOR_ACTIVE,
    VECTOR_NONE,
    Data,
    Grad,
    Interp,
    Weight,
)

sparse = pytest.importorskip("scipy.sparse")

ELEMENTS = 11  # a full group of the fast backend, and one that is not
RESOURCES = ["/cpu/self/ref/serial", "/cpu/self/opt/blocked"]
TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
VOIGT = {1: [(0, 0)], 2: [(0, 0), (1, 1), (0, 1)]}
VOIGT[3] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]


# ---- Polynomials ---------------------------------------------------------------------------------


def powers(topology, order):
    """Return the exponents of the monomials that span the polynomials of a topology."""
    box = {
        "line": lambda a: True,
        "quad": lambda a, b: True,
        "hex": lambda a, b, c: True,
        "triangle": lambda a, b: a + b <= order,
        "tet": lambda a, b, c: a + b + c <= order,
        "prism": lambda a, b, c: a + b <= order,
        "pyramid": lambda a, b, c: max(a, b) + c <= order,
    }[topology]
    dim = box.__code__.co_argcount
    return np.array([e for e in itertools.product(range(order + 1), repeat=dim) if box(*e)])


def monomials(exponents, points):
    """Return values [point][monomial] and derivatives [direction][point][monomial]."""
    value = np.prod(points[:, None, :] ** exponents, axis=2)
    slopes = []
    for d in range(exponents.shape[1]):
        lower = exponents - np.eye(exponents.shape[1], dtype=int)[d]
        factor = exponents[:, d] * np.prod(points[:, None, :] ** np.maximum(lower, 0), axis=2)
        slopes.append(factor)
    return value, np.array(slopes)


def full_matrices(topology, order, random):
    """Return interp and grad, from the lattice's nodes to random points, of Lagrange's basis."""
    exponents = powers(topology, order)
    nodes = exponents / order
    points = random.uniform(0, 1, (len(nodes) + 3, exponents.shape[1]))
    value, slope = monomials(exponents, points)
    inverse = np.linalg.inv(monomials(exponents, nodes)[0])
    return value @ inverse, slope @ inverse, points


def tensor_matrices(dim, order):
    """Return interp and grad at Gauss points of a basis with Lobatto nodes; x is the fastest."""
    inner = np.polynomial.legendre.Legendre.basis(order).deriv().roots().real
    nodes = np.concatenate([[-1], np.sort(inner), [1]])
    x = np.polynomial.legendre.leggauss(order + 2)[0]
    value, slope = np.empty((2, len(x), len(nodes)))
    for j, node in enumerate(nodes):
        others = np.delete(nodes, j)
        polynomial = np.poly1d(others, r=True) / np.prod(node - others)
        value[:, j], slope[:, j] = polynomial(x), polynomial.deriv()(x)
    interp, grad = np.ones((1, 1)), [np.ones((1, 1))] * dim
    for axis in reversed(range(dim)):
        grad = [np.kron(g, slope if d == axis else value) for d, g in enumerate(grad)]
        interp = np.kron(interp, value)
    return interp, np.array(grad)


# ---- Operators -----------------------------------------------------------------------------------


def expected(kind, interp, grad, offsets, data, u):
    """Return sum_e R_e^T B^T D B R_e u."""
    places = (np.ones(offsets.size), (np.arange(offsets.size), offsets.ravel()))
    restriction = sparse.csr_array(places, (offsets.size, len(u)))
    local = (restriction @ u).reshape(offsets.shape)
    if kind == "mass":
        at_points = np.einsum("qn,en->eq", interp, local) * data[0]
        back = np.einsum("qn,eq->en", interp, at_points)
    else:
        dim = len(grad)
        tensor = np.empty((dim, dim, *data.shape[1:]))
        for (i, j), part in zip(VOIGT[dim], data, strict=True):
            tensor[i, j] = tensor[j, i] = part
        slopes = np.einsum("dqn,en->deq", grad, local)
        back = np.einsum("dqn,deq->en", grad, np.einsum("ijeq,jeq->ieq", tensor, slopes))
    return restriction.T @ back.ravel()


def apply(ceed, kind, basis, offsets, data, u):
    """Return what an operator of the gallery makes of u."""
    dim, points = basis.get_dimension(), basis.get_num_quadrature_points()
    elements, nodes = offsets.shape
    unknowns = ceed.ElemRestriction(elements, nodes, 1, 1, len(u), offsets)
    stride = elements * points  # data are [part][element][point]
    stored = ceed.StridedElemRestriction(
        elements, points, len(data), data.size, (1, stride, points)
    )
    op = ceed.Operator(
        ceed.QFunctionByName("MassApply" if kind == "mass" else f"Poisson{dim}DApply")
    )
    op.set_field("u" if kind == "mass" else "du", unknowns, basis, VECTOR_ACTIVE)
    op.set_field("qdata", stored, BASIS_NONE, vector_of(ceed, data.ravel()))
    op.set_field("v" if kind == "mass" else "dv", unknowns, basis, VECTOR_ACTIVE)
    return op(vector_of(ceed, u))


def check(ceed, kind, basis, interp, grad, random):
    points, nodes = interp.shape
    unknowns = nodes * ELEMENTS // 2 + 1
    offsets = np.array([random.permutation(unknowns)[:nodes] for _ in range(ELEMENTS)])
    data = random.uniform(
        0.5, 1.5, (1 if kind == "mass" else len(VOIGT[len(grad)]), ELEMENTS, points)
    )
    u = random.standard_normal(unknowns)
    wanted = expected(kind, interp, grad, offsets, data, u)
    found = values_of(apply(ceed, kind, basis, offsets, data, u))
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=TOLERANCE[ceed.scalar] * np.abs(wanted).max()
    )


@pytest.mark.parametrize("kind", ["mass", "diffusion"])
@pytest.mark.parametrize("order", range(1, 9))
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("resource", RESOURCES)
def test_tensor_elements_are_the_sum_of_products(resource, scalar, dim, order, kind, random):
    ceed = pyceedlike.Ceed(resource, scalar=scalar)
    basis = ceed.BasisTensorH1Lagrange(dim, 1, order + 1, order + 2, GAUSS)
    check(ceed, kind, basis, *tensor_matrices(dim, order), random)


@pytest.mark.parametrize("kind", ["mass", "diffusion"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("topology", ["line", "triangle", "quad", "tet", "pyramid", "prism", "hex"])
@pytest.mark.parametrize("resource", RESOURCES)
def test_elements_of_every_topology_are_the_sum_of_products(
    resource, scalar, topology, order, kind, random
):
    ceed = pyceedlike.Ceed(resource, scalar=scalar)
    interp, grad, points = full_matrices(topology, order, random)
    basis = ceed.BasisH1(
        getattr(pyceedlike, f"TOPOLOGY_{topology.upper()}"),
        *(1, interp.shape[1], interp.shape[0], interp, grad, points.T),
        np.ones(len(points)),
    )
    check(ceed, kind, basis, interp, grad, random)


@pytest.mark.parametrize("kind", ["mass", "diffusion"])
def test_both_backends_round_alike(scalar, kind):
    results = []
    for resource in RESOURCES:
        ceed, numbers = pyceedlike.Ceed(resource, scalar=scalar), np.random.default_rng(1)
        basis = ceed.BasisTensorH1Lagrange(3, 1, 5, 6, GAUSS)
        offsets = np.array([numbers.permutation(700)[:125] for _ in range(ELEMENTS)])
        data = numbers.uniform(0.5, 1.5, (1 if kind == "mass" else 6, ELEMENTS, 216))
        u = numbers.standard_normal(700)
        results.append(values_of(apply(ceed, kind, basis, offsets, data, u)))
    scale = np.abs(results[0]).max()
    np.testing.assert_allclose(
        results[0], results[1], rtol=0, atol=40 * np.finfo(scalar).eps * scale
    )


@pytest.mark.parametrize("topology", ["line", "quad", "hex", "triangle", "tet"])
@pytest.mark.parametrize("resource", RESOURCES)
def test_a_function_has_all_points_of_one_element_after_the_other(
    resource, scalar, topology, random
):
    ceed = pyceedlike.Ceed(resource, scalar=scalar)
    interp, grad, points = full_matrices(topology, 3, random)
    dim, n, nodes = len(grad), len(points), interp.shape[1]
    basis = ceed.BasisH1(
        getattr(pyceedlike, f"TOPOLOGY_{topology.upper()}"),
        *(2, nodes, n, interp, grad, points.T, np.ones(n)),
    )
    offsets = np.array([random.permutation(90)[:nodes] for _ in range(ELEMENTS)])
    u, weight = random.standard_normal((2, 90)), random.uniform(0.5, 1.5, (ELEMENTS, n))
    seen = []

    @ceed.qfunction(Grad(dim, 2), Interp(2), Data(), Weight(), dv=Grad(dim, 2), v=Interp(2))
    def both(du, u, weight, ones):
        seen.extend([du.copy(), u.copy(), weight.copy(), ones.copy()])
        return 2 * weight * du, weight * u * ones

    unknowns = ceed.ElemRestriction(ELEMENTS, nodes, 2, 90, 180, offsets)
    stored = ceed.StridedElemRestriction(ELEMENTS, n, 1, weight.size, (1, 1, n))
    op = ceed.Operator(both)
    for name in "du", "u", "dv", "v":
        op.set_field(name, unknowns, basis, VECTOR_ACTIVE)
    op.set_field("weight", stored, BASIS_NONE, vector_of(ceed, weight.ravel()))
    op.set_field("ones", ELEMRESTRICTION_NONE, basis, VECTOR_NONE)
    found = values_of(op(vector_of(ceed, u.ravel()))).reshape(2, 90)

    local = u[:, offsets]
    values = np.einsum("qn,cen->ceq", interp, local)
    slopes = np.einsum("dqn,cen->dceq", grad, local)
    for array, wanted in zip(seen, [slopes, values, weight, np.ones(weight.shape)], strict=True):
        wanted = wanted.reshape(array.shape)
        np.testing.assert_allclose(
            array, wanted, rtol=0, atol=TOLERANCE[scalar] * abs(wanted).max()
        )
    back = np.einsum("qn,ceq->cen", interp, weight * values)
    back += np.einsum("dqn,dceq->cen", grad, 2 * weight * slopes)
    wanted = np.zeros((2, 90))
    for component in range(2):
        np.add.at(wanted[component], offsets, back[component])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCE[scalar] * abs(wanted).max())
