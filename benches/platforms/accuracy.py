"""The exact values of functions of f32, and the errors of results. Needs NumPy and SciPy."""
import numpy as np
import scipy.special as special

COUNT = 1 << 20

FUNCTIONS = dict(
    div=np.divide, pow=np.power, sqrt=np.sqrt, exp=np.exp, log=np.log, sin=np.sin, cos=np.cos, tanh=np.tanh, sigmoid=special.expit,
    reciprocal=lambda x: 1 / x, rsqrt=lambda x: 1 / np.sqrt(x), cbrt=np.cbrt, exp2=np.exp2, exp10=lambda x: np.power(10.0, x), expm1=np.expm1,
    log2=np.log2, log10=np.log10, log1p=np.log1p, tan=np.tan, asin=np.arcsin, acos=np.arccos, atan=np.arctan, sinh=np.sinh, cosh=np.cosh,
    asinh=np.arcsinh, acosh=np.arccosh, atanh=np.arctanh, erf=special.erf, erfc=special.erfc, atan2=np.arctan2,
    hypot=lambda x, y: np.where(np.isinf(x) | np.isinf(y), np.inf, np.hypot(x, y)), logaddexp=np.logaddexp,
    xlogy=lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)), logit=special.logit, lgamma=lambda x: np.where(np.isinf(x), np.inf, special.gammaln(x)), digamma=special.digamma,
    to_degrees=np.degrees, to_radians=np.radians)  # fmt: skip

SPECIAL = [0, 1, np.inf, np.nan, 1e-40, 3.4028235e38, 1.1754944e-38, 0.5, 2, 3, 10, 88.38, 88.72, 88.7228, 88.73, 104, 1e9, 16777216]


def inputs():
    """Bits of the whole range, numbers around 0, 1, 10 and 100, powers of ten, and special values."""
    random = np.random.default_rng(1)
    some = COUNT // 8
    parts = [
        random.integers(0, 2**32, 2 * some, dtype=np.uint32).view(np.float32),
        random.uniform(-10, 10, 2 * some),
        random.uniform(-1, 1, 2 * some),
        random.uniform(-100, 100, some),
        10.0 ** random.uniform(-38, 38, some // 2) * random.choice([-1, 1], some // 2),
        1 + random.normal(0, 1, some // 2) * 10.0 ** random.uniform(-7, -1, some // 2),
    ]
    values = np.concatenate([part.astype(np.float32) for part in parts])
    edges = np.array(SPECIAL + [-x for x in SPECIAL], dtype=np.float32)
    values[: len(edges)] = edges
    return values


def second(first):
    """Other operands for the same, so that all ranges and the special values meet."""
    values = np.random.default_rng(2).permutation(first)
    edges = 2 * len(SPECIAL)
    values[: edges * edges] = np.tile(first[:edges], edges)
    return values


def paired(first):
    """The first operands beside `second`."""
    values = first.copy()
    edges = 2 * len(SPECIAL)
    values[: edges * edges] = np.repeat(first[:edges], edges)
    return values


def subnormal(x):
    return (np.abs(x) < np.finfo(x.dtype).tiny) & (x != 0)


def errors(name, got, operands, above):
    """The error of each result in units in the last place, which is infinite if a special value is wrong. Subnormal
    operands and results may be flushed."""
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](*(x.astype(np.float64) for x in operands))
        nearest = exact.astype(np.float32)
        unit = np.spacing(np.maximum(np.abs(np.where(np.isfinite(nearest), nearest, 1)), np.float32(max(above, 2.0**-126)))).astype(np.float64)
        error = np.abs(got.astype(np.float64) - exact) / unit
        # Half a unit beyond the largest float rounds to infinity.
        largest = np.finfo(np.float32).max
        error = np.where(np.isinf(got) & (np.abs(exact) > largest * (1 - 2.0**-23)) & (np.sign(got) == np.sign(exact)), 0, error)
        error = np.where(np.isinf(nearest) & (np.abs(got) >= largest * (1 - 2.0**-23)) & (np.sign(got) == np.sign(exact)), 0, error)
        same = (np.isnan(exact) & np.isnan(got)) | (exact == got)
        error = np.where(same, 0, np.where(np.isnan(error), np.inf, error))
    flushed = np.any([subnormal(x) for x in operands], axis=0) | ((np.abs(exact) < 2.0**-125) & (np.abs(got) <= 2.0**-125))
    return np.where(flushed, 0, error)
