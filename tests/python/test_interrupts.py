# SPDX-License-Identifier: BSD-2-Clause
"""An interrupt at any moment of a call leaves nothing out, locked or alive."""

import pytest
from helpers import RUNS, run_well

BEGIN = """
import faulthandler, gc, random, signal
import numpy as np, pyceedlike
from pyceedlike import Data, USE_POINTER
gc.disable()  # what is let go only by a collection is not let go
count = dict(raised=0, caught=0)
def interrupt(number, frame):
    count["raised"] += 1
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
ceed = pyceedlike.Ceed()
n = 64
vector, out, other = (ceed.Vector(n) for _ in range(3))
for each in vector, out, other:
    each.set_value(1.0)
def interrupted(work):
    faulthandler.dump_traceback_later(60, exit=True)
    try:  # Python sees a signal late that has come to a thread of another library: then the next
        signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-5, 4e-4), 0.2)
        while True:
            work()
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        count["caught"] += 1
def operator_of(function):
    nodes = ceed.ElemRestriction(n // 4, 4, 1, 1, n, np.arange(n))
    operator = ceed.Operator(function)
    for name in "u", "v":
        operator.set_field(name, nodes, pyceedlike.BASIS_NONE, pyceedlike.VECTOR_ACTIVE)
    return operator
"""

WORK = {  # what is interrupted, and what must go on then
    "set_array": """
array = np.ones(n)
work = lambda: vector.set_array(array, cmode=USE_POINTER)
then = lambda: vector.scale(1.0)
""",
    "blocks": """
def work():
    with vector.array() as a, out.array_read() as b, other.array_write() as c:
        pass
def then():
    for each in vector, out, other:
        each.set_value(1.0)
""",
    "exchange": """
work = lambda: pyceedlike.from_dlpack(np.from_dlpack(vector))
then = lambda: vector.take_from_dlpack(np.ones(n))
""",
    "a context": """
context = ceed.QFunctionContext(k=1.0)
work = context.get_fields
then = lambda: context.set_fields(k=2.0)
""",
    "a function of NumPy": """
operator = operator_of(ceed.qfunction(Data(), v=Data())(lambda u, *, k=2.0: k * u))
work = lambda: operator.apply(vector, out)
def then():
    vector.set_value(3.0)
    out.set_value(0.0)
    operator.set_context_fields(k=2.0)
    operator.apply(vector, out)
    assert out.norm(pyceedlike.NORM_MAX) == 6
""",
    "a function of JAX": """
import jax
jax.config.update("jax_enable_x64", True)
operator = operator_of(ceed.qfunction(Data(), v=Data(), engine="jax")(lambda u: 2 * u))
operator.apply(vector, out)
work = lambda: operator.apply(vector, out)
def then():
    vector.set_value(3.0)
    out.set_value(0.0)
""",
    "offsets": """
nodes = ceed.ElemRestriction(n // 4, 4, 1, 1, n, np.arange(n))
work = nodes.get_offsets
def then():
    assert nodes.get_offsets()[-1, -1] == n - 1
""",
}


@pytest.mark.parametrize("work", WORK)
def test_all_goes_on_after_an_interrupt_in(script_paths, request, work):
    if "JAX" in work:
        request.getfixturevalue("jax")
    end = f"\nfor _ in range({10 * RUNS}):\n    interrupted(work)\n    then()\n"
    end += "assert count['raised'] == count['caught'], count\n"
    run_well(BEGIN + WORK[work] + end, paths=script_paths)


def test_an_exception_of_a_function_keeps_nothing_alive(script_paths):
    script = """
import weakref
class Thing:
    pass
def fail(u):
    thing = Thing()
    alive.append(weakref.ref(thing))
    raise ValueError("mine")
alive = []
operator = operator_of(ceed.qfunction(Data(), v=Data())(fail))
try:
    operator.apply(vector, out)
except ValueError:
    pass
assert alive[0]() is None
"""
    run_well(BEGIN + script, paths=script_paths)
