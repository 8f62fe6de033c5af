"""NumPy's functions and the methods of arrays beside NumPy's, in calls that are drawn from their signatures.

Values, shapes, types, containers and kinds of errors are NumPy's, but for the differences that the guide lists. Parameters of
``refused.txt`` are not drawn. ``ZEROSTRIDE_DRAWN=SECONDS`` draws for longer, and ``ZEROSTRIDE_SEED`` draws a call again.
"""

import inspect
import warnings

import numpy as np
import pytest
from argument_draws import Draw, Host
from drawn import MESSAGES, draw, must_differ, rows_of_the_guide, same_kind_of_error
from function_draws import ALL, ALWAYS, OF
from test_signatures import FUNCTIONS, METHODS, REFUSED, needs_signatures

import zerostride as zs
from zerostride._methods import _functions

pytestmark = [needs_signatures, pytest.mark.skipif(not zs.Device().supports("float64"), reason="NumPy's results are of float64")]

CREATION = _functions().CREATION
# Functions that are not drawn, and why.
APART = {
    **dict.fromkeys("may_share_memory shares_memory".split(), "an array that is made again shares no memory: test_memory.py"),
    **dict.fromkeys("array_repr Array.to_device".split(), "the device is in the result: test_signatures.py"),
    **dict.fromkeys("Array.conj Array.conjugate".split(), "universal functions: test_ufuncs_drawn.py"),
}
NAMES = sorted((FUNCTIONS.keys() | METHODS.keys()) - APART.keys())
PARTS = {tuple(line.split()) for line in REFUSED.read_text().splitlines()}
# Functions whose floats depend on the order of additions or on a library.
INEXACT = set(
    "average convolve corrcoef correlate cov cross cumprod cumsum cumulative_prod cumulative_sum dot einsum gradient histogram inner interp "
    "kron linspace mean nancumprod nancumsum nanmean nanprod nanstd nansum nanvar outer polyval prod sinc std sum tensordot trace trapezoid unwrap var vdot "
    "percentile quantile nanpercentile nanquantile median nanmedian diff pad bincount round around ptp".split()
)
# Functions for which -0 and 0 are one number.
ORDERED = set("max min amax amin nanmax nanmin sort partition unique unique_all unique_counts unique_inverse unique_values union1d".split())
ORDERED |= set("intersect1d setdiff1d setxor1d clip ptp nan_to_num median nanmedian".split())


def parameters(name):
    """The parameters of a function, and how each is drawn. None is not drawn."""
    short = name.removeprefix("Array.")
    for each in inspect.signature((FUNCTIONS | METHODS)[name]).parameters.values():
        if each.name == "like" or (name, each.name) in PARTS:
            continue
        keys = [f"{name}.{each.name}", f"{short}.{each.name}"]
        known = [table[key] for table, key in ((OF, keys[0]), (OF, keys[1]), (ALL, each.name)) if key in table]
        if known:
            yield each, known[0]
        elif each.name != "out":
            raise AssertionError(f"{name}.{each.name} is new: it needs a way to be drawn in function_draws.py")
        else:
            yield each, None


class Call:
    """A call, drawn from a seed."""

    def __init__(self, seed):
        self.seed = seed
        d = self.d = Draw(seed)
        self.name = d.pick(NAMES)
        self.short = self.name.removeprefix("Array.").removeprefix("linalg.")
        self.theirs = (FUNCTIONS | METHODS)[self.name]
        self.arguments, self.options, takes_out = [], {}, False
        for each, kind in parameters(self.name):
            if each.name == "out":
                takes_out = True
            elif kind is None:
                continue
            elif each.kind is each.VAR_POSITIONAL:
                self.arguments += kind(d)
            elif each.kind is each.VAR_KEYWORD:
                self.options.update(kind(d) if d.chance(0.5) else {})
            elif each.default is each.empty:
                d.arguments[each.name] = kind(d)
                self.arguments.append(d.arguments[each.name])
            elif f"{self.short}.{each.name}" in ALWAYS or d.chance(0.6 if each.name == "axis" else 0.25):
                d.arguments[each.name] = kind(d)
                if each.kind is each.POSITIONAL_ONLY:
                    self.arguments.append(d.arguments[each.name])
                else:
                    self.options[each.name] = d.arguments[each.name]
        if self.theirs in CREATION:
            self.options["like"] = d.values(d.types[0], (2,))
        self.first = d.first
        self.settle()
        if takes_out and d.chance(0.2):
            self.result, _ = found, _ = outcome(self, plain)
            if isinstance(found, (np.ndarray, np.generic)):
                shape = found.shape if d.chance(0.9) else (*found.shape, 2)
                self.options["out"] = d.values(found.dtype if d.chance(0.6) else d.pick(d.types), shape, True)

    def settle(self):
        """Floats that an integer type does not hold have no value in NumPy, and float16 holds few sums."""
        default = self.first if self.short in ("full_like", "insert") else "f8"
        dtype = self.options.get("dtype", self.d.arguments.get("dtype", self.d.arguments.get("dst", default)))
        dtype = getattr(dtype, "dtype", dtype)
        if self.is_quantile() or self.short in ("round", "around", "histogram", "linspace"):
            # Differences of integers wrap around in NumPy, and it rounds and counts them as floats.
            for x in self.arrays():
                if x.dtype.kind in "iu":
                    x[...] = x % 8
        if self.short == "unique" and "axis" in self.options and self.first.dtype.kind == "f":
            # Slices with NaN have no order in NumPy.
            self.first[...] = np.where(np.isnan(self.first), 3, self.first)
        if np.dtype(dtype).kind in "iu" or np.dtype(dtype).itemsize == 2:
            for x in self.arrays():
                if x.dtype.kind == "f" or x.dtype.kind != "b" and np.dtype(dtype).kind == "f":
                    x[...] = np.where(np.isfinite(x), abs(x) % 8, 1)

    def is_quantile(self):
        return any(each in self.short for each in ("quantile", "percentile", "median"))

    def arrays(self):
        found = [x.array if isinstance(x, Host) else x for x in leaves([self.arguments, self.options])]
        return [x for x in found if isinstance(x, np.ndarray)]

    def types(self):
        """The types of arrays, numbers and types themselves."""
        found = [*self.arrays(), *leaves([self.arguments, self.options])]
        return {x if isinstance(x, np.dtype) else np.asarray(x).dtype for x in found if isinstance(x, (np.ndarray, np.dtype, int, float))}

    def without_one(self, wrap):
        """What the call gives without each of its options, and without all: it has mistakes less."""
        options, found = self.options, []
        names = options.keys() - {"like"}
        for left_out in [*({name} for name in names), names]:
            self.options = {each: value for each, value in options.items() if each not in left_out}
            found.append(outcome(self, wrap)[0])
        self.options = options
        if self.short in ("insert", "put_along_axis"):
            arguments, self.arguments = self.arguments, [*self.arguments[:2], 1, *self.arguments[3:]]
            found.append(outcome(self, wrap)[0])
            self.arguments = arguments
        return found

    def called(self, wrap):
        """What the call returns, and what it leaves in its arrays."""
        arguments, options = wrap(self.arguments), wrap(self.options)
        found = self.theirs(*arguments, **options) if self.name not in METHODS else getattr(arguments[0], self.short)(*arguments[1:], **options)
        return found, [arguments, options]

    def tolerance(self, *types):
        """The relative and the absolute tolerance of results."""
        is_exact = self.short not in INEXACT and getattr(self.theirs, "__module__", "") != "numpy.linalg"
        if is_exact and not is_mixed(self):
            return 0, 0
        types = [each for each in (*types, *(x.dtype for x in self.arrays())) if each.kind == "f"]
        if isinstance(self.options.get("dtype"), (str, type, np.dtype)) and np.dtype(self.options["dtype"]).kind == "f":
            types.append(np.dtype(self.options["dtype"]))
        epsilon = max(float(np.finfo(each).eps) for each in types)
        scale = 1.0
        for x in self.arrays():
            wide = abs(x[np.isfinite(x)].astype("f8"))
            scale *= max(float(wide.max(initial=1)), 1) * max(x.size, 1) ** 0.5
        if self.short in ("var", "nanvar", "cov", "std", "nanstd", "det", "matrix_power", "polyval"):
            scale **= 2
        return 16 * epsilon, 0 if is_exact else 16 * epsilon * scale

    def __str__(self):
        given = ", ".join([*map(repr, self.arguments), *(f"{name}={value!r}" for name, value in self.options.items())])
        return f"ZEROSTRIDE_SEED={self.seed}: {self.name}({given})"


def leaves(found):
    if isinstance(found, (tuple, list)):
        return [leaf for each in found for leaf in leaves(each)]
    return leaves(list(found.values())) if isinstance(found, dict) else [found]


def wrapped(array):
    """A function that makes arrays of those of a call."""

    def wrap(x):
        if isinstance(x, Host):
            return x.array.copy()
        if isinstance(x, dict):
            return {name: wrap(each) for name, each in x.items()}
        if isinstance(x, (tuple, list)):
            return type(x)(wrap(each) for each in x)
        return array(x) if isinstance(x, np.ndarray) else x

    return wrap


def viewed(x):
    """An array of ours. That of one that does not lie row by row is a view."""
    return zs.asarray(x) if x.flags.c_contiguous else zs.asarray(np.ascontiguousarray(x[::-1].T)).T[::-1]


plain, ours_of = wrapped(np.array), wrapped(viewed)


def outcome(call, wrap):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call.called(wrap)
        except tuple(MESSAGES) as error:
            return error, []


def is_mixed(call):
    """Whether an integer stands beside a float."""
    kinds = {each.kind for each in call.types()}
    return kinds & set("iu") and "f" in kinds


def has_two_kinds(call):
    """Whether uint64 stands beside a signed integer, which numbers of lists and of NumPy's defaults are."""
    types = call.types()
    return np.dtype("uint64") in types and any(each.kind == "i" for each in types)


def goes_elsewhere(call):
    """Whether `out` is not like the result. NumPy may refuse one that is."""
    return "out" in call.options


# Functions that compute in float64 in NumPy.
NARROW = ("average", "cov", "corrcoef", "interp")
# The rows of the guide's table, and the calls that they excuse.
DIFFERENCES = {
    "an integer beside a float": is_mixed,
    "`uint64` beside a signed integer": has_two_kinds,
    "`out=` of another type or shape": goes_elsewhere,
    "axis 0 of an array without axes": lambda call: call.d.rank == 0 and call.options.get("axis") in (0, -1),
    "`dtype=` of integers for means, variances and deviations": lambda call: call.short.removeprefix("nan") in ("mean", "var", "std")
    and np.dtype(call.options.get("dtype", "f8")).kind != "f",
    "float16 and float32 in `average`, `cov`, `corrcoef` and `interp`, and in quantiles at a list of places": lambda call: call.short in NARROW
    or call.is_quantile(),
    "quantiles of no elements": lambda call: call.is_quantile() and not call.first.size,
    "quantiles at or between infinities": lambda call: call.is_quantile() and np.any(np.isinf(call.first)),
    "float16 in `numpy.linalg`": lambda call: getattr(call.theirs, "__module__", "") == "numpy.linalg" and np.dtype("float16") in call.types(),
    "`cross` of vectors of two elements": lambda call: call.short == "cross" and any(2 in x.shape for x in call.arrays()),
    "lengths 1 and n for a letter of `einsum`": lambda call: call.short == "einsum",
    "an index outside of an axis, if the result has no elements": lambda call: call.short in ("take", "compress") and not all(x.size for x in call.arrays()),
    "a value of a higher kind in `copyto` and `put_along_axis`": lambda call: call.short in ("copyto", "put_along_axis"),
    "`insert` and `putmask` of floats that an integer type does not hold": lambda call: call.short in ("insert", "putmask") and is_mixed(call),
    "negative numbers beside unsigned integers in `union1d` and `where`": lambda call: call.short in ("union1d", "where"),
    "numbers in `diff`": lambda call: call.short == "diff" and not {type(x) for x in call.options.values()}.isdisjoint({int, float, bool, list}),
    "infinities and NaN in `convolve` and `correlate`": lambda call: call.short in ("convolve", "correlate") and not np.all(np.isfinite(call.arguments[1])),
    "sums and differences of integers in `gradient`, `quantile`, `trapezoid` and `unwrap`": lambda call: call.short in ("gradient", "trapezoid", "unwrap")
    and any(x.dtype.kind != "f" for x in call.arrays()),
    "`uint64` for indices and counts": lambda call: call.short in ("choose", "take", "repeat", "put_along_axis", "take_along_axis", "bincount")
    and np.dtype("uint64") in call.types(),
    "`unique_values`": lambda call: call.short == "unique_values",
    "`round` of truth values": lambda call: call.short in ("round", "around") and call.first.dtype == bool,
}  # fmt: skip


def raises(ours=object, theirs=object):
    return lambda call, own, their: isinstance(own, ours) and isinstance(their, theirs)


# Outcomes that a row excuses whole: a result, or an error, of ours and of NumPy. Other rows excuse types and values in `same`.
EXCUSES = {
    "an integer beside a float": lambda call, ours, theirs: isinstance(ours, TypeError) and "casting" in call.options,
    "`uint64` beside a signed integer": raises(TypeError),
    "`out=` of another type or shape": lambda call, ours, theirs: isinstance(theirs, Exception) and not isinstance(call.result, Exception),
    "axis 0 of an array without axes": raises(theirs=np.exceptions.AxisError),
    "`dtype=` of integers for means, variances and deviations": raises(TypeError),
    "quantiles of no elements": raises(),
    "float16 in `numpy.linalg`": raises(theirs=TypeError),
    "`cross` of vectors of two elements": raises(ValueError),
    "lengths 1 and n for a letter of `einsum`": lambda call, ours, theirs: "has lengths" in str(ours),
    "an index outside of an axis, if the result has no elements": raises(IndexError),
    "a value of a higher kind in `copyto` and `put_along_axis`": lambda call, ours, theirs: "written to an array" in str(ours),
    "`insert` and `putmask` of floats that an integer type does not hold": raises(theirs=(OverflowError, ValueError)),
    "negative numbers beside unsigned integers in `union1d` and `where`": raises(OverflowError),
    "numbers in `diff`": raises(),
    "sums and differences of integers in `gradient`, `quantile`, `trapezoid` and `unwrap`": raises(),
    "`uint64` for indices and counts": raises(theirs=TypeError),
    "`round` of truth values": raises(),
}
EXAMPLES = [
    lambda x: np.concatenate([x([1], "i4"), x([1], "f4")]),
    lambda x: np.concatenate([x([1], "u8"), x([1], "i1")]),
    lambda x: np.argmax(x([1, 2], "f4"), out=x(7, "u1")),
    lambda x: np.var(x(1, "f4"), axis=0),
    lambda x: np.mean(x([1, 2], "f4"), dtype="i4"),
    lambda x: np.cov(x([1, 2], "f4")),
    lambda x: np.nanquantile(x([], "f4"), [0.5]),
    lambda x: np.quantile(x([np.inf, np.inf], "f4"), 0.3),
    lambda x: np.linalg.det(x([[1]], "f2")),
    lambda x: np.cross(x([[1, 2]], "f4"), x([[3, 4, 5]], "f4")),
    lambda x: np.einsum("i,i", x([1], "f4"), x([1, 2], "f4")),
    lambda x: np.take(np.reshape(x([], "f4"), (0, 1)), x([3], "i4"), axis=1),
    lambda x: np.put_along_axis(x([1], "i4"), x([0], "i4"), x([1.5], "f4"), 0) or x(0, "i4"),
    lambda x: x(0, "u1") + np.insert(x([1], "u1"), 0, -2.5),
    lambda x: np.where(x([True], "?"), -1, x([1], "u8")),
    lambda x: np.diff(x([1, 2], "f4"), prepend=0),
    lambda x: np.convolve(x([1, 2], "f4"), x([1, np.inf], "f4")),
    lambda x: np.trapezoid(x([127, 127], "i1")),
    lambda x: np.choose(x([0], "u8"), x([[1]], "u1")),
    lambda x: np.unique_values(x([0, -2, -1], "i2")),
    lambda x: np.round(x([True], "?")),
]


def same(call, ours, theirs):
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, tuple if isinstance(theirs, tuple) else list), f"ours {type(ours)}, NumPy's {type(theirs)}"
        assert len(ours) == len(theirs), f"ours {len(ours)}, NumPy's {len(theirs)}"
        for own, their in zip(ours, theirs):
            same(call, own, their)
        return
    if isinstance(theirs, dict):
        return same(call, list(ours.values()), list(theirs.values()))
    if isinstance(theirs, np.dtype) and is_mixed(call):
        return
    if not isinstance(theirs, (np.ndarray, np.generic)):
        if isinstance(ours, zs.Array):
            # NumPy has a number of Python for an array without axes.
            assert ours.shape == (), f"ours {ours!r}, NumPy's {theirs!r}"
            ours = ours.item()
        assert type(ours) is type(theirs) and (ours == theirs or ours != ours), f"ours {ours!r}, NumPy's {theirs!r}"
        return
    assert isinstance(ours, (zs.Array, np.ndarray)), f"ours {type(ours)}"
    own, their = np.asarray(ours), np.asarray(theirs)
    assert own.shape == their.shape, f"ours {own.shape}, NumPy's {their.shape}"
    is_narrow = is_mixed(call) or call.short in NARROW or call.is_quantile()
    assert own.dtype == their.dtype or is_narrow and own.dtype.kind == their.dtype.kind == "f", f"ours {own.dtype}, NumPy's {their.dtype}"
    if call.short.startswith("empty"):
        return
    if call.short in ("convolve", "correlate"):
        known = ~np.isnan(own) | np.all(np.isfinite(call.arguments[0])) & np.all(np.isfinite(call.arguments[1]))
        own, their = own[known], their[known]
    if call.is_quantile():
        infinite = np.isnan(their) & np.any(np.isinf(call.first))
        own, their = own[~infinite], their[~infinite]
    rtol, atol = call.tolerance(own.dtype) if own.dtype.kind == "f" else (0, 0)
    np.testing.assert_allclose(own, their, rtol=rtol, atol=atol, err_msg="")
    if own.dtype.kind == "f" and not rtol and call.short not in ORDERED:
        zero = (own == 0) & (their == 0)
        assert np.array_equal(np.signbit(own[zero]), np.signbit(their[zero])), "the sign of a zero"


def check(seed):
    """Checks one call."""
    call = Call(seed)
    excused = [name for name, holds in DIFFERENCES.items() if holds(call)]
    try:
        (ours, left), (theirs, their_left) = outcome(call, ours_of), outcome(call, plain)
        if any(EXCUSES[row](call, ours, theirs) for row in excused if row in EXCUSES):
            return
        out = call.options.get("out")
        if out is not None and (call.result.dtype, call.result.shape) != (out.dtype, out.shape):
            theirs = call.result
            if not isinstance(ours, Exception):
                casting = call.options.get("casting", "same_kind")
                assert ours.dtype == out.dtype and np.can_cast(theirs.dtype, out.dtype, casting), "the type of out"
                same(call, ours, np.broadcast_to(theirs.astype(out.dtype), out.shape))
            return
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            same_kind_of_error(ours, theirs, call.without_one(ours_of), call.without_one(plain))
            return
        if call.short == "unique_values":
            theirs = np.sort(theirs)
        if call.short in ("partition", "argpartition"):
            # The order of the others is free.
            axis, x = call.options.get("axis", -1), np.atleast_1d(call.first)
            ours = np.asarray(ours if call.short == "partition" else np.take_along_axis(x, np.asarray(ours), axis))
            theirs = np.sort(x, axis)
        same(call, ours, theirs)
        same(call, left, their_left)
    except AssertionError as error:
        raise AssertionError(f"{call}\n{error}") from None


def test_each_parameter_is_drawn():
    for name in NAMES:
        list(parameters(name))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_the_guide_lists_the_differences():
    assert rows_of_the_guide("Other functions beside NumPy's") == list(DIFFERENCES)
    for row, example in zip(DIFFERENCES, EXAMPLES, strict=True):
        must_differ(row, example)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_drawn():
    draw(check, 12000 if zs.Device().name == "cpu" else 500)
