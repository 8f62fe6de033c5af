"""Reductions and cumulative reductions."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from . import _core
from ._arguments import P, R, along, axes_of, axis_of, integer, of_array
from ._core import Array
from ._creation import beside, ones, zeros
from ._dtypes import default_float, int64, is_float, is_integer, result_type, uint64
from ._manipulation import broadcast_to, concat
from ._out import delivered
from ._types import AnyArray, Axes, Operand

__all__ = [
    "all", "any", "checksum", "count_nonzero", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "log_softmax", "logsumexp", "max",
    "mean", "min", "prod", "softmax", "std", "sum", "var",
]  # fmt: skip

_AXES = """x : Array
axis : int or tuple of int, optional
    The axes to reduce, all by default.
"""
_KEEP = "keepdims : bool\n    Whether reduced axes stay, with length 1.\n"


def _documented(what: str, parameters: str = _AXES + _KEEP) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def document(function):
        function = of_array(function)
        function.__doc__ = f"{what}\n\nParameters\n----------\n{parameters}\nReturns\n-------\nArray\n"
        function.__module__ = "zerostride"
        return function

    return document


def axes(x, axis, what):
    """The axes of a reduction, or None for all. As in NumPy, an array without axes has one."""
    return None if axis is None or not x.ndim and axis in (0, -1) else axes_of(axis, x.ndim, what)


def accumulating(x, dtype):
    """The type of a sum: that of the elements, but integers are as wide as the default integer type."""
    if dtype is not None:
        return dtype
    if not is_integer(x.dtype) and x.dtype.kind != "b":
        return x.dtype
    return uint64 if x.dtype.kind == "u" else int64


def _as(x, dtype):
    return x if x.dtype == dtype else _core.cast(x, dtype)


def _floats(x):
    return x if is_float(x.dtype) else _core.cast(x, default_float(x.device))


_DTYPE = """dtype : dtype, optional
    The type of the result. By default, it is that of ``x``, but integers are as wide as the default integer type.
"""


@_documented("The sum. Its order of additions depends on the shape alone.", _AXES + _DTYPE + _KEEP)
def sum(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _core.reduce("sum", _as(x, accumulating(x, dtype)), axes(x, axis, "sum"), keepdims)


@_documented("The product.", _AXES + _DTYPE + _KEEP)
def prod(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _core.reduce("prod", _as(x, accumulating(x, dtype)), axes(x, axis, "prod"), keepdims)


def _averaged(x, dtype, what):
    """The elements in the float type of a mean."""
    if dtype is None:
        return _floats(x)
    if not is_float(np.dtype(dtype)):
        raise TypeError(f"{what} of zerostride is a float, not {np.dtype(dtype)}: cast it by astype")
    return _as(x, np.dtype(dtype))


_FLOAT = "dtype : dtype, optional\n    The type of the result and of the sum.\n"


@_documented("The arithmetic mean. The mean of no elements is NaN.", _AXES + _FLOAT + _KEEP)
def mean(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _core.reduce("mean", _averaged(x, dtype, "mean"), axes(x, axis, "mean"), keepdims)


_CORRECTION = """correction : number
    The divisor is the number of elements minus ``correction``. ``ddof`` is NumPy's name for it.
"""


def _taken_off(name, correction, ddof):
    if ddof is not None and correction:
        raise ValueError(f"{name} with correction={correction} and ddof={ddof}: they name one number, so pass one of them")
    return float(correction if ddof is None else ddof)


def _spread(name, x, axis, dtype, correction, ddof, keepdims):
    correction = _taken_off(name, correction, ddof)
    return _core.reduce(name, _averaged(x, dtype, name), axes(x, axis, name), keepdims, correction)


@_documented("The variance.", _AXES + _FLOAT + _CORRECTION + _KEEP)
def var(
    x: AnyArray,
    /,
    *,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
) -> Array:
    return _spread("var", x, axis, dtype, correction, ddof, keepdims)


@_documented("The standard deviation.", _AXES + _FLOAT + _CORRECTION + _KEEP)
def std(
    x: AnyArray,
    /,
    *,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
) -> Array:
    return _spread("std", x, axis, dtype, correction, ddof, keepdims)


@_documented("The greatest element, or NaN if an element is NaN.")
def max(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _core.reduce("max", x, axes(x, axis, "max"), keepdims)


@_documented("The least element, or NaN if an element is NaN.")
def min(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _core.reduce("min", x, axes(x, axis, "min"), keepdims)


_OUT = "out : Array, optional\n    The array that the result is written to, as in NumPy.\n"


def _truth(x):
    return _as(x, np.dtype("bool"))


@_documented("Whether all elements are other than 0.", _AXES + _KEEP + _OUT)
def all(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False, out: Array | None = None) -> Array:
    return delivered(_core.reduce("all", _truth(x), axes(x, axis, "all"), keepdims), out)


@_documented("Whether any element is other than 0.", _AXES + _KEEP + _OUT)
def any(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False, out: Array | None = None) -> Array:
    return delivered(_core.reduce("any", _truth(x), axes(x, axis, "any"), keepdims), out)


@_documented("The number of elements other than 0.")
def count_nonzero(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    counts = _core.reduce("count_nonzero", x, axes(x, axis, "count_nonzero"), keepdims)
    return _core.cast(counts, int64)


@_documented(
    "A number of uint32 without axes that depends on the bits of every element and on its place in row-major order.\n\n"
    "Arrays of equal elements have equal checksums on every device, so two machines find out where they part by 4 bytes\n"
    "a step. Others have the same by chance, once in 2**32. The shape is no part of it, any NaN counts as one, and -0 is\n"
    "not 0.",
    "x : Array\n",
)
def checksum(x: AnyArray, /) -> Array:
    return _core.checksum(x)


@_documented("The logarithm of the sum of exponentials, without intermediate overflow.")
def logsumexp(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _core.reduce("logsumexp", _floats(x), axes(x, axis, "logsumexp"), keepdims)


@_documented("The exponentials divided by their sum, without intermediate overflow.", _AXES)
def softmax(x: AnyArray, /, *, axis: Axes = -1) -> Array:
    return _core.reduce("softmax", _floats(x), axes(x, axis, "softmax"))


@_documented("The logarithm of ``softmax``, without intermediate underflow.", _AXES)
def log_softmax(x: AnyArray, /, *, axis: Axes = -1) -> Array:
    return _core.reduce("log_softmax", _floats(x), axes(x, axis, "log_softmax"))


_RESULTS_SO_FAR = f"""x : Array
axis : int, optional
    Required unless ``x`` has one axis.
{_DTYPE}include_initial : bool
    Whether the result begins with the value of no elements.
"""


def _cumulative(name, op, initial, x, axis, dtype, include_initial):
    if axis is None and x.ndim > 1:
        raise ValueError(f"{name} of {list(x.shape)} without an axis: an array of {x.ndim} axes needs one")
    x, axis = along(x, axis, name)
    result = _core.reduce(op, _as(x, accumulating(x, dtype)), [axis])
    if include_initial:
        shape = [1 if i == axis else length for i, length in enumerate(x.shape)]
        result = concat([initial(shape, dtype=result.dtype, device=x.device), result], axis=axis)
    return result


@_documented("The cumulative sum along an axis.", _RESULTS_SO_FAR)
def cumulative_sum(
    x: AnyArray, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    return _cumulative("cumulative_sum", "cumsum", zeros, x, axis, dtype, include_initial)


@_documented("The cumulative product along an axis.", _RESULTS_SO_FAR)
def cumulative_prod(
    x: AnyArray, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
) -> Array:
    return _cumulative("cumulative_prod", "cumprod", ones, x, axis, dtype, include_initial)


@_documented("NumPy's name for ``cumulative_sum``. Without an axis, the array is flattened.", f"x : Array\naxis : int, optional\n{_DTYPE}")
def cumsum(x: AnyArray, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    x, axis = along(x, axis, "cumsum")
    return cumulative_sum(x, axis=axis, dtype=dtype)


@_documented("NumPy's name for ``cumulative_prod``. Without an axis, the array is flattened.", f"x : Array\naxis : int, optional\n{_DTYPE}")
def cumprod(x: AnyArray, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    x, axis = along(x, axis, "cumprod")
    return cumulative_prod(x, axis=axis, dtype=dtype)


@of_array
def diff(
    x: AnyArray,
    /,
    n: int = 1,
    *,
    axis: int = -1,
    prepend: Operand | None = None,
    append: Operand | None = None,
) -> Array:
    """The difference of each element and the element before it.

    Parameters
    ----------
    x : Array
    n : int
        The number of times that differences are taken.
    axis : int
    prepend, append : Array or number, optional
        Elements to add before and behind ``x`` first. A number, or an array without axes, is one element of the axis.

    Returns
    -------
    Array
    """
    axis = axis_of(axis, x.ndim, "diff")
    n = integer(n, "the n of diff")
    if n < 0:
        raise ValueError(f"diff with n={n}: n is 0 or more")
    one = [1 if k == axis else length for k, length in enumerate(x.shape)]

    def side(part):
        if isinstance(part, (bool, int, float)):
            return _core.full(one, part, result_type(x, part), x.device)
        part = beside(part, x)
        return part if part.ndim else broadcast_to(part, one)

    parts = [part if part is x else side(part) for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    before = (slice(None),) * axis
    op = "ne" if x.dtype.kind == "b" else "sub"
    for _ in range(builtins.min(n, x.shape[axis])):
        x = _core.apply(op, "same", x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x
