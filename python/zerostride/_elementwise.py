"""Elementwise functions, made from one table."""

import builtins

from . import _core
from ._arguments import integer, of_array
from ._core import Array
from ._creation import beside, zeros_like
from ._dtypes import is_float, is_integer, limits

# The standard's name, the crate's operation, and the rule for types. "same" promotes operands to one type, "float"
# converts integers to floats, "whole" returns integers unchanged, "truth" converts operands to bool, and "finite"
# answers for integers without looking.
UNARY = {
    "abs": ("abs", "same"),
    "acos": ("acos", "float"),
    "acosh": ("acosh", "float"),
    "asin": ("asin", "float"),
    "asinh": ("asinh", "float"),
    "atan": ("atan", "float"),
    "atanh": ("atanh", "float"),
    "bitwise_invert": ("not", "same"),
    "ceil": ("ceil", "whole"),
    "conj": ("positive", "same"),
    "cos": ("cos", "float"),
    "cosh": ("cosh", "float"),
    "exp": ("exp", "float"),
    "expm1": ("expm1", "float"),
    "floor": ("floor", "whole"),
    "isfinite": ("is_finite", "finite"),
    "isinf": ("is_inf", "finite"),
    "isnan": ("is_nan", "finite"),
    "log": ("log", "float"),
    "log1p": ("log1p", "float"),
    "log2": ("log2", "float"),
    "log10": ("log10", "float"),
    "logical_not": ("not", "truth"),
    "negative": ("neg", "same"),
    "positive": ("positive", "same"),
    "real": ("positive", "same"),
    "reciprocal": ("reciprocal", "float"),
    "round": ("round", "whole"),
    "sign": ("sign", "same"),
    "signbit": ("signbit", "float"),
    "sin": ("sin", "float"),
    "sinh": ("sinh", "float"),
    "square": ("square", "same"),
    "sqrt": ("sqrt", "float"),
    "tan": ("tan", "float"),
    "tanh": ("tanh", "float"),
    "trunc": ("trunc", "whole"),
}
BINARY = {
    "add": ("add", "same"),
    "atan2": ("atan2", "float"),
    "bitwise_and": ("and", "same"),
    "bitwise_left_shift": ("shl", "same"),
    "bitwise_or": ("or", "same"),
    "bitwise_right_shift": ("shr", "same"),
    "bitwise_xor": ("xor", "same"),
    "copysign": ("copysign", "float"),
    "divide": ("div", "float"),
    "equal": ("eq", "same"),
    "floor_divide": ("div_floor", "same"),
    "greater": ("gt", "same"),
    "greater_equal": ("ge", "same"),
    "hypot": ("hypot", "float"),
    "less": ("lt", "same"),
    "less_equal": ("le", "same"),
    "logaddexp": ("logaddexp", "float"),
    "logical_and": ("and", "truth"),
    "logical_or": ("or", "truth"),
    "logical_xor": ("xor", "truth"),
    "maximum": ("maximum", "same"),
    "minimum": ("minimum", "same"),
    "multiply": ("mul", "same"),
    "nextafter": ("nextafter", "float"),
    "not_equal": ("ne", "same"),
    "pow": ("pow", "same"),
    "remainder": ("rem_floor", "same"),
    "subtract": ("sub", "same"),
}
# Beyond the standard, under the crate's names.
MORE_UNARY = (
    "cbrt digamma erf erfc exp2 gelu hardswish lgamma logit mish relu relu6 rsqrt selu sigmoid silu softplus softsign"
).split()
MORE_BINARY = {"fmax": "same", "fmin": "same", "leaky_relu": "float", "xlogy": "float"}

__all__ = ["clip", "imag", *UNARY, *BINARY, *MORE_UNARY, *MORE_BINARY]

_DOCUMENTATION = dict(_core.documentation())


def _make(name, op, rule, operands):
    if operands == 1:

        def function(x, /):
            return _core.apply(op, rule, x)

        parameters = "x : Array"
    else:

        def function(x1, x2, /):
            return _core.apply(op, rule, x1, x2)

        parameters = "x1, x2 : Array or number\n    At least one is an array. They are broadcast together."
    what = _DOCUMENTATION[op].replace("`a`", "`x1`").replace("`b`", "`x2`").replace("`", "``")
    function.__doc__ = f"{what}\n\nParameters\n----------\n{parameters}\n\nReturns\n-------\nArray\n"
    function.__name__ = function.__qualname__ = name
    function.__module__ = "zerostride"
    return function


globals().update({name: _make(name, *row, 1) for name, row in UNARY.items()})
globals().update({name: _make(name, *row, 2) for name, row in BINARY.items()})
globals().update({name: _make(name, name, "float", 1) for name in MORE_UNARY})
globals().update({name: _make(name, name, rule, 2) for name, rule in MORE_BINARY.items()})


@of_array
def imag(x, /):
    """The imaginary part, which is 0.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array
    """
    return zeros_like(x)


@of_array
def clip(x, /, min=None, max=None):
    """Elements limited to ``min`` and ``max``. NaN stays NaN.

    Parameters
    ----------
    x : Array
    min, max : Array or number, optional
        Without a bound, that side has no limit.

    Returns
    -------
    Array
        Of the type of ``x``.
    """

    def limit(bound, end):
        bound = beside(bound, x)
        if isinstance(bound, int) and is_integer(x.dtype):
            # A number beyond its end of the type is no limit.
            return end(bound, limits(x.dtype)[end is builtins.min])
        if isinstance(bound, Array) and bound.dtype != x.dtype:
            if is_float(bound.dtype) and not is_float(x.dtype):
                raise TypeError(f"clip of {x.dtype} takes limits of that type, not {bound.dtype}: cast them")
            return _core.cast(bound if is_float(x.dtype) else _within(bound, x.dtype), x.dtype)
        if isinstance(bound, float) and not is_float(x.dtype):
            raise TypeError(f"clip of {x.dtype} takes limits of that type, not {bound}: cast the array")
        return bound

    result = x
    if min is not None:
        result = _core.apply("maximum", "same", result, limit(min, builtins.max))
    if max is not None:
        result = _core.apply("minimum", "same", result, limit(max, builtins.min))
    return result._copy() if result is x else result


def _within(x, dtype):
    """Integers clamped to the range of a type."""
    (least, greatest), (low, high) = limits(x.dtype), limits(dtype)
    if least < low:
        x = _core.apply("maximum", "same", x, low)
    return _core.apply("minimum", "same", x, high) if greatest > high else x


def rounded(x, decimals=0):
    """Elements rounded to decimal places, half to even, as in NumPy. Negative `decimals` are places before the point."""
    decimals = integer(decimals, "the decimals of round")
    if not decimals:
        return _core.apply("round", "whole", x)
    step = 10 ** builtins.abs(decimals)
    if is_float(x.dtype):
        there, back = ("mul", "div") if decimals > 0 else ("div", "mul")
        whole = _core.apply("round", "same", _core.apply(there, "same", x, float(step)))
        return _core.apply(back, "same", whole, float(step))
    if decimals > 0:
        return x._copy()
    if step > limits(x.dtype)[1]:
        # The only multiple in range is 0.
        return zeros_like(x)
    down = x // step
    over = x - down * step
    under = step - over
    is_up = (over > under) | ((over == under) & (down % 2 != 0))
    return (down + _core.cast(is_up, x.dtype)) * step
