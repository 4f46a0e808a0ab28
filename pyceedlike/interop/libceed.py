# SPDX-License-Identifier: BSD-2-Clause
"""libCEED's own Python objects: memory that vectors share, and QFunctions for its operators."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._exchange import VectorBase
from .._lib import (
    CeedAccessError,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedUnsupportedError,
    at_end,
)
from ..qfunction import QFunction
from ..vector import Vector

if TYPE_CHECKING:
    import libceed
    import numpy

# QFunctions of ours that a QFunction of libCEED stands on, by the address of its context's data.
_lent: dict[int, QFunction] = {}


def view(vector: libceed.Vector, *, writable: bool = True) -> Vector:
    """Return a Vector over the memory of a libceed vector, which any array library can share.

    It holds libCEED's write access, or with writable=False its read access, until the last array
    over the memory is gone; libCEED refuses other access until then. The libceed vector lives as
    long. libCEED is not thread-safe: let the last array go in a thread that may call it. Raises
    CeedAccessError while libCEED's access is in use, and for a vector without values.

    >>> theirs = libceed.Ceed("/cpu/self").Vector(3)
    >>> theirs.set_value(2.0)
    >>> pyceedlike.interop.libceed.view(theirs).scale(5.0)
    >>> theirs.norm(libceed.NORM_MAX)
    10.0
    """
    _check_is_theirs(vector)
    return Vector.from_dlpack(_Access(vector, writable), copy=False)


@contextmanager
def lend(ours: Vector, theirs: libceed.Vector) -> Iterator[libceed.Vector]:
    """Let a libceed vector work in the memory of ours until the end of a `with` block.

    The memory of ours lies where JAX can share it, that of libCEED does not. In the block the
    entries are for libCEED alone; after it ours holds the results, and theirs has no values. Raises
    CeedDimensionError for another length, CeedIncompatibleError for another precision,
    CeedAccessError while the memory of either is in use, at the end of the block too.

    >>> ours, theirs = pyceedlike.Ceed().Vector(3), libceed.Ceed("/cpu/self").Vector(3)
    >>> ours.set_value(2.0)
    >>> with pyceedlike.interop.libceed.lend(ours, theirs) as v:
    ...     v.set_value(5.0)
    >>> ours.to_numpy()
    array([5., 5., 5.])
    """
    _check_is_theirs(theirs)
    if not isinstance(ours, VectorBase):
        raise TypeError(f"a pyceedlike Vector lends its memory, not {type(ours).__name__}")
    if len(ours) != theirs.get_length():
        raise CeedDimensionError(
            f"the vectors have {len(ours)} and {theirs.get_length()} entries: a loan needs as many"
        )
    _check_precision(ours)
    with ours.array() as array:
        # Whatever happens to the loan, theirs never points to memory that is gone.
        kept = weakref.finalize(theirs, _let_go, array)
        _set(theirs, array)
        with at_end(lambda: _take(theirs, kept)):
            yield theirs


def qfunction(ours: QFunction, ceed: libceed.Ceed) -> libceed.QFunction:
    """Return libCEED's QFunction of the same C function, with a copy of the context."""
    create, *arguments = ours._create
    if create != "CeedQFunctionCreateInterior":
        raise CeedUnsupportedError(
            f"{ours!r} has no C function for libCEED to call: make it by native.qfunction(), or by "
            'Ceed.qfunction() with engine="numba" or "c"; libCEED has its gallery itself'
        )
    _check_precision(ours)
    vlength, f, source = arguments
    address = int(ours._library.ffi.cast("uintptr_t", f))
    theirs = ceed.QFunction(vlength, address, source.decode())
    for name, field in ours.inputs.items():
        theirs.add_input(name, *field)
    for name, field in ours.outputs.items():
        theirs.add_output(name, *field)
    if ours.context is not None and ours.context.get_size():
        theirs.set_context(_context(ours, ceed))
    return theirs


def _context(ours: QFunction, ceed: libceed.Ceed) -> libceed.QFunctionContext:
    """Return a context of theirs with the data of ours, which is kept until that is gone."""
    import libceed

    ffi, lib = libceed.ffi, libceed.lib
    context, data = ceed.QFunctionContext(), ours.context._bytes()
    handle, place = context._pointer[0], ffi.new("void **")
    copy = libceed.MEM_HOST, libceed.COPY_VALUES, len(data), ffi.from_buffer(data)
    ceed._check_error(lib.CeedQFunctionContextSetData(handle, *copy))
    ceed._check_error(lib.CeedQFunctionContextGetDataRead(handle, libceed.MEM_HOST, place))
    _lent[int(ffi.cast("uintptr_t", place[0]))] = ours
    ceed._check_error(lib.CeedQFunctionContextRestoreDataRead(handle, place))
    drop = _drop()
    ceed._check_error(lib.CeedQFunctionContextSetDataDestroy(handle, libceed.MEM_HOST, drop))
    return context


@functools.cache
def _drop() -> Any:
    """Return the C function that libCEED calls when a context is gone."""
    import libceed

    ffi = libceed.ffi

    @ffi.callback("int(void *)")
    def drop(data: Any, lent: dict[int, QFunction] = _lent) -> int:
        lent.pop(int(ffi.cast("uintptr_t", data)), None)
        return 0

    return drop


class _Access:
    """A libceed vector's array, restored when the last one who shares it has let go."""

    def __init__(self, vector: libceed.Vector, writable: bool) -> None:
        get = vector.get_array if writable else vector.get_array_read
        try:
            array = get()
        except Exception as error:  # libceed raises nothing finer
            raise CeedAccessError(f"libCEED gives no access to the vector: {error}") from None
        self.restore = vector.restore_array if writable else vector.restore_array_read
        self.__array_interface__ = array.__array_interface__

    def __del__(self) -> None:
        if hasattr(self, "restore"):
            self.restore()


def _check_is_theirs(vector: Any) -> None:
    import libceed

    if not isinstance(vector, libceed.Vector):
        raise TypeError(f"a libceed.Vector is wanted here, not {type(vector).__name__}")


def _scalar() -> str:
    import libceed

    kind = libceed.ffi.new("CeedScalarType *")
    libceed.lib.CeedGetScalarType(kind)
    return libceed.scalar_types[kind[0]]


def _check_precision(ours: Vector | QFunction) -> None:
    if ours.scalar != _scalar():
        raise CeedIncompatibleError(
            f"this libCEED computes in {_scalar()}, this {type(ours).__name__} in {ours.scalar}: "
            f"make it by Ceed(scalar={_scalar()!r})"
        )


def _set(theirs: libceed.Vector, array: numpy.ndarray) -> None:
    import libceed

    memory = libceed.ffi.from_buffer("CeedScalar[]", array)
    code = libceed.lib.CeedVectorSetArray(
        theirs._pointer[0], libceed.MEM_HOST, libceed.USE_POINTER, memory
    )
    if code:
        raise CeedAccessError(f"libCEED takes no memory now: {_message(theirs)}")


def _take(theirs: libceed.Vector, kept: weakref.finalize) -> None:
    import libceed

    memory = libceed.ffi.new("CeedScalar **")
    if libceed.lib.CeedVectorTakeArray(theirs._pointer[0], libceed.MEM_HOST, memory):
        raise CeedAccessError(
            f"libCEED still uses the memory it was lent, which lives as long as its vector does: "
            f"{_message(theirs)}"
        )
    kept.detach()


def _message(theirs: libceed.Vector) -> str:
    import libceed

    text = libceed.ffi.new("char **")
    libceed.lib.CeedGetErrorMessage(theirs._ceed._pointer[0], text)
    return libceed.ffi.string(text[0]).decode()


def _let_go(array: numpy.ndarray) -> None:
    """Keep the array until here."""
