"""Searches, lookups, sorting and sets.

All functions run on the device. If the shape of a result depends on elements, its length is read.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arguments import arrays_of, axis_of, of_array
from ._core import Array
from ._creation import asarray, beside
from ._dtypes import default_float, int64, is_float, limits
from ._indexing import take_along, take_at
from ._statistics import axes
from ._types import AnyArray, Operand

__all__ = [
    "argmax", "argmin", "argsort", "isin", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


def _extreme(name, x, axis, keepdims):
    found = _core.reduce(name, x, axes(x, axis, name), keepdims)
    return _core.cast(found, int64)


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
    found = _indices(_core.nonzero(x))
    return tuple(found[axis] for axis in range(x.ndim))


def _indices(found):
    """Indices in the default integer type."""
    return _core.cast(found, int64)


def _number(value, x):
    """A number beside an array. A number outside the array's type equals no element, but has a place in their order."""
    if is_float(x.dtype) or isinstance(value, float):
        dtype = np.result_type(x.dtype, np.min_scalar_type(value))
        return np.asarray(value, dtype if x.device.supports(dtype) else default_float(x.device))
    least, greatest = limits(x.dtype)
    if least <= value <= greatest:
        return np.asarray(value, x.dtype)
    return np.asarray(math.copysign(math.inf, value), default_float(x.device))


def _alike(x, other):
    """An array and another operand, promoted to one type."""
    if isinstance(other, (bool, int, float)):
        other = _number(other, x)
    other = asarray(other, device=x.device)
    try:
        dtype = _core.promote(x.dtype, other.dtype)
    except TypeError:
        dtype = default_float(x.device)
    # Truth values are not compared by less.
    dtype = np.dtype("uint8") if dtype.kind == "b" else dtype
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
    return _indices(_core.searchsorted(*_alike(x1, x2), side == "right"))


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
    return _indices(_core.argsort(x, axis_of(axis, x.ndim, "argsort"), descending))


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


class Unique:
    """The distinct elements of an array, or its distinct slices along an axis. Each method computes one result. The number
    of distinct elements is read.
    """

    def __init__(self, x, places=False, equal_nan=False, axis=None):
        """``places`` says whether ``indices`` or ``inverse`` will be called. Without ``equal_nan`` every NaN is a value of
        its own, as in the standard. So is every slice with NaN, as in NumPy.
        """
        self.x, self.axis, places = x, axis, places or axis is not None
        flat = _core.reshape(x, [x.size]) if axis is None else _core.dense_rank(x, axis).evaluate()
        self.length = flat.size
        self.order = _core.argsort(flat, 0, False).evaluate() if places else None
        self.sorted = (take_at(flat, self.order, 0) if places else _core.sort(flat, 0, False)).evaluate()
        before, after = self.sorted[:-1], self.sorted[1:]
        # A sort puts NaN last.
        differs = (before != after) & (before == before) if equal_nan else before != after
        if axis is not None and is_float(x.dtype):
            others = [k for k in range(x.ndim) if k != axis]
            differs = differs | take_at(_core.reduce("any", x != x, others), self.order[1:], 0)
        self.are_new = _core.concat([self._constant(True, "bool")[: self.length], differs], 0).evaluate()
        self.first = _core.nonzero(self.are_new)[0].evaluate()

    def _constant(self, value, dtype):
        return _core.full([1], value, np.dtype(dtype), self.x.device)

    def values(self):
        if self.axis is not None:
            return take_at(self.x, take_at(self.order, self.first, 0), self.axis)
        return take_at(self.sorted, self.first, 0)

    def indices(self):
        """The index of the first occurrence of each distinct element."""
        return _indices(take_at(self.order, self.first, 0))

    def inverse(self):
        """The index of the distinct element that each element is."""
        number = _core.reduce("cumsum", _core.cast(self.are_new, "uint32"), [0]) - 1
        of_each = take_at(number, _core.argsort(self.order, 0, False), 0)
        return _indices(of_each if self.axis is not None else _core.reshape(of_each, self.x.shape))

    def counts(self):
        """The number of occurrences of each distinct element."""
        return _indices(_core.concat([self.first[1:], self._constant(self.length, "uint32")], 0) - self.first)


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
    found = Unique(x, places=True)
    return UniqueAll(found.values(), found.indices(), found.inverse(), found.counts())


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
    found = Unique(x)
    return UniqueCounts(found.values(), found.counts())


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
    found = Unique(x, places=True)
    return UniqueInverse(found.values(), found.inverse())


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
    return Unique(x).values()
