# SPDX-License-Identifier: BSD-2-Clause
"""Arrow shares the memory of vectors as buffers and arrays, and they share that of its arrays."""

import numpy as np
import pytest
from helpers import address_of, churn, eventually, values_of, vector_of

from pyceedlike import CeedAccessError, from_dlpack

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
needs_import = pytest.mark.skipif(
    not hasattr(pyarrow.Array, "from_dlpack"), reason="this pyarrow takes no DLPack tensors"
)


def test_a_buffer_of_arrow_shares_the_memory_of_a_vector(v4, scalar):
    buffer = pyarrow.py_buffer(v4)
    assert buffer.address == address_of(v4)
    assert buffer.is_mutable
    array = pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(scalar), 4, [None, buffer])
    assert array.to_pylist() == [0, 1, 2, 3]
    v4.scale(2)
    assert array.to_pylist() == [0, 2, 4, 6]


def test_a_buffer_of_arrow_holds_the_memory_and_lets_go(v4):
    buffer = pyarrow.py_buffer(v4)
    assert v4.export_count == 1
    del buffer
    assert eventually(lambda: v4.export_count == 0)


def test_a_buffer_of_read_only_memory_is_read_only(v4):
    locked = from_dlpack(memoryview(v4).toreadonly())
    assert not pyarrow.py_buffer(locked).is_mutable


@needs_import
@pytest.mark.parametrize("n", [1, 3, 1000])
def test_an_array_of_arrow_shares_the_memory_of_a_vector(ceed, n):
    vector = vector_of(ceed, np.arange(n))
    array = pyarrow.Array.from_dlpack(vector)
    assert array.buffers()[1].address == address_of(vector)
    assert array.to_pylist() == list(range(n))


@needs_import
def test_an_array_of_arrow_holds_the_only_reference(ceed):
    array = pyarrow.Array.from_dlpack(vector_of(ceed, np.arange(1000)))
    churn()
    assert array.to_pylist() == list(range(1000))


@needs_import
def test_a_tensor_of_arrow_shares_the_memory_of_a_vector(v4):
    tensor = pyarrow.Tensor.from_dlpack(v4)
    assert tensor.to_numpy().ctypes.data == address_of(v4)
    assert tensor.shape == (4,)


@needs_import
def test_read_only_memory_stays_so_in_arrow(v4):
    locked = from_dlpack(memoryview(v4).toreadonly())
    buffer = pyarrow.Array.from_dlpack(locked).buffers()[1]
    assert buffer.address == address_of(v4)
    assert not buffer.is_mutable


def test_a_vector_shares_the_memory_of_an_array_and_does_not_write_it(scalar):
    array = pyarrow.array([1, 2, 3], type=pyarrow.from_numpy_dtype(scalar))
    vector = from_dlpack(array)
    assert address_of(vector) == array.buffers()[1].address
    with pytest.raises(CeedAccessError):
        vector.set_value(0)


def test_a_vector_shares_a_slice_of_an_array(scalar):
    array = pyarrow.array(range(10), type=pyarrow.from_numpy_dtype(scalar))[3:7]
    vector = from_dlpack(array)
    assert vector.exchange.shared is True
    assert values_of(vector).tolist() == [3, 4, 5, 6]


def test_a_vector_keeps_the_memory_of_an_array(scalar):
    vector = from_dlpack(pyarrow.array(np.arange(1000, dtype=scalar)))
    churn()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))


@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")
def test_an_array_with_missing_values_is_refused():
    with pytest.raises(TypeError, match="nulls"):
        from_dlpack(pyarrow.array([1.0, None]))


def test_a_chunked_array_is_refused_by_its_name():
    with pytest.raises(TypeError, match="ChunkedArray"):
        from_dlpack(pyarrow.chunked_array([[1.0], [2.0]]))
