# SPDX-License-Identifier: BSD-2-Clause
"""What a point costs in QFunctions of C, numba, NumPy and JAX, alone and in an operator.

The QFunction alone is called once for all points of vectors. The operator has hexahedra of order 3
with 5 points a direction, each with nodes of its own. JAX is compared with the jitted function on
arrays of its own: with what the callback takes inside the operator, results in place.
"""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import harness  # first: it sets the threads
import numpy as np
import physics
from harness import Case, arguments, figure_of, goal, measure, print_goals, show, sizes, table

import pyceedlike
from pyceedlike import BASIS_NONE, GAUSS, VECTOR_ACTIVE
from pyceedlike.callback import Callback

SIZES = [64, 1_000, 100_000, 1_000_000]
GOAL_SIZE = 1_000_000
ORDER, POINTS = 3, 5  # of an element, in each direction
ENGINES = [name for name in ("c", "numba", "numpy", "jax") if name == "c" or find_spec(name)]


class Stopwatch:
    """Measures the time that C spends in Python functions."""

    def __init__(self) -> None:
        self.ns = 0
        self.shell, Callback.shell = Callback.shell, lambda *arguments: self.run(*arguments)

    def run(self, *arguments: Any) -> None:
        """Call a Python function as before."""
        start = time.perf_counter_ns()
        self.shell(*arguments)
        self.ns += time.perf_counter_ns() - start


class Inside(Case):
    """A statement whose samples are the time inside Python functions."""

    def sample(self) -> float:
        """Return the nanoseconds of one statement that are spent in Python functions."""
        watch = self.names["watch"]
        before = watch.ns
        super().sample()
        return (watch.ns - before) / (self.loops * self.unroll)


def random_vector(ceed: pyceedlike.Ceed, n: int) -> pyceedlike.Vector:
    """Return small numbers, so that a deformation stays one."""
    vector = ceed.Vector(n)
    vector.set_array(np.random.default_rng(n).uniform(0.0, 0.01, n))
    return vector


def operator(
    ceed: pyceedlike.Ceed, qf: pyceedlike.QFunction, components: int, elements: int
) -> tuple[pyceedlike.Operator, int]:
    """Return the operator of a QFunction on so many elements, and its number of unknowns."""
    nodes, points = (ORDER + 1) ** 3, POINTS**3
    size = elements * nodes
    unknowns = ceed.ElemRestriction(
        elements, nodes, components, size, components * size, np.arange(size)
    )
    data = ceed.StridedElemRestriction(elements, points, 1, elements * points, None)
    basis = ceed.BasisTensorH1Lagrange(3, components, ORDER + 1, POINTS, GAUSS)
    op = ceed.Operator(qf)
    op.set_field("u", unknowns, basis, VECTOR_ACTIVE)
    op.set_field("weight", data, BASIS_NONE, random_vector(ceed, elements * points))
    op.set_field("v", unknowns, basis, VECTOR_ACTIVE)
    return op, components * size


def cases(lengths: list[int], watch: Stopwatch) -> Iterator[Case]:
    """Give every engine alone and in an operator, and what JAX takes on its own."""
    ceed = pyceedlike.Ceed()
    for name, ((field, _), _) in physics.FIELDS.items():
        for engine in ENGINES:
            qf = physics.qfunction(ceed, name, engine)
            for n in lengths:
                vectors = [random_vector(ceed, m) for m in (field.size * n, n, field.size * n)]
                names = {"qf": qf, "n": n, "u": vectors[:2], "v": vectors[2:]}
                yield Case((name, engine, n, "alone"), "qf.apply(n, u, v)", names)
                elements = max(1, n // POINTS**3)
                op, size = operator(ceed, qf, 1 if name == "mass" else 3, elements)
                names = {"op": op, "u": random_vector(ceed, size), "v": ceed.Vector(size)}
                names["watch"] = watch
                points = elements * POINTS**3
                note = str(points)
                yield Case((name, engine, n, "operator"), "op.apply(u, v)", names, note)
                if engine == "jax":
                    yield Inside((name, engine, n, "callback"), "op.apply(u, v)", names, note)
                    yield jitted(name, n, points)


def jitted(name: str, n: int, points: int) -> Case:
    """Return the jitted function on arrays of JAX's own."""
    import jax

    field, weight = physics.FIELDS[name][0]
    random = np.random.default_rng(n)
    arrays = [random.uniform(0.0, 0.01, (*f.shape, points)) for f in (field, weight)]
    u, w = map(jax.numpy.array, arrays)
    names = {"f": jax.jit(physics.functions(name)["jax"]), "u": u, "w": w}
    return Case((name, "jax", n, "jitted"), "f(u, w).block_until_ready()", names, str(points))


def per_point(case: Case) -> float | None:
    """Return the nanoseconds for one point."""
    return case.median and case.median / int(case.note or case.key[2])


def report(found: dict[tuple, Case], lengths: list[int]) -> None:
    """Print the tables."""
    for name in physics.FIELDS:
        print(f"\n{name}: nanoseconds a point\n")
        rows = []
        for what in ("alone", "operator", "callback", "jitted"):
            for engine in ENGINES:
                row = [found.get((name, engine, n, what)) for n in lengths]
                if all(row):
                    rows.append([f"{engine}, {what}", *(show(per_point(case)) for case in row)])
        print(table(["", *(f"{n:,}" for n in lengths)], rows))


def draw(path: Any, found: dict[tuple, Case], lengths: list[int]) -> None:
    """Draw the cost of a point by the number of points."""
    figure, panels = figure_of(2)
    for axes, name in zip(panels, physics.FIELDS, strict=True):
        for color, engine in enumerate(ENGINES):
            for what, line in {"alone": "o-", "operator": "s--"}.items():
                costs = [per_point(found[name, engine, n, what]) for n in lengths]
                axes.plot(lengths, costs, line, color=f"C{color}", label=f"{engine}, {what}")
        axes.set(xscale="log", yscale="log", xlabel="points", title=f"{name}: ns a point")
    panels[0].legend(ncols=2)
    figure.savefig(path)


def main() -> None:
    """Measure, print, and write what is asked for."""
    options = arguments(__doc__, rounds=15, sample_us=20_000)
    lengths = sizes(SIZES, options.largest)
    found = measure(cases(lengths, Stopwatch()), options.rounds, options.sample_us)
    promised = [
        goal(f"the JAX callback of {name}, to the jitted function", 1.3,
             found.get((name, "jax", GOAL_SIZE, "callback")),
             found.get((name, "jax", GOAL_SIZE, "jitted")))
        for name in physics.FIELDS
    ]  # fmt: skip
    print_goals(promised)
    report(found, lengths)
    if options.json:
        harness.write_json(options.json, found.values(), promised)
    if options.plot:
        draw(options.plot, found, lengths)


if __name__ == "__main__":
    main()
