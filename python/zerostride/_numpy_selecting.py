"""NumPy's counts, quantiles and writes by index for `Array`s. They extend :mod:`._numpy`."""

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import along, upload
from ._core import Array
from ._creation import on_host
from ._dtypes import default_float, int64, is_float, is_integer, limits
from ._indexing import write
from ._numpy import FUNCTIONS, _implements, _ours, _take, _take_along_axis


def _ends(x):
    """The least and the greatest element, by a read."""
    x = x.evaluate()
    return on_host(_core.concat([_core.reshape(_core.reduce(name, x), [1]) for name in ("min", "max")], 0))


def _counted(x, bins, weights, device):
    """The count of each of the integers below `bins`, or the sums of their weights."""
    if weights is None:
        return _core.cast(_core.bincount(x, bins), int64)
    weights = weights if is_float(weights.dtype) else _core.cast(weights, default_float(device))
    return _core.segment("segment_sum", weights, x, bins, False)


@_implements(np.bincount)
def _bincount(x, /, weights=None, minlength=0):
    x, weights = _ours([x, weights if np.size(x) else None])
    if minlength < 0:
        raise ValueError(f"bincount with minlength={minlength}: it is 0 or more")
    if x.ndim != 1 or not is_integer(x.dtype):
        raise TypeError(f"bincount takes integers of one axis, not {x.dtype} of {list(x.shape)}")
    if weights is not None and weights.shape != x.shape:
        raise ValueError(f"bincount of {list(x.shape)} with weights of {list(weights.shape)}: the shapes must be equal")
    least, greatest = map(int, _ends(x)) if x.size else (0, -1)
    if least < 0:
        raise ValueError(f"bincount of {least}: elements are 0 or more")
    return _counted(x, max(int(minlength), greatest + 1), weights, x.device)


def _inside(edges, dtype):
    """The edges of bins as elements of a type: the least element of each bin, and the greatest of the last bin."""
    left, last = edges[:-1], edges[-1]
    if is_integer(dtype):
        low, high = limits(dtype)
        return np.clip(np.ceil(left), low, high).astype(dtype), min(int(np.floor(last)), high)
    rounded, end = left.astype(dtype), last.astype(dtype)
    rounded = np.where(rounded < left, np.nextafter(rounded, dtype.type(np.inf)), rounded)
    return rounded, np.nextafter(end, dtype.type(-np.inf)) if end > last else end


@_implements(np.histogram)
def _histogram(a, bins=10, range=None, density=None, weights=None):
    a, weights = _ours([a, weights])
    bins = on_host(bins) if isinstance(bins, Array) else bins
    if isinstance(bins, str):
        raise TypeError(f"bins={bins!r} for histogram: it takes the number of bins or their edges")
    if a.dtype == np.bool_ or a.dtype.name == "bfloat16":
        a = _core.cast(a, np.uint8 if a.dtype == np.bool_ else np.float32)
    if range is not None or np.ndim(bins) or not a.size:
        sample = np.zeros(0, a.dtype)
    else:
        sample = _ends(a)
    edges = np.asarray(np.histogram_bin_edges(sample, bins, range))
    if is_integer(a.dtype) and (np.ceil(edges[-2]) > limits(a.dtype)[1] or edges[-1] < limits(a.dtype)[0]):
        # The type does not hold these bins.
        a = _core.cast(a, default_float(a.device))
    left, last = _inside(edges, a.dtype)
    a = _core.reshape(a, [a.size])
    # Elements below the first bin or above the last get -1, which no bin counts.
    place = _core.cast(_core.searchsorted(upload(left, a.device), a, True), np.int32) - 1
    place = _core.select(a <= upload(np.asarray(last, a.dtype), a.device), place, -1)
    weights = None if weights is None else _core.reshape(weights, [weights.size])
    counts = _counted(place, len(left), weights, a.device)
    if weights is not None and not is_float(weights.dtype):
        counts = _core.cast(counts, weights.dtype)
    real = default_float(a.device)
    shown = edges if a.device.supports(edges.dtype) else edges.astype(real)
    if density:
        counts = _core.cast(counts, real)
        counts = counts / upload(np.diff(edges).astype(real), a.device) / _core.reduce("sum", counts)
    return counts, upload(shown, a.device)


@_implements(np.digitize)
def _digitize(x, bins, right=False):
    x, bins = _ours([x, bins])
    if bins.ndim != 1:
        raise ValueError(f"digitize by bins of {list(bins.shape)}: they have one axis")
    side = "left" if right else "right"
    if not zs.any(bins[1:] < bins[:-1]):
        return zs.searchsorted(bins, x, side=side)
    if not zs.any(bins[1:] > bins[:-1]):
        return len(bins) - zs.searchsorted(zs.flip(bins), x, side=side)
    raise ValueError("digitize by bins that neither rise nor fall throughout: sort them")


@_implements(np.put_along_axis)
def _put_along_axis(arr, indices, values, axis=-1):
    if not isinstance(arr, Array):
        raise TypeError(f"put_along_axis into {type(arr).__name__}: it takes an array of zerostride, as of asarray")
    numbers = _core.reshape(_core.coordinate([arr.size], 0, arr.device), arr.shape)
    write(arr, _take_along_axis(numbers, indices, axis), _core.written(arr, values))


@_implements(np.compress)
def _compress(condition, a, axis=None, out=None):
    condition, a = _ours([condition, a])
    if condition.ndim != 1:
        raise ValueError(f"compress by a condition of {list(condition.shape)}: it has one axis")
    a, axis = along(a, axis, "compress")
    # Places within a shorter condition need no read.
    return _take(a, zs.nonzero(condition)[0], axis, out, "raise" if condition.size > a.shape[axis] else "clip")


FUNCTIONS.update({
    np.argwhere: lambda a: zs.stack(zs.nonzero(a if a.ndim else a.reshape(1)), axis=1)[:, : a.ndim],
    np.flatnonzero: lambda a: zs.nonzero(a.ravel())[0],
})  # fmt: skip
