"""The array API standard (2025.12): which functions there are, with which parameters, and the special cases of floats.

The standard's own suite asks more; `scripts/test-array-api` runs it where a checkout is given.
"""

import inspect
import math

import numpy as np
import pytest
from conftest import FLOATS, INTEGERS

import zerostride as zs

inf, nan, pi = math.inf, math.nan, math.pi

# As the standard writes them, without types.
SIGNATURES = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None, shape=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None, shape=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None, shape=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None, shape=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape, *, rule='numpy', axis=None, axes=None)
concat(arrays, /, *, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1=None, x2=None, /)
isin(x1, x2, /, *, invert=False)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, dtype=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, dtype=None, correction=0.0, ddof=None, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, dtype=None, correction=0.0, ddof=None, keepdims=False)
all(x, /, *, axis=None, keepdims=False, out=None)
any(x, /, *, axis=None, keepdims=False, out=None)
diff(x, /, n=1, *, axis=-1, prepend=None, append=None)
""".split("\n")[1:-1]
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log
log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc
""".split()
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal floor_divide
greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply
nextafter not_equal pow remainder subtract
""".split()


@pytest.mark.parametrize("signature", SIGNATURES)
def test_signatures(signature):
    name = signature[: signature.index("(")]
    found = inspect.signature(getattr(zs, name))
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    assert name + str(inspect.Signature(bare)) == signature


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_signatures_of_elementwise_functions(name):
    expected = "(x, /)" if name in UNARY else "(x1, x2, /)"
    assert str(inspect.signature(getattr(zs, name))) == expected


def test_the_rest_of_the_namespace():
    for name in ("expand_dims", "squeeze"):
        parameters = list(inspect.signature(getattr(zs, name)).parameters.values())
        assert [(p.name, p.kind) for p in parameters] == [
            ("x", inspect.Parameter.POSITIONAL_ONLY),
            ("axis", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        ]
    assert (zs.e, zs.inf, zs.pi, zs.newaxis) == (math.e, inf, pi, None) and math.isnan(zs.nan)
    info = zs.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] and info.capabilities()["data-dependent shapes"]
    # A tuple from version 2025.12 of the standard on; a list before.
    assert isinstance(info.devices(), tuple) and info.default_device() in info.devices()
    assert set(info.default_dtypes()) == {"real floating", "complex floating", "integral", "indexing"}
    assert info.default_dtypes()["integral"] == zs.asarray(3).dtype == zs.int64
    assert set(info.dtypes(kind="integral")) == {dtype.name for dtype in INTEGERS}
    assert set(info.dtypes(kind=("bool", "real floating"))) <= {"bool", "float32", "float64"}


# The result of a function for one number.
CASES = {
    "acos": [(nan, nan), (1.5, nan), (-1.5, nan), (1, 0.0)],
    "acosh": [(nan, nan), (0.5, nan), (1, 0.0), (inf, inf)],
    "asin": [(nan, nan), (1.5, nan), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "atan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2)],
    "atanh": [(nan, nan), (-1.5, nan), (1.5, nan), (-1, -inf), (1, inf), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [(nan, nan), (inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (-0.5, -0.0), (7, 7)],
    "cos": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, nan), (-inf, nan)],
    "cosh": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, inf), (-inf, inf)],
    "exp": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, inf), (-inf, 0.0)],
    "expm1": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1)],
    "floor": [(nan, nan), (inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (-0.5, -1), (7, 7)],
    "log": [(nan, nan), (-1, nan), (0.0, -inf), (-0.0, -inf), (1, 0.0), (inf, inf)],
    "log1p": [(nan, nan), (-2, nan), (-1, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf)],
    "log2": [(nan, nan), (-1, nan), (0.0, -inf), (1, 0.0), (inf, inf)],
    "log10": [(nan, nan), (-1, nan), (0.0, -inf), (1, 0.0), (inf, inf)],
    "abs": [(nan, nan), (-0.0, 0.0), (-inf, inf)],
    "reciprocal": [(inf, 0.0), (-inf, -0.0), (0.0, inf), (-0.0, -inf)],
    "round": [(nan, nan), (inf, inf), (0.5, 0.0), (1.5, 2), (2.5, 2), (-0.5, -0.0), (-0.0, -0.0)],
    "sign": [(-2, -1), (0.0, 0), (5, 1), (nan, nan)],
    "sin": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "sinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "sqrt": [(nan, nan), (-1, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf)],
    "tan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "tanh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, 1), (-inf, -1)],
    "trunc": [(nan, nan), (inf, inf), (-0.0, -0.0), (0.0, 0.0), (-0.5, -0.0), (-1.5, -1)],
    "isfinite": [(nan, False), (inf, False), (-inf, False), (1, True)],
    "isinf": [(nan, False), (inf, True), (-inf, True), (1, False)],
    "isnan": [(nan, True), (inf, False), (1, False)],
    "signbit": [(0.0, False), (-0.0, True), (inf, False), (-inf, True), (-3, True)],
}
# Of two.
PAIRS = {
    "add": [(nan, 1, nan), (inf, -inf, nan), (inf, inf, inf), (inf, 1, inf), (-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0)],
    "subtract": [(inf, inf, nan), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1, inf, -inf)],
    "multiply": [(inf, 0.0, nan), (-0.0, inf, nan), (inf, -inf, -inf), (-2, inf, -inf), (-0.0, 2, -0.0)],
    "divide": [
        (inf, inf, nan), (0.0, 0.0, nan), (0.0, 2, 0.0), (0.0, -2, -0.0), (2, 0.0, inf), (2, -0.0, -inf), (2, inf, 0.0),
        (-2, inf, -0.0), (inf, -2, -inf),
    ],
    "floor_divide": [
        (nan, 1, nan), (inf, inf, nan), (0.0, 0.0, nan), (0.0, 2, 0.0), (0.0, -2, -0.0), (-0.0, 2, -0.0), (-0.0, -2, 0.0),
        (2, 0.0, inf), (2, -0.0, -inf), (-2, 0.0, -inf), (inf, 2, inf), (inf, -2, -inf), (-inf, 2, -inf), (2, inf, 0.0),
        (2, -inf, -0.0), (-2, inf, -0.0), (-2, -inf, 0.0), (-7, 2, -4),
    ],
    "remainder": [
        (nan, 1, nan), (inf, 1, nan), (0.0, 0.0, nan), (0.0, 2, 0.0), (-0.0, 2, 0.0), (0.0, -2, -0.0), (-0.0, -2, -0.0),
        (2, 0.0, nan), (2, inf, 2), (2, -inf, -inf), (-2, inf, inf), (-2, -inf, -2), (-7, 2, 1),
    ],
    "pow": [
        (nan, 0.0, 1), (nan, -0.0, 1), (1, nan, 1), (1, inf, 1), (-1, inf, 1), (-1, -inf, 1), (2, inf, inf), (2, -inf, 0.0),
        (0.5, inf, 0.0), (0.5, -inf, inf), (inf, 2, inf), (inf, -2, 0.0), (-inf, 3, -inf), (-inf, 2, inf),
        (-inf, -3, -0.0), (-inf, -2, 0.0), (0.0, 2, 0.0), (0.0, -2, inf), (-0.0, 3, -0.0), (-0.0, 2, 0.0),
        (-0.0, -3, -inf), (-0.0, -2, inf), (-2, 0.5, nan), (nan, 1, nan),
    ],
    "atan2": [
        (nan, 1, nan), (1, 0.0, pi / 2), (1, -0.0, pi / 2), (0.0, 1, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, pi),
        (0.0, -1, pi), (-0.0, 1, -0.0), (-0.0, 0.0, -0.0), (-0.0, -0.0, -pi), (-0.0, -1, -pi), (-1, 0.0, -pi / 2),
        (1, inf, 0.0), (1, -inf, pi), (-1, inf, -0.0), (-1, -inf, -pi), (inf, 1, pi / 2), (-inf, 1, -pi / 2),
        (inf, inf, pi / 4), (inf, -inf, 3 * pi / 4), (-inf, inf, -pi / 4), (-inf, -inf, -3 * pi / 4),
    ],
    "hypot": [(inf, nan, inf), (nan, -inf, inf), (1, nan, nan), (3, 4, 5)],
    "logaddexp": [(nan, 1, nan), (inf, 1, inf), (1, inf, inf)],
    "copysign": [(1, -0.0, -1), (-1, 0.0, 1), (nan, -1, nan), (2, -inf, -2)],
    "maximum": [(nan, 1, nan), (1, nan, nan), (inf, 1, inf), (-inf, 1, 1)],
    "minimum": [(nan, 1, nan), (1, nan, nan), (inf, 1, 1), (-inf, 1, -inf)],
    "nextafter": [(nan, 1, nan), (1, nan, nan), (0.0, -0.0, -0.0), (-0.0, 0.0, 0.0)],
    "equal": [(nan, nan, False), (inf, inf, True), (-inf, inf, False), (-0.0, 0.0, True)],
    "not_equal": [(nan, nan, True), (0.0, -0.0, False)],
    "less": [(nan, 1, False), (-inf, inf, True), (-0.0, 0.0, False)],
    "greater_equal": [(nan, 1, False), (inf, inf, True), (-0.0, 0.0, True)],
}  # fmt: skip


def agrees(found, expected, dtype):
    assert math.isnan(found) if isinstance(expected, float) and math.isnan(expected) else True
    if isinstance(expected, bool):
        assert found is expected
    elif not math.isnan(expected):
        assert found == pytest.approx(expected, rel=2 * float(np.finfo(dtype).eps))
        assert math.copysign(1, found) == math.copysign(1, expected) or found == expected != 0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_special_cases_of_one_operand(name, dtype):
    operands = zs.asarray([case[0] for case in CASES[name]], dtype=dtype)
    for found, (_, expected) in zip(getattr(zs, name)(operands).tolist(), CASES[name]):
        agrees(found, expected, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", PAIRS)
def test_special_cases_of_two_operands(name, dtype):
    x1, x2 = (zs.asarray([case[i] for case in PAIRS[name]], dtype=dtype) for i in range(2))
    for found, (*_, expected) in zip(getattr(zs, name)(x1, x2).tolist(), PAIRS[name]):
        agrees(found, expected, dtype)
    # And of a number of Python, which is another kernel.
    for a, b, expected in PAIRS[name]:
        agrees(getattr(zs, name)(zs.asarray(a, dtype=dtype), float(b)).item(), expected, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_cases_of_reductions(dtype):
    empty = zs.zeros((0,), dtype=dtype)
    assert zs.sum(empty).item() == 0 and zs.prod(empty).item() == 1 and math.isnan(zs.mean(empty).item())
    assert zs.all(empty).item() is True and zs.any(empty).item() is False
    with pytest.raises(ValueError):
        zs.max(empty)
    holed = zs.asarray([1, nan, 2], dtype=dtype)
    assert all(math.isnan(f(holed).item()) for f in (zs.sum, zs.prod, zs.mean, zs.max, zs.min, zs.std, zs.var))
    assert zs.argmax(holed).item() == zs.argmin(holed).item() == 1
    assert zs.all(holed).item() is True
    assert math.isnan(zs.var(zs.asarray([1], dtype=dtype), correction=1).item())


# The promotion of integers and floats of these widths.
PROMOTION = {
    ("int8", "int16"): "int16", ("int8", "uint8"): "int16", ("int8", "uint16"): "int32", ("int8", "uint32"): "int64",
    ("int16", "uint8"): "int16", ("int16", "uint16"): "int32", ("int32", "uint8"): "int32", ("int32", "uint32"): "int64",
    ("int64", "uint32"): "int64", ("uint8", "uint64"): "uint64", ("float32", "float64"): "float64",
    ("bool", "bool"): "bool", ("uint16", "uint32"): "uint32", ("int64", "int8"): "int64",
}  # fmt: skip


def test_result_type_of_numbers_alone_is_a_default():
    # SciPy's `freqs` asks so.
    assert zs.result_type(1, 2.0) == zs.asarray(2.0).dtype and zs.result_type(True, 1) == zs.asarray(1).dtype
    with pytest.raises(ValueError, match="result_type of nothing"):
        zs.result_type()


@pytest.mark.parametrize("pair", PROMOTION, ids="-".join)
def test_promotion(pair):
    for a, b in (pair, pair[::-1]):
        expected = np.dtype(PROMOTION[pair])
        assert zs.result_type(np.dtype(a), np.dtype(b)) == expected
        together = zs.zeros((1,), dtype=np.dtype(a)) == zs.zeros((1,), dtype=np.dtype(b))
        assert together.dtype == zs.bool
        if all(zs.Device().supports(np.dtype(name)) for name in (a, b, PROMOTION[pair])):
            assert together.tolist() == [True]
