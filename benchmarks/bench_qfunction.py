# SPDX-License-Identifier: BSD-2-Clause
"""What a point costs in QFunctions of C, numba, NumPy and JAX, alone and in an operator.

The QFunction alone is called once for all points of vectors. The operator has hexahedra of order 3
with 5 points a direction, each with nodes of its own. What JAX's callback takes inside the
operator, results in place, is compared with the jitted function on arrays of JAX in the same place:
in an apply by hand, of restrictions and bases. Called again and again it has its arrays in the
caches.
"""

import functools
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import harness  # first: it sets the threads
import numpy as np
import physics
from harness import Case, arguments, figure_of, goal, measure, print_goals, show, sizes, table

import pyceedlike
from pyceedlike import BASIS_NONE, GAUSS, TRANSPOSE, VECTOR_ACTIVE, Vector
from pyceedlike.callback import Callback

SIZES = [64, 1_000, 100_000, 1_000_000]
GOAL_SIZE = 1_000_000
ORDER, POINTS = 3, 5  # of an element, in each direction
ENGINES = [name for name in ("c", "numba", "numpy", "jax") if name == "c" or find_spec(name)]


class Stopwatch:
    """Measures the time that is spent in some functions."""

    def __init__(self) -> None:
        self.ns = 0

    def on(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is measured."""

        @functools.wraps(function)
        def measured(*arguments: Any) -> Any:
            start = time.perf_counter_ns()
            result = function(*arguments)
            self.ns += time.perf_counter_ns() - start
            return result

        return measured


class Inside(Case):
    """A statement whose samples are the time in functions with a stopwatch."""

    def sample(self) -> float:
        """Return the nanoseconds of one statement that are spent in such functions."""
        watch = self.names["watch"]
        before = watch.ns
        super().sample()
        return (watch.ns - before) / (self.loops * self.unroll)


def random_vector(ceed: pyceedlike.Ceed, n: int) -> pyceedlike.Vector:
    """Return small numbers, so that a deformation stays one."""
    vector = ceed.Vector(n)
    vector.set_array(np.random.default_rng(n).uniform(0.0, 0.01, n))
    return vector


class Elements:
    """Hexahedra with the unknowns of a physics, and the weights of their points."""

    def __init__(self, ceed: pyceedlike.Ceed, name: str, count: int) -> None:
        nodes, components = (ORDER + 1) ** 3, 1 if name == "mass" else 3
        size = count * nodes
        self.ceed, self.name, self.count, self.points = ceed, name, count, count * POINTS**3
        self.unknowns = ceed.ElemRestriction(
            count, nodes, components, size, components * size, np.arange(size)
        )
        self.basis = ceed.BasisTensorH1Lagrange(3, components, ORDER + 1, POINTS, GAUSS)
        self.weight = random_vector(ceed, self.points)

    def vectors(self) -> dict[str, Vector]:
        """Return an input and an output."""
        _, size = self.unknowns.shape
        return {"u": random_vector(self.ceed, size), "v": self.ceed.Vector(size)}

    def operator(self, qf: pyceedlike.QFunction) -> pyceedlike.Operator:
        """Return the operator of a QFunction."""
        q, n = POINTS**3, self.points
        data = self.ceed.StridedElemRestriction(self.count, q, 1, n, (1, n, q))
        op = self.ceed.Operator(qf)
        op.set_field("u", self.unknowns, self.basis, VECTOR_ACTIVE)
        op.set_field("weight", data, BASIS_NONE, self.weight)
        op.set_field("v", self.unknowns, self.basis, VECTOR_ACTIVE)
        return op

    def by_hand(self, watch: Stopwatch) -> Callable[[Vector, Vector], None]:
        """Return what does as the operator of JAX's QFunction does, which the watch measures."""
        import jax

        field = physics.FIELDS[self.name][0][0]
        stress, shape = physics.functions(self.name)["jax"], (*field.shape, self.points)
        f = jax.jit(lambda x, w: stress(x.reshape(shape), w).ravel())
        measured = watch.on(lambda x, w: f(x, w).block_until_ready())
        weight = jax.numpy.array(self.weight.to_numpy())
        nodes = self.unknowns.create_vector()[1]
        values = self.ceed.Vector(field.size * self.points)

        def apply(u: Vector, v: Vector) -> None:
            self.unknowns.apply(u, nodes)
            self.basis.apply(self.count, field.mode, nodes, values)
            with values.jax() as x:
                result = measured(x, weight)
            self.basis.apply(self.count, field.mode, Vector.from_dlpack(result), nodes, TRANSPOSE)
            v.set_value(0.0)
            self.unknowns.apply(nodes, v, TRANSPOSE)

        return apply


def cases(lengths: list[int], watch: Stopwatch) -> Iterator[Case]:
    """Give every engine alone and in an operator, and what JAX takes on its own."""
    ceed = pyceedlike.Ceed()
    Callback.shell = watch.on(Callback.shell)
    for name, ((field, _), _) in physics.FIELDS.items():
        for engine in ENGINES:
            qf = physics.qfunction(ceed, name, engine)
            for n in lengths:
                vectors = [random_vector(ceed, m) for m in (field.size * n, n, field.size * n)]
                names = {"qf": qf, "n": n, "u": vectors[:2], "v": vectors[2:]}
                yield Case((name, engine, n, "alone"), "qf.apply(n, u, v)", names)
                elements = Elements(ceed, name, max(1, n // POINTS**3))
                names = elements.vectors() | {"op": elements.operator(qf), "watch": watch}
                note = str(elements.points)
                yield Case((name, engine, n, "operator"), "op.apply(u, v)", names, note)
                if engine == "jax":
                    names["by_hand"] = elements.by_hand(watch)
                    yield Inside((name, engine, n, "callback"), "op.apply(u, v)", names, note)
                    yield Inside((name, engine, n, "jitted"), "by_hand(u, v)", names, note)
                    yield again(name, n, elements.points)


def again(name: str, n: int, points: int) -> Case:
    """Return the jitted function on the same arrays again and again."""
    import jax

    field, weight = physics.FIELDS[name][0]
    random = np.random.default_rng(n)
    arrays = [random.uniform(0.0, 0.01, (*f.shape, points)) for f in (field, weight)]
    u, w = map(jax.numpy.array, arrays)
    names = {"f": jax.jit(physics.functions(name)["jax"]), "u": u, "w": w}
    return Case(
        (name, "jax", n, "jitted, again"), "f(u, w).block_until_ready()", names, str(points)
    )


def per_point(case: Case) -> float | None:
    """Return the nanoseconds for one point."""
    return case.median and case.median / int(case.note or case.key[2])


def report(found: dict[tuple, Case], lengths: list[int]) -> None:
    """Print the tables."""
    for name in physics.FIELDS:
        print(f"\n{name}: nanoseconds a point\n")
        rows = []
        for what in ("alone", "operator", "callback", "jitted", "jitted, again"):
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
