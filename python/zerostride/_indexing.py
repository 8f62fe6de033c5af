"""Lookups: indexing by arrays of integers and of truth values.

The elements are read to the host and looked up there by NumPy. `lookup` and `scatter` are the one place of it.
"""

import numpy as np

from ._core import Array
from ._creation import asarray, upload


def _plain(key):
    """A key whose arrays are NumPy's."""
    parts = key if isinstance(key, tuple) else (key,)
    parts = tuple(np.asarray(part) if isinstance(part, Array) else part for part in parts)
    return parts if isinstance(key, tuple) else parts[0]


def lookup(x, read):
    """What ``read`` gives of an array of NumPy, on the device of ``x``."""
    return upload(np.ascontiguousarray(read(np.asarray(x))) if x.ndim else np.asarray(read(np.asarray(x))), x.device)


def scatter(x, write):
    """Lets ``write`` change the elements of ``x``."""
    elements = np.array(x)
    write(elements)
    x._replace(upload(elements, x.device))


def get(x, key):
    """``x[key]`` for keys with arrays in them."""
    key = _plain(key)
    return lookup(x, lambda elements: np.asarray(elements[key]))


def put(x, key, value):
    """``x[key] = value`` for keys with arrays in them."""
    key = _plain(key)
    value = value if isinstance(value, (bool, int, float)) else np.asarray(asarray(value))
    if not isinstance(value, np.ndarray) and isinstance(value, float) and x.dtype.kind in "biu":
        raise TypeError(f"a number of another kind cannot be written to an array of {x.dtype}: cast it by astype")

    def write(elements):
        elements[key] = value

    scatter(x, write)


def take_at(x, indices, axis):
    """Elements of some indices of an axis."""
    return lookup(x, lambda elements: np.take(elements, indices, axis=axis))
