struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    identity0: u32,
    identity1: u32,
    len1: u32,
    out_stride0: u32,
    out_stride1: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;

// The type of shift amounts, which have 32 bits for u64 too.
alias Count = vec4<u32>;

// The signed type, whose right shift copies the sign.
alias Signed_u32 = vec4<i32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const ONE_f32: u32 = 0x3f800000u;

const FRACTION_f32: u32 = 0x007fffffu;

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`. It stands where a sum reads a sum, because a rewrite
// would change the bits.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// x 2^k for x near 1 and k in -252..=254, of which the last nine bits count. Half of k is added to the exponent of x,
// and the other half is a factor, so only their product may leave the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let first = bitcast<vec4<f32>>(bitcast<vec4<i32>>(x) + (half << vec4<u32>(23u)));
    let second = bitcast<vec4<f32>>((k - half + vec4<i32>(127)) << vec4<u32>(23u));
    return times_kept_f32(first, second);
}

// A small whole number as an integer: the last bits of its sum with 1.5 2^23.
fn last_bits_f32(k: vec4<f32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(k + 12582912.0);
}

// e^r for |r| <= ln(2) / 2. A minimax polynomial, within 2^-28 of the value.
fn exp_of_rest_f32(r: vec4<f32>) -> vec4<f32> {
    var q = vec4<f32>(1.381453825e-3);
    q = mul_add_f32(q, r, vec4(8.368745446e-3));
    q = mul_add_f32(q, r, vec4(4.166838899e-2));
    q = mul_add_f32(q, r, vec4(1.666652113e-1));
    q = mul_add_f32(q, r, vec4(4.999999404e-1));
    q = opaque_f32(mul_add_f32(q, r, vec4(1.0)));
    return mul_add_f32(q, r, vec4(1.0));
}

// A number as k ln(2) + r with |r| <= ln(2) / 2.
struct Powers_f32 {
    k: vec4<f32>,
    r: vec4<f32>,
}

fn powers_f32(x: vec4<f32>) -> Powers_f32 {
    let k = round(times_f32(x, vec4(1.44269504)));
    let high = opaque_f32(mul_add_f32(k, vec4(-0.693145751953125), x));
    return Powers_f32(k, mul_add_f32(k, vec4(-1.42860677e-6), high));
}

// e^x 2^up = 2^(k + up) e^r.
fn exp_scaled_f32(x: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these, e^x is 0 or infinite.
    let powers = powers_f32(clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0)));
    let value = scale_f32(exp_of_rest_f32(powers.r), last_bits_f32(powers.k) + up);
    return select(value, x, is_nan_f32(x));
}

// For adapters that do not flush.
fn times_kept_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return times_f32(a, b);
}

// The bits of a word.
const WORD_u32: u32 = 32u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

// For adapters that keep an fma whole. Here the addend is -0 and below the factor is 1, and no compiler knows it. The sum is an
// fma too, because Mesa's compilers exchange the addends of `fma(a, b, -0) + 0.5`.
fn times_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(a, b, vec4<f32>(bitcast<f32>(p.zero | SIGN_f32)));
}

fn plus_f32(product: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(product, vec4<f32>(bitcast<f32>(p.zero | ONE_f32)), b);
}

// a * b + c, rounded twice.
fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return plus_f32(times_f32(a, b), c);
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// The rank of a number. -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // A negative number flips all bits, and another number flips the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let negative = (rank >> Count(WORD_u32 - 1u)) - vec4<u32>(1);
    return bitcast<vec4<f32>>(rank ^ (negative | vec4<u32>(SIGN_f32)));
}

// Turned the other way, all NaN is greatest.
fn max_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_max_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

struct Values0 {
    v0: vec4<u32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0));
}

struct Held0 {
    v0: vec4<f32>,
}

fn hold0(x: u32, at: u32) -> Held0 {
    let c0 = min(at, p.row - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let at_v0 = (c0 * p.out_stride0) + lane * p.out_stride1;
    let v0 = vec4<f32>(in0[at_v0.x], in0[at_v0.y], in0[at_v0.z], in0[at_v0.w]);
    return Held0(v0);
}

fn element0(x: u32, held: Held0, at: u32) -> Values0 {
    let c0 = min(at, p.row - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = held.v0;
    let zero = vec4<u32>(p.zero);
    let exists = vec4<bool>(at < p.row);
    return Values0(select(max_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))), max_rank_f32(v0), exists));
}

struct Values1 {
    v0: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0));
}

struct Held1 {
    v4: vec4<f32>,
}

fn hold1(x: u32, v1: vec4<f32>, held: Held0, at: u32) -> Held1 {
    let c0 = min(at, p.row - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = held.v0;
    let zero = vec4<u32>(p.zero);
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    return Held1(v4);
}

fn element1(x: u32, held: Held1, at: u32) -> Values1 {
    let c0 = min(at, p.row - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v4 = held.v4;
    let zero = vec4<u32>(p.zero);
    let exists = vec4<bool>(at < p.row);
    return Values1(select(vec4<f32>(bitcast<f32>(p.identity1)), v4, exists));
}

fn give(x: u32, v2: vec4<f32>, held: Held1, at: u32) {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v4 = held.v4;
    let zero = vec4<u32>(p.zero);
    let v5 = v4 / v2;
    let place0 = vec4<u32>(c0 * p.out_stride0 + lane * p.out_stride1);
    let value0 = v5;
    result[place0.x] = value0.x;
    if (first + 1u < p.len1) { result[place0.y] = value0.y; }
    if (first + 2u < p.len1) { result[place0.z] = value0.z; }
    if (first + 3u < p.len1) { result[place0.w] = value0.w; }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let item = i;
    let x = item;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let begin0 = 0u;
    let h0_0_0 = hold0(x, begin0);
    let h0_0_1 = hold0(x, begin0 + 1u);
    let h0_0_2 = hold0(x, begin0 + 2u);
    let h0_0_3 = hold0(x, begin0 + 3u);
    var a0_0 = element0(x, h0_0_0, begin0);
    var a0_1 = element0(x, h0_0_1, begin0 + 1u);
    var a0_2 = element0(x, h0_0_2, begin0 + 2u);
    var a0_3 = element0(x, h0_0_3, begin0 + 3u);
    a0_0 = combine0(a0_0, a0_2);
    a0_1 = combine0(a0_1, a0_3);
    a0_0 = combine0(a0_0, a0_1);
    var f0 = a0_0;
    let v1 = of_max_rank_f32(f0.v0);
    let begin1 = 0u;
    let h1_0_0 = hold1(x, v1, h0_0_0, begin1);
    let h1_0_1 = hold1(x, v1, h0_0_1, begin1 + 1u);
    let h1_0_2 = hold1(x, v1, h0_0_2, begin1 + 2u);
    let h1_0_3 = hold1(x, v1, h0_0_3, begin1 + 3u);
    var a1_0 = element1(x, h1_0_0, begin1);
    var a1_1 = element1(x, h1_0_1, begin1 + 1u);
    var a1_2 = element1(x, h1_0_2, begin1 + 2u);
    var a1_3 = element1(x, h1_0_3, begin1 + 3u);
    a1_0 = combine1(a1_0, a1_2);
    a1_1 = combine1(a1_1, a1_3);
    a1_0 = combine1(a1_0, a1_1);
    var f1 = a1_0;
    let v2 = positive_zero_f32(f1.v0);
    if (begin1 < p.row) { give(x, v2, h1_0_0, begin1); }
    if (begin1 + 1u < p.row) { give(x, v2, h1_0_1, begin1 + 1u); }
    if (begin1 + 2u < p.row) { give(x, v2, h1_0_2, begin1 + 2u); }
    if (begin1 + 3u < p.row) { give(x, v2, h1_0_3, begin1 + 3u); }
}
