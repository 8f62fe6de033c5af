"""Each parameter of NumPy's functions and methods does what it does in NumPy, or is refused by a ``TypeError`` that names it.

Every parameter is given another value than its default, by name and by position. The value must change something in NumPy,
unless it is of the table of those that change nothing, so a parameter that is dropped cannot pass. A new parameter of NumPy has
no value here, or is refused and not in the list. ``ZEROSTRIDE_BLESS=1`` writes the list anew.
"""

import inspect
import os
import re
from pathlib import Path

import numpy as np
import pytest

import zerostride as zs
from zerostride._methods import _functions
from zerostride._signatures import INERT, _taken

REFUSED = Path(__file__).with_name("refused.txt")
numpys = _functions()
TABLES = numpys.FUNCTIONS | numpys.CREATION

needs_signatures = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy before 2.4 publishes no signatures of its functions in C"
)
pytestmark = pytest.mark.skipif(not zs.Device().supports("float64"), reason="NumPy's results are of float64")

A = np.array([[3, -1, 2, 5], [0.5, 4, -2, 1], [7, 0.25, 6, -3], [1, 2, 2.5, 8]])
ARRAYS = {
    "a": A, "b": A[::-1] / 4, "s": A @ A.T + np.eye(4), "c": np.arange(24.0).reshape(2, 3, 4), "q": np.arange(27.0).reshape(3, 3, 3) % 7, "v": A[0], "w": np.array([1.0, 2, 3, 2.5]),
    "g": np.where(A > 4, np.nan, A), "h": np.array([np.nan, np.inf, -np.inf, 1]), "i": np.array([3, 0, 2, 1]), "j": np.array([1, 1, 3, 7]),
    "m": A > 0, "k": np.array([[2, 0, 1, 1]]), "up": np.array([0.0, 1, 3, 6]), "u": np.array([[1.0], [2.0]]),
}  # fmt: skip
# The required arguments of a function, where they are not `a` alone.
REQUIRED = {
    **dict.fromkeys("cholesky cond inv det slogdet".split(), "s"), "matrix_rank": "np.triu(a, 1)", "svd": "b[:2]",
    **dict.fromkeys("linalg.matmul dot inner linalg.tensordot tensordot linalg.outer".split(), "a; b"),
    **dict.fromkeys("column_stack concatenate dstack hstack stack vstack block".split(), "[a, b > 0]"), "multi_dot": "[a, b]",
    **dict.fromkeys("nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar".split(), "g"),
    **dict.fromkeys("quantile percentile".split(), "a; 0.3"), **dict.fromkeys("nanquantile nanpercentile".split(), "g; 0.3"),
    **dict.fromkeys("array_repr array_str array2string".split(), "a / 3e6"),
    **dict.fromkeys("fliplr flipud isreal iscomplex imag real ravel flatnonzero argwhere nonzero".split(), "a"),
    **dict.fromkeys("intersect1d setxor1d union1d isin".split(), "j; i"), "setdiff1d": "i; j[2:]", "any": "m", "all": "m",
    **dict.fromkeys("unique_all unique_counts unique_inverse unique_values".split(), "j"), "unique": "g", "allclose": "g; g + 0.1",
    **dict.fromkeys("empty ones zeros".split(), "(2, 3)"), **dict.fromkeys("vsplit hsplit split array_split".split(), "a; 2"),
    **dict.fromkeys("isneginf isposinf nan_to_num".split(), "h"), **dict.fromkeys("moveaxis linalg.cross".split(), ""),
    **dict.fromkeys("vdot outer linalg.outer kron convolve correlate linalg.vecdot".split(), "v; w"), **dict.fromkeys("diag".split(), "v"),
    **dict.fromkeys("array asarray asanyarray ascontiguousarray".split(), "[3, 1]"), "append": "a; b", "arange": "5",
    "array_equal": "g; g", "array_equiv": "a; a[0]", "astype": "a; 'f4'", "bincount": "i", "broadcast_arrays": "a; v", "broadcast_to": "v; (2, 4)",
    "can_cast": "a; 'f4'", "choose": "i; [i, j, v, w]", "compress": "[True, False, True]; a", "copyto": "a; i", "cov": "a", "cross": "q; q ** 2",
    "delete": "a; 1", "digitize": "a; up", "dsplit": "c; 2", "einsum": "'ij,jk'; a; b", "expand_dims": "a; 1", "extract": "m; a", "eye": "3",
    "fill_diagonal": "a[:, :2]; 9", "full": "(2, 3); 7", "full_like": "a; 7", "heaviside": "a; 0.5", "identity": "3", "insert": "a; 1; 9.0",
    "interp": "a; up; w", "isclose": "g; g + 0.1", "ix_": "i; j", "lexsort": "(b, a)", "linalg.cross": "q; q ** 2", "linspace": "v; w + 9",
    "linalg.matrix_power": "a; 2", "linalg.solve": "s; v", "lstsq": "a; v", "may_share_memory": "a; 1.0 * a", "meshgrid": "v; up; i", "moveaxis": "c; 0; 2",
    "pad": "a; 1", "partition": "a; 1", "argpartition": "a; 1", "polyval": "v; a", "put_along_axis": "a; k; 9.0; 0", "putmask": "a; m; v", "ravel_multi_index": "(i, i); (4, 5)",
    "repeat": "a; 2", "reshape": "a; (2, 8)", "result_type": "a; 'i1'", "roll": "a; 1", "rollaxis": "c; 2", "searchsorted": "up; a", "select": "[m, a > -2]; [a, b]",
    "shares_memory": "a; 1.0 * a", "sliding_window_view": "a; (2, 2)", "solve": "s; v", "squeeze": "c[:1, :1]", "swapaxes": "a; 0; 1", "take": "a; [0, 5]", "take_along_axis": "a; i[:, None]",
    "tile": "a; 2", "trapezoid": "a", "unravel_index": "i; (2, 3)", "where": "m", "concat": "[a, b]", "linalg.vecdot": "a; b",
    "linalg.trace": "a", "linalg.diagonal": "a",
    "Array.astype": "'f4'", "Array.compress": "[True, False, True]", "Array.dot": "b", "Array.repeat": "2", "Array.reshape": "2; 8", "Array.searchsorted": "3",
    "Array.swapaxes": "0; 1", "Array.take": "[0, 5]", "Array.to_device": "'cpu'",
}  # fmt: skip
ON = {"Array.searchsorted": "up", "Array.any": "m", "Array.all": "m", "Array.squeeze": "c[:1, :1]"}
# Another value than the default: of a parameter of one function, or of each function with such a parameter.
OTHER = {
    "assume_unique": "True", "atol": "9.0", "aweights": "w", "axes": "1", "axis": "0", "axis1": "1", "axis2": "0", "axisa": "1", "axisb": "1", "axisc": "0",
    "bias": "True", "bins": "4", "casting": "'no'", "compute_uv": "False", "constant_values": "7", "copy": "False", "correction": "1", "ddof": "2",
    "decimals": "1", "default": "9", "density": "True", "device": "'cpu'", "discont": "6.5", "dtype": "'f4'", "dx": "0.5", "edge_order": "2", "end_values": "7", "endpoint": "False",
    "equal_nan": "True", "full_matrices": "False", "fweights": "j", "hermitian": "True", "include_initial": "True", "indexing": "'ij'", "initial": "9.5",
    "invert": "True", "k": "1", "keepdims": "True", "kind": "'stable'", "left": "9.0", "M": "2", "max": "3", "a_max": "3", "max_line_width": "20", "max_work": "1",
    "mean": "0.5", "method": "'lower'", "min": "1", "a_min": "1", "minlength": "9", "mode": "'same'", "n": "2", "nan": "5.0", "ndmax": "1", "ndmin": "3", "neginf": "-5.0",
    "num": "7", "offset": "1", "optimize": "True", "ord": "1", "order": "'F'", "overwrite_input": "True", "p": "1", "period": "2", "posinf": "5.0", "precision": "1", "prepend": "9.0", "append": "8.0",
    "rcond": "0.5", "reflect_type": "'odd'", "retstep": "True", "return_counts": "True", "return_index": "True", "return_indices": "True", "return_inverse": "True",
    "range": "(0, 3)", "returned": "True", "stream": "1", "separator": "'; '", "prefix": "'      '", "formatter": "{'float': str}",
    "threshold": "3", "edgeitems": "1", "sign": "'+'", "floatmode": "'unique'", "suffix": "'x' * 60", "legacy": "'1.13'", "right": "True", "rowvar": "False", "rtol": "0.5", "shape": "(5,)", "side": "'right'", "sorted": "False", "sorter": "[0, 0, 1, 2]", "sparse": "True",
    "stable": "True", "start": "1", "stat_length": "1", "step": "2", "stop": "9", "subok": "True", "suppress_small": "True", "to_begin": "7.0", "to_end": "7.0", "tol": "100", "UPLO": "'U'",
    "upper": "True", "weights": "w", "where": "m", "wrap": "True", "writeable": "True", "x": "w", "y": "b",
}  # fmt: skip


# A parameter that shows only beside another one, and that one.
BESIDE = {
    **dict.fromkeys("max.where amax.where nanmax.where Array.max.where".split(), "initial=-9.5"), "clip.a_min": "a_max=3", "clip.a_max": "a_min=1",
    **dict.fromkeys("min.where amin.where nanmin.where Array.min.where".split(), "initial=9.5"), "allclose.rtol": "equal_nan=True",
    "allclose.atol": "equal_nan=True", "allclose.equal_nan": "atol=9.0", "array2string.threshold": "edgeitems=1", "array2string.edgeitems": "threshold=3",
    "cov.bias": "aweights=w", "pad.reflect_type": "mode='reflect'", "pad.stat_length": "mode='maximum'", "pad.end_values": "mode='linear_ramp'",
    "einsum.casting": "dtype='f4'",
    **{f"cumulative_{name}.{each}": "axis=0" for name in ("sum", "prod") for each in ("dtype", "out", "include_initial")},
}  # fmt: skip
OTHER_OF = {
    **dict.fromkeys("concatenate.axis stack.axis unstack.axis array_split.axis split.axis linspace.axis".split(), "-1"),
    **dict.fromkeys("min.initial amin.initial nanmin.initial Array.min.initial".split(), "-9.5"), "rot90.k": "2", "can_cast.casting": "'same_kind'",
    **dict.fromkeys("max.where amax.where nanmax.where Array.max.where".split(), "a < 3"), "any.where": "a < 0", "Array.any.where": "a < 0",
    "sliding_window_view.axis": "(1, 0)", "transpose.axes": "(0, 1)", "permute_dims.axes": "(0, 1)", "unique.equal_nan": "False",
    "einsum.casting": "'unsafe'", "isin.kind": "'sort'", "partition.kind": "'introselect'", "argpartition.kind": "'introselect'",
}  # fmt: skip
# Parameters of NumPy that its signature hides behind **kwargs.
HIDDEN = {
    "einsum": "dtype casting order", "pad": "constant_values end_values stat_length reflect_type", "clip": "where dtype casting order subok",
    "Array.clip": "where dtype casting order subok", "Array.max": "keepdims initial where", "Array.min": "keepdims initial where",
    "Array.sum": "keepdims initial where", "Array.prod": "keepdims initial where", "Array.mean": "keepdims where",
    "Array.std": "keepdims where mean", "Array.var": "keepdims where mean",
}  # fmt: skip
# Parameters that change no value in NumPy either, beyond those of INERT, and why.
SAME = {
    "device": "NumPy has one device", "copy": "it is a matter of memory", "max_work": "arrays are found to be apart at once",
    "tol": "no number is complex",
}


def name_of(theirs):
    name = theirs.__name__
    return f"linalg.{name}" if theirs.__module__ == "numpy.linalg" and hasattr(np, name) else name


FUNCTIONS = {name_of(theirs): theirs for theirs in TABLES}
METHODS = {
    f"Array.{name}": getattr(np.ndarray, name)
    for name in dir(np.ndarray)
    if not name.startswith("_") and hasattr(zs.Array, name) and callable(getattr(np.ndarray, name))
}


def cases():
    """Each optional parameter of each function and method, with the default."""
    for name, theirs in (FUNCTIONS | METHODS).items():
        for parameter in inspect.signature(theirs).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                yield from ((name, hidden, None) for hidden in HIDDEN[name].split())
            elif parameter.default is not parameter.empty and parameter.name != "like":
                yield name, parameter.name, parameter


def outcome(name, arguments, make):
    """What a call of a text of arguments returns, and what it leaves in the arrays. Or what it raises."""
    arrays = {each: make(array) for each, array in ARRAYS.items()}
    theirs = FUNCTIONS.get(name)
    if theirs in numpys.CREATION:
        arguments = f"{arguments}, like=a"
    function = f"({ON.get(name, 'a')}).{name.removeprefix('Array.')}" if theirs is None else "function"
    try:
        with np.errstate(all="ignore"):
            found = eval(f"{function}({arguments})", {"np": np, "function": theirs, "out": make.out}, arrays)
    except Exception as error:
        return error, []
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    if name.startswith("empty"):
        found = [np.zeros_like(np.array(found[0]))]
    return tuple([np.array(x) if isinstance(x, (np.ndarray, np.generic, zs.Array)) else x for x in each] for each in (found, arrays.values()))


class Make:
    """Makes arrays of NumPy, or of ours, and an array `out` for a result like another one."""

    def __init__(self, array, result):
        is_array = isinstance(result, (np.ndarray, np.generic))
        self.array, self.out = array, array(np.zeros_like(result) if np.any(result) else np.ones_like(result)) if is_array else None

    def __call__(self, array):
        return self.array(array.copy())


def is_same(one, other):
    if isinstance(other, (tuple, list)):
        return isinstance(one, type(other)) and len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(other, Exception):
        return isinstance(one, type(other))
    if isinstance(other, np.ndarray):
        is_alike = isinstance(one, np.ndarray) and (one.dtype, one.shape) == (other.dtype, other.shape)
        return is_alike and np.allclose(one, other, rtol=1e-5, atol=1e-6, equal_nan=True)
    return type(one) is type(other) and one == other


def joined(*parts):
    return ", ".join(part for part in parts if part)


def refused(name, parameter, published):
    """Whether a parameter is refused, having held it against NumPy."""
    what = f"{name}.{parameter}"
    required, beside = REQUIRED.get(name, "" if name in METHODS else "a").replace(";", ","), BESIDE.get(what, "")
    base = outcome(name, joined(required, beside), Make(np.asarray, None))
    value = "out" if parameter == "out" else OTHER_OF.get(what) or OTHER.get(parameter)
    assert value is not None, f"{what} is new: it needs a value in OTHER"
    like = None if isinstance(base[0], Exception) else base[0][0]
    theirs_make, ours_make = (Make(array, like) for array in (np.asarray, zs.asarray))
    by_name = joined(required, beside, f"{parameter}={value}")
    expected, got = outcome(name, by_name, theirs_make), outcome(name, by_name, ours_make)
    if is_refusal(got[0], parameter) and not isinstance(expected[0], TypeError):
        if published is not None and published.default is not np._NoValue:
            default = outcome(name, joined(required, beside, f"{parameter}={published.default!r}"), ours_make)
            assert is_same(default, base), (what, "by its default", default)
        return True
    is_taken = name in METHODS or parameter in _taken(TABLES[FUNCTIONS[name]])[1]
    if not is_taken:
        assert is_same(expected[0], base[0]) or parameter in ("assume_unique", "sorted"), f"{what} is in INERT and changes a value"
        expected = base
    elif name == "array_repr":
        # Ours names the device.
        base = expected = outcome(name, joined(required, beside), ours_make)
        assert not is_same(got, expected), what
        return False
    elif parameter == "out":
        assert is_same([np.array(ours_make.out)], [theirs_make.out]), what
    elif parameter not in SAME and not (name in METHODS and parameter in INERT):
        assert not is_same(expected, base), f"{what} by {value} changes nothing in NumPy: choose another value"
    assert is_same(got, expected), (what, value, got[0], expected[0])
    if published is not None and published.kind is published.POSITIONAL_OR_KEYWORD:
        before, after = [], beside
        for each in inspect.signature((FUNCTIONS | METHODS)[name]).parameters.values():
            if each.name == parameter:
                break
            if each.default is not each.empty:
                default = {np._NoValue: "np._NoValue", float: "float"}.get(each.default, repr(each.default))
                if beside.startswith(f"{each.name}="):
                    default, after = beside.partition("=")[2], ""
                before.append(default)
        got = outcome(name, joined(required, *before, value, after), ours_make)
        assert is_same(got, expected), (what, "by position", got[0], expected[0])
    return False


def is_refusal(error, parameter):
    return isinstance(error, TypeError) and re.search(rf"takes no {parameter}:|keyword argument '{parameter}'", str(error))


@needs_signatures
def test_each_parameter_is_honoured_or_refused():
    faults, found = [], []
    for name, parameter, published in cases():
        try:
            if refused(name, parameter, published):
                found.append(f"{name} {parameter}\n")
        except AssertionError as fault:
            faults.append(str(fault).partition("\nassert")[0])
    assert not faults, "\n".join(faults)
    found = "".join(sorted(found))
    if os.environ.get("ZEROSTRIDE_BLESS"):
        REFUSED.write_text(found)
    else:
        assert REFUSED.read_text() == found


@needs_signatures
def test_ours_have_numpys_parameters():
    """Arguments by position are not moved by a function of ours, and none has names that are not looked at."""
    for name, theirs in FUNCTIONS.items():
        ours, published = (list(inspect.signature(each).parameters.values()) for each in (TABLES[theirs], theirs))
        assert all(each.kind is not each.VAR_KEYWORD for each in ours), name
        order = [each.name for each in published if each.default is not each.empty and each.kind is not each.KEYWORD_ONLY]
        own = [each.name for each in ours if each.default is not each.empty and each.kind is each.POSITIONAL_OR_KEYWORD]
        known = {each.name for each in published} | set(HIDDEN.get(name, "").split()) | ({"device"} if theirs in numpys.CREATION else set())
        assert own[: len(order)] == order[: len(own)] and {each.name for each in ours if each.default is not each.empty} <= known, name
        count = sum(each.default is each.empty for each in published)
        assert sum(each.default is each.empty for each in ours) in (count, count - 1), name


@pytest.mark.parametrize("call", [
    lambda x: np.sort(kind="stable", axis=0, a=x), lambda x: np.reshape(x, shape=(8, 2)), lambda x: np.tile(reps=2, A=x),
    lambda x: np.convolve(v=[1, 2], a=x[0]), lambda x: np.full_like(fill_value=3, a=x), lambda x: np.take(x, indices=[0, 3], axis=1),
])  # fmt: skip
def test_required_ones_by_name(call):
    assert is_same(np.array(call(zs.asarray(A))), call(A))


def test_item_takes_a_place():
    for call in ("item(5)", "item(-1)", "item(1, 2)", "item((1, 2))", "item(99)", "item(9, 9)"):
        found = []
        for x in (zs.asarray(A), A):
            try:
                found.append(eval(f"x.{call}", {"x": x}))
            except IndexError as error:
                found.append(type(error))
        assert found[0] == found[1], call


def test_refusals_name_the_parameter():
    x = zs.asarray(A)
    for call, text in (
        (lambda: np.var(x, mean=1.0), "numpy.var of zerostride takes no mean: leave it out, or pass numpy.asarray"),
        (lambda: x.var(mean=1.0), "numpy.var of zerostride takes no mean"),
        (lambda: x.sum(wherre=x > 0), "numpy.sum: got an unexpected keyword argument 'wherre'"),
        (lambda: np.sort(x, kind="quickest"), "numpy.sort of zerostride takes no kind"),
        (lambda: np.concatenate([x, x], dtype="i4"), "casting='same_kind'"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()
