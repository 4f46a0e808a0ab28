# SPDX-License-Identifier: BSD-2-Clause
"""Vectors and fabs on devices, through a driver that is a fake: tests/c/fake_gpu.c."""

import gc
import subprocess
import types

import cffi
import numpy as np
import pytest
from helpers import ROOT, SCALARS, run_well, vector_of

import pyceedlike
from pyceedlike import MEM_DEVICE, MEM_HOST, USE_POINTER, Vector, _exchange

CUDA, ROCM, CUDA_HOST, ROCM_HOST, MANAGED = 2, 10, 3, 11, 13
KINDS = {"device": 0, "pinned": 1, "managed": 2}
TYPES = {"cuda": CUDA, "hip": ROCM}
VALUES = [1.0, 2.0, 3.0, 4.0]

DECLARATIONS = """
void *FakeGpuAllocate(int kind, int device, size_t bytes);
void FakeGpuFree(void *memory);
void FakeGpuMove(void *to, const void *from, size_t bytes);
void *FakeGpuCreateStream(void);
void FakeGpuLaunch(void *stream, void *to, const void *bytes, size_t count);
int FakeGpuPending(void *stream);
int FakeGpuSynchronize(void *stream);
"""


@pytest.fixture(scope="session")
def fake_gpu(compiler, tmp_path_factory):
    """The fake driver, for both vendors."""
    source = ROOT / "tests" / "c" / "fake_gpu.c"
    if not source.exists():
        pytest.skip("the fake driver is not here")
    library = tmp_path_factory.mktemp("driver") / "libfake_gpu.so"
    flags = ["-std=c99", "-fPIC", "-shared", "-pthread"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(library)], check=True)
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CEEDLIKE_LIBCUDA", str(library))
        patch.setenv("CEEDLIKE_LIBHIP", str(library))
        yield types.SimpleNamespace(ffi=ffi, lib=ffi.dlopen(str(library)), path=library)


@pytest.fixture(params=TYPES)
def vendor(request):
    """Each vendor in turn."""
    return request.param


@pytest.fixture
def ceed(fake_gpu, vendor, scalar):
    """A context on a device."""
    return pyceedlike.Ceed(f"/gpu/{vendor}", scalar=scalar)


class Partner:
    """An array of another library, on a device of its own choice, that tells what it was asked."""

    def __init__(self, fake_gpu, values, scalar, device, kind="device", device_id=0):
        values = np.asarray(values, scalar)
        self.device, self.device_id = device, device_id
        self.shape, self.itemsize = values.shape, values.itemsize
        self.address = fake_gpu.lib.FakeGpuAllocate(KINDS[kind], device_id, values.nbytes)
        self.gpu = fake_gpu
        self.asked = None
        fake_gpu.lib.FakeGpuMove(self.address, fake_gpu.ffi.from_buffer(values), values.nbytes)

    def __del__(self):
        self.gpu.lib.FakeGpuFree(self.address)

    def __dlpack_device__(self):
        return self.device, self.device_id

    def __dlpack__(self, **asked):
        self.asked = asked
        address = int(self.gpu.ffi.cast("uintptr_t", self.address))
        return _exchange.borrow_address(
            self, address, False, self.itemsize, self.shape, None, self.device
        )


@pytest.fixture
def on_device(fake_gpu, scalar, vendor):
    """A maker of arrays of another library on the device."""

    def make(values=VALUES, device=TYPES[vendor], **more):
        return Partner(fake_gpu, values, scalar, device, **more)

    return make


def read(fake_gpu, capsule, scalar):
    """Return what a consumer finds where a tensor says that it lies."""
    *_, shape, _, address = _exchange.examine(capsule)
    values = np.zeros(shape, scalar)
    source = fake_gpu.ffi.cast("void *", address)
    fake_gpu.lib.FakeGpuMove(fake_gpu.ffi.from_buffer(values), source, values.nbytes)
    return values.tolist()


def place(capsule):
    """Return the device that a tensor names."""
    return _exchange.examine(capsule)[3]


@pytest.fixture
def stream(fake_gpu):
    """A stream of somebody else, with its address."""
    pointer = fake_gpu.lib.FakeGpuCreateStream()
    return types.SimpleNamespace(
        address=int(fake_gpu.ffi.cast("uintptr_t", pointer)),
        pending=lambda: fake_gpu.lib.FakeGpuPending(pointer),
        synchronize=lambda: fake_gpu.lib.FakeGpuSynchronize(pointer),
        write=lambda to, values: fake_gpu.lib.FakeGpuLaunch(
            pointer,
            fake_gpu.ffi.cast("void *", to),
            fake_gpu.ffi.from_buffer(values),
            values.nbytes,
        ),
    )


# --- Giving memory away ----------------------------------------------------------------------


def test_a_vector_of_a_device_gives_device_memory(fake_gpu, ceed, scalar, vendor):
    vector = vector_of(ceed, VALUES)
    assert vector.__dlpack_device__() == (TYPES[vendor], 0)
    capsule = vector.__dlpack__(max_version=(1, 0))
    assert place(capsule) == (TYPES[vendor], 0)
    assert read(fake_gpu, capsule, scalar) == VALUES
    assert vector.exchange.shared


def test_a_legacy_tensor_of_a_device_shares_it_too(fake_gpu, ceed, scalar):
    vector = vector_of(ceed, VALUES)
    assert read(fake_gpu, vector.__dlpack__(), scalar) == VALUES
    assert vector.exchange.shared


def test_the_number_of_the_device_is_told(fake_gpu, vendor, scalar):
    ceed = pyceedlike.Ceed(f"/gpu/{vendor}:device_id=1", scalar=scalar)
    assert vector_of(ceed, VALUES).__dlpack_device__() == (TYPES[vendor], 1)


def test_the_host_gets_a_copy_where_it_asks_for_one(ceed):
    vector = vector_of(ceed, VALUES)
    capsule = vector.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
    assert place(capsule) == (1, 0)
    assert np.from_dlpack(vector, device="cpu").tolist() == VALUES
    assert not vector.exchange.shared
    assert vector.export_count == 0


def test_copy_false_gives_the_host_nothing_of_a_device(ceed):
    vector = vector_of(ceed, VALUES)
    with pytest.raises(pyceedlike.CeedCopyError, match="is a copy"):
        vector.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)


def test_a_copy_lies_on_the_device(fake_gpu, ceed, scalar, vendor):
    vector = vector_of(ceed, VALUES)
    capsule = vector.__dlpack__(max_version=(1, 0), copy=True)
    vector.set_value(0.0)
    assert place(capsule) == (TYPES[vendor], 0)
    assert read(fake_gpu, capsule, scalar) == VALUES


def test_another_device_is_refused(ceed):
    with pytest.raises(BufferError, match="can't be served"):
        vector_of(ceed, VALUES).__dlpack__(dl_device=(14, 0))


def test_numpy_shares_the_host_side(ceed):
    vector = vector_of(ceed, VALUES)
    array = vector.to_numpy()
    array[0] = 9.0
    assert vector.norm(pyceedlike.NORM_MAX) == 9.0
    assert np.asarray(vector).tolist() == [9.0, *VALUES[1:]]


def test_while_the_device_side_is_shared_the_host_side_is_not(ceed):
    vector = vector_of(ceed, VALUES)
    capsule = vector.__dlpack__(max_version=(1, 0))
    with pytest.raises(BufferError, match="writable views of the device memory live"):
        memoryview(vector)
    del capsule
    assert memoryview(vector).tolist() == VALUES


def test_numpy_arrays_of_device_memory_are_refused(ceed):
    vector = vector_of(ceed, VALUES)
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="cupy"), vector.array(MEM_DEVICE):
        pass
    assert vector.export_count == 0


def test_pinned_host_memory_says_what_it_is(fake_gpu, vendor, scalar):
    ceed = pyceedlike.Ceed(f"/gpu/{vendor}:host=pinned", scalar=scalar)
    vector = vector_of(ceed, VALUES)
    kind = {"cuda": CUDA_HOST, "hip": ROCM_HOST}[vendor]
    assert place(vector.to_dlpack(MEM_HOST, max_version=(1, 0))) == (kind, 0)
    assert vector.to_numpy().tolist() == VALUES


def test_a_copy_of_pinned_memory_for_the_host_is_plainly_the_hosts(fake_gpu, vendor, scalar):
    ceed = pyceedlike.Ceed(f"/gpu/{vendor}:host=pinned", scalar=scalar)
    capsule = vector_of(ceed, VALUES).__dlpack__(max_version=(1, 0), dl_device=(1, 0))
    assert place(capsule) == (1, 0)


def test_a_lease_of_the_device_is_given_after_the_contexts_stream(
    fake_gpu, ceed, scalar, vendor, stream
):
    ceed.set_stream(stream.address)
    vector = vector_of(ceed, VALUES)
    lease = vector._lease(MEM_DEVICE)
    assert lease.__dlpack_device__() == (TYPES[vendor], 0)
    stream.write(lease.address, np.full(4, 8.0, scalar))
    theirs = fake_gpu.lib.FakeGpuCreateStream()
    capsule = lease.__dlpack__(stream=int(fake_gpu.ffi.cast("uintptr_t", theirs)))
    assert stream.pending() == 1
    fake_gpu.lib.FakeGpuSynchronize(theirs)
    assert read(fake_gpu, capsule, scalar) == [8.0] * 4
    with pytest.raises(BufferError, match="lease"):
        vector.set_value(0.0)


def test_explain_knows_where_a_vector_of_a_device_lies(ceed):
    said = pyceedlike.explain(vector_of(ceed, VALUES), to="numpy")
    assert said.outcome == "fail"
    assert "device" in said.reason


# --- Streams ---------------------------------------------------------------------------------

LEGAL = {"cuda": [None, -1, 1, 2], "hip": [None, -1, 0]}
ILLEGAL = {"cuda": [0, -2], "hip": [1, 2, -2]}


def test_streams_are_what_the_standard_allows(ceed, vendor, stream):
    vector = vector_of(ceed, VALUES)
    for number in [*LEGAL[vendor], stream.address]:
        assert vector.__dlpack__(max_version=(1, 0), stream=number)
    for number in ILLEGAL[vendor]:
        with pytest.raises(ValueError, match="is none of"):
            vector.__dlpack__(max_version=(1, 0), stream=number)
    for number in (1.5, True, "1"):
        with pytest.raises(TypeError):
            vector.__dlpack__(max_version=(1, 0), stream=number)


def test_a_consumers_stream_waits_for_the_contexts(fake_gpu, ceed, scalar, stream):
    vector = vector_of(ceed, VALUES)
    *_, address = _exchange.examine(vector.__dlpack__(max_version=(1, 0)))
    ours = fake_gpu.lib.FakeGpuCreateStream()
    ceed.set_stream(int(fake_gpu.ffi.cast("uintptr_t", ours)))
    written = np.full(4, 7.0, scalar)
    at = fake_gpu.ffi.cast("void *", address)
    fake_gpu.lib.FakeGpuLaunch(ours, at, fake_gpu.ffi.from_buffer(written), written.nbytes)
    capsule = vector.__dlpack__(max_version=(1, 0), stream=stream.address)
    assert fake_gpu.lib.FakeGpuPending(ours) == 1  # the host has waited for nothing
    stream.synchronize()
    assert read(fake_gpu, capsule, scalar) == [7.0] * 4


def test_minus_one_orders_nothing(ceed, stream):
    ceed.set_stream(stream.address)
    vector_of(ceed, VALUES).__dlpack__(max_version=(1, 0), stream=-1)
    assert stream.pending() == 0


def test_what_a_library_writes_on_its_stream_is_waited_for(ceed, scalar, stream):
    vector = vector_of(ceed, VALUES)
    capsule = vector.__dlpack__(max_version=(1, 0), stream=stream.address)
    stream.write(_exchange.examine(capsule)[-1], np.full(4, 5.0, scalar))
    ceed.order_after(stream.address)
    assert stream.pending() >= 1
    assert vector.norm(pyceedlike.NORM_MAX) == 5.0


def test_the_stream_is_what_was_set(ceed, stream):
    assert ceed.stream == 0
    ceed.set_stream(stream.address)
    assert ceed.stream == stream.address
    ceed.order_before(stream.address)
    with pytest.raises(TypeError):
        ceed.set_stream("1")


def test_a_host_context_has_no_streams():
    with pytest.raises(pyceedlike.CeedUnsupportedError, match="has no streams"):
        pyceedlike.Ceed().stream  # noqa: B018


# --- Taking memory ---------------------------------------------------------------------------


def test_an_array_on_the_device_is_shared(fake_gpu, ceed, scalar, on_device):
    x = on_device()
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert vector.exchange.shared
    capsule = vector.__dlpack__(max_version=(1, 0))
    assert _exchange.examine(capsule)[-1] == int(fake_gpu.ffi.cast("uintptr_t", x.address))
    assert vector.norm(pyceedlike.NORM_1) == 10.0


def test_a_producer_is_told_the_contexts_stream(ceed, vendor, on_device, stream):
    x = on_device()
    Vector.from_dlpack(x, ceed=ceed)
    assert x.asked["stream"] == {"cuda": 1, "hip": 0}[vendor]  # never 0 on CUDA
    ceed.set_stream(stream.address)
    ceed.Vector(4).take_from_dlpack(x)
    assert x.asked["stream"] == stream.address


def test_a_producer_on_the_host_is_told_no_stream(ceed, on_device):
    x = on_device(device=1, kind="pinned")
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert x.asked["stream"] is None
    assert vector.exchange.shared
    assert vector.to_numpy().tolist() == VALUES


@pytest.mark.parametrize(("device", "kind"), [(CUDA_HOST, "pinned"), (MANAGED, "managed")])
def test_pinned_and_managed_arrays_are_host_memory(ceed, on_device, device, kind):
    x = on_device(device=device, kind=kind)
    vector = Vector.from_dlpack(x, ceed=ceed)
    assert vector.exchange.shared
    assert place(vector.to_dlpack(MEM_HOST, max_version=(1, 0))) == (device, 0)
    assert vector.to_numpy().tolist() == VALUES


def test_a_host_context_given_an_array_of_a_device_says_so(on_device, vendor):
    x = on_device()
    with pytest.raises(
        pyceedlike.CeedIncompatibleError, match=r"kDL(CUDA|ROCM) .*host memory only"
    ):
        pyceedlike.from_dlpack(x)


def test_an_array_on_another_device_is_refused(ceed, on_device):
    x = on_device(device_id=1)
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="on device 1"):
        Vector.from_dlpack(x, ceed=ceed)


def test_a_host_array_is_taken_as_host_memory(ceed, scalar):
    x = np.array(VALUES, scalar)
    vector = Vector.from_dlpack(x, ceed=ceed)
    vector.scale(2.0)
    assert vector.exchange.shared
    assert x.tolist() == [2.0, 4.0, 6.0, 8.0]


def test_a_borrowed_array_is_given_back(fake_gpu, ceed, scalar, on_device):
    x, vector = on_device(), ceed.Vector(4)
    vector.set_array(x, MEM_DEVICE, USE_POINTER)
    vector.scale(2.0)
    assert vector.take_array(MEM_DEVICE) is x
    assert read(fake_gpu, x.__dlpack__(), scalar) == [2.0, 4.0, 6.0, 8.0]


def test_memory_of_a_device_lives_as_long_as_somebody_has_it(fake_gpu, ceed, scalar):
    capsule = vector_of(ceed, VALUES).__dlpack__(max_version=(1, 0))
    gc.collect()
    assert read(fake_gpu, capsule, scalar) == VALUES


# --- The array interface of CUDA -------------------------------------------------------------


def test_only_cuda_has_its_array_interface(ceed, vendor):
    vector = vector_of(ceed, VALUES)
    assert hasattr(vector, "__cuda_array_interface__") == (vendor == "cuda")
    assert not hasattr(pyceedlike.Ceed().Vector(1), "__cuda_array_interface__")


@pytest.mark.parametrize("vendor", ["cuda"])
def test_the_interface_of_cuda_tells_address_type_and_stream(ceed, scalar, vendor, stream):
    vector = vector_of(ceed, VALUES)
    interface = vector.__cuda_array_interface__
    *_, address = _exchange.examine(vector.__dlpack__(max_version=(1, 0)))
    assert interface["version"] == 3
    assert interface["data"] == (address, False)
    assert interface["shape"] == (4,)
    assert interface["typestr"] == {"float64": "<f8", "float32": "<f4"}[scalar]
    assert interface["stream"] == 1
    ceed.set_stream(stream.address)
    assert vector.__cuda_array_interface__["stream"] == stream.address
    assert vector.export_count >= 1  # it keeps the memory in place


class Interface:
    """An array with no more than the interface of CUDA."""

    def __init__(self, owner, gpu, scalar, stream):
        self.owner = owner
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (4,),
            "typestr": {"float64": "<f8", "float32": "<f4"}[scalar],
            "data": (int(gpu.ffi.cast("uintptr_t", owner.address)), False),
            "stream": stream,
        }


@pytest.mark.parametrize("vendor", ["cuda"])
def test_the_interface_of_cuda_is_taken_after_its_stream(
    fake_gpu, ceed, scalar, vendor, on_device, stream
):
    x = on_device()
    stream.write(int(fake_gpu.ffi.cast("uintptr_t", x.address)), np.full(4, 6.0, scalar))
    vector = Vector.from_dlpack(Interface(x, fake_gpu, scalar, stream.address), ceed=ceed)
    assert vector.exchange.shared
    assert stream.pending() == 1
    assert vector.norm(pyceedlike.NORM_1) == 24.0
    with pytest.raises(ValueError, match="is none of CUDA's"):
        Vector.from_dlpack(Interface(x, fake_gpu, scalar, 0), ceed=ceed)


# --- Fabs and operators ----------------------------------------------------------------------


def test_a_fab_lives_on_the_device(fake_gpu, ceed, scalar, vendor):
    fab = ceed.Fab(pyceedlike.Box([0], [3]))
    fab.set_value(3.0)
    view = fab.view("valid", components=0)
    assert fab.__dlpack_device__() == view.__dlpack_device__() == (TYPES[vendor], 0)
    assert (
        np.ravel(read(fake_gpu, view.__dlpack__(max_version=(1, 0)), scalar)).tolist() == [3.0] * 4
    )
    assert np.unique(fab.to_numpy()) == 3.0


def test_an_operator_works_on_vectors_of_a_device(ceed):
    restriction = ceed.ElemRestriction(2, 2, 1, 1, 3, [[0, 1], [1, 2]])
    u = vector_of(ceed, [1.0, 2.0, 3.0])
    assert (restriction @ u).to_numpy().tolist() == [1.0, 2.0, 2.0, 3.0]
    assert "Arithmetic and operators: through host memory" in str(ceed)


# --- What is loaded --------------------------------------------------------------------------

LOADED = """
import os, sys
os.environ["CEEDLIKE_LIBCUDA"] = os.environ["CEEDLIKE_LIBHIP"] = sys.argv[1]
import pyceedlike
pyceedlike.Ceed("/cpu/self").Vector(2).set_value(1.0)
with open("/proc/self/maps") as maps:
    names = maps.read()
for vendor in ("libcuda", "libamdhip64", "libhsa", "SyclInterface", sys.argv[1]):
    assert vendor not in names, vendor
"""


def test_neither_the_package_nor_a_host_context_loads_a_driver(fake_gpu):
    run_well(LOADED, str(fake_gpu.path))


@pytest.mark.parametrize("scalar", SCALARS)
def test_no_library_of_ours_needs_one_of_a_vendor(scalar):
    import pathlib
    import shutil

    if not shutil.which("ldd"):
        pytest.skip("no ldd on this machine")
    folder = pathlib.Path(_exchange.__file__).parent
    for path in [*folder.glob("lib/*.so*"), *folder.glob("*.so")]:
        needed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True)
        for vendor in ("cuda", "hip", "hsa", "Sycl", "dpctl"):
            assert vendor not in needed.stdout


def test_a_missing_driver_is_named():
    code = (
        "import os, pyceedlike\n"
        "os.environ['CEEDLIKE_LIBCUDA'] = '/nowhere/libcuda.so.1'\n"
        "try:\n    pyceedlike.Ceed('/gpu/cuda')\n"
        "except pyceedlike.CeedBackendError as error:\n"
        "    assert '/nowhere/libcuda.so.1' in str(error)\n"
        "else:\n    raise SystemExit('it was found')\n"
    )
    run_well(code)
