"""The sizes of Dask's chunks. Dask imports this module during its own import, so this module must not import Dask."""

import sys

from ._core import Array


def register(sizeof):
    """The function that the entry point ``dask.sizeof`` names."""
    sizeof.register(Array, _size)


def make_known():
    """Registers `Array` with Dask if this process has imported Dask. A worker that replaces another one may receive arrays
    before it imports ``zerostride.dask``."""
    if "dask" in sys.modules:
        from . import dask  # noqa: F401


def _size(array):
    make_known()
    # A worker asks for the size of a result before it stores the result. Evaluating it here releases the chunks that its
    # expression refers to.
    if array.size:
        array._settle()
    return array.nbytes
