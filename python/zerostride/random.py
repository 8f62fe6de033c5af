"""Random arrays. NumPy draws them on the host and they are uploaded, so a seed draws the same numbers on every device.

The crate's ``random``, whose kernels draw numbers by a counter, has no function here.

>>> import zerostride as zs
>>> zs.random.default_rng(0).random((2, 3)).shape
(2, 3)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._arguments import upload
from ._creation import _device, converted
from ._dtypes import default_float
from ._types import DeviceLike

__all__ = ["Generator", "PCG64", "RandomState", "default_rng"]


class PCG64(np.random.PCG64):
    """NumPy's bit generator. Dask finds the module of an array's chunks by the module of this class."""


class _Drawing:
    """Wraps a generator of NumPy, so that drawn arrays are uploaded to a device. A single number stays a number."""

    _own: Any
    _device: DeviceLike

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._own, name)
        return functools.wraps(method)(functools.partial(self._draw, method)) if callable(method) else method

    def _draw(self, method, *arguments, **options):
        found = method(*arguments, **options)
        if not isinstance(found, np.ndarray):
            return found
        device = _device(self._device)
        # The default type of floats follows the device, as in the namespace.
        if found.dtype == np.float64 and "dtype" not in options:
            found = converted(found, default_float(device))
        return upload(found, device)


class Generator(_Drawing):
    """NumPy's generator, whose methods return arrays of a device.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
    device : Device or str, optional
    """

    def __init__(self, bit_generator: np.random.BitGenerator, *, device: DeviceLike = None) -> None:
        self._own, self._device = np.random.Generator(bit_generator), device


class RandomState(_Drawing):
    """NumPy's older generator, whose methods return arrays of a device.

    Parameters
    ----------
    seed : int or sequence of int, optional
    device : Device or str, optional
    """

    def __init__(self, seed: Any = None, *, device: DeviceLike = None) -> None:
        self._own, self._device = np.random.RandomState(seed), device


def default_rng(seed: Any = None, *, device: DeviceLike = None) -> Generator:
    """A generator of random arrays.

    Parameters
    ----------
    seed : int, sequence of int, or numpy.random.BitGenerator, optional
    device : Device or str, optional

    Returns
    -------
    Generator
    """
    own = seed if isinstance(seed, np.random.BitGenerator) else PCG64(seed)
    return Generator(own, device=device)
