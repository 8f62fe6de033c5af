"""Views by strides, at NumPy's place."""

from .._manipulation import broadcast_arrays as broadcast_arrays, broadcast_to as broadcast_to
from .._manipulation import sliding_window_view as sliding_window_view
