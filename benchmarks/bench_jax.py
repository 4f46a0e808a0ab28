# SPDX-License-Identifier: BSD-2-Clause
"""Operators whose QFunction is written in C, or in JAX: compiled, or called back.

The operators are on a box of hexahedra with stored geometric factors; the last table is of the
tangent of a hyperelastic solid at points alone, beside JAX's own jit. A second is one of the
processor, whoever else uses the machine, and of all threads together.
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
    yield "JAX, compiled", compiled.qfunction(ceed)
    yield "JAX, called back", ceed.qfunction(field, data, v=field)(jax.jit(renamed(at_all)))


def operators(physics: str, order: int, unknowns: float) -> Iterator[tuple[str, Any, Any, Any]]:
    """Give the operator by each route, and its vectors."""
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
        yield route, op, u, v


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


def cases(unknowns: float) -> Iterator[Case]:
    """Give everything that is timed."""
    for physics in PHYSICS:
        for order in ORDERS:
            for route, op, u, v in operators(physics, order, unknowns):
                names = {"op": op, "u": u, "v": v}
                key, note = (physics, order, route), str(len(u))
                yield Case(key, "op.apply(u, v)", names, note, clock=time.process_time)
    for n in POINTS:
        for route, statement, names in tangents(n):
            yield Case(("tangent", n, route), statement, names, clock=time.process_time)


def rates(found: dict[tuple, Case], physics: str, route: str) -> list[float]:
    """Return the million unknowns a second for each order."""
    chosen = [found[physics, order, route] for order in ORDERS]
    return [1e3 * int(case.note) / case.median for case in chosen]


ROUTES = ("C", "JAX, compiled", "JAX, called back")


def tables(found: dict[tuple, Case]) -> Iterator[str]:
    """Give the results in Markdown."""
    for physics in PHYSICS:
        head = [f"{physics}, million unknowns a second", *(f"order {p}" for p in ORDERS)]
        rows = [[r, *map(show, rates(found, physics, r))] for r in ROUTES]
        ratios = [ratio(found[physics, p, ROUTES[1]], found[physics, p, "C"]) for p in ORDERS]
        yield table(head, [*rows, ["time of compiled JAX / C", *map(show, ratios)]])
    head = ["tangent, ns a point", *(f"{n} points" for n in POINTS)]
    rows = [
        [r, *(show(found["tangent", n, r].median / n) for n in POINTS)]
        for r in ("compiled", "jax.jit")
    ]
    pairs = [(found["tangent", n, "compiled"], found["tangent", n, "jax.jit"]) for n in POINTS]
    yield table(head, [*rows, ["ratio", *(show(ratio(*pair)) for pair in pairs)]])


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
