# SPDX-License-Identifier: BSD-2-Clause
"""Solve a nonlinear equation by Newton's method, its physics in NumPy, numba, JAX and C in turn.

-div (1 + u^2) grad u = f on the unit square, u given on its sides; f is such that u is known. Each
language has a QFunction for the residual and one for its Jacobian, which JAX derives by itself.
The program fails (exit code 1) unless all take the same steps to the same answer, and that is the
solution.
"""

import sys
from collections.abc import Callable, Iterator

import jax
import numba
import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from pyceedlike import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
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
    return (1 + u * u) * np.stack([xx * du[0] + xy * du[1], xy * du[0] + yy * du[1]])


def slope(u, du, qdata, state, dstate):
    """Return the derivative of the flux at a state, along u."""
    xx, yy, xy = qdata
    x = (1 + state * state) * du[0] + 2 * state * u * dstate[0]
    y = (1 + state * state) * du[1] + 2 * state * u * dstate[1]
    return np.stack([xx * x + xy * y, xy * x + yy * y])


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


# ---- C functions: of C, and of numba -------------------------------------------------------------

SOURCE = """
CEED_QFUNCTION(flux)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *du = in[1], *qdata = in[2];
  CeedScalar *dv = out[0];

  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar k = 1 + u[i] * u[i], x = k * du[i], y = k * du[Q + i];

    dv[i] = qdata[i] * x + qdata[2 * Q + i] * y;
    dv[Q + i] = qdata[2 * Q + i] * x + qdata[Q + i] * y;
  }
  return 0;
}

CEED_QFUNCTION(slope)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const CeedScalar *u = in[0], *du = in[1], *qdata = in[2], *state = in[3], *dstate = in[4];
  CeedScalar *dv = out[0];

  for (CeedInt i = 0; i < Q; i++) {
    const CeedScalar k = 1 + state[i] * state[i], dk = 2 * state[i] * u[i];
    const CeedScalar x = k * du[i] + dk * dstate[i], y = k * du[Q + i] + dk * dstate[Q + i];

    dv[i] = qdata[i] * x + qdata[2 * Q + i] * y;
    dv[Q + i] = qdata[2 * Q + i] * x + qdata[Q + i] * y;
  }
  return 0;
}
"""

fields = numba.types.CPointer(numba.types.CPointer(numba.types.float64))
signature = numba.types.intc(numba.types.voidptr, numba.types.int32, fields, fields)


@numba.cfunc(signature)
def numba_flux(context, points, inputs, outputs):
    u, du, qdata, dv = inputs[0], inputs[1], inputs[2], outputs[0]
    for i in range(points):
        k = 1 + u[i] * u[i]
        x, y = k * du[i], k * du[points + i]
        dv[i] = qdata[i] * x + qdata[2 * points + i] * y
        dv[points + i] = qdata[2 * points + i] * x + qdata[points + i] * y
    return 0


@numba.cfunc(signature)
def numba_slope(context, points, inputs, outputs):
    u, du, qdata, state, dstate = inputs[0], inputs[1], inputs[2], inputs[3], inputs[4]
    dv = outputs[0]
    for i in range(points):
        k, dk = 1 + state[i] * state[i], 2 * state[i] * u[i]
        x, y = k * du[i] + dk * dstate[i], k * du[points + i] + dk * dstate[points + i]
        dv[i] = qdata[i] * x + qdata[2 * points + i] * y
        dv[points + i] = qdata[2 * points + i] * x + qdata[points + i] * y
    return 0


def c_qfunctions(ceed: Ceed, *functions: tuple) -> Iterator[QFunction]:
    """Yield the QFunctions of C functions, which are called with blocks of points."""
    names = ("u", 1, EVAL_INTERP), ("du", 2, EVAL_GRAD), ("qdata", 3, EVAL_NONE)
    names += ("state", 1, EVAL_INTERP), ("dstate", 2, EVAL_GRAD)
    for (function, source), count in zip(functions, (3, 5), strict=True):
        qf = ceed.QFunction(1, function, source)
        for field in names[:count]:
            qf.add_input(*field)
        qf.add_output("dv", 2, EVAL_GRAD)
        yield qf


def by_c(ceed: Ceed) -> Iterator[QFunction]:
    """Return the QFunctions of C source, which is compiled."""
    return c_qfunctions(ceed, (SOURCE, "diffusion.c:flux"), (SOURCE, "diffusion.c:slope"))


def by_numba(ceed: Ceed) -> Iterator[QFunction]:
    """Return the QFunctions of numba's C functions."""
    return c_qfunctions(ceed, (numba_flux, "numba:flux"), (numba_slope, "numba:slope"))


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
