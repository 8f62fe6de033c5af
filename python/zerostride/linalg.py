"""The array API standard's ``linalg``, without the functions of complex results.

Products, diagonals and norms run on the device. Solutions and factorizations run on the host, in :mod:`._solvers`.
"""

from __future__ import annotations

import builtins
import math
from typing import Literal

from numpy.typing import DTypeLike

from . import _core
from ._arguments import arrays_of, axis_of, integer, of_array
from ._core import Array
from ._creation import eye
from ._dtypes import default_float, is_float, result_type
from ._elementwise import abs, pow
from ._linear import matmul, matrix_transpose, outer, tensordot, vecdot
from ._manipulation import broadcast_to, moveaxis, roll
from ._solvers import *
from ._statistics import axes, count_nonzero, max, min, sum
from ._types import AnyArray, Axes

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace",
    "vecdot", "vector_norm",
]  # fmt: skip


def _matrices(x, what):
    if x.ndim < 2:
        raise ValueError(f"{what} of {list(x.shape)}: it takes matrices, which have two axes or more")
    return x


def cross(x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements.

    Parameters
    ----------
    x1, x2 : Array
    axis : int
        The axis of the vectors in both arrays. The other axes broadcast.

    Returns
    -------
    Array
    """
    x1, x2 = arrays_of("cross", [x1, x2])
    own = [axis_of(axis, x.ndim, "cross") for x in (x1, x2)]
    lengths = [x.shape[k] for x, k in zip((x1, x2), own)]
    if lengths != [3, 3]:
        raise ValueError(f"cross of lengths {lengths[0]} and {lengths[1]}: vectors have 3 elements")
    dtype = result_type(x1, x2)
    if dtype.kind == "b":
        raise TypeError("cross takes floats and integers, not bool: cast first")
    a, b = (moveaxis(x, k, -1) for x, k in zip((x1, x2), own))
    result = roll(a, -1, axis=-1) * roll(b, -2, axis=-1) - roll(a, -2, axis=-1) * roll(b, -1, axis=-1)
    return moveaxis(result, -1, axis)


@of_array
def diagonal(x: AnyArray, /, *, offset: int = 0) -> Array:
    """The diagonal of each matrix of a stack: a view that cannot be written to, of a matrix whose elements lie row by row,
    as NumPy's.

    Parameters
    ----------
    x : Array
    offset : int
        The distance above the main diagonal, or below it if negative.

    Returns
    -------
    Array
    """
    rows, columns = _matrices(x, "diagonal").shape[-2:]
    offset = integer(offset, "the offset of diagonal")
    down, across = builtins.max(-offset, 0), builtins.max(offset, 0)
    n = builtins.max(builtins.min(rows - down, columns - across), 0)
    # The next element of a diagonal lies a row and one element further.
    first, step = (down * columns + across, columns + 1) if n else (0, 1)
    rows_in_one = _core.reshape(x, [*x.shape[:-2], rows * columns])
    return rows_in_one[..., first : first + (n - 1) * step + 1 if n else 0 : step]._readonly()


@of_array
def trace(x: AnyArray, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sum of the diagonal of each matrix of a stack.

    Parameters
    ----------
    x : Array
    offset : int
        The distance above the main diagonal, or below it if negative.
    dtype : dtype, optional
        The type of the result. By default, it is that of ``x``, but integers are at least as wide as the default integer
        type.

    Returns
    -------
    Array
    """
    return sum(diagonal(_matrices(x, "trace"), offset=offset), axis=-1, dtype=dtype)


@of_array
def vector_norm(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norm of vectors along axes, or of all elements.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        The axes of a vector, all by default.
    keepdims : bool
        Whether reduced axes stay, with length 1.
    ord : number
        The order of the norm, ``sum(abs(x) ** ord) ** (1 / ord)``. ``inf`` and ``-inf`` are the greatest and the least
        magnitude, and 0 is the number of elements other than 0.

    Returns
    -------
    Array
    """
    x = x if is_float(x.dtype) else _core.cast(x, default_float(x.device))
    over = axes(x, axis, "vector_norm")
    if ord in (1, 2):
        return _core.reduce("l1" if ord == 1 else "l2", x, over, keepdims)
    if ord == math.inf:
        # The greatest of no magnitudes is 0.
        return (max if x.size else sum)(abs(x), axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return min(abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return _core.cast(count_nonzero(x, axis=axis, keepdims=keepdims), x.dtype)
    # Floats of 16 bits are too narrow for powers.
    wide = x if x.dtype.itemsize > 2 else _core.cast(x, "float32")
    found = pow(_core.reduce("sum", pow(abs(wide), float(ord)), over, keepdims), 1 / ord)
    return found if found.dtype == x.dtype else _core.cast(found, x.dtype)


@of_array
def matrix_norm(
    x: AnyArray, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> Array:
    """The norm of each matrix of a stack.

    Parameters
    ----------
    x : Array
    keepdims : bool
        Whether the last two axes stay, with length 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
        ``"fro"`` is the root of the sum of squares. 1 and -1 are the greatest and the least sum of magnitudes of a column,
        ``inf`` and ``-inf`` of a row. 2 and -2 are the greatest and the least singular value, and ``"nuc"`` is the sum of
        the singular values, which the host computes.

    Returns
    -------
    Array
    """
    _matrices(x, "matrix_norm")
    if ord is None or ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        found = svdvals(x)
        found = (min if ord == -2 else max if ord == 2 and found.size else sum)(found, axis=-1)
        return found[..., None, None] if keepdims else found
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"a matrix norm of ord={ord!r}: there are 'fro', 'nuc', 1, -1, 2, -2, inf and -inf")
    summed, found = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = vector_norm(x, axis=summed, keepdims=True, ord=1)
    found = (min if ord < 0 else max if sums.size else sum)(sums, axis=found, keepdims=True)
    return found if keepdims else found[..., 0, 0]


@of_array
def matrix_power(x: AnyArray, n: int, /) -> Array:
    """The ``n``-th power of each square matrix of a stack.

    Parameters
    ----------
    x : Array
    n : int
        A negative power is a power of the inverse.

    Returns
    -------
    Array
    """
    n = integer(n, "the n of matrix_power")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_power of {list(x.shape)}: it takes square matrices")
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        return broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape)
    result, square = None, x
    while True:
        if n % 2:
            result = square if result is None else matmul(result, square)
        n //= 2
        if n == 0:
            return result._copy() if result is x else result
        square = matmul(square, square)
