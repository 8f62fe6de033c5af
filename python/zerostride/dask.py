"""Arrays as chunks of Dask: ``import zerostride.dask`` registers them.

A chunk moves between processes through host memory, in buffers of pickle 5. Each process opens its own device, named
by ``ZEROSTRIDE_DEVICE``, when it first computes. A client that only builds graphs opens none.

>>> import dask.array as da, numpy as np
>>> import zerostride.dask
>>> x = zerostride.dask.from_dask(da.ones((4, 4), chunks=2, dtype=np.float32))
>>> float((x + 1).sum().compute())
32.0
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from itertools import accumulate
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
from numpy.typing import DTypeLike

import zerostride as zs

from . import _core, _statistics
from ._arguments import axes_of
from ._core import Array

if TYPE_CHECKING:
    import dask.array as da
    from distributed import SpecCluster

__all__ = ["LocalCluster", "from_dask", "reduce", "register", "to_numpy"]


def register() -> None:
    """Registers `Array` with Dask as a chunk type. Importing this module calls it."""
    import dask.array
    from dask.array import dispatch

    if Array in dask.array.chunk_types._HANDLED_CHUNK_TYPES:
        return
    dask.array.register_chunk_type(Array)
    _register_lookups(dispatch)
    dispatch.to_numpy_dispatch.register(Array, lambda array, **options: np.asarray(array))
    # Dask's arrays of expressions are a package of their own.
    if find_spec("dask_array") is not None:
        import dask_array
        from dask_array import _dispatch

        dask_array.register_chunk_type(Array)
        _register_lookups(_dispatch)


def _register_lookups(dispatch):
    for name, function in {
        "concatenate": lambda arrays, axis=0: zs.concat(arrays, axis=axis),
        "divide": _divide,
        "einsum": np.einsum,
        "empty": lambda shape, dtype=None, order="C": zs.empty(shape, dtype=dtype),
        "nannumel": _nannumel,
        "numel": _numel,
        "percentile": lambda array, q, method="linear": (np.percentile(array, q, method=method) if array.size else None, len(array)),
        "take": np.take,
        "tensordot": lambda a, b, axes=2: zs.tensordot(a, b, axes=axes),
    }.items():
        getattr(dispatch, f"{name}_lookup").register(Array, function)


def _divide(a, b, dtype=None):
    quotient = zs.divide(a, b)
    return quotient if dtype is None else zs.astype(quotient, np.dtype(dtype))


def _numel(x, axis=None, keepdims=False, dtype=np.float64):
    """The number of elements that a reduction takes, from the shape alone."""
    axes = range(x.ndim) if axis is None else [axis] if hasattr(axis, "__index__") else axis
    axes = {each % x.ndim for each in axes}
    count = int(np.prod([x.shape[each] for each in axes], dtype=np.int64))
    shape = [1 if i in axes else length for i, length in enumerate(x.shape) if keepdims or i not in axes]
    dtype = np.dtype(dtype)
    # A mean divides sums by this count, and a device without float64 needs it in the sums' type.
    if dtype == zs.float64 and zs._dtypes.is_float(x.dtype):
        dtype = x.dtype
    return zs.full(shape, float(count) if dtype.kind == "f" else count, dtype=dtype, device=x.device)


def _nannumel(x, axis=None, keepdims=False, dtype=np.float64):
    known = zs.astype(zs.logical_not(zs.isnan(x)), _numel(x, axis, keepdims, dtype).dtype)
    return zs.sum(known, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)


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


def LocalCluster(
    devices: Sequence[str] | None = None, *, memory_limit: str | int | float | None = "auto", **options: Any
) -> SpecCluster:
    """A cluster on this machine: a process of one thread for each device. One thread keeps an adapter busy.

    Parameters
    ----------
    devices : sequence of str, optional
        ``ZEROSTRIDE_DEVICE`` of each worker. The default is that variable of this process, else each GPU through its
        best interface, else the CPU.
    memory_limit : str, int, float or None
        The limit of a worker's process. Dask counts arrays on a device too.
    **options
        Options of ``distributed.Nanny``.

    Returns
    -------
    distributed.SpecCluster

    Examples
    --------
    >>> cluster = LocalCluster(["cpu", "cpu"])    # doctest: +SKIP
    >>> client = cluster.get_client()             # doctest: +SKIP
    """
    from distributed import Nanny, Scheduler, SpecCluster

    # Devices do not survive a fork.
    dask.config.set({"distributed.worker.multiprocessing-method": "spawn"})
    environment = options.pop("env", {})
    workers = {
        i: {
            "cls": Nanny,
            "options": {
                "nthreads": 1, "memory_limit": memory_limit, **options, "env": {**environment, "ZEROSTRIDE_DEVICE": device}
            },
        }
        for i, device in enumerate(_gpus() if devices is None else devices)
    }  # fmt: skip
    return SpecCluster(scheduler={"cls": Scheduler, "options": {"dashboard_address": ":0"}}, workers=workers)


def _gpus():
    named = os.environ.get(_core.device_variable())
    if named:
        return [named]
    # Each interface lists an adapter once. The first interface with a GPU is the best one.
    found = [(interface, index) for _, interface, index, kind, _ in _core.adapters() if "gpu" in kind]
    return [f"{interface}:{index}" for interface, index in found if interface == found[0][0]] or ["cpu"]


_REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all")


def reduce(array: da.Array, name: str, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> da.Array:
    """A reduction of a Dask array, with the bits of a reduction of the whole array.

    Each chunk is reduced to the values of its blocks of 1024 elements, or of a power of 1024, and the last step joins
    the values. Chunks along the first reduced axis must therefore end at multiples of 1024 elements, and the other
    reduced axes must not be divided. ``array.sum()`` takes any chunks, but its bits depend on them.

    Parameters
    ----------
    array : dask.array.Array
        An array with chunks of zerostride.
    name : {"sum", "prod", "mean", "max", "min", "any", "all"}
    axis : int or tuple of int, optional
        Neighbouring axes, all by default.
    keepdims : bool
        Whether reduced axes stay, with length 1.

    Returns
    -------
    dask.array.Array

    Raises
    ------
    ValueError
        If a chunk ends elsewhere.

    Examples
    --------
    >>> x = from_dask(da.ones((4096, 2), chunks=(1024, 2), dtype=np.float32))
    >>> np.asarray(reduce(x, "sum", axis=0).compute())
    array([4096., 4096.], dtype=float32)
    """
    import dask.array as da

    if name not in _REDUCTIONS:
        raise ValueError(f"no reduction of chunks is called {name!r}: there are {', '.join(_REDUCTIONS)}")
    axes = sorted(range(array.ndim) if axis is None else axes_of(axis, array.ndim, name))
    meta = _prepared(array._meta, name)
    dtype = meta.dtype
    if not axes:
        return array.map_blocks(_prepared, name, dtype=dtype, meta=meta)
    block = _block(array, name, axes)
    count = prod(array.shape[each] for each in axes)
    return da.reduction(
        array,
        chunk=partial(_partial, name=name, block=block),
        combine=_combined,
        aggregate=partial(_joined, name=name, count=count, dtype=dtype),
        axis=tuple(axes),
        keepdims=keepdims,
        dtype=dtype,
        concatenate=True,
        meta=_joined(meta, axis=axes, keepdims=keepdims, name="sum" if dtype.kind != "b" else "any", count=0, dtype=dtype),
    )


def _block(array, name, axes):
    """The longest block whose multiples are the ends of all chunks."""
    first, *others = axes
    divided = [each for each in others if array.numblocks[each] > 1]
    inner = prod(array.shape[each] for each in others)
    ends = [end * inner for end in accumulate(array.chunks[first])][:-1]
    common = gcd(*ends)
    if divided or (ends and common % 1024):
        chunks = array.chunks[divided[0] if divided else first]
        at = divided[0] if divided else first
        raise ValueError(
            f"{name} over axes {axes} of chunks {chunks} along axis {at}: chunks end at multiples of 1024 elements of a "
            f"range, and only along its first axis: rechunk, or call the array's own {name}"
        )
    block = 1024
    while common and common % (block * 1024) == 0:
        block *= 1024
    return block


def _prepared(x, name):
    """The elements in the type that a reduction of the whole array has."""
    if name in ("sum", "prod"):
        return zs.astype(x, _statistics.accumulating(x, None))
    if name == "mean":
        return _statistics._floats(x)
    return _statistics._truth(x) if name in ("any", "all") else x


def _partial(x, *, axis, keepdims, name, block):
    return _core.reduce_partial(name, _prepared(x, name), list(axis), block)


def _combined(x, *, axis, keepdims):
    return x


def _joined(x, *, axis, keepdims, name, count, dtype):
    return zs.astype(_core.reduce_join(name, x, list(axis), count, keepdims), dtype)


register()
