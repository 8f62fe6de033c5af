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


def classes(order):
    """Rows of three classes in some order, and for each its class, another guess at it, and how likely each class is."""
    random = np.random.default_rng(1)
    x = random.standard_normal((80, 3)).astype(np.float32)
    y = np.argmax(x @ random.standard_normal((3, 3)) + random.standard_normal((80, 3)), axis=1)
    guess = np.where(random.random(80) < 0.3, (y + 1) % 3, y)
    likely = random.random((80, 3)).astype(np.float32)
    likely /= likely.sum(axis=1, keepdims=True)
    rows = np.random.default_rng(order).permutation(80)
    return x[rows], y[rows], guess[rows], likely[rows]


@pytest.mark.parametrize("order", range(6))
def test_scikit_learn_classifies_whatever_the_order_of_rows_is(order):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import LabelEncoder

    X, Y, _, _ = classes(order)
    x, y = zs.asarray(X), zs.asarray(Y)
    theirs = LogisticRegression(C=100).fit(X, Y)
    with sklearn.config_context(array_api_dispatch=True):
        ours = LogisticRegression(C=100).fit(x, y)
        assert ours.classes_.tolist() == [0, 1, 2]
        near(ours.coef_, theirs.coef_, 1e-3)
        assert ours.score(x, y) == theirs.score(X, Y) > 0.6
        labels = LabelEncoder().fit(y)
        assert labels.transform(y).tolist() == Y.tolist()
        assert labels.inverse_transform(labels.transform(y)).tolist() == Y.tolist()


@pytest.mark.parametrize("order", range(6))
def test_scikit_learn_scales_and_measures_whatever_the_order_of_rows_is(order):
    sklearn = pytest.importorskip("sklearn")
    from sklearn import metrics, preprocessing

    X, Y, Guess, Likely = classes(order)
    x, y, guess, likely = map(zs.asarray, (X, Y, Guess, Likely))
    with sklearn.config_context(array_api_dispatch=True):
        for scaler in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "Normalizer"):
            near(getattr(preprocessing, scaler)().fit_transform(x), getattr(preprocessing, scaler)().fit_transform(X))
        assert metrics.confusion_matrix(y, guess).tolist() == metrics.confusion_matrix(Y, Guess).tolist()
        for ours, theirs in [
            (metrics.accuracy_score(y, guess), metrics.accuracy_score(Y, Guess)),
            (metrics.f1_score(y, guess, average="macro"), metrics.f1_score(Y, Guess, average="macro")),
            (metrics.r2_score(x[:, 0], x[:, 1]), metrics.r2_score(X[:, 0], X[:, 1])),
            (metrics.mean_squared_error(x[:, 0], x[:, 1]), metrics.mean_squared_error(X[:, 0], X[:, 1])),
            (metrics.log_loss(y, likely), metrics.log_loss(Y, Likely)),
        ]:
            assert float(ours) == pytest.approx(float(theirs), rel=1e-5)


def test_scikit_learn_copies_what_it_writes_to():
    pytest.importorskip("sklearn")
    from sklearn.preprocessing import scale
    from sklearn.utils import check_array

    elements = np.float32([[1, 2], [3, 6], [5, 4]])
    x = zs.asarray(elements)
    np.testing.assert_allclose(scale(x), scale(elements), rtol=1e-6)
    assert check_array(x, copy=True).flags.writeable
    np.testing.assert_array_equal(np.asarray(x), elements)
