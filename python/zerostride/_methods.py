"""Methods of `Array` other than operators: the standard's, and those of NumPy's arrays that Dask calls.

This module adds them to the core's class, which does not depend on NumPy.
"""

import functools

import numpy as np

from . import _core, _creation, _dtypes, _elementwise, _linear, _manipulation, _out, _sizeof, _ufuncs
from ._arguments import integers, upload
from ._core import Array
from ._creation import on_host as _on_host


def _array_namespace(self, /, *, api_version=None):
    """The module that works with this array."""
    import zerostride

    known = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
    if api_version is not None and api_version not in known:
        raise ValueError(f"array API standard {api_version} is unknown: there are {', '.join(known)}")
    return zerostride


def _must_copy(x):
    """Whether the host can read the elements only from a copy."""
    return x.size > 0 and x.device.name != "cpu"


def _array(self, dtype=None, copy=None):
    """The elements as an array of NumPy: on the CPU a read-only view unless ``copy`` is true, elsewhere a copy."""
    if copy is False and _must_copy(self):
        raise ValueError(f"elements on {self.device} cannot be read without a copy: leave copy=False out")
    elements = _on_host(self)
    if dtype is not None and elements.dtype != dtype:
        if copy is False:
            raise ValueError(f"elements of {elements.dtype} cannot be read as {dtype} without a copy")
        return _creation.converted(elements, dtype)
    return elements.copy() if copy and not elements.flags.writeable else elements


def _dlpack(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """The elements as a DLPack capsule in host memory: on the CPU a read-only view, elsewhere a copy."""
    if stream is not None:
        raise ValueError(f"stream {stream!r} for __dlpack__: host memory has no stream, so leave it out")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"a capsule on device {tuple(dl_device)}: elements are exported to host memory, which is (1, 0)")
    # Older capsules cannot say that they are read-only.
    old = max_version is None or max_version[0] < 1
    if copy is False and old:
        raise BufferError("a capsule before DLPack 1.0 cannot say that it is read-only: ask for max_version=(1, 0)")
    if copy is False and _must_copy(self):
        raise BufferError(f"elements on {self.device} cannot be read without a copy: leave copy=False out")
    elements = _array(self, copy=True if copy or old else None)
    return elements.__dlpack__(max_version=max_version)


def _dlpack_device(self, /):
    """DLPack's number of host memory."""
    return (1, 0)


def _to_device(self, device, /, *, stream=None):
    """The same elements on another device, through host memory."""
    device = _creation._device(device)
    if stream is not None:
        raise ValueError(f"stream {stream!r} for to_device: devices of wgpu have no streams, so leave it out")
    if device == self.device:
        return self
    return upload(_on_host(self), device)


def _rebuild(elements, dtype, shape):
    _sizeof.make_known()
    return _core.upload(bytes(elements), dtype, shape)


def _reduce_ex(self, protocol):
    # The receiving process rebuilds the array on its default device.
    elements = _on_host(self)
    flat = elements.reshape(-1).view(np.uint8) if elements.size else np.empty(0, np.uint8)
    if protocol >= 5:
        import pickle

        return _rebuild, (pickle.PickleBuffer(flat), self.dtype, self.shape)
    return _rebuild, (flat.tobytes(), self.dtype, self.shape)


def _shown(x):
    """The elements to print, and NumPy's threshold for them. Of a large array, only the edges are computed."""
    options = np.get_printoptions()
    edge = options["edgeitems"]
    if x.size <= options["threshold"]:
        return _on_host(x), options["threshold"]
    for axis in range(x.ndim):
        if x.shape[axis] > 2 * edge + 1:
            before = (slice(None),) * axis
            ends = [x[(*before, slice(0, edge + 1))], x[(*before, slice(x.shape[axis] - edge, None))]]
            x = _core.concat(ends, axis)
    return _on_host(x), 0


def _text(x, prefix="", suffix=""):
    elements, threshold = _shown(x)
    if not x.size:
        return f"[], shape={x.shape}" if prefix and x.ndim > 1 else "[]"
    return np.array2string(elements, separator=", " if prefix else " ", prefix=prefix, suffix=suffix, threshold=threshold)


def _repr(self):
    # Rows are broken without regard to the device's name, which may be as long as a line.
    dtype = f", dtype={self.dtype.name}"
    return f"Array({_text(self, 'Array(', dtype)}{dtype}, device='{self.device}')"


def _repr_inline(self, max_width):
    """xarray's summary of the array in at most `max_width` characters. It computes nothing."""
    text = f"zerostride.Array on {self.device.name}"
    return text if len(text) <= max_width else text[: max_width - 3] + "..."


def _str(self):
    return _text(self) if self.ndim else str(_on_host(self)[()])


def _format(self, spec):
    return format(self.item() if self.ndim == 0 else str(self), spec)


def _iter(self):
    if self.ndim == 0:
        raise TypeError("an array without axes is not iterable")
    return iter(_manipulation.unstack(self))


def _tolist(self):
    """The elements as nested lists of Python's numbers."""
    return _on_host(self).tolist()


def _matmul(self, other):
    if not isinstance(other, (Array, np.ndarray, list, tuple)):
        return NotImplemented
    return _linear.matmul(self, _creation.beside(other, self))


def _rmatmul(self, other):
    if not isinstance(other, (np.ndarray, list, tuple)):
        return NotImplemented
    return _linear.matmul(_creation.beside(other, self), self)


def _astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The elements converted to a type. ``order`` and ``subok`` are NumPy's, and change nothing."""
    dtype = np.dtype(dtype)
    if casting != "unsafe":
        _dtypes.must_cast(self.dtype, dtype, casting, "astype")
    return _dtypes.astype(self, dtype, copy=copy)


def _reshape(self, *shape, order="C", copy=None):
    """The elements in another shape, in row-major order, or with ``order="F"`` in column-major order."""
    shape = shape[0] if len(shape) == 1 else shape
    if order == "F":
        return _manipulation.reshape(self.T, integers(shape, "the shape of reshape")[::-1], copy=copy).T
    if order not in ("C", "A", None):
        raise ValueError(f"{order!r} for the order of reshape: it is 'C', 'F' or 'A'")
    return _manipulation.reshape(self, shape, copy=copy)


def _transpose(self, *axes):
    """The axes in another order, reversed by default."""
    if not axes or axes == (None,):
        return self.T
    return _manipulation.permute_dims(self, axes[0] if len(axes) == 1 else axes)


def _ravel(self, order="C"):
    return _reshape(self, self.size, order="C" if order == "K" else order)


def _copied(self, order="C"):
    """A new array of the same elements. It costs nothing until one of the two is written to."""
    return self._copy()


def _flatten(self, order="C"):
    """A new array of the elements along one axis."""
    return _ravel(self, order)._copy()


def _flat(self):
    """A view of all elements along one axis. Without such a view it is an error, as a write to a copy would be lost."""
    flat = _ravel(self)
    if self.size and flat._place()[0] != self._place()[0]:
        raise ValueError("flat of an array whose elements do not lie row by row: ravel() makes a copy, to read")
    return flat


def _set_flat(self, values):
    _flat(self)[...] = _ravel(values) if isinstance(values, Array) else values


def _strides(self):
    """The bytes between neighbours along each axis, as in ``numpy.asarray`` of the array."""
    steps = [self.itemsize]
    for length in reversed(self.shape[1:]):
        steps.append(steps[-1] * max(length, 1))
    return tuple(reversed(steps[: self.ndim]))


_only = Array.item


def _item(self, *args):
    """The only element, or that at an index of the flattened array or at one of each axis, as a Python number."""
    if not args:
        return _only(self)
    index = args[0] if len(args) == 1 else args
    return _only(self[index] if isinstance(index, tuple) else _ravel(self)[index])


def _clip(self, min=None, max=None, out=None, **options):
    """As ``numpy.clip``, which looks at the other arguments."""
    return np.clip(self, min, max, out, **options)


def _numpys(name):
    """NumPy's function of this name as a method, with the same arguments."""
    theirs = getattr(np, name)

    def method(self, *arguments, **options):
        return _functions().call(theirs, (self, *arguments), options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``numpy.{name}`` of the array."
    method.__wrapped__ = theirs
    return method


def _array_ufunc(self, ufunc, method, *inputs, **options):
    return _ufuncs.ufunc(ufunc, method, inputs, options)


@functools.cache
def _functions():
    """The module of NumPy's functions, which are loaded when the first is called."""
    from . import _numpy, _numpy_linear, _numpy_numbers, _numpy_selecting, _numpy_shapes  # noqa: F401

    return _numpy


def _array_function(self, function, types, args, kwargs):
    return _functions().function(self, function, types, args, kwargs)


def _dask_tokenize(self):
    from dask.tokenize import normalize_token

    _sizeof.make_known()
    return "zerostride.Array", normalize_token(_on_host(self))


METHODS = {
    "__array__": _array,
    "__array_function__": _array_function,
    "__array_namespace__": _array_namespace,
    "__array_ufunc__": _array_ufunc,
    # Between the priorities of NumPy and Dask.
    "__array_priority__": 10,
    "__copy__": _copied,
    "__dask_tokenize__": _dask_tokenize,
    "__deepcopy__": lambda self, memo: self._copy(),
    "__divmod__": lambda self, other: (self // other, self % other),
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "__format__": _format,
    "__imatmul__": lambda self, other: _out.delivered(self @ other, self),
    "__iter__": _iter,
    "__matmul__": _matmul,
    "__reduce_ex__": _reduce_ex,
    "__rdivmod__": lambda self, other: (other // self, other % self),
    "__repr__": _repr,
    "_repr_inline_": _repr_inline,
    "__rmatmul__": _rmatmul,
    "__str__": _str,
    "astype": _astype,
    "clip": _clip,
    "compress": lambda self, condition, axis=None, out=None: np.compress(condition, self, axis, out),
    **dict.fromkeys(("conj", "conjugate"), _elementwise.conj),
    "copy": _copied,
    "flat": property(_flat, _set_flat),
    "flatten": _flatten,
    "item": _item,
    "imag": property(_elementwise.imag, doc="The imaginary part, which is 0."),
    "ravel": _ravel,
    "reshape": _reshape,
    "real": property(lambda self: self, doc="The real part, which is the array."),
    "strides": property(_strides),
    "to_device": _to_device,
    "tolist": _tolist,
    "transpose": _transpose,
}  # fmt: skip
for _name in """
    all any argmax argmin argsort cumprod cumsum diagonal dot max mean min nonzero prod repeat round searchsorted squeeze std sum
    swapaxes take trace var
""".split():
    METHODS[_name] = _numpys(_name)

for _name, _function in METHODS.items():
    setattr(Array, _name, _function)
