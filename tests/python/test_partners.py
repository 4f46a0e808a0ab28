# SPDX-License-Identifier: BSD-2-Clause
"""The same memory in NumPy, PyTorch, JAX and tvm-ffi, both ways, and the faults these have."""

import gc
import weakref

import numpy as np
import pytest
from helpers import OTHER, SCALARS, address_of, churn, eventually, values_of, vector_of

import pyceedlike
from pyceedlike import from_dlpack

LENGTHS = [*range(1, 201), 10**6]


class NumPy:
    """NumPy, in the words of these tests."""

    def take(self, x):
        return np.from_dlpack(x)

    def make(self, n, scalar):
        return np.arange(n, dtype=scalar)

    def address(self, x):
        return x.ctypes.data

    def values(self, x):
        return np.asarray(x)

    def write(self, x, i, value):
        x[i] = value


class Torch(NumPy):
    def __init__(self, torch):
        self.torch = torch

    def take(self, x):
        return self.torch.from_dlpack(x)

    def make(self, n, scalar):
        return self.torch.arange(n, dtype=getattr(self.torch, scalar))

    def address(self, x):
        return x.data_ptr()

    def values(self, x):
        return x.numpy()


class Jax(NumPy):
    def __init__(self, jax):
        self.jax = jax

    def take(self, x):
        return self.jax.dlpack.from_dlpack(x)

    def make(self, n, scalar):
        return self.jax.device_put(np.arange(n, dtype=scalar))

    def address(self, x):
        return x.unsafe_buffer_pointer()

    write = None


class Tvm(NumPy):
    def __init__(self, tvm_ffi):
        self.tvm_ffi = tvm_ffi

    def take(self, x):
        return self.tvm_ffi.from_dlpack(x)

    def make(self, n, scalar):
        return self.tvm_ffi.from_dlpack(np.arange(n, dtype=scalar))

    def address(self, x):
        return x.data_ptr()

    def values(self, x):
        return np.from_dlpack(x)

    write = None


PARTNERS = ["numpy", "torch", "jax", "tvm_ffi"]
MUTABLE = ["numpy", "torch"]


@pytest.fixture
def library(request):
    """One partner, by the name that parametrizes the test."""
    if request.param == "numpy":
        return NumPy()
    return {"torch": Torch, "jax": Jax, "tvm_ffi": Tvm}[request.param](
        request.getfixturevalue(request.param)
    )


each_partner = pytest.mark.parametrize("library", PARTNERS, indirect=True)
each_mutable = pytest.mark.parametrize("library", MUTABLE, indirect=True)


# --- From us to them -------------------------------------------------------------------------


@each_partner
def test_partner_shares_the_address_at_every_length(ceed, library):
    for n in LENGTHS:
        vector = vector_of(ceed, np.arange(n))
        taken = library.take(vector)
        assert library.address(taken) == address_of(vector), f"at length {n}"
        np.testing.assert_array_equal(library.values(taken), np.arange(n))


@each_partner
def test_partner_has_the_precision(ceed, scalar, library):
    taken = library.take(vector_of(ceed, range(3)))
    assert str(taken.dtype).removeprefix("torch.") == scalar
    assert library.values(taken).dtype == scalar


@each_partner
def test_partner_takes_a_vector_of_no_entries(ceed, library):
    vector = ceed.Vector(0)
    vector.set_value(0)
    assert library.values(library.take(vector)).shape == (0,)


@each_partner
def test_partner_sees_what_the_vector_writes(ceed, library):
    vector = vector_of(ceed, range(5))
    taken = library.take(vector)
    vector.scale(2)
    np.testing.assert_array_equal(library.values(taken), [0, 2, 4, 6, 8])


@each_mutable
def test_vector_sees_what_the_partner_writes(ceed, library):
    vector = vector_of(ceed, range(5))
    library.write(library.take(vector), 3, 33)
    assert values_of(vector).tolist() == [0, 1, 2, 33, 4]


@each_partner
def test_partner_holds_the_only_reference(ceed, library):
    taken = library.take(vector_of(ceed, np.arange(1000)))
    churn()
    np.testing.assert_array_equal(library.values(taken), np.arange(1000))


@each_partner
def test_partner_lets_go(ceed, library):
    vector = vector_of(ceed, range(5))
    taken = library.take(vector)
    assert vector.export_count == 1
    del taken
    assert eventually(lambda: vector.export_count == 0)


def test_numpy_may_write(v4):
    assert np.from_dlpack(v4).flags.writeable


@pytest.mark.parametrize("copy", [None, True, False])
def test_numpy_copy(v4, copy):
    array = np.from_dlpack(v4, copy=copy)
    assert (array.ctypes.data == address_of(v4)) is (copy is not True)
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("copy", [None, True, False])
def test_torch_copy(v4, torch, copy):
    tensor = torch.from_dlpack(v4, copy=copy)
    assert (tensor.data_ptr() == address_of(v4)) is (copy is not True)
    assert tensor.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [1, 7, 64, 200])
def test_jax_copy_false_is_granted_at_every_length(ceed, jax, n):
    vector = vector_of(ceed, np.arange(n))
    x = jax.dlpack.from_dlpack(vector, copy=False)
    assert x.unsafe_buffer_pointer() == address_of(vector)


def test_jax_refuses_an_entry_off_the_alignment(ceed, jax):
    part = np.from_dlpack(vector_of(ceed, range(50)))[1:]
    with pytest.raises(ValueError, match=r"(?i)copy|align|alias"):
        jax.dlpack.from_dlpack(part, copy=False)


def test_tvm_ffi_takes_the_exchange_api(tvm_ffi, ceed):
    class Counted(pyceedlike.Vector):
        calls = 0

        def __dlpack__(self, **request):
            Counted.calls += 1
            return super().__dlpack__(**request)

    original = vector_of(ceed, range(4))
    vector = Counted.from_handle(original.handle)
    assert tvm_ffi.from_dlpack(vector).data_ptr() == address_of(vector)
    assert Counted.calls == 0


def test_read_only_memory_in_every_partner(scalar):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    vector = from_dlpack(array)
    assert np.from_dlpack(vector).flags.writeable is False
    assert np.asarray(vector).flags.writeable is False


@pytest.mark.parametrize("library", ["jax", "tvm_ffi"], indirect=True)
def test_read_only_memory_reaches_partners_that_ask_for_legacy(scalar, library):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    taken = library.take(from_dlpack(array))
    np.testing.assert_array_equal(library.values(taken), [0, 1, 2, 3])


# --- From them to us -------------------------------------------------------------------------


@each_partner
def test_vector_shares_the_partners_address_at_every_length(scalar, library):
    for n in LENGTHS:
        made = library.make(n, scalar)
        vector = from_dlpack(made, copy=False)
        assert address_of(vector) == library.address(made), f"at length {n}"
        assert vector.exchange.shared is True
        np.testing.assert_array_equal(values_of(vector), np.arange(n))


@each_partner
def test_vector_takes_an_array_of_no_entries(scalar, library):
    assert len(from_dlpack(library.make(0, scalar))) == 0


@each_partner
def test_vector_has_the_partners_precision(scalar, library):
    assert from_dlpack(library.make(3, scalar)).scalar == scalar


@each_partner
def test_vector_copies_when_asked(scalar, library):
    made = library.make(5, scalar)
    vector = from_dlpack(made, copy=True)
    assert address_of(vector) != library.address(made)
    vector.scale(3)
    np.testing.assert_array_equal(library.values(made), np.arange(5))


@each_partner
@pytest.mark.parametrize("device", ["cpu", (1, 0), None])
def test_vector_takes_it_on_the_host(scalar, library, device):
    made = library.make(5, scalar)
    vector = from_dlpack(made, device=device)
    assert address_of(vector) == library.address(made)


@each_partner
def test_vector_keeps_the_partners_memory_alive(scalar, library):
    vector = from_dlpack(library.make(1000, scalar))
    churn()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))


@each_partner
def test_a_round_trip_keeps_the_address(ceed, library):
    vector = vector_of(ceed, range(7))
    again = from_dlpack(library.take(vector))
    assert address_of(again) == address_of(vector)


@each_mutable
def test_writes_are_seen_both_ways(scalar, library):
    made = library.make(4, scalar)
    vector = from_dlpack(made)
    vector.scale(10)
    np.testing.assert_array_equal(library.values(made), [0, 10, 20, 30])
    library.write(made, 0, 5)
    assert values_of(vector).tolist() == [5, 10, 20, 30]


@each_partner
def test_take_from_dlpack_of_a_partner(ceed, scalar, library):
    vector = ceed.Vector(5)
    made = library.make(5, scalar)
    vector.take_from_dlpack(made)
    assert address_of(vector) != library.address(made)
    assert values_of(vector).tolist() == [0, 1, 2, 3, 4]


@each_partner
def test_set_array_borrows_from_a_partner(ceed, scalar, library):
    vector = ceed.Vector(5)
    made = library.make(5, scalar)
    vector.set_array(made, cmode=pyceedlike.USE_POINTER)
    assert address_of(vector) == library.address(made)


@each_partner
def test_the_other_precision_is_refused(ceed, scalar, library):
    vector = ceed.Vector(5)
    made = library.make(5, OTHER[scalar])
    for take in (vector.take_from_dlpack, vector.set_array):
        with pytest.raises(pyceedlike.CeedIncompatibleError, match=OTHER[scalar]):
            take(made)


@each_partner
@pytest.mark.parametrize("name", ["int32", "int64", "uint8", "float16"])
def test_other_types_are_refused_by_name(library, name):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=name):
        from_dlpack(library.make(3, name))


@pytest.mark.parametrize(
    "name",
    ["bool", "complex64", "complex128", "longdouble", "int8", ">f8", "f8,f8", "M8[s]", "S8", "O"],
)
def test_numpy_types_that_are_refused(name):
    with pytest.raises((pyceedlike.CeedIncompatibleError, BufferError, TypeError)):
        from_dlpack(np.zeros(3, dtype=name))


@pytest.mark.parametrize("name", ["bfloat16", "complex64", "bool", "float8_e4m3fn"])
def test_torch_types_that_are_refused(torch, name):
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        from_dlpack(torch.zeros(3, dtype=getattr(torch, name)))


@pytest.mark.parametrize("name", ["bfloat16", "complex64", "bool"])
def test_jax_types_that_are_refused(jax, name):
    with pytest.raises(pyceedlike.CeedIncompatibleError):
        from_dlpack(jax.numpy.zeros(3, dtype=name))


def test_jax_arrays_are_read_only(jax, scalar):
    x = jax.numpy.arange(8, dtype=scalar)
    vector = from_dlpack(x)
    with pytest.raises(pyceedlike.CeedAccessError, match="read-only"):
        vector.set_value(9)
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.get_array()
    assert x.tolist() == list(range(8))


def test_a_jax_array_shows_as_read_only_in_numpy(jax, scalar):
    assert np.from_dlpack(from_dlpack(jax.numpy.arange(8, dtype=scalar))).flags.writeable is False


def test_numpys_read_only_arrays_stay_so(scalar):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    vector = from_dlpack(array)
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.set_value(9)
    assert address_of(vector) == array.ctypes.data


@pytest.mark.parametrize(
    "piece", [np.s_[:, 1], np.s_[::2, ::3], np.s_[1], np.s_[..., None]], ids=str
)
def test_views_of_torch_tensors(torch, scalar, piece):
    tensor = torch.arange(20, dtype=getattr(torch, scalar)).reshape(4, 5)[piece]
    vector = from_dlpack(tensor)
    np.testing.assert_array_equal(values_of(vector), tensor.numpy().ravel())


def test_a_transposed_torch_tensor_is_flattened_in_c_order(torch, scalar):
    tensor = torch.arange(6, dtype=getattr(torch, scalar)).reshape(2, 3).T
    assert values_of(from_dlpack(tensor)).tolist() == [0, 3, 1, 4, 2, 5]


def test_a_transposed_jax_array_is_flattened_in_c_order(jax, scalar):
    x = jax.numpy.arange(6, dtype=scalar).reshape(2, 3).T
    assert values_of(from_dlpack(x)).tolist() == [0, 3, 1, 4, 2, 5]


# --- Their faults ----------------------------------------------------------------------------


def test_torchs_unflagged_copy_is_still_a_copy(torch, scalar):
    tensor = torch.arange(4, dtype=getattr(torch, scalar))
    vector = from_dlpack(tensor, copy=True)
    tensor[0] = 99
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_tvm_ffi_ignores_a_wish_for_a_copy_and_we_do_not(tvm_ffi, scalar):
    array = np.arange(4, dtype=scalar)
    vector = from_dlpack(tvm_ffi.from_dlpack(array), copy=True)
    array[0] = 99
    assert values_of(vector).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda torch: torch.arange(4.0, requires_grad=True),
        lambda torch: torch.zeros(4, dtype=torch.complex64).conj(),
        lambda torch: torch.ones(4, dtype=torch.complex64).conj().imag,
        lambda torch: torch._neg_view(torch.ones(4)),
    ],
    ids=["requires_grad", "conj", "imag of conj", "neg"],
)
def test_torch_tensors_with_a_meaning_are_not_taken_raw(torch, make):
    with pytest.raises((BufferError, RuntimeError)):
        from_dlpack(make(torch))


def test_a_negated_torch_tensor_is_taken_when_it_is_resolved(torch):
    tensor = torch.complex(torch.zeros(3), torch.ones(3)).conj().imag
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"take x\.resolve_neg\(\)"):
        from_dlpack(tensor)
    assert values_of(from_dlpack(tensor.resolve_neg())).tolist() == [-1, -1, -1]


# --- to_numpy, to_torch, to_jax, jax ---------------------------------------------------------


def test_to_numpy_shares(v4, scalar):
    array = v4.to_numpy()
    assert (array.dtype, array.ctypes.data) == (scalar, address_of(v4))
    array[0] = 7
    assert values_of(v4).tolist() == [7, 1, 2, 3]


def test_to_numpy_outlives_the_vector(ceed):
    array = vector_of(ceed, np.arange(1000)).to_numpy()
    churn()
    np.testing.assert_array_equal(array, np.arange(1000))


def test_to_torch_shares(v4, torch, scalar):
    tensor = v4.to_torch()
    assert tensor.dtype == getattr(torch, scalar)
    assert tensor.data_ptr() == address_of(v4)
    tensor[0] = 7
    assert values_of(v4).tolist() == [7, 1, 2, 3]


def test_to_torch_does_not_hand_out_read_only_memory_for_writing(torch, scalar):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    vector = from_dlpack(array)
    try:
        tensor = vector.to_torch()
    except BufferError:
        return
    tensor[0] = 99
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n", [1, 3, 64, 1000])
def test_to_jax_shares(ceed, jax, scalar, n):
    vector = vector_of(ceed, np.arange(n))
    x = vector.to_jax()
    assert (x.dtype, x.shape) == (scalar, (n,))
    assert x.unsafe_buffer_pointer() == address_of(vector)


def test_to_jax_of_no_entries(ceed, jax):
    vector = ceed.Vector(0)
    vector.set_value(0)
    assert vector.to_jax().shape == (0,)
    with vector.jax() as x:
        assert x.shape == (0,)


def test_to_jax_never_copies_what_is_not_aligned_for_it(ceed, jax, scalar):
    lent = np.from_dlpack(vector_of(ceed, range(50)))[1:]
    vector = ceed.Vector(49)
    vector.set_array(lent, cmode=pyceedlike.USE_POINTER)
    with pytest.raises(BufferError, match=r"64|align"):
        vector.to_jax()
    assert vector.export_count == 0
    with pytest.raises(BufferError, match=r"64|align"):
        vector.jax().__enter__()
    assert vector.export_count == 0


def test_to_jax_within_64_bit_types_for_a_while(jax):
    if not hasattr(jax, "enable_x64"):
        pytest.skip("this JAX has no jax.enable_x64")
    vector = vector_of(pyceedlike.Ceed(), range(4))
    jax.config.update("jax_enable_x64", False)
    with jax.enable_x64(True):
        x = vector.to_jax()
        assert x.dtype == "float64"
        assert x.unsafe_buffer_pointer() == address_of(vector)


def test_to_jax_is_a_read_lease(v4, jax):
    x = v4.to_jax()
    with pytest.raises(pyceedlike.CeedAccessError):
        v4.set_value(1)
    assert v4.norm(pyceedlike.NORM_1) == 6
    x.block_until_ready()
    del x
    assert eventually(lambda: v4.export_count == 0)
    v4.set_value(1)


def test_to_jax_shares_read_only_memory(jax, scalar):
    aligned = from_dlpack(jax.numpy.arange(64, dtype=scalar))  # read-only and aligned
    x = aligned.to_jax()
    assert x.unsafe_buffer_pointer() == address_of(aligned)


def test_to_jax_is_refused_while_a_writable_view_lives(v4, jax):
    view = np.from_dlpack(v4)
    with pytest.raises(BufferError, match="1 writable"):
        v4.to_jax()
    del view
    assert v4.to_jax().tolist() == [0, 1, 2, 3]


def test_to_jax_refuses_the_silent_downcast(jax):
    vector = vector_of(pyceedlike.Ceed(), range(4))
    jax.config.update("jax_enable_x64", False)
    with pytest.raises((ValueError, BufferError, TypeError), match="jax_enable_x64"):
        vector.to_jax()
    assert vector.export_count == 0
    with pytest.raises((ValueError, BufferError, TypeError), match="jax_enable_x64"):
        vector.jax().__enter__()
    assert vector.export_count == 0


def test_to_jax_of_single_precision_needs_no_64_bit_types(jax):
    jax.config.update("jax_enable_x64", False)
    vector = vector_of(pyceedlike.Ceed(scalar="float32"), range(4))
    assert vector.to_jax().unsafe_buffer_pointer() == address_of(vector)


def test_jax_block_lends_and_takes_back(v4, jax):
    with v4.jax() as x:
        assert x.unsafe_buffer_pointer() == address_of(v4)
        with pytest.raises(pyceedlike.CeedAccessError):
            v4.set_value(1)
        assert float(jax.jit(jax.numpy.sum)(x)) == 6
    assert x.is_deleted()
    assert v4.export_count == 0
    v4.set_value(1)


def test_jax_block_ends_on_an_exception(v4, jax):
    with pytest.raises(KeyError, match="mine"), v4.jax():
        raise KeyError("mine")
    assert v4.export_count == 0


def test_jax_block_takes_back_after_work_that_was_not_waited_for(ceed, jax):
    vector = vector_of(ceed, np.ones(100_000))
    work = jax.jit(lambda x: jax.numpy.sort(jax.numpy.sin(x)).sum())
    for _ in range(5):
        with vector.jax() as x:
            result = work(x)
        vector.set_value(1)
        assert float(result) == pytest.approx(100_000 * np.sin(1.0), rel=1e-4)


def test_jax_block_names_a_view_that_keeps_the_lease(v4, jax):
    kept = []
    with pytest.raises(pyceedlike.CeedAccessError, match=r"(?i)numpy"), v4.jax(timeout=0.05) as x:
        kept.append(np.asarray(x))
    assert v4.export_count == 1
    assert kept[0].tolist() == [0, 1, 2, 3]
    kept.clear()
    del x
    assert eventually(lambda: v4.export_count == 0)


def test_jax_block_waits_no_longer_than_told(v4, jax):
    kept = []
    with pytest.raises(pyceedlike.CeedAccessError, match=r"block_until_ready"), v4.jax(0) as x:
        kept.append(np.asarray(x))
    del x


def test_jax_block_whose_array_is_deleted_inside(v4, jax):
    with v4.jax() as x:
        x.delete()
    assert v4.export_count == 0


def test_jax_block_whose_array_is_donated(ceed, jax):
    vector = vector_of(ceed, np.arange(1000))
    double = jax.jit(lambda x: 2 * x, donate_argnums=0)
    with vector.jax() as x:
        result = double(x)
        result.block_until_ready()
    np.testing.assert_array_equal(values_of(vector), np.arange(1000))
    np.testing.assert_array_equal(np.asarray(result), 2 * np.arange(1000))


def test_jax_block_of_a_vector_without_values(ceed, jax):
    with pytest.raises((pyceedlike.CeedIncompleteError, BufferError)):
        ceed.Vector(3).jax().__enter__()


def test_a_plain_jax_import_is_a_shared_export(v4, jax):
    x = jax.dlpack.from_dlpack(v4)
    v4.set_value(5)
    assert np.asarray(x).tolist() == [5, 5, 5, 5]


def test_a_jax_result_comes_back_without_a_copy(ceed, jax, scalar):
    vector = vector_of(ceed, range(100))
    with vector.jax() as x:
        result = jax.jit(lambda x: 2 * x + 1)(x)
    back = from_dlpack(result)
    assert address_of(back) == result.unsafe_buffer_pointer()
    np.testing.assert_array_equal(values_of(back), 2 * np.arange(100, dtype=scalar) + 1)


def test_the_array_of_a_partner_is_let_go_with_the_vector(scalar):
    array = np.arange(4, dtype=scalar)
    gone = weakref.ref(array)
    vector = from_dlpack(array)
    del array
    gc.collect()
    assert gone() is not None
    del vector
    assert eventually(lambda: gone() is None)


@pytest.mark.parametrize("scalar", SCALARS)
def test_what_shares_with_numpy_shares_with_all(torch, jax, tvm_ffi, scalar):
    vector = vector_of(pyceedlike.Ceed(scalar=scalar), range(6))
    views = [
        np.from_dlpack(vector),
        torch.from_dlpack(vector).numpy(),
        np.asarray(jax.dlpack.from_dlpack(vector)),
        np.from_dlpack(tvm_ffi.from_dlpack(vector)),
    ]
    views[0][2] = 77
    assert [float(view[2]) for view in views] == [77] * 4
