# SPDX-License-Identifier: BSD-2-Clause
"""Solve a nonlinear equation by Newton's method, its physics in NumPy, numba, JAX and C in turn.

-div (1 + u^2) grad u = f on the unit square, u given on its sides; f is such that u is known. Each
language has a QFunction for the residual and one for its Jacobian, which JAX derives by itself.
The program fails (exit code 1) unless all take the same steps to the same answer, and that is the
solution.
"""

import sys
from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from pyceedlike import (
    Ceed,
    Data,
    Grad,
    Interp,
    Mesh,
    QFunction,
    Space,
    Vector,
)

# What a QFunction of the residual has: u, du and the metric; dv is what comes out. That of the
# Jacobian gets the same of a direction, and the state that it is the derivative at.
RESIDUAL = [Interp(), Grad(2), Data(3)]
JACOBIAN = [Interp(), Grad(2), Data(3), Interp(), Grad(2)]

# ---- NumPy ---------------------------------------------------------------------------------------


def flux(u, du, qdata):
    """Return (1 + u^2) times the metric times du; qdata is the metric's 11, 22, 12."""
    xx, yy, xy = qdata
    return (1 + u * u) * np.stack((xx * du[0] + xy * du[1], xy * du[0] + yy * du[1]))


def slope(u, du, qdata, state, dstate):
    """Return the derivative of the flux at a state, along u."""
    xx, yy, xy = qdata
    x = (1 + state * state) * du[0] + 2 * state * u * dstate[0]
    y = (1 + state * state) * du[1] + 2 * state * u * dstate[1]
    return np.stack((xx * x + xy * y, xy * x + yy * y))


def by_numpy(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of NumPy functions, which are called with all points at once."""
    make = ceed.qfunction
    return make(*RESIDUAL, dv=Grad(2))(flux), make(*JACOBIAN, dv=Grad(2))(slope)


# ---- JAX -----------------------------------------------------------------------------------------


@jax.jit
def jax_flux(u, du, qdata):
    """Return the same in JAX."""
    xx, yy, xy = qdata
    return (1 + u * u) * jax.numpy.stack([xx * du[0] + xy * du[1], xy * du[0] + yy * du[1]])


@jax.jit
def jax_slope(u, du, qdata, state, dstate):
    """Return the derivative of the flux, which JAX takes."""
    return jax.jvp(lambda *at: jax_flux(*at, qdata), (state, dstate), (u, du))[1]


def by_jax(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of jitted functions, of which JAX itself derives the second."""
    make = ceed.qfunction
    return make(*RESIDUAL, dv=Grad(2))(jax_flux), make(*JACOBIAN, dv=Grad(2))(jax_slope)


# ---- numba and C ---------------------------------------------------------------------------------


def c_flux(u, du, qdata):
    """
    const CeedScalar k = 1 + u[i] * u[i], x = k * du[0][i], y = k * du[1][i];

    dv[0][i] = qdata[0][i] * x + qdata[2][i] * y;
    dv[1][i] = qdata[2][i] * x + qdata[1][i] * y;
    """


def c_slope(u, du, qdata, state, dstate):
    """
    const CeedScalar k = 1 + state[i] * state[i], dk = 2 * state[i] * u[i];
    const CeedScalar x = k * du[0][i] + dk * dstate[0][i], y = k * du[1][i] + dk * dstate[1][i];

    dv[0][i] = qdata[0][i] * x + qdata[2][i] * y;
    dv[1][i] = qdata[2][i] * x + qdata[1][i] * y;
    """


def by_numba(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of the NumPy functions, compiled for blocks of points."""
    make = partial(ceed.qfunction, engine="numba", dv=Grad(2))
    return make(*RESIDUAL)(flux), make(*JACOBIAN)(slope)


def by_c(ceed: Ceed) -> tuple[QFunction, QFunction]:
    """Return the QFunctions of C code, for one point."""
    make = partial(ceed.qfunction, engine="c", dv=Grad(2))
    return make(*RESIDUAL)(c_flux), make(*JACOBIAN)(c_slope)


# ---- Newton --------------------------------------------------------------------------------------


def exact(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the solution."""
    return np.sin(x + 2 * y)


def load(space: Space) -> np.ndarray:
    """Return the integrals of f with the test functions: -div (1 + u^2) grad u for the exact u."""

    @space.ceed.qfunction(Interp(2), Data(), v=Interp())
    def source(x, dV):
        u, slope = np.sin(x[0] + 2 * x[1]), np.cos(x[0] + 2 * x[1])
        return 5 * ((1 + u * u) * u - 2 * u * slope * slope) * dV

    return space.operator(source, x=space.coordinates, dV=space.geometry.dV)().to_numpy()


def newton(space: Space, make: Callable) -> tuple[np.ndarray, list[float]]:
    """Return the solution, and the norms of the residuals on the way."""
    ceed, n = space.ceed, space.size
    qdata = space.evaluate(ceed.QFunctionByName("Poisson2DBuild"), dx=space.coordinates)
    free = np.setdiff1d(np.arange(n), space.boundary())

    u = exact(*space.nodes.T)
    u[free] = 0
    state = Vector.from_dlpack(u)  # shares the memory of u: the operator sees each step
    op = space.operator(
        *make(ceed), qdata=qdata, state=space.field(state), dstate=space.field(state)
    )
    right, norms = load(space), []

    def jacobian(du: np.ndarray) -> np.ndarray:
        step, result = np.zeros(n), ceed.Vector(n)
        step[free] = du
        op.apply_jacobian(Vector.from_dlpack(step), result)
        return result.to_numpy()[free]

    matrix = LinearOperator((len(free), len(free)), jacobian, dtype=float)
    while True:
        residual = (right - op(u).to_numpy())[free]
        norms.append(np.linalg.norm(residual))
        if norms[-1] < 1e-11 * np.linalg.norm(right) or len(norms) > 20:
            return u, norms
        u[free] += gmres(matrix, residual, rtol=1e-8, restart=len(free))[0]


def main() -> int:
    """Solve in each language, and compare."""
    jax.config.update("jax_enable_x64", True)  # so that JAX computes in double
    space = Mesh.box(6, 6).space(Ceed(), 3)
    nodal = exact(*space.nodes.T)
    first, good = None, True
    for make in (by_numpy, by_numba, by_jax, by_c):
        u, norms = newton(space, make)
        first = first or (u, norms)
        apart = abs(u - first[0]).max()
        same = apart < 1e-13 and len(norms) == len(first[1])
        same &= np.allclose(norms, first[1], rtol=1e-6, atol=1e-13)
        good &= same and abs(u - nodal).max() < 1e-4
        print(
            f"{make.__name__[3:]:5} residuals {' '.join(f'{x:.1e}' for x in norms)}, off by "
            f"{abs(u - nodal).max():.1e}, {apart:.0e} from NumPy's: {'good' if same else 'WRONG'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
