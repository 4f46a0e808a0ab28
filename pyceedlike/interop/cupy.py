# SPDX-License-Identifier: BSD-2-Clause
"""CuPy: arrays on a device of the values of a fab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lib import HOST, CeedCopyError
from .numpy import share_part as share_on_host

if TYPE_CHECKING:
    import cupy

    from ..fab import Fab
    from ..fab_view import FabView


def share_part(part: Fab | FabView, copy: bool | None) -> cupy.ndarray:
    """Return an array of a fab's part; of host memory, a copy on the device."""
    import cupy

    if part.__dlpack_device__()[0] not in HOST:
        return cupy.from_dlpack(part) if not copy else cupy.from_dlpack(part).copy()
    why = "CuPy has its arrays on a device, and this memory is the host's"
    if copy is False:
        raise CeedCopyError(f"copy=False, but {why}; copy=None or copy=True copies it")
    array = cupy.asarray(share_on_host(part, None))
    part._note_copy(why)
    return array
