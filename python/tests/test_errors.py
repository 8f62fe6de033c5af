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
    one = zs.ones((1,), dtype=zs.float32)
    for call in (lambda: one + 10**400, lambda: zs.asarray(2**70), lambda: zs.asarray([1, 2**70])):
        with pytest.raises(OverflowError, match="outside of every type: make it a float"):
            call()
    with pytest.raises(TypeError, match="takes no modulus"):
        pow(zs.ones((1,), dtype=zs.int32), 2, 5)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x: zs.zeros(-1), ValueError, "-1 for a shape: it takes integers of 0 or more"),
        (lambda x: zs.eye(-1), ValueError, "integers of 0 or more"),
        (lambda x: zs.tile(x, -1), ValueError, "integers of 0 or more"),
        (lambda x: zs.repeat(x, -1), ValueError, "integers of 0 or more"),
        (lambda x: zs.repeat(x, [1, 2], axis=1), ValueError, "takes one for each index"),
        (lambda x: zs.broadcast_to(x, (2, -1)), ValueError, "integers of 0 or more"),
        (lambda x: zs.arange(0, 5, 0), ValueError, "a step is other than 0"),
        (lambda x: zs.zeros(2.5), TypeError, "2.5 for a shape: it takes integers"),
        (lambda x: zs.sum(x, axis=1.0), TypeError, "1.0 for the axis of sum"),
        (lambda x: zs.cumulative_sum(x, axis=(0, 1)), TypeError, "it takes an integer"),
        (lambda x: zs.roll(x, 1.5), TypeError, "1.5 for the shift of roll"),
        (lambda x: zs.reshape(x, 6.0), TypeError, "6.0 for the shape of reshape"),
        (lambda x: x.round(1.5), TypeError, "1.5 for the decimals of round"),
        (lambda x: zs.diff(x, n=1.5), TypeError, "1.5 for the n of diff"),
        (lambda x: zs.linspace(0, 1, 2.5), TypeError, "2.5 for the num of linspace"),
        (lambda x: zs.linspace(0, 1, -1), ValueError, "-1 for the num of linspace: it takes integers of 0 or more"),
        (lambda x: zs.repeat(x, 1.9), TypeError, "it takes integers"),
        (lambda x: zs.repeat(x, "3"), TypeError, "it takes integers"),
        (lambda x: zs.sum([1, 2]), TypeError, "sum takes arrays, not list: make it an array by asarray"),
        (lambda x: zs.matmul(x, 3), TypeError, "matmul takes arrays, not int"),
        (lambda x: zs.concat([x, 1]), TypeError, "concat takes arrays, not int"),
        (lambda x: zs.stack([1, 2]), TypeError, "stack takes arrays, not int"),
    ],
)
def test_arguments(x, call, kind, text):
    with pytest.raises(kind, match=text):
        call(x)


def test_what_is_no_array():
    for name in (
        "squeeze flip unstack nonzero sort argsort argmax any max softmax cumulative_sum diff tril unique_values imag "
        "zeros_like matrix_transpose clip expand_dims"
    ).split():
        with pytest.raises(TypeError, match=f"{name} takes arrays, not list: make it an array by asarray"):
            getattr(zs, name)([1, 2])


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
    with pytest.raises(ValueError, match="is not one value"):
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
    if "float64" in zs.__array_namespace_info__().dtypes(device=zs.Device()):
        assert float(zs.ones((1,), dtype=zs.float64) + zs.ones((1,), dtype=zs.float64)) == 2.0
    else:
        with pytest.raises(RuntimeError, match="needs the feature"):
            (zs.ones((1,), dtype=zs.float64) + 1).evaluate()
    lacking = [d for d in zs.devices() if not d.supports(zs.float64)]
    for device in lacking:
        x = zs.asarray(np.array([0.1, np.nan, -1e300]), device=device)
        assert x.dtype == zs.float64 and x.tolist()[::2] == [0.1, -1e300]
        assert zs.astype(x, zs.float32).tolist()[0] == np.float32(0.1)
        assert zs.astype(x, zs.int64).tolist() == [0, 0, -(2**63)]
        with pytest.raises(RuntimeError, match="add of f64 needs the feature SHADER_F64.* cast to f32"):
            (x + x).evaluate()
        assert zs.asarray([1.0], device=device).dtype == zs.float32
