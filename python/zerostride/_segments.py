"""Reductions and scans of segments: by key, and ``reduceat`` and ``at`` of NumPy's universal functions, with indices from the host."""

from __future__ import annotations

import math

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import axis_of, of_array, upload
from ._core import Array
from ._creation import asarray
from ._indexing import take_at
from ._types import AnyArray

__all__ = [
    "segment_cumprod",
    "segment_cumsum",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
]


def _segment(name, x, keys, count, assume_sorted):
    return _core.segment(name, x, asarray(keys, device=x.device), count, assume_sorted)


@of_array
def segment_sum(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """The sum of the elements of each key, with the same bits on every device and in every run.

    Parameters
    ----------
    x : Array
    keys : Array
        Integers, of the leading axes of ``x``. Elements with a key outside of 0 to below ``count`` are left out.
    count : int
        The number of keys. An axis of keys replaces the leading axes in the result.
    assume_sorted : bool
        Whether ``keys`` are sorted, the least first, so that the device need not sort. Nothing checks the order. If it
        does not hold, results have no meaning.

    Returns
    -------
    Array
        Of the type of ``x``. The sum of a key without elements is 0.
    """
    return _segment("segment_sum", x, keys, count, assume_sorted)


@of_array
def segment_prod(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """:func:`segment_sum` for products. That of a key without elements is 1."""
    return _segment("segment_prod", x, keys, count, assume_sorted)


@of_array
def segment_min(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """:func:`segment_sum` for the least elements. That of a key without elements is infinity, or the greatest integer."""
    return _segment("segment_min", x, keys, count, assume_sorted)


@of_array
def segment_max(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """:func:`segment_sum` for the greatest elements. That of a key without elements is minus infinity, or the least integer."""
    return _segment("segment_max", x, keys, count, assume_sorted)


@of_array
def segment_mean(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """:func:`segment_sum` for means, of floats. That of a key without elements is NaN."""
    return _segment("segment_mean", x, keys, count, assume_sorted)


@of_array
def segment_cumsum(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """For each element the sum of the elements of its key up to it, as pandas' ``groupby(keys).cumsum()``.

    Operands are those of :func:`segment_sum`. The result has the shape of ``x``, and 0 where a key is outside.
    """
    return _segment("segment_cumsum", x, keys, count, assume_sorted)


@of_array
def segment_cumprod(x: AnyArray, keys: AnyArray, count: int, /, *, assume_sorted: bool = False) -> Array:
    """:func:`segment_cumsum` for products. The result is 1 where a key is outside."""
    return _segment("segment_cumprod", x, keys, count, assume_sorted)


def reduceat(fold, x, indices, axis, dtype):
    """Reduces the elements from each index to the next, or the element at the index if the next is not greater."""
    axis = axis_of(axis, x.ndim, "reduceat")
    length = x.shape[axis]
    begins = np.asarray(indices)
    if begins.ndim != 1 or begins.dtype.kind not in "iu":
        raise IndexError(f"indices of {begins.dtype} and shape {list(begins.shape)} for reduceat: they are integers in one axis")
    if begins.size and not (0 <= begins.min() and begins.max() < length):
        raise IndexError(f"an index of reduceat is outside of axis {axis}, which has {length} elements")
    begins = begins.astype(np.int64)
    counts = np.maximum(np.append(begins[1:], length) - begins, 1)
    parts, order = [], []
    # Segments whose lengths round up to the same power of two are reduced together, so padding at most doubles the work.
    sizes = np.ceil(np.log2(counts)).astype(int) if begins.size else counts
    for size in np.unique(sizes).tolist():
        (chosen,) = np.nonzero(sizes == size)
        order.append(chosen)
        parts.append(_folded(fold, x, begins[chosen], counts[chosen], axis, dtype))
    if not parts:
        shape = [0 if k == axis else n for k, n in enumerate(x.shape)]
        found = fold(_core.full((1,), 0, x.dtype, x.device)).dtype
        return _core.full(shape, 0, found if dtype is None else dtype, x.device)
    found = zs.concat(parts, axis=axis)
    return found if len(parts) == 1 else take_at(found, np.argsort(np.concatenate(order)), axis)


def _folded(fold, x, begins, counts, axis, dtype):
    width = int(counts.max())
    # A segment is padded with its first element. A sum and a product mask the padding. Other reductions do not change by
    # taking an element twice.
    places = begins[:, None] + np.arange(width)
    is_there = np.arange(width) < counts[:, None]
    places = np.where(is_there, places, begins[:, None])
    taken = take_at(x, places, axis)
    if fold in (zs.sum, zs.prod):
        there = upload(is_there.reshape(is_there.shape + (1,) * (x.ndim - axis - 1)), x.device)
        taken = zs.where(there, taken, zs.full((), 0 if fold is zs.sum else 1, dtype=taken.dtype, device=x.device))
        return fold(taken, axis=axis + 1, dtype=taken.dtype if dtype is None and taken.dtype.kind == "f" else dtype)
    found = fold(taken, axis=axis + 1)
    return found if dtype is None else zs.astype(found, dtype)


def at(function, fold, x, indices, values):
    """``x[indices] = function(x[indices], values)``, with repeated indices applied repeatedly.

    NumPy finds the places, on the host. The device reduces the values of each place. The results are then written to
    `x`, which may be an array of NumPy.
    """
    key = indices if isinstance(indices, tuple) else np.asarray(indices)
    key = tuple(np.asarray(part) if isinstance(part, Array) else part for part in key) if isinstance(key, tuple) else key
    # Rows stay whole if only the first axis has an index.
    axes = x.ndim if isinstance(key, tuple) or key.dtype.kind == "b" else 1
    lengths, rest = x.shape[:axes], x.shape[axes:]
    places = np.asarray(np.arange(math.prod(lengths)).reshape(lengths)[key])
    if not places.size:
        return
    values = values if isinstance(values, Array) else zs.asarray(values, device=x.device)
    values = zs.reshape(zs.broadcast_to(values, (*places.shape, *rest)), (places.size, *rest))
    order = np.argsort(places, axis=None, kind="stable")
    unique, first = np.unique(places.ravel()[order], return_index=True)
    key = np.unravel_index(unique, lengths)
    found = x[key]
    dtype = zs.result_type(x.dtype, values.dtype)
    together = reduceat(fold, zs.astype(take_at(values, order, 0), dtype, copy=False), first, 0, dtype)
    function(found, together, out=found)
    x[key] = found
