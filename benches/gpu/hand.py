#!/usr/bin/env python3
"""Times hand-written kernels on an NVIDIA GPU, the floors of reductions, scans and products: one JSON object a line.

They are CUDA, run by CuPy, without contraction of products and sums. A block of 1024 values has 64 lanes of sixteen values in
sequence, which meet by halves; a scan has groups of 16, 256 and 4096; a product adds up 64 products in sequence, and these.
"""
import json
import time

import cupy as cp

TEXT = r"""
__device__ float4 add(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float4 most(float4 a, float4 b) {
    return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}
__device__ float4 of_lane(float4 a, int d) {
    return make_float4(__shfl_xor_sync(~0u, a.x, d), __shfl_xor_sync(~0u, a.y, d),
                       __shfl_xor_sync(~0u, a.z, d), __shfl_xor_sync(~0u, a.w, d));
}
// Sixteen invocations have the lanes of a block, four each.
__device__ float meet(float4 s) {
    for (int h = 8; h; h >>= 1) s = add(s, of_lane(s, h));
    return (s.x + s.z) + (s.y + s.w);
}

// Rows of 4096: 64 invocations a row, sixteen vectors each, in registers.
struct Row { int row, t; size_t at; };
__device__ Row row_of() {
    int row = blockIdx.x * (blockDim.x / 64) + threadIdx.x / 64, t = threadIdx.x % 64;
    return Row{row, t, (size_t)row * 1024 + (t / 16) * 256 + t % 16};
}
extern "C" __global__ void sum_rows(const float4* x, float* y) {
    Row r = row_of();
    float4 v[16];
    #pragma unroll
    for (int i = 0; i < 16; i++) v[i] = x[r.at + i * 16];
    float4 s = v[0];
    #pragma unroll
    for (int i = 1; i < 16; i++) s = add(s, v[i]);
    __shared__ float blocks[32];
    float sum = meet(s);
    if (r.t % 16 == 0) blocks[threadIdx.x / 16] = sum;
    __syncthreads();
    float* b = blocks + threadIdx.x / 64 * 4;
    if (r.t == 0) y[r.row] = (b[0] + b[2]) + (b[1] + b[3]);
}
extern "C" __global__ void softmax_rows(const float4* x, float4* y) {
    Row r = row_of();
    float4 v[16];
    #pragma unroll
    for (int i = 0; i < 16; i++) v[i] = x[r.at + i * 16];
    float4 m = v[0];
    #pragma unroll
    for (int i = 1; i < 16; i++) m = most(m, v[i]);
    float a = fmaxf(fmaxf(m.x, m.y), fmaxf(m.z, m.w));
    for (int h = 16; h; h >>= 1) a = fmaxf(a, __shfl_xor_sync(~0u, a, h));
    __shared__ float blocks[32], greatest[32];
    if (threadIdx.x % 32 == 0) greatest[threadIdx.x / 32] = a;
    __syncthreads();
    a = fmaxf(greatest[threadIdx.x / 64 * 2], greatest[threadIdx.x / 64 * 2 + 1]);
    float4 s = make_float4(0, 0, 0, 0);
    #pragma unroll
    for (int i = 0; i < 16; i++) {
        v[i] = make_float4(expf(v[i].x - a), expf(v[i].y - a), expf(v[i].z - a), expf(v[i].w - a));
        s = add(s, v[i]);
    }
    float sum = meet(s);
    if (r.t % 16 == 0) blocks[threadIdx.x / 16] = sum;
    __syncthreads();
    float* b = blocks + threadIdx.x / 64 * 4;
    sum = (b[0] + b[2]) + (b[1] + b[3]);
    #pragma unroll
    for (int i = 0; i < 16; i++)
        y[r.at + i * 16] = make_float4(__fdiv_rn(v[i].x, sum), __fdiv_rn(v[i].y, sum),
                                       __fdiv_rn(v[i].z, sum), __fdiv_rn(v[i].w, sum));
}

// Columns: a workgroup has sixteen vectors of columns, and sixteen invocations for the lanes of each.
extern "C" __global__ void sum_columns(const float4* x, float4* part, int columns) {
    int c = blockIdx.x * 16 + threadIdx.x % 16, m = threadIdx.x / 16;
    const float4* p = x + (size_t)blockIdx.y * 1024 * columns + c;
    float4 lanes[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        lanes[k] = p[(size_t)(m + 16 * k) * columns];
        #pragma unroll
        for (int i = 1; i < 16; i++) lanes[k] = add(lanes[k], p[(size_t)(m + 16 * k + 64 * i) * columns]);
    }
    __shared__ float4 met[256];
    met[threadIdx.x] = add(add(lanes[0], lanes[2]), add(lanes[1], lanes[3]));
    __syncthreads();
    for (int h = 8; h; h >>= 1) {
        if (m < h) met[threadIdx.x] = add(met[threadIdx.x], met[threadIdx.x + h * 16]);
        __syncthreads();
    }
    if (m == 0) part[(size_t)blockIdx.y * columns + c] = met[threadIdx.x];
}
extern "C" __global__ void sum_four(const float4* part, float4* y, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < columns) y[c] = add(add(part[c], part[2 * columns + c]), add(part[columns + c], part[3 * columns + c]));
}

// A scan by tiles of 4096: 256 invocations have sixteen values each.
__device__ float scan_tile(float (&v)[16], float& total) {
    __shared__ float lasts[256], groups[16];
    int t = threadIdx.x, g = t >> 4;
    #pragma unroll
    for (int i = 1; i < 16; i++) v[i] = v[i - 1] + v[i];
    lasts[t] = v[15];
    __syncthreads();
    float before = 0;
    for (int k = t & ~15; k < t; k++) before = k == (t & ~15) ? lasts[k] : before + lasts[k];
    if ((t & 15) == 15) groups[g] = before + v[15];
    __syncthreads();
    float carried = 0;
    for (int k = 0; k < g; k++) carried = k == 0 ? groups[0] : carried + groups[k];
    if (t == 255) total = carried + groups[15];
    return (t & 15) == 0 ? carried : g == 0 ? before : carried + before;
}
// Values are loaded in the order of memory and turned around in workgroup memory.
__device__ void load_tile(const float4* x, float4* turned, float (&v)[16]) {
    int t = threadIdx.x;
    #pragma unroll
    for (int i = 0; i < 4; i++) { int j = i * 256 + t; turned[j + j / 16] = x[(size_t)blockIdx.x * 1024 + j]; }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        int j = t * 4 + i;
        float4 q = turned[j + j / 16];
        v[4 * i] = q.x; v[4 * i + 1] = q.y; v[4 * i + 2] = q.z; v[4 * i + 3] = q.w;
    }
}
extern "C" __global__ void scan_totals(const float4* x, float* totals) {
    __shared__ float4 turned[1088];
    float v[16], total;
    load_tile(x, turned, v);
    scan_tile(v, total);
    if (threadIdx.x == 255) totals[blockIdx.x] = total;
}
extern "C" __global__ void scan_one(float* x) {
    float v[16], total;
    for (int i = 0; i < 16; i++) v[i] = x[threadIdx.x * 16 + i];
    float carried = scan_tile(v, total);
    for (int i = 0; i < 16; i++) x[threadIdx.x * 16 + i] = threadIdx.x ? v[i] + carried : v[i];
}
extern "C" __global__ void scan_rest(const float4* x, const float* totals, float4* y) {
    __shared__ float4 turned[1088];
    float v[16], total;
    load_tile(x, turned, v);
    float c = scan_tile(v, total) + (blockIdx.x ? totals[blockIdx.x - 1] : 0.0f);
    __syncthreads();
    int t = threadIdx.x;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        int j = t * 4 + i;
        turned[j + j / 16] = make_float4(c + v[4 * i], c + v[4 * i + 1], c + v[4 * i + 2], c + v[4 * i + 3]);
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 4; i++) { int j = i * 256 + t; y[(size_t)blockIdx.x * 1024 + j] = turned[j + j / 16]; }
}

// A product of squares: tiles of 64 x 64, 4 x 4 an invocation, sixteen terms at a time in workgroup memory.
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
    __shared__ float sa[16][68], sb[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
    float all[4][4] = {}, chunk[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        int r = t / 4, k = t % 4 * 4;
        float4 q = *(const float4*)(a + (size_t)(r0 + r) * n + k0 + k);
        sa[k][r] = q.x; sa[k + 1][r] = q.y; sa[k + 2][r] = q.z; sa[k + 3][r] = q.w;
        *(float4*)&sb[ty][tx * 4] = *(const float4*)(b + (size_t)(k0 + ty) * n + c0 + tx * 4);
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 w = *(float4*)&sb[k][tx * 4], u = *(float4*)&sa[k][ty * 4];
            float us[4] = {u.x, u.y, u.z, u.w}, ws[4] = {w.x, w.y, w.z, w.w};
            #pragma unroll
            for (int i = 0; i < 16; i++) chunk[i / 4][i % 4] += us[i / 4] * ws[i % 4];
        }
        __syncthreads();
        if ((k0 & 63) == 48) {
            #pragma unroll
            for (int i = 0; i < 16; i++) { all[i / 4][i % 4] += chunk[i / 4][i % 4]; chunk[i / 4][i % 4] = 0; }
        }
    }
    for (int i = 0; i < 4; i++)
        *(float4*)(c + (size_t)(r0 + ty * 4 + i) * n + c0 + tx * 4) = make_float4(all[i][0], all[i][1], all[i][2], all[i][3]);
}
"""
N = 4096
# Cubins have no contraction either.
MODULE = cp.RawModule(code=TEXT, options=("-std=c++14", "-fmad=false"))


def run(name, groups, threads, *args):
    MODULE.get_function(name)(groups, (threads,), args)


def measure(name, work, sets, got, want):
    """Prints the time of work on three sets in turn, and the error of the first set's result."""
    begun = time.time()
    while time.time() - begun < 0.5:
        for x in sets:
            work(x)
        cp.cuda.Device().synchronize()
    times = []
    for _ in range(5):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        for k in range(99):
            work(sets[k % len(sets)])
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end) * 1e6 / 99)
    work(sets[0])
    off = float(cp.abs(got - want).max() / cp.abs(want).max())
    print(json.dumps({"step": "hand", "case": name, "n": N, "ns": round(sorted(times)[2]), "off": off}), flush=True)


def main():
    sets = [((cp.arange(N * N, dtype=cp.int32) % 1021 + 1).astype(cp.float32) / 1024).reshape(N, N) for _ in range(3)]
    row, part, totals = (cp.empty(shape, cp.float32) for shape in (N, (4, N), N))
    out, wide = cp.empty((N, N), cp.float32), sets[0].astype(cp.float64)
    powers = cp.exp(wide - wide.max(1, keepdims=True))

    def columns(x):
        run("sum_columns", (N // 64, 4), 256, x, part, cp.int32(N // 4))
        run("sum_four", (4,), 256, part, row, cp.int32(N // 4))

    def scan(x):
        run("scan_totals", (N,), 256, x, totals)
        run("scan_one", (1,), 256, totals)
        run("scan_rest", (N,), 256, x, totals, out)

    measure("sum last", lambda x: run("sum_rows", (N // 2,), 128, x, row), sets, row, wide.sum(1))
    measure("softmax", lambda x: run("softmax_rows", (N // 2,), 128, x, out), sets, out, powers / powers.sum(1, keepdims=True))
    measure("sum first", columns, sets, row, wide.sum(0))
    measure("cumsum flat", scan, sets, out.ravel(), cp.cumsum(wide.ravel()))
    a = [x[:1024, :1024].copy() for x in sets]
    c, exact = cp.empty((1024, 1024), cp.float32), a[0].astype(cp.float64) @ a[0].astype(cp.float64)
    measure("matrix product", lambda x: run("product", (16, 16), 256, x, x, c, cp.int32(1024)), a, c, exact)


if __name__ == "__main__":
    main()
