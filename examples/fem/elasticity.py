# SPDX-License-Identifier: BSD-2-Clause
"""Solve linear elasticity on meshes of Gmsh, and find the order of convergence.

-div stress = f in plane strain on a plate with a hole, the displacement given on its sides; f is
such that it is known. The physics is a NumPy function of the gradients in space; SciPy's CG solves
through the operator. The program fails (exit code 1) unless the error in L2 falls as h^(p + 1) at
each order p.
"""

import sys

import numpy as np
from study import draw, l2_error, options, rates, solve

import pyceedlike
from pyceedlike import Data, Grad, Interp, Mesh, Space

LAMBDA, MU = 2.0, 1.0


def exact(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the displacement, the gradient of a function whose Laplacian is -13 times itself."""
    return 0.02 * np.array(
        [2 * np.cos(2 * x + 1) * np.cos(3 * y), -3 * np.sin(2 * x + 1) * np.sin(3 * y)]
    )


def elastic(du, dXdx, dV, *, lam=LAMBDA, mu=MU):
    """Return what the derivatives of a test function are multiplied by: the stress, pulled back."""
    grad = np.einsum("idq,icq->cdq", dXdx, du)  # of component c along x_d
    stress = mu * (grad + grad.swapaxes(0, 1))
    stress[[0, 1], [0, 1]] += lam * (grad[0, 0] + grad[1, 1])
    return np.einsum("idq,cdq->icq", dXdx, stress) * dV


def elasticity(mesh: Mesh, order: int) -> tuple[Space, np.ndarray]:
    """Return the space of an order, and the displacement in it."""
    ceed = pyceedlike.Ceed()
    space = mesh.space(ceed, order, ncomp=2)
    geometry = space.geometry

    physics = ceed.qfunction(Grad(2, 2), Data(2, 2), Data(), dv=Grad(2, 2))(elastic)
    stiffness = space.operator(physics, dXdx=geometry.dXdx, dV=geometry.dV)

    @ceed.qfunction(Interp(2), Data(), v=Interp(2))
    def source(x, dV):
        return 13 * (LAMBDA + 2 * MU) * exact(*x) * dV

    load = space.operator(source, x=space.coordinates, dV=geometry.dV)
    nodes = space.boundary("edge", "hole")
    fixed = np.concatenate([nodes, nodes + len(space.nodes)])  # of both components
    return space, solve(stiffness, load().to_numpy(), exact(*space.nodes.T).ravel(), fixed)


def error(mesh: Mesh, order: int) -> float:
    """Return the error of the displacement in L2."""
    return l2_error(*elasticity(mesh, order), exact)


def main() -> int:
    """Find the orders, and draw the plate as it is deformed."""
    chosen = options(__doc__)
    good = rates("elasticity", error, chosen.meshes)
    if chosen.output:
        space, u = elasticity(Mesh.read(chosen.meshes[0]), 4)
        u = u.reshape(2, -1)
        draw(space, np.hypot(*u), space.nodes + u.T, "displacement", chosen.output)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
