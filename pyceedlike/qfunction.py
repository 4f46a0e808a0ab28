# SPDX-License-Identifier: BSD-2-Clause
"""QFunctions, the physics at the quadrature points: of the gallery, of C, and of Python."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    LIBRARIES,
    CeedAccessError,
    CeedDimensionError,
    CeedIncompatibleError,
    Library,
    keep_exception,
)
from ._object import Object, handle_of
from .ceed import Ceed
from .compiled import compile_function

if TYPE_CHECKING:
    from .vector import Vector

# ---- Contexts ------------------------------------------------------------------------------------

_TYPES = {1: ("double", "Double"), 2: ("int32_t", "Int32"), 3: ("bool", "Boolean")}  # by C's enum
_ENUM = {float: 1, int: 2, bool: 3}


class ContextField(NamedTuple):
    """A value of a context: its C type, its place, and what it holds at first."""

    name: str
    kind: int
    offset: int
    values: list[Any]
    is_number: bool


class QFunctionContext(Object):
    """What a QFunction knows besides its fields, made by Ceed.QFunctionContext().

    Values given by name are a C struct in that order: a float is a double, an int an int32_t, a
    bool a bool, a list an array. They can be set while operators use them.

    >>> context = pyceedlike.Ceed().QFunctionContext(conductivity=2.5, steps=3)
    >>> context
    <pyceedlike.QFunctionContext of 12 bytes: conductivity, steps>
    >>> context.set_fields(conductivity=1.5)
    """

    __slots__ = ("_fields", "_is_laid_out")
    _kind = "QFunctionContext"
    _fields: list[ContextField]
    _is_laid_out: bool  # of a Python function, which it holds

    @classmethod
    def _of_values(cls, ceed: Ceed, values: dict[str, Any], head: bytes = b"") -> QFunctionContext:
        self = cls(ceed, "CeedQFunctionContextCreate")
        self._is_laid_out = False
        self._fields, size = _lay_out(values, ceed._library, len(head))
        data = bytearray(head.ljust(size, b"\0"))
        if data:
            self.set_data(data)
        for field in self._fields:
            self.register(field.name, _TYPES[field.kind][0], field.offset, len(field.values))
        self.set_fields(**values)
        self._is_laid_out = bool(head)
        return self

    def _check_open(self) -> None:
        if self._is_laid_out:
            raise CeedAccessError(
                "the context of a Python function keeps its data: set its values by set_fields()"
            )

    def set_data(self, data: Any) -> None:
        """Copy the memory of a buffer: bytes, an array, a structure.

        >>> context = pyceedlike.Ceed().QFunctionContext()
        >>> context.set_data(np.array([1, 2, 3], "int32"))
        >>> context.get_size()
        12
        """
        self._check_open()
        with self._library.ffi.from_buffer(data) as memory:
            self._call("SetData", 0, 0, len(memory), memory)

    def get_size(self) -> int:
        """Return the size of the data in bytes."""
        return self._get("size_t", "GetContextSize")

    def register(
        self, name: str, ctype: str, offset: int, count: int = 1, description: str = ""
    ) -> None:
        """Name `count` values ("double", "int32_t" or "bool") that begin `offset` bytes behind.

        Raises CeedDimensionError for a field that does not fit in the data.

        >>> context = pyceedlike.Ceed().QFunctionContext()
        >>> context.set_data(bytes(16))
        >>> context.register("speed", "double", 8)
        >>> context.set_fields(speed=3.0)
        """
        self._check_open()
        types = dict(_TYPES.values())
        if ctype not in types:
            raise CeedIncompatibleError(f"{ctype!r} is no type of a field: {', '.join(types)}")
        texts = name.encode(), description.encode()
        self._call(f"Register{types[ctype]}", texts[0], offset, count, texts[1])

    def set_fields(self, **values: Any) -> None:
        """Set values by name. Raises CeedIncompatibleError for a name that there is not."""
        set_fields(self, "GetFieldLabel", "Set", values)

    def __repr__(self) -> str:
        ffi = self._library.ffi
        labels, count = ffi.new("const CeedContextFieldLabel **"), ffi.new("CeedInt *")
        self._call("GetAllFieldLabels", labels, count)
        names = [_describe(self._library, labels[0][i])[0] for i in range(count[0])]
        return f"<pyceedlike.QFunctionContext of {self.get_size()} bytes: {', '.join(names)}>"


def set_fields(owner: Object, find: str, put: str, values: dict[str, Any]) -> None:
    """Set context fields of an owner, a context or an operator, when all of them are there."""
    library = owner._library
    labels = {}
    for name in values:
        labels[name] = owner._get("CeedContextFieldLabel", find, name.encode())
        if labels[name] == library.ffi.NULL:
            raise CeedIncompatibleError(f"there is no context field {name!r}")
    for name, label in labels.items():
        kind, count = _describe(library, label)[1:]
        numbers = _numbers(values[name])
        if len(numbers) != count:
            raise CeedDimensionError(
                f"the context field {name!r} has {count} values, not {len(numbers)}"
            )
        ctype, suffix = _TYPES[kind]
        owner._call(f"{put}{suffix}", label, library.ffi.new(f"{ctype}[]", numbers))


def _describe(library: Library, label: Any) -> tuple[str, int, int]:
    """Return name, type and number of values of a context field."""
    ffi = library.ffi
    name, count = ffi.new("const char **"), ffi.new("size_t *")
    kind = ffi.new("CeedContextFieldType *")
    describe = library.lib.CeedContextFieldLabelGetDescription
    library.check(describe(label, name, ffi.NULL, count, ffi.NULL, kind))
    return ffi.string(name[0]).decode(), kind[0], count[0]


def _numbers(value: Any) -> list[Any]:
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _lay_out(values: dict[str, Any], library: Library, size: int) -> tuple[list[ContextField], int]:
    """Return the fields of a C struct behind `size` bytes, and its size with them."""
    fields = []
    for name, value in values.items():
        numbers = _numbers(value)
        found = {type(number) for number in numbers}
        if not numbers or not found <= _ENUM.keys() or (bool in found and len(found) > 1):
            raise TypeError(
                f"the context value {name!r} is no number or list of numbers: {value!r}"
            )
        kind = min(_ENUM[t] for t in found)  # int and float together are float
        width = library.ffi.sizeof(_TYPES[kind][0])
        offset = -(-size // width) * width
        fields.append(ContextField(name, kind, offset, numbers, numbers[0] is value))
        size = offset + width * len(numbers)
    return fields, size


# ---- QFunctions ----------------------------------------------------------------------------------


class QFunction(Object):
    """A function of the quadrature points.

    Made by Ceed.qfunction() of a Python function, by Ceed.QFunctionByName() of the gallery, by
    Ceed.IdentityQFunction(), and by Ceed.QFunction() of a C function.

    >>> pyceedlike.Ceed().QFunctionByName("MassApply")
    <pyceedlike.QFunction of u, qdata to v, float64>
    """

    __slots__ = ("_context", "_is_python")
    _kind = "QFunction"

    def __init__(self, ceed: Ceed, create: str, *arguments: Any) -> None:
        super().__init__(ceed, create, *arguments)
        self._context: QFunctionContext | None = None
        self._is_python = False

    @classmethod
    def _of_pointer(cls, ceed: Ceed, vlength: int, f: Any, source: str) -> QFunction:
        if isinstance(f, str):
            address, owner = compile_function(f, source.rpartition(":")[2], ceed.scalar)
        else:
            address, owner = getattr(f, "address", f), f
        _code[address] = owner
        pointer = ceed._library.ffi.cast("CeedQFunctionUser", address)
        return cls(ceed, "CeedQFunctionCreateInterior", vlength, pointer, source.encode())

    @classmethod
    def _of_function(
        cls, ceed: Ceed, function: Callable, inputs: tuple[QField, ...], outputs: dict[str, QField]
    ) -> QFunction:
        names, values = _parameters(function, len(inputs))
        call = _Call(ceed._library, function, dict(zip(names, inputs, strict=True)), outputs)
        lib, ffi = ceed._library.lib, ceed._library.ffi
        source = f"{function.__module__}:{call.name}".encode()
        self = cls(ceed, "CeedQFunctionCreateInterior", 1, lib.pyceedlike_call, source)
        for name, field in call.inputs.items():
            self.add_input(name, math.prod(field.shape), field.mode)
        for name, field in outputs.items():
            self.add_output(name, math.prod(field.shape), field.mode)
        handle = ffi.new_handle(call)
        head = bytes(ffi.buffer(ffi.new("void **", handle)))
        context = QFunctionContext._of_values(ceed, values, head)
        call.context = context._fields
        context._call("SetDataDestroy", 0, lib.pyceedlike_drop)
        _calls[int(ffi.cast("uintptr_t", handle))] = handle
        self._set_context(context)
        self._is_python = True
        self._call("SetContextWritable", False)
        self._call("SetPointsPerCall", lib.CEED_POINTS_ALL)
        return self

    def add_input(self, fieldname: str, size: int, emode: int) -> None:
        """Add an input of `size` components, those of all directions for EVAL_GRAD."""
        self._call("AddInput", fieldname.encode(), size, emode)

    def add_output(self, fieldname: str, size: int, emode: int) -> None:
        """Add an output of `size` components, those of all directions for EVAL_GRAD."""
        self._call("AddOutput", fieldname.encode(), size, emode)

    @property
    def context(self) -> QFunctionContext | None:
        """The context: that of a Python function has its values, a C function's was set."""
        return self._context

    def set_context(self, ctx: QFunctionContext) -> None:
        """Set what is passed to a C function as its context.

        Raises CeedAccessError for a Python function: its context has its own values.
        """
        if self._is_python:
            raise CeedAccessError(
                "a Python function keeps its own context: set its values by context.set_fields()"
            )
        self._set_context(ctx)

    def _set_context(self, ctx: QFunctionContext) -> None:
        self._call("SetContext", handle_of(self._library, "QFunctionContext", ctx))
        self._context = ctx

    def apply(self, q: int, inputs: Sequence[Vector], outputs: Sequence[Vector]) -> None:
        """Call the function once for q points, with a vector of size*q entries a field.

        >>> ceed = pyceedlike.Ceed()
        >>> u, w, v = (pyceedlike.from_dlpack(np.array([x, 2.0])) for x in (3.0, 5.0, 0.0))
        >>> ceed.QFunctionByName("MassApply").apply(2, [u, w], [v])
        >>> v.to_numpy()
        array([15.,  4.])
        """
        library = self._library
        for what, given, names in (
            ("inputs", inputs, self.inputs),
            ("outputs", outputs, self.outputs),
        ):
            if len(given) != len(names):
                raise CeedDimensionError(
                    f"{len(given)} {what} given; the QFunction has {len(names)}: {', '.join(names)}"
                )
        vectors = [[handle_of(library, "Vector", x) for x in side] for side in (inputs, outputs)]
        self._call("Apply", q, *(library.ffi.new("CeedVector[]", side) for side in vectors))

    @property
    def inputs(self) -> dict[str, int]:
        """The sizes of the inputs by name, as add_input() takes them."""
        return self._sizes()[0]

    @property
    def outputs(self) -> dict[str, int]:
        """The sizes of the outputs by name."""
        return self._sizes()[1]

    def _sizes(self) -> tuple[dict[str, int], dict[str, int]]:
        library = self._library
        ffi, lib = library.ffi, library.lib
        counts, fields = ffi.new("CeedInt[2]"), ffi.new("CeedQFunctionField *[2]")
        self._call("GetFields", counts, fields, counts + 1, fields + 1)
        ins, outs = (
            {
                ffi.string(library.get("const char *", lib.CeedQFunctionFieldGetName, f)).decode():
                library.get("CeedInt", lib.CeedQFunctionFieldGetSize, f)
                for f in ffi.unpack(side, n)
            }
            for n, side in zip(counts, fields, strict=True)
        )  # fmt: skip
        return ins, outs

    def __repr__(self) -> str:
        ins, outs = (", ".join(names) or "nothing" for names in self._sizes())
        return f"<pyceedlike.QFunction of {ins} to {outs}, {self.scalar}>"


# C functions that Python owns, by address. C may call one as long as any operator lives, which
# nobody tells us, so they stay.
_code: dict[Any, Any] = {}


# ---- Python functions ----------------------------------------------------------------------------


class QField(NamedTuple):
    """What an argument or a result of a Python function is: Interp, Grad, Data or Weight."""

    mode: int
    shape: tuple[int, ...]


def Interp(*shape: int) -> QField:  # noqa: N802 - named like what it describes
    """Values at the points: an array of shape (*shape, points).

    >>> pyceedlike.Interp(3).shape
    (3,)
    """
    return QField(EVAL_INTERP, shape)


def Grad(dim: int, *shape: int) -> QField:  # noqa: N802
    """Gradients in reference coordinates: an array of shape (dim, *shape, points).

    >>> pyceedlike.Grad(2, 3).shape
    (2, 3)
    """
    return QField(EVAL_GRAD, (dim, *shape))


def Data(*shape: int) -> QField:  # noqa: N802
    """Values that are stored at the points: an array of shape (*shape, points)."""
    return QField(EVAL_NONE, shape)


def Weight() -> QField:  # noqa: N802
    """Weights of the quadrature points: an array of shape (points,)."""
    return QField(EVAL_WEIGHT, ())


def _parameters(function: Callable, count: int) -> tuple[list[str], dict[str, Any]]:
    """Return the names of a function's inputs, and its context values: keyword-only defaults."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    values = {p.name: p.default for p in parameters if p.kind == p.KEYWORD_ONLY}
    if len(names) != count:
        raise CeedDimensionError(
            f"{count} inputs are described, {function.__name__} has {len(names)}: "
            f"{', '.join(names)}"
        )
    for name, value in values.items():
        if value is inspect.Parameter.empty:
            raise CeedIncompatibleError(
                f"the context value {name!r} of {function.__name__} needs a default to start from"
            )
    return names, values


def evaluator(function: Callable, scalar: str) -> Callable[[Callable, list[Any], dict], Any]:
    """Return what calls a function with arrays of its library: JAX's for jax.jit's, or NumPy's."""
    if type(function).__module__.partition(".")[0] in ("jax", "jaxlib"):
        from .interop.jax import check_precision, evaluate

        check_precision(scalar)
    else:
        from .interop.numpy import evaluate
    return evaluate


def sequence_of(results: Any, outputs: Collection[str], name: str) -> Sequence[Any]:
    """Return what a function of this name returned as one result for each output."""
    if len(outputs) <= 1:
        return (results,)[: len(outputs)]
    if not isinstance(results, (tuple, list)) or len(results) != len(outputs):
        raise CeedDimensionError(
            f"{name} must return a tuple of {len(outputs)} arrays: {', '.join(outputs)}"
        )
    return results


class _Call:
    """A Python function as C calls it, owned by the data of its QFunction's context."""

    def __init__(
        self,
        library: Library,
        function: Callable,
        inputs: dict[str, QField],
        outputs: dict[str, QField],
    ) -> None:
        self.library = library
        self.function = function
        self.name = getattr(function, "__qualname__", repr(function))
        self.inputs = inputs
        self.outputs = outputs
        self.context: list[ContextField] = []
        self._evaluate = evaluator(function, library.scalar)

    def __call__(self, context: Any, q: int, inputs: Any, outputs: Any) -> None:
        from .interop.numpy import result

        ins = self._views(self.inputs, q, inputs)
        results = self._evaluate(self.function, ins, self._values(context))
        results = sequence_of(results, self.outputs, self.name)
        views = self._views(self.outputs, q, outputs)
        for name, view, x in zip(self.outputs, views, results, strict=True):
            what = f"the output {name!r} of {self.name}"
            view[...] = result(x, view.shape, self.library.scalar, what)

    def _views(self, fields: dict[str, QField], q: int, pointers: Any) -> list[Any]:
        from .interop.numpy import over

        ffi, scalar = self.library.ffi, self.library.scalar
        shapes = [(*field.shape, q) for field in fields.values()]
        sizes = [math.prod(shape) * ffi.sizeof("CeedScalar") for shape in shapes]
        return [
            over(ffi.buffer(pointers[i], size), scalar, shape)
            for i, (size, shape) in enumerate(zip(sizes, shapes, strict=True))
        ]

    def _values(self, context: Any) -> dict[str, Any]:
        """Return the context values of this moment."""
        return {field.name: self._value(context, field) for field in self.context}

    def _value(self, context: Any, field: ContextField) -> Any:
        from .interop.numpy import from_numbers

        ffi = self.library.ffi
        ctype = _TYPES[field.kind][0]
        place = ffi.cast(f"{ctype} *", ffi.cast("char *", context) + field.offset)
        numbers = ffi.unpack(place, len(field.values))
        if field.is_number:
            return numbers[0]
        return from_numbers(numbers, self.library.scalar) if ctype == "double" else numbers


# Who owns a callable is the C context: its handle stays here until the context drops it.
_calls: dict[int, Any] = {}


def _define(library: Library) -> None:
    """Define what C calls in the place of a Python function, in one precision."""
    ffi, lib = library.ffi, library.lib

    def keep(kind: type, error: BaseException, trace: Any) -> None:
        text = ffi.new("char[]", f"{kind.__name__}: {error}".encode(errors="replace"))
        code = lib.CEED_ERROR_MINOR
        lib.CeedErrorImpl(ffi.NULL, b"qfunction.py", 0, b"pyceedlike_call", code, b"%s", text)
        keep_exception(error.with_traceback(trace), library.message())  # C may have cut the text

    @ffi.def_extern(name="pyceedlike_call", error=lib.CEED_ERROR_MINOR, onerror=keep)
    def call(context: Any, q: int, inputs: Any, outputs: Any) -> int:
        ffi.from_handle(ffi.cast("void **", context)[0])(context, q, inputs, outputs)
        return 0

    @ffi.def_extern(name="pyceedlike_drop")
    def drop(data: Any, calls: dict[int, Any] = _calls) -> int:
        calls.pop(int(ffi.cast("uintptr_t *", data)[0]), None)
        return 0


for _library in LIBRARIES.values():
    _define(_library)
