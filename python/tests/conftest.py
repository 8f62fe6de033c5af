"""Fixtures and helpers of all tests."""

import os

import numpy as np
import pytest

import zerostride as zs

# SciPy asks for it once, when it is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# What other packages ask of arrays, and what types and notebooks say, is the same on every device.
if os.environ.get("ZEROSTRIDE_DEVICE", "cpu") != "cpu":
    collect_ignore = [f"test_{name}.py" for name in ("cubed", "dask", "estimators", "notebooks", "others", "stubs", "xarray")]

FLOATS = [dtype for dtype in (zs.float16, zs.float32, zs.float64) if zs.Device().supports(dtype)]
INTEGERS = [zs.int8, zs.int16, zs.int32, zs.int64, zs.uint8, zs.uint16, zs.uint32, zs.uint64]


@pytest.fixture
def x():
    """Six elements of float32."""
    return zs.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))


def same(ours, theirs):
    """Asserts that an array of ours is one of NumPy: shape, type and elements."""
    theirs = np.asarray(theirs)
    assert isinstance(ours, zs.Array), type(ours)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(np.asarray(ours), theirs)
