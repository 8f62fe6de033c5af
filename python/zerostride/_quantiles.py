"""Quantiles, with and without NaN, under NumPy's names. They sort the elements."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

import zerostride as zs

from . import _core
from ._arguments import axes_of, of_array
from ._core import Array
from ._nan import _counted
from ._statistics import _floats as floats
from ._types import AnyArray, Axes
from ._ufuncs import delivered

__all__ = ["median", "nanmedian", "nanquantile", "quantile"]

# Hyndman and Fan's constants alpha and beta, which place a quantile between sorted elements. The first three methods
# take an element itself.
_METHODS = {
    "lower": (1, 1), "higher": (1, 1), "nearest": (1, 1), "midpoint": (1, 1), "linear": (1, 1), "hazen": (0.5, 0.5),
    "weibull": (0, 0), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0, 1),
}  # fmt: skip


@of_array
def median(x: AnyArray, /, axis: Axes = None, out: Array | None = None, *, keepdims: bool = False) -> Array:
    """The median, as ``numpy.median``. It is NaN if an element is NaN.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        All axes by default.
    out : Array, optional
        The array that the result is written to.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
    """
    return np.median(x, axis=axis, out=out, keepdims=keepdims)


@of_array
def quantile(
    x: AnyArray, /, q: ArrayLike, axis: Axes = None, *, method: str = "linear", keepdims: bool = False
) -> Array:
    """Quantiles, as ``numpy.quantile``. They are NaN if an element is NaN.

    Parameters
    ----------
    x : Array
    q : number or array
        Quantiles from 0 to 1. The axes of ``q`` come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    method : str
        NumPy's name of the rule for a quantile between two elements.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
    """
    return np.quantile(x, q, axis=axis, method=method, keepdims=keepdims)


@of_array
def nanmedian(
    x: AnyArray, /, axis: Axes = None, out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The median of elements that are not NaN.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        All axes by default.
    out : Array, optional
        The array that the result is written to.
    overwrite_input : bool
        NumPy's argument, which changes nothing here.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
    """
    return delivered(nanquantile(x, 0.5, axis, keepdims=keepdims), out)


@of_array
def nanquantile(
    x: AnyArray,
    /,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles of elements that are not NaN.

    Parameters
    ----------
    x : Array
    q : number or array
        Quantiles from 0 to 1. The axes of ``q`` come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : Array, optional
        The array that the result is written to.
    overwrite_input : bool
        NumPy's argument, which changes nothing here.
    method : str
        NumPy's name of the rule for a quantile between two elements.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    Array
    """
    if method not in _METHODS:
        raise TypeError(f"{method!r} for the method of a quantile: there are {', '.join(map(repr, _METHODS))}")
    parts = np.asarray(q, dtype=np.float64)
    if not np.all((parts >= 0) & (parts <= 1)):
        raise ValueError(f"a quantile of {q!r}: it is from 0 to 1")
    axes = axes_of(range(x.ndim) if axis is None else axis, x.ndim, "quantile")
    kept = [each for each in range(x.ndim) if each not in axes]
    rest = [x.shape[each] for each in kept]
    rows = _core.reshape(_core.permute(floats(x), kept + axes), [*rest, math.prod(x.shape[each] for each in axes)])
    found = [_core.unsqueeze(each, 0) for each in _of_rows(rows, parts.ravel().tolist(), method)]
    found = zs.concat(found, axis=0) if found else _core.full([0, *rest], 0, rows.dtype, x.device)
    if keepdims:
        rest = [1 if each in axes else length for each, length in enumerate(x.shape)]
    return delivered(_core.reshape(found, [*parts.shape, *rest]), out)


def _of_rows(rows, parts, method):
    """A list of the quantiles `parts` of the last axis."""
    length = rows.shape[-1]
    if not length:
        return [_core.full(rows.shape[:-1], math.nan, rows.dtype, rows.device) for _ in parts]
    # A sort puts NaN last, so the first `count` elements are numbers.
    rows = zs.sort(rows, axis=-1).evaluate()
    wide = rows if rows.dtype.itemsize > 2 else _core.cast(rows, "float32")
    count = _counted(wide, -1, True).evaluate()
    return [_between(rows, wide, count, part, method) for part in parts]


def _between(rows, wide, count, part, method):
    alpha, beta = _METHODS[method]
    place = count * part + (alpha + part * (1 - alpha - beta)) - 1.0 if (alpha, beta) != (1, 1) else (count - 1.0) * part
    place = zs.maximum(zs.minimum(place, count - 1.0), 0.0)
    low = zs.floor(place)
    if method == "nearest":
        low = place = zs.round(place)
    elif method == "higher":
        low = place = zs.ceil(place)
    elif method == "lower":
        place = low
    first = _at(wide, low)
    if method in ("nearest", "higher", "lower"):
        return _core.cast(first, rows.dtype)
    second = _at(wide, zs.minimum(low + 1.0, zs.maximum(count - 1.0, 0.0)))
    weight = zs.squeeze(place - low, -1)
    if method == "midpoint":
        weight = zs.where(weight == 0, 0.0, zs.full_like(weight, 0.5))
    rise = second - first
    found = zs.where(weight < 0.5, first + rise * weight, second - rise * (1.0 - weight))
    # Equal elements are not subtracted: infinities would make NaN.
    return _core.cast(zs.where(first == second, first, found), rows.dtype)


def _at(rows, places):
    return zs.squeeze(zs.take_along_axis(rows, _core.cast(places, "int32"), axis=-1), -1)
