# SPDX-License-Identifier: BSD-2-Clause
"""The C header of a point function: a QFunction of libCEED's in one file, for any of its compilers.

It is valid C99, C++11 and device code of CUDA and HIP. Where the host includes it, it also has the
function that makes the QFunction, with its fields and its context.
"""

from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._lib import EVAL_GRAD, EVAL_INTERP, EVAL_NONE, EVAL_WEIGHT, CeedIncompatibleError
from ..compiled import is_word
from .expressions import C_TYPES, literal
from .printer import Printer

if TYPE_CHECKING:
    from ..callback import QField
    from .point import PointFunction, Traced

MODES = {
    EVAL_NONE: "CEED_EVAL_NONE",
    EVAL_INTERP: "CEED_EVAL_INTERP",
    EVAL_GRAD: "CEED_EVAL_GRAD",
    EVAL_WEIGHT: "CEED_EVAL_WEIGHT",
}
# How context values are kept; not every libCEED registers booleans.
KEPT = {"float64": "float64", "int32": "int32", "bool": "int32"}
MEMBER = {"float64": "double", "int32": "int"}
REGISTER = {"float64": "Double", "int32": "Int32"}
# The other words of C++, the names of <math.h>, and those of the code itself.
RESERVED = """
and catch class constexpr decltype delete explicit export friend mutable namespace new noexcept not
operator or private protected public template this throw try typename using virtual xor
abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2
expm1 fabs fdim finite floor fma fmax fmin fmod fpclassify frexp gamma hypot ilogb index isfinite
isgreater isinf isless isnan isnormal j0 j1 jn ldexp lgamma log log10 log1p log2 logb lrint lround
modf nan nearbyint pow pow10 remainder remquo rindex rint round scalb scalbn signbit significand
sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
Q context ctx in n out
""".split()  # noqa: SIM905 - a hundred lines otherwise

HEAD = """\
// {what}
#ifndef {guard}
#define {guard}

#ifndef CEED_RUNNING_JIT_PASS
#include <ceed.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#ifndef CEED_CREATE  // defined as nothing, it gives the linker what C and Fortran call
#define CEED_CREATE static inline
#endif
#endif
"""
PRELUDE = """
#ifndef CEED_MATH
#if defined(CEEDLIKE_SINGLE) || defined(CEED_SCALAR_IS_FP32)
#define CEED_MATH(function) function##f
#else
#define CEED_MATH(function) function
#endif
#if defined(CEED_RUNNING_JIT_PASS) || defined(__CUDACC__) || defined(__HIPCC__)
#define CEED_INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define CEED_NAN __longlong_as_double(0x7ff8000000000000LL)
#define CEED_BLOCK 1
#else
#define CEED_INFINITY INFINITY
#define CEED_NAN NAN
#define CEED_BLOCK 32  // points that loops treat at once
#endif
#endif
"""


def identifier(name: str) -> str:
    """Return a name that C and C++ take, for one that Python takes."""
    text = re.sub(r"[^A-Za-z0-9_]", lambda m: f"u{ord(m[0]):x}", name)
    text = text if re.match(r"[A-Za-z]", text) else f"f{text}"
    is_taken = is_word(text) or text in RESERVED or re.fullmatch(r"table\d+", text)
    return f"{text}_" if is_taken else text


def c_header(functions: Sequence[PointFunction], guard: str) -> str:
    """Return a header of point functions."""
    names = ", ".join(f.name for f in functions)
    head = HEAD.format(
        what=f"QFunctions that pyceedlike made of Python functions: {names}", guard=guard
    )
    parts = [head, PRELUDE, *map(c_function, functions), "\n#endif\n"]
    return "".join(parts)


def write(functions: Sequence[PointFunction], path: pathlib.Path, *, with_fortran: bool) -> None:
    """Write a header, and a Fortran module of its name beside it."""
    stem = identifier(path.stem)
    texts = {path: c_header(functions, f"{stem.upper()}_H")}
    if with_fortran:
        texts[path.with_suffix(".F90")] = fortran_module(functions, path.name, stem)
    for target, text in texts.items():
        target.write_text(text)


def c_function(function: PointFunction) -> str:
    """Return the struct of the context, the QFunction, and what makes it."""
    traced = function.traced()
    name = identifier(function.name)
    parts = [_struct(function, traced, name), _body(function, traced, name)]
    return "\n".join([*parts, _create(function, traced, name)])


# ---- The context ---------------------------------------------------------------------------------


def members(function: PointFunction, traced: Traced) -> list[tuple[str, str, np.ndarray]]:
    """Return the members of the context's struct: name, C type, and first values."""
    named = [(identifier(n), MEMBER[kept(v)], v) for n, v in function.context.items()]
    tables = [(f"table{k}", C_TYPES[x.dtype.name], x) for k, x in enumerate(traced.tables)]
    return named + tables


def kept(x: np.ndarray) -> str:
    """Return the type that a context value is kept in."""
    return KEPT[x.dtype.name]


def layout(function: PointFunction, traced: Traced, scalar: str) -> np.dtype:
    """Return the struct as NumPy's type, in a precision."""
    fields = [(n, kept(v), v.size) for n, v in function.context.items()]
    for k, x in enumerate(traced.tables):
        type_ = scalar if x.dtype == np.float64 else x.dtype
        fields.append((f"table {k}", type_, x.size))
    return np.dtype([(n, t, (size,)) for n, t, size in fields], align=True)


def defaults(function: PointFunction, traced: Traced, scalar: str) -> bytes:
    """Return the bytes of the context with its first values."""
    data = np.zeros((), layout(function, traced, scalar))
    for field, x in zip(
        data.dtype.names, [*function.context.values(), *traced.tables], strict=True
    ):
        data[field] = x.ravel()
    return data.tobytes()


def _struct(function: PointFunction, traced: Traced, name: str) -> str:
    found = members(function, traced)
    if not found:
        return ""
    lines = [f"  {t} {n}{f'[{v.size}]' if v.ndim else ''};" for n, t, v in found]
    return "\n".join(["", "typedef struct {", *lines, f"}} {name}_context;", ""])


def _numbers(x: np.ndarray, type_: str) -> str:
    real = type_ in ("double", "CeedScalar", "float")
    texts = [_initial(v, real) for v in x.ravel().tolist()]
    if not x.ndim:
        return texts[0]
    rows = [", ".join(texts[k : k + 6]) for k in range(0, len(texts), 6)]
    return "{" + ",\n    ".join(rows) + "}"


def _initial(value: float | int | bool, real: bool) -> str:
    text = literal(value if real else int(value), "float64" if real else "int32")
    return text.replace("(CeedScalar)", "")


# ---- The function --------------------------------------------------------------------------------


def _body(function: PointFunction, traced: Traced, name: str) -> str:
    inputs = [f"in_{identifier(n)}" for n in function.inputs]
    outputs = [f"out_{identifier(n)}" for n in function.outputs]
    found = members(function, traced)
    printer = Printer(inputs, [m[0] for m in found], [m[0] for m in found[len(function.context) :]])
    stores = [
        (f"{array}[{f'{k} * n + ' if k else ''}i]", node)
        for array, numbers in zip(outputs, traced.outputs, strict=True)
        for k, node in enumerate(numbers)
    ]
    lines = printer.body(stores)
    used = "\n".join(lines)
    begin = []
    if found:
        begin.append(f"  const {name}_context *context = (const {name}_context *)ctx;")
    begin += [
        f"  const CeedScalar *__restrict__ {array} = in[{k}];"
        for k, array in enumerate(inputs)
        if f"{array}[" in used
    ]
    begin += [f"  CeedScalar *__restrict__ {a} = out[{k}];" for k, a in enumerate(outputs)]
    begin.append("  const size_t n = (size_t)Q;")
    unused = [("ctx", not found), ("in", not any(" = in[" in b for b in begin))]
    begin += [f"  (void){what};" for what, is_unused in unused if is_unused]
    if found and "context->" not in used:
        begin.append("  (void)context;")
    head = f"CEED_QFUNCTION({name})(void *ctx, CeedInt Q, const CeedScalar *const *in, "
    head += "CeedScalar *const *out) {"
    return "\n".join(["", head, *begin, *lines, "  return 0;", "}", ""])


# ---- What makes it -------------------------------------------------------------------------------


def _create(function: PointFunction, traced: Traced, name: str) -> str:
    calls = [f"CeedQFunctionCreateInterior(ceed, 1, {name}, {name}_loc, qf)"]
    for side, fields in (("Input", function.inputs), ("Output", function.outputs)):
        for n, field in fields.items():
            calls.append(
                f'CeedQFunctionAdd{side}(*qf, "{n}", {field_size(field)}, {MODES[field.mode]})'
            )
    found = members(function, traced)
    begin, defaults = [], []
    if found:
        values = ",\n".join(f"    {_numbers(v, t)}" for _, t, v in found)
        defaults = [f"static const {name}_context {name}_defaults = {{", f"{values}}};", ""]
        begin = ["  CeedQFunctionContext context;"]
        calls += [
            "CeedQFunctionContextCreate(ceed, &context)",
            "CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, "
            f"sizeof {name}_defaults, (void *)&{name}_defaults)",
            *(
                f'CeedQFunctionContextRegister{REGISTER[kept(v)]}(context, "{n}", '
                f'offsetof({name}_context, {identifier(n)}), {v.size}, "")'
                for n, v in function.context.items()
            ),
            "CeedQFunctionSetContext(*qf, context)",
            "CeedQFunctionSetContextWritable(*qf, false)",
            "CeedQFunctionContextDestroy(&context)",
        ]
    return "\n".join(
        [
            "",
            "#ifndef CEED_RUNNING_JIT_PASS",
            *defaults,
            "// Make the QFunction, with its fields and its context; returns an error code.",
            f"CEED_CREATE int {name}_create(Ceed ceed, CeedQFunction *qf) {{",
            *begin,
            "  int code = 0;",
            "",
            *(f"  if (!code) code = {call};" for call in calls),
            "  return code;",
            "}",
            *_call(function, name, bool(found)),
            "#endif",
            "",
        ]
    )


def _call(function: PointFunction, name: str, has_context: bool) -> list[str]:
    """Return what calls the function for arrays [component][point], without any operator."""
    inputs = [f"in_{identifier(n)}" for n in function.inputs]
    outputs = [f"out_{identifier(n)}" for n in function.outputs]
    arguments = [f"const CeedScalar *{n}" for n in inputs] + [f"CeedScalar *{n}" for n in outputs]
    context = f"(void *)&{name}_defaults" if has_context else "NULL"
    return [
        "",
        "// Call it for arrays [component][Q], with the first values of the context.",
        f"CEED_CREATE int {name}_at(CeedInt Q, {', '.join(arguments)}) {{",
        f"  const CeedScalar *in[] = {{{', '.join(inputs) or 'NULL'}}};",
        f"  CeedScalar *out[] = {{{', '.join(outputs)}}};",
        "",
        f"  return {name}({context}, Q, in, out);",
        "}",
    ]


def field_size(field: QField) -> int:
    """Return the components of a field."""
    return math.prod(field.shape)


# ---- Fortran -------------------------------------------------------------------------------------


def fortran_module(functions: Sequence[PointFunction], header: str, module: str) -> str:
    """Return a Fortran module that declares what a header gives the linker."""
    lines = [
        f"! What {header} has for Fortran; compile that one by cc -x c -DCEED_CREATE= -c {header}",
        f"module {module}",
        "  use, intrinsic :: iso_c_binding",
        "  implicit none",
        "#ifdef CEEDLIKE_SINGLE",
        "  integer, parameter, private :: real_kind = c_float",
        "#else",
        "  integer, parameter, private :: real_kind = c_double",
        "#endif",
        "  interface",
    ]
    for function in functions:
        lines += _interfaces(function, identifier(function.name))
    return "\n".join([*lines, "  end interface", "end module", ""])


def _interfaces(function: PointFunction, name: str) -> list[str]:
    fields = [*function.inputs.items(), *function.outputs.items()]
    lower = ["points", *(n.lower() for n, _ in fields)]
    alike = [n for n, _ in fields if lower.count(n.lower()) > 1]
    if alike:
        raise CeedIncompatibleError(
            f"Fortran can't tell apart the fields of {function.name}, where upper case is lower "
            f"case and the number of points is called points: rename {', '.join(alike)}"
        )
    arrays = []
    for k, (n, field) in enumerate(fields):
        intent = "in" if k < len(function.inputs) else "out"
        shape = ", ".join(["points", *map(str, field.shape[::-1])])
        arrays.append(f"      real(real_kind), intent({intent}) :: {identifier(n)}({shape})")
    names = ", &\n        ".join(["points", *(identifier(n) for n, _ in fields)])
    return [
        "    !> Make the QFunction, of the handle of a context.",
        f"    function {name}_create(ceed, qf) &",
        f'        bind(c, name="{name}_create") result(code)',
        "      import :: c_int, c_ptr",
        "      type(c_ptr), value :: ceed",
        "      type(c_ptr), intent(out) :: qf",
        "      integer(c_int) :: code",
        "    end function",
        "    !> Call it at some points.",
        f"    function {name}_at( &\n        {names}) &",
        f'        bind(c, name="{name}_at") result(code)',
        "      import :: c_int, real_kind",
        "      integer(c_int), value :: points",
        *arrays,
        "      integer(c_int) :: code",
        "    end function",
    ]
