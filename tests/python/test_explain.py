# SPDX-License-Identifier: BSD-2-Clause
"""What explain() says beforehand is what happens, for every library that is installed."""

import array
import contextlib
import itertools

import numpy as np
import pytest
from helpers import OldProducer, Producer, address_of, run_script, vector_of

import pyceedlike
from pyceedlike import explain
from pyceedlike.explain import MANNERS
from pyceedlike.partners import PARTNERS

NATIVE = ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "?"]
TYPES = [*NATIVE, "g", ">f8", "<f8", "f8", "f4", "f8", "f4"]
OFFSETS = [0, 0, 1, 4, 8, 16, 32]  # from a 64-byte boundary on
LAYOUTS = {
    "one axis": lambda x: x.ravel(),
    "three axes": lambda x: x,
    "Fortran order": lambda x: x.T,
    "two axes swapped": lambda x: x.transpose(1, 0, 2),
    "every second": lambda x: x.ravel()[::2],
    "backwards": lambda x: x.ravel()[::-1],
    "one axis backwards": lambda x: x[:, ::-1],
    "begins late": lambda x: x.ravel()[1:],
    "inner block": lambda x: x[:, 1:],
    "inner columns": lambda x: x[..., :2],
    "one column": lambda x: x[:, 0, 0],
    "one row": lambda x: x[1, 2],
    "one entry of many": lambda x: x.ravel()[::24],
    "lengths of one": lambda x: x[:1, :, :1].T,
    "new axes": lambda x: x[None, :, :, None],
    "one entry, three axes": lambda x: x[:1, 1:2, ::-4][..., :1],
    "no axis": lambda x: x[0, 0, 0, ...],
    "no entry": lambda x: x.ravel()[:0],
    "no entry, three axes": lambda x: x[:, :0, ::2],
    "repeated": lambda x: np.broadcast_to(x.ravel()[:1], (3,)),
    "overlapping": lambda x: np.lib.stride_tricks.as_strided(x, (3, 2), (x.itemsize, x.itemsize)),
}


def aligned(dtype, offset):
    """Return a block of 2 by 3 by 4 that begins so many bytes behind a 64-byte boundary."""
    size = 24 * np.dtype(dtype).itemsize
    memory = np.zeros(size + 128, dtype=np.uint8)
    start = -memory.ctypes.data % 64 + offset
    return memory[start : start + size].view(dtype).reshape(2, 3, 4)


def generated(count=400):
    """Return arrays of all types, layouts, alignments, writable and not, the same in every run."""
    choices = list(itertools.product(TYPES, LAYOUTS, OFFSETS, [True, False]))
    picked = np.random.default_rng(3).choice(len(choices), count, replace=False)
    for dtype, layout, offset, writable in (choices[i] for i in sorted(picked)):
        x = LAYOUTS[layout](aligned(dtype, offset))
        if not writable:
            x.flags.writeable = False
        yield f"{dtype} {layout} at {offset}{'' if writable else ', read-only'}", x


def calls(to):
    """Return how a library takes an array, and where what it took lies; skip without it."""
    if to == "pyceedlike":
        return pyceedlike.from_dlpack, address_of
    partner = PARTNERS[to]
    module = pytest.importorskip(partner.module, reason=f"{partner.name} is not installed")
    return lambda x: partner.take(module, x), partner.address


def happened(x, address, take, where):
    """Return what happens when a library takes x, whose entries begin at an address."""
    try:
        taken = take(x)
    except Exception:
        return "fail"
    return "share" if where(taken) == address else "copy"


def runs_backwards(x):
    return any(s < 0 and n > 1 for s, n in zip(x.strides, x.shape, strict=True))


LIBRARIES = ["pyceedlike", "numpy", "torch", "tvm_ffi", "tensorflow", "pyarrow"]


@pytest.fixture(params=["x64", "x32"])
def jax_precision(request, jax):
    jax.config.update("jax_enable_x64", request.param == "x64")


def check_numpy_arrays(to):
    take, where = calls(to)
    wrong, seen = [], set()
    for what, x in generated():
        said = explain(x, to)
        if to == "torch" and said.outcome == "fail" and runs_backwards(x):
            continue  # a test of its own: it ends the program
        found = happened(x, x.ctypes.data, take, where)
        seen.add(found)
        if x.size == 0 and "fail" not in (found, said.outcome):
            continue  # nothing lies anywhere
        if found != said.outcome:
            wrong.append(f"{what}: {found}, not {said!r}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong[:20])
    assert len(seen) > 1


@pytest.mark.parametrize("to", LIBRARIES)
def test_numpy_arrays_are_taken_as_was_said(to):
    check_numpy_arrays(to)


@pytest.mark.usefixtures("jax_precision")
def test_numpy_arrays_are_taken_by_jax_as_was_said():
    check_numpy_arrays("jax")


def test_pytorch_ends_the_program_on_what_runs_backwards(torch):
    script = "import numpy, torch; torch.from_dlpack(numpy.arange(3.0)[::-1])"
    assert explain(np.arange(3.0)[::-1], "torch").outcome == "fail"
    assert run_script(script).returncode != 0


# --- Arrays of the others --------------------------------------------------------------------


def deleted(jax):
    x = jax.numpy.arange(6.0)
    x.delete()
    return x


def others():
    """Return makers of arrays, each with the library that it needs."""
    return {
        "torch": ("torch", lambda t: t.arange(6.0)),
        "torch, float64": ("torch", lambda t: t.arange(6.0, dtype=t.float64)),
        "torch, integers": ("torch", lambda t: t.arange(6)),
        "torch, every second": ("torch", lambda t: t.arange(6.0)[::2]),
        "torch, transposed": ("torch", lambda t: t.ones(2, 3).T),
        "torch, expanded": ("torch", lambda t: t.ones(1).expand(3)),
        "torch, bfloat16": ("torch", lambda t: t.ones(3, dtype=t.bfloat16)),
        "torch, float8": ("torch", lambda t: t.ones(3, dtype=t.float8_e4m3fn)),
        "torch, another float8": ("torch", lambda t: t.ones(3).to(t.float8_e8m0fnu)),
        "torch, bool": ("torch", lambda t: t.ones(3, dtype=t.bool)),
        "torch, complex": ("torch", lambda t: t.ones(3, dtype=t.complex64)),
        "torch, with gradients": ("torch", lambda t: t.ones(3, requires_grad=True)),
        "torch, conjugate": ("torch", lambda t: t.ones(3, dtype=t.complex64).conj()),
        "torch, empty": ("torch", lambda t: t.ones(0)),
        "torch, negated": ("torch", lambda t: t._neg_view(t.ones(3))),
        "torch, negated, with gaps": ("torch", lambda t: t.ones(3, dtype=t.cfloat).conj().imag),
        "torch, real parts": ("torch", lambda t: t.ones(3, dtype=t.cfloat).real),
        "torch, begins late": ("torch", lambda t: t.ones(6)[1:]),
        "torch, float4": ("torch", lambda t: t.empty(3, dtype=t.float4_e2m1fn_x2)),
        "torch, sparse": ("torch", lambda t: t.eye(3).to_sparse()),
        "torch, without memory": ("torch", lambda t: t.ones(3, device="meta")),
        "jax, float32": ("jax", lambda j: j.numpy.arange(6, dtype="float32")),
        "jax, float64": ("jax", lambda j: j.numpy.arange(6.0)),
        "jax, integers": ("jax", lambda j: j.numpy.arange(6, dtype="int32")),
        "jax, two axes": ("jax", lambda j: j.numpy.ones((2, 3)).T),
        "jax, bfloat16": ("jax", lambda j: j.numpy.ones(3, "bfloat16")),
        "jax, float8": ("jax", lambda j: j.numpy.ones(3, "float8_e4m3b11fnuz")),
        "jax, int4": ("jax", lambda j: j.numpy.ones(3, "int4")),
        "jax, no axis": ("jax", lambda j: j.numpy.float32(3)),
        "jax, deleted": ("jax", deleted),
        "jax, keys": ("jax", lambda j: j.random.key(0)),
        "tvm_ffi": ("tvm_ffi", lambda t: t.from_dlpack(np.arange(6.0))),
        "tensorflow": ("tensorflow", lambda t: t.constant([1.0, 2.0])),
        "tensorflow, integers": ("tensorflow", lambda t: t.constant([1, 2])),
        "tensorflow, bfloat16": ("tensorflow", lambda t: t.ones(3, t.bfloat16)),
        "tensorflow, a variable": ("tensorflow", lambda t: t.Variable([1.0, 2.0])),
        "pyarrow": ("pyarrow", lambda a: a.array([1.0, 2.0])),
        "pyarrow, a slice": ("pyarrow", lambda a: a.array([1.0, 2.0, 3.0])[1:]),
        "pyarrow, with gaps": ("pyarrow", lambda a: a.array([1.0, None])),
        "pyarrow, past gaps": ("pyarrow", lambda a: a.array([None, 1.0, 2.0])[1:]),
        "pyarrow, chunked": ("pyarrow", lambda a: a.chunked_array([[1.0], [2.0]])),
        "pyarrow, a tensor": ("pyarrow", lambda a: a.Tensor.from_numpy(np.ones((2, 3)))),
        "pyarrow, text": ("pyarrow", lambda a: a.array(["a"])),
    }


def first_address(x):
    """Return where the entries of another library's array begin, by its own words, or None."""
    with contextlib.suppress(Exception):  # it has no memory
        for name in ("data_ptr", "unsafe_buffer_pointer"):
            if hasattr(x, name):
                return getattr(x, name)()
        if hasattr(x, "buffers"):
            return x.buffers()[1].address + x.type.bit_width // 8 * x.offset
        return np.asarray(x).ctypes.data
    return None


@pytest.mark.parametrize("to", [*LIBRARIES, "jax"])
@pytest.mark.parametrize("what", others())
@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule:DeprecationWarning")
def test_arrays_of_other_libraries_are_taken_as_was_said(request, what, to):
    library, make = others()[what]
    if "jax" in (library, to):
        request.getfixturevalue("jax")
    x = make(pytest.importorskip(library, reason=f"{library} is not installed"))
    take, where = calls(to)
    said = explain(x, to)
    found = happened(x, first_address(x), take, where)
    assert found == said.outcome or "empty" in what, said
    assert said.reason


class Wrapper:
    """An array in an object of the user's."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **request):
        return self.array.__dlpack__(**request)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class WithoutDevice(Wrapper):
    __dlpack_device__ = property()


class Subclass(np.ndarray):
    pass


def read_only(x):
    x.flags.writeable = False
    return x


def mapped(tmp_path, mode):
    np.arange(512.0).tofile(tmp_path / "values")
    return np.memmap(tmp_path / "values", "f8", mode)


RELATIVES = {
    "a wrapper": lambda _: Wrapper(aligned("f8", 0)),
    "a wrapper of a read-only array": lambda _: Wrapper(read_only(aligned("f8", 0))),
    "a wrapper without a device": lambda _: WithoutDevice(aligned("f4", 0)),
    "a subclass": lambda _: aligned("f8", 0).view(Subclass),
    "a masked array": lambda _: np.ma.masked_array(aligned("f8", 0), mask=True),
    "a mapped file": lambda path: mapped(path, "r+"),
    "a mapped file, read-only": lambda path: mapped(path, "r"),
    "a field of a structure": lambda _: np.zeros(3, "f8, f8")["f1"],
    "a field between entries": lambda _: np.zeros(3, "f8, i4")["f0"],
    "structures": lambda _: np.zeros(3, "f8, i4"),
    "dates": lambda _: np.zeros(3, "M8[s]"),
    "objects": lambda _: np.array([None]),
    "64 axes": lambda _: aligned("f8", 0).reshape((1,) * 63 + (24,)),
}


@pytest.mark.parametrize("to", [*LIBRARIES, "jax"])
@pytest.mark.parametrize("what", RELATIVES)
def test_relatives_of_numpys_arrays_are_taken_as_was_said(request, tmp_path, what, to):
    if to == "jax":
        request.getfixturevalue("jax")
    x = RELATIVES[what](tmp_path)
    take, where = calls(to)
    said = explain(x, to)
    assert happened(x, getattr(x, "array", x).ctypes.data, take, where) == said.outcome, said


def test_text_of_tensorflow_is_said_to_fail():
    """TensorFlow ends the program where it is asked for such a tensor."""
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    for to in [*LIBRARIES, "jax"]:
        assert "its type is string" in explain(tf.constant(["a"]), to).reason


def test_who_gets_the_wrong_sign_is_told(torch):
    x = torch._neg_view(torch.ones(3))
    said = explain(x, "numpy")
    assert (said.outcome, said.change) == ("share", "x.resolve_neg()")
    assert "NumPy gets the wrong sign" in said.reason
    assert np.from_dlpack(x).tolist() == [1, 1, 1]


# --- Vectors and fabs ------------------------------------------------------------------------


def locked(ceed):
    """Return a read-only vector over aligned memory."""
    return pyceedlike.from_dlpack(memoryview(vector_of(ceed, range(4))).toreadonly())


VECTORS = {
    "a vector": lambda ceed: (vector_of(ceed, range(4)), None),
    "a read-only vector": lambda ceed: (locked(ceed), None),
    "an empty vector": lambda ceed: (vector_of(ceed, []), None),
    "a vector without values": lambda ceed: (ceed.Vector(3), None),
    "unaligned memory": lambda ceed: (pyceedlike.from_dlpack(aligned("f8", 8)), None),
}


def leased(ceed):
    vector = vector_of(ceed, range(4))
    return vector, vector.to_dlpack(mode="read", max_version=(1, 0))


def being_written(ceed):
    vector = vector_of(ceed, range(4))
    return vector, vector.get_array()


VECTORS |= {"a leased vector": leased, "a vector being written": being_written}


@pytest.mark.parametrize("to", [*LIBRARIES, "jax"])
@pytest.mark.parametrize("what", VECTORS)
def test_vectors_are_taken_as_was_said(request, ceed, what, to):
    if to == "jax":
        request.getfixturevalue("jax")
    vector, _held = VECTORS[what](ceed)
    take, where = calls(to)
    said = explain(vector, to)
    try:
        address = np.asarray(vector).ctypes.data
    except BufferError:
        address = None
    found = happened(vector, address, take, where)
    assert found == said.outcome or (not len(vector) and found != "fail"), said


def fab(ceed, ghost=1, ncomp=2):
    block = ceed.Fab(pyceedlike.Box([-2, 0], [5, 3]), ncomp=ncomp, ghost=ghost)
    block.set_value(1.0)
    return block


def locked_fab(ceed):
    return pyceedlike.Fab.from_dlpack(read_only(aligned(ceed.scalar, 0)), lo=[0, 0])


PARTS = {
    "a fab": fab,
    "a fab without ghost cells": lambda ceed: fab(ceed, 0),
    "valid cells": lambda ceed: fab(ceed).view("valid"),
    "one component": lambda ceed: fab(ceed).view(components=1),
    "another order": lambda ceed: fab(ceed).view(order="nzyx"),
    "one cell": lambda ceed: fab(ceed, 1, 1).view(pyceedlike.Box([0, 0], [0, 0])),
    "a read-only fab": locked_fab,
    "a part of a read-only fab": lambda ceed: locked_fab(ceed).view(pyceedlike.Box([0, 0], [0, 1])),
    "a fab without values": lambda ceed: ceed.Fab(pyceedlike.Box([0, 0], [3, 3])),
}


@pytest.mark.parametrize("to", [*LIBRARIES, "jax"])
@pytest.mark.parametrize("is_leased", [False, True])
@pytest.mark.parametrize("what", PARTS)
def test_fabs_are_taken_as_was_said(jax, ceed, what, is_leased, to):
    part = PARTS[what](ceed)
    whole = getattr(part, "fab", part)
    lease = None
    if is_leased and "without values" not in what:
        lease = whole.to_dlpack(mode="read", max_version=(1, 0))
    take, where = calls(to)
    said = explain(part, to)
    address = None if "without values" in what else np.from_dlpack(part).ctypes.data
    assert happened(part, address, take, where) == said.outcome, said
    del lease


def test_explaining_a_vector_leaves_no_trace(v4):
    before = v4.exchange
    for to in [*LIBRARIES, "jax"]:
        explain(v4, to)
    assert v4.exchange == before
    assert v4.export_count == 0


# --- What has no tensor, or a strange one ----------------------------------------------------


class Nothing:
    """An object without memory or values."""


VALUES = {
    "a list": lambda: [1.0, 2.0],
    "a number": lambda: 3.0,
    "an array of Python": lambda: array.array("d", [1.0, 2.0]),
    "integers of Python": lambda: array.array("q", [1, 2]),
    "a memoryview": lambda: memoryview(bytearray(16)).cast("d"),
    "bytes": lambda: b"12345678",
    "an object": Nothing,
}


@pytest.mark.parametrize("what", VALUES)
def test_values_of_python_are_taken_as_was_said(what):
    x = VALUES[what]()
    said = explain(x)
    try:
        shared = pyceedlike.from_dlpack(x).exchange.shared
        found = "share" if shared else "copy", said.reason
    except (TypeError, BufferError) as error:
        found = "fail", str(error)
    assert (said.outcome, said.reason) == found


def test_what_has_no_dlpack_is_said_to_fail_in_the_others():
    for to in LIBRARIES[1:]:
        assert explain([1.0], to).outcome == "fail"
        assert "list has no __dlpack__" in explain([1.0], to).reason


class MuteError(Exception):
    def __str__(self):
        raise ValueError("no text")


def raises(error):
    def __dlpack__(self, **request):  # noqa: N807
        raise error

    return type("Hostile", (), {"__dlpack__": __dlpack__})()


def looks_up(name, error):
    def look_up(self):
        raise error

    return type("Hostile", (), {name: property(look_up)})()


HOSTILE = {
    "OSError: closed": raises(OSError("closed")),
    "SystemExit: 3": raises(SystemExit(3)),
    "MuteError": raises(MuteError()),
    "OSError: no attribute": looks_up("__dlpack__", OSError("no attribute")),
    "a int, which is no DLPack capsule": type("Odd", (), {"__dlpack__": lambda self, **_: 42})(),
}


@pytest.mark.parametrize("to", MANNERS)
@pytest.mark.parametrize("said", HOSTILE)
def test_an_object_that_raises_is_said_to_fail(said, to):
    explanation = explain(HOSTILE[said], to)
    assert explanation.outcome == "fail"
    assert said in explanation.reason


@pytest.mark.parametrize("x", [looks_up("__array_interface__", OSError()), [[1], [2, 3]]])
def test_values_that_can_not_be_read_are_said_to_fail(x):
    assert explain(x).outcome == "fail"


def test_a_broken_exchange_table_is_said_to_fail():
    broken = type("Broken", (), {"__dlpack_c_exchange_api__": 3, "__dlpack__": None})()
    assert explain(broken, "tvm_ffi").outcome == "fail"


def test_the_first_complaint_of_a_new_producer_is_the_reason():
    class New:
        def __dlpack__(self, *, max_version):
            raise TypeError("a sparse array has no strides")

    assert "a sparse array has no strides" in explain(New()).reason


@pytest.mark.parametrize("to", ["pyceedlike", "numpy", "torch"])
def test_an_old_producer_is_asked_once_more(to):
    x = np.arange(4.0)
    take, where = calls(to)
    producer = OldProducer(lambda: x.__dlpack__())
    assert explain(producer, to).outcome == happened(producer, x.ctypes.data, take, where)


@pytest.mark.parametrize("to", ["pyceedlike", "numpy", "torch", "jax"])
@pytest.mark.parametrize(
    "changes",
    [{"device": (2, 0)}, {"device": (12, 3)}, {"dtype": (2, 64, 2)}, {"dtype": (3, 64, 1)}],
    ids=str,
)
def test_strange_tensors_are_said_to_fail(request, partner, to, changes):
    if to == "jax":
        request.getfixturevalue("jax")
    x = aligned("f8", 0).ravel()[:4]
    fields = {"strides": [1], "dtype": (2, 64, 1), "version": None if to == "jax" else (1, 0)}
    fake = partner.Fake(x.ctypes.data, x.shape, **{**fields, **changes})
    producer = Producer(fake.capsule, changes.get("device", (1, 0)))
    take, where = calls(to)
    assert explain(producer, to).outcome == "fail"
    assert happened(producer, x.ctypes.data, take, where) == "fail"


def test_a_malformed_tensor_is_said_to_fail(partner):
    x = np.arange(4.0)
    fake = partner.Fake(x.ctypes.data, [-4], strides=[1], dtype=(2, 64, 1), version=(1, 0))
    said = explain(Producer(fake.capsule), "numpy")
    assert said.outcome == "fail"
    assert "-4" in said.reason


def test_a_copy_by_the_source_is_said_to_be_one(partner):
    x = np.arange(4.0)
    fake = partner.Fake(
        x.ctypes.data, x.shape, strides=[1], dtype=(2, 64, 1), version=(1, 0), flags=2
    )
    assert explain(Producer(fake.capsule)).outcome == "copy"


# --- What to change --------------------------------------------------------------------------


def test_the_change_for_gaps_makes_it_share():
    x = np.arange(6.0)[::2]
    assert "numpy.ascontiguousarray(x)" in explain(x).change
    assert explain(np.ascontiguousarray(x)).outcome == "share"


def test_the_change_for_alignment_makes_jax_share(jax):
    x = aligned("f8", 16).ravel()
    assert "as a vector's own memory does" in explain(x, "jax").change
    assert explain(vector_of(pyceedlike.Ceed(), x), "jax").outcome == "share"


def test_the_change_for_x64_makes_jax_share(jax):
    x = aligned("f8", 0)
    jax.config.update("jax_enable_x64", False)
    said = explain(x, "jax")
    assert said.outcome == "copy"
    assert "float32 of float64" in said.reason
    assert said.change == 'jax.config.update("jax_enable_x64", True)'
    jax.config.update("jax_enable_x64", True)
    assert explain(x, "jax").outcome == "share"


def test_the_change_for_read_only_makes_jax_share(jax):
    x = aligned("f8", 0).ravel()
    x.flags.writeable = False
    assert "pyceedlike.from_dlpack(x).to_jax()" in explain(x, "jax").change
    assert pyceedlike.from_dlpack(x).to_jax().unsafe_buffer_pointer() == x.ctypes.data


def test_the_change_for_read_only_makes_tvm_ffi_share(tvm_ffi):
    x = np.arange(4.0)
    x.flags.writeable = False
    assert "pyceedlike.from_dlpack(x)" in explain(x, "tvm_ffi").change
    assert tvm_ffi.from_dlpack(pyceedlike.from_dlpack(x)).data_ptr() == x.ctypes.data


def on_boundary(x):
    """Return a copy of an array where an entry may begin for JAX."""
    x = np.asarray(x)
    memory = np.zeros(x.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    new = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    new[...] = x
    return new


#: What is done as a change says, until the array is shared.
CHANGES = {
    "copy it in C order first, as in numpy.ascontiguousarray(x)": np.ascontiguousarray,
    "keep the values where a boundary is, as a vector's own memory does": on_boundary,
    "keep the values in memory of their own, as in numpy.array(x)": np.array,
    "copy it first, as in numpy.from_dlpack(x).copy()": lambda x: np.from_dlpack(x).copy(),
    "pass numpy.from_dlpack(x), which shares the memory": np.from_dlpack,
    "pass a vector over the same memory: pyceedlike.from_dlpack(x)": pyceedlike.from_dlpack,
    "flatten it first: x.reshape(-1)": lambda x: x.reshape(-1),
    "convert it first": lambda x: np.asarray(x).real.astype("float64"),
    "make an array of it first, as in numpy.asarray(x)": np.asarray,
    "x.resolve_neg()": lambda x: x.resolve_neg(),
}


def changed(x, to):
    """Return what is shared in the end, and the steps to it."""
    steps = []
    while len(steps) < 5 and explain(x, to).outcome != "share":
        steps.append(explain(x, to).change)
        if steps[-1] not in CHANGES:
            break
        x = CHANGES[steps[-1]](x)
    return x, steps


def lends_to_jax(x):
    said = "a vector over the same memory lends it to JAX: pyceedlike.from_dlpack(x).to_jax()"
    shared = pyceedlike.from_dlpack(x).to_jax().unsafe_buffer_pointer()
    return explain(x, "jax").change == said and shared == x.ctypes.data


@pytest.mark.parametrize("to", [*LIBRARIES, "jax"])
def test_what_is_to_be_changed_makes_it_share(jax, to):
    take, where = calls(to)
    done = set()
    for what, x in generated(200):
        if x.dtype == "g" or not x.dtype.isnative or not x.size:
            continue  # what to do is in NumPy's own words, or nothing lies anywhere
        x, steps = changed(x, to)
        done.update(steps)
        if steps and "lends it to JAX" in steps[-1]:
            assert lends_to_jax(x), what
        else:
            assert explain(x, to).outcome == "share", (what, steps)
            assert happened(x, first_address(x), take, where) == "share", (what, steps)
    assert done or to == "numpy"


# --- The answer ------------------------------------------------------------------------------


def test_the_answer_reads_well():
    said = explain(np.arange(3))
    assert str(said) == (
        "pyceedlike.from_dlpack(x): fail\n"
        "  why: a vector takes no int64\n"
        "  instead: convert it first"
    )


def test_nothing_to_change_is_not_mentioned():
    said = explain(np.arange(3.0), "numpy")
    assert isinstance(said, pyceedlike.Explanation)
    assert said == ("numpy.from_dlpack(x)", "share", "NumPy shares the memory", "")
    assert str(said) == "numpy.from_dlpack(x): share\n  why: NumPy shares the memory"


def test_an_unknown_library_is_refused_with_the_list():
    with pytest.raises(ValueError, match=r"to must be one of pyceedlike, numpy, jax, .* 'bogus'"):
        explain(np.ones(3), "bogus")


def test_a_library_need_not_be_installed():
    """What asks for no settings of the library answers without it."""
    script = """
import sys
sys.modules["jax"] = sys.modules["torch"] = sys.modules["tensorflow"] = None
import numpy as np, pyceedlike
for to in "torch", "tensorflow", "jax":
    print(pyceedlike.explain(np.ones(0), to).outcome)
"""
    assert run_script(script).stdout.split() == ["share", "share", "copy"]
