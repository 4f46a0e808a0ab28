# SPDX-License-Identifier: BSD-2-Clause
"""C: the docstring of a Python function as the code of a point."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .._lib import CeedIncompatibleError
from ..compiled import compile_function, is_word

if TYPE_CHECKING:
    from ..callback import Physics, QField
    from ..context import ContextField

_TAKEN = {"ctx", "Q", "in", "out", "i"}  # names of the C function itself
_CTYPES = {1: "double", 2: "int32_t", 3: "bool"}


def compile_points(physics: Physics, scalar: str) -> tuple[int, Any]:
    """Return the address of a C function that runs a docstring for each point i, and its owner.

    A field of the shape (2, 3) is u[2][3][points] there, and the values of the context are
    constants or arrays.
    """
    body = inspect.getdoc(physics.function)
    name = f"{physics.function.__name__}_"  # which <math.h> has not
    if not body:
        raise CeedIncompatibleError(f"{physics.name} has no docstring, which is the C code")
    fields = [*physics.inputs, *physics.outputs, *(value.name for value in physics.context)]
    for taken in (field for field in fields if field in _TAKEN or is_word(field)):
        raise CeedIncompatibleError(f"{taken!r} of {physics.name} has another meaning in C: rename")
    lines = [_field(f"in[{k}]", "const ", *f) for k, f in enumerate(physics.inputs.items())]
    lines += [_field(f"out[{k}]", "", *f) for k, f in enumerate(physics.outputs.items())]
    lines += map(_value, physics.context)
    code = f"""
CEED_QFUNCTION({name})(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {{
  {" ".join(lines)}
  for (CeedInt i = 0; i < Q; i++) {{
#line 1 "{physics.name}"
{body}
  }}
  return 0;
}}
"""
    return compile_function(code, name, scalar)


def _field(pointer: str, const: str, name: str, field: QField) -> str:
    inner = "".join(f"[{n}]" for n in field.shape[1:]) + "[Q]" if field.shape else ""
    place = f"(*const {name}){inner}" if inner else f"*const {name}"
    return f"{const}CeedScalar {place} = ({const}void *){pointer}; (void){name};"


def _value(value: ContextField) -> str:
    ctype, name = _CTYPES[value.kind], value.name
    place = f"({ctype} const *)((char const *)ctx + {value.offset})"
    what = f"{ctype} const {name} = *" if value.is_number else f"{ctype} const *const {name} = "
    return f"{what}{place}; (void){name};"
