"""Products of vectors, matrices and tensors, each as an ``einsum``."""

from __future__ import annotations

import string
from collections.abc import Sequence

from numpy.exceptions import AxisError

from . import _core
from ._arguments import arrays_of, axes_of, axis_of, is_one, of_array
from ._core import Array
from ._dtypes import result_type
from ._types import AnyArray

__all__ = ["einsum", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


def _product(name, equation, *arrays):
    dtype = result_type(*arrays)
    if dtype.kind == "b":
        # As in NumPy, truth values multiply by "and" and add by "or".
        return _core.cast(_core.einsum(equation, [_core.cast(x, "int32") for x in arrays]), dtype)
    return _core.einsum(equation, [x if x.dtype == dtype else _core.cast(x, dtype) for x in arrays])


def einsum(equation: str, /, *arrays: AnyArray) -> Array:
    """Sums of products by an equation, with NumPy's rules.

    Parameters
    ----------
    equation : str
        A letter for each axis of each array, and after ``->`` the letters of the result.
    *arrays : Array

    Returns
    -------
    Array
    """
    return _product("einsum", equation, *arrays_of("einsum", arrays))


def outer(x1: AnyArray, x2: AnyArray, /) -> Array:
    """The product of each element of ``x1`` with each element of ``x2``.

    Parameters
    ----------
    x1, x2 : Array

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("outer", [x1, x2])
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer of {list(x1.shape)} and {list(x2.shape)}: it takes arrays of one axis")
    return _product("outer", "i,j->ij", x1, x2)


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
    """The product of matrices. An array of rank 1 is a row on the left and a column on the right.

    Parameters
    ----------
    x1, x2 : Array

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("matmul", [x1, x2])
    if x1.ndim == 0 or x2.ndim == 0:
        raise ValueError("matmul of an array without axes: it takes vectors and matrices, and * multiplies by a number")
    inner = x2.shape[-2] if x2.ndim > 1 else x2.shape[0]
    if x1.shape[-1] != inner:
        raise ValueError(f"matmul of {list(x1.shape)} and {list(x2.shape)}: {x1.shape[-1]} columns meet {inner} rows")
    left, row = ("k", "") if x1.ndim == 1 else ("...ik", "i")
    right, column = ("k", "") if x2.ndim == 1 else ("...kj", "j")
    batch = "..." if x1.ndim > 1 or x2.ndim > 1 else ""
    return _product("matmul", f"{left},{right}->{batch}{row}{column}", x1, x2)


def vecdot(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """The sum of products along an axis, the last by default.

    Parameters
    ----------
    x1, x2 : Array
    axis : int
        The axis of both arrays.

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("vecdot", [x1, x2])
    axes = [axis_of(axis, x.ndim, "vecdot") for x in (x1, x2)]
    lengths = [x.shape[own] for x, own in zip((x1, x2), axes)]
    if lengths[0] != lengths[1]:
        raise ValueError(f"vecdot of lengths {lengths[0]} and {lengths[1]}: they must be equal")
    # The others broadcast, counted from the end.
    last = [_core.permute(x, [k for k in range(x.ndim) if k != own] + [own]) for x, own in zip((x1, x2), axes)]
    return _product("vecdot", "...k,...k->...", *last)


def tensordot(x1: AnyArray, x2: AnyArray, /, *, axes: int | Sequence[Sequence[int]] = 2) -> Array:
    """The sum of products over axes of both arrays.

    Parameters
    ----------
    x1, x2 : Array
    axes : int or pair of sequences of int
        The number of last axes of ``x1`` and first axes of ``x2`` that are summed over, or these axes of both.

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("tensordot", [x1, x2])
    if is_one(axes):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise AxisError(f"tensordot over {axes} axes of {list(x1.shape)} and {list(x2.shape)}")
        left, right = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        left, right = (axes_of(axis, x.ndim, "tensordot") for axis, x in zip(axes, (x1, x2)))
    met = [x1.shape[axis] for axis in left]
    if met != [x2.shape[axis] for axis in right]:
        raise ValueError(f"tensordot of {list(x1.shape)} and {list(x2.shape)} over axes {left} and {right}")
    letters = list(string.ascii_letters)
    if x1.ndim + x2.ndim > len(letters):
        raise ValueError(f"tensordot of {x1.ndim} and {x2.ndim} axes, of more than {len(letters)} in all")
    of_x1, of_x2 = letters[: x1.ndim], letters[x1.ndim : x1.ndim + x2.ndim]
    for i, j in zip(left, right):
        of_x2[j] = of_x1[i]
    kept = [c for k, c in enumerate(of_x1) if k not in left] + [c for k, c in enumerate(of_x2) if k not in right]
    return _product("tensordot", f"{''.join(of_x1)},{''.join(of_x2)}->{''.join(kept)}", x1, x2)
