# SPDX-License-Identifier: BSD-2-Clause
"""What native code computes at a point is what JAX computes, primitive by primitive."""

import math
import os
import re
import shlex
import shutil
import warnings

import numpy as np
import pytest

import pyceedlike
from pyceedlike import Data, Grad, Interp, native

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp, lax = jax.numpy, jax.lax

RTOL = {"float64": 1e-13, "float32": 4e-6}
EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3e4, -3e4, 1e-20]


@pytest.fixture(autouse=True)
def needs_a_compiler():
    compiler = shlex.split(os.environ.get("CC", "cc"))[0]
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")


def vectors(ceed, arrays):
    vs = [ceed.Vector(x.size) for x in arrays]
    for v, x in zip(vs, arrays, strict=True):
        v.set_array(np.ascontiguousarray(x, ceed.scalar).ravel(), cmode=pyceedlike.COPY_VALUES)
    return vs


def by_c(point, ceed, *inputs):
    """Return the outputs of a point function, compiled, on arrays whose last axis is points."""
    n = inputs[0].shape[-1]
    outputs = [ceed.Vector(int(np.prod(f.shape, dtype=int)) * n) for f in point.outputs.values()]
    point.qfunction(ceed).apply(n, vectors(ceed, inputs), outputs)
    shapes = [(*f.shape, n) for f in point.outputs.values()]
    return [v.to_numpy().reshape(s) for v, s in zip(outputs, shapes, strict=True)]


def by_jax(point, scalar, *inputs):
    """Return the same of JAX, in the precision of the inputs."""
    with jax.enable_x64(scalar == "float64"):
        arrays = [jnp.asarray(x, scalar) for x in inputs]
        results = jax.jit(jax.vmap(lambda *x: point.results(*x, **point.context), -1, -1))(*arrays)
        return [np.asarray(x, scalar) for x in results]


def agree(point, ceed, *inputs, names=None):
    """Compare all outputs; `names` are those of the entries along the first axis."""
    found, expected = by_c(point, ceed, *inputs), by_jax(point, ceed.scalar, *inputs)
    for x, y in zip(found, expected, strict=True):
        for name, row, other in zip(names or x, x, y, strict=True):
            rtol = RTOL[ceed.scalar]
            atol = 0.1 * rtol * np.abs(other[np.isfinite(other)]).max(initial=0)
            np.testing.assert_allclose(row, other, rtol=rtol, atol=atol, err_msg=str(name))


def agree_all(functions, ceed, **inputs):
    """Compare functions of some inputs, compiled as one, whose results are behind one another."""
    fields = {name: Data(*x.shape[:-1]) for name, x in inputs.items()}
    with jax.enable_x64(True):
        structs = [jax.ShapeDtypeStruct(f.shape, "float64") for f in fields.values()]
        sizes = {n: jax.eval_shape(f, *structs).size for n, f in functions.items()}

    def all_of_them(*values):
        return jnp.concatenate([jnp.ravel(f(*values) * 1.0) for f in functions.values()])

    names = [name for name, size in sizes.items() for _ in range(size)]
    point = native.PointFunction(all_of_them, "all", fields, {"all": Data(len(names))}, {})
    agree(point, ceed, *inputs.values(), names=names)


def points(random, *shape, n=64):
    """Return random points, the first of which are special ones in all places."""
    x = 3 * random.standard_normal((*shape, n))
    x[..., : len(EDGES)] = EDGES
    return x


UNARY = {
    name: getattr(jnp, name)
    for name in [
        "negative",
        "abs",
        "sign",
        "sqrt",
        "cbrt",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arccosh",
        "arctanh",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "square",
        "isfinite",
        "isnan",
        "isinf",
        "reciprocal",
        "sinc",
        "deg2rad",
        "logical_not",
    ]
} | {
    "rsqrt": lax.rsqrt,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "logistic": jax.nn.sigmoid,
    "relu": jax.nn.relu,
    "softplus": jax.nn.softplus,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "round": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    **{f"power {k}": (lambda x, k=k: x**k) for k in (-3, -1, 0, 1, 2, 3, 7, 0.5, 2.5)},
    "clip": lambda x: jnp.clip(x, -1, 2),
    "clamp": lambda x: lax.clamp(0.5, x, 1.5),
    "where": lambda x: jnp.where(x > 1, x, -x),
    "to int32 and back": lambda x: x.astype("int32").astype(x.dtype),
    "to uint8 and back": lambda x: x.astype("uint8").astype(x.dtype),
    "to bool and back": lambda x: x.astype(bool).astype(x.dtype),
    "to float32 and back": lambda x: x.astype("float32").astype(x.dtype),
    "constants": lambda x: x * jnp.pi + jnp.float32(0.1) - 3,
    "infinite constants": lambda x: jnp.where(x > 0, jnp.inf, -jnp.inf),
    "a constant that is no number": lambda x: jnp.where(x > 0, jnp.nan, x),
}


def test_functions_of_one_number_agree(ceed, random):
    agree_all(UNARY, ceed, x=points(random))


BINARY = {
    name: getattr(jnp, name)
    for name in [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "arctan2",
        "hypot",
        "remainder",
        "floor_divide",
        "fmod",
        "power",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "logaddexp",
        "copysign",
        "heaviside",
    ]
    if name != "copysign"
} | {
    "pow": lax.pow,
    "rem": lax.rem,
    "logical": lambda x, y: ((x > 0) & (y > 0)) | ~(x < y) ^ (y > 1),
    "select_n": lambda x, y: lax.select_n((x > y).astype("int32"), x, y),
    "select_n of three": lambda x, y: lax.select_n(jnp.clip(x, 0, 2).astype("int32"), x, y, x * y),
}


def test_functions_of_two_numbers_agree(ceed, random):
    x, y = (a.ravel() for a in np.meshgrid(points(random, n=32), points(random, n=32)))
    agree_all(BINARY, ceed, x=x, y=y)


INTEGERS = {
    "add": lambda i, j: i + j,
    "subtract": lambda i, j: i - j,
    "multiply": lambda i, j: i * j * 100003,
    "negative": lambda i, j: -i,
    "abs": lambda i, j: abs(i),
    "sign": lambda i, j: jnp.sign(i),
    "maximum": jnp.maximum,
    "minimum": jnp.minimum,
    "truncated quotient": lax.div,
    "truncated remainder": lax.rem,
    "floor quotient": lambda i, j: i // j,
    "floor remainder": lambda i, j: i % j,
    "power": lambda i, j: i**3,
    "and, or, xor, not": lambda i, j: (i & j) | (i ^ ~j),
    "shifts": lambda i, j: (i << abs(j)) + (i >> abs(j)),
    "logical shift": lambda i, j: lax.shift_right_logical(i, abs(j)),
    "comparison": lambda i, j: (i < j) + 2 * (i == j),
}


@pytest.mark.parametrize("kind", ["int32", "int64", "uint8"])
def test_functions_of_integers_agree(random, kind):
    numbers = [0, 1, 2, 3, 7, 31, 33, 100, 250] + ([] if kind[0] == "u" else [-1, -2, -7, -100])
    largest = np.iinfo(kind).max if kind != "int64" else 2**53
    numbers += [largest] if kind != "int32" else [largest, -largest - 1]
    i, j = (a.ravel().astype(float) for a in np.meshgrid(numbers, numbers))
    functions = {
        name: lambda x, y, f=f: f(x.astype(kind), y.astype(kind)).astype(kind).astype("float64")
        for name, f in INTEGERS.items()
    }
    agree_all(functions, pyceedlike.Ceed(), i=i, j=j)


@pytest.fixture
def quick(monkeypatch):
    """Compile without optimisation, which takes long for what is of many kinds."""
    monkeypatch.setenv("CC", f"{os.environ.get('CC', 'cc')} -O1")


TENSORS = {
    "transpose": lambda a, b, s: a.T,
    "reshape": lambda a, b, s: a.reshape(9)[::2],
    "product": lambda a, b, s: a @ b,
    "einsum": lambda a, b, s: jnp.einsum("ij,kj,k->i", a, b, s),
    "double contraction": lambda a, b, s: jnp.tensordot(a, b),
    "outer": lambda a, b, s: jnp.outer(s, a[0]),
    "batched": lambda a, b, s: jnp.einsum("ij,ij->i", a, b),
    "trace": lambda a, b, s: jnp.trace(a),
    "det 3": lambda a, b, s: jnp.linalg.det(a),
    "det 2": lambda a, b, s: jnp.linalg.det(a[:2, 1:]),
    "inv 3": lambda a, b, s: native.inv(a + 20 * jnp.eye(3)),
    "inv 2": lambda a, b, s: native.inv(a[:2, :2] + 20 * jnp.eye(2)),
    "cross": lambda a, b, s: jnp.cross(a[0], b[1]),
    "norm": lambda a, b, s: jnp.linalg.norm(a),
    "symmetric": lambda a, b, s: a[jnp.array([0, 1, 2, 1, 0, 0]), jnp.array([0, 1, 2, 2, 2, 1])],
    "take": lambda a, b, s: jnp.take(a, jnp.array([2, 0, 5]), axis=1),
    "set": lambda a, b, s: a.at[0, 1].set(s[0]).at[jnp.array([0, 2])].set(b[:2]),
    "add at": lambda a, b, s: a.at[jnp.array([0, 2, 0, 1])].add(s[0] * b[0]),
    "concatenate": lambda a, b, s: jnp.concatenate([a[:, :1], b[:, ::-1], s[:, None]], axis=1),
    "stack": lambda a, b, s: jnp.stack([s, a[1], jnp.zeros(3)], axis=1),
    "pad": lambda a, b, s: lax.pad(a, 7.0, ((1, 0, 1), (-1, 2, 0))),
    "flip": lambda a, b, s: jnp.flip(a, 0),
    "roll": lambda a, b, s: jnp.roll(a, 1, axis=0),
    "tile": lambda a, b, s: jnp.tile(s, 2),
    "split": lambda a, b, s: jnp.split(a, [1], axis=1)[1],
    "broadcast": lambda a, b, s: jnp.broadcast_to(s, (2, 3)) + s[:2, None],
    "iota": lambda a, b, s: a * jnp.arange(3) + jnp.eye(3) + lax.iota("int32", 3),
    "triangle": lambda a, b, s: jnp.tril(a) + jnp.triu(b, 1) + jnp.diag(s),
    "dynamic slice": lambda a, b, s: lax.dynamic_slice(a, (1, 0), (2, 2)),
    "dynamic update": lambda a, b, s: lax.dynamic_update_slice(a, b[:2, :2], (1, 1)),
    "sum": lambda a, b, s: a.sum(axis=0) + a.mean(),
    "prod": lambda a, b, s: a.prod(axis=1),
    "max and min": lambda a, b, s: a.max(axis=0) - b.min(axis=1),
    "any and all": lambda a, b, s: jnp.where((a > 0).any(0) & (b > -1).all(0), 1.0, 2.0),
    "argmax": lambda a, b, s: jnp.argmax(a, axis=1) + 0.5 * jnp.argmin(b),
    "cumsum": lambda a, b, s: jnp.cumsum(a, axis=0) + lax.cumprod(b, reverse=True),
    "vmap": lambda a, b, s: jax.vmap(lambda x, y: x @ y + s[0], (0, 1))(a, b),
    "a product that is a loop": lambda a, b, s: jnp.kron(a, b) @ jnp.arange(9.0),
    "a product of computed arrays": lambda a, b, s: jnp.kron(a, b) @ jnp.kron(b, a)[:, :2],
    "an isotropic tensor": lambda a, b, s: jnp.einsum("ijkl,kl->ij", ISOTROPIC, a),
}
ISOTROPIC = np.einsum("ij,kl->ijkl", np.eye(3), np.eye(3)) + 0.3


@pytest.mark.usefixtures("quick")
def test_small_tensors_agree(ceed, random):
    a, b, s = (random.standard_normal((*shape, 19)) for shape in ((3, 3), (3, 3), (3,)))
    agree_all(TENSORS, ceed, a=a, b=b, s=s)


def newton(x):
    return lax.fori_loop(0, 20, lambda i, y: y - (y * y - x) / (2 * y), 1 + x * x)


def running(s, a):
    total, seen = lax.scan(lambda c, row: (c * 0.5 + row, c @ row), s, a)
    return total + seen


@jax.custom_jvp
def cube(x):
    return x**3


cube.defjvp(lambda x, dx: (cube(*x), 30 * x[0] ** 2 * dx[0]))

CONTROL = {
    "cond": lambda a, s: lax.cond(s[0] > 0, lambda: s[1] * 2, lambda: jnp.sin(s[2])),
    "switch": lambda a, s: lax.switch(
        jnp.floor(s[0] * 2).astype("int32"), [jnp.sin, jnp.cos, jnp.exp], s[1]
    ),
    "fori_loop": lambda a, s: newton(s[0] ** 2 + 1),
    "fori_loop of the counter": lambda a, s: lax.fori_loop(2, 6, lambda i, y: y * s[0] + i, s[1]),
    "fori_loop of places": lambda a, s: lax.fori_loop(0, 3, lambda i, y: y + a[i, i] * s[i], 0.0),
    "fori_loop that writes": lambda a, s: lax.fori_loop(
        0, 3, lambda i, y: y.at[i].set(y[2 - i] + i), s
    ),
    "scan": lambda a, s: running(s, a),
    "scan backwards": lambda a, s: lax.scan(lambda c, x: (c + x, c * x), 1.0, s, reverse=True)[1],
    "loop of loops": lambda a, s: lax.fori_loop(
        0, 3, lambda i, y: lax.fori_loop(0, 4, lambda j, z: jnp.cos(z) * s[0] + i, y), s
    ),
    "no rounds": lambda a, s: lax.fori_loop(0, 0, lambda i, y: y + 1, s),
    "a loop that swaps": lambda a, s: lax.fori_loop(
        0, 3, lambda i, y: (y[1], y[0] + y[1]), (s[0], s[1])
    )[0],
    "jit": lambda a, s: jax.jit(lambda x: x @ x.T)(a),
    "custom_jvp": lambda a, s: cube(s),
    "remat": lambda a, s: jax.checkpoint(jnp.tanh)(s),
    "grad": lambda a, s: jax.grad(lambda x: jnp.sum(jnp.sin(x @ s) ** 2))(a),
    "hessian": lambda a, s: jax.hessian(lambda x: jnp.sum(x**4) * x[0])(s),
    "jacobian of a loop": lambda a, s: jax.jacobian(lambda x: running(x, a))(s),
}


@pytest.mark.usefixtures("quick")
def test_control_flow_agrees(ceed, random):
    a, s = random.standard_normal((3, 3, 21)), random.standard_normal((3, 21))
    agree_all(CONTROL, ceed, a=a, s=s)


# ---- Networks ------------------------------------------------------------------------------------

random_weights = np.random.default_rng(5)
LAYERS = [random_weights.standard_normal(shape) / 8 for shape in ((64, 9), (64, 64), (9, 64))]
BIAS = random_weights.standard_normal(64)


@native.qfunction(Grad(3, 3), v=Grad(3, 3))
def network(du):
    x = jnp.tanh(LAYERS[0] @ du.reshape(9) + BIAS)
    x = jax.nn.softplus(LAYERS[1] @ x)
    return (LAYERS[2] @ x).reshape(3, 3)


@pytest.mark.parametrize("n", [1, 31, 32, 70])
def test_a_network_agrees_for_any_number_of_points(ceed, random, n):
    agree(network, ceed, random.standard_normal((3, 3, n)))


@pytest.mark.parametrize("derivative", [network.jvp, network.vjp], ids=["jvp", "vjp"])
def test_the_derivatives_of_a_network_agree(random, derivative):
    point = derivative()
    inputs = [random.standard_normal((*f.shape, 40)) for f in point.inputs.values()]
    agree(point, pyceedlike.Ceed(), *inputs)


def test_a_network_is_loops_whose_weights_are_in_the_context():
    source = network.jvp().c_source()
    struct = re.search(r"typedef struct \{(.*?)\}", source, re.DOTALL)[1]
    sizes = [int(n) for n in re.findall(r"CeedScalar table\d+\[(\d+)\]", struct)]
    assert {576, 4096} <= set(sizes)
    assert source.count(";") < 1000


def test_points_beyond_the_last_are_not_touched(random):
    ceed, n = pyceedlike.Ceed(), 5
    u, v = np.zeros(9 * n + 9), np.full(9 * n + 64, 7.0)
    vector, result = pyceedlike.from_dlpack(u[: 9 * n]), pyceedlike.from_dlpack(v[: 9 * n])
    network.qfunction(ceed).apply(n, [vector], [result])
    assert (result.to_numpy() != 7).all()
    np.testing.assert_array_equal(v[9 * n :], 7)


# ---- Contexts ------------------------------------------------------------------------------------


IDENTITY = np.eye(2)


@native.qfunction(Data(2), v=Data(2))
def parametrised(u, *, scale=2.0, shift=(1.0, -1.0), A=IDENTITY, power=2, is_doubled=False):
    return jnp.where(is_doubled, 2, 1) * scale * (A @ u**power) + jnp.asarray(shift)


# Where a value lies.


def test_integers_towards_zero_are_plus_zero(ceed):
    x = np.array([-0.5, -0.0, 0.5, -1.5] * 16)
    kinds = "int8", "int32", "int64", "uint8", "uint64"
    point = native.qfunction(Data(), v=Data(len(kinds)))(
        lambda x: jnp.stack([1 / (x * (x > -1)).astype(kind).astype(x.dtype) for kind in kinds])
    )
    (found,) = by_c(point, ceed, x)
    np.testing.assert_array_equal(found, np.inf)


@pytest.mark.parametrize("mode", ["clip", "fill", "drop"])
def test_places_outside_that_the_point_computes_agree(mode):
    places = np.array([-7.0, -4.0, -1.0, 0.0, 2.0, 3.0, 4.0, 9.0])

    def results(i):
        x, i = jnp.arange(1.0, 5.0), i.astype(int)
        square = x.reshape(2, 2)
        moved = [
            x.at[i].set(9.0, mode=mode),
            x.at[i].add(9.0, mode=mode),
            square.at[i, -i].set(9.0, mode=mode),
            square.at[i].add(9.0, mode=mode),
            x.at[i].get(mode=mode),
        ]
        if mode != "drop":
            moved.append(jnp.take(x, i, mode=mode))
        return jnp.concatenate([jnp.ravel(y) for y in moved])

    point = native.qfunction(Data(), v=Data(17 + (mode != "drop")))(results)
    agree(point, pyceedlike.Ceed(), places)


def test_long_sums_that_are_one_number_agree(random):
    def results(x):
        flags = x > 0
        return jnp.stack(
            [
                jnp.dot(x, x),
                jnp.sum(x / jnp.sqrt(x @ x)),
                jnp.where(x @ x > 100, x @ x, x[0]),
                jnp.dot(flags.astype(int), flags.astype(int)) * 1.0,
                jnp.outer(jnp.dot(x, x)[None], x)[0, -1],
            ]
        )

    agree(
        native.qfunction(Data(128), v=Data(5))(results),
        pyceedlike.Ceed(),
        random.standard_normal((128, 40)),
    )


def test_what_depends_on_a_large_context_value_alone_agrees(random):
    numbers = np.arange(100.0)

    def results(u, *, w=numbers):
        square = w.reshape(10, 10)
        parts = [jnp.sum(w * 2) * u, (w * 2)[3] * u, jnp.sin(w) @ w * u, square[:2, :2] @ u]
        return jnp.concatenate([*parts, jnp.sin(w) * u[0]])

    agree(
        native.qfunction(Data(2), v=Data(108))(results),
        pyceedlike.Ceed(),
        random.standard_normal((2, 40)),
    )


def test_context_values_are_set_by_name_at_run_time(ceed):
    qf = parametrised.qfunction(ceed)
    (u,), v = vectors(ceed, [np.array([3.0, 5.0])]), ceed.Vector(2)
    qf.apply(1, [u], [v])
    np.testing.assert_array_equal(v.to_numpy(), [19, 49])
    qf.context.set_fields(scale=1.0, shift=[0.5, 0.0], A=[0, 1, 1, 0], power=3, is_doubled=True)
    qf.apply(1, [u], [v])
    np.testing.assert_array_equal(v.to_numpy(), [250.5, 54])


def test_the_source_does_not_depend_on_context_values():
    def scaled(u, *, scale):
        return scale * u

    sources = [
        native.PointFunction(scaled, "f", {"u": Data()}, {"v": Data()}, {"scale": np.array(x)})
        .c_source()
        .partition("_create")[0]
        for x in (2.0, 3.0)
    ]
    assert sources[0].replace("2.0", "3.0") == sources[1]


@pytest.mark.parametrize("value", [2**40, np.uint64(2**63), [0, -(2**31) - 1]])
def test_an_integer_of_more_bits_than_a_context_keeps_is_refused(value):
    def function(u, *, k=value):
        return u

    with pytest.raises(OverflowError, match="'k' is no integer of 32 bits"):
        native.qfunction(Data(), v=Data())(function)


def test_a_context_value_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match="'name' is no number"):

        @native.qfunction(Data(), v=Data())
        def wrong(u, *, name="x"):
            return u


# ---- What is not supported -----------------------------------------------------------------------


def refuse(function, match, shape=(3, 3)):
    point = native.qfunction(Data(*shape), v=Data())(lambda u: function(u))
    with pytest.raises(pyceedlike.CeedUnsupportedError, match=match) as caught:
        point.c_source()
    assert re.search(r"test_native\.py:\d+", str(caught.value))


def test_an_inverse_by_factorisation_names_ours():
    refuse(lambda u: jnp.linalg.inv(u)[0, 0], r"native code has no 'lu'.*pyceedlike\.native\.inv")


def test_a_loop_of_unknown_length_is_refused():
    refuse(lambda u: lax.while_loop(lambda x: x < 3, lambda x: x * 2, u), "'while'.*rounds", ())


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sort", lambda u: jnp.sort(u)[0, 0]),
        ("lgamma", lambda u: jax.scipy.special.gammaln(u[0, 0])),
        ("real", lambda u: jnp.real(u[0, 0] + 1j)),
        ("pure_callback", lambda u: jax.pure_callback(np.sin, u[0, 0], u[0, 0])),
    ],
)
def test_another_primitive_is_refused_by_its_name_and_line(name, function):
    refuse(function, f"{name}|complex")


def larger(u):
    return u[0, 0] if u[0, 0] > 0 else 0.0


@pytest.mark.parametrize(
    ("remedy", "function"),
    [
        ("jnp.where", larger),
        ("jnp.maximum", lambda u: max(u[0, 0], 0.0)),
        ("jax.numpy", lambda u: np.sin(u)[0, 0]),
        ("jax.numpy", lambda u: math.sin(u[0, 0])),
        ("an array of jax.numpy", lambda u: [1.0, 2.0][u[0, 0].astype(int)]),
        ("jnp.where", lambda u: u[u > 0].sum()),
        (r"range\(\)", lambda u: sum(u[0, 0] for _ in range(u[0, 0].astype(int)))),
    ],
    ids=["if", "max", "numpy", "math", "list", "mask", "range"],
)
def test_a_number_that_python_asks_for_is_refused_with_the_line_and_the_remedy(remedy, function):
    refuse(function, f"numbers are not known here; .*{remedy}")


def test_an_unused_primitive_is_nobodys_concern(random):
    @native.qfunction(Data(3, 3), v=Data())
    def traced(u):
        jnp.linalg.inv(u)
        return u[0, 0]

    agree(traced, pyceedlike.Ceed(), random.standard_normal((3, 3, 4)))


def test_an_output_of_another_shape_is_refused():
    point = native.qfunction(Data(3), v=Data(3))(lambda u: u[0])
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"'v' of .* the shape \(\).*\(3,\)"):
        point.c_source()


def test_a_function_that_returns_nothing_is_named():
    def forgetful(u):
        u * 2

    with pytest.raises(TypeError, match="forgetful returned None: it must return v"):
        native.qfunction(Data(3), v=Data(3))(forgetful).c_source()


def test_another_number_of_outputs_is_refused():
    point = native.qfunction(Data(3), v=Data(3), w=Data())(lambda u: u)
    with pytest.raises(pyceedlike.CeedDimensionError, match="tuple of 2 arrays: v, w"):
        point.c_source()


def test_only_small_matrices_are_inverted():
    with pytest.raises(pyceedlike.CeedDimensionError, match="not \\(4, 4\\)"):
        native.inv(jnp.eye(4))


# ---- Without a compiler --------------------------------------------------------------------------


def test_without_a_compiler_it_is_a_callback_that_says_so(ceed, random, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", str(tmp_path))
    with jax.enable_x64(ceed.scalar == "float64"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = by_c(parametrised, ceed, x := random.standard_normal((2, 6)))
    assert any("parametrised runs as a callback" in str(w.message) for w in caught)
    np.testing.assert_allclose(found, by_jax(parametrised, ceed.scalar, x), rtol=RTOL[ceed.scalar])


def test_a_callback_needs_no_64_bits_of_jax_and_any_precision(
    scalar, random, monkeypatch, tmp_path
):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("CEEDLIKE_CACHE_DIR", str(tmp_path))
    ceed, weights = pyceedlike.Ceed(scalar=scalar), np.array([1.0, 2.0])

    @native.qfunction(Interp(2), v=Interp(), n=Interp())
    def f(u, *, rate=0.5, count=3):
        return rate * (weights @ u) / (1 + u[0] ** 2), count

    x = random.standard_normal((2, 6)).astype(scalar)
    wanted = 0.5 * (weights @ x) / (1 + x[0].astype("float64") ** 2)
    for is_wide in (True, False):
        with jax.enable_x64(is_wide), warnings.catch_warnings(action="ignore"):
            v, n = by_c(f, ceed, x)
            stored = by_c(f.with_state(), ceed, x)
        np.testing.assert_allclose(v, wanted, rtol=RTOL[scalar])
        np.testing.assert_array_equal(n, np.full(6, 3))
        np.testing.assert_allclose(stored[0], wanted, rtol=RTOL[scalar])


# ---- What is odd ---------------------------------------------------------------------------------


def test_the_larger_and_the_smaller_zero_are_told_apart(ceed):
    @native.qfunction(Data(2), low=Data(), high=Data())
    def ends(u):
        return jnp.minimum(u[0], u[1]), jnp.maximum(u[0], u[1])

    zeros = np.array([[0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, 0.0, -0.0]], ceed.scalar)
    low, high = by_c(ends, ceed, zeros)
    np.testing.assert_array_equal(np.signbit(low), [True, True, False, True])
    np.testing.assert_array_equal(np.signbit(high), [False, False, False, True])


def test_another_name_keeps_what_a_state_belongs_to():
    residual = native.qfunction(Interp(), v=Interp(), name="f")(jnp.sin).with_state()
    renamed = residual.named("g")
    assert renamed.name == "g"
    assert renamed.jvp().inputs == residual.jvp().inputs
    assert renamed.vjp().outputs == residual.vjp().outputs


def test_an_output_of_integers_has_the_derivative_zero(ceed):
    f = native.qfunction(Data(), v=Data(), n=Data())(lambda u: (u**2, jnp.int32(u)))
    du, u = np.array([[1.0, 2.0], [3.0, 4.0]])
    v, n = by_c(f.jvp("u"), ceed, du, u)
    np.testing.assert_allclose(v, [6, 16])
    np.testing.assert_array_equal(n, [0, 0])


def test_what_a_function_prints_is_not_left_out_in_silence(ceed):
    @native.qfunction(Data(), v=Data())
    def f(u):
        jax.debug.print("u is {}", u)
        return u

    with pytest.raises(pyceedlike.CeedUnsupportedError, match="print from a callback"):
        f.qfunction(ceed)


def test_a_loop_that_stacks_nothing_is_refused(ceed):
    @native.qfunction(Data(3), v=Data())
    def f(u):
        last, stacked = lax.scan(lambda c, x: (c + x, jnp.zeros(0)), 0.0, u)
        return last + stacked.sum()

    with pytest.raises(pyceedlike.CeedUnsupportedError, match="without entries"):
        f.qfunction(ceed)
