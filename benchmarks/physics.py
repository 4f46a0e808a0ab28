# SPDX-License-Identifier: BSD-2-Clause
"""The physics that benchmarks measure, each for NumPy, numba, JAX and C: mass and neo-Hookean.

Neo-Hookean is the first Piola-Kirchhoff stress of the displacement gradient H with unit Lamé
parameters, P = F - F^-T + log(det F) F^-T with F = I + H, times the quadrature weight.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pyceedlike
from pyceedlike import Data, Grad, Interp

#: Inputs and outputs of each.
FIELDS = {
    "mass": ((Interp(), Data()), {"v": Interp()}),
    "neo-Hookean": ((Grad(3, 3), Data()), {"v": Grad(3, 3)}),
}


def mass(u: Any, weight: Any) -> Any:
    """v[i] = weight[i] * u[i];"""  # noqa: D400 - C code
    return weight * u


def neo_hookean(xp: Any) -> Callable[[Any, Any], Any]:
    """Return the stress in NumPy or jax.numpy."""

    def stress(u: Any, weight: Any) -> Any:
        f = [[u[i, j] + (i == j) for j in range(3)] for i in range(3)]
        rows = [(1, 2), (2, 0), (0, 1)]
        cofactor = [[f[a][c] * f[b][d] - f[a][d] * f[b][c] for c, d in rows] for a, b in rows]
        det = sum(f[0][j] * cofactor[0][j] for j in range(3))
        factor = (xp.log(det) - 1) / det
        return xp.stack(
            [
                xp.stack([weight * (f[i][j] + factor * cofactor[i][j]) for j in range(3)])
                for i in range(3)
            ]
        )

    return stress


def neo_hookean_by_points(u: Any, weight: Any) -> Any:
    """
    CeedScalar f[3][3], c[3][3];
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < 3; b++) f[a][b] = u[a][b][i] + (a == b);
    }
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < 3; b++) {
        c[a][b] = f[(a + 1) % 3][(b + 1) % 3] * f[(a + 2) % 3][(b + 2) % 3] -
                  f[(a + 1) % 3][(b + 2) % 3] * f[(a + 2) % 3][(b + 1) % 3];
      }
    }
    CeedScalar det = f[0][0] * c[0][0] + f[0][1] * c[0][1] + f[0][2] * c[0][2];
    CeedScalar factor = (log(det) - 1) / det;
    for (int a = 0; a < 3; a++) {
      for (int b = 0; b < 3; b++) v[a][b][i] = weight[i] * (f[a][b] + factor * c[a][b]);
    }
    """  # noqa: D205, D400 - C code
    v, f, c = np.empty_like(u), np.empty((3, 3)), np.empty((3, 3))
    for point in range(u.shape[2]):
        for a in range(3):
            for b in range(3):
                f[a, b] = u[a, b, point] + (a == b)
        for a in range(3):
            for b in range(3):
                c[a, b] = (
                    f[(a + 1) % 3, (b + 1) % 3] * f[(a + 2) % 3, (b + 2) % 3]
                    - f[(a + 1) % 3, (b + 2) % 3] * f[(a + 2) % 3, (b + 1) % 3]
                )
        det = f[0, 0] * c[0, 0] + f[0, 1] * c[0, 1] + f[0, 2] * c[0, 2]
        factor = (math.log(det) - 1) / det
        for a in range(3):
            for b in range(3):
                v[a, b, point] = weight[point] * (f[a, b] + factor * c[a, b])
    return v


def functions(physics: str) -> dict[str, Callable[[Any, Any], Any]]:
    """Return what is written for each engine that is installed."""
    found = {"c": mass, "numpy": mass, "numba": mass, "jax": mass}
    if physics != "mass":
        found = dict.fromkeys(("c", "numba"), neo_hookean_by_points) | {"numpy": neo_hookean(np)}
    try:
        import jax
    except ImportError:
        return {name: f for name, f in found.items() if name != "jax"}
    jax.config.update("jax_enable_x64", True)
    return found if physics == "mass" else found | {"jax": neo_hookean(jax.numpy)}


def qfunction(ceed: pyceedlike.Ceed, physics: str, engine: str) -> pyceedlike.QFunction:
    """Return the QFunction of a physics by an engine."""
    inputs, outputs = FIELDS[physics]
    return ceed.qfunction(*inputs, engine=engine, **outputs)(functions(physics)[engine])
