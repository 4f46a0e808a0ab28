# SPDX-License-Identifier: BSD-2-Clause
"""The C library in both precisions: what calls it, its constants, and its errors as exceptions."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import _exchange
from ._ceedlike_f32 import ffi as _ffi32
from ._ceedlike_f32 import lib as _lib32
from ._ceedlike_f64 import ffi as _ffi64
from ._ceedlike_f64 import lib as _lib64

MEM_HOST: int = _lib64.CEED_MEM_HOST
MEM_DEVICE: int = _lib64.CEED_MEM_DEVICE
COPY_VALUES: int = _lib64.CEED_COPY_VALUES
USE_POINTER: int = _lib64.CEED_USE_POINTER
OWN_POINTER: int = _lib64.CEED_OWN_POINTER
NORM_1: int = _lib64.CEED_NORM_1
NORM_2: int = _lib64.CEED_NORM_2
NORM_MAX: int = _lib64.CEED_NORM_MAX
NOTRANSPOSE: int = _lib64.CEED_NOTRANSPOSE
TRANSPOSE: int = _lib64.CEED_TRANSPOSE
EVAL_NONE: int = _lib64.CEED_EVAL_NONE
EVAL_INTERP: int = _lib64.CEED_EVAL_INTERP
EVAL_GRAD: int = _lib64.CEED_EVAL_GRAD
EVAL_DIV: int = _lib64.CEED_EVAL_DIV
EVAL_CURL: int = _lib64.CEED_EVAL_CURL
EVAL_WEIGHT: int = _lib64.CEED_EVAL_WEIGHT
GAUSS: int = _lib64.CEED_GAUSS
GAUSS_LOBATTO: int = _lib64.CEED_GAUSS_LOBATTO
TOPOLOGY_LINE: int = _lib64.CEED_TOPOLOGY_LINE
TOPOLOGY_TRIANGLE: int = _lib64.CEED_TOPOLOGY_TRIANGLE
TOPOLOGY_QUAD: int = _lib64.CEED_TOPOLOGY_QUAD
TOPOLOGY_TET: int = _lib64.CEED_TOPOLOGY_TET
TOPOLOGY_PYRAMID: int = _lib64.CEED_TOPOLOGY_PYRAMID
TOPOLOGY_PRISM: int = _lib64.CEED_TOPOLOGY_PRISM
TOPOLOGY_HEX: int = _lib64.CEED_TOPOLOGY_HEX

CPU, CUDA = 1, 2  # DLPack's types of devices
HOST = (CPU, 3, 11, 13)  # DLPack's types of memory that the processor reads


class CeedError(Exception):
    """What every error of this package is."""


class CeedDimensionError(CeedError, ValueError):
    """A length or an index does not fit."""


class CeedIncompleteError(CeedError, RuntimeError):
    """There are no values yet."""


class CeedIncompatibleError(CeedError, BufferError, ValueError):
    """A bad argument, another precision, or memory that can't be understood."""


class CeedAccessError(CeedError, BufferError):
    """Somebody else holds the memory, or it is read-only."""


class CeedBackendError(CeedError, NotImplementedError):
    """This context has no such memory, or its device fails."""


class CeedUnsupportedError(CeedError, NotImplementedError):
    """This library has no such thing."""


class CeedMemoryError(CeedError, MemoryError):
    """There is not enough memory."""


class CeedCopyError(CeedError, BufferError, ValueError):
    """A copy would be needed, and copying was not allowed."""


class CeedExportError(CeedError, BufferError):
    """The memory can't be given away as it was asked for."""


ERRORS: dict[int, type[CeedError]] = {
    _lib64.CEED_ERROR_MINOR: CeedError,
    _lib64.CEED_ERROR_DIMENSION: CeedDimensionError,
    _lib64.CEED_ERROR_INCOMPLETE: CeedIncompleteError,
    _lib64.CEED_ERROR_INCOMPATIBLE: CeedIncompatibleError,
    _lib64.CEED_ERROR_ACCESS: CeedAccessError,
    _lib64.CEED_ERROR_MAJOR: CeedMemoryError,
    _lib64.CEED_ERROR_BACKEND: CeedBackendError,
    _lib64.CEED_ERROR_UNSUPPORTED: CeedUnsupportedError,
}
for error in (*ERRORS.values(), CeedCopyError, CeedExportError):
    error.__module__ = __package__  # tracebacks show the public name
del error


#: The C types that are named anywhere in this package.
TYPES = (
    *("Ceed *", "CeedVector", "CeedVector *", "CeedScalar *", "CeedScalar[]", "CeedSize *"),
    *("CeedMemType *", "bool *", "bool[2]", "int32_t[2]", "uint64_t *", "uintptr_t"),
    *("char[]", "char *", "const char **", "const char * *", "uintptr_t *", "size_t *", "void **"),
    *("int64_t *", "void *", "void * *", "const char *[]", "CeedOperatorShellUser"),
    *("CeedInt *", "CeedInt[]", "CeedInt[2]", "CeedInt[3]", "CeedInt *[2]", "CeedSize[2]"),
    *("CeedVector[]", "CeedQFunctionUser", "CeedQFunctionField *[2]", "const CeedScalar * *"),
    *("CeedContextFieldType *", "CeedEvalMode *", "const CeedContextFieldLabel **"),
    *("CeedBox *", "CeedBox[]", "CeedGhost *", "CeedFab", "CeedFab *", "CeedMultiFab"),
    *("CeedMultiFab *", "CeedSize[3]", "CeedSize[4]", "CeedInt8[]"),
    *("CeedElemTopology *", "CeedContextFieldLabel *"),
)


#: No address, not even that of nothing: what C has not written yet.
_NOWHERE = 1

_kept = threading.local()


def keep_exception(error: BaseException, message: str) -> None:
    """Keep an exception on its way through C, until this thread's next error, of this text."""
    _kept.pair = error, message


def _kept_exception(message: str) -> BaseException | None:
    error, text = _kept.__dict__.pop("pair", (None, None))
    return error if text == message else None


class Library:
    """The library of one precision."""

    def __init__(self, scalar: str, ffi: Any, lib: Any) -> None:
        self.scalar = scalar
        self.ffi = ffi
        self.lib = lib
        for name in TYPES:
            ffi.typeof(name)  # all types are known before threads can meet here

    def message(self) -> str:
        """Return the text of this thread's last error."""
        text = self.ffi.new("const char **")
        self.lib.CeedGetErrorMessage(self.ffi.NULL, text)
        return self.ffi.string(text[0]).decode(errors="replace")

    def check(self, code: int) -> None:
        """Raise the exception of an error code, with the text of this failure."""
        if code:
            message = self.message()
            error = _kept_exception(message)
            if error is None:
                error = ERRORS.get(code, CeedError)(message)
            try:
                raise error
            finally:
                del error  # which would hold this frame, and all that it holds, until a collection
        _kept.__dict__.clear()  # what C has taken for no error

    def new(self, kind: str, create: Callable[..., int], *arguments: Any) -> Any:
        """Return a box with a new object, which is destroyed together with the box."""
        box = self.ffi.gc(self.ffi.new(f"{kind} *"), getattr(self.lib, f"{kind}Destroy"))
        self.check(create(*arguments, box))
        return box

    def get(self, kind: str, function: Callable[..., int], *arguments: Any) -> Any:
        """Return what a function of the library puts into its last argument."""
        out = self.ffi.new(f"{kind} *")
        self.check(function(*arguments, out))
        return out[0]

    @contextmanager
    def lent(self, kind: str, what: str, handle: Any, memtype: int = MEM_HOST) -> Iterator[int]:
        """Lend the address that C gives of a kind until it is restored, as the vector's ArrayRead.

        An interrupt comes between calls, and C writes the address: what is out is always restored.
        """
        get = getattr(self.lib, f"{kind}Get{what}")
        restore = getattr(self.lib, f"{kind}Restore{what}")
        address = self.ffi.new("uintptr_t *", _NOWHERE)
        place = self.ffi.cast("void *", address)
        code = 0
        try:
            self.check(get(handle, memtype, place))
            yield address[0]
        finally:
            if address[0] != _NOWHERE:
                code = restore(handle, place)
        self.check(code)


@contextmanager
def at_end(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` after a block; an error of it is a note to the block's own error."""
    try:
        yield
    except BaseException as error:
        try:
            end()
        except CeedError as late:
            error.add_note(f"{type(late).__name__} at the end of the block: {late}")
        raise
    end()


LIBRARIES = {
    "float64": Library("float64", _ffi64, _lib64),
    "float32": Library("float32", _ffi32, _lib32),
}

__version__: str = _exchange.version
setup = _exchange.setup
