# SPDX-License-Identifier: BSD-2-Clause
"""Arithmetic on vectors against the same operation in NumPy, and what exports and imports allocate.

One thread on each side, both called from Python, both on the same memory: the vectors are made of
the arrays, which start where a vector's own memory does. NumPy writes into arrays that exist
(`out=`), which is its fastest way. Processor time is measured, so that it does not count when
others take the processor away.
"""

import time
from collections.abc import Iterator
from typing import Any

import harness  # first: it sets NumPy's threads
import numpy as np
from harness import (
    Case,
    allocated,
    arguments,
    bytes_of,
    figure_of,
    goal,
    measure,
    print_goals,
    ratio,
    show,
    sizes,
    table,
)

import pyceedlike

SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
GOAL_SIZE = 1_000_000
SCALARS = ("float64", "float32")

# Ours, and what NumPy does for the same result: x, y, w are vectors or arrays, t is a spare array.
OPERATIONS = {
    "1-norm": ("x.norm(NORM_1)", "np.abs(x, out=t); t.sum()"),
    "2-norm": ("x.norm()", "np.linalg.norm(x)"),
    "max-norm": ("x.norm(NORM_MAX)", "np.abs(x, out=t); t.max()"),
    "set": ("w.set_value(0.5)", "w.fill(0.5)"),
    "copy": ("w.copy_from(x)", "np.copyto(w, x)"),
    "scale": ("w.scale(-1.0)", "np.multiply(w, -1.0, out=w)"),
    "axpy": ("y.axpy(1e-9, x)", "np.multiply(x, 1e-9, out=t); np.add(y, t, out=y)"),
    "pointwise": ("w.pointwise_mult(x, y)", "np.multiply(x, y, out=w)"),
}


def array(n: int, scalar: str) -> np.ndarray:
    """Return random numbers that start where memory of vectors does, at 256 bytes."""
    memory = np.empty(n * np.dtype(scalar).itemsize + 256, np.uint8)
    start = -memory.__array_interface__["data"][0] % 256
    aligned = memory[start : start + n * np.dtype(scalar).itemsize].view(scalar)
    aligned[:] = np.random.default_rng(n).standard_normal(n)
    return aligned


def cases(lengths: list[int]) -> Iterator[Case]:
    """Give every operation on both sides, in both precisions and all lengths."""
    for scalar in SCALARS:
        for n in lengths:
            theirs = {name: array(n, scalar) for name in "xywt"}
            ours = {name: pyceedlike.Vector.from_dlpack(theirs[name]) for name in "xyw"}
            ours |= {"NORM_1": pyceedlike.NORM_1, "NORM_MAX": pyceedlike.NORM_MAX}
            for what, (vector_statement, array_statement) in OPERATIONS.items():
                for side, statement, names in (
                    ("pyceedlike", vector_statement, ours),
                    ("numpy", array_statement, theirs | {"np": np}),
                ):
                    yield Case((what, scalar, n, side), statement, names, clock=time.thread_time)


# ---- Memory --------------------------------------------------------------------------------------


def memory(lengths: list[int]) -> dict[str, list[float]]:
    """Return the bytes of C memory that things take beyond their entries, by length."""
    count, ceed = allocated(), pyceedlike.Ceed()
    rows: dict[str, list[float]] = {}
    for n in lengths if count else []:
        vector, entries = ceed.Vector(n), np.empty(n)
        vector.set_value(1.0)
        exports = [vector.__dlpack__(max_version=(1, 0)) for _ in range(4)]
        found = {
            "a vector without memory": lambda n=n: ceed.Vector(n),
            "an export while four live": lambda v=vector: v.__dlpack__(max_version=(1, 0)),
            "an import": lambda a=entries: pyceedlike.Vector.from_dlpack(a),
        }
        for what, action in found.items():
            rows.setdefault(what, []).append(bytes_of(count, action))
        del exports
        first = lambda v=vector: v.__dlpack__(max_version=(1, 0))  # noqa: E731
        rows.setdefault("one of the first four exports", []).append(bytes_of(count, first, 4))
    return rows


# ---- Reports -------------------------------------------------------------------------------------


def report(found: dict[tuple, Case], lengths: list[int], taken: dict[str, list[float]]) -> None:
    """Print the tables."""
    head = [f"{n:,}" for n in lengths]
    for scalar in SCALARS:
        print(f"\n{scalar}: microseconds of ours, and the ratio to NumPy's\n")
        rows = []
        for what in OPERATIONS:
            pairs = [
                [found[what, scalar, n, side] for side in ("pyceedlike", "numpy")] for n in lengths
            ]
            rows.append(
                [what, *(f"{show(a.median / 1000)} ({show(ratio(a, b))})" for a, b in pairs)]
            )
        print(table(["", *head], rows))
    if taken:
        print("\nBytes of C memory beyond the entries\n")
        print(table(["", *head], [[what, *map(show, row)] for what, row in taken.items()]))


def draw(path: Any, found: dict[tuple, Case], lengths: list[int]) -> None:
    """Draw ratios by length, one panel for each precision."""
    figure, panels = figure_of(2)
    for axes, scalar in zip(panels, SCALARS, strict=True):
        for what in OPERATIONS:
            pairs = [
                [found[what, scalar, n, side] for side in ("pyceedlike", "numpy")] for n in lengths
            ]
            axes.plot(lengths, [ratio(*pair) for pair in pairs], "o-", label=what)
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set(xscale="log", ylim=(0, 2), xlabel="entries", title=f"{scalar}: time / NumPy's")
    panels[0].legend(ncols=2)
    figure.savefig(path)


def main() -> None:
    """Measure, print, and write what is asked for."""
    options = arguments(__doc__, rounds=21, sample_us=20_000)
    lengths = sizes(SIZES, options.largest)
    found = measure(
        cases(lengths), options.rounds, options.sample_us, together=lambda key: key[:-1]
    )
    taken = memory(lengths)
    promised = [
        goal(f"{what}, {scalar}", 1, *(found[what, scalar, n, s] for s in ("pyceedlike", "numpy")))
        for n in lengths
        if n == GOAL_SIZE
        for scalar in SCALARS
        for what in OPERATIONS
    ]
    print_goals(promised)
    report(found, lengths, taken)
    if options.json:
        harness.write_json(options.json, found.values(), promised, bytes=taken)
    if options.plot:
        draw(options.plot, found, lengths)


if __name__ == "__main__":
    main()
