# SPDX-License-Identifier: BSD-2-Clause
"""libCEED's own Python vectors in the memory of ours, and their memory for array libraries."""

import gc
import weakref

import numpy as np
import pytest
from helpers import Memory

import pyceedlike

libceed = pytest.importorskip("libceed", reason="libceed (0.12.0) is not installed")
from pyceedlike.interop.libceed import lend, view  # noqa: E402

CEED = libceed.Ceed("/cpu/self")


def their_vector(values):
    vector = CEED.Vector(len(values))
    vector.set_array(np.array(values, float), cmode=libceed.COPY_VALUES)
    return vector


def address(array):
    return array.__array_interface__["data"][0]


def values_of(vector):
    with vector.array_read() as array:
        return array.tolist()


# --- view ------------------------------------------------------------------------------------


def test_a_view_is_the_memory_of_the_libceed_vector():
    theirs = their_vector([1, 2, 3])
    with theirs.array_read() as array:
        where = address(array)
    ours = view(theirs)
    assert address(ours.to_numpy()) == where
    ours.scale(2)
    del ours
    assert values_of(theirs) == [2, 4, 6]


def test_a_view_holds_libceeds_access_until_its_last_array_is_gone():
    theirs = their_vector([1, 2, 3])
    array = view(theirs).to_numpy()
    with pytest.raises(Exception, match="access lock"):
        theirs.get_array_read()
    del array
    assert values_of(theirs) == [1, 2, 3]


def test_a_read_only_view_lets_libceed_read():
    theirs = their_vector([1, 2, 3])
    ours = view(theirs, writable=False)
    assert values_of(theirs) == [1, 2, 3]
    assert not ours.to_numpy().flags.writeable
    with pytest.raises(pyceedlike.CeedAccessError):
        ours.scale(2)
    with pytest.raises(Exception, match=r"access lock|read access"):
        theirs.get_array()


def test_a_view_keeps_the_libceed_vector_alive():
    array = view(their_vector([1, 2, 3])).to_numpy()
    gc.collect()
    assert array.tolist() == [1, 2, 3]


def test_a_second_view_of_what_is_written_is_refused():
    theirs = their_vector([1, 2, 3])
    ours = view(theirs)
    with pytest.raises(pyceedlike.CeedAccessError, match="libCEED gives no access"):
        view(theirs)
    del ours
    assert view(theirs).to_numpy().tolist() == [1, 2, 3]


def test_a_vector_without_values_has_no_view():
    with pytest.raises(pyceedlike.CeedAccessError, match="no valid data"):
        view(CEED.Vector(3))


def test_torch_works_in_a_view():
    torch = pytest.importorskip("torch")
    theirs = their_vector([1, 2, 3])
    view(theirs).to_torch().mul_(torch.tensor(3.0))
    assert values_of(theirs) == [3, 6, 9]


# --- lend ------------------------------------------------------------------------------------


def test_libceed_works_in_lent_memory():
    ours, theirs = pyceedlike.from_dlpack(np.arange(3.0), copy=True), CEED.Vector(3)
    where = address(ours.to_numpy())
    with lend(ours, theirs) as vector:
        assert vector is theirs
        with theirs.array_read() as array:
            assert address(array) == where
        theirs.scale(2)
    assert ours.to_numpy().tolist() == [0, 2, 4]


def test_jax_shares_what_libceed_has_computed():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    ours, theirs = pyceedlike.Ceed().Vector(3), CEED.Vector(3)
    ours.set_value(2)
    with lend(ours, theirs):
        theirs.scale(2)
    x = ours.to_jax()
    assert x.unsafe_buffer_pointer() == address(ours)
    assert x.tolist() == [4, 4, 4]


def test_a_lent_vector_is_libceeds_alone_and_afterwards_theirs_is_empty():
    ours, theirs = pyceedlike.from_dlpack(np.arange(3.0), copy=True), CEED.Vector(3)
    with lend(ours, theirs), pytest.raises(pyceedlike.CeedAccessError):
        ours.scale(2)
    with pytest.raises(Exception, match="no valid data"):
        theirs.get_array_read()
    assert ours.export_count == 0
    ours.scale(2)
    assert ours.to_numpy().tolist() == [0, 2, 4]


def test_a_loan_that_libceed_still_uses_is_an_error_and_keeps_the_memory():
    memory = Memory(24)
    kept = weakref.ref(memory)
    ours, theirs = pyceedlike.from_dlpack(np.frombuffer(memory), copy=False), CEED.Vector(3)
    del memory
    with pytest.raises(pyceedlike.CeedAccessError, match="still uses"), lend(ours, theirs):
        theirs.get_array()[:] = 7
    del ours
    gc.collect()
    assert kept() is not None
    theirs.restore_array()
    assert values_of(theirs) == [7, 7, 7]
    del theirs
    gc.collect()
    assert kept() is None


def test_an_exception_in_the_block_ends_the_loan():
    ours, theirs = pyceedlike.from_dlpack(np.arange(3.0), copy=True), CEED.Vector(3)
    with pytest.raises(ZeroDivisionError), lend(ours, theirs):
        raise ZeroDivisionError
    ours.scale(2)
    theirs.set_value(1)
    assert ours.to_numpy().tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("ours", "error"),
    [
        (lambda: pyceedlike.from_dlpack(np.ones(4)), pyceedlike.CeedDimensionError),
        (
            lambda: pyceedlike.from_dlpack(np.ones(3, np.float32)),
            pyceedlike.CeedIncompatibleError,
        ),
        (lambda: np.ones(3), TypeError),
    ],
)
def test_what_does_not_fit_is_not_lent(ours, error):
    theirs = their_vector([1, 2, 3])
    with pytest.raises(error), lend(ours(), theirs):
        raise AssertionError
    assert values_of(theirs) == [1, 2, 3]


def test_only_libceeds_vectors_have_views_and_borrow():
    with pytest.raises(TypeError, match="ndarray"):
        view(np.ones(3))
    with pytest.raises(TypeError, match="ndarray"), lend(pyceedlike.Ceed().Vector(3), np.ones(3)):
        raise AssertionError
