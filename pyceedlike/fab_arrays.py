# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of other libraries over the memory of a fab, or of a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._lib import HOST
from .fab_view import Components, FabView, Region, is_whole

if TYPE_CHECKING:
    import cupy
    import jax
    import numpy
    import torch
    import xarray

    from .fab import Fab


class Arrays:
    """What a fab gives to each library; a region, components and an order are those of view()."""

    __slots__ = ()

    view: Any
    _note: Any
    __dlpack_device__: Any

    def _part(self, region: Region, components: Components, order: str) -> Fab | FabView:
        """Return what to share: the fab itself is the quickest to make an array of."""
        if is_whole(region) and components is None and order == "xyzn":
            return self
        return self.view(region, components, order)

    def to_numpy(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> numpy.ndarray:
        """Return a NumPy array of a region, which shares the memory unless copy is True.

        It counts from 0 in each axis, and from the end where an index is negative, as all arrays of
        NumPy; solver indices are those of fab.at.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2, 0], [5, 3]), ncomp=3)
        >>> fab.set_value(1.0)
        >>> fab.to_numpy(order="nzyx").shape
        (3, 4, 8)
        """
        from .interop.numpy import share_part

        return self._noting(share_part, region, components, order, copy)

    def to_torch(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> torch.Tensor:
        """Return a PyTorch tensor of a region, which shares the memory.

        PyTorch writes to what is read-only: such memory is copied, and copy=False is an error then.
        """
        from .interop.torch import share_part

        return self._noting(share_part, region, components, order, copy)

    def to_jax(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> jax.Array:
        """Return a JAX array of a region.

        It shares a whole block, under a read lease: nobody writes while the array lives. JAX shares
        no memory with gaps, so a part of a block is a compact copy, and fab.exchange says so;
        copy=False is an error then. Raises CeedIncompatibleError when JAX would turn float64 into
        float32, CeedAccessError while writable views live.
        """
        from .interop.jax import share_part

        return self._noting(share_part, region, components, order, copy)

    def to_cupy(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> cupy.ndarray:
        """Return a CuPy array of a region; what lies in host memory is copied to the device."""
        from .interop.cupy import share_part

        return self._noting(share_part, region, components, order, copy)

    def to_xp(
        self,
        region: Region = "whole",
        components: Components = None,
        order: str = "xyzn",
        copy: bool | None = None,
    ) -> Any:
        """Return an array of the library for the place of the memory: NumPy or CuPy."""
        to = self.to_numpy if self.__dlpack_device__()[0] in HOST else self.to_cupy
        return to(region, components, order, copy)

    def _noting(
        self, share: Any, region: Region, components: Components, order: str, copy: bool | None
    ) -> Any:
        part = self._part(region, components, order)
        array = share(part, copy)
        if part is not self:
            self._note(part)
        return array

    def to_xarray(
        self, region: Region = "whole", components: Components = None, order: str = "xyzn"
    ) -> xarray.DataArray:
        """Return an xarray.DataArray that shares the memory, with solver indices as coordinates.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2], [5]))
        >>> fab.set_value(1.0)
        >>> float(fab.to_xarray().sel(x=slice(-2, 0)).sum())
        3.0
        """
        from .interop.xarray import share

        return share(self, region, components, order)
