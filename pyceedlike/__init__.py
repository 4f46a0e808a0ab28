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
    EVAL_CURL,
    EVAL_DIV,
    EVAL_GRAD,
    EVAL_INTERP,
    EVAL_NONE,
    EVAL_WEIGHT,
    GAUSS,
    GAUSS_LOBATTO,
    MEM_DEVICE,
    MEM_HOST,
    NORM_1,
    NORM_2,
    NORM_MAX,
    NOTRANSPOSE,
    OWN_POINTER,
    TOPOLOGY_HEX,
    TOPOLOGY_LINE,
    TOPOLOGY_PRISM,
    TOPOLOGY_PYRAMID,
    TOPOLOGY_QUAD,
    TOPOLOGY_TET,
    TOPOLOGY_TRIANGLE,
    TRANSPOSE,
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
from ._object import (
    BASIS_NONE,
    ELEMRESTRICTION_NONE,
    REQUEST_IMMEDIATE,
    REQUEST_ORDERED,
    VECTOR_ACTIVE,
    VECTOR_NONE,
)
from .box import Box
from .callback import Data, Grad, Interp, QField, Weight
from .ceed import Ceed
from .context import QFunctionContext
from .dlpack import describe, from_dlpack
from .explain import Explanation, explain
from .fab import Fab
from .fab_view import FabView
from .fem import Basis, CompositeOperator, ElemRestriction, Operator, OperatorField
from .index import At
from .mesh import Mesh
from .multifab import MultiFab
from .qfunction import QFunction, QFunctionField
from .space import Geometry, Space
from .vector import Exchange, Vector

__all__ = [
    "BASIS_NONE",
    "COPY_VALUES",
    "ELEMRESTRICTION_NONE",
    "EVAL_CURL",
    "EVAL_DIV",
    "EVAL_GRAD",
    "EVAL_INTERP",
    "EVAL_NONE",
    "EVAL_WEIGHT",
    "GAUSS",
    "GAUSS_LOBATTO",
    "MEM_DEVICE",
    "MEM_HOST",
    "NORM_1",
    "NORM_2",
    "NORM_MAX",
    "NOTRANSPOSE",
    "OWN_POINTER",
    "REQUEST_IMMEDIATE",
    "REQUEST_ORDERED",
    "TOPOLOGY_HEX",
    "TOPOLOGY_LINE",
    "TOPOLOGY_PRISM",
    "TOPOLOGY_PYRAMID",
    "TOPOLOGY_QUAD",
    "TOPOLOGY_TET",
    "TOPOLOGY_TRIANGLE",
    "TRANSPOSE",
    "USE_POINTER",
    "VECTOR_ACTIVE",
    "VECTOR_NONE",
    "At",
    "Basis",
    "Box",
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
    "CompositeOperator",
    "Data",
    "ElemRestriction",
    "Exchange",
    "Explanation",
    "Fab",
    "FabView",
    "Geometry",
    "Grad",
    "Interp",
    "Mesh",
    "MultiFab",
    "Operator",
    "OperatorField",
    "QField",
    "QFunction",
    "QFunctionContext",
    "QFunctionField",
    "Space",
    "Vector",
    "Weight",
    "__version__",
    "describe",
    "explain",
    "from_dlpack",
]
