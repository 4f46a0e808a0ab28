# SPDX-License-Identifier: BSD-2-Clause
"""Operators of finite elements: restrictions, bases, and what they make of a QFunction."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import (
    EVAL_WEIGHT,
    NOTRANSPOSE,
    TRANSPOSE,
    CeedDimensionError,
    CeedError,
    CeedUnsupportedError,
)
from ._object import (
    REQUEST_IMMEDIATE,
    VECTOR_ACTIVE,
    VECTOR_NONE,
    Object,
    StandIn,
    handle_of,
    request_of,
    text_of,
)
from .callback import keep_code
from .ceed import Ceed
from .context import QFunctionContext, set_fields
from .qfunction import QFunction, address_of, qfunction_of
from .vector import Vector

if TYPE_CHECKING:
    import jax
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

    def jax(self) -> Callable[[Any], jax.Array]:
        """Return the restriction as a linear function of JAX, with its transpose as attribute `T`.

        It takes an L-vector to an array [component][element][node].
        """
        from .interop.jax_operator import restriction_function

        return restriction_function(self)

    def get_multiplicity(self) -> Vector:
        """Return how many times each entry of the L-vector occurs in the E-vector.

        >>> rstr = pyceedlike.Ceed().ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]])
        >>> rstr.get_multiplicity().to_numpy()
        array([1., 2., 1.])
        """
        multiplicity = self.ceed.Vector(self.shape[1])
        self._call("GetMultiplicity", handle_of(self._library, "Vector", multiplicity))
        return multiplicity

    def get_offsets(self) -> numpy.ndarray:
        """Return a copy of the offsets, [element][node].

        Raises CeedIncompatibleError for a restriction by strides, which has none.

        >>> pyceedlike.Ceed().ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]]).get_offsets()
        array([[0, 1],
               [1, 2]], dtype=int32)
        """
        from .interop.numpy import copy_of

        ffi = self._library.ffi
        shape = self.get_num_elements(), self.get_element_size()
        size = shape[0] * shape[1] * ffi.sizeof("CeedInt")
        with self._library.lent("CeedElemRestriction", "Offsets", self._box[0]) as address:
            return copy_of(ffi.buffer(ffi.cast("char *", address), size), "int32", shape)

    def get_comp_stride(self) -> int:
        """Return how far the components of a node lie apart in the L-vector; 0 for strides."""
        return self._get("CeedInt", "GetCompStride")

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
        return self._layout("GetELayout")

    def get_l_layout(self) -> tuple[int, int, int]:
        """Return the strides of (node, component, element) in a strided restriction's L-vector.

        Raises CeedIncompatibleError for offsets, CeedUnsupportedError for a layout that was left to
        the backend and has no strides.
        """
        return self._layout("GetLLayout")

    def _layout(self, name: str) -> tuple[int, int, int]:
        layout = self._library.ffi.new("CeedInt[3]")
        self._call(name, layout)
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

    def jax(self, nelem: int, emode: int) -> Callable[[Any], jax.Array]:
        """Return apply() as a linear function of JAX, with its transpose as attribute `T`.

        It takes an array [component][element][node] to values at the points, with the points of all
        elements as the last axis: (dim, components, points) for EVAL_GRAD; one component has no
        axis.
        """
        from .interop.jax_operator import basis_function

        return basis_function(self, nelem, emode)

    def get_topology(self) -> int:
        """Return the kind of element, as TOPOLOGY_QUAD."""
        return self._get("CeedElemTopology", "GetTopology")

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

    def get_num_nodes1d(self) -> int:
        """Return the number of nodes in one direction of a tensor product."""
        return self._get("CeedInt", "GetNumNodes1D")

    def get_num_quadrature_points1d(self) -> int:
        """Return the number of quadrature points in one direction of a tensor product."""
        return self._get("CeedInt", "GetNumQuadraturePoints1D")

    def get_interp1d(self) -> numpy.ndarray:
        """Return a copy of the matrix of one direction from nodes to values, [point][node]."""
        return self._matrix("GetInterp1D", self._points_and_nodes1d())

    def get_grad1d(self) -> numpy.ndarray:
        """Return a copy of the matrix of one direction from nodes to derivatives, [point][node]."""
        return self._matrix("GetGrad1D", self._points_and_nodes1d())

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

    def _tensor(self) -> tuple[numpy.ndarray, numpy.ndarray] | None:
        """Return the matrices of one direction, of values and derivatives; None where no tensor."""
        try:
            return self.get_interp1d(), self.get_grad1d()
        except CeedError:
            return None

    def _points_and_nodes1d(self) -> tuple[int, int]:
        return self.get_num_quadrature_points1d(), self.get_num_nodes1d()

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
    <pyceedlike.Operator of input from 3 to 3 float64>
    >>> op(pyceedlike.from_dlpack(np.array([1.0, 2.0, 3.0]))).to_numpy()
    array([1., 2., 3.])
    """

    __slots__ = ("_fields", "_kept", "_qfunctions")
    _kind = "Operator"

    def __init__(self, ceed: Ceed, create: str, *arguments: Any) -> None:
        super().__init__(ceed, create, *arguments)
        self._qfunctions: list[QFunction | None] = []  # its own, the Jacobian's, the transpose's
        self._fields: dict[str, OperatorField] = {}
        self._kept: list[Any] = []  # parts, or the context of the routines

    @classmethod
    def _of_qfunctions(cls, ceed: Ceed, *given: QFunction | PointFunction | None) -> Operator:
        library = ceed._library
        null = library.ffi.NULL
        qfunctions = [qfunction_of(ceed, q) for q in given]
        handles = [null if q is None else handle_of(library, "QFunction", q) for q in qfunctions]
        self = cls(ceed, "CeedOperatorCreate", *handles)
        self._qfunctions = qfunctions
        return self

    @classmethod
    def _of_routines(
        cls, ceed: Ceed, input_size: int, output_size: int, routines: list[Any], context: Any
    ) -> Operator:
        ffi = ceed._library.ffi
        addresses = [0 if f is None else address_of(ceed._library, f) for f in routines]
        pointers = [ffi.cast("CeedOperatorShellUser", address) for address in addresses]
        data = ffi.cast("void *", 0 if context is None else address_of(ceed._library, context))
        sizes = input_size, output_size
        self = cls(ceed, "CeedOperatorCreateShell", *sizes, *pointers, data)
        for address, routine in zip(addresses, routines, strict=True):
            keep_code(address, routine)
        self._kept = [context]
        return self

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
        where = f"for the field {fieldname!r}"
        handles = [handle_of(self._library, kind, thing, where) for kind, thing in things]
        self._call("SetField", text_of(fieldname), *handles)
        self._fields[fieldname] = OperatorField(restriction, basis, vector)

    def set_context_fields(self, **values: Any) -> None:
        """Set values of contexts by name, in every part and every derivative that has them.

        Raises CeedIncompatibleError, with those there are, for a name that there is not.
        """
        set_fields(self, "GetContextFieldLabel", "SetContext", self._contexts(), values)

    def _contexts(self) -> list[QFunctionContext]:
        """Return the contexts of all QFunctions, each once."""
        return [*dict.fromkeys(q.context for q in self._qfunctions if q and q.context)]

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

    def get_flops_estimate(self) -> int:
        """Return the number of floating-point operations of one apply.

        Raises CeedIncompleteError unless every QFunction has an estimate of its own.
        """
        return self._get("CeedSize", "GetFlopsEstimate")

    def check_ready(self) -> None:
        """Raise CeedIncompleteError, with the name of a field that is not set, or return."""
        self._call("CheckReady")

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

    def apply_add_active(
        self, u: Vector | StandIn, v: Vector | StandIn, request: StandIn = REQUEST_IMMEDIATE
    ) -> None:
        """Add A u to v, and set the outputs that are data."""
        self._apply("ApplyAddActive", u, v, request)

    def apply_jacobian(self, u: Vector, v: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Apply with the QFunction of the Jacobian, `dqf`, in the place of the operator's own."""
        self._apply("ApplyJacobian", u, v, request)

    def apply_transpose(self, u: Vector, v: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Set v to the transpose of A, applied to u; without `qdfT` A must be linear."""
        self._check_linear(2)
        self._apply("ApplyTranspose", u, v, request)

    def __call__(self, u: Any = VECTOR_NONE) -> Vector:
        """Return A u, a new vector. u is a Vector or any array in the operator's precision.

        An array is an L-vector: (size,), or (components, nodes) as those of Space are, or (nodes,
        components) where the components of a node lie together. Raises CeedDimensionError for
        others.
        """
        v = self.ceed.Vector(max(self.shape[0], 0))
        source = u if isinstance(u, (Vector, StandIn)) else self._vector_of(u)
        self.apply(source, v if self.shape[0] >= 0 else VECTOR_NONE)
        return v

    def _vector_of(self, u: Any) -> Vector:
        """Return an array as the active input; one of several axes has those of the L-vector."""
        jax = sys.modules.get("jax")
        if jax and isinstance(u, jax.core.Tracer):
            raise CeedUnsupportedError(
                "an operator takes arrays, and JAX is tracing this call: operator.jax() is the "
                "function for jax.jit, jax.grad and all others"
            )
        shape, shapes = tuple(getattr(u, "shape", ())), self._input_shapes()
        if len(shape) > 1 and shape not in shapes:
            wanted = " or ".join(map(str, sorted(shapes, key=len)))
            raise CeedDimensionError(f"the active input has shape {shape}, {wanted} is wanted")
        return Vector.from_dlpack(u, ceed=self.ceed)

    def _input_shapes(self) -> set[tuple[int, ...]]:
        """Return the shapes of arrays whose entries lie as those of the active input."""
        size = self.shape[1]
        grids = [self._fields[name].restriction for name in self._active()]
        shapes = [_l_shapes(grid, size) for grid in grids]
        return {(size,)}.union(*shapes)

    # Assembly of linear operators.

    def _has_jacobian(self) -> bool:
        return any(self._qfunctions[1:2])

    def _check_linear(self, derivatives: int = 1) -> None:
        """Raise where a QFunction is known not to be linear, and has none of its derivatives."""
        qf = self._qfunctions[0] if self._qfunctions else None
        given = any(self._qfunctions[1 : 1 + derivatives])
        if given or not hasattr(qf and qf._written_in, "is_linear"):
            return
        point, inputs = qf._written_in, self._active()
        outputs = [n for n in qf.outputs if self._is_active(n)]
        if inputs and outputs and not point.is_linear(inputs, outputs):
            raise CeedUnsupportedError(
                f"{point.name} is not linear in {', '.join(inputs)}, and the operator has no "
                f"Jacobian: make it with one, such as {point.name}.jvp()"
            )

    def diagonal(self) -> Vector:
        """Return the diagonal of a linear operator, or of the Jacobian; a new vector."""
        diagonal = self.ceed.Vector(self.shape[0])
        self.linear_assemble_diagonal(diagonal)
        return diagonal

    def linear_assemble_diagonal(self, d: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Set d to the diagonal of a linear operator."""
        self._assemble("LinearAssembleDiagonal", d, request)

    def linear_assemble_add_diagonal(self, d: Vector, request: StandIn = REQUEST_IMMEDIATE) -> None:
        """Add the diagonal of a linear operator to d."""
        self._assemble("LinearAssembleAddDiagonal", d, request)

    def point_block_diagonal(self) -> Vector:
        """Return the blocks [node][out][in] that couple the components of each node.

        A new vector, for preconditioners; with one component it is the diagonal.
        """
        blocks = self.ceed.Vector(len(self.linear_assemble_point_block_diagonal_symbolic()[0]))
        self.linear_assemble_point_block_diagonal(blocks)
        return blocks

    def linear_assemble_point_block_diagonal(
        self, d: Vector, request: StandIn = REQUEST_IMMEDIATE
    ) -> None:
        """Set d to the blocks of the nodes; as point_block_diagonal()."""
        self._assemble("LinearAssemblePointBlockDiagonal", d, request)

    def linear_assemble_point_block_diagonal_symbolic(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return rows and columns of the entries of the point-block diagonal."""
        return self._places("LinearAssemblePointBlockDiagonalSymbolic")

    def linear_assemble_qfunction(self) -> tuple[Vector, ElemRestriction]:
        """Return the derivatives of the outputs by the inputs at all points, of a linear QFunction.

        With the restriction that tells where they lie: it has a component for each pair of active
        components, inputs slowest.
        """
        self._check_linear()
        library = self._library
        request = request_of(library, REQUEST_IMMEDIATE)
        vector = library.ffi.new("CeedVector *")

        def create(restriction: Any) -> int:
            how = library.lib.CeedOperatorLinearAssembleQFunction
            return how(self._box[0], vector, restriction, request)

        restriction = ElemRestriction._of(self.ceed, create)
        address = int(library.ffi.cast("uintptr_t", vector[0]))
        assembled = Vector.from_handle(address)  # with a reference of its own
        library.check(library.lib.CeedVectorDestroy(vector))
        return assembled, restriction

    def _assemble(self, how: str, d: Vector, request: StandIn) -> None:
        self._check_linear()
        library = self._library
        self._call(how, handle_of(library, "Vector", d), request_of(library, request))

    def linear_assemble_symbolic(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Return rows and columns of the entries of the matrix, element by element.

        Entries of the same place are to be summed.
        """
        return self._places("LinearAssembleSymbolic")

    def _places(self, name: str) -> tuple[numpy.ndarray, numpy.ndarray]:
        from .interop.numpy import copy_of

        ffi, lib = self._library.ffi, self._library.lib
        size, places = ffi.new("CeedSize *"), ffi.new("CeedInt *[2]")
        self._call(name, size, places, places + 1)
        owned = [ffi.gc(place, lib.free) for place in places]
        memory = [ffi.buffer(place, size[0] * ffi.sizeof("CeedInt")) for place in owned]
        rows, columns = (copy_of(m, "int32", (size[0],)) for m in memory)
        return rows, columns

    def linear_assemble(self, values: Vector) -> None:
        """Set values to the entries that linear_assemble_symbolic() gives the places of."""
        self._check_linear()
        self._call("LinearAssemble", handle_of(self._library, "Vector", values))

    def to_scipy(
        self, *, assembled: bool = False
    ) -> scipy.sparse.linalg.LinearOperator | scipy.sparse.csr_array:
        """Return the operator as SciPy's LinearOperator, or assembled as its sparse matrix.

        Both are of a linear operator, or of the Jacobian of one that has a Jacobian: where that
        reads its state in a field, such as `u_at`, it is the Jacobian there. The LinearOperator
        applies this operator. Raises CeedUnsupportedError, as all of assembly, for a native
        function that is not linear; any other is taken at its word.
        """
        from .interop.scipy import linear_operator, sparse_matrix

        self._check_linear()

        return sparse_matrix(self) if assembled else linear_operator(self)

    def jax(self, engine: str = "c", *, linear: bool = False) -> Callable[..., jax.Array]:
        """Return the operator as a function of JAX, for jit, grad, jvp, vjp, vmap and all others.

        It takes the active input and, by name, vectors of other inputs and values of the context,
        in the operator's precision, and returns the active output. It has derivatives in all of
        them, of any order, where the QFunction is native; where it is C's, in the active input of
        first order, by dqf and qdfT, whose fields of the point it is taken at are called `u_at` for
        an active input `u`; other fields that they alone read are given by name. Shell operators
        and those that are said to be linear are their own Jacobians.

        engine "c" calls this operator in C, without copies; what is not given are its own vectors,
        which it reads when it runs. "xla" is the same written in jax.numpy, for any device; what is
        not given is copied now. Values of the context that are not given are those of now.

        Raises CeedUnsupportedError for a QFunction that JAX must not call ("c") or can't see
        ("xla"), CeedIncompatibleError in double precision while jax_enable_x64 is off.
        """
        from .interop.jax_operator import function_of

        return function_of(self, engine, linear)

    def _active(self) -> list[str]:
        """Return the inputs that read the active vector."""
        names = self._qfunctions[0].inputs if self._qfunctions else ()
        return [n for n in names if self._is_active(n)]

    def _is_active(self, name: str) -> bool:
        return name in self._fields and self._fields[name].vector is VECTOR_ACTIVE

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        if active := self._active():
            name += f" of {', '.join(active)}"
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

    def jax(self, emode: int) -> Callable[[Any], jax.Array]:
        """Return the way from an L-vector to the points as a linear function of JAX.

        Values at the points are as a QFunction of Python gets them, with the points as the last
        axis: (dim, components, points) for EVAL_GRAD; one component has no axis. The transpose,
        from points to an L-vector, is its attribute `T`.
        """
        from .interop.jax_operator import field_function

        return field_function(self, emode)


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
        self._kept.append(subop)

    def _input_shapes(self) -> set[tuple[int, ...]]:
        parts = [part._input_shapes() for part in self._kept if part.shape[1] >= 0]
        return set.intersection(*parts) if parts else set()

    def _contexts(self) -> list[QFunctionContext]:
        return [*dict.fromkeys(context for part in self._kept for context in part._contexts())]

    def _has_jacobian(self) -> bool:
        return any(part._has_jacobian() for part in self._kept)

    def _check_linear(self, derivatives: int = 1) -> None:
        for part in self._kept:
            part._check_linear(derivatives)


def _l_shapes(grid: ElemRestriction, size: int) -> set[tuple[int, ...]]:
    """Return the shapes, of components and nodes, of an array of a restriction's L-vector."""
    ncomp, stride = grid.get_num_components(), grid.get_comp_stride()
    n = size // ncomp
    return {shape for shape, step in (((ncomp, n), n), ((n, ncomp), 1)) if step == stride}


def _count(n: int, name: str) -> str:
    return f"{n} {name}{'s' * (n != 1)}"
