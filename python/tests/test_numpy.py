"""NumPy's functions on our arrays stay on the device."""

import numpy as np
import pytest
from conftest import same

import zerostride as zs

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def x():
    return zs.asarray(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.exp(a) + np.sqrt(a), lambda a: np.add(a, 1), lambda a: np.multiply(2.0, a),
        lambda a: np.maximum(a, X[::-1]), lambda a: X + a, lambda a: np.float32(2) * a, lambda a: np.power(a, 2),
        lambda a: np.arctan2(a, a), lambda a: np.true_divide(a, 3), lambda a: np.add.reduce(a, axis=1),
        lambda a: np.maximum.reduce(a, axis=0, keepdims=True), lambda a: np.add.accumulate(a, axis=1),
        lambda a: np.sum(a, axis=0), lambda a: np.mean(a, axis=1, keepdims=True), lambda a: np.std(a, ddof=1),
        lambda a: np.var(a, axis=0), lambda a: np.max(a), lambda a: np.min(a, axis=1), lambda a: a.sum(axis=0),
        lambda a: a.mean(), lambda a: np.cumsum(a, axis=1), lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.stack([a, X]), lambda a: np.vstack([a, a[0]]), lambda a: np.hstack([a, a]),
        lambda a: np.transpose(a), lambda a: a.T, lambda a: a.transpose(1, 0), lambda a: np.reshape(a, (3, 2)),
        lambda a: a.reshape(3, 2), lambda a: np.where(a > 2, a, -a), lambda a: np.clip(a, 2, 4),
        lambda a: np.take(a, [1, 0], axis=1), lambda a: np.tensordot(a, a.T, axes=1), lambda a: np.dot(a, a.T),
        lambda a: a @ X.T, lambda a: X.T @ a, lambda a: np.matmul(a, a.T), lambda a: np.zeros_like(a),
        lambda a: np.ones_like(a, shape=(4,)), lambda a: np.full_like(a, 7), lambda a: np.expand_dims(a, 1),
        lambda a: np.broadcast_to(a, (2, 2, 3)), lambda a: np.flip(a, 1), lambda a: np.roll(a, 1),
        lambda a: np.repeat(a, 2, axis=0), lambda a: np.tile(a, 2), lambda a: np.diff(a), lambda a: np.sort(-a, axis=1),
        lambda a: np.nansum(a), lambda a: np.isfinite(a), lambda a: np.signbit(-a), lambda a: np.tril(a),
        lambda a: np.round(a / 3, 2), lambda a: a.astype("int32"), lambda a: a.ravel(), lambda a: np.linalg.norm(a),
        lambda a: np.swapaxes(a, 0, 1), lambda a: np.isclose(a, X), lambda a: np.squeeze(a[:1]),
        lambda a: np.deg2rad(a), lambda a: np.fmod(a, 2), lambda a: np.logaddexp(a, a), lambda a: np.moveaxis(a, 0, 1),
    ],
)  # fmt: skip
def test_as_numpy(x, call):
    ours, theirs = call(x), np.asarray(call(X))
    assert isinstance(ours, zs.Array)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-6)


def test_windows():
    random = np.random.default_rng(46)
    view = np.lib.stride_tricks.sliding_window_view
    for _ in range(40):
        shape = tuple(random.integers(3, 8, size=random.integers(1, 5)))
        theirs = random.integers(-100, 100, size=shape).astype(np.int32)
        ours = zs.asarray(theirs)
        turned = tuple(slice(None, None, step) for step in random.choice([-2, -1, 1], size=len(shape)))
        theirs, ours = theirs[turned], ours[turned]
        axes = tuple(int(axis) for axis in random.integers(-len(shape), len(shape), size=random.integers(1, 4)))
        lengths = tuple(int(length) for length in random.integers(0, 4, size=len(axes)))
        try:
            expected = view(theirs, lengths, axes)
        except ValueError:
            with pytest.raises(ValueError, match="a window of"):
                np.asarray(view(ours, lengths, axes))
            continue
        got = view(ours, lengths, axes)
        assert isinstance(got, zs.Array)
        same(got, expected)
        same(zs.sliding_window_view(ours, lengths, axes) * 2, expected * 2)
        last = tuple(range(-len(axes), 0))
        same(zs.sum(got, axis=last, dtype=zs.int32), expected.sum(axis=last, dtype=np.int32))
    x = zs.asarray(X)
    same(view(x, (2, 2)), view(X, (2, 2)))
    same(view(x, 2, axis=1)[:, ::2], view(X, 2, axis=1)[:, ::2])
    computed = zs.max(zs.sliding_window_view(zs.exp(x), 2, 0), axis=-1)
    np.testing.assert_allclose(np.asarray(computed), view(np.exp(X), 2, 0).max(axis=-1), rtol=1e-6)
    for call in (lambda: view(x, (2, 2), 0), lambda: view(x, 2)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(np.exceptions.AxisError):
        view(x, 2, 2)


def test_convolutions_beside_scipy():
    ndimage = pytest.importorskip("scipy.ndimage")
    random = np.random.default_rng(5)
    image = random.random((60, 83), np.float32)
    for shape in ((3, 3), (5, 5), (1, 4), (7, 2)):
        kernel = random.random(shape, np.float32) - np.float32(0.5)
        windows = np.lib.stride_tricks.sliding_window_view(zs.asarray(image), shape)
        own = np.asarray(zs.sum(windows * zs.asarray(kernel), axis=(-2, -1)))
        # In f64, where every window is inside.
        theirs = ndimage.correlate(image.astype(np.float64), kernel.astype(np.float64), mode="constant")
        y, x = (length // 2 for length in shape)
        np.testing.assert_allclose(own, theirs[y : y + own.shape[0], x : x + own.shape[1]], atol=1e-6)


def test_what_goes_out(x):
    out = np.empty((2, 3), np.float32)
    assert np.add(x, 1, out=out) is out
    np.testing.assert_array_equal(out, X + 1)
    y = zs.zeros((2, 3), dtype=zs.float32)
    assert np.multiply(X, 2, out=y) is y
    same(y, X * 2)
    # Also where the device lacks the type that NumPy finds.
    same(np.divide(X.astype(np.float64), 4, out=y), X / 4)
    same(np.signbit(zs.asarray([-1, 2], dtype=zs.int32), dtype=bool), [True, False])
    np.sum(x, axis=0, out=(z := zs.zeros((3,), dtype=zs.float32)))
    same(z, X.sum(axis=0))
    assert np.add(x, 1, out=np.zeros((2, 2, 3))).tolist() == [(X + 1).tolist()] * 2
    whole = zs.zeros((2, 3), dtype=zs.int32)
    for call in (
        lambda: np.add(x, 0.5, out=whole), lambda: x.mean(axis=0, out=whole[0]),
        lambda: np.cumsum(x, axis=0, out=whole), lambda: np.exp(x, out=np.zeros((2, 3), int)),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="does not go into an array of int"):
            call()
    same(whole, np.zeros((2, 3), np.int32))
    with pytest.raises(ValueError, match="does not go into an array of"):
        x.sum(out=np.zeros(2, np.float32))


def test_folds_of_all_axes(x):
    for ufunc in (np.add, np.multiply, np.maximum, np.logical_and):
        for options in ({}, {"axis": None}, {"axis": (0, 1)}, {"axis": None, "keepdims": True}):
            ours, theirs = ufunc.reduce(x, **options), ufunc.reduce(X, **options)
            assert ours.shape == theirs.shape and np.array_equal(ours, theirs)


WHOLE = np.int8([15, 25, -15, 127, -128, 4, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.round(a, 2), lambda a: np.round(a, -1), lambda a: np.round(a, -2), lambda a: np.round(a, -12),
        lambda a: np.fmin(a, 3), lambda a: np.fmax(a, a), lambda a: np.isclose(a, a), lambda a: np.isclose(a, a[::-1]),
        lambda a: np.isclose(a > 0, a > 5), lambda a: np.isclose(a.astype("uint8"), np.uint8([1]), atol=2),
        lambda a: np.isclose(a.astype("int32") * 2**23, a[::-1].astype("int32") * 2**23),
        lambda a: np.isclose(a, 4.0, rtol=0, atol=300), lambda a: np.isclose(a, a[::-1], rtol=0, atol=300),
        lambda a: np.repeat(a, [0, 1, 2, 0, 0, 1, 3]), lambda a: a.repeat(2), lambda a: a.argsort().astype("int8"),
        lambda a: a.cumsum(dtype="int32"), lambda a: a.cumprod(dtype="int32"),
        lambda a: np.take(a, [-9, 1, 9], mode="clip"), lambda a: np.take(a, [-9, 1, 9], mode="wrap"),
        lambda a: a.take([[8, -8]], mode="wrap"), lambda a: np.take(a.reshape(1, -1), [-20, 20], 1, mode="clip"),
    ],
)  # fmt: skip
def test_integers_as_numpy(call):
    same(call(zs.asarray(WHOLE)), call(WHOLE))


def test_floats_of_integers():
    a = zs.asarray(np.int16([-3, 5]))
    real = zs.__array_namespace_info__().default_dtypes()["real floating"]
    for result, expected in [
        (np.float_power(a, -1), [-1 / 3, 0.2]), (np.float_power(2, a), [0.125, 32]), (np.fabs(a), [3, 5]),
        (np.rint(a), [-3, 5]),
    ]:  # fmt: skip
        assert result.dtype == real
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)
    for call in (np.mean, np.std, np.nanmean):
        with pytest.raises(TypeError, match="is a float, not int64"):
            call(a, dtype="int64")
    assert np.mean(a, dtype="float32").dtype == zs.float32


def test_means_without_nan():
    large = np.full(5000, 60000, np.float16)
    large[::2] = np.nan
    same(np.nanmean(zs.asarray(large)), np.float16(60000))
    few = np.float32([[1, np.nan, 3], [np.nan, 4, 5]])
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"dtype": "float32"}):
        ours, theirs = np.nanmean(zs.asarray(few), **options), np.asarray(np.nanmean(few, **options))
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6)


def test_indices_outside():
    a = zs.asarray(np.arange(300, dtype=np.int32))
    for dtype in (np.int8, np.uint8, np.int32):
        indices = np.array([100, 127, -5], np.int64).astype(dtype)
        for mode in ("clip", "wrap"):
            same(np.take(a, zs.asarray(indices), mode=mode), np.take(np.asarray(a), indices, mode=mode))
    for outside in ([300], np.array([-301]), zs.asarray(np.int32([5, 300])), zs.asarray(np.int32([[5], [-300]])) - 1):
        for call in (lambda: np.take(a, outside), lambda: a.take(outside, mode="raise")):
            with pytest.raises(IndexError, match="index -?30[01] is outside of axis 0, which has length 300"):
                call()
    with pytest.raises(IndexError, match="index 3 is outside of axis 1, which has length 3"):
        np.take_along_axis(zs.asarray(X), zs.asarray(np.int32([[0], [3]])), axis=1)
    same(np.take(a, zs.asarray(np.int32([-300, 299]))), np.int32([0, 299]))
    with pytest.raises(ValueError, match="for the mode of take"):
        np.take(a, [0], mode="nearest")
    with pytest.raises(IndexError, match="has no elements"):
        np.take(a[:0], [0], mode="clip")


def test_shared_memory():
    x = zs.asarray(X, device="cpu")
    view = np.asarray(x)
    for shares in (np.may_share_memory, np.shares_memory):
        assert shares(view, x) and shares(x, view[1:]) and shares(x[1], view[1])
        for other in (np.array(x), np.asarray(x + 0), X, view[:1]):
            assert not shares(other, x[1:])
        # No write to one is seen in the other.
        assert not shares(x, x.copy())
        assert not shares(view, x + 0)
    there = zs.asarray(X)
    assert np.shares_memory(np.asarray(there), there) == (there.device.name == "cpu")
    assert sorted(np.random.default_rng(0).permutation(there).tolist()) == X.tolist()


def test_sides(x):
    for sides in ({"prepend": 0}, {"append": np.float32([[9], [9]])}, {"prepend": x[:, :1], "append": 1.5}):
        same(np.diff(x, **sides), np.diff(X, **{name: np.asarray(side, np.float32) for name, side in sides.items()}))
    bounds = np.float32([1, 3, 2])
    same(np.clip(x, bounds, 5), np.clip(X, bounds, 5))
    same(np.clip(x, None, bounds), np.clip(X, None, bounds))
    for ours, theirs in zip(np.divmod(x, 2), np.divmod(X, 2)):
        same(ours, theirs)


def test_others_decide_themselves(x):
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "other's"

    assert x + Other() == "other's"
    for call, text in (
        (lambda: np.linalg.eig(x), "numpy.linalg.eig is not there for arrays of zerostride: pass numpy.asarray"),
        (lambda: np.spacing(x), "numpy.spacing is not there for arrays of zerostride: pass numpy.asarray"),
        (lambda: np.apply_along_axis(sum, 0, x), "numpy.apply_along_axis is not there .* with axis="),
        (lambda: np.arctan2.at(x, [0], 1), "numpy.arctan2.at is not there"),
        (lambda: np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True), "sliding_window_view of zerostride takes no writeable"),
        (lambda: np.exp(x, where=x > 0), "where= beside out="),
        (lambda: np.mean(x, dtype=np.int32), "mean of zerostride is a float, not int32"),
        (lambda: zs.pad(x, 1, mode=lambda *a: None), "the modes here are"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()


def test_no_neutral_element(x):
    with pytest.raises(ValueError, match="give initial= too"):
        np.max(x, where=x > 0)


def test_folds_of_parts():
    random = np.random.default_rng(8)
    for _ in range(12):
        theirs = random.integers(-9, 10, size=(3, random.integers(1, 30), 2)).astype(np.float32)
        ours, begins = zs.asarray(theirs), random.integers(0, theirs.shape[1], size=random.integers(1, 7))
        begins = np.sort(begins) if random.random() < 0.5 else begins
        for ufunc in (np.add, np.maximum, np.minimum):
            same(ufunc.reduceat(ours, begins, axis=1), ufunc.reduceat(theirs, begins, axis=1))
        index = random.integers(-3, 3, size=8)
        for ufunc, values in ((np.add, theirs[0, :1]), (np.maximum, np.float32(2)), (np.multiply, theirs[1, :1])):
            own = zs.asarray(theirs)
            ufunc.at(own, index, values)
            ufunc.at(expected := theirs.copy(), index, values)
            same(own, expected)
        # Into an array of NumPy.
        np.maximum.at(own := np.zeros(3, np.float32), index, zs.asarray(theirs[0, 0, :1]))
        np.maximum.at(expected := np.zeros(3, np.float32), index, theirs[0, 0, :1])
        np.testing.assert_array_equal(own, expected)
    with pytest.raises(IndexError, match="an index of reduceat is outside of axis 0"):
        np.add.reduceat(zs.ones((3,), dtype=zs.float32), [0, 3])


def test_where_beside_out(x):
    out = zs.zeros((2, 3), dtype=zs.float32)
    assert np.exp(x, where=x > 2, out=out) is out
    np.testing.assert_allclose(np.asarray(out), np.where(X > 2, np.exp(X), 0), rtol=1e-6)
    np.floor(x / 2, out=(whole := zs.zeros((2, 3), dtype=zs.int32)), casting="unsafe")
    same(whole, np.floor(X / 2).astype(np.int32))


def test_complex_types_are_there_for_those_who_ask():
    assert zs.complex64 == np.complex64 and zs.isdtype(zs.complex128, "complex floating")
    assert zs.isdtype(zs.complex64, "numeric") and not zs.isdtype(zs.complex64, ("real floating", "integral", "bool"))
    assert zs.result_type(zs.complex64, zs.float64) == zs.complex128 and zs.result_type(zs.complex64, zs.int8) == zs.complex64
    assert zs.finfo(zs.complex128).bits == 64 and zs.finfo(zs.complex64).dtype == zs.float32
    known = zs.__array_namespace_info__()
    assert known.dtypes(kind="complex floating") == {} and "complex64" not in known.dtypes()
    with pytest.raises(TypeError, match="complex64 is no element type here"):
        zs.zeros((2,), dtype=zs.complex64)


def test_random_arrays():
    ours, theirs = zs.random.default_rng(5), np.random.default_rng(5)
    np.testing.assert_allclose(np.asarray(ours.random((2, 3))), theirs.random((2, 3)), rtol=1e-6)
    same(ours.integers(0, 9, 4, dtype=np.int32), theirs.integers(0, 9, 4, dtype=np.int32))
    assert isinstance(ours.normal(), float)
    assert isinstance(zs.random.RandomState(1).standard_normal(3), zs.Array)


def test_like():
    assert isinstance(np.zeros(3, like=zs.zeros((1,), dtype=zs.float32)), zs.Array)
    assert isinstance(np.asarray([1], like=zs.zeros((1,), dtype=zs.float32)), zs.Array)
    assert np.allclose(zs.ones((2,), dtype=zs.float32), np.ones(2, np.float32))
    assert np.array_equal(zs.ones((2,), dtype=zs.float32), np.ones(2, np.float32))
    assert np.shape(zs.ones((2,), dtype=zs.float32)) == (2,)


@pytest.mark.skipif(not zs.Device().supports("float64"), reason="NumPy's results are of float64")
@pytest.mark.parametrize("call", [
    lambda x: np.correlate(x([1.0, 2]), x([1.0, 5, 2]), "same"), lambda x: np.digitize(x([7, 2]), x([7, 3, 1])),
    lambda x: np.take(x(3), x([0]), axis=0), lambda x: np.cumsum(x(3), axis=-1), lambda x: np.argsort(x(3)), lambda x: np.argwhere(x(3)),
    lambda x: np.compress([True, False, False], x([5, 6])), lambda x: np.clip(x([1, 200], "u1"), 0, 1.5), lambda x: np.ix_(x([False, True]))[0],
    lambda x: np.quantile(x([3, 1, 2], "i2"), 0.3, method="lower"), lambda x: np.meshgrid(x([]), x([1, 2]), sparse=True)[1],
    lambda x: np.histogram(x([1, 2, 2]), 2, weights=x([1, 2, 3], "u2"))[0], lambda x: np.setdiff1d(x([np.nan, np.nan, 1.0]), x([1.0])),
    lambda x: np.sum(x([], "?"), initial=-1), lambda x: np.insert(x([1, 2]), [0], x([7, 8, 9])), lambda x: np.polyval(x([[1.0, 2]]), x([3.0, 4])),
    lambda x: np.linalg.norm(x(np.zeros((0, 3))), 1), lambda x: np.median(x(np.zeros((0, 2))), axis=0), lambda x: np.roll(x([1, 2, 3]), (1, 1)),
    lambda x: np.full((2, 2), x([1, 2]), like=x(0)), lambda x: np.nanmedian(x([-1.0, 0, np.inf])), lambda x: np.lexsort((x(1), x(2))),
    lambda x: np.union1d(x([2], "u1"), 1), lambda x: np.select([x([True])], [x([2], "u1")], 7), lambda x: [1.5, 2] * x([2, 4]),
    lambda x: np.isin(x([1, 2]), x([[1, 5], [6, 7]]).T[::-1]),
    lambda x: x([1, 2]) @ [3, 4], lambda x: np.pad(x([True]), 2, mode="linear_ramp"), lambda x: np.histogram(x([255], "u1"))[0],
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_calls_that_differed(call):
    same(zs.asarray(call(lambda *values: zs.asarray(np.array(*values)))), call(np.array))


def test_diagonals_are_filled():
    for shape, value, wrap in [((5, 2), 7, True), ((5, 2), 7, False), ((3, 3, 3), 7, False), ((3, 3), [1, 2], False)]:
        theirs = np.zeros(shape, np.float32)
        ours = zs.asarray(theirs)
        for x in (ours, theirs):
            np.fill_diagonal(x, value, wrap)
        same(ours, theirs)


def test_written_numbers_of_lists_fit():
    x = zs.zeros((2,), dtype=zs.uint8)
    for write in (lambda: x.__setitem__(slice(None), [300, 1]), lambda: np.put_along_axis(x, [0, 1], [-1, 1], 0)):
        with pytest.raises(OverflowError):
            write()
    x[:] = [200, 1]
    assert x.tolist() == [200, 1]
