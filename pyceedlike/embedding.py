# SPDX-License-Identifier: BSD-2-Clause
"""Python functions called from C: CeedPythonCall() imports this module and calls call()."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import operator
import pathlib
import reprlib
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._lib import (
    ERRORS,
    LIBRARIES,
    CeedError,
    CeedIncompatibleError,
    CeedUnsupportedError,
    __version__,
    keep_exception,
)
from ._object import handle_of
from .callback import engine_of, error_text, evaluator_of, sequence_of
from .vector import Vector

if TYPE_CHECKING:
    import numpy

if sys.argv == [""] and "" not in sys.path and not sys.flags.safe_path:
    sys.path.insert(0, "")  # this Python was started by C, and finds modules as by `python -c`

_MINOR = LIBRARIES["float64"].lib.CEED_ERROR_MINOR
_CODES = {kind: code for code, kind in ERRORS.items()}
_LONGEST = 1000  # bytes of a text; C keeps not many more


def call(
    version: str,
    bits: int,
    name: bytes,
    num_inputs: int,
    inputs: int,
    num_outputs: int,
    outputs: int,
) -> tuple[int, str]:
    """Call a function with the vectors at two addresses; return an error code and its text."""
    try:
        if version != __version__:
            raise CeedUnsupportedError(
                f"pyceedlike is {__version__}, the library that calls it {version}"
            )
        scalar = f"float{bits}"
        ins, outs = _vectors(scalar, num_inputs, inputs), _vectors(scalar, num_outputs, outputs)
        _call(name.decode(), ins, outs, scalar)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()  # nobody does when the program ends
    except BaseException as error:  # SystemExit too: it is the program that ends or goes on
        text = _shorten(f"{name.decode(errors='replace')}: {_describe(error)}")
        keep_exception(error, text)
        return _CODES.get(type(error), _MINOR), text
    return 0, ""


def _vectors(scalar: str, count: int, address: int) -> list[Vector]:
    ffi = LIBRARIES[scalar].ffi
    handles = ffi.cast("CeedVector *", address)
    return [Vector.from_handle(int(ffi.cast("uintptr_t", handles[i]))) for i in range(count)]


def _call(name: str, inputs: list[Vector], outputs: list[Vector], scalar: str) -> None:
    from .interop.numpy import store

    function = _find(name)
    if _fills(function):
        with contextlib.ExitStack() as stack:
            ins = [stack.enter_context(vector.array_read()) for vector in inputs]
            outs = [stack.enter_context(vector.array_write()) for vector in outputs]
            returned = function(*ins, out=outs[0] if len(outs) == 1 else tuple(outs))
            _check_filled(returned, outs)
        return
    engine = "jax" if engine_of(function) == "jax" else "numpy"
    evaluator = evaluator_of(engine, function, scalar)
    with contextlib.ExitStack() as stack:
        for vector in inputs:
            stack.enter_context(vector.array_read())
        arguments = [
            evaluator.argument(v._library, handle_of(v._library, "Vector", v), (len(v),))
            for v in inputs
        ]
        returned = evaluator.call(arguments, {})
    names = [f"output {i + 1}" for i in range(len(outputs))]
    arrays = [
        evaluator.result(x, (len(vector),), what)
        for what, vector, x in zip(names, outputs, sequence_of(returned, names, "it"), strict=True)
    ]
    with contextlib.ExitStack() as stack:
        store(arrays, [stack.enter_context(vector.array_write()) for vector in outputs])


def _find(name: str) -> Callable:
    """Return the function of a name as in "module:function"."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise CeedIncompatibleError('a function is named as "module:function"')
    try:
        found = operator.attrgetter(function)(importlib.import_module(module))
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise CeedIncompatibleError(
            f"there is no module {error.name!r} in {', '.join(p or '.' for p in sys.path)}"
        ) from error
    except AttributeError as error:
        if module not in sys.modules:
            raise
        raise CeedIncompatibleError(f"the module {module!r} has no {function!r}") from error
    if not callable(found):
        raise CeedIncompatibleError(f"it is no function but {type(found).__name__}")
    return found


def _fills(function: Callable) -> bool:
    """Return whether a function has a parameter for the arrays of its outputs."""
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False  # a built-in function that does not tell


def _check_filled(returned: Any, outs: list[numpy.ndarray]) -> None:
    """Raise where a function that was given its outputs returned others, which nobody reads."""
    arrays = returned if isinstance(returned, (tuple, list)) else (returned,)
    if returned is None or list(map(id, arrays)) == list(map(id, outs)):
        return
    raise CeedIncompatibleError(
        "a function with a parameter `out` fills its arrays, and returns these or nothing: it "
        f"returned {reprlib.repr(returned)}"
    )


def _describe(error: BaseException) -> str:
    """Return what was raised, and where in the code of the user."""
    text = f"{error}" if isinstance(error, CeedError) else error_text(type(error), error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_of_user(frame)]
    places = [f"{pathlib.Path(f.filename).name}:{f.lineno} in {f.name}" for f in frames[:-5:-1]]
    return ", ".join([text, *(f"at {place}" for place in places)])


def _is_of_user(frame: traceback.FrameSummary) -> bool:
    if frame.filename.startswith("<"):
        return False
    return not pathlib.Path(frame.filename).is_relative_to(pathlib.Path(__file__).parent)


def _shorten(text: str) -> str:
    """Return a text that C can keep: of UTF-8, without zeros, not too long."""
    data = text.encode(errors="backslashreplace").replace(b"\0", b"\\0")
    return data[:_LONGEST].decode(errors="ignore")
