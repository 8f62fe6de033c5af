"""Lookups: indexing by arrays of integers and of truth values.

Elements are looked up and written on the device. An index that the host has raises outside of its axis. One of an array of
ours leads to the nearest element, as in JAX: raising would take a read, which NumPy's functions do. Of a mask of ours it is
read how many are true.
"""

import numpy as np

from . import _core
from ._core import Array
from ._creation import on_host, upload
from ._dtypes import default_int


def _plain(parts):
    """A key of such parts whose arrays are NumPy's."""
    return tuple(np.asarray(part) if isinstance(part, Array) else part for part in parts)


def lookup(x, read):
    """What ``read`` gives of an array of NumPy, on the device of ``x``."""
    return upload(np.ascontiguousarray(read(np.asarray(x))) if x.ndim else np.asarray(read(np.asarray(x))), x.device)


def must_be_inside(indices, length, axis):
    """Raises unless indices are ones of an axis of some length. Those of an array of ours are read: two of them."""
    if not indices.size or indices.dtype.kind not in "iu":
        return
    if isinstance(indices, Array):
        ends = [_core.reshape(_core.reduce(name, indices.evaluate()), [1]) for name in ("amin", "amax")]
        least, greatest = on_host(_core.concat(ends, 0)).tolist()
    else:
        least, greatest = int(indices.min()), int(indices.max())
    for index in (least, greatest):
        if not -length <= index < length:
            raise IndexError(f"index {index} is outside of axis {axis}, which has length {length}")


def _index(indices, length, axis, device):
    """Indices of an axis of some length, on the device."""
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
    return upload(indices.astype(np.int32 if length < 1 << 31 else default_int(device)), device)


def _parts(key):
    """The parts of a key, whose masks are arrays."""
    parts = key if isinstance(key, tuple) else (key,)
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index has one ellipsis at most")
    return tuple(np.asarray(part) if _is_mask(part) and not isinstance(part, Array) else part for part in parts)


def _arrays(parts, x):
    """The parts of a key as a slice or a new axis each, or indices of an axis. Masks are their indices."""
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
            # An axis of a mask may have no elements, as the standard says.
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
    """Whether a part of a key is a mask of leading axes, all of them as long."""
    return _is_mask(part) and part.ndim and part.shape == x.shape[: part.ndim]


def _is_basic(part):
    return part is None or part is Ellipsis or isinstance(part, slice)


def _axes(part):
    """How many axes a part of a key is for."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_mask(part) else 1


def get(x, key):
    """``x[key]`` for keys with arrays in them."""
    key = _parts(key)
    if any(_is_mask(part) and not part.ndim for part in key):
        # A truth value is an axis of one or none.
        return lookup(x, lambda elements: np.asarray(elements[_plain(key)]))
    if len(key) == 1 and isinstance(key[0], Array) and x.ndim:
        if _is_whole(key[0], x):
            return _core.compress(x, key[0])
        if key[0].dtype.kind in "iu":
            return take_at(x, key[0], 0)
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
    # Their axes stand where the first of them is, and in front where others are between them: in the key, where an
    # ellipsis is between them though it may be for no axis.
    named = [k for k, part in enumerate(key) if not _is_basic(part)]
    first = places[0] if named == list(range(named[0], named[-1] + 1)) else 0
    others = [k for k, basic in enumerate(is_basic) if basic]
    before, after = others[:first], others[first:]
    lengths = [view.shape[k] for k in before], [view.shape[k] for k in after]
    return _found(view, indices, (before, after), (*lengths[0], *common, *lengths[1]), len(common))


def _found(x, indices, others, shape, count):
    """Elements by the indices of some axes, whose ``count`` axes stand between those of the others."""
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
    return _core.lookup(x, along, shape)


def put(x, key, value):
    """``x[key] = value`` for keys with arrays in them."""
    key, value = _parts(key), _core.written(x, value)
    if len(key) == 1 and _is_whole(key[0], x) and value.ndim <= x.ndim - key[0].ndim:
        # As many as there are: nothing has to be found.
        mask = key[0] if isinstance(key[0], Array) else upload(key[0], x.device)
        mask = _core.reshape(mask, [*mask.shape, *[1] * (x.ndim - mask.ndim)])
        rest = _core.broadcast_to(value, x.shape[x.ndim - value.ndim :] if value.ndim else [])
        x._replace(_core.select(mask, _core.broadcast_to(rest, x.shape), x))
        return
    numbers = _core.reshape(_core.coordinate([x.size], 0, x.device), x.shape)
    places = get(numbers, key)
    while value.ndim > places.ndim and value.shape[0] == 1:
        value = _core.squeeze(value, 0)
    value = _core.broadcast_to(value, places.shape)
    if places.size:
        flat, *written = (_core.reshape(each, [each.size]) for each in (x, places, value))
        x._replace(_core.reshape(_core.scatter(flat, written[:1], written[1]), x.shape))


def take_at(x, indices, axis):
    """Elements of some indices of an axis, whose axes stand in its place."""
    axis = range(x.ndim)[axis]
    index = _index(indices, x.shape[axis], axis, x.device)
    before, after = list(range(axis)), list(range(axis + 1, x.ndim))
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    return _found(x, {axis: index}, (before, after), shape, index.ndim)


def take_along(x, indices, axis):
    """Elements of indices of an axis that differ along the others."""
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
    # A length of 1 stretches, as an index 0 of all.
    zero = _core.full((), 0, np.int32, x.device)
    along = [index if k == axis else (zero if x.shape[k] == 1 else k) for k in range(x.ndim)]
    return _core.lookup(x, along, shape)
