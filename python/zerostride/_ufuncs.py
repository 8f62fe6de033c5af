"""NumPy's universal functions on our arrays, and the arguments that NumPy gives to reductions."""

import builtins
import inspect

import numpy as np

import zerostride as zs

from . import _core
from ._core import Array
from ._creation import beside
from ._dtypes import default_float, is_float


def is_nothing(value):
    return value is None or value is np._NoValue


# NumPy's name where it is another one than ours.
_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift",
}  # fmt: skip
# Of the crate, and not of the namespace, or not with what becomes of types there.
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


def _of_ufunc(ufunc):
    name = ufunc.__name__
    if name == "true_divide":
        name = "divide"
    if name in _PRODUCTS:
        return _PRODUCTS[name]
    if name == "float_power":
        return _float_power
    if name == "divmod":
        return divmod
    if name in _CRATES:
        return lambda *operands: _core.apply(*_CRATES[name], *operands)
    name = _NAMES.get(name, name)
    return getattr(zs, name) if name in zs._elementwise.__all__ else None


def _float_power(x1, x2):
    """The power of floats that are as wide as the default."""
    wide = [zs.astype(x, default_float(x.device)) if isinstance(x, Array) else x for x in (x1, x2)]
    return _core.apply("pow", "float", *wide)


def _known(x):
    return isinstance(x, (Array, np.ndarray, np.generic, bool, int, float))


def ufunc(ufunc, method, inputs, options):
    """``__array_ufunc__``."""
    out = options.pop("out", None)
    operands = inputs + (out or ())
    if not builtins.all(_known(x) or x is None for x in operands if not isinstance(x, (tuple, list))):
        return NotImplemented
    dtype = options.pop("dtype", None)
    # All axes are None, which is not as if it were not there.
    axis = 0 if method == "__call__" else options.pop("axis", 0)
    options = {name: value for name, value in options.items() if not _is_default(name, value)}
    if method == "__call__" and not options:
        function = _of_ufunc(ufunc)
        if function is None:
            return NotImplemented
        first = next(x for x in inputs if isinstance(x, Array)) if builtins.any(
            isinstance(x, Array) for x in inputs
        ) else None
        if first is None:
            # Only what the result goes to is ours.
            result = zs.asarray(ufunc(*inputs), device=out[0].device)
        else:
            result = function(*(beside(x, first) for x in inputs))
        if ufunc.nout > 1:
            return result if out is None and dtype is None else NotImplemented
        result = result if dtype is None else zs.astype(result, np.dtype(dtype))
        # What it goes to may have more axes, or longer ones.
        return delivered(result if out is None else zs.broadcast_to(result, out[0].shape), out)
    if method == "reduce" and ufunc.__name__ in _FOLDS:
        return adapted(_FOLDS[ufunc.__name__], inputs[0], axis=axis, dtype=dtype, out=out, **options)
    if method == "accumulate" and ufunc.__name__ in _SCANS:
        scan = _SCANS[ufunc.__name__]
        return delivered(scan(inputs[0], axis=axis, dtype=dtype, **options), out)
    if method == "outer" and not options and builtins.all(isinstance(x, Array) for x in inputs):
        a, b = inputs
        a = zs.reshape(a, a.shape + (1,) * b.ndim)
        return delivered(_of_ufunc(ufunc)(a, b), out)
    return NotImplemented


def _is_default(name, value):
    """Whether an argument is as if it were not there, or says only what holds anyway."""
    always = {"where": True, "casting": "same_kind", "order": "K", "subok": True, "keepdims": False}
    return is_nothing(value) or value is always.get(name, ())


def delivered(result, out):
    """The result, in the array that it was asked to go to."""
    out = out[0] if isinstance(out, tuple) else out
    if out is None:
        return result
    # As NumPy's casting by "same_kind", which knows no bfloat16.
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


def adapted(function, x, axis=None, dtype=None, out=None, keepdims=False, ddof=0, correction=None, **options):
    """A reduction of the namespace with NumPy's arguments.

    What is much smaller than what it is made of is computed at once: Dask keeps it, and would keep the other alive.
    """
    options = {name: value for name, value in options.items() if not _is_default(name, value)}
    if options:
        raise TypeError(f"{function.__name__} of zerostride takes no {', '.join(options)}")
    out = out[0] if isinstance(out, tuple) else out
    x = x if isinstance(x, Array) else zs.asarray(x, device=out.device)
    takes = inspect.signature(function).parameters
    known = {"axis": axis, "keepdims": not is_nothing(keepdims) and bool(keepdims)}
    if "correction" in takes:
        known["correction"] = ddof if is_nothing(correction) else correction
    if dtype is not None:
        dtype = np.dtype(dtype)
        if "dtype" in takes:
            known["dtype"] = dtype
        else:
            if function in (zs.mean, zs.std, zs.var):
                must_be_float(dtype, function.__name__)
            x = zs.astype(x, dtype)
    result = function(x, **known)
    if 0 < 2 * result.size <= x.size:
        result.evaluate()
    return delivered(result, out)


def must_be_float(dtype, what):
    if not is_float(dtype):
        raise TypeError(f"{what} of zerostride is a float, not {dtype}: cast it by astype")
