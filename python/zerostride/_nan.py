"""Reductions that skip NaN, under NumPy's names. Integers and bool have no NaN and are reduced as usual.

The result of a row of NaN alone is NaN, as in NumPy. Nothing warns of it, because a warning would need a read.
"""

from __future__ import annotations

import math

from numpy.typing import DTypeLike

from . import _core, _statistics
from ._core import Array
from ._dtypes import is_float
from ._searching import argmax, argmin
from ._statistics import _AXES, _CORRECTION, _DTYPE, _KEEP, _documented
from ._types import AnyArray, Axes

__all__ = [
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum",
    "nanvar",
]  # fmt: skip


def _is_nan(x):
    return _core.apply("is_nan", "finite", x)


def _with(instead, x):
    """The elements with a number in place of every NaN."""
    return _core.select(_is_nan(x), instead, x) if is_float(x.dtype) else x


@_documented("The sum of elements that are not NaN.", _AXES + _DTYPE + _KEEP)
def nansum(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _statistics.sum(_with(0.0, x), axis=axis, dtype=dtype, keepdims=keepdims)


@_documented("The product of elements that are not NaN.", _AXES + _DTYPE + _KEEP)
def nanprod(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _statistics.prod(_with(1.0, x), axis=axis, dtype=dtype, keepdims=keepdims)


def _extreme(reduction, least, x, axis, keepdims):
    if not is_float(x.dtype):
        return reduction(x, axis=axis, keepdims=keepdims)
    found = reduction(_with(least, x), axis=axis, keepdims=keepdims)
    return _core.select(_statistics.all(_is_nan(x), axis=axis, keepdims=keepdims), math.nan, found)


@_documented("The greatest element that is not NaN.")
def nanmax(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _extreme(_statistics.max, -math.inf, x, axis, keepdims)


@_documented("The least element that is not NaN.")
def nanmin(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _extreme(_statistics.min, math.inf, x, axis, keepdims)


def _index(reduction, least, x, axis, keepdims):
    if is_float(x.dtype) and bool(_statistics.any(_statistics.all(_is_nan(x), axis=axis))):
        raise ValueError(f"a row of {list(x.shape)} along axis {axis} has NaN alone: an extreme takes another element")
    return reduction(_with(least, x), axis=axis, keepdims=keepdims)


_ONE_AXIS = "x : Array\naxis : int, optional\n    Without it, the index is one of the flattened array.\n"
_RAISES = "\n    A row of NaN alone raises ``ValueError``, which takes a read.\n"


@_documented("The index of the greatest element that is not NaN.", _ONE_AXIS + _KEEP + _RAISES)
def nanargmax(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _index(argmax, -math.inf, x, axis, keepdims)


@_documented("The index of the least element that is not NaN.", _ONE_AXIS + _KEEP + _RAISES)
def nanargmin(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    return _index(argmin, math.inf, x, axis, keepdims)


_SCANNED = f"x : Array\naxis : int, optional\n    Without it, the array is flattened.\n{_DTYPE}"


@_documented("The cumulative sum, with NaN as 0.", _SCANNED)
def nancumsum(x: AnyArray, /, *, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    return _statistics.cumsum(_with(0.0, x), axis, dtype)


@_documented("The cumulative product, with NaN as 1.", _SCANNED)
def nancumprod(x: AnyArray, /, *, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    return _statistics.cumprod(_with(1.0, x), axis, dtype)


def _averaging(x, dtype, what):
    """The type of a mean, and the elements in a type wide enough for sums and counts."""
    x = _statistics._averaged(x, dtype, what)
    # Floats of 16 bits are too narrow for sums and counts.
    return x.dtype, x if x.dtype.itemsize > 2 else _core.cast(x, "float32")


def _counted(x, axis, keepdims):
    known = _core.apply("not", "truth", _is_nan(x))
    return _statistics.sum(_core.cast(known, x.dtype), axis=axis, keepdims=keepdims)


def averaged(name, x, where=True, *, axis, dtype=None, correction=0.0, keepdims):
    """The mean, variance or standard deviation of the elements that `where` chooses. Names with nan leave out NaN."""
    skips, kind = name.startswith("nan") and is_float(x.dtype), name.removeprefix("nan")
    dtype, x = _averaging(x, dtype, name)
    known = where & ~_is_nan(x) if skips else where

    def total(values, keepdims):
        return _statistics.sum(_core.select(known, values, 0.0), axis=axis, keepdims=keepdims)

    ones = _core.full(x.shape, 1.0, x.dtype, x.device)
    if kind == "mean":
        found = total(x, keepdims) / total(ones, keepdims)
    else:
        apart = x - total(x, True) / total(ones, True)
        left = total(ones, keepdims) - correction
        left = _core.select(left > 0, left, math.nan if skips else 0.0)
        found = total(apart * apart, keepdims) / left
    return _statistics._as(_core.apply("sqrt", "float", found) if kind == "std" else found, dtype)


@_documented("The arithmetic mean of elements that are not NaN.", _AXES + _DTYPE + _KEEP)
def nanmean(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    if not is_float(x.dtype):
        return _statistics.mean(x, axis=axis, dtype=dtype, keepdims=keepdims)
    return averaged("nanmean", x, axis=axis, dtype=dtype, keepdims=keepdims)


def _spread(name, x, axis, dtype, correction, ddof, keepdims):
    """The variance, or for ``std`` its square root."""
    if not is_float(x.dtype):
        return _statistics._spread(name, x, axis, dtype, correction, ddof, keepdims)
    correction = _statistics._taken_off(f"nan{name}", correction, ddof)
    return averaged(f"nan{name}", x, axis=axis, dtype=dtype, correction=correction, keepdims=keepdims)


_SPREAD = _AXES + _DTYPE + _CORRECTION + _KEEP


@_documented("The variance of elements that are not NaN. It is NaN if there are at most ``correction`` of them.", _SPREAD)
def nanvar(
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


@_documented("The standard deviation of elements that are not NaN. It is NaN where ``nanvar`` is.", _SPREAD)
def nanstd(
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


# Reductions that :func:`averaged` computes of some elements.
AVERAGES = {_statistics.mean, _statistics.std, _statistics.var, nanmean, nanstd, nanvar}
