# SPDX-License-Identifier: BSD-2-Clause
"""Mesh a plate with a hole by Gmsh, in finer and finer quads or triangles."""

import argparse
import sys
from pathlib import Path

import gmsh


def write(folder: Path, kind: str = "quad", order: int = 1, levels: int = 3) -> list[Path]:
    """Write plate-0.msh, plate-1.msh, ...: each has the elements of the last, cut in four.

    The plate is [0, 2] x [0, 1], the hole a circle. Its sides are called edge and hole.
    """
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("Mesh.MeshSizeFactor", 4 if kind == "quad" else 2)
    if kind == "quad":  # cut out of triangles of twice the size
        gmsh.option.setNumber("Mesh.RecombineAll", 1)
        gmsh.option.setNumber("Mesh.SubdivisionAlgorithm", 1)
    shapes = gmsh.model.occ
    plate, hole = shapes.addRectangle(0, 0, 0, 2, 1), shapes.addDisk(0.8, 0.5, 0, 0.2, 0.2)
    shapes.cut([(2, plate)], [(2, hole)])
    shapes.synchronize()
    curves = {tag for _, tag in gmsh.model.getEntities(1)}
    straight = {tag for tag in curves if gmsh.model.getType(1, tag) == "Line"}
    gmsh.model.addPhysicalGroup(1, list(curves - straight), name="hole")
    gmsh.model.addPhysicalGroup(1, list(straight), name="edge")
    gmsh.model.addPhysicalGroup(2, [tag for _, tag in gmsh.model.getEntities(2)], name="plate")
    gmsh.model.mesh.generate(2)
    paths = [folder / f"plate-{level}.msh" for level in range(levels)]
    for path in paths:
        gmsh.model.mesh.setOrder(order)
        gmsh.write(str(path))
        gmsh.model.mesh.setOrder(1)
        gmsh.model.mesh.refine()
    gmsh.finalize()
    return paths


def main() -> int:
    """Write the meshes and say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--kind", choices=["quad", "triangle"], default="quad")
    parser.add_argument("--order", type=int, choices=[1, 2], default=1, help="2: with curved sides")
    parser.add_argument("--levels", type=int, default=3)
    print(*write(**vars(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
