# SPDX-License-Identifier: BSD-2-Clause
"""matplotlib: the cells of MultiFabs, level upon level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._lib import CeedDimensionError
from ..box import Box

if TYPE_CHECKING:
    import matplotlib.cm
    import numpy

    from ..fab import Fab
    from ..multifab import MultiFab


def draw(
    mf: MultiFab,
    component: int | None,
    axes: Any,
    plane: Plane,
    outlines: bool,
    style: dict[str, Any],
) -> matplotlib.cm.ScalarMappable:
    """Draw the valid cells of a MultiFab; return what a colour bar is made of."""
    import matplotlib.pyplot

    axes = matplotlib.pyplot.gca() if axes is None else axes
    fabs = [fab for fab in mf if plane.meets(fab.box)]
    blocks = [plane.cells(fab, component) for fab in fabs]
    colours = _colours(style)
    colours.set_array(_together(blocks))
    colours.autoscale_None()
    for fab, block in zip(fabs, blocks, strict=True):
        edges = plane.edges(fab.box)
        _draw_block(axes, edges, block, colours, f"C{mf.level}", outlines)
    axes.autoscale_view()
    return colours


def draw_levels(
    levels: Sequence[MultiFab],
    planes: Sequence[Plane],
    component: int,
    axes: Any,
    outlines: bool,
    style: dict[str, Any],
) -> matplotlib.cm.ScalarMappable:
    """Draw levels over each other, in the same colours."""
    pairs = list(zip(levels, planes, strict=True))
    colours = _colours(style)
    colours.set_array(
        _together([
            plane.cells(fab, component)
            for level, plane in pairs for fab in level if plane.meets(fab.box)
        ])
    )  # fmt: skip
    colours.autoscale_None()
    style = {"norm": colours.norm, "cmap": colours.cmap}
    for level, plane in pairs:
        draw(level, component, axes, plane, outlines, style)
    return colours


def _colours(style: dict[str, Any]) -> matplotlib.cm.ScalarMappable:
    import matplotlib.cm
    import matplotlib.colors

    unknown = style.keys() - {"vmin", "vmax", "norm", "cmap"}
    if unknown:
        raise TypeError(f"{', '.join(unknown)}: what is set are vmin, vmax, norm and cmap")
    limits = matplotlib.colors.Normalize(style.get("vmin"), style.get("vmax"))
    return matplotlib.cm.ScalarMappable(style.get("norm") or limits, style.get("cmap"))


def _together(blocks: list[numpy.ndarray]) -> numpy.ndarray:
    import numpy

    return numpy.concatenate([block.ravel() for block in blocks] or [numpy.zeros(0)])


def _draw_block(
    axes: Any, edges: list[numpy.ndarray], block: numpy.ndarray, colours: Any, line: str,
    outlines: bool,
) -> None:  # fmt: skip
    if len(edges) == 1:
        axes.stairs(block, edges[0], baseline=None, color=line)
        return
    x, y = edges
    axes.pcolormesh(x, y, block.T, norm=colours.norm, cmap=colours.cmap)
    if outlines:
        from matplotlib.patches import Rectangle

        corner, width, height = (x[0], y[0]), x[-1] - x[0], y[-1] - y[0]
        axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=line, linewidth=0.5))


class Plane:
    """Which cells are drawn, and where: those of a slice, where there are three directions."""

    def __init__(
        self, hull: Box, normal: str, index: int | None, cell_size: Any, origin: Any
    ) -> None:
        if normal not in ("x", "y", "z"):
            raise CeedDimensionError(f"normal must be 'x', 'y' or 'z', not {normal!r}")
        self._cell_size = _each(cell_size, hull.dim, "cell_size")
        self._origin = _each(origin, hull.dim, "origin")
        self._normal = "xyz".index(normal) if hull.dim == 3 else None
        self._index = index
        if self._normal is not None:
            self._index = _inside(hull.lo[self._normal], hull.hi[self._normal], index, normal)
        self._shown = [i for i in range(hull.dim) if i != self._normal]

    def meets(self, box: Box) -> bool:
        """Return whether cells of a box are in the plane."""
        i = self._normal
        return i is None or box.lo[i] <= self._index <= box.hi[i]

    def cells(self, fab: Fab, component: int | None) -> numpy.ndarray:
        """Return the values of a block in the plane."""
        lo, hi = list(fab.box.lo), list(fab.box.hi)
        if self._normal is not None:
            lo[self._normal] = hi[self._normal] = self._index
        number = fab.component_base if component is None else component
        values = fab.to_numpy(Box(lo, hi, fab.box.centring), number)[..., 0]
        return values if self._normal is None else values.squeeze(self._normal)

    def edges(self, box: Box) -> list[numpy.ndarray]:
        """Return where the cells of a box begin and end; nodes are in the middle of theirs."""
        import numpy

        return [
            self._origin[i]
            + self._cell_size[i] * (numpy.arange(box.lo[i], box.hi[i] + 2) - box.centring[i] / 2)
            for i in self._shown
        ]


def _inside(lo: int, hi: int, index: int | None, normal: str) -> int:
    """Return the index of a slice: the middle where none is given."""
    if index is None:
        return (lo + hi) // 2
    if not lo <= index <= hi:
        raise CeedDimensionError(f"index {index} is outside of {normal}, which is {lo}..{hi}")
    return index


def _each(values: Any, dim: int, what: str) -> list[float]:
    values = list(values) if hasattr(values, "__len__") else [values] * dim
    if len(values) != dim or not all(math.isfinite(value) for value in values):
        raise CeedDimensionError(f"{what} is a number for each of {dim} directions, not {values}")
    return [float(value) for value in values]
