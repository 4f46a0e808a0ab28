# SPDX-License-Identifier: BSD-2-Clause
"""The end of things: of programs, threads and objects, in any order."""

import gc
import itertools
import sys
import weakref

import numpy as np
import pytest
from helpers import RUNS, churn, eventually, run_script, run_well, values_of, vector_of

import pyceedlike
from pyceedlike import USE_POINTER, from_dlpack

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
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_ends_well_with_things_alive_in(script_paths, program):
    runs = max(1, RUNS // 4) if program != "module globals" else RUNS
    for _ in range(runs):
        run_well(BEGIN + PROGRAMS[program], paths=script_paths)


@pytest.mark.parametrize("program", ["module globals", "a reference cycle", "a thread-local"])
def test_a_program_ends_well_in_development_mode(script_paths, program):
    run_well(BEGIN + PROGRAMS[program], paths=script_paths, PYTHONDEVMODE="1")


def test_a_program_that_fails_says_only_why(script_paths):
    script = BEGIN + "things = everything(); raise SystemExit(7)"
    done = run_script(script, paths=script_paths)
    assert (done.returncode, done.stderr) == (7, "")


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


def test_a_forked_child_may_go_on(script_paths):
    script = """
import os
things = everything()
parent_vector = things[1]
child = os.fork()
if child == 0:
    things.append(everything())
    parent_vector.scale(2) if parent_vector.export_count == 0 else None
    things.clear()
    gc.collect()
    more = everything()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert float(things[12][0]) == 1
"""
    for _ in range(max(1, RUNS // 4)):
        run_well(BEGIN + script, paths=script_paths)


def test_a_forked_child_may_end_normally(script_paths):
    script = """
import os
things = everything()
child = os.fork()
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""
    for _ in range(max(1, RUNS // 4)):
        run_well(BEGIN + script, paths=script_paths)


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


def test_a_subinterpreter_does_no_harm(script_paths):
    """It may work or refuse, but the main interpreter goes on."""
    script = (
        BEGIN
        + """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    try:
        import _interpreters as interpreters
    except ImportError:
        sys.exit()
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
try:
    interpreters.destroy(inner)
except Exception:
    pass
things = everything()
"""
    )
    done = run_script(script, paths=script_paths)
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
