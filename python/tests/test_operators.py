"""Operators with numbers outside of a type, lists, truth values, and in place."""

import operator

import numpy as np
import pytest
from conftest import FLOATS, INTEGERS, same

import zerostride as zs

COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


def ends(dtype):
    if dtype.kind == "f":
        return np.array([-np.inf, -1, -0.0, 0, 1, np.finfo(dtype).max, np.inf, np.nan], dtype)
    return np.array([np.iinfo(dtype).min, 0, 1, np.iinfo(dtype).max], dtype)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=str)
def test_comparisons_with_any_number(dtype):
    theirs = ends(dtype)
    ours = zs.asarray(theirs)
    for power in (7, 8, 15, 16, 31, 32, 63, 64, 70, 127, 128, 200):
        for number in (2**power, 2**power - 1, -(2**power), -(2**power) - 1):
            for compare in COMPARISONS:
                same(compare(ours, number), compare(theirs, number))
                same(compare(number, ours), compare(number, theirs))
    if dtype.kind != "f":
        assert (ours < 10**400).tolist() == [True] * 4 and (ours < -(10**400)).tolist() == [False] * 4
        return
    for call in (lambda: ours < 10**400, lambda: ours == -(10**400)):
        with pytest.raises(OverflowError):
            call()


def test_unsigned_beside_signed():
    wide = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    for dtype in ("int8", "int64"):
        signed = np.array([[0], [1], [np.iinfo(dtype).max], [-1], [np.iinfo(dtype).min]], dtype)
        for compare in COMPARISONS:
            same(compare(zs.asarray(wide), zs.asarray(signed)), compare(wide, signed))
            same(compare(zs.asarray(signed), zs.asarray(wide)), compare(signed, wide))
            same(compare(zs.asarray(wide), [1]), compare(wide, [1]))


def test_lists_and_what_no_element_equals():
    theirs = np.int32([[1, 2], [3, 4]])
    ours = zs.asarray(theirs)
    for other in ([1, 4], (3, 2), [[1], [3]], None, "a", b"a"):
        same(ours == other, theirs == other)
        same(ours != other, theirs != other)
        same(other == ours, other == theirs)
    same(ours < [2, 9], theirs < [2, 9])
    with pytest.raises(ValueError, match="cannot broadcast"):
        ours == [1, 2, 3]
    for other in (None, "a"):
        with pytest.raises(TypeError):
            ours < other


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_truth_values():
    a, b = np.array([[False], [True]]), np.array([False, True])
    x, y = zs.asarray(a), zs.asarray(b)
    for call in (operator.add, operator.mul, operator.floordiv, operator.mod, operator.and_, *COMPARISONS):
        same(call(x, y), call(a, b))
    same(abs(y), b)
    same(a @ y[None], a @ b[None])
    same(np.dot(y, zs.asarray([True] * 2)), np.dot(b, [True] * 2))
    # A sum in 8 bits would be 0.
    many = zs.ones((256,), dtype=zs.bool)
    assert bool(many @ many) and bool(np.add.reduce(many, dtype="?"))
    for function in (np.max, np.min, np.argmax, np.argmin):
        for axis in (0, 1):
            ours, theirs = function(x & y, axis=axis), function(a & b, axis=axis)
            same(ours, theirs.astype(ours.dtype) if "arg" in function.__name__ else theirs)
    with pytest.raises(ValueError):
        np.max(zs.zeros((0,), dtype=zs.bool))
    for call in (lambda: x - y, lambda: -x, lambda: +x, lambda: np.sign(x)):
        with pytest.raises(TypeError, match="takes no bool"):
            call()


def test_negative_powers_of_integers():
    x = zs.asarray(np.int32([1, 2]))
    for call in (
        lambda: x**-1, lambda: np.power(x, -2), lambda: np.power(x, zs.asarray(np.int32([1, -1]))),
        lambda: np.power(2, zs.asarray(np.int32([1, -1]))),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="int32 to .*negative power.*cast it to a float"):
            call()
    same(np.power(x, zs.asarray(np.int32([2, 3]))), np.int32([1, 8]))
    same(x.astype("float32") ** -1, np.float32([1, 0.5]))


def test_in_place():
    x = zs.asarray(np.int32([1, 2]))
    x += zs.asarray(np.int8([5, 6]))
    x += zs.asarray(np.int64([2**32 + 1, 1]))
    x -= zs.asarray(np.int64([1, 1]))
    same(x, np.int32([6, 8]))
    y = zs.asarray(np.float16([1, 2]))
    y *= zs.asarray(np.float32([3, 4]))
    y += x
    same(y, np.float16([9, 16]))
    truth = zs.asarray([True, False])
    for call, there in (
        (lambda: operator.iadd(x, 1.5), x), (lambda: operator.itruediv(x, 2), x), (lambda: operator.iadd(truth, 1), truth),
        (lambda: operator.iadd(zs.asarray(np.uint8([1])), zs.asarray(np.int8([1]))), x),
    ):  # fmt: skip
        before = there.tolist()
        with pytest.raises(TypeError, match="does not go into an array of"):
            call()
        assert there.tolist() == before
    square = zs.asarray(np.float32([[1, 2], [3, 4]]))
    square @= zs.asarray(np.int32([[0, 1], [1, 0]]))
    same(square, np.float32([[2, 1], [4, 3]]))


def test_divmod_of_numpys_numbers():
    for ours, theirs in zip(divmod(np.float64(7), zs.asarray(np.float32([2, -2]))), divmod(np.float32(7), np.float32([2, -2]))):
        same(ours, theirs)
