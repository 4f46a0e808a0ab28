# SPDX-License-Identifier: BSD-2-Clause
"""xarray: arrays over a fab whose coordinates are the solver's indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

    from ..fab import Fab
    from ..fab_view import Components, Region


def share(fab: Fab, region: Region, components: Components, order: str) -> xarray.DataArray:
    """Return an array that shares the memory of a region."""
    import xarray

    axes = fab._axes(region, components, order)
    return xarray.DataArray(
        fab.to_numpy(region, components, order),
        dims=[axis.name for axis in axes],
        coords={axis.name: range(axis.lo, axis.hi + 1) for axis in axes},
    )
