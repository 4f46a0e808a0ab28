# SPDX-License-Identifier: BSD-2-Clause
"""Faults that bindings of this kind had: each must be impossible here."""

import gc
import os
import tracemalloc
import weakref

import numpy as np
import pytest
from helpers import OTHER, address_of, churn, eventually, run_script, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import USE_POINTER, from_dlpack


@pytest.mark.parametrize("wrong", ["int64", "int32", "the other precision"])
@pytest.mark.parametrize("cmode", [pyceedlike.COPY_VALUES, USE_POINTER])
def test_numbers_of_another_type_are_not_reinterpreted(ceed, scalar, wrong, cmode):
    wrong = OTHER[scalar] if wrong.startswith("the") else wrong
    vector = vector_of(ceed, np.zeros(4))
    with pytest.raises(pyceedlike.CeedIncompatibleError) as error:
        vector.set_array(np.array([1, 2, 3, 4], dtype=wrong), cmode=cmode)
    for word in (wrong, scalar):
        assert word in str(error.value)
    assert ":" in str(error.value)  # and then the remedy
    assert values_of(vector).tolist() == [0, 0, 0, 0]


def test_every_second_entry_is_every_second_entry(ceed, scalar):
    vector = ceed.Vector(3)
    vector.set_array(np.arange(6, dtype=scalar)[::2])
    assert values_of(vector).tolist() == [0, 2, 4]


def test_every_second_entry_is_not_borrowed(ceed, scalar):
    vector = ceed.Vector(3)
    with pytest.raises(pyceedlike.CeedError, match="strides"):
        vector.set_array(np.arange(6, dtype=scalar)[::2], cmode=USE_POINTER)


@pytest.mark.parametrize("cmode", [pyceedlike.COPY_VALUES, USE_POINTER])
def test_five_values_do_not_fill_five_thousand(ceed, scalar, cmode):
    with pytest.raises(pyceedlike.CeedDimensionError, match=r"(?s)5\b.*5000|5000.*\b5\b"):
        ceed.Vector(5000).set_array(np.ones(5, dtype=scalar), cmode=cmode)


def test_a_read_only_array_is_not_overwritten(ceed, scalar):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    vector = ceed.Vector(4)
    vector.set_array(array, cmode=USE_POINTER)
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.set_value(9)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_read_only_array_can_be_read(ceed, scalar):
    array = np.arange(4, dtype=scalar)
    array.flags.writeable = False
    vector = ceed.Vector(4)
    vector.set_array(array, cmode=USE_POINTER)
    assert vector.norm(pyceedlike.NORM_1) == 6
    assert address_of(vector) == array.ctypes.data


@pytest.mark.parametrize("name", ["array", "array_read", "array_write"])
def test_an_exception_in_a_block_leaves_no_lock(ceed, name):
    vector = vector_of(ceed, range(4))
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), getattr(vector, name)():
            1 / 0  # noqa: B018
    vector.set_array(np.ones(4, dtype=vector.scalar), cmode=USE_POINTER)


def test_a_generator_that_is_dropped_in_a_block_leaves_no_lock(ceed):
    vector = vector_of(ceed, range(4))

    def values():
        with vector.array() as array:
            yield from array

    generator = values()
    next(generator)
    with pytest.raises(pyceedlike.CeedAccessError):
        vector.set_value(1)
    del generator
    gc.collect()
    vector.set_value(1)


def test_an_array_outlives_its_vector(ceed):
    vector = vector_of(ceed, np.arange(1000))
    with vector.array() as array:
        pass
    view = np.from_dlpack(vector)
    del vector
    churn()
    np.testing.assert_array_equal(array, np.arange(1000))
    np.testing.assert_array_equal(view, np.arange(1000))


def test_an_array_is_not_writable_after_its_access(ceed):
    vector = vector_of(ceed, range(4))
    array = vector.get_array()
    vector.restore_array()
    with pytest.raises(ValueError, match="read-only"):
        array[:] = 9
    assert values_of(vector).tolist() == [0, 1, 2, 3]


def test_what_is_borrowed_is_kept_alive_by_every_handle(ceed, scalar):
    array = np.arange(1000, dtype=scalar)
    alive = weakref.ref(array)
    vector = ceed.Vector(1000)
    vector.set_array(array, cmode=USE_POINTER)
    same = pyceedlike.Vector.from_handle(vector.handle)
    del array, vector
    churn()
    np.testing.assert_array_equal(values_of(same), np.arange(1000))
    del same
    assert eventually(lambda: alive() is None)


def test_numpys_memory_is_never_owned(ceed, scalar):
    vector = ceed.Vector(4)
    with pytest.raises(pyceedlike.CeedError):
        vector.set_array(np.ones(4, dtype=scalar), cmode=pyceedlike.OWN_POINTER)


def test_adopting_numpys_memory_goes_by_dlpack(ceed, scalar):
    array = np.ones(4, dtype=scalar)
    vector = ceed.Vector(4)
    vector.take_from_dlpack(array, cmode=pyceedlike.OWN_POINTER)
    assert address_of(vector) == array.ctypes.data
    del vector
    assert array.tolist() == [1, 1, 1, 1]


def test_the_environment_is_left_alone():
    run_well("""
import os, subprocess, sys
before = dict(os.environ)
import pyceedlike
for scalar in "float64", "float32":
    ceed = pyceedlike.Ceed("/cpu/self", scalar=scalar)
    ceed.Vector(3).set_value(1)
child = subprocess.run([sys.executable, "-c", "import os; print(sorted(os.environ))"],
                       capture_output=True, text=True)
assert child.stdout.strip() == str(sorted(before)), child.stdout
""")


def test_every_kind_of_failure_has_its_own_exception(ceed, scalar):
    vector = vector_of(ceed, range(4))
    failures = {
        ValueError: lambda: vector.copy_from(ceed.Vector(5)),
        RuntimeError: lambda: ceed.Vector(4).norm(),
        BufferError: lambda: vector.take_array(),
        NotImplementedError: lambda: vector.get_array(pyceedlike.MEM_DEVICE),
        TypeError: lambda: vector.axpy(1, None),
    }
    for expected, call in failures.items():
        with pytest.raises(expected):
            call()


def test_an_error_does_not_stay(ceed):
    vector = vector_of(ceed, range(4))
    with pytest.raises(pyceedlike.CeedDimensionError) as first:
        vector.copy_from(ceed.Vector(5))
    vector.set_value(1)
    with pytest.raises(pyceedlike.CeedIncompleteError) as second:
        ceed.Vector(4).norm()
    assert str(first.value) not in str(second.value)


@pytest.mark.parametrize("handler", ["store", "return", "exit", "abort", ""])
def test_python_gets_exceptions_with_texts_whatever_c_programs_are_told(handler):
    output = run_well(
        """
import pyceedlike
for scalar in "float64", "float32":
    vector = pyceedlike.Ceed(scalar=scalar).Vector(3)
    vector.set_value(1)
    for call in (
        lambda: vector.copy_from(vector.ceed.Vector(7000)),
        lambda: vector.take_array(),
        lambda: vector.to_dlpack(shape=(7000,), max_version=(1, 0)),
        lambda: pyceedlike.Ceed("/nowhere"),
    ):
        try:
            call()
        except pyceedlike.CeedError as error:
            print(str(error))
""",
        CEED_ERROR_HANDLER=handler,
    )
    texts = output.splitlines()
    assert len(texts) == 8
    assert "7000" in texts[0]
    assert "/nowhere" in texts[3]
    assert not [text for text in texts if "No error message" in text]


def test_a_handler_that_there_is_not_is_told_at_the_import():
    done = run_script("import pyceedlike", CEED_ERROR_HANDLER="abrt")
    assert done.returncode == 1
    assert "CEED_ERROR_HANDLER=abrt is none of store, return" in done.stderr.splitlines()[-1]


def test_memory_that_is_not_there_is_a_memory_error(ceed):
    with pytest.raises(MemoryError) as error:
        ceed.Vector(2**50).set_value(1)
    assert isinstance(error.value, pyceedlike.CeedMemoryError)
    assert str(error.value)


def test_printing_a_vector_makes_no_file(ceed, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    before = len(os.listdir("/proc/self/fd"))
    vector = vector_of(ceed, range(4))
    assert "4" in vector.view()
    assert "4" in repr(vector)
    assert str(ceed)
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_producers_deleter_runs_once_when_we_let_go(partner, scalar):
    array = np.arange(4, dtype=scalar)
    fake = partner.Fake(array.ctypes.data, (4,), dtype=(2, 8 * array.itemsize, 1), version=(1, 3))

    class Source:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **request):
            return fake.capsule()

    vector = from_dlpack(Source())
    churn()
    assert fake.calls == 0
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    del vector
    assert fake.calls == 1


@pytest.mark.parametrize("triple", [(0, 64, 1), (0, 32, 1), (5, 64, 1), (1, 64, 1), (1, 32, 1)])
def test_bits_alone_do_not_make_a_type(partner, triple):
    fake = partner.Fake(partner.forbidden_page(), (4,), dtype=triple, version=(1, 0))

    class Source:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **request):
            return fake.capsule()

    with pytest.raises(pyceedlike.CeedIncompatibleError):
        from_dlpack(Source())


@pytest.mark.parametrize("n", [0, 1, 7, 100_003])
def test_axpby_is_alpha_x_plus_beta_y(ceed, random, n):
    x, y = random.integers(-9, 9, n), random.integers(-9, 9, n)
    vector = vector_of(ceed, y)
    vector.axpby(2, 3, vector_of(ceed, x))
    np.testing.assert_array_equal(values_of(vector), 2 * x + 3 * y)


def test_work_on_vectors_leaks_no_python_memory(ceed, scalar):
    array = np.arange(100, dtype=scalar)

    def work():
        vector = ceed.Vector(100)
        vector.set_array(array, cmode=USE_POINTER)
        with vector.array() as values:
            values += 1
        del values
        np.from_dlpack(vector)
        from_dlpack(array).axpy(1, vector)
        vector.take_array()
        with pytest.raises(pyceedlike.CeedError):
            vector.norm()

    for _ in range(20):
        work()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        work()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000
