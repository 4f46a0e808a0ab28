# SPDX-License-Identifier: BSD-2-Clause
"""The end of things: of programs, threads and objects, in any order."""

import gc
import itertools
import os
import shutil
import subprocess
import sys
import weakref

import numpy as np
import pytest
from helpers import ROOT, RUNS, churn, eventually, run_script, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import USE_POINTER, from_dlpack

#: How often each program is run to its end.
ENDS = max(1, RUNS // 4)

#: Newer Pythons warn of any fork where a library has started threads.
FORKING = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}

# What the programs have in common: a bit of everything that can be alive at the end.
BEGIN = """
import sys, threading, atexit, gc
import numpy as np, pyceedlike
import _partner
from pyceedlike import Ceed, Vector, from_dlpack

def everything(n=100):
    ceed = Ceed(scalar="float32")
    own = ceed.Vector(n)
    own.set_value(1)
    lent = np.ones(n)
    borrowing = Ceed().Vector(n)
    borrowing.set_array(lent, cmode=pyceedlike.USE_POINTER)
    from_bytes = from_dlpack(memoryview(bytearray(8 * n)).cast("d"))
    block = borrowing.array_read()
    out = Ceed().Vector(n)
    out.set_value(3)
    return [
        ceed, own, lent, borrowing, from_bytes, from_dlpack(np.ones(n)), from_dlpack([1, 2, 3]),
        own.__dlpack__(), own.__dlpack__(max_version=(1, 0)), borrowing.__dlpack__(),
        own.to_dlpack(copy=True), from_bytes.__dlpack__(max_version=(1, 0)),
        np.from_dlpack(own), memoryview(borrowing), from_dlpack(own),
        _partner.Sink(borrowing.__dlpack__(max_version=(1, 0))), _partner.Sink(own.__dlpack__()),
        block, out, out.get_array(), Vector.from_handle(own.handle),
    ]

class Cycle:
    def __init__(self):
        self.me, self.things = self, everything()
"""

# A function of Python that C calls.
CALL = """
import os, signal
data = pyceedlike.Data()
u, v = Ceed().Vector(4), Ceed().Vector(4)
u.set_value(1)
v.set_value(0)
def call(law):
    u.ceed.qfunction(data, v=data)(law).apply(4, [u], [v])
"""

PROGRAMS = {
    "module globals": "things = everything()",
    "a reference cycle": "cycle = Cycle(); del cycle",
    "a living reference cycle": "cycle = Cycle()",
    "a thread-local": """
local = threading.local()
local.things = everything()
def work():
    local.things = everything()
for t in [threading.Thread(target=work) for _ in range(2)]:
    t.start(); t.join()
""",
    "atexit": """
things = everything()
atexit.register(things.clear)
atexit.register(everything)
""",
    "sys.exit in a thread": """
things = everything()
def work():
    mine = everything()
    sys.exit(3)
t = threading.Thread(target=work); t.start(); t.join()
""",
    "a daemon thread at work": """
things = everything()
def work():
    while True:
        everything(10)
threading.Thread(target=work, daemon=True).start()
""",
    "a builtin": "import builtins; builtins.things = everything()",
    "sys.modules": "sys.modules['things'] = everything()",
    "the module's own namespace": "pyceedlike.things = everything(); np.things = everything()",
    "an exception with a traceback": """
def fail():
    things = everything()
    raise KeyError("mine")
try:
    fail()
except KeyError as error:
    kept = error
""",
    "a generator in a block": """
def values():
    v = Ceed().Vector(3)
    v.set_value(1)
    with v.array() as array:
        things = everything()
        yield array
generator = values()
next(generator)
""",
    "a deleter in a thread at exit": """
sinks = [thing for thing in everything() if isinstance(thing, _partner.Sink)]
for sink in sinks:
    sink.release_in_thread(0.02)
""",
    "sixteen deleters in threads, before, at and after the end": """
lent = bytearray(800)
v = from_dlpack(memoryview(lent).cast("d"))
sinks = [_partner.Sink(v.__dlpack__(max_version=(1, 0))) for _ in range(16)]
for i, sink in enumerate(sinks):
    sink.release_in_thread(0.002 * i)
del lent, v
""",
    "sixteen threads at work on one vector": """
v = from_dlpack(np.ones(100))
def work():
    while True:
        view = np.from_dlpack(v)
        from_dlpack(view), memoryview(v), v.__dlpack__()
for _ in range(16):
    threading.Thread(target=work, daemon=True).start()
""",
    "threads that end after the main thread": """
import time
things = everything()
def work():
    mine = everything()
    time.sleep(0.02)
    mine += things
for _ in range(4):
    threading.Thread(target=work).start()
""",
    "a pool of threads": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(4)
results = [pool.submit(everything, 10) for _ in range(8)]
""",
    "an exception in flight in a thread": """
def work():
    things = everything()
    try:
        raise KeyError("mine")
    finally:
        _partner.Sink(things[1].__dlpack__()).release_in_thread(0.001)
        more = everything()
threading.excepthook = lambda arguments: None
t = threading.Thread(target=work); t.start(); t.join()
""",
    "weakref.finalize": """
import weakref
v = Ceed().Vector(3)
v.set_value(1)
class Thing: pass
thing = Thing()
def end():
    assert np.from_dlpack(v)[2] == v.norm(pyceedlike.NORM_MAX) == 1
weakref.finalize(thing, end)
things = everything()
""",
    "a package that was loaded anew": """
import importlib
things = everything()
importlib.reload(pyceedlike)
things += everything()
for name in [name for name in sys.modules if name.partition(".")[0] == "pyceedlike"]:
    del sys.modules[name]
import pyceedlike
v = pyceedlike.from_dlpack(np.ones(3))
v.axpy(2.0, pyceedlike.from_dlpack(np.ones(3)))
assert v.norm(pyceedlike.NORM_1) == 9
""",
    "a function that C calls and that was interrupted": CALL
    + """
def law(u):
    signal.raise_signal(signal.SIGINT)
    return u
try:
    call(law)
except KeyboardInterrupt:
    things = everything()
u.scale(2)
v.set_value(1)
""",
    "an exception in flight at exit": """
def work():
    try:
        raise KeyError("mine")
    finally:
        things = everything()
        sys.exit(0)
work()
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_ends_well_with_things_alive_in(script_paths, program):
    for _ in range(ENDS):
        run_well(BEGIN + PROGRAMS[program], paths=script_paths)


@pytest.mark.parametrize("program", ["module globals", "a reference cycle", "a thread-local"])
def test_a_program_ends_well_in_development_mode(script_paths, program):
    run_well(BEGIN + PROGRAMS[program], paths=script_paths, PYTHONDEVMODE="1")


def test_a_program_that_fails_says_only_why(script_paths):
    script = BEGIN + "things = everything(); raise SystemExit(7)"
    done = run_script(script, paths=script_paths)
    assert (done.returncode, done.stderr) == (7, "")


ENDINGS = {
    "sys.exit in a block": (4, "with everything()[1].array(): sys.exit(4)"),
    "sys.exit in a function that C calls": (3, CALL + "call(lambda u: sys.exit(3))"),
    "os._exit": (5, "import os; things = everything(); os._exit(5)"),
    "os._exit in a function that C calls": (6, CALL + "call(lambda u: os._exit(6))"),
    "SIGTERM": (-15, "import signal; things = everything(); signal.raise_signal(signal.SIGTERM)"),
    "SIGTERM in a function that C calls": (
        -15, CALL + "call(lambda u: signal.raise_signal(signal.SIGTERM))"
    ),
}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_ends_as_it_says_by(script_paths, ending):
    code, script = ENDINGS[ending]
    for _ in range(ENDS):
        done = run_script(BEGIN + "things = everything()\n" + script, paths=script_paths)
        assert (done.returncode, done.stderr) == (code, "")


def test_an_interrupt_ends_a_program_in_a_function_that_c_calls(script_paths):
    script = BEGIN + CALL + "things = everything(); call(lambda u: signal.raise_signal(2))"
    for _ in range(ENDS):
        done = run_script(script, paths=script_paths)
        assert done.returncode == -2
        assert done.stderr.count("Traceback") == 1
        assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_an_exception_that_ends_the_program_is_all_that_is_said(script_paths):
    script = (
        BEGIN
        + """
def fail():
    things = everything()
    raise KeyError("mine")
fail()
"""
    )
    for _ in range(ENDS):
        done = run_script(script, paths=script_paths)
        assert done.returncode == 1
        first, *_, last = done.stderr.splitlines()
        assert first.startswith("Traceback")
        assert last == "KeyError: 'mine'"
        assert "ignored" not in done.stderr


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_program_ends_well_with_a_partners_tensors(script_paths, request, library):
    request.getfixturevalue(library)
    script = """
import numpy as np, pyceedlike
v = pyceedlike.Ceed(scalar="float32").Vector(100)
v.set_value(1)
if {library!r} == "torch":
    import torch
    out, back = torch.from_dlpack(v), pyceedlike.from_dlpack(torch.ones(5))
else:
    import jax
    out, back = jax.dlpack.from_dlpack(v), pyceedlike.from_dlpack(jax.numpy.ones(5))
class Cycle: pass
cycle = Cycle(); cycle.me = cycle; cycle.held = out, back, v
"""
    for _ in range(max(1, RUNS // 10)):
        run_well(script.format(library=library), paths=script_paths)


def test_a_program_ends_well_while_jax_computes(script_paths, jax):
    script = """
import jax, pyceedlike
v = pyceedlike.Ceed(scalar="float32").Vector(4000)
v.set_value(1)
pending = jax.jit(lambda x: (x[:, None] * x).sum())(v.to_jax())
w = pyceedlike.Ceed(scalar="float32").Vector(4000)
w.set_value(1)
block = w.jax()
x = block.__enter__()
"""
    for _ in range(max(1, RUNS // 10)):
        run_well(script, paths=script_paths)


def test_a_program_ends_well_while_jax_calls_python_and_c(script_paths, jax):
    script = """
import time, jax
jax.config.update("jax_enable_x64", True)
data = pyceedlike.Data()
ceed = Ceed()
@ceed.qfunction(data, v=data, engine="c")
def twice(u):
    \"\"\"v[i] = 2 * u[i];\"\"\"
n = 20000
nodes = ceed.ElemRestriction(4, n // 4, 1, 1, n, np.arange(n))
operator = ceed.Operator(twice)
for name in "u", "v":
    operator.set_field(name, nodes, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
def host(x):
    time.sleep(0.01)
    return np.asarray(from_dlpack(np.asarray(x)).norm())
f = jax.jit(operator.jax())
norm = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), x.dtype), f(x)))
v = ceed.Vector(n)
v.set_value(1)
pending = [norm(v.to_jax()) for _ in range(4)] + [f(v.to_jax()) for _ in range(4)]
"""
    for _ in range(max(1, RUNS // 10)):
        run_well(BEGIN + script, paths=script_paths)


def test_an_interrupt_ends_the_wait_for_a_lease(script_paths, jax):
    script = """
import signal, time, jax
v = Ceed(scalar="float32").Vector(64)
v.set_value(1)
threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
begin = time.monotonic()
try:
    with v.jax(timeout=200) as x:
        view = np.asarray(x)
except KeyboardInterrupt:
    pass
assert 0.1 < time.monotonic() - begin < 100
del view, x
gc.collect()
v.scale(2)
"""
    for _ in range(max(1, RUNS // 10)):
        run_well(BEGIN + script, paths=script_paths)


def test_a_forked_child_may_go_on(script_paths):
    script = """
import os
things = everything()
child = os.fork()
if child == 0:
    things.append(everything())
    things[6].scale(2)
    things.clear()
    gc.collect()
    more = everything()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert float(things[12][0]) == 1
"""
    for _ in range(ENDS):
        run_well(BEGIN + script, paths=script_paths, **FORKING)


def test_a_forked_child_may_end_normally(script_paths):
    script = """
import os
things = everything()
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""
    for _ in range(ENDS):
        run_well(BEGIN + script, paths=script_paths, **FORKING)


def test_a_child_may_be_forked_while_sixteen_threads_work(script_paths):
    script = """
import os
v = from_dlpack(np.ones(100))
done = threading.Event()
def work():
    while not done.is_set():
        everything(10)
        np.from_dlpack(v)
threads = [threading.Thread(target=work) for _ in range(16)]
for t in threads: t.start()
child = os.fork()
if child == 0:
    more = everything()
    assert np.from_dlpack(v).sum() == 100
    del more
    os._exit(0)
_, status = os.waitpid(child, 0)
done.set()
for t in threads: t.join()
assert status == 0, status
"""
    for _ in range(ENDS):
        done = run_script(BEGIN + script, paths=script_paths)
        assert done.returncode == 0, done.stderr


def test_a_process_pool_may_work_with_what_it_inherits(script_paths):
    script = """
import multiprocessing
things = everything()
def work(i):
    mine = everything(10 + i)
    return float(things[12][0]) + len(mine[1])
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(4)) == [11.0, 12.0, 13.0, 14.0]
    pool.close()
    pool.join()
"""
    for _ in range(ENDS):
        run_well(BEGIN + script, paths=script_paths, **FORKING)


def test_workers_may_be_spawned(script_paths):
    script = """
import multiprocessing
things = everything()
with multiprocessing.get_context("spawn").Pool(2) as pool:
    assert pool.map(pyceedlike.explain, [1.0, 2.0])[1].outcome == "copy"
    pool.close()
    pool.join()
"""
    for _ in range(max(1, RUNS // 10)):
        run_well(BEGIN + script, paths=script_paths)


def test_a_child_of_a_thread_sees_the_lease(script_paths):
    script = """
import os
v = from_dlpack(np.ones(100))
lease = v.to_dlpack(mode="read", max_version=(1, 0))
def work():
    child = os.fork()
    if child == 0:
        things = everything()
        try:
            v.scale(2)
        except pyceedlike.CeedAccessError:
            os._exit(7)
        os._exit(1)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
statuses = []
t = threading.Thread(target=work); t.start(); t.join()
assert statuses == [7]
del lease
v.scale(2)
"""
    for _ in range(ENDS):
        run_well(BEGIN + script, paths=script_paths, **FORKING)


def test_an_import_in_a_thread_that_ends(script_paths):
    run_well(
        """
import threading
def work():
    import pyceedlike
    v = pyceedlike.Ceed().Vector(3)
    v.set_value(1)
    keep.append(v)
keep = []
t = threading.Thread(target=work); t.start(); t.join()
assert keep[0].norm(0) == 3
""",
        paths=script_paths,
    )


SUBINTERPRETER = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    try:
        import _interpreters as interpreters
    except ImportError:
        sys.exit()
things = everything()
sinks = [thing for thing in things if isinstance(thing, _partner.Sink)]
inner = interpreters.create()
try:
    interpreters.run_string(inner, '''
try:
    import pyceedlike
except ImportError:
    pass
else:
    v = pyceedlike.Ceed().Vector(3)
    v.set_value(1)
    del v
''')
except Exception:
    pass
for sink in sinks:
    sink.release_in_thread(0)
    sink.join()
more = everything()
try:
    interpreters.destroy(inner)
except Exception:
    pass
last = everything()
"""


def test_a_subinterpreter_does_no_harm(script_paths):
    """It may work or refuse, but the main interpreter goes on."""
    for _ in range(ENDS):
        done = run_script(BEGIN + SUBINTERPRETER, paths=script_paths)
        assert done.returncode == 0, done.stderr


def free_threaded_python():
    """Return a free-threaded Python that has what the package is built with, or skip."""
    names = [os.environ.get("CEEDLIKE_FREE_THREADED"), "python3.14t", "python3.13t"]
    needed = "import sysconfig, cffi, numpy, setuptools"
    needed += "; assert sysconfig.get_config_var('Py_GIL_DISABLED')"
    for name in filter(None, names):
        program = shutil.which(name)
        if program and not subprocess.run([program, "-c", needed], capture_output=True).returncode:
            return program
    return pytest.skip("no free-threaded Python with cffi, NumPy and setuptools on this machine")


def test_free_threaded_python(tmp_path):
    """The package asks for the GIL there, as modules do that do not say that they need none."""
    python = free_threaded_python()
    for folder in ("csrc", "include", "pyceedlike"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in ("Makefile", "pyproject.toml", "setup.py", "ffibuilder.py", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    build = [python, "setup.py", "build", "--build-lib", str(tmp_path / "built")]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    script = """
import threading
import numpy as np, pyceedlike
v = pyceedlike.from_dlpack(np.ones(100))
failed = []
def work():
    try:
        for _ in range(200):
            view = np.from_dlpack(v)
            assert pyceedlike.from_dlpack(view).norm(pyceedlike.NORM_1) == 100
            memoryview(v).release()
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work) for _ in range(16)]
for t in threads: t.start()
for t in threads: t.join()
assert not failed, failed
assert v.export_count == 0
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "built")}
    done = subprocess.run(
        [python, "-c", script], env=environment, cwd="/", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# --- Orders of destruction in one program ----------------------------------------------------


def build(ceed):
    """Return things that depend on each other, by name, and what is to be seen to the end."""
    lent = np.arange(50, dtype=ceed.scalar)
    first = ceed.Vector(50)
    first.set_array(lent, cmode=USE_POINTER)
    things = {
        "lent": lent,
        "first": first,
        "view": np.from_dlpack(first),
        "second": from_dlpack(first),
        "capsule": first.__dlpack__(max_version=(1, 0)),
    }
    things["buffer"] = memoryview(things["second"])
    return things


@pytest.mark.parametrize("order", list(itertools.permutations(range(5))), ids=str)
def test_any_order_of_destruction(order):
    ceed = pyceedlike.Ceed()
    things = build(ceed)
    alive = weakref.ref(things["lent"])
    del ceed
    names = list(things)
    for index in order:
        del things[names[index]]
        for name in {"view", "lent"} & set(things):
            assert things[name][49] == 49
        for name in {"first", "second"} & set(things):
            assert values_of(things[name])[49] == 49
        assert things["buffer"][49] == 49
    assert alive() is not None  # the buffer still shows its memory
    things.clear()
    assert eventually(lambda: alive() is None)


def test_the_context_may_go_first(scalar):
    vector = vector_of(pyceedlike.Ceed(scalar=scalar), range(4))
    gc.collect()
    assert values_of(vector).tolist() == [0, 1, 2, 3]
    assert vector.ceed.get_resource().startswith("/cpu/self")


def test_a_cycle_of_vectors_and_views_is_collected(ceed, scalar):
    class Holder:
        pass

    lent = np.zeros(10, dtype=scalar)
    alive = weakref.ref(lent)
    holder = Holder()
    holder.me = holder
    holder.vector = ceed.Vector(10)
    holder.vector.set_array(lent, cmode=USE_POINTER)
    holder.view = np.from_dlpack(holder.vector)
    holder.capsule = holder.vector.__dlpack__()
    del holder, lent
    assert eventually(lambda: alive() is None)


def test_a_subclass_with_a_cycle_through_itself_is_collected(ceed):
    class Mine(pyceedlike.Vector):
        pass

    original = vector_of(ceed, range(4))
    vector = Mine.from_handle(original.handle)
    alive = weakref.ref(vector)
    vector.me = vector
    vector.view = memoryview(vector_of(ceed, range(4)))
    del vector
    assert eventually(lambda: alive() is None)


def test_an_exception_in_flight_survives_destruction(partner, ceed):
    def fail():
        vector = vector_of(ceed, range(4))
        held = [vector.__dlpack__(), np.from_dlpack(vector), from_dlpack(vector)]
        held.append(partner.Sink(vector.__dlpack__(max_version=(1, 0))))
        raise KeyError("mine")

    for _ in range(100):
        with pytest.raises(KeyError, match="mine"):
            fail()
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize("make", ["vector", "view", "adopted"])
def test_dropping_things_keeps_a_pending_exception(partner, ceed, scalar, make):
    array = np.arange(4, dtype=scalar)
    held = {
        "vector": lambda: vector_of(ceed, range(4)),
        "view": lambda: memoryview(vector_of(ceed, range(4))),
        "adopted": lambda: from_dlpack(array),
    }[make]
    things = [held()]
    assert isinstance(partner.drop_while_raising(things), KeyError)


def test_a_weakref_callback_may_use_the_package(ceed, scalar):
    seen = []
    lent = np.arange(4, dtype=scalar)
    reference = weakref.ref(lent, lambda _: seen.append(vector_of(ceed, range(3)).norm(0)))
    vector = ceed.Vector(4)
    vector.set_array(lent, cmode=USE_POINTER)
    del lent, vector
    assert eventually(lambda: seen == [3.0])
    del reference


def test_a_finaliser_of_the_lender_may_raise(ceed, scalar, recwarn, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)

    class Bad(bytearray):
        def __del__(self):
            raise KeyError("mine")

    lent = Bad(32)
    vector = pyceedlike.Ceed().Vector(4)
    vector.set_array(memoryview(lent).cast("d"), cmode=USE_POINTER)
    del lent, vector
    assert eventually(lambda: unraisable)
    assert unraisable[0].exc_type is KeyError
    unraisable.clear()


def test_many_short_lives(ceed, scalar):
    array = np.arange(16, dtype=scalar)
    for _ in range(2000):
        vector = from_dlpack(array)
        view = np.from_dlpack(vector)
        vector = from_dlpack(view)
        view = memoryview(vector)
        assert view[15] == 15
    del vector, view
    churn()
    assert array[15] == 15
