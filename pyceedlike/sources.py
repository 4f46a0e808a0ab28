# SPDX-License-Identifier: BSD-2-Clause
"""Memory and values of what has no __dlpack__, as DLPack capsules."""

from typing import Any

from . import _exchange
from ._lib import CPU, CUDA, CeedCopyError, CeedIncompatibleError

#: Array interfaces, and DLPack's type of the device that their memory is on.
INTERFACES = {"__array_interface__": CPU, "__cuda_array_interface__": CUDA}


def capsule_of(x: Any, scalar: str | None, may_copy: bool) -> tuple[Any, str | None, int | None]:
    """Return a capsule over x, why its values must be copied, and the stream that wrote them.

    The last two are None where there is nothing to say. Tries the buffer protocol, then
    __array_interface__ and that of CUDA, then lists and numbers, which take the precision `scalar`.
    Raises TypeError, which names the type, for anything else.
    """
    try:
        return _exchange.borrow_buffer(x), None, None
    except TypeError:
        pass  # it has no buffer
    for name, device in INTERFACES.items():
        interface = getattr(x, name, None)
        if interface is not None:
            capsule = _borrow(x, name, interface, device)
            return capsule, None, interface.get("stream")
    if not isinstance(x, (list, tuple, range, int, float)):
        raise TypeError(
            f"{type(x).__name__} has no memory or values for a vector: it has neither __dlpack__, "
            "the buffer protocol nor __array_interface__, and is no list or number"
        )
    why = f"a {type(x).__name__} has no memory to share"
    if not may_copy:
        raise CeedCopyError(f"copy=False, but {why}; copy=None or copy=True copies its values")
    return _values(x, scalar or "float64"), why, None


def _borrow(x: Any, name: str, interface: Any, device: int) -> Any:
    what = f"{name} of {type(x).__name__}"
    if not isinstance(interface, dict) or not {"typestr", "shape", "data"} <= interface.keys():
        raise CeedIncompatibleError(f"{what} is no dict with typestr, shape and data")
    strides = interface.get("strides")
    return _exchange.borrow_address(
        (x, interface),  # the interface may hold what owns the memory, so it is kept, too
        *_data(what, interface),
        _item_size(what, interface["typestr"]),
        tuple(interface["shape"]),
        None if strides is None else tuple(strides),
        device,
    )


def _data(what: str, interface: dict[str, Any]) -> tuple[int, bool]:
    data = interface["data"]
    if not isinstance(data, tuple) or len(data) != 2 or interface.get("mask") is not None:
        raise CeedIncompatibleError(
            f"{what} has a mask, or data that is no pair of an address and a read-only flag"
        )
    address, read_only = data
    return address, bool(read_only)


def _item_size(what: str, typestr: str) -> int:
    sizes = {"<f8": 8, "=f8": 8, "<f4": 4, "=f4": 4}
    if not isinstance(typestr, str) or typestr not in sizes:
        raise CeedIncompatibleError(
            f"{what} holds {typestr!r}, a vector holds native float64 ('<f8') or float32 ('<f4'): "
            "convert it first"
        )
    return sizes[typestr]


def _values(x: Any, scalar: str) -> Any:
    from .interop.numpy import from_numbers

    return from_numbers(x, scalar).__dlpack__(max_version=(1, 0))
