# SPDX-License-Identifier: BSD-2-Clause
"""The cube of solid.c, as functions of JAX that run its C operator."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import laws
from jax.scipy.sparse.linalg import cg

import pyceedlike
from pyceedlike import Mesh, native


class Cube:
    """A cube of a material, whose forces on the nodes are a point function of the gradient.

    Its surface is held, or only what is named of it, such as "z-".
    """

    def __init__(self, elements: int, law: native.PointFunction, *held: str) -> None:
        ceed = pyceedlike.Ceed()
        mesh = Mesh.box(elements, elements, elements, order=2)
        space, scalars = mesh.space(ceed, 2, ncomp=3, q=4), mesh.space(ceed, 2, q=4)
        fields = {"qdata": space.evaluate(laws.geometry.qfunction(ceed), dx=space.coordinates)}
        if "stiffness" in law.inputs:
            fields["stiffness"] = scalars.field(ceed.Vector(scalars.size))
            fields["stiffness"].vector.set_value(1.0)
        self.operator = space.operator(law.qfunction(ceed), **fields)
        self.forces = self.operator.jax(engine="c")
        self.nodes = mesh.nodes
        is_free = jnp.ones((3, len(self.nodes)), bool).at[:, space.boundary(*held)].set(False)
        self.is_free = is_free.ravel()

    def displacement(self, start: jax.Array, **values: Any) -> jax.Array:
        """Return where the forces vanish, by Newton's method; differentiable in all arguments.

        Where the surface is held it is `start`.
        """

        def residual(u: jax.Array) -> jax.Array:
            forces = self.forces(jnp.where(self.is_free, u, start), **values)
            return jnp.where(self.is_free, forces, u - start)

        def step(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            u, r = state
            u -= solve_linear(jax.linearize(residual, u)[1], r)
            return u, residual(u)

        def newton(_: Callable, u: jax.Array) -> jax.Array:
            state = u, residual(u)
            return jax.lax.while_loop(lambda s: jnp.linalg.norm(s[1]) > 1e-11, step, state)[0]

        return jax.lax.custom_root(residual, start, newton, solve_linear)


def solve_linear(matrix: Callable[[jax.Array], jax.Array], b: jax.Array) -> jax.Array:
    """Return the solution of a symmetric system, by conjugate gradients; differentiable twice over.

    cg() alone can't be transposed inside custom_root().
    """

    def solve(matrix: Callable[[jax.Array], jax.Array], b: jax.Array) -> jax.Array:
        return cg(matrix, b, tol=1e-10)[0]

    return jax.lax.custom_linear_solve(matrix, b, solve, symmetric=True)
