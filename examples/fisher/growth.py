# SPDX-License-Identifier: BSD-2-Clause
"""The source term of fisher.F90, in JAX."""

import jax

jax.config.update("jax_enable_x64", True)  # the solver computes in double


@jax.jit
def logistic(u: jax.Array) -> jax.Array:
    """Return the growth of a population u that has room for 1."""
    return u * (1 - u)
