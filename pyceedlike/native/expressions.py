# SPDX-License-Identifier: BSD-2-Clause
"""What the operations of the graph are in C, with the results that JAX gives at the edges.

But a product and its sum may be one instruction, which rounds, and overflows, once. All of it is
C99, C++11 and device code of CUDA and HIP. Operands are names or literals.
"""

from __future__ import annotations

import math

import numpy as np

from .ir import Node

C_TYPES = {
    "float64": "CeedScalar",
    "float32": "float",
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "CeedInt",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}

MATH = (
    *("sqrt", "cbrt", "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil"),
    *("round", "rint", "pow", "atan2"),
)
FUNCTIONS = {name: name for name in MATH} | {"abs": "fabs", "rem": "fmod"}

FLOAT = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "square": "{0} * {0}",
    "sign": "{0} > 0 ? {one} : {0} < 0 ? -{one} : {0}",
    "max": "{0} > {1} || {0} != {0} ? {0} : {0} == 0 && {1} == 0 ? {0} + {1} : {1}",
    "min": "{0} < {1} || {0} != {0} ? {0} : {0} == 0 && {1} == 0 ? -(-{0} - {1}) : {1}",
    "rsqrt": "{one} / {sqrt}({0})",
    "logistic": "{one} / ({one} + {exp}(-{0}))",
    "is_finite": "{0} - {0} == 0",
}
COMPARED = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "select": "{0} ? {1} : {2}",
}
# Integers wrap around, which C promises of those without a sign only.
INTEGER = {
    "add": "({T})(({U}){0} + ({U}){1})",
    "sub": "({T})(({U}){0} - ({U}){1})",
    "mul": "({T})(({U}){0} * ({U}){1})",
    "neg": "({T})(0 - ({U}){0})",
    "square": "({T})(({U}){0} * ({U}){0})",
    "abs": "{0} < 0 ? ({T})(0 - ({U}){0}) : {0}",
    "sign": "({T})(({0} > 0) - ({0} < 0))",
    "max": "{0} > {1} ? {0} : {1}",
    "min": "{0} < {1} ? {0} : {1}",
    "and": "({T})({0} & {1})",
    "or": "({T})({0} | {1})",
    "xor": "({T})({0} ^ {1})",
    "not": "({T})~{0}",
    "div": "{1} == 0 ? ({T})-1 : {1} == ({T})-1 ? ({T})(0 - ({U}){0}) : ({T})({0} / {1})",
    "rem": "{1} == 0 ? {0} : {1} == ({T})-1 ? ({T})0 : ({T})({0} % {1})",
    "shift_left": "({W}){1} < {bits} ? ({T})(({U}){0} << {1}) : ({T})0",
    "shift_right_logical": "({W}){1} < {bits} ? ({T})(({W}){0} >> {1}) : ({T})0",
    "shift_right_arithmetic": "({T})({0} >> (({W}){1} < {bits} ? {1} : {bits} - 1))",
}
UNSIGNED = INTEGER | {
    "abs": "{0}",
    "sign": "({T})({0} > 0)",
    "div": "{1} == 0 ? ({T})-1 : ({T})({0} / {1})",
    "rem": "{1} == 0 ? {0} : ({T})({0} % {1})",
}
BOOLEAN = {
    **dict.fromkeys(("add", "max", "or"), "{0} || {1}"),
    **dict.fromkeys(("mul", "min", "and"), "{0} && {1}"),
    "xor": "{0} != {1}",
    "not": "!{0}",
}


def expression(node: Node, args: list[str]) -> str:
    """Return the C of an operation on operands."""
    if node.op == "cast":
        return _cast(node.args[0].type, node.type, args[0])
    if node.op in COMPARED:
        return COMPARED[node.op].format(*args)
    kind = np.dtype(node.args[0].type).kind
    if kind == "f":
        return _real(node, args)
    patterns = {"i": INTEGER, "u": UNSIGNED, "b": BOOLEAN}[kind]
    width = np.dtype(node.type).itemsize
    wide = C_TYPES["uint64" if width == 8 else "uint32"]
    same = C_TYPES[f"uint{8 * width}"]
    names = {"T": C_TYPES[node.type], "U": wide, "W": same, "bits": 8 * width}
    return patterns[node.op].format(*args, **names)


def _real(node: Node, args: list[str]) -> str:
    type_ = node.args[0].type
    if node.op in FUNCTIONS:
        return f"{function(FUNCTIONS[node.op], type_)}({', '.join(args)})"
    names = {name: function(name, type_) for name in ("sqrt", "exp")}
    return FLOAT[node.op].format(*args, one=literal(1.0, type_), **names)


def function(name: str, type_: str) -> str:
    """Return the function of <math.h> for a type."""
    return f"CEED_MATH({name})" if type_ == "float64" else f"{name}f"


def literal(value: float | int | bool, type_: str) -> str:
    """Return a number in C."""
    kind = np.dtype(type_).kind
    if kind == "b":
        return "true" if value else "false"
    if kind == "f":
        text = "CEED_NAN" if math.isnan(value) else repr(abs(float(value)))
        text = "CEED_INFINITY" if text == "inf" else text
        text = f"({C_TYPES[type_]}){text}"
        return f"(-{text})" if math.copysign(1, value) < 0 and not math.isnan(value) else text
    if kind == "u":
        return f"{value}ULL" if type_ == "uint64" else f"{value}U"
    ending = "LL" if type_ == "int64" else ""
    if value >= 0:
        return f"{value}{ending}"
    return f"(-{-value - 1}{ending} - 1)"


def _cast(old: str, new: str, x: str) -> str:
    if new == "bool":
        return f"{x} != 0"
    type_ = C_TYPES[new]
    if np.dtype(old).kind != "f" or np.dtype(new).kind == "f":
        return f"({type_}){x}"
    limits = np.iinfo(new)
    below, above = (literal(int(n), new) for n in (limits.min, limits.max))
    low, high = float(limits.min), float(int(limits.max) + 1)
    # What becomes 0 is 0 outright: gcc takes (double)(int)-0.5 for trunc(-0.5), which is -0.0.
    return (
        f"{x} != {x} || ({x} > -1 && {x} < 1) ? ({type_})0 : {x} < {low!r} ? ({type_}){below} : "
        f"{x} >= {high!r} ? ({type_}){above} : ({type_}){x}"
    )
