# SPDX-License-Identifier: BSD-2-Clause
"""A writer of AMReX plotfiles, in all their forms, and where a real one is."""

import os
import pathlib

import numpy as np
from helpers import ROOT

#: A flame of PeleLMeX, from the source distribution of amr2h5 0.0.3; `make data` fetches it.
FLAME = pathlib.Path(
    os.environ.get("CEEDLIKE_FLAME", ROOT / "build/data/amr2h5-0.0.3/test/assets/plotfile")
)

REALS = {"f8": "64 11 52 0 1 12 0 1023", "f4": "32 8 23 0 1 9 0 127"}
NO_HEADERS = (2, 3, 4)


def values_over(lo, hi, ncomp, level=0):
    """Return what the files hold over a box, [component, z, y, x]: numbers that tell where."""
    ranges = [np.arange(a, b + 1) for a, b in zip(lo, hi, strict=True)][::-1]
    grid = np.meshgrid(np.arange(ncomp), *ranges, indexing="ij")
    weights = [40000, *(1, 31, 997)[: len(lo)][::-1]]
    return sum(w * g for w, g in zip(weights, grid, strict=True)) + 100000 * level + 0.5


def text_of(box):
    """Return a box as AMReX writes it."""
    return "(" + " ".join("(" + ",".join(map(str, part)) + ")" for part in box) + ")"


def real_text(real):
    """Return the descriptor of a type of NumPy."""
    size = int(real[2])
    order = range(1, size + 1) if real[0] == ">" else range(size, 0, -1)
    return f"((8, ({REALS[real[1:]]})),({size}, ({' '.join(map(str, order))})))"


class Writer:
    """A plotfile of boxes; what a test wants otherwise it sets before write()."""

    def __init__(self, folder, levels, *, ncomp=2, version=1, real="<f8", ghost=None):
        self.folder = folder
        self.levels = levels  # of each one a list of (lo, hi)
        self.dim = len(levels[0][0][0])
        self.ncomp = ncomp
        self.version = version
        self.real = real
        self.ghost = ghost or [(0, 0)] * self.dim  # in the blocks
        self.told = None  # in Cell_H, where it is another

    def write(self):
        self.folder.mkdir()
        (self.folder / "Header").write_text(self.header())
        for number, boxes in enumerate(self.levels):
            folder = self.folder / f"Level_{number}"
            folder.mkdir()
            places = self.write_data(folder, boxes, number)
            (folder / "Cell_H").write_text(self.index(boxes, places, number))
        return self.folder

    def header(self):
        finest, zeros, ones = len(self.levels) - 1, "0 " * self.dim, "1 " * self.dim
        domain = text_of(((-9,) * self.dim, (99,) * self.dim, (0,) * self.dim))
        lines = ["HyperCLaw-V1.1", self.ncomp, *(f"field ({i})" for i in range(self.ncomp))]
        lines += [self.dim, "0.25d0", finest, zeros, ones, "2 " * finest]
        lines += [f"{domain} " * (finest + 1)]
        lines += ["7 " * (finest + 1), *("0.5 " * self.dim for _ in range(finest + 1)), 0, 0]
        for number, boxes in enumerate(self.levels):
            lines += [f"{number} {len(boxes)} 0.25", 7]
            lines += ["0 1"] * (len(boxes) * self.dim) + [f"Level_{number}/Cell"]
        return "".join(f"{line}\n" for line in lines)

    def grown(self, lo, hi):
        low = tuple(a - g for a, (g, _) in zip(lo, self.ghost, strict=True))
        return low, tuple(b + g for b, (_, g) in zip(hi, self.ghost, strict=True))

    def write_data(self, folder, boxes, number):
        """Write two blocks into each file; return where they are."""
        places = []
        for i, (lo, hi) in enumerate(boxes):
            name = f"Cell_D_{i // 2:05}"
            with (folder / name).open("ab") as file:
                places.append((name, file.tell()))
                whole = self.grown(lo, hi)
                if self.version not in NO_HEADERS:
                    text = text_of((*whole, (0,) * self.dim))
                    file.write(f"FAB {real_text(self.real)}{text} {self.ncomp}\n".encode())
                file.write(values_over(*whole, self.ncomp, number).astype(self.real).tobytes())
        return places

    def index(self, boxes, places, number):
        widths = self.told or [g for g, _ in self.ghost]
        same = len(set(widths)) == 1
        lines = [self.version, 1, self.ncomp]
        lines += [widths[0] if same else "(" + ",".join(map(str, widths)) + ")"]
        lines += [f"({len(boxes)} 0", *(text_of((*box, (0,) * self.dim)) for box in boxes), ")"]
        lines += [len(boxes), *(f"FabOnDisk: {name} {offset}" for name, offset in places), ""]
        data = [values_over(*box, self.ncomp, number) for box in boxes]
        data = [block.reshape(self.ncomp, -1) for block in data]
        if self.version in (1, 3):
            for row in ([block.min(1) for block in data], [block.max(1) for block in data]):
                lines += [f"{len(boxes)},{self.ncomp}"]
                lines += ["".join(f"{value:.17e}," for value in block) for block in row] + [""]
        if self.version == 4:
            lines += ["".join(f"{value:.17e}," for value in data[0].min(1))]
            lines += ["".join(f"{value:.17e}," for value in data[0].max(1))]
        if self.version in NO_HEADERS:
            lines += [real_text(self.real)]
        return "".join(f"{line}\n" for line in lines)


L_SHAPE = {
    1: [((-4,), (-1,)), ((0,), (2,)), ((5,), (5,))],
    2: [((-4, -2), (-1, 1)), ((0, -2), (2, 1)), ((-4, 2), (-1, 2))],
    3: [((-4, -2, 1), (-1, 1, 3)), ((0, -2, 1), (2, 1, 3)), ((-4, 2, 1), (-1, 2, 3))],
}  # three boxes of two sizes around a corner that is not there
