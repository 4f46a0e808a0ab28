# SPDX-License-Identifier: BSD-2-Clause
"""Vectors whose memory a C solver and the Python array libraries share.

>>> import numpy as np
>>> import pyceedlike
>>> v = pyceedlike.Ceed().Vector(3)
>>> v.set_value(1.0)
>>> np.from_dlpack(v)
array([1., 1., 1.])
"""

import importlib.util as _util

if not _util.find_spec(f"{__name__}._exchange"):
    raise ImportError(
        f"{__path__[0]} is the source of pyceedlike and is not built: start Python in another "
        "folder to import the installed package, or install this one with pip install -e ."
    )

from ._lib import (
    COPY_VALUES,
    MEM_DEVICE,
    MEM_HOST,
    NORM_1,
    NORM_2,
    NORM_MAX,
    OWN_POINTER,
    USE_POINTER,
    CeedAccessError,
    CeedBackendError,
    CeedCopyError,
    CeedDimensionError,
    CeedError,
    CeedExportError,
    CeedIncompatibleError,
    CeedIncompleteError,
    CeedMemoryError,
    CeedUnsupportedError,
    __version__,
)
from .ceed import Ceed
from .dlpack import describe, from_dlpack
from .explain import Explanation, explain
from .vector import Exchange, Vector

__all__ = [
    "COPY_VALUES",
    "MEM_DEVICE",
    "MEM_HOST",
    "NORM_1",
    "NORM_2",
    "NORM_MAX",
    "OWN_POINTER",
    "USE_POINTER",
    "Ceed",
    "CeedAccessError",
    "CeedBackendError",
    "CeedCopyError",
    "CeedDimensionError",
    "CeedError",
    "CeedExportError",
    "CeedIncompatibleError",
    "CeedIncompleteError",
    "CeedMemoryError",
    "CeedUnsupportedError",
    "Exchange",
    "Explanation",
    "Vector",
    "__version__",
    "describe",
    "explain",
    "from_dlpack",
]
