# SPDX-License-Identifier: BSD-2-Clause
"""mpi4py sends and receives the memory of vectors; in programs of their own, of two processes."""

import importlib.util
import shutil
import subprocess
import sys

import pytest
from programs import PARALLEL

pytestmark = pytest.mark.skipif(
    not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed"
)

BEGIN = """
from mpi4py import MPI
import numpy as np
import pyceedlike

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
ceed = pyceedlike.Ceed(scalar={scalar!r})
def vector(value, n=5):
    v = ceed.Vector(n)
    v.set_value(value)
    return v
def values(v):
    with v.array_read() as a:
        return a.tolist()
"""


def launcher():
    """Return what starts two processes; one only where nothing does."""
    program = shutil.which("mpirun") or shutil.which("mpiexec")
    return [program, "-n", "2"] if program else []


def run_parallel(script):
    """Run a program in every process; all must end well."""
    done = subprocess.run(
        [*launcher(), sys.executable, "-c", script],
        env=PARALLEL,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


PROGRAMS = {
    "the sum of all processes goes into a vector": """
x, total = vector(rank + 1), vector(0)
comm.Allreduce(x, total)
assert values(total) == 5 * [size * (size + 1) / 2]
assert values(x) == 5 * [rank + 1]
""",
    "a vector is summed in place": """
x = vector(rank + 1)
comm.Allreduce(MPI.IN_PLACE, x)
assert values(x) == 5 * [size * (size + 1) / 2]
""",
    "a vector is sent to all": """
x = vector(7 if rank == 0 else 0)
comm.Bcast(x)
assert values(x) == 5 * [7]
""",
    "a vector goes around": """
x, y = vector(rank), vector(-1)
comm.Sendrecv(x, (rank + 1) % size, 0, y, (rank - 1) % size, 0)
assert values(y) == 5 * [(rank - 1) % size]
""",
    "vectors are gathered into a longer one": """
x, y = vector(rank, 2), vector(-1, 2 * size)
comm.Allgather(x, y)
assert values(y) == [i // 2 for i in range(2 * size)]
""",
    "a part of a vector is sent": """
x = vector(rank, 6)
comm.Bcast(x.to_numpy()[2:4], root=size - 1)
assert values(x) == [rank, rank, size - 1, size - 1, rank, rank]
""",
    "no entries are sent": """
x, y = vector(1, 0), vector(1, 0)
comm.Allreduce(x, y)
""",
    "the memory is the vector's, and is let go": """
x = vector(1)
memory = MPI.memory(x)
assert memory.address == x.to_numpy().ctypes.data and not memory.readonly
memory.release()
del memory
comm.Allreduce(MPI.IN_PLACE, x)
assert x.export_count == 0
""",
    "read-only memory is sent but not written": """
x = vector(rank + 1)
locked = pyceedlike.from_dlpack(memoryview(x).toreadonly())
total = vector(0)
comm.Allreduce(locked, total)
assert values(total) == 5 * [size * (size + 1) / 2]
try:
    comm.Allreduce(MPI.IN_PLACE, locked)
except BufferError:
    pass
else:
    raise AssertionError("written")
assert values(locked) == 5 * [rank + 1]
""",
    "a vector that is being written is neither sent nor received": """
x = vector(1)
with x.array():
    try:
        comm.Allreduce(MPI.IN_PLACE, x)
    except BufferError:
        pass
    else:
        raise AssertionError("written")
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_mpi_and_vectors(scalar, what):
    run_parallel(BEGIN.format(scalar=scalar) + PROGRAMS[what])
