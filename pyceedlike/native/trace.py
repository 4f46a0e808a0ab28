# SPDX-License-Identifier: BSD-2-Clause
"""From a function of one point, written with jax.numpy, to its graph.

JAX traces the function, with 64-bit types; each primitive has a rule that says what it is in the
graph. Arrays are NumPy arrays meanwhile: of numbers where they are known, of nodes (dtype object)
where they are computed, so that whatever only moves numbers about costs nothing; an array that a
loop computes is an Array, one node for all its numbers.
"""

from __future__ import annotations

import dataclasses
import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._lib import CeedUnsupportedError
from .ir import Graph, Node

TYPES = {
    *("bool", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
SMALL = 64  # numbers of an array whose numbers are treated one by one


@dataclasses.dataclass
class Array:
    """An array that is one node."""

    node: Node
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.node.size


Value = np.ndarray | Array
Rule = Callable[..., Sequence[Value]]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Return a decorator: this is the rule of the primitives of these names.

    A rule takes a Lowering, the equation, and the values of its operands.
    """

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def jaxpr_of(function: Callable, arguments: Sequence[Any]) -> Any:
    """Return the jaxpr of a function of arrays, or of (shape, type) in their place.

    Raises CeedUnsupportedError, with the line, where the function asks for a number itself.
    """
    import jax

    with jax.enable_x64(True):
        try:
            closed = jax.make_jaxpr(function)(*arguments)
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            raise _no_number(error) from error
    # Copies: JAX takes an array of a jaxpr that is kept for 64 bits wide wherever else it is used.
    consts = [np.array(x) for x in closed.consts]
    return closed.replace(jaxpr=live(closed.jaxpr), consts=consts)


def _no_number(error: Exception) -> CeedUnsupportedError:
    """Return the error for what needs a number where only its name is known."""
    frames = traceback.walk_tb(error.__traceback__)
    theirs = [(f, n) for f, n in frames if f.f_globals.get("__name__", "").split(".")[0] not in US]
    place = f"{theirs[-1][0].f_code.co_filename}:{theirs[-1][1]}" if theirs else "unknown source"
    remedy = NUMBERS.get(type(error).__name__, "compute it with jax.numpy")
    return CeedUnsupportedError(f"{place}: a point's numbers are not known here; {remedy}")


def live(jaxpr: Any) -> Any:
    """Return a jaxpr of the same arguments, without what its results don't need."""
    from jax.interpreters.partial_eval import dce_jaxpr

    return dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)[0]


def read_variables(jaxpr: Any) -> list[bool]:
    """Return which arguments a live jaxpr reads."""
    used = {v for v in jaxpr.outvars if not hasattr(v, "val")}
    used.update(v for e in jaxpr.eqns for v in e.invars if not hasattr(v, "val"))
    return [v in used for v in jaxpr.invars]


class Lowering:
    """Follows the equations of a jaxpr, and adds to a graph what they compute."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.tables: list[np.ndarray] = []  # constant arrays of the loops, for the context
        self.equations: list[Any] = []  # at hand, behind those of the calls around them

    def inside(self, graph: Graph) -> Lowering:
        """Return a lowering into the body of a loop."""
        inner = Lowering(graph)
        inner.tables, inner.equations = self.tables, self.equations
        return inner

    def run(self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Value]) -> list[Value]:
        """Return the values of a jaxpr's results."""
        known: dict[Any, Value] = dict(zip(jaxpr.invars, values, strict=True))
        known.update(zip(jaxpr.constvars, map(self.constant, consts), strict=True))

        def read(v: Any) -> Value:
            return self.constant(v.val) if hasattr(v, "val") else known[v]

        for equation in jaxpr.eqns:
            self.equations.append(equation)
            results = self._rule(equation)(self, equation, *map(read, equation.invars))
            known.update(zip(equation.outvars, results, strict=True))
            self.equations.pop()
        return [read(v) for v in jaxpr.outvars]

    def run_closed(self, closed: Any, values: Sequence[Value]) -> list[Value]:
        """Return the values of a closed jaxpr's results."""
        return self.run(closed.jaxpr, closed.consts, values)

    def _rule(self, equation: Any) -> Rule:
        found = RULES.get(equation.primitive.name)
        if found is None:
            raise self.unsupported()
        for v in equation.outvars:
            if v.aval.dtype.name not in TYPES:
                raise self.unsupported(f"numbers of type {v.aval.dtype.name}")
        return found

    def unsupported(self, what: str = "") -> CeedUnsupportedError:
        """Return the error for the equation at hand, or for what it asks beyond its rule."""
        from jax.extend import source_info_util

        places = (source_info_util.summarize(e.source_info) for e in reversed(self.equations))
        place = next(filter(None, places), "unknown source")  # what is in a call may not know its
        name = self.equations[-1].primitive.name
        what = f"{what} in {name!r}" if what else repr(name)
        remedy = REMEDIES.get(name, ANOTHER_WAY)
        return CeedUnsupportedError(f"{place}: native code has no {what}; {remedy}")

    # Values in the form that a rule needs.

    def constant(self, x: Any) -> np.ndarray:
        """Return the numbers of a constant."""
        array = np.asarray(x)
        if array.dtype.name not in TYPES:
            raise CeedUnsupportedError(
                f"native code has no constants of type {array.dtype.name}; it has real numbers of "
                "32 and 64 bits, integers and booleans"
            )
        return array

    def nodes(self, x: Value) -> np.ndarray:
        """Return a value as an array of nodes."""
        if isinstance(x, Array):
            return as_nodes([self.element(x.node, k) for k in range(x.size)], x.shape)
        if x.dtype != object:
            return as_nodes([self.const(v, x.dtype.name) for v in x.ravel()], x.shape)
        return x

    def array(self, x: Value) -> Array:
        """Return a value as one node."""
        if isinstance(x, Array):
            return x
        if x.dtype != object:
            return Array(self._table(x), x.shape)
        numbers = tuple(x.ravel())
        if not numbers:
            raise self.unsupported("arrays without entries")
        first = numbers[0]
        if first.op == "element" and first.args[0].size == len(numbers):
            whole = first.args[0]
            if all(
                n.op == "element" and n.args[0] is whole and n.param == k
                for k, n in enumerate(numbers)
            ):
                return Array(whole, x.shape)
        return Array(self.graph.add("pack", first.type, numbers, size=len(numbers)), x.shape)

    def _table(self, x: np.ndarray) -> Node:
        keys = [(t.dtype, t.tobytes()) for t in self.tables]
        key = x.dtype, x.tobytes()
        if key not in keys:
            self.tables.append(x)
            keys.append(key)
        return self.graph.add("table", x.dtype.name, param=keys.index(key), size=x.size)

    def const(self, number: Any, type_: str) -> Node:
        """Return the node of a number."""
        return self.graph.add("const", type_, param=np.dtype(type_).type(number).item())

    def element(self, node: Node, k: int) -> Node:
        """Return a number of an array."""
        if node.op == "pack":
            return node.args[k]
        if node.size == 1 and node.op not in ("field", "context", "table", "carry", "result"):
            return node
        return self.graph.add("element", node.type, (node,), k)


def as_nodes(numbers: Sequence[Node], shape: tuple[int, ...]) -> np.ndarray:
    """Return nodes as an array of a shape."""
    array = np.empty(len(numbers), object)
    array[:] = numbers
    return array.reshape(shape)


def type_of(x: Value) -> str:
    """Return the type of a value's numbers; an empty array of nodes has none."""
    if isinstance(x, Array):
        return x.node.type
    return x.dtype.name if x.dtype != object else x.flat[0].type


def size_of(shape: Sequence[int]) -> int:
    """Return how many numbers an array has."""
    return math.prod(shape)


# Whose lines are not those of a law.
US = {"jax", "jaxlib", "numpy", __name__.partition(".")[0]}

# What to do instead of asking for a number, by JAX's error.
NUMBERS = {
    "TracerBoolConversionError": "in the place of if, while, and, or, max there are jnp.where, "
    "lax.fori_loop, &, |, jnp.maximum",
    "TracerArrayConversionError": "NumPy's functions have counterparts in jax.numpy",
    "TracerIntegerConversionError": "indices into lists and numbers of rounds are known: index "
    "an array of jax.numpy, and take no range() of an input or a context value",
    "NonConcreteBooleanIndexError": "a mask selects by jnp.where, which keeps the shape",
}

# What to do instead of a primitive that there is no rule for.
REMEDIES = {
    "lu": "jnp.linalg.inv and solve factorise: pyceedlike.native.inv inverts 2x2 and 3x3 matrices",
    "while": "a loop needs a number of rounds that is known: lax.fori_loop between integers of "
    "Python, or lax.scan",
    "sort": "compare and select: jnp.minimum, jnp.maximum, jnp.where",
    "debug_print": "print from a callback: ceed.qfunction(...) of a plain function",
    "random_bits": "give random numbers as a field of data",
}
REMEDIES["debug_callback"] = REMEDIES["debug_print"]
REMEDIES["custom_linear_solve"] = REMEDIES["triangular_solve"] = REMEDIES["lu"]
ANOTHER_WAY = "write it otherwise, or make it a callback: ceed.qfunction(...) of a jax.jit function"
