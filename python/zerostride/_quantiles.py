"""Quantiles, with and without NaN, under NumPy's names. They sort the elements."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

import zerostride as zs

from . import _core
from ._arguments import axes_of, of_array, upload
from ._core import Array
from ._dtypes import default_float, is_float
from ._indexing import take_along
from ._nan import _counted
from ._out import delivered
from ._statistics import _floats
from ._types import AnyArray, Axes

__all__ = ["median", "nanmedian", "nanquantile", "quantile"]

# Hyndman and Fan's constants alpha and beta, which place a quantile between sorted elements. The first three methods
# take an element itself.
_METHODS = {
    "lower": (1, 1), "higher": (1, 1), "nearest": (1, 1), "midpoint": (1, 1), "linear": (1, 1), "hazen": (0.5, 0.5),
    "weibull": (0, 0), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0, 1),
}  # fmt: skip
_WHOLE = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


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
    rows = _rows(_floats(x), _axes(x, axis))
    found = _core.median(rows, -1) if rows.size else _core.full(rows.shape[:-1], math.nan, rows.dtype, x.device)
    return delivered(_kept(found, x, _axes(x, axis)) if keepdims else found, out)


@of_array
def quantile(
    x: AnyArray,
    /,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Quantiles, as ``numpy.quantile``. They are NaN if an element is NaN. One sort serves all of them.

    Parameters
    ----------
    x : Array
    q : number or array
        Quantiles from 0 to 1. The axes of ``q`` come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : Array, optional
        The array that takes the result.
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
    return _quantiles(x, q, axis, out, method, keepdims, skips=False)


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
    return delivered(nanquantile(_floats(x), 0.5, axis, keepdims=keepdims), out)


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
    """Quantiles of elements that are not NaN. One sort serves all of them.

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
    return _quantiles(x, q, axis, out, method, keepdims, skips=True)


def _axes(x, axis):
    return list(range(x.ndim)) if axis is None else axes_of(axis, x.ndim, "quantile")


def _rows(x, axes):
    """Some axes as the last one."""
    kept = [each for each in range(x.ndim) if each not in axes]
    rest = [x.shape[each] for each in kept]
    return _core.reshape(_core.permute(x, kept + axes), [*rest, math.prod(x.shape[each] for each in axes)])


def _kept(found, x, axes, before=()):
    """A result with the axes that were reduced, of length 1."""
    return _core.reshape(found, [*before, *(1 if each in axes else length for each, length in enumerate(x.shape))])


def _quantiles(x, q, axis, out, method, keepdims, skips):
    if method not in _METHODS:
        raise TypeError(f"{method!r} for the method of a quantile: there are {', '.join(map(repr, _METHODS))}")
    parts = np.asarray(q, dtype=np.float64)
    if not np.all((parts >= 0) & (parts <= 1)):
        raise ValueError(f"a quantile of {q!r}: it is from 0 to 1")
    if method == "linear" and np.asarray(q).dtype.kind in "biu":
        # The least and the greatest element lie between no others.
        method = "lower"
    if x.dtype.kind == "b" and x.size and method not in _WHOLE:
        raise TypeError(f"a quantile between truth values: name one of the methods {', '.join(_WHOLE)}, or cast to a float")
    axes = _axes(x, axis)
    rows = _rows(x if method in _WHOLE and x.size else _floats(x), axes)
    rest = list(rows.shape[:-1])
    if rows.size and parts.size:
        found = _core.cast(_of_rows(rows, parts.ravel(), method, skips), rows.dtype)
    elif rows.shape[-1] or skips:
        found = _core.full([*rest, parts.size], math.nan if is_float(rows.dtype) else 0, rows.dtype, x.device)
    else:
        raise IndexError(f"a quantile over axes {axes} of {list(x.shape)}: they have no elements")
    found = _core.permute(found, [len(rest), *range(len(rest))])
    found = _kept(found, x, axes, parts.shape) if keepdims else _core.reshape(found, [*parts.shape, *rest])
    return delivered(found, out)


def _of_rows(rows, parts, method, skips):
    """Quantiles of the last axis, as the last one. Those of narrow floats are computed in float32."""
    # NaN is last in order.
    rows = zs.sort(rows, axis=-1)
    rows = rows if rows.dtype.itemsize > 2 else _core.cast(rows, "float32")
    if skips:
        real = default_float(rows.device)
        parts, count = upload(parts.astype(real), rows.device), _core.cast(_counted(rows, -1, True), real)
    else:
        # Of as many elements everywhere the host knows the places, in float64.
        parts, count = parts.reshape([1] * (rows.ndim - 1) + [-1]), rows.shape[-1]
    low, weight = _places(count, parts, method)
    first = take_along(rows, _whole(low), -1)
    found = first
    if weight is not None:
        weight = _core.cast(weight, rows.dtype) if skips else upload(weight.astype(rows.dtype), rows.device)
        second = take_along(rows, _whole(np.minimum(low + 1.0, np.maximum(count - 1.0, 0.0))), -1)
        rise = second - first
        found = zs.where(weight < 0.5, first + rise * weight, second - rise * (1.0 - weight))
        # Of equal elements nothing is subtracted, and nothing is added to an element, as those may be infinite.
        found = zs.where((first == second) | (weight == 0), first, found)
    # One NaN makes all NaN, unless those are left out.
    last = rows[..., -1:]
    return found if skips or not is_float(rows.dtype) else zs.where(last == last, found, math.nan)


def _places(count, parts, method):
    """Which of so many elements, in order, is the last before a quantile, and how far on to the next one it lies. Both
    are of the host, or of a device.
    """
    alpha, beta = _METHODS[method]
    place = (count - 1.0) * parts if alpha == beta == 1 else count * parts + (alpha + parts * (1 - alpha - beta)) - 1.0
    place = np.maximum(np.minimum(place, count - 1.0), 0.0)
    if place.dtype == np.float32:
        # The nearest float of a part may lie below it. A place that close to an element is the element's.
        whole = np.rint(place)
        place = zs.where(abs(place - whole) <= 2.0**-22 * whole, whole, place)
    if method in _WHOLE:
        return _WHOLE[method](place), None
    low = np.floor(place)
    return low, np.ceil(place - low) * 0.5 if method == "midpoint" else place - low


def _whole(places):
    return _core.cast(places, "int32") if isinstance(places, Array) else places.astype(np.int64)
