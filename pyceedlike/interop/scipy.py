# SPDX-License-Identifier: BSD-2-Clause
"""SciPy: operators as its LinearOperator and as its sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..vector import Vector
from .numpy import compact

if TYPE_CHECKING:
    import numpy
    import scipy.sparse

    from ..fem import Operator


def linear_operator(op: Operator) -> scipy.sparse.linalg.LinearOperator:
    """Return the operator as SciPy's solvers want it; it keeps the operator alive."""
    import scipy.sparse.linalg

    apply = op.apply_jacobian if op._has_jacobian() else op.apply

    def matvec(x: Any) -> numpy.ndarray:
        result = op.ceed.Vector(op.shape[0])
        apply(Vector.from_dlpack(compact(x, op.scalar)), result)
        return result.to_numpy()

    def rmatvec(x: Any) -> numpy.ndarray:
        result = op.ceed.Vector(op.shape[1])
        op.apply_transpose(Vector.from_dlpack(compact(x, op.scalar)), result)
        return result.to_numpy()

    return scipy.sparse.linalg.LinearOperator(op.shape, matvec, rmatvec, dtype=op.scalar)


def sparse_matrix(op: Operator) -> scipy.sparse.csr_array:
    """Return the assembled matrix of a linear operator, or of the Jacobian."""
    import scipy.sparse

    rows, columns = op.linear_assemble_symbolic()
    values = op.ceed.Vector(len(rows))
    op.linear_assemble(values)
    return scipy.sparse.coo_array((values.to_numpy(), (rows, columns)), op.shape).tocsr()
