"""Beside NumPy (with ``out=``), numexpr, PyTorch, JAX and Dask over NumPy on the CPU, in one run, in turns.

    ZEROSTRIDE_DEVICE=cpu python python/benches/compare.py --sizes 1e3 1e5 1e7 --markdown results.md

A library that is not installed is left out, with a message. Times are the least of several turns, in milliseconds. Each
turn waits for the results of JAX and zerostride. Libraries take turns because the machine's speed swings within a run.
"""

import argparse
import importlib
import os
import platform
import sys
import time

import numpy as np

import zerostride as zs

BARS = {  # of zerostride's time beside another's, by the number of elements
    1e3: {("a + b", "NumPy"): 3.0, ("chain of 5", "NumPy"): 1.5},
    1e5: {("a + b", "NumPy"): 1.0, ("sum over axis 0", "NumPy"): 1.2, ("softmax of rows", "NumPy"): 1.0},
    1e7: {("a + b", "NumPy"): 1.0, ("chain of 5", "NumPy"): 0.35, ("chain of 5", "numexpr"): 1.0},
}


class NumPy:
    """With ``out=``, as one writes where time counts."""

    name = "NumPy"

    def __init__(self, arrays):
        self.arrays = arrays
        self.out = np.empty_like(arrays["a"])

    def add(self):
        np.add(self.arrays["a"], self.arrays["b"], out=self.out)

    def chain(self, n):
        a, b, out = self.arrays["a"], self.arrays["b"], self.out
        np.add(a, b, out=out)
        for i in range(1, n):
            (np.multiply, np.subtract, np.add)[i % 3](out, (a, b)[i % 2], out=out)

    def row(self):
        m = self.arrays["m"]
        np.add(m, self.arrays["row"], out=self.out[: m.size].reshape(m.shape))

    def column(self):
        m = self.arrays["m"]
        np.add(m, self.arrays["column"], out=self.out[: m.size].reshape(m.shape))

    def sum(self):
        np.sum(self.arrays["a"])

    def sum_of_columns(self):
        np.sum(self.arrays["m"], axis=0)

    def mean_of_rows(self):
        np.mean(self.arrays["m"], axis=1)

    def softmax(self):
        m = self.arrays["m"]
        out = self.out[: m.size].reshape(m.shape)
        np.subtract(m, m.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)


class Operators:
    """Libraries whose operators give new arrays."""

    def __init__(self, arrays):
        self.arrays = {name: self.make(array) for name, array in arrays.items()}

    def add(self):
        self.wait(self.arrays["a"] + self.arrays["b"])

    def chain(self, n):
        self.wait(self.chained(self.arrays["a"], self.arrays["b"], n))

    def chained(self, a, b, n):
        x = a + b
        for i in range(1, n):
            y = (a, b)[i % 2]
            x = x * y if i % 3 == 0 else x - y if i % 3 == 1 else x + y
        return x

    def row(self):
        self.wait(self.arrays["m"] + self.arrays["row"])

    def column(self):
        self.wait(self.arrays["m"] + self.arrays["column"])

    def sum(self):
        self.wait(self.arrays["a"].sum())

    def sum_of_columns(self):
        self.wait(self.arrays["m"].sum(0))

    def mean_of_rows(self):
        self.wait(self.arrays["m"].mean(1))


class Zerostride(Operators):
    name = "zerostride"
    has_queue = zs.Device().name != "cpu"

    def make(self, array):
        return zs.asarray(array).evaluate()

    def wait(self, x):
        x.evaluate()
        if self.has_queue:
            x.device.synchronize()

    def softmax(self):
        self.wait(zs.softmax(self.arrays["m"], axis=1))


class PyTorch(Operators):
    name = "PyTorch"
    package = "torch"

    def make(self, array):
        return self.module.from_numpy(array)

    def wait(self, x):
        pass

    def softmax(self):
        self.module.softmax(self.arrays["m"], 1)


class Jax(Operators):
    """Chains compiled as one, as one writes where time counts."""

    name = "JAX"
    package = "jax"

    def __init__(self, arrays):
        self.compiled = {}
        super().__init__(arrays)

    def make(self, array):
        return self.module.numpy.asarray(array)

    def wait(self, x):
        x.block_until_ready()

    def chain(self, n):
        if n not in self.compiled:
            self.compiled[n] = self.module.jit(lambda a, b: self.chained(a, b, n))
        self.wait(self.compiled[n](self.arrays["a"], self.arrays["b"]))

    def softmax(self):
        self.wait(self.module.nn.softmax(self.arrays["m"], axis=1))


class Dask(Operators):
    """Over NumPy, in chunks of 4 MiB."""

    name = "Dask"
    package = "dask.array"

    def make(self, array):
        return self.module.from_array(array, chunks=(1 << 20,) if array.ndim == 1 else (max(1, (1 << 20) // array.shape[1]), -1))

    def wait(self, x):
        x.compute(scheduler="threads")

    def softmax(self):
        m = self.arrays["m"]
        e = self.module.exp(m - m.max(axis=1, keepdims=True))
        self.wait(e / e.sum(axis=1, keepdims=True))


class Numexpr:
    """Chains alone: it knows no layouts and no softmax."""

    name = "numexpr"
    package = "numexpr"

    def __init__(self, arrays):
        self.arrays = arrays
        self.out = np.empty_like(arrays["a"])

    def add(self):
        self.module.evaluate("a + b", self.arrays, out=self.out)

    def chain(self, n):
        text = "a + b"
        for i in range(1, n):
            text = f"({text}) {'*-+'[i % 3]} {'ab'[i % 2]}"
        self.module.evaluate(text, self.arrays, out=self.out)


TASKS = {
    "a + b": lambda lib: lib.add(),
    "chain of 2": lambda lib: lib.chain(2),
    "chain of 5": lambda lib: lib.chain(5),
    "chain of 20": lambda lib: lib.chain(20),
    "matrix + row": lambda lib: lib.row(),
    "matrix + column": lambda lib: lib.column(),
    "sum": lambda lib: lib.sum(),
    "sum over axis 0": lambda lib: lib.sum_of_columns(),
    "mean of rows": lambda lib: lib.mean_of_rows(),
    "softmax of rows": lambda lib: lib.softmax(),
}


def libraries():
    found = [Zerostride, NumPy]
    for library in (Numexpr, PyTorch, Jax, Dask):
        try:
            library.module = importlib.import_module(library.package)
        except ImportError:
            print(f"not installed, and left out: {library.package}", file=sys.stderr)
            continue
        found.append(library)
    return found


def times(known, size, turns):
    """Milliseconds by task and library."""
    random = np.random.default_rng(0)
    side = max(1, int(size**0.5))
    arrays = {
        "a": random.random(size, dtype=np.float32),
        "b": random.random(size, dtype=np.float32),
        "m": random.random((side, size // side), dtype=np.float32),
        "row": random.random(size // side, dtype=np.float32),
        "column": random.random((side, 1), dtype=np.float32),
    }
    there = [library(arrays) for library in known]
    found = {}
    for task, run in TASKS.items():
        for lib in there:
            try:
                run(lib)
            except AttributeError:
                continue
            start = time.perf_counter()
            run(lib)
            # Small work many times, so that the clock sees it.
            times_each = max(1, min(1000, int(0.01 / max(time.perf_counter() - start, 1e-7))))
            found[task, lib.name] = (lib, times_each, float("inf"))
        for _ in range(turns):
            for lib in there:
                if (task, lib.name) not in found:
                    continue
                _, n, least = found[task, lib.name]
                start = time.perf_counter()
                for _ in range(n):
                    run(lib)
                found[task, lib.name] = (lib, n, min(least, (time.perf_counter() - start) / n))
    return {key: least * 1e3 for key, (_, _, least) in found.items()}


def overheads():
    """Microseconds of what Python does for one operation, and of an evaluation of ten elements."""
    a = zs.asarray(np.ones(10, np.float32)).evaluate()

    def least(work, n=20000):
        best = float("inf")
        for _ in range(7):
            start = time.perf_counter()
            for _ in range(n):
                work()
            best = min(best, (time.perf_counter() - start) / n)
        return best * 1e6

    return {
        "operator": least(lambda: a + a),
        "operator with a number": least(lambda: a + 1.0),
        "function": least(lambda: zs.exp(a)),
        "evaluation of one operation": least(lambda: (a + a).evaluate(), 5000),
        "evaluation of a chain of 5": least(lambda: ((((a + a) * a - a) * 0.5) + 1.0).evaluate(), 5000),
        "evaluation of a sum": least(lambda: zs.sum(a).evaluate(), 5000),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=float, default=[1e3, 1e5, 1e7])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--markdown", help="a file for the tables")
    arguments = parser.parse_args()
    known = libraries()
    names = [library.name for library in known]
    lines = [f"{zs.Device().name}, {os.cpu_count()} processors, {platform.system()} {platform.machine()}, float32, milliseconds", ""]
    for size in arguments.sizes:
        found = times(known, int(size), arguments.turns)
        lines += [f"## {size:.0e} elements", "", "| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        for task in TASKS:
            cells = [f"{found[task, name]:.4g}" if (task, name) in found else "-" for name in names]
            lines.append(f"| {task} | " + " | ".join(cells) + " |")
        lines.append("")
        for (task, other), bar in BARS.get(size, {}).items():
            if (task, other) in found:
                ratio = found[task, "zerostride"] / found[task, other]
                lines.append(f"{task}: {ratio:.2f} of {other}'s time, at most {bar} is asked ({'met' if ratio <= bar else 'missed'})\n")
    lines += ["## Overheads", "", "| | microseconds |", "|---|---|"]
    lines += [f"| {what} | {value:.2f} |" for what, value in overheads().items()]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
