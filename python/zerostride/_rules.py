"""Shapes that other systems, or older versions of them, took in another way."""

import sys
import warnings

from . import _core

__all__ = ["warn_on_reinterpreted_shapes"]


def warn_on_reinterpreted_shapes(enabled: bool, /) -> None:
    """Whether operators warn of operands with different shapes but equal element counts that broadcast.

    Code from before broadcasting may have meant such operands as 1-D (PyTorch's
    ``torch.utils.backcompat.broadcast_warning.enabled``). It is a ``UserWarning``, and off by default.

    Parameters
    ----------
    enabled : bool
    """
    _core.warn_on_reinterpreted_shapes(bool(enabled))


def _warn(text):
    # Of the line that called this package, whichever of its functions it called.
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "zerostride":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)
