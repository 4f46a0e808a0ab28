# SPDX-License-Identifier: BSD-2-Clause
"""Whether an array will be shared, before anyone tries: what each library asks for and refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Set
from typing import Any, NamedTuple

from . import _exchange
from ._lib import CeedError
from .partners import PARTNERS
from .sources import capsule_of


class Explanation(NamedTuple):
    """What will happen to the memory of an array, why, and what to change."""

    call: str  # the call that is explained
    outcome: str  # "share", "copy" or "fail"
    reason: str
    change: str = ""  # what makes it share; empty where there is nothing to change

    def __str__(self) -> str:
        text = f"{self.call}: {self.outcome}\n  why: {self.reason}"
        return f"{text}\n  instead: {self.change}" if self.change else text


# --- What a tensor says of itself -------------------------------------------------------------

_READ_ONLY, _IS_COPIED = 1, 2  # flags
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6  # codes of types
_NAMES = {_INT: "int", _UINT: "uint", _FLOAT: "float", _BFLOAT: "bfloat", _COMPLEX: "complex"}
_CPU, _CUDA, _ROCM = 1, 2, 10  # types of devices
_HOST = {_CPU, 3, 11, 13}  # plain, pinned by CUDA or ROCm, managed by CUDA
_DEVICES = {_CUDA: "a CUDA device", 8: "a Metal device", _ROCM: "a ROCm device"}


class Tensor(NamedTuple):
    """The fields of a DLPack tensor."""

    versioned: bool
    flags: int
    type: tuple[int, int, int]  # code, bits, lanes
    device: tuple[int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in entries; None: those of C order
    address: int

    @property
    def read_only(self) -> bool:
        """Whether the tensor says that nobody may write."""
        return bool(self.flags & _READ_ONLY)

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries."""
        return 0 in self.shape

    @property
    def type_name(self) -> str:
        """The type as NumPy calls it."""
        code, bits, lanes = self.type
        if code == _BOOL:
            return "bool"
        known = code in _NAMES and lanes == 1
        return f"{_NAMES[code]}{bits}" if known else f"DLPack type {self.type}"

    @property
    def layout(self) -> str:
        """Shape and strides, for a person."""
        return f"shape {self.shape} with strides {self.strides}"

    @property
    def steps(self) -> list[tuple[int, int]]:
        """Stride and length of each axis that is stepped along."""
        if self.strides is None or self.is_empty:
            return []
        pairs = zip(self.strides, self.shape, strict=True)
        return [(stride, length) for stride, length in pairs if length > 1]

    @property
    def is_contiguous(self) -> bool:
        """Whether the entries are contiguous in C order."""
        return _is_dense(self.steps)

    @property
    def is_compact(self) -> bool:
        """Whether the entries are contiguous in some order of the axes."""
        return _is_dense(sorted(self.steps, reverse=True))


def _is_dense(steps: list[tuple[int, int]]) -> bool:
    """Return whether steps, the last one the smallest, leave no gaps."""
    expected = 1
    for stride, length in reversed(steps):
        if stride != expected:
            return False
        expected *= length
    return True


# --- Rules: the first that objects decides ----------------------------------------------------

Verdict = tuple[str, str, str]  # outcome, reason, change
Rule = Callable[[Tensor], Verdict | None]

_IN_C_ORDER = "copy it in C order first, as in numpy.ascontiguousarray(x)"


def _on(name: str, devices: Callable[[], Set[int]]) -> Rule:
    """Return the rule of a library that reads memory on these devices."""

    def rule(tensor: Tensor) -> Verdict | None:
        kind, number = tensor.device
        if kind in devices():
            return None
        where = _DEVICES.get(kind, "a device")
        reason = (
            f"the memory is on {where} (DLPack device {kind}, {number}) that {name} does not read"
        )
        return "fail", reason, "copy it to the host first"

    return rule


def _of(name: str, types: Set[tuple[int, int, int]]) -> Rule:
    """Return the rule of a library that has these types, each of a code, bits and lanes."""

    def rule(tensor: Tensor) -> Verdict | None:
        if tensor.type in types:
            return None
        return "fail", f"{name} takes no {tensor.type_name}", "convert it first"

    return rule


def _contiguous(name: str, otherwise: str) -> Rule:
    def rule(tensor: Tensor) -> Verdict | None:
        if tensor.is_contiguous:
            return None
        reason = f"{tensor.layout} is not C-contiguous, and {name} shares nothing else"
        return otherwise, reason, _IN_C_ORDER

    return rule


def _compact_for_jax(tensor: Tensor) -> Verdict | None:
    if tensor.is_compact:
        return None
    reason = f"{tensor.layout} leaves gaps or repeats entries, and JAX takes neither"
    return "fail", reason, _IN_C_ORDER


def _x64_for_jax(tensor: Tensor) -> Verdict | None:
    code, bits, _ = tensor.type
    if bits != (128 if code == _COMPLEX else 64) or _x64_is_on():
        return None
    narrow = tensor.type_name.replace(str(bits), str(bits // 2))
    reason = f"jax_enable_x64 is off, so that JAX makes {narrow} of {tensor.type_name}"
    return "copy", reason, 'jax.config.update("jax_enable_x64", True)'


def _aligned_for_jax(tensor: Tensor) -> Verdict | None:
    from .interop.jax import ALIGNMENT

    past = tensor.address % ALIGNMENT
    if tensor.is_empty or not past:
        return None
    reason = (
        f"JAX shares memory from {ALIGNMENT}-byte boundaries on, and this starts {past} bytes past"
    )
    return "copy", reason, "keep the values where a boundary is, as a vector's own memory does"


def _forwards_for_torch(tensor: Tensor) -> Verdict | None:
    if all(stride >= 0 for stride, _ in tensor.steps):
        return None
    return "fail", f"{tensor.layout} runs backwards, and PyTorch then ends the program", _IN_C_ORDER


def _versioned_for_arrow(tensor: Tensor) -> Verdict | None:
    if tensor.versioned:
        return None
    change = "pass numpy.from_dlpack(x), which shares the memory"
    return "fail", "Arrow takes no legacy tensor, and the source gives no other", change


def _one_axis_for_arrow(tensor: Tensor) -> Verdict | None:
    if len(tensor.shape) == 1 and tensor.strides in (None, (1,)):
        return None
    reason = f"{tensor.layout} is not one axis with a stride of 1, as an Arrow array is"
    change = "flatten it first: x.reshape(-1)" if tensor.is_contiguous else _IN_C_ORDER
    return "fail", reason, change


def _aligned_for_us(tensor: Tensor) -> Verdict | None:
    size = tensor.type[1] // 8
    if tensor.is_empty or not tensor.address % size:
        return None
    reason = f"the memory starts at {tensor.address:#x}, which is no multiple of {size} bytes"
    return "copy", reason, "keep the values in memory of their own, as in numpy.array(x)"


def _copied_by_source(tensor: Tensor) -> Verdict | None:
    if not tensor.flags & _IS_COPIED:
        return None
    return "copy", "the source hands out a copy of its values", ""


# --- What libraries say of their settings -----------------------------------------------------


def _x64_is_on() -> bool:
    try:
        return importlib.import_module("jax").config.jax_enable_x64
    except ImportError:
        return False  # as it comes


def _host() -> Set[int]:
    return _HOST


def _plain_host() -> Set[int]:
    return {_CPU}


def _devices_of_jax() -> Set[int]:
    try:
        has_gpu = importlib.import_module("jax").default_backend() == "gpu"
    except ImportError:
        has_gpu = False
    return {_CPU, _CUDA, _ROCM} if has_gpu else {_CPU}


def _devices_of_torch() -> Set[int]:
    try:
        has_gpu = importlib.import_module("torch").cuda.is_available()
    except ImportError:
        has_gpu = False
    return {_CPU, _CUDA, _ROCM} if has_gpu else {_CPU}


# --- What each library asks for ---------------------------------------------------------------


def _types(**widths: str) -> set[tuple[int, int, int]]:
    codes = {f"{name}s": code for code, name in _NAMES.items()} | {"bools": _BOOL}
    return {(codes[name], int(bits), 1) for name, each in widths.items() for bits in each.split()}


_REALS = _types(ints="8 16 32 64", uints="8 16 32 64", floats="16 32 64")
_COMMON = _REALS | _types(complexs="64 128", bools="8")
_FLOAT8 = {(code, 8, 1) for code in range(7, 15)}
_SMALL_OF_TORCH = {(code, 8, 1) for code in range(10, 15)} | {(17, 4, 2)}  # float8, float4

_LOCKED = ", read-only: a legacy tensor can't say that it may be written"
_UNHEEDED = ", which is read-only, and would write to it all the same"


class _Manner(NamedTuple):
    """How a library takes an array."""

    name: str
    call: str
    version: tuple[int, int] | None  # max_version that it asks for; None: a legacy tensor
    rules: tuple[Rule, ...]
    by_table: bool = False  # whether it prefers the C exchange API
    legacy: str = ""  # what else it makes of a legacy tensor that it shares
    read_only: str = ", which is read-only"  # and of a read-only one
    detour: str = ""  # how a vector lends it read-only memory though it asks for legacy tensors
    asks_device: bool = False  # whether it calls __dlpack_device__

    def objection(self, tensor: Tensor) -> Verdict | None:
        """Return why a tensor is not shared, or None."""
        return next(filter(None, (rule(tensor) for rule in self.rules)), None)


def _manner(module: str, version: tuple[int, int] | None, *rules: Rule, **more: Any) -> _Manner:
    return _Manner(PARTNERS[module].name, PARTNERS[module].call, version, rules, **more)


MANNERS = {
    "pyceedlike": _Manner(
        "pyceedlike",
        "pyceedlike.from_dlpack(x)",
        (1, 3),
        (
            _on("pyceedlike", _host),
            _of("a vector", _types(floats="32 64")),
            _copied_by_source,
            _contiguous("a vector", "copy"),
            _aligned_for_us,
        ),
        legacy=_LOCKED,
    ),
    "numpy": _manner(
        "numpy",
        (1, 0),
        _on("NumPy", _host),
        _of("NumPy", _COMMON),
        _copied_by_source,
        legacy=_LOCKED,
    ),
    "jax": _manner(
        "jax",
        None,
        _on("JAX", _devices_of_jax),
        _of("JAX", _COMMON | _types(bfloats="16") | _FLOAT8),
        _compact_for_jax,
        _x64_for_jax,
        _aligned_for_jax,
        detour="a vector over the same memory lends it to JAX: pyceedlike.from_dlpack(x).to_jax()",
        asks_device=True,
    ),
    "torch": _manner(
        "torch",
        (1, 0),
        _on("PyTorch", _devices_of_torch),
        _of("PyTorch", _COMMON | _types(bfloats="16", complexs="32") | _SMALL_OF_TORCH),
        _forwards_for_torch,
        _copied_by_source,
        read_only=_UNHEEDED,
        asks_device=True,
    ),
    "tvm_ffi": _manner(
        "tvm_ffi",
        None,
        by_table=True,
        read_only=_UNHEEDED,
        detour="pass a vector over the same memory: pyceedlike.from_dlpack(x)",
    ),
    "tensorflow": _manner(
        "tensorflow",
        None,
        _on("TensorFlow", _plain_host),
        _of("TensorFlow", _COMMON | _types(bfloats="16")),
        _contiguous("TensorFlow", "fail"),
    ),
    "pyarrow": _manner(
        "pyarrow",
        (1, 3),
        _on("Arrow", _host),
        _of("Arrow", _REALS),
        _versioned_for_arrow,
        _copied_by_source,
        _one_axis_for_arrow,
    ),
}

# --- The tensor that it gets ------------------------------------------------------------------


class NoTensor(Exception):  # noqa: N818 - a verdict, not an error
    """The library gets no tensor of the source; the arguments are the verdict."""


def first_line(error: BaseException) -> str:
    """Return the class of an error and what it says first, whatever its text does."""
    try:
        text = str(error).strip().splitlines()
    except Exception:
        text = []
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _tensor_in(given: Any) -> Tensor:
    try:
        return Tensor(*_exchange.examine(given))
    except AttributeError:
        what = f"a {type(given).__name__}, which is no DLPack capsule, or one that was consumed"
        raise BufferError(f"__dlpack__ gave {what} before") from None


def _ask(x: Any, version: tuple[int, int] | None) -> Tensor:
    """Return the tensor that x gives to who asks so."""
    if not version:
        return _tensor_in(x.__dlpack__())
    try:
        return _tensor_in(x.__dlpack__(max_version=version))
    except TypeError as first:  # a producer from before versions, or one that fails
        try:
            return _tensor_in(x.__dlpack__())
        except TypeError:
            raise first from None


def _read_only_tensor(x: Any) -> Tensor | None:
    """Return the versioned tensor of x if it says read-only."""
    try:
        tensor = _ask(x, (1, 0))
    except Exception:
        return None
    return tensor if tensor.read_only else None


def _around(tensor: Tensor, manner: _Manner) -> str:
    """Return how a library that asks for legacy tensors gets memory that is read-only."""
    takers = MANNERS["pyceedlike"], manner
    if manner.detour and not any(taker.objection(tensor) for taker in takers):
        return manner.detour
    return "copy it first, as in numpy.from_dlpack(x).copy()"


#: Types of TensorFlow, which ends the program where it is asked for a tensor of them.
_NO_NUMBERS = {"string", "resource", "variant"}


def check_numbers(x: Any) -> None:
    """Raise NoTensor where x must not even be asked for a tensor."""
    name = getattr(getattr(x, "dtype", None), "name", None)
    if name in _NO_NUMBERS:
        raise NoTensor("fail", f"{type(x).__name__} holds no numbers: its type is {name}", "")


def _ask_array(x: Any, manner: _Manner) -> Tensor:
    check_numbers(x)
    try:
        tensor = _ask(x, manner.version)
        if manner.asks_device:
            x.__dlpack_device__()
        return tensor
    except Exception as error:
        tensor = None if manner.version else _read_only_tensor(x)
        if tensor:
            reason = f"{manner.name} asks for a legacy tensor, which can't say read-only"
            raise NoTensor("fail", reason, _around(tensor, manner)) from error
        raise _without_tensor(x, error) from error


def _without_tensor(x: Any, error: BaseException) -> NoTensor:
    reason = f"{type(x).__name__} gives no tensor: {first_line(error)}"
    return NoTensor("fail", reason, "convert it, or do what this message says")


def _ask_ours(x: Any, manner: _Manner) -> Tensor:
    """Return what a vector or a fab gives, which notes nothing."""
    try:
        tensor = Tensor(*_exchange.examine(x))
    except CeedError as error:
        raise NoTensor("fail", str(error), "") from error
    if tensor.read_only and not manner.version and not manner.by_table:
        reason = (
            f"it is read-only or leased, which a legacy tensor can't say: {manner.name} gets a copy"
        )
        raise NoTensor("copy", reason, _lent(tensor, manner))
    return tensor


def _lent(tensor: Tensor, manner: _Manner) -> str:
    """Return what to change where memory of ours is read-only, and the library asks for legacy."""
    if manner is not MANNERS["jax"]:
        return ""
    *_, change = manner.objection(tensor) or ("x.to_jax() shares it",)
    return change


def _ask_values(x: Any, manner: _Manner) -> Tensor:
    """Return the tensor that we make of what has no __dlpack__."""
    as_array = "make an array of it first, as in numpy.asarray(x)"
    if manner is not MANNERS["pyceedlike"]:
        raise NoTensor("fail", f"{type(x).__name__} has no __dlpack__", as_array)
    try:
        capsule, why, _ = capsule_of(x, None, may_copy=True)
    except (CeedError, TypeError) as error:
        raise NoTensor("fail", str(error), as_array if hasattr(x, "__array__") else "") from error
    if why:
        raise NoTensor("copy", why, "make an array of it first, as in numpy.array(x, float)")
    return Tensor(*_exchange.examine(capsule))


def tensor_of(x: Any, manner: _Manner) -> Tensor:
    """Return the tensor that a library gets of x; raises NoTensor where it gets none."""
    try:
        return _tensor_of(x, manner)
    except NoTensor:
        raise
    except (Exception, SystemExit) as error:  # it is anybody's object, and may raise anything
        raise _without_tensor(x, error) from error


def _tensor_of(x: Any, manner: _Manner) -> Tensor:
    if isinstance(x, (_exchange.VectorBase, _exchange.FabBase, _exchange.FabViewBase)):
        return _ask_ours(x, manner)
    if manner.by_table and hasattr(type(x), "__dlpack_c_exchange_api__"):
        return Tensor(*_exchange.examine(x))
    return _ask_array(x, manner) if hasattr(x, "__dlpack__") else _ask_values(x, manner)


def _judge(x: Any, manner: _Manner) -> Verdict:
    outcome, reason, change = _judge_memory(x, manner)
    if outcome != "fail" and hasattr(type(x), "is_neg") and x.is_neg():  # of PyTorch
        is_ours = manner is MANNERS["pyceedlike"]
        reason = "x stands for the negative of its memory, which DLPack can't say"
        reason += "" if is_ours else f": {manner.name} gets the wrong sign"
        return "fail" if is_ours else outcome, reason, "x.resolve_neg()"
    return outcome, reason, change


def _judge_memory(x: Any, manner: _Manner) -> Verdict:
    try:
        tensor = tensor_of(x, manner)
    except NoTensor as verdict:
        return verdict.args
    verdict = manner.objection(tensor)
    if verdict:
        return verdict
    how = manner.read_only if tensor.read_only else "" if tensor.versioned else manner.legacy
    return "share", f"{manner.name} shares the memory{how}", ""


def explain(x: Any, to: str = "pyceedlike") -> Explanation:
    """Return whether a library will share the memory of x, copy it or fail, and what to change.

    to is "pyceedlike" or the name of a module: "numpy", "jax", "torch", "tvm_ffi", "tensorflow",
    "pyarrow". Nothing is taken: x is asked for a tensor as the library would ask, and the tensor is
    dropped again. Raises ValueError for another name.

    >>> print(pyceedlike.explain(np.ones((2, 3)).T))
    pyceedlike.from_dlpack(x): copy
      why: shape (3, 2) with strides (1, 3) is not C-contiguous, and a vector shares nothing else
      instead: copy it in C order first, as in numpy.ascontiguousarray(x)
    """
    if to not in MANNERS:
        raise ValueError(f"to must be one of {', '.join(MANNERS)}, not {to!r}")
    return Explanation(MANNERS[to].call, *_judge(x, MANNERS[to]))
