#!/usr/bin/env python3
"""The cases of cases.rs by NumPy and, if it is installed, PyTorch: one JSON object a line, as main.rs prints them."""
import json
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None
    print("PyTorch is left out: there is no module torch", file=sys.stderr)

N = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
ONLY = sys.argv[3:]
SIDE = N // 32
# How far a result may be off, as a multiple of its own magnitude and the mean one. NumPy adds rows one after the other.
BOUND = 1e-3
# Runs of a turn before the one that is timed.
WARMING = 3
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
    "sum all": ([N, N],),
    "sum rows": ([N, N],),
    "sum columns": ([N, N],),
    "sum tall last": ([N * N // 8, 8],),
    "sum channels": ([16, 64, SIDE, SIDE],),
    "amax all": ([N, N],),
    "argmax rows": ([N, N],),
    "var rows": ([N, N],),
    "dot": ([N, N], [N, N]),
    "softmax": ([N, N],),
    "layer norm": ([N, N],),
    "standardize": ([N, N],),
    "pairwise distances": ([N, 16], [N // 16, 16]),
    "cumsum": ([N, N],),
    "cumsum first": ([N, N],),
    "matmul 512": ([N // 8, N // 8],) * 2,
    "matmul 1024": ([N // 4, N // 4],) * 2,
    "matmul 2048": ([N // 2, N // 2],) * 2,
    "matrix by vector": ([N, N], [N, 1]),
    "64 matmul 64": ([64, N // 64, N // 64],) * 2,
    "attention": ([2, 8, N // 8, 64],) * 3,
}


def softmax(m, x):
    e = m.exp(x - m.amax(x, 1)[:, None])
    return e / e.sum(1)[:, None]


def standardized(x, axis):
    d = x - x.mean(axis)[:, None] if axis == 1 else x - x.mean(axis)
    v = (d * d).mean(axis)
    return d / (v[:, None] + 1e-5) ** 0.5 if axis == 1 else d / (v + 1e-5) ** 0.5


LATER = np.triu(np.ones((N // 8, N // 8), bool), 1)


def attention(q, k, v):
    scores = q @ k.swapaxes(2, 3) / np.float32(q.shape[3] ** 0.5)
    scores = np.where(LATER, np.float32(-np.inf), scores)
    e = np.exp(scores - scores.max(3, keepdims=True))
    return e / e.sum(3, keepdims=True) @ v


def distances(x, y):
    d = x[:, None] - y[None]
    return (d * d).sum(2)


def chain(m, a, row, column, b, s):
    return m.clip((a - row) / column * b + s, 0, None)


# What each elementwise case gives, by what NumPy and PyTorch have in common.
ELEMENTWISE = {
    "transposed": lambda m, x, y: x + y.T,
    "exp": lambda m, x: m.exp(x),
    "chain5": chain,
}
# The same of each reduction.
REDUCTIONS = {
    "sum all": lambda m, x: x.sum(),
    "sum rows": lambda m, x: x.sum(1),
    "sum columns": lambda m, x: x.sum(0),
    "sum tall last": lambda m, x: x.sum(1),
    "sum channels": lambda m, x: x.sum((0, 2, 3)),
    "amax all": lambda m, x: m.amax(x),
    "argmax rows": lambda m, x: x.argmax(1),
    "var rows": lambda m, x: m.var(x, 1, correction=1),
    "dot": lambda m, x, y: m.dot(x.reshape(-1), y.reshape(-1)),
    "softmax": softmax,
    "layer norm": lambda m, x: standardized(x, 1),
    "standardize": lambda m, x: standardized(x, 0),
    "pairwise distances": lambda m, x, y: distances(x, y),
    "cumsum": lambda m, x: x.cumsum(1),
    "cumsum first": lambda m, x: x.cumsum(0),
}
# The same of each product.
PRODUCTS = {
    "matmul 512": lambda m, x, y: x @ y,
    "matmul 1024": lambda m, x, y: x @ y,
    "matmul 2048": lambda m, x, y: x @ y,
    "matrix by vector": lambda m, x, y: x @ y,
    "64 matmul 64": lambda m, x, y: x @ y,
    "attention": lambda m, q, k, v: attention(q, k, v),
}
# Results that are new arrays.
FRESH = REDUCTIONS | PRODUCTS
# What PyTorch has functions for.
OF_TORCH = {
    "softmax": lambda m, x: m.softmax(x, 1),
    "layer norm": lambda m, x: m.nn.functional.layer_norm(x, x.shape[1:]),
    "attention": lambda m, q, k, v: m.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    "pairwise distances": lambda m, x, y: m.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist") ** 2,
}


def values(shape):
    count = int(np.prod(shape))
    return ((np.arange(count) % 1021 + 1) / 1024).astype(np.float32).reshape(shape)


def right(name, x):
    """What 64 bits give."""
    of = FRESH.get(name) or ELEMENTWISE.get(name) or (lambda m, x, y: x + y)
    return np.asarray(of(np, *[a.astype(np.float64) for a in x]), np.float64)


def off(right, work):
    """By how much a result is wrong."""
    got = np.asarray(work(), np.float64)
    if got.shape != right.shape:
        return np.inf
    worst = np.max(np.abs(got - right) / (np.abs(right) + np.abs(right).mean()))
    return np.inf if np.isnan(worst) else worst


def numpy_work(name, x):
    if name in FRESH:
        return lambda: FRESH[name](np, *x)
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
            return np.maximum(out, 0, out=out)
        return chain
    second = x[1].T if name == "transposed" else x[1]
    return lambda: np.add(x[0], second, out=out)


def torch_work(name, x):
    x = [torch.from_numpy(a) for a in x]
    if name in FRESH:
        of = OF_TORCH.get(name, FRESH[name])
        return lambda: of(torch, *x)
    out = torch.empty(torch.broadcast_shapes(*[a.shape for a in x]))
    if name == "exp":
        return lambda: torch.exp(x[0], out=out)
    if name == "chain5":
        a, row, column, b, s = x
        return lambda: torch.relu((a - row) / column * b + s)
    second = x[1].T if name == "transposed" else x[1]
    return lambda: torch.add(x[0], second, out=out)


def line(name, system, **more):
    kind = "reductions" if name in REDUCTIONS else "products" if name in PRODUCTS else "elementwise"
    print(json.dumps({"case": name, "kind": kind, "system": system, "side": N, **more}))


print(f"NumPy {np.__version__}", f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads" if torch else "", file=sys.stderr)
for name, shapes in CASES.items():
    if ONLY and name not in ONLY:
        continue
    print(name, file=sys.stderr)
    x = [values(shape) for shape in shapes]
    systems = {"numpy": numpy_work(name, x)}
    if torch:
        systems["pytorch cpu"] = torch_work(name, x)
    expected = right(name, x)
    worst = {system: off(expected, work) for system, work in systems.items()}
    for system, by in worst.items():
        if by > BOUND:
            line(name, system, off=str(by))
            del systems[system]
    times = {system: [] for system in systems}
    for turn in range(ROUNDS):
        for system, work in systems.items():
            # Each follows itself, as often as in the other half of the comparison.
            for _ in range(WARMING):
                work()
            start = time.perf_counter_ns()
            work()
            times[system].append(time.perf_counter_ns() - start)
    for system, all_of in times.items():
        line(name, system, ns=all_of)
