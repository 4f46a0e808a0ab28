# SPDX-License-Identifier: BSD-2-Clause
"""Operators of finite elements: restrictions, bases, and what they make of a QFunction."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import EVAL_WEIGHT, NOTRANSPOSE, TRANSPOSE, CeedDimensionError, CeedError
from ._object import REQUEST_IMMEDIATE, VECTOR_NONE, Object, StandIn, handle_of, request_of, text_of
from .ceed import Ceed
from .context import set_fields
from .qfunction import QFunction
from .vector import Vector

if TYPE_CHECKING:
    import numpy
    import scipy.sparse

    from .native import PointFunction


class ElemRestriction(Object):
    """Which entries of an L-vector (all unknowns) belong to which element.

    Made by Ceed.ElemRestriction() and Ceed.StridedElemRestriction(). As a matrix it takes L-vectors
    to E-vectors, where every element has its own copy; its transpose `.T` adds them up again.

    >>> rstr = pyceedlike.Ceed().ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]])
    >>> rstr
    <pyceedlike.ElemRestriction of 2 elements, 2 nodes, 1 component: 3 to 4 float64>
    >>> (rstr @ pyceedlike.from_dlpack(np.array([5.0, 6.0, 7.0]))).to_numpy()
    array([5., 6., 6., 7.])
    >>> (rstr.T @ pyceedlike.from_dlpack(np.ones(4))).to_numpy()
    array([1., 2., 1.])
    """

    __slots__ = ()
    _kind = "ElemRestriction"

    @classmethod
    def _of_offsets(
        cls, ceed: Ceed, nelem: int, elemsize: int, ncomp: int, compstride: int, lsize: int, x: Any
    ) -> ElemRestriction:
        from .interop.numpy import offsets

        pointer = ceed._library.ffi.from_buffer("CeedInt[]", offsets(x, nelem, elemsize))
        sizes = nelem, elemsize, ncomp, compstride, lsize
        return cls(ceed, "CeedElemRestrictionCreate", *sizes, 0, 0, pointer)

    @classmethod
    def _of_strides(
        cls, ceed: Ceed, nelem: int, elemsize: int, ncomp: int, lsize: int, strides: Any
    ) -> ElemRestriction:
        ffi, lib = ceed._library.ffi, ceed._library.lib
        numbers = None if strides is None else list(map(operator.index, strides))
        if numbers is not None and len(numbers) != 3:
            raise CeedDimensionError(
                f"strides are those of node, component and element, not {len(numbers)}: {numbers}"
            )
        three = lib.CEED_STRIDES_BACKEND if numbers is None else ffi.new("CeedInt[3]", numbers)
        sizes = nelem, elemsize, ncomp, lsize
        return cls(ceed, "CeedElemRestrictionCreateStrided", *sizes, three)

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of the E-vector and the L-vector."""
        return self._get("CeedSize", "GetEVectorSize"), self._get("CeedSize", "GetLVectorSize")

    @property
    def T(self) -> TransposedRestriction:  # noqa: N802 - NumPy's name
        """The transpose, from E-vectors to L-vectors."""
        return TransposedRestriction(self)

    def apply(
        self,
        u: Vector,
        v: Vector,
        tmode: int = NOTRANSPOSE,
        request: StandIn = REQUEST_IMMEDIATE,
    ) -> None:
        """Set v to the E-vector of the L-vector u; or with TRANSPOSE add the E-vector u to v.

        Raises CeedDimensionError for other lengths.

        >>> rstr = pyceedlike.Ceed().StridedElemRestriction(2, 1, 1, 2, (1, 1, 1))
        >>> u, v = pyceedlike.from_dlpack(np.array([1.0, 2.0])), rstr.create_vector()[1]
        >>> rstr.apply(u, v)
        >>> v.to_numpy()
        array([1., 2.])
        """
        library = self._library
        vectors = [handle_of(library, "Vector", x) for x in (u, v)]
        self._call("Apply", tmode, *vectors, request_of(library, request))

    def __matmul__(self, u: Vector) -> Vector:
        if not isinstance(u, Vector):
            return NotImplemented
        v = self.ceed.Vector(self.shape[0])
        self.apply(u, v)
        return v

    def create_vector(self) -> tuple[Vector, Vector]:
        """Return a new L-vector and a new E-vector, without values."""
        e_size, l_size = self.shape
        return self.ceed.Vector(l_size), self.ceed.Vector(e_size)

    def get_multiplicity(self) -> Vector:
        """Return how many times each entry of the L-vector occurs in the E-vector.

        >>> rstr = pyceedlike.Ceed().ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]])
        >>> rstr.get_multiplicity().to_numpy()
        array([1., 2., 1.])
        """
        multiplicity = self.ceed.Vector(self.shape[1])
        self._call("GetMultiplicity", handle_of(self._library, "Vector", multiplicity))
        return multiplicity

    def get_num_elements(self) -> int:
        """Return the number of elements."""
        return self._get("CeedInt", "GetNumElements")

    def get_element_size(self) -> int:
        """Return the number of nodes of an element."""
        return self._get("CeedInt", "GetElementSize")

    def get_num_components(self) -> int:
        """Return the number of components of a node."""
        return self._get("CeedInt", "GetNumComponents")

    def get_e_layout(self) -> tuple[int, int, int]:
        """Return the strides of (node, component, element) in the E-vector."""
        layout = self._library.ffi.new("CeedInt[3]")
        self._call("GetELayout", layout)
        return tuple(layout)

    def __repr__(self) -> str:
        names = "element", "node", "component"
        counts = self.get_num_elements(), self.get_element_size(), self.get_num_components()
        what = ", ".join(_count(n, name) for n, name in zip(counts, names, strict=True))
        e_size, l_size = self.shape
        return f"<pyceedlike.ElemRestriction of {what}: {l_size} to {e_size} {self.scalar}>"


class TransposedRestriction:
    """The transpose of a restriction: `restriction.T @ evector` adds into a new L-vector."""

    __slots__ = ("T",)

    def __init__(self, restriction: ElemRestriction) -> None:
        self.T = restriction

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of the L-vector and the E-vector."""
        return self.T.shape[::-1]

    def __matmul__(self, u: Vector) -> Vector:
        if not isinstance(u, Vector):
            return NotImplemented
        v = self.T.ceed.Vector(self.shape[0])
        v.set_value(0)
        self.T.apply(u, v, TRANSPOSE)
        return v

    def __repr__(self) -> str:
        return f"{self.T!r}.T"


class Basis(Object):
    """From the nodes of an element to its quadrature points and back.

    Made by Ceed.BasisTensorH1Lagrange(), Ceed.BasisTensorH1() and Ceed.BasisH1().

    >>> pyceedlike.Ceed().BasisTensorH1Lagrange(2, 1, 3, 4, pyceedlike.GAUSS)
    <pyceedlike.Basis in 2-D, 1 component, 9 nodes, 16 quadrature points, float64>
    """

    __slots__ = ()
    _kind = "Basis"

    @classmethod
    def _of_arrays(cls, ceed: Ceed, create: str, sizes: Any, **arrays: Any) -> Basis:
        """Create from sizes and arrays, name=(numbers, shape), which C copies."""
        from .interop.numpy import matrix

        compact = [matrix(x, shape, ceed.scalar, name) for name, (x, shape) in arrays.items()]
        pointers = [ceed._library.ffi.from_buffer("CeedScalar[]", x) for x in compact]
        return cls(ceed, create, *sizes, *pointers)

    def apply(
        self, nelem: int, emode: int, u: Vector | StandIn, v: Vector, tmode: int = NOTRANSPOSE
    ) -> None:
        """Evaluate u at the quadrature points of nelem elements, into v; or back with TRANSPOSE.

        u is [component][element][node], v [component][element][point], with the direction before
        that for EVAL_GRAD. EVAL_WEIGHT takes VECTOR_NONE for u.

        >>> basis = pyceedlike.Ceed().BasisTensorH1Lagrange(1, 1, 2, 1, pyceedlike.GAUSS)
        >>> u, v = pyceedlike.from_dlpack(np.array([1.0, 5.0])), pyceedlike.Ceed().Vector(1)
        >>> basis.apply(1, pyceedlike.EVAL_GRAD, u, v)
        >>> v.to_numpy()
        array([2.])
        """
        vectors = [handle_of(self._library, "Vector", x) for x in (u, v)]
        self._call("Apply", nelem, tmode, emode, *vectors)

    def get_dimension(self) -> int:
        """Return the dimension."""
        return self._get("CeedInt", "GetDimension")

    def get_num_components(self) -> int:
        """Return the number of components."""
        return self._get("CeedInt", "GetNumComponents")

    def get_num_nodes(self) -> int:
        """Return the number of nodes of an element."""
        return self._get("CeedInt", "GetNumNodes")

    def get_num_quadrature_points(self) -> int:
        """Return the number of quadrature points of an element."""
        return self._get("CeedInt", "GetNumQuadraturePoints")

    def get_interp(self) -> numpy.ndarray:
        """Return a copy of the matrix from nodes to values, [point][node].

        >>> pyceedlike.Ceed().BasisTensorH1Lagrange(1, 1, 2, 1, pyceedlike.GAUSS).get_interp()
        array([[0.5, 0.5]])
        """
        return self._matrix("GetInterp", self._points_and_nodes())

    def get_grad(self) -> numpy.ndarray:
        """Return a copy of the matrices from nodes to derivatives, [direction][point][node]."""
        return self._matrix("GetGrad", (self.get_dimension(), *self._points_and_nodes()))

    def get_weights(self) -> numpy.ndarray:
        """Return the quadrature weights of the points of an element.

        >>> pyceedlike.Ceed().BasisTensorH1Lagrange(2, 1, 2, 1, pyceedlike.GAUSS).get_weights()
        array([4.])
        """
        weights = self.ceed.Vector(self.get_num_quadrature_points())
        self.apply(1, EVAL_WEIGHT, VECTOR_NONE, weights)
        return weights.to_numpy()

    def _points_and_nodes(self) -> tuple[int, int]:
        return self.get_num_quadrature_points(), self.get_num_nodes()

    def _matrix(self, name: str, shape: tuple[int, ...]) -> numpy.ndarray:
        import math

        from .interop.numpy import copy_of

        ffi = self._library.ffi
        pointer = self._get("const CeedScalar *", name)
        size = math.prod(shape) * ffi.sizeof("CeedScalar")
        return copy_of(ffi.buffer(pointer, size), self.scalar, shape)

    def __repr__(self) -> str:
        names = "component", "node", "quadrature point"
        counts = self.get_num_components(), self.get_num_nodes(), self.get_num_quadrature_points()
        what = ", ".join(_count(n, name) for n, name in zip(counts, names, strict=True))
        return f"<pyceedlike.Basis in {self.get_dimension()}-D, {what}, {self.scalar}>"


class Operator(Object):
    """Restriction, basis, QFunction and their transposes, one behind the other.

    Made by Ceed.Operator(qf); set_field() says what each field of the QFunction is. As a matrix it
    is `operator(u)`, `operator.to_scipy()`.

    >>> ceed = pyceedlike.Ceed()
    >>> op = ceed.Operator(ceed.IdentityQFunction(1, pyceedlike.EVAL_NONE, pyceedlike.EVAL_NONE))
    >>> rstr = ceed.StridedElemRestriction(1, 3, 1, 3, None)
    >>> op.set_field("input", rstr, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
    >>> op.set_field("output", rstr, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
    >>> op
    <pyceedlike.Operator from 3 to 3 float64>
    >>> op(pyceedlike.from_dlpack(np.array([1.0, 2.0, 3.0]))).to_numpy()
    array([1., 2., 3.])
    """

    __slots__ = ()
    _kind = "Operator"

    @classmethod
    def _of_qfunctions(cls, ceed: Ceed, *given: QFunction | PointFunction | None) -> Operator:
        library = ceed._library
        null = library.ffi.NULL
        qfunctions = [q.qfunction(ceed) if hasattr(q, "qfunction") else q for q in given]
        handles = [null if q is None else handle_of(library, "QFunction", q) for q in qfunctions]
        return cls(ceed, "CeedOperatorCreate", *handles)

    def set_field(
        self,
        fieldname: str,
        restriction: ElemRestriction | StandIn,
        basis: Basis | StandIn,
        vector: Vector | StandIn,
    ) -> None:
        """Set a field of the QFunction.

        vector is VECTOR_ACTIVE for the argument of apply(), a Vector of data, or VECTOR_NONE for
        quadrature weights; basis is BASIS_NONE for values stored at the points. The operator keeps
        what it is given alive. Raises CeedIncompatibleError for a field that there is not, or set
        twice, CeedDimensionError where sizes differ.
        """
        things = ("ElemRestriction", restriction), ("Basis", basis), ("Vector", vector)
        handles = [handle_of(self._library, kind, thing) for kind, thing in things]
        self._call("SetField", text_of(fieldname), *handles)

    def set_context_fields(self, **values: Any) -> None:
        """Set values of contexts by name, in every part and every derivative that has them.

        Raises CeedIncompatibleError for a name that there is not.
        """
        set_fields(self, "GetContextFieldLabel", "SetContext", values)

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of the active output and input; -1 where there is none."""
        sizes = self._library.ffi.new("CeedSize[2]")
        self._call("GetActiveVectorLengths", sizes, sizes + 1)
        return sizes[1], sizes[0]

    def get_num_elements(self) -> int:
        """Return the number of elements."""
        return self._get("CeedInt", "GetNumElements")

    def get_num_quadrature_points(self) -> int:
        """Return the number of quadrature points of an element."""
        return self._get("CeedInt", "GetNumQuadraturePoints")

    @property
    def name(self) -> str:
        """The name, for errors; "" for none."""
        return self._library.ffi.string(self._get("const char *", "GetName")).decode()

    @name.setter
    def name(self, name: str) -> None:
        self._call("SetName", text_of(name))

    # Apply.

    def _apply(self, how: str, u: Vector | StandIn, v: Vector | StandIn, request: StandIn) -> None:
        library = self._library
        vectors = [handle_of(library, "Vector", x) for x in (u, v)]
        self._call(how, *vectors, request_of(library, request))

    def apply(
        self, u: Vector | StandIn, v: Vector | StandIn, request: StandIn = REQUEST_IMMEDIATE
    ) -> None:
        """Set v = A u. VECTOR_NONE stands for an active vector that there is not."""
        self._apply("Apply", u, v, request)

    def apply_add(
        self, u: Vector | StandIn, v: Vector | StandIn, request: StandIn = REQUEST_IMMEDIATE
    ) -> None:
        """Add A u to v, and to all outputs that are data."""
        self._apply("ApplyAdd", u, v, request)

    def apply_jacobian(self, u: Vector, v: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Apply with the QFunction of the Jacobian, `dqf`, in the place of the operator's own."""
        self._apply("ApplyJacobian", u, v, request)

    def apply_transpose(self, u: Vector, v: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Set v to the transpose of A, applied to u; without `qdfT` A must be linear."""
        self._apply("ApplyTranspose", u, v, request)

    def __call__(self, u: Any = VECTOR_NONE) -> Vector:
        """Return A u, a new vector. u is a Vector or any array in the operator's precision."""
        v = self.ceed.Vector(max(self.shape[0], 0))
        source = u if isinstance(u, (Vector, StandIn)) else Vector.from_dlpack(u, ceed=self.ceed)
        self.apply(source, v if self.shape[0] >= 0 else VECTOR_NONE)
        return v

    # Assembly of linear operators.

    def diagonal(self) -> Vector:
        """Return the diagonal of a linear operator, a new vector."""
        diagonal = self.ceed.Vector(self.shape[0])
        self.linear_assemble_diagonal(diagonal)
        return diagonal

    def linear_assemble_diagonal(self, d: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Set d to the diagonal of a linear operator."""
        library = self._library
        handle = handle_of(library, "Vector", d)
        self._call("LinearAssembleDiagonal", handle, request_of(library, request))

    def linear_assemble_symbolic(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return rows and columns of the entries of the matrix, element by element.

        Entries of the same place are to be summed.
        """
        from .interop.numpy import copy_of

        ffi, lib = self._library.ffi, self._library.lib
        size, places = ffi.new("CeedSize *"), ffi.new("CeedInt *[2]")
        self._call("LinearAssembleSymbolic", size, places, places + 1)
        owned = [ffi.gc(place, lib.free) for place in places]
        memory = [ffi.buffer(place, size[0] * ffi.sizeof("CeedInt")) for place in owned]
        rows, columns = (copy_of(m, "int32", (size[0],)) for m in memory)
        return rows, columns

    def linear_assemble(self, values: Vector) -> None:
        """Set values to the entries that linear_assemble_symbolic() gives the places of."""
        self._call("LinearAssemble", handle_of(self._library, "Vector", values))

    def to_scipy(
        self, *, assembled: bool = False
    ) -> scipy.sparse.linalg.LinearOperator | scipy.sparse.csr_array:
        """Return the operator as SciPy's LinearOperator, or assembled as its sparse matrix.

        The assembled matrix is that of a linear operator. The LinearOperator applies this operator.
        """
        from .interop.scipy import linear_operator, sparse_matrix

        return sparse_matrix(self) if assembled else linear_operator(self)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        try:
            what = "from {1} to {0}".format(*self.shape)
        except CeedError as error:
            what = f"that is not sound ({error}),"
        return f"<pyceedlike.{type(self).__name__}{name} {what} {self.scalar}>"


class OperatorField(NamedTuple):
    """What Operator.set_field() takes behind the name: `op.set_field("u", *field)`."""

    restriction: ElemRestriction | StandIn
    basis: Basis | StandIn
    vector: Vector | StandIn


class CompositeOperator(Operator):
    """The sum of operators, made by Ceed.CompositeOperator().

    >>> ceed = pyceedlike.Ceed()
    >>> both = ceed.CompositeOperator()
    >>> both
    <pyceedlike.CompositeOperator from -1 to -1 float64>
    """

    __slots__ = ()

    def add_sub(self, subop: Operator) -> None:
        """Add an operator; its active vectors must have the lengths of those before."""
        self._call("CompositeAddSub", handle_of(self._library, "Operator", subop))


def _count(n: int, name: str) -> str:
    return f"{n} {name}{'s' * (n != 1)}"
