"""NumPy's products, diagonals, norms and solvers for `Array`s. They extend :mod:`._numpy`."""

import inspect
import string

import numpy as np

import zerostride as zs
from zerostride import linalg

from ._arguments import axes_of
from ._core import Array
from ._dtypes import int64, must_cast
from ._linear import _product
from ._numpy import FUNCTIONS, _implements, _ours, _with_arrays
from ._solvers import EighResult, QRResult, SlogdetResult, SVDResult, solved
from ._out import delivered


FUNCTIONS.update({
    np.linalg.cross: _with_arrays(linalg.cross, 2), np.linalg.diagonal: linalg.diagonal,
    np.linalg.matmul: _with_arrays(linalg.matmul, 2), np.linalg.matrix_norm: linalg.matrix_norm,
    np.linalg.matrix_transpose: linalg.matrix_transpose, np.matrix_transpose: linalg.matrix_transpose,
    np.linalg.outer: _with_arrays(linalg.outer, 2), np.linalg.tensordot: _with_arrays(linalg.tensordot, 2),
    np.linalg.trace: linalg.trace, np.linalg.vecdot: _with_arrays(linalg.vecdot, 2),
    np.linalg.vector_norm: linalg.vector_norm, np.linalg.matrix_power: linalg.matrix_power,
    np.tensordot: _with_arrays(zs.tensordot, 2), np.vdot: lambda a, b: zs.vecdot(*(x.ravel() for x in _ours([a, b]))),
})  # fmt: skip


@_implements(np.einsum)
def _einsum(*operands, out=None, dtype=None, casting="safe"):
    equation, *arrays = operands
    if not isinstance(equation, str):
        # NumPy's other form: each array is followed by a list of numbers for its axes, and one list names the result's axes.
        equation, arrays = ",".join(map(_letters, operands[1::2])), operands[: len(operands) // 2 * 2 : 2]
        if len(operands) % 2:
            equation = f"{equation}->{_letters(operands[-1])}"
    arrays = _ours(arrays)
    if dtype is not None:
        for x in arrays:
            must_cast(x.dtype, np.dtype(dtype), casting, "einsum")
        arrays = [zs.astype(x, np.dtype(dtype)) for x in arrays]
    return delivered(zs.einsum(equation, *arrays), out)


def _letters(numbers):
    letters = string.ascii_uppercase + string.ascii_lowercase
    return "".join("..." if number is Ellipsis else letters[number] for number in numbers)


@_implements(np.dot)
def _dot(a, b, out=None):
    a, b = _ours([a, b])
    if a.ndim == 0 or b.ndim == 0:
        return delivered(a * b, out)
    return delivered(zs.tensordot(a, b, axes=([-1], [-min(b.ndim, 2)])), out)


@_implements(np.inner)
def _inner(a, b):
    a, b = _ours([a, b])
    return a * b if a.ndim == 0 or b.ndim == 0 else zs.tensordot(a, b, axes=([-1], [-1]))


@_implements(np.outer)
def _outer(a, b, out=None):
    return delivered(zs.outer(*(x.ravel() for x in _ours([a, b]))), out)


@_implements(np.kron)
def _kron(a, b):
    a, b = _ours([a, b])
    rank = max(a.ndim, b.ndim)
    of_a, of_b = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    # Each axis of an operand stands beside an axis of length 1, which has the other operand's length.
    spread = a.reshape([n for k in of_a for n in (k, 1)]) * b.reshape([n for k in of_b for n in (1, k)])
    return spread.reshape([n * k for n, k in zip(of_a, of_b)])


@_implements(np.linalg.multi_dot)
def _multi_dot(arrays, *, out=None):
    arrays = _ours(arrays)
    if len(arrays) < 2:
        raise ValueError(f"multi_dot takes two arrays at least, not {len(arrays)}")
    terms = [string.ascii_letters[k : k + 2] for k in range(len(arrays))]
    # A vector is a row if it comes first and a column if it comes last.
    terms[0], terms[-1] = terms[0][-arrays[0].ndim :], terms[-1][: arrays[-1].ndim]
    kept = terms[0][: arrays[0].ndim - 1] + terms[-1][1:]
    return delivered(_product("multi_dot", f"{','.join(terms)}->{kept}", *arrays), out)


@_implements(np.trace)
def _trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    matrices = zs.moveaxis(a, (axis1, axis2), (-2, -1))
    return delivered(linalg.trace(matrices, offset=offset, dtype=None if dtype is None else np.dtype(dtype)), out)


@_implements(np.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1):
    return linalg.diagonal(zs.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


@_implements(np.diag)
def _diag(v, k=0):
    if v.ndim == 2:
        return _diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag of {list(v.shape)}: it takes one or two axes")
    nothing = zs.zeros((abs(k),), dtype=v.dtype, device=v.device)
    row = zs.concat([nothing, v] if k > 0 else [v, nothing])
    return zs.where(zs.eye(row.size, k=k, dtype=zs.bool, device=v.device), row, zs.zeros_like(row))


@_implements(np.cross)
def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = _ours([a, b])
    return zs.moveaxis(linalg.cross(zs.moveaxis(a, axisa, -1), zs.moveaxis(b, axisb, -1)), -1, axisc)


@_implements(np.linalg.norm)
def _norm(x, ord=None, axis=None, keepdims=False):
    axes = range(x.ndim) if axis is None else axes_of(axis, x.ndim, "norm")
    if axis is not None and len(axes) not in (1, 2):
        raise ValueError(f"a norm over {len(axes)} axes: vectors have one, and matrices two")
    if ord is None or (len(axes) == 1 and not isinstance(ord, str)):
        return linalg.vector_norm(x, axis=None if axis is None else tuple(axes), keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"a norm of ord={ord!r} over {len(axes)} axes: vectors have one, and matrices two")
    found = linalg.matrix_norm(zs.moveaxis(x, tuple(axes), (-2, -1)), ord=ord, keepdims=True)
    found = zs.moveaxis(found, (-2, -1), tuple(axes))
    return found if keepdims else zs.squeeze(found, tuple(axes))


def _solver(name, kind=None, count=1):
    """NumPy's function of `count` arrays, on the host. It honours what NumPy's own does."""
    theirs = getattr(np.linalg, name)

    def call(*arguments, **options):
        others = [_on_host(each) for each in arguments[count:]]
        options = {name: _on_host(each) for name, each in options.items()}
        found = solved(lambda *hosts: _plain(theirs(*hosts, *others, **options)), f"numpy.linalg.{name}", *_ours(arguments[:count]))
        return kind(*found) if kind and isinstance(found, tuple) else found

    call.__signature__ = inspect.signature(theirs)
    return call


def _on_host(value):
    return np.asarray(value) if isinstance(value, Array) else value


def _plain(found):
    return tuple(found) if isinstance(found, tuple) else found


FUNCTIONS.update({
    getattr(np.linalg, name): _solver(name, kind)
    for name, kind in {
        "cholesky": None, "cond": None, "det": None, "eigh": EighResult, "eigvalsh": None, "inv": None, "pinv": None,
        "qr": QRResult, "slogdet": SlogdetResult, "svd": SVDResult, "svdvals": None,
    }.items()
})  # fmt: skip
FUNCTIONS.update({np.linalg.lstsq: _solver("lstsq", count=2), np.linalg.solve: _solver("solve", count=2)})


@_implements(np.linalg.matrix_rank)
def _matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    if A.ndim < 2:
        return zs.astype(zs.any(A != 0), int64)
    found = solved(lambda x: np.linalg.matrix_rank(x, tol, hermitian, rtol=rtol), "numpy.linalg.matrix_rank", A)
    return zs.astype(found, int64)
