# SPDX-License-Identifier: BSD-2-Clause
"""The array libraries that vectors share memory with: how each takes an array and makes one.

What a library takes, it takes by its own public call, as a user writes it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class Partner(NamedTuple):
    """An array library, in the words of its own calls."""

    name: str  # what it calls itself
    module: str  # what is imported
    call: str  # how it takes an array x
    take: Callable[[Any, Any], Any]  # the same: its module and x give an array of its own
    make: Callable[[Any, Any], Any] | None  # its module and a NumPy array give a new array
    address: Callable[[Any], int]  # of an array that was taken
    writable: Callable[[Any], bool]  # whether the library would write to one

    def load(self) -> Any:
        """Return the module; raises what its import raises."""
        return importlib.import_module(self.module)


def _numpy_address(x: Any) -> int:
    return x.__array_interface__["data"][0]


def _asarray_address(x: Any) -> int:
    import numpy

    return _numpy_address(numpy.asarray(x))


@cache
def _identity(numba: Any) -> Any:
    """Return a compiled function that gives back the array that it was called with."""
    return numba.njit(lambda x: x)


def _to_numba(numba: Any, x: Any) -> Any:
    import numpy

    return _identity(numba)(numpy.asarray(x))


def _to_tensorflow(tensorflow: Any, x: Any) -> Any:
    return tensorflow.experimental.dlpack.from_dlpack(x.__dlpack__())


def _of_jax(jax: Any, x: Any) -> Any:
    return jax.block_until_ready(jax.numpy.array(x))


PARTNERS = {
    "numpy": Partner(
        "NumPy",
        "numpy",
        "numpy.from_dlpack(x)",
        lambda numpy, x: numpy.from_dlpack(x),
        lambda numpy, x: x.copy(),
        _numpy_address,
        lambda x: x.flags.writeable,
    ),
    "jax": Partner(
        "JAX",
        "jax",
        "jax.dlpack.from_dlpack(x)",
        lambda jax, x: importlib.import_module("jax.dlpack").from_dlpack(x),
        _of_jax,
        lambda x: x.unsafe_buffer_pointer(),
        lambda x: False,
    ),
    "torch": Partner(
        "PyTorch",
        "torch",
        "torch.from_dlpack(x)",
        lambda torch, x: torch.from_dlpack(x),
        lambda torch, x: torch.tensor(x),
        lambda x: x.data_ptr(),
        lambda x: True,
    ),
    "tvm_ffi": Partner(
        "tvm-ffi",
        "tvm_ffi",
        "tvm_ffi.from_dlpack(x)",
        lambda tvm_ffi, x: tvm_ffi.from_dlpack(x),
        lambda tvm_ffi, x: tvm_ffi.from_dlpack(x.copy()),
        lambda x: x.data_ptr(),
        lambda x: True,
    ),
    "tensorflow": Partner(
        "TensorFlow",
        "tensorflow",
        "tensorflow.experimental.dlpack.from_dlpack(x.__dlpack__())",
        _to_tensorflow,
        lambda tensorflow, x: tensorflow.constant(x),
        _asarray_address,
        lambda x: False,
    ),
    "pyarrow": Partner(
        "Arrow",
        "pyarrow",
        "pyarrow.Array.from_dlpack(x)",
        lambda pyarrow, x: pyarrow.Array.from_dlpack(x),
        lambda pyarrow, x: pyarrow.array(x.copy()),
        lambda x: x.buffers()[1].address,
        lambda x: x.buffers()[1].is_mutable,
    ),
    "cupy": Partner(
        "CuPy",
        "cupy",
        "cupy.from_dlpack(x)",
        lambda cupy, x: cupy.from_dlpack(x),
        lambda cupy, x: cupy.array(x),
        lambda x: x.data.ptr,
        lambda x: True,
    ),
    "dpnp": Partner(
        "dpnp",
        "dpnp",
        "dpnp.from_dlpack(x)",
        lambda dpnp, x: dpnp.from_dlpack(x),
        lambda dpnp, x: dpnp.array(x),
        lambda x: x.__sycl_usm_array_interface__["data"][0],
        lambda x: not x.__sycl_usm_array_interface__["data"][1],
    ),
    "numba": Partner(
        "Numba",
        "numba",
        "numba.njit(function)(numpy.asarray(x))",
        _to_numba,
        None,
        _numpy_address,
        lambda x: x.flags.writeable,
    ),
    "mpi4py": Partner(
        "mpi4py",
        "mpi4py.MPI",
        "MPI.memory(x)",
        lambda mpi, x: mpi.memory(x),
        None,
        lambda x: x.address,
        lambda x: not x.readonly,
    ),
}
