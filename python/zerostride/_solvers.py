"""Solutions and factorizations of matrices, by NumPy's LAPACK on the host, whatever the device of an array.

Their many small dependent steps are slow as kernels. Arrays on the CPU are read in place. Arrays on another device are
copied to the host, and the results are copied back. docs/design/python.md has the times beside a library in Rust.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from . import _core
from ._arguments import arrays_of, of_array, upload
from ._core import Array
from ._creation import on_host
from ._dtypes import default_float, is_float, result_type
from ._types import AnyArray, Number

__all__ = [
    "cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_rank", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
]  # fmt: skip


def solved(theirs, what, *arrays, **options):
    """The result of a function of NumPy for matrices, on their device. Floats of 16 bits are computed in float32."""
    if arrays[0].ndim < 2:
        raise ValueError(f"{what} of {list(arrays[0].shape)}: it takes matrices, which have two axes or more")
    dtype = result_type(*arrays)
    dtype = dtype if is_float(dtype) else default_float(arrays[0].device)
    within = dtype if dtype.itemsize > 2 else np.dtype("float32")
    device = arrays[0].device
    hosts = [on_host(x if x.dtype == within else _core.cast(x, within)) for x in arrays]
    found = theirs(*hosts, **options)

    def back(array):
        array = np.asarray(array)
        if array.dtype.kind == "c":
            raise TypeError(f"{what} has complex results, which no device has: pass numpy.asarray of the array")
        ours = upload(array, device)
        return _core.cast(ours, dtype) if array.dtype == within and within != dtype else ours

    return tuple(map(back, found)) if isinstance(found, tuple) else back(found)


class EighResult(NamedTuple):
    """The result of :func:`eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The result of :func:`qr`."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """The result of :func:`svd`."""

    U: Array
    S: Array
    Vh: Array


@of_array
def cholesky(x: AnyArray, /, *, upper: bool = False) -> Array:
    """The triangular factor of each symmetric positive definite matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
    upper : bool
        Whether to return the upper factor, ``x = R.mT @ R``, or the lower factor, ``x = L @ L.mT``.

    Returns
    -------
    Array

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite.
    """
    return solved(np.linalg.cholesky, "cholesky", x, upper=upper)


@of_array
def det(x: AnyArray, /) -> Array:
    """The determinant of each square matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array
    """
    return solved(np.linalg.det, "det", x)


@of_array
def slogdet(x: AnyArray, /) -> SlogdetResult:
    """The sign and the logarithm of the magnitude of each determinant.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array

    Returns
    -------
    SlogdetResult
    """
    return SlogdetResult(*solved(lambda a: tuple(np.linalg.slogdet(a)), "slogdet", x))


@of_array
def eigh(x: AnyArray, /) -> EighResult:
    """The eigenvalues of each symmetric matrix of a stack, in ascending order, and its eigenvectors as columns.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
        Symmetric matrices. Only the lower triangle is read.

    Returns
    -------
    EighResult
    """
    return EighResult(*solved(lambda a: tuple(np.linalg.eigh(a)), "eigh", x))


@of_array
def eigvalsh(x: AnyArray, /) -> Array:
    """The eigenvalues of each symmetric matrix of a stack, in ascending order.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
        Symmetric matrices. Only the lower triangle is read.

    Returns
    -------
    Array
    """
    return solved(np.linalg.eigvalsh, "eigvalsh", x)


@of_array
def inv(x: AnyArray, /) -> Array:
    """The inverse of each square matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    """
    return solved(np.linalg.inv, "inv", x)


def _host(number):
    return None if number is None else np.asarray(number)


@of_array
def matrix_rank(x: AnyArray, /, *, rtol: Number | AnyArray | None = None) -> Array:
    """The number of singular values other than 0 of each matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
    rtol : number or Array, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is epsilon times the larger length of a
        matrix.

    Returns
    -------
    Array
    """
    return solved(lambda a: np.linalg.matrix_rank(a, rtol=_host(rtol)), "matrix_rank", x)


@of_array
def pinv(x: AnyArray, /, *, rtol: Number | AnyArray | None = None) -> Array:
    """The pseudo-inverse of each matrix of a stack, by singular values.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
    rtol : number or Array, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is epsilon times the larger length of a
        matrix.

    Returns
    -------
    Array
    """
    return solved(lambda a: np.linalg.pinv(a, rtol=_host(rtol)), "pinv", x)


@of_array
def qr(x: AnyArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """An orthogonal matrix and an upper triangular matrix whose product is ``x``, for each matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
    mode : {"reduced", "complete"}
        Whether ``Q`` has ``min(rows, columns)`` columns or is square.

    Returns
    -------
    QRResult
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"{mode!r} for the mode of qr: it is 'reduced' or 'complete'")
    return QRResult(*solved(lambda a: tuple(np.linalg.qr(a, mode)), "qr", x))


def solve(x1: AnyArray, x2: AnyArray, /) -> Array:
    """The solution ``y`` of ``x1 @ y = x2``, for each square matrix of a stack.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x1 : Array
    x2 : Array
        A vector, or a stack of matrices.

    Returns
    -------
    Array

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular.
    """
    return solved(np.linalg.solve, "solve", *arrays_of("solve", [x1, x2]))


@of_array
def svd(x: AnyArray, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular values of each matrix of a stack, in descending order, and its singular vectors.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array
    full_matrices : bool
        Whether ``U`` and ``Vh`` are square. Else they have a column and a row for each singular value.

    Returns
    -------
    SVDResult
    """
    return SVDResult(*solved(lambda a: tuple(np.linalg.svd(a, full_matrices=full_matrices)), "svd", x))


@of_array
def svdvals(x: AnyArray, /) -> Array:
    """The singular values of each matrix of a stack, in descending order.

    Runs on the host by NumPy's LAPACK. Elements on another device are copied there, and the result back.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Array
    """
    return solved(np.linalg.svdvals, "svdvals", x)
