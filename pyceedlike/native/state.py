# SPDX-License-Identifier: BSD-2-Clause
"""Residuals that store at the points what their linearisation needs.

Of all values from which the Jacobian's action follows by sums and products, a smallest set is
stored: a cut through the graph of the values, found as a maximal flow (Ford and Fulkerson, 1956).
A division, a root or an exponential of the residual is not computed again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._lib import EVAL_NONE, CeedIncompatibleError
from ..callback import QField
from .derivatives import Split, reduced, variables
from .point import PointFunction
from .trace import jaxpr_of, live
from .values import evaluate, inlined

CHEAP = {
    *("add", "add_any", "sub", "mul", "neg", "square", "abs", "sign", "max", "min", "select_n"),
    *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "convert_element_type", "copy"),
    *("reshape", "squeeze", "transpose", "broadcast_in_dim", "concatenate", "slice", "stack"),
    *("unstack", "split", "pad", "rev", "iota", "tile", "gather", "reduce_sum", "dot_general"),
    "integer_pow",
}


class WithState(PointFunction):
    """A residual whose derivatives read what it has stored."""

    _jvp: PointFunction
    _vjp: PointFunction

    def jvp(self, of: str | Sequence[str] | None = None) -> PointFunction:
        """Return the action of the Jacobian at the state that was stored."""
        return self._checked(of, self._jvp)

    def vjp(self, of: str | Sequence[str] | None = None) -> PointFunction:
        """Return the action of the Jacobian's transpose at the state that was stored."""
        return self._checked(of, self._vjp)

    def _checked(self, of: Any, derivative: PointFunction) -> PointFunction:
        if of is not None:
            raise CeedIncompatibleError(
                f"{self.name} stores what the derivatives that with_state() named need: of={of!r} "
                "belongs there"
            )
        return derivative


def with_state(point: PointFunction, name: str, of: str | Sequence[str] | None) -> WithState:
    """Return a point function with one more output, and the derivatives that read it."""
    if name in point.inputs or name in point.outputs:
        raise CeedIncompatibleError(f"{point.name} has a field {name!r}: name the state otherwise")
    split = Split(point, variables(point, of))
    linear = _Linearised(split)
    state = QField(EVAL_NONE, (linear.size,))
    residual = WithState(
        linear.residual, f"{point.name}_with_{name}", point.inputs, {**point.outputs, name: state},
        point.context,
    )  # fmt: skip
    passive = {n: f for n, f in point.inputs.items() if n not in split.names}
    residual._jvp = reduced(
        point, "jvp", linear.jvp, {**split.fields, name: state, **passive}, point.outputs,
        point.context, set(split.fields),
    )  # fmt: skip
    residual._vjp = reduced(
        point, "vjp", linear.vjp, {**point.outputs, name: state, **passive}, split.fields,
        point.context, set(point.outputs),
    )  # fmt: skip
    return residual


class _Linearised:
    """A function and its tangent as one list of equations, cut where the state is stored."""

    def __init__(self, split: Split) -> None:
        self.split, point = split, split.point
        self.active, self.context = split.names, list(point.context)
        self.num_outputs = len(point.outputs)

        def both(*values: Any) -> tuple[Any, ...]:
            n = len(self.active)
            directions, inputs = values[:n], values[n : n + len(point.inputs)]
            numbers = dict(zip(self.context, values[n + len(point.inputs) :], strict=True))
            import jax

            f, where = split.at(inputs, numbers)
            # jax.jvp() would leave the value and the tangent of a loop or a branch one equation.
            results, tangent = jax.linearize(f, *where)
            return (*results, *tangent(*directions))

        self.closed = inlined(jaxpr_of(both, point.structures(self.active)))
        self.stored = self._cut()
        self.size = sum(v.aval.size for v in self.stored)

    def _cut(self) -> list[Any]:
        """Return the variables to store."""
        jaxpr, n = self.closed.jaxpr, len(self.active)
        inputs = jaxpr.invars[n : n + len(self.split.point.inputs)]
        names = zip(self.split.point.inputs, inputs, strict=True)
        moving = set(jaxpr.invars[:n])  # depends on the direction
        depends = {v for name, v in names if name in self.active}  # on the point
        sources = set(depends)
        edges: dict[Any, list[Any]] = defaultdict(list)
        sinks = set()
        tangents = jaxpr.replace(outvars=jaxpr.outvars[self.num_outputs :])
        for equation in live(tangents).eqns:
            operands = [v for v in equation.invars if not hasattr(v, "val")]
            if moving.intersection(operands):
                moving.update(equation.outvars)
                sinks.update(v for v in operands if v in depends)
            elif depends.intersection(operands):
                depends.update(equation.outvars)
                if equation.primitive.name not in CHEAP:
                    sources.update(equation.outvars)
                for v in depends.intersection(operands):
                    edges[v] += equation.outvars
        sinks.update(v for v in tangents.outvars if not hasattr(v, "val") and v in depends)
        order = {v: k for k, v in enumerate(v for e in jaxpr.eqns for v in e.outvars)}
        cut = smallest_cut(edges, sources, sinks, lambda v: v.aval.size)
        return sorted(cut, key=lambda v: order.get(v, -1))

    def residual(self, *inputs: Any, **context: Any) -> tuple[Any, ...]:
        """Return the outputs and the state."""
        import jax.numpy as jnp

        jaxpr, n = self.closed.jaxpr, len(self.active)
        given = dict(zip(jaxpr.invars[n:], [*inputs, *context.values()], strict=True))
        wanted = [*jaxpr.outvars[: self.num_outputs], *self.stored]
        results = evaluate(self.closed, given, wanted)
        state = [jnp.ravel(x).astype("float64") for x in results[self.num_outputs :]]
        stacked = jnp.concatenate(state) if state else jnp.zeros(0)
        return (*results[: self.num_outputs], stacked)

    def jvp(self, *values: Any, **context: Any) -> Any:
        """Return the tangents, of directions, the state and the other inputs."""
        n = len(self.active)
        return _alone(self._tangents(values[:n], values[n], values[n + 1 :], context))

    def vjp(self, *values: Any, **context: Any) -> Any:
        """Return the cotangents of the variables."""
        import jax

        n = self.num_outputs
        fields = self.split.fields.values()
        shapes = [jax.ShapeDtypeStruct(f.shape, values[0].dtype) for f in fields]
        transpose = jax.linear_transpose(
            lambda *d: self._tangents(d, values[n], values[n + 1 :], context), *shapes
        )
        return _alone(transpose(tuple(values[:n])))

    def _tangents(
        self, directions: Sequence[Any], state: Any, others: Sequence[Any], context: dict[str, Any]
    ) -> tuple[Any, ...]:
        jaxpr, n, point = self.closed.jaxpr, len(self.active), self.split.point
        inputs = zip(point.inputs, jaxpr.invars[n:], strict=False)
        given = dict(zip(jaxpr.invars[:n], directions, strict=True))
        rest = [v for name, v in inputs if name not in self.active]
        given.update(zip(rest, others, strict=True))
        numbers = jaxpr.invars[n + len(point.inputs) :]
        given.update(zip(numbers, [context[c] for c in self.context], strict=True))
        start = 0
        for v in self.stored:
            part = state[start : start + v.aval.size]
            given[v] = part.reshape(v.aval.shape).astype(v.aval.dtype)
            start += v.aval.size
        return tuple(evaluate(self.closed, given, jaxpr.outvars[self.num_outputs :]))


def _alone(results: Sequence[Any]) -> Any:
    return results if len(results) > 1 else results[0]


def smallest_cut(
    edges: dict[Any, list[Any]], sources: set[Any], sinks: set[Any], weight: Callable[[Any], int]
) -> set[Any]:
    """Return a lightest set of nodes that every path from a source to a sink goes through."""
    room: dict[Any, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    nodes = {*edges, *sources, *sinks, *(w for ends in edges.values() for w in ends)}
    for v in nodes:
        room[v, 0][v, 1] = weight(v)
        for w in edges.get(v, ()):
            room[v, 1][w, 0] = np.inf
    for v in sources:
        room["source"][v, 0] = np.inf
    for v in sinks:
        room[v, 1]["sink"] = np.inf
    while True:
        before: dict[Any, Any] = {"source": None}
        todo = deque(["source"])
        while todo and "sink" not in before:
            here = todo.popleft()
            for there, left in room[here].items():
                if left > 0 and there not in before:
                    before[there] = here
                    todo.append(there)
        if "sink" not in before:
            return {v for v in nodes if (v, 0) in before and (v, 1) not in before}
        path, here = [], "sink"
        while before[here] is not None:
            path.append((before[here], here))
            here = before[here]
        flow = min(room[a][b] for a, b in path)
        for a, b in path:
            room[a][b] -= flow
            room[b][a] += flow
