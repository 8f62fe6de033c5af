#!/usr/bin/env python3
"""The cases of the benchmark `gpu` by PyTorch and CuPy on the same GPU: one JSON object a line.

    peers.py [--sizes 4096,16384] [--seconds S] [--only NAME,NAME] [--compile] [--device cpu]
    peers.py --table FOLDER     # no measuring: what the *.jsonl of a folder say, side by side

A time is of the device, by events around so many evaluations that they take 20 ms, of three sets of operands in turn,
so that caches do not hold them. Results go to new arrays, which come from the libraries' pools.
"""
import argparse
import json
import math
import statistics
import sys
import time
from pathlib import Path

# The seconds of a turn, the most evaluations of a turn, and the number of turns, of which the median counts.
TURN_NS = 20e6
MOST = 200
TURNS = 5
SETS = 3
WIDTHS = {"float32": 4, "float16": 2, "uint8": 1, "random": 4, "keys": 8}


class Torch:
    """PyTorch on one device."""

    by = "torch"

    def __init__(self, device):
        import torch

        self.m = torch
        self.cuda = device == "cuda"
        if self.cuda and not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no CUDA")
        self.device = device
        torch.set_grad_enabled(False)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.set_float32_matmul_precision("highest")

    def facts(self):
        name = self.m.cuda.get_device_name() if self.cuda else "cpu"
        return {"version": self.m.__version__, "device": name}

    def numbers(self, shape, dtype):
        m, count = self.m, math.prod(shape)
        if dtype == "random":
            return m.rand(shape, device=self.device)
        if dtype == "keys":
            return m.randint(0, 1000, shape, device=self.device)
        x = m.arange(count, dtype=m.int32, device=self.device).remainder_(1021).add_(1).to(m.float32).div_(1024)
        if dtype == "uint8":
            x.mul_(200)
        return x.to(getattr(m, dtype)).reshape(shape)

    def free(self):
        """Releases the pool's memory. Returns the bytes of the device."""
        if not self.cuda:
            return 1 << 40
        self.m.cuda.synchronize()
        self.m.cuda.empty_cache()
        return self.m.cuda.mem_get_info()[0]

    def mark(self):
        if not self.cuda:
            return time.perf_counter_ns()
        event = self.m.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, start, end):
        if not self.cuda:
            return end - start
        end.synchronize()
        return start.elapsed_time(end) * 1e6


class Cupy:
    """CuPy on the first device."""

    by = "cupy"

    def __init__(self):
        import cupy

        self.m = cupy
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise RuntimeError("CuPy finds no device")

    def facts(self):
        name = self.m.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return {"version": self.m.__version__, "device": name}

    def numbers(self, shape, dtype):
        m, count = self.m, math.prod(shape)
        if dtype == "random":
            return m.random.random(shape, dtype=m.float32)
        if dtype == "keys":
            return m.random.randint(0, 1000, shape)
        x = m.arange(count, dtype=m.int32)
        x %= 1021
        x += 1
        x = x.astype(m.float32)
        x /= 1024
        if dtype == "uint8":
            x *= 200
        return x.astype(dtype, copy=False).reshape(shape)

    def free(self):
        self.m.cuda.Device().synchronize()
        self.m.get_default_memory_pool().free_all_blocks()
        return self.m.cuda.runtime.memGetInfo()[0]

    def mark(self):
        event = self.m.cuda.Event()
        event.record()
        return event

    def between(self, start, end):
        end.synchronize()
        return self.m.cuda.get_elapsed_time(start, end) * 1e6


def f32(*shape):
    return shape, "float32"


def u8(*shape):
    return shape, "uint8"


class Case:
    """The arrays of a case for a side of n, the views that are operands, and the work.

    A function gets the library first. `torch` and `cupy` are for libraries whose natural calls differ, `fused` is what
    torch.compile gets, and only where one kernel of zerostride is more than one of PyTorch. `at` is the only side, if any.
    """

    def __init__(self, shapes, both=None, torch=None, cupy=None, views=None, fused=None, at=None):
        self.shapes = shapes
        self.at = at
        self.of = {"torch": torch or both, "cupy": cupy or both, "torch.compile": fused}
        self.views = views


def add(m, x, y):
    return x + y


def chain5(m, a, row, column, b, s):
    return m.relu((a - row) / column * b + s)


def chain5_cupy(m, a, row, column, b, s):
    return m.maximum((a - row) / column * b + s, 0)


def chain20(m, x, b):
    for k in range(10):
        x = abs(x * b + float(k))
    return x


def normalized(m, image, mean, std):
    return ((image / 255 - mean) / std).permute(2, 0, 1).contiguous()


def normalized_cupy(m, image, mean, std):
    x = (image.astype(m.float32) / m.float32(255) - mean) / std
    return m.ascontiguousarray(x.transpose(2, 0, 1))


def add_in_place(m, x, y):
    x += y


def softmax_cupy(m, x):
    e = m.exp(x - m.amax(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm_cupy(m, x):
    return (x - x.mean(axis=-1, keepdims=True)) / m.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def logsumexp_cupy(m, x):
    most = m.amax(x, axis=-1, keepdims=True)
    return m.log(m.exp(x - most).sum(axis=-1)) + most[:, 0]


def standardize(m, x):
    var, mean = m.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) / var.sqrt()


def standardize_cupy(m, x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def standardize_0(m, x):
    var, mean = m.var_mean(x, 0, correction=0, keepdim=True)
    return (x - mean) / (var + 1e-5).sqrt()


def least_and_most(m, x):
    least, most = m.aminmax(x, dim=-1)
    return most - least


def distances(m, x, y):
    d = x[:, None] - y[None]
    return (d * d).sum(2)


def by_cdist(m, x, y):
    return m.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").square()


def scatter_add(m, x, keys):
    import cupyx

    sums = m.zeros(1000, dtype=m.float32)
    cupyx.scatter_add(sums, keys, x)
    return sums


def causal(m, q, k, v):
    return m.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def causal_cupy(m, q, k, v):
    scores = q @ k.swapaxes(-1, -2) / m.float32(8)
    later = m.triu(m.ones(scores.shape[-2:], dtype=bool), 1)
    return softmax_cupy(m, m.where(later, m.float32(-m.inf), scores)) @ v


def layer(m, x, weights, bias):
    return m.nn.functional.gelu(x @ weights + bias, approximate="tanh")


def layer_cupy(m, x, weights, bias):
    x = x @ weights + bias
    return x * m.float32(0.5) * (1 + m.tanh(m.float32(0.7978845608) * (x + m.float32(0.044715) * x * x * x)))


def convolved(m, x, weights):
    return m.nn.functional.conv2d(x[None], weights, padding=1)


def at_random(n):
    return [((n * n,), "random")]


def square(n):
    return [f32(n, n)]


def two(n):
    return [f32(n, n), f32(n, n)]


def tall(n):
    return [f32(n * n // 8, 8)]


def wide(n):
    return [f32(8, n * n // 8)]


def images(n):
    return [f32(16, 64, n // 32, n // 32)]


def middle(n):
    return [f32(n // 16, 256, n // 16)]


def flat(n):
    return [f32(n * n)]


def of_rows(k):
    """A number of elements in rows of k."""
    return lambda n: [f32(n * n // k, k)]


def turned(n, stride):
    """The transpose of a square part of rows that lie a stride apart."""
    return Case(
        lambda n: [f32(stride, stride)],
        torch=lambda m, x: m.add(x, 1.0, out=m.empty(x.shape, device=x.device)),
        cupy=lambda m, x: m.add(x, m.float32(1), out=m.empty(x.shape, dtype=m.float32)),
        views=lambda x: (x[:n, :n].T,),
        at=n,
    )


def rows_and_row(k):
    return lambda n: [f32(n * n // k, k), f32(k)]


def product_sides(n):
    return two(min(n, 1024))


def fused(shapes, torch, cupy=None, compiled=None, views=None):
    return Case(shapes, torch=torch, cupy=cupy, fused=compiled or torch, views=views)


# The most important first.
CASES = {
    "copy": Case(square, torch=lambda m, x: x.clone(), cupy=lambda m, x: x.copy()),
    "same": Case(two, add),
    "row": Case(lambda n: [f32(n, n), f32(n)], add),
    "transposed": Case(two, add, views=lambda x, y: (x, y.T)),
    "exp": Case(square, lambda m, x: m.exp(x)),
    "chain5": fused(lambda n: [f32(n, n), f32(n), f32(n, 1), f32(), f32(1)], chain5, chain5_cupy),
    "chain20": fused(two, chain20, chain20),
    "sum all": Case(square, lambda m, x: x.sum()),
    "sum last": Case(square, lambda m, x: x.sum(-1)),
    "sum first": Case(square, lambda m, x: x.sum(0)),
    "tall first": Case(tall, lambda m, x: x.sum(0)),
    "tall last": Case(tall, lambda m, x: x.sum(1)),
    "cumsum": Case(square, lambda m, x: m.cumsum(x, -1)),
    "cumsum first": Case(square, lambda m, x: m.cumsum(x, 0)),
    "cumsum flat": Case(flat, lambda m, x: m.cumsum(x, 0)),
    "softmax": fused(square, lambda m, x: m.softmax(x, -1), softmax_cupy),
    "layer norm": fused(square, lambda m, x: m.nn.functional.layer_norm(x, x.shape[1:]), layer_norm_cupy),
    "var": fused(square, lambda m, x: m.var(x, -1, correction=0), lambda m, x: x.var(axis=-1)),
    "matrix product": Case(product_sides, lambda m, x, y: x @ y),
    **{f"sum of {k}": Case(of_rows(k), lambda m, x: x.sum(1)) for k in (16, 32, 64, 256)},
    "softmax long": fused(lambda n: [f32(16, n * n // 16)], lambda m, x: m.softmax(x, -1), softmax_cupy),
    "product of 1024": Case(lambda n: two(1024), lambda m, x, y: x @ y, at=4096),
    "product of 4096": Case(two, lambda m, x, y: x @ y, at=4096),
    "product of 4096 turned": Case(two, lambda m, x, y: x @ y, views=lambda x, y: (x, y.T), at=4096),
    "product of 4096 f16": Case(lambda n: 2 * [((n, n), "float16")], lambda m, x, y: x @ y, at=4096),
    "product by a vector": Case(lambda n: [f32(n, n), f32(n)], lambda m, x, y: x @ y, at=4096),
    "products of 64": Case(lambda n: 2 * [f32(n // 4, 64, 64)], lambda m, x, y: x @ y, at=4096),
    "product long": Case(lambda n: [f32(64, 16 * n), f32(16 * n, 64)], lambda m, x, y: x @ y, at=4096),
    "layer of 4096": Case(lambda n: [*two(n), f32(n)], torch=layer, cupy=layer_cupy, at=4096),
    "attention": Case(lambda n: 3 * [f32(2, 8, n // 2, 64)], torch=causal, cupy=causal_cupy, at=4096),
    "sort": Case(at_random, torch=lambda m, x: m.sort(x)[0], cupy=lambda m, x: m.sort(x), at=4096),
    "sort of rows": Case(
        lambda n: [((n // 4, 4 * n), "random")],
        torch=lambda m, x: m.sort(x)[0],
        cupy=lambda m, x: m.sort(x),
        at=4096,
    ),
    "argsort": Case(at_random, lambda m, x: m.argsort(x), at=4096),
    "topk of 100": Case(at_random, torch=lambda m, x: m.topk(x, 100)[0], at=4096),
    "bincount": Case(lambda n: [((n * n,), "keys")], lambda m, keys: m.bincount(keys, minlength=1000), at=4096),
    "segment_sum": Case(
        lambda n: [((n * n,), "random"), ((n * n,), "keys")],
        torch=lambda m, x, keys: m.zeros(1000, device=x.device).index_add(0, keys, x),
        cupy=scatter_add,
        at=4096,
    ),
    "rows taken": Case(
        lambda n: [f32(1000, n // 4), ((4 * n,), "keys")],
        torch=lambda m, x, keys: x.index_select(0, keys),
        cupy=lambda m, x, keys: x.take(keys, axis=0),
        at=4096,
    ),
    "compress": Case(at_random, lambda m, x, mask: x[mask], views=lambda x: (x, x.reshape(-1) > 0.5), at=4096),
    "histogram": Case(
        at_random,
        torch=lambda m, x: m.histc(x, 256, 0, 1),
        cupy=lambda m, x: m.histogram(x, 256, (0, 1))[0],
        at=4096,
    ),
    "blur of 3 x 3": Case(
        lambda n: [f32(1, 1, n, n)],
        torch=lambda m, x: m.nn.functional.avg_pool2d(x, 3, 1),
        at=4096,
    ),
    "pool of 2 x 2": Case(
        lambda n: [f32(1, 1, n, n)],
        torch=lambda m, x: m.nn.functional.max_pool2d(x, 2),
        at=4096,
    ),
    "convolution": Case(
        lambda n: [f32(n // 64, n // 32, n // 32), f32(n // 64, n // 64, 3, 3)],
        torch=convolved,
        at=4096,
    ),
    "uniform": Case(
        at_random,
        torch=lambda m, x: m.rand(x.shape, device=x.device),
        cupy=lambda m, x: m.random.random(x.shape, dtype=m.float32),
        at=4096,
    ),
    "normal": Case(
        at_random,
        torch=lambda m, x: m.randn(x.shape, device=x.device),
        cupy=lambda m, x: m.random.standard_normal(x.shape, dtype=m.float32),
        at=4096,
    ),
    **{f"rows of {k}": Case(rows_and_row(k), add) for k in (1024, 1028, 1500)},
    "col": Case(lambda n: [f32(n, n), f32(n, 1)], add),
    "scalar": Case(lambda n: [f32(n, n), f32()], add),
    "outer": Case(lambda n: [f32(n, 1), f32(n)], add),
    "nchw": Case(lambda n: [*images(n), f32(64, 1, 1)], add),
    "hwc_u8": fused(lambda n: [u8(n * 3000 // 4096, n * 4000 // 4096, 3), f32(3), f32(3)], normalized, normalized_cupy),
    "mid": Case(lambda n: [f32(n // 16, 16, n), f32(n // 16, 1, n)], add),
    "odd": Case(lambda n: [f32(n - 1, n + 1), f32(n + 1)], add),
    "unaligned": Case(lambda n: [f32(n * n + 1), f32(n * n)], add, views=lambda x, y: (x[1:], y)),
    # PyTorch has no negative strides: a flip is a copy.
    "reversed": fused(lambda n: [f32(n * n), f32(n * n)], lambda m, x, y: x.flip(0) + y, lambda m, x, y: x[::-1] + y),
    "step2": Case(lambda n: [f32(2 * n * n), f32(n * n)], add, views=lambda x, y: (x[::2], y)),
    "nhwc_nchw": Case(
        lambda n: [f32(16, n // 32, n // 32, 64)],
        torch=lambda m, x: m.mul(x, 2.0, out=m.empty(x.shape, device=x.device)),
        cupy=lambda m, x: m.multiply(x, m.float32(2), out=m.empty(x.shape, dtype=m.float32)),
        views=lambda x: ((x.permute if hasattr(x, "permute") else x.transpose)(0, 3, 1, 2),),
    ),
    "pow": Case(two, lambda m, x, y: x**y),
    "f16": Case(lambda n: 2 * [((n, n), "float16")], add),
    "u8": Case(lambda n: 2 * [u8(n, n)], add),
    "compare": Case(two, lambda m, x, y: x < y),
    "select": fused(
        lambda n: [u8(n, n), f32(n, n), f32(n, n)],
        lambda m, c, x, y: m.where(c > 100, x, y),
        lambda m, c, x, y: m.where(c > 100, x, y),
    ),
    "inplace": Case(two, add_in_place),
    "mean all": Case(square, lambda m, x: x.mean()),
    "amax all": Case(square, lambda m, x: m.amax(x)),
    "mean last": Case(square, lambda m, x: x.mean(-1)),
    "amax last": Case(square, lambda m, x: m.amax(x, -1)),
    "sum channels": Case(images, lambda m, x: x.sum((0, 2, 3))),
    "sum axis 1": Case(images, lambda m, x: x.sum(1)),
    "wide last": Case(wide, lambda m, x: x.sum(1)),
    "sum middle": Case(middle, lambda m, x: x.sum(1)),
    "wide first": Case(wide, lambda m, x: x.sum(0)),
    "l2": Case(
        square,
        torch=lambda m, x: m.linalg.vector_norm(x, dim=-1),
        cupy=lambda m, x: m.sqrt(m.square(x).sum(-1)),
    ),
    "sum_square": fused(square, lambda m, x: x.square().sum(), lambda m, x: m.square(x).sum()),
    "all": fused(square, lambda m, x: (x > 0).all(-1), lambda m, x: (x > 0).all(-1)),
    "count_nonzero": Case(square, lambda m, x: m.count_nonzero(x, -1)),
    "sum transposed": Case(square, lambda m, x: x.sum(1), views=lambda x: (x.T,)),
    "argmax": Case(square, lambda m, x: x.argmax(-1)),
    "dot": Case(two, lambda m, x, y: m.dot(x.reshape(-1), y.reshape(-1)), fused=lambda m, x, y: (x * y).sum()),
    "standardize": fused(square, standardize, standardize_cupy),
    "standardize 0": fused(square, standardize_0, lambda m, x: (x - x.mean(axis=0)) / m.sqrt(x.var(axis=0) + 1e-5)),
    "logsumexp": fused(square, lambda m, x: m.logsumexp(x, -1), logsumexp_cupy),
    "min and max": fused(square, least_and_most, lambda m, x: m.amax(x, axis=-1) - m.amin(x, axis=-1)),
    **{f"turned of {n + more}": turned(n, n + more) for n in (4096, 16384) for more in (0, 32)},
    "pairwise": fused(lambda n: [f32(n, 16), f32(n // 16, 16)], by_cdist, distances, compiled=distances),
}


def line(**object):
    print(json.dumps({"step": "peers", **object}), flush=True)


def measured(library, case, of, n):
    """Nanoseconds of one evaluation."""
    shapes = case.shapes(n)
    held = sum(WIDTHS[dtype] * math.prod(shape) for shape, dtype in shapes)
    # Memory also holds results, intermediate results, and the sources of the numbers.
    free = library.free()
    sets = SETS if SETS * held + 5 * 4 * n * n < free else 1
    operands = []
    for _ in range(sets):
        arrays = tuple(library.numbers(*shape) for shape in shapes)
        operands.append(case.views(*arrays) if case.views else arrays)
        library.free()
    m = library.m

    def turn(count):
        start = library.mark()
        for k in range(count):
            # A result is kept until the next one exists, so two buffers are written in turn.
            last = of(m, *operands[k % sets])
        end = library.mark()
        del last
        return library.between(start, end) / count

    turn(2)
    count = min(MOST, max(1, int(TURN_NS / max(turn(3), 1)) + 1))
    return statistics.median(turn(count) for _ in range(TURNS))


def libraries(device):
    """The libraries that are installed, and the reasons for missing ones."""
    found, missing = [], []
    for make in (lambda: Torch(device), Cupy):
        if make is Cupy and device == "cpu":
            continue
        try:
            found.append(make())
        except Exception as error:  # an import fails in many ways
            missing.append(first_line(error))
    return found, missing


def first_line(error):
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:300] if text else ''}"


def run(options):
    start = time.monotonic()
    found, missing = libraries(options.device)
    if missing:
        line(left_out="; ".join(missing))
    for library in found:
        line(by=library.by, **library.facts())
    only = options.only.split(",") if options.only else list(CASES)
    sizes = [int(n) for n in options.sizes.split(",")]
    for name in only:
        if name not in CASES:
            line(case=name, error="no such case")
    work = [(library, library.by, name, n) for name in only if name in CASES for n in sizes for library in found]
    if options.compile:
        work += [(library, "torch.compile", name, n) for library, by, name, n in work if by == "torch"]
    work = [item for item in work if CASES[item[2]].of[item[1]] and CASES[item[2]].at in (None, item[3])]
    for done, (library, by, name, n) in enumerate(work):
        if options.seconds and time.monotonic() - start > options.seconds:
            line(left_out=[{"by": by, "case": name, "n": n} for _, by, name, n in work[done:]])
            return
        case = CASES[name]
        of = case.of[by]
        try:
            if by == "torch.compile":
                library.m._dynamo.reset()
                plain = of

                def compiled(*operands, plain=plain, m=library.m):
                    return plain(m, *operands)

                compiled = library.m.compile(compiled, dynamic=False)

                def of(m, *operands, compiled=compiled):
                    return compiled(*operands)

            line(by=by, case=name, n=n, ns=round(measured(library, case, of, n), 1))
        except Exception as error:  # one case, and not all
            line(by=by, case=name, n=n, error=first_line(error))
        try:
            library.free()
        except Exception:  # what comes next will say so
            pass


# ---- The table.

# Cases that have one name in two of zerostride's benchmarks.
RENAMED = {("reductions", "transposed"): "sum transposed"}


def objects(folder):
    for path in sorted(Path(folder).glob("*.jsonl")):
        for text in path.read_text(errors="replace").splitlines():
            try:
                object = json.loads(text)
            except ValueError:
                continue
            if isinstance(object, dict):
                yield object


def micro(ns):
    return "-" if ns is None else f"{ns / 1e3:.1f}"


def two_digits(x):
    return "-" if x is None else f"{x:.2f}"


def aligned(head, rows):
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(f"{text:<{w}}" if k == 0 else f"{text:>{w}}" for k, (text, w) in enumerate(zip(row, widths))))


def table(folder):
    # The last line of a case counts.
    steps, own, peers, ways, errors = {}, {}, {}, {}, {}
    for object in objects(folder):
        step, name, n = (object.get(key) for key in ("step", "case", "n"))
        # The shorter of both, because the device's time includes the passes around kernels.
        times = [object[key] for key in ("ns", "wall_ns") if isinstance(object.get(key), (int, float))]
        if "seconds" in object and "ok" in object:
            steps.pop(step, None)
            steps[step] = object
        elif name is None:
            continue
        elif object.get("error"):
            errors[step, object.get("by", ""), name, n] = object["error"]
        elif not times:
            continue
        elif step == "peers":
            peers[object["by"], name, n] = times[0]
        elif "way" in object:
            ways.setdefault((step, name, n), {})[object["way"]] = times[0]
        elif step in ("access", "reductions", "programs"):
            own[RENAMED.get((step, name), name), n] = {"ns": min(times), "copy": object.get("copy")}
    for step, object in steps.items():
        state = "ok" if object["ok"] else "FAILED"
        print(f"{step:<12} {state:<7} {object['seconds']:>4} s  {object.get('why', '')}".rstrip())
    by = [by for by in ("torch", "torch.compile", "cupy") if any(key[0] == by for key in peers)]
    rows, ratios = [], []
    for name, n in dict.fromkeys([*own, *((name, n) for _, name, n in peers)]):
        of = own.get((name, n), {})
        torch = peers.get(("torch", name, n))
        ratio = of["ns"] / torch if of and torch else None
        if ratio:
            ratios.append(ratio)
        row = [name, str(n), micro(of.get("ns")), two_digits(of.get("copy"))]
        for system in by:
            row.append(micro(peers.get((system, name, n))))
            row += [two_digits(ratio)] * (system == "torch")
        rows.append(row)
    if rows:
        head = ["case", "n", "zerostride us", "of copy"]
        for system in by:
            head += [f"{system} us"] + ["ratio"] * (system == "torch")
        print()
        aligned(head, rows)
    if ratios:
        mean, above = statistics.geometric_mean(ratios), sum(ratio > 1 for ratio in ratios)
        print(f"\nratio to torch: geometric mean {mean:.2f} of {len(ratios)} cases, above 1 in {above}")
    for step in dict.fromkeys(step for step, _, _ in ways):
        cases = {key: times for key, times in ways.items() if key[0] == step}
        columns = list(dict.fromkeys(way for times in cases.values() for way in times))
        print(f"\n{step}, us")
        aligned(
            ["case", "n", *columns],
            [[name, str(n), *(micro(times.get(way)) for way in columns)] for (_, name, n), times in cases.items()],
        )
    for (step, system, name, n), error in errors.items():
        print(f"error: {step} {system} {name} {n}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="4096,16384", help="sides, separated by commas")
    parser.add_argument("--seconds", type=float, help="starts no case after so many")
    parser.add_argument("--only", help="names of cases, separated by commas")
    parser.add_argument("--compile", action="store_true", help="also by torch.compile, where that may fuse")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--table", metavar="FOLDER", help="prints what the *.jsonl of a folder say")
    options = parser.parse_args()
    if options.table:
        table(options.table)
    else:
        run(options)


if __name__ == "__main__":
    sys.exit(main())
