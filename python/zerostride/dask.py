"""Arrays as chunks of Dask: ``import zerostride.dask`` makes them known to it.

A chunk travels between processes through memory of the host, by buffers of pickle 5. Each process opens its own
device, by ``ZEROSTRIDE_DEVICE``, when it first computes; a client that only builds graphs opens none.

>>> import dask.array as da, numpy as np
>>> import zerostride.dask
>>> x = zerostride.dask.from_dask(da.ones((4, 4), chunks=2, dtype=np.float32))
>>> float((x + 1).sum().compute())
32.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

import zerostride as zs

from . import _sizeof
from ._core import Array

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["from_dask", "register", "to_numpy"]


def register() -> None:
    """Makes arrays known to Dask as chunks. Importing this module has done it."""
    import dask.array as da
    from dask.array import dispatch
    from dask.sizeof import sizeof

    if Array in da.chunk_types._HANDLED_CHUNK_TYPES:
        return
    da.register_chunk_type(Array)
    _sizeof.register(sizeof)
    dispatch.concatenate_lookup.register(Array, lambda arrays, axis=0: zs.concat(arrays, axis=axis))
    dispatch.tensordot_lookup.register(Array, lambda a, b, axes=2: zs.tensordot(a, b, axes=axes))
    dispatch.take_lookup.register(Array, np.take)
    dispatch.empty_lookup.register(Array, lambda shape, dtype=None, order="C": zs.empty(shape, dtype=dtype))
    dispatch.divide_lookup.register(Array, _divide)
    dispatch.numel_lookup.register(Array, _numel)
    dispatch.to_numpy_dispatch.register(Array, lambda array, **options: np.asarray(array))


def _divide(a, b, dtype=None):
    quotient = zs.divide(a, b)
    return quotient if dtype is None else zs.astype(quotient, np.dtype(dtype))


def _numel(x, axis=None, keepdims=False, dtype=np.float64):
    """How many elements a reduction is over. It is a count, and not on the device."""
    axes = range(x.ndim) if axis is None else [axis] if hasattr(axis, "__index__") else axis
    axes = {each % x.ndim for each in axes}
    count = int(np.prod([x.shape[each] for each in axes], dtype=np.int64))
    shape = [1 if i in axes else length for i, length in enumerate(x.shape) if keepdims or i not in axes]
    dtype = np.dtype(dtype)
    # A mean divides sums by it: where there is no f64, in f32.
    if dtype == zs.float64 and zs._dtypes.is_float(x.dtype):
        dtype = x.dtype
    return zs.full(shape, float(count) if dtype.kind == "f" else count, dtype=dtype, device=x.device)


def from_dask(array: da.Array, *, dtype: DTypeLike | None = None) -> da.Array:
    """A Dask array whose chunks are on the workers' devices.

    Parameters
    ----------
    array : dask.array.Array
        With chunks of NumPy.
    dtype : dtype, optional
        To convert to, on the device.

    Returns
    -------
    dask.array.Array
    """
    dtype = array.dtype if dtype is None else np.dtype(dtype)
    meta = zs.zeros((0,) * array.ndim, dtype=dtype)
    return array.map_blocks(_chunk, dtype.name, dtype=dtype, meta=meta)


def _chunk(block, name):
    block = zs.asarray(block)
    return block if block.dtype.name == name else zs.astype(block, np.dtype(name))


def to_numpy(array: da.Array) -> da.Array:
    """A Dask array whose chunks are NumPy's again.

    Parameters
    ----------
    array : dask.array.Array

    Returns
    -------
    dask.array.Array
    """
    return array.map_blocks(np.asarray, dtype=array.dtype, meta=np.empty((0,) * array.ndim, array.dtype))


register()
