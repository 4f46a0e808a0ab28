# SPDX-License-Identifier: BSD-2-Clause
"""Solve the heat equation in C or Fortran and heat it with JAX, on memory that neither copies.

The solver (heat.c or heat.F90) is a shared library of its own, written against libceedlike and
loaded by cffi. The field of the one in Fortran includes the edge, as a layer of ghosts.
JAX, NumPy and PyTorch read its temperature in place, and what a jitted JAX function computes from
it becomes the memory of the vector that the solver reads as its source.

The lowest mode of the field is followed all the way: its amplitude a obeys a' = s - 2 pi^2 kappa a
exactly, with s the amplitude of the source, whatever else the field does. The program fails (exit
code 1) when a strays from that by more than the discretisation error, or when memory was copied.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import cffi
import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

import pyceedlike

HERE = Path(__file__).resolve().parent
LIBRARY = os.environ.get("HEAT_LIBRARY", HERE.parents[1] / "build/examples/heat/libheat.so")
KAPPA = 0.01

ffi = cffi.FFI()
ffi.cdef("typedef struct Ceed_private *Ceed; typedef struct CeedVector_private *CeedVector;")
ffi.cdef("typedef int32_t CeedInt;")
ffi.cdef((HERE / "heat.h").read_text().partition("/* cffi: begin */")[2].partition("/* cffi:")[0])


class Solver:
    """The solver of heat.h. A vector of the package is its CeedVector: both have one handle."""

    def __init__(self, ceed: pyceedlike.Ceed, n: int, dt: float) -> None:
        self.lib = ffi.dlopen(str(LIBRARY))
        self.heat = ffi.gc(ffi.new("Heat *"), self.lib.HeatDestroy)
        self.check(self.lib.HeatCreate(ffi.cast("Ceed", ceed.handle), n, KAPPA, dt, self.heat))
        self.ghosts = self.lib.HeatGhosts()

    def check(self, code: int) -> None:
        """Raise what the solver says of an error code."""
        if code:
            raise RuntimeError(ffi.string(self.lib.HeatError()).decode())

    def step(self, source: pyceedlike.Vector, temperature: pyceedlike.Vector, count: int) -> None:
        """Advance the temperature, in place."""
        s, u = (ffi.cast("CeedVector", vector.handle) for vector in (source, temperature))
        self.check(self.lib.HeatStep(self.heat[0], s, u, count))

    def address(self, vector: pyceedlike.Vector) -> int:
        """Return where C sees the entries of a vector."""
        address = ffi.new("uintptr_t *")
        self.check(self.lib.HeatAddress(ffi.cast("CeedVector", vector.handle), address))
        return address[0]


class Mode:
    """The amplitude of sin(pi x) sin(pi y) in a field, and what it becomes."""

    def __init__(self, n: int, dt: float, ghosts: int) -> None:
        sine = np.sin(np.pi * np.arange(1 - ghosts, n + 1 + ghosts) / (n + 1))
        self.field = np.outer(sine, sine).ravel()
        self.rate = 2 * np.pi**2 * KAPPA
        # The leading terms of the relative error of the rate, and a fifth more for what follows.
        self.error = 1.2 * ((np.pi / (n + 1)) ** 2 + (np.pi**2 * KAPPA * dt) ** 2) / 12

    def amplitude(self, vector: pyceedlike.Vector) -> float:
        """Return how much of the mode a field holds."""
        with vector.array_read() as field:
            return float(self.field @ field / (self.field @ self.field))

    def advance(self, amplitude: float, source: float, time: float) -> float:
        """Return the exact amplitude after some time under a constant source."""
        left = math.exp(-self.rate * time)
        return amplitude * left + source * (1 - left) / self.rate


@partial(jax.jit, static_argnames="ghosts")
def burners(temperature: jax.Array, time: float, ghosts: int) -> jax.Array:
    """Return the heating of two burners that circle the centre, less where it is hot already."""
    n = math.isqrt(temperature.size) - 2 * ghosts
    x = jnp.arange(1 - ghosts, n + 1 + ghosts) / (n + 1) - 0.5
    dx, dy = 0.3 * jnp.cos(2 * jnp.pi * time), 0.3 * jnp.sin(2 * jnp.pi * time)
    one = jnp.hypot(x - dx, x[:, None] - dy)
    two = jnp.hypot(x + dx, x[:, None] + dy)
    power = 40 * (jnp.exp(-((one / 0.05) ** 2)) + jnp.exp(-((two / 0.05) ** 2)))
    return power.ravel() / (1 + temperature**2)


def run(
    solver: Solver,
    mode: Mode,
    temperature: pyceedlike.Vector,
    source: pyceedlike.Vector,
    heater: Callable | None,
    options: argparse.Namespace,
) -> bool:
    """March; return whether the amplitude of the mode is within the discretisation error."""
    expected, allowed = mode.amplitude(temperature), 0.0
    name = "heated by JAX" if heater else "pure decay"
    for step in tqdm(range(options.steps), name, unit=" steps", mininterval=0.5):
        if heater and step % options.every == 0:
            with temperature.jax() as u:  # JAX reads the solver's memory, under a read lease
                s = heater(u, step * options.dt).block_until_ready()
            source.take_from_dlpack(s, pyceedlike.USE_POINTER)  # the solver reads JAX's memory
        driven = mode.amplitude(source)
        solver.step(source, temperature, 1)
        # The error of the amplitude obeys the same equation; the error of the rate drives it.
        allowed = mode.advance(allowed, mode.error * mode.rate * abs(expected), options.dt)
        expected = mode.advance(expected, driven, options.dt)

    off = abs(mode.amplitude(temperature) - expected)
    verdict = "good" if off <= allowed else "WRONG"
    print(f"{name}: mode {expected:.6f}, off by {off:.1e} of {allowed:.1e} allowed: {verdict}")
    return off <= allowed


def holders(
    solver: Solver, temperature: pyceedlike.Vector, source: pyceedlike.Vector
) -> Iterator[tuple[str, str, int, float]]:
    """Yield a field, who holds it, the address that they see and the largest entry there."""
    yield (
        "temperature",
        "the solver",
        solver.address(temperature),
        temperature.norm(pyceedlike.NORM_MAX),
    )
    array = temperature.to_numpy()
    yield "temperature", "NumPy", array.__array_interface__["data"][0], array.max()
    del array  # one could write to it, so JAX gets no lease beside it
    with temperature.jax() as u:
        yield "temperature", "JAX", u.unsafe_buffer_pointer(), float(u.max())
        s = burners(u, 0.0, solver.ghosts).block_until_ready()
    try:
        tensor = temperature.to_torch()
        yield "temperature", "PyTorch", tensor.data_ptr(), float(tensor.max())
    except ImportError:
        print("PyTorch is not installed")
    source.take_from_dlpack(s, pyceedlike.USE_POINTER)
    yield "source", "JAX", s.unsafe_buffer_pointer(), float(s.max())
    yield "source", "the solver", solver.address(source), source.norm(pyceedlike.NORM_MAX)


def draw(temperature: pyceedlike.Vector, path: str) -> None:
    """Write a picture of the field."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n = math.isqrt(len(temperature))
    figure, axes = plt.subplots(figsize=(4.4, 3.6), layout="constrained")
    with temperature.array_read() as u:
        image = axes.imshow(u.reshape(n, n), "inferno", origin="lower", extent=(0, 1, 0, 1))
        figure.colorbar(image, label="temperature")
        figure.savefig(path, dpi=90)


def main() -> int:
    """Run both checks, draw, and show who shares what."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=127, help="inner nodes a direction (%(default)s)")
    parser.add_argument("--dt", type=float, default=1e-3, help="time step (%(default)s)")
    parser.add_argument("--steps", type=int, default=1000, help="of each run (%(default)s)")
    parser.add_argument("--every", type=int, default=5, help="steps a source (%(default)s)")
    parser.add_argument("--output", default="heat.png", help="the picture (%(default)s)")
    options = parser.parse_args()

    jax.config.update("jax_enable_x64", True)  # the solver computes in double
    ceed = pyceedlike.Ceed()
    solver = Solver(ceed, options.n, options.dt)
    mode = Mode(options.n, options.dt, solver.ghosts)
    temperature, source = ceed.Vector(mode.field.size), ceed.Vector(mode.field.size)
    temperature.set_array(mode.field)
    source.set_value(0.0)

    good = run(solver, mode, temperature, source, None, options)
    heater = partial(burners, ghosts=solver.ghosts)
    good &= run(solver, mode, temperature, source, heater, options)
    draw(temperature, options.output)
    places: dict[str, int] = {}
    for field, holder, address, largest in holders(solver, temperature, source):
        shared = places.setdefault(field, address) == address
        good &= shared
        where = f"at {address:#x}{'' if shared else ' COPIED'}"
        print(f"{field} in {holder}: {where}, at most {largest:.6f}")
    print(f"picture: {options.output}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
