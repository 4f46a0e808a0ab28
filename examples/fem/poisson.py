# SPDX-License-Identifier: BSD-2-Clause
"""Solve Poisson's equation on meshes of Gmsh, and find the order of convergence.

-div grad u = f on a plate with a hole, u given on its sides; f is such that u is known. The physics
is the gallery's C, the source is NumPy; SciPy's CG solves through the operator, without a matrix.
The program fails (exit code 1) unless the error in L2 falls as h^(p + 1) at each order p.
"""

import sys

import numpy as np
from study import draw, l2_error, options, rates, solve

import pyceedlike
from pyceedlike import Data, Interp, Mesh, Space


def exact(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the solution; -div grad of it is 13 times itself."""
    return np.sin(2 * x + 1) * np.cos(3 * y)


def poisson(mesh: Mesh, order: int) -> tuple[Space, np.ndarray]:
    """Return the space of an order, and the solution in it."""
    ceed = pyceedlike.Ceed()
    space = mesh.space(ceed, order)

    qdata = space.evaluate(ceed.QFunctionByName("Poisson2DBuild"), dx=space.coordinates)
    stiffness = space.operator(ceed.QFunctionByName("Poisson2DApply"), qdata=qdata)

    @ceed.qfunction(Interp(2), Data(), v=Interp())
    def source(x, dV):
        return 13 * exact(*x) * dV

    load = space.operator(source, x=space.coordinates, dV=space.geometry.dV)
    fixed = space.boundary("edge", "hole")
    return space, solve(stiffness, load().to_numpy(), exact(*space.nodes.T), fixed)


def error(mesh: Mesh, order: int) -> float:
    """Return the error of the solution in L2."""
    return l2_error(*poisson(mesh, order), exact)


def main() -> int:
    """Find the orders, and draw a solution."""
    chosen = options(__doc__)
    good = rates("Poisson", error, chosen.meshes)
    if chosen.output:
        space, u = poisson(Mesh.read(chosen.meshes[0]), 4)
        draw(space, u, space.nodes, "u", chosen.output)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
