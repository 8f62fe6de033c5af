"""Derivatives, integrals and moments of samples, under NumPy's names."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import zerostride as zs

from . import _core, _statistics
from ._arguments import axes_of, axis_of, of_array
from ._core import Array
from ._creation import asarray, beside
from ._dtypes import default_float, is_float
from ._manipulation import part
from ._statistics import _floats as floats
from ._types import AnyArray, Axes

__all__ = ["gradient"]


@of_array
def gradient(f: AnyArray, /, *spacing: ArrayLike, axis: Axes = None, edge_order: int = 1) -> Array | tuple[Array, ...]:
    """Derivatives by central differences, and by one-sided differences at the ends, as ``numpy.gradient``.

    Parameters
    ----------
    f : Array
    *spacing : number or Array
        The distance between neighbours, or the coordinates along an axis: one for all axes, or one for each axis.
    axis : int or tuple of int, optional
        All axes by default.
    edge_order : {1, 2}
        The order of accuracy at the ends.

    Returns
    -------
    Array or tuple of Array
        The derivative along one axis, or a tuple of one for each axis.
    """
    axes = axes_of(range(f.ndim) if axis is None else axis, f.ndim, "gradient")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient has an edge_order of 1 or 2, not {edge_order!r}")
    given = list(spacing) or [1.0]
    if len(given) == 1:
        if np.ndim(given[0]) and len(axes) != 1:
            raise TypeError("gradient takes coordinates for each of its axes, not for one")
        given = given * len(axes)
    if len(given) != len(axes):
        raise TypeError(f"gradient over {len(axes)} axes takes as many spacings, not {len(given)}")
    f = floats(f)
    found = tuple(_derivative(f, each, by, edge_order) for each, by in zip(axes, given))
    return found[0] if len(found) == 1 else found


def _derivative(f, axis, spacing, edge_order):
    length = f.shape[axis]
    if length < edge_order + 1:
        raise ValueError(f"gradient along an axis of length {length}: it takes {edge_order + 1} elements at least")
    if not np.ndim(spacing):
        h = asarray(spacing).item() if isinstance(spacing, Array) else float(spacing)
        return _uniform(f, axis, h, edge_order)
    x = beside(spacing if isinstance(spacing, Array) else np.asarray(spacing), f)
    x = _core.cast(x, "uint8") if x.dtype.kind == "b" else x
    if x.ndim != 1 or x.size != length:
        raise ValueError(f"coordinates of {list(x.shape)} for an axis of {length} elements in gradient")
    if x.dtype.kind == "u":
        # Differences of descending coordinates would wrap.
        x = _core.cast(x, default_float(f.device))
    d = floats(x[1:] - x[:-1])
    if bool(_statistics.all(d == d[0])):
        # Evenly spaced coordinates take the uniform formula, as in NumPy. The other one multiplies the middle element by 0,
        # which is NaN if the element is infinite.
        return _uniform(f, axis, float(d[0]), edge_order)
    d = _core.reshape(d if d.dtype == f.dtype else _core.cast(d, f.dtype), [-1 if k == axis else 1 for k in range(f.ndim)])
    return _apart(f, axis, d, edge_order)


def _uniform(f, axis, h, edge_order):
    at = lambda *bounds: part(f, axis, *bounds)  # noqa: E731
    inside = (at(2, None) - at(None, -2)) / (2.0 * h)
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / h, (at(-1, None) - at(-2, -1)) / h
    else:
        first = at(0, 1) * (-1.5 / h) + at(1, 2) * (2.0 / h) + at(2, 3) * (-0.5 / h)
        last = at(-3, -2) * (0.5 / h) + at(-2, -1) * (-2.0 / h) + at(-1, None) * (1.5 / h)
    return zs.concat([first, inside, last], axis=axis)


def _apart(f, axis, d, edge_order):
    """The derivative of unevenly spaced elements, with distances ``d``."""
    at = lambda *bounds: part(f, axis, *bounds)  # noqa: E731
    d1, d2 = part(d, axis, None, -1), part(d, axis, 1, None)
    inside = at(None, -2) * (-d2 / (d1 * (d1 + d2))) + at(1, -1) * ((d2 - d1) / (d1 * d2)) + at(2, None) * (d1 / (d2 * (d1 + d2)))
    if edge_order == 1:
        first = (at(1, 2) - at(0, 1)) / part(d, axis, 0, 1)
        last = (at(-1, None) - at(-2, -1)) / part(d, axis, -1, None)
    else:
        e1, e2 = part(d, axis, 0, 1), part(d, axis, 1, 2)
        first = at(0, 1) * (-(2.0 * e1 + e2) / (e1 * (e1 + e2))) + at(1, 2) * ((e1 + e2) / (e1 * e2)) - at(2, 3) * (e1 / (e2 * (e1 + e2)))
        e1, e2 = part(d, axis, -2, -1), part(d, axis, -1, None)
        last = at(-3, -2) * (e2 / (e1 * (e1 + e2))) - at(-2, -1) * ((e2 + e1) / (e1 * e2)) + at(-1, None) * ((2.0 * e2 + e1) / (e2 * (e1 + e2)))
    return zs.concat([first, inside, last], axis=axis)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    axis = axis_of(axis, y.ndim, "trapezoid")
    y = floats(y)
    if x is None:
        d = dx
    else:
        x = floats(beside(x if isinstance(x, Array) else np.asarray(x), y))
        along = axis if x.ndim == y.ndim else 0
        d = part(x, along, 1, None) - part(x, along, None, -1)
        if x.ndim == 1:
            d = _core.reshape(d, [-1 if k == axis else 1 for k in range(y.ndim)])
    return zs.sum(d * (part(y, axis, 1, None) + part(y, axis, None, -1)) / 2.0, axis=axis)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    keepdims = keepdims is True
    if weights is None:
        found = _statistics.mean(a, axis=axis, keepdims=keepdims)
        total = zs.full_like(found, a.size / found.size)
    else:
        weights = beside(weights if isinstance(weights, Array) else np.asarray(weights), a)
        if weights.shape != a.shape:
            axes = axes_of(() if axis is None else axis, a.ndim, "average")
            if axis is None or tuple(a.shape[each] for each in axes) != weights.shape:
                raise (TypeError if axis is None else ValueError)(
                    f"weights of {list(weights.shape)} for {list(a.shape)} in average: they have its shape, or that of axis"
                )
            order = sorted(range(len(axes)), key=axes.__getitem__)
            weights = zs.permute_dims(weights, order)
            weights = zs.reshape(weights, [n if k in axes else 1 for k, n in enumerate(a.shape)])
        dtype = zs.result_type(a, weights)
        dtype = dtype if is_float(dtype) else default_float(a.device)
        a, weights = zs.astype(a, dtype), zs.astype(weights, dtype)
        total = zs.sum(weights, axis=axis, keepdims=keepdims)
        if bool(zs.any(total == 0)):
            raise ZeroDivisionError("weights of average add up to 0")
        found = zs.sum(a * weights, axis=axis, keepdims=keepdims) / total
        total = zs.broadcast_to(total, found.shape)
    return (found, total) if returned else found


def _samples(m, y, rowvar, dtype):
    """The variables as rows of floats."""
    if m.ndim > 2 or (y is not None and y.ndim > 2):
        raise ValueError("cov of an array of three axes or more: it takes two at most")
    rows = []
    for x in (m, y) if y is not None else (m,):
        is_turned = not rowvar and (np.ndim(x) != 1 if x is m else np.shape(x)[:-1] not in ((), (1,)))
        x = beside(x if isinstance(x, Array) else np.asarray(x), m)
        x = zs.astype(x, np.dtype(dtype)) if dtype is not None else floats(x)
        x = x if x.ndim > 1 else x.reshape(1, -1)
        rows.append(x.T if is_turned else x)
    return zs.concat(rows, axis=0) if len(rows) > 1 else rows[0]


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof of cov is an integer")
    ddof = (0 if bias else 1) if ddof is None else ddof
    x = _samples(m, y, rowvar, dtype)
    weights = None
    for each in (fweights, aweights):
        if each is not None:
            each = zs.astype(beside(each if isinstance(each, Array) else np.asarray(each), x), x.dtype)
            if each.shape != x.shape[1:]:
                raise RuntimeError(f"weights of {list(each.shape)} for {x.shape[1]} samples in cov: a sample has one weight")
            weights = each if weights is None else weights * each
    if weights is None:
        mean, left = _statistics.mean(x, axis=1, keepdims=True), float(x.shape[1] - ddof)
        scaled = apart = x - mean
    else:
        total = zs.sum(weights)
        mean = zs.sum(x * weights, axis=1, keepdims=True) / total
        if aweights is None:
            left = total - float(ddof)
        else:
            own = zs.astype(beside(aweights if isinstance(aweights, Array) else np.asarray(aweights), x), x.dtype)
            left = total - float(ddof) * zs.sum(weights * own) / total
        apart = x - mean
        scaled = apart * weights
    if isinstance(left, float):
        left = left if left > 0 else 0.0
        found = zs.matmul(apart, scaled.T) * (1.0 / left) if left else zs.matmul(apart, scaled.T) / zs.zeros_like(mean)
    else:
        found = zs.matmul(apart, scaled.T) / zs.maximum(left, 0.0)
    return found.reshape(()) if found.size == 1 else found


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    from .linalg import diagonal

    spread = zs.sqrt(diagonal(c))
    return zs.clip(c / spread[:, None] / spread[None, :], -1.0, 1.0)


def interp(x, xp, fp, left=None, right=None):
    xp, fp, x = floats(xp), floats(fp), floats(x)
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.size:
        raise ValueError(f"interp between points of {list(xp.shape)} and values of {list(fp.shape)}: one of each, on one axis")
    last = xp.size - 1
    at = zs.clip(zs.searchsorted(xp, x.ravel(), side="right") - 1, 0, max(last - 1, 0)).reshape(x.shape)
    after = at + 1 if last else at
    x0, x1, f0, f1 = xp[at], xp[after], fp[at], fp[after]
    found = zs.where(x == x1, f1, (f1 - f0) / (x1 - x0) * (x - x0) + f0) if last else f0
    found = zs.where(x < xp[0], fp[0] if left is None else left, found)
    found = zs.where(x > xp[last], fp[last] if right is None else right, found)
    return zs.where(x == xp[last], fp[last], found)


def convolve(a, v, mode="full"):
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ValueError(f"convolve of {list(a.shape)} and {list(v.shape)}: it takes arrays of one axis, not empty")
    if v.size > a.size:
        a, v = v, a
    n = v.size
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{mode!r} for the mode of convolve: it is 'full', 'same' or 'valid'")
    dtype = zs.result_type(a, v)
    a, v = zs.astype(a, dtype), zs.astype(v, dtype)
    if mode != "valid":
        side = (n - 1, n - 1) if mode == "full" else (n // 2, (n - 1) // 2)
        a = zs.pad(a, side)
    windows = zs.sliding_window_view(a, n)
    return zs.astype(zs.matmul(windows, zs.flip(v)), dtype)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not is_float(x.dtype):
        found = x._copy()
    else:
        info = zs.finfo(x.dtype)
        found = zs.where(zs.isnan(x), nan, x)
        found = zs.where(found == np.inf, info.max if posinf is None else posinf, found)
        found = zs.where(found == -np.inf, info.min if neginf is None else neginf, found)
    if copy:
        return found
    x._replace(found)
    return x
