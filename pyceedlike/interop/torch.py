# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch: tensors that share the memory of a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lib import CeedAccessError

if TYPE_CHECKING:
    import torch

    from ..vector import Vector


def share(vector: Vector) -> torch.Tensor:
    """Return a tensor over memory that may be written, for PyTorch does not heed read-only."""
    import torch

    with memoryview(vector) as memory:
        if memory.readonly:
            raise CeedAccessError(
                "this memory is read-only or leased to readers, and PyTorch would write to it: "
                "copy it first, as in torch.tensor(vector.to_numpy())"
            )
    return torch.from_dlpack(vector)
