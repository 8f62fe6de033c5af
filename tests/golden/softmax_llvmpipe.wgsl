struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    run: u32,
    block: u32,
    len0: u32,
    len1: u32,
    identity0: u32,
    identity1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

// Amounts to shift by, which stay 32 bits wide.
alias Count = vec4<u32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const FRACTION_f32: u32 = 0x007fffffu;

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// x 2^k for x near 1 and k in -252..=254, of which the last nine bits count: half of k is added to the exponent of x,
// the rest is a factor, so that only their product may leave the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let first = bitcast<vec4<f32>>(bitcast<vec4<i32>>(x) + (half << vec4<u32>(23u)));
    let second = bitcast<vec4<f32>>((k - half + vec4<i32>(127)) << vec4<u32>(23u));
    return first * second;
}

// An integer of few bits, in the last bits of one: the sum with 1.5 2^23 has it there.
fn last_bits_f32(k: vec4<f32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(k + 12582912.0);
}

// e^(x + more) 2^up = 2^(k + up) e^r with |r| <= ln(2) / 2, where more is small; minimax polynomial, within 2^-28 of the
// value.
fn exp_of_sum_f32(x: vec4<f32>, more: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these e^x is 0 and infinite.
    let bounded = clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0));
    let k = round((bounded + more) * 1.44269504);
    let high = opaque_f32(bounded - k * 0.693145751953125);
    let r = high - (k * 1.42860677e-6 - more);
    var q = vec4<f32>(1.381453825e-3);
    q = q * r + 8.368745446e-3;
    q = q * r + 4.166838899e-2;
    q = q * r + 1.666652113e-1;
    q = q * r + 4.999999404e-1;
    q = q * r + 1.0;
    return scale_f32(q * r + 1.0, last_bits_f32(k) + up);
}

fn exp_scaled_f32(x: vec4<f32>, up: i32) -> vec4<f32> {
    return select(exp_of_sum_f32(x, vec4<f32>(0.0), up), x, is_nan_f32(x));
}

// Bits of a word.
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

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // All bits of a negative number change, of others that of the sign.
    let negative = vec4<u32>(0) - (bits >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let negative = (rank >> Count(WORD_u32 - 1u)) - vec4<u32>(1);
    return bitcast<vec4<f32>>(rank ^ (negative | vec4<u32>(SIGN_f32)));
}

// Turned the other way, it is the greatest.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_amax_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

struct Values0 {
    v0: vec4<u32>,
    v1: vec4<u32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0), max(a.v1, b.v1));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let inside = at;
    let x = inside;
    let zero = vec4<u32>(p.zero);
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    return Values0(amax_rank_f32(v0_0), amax_rank_f32(v0_1));
}

fn fold0(c0: u32, begin: u32) -> Values0 {
    var all = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))), amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
    for (var j = 0u; j < (p.block / 8u); j++) {
        let at = begin + j * 8u;
        let a0 = element0(c0, at);
        let a1 = element0(c0, at + 1u * 1u);
        let a_1 = combine0(a0, a1);
        let a2 = element0(c0, at + 2u * 1u);
        let a_2 = combine0(a_1, a2);
        let a3 = element0(c0, at + 3u * 1u);
        let a_3 = combine0(a_2, a3);
        let a4 = element0(c0, at + 4u * 1u);
        let a_4 = combine0(a_3, a4);
        let a5 = element0(c0, at + 5u * 1u);
        let a_5 = combine0(a_4, a5);
        let a6 = element0(c0, at + 6u * 1u);
        let a_6 = combine0(a_5, a6);
        let a7 = element0(c0, at + 7u * 1u);
        let a_7 = combine0(a_6, a7);
        all = combine0(all, a_7);
    }
    return all;
}

struct Values1 {
    v0: vec4<f32>,
    v1: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0), opaque_f32(a.v1 + b.v1));
}

fn element1(c0: u32, v1: vec4<f32>, at: u32) -> Values1 {
    let inside = at;
    let x = inside;
    let zero = vec4<u32>(p.zero);
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    let v3_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_0 - v1) ^ zero);
    let v4_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3_0)) ^ zero);
    let v3_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_1 - v1) ^ zero);
    let v4_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3_1)) ^ zero);
    return Values1(v4_0, v4_1);
}

var<private> held1_v0: array<vec4<f32>, 64>;
var<private> held1_v1: array<vec4<f32>, 64>;

fn halved1(count: u32) -> Values1 {
    for (var j = count; j < 16u; j++) {
        held1_v0[j] = vec4<f32>(bitcast<f32>(p.identity1));
        held1_v1[j] = vec4<f32>(bitcast<f32>(p.identity1));
    }
    for (var h = count >> 1u; h >= 16u; h = h >> 1u) {
        for (var j = 0u; j < h; j++) {
            let own = combine1(Values1(held1_v0[j], held1_v1[j]), Values1(held1_v0[j + h], held1_v1[j + h]));
            held1_v0[j] = own.v0;
            held1_v1[j] = own.v1;
        }
    }
    let h0 = Values1(held1_v0[0], held1_v1[0]);
    let h1 = Values1(held1_v0[1], held1_v1[1]);
    let h2 = Values1(held1_v0[2], held1_v1[2]);
    let h3 = Values1(held1_v0[3], held1_v1[3]);
    let h4 = Values1(held1_v0[4], held1_v1[4]);
    let h5 = Values1(held1_v0[5], held1_v1[5]);
    let h6 = Values1(held1_v0[6], held1_v1[6]);
    let h7 = Values1(held1_v0[7], held1_v1[7]);
    let h8 = Values1(held1_v0[8], held1_v1[8]);
    let h9 = Values1(held1_v0[9], held1_v1[9]);
    let h10 = Values1(held1_v0[10], held1_v1[10]);
    let h11 = Values1(held1_v0[11], held1_v1[11]);
    let h12 = Values1(held1_v0[12], held1_v1[12]);
    let h13 = Values1(held1_v0[13], held1_v1[13]);
    let h14 = Values1(held1_v0[14], held1_v1[14]);
    let h15 = Values1(held1_v0[15], held1_v1[15]);
    let hh0 = combine1(h0, h8);
    let hh1 = combine1(h1, h9);
    let hh2 = combine1(h2, h10);
    let hh3 = combine1(h3, h11);
    let hh4 = combine1(h4, h12);
    let hh5 = combine1(h5, h13);
    let hh6 = combine1(h6, h14);
    let hh7 = combine1(h7, h15);
    let hhh0 = combine1(hh0, hh4);
    let hhh1 = combine1(hh1, hh5);
    let hhh2 = combine1(hh2, hh6);
    let hhh3 = combine1(hh3, hh7);
    let hhhh0 = combine1(hhh0, hhh2);
    let hhhh1 = combine1(hhh1, hhh3);
    let hhhhh0 = combine1(hhhh0, hhhh1);
    return hhhhh0;
}

fn fold1(c0: u32, v1: vec4<f32>, begin: u32) -> Values1 {
    for (var j = 0u; j < (p.block / 2u); j++) {
        let at = begin + j * 1u;
        let a0 = element1(c0, v1, at);
        let a1 = element1(c0, v1, at + 1u * (p.block / 2u));
        let a1_0 = combine1(a0, a1);
        held1_v0[j] = a1_0.v0;
        held1_v1[j] = a1_0.v1;
    }
    return halved1((p.block / 2u));
}

fn give(c0: u32, v1: vec4<f32>, v2: vec4<f32>, at: u32) {
    let inside = at;
    let x = inside;
    let zero = vec4<u32>(p.zero);
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    let v3_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_0 - v1) ^ zero);
    let v4_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3_0)) ^ zero);
    let v5_0 = v4_0 / v2;
    let v3_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_1 - v1) ^ zero);
    let v4_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3_1)) ^ zero);
    let v5_1 = v4_1 / v2;
    result[c0 * p.out_stride0 + x * 2u + 0u] = pack_u32(bitcast<vec4<u32>>(v5_0));
    result[c0 * p.out_stride0 + x * 2u + 1u] = pack_u32(bitcast<vec4<u32>>(v5_1));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let c0 = i;
    let zero = vec4<u32>(p.zero);
    var f0 = fold0(c0, 0u);
    f0 = combine0(f0, Values0(f0.v1, f0.v0));
    f0 = combine0(f0, Values0(f0.v0.zwxy, f0.v1.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz, f0.v1.yxwz));
    let v1 = of_amax_rank_f32(f0.v0);
    var f1 = fold1(c0, v1, 0u);
    f1 = combine1(f1, Values1(f1.v1, f1.v0));
    f1 = combine1(f1, Values1(f1.v0.zwxy, f1.v1.zwxy));
    f1 = combine1(f1, Values1(f1.v0.yxwz, f1.v1.yxwz));
    let v2 = positive_zero_f32(f1.v0);
    let end = (p.run + 7u) / 8u;
    for (var turn = 0u; turn < end; turn += 2u) {
        give(c0, v1, v2, turn);
        give(c0, v1, v2, min(turn + 1u, end - 1u));
    }
}
