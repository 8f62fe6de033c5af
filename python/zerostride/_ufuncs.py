"""NumPy's universal functions for `Array`s, and NumPy's arguments of reductions."""

import functools
import inspect
import math

import numpy as np

import zerostride as zs

from . import _core
from ._arguments import axes_of
from ._core import Array
from ._creation import beside
from ._dtypes import default_float, is_float
from ._nan import AVERAGES, averaged
from ._out import delivered, must_fit, written
from ._segments import at, reduceat
from ._statistics import _floats


def is_nothing(value):
    return value is None or value is np._NoValue


# NumPy's names that differ from the namespace's.
_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip
# Operations of the crate that the namespace does not have, or has with another rule for types.
_CRATES = {
    "copysign": ("copysign", "float"), "deg2rad": ("to_radians", "float"), "degrees": ("to_degrees", "float"),
    "fabs": ("abs", "float"), "fmod": ("rem", "same"), "gcd": ("gcd", "same"), "lcm": ("lcm", "same"),
    "rad2deg": ("to_degrees", "float"), "radians": ("to_radians", "float"), "rint": ("round", "float"),
}  # fmt: skip
_FOLDS = {
    "add": zs.sum, "multiply": zs.prod, "maximum": zs.max, "minimum": zs.min, "logical_and": zs.all,
    "logical_or": zs.any, "logaddexp": zs.logsumexp,
}  # fmt: skip
_PRODUCTS = {
    "matmul": zs.matmul, "vecdot": zs.vecdot, "matvec": lambda a, x: zs.matmul(a, x[..., None])[..., 0],
    "vecmat": lambda x, a: zs.matmul(x[..., None, :], a)[..., 0, :],
}  # fmt: skip
_SCANS = {"add": zs.cumulative_sum, "multiply": zs.cumulative_prod}


@functools.cache
def _of_ufunc(ufunc):
    name = ufunc.__name__
    if name in _PRODUCTS:
        return _PRODUCTS[name]
    if name in _COMPOSED:
        return _COMPOSED[name]
    if name in _CRATES:
        return lambda *operands: _core.apply(*_CRATES[name], *operands)
    name = _NAMES.get(name, name)
    return getattr(zs, name) if name in zs._elementwise.__all__ else None


def _float_power(x1, x2):
    """The power of operands converted to the default float type."""
    wide = [x if not isinstance(x, Array) or x.dtype == zs.float64 else zs.astype(x, default_float(x.device)) for x in (x1, x2)]
    return _core.apply("pow", "float", *wide)


def _modf(x):
    x = _floats(x)
    whole = zs.trunc(x)
    return zs.copysign(zs.where(zs.isinf(x), 0.0, x - whole), x), whole


def _alike(*operands):
    """Operands as arrays of one float type."""
    dtype, device = zs.result_type(*operands, 1.0), _first(operands).device
    return [zs.asarray(x, dtype=dtype, device=device) for x in operands]


def _heaviside(x1, x2):
    x1, x2 = _alike(x1, x2)
    return zs.where(x1 == 0, x2, zs.where(zs.isnan(x1), x1, zs.astype(x1 > 0, x1.dtype)))


def _logaddexp2(x1, x2):
    x1, x2 = _alike(x1, x2)
    return zs.logaddexp(x1 * math.log(2), x2 * math.log(2)) / math.log(2)


def _power(x1, x2):
    """The power. NumPy raises for integers to negative powers, so the least power of an array is read."""
    result = zs.pow(x1, x2)
    if result.dtype.kind == "i" and result.size and isinstance(x2, Array) and int(zs.min(x2.evaluate())) < 0:
        raise ValueError(f"{result.dtype} to negative powers: an integer takes powers of 0 or more, so cast it to a float")
    return result


_COMPOSED = {
    "divmod": lambda x1, x2: (zs.floor_divide(x1, x2), zs.remainder(x1, x2)), "float_power": _float_power,
    "heaviside": _heaviside, "logaddexp2": _logaddexp2, "modf": _modf, "power": _power,
    "reciprocal": lambda x: zs.reciprocal(x) if is_float(x.dtype) else _core.apply("div", "same", True, x),
}  # fmt: skip


_KNOWN = (Array, np.ndarray, np.generic, bool, int, float, type(None), tuple, list)


def _first(operands):
    """The first `Array`, to whose device the other operands go."""
    return next((x for x in operands if isinstance(x, Array)), None)


def _called(ufunc, inputs):
    """A universal function of operands of which one is ours."""
    function, first = _of_ufunc(ufunc), _first(inputs)
    if function is None:
        raise TypeError(absent(ufunc))
    return function(*[beside(x, first) for x in inputs])


def ufunc(ufunc, method, inputs, options):
    """``__array_ufunc__``."""
    out = options.pop("out", None)
    for x in inputs + (out or ()):
        if not isinstance(x, _KNOWN):
            return NotImplemented
    if method == "__call__" and not options and out is None:
        return _called(ufunc, inputs)
    if method == "outer":
        first = _first(inputs + (out or ()))
        a, b = (beside(x, first) for x in inputs)
        method, inputs = "__call__", (zs.reshape(a, a.shape + (1,) * np.ndim(b)) if isinstance(a, Array) else a, b)
    if method == "__call__":
        return _computed(ufunc, inputs, out or (None,) * ufunc.nout, **options)
    # None means all axes here, and an absent axis means axis 0.
    axis, dtype = options.pop("axis", 0), options.pop("dtype", None)
    name, x = ufunc.__name__, beside(inputs[0], _first(inputs + (out or ())))
    if dtype is not None:
        # NumPy raises for a type in which the function does not compute.
        dtype = ufunc.resolve_dtypes((None, x.dtype, None), signature=(dtype, None, None), casting="unsafe", reduction=True)[0]
    if method in ("accumulate", "reduceat") and not x.ndim:
        raise TypeError(f"numpy.{name}.{method} of a number: it takes an array with axes")
    if method == "reduce" and name in _FOLDS:
        return adapted(_FOLDS[name], x, axis=axis, dtype=dtype, out=out, **options)
    if method == "accumulate" and name in _SCANS and not options:
        return delivered(_SCANS[name](x, axis=axis, dtype=_wide(x, dtype, out)), out)
    if method == "reduceat" and name in _FOLDS and not options:
        return delivered(reduceat(_FOLDS[name], x, inputs[1], axis, _wide(x, dtype, out)), out)
    if method == "at" and len(inputs) == 3 and name in _FOLDS:
        return at(ufunc, _FOLDS[name], *inputs)
    raise TypeError(absent(ufunc, f".{method}", options))


def _computed(ufunc, inputs, out, *, where=True, dtype=None, signature=None, casting="same_kind", order="K", subok=True, **others):
    """A call with options. NumPy names the types of its computation, to which operands and results are cast."""
    if others or order not in ("K", "A", "C", None):
        named = ", ".join(others) or f"order={order!r}"
        raise TypeError(f"numpy.{ufunc.__name__} of zerostride takes no {named}: leave it out")
    if where is not True and any(each is None for each in out):
        raise TypeError(f"numpy.{ufunc.__name__} of zerostride takes where= beside out= alone: choose by zerostride.where")
    if dtype is not None:
        if signature is not None:
            raise TypeError(f"dtype= and signature= for numpy.{ufunc.__name__}: they name one thing, so pass one of them")
        signature = (None,) * ufunc.nin + (dtype,) * ufunc.nout
    # Without byte orders "equiv" is "no". NumPy's resolution crashes for "equiv" beside a Python number.
    casting = "no" if casting == "equiv" else casting
    typed = {"casting": casting} if signature is None else {"casting": casting, "signature": signature}
    first = _first(inputs)
    if first is None:
        # Only what the result goes to is ours. The device may lack the type of NumPy's result.
        results = ufunc(*inputs, **typed)
        results = results if ufunc.nout > 1 else (results,)
        types = [each.dtype if each is not None and np.can_cast(x.dtype, each.dtype, casting) else None for x, each in zip(results, out)]
        results = [zs.asarray(x, dtype=each, device=_first(out).device) for x, each in zip(results, types)]
    else:
        inputs = [beside(x, first) for x in inputs]
        if signature is not None or casting != "same_kind":
            kinds = [getattr(x, "dtype", np.dtype(bool) if isinstance(x, bool) else type(x)) for x in inputs]
            types = ufunc.resolve_dtypes((*kinds, *(None,) * ufunc.nout), **typed)
        if signature is not None:
            inputs = [_typed(x, each, first.device, dtype is not None) for x, each in zip(inputs, types)]
        results = _called(ufunc, inputs)
        results = results if ufunc.nout > 1 else (results,)
        if signature is not None:
            results = [zs.astype(x, dtype, copy=False) for x, dtype in zip(results, types[ufunc.nin :])]
    mask = where if where is True else _mask(where, results[0].device)
    if ufunc.signature is None:
        # `out` and `where` may have a larger shape, to which the results broadcast. Matrices do not.
        shape = np.broadcast_shapes(results[0].shape, getattr(mask, "shape", ()), *(each.shape for each in out if each is not None))
        results = [zs.broadcast_to(result, shape) for result in results]
    for result, each in zip(results, out):
        if each is not None:
            must_fit(result.dtype, result.shape, each, casting)
    results = tuple(r if o is None else written(r, o, mask) for r, o in zip(results, out))
    return results if ufunc.nout > 1 else results[0]


def _typed(x, dtype, device, is_found):
    """An operand of a type that the call names, or that NumPy found.

    Of the types that it found, an integer beside integers stays a number, because a comparison takes any. float64 is float32
    on a device that lacks it.
    """
    if is_found and type(x) is int and dtype.kind in "iu":
        return x
    if is_found and not device.supports(dtype):
        dtype = default_float(device)
    # NumPy converts numbers, and raises for those that a type does not hold.
    return zs.asarray(x if isinstance(x, Array) else np.asarray(x, dtype), dtype=dtype, device=device)


def _mask(where, device):
    where = zs.asarray(where, device=device)
    if where.dtype.kind != "b":
        raise TypeError(f"where= of {where.dtype}: it takes truth values, so compare the elements with 0")
    return where


def absent(function, method="", options=()):
    """The error text for a function of NumPy that has no implementation here."""
    module = (function.__module__ or "numpy") if hasattr(function, "__module__") else "numpy"
    of = f" with {', '.join(options)}" if options else ""
    remedy = _REMEDIES.get(function.__name__ + method, "pass numpy.asarray(x), which copies its elements to the host")
    return f"{module}.{function.__name__}{method}{of} is not there for arrays of zerostride: {remedy}"


# Remedies for functions that have no implementation here.
_REMEDIES = {
    "apply_along_axis": "write the function over whole arrays, with axis=",
    "apply_over_axes": "call the reduction with a tuple for its axis",
    "piecewise": "compute each piece for all elements and choose by numpy.select",
    "polyfit": "solve by numpy.linalg.lstsq of numpy.asarray(x)",
    "resize": "repeat by numpy.tile, and take a slice",
}


# The neutral element of a reduction, and the operation that adds a value to its result.
_NOTHING = {
    zs.sum: 0, zs.prod: 1, zs.nansum: 0, zs.nanprod: 1, zs.any: False, zs.all: True, zs.logsumexp: -math.inf,
}  # fmt: skip
_WITH = {
    zs.sum: zs.add, zs.prod: zs.multiply, zs.max: zs.maximum, zs.min: zs.minimum, zs.any: zs.logical_or,
    zs.all: zs.logical_and, zs.logsumexp: zs.logaddexp, zs.nansum: zs.add, zs.nanprod: zs.multiply,
    zs.nanmax: zs.fmax, zs.nanmin: zs.fmin,
}  # fmt: skip


def _chosen(function, x, where, initial):
    """The array with elements that `where` leaves out replaced by the reduction's neutral element."""
    nothing = _NOTHING.get(function)
    if nothing is None and initial is not None:
        nothing = zs.asarray(initial, dtype=x.dtype, device=x.device)
    if nothing is None:
        raise ValueError(f"{function.__name__} with where= alone has no value where all is left out: give initial= too")
    return zs.where(where, x, nothing)


def _wide(x, dtype, out):
    """The type of a sum: with no other, that of `out` if it is the wider float, as in NumPy."""
    out = out[0] if isinstance(out, tuple) else out
    if dtype is None and out is not None and is_float(x.dtype) and is_float(out.dtype):
        return zs.result_type(x, out.dtype)
    return None if dtype is None else np.dtype(dtype)


@functools.cache
def _parameters(function):
    """The names of a function's parameters: to look at one takes longer than to build what it gives."""
    return frozenset(inspect.signature(function).parameters)


def adapted(
    function, x, axis=None, dtype=None, out=None, keepdims=False, ddof=0, correction=None, initial=None, where=True
):
    """A reduction of the namespace with NumPy's arguments.

    A result of at most half the elements of `x` is evaluated at once: Dask stores it, and its expression would keep `x`
    alive.
    """
    out = out[0] if isinstance(out, tuple) else out
    x = x if isinstance(x, Array) else zs.asarray(x, device=out.device)
    initial = None if is_nothing(initial) else initial
    if initial is not None and function not in _WITH:
        raise TypeError(f"{function.__name__} of zerostride takes no initial")
    takes = _parameters(function)
    known = {"axis": axis, "keepdims": not is_nothing(keepdims) and bool(keepdims)}
    if "correction" in takes:
        if ddof and not is_nothing(correction):
            raise ValueError(f"{function.__name__} with correction and ddof: they name one number, so pass one of them")
        known["correction"] = float(ddof if is_nothing(correction) else correction)
    dtype = _wide(x, dtype, out)
    if dtype is not None:
        if "dtype" in takes:
            known["dtype"] = dtype
        else:
            x = zs.astype(x, dtype)
    if where is not True and not is_nothing(where):
        where = zs.broadcast_to(_mask(where, x.device), x.shape)
        if function in AVERAGES:
            function = functools.partial(averaged, function.__name__, where=where)
        else:
            x = _chosen(function, x, where, initial)
    if initial is not None and not x.size and function not in _NOTHING:
        # No elements reduce to `initial`, which stands for them.
        reduced = axes_of(range(x.ndim) if axis is None else axis, x.ndim, function.__name__)
        shape = [1 if k in reduced else length for k, length in enumerate(x.shape)]
        x = zs.full(shape, zs.asarray(initial, dtype=x.dtype), dtype=x.dtype, device=x.device)
        initial = None
    result = function(x, **known)
    if initial is not None:
        result = _WITH[function](result, zs.asarray(initial, dtype=result.dtype, device=x.device))
    if 0 < 2 * result.size <= x.size:
        result.evaluate()
    return delivered(result, out)
