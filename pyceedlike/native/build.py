# SPDX-License-Identifier: BSD-2-Clause
"""QFunctions of point functions: compiled, or called back where there is no compiler."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import TYPE_CHECKING, Any

from ..compiled import NoCompilerError
from ..context import QFunctionContext
from ..qfunction import QFunction
from .source import defaults, identifier, kept, layout

if TYPE_CHECKING:
    from ..ceed import Ceed
    from .point import PointFunction

CTYPES = {"float64": "double", "int32": "int32_t"}


def qfunction(point: PointFunction, ceed: Ceed) -> QFunction:
    """Return the QFunction of a point function."""
    try:
        qf = _compiled(point, ceed)
    except NoCompilerError as error:
        warnings.warn(
            f"{point.name} runs as a callback of Python, since {error}",
            RuntimeWarning,
            stacklevel=3,
        )
        qf = _callback(point, ceed)
    qf._written_in = point
    return qf


def _compiled(point: PointFunction, ceed: Ceed) -> QFunction:
    name = identifier(point.name)
    qf = QFunction._of_pointer(ceed, 1, point.c_source(), f"{name}.h:{name}")
    for n, field in point.inputs.items():
        qf.add_input(n, math.prod(field.shape), field.mode)
    for n, field in point.outputs.items():
        qf.add_output(n, math.prod(field.shape), field.mode)
    if data := defaults(point, point.traced(), ceed.scalar):
        qf.set_context(_context(point, ceed, data))
        qf._call("SetContextWritable", False)  # so operators in several threads can share it
    return qf


def _context(point: PointFunction, ceed: Ceed, data: bytes) -> QFunctionContext:
    context = ceed.QFunctionContext()
    context.set_data(data)
    offsets = layout(point, point.traced(), ceed.scalar).fields
    for name, value in point.context.items():
        context.register(name, CTYPES[kept(value)], offsets[name][1], value.size)
    return context


def _callback(point: PointFunction, ceed: Ceed) -> QFunction:
    """Return a QFunction that JAX runs for all points at once, in the types of its trace."""
    import jax
    import jax.numpy as jnp

    types = [s.dtype for s in point.structures()]
    known = dict(zip(point.context, types[len(point.inputs) :], strict=True))

    @jax.jit
    def at_points(inputs: Any, context: Any) -> Any:
        values = {
            n: jnp.reshape(jnp.asarray(context[n], known[n]), v.shape)
            for n, v in point.context.items()  # jit sorts those that it hands on
        }
        wide = [x.astype("float64") for x in inputs]
        outputs = jax.vmap(lambda *x: point.results(*x, **values), -1, -1)(*wide)
        return [x.astype(ceed.scalar) for x in outputs]

    def function(*inputs: Any, **context: Any) -> Any:
        with jax.enable_x64(True):
            outputs = jax.block_until_ready(at_points(inputs, context))
        return outputs if len(outputs) > 1 else outputs[0]

    make = inspect.Parameter
    function.__signature__ = inspect.Signature(
        [make(n, make.POSITIONAL_OR_KEYWORD) for n in point.inputs]
        + [
            make(n, make.KEYWORD_ONLY, default=v.ravel().tolist() if v.ndim else v.item())
            for n, v in point.context.items()
        ]
    )
    function.__qualname__ = function.__name__ = point.name
    return ceed.qfunction(*point.inputs.values(), engine="numpy", **point.outputs)(function)
