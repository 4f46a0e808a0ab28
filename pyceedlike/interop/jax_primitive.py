# SPDX-License-Identifier: BSD-2-Clause
"""JAX's primitive that calls operators of C: its rules, whatever is called."""

from __future__ import annotations

import functools
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _exchange
from .._lib import LIBRARIES, CeedUnsupportedError
from .._object import text_of

if TYPE_CHECKING:
    import jax
    import numpy

    from ..fem import Operator


class Derived(NamedTuple):
    """A call whose operand 0 is a direction or a cotangent, then come operands of the first one."""

    call: Call
    operands: list[int]


class Call(ABC):
    """A call of an operator in a form, with operands and one result, in one axis."""

    scalar: str
    length: int  # of the result
    linear: frozenset[int]  # the operands that the result is known to be linear in

    def __init__(self) -> None:
        self._id: numpy.int64 | None = None
        self._program: Any = None
        self._lock = threading.Lock()

    @abstractmethod
    def operator(self) -> tuple[Operator, int, list[str]]:
        """Return the operator, the form, and the names of the operands but the active one."""

    @abstractmethod
    def derivative(self, k: int) -> Derived:
        """Return the derivative in operand k, along a direction of it."""

    @abstractmethod
    def transpose(self, k: int) -> Derived:
        """Return the transpose of what is linear in operand k."""

    def cotangent(self, k: int, result: jax.Array) -> jax.Array:
        """Return the cotangent of operand k from the transpose's result."""
        return result

    def id(self) -> numpy.int64:
        """Return what programs know the operator by, as long as this lives."""
        import numpy

        with self._lock:
            if self._id is None:
                operator, form, names = self.operator()
                library = LIBRARIES[self.scalar]
                texts = [library.ffi.new("char[]", text_of(name)) for name in names]
                array = library.ffi.new("const char *[]", texts)
                number = operator._get("int64_t", "XLAOpen", form, len(names), array)
                self._id = numpy.int64(number)
                self._operator = operator  # its Python objects, too
                weakref.finalize(self, library.lib.CeedXLAClose, number)
            return self._id

    def program(self) -> Any:
        """Return a program of this call alone; it does not keep this object alive."""
        import jax

        if self._program is None:
            result = jax.ShapeDtypeStruct((self.length,), self.scalar)
            call = jax.ffi.ffi_call(target(self.scalar), result)
            self._program = jax.jit(functools.partial(call, id=self.id()))
        return self._program

    def __call__(self, *operands: Any) -> jax.Array:
        """Return the result; operands are arrays of the right shapes and types."""
        return primitive().bind(*_alike(operands), call=self)


def target(scalar: str) -> str:
    """Return the name by which XLA knows the C library of a precision."""
    return f"ceedlike_{scalar}"


@functools.cache
def primitive() -> Any:
    """Return the primitive; JAX knows it, and C's functions, from the first use on."""
    import jax
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    for scalar in LIBRARIES:
        handlers = _exchange.xla_handlers(scalar == "float32")
        jax.ffi.register_ffi_target(target(scalar), handlers, platform="cpu")
    made = Primitive("ceedlike_operator")
    made.def_abstract_eval(_result)
    made.def_impl(lambda *operands, call: call.program()(*operands))
    ad.primitive_jvps[made] = _jvp
    ad.primitive_transposes[made] = _transpose
    batching.primitive_batchers[made] = _batch
    mlir.register_lowering(made, _refuse)
    mlir.register_lowering(made, _lower, platform="cpu")
    return made


def _result(*operands: Any, call: Call) -> Any:
    """Return the result's type: it varies over the axes of a mesh over which the operands do."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    result = jax.core.ShapedArray((call.length,), call.scalar)
    if not operands:
        return result
    sharding = NamedSharding(operands[0].sharding.mesh, PartitionSpec(None))
    shape, dtype = result.shape, result.dtype
    return operands[0].update(shape=shape, dtype=dtype, weak_type=False, sharding=sharding)


def _alike(operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands that vary over the same axes of a mesh, those of jax.shard_map."""
    import jax

    if len(operands) == 1:
        return operands
    axes = [_varying(jax.typeof(x)) for x in operands]
    union = frozenset().union(*axes)
    return [
        x if own == union else jax.lax.pcast(x, tuple(union - own), to="varying")
        for x, own in zip(operands, axes, strict=True)
    ]


def _varying(aval: Any) -> frozenset[str]:
    kind = getattr(aval, "manual_axis_type", aval)  # JAX before 0.10 has it as `vma`
    return getattr(kind, "varying", None) or getattr(kind, "vma", frozenset())


def _refuse(*_: Any, **__: Any) -> Any:
    raise CeedUnsupportedError(
        "C is called on the CPU alone: use engine 'xla', which is for any device, or "
        "jax.default_device(jax.devices('cpu')[0])"
    )


def _lower(context: Any, *operands: Any, call: Call) -> Any:
    import jax

    context.module_context.add_keepalive(call)
    return jax.ffi.ffi_lowering(target(call.scalar))(context, *operands, id=call.id())


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Any, Any]:
    import jax
    from jax.interpreters import ad

    terms = []
    for k, tangent in enumerate(tangents):
        if type(tangent) is ad.Zero or jax.typeof(tangent).dtype == jax.dtypes.float0:
            continue
        if k in call.linear:
            terms.append(call(*primals[:k], tangent, *primals[k + 1 :]))
        else:
            derived = call.derivative(k)
            terms.append(derived.call(tangent, *(primals[j] for j in derived.operands)))
    result = call(*primals)
    if not terms:
        return result, ad.Zero.from_primal_value(result)
    return result, functools.reduce(jax.numpy.add, terms)


def _transpose(cotangent: Any, *operands: Any, call: Call) -> list[Any]:
    from jax.interpreters import ad

    unknown = [k for k, x in enumerate(operands) if ad.is_undefined_primal(x)]
    results: list[Any] = [None] * len(operands)
    if type(cotangent) is ad.Zero:
        for k in unknown:
            results[k] = ad.Zero(operands[k].aval)
        return results
    (k,) = unknown
    derived = call.transpose(k)
    result = derived.call(cotangent, *(operands[j] for j in derived.operands))
    results[k] = call.cotangent(k, result)
    return results


def _batch(operands: Sequence[Any], axes: Sequence[int | None], *, call: Call) -> tuple[Any, int]:
    """Call for one after the other: an operator has one place to work in."""
    import jax

    batched = [k for k, axis in enumerate(axes) if axis is not None]
    moved = tuple(_gathered(jax.numpy.moveaxis(operands[k], axes[k], 0)) for k in batched)

    def one(values: tuple[Any, ...]) -> Any:
        now = dict(zip(batched, values, strict=True))
        return call(*(now.get(k, x) for k, x in enumerate(operands)))

    return jax.lax.map(one, moved), 0


def _gathered(batch: jax.Array) -> jax.Array:
    """Return a batch that is not divided along an explicit axis of a mesh."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    sharding = jax.typeof(batch).sharding
    if sharding.spec[0] is None:
        return batch
    whole = PartitionSpec(None, *sharding.spec[1:])
    return jax.sharding.reshard(batch, NamedSharding(sharding.mesh, whole))
