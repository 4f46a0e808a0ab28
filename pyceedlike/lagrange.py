# SPDX-License-Identifier: BSD-2-Clause
"""Lagrange elements of any order: their nodes, shape functions, sides and quadrature."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ._lib import (
    GAUSS,
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_QUAD,
    TOPOLOGY_TET,
    TOPOLOGY_TRIANGLE,
    CeedUnsupportedError,
)
from .ceed import Ceed

if TYPE_CHECKING:
    import numpy

    from .fem import Basis


HIGHEST = 10  # order of a simplex: beyond, nodes equally far apart lose more than six digits


def grid(counts: list[int]) -> numpy.ndarray:
    """Return the places in a box of integers, [place][dim], with x as the fastest."""
    import numpy

    return numpy.indices(counts[::-1])[::-1].reshape(len(counts), -1).T


class Cell(NamedTuple):
    """A kind of element, on [-1, 1]^dim as a tensor product, or on the unit simplex.

    Nodes lie on a lattice of integers: those from 0 to the order, or those whose sum is at most the
    order. They are numbered with x as the fastest direction, and vertices like nodes of order 1.
    """

    name: str
    topology: int
    dim: int
    is_tensor: bool

    def lattice(self, order: int) -> numpy.ndarray:
        """Return the places of the nodes, integers [node][dim]."""
        box = grid([order + 1] * self.dim)
        return box if self.is_tensor else box[box.sum(axis=1) <= order]

    def weights(self, order: int) -> numpy.ndarray:
        """Return how near each vertex is to the nodes, integers [node][vertex].

        Vertices that a node has weights of span the vertex, edge, face or cell that it lies in; the
        weights say where in it, whatever way an element looks at it.
        """
        import numpy

        places = self.lattice(order)
        if not self.is_tensor:
            return numpy.column_stack([order - places.sum(axis=1), places])
        places = places[:, None]
        return numpy.where(self.lattice(1), places, order - places).prod(axis=2)

    def vertices(self, order: int) -> numpy.ndarray:
        """Return which nodes are the vertices."""
        return self.weights(order).argmax(axis=0)

    def sides(self) -> numpy.ndarray:
        """Return the vertices [side][vertex]: of x-, x+, y-, ...; opposite of vertex 0, 1, ..."""
        import numpy

        corners = self.lattice(1)
        if self.is_tensor:
            groups = [corners[:, d] == end for d in range(self.dim) for end in (0, 1)]
        else:
            groups = ~numpy.eye(len(corners), dtype=bool)
        return numpy.array([numpy.flatnonzero(group) for group in groups])

    def side_nodes(self, order: int) -> numpy.ndarray:
        """Return the nodes [side][node] that lie on each side."""
        import numpy

        weights = self.weights(order)
        return numpy.array(
            [
                numpy.flatnonzero(weights[:, side].sum(axis=1) == weights.sum(axis=1))
                for side in self.sides()
            ]
        )

    def nodes(self, order: int) -> numpy.ndarray:
        """Return the coordinates of the nodes, [node][dim].

        They are the Gauss-Lobatto points of tensor products, and equally far apart on simplices.
        """
        if self.is_tensor:
            return Ceed().lobatto_quadrature(order + 1)[0][self.lattice(order)]
        return self.lattice(order) / order

    def check_order(self, order: int) -> None:
        """Raise CeedUnsupportedError for an order that its nodes do not resolve."""
        if not self.is_tensor and order > HIGHEST:
            raise CeedUnsupportedError(
                f"a {self.name} has orders up to {HIGHEST}, not {order}: nodes that are equally "
                "far apart do not resolve it"
            )

    def tabulate(self, order: int, points: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return shape functions [point][node] and derivatives [dim][point][node] at points."""
        import numpy

        self.check_order(order)
        values, slopes = self._modes(order, points)
        nodal = numpy.linalg.inv(self._modes(order, self.nodes(order))[0])
        return values @ nodal, slopes @ nodal

    def _modes(self, order: int, points: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return products of Legendre polynomials, one for each node, and their derivatives."""
        import numpy
        from numpy.polynomial.legendre import legder, legvander

        scale = 1 if self.is_tensor else 2
        value = legvander(scale * (points - 1) + 1, order)  # [point][dim][degree]
        slope = scale * value[..., :order] @ legder(numpy.eye(order + 1))
        degrees = tuple(enumerate(self.lattice(order).T))
        factors = numpy.array([value[:, d, degree] for d, degree in degrees])
        slopes = numpy.repeat(factors[None], self.dim, axis=0)
        for d, degree in degrees:
            slopes[d, d] = slope[:, d, degree]
        return factors.prod(axis=0), slopes.prod(axis=1)

    def quadrature(self, q: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return points [point][dim] and weights of q Gauss points a direction.

        On a simplex they are those of a cube of which sides are collapsed to points (A. H. Stroud,
        Approximate Calculation of Multiple Integrals, 1971): exact to the degree 2q - dim.
        """
        import numpy

        x, w = Ceed().gauss_quadrature(q)
        places = grid([q] * self.dim)
        points, weights = x[places], w[places].prod(axis=1)
        if not self.is_tensor:
            points, weights = (points + 1) / 2, weights / 2**self.dim
            for d in range(1, self.dim):
                left = 1 - points[:, d]
                points[:, :d] *= left[:, None]
                weights *= left**d
        return points, numpy.ascontiguousarray(weights)

    def basis(self, ceed: Ceed, ncomp: int, order: int, q: int) -> Basis:
        """Return the basis of an order, with q Gauss points a direction."""
        if self.is_tensor:
            return ceed.BasisTensorH1Lagrange(self.dim, ncomp, order + 1, q, GAUSS)
        points, weights = self.quadrature(q)
        interp, grad = self.tabulate(order, points)
        nqpts, nnodes = interp.shape
        return ceed.BasisH1(self.topology, ncomp, nnodes, nqpts, interp, grad, points.T, weights)


CELLS = {
    cell.topology: cell
    for cell in (
        Cell("line", TOPOLOGY_LINE, 1, True),
        Cell("quad", TOPOLOGY_QUAD, 2, True),
        Cell("hex", TOPOLOGY_HEX, 3, True),
        Cell("triangle", TOPOLOGY_TRIANGLE, 2, False),
        Cell("tet", TOPOLOGY_TET, 3, False),
    )
}
