"""The common part of the translators to C: types, functions that C lacks, and the program around the kernels."""

TYPES = {"f16": "_Float16", "f32": "float", "f64": "double", "i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "bool": "_Bool"}

HEAD = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define BITCAST(to, from) static inline to from##_as_##to(from x) { to y; memcpy(&y, &x, sizeof y); return y; }
BITCAST(float, uint32_t) BITCAST(uint32_t, float) BITCAST(double, uint64_t) BITCAST(uint64_t, double)
/* Devices round a mad of FXC once or twice. */
#ifdef TWICE
#define madf(a, b, c) ((a) * (b) + (c))
#else
#define madf fmaf
#endif
#define mad fma
static inline uint32_t to_i32(double x) { return !(x >= -2147483648.0) ? x != x ? 0 : 0x80000000u : x >= 2147483648.0 ? 0x7fffffffu : (uint32_t)(int32_t)x; }
static inline uint32_t to_u32(double x) { return !(x > 0) ? 0 : x >= 4294967296.0 ? 0xffffffffu : (uint32_t)x; }
static inline uint64_t to_i64(double x) { return !(x >= -0x1p63) ? x != x ? 0 : 1ull << 63 : x >= 0x1p63 ? ~0ull >> 1 : (uint64_t)(int64_t)x; }
static inline uint32_t imin(int32_t a, int32_t b) { return a < b ? a : b; }
static inline uint32_t imax(int32_t a, int32_t b) { return a > b ? a : b; }
static inline uint32_t umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t umax(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint64_t imin64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline uint64_t imax64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline uint64_t umin64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t umax64(uint64_t a, uint64_t b) { return a > b ? a : b; }
/* Of the highest and of the lowest bit that is set: its number. */
static inline uint32_t high_bit(uint32_t x) { return x ? 31 - __builtin_clz(x) : 0xffffffffu; }
static inline uint32_t high_from_top(uint32_t x) { return x ? __builtin_clz(x) : 0xffffffffu; }
static inline uint32_t low_bit(uint32_t x) { return x ? __builtin_ctz(x) : 0xffffffffu; }
static inline uint32_t reversed(uint32_t x) { uint32_t y = 0; for (int i = 0; i < 32; i++) y |= (x >> i & 1) << (31 - i); return y; }
static inline uint32_t extracted(uint32_t x, uint32_t from, uint32_t count) { return x >> from & ((1ull << count) - 1); }
static inline uint32_t inserted(uint32_t x, uint32_t part, uint32_t from, uint32_t count) {
    uint32_t mask = ((1ull << count) - 1) << from;
    return (x & ~mask) | (part << from & mask);
}
static inline float fractionf(float x) { return x - floorf(x); }
static inline double fraction(double x) { return x - floor(x); }
/* NaN and infinity by their bits, so that -ffast-math leaves the tests in place. */
static inline _Bool is_nan(float x) { return (float_as_uint32_t(x) & 0x7fffffffu) > 0x7f800000u; }
static inline _Bool is_inf(float x) { return (float_as_uint32_t(x) & 0x7fffffffu) == 0x7f800000u; }
/* Adapters decide on the sign of a NaN that they compute, on which of two zeros a minimum is, and on whether subnormals
   are flushed. With -DOPEN there are as many results as OPEN says, of which the first has never the other, the second
   always, and the rest by chance. */
#ifdef OPEN
static uint32_t chance;
static _Bool other(void) {
    if (chance > 1) chance ^= chance << 13, chance ^= chance >> 17, chance ^= chance << 5;
    return chance & 1;
}
#define DECIDED(type, made, least, most, normal, f) \
    static inline type made(type x) { return x != x && other() ? -x : fabs(x) < normal && other() ? 0 * x : x; } \
    static inline type least(type a, type b) { return a == b ? other() ? a : b : fmin##f(a, b); } \
    static inline type most(type a, type b) { return a == b ? other() ? a : b : fmax##f(a, b); }
DECIDED(float, madef, leastf, mostf, 0x1p-126, f)
DECIDED(double, made, least, most, 0x1p-1022, )
#define RESULTS atoi(getenv("OPEN"))
#define DECIDE(i) chance = i < 2 ? i : i * 2654435761u
#else
#define madef
#define made
#define leastf fminf
#define least fmin
#define mostf fmaxf
#define most fmax
#define RESULTS 1
#define DECIDE(i)
#endif
"""

# Runs the kernel that its first argument names: a.out NAME VECTORS OUT BYTES-OF-RESULT IN...
MAIN = """
int main(int n, char** a) {
    uint32_t count = atoi(a[2]);
    size_t bytes = atol(a[4]);
    uint32_t block[64];
    void *in[4] = {0}, *out = calloc(bytes + 64, 1);
    for (int i = 5; i < n; i++) {
        FILE* f = fopen(a[i], "rb");
        fseek(f, 0, SEEK_END);
        size_t size = ftell(f);
        rewind(f);
        in[i - 5] = malloc(size);
        if (fread(in[i - 5], 1, size, f) != size) return 1;
        fclose(f);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (!strcmp(kernels[k].name, a[1])) {
            memcpy(block, kernels[k].block, sizeof block);
            block[VECTORS] = count;
            FILE* f = fopen(a[3], "wb");
            for (int result = 0; result < RESULTS; result++) {
                DECIDE(result);
                for (uint32_t i = 0; i < count; i++) kernels[k].run(i, block, out, in);
                fwrite(out, 1, bytes, f);
            }
            fclose(f);
            return 0;
        }
    return 1;
}
"""


def program(functions, blocks={}):
    """A program of kernels by name, each the text between the braces of a C function, and the words of the uniform blocks
    that have more than zeros."""
    text, table = [HEAD], []
    for name, body in functions.items():
        c = "k_" + "".join(ch if ch.isalnum() else "_" for ch in name)
        text.append(f"static void {c}(uint32_t id, const uint32_t* block, void* out, void* const* in) {{\n{body}\n}}")
        table.append(f'{{"{name}", {c}, {{{", ".join(blocks.get(name, ["0"]))}}}}}')
    text.append("static const struct { const char* name; void (*run)(uint32_t, const uint32_t*, void*, void* const*); uint32_t block[64]; } kernels[] = {" + ", ".join(table) + "};")
    # A flat kernel's block: pitch, vectors, constants, zero.
    return "\n".join(text) + MAIN.replace("VECTORS", "1")
