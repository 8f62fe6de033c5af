"""The standard's inspection functions: devices, types and capabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._core import Device
from ._dtypes import KINDS, int64, isdtype
from ._types import DeviceLike

__all__ = ["Device", "__array_namespace_info__", "devices"]


def _device(device):
    return device if isinstance(device, Device) else Device(device)


def devices() -> tuple[Device, ...]:
    """Every device of this machine, GPUs first and the CPU last. It opens no device.

    Returns
    -------
    tuple of Device
    """
    return tuple(
        Device("cpu" if interface == "cpu" else f"{interface}:{index}")
        for _, interface, index, _, _ in _core.adapters()
    )


class Info:
    """The result of :func:`__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """Whether boolean indexing and data-dependent shapes work, and the highest rank.

        Returns
        -------
        dict
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 128}

    def default_device(self) -> Device:
        """The device of arrays that are created without ``device``.

        Returns
        -------
        Device
        """
        return Device()

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, np.dtype | None]:
        """The types of numbers without ``dtype``: int64, and float64 if the device computes with it, else float32.

        Parameters
        ----------
        device : Device or str, optional

        Returns
        -------
        dict
        """
        real = _device(device)._default_float()
        return {"real floating": real, "complex floating": None, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: DeviceLike = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype]:
        """The element types of a device.

        Parameters
        ----------
        device : Device or str, optional
        kind : str or tuple of str, optional
            A kind, as in :func:`isdtype`.

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
    """The devices, types and capabilities of the namespace.

    Returns
    -------
    Info
    """
    return Info()
