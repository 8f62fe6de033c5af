"""Libraries of the array API standard compute with our arrays. They take a namespace from the arrays alone."""

import numpy as np
import pytest

import zerostride as zs

X = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)


def near(ours, theirs, rtol=1e-4):
    assert isinstance(ours, zs.Array), type(ours)
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=rtol, atol=1e-5)


def test_array_api_compat_takes_it_for_nothing_else():
    compat = pytest.importorskip("array_api_compat")
    x = zs.asarray(X)
    assert compat.is_array_api_obj(x) and compat.array_namespace(x, x + 1) is zs
    for name in ("numpy", "cupy", "torch", "dask", "jax", "ndonnx", "pydata_sparse"):
        assert not getattr(compat, f"is_{name}_array")(x)
        assert not getattr(compat, f"is_{name}_namespace")(zs)
    assert compat.device(x) == x.device and compat.size(x) == x.size
    near(compat.to_device(x, x.device), X)


def test_scipy_computes_statistics():
    stats = pytest.importorskip("scipy.stats")
    x = zs.asarray(X)
    near(stats.zscore(x, axis=0), stats.zscore(X, axis=0))
    near(stats.skew(x, axis=0), stats.skew(X, axis=0), 1e-3)
    near(stats.gmean(zs.abs(x), axis=0), stats.gmean(np.abs(X), axis=0))


def test_scipy_computes_special_functions():
    special = pytest.importorskip("scipy.special")
    x = zs.asarray(X)
    near(special.logsumexp(x, axis=1), special.logsumexp(X, axis=1))
    near(special.softmax(x, axis=1), special.softmax(X, axis=1))


def test_scikit_learn_scales_and_measures():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.metrics import mean_squared_error
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    x = zs.asarray(X)
    with sklearn.config_context(array_api_dispatch=True):
        near(StandardScaler().fit_transform(x), StandardScaler().fit_transform(X))
        near(MinMaxScaler().fit(x).transform(x), MinMaxScaler().fit(X).transform(X))
        ours = mean_squared_error(x[:, 0], x[:, 1])
    assert float(ours) == pytest.approx(float(mean_squared_error(X[:, 0], X[:, 1])), rel=1e-4)
