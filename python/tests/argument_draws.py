"""Arguments of NumPy's functions that are drawn: arrays, axes, indices, shapes and options.

A function here takes a `Draw` and returns one argument. Arrays that are drawn first decide the shapes, axes and indices of the
others.
"""

import numpy as np
from drawn import TYPES, broadcastable, number, values


class Host:
    """An array that stays one of NumPy."""

    def __init__(self, array):
        self.array = array

    def __repr__(self):
        return f"Host({self.array!r})"


class Draw:
    """A random choice of types and of a shape, and the arguments that are drawn so far."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.shape = tuple(self.random.integers(0, 4, size=self.pick([0, 1, 1, 2, 2, 2, 3, 4])).tolist())
        self.types = self.pick(TYPES), self.pick(TYPES)
        self.is_tame = self.chance(0.4)
        if {self.types[0].kind, self.types[1].kind} > {"f"}:
            # An integer beside a float has the float's type here, which may not hold it.
            self.is_tame = True
        self.first, self.arguments = None, {}

    def pick(self, of):
        return of[self.random.integers(len(of))]

    def chance(self, share):
        return bool(self.random.random() < share)

    def below(self, low, high):
        return int(self.random.integers(low, high))

    def values(self, dtype, shape, is_tame=None):
        x = values(self.random, dtype, tuple(shape), self.is_tame if is_tame is None else is_tame)
        if dtype.kind == "f" and not self.is_tame:
            # Sums of the greatest numbers, and products of the least ones, depend on their order.
            x = np.where(np.isfinite(x) & ((abs(x) > 1000) | (x != 0) & (abs(x) < 0.01)), x.dtype.type(3), x)
        if x.ndim > 1 and self.chance(0.3):
            x = x[::-1].swapaxes(0, 1)[..., ::-1].swapaxes(0, 1)
        x = np.asarray(x)
        self.first = x if self.first is None else self.first
        return x

    @property
    def rank(self):
        return len(self.shape) if self.first is None else self.first.ndim

    @property
    def lengths(self):
        return self.shape if self.first is None else self.first.shape


def of(*choices):
    return lambda d: d.pick(choices)


def array(d):
    return d.values(d.types[0], d.shape)


def same(d):
    """An array of the first one's shape."""
    return d.values(d.pick(d.types), d.lengths)


def another(d):
    """An array that broadcasts with the first."""
    return d.values(d.pick(d.types), broadcastable(d.random, d.lengths))


def number_of(d):
    return number(d.random)


def small(d):
    """A number that types hold."""
    return d.pick([0, 1, 2, 3, True, 7, 1.5, -1])


def operand(d):
    """An array, a number, a list, or an array of NumPy. Beyond 64 bits NumPy makes arrays of objects."""
    kind = d.pick(["array"] * 4 + ["number", "small", "list", "host"])
    if kind in ("number", "small"):
        found = number_of(d) if kind == "number" else small(d)
        narrow = d.first is not None and d.first.dtype == np.float16
        return found if type(found) is float or abs(found) < (1000 if narrow else 2**63) else 3
    x = another(d)
    return x.tolist() if kind == "list" and x.size and x.dtype != np.uint64 else Host(x) if kind == "host" else x


def limit(d):
    found = number_of(d)
    is_mixed = np.dtype("float16") in d.types and d.types[0] != d.types[1]
    # NumPy raises for truth beside a number of more than 64 bits.
    is_far = abs(found) > (1000 if is_mixed else 2**63 - 1 if d.first.dtype == bool else np.inf)
    return d.pick([operand(d), 3 if is_far else found, None])


def vector(d):
    return d.values(d.pick(d.types), (d.below(0, 5),) if d.chance(0.9) else d.shape)


def long(d):
    """A vector of some elements."""
    return d.values(d.types[0], (d.below(3, 9),))


def beside(d):
    """A vector of the first one's length."""
    return d.values(d.pick(d.types), d.lengths if d.chance(0.95) or not d.first.size else (4,))


def rising(d):
    x = d.values(d.types[0], (d.below(1, 6),))
    return np.sort(x)


def matrix(d):
    return d.values(d.types[0], (*d.shape[:2], d.below(1, 4), d.below(0, 4)))


def square(d):
    n = d.below(0, 4)
    return d.values(d.types[0], (*d.shape[:1], n, n), True)


def regular(d):
    """Well-conditioned symmetric matrices of floats."""
    n = d.below(1, 4)
    x = d.random.integers(-2, 3, size=(*d.shape[:1], n, n))
    x = np.asarray((x + x.swapaxes(-1, -2) + 9 * np.eye(n, dtype=int)).astype(d.pick(["f4", "f8", "i4", "u1", "i8"])))
    d.first = x
    return x


def right(d):
    """The right side of equations."""
    n = d.lengths[-1]
    return d.values(np.dtype(d.pick(["f4", "f8", "i4"])), d.pick([(n,), (n, 2), (*d.lengths[:-1], 2), (*d.lengths[:-2], n, 1)]), True)


def several(d):
    """Arrays of one shape, or nearly, some of other kinds."""
    arrays = [same(d) for _ in range(d.below(1, 4))]
    if d.chance(0.1):
        arrays.append(d.values(d.types[1], d.lengths[1:]))
    if d.chance(0.2):
        arrays.append(d.pick([Host(same(d)), same(d).tolist()]))
    return d.pick([list, tuple])(arrays)


def vectors(d):
    return [d.values(d.pick(d.types), (d.below(0, 4),)) for _ in range(d.below(1, 4))]


def blocks(d):
    x = same(d)
    return d.pick([x, [x, same(d)], [[x, same(d)], [same(d), same(d)]], [[x], [same(d)]]])


def chain(d):
    """Matrices whose lengths meet."""
    n = [d.below(1, 4) for _ in range(d.below(3, 6))]
    types = d.types if d.types[0].kind != "b" else d.types[:1]
    found = [d.values(types[k % len(types)], n[k : k + 2], True) for k in range(len(n) - 1)]
    found[0] = found[0][0] if d.chance(0.3) else found[0]
    return found


def axis(d):
    return d.below(-d.rank, d.rank) if d.rank and d.chance(0.95) else d.pick([0, d.rank, -d.rank - 1])


def axis_or_all(d):
    return None if d.chance(0.2) else axis(d)


def axes(d):
    some = d.random.permutation(d.rank)[: d.below(0, 4)] if d.rank else np.zeros(0, int)
    some = tuple(int(k) - d.rank * d.chance(0.3) for k in some)
    return d.pick([axis(d), axis(d), axis_or_all(d), some, some + some[:1] * d.chance(0.2)])


def some_axes(d):
    return axes(d) or None


def order(d):
    found = tuple(int(k) - d.rank * d.chance(0.2) for k in d.random.permutation(d.rank))
    return found if d.chance(0.9) else d.pick([found[1:], found + found[:1], None])


def dtype(d):
    return d.pick([*TYPES, "f4", "int32", float, int, bool])


def mask(d):
    return d.values(np.dtype(bool), broadcastable(d.random, d.lengths))


def mask_or_host(d):
    return d.pick([mask(d), Host(mask(d)), bool(d.chance(0.5))])


def integers(d, low, high, shape, dtypes="i4 i8 i1 u1 u8"):
    kinds = [each for each in dtypes.split() if low >= 0 or each[0] == "i"]
    x = np.asarray(d.random.integers(low, max(high, low + 1), size=shape), d.pick(kinds))
    d.first = x if d.first is None else d.first
    return x


def as_one(d, x):
    """Integers as an array of ours, of NumPy, a list or a number."""
    return d.pick([x, x, Host(x), x.tolist()])


def indices(axis_length=None, outside=0.06):
    def draw(d):
        n = d.lengths[0] if axis_length == "first" and d.lengths else int(np.prod(d.lengths)) if axis_length is None else 3
        low, high = (-n, n) if d.chance(1 - outside) else (-n - 2, n + 2)
        shape = d.pick([(), (1,), (3,), (2, 2), (0,)])
        return as_one(d, integers(d, low, high, shape if n else (0,)))

    return draw


def along(d):
    """Indices along an axis, for each position of the others."""
    shape = tuple(1 if d.chance(0.2) else n for n in d.lengths)
    if d.rank and d.chance(0.8):
        shape = (*shape[:-1], d.below(0, 4))
    n = min([n for n in d.lengths], default=1)
    return integers(d, -n, n, shape) if n else np.zeros((0,) * d.rank, int)


def counted(low, high):
    def draw(d):
        return d.below(low, high)

    return draw


def shape(d):
    n = int(np.prod(d.lengths))
    choices = [n, (n,), (-1,), (1, n), (n, 1), d.lengths[::-1], (-1, 2), (2, -1), (-1, -1), (n + 1,), (*d.lengths, 1)]
    return d.pick(choices)


def new_shape(d):
    return d.pick([d.below(0, 4), (2, 3), (0, 2), (), (1, 2, 1), d.lengths, [3]])


def wider(d):
    return d.pick([(2, *d.lengths), tuple(2 if n == 1 else n for n in d.lengths), d.lengths, (*d.lengths, 2), 3])


def sections(d):
    return d.pick([d.below(0, 4), [1], [0, 2], [2, 1], [-1], [1, 5], (1, 2), Host(np.array([1, 2]))])


def scalar(d):
    return d.pick([small(d), d.values(d.pick(d.types), (), True)])


def fill(d):
    return d.pick([scalar(d), d.values(d.pick(d.types), d.lengths[-1:], True)])


def plain_of(x):
    return x.array if isinstance(x, Host) else x


def edges(d):
    x = vector(d)
    x = np.where(np.isfinite(x), x, x.dtype.type(1))
    return d.pick([np.sort(x.ravel()), np.sort(x.ravel())[::-1], x])


def pads(d):
    n = d.below(0, 3)
    return d.pick([n, (n, 1), [(d.below(0, 3), d.below(0, 5)) for _ in range(d.rank)] or 1, ((1, 2),), {-1: (1, 0)}, (n,)])


def quantiles(d):
    return d.pick([0, 1, 0.5, 0.25, [0.1, 0.9], [[0.0, 1.0]], 0.3, [], np.array([0.5, 0.75]), 1.5])


def percents(d):
    return d.pick([0, 100, 50, 25.0, [10, 90], [[0.0, 100.0]], 33, [], np.array([50, 75]), 150])


def pad_options(d):
    """The options that belong to a mode."""
    mode = d.arguments.get("mode", "constant")
    if mode == "constant":
        return {"constant_values": d.pick([small(d), (1, 2), [(3, 4)]])}
    if mode == "linear_ramp":
        return {"end_values": d.pick([small(d), (1, 2)])}
    if mode in ("maximum", "mean", "minimum"):
        return {"stat_length": d.pick([1, 2, 5, None, (1, 2)])}
    return {"reflect_type": d.pick(["even", "odd"])} if mode in ("reflect", "symmetric") else {}


METHODS = of("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf")


def weights(d):
    x = np.abs(d.values(d.pick(d.types), d.lengths if d.chance(0.6) else (d.pick(d.lengths or (1,)),), True).astype("f8"))
    return np.asarray(x + 1, d.pick(["f4", "f8", "i4", "u1"]))


def spread(d):
    return d.pick([small(d), 0.5, np.cumsum(np.abs(d.values(np.dtype("f8"), (d.pick(d.lengths or (1,)),), True)) + 0.5)])


def operands(d):
    """An equation and its arrays."""
    n = [d.below(1, 4) for _ in range(3)]
    equation, shapes = d.pick([
        ("ij,jk->ik", (n[:2], n[1:])), ("ij,jk", (n[:2], n[1:])), ("i,i", (n[:1], n[:1])), ("ii", ((n[0], n[0]),)), ("ij->ji", (n[:2],)),
        ("...i,...i->...", (n[:2], n[:2])), ("ij->", (n[:2],)), ("ijk,k->ij", (n, n[2:])), ("i,j->ij", (n[:1], n[1:2])), ("ii->i", ((n[0],) * 2,)),
        ("ij,ij,j", (n[:2], n[:2], n[1:2])), ("ij,jk->k", (n[:2], n[:2])), ("b a", (n[:2],)),
    ])  # fmt: skip
    return [equation, *(d.values(d.pick(d.types), x, True) for x in shapes)]


def conditions(d):
    return [d.values(np.dtype(bool), broadcastable(d.random, d.shape)) for _ in range(d.below(1, 3))]


def choices(d):
    return [d.pick([same(d), another(d)]) for _ in range(d.below(1, 3))]


def table(d):
    return [d.values(d.pick(d.types), broadcastable(d.random, d.lengths)) for _ in range(2)]


def places(d):
    return tuple(integers(d, -d.chance(0.1), n, d.shape[:2]) for n in (3, 4))


def at(d):
    """Where to delete or to insert."""
    n = d.lengths[-1] if d.rank else 1
    return d.pick([
        d.below(-n - d.chance(0.1), n + 1), slice(0, None, 2), slice(None, None, -1), [0], [0, -1], [], d.random.random(n) < 0.5, integers(d, -n, max(n, 1), 2) if n else [],
    ])  # fmt: skip


def counts(d):
    return as_one(d, integers(d, 0, 4, d.pick([(), (d.pick(d.lengths or (1,)),), (int(np.prod(d.lengths)),)])))


def bins(d):
    return d.pick([d.below(1, 5), np.array([0.0, 1, 2.5]), [0, 1, 3], Host(np.array([-1, 0, 1])), [1, 0], d.below(0, 2)])


def order_of(d):
    return d.random.permutation(d.lengths[0]) if d.rank else [0]
