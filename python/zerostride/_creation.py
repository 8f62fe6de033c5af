"""Arrays of data, of one value, and of numbers in steps."""

from __future__ import annotations

import math
import operator
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from . import _core
from ._arguments import arrays_of, counts, integer, of_array, upload
from ._core import Array
from ._dtypes import default_float, int64, is_float, is_integer
from ._info import _device
from ._types import AnyArray, DeviceLike, Number, Shape

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def on_host(x):
    """The elements as an array of NumPy: on the CPU a read-only view, elsewhere a copy."""
    if x.size == 0:
        return np.empty(x.shape, x.dtype)
    memory, place = x._host()
    strides, offset = place or (None, 0)
    return np.ndarray(x.shape, x.dtype, memory, offset, strides)


def converted(array, dtype):
    """An array of NumPy with every element converted to a type.

    NumPy converts a float that is out of an integer type's range differently on each machine, so the core converts
    floats to integers.
    """
    dtype = np.dtype(dtype)
    if array.dtype.kind == "c" and dtype.kind not in "bc":
        raise TypeError(f"elements of {array.dtype} for {dtype}: it has no imaginary part, so take .real of them first")
    if is_float(array.dtype) and is_integer(dtype):
        known = array.astype(np.float64) if array.dtype.itemsize > 8 else array
        array = on_host(_core.cast(upload(known, "cpu"), dtype.newbyteorder("=")))
    return array.astype(dtype)


def beside(operand, x):
    """An operand as an array on the device of `x`. Python's numbers stay numbers, so that they take the type of `x`."""
    if operand is None or isinstance(operand, (Array, bool, int, float)):
        return operand
    return asarray(operand, device=x.device)


def asarray(
    obj: ArrayLike, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, copy: bool | None = None
) -> Array:
    """Convert to an array.

    Parameters
    ----------
    obj : Array, number, nested sequence, or what NumPy or Python's buffer protocol can read
    dtype : dtype, optional
        The type of ``obj`` by default. Python's integers become int64. Python's floats, and sequences of float64, become
        float64, or float32 on a device without it. Other elements of a sequence keep their type.
    device : Device or str, optional
    copy : bool, optional
        ``False`` raises ``ValueError`` if elements must be copied.

    Returns
    -------
    Array
    """
    if isinstance(obj, Array):
        same = (dtype is None or obj.dtype == dtype) and (device is None or obj.device == _device(device))
        if same:
            return obj._copy() if copy else obj
        if copy is False:
            raise ValueError("another type or device needs a copy: leave copy=False out")
        if device is not None:
            obj = obj.to_device(device)
        return obj if dtype is None or obj.dtype == dtype else _core.cast(obj, dtype)
    if copy is False:
        raise ValueError("elements of others are copied to memory of the device: leave copy=False out")
    device = _device(device)
    array = np.asarray(obj)
    if dtype is None:
        array = array if _has_type(obj) else _of_numbers(array, device)
    elif array.dtype != dtype:
        is_typed = _has_type(obj) or not is_integer(np.dtype(dtype))
        array = converted(array, dtype) if is_typed else _of_integers(obj, array, dtype)
    return upload(array, device)


def _has_type(obj):
    """Whether elements have a type: arrays and buffers do, Python's numbers do not."""
    if any(hasattr(obj, name) for name in ("__array_interface__", "__array__", "__dlpack__")):
        return True
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _of_integers(obj, array, dtype):
    """Python's numbers as integers. An integer that is out of the type's range raises, as in NumPy."""
    if not is_float(array.dtype):
        return np.asarray(obj, dtype=dtype)
    # NumPy makes floats of integers beside floats, and of integers that no type holds together.
    integers = [each for each in np.asarray(obj, dtype=object).flat if isinstance(each, int)]
    exact = np.asarray(integers, dtype=dtype)
    return exact.reshape(array.shape) if exact.size == array.size else converted(array, dtype)


def _of_numbers(array, device):
    """Elements of NumPy's default types as those of the device's. Other types come from elements that have one."""
    if array.dtype.kind == "O" and array.size and all(isinstance(each, int) for each in array.flat):
        raise OverflowError("an integer is outside of every type: make it a float")
    return array.astype(default_float(device)) if array.dtype == np.float64 else array


def from_dlpack(x: object, /, *, device: DeviceLike = None, copy: bool | None = None) -> Array:
    """Convert an object that has ``__dlpack__``, through host memory.

    Parameters
    ----------
    x : object
    device : Device or str, optional
    copy : bool, optional

    Returns
    -------
    Array
    """
    if isinstance(x, Array):
        return asarray(x, device=device, copy=copy)
    if copy is False:
        raise ValueError("elements of others are copied to memory of the device: leave copy=False out")
    return upload(np.from_dlpack(x), _device(device))


def full(
    shape: Shape, fill_value: Number | AnyArray, *, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Array:
    """An array of one value. It takes no memory until it is written to.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : number or bool
    dtype : dtype, optional
        The default type of the value's kind without it.
    device : Device or str, optional

    Returns
    -------
    Array
    """
    device = _device(device)
    if isinstance(fill_value, (Array, np.ndarray, np.generic)):
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    if dtype is None:
        if isinstance(fill_value, bool):
            dtype = np.dtype("bool")
        else:
            dtype = int64 if isinstance(fill_value, int) else default_float(device)
    return _core.full(counts(shape, "a shape"), fill_value, dtype, device)


class _Make(Protocol):
    def __call__(self, shape: Shape, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array: ...


class _Like(Protocol):
    def __call__(
        self, x: AnyArray, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, shape: Shape | None = None
    ) -> Array: ...


def _filled(name: str, value: int, what: str) -> tuple[_Make, _Like]:
    def make(shape, *, dtype=None, device=None):
        device = _device(device)
        return _core.full(counts(shape, "a shape"), value, default_float(device) if dtype is None else dtype, device)

    @of_array
    def like(x, /, *, dtype=None, device=None, shape=None):
        device = x.device if device is None else device
        return _core.full(x.shape if shape is None else counts(shape, "a shape"), value, x.dtype if dtype is None else dtype, device)

    parameters = "dtype : dtype, optional\ndevice : Device or str, optional\n"
    returns = "\nReturns\n-------\nArray\n"
    head = "Parameters\n----------\n"
    make.__doc__ = f"An array of {what}.\n\n{head}shape : int or tuple of int\n{parameters}{returns}"
    shape = "shape : int or tuple of int, optional\n    The shape of ``x`` without it.\n"
    like.__doc__ = f"An array of {what}, of the shape of ``x``.\n\n{head}x : Array\n{parameters}{shape}{returns}"
    for function, own in ((make, name), (like, name + "_like")):
        function.__name__ = function.__qualname__ = own
        function.__module__ = "zerostride"
    return make, like


zeros, zeros_like = _filled("zeros", 0, "zeros")
ones, ones_like = _filled("ones", 1, "ones")
empty, empty_like = _filled("empty", 0, "zeros: no array shows what was in memory before")


@of_array
def full_like(
    x: AnyArray,
    /,
    fill_value: Number | AnyArray,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    shape: Shape | None = None,
) -> Array:
    """An array of one value, of the shape of ``x``.

    Parameters
    ----------
    x : Array
    fill_value : number or bool
    dtype : dtype, optional
    device : Device or str, optional
    shape : int or tuple of int, optional
        The shape of ``x`` without it.

    Returns
    -------
    Array
    """
    device = x.device if device is None else device
    return full(x.shape if shape is None else shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    """Numbers from ``start`` to below ``stop``, ``step`` apart.

    Parameters
    ----------
    start : number
        The first number. Without ``stop``, this is the stop and the numbers begin at 0.
    stop : number, optional
    step : number
    dtype : dtype, optional
    device : Device or str, optional

    Returns
    -------
    Array
    """
    device = _device(device)
    bounds = (0, start, step) if stop is None else (start, stop, step)
    try:
        start, stop, step = map(operator.index, bounds)
        is_counting = True
    except TypeError:
        start, stop, step = bounds
        is_counting = False
    if step == 0:
        raise ValueError("arange with a step of 0: a step is other than 0")
    if dtype is None:
        dtype = int64 if is_counting else default_float(device)
    dtype = np.dtype(dtype)
    if is_counting and is_integer(dtype):
        # NumPy counts by a quotient of floats, which is exact for a multiple of the step.
        numbers = np.arange(start, start + max(-((start - stop) // step), 0) * step, step, dtype=dtype)
    else:
        numbers = converted(start + np.arange(max(math.ceil((stop - start) / step), 0)) * step, dtype)
    return upload(numbers, device)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    endpoint: bool = True,
) -> Array:
    """``num`` numbers from ``start`` to ``stop``, evenly spaced.

    Parameters
    ----------
    start, stop : number
    num : int
    dtype : dtype, optional
    device : Device or str, optional
    endpoint : bool
        Whether ``stop`` is the last number.

    Returns
    -------
    Array
    """
    device = _device(device)
    (num,) = counts(integer(num, "the num of linspace"), "the num of linspace")
    dtype = default_float(device) if dtype is None else dtype
    return upload(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint), device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    """Ones on a diagonal, zeros elsewhere.

    Parameters
    ----------
    n_rows : int
    n_cols : int, optional
    k : int
        The diagonal: above the main one if positive, below it if negative.
    dtype : dtype, optional
    device : Device or str, optional

    Returns
    -------
    Array
    """
    device = _device(device)
    shape = counts([n_rows, n_rows if n_cols is None else n_cols], "a shape")
    on = _offdiagonal(shape, device) == _bounded(k)
    return _core.cast(on, default_float(device) if dtype is None else dtype)


def _offdiagonal(shape, device):
    """The distance of each element from the main diagonal, positive to the right."""
    rank = len(shape)
    return _core.coordinate(shape, rank - 1, device) - _core.coordinate(shape, rank - 2, device)


def _bounded(k):
    """The number of a diagonal, limited to int32. No array has diagonals beyond."""
    return max(min(k, 2**31 - 1), -(2**31))


@of_array
def tril(x: AnyArray, /, *, k: int = 0) -> Array:
    """The elements on and below a diagonal of each matrix, zeros above.

    Parameters
    ----------
    x : Array
    k : int

    Returns
    -------
    Array
    """
    _matrices(x)
    return _core.select(_offdiagonal(x.shape, x.device) <= _bounded(k), x, zeros_like(x))


@of_array
def triu(x: AnyArray, /, *, k: int = 0) -> Array:
    """The elements on and above a diagonal of each matrix, zeros below.

    Parameters
    ----------
    x : Array
    k : int

    Returns
    -------
    Array
    """
    _matrices(x)
    return _core.select(_offdiagonal(x.shape, x.device) >= _bounded(k), x, zeros_like(x))


def _matrices(x):
    if x.ndim < 2:
        raise ValueError(f"an array of {list(x.shape)} has no matrices: a matrix takes two axes")


def meshgrid(*arrays: AnyArray, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """One array of coordinates for each axis of a grid.

    Parameters
    ----------
    *arrays : Array
        The coordinates along one axis each, of rank 1.
    indexing : {"xy", "ij"}
        The order of the first two axes: ``"xy"`` has columns first, ``"ij"`` has rows first.

    Returns
    -------
    tuple of Array
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    ours = arrays_of("meshgrid", arrays)
    if any(array.ndim > 1 for array in ours):
        raise ValueError("meshgrid takes arrays of one axis")
    rank = len(ours)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    shape = [0] * rank
    for array, place in zip(ours, places):
        shape[place] = array.size
    grids = []
    for array, place in zip(ours, places):
        lengths = [1] * rank
        lengths[place] = array.size
        grids.append(_core.broadcast_to(_core.reshape(array, lengths), shape))
    return tuple(grids)
