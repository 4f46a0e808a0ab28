# SPDX-License-Identifier: BSD-2-Clause
"""What a traced point function is before it is C: a graph of typed values, each computed once.

A node of size 1 is a number at each point; a larger one is an array of numbers, in C order. Nodes
that say the same are one node. What stands in the body of a loop and depends on nothing in it
belongs to the graph outside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

COMMUTATIVE = {"add", "mul", "eq", "ne", "and", "or", "xor"}
GIVEN = {"context", "table"}  # before any point is looked at
ARRAYS = {"pack", "contract", "loop", "result", "at"}  # what arrays of each point are made by


@dataclasses.dataclass(eq=False, slots=True, repr=False)
class Node:
    """A value: an operation on others. Its type is NumPy's name of it."""

    op: str
    type: str
    size: int
    args: tuple[Node, ...]
    param: Any
    graph: Graph
    place: int  # in the graph

    @property
    def is_uniform(self) -> bool:
        """Whether it is a number that is the same at all points."""
        return self in self.graph.root.uniform

    def __repr__(self) -> str:
        return f"<{self.op} {'' if self.param is None else self.param} {self.type}[{self.size}]>"


@dataclasses.dataclass(eq=False, slots=True)
class Loop:
    """The body of a loop of a fixed number of rounds."""

    graph: Graph
    rounds: int
    carry: list[Node]  # what the body starts a round with
    result: list[list[Node]]  # what the next round starts with, number by number
    stacked: list[list[Node]]  # what each round gives, number by number
    is_reversed: bool

    def outputs(self) -> Iterator[Node]:
        """Give what the body is computed for."""
        for numbers in (*self.result, *self.stacked):
            yield from numbers


class Graph:
    """The values of a function, or of a loop's body, each behind what it depends on."""

    def __init__(self, parent: Graph | None = None) -> None:
        self.depth: int = parent.depth + 1 if parent else 0
        self.root: Graph = parent.root if parent else self
        self.nodes: list[Node] = []
        self.uniform: set[Node] = set()  # kept by the root
        self._known: dict[tuple, Node] = {}

    def add(
        self, op: str, type_: str, args: tuple[Node, ...] = (), param: Any = None, size: int = 1
    ) -> Node:
        """Return the value of an operation, in the outermost graph that has what it depends on."""
        home = max((a.graph for a in args), key=lambda g: g.depth, default=self.root)
        if op in COMMUTATIVE:
            args = tuple(sorted(args, key=lambda a: (a.graph.depth, a.place)))
        return home._get(op, type_, args, param, size)

    def leaf(self, op: str, type_: str, args: tuple[Node, ...], param: Any, size: int) -> Node:
        """Return a value that belongs here, whatever it depends on."""
        return self._get(op, type_, args, param, size)

    def _get(self, op: str, type_: str, args: tuple[Node, ...], param: Any, size: int) -> Node:
        shown = repr(param) if op == "const" else param  # 0.0 is not -0.0, and one NaN is another
        key = op, type_, size, tuple(map(id, args)), shown
        node = self._known.get(key)
        if node is None:
            node = Node(op, type_, size, args, param, self, len(self.nodes))
            self._known[key] = node
            self.nodes.append(node)
            is_given = args and op not in ARRAYS and all(map(self._is_given, args))
            if op == "const" or (size == 1 and is_given):
                self.root.uniform.add(node)
        return node

    def _is_given(self, node: Node) -> bool:
        return node in self.root.uniform or node.op in GIVEN


def live(outputs: Iterable[Node]) -> set[Node]:
    """Return what the outputs need, bodies of loops included."""
    needed: set[Node] = set()
    todo = list(outputs)
    while todo:
        node = todo.pop()
        if node in needed:
            continue
        needed.add(node)
        todo.extend(node.args)
        if node.op == "loop":
            todo.extend(node.param.outputs())
    return needed
