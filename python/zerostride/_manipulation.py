"""Views, broadcasting, joins and repetitions: functions that move elements and compute nothing."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence

import numpy as np

from . import _core
from ._arguments import along, arrays_of, axes_of, axis_of, counts, integer, integers, of_array
from ._core import Array
from ._dtypes import result_type
from ._types import AnyArray, Axes, Shape

__all__ = [
    "align", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "sliding_window_view", "squeeze", "stack", "tile", "transpose",
    "unstack",
]  # fmt: skip


def align(
    a: AnyArray,
    b: AnyArray,
    /,
    rule: str = "numpy",
    *,
    axis: int | None = None,
    axes: Sequence[int] | None = None,
) -> tuple[Array, Array]:
    """Two arrays broadcast together by the rule of another system, so that operators take them.

    Parameters
    ----------
    a, b : Array
    rule : {"numpy", "torch", "onnx", "none", "pdpd", "paddle", "bidirectional", "explicit"}
        ``pdpd`` is OpenVINO's rule: the axes of ``b`` match those of ``a`` from ``axis`` on. ``paddle`` is
        PaddlePaddle's rule with ``axis``.
    axis : int, optional
        The first axis that the smaller array matches. Without it, the arrays match at the end.
    axes : sequence of int, optional
        For ``explicit``: an axis of ``b`` for each axis of ``a``.

    Returns
    -------
    tuple of Array
    """
    return _core.align(*arrays_of("align", [a, b]), rule, axis, axes)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int
    """
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        lengths = [shape[axis] for shape in shapes if len(shape) >= -axis]
        known = {length for length in lengths if length is not None and length != 1}
        if len(known) > 1:
            raise ValueError(
                f"cannot broadcast {' with '.join(str(list(s)) for s in shapes)}: axis {axis} has lengths "
                f"{' and '.join(map(str, sorted(known)))} (numpy rule)"
            )
        if any(length < 0 for length in known):
            raise ValueError(f"length {min(known)} in {shapes}: a length is 0 or more")
        unknown = any(length is None for length in lengths)
        result.append(known.pop() if known else None if unknown else 1)
    return tuple(result)


def broadcast_arrays(*arrays: AnyArray) -> tuple[Array, ...]:
    """Arrays broadcast to one shape.

    Parameters
    ----------
    *arrays : Array

    Returns
    -------
    tuple of Array
    """
    ours = arrays_of("broadcast_arrays", arrays)
    shape = broadcast_shapes(*(array.shape for array in ours))
    return tuple(broadcast_to(array, shape) for array in ours)


@of_array
def broadcast_to(
    x: AnyArray,
    /,
    shape: Shape,
    *,
    rule: str = "numpy",
    axis: int | None = None,
    axes: Sequence[int] | None = None,
) -> Array:
    """An array broadcast to a shape, as a view.

    Parameters
    ----------
    x : Array
    shape : tuple of int
    rule : {"numpy", "torch", "onnx", "none", "pdpd", "paddle", "bidirectional", "explicit"}
        With ``torch``, a length of -1 keeps the length of ``x`` (``expand``). With ``bidirectional`` and ``onnx``
        (``Expand``), the shape is broadcast too, so the result may be larger than it.
    axis : int, optional
        For ``pdpd`` and ``paddle``: the axis of the shape that the first axis of ``x`` matches. Without it, ``x``
        matches at the end.
    axes : sequence of int, optional
        For ``explicit``: an axis of the shape for each axis of ``x``.

    Returns
    -------
    Array
    """
    if rule != "numpy":
        return _core.broadcast_by(x, integers(shape, "the shape of broadcast_to"), rule, axis, axes)
    return _core.broadcast_to(x, counts(shape, "the shape of broadcast_to"))


def concat(arrays: Sequence[AnyArray], /, *, axis: int | None = 0) -> Array:
    """Arrays joined along an axis.

    Parameters
    ----------
    arrays : sequence of Array
    axis : int or None
        ``None`` flattens the arrays first.

    Returns
    -------
    Array
    """
    arrays = arrays_of("concat", list(arrays))
    if not arrays:
        raise ValueError("concat of no arrays: it takes an array at least")
    if axis is None:
        arrays, axis = [_core.reshape(array, [array.size]) for array in arrays], 0
    if not all(array.ndim for array in arrays):
        raise ValueError("concat of an array without axes: stack joins those, along a new axis")
    dtype = result_type(*arrays)
    parts = [x if x.dtype == dtype else _core.cast(x, dtype) for x in arrays]
    return _core.concat(parts, integer(axis, "the axis of concat"))


def stack(arrays: Sequence[AnyArray], /, *, axis: int = 0) -> Array:
    """Arrays of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of Array
    axis : int

    Returns
    -------
    Array
    """
    arrays = arrays_of("stack", list(arrays))
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise ValueError(f"stack of {list(arrays[0].shape)} and {list(array.shape)}: it takes arrays of one shape")
    return concat([expand_dims(array, axis=axis) for array in arrays], axis=axis)


@of_array
def unstack(x: AnyArray, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The subarrays at each index of an axis.

    Parameters
    ----------
    x : Array
    axis : int

    Returns
    -------
    tuple of Array
    """
    axis = axis_of(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))


@of_array
def expand_dims(x: AnyArray, /, axis: int | tuple[int, ...] = 0) -> Array:
    """An array with new axes of length 1, as a view.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int
        The positions of the new axes in the result.

    Returns
    -------
    Array
    """
    axes = integers(axis, "the axis of expand_dims")
    for each in sorted(axes_of(axes, x.ndim + len(axes), "expand_dims")):
        x = _core.unsqueeze(x, each)
    return x


@of_array
def sliding_window_view(x: AnyArray, /, window_shape: Shape, axis: int | tuple[int, ...] | None = None) -> Array:
    """Windows of an array, as ``numpy.lib.stride_tricks.sliding_window_view``. The result is a view.

    Parameters
    ----------
    x : Array
    window_shape : int or tuple of int
        The length of a window along each axis.
    axis : int or tuple of int, optional
        The axis of each length, all axes by default. An axis may occur more than once.

    Returns
    -------
    Array
        The axes of ``x`` count window positions, and the axes within a window follow. A step along the former strides
        the windows, a step along the latter dilates them.
    """
    lengths = counts(window_shape, "the window_shape of sliding_window_view")
    places = range(x.ndim) if axis is None else integers(axis, "the axis of sliding_window_view")
    if len(lengths) != len(places):
        raise ValueError(f"{len(lengths)} window lengths for {len(places)} axes: sliding_window_view takes one for each axis")
    axes = [axis_of(each, x.ndim, "sliding_window_view") for each in places]
    if 0 in lengths:
        # The crate has no windows without elements. One begins at each index, and after the last.
        positions = list(x.shape)
        for length, axis in zip(lengths, axes):
            if positions[axis] < length:
                break
            positions[axis] += 1 - length
        else:
            return _core.full([*positions, *lengths], 0, x.dtype, x.device)
    return _core.windows(x, [length or 1 for length in lengths], axes)


@of_array
def squeeze(x: AnyArray, /, axis: Axes = None) -> Array:
    """An array without axes of length 1.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        All axes of length 1 without it.

    Returns
    -------
    Array
    """
    if axis is None:
        axis = tuple(i for i, length in enumerate(x.shape) if length == 1)
    result = x
    for each in sorted(axes_of(axis, x.ndim, "squeeze"), reverse=True):
        result = _core.squeeze(result, each)
    return result._copy() if result is x else result


@of_array
def flip(x: AnyArray, /, *, axis: Axes = None) -> Array:
    """An array with elements in reverse order along axes, as a view.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        All without it.

    Returns
    -------
    Array
    """
    result = x
    for each in axes_of(range(x.ndim) if axis is None else axis, x.ndim, "flip"):
        result = _core.flip(result, each)
    return result._copy() if result is x else result


@of_array
def moveaxis(x: AnyArray, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """An array with axes moved to other positions, as a view.

    Parameters
    ----------
    x : Array
    source, destination : int or tuple of int

    Returns
    -------
    Array
    """
    source, destination = (axes_of(axis, x.ndim, "moveaxis") for axis in (source, destination))
    if len(source) != len(destination):
        raise ValueError(f"moveaxis of {len(source)} axes to {len(destination)} positions: it takes one position for each axis")
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return _core.permute(x, order)


@of_array
def permute_dims(x: AnyArray, /, axes: Sequence[int]) -> Array:
    """An array with its axes in another order, as a view.

    Parameters
    ----------
    x : Array
    axes : tuple of int
        Axis ``k`` of the result is axis ``axes[k]``.

    Returns
    -------
    Array
    """
    axes = integers(axes, "the axes of permute_dims")
    if len(axes) != x.ndim:
        raise ValueError(f"permute_dims of {list(x.shape)} by {axes}: it takes a number for each axis")
    return _core.permute(x, axes)


@of_array
def transpose(x: AnyArray, /, axes: Sequence[int] | None = None) -> Array:
    """NumPy's name for ``permute_dims``. Without ``axes``, their order is reversed.

    Parameters
    ----------
    x : Array
    axes : tuple of int, optional

    Returns
    -------
    Array
    """
    return permute_dims(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


@of_array
def reshape(x: AnyArray, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """The elements in another shape, in the same order.

    Parameters
    ----------
    x : Array
    shape : tuple of int
        One length may be -1, and is then computed from the others.
    copy : bool, optional
        It makes no difference: writing to an array changes no other.

    Returns
    -------
    Array
    """
    shape = integers(shape, "the shape of reshape")
    if -1 in shape and math.prod(length for length in shape if length != -1) == 0:
        raise ValueError(f"reshape to {shape}: the length of -1 cannot be computed beside a length of 0")
    return _core.reshape(x, shape)


@of_array
def roll(x: AnyArray, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Array:
    """Elements shifted along axes. Elements shifted past the end return at the start.

    Parameters
    ----------
    x : Array
    shift : int or tuple of int
    axis : int or tuple of int, optional
        Without it, the array is shifted as if it were flat.

    Returns
    -------
    Array
    """
    if axis is None:
        return reshape(roll(reshape(x, (-1,)) if x.size else x[..., None].reshape(0), shift, axis=0), x.shape)
    shifts, axes = integers(shift, "the shift of roll"), integers(axis, "the axis of roll")
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"roll by {len(shifts)} shifts along {len(axes)} axes: it takes one shift for each axis")
    return _core.roll(x, *(each.tolist() for each in np.broadcast_arrays(shifts, axes)))


@of_array
def repeat(x: AnyArray, repeats: Shape | AnyArray, /, *, axis: int | None = None) -> Array:
    """Each element repeated, one copy after the other.

    Parameters
    ----------
    x : Array
    repeats : int or Array
        The number of copies, for all elements or for each index of the axis.
    axis : int, optional
        Without it, the array is flattened.

    Returns
    -------
    Array
    """
    x, axis = along(x, axis, "repeat")
    times = counts(repeats, "the repeats of repeat")
    if len(times) == 1:
        (times,) = times
        shape = list(x.shape)
        spread = [*shape[: axis + 1], times, *shape[axis + 1 :]]
        shape[axis] *= times
        return reshape(broadcast_to(_core.unsqueeze(x, axis + 1), spread), shape)
    from ._indexing import take_at

    if len(times) != x.shape[axis]:
        raise ValueError(f"{len(times)} repeats for axis {axis} of {list(x.shape)}: repeat takes one for each index")
    return take_at(x, np.repeat(np.arange(len(times)), times), axis)


@of_array
def tile(x: AnyArray, repetitions: Shape, /) -> Array:
    """An array repeated along each axis.

    Parameters
    ----------
    x : Array
    repetitions : tuple of int
        The number of copies along each axis.

    Returns
    -------
    Array
    """
    times = counts(repetitions, "the repetitions of tile")
    rank = builtins.max(len(times), x.ndim)
    times = [1] * (rank - len(times)) + times
    lengths = [1] * (rank - x.ndim) + list(x.shape)
    apart = [n for length in lengths for n in (1, length)]
    spread = [n for pair in zip(times, lengths) for n in pair]
    x = broadcast_to(reshape(x, apart), spread)
    return reshape(x, [n * length for n, length in zip(times, lengths)])


def part(x, axis, *bounds):
    """A slice along one axis."""
    return x[(*(slice(None),) * axis, slice(*bounds))]
