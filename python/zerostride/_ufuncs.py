"""NumPy's universal functions for `Array`s, and NumPy's arguments of reductions."""

import builtins
import functools
import inspect
import math

import numpy as np

import zerostride as zs

from . import _core
from ._core import Array
from ._creation import beside
from ._dtypes import default_float, is_float
from ._segments import at, reduceat
from ._statistics import _floats


def is_nothing(value):
    return value is None or value is np._NoValue


# NumPy's names that differ from the namespace's.
_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift",
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
    if name == "true_divide":
        name = "divide"
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
    wide = [zs.astype(x, default_float(x.device)) if isinstance(x, Array) else x for x in (x1, x2)]
    return _core.apply("pow", "float", *wide)


def _modf(x):
    x = _floats(x)
    whole = zs.trunc(x)
    return zs.copysign(zs.where(zs.isinf(x), 0.0, x - whole), x), whole


def _heaviside(x1, x2):
    x1 = _floats(x1) if isinstance(x1, Array) else zs.asarray(float(x1), dtype=_floats(x2).dtype, device=x2.device)
    return zs.where(x1 == 0, x2, zs.where(zs.isnan(x1), x1, zs.astype(x1 > 0, x1.dtype)))


def _logaddexp2(x1, x2):
    return zs.logaddexp(x1 * math.log(2), x2 * math.log(2)) / math.log(2)


_COMPOSED = {
    "divmod": divmod, "float_power": _float_power, "heaviside": _heaviside, "logaddexp2": _logaddexp2, "modf": _modf,
}  # fmt: skip


_KNOWN = (Array, np.ndarray, np.generic, bool, int, float, type(None), tuple, list)


def _called(ufunc, inputs):
    """A universal function of operands of which one is ours."""
    function = _of_ufunc(ufunc)
    if function is None:
        raise TypeError(absent(ufunc))
    for first in inputs:
        if isinstance(first, Array):
            return function(*[beside(x, first) for x in inputs])
    return None


def ufunc(ufunc, method, inputs, options):
    """``__array_ufunc__``."""
    out = options.pop("out", None)
    for x in inputs + (out or ()):
        if not isinstance(x, _KNOWN):
            return NotImplemented
    if method == "__call__" and not options and out is None:
        return _called(ufunc, inputs)
    dtype, chosen = options.pop("dtype", None), options.pop("where", True)
    if chosen is not True and (method != "__call__" or out is None or ufunc.nout > 1):
        if method != "reduce":
            raise TypeError(f"numpy.{ufunc.__name__} of zerostride takes where= beside out= alone: choose by zerostride.where")
        options["where"] = chosen
    casting = options.pop("casting", "same_kind")
    # None means all axes here, and an absent axis means axis 0.
    axis = 0 if method == "__call__" else options.pop("axis", 0)
    options = {name: value for name, value in options.items() if not _is_default(name, value)}
    if method == "__call__" and not options:
        result = _called(ufunc, inputs)
        if result is None:
            # Only what the result goes to is ours.
            result = zs.asarray(ufunc(*inputs), device=out[0].device)
        if ufunc.nout > 1:
            if dtype is not None:
                raise TypeError(f"numpy.{ufunc.__name__} of zerostride takes no dtype: cast its results by astype")
            return result if out is None else tuple(r if o is None else delivered(r, o) for r, o in zip(result, out))
        result = result if dtype is None else zs.astype(result, np.dtype(dtype))
        if out is None:
            return result
        # `out` may have a larger shape, to which the result broadcasts.
        if chosen is not True:
            result = zs.where(beside(chosen, result), result, beside(out[0], result))
        if casting == "unsafe" and result.dtype != out[0].dtype:
            result = zs.astype(result, out[0].dtype)
        return delivered(zs.broadcast_to(result, out[0].shape), out)
    if method == "reduce" and ufunc.__name__ in _FOLDS:
        return adapted(_FOLDS[ufunc.__name__], inputs[0], axis=axis, dtype=dtype, out=out, **options)
    if method == "accumulate" and ufunc.__name__ in _SCANS:
        scan = _SCANS[ufunc.__name__]
        return delivered(scan(inputs[0], axis=axis, dtype=dtype, **options), out)
    if method == "outer" and not options and builtins.all(isinstance(x, Array) for x in inputs):
        a, b = inputs
        a = zs.reshape(a, a.shape + (1,) * b.ndim)
        return delivered(_of_ufunc(ufunc)(a, b), out)
    if method == "reduceat" and not options and ufunc.__name__ in _FOLDS and isinstance(inputs[0], Array):
        return delivered(reduceat(_FOLDS[ufunc.__name__], *inputs, axis, None if dtype is None else np.dtype(dtype)), out)
    if method == "at" and len(inputs) == 3 and ufunc.__name__ in _FOLDS:
        return at(_of_ufunc(ufunc) if isinstance(inputs[0], Array) else ufunc, _FOLDS[ufunc.__name__], *inputs)
    raise TypeError(absent(ufunc, "" if method == "__call__" else f".{method}", options))


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
_NOTHING = {zs.sum: 0, zs.prod: 1, zs.any: False, zs.all: True}
_WITH = {zs.sum: zs.add, zs.prod: zs.multiply, zs.max: zs.maximum, zs.min: zs.minimum}


def _chosen(function, x, where, initial):
    """The array with elements that `where` leaves out replaced by the reduction's neutral element."""
    nothing = _NOTHING.get(function, initial)
    if nothing is None:
        leaves_out = f"nan{function.__name__}"
        remedy = "choose by zerostride.where" if not hasattr(np, leaves_out) else f"set the others to NaN, and call numpy.{leaves_out}"
        remedy = "give initial= too" if function in _WITH else remedy
        raise TypeError(f"{function.__name__} of zerostride takes no where= alone: {remedy}")
    where = beside(where, x)
    return zs.where(where, x, zs.astype(zs.asarray(nothing, device=x.device), x.dtype))


def _is_default(name, value):
    """Whether an argument has its default value."""
    always = {"where": True, "order": "K", "subok": True, "keepdims": False}
    return is_nothing(value) or value is always.get(name, ())


def delivered(result, out):
    """The result, written to `out` if there is one."""
    out = out[0] if isinstance(out, tuple) else out
    if out is None:
        return result
    # NumPy's casting rule "same_kind", extended by bfloat16.
    if not (is_float(result.dtype) and is_float(out.dtype) or np.can_cast(result.dtype, out.dtype, "same_kind")):
        raise TypeError(f"the result of {result.dtype} does not go into an array of {out.dtype}: cast it by astype")
    if result.shape != out.shape:
        raise ValueError(
            f"the result of {list(result.shape)} does not go into an array of {list(out.shape)}: out has its shape"
        )
    if isinstance(out, Array):
        out._replace(result if result.dtype == out.dtype else zs.astype(result, out.dtype))
    else:
        out[...] = np.asarray(result)
    return out


@functools.cache
def _parameters(function):
    """The names of a function's parameters: to look at one takes longer than to build what it gives."""
    return frozenset(inspect.signature(function).parameters)


def adapted(function, x, axis=None, dtype=None, out=None, keepdims=False, ddof=0, correction=None, **options):
    """A reduction of the namespace with NumPy's arguments.

    A result of at most half the elements of `x` is evaluated at once: Dask stores it, and its expression would keep `x`
    alive.
    """
    options = {name: value for name, value in options.items() if not _is_default(name, value)}
    where, initial = options.pop("where", None), options.pop("initial", None)
    if options:
        raise TypeError(f"{function.__name__} of zerostride takes no {', '.join(options)}")
    out = out[0] if isinstance(out, tuple) else out
    x = x if isinstance(x, Array) else zs.asarray(x, device=out.device)
    if where is not None:
        x = _chosen(function, x, where, initial)
    takes = _parameters(function)
    known = {"axis": axis, "keepdims": not is_nothing(keepdims) and bool(keepdims)}
    if "correction" in takes:
        known["correction"] = ddof if is_nothing(correction) else correction
    if dtype is not None:
        dtype = np.dtype(dtype)
        if "dtype" in takes:
            known["dtype"] = dtype
        else:
            x = zs.astype(x, dtype)
    result = function(x, **known)
    if initial is not None:
        if function not in _WITH:
            raise TypeError(f"{function.__name__} of zerostride takes no initial")
        result = _WITH[function](result, initial)
    if 0 < 2 * result.size <= x.size:
        result.evaluate()
    return delivered(result, out)

