# SPDX-License-Identifier: BSD-2-Clause
"""Python functions are called from C: in this process, and in programs that start a Python."""

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest
from helpers import HERE, address_of, run_well, values_of, vector_of
from programs import ENVIRONMENT, WARNINGS, package_flags, run

import pyceedlike
from pyceedlike import _lib

FUNCTIONS = """
import functools
import numpy as np

seen = []

def double(x):
    return 2 * x

def remember(*arrays):
    seen[:] = [(a.__array_interface__["data"][0], a.flags.writeable, a.shape) for a in arrays]
    return tuple(2 * a for a in arrays)

def keep(x):
    seen[:] = [x]
    return x

def itself(x):
    return x

def swapped(x, y):
    return y, x

def fill(x, out):
    out[:] = 3 * x

def fill_both(x, y, *, out):
    out[0][:], out[1][:] = y, x

def fill_and_return(x, y, *, out):
    fill_both(x, y, out=out)
    return out[0], out[1]

def fills_nothing(x, out=None):
    return 5 * x

def fill_and_fail(x, out):
    out[:] = 3 * x
    raise ValueError("not like this")

def count():
    seen.append("counted")

def nothing(x):
    return None

def text(x):
    return "text"

def longer(x):
    return np.zeros(len(x) + 1, x.dtype)

def square(x):
    return np.zeros((2, len(x) // 2), x.dtype)

def integers(x):
    return np.zeros(len(x), "int32")

def second_is_wrong(x, y):
    return x + 1, np.zeros(1, x.dtype)

def fails(x):
    return inner(x)

def inner(x):
    raise ArithmeticError("hot: 100 %s, too hot")

def leaves(x):
    raise SystemExit(3)

def says_much(x):
    raise ValueError("\\0\\udc80" + 5000 * "é")

class Model:
    @staticmethod
    def triple(x):
        return 3 * x

value = 1
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """The module that the tests call, found in a folder of its own."""
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "broken.py").write_text("import no_such_partner\n")
    monkeypatch.syspath_prepend(tmp_path)
    import functions

    yield functions
    del sys.modules["functions"]


@pytest.fixture
def call(ceed, functions):
    """A call of a function of the module by C, as a solver in this process makes it."""
    library = _lib.LIBRARIES[ceed.scalar]

    def python_call(name, inputs=(), outputs=()):
        sides = [[library.ffi.cast("CeedVector", v.handle) for v in s] for s in (inputs, outputs)]
        sides = [library.ffi.new("CeedVector[]", side) for side in sides]
        context = library.ffi.cast("Ceed", ceed.handle)
        name = name if ":" in name else f"functions:{name}"
        library.check(
            library.lib.CeedPythonCall(
                context, name.encode(), len(sides[0]), sides[0], len(sides[1]), sides[1]
            )
        )

    return python_call


@pytest.fixture
def x(ceed):
    return vector_of(ceed, [1, 2, 3, 4])


@pytest.fixture
def y(ceed):
    return vector_of(ceed, [5, 6, 7, 8])


def check_unlocked(*vectors):
    for vector in vectors:
        with vector.array():
            pass


# ---- Arrays in, arrays out -----------------------------------------------------------------------


def test_the_result_of_a_function_is_in_the_output(call, x, y):
    call("double", [x], [y])
    assert values_of(y).tolist() == [2, 4, 6, 8]


def test_arguments_are_the_memory_of_the_vectors_and_read_only(call, functions, x, y):
    call("remember", [x, y], [x, y])
    assert functions.seen == [(address_of(v), False, (4,)) for v in (x, y)]


def test_an_output_may_be_an_input(call, x, y):
    call("itself", [x], [x])
    call("swapped", [x, y], [x, y])
    assert values_of(x).tolist() == [5, 6, 7, 8]
    assert values_of(y).tolist() == [1, 2, 3, 4]


def test_a_function_fills_the_outputs_that_it_asks_for(call, ceed, x, y):
    call("fill", [x], [y])
    assert values_of(y).tolist() == [3, 6, 9, 12]
    outputs = ceed.Vector(4), ceed.Vector(4)
    call("fill_both", [x, y], outputs)
    assert [values_of(v).tolist() for v in outputs] == [[3, 6, 9, 12], [1, 2, 3, 4]]


def test_a_function_may_return_the_outputs_that_it_has_filled(call, x, y, ceed):
    outputs = ceed.Vector(4), ceed.Vector(4)
    call("fill_and_return", [x, y], outputs)
    assert [values_of(v).tolist() for v in outputs] == [[5, 6, 7, 8], [1, 2, 3, 4]]
    call("numpy:modf", [x], outputs)
    assert [values_of(v).tolist() for v in outputs] == [[0, 0, 0, 0], [1, 2, 3, 4]]


def test_a_vector_without_values_is_an_output(call, ceed, x):
    y = ceed.Vector(4)
    call("double", [x], [y])
    assert values_of(y).tolist() == [2, 4, 6, 8]


def test_no_vectors_and_no_entries_are_fine(call, ceed, functions):
    call("count")
    assert functions.seen == ["counted"]
    empty = vector_of(ceed, [])
    call("double", [empty], [empty])


def test_functions_of_numpy_and_methods_are_called(call, x, y):
    call("numpy:sqrt", [x], [y])
    assert values_of(y) == pytest.approx([1, 2**0.5, 3**0.5, 2])
    call("functions:Model.triple", [x], [y])
    assert values_of(y).tolist() == [3, 6, 9, 12]


def test_a_jitted_function_gets_arrays_of_jax(call, functions, jax, x, y):
    kinds = []

    def double(x):
        kinds.append(isinstance(x, jax.core.Tracer))
        return 2 * x

    functions.double = jax.jit(double)
    call("double", [x], [y])
    call("double", [y], [y])
    assert values_of(y).tolist() == [4, 8, 12, 16]
    assert kinds == [True]


def test_a_jitted_function_may_return_its_argument(call, functions, jax, x):
    functions.itself = jax.jit(functions.itself)
    call("itself", [x], [x])
    assert values_of(x).tolist() == [1, 2, 3, 4]
    check_unlocked(x)


def test_a_function_of_torch_fills_the_memory_of_the_vector(call, functions, torch, x, y):
    def fill(x, out):
        torch.multiply(torch.tensor(x), 5, out=torch.from_numpy(out))

    functions.fill = fill
    call("fill", [x], [y])
    assert values_of(y).tolist() == [5, 10, 15, 20]


def test_an_array_that_is_kept_stays_alive_and_locks_nothing(call, functions, x):
    call("keep", [x], [x])
    check_unlocked(x)
    del x
    gc.collect()
    assert functions.seen[0].tolist() == [1, 2, 3, 4]


# ---- What goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("functions:", pyceedlike.CeedIncompatibleError, 'named as "module:function"'),
        (":double", pyceedlike.CeedIncompatibleError, 'named as "module:function"'),
        ("no_such:f", pyceedlike.CeedIncompatibleError, "there is no module 'no_such' in"),
        ("functions:no", pyceedlike.CeedIncompatibleError, "'functions' has no 'no'"),
        ("functions:value", pyceedlike.CeedIncompatibleError, "it is no function but int"),
        ("broken:f", ModuleNotFoundError, "No module named 'no_such_partner', at broken.py:1"),
        ("nothing", TypeError, "it returned None: it must return output 1"),
        ("text", pyceedlike.CeedDimensionError, "output 1 has shape (), (4,) is wanted"),
        ("longer", pyceedlike.CeedDimensionError, "output 1 has shape (5,), (4,) is wanted"),
        ("square", pyceedlike.CeedDimensionError, "output 1 has shape (2, 2), (4,) is wanted"),
        (
            "fills_nothing",
            pyceedlike.CeedIncompatibleError,
            "fills_nothing: a function with a para",
        ),
        ("integers", pyceedlike.CeedIncompatibleError, "output 1 is int32, float"),
        ("leaves", SystemExit, "SystemExit: 3, at functions.py:"),
        ("fill_and_fail", ValueError, "ValueError: not like this, at functions.py:"),
    ],
)
def test_what_goes_wrong_is_told_and_locks_nothing(call, ceed, x, y, name, error, says):
    with pytest.raises(error):
        call(name, [x], [y])
    assert says in _lib.LIBRARIES[ceed.scalar].message()
    check_unlocked(x, y)


def test_outputs_are_as_they_were_when_one_does_not_fit(call, x, y):
    with pytest.raises(pyceedlike.CeedDimensionError, match="output 2 has shape"):
        call("second_is_wrong", [x, y], [x, y])
    with pytest.raises(pyceedlike.CeedDimensionError, match="a tuple of 2 arrays"):
        call("double", [x], [x, y])
    assert values_of(x).tolist() == [1, 2, 3, 4]


def test_an_exception_is_told_with_its_places(call, ceed, functions, x, y):
    with pytest.raises(ArithmeticError, match="too hot") as caught:
        call("fails", [x], [y])
    lines = [k + 1 for k, line in enumerate(FUNCTIONS.splitlines()) if "inner(x)" in line]
    assert caught.traceback[-1].name == "inner"
    assert _lib.LIBRARIES[ceed.scalar].message() == (
        "functions:fails: ArithmeticError: hot: 100 %s, too hot, "
        f"at functions.py:{lines[1] + 1} in inner, at functions.py:{lines[0]} in fails"
    )


def test_a_long_text_of_any_bytes_is_shortened(call, ceed, x, y):
    with pytest.raises(ValueError, match="é"):
        call("says_much", [x], [y])
    text = _lib.LIBRARIES[ceed.scalar].message()
    assert text.startswith(r"functions:says_much: ValueError: \0\udc80éé")
    assert "�" not in text


def test_a_vector_that_is_out_is_an_error_that_says_so(call, x, y):
    with x.array(), pytest.raises(pyceedlike.CeedAccessError):
        call("double", [x], [y])
    with y.array_read(), pytest.raises(pyceedlike.CeedAccessError):
        call("double", [x], [y])
    check_unlocked(x, y)


def test_another_precision_is_an_error_that_names_both(call, ceed, x):
    other = pyceedlike.Ceed(scalar={"float64": "float32"}.get(ceed.scalar, "float64")).Vector(4)
    with pytest.raises(
        pyceedlike.CeedIncompatibleError, match=r"float64.*float32|float32.*float64"
    ):
        call("double", [x], [other])


# ---- Programs that start a Python ----------------------------------------------------------------


@pytest.fixture(scope="module")
def build(compiler_of_module, tmp_path_factory):
    """A function that builds _caller.c, in a precision and as what flags say."""

    def build_caller(scalar, *flags):
        target = tmp_path_factory.mktemp("caller") / "caller"
        words = [package_flags(what, "--scalar", scalar) for what in ("--cflags", "--libs")]
        command = [*compiler_of_module, "-std=c99", "-pthread", *WARNINGS, *flags, *words[0]]
        run(*command, HERE / "_caller.c", "-o", target, *words[1])
        return target

    return build_caller


@pytest.fixture(scope="module")
def compiler_of_module(request):
    return request.getfixturevalue("compiler")


@pytest.fixture(scope="module", params=["float64", "float32"])
def caller(build, request):
    """The program, in each precision."""
    return build(request.param)


@pytest.fixture(scope="module")
def caller64(build):
    return build("float64")


def library_of_python():
    """Return where Python's own shared library is, or skip."""
    get = sysconfig.get_config_var
    name = f"libpython{get('LDVERSION')}.so.1.0"
    folders = {get("LIBDIR"), f"{get('LIBDIR')}/{get('MULTIARCH')}", f"/usr/lib/{get('MULTIARCH')}"}
    if not any(pathlib.Path(folder, name).exists() for folder in folders):
        pytest.skip(f"this Python has no {name}")


@pytest.fixture
def start(functions, tmp_path):
    """A function that runs the program, where modules are found, in an environment."""
    library_of_python()

    def start_program(program, *arguments, **environment):
        ours = ("CEEDLIKE_PYTHON", "PYTHONSAFEPATH")
        inherited = {k: v for k, v in ENVIRONMENT.items() if k not in ours}
        return subprocess.run(
            [program, *arguments], cwd=tmp_path, env=inherited | environment, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip

    return start_program


DOUBLED = "0\n2 4 6\n"


@pytest.mark.parametrize("what", [sys.prefix, sys.executable])
def test_a_program_calls_the_python_that_the_variable_names(caller, start, what):
    if not pathlib.Path(what, "bin/python3").exists() and what == sys.prefix:
        pytest.skip("this Python is in no environment")
    done = start(caller, "functions:double", CEEDLIKE_PYTHON=what)
    assert (done.returncode, done.stdout, done.stderr) == (0, DOUBLED, "")


def test_a_program_finds_the_environment_that_its_library_is_in(caller64, start):
    package = pathlib.Path(pyceedlike.__file__)
    if not package.is_relative_to(sys.prefix) or (package.parent / "prefix").exists():
        pytest.skip("the library is not inside an environment")
    done = start(caller64, "functions:double", PATH="")
    assert (done.stdout, done.stderr) == (DOUBLED, "")


def test_a_program_is_told_of_an_exception(caller64, start):
    done = start(caller64, "functions:fails", CEEDLIKE_PYTHON=sys.executable)
    code, text, values = done.stdout.splitlines()
    assert (code, values) == ("1", "0 0 0")
    assert text.startswith("functions:fails: ArithmeticError: hot: 100 %s, too hot, at functions")
    assert done.stderr == ""


def test_many_threads_may_be_the_first_to_call(caller, start):
    done = start(caller, "functions:double", "threads", CEEDLIKE_PYTHON=sys.executable)
    assert (done.returncode, done.stdout, done.stderr) == (0, DOUBLED, "")


def test_what_a_function_prints_is_not_lost(caller64, start, tmp_path):
    (tmp_path / "printing.py").write_text("def f(x):\n    print('hot')\n    return x\n")
    done = start(caller64, "printing:f", CEEDLIKE_PYTHON=sys.executable)
    assert done.stdout == "hot\n0\n1 2 3\n"


def test_the_current_folder_is_left_out_where_python_is_told_to(caller64, start):
    environment = {"CEEDLIKE_PYTHON": sys.executable, "PYTHONSAFEPATH": "1"}
    done = start(caller64, "functions:double", **environment)
    assert "there is no module 'functions' in" in done.stdout


def test_the_environment_is_that_of_the_program(caller64, start, tmp_path):
    (tmp_path / "where.py").write_text(
        "import sys\ndef f(x):\n    print(sys.prefix, sys.executable)\n    return x\n"
    )
    done = start(caller64, "where:f", CEEDLIKE_PYTHON=sys.executable)
    assert done.stdout.split()[:2] == [sys.prefix, os.path.abspath(sys.executable)]


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("/no/such/place", "CEEDLIKE_PYTHON=/no/such/place is neither an environment with"),
        ("/bin/sh", "/bin/sh does not lead to a python3.x"),
    ],
)
def test_a_variable_that_names_no_python_is_an_error_that_says_so(caller64, start, variable, says):
    done = start(caller64, "functions:double", CEEDLIKE_PYTHON=variable)
    code, text, values = done.stdout.splitlines()
    assert (code, values) == ("-3", "0 0 0")
    assert text.startswith(says)


def test_a_python_without_a_library_is_an_error_with_the_remedy(caller64, start, tmp_path):
    python = tmp_path / "bin" / "python3.99"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    (python.parent / "python3").symlink_to(python)
    done = start(caller64, "functions:double", CEEDLIKE_PYTHON=str(tmp_path))
    assert done.stdout.splitlines()[0] == "-3"
    assert "apt install libpython3.99" in done.stdout


def test_an_environment_without_the_package_is_an_error_that_says_so(caller64, start, tmp_path):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", "--symlinks", environment)
    done = start(caller64, "functions:double", CEEDLIKE_PYTHON=str(environment), PYTHONPATH="")
    code, text, _ = done.stdout.splitlines()
    assert code == "-3"
    assert text == f"{environment}/bin/python3 can't use pyceedlike: No module named 'pyceedlike'"


def test_a_program_without_any_python_is_an_error_with_the_remedy(caller64, start, tmp_path):
    copy = tmp_path / "lib" / "libceedlike.so.0"
    copy.parent.mkdir()
    shutil.copy(package_flags("--libs")[0].removeprefix("-L") + "/libceedlike.so.0", copy)
    done = start(caller64, "functions:double", PATH="", LD_PRELOAD=str(copy))
    code, text, _ = done.stdout.splitlines()
    assert (code, text) == (
        "-3", "No python3 is in PATH: set CEEDLIKE_PYTHON to an environment with pyceedlike",
    )  # fmt: skip


def test_a_solver_in_a_process_of_python_calls_the_python_of_the_process(build, functions):
    library = build("float64", "-fPIC", "-shared")
    printed = run_well(
        """
import sys
import cffi
import functions
functions.double = lambda x: 7 * x  # another interpreter would not know
ffi = cffi.FFI()
ffi.cdef("int CallOnce(const char *function);")
assert "pyceedlike" not in sys.modules
assert ffi.dlopen(sys.argv[1]).CallOnce(b"functions:double") == 0
""",
        library,
        paths=[pathlib.Path(functions.__file__).parent],
        CEEDLIKE_PYTHON="/no/such/place",
    )
    assert printed == "0\n7 14 21\n"


def test_a_library_of_another_version_is_an_error_that_names_both():
    from pyceedlike import embedding

    code, text = embedding.call("0.0.1", 64, b"functions:double", 0, 0, 0, 0)
    assert code == -3
    assert f"pyceedlike is {pyceedlike.__version__}, the library that calls it 0.0.1" in text


def test_the_variable_is_not_looked_at_without_need(functions, call, x, y, monkeypatch):
    monkeypatch.setenv("CEEDLIKE_PYTHON", "/no/such/place")
    call("double", [x], [y])
    assert os.environ["CEEDLIKE_PYTHON"] == "/no/such/place"


def test_an_exception_that_has_no_text_is_told_by_its_type(monkeypatch):
    from pyceedlike import embedding

    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    def fails(name, *_):
        raise MuteError

    monkeypatch.setattr(embedding, "_call", fails)
    code, text = embedding.call(pyceedlike.__version__, 64, b"a:b", 0, 0, 0, 0)
    assert (code, text.split(", at ")[0]) == (embedding._MINOR, "a:b: MuteError")
