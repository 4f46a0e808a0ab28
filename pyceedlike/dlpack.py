# SPDX-License-Identifier: BSD-2-Clause
"""The functions of the exchange that belong to no object."""

from typing import Any

from . import _exchange
from .vector import Vector


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Vector:
    """Return a vector over the memory of x, in the precision that x has (array API standard).

    device is None, "cpu" or (1, 0). The memory is shared unless copy is True; copy=None copies what
    can't be shared, and `.exchange` says why. Raises CeedCopyError where copy=False would need a
    copy, CeedIncompatibleError for other types than float64 and float32, and for other devices.

    >>> a = np.zeros(2)
    >>> v = pyceedlike.from_dlpack(a)
    >>> v.set_value(7.0)
    >>> a
    array([7., 7.])
    """
    return Vector.from_dlpack(x, device=device, copy=copy)


def describe(x: Any) -> str:
    """Return what the DLPack tensor of x says of itself, for a person; x keeps its memory.

    Raises TypeError when x has no __dlpack__, and what its __dlpack__ raises.

    >>> print(pyceedlike.describe(np.zeros(3, "float32")))  # doctest: +ELLIPSIS
    DLPack tensor, version 1.0
    ...
      type:       float32 (2, 32, 1)
    ...
    """
    method = getattr(x, "__dlpack__", None)
    if method is None:
        raise TypeError(f"{type(x).__name__} has no __dlpack__")
    try:
        capsule = method(max_version=(1, 3))
    except TypeError:  # a producer from before versions
        capsule = method()
    return _exchange.describe(capsule)
