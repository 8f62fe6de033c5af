"""Arrays as chunks of Dask. Without Dask these tests are not run, and scripts/test-python says so."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from conftest import same

import zerostride as zs

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
import zerostride.dask

X = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)


@pytest.fixture
def x():
    return zerostride.dask.from_dask(da.from_array(X, chunks=(16, 10)))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a + 1, lambda a: np.exp(a) * 2 - a, lambda a: a.sum(), lambda a: a.sum(axis=0),
        lambda a: a.mean(axis=1), lambda a: a.std(axis=0), lambda a: a.max(), lambda a: a.min(axis=1),
        lambda a: (a - a.mean(axis=0)) / a.std(axis=0), lambda a: a.T, lambda a: a[5:20, ::3], lambda a: a[:, 4],
        lambda a: a.reshape(-1), lambda a: np.concatenate([a, a[:3]]), lambda a: np.where(a > 0, a, -a),
        lambda a: a.astype(np.float16), lambda a: np.tensordot(a, a.T, axes=1), lambda a: a @ a.T, lambda a: a.cumsum(axis=0),
        lambda a: (a > 0).any(axis=0), lambda a: np.clip(a, -1, 1), lambda a: a.var(), lambda a: np.stack([a, a]),
        lambda a: a[np.array([3, 1, 30])],
    ],
)  # fmt: skip
def test_as_numpy(x, call):
    lazy, theirs = call(x), np.asarray(call(X))
    with dask.config.set(scheduler="synchronous"):
        ours = lazy.compute()
    assert isinstance(ours, zs.Array), type(ours)
    assert isinstance(lazy._meta, zs.Array)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=2e-3 if ours.dtype == np.float16 else 1e-4, atol=1e-4)


def test_with_arrays_of_numpy_and_of_ours(x):
    with dask.config.set(scheduler="threads"):
        for sum_ in (x + zs.asarray(X[0]), zs.asarray(X[0]) + x):
            np.testing.assert_allclose(np.asarray(sum_.compute()), X + X[0], rtol=1e-6)
        kept = da.from_array(zs.asarray(X), chunks=(10, 30), asarray=False)
        same(kept.compute(), X)
        numpy_ = zerostride.dask.to_numpy(x * 2).compute()
        assert type(numpy_) is np.ndarray
        np.testing.assert_array_equal(numpy_, X * 2)


def test_tokens_and_sizes():
    from dask.base import tokenize
    from dask.sizeof import sizeof

    a = zs.asarray(X)
    assert tokenize(a) == tokenize(zs.asarray(X.copy())) != tokenize(a + 1)
    assert sizeof(a) == X.nbytes


@pytest.mark.parametrize(
    ("line", "is_known"),
    [("", False), ("import dask; pickle.loads(chunk)", True), ("import dask.array as da; da.from_array(x)", True),
     ("from dask.sizeof import sizeof; sizeof(x)", True)],
)  # fmt: skip
def test_arrays_are_known_where_dask_meets_one(line, is_known):
    code = f"""
        import pickle, sys
        import zerostride as zs
        chunk = pickle.dumps(zs.ones((2, 3), dtype=zs.float32))
        x = pickle.loads(chunk)
        {line}
        print("dask" in sys.modules, "zerostride.dask" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{is_known} {is_known}\n", done


def test_building_a_graph_opens_no_device():
    code = """
        import dask.array as da, numpy as np
        import zerostride.dask
        x = zerostride.dask.from_dask(da.ones((100, 100), chunks=10, dtype=np.float32))
        y = ((x - x.mean(axis=0)) / x.std(axis=0) + np.exp(x)).T[:5].sum()
        print(type(y._meta).__name__, y.dtype)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "ZEROSTRIDE_DEVICE": "voodoo"},
    )  # fmt: skip
    assert done.stdout == "Array float32\n", done


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_bits_of_the_undivided_array(name, dtype):
    values = (1 + np.random.default_rng(1).standard_normal((5000, 3)) / 1e3).astype(dtype)
    whole = getattr(zs, name)(zs.asarray(values), axis=0)
    for chunks in ((1024, 2048, 1024, 904), (4096, 904), (5000,)):
        x = zerostride.dask.from_dask(da.from_array(values, chunks=(chunks, (1, 2))))
        ours = zerostride.dask.reduce(x, name, axis=0)
        assert ours.dtype == whole.dtype and ours.shape == whole.shape
        same(ours.compute(scheduler="synchronous"), np.asarray(whole))
    x = zerostride.dask.from_dask(da.from_array(values, chunks=(2048, 3)))
    same(zerostride.dask.reduce(x, name, keepdims=True).compute(), np.asarray(getattr(zs, name)(zs.asarray(values), keepdims=True)))


def test_chunks_that_end_elsewhere_are_an_error():
    x = zerostride.dask.from_dask(da.ones((4000, 4), chunks=(1000, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="rechunk"):
        zerostride.dask.reduce(x, "sum", axis=0)
    with pytest.raises(ValueError, match="along axis 1"):
        zerostride.dask.reduce(x.rechunk((1024, 2)), "sum")
    with pytest.raises(ValueError, match="no reduction of chunks is called 'median'"):
        zerostride.dask.reduce(x, "median", axis=0)


def test_the_backend_of_dask():
    with dask.config.set({"array.backend": "zerostride", "scheduler": "threads"}):
        for made, theirs in (
            (da.ones((4, 4), chunks=2), np.ones((4, 4))), (da.zeros(4, chunks=2, dtype=np.float32), np.zeros(4, np.float32)),
            (da.full((4,), 3, chunks=2), np.full(4, 3)), (da.arange(1, 10, 2, chunks=2), np.arange(1, 10, 2)),
            (da.ones_like(da.zeros(3)), np.ones(3)),
        ):  # fmt: skip
            assert isinstance(made._meta, zs.Array)
            ours = made.compute()
            assert isinstance(ours, zs.Array)
            np.testing.assert_array_equal(np.asarray(ours), theirs)
        drawn = da.random.default_rng(0).normal(size=(40, 4), chunks=20)
        assert isinstance(drawn.compute(), zs.Array)
        old = da.random.RandomState(1).standard_normal((4,), chunks=2)
        assert isinstance(old.compute(), zs.Array)
        there = da.from_array(X, chunks=10).to_backend()
        same(there.compute(), X)
        back = there.to_backend("numpy").compute()
    assert type(back) is np.ndarray
    with dask.config.set(scheduler="threads"):
        theirs = da.random.default_rng(0).normal(size=(40, 4), chunks=20).compute()
    np.testing.assert_allclose(np.asarray(drawn.compute()), theirs, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", ["dask.array", "dask_array"])
def test_either_package_of_dask(package):
    module = pytest.importorskip(package)
    x, numpys = (module.from_array(make(X[:16, :16]), chunks=8) for make in (zs.asarray, np.asarray))
    for call in (
        lambda a: a.sum(), lambda a: a.mean(axis=0), lambda a: a.std(axis=0), lambda a: module.nanmax(a, axis=0),
        lambda a: a @ a.T, lambda a: np.exp(a) + 1, lambda a: module.einsum("ij,jk", a, a), lambda a: module.pad(a, 1),
        lambda a: a[[0, 2]], lambda a: module.concatenate([a, a]), lambda a: module.percentile(a.ravel(), 50),
        lambda a: module.nanmean(a, axis=1),
    ):  # fmt: skip
        ours = call(x).compute(scheduler="synchronous")
        assert isinstance(ours, zs.Array)
        np.testing.assert_allclose(np.asarray(ours), call(numpys).compute(scheduler="synchronous"), rtol=1e-4, atol=1e-4)


def test_zarr_is_read_and_written(tmp_path):
    pytest.importorskip("zarr")
    with dask.config.set(scheduler="threads"):
        da.from_array(X, chunks=(16, 10)).to_zarr(tmp_path / "x.zarr")
        x = zerostride.dask.from_dask(da.from_zarr(tmp_path / "x.zarr"))
        zerostride.dask.to_numpy(x * 2).to_zarr(tmp_path / "y.zarr")
        np.testing.assert_array_equal(da.from_zarr(tmp_path / "y.zarr").compute(), X * 2)


def test_the_example_reads_zarr(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "examples")
    example = pytest.importorskip("dask_normalize")
    parts = example.make(tmp_path, 0.012, as_zarr=True)
    pixels = example.dataset(tmp_path, parts, 8)
    assert pixels.chunksize[0] == 8 and isinstance(pixels._meta, zs.Array)
    first = np.load(tmp_path / "00000.npy")[:8].astype(np.float32)
    with dask.config.set(scheduler="threads"):
        same(pixels[:8].compute(), first)


LOCAL = """
    if __name__ == "__main__":
        import os
        import zerostride.dask
        from distributed import Client

        with zerostride.dask.LocalCluster(["cpu", "cpu"]) as cluster, Client(cluster) as client:
            print(*client.run(lambda: os.environ["ZEROSTRIDE_DEVICE"]).values())
"""


def test_a_cluster_of_this_machine(tmp_path):
    pytest.importorskip("distributed")
    (script := tmp_path / "local.py").write_text(textwrap.dedent(LOCAL))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["cpu", "cpu"], done.stderr
