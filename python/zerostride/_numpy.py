"""NumPy's functions for `Array`s, through ``__array_function__``. The elements stay on the device.

A function that has no entry here raises ``TypeError``. Dask calls these functions and not the standard's namespace.
"""

import builtins

import numpy as np

import zerostride as zs

from ._arguments import axis_of
from ._core import Array
from ._creation import on_host
from ._dtypes import default_float, default_int, is_float, is_integer, limits
from ._indexing import must_be_inside
from ._ufuncs import absent, adapted, delivered, is_nothing

FUNCTIONS = {}
# Functions that NumPy dispatches by `like=` alone. Results are on the device of that array.
CREATION = {}


def function(like, function, types, args, kwargs):
    """``__array_function__``."""
    if not builtins.all(issubclass(kind, (Array, np.ndarray)) for kind in types):
        return NotImplemented
    if function in CREATION:
        return CREATION[function](*args, **{**kwargs, "device": kwargs.get("device") or like.device})
    ours = FUNCTIONS.get(function)
    if ours is None:
        raise TypeError(absent(function))
    return ours(*args, **kwargs)


def _implements(*functions, among=FUNCTIONS):
    def register(ours):
        among.update((function, ours) for function in functions)
        return ours

    return register


def _reductions():
    pairs = [
        (np.sum, zs.sum), (np.prod, zs.prod), (np.mean, zs.mean), (np.std, zs.std), (np.var, zs.var),
        (np.nansum, zs.nansum), (np.nanprod, zs.nanprod),
        (np.nanmean, zs.nanmean), (np.nanstd, zs.nanstd), (np.nanvar, zs.nanvar),
    ]  # fmt: skip
    for theirs, ours in pairs:

        def call(a, axis=None, dtype=None, out=None, keepdims=False, ours=ours, **options):
            return adapted(ours, a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **options)

        FUNCTIONS[theirs] = call
    # The third argument of these is `out`, not `dtype`.
    for theirs, ours in (
        (np.amin, zs.min), (np.min, zs.min), (np.amax, zs.max), (np.max, zs.max), (np.nanmin, zs.nanmin),
        (np.nanmax, zs.nanmax), (np.any, zs.any), (np.all, zs.all), (np.argmin, zs.argmin), (np.argmax, zs.argmax),
        (np.nanargmin, zs.nanargmin), (np.nanargmax, zs.nanargmax),
    ):  # fmt: skip
        FUNCTIONS[theirs] = lambda a, axis=None, out=None, keepdims=False, ours=ours, **options: adapted(
            ours, a, axis=axis, out=out, keepdims=keepdims, **options
        )


_reductions()


for _theirs, _scan in (
    (np.cumsum, zs.cumsum), (np.cumprod, zs.cumprod), (np.nancumsum, zs.nancumsum), (np.nancumprod, zs.nancumprod),
):  # fmt: skip

    def _scanned(a, axis=None, dtype=None, out=None, ours=_scan):
        return delivered(ours(a, axis=axis, dtype=_dtype(dtype)), out)

    FUNCTIONS[_theirs] = _scanned


def _ours(arrays):
    """The arguments as `Array`s, on the device of the first `Array` among them."""
    arrays = list(arrays)
    first = next((x for x in arrays if isinstance(x, Array)), None)
    device = None if first is None else first.device
    return [x if x is None or isinstance(x, Array) else zs.asarray(x, device=device) for x in arrays]


@_implements(np.concatenate, np.concat)
def _concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    result = zs.concat(_ours(arrays), axis=axis)
    return delivered(result if dtype is None else zs.astype(result, np.dtype(dtype)), out)


@_implements(np.stack)
def _stack(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    result = zs.stack(_ours(arrays), axis=axis)
    return delivered(result if dtype is None else zs.astype(result, np.dtype(dtype)), out)


@_implements(np.vstack)
def _vstack(tup, dtype=None, casting="same_kind"):
    return _concatenate([x if x.ndim > 1 else x.reshape(1, -1) for x in _ours(tup)], 0, dtype=dtype)


@_implements(np.hstack)
def _hstack(tup, dtype=None, casting="same_kind"):
    arrays = [x if x.ndim else x.reshape(1) for x in _ours(tup)]
    return _concatenate(arrays, 0 if arrays[0].ndim == 1 else 1, dtype=dtype)


def _like(value):
    def make(a, *fill, dtype=None, order="K", subok=True, shape=None, device=None):
        (fill_value,) = fill or (value,)
        shape = a.shape if shape is None else shape
        dtype = a.dtype if dtype is None else np.dtype(dtype)
        return zs.full(shape, fill_value, dtype=dtype, device=a.device if isinstance(a, Array) else None)

    return make


FUNCTIONS[np.zeros_like] = FUNCTIONS[np.empty_like] = _like(0)
FUNCTIONS[np.ones_like] = _like(1)


@_implements(np.full_like)
def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, device=None):
    return _like(None)(a, fill_value, dtype=dtype, shape=shape)


def _dtype(dtype):
    return None if dtype is None else np.dtype(dtype)


def _made(ours):
    def make(shape, dtype=None, order="C", device=None):
        return ours(shape, dtype=_dtype(dtype), device=device)

    return make


CREATION.update({np.zeros: _made(zs.zeros), np.empty: _made(zs.empty), np.ones: _made(zs.ones)})


@_implements(np.full, among=CREATION)
def _full(shape, fill_value, dtype=None, order="C", device=None):
    return zs.full(shape, fill_value, dtype=_dtype(dtype), device=device)


@_implements(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, among=CREATION)
def _asarray(obj, dtype=None, device=None, **options):
    return zs.asarray(obj, dtype=_dtype(dtype), device=device)


@_implements(np.arange, among=CREATION)
def _arange(start, stop=None, step=1, dtype=None, device=None):
    return zs.arange(start, stop, 1 if step is None else step, dtype=_dtype(dtype), device=device)


@_implements(np.eye, among=CREATION)
def _eye(N, M=None, k=0, dtype=None, order="C", device=None):
    return zs.eye(N, M, k=k, dtype=_dtype(dtype), device=device)


@_implements(np.where)
def _where(condition, x=None, y=None):
    if x is None and y is None:
        return zs.nonzero(condition)
    return zs.where(condition, x, y)


@_implements(np.clip)
def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **options):
    low, high = min if is_nothing(a_min) else a_min, max if is_nothing(a_max) else a_max
    low, high = (None if is_nothing(bound) else bound for bound in (low, high))
    a, *_ = _ours([a, *(bound for bound in (low, high) if isinstance(bound, Array))])
    return delivered(zs.clip(a, low, high), out)


@_implements(np.take)
def _take(a, indices, axis=None, out=None, mode="raise"):
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{mode!r} for the mode of take: it is 'raise', 'wrap' or 'clip'")
    a, *_ = _ours([a, indices if isinstance(indices, Array) else None])
    a, axis = (a.ravel(), 0) if axis is None else (a, axis_of(axis, a.ndim, "take"))
    if not isinstance(indices, Array):
        indices = np.asarray(indices)
    if mode == "raise":
        # The lookup itself checks indices from the host.
        if isinstance(indices, Array):
            must_be_inside(indices, a.shape[axis], axis)
    elif indices.size and is_integer(indices.dtype):
        indices = _led_inside(indices, a.shape[axis], mode, a.device)
    return delivered(zs._indexing.take_at(a, indices, axis), out)


def _led_inside(indices, length, mode, device):
    """Indices led into the range of an axis, by the modes "clip" and "wrap"."""
    if not length:
        raise IndexError("an axis of length 0 has no elements to take")
    if limits(indices.dtype)[1] < length:
        indices = indices.astype(default_int(device))
    return np.clip(indices, 0, length - 1) if mode == "clip" else indices % length


@_implements(np.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    arr, *_ = _ours([arr, indices if isinstance(indices, Array) else None])
    flat, axis = (arr.ravel(), 0) if axis is None else (arr, axis_of(axis, arr.ndim, "take_along_axis"))
    if isinstance(indices, Array):
        must_be_inside(indices, flat.shape[axis], axis)
    return zs.take_along_axis(flat, indices, axis=axis)


@_implements(np.transpose)
def _transpose(a, axes=None):
    return a.transpose() if axes is None else a.transpose(axes)


@_implements(np.reshape)
def _reshape(a, /, shape=None, order="C", *, newshape=None, copy=None):
    return a.reshape(newshape if shape is None else shape, order=order)


@_implements(np.expand_dims)
def _expand_dims(a, axis):
    return zs.expand_dims(a, axis=axis)


@_implements(np.squeeze)
def _squeeze(a, axis=None):
    return zs.squeeze(a, axis)


@_implements(np.moveaxis)
def _moveaxis(a, source, destination):
    return zs.moveaxis(a, source, destination)


@_implements(np.swapaxes)
def _swapaxes(a, axis1, axis2):
    return a.swapaxes(axis1, axis2)


@_implements(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if writeable:
        raise ValueError("sliding_window_view with writeable=True: windows share elements, so copy them to write")
    return zs.sliding_window_view(x, window_shape, axis)


@_implements(np.broadcast_to)
def _broadcast_to(array, shape, subok=False):
    return zs.broadcast_to(array, shape)


@_implements(np.broadcast_arrays)
def _broadcast_arrays(*args, subok=False):
    return zs.broadcast_arrays(*_ours(args))


@_implements(np.flip)
def _flip(m, axis=None):
    return zs.flip(m, axis=axis)


@_implements(np.roll)
def _roll(a, shift, axis=None):
    return zs.roll(a, shift, axis=axis)


@_implements(np.repeat)
def _repeat(a, repeats, axis=None):
    return zs.repeat(a, repeats, axis=axis)


@_implements(np.tile)
def _tile(A, reps):
    return zs.tile(A, reps)


@_implements(np.diff)
def _diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a._copy()
    before, after = (None if is_nothing(side) else side for side in (prepend, append))
    return zs.diff(a, n=n, axis=axis, prepend=before, append=after)


@_implements(np.count_nonzero)
def _count_nonzero(a, axis=None, *, keepdims=False):
    return zs.count_nonzero(a, axis=axis, keepdims=keepdims)


@_implements(np.nonzero)
def _nonzero(a):
    return zs.nonzero(a)


@_implements(np.sort)
def _sort(a, axis=-1, kind=None, order=None, *, stable=None):
    return zs.sort(a.ravel() if axis is None else a, axis=-1 if axis is None else axis)


@_implements(np.argsort)
def _argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    return zs.argsort(a.ravel() if axis is None else a, axis=-1 if axis is None else axis)


@_implements(np.searchsorted)
def _searchsorted(a, v, side="left", sorter=None):
    return zs.searchsorted(*_ours([a, v]), side=side, sorter=sorter)


@_implements(np.isin)
def _isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    return zs.isin(*_ours([element, test_elements]), invert=invert)


@_implements(np.unique)
def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    (ar,) = _ours([ar])
    axis = None if axis is None else axis_of(axis, ar.ndim, "unique")
    found = zs._searching.Unique(ar, return_index or return_inverse, equal_nan, axis)
    wanted = {found.indices: return_index, found.inverse: return_inverse, found.counts: return_counts}
    others = [each() for each, is_wanted in wanted.items() if is_wanted]
    return (found.values(), *others) if others else found.values()


@_implements(np.tril)
def _tril(m, k=0):
    return zs.tril(m, k=k)


@_implements(np.triu)
def _triu(m, k=0):
    return zs.triu(m, k=k)


@_implements(np.round, np.around)
def _round(a, decimals=0, out=None):
    return delivered(a.round(decimals), out)


@_implements(np.ravel)
def _ravel(a, order="C"):
    return a.ravel(order)


@_implements(np.copy)
def _copy(a, order="K", subok=False):
    return a.copy()


@_implements(np.real)
def _real(val):
    return val


@_implements(np.imag)
def _imag(val):
    return zs.zeros_like(val)


@_implements(np.iscomplexobj)
def _iscomplexobj(x):
    return False


@_implements(np.isrealobj)
def _isrealobj(x):
    return True


@_implements(np.shape)
def _shape(a):
    return a.shape


@_implements(np.ndim)
def _ndim(a):
    return a.ndim


@_implements(np.size)
def _size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


@_implements(np.result_type)
def _result_type(*arrays_and_dtypes):
    return zs.result_type(*arrays_and_dtypes)


@_implements(np.can_cast)
def _can_cast(from_, to, casting="safe"):
    return np.can_cast(from_.dtype if isinstance(from_, Array) else from_, to, casting)


class _Addresses:
    """Elements of an array as NumPy sees memory: nothing reads it."""

    def __init__(self, x, cells):
        cell, strides, offset = x._place()
        # Each cell has a range of addresses that no other has.
        start = (cells.setdefault(cell, len(cells)) + 1 << 48) + offset * x.itemsize
        steps = tuple(step * x.itemsize for step in strides)
        kind = f"V{x.itemsize}"
        self.__array_interface__ = {"data": (start, True), "shape": x.shape, "strides": steps, "typestr": kind, "version": 3}


def _sharing(theirs):
    def shares(a, b, *work, **max_work):
        cells = {}
        both = isinstance(a, Array) and isinstance(b, Array)
        see = (lambda x: np.asarray(_Addresses(x, cells))) if both else _memory
        return theirs(*(see(x) if isinstance(x, Array) else x for x in (a, b)), *work, **max_work)

    return shares


def _memory(x):
    """A view of the array's memory: empty if the array is on another device or not computed."""
    return on_host(x) if x.evaluated and x.device.name == "cpu" else np.empty(0)


FUNCTIONS.update({theirs: _sharing(theirs) for theirs in (np.may_share_memory, np.shares_memory)})


@_implements(np.isclose)
def _isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _ours([a, b])
    if not (is_float(a.dtype) or is_float(b.dtype)):
        return _distance(a, b) <= atol + rtol * _distance(b, zs.zeros_like(b))
    near = zs.abs(a - b) <= atol + rtol * zs.abs(b)
    close = zs.where(zs.isfinite(b), near, a == b)
    return close | (zs.isnan(a) & zs.isnan(b)) if equal_nan else close


def _distance(a, b):
    """The distances between integers, as floats. The unsigned type of the same width holds every distance."""
    a, b = (zs.astype(x, zs.uint8) if x.dtype == zs.bool else x for x in (a, b))
    dtype = zs.result_type(a, b)
    least, greatest = zs.minimum(a, b), zs.maximum(a, b)
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    return zs.astype(zs.astype(greatest, unsigned) - zs.astype(least, unsigned), default_float(a.device))


@_implements(np.allclose)
def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(zs.all(_isclose(a, b, rtol, atol, equal_nan)))


@_implements(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    a, b = _ours([a1, a2])
    if a.shape != b.shape:
        return False
    same = a == b
    return bool(zs.all(same | (zs.isnan(a) & zs.isnan(b)) if equal_nan else same))


@_implements(np.array_repr)
def _array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    return repr(arr)


@_implements(np.array_str)
def _array_str(a, max_line_width=None, precision=None, suppress_small=None):
    return str(a)
