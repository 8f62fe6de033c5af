"""What functions are given, in the form that the core takes: arrays, integers, lengths and axes."""

import functools
import operator
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from ._core import Array

P = ParamSpec("P")
R = TypeVar("R")


def arrays_of(what, operands, beside=()):
    """Operands as arrays of ours. NumPy's go to the device of the first array of ours, or to the default device."""
    first = next((x for x in (*operands, *beside) if isinstance(x, Array)), None)
    return [x if isinstance(x, Array) else _uploaded(what, x, first) for x in operands]


def _uploaded(what, x, like):
    from ._creation import asarray

    if not isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(f"{what} takes arrays, not {type(x).__name__}: make it an array by asarray")
    return asarray(x, device=None if like is None else like.device)


def of_array(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose first argument is an array: it gets one of ours, and raises unless there is one."""

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
    """Whether it is one integer, not several. Arrays have ``__index__`` whatever their shape is."""
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def integers(values, what):
    """One integer or several as a list of them."""
    values = np.asarray(values) if isinstance(values, Array) else values
    try:
        return [operator.index(each) for each in ([values] if is_one(values) else values)]
    except TypeError:
        raise TypeError(f"{values!r} for {what}: it takes integers") from None


def counts(values, what):
    """Lengths of axes, or how often something is there: one integer from 0 on or several, as a list."""
    found = integers(values, what)
    if any(each < 0 for each in found):
        raise ValueError(f"{values!r} for {what}: it takes integers from 0 on")
    return found


def axes_of(axis, rank, what):
    """Axes as a list of numbers from 0 on, each once."""
    if type(axis) is int and -rank <= axis < rank:
        # What nearly every call gives.
        return [axis % rank]
    axes = integers(axis, f"the axis of {what}")
    found = []
    for each in axes:
        if not -rank <= each < rank:
            # NumPy's, which is an IndexError and a ValueError: Dask asks for either.
            raise np.exceptions.AxisError(f"axis {each} of {what} is outside of an array of {rank} axes")
        found.append(each % rank)
    if len(set(found)) != len(found):
        raise ValueError(f"{what} names an axis twice: {axes}")
    return found


def axis_of(axis, rank, what):
    """One axis as a number from 0 on."""
    if type(axis) is not int:
        axis = integer(axis, f"the axis of {what}")
    return axes_of(axis, rank, what)[0]
