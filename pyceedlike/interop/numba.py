# SPDX-License-Identifier: BSD-2-Clause
"""numba: Python functions as C functions that are called for blocks of points."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

from .._lib import CeedDimensionError, CeedIncompatibleError

if TYPE_CHECKING:
    from ..callback import Physics
    from ..context import ContextField


def compile_blocks(physics: Physics, scalar: str, again: int) -> tuple[int, Any]:
    """Return the address of a C function, and what keeps it in memory.

    Where the code raises, or gives arrays of other shapes, the C function at the address `again`
    is called for that block: it runs the Python function, which says what is wrong.
    """
    import numba

    signature = _signature(scalar)
    function = _compiled(physics, scalar)
    namespace = {
        "again": _c_function(again, signature),
        "carray": numba.carray,
        "function": function,
        "real": getattr(numba, scalar),
        **{name: getattr(numba, name) for name in ("float64", "int32", "uint8")},
    }
    exec(_source(physics), namespace)
    block = numba.cfunc(signature)(namespace["block"])
    return block.address, block


def _signature(scalar: str) -> Any:
    """Return the type of a CeedQFunctionUser."""
    from numba import types as t

    fields = t.CPointer(t.CPointer(getattr(t, scalar)))
    return t.int32(t.voidptr, t.int32, fields, fields)


def _c_function(address: int, signature: Any) -> Any:
    """Return a C function for compiled code to call."""
    from numba import types as t

    class Function(t.WrapperAddressProtocol):
        def __wrapper_address__(self) -> int:
            return address

        def signature(self) -> Any:
            return signature

    return Function()


def _compiled(physics: Physics, scalar: str) -> Any:
    """Return the function compiled for arrays that it may only read."""
    import numba
    from numba import types as t

    given = physics.function
    options = dict(getattr(given, "targetoptions", {})) or {"nopython": True}
    function = numba.jit(**options)(_with_positional_values(inspect.unwrap(given)))
    real = getattr(t, scalar)
    arrays = [
        t.Array(real, len(field.shape) + 1, "C", readonly=True) for field in physics.inputs.values()
    ]
    function.compile((*arrays, *(_value_type(value, real) for value in physics.context)))
    function.disable_compile()
    _check_results(physics, function.nopython_signatures[0].return_type, real)
    return function


def _with_positional_values(function: Any) -> Any:
    """Return a copy whose keyword-only parameters are positional, the only ones numba knows."""
    code = getattr(function, "py_func", function).__code__
    count = code.co_argcount + code.co_kwonlyargcount
    code = code.replace(co_argcount=count, co_kwonlyargcount=0)
    function = getattr(function, "py_func", function)
    return types.FunctionType(
        code, function.__globals__, function.__name__, None, function.__closure__
    )


def _value_type(value: ContextField, real: Any) -> Any:
    from numba import types as t

    kind = {1: real, 2: t.int64 if value.is_number else t.int32, 3: t.boolean}[value.kind]
    return kind if value.is_number else t.Array(kind, 1, "C")


def _check_results(physics: Physics, returned: Any, real: Any) -> None:
    """Raise where the compiled function returns no arrays as precise as `real` of as many axes."""
    from numba import types as t

    several = len(physics.outputs) > 1
    results = list(returned) if several and isinstance(returned, t.BaseTuple) else [returned]
    if len(results) != len(physics.outputs):
        raise CeedDimensionError(
            f"{physics.name} must return a tuple of {len(physics.outputs)} arrays: "
            f"{', '.join(physics.outputs)}"
        )
    for (name, field), result in zip(physics.outputs.items(), results, strict=True):
        axes = len(field.shape) + 1
        is_array = isinstance(result, t.Array) and isinstance(result.dtype, t.Float)
        if not is_array or result.dtype.bitwidth < real.bitwidth:
            raise CeedIncompatibleError(
                f"the output {name!r} of {physics.name} is {result}, an array of {real} is wanted"
            )
        if result.ndim != axes:
            raise CeedDimensionError(
                f"the output {name!r} of {physics.name} has {result.ndim} axes, {axes} are wanted"
            )


def _source(physics: Physics) -> str:
    """Return the Python code of the C function."""
    inputs = [_array(f"ins[{k}]", field.shape) for k, field in enumerate(physics.inputs.values())]
    values = [_value(value) for value in physics.context]
    names = [f"out{k}" for k in range(len(physics.outputs))]
    lines = [f"{', '.join(names)} = function({', '.join(inputs + values)})"]
    for k, (name, field) in enumerate(zip(names, physics.outputs.values(), strict=True)):
        lines += [
            f"to{k} = {_array(f'outs[{k}]', field.shape)}",
            f"if {name}.shape != to{k}.shape: return again(context, q, ins, outs)",
        ]
    lines += [f"to{k}[...] = {name}" for k, name in enumerate(names)]
    body = "\n        ".join(lines)
    return f"""
def block(context, q, ins, outs):
    try:
        {body}
    except Exception:
        return again(context, q, ins, outs)
    return 0
"""


def _array(pointer: str, shape: tuple[int, ...]) -> str:
    return f"carray({pointer}, ({', '.join(map(str, shape))}{', ' * bool(shape)}q,))"


def _value(value: ContextField) -> str:
    ctype, width = {1: ("float64", 8), 2: ("int32", 4), 3: ("uint8", 1)}[value.kind]
    first = value.offset // width
    end = first + len(value.values)
    array = f"carray(context, ({end},), {ctype})"
    if value.is_number:
        number = f"{array}[{first}]"
        return {1: f"real({number})", 2: f"int({number})", 3: f"{number} != 0"}[value.kind]
    part = f"{array}[{first}:{end}]"
    return {1: f"{part}.astype(real)", 2: part, 3: f"{part} != 0"}[value.kind]
