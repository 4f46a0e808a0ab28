# SPDX-License-Identifier: BSD-2-Clause
"""What the extension module offers, for type checkers."""

from typing import Any, Self, final

from ._lib import Library
from .ceed import Ceed
from .vector import Exchange, Vector

version: str

class Exporter:
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def to_dlpack(
        self,
        mem_type: int | None = None,
        *,
        shape: int | tuple[int, ...] | None = None,
        mode: str = "shared",
        copy: bool | None = None,
        max_version: tuple[int, int] | None = None,
    ) -> Any: ...
    @property
    def handle(self) -> int: ...
    @property
    def scalar(self) -> str: ...
    @property
    def _library(self) -> Library: ...
    @property
    def exchange(self) -> Exchange: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def _lease(self, mem_type: int = ..., why: str = ..., /) -> Lease: ...
    def _note_copy(self, why: str, /) -> None: ...

class VectorBase(Exporter):
    def __len__(self) -> int: ...
    @classmethod
    def from_dlpack(
        cls,
        x: Any,
        /,
        *,
        ceed: Ceed | None = None,
        copy: bool | None = None,
        writable: bool | None = None,
        device: Any = None,
    ) -> Self: ...
    @classmethod
    def from_handle(cls, address: int) -> Self: ...
    def _take(self, source: Any, copy_mode: int) -> None: ...
    def _let_go(self, mem_type: int) -> None: ...
    def _open(self, kind: int, mem_type: int) -> Bracket: ...
    def _view(self, format: str) -> str: ...  # noqa: A002

class FabBase(Exporter):
    @classmethod
    def from_handle(cls, address: int) -> Self: ...
    @classmethod
    def _import(
        cls,
        x: Any,
        layout: tuple[int, int, int, int, int],
        /,
        *,
        ceed: Ceed | None = None,
        copy: bool | None = None,
        writable: bool | None = None,
        device: Any = None,
    ) -> Self: ...
    @classmethod
    def _own(cls, address: int, single: bool, /) -> Self: ...
    def _note(self, part: Exporter, /) -> None: ...
    def _print(self) -> str: ...

class FabViewBase(Exporter):
    @property
    def is_stale(self) -> bool: ...
    @property
    def _part(self) -> tuple[int, int, int, int]: ...
    @classmethod
    def _of(
        cls,
        fab: FabBase,
        name: int,
        box: int,
        comp: int,
        num_comp: int,
        order: int,
        read_only: bool,
        /,
    ) -> Self: ...

@final
class Bracket:
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def restore(self) -> None: ...

@final
class Lease:
    def __dlpack__(self, **keywords: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def wait(self, seconds: float) -> bool: ...
    @property
    def address(self) -> int: ...

def setup(*objects: Any) -> None: ...
def create(ceed: int, single: bool, n: int) -> Vector: ...
def store_errors(ceed: int, single: bool) -> None: ...
def list_fabs(address: int, single: bool, kind: type, /) -> list[Any]: ...
def refer_to_multifab(address: int, /) -> tuple[int, bool]: ...
def view_ceed(ceed: int, single: bool) -> str: ...
def xla_handlers(is_single: bool, /) -> dict[str, Any]: ...
def describe(capsule: Any) -> str: ...
def examine(
    capsule_or_object: Any, /
) -> tuple[
    bool,
    int,
    tuple[int, int, int],
    tuple[int, int],
    tuple[int, ...],
    tuple[int, ...] | None,
    int,
]: ...
def borrow_buffer(x: Any) -> Any: ...
def borrow_address(
    owner: Any,
    address: int,
    read_only: bool,
    item_size: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    device_type: int,
) -> Any: ...
def adopt(vector: int, single: bool, x: Any) -> None: ...
