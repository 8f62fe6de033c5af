"""Padding: elements added at the ends of axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _statistics
from ._arguments import axis_of, of_array, upload
from ._core import Array
from ._creation import converted
from ._dtypes import default_float, is_float, is_integer
from ._indexing import take_at
from ._manipulation import broadcast_to, concat, part
from ._types import AnyArray

__all__ = ["pad"]

# The options of each mode.
_OPTIONS = {
    "constant": ("constant_values",), "edge": (), "empty": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "minimum": ("stat_length",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",), "wrap": (),
}  # fmt: skip


@of_array
def pad(
    x: AnyArray,
    /,
    pad_width: ArrayLike | Mapping[int, int | tuple[int, int]],
    mode: str = "constant",
    **options: ArrayLike | None,
) -> Array:
    """An array with elements added at the ends of its axes, as ``numpy.pad``.

    Parameters
    ----------
    x : Array
    pad_width : int, pair, sequence of pairs, or dict of axes
        The number of elements before and behind, for all axes or for each axis.
    mode : str
        ``"constant"``, ``"edge"``, ``"empty"`` (zeros), ``"linear_ramp"``, ``"maximum"``, ``"mean"``, ``"minimum"``,
        ``"reflect"``, ``"symmetric"`` or ``"wrap"``.
    **options
        ``constant_values``, ``end_values``, ``stat_length`` or ``reflect_type``, as in NumPy.

    Returns
    -------
    Array
    """
    if mode not in _OPTIONS:
        known = ", ".join(map(repr, _OPTIONS))
        raise (TypeError if callable(mode) else ValueError)(f"pad by {mode!r}: the modes here are {known}")
    unknown = [name for name in options if name not in _OPTIONS[mode]]
    if unknown:
        raise ValueError(f"pad by {mode!r} takes no {', '.join(unknown)}")
    widths = _widths(pad_width, x.ndim)
    if mode in ("constant", "empty", "linear_ramp"):
        ends = _pairs(next(iter(options.values()), 0), x.ndim)
    elif mode in ("maximum", "mean", "minimum"):
        ends = _pairs(options.get("stat_length"), x.ndim)
    else:
        ends = [options.get("reflect_type", "even")] * x.ndim
        if ends and ends[0] not in ("even", "odd"):
            raise ValueError(f"{ends[0]!r} for the reflect_type of pad: it is 'even' or 'odd'")
    result = x
    for axis, width in enumerate(widths):
        if any(width):
            result = _along(result, axis, width, mode, ends[axis])
    return result._copy() if result is x else result


def _pairs(values, rank):
    """A pair of values for each axis, by NumPy's broadcasting."""
    if values is None:
        return [(None, None)] * rank
    values = np.asarray(values)
    if values.shape == (2, 1):
        values = np.broadcast_to(values, (2, 2)) if rank == 2 else values.ravel()
    return [tuple(pair) for pair in np.broadcast_to(values, (rank, 2)).tolist()]


def _widths(widths, rank):
    if isinstance(widths, Mapping):
        found = [(0, 0)] * rank
        for axis, width in widths.items():
            before, behind = np.broadcast_to(np.asarray(width), (2,)).tolist()
            found[axis_of(axis, rank, "pad")] = before, behind
    else:
        array = np.asarray(widths)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"{widths!r} for the pad_width of pad: it takes integers")
        found = _pairs(array, rank)
    if any(n < 0 for pair in found for n in pair):
        raise ValueError(f"{widths!r} for the pad_width of pad: it takes integers of 0 or more")
    return found


def _along(x, axis, width, mode, ends):
    length = x.shape[axis]
    if not length and mode not in ("constant", "empty"):
        raise ValueError(f"pad by {mode!r} along axis {axis} of {list(x.shape)}: it has no element to repeat")
    if mode in ("edge", "wrap", "reflect", "symmetric"):
        places = np.pad(np.arange(length), width, mode="edge" if mode == "reflect" and length == 1 else mode)
        found = take_at(x, places, axis)
        return _turned(found, x, axis, width, mode) if ends == "odd" and length > 1 else found
    before, behind = width
    if mode in ("constant", "empty"):
        sides = [_slab(_number(end, x), x, axis, n) for end, n in zip(ends, width)]
    elif mode == "linear_ramp":
        first, last = part(x, axis, 0, 1), part(x, axis, length - 1, length)
        sides = [_ramp(ends[0], first, axis, before, False), _ramp(ends[1], last, axis, behind, True)]
    else:
        sides = [_statistic(x, axis, n, mode, count, at) for at, (n, count) in enumerate(zip(width, ends))]
    return concat([sides[0], x, sides[1]], axis=axis)


def _number(value, x):
    """A value converted to the type of `x`, as a Python number."""
    return converted(np.asarray(value), x.dtype).item()


def _slab(value, x, axis, length):
    shape = [*x.shape[:axis], length, *x.shape[axis + 1 :]]
    return broadcast_to(value, shape) if isinstance(value, Array) else _core.full(shape, value, x.dtype, x.device)


def _statistic(x, axis, width, mode, count, at):
    length = x.shape[axis]
    count = length if count is None else min(count, length)
    if count < 1:
        raise ValueError(f"pad by {mode!r} of {count} elements: a stat_length is 1 or more")
    some = part(x, axis, 0, count) if at == 0 else part(x, axis, length - count, length)
    reduction = {"maximum": _statistics.max, "mean": _statistics.mean, "minimum": _statistics.min}[mode]
    found = reduction(some, axis=axis, keepdims=True)
    return _slab(_as(found, x.dtype, "round"), x, axis, width)


def _as(x, dtype, whole):
    """Floats converted to a type. For an integer type, the operation `whole` rounds them first."""
    if x.dtype == dtype:
        return x
    return _core.cast(_core.apply(whole, "whole", x) if is_integer(dtype) else x, dtype)


def _ramp(end, edge, axis, width, is_behind):
    dtype = edge.dtype if is_float(edge.dtype) else default_float(edge.device)
    steps = np.arange(width) / max(width, 1)
    shape = [width if k == axis else 1 for k in range(edge.ndim)]
    steps = upload(converted(steps[::-1] if is_behind else steps, dtype).reshape(shape), edge.device)
    edge_, end = _core.cast(edge, dtype), float(end)
    return _as(end + (edge_ - end) * steps, edge.dtype, "floor")


def _turned(found, x, axis, width, mode):
    """Reflected elements for ``reflect_type="odd"``: an element ``v`` behind the edge ``e`` becomes ``2 e - v``."""
    length = x.shape[axis]
    first, last = part(x, axis, 0, 1), part(x, axis, length - 1, length)
    # The array alternates with its mirror image. Each period of both rises by twice the difference of the ends.
    half = length - 1 if mode == "reflect" else length
    rounds, at = np.divmod(np.arange(-width[0], length + width[1]), 2 * half)
    is_image = at >= length

    def along(numbers):
        shape = [numbers.size if k == axis else 1 for k in range(x.ndim)]
        return upload(converted(numbers, x.dtype).reshape(shape), x.device)

    image = np.where(is_image, -1, 1)
    return found * along(image) + along(2 * is_image.astype(int)) * last + along(2 * rounds) * (last - first)
