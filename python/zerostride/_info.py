"""What the namespace and its devices can do, as the standard asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._core import Device
from ._dtypes import KINDS, isdtype
from ._types import DeviceLike

__all__ = ["Device", "__array_namespace_info__", "devices"]


def _device(device):
    return device if isinstance(device, Device) else Device(device)


def devices() -> tuple[Device, ...]:
    """Every device of this machine, the best kind first and the CPU last. None is opened.

    Returns
    -------
    tuple of Device
    """
    return tuple(
        Device("cpu" if interface == "cpu" else f"{interface}:{index}")
        for _, interface, index, _, _ in _core.adapters()
    )


class Info:
    """What :func:`__array_namespace_info__` gives."""

    def capabilities(self) -> dict[str, Any]:
        """What may be indexed, shaped and how large.

        Returns
        -------
        dict
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 128}

    def default_device(self) -> Device:
        """The device of arrays that name none.

        Returns
        -------
        Device
        """
        return Device()

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, np.dtype | None]:
        """The types of numbers that name none: 64 bits where the device has them, else 32.

        Parameters
        ----------
        device : Device or str, optional

        Returns
        -------
        dict
        """
        integer, real = _device(device)._defaults()
        return {"real floating": real, "complex floating": None, "integral": integer, "indexing": integer}

    def dtypes(self, *, device: DeviceLike = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype]:
        """The types that a device computes with.

        Parameters
        ----------
        device : Device or str, optional
        kind : str or tuple of str, optional
            As :func:`isdtype` takes it.

        Returns
        -------
        dict
        """
        device = _device(device)
        known = [*KINDS["bool"], *KINDS["numeric"]]
        return {
            dtype.name: dtype
            for dtype in known
            if dtype.kind != "c" and device.supports(dtype) and (kind is None or isdtype(dtype, kind))
        }

    def devices(self) -> tuple[Device, ...]:
        """Every device of this machine.

        Returns
        -------
        tuple of Device
        """
        return devices()


def __array_namespace_info__() -> Info:
    """What the namespace can do.

    Returns
    -------
    Info
    """
    return Info()
