# SPDX-License-Identifier: BSD-2-Clause
"""Physics at one point, written with jax.numpy, compiled as C."""

from .matrices import inv
from .point import PointFunction, qfunction

__all__ = ["PointFunction", "inv", "qfunction"]
