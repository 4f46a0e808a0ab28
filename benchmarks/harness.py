# SPDX-License-Identifier: BSD-2-Clause
"""What the benchmarks share: statements timed side by side, ratios, tables, the machine.

Every round runs every case once, in a new order, and a ratio is the median over rounds of the
quotient within a round: whatever slows the machine for a while slows both sides of it. Cases that
are compared with each other alone run one after the other.
"""

import argparse
import dataclasses
import gc
import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import random
import statistics
import time
import timeit
from collections.abc import Callable, Iterable
from typing import Any

# One thread on each side, and NumPy's BLAS as it comes.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
for tuning in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(tuning, None)
os.environ.setdefault("JAX_PLATFORMS", "cpu")

UNROLL = 8  # statements in a loop, so that the loop itself hardly counts


@dataclasses.dataclass
class Case:
    """A statement to be timed; its samples are nanoseconds for one."""

    key: tuple
    statement: str
    names: dict[str, Any]
    note: str = ""
    error: str = ""
    clock: Callable[[], float] = time.perf_counter
    samples: list[float] = dataclasses.field(default_factory=list)

    def timer_of(self, statement: str) -> timeit.Timer:
        """Return what runs a statement in a loop."""
        return timeit.Timer(statement, timer=self.clock, globals=self.names)

    def calibrate(self, sample_ns: float) -> None:
        """Choose how many loops make a sample; a statement that raises keeps the reason."""
        self.loops, self.unroll = 1, 1
        self.timer = self.timer_of(self.statement)
        try:
            once = min(self.sample() for _ in range(4))  # the first ones warm up
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}".partition("\n")[0]
            return
        if once * 4 * UNROLL < sample_ns:
            self.unroll = UNROLL
            self.timer = self.timer_of("\n".join([self.statement] * UNROLL))
        self.loops = max(1, round(sample_ns / (once * self.unroll)))

    def sample(self) -> float:
        """Return the nanoseconds of one statement, over the loops of a sample after a first one."""
        self.timer.timeit(1)  # finds the caches as the case before has left them
        return self.timer.timeit(self.loops) * 1e9 / (self.loops * self.unroll)

    @property
    def median(self) -> float | None:
        """The median over all rounds, None when there are none."""
        return statistics.median(self.samples) if self.samples else None


def measure(
    cases: Iterable[Case],
    rounds: int,
    sample_us: float,
    together: Callable[[tuple], tuple] = lambda key: key,
) -> dict[tuple, Case]:
    """Time all cases and return them by key; `together` is equal for those that stay together."""
    found = {case.key: case for case in cases}
    groups: dict[tuple, list[Case]] = {}
    for key, case in found.items():
        case.calibrate(sample_us * 1000)
        if not case.error:
            groups.setdefault(together(key), []).append(case)
    order = random.Random(0)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for group in order.sample(list(groups.values()), len(groups)):
            for case in order.sample(group, len(group)):
                case.samples.append(case.sample())
    gc.unfreeze()
    return found


def ratio(case: Case | None, reference: Case | None) -> float | None:
    """Return the median over rounds of case/reference, or None where one of them has failed."""
    if not (case and reference and case.samples and reference.samples):
        return None
    pairs = zip(case.samples, reference.samples, strict=True)
    return statistics.median(ours / theirs for ours, theirs in pairs)


def show(value: float | None) -> str:
    """Return a number in three digits; text for none."""
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def allocated() -> Callable[[], int] | None:
    """Return a function that tells the bytes which malloc has given out (Python has its own).

    None where the C library does not tell: it is older than glibc 2.33, or another.
    """
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("""
        struct mallinfo2 { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks,
                           fordblks, keepcost; };
        struct mallinfo2 mallinfo2(void);
    """)
    libc = ffi.dlopen(None)
    if not hasattr(libc, "mallinfo2"):
        return None

    def count() -> int:
        info = libc.mallinfo2()
        return info.uordblks + info.hblkhd

    return count


def bytes_of(count: Callable[[], int], action: Callable[[], Any], times: int = 100) -> float:
    """Return how many bytes each of so many results of an action holds."""
    kept = [None] * times
    action()
    gc.collect()
    before = count()
    for i in range(times):
        kept[i] = action()
    return (count() - before) / times


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def goal(what: str, limit: float, case: Case | None, reference: Case | None) -> dict[str, Any]:
    """Return what was promised of a case, and what came of it."""
    ns = case.median if case else None
    return {"what": what, "ns": ns, "ratio": ratio(case, reference), "goal": limit}


def print_goals(goals: Iterable[dict[str, Any]]) -> None:
    """Print the machine, and the goals that could be measured on it."""
    print(f"{headline()}\n")
    rows = [[g["what"], show(g["ns"]), show(g["ratio"]), f"≤ {g['goal']:g}"] for g in goals]
    print(table(["", "ns", "ratio", "goal"], rows))


def figure_of(columns: int) -> tuple[Any, Any]:
    """Return a figure of some columns, and their axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(1, columns, figsize=(5.5 * columns, 4.4), layout="constrained")


def version(package: str) -> str | None:
    """Return the version of a package, None when it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine() -> dict[str, Any]:
    """Return what a reader must know to compare."""
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    names = [line.partition(": ")[2] for line in cpuinfo.splitlines() if "model name" in line]
    packages = ["pyceedlike", "numpy", "jax", "torch", "apache-tvm-ffi"]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "packages": {name: found for name in packages if (found := version(name))},
    }


def headline() -> str:
    """Return the machine in one line."""
    here = machine()
    packages = ", ".join(f"{name} {found}" for name, found in here["packages"].items())
    return (
        f"{here['processor']}, {here['cores']} cores, load {here['load']}, "
        f"Python {here['python']}, {packages}"
    )


def arguments(what: str, rounds: int, sample_us: float) -> argparse.Namespace:
    """Return the command line that all benchmarks have."""
    parser = argparse.ArgumentParser(description=what.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--sample-us", type=float, default=sample_us, help="length of a sample")
    parser.add_argument("--largest", type=int, help="leave out vectors of more entries")
    parser.add_argument("--json", type=pathlib.Path, help="write everything measured here")
    parser.add_argument("--plot", type=pathlib.Path, help="draw it here (needs matplotlib)")
    return parser.parse_args()


def sizes(all_sizes: Iterable[int], largest: int | None) -> list[int]:
    """Return the sizes up to the largest that is wanted."""
    return list(itertools.takewhile(lambda n: largest is None or n <= largest, all_sizes))


def write_json(path: pathlib.Path, cases: Iterable[Case], goals: list[dict], **more: Any) -> None:
    """Write medians and ratios."""
    rows = [
        {"key": c.key, "statement": c.statement, "ns": c.median, "note": c.note, "error": c.error}
        for c in cases
    ]
    result = {"machine": machine(), "goals": goals, "cases": rows, **more}
    path.write_text(json.dumps(result, indent=1) + "\n")
