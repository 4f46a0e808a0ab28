# SPDX-License-Identifier: BSD-2-Clause
"""Solve -div (1 + a u^2) grad u = f on many processes, by PETSc's SNES without a matrix.

    mpirun -n 4 python diffusion.py --mesh da --physics jax

u is given on the sides of the unit square; with a = 0 it is Poisson's equation. The mesh is a DMDA
of quads or a DMPlex of triangles; PETSc divides it, and each process applies the operator to its
elements. The program fails (exit code 1) unless the solution is right. Options of PETSc may follow.
"""

import argparse
import importlib
import sys

import laws
import numpy as np
import petsc4py

chosen = argparse.ArgumentParser(description=__doc__.splitlines()[0])
chosen.add_argument("--mesh", choices=["da", "plex"], default="da")
chosen.add_argument("--physics", choices=["jax", "numba"], default="jax")
chosen.add_argument("--n", type=int, default=24, help="elements along a side")
chosen.add_argument("--a", type=float, default=1.0, help="how nonlinear it is")
chosen.add_argument("--output", help="a file for the solution: x, y and u of the nodes, in order")
chosen, rest = chosen.parse_known_args()
petsc4py.init([sys.argv[0], *rest])

from petsc4py import PETSc  # noqa: E402

from pyceedlike import Ceed, Mesh  # noqa: E402
from pyceedlike.interop.petsc_dm import Equations, Part  # noqa: E402


def quads(n: int) -> PETSc.DM:
    """Return the unit square in n x n quads."""
    dm = PETSc.DMDA().create([n + 1, n + 1], dof=1, stencil_type="box", stencil_width=1)
    dm.setUniformCoordinates(0, 1, 0, 1)
    return dm


def triangles(n: int) -> PETSc.DM:
    """Return the unit square in 2 n^2 triangles, which process 0 has and PETSc distributes."""
    box = Mesh.box(n, n)
    cells = box.elements[:, [[0, 1, 3], [0, 3, 2]]].reshape(-1, 3)
    here = PETSc.COMM_WORLD.rank == 0
    cells, nodes = (cells, box.nodes) if here else (cells[:0], box.nodes[:0])
    dm = PETSc.DMPlex().createFromCellList(2, cells.astype(PETSc.IntType), nodes)
    dm.distribute(overlap=0)
    dm.setNumFields(1)
    dm.setLocalSection(dm.createSection([1], [1, 0, 0]))
    return dm


def solve(dm: PETSc.DM, part: Part) -> tuple[PETSc.SNES, PETSc.Vec]:
    """Return the solver when it has solved, and the solution."""
    ceed = Ceed()
    space = part.mesh.space(ceed, 1)
    u, x = part.field(space), space.coordinates
    state = ceed.Vector(part.size)
    at = part.field(space, state)
    physics = importlib.import_module({"jax": "laws", "numba": "laws_numba"}[chosen.physics])
    op = space.operator(
        *physics.qfunctions(ceed), u=u, du=u, v=u, dv=u, u_at=at, du_at=at, x=x, dx=x
    )
    op.set_context_fields(a=chosen.a)

    sides = np.flatnonzero(np.isclose(part.mesh.nodes * (1 - part.mesh.nodes), 0).any(axis=1))
    values = laws.exact(*part.mesh.nodes[sides].T)
    equations = Equations(op, dm, state, part.unknowns(sides), values)
    solution, snes = dm.createGlobalVec(), PETSc.SNES().create(dm.comm)
    snes.setFunction(equations.residual, solution.duplicate())
    snes.setJacobian(equations.jacobian, equations.matrix)
    snes.setTolerances(rtol=1e-12, max_it=20)
    ksp = snes.getKSP()
    ksp.setType("gmres" if chosen.a else "cg")
    ksp.setGMRESRestart(200)
    ksp.getPC().setType("none")
    ksp.setTolerances(rtol=1e-10)
    snes.setFromOptions()
    snes.solve(None, solution)
    return snes, solution


def gather(dm: PETSc.DM, part: Part, solution: PETSc.Vec) -> np.ndarray:
    """Return x, y and u of all nodes, the same in every process and for every number of them."""
    local = dm.createLocalVec()
    dm.globalToLocal(solution, local)
    here = np.column_stack([part.mesh.nodes, local.array[part.unknowns(slice(None))]])
    table = np.concatenate(dm.comm.tompi4py().allgather(here))
    return table[np.unique(table[:, :2].round(10), axis=0, return_index=True)[1]]


def end_all(*error: object) -> None:
    """Print an error, and end all processes, which would wait for this one."""
    sys.__excepthook__(*error)
    sys.stderr.flush()
    PETSc.COMM_WORLD.tompi4py().Abort(1)


def main() -> int:
    """Solve, and compare."""
    sys.excepthook = end_all
    dm = {"da": quads, "plex": triangles}[chosen.mesh](chosen.n)
    part = Part(dm)
    snes, solution = solve(dm, part)
    table = gather(dm, part, solution)
    error = abs(table[:, 2] - laws.exact(*table[:, :2].T)).max()
    good = snes.converged and error < 0.5 / chosen.n**2
    PETSc.Sys.Print(
        f"{chosen.mesh} {chosen.physics}: {snes.getIterationNumber()} steps of Newton's method, "
        f"{snes.getLinearSolveIterations()} iterations, off by {error:.1e}: "
        f"{'good' if good else 'WRONG'}"
    )
    if chosen.output and dm.comm.rank == 0:
        np.savetxt(chosen.output, table, "%.16e")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
