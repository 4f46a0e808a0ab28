# SPDX-License-Identifier: BSD-2-Clause
"""Derivatives of point functions, which are point functions again.

Of a function of `u` and other fields the Jacobian's action has an input `u`, the direction, and an
input `u_at`, the point where the derivative is taken; its output keeps its name. So the fields of
an operator serve its QFunction and its Jacobian. The transpose reads the output's name and gives
the input's. What a derivative does not depend on is no input of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lib import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    CeedDimensionError,
    CeedIncompatibleError,
)
from ..callback import QField

if TYPE_CHECKING:
    from .point import PointFunction

AT = "{}_at"  # the point of a derivative
DIRECTION = "{}_dot"  # of a context value, which keeps its name


def variables(point: PointFunction, of: str | Sequence[str] | None) -> list[str]:
    """Return what to differentiate in: names of inputs and context values."""
    if of is None:
        active = [n for n, f in point.inputs.items() if f.mode in (EVAL_INTERP, EVAL_GRAD)]
        if len(active) == 1:
            return active
        raise CeedIncompatibleError(
            f"{point.name} has {len(active) or 'no'} inputs that are Interp or Grad "
            f"({', '.join(active)}): say by of=... in which to differentiate"
        )
    names = [of] if isinstance(of, str) else list(of)
    if not names or len(set(names)) < len(names):
        raise CeedIncompatibleError(
            f"say what to differentiate {point.name} in, each input and context value once, not "
            f"({', '.join(names)})"
        )
    known = [*point.inputs, *(n for n, v in point.context.items() if v.dtype.kind == "f")]
    for name in names:
        if name not in known:
            raise CeedIncompatibleError(
                f"{point.name} has no {name!r} to differentiate in: {', '.join(known)}"
            )
    return names


class Split:
    """A point function as a function of its variables, the rest being kept."""

    def __init__(self, point: PointFunction, names: list[str]) -> None:
        self.point, self.names = point, names
        self.fields = {
            n: point.inputs[n] if n in point.inputs else QField(EVAL_NONE, point.context[n].shape)
            for n in names
        }
        # The inputs of a derivative, besides directions and cotangents.
        self.renamed = [AT.format(n) if n in names else n for n in point.inputs]
        self.inputs = dict(zip(self.renamed, point.inputs.values(), strict=True))

    def at(self, inputs: Sequence[Any], context: dict[str, Any]) -> tuple[Callable, list[Any]]:
        """Return the function of the variables, and where they are."""
        given = dict(zip(self.point.inputs, inputs, strict=True))

        def function(*values: Any) -> tuple[Any, ...]:
            now = dict(zip(self.names, values, strict=True))
            ins = [now.get(n, x) for n, x in given.items()]
            return self.point.results(*ins, **{n: now.get(n, x) for n, x in context.items()})

        return function, [given.get(n, context.get(n)) for n in self.names]


def jvp(point: PointFunction, of: str | Sequence[str] | None = None) -> PointFunction:
    """Return the action of the Jacobian."""
    split = Split(point, variables(point, of))
    directions = {n: f for n, f in split.fields.items() if n in point.inputs}
    numbers = [n for n in split.names if n not in point.inputs]

    def function(*values: Any, **context: Any) -> Any:
        import jax

        ways = dict(zip(directions, values, strict=False))
        ways |= {n: context.pop(DIRECTION.format(n)) for n in numbers}
        f, where = split.at(values[len(directions) :], context)
        results = jax.jvp(f, where, [ways[n] for n in split.names])[1]
        return results if len(results) > 1 else results[0]

    more = {DIRECTION.format(n): np.zeros_like(point.context[n]) for n in numbers}
    _check_names(point, [*directions, *split.renamed, *point.context, *more])
    return reduced(
        point, "jvp", function, {**directions, **split.inputs}, point.outputs,
        {**point.context, **more}, set(directions),
    )  # fmt: skip


def vjp(point: PointFunction, of: str | Sequence[str] | None = None) -> PointFunction:
    """Return the action of the Jacobian's transpose."""
    split = Split(point, variables(point, of))
    cotangents = point.outputs
    _check_names(point, [*split.renamed, *point.context])
    _check_apart(point, cotangents, split.inputs)

    def function(*values: Any, **context: Any) -> Any:
        import jax

        f, where = split.at(values[len(cotangents) :], context)
        results = jax.vjp(f, *where)[1](tuple(values[: len(cotangents)]))
        return results if len(results) > 1 else results[0]

    return reduced(
        point, "vjp", function, {**cotangents, **split.inputs}, split.fields, point.context,
        set(cotangents),
    )  # fmt: skip


def gradient(point: PointFunction, outputs: dict[str, str]) -> PointFunction:
    """Return the derivatives of a scalar function, each by the name that its output is to have."""
    shapes = [f.shape for f in point.outputs.values()]
    if shapes != [()]:
        raise CeedDimensionError(
            f"{point.name} is no scalar function: its outputs have the shapes {shapes}"
        )
    names = list(outputs.values())
    split = Split(point, variables(point, names))
    fields = {output: split.fields[name] for output, name in outputs.items()}

    def function(*values: Any, **context: Any) -> Any:
        import jax

        f, where = split.at(values, context)
        results = jax.grad(lambda *v: f(*v)[0], tuple(range(len(names))))(*where)
        return results if len(results) > 1 else results[0]

    from .point import PointFunction

    return PointFunction(function, f"{point.name}_gradient", point.inputs, fields, point.context)


def is_linear(point: PointFunction, names: list[str], outputs: list[str]) -> bool:
    """Return whether the outputs may be linear in inputs.

    Their derivatives depend on none of these, and where these are 0, the outputs are 0.
    """
    split = Split(point, names)
    places = [k for k, name in enumerate(point.outputs) if name in outputs]
    fields = {name: point.outputs[name] for name in outputs}

    def function(*values: Any, **context: Any) -> Any:
        import jax

        f, where = split.at(values[len(names) :], context)
        results = jax.jvp(f, where, list(values[: len(names)]))[1]
        return tuple(results[k] for k in places) if len(places) > 1 else results[places[0]]

    from .point import PointFunction

    ways = {f"{name} of the direction": split.fields[name] for name in names}
    slope = PointFunction(
        function, f"{point.name}_jvp", {**ways, **point.inputs}, fields, point.context
    )
    return slope.reads().isdisjoint(names) and _is_zero_at_zero(point, names, places)


def _is_zero_at_zero(point: PointFunction, names: list[str], places: list[int]) -> bool:
    """Return whether outputs are 0, up to rounding, where some inputs are 0, others at random."""
    import jax

    random = np.random.default_rng(0)
    with jax.enable_x64(True):
        inputs = {
            n: jax.numpy.asarray(random.uniform(0.5, 1.5, f.shape)) for n, f in point.inputs.items()
        }
        zeros = {n: jax.numpy.zeros(point.inputs[n].shape) for n in names}
        there, here = (
            list(map(np.asarray, point.results(*values.values(), **point.context)))
            for values in (inputs, {**inputs, **zeros})
        )
    return not any((abs(here[k]) > 1e-8 * abs(there[k]).max()).any() for k in places)


def _check_names(point: PointFunction, names: list[str]) -> None:
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise CeedIncompatibleError(
            f"a derivative of {point.name} would have two inputs or context values of the name "
            f"{', '.join(twice)}: give what {point.name} has of that name another one"
        )


def _check_apart(point: PointFunction, one: dict[str, QField], two: dict[str, QField]) -> None:
    if both := sorted(one.keys() & two.keys()):
        raise CeedIncompatibleError(
            f"{', '.join(both)} would be an output and an input of a derivative of {point.name}: "
            "give the output another name"
        )


def reduced(
    point: PointFunction,
    kind: str,
    function: Callable,
    inputs: dict[str, QField],
    outputs: dict[str, QField],
    context: dict[str, np.ndarray],
    kept: set[str],
) -> PointFunction:
    """Return a point function with those of the inputs that its results depend on."""
    from .point import PointFunction

    whole = PointFunction(function, f"{point.name}_{kind}", inputs, outputs, context)
    used = whole.reads() | kept
    if used >= inputs.keys():
        return whole
    left = {n: f for n, f in inputs.items() if n in used}

    def function_of_those(*values: Any, **numbers: Any) -> Any:
        import jax.numpy as jnp

        given = dict(zip(left, values, strict=True))
        full = [given.get(n, jnp.zeros(f.shape)) for n, f in inputs.items()]
        return function(*full, **numbers)

    return PointFunction(function_of_those, whole.name, left, outputs, context)
