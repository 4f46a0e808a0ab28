# SPDX-License-Identifier: BSD-2-Clause
"""What several test files share. Nothing here knows how the package works inside."""

import gc
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

import pyceedlike

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCALARS = ("float64", "float32")
OTHER = {"float64": "float32", "float32": "float64"}
TRIPLE = {"float64": (2, 64, 1), "float32": (2, 32, 1)}
VERSIONS = (None, (1, 0), (1, 3))  # of a tensor; None is the legacy kind
NAMES = {False: "dltensor", True: "dltensor_versioned"}

#: How often what depends on luck is tried.
RUNS = int(os.environ.get("CEEDLIKE_TEST_RUNS", "20"))


class Producer:
    """An object with __dlpack__ that hands out what a function gives it, and notes the requests."""

    def __init__(self, capsule, device=(1, 0)):
        self.make = capsule
        self.device = device
        self.requests = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **request):
        self.requests.append(request)
        return self.make()


class OneCapsule(Producer):
    """A producer that hands out the same capsule each time."""

    def __init__(self, capsule):
        self.capsule = capsule
        super().__init__(lambda: self.capsule)


class OldProducer(Producer):
    """A producer from before max_version, dl_device and copy."""

    def __dlpack__(self, *, stream=None):
        self.requests.append({"stream": stream})
        return self.make()


class Interface:
    """An object that has __array_interface__ and nothing else."""

    def __init__(self, array, **changes):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **changes}


class Memory(bytearray):
    """Memory of Python whose end can be seen through a weak reference."""


def producer_of(fake, device=(1, 0)):
    """Return a producer that hands a fake out."""
    return Producer(fake.capsule, device)


#: What fakes are made over: like they themselves, it is never freed.
_shown = []


def fake_over(partner, array, version, **changes):
    """Return a fake that tells the truth about a NumPy array of real numbers."""
    _shown.append(array)
    fields = {
        "strides": [s // array.itemsize for s in array.strides],
        "dtype": (2, 8 * array.itemsize, 1),
        "version": version,
        **changes,
    }
    return partner.Fake(array.ctypes.data, array.shape, **fields)


def vector_of(ceed, values):
    """Return a new vector of the context that holds a copy of the values."""
    values = np.asarray(values, dtype=ceed.scalar)
    vector = ceed.Vector(values.size)
    vector.set_array(values)
    return vector


def values_of(vector):
    """Return a copy of the vector's entries."""
    with vector.array_read() as array:
        return array.copy()


def address_of(vector):
    """Return where the vector's entries lie in host memory."""
    with vector.array_read() as array:
        return array.ctypes.data


def eventually(condition, seconds=10.0):
    """Return whether the condition comes true: collects and waits until it does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        gc.collect()
        time.sleep(0.001)
    return True


def churn():
    """Reuse what memory was freed, so that a dangling pointer shows."""
    gc.collect()
    return [np.full(n, -7.0) for n in (1, 2, 4, 10, 100, 1000, 10000) for _ in range(20)]


def run_script(script, *arguments, paths=(), **environment):
    """Run a Python program in a process of its own; return the finished process."""
    inherited = filter(None, [os.environ.get("PYTHONPATH")])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*map(str, paths), *inherited]),
        "PYTHONFAULTHANDLER": "1",
        "JAX_PLATFORMS": "cpu",
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def run_well(script, *arguments, **options):
    """Run a Python program that must end well and say nothing on stderr; return its output."""
    done = run_script(script, *arguments, **options)
    assert (done.returncode, done.stderr) == (0, ""), f"exit {done.returncode}\n{done.stderr}"
    return done.stdout


def package_file(name):
    """Return the path of a file of the installed package."""
    return pathlib.Path(pyceedlike.__file__).parent / name
