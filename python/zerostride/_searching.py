"""Searches, lookups, sorting and sets.

All functions run on the device. If the shape of a result depends on elements, its length is read.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arguments import arrays_of, axes_of, axis_of, of_array
from ._core import Array
from ._creation import asarray, beside, on_host
from ._dtypes import default_float, default_int, is_float
from ._indexing import take_along, take_at
from ._types import AnyArray, Operand

__all__ = [
    "argmax", "argmin", "argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def _extreme(name, x, axis, keepdims):
    found = _core.reduce(name, x, None if axis is None else axes_of(axis, x.ndim, name), keepdims)
    return _core.cast(found, default_int(x.device))


@of_array
def argmax(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the greatest element, the first of equals.

    Parameters
    ----------
    x : Array
    axis : int, optional
        Without it, the index is one of the flattened array.
    keepdims : bool
        Whether the axis stays, with length 1.

    Returns
    -------
    Array
    """
    return _extreme("argmax", x, axis, keepdims)


@of_array
def argmin(x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the least element, the first of equals.

    Parameters
    ----------
    x : Array
    axis : int, optional
        Without it, the index is one of the flattened array.
    keepdims : bool
        Whether the axis stays, with length 1.

    Returns
    -------
    Array
    """
    return _extreme("argmin", x, axis, keepdims)


@overload
def where(condition: AnyArray, /) -> tuple[Array, ...]: ...
@overload
def where(condition: AnyArray | bool, x1: Operand, x2: Operand, /) -> Array: ...
def where(condition, x1=None, x2=None, /):
    """Elements of ``x1`` where a condition is true, and of ``x2`` elsewhere.

    Parameters
    ----------
    condition : Array
        Of bool.
    x1, x2 : Array or number
        Without both, the result is that of :func:`nonzero`, as in NumPy.

    Returns
    -------
    Array
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    first = next((x for x in (condition, x1, x2) if isinstance(x, Array)), None)
    if first is None:
        return _core.select(asarray(condition), x1, x2)
    return _core.select(asarray(condition, device=first.device), beside(x1, first), beside(x2, first))


@of_array
def nonzero(x: AnyArray, /) -> tuple[Array, ...]:
    """The indices of elements other than 0: an array for each axis.

    Parameters
    ----------
    x : Array

    Returns
    -------
    tuple of Array
    """
    if x.ndim == 0:
        raise ValueError("nonzero of an array without axes: it takes at least one")
    found = _indices(_core.nonzero(x), x)
    return tuple(found[axis] for axis in range(x.ndim))


def _indices(found, like):
    """Indices in the default integer type."""
    return _core.cast(found, default_int(like.device))


def _alike(x, other):
    """An array and another operand, promoted to one type."""
    if isinstance(other, (bool, int, float)):
        # A number that is out of the type's range still has a place in the order, so a wider type takes it.
        other = np.asarray(other, np.result_type(x.dtype, np.min_scalar_type(other)))
    other = asarray(other, device=x.device)
    try:
        dtype = _core.promote(x.dtype, other.dtype)
    except TypeError:
        dtype = default_float(x.device)
    return _core.cast(x, dtype), _core.cast(other, dtype)


@of_array
def searchsorted(
    x1: AnyArray, x2: Operand, /, *, side: Literal["left", "right"] = "left", sorter: AnyArray | None = None
) -> Array:
    """The indices at which elements keep a sorted array sorted.

    Parameters
    ----------
    x1 : Array
        A sorted array of rank 1.
    x2 : Array or number
    side : {"left", "right"}
        Whether the index is before or behind equal elements.
    sorter : Array, optional
        Indices that sort ``x1``.

    Returns
    -------
    Array
    """
    if side not in ("left", "right"):
        raise ValueError(f"{side!r} for the side of searchsorted: it is 'left' or 'right'")
    x1 = x1 if sorter is None else take_at(x1, sorter, 0)
    return _indices(_core.searchsorted(*_alike(x1, x2), side == "right"), x1)


@of_array
def take(x: AnyArray, indices: ArrayLike, /, *, axis: int | None = None) -> Array:
    """Elements at indices along an axis.

    Parameters
    ----------
    x : Array
    indices : Array, or what NumPy makes an array of
        Integers. A negative index counts from the end. An index in an ``Array`` is clamped to the axis, as in JAX,
        because raising would need a read. Other indices raise ``IndexError`` if they are out of range.
        ``numpy.take`` raises for both.
    axis : int, optional
        Required unless ``x`` has one axis.

    Returns
    -------
    Array
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take of {list(x.shape)} without an axis: an array of {x.ndim} axes needs one")
        axis = 0
    axis = axis_of(axis, x.ndim, "take")
    return take_at(x, indices, axis)


@of_array
def take_along_axis(x: AnyArray, indices: ArrayLike, /, *, axis: int = -1) -> Array:
    """Elements at indices along an axis, with other indices for each position along the other axes.

    Parameters
    ----------
    x : Array
    indices : Array, or what NumPy makes an array of
        Integers, in an array of the rank of ``x``. An index that is out of range is handled as in :func:`take`.
    axis : int

    Returns
    -------
    Array
    """
    axis = axis_of(axis, x.ndim, "take_along_axis")
    return take_along(x, indices, axis)


@of_array
def sort(x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Elements sorted along an axis. NaN comes last.

    Parameters
    ----------
    x : Array
    axis : int
    descending : bool
    stable : bool
        Sorting is always stable.

    Returns
    -------
    Array
    """
    return _core.sort(x, axis_of(axis, x.ndim, "sort"), descending)


@of_array
def argsort(x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort an array along an axis.

    Parameters
    ----------
    x : Array
    axis : int
    descending : bool
    stable : bool
        Sorting is always stable.

    Returns
    -------
    Array
    """
    return _indices(_core.argsort(x, axis_of(axis, x.ndim, "argsort"), descending), x)


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Array:
    """Whether each element of ``x1`` is an element of ``x2``.

    Parameters
    ----------
    x1, x2 : Array or int
    invert : bool
        Whether to return the opposite.

    Returns
    -------
    Array
    """
    if isinstance(x1, int):
        test, element = _alike(*arrays_of("isin", [x2]), x1)
    else:
        element, test = _alike(*arrays_of("isin", [x1], [x2]), x2)
    found = _core.isin(element, test)
    return ~found if invert else found


class UniqueAll(NamedTuple):
    """The result of :func:`unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of :func:`unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of :func:`unique_inverse`."""

    values: Array
    inverse_indices: Array


def _unique(x):
    """The four results of :func:`unique_all`."""
    values, *indices = _core.unique(x)
    indices = [_indices(each, x) for each in indices]
    if not (values.size and is_float(x.dtype)):
        return values, *indices
    last = on_host(_core.select(values[-1:] != values[-1:], indices[2][-1:], 0))
    count = int(last[0])
    if count < 2:
        return values, *indices
    # The core merges NaN. The standard has every NaN be a value of its own.
    first, inverse, counts = indices
    flat = _core.reshape(x, [x.size])
    is_nan = flat != flat
    number = _core.reduce("cumsum", _core.cast(is_nan, inverse.dtype), [0]) + (len(values) - 2)
    inverse = _core.select(_core.reshape(is_nan, x.shape), _core.reshape(number, x.shape), inverse)
    first = _core.concat([first[:-1], _indices(_core.nonzero(is_nan), x)[0]], 0)
    counts = _core.concat([counts[:-1], _core.full([count], 1, counts.dtype, x.device)], 0)
    return _core.concat([values[:-1], _core.compress(flat, is_nan)], 0), first, inverse, counts


@of_array
def unique_all(x: AnyArray, /) -> UniqueAll:
    """The distinct elements in order, the index of the first occurrence of each, the index of the distinct element that
    each element is, and the number of occurrences.

    Parameters
    ----------
    x : Array

    Returns
    -------
    UniqueAll
    """
    return UniqueAll(*_unique(x))


@of_array
def unique_counts(x: AnyArray, /) -> UniqueCounts:
    """The distinct elements in order, and the number of occurrences of each.

    Parameters
    ----------
    x : Array

    Returns
    -------
    UniqueCounts
    """
    values, _, _, counts = _unique(x)
    return UniqueCounts(values, counts)


@of_array
def unique_inverse(x: AnyArray, /) -> UniqueInverse:
    """The distinct elements in order, and the index of the distinct element that each element is.

    Parameters
    ----------
    x : Array

    Returns
    -------
    UniqueInverse
    """
    values, _, inverse, _ = _unique(x)
    return UniqueInverse(values, inverse)


@of_array
def unique_values(x: AnyArray, /) -> Array:
    """The distinct elements in order.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array
    """
    return _unique(x)[0]
