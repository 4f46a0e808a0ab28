# SPDX-License-Identifier: BSD-2-Clause
"""Vectors: memory of a C solver that array libraries share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ._exchange import VectorBase
from ._lib import (
    COPY_VALUES,
    ERRORS,
    LIBRARIES,
    MEM_HOST,
    OWN_POINTER,
    USE_POINTER,
    CeedAccessError,
    CeedCopyError,
    CeedExportError,
    CeedIncompatibleError,
    at_end,
    setup,
)
from ._object import Shared
from .ceed import Ceed
from .sources import capsule_of

if TYPE_CHECKING:
    import jax
    import numpy
    import torch

    from ._exchange import Bracket

_READ_WRITE, _READ, _WRITE = range(3)


class Exchange(NamedTuple):
    """Whether memory was shared, and why or why not."""

    shared: bool
    reason: str


class Vector(Shared, VectorBase):
    """A CeedVector: a length and memory that other libraries can share.

    Made by Ceed.Vector(n), from_dlpack(x) and Vector.from_handle(address). It owns one reference of
    the C object; its memory lives as long as the vector or anything that shares it.

    >>> v = pyceedlike.from_dlpack(np.array([3.0, -4.0]))
    >>> v
    <pyceedlike.Vector of 2 float64 on the host, 0 exports>
    """

    __slots__ = ("__weakref__", "_readers", "_source", "_writer")

    _kind = "Vector"
    _writer: tuple[Any, numpy.ndarray] | None  # what get_array() has given: bracket and array
    _readers: list[tuple[Any, numpy.ndarray]]  # what get_array_read() has given
    _source: tuple[Any, int] | None  # what set_array() has borrowed, and where it lies

    # What it is.

    @property
    def state(self) -> int:
        """The state counter: odd while a writer's array is out, grows by 2 with every write."""
        return self._get("uint64_t", "GetState")

    @property
    def export_count(self) -> int:
        """How many exports of the memory live."""
        return self._get("CeedSize", "GetExportCount")

    def get_length(self) -> int:
        """Return the number of entries, as len() does."""
        return len(self)

    def __repr__(self) -> str:
        holds, current = self._library.ffi.new("bool[2]"), self._library.ffi.new("bool[2]")
        self._call("GetMemTypes", holds, current)
        places = [place for place, held in zip(("host", "device"), holds, strict=True) if held]
        where = f"on the {' and the '.join(places)}" if places else "without memory"
        where += "" if any(current) or not len(self) else ", no values yet"
        exports = self.export_count
        what = f"of {len(self)} {self.scalar} {where}, {exports} export{'s' * (exports != 1)}"
        return f"<pyceedlike.Vector {what}>"

    def view(self, fmt: str = "%g") -> str:
        """Return the entries as text, one a line in a printf format.

        >>> print(pyceedlike.from_dlpack(np.array([1.0, 2.5])).view("%.2f"))
        CeedVector length 2
        1.00
        2.50
        <BLANKLINE>
        """
        return self._view(fmt)

    # Arrays for a while.

    def _bracket(self, kind: int, memtype: int) -> tuple[Any, numpy.ndarray]:
        from .interop.numpy import view

        bracket = self._open(kind, memtype)
        return bracket, view(bracket)

    @contextmanager
    def _block(self, kind: int, memtype: int) -> Iterator[numpy.ndarray]:
        bracket, array = self._bracket(kind, memtype)
        with at_end(lambda: _restore(bracket, array)):
            yield array

    def _array_read(self) -> numpy.ndarray:
        """Return a read-only array over the memory, which stays as long as the array lives."""
        bracket, array = self._bracket(_READ, MEM_HOST)
        bracket.restore()
        return array

    def array(self, memtype: int = MEM_HOST) -> AbstractContextManager[numpy.ndarray]:
        """Lend the entries as an array, for reading and writing until the end of a `with` block.

        The array shares the memory. After the block it is read-only, but views made from it in the
        block stay writable. Raises CeedAccessError while somebody else holds the memory.

        >>> v = pyceedlike.from_dlpack(np.arange(3.0))
        >>> with v.array() as a:
        ...     a[0] = 5.0
        >>> v.norm(pyceedlike.NORM_MAX)
        5.0
        """
        return self._block(_READ_WRITE, memtype)

    def array_read(self, memtype: int = MEM_HOST) -> AbstractContextManager[numpy.ndarray]:
        """Lend the entries as a read-only array until the end of a `with` block.

        >>> with pyceedlike.from_dlpack(np.arange(3.0)).array_read() as a:
        ...     float(a.sum())
        3.0
        """
        return self._block(_READ, memtype)

    def array_write(self, memtype: int = MEM_HOST) -> AbstractContextManager[numpy.ndarray]:
        """Lend the memory as an array for writing all entries; what they hold is unspecified.

        >>> v = pyceedlike.Ceed().Vector(2)
        >>> with v.array_write() as a:
        ...     a[:] = 1.0, 2.0
        """
        return self._block(_WRITE, memtype)

    def get_array(self, memtype: int = MEM_HOST) -> numpy.ndarray:
        """Return the entries as an array for reading and writing, until restore_array()."""
        self._writer = self._bracket(_READ_WRITE, memtype)
        return self._writer[1]

    def get_array_write(self, memtype: int = MEM_HOST) -> numpy.ndarray:
        """Return the memory as an array for writing all entries, until restore_array()."""
        self._writer = self._bracket(_WRITE, memtype)
        return self._writer[1]

    def get_array_read(self, memtype: int = MEM_HOST) -> numpy.ndarray:
        """Return the entries as a read-only array, until restore_array_read()."""
        pair = self._bracket(_READ, memtype)
        self._readers = [*getattr(self, "_readers", ()), pair]
        return pair[1]

    def restore_array(self) -> None:
        """End the access of get_array() or get_array_write(); the array becomes read-only.

        Raises CeedAccessError when this object has no array out.
        """
        _restore(*(getattr(self, "_writer", None) or self._nothing("get_array")))
        self._writer = None

    def restore_array_read(self) -> None:
        """End the access of the last get_array_read()."""
        readers = getattr(self, "_readers", None) or self._nothing("get_array_read")
        readers.pop()[0].restore()

    def _nothing(self, name: str) -> Any:
        raise CeedAccessError(f"no array is out: {name}() comes first")

    # Values.

    def set_array(self, array: Any, memtype: int = MEM_HOST, cmode: int = COPY_VALUES) -> None:
        """Set the entries from an array, a list or a number.

        COPY_VALUES copies. USE_POINTER shares the array's memory, which must be C-contiguous and of
        this precision, and keeps the array alive. Raises CeedDimensionError for another length,
        CeedIncompatibleError for another type.

        >>> v = pyceedlike.Ceed().Vector(3)
        >>> v.set_array([1, 2, 3])
        >>> v.norm(pyceedlike.NORM_1)
        6.0
        """
        if cmode == OWN_POINTER:
            raise CeedIncompatibleError(
                "OWN_POINTER can't take memory of Python: ownership passes by take_from_dlpack()"
            )
        self._check_memtype(memtype)
        self.take_from_dlpack(array, cmode)
        if cmode == USE_POINTER:
            self._source = array, self._address(memtype)

    def take_array(self, memtype: int = MEM_HOST) -> Any:
        """Return the object whose memory set_array() borrowed; the vector then has no values.

        Raises CeedAccessError when nothing was borrowed, or while somebody holds the memory.

        >>> a, v = np.zeros(2), pyceedlike.Ceed().Vector(2)
        >>> v.set_array(a, cmode=pyceedlike.USE_POINTER)
        >>> v.set_value(3.0)
        >>> v.take_array()
        array([3., 3.])
        """
        self._check_memtype(memtype)
        source, address = getattr(self, "_source", None) or (None, None)
        if source is None or address != self._address(memtype):
            raise CeedAccessError(
                "take_array: set_array(USE_POINTER) has borrowed no array here; what was adopted "
                "from a tensor is not taken back, export it: to_dlpack(), to_numpy()"
            )
        self._call("SyncArray", memtype)
        self._let_go(memtype)
        self._source = None
        return source

    def _address(self, memtype: int = MEM_HOST) -> int:
        with self._library.lent("CeedVector", "ArrayRead", self._cdata, memtype) as address:
            return address

    def _check_memtype(self, memtype: int) -> None:
        """Raise what C says of a memory type that this context has not."""
        pair = self._library.ffi.new("int32_t[2]")
        self._call("GetDLPackDevice", memtype, pair, pair + 1)

    def __float__(self) -> NoReturn:
        """Raise TypeError: Python would read the bytes as digits."""
        raise TypeError("a Vector is no number: v.to_numpy() gives its entries")

    __int__ = __float__

    def copy_strided(self, start: int, stop: int, step: int, source: Vector) -> None:
        """Set the entries start, start+step, ... < stop to those of another vector.

        A stop of -1 is the length. Raises CeedDimensionError for a range outside.
        """
        library = self._library
        library.check(
            library.lib.CeedVectorCopyStrided(self._peer(source), start, stop, step, self._cdata)
        )

    def set_value_strided(self, start: int, stop: int, step: int, value: float) -> None:
        """Set the entries start, start+step, ... < stop to a value; a stop of -1 is the length."""
        self._call("SetValueStrided", start, stop, step, value)

    def sync_array(self, memtype: int = MEM_HOST) -> None:
        """Make one memory type hold the current values, so that a borrowed array may be read."""
        self._call("SyncArray", memtype)

    # To and from other libraries.

    def take_from_dlpack(self, x: Any, cmode: int = COPY_VALUES) -> None:
        """Take the tensor of x into this vector, of as many entries.

        COPY_VALUES copies; USE_POINTER and OWN_POINTER both share the memory of x, which lives as
        long as anything needs it. Raises CeedIncompatibleError for another type or layout,
        CeedDimensionError for another length, CeedAccessError while somebody holds the memory.

        >>> v = pyceedlike.Ceed().Vector(4)
        >>> v.take_from_dlpack(np.ones((2, 2)), cmode=pyceedlike.OWN_POINTER)
        >>> v.norm()
        2.0
        """
        self._take(x, cmode)
        if cmode != COPY_VALUES:
            self._source = None

    def to_numpy(self) -> numpy.ndarray:
        """Return a NumPy array that shares the memory; read-only where the vector is.

        It is read-only, too, when it is made while read leases live, as those of to_jax().

        >>> pyceedlike.from_dlpack(np.arange(3.0)).to_numpy()
        array([0., 1., 2.])
        """
        from .interop.numpy import share

        return share(self)

    def to_torch(self) -> torch.Tensor:
        """Return a PyTorch tensor that shares the memory.

        Raises CeedAccessError for read-only or leased memory, which PyTorch would write to.
        """
        from .interop.torch import share

        return share(self)

    def to_jax(self) -> jax.Array:
        """Return a JAX array that shares the memory; nobody writes it while the array lives.

        Raises CeedIncompatibleError when JAX would turn float64 into float32, CeedAccessError
        while writable views live, CeedCopyError for memory that JAX can only copy.
        """
        from .interop.jax import share

        return share(self)

    def jax(self, timeout: float = 5.0) -> AbstractContextManager[jax.Array]:
        """Lend the memory to JAX as an array until the end of a `with` block.

        The array is deleted there, and JAX has let go of the memory when the block is left. Raises
        CeedAccessError when that takes longer than `timeout` seconds.

        >>> jax.config.update("jax_enable_x64", True)
        >>> v = pyceedlike.Ceed().Vector(3)
        >>> v.set_value(2.0)
        >>> with v.jax() as x:
        ...     float(x.sum())
        6.0
        """
        from .interop.jax import lend

        return lend(self, timeout)


def _restore(bracket: Bracket, array: numpy.ndarray) -> None:
    array.flags.writeable = False
    bracket.restore()


setup(
    *(ERRORS, Exchange, Vector, Ceed, capsule_of, CeedCopyError, CeedExportError),
    *LIBRARIES.values(),
)
