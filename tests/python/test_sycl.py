# SPDX-License-Identifier: BSD-2-Clause
"""Vectors on a device of SYCL, with dpnp at the other end: `make check-sycl`."""

import pathlib

import numpy as np
import pytest
from helpers import vector_of

import pyceedlike
from pyceedlike import MEM_DEVICE, MEM_HOST, USE_POINTER, Vector, _exchange

dpnp = pytest.importorskip("dpnp", reason="dpnp is not installed")
dpctl = pytest.importorskip("dpctl", reason="dpctl is not installed")
if not dpctl.get_num_devices():
    pytest.skip("SYCL has no device here", allow_module_level=True)

ONE_API = 14
VALUES = [1.0, 2.0, 3.0, 4.0]


@pytest.fixture
def ceed(scalar):
    """A context on the first device of SYCL; dpctl, which is imported, brings the library."""
    return pyceedlike.Ceed("/gpu/sycl", scalar=scalar)


@pytest.fixture
def x(ceed, scalar):
    """An array of dpnp on that device."""
    return dpnp.asarray(VALUES, dtype=scalar, device=dpctl.get_devices()[0])


def pointer_of(x):
    """Return where an array of dpnp lies."""
    return x.get_array()._pointer if hasattr(x, "get_array") else x.data.ptr


def test_the_device_has_its_name(ceed):
    assert dpctl.get_devices()[0].name in str(ceed)


def test_dpnp_shares_a_vector(ceed, scalar):
    vector = vector_of(ceed, VALUES)
    assert vector.__dlpack_device__() == (ONE_API, 0)
    x = dpnp.from_dlpack(vector)
    assert vector.exchange.shared
    assert x.dtype == scalar
    x *= 2
    x.sycl_queue.wait()
    del x
    assert vector.norm(pyceedlike.NORM_1) == 20.0


def test_what_dpnp_writes_is_read_on_the_host(ceed):
    vector = vector_of(ceed, VALUES)
    x = dpnp.from_dlpack(vector)
    x += 1
    ceed.order_after(x.sycl_queue.addressof_ref())
    with vector.array_read() as array:
        assert array.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_the_memory_lives_as_long_as_the_array(ceed):
    x = dpnp.from_dlpack(vector_of(ceed, VALUES))
    assert dpnp.asnumpy(x).tolist() == VALUES


def test_a_vector_shares_an_array_of_dpnp(ceed, x):
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert vector.exchange.shared
    *_, address = _exchange.examine(vector.__dlpack__(max_version=(1, 0)))
    assert address == pointer_of(x)
    vector.scale(3.0)
    vector.sync_array(MEM_DEVICE)
    assert dpnp.asnumpy(x).tolist() == [3.0, 6.0, 9.0, 12.0]


def test_work_that_is_pending_is_waited_for(ceed, scalar):
    x = dpnp.zeros(1 << 20, dtype=scalar, device=dpctl.get_devices()[0])
    for _ in range(10):
        x += 1
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert vector.norm(pyceedlike.NORM_MAX) == 10.0


def test_values_are_copied_from_dpnp(ceed, x):
    vector = ceed.Vector(4)
    vector.take_from_dlpack(x)
    x[:] = 0
    assert vector.to_numpy().tolist() == VALUES


def test_a_borrowed_array_is_given_back(ceed, x):
    vector = ceed.Vector(4)
    vector.set_array(x, MEM_DEVICE, USE_POINTER)
    vector.scale(2.0)
    assert vector.take_array(MEM_DEVICE) is x
    assert dpnp.asnumpy(x).tolist() == [2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize("usm", ["shared", "host"])
def test_usm_that_the_host_reaches_is_shared_too(ceed, scalar, usm):
    x = dpnp.asarray(VALUES, dtype=scalar, usm_type=usm, device=dpctl.get_devices()[0])
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert vector.norm(pyceedlike.NORM_1) == 10.0
    assert vector.exchange.shared


def test_the_host_gets_a_copy(ceed):
    vector = vector_of(ceed, VALUES)
    assert np.from_dlpack(vector, device="cpu").tolist() == VALUES
    assert not vector.exchange.shared


def test_numpy_shares_the_host_side(ceed):
    vector = vector_of(ceed, VALUES)
    vector.to_numpy()[0] = 9.0
    assert dpnp.asnumpy(dpnp.from_dlpack(vector)).tolist() == [9.0, *VALUES[1:]]


def test_a_copy_lies_on_the_device(ceed):
    vector = vector_of(ceed, VALUES)
    x = dpnp.from_dlpack(vector, copy=True)
    vector.set_value(0.0)
    assert dpnp.asnumpy(x).tolist() == VALUES


def test_a_queue_of_dpctl_is_a_stream(ceed):
    vector = vector_of(ceed, VALUES)
    queue = dpctl.SyclQueue(dpctl.get_devices()[0])
    for stream in (None, -1, queue, queue.addressof_ref()):
        assert vector.__dlpack__(max_version=(1, 0), stream=stream)
    for number in (0, 1, 2):  # of CUDA's and HIP's, no addresses
        with pytest.raises(ValueError, match="none of SYCL's"):
            vector.__dlpack__(max_version=(1, 0), stream=number)


def test_a_context_works_on_a_queue_of_the_caller(ceed):
    queue = dpctl.SyclQueue(dpctl.get_devices()[0])
    own = ceed.stream
    ceed.set_stream(queue.addressof_ref())
    vector = vector_of(ceed, VALUES)
    vector.sync_array(MEM_DEVICE)
    assert dpnp.asnumpy(dpnp.from_dlpack(vector)).tolist() == VALUES
    ceed.set_stream(0)
    assert ceed.stream == own != 0


def test_a_host_context_given_an_array_of_sycl_says_so(x):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"kDLOneAPI .*host memory only"):
        pyceedlike.from_dlpack(x)


def test_host_memory_is_taken_as_host_memory(ceed, scalar):
    x = np.array(VALUES, scalar)
    vector = Vector.from_dlpack(x, ceed=ceed)
    vector.scale(2.0)
    assert x.tolist() == [2.0, 4.0, 6.0, 8.0]
    assert _exchange.examine(vector.to_dlpack(MEM_HOST, max_version=(1, 0)))[3] == (1, 0)


def test_a_device_that_is_not_there_is_an_error_with_the_count(ceed):
    with pytest.raises(pyceedlike.CeedBackendError, match="device_id=63"):
        pyceedlike.Ceed("/gpu/sycl:device_id=63")


def test_pinned_host_memory_is_refused(ceed):
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="pinned"):
        pyceedlike.Ceed("/gpu/sycl:host=pinned")


def test_a_fab_lives_on_the_device(ceed):
    fab = ceed.Fab(pyceedlike.Box([0], [3]))
    fab.set_value(3.0)
    assert dpnp.asnumpy(dpnp.from_dlpack(fab)).ravel().tolist() == [3.0] * 4


def test_the_library_of_sycl_is_that_of_dpctl(ceed):
    library = pathlib.Path(dpctl.__file__).parent / "libDPCTLSyclInterface.so"
    assert str(library.resolve()) in pathlib.Path("/proc/self/maps").read_text()
