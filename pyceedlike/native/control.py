# SPDX-License-Identifier: BSD-2-Clause
"""Rules of the primitives that hold functions: calls, branches, loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import apply, select
from .ir import Graph, Loop, Node
from .trace import SMALL, Array, Lowering, Value, as_nodes, rule, size_of, type_of


@rule("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call")
@rule("remat", "remat2", "checkpoint", "custom_vjp_call_jaxpr")
def call(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """Write a function where it is called."""
    params = equation.params
    inner = params.get("jaxpr", params.get("call_jaxpr"))
    if hasattr(inner, "consts"):
        return low.run_closed(inner, args)
    return low.run(inner, (), args)


@rule("cond")
def cond(low: Lowering, equation: Any, which: Value, *args: Value) -> list[Value]:
    """Compute all branches and select one: what has no branch is vectorised."""
    branches, last = equation.params["branches"], len(equation.params["branches"]) - 1
    if which.dtype != object:
        return low.run_closed(branches[min(max(int(which), 0), last)], args)
    type_ = type_of(which)
    which = apply(low, "max", type_, (which, np.zeros((), type_)))
    which = apply(low, "min", type_, (which, np.asarray(last, type_)))
    results = [low.run_closed(branch, args) for branch in branches]
    return [
        select(low, which, cases, v.aval.dtype.name)
        for v, cases in zip(equation.outvars, zip(*results, strict=True), strict=True)
    ]


@rule("scan")
def scan(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """Keep a loop a loop."""
    params = equation.params
    inner, rounds = params["jaxpr"], params["length"]
    num_consts, num_carry = params["num_consts"], params["num_carry"]
    consts, start = args[:num_consts], args[num_consts : num_consts + num_carry]
    stacks = args[num_consts + num_carry :]
    if not all(v.aval.size for v in equation.outvars) and rounds:
        raise low.unsupported("arrays without entries")
    if rounds == 0:
        return [
            *start,
            *(np.empty(v.aval.shape, v.aval.dtype) for v in equation.outvars[num_carry:]),
        ]
    body = Graph(low.graph)
    below = low.inside(body)
    carry = [
        body.leaf("carry", v.aval.dtype.name, (), j, v.aval.size)
        for j, v in enumerate(inner.jaxpr.invars[num_consts : num_consts + num_carry])
    ]
    index = body.leaf("index", "int64", (), None, 1)
    given = [
        *(_value(below, n, x.shape) for n, x in zip(carry, start, strict=True)),
        *(_slice(below, x, index) for x in stacks),
    ]
    results = [list(below.nodes(x).ravel()) for x in below.run_closed(inner, (*consts, *given))]
    loop = Loop(body, rounds, carry, results[:num_carry], results[num_carry:], params["reverse"])
    numbers = tuple(n for x in start for n in low.nodes(x).ravel())
    node = low.graph.leaf("loop", "", numbers, loop, 0)
    return [
        _value(
            low, low.graph.add("result", v.aval.dtype.name, (node,), j, v.aval.size), v.aval.shape
        )
        for j, v in enumerate(equation.outvars)
    ]


def _value(low: Lowering, node: Node, shape: tuple[int, ...]) -> Value:
    whole = Array(node, shape)
    return whole if node.size > SMALL else low.nodes(whole)


def _slice(low: Lowering, x: Value, index: Node) -> Value:
    """Return what a round is given of an array."""
    whole, shape = low.array(x).node, x.shape[1:]
    n = size_of(shape)
    numbers = [low.graph.add("at", whole.type, (whole, index), (n, k)) for k in range(n)]
    return as_nodes(numbers, shape)
