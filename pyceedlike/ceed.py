# SPDX-License-Identifier: BSD-2-Clause
"""The context that objects are made in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _exchange
from ._lib import LIBRARIES, CeedIncompatibleError

if TYPE_CHECKING:
    import numpy

    from .vector import Vector


class Ceed:
    """A context of one precision, on the resource that it is named.

    resource is the leading part of a resource's name, scalar is "float64" or "float32". Raises
    CeedUnsupportedError, with the list of resources, for an unknown one.

    >>> pyceedlike.Ceed("/cpu/self", scalar="float32")
    <pyceedlike.Ceed /cpu/self/opt/blocked, float32>
    """

    __slots__ = ("__weakref__", "_box", "_library")

    def __init__(self, resource: str = "/cpu/self", scalar: str = "float64") -> None:
        library = LIBRARIES.get(scalar)
        if not isinstance(resource, str):
            raise TypeError(f"resource must be a str, not {type(resource).__name__}")
        if "\0" in resource:
            raise CeedIncompatibleError(f"resource must be a name without NUL, not {resource!r}")
        if library is None:
            raise CeedIncompatibleError(f'scalar must be "float64" or "float32", not {scalar!r}')
        self._library = library
        self._box = library.new("Ceed", library.lib.CeedInit, resource.encode())
        _exchange.store_errors(self.handle, scalar == "float32")

    @classmethod
    def _of(cls, vector: Vector) -> Ceed:
        self = cls.__new__(cls)
        library = self._library = LIBRARIES[vector.scalar]
        self._box = library.new("Ceed", library.lib.CeedVectorGetCeed, vector._cdata)
        return self

    @property
    def scalar(self) -> str:
        """The precision: "float64" or "float32"."""
        return self._library.scalar

    @property
    def handle(self) -> int:
        """The address of the Ceed, for C code of this process."""
        return int(self._library.ffi.cast("uintptr_t", self._box[0]))

    def get_resource(self) -> str:
        """Return the full name of the resource.

        >>> pyceedlike.Ceed("/cpu").get_resource()
        '/cpu/self/opt/blocked'
        """
        function = self._library.lib.CeedGetResource
        name = self._library.get("const char *", function, self._box[0])
        return self._library.ffi.string(name).decode()

    def get_preferred_memtype(self) -> int:
        """Return the memory type that needs no copy here, MEM_HOST or MEM_DEVICE."""
        function = self._library.lib.CeedGetPreferredMemType
        return self._library.get("CeedMemType", function, self._box[0])

    def is_deterministic(self) -> bool:
        """Return whether equal calls give equal bits."""
        return self._library.get("bool", self._library.lib.CeedIsDeterministic, self._box[0])

    def Vector(self, n: int) -> Vector:  # noqa: N802 - libCEED's name
        """Return a new vector of n entries, which have no values yet.

        >>> len(pyceedlike.Ceed().Vector(3))
        3
        """
        return _exchange.create(self.handle, self.scalar == "float32", n)

    def gauss_quadrature(self, q: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return the q points on [-1, 1] and the weights of the Gauss rule, as new NumPy arrays.

        >>> pyceedlike.Ceed().gauss_quadrature(1)
        (array([0.]), array([2.]))
        """
        return self._quadrature(self._library.lib.CeedGaussQuadrature, q)

    def lobatto_quadrature(self, q: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return the q >= 2 points on [-1, 1] and the weights of the Gauss-Lobatto rule.

        >>> pyceedlike.Ceed().lobatto_quadrature(2)
        (array([-1.,  1.]), array([1., 1.]))
        """
        return self._quadrature(self._library.lib.CeedLobattoQuadrature, q)

    def _quadrature(self, rule: Any, q: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        from .interop.numpy import empty

        points, weights = empty(q, self.scalar), empty(q, self.scalar)
        pointers = [self._library.ffi.from_buffer("CeedScalar[]", a) for a in (points, weights)]
        self._library.check(rule(q, *pointers))
        return points, weights

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ceed) and self.handle == other.handle

    def __hash__(self) -> int:
        return hash(self.handle)

    def __repr__(self) -> str:
        return f"<pyceedlike.Ceed {self.get_resource()}, {self.scalar}>"

    def __str__(self) -> str:
        return _exchange.view_ceed(self.handle, self.scalar == "float32")
