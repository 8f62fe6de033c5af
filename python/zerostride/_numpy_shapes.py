"""NumPy's joins, splits, rotations and selections for `Array`s. They extend :mod:`._numpy`."""

import builtins
import functools
import math

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import axis_of, counts
from ._core import Array
from ._creation import beside
from ._dtypes import default_float, default_int, is_float, is_integer, limits, must_cast
from ._indexing import take_at
from ._manipulation import part
from ._numpy import CREATION, FUNCTIONS, _dtype, _implements, _led_inside, _must_be_mode, _ours
from ._numpy_selecting import _ends as _ends_of
from ._out import delivered

FUNCTIONS[np.permute_dims] = zs.transpose
FUNCTIONS[np.unstack] = zs.unstack


@_implements(np.pad)
def _pad(
    array, pad_width, mode="constant", *, constant_values=np._NoValue, end_values=np._NoValue, stat_length=np._NoValue,
    reflect_type=np._NoValue,
):  # fmt: skip
    options = {"constant_values": constant_values, "end_values": end_values, "stat_length": stat_length, "reflect_type": reflect_type}
    return zs.pad(array, pad_width, mode, **{name: value for name, value in options.items() if value is not np._NoValue})


def _one(x):
    (x,) = _ours([x])
    return x


def _with_axes(rank, place):
    def spread(*arrays):
        found = tuple(place(_one(x)) if _one(x).ndim < rank else _one(x) for x in arrays)
        return found[0] if len(found) == 1 else found

    return spread


FUNCTIONS[np.atleast_1d] = _with_axes(1, lambda x: x.reshape(1))
FUNCTIONS[np.atleast_2d] = _with_axes(2, lambda x: x.reshape(1, x.size))
FUNCTIONS[np.atleast_3d] = _with_axes(3, lambda x: x.reshape(*x.shape, 1) if x.ndim == 2 else x.reshape(1, x.size, 1))


@_implements(np.column_stack)
def _column_stack(tup):
    return zs.concat([x if x.ndim > 1 else x.reshape(x.size, 1) for x in _ours(tup)], axis=1)


@_implements(np.dstack)
def _dstack(tup):
    return zs.concat([FUNCTIONS[np.atleast_3d](x) for x in _ours(tup)], axis=2)


@_implements(np.append)
def _append(arr, values, axis=None):
    arr, values = _ours([arr, values])
    return zs.concat([arr, values], axis=axis) if axis is not None else zs.concat([arr.ravel(), values.ravel()])


@_implements(np.block)
def _block(arrays):
    def depth(part):
        return 1 + builtins.max(map(depth, part), default=0) if isinstance(part, list) else 0

    def joined(part, axis):
        return zs.concat([joined(each, axis + 1) for each in part], axis=axis) if isinstance(part, list) else part

    leaves = []

    def flat(part):
        if isinstance(part, list):
            return [flat(each) for each in part]
        leaves.append(part)
        return len(leaves) - 1

    places, levels = flat(arrays), depth(arrays)
    ours = _ours(leaves)
    rank = builtins.max([levels, *(x.ndim for x in ours)])
    ours = [x.reshape((1,) * (rank - x.ndim) + x.shape) for x in ours]

    def filled(part):
        return [filled(each) for each in part] if isinstance(part, list) else ours[part]

    return joined(filled(places), rank - levels)


def _ends(length, sections):
    """The lengths of the parts of an axis, or None if `sections` are indices."""
    return [part.size for part in np.array_split(np.arange(length), sections)] if np.ndim(sections) == 0 else None


@_implements(np.array_split)
def _array_split(ary, indices_or_sections, axis=0):
    axis = axis_of(axis, ary.ndim, "array_split")
    length = ary.shape[axis]
    if isinstance(indices_or_sections, Array):
        indices_or_sections = np.asarray(indices_or_sections)
    lengths = _ends(length, indices_or_sections)
    ends = np.cumsum(lengths[:-1]).tolist() if lengths is not None else [int(each) for each in indices_or_sections]
    bounds = zip([0, *ends], [*ends, None])
    return [part(ary, axis, *each) for each in bounds]


@_implements(np.split)
def _split(ary, indices_or_sections, axis=0):
    if np.ndim(indices_or_sections) == 0 and ary.shape[axis] % int(indices_or_sections):
        parts = int(indices_or_sections)
        raise ValueError(f"split of {ary.shape[axis]} elements into {parts} parts: they have one length, so call array_split")
    return _array_split(ary, indices_or_sections, axis)


FUNCTIONS[np.vsplit] = lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0)
FUNCTIONS[np.hsplit] = lambda ary, indices_or_sections: _split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)
FUNCTIONS[np.dsplit] = lambda ary, indices_or_sections: _split(ary, indices_or_sections, 2)
FUNCTIONS[np.fliplr] = lambda m: zs.flip(m, axis=1)
FUNCTIONS[np.flipud] = lambda m: zs.flip(m, axis=0)


@_implements(np.rot90)
def _rot90(m, k=1, axes=(0, 1)):
    first, second = (axis_of(axis, m.ndim, "rot90") for axis in axes)
    if first == second:
        raise ValueError(f"rot90 in the plane of axis {first} and itself: it takes two axes")
    k %= 4
    if k == 2:
        return zs.flip(m, axis=(first, second))
    if k == 0:
        return m._copy()
    turned = m.swapaxes(first, second)
    return zs.flip(turned, axis=first if k == 1 else second)


@_implements(np.rollaxis)
def _rollaxis(a, axis, start=0):
    axis = axis_of(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return zs.moveaxis(a, axis, start - (axis < start))


@_implements(np.delete)
def _delete(arr, obj, axis=None):
    arr, axis = (arr.ravel(), 0) if axis is None else (arr, axis_of(axis, arr.ndim, "delete"))
    obj = np.asarray(obj) if isinstance(obj, Array) else obj
    return take_at(arr, np.delete(np.arange(arr.shape[axis]), obj), axis)


@_implements(np.insert)
def _insert(arr, obj, values, axis=None):
    arr, axis = (arr.ravel(), 0) if axis is None else (arr, axis_of(axis, arr.ndim, "insert"))
    values = zs.astype(_beside(values, arr), arr.dtype)
    obj = np.asarray(obj) if isinstance(obj, Array) else obj
    length = arr.shape[axis]
    places = np.arange(length)[obj] if isinstance(obj, slice) else np.asarray(obj)
    if places.ndim == 0:
        # NumPy takes the values' first axis for the axis of the array.
        values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
        values = zs.moveaxis(values, 0, axis)
        count = values.shape[axis]
    else:
        values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
        count = places.sum() if places.dtype.kind == "b" else places.size
    values = zs.broadcast_to(values, [*arr.shape[:axis], count, *arr.shape[axis + 1 :]])
    order = np.insert(np.arange(length), obj, length + np.arange(count))
    return take_at(zs.concat([arr, values], axis=axis), order, axis)


def _beside(value, x):
    return value if isinstance(value, Array) else zs.asarray(value, device=x.device)


@_implements(np.select)
def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"select of {len(condlist)} conditions and {len(choicelist)} choices: it takes a choice for each condition")
    given = [x if isinstance(x, (bool, int, float)) else x for x in (*choicelist, default)]
    first = next(x for x in (*condlist, *given) if isinstance(x, Array))
    given = [beside(x, first) for x in given]
    dtype = zs.result_type(*given) if builtins.any(isinstance(x, Array) for x in given) else None
    given = [zs.astype(x, dtype) if isinstance(x, Array) and dtype is not None else x for x in given]
    found = given[-1]
    for condition, choice in zip(reversed(condlist), reversed(given[:-1])):
        found = zs.where(beside(condition, first), choice, found)
    return found


@_implements(np.choose)
def _choose(a, choices, out=None, mode="raise"):
    _must_be_mode(mode, "choose")
    choices = zs.broadcast_arrays(*_ours([a, *choices]))
    a, stacked = choices[0], zs.stack(choices[1:])
    count = len(choices) - 1
    if mode == "raise" and a.size and not 0 <= int(zs.min(a)) <= int(zs.max(a)) < count:
        raise ValueError(f"choose with an index that is out of range: there are {count} choices")
    a = zs.clip(a, 0, count - 1) if mode != "wrap" else a % count
    return delivered(zs.take_along_axis(stacked, a[None], axis=0)[0], out)


@_implements(np.meshgrid)
def _meshgrid(*xi, sparse=False, indexing="xy"):
    grids = zs.meshgrid(*(x.ravel() for x in _ours(xi)), indexing=indexing)
    if not sparse:
        return grids
    places = list(range(len(grids)))
    if indexing == "xy" and len(grids) > 1:
        places[:2] = 1, 0
    return tuple(g[tuple(slice(None) if k == at else slice(0, 1) for k in range(g.ndim))] for g, at in zip(grids, places))


@_implements(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    start, stop = (x if device is None else x.to_device(device) for x in _ours([start, stop]))
    real = zs.result_type(start, stop)
    real = real if is_float(real) else default_float(start.device)
    start, stop = zs.broadcast_arrays(zs.astype(start, real), zs.astype(stop, real))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else zs.full_like(start, math.nan)
    at = zs.astype(zs.arange(num, device=start.device), real).reshape(num, *(1,) * start.ndim)
    found = start + at * step if parts > 0 else zs.broadcast_to(start, (num, *start.shape))
    if endpoint and num > 1:
        found = zs.where(at == num - 1, stop, found)
    if dtype is not None:
        found = zs.astype(found if is_float(np.dtype(dtype)) else zs.floor(found), np.dtype(dtype))
    found = zs.moveaxis(found, 0, axis)
    return (found, step) if retstep else found


@_implements(np.identity, among=CREATION)
def _identity(n, dtype=None, *, device=None):
    return zs.eye(n, dtype=_dtype(dtype), device=device)


@_implements(np.copyto)
def _copyto(dst, src, casting="same_kind", where=True):
    if not isinstance(dst, Array):
        np.copyto(dst, np.asarray(src), casting, where if where is True else np.asarray(where))
        return
    if isinstance(src, (bool, int, float)) and casting == "same_kind":
        src = _core.written(dst, src)
    src = _beside(src, dst)
    must_cast(src.dtype, dst.dtype, casting, "copyto")
    src = zs.broadcast_to(zs.astype(src, dst.dtype, copy=False), dst.shape)
    dst._replace(src if where is True else zs.where(_beside(where, dst), src, dst))


@_implements(np.putmask)
def _putmask(a, mask, values):
    values = _beside(values, a).ravel()
    repeated = values[zs.arange(a.size, device=a.device) % values.size].reshape(a.shape)
    a._replace(zs.where(_beside(mask, a), zs.astype(repeated, a.dtype), a))


@_implements(np.fill_diagonal)
def _fill_diagonal(a, val):
    if a.ndim != 2 or np.ndim(val):
        raise TypeError("numpy.fill_diagonal of zerostride takes a matrix and one value: choose by zerostride.where")
    value = zs.astype(zs.broadcast_to(_beside(val, a), a.shape), a.dtype)
    a._replace(zs.where(zs.eye(*a.shape, dtype=zs.bool, device=a.device), value, a))


@_implements(np.extract)
def _extract(condition, arr):
    condition, arr = _ours([condition, arr])
    return arr.ravel()[zs.astype(condition.ravel(), zs.bool)]


@_implements(np.unravel_index)
def _unravel_index(indices, shape, order="C"):
    lengths, forwards = _counting(shape, order, indices.device)
    _must_be_below(indices, math.prod(lengths), "unravel_index")
    indices, found = zs.astype(indices, default_int(indices.device)), []
    for length in reversed(lengths):
        found.append(indices % length)
        indices = indices // length
    return tuple(found if forwards else reversed(found))


def _counting(shape, order, device):
    """The lengths of axes, the one that counts fastest last, and whether that is the first axis."""
    if order not in ("C", "F"):
        raise ValueError(f"{order!r} for the order of indices: it is 'C' or 'F'")
    lengths = counts(shape, "a shape")
    if math.prod(lengths) > limits(default_int(device))[1]:
        raise ValueError(f"indices of {lengths}: {default_int(device)}, the integer type of {device.name}, cannot count its elements")
    return lengths[:: -1 if order == "F" else 1], order == "F"


def _must_be_below(indices, length, what):
    if not is_integer(indices.dtype):
        raise TypeError(f"{what} of {indices.dtype}: indices are integers")
    for index in _ends_of(indices).tolist() if indices.size else ():
        if not 0 <= index < length:
            raise ValueError(f"index {index} of {what}: it is from 0 to below {length}")


@_implements(np.ravel_multi_index)
def _ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    multi_index = _ours(multi_index)
    device = multi_index[0].device
    lengths, backwards = _counting(dims, order, device)
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if not len(multi_index) == len(modes) == len(lengths):
        raise ValueError(f"{len(multi_index)} indices and {len(modes)} modes for {len(lengths)} lengths: an axis has one of each")
    found = 0
    for index, how, length in zip(*(x[:: -1 if backwards else 1] for x in (multi_index, modes)), lengths):
        _must_be_mode(how, "ravel_multi_index")
        if how == "raise":
            _must_be_below(index, length, "ravel_multi_index")
        index = zs.astype(index, default_int(device))
        found = found * length + (index if how == "raise" else _led_inside(index, length, how, device))
    return found


def _tells(name, ours):
    FUNCTIONS[getattr(np, name)] = ours


_tells("isreal", lambda x: zs.ones_like(x, dtype=zs.bool))
_tells("iscomplex", lambda x: zs.zeros_like(x, dtype=zs.bool))
_tells("real_if_close", lambda a, tol=100: a)
_tells("isposinf", lambda x, out=None: delivered(x == math.inf, out))
_tells("isneginf", lambda x, out=None: delivered(x == -math.inf, out))
_tells("fix", lambda x, out=None: delivered(zs.trunc(x), out))
_array2string = functools.wraps(np.array2string)(lambda a, *arguments, **options: np.array2string(np.asarray(a), *arguments, **options))
_tells("array2string", _array2string)
_tells("ix_", lambda *args: tuple(
    x.reshape([-1 if k == at else 1 for k in range(len(args))]) for at, x in enumerate(_ours(args))
))  # fmt: skip


@_implements(np.array_equiv)
def _array_equiv(a1, a2):
    a, b = _ours([a1, a2])
    try:
        zs.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return bool(zs.all(a == b))
