# SPDX-License-Identifier: BSD-2-Clause
"""PETSc's vectors: their memory for array libraries, and our memory for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from .._exchange import VectorBase
from .._lib import (
    LIBRARIES,
    CeedAccessError,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedUnsupportedError,
    at_end,
)
from ..vector import Vector

if TYPE_CHECKING:
    import numpy
    from petsc4py import PETSc


def view(vec: PETSc.Vec, *, writable: bool = True) -> Vector:
    """Return a Vector over this process's entries of a Vec, which any array library can share.

    It holds PETSc's array and its lock for writing, or with writable=False that for reading, until
    the last array over the memory is gone: PETSc computes nothing with a Vec that is being written,
    writes to none that is being read, and knows afterwards that entries may have changed. The Vec
    lives as long. PETSc is not thread-safe: let the last array go in a thread that may call it.
    Raises CeedAccessError while the Vec is locked, CeedIncompatibleError where PETSc does not
    compute in float32 or float64, CeedUnsupportedError where it has no locks.

    >>> from petsc4py import PETSc
    >>> vec = PETSc.Vec().createSeq(3)
    >>> vec.set(2.0)
    >>> pyceedlike.interop.petsc.view(vec).scale(5.0)
    >>> vec.max()[1]
    10.0
    """
    _check_is_theirs(vec)
    return Vector.from_dlpack(_Access(vec, writable), copy=False)


@contextmanager
def lend(ours: Vector, vec: PETSc.Vec) -> Iterator[PETSc.Vec]:
    """Let a Vec work in the memory of ours until the end of a `with` block.

    The memory of ours lies where JAX can share it, that of PETSc need not. In the block the entries
    are for PETSc alone; after it ours holds the results, and the Vec has its own memory back, with
    the values from before; arrays that PETSc gave of the Vec must not outlive the block. Raises
    CeedDimensionError where the Vec has another number of entries in this process,
    CeedIncompatibleError for another precision or a Vec with ghosts, CeedAccessError while the
    memory of either is in use, at the end of the block too.

    >>> from petsc4py import PETSc
    >>> ours, vec = pyceedlike.Ceed().Vector(3), PETSc.Vec().createSeq(3)
    >>> ours.set_value(2.0)
    >>> with pyceedlike.interop.petsc.lend(ours, vec):
    ...     vec.scale(2.0)
    >>> ours.to_numpy()
    array([4., 4., 4.])
    """
    _check_is_theirs(vec)
    _check_is_ours(ours)
    with vec.localForm() as form:
        if form and form != vec:
            raise CeedIncompatibleError(
                "the Vec has ghosts, for which a loan has no room: lend to its localForm()"
            )
    if len(ours) != vec.getLocalSize():
        raise CeedDimensionError(
            f"the vector has {len(ours)} entries, the Vec {vec.getLocalSize()} in this process: a "
            "loan needs as many"
        )
    with ours.array() as array:
        _place(vec, array)
        with at_end(lambda: _reset(vec)):
            yield vec


def share(ours: Vector, comm: Any = None) -> PETSc.Vec:
    """Return a Vec of petsc4py whose entries in this process are the memory of ours.

    The memory lives as long as the Vec, which counts as a writable export: JAX takes its lease from
    view(vec, writable=False). What others write, PETSc must be told, by vec.stateIncrease(): it
    remembers norms. `comm` is the communicator, all of whose processes share a vector of theirs; by
    default this process is alone. Raises CeedAccessError for memory that is read-only or in use,
    CeedIncompatibleError for another precision.

    >>> ours = pyceedlike.Ceed().Vector(3)
    >>> ours.set_value(2.0)
    >>> vec = pyceedlike.interop.petsc.share(ours)
    >>> vec.scale(2.0)
    >>> ours.to_numpy()
    array([4., 4., 4.])
    """
    from petsc4py import PETSc

    _check_is_ours(ours)
    array = ours.to_numpy()
    if not array.flags.writeable:  # which petsc4py would copy
        raise CeedAccessError("PETSc writes to its vectors, and this memory is read-only or leased")
    return PETSc.Vec().createWithArray(array, comm=PETSc.COMM_SELF if comm is None else comm)


class _Access:
    """A Vec's array and lock, given back when the last one who shares the array has let go."""

    def __init__(self, vec: PETSc.Vec, writable: bool) -> None:
        from petsc4py import PETSc

        said = "PETSc gives no access to the Vec, which is locked or has its memory elsewhere"
        try:
            self.array = vec.getArray(readonly=not writable)
        except PETSc.Error as error:
            raise CeedAccessError(f"{said}: {error}") from None
        self.__array_interface__ = self.array.__array_interface__
        readers, library = _readers(vec), _locks()[1]
        if readers < 0 or (writable and readers):  # a lock that is asked in vain is gone
            raise CeedAccessError(said)
        if writable:
            library.VecLockWriteSet(vec.handle, 1)
            self.unlock = partial(library.VecLockWriteSet, vec.handle, 0)
        else:
            library.VecLockReadPush(vec.handle)
            self.unlock = partial(library.VecLockReadPop, vec.handle)
        self.is_over = PETSc.Sys.isFinalized
        self.vec = vec

    def __del__(self) -> None:
        if hasattr(self, "vec") and not self.is_over():
            self.unlock()


def _readers(vec: PETSc.Vec) -> int:
    """Return how many read a Vec, -1 for a writer."""
    import numpy
    from petsc4py import PETSc

    ffi, library = _locks()
    count = numpy.zeros(1, PETSc.IntType)
    library.VecLockGet(vec.handle, ffi.from_buffer(count))
    return int(count[0])


@cache
def _locks() -> tuple[Any, Any]:
    """Return the functions for locks, of the PETSc that petsc4py has loaded and leaves them out."""
    import cffi
    from petsc4py import PETSc

    ffi = cffi.FFI()
    ffi.cdef(
        "int VecLockReadPush(uintptr_t); int VecLockReadPop(uintptr_t);"
        "int VecLockWriteSet(uintptr_t, int); int VecLockGet(uintptr_t, void *);"
    )
    library = ffi.dlopen(PETSc.__file__)
    if not hasattr(library, "VecLockGet"):
        version = ".".join(map(str, PETSc.Sys.getVersion()))
        raise CeedUnsupportedError(
            f"PETSc {version} was built without locks of Vecs: use a newer one"
        )
    return ffi, library


def _check_is_theirs(vec: Any) -> None:
    from petsc4py import PETSc

    if not isinstance(vec, PETSc.Vec) or not vec.handle:
        raise TypeError(f"a petsc4py Vec that was created is wanted here, not {vec!r}")
    check_numbers()
    _locks()


def _check_is_ours(ours: Any) -> None:
    if not isinstance(ours, VectorBase):
        raise TypeError(f"a pyceedlike Vector lends its memory, not {type(ours).__name__}")
    theirs = check_numbers()
    if ours.scalar != theirs:
        raise CeedIncompatibleError(
            f"this PETSc computes in {theirs}, the vector holds {ours.scalar}: make it "
            f"by Ceed(scalar={theirs!r})"
        )


def check_numbers() -> str:
    """Return the type of PETSc's scalars; raise where it is complex, or of another precision."""
    import numpy
    from petsc4py import PETSc

    name = numpy.dtype(PETSc.ScalarType).name
    if name not in LIBRARIES:
        raise CeedIncompatibleError(
            f"this PETSc computes in {name}, vectors hold {' or '.join(LIBRARIES)}: use a PETSc "
            "that was configured with --with-scalar-type=real --with-precision=double"
        )
    return name


def _place(vec: PETSc.Vec, array: numpy.ndarray) -> None:
    from petsc4py import PETSc

    if _readers(vec):
        raise CeedAccessError("the Vec is locked, and its memory in use")
    try:
        vec.placeArray(array)
    except PETSc.Error as error:
        raise CeedAccessError(f"PETSc takes no memory now: {error}") from None


def _reset(vec: PETSc.Vec) -> None:
    if not vec.handle:  # destroyed, and the memory let go
        return
    if _readers(vec):
        raise CeedAccessError(
            "PETSc still uses the memory that it was lent, and that lives on until "
            "vec.resetArray(): the Vec is locked"
        )
    vec.resetArray()
