"""Views share elements, results keep the values that they were made of, and both are computed once, when they are read."""

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
def test_writing_changes_views_and_no_result(evaluated):
    x = zs.zeros((2, 3), dtype=zs.int32) + 1
    if evaluated:
        x.evaluate()
    row, later, copied, kept = x[0], x * 10, x.copy(), np.asarray(x[1])
    of_row = row + 1
    x[0] = 7
    x[1, ::2] = zs.asarray([8, 9], dtype=zs.int32)
    same(x, np.int32([[7, 7, 7], [8, 1, 9]]))
    same(row, np.int32([7, 7, 7]))
    same(of_row, np.int32([2, 2, 2]))
    same(later, np.full((2, 3), 10, np.int32))
    same(copied, np.ones((2, 3), np.int32))
    np.testing.assert_array_equal(kept, [1, 1, 1])


# What returns a view in NumPy, with an element of it to write to.
VIEWS = {
    "one": lambda x: x[1], "slice": lambda x: x[:, 1:3], "step": lambda x: x[::-2, 1], "new axis": lambda x: x[:, None],
    "T": lambda x: x.T, "mT": lambda x: x.mT, "transpose": lambda x: x.transpose(1, 2, 0), "swapaxes": lambda x: x.swapaxes(0, 1),
    "reshape": lambda x: x.reshape(4, -1), "ravel": lambda x: x.ravel(), "squeeze": lambda x: x[:1].squeeze(0),
    "expand_dims": lambda x: np.expand_dims(x, 1), "moveaxis": lambda x: np.moveaxis(x, 0, 2), "flip": lambda x: np.flip(x, 1),
    "split": lambda x: np.split(x, 2, axis=2)[1], "real": lambda x: x.real, "rot90": lambda x: np.rot90(x),
    "views of views": lambda x: x.T[1:][:, ::-1].swapaxes(0, 1)[0],
    "many views": lambda x: [x := x[:] for _ in range(100)][-1],
}  # fmt: skip
# What has elements of its own in NumPy.
OWN = {
    "copy": lambda x: x.copy(), "astype": lambda x: x.astype(x.dtype), "flatten": lambda x: x.flatten(), "sum": lambda x: x.sum(0, dtype=np.int32),
    "take": lambda x: x[[0, 1]], "mask": lambda x: x[x > 3], "positive": lambda x: +x, "concat": lambda x: np.concatenate([x]),
    "turned": lambda x: x.T.reshape(-1), "where": lambda x: np.where(x > 0, x, x), "roll": lambda x: np.roll(x, 0), "sort": lambda x: np.sort(x[:1], 0),
}  # fmt: skip


@pytest.mark.parametrize("is_lazy", [False, True])
@pytest.mark.parametrize("name", [*VIEWS, *OWN])
def test_writes_go_where_those_of_numpy_go(name, is_lazy):
    view = {**VIEWS, **OWN}[name]
    theirs = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    ours = zs.asarray(theirs)
    ours = ours + 0 if is_lazy else ours
    seen, found = view(theirs), view(ours)
    assert np.shares_memory(found, ours) == np.shares_memory(seen, theirs) == (name in VIEWS)
    before = ours + 100
    for x, part in ((theirs, seen), (ours, found)):
        part[...] = part * 2
        part += 1
        part[0] = -5
        x[0, 1] += 7
        x -= 1
    same(ours, theirs)
    same(found, seen)
    same(before, np.arange(100, 124, dtype=np.int32).reshape(2, 3, 4))


def test_views_of_a_view_that_was_computed():
    x = zs.ones((4, 3), dtype=zs.float32) * 2
    part = x[1:]
    part.evaluate()
    assert part[0].evaluated and not x.evaluated
    x[2] = 9
    same(part[:, 0], np.float32([2, 9, 2]))


def test_places_in_memory():
    x = zs.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert not np.shares_memory(x[:, ::2], x[:, 1::2]) and np.may_share_memory(x[:, ::2], x[:, 1::2])
    assert np.shares_memory(x[1], x[:, 2]) and not np.shares_memory(x, x + 0) and not np.shares_memory(x, x.copy())
    with pytest.raises(ValueError, match="read-only"):
        np.diagonal(x)[0] = 1
    diagonal = np.diagonal(x, 1)
    x[1, 2] = 50
    same(diagonal, np.float32([1, 50, 11]))
    with pytest.raises(ValueError, match="do not lie row by row"):
        x.T.flat[0] = 1
    x.flat[::5] = 0
    x.flat = x.flat * 2
    same(x, np.float32([[0, 2, 4, 6], [8, 0, 100, 14], [16, 18, 0, 22]]))


def test_a_view_that_is_written_costs_its_elements(monkeypatch):
    """`x[key] += y` computes and writes the part, and copies neither the array nor the part once more."""
    x = zs.zeros(1 << 22, dtype=zs.float32).evaluate()
    address = np.asarray(x).__array_interface__["data"][0] if zs.Device().name == "cpu" else None
    for i in range(200):
        x[i : i + 8] += 1.0
    if address is not None:
        assert np.asarray(x).__array_interface__["data"][0] == address
    assert float(zs.sum(x)) == 1600


def test_dask_keeps_no_array_alive_by_a_view():
    x = zs.zeros((1000,), dtype=zs.float32).evaluate()
    part = x[:10]
    part._settle()
    part[0] = 1
    assert float(x[0]) == 0 and float(part[0]) == 1


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
