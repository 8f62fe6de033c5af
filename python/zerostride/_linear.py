"""Products of vectors and matrices: elementwise products that are added up, of which nothing is stored."""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import _core
from ._arguments import arrays_of, axes_of, axis_of, is_one, of_array
from ._core import Array
from ._dtypes import result_type
from ._manipulation import moveaxis, reshape
from ._types import AnyArray

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def _numeric(name, x1, x2):
    dtype = result_type(x1, x2)
    if dtype.kind == "b":
        raise TypeError(f"{name} takes floats and integers, not bool: cast first")
    return (x if x.dtype == dtype else _core.cast(x, dtype) for x in (x1, x2))


@of_array
def matrix_transpose(x: AnyArray, /) -> Array:
    """Each matrix of a stack transposed.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array
    """
    return x.mT


def matmul(x1: AnyArray, x2: AnyArray, /) -> Array:
    """The product of matrices; one axis alone is a row on the left and a column on the right.

    Parameters
    ----------
    x1, x2 : Array

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("matmul", [x1, x2])
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("matmul takes arrays with axes: multiply by numbers with *")
    inner = x2.shape[-2] if x2.ndim > 1 else x2.shape[0]
    if x1.shape[-1] != inner:
        raise ValueError(f"matmul of {list(x1.shape)} and {list(x2.shape)}: {x1.shape[-1]} columns meet {inner} rows")
    x1, x2 = _numeric("matmul", x1, x2)
    row, column = x1.ndim == 1, x2.ndim == 1
    x1 = _core.unsqueeze(x1, 0) if row else x1
    x2 = _core.unsqueeze(x2, 1) if column else x2
    # Along the last axis, where both are added up: (..., rows, 1, inner) and (..., 1, columns, inner).
    products = _core.apply("mul", "same", _core.unsqueeze(x1, -2), _core.unsqueeze(x2.mT, -3))
    result = _core.reduce("sum", products, [-1])
    result = _core.squeeze(result, -1) if column else result
    return _core.squeeze(result, -1 if column else -2) if row else result


def vecdot(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """The sum of products along an axis.

    Parameters
    ----------
    x1, x2 : Array
    axis : int
        Counted from the end.

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("vecdot", [x1, x2])
    lengths = [x.shape[axis_of(axis, x.ndim, "vecdot")] for x in (x1, x2)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"vecdot of lengths {lengths[0]} and {lengths[1]}: they must be equal")
    x1, x2 = (moveaxis(x, axis, -1) for x in _numeric("vecdot", x1, x2))
    return _core.reduce("sum", _core.apply("mul", "same", x1, x2), [-1])


def tensordot(x1: AnyArray, x2: AnyArray, /, *, axes: int | Sequence[Sequence[int]] = 2) -> Array:
    """The sum of products over axes of both arrays.

    Parameters
    ----------
    x1, x2 : Array
    axes : int or pair of sequences of int
        How many last axes of ``x1`` meet the first of ``x2``, or which axes of both.

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("tensordot", [x1, x2])
    if is_one(axes):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot over {axes} axes of {list(x1.shape)} and {list(x2.shape)}")
        left, right = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        left, right = (axes_of(axis, x.ndim, "tensordot") for axis, x in zip(axes, (x1, x2)))
    met = [x1.shape[axis] for axis in left]
    if met != [x2.shape[axis] for axis in right]:
        raise ValueError(f"tensordot of {list(x1.shape)} and {list(x2.shape)} over axes {left} and {right}")
    x1, x2 = _numeric("tensordot", x1, x2)
    rows = [axis for axis in range(x1.ndim) if axis not in left]
    columns = [axis for axis in range(x2.ndim) if axis not in right]
    shape = [x1.shape[axis] for axis in rows] + [x2.shape[axis] for axis in columns]
    inner = math.prod(met)
    x1 = _core.permute(x1, rows + left)
    x2 = _core.permute(x2, columns + right)
    x1 = reshape(x1, (math.prod(x1.shape[: len(rows)]), 1, inner))
    x2 = reshape(x2, (1, math.prod(x2.shape[: len(columns)]), inner))
    return reshape(_core.reduce("sum", _core.apply("mul", "same", x1, x2), [-1]), shape)
