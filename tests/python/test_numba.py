# SPDX-License-Identifier: BSD-2-Clause
"""Functions that Numba compiles work on the memory of vectors."""

import numpy as np
import pytest
from helpers import eventually, values_of

from pyceedlike import from_dlpack

numba = pytest.importorskip("numba", reason="Numba is not installed")


@pytest.fixture(scope="module")
def double():
    @numba.njit
    def double(x):
        for i in range(len(x)):
            x[i] *= 2

    return double


@pytest.mark.parametrize("view", ["to_numpy", "asarray", "from_dlpack"])
def test_a_compiled_function_writes_into_a_vector(v4, double, view):
    views = {"to_numpy": v4.to_numpy, "asarray": lambda: np.asarray(v4)}
    double(views.get(view, lambda: np.from_dlpack(v4))())
    assert values_of(v4).tolist() == [0, 2, 4, 6]


def test_a_compiled_function_takes_the_vector_itself_as_a_buffer(v4, double):
    double(v4)
    assert values_of(v4).tolist() == [0, 2, 4, 6]
    assert eventually(lambda: v4.export_count == 0)


def test_a_compiled_function_writes_in_a_bracket(v4, double):
    with v4.array() as x:
        double(x)
    assert values_of(v4).tolist() == [0, 2, 4, 6]


def test_a_compiled_function_does_not_write_to_memory_for_reading(v4, double):
    with v4.array_read() as x, pytest.raises(numba.TypingError, match="readonly"):
        double(x)
    assert values_of(v4).tolist() == [0, 1, 2, 3]


def test_a_compiled_function_reads_read_only_memory(v4):
    locked = from_dlpack(memoryview(v4).toreadonly())
    total = numba.njit(lambda x: x.sum())
    assert total(np.asarray(locked)) == 6


def test_a_view_in_a_compiled_function_has_the_precision(v4, scalar):
    kind = numba.typeof(v4.to_numpy())
    assert kind == numba.types.Array(getattr(numba.types, scalar), 1, "C")
