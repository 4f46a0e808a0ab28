# SPDX-License-Identifier: BSD-2-Clause
"""Python functions at the quadrature points, and how C calls them: by NumPy, JAX, numba or C."""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from . import _exchange
from ._lib import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    LIBRARIES,
    CeedDimensionError,
    CeedIncompatibleError,
    Library,
    keep_exception,
)
from .context import ContextField, QFunctionContext, lay_out, value_of
from .vector import Vector

# ---- What is described ---------------------------------------------------------------------------


class QField(NamedTuple):
    """What an argument or a result of a Python function is: Interp, Grad, Data or Weight."""

    mode: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of components, those of all directions together."""
        return math.prod(self.shape)


def _field(mode: int, *shape: int) -> QField:
    numbers = tuple(map(operator.index, shape))
    if any(n < 1 for n in numbers):
        raise CeedDimensionError(f"a field has a shape of numbers from 1 on, not {numbers}")
    return QField(mode, numbers)


def Interp(*shape: int) -> QField:  # noqa: N802 - named like what it describes
    """Values at the points: an array of shape (*shape, points).

    >>> pyceedlike.Interp(3).shape
    (3,)
    """
    return _field(EVAL_INTERP, *shape)


def Grad(dim: int, *shape: int) -> QField:  # noqa: N802
    """Gradients in reference coordinates: an array of shape (dim, *shape, points).

    >>> pyceedlike.Grad(2, 3).shape
    (2, 3)
    """
    return _field(EVAL_GRAD, dim, *shape)


def Data(*shape: int) -> QField:  # noqa: N802
    """Values that are stored at the points: an array of shape (*shape, points)."""
    return _field(EVAL_NONE, *shape)


def Weight() -> QField:  # noqa: N802
    """Weights of the quadrature points: an array of shape (points,)."""
    return QField(EVAL_WEIGHT, ())


class Physics(NamedTuple):
    """A Python function, what its arguments and results are, and its values in the context."""

    name: str
    function: Callable[..., Any]
    inputs: dict[str, QField]
    outputs: dict[str, QField]
    context: list[ContextField]

    @classmethod
    def of(
        cls,
        library: Library,
        function: Callable[..., Any],
        inputs: tuple[QField, ...],
        outputs: dict[str, QField],
    ) -> tuple[Physics, dict[str, Any]]:
        """Return a function with its description, and what its context values begin with."""
        names, values = parameters(function, len(inputs))
        name = getattr(function, "__qualname__", repr(function))
        fields, _ = lay_out(values, library, library.ffi.sizeof("void *"))
        return cls(name, function, dict(zip(names, inputs, strict=True)), outputs, fields), values

    def results(self, returned: Any) -> list[tuple[str, QField, Any]]:
        """Return each output's name, description and array."""
        arrays = sequence_of(returned, self.outputs, self.name)
        pairs = zip(self.outputs.items(), arrays, strict=True)
        return [(f"the output {name!r} of {self.name}", field, x) for (name, field), x in pairs]


def check_fields(inputs: Collection[Any], outputs: dict[str, Any]) -> None:
    """Raise for what describes no input or output of a function."""
    described = {f"input {k + 1}": field for k, field in enumerate(inputs)}
    for what, field in (described | {f"the output {n!r}": f for n, f in outputs.items()}).items():
        if not isinstance(field, QField):
            raise TypeError(
                f"{what} is described by a call of Interp, Grad, Data or Weight, as in "
                f"qfunction(Interp(), v=Interp()); not by {reprlib.repr(field)}"
            )


def parameters(function: Callable[..., Any], count: int) -> tuple[list[str], dict[str, Any]]:
    """Return the names of a function's inputs, and its context values: keyword-only defaults."""
    found = inspect.signature(function).parameters.values()
    for p in found:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise CeedIncompatibleError(
                f"{function.__name__} must name its inputs and values: {p} names none"
            )
    names = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    values = {p.name: p.default for p in found if p.kind == p.KEYWORD_ONLY}
    if len(names) != count:
        raise CeedDimensionError(
            f"inputs described: {count}, {function.__name__} has {len(names)}: {', '.join(names)}; "
            "values of the context stand behind a *"
        )
    for name, value in values.items():
        if value is inspect.Parameter.empty:
            raise CeedIncompatibleError(
                f"the context value {name!r} of {function.__name__} needs a default to start from"
            )
    return names, values


def sequence_of(returned: Any, outputs: Collection[str], name: str) -> Sequence[Any]:
    """Return what a function of this name returned as one result for each output."""
    if returned is None and outputs:
        raise TypeError(f"{name} returned None: it must return {', '.join(outputs)}")
    if len(outputs) <= 1:
        return (returned,)[: len(outputs)]
    if not isinstance(returned, (tuple, list)) or len(returned) != len(outputs):
        raise CeedDimensionError(
            f"{name} must return a tuple of {len(outputs)} arrays: {', '.join(outputs)}"
        )
    return returned


def engine_of(function: Callable[..., Any]) -> str:
    """Return what a function is made for: what jax.jit() and numba.njit() return says so."""
    package = type(function).__module__.partition(".")[0]
    return {"jax": "jax", "jaxlib": "jax", "numba": "numba"}.get(package, "numpy")


def evaluator_of(engine: str, function: Callable[..., Any], scalar: str) -> Any:
    """Return what calls a function with the memory of vectors, as arrays of NumPy or JAX."""
    if engine == "jax":
        from .interop.jax import Evaluator
    else:
        from .interop.numpy import Evaluator
    return Evaluator(function, scalar)


# ---- How it is called ----------------------------------------------------------------------------

# Whom C calls is the first word of a context's data: a handle, which stays here until that context
# drops it.
_handles: dict[int, Any] = {}

# C functions that Python owns, by address, and what their routines are called with. C may call one
# as long as any operator lives, which nobody tells us, so they stay.
_code: dict[int, Any] = {}


def keep_code(address: int, owner: Any) -> None:
    """Keep what owns the C function, or the context of a routine, at an address."""
    _code[address] = owner


class Callback:
    """Physics as C calls it."""

    def __init__(self, library: Library, physics: Physics) -> None:
        self.library = library
        self.physics = physics

    def enter(self, context: QFunctionContext) -> None:
        """Be whom C calls with a context, which keeps this by a handle of its own."""
        ffi = self.library.ffi
        handle = ffi.new_handle(self)
        with context._data("") as data:
            ffi.cast("void **", data)[0] = handle
        context._call("SetDataDestroy", 0, self._c_function("drop"))
        _handles[int(ffi.cast("uintptr_t", handle))] = handle

    def implement(self, engine: str) -> tuple[str, tuple[Any, ...]]:
        """Return what creates the QFunction, and with what: a routine on vectors, or C code."""
        if engine in ("numpy", "jax"):
            self._set_evaluator(engine)
            return "CeedQFunctionCreateShell", (self._c_function("shell"),)
        if engine not in ("numba", "c"):
            raise CeedIncompatibleError(f"engine {engine!r} is none of numpy, jax, numba, c")
        address, owner = (self._by_numba if engine == "numba" else self._by_c)()
        keep_code(address, owner)
        f = self.library.ffi.cast("CeedQFunctionUser", address)
        return "CeedQFunctionCreateInterior", (1, f)

    def _c_function(self, name: str) -> Any:
        return self.library.ffi.addressof(self.library.lib, f"pyceedlike_{name}")

    def _set_evaluator(self, engine: str) -> None:
        self.evaluator = evaluator_of(engine, self.physics.function, self.library.scalar)

    def _by_numba(self) -> tuple[int, Any]:
        from .interop.numba import compile_blocks

        self._set_evaluator("numpy")
        again = int(self.library.ffi.cast("uintptr_t", self._c_function("again")))
        return compile_blocks(self.physics, self.library.scalar, again)

    def _by_c(self) -> tuple[int, Any]:
        from .interop.c import compile_points

        return compile_points(self.physics, self.library.scalar)

    def shell(self, context: Any, q: int, inputs: Any, outputs: Any) -> None:
        """Call the function once for all points of vectors."""
        fields = self.physics.inputs.values()
        arrays = [
            self.evaluator.argument(self.library, inputs[i], (*field.shape, q))
            for i, field in enumerate(fields)
        ]
        returned = self.evaluator.call(arrays, self._values(context))
        for i, (what, field, x) in enumerate(self.physics.results(returned)):
            self._give(outputs[i], self.evaluator.result(x, (*field.shape, q), what))

    def _give(self, vector: Any, array: Any) -> None:
        """Let a vector read a result where it is; one in another order is copied."""
        address = int(self.library.ffi.cast("uintptr_t", vector))
        try:
            _exchange.adopt(address, self.library.scalar == "float32", array)
        except BufferError:
            Vector.from_handle(address).take_from_dlpack(array)

    def again(self, context: Any, q: int, inputs: Any, outputs: Any) -> None:
        """Do for a block of points what numba's code could not, or raise what is wrong."""
        from .interop.numpy import over

        def view(pointer: Any, field: QField) -> Any:
            ffi = self.library.ffi
            size = field.size * q * ffi.sizeof("CeedScalar")
            return over(ffi.buffer(pointer, size), self.library.scalar, (*field.shape, q))

        fields = enumerate(self.physics.inputs.values())
        arrays = [view(inputs[i], field).copy() for i, field in fields]
        returned = self.evaluator.call(arrays, self._values(context))
        for i, (what, field, x) in enumerate(self.physics.results(returned)):
            view(outputs[i], field)[...] = self.evaluator.result(x, (*field.shape, q), what)

    def _values(self, context: Any) -> dict[str, Any]:
        """Return the context values of this moment."""
        return {field.name: self._value(context, field) for field in self.physics.context}

    def _value(self, context: Any, field: ContextField) -> Any:
        from .interop.numpy import from_numbers

        value = value_of(self.library, context, field)
        if field.is_number or not isinstance(value[0], float):
            return value
        return from_numbers(value, self.library.scalar)


def error_text(kind: type, error: BaseException) -> str:
    """Return what was raised, as a text, whatever its own says."""
    try:
        return f"{kind.__name__}: {error}"
    except Exception:  # of its own __str__
        return kind.__name__


def _define(library: Library) -> None:
    """Define what C calls in the place of a Python function, in one precision."""
    ffi, lib = library.ffi, library.lib

    def keep(kind: type, error: BaseException, trace: Any) -> None:
        text = ffi.new("char[]", error_text(kind, error).encode(errors="replace"))
        code = lib.CEED_ERROR_MINOR
        lib.CeedErrorImpl(ffi.NULL, b"callback.py", 0, b"pyceedlike", code, b"%s", text)
        keep_exception(error.with_traceback(trace), library.message())  # C may have cut the text

    def run(name: str, context: Any, *arguments: Any) -> int:
        """Call a method; an interrupt while its exception is kept goes on to `onerror`."""
        try:
            getattr(callback(context), name)(context, *arguments)
        except BaseException as error:
            keep(type(error), error, error.__traceback__)
            return int(lib.CEED_ERROR_MINOR)
        return 0

    def callback(context: Any) -> Callback:
        return ffi.from_handle(ffi.cast("void **", context)[0])

    @ffi.def_extern(name="pyceedlike_python_shell", error=lib.CEED_ERROR_MINOR, onerror=keep)
    def shell(context: Any, q: int, inputs: Any, outputs: Any) -> int:
        return run("shell", context, q, inputs, outputs)

    @ffi.def_extern(name="pyceedlike_python_again", error=lib.CEED_ERROR_MINOR, onerror=keep)
    def again(context: Any, q: int, inputs: Any, outputs: Any) -> int:
        return run("again", context, q, inputs, outputs)

    @ffi.def_extern(name="pyceedlike_python_drop")
    def drop(data: Any, handles: dict[int, Any] = _handles) -> int:
        handles.pop(int(ffi.cast("uintptr_t *", data)[0]), None)
        return 0


for _library in LIBRARIES.values():
    _define(_library)
