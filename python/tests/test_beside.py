"""Operands without a device go to the device of the array beside them, and nothing else moves unasked."""

import numpy as np
import pytest
from conftest import same

import zerostride as zs

ONES = np.ones(3, np.float32)
X = np.float32([1, 2, 3])


@pytest.fixture
def there():
    """A device that is not the default one."""
    others = [device for device in zs.devices() if device != zs.Device()]
    if not others:
        pytest.skip("one device alone")
    return others[0]


@pytest.fixture
def x(there):
    return zs.asarray(X, device=there)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + ONES, lambda x: ONES - x, lambda x: x * np.float32(2), lambda x: np.float32(1) / x,
        lambda x: x == X, lambda x: np.add(x, ONES), lambda x: np.maximum(ONES, x),
        lambda x: np.where(X > 1, x, np.float32(0)), lambda x: np.where(x > 1, [4, 5, 6], x),
        lambda x: np.clip(x, np.float32(2), np.float32([3, 3, 2])), lambda x: np.clip(ONES, x, x + 1),
        lambda x: np.take_along_axis(x, np.array([2, 0]), 0), lambda x: x.take([0, 1]), lambda x: np.stack([ONES, x]),
        lambda x: np.diff(x, prepend=ONES), lambda x: np.isclose(x, X), lambda x: x[[2, 0]], lambda x: x[X > 1],
    ],
)  # fmt: skip
def test_operands(x, there, call):
    result = call(x)
    assert result.device == there
    assert np.array_equal(np.asarray(result), call(X))


def test_functions_of_the_namespace(x, there):
    for ours, theirs in [
        (zs.maximum(x, ONES), X), (zs.where(X > 1, x, 0), np.float32([0, 2, 3])), (zs.clip(x, np.float32(2)), [2, 2, 3]),
        (zs.take(x, [2, 0]), [3, 1]), (zs.diff(x, append=np.float32(3)), [1, 1, 0]),
    ]:  # fmt: skip
        same(ours, np.float32(theirs))
        assert ours.device == there


def test_what_is_written(x):
    x -= ONES
    x[0] = np.float32(7)
    x[1:] = [8, 9]
    same(x, np.float32([7, 8, 9]))
    x[[0, 1]] = np.float32([5, 6])
    x[X > 2] = zs.asarray([4], dtype=zs.float32, device=x.device)
    same(x, np.float32([5, 6, 4]))


def test_what_goes_out_stays_where_it_is(x):
    out = zs.zeros((3,), dtype=zs.float32)
    for call in (lambda: np.add(x, 1, out=out), lambda: np.sum(x[None], axis=0, out=out)):
        with pytest.raises(ValueError, match="bring one over by to_device"):
            call()
    same(out, np.zeros(3, np.float32))
    out = zs.zeros((3,), dtype=zs.float32, device=x.device)
    assert np.add(X, 1, out=out) is out and out.device == x.device
    same(out, X + 1)


def test_like(x, there):
    f4 = np.float32
    for made, elements in [
        (np.zeros(2, dtype=f4, like=x), [0, 0]), (np.ones(2, f4, like=x), [1, 1]), (np.empty(2, f4, like=x), [0, 0]),
        (np.full(2, 7, f4, like=x), [7, 7]), (np.asarray([1, 2], f4, like=x), [1, 2]), (np.array(X, like=x), X),
        (np.arange(3, dtype=f4, like=x), [0, 1, 2]), (np.eye(2, dtype=f4, like=x), np.eye(2)),
    ]:  # fmt: skip
        same(made, f4(elements))
        assert made.device == there


def test_a_printed_name_is_one(there):
    for device in (there, zs.Device()):
        assert zs.ones((2,), dtype=zs.float32, device=str(device)).device == device
        assert zs.Device(str(device)) == device


def test_without_a_copy():
    for device in zs.devices():
        x = zs.ones((2,), dtype=zs.float32, device=device)
        if device.name == "cpu":
            assert np.asarray(x, copy=False).tolist() == [1, 1]
            x.__dlpack__(copy=False, max_version=(1, 0))
            continue
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(x, copy=False)
        with pytest.raises(BufferError, match="without a copy"):
            x.__dlpack__(copy=False, max_version=(1, 0))
