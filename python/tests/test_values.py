"""Values never change behind a name, and are computed once, when they are read."""

import copy
import gc
import weakref

import numpy as np
import pytest
from conftest import same

import zerostride as zs


def test_an_operator_in_place_leaves_what_was_made_before():
    x = zs.asarray([1.0, 2.0], dtype=zs.float32)
    y = x + 1
    alias = x
    x += 1
    x *= zs.asarray([10.0, 20.0], dtype=zs.float32)
    same(y, np.float32([2, 3]))
    same(x, np.float32([20, 60]))
    assert alias is x


@pytest.mark.parametrize("evaluated", [False, True])
def test_writing_changes_this_array_alone(evaluated):
    x = zs.zeros((2, 3), dtype=zs.int32) + 1
    if evaluated:
        x.evaluate()
    row, later, shared, kept = x[0], x * 10, x.copy(), np.asarray(x[1])
    x[0] = 7
    x[1, ::2] = zs.asarray([8, 9], dtype=zs.int32)
    same(x, np.int32([[7, 7, 7], [8, 1, 9]]))
    same(row, np.int32([1, 1, 1]))
    same(later, np.full((2, 3), 10, np.int32))
    same(shared, np.ones((2, 3), np.int32))
    np.testing.assert_array_equal(kept, [1, 1, 1])


def test_a_view_is_no_door_to_its_array():
    x = zs.asarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    view = x[:, 1]
    view[0] = 100
    view += 1
    same(x, np.arange(6, dtype=np.int32).reshape(2, 3))
    same(view, np.int32([101, 5]))


def test_a_value_that_reads_what_it_is_written_to():
    x = zs.asarray(np.arange(5, dtype=np.int32))
    x[1:] = x[:-1] + x[1:]
    same(x, np.int32([0, 1, 3, 5, 7]))
    x[::-1] = x
    same(x, np.int32([7, 5, 3, 1, 0]))


def test_writing_elements_one_by_one_copies_nothing():
    """A thousand writes to a large array take the time of a thousand elements."""
    x = zs.zeros(1 << 22, dtype=zs.float32).evaluate()
    address = np.asarray(x).__array_interface__["data"][0] if zs.Device().name == "cpu" else None
    for i in range(0, 1000):
        x[i] = float(i)
    if address is not None:
        assert np.asarray(x).__array_interface__["data"][0] == address
    same(x[:1000], np.arange(1000, dtype=np.float32))


def test_in_place_keeps_shape_and_type():
    x = zs.asarray([1, 2], dtype=zs.int32)
    with pytest.raises(TypeError, match="does not go into an array of int32"):
        x += 0.5
    with pytest.raises(TypeError, match="does not go into an array of int32"):
        x /= 2
    with pytest.raises(ValueError, match=r"\[3, 2\] does not go into an array of \[2\]"):
        x += zs.ones((3, 2), dtype=zs.int32)
    same(x, np.int32([1, 2]))


def test_reading_evaluates_once():
    x = zs.ones((3,), dtype=zs.float32) + 1
    assert not x.evaluated
    assert "add" in x.explain()
    assert x.evaluate() is x
    assert x.evaluated
    assert "add" not in x.explain()
    assert x[1:].evaluated and not (x[1:] * 2).evaluated


def test_a_loop_is_evaluated_now_and_then():
    x = zs.ones((4,), dtype=zs.float32)
    for _ in range(10_000):
        x = x * 1.0 + 1.0
    assert float(x[0]) == 10_001.0


def test_copies():
    x = zs.asarray([1, 2], dtype=zs.int32)
    for other in (copy.copy(x), copy.deepcopy(x), x.copy(), zs.asarray(x, copy=True)):
        other[0] = 9
        same(x, np.int32([1, 2]))
    assert zs.asarray(x) is x


def test_arrays_that_are_dropped_leave_nothing():
    last = None
    for i in range(10_000):
        x = zs.full((1000,), float(i), dtype=zs.float32) + 1
        if i % 100 == 0:
            x.evaluate()
        last = weakref.ref(x)
    del x
    gc.collect()
    assert last() is None
    assert zs.Device().memory()[0] < 1 << 20
