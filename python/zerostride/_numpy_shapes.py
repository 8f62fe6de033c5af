"""NumPy's joins, splits, rotations and selections for `Array`s. They extend :mod:`._numpy`."""

import builtins
import functools
import math

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import along, axis_of, counts
from ._core import Array
from ._creation import beside
from ._dtypes import default_float, int64, is_float, is_integer, limits, must_cast
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


@_implements(np.array_split)
def _array_split(ary, indices_or_sections, axis=0):
    axis = axis_of(axis, ary.ndim, "array_split")
    ends = np.asarray(indices_or_sections)
    if not ends.ndim:
        ends = np.cumsum([each.size for each in np.array_split(np.arange(ary.shape[axis]), ends)])[:-1]
    ends = [int(each) for each in ends]
    return [part(ary, axis, *each) for each in zip([0, *ends], [*ends, None])]


@_implements(np.split)
def _split(ary, indices_or_sections, axis=0):
    if np.ndim(indices_or_sections) == 0 and ary.shape[axis] % int(indices_or_sections):
        parts = int(indices_or_sections)
        raise ValueError(f"split of {ary.shape[axis]} elements into {parts} parts: they have one length, so call array_split")
    return _array_split(ary, indices_or_sections, axis)


def _splits(rank, axis):
    def split(ary, indices_or_sections):
        if ary.ndim < rank:
            raise ValueError(f"a split of {list(ary.shape)}: it takes {rank} axes at least")
        return _split(ary, indices_or_sections, axis if ary.ndim > 1 else 0)

    return split


FUNCTIONS[np.vsplit], FUNCTIONS[np.hsplit], FUNCTIONS[np.dsplit] = _splits(2, 0), _splits(1, 1), _splits(3, 2)
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
    if not 0 <= start <= a.ndim:
        raise np.exceptions.AxisError(f"start={start} of rollaxis is out of range for an array of rank {a.ndim}")
    return zs.moveaxis(a, axis, start - (axis < start))


@_implements(np.delete)
def _delete(arr, obj, axis=None):
    arr, axis = along(arr, axis, "delete")
    obj = np.asarray(obj) if isinstance(obj, Array) else obj
    return take_at(arr, np.delete(np.arange(arr.shape[axis]), obj), axis)


@_implements(np.insert)
def _insert(arr, obj, values, axis=None):
    arr, axis = along(arr, axis, "insert")
    values = zs.asarray(values, dtype=arr.dtype, device=arr.device)
    values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
    obj = np.asarray(obj) if isinstance(obj, Array) else obj
    length = arr.shape[axis]
    places = np.arange(length)[obj] if isinstance(obj, slice) else np.asarray(obj)
    places = np.flatnonzero(places) if places.dtype.kind == "b" else places
    if places.ndim == 0:
        # NumPy takes the values' first axis for the axis of the array.
        values = zs.moveaxis(values, 0, axis)
    count = values.shape[axis] if places.size == 1 else places.size
    values = zs.broadcast_to(values, [*arr.shape[:axis], count, *arr.shape[axis + 1 :]])
    order = np.insert(np.arange(length), obj, length + np.arange(count))
    return take_at(zs.concat([arr, values], axis=axis), order, axis)


def _beside(value, x):
    return value if isinstance(value, Array) else zs.asarray(value, device=x.device)


@_implements(np.select)
def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"select of {len(condlist)} conditions and {len(choicelist)} choices: it takes a choice for each condition")
    first = next(x for x in (*condlist, *choicelist, default) if isinstance(x, Array))
    given = [beside(x, first) for x in (*choicelist, default)]
    if builtins.any(isinstance(x, Array) for x in given):
        dtype = zs.result_type(*given)
        given = [zs.asarray(x, dtype=dtype, device=first.device) for x in given]
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
    arrays = [x.ravel() for x in _ours(xi)]
    if not sparse:
        return zs.meshgrid(*arrays, indexing=indexing)
    places = [1, 0, *range(2, len(arrays))] if indexing == "xy" and len(arrays) > 1 else range(len(arrays))
    return tuple(x.reshape([x.size if k == at else 1 for k in range(len(arrays))]) for x, at in zip(arrays, places))


@_implements(np.linspace)
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    start, stop = (x if device is None else x.to_device(device) for x in _ours([start, stop]))
    real = zs.result_type(start, stop)
    real = real if is_float(real) else default_float(start.device)
    start, stop = zs.broadcast_arrays(zs.astype(start, real), zs.astype(stop, real))
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else zs.full((), math.nan, dtype=real, device=start.device)
    at = zs.astype(zs.arange(num, device=start.device), real).reshape(num, *(1,) * start.ndim)
    found = start + at * (step if parts > 0 else stop - start)
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
    src = zs.broadcast_to(_cast(src, dst, casting, "copyto"), dst.shape)
    dst._replace(src if where is True else zs.where(_beside(where, dst), src, dst))


def _cast(value, x, casting, what):
    """A value to write, in the type of `x`."""
    if casting == "unsafe":
        return zs.asarray(value, dtype=x.dtype, device=x.device)
    if type(value) in (int, float):
        return _core.written(x, value)
    value = _beside(value, x)
    must_cast(value.dtype, x.dtype, casting, what)
    return zs.astype(value, x.dtype, copy=False)


def _repeated(values, count):
    """As many elements, from the first again after the last."""
    values = values.ravel()
    return values[zs.arange(count, device=values.device) % values.size]


@_implements(np.putmask)
def _putmask(a, mask, values):
    # Numbers and lists are made in the type of the array.
    values = _cast(values, a, "safe" if hasattr(values, "dtype") else "unsafe", "putmask")
    if values.size:
        a._replace(zs.where(_beside(mask, a), _repeated(values, a.size).reshape(a.shape), a))


@_implements(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    if a.ndim < 2 or a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(f"fill_diagonal of {list(a.shape)}: it takes a matrix, or axes of one length")
    n = a.shape[1]
    flat = a.flatten()
    diagonal = flat[: None if wrap or a.ndim > 2 else n * n : sum(n**k for k in range(a.ndim))]
    diagonal[...] = _repeated(_cast(val, a, "unsafe", "fill_diagonal"), diagonal.size)
    a._replace(flat.reshape(a.shape))


@_implements(np.extract)
def _extract(condition, arr):
    condition, arr = _ours([condition, arr])
    return arr.ravel()[zs.astype(condition.ravel(), zs.bool)]


@_implements(np.unravel_index)
def _unravel_index(indices, shape, order="C"):
    lengths, forwards = _counting(shape, order)
    _must_be_below(indices, math.prod(lengths), "unravel_index")
    indices, found = zs.astype(indices, int64), []
    for length in reversed(lengths):
        found.append(indices % length)
        indices = indices // length
    return tuple(found if forwards else reversed(found))


def _counting(shape, order):
    """The lengths of axes, the one that counts fastest last, and whether that is the first axis."""
    if order not in ("C", "F"):
        raise ValueError(f"{order!r} for the order of indices: it is 'C' or 'F'")
    lengths = counts(shape, "a shape")
    if math.prod(lengths) > limits(int64)[1]:
        raise ValueError(f"indices of {lengths}: int64 cannot count its elements")
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
    lengths, backwards = _counting(dims, order)
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if not len(multi_index) == len(modes) == len(lengths):
        raise ValueError(f"{len(multi_index)} indices and {len(modes)} modes for {len(lengths)} lengths: an axis has one of each")
    found = 0
    for index, how, length in zip(*(x[:: -1 if backwards else 1] for x in (multi_index, modes)), lengths):
        _must_be_mode(how, "ravel_multi_index")
        if how == "raise":
            _must_be_below(index, length, "ravel_multi_index")
        index = zs.astype(index, int64)
        found = found * length + (index if how == "raise" else _led_inside(index, length, how))
    return found


FUNCTIONS.update({
    np.array2string: functools.wraps(np.array2string)(lambda a, *arguments, **options: np.array2string(np.asarray(a), *arguments, **options)),
    np.fix: lambda x, out=None: delivered(zs.trunc(x), out), np.iscomplex: lambda x: zs.zeros_like(x, dtype=zs.bool),
    np.isneginf: lambda x, out=None: delivered(x == -math.inf, out), np.isposinf: lambda x, out=None: delivered(x == math.inf, out),
    np.isreal: lambda x: zs.ones_like(x, dtype=zs.bool), np.real_if_close: lambda a, tol=100: a,
    np.ix_: lambda *args: tuple(
        (x.nonzero()[0] if x.dtype == zs.bool else x).reshape([-1 if k == at else 1 for k in range(len(args))])
        for at, x in enumerate(_ours(args))
    ),
})  # fmt: skip


@_implements(np.array_equiv)
def _array_equiv(a1, a2):
    a, b = _ours([a1, a2])
    try:
        zs.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return bool(zs.all(a == b))
