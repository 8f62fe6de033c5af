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


def test_what_goes_out(x):
    out = np.empty((2, 3), np.float32)
    assert np.add(x, 1, out=out) is out
    np.testing.assert_array_equal(out, X + 1)
    y = zs.zeros((2, 3), dtype=zs.float32)
    assert np.multiply(X, 2, out=y) is y
    same(y, X * 2)
    np.sum(x, axis=0, out=(z := zs.zeros((3,), dtype=zs.float32)))
    same(z, X.sum(axis=0))


def test_others_decide_themselves(x):
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "other's"

    assert x + Other() == "other's"
    with pytest.raises(TypeError):
        np.linalg.svd(x)
    with pytest.raises(TypeError):
        np.add.at(x, [0], 1)
    with pytest.raises(TypeError):
        np.sum(x, where=x > 0)


def test_like():
    assert isinstance(np.zeros(3, like=zs.zeros((1,), dtype=zs.float32)), zs.Array)
    assert isinstance(np.asarray([1], like=zs.zeros((1,), dtype=zs.float32)), zs.Array)
    assert np.allclose(zs.ones((2,), dtype=zs.float32), np.ones(2))
    assert np.array_equal(zs.ones((2,), dtype=zs.float32), np.ones(2, np.float32))
    assert np.shape(zs.ones((2,), dtype=zs.float32)) == (2,)
