# SPDX-License-Identifier: BSD-2-Clause
"""Calls of operators by JAX, and what their derivatives and transposes are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._lib import CeedUnsupportedError
from .._object import BASIS_NONE, VECTOR_ACTIVE, VECTOR_NONE
from ..fem import ElemRestriction, Operator, OperatorField
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
        points: tuple[int, int],
        linear: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__()
        self.ceed, self.scalar = ceed, ceed.scalar
        self.point, self.places, self.slots, self.linear = point, places, slots, linear
        self.points = points  # how many elements there are, and points of each
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
        if k not in self.linear and (slot.is_context or k in self.derivative(k).operands):
            raise CeedUnsupportedError(
                f"{self.point.name} is not linear in {', '.join(self.slots[k].names)}: only linear "
                "functions have a transpose"
            )
        point = plain.point.vjp(of=slot.names)
        if slot.is_context:
            rstr = dense_restriction(self.ceed, *self.points, math.prod(slot.shape))
            plain.places[slot.names[0]] = OperatorField(rstr, BASIS_NONE, VECTOR_NONE)
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
        at = {f"{n}_at": self.places[n] for n in self.slots[k].names if n in self.places}
        places = self.places | at
        call = PointCall(self.ceed, point, places, slots, self.points, frozenset(linear))
        return Derived(call, kept)

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
        return PointCall(self.ceed, point, places, slots, self.points, self.linear)


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


class Forms(NamedTuple):
    """An operator whose derivatives are its other forms: of C, or of routines."""

    op: Operator
    sizes: tuple[int, int]  # of the active output and input; -1: none
    active: list[str]  # the active inputs
    context: list[set[str]]  # what the QFunction of each form has
    has: tuple[bool, bool]  # whether it has a Jacobian, and a transpose of it
    is_linear: bool
    unknown: list[str]  # fields of derivatives alone that may be the active input, or not


class FormCall(Call):
    """A call of an operator in one of its forms. The active input, which has no name, is first."""

    def __init__(self, forms: Forms, form: int, slots: Sequence[Slot]) -> None:
        super().__init__()
        self.forms, self.form, self.slots = forms, form, slots
        self.scalar, self.length = forms.op.scalar, forms.sizes[form == TRANSPOSE]
        self.linear = frozenset({0} if form != APPLY or forms.is_linear else ())
        self._derivative: Derived | None = None
        self._transpose: Derived | None = None

    def operator(self) -> tuple[Operator, int, list[str]]:
        """Return the operator that all forms share."""
        return self.forms.op, self.form, [slot.names[0] for slot in self.slots if slot.names]

    def derivative(self, k: int) -> Derived:
        """Return the action of the Jacobian in the active input."""
        if k or self.slots[0].names or self.form != APPLY:
            raise CeedUnsupportedError(
                "the QFunction is not native: it has derivatives of first order in the active "
                "input alone; written with jax.numpy (pyceedlike.native) it has them in all, of "
                "any order"
            )
        if not self.forms.has[0]:
            raise CeedUnsupportedError(
                "the operator has no Jacobian: give ceed.Operator() dqf and qdfT, or say "
                "jax(linear=True) where it is linear in the active input"
            )
        if unknown := self.forms.unknown:
            names, active = ", ".join(unknown), ", ".join(f"{n}_at" for n in self.forms.active)
            raise CeedUnsupportedError(
                f"the QFunctions of the Jacobian alone read {names}, which JAX must know: a field "
                f"where the Jacobian is taken is to be named {active}; give others by name"
            )
        if self._derivative is None:
            at = tuple(f"{n}_at" for n in self.forms.active)
            self._derivative = self._other(JACOBIAN, self.slots[0]._replace(names=at))
        return self._derivative

    def transpose(self, k: int) -> Derived:
        """Return the transpose, of which that one is the transpose in turn."""
        if self.form == JACOBIAN and not self.forms.has[1]:
            raise CeedUnsupportedError(
                "the operator has no transpose of its Jacobian: give ceed.Operator() qdfT"
            )
        if self.form == TRANSPOSE and self._transpose is None:
            raise CeedUnsupportedError(
                "the transpose has no transpose: qdfT has not all that was given by name; let it "
                "have the same context values and inputs"
            )
        if self._transpose is None:
            other = self._transpose = self._other(TRANSPOSE)
            places = {j: i for i, j in enumerate(other.operands, 1)}
            if len(places) == len(self.slots) - 1:
                back = [places[j] for j in range(1, len(self.slots))]
                other.call._transpose = Derived(self, back)
        return self._transpose

    def _other(self, form: int, at: Slot | None = None) -> Derived:
        """Return another form of this, with an operand for where the derivative is taken."""
        known = {*self.forms.op._fields, *self.forms.context[form]}
        slots, kept = [Slot((), (self.forms.sizes[form != TRANSPOSE],))], []
        for k, slot in enumerate([at, *self.slots[1:]]):
            if slot and (names := tuple(n for n in slot.names if n in known)):
                slots.append(slot._replace(names=names))
                kept.append(k)
        return Derived(FormCall(self.forms, form, slots), kept)


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


# ---- Vectors of fields ---------------------------------------------------------------------------


def length_of(field: OperatorField) -> int:
    """Return the length of a field's L-vector."""
    return field.restriction.shape[1]


def dense_restriction(ceed: Ceed, nelem: int, elemsize: int, ncomp: int) -> ElemRestriction:
    """Return the restriction of an L-vector that is [component][element][node]."""
    strides = 1, nelem * elemsize, elemsize
    return ceed.StridedElemRestriction(nelem, elemsize, ncomp, nelem * elemsize * ncomp, strides)
