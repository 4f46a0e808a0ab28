# SPDX-License-Identifier: BSD-2-Clause
"""Operators as functions of JAX, by C and by XLA, against apply(), matrices and each other."""

import functools
import gc
import sys
import warnings
import weakref

import cffi
import numpy as np
import pytest
from helpers import package_file, run_well
from programs import run

import pyceedlike
from pyceedlike import (
    BASIS_NONE,
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    VECTOR_ACTIVE,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedIncompleteError,
    CeedUnsupportedError,
    Data,
    Grad,
    Interp,
    Mesh,
    Weight,
    native,
)

pytest.importorskip("jax", reason="JAX is not installed")
ENGINES = ("c", "xla")
FAILURES = RuntimeError, ValueError  # jaxlib raises the one or the other
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


@native.qfunction(Grad(2), Interp(), Data(), dv=Grad(2))
def conduction(du, kappa, w, *, growth=0.3):
    """A flux whose conductivity depends on a field, on a number and on the gradient."""
    return w * kappa * (1 + growth**2 * du @ du) * du


@native.qfunction(Interp(), Interp(), Data(), v=Interp())
def reaction(u, kappa, w, *, growth=0.3):
    return w * kappa * (1 + growth**2 * u**2) * u


@native.qfunction(Interp(), Data(), v=Interp())
def mass(u, w):
    return w * u


SQUARE = """
CEED_QFUNCTION(square)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const double *scale = ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)*scale * in[1][i] * in[0][i] * in[0][i];
  return 0;
}
"""
SQUARE_DERIVATIVE = """
CEED_QFUNCTION(both)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const double *scale = ctx;
  const CeedScalar *du = in[0], *w = in[1], *u = in[2];
  for (CeedInt i = 0; i < Q; i++) out[0][i] = (CeedScalar)*scale * 2 * w[i] * u[i] * du[i];
  return 0;
}
"""


@pytest.fixture
def space(jax, ceed):
    return Mesh.box(3, 2).space(ceed, 2)


@pytest.fixture
def u(space, random):
    return random.standard_normal(space.size).astype(space.ceed.scalar)


@pytest.fixture
def kappa(space):
    """A coefficient in the nodes."""
    return (1 + np.arange(space.size) / space.size).astype(space.ceed.scalar)


@pytest.fixture
def operator(space, kappa):
    """An operator of all that JAX differentiates in."""
    field = space.ceed.Vector(space.size)
    field.set_array(kappa)
    qf = conduction.qfunction(space.ceed)
    return space.operator(qf, kappa=space.field(field), w=space.geometry.dV)


@pytest.fixture
def mass_operator(space):
    return space.operator(mass.qfunction(space.ceed), w=space.geometry.dV)


def three_points(op, **vectors):
    """Return an operator with its fields: u and v are active, others have values."""
    ceed = op.ceed
    rstr = ceed.StridedElemRestriction(1, 3, 1, 3, (1, 1, 1))
    for name in "uv":
        op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)
    for name, values in vectors.items():
        vector = ceed.Vector(3)
        vector.set_array(np.array(values, ceed.scalar))
        op.set_field(name, rstr, BASIS_NONE, vector)
    return op


def square(ceed, *sources, scale=0.5, at="u_at"):
    """Return an operator of C at three points, of its Jacobian, and of the transpose."""
    qfunctions = []
    for source in (SQUARE, *sources):
        name = source.split("(")[1].partition(")")[0]
        qf = ceed.QFunction(1, source, f"test:{name}")
        ins = ("u", "w") if source is SQUARE else ("u", "w", at)
        qfunctions.append((qf, ins, "v"))
    if len(qfunctions) == 3:  # the transpose goes from v to u
        qfunctions[2] = qfunctions[2][0], ("v", "w", at), "u"
    for qf, ins, out in qfunctions:
        for name in ins:
            qf.add_input(name, 1, EVAL_NONE)
        qf.add_output(out, 1, EVAL_NONE)
        qf.set_context(ceed.QFunctionContext(scale=scale))
    op = ceed.Operator(*(qf for qf, _, _ in qfunctions))
    return three_points(op, w=[1, 2, 3], **({at: [0, 0, 0]} if sources else {}))


def close(x, y, scalar="float64", factor=1):
    scale = max(1, np.abs(y).max())
    np.testing.assert_allclose(x, y, rtol=0, atol=factor * scale * TOLERANCE[scalar])


# --- Values ------------------------------------------------------------------------------------


def test_an_operator_that_jax_traces_names_its_function(jax, operator, u):
    for transform in jax.jit, jax.grad:
        with pytest.raises(pyceedlike.CeedUnsupportedError, match=r"operator\.jax\(\)"):
            transform(lambda x: operator(x))(jax.numpy.asarray(u))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_function_is_the_operator(jax, operator, u, scalar, engine):
    expected = operator(u).to_numpy()
    function = operator.jax(engine)
    for found in (function(u), jax.jit(function)(u)):
        assert found.dtype == scalar
        close(found, expected, scalar)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_given_takes_the_place_of_the_operators_own(operator, u, kappa, scalar, engine):
    found = operator.jax(engine)(u, kappa=3 * kappa, growth=0.0)
    operator.set_context_fields(growth=0.0)
    close(found, 3 * operator(u).to_numpy(), scalar)


@pytest.mark.parametrize("resource", ["/cpu/self/ref", "/cpu/self/opt"])
@pytest.mark.parametrize("topology", ["triangle", "hex"])
def test_engines_agree_on_every_kind_of_basis(jax, random, resource, topology):
    ceed = pyceedlike.Ceed(resource)
    nodes = np.array([[0, 0], [1, 0], [0, 1], [1.2, 1]])
    triangles = [[0, 1, 2], [1, 3, 2]], pyceedlike.TOPOLOGY_TRIANGLE
    mesh = Mesh(nodes, *triangles) if topology == "triangle" else None
    space = (mesh or Mesh.box(2, 1, 1)).space(ceed, 2, ncomp=2)
    dim = space.mesh.dim

    @native.qfunction(Interp(2), Grad(dim, 2), Weight(), v=Interp(2), dv=Grad(dim, 2))
    def both(u, du, weight):
        return weight * u**2, weight * du * u.sum()

    op = space.operator(both.qfunction(ceed), du=space.field(), dv=space.field())
    u = random.standard_normal(space.size)
    for engine in ENGINES:
        close(op.jax(engine)(u), op(u).to_numpy())


def test_an_input_is_shared_and_the_result_is_jaxs(jax, ceed):
    seen = []

    op = square(ceed)
    function = jax.jit(op.jax())
    u = jax.numpy.asarray(np.array([1, 2, 3], ceed.scalar))
    seen.append(function(u))
    seen.append(function(u))
    assert seen[0].unsafe_buffer_pointer() != seen[1].unsafe_buffer_pointer()
    close(seen[0], [0.5, 4, 13.5], ceed.scalar)


def test_a_composite_operator_is_the_sum_of_its_parts(operator, mass_operator, u, kappa, scalar):
    both = operator.ceed.CompositeOperator()
    both.add_sub(operator)
    both.add_sub(mass_operator)
    for engine in ENGINES:
        close(both.jax(engine)(u), both(u).to_numpy(), scalar)
        expected = operator.jax()(u, kappa=kappa) + mass_operator.jax()(u)
        close(both.jax(engine)(u, kappa=kappa), expected, scalar)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_operator_without_an_active_input_is_a_function_of_its_fields(jax, space, engine):
    f = space.ceed.Vector(space.size)
    f.set_value(2)

    load = space.operator(mass.qfunction(space.ceed), u=space.field(f), w=space.geometry.dV)
    function = load.jax(engine)
    close(function().sum(), 2, space.ceed.scalar)
    gradient = jax.grad(lambda f: function(u=f).sum())(f.to_numpy())
    close(gradient.sum(), 1, space.ceed.scalar)


# --- Derivatives -------------------------------------------------------------------------------


def test_derivatives_of_second_order_in_all_arguments(jax, space, u, kappa, scalar):
    from jax.test_util import check_grads

    field = space.ceed.Vector(space.size)
    qf = reaction.qfunction(space.ceed)
    function = space.operator(qf, kappa=space.field(field), w=space.geometry.dV).jax()

    def f(u, kappa, growth):
        return function(u, kappa=kappa, growth=growth)

    rough = {"rtol": 5e-2, "atol": 5e-2, "eps": 1e-2, "modes": ["rev"]}
    growth = np.asarray(0.3, scalar)
    options = rough if scalar == "float32" else {}
    check_grads(jax.jit(f), (0.1 * u, kappa, growth), 2, **options)


@pytest.mark.parametrize("scalar", ["float64"])
def test_engines_have_the_same_gradients_and_hessians(jax, operator, u, kappa, scalar):
    found = []
    for engine in ENGINES:
        function = operator.jax(engine)

        def energy(u, kappa, growth, function=function):
            return (function(u, kappa=kappa, growth=growth) ** 2).sum()

        arguments = u, kappa, np.asarray(0.3, scalar)
        gradient = jax.grad(energy, (0, 1, 2))
        found.append(jax.jit(lambda *x, f=gradient: jax.jvp(f, x, x))(*arguments))
    for x, y in zip(*map(jax.tree.leaves, found), strict=True):
        close(x, y, scalar, 20)


def test_vmap_is_one_after_the_other(jax, operator, u, kappa, scalar):
    function = operator.jax()
    gradient = jax.grad(lambda u, kappa: (function(u, kappa=kappa) ** 2).sum())
    for f in (lambda u, kappa: function(u, kappa=kappa), gradient):
        found = jax.jit(jax.vmap(f, (1, None)))(np.stack([u, 2 * u, -u], 1), kappa)
        close(found, np.stack([f(s * u, kappa) for s in (1, 2, -1)]), scalar)


@pytest.mark.parametrize("engine", ENGINES)
def test_conjugate_gradients_solve_with_it(jax, mass_operator, u, engine):
    from jax.scipy.sparse.linalg import cg

    matrix = mass_operator.to_scipy(assembled=True).toarray().astype("float64")
    found, _ = jax.jit(lambda b: cg(mass_operator.jax(engine), b, tol=1e-7))(u)
    np.testing.assert_allclose(matrix @ found, u, atol=1e-4)


def test_a_gradient_goes_through_a_solve(jax, mass_operator, u):
    from jax.scipy.sparse.linalg import cg

    function = mass_operator.jax()
    gradient = jax.grad(lambda b: cg(function, b, tol=1e-7)[0] @ u)(u)
    matrix = mass_operator.to_scipy(assembled=True).toarray().astype("float64")
    np.testing.assert_allclose(matrix @ gradient, u, atol=1e-4)


def test_the_transpose_of_a_linear_operator_is_the_matrixs(jax, space, u, scalar):
    @native.qfunction(Grad(2), Data(), v=Interp())
    def drift(du, w):  # not symmetric
        return w * (du[0] + 2 * du[1])

    op = space.operator(drift.qfunction(space.ceed), w=space.geometry.dV)
    (found,) = jax.linear_transpose(op.jax(), u)(u)
    close(found, op.to_scipy(assembled=True).T @ u, scalar)


def test_what_is_not_linear_has_no_transpose(jax, operator, u):
    with pytest.raises(CeedUnsupportedError, match=r"conduction is not linear in du"):
        jax.linear_transpose(operator.jax(), u)(u)


# --- QFunctions of C ---------------------------------------------------------------------------


def test_a_qfunction_of_c_has_derivatives_of_first_order(jax, ceed):
    from jax.test_util import check_grads

    function = jax.jit(square(ceed, SQUARE_DERIVATIVE, SQUARE_DERIVATIVE).jax())
    u = np.array([1, 2, 3], ceed.scalar)
    close(jax.jacfwd(function)(u), np.diag([1, 4, 9]), ceed.scalar)
    close(jax.jacrev(function)(u), np.diag([1, 4, 9]), ceed.scalar)
    tangent = jax.linearize(function, u)[1]
    twice = jax.linear_transpose(lambda v: jax.linear_transpose(tangent, u)(v)[0], u)
    close(twice(u)[0], u * [1, 4, 9], ceed.scalar)
    rough = {"rtol": 5e-2, "eps": 1e-2} if ceed.scalar == "float32" else {}
    check_grads(function, (u,), 1, **rough)


def test_a_qfunction_of_c_takes_fields_and_context_values(jax, ceed):
    op = square(ceed)
    function = jax.jit(op.jax())
    u = np.array([1, 2, 3], ceed.scalar)
    close(function(u, w=u, scale=1.0), u**3, ceed.scalar)
    close(op(u), [0.5, 4, 13.5], ceed.scalar)  # its own are as they were
    op.set_context_fields(scale=9.0)
    close(function(u), [0.5, 4, 13.5], ceed.scalar)


def test_values_that_are_not_given_are_those_of_when_the_function_was_made(jax, ceed):
    def scaled(u, *, a=1.0, b=2.0):
        """v[i] = a * b * u[i];"""
        return a * b * u

    u = np.array([1, 2, 3], ceed.scalar)
    made = [
        (native.qfunction(Data(), v=Data())(scaled).qfunction(ceed), ENGINES),
        (ceed.qfunction(Data(), v=Data(), engine="c")(scaled), ["c"]),
        (ceed.qfunction(Data(), v=Data(), engine="jax")(scaled), ["xla"]),
    ]
    for qf, engines in made:
        op = three_points(ceed.Operator(qf))
        for function in [op.jax(engine) for engine in engines]:
            op.set_context_fields(a=5.0)
            close(function(u), 2 * u, ceed.scalar)
            close(function(u, b=np.asarray(3, ceed.scalar)), 3 * u, ceed.scalar)
            op.set_context_fields(a=1.0)


@pytest.mark.parametrize("argument", ["w", "scale"])
def test_other_derivatives_of_c_are_refused_with_the_remedy(jax, ceed, argument):
    function = square(ceed, SQUARE_DERIVATIVE, SQUARE_DERIVATIVE).jax()
    u = np.array([1, 2, 3], ceed.scalar)
    x = u if argument == "w" else np.asarray(1, ceed.scalar)
    with pytest.raises(CeedUnsupportedError, match=r"written with jax.numpy \(pyceedlike.native\)"):
        jax.grad(lambda x: function(u, **{argument: x}).sum())(x)
    with pytest.raises(CeedUnsupportedError, match=r"of first order"):
        jax.grad(lambda u: jax.grad(lambda u: function(u).sum())(u).sum())(u)


def test_a_missing_jacobian_or_transpose_is_named(jax, ceed):
    u = np.array([1, 2, 3], ceed.scalar)
    with pytest.raises(CeedUnsupportedError, match=r"give ceed.Operator\(\) dqf and qdfT"):
        jax.jvp(square(ceed).jax(), (u,), (u,))
    function = square(ceed, SQUARE_DERIVATIVE).jax()
    close(jax.jvp(function, (u,), (u,))[1], u * [1, 4, 9], ceed.scalar)
    with pytest.raises(CeedUnsupportedError, match="no transpose of its Jacobian"):
        jax.vjp(function, u)[1](u)


def test_the_gallery_is_linear_and_others_can_be_said_to_be(jax, space, u, scalar):
    ceed = space.ceed
    op = space.operator(ceed.QFunctionByName("MassApply"), qdata=space.geometry.dV)
    matrix = op.to_scipy(assembled=True)
    scaled = "out[0][i] = in[0][i] * in[1][i];"
    source = SQUARE.replace("square", "scaled").replace("const double *scale = ctx;", "(void)ctx;")
    source = source.partition("out[0][i] = ")[0] + scaled + "\n  return 0;\n}\n"
    qf = ceed.QFunction(1, source, "test:scaled")
    for add, *field in ((qf.add_input, "u", 1, EVAL_INTERP), (qf.add_input, "w", 1, EVAL_NONE),
                        (qf.add_output, "v", 1, EVAL_INTERP)):  # fmt: skip
        add(*field)
    own = space.operator(qf, w=space.geometry.dV)
    for function in (op.jax(), own.jax(linear=True)):
        close(jax.jvp(function, (u,), (u,))[1], matrix @ u, scalar)
        close(jax.vjp(function, u)[1](u)[0], matrix @ u, scalar)


def test_the_gallery_is_called_with_a_context_as_well(jax, ceed):
    context = ceed.QFunctionContext()
    context.set_data(np.array([3], ceed.scalar))
    three, one = ceed.QFunctionByName("Scale"), ceed.IdentityQFunction(1, EVAL_NONE, EVAL_NONE)
    u = np.array([1, 2, 3], ceed.scalar)
    rstr = ceed.StridedElemRestriction(1, 3, 1, 3, (1, 1, 1))
    for qf, factor in ((three, 3), (one, 1)):
        qf.set_context(context)
        op = ceed.Operator(qf)
        op.set_field("input", rstr, BASIS_NONE, VECTOR_ACTIVE)
        op.set_field("output", rstr, BASIS_NONE, VECTOR_ACTIVE)
        close(op.jax()(u), factor * u, ceed.scalar)


def test_the_error_of_a_qfunction_reaches_the_caller(jax, ceed):
    source = SQUARE.replace("return 0;", 'return CeedError(NULL, 7, "not %d again", 42);')
    qf = ceed.QFunction(1, source, "test:square")
    qf.add_input("u", 1, EVAL_NONE)
    qf.add_input("w", 1, EVAL_NONE)
    qf.add_output("v", 1, EVAL_NONE)
    qf.set_context(ceed.QFunctionContext(scale=0.0))
    op = ceed.Operator(qf)
    w = ceed.Vector(1)
    w.set_value(1)
    rstr = ceed.StridedElemRestriction(1, 1, 1, 1, (1, 1, 1))
    for name, vector in {"u": VECTOR_ACTIVE, "v": VECTOR_ACTIVE, "w": w}.items():
        op.set_field(name, rstr, BASIS_NONE, vector)
    function = jax.jit(op.jax())
    for _ in range(2):  # nothing stays locked
        with pytest.raises(FAILURES, match="INTERNAL: not 42 again"):
            function(np.ones(1, ceed.scalar)).block_until_ready()


def test_a_transpose_that_lacks_what_was_given_has_no_transpose(jax, ceed):
    weighted = SQUARE.replace("in[0][i] * in[0][i]", "in[0][i]")
    doubled = weighted.replace("square", "doubled").replace("*scale", "0.5")
    qfunctions = []
    for source, name, ins, out in (
        (weighted, "square", ("u", "w"), "v"),
        (weighted, "square", ("u", "w"), "v"),
        (doubled.replace("const double 0.5 = ctx;", "(void)ctx;"), "doubled", ("v", "w"), "u"),
    ):
        qf = ceed.QFunction(1, source, f"test:{name}")
        for field in ins:
            qf.add_input(field, 1, EVAL_NONE)
        qf.add_output(out, 1, EVAL_NONE)
        if name == "square":
            qf.set_context(ceed.QFunctionContext(scale=0.5))
        qfunctions.append(qf)
    op = three_points(ceed.Operator(*qfunctions), w=[1, 2, 3])
    u = np.array([1, 2, 3], ceed.scalar)
    function = op.jax(linear=True)
    transpose = jax.linear_transpose(lambda u: function(u, scale=0.5), u)
    close(transpose(u)[0], [0.5, 2, 4.5], ceed.scalar)
    with pytest.raises(CeedUnsupportedError, match="qdfT has not all that was given by name"):
        jax.linear_transpose(lambda v: transpose(v)[0], u)(u)


def test_the_transpose_by_assembly_has_the_values_of_the_jacobians_context(jax, ceed):
    weighted = SQUARE.replace("in[0][i] * in[0][i]", "in[0][i]")
    qfunctions = []
    for _ in range(2):
        qf = ceed.QFunction(1, weighted, "test:square")
        qf.add_input("u", 1, EVAL_NONE)
        qf.add_input("w", 1, EVAL_NONE)
        qf.add_output("v", 1, EVAL_NONE)
        qf.set_context(ceed.QFunctionContext(scale=0.5))
        qfunctions.append(qf)
    function = three_points(ceed.Operator(*qfunctions), w=[1, 2, 3]).jax(linear=True)
    u = np.ones(3, ceed.scalar)
    close(jax.grad(lambda u: function(u, scale=3.0).sum())(u), [3, 6, 9], ceed.scalar)


def test_a_field_that_the_jacobian_alone_reads_is_named_or_given(jax, ceed):
    derivative = SQUARE_DERIVATIVE.replace("2 * w[i]", "w[i]")
    op = square(ceed, derivative, derivative, at="state")
    op._fields["state"].vector.set_value(1)
    u = np.array([1, 2, 3], ceed.scalar)
    function = op.jax()
    close(function(u), [0.5, 4, 13.5], ceed.scalar)
    with pytest.raises(CeedUnsupportedError, match=r"alone read state, .* be named u_at; give"):
        jax.jvp(function, (u,), (u,))
    with pytest.raises(CeedUnsupportedError, match=r"alone read state"):
        jax.grad(lambda u: function(u).sum())(u)
    given = np.array([10, 20, 30], ceed.scalar)
    tangent = jax.jvp(lambda u: function(u, state=given), (u,), (u,))[1]
    close(tangent, 0.5 * u * given * u, ceed.scalar)


def test_a_copied_function_of_numba_raises_when_all_else_is_dropped(jax, ceed):
    pytest.importorskip("numba", reason="numba is not installed")

    def start():
        @ceed.qfunction(Data(), Data(), v=Data(), engine="numba")
        def careful(u, w, *, scale=2.0):
            if w[0] < 0:
                raise ValueError("negative")
            return scale * w * u

        function = three_points(ceed.Operator(careful), w=[-1, 2, 3]).jax(linear=True)
        return jax.linear_transpose(function, jax.numpy.ones(3, ceed.scalar))

    transpose = start()
    gc.collect()
    with pytest.raises(FAILURES, match="ValueError: negative"):
        np.asarray(transpose(jax.numpy.ones(3, ceed.scalar))[0])


ROUTINES = """
#include <ceedlike.h>
int Sum(void *factor, CeedVector in, CeedVector out) {
  const CeedScalar *u;
  CeedScalar sum;
  int code = CeedVectorGetArrayRead(in, CEED_MEM_HOST, &u);
  if (code) return code;
  sum = (CeedScalar)*(double *)factor * (u[0] + u[1]);
  return CeedVectorRestoreArrayRead(in, &u) || CeedVectorSetValue(out, sum);
}
int Spread(void *factor, CeedVector in, CeedVector out) {
  const CeedScalar *v;
  CeedScalar value;
  int code = CeedVectorGetArrayRead(in, CEED_MEM_HOST, &v);
  if (code) return code;
  value = (CeedScalar)*(double *)factor * v[0];
  return CeedVectorRestoreArrayRead(in, &v) || CeedVectorSetValue(out, value);
}
"""


def test_a_routine_with_its_transpose_is_a_linear_function(jax, ceed, compiler, tmp_path):
    single = ["-DCEEDLIKE_SINGLE"] if ceed.scalar == "float32" else []
    (tmp_path / "sum.c").write_text(ROUTINES)
    flags = "-shared", "-fPIC", f"-I{package_file('include/ceedlike')}"
    library = package_file("lib") / f"libceedlike{'_f32' * len(single)}.so.0"
    run(*compiler, *single, *flags, tmp_path / "sum.c", library, "-o", tmp_path / "s.so")
    ffi = cffi.FFI()
    ffi.cdef("int Sum(void *, void *, void *); int Spread(void *, void *, void *);")
    lib = ffi.dlopen(str(tmp_path / "s.so"))
    routines = ffi.addressof(lib, "Sum"), ffi.addressof(lib, "Spread")

    operator = ceed.ShellOperator(2, 1, *routines, ffi.new("double *", 3.0))
    function = jax.jit(operator.jax())
    u = np.array([1, 2], ceed.scalar)
    assert function(u).tolist() == operator(u).to_numpy().tolist() == [9]
    assert jax.jacrev(function)(u).tolist() == jax.jacfwd(function)(u).tolist() == [[3, 3]]
    gradient = jax.grad(lambda u: (function(u) ** 2).sum())
    for hessian in (jax.jacfwd(gradient), jax.jacrev(gradient)):
        assert hessian(u).tolist() == [[18, 18], [18, 18]]
    one_way = ceed.ShellOperator(2, 1, routines[0], None, ffi.new("double *", 3.0)).jax()
    assert jax.jvp(one_way, (u,), (u,))[1].tolist() == [9]
    with pytest.raises(CeedUnsupportedError, match="without a routine for its transpose"):
        jax.grad(lambda u: one_way(u).sum())(u)


def test_a_routine_of_python_that_writes_nothing_is_an_error(jax, ceed):
    ffi = ceed._library.ffi

    @ffi.callback("int(void *, CeedVector, CeedVector)")
    def routine(context, x, y):
        return 0

    function = ceed.ShellOperator(3, 3, routine).jax()
    with pytest.raises(FAILURES, match=r"FAILED_PRECONDITION: .* has written no output"):
        np.asarray(function(np.ones(3, ceed.scalar)))


def test_memory_that_a_routine_of_python_gives_its_output_reaches_jax(jax, ceed):
    ffi = ceed._library.ffi

    @ffi.callback("int(void *, CeedVector, CeedVector)", error=-1)
    def routine(context, x, y):
        y = pyceedlike.Vector.from_handle(int(ffi.cast("uintptr_t", y)))
        y.take_from_dlpack(np.array([7, 8, 9], ceed.scalar), pyceedlike.USE_POINTER)
        return 0

    function = ceed.ShellOperator(3, 3, routine).jax()
    for _ in range(2):
        assert function(np.ones(3, ceed.scalar)).tolist() == [7, 8, 9]


def test_the_context_of_a_routine_is_kept_once(jax, ceed):
    ffi = ceed._library.ffi
    context = ffi.new("double *", 3.0)
    routine = ffi.callback("int(void *, CeedVector, CeedVector)", lambda *_: 0, error=-1)
    operator = ceed.ShellOperator(3, 3, routine, None, context)
    before = sys.getrefcount(context)
    for _ in range(3):
        operator.jax()
    assert sys.getrefcount(context) == before + 1


# --- Restrictions and bases --------------------------------------------------------------------


def test_restriction_and_basis_are_the_matrices(jax, space, u, scalar):
    nelem = len(space.mesh.elements)
    restrict, evaluate = space.restriction.jax(), space.basis.jax(nelem, EVAL_INTERP)
    elements = restrict(u)
    close(elements, u[space.offsets][None], scalar)
    expected = np.einsum("qp,ep->eq", space.basis.get_interp(), u[space.offsets])
    close(evaluate(elements), expected.ravel(), scalar)
    slopes = np.einsum("dqp,ep->deq", space.basis.get_grad(), u[space.offsets]).reshape(2, -1)
    gradient = space.field().jax(EVAL_GRAD)
    close(gradient(u), slopes, scalar)
    for function, x in ((restrict, u), (gradient, u), (evaluate, elements)):
        y = function(x)
        close(function.T(y), jax.linear_transpose(function, x)(y)[0], scalar)
        close(np.vdot(function.T(y), x), np.vdot(y, y), scalar, 100)


def test_physics_in_jax_runs_between_a_basis_and_its_transpose(jax, operator, space, u, scalar):
    gradient, value = space.field().jax(EVAL_GRAD), space.field().jax(EVAL_INTERP)
    data = space.geometry.dV.jax(EVAL_NONE)
    w = data(space.geometry.dV.vector.to_numpy())

    @jax.jit
    def function(u, kappa):
        du = gradient(u)
        flux = w * value(kappa) * (1 + 0.3**2 * (du * du).sum(0)) * du
        return gradient.T(flux.astype(scalar))

    kappa = operator._fields["kappa"].vector.to_numpy()
    close(function(u, kappa), operator(u).to_numpy(), scalar)
    direct = operator.jax()
    for k in range(2):
        expected = jax.grad(lambda *x: (direct(x[0], kappa=x[1]) ** 2).sum(), k)(u, kappa)
        close(jax.grad(lambda *x: (function(*x) ** 2).sum(), k)(u, kappa), expected, scalar, 20)


def test_components_are_an_axis_where_there_are_several(jax, ceed):
    space = Mesh.box(2, 1).space(ceed, 1, ncomp=3)
    assert space.field().jax(EVAL_GRAD)(np.ones(space.size, ceed.scalar)).shape == (2, 3, 18)


def test_weights_are_no_function_of_a_vector(space):
    with pytest.raises(CeedIncompatibleError, match=r"Basis.get_weights\(\) gives weights"):
        space.field().jax(EVAL_WEIGHT)


# --- Refusals ----------------------------------------------------------------------------------


def test_another_precision_is_refused(operator, u, scalar):
    other = {"float64": "float32", "float32": "float64"}[scalar]
    for engine in ENGINES:
        with pytest.raises(CeedIncompatibleError, match=rf"active input is {other}.*astype"):
            operator.jax(engine)(u.astype(other))
        with pytest.raises(CeedIncompatibleError, match=rf"'kappa' is {other}, .* {scalar}"):
            operator.jax(engine)(u, kappa=u.astype(other))


def test_a_double_operator_needs_types_of_64_bits(jax):
    operator = square(pyceedlike.Ceed())
    function = operator.jax()
    jax.config.update("jax_enable_x64", False)
    for call in (operator.jax, functools.partial(function, np.ones(3))):
        with pytest.raises(CeedIncompatibleError, match="jax_enable_x64"):
            call()


def test_a_single_operator_does_not(jax):
    jax.config.update("jax_enable_x64", False)
    function = square(pyceedlike.Ceed(scalar="float32")).jax()
    assert function(jax.numpy.ones(3), scale=2.0).tolist() == [2, 4, 6]


@native.qfunction(Interp(), Data(), v=Interp())
def chosen(u, w, *, count=2, is_on=True):
    """Numbers of every type: an integer, and a boolean that must be one."""
    import jax

    return w * u * count * jax.numpy.where(~is_on, 0.0, 1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_of_another_kind_are_refused(jax, space, u, scalar, engine):
    function = space.operator(chosen.qfunction(space.ceed), w=space.geometry.dV).jax(engine)
    doubled = function(u)
    close(function(u, count=4), 2 * doubled, scalar)
    for arguments, message in (
        ({"count": 2.7}, "'count' is float64, the operator's is int32"),
        ({"count": True}, "'count' is bool, the operator's is int32"),
        ({"is_on": 1}, "'is_on' is int64, the operator's is bool"),
    ):
        with pytest.raises(CeedIncompatibleError, match=message):
            function(u, **arguments)
    with pytest.raises(CeedIncompatibleError, match="'count' is float"):
        jax.grad(lambda n: function(u, count=n).sum())(2.7)
    with pytest.raises(CeedIncompatibleError, match="input is complex128"):
        function([1j] * len(u))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_boolean_value_is_a_boolean_argument(jax, space, u, engine):
    function = space.operator(chosen.qfunction(space.ceed), w=space.geometry.dV).jax(engine)
    for off in (False, np.bool_(False), jax.numpy.array(False)):
        assert not np.any(jax.jit(lambda x: function(u, is_on=x))(off))
        assert not np.any(function(u, is_on=off))
    assert np.any(function(u, is_on=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_of_python_has_a_derivative(jax, operator, u, scalar, engine):
    function = operator.jax(engine)
    found = jax.jvp(lambda growth: function(u, growth=growth), (0.3,), (0.5,))[1]
    slope = jax.jacfwd(lambda growth: function(u, growth=growth))(np.asarray(0.3, scalar))
    close(found, 0.5 * slope, scalar)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_field_without_values_is_given(space, u, kappa, scalar, engine):
    qf, field = reaction.qfunction(space.ceed), space.ceed.Vector(space.size)
    op = space.operator(qf, kappa=space.field(field), w=space.geometry.dV)
    found = op.jax(engine)(u, kappa=kappa)
    if engine == "xla":
        with pytest.raises(CeedIncompleteError, match=r"'kappa' had no values .* give it by name"):
            op.jax(engine)(u)
    field.set_array(kappa)
    close(found, op(u).to_numpy(), scalar)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_elements_give_zeros(jax, ceed, engine):
    op = ceed.Operator(mass.qfunction(ceed))
    nodes = ceed.ElemRestriction(0, 2, 1, 1, 5, np.zeros((0, 2), "int32"))
    basis = ceed.BasisTensorH1Lagrange(1, 1, 2, 3, pyceedlike.GAUSS)
    w = ceed.Vector(0)
    w.set_value(1)
    op.set_field("u", nodes, basis, VECTOR_ACTIVE)
    op.set_field("w", ceed.StridedElemRestriction(0, 3, 1, 0, (1, 3, 3)), BASIS_NONE, w)
    op.set_field("v", nodes, basis, VECTOR_ACTIVE)
    function = op.jax(engine)
    u = np.ones(5, ceed.scalar)
    assert function(u).tolist() == [0] * 5
    assert jax.grad(lambda u: function(u).sum())(u).tolist() == [0] * 5


def test_a_program_for_another_device_is_refused_with_the_remedy(jax, mass_operator, u):
    traced = jax.jit(mass_operator.jax()).trace(u)
    with pytest.raises(CeedUnsupportedError, match="use engine 'xla'"):
        traced.lower(lowering_platforms=("cuda",))


MESHES = """
import numpy as np
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
jax.config.update("jax_enable_x64", True)
import pyceedlike
from pyceedlike import Data, Interp, Mesh, native

@native.qfunction(Interp(), Data(), v=Interp())
def cube(u, w, *, scale=2.0):
    return scale * w * u**3

ceed = pyceedlike.Ceed()
space = Mesh.box(4).space(ceed, 1)
f = space.operator(cube.qfunction(ceed), w=space.geometry.dV).jax()
u = np.arange(10.0).reshape(2, 5)
expected = np.stack([f(x) for x in u])
slopes = np.stack([jax.grad(lambda x: f(x).sum())(x) for x in u])
mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Auto,))

def total(u):
    part = lambda x: jax.lax.psum(f(x[0], scale=2.0), "d")
    return jax.shard_map(part, mesh=mesh, in_specs=P("d"), out_specs=P())(u)

np.testing.assert_allclose(total(u), expected.sum(0), rtol=1e-12)
np.testing.assert_allclose(jax.grad(lambda u: total(u).sum())(u), slopes, rtol=1e-12)
explicit = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(explicit):
    batch = jax.device_put(u, NamedSharding(explicit, P("d", None)))
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(batch), expected, rtol=1e-12)
    gradient = jax.jit(jax.grad(lambda x: jax.vmap(f)(x).sum()))
    np.testing.assert_allclose(gradient(batch), slopes, rtol=1e-12)
print("done")
"""


def test_calls_within_meshes_of_devices(jax):
    if not hasattr(jax, "set_mesh") or not hasattr(jax.lax, "pcast"):
        pytest.skip("this JAX has no types of meshes' axes")
    two = 'import os\nos.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"\n'
    assert run_well(two + MESHES) == "done\n"


@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_are_checked_by_name(operator, u, engine):
    function = operator.jax(engine)
    with pytest.raises(CeedDimensionError, match=r"active input has shape \(2,\), \(35,\)"):
        function(u[:2])
    with pytest.raises(CeedDimensionError, match=r"'growth' has shape \(2,\), \(\) is wanted"):
        function(u, growth=[1.0, 2.0])
    with pytest.raises(CeedIncompatibleError, match=r"no field or value 'w8' to give: .*growth"):
        function(u, w8=u)
    with pytest.raises(CeedIncompatibleError, match=r"'du' is the active input \(of du\)"):
        function(u, du=u)
    with pytest.raises(CeedIncompatibleError, match="has an active input: give it first"):
        function()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_function_shows_what_it_takes(operator, engine):
    wanted = "<pyceedlike function of JAX of du; by name: kappa, w, growth>"
    assert repr(operator.jax(engine)) == wanted


def test_an_engine_is_one_of_two(operator):
    with pytest.raises(CeedIncompatibleError, match="engine 'gpu' is none of c, xla"):
        operator.jax("gpu")


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_a_callback_is_refused_with_the_remedy(space, engine):
    @space.ceed.qfunction(Interp(), Data(), v=Interp(), engine=engine)
    def product(u, w):
        return u * w

    operator = space.operator(product, w=space.geometry.dV)
    with pytest.raises(CeedUnsupportedError, match=r"wait for ever: make it native \(pyceedlike"):
        operator.jax()


def test_a_function_of_jax_is_seen_by_the_other_engine(jax, space, u, scalar):
    @space.ceed.qfunction(Grad(2), Data(), dv=Grad(2), engine="jax")
    def flux(du, w, *, growth=0.5):
        return growth * w * du * jax.numpy.abs(du)

    operator = space.operator(flux, w=space.geometry.dV)
    function = operator.jax("xla")
    close(function(u), operator(u).to_numpy(), scalar)
    close(function(u, growth=1.0), 2 * operator(u).to_numpy(), scalar)


def test_the_other_engine_refuses_what_jax_can_not_see(space):
    operator = space.operator(space.ceed.QFunctionByName("MassApply"), qdata=space.geometry.dV)
    with pytest.raises(
        CeedUnsupportedError, match=r"native.qfunction .* engine 'c' calls this one"
    ):
        operator.jax("xla")


def test_a_point_function_that_is_called_back_is_seen_by_the_other_engine(
    space, u, scalar, monkeypatch, tmp_path
):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", str(tmp_path))
    with warnings.catch_warnings(action="ignore"):
        operator = space.operator(mass.qfunction(space.ceed), w=space.geometry.dV)
        with pytest.raises(CeedUnsupportedError, match=r"make it native .* with a C compiler"):
            operator.jax()
    close(operator.jax("xla")(u), operator(u).to_numpy(), scalar)


def test_an_output_that_is_data_is_refused(space):
    stored = conduction.with_state(of="du")
    ceed, state = space.ceed, stored.outputs["state"]
    rstr = ceed.StridedElemRestriction(6, 16, state.size, 96 * state.size, None)
    operator = space.operator(
        stored.qfunction(ceed), kappa=space.field(), w=space.geometry.dV,
        state=pyceedlike.OperatorField(rstr, BASIS_NONE, ceed.Vector(96 * state.size)),
    )  # fmt: skip
    with pytest.raises(CeedUnsupportedError, match="'state' of the operator is data"):
        operator.jax()


def test_a_vector_that_is_out_is_an_error_and_nothing_is_lost(jax, operator, u):
    function = jax.jit(operator.jax())
    field = operator._fields["kappa"].vector
    before = np.asarray(function(u))
    with field.array(), pytest.raises(FAILURES, match="FAILED_PRECONDITION"):
        function(u).block_until_ready()
    assert np.array_equal(function(u), before)


# --- Lives -------------------------------------------------------------------------------------


def test_a_stale_id_is_an_error(jax, ceed):
    function = square(ceed).jax()
    u = jax.numpy.ones(3, ceed.scalar)
    program = jax.jit(function)
    assert program(u).tolist() == [0.5, 1, 1.5]
    number = int(function._call(frozenset()).id())
    library = ceed._library
    library.check(library.lib.CeedXLAClose(number))
    assert program(u).tolist() == [0.5, 1, 1.5]  # it keeps what it calls
    with pytest.raises(FAILURES, match=r"FAILED_PRECONDITION: .*trace the function again"):
        jax.jit(lambda u: 2 * function(u))(u)
    with pytest.raises(CeedIncompatibleError, match="no operator of the id"):
        library.check(library.lib.CeedXLAClose(number))


def test_what_still_runs_when_all_is_dropped_ends_well(jax, mass_operator, u, scalar):
    expected = u.astype("float64")
    matrix = mass_operator.to_scipy(assembled=True).astype("float64")
    for _ in range(500):
        expected = 1 + matrix @ expected

    def start():
        function = mass_operator.jax()
        return jax.jit(lambda u: jax.lax.fori_loop(0, 500, lambda _, x: 1 + function(x), u))(u)

    result = start()
    gc.collect()
    close(result, expected, scalar)


def test_ids_are_never_used_again(jax, ceed):
    ids = []
    for _ in range(3):
        function = square(ceed).jax()
        ids.append(function._call(frozenset()).id())
        del function
        gc.collect()
    assert len(set(ids)) == 3


def test_arrays_that_do_not_fit_are_errors(jax, ceed):
    function = square(ceed).jax()
    number = np.int64(function._call(frozenset()).id())

    def call(x, shape=(3,), **attributes):
        result = jax.ShapeDtypeStruct(shape, ceed.scalar)
        return jax.ffi.ffi_call(f"ceedlike_{ceed.scalar}", result)(*x, **attributes)

    u = jax.numpy.ones(3, ceed.scalar)
    assert call([u], id=number).tolist() == [0.5, 1, 1.5]
    other = u.astype("float32" if ceed.scalar == "float64" else "float64")
    for x, shape, attributes, message in (
        ([u[:2]], (3,), {"id": number}, "INVALID_ARGUMENT.*2 entries, not 3"),
        ([u], (2,), {"id": number}, "INVALID_ARGUMENT.*active output.*2 entries, not 3"),
        ([other], (3,), {"id": number}, f"INVALID_ARGUMENT.*not {ceed.scalar}"),
        ([u, u], (3,), {"id": number}, "INVALID_ARGUMENT.*2 operands and 1 results, not 1 and 1"),
        ([u], (3,), {"id": np.int32(1)}, 'INVALID_ARGUMENT.*no attribute "id" of type int64'),
        ([u], (3,), {}, 'INVALID_ARGUMENT.*no attribute "id" of type int64'),
    ):
        with pytest.raises(FAILURES, match=message):
            call(x, shape, **attributes).block_until_ready()


def test_an_operator_lives_as_long_as_a_program_that_calls_it(jax, operator, u, scalar):
    expected = operator(u).to_numpy()
    function = operator.jax()
    program = jax.jit(function).lower(u).compile()
    call = weakref.ref(function._call(frozenset()))
    del operator, function
    gc.collect()
    close(program(u), expected, scalar)
    del program
    jax.clear_caches()
    gc.collect()
    assert call() is None


def test_jax_learns_of_c_at_the_first_use():
    output = run_well("""
import pyceedlike, sys
from pyceedlike.interop import jax_numpy, jax_operator, jax_primitive
assert "jax" not in sys.modules
print(jax_primitive.primitive.cache_info().currsize)
""")
    assert output == "0\n"


MANY = """
import sys, threading
import numpy as np
import jax
jax.config.update("jax_enable_x64", True)
import pyceedlike
from pyceedlike import Data, Interp, Mesh, native

@native.qfunction(Interp(), Data(), v=Interp())
def cube(u, w, *, scale=2.0):
    return scale * w * u**3

ceed = pyceedlike.Ceed()
space = Mesh.box(8, 8).space(ceed, 3)
operator = space.operator(cube.qfunction(ceed), w=space.geometry.dV)
function = operator.jax()
split = space.field().jax(pyceedlike.EVAL_INTERP)
w = space.geometry.dV.jax(pyceedlike.EVAL_NONE)(space.geometry.dV.vector.to_numpy())
routes = dict(
    apply=jax.jit(function),
    gradient=jax.jit(jax.grad(lambda u: (function(u) ** 2).sum())),
    mapped=jax.jit(jax.vmap(lambda s, u: function(s * u), (0, None))),
    split=jax.jit(lambda u: split.T(2 * w * split(u) ** 3)),
    xla=jax.jit(operator.jax("xla")),
)
u = np.random.default_rng(0).standard_normal(space.size)
arguments = {n: (u,) if n != "mapped" else (np.arange(4.0), u) for n in routes}
expected = {n: np.asarray(f(*arguments[n])) for n, f in routes.items()}
failed = []

def work():
    for _ in range(10):
        for name, f in routes.items():
            found = np.asarray(f(*arguments[name]))
            if not np.allclose(found, expected[name], rtol=1e-12, atol=1e-14):
                failed.append(name)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
print("done")
"""


@pytest.mark.parametrize("cores", ["all", "one"])
def test_threads_take_turns_and_none_waits_for_ever(cores):
    pin = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert run_well(pin * (cores == "one") + MANY) == "done\n"
