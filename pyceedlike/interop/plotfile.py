# SPDX-License-Identifier: BSD-2-Clause
"""AMReX plotfiles: the levels of a file as MultiFabs, whose blocks are read when asked for.

The format is that which AMReX's WriteMultiLevelPlotfile and VisMF write: a folder with the text
`Header`, and for each level a text `Cell_H` beside files of values.
"""

from __future__ import annotations

import math
import mmap
import os
import pathlib
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .._lib import CeedError, CeedIncompatibleError
from ..box import Box
from ..ceed import Ceed
from ..fab import Fab
from ..multifab import MultiFab

if TYPE_CHECKING:
    import matplotlib.cm
    import numpy

_BOX = re.compile(r"\(\([-\d,]+\) \([-\d,]+\) \([-\d,]+\)\)")
_FLOATS = {(64, 11, 52, 0, 1, 12, 0, 1023): 8, (32, 8, 23, 0, 1, 9, 0, 127): 4}  # IEEE 754
_SHORT = r"(\d{1,4}(?: +\d{1,4})*)"
_DESCRIPTOR = re.compile(rf"\(\(\d+, \({_SHORT}\)\),\((\d{{1,4}}), \({_SHORT}\)\)\)")
_LONGEST_LINE = 1024  # bytes of the line before the values of a block

_NO_HEADERS = (2, 3, 4)  # versions of Cell_H: blocks without a line of text before their values
_EXTREMA = (1, 3)  # versions with a minimum and a maximum of each block and field


class PlotfileError(CeedIncompatibleError):
    """A plotfile that is broken or of an unknown form; the text begins with the place."""


def _check_is_file(path: pathlib.Path) -> None:
    """Raise OSError for a pipe, on which a reader would wait for ever, and the like."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file")


def _is_inside(name: str) -> bool:
    path = pathlib.PurePath(name)
    return not path.is_absolute() and ".." not in path.parts


class _Lines:
    """The lines of a text, one after the other."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        _check_is_file(path)
        self.lines = path.read_text(encoding="utf-8", errors="replace").rstrip("\n").split("\n")
        self.number = 0  # of the last line that was read, from 1 on

    def fail(self, what: str) -> NoReturn:
        """Raise the error that says where, and what."""
        raise PlotfileError(f"{self.path}:{self.number}: {what}")

    def next(self, what: str) -> str:
        """Return the next line, without blanks around it."""
        self.number += 1
        if self.number > len(self.lines):
            self.fail(f"the file ends where {what} should be")
        return self.lines[self.number - 1].strip()

    def skip_blank(self) -> None:
        """Go to before the next line that is not blank."""
        while self.number < len(self.lines) and not self.lines[self.number].strip():
            self.number += 1

    def numbers(self, what: str, count: int, kind: Any, separator: str | None = None) -> list[Any]:
        """Return the numbers of the next line."""
        words = self.next(what).removesuffix(separator or "").split(separator)
        if len(words) != count:
            self.fail(f"{what} should be {count} number{'s' * (count != 1)}, not {len(words)}")
        return [self.number_of(word, what, kind) for word in words]

    def number_of(self, word: str, what: str, kind: Any) -> Any:
        """Return the number that a word is."""
        try:
            return kind(word)
        except ValueError:
            self.fail(f"{what}: {word!r} is no number")

    def integer(self, what: str, least: int, most: int = sys.maxsize) -> int:
        """Return the one integer of the next line, from `least` to `most`."""
        (number,) = self.numbers(what, 1, int)
        if not least <= number <= most:
            self.fail(f"{what} can't be {number}")
        return number

    def box(self, text: str, dim: int) -> Box:
        """Return the box that a text is."""
        try:
            box = Box.from_text(text)
        except CeedError as error:
            self.fail(f"{text!r} is no box: {error}")
        if box.dim != dim or box.is_empty:
            self.fail(f"{text!r} is no box of {dim} directions with cells in it")
        return box


def _float(word: str) -> float:
    return float(word.lower().replace("d", "e"))  # Fortran has 1.0d0


class Plotfile:
    """A plotfile: what its Header says, and its levels."""

    path: pathlib.Path
    version: str
    fields: list[str]  # their names, in the order of the components
    dim: int
    time: float
    prob_lo: list[float]  # the corners of the domain
    prob_hi: list[float]
    ratios: list[int]  # how fine each level but the first is beside the one before
    domains: list[Box]  # of each level
    steps: list[int]  # that each level has made
    cell_sizes: list[list[float]]  # of each level
    coordinates: str  # "cartesian", "rz" or "spherical"

    def __init__(self, path: pathlib.Path, fields: str | list[str] | None, copy: bool) -> None:
        self.path = path
        self._copy = copy
        lines = _Lines(path / "Header")
        self._read_fields(lines)
        self._read_domain(lines)
        self._places = [self._read_level(lines, i) for i in range(len(self.domains))]
        self._chosen = self._choose(fields)

    def _read_fields(self, lines: _Lines) -> None:
        self.version = lines.next("the version")
        if not self.version:
            lines.fail("the version is blank")
        count = lines.integer("the number of fields", 1)
        self._names = [lines.next(f"field {i} of {count}") for i in range(count)]

    def _read_domain(self, lines: _Lines) -> None:
        self.dim = dim = lines.integer("the number of directions", 1, 3)
        (self.time,) = lines.numbers("the time", 1, _float)
        finest = lines.integer("the finest level", 0)
        self.prob_lo = lines.numbers("the low corner", dim, _float)
        self.prob_hi = lines.numbers("the high corner", dim, _float)
        self.ratios = lines.numbers("the refinement ratios", finest, int)
        if not all(1 <= ratio < 2**31 for ratio in self.ratios):
            lines.fail(f"refinement ratios can't be {self.ratios}")
        texts = _BOX.findall(lines.next("the domain of each level"))
        if len(texts) != finest + 1:
            lines.fail(f"{finest + 1} domains should be here, not {len(texts)}")
        self.domains = [lines.box(text, dim) for text in texts]
        self.steps = lines.numbers("the steps of each level", finest + 1, int)
        self.cell_sizes = [
            lines.numbers(f"the cell sizes of level {i}", dim, _float) for i in range(finest + 1)
        ]
        system = lines.integer("the coordinate system", 0, 2)
        self.coordinates = ("cartesian", "rz", "spherical")[system]
        lines.integer("a 0", 0, 0)

    def _read_level(self, lines: _Lines, level: int) -> tuple[_Place, int]:
        """Return where the index of a level lies, and the number of boxes."""
        words = lines.next(f"level {level}, its boxes and its time").split()
        numbers = [lines.number_of(word, "level and boxes", int) for word in words[:2]]
        if numbers[:1] != [level] or not numbers[1:] or numbers[1] < 1 or len(words) != 3:
            lines.fail(f"level {level} with some boxes should begin here, not {' '.join(words)!r}")
        lines.integer("the step", -sys.maxsize)
        for i in range(numbers[1] * self.dim):
            lines.numbers(f"the extent of box {i // self.dim}", 2, _float)
        name = lines.next("the path of the level")
        if not _is_inside(name):
            lines.fail(f"the level {name!r} lies outside of the plotfile")
        path = self.path / (name + "_H")
        return _Place(path, 0, lines.number), numbers[1]

    def _choose(self, fields: str | list[str] | None) -> list[int]:
        chosen = self._names if fields is None else [fields] if isinstance(fields, str) else fields
        self.fields = list(chosen)
        if not self.fields:
            raise CeedIncompatibleError(f"no field is chosen of {', '.join(self._names)}")
        return [self._find(name, self._names) for name in self.fields]

    def _find(self, field: str, fields: list[str]) -> int:
        if field not in fields:
            raise CeedIncompatibleError(
                f"{self.path} has no field {field!r}: its fields are {', '.join(fields)}"
            )
        return fields.index(field)

    @cached_property
    def levels(self) -> list[Level]:
        """A MultiFab for each level, the coarsest first."""
        levels = []
        for number, (place, count) in enumerate(self._places):
            lines = _open(place, self.path / "Header")
            index = _LevelIndex(lines, self.dim, count, len(self._names))
            level = Level(index, self._chosen, self._copy)
            level.set_level(number, self.ratios[number - 1] if number else 1)
            levels.append(level)
        return levels

    def plot(
        self,
        field: str,
        *,
        axes: Any = None,
        normal: str = "z",
        index: int | None = None,
        outlines: bool = True,
        **style: Any,
    ) -> matplotlib.cm.ScalarMappable:
        """Draw all levels of a field over each other; return what matplotlib's colorbar() takes.

        In three directions it is the slice at `index` of the coarsest level along `normal`, its
        middle if that is None. style is as MultiFab.plot() has it.
        """
        from .matplotlib import Plane, draw_levels

        component = self._find(field, self.fields)
        planes = []
        for domain, ratio, sizes in zip(
            self.domains, [1, *self.ratios], self.cell_sizes, strict=True
        ):
            corners = zip(self.prob_lo, domain.lo, sizes, strict=True)
            origin = [place - cell * size for place, cell, size in corners]
            index = None if index is None else index * ratio
            planes.append(Plane(domain, normal, index, sizes, origin))
        return draw_levels(self.levels, planes, component, axes, outlines, style)

    def __repr__(self) -> str:
        count = len(self.domains)
        return (
            f"<Plotfile of {len(self.fields)} field{'s' * (len(self.fields) != 1)} on {count} "
            f"level{'s' * (count != 1)} of {self.dim} directions, time {self.time:g}>"
        )


class _Place(NamedTuple):
    """Where something lies, and the line of a text that says so."""

    file: pathlib.Path
    offset: int
    number: int


def _open(place: _Place, text: pathlib.Path) -> _Lines:
    try:
        return _Lines(place.file)
    except (OSError, ValueError) as error:  # the latter for a NUL in the path
        raise PlotfileError(f"{text}:{place.number}: the level can't be read: {error}") from error


class _LevelIndex:
    """What a Cell_H says of the blocks of a level."""

    def __init__(self, lines: _Lines, dim: int, count: int, ncomp: int) -> None:
        self.lines = lines
        self.version = lines.integer("the version", 1, 4)
        lines.integer("how it was written", 0)
        self.ncomp = lines.integer("the number of fields", 1)
        if self.ncomp != ncomp:
            lines.fail(f"there are {self.ncomp} fields here and {ncomp} in the Header")
        self.ghost = self._read_ghost(dim)
        self.boxes = self._read_boxes(dim, count)
        self.places = [self._read_place(lines.path.parent, i) for i in range(self._count(count))]
        lines.skip_blank()
        self._extrema = lines.number
        self.real = self._read_real() if self.version in _NO_HEADERS else None

    def _read_ghost(self, dim: int) -> list[int]:
        text = self.lines.next("the ghost layers").strip("()")
        words = text.split(",")
        ghost = [self.lines.number_of(word, "the ghost layers", int) for word in words]
        if len(ghost) not in (1, dim) or not 0 <= min(ghost) <= max(ghost) < 2**31:
            self.lines.fail(f"{text!r} is no number of ghost layers in {dim} directions")
        return ghost * dim if len(ghost) == 1 else ghost

    def _read_boxes(self, dim: int, count: int) -> list[Box]:
        lines = self.lines
        head = re.fullmatch(r"\((\d+) \d+", lines.next("the number of boxes"))
        if not head or lines.number_of(head[1], "the number of boxes", int) != count:
            lines.fail(f"a list of {count} boxes, as the Header has them, should begin here")
        boxes: list[Box] = []
        for i in range(count):
            boxes.append(self._read_box(dim, i, count))
            if boxes[i].centring != boxes[0].centring:
                lines.fail(f"{boxes[i]} and {boxes[0]} have not the same centring")
        if lines.next("the end of the list of boxes") != ")":
            lines.fail(f"the list of {count} boxes should end here")
        return boxes

    def _read_box(self, dim: int, index: int, count: int) -> Box:
        lines = self.lines
        box = lines.box(lines.next(f"box {index} of {count}"), dim)
        try:
            size = box.grow(self.ghost).size
        except CeedError as error:
            lines.fail(f"{box} can't have {self.ghost} ghost layers: {error}")
        if size > sys.maxsize // (8 * self.ncomp):
            lines.fail(f"{box} with {self.ghost} ghost layers is more than memory holds")
        return box

    def _count(self, count: int) -> int:
        return self.lines.integer("the number of blocks", count, count)

    def _read_place(self, folder: pathlib.Path, index: int) -> _Place:
        line = self.lines.next(f"the place of block {index}")
        found = re.fullmatch(r"FabOnDisk: (.+) (\d+)", line)
        if not found:
            self.lines.fail(f"{line!r} is no place of a block: FabOnDisk: file offset")
        if not _is_inside(found[1]):
            self.lines.fail(f"the file {found[1]!r} lies outside of the level's folder")
        offset = self.lines.number_of(found[2], "the offset", int)
        return _Place(folder / found[1], offset, self.lines.number)

    def _read_real(self) -> numpy.dtype:
        if self.version == 3:
            self.extrema()
        if self.version == 4:
            for what in ("minimum", "maximum"):
                self.lines.numbers(f"the {what}", self.ncomp, _float, ",")
        self.lines.skip_blank()
        text = self.lines.next("the type of the values")
        real = _real_of(text)
        if real is None:
            self.lines.fail(f"{text!r} is no IEEE float or double")
        return real

    def extrema(self) -> tuple[list[list[float]], list[list[float]]]:
        """Return the minimum and the maximum of each field in each block."""
        lines, count = self.lines, len(self.boxes)
        lines.number = self._extrema
        tables = []
        for what in ("minimum", "maximum"):
            lines.skip_blank()
            if lines.numbers(f"boxes and fields of the {what}", 2, int, ",") != [count, self.ncomp]:
                lines.fail(f"a table of {count} boxes and {self.ncomp} fields should begin here")
            tables.append([
                lines.numbers(f"the {what} of block {i}", self.ncomp, _float, ",")
                for i in range(count)
            ])  # fmt: skip
        return tables[0], tables[1]


def _real_of(text: str) -> numpy.dtype | None:
    """Return the type of numbers that a descriptor of AMReX describes; None: another one."""
    import numpy

    found = _DESCRIPTOR.search(text)
    if not found:
        return None
    size = _FLOATS.get(tuple(map(int, found[1].split())))
    order = [int(word) for word in found[3].split()]
    if size != int(found[2]) or sorted(order) != list(range(1, size + 1)):
        return None
    if order == sorted(order):
        return numpy.dtype(f">f{size}")
    return numpy.dtype(f"<f{size}") if order == sorted(order, reverse=True) else None


class Level(MultiFab):
    """A level of a plotfile: a MultiFab whose blocks are read when they are asked for.

    Where the file has a block in the order of this machine's bytes, from a multiple of its numbers'
    size on, the file is mapped into memory; else the block is copied. What is written to a fab
    never reaches the file. redefine() makes an ordinary MultiFab of it, without a file's values.
    """

    def __init__(self, index: _LevelIndex, chosen: list[int], copy: bool) -> None:
        self._index = index
        self._chosen = chosen
        self._copy = copy
        self._waiting = set(range(len(index.boxes)))  # blocks that are still in the file alone
        self._lock = threading.RLock()
        real = index.real or self._head(0).real
        ceed = Ceed(scalar=f"float{8 * real.itemsize}")
        super().__init__(ceed, index.boxes, len(chosen), index.ghost, None, 0)

    def extrema(self) -> tuple[list[list[float]], list[list[float]]] | None:
        """Return the minimum and the maximum that the file tells of each field in each block.

        None where it does not tell them.
        """
        return self._index.extrema() if self._index.version in _EXTREMA else None

    def _fab(self, index: int) -> Fab:
        with self._lock:
            if index in self._waiting:
                self.set_fab(index, self.read(index))
            return super()._fab(index)

    def __iter__(self) -> Iterator[Fab]:
        for index in self.local:
            yield self._fab(index)

    def set_fab(self, index: int, fab: Fab, *, keep_views: bool = False) -> None:
        """Put another fab in the place of one, as MultiFab.set_fab() does, read or not."""
        with self._lock:
            super().set_fab(index, fab, keep_views=keep_views)
            self._waiting.discard(index)

    def redefine(self, *arguments: Any, **options: Any) -> None:
        """Give the level other boxes, as MultiFab.redefine() does; none of them is the file's."""
        with self._lock:
            super().redefine(*arguments, **options)
            self._waiting.clear()

    def _load(self) -> None:
        for _ in self:
            pass

    def read(self, index: int) -> Fab:
        """Return a new fab of a block, which the level does not keep."""
        head = self._head(index)
        if head.real.newbyteorder("=") != self.scalar:
            self._fail(head, f"the block holds {head.real}, the level {self.scalar}")
        valid = self._index.boxes[index]
        below = [v - w for v, w in zip(valid.lo, head.box.lo, strict=True)]
        above = [w - v for v, w in zip(valid.hi, head.box.hi, strict=True)]
        return Fab.from_dlpack(
            self._values(head),
            lo=head.box.lo,
            ghost=list(zip(below, above, strict=True)),
            centring=valid.centring,
            order="nzyx",
            ceed=self.ceed,
        )

    def _head(self, index: int) -> _Head:
        """Return where the values of a block lie, and what they are, which is checked."""
        place, valid = self._index.places[index], self._index.boxes[index]
        if self._index.real is not None:
            box = valid.grow(self._index.ghost)
            return self._checked(place, _Head(place.file, place.offset, self._index.real, box))
        line = self._first_line(place)
        found = re.fullmatch(r"FAB (\(\(.*?\)\)\))(\(\(.*\)\)) (\d+)\n", line)
        real = _real_of(found[1]) if found else None
        if not found or real is None:
            self._fail(place, f"{line!r} is no head of a block of IEEE floats or doubles")
        try:
            box = Box.from_text(found[2])
            _ = box.size
        except CeedError as error:
            self._fail(place, f"{line!r} has no box: {error}")
        if box.dim != valid.dim or box.centring != valid.centring or valid not in box:
            self._fail(place, f"the block has {box}, which does not contain its box {valid}")
        if int(found[3]) != self._index.ncomp:
            self._fail(place, f"the block has {found[3]} fields, not {self._index.ncomp}")
        return self._checked(place, _Head(place.file, place.offset + len(line), real, box))

    def _first_line(self, place: _Place) -> str:
        with self._reading(place), place.file.open("rb") as file:
            file.seek(place.offset)
            return file.readline(_LONGEST_LINE).decode("ascii", errors="replace")

    @contextmanager
    def _reading(self, place: _Place) -> Iterator[None]:
        try:
            _check_is_file(place.file)
            yield
        except (OSError, ValueError, OverflowError) as error:
            raise PlotfileError(
                f"{self._index.lines.path}:{place.number}: the block can't be read: {error}"
            ) from error

    def _fail(self, place: _Place | _Head, what: str) -> NoReturn:
        raise PlotfileError(f"{place.file}: byte {place.offset}: {what}")

    def _checked(self, place: _Place, head: _Head) -> _Head:
        wanted = head.offset + head.bytes * self._index.ncomp
        with self._reading(place):
            size = head.file.stat().st_size
        if size < wanted:
            self._fail(head, f"the block goes on to byte {wanted}, and the file ends at {size}")
        return head

    def _values(self, head: _Head) -> numpy.ndarray:
        """Return the chosen fields, [field, z, y, x]: mapped where that can be, else copied."""
        import numpy

        first, count = self._chosen[0], len(self._chosen)
        shape = head.box.shape[::-1]
        if self._chosen == list(range(first, first + count)):
            return self._array(head, first, count).reshape(count, *shape)
        fields = [self._array(head, field, 1).reshape(shape) for field in self._chosen]
        return numpy.stack(fields)

    def _array(self, head: _Head, first: int, count: int) -> numpy.ndarray:
        import numpy

        offset = head.offset + first * head.bytes
        entries = count * head.bytes // head.real.itemsize
        if head.real.isnative and offset % head.real.itemsize == 0 and not self._copy:
            return _map(head.file, head.real, entries, offset)
        values = numpy.fromfile(head.file, head.real, entries, offset=offset)
        return values.astype(head.real.newbyteorder("="), copy=False)


def _map(file: pathlib.Path, real: numpy.dtype, entries: int, offset: int) -> numpy.ndarray:
    """Return a part of a file in memory; pages that are written to become this array's own."""
    import numpy

    before = offset % mmap.ALLOCATIONGRANULARITY
    length = before + entries * real.itemsize
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), length, access=mmap.ACCESS_COPY, offset=offset - before)
    return numpy.frombuffer(mapped, real, entries, before)


class _Head(NamedTuple):
    """The values of a block, that begin at a byte of a file."""

    file: pathlib.Path
    offset: int
    real: numpy.dtype
    box: Box

    @property
    def bytes(self) -> int:
        """How many bytes a field takes."""
        return math.prod(self.box.shape) * self.real.itemsize


def open(  # noqa: A001
    path: str | os.PathLike[str], fields: str | list[str] | None = None, *, copy: bool = False
) -> Plotfile:
    """Return a plotfile of AMReX; blocks are read when they are asked for.

    path is the folder. fields are the names of those to read, in that order, or the name of one;
    None is all of them.
    A mapped file must stay as it is while its fabs live: where it is cut off, the operating system
    ends the process with SIGBUS. With copy=True blocks are read into memory, none is mapped.
    Raises PlotfileError, which begins with the file and the line or byte, for what is broken, there
    and wherever a block is read; FileNotFoundError where there is no Header.
    """
    return Plotfile(pathlib.Path(path), fields, copy)
