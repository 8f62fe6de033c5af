"""Indexing by arrays of integers and masks.

The device looks elements up and writes them. An index from the host raises if it is out of range. An index in an `Array`
is clamped to its axis, as in JAX, because raising would need a read. NumPy's functions do read, and raise. A mask in an
`Array` is read to count its true elements.
"""

import numpy as np

from . import _core
from ._arguments import upload
from ._core import Array
from ._creation import on_host
from ._dtypes import int64


def _plain(parts):
    """A key with its `Array`s converted to NumPy's."""
    return tuple(np.asarray(part) if isinstance(part, Array) else part for part in parts)


def lookup(x, read):
    """The result of ``read`` on the elements as an array of NumPy, uploaded to the device of ``x``."""
    return upload(np.ascontiguousarray(read(np.asarray(x))) if x.ndim else np.asarray(read(np.asarray(x))), x.device)


def must_be_inside(indices, length, axis):
    """Raises if an index is out of range for an axis. Of an `Array`, the least and the greatest index are read."""
    if not indices.size or indices.dtype.kind not in "iu":
        return
    if isinstance(indices, Array):
        ends = [_core.reshape(_core.reduce(name, indices.evaluate()), [1]) for name in ("min", "max")]
        least, greatest = on_host(_core.concat(ends, 0)).tolist()
    else:
        least, greatest = int(indices.min()), int(indices.max())
    for index in (least, greatest):
        if not -length <= index < length:
            raise IndexError(f"index {index} is outside of axis {axis}, which has length {length}")


def _index(indices, length, axis, device):
    """Indices along an axis of `length`, on the device."""
    if isinstance(indices, Array):
        if indices.dtype.kind not in "iu":
            raise IndexError(f"an index of axis {axis} is of {indices.dtype}: indices are integers or truth values")
        return indices
    indices = np.asarray(indices)
    if not indices.size:
        return upload(indices.astype(np.int32), device)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"an index of axis {axis} is of {indices.dtype}: indices are integers or truth values")
    must_be_inside(indices, length, axis)
    return upload(indices.astype(np.int32 if length < 1 << 31 else int64), device)


def _parts(key):
    """The parts of a key, with masks that are lists or bools converted to arrays."""
    parts = key if isinstance(key, tuple) else (key,)
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index has one ellipsis at most")
    return tuple(np.asarray(part) if _is_mask(part) and not isinstance(part, Array) else part for part in parts)


def _arrays(parts, x):
    """The parts of a key as slices, new axes, and indices of one axis each. A mask becomes indices of true elements."""
    whole, axis = [], 0
    used = sum(_axes(part) for part in parts)
    if used > x.ndim:
        raise IndexError(f"{used} indexes for an array of {list(x.shape)}, which has {x.ndim} axes")
    for part in parts:
        if part is Ellipsis:
            whole += [slice(None)] * (x.ndim - used)
            axis += x.ndim - used
        elif part is None or isinstance(part, slice):
            whole.append(part)
            axis += part is not None
        elif _is_mask(part):
            # The standard allows an axis of length 0 in a mask.
            if any(n not in (0, length) for n, length in zip(part.shape, x.shape[axis:])):
                raise IndexError(f"a mask of {list(part.shape)} does not fit {list(x.shape)} from axis {axis} on")
            whole += np.nonzero(part)
            axis += part.ndim
        else:
            whole.append(part)
            axis += 1
    return whole + [slice(None)] * (x.ndim - axis)


def _is_mask(part):
    part = np.asarray(part) if isinstance(part, (bool, list)) else part
    return getattr(part, "dtype", None) == np.bool_


def _is_whole(part, x):
    """Whether a part of a key is a mask with the lengths of the leading axes."""
    return _is_mask(part) and part.ndim and part.shape == x.shape[: part.ndim]


def _is_basic(part):
    return part is None or part is Ellipsis or isinstance(part, slice)


def _axes(part):
    """The number of axes that a part of a key consumes."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_mask(part) else 1


def get(x, key, outside=None):
    """``x[key]`` for a key with arrays. An index of an array of ours that is out of range finds the nearest element, or
    `outside`."""
    key = _parts(key)
    if any(_is_mask(part) and not part.ndim for part in key):
        # A mask of rank 0 adds an axis of length 1 or 0.
        return lookup(x, lambda elements: np.asarray(elements[_plain(key)]))
    if len(key) == 1 and isinstance(key[0], Array) and x.ndim:
        if _is_whole(key[0], x):
            return _core.compress(x, key[0])
        if key[0].dtype.kind in "iu":
            return take_at(x, key[0], 0, outside)
    parts = _arrays(key, x)
    is_basic = [_is_basic(part) for part in parts]
    view = x[tuple(part if basic else slice(None) for part, basic in zip(parts, is_basic))]
    places = [k for k, basic in enumerate(is_basic) if not basic]
    indices = {k: _index(parts[k], view.shape[k], k, x.device) for k in places}
    try:
        common = np.broadcast_shapes(*(index.shape for index in indices.values()))
    except ValueError:
        shapes = " and ".join(str(list(index.shape)) for index in indices.values())
        raise IndexError(f"indices of {shapes} do not broadcast together") from None
    # The indices' axes replace the first indexed axis. If another part separates the indices in the key, even an ellipsis
    # of no axes, they come first, as in NumPy.
    named = [k for k, part in enumerate(key) if not _is_basic(part)]
    first = places[0] if named == list(range(named[0], named[-1] + 1)) else 0
    others = [k for k, basic in enumerate(is_basic) if basic]
    before, after = others[:first], others[first:]
    lengths = [view.shape[k] for k in before], [view.shape[k] for k in after]
    return _found(view, indices, (before, after), (*lengths[0], *common, *lengths[1]), len(common), outside)


def _found(x, indices, others, shape, count, outside):
    """Elements at indices along axes. The indices' `count` axes stand between the other axes, `before` and `after`."""
    before, after = others
    along = []
    for axis in range(x.ndim):
        if axis in before:
            along.append(before.index(axis))
        elif axis in after:
            along.append(len(before) + count + after.index(axis))
        else:
            index = indices[axis]
            along.append(_core.reshape(index, [*index.shape, *[1] * len(after)]))
    return _core.lookup(x, along, shape, outside)


def put(x, key, value):
    """``x[key] = value`` for a key with arrays."""
    key, value = _parts(key), _core.written(x, value)
    if len(key) == 1 and _is_whole(key[0], x) and value.ndim <= x.ndim - key[0].ndim:
        # The value broadcasts to every element, so the mask selects without an index.
        mask = key[0] if isinstance(key[0], Array) else upload(key[0], x.device)
        mask = _core.reshape(mask, [*mask.shape, *[1] * (x.ndim - mask.ndim)])
        rest = _core.broadcast_to(value, x.shape[x.ndim - value.ndim :] if value.ndim else [])
        x._replace(_core.select(mask, _core.broadcast_to(rest, x.shape), x))
        return
    numbers = _core.reshape(_core.coordinate([x.size], 0, x.device), x.shape)
    # No element has this number, so what is written to it is dropped.
    write(x, get(numbers, key, outside=x.size), value)


def write(x, places, value):
    """Writes to the elements of these numbers, as they are counted row by row."""
    while value.ndim > places.ndim and value.shape[0] == 1:
        value = _core.squeeze(value, 0)
    value = _core.broadcast_to(value, places.shape)
    if places.size:
        flat, *written = (_core.reshape(each, [each.size]) for each in (x, places, value))
        x._replace(_core.reshape(_core.scatter(flat, written[:1], written[1]), x.shape))


def take_at(x, indices, axis, outside=None):
    """Elements at indices along an axis. The indices' axes replace it."""
    axis = range(x.ndim)[axis]
    index = _index(indices, x.shape[axis], axis, x.device)
    before, after = list(range(axis)), list(range(axis + 1, x.ndim))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return _found(x, {axis: index}, (before, after), shape, index.ndim, outside)


def take_along(x, indices, axis):
    """Elements at indices along an axis, with other indices for each position along the other axes."""
    axis = range(x.ndim)[axis]
    index = _index(indices, x.shape[axis], axis, x.device)
    lengths = [n for k, n in enumerate(x.shape) if k != axis]
    try:
        if index.ndim != x.ndim:
            raise ValueError
        common = np.broadcast_shapes([n for k, n in enumerate(index.shape) if k != axis], lengths)
    except ValueError:
        raise IndexError(f"indices of {list(index.shape)} do not fit {list(x.shape)} beside axis {axis}") from None
    shape = (*common[:axis], index.shape[axis], *common[axis:])
    # An axis of length 1 broadcasts: its index is 0.
    zero = _core.full((), 0, np.int32, x.device)
    along = [index if k == axis else (zero if x.shape[k] == 1 else k) for k in range(x.ndim)]
    return _core.lookup(x, along, shape)
