"""Other shapes of the same elements."""

import builtins
import math

import numpy as np

from . import _core
from ._core import Array
from ._dtypes import result_type

__all__ = [
    "align", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def axes_of(axis, rank, what):
    """Axes as a list of numbers from 0 on, each once."""
    axes = [axis] if hasattr(axis, "__index__") else list(axis)
    found = []
    for each in axes:
        if not -rank <= each < rank:
            # NumPy's, which is an IndexError and a ValueError: Dask asks for either.
            raise np.exceptions.AxisError(f"axis {each} of {what} is outside of an array of {rank} axes")
        found.append(int(each) % rank)
    if len(set(found)) != len(found):
        raise ValueError(f"{what} names an axis twice: {axes}")
    return found


def align(a, b, /, rule="numpy", *, axis=None, axes=None):
    """Two arrays stretched against each other by the rule of a system, so that operators see equal shapes.

    Parameters
    ----------
    a, b : Array
    rule : {"numpy", "torch", "onnx", "none", "pdpd", "paddle", "bidirectional", "explicit"}
        ``pdpd`` is OpenVINO's: ``b`` is laid onto ``a`` from ``axis`` on. ``paddle`` is PaddlePaddle's with ``axis``.
    axis : int, optional
        Where the smaller array begins; at the end without it.
    axes : sequence of int, optional
        For ``explicit``: an axis of ``b`` for each of ``a``.

    Returns
    -------
    tuple of Array
    """
    return _core.align(a, b, rule, axis, axes)


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together.

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
        unknown = any(length is None for length in lengths)
        result.append(known.pop() if known else None if unknown else 1)
    return tuple(result)


def broadcast_arrays(*arrays):
    """Arrays stretched to the shape that they have together.

    Parameters
    ----------
    *arrays : Array

    Returns
    -------
    tuple of Array
    """
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return tuple(broadcast_to(array, shape) for array in arrays)


def broadcast_to(x, /, shape):
    """An array stretched to a shape. Nothing is copied.

    Parameters
    ----------
    x : Array
    shape : tuple of int

    Returns
    -------
    Array
    """
    return _core.broadcast_to(x, [shape] if hasattr(shape, "__index__") else list(shape))


def concat(arrays, /, *, axis=0):
    """Arrays one after the other along an axis.

    Parameters
    ----------
    arrays : sequence of Array
    axis : int or None
        With ``None`` they are made flat first.

    Returns
    -------
    Array
    """
    arrays = list(arrays)
    if not arrays:
        raise ValueError("concat takes an array at least")
    if axis is None:
        arrays, axis = [reshape(array, (-1,)) if array.ndim != 1 else array for array in arrays], 0
    dtype = result_type(*arrays)
    if not any(array.size for array in arrays) and all(array.ndim == arrays[0].ndim for array in arrays):
        # No elements: no device is opened for them.
        (axis,) = axes_of(axis, arrays[0].ndim, "concat")
        shape = list(arrays[0].shape)
        shape[axis] = sum(array.shape[axis] for array in arrays)
        return _core.full(shape, 0, dtype, arrays[0].device)
    return _core.concat([x if x.dtype == dtype else _core.cast(x, dtype) for x in arrays], axis)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape side by side along a new axis.

    Parameters
    ----------
    arrays : sequence of Array
    axis : int

    Returns
    -------
    Array
    """
    arrays = list(arrays)
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError("stack takes arrays of one shape")
    return concat([expand_dims(array, axis=axis) for array in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    """What lies at each index of an axis.

    Parameters
    ----------
    x : Array
    axis : int

    Returns
    -------
    tuple of Array
    """
    (axis,) = axes_of(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))


def expand_dims(x, /, axis=0):
    """An array with new axes of length 1.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int
        Where they are in the result.

    Returns
    -------
    Array
    """
    several = not hasattr(axis, "__index__")
    for each in sorted(axes_of(axis, x.ndim + (len(axis) if several else 1), "expand_dims")):
        x = _core.unsqueeze(x, each)
    return x


def squeeze(x, /, axis=None):
    """An array without axes of length 1.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int, optional
        All of length 1 without it.

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


def flip(x, /, *, axis=None):
    """An array whose elements are in reverse order along axes.

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


def moveaxis(x, source, destination, /):
    """An array with some axes at other places.

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
        raise ValueError(f"moveaxis takes as many places as axes, not {len(destination)} for {len(source)}")
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return _core.permute(x, order)


def permute_dims(x, /, axes):
    """An array with its axes in another order.

    Parameters
    ----------
    x : Array
    axes : tuple of int
        Axis ``k`` of the result is axis ``axes[k]``.

    Returns
    -------
    Array
    """
    return _core.permute(x, list(axes))


def reshape(x, /, shape, *, copy=None):
    """Another shape of as many elements in the same order.

    Parameters
    ----------
    x : Array
    shape : tuple of int
        One length may be -1: what remains.
    copy : bool, optional
        Values never change behind a name, so it makes no difference here.

    Returns
    -------
    Array
    """
    shape = [shape] if hasattr(shape, "__index__") else list(shape)
    if -1 in shape and math.prod(length for length in shape if length != -1) == 0:
        raise ValueError(f"a length of {shape} cannot be told from those that are 0")
    return _core.reshape(x, shape)


def roll(x, /, shift, *, axis=None):
    """Elements moved along axes; those that leave come back at the other end.

    Parameters
    ----------
    x : Array
    shift : int or tuple of int
    axis : int or tuple of int, optional
        Without it the array is moved as if it were flat.

    Returns
    -------
    Array
    """
    if axis is None:
        return reshape(roll(reshape(x, (-1,)) if x.size else x[..., None].reshape(0), shift, axis=0), x.shape)
    axes = [axis] if hasattr(axis, "__index__") else list(axis)
    shifts = [shift] * len(axes) if hasattr(shift, "__index__") else list(shift)
    if len(shifts) != len(axes):
        raise ValueError(f"roll takes a shift for each axis, not {len(shifts)} for {len(axes)}")
    return _core.roll(x, shifts, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element several times, one after the other.

    Parameters
    ----------
    x : Array
    repeats : int or Array
        How often, or how often for each index of the axis.
    axis : int, optional
        Without it the array is flat.

    Returns
    -------
    Array
    """
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    (axis,) = axes_of(axis, x.ndim, "repeat")
    if hasattr(repeats, "__index__") and not (isinstance(repeats, Array) and repeats.ndim):
        times = int(repeats)
        shape = list(x.shape)
        spread = [*shape[: axis + 1], times, *shape[axis + 1 :]]
        shape[axis] *= times
        return reshape(broadcast_to(_core.unsqueeze(x, axis + 1), spread), shape)
    from ._indexing import take_at

    counts = np.asarray(repeats)
    indices = np.repeat(np.arange(x.shape[axis]), counts if counts.size != 1 else int(counts.reshape(())))
    return take_at(x, indices, axis)


def tile(x, repetitions, /):
    """An array several times side by side.

    Parameters
    ----------
    x : Array
    repetitions : tuple of int
        How often along each axis.

    Returns
    -------
    Array
    """
    times = [repetitions] if hasattr(repetitions, "__index__") else list(repetitions)
    rank = builtins.max(len(times), x.ndim)
    times = [1] * (rank - len(times)) + times
    lengths = [1] * (rank - x.ndim) + list(x.shape)
    apart = [n for length in lengths for n in (1, length)]
    spread = [n for pair in zip(times, lengths) for n in pair]
    x = broadcast_to(reshape(x, apart), spread)
    return reshape(x, [n * length for n, length in zip(times, lengths)])
