# SPDX-License-Identifier: BSD-2-Clause
"""JAX: operators, restrictions and bases as its functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
from .._object import BASIS_NONE, VECTOR_ACTIVE, VECTOR_NONE
from ..fem import Basis, CompositeOperator, ElemRestriction, Operator, OperatorField
from ..vector import Vector
from .jax import check_precision
from .jax_primitive import Call, Derived

if TYPE_CHECKING:
    import jax

    from ..ceed import Ceed
    from ..native import PointFunction

APPLY, JACOBIAN, TRANSPOSE = range(3)  # CeedXLAForm


class Slot(NamedTuple):
    """An operand: of which fields, or which context value, it is the values."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    is_context: bool = False


# ---- Operators of native QFunctions --------------------------------------------------------------


class PointCall(Call):
    """A call of the operator of a point function, whose derivatives are point functions again."""

    def __init__(
        self,
        ceed: Ceed,
        point: PointFunction,
        places: dict[str, OperatorField],
        slots: Sequence[Slot],
        linear: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__()
        self.ceed, self.scalar = ceed, ceed.scalar
        self.point, self.places, self.slots, self.linear = point, places, slots, linear
        self.length = length_of(places[next(iter(point.outputs))])
        self._derivatives: dict[int, Derived] = {}
        self._transposes: dict[int, Derived] = {}

    def operator(self) -> tuple[Operator, int, list[str]]:
        """Return an operator of its own, whose outputs alone are active."""
        op = self.ceed.Operator(self.point)
        vectors = dict.fromkeys(self.point.outputs, VECTOR_ACTIVE)
        for slot in self.slots:
            if not slot.is_context:
                vectors |= dict.fromkeys(slot.names, self.ceed.Vector(*slot.shape))
        for name in [*self.point.inputs, *self.point.outputs]:
            place = self.places[name]
            op.set_field(name, *place._replace(vector=vectors.get(name, place.vector)))
        return op, APPLY, [slot.names[0] for slot in self.slots]

    def derivative(self, k: int) -> Derived:
        """Return the action of the Jacobian in operand k."""
        if k not in self._derivatives:
            self._derivatives[k] = self._derived(k)
        return self._derivatives[k]

    def _derived(self, k: int) -> Derived:
        plain = self._plain()
        slot = plain.slots[k]
        point = plain.point.jvp(of=slot.names)
        direction = slot._replace(names=(f"{slot.names[0]}_dot",)) if slot.is_context else slot
        return plain._call_of(point, k, direction)

    def transpose(self, k: int) -> Derived:
        """Return the transpose in operand k."""
        if k not in self._transposes:
            self._transposes[k] = self._transposed(k)
        return self._transposes[k]

    def _transposed(self, k: int) -> Derived:
        plain = self._plain()
        slot = plain.slots[k]
        if k not in self.linear and (slot.is_context or k in plain.derivative(k).operands):
            raise CeedUnsupportedError(
                f"{self.point.name} is not linear in {', '.join(self.slots[k].names)}: only linear "
                "functions have a transpose"
            )
        point = plain.point.vjp(of=slot.names)
        if slot.is_context:
            size = math.prod(slot.shape)
            plain.places[slot.names[0]] = OperatorField(self._points(size), BASIS_NONE, VECTOR_NONE)
        return plain._call_of(point, k, Slot(tuple(plain.point.outputs), (self.length,)))

    def cotangent(self, k: int, result: jax.Array) -> jax.Array:
        """Return the sum over the points for a context value."""
        slot = self.slots[k]
        if not slot.is_context:
            return result
        return result.reshape(math.prod(slot.shape), -1).sum(1).reshape(slot.shape)

    def _call_of(self, point: PointFunction, k: int, first: Slot) -> Derived:
        """Return the call of a derivative in operand k: `first`, then what it needs of these."""
        slots, linear, kept = [first], {0}, []
        for j, slot in enumerate(self.slots):
            names = slot.names
            if j == k and j in self.linear:
                names = ()  # the derivative does not depend on it
            elif not slot.is_context:
                names = [f"{n}_at" for n in names] if j == k else names
                names = tuple(n for n in names if n in point.inputs)
            if names:
                if j != k and j in self.linear:
                    linear.add(len(slots))
                slots.append(slot._replace(names=names))
                kept.append(j)
        places = self.places | {f"{n}_at": self.places[n] for n in self.slots[k].names
                                if n in self.places}  # fmt: skip
        return Derived(PointCall(self.ceed, point, places, slots, frozenset(linear)), kept)

    def _plain(self) -> PointCall:
        """Return the same with names that those of no derivative are equal to."""
        inputs = {n: f"x{i}" for i, n in enumerate(self.point.inputs)}
        outputs = {n: f"y{i}" for i, n in enumerate(self.point.outputs)}
        context = {n: f"c{i}" for i, n in enumerate(self.point.context)}
        point = renamed(self.point, inputs, outputs, context)
        names = inputs | outputs
        places = {names[n]: place for n, place in self.places.items() if n in names}
        slots = [
            slot._replace(
                names=tuple((context if slot.is_context else inputs)[n] for n in slot.names)
            )
            for slot in self.slots
        ]
        return PointCall(self.ceed, point, places, slots, self.linear)

    def _points(self, size: int) -> ElemRestriction:
        """Return the restriction to values at the points, [component][element][point]."""
        basis = next((p.basis for p in self.places.values() if p.basis != BASIS_NONE), None)
        rstr = next(p.restriction for p in self.places.values() if p.basis == basis or not basis)
        nelem = next(p.restriction for p in self.places.values()
                     if isinstance(p.restriction, ElemRestriction)).get_num_elements()  # fmt: skip
        points = basis.get_num_quadrature_points() if basis else rstr.get_element_size()
        return dense_restriction(self.ceed, nelem, points, size)


def renamed(
    point: PointFunction, inputs: dict[str, str], outputs: dict[str, str], context: dict[str, str]
) -> PointFunction:
    """Return a point function with other names of its inputs, outputs and context values.

    It is the jaxpr of the first one, so that derivatives of derivatives are traced once.
    """
    from jax.extend.core import jaxpr_as_fun

    from ..native import PointFunction

    evaluate = jaxpr_as_fun(point.jaxpr())

    def function(*values: Any, **numbers: Any) -> Any:
        results = evaluate(*values, *(numbers[n] for n in context.values()))
        return results if len(results) > 1 else results[0]

    return PointFunction(
        function,
        point.name,
        {inputs[n]: f for n, f in point.inputs.items()},
        {outputs[n]: f for n, f in point.outputs.items()},
        {context[n]: v for n, v in point.context.items()},
    )


# ---- Other operators -----------------------------------------------------------------------------


class FormCall(Call):
    """A call of an operator whose derivatives are its other forms: of C, a shell, a copy."""

    def __init__(self, forms: Forms, form: int, slots: Sequence[Slot], length: int) -> None:
        super().__init__()
        self.forms, self.form, self.slots, self.length = forms, form, slots, length
        self.scalar = forms.op.scalar
        self.linear = frozenset({0} if form != APPLY or forms.is_linear else ())

    def operator(self) -> tuple[Operator, int, list[str]]:
        """Return the operator that all forms share."""
        has_active = bool(self.slots) and self.slots[0].names == ()
        names = [slot.names[0] for slot in self.slots[has_active:]]
        return self.forms.op, self.form, names

    def derivative(self, k: int) -> Derived:
        """Return the action of the Jacobian."""
        return self.forms.derived(self, k, JACOBIAN)

    def transpose(self, k: int) -> Derived:
        """Return the action of the transpose."""
        return self.forms.derived(self, k, TRANSPOSE)


class Forms:
    """What the forms of an operator have in common."""

    def __init__(self, op: Operator, sizes: tuple[int, int], is_linear: bool) -> None:
        self.op, self.is_linear = op, is_linear
        self.output_size, self.input_size = sizes
        self.active: list[str] = []  # the active inputs
        self.inputs: list[set[str]] = [set(), set(), set()]  # of the QFunction of each form
        self._derived: dict[tuple[int, int], Derived] = {}

    def call(self, slots: Sequence[Slot]) -> FormCall:
        """Return the call of the operator itself: the active input comes first."""
        active = [Slot((), (self.input_size,))] if self.input_size >= 0 else []
        return FormCall(self, APPLY, [*active, *slots], self.output_size)

    def derived(self, call: FormCall, k: int, form: int) -> Derived:
        """Return another form, with those operands that it has."""
        if k or call.slots[0].names or (call.form != APPLY and form == JACOBIAN):
            raise CeedUnsupportedError(
                "the QFunction is not native: it has derivatives of first order in the active "
                "input alone; written with jax.numpy (pyceedlike.native) it has them in all, of "
                "any order"
            )
        if form == JACOBIAN and not self.inputs[JACOBIAN]:
            raise CeedUnsupportedError(
                "the operator has no Jacobian: give ceed.Operator() dqf and qdfT, or say "
                "jax(linear=True) where it is linear in the active input"
            )
        if (k, form) not in self._derived:
            self._derived[k, form] = self._make(call, form)
        return self._derived[k, form]

    def _make(self, call: FormCall, form: int) -> Derived:
        if form == TRANSPOSE and call.form == JACOBIAN and not self.inputs[TRANSPOSE]:
            raise CeedUnsupportedError(
                "the operator has no transpose of its Jacobian: give ceed.Operator() qdfT"
            )
        known = self.inputs[form] or self.inputs[APPLY]
        size = self.input_size if form == JACOBIAN else self.output_size
        slots, kept = [Slot((), (size,))], []
        for k, slot in enumerate(call.slots):
            names = slot.names
            if k == 0 and form == JACOBIAN:  # at the active input
                names = tuple(f"{n}_at" for n in self.active)
            if names := tuple(n for n in names if n in known):
                slots.append(slot._replace(names=names))
                kept.append(k)
        length = self.output_size if form == JACOBIAN else self.input_size
        return Derived(FormCall(self, form, slots, length), kept)


class CopyCall(Call):
    """A call of an operator that is linear, and whose transpose is another operator."""

    linear = frozenset({0})

    def __init__(self, op: Operator, transposed: Operator | CopyCall) -> None:
        super().__init__()
        self.op, self.scalar, self.length = op, op.scalar, op.shape[0]
        is_first = isinstance(transposed, Operator)
        self.transposed = CopyCall(transposed, self) if is_first else transposed

    def operator(self) -> tuple[Operator, int, list[str]]:
        """Return the operator."""
        return self.op, APPLY, []

    def derivative(self, k: int) -> Derived:
        """Return the same."""
        return Derived(self, [])

    def transpose(self, k: int) -> Derived:
        """Return the call of the other operator."""
        return Derived(self.transposed, [])


# ---- Functions -----------------------------------------------------------------------------------


class ContextValue(NamedTuple):
    """A value of a context as an argument: its shape and type, and what it is without one."""

    shape: tuple[int, ...]
    dtype: str
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
        self.active = [n for n, v in vectors.items() if v is VECTOR_ACTIVE]
        self.passive = {n: (len(v),) for n, v in vectors.items() if isinstance(v, Vector)}
        self.context = self._context()
        for name in self.qfunction.outputs if self.qfunction else ():
            if op._fields[name].vector is not VECTOR_ACTIVE:
                raise CeedUnsupportedError(
                    f"the output {name!r} of the operator is data, which a function of JAX has "
                    "none of: leave it out, as with_state() is"
                )

    def _context(self) -> dict[str, ContextValue]:
        import numpy

        context = self.qfunction and self.qfunction.context
        if context is None:
            return {}
        shapes = {n: v.shape for n, v in getattr(self.point, "context", {}).items()}
        types = {1: self.scalar, 2: "int32", 3: "bool"}
        kinds = {field.name: types[field.kind] for field in context._labelled()}
        found = {}
        for name, value in context.get_fields().items():
            array = numpy.asarray(value, kinds[name])
            shape = shapes.get(name, array.shape)
            found[name] = ContextValue(shape, kinds[name], array.reshape(shape))
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
            shape, dtype, _ = self.context[name]
            return array_of(x, f"the context value {name!r}", shape, dtype)
        known = ", ".join([*self.passive, *self.context]) or "none"
        raise CeedIncompatibleError(f"the operator has no field or value {name!r} to give: {known}")


def array_of(x: Any, what: str, shape: tuple[int, ...], dtype: str) -> jax.Array:
    """Return an argument as an array. Raises where it has another type or shape."""
    import jax

    given = getattr(x, "dtype", None)
    if given is not None and given != dtype and not getattr(x, "weak_type", False):
        raise CeedIncompatibleError(
            f"{what} is {given}, the operator's is {dtype}: convert it, by x.astype({dtype!r})"
        )
    is_one = isinstance(x, jax.Array) and given == dtype
    array = x if is_one else jax.numpy.asarray(x, dtype)
    if array.shape != shape:
        raise CeedDimensionError(f"{what} has shape {array.shape}, {shape} is wanted")
    return array


class OperatorFunction:
    """An operator as a function of JAX that calls it in C."""

    def __init__(self, op: Operator, linear: bool) -> None:
        self.arguments = Arguments(op)
        self.op, self.linear = op, linear
        self._calls: dict[frozenset[str], Call] = {}
        self._call(frozenset()).id()  # what can't be called is found out now

    @property
    def names(self) -> set[str]:
        """What can be given by name."""
        return self.arguments.passive.keys() | self.arguments.context.keys()

    def __call__(self, u: Any = None, /, **values: Any) -> jax.Array:
        """Return the active output."""
        u, given = self.arguments.read(u, values)
        call = self._call(frozenset(given))
        if isinstance(call, PointCall):
            given = {n: c.value for n, c in self.arguments.context.items()} | given
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
        return PointCall(self.op.ceed, a.point, a.fields, slots)

    def _of_forms(self, names: frozenset[str]) -> FormCall:
        a, op = self.arguments, self.op
        given = [Slot((n,), a.passive[n]) for n in a.passive if n in names]
        given += [Slot((n,), a.context[n].shape, True) for n in a.context if n in names]
        if a.qfunction is None:
            _contexts.extend(op._kept)  # a program may still run when all else is dropped
            return Forms(op, op.shape, True).call(given)
        qfunctions = [q and q._copy() for q in op._qfunctions]
        forms = Forms(
            op.ceed.Operator(*qfunctions), op.shape, self.linear or is_linear(qfunctions[0])
        )
        forms.active = a.active
        at = op.ceed.Vector(max(a.input_size, 0))
        lent = {n: op.ceed.Vector(*a.passive[n]) for n in a.passive if n in names}
        lent |= {f"{n}_at": at for n in a.active}
        for name, field in op._fields.items():
            forms.op.set_field(name, *field._replace(vector=lent.get(name, field.vector)))
        for form, q in enumerate(qfunctions):
            if q is not None:
                context = q.context._labelled() if q.context else ()
                forms.inputs[form] = {*q.inputs, *(field.name for field in context)}
        return forms.call(given)


_contexts: list[Any] = []  # of routines


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


def length_of(field: OperatorField) -> int:
    """Return the length of a field's L-vector."""
    return field.restriction.shape[1]


def dense_restriction(ceed: Ceed, nelem: int, elemsize: int, ncomp: int) -> ElemRestriction:
    """Return the restriction of an L-vector that is [component][element][node]."""
    strides = 1, nelem * elemsize, elemsize
    return ceed.StridedElemRestriction(nelem, elemsize, ncomp, nelem * elemsize * ncomp, strides)


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
