"""xarray over our arrays: a user's calls have NumPy's values, and results stay our arrays."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import zerostride as zs

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

# Warnings of xarray itself, and of packages that it calls.
pytestmark = pytest.mark.filterwarnings("ignore")

GUIDE = Path(__file__).parents[2] / "docs/guide/python.md"


def weather(array=np.asarray):
    """Numbers with gaps, over time, rows and columns."""
    values = np.random.default_rng(47).standard_normal((6, 4, 5)).astype(np.float32)
    values[0, 1, 2] = values[3, 0, 0] = values[3, 2, 1] = np.nan
    return xr.DataArray(
        array(values),
        dims=["time", "y", "x"],
        coords={
            "time": pd.date_range("2026-01-30", periods=6), "y": [10.0, 20.0, 30.0, 40.0], "x": np.arange(5),
            "kind": ("x", [0, 1, 0, 2, 1]),
        },
        name="t",
    )  # fmt: skip


def full(d):
    return d.fillna(0.5)


def dataset(d):
    return xr.Dataset({"t": d, "u": full(d) * 2})


SKIPPING = "max min std var median argmax argmin sum mean prod".split()
CALLS = {
    **{f"{name}(x)": lambda d, name=name: getattr(d, name)("x") for name in SKIPPING},
    **{f"{name}(skipna=False)": lambda d, name=name: getattr(full(d), name)("x", skipna=False) for name in SKIPPING},
    **{f"{name}()": lambda d, name=name: getattr(d, name)() for name in "max min std var median sum mean prod".split()},
    **{
        f"groupby {name}": lambda d, name=name: getattr(d.groupby("kind"), name)() for name in "mean sum max min std count".split()
    },
    **{f"rolling {name}": lambda d, name=name: getattr(d.rolling(x=3), name)() for name in "mean sum max min std".split()},
    **{f"coarsen {name}": lambda d, name=name: getattr(d.coarsen(y=2), name)() for name in "mean max std".split()},
    **{
        f"pad {mode}": lambda d, mode=mode: d.pad(x=(1, 2), mode=mode)
        for mode in "constant edge reflect symmetric wrap linear_ramp maximum mean minimum".split()
    },
    "add": lambda d: d + 1, "multiply": lambda d: d * d, "power": lambda d: abs(d) ** 0.5, "compare": lambda d: d > 0,
    "numpy exp": lambda d: np.exp(d), "numpy maximum": lambda d: np.maximum(d, 0), "other axes": lambda d: d + d.isel(time=0),
    "negative": lambda d: -d, "bitwise": lambda d: (d > 0) & (d < 1), "isel slice": lambda d: d.isel(x=slice(1, 3)),
    "isel int": lambda d: d.isel(time=2), "isel list": lambda d: d.isel(x=[3, 0]), "sel": lambda d: d.sel(x=3),
    "sel nearest": lambda d: d.sel(y=[11, 39], method="nearest"), "sel time": lambda d: d.sel(time="2026-02-01"),
    "loc": lambda d: d.loc[{"x": slice(1, 3)}], "head": lambda d: d.head(x=2), "thin": lambda d: d.thin(x=2),
    "squeeze": lambda d: d.isel(x=[0]).squeeze("x"), "transpose": lambda d: d.transpose("x", "y", "time"),
    "T": lambda d: d.T, "stack": lambda d: d.stack(z=("y", "x")), "unstack": lambda d: d.stack(z=("y", "x")).unstack("z"),
    "expand_dims": lambda d: d.expand_dims("run"), "swap": lambda d: d.swap_dims(x="kind"),
    "concat": lambda d: xr.concat([d, d], "time"), "concat new": lambda d: xr.concat([d, d], "run"),
    "merge": lambda d: xr.merge([d, (d + 1).rename("v")]).v, "align": lambda d: xr.align(d, d.isel(x=slice(2, None)))[0],
    "outer align": lambda d: xr.align(d, d.isel(x=slice(2, None)), join="outer")[1], "broadcast": lambda d: xr.broadcast(d, d.x)[0],
    "reindex": lambda d: d.reindex(x=[3, 4, 9]), "reindex filled": lambda d: d.reindex(x=[3, 9], fill_value=0.0),
    "sortby": lambda d: d.sortby("x", ascending=False), "roll": lambda d: d.roll(x=2), "shift": lambda d: d.shift(x=1),
    "diff": lambda d: d.diff("x"), "cumsum": lambda d: d.cumsum("x"), "cumprod": lambda d: d.cumprod("x"),
    "cumsum skipna=False": lambda d: full(d).cumsum("x", skipna=False), "integrate": lambda d: full(d).integrate("y"),
    "differentiate": lambda d: d.differentiate("y"), "differentiate edge": lambda d: d.differentiate("x", edge_order=2),
    "where": lambda d: d.where(d > 0), "where other": lambda d: d.where(d > 0, -1.0), "where coordinate": lambda d: d.where(d.x > 1),
    "where drop": lambda d: d.where(d.x > 2, drop=True), "xr.where": lambda d: xr.where(d > 0, d, 0.0),
    "fillna": lambda d: d.fillna(0), "fillna array": lambda d: d.fillna(d.mean("x")), "isnull": lambda d: d.isnull(),
    "notnull": lambda d: d.notnull(), "clip": lambda d: d.clip(-0.5, 0.5), "round": lambda d: d.round(1),
    "astype": lambda d: d.astype("float64" if zs.Device().supports("float64") else "float16"), "isin": lambda d: full(d).isin([0.5]),
    "count": lambda d: d.count("x"), "any": lambda d: (d > 0).any("x"), "all": lambda d: (d > 0).all(),
    "quantile": lambda d: d.quantile(0.3, "x"), "quantile skipna=False": lambda d: full(d).quantile([0.2, 0.9], "x", skipna=False),
    "idxmax": lambda d: full(d).isel(time=0).idxmax("x"), "idxmin": lambda d: full(d).isel(time=0).idxmin("x"), "dot": lambda d: full(d).dot(full(d), "x"),
    "matmul": lambda d: full(d) @ full(d), "xr.dot": lambda d: xr.dot(full(d), full(d).isel(time=0), dim=["x", "y"]),
    "weighted mean": lambda d: d.weighted(full(abs(d))).mean("x"), "weighted sum": lambda d: d.weighted(d.x).sum("x"),
    "weighted std": lambda d: d.weighted(full(abs(d))).std("x"), "cov": lambda d: xr.cov(d, d.roll(x=1, roll_coords=False), "x"),
    "corr": lambda d: xr.corr(d, d.roll(x=1, roll_coords=False), "x"),
    "cross": lambda d: xr.cross(d.isel(x=slice(3)), full(d).isel(x=slice(3)) + 1, dim="x"),
    "groupby_bins": lambda d: d.groupby_bins("x", [0, 2, 5]).mean(), "groupby map": lambda d: d.groupby("kind").map(lambda g: g - g.mean()),
    "groupby first": lambda d: d.groupby("kind").first(), "groupby arithmetic": lambda d: d.groupby("kind") - d.groupby("kind").mean(),
    "resample mean": lambda d: d.resample(time="2D").mean(), "resample max": lambda d: d.resample(time="MS").max(),
    "rolling construct": lambda d: d.rolling(x=3).construct("w"), "rolling centered": lambda d: d.rolling(x=3, center=True).mean(),
    "rolling 2d": lambda d: d.rolling(x=3, y=2).mean(), "cumulative": lambda d: d.cumulative("x").sum(),
    "coarsen pad": lambda d: d.coarsen(x=2, boundary="pad").mean(), "coarsen construct": lambda d: d.coarsen(y=2).construct(y=["a", "b"]),
    "apply_ufunc": lambda d: xr.apply_ufunc(lambda a: a * 2, d), "reduce": lambda d: full(d).reduce(np.sum, "x"),
    "map_blocks": lambda d: d.map_blocks(lambda a: a + 1), "copy": lambda d: d.copy(), "full_like": lambda d: xr.full_like(d, 3.0),
    "zeros_like": lambda d: xr.zeros_like(d), "ones_like": lambda d: xr.ones_like(d), "dropna": lambda d: d.dropna("x"),
    "argsort": lambda d: full(d).isel(time=0, y=0).argsort(), "conj": lambda d: d.conj(), "dataset mean": lambda d: dataset(d).mean("x").t,
    "dataset max": lambda d: dataset(d).max("x").u, "dataset sum": lambda d: (dataset(d) + 1).sum().t,
    "to_array": lambda d: dataset(d).to_array(), "polyfit": lambda d: full(d).polyfit("x", 1).polyfit_coefficients,
    "broadcast_like": lambda d: d.isel(x=0).broadcast_like(d),
    "identical": lambda d: xr.DataArray(d.identical(d.copy())), "equals": lambda d: xr.DataArray(d.equals(d + 0)),
}  # fmt: skip
# xarray itself, or a package that it calls, copies the elements to the host.
HOST = {"identical", "equals", "polyfit"}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    call = CALLS[name]
    theirs, ours = call(weather()), call(weather(zs.asarray))
    assert ours.dims == theirs.dims and ours.shape == theirs.shape
    if name not in HOST:
        assert isinstance(ours.data, zs.Array), type(ours.data)
    np.testing.assert_allclose(np.asarray(ours.data), theirs.values, rtol=2e-4, atol=1e-5)


def test_a_dataset_is_shown_without_being_computed():
    d = weather(zs.asarray)
    lazy = d + 1
    text = repr(xr.Dataset({"t": lazy}))
    assert "zerostride.Array on " in text
    assert not lazy.data.evaluated
    assert len(lazy.data._repr_inline_(20)) <= 20


def suite():
    """xarray's own cases for arrays of others: a name, a function, its class and its arguments."""
    theirs = pytest.importorskip("xarray.tests.test_duck_array_wrapping")
    for kind in (theirs.TestTopLevelMethods, theirs.TestDataArrayMethods):
        for name, function in vars(kind).items():
            if not name.startswith("test_"):
                continue
            marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
            cases = [dict([(mark.args[0], value)]) for mark in marks for value in mark.args[1]] or [{}]
            yield from ((name.removeprefix("test_"), kind, function, case) for case in cases)


def passes(kind, function, case):
    test = kind()
    test.namespace, test.xp, test.Array, test.constructor = "zerostride", zs, zs.Array, zs.asarray
    if "TopLevel" in kind.__name__:
        test.x1 = test.get_test_dataarray()
        test.x2 = test.get_test_dataarray().assign_coords(x=np.arange(2, 7))
    else:
        test.x = test.get_test_dataarray()
    if "x" not in inspect.signature(function).parameters:
        try:
            function(test, **case)
        except Exception as error:  # noqa: BLE001 - whatever it is, the case fails
            return f"{type(error).__name__}: {error}"
    return ""


def test_what_the_guide_says_of_the_suite_of_xarray():
    found = {}
    for name, *case in suite():
        found.setdefault(name, []).append(passes(*case))
    failed = {name: [text for text in texts if text] for name, texts in found.items() if any(texts)}
    said = re.search(r"xarray has (\d+) cases [^.]*\.py`\)\. All pass except ([^.]*)\.", GUIDE.read_text().replace("\n", " "))
    assert said, f"no line of xarray's suite in the guide: {len(found)} cases, failed {failed}"
    assert int(said[1]) == len(found) and set(re.findall(r"`(\w+)`", said[2])) == set(failed), (len(found), failed)
