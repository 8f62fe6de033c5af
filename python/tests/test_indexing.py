"""Indexing as NumPy does it."""

import numpy as np
import pytest
from conftest import same

import zerostride as zs

ELEMENTS = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
KEYS = [
    0, -1, np.int64(2), (1, 2, 3), (..., 0), (slice(None), 1), slice(1, None), slice(None, None, -1), slice(2, 0, -1),
    slice(-100, 100), slice(5, 1), (slice(None, None, 2), ..., slice(4, None, -2)), None, (None, ..., None), (1, None, 2),
    (Ellipsis,), (), (0, ..., slice(1, 3)), slice(None, None, 1000), slice(None, None, -1000),
]  # fmt: skip
LOOKUPS = [
    np.array([0, 2]), np.array([[0, 1], [2, 0]]), (np.array([0, 1]), np.array([2, 3])), (slice(None), np.array([3, 1])),
    (np.array([0, 1]), slice(1, 3)), np.array([True, False, True]), ELEMENTS > 30, (0, np.array([-1, -2])),
    (..., np.array([0, 4])), np.array([], dtype=np.int64), (0, 0, ELEMENTS[0, 0] > 2), np.array(1), np.array(True),
    np.array(False), (slice(1), np.array(False)), (np.array(True), np.array([0, 2]), 1),
    np.zeros(0, bool), np.zeros((3, 0), bool), (slice(None), np.zeros((0, 5), bool)), True, False, (True, 0, [1, 2]),
    (slice(None), 1, ..., [0, 1]), (..., 1, ..., [0])[1:], ([0, 1], ..., 1, slice(None)), ([0, 1], ..., [1, 2], [3, 4]),
]  # fmt: skip


INDEX = zs.asarray(0).dtype


def ours(key):
    parts = key if isinstance(key, tuple) else (key,)
    # An adapter may lack int64.
    placed = lambda part: zs.asarray(part if part.dtype == bool else part.astype(INDEX))  # noqa: E731
    parts = tuple(placed(part) if isinstance(part, np.ndarray) else part for part in parts)
    return parts if isinstance(key, tuple) else parts[0]


@pytest.mark.parametrize("key", KEYS + LOOKUPS, ids=repr)
def test_reading(key):
    x = zs.asarray(ELEMENTS)
    same(x[ours(key)], np.asarray(ELEMENTS[key]))
    # Also of computed arrays.
    same((x + 1)[ours(key)], np.asarray((ELEMENTS + 1)[key]))


@pytest.mark.parametrize("key", KEYS + LOOKUPS, ids=repr)
def test_writing(key):
    x, there = zs.asarray(ELEMENTS), ELEMENTS.copy()
    x[ours(key)] = -1
    there[key] = -1
    same(x, there)
    values = (np.arange(there[key].size, dtype=np.int32) * 2).reshape(there[key].shape)
    x[ours(key)] = zs.asarray(values)
    there[key] = values
    same(x, there)


def test_what_is_written_is_broadcast_and_cast():
    x = zs.zeros((2, 3), dtype=zs.float32)
    x[:, 1:] = zs.asarray([1, 2], dtype=zs.int8)
    x[0] = 5
    same(x, np.float32([[5, 5, 5], [0, 1, 2]]))
    x[...] = np.float32([[1], [2]])
    same(x, np.float32([[1, 1, 1], [2, 2, 2]]))
    with pytest.raises(ValueError):
        x[0] = zs.ones((2, 3), dtype=zs.float32)
    y = zs.zeros((2,), dtype=zs.int32)
    with pytest.raises(TypeError, match="cannot be written to an array of int32"):
        y[0] = 0.5
    for key in (slice(None), [0], np.array([0, 1]), np.array([True, False]), y == 0):
        for value in (0.5, np.float32(2), [2.5], zs.ones((2,), dtype=zs.float32)):
            with pytest.raises(TypeError, match="cannot be written to an array of int32"):
                y[key] = value


def test_random_keys():
    random = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(random.integers(1, 6, size=random.integers(1, 5)))
        elements = random.integers(-100, 100, size=shape).astype(np.int32)
        key = []
        for length in shape:
            kind = random.integers(4)
            if kind == 0:
                key.append(int(random.integers(-length, length)))
            elif kind == 1:
                key.append(None)
                key.append(slice(None))
            else:
                bounds = [None if random.integers(3) == 0 else int(random.integers(-8, 8)) for _ in range(2)]
                step = int(random.choice([-3, -2, -1, 1, 2, 3]))
                key.append(slice(*bounds, step))
        key = tuple(key)
        x, there = zs.asarray(elements), elements.copy()
        same(x[key], np.asarray(elements[key]))
        x[key] = 5
        there[key] = 5
        same(x, there)


def test_lookups_stay_on_the_device():
    x = zs.asarray(ELEMENTS)
    steps = zs.asarray(np.int32([2, 0, 1])) - 3
    # Part of the kernel that computes the indices.
    same(x[steps] * 2, ELEMENTS[[-1, -3, -2]] * 2)
    same(zs.take(x, steps, axis=1), ELEMENTS[:, [3, 1, 2]])
    same(zs.take_along_axis(x, zs.argmax(x % 7, axis=2, keepdims=True), axis=2),
         np.take_along_axis(ELEMENTS, np.argmax(ELEMENTS % 7, axis=2, keepdims=True), axis=2))  # fmt: skip
    # Indices of an array of ours are not read: the nearest element.
    same(x[steps * 100, 0, 0], ELEMENTS[[0, 0, 0], 0, 0])
    outside = zs.asarray(np.int32([0, 9]))
    same(x[outside], ELEMENTS[[0, 2]])
    # A write outside is dropped.
    written, expected = x + 0, ELEMENTS.copy()
    written[outside], expected[0] = 7, 7
    same(written, expected)
    same(zs.take(x, outside, axis=1), ELEMENTS[:, [0, 3]])
    same(zs.take_along_axis(x, outside[:, None, None], axis=0), np.take_along_axis(ELEMENTS, np.int32([[[0]], [[2]]]), axis=0))
    for key in ([3], np.array([0, -4]), (0, [[4]]), (slice(None), 0, np.array([5]))):
        with pytest.raises(IndexError, match="is outside of axis"):
            x[key]
    with pytest.raises(IndexError, match="do not broadcast together"):
        x[np.arange(2), np.arange(3)]
    with pytest.raises(IndexError, match="integers or truth values"):
        x[np.array([0.5])]
    with pytest.raises(IndexError, match="one ellipsis at most"):
        x[..., ..., [0]]
    with pytest.raises(IndexError, match="one ellipsis at most"):
        x[..., ..., [0]] = 1
    with pytest.raises(IndexError, match="a mask of"):
        x[np.array([True, False])]


def test_random_lookups():
    random = np.random.default_rng(1)
    for _ in range(400):
        shape = tuple(random.integers(1, 5, size=random.integers(0, 5)))
        elements = random.integers(-100, 100, size=shape).astype(np.int32)
        common = tuple(random.integers(1, 4, size=random.integers(0, 3)))
        key, axis = [], 0
        while axis < len(shape):
            length, kind = shape[axis], random.integers(6)
            axis += 1
            if kind < 2:
                own = common[random.integers(0, len(common) + 1) :]
                own = tuple(1 if random.integers(4) == 0 else n for n in own)
                key.append(random.integers(-length, length, size=own))
            elif kind == 2:
                key.append(int(random.integers(-length, length)))
            elif kind == 3:
                key += [None, slice(None, None, int(random.choice([-1, 1, 2])))]
            elif kind == 4 and axis < len(shape):
                # Of one element, so that it broadcasts with other indices.
                mask = np.zeros(shape[axis - 1 : axis + 1], bool)
                mask[tuple(random.integers(0, mask.shape))] = True
                key.append(mask)
                axis += 1
            else:
                key.append(random.integers(2, size=length).astype(bool) if len(shape) == 1 else slice(None))
        if random.integers(6) == 0:
            key.append(Ellipsis)
        if random.integers(8) == 0:
            key.insert(0, np.array(bool(random.integers(2))))
        key = tuple(key)
        try:
            expected = np.asarray(elements[key])
        except IndexError:
            # A truth value that selects none beside several indices.
            with pytest.raises(IndexError):
                zs.asarray(elements)[ours(key)]
            continue
        same(zs.asarray(elements)[ours(key)], expected)
