# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch: tensors that share the memory of a vector or of a fab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._exchange import examine
from .._lib import CeedAccessError, CeedCopyError

if TYPE_CHECKING:
    import numpy
    import torch

    from ..fab import Fab
    from ..fab_view import FabView
    from ..vector import Vector

READ_ONLY = 1  # DLPack's flag


def _is_read_only(owner: Vector | Fab | FabView) -> bool:
    _, flags, *_ = examine(owner)
    return bool(flags & READ_ONLY)


def share(vector: Vector) -> torch.Tensor:
    """Return a tensor over memory that may be written, for PyTorch does not heed read-only."""
    import torch

    if _is_read_only(vector):
        raise CeedAccessError(
            "this memory is read-only or leased to readers, and PyTorch would write to it: "
            "copy it first, as in torch.tensor(vector.to_numpy())"
        )
    return torch.from_dlpack(vector)


def share_part(part: Fab | FabView, copy: bool | None) -> torch.Tensor:
    """Return a tensor of a fab's part: of memory that may not be written, a copy."""
    import torch

    read_only = _is_read_only(part)
    if read_only and copy is False:
        raise CeedCopyError(
            "copy=False, but this memory is read-only or leased to readers, and PyTorch would "
            "write to it"
        )
    if copy or read_only:
        return torch.from_dlpack(part.to_dlpack(copy=True))
    return torch.from_dlpack(part)


def index(tensor: torch.Tensor, places: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an index that means in PyTorch what this one means in NumPy.

    PyTorch steps forwards only, and sorts axes otherwise where integers stand beside arrays: there
    every entry is named.
    """
    import numpy
    import torch

    kinds = {type(place) for place in places}
    backwards = any(place.step < 0 for place in places if isinstance(place, slice))
    if not backwards and not {int, numpy.ndarray} <= kinds:
        return places
    entries = [numpy.broadcast_to(numbers, tensor.shape)[places] for numbers in _numbers(tensor)]
    return tuple(torch.from_numpy(numpy.ascontiguousarray(numbers)) for numbers in entries)


def _numbers(tensor: torch.Tensor) -> Iterator[numpy.ndarray]:
    """Return the positions along each axis, in that axis."""
    import numpy

    for axis, length in enumerate(tensor.shape):
        yield numpy.arange(length).reshape(-1, *(1,) * (tensor.ndim - axis - 1))
