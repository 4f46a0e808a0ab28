# SPDX-License-Identifier: BSD-2-Clause
"""Jaxprs that JAX evaluates, in whole or in part, and without the calls in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CALLS = {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"}


def inlined(closed: Any) -> Any:
    """Return a closed jaxpr without calls."""
    import jax

    def function(*values: Any) -> list[Any]:
        return _without_calls(closed, values)

    with jax.enable_x64(True):
        return jax.make_jaxpr(function)(*(v.aval for v in closed.jaxpr.invars))


def _without_calls(closed: Any, inputs: Sequence[Any]) -> list[Any]:
    jaxpr = closed.jaxpr
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *inputs], strict=True))

    def read(v: Any) -> Any:
        return v.val if hasattr(v, "val") else values[v]

    for equation in jaxpr.eqns:
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if equation.primitive.name in CALLS and hasattr(inner, "consts"):
            results = _without_calls(inner, list(map(read, equation.invars)))
        else:
            operands = {v: read(v) for v in equation.invars if not hasattr(v, "val")}
            results = _run(jaxpr, [equation], operands, equation.outvars)
        values.update(zip(equation.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def evaluate(closed: Any, given: dict[Any, Any], wanted: Sequence[Any]) -> list[Any]:
    """Return the values of some variables, from those that are given, of any kind."""
    given = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True)) | given
    needed = {v for v in wanted if not hasattr(v, "val")} - given.keys()
    equations = []
    for equation in reversed(closed.jaxpr.eqns):
        if needed.intersection(equation.outvars):
            equations.append(equation)
            operands = {v for v in equation.invars if not hasattr(v, "val")}
            needed.update(operands - given.keys())
    return _run(closed.jaxpr, equations[::-1], given, wanted)


def _run(
    jaxpr: Any, equations: list[Any], given: dict[Any, Any], wanted: Sequence[Any]
) -> list[Any]:
    from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun

    effects = jaxpr.effects if len(equations) == len(jaxpr.eqns) else set()
    computed = {v for e in equations for v in e.outvars}
    inputs = {v: x for v, x in given.items() if v not in computed}
    given_back = [v if hasattr(v, "val") or v in computed else None for v in wanted]
    outputs = [v for v in given_back if v is not None]
    names = jaxpr.debug_info.with_unknown_names()
    part = Jaxpr([], list(inputs), outputs, equations, effects, names)
    results = iter(jaxpr_as_fun(ClosedJaxpr(part, []))(*inputs.values()))
    return [
        given[w] if v is None else next(results) for v, w in zip(given_back, wanted, strict=True)
    ]
