"""The functions of NumPy that public code calls most, over our arrays: on the device, or a ``TypeError`` with a remedy.

The guide's table is what is found here: ``ZEROSTRIDE_BLESS=1`` writes it anew.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import zerostride as zs

GUIDE = Path(__file__).parents[2] / "docs/guide/python.md"
HEAD = "| subject | NumPy's functions |\n|---|---|\n"

# By how often public code names them; `fft`, solvers of `linalg`, `random`, files and types apart.
MOST = """
array zeros arange ones sum mean sqrt where concatenate exp abs linspace dot max min asarray reshape argmax sin cos log std
vstack hstack stack expand_dims unique clip transpose empty append full meshgrid round isnan square power argsort zeros_like
ones_like eye tile repeat argmin maximum minimum logical_and any all squeeze cumsum prod floor ceil sort diff matmul median
nonzero outer array_equal allclose percentile cross multiply add subtract divide log10 log2 log1p arctan2 arctan arccos arcsin
tan tanh sign isinf isfinite split ravel flip roll interp histogram bincount digitize searchsorted convolve pad diag trace
einsum tensordot linalg.norm nanmean nansum var average
""".split()
OTHERS = """
absolute apply_along_axis argpartition argwhere around array_split arcsinh ascontiguousarray atleast_1d atleast_2d atleast_3d
bitwise_and bitwise_or block broadcast_arrays broadcast_to cbrt choose column_stack compress copysign copy corrcoef correlate
cosh count_nonzero cov cumprod deg2rad degrees delete dsplit dstack empty_like equal exp2 expm1 extract fix flatnonzero fliplr
flipud float_power floor_divide fmax fmin fmod full_like gradient greater heaviside histogram2d hsplit hypot identity inner
insert intersect1d invert isclose isin isneginf isposinf isreal ix_ kron less lexsort linalg.matrix_power logaddexp logaddexp2
logical_not logical_or logical_xor mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumsum nanmax nanmedian nanmin
nanpercentile nanprod nanquantile nanstd nanvar ndim negative nextafter not_equal partition permute_dims piecewise polyfit
polyval positive ptp quantile rad2deg radians real reciprocal remainder resize result_type rint rollaxis rot90 select setdiff1d
setxor1d shape signbit sinc sinh size spacing swapaxes take take_along_axis trapezoid tril triu true_divide trunc union1d
unravel_index unwrap vdot vsplit
""".split()

A = np.float32([[3, -1, 2, 5], [0.5, 4, -2, 1], [7, 0.25, 6, -3]])
V = np.float32([1, 2.5, -3, 4])
GAPS = np.float32([[1, np.nan, 3], [4, 5, np.nan]])
I = np.int32([3, 0, 2, 1, 3])  # noqa: E741
UP = np.float32([0, 1, 3, 6])
# The call of a name, if it is not the function of `a` alone.
CALLS = {
    **{name: "np.{}(a, a)" for name in """
        add array_equal allclose arctan2 copysign divide equal float_power floor_divide fmax fmin fmod greater hypot isclose
        less logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter not_equal
        remainder subtract true_divide
    """.split()},
    **{name: "np.{}(np.abs(a))" for name in "sqrt log log2 log10 log1p".split()},
    **{name: "np.{}(a / 8)" for name in "arccos arcsin arcsinh tan".split()},
    **{name: "np.{}(gaps, axis=1)" for name in """
        nanargmax nanargmin nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
    """.split()},
    **{name: "np.{}(a, axis=1)" for name in """
        all any argmax argmin argsort count_nonzero cumprod cumsum max mean median min prod ptp sort std sum var flip
    """.split()},
    **{name: "np.{}(i, i[:2])" for name in "intersect1d isin setdiff1d setxor1d union1d".split()},
    **{name: "np.{}([a, a])" for name in "block column_stack concatenate dstack hstack stack vstack".split()},
    **{name: "np.{}((2, 3), like=a)" for name in "empty ones zeros".split()},
    "append": "np.append(a, a, axis=0)", "apply_along_axis": "np.apply_along_axis(sum, 0, a)", "arange": "np.arange(5, like=a)",
    "argpartition": "np.argpartition(a, 1)[..., 1]", "array": "np.array([1, 2], like=a)", "array_split": "np.array_split(a, 2)",
    "asarray": "np.asarray([1, 2], like=a)", "ascontiguousarray": "np.ascontiguousarray([1, 2], like=a)",
    "average": "np.average(a, 1, weights=np.abs(v))", "bincount": "np.bincount(i)", "bitwise_and": "np.bitwise_and(i, 1)",
    "bitwise_or": "np.bitwise_or(i, 1)", "broadcast_arrays": "np.broadcast_arrays(a, v)", "broadcast_to": "np.broadcast_to(v, (2, 4))",
    "choose": "np.choose(i, [i, i + 1, i + 2, i + 3])", "clip": "np.clip(a, -1, 3)", "compress": "np.compress([True, False, True], a, 0)",
    "convolve": "np.convolve(v, v[:3])", "correlate": "np.correlate(v, v[:3], 'full')", "cross": "np.cross(a[:, :3], a[:, 1:])",
    "delete": "np.delete(a, 1, 0)", "diag": "np.diag(v)", "digitize": "np.digitize(a, up)", "dot": "np.dot(a, v)",
    "dsplit": "np.dsplit(a[None], 2)", "einsum": "np.einsum('ij,j', a, v)", "expand_dims": "np.expand_dims(a, 1)", "extract": "np.extract(a > 0, a)",
    "eye": "np.eye(3, like=a)", "full": "np.full((2, 3), 7, like=a)", "full_like": "np.full_like(a, 7)", "gradient": "np.gradient(a, axis=1)",
    "heaviside": "np.heaviside(a, 0.5)", "histogram": "np.histogram(a, [0, 1, 3, 6])[0]", "histogram2d": "np.histogram2d(v, v)[0]",
    "hsplit": "np.hsplit(a, 2)", "identity": "np.identity(3, like=a)", "inner": "np.inner(a, v)", "insert": "np.insert(a, 1, v, 0)",
    "interp": "np.interp(a, up, v)", "invert": "np.invert(i)", "ix_": "np.ix_(i, i)", "kron": "np.kron(a, v)", "lexsort": "np.lexsort((v, v))",
    "linalg.matrix_power": "np.linalg.matrix_power(a[:, :3], 2)", "linspace": "np.linspace(v, 5, 4)", "logical_not": "np.logical_not(a > 0)",
    "matmul": "np.matmul(a, a.T)", "meshgrid": "np.meshgrid(v, up)", "moveaxis": "np.moveaxis(a, 0, 1)", "outer": "np.outer(v, up)",
    "nan_to_num": "np.nan_to_num(gaps)", "nanpercentile": "np.nanpercentile(gaps, 30)", "nanquantile": "np.nanquantile(gaps, 0.3)",
    "pad": "np.pad(a, 1)", "partition": "np.partition(a, 1)[..., 1]", "percentile": "np.percentile(a, 30, axis=0)",
    "piecewise": "np.piecewise(a, [a > 0], [lambda x: x, 0])", "polyfit": "np.polyfit(v, v, 1)", "polyval": "np.polyval(v, a)",
    "power": "np.power(a, 2)", "quantile": "np.quantile(a, 0.3, axis=0)", "repeat": "np.repeat(a, 2, axis=0)", "reshape": "np.reshape(a, (4, 3))",
    "reciprocal": "np.reciprocal(a + 0.75)", "resize": "np.resize(a, (5, 5))", "result_type": "np.result_type(a, np.int8)",
    "roll": "np.roll(a, 1, axis=0)", "rollaxis": "np.rollaxis(a, 1)", "searchsorted": "np.searchsorted(up, a)",
    "select": "np.select([a > 2, a > 0], [a, -a], 9)", "split": "np.split(a, 2, axis=1)", "swapaxes": "np.swapaxes(a, 0, 1)",
    "take": "np.take(a, [0, 2], axis=1)", "take_along_axis": "np.take_along_axis(a, i[None, :4], axis=1)", "tensordot": "np.tensordot(a, v, 1)",
    "tile": "np.tile(a, 2)", "trapezoid": "np.trapezoid(a, up)", "unravel_index": "np.unravel_index(i, (2, 2))", "vdot": "np.vdot(v, up)",
    "vsplit": "np.vsplit(a, 3)", "where": "np.where(a > 0, a, 0)",
}  # fmt: skip
# Those on the device by subject, as the guide lists them.
SUBJECTS = {
    "making arrays": """
        arange array asarray ascontiguousarray copy diag empty empty_like eye full full_like identity ix_ linspace
        meshgrid ones ones_like tril triu zeros zeros_like
    """,
    "arithmetic and rounding": """
        abs absolute add around cbrt ceil clip copysign divide fix float_power floor floor_divide fmax fmin fmod
        heaviside maximum minimum mod modf multiply nan_to_num negative nextafter positive power real reciprocal
        remainder rint round sign sqrt square subtract true_divide trunc
    """,
    "exponentials, angles": """
        arccos arcsin arcsinh arctan arctan2 cos cosh deg2rad degrees exp exp2 expm1 hypot log log10 log1p log2
        logaddexp logaddexp2 rad2deg radians sin sinc sinh tan tanh unwrap
    """,
    "comparisons, truth, bits": """
        all allclose any array_equal bitwise_and bitwise_or choose equal greater invert isclose isfinite isin isinf
        isnan isneginf isposinf isreal less logical_and logical_not logical_or logical_xor not_equal select signbit
        where
    """,
    "reductions, statistics": """
        argmax argmin average corrcoef count_nonzero cov cumprod cumsum diff gradient histogram max mean median min
        nanargmax nanargmin nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
        nanvar percentile prod ptp quantile std sum trapezoid var
    """,
    "shapes and joins": """
        append array_split atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to column_stack concatenate
        dsplit dstack expand_dims flip fliplr flipud hsplit hstack moveaxis ndim pad permute_dims ravel repeat reshape
        result_type roll rollaxis rot90 shape size split squeeze stack swapaxes tile transpose vsplit vstack
    """,
    "sorting, selecting, sets": """
        argpartition argsort argwhere compress delete digitize extract flatnonzero insert intersect1d lexsort nonzero
        partition searchsorted setdiff1d setxor1d sort take union1d unique
    """,
    "products, polynomials, signals": """
        convolve correlate cross dot einsum inner interp kron linalg.matrix_power linalg.norm matmul outer polyval
        tensordot trace vdot
    """,
}
KINDS = {
    "numbers": "on the device; of what they find, two numbers at most are read",
    "host": "on the host, through memory; the result is on the device",
    "error": "`TypeError`, which names what to call instead",
}


def called(name, make):
    call = CALLS.get(name, "np.{}(a)").format(name)
    arrays = {"a": make(A), "v": make(V), "gaps": make(GAPS), "i": make(I), "up": make(UP)}
    return eval(call, {"np": np}, arrays)


def flat(found):
    return list(found) if isinstance(found, (tuple, list)) and not isinstance(found, np.dtype) else [found]


@pytest.fixture
def read(monkeypatch):
    """How many elements each read of an array takes to the host."""
    sizes = []
    host = zs.Array._host
    monkeypatch.setattr(zs.Array, "_host", lambda self: sizes.append(self.size) or host(self))
    return sizes


def kind(name, read):
    """Where a function is computed, having held its values against NumPy's."""
    # Uploads for comparisons read nothing. An expression on the CPU path is no read either.
    try:
        ours = called(name, zs.asarray)
    except TypeError as error:
        text = str(error)
        assert f"{name.rpartition('.')[2]}" in text and ": " in text, text
        return "error"
    taken = list(read)
    theirs = called(name, np.asarray)
    assert len(flat(ours)) == len(flat(theirs)), name
    for own, other in zip(flat(ours), flat(theirs)):
        if isinstance(other, (np.ndarray, np.floating, np.integer)) and name not in ("ndim", "size"):
            assert isinstance(own, zs.Array), f"{name}: {type(own)}"
        if isinstance(other, np.dtype):
            assert own == other or name == "result_type"
        else:
            assert np.shape(own) == np.shape(other), name
            if not name.startswith("empty"):
                np.testing.assert_allclose(np.asarray(own), np.asarray(other), rtol=2e-5, atol=1e-5, err_msg=name)
    return "host" if any(size > 2 for size in taken) else "numbers" if taken else "device"


def test_each_is_on_the_device_or_a_remedy(read):
    assert len(MOST) == len(set(MOST)) == 100
    found = {}
    for name in sorted({*MOST, *OTHERS}):
        read.clear()
        found.setdefault(kind(name, read), []).append(name)
    subjects = {subject: names.split() for subject, names in SUBJECTS.items()}
    assert sorted(name for names in subjects.values() for name in names) == found["device"]
    groups = [*subjects.items(), *((KINDS[each], found[each]) for each in KINDS if each in found)]
    rows = [f"| {group} | {' '.join(f'`{name}`' for name in names)} |\n" for group, names in groups]
    table, page = HEAD + "".join(rows), GUIDE.read_text()
    written = re.search(re.escape(HEAD) + r"(?:\|.*\n)+", page)
    assert written, "the guide has no table of NumPy's functions"
    if os.environ.get("ZEROSTRIDE_BLESS"):
        GUIDE.write_text(page.replace(written[0], table))
    else:
        assert written[0] == table
