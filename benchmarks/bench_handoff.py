# SPDX-License-Identifier: BSD-2-Clause
"""What it costs to hand memory over by DLPack, from every library to every other, side by side.

Timed are: one export that nobody takes, by size and while another view lives; and `from_dlpack` of
every pair of libraries, whose result is dropped. Nothing but the time to share is measured: the
arrays are float64 and aligned, and whether a pair shared or copied is found out by address.
"""

import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from harness import (
    Case,
    arguments,
    figure_of,
    goal,
    measure,
    print_goals,
    show,
    sizes,
    table,
    write_json,
)

import pyceedlike

SIZES = [1, 1_000, 1_000_000, 2**27]  # 8 bytes to 1 GiB
PAIR_SIZE = 1_000
EXPORTS = {
    "versioned": "x.__dlpack__(max_version=(1, 0))",
    "legacy": "x.__dlpack__()",
    "device": "x.__dlpack_device__()",
}


class Library(NamedTuple):
    """A library: how it makes n entries, and how it takes somebody else's."""

    make: Callable[[int], Any]
    from_dlpack: Callable[[Any], Any]


def make_vector(n: int) -> pyceedlike.Vector:
    """Return a vector of values that are in its memory by chance, so that 1 GiB costs nothing."""
    vector = pyceedlike.Ceed().Vector(n)
    with vector.array_write():
        return vector


def make_ndarray(n: int) -> Any:
    """Return an array that starts at a 64-byte boundary, from where on JAX shares."""
    import numpy as np

    memory = np.empty(8 * n + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + 8 * n].view(np.float64)


def numpy() -> Library:
    """Return NumPy."""
    import numpy as np

    return Library(make_ndarray, np.from_dlpack)


def jax() -> Library:
    """Return JAX, on the CPU."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return Library(lambda n: jax.numpy.zeros(n).block_until_ready(), jax.dlpack.from_dlpack)


def torch() -> Library:
    """Return PyTorch."""
    import torch

    return Library(lambda n: torch.empty(n, dtype=torch.float64), torch.from_dlpack)


def tvm_ffi() -> Library:
    """Return tvm-ffi, which allocates nothing itself: its arrays are NumPy's."""
    import tvm_ffi

    return Library(lambda n: tvm_ffi.from_dlpack(make_ndarray(n)), tvm_ffi.from_dlpack)


def libraries() -> dict[str, Library]:
    """Return the libraries that are installed, by name; ours is the first."""
    found = {"pyceedlike": Library(make_vector, pyceedlike.Vector.from_dlpack)}
    for opened in (numpy, jax, torch, tvm_ffi):
        if importlib.util.find_spec(opened.__name__):
            found[opened.__name__] = opened()
    return found


def address(x: Any) -> int:
    """Return where an array begins, as NumPy sees it."""
    import numpy as np

    return np.from_dlpack(x).__array_interface__["data"][0]


def export_cases(found: dict[str, Library], lengths: list[int]) -> Iterator[Case]:
    """Give exports of each library; of ours and NumPy's in all sizes, and beside another view."""
    for name, library in found.items():
        for n in lengths if name in ("pyceedlike", "numpy") else [PAIR_SIZE]:
            x = library.make(n)
            for what, statement in EXPORTS.items():
                yield Case(("export", what, name, n), statement, {"x": x})
    for name in ("pyceedlike", "numpy"):
        x = found[name].make(PAIR_SIZE)
        names = {"x": x, "view": x.__dlpack__(max_version=(1, 0))}
        yield Case(("export", "viewed", name, PAIR_SIZE), EXPORTS["versioned"], names)


def pair_cases(found: dict[str, Library]) -> Iterator[Case]:
    """Let every library read every other."""
    for producer, source in found.items():
        x = source.make(PAIR_SIZE)
        for consumer, reader in found.items():
            copied = address(reader.from_dlpack(x)) != address(x)
            names = {"f": reader.from_dlpack, "x": x}
            yield Case(("pair", producer, consumer), "f(x)", names, "*" * copied)


def goals(cases: dict[tuple, Case], largest: int) -> list[dict]:
    """Return what was promised, and what came of it."""

    def export(name: str, what: str = "versioned", n: int = PAIR_SIZE) -> Case | None:
        return cases.get(("export", what, name, n))

    def pair(producer: str, consumer: str) -> Case | None:
        return cases.get(("pair", producer, consumer))

    own, peer = "pyceedlike", "numpy"
    rows = [
        ("`v.__dlpack__(max_version=(1, 0))`", 0.8, export(own), export(peer)),
        ("… while another view lives", 0.8, export(own, "viewed"), export(peer, "viewed")),
        (f"… of {largest:,} entries", 0.8, export(own, n=largest), export(peer, n=largest)),
        ("`np.from_dlpack(v)`", 0.95, pair(own, peer), pair(peer, peer)),
        ("`pyceedlike.Vector.from_dlpack(ndarray)`", 3.0, pair(peer, own), pair(peer, peer)),
        ("`tvm_ffi.from_dlpack(v)`", 0.7, pair(own, "tvm_ffi"), pair(peer, "tvm_ffi")),
    ]
    return [goal(*row) for row in rows]


def cell(case: Case) -> str:
    """Return what stands in a table for a pair."""
    return "error" if case.error else show(case.median) + case.note


def report(found: dict[str, Library], cases: dict[tuple, Case], lengths: list[int]) -> None:
    """Print the tables."""

    def export(what: str, name: str, n: int) -> str:
        case = cases.get(("export", what, name, n))
        return show(case.median) if case else ""

    print("\nNanoseconds for one export that nobody takes, by entries\n")
    head = [f"{n:,}" for n in lengths]
    rows = [
        [f"{name}, {what}", *(export(what, name, n) for n in lengths)]
        for what in EXPORTS
        for name in found
    ]
    print(table(["", *head], rows))
    print("\nNanoseconds for a library (row) read by another (column); * copied\n")
    rows = [[p, *(cell(cases["pair", p, c]) for c in found)] for p in found]
    print(table(["", *found], rows))


def draw_pairs(axes: Any, found: dict[str, Library], cases: dict[tuple, Case]) -> None:
    """Draw a table of colours, one row for each library that gives."""
    from matplotlib.colors import LogNorm

    grid = [[cases["pair", p, c] for c in found] for p in found]
    norm = LogNorm(100, 20_000)
    axes.imshow([[c.median or 0 for c in row] for row in grid], norm=norm, cmap="YlGn_r")
    for i, row in enumerate(grid):
        for j, case in enumerate(row):
            colour = "white" if norm(case.median or 0) < 0.3 else "black"
            axes.text(j, i, cell(case), ha="center", va="center", color=colour)
    axes.set(xlabel="reads", ylabel="gives", title="from_dlpack of 1,000 entries, ns (* copied)")
    axes.set_xticks(range(len(found)), found)
    axes.set_yticks(range(len(found)), found)


def draw_exports(axes: Any, cases: dict[tuple, Case], lengths: list[int]) -> None:
    """Draw what an export costs, by the bytes that it shares."""
    for name, colour in ("pyceedlike", "C2"), ("numpy", "C0"):
        for what, style in ("versioned", "o-"), ("legacy", "o--"):
            ns = [cases["export", what, name, n].median for n in lengths]
            axes.plot([8 * n for n in lengths], ns, style, color=colour, label=f"{name}, {what}")
    axes.set(xscale="log", ylim=(0, None), xlabel="bytes shared", title="one export, ns")
    axes.legend(loc="lower right")


def main() -> None:
    """Measure, print, and write what is asked for."""
    options = arguments(__doc__, rounds=101, sample_us=300)
    found, lengths = libraries(), sizes(SIZES, options.largest)
    cases = measure(
        [*export_cases(found, lengths), *pair_cases(found)], options.rounds, options.sample_us
    )
    promised = goals(cases, lengths[-1])
    print_goals(promised)
    report(found, cases, lengths)
    if options.json:
        write_json(options.json, cases.values(), promised)
    if options.plot:
        figure, (left, right) = figure_of(2)
        draw_pairs(left, found, cases)
        draw_exports(right, cases, lengths)
        figure.savefig(options.plot)


if __name__ == "__main__":
    main()
