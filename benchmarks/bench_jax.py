# SPDX-License-Identifier: BSD-2-Clause
"""Operators whose QFunction is written in C, or in JAX: compiled, called back, or inside jax.jit.

The operators are on a box of hexahedra with stored geometric factors; a table is of the tangent of
a hyperelastic solid at points alone, beside JAX's own jit, and the last of what a call from within
a program of JAX costs. A second is one of the processor, whoever else uses the machine, and of all
threads together.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import Case, arguments, figure_of, headline, machine, measure, ratio, show, table

import pyceedlike
from pyceedlike import BASIS_NONE, GAUSS, VECTOR_ACTIVE, Data, Grad, Interp, native

ORDERS = range(1, 7)
CALLS = 1000  # in a program
COMPILED, IN_JIT, IN_NUMPY = "JAX, compiled", "the same in jax.jit", "all in jax.numpy"
POINTS = (512, 4096, 32768)

MASS = """
CEED_QFUNCTION(mass)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *qdata = in[1];
  CeedScalar *v = out[0];
  (void)ctx;
  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) v[i] = qdata[i] * u[i];
  return 0;
}
"""
DIFFUSION = """
CEED_QFUNCTION(diffusion)(void *ctx, CeedInt Q, const CeedScalar *const *in,
                          CeedScalar *const *out) {
  const CeedScalar *u = in[0], *d = in[1];
  CeedScalar *v = out[0];
  (void)ctx;
  CeedPragmaSIMD for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar x = u[i], y = u[Q + i], z = u[2 * Q + i];
    v[i] = d[i] * x + d[5 * Q + i] * y + d[4 * Q + i] * z;
    v[Q + i] = d[5 * Q + i] * x + d[Q + i] * y + d[3 * Q + i] * z;
    v[2 * Q + i] = d[4 * Q + i] * x + d[3 * Q + i] * y + d[2 * Q + i] * z;
  }
  return 0;
}
"""


def mass(u: Any, qdata: Any) -> Any:
    """Return what a point gives to the mass operator."""
    return u * qdata


def diffusion(du: Any, qdata: Any) -> Any:
    """Return what a point gives to the diffusion operator."""
    import jax.numpy as jnp

    return qdata[jnp.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])] @ du


def diffusion_of_all_points(du: Any, qdata: Any) -> Any:
    """Return the same for arrays whose last axis is points."""
    import jax.numpy as jnp

    return jnp.einsum("ijq,jq->iq", qdata[jnp.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])], du)


PHYSICS = {
    "mass": (MASS, mass, mass, Interp(), 1),
    "diffusion": (DIFFUSION, diffusion, diffusion_of_all_points, Grad(3), 6),
}


def qfunctions(ceed: pyceedlike.Ceed, physics: str) -> Iterator[tuple[str, Any]]:
    """Give the QFunction by each route."""
    import jax

    source, at_point, at_all, field, size = PHYSICS[physics]
    c = ceed.QFunction(1, source, f"bench_jax.py:{physics}")
    mode, components = field.mode, int(np.prod(field.shape, dtype=int))
    c.add_input("u", components, mode)
    c.add_input("qdata", size, pyceedlike.EVAL_NONE)
    c.add_output("v", components, mode)
    data = Data(size) if size > 1 else Data()
    yield "C", c
    renamed = lambda f: lambda u, qdata: f(u, qdata)  # noqa: E731
    compiled = native.qfunction(field, data, name=physics, v=field)(renamed(at_point))
    yield COMPILED, compiled.qfunction(ceed)
    yield "JAX, called back", ceed.qfunction(field, data, v=field)(jax.jit(renamed(at_all)))


def operators(physics: str, order: int, unknowns: float) -> Iterator[tuple[str, str, Any]]:
    """Give the operator by each route: its name, a statement, and the names in it."""
    import jax

    ceed, n = pyceedlike.Ceed(), 1
    while (n * order + 1) ** 3 < unknowns:
        n += 1
    line, points = n * order + 1, (order + 2) ** 3
    at = np.arange(line**3).reshape(line, line, line)
    windows = np.lib.stride_tricks.sliding_window_view(at, (order + 1,) * 3)
    offsets = windows[::order, ::order, ::order].reshape(n**3, -1)
    size = PHYSICS[physics][-1]
    rstr_u = ceed.ElemRestriction(n**3, (order + 1) ** 3, 1, 1, line**3, offsets)
    rstr_q = ceed.StridedElemRestriction(n**3, points, size, n**3 * points * size, None)
    basis = ceed.BasisTensorH1Lagrange(3, 1, order + 1, order + 2, GAUSS)
    qdata, u, v = (ceed.Vector(k) for k in (n**3 * points * size, line**3, line**3))
    qdata.set_value(0.5)
    u.set_value(1.0)
    for route, qf in qfunctions(ceed, physics):
        op = ceed.Operator(qf)
        op.set_field("u", rstr_u, basis, VECTOR_ACTIVE)
        op.set_field("qdata", rstr_q, BASIS_NONE, qdata)
        op.set_field("v", rstr_u, basis, VECTOR_ACTIVE)
        yield route, "op.apply(u, v)", {"op": op, "u": u, "v": v}
        if route == COMPILED:
            names = {"u": jax.numpy.asarray(u.to_numpy()), "ready": jax.block_until_ready}
            yield IN_JIT, "ready(f(u))", names | {"f": jax.jit(op.jax())}
            names["q"] = jax.numpy.asarray(qdata.to_numpy())  # not a constant of the program
            f = op.jax("xla")
            yield (
                IN_NUMPY,
                "ready(f(u, q))",
                names | {"f": jax.jit(lambda u, q, f=f: f(u, qdata=q))},
            )


def energy(du: Any, w: Any, *, mu: float = 1.0, lam: float = 2.0) -> Any:
    """Return the energy density of a neo-Hookean solid."""
    import jax.numpy as jnp

    f = jnp.eye(3) + du
    log_j = jnp.log(jnp.linalg.det(f))
    return w * (mu / 2 * (jnp.sum(f * f) - 3) - mu * log_j + lam / 2 * log_j**2)


def tangents(n: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give the tangent at n points by each route: a statement and its names."""
    import jax
    import jax.numpy as jnp

    residual = native.qfunction(Grad(3, 3), Data(), e=Data())(energy).gradient(v="du")
    point, ceed, random = residual.jvp(), pyceedlike.Ceed(), np.random.default_rng(0)
    arrays = [0.1 * random.standard_normal((*f.shape, n)) for f in point.inputs.values()]
    inputs = [ceed.Vector(x.size) for x in arrays]
    for vector, x in zip(inputs, arrays, strict=True):
        vector.set_array(x.ravel())
    names = {"qf": point.qfunction(ceed), "n": n, "inputs": inputs, "outputs": [ceed.Vector(9 * n)]}
    yield "compiled", "qf.apply(n, inputs, outputs)", names
    function = jax.jit(jax.vmap(lambda *x: point.results(*x, **point.context), -1, -1))
    names = {"f": function, "x": list(map(jnp.asarray, arrays)), "ready": jax.block_until_ready}
    yield "jax.jit", "ready(f(*x))", names


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give what costs of a call are the difference of, on an operator of 8 points."""
    import jax

    routes = {route: names for route, _, names in operators("mass", 1, 8)}
    f, x = routes[IN_JIT]["f"], routes[IN_JIT]["u"]

    def often(x: Any) -> Any:
        return jax.lax.fori_loop(0, CALLS, lambda _, y: f(y), x)

    yield "apply()", "op.apply(u, v)", routes[COMPILED]
    for what, function in (("x + 1", lambda x: x + 1), ("once", f), ("often", often)):
        names = {"f": jax.jit(function), "x": x, "ready": jax.block_until_ready}
        yield what, "ready(f(x))", names


def cases(unknowns: float) -> Iterator[Case]:
    """Give everything that is timed."""
    for physics in PHYSICS:
        for order in ORDERS:
            for route, statement, names in operators(physics, order, unknowns):
                key, note = (physics, order, route), str(len(names["u"]))
                # What JAX's threads do while nothing is asked of them is not C's time.
                clock = time.thread_time if route in ("C", COMPILED) else time.process_time
                yield Case(key, statement, names, note, clock=clock)
    for n in POINTS:
        for route, statement, names in tangents(n):
            yield Case(("tangent", n, route), statement, names, clock=time.process_time)
    for what, statement, names in calls():
        yield Case(("call", what), statement, names, clock=time.process_time)


def rates(found: dict[tuple, Case], physics: str, route: str) -> list[float]:
    """Return the million unknowns a second for each order."""
    chosen = [found[physics, order, route] for order in ORDERS]
    return [1e3 * int(case.note) / case.median for case in chosen]


ROUTES = ("C", COMPILED, "JAX, called back", IN_JIT, IN_NUMPY)


def tables(found: dict[tuple, Case]) -> Iterator[str]:
    """Give the results in Markdown."""
    for physics in PHYSICS:
        head = [f"{physics}, million unknowns a second", *(f"order {p}" for p in ORDERS)]
        rows = [[r, *map(show, rates(found, physics, r))] for r in ROUTES]
        for what, one, two in (("compiled JAX / C", COMPILED, "C"),
                               ("jax.jit / apply()", IN_JIT, COMPILED)):  # fmt: skip
            ratios = [ratio(found[physics, p, one], found[physics, p, two]) for p in ORDERS]
            rows.append([f"time of {what}", *map(show, ratios)])
        yield table(head, rows)
    head = ["tangent, ns a point", *(f"{n} points" for n in POINTS)]
    rows = [
        [r, *(show(found["tangent", n, r].median / n) for n in POINTS)]
        for r in ("compiled", "jax.jit")
    ]
    pairs = [(found["tangent", n, "compiled"], found["tangent", n, "jax.jit"]) for n in POINTS]
    yield table(head, [*rows, ["ratio", *(show(ratio(*pair)) for pair in pairs)]])
    us = {what: found["call", what].median / 1e3 for what in ("apply()", "x + 1", "once", "often")}
    us["often"] /= CALLS
    rows = {
        "apply() from Python": us["apply()"],
        "each of 1000 calls in one program": us["often"],
        "a program of one call": us["once"],
        "a program of x + 1": us["x + 1"],
        "added to apply(), in a program": us["often"] - us["apply()"],
        "added to apply() and x + 1, in a program of its own": us["once"]
        - us["x + 1"]
        - us["apply()"],
    }
    yield table(["a call, 8 points", "µs"], [[what, show(t)] for what, t in rows.items()])


def draw(found: dict[tuple, Case], path: Any) -> None:
    """Draw the rates by order."""
    figure, axes = figure_of(len(PHYSICS))
    for axis, physics in zip(axes, PHYSICS, strict=True):
        for route in ROUTES:
            axis.plot(ORDERS, rates(found, physics, route), "o-", label=route)
        axis.set(title=physics, xlabel="order", ylabel="million unknowns a second", ylim=0)
        axis.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    """Time everything and print tables."""
    options = arguments(__doc__, rounds=15, sample_us=2000)
    import jax

    jax.config.update("jax_enable_x64", True)
    unknowns = options.largest or 4e4
    found = measure(cases(unknowns), options.rounds, options.sample_us, lambda key: key[:2])
    print(headline(), *tables(found), sep="\n\n")
    if options.json:
        rows = [{"key": c.key, "ns": c.median, "error": c.error} for c in found.values()]
        options.json.write_text(json.dumps({"machine": machine(), "cases": rows}, indent=1) + "\n")
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
