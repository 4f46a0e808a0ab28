# SPDX-License-Identifier: BSD-2-Clause
"""Exchange with the array libraries of a CUDA device, and what it costs: one table, in Markdown.

Run by `make check-gpu` on a machine with a GPU. A library that is not installed is a row that says
so; whatever else does not hold ends the program with an error.
"""

import argparse
import importlib
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pyceedlike
from pyceedlike import MEM_DEVICE, MEM_HOST, NORM_MAX, Vector

ENTRIES = 1 << 27  # a GiB of float64
REPEATS = 200

Row = tuple[str, str]


def median(call: Callable[[], Any], repeats: int) -> float:
    """Return the median time of a call in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        taken = call()
        times.append(time.perf_counter() - start)
        del taken
    return statistics.median(times)


def vector_of(ceed: pyceedlike.Ceed, n: int, value: float) -> Vector:
    """Return a vector whose values are on the device."""
    vector = ceed.Vector(n)
    vector.set_value(value)
    vector.sync_array(MEM_DEVICE)
    return vector


def check(holds: Any, what: str) -> None:
    """End the program where something does not hold."""
    if not holds:
        sys.exit(f"wrong: {what}")


# --- Exchange --------------------------------------------------------------------------------


def both_ways(name: str, ceed: pyceedlike.Ceed, take: Any, make: Any, address: Any) -> list[Row]:
    """Return how long handing over takes, in both directions, once it is found right."""
    vector = vector_of(ceed, 1000, 2.0)
    taken = take(vector)
    check(vector.exchange.shared, f"{name} shares no vector")
    check(float(taken.sum()) == 2000.0, f"{name} reads other values")
    back = Vector.from_dlpack(taken, ceed=ceed)
    check(back.exchange.shared and back.norm(NORM_MAX) == 2.0, f"{name} gives its view back")
    del taken, back
    x = make(1000)
    vector = Vector.from_dlpack(x, ceed=ceed)
    check(vector.exchange.shared, f"a vector shares no array of {name}")
    if address:
        interface = vector.__cuda_array_interface__
        check(interface["data"][0] == address(x), f"an array of {name} lies elsewhere")
    check(vector.norm(NORM_MAX) == 1.0, f"an array of {name} has other values")
    there = median(lambda: take(vector), REPEATS)
    here = median(lambda: Vector.from_dlpack(x, ceed=ceed), REPEATS)
    return [
        (f"a vector to {name}", f"{1e6 * there:.1f} us"),
        (f"an array of {name} to a vector", f"{1e6 * here:.1f} us"),
    ]


def with_cupy(cupy: Any, ceed: pyceedlike.Ceed) -> list[Row]:
    """Return what becomes of arrays of CuPy."""
    return both_ways("CuPy", ceed, cupy.from_dlpack, cupy.ones, lambda x: x.data.ptr)


def with_torch(torch: Any, ceed: pyceedlike.Ceed) -> list[Row]:
    """Return what becomes of tensors of PyTorch."""

    def make(n: int) -> Any:
        return torch.ones(n, dtype=torch.float64, device="cuda")

    return both_ways("PyTorch", ceed, torch.from_dlpack, make, lambda x: x.data_ptr())


def with_jax(jax: Any, ceed: pyceedlike.Ceed) -> list[Row]:
    """Return what becomes of arrays of JAX."""
    jax.config.update("jax_enable_x64", True)
    return both_ways("JAX", ceed, lambda vector: vector.to_jax(), jax.numpy.ones, None)


def with_numba(cuda: Any, ceed: pyceedlike.Ceed) -> list[Row]:
    """Return what becomes of arrays of numba, which has the interface of CUDA alone."""
    seen = cuda.as_cuda_array(vector_of(ceed, 1000, 2.0)).copy_to_host()
    check((seen == 2.0).all(), "numba reads other values")
    vector = Vector.from_dlpack(cuda.to_device(np.ones(1000)), ceed=ceed)
    check(vector.norm(NORM_MAX) == 1.0, "an array of numba has other values")
    return [("a vector to numba and back", "works, by the interface of CUDA")]


def trying(name: str, function: Callable[..., list[Row]], *arguments: Any) -> list[Row]:
    """Return what a function finds with a library, or that it is not installed."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return [(name, "not installed")]
    return function(module, *arguments)


# --- Streams ---------------------------------------------------------------------------------


def streams(torch: Any, ceed: pyceedlike.Ceed) -> list[Row]:
    """Return that work on another stream is seen, where its order is told."""
    side = torch.cuda.Stream()
    vector = vector_of(ceed, 1 << 24, 0.0)
    with torch.cuda.stream(side):
        x = torch.from_dlpack(vector)
        for _ in range(100):
            x += 1
    ceed.order_after(side.cuda_stream)
    check(vector.norm(NORM_MAX) == 100.0, "work on another stream is not waited for")
    time_ = median(lambda: ceed.order_before(side.cuda_stream), REPEATS)
    return [
        ("100 kernels on another stream", "seen by the host after order_after()"),
        ("order_before()", f"{1e6 * time_:.1f} us"),
    ]


# --- Copies ----------------------------------------------------------------------------------


def bandwidth(resource: str, what: str) -> Iterator[Row]:
    """Yield how fast a GiB crosses, in both directions."""
    ceed = pyceedlike.Ceed(resource)
    vector = vector_of(ceed, ENTRIES, 1.0)
    for target, other, name in (
        (MEM_DEVICE, MEM_HOST, "to the device"),
        (MEM_HOST, MEM_DEVICE, "to the host"),
    ):
        times = []
        for _ in range(5):
            make_old(vector, target, other)
            start = time.perf_counter()
            vector.sync_array(target)
            times.append(time.perf_counter() - start)
        rate = 8 * ENTRIES / statistics.median(times) / 1e9
        yield f"1 GiB {name}, {what}", f"{rate:.1f} GB/s"


def make_old(vector: Vector, target: int, other: int) -> None:
    """Make one memory type hold values that are not current."""
    vector.sync_array(other)
    vector.to_dlpack(other, max_version=(1, 0))  # it might have been written through


def peak(torch: Any) -> list[Row]:
    """Return what the same copies reach with PyTorch, from pinned memory."""
    host = torch.ones(ENTRIES, dtype=torch.float64, pin_memory=True)
    device = torch.empty_like(host, device="cuda")
    rows = []

    def copy(to: Any, source: Any) -> None:
        to.copy_(source, non_blocking=True)
        torch.cuda.synchronize()

    for name, to, source in (("to the device", device, host), ("to the host", host, device)):
        rate = 8 * ENTRIES / median(lambda t=to, s=source: copy(t, s), 5) / 1e9
        rows.append((f"1 GiB {name}, PyTorch, pinned", f"{rate:.1f} GB/s"))
    return rows


# --- The table -------------------------------------------------------------------------------


def main() -> None:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, help="the table goes to this file, too")
    options = parser.parse_args()
    ceed = pyceedlike.Ceed("/gpu/cuda")
    rows = [tuple(line.strip().split(": ", 1)) for line in str(ceed).splitlines()[1:]]
    rows += trying("cupy", with_cupy, ceed)
    rows += trying("torch", with_torch, ceed)
    rows += trying("jax", with_jax, ceed)
    rows += trying("numba.cuda", with_numba, ceed)
    rows += trying("torch", streams, ceed)
    rows += bandwidth("/gpu/cuda", "plain host memory")
    rows += bandwidth("/gpu/cuda:host=pinned", "pinned host memory")
    rows += trying("torch", peak)
    lines = ["| what | found |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
