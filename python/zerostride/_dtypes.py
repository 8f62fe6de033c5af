"""Element types, which are NumPy's objects, and functions of them."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from . import _core
from ._arguments import of_array
from ._core import Array
from ._types import AnyArray, DeviceLike, Number

__all__ = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128", "e", "inf", "nan", "newaxis", "pi", "astype", "can_cast", "finfo", "iinfo", "isdtype",
    "result_type",
]  # fmt: skip

bool = np.dtype("bool")
int8, int16, int32, int64 = map(np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(np.dtype, ("float16", "float32", "float64"))
# No device computes with them. They exist so that code can compare a type with them.
complex64, complex128 = map(np.dtype, ("complex64", "complex128"))

e, inf, nan, newaxis, pi = np.e, np.inf, np.nan, None, np.pi

# Types by the standard's names for their kinds.
KINDS = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def is_float(dtype):
    """Whether a type is a float, float16 and bfloat16 included."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_integer(dtype):
    return dtype.kind in "iu"


def limits(dtype):
    """The least and the greatest value of an integer type, or of bool as integers."""
    return (0, 1) if dtype == bool else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def default_float(device=None):
    return (device or _core.Device())._default_float()


def _dtype(x):
    return x.dtype if isinstance(x, Array) else np.dtype(x)


def must_cast(given, dtype, casting, what):
    """Raises if NumPy's casting rule forbids a conversion. bfloat16 is a float."""
    is_near = casting == "same_kind" and is_float(given) and is_float(dtype)
    if not is_near and not np.can_cast(given, dtype, casting):
        raise TypeError(f"{what} of {given} to {dtype} with casting={casting!r}: the rule forbids it, so cast by astype first")


@of_array
def astype(x: AnyArray, dtype: DTypeLike, /, *, copy: builtins.bool = True, device: DeviceLike = None) -> Array:
    """Convert every element to a type.

    Floats are truncated to integers and saturate. Integers wrap. The conversion to bool is ``x != 0``.

    Parameters
    ----------
    x : Array
    dtype : dtype
    copy : bool
        Whether the result is a new array even if the type stays. It costs nothing: writing to an array changes no
        other.
    device : Device or str, optional
        Where the result is.

    Returns
    -------
    Array
    """
    if device is not None:
        x = x.to_device(device)
    if x.dtype == dtype:
        return x._copy() if copy else x
    return _core.cast(x, dtype)


def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> builtins.bool:
    """Whether type ``to`` holds every value of type ``from_``.

    Parameters
    ----------
    from_ : dtype or Array
    to : dtype

    Returns
    -------
    bool
    """
    return builtins.bool(np.can_cast(_dtype(from_), np.dtype(to)))


def result_type(*arrays_and_dtypes: DTypeLike | AnyArray | Number) -> np.dtype:
    """The type of an operation's result, from the types of its operands.

    Python's numbers take the type of the arrays, unless its kind cannot hold them: a float makes integers floats. Numbers
    alone have the default types.

    Parameters
    ----------
    *arrays_and_dtypes : Array, dtype, or number

    Returns
    -------
    dtype
    """
    numbers = [x for x in arrays_and_dtypes if isinstance(x, (builtins.bool, int, float))]
    types = [_dtype(x) for x in arrays_and_dtypes if not isinstance(x, (builtins.bool, int, float))]
    if not arrays_and_dtypes:
        raise ValueError("result_type of nothing: it takes an array, a type or a number at least")
    if any(dtype.kind == "c" for dtype in types):
        return complex128 if any(dtype in (complex128, float64) for dtype in types) else complex64
    result = types[0] if types else bool
    for other in types[1:]:
        result = _core.promote(result, other)
    for number in numbers:
        result = _core.weak_type(result, number)
    return result


@dataclass(frozen=True)
class FloatInfo:
    """The result of :func:`finfo`."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


@dataclass(frozen=True)
class IntegerInfo:
    """The result of :func:`iinfo`."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type: DTypeLike | Array, /) -> FloatInfo:
    """Limits of a float type.

    Parameters
    ----------
    type : dtype or Array

    Returns
    -------
    FloatInfo
    """
    dtype = _dtype(type)
    if dtype.kind == "c":
        # A complex type has the limits of its parts.
        dtype = float32 if dtype == complex64 else float64
    if not is_float(dtype):
        raise TypeError(f"finfo takes a float type, not {dtype}: use iinfo")
    if dtype.name == "bfloat16":
        import ml_dtypes

        info = ml_dtypes.finfo(dtype)
    else:
        info = np.finfo(dtype)
    numbers = (float(x) for x in (info.eps, info.max, info.min, info.smallest_normal))
    return FloatInfo(int(info.bits), *numbers, dtype)


def iinfo(type: DTypeLike | Array, /) -> IntegerInfo:
    """Limits of an integer type.

    Parameters
    ----------
    type : dtype or Array

    Returns
    -------
    IntegerInfo
    """
    dtype = _dtype(type)
    if not is_integer(dtype):
        raise TypeError(f"iinfo takes an integer type, not {dtype}: use finfo")
    info = np.iinfo(dtype)
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), dtype)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> builtins.bool:
    """Whether a type is of a kind.

    Parameters
    ----------
    dtype : dtype
    kind : dtype, str, or tuple of them
        ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
        ``"complex floating"`` or ``"numeric"``.

    Returns
    -------
    bool
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"no kind of types is called '{kind}': there are {', '.join(map(repr, KINDS))}")
        return dtype in KINDS[kind] or (kind in ("real floating", "numeric") and is_float(dtype))
    return dtype == kind
