# SPDX-License-Identifier: BSD-2-Clause
"""Fill the ghost cells of a MultiFab from the boxes of all processes.

    mpirun -n 4 python ghosts.py

The library moves values inside a process; between processes it is the program's own MPI. It fails
(exit code 1) unless each ghost cell that a box covers has the value of that cell.
"""

import sys

import numpy as np
from mpi4py import MPI

from pyceedlike import Box, Ceed, MultiFab


def fill_ghosts(mf: MultiFab, comm: MPI.Comm) -> None:
    """Fill ghost cells from the valid cells of all processes."""
    mf.fill_ghosts()  # from the boxes of this one
    boxes, owners, requests, arrived = mf.boxes, mf.owners, [], []
    for i, here in enumerate(boxes):
        for j, there in enumerate(boxes):
            part = here.grow(mf.ghost) & there
            if part.is_empty or owners[i] == owners[j]:
                continue
            tag = i * len(boxes) + j
            if owners[j] == comm.rank:
                values = mf[j].to_numpy(part, copy=True)
                requests.append(comm.Isend(values, owners[i], tag))
            elif owners[i] == comm.rank:
                arrived.append((i, part, np.empty((*part.shape, mf.ncomp))))
                requests.append(comm.Irecv(arrived[-1][2], owners[j], tag))
    MPI.Request.Waitall(requests)
    for i, part, values in arrived:
        mf[i].to_numpy(part)[...] = values


def value(box: Box) -> np.ndarray:
    """Return a value for each cell of a box, and for two components."""
    i, j = np.ogrid[tuple(slice(low, high + 1) for low, high in zip(box.lo, box.hi, strict=True))]
    return np.stack([i + 100.0 * j, 0.5 * i - j], axis=-1)


def main() -> int:
    """Cut a domain into boxes of several shapes, fill their ghosts, and look."""
    comm = MPI.COMM_WORLD
    pairs = (-6, -2), (-1, 2), (3, 7)
    boxes = [Box([x[0], y[0]], [x[1], y[1]]) for x in pairs for y in pairs]
    owners = [k % comm.size for k in range(len(boxes))]
    mf = Ceed().MultiFab(boxes, ncomp=2, ghost=2, owners=owners, rank=comm.rank)
    mf.set_value(np.nan)
    for fab in mf:
        fab.to_numpy("valid")[...] = value(fab.box)
    fill_ghosts(mf, comm)
    domain = mf.hull
    good = all((fab.to_numpy(fab.whole & domain) == value(fab.whole & domain)).all() for fab in mf)
    good = comm.allreduce(good, MPI.LAND)
    if comm.rank == 0:
        print(f"ghost cells of {len(boxes)} boxes: {'good' if good else 'WRONG'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
