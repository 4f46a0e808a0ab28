# SPDX-License-Identifier: BSD-2-Clause
"""meshio: meshes of files, as the tables that Mesh is made of."""

from __future__ import annotations

import contextlib
import io
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._lib import (
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_QUAD,
    TOPOLOGY_TET,
    TOPOLOGY_TRIANGLE,
    CeedDimensionError,
    CeedIncompatibleError,
)

if TYPE_CHECKING:
    import os

    import meshio
    import numpy

# Topology, order, and the places of the nodes on the lattice in meshio's order, which is VTK's.
CELLS = {
    "line": (TOPOLOGY_LINE, 1, "0 1"),
    "line3": (TOPOLOGY_LINE, 2, "0 2 1"),
    "triangle": (TOPOLOGY_TRIANGLE, 1, "00 10 01"),
    "triangle6": (TOPOLOGY_TRIANGLE, 2, "00 20 02 10 11 01"),
    "quad": (TOPOLOGY_QUAD, 1, "00 10 11 01"),
    "quad9": (TOPOLOGY_QUAD, 2, "00 20 22 02 10 21 12 01 11"),
    "tetra": (TOPOLOGY_TET, 1, "000 100 010 001"),
    "tetra10": (TOPOLOGY_TET, 2, "000 200 020 002 100 110 010 001 101 011"),
    "hexahedron": (TOPOLOGY_HEX, 1, "000 100 110 010 001 101 111 011"),
    "hexahedron27": (
        TOPOLOGY_HEX,
        2,
        "000 200 220 020 002 202 222 022 100 210 120 010 102 212 122 012 001 201 221 021 "
        "011 211 101 121 110 112 111",
    ),
}
VERTICES = {TOPOLOGY_LINE: 1, TOPOLOGY_QUAD: 2, TOPOLOGY_HEX: 4}
VERTICES |= {TOPOLOGY_TRIANGLE: 2, TOPOLOGY_TET: 3}  # of a side


def read(path: str | os.PathLike) -> meshio.Mesh:
    """Return what meshio reads; raise where it would end the program."""
    import meshio

    pathlib.Path(path).stat()
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return meshio.read(path)
    except (Exception, SystemExit) as error:  # of any kind, for a file that is not what it says
        text = " ".join(said.getvalue().split()) or f"{type(error).__name__}: {error}"
        raise CeedIncompatibleError(f"meshio can't read {str(path)!r}: {text}") from error


def tables(mesh: meshio.Mesh) -> dict[str, Any]:
    """Return the arguments of Mesh: nodes, elements, their kind, and the named groups."""
    import meshio
    import numpy

    if not isinstance(mesh, meshio.Mesh):
        raise TypeError(
            f"a meshio.Mesh is wanted here, not {type(mesh).__name__}: Mesh.read(path) reads a file"
        )
    kind, dim = _kind(mesh)
    topology, order, places = CELLS[kind]
    ours = sorted(range(len(places.split())), key=lambda n: places.split()[n][::-1])
    elements = numpy.concatenate([b.data for b in mesh.cells if b.dim == dim])[:, ours]
    used, elements = numpy.unique(elements, return_inverse=True)
    wrong = used[(used < 0) | (used >= len(mesh.points))]
    if wrong.size:
        raise CeedDimensionError(
            f"the mesh has cells of the node {wrong[0]}, of {len(mesh.points)} that there are"
        )
    number = numpy.full(len(mesh.points), -1)
    number[used] = numpy.arange(len(used))
    before = numpy.cumsum([0, *(len(b.data) * (b.dim == dim) for b in mesh.cells)])

    regions: dict[str, list] = {}
    boundaries: dict[str, list] = {}
    for name, block, cells in _groups(mesh):
        if mesh.cells[block].dim == dim:
            regions.setdefault(name, []).append(before[block] + cells)
        elif mesh.cells[block].dim == dim - 1:
            sides = mesh.cells[block].data[cells, : VERTICES[topology]]
            boundaries.setdefault(name, []).append(number[sides])
    return {
        "nodes": _flat(numpy.asarray(mesh.points)[used], dim, kind),
        "elements": elements.reshape(-1, len(ours)),
        "topology": topology,
        "order": order,
        "regions": {name: numpy.concatenate(cells) for name, cells in regions.items()},
        "boundaries": {name: numpy.concatenate(sides) for name, sides in boundaries.items()},
    }


def _kind(mesh: meshio.Mesh) -> tuple[str, int]:
    """Return the one kind of the cells of the highest dimension, and this dimension."""
    blocks = [block for block in mesh.cells if len(block.data)]
    dim = max((block.dim for block in blocks), default=0)
    kinds = sorted({block.type for block in blocks if block.dim == dim})
    if not dim:
        raise CeedIncompatibleError("the mesh has no elements: no cells but points")
    if len(kinds) > 1:
        raise CeedIncompatibleError(
            f"the mesh has cells of {len(kinds)} kinds, {' and '.join(kinds)}; a Mesh has one: "
            "mesh with one kind, as Gmsh's Mesh.RecombineAll with Mesh.SubdivisionAlgorithm does"
        )
    if kinds[0] not in CELLS:
        raise CeedIncompatibleError(
            f"the mesh has {kinds[0]} cells; elements are {', '.join(CELLS)}"
        )
    return kinds[0], dim


def _groups(mesh: meshio.Mesh) -> Iterator[tuple[str, int, numpy.ndarray]]:
    """Yield the groups that have names: name, block of cells, and which of its cells."""
    import numpy

    for name, parts in mesh.cell_sets.items():
        if not name.startswith("gmsh:"):
            for block, cells in enumerate(parts):
                if cells is not None and len(cells):
                    yield name, block, numpy.asarray(cells, int)
    for name, (tag, dim) in mesh.field_data.items():
        for block, tags in enumerate(mesh.cell_data.get("gmsh:physical", [])):
            if name not in mesh.cell_sets and mesh.cells[block].dim == dim and tag in tags:
                yield name, block, numpy.flatnonzero(tags == tag)


def _flat(points: numpy.ndarray, dim: int, kind: str) -> numpy.ndarray:
    """Return as many coordinates as the elements have directions; the others must not vary."""
    for axis in range(dim, points.shape[1]):
        if (points[:, axis] != points[0, axis]).any():
            raise CeedIncompatibleError(
                f"the elements are {kind} cells, and their nodes vary along {'xyz'[axis]}: curves "
                "and surfaces in space are not supported. Gmsh leaves out what is in no physical "
                f"group where there are some: put the {('surface', 'volume')[dim - 1]} in one, too"
            )
    return points[:, :dim]
