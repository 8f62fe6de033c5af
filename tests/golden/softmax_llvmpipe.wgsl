struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    items: u32,
    identity0: u32,
    identity1: u32,
    out_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> words: Params;
var<private> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

// The type of shift amounts, which have 32 bits for u64 too.
alias Count = vec4<u32>;

// The signed type, whose right shift copies the sign.
alias Signed_u32 = vec4<i32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const FRACTION_f32: u32 = 0x007fffffu;

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming `x * (a * b)`. It
// stands where a rewrite would exceed the error bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// x 2^k for x near 1 and k in -252..=254, of which the last nine bits count. Half of k is added to the exponent of x,
// and the other half is a factor, so only their product may leave the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let first = bitcast<vec4<f32>>(bitcast<vec4<i32>>(x) + (half << vec4<u32>(23u)));
    let second = bitcast<vec4<f32>>((k - half + vec4<i32>(127)) << vec4<u32>(23u));
    return first * second;
}

// A small whole number as an integer: the last bits of its sum with 1.5 2^23.
fn last_bits_f32(k: vec4<f32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(k + 12582912.0);
}

// e^(x + more) 2^up = 2^(k + up) e^r with |r| <= ln(2) / 2, where more is small. A minimax polynomial, within 2^-28 of
// the value.
fn exp_of_sum_f32(x: vec4<f32>, more: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these, e^x is 0 or infinite.
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
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_amax_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

struct Values0 {
    v0: vec4<u32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let x = at;
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    return Values0(amax_rank_f32(v0));
}

struct Values1 {
    v0: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0));
}

fn element1(c0: u32, v1: vec4<f32>, at: u32) -> Values1 {
    let x = at;
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    return Values1(v4);
}

fn give(c0: u32, v1: vec4<f32>, v2: vec4<f32>, at: u32) {
    let x = at;
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    let v5 = v4 / v2;
    result[c0 * p.out_stride0 + x] = pack_u32(bitcast<vec4<u32>>(v5));
}

fn reduce(item: u32) {
    let c0 = item;
    let zero = vec4<u32>(p.zero);
    var f0 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
    var held0_f0 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
    var held1_f0 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
    for (var turn_lane_of = 0u; turn_lane_of < 4u; turn_lane_of++) {
        let lane_of = (((turn_lane_of >> 0u) & 1u) << 1u) | (((turn_lane_of >> 1u) & 1u) << 0u);
        let begin0 = lane_of;
        let end0 = (p.row + 3u) / 4u;
        var a0_0 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
        var a0_1 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
        var a0_2 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
        var a0_3 = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
        for (var at = begin0; at < end0; at += 16u) {
            let e0_0_0 = element0(c0, at);
            let e0_0_1 = element0(c0, at + 4u);
            let e0_0_2 = element0(c0, at + 8u);
            let e0_0_3 = element0(c0, at + 12u);
            a0_0 = combine0(a0_0, e0_0_0);
            a0_1 = combine0(a0_1, e0_0_1);
            a0_2 = combine0(a0_2, e0_0_2);
            a0_3 = combine0(a0_3, e0_0_3);
        }
        a0_0 = combine0(a0_0, a0_2);
        a0_1 = combine0(a0_1, a0_3);
        a0_0 = combine0(a0_0, a0_1);
        var own_f0 = a0_0;
        if ((turn_lane_of & 1u) == 0u) {
            held0_f0 = own_f0;
        } else {
            own_f0 = combine0(held0_f0, own_f0);
            if ((turn_lane_of & 2u) == 0u) {
                held1_f0 = own_f0;
            } else {
                own_f0 = combine0(held1_f0, own_f0);
                f0 = own_f0;
            }
        }
    }
    f0 = combine0(f0, Values0(f0.v0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz));
    let v1 = of_amax_rank_f32(f0.v0);
    var f1 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
    var held0_f1 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
    var held1_f1 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
    for (var turn_lane_of = 0u; turn_lane_of < 4u; turn_lane_of++) {
        let lane_of = (((turn_lane_of >> 0u) & 1u) << 1u) | (((turn_lane_of >> 1u) & 1u) << 0u);
        let begin1 = lane_of;
        let end1 = (p.row + 3u) / 4u;
        var a1_0 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
        var a1_1 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
        var a1_2 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
        var a1_3 = Values1(vec4<f32>(bitcast<f32>(p.identity1)));
        for (var at = begin1; at < end1; at += 16u) {
            let e1_0_0 = element1(c0, v1, at);
            let e1_0_1 = element1(c0, v1, at + 4u);
            let e1_0_2 = element1(c0, v1, at + 8u);
            let e1_0_3 = element1(c0, v1, at + 12u);
            a1_0 = combine1(a1_0, e1_0_0);
            a1_1 = combine1(a1_1, e1_0_1);
            a1_2 = combine1(a1_2, e1_0_2);
            a1_3 = combine1(a1_3, e1_0_3);
        }
        a1_0 = combine1(a1_0, a1_2);
        a1_1 = combine1(a1_1, a1_3);
        a1_0 = combine1(a1_0, a1_1);
        var own_f1 = a1_0;
        if ((turn_lane_of & 1u) == 0u) {
            held0_f1 = own_f1;
        } else {
            own_f1 = combine1(held0_f1, own_f1);
            if ((turn_lane_of & 2u) == 0u) {
                held1_f1 = own_f1;
            } else {
                own_f1 = combine1(held1_f1, own_f1);
                f1 = own_f1;
            }
        }
    }
    f1 = combine1(f1, Values1(f1.v0.zwxy));
    f1 = combine1(f1, Values1(f1.v0.yxwz));
    let v2 = positive_zero_f32(f1.v0);
    let end = (p.row + 3u) / 4u;
    for (var at = 0u; at < end; at += 4u) {
        give(c0, v1, v2, at);
        give(c0, v1, v2, min(at + 1u, end - 1u));
        give(c0, v1, v2, min(at + 2u, end - 1u));
        give(c0, v1, v2, min(at + 3u, end - 1u));
    }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    p = words;
    let first = (id.y * p.pitch + id.x) * p.items;
    let end = min(first + p.items, p.count);
    for (var item = first; item < end; item++) { reduce(item); }
}
