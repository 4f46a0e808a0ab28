# SPDX-License-Identifier: BSD-2-Clause
"""The context that objects are made in."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import _exchange
from ._lib import LIBRARIES, CeedIncompatibleError, Library

if TYPE_CHECKING:
    import numpy

    from .box import Box
    from .callback import QField
    from .context import QFunctionContext
    from .fab import Fab
    from .fem import Basis, CompositeOperator, ElemRestriction, Operator
    from .multifab import MultiFab
    from .native import PointFunction
    from .qfunction import QFunction
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
    def _of(cls, library: Library, function: Any, handle: Any) -> Ceed:
        """Return the context that a function of C gives of an object."""
        self = cls.__new__(cls)
        self._library = library
        self._box = library.new("Ceed", function, handle)
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

    # Streams of a device.

    @property
    def stream(self) -> int:
        """The address of the stream that the device's work is ordered on; 0 is the default one.

        Raises CeedUnsupportedError on a host context, as the three methods below.
        """
        stream = self._library.get("void *", self._library.lib.CeedGetStream, self._box[0])
        return int(self._library.ffi.cast("uintptr_t", stream))

    def set_stream(self, stream: int) -> None:
        """Order the device's work on a stream, which stays the caller's, by its address."""
        self._with_stream("CeedSetStream", stream)

    def order_before(self, stream: int) -> None:
        """Make a stream wait for what the context's stream has been given until now."""
        self._with_stream("CeedOrderBefore", stream)

    def order_after(self, stream: int) -> None:
        """Make the context's stream wait for what another one has been given until now.

        As when a library has written, on a stream of its own, into memory that it shares.
        """
        self._with_stream("CeedOrderAfter", stream)

    def _with_stream(self, name: str, stream: int) -> None:
        handle = self._library.ffi.cast("void *", operator.index(stream))
        self._library.check(getattr(self._library.lib, name)(self._box[0], handle))

    def is_deterministic(self) -> bool:
        """Return whether equal calls give equal bits."""
        return self._library.get("bool", self._library.lib.CeedIsDeterministic, self._box[0])

    def Vector(self, n: int) -> Vector:  # noqa: N802 - libCEED's name
        """Return a new vector of n entries, which have no values yet.

        >>> len(pyceedlike.Ceed().Vector(3))
        3
        """
        return _exchange.create(self.handle, self.scalar == "float32", n)

    def Fab(self, box: Box, ncomp: int = 1, ghost: Any = 0) -> Fab:  # noqa: N802
        """Return a new fab over a valid box, which has no values yet.

        ghost is the number of layers around the box, one for each direction, or a pair (low, high)
        for each. Raises CeedDimensionError for negative ones and for no components.

        >>> fab = pyceedlike.Ceed().Fab(pyceedlike.Box([-2, 0], [5, 3]), ghost=[(1, 2), 0])
        >>> fab.whole
        Box((-3, 0), (7, 3))
        """
        from .fab import Fab

        return Fab._create(self, box, ncomp, ghost)

    def MultiFab(  # noqa: N802
        self,
        boxes: Iterable[Box],
        ncomp: int = 1,
        ghost: Any = 0,
        owners: Any = None,
        rank: int = 0,
    ) -> MultiFab:
        """Return new fabs over those boxes that owners gives to this rank, without values yet.

        owners has a rank for each box; None gives all of them to this one.

        >>> boxes = [pyceedlike.Box([0], [3]), pyceedlike.Box([4], [7])]
        >>> pyceedlike.Ceed().MultiFab(boxes, owners=[0, 1], rank=1).local
        [1]
        """
        from .multifab import MultiFab

        return MultiFab(self, boxes, ncomp, ghost, owners, rank)

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

    # Operators; the modules above this one are imported when they are asked for.

    def ElemRestriction(  # noqa: N802 - libCEED's name, as those below
        self,
        nelem: int,
        elemsize: int,
        ncomp: int,
        compstride: int,
        lsize: int,
        offsets: Any,
    ) -> ElemRestriction:
        """Return a restriction by offsets[nelem][elemsize] into an L-vector of lsize entries.

        Component c of a node is the entry offset + c * compstride. The offsets, of any integer
        type, are copied. Raises CeedDimensionError, with the place, for one that leads outside.

        >>> pyceedlike.Ceed().ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]]).shape
        (4, 3)
        """
        from .fem import ElemRestriction

        return ElemRestriction._of_offsets(self, nelem, elemsize, ncomp, compstride, lsize, offsets)

    def StridedElemRestriction(  # noqa: N802
        self, nelem: int, elemsize: int, ncomp: int, lsize: int, strides: Any
    ) -> ElemRestriction:
        """Return a restriction by strides of (node, component, element).

        None leaves the layout to the backend, for data that only operators read.
        """
        from .fem import ElemRestriction

        return ElemRestriction._of_strides(self, nelem, elemsize, ncomp, lsize, strides)

    def BasisTensorH1Lagrange(  # noqa: N802
        self,
        dim: int,
        ncomp: int,
        P: int,  # noqa: N803
        Q: int,  # noqa: N803
        qmode: int,
    ) -> Basis:
        """Return a tensor-product basis of P nodes and Q points a direction.

        qmode is the rule of the points, GAUSS or GAUSS_LOBATTO.

        >>> ceed = pyceedlike.Ceed()
        >>> ceed.BasisTensorH1Lagrange(1, 1, 2, 2, pyceedlike.GAUSS_LOBATTO).get_interp()
        array([[1., 0.],
               [0., 1.]])
        """
        from .fem import Basis

        return Basis(self, "CeedBasisCreateTensorH1Lagrange", dim, ncomp, P, Q, qmode)

    def BasisTensorH1(  # noqa: N802
        self,
        dim: int,
        ncomp: int,
        P1d: int,  # noqa: N803
        Q1d: int,  # noqa: N803
        interp1d: Any,
        grad1d: Any,
        qref1d: Any,
        qweight1d: Any,
    ) -> Basis:
        """Return a tensor-product basis of the arrays of one direction.

        They are interp1d[Q1d][P1d], grad1d[Q1d][P1d], qref1d[Q1d] and qweight1d[Q1d].
        Raises CeedDimensionError, with the name, for an array of another shape that is not flat.
        """
        from .fem import Basis

        return Basis._of_arrays(
            self,
            "CeedBasisCreateTensorH1",
            (dim, ncomp, P1d, Q1d),
            interp1d=(interp1d, (Q1d, P1d)),
            grad1d=(grad1d, (Q1d, P1d)),
            qref1d=(qref1d, (Q1d,)),
            qweight1d=(qweight1d, (Q1d,)),
        )

    def BasisH1(  # noqa: N802
        self,
        topo: int,
        ncomp: int,
        nnodes: int,
        nqpts: int,
        interp: Any,
        grad: Any,
        qref: Any,
        qweights: Any,
    ) -> Basis:
        """Return a basis on a topology, as TOPOLOGY_TRIANGLE.

        The arrays are interp[nqpts][nnodes], grad[dim][nqpts][nnodes], qref[dim][nqpts] and
        qweights[nqpts]. Raises CeedDimensionError, with the name, for an array of another shape
        that is not flat.
        """
        from .fem import Basis

        dim = topo >> 16
        return Basis._of_arrays(
            self,
            "CeedBasisCreateH1",
            (topo, ncomp, nnodes, nqpts),
            interp=(interp, (nqpts, nnodes)),
            grad=(grad, (dim, nqpts, nnodes)),
            qref=(qref, (dim, nqpts)),
            qweights=(qweights, (nqpts,)),
        )

    def BasisProjection(self, basis_from: Basis, basis_to: Basis) -> Basis:  # noqa: N802
        """Return the basis whose points are the nodes of `basis_to`.

        Its values are the least-squares projection of a function of `basis_from`, at the quadrature
        points that both have. Raises CeedIncompatibleError unless dimension, components and points
        are the same.

        >>> ceed = pyceedlike.Ceed()
        >>> coarse, fine = (
        ...     ceed.BasisTensorH1Lagrange(1, 1, p, 3, pyceedlike.GAUSS) for p in (2, 3)
        ... )
        >>> ceed.BasisProjection(coarse, fine).get_interp().round(12) + 0.0
        array([[1. , 0. ],
               [0.5, 0.5],
               [0. , 1. ]])
        """
        from ._object import handle_of
        from .fem import Basis

        bases = [handle_of(self._library, "Basis", b) for b in (basis_from, basis_to)]
        return Basis._of(self, self._library.lib.CeedBasisCreateProjection, *bases)

    def QFunction(self, vlength: int, f: Any, source: str) -> QFunction:  # noqa: N802
        """Return a QFunction of a C function, whose fields are to be added.

        f is its address, a cffi function, a numba cfunc, or C code, which is compiled with the
        library's header included and kept in the user's cache; source is "file:name". What Python
        owns of the function is kept until the process ends, since C may call it as long. Raises
        CeedIncompatibleError, with the compiler's messages, for code that does not compile.

        >>> ceed = pyceedlike.Ceed()
        >>> qf = ceed.QFunction(1, '''
        ... CEED_QFUNCTION(halve)(void *ctx, CeedInt Q, const CeedScalar *const *in,
        ...                       CeedScalar *const *out) {
        ...   for (CeedInt i = 0; i < Q; i++) out[0][i] = in[0][i] / 2;
        ...   return 0;
        ... }
        ... ''', "example:halve")
        >>> qf.add_input("u", 1, pyceedlike.EVAL_NONE)
        >>> qf.add_output("v", 1, pyceedlike.EVAL_NONE)
        >>> v = ceed.Vector(2)
        >>> qf.apply(2, [pyceedlike.from_dlpack(np.array([3.0, 4.0]))], [v])
        >>> v.to_numpy()
        array([1.5, 2. ])
        """
        from .qfunction import QFunction

        return QFunction._of_pointer(self, vlength, f, source)

    def QFunctionByName(self, name: str) -> QFunction:  # noqa: N802
        """Return a QFunction of the gallery.

        Raises CeedUnsupportedError, with the list, for another name.
        """
        from ._object import text_of
        from .qfunction import QFunction

        return QFunction(self, "CeedQFunctionCreateInteriorByName", text_of(name))

    def IdentityQFunction(self, size: int, inmode: int, outmode: int) -> QFunction:  # noqa: N802
        """Return a QFunction that copies `input` to `output`, of `size` components."""
        from .qfunction import QFunction

        return QFunction(self, "CeedQFunctionCreateIdentity", size, inmode, outmode)

    def qfunction(
        self, *inputs: QField, engine: str | None = None, **outputs: QField
    ) -> Callable[[Callable[..., Any]], QFunction]:
        """Return a decorator that makes a QFunction of a Python function.

        Inputs have the names of its parameters. Its keyword-only parameters are context values,
        which can be set between applies. It gets an array for each input, read-only, with the
        points as the last axis, and returns one for each output, a tuple where there are several,
        in the context's precision. An exception reaches the caller of apply.

        engine is "numpy", "jax" or "numba"; without it what jax.jit or numba.njit has returned is
        theirs, and all else is NumPy's. NumPy and JAX are called once for all points, share the
        operator's memory, and it shares theirs. numba's code is called for blocks of points that
        fit in the cache. With "c" the function's docstring is C code for point i.

        >>> ceed = pyceedlike.Ceed()
        >>> @ceed.qfunction(pyceedlike.Grad(2), pyceedlike.Data(), dv=pyceedlike.Grad(2))
        ... def diffusion(du, qdata, *, conductivity=1.0):
        ...     return conductivity * qdata * du
        >>> diffusion
        <pyceedlike.QFunction of du, qdata to dv, float64>
        >>> diffusion.context.set_fields(conductivity=10.0)
        >>> du, dv = pyceedlike.from_dlpack(np.array([1.0, 2.0])), ceed.Vector(2)
        >>> diffusion.apply(1, [du, pyceedlike.from_dlpack(np.array([3.0]))], [dv])
        >>> dv.to_numpy()
        array([30., 60.])

        >>> @ceed.qfunction(pyceedlike.Grad(2), dv=pyceedlike.Grad(2), engine="c")
        ... def rotation(du, *, speed=1.0):
        ...     '''dv[0][i] = -speed * du[1][i];
        ...     dv[1][i] = speed * du[0][i];'''
        >>> rotation.apply(1, [du], [dv])
        >>> dv.to_numpy()
        array([-2.,  1.])
        """
        from .callback import check_fields
        from .qfunction import QFunction

        check_fields(inputs, outputs)
        return lambda function: QFunction._of_function(self, function, inputs, outputs, engine)

    def QFunctionContext(self, **values: Any) -> QFunctionContext:  # noqa: N802
        """Return a context of values by name, or without data."""
        from .context import QFunctionContext

        return QFunctionContext._of_values(self, values)

    def Operator(  # noqa: N802
        self,
        qf: QFunction | PointFunction,
        dqf: QFunction | PointFunction | None = None,
        qdfT: QFunction | PointFunction | None = None,  # noqa: N803
    ) -> Operator:
        """Return an operator of a QFunction; dqf and qdfT are its Jacobian and the transpose.

        Each may be a PointFunction of pyceedlike.native, which is compiled.
        """
        from .fem import Operator

        return Operator._of_qfunctions(self, qf, dqf, qdfT)

    def ShellOperator(  # noqa: N802
        self,
        input_size: int,
        output_size: int,
        apply: Any,
        apply_transpose: Any = None,
        context: Any = None,
    ) -> Operator:
        """Return an operator of a routine of C or Fortran, and one of its transpose.

        They are functions of cffi, or addresses, of the type CeedOperatorShellUser: they get the
        context, an address too, and the vectors, and return an error code; that of
        ffi.callback(..., error=-1) does where Python raises. The routines are kept until the
        process ends; the context as long as the operator, which jax() makes the same.
        """
        from .fem import Operator

        return Operator._of_routines(
            self, input_size, output_size, [apply, apply_transpose], context
        )

    def CompositeOperator(self) -> CompositeOperator:  # noqa: N802
        """Return an operator that is the sum of others, which add_sub() adds."""
        from .fem import CompositeOperator

        return CompositeOperator(self, "CeedOperatorCreateComposite")

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
