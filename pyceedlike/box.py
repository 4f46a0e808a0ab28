# SPDX-License-Identifier: BSD-2-Clause
"""Boxes of indices, and the ghost layers around them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ._lib import HOST, LIBRARIES, CeedDimensionError, CeedIncompatibleError, Library

Ghost = tuple[tuple[int, int], ...]  # layers on the low and the high side of each direction


def integers(
    values: Any, what: str, count: int | None = None, *, spread: bool = True
) -> tuple[int, ...]:
    """Return the numbers of a list, a tuple, an array; of one integer with `spread`, all the same.

    Raises TypeError, with the remedy, for numbers on a device and for what is no integer,
    CeedDimensionError for another count and for a number that does not fit in an int32.
    """
    _check_place(values, what)
    if isinstance(values, (Set, Mapping)):
        raise TypeError(f"{what} is a sequence of integers, not a {type(values).__name__}")
    if not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0:
        values = [values] * (count if spread and count else 1)
    if len(values) not in ((1, 2, 3) if count is None else (count,)):
        wanted = "1 to 3 directions" if count is None else f"{count} directions"
        raise CeedDimensionError(f"{what} has {len(values)} numbers for {wanted}")
    return tuple(_integer(value, what) for value in values)


def _check_place(values: Any, what: str) -> None:
    device = getattr(values, "__dlpack_device__", None)
    if device is not None and device()[0] not in HOST:
        raise TypeError(
            f"{what} lies in the memory of a device (DLPack type {int(device()[0])}): pass a list "
            "or a NumPy array, as x.tolist() makes one"
        )


def _integer(value: Any, what: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is made of integers, not of {value!r}") from None
    if not -(2**31) <= number < 2**31:
        raise CeedDimensionError(f"{what}: {number} does not fit in an int32")
    return number


def centring_of(centring: Any, dim: int) -> tuple[int, ...]:
    """Return 0 for cells and 1 for nodes in each direction; raise CeedDimensionError for others."""
    numbers = integers(centring, "centring", dim)
    if not set(numbers) <= {0, 1}:
        raise CeedDimensionError(f"centring is 0 for cells and 1 for nodes, not {centring!r}")
    return numbers


def centring_bits(centring: tuple[int, ...]) -> int:
    """Return the centring as C has it."""
    return sum(bit << i for i, bit in enumerate(centring))


class Box:
    """A range of indices in 1 to 3 directions, of cells or of nodes; both bounds belong to it.

    The bounds may be any int32, negative ones, too; where hi is below lo the box is empty.
    centring has 1 for each direction in which the box is one of nodes, node i being the low face of
    cell i. Bounds that leave the int32 are a CeedDimensionError, here and in all that follows.

    >>> box = pyceedlike.Box([-2, 0], [5, 3])
    >>> box.shape
    (8, 4)
    >>> box.grow(1)
    Box((-3, -1), (6, 4))
    >>> box & pyceedlike.Box([4, 2], [9, 9])
    Box((4, 2), (5, 3))
    """

    __slots__ = ("_centring", "_hi", "_lo")

    def __init__(self, lo: Any, hi: Any, centring: Any = 0) -> None:
        self._lo = integers(lo, "lo")
        self._hi = integers(hi, "hi", self.dim)
        self._centring = centring_of(centring, self.dim)
        self._call("CeedBoxGetSize", "CeedSize *")

    @classmethod
    def _of(cls, struct: Any) -> Box:
        self = cls.__new__(cls)
        dim = struct.dim
        self._lo = tuple(struct.lo)[:dim]
        self._hi = tuple(struct.hi)[:dim]
        self._centring = tuple(struct.centring >> i & 1 for i in range(dim))
        return self

    @classmethod
    def from_text(cls, text: str) -> Box:
        """Return the box of AMReX's text form, which str() gives.

        Raises CeedIncompatibleError for other texts.

        >>> pyceedlike.Box.from_text("((-2,0) (5,3) (0,0))")
        Box((-2, 0), (5, 3))
        """
        library = LIBRARIES["float64"]
        if not isinstance(text, str):
            raise TypeError(f"a box is read from a str, not {type(text).__name__}")
        if "\0" in text:
            raise CeedIncompatibleError(f"{text!r} is no box: it has a NUL in it")
        return cls._of(library.get("CeedBox", library.lib.CeedBoxFromText, text.encode()))

    def _pointer(self, library: Library) -> Any:
        """Return the box as a new struct of C."""
        bits = centring_bits(self._centring)
        return library.ffi.new("CeedBox *", (self.dim, self._lo, self._hi, bits))

    def _call(self, name: str, kind: str, *arguments: Any) -> Any:
        library = LIBRARIES["float64"]
        out = library.ffi.new(kind)
        library.check(getattr(library.lib, name)(self._pointer(library)[0], *arguments, out))
        return out

    def _box(self, name: str, *arguments: Any) -> Box:
        return Box._of(self._call(name, "CeedBox *", *arguments)[0])

    def _other(self, other: Any) -> Any:
        return box_of(other)._pointer(LIBRARIES["float64"])[0]

    @property
    def dim(self) -> int:
        """The number of directions, 1 to 3."""
        return len(self._lo)

    @property
    def lo(self) -> tuple[int, ...]:
        """The first index of each direction."""
        return self._lo

    @property
    def hi(self) -> tuple[int, ...]:
        """The last index of each direction."""
        return self._hi

    @property
    def centring(self) -> tuple[int, ...]:
        """0 for each direction of cells, 1 for each of nodes."""
        return self._centring

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of indices in each direction."""
        return tuple(self._call("CeedBoxGetLengths", "CeedSize[3]"))[: self.dim]

    @property
    def size(self) -> int:
        """The number of cells or nodes."""
        return self._call("CeedBoxGetSize", "CeedSize *")[0]

    @property
    def is_empty(self) -> bool:
        """Whether the box has no cell or node."""
        return self._call("CeedBoxIsEmpty", "bool *")[0]

    def __contains__(self, inner: Box | Sequence[int]) -> bool:
        if not isinstance(inner, Box):
            index = integers(inner, "an index", self.dim, spread=False)
            inner = Box(index, index, self.centring)
        return self._call("CeedBoxContains", "bool *", self._other(inner))[0]

    def grow(self, layers: Any) -> Box:
        """Return the box with layers added on its sides, or taken away where they are negative.

        layers is a number, one for each direction, or a pair (low, high) for each.

        >>> pyceedlike.Box([0, 0], [7, 7]).grow([(1, 2), 0])
        Box((-1, 0), (9, 7))
        """
        ghost = ghost_struct(LIBRARIES["float64"], ghost_of(layers, self.dim, "layers"))
        return self._box("CeedBoxGrow", ghost[0])

    def shift(self, by: Any) -> Box:
        """Return the box moved by a number of indices in each direction."""
        return self._box("CeedBoxShift", integers(by, "by", self.dim))

    def __and__(self, other: Box) -> Box:
        return self._box("CeedBoxIntersect", self._other(other))

    def hull(self, other: Box) -> Box:
        """Return the smallest box that contains both."""
        return self._box("CeedBoxHull", self._other(other))

    def refine(self, ratio: Any) -> Box:
        """Return the same box on a mesh that is `ratio` times as fine.

        >>> pyceedlike.Box([-2], [5]).refine(2)
        Box((-4,), (11,))
        """
        return self._box("CeedBoxRefine", integers(ratio, "ratio", self.dim))

    def coarsen(self, ratio: Any) -> Box:
        """Return the smallest box of a mesh `ratio` times as coarse that covers this one.

        >>> pyceedlike.Box([-3], [4]).coarsen(2)
        Box((-2,), (2,))
        """
        return self._box("CeedBoxCoarsen", integers(ratio, "ratio", self.dim))

    def convert(self, centring: Any) -> Box:
        """Return the nodes of cells, or the cells of nodes, by direction.

        >>> pyceedlike.Box([0, 0], [7, 7]).convert([1, 0])
        Box((0, 0), (8, 7), (1, 0))
        """
        return self._box("CeedBoxConvert", centring_bits(centring_of(centring, self.dim)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[int, ...], ...]:
        return self._lo, self._hi, self._centring

    def __repr__(self) -> str:
        centring = f", {self._centring}" if any(self._centring) else ""
        return f"Box({self._lo}, {self._hi}{centring})"

    def __str__(self) -> str:
        parts = (",".join(map(str, part)) for part in self._key())
        return "(" + " ".join(f"({part})" for part in parts) + ")"


def box_of(box: Any) -> Box:
    """Return a box; raise TypeError for what is none."""
    if not isinstance(box, Box):
        raise TypeError(f"a Box is wanted here, not {type(box).__name__}: Box(lo, hi) makes one")
    return box


def ghost_of(widths: Any, dim: int, what: str = "ghost") -> Ghost:
    """Return the layers on both sides of each direction.

    widths is a number, one for each direction, or a pair (low, high) for each.
    """
    _check_place(widths, what)
    if not hasattr(widths, "__len__") or getattr(widths, "ndim", 1) == 0:
        widths = [widths] * dim
    if len(widths) != dim:
        raise CeedDimensionError(f"{what} has {len(widths)} widths for {dim} directions")
    return tuple(_pair(width, what) for width in widths)


def _pair(width: Any, what: str) -> tuple[int, int]:
    if not hasattr(width, "__len__") or getattr(width, "ndim", 1) == 0:
        return (_integer(width, what),) * 2
    if len(width) != 2:
        raise CeedDimensionError(f"{what} is a width or a pair (low, high), not {width!r}")
    return _integer(width[0], what), _integer(width[1], what)


def ghost_struct(library: Library, ghost: Ghost) -> Any:
    """Return the layers as a new struct of C."""
    return library.ffi.new("CeedGhost *", tuple(zip(*ghost, strict=True)))


def ghost_from(struct: Any, dim: int) -> Ghost:
    """Return the layers of a struct of C."""
    return tuple(zip(struct.lo, struct.hi, strict=True))[:dim]
