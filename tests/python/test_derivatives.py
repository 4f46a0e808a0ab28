# SPDX-License-Identifier: BSD-2-Clause
"""Derivatives of point functions, against JAX's own, and what operators make of them."""

import numpy as np
import pytest
from test_native import RTOL, agree, by_c, needs_a_compiler, vectors  # noqa: F401 - every test's

import pyceedlike
from pyceedlike import (
    BASIS_NONE,
    GAUSS,
    VECTOR_ACTIVE,
    CeedIncompatibleError,
    CeedUnsupportedError,
    Data,
    Grad,
    Interp,
    Mesh,
    Weight,
    native,
)

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy


@native.qfunction(Grad(2, 2), Data(), density=Data())
def energy(du, w, *, mu=1.5, lam=2.0):
    f = jnp.eye(2) + du
    log_j = jnp.log(jnp.linalg.det(f))
    return w * (mu / 2 * jnp.sum(f * f) - mu * log_j + lam / 2 * log_j**2)


residual = energy.gradient(dv="du")


@native.qfunction(Interp(3), Grad(2, 3), Data(4), flux=Grad(2, 3), source=Interp(3))
def reaction(u, du, k, *, rate=0.5, order=2):
    return jnp.tanh(k[0] + u) * du * k[1], rate * jnp.sin(u) ** order * k[2:].sum()


def fields(random, point, n=13):
    """Return random values of the inputs of a point function."""
    return {name: 0.2 * random.standard_normal((*f.shape, n)) for name, f in point.inputs.items()}


def stacked(function, *inputs):
    """Return the results of a function of one point, for all points, by JAX."""
    with jax.enable_x64(True):
        return [np.asarray(x) for x in jax.vmap(function, -1, -1)(*map(jnp.asarray, inputs))]


def close(found, expected):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def test_the_gradient_of_an_energy_is_jaxs(random):
    x = fields(random, energy)
    expected = stacked(lambda du, w: (jax.grad(energy)(du, w),), *x.values())
    close(by_c(residual, pyceedlike.Ceed(), *x.values()), expected)


def test_a_jacobian_is_jaxs(random):
    tangent = residual.jvp()
    assert list(tangent.inputs) == ["du", "du_at", "w"]
    x = fields(random, tangent)
    expected = stacked(
        lambda d, at, w: (jax.jvp(lambda u: jax.grad(energy)(u, w), [at], [d])[1],), *x.values()
    )
    close(by_c(tangent, pyceedlike.Ceed(), *x.values()), expected)


def test_a_jacobian_in_several_fields_and_a_value_is_jaxs(random):
    tangent = reaction.jvp(of=("u", "du", "rate"))
    assert list(tangent.inputs) == ["u", "du", "u_at", "du_at", "k"]
    assert tangent.context["rate_dot"] == 0
    x = fields(random, tangent)

    def expected(u, du, u_at, du_at, k):
        function = lambda *a: reaction(*a[:2], k, rate=a[2])  # noqa: E731
        return jax.jvp(function, [u_at, du_at, 0.5], [u, du, 0.25])[1]

    ceed = pyceedlike.Ceed()
    qf, n = tangent.qfunction(ceed), 13
    qf.context.set_fields(rate_dot=0.25)
    outputs = [ceed.Vector(6 * n), ceed.Vector(3 * n)]
    inputs = [ceed.Vector(v.size) for v in x.values()]
    for vector, values in zip(inputs, x.values(), strict=True):
        vector.set_array(values.ravel())
    qf.apply(n, inputs, outputs)
    close([v.to_numpy() for v in outputs], [e.ravel() for e in stacked(expected, *x.values())])


def test_a_transpose_is_jaxs(random):
    transpose = reaction.vjp(of=("u", "rate"))
    assert list(transpose.outputs) == ["u", "rate"]
    x = fields(random, transpose)

    def expected(flux, source, u_at, du, k):
        function = lambda u, rate: reaction(u, du, k, rate=rate)  # noqa: E731
        return jax.vjp(function, u_at, 0.5)[1]((flux, source))

    close(by_c(transpose, pyceedlike.Ceed(), *x.values()), stacked(expected, *x.values()))


def test_second_derivatives_are_derivatives_of_derivatives(random):
    second = residual.jvp().jvp(of="du_at")
    assert list(second.inputs) == ["du_at", "du", "du_at_at", "w"]
    agree(second, pyceedlike.Ceed(), *fields(random, second).values())


def test_a_derivative_has_no_inputs_that_it_does_not_depend_on():
    @native.qfunction(Interp(), Data(), v=Interp())
    def linear(u, qdata):
        return u * qdata + 3

    assert list(linear.jvp().inputs) == ["u", "qdata"]
    assert list(linear.vjp().inputs) == ["v", "qdata"]


def test_what_a_call_inside_reads_in_vain_is_no_input():
    def volume(x):  # jnp.linalg.det is a function of its own inside
        return jnp.log(jnp.linalg.det(jnp.eye(3) + x)) ** 2

    @native.qfunction(Grad(3, 3), Grad(3, 3), v=Grad(3, 3))
    def tangent(direction, x):
        return jax.jvp(jax.grad(volume), (x,), (direction,))[1]

    assert list(tangent.vjp(of="direction").inputs) == ["v", "x"]


def test_a_derivative_in_one_of_several_inputs_has_to_say_which():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"2 inputs .*u, du.*of="):
        reaction.jvp()
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="no 'x' to differentiate in: u, du"):
        reaction.jvp(of="x")


def test_a_gradient_is_of_a_scalar():
    with pytest.raises(pyceedlike.CeedDimensionError, match="no scalar function"):
        reaction.gradient(v="u")


def test_an_output_named_as_an_input_has_no_transpose():
    @native.qfunction(Interp(), Data(), w=Interp())
    def named(u, w):
        return u * w

    with pytest.raises(pyceedlike.CeedIncompatibleError, match="another name"):
        named.vjp()


# ---- States --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("point", "of"), [(residual, None), (reaction, ("u", "du"))], ids=["elastic", "reaction"]
)
def test_a_jacobian_at_a_stored_state_is_the_one_at_the_point(point, of, random):
    ceed = pyceedlike.Ceed()
    stored = point.with_state("state", of=of)
    x = fields(random, point)
    *values, state = by_c(stored, ceed, *x.values())
    close(values, by_c(point, ceed, *x.values()))
    for kind in ("jvp", "vjp"):
        at_state, at_point = getattr(stored, kind)(), getattr(point, kind)(of)
        y = fields(random, at_point) | {f"{name}_at": v for name, v in x.items()}
        y |= {name: v for name, v in x.items() if name not in (of or ["du"])} | {"state": state}
        found = by_c(at_state, ceed, *(y[name] for name in at_state.inputs))
        close(found, by_c(at_point, ceed, *(y[name] for name in at_point.inputs)))


@pytest.mark.parametrize(
    "function",
    [
        lambda u: jax.lax.fori_loop(0, 5, lambda i, c: jnp.sin(c) * u, u),
        lambda u: jax.lax.cond(u > 0, jnp.exp, jnp.cos, u),
        lambda u: jnp.exp(jax.lax.scan(lambda c, _: (c * u, c), u, None, 4)[1].sum()),
    ],
    ids=["loop", "branch", "stacked"],
)
def test_a_state_of_loops_and_branches_serves_both_derivatives(function, random):
    stored = native.qfunction(Interp(), v=Interp())(function).with_state()
    ceed, at, way = pyceedlike.Ceed(), random.standard_normal(13), random.standard_normal(13)
    value, state = by_c(stored, ceed, at)
    (slopes,) = stacked(lambda u: (jax.grad(function)(u),), at)
    close([value], stacked(lambda u: (function(u),), at))
    close(by_c(stored.jvp(), ceed, way, state), [slopes * way])
    close(by_c(stored.vjp(), ceed, way, state), [slopes * way])


def test_a_constant_output_needs_no_state(random):
    point = native.qfunction(Interp(), v=Interp(), w=Interp())(lambda u: (u**2, 1.0))
    stored, u = point.with_state(), random.standard_normal(13)
    _, constant, state = by_c(stored, pyceedlike.Ceed(), u)
    close([constant], [np.ones(13)])
    close(by_c(stored.jvp(), pyceedlike.Ceed(), u, state), [2 * u**2, np.zeros(13)])


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: f.gradient(a="u", b="u"),
        lambda f: f.gradient(),
        lambda f: f.jvp(of=[]),
        lambda f: f.jvp(of=["u", "u"]),
        lambda f: f.vjp(of=["u", "u"]),
    ],
)
def test_a_derivative_is_in_each_variable_once(derivative):
    point = native.qfunction(Interp(), v=Interp())(lambda u: u**3)
    with pytest.raises(CeedIncompatibleError, match="each input and context value once"):
        derivative(point)


def test_the_names_of_a_derivative_are_apart():
    def function(u, u_at, *, mu=1.0, mu_dot=2.0):
        return mu * u**2 * u_at * mu_dot

    point = native.qfunction(Interp(), Interp(), v=Interp())(function)
    second = native.qfunction(Interp(), v=Interp())(lambda u: u**3).jvp()
    for derivative, of, name in (
        (point.jvp, "u", "u_at"),
        (point.vjp, "u", "u_at"),
        (point.jvp, ["u_at", "mu"], "mu_dot"),
        (second.jvp, "u", "u_at"),
    ):
        with pytest.raises(CeedIncompatibleError, match=f"of the name {name}:"):
            derivative(of=of)


def test_a_state_is_the_least_that_saves_divisions_and_functions():
    @native.qfunction(Interp(5), Data(), v=Interp(5))
    def scaled(u, w):
        return w * u * jnp.exp(jnp.sum(u)) / 3

    assert scaled.with_state().outputs["state"].shape == (6,)  # u, and the exponential


def test_a_state_takes_no_name_twice():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="has a field 'w'"):
        residual.with_state("w")


def test_the_derivatives_of_a_state_are_chosen_with_it():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="with_state"):
        residual.with_state().jvp(of="w")


# ---- Operators -----------------------------------------------------------------------------------


class Square:
    """Bilinear elements on the unit square, and the operators of a point function on them."""

    def __init__(self, ceed, n=4):
        self.ceed, self.n, self.nodes = ceed, n, (n + 1) ** 2
        corners = np.arange(self.nodes).reshape(n + 1, n + 1)
        offsets = np.stack(
            [corners[:-1, :-1], corners[:-1, 1:], corners[1:, :-1], corners[1:, 1:]], axis=-1
        ).reshape(-1, 4)
        self.rstr = ceed.ElemRestriction(n * n, 4, 2, self.nodes, 2 * self.nodes, offsets)
        self.basis = ceed.BasisTensorH1Lagrange(2, 2, 2, 2, GAUSS)
        x = np.linspace(0, 1, n + 1)
        self.x = np.stack(np.meshgrid(x, x, indexing="xy")).reshape(2, -1)
        self.is_inside = np.tile(((self.x > 0) & (self.x < 1)).all(axis=0), 2)

    def at_points(self, size):
        points = 4 * self.n**2
        rstr = self.ceed.StridedElemRestriction(self.n**2, 4, size, size * points, None)
        return rstr, self.ceed.Vector(size * points)

    def operator(self, *qfunctions, **data):
        op = self.ceed.Operator(*qfunctions)
        for name in ("du", "dv"):
            op.set_field(name, self.rstr, self.basis, VECTOR_ACTIVE)
        for name, (rstr, vector) in data.items():
            basis = self.basis if rstr is self.rstr else BASIS_NONE
            op.set_field(name, rstr, basis, vector)
        return op


@native.qfunction(Grad(2, 2), Weight(), w=Data())
def volume(dx, weight):
    return weight * jnp.linalg.det(dx)


@native.qfunction(Grad(2, 2), Data(), density=Data())
def stretched(du, w, *, n=4.0, mu=1.0, lam=5.0):
    f = jnp.eye(2) + 2 * n * du.T
    log_j = jnp.log(jnp.linalg.det(f))
    return w * (mu / 2 * jnp.sum(f * f) - mu * log_j + lam / 2 * log_j**2)


def on_a_line(ceed, function):
    """Return the operator of a function of one unknown and dV."""
    space = Mesh.box(3).space(ceed, 1)
    point = native.qfunction(Interp(), Data(), v=Interp())(function)
    return space.operator(point, dV=space.geometry.dV)


LINEAR = {
    "to_scipy": lambda op: op.to_scipy(),
    "matrix": lambda op: op.to_scipy(assembled=True),
    "diagonal": lambda op: op.diagonal(),
    "blocks": lambda op: op.point_block_diagonal(),
    "qfunction": lambda op: op.linear_assemble_qfunction(),
    "transpose": lambda op: op.apply_transpose(op.ceed.Vector(4), op.ceed.Vector(4)),
}


@pytest.mark.parametrize("use", LINEAR.values(), ids=LINEAR)
@pytest.mark.parametrize(
    "function",
    [lambda u, dV: u**3 * dV, lambda u, dV: jnp.abs(u) * dV, lambda u, dV: (u + 2) * dV],
    ids=["cubed", "abs", "affine"],
)
def test_what_is_known_not_to_be_linear_has_no_matrix_without_a_jacobian(ceed, function, use):
    both = ceed.CompositeOperator()
    both.add_sub(on_a_line(ceed, function))
    for op in both, on_a_line(ceed, function):
        with pytest.raises(CeedUnsupportedError, match=r"is not linear in u, .*\.jvp\(\)"):
            use(op)


def test_what_is_linear_is_its_own_jacobian(ceed, random):
    op = on_a_line(ceed, lambda u, dV: 3 * u * dV - u * dV)
    u = random.random(4).astype(ceed.scalar)
    np.testing.assert_allclose(
        op.to_scipy(assembled=True) @ u, op(u).to_numpy(), rtol=RTOL[ceed.scalar]
    )


def test_a_jacobian_at_a_point_is_linear_in_the_direction(ceed):
    space = Mesh.box(3).space(ceed, 1)
    cubed = native.qfunction(Interp(), Data(), v=Interp())(lambda u, dV: u**3 * dV)
    state = space.field(vectors(ceed, [np.full(space.size, 2.0)])[0])
    tangent = space.operator(cubed.jvp(), dV=space.geometry.dV, u_at=state)
    assert tangent.to_scipy(assembled=True).sum() == pytest.approx(12, rel=1e-5)


def test_a_point_function_is_evaluated_at_the_points_of_a_space(ceed):
    space = Mesh.box(3).space(ceed, 1)
    square = native.qfunction(Interp(1), Data(), e=Data())(lambda x, dV: x[0] ** 2 * dV)
    found = space.evaluate(square, x=space.coordinates, dV=space.geometry.dV)
    assert found.vector.to_numpy().sum() == pytest.approx(1 / 3, rel=1e-5)
    with pytest.raises(pyceedlike.CeedIncompleteError, match=r"'dV'.*space.geometry has dV"):
        space.evaluate(square, x=space.coordinates)


def test_a_point_function_has_the_weights_of_a_space(ceed):
    space = Mesh.box(3).space(ceed, 1)
    load = native.qfunction(Weight(), v=Interp())(lambda w: w)
    assert space.operator(load)().to_numpy().sum() == pytest.approx(6)  # of 3 elements


def newton(square, op, u, solve):
    """Return the displacement where the forces inside vanish, from one that has them."""
    r = square.ceed.Vector(len(u))
    for _ in range(20):
        op.apply(u, r)
        forces = r.to_numpy() * square.is_inside
        if np.abs(forces).max() < 1e-12:
            return u.to_numpy()
        step = solve(lambda d: jacobian(square, op, d), forces)
        u.set_array(u.to_numpy() - step)
    raise AssertionError("Newton's method does not converge")


def jacobian(square, op, d):
    ceed = square.ceed
    v, inside = ceed.Vector(len(d)), ceed.Vector(len(d))
    inside.set_array(d * square.is_inside)
    op.apply_jacobian(inside, v)
    return np.where(square.is_inside, v.to_numpy(), d)


@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("resource", ["/cpu/self/ref/serial", "/cpu/self/opt/blocked"])
def test_newton_krylov_needs_only_the_energy(resource, has_state):
    linalg = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is not installed")
    ceed = pyceedlike.Ceed(resource)
    square = Square(ceed)
    build = ceed.Operator(volume)
    build.set_field("dx", square.rstr, square.basis, VECTOR_ACTIVE)
    build.set_field("weight", pyceedlike.ELEMRESTRICTION_NONE, square.basis, pyceedlike.VECTOR_NONE)
    rstr_w, w = square.at_points(1)
    build.set_field("w", rstr_w, BASIS_NONE, VECTOR_ACTIVE)
    x = ceed.Vector(square.x.size)
    x.set_array(square.x.ravel())
    build.apply(x, w)

    u, exact = ceed.Vector(2 * square.nodes), (np.array([[0.05, 0.02], [0.0, -0.04]]) @ square.x)
    u.set_array(np.where(square.is_inside, 0.0, exact.ravel()))
    forces = stretched.gradient(dv="du")
    if has_state:
        forces = forces.with_state()
        state = square.at_points(forces.outputs["state"].shape[0])
        op = square.operator(forces, forces.jvp(), forces.vjp(), w=(rstr_w, w), state=state)
    else:
        at = square.rstr, u
        op = square.operator(forces, forces.jvp(), forces.vjp(), w=(rstr_w, w), du_at=at)

    def solve(action, b):
        matrix = linalg.LinearOperator((b.size, b.size), action, dtype="float64")
        step, info = linalg.cg(matrix, b, rtol=1e-10, maxiter=500)
        assert info == 0
        return step

    found = newton(square, op, u, solve)
    np.testing.assert_allclose(found, exact.ravel(), atol=1e-10)

    a, b, v = (ceed.Vector(2 * square.nodes) for _ in range(3))
    random = np.random.default_rng(3)
    a.set_array(random.standard_normal(len(a)))
    b.set_array(random.standard_normal(len(b)))
    op.apply_jacobian(a, v)
    forward = v.to_numpy() @ b.to_numpy()
    op.apply_transpose(b, v)
    np.testing.assert_allclose(v.to_numpy() @ a.to_numpy(), forward, rtol=1e-11)
