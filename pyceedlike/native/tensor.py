# SPDX-License-Identifier: BSD-2-Clause
"""Rules of the primitives that move, sum and contract the numbers of small arrays.

What only moves numbers does so here, in NumPy, and leaves no trace in C.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .elementwise import apply, cast, elementwise, simplified
from .trace import Array, Lowering, Value, as_nodes, rule, size_of, type_of

UNROLLED = 100  # products of a contraction that is written out; longer ones are loops


def movable(low: Lowering, x: Value) -> np.ndarray:
    """Return a value whose numbers can be moved about one by one."""
    return low.nodes(x) if isinstance(x, Array) else x


def alike(low: Lowering, args: Sequence[Value]) -> list[np.ndarray]:
    """Return values that numbers can be moved between."""
    arrays = [movable(low, a) for a in args]
    is_known = all(a.dtype != object for a in arrays)
    return arrays if is_known else [low.nodes(a) for a in arrays]


def is_known(x: Value) -> bool:
    """Return whether a value is there before anything runs."""
    return isinstance(x, np.ndarray) and x.dtype != object


# ---- Moving --------------------------------------------------------------------------------------


@rule("reshape")
def reshape(low: Lowering, equation: Any, x: Value, *_: Value) -> list[Value]:
    """Another shape in the same order."""
    shape = equation.outvars[0].aval.shape
    return [Array(x.node, shape) if isinstance(x, Array) else x.reshape(shape)]


@rule("squeeze", "expand_dims")
def squeeze(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Axes of length 1, more or fewer."""
    return reshape(low, equation, x)


@rule("transpose")
def transpose(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Another order of axes."""
    return [movable(low, x).transpose(equation.params["permutation"])]


@rule("broadcast_in_dim")
def broadcast_in_dim(low: Lowering, equation: Any, x: Value, *_: Value) -> list[Value]:
    """Repeated along new axes."""
    shape = equation.outvars[0].aval.shape
    places = equation.params.get("broadcast_dimensions") or ()
    if isinstance(x, Array) and x.size == size_of(shape):
        return [Array(x.node, shape)]
    array = movable(low, x)
    full = [1] * len(shape)
    for place, length in zip(places, array.shape, strict=True):
        full[place] = length
    return [np.broadcast_to(array.reshape(full), shape)]


@rule("concatenate")
def concatenate(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """One behind the other."""
    return [np.concatenate(alike(low, args), axis=equation.params["dimension"])]


@rule("stack")
def stack(low: Lowering, equation: Any, *args: Value) -> list[Value]:
    """One behind the other, along a new axis."""
    return [np.stack(alike(low, args), axis=equation.params["axis"])]


@rule("unstack")
def unstack(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Take an axis apart, into slices."""
    return [np.asarray(row) for row in np.moveaxis(movable(low, x), equation.params["axis"], 0)]


@rule("tile")
def tile(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Repeated as a whole."""
    return [np.tile(movable(low, x), equation.params["reps"])]


@rule("split")
def split(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Take an axis apart, into parts."""
    ends = np.cumsum(equation.params["sizes"])[:-1]
    return np.split(movable(low, x), ends, axis=equation.params["axis"])


@rule("slice")
def slice_(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Take a part, with strides."""
    params = equation.params
    strides = params["strides"] or (1,) * len(params["start_indices"])
    ranges = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return [movable(low, x)[tuple(slice(*r) for r in ranges)]]


@rule("rev")
def rev(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Backwards along some axes."""
    return [np.flip(movable(low, x), equation.params["dimensions"])]


@rule("pad")
def pad(low: Lowering, equation: Any, x: Value, fill: Value) -> list[Value]:
    """Numbers before, after and between; fewer where the count is negative."""
    x, fill = alike(low, (x, fill))
    for axis, (before, after, between) in enumerate(equation.params["padding_config"]):
        x = np.moveaxis(x, axis, 0)
        spread = np.empty((max(0, len(x) + (len(x) - 1) * between), *x.shape[1:]), x.dtype)
        spread[...] = fill
        spread[:: between + 1] = x
        ends = [np.empty((max(n, 0), *x.shape[1:]), x.dtype) for n in (before, after)]
        for end in ends:
            end[...] = fill
        x = np.concatenate([ends[0], spread, ends[1]])
        x = x[max(-before, 0) : len(x) - max(-after, 0)]
        x = np.moveaxis(x, 0, axis)
    return [x]


@rule("iota")
def iota(low: Lowering, equation: Any) -> list[Value]:
    """0, 1, 2, ... along an axis."""
    shape, axis = equation.params["shape"], equation.params["dimension"]
    ramp = np.arange(shape[axis], dtype=equation.params["dtype"])
    return [np.broadcast_to(ramp.reshape([-1] + [1] * (len(shape) - axis - 1)), shape)]


def by_jax(function: Callable, *args: np.ndarray) -> np.ndarray:
    """Return what JAX makes of integers that stand for the numbers of arrays."""
    import jax

    with jax.enable_x64(True):
        return np.asarray(function(*args))


def _by_cases(
    low: Lowering, equation: Any, x: Value, indices: Value, axes: Sequence[int], case: Callable
) -> list[Value]:
    """Return the case of the indices; of all there can be where the point computes them."""
    if is_known(indices):
        return [case(indices)]
    numbers = low.nodes(indices)
    if numbers.size != len(axes):
        raise low.unsupported("more than one place that depends on the point")
    lengths = [x.shape[axis] for axis in axes]
    places = [cast(low, np.asarray(n), "int64") for n in numbers.ravel()]
    if _is_clipped(equation):
        lasts = [np.asarray(n - 1) for n in lengths]
        places = [
            apply(low, "max", "int64", (apply(low, "min", "int64", pair), np.asarray(0)))
            for pair in zip(places, lasts, strict=True)
        ]
    result = case(np.reshape(lengths, indices.shape))  # outside
    for corner in itertools.product(*map(range, lengths)):
        here = _is_at(low, places, corner)
        one = case(np.reshape(corner, indices.shape))
        result = elementwise(
            low, "select", equation.outvars[0].aval.dtype.name, (here, one, result)
        )
    return [result]


def _is_clipped(equation: Any) -> bool:
    """Return whether a place outside is the nearest one inside."""
    from jax.lax import GatherScatterMode as Mode

    clipping = {Mode.CLIP}
    if equation.primitive.name == "gather":
        clipping.add(Mode.PROMISE_IN_BOUNDS)
    return equation.params["mode"] in clipping


def _is_at(low: Lowering, places: Sequence[Value], corner: Sequence[int]) -> Value:
    here: Value = np.ones((), "bool")
    for place, c in zip(places, corner, strict=True):
        same = apply(low, "eq", "bool", (place, np.asarray(c, type_of(place))))
        here = apply(low, "and", "bool", (here, same))
    return here


@rule("gather")
def gather(low: Lowering, equation: Any, x: Value, indices: Value) -> list[Value]:
    """Numbers of places."""
    x = movable(low, x)
    params = {**equation.params, "fill_value": -1}
    labels = np.arange(x.size).reshape(x.shape)
    fill = _fill_value(equation.params["fill_value"], equation.outvars[0].aval.dtype)
    numbers = np.concatenate(alike(low, (x.ravel(), fill)))

    def case(known: np.ndarray) -> np.ndarray:
        places = by_jax(lambda *a: equation.primitive.bind(*a, **params), labels, known)
        return np.asarray(numbers[np.where(places < 0, x.size, places)])

    axes = equation.params["dimension_numbers"].start_index_map
    return _by_cases(low, equation, x, indices, axes, case)


def _fill_value(given: Any, type_: np.dtype) -> np.ndarray:
    """Return what JAX gives for a place outside."""
    if given is None and type_.kind in "iu":
        limits = np.iinfo(type_)
        given = limits.max if type_.kind == "u" else limits.min
    elif given is None:
        given = np.nan if type_.kind == "f" else True
    return np.full(1, given, type_)


def _scattered(equation: Any, x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> Any:
    from jax import lax

    names = ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")
    params = {name: equation.params[name] for name in names}
    function = lax.scatter if equation.primitive.name == "scatter" else lax.scatter_add
    return by_jax(lambda *a: function(*a, **params), x, indices, updates)


@rule("scatter")
def scatter(low: Lowering, equation: Any, x: Value, indices: Value, updates: Value) -> list[Value]:
    """Numbers put to places."""
    x, updates = alike(low, (x, updates))
    labels = np.arange(x.size).reshape(x.shape)
    more = x.size + np.arange(updates.size).reshape(updates.shape)
    numbers = np.concatenate([x.ravel(), updates.ravel()])

    def case(known: np.ndarray) -> np.ndarray:
        return numbers[_scattered(equation, labels, known, more)]

    axes = equation.params["dimension_numbers"].scatter_dims_to_operand_dims
    return _by_cases(low, equation, x, indices, axes, case)


BITS = 62  # of an int64, one for each of the numbers that are added


@rule("scatter-add")
def scatter_add(
    low: Lowering, equation: Any, x: Value, indices: Value, updates: Value
) -> list[Value]:
    """Numbers added at places."""
    x, updates, type_ = low.nodes(x), low.nodes(updates), equation.outvars[0].aval.dtype.name

    def case(known: np.ndarray) -> np.ndarray:
        numbers = list(x.ravel())
        for start in range(0, updates.size, BITS):
            bits = np.zeros(updates.size, "int64")
            bits[start : start + BITS] = 1 << np.arange(min(BITS, updates.size - start))
            zeros = np.zeros(x.shape, "int64")
            sums = _scattered(equation, zeros, known, bits.reshape(updates.shape))
            for place, found in enumerate(sums.ravel().tolist()):
                for k in (k for k in range(BITS) if found >> k & 1):
                    pair = numbers[place], updates.flat[start + k]
                    numbers[place] = simplified(low, "add", type_, pair, None)
        return as_nodes(numbers, x.shape)

    axes = equation.params["dimension_numbers"].scatter_dims_to_operand_dims
    return _by_cases(low, equation, x, indices, axes, case)


# ---- Places that the point computes --------------------------------------------------------------


def _start(low: Lowering, starts: Sequence[Value], limits: Sequence[int]) -> list[Value]:
    """Return where a slice starts, such that it lies inside."""
    ends = []
    for start, limit in zip(starts, limits, strict=True):
        type_ = type_of(start)
        inside = apply(low, "max", type_, (start, np.zeros((), type_)))
        ends.append(apply(low, "min", type_, (inside, np.asarray(limit, type_))))
    return ends


@rule("dynamic_slice")
def dynamic_slice(low: Lowering, equation: Any, x: Value, *starts: Value) -> list[Value]:
    """Take a part that starts anywhere."""
    sizes = equation.params["slice_sizes"]
    start = _start(low, starts, [n - m for n, m in zip(x.shape, sizes, strict=True)])
    if all(map(is_known, start)):
        ranges = [slice(int(s), int(s) + m) for s, m in zip(start, sizes, strict=True)]
        return [movable(low, x)[tuple(ranges)]]
    strides = np.cumprod([1, *x.shape[:0:-1]])[::-1]
    flat: Value = np.zeros((), "int64")
    for s, stride in zip(start, strides, strict=True):
        step = apply(low, "mul", "int64", (cast(low, s, "int64"), np.asarray(stride)))
        flat = apply(low, "add", "int64", (flat, step))
    whole, index = low.array(x).node, low.nodes(flat)[()]
    places = np.arange(size_of(x.shape)).reshape(x.shape)[tuple(map(slice, sizes))]
    numbers = [
        low.graph.add("at", whole.type, (whole, index), (1, k)) for k in places.ravel().tolist()
    ]
    return [as_nodes(numbers, tuple(sizes))]


@rule("dynamic_update_slice")
def dynamic_update_slice(
    low: Lowering, equation: Any, x: Value, update: Value, *starts: Value
) -> list[Value]:
    """Replace a part that starts anywhere."""
    start = _start(low, starts, [n - m for n, m in zip(x.shape, update.shape, strict=True)])
    if all(map(is_known, start)):
        x, update = alike(low, (x, update))
        whole = x.copy()
        ranges = [slice(int(s), int(s) + m) for s, m in zip(start, update.shape, strict=True)]
        whole[tuple(ranges)] = update
        return [whole]
    whole, part, type_ = low.nodes(x).copy(), low.nodes(update), type_of(x)
    spans = [range(n - m + 1) for n, m in zip(whole.shape, part.shape, strict=True)]
    for corner in itertools.product(*spans):
        here = _is_at(low, start, corner)
        there = tuple(slice(c, c + m) for c, m in zip(corner, part.shape, strict=True))
        whole[there] = elementwise(low, "select", type_, (here, part, whole[there]))
    return [whole]


# ---- Reductions ----------------------------------------------------------------------------------

REDUCTIONS = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and",
    "reduce_or": "or",
    "reduce_xor": "xor",
}
NEUTRAL = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0}


@rule(*REDUCTIONS)
def reduce(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """All numbers along some axes, one after the other."""
    op, axes = REDUCTIONS[equation.primitive.name], tuple(equation.params["axes"])
    out = equation.outvars[0].aval
    kept = [a for a in range(len(x.shape)) if a not in axes]
    rows = movable(low, x).transpose([*axes, *kept]).reshape(-1, *out.shape)
    return [_folded(low, op, list(rows), out)]


def _folded(low: Lowering, op: str, rows: list[Value], out: Any) -> Value:
    type_ = out.dtype.name
    if not rows:
        if op in NEUTRAL:
            return np.full(out.shape, NEUTRAL[op]).astype(type_)
        return np.full(out.shape, -np.inf if op == "max" else np.inf).astype(type_)
    result = np.asarray(rows[0])
    for row in rows[1:]:
        result = apply(low, op, type_, (result, np.asarray(row)))
    return result


SCANS = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}


@rule(*SCANS)
def cumulative(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Keep what a reduction is after each number."""
    op, axis = SCANS[equation.primitive.name], equation.params["axis"]
    rows = [np.asarray(row) for row in np.moveaxis(movable(low, x), axis, 0)]
    order = range(len(rows))[:: -1 if equation.params["reverse"] else 1]
    for before, here in itertools.pairwise(order):
        rows[here] = apply(low, op, type_of(x), (rows[before], rows[here]))
    return [np.moveaxis(np.stack(alike(low, rows)), 0, axis)]


@rule("argmax", "argmin")
def argmax(low: Lowering, equation: Any, x: Value) -> list[Value]:
    """Where the first of the extreme numbers stands; a NaN is more extreme than any number."""
    (axis,), type_ = equation.params["axes"], np.dtype(equation.params["index_dtype"]).name
    beyond = "gt" if equation.primitive.name == "argmax" else "lt"
    rows = [np.asarray(row) for row in np.moveaxis(low.nodes(x), axis, 0)]
    best, place, kind = rows[0], np.zeros(rows[0].shape, type_), type_of(x)
    for k, row in enumerate(rows[1:], 1):
        is_more = apply(low, beyond, "bool", (row, best))
        is_nan = apply(low, "ne", "bool", (row, row))
        was_number = apply(low, "eq", "bool", (best, best))
        is_more = apply(
            low, "or", "bool", (is_more, apply(low, "and", "bool", (is_nan, was_number)))
        )
        here = np.full(place.shape, k, type_)
        best = elementwise(low, "select", kind, (is_more, row, best))
        place = elementwise(low, "select", type_, (is_more, here, place))
    return [place]


# ---- Contractions --------------------------------------------------------------------------------


@rule("dot_general")
def dot_general(low: Lowering, equation: Any, a: Value, b: Value) -> list[Value]:
    """Products summed over the contracted axes: written out, or a loop when they are many."""
    (contract_a, contract_b), (batch_a, batch_b) = equation.params["dimension_numbers"]
    out = equation.outvars[0].aval
    type_ = out.dtype.name
    free_a = [i for i in range(len(a.shape)) if i not in (*contract_a, *batch_a)]
    free_b = [i for i in range(len(b.shape)) if i not in (*contract_b, *batch_b)]
    a, b = (cast(low, x, type_) for x in (a, b))
    summed = size_of([a.shape[i] for i in contract_a])
    if not (is_known(a) and is_known(b)) and out.size * summed > UNROLLED:
        one, two = low.array(a), low.array(b)
        steps_a, steps_b = _strides(a.shape), _strides(b.shape)
        outer = [
            *((a.shape[i], steps_a[i], steps_b[j]) for i, j in zip(batch_a, batch_b, strict=True)),
            *((a.shape[i], steps_a[i], 0) for i in free_a),
            *((b.shape[j], 0, steps_b[j]) for j in free_b),
        ]
        inner = [
            (a.shape[i], steps_a[i], steps_b[j])
            for i, j in zip(contract_a, contract_b, strict=True)
        ]
        param = tuple(outer), tuple(inner)
        node = low.graph.add("contract", type_, (one.node, two.node), param, out.size)
        return [Array(node, out.shape)]
    left = movable(low, a).transpose([*batch_a, *free_a, *contract_a])
    right = movable(low, b).transpose([*batch_b, *free_b, *contract_b])
    batch = size_of([a.shape[i] for i in batch_a])
    left = left.reshape(batch, -1, summed) if a.size * b.size else left.reshape(batch, 0, summed)
    right = right.reshape(batch, -1, summed) if a.size * b.size else right.reshape(batch, 0, summed)
    terms = [
        apply(low, "mul", type_, (left[:, :, None, k], right[:, None, :, k])) for k in range(summed)
    ]
    total = _folded(low, "add", terms, out)
    return [total.reshape(out.shape)]


def _strides(shape: Sequence[int]) -> list[int]:
    return [size_of(shape[i + 1 :]) for i in range(len(shape))]
