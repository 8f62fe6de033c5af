"""Functions beside elementwise ones, against NumPy's."""

import numpy as np
import pytest
from conftest import FLOATS, INTEGERS, same

import zerostride as zs

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7


@pytest.fixture
def x():
    return zs.asarray(X)


def near(ours, theirs):
    assert ours.shape == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(x, axis, keepdims):
    options = {"axis": axis, "keepdims": keepdims}
    for name in ("sum", "mean", "std", "var", "max", "min"):
        near(getattr(zs, name)(x, **options), getattr(np, name)(X, **options))
    for name in ("any", "all"):
        same(getattr(zs, name)(x > 0, **options), getattr(np, name)(X > 0, **options))
    near(zs.prod(x / 4, **options), np.prod(X / 4, **options))
    near(zs.logsumexp(x, **options), np.log(np.sum(np.exp(X), **options)))
    if axis is None or isinstance(axis, int):
        assert np.array_equal(np.asarray(zs.argmax(x, **options)), np.argmax(X, **options))
        assert np.array_equal(np.asarray(zs.argmin(x, **options)), np.argmin(X, **options))
    near(zs.var(x, correction=1, axis=2), np.var(X, ddof=1, axis=2))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_are_wide(dtype):
    elements = np.asarray([100, 27, 1], dtype=dtype)
    total = zs.sum(zs.asarray(elements))
    assert int(total) == 128 and total.dtype.itemsize >= 4
    assert zs.cumulative_sum(zs.asarray(elements)).tolist() == [100, 127, 128]


def test_cumulative(x):
    near(zs.cumulative_sum(x, axis=1), np.cumulative_sum(X, axis=1))
    near(zs.cumulative_prod(x / 4, axis=2), np.cumulative_prod(X / 4, axis=2))
    near(zs.cumulative_sum(x, axis=1, include_initial=True), np.cumulative_sum(X, axis=1, include_initial=True))
    with pytest.raises(ValueError):
        zs.cumulative_sum(x)


def test_softmax(x):
    exponentials = np.exp(X - X.max(axis=-1, keepdims=True))
    near(zs.softmax(x), exponentials / exponentials.sum(axis=-1, keepdims=True))
    near(zs.log_softmax(x, axis=0), X - np.log(np.exp(X).sum(axis=0)))


def test_shapes(x):
    same(zs.permute_dims(x, (2, 0, 1)), X.transpose(2, 0, 1))
    same(zs.moveaxis(x, 0, -1), np.moveaxis(X, 0, -1))
    same(zs.moveaxis(x, (0, 2), (1, 0)), np.moveaxis(X, (0, 2), (1, 0)))
    same(zs.flip(x, axis=(0, 2)), np.flip(X, axis=(0, 2)))
    same(zs.reshape(zs.permute_dims(x, (2, 0, 1)), (6, 4)), X.transpose(2, 0, 1).reshape(6, 4))
    same(zs.reshape(x * 2, (-1, 2)), (X * 2).reshape(-1, 2))
    same(zs.expand_dims(x, axis=(0, -1)), np.expand_dims(X, (0, -1)))
    same(zs.squeeze(zs.expand_dims(x, axis=1), 1), X)
    same(zs.broadcast_to(x[:, :1], (5, 2, 3, 4)), np.broadcast_to(X[:, :1], (5, 2, 3, 4)))
    same(zs.roll(x, (1, -2), axis=(0, 2)), np.roll(X, (1, -2), axis=(0, 2)))
    same(zs.roll(x, 5), np.roll(X, 5))
    same(zs.repeat(x, 3, axis=1), np.repeat(X, 3, axis=1))
    same(zs.repeat(x, zs.asarray([1, 0, 2], dtype=zs.int32), axis=1), np.repeat(X, [1, 0, 2], axis=1))
    same(zs.tile(x, (2, 1, 2)), np.tile(X, (2, 1, 2)))
    same(zs.concat([x, x[:1]], axis=0), np.concatenate([X, X[:1]]))
    same(zs.concat([x, x + 1], axis=None), np.concatenate([X, X + 1], axis=None))
    same(zs.stack([x, x], axis=-1), np.stack([X, X], axis=-1))
    assert [part.shape for part in zs.unstack(x, axis=1)] == [(2, 4)] * 3
    same(zs.diff(x, axis=1, n=2), np.diff(X, axis=1, n=2))
    same(zs.tril(x, k=-1), np.tril(X, k=-1))
    same(zs.triu(x, k=1), np.triu(X, k=1))
    assert zs.broadcast_shapes((3, 1), (4,), ()) == (3, 4)
    for ours, theirs in zip(zs.meshgrid(x[0, 0], x[0, :, 0]), np.meshgrid(X[0, 0], X[0, :, 0])):
        same(ours, theirs)


def test_creation():
    for arguments in [(5,), (2, 9, 2), (9, 2, -2), (0,), (5, 5), (3, 1)]:
        same(zs.arange(*arguments, dtype=zs.int32), np.arange(*arguments, dtype=np.int32))
    near(zs.arange(0.5, 3, 0.25, dtype=zs.float32), np.arange(0.5, 3, 0.25))
    near(zs.linspace(-1, 2, 7, dtype=zs.float32), np.linspace(-1, 2, 7))
    near(zs.linspace(-1, 2, 7, dtype=zs.float32, endpoint=False), np.linspace(-1, 2, 7, endpoint=False))
    same(zs.eye(3, 4, k=1, dtype=zs.int8), np.eye(3, 4, k=1, dtype=np.int8))
    same(zs.full((2,), 7, dtype=zs.uint16), np.full(2, 7, np.uint16))
    same(zs.ones_like(zs.zeros((2, 1), dtype=zs.int16)), np.ones((2, 1), np.int16))


@pytest.mark.parametrize("dtype", [zs.float32, zs.int32])
def test_products(dtype):
    a, b = np.arange(24).reshape(2, 3, 4).astype(dtype), np.arange(20).reshape(4, 5).astype(dtype)
    x, y = zs.asarray(a), zs.asarray(b)
    same(x @ y, a @ b)
    same(x[0, 0] @ y, a[0, 0] @ b)
    same(x @ y[:, 0], a @ b[:, 0])
    same(x[0, 0] @ y[:, 0], np.asarray(a[0, 0] @ b[:, 0]))
    same(zs.tensordot(x, y, axes=1), np.tensordot(a, b, axes=1))
    same(zs.tensordot(x, x, axes=([0, 2], [0, 2])), np.tensordot(a, a, axes=([0, 2], [0, 2])))
    same(zs.tensordot(x, y, axes=0), np.tensordot(a, b, axes=0))
    same(zs.vecdot(x, x[:1], axis=-2), np.vecdot(a, a[:1], axis=-2))
    same(zs.matrix_transpose(x), a.mT)
    with pytest.raises(ValueError):
        x @ x


def test_searching(x):
    same(zs.where(x > 0, x, 0.0), np.where(X > 0, X, np.float32(0)))
    same(zs.where(x > 0, 1.5, zs.zeros((), dtype=zs.float32)), np.where(X > 0, np.float32(1.5), np.float32(0)))
    assert [each.tolist() for each in zs.nonzero(x)] == [each.tolist() for each in np.nonzero(X)]
    same(zs.take(x, zs.asarray([2, 0]), axis=1), np.take(X, [2, 0], axis=1))
    same(zs.take_along_axis(x, zs.argsort(x, axis=1), axis=1), np.sort(X, axis=1))
    same(zs.sort(x, axis=1, descending=True), -np.sort(-X, axis=1))
    assert zs.searchsorted(zs.asarray([1, 3]), zs.asarray([2, 3])).tolist() == [1, 1]
    assert zs.count_nonzero(x).tolist() == 23
    same(zs.unique_values(zs.asarray([3, 1, 3], dtype=zs.int8)), np.int8([1, 3]))
    assert zs.unique_all(zs.asarray([3, 1, 3])).inverse_indices.tolist() == [1, 0, 1]
    with pytest.raises(IndexError, match="index 9 is outside of axis 1"):
        zs.take(x, [9], axis=1)
    same(zs.isin(zs.asarray([1, 2]), zs.asarray([2])), np.asarray([False, True]))
    same(zs.clip(x, -1, 5), np.clip(X, -1, 5))


@pytest.mark.parametrize("dtype", [zs.bool, *INTEGERS, *FLOATS])
def test_the_different_elements_are_in_order(dtype):
    elements = np.random.default_rng(0).integers(0, 100, (20, 30)).astype(dtype)
    x = zs.asarray(elements)
    values, indices, inverse, counts = np.unique(elements, return_index=True, return_inverse=True, return_counts=True)
    same(zs.unique_values(x), values)
    found = zs.unique_all(x)
    same(found.values, values)
    assert found.indices.tolist() == indices.tolist() and found.counts.tolist() == counts.tolist()
    assert found.inverse_indices.tolist() == inverse.tolist()
    same(zs.unique_counts(x).values, values)
    assert zs.unique_counts(x).counts.tolist() == counts.tolist()
    same(zs.unique_inverse(x).values, values)
    assert zs.unique_inverse(x).inverse_indices.tolist() == inverse.tolist()


def test_every_nan_differs():
    values, counts = zs.unique_counts(zs.asarray(np.float32([np.nan, 1, np.nan])))
    np.testing.assert_array_equal(np.asarray(values), np.float32([1, np.nan, np.nan]))
    assert counts.tolist() == [1, 1, 1]


def test_what_has_no_elements():
    nothing = [zs.zeros((0, n), dtype=zs.float32) for n in (2, 3)]
    with pytest.raises(ValueError, match=r"cannot concat \[0, 2\] and \[0, 3\]"):
        zs.concat(nothing)
    assert zs.concat(nothing, axis=1).shape == (0, 5)
    for mode in ("linear_ramp", "maximum", "edge", "wrap"):
        with pytest.raises(ValueError, match="it has no element to repeat"):
            zs.pad(nothing[0], ((1, 1), (0, 0)), mode=mode)
        assert zs.pad(nothing[0], ((0, 0), (1, 1)), mode=mode).shape == (0, 4)
    assert np.max(nothing[0], axis=0, initial=-1).tolist() == [-1, -1] and np.max(nothing[0], axis=1, initial=5).shape == (0,)


def test_arrays_of_numpy_are_taken(x):
    same(zs.sum(X, axis=0), X.sum(axis=0))
    same(zs.astype(X, zs.int32), X.astype(np.int32))
    same(zs.concat([X, x]), np.concatenate([X, X]))
    same(zs.stack([x, X]), np.stack([X, X]))
    same(zs.unique_values(np.int32([3, 1, 3])), np.int32([1, 3]))
    same(zs.take(X, zs.asarray([1]), axis=1), X[:, [1]])
    same(zs.isin(2, np.int32([2])), np.asarray(True))
    same(zs.matmul(x, np.ones((4, 1), np.float32)), X @ np.ones((4, 1), np.float32))
    for ours, theirs in zip(zs.broadcast_arrays(x, X[0]), np.broadcast_arrays(X, X[0])):
        same(ours, theirs)
    # They go to the device of an array that is beside them.
    cpu = zs.asarray(X, device="cpu")
    for result in (zs.concat([X, cpu]), zs.take(X, zs.asarray([1], device="cpu"), axis=1), zs.tensordot(X, cpu, axes=3)):
        assert result.device == cpu.device


def test_products_of_two_types():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    b = np.arange(40, dtype=np.int16).reshape(2, 4, 5)
    x, y = zs.asarray(a), zs.asarray(b)
    same(x @ y, (a @ b).astype(np.float32))
    same(x @ zs.asarray([1, 2, 3, 4]), (a @ np.float32([1, 2, 3, 4])))
    same(zs.asarray([1.0, 2, 3], dtype=zs.float32) @ x, np.float32([1, 2, 3]) @ a)
    same(zs.matmul(x[0, 0], x[0, 1]), a[0, 0] @ a[0, 1])
    same(zs.vecdot(x, x[:1, :1]), (a * a[:1, :1]).sum(-1))
    same(zs.vecdot(x, x, axis=0 - 3), (a * a).sum(0))
    same(zs.tensordot(x, x, axes=([0, 2], [0, 2])), np.tensordot(a, a, axes=([0, 2], [0, 2])))
    same(zs.tensordot(x, x, axes=0), np.tensordot(a, a, axes=0))
    same(zs.einsum("bij,bjk->kb", x, y), np.einsum("bij,bjk->kb", a, b).astype(np.float32))
    same(zs.einsum("...ij->...ji", x), np.einsum("...ij->...ji", a))
    same(zs.outer(x[0, 0], x[0, 1]), np.outer(a[0, 0], a[0, 1]))
    with pytest.raises(ValueError, match="label 'j' has lengths 4 and 3"):
        zs.einsum("ij,jk", x[0], x[0])


def test_limits_of_other_types():
    for elements, least, greatest, expected in [
        (np.int8([100]), None, np.int32([300]), [100]), (np.uint8([5]), np.int32([-1]), None, [5]),
        (np.int8([-100]), np.int64([-300]), np.uint16([60000]), [-100]), (np.uint8([5]), np.int64(7), None, [7]),
        (np.uint64([5]), np.int64([-1]), np.uint8([3]), [3]), (np.float32([5]), None, np.float64(2), [2]),
    ]:  # fmt: skip
        if not all(zs.Device().supports(x.dtype) for x in (elements, least, greatest) if hasattr(x, "dtype")):
            continue
        least, greatest = (zs.asarray(x) if isinstance(x, np.ndarray) else x for x in (least, greatest))
        same(zs.clip(zs.asarray(elements), least, greatest), np.array(expected, elements.dtype))
    with pytest.raises(TypeError, match="takes limits of that type"):
        zs.clip(zs.ones((1,), dtype=zs.int8), np.float32(0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_and_numbers(dtype):
    x = zs.asarray(np.asarray([1.5, -2.5], dtype=dtype))
    for result in (x + 1, 1 - x, x * 2.0, 1 / x, x**2, x // 2, x % 2, -x, abs(x), x + True):
        assert result.dtype == dtype
    same(x // 2, np.asarray([1.5, -2.5], dtype=dtype) // 2)
    same(2 % x, 2 % np.asarray([1.5, -2.5], dtype=dtype))
    for other, number in ((x, 2), (2, x)):
        down, rest = divmod(other, number)
        same(down, np.asarray(other // number))
        same(rest, np.asarray(other % number))
    assert (x > 0).tolist() == [True, False] and (0 < x).tolist() == [True, False]


def test_types_together():
    assert (zs.ones((1,), dtype=zs.int8) + zs.ones((1,), dtype=zs.uint8)).dtype == zs.int16
    assert (zs.ones((1,), dtype=zs.int32) * zs.ones((1,), dtype=zs.float32)).dtype == zs.float32
    assert zs.result_type(zs.int8, zs.uint16, 1) == zs.int32
    assert (zs.ones((1,), dtype=zs.uint8) * np.float32(0.5)).dtype == zs.float32
    assert (np.float32(0.5) * zs.ones((1,), dtype=zs.uint8)).dtype == zs.float32


def test_rules_of_other_systems():
    x, bias = zs.zeros((2, 3, 4, 5), dtype=zs.int32), zs.asarray([1, 2, 3], dtype=zs.int32)
    a, b = zs.align(x, bias, rule="pdpd", axis=1)
    assert (a + b).shape == (2, 3, 4, 5) and (a + b)[0, :, 0, 0].tolist() == [1, 2, 3]
    a, b = zs.align(bias, x, rule="paddle", axis=1)
    assert (a + b)[0, :, 0, 0].tolist() == [1, 2, 3]
    a, b = zs.align(zs.ones((3, 1), dtype=zs.int8), zs.ones((4,), dtype=zs.int8), rule="bidirectional")
    assert a.shape == b.shape == (3, 4)
    a, b = zs.align(bias, x, rule="explicit", axes=[1])
    assert a.shape == x.shape
    for rule in ("numpy", "torch", "onnx"):
        assert zs.align(x, bias[:1], rule=rule)[1].shape == x.shape
    with pytest.raises(ValueError, match="none rule"):
        zs.align(x, bias, rule="none")
    with pytest.raises(ValueError, match="no rule is called 'mine'"):
        zs.align(x, bias, rule="mine")


def test_namespace():
    x = zs.ones((1,), dtype=zs.float32)
    assert x.__array_namespace__() is zs and x.__array_namespace__(api_version="2024.12") is zs
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.01")
    missing = [name for name in zs.__dict__ if not name.startswith("_") and callable(zs.__dict__[name])]
    for name in missing:
        assert zs.__dict__[name].__doc__, f"{name} is not documented"


def test_integers_are_counted_by_integers():
    big = 2**62
    real = zs.__array_namespace_info__().default_dtypes()["real floating"]
    for bounds in [
        (np.int64(3),), (np.prod((2, 3)),), (np.array(4),), (np.uint8(3), np.int8(6)), (True,), (big, big + 3), (0, 2 * big - 1, big),
        (-big, big, big), (5, 0, np.int8(-2)), (3, 1), (0,), (1, 8, 3),
    ]:  # fmt: skip
        same(zs.arange(*bounds), np.array(range(*map(int, bounds)), np.int64))
        same(zs.arange(*bounds, dtype=zs.float32), np.array(range(*map(int, bounds)), np.float32))
    for bounds in [(3.0,), (np.float32(3),), (0, 3, 0.5), (np.int64(5), 0, -2.0)]:
        same(zs.arange(*bounds), np.arange(*bounds).astype(real))
    same(zs.arange(zs.asarray(3)), np.arange(3, dtype=np.int64))


def test_shapes_without_elements_are_checked():
    x, y = zs.zeros((0, 2), dtype=zs.float32), zs.zeros((0, 3), dtype=zs.float32)
    for join in (zs.concat, np.concatenate):
        with pytest.raises(ValueError, match=r"cannot concat \[0, 2\] and \[0, 3\]"):
            join([x, y])
        same(join([x, y], axis=1), np.zeros((0, 5), np.float32))
        with pytest.raises(IndexError, match="axis 2 of"):
            join([x, y], axis=2)
    for mode in ("edge", "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap"):
        same(zs.pad(x, ((0, 0), (1, 2)), mode), np.zeros((0, 5), np.float32))
        for width in (1, ((1, 0), (0, 0)), ((0, 1), (0, 0))):
            with pytest.raises(ValueError, match="it has no element"):
                zs.pad(x, width, mode)
    for mode in ("constant", "empty"):
        same(zs.pad(x, 1, mode), np.zeros((2, 4), np.float32))


def test_checksums():
    words = X.view(np.uint32).ravel().astype(np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    x = words ^ (np.arange(1, X.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B9) & mask)
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        x = (x ^ x >> np.uint64(shift)) * np.uint64(factor) & mask
    expected = int((x ^ x >> np.uint64(15)).sum() & mask)
    own = zs.checksum(zs.asarray(X))
    assert own.dtype == zs.uint32 and own.shape == () and int(own) == expected
    assert int(zs.checksum(X)) == expected == int(zs.checksum(zs.asarray(X, device="cpu") * 2 / 2))
    assert int(zs.checksum(zs.asarray(X[::-1].copy()))) != expected
    assert int(zs.checksum(zs.asarray(np.nextafter(X, 100)))) != expected
