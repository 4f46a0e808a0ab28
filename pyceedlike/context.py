# SPDX-License-Identifier: BSD-2-Clause
"""Contexts of QFunctions: what they know besides their fields, by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._lib import CeedAccessError, CeedDimensionError, CeedIncompatibleError, Library
from ._object import Object, text_of
from .ceed import Ceed

TYPES = {1: ("double", "Double"), 2: ("int32_t", "Int32"), 3: ("bool", "Boolean")}  # by C's enum
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
    def _of_values(cls, ceed: Ceed, values: dict[str, Any], head: int = 0) -> QFunctionContext:
        """Return a context of values, behind `head` bytes that are those of a Python function."""
        self = cls(ceed, "CeedQFunctionContextCreate")
        self._is_laid_out = False
        self._fields, size = lay_out(values, ceed._library, head)
        if size:
            self.set_data(bytes(size))
        for field in self._fields:
            self.register(field.name, TYPES[field.kind][0], field.offset, len(field.values))
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

    def _bytes(self) -> bytes:
        """Return a copy of the data."""
        with self._data() as data:
            return bytes(self._library.ffi.buffer(data, self.get_size()))

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
        types = dict(TYPES.values())
        if ctype not in types:
            raise CeedIncompatibleError(f"{ctype!r} is no type of a field: {', '.join(types)}")
        texts = text_of(name), text_of(description)
        self._call(f"Register{types[ctype]}", texts[0], offset, count, texts[1])

    def set_fields(self, **values: Any) -> None:
        """Set values by name. Raises CeedIncompatibleError for a name that there is not."""
        set_fields(self, "GetFieldLabel", "Set", [self], values)

    def get_fields(self) -> dict[str, Any]:
        """Return what the fields hold now, by name: numbers, or lists of them.

        >>> pyceedlike.Ceed().QFunctionContext(speed=3.0, steps=[1, 2]).get_fields()
        {'speed': 3.0, 'steps': [1, 2]}
        """
        if not (fields := self._labelled()):
            return {}
        with self._data() as data:
            return {field.name: value_of(self._library, data, field) for field in fields}

    @contextmanager
    def _data(self, access: str = "Read") -> Iterator[Any]:
        """Lend the address of the data for reading, or for writing too: ""."""
        what = f"Data{access}"
        with self._library.lent("CeedQFunctionContext", what, self._box[0]) as address:
            yield self._library.ffi.cast("char *", address)

    def _labelled(self) -> list[ContextField]:
        """Return the registered fields."""
        ffi = self._library.ffi
        labels, count = ffi.new("const CeedContextFieldLabel **"), ffi.new("CeedInt *")
        self._call("GetAllFieldLabels", labels, count)
        return [_described(self._library, labels[0][i]) for i in range(count[0])]

    def _has(self, name: str) -> bool:
        label = self._get("CeedContextFieldLabel", "GetFieldLabel", text_of(name))
        return label != self._library.ffi.NULL

    def _copy(self) -> QFunctionContext:
        """Return another context with the same data and fields."""
        copy = QFunctionContext(self.ceed, "CeedQFunctionContextCreate")
        copy._is_laid_out = False
        if self.get_size():
            copy.set_data(self._bytes())
        for field in self._labelled():
            copy.register(field.name, TYPES[field.kind][0], field.offset, len(field.values))
        copy._is_laid_out = self._is_laid_out
        return copy

    def __repr__(self) -> str:
        names = ", ".join(field.name for field in self._labelled())
        return f"<pyceedlike.QFunctionContext of {self.get_size()} bytes: {names}>"


def set_fields(
    owner: Object, find: str, put: str, contexts: list[QFunctionContext], values: dict[str, Any]
) -> None:
    """Set context fields of an owner, a context or an operator: in all contexts, or in none."""
    library = owner._library
    calls = []
    for name, value in values.items():
        label = owner._get("CeedContextFieldLabel", find, text_of(name))
        if label == library.ffi.NULL:
            known = dict.fromkeys(field.name for c in contexts for field in c._labelled())
            raise CeedIncompatibleError(
                f"there is no context field {name!r}: there is {', '.join(known) or 'none'}"
            )
        field = _described(library, label)
        calls.append((f"{put}{TYPES[field.kind][1]}", label, _memory(library, field, value)))
    for context in contexts:
        if any(map(context._has, values)):
            with context._data(""):  # or an error, before the first one is set
                pass
    for call in calls:
        owner._call(*call)


def _memory(library: Library, field: ContextField, value: Any) -> Any:
    """Return a value of a field as C has it."""
    numbers, count = _numbers(value), len(field.values)
    if len(numbers) != count:
        raise CeedDimensionError(
            f"the context field {field.name!r} has {count} value{'s' * (count != 1)}, not "
            f"{len(numbers)}"
        )
    ctype = TYPES[field.kind][0]
    try:
        return library.ffi.new(f"{ctype}[]", numbers)
    except (TypeError, OverflowError) as error:
        text = f"the context field {field.name!r} is of type {ctype}: {error}"
        raise type(error)(text) from error


def value_of(library: Library, data: Any, field: ContextField) -> Any:
    """Return what a field of a context's data holds now: a number, or a list of them."""
    ctype = TYPES[field.kind][0]
    place = library.ffi.cast(f"{ctype} *", library.ffi.cast("char *", data) + field.offset)
    numbers = library.ffi.unpack(place, len(field.values))
    return numbers[0] if field.is_number else numbers


def _described(library: Library, label: Any) -> ContextField:
    """Return a context field, without its values."""
    ffi = library.ffi
    name, kind = ffi.new("const char **"), ffi.new("CeedContextFieldType *")
    offset, count = ffi.new("size_t *"), ffi.new("size_t *")
    describe = library.lib.CeedContextFieldLabelGetDescription
    library.check(describe(label, name, offset, count, ffi.NULL, kind))
    values = [None] * count[0]
    return ContextField(ffi.string(name[0]).decode(), kind[0], offset[0], values, len(values) == 1)


def _numbers(value: Any) -> list[Any]:
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(value) if isinstance(value, (list, tuple)) else [value]


def lay_out(values: dict[str, Any], library: Library, size: int) -> tuple[list[ContextField], int]:
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
        width = library.ffi.sizeof(TYPES[kind][0])
        offset = -(-size // width) * width
        fields.append(ContextField(name, kind, offset, numbers, numbers[0] is value))
        size = offset + width * len(numbers)
    return fields, size
