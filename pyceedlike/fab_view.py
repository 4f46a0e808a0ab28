# SPDX-License-Identifier: BSD-2-Clause
"""Which part of a fab is meant, and views of such parts."""

from __future__ import annotations

from ._exchange import FabViewBase
from ._lib import LIBRARIES, CeedIncompatibleError
from .box import Box

_lib = LIBRARIES["float64"].lib
ORDERS = {"xyzn": _lib.CEED_ORDER_XYZN, "nzyx": _lib.CEED_ORDER_NZYX}
REGIONS = {
    "whole": _lib.CEED_REGION_WHOLE,
    "valid": _lib.CEED_REGION_VALID,
    "interior": _lib.CEED_REGION_INTERIOR,
}
Region = str | Box | tuple[int, ...]  # a name, a box, or the side that ghost cells are on
Components = int | slice | range | None


def order_of(name: str) -> int:
    """Return the constant of an order of axes."""
    if name not in ORDERS:
        raise CeedIncompatibleError(f"order must be 'xyzn' or 'nzyx', not {name!r}")
    return ORDERS[name]


def is_whole(region: Region) -> bool:
    """Return whether a region is the whole block, by its name."""
    return isinstance(region, str) and region == "whole"


class FabView(FabViewBase):
    """A part of a fab: a region, components and an order of axes, over the fab's memory.

    Made by fab.view(). Taken by any library, as the fab is. It is of the fab as it was when the
    view was made: when the fab gets another box or other memory the view is stale, which is_stale
    says, and gives no more arrays.

    >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]), ghost=1)
    >>> fab.set_value(1.0)
    >>> left = fab.view((-1,))
    >>> left
    <pyceedlike.FabView of Box((-3,), (-3,)), components 0..0, xyzn>
    >>> fab.resize(pyceedlike.Box([0], [3]))
    >>> left.is_stale
    True
    """

    __slots__ = ("__weakref__",)

    @property
    def box(self) -> Box:
        """The box of the view."""
        return Box._of(LIBRARIES["float64"].ffi.cast("CeedBox *", self._part[0])[0])

    @property
    def components(self) -> range:
        """The numbers of its components."""
        _, first, count, _ = self._part
        return range(first, first + count)

    @property
    def order(self) -> str:
        """The order of its axes: "xyzn" or "nzyx"."""
        return ("xyzn", "nzyx")[self._part[3]]

    def __repr__(self) -> str:
        numbers = f"{self.components.start}..{self.components.stop - 1}"
        stale = ", stale" * self.is_stale
        return f"<pyceedlike.FabView of {self.box!r}, components {numbers}, {self.order}{stale}>"
