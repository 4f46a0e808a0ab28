# SPDX-License-Identifier: BSD-2-Clause
"""The physics of laws.py in NumPy, which numba compiles for blocks of points."""

import numba
import numpy as np
from laws import INPUTS

from pyceedlike import Ceed, Grad, Interp, QFunction, Weight

AT = [Interp(), Grad(2), Interp(), Grad(2), Grad(2, 2), Weight()]


@numba.njit
def geometry(dx, w):
    """Return the inverse of the Jacobian, by rows, and the volume of each point."""
    det = dx[0, 0] * dx[1, 1] - dx[0, 1] * dx[1, 0]
    return dx[1, 1] / det, -dx[0, 1] / det, -dx[1, 0] / det, dx[0, 0] / det, w * det


def diffusion(u, du, x, dx, w, *, a=1.0):
    """Return what test functions and their derivatives are multiplied by, at all points."""
    s, c = np.sin(x[0] + 2 * x[1]), np.cos(x[0] + 2 * x[1])
    f = 5 * ((1 + a * s * s) * s - 2 * a * s * c * c)
    xx, xy, yx, yy, dV = geometry(dx, w)
    k = (1 + a * u * u) * dV
    flux = k * (xx * du[0] + xy * du[1]), k * (yx * du[0] + yy * du[1])
    return -f * dV, np.stack((xx * flux[0] + yx * flux[1], xy * flux[0] + yy * flux[1]))


def slope(u, du, u_at, du_at, dx, w, *, a=1.0):
    """Return the derivative along u at a state."""
    xx, xy, yx, yy, dV = geometry(dx, w)
    k, dk = (1 + a * u_at * u_at) * dV, 2 * a * u_at * u * dV
    first, second = k * du[0] + dk * du_at[0], k * du[1] + dk * du_at[1]
    flux = xx * first + xy * second, yx * first + yy * second
    return 0 * u, np.stack((xx * flux[0] + yx * flux[1], xy * flux[0] + yy * flux[1]))


def qfunctions(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of the residual and of its Jacobian, which is derived by hand."""
    pairs = (INPUTS, diffusion), (AT, slope)
    return tuple(
        ceed.qfunction(*inputs, engine="numba", v=Interp(), dv=Grad(2))(function)
        for inputs, function in pairs
    )
