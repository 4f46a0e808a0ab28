# SPDX-License-Identifier: BSD-2-Clause
"""The physics, in JAX: -div (1 + a u^2) grad u = f, where f is such that u is known."""

import jax.numpy as jnp
import numpy as np

from pyceedlike import Ceed, Grad, Interp, QFunction, Weight, native

INPUTS = [Interp(), Grad(2), Interp(2), Grad(2, 2), Weight()]


def exact(x, y):
    """Return the solution."""
    return np.sin(x + 2 * y)


@native.qfunction(*INPUTS, v=Interp(), dv=Grad(2))
def diffusion(u, du, x, dx, w, *, a=1.0):
    """Return what a test function and its derivatives are multiplied by, at one point."""
    s, c = jnp.sin(x[0] + 2 * x[1]), jnp.cos(x[0] + 2 * x[1])
    f = 5 * ((1 + a * s * s) * s - 2 * a * s * c * c)
    inverse, dV = native.inv(dx), w * jnp.linalg.det(dx)
    flux = (1 + a * u * u) * (inverse @ du)
    return -f * dV, inverse.T @ flux * dV


def qfunctions(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of the residual and of its Jacobian, which JAX derives."""
    return diffusion.qfunction(ceed), diffusion.jvp(of=["u", "du"]).qfunction(ceed)
