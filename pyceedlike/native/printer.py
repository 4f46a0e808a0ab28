# SPDX-License-Identifier: BSD-2-Clause
"""From a graph to the body of a C function over points.

Without loops in the graph the body is one loop over the points, each value a constant of its own.
With them, points are taken in blocks: every array has the points of a block as its last axis, and
every loop over numbers has one over these points inside, which the compiler vectorises.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from .expressions import C_TYPES, expression, literal
from .ir import Graph, Loop, Node, live

STORED = {"field", "context", "table", "carry"}  # what is never computed
LATER = {"pack", "contract", "loop", "at"}  # what needs arrays
TILE = 4  # rows of a contraction that are summed together


@dataclasses.dataclass
class Region:
    """Values that are computed in one loop over points: numbers, or arrays of one size."""

    nodes: list[Node]
    size: int = 1  # numbers of each; 0 of a single contraction or loop


class Printer:
    """Writes the body of a function. `fields` are the names of the inputs' pointers."""

    def __init__(
        self, fields: Sequence[str], members: Sequence[str], tables: Sequence[str]
    ) -> None:
        self.fields = fields
        self.members = members  # of the context, its values
        self.tables = tables  # of the context, its arrays of constants
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[Node, str] = {}  # of what is computed in the region at hand, or uniform
        self.buffers: dict[Node, str] = {}  # of what is kept for other regions
        self.homes: dict[Node, Region] = {}
        self.count = itertools.count()

    def body(self, outputs: Sequence[tuple[str, Node]]) -> list[str]:
        """Return the lines that compute the outputs, each of which has its array and its place."""
        self.live = live(node for _, node in outputs)
        root = outputs[0][1].graph.root
        for node in root.nodes:
            if node in self.live and node.is_uniform and node.op not in STORED | {"const"}:
                self._define(node)
        if any(n.op in LATER or (n.size > 1 and n.op not in STORED) for n in self.live):
            self._blocks(root, outputs)
        else:
            self._points(outputs)
        return self.lines

    # One loop over points.

    def _points(self, outputs: Sequence[tuple[str, Node]]) -> None:
        self.place = "i"
        self.line("CeedPragmaSIMD")
        self.open("for (size_t i = 0; i < n; i++)")
        for place, node in outputs:
            self._define_needed(node)
            self.line(f"{place} = {self.ref(node)};")
        self.close()

    def _define_needed(self, node: Node) -> None:
        """Define a value behind what it needs, as late as can be, so that few wait in registers."""
        todo = [node]
        while todo:
            here = todo[-1]
            missing = [a for a in here.args if self._is_computed(a) and a not in self.names]
            if missing:
                todo += missing[::-1]
                continue
            todo.pop()
            if self._is_computed(here) and here not in self.names:
                self._define(here)

    # Blocks of points.

    def _blocks(self, root: Graph, outputs: Sequence[tuple[str, Node]]) -> None:
        self.place = "at"
        self.open("for (size_t start = 0; start < n; start += CEED_BLOCK)")
        self.line("const size_t rest = n - start < CEED_BLOCK ? n - start : CEED_BLOCK;")
        self._graph(root, [node for _, node in outputs])
        self.open("for (size_t p = 0; p < rest; p++)")
        self.line("const size_t i = start + p;")
        for place, node in outputs:
            self.line(f"{place} = {self.ref(node)};")
        self.close()
        self.close()

    def _graph(self, graph: Graph, outputs: Iterable[Node]) -> None:
        """Write everything that a graph computes, in regions."""
        regions = list(self._regions(graph))
        for region in regions:
            self.homes.update(dict.fromkeys(region.nodes, region))
        kept = self._kept(regions, outputs)
        for region in regions:
            for node in region.nodes:
                if node.op in ("pack", "contract") or (node in kept and node.op != "loop"):
                    self._declare(node)
            if region.size:
                self._write(region)
            elif region.nodes[0].op == "contract":
                self._contract(region.nodes[0])
            else:
                self._loop(region.nodes[0])
            for node in region.nodes:
                self.names.pop(node, None)

    def _regions(self, graph: Graph) -> Iterator[Region]:
        todo = [n for n in graph.nodes if self._is_computed(n)]
        while todo:
            waiting = set(todo)
            numbers = self._ready(todo, waiting, 1)
            if not numbers:
                first = next(n for n in todo if not waiting & self._needs(n))
                alone = first.op in ("contract", "loop")
                region = Region([first], 0) if alone else Region([], first.size)
                if not alone:
                    region.nodes = self._ready(todo, waiting, first.size)
            else:
                region = Region(numbers)
            taken = set(region.nodes)
            todo = [n for n in todo if n not in taken]
            yield region

    def _ready(self, todo: list[Node], waiting: set[Node], size: int) -> list[Node]:
        """Return what can be computed together, number by number."""
        taken: list[Node] = []
        waiting = set(waiting)
        for node in todo:
            own = 1 if node.op == "pack" else 0 if node.op in ("contract", "loop") else node.size
            blocked = waiting & self._needs(node)
            if own == size and not blocked:
                taken.append(node)
                if node.op != "pack":  # its array is complete behind the region only
                    waiting.discard(node)
        return taken

    def _needs(self, node: Node) -> set[Node]:
        """Return the values, of any graph, that one is computed from."""
        needs = set(node.args)
        if node.op == "loop":
            needs.update(node.param.outputs())
            inner = live(node.param.outputs())
            needs.update(a for n in inner if n.graph.depth > node.graph.depth for a in n.args)
        return {_source(n) for n in needs}

    def _kept(self, regions: list[Region], outputs: Iterable[Node]) -> set[Node]:
        """Return the values that are needed outside the region that computes them."""
        kept = {n for output in outputs for n in (output, _source(output))}
        for region in regions:
            for node in region.nodes:
                needs = self._needs(node) | set(node.args)
                kept.update(n for n in needs if self.homes.get(n) is not region)
        return {n for n in kept if n in self.homes}

    def _is_computed(self, node: Node) -> bool:
        is_given = node.op in STORED or node.op in ("const", "index", "result")
        return node in self.live and not (is_given or node.is_uniform or _is_read_in_place(node))

    # Regions.

    def _write(self, region: Region) -> None:
        if region.size > 1:
            self.open(f"for (size_t k = 0; k < {region.size}; k++)")
        self._open_points([a for n in region.nodes for a in n.args])
        for node in region.nodes:
            if node.op == "pack":
                for k, number in enumerate(node.args):
                    self.line(f"{self._kept_at(node, k)} = {self.ref(number)};")
                continue
            self._define(node)
            if node in self.buffers:
                self.line(f"{self._kept_at(node, 'k')} = {self.names[node]};")
        self.close()
        if region.size > 1:
            self.close()

    def _contract(self, node: Node) -> None:
        outer, inner = node.param
        # Rows that are summed together read the numbers of the other array once.
        tiled = max((d for d, (n, *_) in enumerate(outer) if n % TILE == 0), default=None)
        tiles = range(1 if tiled is None else TILE)
        rows = [
            [f"(m{d} + {t})" if d == tiled and t else f"m{d}" for d in range(len(outer))]
            for t in tiles
        ]
        sums = [f"k{d}" for d in range(len(inner))]
        for d, (n, *_) in enumerate(outer):
            step = f"m{d} += {TILE}" if d == tiled else f"m{d}++"
            self.open(f"for (size_t m{d} = 0; m{d} < {n}; {step})")
        totals = [f"sum{next(self.count)}" for _ in tiles]
        self.line(f"{C_TYPES[node.type]} {', '.join(f'{total}[CEED_BLOCK]' for total in totals)};")
        self._open_points()
        self.line(" ".join(f"{total}[p] = 0;" for total in totals))
        self.close()
        for k, (n, *_) in zip(sums, inner, strict=True):
            self.open(f"for (size_t {k} = 0; {k} < {n}; {k}++)")
        self._open_points(node.args)
        for total, row in zip(totals, rows, strict=True):
            terms = [
                self.at(array, _place([*row, *sums], [dim[which] for dim in (*outer, *inner)]))
                for which, array in enumerate(node.args, 1)
            ]
            self.line(f"{total}[p] += {' * '.join(terms)};")
        for _ in range(1 + len(inner)):
            self.close()
        self._open_points()
        lengths = [n for n, *_ in outer]
        strides = [math.prod(lengths[d + 1 :]) for d in range(len(outer))]
        for total, row in zip(totals, rows, strict=True):
            self.line(f"{self._kept_at(node, _place(row, strides))} = {total}[p];")
        for _ in range(1 + len(outer)):
            self.close()

    def _loop(self, node: Node) -> None:
        loop: Loop = node.param
        names = self._loop_arrays(node, loop)
        starts = iter(node.args)
        self._open_points()
        for name, carry in zip(names, loop.carry, strict=False):
            for k in range(carry.size):
                self.line(f"{name}[{k}][p] = {self.ref(next(starts))};")
        self.close()
        index = f"t{next(self.count)}"
        self.open(f"for (size_t {index} = 0; {index} < {loop.rounds}; {index}++)")
        count = f"({loop.rounds - 1} - {index})" if loop.is_reversed else index
        for inner in loop.graph.nodes:
            if inner.op == "index":
                self.names[inner] = count
        self._graph(loop.graph, loop.outputs())
        self._open_points()
        next_round = []
        for name, numbers in zip(names[: len(loop.carry)], loop.result, strict=True):
            for k, number in enumerate(numbers):
                value = f"v{next(self.count)}"
                self.line(f"const {C_TYPES[number.type]} {value} = {self.ref(number)};")
                next_round.append(f"{name}[{k}][p] = {value};")
        for name, numbers in zip(names[len(loop.carry) :], loop.stacked, strict=True):
            for k, number in enumerate(numbers):
                self.line(f"{name}[{count} * {len(numbers)} + {k}][p] = {self.ref(number)};")
        for line in next_round:
            self.line(line)
        self.close()
        self.close()

    def _loop_arrays(self, node: Node, loop: Loop) -> list[str]:
        """Declare what a loop carries and stacks."""
        names = []
        sizes = [(c.type, c.size) for c in loop.carry]
        sizes += [(n[0].type, len(n) * loop.rounds) for n in loop.stacked]
        for type_, size in sizes:
            names.append(f"a{next(self.count)}")
            self.line(f"{C_TYPES[type_]} {names[-1]}[{size}][CEED_BLOCK];")
        for carry, name in zip(loop.carry, names, strict=False):
            self.buffers[carry] = name
        for other in node.graph.nodes:
            if other.op == "result" and other.args[0] is node:
                self.buffers[other] = names[other.param]
        return names

    # Values.

    def _declare(self, node: Node) -> None:
        size = f"[{node.size}]" if _is_array(node) else ""
        self.buffers[node] = f"a{next(self.count)}"
        self.line(f"{C_TYPES[node.type]} {self.buffers[node]}{size}[CEED_BLOCK];")

    def _define(self, node: Node) -> None:
        if node.op == "element":
            value = self.at(node.args[0], node.param)
        elif node.op == "at":
            stride, offset = node.param
            value = self.at(node.args[0], f"{self.ref(node.args[1])} * {stride} + {offset}")
        else:
            value = expression(node, [self.ref(a) for a in node.args])
        name = f"v{next(self.count)}"
        self.line(f"const {C_TYPES[node.type]} {name} = {value};")
        self.names[node] = name

    def ref(self, node: Node) -> str:
        """Return the C of a value where it is needed: a name, a literal, a place in an array."""
        if node.op == "const":
            return literal(node.param, node.type)
        if node in self.names:
            return self.names[node]
        return self.at(node, "k" if node.size > 1 else 0)

    def at(self, node: Node, k: int | str) -> str:
        """Return the C of a number of an array."""
        if node.op == "field":
            return f"{self.fields[node.param]}[{_times(k, 'n')}{self.place}]"
        if node.op == "context":
            member = self.members[node.param[0]]
            return f"({C_TYPES[node.type]})context->{member}{f'[{k}]' if node.param[1] else ''}"
        if node.op == "table":
            return f"context->{self.tables[node.param]}[{k}]"
        if node in self.names:
            return self.names[node]
        if node in self.buffers:
            return self._kept_at(node, k)
        if node.op == "const":
            return literal(node.param, node.type)
        if node.op != "element":
            raise AssertionError(f"{node} is needed ahead of what computes it")
        return self.at(node.args[0], node.param)

    def _kept_at(self, node: Node, k: int | str) -> str:
        return f"{self.buffers[node]}{f'[{k}]' if _is_array(node) else ''}[p]"

    # Lines.

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("  " * self.depth + text)

    def open(self, head: str) -> None:
        """Open a block."""
        self.line(f"{head} {{")
        self.depth += 1

    def close(self) -> None:
        """Close a block."""
        self.depth -= 1
        self.line("}")

    def _open_points(self, arrays: Iterable[Node] = ()) -> None:
        """Open the loop over a block's points; behind the last, inputs are read there again."""
        self.line("CeedPragmaSIMD")
        self.open("for (size_t p = 0; p < CEED_BLOCK; p++)")
        if any(a.op == "field" for a in arrays):
            self.line("const size_t at = start + p < n ? start + p : n - 1;")


def _is_array(node: Node) -> bool:
    """Return whether what keeps a value has an axis of numbers, be it one."""
    return node.size > 1 or node.op in ("pack", "contract", "result", "carry")


def _is_read_in_place(node: Node) -> bool:
    """Return whether a value is a number of an array that is computed."""
    return node.op == "element" and node.args[0].op != "field"


def _source(node: Node) -> Node:
    """Return what has to be computed for a value to be there."""
    while node.op == "result" or _is_read_in_place(node):
        node = node.args[0]
    return node


def _times(k: int | str, n: str) -> str:
    return "" if k == 0 else f"({k}) * {n} + " if isinstance(k, str) else f"{k} * {n} + "


def _place(indices: Sequence[str], strides: Sequence[int]) -> str:
    pairs = zip(indices, strides, strict=True)
    return " + ".join(i if s == 1 else f"{i} * {s}" for i, s in pairs if s) or "0"
