"""Every rule of shapes answers as the system that it comes from: the verified cases of the crate, by the wheel."""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import zerostride as zs

DATA = Path(os.environ.get("ZEROSTRIDE_CASES", Path(__file__).parents[2] / "tests" / "data")) / "shapes.jsonl"
CASES = [json.loads(line) for line in DATA.read_text().splitlines()]


def numbers(shape, start):
    return np.arange(start, start + np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


def answer(case):
    mode = case["mode"]
    if mode == "nary":
        return zs.broadcast_shapes(*map(tuple, case["shapes"]))
    a = numbers(case["a"], 1)
    if mode == "inplace":
        x = zs.asarray(a)
        try:
            x += zs.asarray(numbers(case["b"], 1000))
        except ValueError:
            assert np.array_equal(np.asarray(x), a)
            raise
        assert np.array_equal(np.asarray(x), a + numbers(case["b"], 1000))
        return x.shape
    if mode in ("bidirectional", "explicit", "expand"):
        rule = {"expand": case["system"]}.get(mode, mode)
        result = zs.broadcast_to(zs.asarray(a), case["target"], rule=rule, axes=case.get("axes"))
        if mode != "explicit":
            assert np.array_equal(np.asarray(result), np.broadcast_to(a, result.shape))
        elif a.ndim:
            spread = [a.shape[case["axes"].index(k)] if k in case["axes"] else 1 for k in range(result.ndim)]
            assert np.array_equal(np.asarray(result), np.broadcast_to(a.reshape(spread), result.shape))
        return result.shape
    b = numbers(case["b"], 1000)
    x, y = zs.align(zs.asarray(a), zs.asarray(b), rule=mode, axis=case.get("axis"))
    result = x + y
    assert x.shape == y.shape == result.shape
    larger = max(a.ndim, b.ndim)

    def laid(array):
        if mode not in ("pdpd", "paddle") or case.get("axis", -1) < 0 or array.ndim == larger:
            return array
        return array.reshape(array.shape + (1,) * (larger - array.ndim - case["axis"]))

    assert np.array_equal(np.asarray(result), laid(a) + laid(b))
    return result.shape


def test_verified_cases():
    asked = 0
    for case in CASES:
        # `where` has no rule but NumPy's, and NumPy's arrays have 64 axes at most.
        if case.get("op") == "Select" or len(case.get("a", [])) > 64:
            continue
        asked += 1
        if case["error"]:
            with pytest.raises((ValueError, IndexError, OverflowError, TypeError)):
                print(case, "became", answer(case))
        else:
            assert list(answer(case)) == case["result"], case
    assert asked > 500


def test_targets():
    x = zs.asarray([1, 2, 3], dtype=zs.int32)
    assert zs.broadcast_to(x, (2, 3)).shape == (2, 3)
    assert zs.broadcast_to(x, (2, -1), rule="torch").shape == (2, 3)
    for rule in ("bidirectional", "onnx"):
        assert zs.broadcast_to(x, (2, 1), rule=rule).shape == (2, 3)
    assert zs.broadcast_to(x, (2, 3, 4), rule="explicit", axes=[1])[0].tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert zs.broadcast_to(x, (2, 3, 4), rule="pdpd", axis=1)[0].tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert zs.broadcast_to(x, (2, 3, 4), rule="paddle", axis=1).shape == (2, 3, 4)
    with pytest.raises(ValueError, match="expand"):
        zs.broadcast_to(x, (1,))
    with pytest.raises(ValueError, match="take the bidirectional rule"):
        zs.broadcast_to(x, (2, 1), rule="paddle")
    with pytest.raises(ValueError, match="0 or more"):
        zs.broadcast_to(x, (-1, 3), rule="bidirectional")
    with pytest.raises(ValueError, match="none rule"):
        zs.broadcast_to(x, (2, 3), rule="none")
    with pytest.raises(ValueError, match="no rule is called 'mine'"):
        zs.broadcast_to(x, (2, 3), rule="mine")
    with pytest.raises(TypeError, match="takes axes"):
        zs.broadcast_to(x, (2, 3), rule="explicit")


def test_in_place():
    x, row = zs.zeros((3,), dtype=zs.int32), zs.ones((1, 3), dtype=zs.int32)
    with pytest.raises(ValueError):
        x += row
    assert x.tolist() == [0, 0, 0]
    # Two elements of a stretched array are one element of its array, so it cannot be written.
    stretched = zs.broadcast_to(x, (2, 3))
    with pytest.raises(ValueError):
        stretched += 1
    assert stretched.tolist() == [[0, 0, 0]] * 2 and x.tolist() == [0, 0, 0]


def test_remedies():
    with pytest.raises(ValueError, match="both have 12 elements: reshape one"):
        zs.ones((2, 6), dtype=zs.int32) + zs.ones((3, 4), dtype=zs.int32)
    with pytest.raises(ValueError, match=r"drop the trailing 1 of \[5, 1\]"):
        zs.align(zs.zeros((2, 3, 4, 5), dtype=zs.int32), zs.zeros((5, 1), dtype=zs.int32), rule="pdpd", axis=3)


def test_the_warning_of_reinterpreted_shapes():
    column, vector = zs.zeros((4, 1), dtype=zs.float32), zs.zeros((4,), dtype=zs.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        column + vector
        assert not caught, "off by default"
        zs.warn_on_reinterpreted_shapes(True)
        try:
            column + vector
            zs.add(vector, column)
            column + column, vector + 1.0, column + zs.zeros((8,), dtype=zs.float32)
        finally:
            zs.warn_on_reinterpreted_shapes(False)
        column + vector
    assert [warning.category for warning in caught] == [UserWarning] * 2
    # Of the caller's line, whether it was an operator or a function.
    assert all(warning.filename == __file__ for warning in caught)
    assert caught[1].lineno == caught[0].lineno + 1
    text = "[4, 1] and [4] broadcast to [4, 4]; both have 4 elements, and an old pointwise reading would have viewed both as 1-D"
    assert str(caught[0].message) == text
