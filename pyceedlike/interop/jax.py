# SPDX-License-Identifier: BSD-2-Clause
"""JAX: arrays that share the memory of a vector or a fab, which nobody writes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._exchange import examine
from .._lib import (
    HOST,
    MEM_DEVICE,
    MEM_HOST,
    CeedAccessError,
    CeedCopyError,
    CeedIncompatibleError,
    Library,
    at_end,
)
from .numpy import address_view, check_result, counted_view

if TYPE_CHECKING:
    import jax
    import numpy

    from .._exchange import Exporter, Lease
    from ..fab import Fab
    from ..fab_view import FabView
    from ..vector import Vector

ALIGNMENT = 64  # XLA's, on the host; other memory is copied


def share(vector: Vector) -> jax.Array:
    """Return an array that holds a read lease of the vector for as long as it lives."""
    check_precision(vector.scalar)
    return _read(_lease(vector), vector)


@contextmanager
def lend(vector: Vector, timeout: float) -> Iterator[jax.Array]:
    """Give an array until the end of the block, and wait there until JAX has let go of it."""
    if not timeout >= 0:  # a NaN, too; what is no number is a TypeError
        raise ValueError(f"timeout must be a number of seconds from 0 on, not {timeout!r}")
    check_precision(vector.scalar)
    lease = _lease(vector)
    x = _read(lease, vector)
    with at_end(lambda: _end(lease, x, timeout)):
        yield x


def _end(lease: Lease, x: jax.Array, timeout: float) -> None:
    x.delete()
    if not lease.wait(timeout):
        raise CeedAccessError(
            f"JAX still reads the vector after {timeout} s: a result that was computed from the "
            "array is pending (block_until_ready() it), or a NumPy view of the array is alive"
        )


def check_precision(scalar: str) -> None:
    """Raise where JAX would not keep the precision."""
    import jax

    if scalar == "float64" and not jax.config.jax_enable_x64:
        raise CeedIncompatibleError(
            "JAX would turn this float64 memory into float32: call "
            'jax.config.update("jax_enable_x64", True) first, or make it in float32'
        )


class Evaluator:
    """Calls a function that is jitted, or will be, with the memory of vectors."""

    def __init__(self, function: Callable[..., Any], scalar: str) -> None:
        import jax

        check_precision(scalar)
        is_jitted = type(function).__module__.partition(".")[0] in ("jax", "jaxlib")
        self.function = function if is_jitted else jax.jit(function)
        self.scalar = scalar

    def argument(self, library: Library, vector: Any, shape: tuple[int, ...]) -> numpy.ndarray:
        """Return an array over the memory of the vector of a handle, which JAX shares.

        Only tracers see it, so that nobody keeps it; and as JAX lets go of it late, it does not
        count. jax.disable_jit() shows it to the function.
        """
        import jax

        return (counted_view if jax.config.jax_disable_jit else address_view)(
            library, vector, shape
        )

    def call(self, arrays: list[numpy.ndarray], values: dict[str, Any]) -> Any:
        """Return the results of the function when they are there, since it reads until then."""
        import jax

        check_precision(self.scalar)
        returned = self.function(*arrays, **values)
        if isinstance(returned, jax.Array):
            return returned.block_until_ready()  # one array needs no walk through a tree
        return jax.block_until_ready(returned)

    def result(self, x: Any, shape: tuple[int, ...], what: str) -> jax.Array:
        """Return a result that has this shape."""
        import jax

        array = x if isinstance(x, jax.Array) else jax.numpy.asarray(x)
        check_result(array, shape, self.scalar, what)
        return array


def _read(lease: Lease, owner: Exporter) -> jax.Array:
    import jax.dlpack

    x = jax.dlpack.from_dlpack(lease)
    if x.dtype != owner.scalar or (x.size and x.unsafe_buffer_pointer() != lease.address):
        raise CeedCopyError(f"JAX did not share the memory: it made a copy of type {x.dtype}")
    return x


def _mem_type(owner: Exporter) -> int:
    """Return where JAX works: on the device, if the owner and JAX have one."""
    import jax

    is_on_device = owner.__dlpack_device__()[0] not in HOST and jax.default_backend() == "gpu"
    return MEM_DEVICE if is_on_device else MEM_HOST


def _lease(vector: Vector) -> Lease:
    lease = vector._lease(_mem_type(vector))
    why = len(vector) and _misaligned(lease)
    if why:
        raise CeedCopyError(f"{why}: copy it first, with from_dlpack(vector, copy=True)")
    return lease


def _misaligned(lease: Lease) -> str | None:
    if lease.address % ALIGNMENT == 0:
        return None
    return (
        f"JAX shares memory from {ALIGNMENT}-byte boundaries on, and this starts at "
        f"{lease.address:#x}"
    )


def share_part(part: Fab | FabView, copy: bool | None) -> jax.Array:
    """Return an array of a fab's part: of compact aligned memory under a read lease, or a copy."""
    check_precision(part.scalar)
    mem_type = _mem_type(part)
    why = "as asked" if copy else _gaps(part)
    if not why:
        lease = part._lease(mem_type)
        why = _misaligned(lease)
    if why and copy is False:
        raise CeedCopyError(f"copy=False, but {why}; copy=None or copy=True copies it")
    return _read(part._lease(mem_type, why) if why else lease, part)


def _gaps(part: Fab | FabView) -> str | None:
    """Return what keeps JAX from sharing, or None: it takes the axes in any order, but no gaps."""
    *_, shape, strides, _ = examine(part)
    step = 1
    for stride, length in sorted(zip(strides or (), shape, strict=True)):
        if length > 1 and stride != step:
            return f"JAX shares no memory with gaps, and strides are {strides} entries"
        step *= length
    return None
