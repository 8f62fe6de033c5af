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


def _reduced(name, x, axis, keepdims, *correction):
    return _core.reduce(name, x, _statistics.axes(x, axis, name), keepdims, *correction)


@_documented("The greatest element that is not NaN.")
def nanmax(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _reduced("nanmax" if is_float(x.dtype) else "max", x, axis, keepdims)


@_documented("The least element that is not NaN.")
def nanmin(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    return _reduced("nanmin" if is_float(x.dtype) else "min", x, axis, keepdims)


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


def _counted(x, axis, keepdims):
    known = _core.apply("not", "truth", _is_nan(x))
    return _statistics.sum(_core.cast(known, x.dtype), axis=axis, keepdims=keepdims)


def averaged(name, x, where, *, axis, dtype=None, correction=0.0, keepdims):
    """The mean, variance or standard deviation of the elements that `where` chooses. Names with nan leave out NaN."""
    kind, skips = name.removeprefix("nan"), name.startswith("nan")
    x = _statistics._averaged(x, dtype, name)
    if skips:
        return _reduced(name, _core.select(where, x, math.nan), axis, keepdims, correction)
    dtype = x.dtype
    # Floats of 16 bits are too narrow for sums and counts.
    x = x if dtype.itemsize > 2 else _core.cast(x, "float32")

    def total(values, keepdims):
        return _statistics.sum(_core.select(where, values, 0.0), axis=axis, keepdims=keepdims)

    ones = _core.full(x.shape, 1.0, x.dtype, x.device)
    if kind == "mean":
        found = total(x, keepdims) / total(ones, keepdims)
    else:
        apart = x - total(x, True) / total(ones, True)
        left = total(ones, keepdims) - correction
        found = total(apart * apart, keepdims) / _core.select(left > 0, left, 0.0)
    return _statistics._as(_core.apply("sqrt", "float", found) if kind == "std" else found, dtype)


@_documented("The arithmetic mean of elements that are not NaN.", _AXES + _DTYPE + _KEEP)
def nanmean(x: AnyArray, /, *, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> Array:
    return _reduced("nanmean", _statistics._averaged(x, dtype, "nanmean"), axis, keepdims)


def _spread(name, x, axis, dtype, correction, ddof, keepdims):
    """The variance, or for ``std`` its square root. Of integers, NumPy's is infinite without values left."""
    if not is_float(x.dtype):
        return _statistics._spread(name.removeprefix("nan"), x, axis, dtype, correction, ddof, keepdims)
    correction = _statistics._taken_off(name, correction, ddof)
    return _reduced(name, _statistics._averaged(x, dtype, name), axis, keepdims, correction)


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
    return _spread("nanvar", x, axis, dtype, correction, ddof, keepdims)


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
    return _spread("nanstd", x, axis, dtype, correction, ddof, keepdims)


# Reductions that :func:`averaged` computes of some elements.
AVERAGES = {_statistics.mean, _statistics.std, _statistics.var, nanmean, nanstd, nanvar}
