# SPDX-License-Identifier: BSD-2-Clause
"""Many threads on one vector and on one capsule."""

import sys
import threading

import numpy as np
import pytest
from helpers import (
    RUNS,
    OneCapsule,
    Producer,
    address_of,
    eventually,
    fake_over,
    run_well,
    values_of,
    vector_of,
)

import pyceedlike
from pyceedlike import from_dlpack


@pytest.fixture(autouse=True)
def switching_often():
    """Let threads take turns as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work, count):
    """Run work(i) in as many threads, all beginning at once; return results and exceptions."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(i):
        barrier.wait()
        try:
            results[i] = work(i)
        except Exception as error:
            results[i] = error.with_traceback(None)  # a traceback would keep the results

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def failures(results):
    return [result for result in results if isinstance(result, Exception)]


@pytest.mark.parametrize("version", [None, (1, 3)], ids=["legacy", "versioned"])
@pytest.mark.parametrize("copy", [None, True])
def test_one_thread_gets_the_capsule(partner, scalar, version, copy):
    array = np.arange(4, dtype=scalar)
    for _ in range(5 * RUNS):
        fake = fake_over(partner, array, version)
        capsule = fake.capsule()
        results = together(
            lambda _, capsule=capsule: from_dlpack(OneCapsule(capsule), copy=copy), 8
        )
        winners = [r for r in results if not isinstance(r, Exception)]
        assert len(winners) == 1
        assert all(isinstance(r, (ValueError, BufferError)) for r in failures(results))
        assert fake.calls == (copy is True)
        del winners, results, capsule
        assert eventually(lambda fake=fake: fake.calls == 1)


def test_one_thread_takes_the_capsule_of_ours(ceed):
    vector = vector_of(ceed, range(4))
    for _ in range(5 * RUNS):
        capsule = vector.__dlpack__(max_version=(1, 0))
        results = together(lambda _, c=capsule: from_dlpack(OneCapsule(c)), 8)
        assert len(failures(results)) == 7
        del results, capsule
    assert eventually(lambda: vector.export_count == 0)


@pytest.mark.parametrize("max_version", [None, (1, 0)], ids=["legacy", "versioned"])
def test_exports_of_one_vector_balance(ceed, max_version):
    vector = vector_of(ceed, range(100))
    references = sys.getrefcount(vector)
    address = address_of(vector)

    def work(_):
        for _ in range(200):
            view = from_dlpack(Producer(lambda: vector.__dlpack__(max_version=max_version)))
            other = np.from_dlpack(vector)
            assert other.ctypes.data == address
            assert view.handle != vector.handle
            memoryview(vector).release()
            del view, other

    assert failures(together(work, 8)) == []
    assert eventually(lambda: vector.export_count == 0)
    assert sys.getrefcount(vector) == references
    vector.set_value(1)


def test_sixteen_threads_on_one_vector(partner, ceed):
    """Each does something else with it; what is refused is refused cleanly, and all is let go."""
    vector = vector_of(ceed, range(100))

    def lend(_):
        with vector.array_read() as array:
            assert array[99] == 99

    def sink(_):
        held = partner.Sink(vector.__dlpack__(max_version=(1, 0)))
        held.release_in_thread(0)
        held.join()

    work = [
        lambda _: np.from_dlpack(vector)[99],
        lambda _: from_dlpack(np.from_dlpack(vector)).norm(),
        lambda _: vector.to_dlpack(mode="read", max_version=(1, 0)),
        lambda _: vector.to_dlpack(copy=True),
        lambda _: memoryview(vector).release(),
        lambda _: pyceedlike.Vector.from_handle(vector.handle).norm(),
        lend,
        sink,
    ]

    def repeat(i):
        refused = 0
        for k in range(5 * RUNS):
            try:
                work[i % len(work)](k)
            except BufferError:
                refused += 1
        return refused

    assert failures(together(repeat, 16)) == []
    assert eventually(lambda: vector.export_count == 0)
    assert values_of(vector).tolist() == list(range(100))
    vector.set_value(1)


def test_leases_of_one_vector_balance(ceed):
    vector = vector_of(ceed, range(100))

    def work(_):
        for _ in range(200):
            lease = vector.to_dlpack(mode="read", max_version=(1, 0))
            assert vector.export_count > 0
            del lease

    assert failures(together(work, 8)) == []
    assert vector.export_count == 0
    vector.set_value(1)


def test_only_one_thread_gets_a_write_lease(ceed):
    vector = vector_of(ceed, range(4))
    for _ in range(5 * RUNS):
        results = together(lambda _: vector.to_dlpack(mode="write", max_version=(1, 0)), 8)
        assert len(failures(results)) == 7
        assert all(isinstance(r, BufferError) for r in failures(results))
        del results
    assert vector.export_count == 0


def test_only_one_thread_gets_the_array(ceed):
    vector = vector_of(ceed, range(4))
    for _ in range(5 * RUNS):
        results = together(lambda _: vector.get_array(), 8)
        assert len(failures(results)) == 7
        vector.restore_array()


def test_deleters_in_foreign_threads_balance(partner, ceed):
    vector = vector_of(ceed, range(100))

    def work(i):
        for k in range(50):
            sink = partner.Sink(vector.__dlpack__(max_version=(1, 0) if k % 2 else None))
            sink.release_in_thread(0)
            np.from_dlpack(vector)
            sink.join()

    assert failures(together(work, 8)) == []
    assert vector.export_count == 0


def test_vectors_of_their_own_in_every_thread(ceed, scalar):
    def work(i):
        vector = vector_of(ceed, np.full(1000, i))
        for _ in range(50):
            vector.axpy(1, vector_of(ceed, np.ones(1000)))
            with vector.array_read() as values:
                assert values[0] == values[-1]
        return values_of(vector)[0]

    assert together(work, 16) == [i + 50 for i in range(16)]


def test_every_thread_has_its_own_error(ceed):
    vector = vector_of(ceed, range(4))

    def work(i):
        texts = set()
        for _ in range(50):
            try:
                vector.copy_from(ceed.Vector(1000 + i))
            except pyceedlike.CeedDimensionError as error:
                texts.add(str(error))
        return texts

    for i, texts in enumerate(together(work, 16)):
        assert len(texts) == 1
        assert str(1000 + i) in texts.pop()


def test_borrowed_memory_is_let_go_in_any_thread(partner, ceed, scalar):
    arrays = [np.zeros(10, dtype=scalar) for _ in range(8)]
    references = [sys.getrefcount(a) for a in arrays]

    def work(i):
        for _ in range(50):
            vector = ceed.Vector(10)
            vector.set_array(arrays[i], cmode=pyceedlike.USE_POINTER)
            sink = partner.Sink(vector.__dlpack__(max_version=(1, 0)))
            del vector
            sink.release_in_thread(0)
            sink.join()

    assert failures(together(work, 8)) == []
    assert eventually(lambda: [sys.getrefcount(a) for a in arrays] == references)


def test_sixteen_threads_make_and_destroy(scalar):
    def work(i):
        for n in range(100):
            ceed = pyceedlike.Ceed(scalar=scalar)
            vector = vector_of(ceed, np.arange(n + i))
            again = from_dlpack(np.from_dlpack(vector))
            del ceed, vector
            assert len(values_of(again)) == n + i

    assert failures(together(work, 16)) == []


FIRST_CALL = """
import sys, threading
import numpy as np
sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)
failed = []
def work(i):
    try:
        array = np.arange(4, dtype="float64" if i % 2 else "float32")
        barrier.wait()
        import pyceedlike
        v = pyceedlike.from_dlpack(array)
        w = np.from_dlpack(v)
        assert w.ctypes.data == array.ctypes.data
        with v.array() as a:
            a += 1
        assert array.tolist() == [1, 2, 3, 4]
        assert v.norm(pyceedlike.NORM_1) == 10
    except BaseException as error:
        failed.append(error)
        raise
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads: t.start()
for t in threads: t.join()
assert not failed
"""


def test_the_first_call_of_a_process_in_eight_threads():
    for _ in range(max(1, RUNS // 4)):
        run_well(FIRST_CALL)
