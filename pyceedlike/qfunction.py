# SPDX-License-Identifier: BSD-2-Clause
"""QFunctions, the physics at the quadrature points: of the gallery, of C, and of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import CeedAccessError, CeedDimensionError, Library
from ._object import Object, handle_of, text_of
from .callback import Callback, Physics, QField, engine_of, keep_code
from .ceed import Ceed
from .compiled import compile_function
from .context import QFunctionContext

if TYPE_CHECKING:
    import libceed

    from .native import PointFunction
    from .vector import Vector


class QFunctionField(NamedTuple):
    """An input or output: how many components, and how it is evaluated, as EVAL_GRAD."""

    size: int
    mode: int


class QFunction(Object):
    """A function of the quadrature points.

    Made by Ceed.qfunction() of a Python function, by Ceed.QFunctionByName() of the gallery, by
    Ceed.IdentityQFunction(), and by Ceed.QFunction() of a C function.

    >>> pyceedlike.Ceed().QFunctionByName("MassApply")
    <pyceedlike.QFunction of u, qdata to v, float64>
    """

    __slots__ = ("_callback", "_context", "_create", "_written_in")
    _kind = "QFunction"

    def __init__(self, ceed: Ceed, create: str, *arguments: Any) -> None:
        super().__init__(ceed, create, *arguments)
        self._create = create, *arguments
        self._context: QFunctionContext | None = None
        self._callback: Callback | None = None  # of a Python function
        # What can be evaluated in another way: the native.PointFunction, or a Physics of JAX.
        self._written_in: Any = None

    @classmethod
    def _of_pointer(cls, ceed: Ceed, vlength: int, f: Any, source: str) -> QFunction:
        if isinstance(f, str):
            address, owner = compile_function(f, source.rpartition(":")[2], ceed.scalar)
        else:
            address, owner = address_of(ceed._library, getattr(f, "address", f)), f
        keep_code(address, owner)
        pointer = ceed._library.ffi.cast("CeedQFunctionUser", address)
        return cls(ceed, "CeedQFunctionCreateInterior", vlength, pointer, text_of(source))

    @classmethod
    def _of_function(
        cls,
        ceed: Ceed,
        function: Callable[..., Any],
        inputs: tuple[QField, ...],
        outputs: dict[str, QField],
        engine: str | None,
    ) -> QFunction:
        physics, values = Physics.of(ceed._library, function, inputs, outputs)
        callback = Callback(ceed._library, physics)
        engine = engine or engine_of(function)
        create, f = callback.implement(engine)
        source = f"{function.__module__}:{physics.name}".encode()
        self = cls(ceed, create, *f, source)
        for name, field in physics.inputs.items():
            self.add_input(name, field.size, field.mode)
        for name, field in outputs.items():
            self.add_output(name, field.size, field.mode)
        context = QFunctionContext._of_values(ceed, values, ceed._library.ffi.sizeof("void *"))
        callback.enter(context)
        self._set_context(context)
        self._callback = callback
        self._written_in = physics if engine == "jax" else None
        self._call("SetContextWritable", False)
        return self

    def add_input(self, fieldname: str, size: int, emode: int) -> None:
        """Add an input of `size` components, those of all directions for EVAL_GRAD."""
        self._call("AddInput", text_of(fieldname), size, emode)

    def add_output(self, fieldname: str, size: int, emode: int) -> None:
        """Add an output of `size` components, those of all directions for EVAL_GRAD."""
        self._call("AddOutput", text_of(fieldname), size, emode)

    @property
    def context(self) -> QFunctionContext | None:
        """The context: that of a Python function has its values, a C function's was set."""
        return self._context

    def set_context(self, ctx: QFunctionContext) -> None:
        """Set what is passed to a C function as its context.

        Raises CeedAccessError for a Python function: its context has its own values.
        """
        if self._callback:
            raise CeedAccessError(
                "a Python function keeps its own context: set its values by context.set_fields()"
            )
        self._set_context(ctx)

    def _set_context(self, ctx: QFunctionContext) -> None:
        self._call("SetContext", handle_of(self._library, "QFunctionContext", ctx))
        self._context = ctx

    def _copy(self) -> QFunction:
        """Return the same function with a context of its own."""
        if self._context is None:
            return self
        copy = QFunction(self.ceed, *self._create)
        sides = zip(("Input", "Output"), self._fields(), copy._fields(), strict=True)
        for side, fields, made in sides:
            for name, field in fields.items():
                if made.get(name) != field:  # the gallery's have fields from the beginning
                    copy._call(f"Add{side}", text_of(name), *field)
        context = self._context._copy()
        if self._callback:
            self._callback.enter(context)
        copy._callback = self._callback
        copy._set_context(context)
        copy._call("SetContextWritable", False)
        return copy

    def set_user_flops_estimate(self, flops: int) -> None:
        """Say how many floating-point operations a point costs."""
        self._call("SetUserFlopsEstimate", flops)

    def apply(self, q: int, inputs: Sequence[Vector], outputs: Sequence[Vector]) -> None:
        """Call the function once for q points, with a vector of size*q entries a field.

        >>> ceed = pyceedlike.Ceed()
        >>> u, w, v = (pyceedlike.from_dlpack(np.array([x, 2.0])) for x in (3.0, 5.0, 0.0))
        >>> ceed.QFunctionByName("MassApply").apply(2, [u, w], [v])
        >>> v.to_numpy()
        array([15.,  4.])
        """
        library = self._library
        for what, given, count in zip(
            ("inputs", "outputs"), (inputs, outputs), self._counts(), strict=True
        ):
            if len(given) != count:
                names = ", ".join(getattr(self, what))
                raise CeedDimensionError(
                    f"{len(given)} {what} given; the QFunction has {count}: {names}"
                )
        vectors = [[handle_of(library, "Vector", x) for x in side] for side in (inputs, outputs)]
        self._call("Apply", q, *(library.ffi.new("CeedVector[]", side) for side in vectors))

    def to_libceed(self, ceed: libceed.Ceed) -> libceed.QFunction:
        """Return libCEED's QFunction of the same C function, for its operators.

        libCEED calls it by its address, with a copy of this one's context. Raises
        CeedUnsupportedError for a function that NumPy or JAX runs and for one of the gallery,
        CeedIncompatibleError for a libCEED of another precision.
        """
        from .interop.libceed import qfunction

        return qfunction(self, ceed)

    def _counts(self) -> Sequence[int]:
        """Return the numbers of inputs and outputs."""
        counts, null = self._library.ffi.new("CeedInt[2]"), self._library.ffi.NULL
        self._call("GetFields", counts, null, counts + 1, null)
        return counts

    @property
    def inputs(self) -> dict[str, QFunctionField]:
        """The inputs by name."""
        return self._fields()[0]

    @property
    def outputs(self) -> dict[str, QFunctionField]:
        """The outputs by name."""
        return self._fields()[1]

    def _fields(self) -> tuple[dict[str, QFunctionField], dict[str, QFunctionField]]:
        ffi = self._library.ffi
        counts, fields = ffi.new("CeedInt[2]"), ffi.new("CeedQFunctionField *[2]")
        self._call("GetFields", counts, fields, counts + 1, fields + 1)
        ins, outs = (
            dict(map(self._field, ffi.unpack(side, n) if n else []))
            for n, side in zip(counts, fields, strict=True)
        )
        return ins, outs

    def _field(self, field: Any) -> tuple[str, QFunctionField]:
        lib, get = self._library.lib, self._library.get
        name = get("const char *", lib.CeedQFunctionFieldGetName, field)
        size = get("CeedInt", lib.CeedQFunctionFieldGetSize, field)
        mode = get("CeedEvalMode", lib.CeedQFunctionFieldGetEvalMode, field)
        return self._library.ffi.string(name).decode(), QFunctionField(size, mode)

    def __repr__(self) -> str:
        ins, outs = (", ".join(names) or "nothing" for names in self._fields())
        return f"<pyceedlike.QFunction of {ins} to {outs}, {self.scalar}>"


def qfunction_of(ceed: Ceed, qf: QFunction | PointFunction) -> QFunction:
    """Return a QFunction as it is, and a point function as its QFunction in a context."""
    return qf.qfunction(ceed) if hasattr(qf, "qfunction") else qf


def address_of(library: Library, f: Any) -> int:
    """Return the address of something of C: a number, or cffi's."""
    if not isinstance(f, (int, library.ffi.CData)):
        raise TypeError(
            f"a C function is wanted: its address, cffi's, numba's, or C code; not {f!r}"
        )
    return int(library.ffi.cast("uintptr_t", f))
