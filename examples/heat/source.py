# SPDX-License-Identifier: BSD-2-Clause
"""Find the source of a temperature: the solver in C or Fortran, inside a program of jax.jit.

The solver of heat.h is a linear operator from a source to what it makes of a cold plate. As a
function of JAX it is differentiated, and inverted by JAX's conjugate gradients. The program fails
(exit code 1) unless they find the source that was hidden, the gradient is right, and the lowest
mode of the temperature is that of the exact solution.
"""

import argparse
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
from heat import Mode, Solver, ffi
from jax.scipy.sparse.linalg import cg

import pyceedlike


def judge(what: str, off: float, allowed: float) -> bool:
    """Print and return whether an error is allowed."""
    verdict = "good" if off <= allowed else "WRONG"
    print(f"{what}: off by {off:.1e} of {allowed:.1e} allowed: {verdict}")
    return off <= allowed


def main() -> int:
    """Hide a source, find it, and check what JAX makes of the solver."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=31, help="inner nodes a direction (%(default)s)")
    parser.add_argument("--dt", type=float, default=0.02, help="time step (%(default)s)")
    parser.add_argument("--steps", type=int, default=50, help="of the solver (%(default)s)")
    options = parser.parse_args()

    jax.config.update("jax_enable_x64", True)  # the solver computes in double
    ceed = pyceedlike.Ceed()
    solver = Solver(ceed, options.n, options.dt)
    mode = Mode(options.n, options.dt, solver.ghosts)
    size = mode.field.size

    response = ffi.new("HeatResponse *", {"heat": solver.heat[0], "num_steps": options.steps})
    routine = ffi.addressof(solver.lib, "HeatRespond")
    operator = ceed.ShellOperator(size, size, routine, routine, response)
    heated = operator.jax()

    x = np.linspace(0, 1, math.isqrt(size))
    bump = mode.field * np.exp(-20 * np.add.outer((x - 0.3) ** 2, (x - 0.6) ** 2).ravel())
    hidden = jnp.asarray(mode.field + 2 * bump)
    measured = heated(hidden)
    found, _ = jax.jit(lambda b: cg(heated, b, tol=1e-12))(measured)
    good = judge("the source", float(abs(found - hidden).max()), 1e-8)

    @jax.jit
    def loss(source: jax.Array) -> jax.Array:
        return ((heated(source) - measured) ** 2).sum() / 2

    slope = jnp.vdot(jax.grad(loss)(bump), bump)  # the loss is quadratic: the difference is exact
    good &= judge("the gradient", float(abs(slope - (loss(1.5 * bump) - loss(bump / 2)))), 1e-9)

    time = options.steps * options.dt
    expected = (1 - math.exp(-mode.rate * time)) / mode.rate
    amplitude = float(heated(mode.field) @ mode.field / (mode.field @ mode.field))
    allowed = mode.error * mode.rate * time**2 / 2  # the error of the rate times da/d(rate)
    return 0 if good & judge("the lowest mode", abs(amplitude - expected), allowed) else 1


if __name__ == "__main__":
    sys.exit(main())
