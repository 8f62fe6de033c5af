"""Checks arguments, and converts them to what the core takes: arrays, integers, lengths and axes."""

import functools
import operator
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from . import _core
from ._core import Array

P = ParamSpec("P")
R = TypeVar("R")


def upload(array, device=None):
    """An array of NumPy as an `Array` of the same type."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    _core.promote(array.dtype, array.dtype)  # raises for types that the package does not have
    if not array.size:
        # Nothing to move, and no device to open for it.
        return _core.full(array.shape, 0, array.dtype, device)
    # A copy, because another thread may write to the array during the upload.
    return _core.upload(array.tobytes(), array.dtype, array.shape, device)


def arrays_of(what, operands, beside=()):
    """Operands as `Array`s. NumPy's arrays go to the device of the first `Array`, or to the default device."""
    first = next((x for x in (*operands, *beside) if isinstance(x, Array)), None)
    return [x if isinstance(x, Array) else _uploaded(what, x, first) for x in operands]


def _uploaded(what, x, like):
    if not isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(f"{what} takes arrays, not {type(x).__name__}: make it an array by asarray")
    return upload(np.asarray(x), None if like is None else like.device)


def of_array(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function whose first argument is an array. NumPy's arrays are uploaded, and others raise."""

    @functools.wraps(function)
    def checked(x, /, *arguments, **options):
        if not isinstance(x, Array):
            (x,) = arrays_of(checked.__name__, [x], (*arguments, *options.values()))
        return function(x, *arguments, **options)

    return checked


def integer(value, what):
    """One integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{value!r} for {what}: it takes an integer") from None


def is_one(value):
    """Whether a value is one integer. Arrays of any shape have ``__index__``, so the rank is checked too."""
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def integers(values, what):
    """One integer or several, as a list."""
    values = np.asarray(values) if isinstance(values, Array) else values
    try:
        return [operator.index(each) for each in ([values] if is_one(values) else values)]
    except TypeError:
        raise TypeError(f"{values!r} for {what}: it takes integers") from None


def counts(values, what):
    """Lengths or repetitions: one integer or several, each 0 or more, as a list."""
    found = integers(values, what)
    if any(each < 0 for each in found):
        raise ValueError(f"{values!r} for {what}: it takes integers of 0 or more")
    return found


def axes_of(axis, rank, what):
    """Axes as a list of distinct numbers of 0 or more."""
    if type(axis) is int and -rank <= axis < rank:
        # The usual case, without a loop.
        return [axis % rank]
    axes = integers(axis, f"the axis of {what}")
    found = []
    for each in axes:
        if not -rank <= each < rank:
            # NumPy's class is an IndexError and a ValueError. Dask catches either.
            raise np.exceptions.AxisError(f"axis {each} of {what} is out of range for an array of rank {rank}")
        found.append(each % rank)
    if len(set(found)) != len(found):
        raise ValueError(f"{what} names an axis twice: {axes}")
    return found


def axis_of(axis, rank, what):
    """One axis as a number of 0 or more."""
    if type(axis) is not int:
        axis = integer(axis, f"the axis of {what}")
    return axes_of(axis, rank, what)[0]


def along(x, axis, what):
    """An array and one of its axes. Without an axis it is flattened, and an array without axes has one, as in NumPy."""
    if axis is None or not x.ndim and axis in (0, -1):
        return _core.reshape(x, [x.size]), 0
    return x, axis_of(axis, x.ndim, what)
