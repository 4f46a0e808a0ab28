# SPDX-License-Identifier: BSD-2-Clause
"""NumPy: arrays over vectors and fabs, and the values of lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._lib import (
    CPU,
    HOST,
    MEM_HOST,
    CeedAccessError,
    CeedCopyError,
    CeedDimensionError,
    CeedIncompatibleError,
    Library,
)

if TYPE_CHECKING:
    import numpy

    from .._exchange import Bracket
    from ..box import Ghost
    from ..fab import Fab
    from ..fab_view import FabView
    from ..vector import Vector


class _OnHost:
    """Gives away the host memory of what would give that of a device."""

    __slots__ = ("owner",)

    def __init__(self, owner: Vector | Fab | FabView) -> None:
        self.owner = owner

    def __dlpack__(self, *, max_version: Any = None, **_: None) -> Any:
        return self.owner.to_dlpack(MEM_HOST, max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0


def _array(owner: Vector | Fab | FabView) -> numpy.ndarray:
    import numpy

    is_on_host = owner.__dlpack_device__()[0] in HOST
    return numpy.from_dlpack(owner if is_on_host else _OnHost(owner))


def share(vector: Vector) -> numpy.ndarray:
    """Return an array that shares the vector's host memory."""
    return _array(vector)


def share_part(part: Fab | FabView, copy: bool | None) -> numpy.ndarray:
    """Return an array of a fab's part."""
    return share_parts([part], copy)[0]


def share_parts(parts: Iterable[Fab | FabView], copy: bool | None) -> list[numpy.ndarray]:
    """Return an array of each part."""
    if copy is None:
        return list(map(_array, parts))
    return [_copy(part) if copy else _insist(part) for part in parts]


def _copy(part: Fab | FabView) -> numpy.ndarray:
    array = _array(part).copy()
    part._note_copy("as asked")
    return array


def _insist(part: Fab | FabView) -> numpy.ndarray:
    array = _array(part)
    if not part.exchange.shared:
        raise CeedCopyError(f"copy=False, but NumPy got {part.exchange.reason}")
    return array


def cover(shape: tuple[int, ...]) -> numpy.ndarray:
    """Return an array for a small number of each cell of a box, x fastest."""
    import numpy

    return numpy.empty(shape, numpy.int8, order="F")


def stack(arrays: list[numpy.ndarray]) -> numpy.ndarray:
    """Return the arrays in one, compact in C order, along a new first axis."""
    import numpy

    batch = numpy.empty((len(arrays), *arrays[0].shape), arrays[0].dtype)
    return numpy.stack(arrays, out=batch)


def blocks_of(
    tensor: Any, views: list[numpy.ndarray], ghost: Ghost, order: str, what: str
) -> list[numpy.ndarray]:
    """Return what lies inside of the ghost layers of each block of a tensor."""
    import numpy

    array = numpy.from_dlpack(tensor)
    layers = [*ghost, (0, 0)]
    if order == "nzyx":
        layers.reverse()
    shapes = {tuple(map(sum, zip(view.shape, map(sum, layers), strict=True))) for view in views}
    if array.shape[:1] != (len(views),) or {array.shape[1:]} != shapes:
        raise CeedDimensionError(
            f"{what} is {array.shape}, for {len(views)} blocks of {' or '.join(map(str, shapes))}"
        )
    inside = tuple(slice(low, low + n) for (low, _), n in zip(layers, views[0].shape, strict=True))
    blocks = [block[inside] for block in array]
    for block, view in zip(blocks, views, strict=True):
        check_result(block, view.shape, view.dtype.name, what)
        if not view.flags.writeable:
            raise CeedAccessError("scatter refused: a block is read-only, or readers hold it")
    return blocks


def write_batches(batches: list[list[numpy.ndarray]], views: list[list[numpy.ndarray]]) -> None:
    """Copy the blocks of each batch into memory, in which they may lie themselves."""
    import numpy

    places = [view for group in views for view in group]
    apart = [
        numpy.array(blocks)
        if any(numpy.may_share_memory(blocks[0].base, place) for place in places)
        else blocks
        for blocks in batches
    ]
    for blocks, group in zip(apart, views, strict=True):
        for block, view in zip(blocks, group, strict=True):
            view[...] = block


def view(bracket: Bracket) -> numpy.ndarray:
    """Return an array over the memory of a bracket."""
    import numpy

    return numpy.asarray(memoryview(bracket))  # NumPy would swallow the error of a buffer


def empty(n: int, scalar: str) -> numpy.ndarray:
    """Return a new array for results of the C library, none for lengths that it refuses."""
    import numpy

    return numpy.empty(max(n, 0), scalar)


def from_numbers(x: Any, scalar: str) -> numpy.ndarray:
    """Return the numbers of a list as a new array; raise TypeError for anything else."""
    import numpy

    array = numpy.asarray(x)
    if array.size and array.dtype.kind not in "iuf":
        raise TypeError(f"a vector takes real numbers; these are {array.dtype}")
    numbers = array.astype(scalar)
    _check_integers(x, numbers)
    return numbers


def _check_integers(x: Any, numbers: numpy.ndarray) -> None:
    """Raise where an integer has been rounded; only from a bound on there are such."""
    import numpy

    bound = 2 / numpy.finfo(numbers.dtype).eps
    if not (numpy.abs(numbers) >= bound).any():
        return
    given = numpy.asarray(x, dtype=object).ravel().tolist()
    for value, number in zip(given, numbers.ravel().tolist(), strict=True):
        if isinstance(value, (int, numpy.integer)) and int(value) != number:
            raise CeedIncompatibleError(f"{value} would be rounded: {numbers.dtype} can't hold it")


def offsets(x: Any, num_elem: int, elem_size: int) -> numpy.ndarray:
    """Return the integers of x as a compact array of int32; raise where one does not fit."""
    import numpy

    array = numpy.asarray(x)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"offsets are integers of at most 64 bits; these are {array.dtype}")
    if array.size != num_elem * elem_size:
        raise CeedDimensionError(
            f"{num_elem} elements of {elem_size} nodes have {num_elem * elem_size} offsets, these "
            f"are {array.size}"
        )
    limits = numpy.iinfo(numpy.int32)
    wrong = numpy.flatnonzero((array < limits.min) | (array > limits.max))
    if wrong.size:
        place = numpy.unravel_index(wrong[0], (num_elem, elem_size))
        raise CeedDimensionError(
            f"offset {array.ravel()[wrong[0]]} of element {place[0]}, node {place[1]} does not fit "
            "in an int32"
        )
    return numpy.ascontiguousarray(array, numpy.int32)


def matrix(x: Any, shape: tuple[int, ...], scalar: str, name: str) -> numpy.ndarray:
    """Return the numbers of x as a compact array of as many entries as the shape has."""
    import numpy

    array = numpy.ascontiguousarray(from_numbers(x, scalar))
    if array.size != math.prod(shape):
        raise CeedDimensionError(f"{name} has {array.size} entries, not those of {shape}")
    return array


def copy_of(buffer: Any, dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return a copy of memory as an array."""
    import numpy

    return numpy.frombuffer(buffer, dtype).reshape(shape).copy()


def compact(x: Any, scalar: str) -> numpy.ndarray:
    """Return the entries of x in one axis, in a precision. Raises TypeError for complex ones."""
    import numpy

    if numpy.iscomplexobj(x):
        raise TypeError("operators are real: apply them to the real and the imaginary part")
    return numpy.ascontiguousarray(x, scalar).ravel()


def over(buffer: Any, scalar: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return an array over memory that lives while the caller uses it."""
    import numpy

    return numpy.frombuffer(buffer, scalar).reshape(shape)


def store(arrays: list[Any], views: list[numpy.ndarray]) -> None:
    """Copy arrays into memory, in which they may lie themselves, in another order."""
    import numpy

    apart = [
        numpy.array(array)
        if any(numpy.may_share_memory(array, v) for v in views if v is not view)
        else array
        for array, view in zip(map(numpy.asarray, arrays), views, strict=True)
    ]
    for array, view in zip(apart, views, strict=True):
        view[...] = array


def counted_view(library: Library, vector: Any, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return an array over the memory of the vector of a handle, which stays while it lives."""
    from ..vector import Vector

    address = int(library.ffi.cast("uintptr_t", vector))
    return Vector.from_handle(address)._array_read().reshape(shape)


def address_view(library: Library, vector: Any, shape: tuple[int, ...]) -> numpy.ndarray:
    """Return an array over the memory of the vector of a handle that does not count as one."""
    ffi = library.ffi
    size = math.prod(shape) * ffi.sizeof("CeedScalar")
    with library.lent("CeedVector", "ArrayRead", vector) as address:
        memory = memoryview(ffi.buffer(ffi.cast("char *", address), size))
    return over(memory.toreadonly(), library.scalar, shape)


def check_result(result: Any, shape: tuple[int, ...], scalar: str, what: str) -> None:
    """Raise where a result has another shape or another type."""
    if result.shape != shape:
        raise CeedDimensionError(f"{what} has shape {result.shape}, {shape} is wanted")
    if result.dtype != scalar:
        raise CeedIncompatibleError(f"{what} is {result.dtype}, {scalar} is wanted")


class Evaluator:
    """Calls a function of NumPy arrays with the memory of vectors."""

    def __init__(self, function: Callable[..., Any], scalar: str) -> None:
        self.function = function
        self.scalar = scalar

    def argument(self, library: Library, vector: Any, shape: tuple[int, ...]) -> numpy.ndarray:
        """Return a read-only array over the memory of the vector of a handle."""
        return counted_view(library, vector, shape)

    def call(self, arrays: list[numpy.ndarray], values: dict[str, Any]) -> Any:
        """Return the results of the function."""
        return self.function(*arrays, **values)

    def result(self, x: Any, shape: tuple[int, ...], what: str) -> numpy.ndarray:
        """Return a result that has this shape."""
        import numpy

        if numpy.ma.is_masked(x):
            raise CeedIncompatibleError(
                f"{what} has masked entries, which have no value: fill them"
            )
        array = numpy.asarray(x)
        check_result(array, shape, self.scalar, what)
        return array
