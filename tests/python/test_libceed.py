# SPDX-License-Identifier: BSD-2-Clause
"""libCEED's own Python objects: vectors in the memory of ours and back, QFunctions of ours."""

import gc
import weakref

import numpy as np
import pytest
from helpers import Memory, eventually

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


# --- QFunctions ------------------------------------------------------------------------------

SCALE = """
#include <ceed/ceed.h>
CEED_QFUNCTION(scale)(void *ctx, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const double factor = ctx ? *(double *)ctx : 1;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = factor * in[0][i] * in[1][i];
  return 0;
}
"""


def by_c(ceed, factor):
    qf = ceed.QFunction(1, SCALE, "scale.h:scale")
    for name in ("u", "w"):
        qf.add_input(name, 1, pyceedlike.EVAL_NONE)
    qf.add_output("v", 1, pyceedlike.EVAL_NONE)
    context = ceed.QFunctionContext()
    context.set_data(np.array([factor]))
    qf.set_context(context)
    return qf


def by_numba(ceed, factor):
    pytest.importorskip("numba")
    data = pyceedlike.Data()

    @ceed.qfunction(data, data, engine="numba", v=data)
    def scale(u, w, *, factor=1.0):
        return factor * u * w

    scale.context.set_fields(factor=factor)
    return scale


def by_jax(ceed, factor):
    pytest.importorskip("jax")
    from pyceedlike import Data, native

    @native.qfunction(Data(), Data(), v=Data())
    def scale(u, w, *, factor=1.0):
        return factor * u * w

    qf = scale.qfunction(ceed)
    qf.context.set_fields(factor=factor)
    return qf


@pytest.mark.parametrize("make", [by_c, by_numba, by_jax])
def test_a_qfunction_runs_in_libceed(make):
    theirs = make(pyceedlike.Ceed(), 3.0).to_libceed(CEED)
    gc.collect()
    u, w, v = map(their_vector, ([1, 2, 3], [4, 5, 6], [0, 0, 0]))
    theirs.apply(3, [u, w], [v])
    assert values_of(v) == [12, 30, 54]


@pytest.mark.parametrize("make", [by_c, by_numba, by_jax])
def test_an_operator_of_libceed_keeps_what_a_qfunction_stands_on(make):
    qf = make(pyceedlike.Ceed(), 2.0)
    kept = weakref.ref(qf)
    r = CEED.StridedElemRestriction(1, 3, 1, 3, np.array([1, 3, 3], "int32"))
    op = CEED.Operator(qf.to_libceed(CEED))
    del qf
    for name, vector in (
        ("u", libceed.VECTOR_ACTIVE),
        ("w", their_vector([4, 5, 6])),
        ("v", libceed.VECTOR_ACTIVE),
    ):
        op.set_field(name, r, libceed.BASIS_NONE, vector)
    gc.collect()
    u, v = their_vector([1, 2, 3]), their_vector([0, 0, 0])
    op.apply(u, v)
    assert values_of(v) == [8, 20, 36]
    assert kept() is not None
    del op
    assert eventually(lambda: kept() is None)


def test_gradients_and_components_have_their_places_in_libceed():
    """A vector field's values and slopes, on one element of libCEED's."""
    pytest.importorskip("jax")
    from pyceedlike import Grad, Interp, Weight, native

    @native.qfunction(Interp(2), Grad(2, 2), Weight(), v=Interp(2), dv=Grad(2, 2))
    def physics(u, du, w):
        return u * w, w * (du + 2 * du.T)

    def through(ceed, module, qf):
        offsets = np.arange(9, dtype="int32")
        r = ceed.ElemRestriction(1, 9, 2, 9, 18, offsets.reshape(1, 9) if ceed is ours else offsets)
        basis = ceed.BasisTensorH1Lagrange(2, 2, 3, 4, module.GAUSS)
        op = ceed.Operator(qf)
        for name in ("u", "du", "v", "dv"):
            op.set_field(name, r, basis, module.VECTOR_ACTIVE)
        op.set_field("w", module.ELEMRESTRICTION_NONE, basis, module.VECTOR_NONE)
        return op

    ours, numbers = pyceedlike.Ceed(), np.random.default_rng(1).random(18)
    qf = physics.qfunction(ours)
    expected = through(ours, pyceedlike, qf)(numbers).to_numpy()
    v = their_vector(np.zeros(18))
    through(CEED, libceed, qf.to_libceed(CEED)).apply(their_vector(numbers), v)
    np.testing.assert_allclose(values_of(v), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda ceed: ceed.qfunction(pyceedlike.Data(), v=pyceedlike.Data())(lambda u: u), "numba"),
        (lambda ceed: ceed.QFunctionByName("MassApply"), "gallery"),
    ],
    ids=["NumPy", "gallery"],
)
def test_what_has_no_c_function_is_refused(make, message):
    with pytest.raises(pyceedlike.CeedUnsupportedError, match=message):
        make(pyceedlike.Ceed()).to_libceed(CEED)


def test_a_qfunction_of_the_other_precision_is_refused():
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"float64.*float32"):
        by_c(pyceedlike.Ceed(scalar="float32"), 1.0).to_libceed(CEED)
