# SPDX-License-Identifier: BSD-2-Clause
"""QFunctions of Python functions: engines, how long memory lives, and what may go wrong."""

import contextlib
import gc
import importlib.util
import subprocess
import sys
import traceback
import weakref

import numpy as np
import pytest
from helpers import run_well, values_of, vector_of

import pyceedlike
from pyceedlike import (
    BASIS_NONE,
    VECTOR_ACTIVE,
    Data,
    Grad,
    Interp,
)

numba = pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="numba is not installed")


@pytest.fixture(scope="module", autouse=True)
def folder_of_compiled_code(tmp_path_factory):
    """A cache of these tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def applied(qf, ceed, q, *inputs, size=None):
    """Return what a QFunction of one output makes of its inputs at q points."""
    out = ceed.Vector(q if size is None else size)
    qf.apply(q, [vector_of(ceed, x) for x in inputs], [out])
    return values_of(out)


def pointwise(ceed, qf, n):
    """Return the operator that a QFunction of `u` to `v` is at n points."""
    op, rstr = ceed.Operator(qf), ceed.StridedElemRestriction(1, n, 1, n, (1, 1, n))
    for name in ("u", "v"):
        op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)
    return op


# ---- Engines -------------------------------------------------------------------------------------


def flux(du, qdata, *, k=2.0, n=3, on=True, w=(1.0, 2.0)):
    """
    CeedScalar factor = on ? k * w[1] + n : 0;
    for (int d = 0; d < 2; d++) dv[d][i] = factor * qdata[i] * du[d][i];
    """
    factor = k * w[1] + n if on else 0
    return factor * qdata * du


def expected_flux(du, qdata, k=2.0, n=3, on=True, w=(1.0, 2.0)):
    return np.array(du) * np.array(qdata) * ((k * w[1] + n) * on)


@pytest.fixture(scope="module")
def engines():
    """QFunctions of the same function by every engine that is installed, in both precisions."""
    made = {}
    for scalar in ("float64", "float32"):
        ceed = pyceedlike.Ceed(scalar=scalar)
        for engine in ("numpy", "c", "numba"):
            if engine == "c" or importlib.util.find_spec(engine):
                make = ceed.qfunction(Grad(2), Data(), dv=Grad(2), engine=engine)
                made[engine, scalar] = make(flux)
    return made


def test_a_context_tells_what_its_fields_hold(ceed):
    context = ceed.QFunctionContext(a=1.5, n=[1, 2], on=True)
    context.set_fields(a=2.5)
    assert context.get_fields() == {"a": 2.5, "n": [1, 2], "on": True}
    assert ceed.QFunctionContext().get_fields() == {}


@pytest.mark.parametrize("engine", ["numpy", "c", pytest.param("numba", marks=numba)])
def test_engines_run_the_same_physics(engines, engine, scalar):
    qf = engines[engine, scalar]
    du, qdata = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0.5, 2.0, -1.0]
    for values in ({}, {"k": -1.5, "n": -2}, {"w": [0.0, 4.0]}, {"on": False}):
        qf.context.set_fields(**{"k": 2.0, "n": 3, "on": True, "w": (1.0, 2.0)} | values)
        np.testing.assert_allclose(
            applied(qf, qf.ceed, 3, np.ravel(du), qdata, size=6),
            np.ravel(expected_flux(du, qdata, **values)),
            rtol=1e-6,
        )


def test_a_plain_function_is_jitted_by_the_engine_jax(ceed, jax):
    qf = ceed.qfunction(Data(), v=Data(), engine="jax")(lambda u: jax.numpy.where(u > 1, u, -u))
    np.testing.assert_array_equal(applied(qf, ceed, 2, [1, 5]), [-1, 5])


def test_an_engine_that_there_is_not_is_refused_with_the_list(ceed):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="'fortran' is none of numpy, jax"):
        ceed.qfunction(Data(), v=Data(), engine="fortran")(lambda u: u)


# C


def test_several_results_and_shapes_are_arrays_in_c(ceed):
    @ceed.qfunction(Grad(2, 3), s=Interp(), t=Data(3, 2), engine="c")
    def transpose(du):
        """s[i] = 0;
        for (int d = 0; d < 2; d++) {
          for (int c = 0; c < 3; c++) s[i] += du[d][c][i], t[c][d][i] = du[d][c][i];
        }"""

    du = np.arange(24.0).reshape(2, 3, 4)
    s, t = ceed.Vector(4), ceed.Vector(24)
    transpose.apply(4, [vector_of(ceed, du.ravel())], [s, t])
    np.testing.assert_array_equal(values_of(s), du.sum(axis=(0, 1)))
    np.testing.assert_array_equal(values_of(t), du.swapaxes(0, 1).ravel())


def test_c_code_fails_with_its_own_code_and_text(ceed):
    @ceed.qfunction(Data(), v=Data(), engine="c")
    def check(u):
        """if (u[i] < 0) return CeedError(NULL, 42, "point %d is negative", i);
        v[i] = u[i];"""

    np.testing.assert_array_equal(applied(check, ceed, 2, [1, 2]), [1, 2])
    with pytest.raises(pyceedlike.CeedError, match="point 1 is negative"):
        applied(check, ceed, 2, [1, -2])


def test_c_code_that_does_not_compile_is_shown_by_its_line(ceed):
    def wrong(u):
        """v[i] = u[i];
        v[i] = nothing;"""

    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"wrong:2:.*nothing"):
        ceed.qfunction(Data(), v=Data(), engine="c")(wrong)


def test_c_code_needs_a_docstring_and_names_that_are_free(ceed):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="no docstring"):
        ceed.qfunction(Data(), v=Data(), engine="c")(lambda u: u)

    def taken(i):
        """v[i] = i[i];"""

    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"'i' of .*taken"):
        ceed.qfunction(Data(), v=Data(), engine="c")(taken)


# numba


@numba
@pytest.mark.parametrize("name", ["double", "default", "linux", "M_PI", "NULL"])
def test_words_of_c_are_no_names_of_values_in_c_code(ceed, name):
    function = eval(f"lambda u, *, {name}=1.0: None")
    function.__doc__ = "v[i] = u[i];"
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=f"'{name}' .* another meaning in C"):
        ceed.qfunction(Data(), v=Data(), engine="c")(function)


@pytest.mark.parametrize("name", ["gamma", "y0", "double"])
def test_c_code_may_be_that_of_a_function_with_a_name_of_c(ceed, name):
    def function(u, *, index=2.0):
        """v[i] = index * u[i];"""

    function.__name__ = name
    qf = ceed.qfunction(Data(), v=Data(), engine="c")(function)
    np.testing.assert_array_equal(applied(qf, ceed, 2, [1, 2]), [2, 4])


def test_numba_is_called_for_blocks_of_points_and_fails_with_the_python_exception(scalar):
    ceed = pyceedlike.Ceed(scalar=scalar)

    @ceed.qfunction(Data(), v=Data(), engine="numba")
    def check(u):
        v = np.empty_like(u)
        for i in range(len(u)):
            if u[i] < 0:
                raise ValueError("a negative density")
            v[i] = 2 * u[i]
        return v[: len(u) - (u[0] == 7)]

    op = pointwise(ceed, check, 50)
    u = np.arange(50.0) + 10
    np.testing.assert_array_equal(values_of(op(vector_of(ceed, u))), 2 * u)
    u[31] = -1
    with pytest.raises(ValueError, match="a negative density") as caught:
        op(vector_of(ceed, u))
    assert "check" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"the output 'v' of .*check has shape"):
        op(vector_of(ceed, np.full(50, 7.0)))


@numba
def test_numba_may_not_write_to_inputs(ceed):
    import numba as nb

    def spoil(u):
        u[0] = 0
        return u

    with pytest.raises(nb.core.errors.TypingError, match="readonly"):
        ceed.qfunction(Data(), v=Data(), engine="numba")(spoil)


@numba
@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (lambda u: 1.0, pyceedlike.CeedIncompatibleError, "'v' of .* is .*float"),
        (lambda u: u > 0, pyceedlike.CeedIncompatibleError, "'v' of .* array of float64"),
        (lambda u: u.astype(np.float32), pyceedlike.CeedIncompatibleError, "float32, .* float64"),
        (lambda u: (u, u), pyceedlike.CeedIncompatibleError, "'v' of "),
        (lambda u: u.reshape((1, -1)), pyceedlike.CeedDimensionError, "2 axes, 1 are wanted"),
    ],
)
def test_what_numba_would_return_is_checked_when_it_is_compiled(result, error, text):
    ceed = pyceedlike.Ceed()
    with pytest.raises(error, match=text):
        ceed.qfunction(Data(), v=Data(), engine="numba")(result)


# ---- Memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("through", ["qfunction", "operator"])
def test_an_array_that_a_function_keeps_outlives_everything(ceed, through):
    kept = []

    @ceed.qfunction(Data(), v=Data())
    def keep(u):
        kept.append(u)
        return 2 * u

    if through == "operator":
        pointwise(ceed, keep, 1000)(vector_of(ceed, np.arange(1000.0)))
    else:
        applied(keep, ceed, 1000, np.arange(1000.0))
    del keep
    gc.collect()
    np.testing.assert_array_equal(kept[0], np.arange(1000.0))


def test_an_array_that_jax_shows_without_jit_outlives_everything(ceed, jax):
    kept = []

    @jax.jit
    def keep(u):
        kept.append(u)
        return 2 * u

    op = pointwise(ceed, ceed.qfunction(Data(), v=Data())(keep), 1000)
    with jax.disable_jit():
        op(vector_of(ceed, np.arange(1000.0)))
    del op, keep
    gc.collect()
    np.testing.assert_array_equal(np.asarray(kept[0]), np.arange(1000.0))


def test_inputs_cannot_be_made_writable(ceed):
    u = np.ones(3, ceed.scalar)
    u.flags.writeable = False

    @ceed.qfunction(Data(), v=Data())
    def spoil(u):
        u.flags.writeable = True
        return u

    with pytest.raises(ValueError, match="WRITEABLE"):
        spoil.apply(3, [pyceedlike.Vector.from_dlpack(u)], [ceed.Vector(3)])


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_an_input_that_is_returned_is_copied_to_the_callers_vector(ceed, engine, jax):
    qf = ceed.qfunction(Data(), v=Data(), engine=engine)(lambda u: u)
    u, v = vector_of(ceed, [1, 2]), vector_of(ceed, [0, 0])
    qf.apply(2, [u], [v])
    u.set_value(5)
    np.testing.assert_array_equal(values_of(v), [1, 2])
    v.set_value(7)
    np.testing.assert_array_equal(values_of(u), [5, 5])


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_an_identity_is_assembled_and_transposed(ceed, engine, jax):
    op = pointwise(ceed, ceed.qfunction(Data(), v=Data(), engine=engine)(lambda u: u), 3)
    u, v = vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    for _ in range(2):
        np.testing.assert_array_equal(values_of(op.diagonal()), [1, 1, 1])
        op.apply_transpose(u, v)
        np.testing.assert_array_equal(values_of(v), [1, 2, 3])
        np.testing.assert_array_equal(values_of(op(u)), [1, 2, 3])


@pytest.mark.parametrize("engine", ["numpy", "jax"])
def test_results_are_written_to_memory_that_the_caller_lent(ceed, scalar, engine, jax):
    qf = ceed.qfunction(Data(), v=Data(), engine=engine)(lambda u: 2 * u)
    own, v = np.zeros(2, scalar), ceed.Vector(2)
    v.set_array(own, cmode=pyceedlike.USE_POINTER)
    qf.apply(2, [vector_of(ceed, [1, 2])], [v])
    np.testing.assert_array_equal(own, [2, 4])


@pytest.mark.parametrize(
    "x", [lambda u: np.repeat(u, 2)[::2], lambda u: np.asfortranarray(u), lambda u: np.flip(u)]
)
def test_results_may_have_strides(ceed, x):
    qf = ceed.qfunction(Data(), v=Data())(x)
    np.testing.assert_array_equal(applied(qf, ceed, 3, [1, 2, 3]), x(np.array([1, 2, 3])))


def test_results_with_masked_entries_are_refused(ceed):
    qf = ceed.qfunction(Data(), v=Data())(lambda u: np.ma.masked_less(u, 2))
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"'v' .* masked entries"):
        applied(qf, ceed, 3, [1, 2, 3])


def test_a_context_value_of_another_kind_is_refused_by_name(ceed):
    context = ceed.QFunctionContext(steps=3, is_on=True, rate=0.5)
    for name, value in {"steps": 2.5, "is_on": 2, "rate": "fast"}.items():
        with pytest.raises((TypeError, OverflowError), match=f"'{name}' is of type"):
            context.set_fields(**{name: value})


def test_an_operator_lets_go_of_results(ceed):
    class Array(np.ndarray):
        """An array that can be watched."""

    made = []

    @ceed.qfunction(Data(), v=Data())
    def double(u):
        result = (2 * u).view(Array)
        made.append(weakref.ref(result))
        return result

    op = pointwise(ceed, double, 3)
    np.testing.assert_array_equal(values_of(op(vector_of(ceed, [1, 2, 3]))), [2, 4, 6])
    gc.collect()
    assert made[0]() is None


# ---- Exceptions ----------------------------------------------------------------------------------


class FalsyError(Exception):
    """An exception that is false."""

    def __len__(self):
        return 0


class MuteError(Exception):
    """An exception whose text is an error itself."""

    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize("kind", [FalsyError, MuteError])
def test_odd_exceptions_reach_the_caller(ceed, kind, capfd):
    raised = kind()

    def fail(u):
        raise raised

    with pytest.raises(kind) as caught:
        pointwise(ceed, ceed.qfunction(Data(), v=Data())(fail), 3)(vector_of(ceed, [1, 2, 3]))
    assert caught.value is raised
    assert capfd.readouterr().err == ""


def test_an_interrupt_while_an_exception_is_kept_reaches_the_caller(ceed, capfd):
    class UnreadableError(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    def fail(u):
        raise UnreadableError

    with pytest.raises(KeyboardInterrupt):
        pointwise(ceed, ceed.qfunction(Data(), v=Data())(fail), 3)(vector_of(ceed, [1, 2, 3]))
    assert capfd.readouterr().err == ""


def test_an_exception_that_c_took_for_none_is_not_kept(ceed):
    class Array(np.ndarray):
        """An array that can be watched."""

    made = []

    def fail(u):
        local = u.copy().view(Array)
        made.append(weakref.ref(local))
        raise ValueError("nobody asked")

    op = pointwise(ceed, ceed.qfunction(Data(), v=Data())(fail), 3)
    u, v = vector_of(ceed, [1, 2, 3]), ceed.Vector(3)
    lib, ffi = op._library.lib, op._library.ffi
    handles = [ffi.cast("CeedVector", x.handle) for x in (u, v)]
    assert lib.CeedOperatorApply(ffi.cast("CeedOperator", op.handle), *handles, ffi.NULL)
    op.check_ready()
    gc.collect()
    assert made[0]() is None


def test_an_exception_is_raised_once_however_often_c_says_its_text(ceed):
    def fail(u):
        raise ValueError("once")

    op, u = pointwise(ceed, ceed.qfunction(Data(), v=Data())(fail), 3), vector_of(ceed, [1, 2, 3])
    with pytest.raises(ValueError, match="once"):
        op(u)
    library = op._library
    text = library.ffi.new("char[]", b"ValueError: once")
    code = library.lib.CeedErrorImpl(library.ffi.NULL, b"", 0, b"", 5, b"%s", text)
    with pytest.raises(pyceedlike.CeedAccessError, match="ValueError: once"):
        library.check(code)


def test_c_may_call_and_destroy_when_python_has_ended(ceed, tmp_path, compiler):
    (tmp_path / "keep.c").write_text("""
#include <ceedlike.h>
#include <stdio.h>
#include <stdlib.h>
static CeedOperator op; static CeedVector u, v;
static void last(void) {
  const char *text;
  int code = CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE);
  CeedGetErrorMessage(NULL, &text);
  printf("%d %s\\n", code, text);
  printf("%d\\n", CeedOperatorDestroy(&op));
  CeedVectorDestroy(&u), CeedVectorDestroy(&v);
}
void keep(CeedOperator an_op, CeedVector a_u, CeedVector a_v) {
  CeedOperatorReferenceCopy(an_op, &op);
  CeedVectorReferenceCopy(a_u, &u);
  CeedVectorReferenceCopy(a_v, &v);
  atexit(last);
}
""")
    flags = subprocess.run(
        [sys.executable, "-m", "pyceedlike", "--cflags", "--libs"],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    ).stdout.split()  # fmt: skip
    library = tmp_path / "keep.so"
    source = str(tmp_path / "keep.c")
    subprocess.run([*compiler, "-shared", "-fPIC", source, "-o", str(library), *flags], check=True)
    output = run_well(f"""
import cffi, numpy as np, pyceedlike
ceed = pyceedlike.Ceed()
op = ceed.Operator(ceed.qfunction(pyceedlike.Data(), v=pyceedlike.Data())(lambda u: u))
rstr = ceed.StridedElemRestriction(1, 3, 1, 3, None)
for name in "u", "v":
    op.set_field(name, rstr, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
u = pyceedlike.from_dlpack(np.ones(3))
v = op(u)
ffi = cffi.FFI()
ffi.cdef("void keep(void *, void *, void *);")
library = ffi.dlopen({str(library)!r})
library.keep(*(ffi.cast("void *", x.handle) for x in (op, u, v)))
""")
    code, destroyed = output.splitlines()
    assert "Python has ended" in code
    assert destroyed == "0"


# ---- Descriptions that are wrong -----------------------------------------------------------------


@pytest.mark.parametrize("make", [Interp, Data, Grad])
def test_shapes_are_of_numbers_from_one_on(make):
    for shape in ((-1, -1), (0,), (2, 0)):
        with pytest.raises(pyceedlike.CeedDimensionError, match="from 1 on"):
            make(*shape)
    with pytest.raises(TypeError):
        make(1.5)


@pytest.mark.parametrize("f", [lambda *us: us, lambda u, **values: u])
def test_inputs_and_values_must_have_names(ceed, f):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match=r"must name its inputs.*\*"):
        ceed.qfunction(Data(), v=Data())(f)


def test_names_are_not_cut(ceed):
    qf = ceed.QFunctionByName("MassApply")
    op, context = ceed.Operator(qf), ceed.QFunctionContext(a=1.0)
    context_of_bytes, rstr = ceed.QFunctionContext(), ceed.StridedElemRestriction(1, 1, 1, 1, None)
    context_of_bytes.set_data(bytes(8))
    for call in (
        lambda: setattr(op, "name", "a\0b"),
        lambda: op.set_field("u\0", rstr, BASIS_NONE, VECTOR_ACTIVE),
        lambda: qf.add_input("w\0", 1, pyceedlike.EVAL_NONE),
        lambda: ceed.QFunctionByName("MassApply\0"),
        lambda: context.set_fields(**{"a\0b": 2.0}),
        lambda: context_of_bytes.register("a\0b", "double", 0),
        lambda: ceed.QFunctionContext(**{"a\0b": 2.0}),
    ):
        with pytest.raises(pyceedlike.CeedIncompatibleError, match="no NUL"):
            call()


def test_a_c_function_is_an_address_or_has_one(ceed):
    for wrong in (len, 1.5, object()):
        with pytest.raises(TypeError, match="a C function is wanted"):
            ceed.QFunction(1, wrong, "x:f")


def test_context_values_are_all_set_or_none(ceed):
    context = ceed.QFunctionContext(a=1.0, b=2.0)
    scale = ceed.qfunction(Data(), v=Data())(lambda u, *, a=1.0, b=2: a * u)
    for wrong in ({"b": "x"}, {"b": [1, 2]}, {"c": 1}):
        with pytest.raises((TypeError, ValueError)):
            scale.context.set_fields(a=5.0, **wrong)
    np.testing.assert_array_equal(applied(scale, ceed, 2, [1, 2]), [1, 2])
    assert "a, b" in repr(context)


def test_strides_are_three(ceed):
    for strides in ((1,), (1, 1), (1, 1, 3, 1), ()):
        with pytest.raises(pyceedlike.CeedDimensionError, match="node, component and element"):
            ceed.StridedElemRestriction(1, 3, 1, 3, strides)
    rstr = ceed.StridedElemRestriction(1, 3, 1, 3, np.array([1, 1, 3]))
    np.testing.assert_array_equal(values_of(rstr @ vector_of(ceed, [1, 2, 3])), [1, 2, 3])


def test_an_operator_that_is_not_sound_has_a_repr(ceed):
    op = ceed.Operator(ceed.qfunction(Data(), Data(), v=Data())(lambda a, b: a + b))
    for name, n in (("a", 3), ("b", 3), ("v", 3)):
        rstr = ceed.StridedElemRestriction(1, 3, 1, n + (name == "b"), (1, 1, 3))
        with contextlib.suppress(pyceedlike.CeedDimensionError):
            op.set_field(name, rstr, BASIS_NONE, VECTOR_ACTIVE)
    assert repr(op).startswith("<pyceedlike.Operator ")


def test_complex_numbers_are_not_cut_to_real_ones():
    pytest.importorskip("scipy")
    ceed = pyceedlike.Ceed()
    op = pointwise(ceed, ceed.qfunction(Data(), v=Data())(lambda u: u), 3).to_scipy()
    with pytest.raises(TypeError, match="operators are real"):
        op @ (1j * np.ones(3))


# ---- C code in the cache -------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch, compiler):
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", " ".join(compiler))
    return tmp_path


def test_c_code_follows_the_headers_that_it_includes(ceed, cache):
    for factor in (2, 3):
        (cache / "factor.h").write_text(f"#define FACTOR {factor}\n")
        qf = ceed.QFunction(1, f"""
#include "{cache / "factor.h"}"
CEED_QFUNCTION(scale)(void *c, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {{
  for (CeedInt i = 0; i < Q; i++) out[0][i] = FACTOR * in[0][i];
  return 0;
}}
""", "test_qfunction.py:scale")  # fmt: skip
        qf.add_input("u", 1, pyceedlike.EVAL_NONE)
        qf.add_output("v", 1, pyceedlike.EVAL_NONE)
        np.testing.assert_array_equal(applied(qf, ceed, 2, [1, 2]), [factor, 2 * factor])


@pytest.mark.usefixtures("cache")
def test_c_code_that_is_no_function_is_refused(ceed):
    with pytest.raises(pyceedlike.CeedIncompatibleError, match="does not compile"):
        ceed.QFunction(1, "int f = 3;", "x:f")


def test_a_relative_cache_folder_is_ignored(ceed, cache, monkeypatch):
    monkeypatch.chdir(cache)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(cache / "home"))
    code = """
CEED_QFUNCTION(f)(void *c, CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  return 0;
}
"""
    ceed.QFunction(1, code, "x:f")
    assert not (cache / "relative").exists()
    assert list((cache / "home" / ".cache" / "pyceedlike").glob("*.so"))
