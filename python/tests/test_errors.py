"""Mistakes are exceptions of Python's kinds, with the crate's text, at the line that makes them."""

import traceback

import numpy as np
import pytest

import zerostride as zs


def test_shapes(x):
    with pytest.raises(ValueError, match=r"cannot broadcast \[2, 3\] with \[4\]: axis 1 has lengths 3 and 4 \(numpy rule\)"):
        x + zs.ones((4,), dtype=zs.float32)
    with pytest.raises(ValueError, match="reshape"):
        zs.reshape(x, (4, 2))


def test_the_line_is_that_of_the_operator(x):
    try:
        x + zs.ones((4,), dtype=zs.float32)  # here
    except ValueError as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        assert last.line.endswith("# here")
        assert "src/" not in str(error)


def test_types(x):
    with pytest.raises(TypeError, match="and takes no f32"):
        x & x
    with pytest.raises(TypeError, match="no integer type holds both uint64 and int8"):
        zs.ones((1,), dtype=zs.uint64) + zs.ones((1,), dtype=zs.int8)
    with pytest.raises(TypeError, match="complex128 is no element type here"):
        zs.asarray([1j])
    with pytest.raises(TypeError, match="object is no element type here"):
        zs.asarray([None])
    with pytest.raises(TypeError):
        x + "one"
    with pytest.raises(TypeError, match="takes arrays and numbers, not str"):
        zs.add(x, "one")
    with pytest.raises(TypeError, match="an array at least"):
        zs.add(1, 2)


def test_numbers():
    with pytest.raises(OverflowError, match="256 is no u8"):
        zs.ones((1,), dtype=zs.uint8) + 256
    assert np.isinf(float(zs.ones((), dtype=zs.float32) * 1e300))


def test_axes_and_indexes(x):
    with pytest.raises(IndexError, match="index 5 is outside of axis 1"):
        x[0, 5]
    with pytest.raises(IndexError, match="3 indexes for an array of"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="axis 2 of sum"):
        zs.sum(x, axis=2)
    with pytest.raises(ValueError, match="names an axis twice"):
        zs.sum(x, axis=(0, -2))
    with pytest.raises(TypeError, match="is no index"):
        [1, 2][zs.asarray(1.0)]


def test_truth_of_several(x):
    with pytest.raises(ValueError, match="has no one value"):
        bool(x)
    with pytest.raises((TypeError, ValueError)):
        float(x)


def test_unhashable(x):
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_devices(x):
    with pytest.raises(RuntimeError, match="no device matches 'voodoo': there are"):
        zs.ones((1,), dtype=zs.float32, device="voodoo").evaluate()


def test_types_that_a_device_lacks():
    known = zs.__array_namespace_info__().dtypes(device=zs.Device())
    for dtype in (zs.int64, zs.uint64, zs.float64):
        if dtype.name in known:
            assert float(zs.ones((1,), dtype=dtype) + zs.ones((1,), dtype=dtype)) == 2.0
        else:
            with pytest.raises(RuntimeError, match="needs the feature"):
                (zs.ones((1,), dtype=dtype) + 1).evaluate()
    lacking = [d for d in zs.devices() if not d.supports(zs.float64)]
    for device in lacking:
        with pytest.raises(RuntimeError, match="needs the feature"):
            zs.asarray(np.ones(3), device=device)
        assert zs.asarray([1.0], device=device).dtype == zs.float32
