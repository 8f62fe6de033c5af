"""What NumPy makes of lookups, joins, borders and moves: writes joining.jsonl beside this file.

    python3 tests/data/joining.py
"""

import json
import pathlib
import random

import numpy as np

random.seed(15)
cases = []


def keep(op, x, result, **call):
    cases.append({"op": op, "shape": x.shape, **call, "result": result.shape, "expect": result.ravel().tolist()})


def numbers(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape) + 1


SHAPES = [(5,), (1,), (3, 4), (2, 3, 5), (4, 1, 3), (2, 3, 2, 2), (2, 64)]

for shape in SHAPES:
    x = numbers(*shape)
    for axis in range(-1, len(shape)):
        n = shape[axis]
        for count in [(), (3,), (2, 1), (0,)]:
            inside = np.random.RandomState(len(cases)).randint(-n, n, count)
            keep("take", x, np.take(x, inside, axis), indices=inside.ravel().tolist(), of=count, axis=axis)
            wide = np.random.RandomState(len(cases)).randint(-3 * n - 2, 3 * n + 3, count)
            keep("take wrapped", x, np.take(x, wide, axis, mode="wrap"), indices=wide.ravel().tolist(), of=count, axis=axis)
            up = abs(wide)
            keep("take nearest", x, np.take(x, up, axis, mode="clip"), indices=up.ravel().tolist(), of=count, axis=axis)
        for times in [0, 1, 2]:
            keep("repeat", x, np.repeat(x, times, axis), times=times, axis=axis)
        for count in [1, 3]:
            parts = [numbers(*[random.randint(0, 4) if k == axis % len(shape) else m for k, m in enumerate(shape)]) for _ in range(count)]
            keep("concat", x, np.concatenate([x, *parts], axis), lengths=[p.shape[axis] for p in parts], axis=axis)
    for axis in range(-len(shape) - 1, len(shape) + 1):
        keep("stack", x, np.stack([x, x + 100, x * 2], axis), axis=axis)
    for _ in range(1 if x.size > 60 else 3):
        indices = [np.random.RandomState(len(cases) + k).randint(-n, n, (3, 1) if k % 2 else (4,)) for k, n in enumerate(shape)]
        keep("at", x, x[tuple(indices)], indices=[i.ravel().tolist() for i in indices], of=[i.shape for i in indices])
        axes = [random.randrange(-len(shape), len(shape)) for _ in range(random.randint(1, 3))]
        shifts = [random.randint(-7, 7) for _ in axes]
        keep("roll", x, np.roll(x, shifts, axes), shifts=shifts, axes=axes)
        for mode in ["constant", "edge", "reflect", "wrap"]:
            most = 2 if random.random() < 0.5 else 9
            widths = [(random.randint(0, most), random.randint(0, most)) for _ in shape]
            more = {"constant_values": -7} if mode == "constant" else {}
            keep("pad", x, np.pad(x, widths, mode, **more), widths=widths, mode=mode)
        times = [random.randint(0 if random.random() < 0.2 else 1, 3) for _ in range(random.randint(1, len(shape) + 1))]
        keep("tile", x, np.tile(x, times), times=times)

for rows, columns in [(1, 1), (3, 3), (2, 5), (5, 2), (0, 3)]:
    keep("eye", np.zeros(0), np.eye(rows, columns, dtype=np.int32), rows=rows, columns=columns)
for start, end, step in [(0, 5, 1), (2, 11, 3), (5, -6, -2), (3, 3, 1), (0, 7, 2), (-4, 4, 4)]:
    keep("arange", np.zeros(0), np.arange(start, end, step, dtype=np.int32), start=start, end=end, step=step)
for start, end, count in [(0, 1, 5), (-2, 3, 11), (4, -4, 3), (1, 9, 1), (0, 10, 101), (1, 2, 0)]:
    result = np.linspace(start, end, count, dtype=np.float64)
    keep("linspace", np.zeros(0), result, start=start, end=end, count=count)

path = pathlib.Path(__file__).with_suffix(".jsonl")
path.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases))
print(len(cases), "cases", path.stat().st_size, "bytes")
