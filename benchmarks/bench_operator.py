# SPDX-License-Identifier: BSD-2-Clause
"""Mass and diffusion on hexahedra, orders 1 to 8: million unknowns a second, ours and libCEED's.

Both libraries run the same C program, operator.c, on one thread, for each order in turn; the wheel
of libCEED is measured where it is installed (`pip install libceed==0.12.0`). What the data alone
would take is the time to copy as many bytes.
"""

import json
import pathlib
import statistics
import subprocess
import tempfile
from importlib.util import find_spec
from typing import Any, NamedTuple

from harness import arguments, figure_of, headline, machine, show, table

SOURCE = pathlib.Path(__file__).with_name("operator.c")
ORDERS = range(1, 9)
UNKNOWNS = 1_500_000
PHYSICS = ("mass", "diffusion")


class Side(NamedTuple):
    """A library with a backend."""

    library: str
    resource: str
    program: pathlib.Path


def package(name: str) -> pathlib.Path | None:
    """Return the folder of an installed package without importing it, or None."""
    spec = find_spec(name)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def compile_for(library: pathlib.Path, include: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """Compile the program against one library and return where it is."""
    command = ["cc", "-std=c99", "-O2", str(SOURCE), "-o", str(output), f"-I{include}"]
    command += [str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
    subprocess.run(command, check=True)
    return output


def sides(folder: pathlib.Path) -> list[Side]:
    """Return all that is installed, with programs made in a folder."""
    ours, theirs = package("pyceedlike"), package("libceed")
    headers = ours / "include" / "ceedlike" / "compat"
    program = compile_for(ours / "lib" / "libceedlike.so.0", headers, folder / "ours")
    found = [Side("libceedlike", "/cpu/self/opt/blocked", program)]
    if theirs:
        program = compile_for(theirs / "lib" / "libceed.so", theirs / "include", folder / "theirs")
        backends = ("/cpu/self/opt/blocked", "/cpu/self/avx/blocked")
        found += [Side("libCEED's wheel", backend, program) for backend in backends]
    return found


def output_of(side: Side, *words: str) -> float:
    """Return the number that a program prints."""
    command = [str(side.program), side.resource, *words]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(found: list[Side], rounds: int, unknowns: int) -> list[dict[str, Any]]:
    """Return the median rates of every side; in a round all sides have their turn at an order."""
    samples: dict[tuple, list[float]] = {}
    for _ in range(rounds):
        for physics in PHYSICS:
            for order in ORDERS:
                for side in found:
                    rate = output_of(side, physics, str(order), str(unknowns))
                    samples.setdefault((physics, side, order), []).append(rate)
    return [
        {
            "physics": physics,
            "library": side.library,
            "resource": side.resource,
            "rates": [statistics.median(samples[physics, side, order]) for order in ORDERS],
        }
        for physics in PHYSICS
        for side in found
    ]


def best_of_theirs(rows: list[dict[str, Any]], physics: str) -> list[float] | None:
    """Return the rates of libCEED's better backend at each order, None where it was not run."""
    theirs = [r["rates"] for r in rows if r["physics"] == physics and r["library"] != "libceedlike"]
    return [max(rates) for rates in zip(*theirs, strict=True)] if theirs else None


def report(rows: list[dict[str, Any]], copy: float) -> None:
    """Print the tables."""
    print(f"{headline()}\n\nMemory is copied at {copy:.1f} GB/s, read and written.\n")
    lines = []
    for row in rows:
        name = f"{row['physics']}, {row['library']} {row['resource']}"
        lines.append([name, *map(show, row["rates"])])
    for physics in PHYSICS:
        best, ours = best_of_theirs(rows, physics), rows_of_ours(rows, physics)
        if best:
            ratios = [f"{a / b:.2f}" for a, b in zip(ours, best, strict=True)]
            lines.append([f"{physics}, ours / libCEED's better one", *ratios])
    print(table(["million unknowns a second", *(f"p={p}" for p in ORDERS)], lines))


def rows_of_ours(rows: list[dict[str, Any]], physics: str) -> list[float]:
    """Return our rates."""
    return next(r["rates"] for r in rows if r["physics"] == physics)


def draw(path: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    """Draw the rates by order, one panel for each physics."""
    figure, panels = figure_of(2)
    for axes, physics in zip(panels, PHYSICS, strict=True):
        for row in rows:
            if row["physics"] == physics:
                label = f"{row['library']} {row['resource']}"
                axes.plot(ORDERS, row["rates"], "o-", label=label)
        axes.set(xlabel="order", ylim=(0, None), title=f"{physics}: million unknowns a second")
    panels[0].legend()
    figure.savefig(path)


def main() -> None:
    """Measure, print, and write what is asked for."""
    options = arguments(__doc__, rounds=3, sample_us=0)
    unknowns = min(UNKNOWNS, options.largest or UNKNOWNS)
    with tempfile.TemporaryDirectory() as folder:
        found = sides(pathlib.Path(folder))
        copy = output_of(found[0], "copy", "0", "10000000")
        rows = measure(found, options.rounds, unknowns)
    report(rows, copy)
    if options.json:
        result = {"machine": machine(), "copy": copy, "unknowns": unknowns, "rates": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.plot:
        draw(options.plot, rows)


if __name__ == "__main__":
    main()
