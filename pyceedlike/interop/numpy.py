# SPDX-License-Identifier: BSD-2-Clause
"""NumPy: arrays over vectors, and the values of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._lib import CeedIncompatibleError

if TYPE_CHECKING:
    import numpy

    from .._exchange import Bracket
    from ..vector import Vector


def share(vector: Vector) -> numpy.ndarray:
    """Return an array that shares the vector's memory."""
    import numpy

    return numpy.from_dlpack(vector)


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
