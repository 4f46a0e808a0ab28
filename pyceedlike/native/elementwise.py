# SPDX-License-Identifier: BSD-2-Clause
"""Rules of the primitives that treat each number of an array alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .ir import Node
from .trace import Array, Lowering, Value, as_nodes, rule, type_of

# Operations of the graph that a primitive of the same name is. Their C is in printer.py.
PLAIN = (
    *("add", "sub", "mul", "div", "rem", "neg", "abs", "sign", "max", "min", "pow", "atan2"),
    *("sqrt", "rsqrt", "cbrt", "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
    *("logistic", "square", "floor", "ceil", "is_finite", "eq", "ne", "lt", "le", "gt", "ge"),
    *("and", "or", "xor", "not", "shift_left", "shift_right_logical", "shift_right_arithmetic"),
)
BOOLEAN = {"is_finite", "eq", "ne", "lt", "le", "gt", "ge"}


def elementwise(
    low: Lowering, op: str, type_: str, args: Sequence[Value], param: Any = None
) -> Value:
    """Return an operation on every number; an array of one number goes with any other."""
    if any(isinstance(a, Array) for a in args):
        whole = max((a for a in args if isinstance(a, Array)), key=lambda a: a.size)
        given = [_whole(low, a) for a in args]
        return Array(low.graph.add(op, type_, tuple(given), param, whole.size), whole.shape)
    arrays = np.broadcast_arrays(*map(low.nodes, args))
    numbers = [
        simplified(low, op, type_, tuple(n), param)
        for n in zip(*(a.ravel() for a in arrays), strict=True)
    ]
    if numbers and all(n.op == "const" for n in numbers):
        return np.array([n.param for n in numbers], type_).reshape(arrays[0].shape)
    return as_nodes(numbers, arrays[0].shape)


def _whole(low: Lowering, x: Value) -> Node:
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return low.nodes(x)[()]
    return low.array(x).node


def apply(low: Lowering, op: str, type_: str, args: Sequence[Value], param: Any = None) -> Value:
    """Return an operation on every number, done at once where all are known."""
    known = all(isinstance(a, np.ndarray) and a.dtype != object for a in args)
    if known and op in FOLD:
        with np.errstate(all="ignore"):
            return np.asarray(FOLD[op](*args, *([] if param is None else [param]))).astype(type_)
    return elementwise(low, op, type_, args, param)


# What is computed before there is any C, for integers and structure as much as for numbers.
FOLD: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "max": np.maximum,
    "min": np.minimum,
    "sqrt": np.sqrt,
    "square": np.square,
}


def simplified(low: Lowering, op: str, type_: str, args: tuple[Node, ...], param: Any) -> Node:
    """Return an operation on numbers, or what it comes to: x + 0, x * 1, a known number."""
    if op in FOLD and all(a.op == "const" for a in args):
        numbers = [np.dtype(a.type).type(a.param) for a in args]
        with np.errstate(all="ignore"):
            return low.const(FOLD[op](*numbers), type_)
    if op in ("add", "mul"):
        one = 0 if op == "add" else 1
        for x, y in (args, args[::-1]):
            if y.op == "const" and y.param == one:
                return x
    if op in ("sub", "div") and args[1].op == "const" and args[1].param == (op == "div"):
        return args[0]
    if op == "neg" and args[0].op == "neg":
        return args[0].args[0]
    if op == "select":
        if args[0].op == "const":
            return args[1] if args[0].param else args[2]
        if args[1] is args[2]:
            return args[1]
    if op == "cast" and args[0].op == "const":
        return low.const(converted(np.dtype(args[0].type).type(args[0].param), type_), type_)
    if op == "cast" and args[0].type == type_:
        return args[0]
    return low.graph.add(op, type_, args, param)


@rule(*PLAIN)
def plain(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """Operations that C has, or a function of <math.h>."""
    op, out = equation.primitive.name, equation.outvars[0].aval
    if equation.params.get("accuracy") is not None:
        raise low.unsupported("choice of accuracy")
    return [apply(low, op, out.dtype.name, args)]


@rule("integer_pow")
def integer_pow(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Powers by repeated squaring, as JAX takes them."""
    type_, exponent = type_of(x), equation.params["y"]
    return [_power(low, x, exponent, type_)]


def _power(low: Lowering, x: Value, exponent: int, type_: str) -> Value:
    one = np.ones((), type_)
    if exponent < 0:
        return apply(low, "div", type_, (one, _power(low, x, -exponent, type_)))
    if exponent == 0:
        return np.ones(x.shape, type_)
    result, square = None, x
    while exponent:
        if exponent & 1:
            result = square if result is None else apply(low, "mul", type_, (result, square))
        exponent >>= 1
        if exponent:
            square = apply(low, "mul", type_, (square, square))
    return result


@rule("round")
def rounded(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Away from zero, or to even."""
    op = "rint" if int(equation.params["rounding_method"]) else "round"
    return [apply(low, op, type_of(x), (x,))]


@rule("clamp")
def clamp(low: Lowering, equation: Any, low_end: Value, x: Value, high_end: Value) -> list[Value]:
    """Apply the lower end, then the upper one."""
    type_ = type_of(x)
    return [apply(low, "min", type_, (apply(low, "max", type_, (low_end, x)), high_end))]


@rule("select_n")
def select_n(low: Lowering, equation: Any, which: Value, *cases: Value) -> list[Value]:
    """One of the cases, without a branch."""
    return [select(low, which, cases, equation.outvars[0].aval.dtype.name)]


def select(low: Lowering, which: Value, cases: Sequence[Value], type_: str) -> Value:
    """Return the case that `which` counts, from 0 on; a boolean counts two."""
    if len(cases) == 1:
        return cases[0]
    result = cases[0]
    for k, case in enumerate(cases[1:], 1):
        chosen = which
        if type_of(which) != "bool":
            chosen = apply(low, "eq", "bool", (which, np.asarray(k, type_of(which))))
        result = elementwise(low, "select", type_, (chosen, case, result))
    return result


@rule("convert_element_type")
def convert(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Change the type."""
    return [cast(low, x, np.dtype(equation.params["new_dtype"]).name)]


def cast(low: Lowering, x: Value, type_: str) -> Value:
    """Return a value in another type."""
    if isinstance(x, np.ndarray) and x.dtype != object:
        return converted(x, type_)
    return elementwise(low, "cast", type_, (x,))


def converted(x: np.ndarray, type_: str) -> np.ndarray:
    """Return numbers in another type; what an integer cannot hold is the nearest one, NaN is 0."""
    x = np.asarray(x)
    if x.dtype.kind != "f" or np.dtype(type_).kind not in "iu":
        return x.astype(type_)
    limits = np.iinfo(type_)
    inside = (x > limits.min) & (x < limits.max)
    ends = np.where(x > 0, limits.max, np.where(x < 0, limits.min, 0)).astype(type_)
    return np.where(inside, np.where(inside, x, 0).astype(type_), ends)


@rule("add_any")
def add_any(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """Add tangents."""
    return [apply(low, "add", equation.outvars[0].aval.dtype.name, args)]


@rule("copy", "copy_p", "stop_gradient", "optimization_barrier")
def same(low: Lowering, equation: Any, *args: Value) -> Sequence[Value]:
    """Pass on what says something to JAX alone."""
    return args
