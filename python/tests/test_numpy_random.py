"""NumPy's functions on random cases: the values are NumPy's, whatever shapes, axes and arguments are drawn."""

import os

import numpy as np
import pytest

import zerostride as zs

# Others are drawn by ZEROSTRIDE_SEED, and more by ZEROSTRIDE_CASES.
SEED = int(os.environ.get("ZEROSTRIDE_SEED", 4711))
# A kernel of most cases is its own, which costs an adapter its compilation.
CASES = int(os.environ.get("ZEROSTRIDE_CASES", 30 if zs.Device().name == "cpu" else 2))


class Draw:
    """The parts of a case."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def one(self, *choices):
        return choices[self.random.integers(len(choices))]

    def count(self, least, most):
        return int(self.random.integers(least, most + 1))

    def shape(self, least=1, most=3, longest=6, shortest=1):
        return tuple(self.count(shortest, longest) for _ in range(self.count(least, most)))

    def array(self, shape=None, dtype=None, gaps=False):
        """Small integers, or halves of them as floats, so that sums are exact."""
        shape = self.shape() if shape is None else shape
        dtype = dtype or self.one(np.float32, np.float32, np.int32)
        values = self.random.integers(-12, 13, size=shape)
        if np.dtype(dtype).kind != "f":
            return values.astype(dtype)
        values = values.astype(dtype) / 2
        if gaps and values.ndim:
            values[self.random.random(shape) < 0.25] = np.nan
        return values

    def view(self, array):
        """The array with axes turned, reversed or skipped."""
        array = array[tuple(slice(None, None, self.one(1, 1, -1, 2)) for _ in array.shape)]
        return array.transpose(self.random.permutation(array.ndim)) if array.ndim else array

    def axis(self, rank):
        return self.count(-rank, rank - 1)

    def axes(self, rank):
        return self.one(None, self.axis(rank), tuple(int(k) for k in self.random.permutation(rank)[: self.count(1, rank)]))


def reduction(name):
    def case(d):
        x = d.view(d.array(gaps=name.startswith("nan")))
        axis = d.axes(x.ndim)
        if "arg" in name:
            axis = d.one(None, d.axis(x.ndim))
            x = np.where(np.isnan(x), x.dtype.type(3), x) if d.one(0, 1) else np.nan_to_num(x)
        options = {"keepdims": d.one(False, True)}
        if name in ("std", "var", "nanstd", "nanvar"):
            options["ddof"] = d.count(0, 2)
        return [x], lambda x: getattr(np, name)(x, axis=axis, **options)

    return case


def scan(name):
    def case(d):
        x = d.view(d.array(gaps=name.startswith("nan")))
        x = np.sign(x) if "prod" in name else x
        axis = d.one(None, d.axis(x.ndim))
        return [x], lambda x: getattr(np, name)(x, axis=axis)

    return case


def padded(d):
    x = d.view(d.array(d.shape(1, 3, 5)))
    mode = d.one("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "minimum")
    width = d.one(d.count(0, 4), (d.count(0, 4), d.count(0, 4)), [(d.count(0, 9), d.count(0, 9)) for _ in x.shape])
    options = {}
    if mode == "constant":
        options = d.one({}, {"constant_values": 3}, {"constant_values": [(1, 2)] * x.ndim})
    elif mode == "linear_ramp":
        options = d.one({}, {"end_values": 4})
    elif mode in ("maximum", "mean", "minimum"):
        options = d.one({}, {"stat_length": d.count(1, 3)})
    elif mode in ("reflect", "symmetric"):
        options = {"reflect_type": d.one("even", "odd")}
    return [x], lambda x: np.pad(x, width, mode=mode, **options)


def summed(d):
    letters = "abcd"
    lengths = {each: d.count(1, 4) for each in letters}
    terms = ["".join(d.random.choice(list(letters), d.count(1, 3), replace=d.one(True, False))) for _ in range(d.count(1, 3))]
    there = sorted(set("".join(terms)))
    result = "".join(d.random.permutation(there)[: d.count(0, len(there))])
    equation = ",".join(terms) + d.one("->" + result, "->" + result, "")
    arrays = [d.array(tuple(lengths[each] for each in term)) for term in terms]
    return arrays, lambda *arrays: np.einsum(equation, *arrays)


def sloped(d):
    x = d.array(d.shape(1, 3, 7, 3), gaps=d.one(False, True), dtype=np.float32)
    axis, order = d.axis(x.ndim), d.count(1, 2)
    steps = np.cumsum(d.random.integers(1, 4, size=x.shape[axis])).astype(np.float32) * d.one(1, -1)
    by = d.one((), (2.0,), (steps,))
    return [x], lambda x: np.gradient(x, *by, axis=axis, edge_order=order)


def differences(d):
    x = d.view(d.array(d.shape(1, 3, 6, 2)))
    axis, n = d.axis(x.ndim), d.count(0, 3)
    options = d.one({}, {"prepend": 1}, {"append": 2, "prepend": 0})
    return [x], lambda x: np.diff(x, n, axis, **options)


def windowed(d):
    x = d.view(d.array(d.shape(1, 3, 8, 4)))
    axis = d.axis(x.ndim)
    length, fold = d.count(1, x.shape[axis]), d.one(np.sum, np.max, np.min)
    return [x], lambda x: fold(np.lib.stride_tricks.sliding_window_view(x, length, axis), axis=-1)


def looked_up(d):
    x = d.array()
    axis = d.axis(x.ndim)
    shape = [d.count(1, 5) if k == axis % x.ndim else n for k, n in enumerate(x.shape)]
    i = d.random.integers(-x.shape[axis], x.shape[axis], size=shape)
    return [x, i.astype(np.int32)], lambda x, i: np.take_along_axis(x, i, axis)


def quantiled(name):
    def case(d):
        # In one of two cases of quantiles that keep NaN there is none.
        x = d.view(d.array(dtype=np.float32, gaps=name == "nanquantile" or d.one(False, True)))
        axis, keepdims = d.axes(x.ndim), d.one(False, True)
        # NumPy's nanquantile confuses the axes of q with those of the array where it has several and axis is negative.
        q = d.one(0.0, 0.25, 0.5, 1.0, 0.3, [0.125, 0.75], [[0.5], [0.9]] if name == "quantile" else 0.7, [])
        method = d.one("linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "normal_unbiased")
        return [x], lambda x: getattr(np, name)(x, q, axis, method=method, keepdims=keepdims)

    return case


def inserted(d):
    x = d.array()
    axis = d.one(None, d.axis(x.ndim))
    length = x.size if axis is None else x.shape[axis]
    at = d.one(d.count(-length, length), [d.count(0, length) for _ in range(3)])
    return [x], lambda x: np.insert(x, at, 9, axis)


def deleted(d):
    x = d.array()
    axis = d.one(None, d.axis(x.ndim))
    length = x.size if axis is None else x.shape[axis]
    at = d.one(d.count(-length, length - 1), slice(None, None, 2), [d.count(0, length - 1) for _ in range(3)])
    return [x], lambda x: np.delete(x, at, axis)


def correlated(d):
    shape = (d.count(2, 4), d.count(3, 6))
    x, w = d.array(shape, np.float32), d.random.integers(1, 4, size=shape[1]).astype(np.float32)
    options = d.one({}, {"bias": True}, {"ddof": 0}, {"rowvar": False}, {"fweights": w.astype(np.int32)}, {"aweights": w})
    return [x], lambda x: np.cov(x, **options)


def weighed(d):
    x = d.array(dtype=np.float32)
    axis = d.one(None, d.axis(x.ndim))
    shape = x.shape if axis is None or d.one(0, 1) else (x.shape[axis],)
    w = d.random.integers(1, 5, size=shape).astype(np.float32)
    return [x, w], lambda x, w: np.average(x, axis, w)


def between(d):
    points = np.cumsum(d.random.integers(1, 4, size=d.count(1, 7))).astype(np.float32)
    options = d.one({}, {"left": -7.0}, {"right": 9.0})
    values = d.array(points.shape, np.float32)
    return [d.array(dtype=np.float32), points, values], lambda x, xp, fp: np.interp(x, xp, fp, **options)


def folded(d):
    a, v, mode = d.array((d.count(1, 9),)), d.array((d.count(1, 9),)), d.one("full", "same", "valid")
    return [a, v], lambda a, v: d_convolve(a, v, mode)


def d_convolve(a, v, mode):
    return np.convolve(a, v, mode)


def chosen(d):
    x, y = d.array((4, 3)), d.array((4, 3))
    return [x, y], lambda x, y: np.select([x > 3, y > 2], [x * 2, y], -1)


def split(d):
    x = d.array()
    axis = d.axis(x.ndim)
    parts = d.one(d.count(1, 4), sorted(d.count(0, x.shape[axis]) for _ in range(2)))
    return [x], lambda x: np.array_split(x, parts, axis)


def turned(d):
    x = d.array(d.shape(2, 3))
    axes = tuple(int(k) for k in d.random.permutation(x.ndim)[:2])
    k = d.count(-3, 5)
    return [x], lambda x: np.rot90(x, k, axes)


def under(d):
    y = d.array(dtype=np.float32)
    axis = d.axis(y.ndim)
    steps = np.cumsum(d.random.integers(1, 4, size=y.shape[axis])).astype(np.float32)
    by = d.one({}, {"dx": 0.5}, {"x": steps})
    return [y], lambda y: np.trapezoid(y, axis=axis, **by)


def of_some(d):
    x = d.view(d.array())
    m = d.random.random(x.shape) < 0.6
    axis, name = d.axes(x.ndim), d.one("sum", "prod", "max", "min", "any", "all")
    options = {"initial": 3} if name in ("max", "min") else {"initial": 2} if name == "sum" else {}
    return [np.sign(x) if name == "prod" else x, m], lambda x, m: getattr(np, name)(x, axis=axis, where=m, **options)


def kronecker(d):
    a, b = d.array(d.shape(1, 2, 3)), d.array(d.shape(1, 2, 3))
    return [a, b], lambda a, b: np.kron(a, b)


def crossed(d):
    shape = d.shape(0, 2)
    return [d.array((*shape, 3)), d.array((3,))], lambda a, b: np.cross(a, b)


REDUCTIONS = """
    sum prod max min mean std var any all argmax argmin nansum nanprod nanmax nanmin nanmean nanstd nanvar nanargmax nanargmin
    nanmedian ptp
""".split()
KINDS = {
    **{name: reduction(name) for name in REDUCTIONS},
    **{name: quantiled(name) for name in ("quantile", "nanquantile")},
    **{name: scan(name) for name in "cumsum cumprod nancumsum nancumprod".split()},
    "pad": padded, "einsum": summed, "gradient": sloped, "diff": differences, "sliding_window_view": windowed,
    "take_along_axis": looked_up, "insert": inserted, "delete": deleted, "cov": correlated,
    "average": weighed, "interp": between, "convolve": folded, "select": chosen, "array_split": split, "rot90": turned,
    "trapezoid": under, "where": of_some, "kron": kronecker, "cross": crossed,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_random_cases(kind):
    for number in range(CASES):
        arrays, call = KINDS[kind](Draw([SEED, list(KINDS).index(kind), number]))
        try:
            theirs = call(*arrays)
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            # If NumPy refuses a case, it is refused here too, by any exception.
            with pytest.raises((ValueError, TypeError, IndexError, ZeroDivisionError)):
                print(kind, number, error, call(*map(zs.asarray, arrays)))
            continue
        ours = call(*map(zs.asarray, arrays))
        pairs = zip(ours, theirs) if isinstance(theirs, list) else [(ours, theirs)]
        for own, other in pairs:
            assert isinstance(own, zs.Array) and own.shape == np.shape(other), (kind, number, np.shape(own), np.shape(other))
            np.testing.assert_allclose(np.asarray(own), other, rtol=2e-5, atol=2e-5, err_msg=f"{kind}, case {number}")
