# SPDX-License-Identifier: BSD-2-Clause
"""Train a network to be a material: through the solver, from forces that were measured.

A cube of a rubber that stiffens as it is stretched (Gent's) is pulled in several directions, and
the forces at its surface are measured. A neo-Hookean energy with a network added is fitted to them:
each step solves for the displacements, and the gradients in the network's weights, which are
context values of the C operator, come from jax.grad through the solutions. The program fails (exit
code 1) unless the forces under a stretch that it has not seen are right.

Gent, A. N.: A new constitutive relation for rubber. Rubber Chemistry and Technology 69 (1996).
"""

import argparse
import sys

import jax
import jax.numpy as jnp
import numpy as np
from cube import Cube
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize
from tqdm import tqdm

from pyceedlike import Data, Grad, native

WIDTH, LOCK = 8, 0.5


def invariants(du, qdata):
    """Return the first invariant of the stretch, from its value at rest, and the volume's log."""
    F = jnp.eye(3) + du.T @ qdata[:9].reshape(3, 3)
    return jnp.sum(F * F) - 3, jnp.log(jnp.linalg.det(F))


def neo_hookean(stretch, log_J):
    """Return the energy of a neo-Hookean solid."""
    return stretch / 2 - log_J + 5 * log_J**2


@native.qfunction(Grad(3, 3), Data(10), density=Data())
def gent(du, qdata):
    """The material, which the fit knows nothing of."""
    stretch, log_J = invariants(du, qdata)
    return qdata[9] * (-LOCK / 2 * jnp.log(1 - stretch / LOCK) - log_J + 5 * log_J**2)


@native.qfunction(Grad(3, 3), Data(10), density=Data())
def network(du, qdata, *, w=np.zeros((WIDTH, 2)), b=np.zeros(WIDTH), out=np.zeros(WIDTH)):
    """A neo-Hookean energy and what the network adds."""
    stretch, log_J = invariants(du, qdata)
    hidden = jnp.log(1 + jnp.exp(w @ jnp.stack([stretch / LOCK, 10 * log_J]) + b))
    return qdata[9] * (neo_hookean(stretch, log_J) + LOCK / 20 * out @ hidden)


PULLS = np.array([[0, 0, 0.2], [0, 0, -0.15], [0.3, 0, 0], [0, 0.2, 0.1], [0.15, 0.2, 0.08]])


def train(cube: Cube, starts: np.ndarray, forces: np.ndarray, steps: int) -> dict[str, jax.Array]:
    """Return the weights with which the forces on what is held come nearest to the measured."""
    random = np.random.default_rng(1)
    first, unravel = ravel_pytree(
        {"w": random.standard_normal((WIDTH, 2)), "b": np.zeros(WIDTH), "out": np.zeros(WIDTH)}
    )

    @jax.jit
    @jax.value_and_grad
    def misfit(x: jax.Array) -> jax.Array:
        found = jax.lax.map(lambda start: reactions(cube, start, **unravel(x)), starts)
        return jnp.sum((found - forces) ** 2) / np.sum(forces**2)

    with tqdm(total=steps, desc="train", unit=" steps") as bar:
        result = minimize(
            misfit,
            first,
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: bar.update(),
            options={"maxiter": steps, "ftol": 1e-12},
        )
    return unravel(result.x)


def reactions(cube: Cube, start: jax.Array, **weights: jax.Array) -> jax.Array:
    """Return the forces on what is held, and zeros elsewhere."""
    return jnp.where(cube.is_free, 0, cube.forces(cube.displacement(start, **weights), **weights))


def main() -> int:
    """Measure, train and try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=2, help="a direction (%(default)s)")
    parser.add_argument("--steps", type=int, default=100, help="of L-BFGS, at most (%(default)s)")
    options = parser.parse_args()

    jax.config.update("jax_enable_x64", True)  # the operators compute in double
    material, model = (
        Cube(options.elements, energy.gradient(dv="du").named(f"{energy.name}_forces"), "z-", "z+")
        for energy in (gent, network)
    )
    # The face z = 0 stays where it is, z = 1 is moved.
    starts = np.array([np.outer(pull, model.nodes[:, 2]).ravel() for pull in PULLS])
    measured = np.array([reactions(material, start) for start in starts])
    weights = train(model, starts[:-1], measured[:-1], options.steps)

    none = {name: jnp.zeros_like(w) for name, w in weights.items()}
    errors = []
    for name, values in (("neo-Hookean", none), ("with the network", weights)):
        off = reactions(model, starts[-1], **values) - measured[-1]
        errors.append(np.linalg.norm(off) / np.linalg.norm(measured[-1]))
        print(f"{name}: forces under a pull that was not seen are off by {errors[-1]:.2%}")
    return 0 if errors[1] < 0.03 < errors[0] else 1


if __name__ == "__main__":
    sys.exit(main())
