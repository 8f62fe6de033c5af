#!/usr/bin/env python3
"""The cases of main.rs by NumPy and PyTorch: one JSON object a line."""
import json
import sys
import time

import numpy as np
import torch

N = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
ONLY = sys.argv[3:]
SIDE = N // 32
CASES = {
    "same": ([N, N], [N, N]),
    "row": ([N, N], [1, N]),
    "col": ([N, N], [N, 1]),
    "scalar": ([N, N], [1, 1]),
    "outer": ([N, 1], [1, N]),
    "nchw": ([16, 64, SIDE, SIDE], [1, 64, 1, 1]),
    "mid": ([N // 16, 16, N], [N // 16, 1, N]),
    "odd": ([N - 1, N + 1], [1, N + 1]),
    "transposed": ([N, N], [N, N]),
    "exp": ([N, N],),
    "chain5": ([N, N], [1, N], [N, 1], [1, 1], [1, 1]),
}


def values(shape):
    count = int(np.prod(shape))
    return ((np.arange(count) % 1021 + 1) / 1024).astype(np.float32).reshape(shape)


def numpy_work(name, x):
    out = np.empty(np.broadcast_shapes(*[a.shape for a in x]), np.float32)
    if name == "exp":
        return lambda: np.exp(x[0], out=out)
    if name == "chain5":
        def chain():
            a, row, column, b, s = x
            np.subtract(a, row, out=out)
            np.divide(out, column, out=out)
            np.multiply(out, b, out=out)
            np.add(out, s, out=out)
            np.maximum(out, 0, out=out)
        return chain
    second = x[1].T if name == "transposed" else x[1]
    return lambda: np.add(x[0], second, out=out)


def torch_work(name, x):
    x = [torch.from_numpy(a) for a in x]
    out = torch.empty(torch.broadcast_shapes(*[a.shape for a in x]))
    if name == "exp":
        return lambda: torch.exp(x[0], out=out)
    if name == "chain5":
        a, row, column, b, s = x
        return lambda: torch.relu((a - row) / column * b + s)
    second = x[1].T if name == "transposed" else x[1]
    return lambda: torch.add(x[0], second, out=out)


print(f"NumPy {np.__version__}, PyTorch {torch.__version__} with {torch.get_num_threads()} threads", file=sys.stderr)
for name, shapes in CASES.items():
    if ONLY and name not in ONLY:
        continue
    x = [values(shape) for shape in shapes]
    systems = {"numpy out=": numpy_work(name, x), "pytorch cpu": torch_work(name, x)}
    times = {system: [] for system in systems}
    for turn in range(ROUNDS):
        for system, work in systems.items():
            # Each follows itself, as in the other half of the comparison.
            work()
            start = time.perf_counter_ns()
            work()
            times[system].append(time.perf_counter_ns() - start)
    for system, all_of in times.items():
        print(json.dumps({"case": name, "system": system, "side": N, "ns": all_of}))
