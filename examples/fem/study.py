# SPDX-License-Identifier: BSD-2-Clause
"""What the examples have in common: a solve with fixed values, and a study of convergence."""

import argparse
from collections.abc import Callable

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator, cg

import pyceedlike
from pyceedlike import Data, Interp, Mesh, Operator, Space

ORDERS = 1, 2, 3, 4


def solve(op: Operator, load: np.ndarray, values: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Return the u of op(u) = load, but with given values of the fixed entries."""
    free = np.setdiff1d(np.arange(len(load)), fixed)
    u = np.zeros(len(load))
    u[fixed] = values[fixed]
    pick = aslinearoperator(scipy.sparse.eye_array(len(load), format="csr")[free])
    inner = pick @ op.to_scipy() @ pick.T  # the rows and columns of the free entries
    jacobi = scipy.sparse.diags_array(1 / op.diagonal().to_numpy()[free])
    u[free], info = cg(inner, (load - op(u).to_numpy())[free], rtol=1e-12, M=jacobi)
    if info:
        raise RuntimeError(f"CG has not converged in {info} iterations")
    return u


def l2_error(space: Space, u: np.ndarray, exact: Callable) -> float:
    """Return the norm of u - exact in L2, integrated with two points a direction more."""
    fine = space.mesh.space(space.ceed, space.order, space.ncomp, space.q + 2)

    @space.ceed.qfunction(Interp(space.ncomp), Interp(2), Data(), squared=Data())
    def difference(u, x, dV):
        return ((u - exact(*x)) ** 2).sum(axis=0) * dV

    u = pyceedlike.Vector.from_dlpack(u)
    squared = fine.evaluate(difference, u=fine.field(u), x=fine.coordinates, dV=fine.geometry.dV)
    return squared.vector.to_numpy().sum() ** 0.5


def rates(name: str, error: Callable[[Mesh, int], float], paths: list[str]) -> bool:
    """Print the errors on meshes that are each twice as fine as the last, and the order found.

    Return whether it is at least p + 1, less a tenth for meshes that are still coarse. One mesh
    has no order.
    """
    good = True
    if len(paths) < 2:
        return good
    meshes = [Mesh.read(path) for path in paths]
    print(f"{name}: error in L2 on {', '.join(str(len(m.elements)) for m in meshes)} elements")
    for p in ORDERS:
        errors = [error(mesh, p) for mesh in meshes]
        rate = -np.polyfit(range(len(errors)), np.log2(errors), 1)[0]
        verdict = "good" if rate > p + 0.9 else "WRONG"
        good &= verdict == "good"
        print(f"  p = {p}: {' '.join(f'{e:.2e}' for e in errors)}, order {rate:.2f}: {verdict}")
    return good


def options(doc: str) -> argparse.Namespace:
    """Return the command line: the meshes, and a picture."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(
        "meshes",
        nargs="+",
        help="files of plate.py, the coarsest first; one is only solved and drawn",
    )
    parser.add_argument("--output", help="a picture of the solution")
    return parser.parse_args()


def draw(space: Space, colour: np.ndarray, nodes: np.ndarray, label: str, path: str) -> None:
    """Draw a field in colours, on nodes that may have moved, and the sides of the elements."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    cell, order = space.mesh.cell, space.order
    lattice = cell.lattice(order)
    place = {tuple(at): n for n, at in enumerate(lattice)}
    halves = (((0, 0), (1, 0), (0, 1)), ((1, 1), (0, 1), (1, 0)))
    corners = [[tuple(at + step) for step in half] for at in lattice for half in np.array(halves)]
    local = [[place[c] for c in half] for half in corners if all(c in place for c in half)]
    triangles = space.offsets[:, local].reshape(-1, 3)

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    image = axes.tripcolor(*nodes.T, triangles, colour, shading="gouraud")
    sides = space.offsets[:, cell.side_nodes(order)].reshape(-1, order + 1)
    axes.add_collection(LineCollection(nodes[sides], colors="k", linewidths=0.3, alpha=0.5))
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.colorbar(image, label=label, shrink=0.8)
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")
