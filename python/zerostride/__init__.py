"""Arrays on any GPU that wgpu reaches (Vulkan, Metal, DX12, GL), and on the CPU with the same bits.

The namespace is the array API standard's. Operators and functions build expressions. Reading an array (printing
it, ``bool``, ``float``, conversion to NumPy) evaluates its expression, in one kernel where possible.

>>> import zerostride as zs
>>> x = zs.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=zs.float32)
>>> y = zs.exp(x - zs.max(x, axis=1, keepdims=True))
>>> print(y / zs.sum(y, axis=1, keepdims=True))
[[0.26894143 0.7310586 ]
 [0.26894143 0.7310586 ]]
"""

import atexit as _atexit
import os as _os
import typing as _typing

from . import _core
from ._core import Array as Array, Device as Device
from ._dtypes import *
from ._creation import *
from ._elementwise import *
from ._manipulation import *
from ._rules import *
from ._statistics import *
from ._searching import *
from ._segments import *
from ._linear import *
from ._nan import *
from ._padding import *
from ._numerics import *
from ._quantiles import *
from ._info import *
from .linalg import cross as cross
from . import _methods, lib as lib, linalg as linalg, random as random

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

_atexit.register(_core.finish, 10.0)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_core.forked)

# A type checker that saw `__getattr__` would accept every name.
if _typing.TYPE_CHECKING:
    import numpy as _np

    bfloat16: _np.dtype
else:

    def __getattr__(name):
        # Imported on first use: the package `ml_dtypes` is optional.
        if name == "bfloat16":
            import ml_dtypes
            import numpy

            return numpy.dtype(ml_dtypes.bfloat16)
        raise AttributeError(f"module 'zerostride' has no attribute '{name}'")
