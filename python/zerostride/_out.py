"""Results written to the array that ``out`` names."""

import numpy as np

from . import _core
from ._core import Array
from ._dtypes import is_float


def must_fit(dtype, shape, out, casting):
    """Raises if a result does not go into `out`, by NumPy's casting rules, of which "same_kind" is extended by bfloat16."""
    is_kind = casting == "same_kind" and is_float(dtype) and is_float(out.dtype)
    if not (is_kind or np.can_cast(dtype, out.dtype, casting)):
        raise TypeError(f"the result of {dtype} does not go into an array of {out.dtype}: cast it by astype")
    if shape != out.shape:
        raise ValueError(f"the result of {list(shape)} does not go into an array of {list(out.shape)}: out has its shape")


def written(result, out, mask=True):
    """`out`, with a result in place of its elements, where a mask is true."""
    if not isinstance(out, Array):
        np.copyto(out, np.asarray(result), casting="unsafe", where=np.asarray(mask))
        return out
    result = result if result.dtype == out.dtype else _core.cast(result, out.dtype)
    out._replace(result if mask is True else _core.select(mask, result, out))
    return out


def delivered(result, out):
    """The result, written to `out` if there is one."""
    out = out[0] if isinstance(out, tuple) else out
    if out is None:
        return result
    must_fit(result.dtype, result.shape, out, "same_kind")
    return written(result, out)
