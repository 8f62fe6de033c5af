"""Universal functions beside NumPy's, in calls that are drawn.

A call is drawn with its types, shapes, values, method and options. Its result or its kind of error is NumPy's, but for the
differences that the guide lists. ``ZEROSTRIDE_DRAWN=SECONDS`` draws for longer, and ``ZEROSTRIDE_SEED`` draws a call again.
"""

import warnings

import numpy as np
import pytest
from drawn import FLOAT, INTEGER, MESSAGES, TYPES, broadcastable, draw, must_differ, number, rows_of_the_guide, same_kind_of_error, values

import zerostride as zs
from zerostride._ufuncs import _FOLDS, _SCANS, _of_ufunc

UFUNCS = sorted(
    {each for each in vars(np).values() if isinstance(each, np.ufunc) and _of_ufunc(each)}, key=lambda each: each.__name__
)
# The bounds of truth beside a number, which becomes the device's default integer.
LEAST, GREATEST = int(np.iinfo(INTEGER).min), int(np.iinfo(INTEGER).max)
# Functions with an exact result. The others may differ by ulps, of which NumPy's own have some.
INEXACT = set(
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh deg2rad degrees exp exp2 expm1 float_power hypot log "
    "log10 log1p log2 logaddexp logaddexp2 power rad2deg radians sin sinh tan tanh matmul vecdot matvec vecmat".split()
)


def has_own_float(call):
    """Whether NumPy computes in another float type than this package."""
    types = [x.dtype for x in call.arrays()]
    return not call.is_typed() and call.method != "at" and (
        len({t.kind for t in types} & set("iuf")) > 1 and "f" in {t.kind for t in types}
        or all(t.kind != "f" for t in types) and call.computes_floats()
    )


def of_device(dtype):
    """A type of a result of NumPy as the device has it, whose default types may have 32 bits."""
    widest = {"i": INTEGER, "u": INTEGER, "f": FLOAT}.get(dtype.kind, dtype).itemsize
    return np.dtype(f"{dtype.kind}{min(dtype.itemsize, widest)}")


def is_beyond(types):
    """Whether the device lacks the integer type that holds those of integers."""
    types = [each for each in types if each.kind in "iu"]
    return bool(types) and not zs.Device().supports(np.result_type(*types))


def is_mixed(types):
    """Whether types are uint64 and a signed integer."""
    return np.uint64 in types and any(each.kind == "i" for each in types)


# The rows of the guide's table, and the calls that they excuse.
DIFFERENCES = {
    "an integer beside a float": has_own_float,
    "`uint64` beside a signed integer": lambda call: is_mixed([x.dtype for x in call.arrays()])
    and not call.is_typed()
    and call.ufunc not in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
    "`where=` without `out=`": lambda call: "where" in call.options and "out" not in call.options and call.method in ("__call__", "outer"),
    "`order=\"F\"`": lambda call: call.options.get("order") == "F",
    "other methods": lambda call: call.method not in ("__call__", "outer")
    and call.ufunc.__name__ not in (_SCANS if call.method == "accumulate" else _FOLDS),
    "a reduction, or `at`, into a lower kind": lambda call: call.method not in ("__call__", "outer") and call.goes_lower(),
    "`conjugate` of truth values": lambda call: call.ufunc is np.conjugate and call.operands[0].dtype == bool and not call.is_typed(),
    "truth beside a number outside of `int64`": lambda call: any(type(x) is int and not LEAST <= x <= GREATEST for x in call.operands)
    and (call.arrays()[0].dtype == bool or "logical" in call.ufunc.__name__),
    "`floor_divide` of an infinity": lambda call: call.ufunc in (np.floor_divide, np.divmod),
    "`reciprocal` of the integer 0": lambda call: call.ufunc is np.reciprocal and call.arrays()[0].dtype.kind != "f",
}  # fmt: skip
REFUSED = (
    "`uint64` beside a signed integer", "`where=` without `out=`", '`order="F"`', "other methods", "a reduction, or `at`, into a lower kind",
    "`conjugate` of truth values",
)  # fmt: skip


# A call for each row, in which both differ. That of reciprocals depends on the machine.
EXAMPLES = [
    lambda x: np.add(x([1], "i4"), x([1], "f4")),
    lambda x: np.add(x([1], "u8"), x([1], "i1")),
    lambda x: np.add(x([1], "f4"), 1, where=x([True], "?")),
    lambda x: np.add(x([1], "f4"), 1, order="F"),
    lambda x: np.subtract.reduce(x([1], "f4")),
    lambda x: np.add.reduce(x([[1.5]], "f4"), out=x([1], "i4")),
    lambda x: np.conjugate(x([True], "?")),
    lambda x: np.less(x([True], "?"), 2**63),
    lambda x: np.floor_divide(x([1], "f4"), np.float32(-np.inf)),
]


class Call:
    """A call, drawn from a seed."""

    def __init__(self, seed):
        self.seed = seed
        random = np.random.default_rng(seed)

        def pick(of):
            return of[random.integers(len(of))]

        self.ufunc = ufunc = pick(UFUNCS)
        methods = ["__call__"] * 6
        if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            methods += ["outer", "reduce", "reduce", "accumulate", "reduceat", "at"]
            if ufunc.__name__ in _FOLDS:
                methods += methods[7:] * 3
        self.method = method = pick(methods)
        self.options, self.operands, self.is_wrong = {}, [], False
        shape = tuple(random.integers(0, 4, size=random.integers(0, 5 if method != "outer" else 3)).tolist())
        of_type, another = pick(TYPES), pick(TYPES)
        is_tame = method not in ("__call__", "outer") or ufunc.signature is not None or random.random() < 0.3
        unary = method in ("reduce", "accumulate", "reduceat")
        for k in range(1 if unary else ufunc.nin):
            dtype = of_type if random.random() < 0.6 else another
            if ufunc.signature is not None:
                own = {"matmul": [(2, 3), (3, 2)], "vecdot": [(3,), (3,)], "matvec": [(2, 3), (3,)], "vecmat": [(2,), (2, 3)]}
                own = broadcastable(random, shape[:2]) + own[ufunc.__name__][k]
            else:
                own = shape if method != "__call__" else broadcastable(random, shape)
            x = values(random, dtype, own, is_tame)
            if x.ndim > 1 and random.random() < 0.3:
                x = x[::-1].swapaxes(0, 1)[..., ::-1].swapaxes(0, 1)
            self.operands.append(x)
        if method == "__call__" and ufunc.nin == 2 and ufunc.signature is None and random.random() < 0.3:
            self.operands[random.integers(2)] = number(random)
        options = self.options
        if unary or method == "at":
            self.of_axes(random, pick, shape, dtype)
        if method == "at":
            return
        if self.is_wrong:
            return
        if random.random() < 0.25:
            options["dtype"] = pick(TYPES)
            if unary and dtype.kind == "f" and options["dtype"].kind == "u":
                # Each machine has its own way for negative floats.
                del options["dtype"]
        elif random.random() < 0.05 and not unary:
            known = [each for each in ufunc.types if set(each) <= set("?bBhHiIlLefd->")]
            known = [each for each in known if all(np.dtype(of) in TYPES for of in each.replace("->", ""))]
            options.update({"signature": pick(known)} if known else {})
        if method in ("__call__", "outer"):
            if random.random() < 0.15:
                options["casting"] = pick(["no", "equiv", "safe", "same_kind", "unsafe"] if is_tame else ["no", "safe", "same_kind"])
                if options["casting"] == "equiv" and self.has_number():
                    # NumPy 2.4 crashes for it beside a number.
                    options["casting"] = "no"
                if options["casting"] == "unsafe":
                    self.operands = [np.abs(x) if isinstance(x, np.ndarray) else 1 for x in self.operands]
            if random.random() < 0.04:
                options["order"] = pick(["C", "F", "K", "A"])
            if random.random() < 0.04:
                options["subok"] = pick([True, False])
        if random.random() < 0.3 and unary | (ufunc.signature is None):
            self.goes_out(random, pick, is_tame)
        elif random.random() < 0.02 and method in ("__call__", "outer") and ufunc.signature is None and not self.has_number():
            options["where"] = np.array(True)

    def goes_out(self, random, pick, is_tame):
        """Draws ``out=``, and ``where=`` beside it."""
        found = outcome(self, np.array)
        if isinstance(found, Exception):
            return
        types, outs = [of_device(each.dtype) for each in found], []
        self.found = types[0]
        is_larger, is_wrong = random.random() < 0.2, random.random() < 0.05 and self.method not in ("accumulate", "reduceat")
        for result, dtype in zip(found, types):
            dtype = dtype if random.random() < 0.4 or is_wrong else pick(TYPES)
            shape = result.shape
            if self.method in ("__call__", "outer") and is_larger:
                shape = (2, *shape)
            if is_wrong:
                shape = (*shape, 2)
            outs.append(values(random, dtype, shape, True))
        casting = self.options.get("casting", "same_kind")
        if casting == "unsafe" and any(each.dtype.kind == "f" and not np.all((0 <= each) & (each < 128)) for each in found):
            # Each machine has its own way for floats outside of a type.
            return
        if casting not in ("unsafe", "same_kind") and (has_own_float(self) or types != [each.dtype for each in found]):
            return
        self.options["out"] = tuple(outs)
        # NumPy 2.4 crashes for where= in a comparison with a number outside of a type.
        if self.method in ("__call__", "outer") and random.random() < 0.4 and not self.has_number():
            mask = np.asarray(random.random(broadcastable(random, outs[0].shape)) < 0.5)
            self.options["where"] = mask if random.random() < 0.9 else mask.astype("int8")

    def of_axes(self, random, pick, shape, dtype):
        """Draws the options of the methods that reduce."""
        options, rank = self.options, len(shape)
        if self.method == "at":
            if not rank:
                self.operands[0] = values(random, dtype, (3,), True)
            length = self.operands[0].shape[0]
            kinds = ["inside", "inside", "mask", "tuple", "outside"]
            kind = pick(kinds) if length else "inside"
            low, high = (-length, length) if kind != "outside" else (-length - 2, length + 2)
            index = random.integers(low, high, size=random.integers(5)) if length else np.zeros(0, int)
            self.indices = {"mask": random.random(length) < 0.5, "tuple": (index, ...)}.get(kind, index)
            rows = self.operands[0][self.indices].shape if kind != "outside" else (1,)
            self.operands[1] = values(random, self.operands[1].dtype, broadcastable(random, rows), True)
            return
        axes = list(range(-rank, rank))
        if self.method == "reduce":
            axis = pick([None, *axes, (), tuple(random.permutation(axes)[:2].tolist()), rank, "absent"])
            self.is_wrong = axis == rank
            if random.random() < 0.3:
                options["keepdims"] = True
            if random.random() < 0.25:
                options["initial"] = pick([0, 1, 2, 3.0, True])
            if random.random() < 0.15:
                options["where"] = np.asarray(random.random(broadcastable(random, shape)) < 0.5)
        else:
            axis = pick([*axes, rank, "absent"])
            self.is_wrong = axis == rank
        if axis != "absent":
            options["axis"] = axis
        if self.method == "reduceat":
            length = shape[axis] if axis in axes else (shape or (1,))[0]
            outside = int(random.random() < 0.05)
            self.indices = random.integers(0, max(length, 1), size=random.integers(4)) + outside
            self.is_wrong = self.is_wrong or bool(outside) or not length or not rank

    def arrays(self):
        return [x for x in self.operands if isinstance(x, np.ndarray)]

    def has_number(self):
        return len(self.arrays()) < len(self.operands)

    def is_typed(self):
        return "dtype" in self.options or "signature" in self.options

    def without_one(self):
        """The call without each of its options, and without its numbers: it has one mistake less."""
        options, operands = self.options, self.operands
        for name in options:
            self.options = {each: value for each, value in options.items() if each != name}
            yield outcome(self, np.array)
        self.options = options
        yield outcome(self, np.array, [x if isinstance(x, np.ndarray) else 1 for x in operands])

    def goes_lower(self):
        """Whether the result is of a higher kind than what it goes to."""
        if self.method == "at":
            dtype, other = (x.dtype for x in self.operands)
            try:
                return not np.can_cast(self.ufunc.resolve_dtypes((dtype, other, None))[2], dtype, "same_kind")
            except TypeError:
                return False
        return "out" in self.options and not np.can_cast(self.found, self.options["out"][0].dtype, "same_kind")

    def computes_floats(self):
        kinds = [x.dtype if isinstance(x, np.ndarray) else np.dtype(bool) if isinstance(x, bool) else type(x) for x in self.operands]
        if self.method in ("reduce", "accumulate", "reduceat"):
            kinds = [*kinds, *kinds]
        try:
            return self.ufunc.resolve_dtypes((*kinds, *[None] * self.ufunc.nout))[0].kind == "f"
        except TypeError:
            return False

    def as_documented(self):
        """The operands as NumPy has to take them to compute in the types of this package."""
        floats = [x.dtype for x in self.arrays() if x.dtype.kind == "f"]
        dtype = np.result_type(*floats) if floats and self.ufunc is not np.float_power else FLOAT
        return [x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype.kind != "f" else x for x in self.operands]

    def called(self, wrap, operands=None):
        """The results, of operands and outputs that are wrapped."""
        options = dict(self.options)
        operands = [wrap(x) if isinstance(x, np.ndarray) else x for x in operands or self.operands]
        self.written = options["out"] = tuple(wrap(x) for x in options.pop("out", ()))
        if not self.written:
            del options["out"]
        if isinstance(options.get("where"), np.ndarray):
            options["where"] = wrap(options["where"])
        if self.method == "at":
            self.ufunc.at(operands[0], self.indices, operands[1])
            return operands[0]
        if self.method == "reduceat":
            operands.append(self.indices)
        function = self.ufunc if self.method == "__call__" else getattr(self.ufunc, self.method)
        return function(*operands, **options)

    def tolerance(self, dtype):
        """The relative and the absolute tolerance of results, in units of epsilon."""
        if dtype.kind != "f" or self.method in ("__call__", "outer", "at") and self.ufunc.__name__ not in INEXACT | {"add"}:
            return 0, 0
        scale = 1.0
        for x in self.arrays() if self.ufunc.signature or self.method not in ("__call__", "outer") else ():
            wide = np.abs(x.astype("f8"))
            scale *= float(wide[np.isfinite(wide)].max(initial=1)) * (3 if self.ufunc.signature else max(x.size, 1))
        if "logaddexp" in self.ufunc.__name__:
            scale = max([scale, 8])
        types = [x.dtype for x in self.arrays()] + [dtype, self.options.get("dtype", dtype)]
        types += map(np.dtype, self.options["signature"].replace("->", "")) if "signature" in self.options else []
        narrow = min([each for each in types if each.kind == "f"], key=lambda each: each.itemsize)
        epsilon = float(np.finfo(narrow).eps)
        return 8 * epsilon, 8 * epsilon * scale if scale > 1 else 0

    def __str__(self):
        return f"ZEROSTRIDE_SEED={self.seed}: numpy.{self.ufunc.__name__}.{self.method} of {self.operands}, {self.options}, indices {getattr(self, 'indices', None)}"


def outcome(call, wrap, operands=None):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = call.called(wrap, operands)
        except tuple(MESSAGES) as error:
            return error
    return result if isinstance(result, tuple) else (result,)


def compare(call, ours, theirs, excused):
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        same_kind_of_error(ours, theirs, [], call.without_one())
        return
    for own, their in zip(ours, theirs, strict=True):
        own, their = np.asarray(own), np.asarray(their)
        their = their.astype(of_device(their.dtype))
        assert own.dtype == their.dtype, f"ours {own.dtype}, NumPy's {their.dtype}"
        assert own.shape == their.shape, f"ours {own.shape}, NumPy's {their.shape}"
        if "`floor_divide` of an infinity" in excused:
            # A finite operand may be an infinite float16.
            infinite = [np.broadcast_to(np.abs(np.asarray(x, "f8")) > 65504, their.shape) for x in call.operands if call.method == "__call__"]
            keep = ~np.any(infinite, axis=0) if infinite else np.zeros(their.shape, bool)
            own, their = own[keep], their[keep]
        if "`reciprocal` of the integer 0" in excused:
            keep = np.broadcast_to(call.operands[0] != 0, their.shape)
            own, their = own[keep], their[keep]
        rtol, atol = call.tolerance(own.dtype)
        np.testing.assert_allclose(own, their, rtol=rtol, atol=atol, err_msg="")
        if call.ufunc.__name__ not in ("maximum", "minimum", "fmax", "fmin") and call.method == "__call__" and not atol:
            zero = (own == 0) & (their == 0)
            assert np.array_equal(np.signbit(own[zero]), np.signbit(their[zero])), "the sign of a zero"


def check(seed):
    """Checks one call."""
    call = Call(seed)
    excused = [name for name, holds in DIFFERENCES.items() if holds(call)]
    if is_beyond([x.dtype for x in call.arrays()]):
        return
    try:
        ours = outcome(call, zs.asarray)
        written = [np.asarray(each).copy() for each in call.written]
        refused = [name for name in excused if name in REFUSED]
        theirs = outcome(call, np.array)
        if refused and isinstance(ours, TypeError):
            return
        if "truth beside a number outside of `int64`" in excused and any(isinstance(each, OverflowError) for each in (ours, theirs)):
            return
        if "an integer beside a float" in excused and not isinstance(theirs, Exception):
            theirs = outcome(call, np.array, call.as_documented())
        compare(call, ours, theirs, excused)
        if isinstance(ours, Exception):
            for own, before in zip(written, call.options.get("out", ())):
                np.testing.assert_array_equal(own, before, err_msg="an output changed before the error")
    except AssertionError as error:
        raise AssertionError(f"{call}\n{error}") from None


# NumPy's own, of `where=` beside no `out=`.
@pytest.mark.filterwarnings("ignore:'where' used without 'out':UserWarning")
def test_the_guide_lists_the_differences():
    assert rows_of_the_guide("Universal functions beside NumPy's") == list(DIFFERENCES)
    for row, example in zip(DIFFERENCES, EXAMPLES):
        must_differ(row, example)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_drawn():
    draw(check, 3000 if zs.Device().name == "cpu" else 500)
