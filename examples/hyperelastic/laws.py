# SPDX-License-Identifier: BSD-2-Clause
"""The physics of the solvers in this folder: an energy, and a small network, in jax.numpy."""

import jax.numpy as jnp
import numpy as np

from pyceedlike import Data, Grad, Interp, Weight, native


@native.qfunction(Grad(3, 3), Weight(), qdata=Data(10))
def geometry(dx, weight):
    """The derivatives of reference coordinates, and the volume of a quadrature point."""
    jacobian = dx.T  # dx is [direction][component]
    return jnp.append(native.inv(jacobian).ravel(), weight * jnp.linalg.det(jacobian))


@native.qfunction(Grad(3, 3), Data(10), Interp(), density=Data())
def energy(du, qdata, stiffness, *, mu=1.0, lam=10.0):
    """The energy of a neo-Hookean solid at a point, times the point's volume."""
    F = jnp.eye(3) + du.T @ qdata[:9].reshape(3, 3)
    log_J = jnp.log(jnp.linalg.det(F))
    density = mu / 2 * (jnp.sum(F * F) - 3) - mu * log_J + lam / 2 * log_J**2
    return qdata[9] * stiffness * density


elasticity = energy.gradient(dv="du").named("elasticity")

random = np.random.default_rng(1)
WEIGHTS = [random.standard_normal(shape) / 4 for shape in ((32, 9), (32, 32), (9, 32))]


@native.qfunction(Grad(3, 3), stress=Data(3, 3))
def network(du):
    """A stress that a network gives, as one that was trained would."""
    x = du.reshape(9)
    for weights in WEIGHTS[:-1]:
        x = jnp.tanh(weights @ x)
    return (WEIGHTS[-1] @ x).reshape(3, 3)
