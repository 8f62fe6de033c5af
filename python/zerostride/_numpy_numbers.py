"""NumPy's derivatives, moments, polynomials, orders and sets for `Array`s. They extend :mod:`._numpy`."""

import math

import numpy as np

import zerostride as zs

from . import _numerics
from ._arguments import along, axis_of, integers
from ._dtypes import must_cast
from ._numpy import FUNCTIONS, _implements, _ours, _with_arrays
from ._out import delivered
from ._ufuncs import is_nothing


FUNCTIONS.update({
    np.average: _with_arrays(_numerics.average, 1),
    np.convolve: lambda a, v, mode="full": _numerics.convolve(*(x if x.ndim else x.reshape(1) for x in _ours([a, v])), mode),
    np.corrcoef: _with_arrays(_numerics.corrcoef, 2), np.cov: _with_arrays(_numerics.cov, 2),
    np.gradient: _with_arrays(zs.gradient, 1), np.nan_to_num: _numerics.nan_to_num,
    np.interp: _with_arrays(_numerics.interp, 3), np.median: zs.median, np.trapezoid: _with_arrays(_numerics.trapezoid, 2),
})  # fmt: skip


def _quantiles(ours):
    """A function of quantiles, and the one of percentiles."""

    def quantile(a, q, axis=None, out=None, *, method="linear", keepdims=False):
        return ours(a, q, axis, out, method=method, keepdims=not is_nothing(keepdims) and bool(keepdims))

    return quantile, lambda a, q, axis=None, out=None, *, method="linear", keepdims=False: quantile(
        a, np.true_divide(q, 100), axis, out, method=method, keepdims=keepdims
    )


FUNCTIONS[np.quantile], FUNCTIONS[np.percentile] = _quantiles(zs.quantile)
FUNCTIONS[np.nanquantile], FUNCTIONS[np.nanpercentile] = _quantiles(zs.nanquantile)


@_implements(np.nanmedian)
def _nanmedian(a, axis=None, out=None, *, keepdims=False):
    return zs.nanmedian(a, axis, out, keepdims=not is_nothing(keepdims) and bool(keepdims))


@_implements(np.correlate)
def _correlate(a, v, mode="valid"):
    a, v = _ours([a, v])
    if v.size > a.size:
        # The shorter one moves along the other, but the lags are those of the first.
        return zs.flip(_correlate(v, a, mode))
    return _numerics.convolve(a, zs.flip(v), mode)


@_implements(np.ptp)
def _ptp(a, axis=None, out=None, keepdims=False):
    keepdims = not is_nothing(keepdims) and bool(keepdims)
    return delivered(zs.max(a, axis=axis, keepdims=keepdims) - zs.min(a, axis=axis, keepdims=keepdims), out)


@_implements(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None):
    flat = ary.ravel()
    parts = _ours(x for x in (to_begin, flat[1:] - flat[:-1], to_end) if x is not None)
    for x in parts:
        must_cast(x.dtype, flat.dtype, "same_kind", "ediff1d")
    return zs.concat([zs.astype(x, flat.dtype).ravel() for x in parts])


@_implements(np.polyval)
def _polyval(p, x):
    p, x = _ours([p, x])
    found = zs.zeros_like(x)
    for k in range(len(p)):
        found = found * x + p[k]
    return found


@_implements(np.sinc)
def _sinc(x):
    x = _numerics.floats(x)
    angle = math.pi * zs.where(x == 0, 1.0e-20, x)
    return zs.where(x == 0, 1.0, zs.sin(angle) / angle)


@_implements(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    p = p if isinstance(period, int) and not zs.isdtype(p.dtype, "real floating") else _numerics.floats(p)
    axis = axis_of(axis, p.ndim, "unwrap")
    steps = zs.diff(p, axis=axis)
    half = period / 2
    turned = (steps + half) % period - half
    turned = zs.where((turned == -half) & (steps > 0), half, turned)
    turns = zs.where(zs.abs(steps) < (half if discont is None else discont), 0, turned - steps)
    behind = _numerics.part(p, axis, 1, None) + zs.cumulative_sum(turns, axis=axis)
    return zs.concat([_numerics.part(p, axis, 0, 1), behind], axis=axis)


def _parted(order):
    def parted(a, kth, axis=-1):
        x, own = along(a, axis, "partition")
        if a.size and any(not -x.shape[own] <= k < x.shape[own] for k in integers(kth, "the kth of partition")):
            raise ValueError(f"kth={kth!r} is out of range for {x.shape[own]} elements")
        return order(a, axis)

    return parted


FUNCTIONS[np.partition], FUNCTIONS[np.argpartition] = _parted(np.sort), _parted(np.argsort)


@_implements(np.lexsort)
def _lexsort(keys, axis=-1):
    keys = _ours(keys)
    found = None
    for key in keys:
        key, own = along(key, axis, "lexsort")
        if found is not None:
            key = zs.take_along_axis(key, found, axis=own)
        order = zs.argsort(key, axis=own)
        found = order if found is None else zs.take_along_axis(found, order, axis=own)
    return found.reshape(keys[0].shape)


@_implements(np.union1d)
def _union1d(ar1, ar2):
    return np.unique(np.concatenate([ar1, ar2], None))


@_implements(np.intersect1d)
def _intersect1d(ar1, ar2):
    a, b = _ours([ar1, ar2])
    own = zs.astype(np.unique(a), zs.result_type(a, b))
    return own[zs.isin(own, b)]


@_implements(np.setdiff1d)
def _setdiff1d(ar1, ar2, assume_unique=False):
    a, b = _ours([ar1, ar2])
    own = a.ravel() if assume_unique else np.unique(a)
    return own[zs.isin(own, b, invert=True)]


@_implements(np.setxor1d)
def _setxor1d(ar1, ar2):
    a, b = _ours([ar1, ar2])
    found = zs.concat([np.unique(a), np.unique(b)])
    values, counts = zs.unique_counts(found)
    return values[counts == 1]


for _name, _values in (("unique_values", zs.unique_values), ("unique_counts", zs.unique_counts),
                       ("unique_inverse", zs.unique_inverse), ("unique_all", zs.unique_all)):  # fmt: skip
    FUNCTIONS[getattr(np, _name)] = _values
FUNCTIONS[np.cumulative_sum] = lambda x, /, *, axis=None, dtype=None, out=None, include_initial=False: delivered(
    zs.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial), out
)
FUNCTIONS[np.cumulative_prod] = lambda x, /, *, axis=None, dtype=None, out=None, include_initial=False: delivered(
    zs.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial), out
)
FUNCTIONS[np.astype] = lambda x, dtype, /, *, copy=True, device=None: zs.astype(x, np.dtype(dtype), copy=copy, device=device)
