# SPDX-License-Identifier: BSD-2-Clause
"""One energy, four homes: a function of JAX in C, in libCEED, in XLA, and differentiated in place.

laws.py has the energy of rubber, written with jax.numpy. A cube of it with stiff inclusions is
stretched and sheared at its surface, and
1. a C program without Python finds the displacement, with the energy's derivatives as a header;
2. the same program, compiled for libCEED, does the same;
3. XLA computes the forces of that displacement, without C;
4. the C operator, inside jax.jit, gives back what nobody knew: the stiffness everywhere, from the
   displacement and the forces at the surface. Its gradients come from jax.grad.

The program fails (exit code 1) where two homes disagree by more than round-off, or the stiffness
is not found.
"""

import argparse
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import laws
import numpy as np
from cube import Cube
from scipy.optimize import minimize
from tqdm import tqdm

HERE = Path(__file__).resolve().parent
INCLUSIONS = ((0.3, 0.35, 0.5, 3.0), (0.7, 0.6, 0.5, 1.5))  # where, and how much stiffer


# ---- The solvers without Python ------------------------------------------------------------------


def build(folder: Path, elements: int) -> dict[str, Path]:
    """Compile the solver for this library, and for libCEED where PyPI's is installed."""
    found = importlib.util.find_spec("libceed")
    targets = {"libceedlike": "solid"} | ({"libCEED": "solid_libceed"} if found else {})
    values = [f"PYTHON={sys.executable}", f"CFLAGS=-O3 -DELEMENTS={elements}"]
    if found:
        values.append(f"LIBCEED={found.submodule_search_locations[0]}")
    shutil.copytree(HERE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in tqdm(targets.values(), "compile", unit=" programs"):
        subprocess.run(["make", "-sC", folder, *values, name], check=True)
    return {library: folder / name for library, name in targets.items()}


def solve(program: Path, resource: str, stiffness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the displacement and the forces [component][node] that the program finds."""
    stiffness.tofile(program.with_suffix(".stiffness"))
    arguments = [program, resource, *(program.with_suffix(s) for s in (".stiffness", ".solution"))]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin"})
    return np.fromfile(arguments[-1]).reshape(2, -1)


# ---- The inverse problem -------------------------------------------------------------------------


def recover(cube: Cube, displacement: np.ndarray, forces: np.ndarray, steps: int) -> np.ndarray:
    """Return the stiffness whose displacement, and whose forces at the surface, are as measured."""
    u, f, is_surface = displacement.ravel(), forces.ravel(), ~cube.is_free
    unit = [np.sum(x**2) for x in (u - u.mean(), f * is_surface)]

    @jax.jit
    @jax.value_and_grad
    def misfit(log_stiffness: jax.Array) -> jax.Array:
        stiffness = jnp.exp(log_stiffness)
        found = cube.displacement(u, stiffness=stiffness)
        off = jnp.where(is_surface, cube.forces(found, stiffness=stiffness) - f, 0)
        return jnp.sum((found - u) ** 2) / unit[0] + jnp.sum(off**2) / unit[1]

    with tqdm(total=steps, desc="recover", unit=" steps") as bar:
        result = minimize(
            misfit,
            np.zeros(len(cube.nodes)),
            jac=True,
            method="L-BFGS-B",
            callback=lambda _: bar.update(),
            options={"maxiter": steps, "maxcor": 20, "ftol": 0, "gtol": 0},
        )
    return np.exp(result.x)


# ---- Reports -------------------------------------------------------------------------------------


def draw(cube: Cube, u: np.ndarray, stiffness: dict[str, np.ndarray], path: str) -> None:
    """Write a picture of the stiffness in the middle of the stretched cube."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    line = round(len(cube.nodes) ** (1 / 3))
    middle = np.arange(line**3).reshape(line, line, line)[line // 2]
    x, y = (cube.nodes.T + u.reshape(3, -1))[:2, middle]
    limits = {"vmin": 1, "vmax": stiffness["true"].max()}
    figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained", sharey=True)
    for ax, (title, values) in zip(axes, stiffness.items(), strict=True):
        image = ax.pcolormesh(x, y, values[middle], shading="gouraud", **limits)
        ax.set(title=title, aspect="equal", xlabel="x")
    axes[0].set_ylabel("y")
    figure.colorbar(image, ax=axes, label="stiffness in the middle plane")
    figure.savefig(path, dpi=90)


def homes(
    cube: Cube, u: np.ndarray, f: np.ndarray, stiffness: np.ndarray, libceed: Path | None
) -> Iterator[tuple[str, str, float]]:
    """Yield where else the energy is at home, what comes out there, and how far it is from ours."""
    if libceed:
        theirs = solve(libceed, "/cpu/self", stiffness)[0]
        yield "the same program on libCEED", "displacement", np.abs(theirs - u).max()
    xla = jax.jit(cube.operator.jax(engine="xla"))(u, stiffness=stiffness)
    yield "XLA, without C", "forces", np.abs(xla - f).max()
    start = jnp.where(cube.is_free, 0.9 * u, u)
    again = jax.jit(cube.displacement)(start, stiffness=stiffness)
    yield "the C operator in jax.jit", "displacement", np.abs(again - u).max()


def main() -> int:
    """Solve at home and abroad, compare, recover and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=4, help="a direction (%(default)s)")
    parser.add_argument("--steps", type=int, default=100, help="of L-BFGS, at most (%(default)s)")
    parser.add_argument("--folder", type=Path, default="build", help="for programs (%(default)s)")
    parser.add_argument("--output", default="rubber.png", help="the picture (%(default)s)")
    options = parser.parse_args()

    jax.config.update("jax_enable_x64", True)  # the solvers compute in double
    cube = Cube(options.elements, laws.elasticity)
    true = 1 + sum(
        more * np.exp(-np.sum((cube.nodes - at) ** 2, axis=1) / 0.15**2) for *at, more in INCLUSIONS
    )
    programs, good = build(options.folder, options.elements), True
    u, f = solve(programs["libceedlike"], "/cpu/self", true)
    print(f"{len(u)} unknowns; how far from the C program on libceedlike:")
    for home, what, off in homes(cube, u, f, true, programs.get("libCEED")):
        good &= bool(off < 1e-10)
        print(f"{home:28} {what:13} {off:.1e}{'' if off < 1e-10 else ' WRONG'}")

    found = recover(cube, u, f, options.steps)
    error = np.linalg.norm(found - true) / np.linalg.norm(true - 1)
    good &= bool(error < 0.05)
    verdict = "" if error < 0.05 else " WRONG"
    print(f"the stiffness, by jax.grad: off by {error:.1%} of what the inclusions add{verdict}")
    draw(cube, u, {"true": true, "recovered": found}, options.output)
    print(f"picture: {options.output}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
