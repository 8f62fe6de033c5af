"""Products, diagonals and norms as NumPy's: random equations and cases, exact on small integers, floats to a bound."""

import string

import numpy as np
import pytest
from conftest import FLOATS, INTEGERS, same

import zerostride as zs
from zerostride import linalg

inf = np.inf
# Another device compiles a kernel for most of them.
MANY = 2000 if zs.Device().name == "cpu" else 60


def equation(random):
    """An equation of one to four operands over few labels, and the lengths of these, as NumPy takes it."""
    letters = random.permutation(list(string.ascii_letters))[: random.integers(1, 6)]
    lengths = {c: int(n) for c, n in zip(letters, random.choice([0, 1, 2, 3, 4, 5], len(letters), p=[0.03, 0.15, 0.22, 0.3, 0.2, 0.1]))}
    batch = [int(n) for n in random.integers(1, 4, random.integers(1, 3))] if random.random() < 0.3 else None
    terms, shapes = [], []
    for _ in range(random.integers(1, 5)):
        # A label several times is a diagonal.
        own = list(random.choice(letters, random.integers(0, 4), replace=random.random() < 0.2 or len(letters) < 3))
        shape = [lengths[c] for c in own]
        if batch and random.random() < 0.7:
            at = random.integers(0, len(own) + 1)
            axes = [n if random.random() < 0.7 else 1 for n in batch[random.integers(0, len(batch) + 1) :]]
            own, shape = [*own[:at], "...", *own[at:]], [*shape[:at], *axes, *shape[at:]]
        terms.append("".join(own))
        shapes.append(shape)
    text = ",".join(terms)
    if random.random() < 0.7:
        kept = [str(c) for c in random.permutation(sorted({c for c in text if c.isalpha()})) if random.random() < 0.5]
        at = random.integers(0, len(kept) + 1)
        text += "->" + "".join([*kept[:at], "..." if "..." in text else "", *kept[at:]])
    return text, shapes


@pytest.mark.parametrize("part", range(10))
def test_einsum_as_numpy(part):
    random = np.random.default_rng(part)
    dtype = np.dtype(zs.float32)
    for _ in range(MANY // 10):
        text, shapes = equation(random)
        arrays = [random.integers(-4, 5, shape, dtype=np.int32) for shape in shapes]
        same(zs.einsum(text, *map(zs.asarray, arrays)), np.einsum(text, *arrays))
        # Each product and each addition rounds, and two axes of sums add.
        floats = [random.normal(size=shape).astype(dtype) for shape in shapes]
        wide = [x.astype(np.float64) for x in floats]
        ours, exact = np.asarray(zs.einsum(text, *map(zs.asarray, floats))), np.einsum(text, *wide)
        bound = 100 * np.finfo(dtype).eps * np.einsum(text, *map(np.abs, wide))
        assert ours.shape == exact.shape and ours.dtype == dtype, text
        assert (np.abs(ours - exact) <= bound).all(), text


def test_einsum_by_numpy():
    a, b = np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(8, dtype=np.int32).reshape(4, 2)
    x, y = zs.asarray(a), zs.asarray(b)
    same(np.einsum("ij,jk", x, y, optimize=True), a @ b)
    same(np.einsum(x, [0, 1], y, [1, 2]), a @ b)
    same(np.einsum(x, [0, 7], b, [7, 2], [2, 0]), (a @ b).T)
    same(np.einsum(x, [Ellipsis, 0], [0, Ellipsis]), a.T)
    same(np.einsum("ij->i", x, dtype=np.float32, casting="same_kind"), a.sum(1).astype(np.float32))
    for each in (x, a):
        with pytest.raises(TypeError, match="casting='safe'|'safe'"):
            np.einsum("ij->i", each, dtype=np.float32)
    out = zs.zeros((3, 2), dtype=zs.int32)
    assert np.einsum("ij,jk", x, y, out=out) is out
    same(out, a @ b)


def shapes(random, *last):
    """Shapes of two stacks that broadcast, whose last lengths are given."""
    batch = [int(n) for n in random.integers(1, 4, random.integers(0, 3))]
    own = [tuple(n if random.random() < 0.7 else 1 for n in batch[random.integers(0, len(batch) + 1) :]) for _ in last]
    return [each + tuple(tail) for each, tail in zip(own, last)]


def drawn(random, *shapes):
    dtype = np.dtype(random.choice(INTEGERS + [d for d in FLOATS if d.itemsize > 2]))
    low = 0 if dtype.kind == "u" else -4
    return [random.integers(low, 5, shape).astype(dtype) for shape in shapes]


def test_products_as_numpy():
    random = np.random.default_rng(1)
    for _ in range(MANY // 20):
        m, k, n = (int(x) for x in random.integers(1, 6, 3))
        a, b = drawn(random, *shapes(random, (m, k), (k, n)))
        x, y = zs.asarray(a), zs.asarray(b)
        for call in (np.matmul, np.linalg.matmul, np.dot):
            same(call(x, y), call(a, b))
        same(linalg.matmul(x, y), a @ b)
        same(np.inner(x, zs.matrix_transpose(y)), np.inner(a, b.mT))
        same(np.kron(x, y), np.kron(a, b))
        same(np.outer(x, y), np.outer(a, b))
        same(linalg.outer(x[..., 0, 0].ravel(), y.ravel()), np.outer(a[..., 0, 0], b))
        same(np.matvec(x, y[..., 0]), np.matvec(a, b[..., 0]))
        same(np.vecmat(x[..., 0, :], y), np.vecmat(a[..., 0, :], b))
        a, b = drawn(random, *shapes(random, (k, n), (k, n)))
        x, y = zs.asarray(a), zs.asarray(b)
        same(np.vecdot(x, y), np.vecdot(a, b))
        for axis in (-1, -2):
            same(linalg.vecdot(x, y, axis=axis), np.linalg.vecdot(a, b, axis=axis))
            same(np.linalg.vecdot(x, b, axis=axis), np.linalg.vecdot(a, b, axis=axis))
        axes = ([-1, -2], [-1, -2]) if random.random() < 0.5 else ([-2], [-2])
        same(np.tensordot(x, y, axes=axes), np.tensordot(a, b, axes=axes))
        same(linalg.tensordot(x, y, axes=axes), np.linalg.tensordot(a, b, axes=axes))
        (c,) = drawn(random, (m, k, n))
        same(np.vdot(zs.asarray(c), c[::-1]), np.vdot(c, c[::-1]))
        a, b = drawn(random, *shapes(random, (3,), (3,)))
        x, y = zs.asarray(a), zs.asarray(b)
        same(linalg.cross(x, y), np.linalg.cross(a, b))
        same(np.cross(x, b), np.cross(a, b))
    a, b = (np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[3, 1], [0, 2], [5, 4]]))
    x, y = zs.asarray(a), zs.asarray(b)
    same(np.cross(x, y, axisb=0), np.cross(a, b, axisb=0))
    same(np.cross(x, y, 1, 0, 0), np.cross(a, b, 1, 0, 0))
    same(linalg.cross(y, y[:, ::-1], axis=0), np.linalg.cross(b, b[:, ::-1], axis=0))
    for chain in ([x, y, x], [x[0], y, x, y], [x, y, x[:, 1]], [x[0], y, x[:, 1]], [x, y]):
        same(np.linalg.multi_dot(chain), np.linalg.multi_dot([np.asarray(each) for each in chain]))
    same(np.dot(x, 2), a * 2)


def test_diagonals_as_numpy():
    random = np.random.default_rng(2)
    for _ in range(MANY // 20):
        rows, columns = (int(n) for n in random.integers(1, 6, 2))
        (shape,) = shapes(random, (rows, columns))
        (a,) = drawn(random, shape)
        x, offset = zs.asarray(a), int(random.integers(-5, 6))
        same(linalg.diagonal(x, offset=offset), np.linalg.diagonal(a, offset=offset))
        same(np.linalg.diagonal(x > 0, offset=offset), np.linalg.diagonal(a > 0, offset=offset))
        own = linalg.trace(x, offset=offset)
        assert own.dtype == zs.sum(x).dtype
        same(own, np.linalg.trace(a, offset=offset).astype(own.dtype))
        axis1, axis2 = (int(axis) for axis in random.permutation(a.ndim)[:2])
        same(np.diagonal(x, offset, axis1, axis2), np.diagonal(a, offset, axis1, axis2))
        same(np.trace(x, offset, axis1, axis2, dtype=np.int32), np.trace(a, offset, axis1, axis2, dtype=np.int32))
        same(np.diag(x[..., 0].ravel(), offset), np.diag(a[..., 0].ravel(), offset))
    same(np.matrix_transpose(x), a.mT)
    same(linalg.diagonal(x, offset=99), np.empty((*a.shape[:-2], 0), a.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_norms_as_numpy(dtype):
    random = np.random.default_rng(3)
    exact = np.float64 if dtype != zs.float64 else np.longdouble
    near = {"rtol": max(2e-6, 4 * float(np.finfo(dtype).eps))}

    def agrees(ours, theirs):
        assert ours.shape == theirs.shape and ours.dtype == dtype
        np.testing.assert_allclose(np.asarray(ours).astype(exact), theirs, **near)

    for _ in range(max(4, MANY // 100)):
        shape = [int(n) for n in random.integers(1, 6, random.integers(2, 5))]
        # Ones that do not vanish, so that the order of -1 is finite.
        a = (random.uniform(0.5, 2, shape) * random.choice([-1, 1], shape)).astype(dtype)
        x, wide, keepdims = zs.asarray(a), a.astype(exact), bool(random.integers(2))
        for ord in (2, 1, 0, -1, 3, 0.5, inf, -inf):
            for axis in (None, 0, -1, (0, 1)):
                ours = linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
                agrees(ours, np.linalg.vector_norm(wide, axis=axis, keepdims=keepdims, ord=ord))
            agrees(np.linalg.norm(x, ord, axis=-2, keepdims=keepdims), np.linalg.norm(wide, ord, axis=-2, keepdims=keepdims))
        for ord in ("fro", 1, -1, inf, -inf):
            ours = linalg.matrix_norm(x, keepdims=keepdims, ord=ord)
            agrees(ours, np.linalg.matrix_norm(wide, keepdims=keepdims, ord=ord))
            for axis in ((-2, -1), (1, 0)):
                ours = np.linalg.norm(x, ord, axis=axis, keepdims=keepdims)
                agrees(ours, np.linalg.norm(wide, ord, axis=axis, keepdims=keepdims))
        agrees(np.linalg.norm(x), np.linalg.norm(wide))


def test_powers():
    random = np.random.default_rng(4)
    a = random.integers(-2, 3, (2, 3, 3), dtype=np.int32)
    x = zs.asarray(a)
    for n in range(9):
        same(linalg.matrix_power(x, n), np.linalg.matrix_power(a, n))
    same(np.linalg.matrix_power(x, 3), np.linalg.matrix_power(a, 3))


def test_a_row_of_a_batch_has_the_bits_of_one_alone():
    random = np.random.default_rng(5)
    a, b = (random.normal(size=shape).astype(np.float32) for shape in ((3, 17, 130), (130, 9)))
    whole = np.asarray(zs.asarray(a) @ zs.asarray(b))
    for i in range(3):
        same(zs.asarray(a[i, :1]) @ zs.asarray(b), whole[i, :1])


def test_errors():
    x, flags = zs.ones((2, 3), dtype=zs.float32), zs.ones((2, 3), dtype=zs.bool)
    for call, kind, text in [
        (lambda: linalg.cross(x, x[:, :2]), ValueError, "cross of lengths 3 and 2: vectors have 3 elements"),
        (lambda: linalg.cross(flags, flags), TypeError, "cross takes floats and integers, not bool"),
        (lambda: linalg.matrix_power(x, 2), ValueError, r"matrix_power of \[2, 3\]: it takes square matrices"),
        (lambda: linalg.matrix_power(x[:, :2], -1), np.linalg.LinAlgError, "Singular matrix"),
        (lambda: linalg.matrix_norm(x, ord=3), ValueError, "a matrix norm of ord=3: there are 'fro', 'nuc'"),
        (lambda: linalg.inv(x), np.linalg.LinAlgError, "square"),
        (lambda: linalg.svdvals(x[0]), ValueError, r"svdvals of \[3\]: it takes matrices"),
        (lambda: linalg.qr(x, mode="raw"), ValueError, "for the mode of qr: it is 'reduced' or 'complete'"),
        (lambda: np.linalg.eig(x[:, :2]), TypeError, "numpy.linalg.eig is not there"),
        (lambda: linalg.diagonal(x[0]), ValueError, r"diagonal of \[3\]: it takes matrices"),
        (lambda: linalg.trace(x[0]), ValueError, r"trace of \[3\]: it takes matrices"),
        (lambda: np.linalg.multi_dot([x]), ValueError, "multi_dot takes two arrays at least, not 1"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=text):
            call()


SOLVERS = {
    "cholesky": lambda xp, a, b: xp.cholesky(a @ a.mT + xp_eye(a)), "cholesky upper": lambda xp, a, b: xp.cholesky(a @ a.mT + xp_eye(a), upper=True),
    "det": lambda xp, a, b: xp.det(a), "slogdet": lambda xp, a, b: tuple(xp.slogdet(a)), "inv": lambda xp, a, b: xp.inv(a),
    "solve": lambda xp, a, b: xp.solve(a, b), "solve vector": lambda xp, a, b: xp.solve(a[0], b[0, :, 0]),
    "eigvalsh": lambda xp, a, b: xp.eigvalsh(a + a.mT), "svdvals": lambda xp, a, b: xp.svdvals(a), "pinv": lambda xp, a, b: xp.pinv(b),
    "matrix_rank": lambda xp, a, b: xp.matrix_rank(b @ b.mT), "nuc": lambda xp, a, b: xp.matrix_norm(b, ord="nuc"),
    "norm 2": lambda xp, a, b: xp.matrix_norm(b, ord=2, keepdims=True), "norm -2": lambda xp, a, b: xp.matrix_norm(b, ord=-2),
    "inverse power": lambda xp, a, b: xp.matrix_power(a, -2),
}  # fmt: skip


def xp_eye(a):
    n = a.shape[-1]
    return zs.eye(n, dtype=a.dtype) if isinstance(a, zs.Array) else np.eye(n, dtype=a.dtype)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers(name):
    random = np.random.default_rng(3)
    a = random.normal(size=(2, 4, 4)).astype(np.float32) + 4 * np.eye(4, dtype=np.float32)
    b = random.normal(size=(2, 4, 2)).astype(np.float32)
    call = SOLVERS[name]
    theirs = call(np.linalg, a, b)
    for ours in (call(linalg, zs.asarray(a), zs.asarray(b)), call(np.linalg, zs.asarray(a), zs.asarray(b))):
        pairs = zip(ours, theirs) if isinstance(theirs, tuple) else [(ours, theirs)]
        for own, other in pairs:
            assert isinstance(own, zs.Array) and own.dtype.kind == other.dtype.kind
            near(own, other)


def near(own, other):
    assert own.shape == other.shape
    np.testing.assert_allclose(np.asarray(own), other, rtol=2e-4, atol=2e-4)


def test_factorizations_make_their_matrices():
    random = np.random.default_rng(4)
    x = random.normal(size=(3, 5, 3)).astype(np.float32)
    ours = zs.asarray(x)
    for full in (False, True):
        q, r = linalg.qr(ours, mode="complete" if full else "reduced")
        assert q.shape == (3, 5, 5 if full else 3)
        near(q @ r, x)
        u, s, vh = linalg.svd(ours, full_matrices=full)
        assert u.shape == (3, 5, 5 if full else 3) and vh.shape == (3, 3, 3)
        near((u[..., :3] * s[:, None, :]) @ vh, x)
    symmetric = ours.mT @ ours
    values, vectors = linalg.eigh(symmetric)
    near((vectors * values[:, None, :]) @ vectors.mT, np.asarray(symmetric))
    solution, residuals, rank, singular = np.linalg.lstsq(ours[0], zs.asarray(x[0, :, 0]))
    near(solution, np.float32([1, 0, 0]))
    assert int(rank) == 3 and singular.shape == (3,)
    assert linalg.svdvals(zs.astype(ours, zs.float16)).dtype == zs.float16
