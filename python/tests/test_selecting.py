"""Sorting, sets, masks, histograms and writes at indices have NumPy's results on the device, and read counts alone."""

import numpy as np
import pytest

import zerostride as zs
from conftest import FLOATS, INTEGERS, same

X = np.random.default_rng(5).integers(-9, 9, (7, 40)).astype(np.float32)
X[0, :4] = np.nan, -0.0, np.inf, -np.inf


@pytest.fixture
def reads(monkeypatch):
    """The bytes of each array that is read."""
    sizes, host = [], zs.Array._host

    def counted(self):
        sizes.append(self.nbytes)
        return host(self)

    monkeypatch.setattr(zs.Array, "_host", counted)
    return sizes


def test_sorts(reads):
    x = zs.asarray(X)
    results = [
        zs.sort(x, axis=0), zs.sort(x, descending=True), zs.argsort(x), zs.argsort(x, axis=0, descending=True),
        np.median(x, axis=1), np.percentile(x[1:], [5, 50, 99], axis=0), np.quantile(x[1:], 0.3, keepdims=True),
        zs.isin(x, zs.asarray([1.0, 3.0])), zs.searchsorted(zs.sort(x[2]), x[3], side="right"),
        zs.searchsorted(x[2], x[3], sorter=zs.argsort(x[2])), np.digitize(x, [-3.0, 0.0, 3.0]),
        zs.isin(zs.asarray(np.uint8([1, 2])), -1), zs.isin(3, zs.asarray(np.int8([3]))),
    ]  # fmt: skip
    assert not reads
    negative = -np.where(np.isnan(X), np.inf, X)
    expected = [
        np.sort(X, axis=0), np.flip(np.sort(X), 1), np.argsort(X, stable=True),
        np.lexsort((negative, ~np.isnan(X)), axis=0), np.median(X, axis=1),
        np.percentile(X[1:], [5, 50, 99], axis=0), np.quantile(X[1:], 0.3, keepdims=True),
        np.isin(X, [1, 3]), np.searchsorted(np.sort(X[2]), X[3], side="right"),
        np.searchsorted(X[2], X[3], sorter=np.argsort(X[2])), np.digitize(X, [-3, 0, 3]), [False, False], True,
    ]  # fmt: skip
    for got, each in zip(results, expected):
        np.testing.assert_allclose(np.asarray(got), np.asarray(each), rtol=1e-6)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS[-2:], np.dtype(bool)], ids=str)
def test_numbers_that_a_type_may_not_hold(dtype):
    values = np.sort(np.array([0, 1, 5, 100], dtype))
    x = zs.asarray(values)
    for number in (0, True, 5, -1, 300, 1 << 40, -(1 << 40), 0.5, 5.0, np.inf, np.nan):
        assert zs.isin(x, number).tolist() == np.isin(values, number).tolist(), number
        for side in ("left", "right"):
            assert int(zs.searchsorted(x, number, side=side)) == np.searchsorted(values, number, side), (number, side)


def test_sets(reads):
    x = zs.asarray(X)
    every = zs.unique_all(x)
    found = zs.nonzero(x > 0)
    chosen, rows = x[x > 2], x[zs.any(x > 8, axis=1)]
    assert sum(reads) <= 16
    values, indices, inverse, counts = np.unique(X, True, True, True, equal_nan=False)
    same(every.values, values)
    for got, each in zip((every.indices, every.inverse_indices, every.counts, *found), (indices, inverse, counts, *np.nonzero(X > 0))):
        assert got.tolist() == each.tolist()
    same(chosen, X[X > 2])
    same(rows, X[np.any(X > 8, axis=1)])
    # Every NaN differs from every other, unless NumPy is asked.
    some = np.float32([np.nan, 1, np.nan, 0, np.nan])
    every = zs.unique_all(zs.asarray(some))
    for got, each in zip(every, np.unique(some, True, True, True, equal_nan=False)):
        np.testing.assert_array_equal(np.asarray(got), each)
    for values in (some, some[:0], np.int8([[3, -1], [3, 3]])):
        assert np.array_equal(np.asarray(np.unique(zs.asarray(values))), np.unique(values), equal_nan=True)
        for which in (["return_index"], ["return_counts"], ["return_inverse", "return_counts"]):
            options = dict.fromkeys(which, True)
            for got, each in zip(np.unique(zs.asarray(values), **options), np.unique(values, **options)):
                np.testing.assert_array_equal(np.asarray(got), each)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices(axis):
    few = np.random.default_rng(3).integers(0, 2, (4, 30, 2))
    holed = np.where(few[:, :9] > 0, np.float32(np.nan), few[:, :9].astype(np.float32))
    for values in (few.astype(np.int8), few.astype(np.float32), holed, few[:, :0].astype(bool)):
        expected = np.unique(values, True, True, True, axis=axis)
        for got, each in zip(np.unique(zs.asarray(values), True, True, True, axis=axis), expected):
            np.testing.assert_array_equal(np.asarray(got), each)
        same(np.unique(zs.asarray(values), axis=axis), expected[0])


def test_segments():
    x, keys = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]), np.int32([0, 2, 2, 9])
    for assume_sorted in (False, True):
        found = [
            of(zs.asarray(x), keys, 4, assume_sorted=assume_sorted).tolist()
            for of in (zs.segment_sum, zs.segment_prod, zs.segment_min, zs.segment_max)
        ]
        assert found[0] == [[1, 2], [0, 0], [8, 10], [0, 0]] and found[1] == [[1, 2], [1, 1], [15, 24], [1, 1]]
        assert found[2][2] == [3, 4] and found[3][2] == [5, 6] and found[3][1] == [-np.inf] * 2
        mean = np.asarray(zs.segment_mean(x, zs.asarray(keys), 4, assume_sorted=assume_sorted))
        np.testing.assert_array_equal(mean, np.float32([[1, 2], [np.nan] * 2, [4, 5], [np.nan] * 2]))
        sums = zs.segment_cumsum(x, zs.asarray(keys), 4, assume_sorted=assume_sorted)
        assert sums.tolist() == [[1, 2], [3, 4], [8, 10], [0, 0]]
        products = zs.segment_cumprod(x, zs.asarray(keys), 4, assume_sorted=assume_sorted)
        assert products.tolist() == [[1, 2], [3, 4], [15, 24], [1, 1]]
    with pytest.raises(ValueError, match="keys have the shape of the leading axes"):
        zs.segment_sum(x, zs.asarray(keys[:3]), 4)


def test_values_alone_take_no_places(monkeypatch):
    def argsort(*_):
        raise AssertionError("places are computed")

    monkeypatch.setattr(zs._core, "argsort", argsort)
    assert zs.unique_values(zs.asarray(X[1])).tolist() == np.unique(X[1]).tolist()
    assert zs.unique_counts(zs.asarray(X[1])).counts.tolist() == np.unique_counts(X[1]).counts.tolist()


def test_one_sort_serves_all_quantiles(monkeypatch):
    sorts, sort = [], zs._core.sort

    def counted(x, *arguments):
        sorts.append(x.shape)
        return sort(x, *arguments)

    monkeypatch.setattr(zs._core, "sort", counted)
    found = np.quantile(zs.asarray(X[1:]), [0.1, 0.5, 0.9], axis=1), np.nanpercentile(zs.asarray(X), [10, 50])
    assert sorts == [(6, 40), (280,)]
    for got, each in zip(found, (np.quantile(X[1:], [0.1, 0.5, 0.9], axis=1), np.nanpercentile(X, [10, 50]))):
        np.testing.assert_allclose(np.asarray(got), each, rtol=1e-6)


def test_places_of_quantiles():
    x = np.arange(101, dtype=np.float32)
    for function in (np.percentile, np.nanpercentile):
        found = function(zs.asarray(x), range(101), method="lower").tolist()
        # In float64, NumPy's places of 29, 57 and 58 lie below those elements.
        assert found in (x.tolist(), function(x, range(101), method="lower").tolist())


def test_indices_of_all_axes():
    for dtype in (np.int32, np.uint8):
        i = np.array([0, 5, 200], dtype)
        for order in "CF":
            same_values(np.unravel_index(zs.asarray(i), (20, 30), order), np.unravel_index(i, (20, 30), order))
            found = np.ravel_multi_index((zs.asarray(i), zs.asarray(i[::-1])), (201, 300), order=order)
            same_values([found], [np.ravel_multi_index((i, i[::-1]), (201, 300), order=order)])
        modes = {"mode": ("wrap", "clip")}
        same_values([np.ravel_multi_index((zs.asarray(i),) * 2, (7, 9), **modes)], [np.ravel_multi_index((i, i), (7, 9), **modes)])
    x = zs.asarray(np.int32([40000]))
    assert np.ravel_multi_index((x, x), (200000, 200000)).tolist() == [8000040000]
    for call, text in (
        (lambda: np.unravel_index(x, (2, 3)), "index 40000 of unravel_index: it is from 0 to below 6"),
        (lambda: np.unravel_index(-x, (2, 3)), "index -40000 of unravel_index"), (lambda: np.unravel_index(x, (2, 3), "A"), "it is 'C' or 'F'"),
        (lambda: np.ravel_multi_index((x, x), (50000, 7)), "index 40000 of ravel_multi_index: it is from 0 to below 7"),
        (lambda: np.ravel_multi_index((x, x), (7,)), "2 indices and 1 modes for 1 lengths"),
        (lambda: np.ravel_multi_index((x, x), (2**40, 2**40)), "cannot count its elements"),
        (lambda: np.ravel_multi_index((x, x), (50000, 7), mode="near"), "for the mode of ravel_multi_index"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            call()


def same_values(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(np.asarray(one), other)


def test_counts(reads):
    x = zs.asarray(X[1:])
    keys = zs.asarray(np.int32([3, 1, 3, 0]))
    results = [np.histogram(x, bins=7, range=(-4, 5)), np.histogram(x, bins=[-2, 0, 0.5, 7])]
    assert not reads
    results += [np.histogram(x), np.histogram(x, density=True)]
    plain = [np.bincount(keys, minlength=6), np.bincount(keys, weights=zs.asarray(np.float32([1, 2, 3, 4])))]
    assert sum(reads) <= 64
    options = [{"bins": 7, "range": (-4, 5)}, {"bins": [-2, 0, 0.5, 7]}, {}, {"density": True}]
    for (counts, edges), each in zip(results, options):
        expected, all_edges = np.histogram(X[1:], **each)
        np.testing.assert_allclose(np.asarray(counts), expected, rtol=1e-6)
        np.testing.assert_allclose(np.asarray(edges), all_edges, rtol=1e-6)
    assert [each.tolist() for each in plain] == [[1, 1, 0, 2, 0, 0], [4, 2, 0, 4]]
    # Integers, and edges that the type does not hold.
    whole = np.random.default_rng(6).integers(-50, 50, 1000).astype(np.int16)
    assert np.histogram(zs.asarray(whole), bins=13)[0].tolist() == np.histogram(whole, bins=13)[0].tolist()
    assert np.histogram(zs.asarray(np.arange(6, dtype=np.int32)), bins=4)[1].tolist() == [0, 1.25, 2.5, 3.75, 5]
    near = np.float32([0.1, 0.3, 0.7, 0.1])
    assert np.histogram(zs.asarray(near), [0.1, 0.3, 0.7])[0].tolist() == np.histogram(near, [0.1, 0.3, 0.7])[0].tolist()
    with pytest.raises(ValueError, match="0 or more"):
        np.bincount(zs.asarray(np.int32([-1])))


@pytest.mark.parametrize(
    "key, value",
    [
        (X > 3, 1.5), (X > 3, np.arange((X > 3).sum(), dtype=np.float32)), (np.any(X > 8, axis=1), np.zeros(40, np.float32)),
        ([1, 1, 2], 5), ([1, 1, -2], np.float32([[1], [2], [3]])), (([0, 2], [3, 4]), [7.0, 8.0]),
        ((slice(None, None, 2), [5, 6]), -1), ((slice(1, 3), X[0] > 0), 4), ((..., [1, 2], None), np.float32([[1], [2]])),
        ([], 3), (np.zeros(7, bool), 2),
    ],
)  # fmt: skip
def test_writes(key, value, reads):
    x, expected = zs.asarray(X), X.copy()
    expected[key] = value

    def ours(part):
        return zs.asarray(part) if isinstance(part, np.ndarray) else part

    x[tuple(map(ours, key)) if isinstance(key, tuple) else ours(key)] = ours(value)
    assert sum(reads) <= 16
    same(x, expected)
    x = zs.asarray(X)
    x[key] = value
    same(x, expected)


def test_along_an_axis(reads):
    x, expected = zs.asarray(X), X.copy()
    order = np.argsort(X, axis=1)[:, :3].astype(np.int32)
    np.put_along_axis(expected, order, 7, axis=1)
    np.put_along_axis(x, zs.asarray(order), 7, axis=1)
    found = [np.take_along_axis(zs.asarray(X), zs.argsort(zs.asarray(X), axis=axis), axis) for axis in (0, 1)]
    # The least and the greatest of the indices, which NumPy's functions hold against the axis.
    assert sum(reads) <= 48
    same(x, expected)
    for axis, each in enumerate(found):
        same(each, np.sort(X, axis))
    assert np.compress(zs.asarray([True, False, True]), zs.asarray(X), axis=0).shape == (2, 40)
    assert np.argwhere(zs.asarray(X) > 8).tolist() == np.argwhere(X > 8).tolist()
    with pytest.raises(IndexError):
        np.put_along_axis(x, zs.asarray(order + 40), 7, axis=1)
