# SPDX-License-Identifier: BSD-2-Clause
"""What the objects made in a context have in common, and what may stand in their place."""

from __future__ import annotations

import reprlib
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from ._lib import CeedIncompatibleError, Library
from .ceed import Ceed


class StandIn(NamedTuple):
    """What is given in the place of an object: VECTOR_ACTIVE, BASIS_NONE, ..."""

    kind: str
    name: str

    def __repr__(self) -> str:
        return f"<pyceedlike.{self.name}>"


VECTOR_ACTIVE = StandIn("Vector", "VECTOR_ACTIVE")
VECTOR_NONE = StandIn("Vector", "VECTOR_NONE")
BASIS_NONE = StandIn("Basis", "BASIS_NONE")
ELEMRESTRICTION_NONE = StandIn("ElemRestriction", "ELEMRESTRICTION_NONE")
REQUEST_IMMEDIATE = StandIn("Request", "REQUEST_IMMEDIATE")
REQUEST_ORDERED = StandIn("Request", "REQUEST_ORDERED")


class Shared:
    """The calls of an object whose reference the extension module owns: of a vector, of a fab."""

    __slots__ = ()

    _kind: str  # the type in C, without "Ceed"
    handle: int
    _library: Library

    @property
    def _cdata(self) -> Any:
        return self._library.ffi.cast(f"Ceed{self._kind}", self.handle)

    @property
    def ceed(self) -> Ceed:
        """The context of the object."""
        library = self._library
        function = getattr(library.lib, f"Ceed{self._kind}GetCeed")
        return Ceed._of(library, function, self._cdata)

    def _peer(self, other: Any) -> Any:
        """Return the handle of another one as this library's; C says what is wrong with it."""
        if getattr(other, "_kind", None) != self._kind:
            raise TypeError(f"a {self._kind} is wanted here, not {type(other).__name__}")
        return self._library.ffi.cast(f"Ceed{self._kind}", other.handle)

    def _call(self, name: str, *arguments: Any) -> None:
        library = self._library
        library.check(getattr(library.lib, f"Ceed{self._kind}{name}")(self._cdata, *arguments))

    def _get(self, kind: str, name: str, *arguments: Any) -> Any:
        library = self._library
        function = getattr(library.lib, f"Ceed{self._kind}{name}")
        return library.get(kind, function, self._cdata, *arguments)


class Object:
    """An object of the C library, of which it owns one reference."""

    __slots__ = ("__weakref__", "_box", "_ceed")

    _kind: str  # the type in C, without "Ceed"

    def __init__(self, ceed: Ceed, create: str, *arguments: Any) -> None:
        self._make(ceed, getattr(ceed._library.lib, create), ceed._box[0], *arguments)

    @classmethod
    def _of(cls, ceed: Ceed, create: Callable[..., int], *arguments: Any) -> Self:
        """Return what a function of C makes that takes no context."""
        self = cls.__new__(cls)
        self._make(ceed, create, *arguments)
        return self

    def _make(self, ceed: Ceed, create: Callable[..., int], *arguments: Any) -> None:
        self._ceed = ceed
        self._box = ceed._library.new(f"Ceed{self._kind}", create, *arguments)

    @property
    def ceed(self) -> Ceed:
        """The context that the object was made in."""
        return self._ceed

    @property
    def _library(self) -> Library:
        return self._ceed._library

    @property
    def scalar(self) -> str:
        """The precision: "float64" or "float32"."""
        return self.ceed.scalar

    @property
    def handle(self) -> int:
        """The address of the object, for C code of this process."""
        return int(self._library.ffi.cast("uintptr_t", self._box[0]))

    def view(self) -> str:
        """Return what the C library prints of the object.

        >>> print(pyceedlike.Ceed().QFunctionByName("MassApply").view(), end="")
        CeedQFunction MassApply
          Input "u": 1, interpolation
          Input "qdata": 1, none
          Output "v": 1, interpolation
        """
        with tempfile.TemporaryFile("w+") as file:
            self._call("View", file)
            file.seek(0)
            return file.read()

    def _call(self, name: str, *arguments: Any) -> None:
        library = self._library
        library.check(getattr(library.lib, f"Ceed{self._kind}{name}")(self._box[0], *arguments))

    def _get(self, kind: str, name: str, *arguments: Any) -> Any:
        library = self._library
        function = getattr(library.lib, f"Ceed{self._kind}{name}")
        return library.get(kind, function, self._box[0], *arguments)


def handle_of(library: Library, kind: str, thing: Any, where: str = "here") -> Any:
    """Return the handle of an object or a stand-in; raise for another kind or precision."""
    if isinstance(thing, StandIn) and thing.kind == kind:
        return getattr(library.lib, f"CEED_{thing.name}")
    if isinstance(thing, (Object, Shared)) and thing._kind == kind:
        _check_precision(library, kind, thing, where)
        return library.ffi.cast(f"Ceed{kind}", thing.handle)
    remedy = ": pyceedlike.from_dlpack(x) makes one of an array" if kind == "Vector" else ""
    what = f"an {kind}" if kind[0] in "EO" else f"a {kind}"
    raise TypeError(
        f"{what} is wanted {where}, not {type(thing).__name__} {reprlib.repr(thing)}{remedy}"
    )


def _check_precision(library: Library, kind: str, thing: Object | Shared, where: str) -> None:
    wanted, given = library.scalar, thing._library.scalar
    if wanted != given:
        how = (
            f"of x.to_numpy().astype({wanted!r})" if kind == "Vector" else f"in a Ceed of {wanted}"
        )
        raise CeedIncompatibleError(
            f"a {kind} of {wanted} is wanted {where}, not one of {given}: make it {how}"
        )


def text_of(name: str) -> bytes:
    """Return a name for C. Raises CeedIncompatibleError for one that C would cut."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a str, not {type(name).__name__} {reprlib.repr(name)}")
    if "\0" in name:
        raise CeedIncompatibleError(f"a name has no NUL: {name!r}")
    return name.encode()


def request_of(library: Library, request: StandIn) -> Any:
    """Return the request for C: work on host memory is done when its call returns."""
    if request not in (REQUEST_IMMEDIATE, REQUEST_ORDERED):
        raise CeedIncompatibleError("request must be REQUEST_IMMEDIATE or REQUEST_ORDERED")
    return library.ffi.NULL
