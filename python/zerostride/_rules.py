"""Warnings about shapes that older code may have meant in another way."""

import sys
import warnings

from . import _core

__all__ = ["warn_on_reinterpreted_shapes"]


def warn_on_reinterpreted_shapes(enabled: bool, /) -> None:
    """Turns a ``UserWarning`` on or off. It is off by default.

    Operators then warn if operands of different shapes and equal element counts broadcast. Code from before broadcasting
    may have meant these operands as 1-D (PyTorch's ``torch.utils.backcompat.broadcast_warning.enabled``).

    Parameters
    ----------
    enabled : bool
    """
    _core.warn_on_reinterpreted_shapes(bool(enabled))


def _warn(text):
    # The warning names the first line outside of this package.
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "zerostride":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
