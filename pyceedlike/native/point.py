# SPDX-License-Identifier: BSD-2-Clause
"""Point functions: physics at one point, written with jax.numpy, that becomes C."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lib import CeedDimensionError
from ..callback import QField, check_fields, parameters, sequence_of
from ..qfunction import QFunction
from .ir import Graph, Node
from .trace import Array, Lowering, as_nodes, jaxpr_of

if TYPE_CHECKING:
    from ..ceed import Ceed


WIDE = {"int32": "int64"}  # what JAX computes with, of a context's integers


@dataclasses.dataclass
class Traced:
    """What a point function computes: the numbers of each output, the constants of its loops."""

    outputs: list[list[Node]]
    tables: list[np.ndarray]


class PointFunction:
    """Physics at one point, made by native.qfunction(); Ceed.Operator() takes it as a QFunction.

    Its inputs and outputs have the shapes of one point, without an axis of points. It can be called
    as the function that it was made of.

    >>> from pyceedlike import native
    >>> @native.qfunction(pyceedlike.Interp(), pyceedlike.Data(), v=pyceedlike.Interp())
    ... def reaction(u, w, *, rate=2.0):
    ...     return w * rate * jax.numpy.sin(u)
    >>> reaction
    <pyceedlike.native.PointFunction reaction of u, w to v>
    >>> reaction.jvp()
    <pyceedlike.native.PointFunction reaction_jvp of u, u_at, w to v>
    """

    def __init__(
        self,
        function: Callable,
        name: str,
        inputs: dict[str, QField],
        outputs: dict[str, QField],
        context: dict[str, np.ndarray],
    ) -> None:
        self.function = function
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.context = context
        self._jaxpr: Any = None
        self._traced: Traced | None = None
        self._linear: dict[tuple[tuple[str, ...], tuple[str, ...]], bool] = {}

    def __call__(self, *inputs: Any, **context: Any) -> Any:
        """Return what the function returns."""
        return self.function(*inputs, **{**self.context_values(), **context})

    def context_values(self) -> dict[str, Any]:
        """Return the values that the context starts with."""
        return dict(self.context)

    def results(self, *inputs: Any, **context: Any) -> tuple[Any, ...]:
        """Return the outputs as a tuple of arrays, checked against their descriptions."""
        results = sequence_of(self.function(*inputs, **context), self.outputs, self.name)
        arrays = tuple(map(_real, results))
        for (name, field), x in zip(self.outputs.items(), arrays, strict=True):
            if x.shape != field.shape:
                raise CeedDimensionError(
                    f"the output {name!r} of {self.name} has the shape {x.shape} at a point, "
                    f"not {field.shape}"
                )
        return arrays

    # Tracing.

    def jaxpr(self) -> Any:
        """Return the jaxpr of inputs and context values, in this order; traced once."""
        if self._jaxpr is None:
            self._jaxpr = self._trace()
        return self._jaxpr

    def _trace(self) -> Any:
        names = list(self.context)

        def function(*values: Any) -> tuple[Any, ...]:
            inputs, context = values[: len(self.inputs)], values[len(self.inputs) :]
            return self.results(*inputs, **dict(zip(names, context, strict=True)))

        return jaxpr_of(function, self.structures())

    def structures(self, directions: Sequence[str] = ()) -> list[Any]:
        """Return shapes and types: of directions in some inputs, of all inputs, of the context."""
        import jax

        fields = [*(self.inputs[n] for n in directions), *self.inputs.values()]
        shapes = [jax.ShapeDtypeStruct(f.shape, "float64") for f in fields]
        return shapes + [
            jax.ShapeDtypeStruct(v.shape, WIDE.get(v.dtype.name, v.dtype.name))
            for v in self.context.values()
        ]

    def traced(self) -> Traced:
        """Return the graph of the function, made once."""
        if self._traced is None:
            self._traced = _traced(self)
        return self._traced

    def reads(self) -> set[str]:
        """Return the inputs that the results depend on."""
        from .trace import read_variables

        used = read_variables(self.jaxpr().jaxpr)
        return {name for name, is_used in zip(self.inputs, used, strict=False) if is_used}

    # Derivatives.

    def jvp(self, of: str | Sequence[str] | None = None) -> PointFunction:
        """Return the action of the Jacobian: a function of the direction `u` at `u_at`.

        `of` names the inputs and context values to differentiate in, by default the only input
        that is Interp or Grad. The direction of an input has the name of the input, whose own
        values are then the input `u_at`; that of a context value `mu` is the value `mu_dot`. What
        the action does not depend on is no input of it.
        """
        from .derivatives import jvp

        return jvp(self, of)

    def vjp(self, of: str | Sequence[str] | None = None) -> PointFunction:
        """Return the action of the Jacobian's transpose, from outputs to what `of` names.

        Its inputs have the names of the outputs, and its outputs those of the inputs, at `u_at`;
        what belongs to a context value is an output at the points.
        """
        from .derivatives import vjp

        return vjp(self, of)

    def is_linear(self, inputs: Sequence[str], outputs: Sequence[str]) -> bool:
        """Return whether these outputs may be linear in these inputs; found out once."""
        from .derivatives import is_linear

        key = tuple(inputs), tuple(outputs)
        if key not in self._linear:
            self._linear[key] = is_linear(self, *map(list, key))
        return self._linear[key]

    def gradient(self, **outputs: str) -> PointFunction:
        """Return the derivatives of a scalar function: with v="u" the output `v` is that in `u`.

        Of an energy density it is the residual, whose jvp() is the tangent.
        """
        from .derivatives import gradient

        return gradient(self, outputs)

    def with_state(
        self, name: str = "state", of: str | Sequence[str] | None = None
    ) -> PointFunction:
        """Return the same with an output more: what its jvp() and vjp() need of the point.

        They read it as an input of that name, in the place of `u_at`. It has as few components as
        it takes not to compute a division or a function of <math.h> again.
        """
        from .state import with_state

        return with_state(self, name, of)

    # Uses.

    def qfunction(self, ceed: Ceed) -> QFunction:
        """Return the QFunction in a context's precision, compiled or from the cache."""
        from .build import qfunction

        return qfunction(self, ceed)

    def named(self, name: str) -> PointFunction:
        """Return the same function under another name, which C code has too."""
        again = copy.copy(self)  # with the derivatives that a state belongs to
        again.name = name
        return again

    def c_source(self) -> str:
        """Return the C header of the function, which needs no Python."""
        from .source import c_header, identifier

        return c_header([self], f"{identifier(self.name).upper()}_H")

    def __repr__(self) -> str:
        ins, outs = (", ".join(names) or "nothing" for names in (self.inputs, self.outputs))
        return f"<pyceedlike.native.PointFunction {self.name} of {ins} to {outs}>"


def _real(x: Any) -> Any:
    """Return a result as an array of real numbers, which has a derivative."""
    import jax.numpy as jnp

    array = jnp.asarray(x)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)


def _traced(point: PointFunction) -> Traced:
    from . import control, elementwise, tensor  # noqa: F401 - their rules

    closed = point.jaxpr()
    graph = Graph()
    low = Lowering(graph)
    values = []
    for k, field in enumerate(point.inputs.values()):
        node = graph.leaf("field", "float64", (), k, math.prod(field.shape))
        values.append(_numbers(low, node, field.shape))
    for k, value in enumerate(point.context.values()):
        type_ = WIDE.get(value.dtype.name, value.dtype.name)
        node = graph.leaf("context", type_, (), (k, value.ndim > 0), value.size)
        values.append(_numbers(low, node, value.shape))
    results = low.run_closed(closed, values)
    results = [elementwise.cast(low, x, "float64") for x in results]
    outputs = [list(low.nodes(x).ravel()) for x in results]
    return Traced(outputs, low.tables)


def _numbers(low: Lowering, node: Node, shape: tuple[int, ...]) -> Any:
    if node.size > 64:
        return Array(node, shape)
    return as_nodes(
        [low.graph.add("element", node.type, (node,), k) for k in range(node.size)], shape
    )


def qfunction(
    *inputs: QField, name: str | None = None, **outputs: QField
) -> Callable[[Callable[..., Any]], PointFunction]:
    """Return a decorator that makes a PointFunction of a function written with jax.numpy.

    Inputs and outputs are described as for Ceed.qfunction(): by the function's parameters in their
    order, and by name. Keyword-only parameters are context values: numbers, booleans or arrays. The
    name, the function's by default, is what the function is called in C.
    """
    check_fields(inputs, outputs)

    def decorate(function: Callable[..., Any]) -> PointFunction:
        names, values = parameters(function, len(inputs))
        context = {n: _context_value(n, v) for n, v in values.items()}
        fields = dict(zip(names, inputs, strict=True))
        return PointFunction(function, name or function.__name__, fields, outputs, context)

    return decorate


def _context_value(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or not array.size:
        raise TypeError(f"the context value {name!r} is no number or array of numbers: {value!r}")
    type_ = {"f": "float64", "b": "bool"}.get(array.dtype.kind, "int32")
    limits = np.iinfo("int32")
    if array.dtype.kind in "iu" and (array.min() < limits.min or array.max() > limits.max):
        raise OverflowError(
            f"the context value {name!r} is no integer of 32 bits, which contexts keep: {value!r}; "
            "make it a real number"
        )
    return array.astype(type_)
