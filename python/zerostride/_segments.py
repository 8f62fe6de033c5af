"""``reduceat`` and ``at`` of NumPy's universal functions: folds of parts of an axis, whose ends the host knows."""

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import axis_of
from ._core import Array
from ._creation import upload
from ._indexing import take_at


def reduceat(fold, x, indices, axis, dtype):
    """A reduction of the elements from each index to the next one, or of one element where that is not behind it."""
    axis = axis_of(axis, x.ndim, "reduceat")
    length = x.shape[axis]
    begins = np.asarray(indices)
    if begins.ndim != 1 or begins.dtype.kind not in "iu":
        raise IndexError(f"indices of {begins.dtype} and {list(begins.shape)} for reduceat: they are integers on one axis")
    if begins.size and not (0 <= begins.min() and begins.max() < length):
        raise IndexError(f"an index of reduceat is outside of axis {axis}, which has {length} elements")
    begins = begins.astype(np.int64)
    counts = np.maximum(np.append(begins[1:], length) - begins, 1)
    parts, order = [], []
    # Parts of about one length are folded together: what they are filled up with is less than what they have.
    sizes = np.ceil(np.log2(counts)).astype(int) if begins.size else counts
    for size in np.unique(sizes).tolist():
        (chosen,) = np.nonzero(sizes == size)
        order.append(chosen)
        parts.append(_folded(fold, x, begins[chosen], counts[chosen], axis, dtype))
    if not parts:
        shape = [0 if k == axis else n for k, n in enumerate(x.shape)]
        return _core.full(shape, 0, x.dtype, x.device)
    found = zs.concat(parts, axis=axis)
    return found if len(parts) == 1 else take_at(found, np.argsort(np.concatenate(order)), axis)


def _folded(fold, x, begins, counts, axis, dtype):
    width = int(counts.max())
    # A part is filled up with its first element, which is then left out; a fold that takes it twice does not.
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
    """``x[indices] = function(x[indices], values)``, once for each index, however often it is there.

    Into an array of NumPy goes what the device has folded for each index.
    """
    index = np.asarray(indices)
    if x.ndim < 1 or index.ndim != 1 or index.dtype.kind not in "iu":
        raise TypeError("at of a universal function takes indices of one axis, as integers, for arrays of zerostride")
    index = np.where(index < 0, index + x.shape[0], index)
    if not index.size:
        return
    values = values if isinstance(values, Array) else zs.asarray(values, device=x.device)
    if not isinstance(x, Array) and (x.ndim != 1 or values.ndim > 1):
        raise TypeError("at of a universal function writes arrays of zerostride into an array of NumPy of one axis")
    values = zs.broadcast_to(values, (index.size, *x.shape[1:]))
    order = np.argsort(index, kind="stable")
    unique, first = np.unique(index[order], return_index=True)
    together = reduceat(fold, take_at(values, order, 0), first, 0, None)
    if isinstance(x, Array):
        x[unique] = zs.astype(function(x[unique], together), x.dtype)
    else:
        x[unique] = function(x[unique], np.asarray(together))
