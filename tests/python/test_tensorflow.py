# SPDX-License-Identifier: BSD-2-Clause
"""TensorFlow takes the capsules of vectors, and vectors take its tensors."""

import numpy as np
import pytest
from helpers import address_of, churn, eventually, values_of, vector_of

from pyceedlike import CeedAccessError, from_dlpack

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def take(vector, **request):
    return tensorflow.experimental.dlpack.from_dlpack(vector.__dlpack__(**request))


def address(tensor):
    return np.asarray(tensor).ctypes.data


@pytest.mark.parametrize("n", [1, 3, 64, 1000])
def test_tensorflow_shares_the_memory_of_a_vector(ceed, scalar, n):
    vector = vector_of(ceed, np.arange(n))
    tensor = take(vector)
    assert address(tensor) == address_of(vector)
    assert tensor.dtype.name == scalar
    assert tensorflow.reduce_sum(tensor).numpy() == n * (n - 1) / 2


def test_tensorflow_sees_what_the_vector_writes(v4):
    tensor = take(v4)
    v4.scale(2)
    assert tensor.numpy().tolist() == [0, 2, 4, 6]


def test_tensorflow_holds_the_only_reference(ceed):
    tensor = take(vector_of(ceed, np.arange(1000)))
    churn()
    np.testing.assert_array_equal(tensor.numpy(), np.arange(1000))


def test_tensorflow_lets_go(v4):
    tensor = take(v4)
    assert v4.export_count == 1
    del tensor
    assert eventually(lambda: v4.export_count == 0)


def test_tensorflow_takes_a_vector_of_no_entries(ceed):
    assert take(vector_of(ceed, [])).shape == (0,)


def test_tensorflow_refuses_a_versioned_capsule_and_the_vector_stays_whole(v4):
    with pytest.raises(tensorflow.errors.InvalidArgumentError):
        take(v4, max_version=(1, 0))
    assert eventually(lambda: v4.export_count == 0)
    v4.scale(2)


def test_read_only_memory_reaches_tensorflow_as_a_copy(v4):
    locked = from_dlpack(memoryview(v4).toreadonly())
    tensor = take(locked)
    assert address(tensor) != address_of(v4)
    assert tensor.numpy().tolist() == [0, 1, 2, 3]


def test_a_vector_shares_the_memory_of_a_tensor_and_does_not_write_it(scalar):
    tensor = tensorflow.constant([1, 2, 3], dtype=scalar)
    vector = from_dlpack(tensor)
    assert address_of(vector) == address(tensor)
    assert vector.exchange.shared is True
    with pytest.raises(CeedAccessError):
        vector.set_value(0)


def test_a_vector_keeps_the_memory_of_a_tensor(scalar):
    vector = from_dlpack(tensorflow.range(1000, dtype=scalar))
    churn()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))
