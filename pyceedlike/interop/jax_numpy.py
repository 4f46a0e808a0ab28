# SPDX-License-Identifier: BSD-2-Clause
"""JAX: operators written in jax.numpy, for whatever device JAX has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._lib import EVAL_GRAD, EVAL_WEIGHT, CeedIncompleteError, CeedUnsupportedError
from .._object import BASIS_NONE
from ..callback import Physics
from .jax_operator import Arguments, WithArguments

if TYPE_CHECKING:
    import jax
    import numpy

    from ..fem import Basis, ElemRestriction, Operator, OperatorField
    from ..vector import Vector


def entries(rstr: ElemRestriction) -> numpy.ndarray:
    """Return which entry of the L-vector each node is, [component][element][node]."""
    import numpy

    length = rstr.shape[1]
    indices, low = numpy.arange(length), 4096  # two digits: float32 holds them
    digits = [_restricted(rstr, part) for part in (indices // low, indices % low)]
    shape = rstr.get_num_components(), rstr.get_num_elements(), rstr.get_element_size()
    return (digits[0] * low + digits[1]).reshape(shape)


def _restricted(rstr: ElemRestriction, values: numpy.ndarray) -> numpy.ndarray:
    u = rstr.ceed.Vector(len(values))
    u.set_array(values.astype(rstr.scalar))
    return (rstr @ u).to_numpy().astype("int32")


class Evaluation:
    """What a basis does to values at the nodes of all elements, and its transpose."""

    def __init__(self, basis: Basis, emode: int) -> None:
        self.dim, self.is_gradient = basis.get_dimension(), emode == EVAL_GRAD
        self.num_points = basis.get_num_quadrature_points()
        self.num_directions = self.dim if self.is_gradient else 1
        self.tensor = basis._tensor()
        if self.tensor is None:
            matrices = basis.get_grad() if self.is_gradient else basis.get_interp()[None]
            self.matrices = matrices

    def to_points(self, x: jax.Array) -> jax.Array:
        """Return [direction][component][point of an element] of [component][element][node]."""
        import jax.numpy as jnp

        if self.tensor is None:
            values = jnp.einsum("dqp,cep->dceq", self.matrices, x)
        else:
            values = jnp.stack([self._contract(m, x) for m in self._factors()])
        return values.reshape(*values.shape[:2], -1)

    def to_nodes(self, values: jax.Array, ncomp: int, nelem: int) -> jax.Array:
        """Return the transpose's result."""
        import jax.numpy as jnp

        values = values.reshape(self.num_directions, ncomp, nelem, self.num_points)
        if self.tensor is None:
            return jnp.einsum("dqp,dceq->cep", self.matrices, values)
        terms = zip(self._factors(), values, strict=True)
        return sum(self._contract([m.T for m in factors], v) for factors, v in terms)

    def _factors(self) -> list[list[numpy.ndarray]]:
        """Return the matrices along each axis, for each direction; the first axis is the last."""
        interp, grad = self.tensor
        if not self.is_gradient:
            return [[interp] * self.dim]
        return [[grad if i == d else interp for i in range(self.dim)] for d in range(self.dim)]

    def _contract(self, factors: list[numpy.ndarray], x: jax.Array) -> jax.Array:
        import jax.numpy as jnp

        ends = x.shape[:2]
        x = x.reshape(*ends, *(m.shape[1] for m in reversed(factors)))
        for i, matrix in enumerate(factors):
            axis = x.ndim - 1 - i
            x = jnp.moveaxis(jnp.tensordot(x, matrix, (axis, 1)), -1, axis)
        return x.reshape(*ends, math.prod(x.shape[2:]))


class Place:
    """A field of an operator: where its values are, and how they are evaluated."""

    def __init__(self, field: OperatorField, emode: int, shape: tuple[int, ...]) -> None:
        rstr, basis, _ = field
        self.shape = shape
        self.is_weight = emode == EVAL_WEIGHT
        if self.is_weight:
            self.weights = basis.get_weights()
            return
        self.index, self.length = entries(rstr), rstr.shape[1]
        self.evaluation = None if basis is BASIS_NONE else Evaluation(basis, emode)

    def read(self, vector: jax.Array) -> jax.Array:
        """Return the values at the points, with the points as the last axis."""
        import jax.numpy as jnp

        values = jnp.asarray(vector)[self.index]
        if self.evaluation:
            values = self.evaluation.to_points(values)
        return values.reshape(*self.shape, -1)

    def write(self, values: jax.Array) -> jax.Array:
        """Return the L-vector that values at the points give."""
        import jax.numpy as jnp

        ncomp, nelem, _ = self.index.shape
        if self.evaluation:
            values = self.evaluation.to_nodes(values, ncomp, nelem)
        zeros = jnp.zeros(self.length, values.dtype)
        return zeros.at[self.index.ravel()].add(values.ravel())


def has_values(vector: Vector) -> bool:
    """Return whether a vector has values to read."""
    try:
        with vector.array_read():
            return True
    except CeedIncompleteError:
        return False


class NumpyFunction(WithArguments):
    """An operator as a function of JAX that is written in jax.numpy."""

    def __init__(self, op: Operator) -> None:
        import jax
        import numpy

        self.arguments = Arguments(op)
        self.points = self._of_points(op)
        written_in = self.arguments.qfunction._written_in
        self.inputs, self.outputs = list(written_in.inputs), list(written_in.outputs)
        fields = written_in.inputs | written_in.outputs
        self.places = {n: Place(op._fields[n], *field) for n, field in fields.items()}
        self.num_points = op.get_num_elements() * op.get_num_quadrature_points()
        self.context = {n: c.value for n, c in self.arguments.context.items()}
        with jax.ensure_compile_time_eval():  # this may be called from within a program
            self.own = {
                n: numpy.asarray(self.places[n].read(op._fields[n].vector.to_numpy()))
                for n in self.arguments.passive
                if n in self.places and has_values(op._fields[n].vector)
            }  # at the points, since XLA takes long to gather constants
        self._jitted = jax.jit(self._apply)

    def __call__(self, u: Any = None, /, **values: Any) -> jax.Array:
        """Return the active output."""
        u, given = self.arguments.read(u, values)
        own = {n: x for n, x in self.own.items() if n not in given}
        passive = self.arguments.passive.keys() & self.places.keys()
        if missing := sorted(passive - given.keys() - own.keys()):
            raise CeedIncompleteError(
                f"the field {missing[0]!r} had no values when this function was made: give it by "
                "name"
            )
        return self._jitted(u, given, own)

    def _apply(self, u: jax.Array | None, given: dict[str, Any], own: dict[str, Any]) -> jax.Array:
        import jax.numpy as jnp

        vectors = {**given, **dict.fromkeys(self.arguments.active, u)}
        inputs = [own[n] if n in own else self._read(n, vectors) for n in self.inputs]
        context = {n: given.get(n, x) for n, x in self.context.items()}
        results = self.points(inputs, context)
        scalar = self.arguments.scalar
        terms = [
            self.places[n].write(jnp.asarray(x, scalar))
            for n, x in zip(self.outputs, results, strict=True)
        ]
        return sum(terms[1:], terms[0])

    def _read(self, name: str, vectors: dict[str, Any]) -> jax.Array:
        import jax.numpy as jnp

        place = self.places[name]
        if place.is_weight:
            return jnp.tile(place.weights, self.num_points // len(place.weights))
        return place.read(vectors[name])

    def _of_points(self, op: Operator) -> Callable[[list[Any], dict[str, Any]], Any]:
        """Return the physics as a function of the arrays of all points and the context's values."""
        import jax

        qf = self.arguments.qfunction
        written_in = qf and qf._written_in
        if written_in is None:
            raise CeedUnsupportedError(
                f"engine 'xla' needs a QFunction that JAX can see, and {op!r} has none: write it "
                "with jax.numpy, as a native.qfunction or a ceed.qfunction of jax.jit; engine 'c' "
                "calls this one"
            )
        if isinstance(written_in, Physics):
            return lambda inputs, context: [
                x for _, _, x in written_in.results(written_in.function(*inputs, **context))
            ]
        return lambda inputs, context: jax.vmap(
            lambda *x: written_in.results(*x, **context), -1, -1
        )(*inputs)
