"""NumPy's place of :mod:`zerostride.lib.stride_tricks`, where callers of a namespace look for it."""

from . import stride_tricks as stride_tricks
