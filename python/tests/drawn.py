"""What the tests of drawn calls share: values, shapes, kinds of errors, and the loop over seeds."""

import os
import re
import time
from pathlib import Path

import numpy as np
from conftest import FLOATS, INTEGERS

import zerostride as zs

TYPES = [np.dtype("bool"), *INTEGERS, *FLOATS]
DEFAULTS = zs.__array_namespace_info__().default_dtypes()
INTEGER, FLOAT = DEFAULTS["integral"], DEFAULTS["real floating"]
MESSAGES = {TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, RuntimeError}


def rows_of_the_guide(section):
    """The first column of a table of the guide."""
    guide = (Path(__file__).parents[2] / "docs/guide/python.md").read_text()
    return re.findall(r"^\| (.*?) \|", guide.split(f"## {section}")[1].split("\n## ")[0], re.MULTILINE)[1:]


def must_differ(row, example):
    """Asserts that an example of a difference gives something else in NumPy."""
    found = []
    for wrap in (np.array, lambda *elements: zs.asarray(np.array(*elements))):
        try:
            result = example(wrap)
            found.append((type(result) if isinstance(result, (str, tuple)) else result.dtype, np.asarray(result).tolist()))
        except tuple(MESSAGES) as error:
            found.append(type(error))
    assert found[0] != found[1], row


def draw(check, count):
    """Checks the calls of many seeds, or of the one that the environment names."""
    if "ZEROSTRIDE_SEED" in os.environ:
        return check(int(os.environ["ZEROSTRIDE_SEED"]))
    seconds, begin, seed = float(os.environ.get("ZEROSTRIDE_DRAWN", 0)), time.monotonic(), 0
    while seed < count or time.monotonic() - begin < seconds:
        check(seed)
        seed += 1


def same_kind_of_error(ours, theirs, *others):
    """Asserts that two outcomes are errors of one kind. Of two mistakes either is told: `others` have one less."""
    both = [{kind for kind in MESSAGES if isinstance(each, kind)} for each in (ours, theirs)]
    if isinstance(ours, Exception) and isinstance(theirs, Exception):
        for found, less in zip(both[::-1], others[::-1]):
            found.update(kind for each in less for kind in MESSAGES if isinstance(each, kind))
    assert both[0] & both[1], f"ours {ours!r}, NumPy's {theirs!r}"


def values(random, dtype, shape, is_tame):
    if dtype.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [0, 1, 2, 3, 7] if is_tame else [0, 1, 2, 3, 7, info.min, info.max, info.max - 1, info.max // 2]
        edges += [] if dtype.kind == "u" else [-1, -2, -3]
    else:
        info = np.finfo(dtype)
        edges = [0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 3, 0.1, 7, -0.3]
        edges += [] if is_tame else [np.nan, np.inf, -np.inf, info.max, info.min, info.smallest_normal]
    return np.asarray(np.array(edges, dtype)[random.integers(len(edges), size=shape)])


def number(random):
    """A number of Python, inside or outside of a type."""
    return [
        True, False, 0, 1, 2, -1, -3, 3, 127, 128, 255, 256, -128, -129, 2**31, -(2**31) - 1, 2**63, 2**64, -(2**70), 0.0, -0.0, 0.5,
        -2.5, float("nan"), float("inf"), 2.0**128, 70000, 70000.0,
    ][random.integers(28)]  # fmt: skip


def broadcastable(random, shape):
    """A shape that broadcasts to another."""
    shape = [1 if random.random() < 0.2 else n for n in shape]
    return tuple(shape[random.integers(len(shape) + 1) :] if random.random() < 0.2 else shape)
