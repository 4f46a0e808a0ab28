# SPDX-License-Identifier: BSD-2-Clause
"""JAX: operators, restrictions and bases as its functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .._lib import (
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    CeedDimensionError,
    CeedIncompatibleError,
    CeedUnsupportedError,
)
from .._object import BASIS_NONE, VECTOR_ACTIVE
from ..callback import keep_code
from ..fem import Basis, CompositeOperator, ElemRestriction, Operator, OperatorField
from ..vector import Vector
from .jax import check_precision
from .jax_calls import (
    APPLY,
    JACOBIAN,
    TRANSPOSE,
    CopyCall,
    FormCall,
    Forms,
    PointCall,
    Slot,
    dense_restriction,
)
from .jax_primitive import Call

if TYPE_CHECKING:
    import jax
    import numpy

    from ..ceed import Ceed
    from ..native import PointFunction

# ---- Operators -----------------------------------------------------------------------------------


class ContextValue(NamedTuple):
    """A value of a context as an argument: its shape and type, and what it is without one."""

    shape: tuple[int, ...]
    dtype: str
    kept: str  # its type in C, where native QFunctions have no booleans
    value: Any


class Arguments:
    """What a function of an operator can be given."""

    def __init__(self, op: Operator) -> None:
        op._call("CheckReady")
        self.scalar, self.input_size = op.scalar, op.shape[1]
        self.qfunction = op._qfunctions[0] if op._qfunctions else None
        self.fields = op._fields
        inputs = [*self.qfunction.inputs] if self.qfunction else []
        vectors = {name: op._fields[name].vector for name in inputs}
        self.active = op._active()
        self.passive = {n: (len(v),) for n, v in vectors.items() if isinstance(v, Vector)}
        self.of_derivatives = self._of_derivatives(op)
        self.passive |= {n: (len(op._fields[n].vector),) for n in self.of_derivatives}
        self.context = self._context()
        for name in self.qfunction.outputs if self.qfunction else ():
            if op._fields[name].vector is not VECTOR_ACTIVE:
                raise CeedUnsupportedError(
                    f"the output {name!r} of the operator is data, which a function of JAX has "
                    "none of: leave it out, as with_state() is"
                )

    def _of_derivatives(self, op: Operator) -> list[str]:
        """Return the fields with vectors that the QFunctions of derivatives alone read."""
        if self.qfunction is None or self.point:
            return []
        known = {*self.qfunction.inputs, *self.qfunction.outputs, *(f"{n}_at" for n in self.active)}
        names = dict.fromkeys(n for qf in op._qfunctions[1:] if qf for n in qf.inputs)
        return [n for n in names if n not in known and isinstance(op._fields[n].vector, Vector)]

    def _context(self) -> dict[str, ContextValue]:
        import numpy

        context = self.qfunction and self.qfunction.context
        if context is None:
            return {}
        described = getattr(self.point, "context", {})
        types = {1: self.scalar, 2: "int32", 3: "bool"}
        kinds = {field.name: types[field.kind] for field in context._labelled()}
        found = {}
        for name, value in context.get_fields().items():
            kept = kinds[name]
            is_bool = name in described and described[name].dtype == "bool"
            array = numpy.asarray(value, "bool" if is_bool else kept)
            if name in described:
                array = array.reshape(described[name].shape)
            found[name] = ContextValue(array.shape, array.dtype.name, kept, array)
        return found

    @property
    def point(self) -> PointFunction | None:
        """The point function that the QFunction was made of, or None."""
        from ..native import PointFunction

        written_in = self.qfunction and self.qfunction._written_in
        return written_in if isinstance(written_in, PointFunction) else None

    def read(self, u: Any, values: dict[str, Any]) -> tuple[Any, dict[str, jax.Array]]:
        """Return the active input, or None, and all others as arrays, checked."""
        check_precision(self.scalar)
        if (u is None) == (self.input_size >= 0):
            raise CeedIncompatibleError(
                "the operator has an active input: give it first"
                if u is None
                else "the operator has no active input: give the others by name"
            )
        if u is not None:
            u = array_of(u, "the active input", (self.input_size,), self.scalar)
        return u, {n: self._read_one(n, x) for n, x in values.items()}

    def _read_one(self, name: str, x: Any) -> jax.Array:
        if name in self.passive:
            return array_of(x, f"the field {name!r}", self.passive[name], self.scalar)
        if name in self.context:
            value = self.context[name]
            return array_of(x, f"the context value {name!r}", value.shape, value.dtype)
        if name in self.active:
            raise CeedIncompatibleError(
                f"{name!r} is the active input (of {', '.join(self.active)}), which is given first "
                "and without a name; an operator that has a vector for it takes it by name"
            )
        known = ", ".join([*self.passive, *self.context]) or "none"
        raise CeedIncompatibleError(f"the operator has no field or value {name!r} to give: {known}")


# The kinds of numbers, as NumPy's, that become each type where they have none of their own.
KINDS = {"bool": "b", "int32": "iu", "float32": "iuf", "float64": "iuf"}


def array_of(x: Any, what: str, shape: tuple[int, ...], dtype: str) -> jax.Array:
    """Return an argument as an array. Raises where it has another type or shape."""
    import jax

    given = getattr(x, "dtype", None)
    if given is None or getattr(x, "weak_type", False):
        other = next((n for n in map(number_type, jax.tree.leaves(x)) if not fits(n, dtype)), None)
    else:
        other = given if given != dtype else None
    if other is not None:
        raise CeedIncompatibleError(
            f"{what} is {other}, the operator's is {dtype}: convert it, by x.astype({dtype!r})"
        )
    is_one = isinstance(x, jax.Array) and given == dtype
    array = x if is_one else jax.numpy.asarray(x, dtype)
    if array.shape != shape:
        raise CeedDimensionError(f"{what} has shape {array.shape}, {shape} is wanted")
    return array


def number_type(x: Any) -> numpy.dtype:
    """Return the type of an array or a Python number."""
    import numpy

    return numpy.dtype(getattr(x, "dtype", type(x)))


def fits(number: numpy.dtype, dtype: str) -> bool:
    """Return whether a number without a type of its own may become one of this type."""
    return number.kind in KINDS[dtype] or number.kind == "O"


class WithArguments:
    """A function of an operator's arguments."""

    arguments: Arguments

    @property
    def names(self) -> set[str]:
        """What can be given by name."""
        return self.arguments.passive.keys() | self.arguments.context.keys()

    def __repr__(self) -> str:
        a = self.arguments
        active, named = ", ".join(a.active), ", ".join([*a.passive, *a.context])
        return (
            f"<pyceedlike function of JAX of {active or 'nothing'}; by name: {named or 'nothing'}>"
        )


class OperatorFunction(WithArguments):
    """An operator as a function of JAX that calls it in C."""

    def __init__(self, op: Operator, linear: bool) -> None:
        self.arguments = Arguments(op)
        self.op, self.linear = op, linear
        # Their contexts keep the values of now, whatever is given by name later.
        self._qfunctions = [q and q._copy() for q in op._qfunctions]
        self._calls: dict[frozenset[str], Call] = {}
        self._call(frozenset()).id()  # what can't be called is found out now

    def __call__(self, u: Any = None, /, **values: Any) -> jax.Array:
        """Return the active output."""
        u, given = self.arguments.read(u, values)
        call = self._call(frozenset(given))
        if isinstance(call, PointCall):
            context = self.arguments.context
            given = {n: c.value for n, c in context.items()} | given
            given |= {n: given[n].astype(c.kept) for n, c in context.items() if c.kept != c.dtype}
        operands = [u] if u is not None else []
        return call(*operands, *(given[n] for slot in call.slots for n in slot.names if n in given))

    def _call(self, names: frozenset[str]) -> Call:
        if names not in self._calls:
            make = self._of_point if self.arguments.point else self._of_forms
            self._calls[names] = make(names)
        return self._calls[names]

    def _of_point(self, names: frozenset[str]) -> PointCall:
        a = self.arguments
        active = [Slot(tuple(a.active), (a.input_size,))] if a.active else []
        passive = [Slot((n,), shape) for n, shape in a.passive.items() if n in names]
        context = [Slot((n,), value.shape, True) for n, value in a.context.items()]
        slots = [*active, *passive, *context]
        points = self.op.get_num_elements(), self.op.get_num_quadrature_points()
        return PointCall(self.op.ceed, a.point, a.fields, slots, points)

    def _of_forms(self, names: frozenset[str]) -> FormCall:
        a = self.arguments
        active = [Slot((), (a.input_size,))] if a.input_size >= 0 else []
        given = [Slot((n,), a.passive[n]) for n in a.passive if n in names]
        given += [Slot((n,), a.context[n].shape, True) for n in a.context if n in names]
        return FormCall(self._forms(names), APPLY, [*active, *given])

    def _forms(self, names: frozenset[str]) -> Forms:
        """Return an operator of its own, whose vectors of these names the operands lend memory."""
        a, op = self.arguments, self.op
        if a.qfunction is None:
            # A program may still run when all else is dropped.
            for context in op._kept:
                keep_code(id(context), context)
            return Forms(op, op.shape, [], [set()] * 3, (False, False), True, [])
        qfunctions = [q and q._copy() for q in self._qfunctions]
        own = op.ceed.Operator(*qfunctions)
        at = op.ceed.Vector(max(a.input_size, 0))
        lent = {n: op.ceed.Vector(*a.passive[n]) for n in a.passive if n in names}
        lent |= {f"{n}_at": at for n in a.active}
        for name, field in op._fields.items():
            own.set_field(name, *field._replace(vector=lent.get(name, field.vector)))
        context = [{*q.context.get_fields()} if q and q.context else set() for q in qfunctions]
        has = qfunctions[1] is not None, qfunctions[2] is not None
        if not has[1]:  # by assembly of the Jacobian, or of the operator itself
            context[TRANSPOSE] = context[JACOBIAN if has[0] else APPLY]
        linear = self.linear or is_linear(qfunctions[0])
        unknown = [n for n in a.of_derivatives if n not in names]
        return Forms(own, op.shape, a.active, context, has, linear, unknown)


def is_linear(qf: Any) -> bool:
    """Return whether a QFunction is one of the gallery that is known to be linear."""
    create, *arguments = qf._create
    if create == "CeedQFunctionCreateInteriorByName":
        return not arguments[0].endswith(b"Build")
    return create == "CeedQFunctionCreateIdentity"


class SumFunction:
    """A composite operator as a function of JAX: the sum of its parts."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @property
    def names(self) -> set[str]:
        """What can be given by name."""
        return set().union(*(part.names for part in self.parts))

    def __call__(self, u: Any = None, /, **values: Any) -> jax.Array:
        """Return the active output; what is given by name is for all parts that have it."""
        if unknown := values.keys() - self.names:
            raise CeedIncompatibleError(
                f"no part of the operator has a field or value {', '.join(sorted(unknown))}"
            )
        terms = [
            part(
                u if part.arguments.input_size >= 0 else None,
                **{n: x for n, x in values.items() if n in part.names},
            )
            for part in self.parts
        ]
        return sum(terms[1:], terms[0])


def function_of(op: Operator, engine: str, linear: bool) -> Callable[..., jax.Array]:
    """Return an operator as a function of JAX."""
    if engine not in ("c", "xla"):
        raise CeedIncompatibleError(f"engine {engine!r} is none of c, xla")
    check_precision(op.scalar)
    if isinstance(op, CompositeOperator):
        op._call("CheckReady")
        return SumFunction([function_of(part, engine, linear) for part in op._kept])
    if engine == "c":
        return OperatorFunction(op, linear)
    from .jax_numpy import NumpyFunction

    return NumpyFunction(op)


# ---- Restrictions and bases ----------------------------------------------------------------------


class LinearFunction:
    """A linear function of arrays of two shapes; `T` is its transpose."""

    def __init__(self, call: Call, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
        self._call, self._shapes = call, shapes
        call.id()

    @property
    def T(self) -> LinearFunction:  # noqa: N802 - NumPy's name
        """The transpose."""
        return LinearFunction(self._call.transpose(0).call, self._shapes[::-1])

    def __call__(self, x: Any) -> jax.Array:
        """Return the function's value."""
        check_precision(self._call.scalar)
        array = array_of(x, "the argument", self._shapes[0], self._call.scalar)
        return self._call(array.ravel()).reshape(self._shapes[1])


def field_function(field: OperatorField, emode: int) -> LinearFunction:
    """Return the way from a field's L-vector to the points."""
    rstr, basis, _ = field
    if emode not in (EVAL_NONE, EVAL_INTERP, EVAL_GRAD):
        remedy = "; Basis.get_weights() gives weights" if emode == EVAL_WEIGHT else ""
        raise CeedIncompatibleError(f"{emode} is no way to evaluate a vector{remedy}")
    ceed, nelem, ncomp = rstr.ceed, rstr.get_num_elements(), rstr.get_num_components()
    points = rstr.get_element_size() if basis is BASIS_NONE else basis.get_num_quadrature_points()
    shape = (ncomp,) if ncomp > 1 else ()
    if emode == EVAL_GRAD and basis is not BASIS_NONE:
        shape = (basis.get_dimension(), *shape)
    size = math.prod(shape)
    there = OperatorField(rstr, basis, VECTOR_ACTIVE)
    here = OperatorField(dense_restriction(ceed, nelem, points, size), BASIS_NONE, VECTOR_ACTIVE)
    call = CopyCall(
        copy_operator(ceed, size, (there, emode), (here, EVAL_NONE)),
        copy_operator(ceed, size, (here, EVAL_NONE), (there, emode)),
    )
    return LinearFunction(call, ((rstr.shape[1],), (*shape, nelem * points)))


def copy_operator(
    ceed: Ceed, size: int, source: tuple[OperatorField, int], goal: tuple[OperatorField, int]
) -> Operator:
    """Return the operator that evaluates one field, and sums up as the other."""
    op = ceed.Operator(ceed.IdentityQFunction(size, source[1], goal[1]))
    op.set_field("input", *source[0])
    op.set_field("output", *goal[0])
    return op


def restriction_function(rstr: ElemRestriction) -> LinearFunction:
    """Return a restriction, to [component][element][node]."""
    function = field_function(OperatorField(rstr, BASIS_NONE, VECTOR_ACTIVE), EVAL_NONE)
    shape = rstr.get_num_components(), rstr.get_num_elements(), rstr.get_element_size()
    return LinearFunction(function._call, ((rstr.shape[1],), shape))


def basis_function(basis: Basis, nelem: int, emode: int) -> LinearFunction:
    """Return a basis, from [component][element][node]."""
    sizes = nelem, basis.get_num_nodes(), basis.get_num_components()
    rstr = dense_restriction(basis.ceed, *sizes)
    function = field_function(OperatorField(rstr, basis, VECTOR_ACTIVE), emode)
    nodes = sizes[2], sizes[0], sizes[1]
    return LinearFunction(function._call, (nodes, function._shapes[1]))
