"""Memory: a dropped array returns its memory, and an array that does not fit is an error."""

import resource
import sys

import numpy as np
import pytest

import zerostride as zs


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_thousand_large_arrays_take_the_memory_of_a_few():
    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    def work(times):
        for _ in range(times):
            x = zs.ones((1 << 18,), dtype=zs.float32)
            y = (x * 2 + 1).evaluate()
            np.asarray(y)

    work(50)
    before = resident()
    work(950)
    assert resident() - before < 64 << 20  # of 950 MiB


def test_what_does_not_fit_is_an_error_and_nothing_is_lost():
    kept = zs.ones((10,), dtype=zs.float32)
    with pytest.raises((MemoryError, RuntimeError, OverflowError)):
        (zs.ones((1 << 50,), dtype=zs.float32) + 1).evaluate()
    with pytest.raises((MemoryError, OverflowError, ValueError)):
        zs.ones((1 << 62, 1 << 62), dtype=zs.float32)
    assert float(zs.sum(kept + 1)) == 20.0
