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
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

// That of one product.
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// The same of one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

fn cast_f32_u32(x: vec4<f32>) -> vec4<u32> {
    let inside = vec4<u32>(clamp(x, vec4<f32>(0.0), vec4<f32>(4294967040.0)));
    let high = select(inside, vec4<u32>(0xffffffffu), x >= vec4<f32>(4294967296.0));
    return select(high, vec4<u32>(0u), (x <= vec4<f32>(0.0)) | is_nan_f32(x));
}

// Amounts to shift by, which stay 32 bits wide.
alias Count = vec4<u32>;

// What shifts in the sign.
alias Signed_u32 = vec4<i32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const ONE_f32: u32 = 0x3f800000u;

const FRACTION_f32: u32 = 0x007fffffu;

// The least normal float.
const LEAST_f32: u32 = 0x00800000u;

const FRACTION_BITS_f32: u32 = 23u;

// The bits of 2^-62. Of operands from there to below 2^63 neither the quotient nor a step on the way to it is subnormal or
// infinite.
const EASY_f32: u32 = 0x20800000u;

// The bits of 2^63 less those of 2^-62.
const EASY_SPAN_f32: u32 = 0x3e800000u;

// From this fraction of a divisor on, a reciprocal that is one unit off can round a quotient the wrong way.
const LAST_FRACTION_f32: u32 = 0x007ffff0u;

// As many integers lie between it and the next power of two as a significand has values.
const UNIT_f32: f32 = 8388608.0;

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

// What lies 8 below the guess is right by 1 to 15 more, for guesses of up to 7 units off.
const FROM_GUESS_u32: u32 = 8;

fn is_normal_f32(magnitude: vec4<u32>) -> vec4<bool> {
    return magnitude - vec4<u32>(LEAST_f32) < vec4<u32>(INFINITE_f32 - LEAST_f32);
}

// Where it rounds once: after P. Markstein (1990), one step of Newton for the reciprocal and one for the quotient. Every
// quotient within 3 / 2^25 units of halfway between two floats was tried, with reciprocals of up to 7 units off.
fn div_nearest_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let dividend = (x - vec4<u32>(EASY_f32) < vec4<u32>(EASY_SPAN_f32)) | (x == vec4<u32>(0));
    let divisor = y - vec4<u32>(EASY_f32) < vec4<u32>(EASY_SPAN_f32);
    if (!all(dividend & divisor & ((y & vec4<u32>(FRACTION_f32)) < vec4<u32>(LAST_FRACTION_f32)))) {
        return div_by_integers_f32(a, b);
    }
    let m = bitcast<vec4<f32>>(x);
    let n = bitcast<vec4<f32>>(y);
    let guess = 1.0 / n;
    let reciprocal = fma(guess, fma(-n, guess, vec4<f32>(1.0)), guess);
    let q = m * reciprocal;
    let nearest = fma(reciprocal, fma(-n, q, m), q);
    return bitcast<vec4<f32>>(bits_f32(nearest) | ((bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32)));
}

fn div_by_integers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let x = magnitude_bits_f32(a);
    let y = magnitude_bits_f32(b);
    let m = (x & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    let n = (y & vec4<u32>(FRACTION_f32)) | vec4<u32>(LEAST_f32);
    // The quotient of the significands, as an integer of as many digits: below 1 where m is less than n.
    let less = m < n;
    let shift = Count(FRACTION_BITS_f32) + select(Count(0), Count(1), less);
    let top = bitcast<vec4<f32>>(m ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    let guess = top / bitcast<vec4<f32>>(n ^ vec4<u32>(LEAST_f32 ^ ONE_f32));
    var q = cast_f32_u32(select(guess, guess + guess, less) * UNIT_f32) - FROM_GUESS_u32;
    var rest = (m << shift) - q * n;
    for (var step = FROM_GUESS_u32; step > 0; step >>= 1u) {
        let more = rest >= n * step;
        q = select(q, q + step, more);
        rest = select(rest, rest - n * step, more);
    }
    let up = (rest + rest > n) | ((rest + rest == n) & ((q & vec4<u32>(1)) != vec4<u32>(0)));
    let bias = vec4<i32>(i32(ONE_f32 >> FRACTION_BITS_f32));
    let apart = vec4<i32>(x >> Count(FRACTION_BITS_f32)) - vec4<i32>(y >> Count(FRACTION_BITS_f32));
    let exponent = apart + bias - select(vec4<i32>(0), vec4<i32>(1), less);
    let rounded = q + select(vec4<u32>(0), vec4<u32>(1), up);
    let finite = rounded + (vec4<u32>(max(exponent, vec4<i32>(1)) - vec4<i32>(1)) << Count(FRACTION_BITS_f32));
    let beyond = exponent >= vec4<i32>(i32(INFINITE_f32 >> FRACTION_BITS_f32));
    let bounded = select(finite, vec4<u32>(INFINITE_f32), beyond);
    // Half a unit below the least normal float it rounds to that.
    let least = (exponent == vec4<i32>(0)) & (q == vec4<u32>(LEAST_f32 | FRACTION_f32));
    let bits = select(bounded, vec4<u32>(LEAST_f32), least);
    let sign = (bits_f32(a) ^ bits_f32(b)) & vec4<u32>(SIGN_f32);
    // Of subnormals, which may be flushed, the adapter's own. Some multiply by the reciprocal, and then infinity over a
    // number whose reciprocal is flushed is NaN.
    let infinite = (x == vec4<u32>(INFINITE_f32)) & (y < vec4<u32>(INFINITE_f32));
    let normal = is_normal_f32(x) & is_normal_f32(y) & (least | (exponent > vec4<i32>(0)));
    let told = select(bits, vec4<u32>(INFINITE_f32), infinite) | sign;
    return select(a / b, bitcast<vec4<f32>>(told), normal | infinite);
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
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
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
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v0 = in0[c0 * p.out_stride0 + x];
    return Values0(amax_rank_f32(v0));
}

fn fold0(c0: u32, begin: u32) -> Values0 {
    var all = Values0(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))));
    for (var j = 0u; j < (p.block / 16u); j++) {
        let at = begin + j * 16u;
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
        let a8 = element0(c0, at + 8u * 1u);
        let a_8 = combine0(a_7, a8);
        let a9 = element0(c0, at + 9u * 1u);
        let a_9 = combine0(a_8, a9);
        let a10 = element0(c0, at + 10u * 1u);
        let a_10 = combine0(a_9, a10);
        let a11 = element0(c0, at + 11u * 1u);
        let a_11 = combine0(a_10, a11);
        let a12 = element0(c0, at + 12u * 1u);
        let a_12 = combine0(a_11, a12);
        let a13 = element0(c0, at + 13u * 1u);
        let a_13 = combine0(a_12, a13);
        let a14 = element0(c0, at + 14u * 1u);
        let a_14 = combine0(a_13, a14);
        let a15 = element0(c0, at + 15u * 1u);
        let a_15 = combine0(a_14, a15);
        all = combine0(all, a_15);
    }
    return all;
}

struct Values1 {
    v0: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0));
}

fn element1(c0: u32, v1: vec4<f32>, at: u32) -> Values1 {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v0 = in0[c0 * p.out_stride0 + x];
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    result[c0 * p.out_stride0 + x] = v4;
    return Values1(v4);
}

fn hold1(place: u32, turn: u32, turns: u32, own: Values1) -> Values1 {
    var all = own;
    var at = turn;
    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {
        at -= half;
        all = combine1(Values1(held_f32_0[(place + at) * 32u + own_place]), all);
    }
    held_f32_0[(place + at) * 32u + own_place] = all.v0;
    return all;
}

fn fold1(c0: u32, v1: vec4<f32>, begin: u32) -> Values1 {
    var all: Values1;
    for (var j = 0u; j < (p.block / 4u); j++) {
        let at = begin + j * 1u;
        let a0 = element1(c0, v1, at);
        let a1 = element1(c0, v1, at + 1u * (p.block / 4u));
        let a2 = element1(c0, v1, at + 2u * (p.block / 4u));
        let a2_0 = combine1(a0, a2);
        let a3 = element1(c0, v1, at + 3u * (p.block / 4u));
        let a2_1 = combine1(a1, a3);
        let a1_0 = combine1(a2_0, a2_1);
        all = hold1(0u, j, (p.block / 4u), a1_0);
    }
    return all;
}

fn give(c0: u32, v2: vec4<f32>, at: u32) {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v4 = result[c0 * p.out_stride0 + x];
    let v5 = div_nearest_f32(v4, v2);
    result[c0 * p.out_stride0 + x] = v5;
}

var<workgroup> held_f32_0: array<vec4<f32>, 1024>;
var<private> own_place: u32;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own_place = local;
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let c0 = i;
    let zero = vec4<u32>(p.zero);
    var f0 = fold0(c0, 0u);
    f0 = combine0(f0, Values0(f0.v0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz));
    let v1 = of_amax_rank_f32(f0.v0);
    var f1 = fold1(c0, v1, 0u);
    f1 = combine1(f1, Values1(f1.v0.zwxy));
    f1 = combine1(f1, Values1(f1.v0.yxwz));
    let v2 = positive_zero_f32(f1.v0);
    let end = (p.run + 3u) / 4u;
    for (var turn = 0u; turn < end; turn += 8u) {
        give(c0, v2, turn);
        if (turn + 1u < end) { give(c0, v2, turn + 1u); }
        if (turn + 2u < end) { give(c0, v2, turn + 2u); }
        if (turn + 3u < end) { give(c0, v2, turn + 3u); }
        if (turn + 4u < end) { give(c0, v2, turn + 4u); }
        if (turn + 5u < end) { give(c0, v2, turn + 5u); }
        if (turn + 6u < end) { give(c0, v2, turn + 6u); }
        if (turn + 7u < end) { give(c0, v2, turn + 7u); }
    }
}
