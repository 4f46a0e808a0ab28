# SPDX-License-Identifier: BSD-2-Clause
"""What jax.numpy has for matrices of any size only, for small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._lib import CeedDimensionError

if TYPE_CHECKING:
    import jax


def inv(a: Any) -> jax.Array:
    """Return the inverse of a matrix of 2x2 or 3x3, by its adjugate, with jax.numpy.

    >>> from pyceedlike import native
    >>> native.inv(jax.numpy.array([[2.0, 1.0], [1.0, 1.0]]))
    Array([[ 1., -1.],
           [-1.,  2.]], dtype=float32)
    """
    import jax.numpy as jnp

    a = jnp.asarray(a)
    if a.shape == (2, 2):
        adjugate = jnp.array([[a[1, 1], -a[0, 1]], [-a[1, 0], a[0, 0]]])
    elif a.shape == (3, 3):
        adjugate = jnp.stack(
            [jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])], axis=1
        )
    else:
        raise CeedDimensionError(f"inv() inverts 2x2 and 3x3 matrices, not {a.shape}")
    return adjugate * (1 / jnp.dot(a[0], adjugate[:, 0]))
