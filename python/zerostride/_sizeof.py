"""How large chunks of Dask are. Dask loads this while it is imported itself, so it must not ask for Dask."""

import sys

from ._core import Array


def register(sizeof):
    """What the entry point ``dask.sizeof`` names."""
    sizeof.register(Array, _size)


def make_known():
    """Makes arrays known to Dask as chunks, where this process uses Dask: it may have got them without a module of ours
    that does so, as a worker does that takes the place of another one."""
    if "dask" in sys.modules:
        from . import dask  # noqa: F401


def _size(array):
    make_known()
    # A worker asks for the size of what it is about to keep: it then is what it keeps, and not an expression that
    # keeps the chunks that it was built of.
    if array.size:
        array._settle()
    return array.nbytes
