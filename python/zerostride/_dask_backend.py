"""``dask.config.set({"array.backend": "zerostride"})`` makes Dask create arrays of zerostride. An entry point names
this module."""

import dask
import dask.array as da
from dask.array.backends import ArrayBackendEntrypoint

import zerostride as zs

from . import dask as ours
from ._core import Array


class Backend(ArrayBackendEntrypoint):
    """Dask's interface for a backend: conversions, creation and random numbers."""

    @classmethod
    def to_backend(cls, data, **options):
        """Moves chunks of other array types to the workers' devices."""
        return data if isinstance(data._meta, Array) else ours.from_dask(data)

    @property
    def RandomState(self):
        return zs.random.RandomState

    @property
    def default_bit_generator(self):
        return zs.random.PCG64

    @staticmethod
    def ones(shape, *, dtype=None, meta=None, **options):
        return _filled(da.ones, shape, dtype=dtype, **options)

    @staticmethod
    def zeros(shape, *, dtype=None, meta=None, **options):
        return _filled(da.zeros, shape, dtype=dtype, **options)

    @staticmethod
    def empty(shape, *, dtype=None, meta=None, **options):
        return _filled(da.empty, shape, dtype=dtype, **options)

    @staticmethod
    def full(shape, fill_value, *, dtype=None, meta=None, **options):
        dtype = zs.full((), fill_value, dtype=dtype).dtype
        return _filled(da.full, shape, fill_value, dtype=dtype, **options)

    @staticmethod
    def arange(*bounds, dtype=None, meta=None, **options):
        if dtype is None:
            dtype = zs.arange(*(0 * bound for bound in bounds[:2])).dtype
        with dask.config.set({"array.backend": "numpy"}):
            return ours.from_dask(da.arange(*bounds, dtype=dtype, **options))


def _filled(make, *values, dtype, **options):
    """An array with chunks created on the workers' devices. Default types follow the device, as in the namespace."""
    meta = zs.zeros((0,), dtype=dtype)
    with dask.config.set({"array.backend": "numpy"}):
        return make(*values, dtype=meta.dtype, meta=meta, **options)
