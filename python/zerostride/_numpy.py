"""NumPy's functions for `Array`s, through ``__array_function__``. The elements stay on the device.

A function that has no entry here raises ``TypeError``. Dask calls these functions and not the standard's namespace.
"""

import builtins
import functools
import inspect

import numpy as np

import zerostride as zs

from ._arguments import along, axis_of
from ._core import Array
from ._creation import beside, on_host
from ._dtypes import default_float, int64, is_float, is_integer, limits, must_cast
from ._indexing import must_be_inside
from ._signatures import called
from ._out import delivered
from ._ufuncs import absent, adapted, is_nothing

FUNCTIONS = {}
# Functions that NumPy dispatches by `like=` alone. Results are on the device of that array.
CREATION = {}


def function(like, function, types, args, kwargs):
    """``__array_function__``."""
    if not builtins.all(issubclass(kind, (Array, np.ndarray)) for kind in types):
        return NotImplemented
    if function in CREATION:
        # Not all of NumPy's have a device, and ours do.
        ours = _on(kwargs.pop("device", None) or like.device, CREATION[function])
        return called(function, ours, args, kwargs)
    ours = FUNCTIONS.get(function)
    if ours is None:
        raise TypeError(absent(function))
    return called(function, ours, args, kwargs)


@functools.lru_cache(256)
def _on(device, ours):
    return functools.partial(ours, device=device)


def call(theirs, args, kwargs):
    """A function of NumPy as a method."""
    return called(theirs, FUNCTIONS[theirs], args, kwargs)


def _implements(*functions, among=FUNCTIONS):
    def register(ours):
        among.update((function, ours) for function in functions)
        return ours

    return register


def _reduction(theirs, ours):
    """A reduction of the namespace with those of NumPy's parameters that `adapted` has."""
    taken = inspect.signature(adapted).parameters
    parameters = [each for each in inspect.signature(theirs).parameters.values() if each.name in ("a", *taken)]
    names = [each.name for each in parameters[1:]]

    def call(a, *arguments, **options):
        return adapted(ours, a, **dict(zip(names, arguments)), **options)

    call.__signature__ = inspect.Signature(parameters)
    return call


FUNCTIONS.update({
    getattr(np, name): _reduction(getattr(np, name), getattr(zs, ours))
    for ours in (
        "sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "nansum", "nanprod", "nanmean",
        "nanstd", "nanvar", "nanmin", "nanmax", "nanargmin", "nanargmax",
    )
    for name in (ours, *({"min": ["amin"], "max": ["amax"]}.get(ours, ())))
})  # fmt: skip


def _scan(ours):
    return lambda a, axis=None, dtype=None, out=None: delivered(ours(a, axis=axis, dtype=_dtype(dtype)), out)


FUNCTIONS.update({
    np.cumsum: _scan(zs.cumsum), np.cumprod: _scan(zs.cumprod), np.nancumsum: _scan(zs.nancumsum),
    np.nancumprod: _scan(zs.nancumprod),
})  # fmt: skip


def _with_arrays(ours, count):
    """A function whose first `count` arguments are converted to `Array`s."""

    @functools.wraps(ours)
    def call(*arguments, **options):
        return ours(*_ours(arguments[:count]), *arguments[count:], **options)

    return call


def _ours(arrays):
    """The arguments as `Array`s, on the device of the first `Array` among them."""
    arrays = list(arrays)
    first = next((x for x in arrays if isinstance(x, Array)), None)
    device = None if first is None else first.device
    return [x if x is None or isinstance(x, Array) else zs.asarray(x, device=device) for x in arrays]


def _joins(join):
    """A join of arrays that are first cast to one type, by NumPy's rule for casts."""

    def joined(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
        if out is not None and dtype is not None:
            raise TypeError("a join with out and dtype: each names the type of the result, so pass one of them")
        if axis is None:
            # Here alone numbers are taken, which have the type of the arrays.
            first = next(x for x in arrays if isinstance(x, Array))
            arrays = [beside(x, first) for x in arrays]
            weak = zs.result_type(*arrays)
            arrays = [x if isinstance(x, Array) else zs.asarray(x, dtype=weak, device=first.device) for x in arrays]
        arrays = _ours(arrays)
        if arrays and (out is not None or dtype is not None or casting != "same_kind"):
            given = dtype if out is None else out.dtype
            dtype = zs.result_type(*arrays) if given is None else np.dtype(given)
            for x in arrays:
                must_cast(x.dtype, dtype, casting, "a join")
            arrays = [zs.astype(x, dtype, copy=False) for x in arrays]
        return delivered(join(arrays, axis=axis), out)

    return joined


_concatenate = FUNCTIONS[np.concatenate] = _joins(zs.concat)
FUNCTIONS[np.stack] = _joins(zs.stack)


@_implements(np.vstack)
def _vstack(tup, *, dtype=None, casting="same_kind"):
    return _concatenate([x if x.ndim > 1 else x.reshape(1, x.size) for x in _ours(tup)], 0, dtype=dtype, casting=casting)


@_implements(np.hstack)
def _hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = [x if x.ndim else x.reshape(1) for x in _ours(tup)]
    return _concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@_implements(np.full, among=CREATION)
def _full(shape, fill_value, dtype=None, *, device=None):
    dtype = _dtype(dtype)
    if isinstance(fill_value, (bool, int)) or isinstance(fill_value, float) and (dtype is None or not is_integer(dtype)):
        return zs.full(shape, fill_value, dtype=dtype, device=device)
    return zs.broadcast_to(zs.asarray(fill_value, dtype=dtype, device=device), shape)._copy()


@_implements(np.full_like)
def _full_like(a, fill_value, dtype=None, *, shape=None, device=None):
    device = a.device if device is None and isinstance(a, Array) else device
    return _full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype, device=device)


def _like(value):
    return lambda a, dtype=None, *, shape=None, device=None: _full_like(a, value, dtype, shape=shape, device=device)


FUNCTIONS.update({np.zeros_like: _like(0), np.empty_like: _like(0), np.ones_like: _like(1)})


def _dtype(dtype):
    return None if dtype is None else np.dtype(dtype)


def _made(ours):
    return lambda shape, dtype=None, *, device=None: ours(shape, dtype=_dtype(dtype), device=device)


CREATION.update({np.zeros: _made(zs.zeros), np.empty: _made(zs.empty), np.ones: _made(zs.ones)})


@_implements(np.asarray, np.asanyarray, among=CREATION)
def _asarray(a, dtype=None, *, copy=None, device=None):
    return zs.asarray(a, dtype=_dtype(dtype), device=device, copy=copy)


@_implements(np.array, among=CREATION)
def _array(object, dtype=None, *, copy=True, ndmin=0, device=None):
    x = _asarray(object, dtype, copy=copy, device=device)
    return x.reshape((1,) * (ndmin - x.ndim) + x.shape) if ndmin > x.ndim else x


@_implements(np.ascontiguousarray, among=CREATION)
def _ascontiguousarray(a, dtype=None, *, device=None):
    return _array(a, dtype, copy=None, ndmin=1, device=device)


@_implements(np.arange, among=CREATION)
def _arange(start, stop=None, step=1, dtype=None, *, device=None):
    return zs.arange(start, stop, 1 if step is None else step, dtype=_dtype(dtype), device=device)


@_implements(np.eye, among=CREATION)
def _eye(N, M=None, k=0, dtype=None, *, device=None):
    # NumPy passes `float` if the caller names no type.
    return zs.eye(N, M, k=k, dtype=None if dtype is float else _dtype(dtype), device=device)


@_implements(np.where)
def _where(condition, x=None, y=None):
    if (x is None) != (y is None):
        raise ValueError("where of one choice: it takes two, or none for the indices of elements that are true")
    return zs.where(condition, x, y)


@_implements(np.clip)
def _clip(a, a_min=np._NoValue, a_max=np._NoValue, out=None, *, min=None, max=None):
    if (a_min is np._NoValue) != (a_max is np._NoValue):
        raise TypeError("clip with one of a_min and a_max: it takes both, of which None is no limit, or min and max by name")
    if not (is_nothing(a_min) and is_nothing(a_max)) and not (is_nothing(min) and is_nothing(max)):
        raise ValueError("clip with a_min or a_max, and with min or max: they name the same limits, so pass one pair")
    low, high = min if is_nothing(a_min) else a_min, max if is_nothing(a_max) else a_max
    low, high = (None if is_nothing(bound) else bound for bound in (low, high))
    first = next(x for x in (a, low, high) if isinstance(x, Array))
    a, low, high = (beside(x, first) for x in (_ours([a, first])[0], low, high))
    if low is high is None:
        return np.positive(a, out=out)
    dtype = zs.result_type(*(x for x in (a, low, high) if x is not None))
    return delivered(zs.clip(zs.astype(a, dtype, copy=False), low, high), out)


def _must_be_mode(mode, what):
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{mode!r} for the mode of {what}: it is 'raise', 'wrap' or 'clip'")


@_implements(np.take)
def _take(a, indices, axis=None, out=None, mode="raise"):
    _must_be_mode(mode, "take")
    a, *_ = _ours([a, indices if isinstance(indices, Array) else None])
    a, axis = along(a, axis, "take")
    if not isinstance(indices, Array):
        indices = np.asarray(indices)
    if mode == "raise":
        # The lookup itself checks indices from the host.
        if isinstance(indices, Array):
            must_be_inside(indices, a.shape[axis], axis)
    elif indices.size and is_integer(indices.dtype):
        indices = _led_inside(indices, a.shape[axis], mode)
    return delivered(zs._indexing.take_at(a, indices, axis), out)


def _led_inside(indices, length, mode):
    """Indices led into the range of an axis, by the modes "clip" and "wrap"."""
    if not length:
        raise IndexError("an axis of length 0 has no elements to take")
    if limits(indices.dtype)[1] < length:
        indices = indices.astype(int64)
    return np.clip(indices, 0, length - 1) if mode == "clip" else indices % length


@_implements(np.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    arr, *_ = _ours([arr, indices if isinstance(indices, Array) else None])
    if axis is None and np.ndim(indices) != 1:
        raise ValueError(f"take_along_axis of all elements by indices of {np.ndim(indices)} axes: they have one")
    flat, axis = along(arr, axis, "take_along_axis")
    if isinstance(indices, Array):
        must_be_inside(indices, flat.shape[axis], axis)
    return zs.take_along_axis(flat, indices, axis=axis)


@_implements(np.squeeze)
def _squeeze(a, axis=None):
    return zs.squeeze(a, None if not a.ndim and axis in (0, -1) else axis)


@_implements(np.swapaxes)
def _swapaxes(a, axis1, axis2):
    order = list(range(a.ndim))
    one, other = (axis_of(axis, a.ndim, "swapaxes") for axis in (axis1, axis2))
    order[one], order[other] = other, one
    return zs.permute_dims(a, order)


@_implements(np.diff)
def _diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a._copy()
    before, after = (None if is_nothing(side) else side for side in (prepend, append))
    return zs.diff(a, n=n, axis=axis, prepend=before, append=after)


@_implements(np.argsort)
def _argsort(a, axis=-1):
    a, axis = along(a, axis, "argsort")
    return zs.argsort(a, axis=axis)


@_implements(np.unique)
def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    (ar,) = _ours([ar])
    axis = None if axis is None else axis_of(axis, ar.ndim, "unique")
    found = zs._searching.Unique(ar, return_index or return_inverse, equal_nan, axis)
    wanted = {found.indices: return_index, found.inverse: return_inverse, found.counts: return_counts}
    others = [each() for each, is_wanted in wanted.items() if is_wanted]
    return (found.values(), *others) if others else found.values()


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


def _sharing(theirs, work):
    def shares(a, b, max_work=work):
        cells = {}
        both = isinstance(a, Array) and isinstance(b, Array)
        see = (lambda x: np.asarray(_Addresses(x, cells))) if both else _memory
        return theirs(*(see(x) if isinstance(x, Array) else x for x in (a, b)), max_work)

    return shares


def _memory(x):
    """A view of the array's memory: empty if the array is on another device or not computed."""
    return on_host(x) if x.evaluated and x.device.name == "cpu" else np.empty(0)


FUNCTIONS.update({np.may_share_memory: _sharing(np.may_share_memory, 0), np.shares_memory: _sharing(np.shares_memory, -1)})


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


@_implements(np.array_equal)
def _array_equal(a1, a2, equal_nan=False):
    a, b = _ours([a1, a2])
    if a.shape != b.shape:
        return False
    same = a == b
    return bool(zs.all(same | (zs.isnan(a) & zs.isnan(b)) if equal_nan else same))


FUNCTIONS.update({
    np.allclose: lambda a, b, rtol=1e-05, atol=1e-08, equal_nan=False: bool(zs.all(_isclose(a, b, rtol, atol, equal_nan))),
    np.broadcast_arrays: lambda *args: zs.broadcast_arrays(*_ours(args)), np.broadcast_to: lambda array, shape: zs.broadcast_to(array, shape),
    np.copy: lambda a: a.copy(), np.count_nonzero: zs.count_nonzero, np.expand_dims: zs.expand_dims, np.flip: zs.flip, np.imag: zs.imag,
    np.iscomplexobj: lambda x: False, np.isin: _with_arrays(zs.isin, 2), np.isrealobj: lambda x: True, np.moveaxis: zs.moveaxis,
    np.ndim: lambda a: a.ndim, np.nonzero: zs.nonzero, np.ravel: lambda a, order="C": a.ravel(order), np.real: lambda val: val,
    np.repeat: zs.repeat, np.reshape: lambda a, shape, order="C", *, copy=None: a.reshape(shape, order=order, copy=copy),
    np.result_type: zs.result_type, np.roll: zs.roll, np.searchsorted: _with_arrays(zs.searchsorted, 2), np.shape: lambda a: a.shape,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis], np.tile: zs.tile, np.tril: zs.tril, np.triu: zs.triu,
    np.lib.stride_tricks.sliding_window_view: zs.sliding_window_view, np.transpose: lambda a, axes=None: a.transpose(axes),
})  # fmt: skip


@_implements(np.round, np.around)
def _round(a, decimals=0, out=None):
    return delivered(zs._elementwise.rounded(a, decimals), out)


@_implements(np.sort)
def _sort(a, axis=-1):
    return zs.sort(a.ravel() if axis is None else a, axis=-1 if axis is None else axis)


def _shown_by(text):
    def shown(a, max_line_width=None, precision=None, suppress_small=None):
        with np.printoptions(linewidth=max_line_width, precision=precision, suppress=suppress_small):
            return text(a)

    return shown


FUNCTIONS.update({np.array_repr: _shown_by(repr), np.array_str: _shown_by(str)})
