# SPDX-License-Identifier: BSD-2-Clause
"""What it costs to look at a field of many blocks, beside pyAMReX's own views of its MultiFab.

Timed are whole lists: every view of a MultiFab, of 1,000 blocks unless --largest says otherwise,
made and dropped again; and the filling of all ghost layers. pyAMReX comes with impactx-noacc; where
it is not installed ours stand alone.
"""

import importlib.util
from collections.abc import Iterator
from typing import Any

from harness import (
    Case,
    allocated,
    arguments,
    figure_of,
    goal,
    measure,
    print_goals,
    show,
    table,
    write_json,
)

import pyceedlike
from pyceedlike import Box

CELLS, GHOST = 8, 1  # of a block, in each direction
VIEWS = {
    "whole": "mf.to_numpy()",
    "whole, z first": 'mf.to_numpy(order="nzyx")',
    "valid": 'mf.to_numpy("valid")',
}
THEIRS = {"whole": "mf.to_numpy()", "whole, z first": 'mf.to_numpy(order="C")'}


def boxes(blocks: int) -> list[Box]:
    """Return so many cubes, ten in each direction as far as there are."""
    places = [(i % 10, i // 10 % 10, i // 100) for i in range(blocks)]
    corners = [[CELLS * (i - 5) for i in place] for place in places]
    return [Box(lo, [i + CELLS - 1 for i in lo]) for lo in corners]


def ours(blocks: int) -> pyceedlike.MultiFab:
    """Return a MultiFab of ours."""
    mf = pyceedlike.Ceed().MultiFab(boxes(blocks), ghost=GHOST)
    mf.set_value(0.0)
    return mf


def theirs(blocks: int) -> Any:
    """Return the same of pyAMReX, or None."""
    if not importlib.util.find_spec("amrex"):
        return None
    import amrex.space3d as amr

    if not amr.initialized():
        amr.initialize(["amrex.verbose=0"])
    pairs = [amr.Box(amr.IntVect(*b.lo), amr.IntVect(*b.hi)) for b in boxes(blocks)]
    array = amr.BoxArray(amr.Vector_Box(pairs))
    mf = amr.MultiFab(array, amr.DistributionMapping(array), 1, amr.IntVect(GHOST))
    mf.set_val(0.0)
    return mf


def cases(blocks: int) -> Iterator[Case]:
    """Give what is timed of both sides."""
    mf = ours(blocks)
    for what, statement in VIEWS.items():
        yield Case((what, "pyceedlike"), statement, {"mf": mf})
    yield Case(("ghosts", "pyceedlike"), "mf.fill_ghosts()", {"mf": mf})
    mf = theirs(blocks)
    if mf is not None:
        for what, statement in THEIRS.items():
            yield Case((what, "pyamrex"), statement, {"mf": mf})
        yield Case(("ghosts", "pyamrex"), "mf.fill_boundary()", {"mf": mf})


def goals(found: dict[tuple, Case]) -> list[dict]:
    """Return what was promised, and what came of it."""
    pairs = {
        what: (found[what, "pyceedlike"], found.get((what, "pyamrex")))
        for what in [*THEIRS, "ghosts"]
    }
    return [
        goal("`mf.to_numpy()`, to pyAMReX's", 1.0, *pairs["whole"]),
        goal('`mf.to_numpy(order="nzyx")`, to `order="C"` there', 1.0, *pairs["whole, z first"]),
        goal("`mf.fill_ghosts()`, to `fill_boundary()` there", 1.0, *pairs["ghosts"]),
    ]


def report(found: dict[tuple, Case], blocks: int, taken: float | None) -> None:
    """Print microseconds for a block, and bytes."""
    print(f"\nMicroseconds for each of {blocks:,} blocks\n")
    rows = [
        [
            what,
            *(
                show(_per_block(found.get((what, name)), blocks))
                for name in ("pyceedlike", "pyamrex")
            ),
        ]
        for what in [*VIEWS, "ghosts"]
    ]
    print(table(["", "pyceedlike", "pyAMReX"], rows))
    if taken is not None:
        print(f"\nBytes of C memory for a view: {taken:.0f}")


def _per_block(case: Case | None, blocks: int) -> float | None:
    return case.median / 1000 / blocks if case and case.median else None


def bytes_of_views(blocks: int) -> float | None:
    """Return the bytes of C memory that each view of a MultiFab holds."""
    count = allocated()
    if count is None:
        return None
    mf = ours(blocks)
    mf.to_numpy()
    before = count()
    views = mf.to_numpy()
    return (count() - before) / len(views)


def draw(path: Any, found: dict[tuple, Case], blocks: int) -> None:
    """Draw bars of microseconds for a block."""
    figure, axes = figure_of(1)
    rows = [*VIEWS, "ghosts"]
    for shift, name in ((-0.2, "pyceedlike"), (0.2, "pyamrex")):
        values = [_per_block(found.get((what, name)), blocks) or 0 for what in rows]
        axes.barh([i + shift for i in range(len(rows))], values, 0.4, label=name)
    axes.set(xlabel=f"microseconds for each of {blocks:,} blocks")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """Measure, print, and write what is asked for."""
    options = arguments(__doc__, rounds=31, sample_us=20_000)
    blocks = min(options.largest or 1000, 1000)
    found = measure(cases(blocks), options.rounds, options.sample_us)
    promised, taken = goals(found), bytes_of_views(blocks)
    print_goals(promised)
    report(found, blocks, taken)
    if options.json:
        write_json(options.json, found.values(), promised, bytes=taken)
    if options.plot:
        draw(options.plot, found, blocks)


if __name__ == "__main__":
    main()
