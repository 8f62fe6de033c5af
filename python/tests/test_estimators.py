"""scikit-learn's estimators and flox's groups over our arrays. Neither names this package."""

import os

import numpy as np
import pytest

import zerostride as zs

os.environ.setdefault("SCIPY_ARRAY_API", "1")
pytestmark = pytest.mark.filterwarnings("ignore")

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 5)).astype(np.float32)
KIND = (X[:, 0] + 0.3 * RANDOM.standard_normal(60) > 0).astype(np.int32)
SLOPE = (X @ np.arange(5)).astype(np.float32)


def estimators():
    sklearn = pytest.importorskip("sklearn")
    from sklearn import decomposition, kernel_approximation, linear_model, mixture, naive_bayes, preprocessing
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    assert sklearn
    return {
        "StandardScaler": (preprocessing.StandardScaler(), None), "MinMaxScaler": (preprocessing.MinMaxScaler(), None),
        "PCA full": (decomposition.PCA(3, svd_solver="full"), None),
        "PCA covariance": (decomposition.PCA(3, svd_solver="covariance_eigh"), None),
        "PCA randomized": (
            decomposition.PCA(3, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0), None
        ),
        "Ridge": (linear_model.Ridge(solver="svd"), SLOPE), "RidgeCV": (linear_model.RidgeCV(), SLOPE),
        "RidgeClassifier": (linear_model.RidgeClassifier(solver="svd"), KIND), "LDA": (LinearDiscriminantAnalysis(), KIND),
        "GaussianMixture": (mixture.GaussianMixture(2, init_params="random", random_state=0), None),
        "Nystroem": (kernel_approximation.Nystroem(n_components=10, random_state=0), None),
        "GaussianNB": (naive_bayes.GaussianNB(), KIND),
    }  # fmt: skip


NAMES = """
StandardScaler;MinMaxScaler;PCA full;PCA covariance;PCA randomized;Ridge;RidgeCV;RidgeClassifier;LDA;GaussianMixture;Nystroem;GaussianNB
""".strip().split(";")


@pytest.mark.parametrize("name", NAMES)
def test_estimators(name):
    sklearn = pytest.importorskip("sklearn")
    known = estimators()
    assert list(known) == NAMES
    model, y = known[name]
    given = () if y is None else (y,)
    theirs = sklearn.clone(model).fit(X, *given)
    with sklearn.config_context(array_api_dispatch=True):
        ours = sklearn.clone(model).fit(*map(zs.asarray, (X, *given)))
        method = "transform" if hasattr(ours, "transform") else "predict"
        found = getattr(ours, method)(zs.asarray(X))
    assert isinstance(found, zs.Array)
    # Singular vectors have either sign.
    np.testing.assert_allclose(np.abs(np.asarray(found)), np.abs(getattr(theirs, method)(X)), rtol=1e-2, atol=1e-2)


def test_scores_of_ranks():
    sklearn = pytest.importorskip("sklearn")
    from sklearn import metrics

    likely = np.random.default_rng(2).random(60).astype(np.float32)
    with sklearn.config_context(array_api_dispatch=True):
        for score in (metrics.roc_auc_score, metrics.average_precision_score, metrics.brier_score_loss, metrics.log_loss):
            ours = score(zs.asarray(KIND), zs.asarray(likely))
            np.testing.assert_allclose(float(ours), score(KIND, likely), rtol=1e-4)


FOLDS = "sum nansum mean nanmean max nanmax min nanmin count var nanvar std nanstd prod nanprod first last".split()


@pytest.mark.parametrize("engine", ["flox", "numpy"])
@pytest.mark.parametrize("name", [*FOLDS, "argmax", "nanmedian"])
def test_groups_of_flox(name, engine):
    """flox writes the result of each group into an array of NumPy. The reductions are ours."""
    flox = pytest.importorskip("flox")
    if engine == "flox" and name not in FOLDS:
        pytest.skip("flox has no such engine for it, or one by complex numbers")
    values = np.random.default_rng(0).standard_normal((3, 20)).astype(np.float32)
    values[0, 3] = 0.5 if name == "argmax" else np.nan
    group = np.random.default_rng(1).integers(0, 4, 20)
    theirs, _ = flox.groupby_reduce(values, group, func=name, engine=engine)
    ours, _ = flox.groupby_reduce(zs.asarray(values), group, func=name, engine=engine)
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4, atol=1e-5)
