struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    columns_factor: u32,
    columns_shift: u32,
    positions: u32,
    positions_factor: u32,
    positions_shift: u32,
    inner: u32,
    inner_factor: u32,
    inner_shift: u32,
    run: u32,
    block: u32,
    keep: u32,
    keep_shift: u32,
    apart: u32,
    step: u32,
    leaves: u32,
    position_stride: u32,
    identity: u32,
    identity_high: u32,
    len0: u32,
    len1: u32,
    x0_offset: u32,
    x0_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
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

// The same where n may be divided by 1, which a factor of 0 stands for.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
}

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const QUIET_f32: u32 = 0x7fc00000u;

// As many integers lie between it and the next power of two as a significand has values.
const UNIT_f32: f32 = 8388608.0;

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// A positive number as 2^k (1 + f), with 1 + f in sqrt(1/2)..sqrt(2).
struct Split_f32 {
    f: vec4<f32>,
    k: vec4<f32>,
}

fn split_f32(x: vec4<f32>) -> Split_f32 {
    let magnitude = magnitude_bits_f32(x);
    let subnormal = magnitude < vec4<u32>(0x00800000u);
    // 2^149 x is an integer, so that nothing is flushed.
    let normal = select(magnitude, bits_f32(vec4<f32>(magnitude)) - vec4<u32>(149u << 23u), subnormal);
    let bits = normal - vec4<u32>(0x3f3504f3u);
    let k = bitcast<vec4<i32>>(bits) >> vec4<u32>(23u);
    let f = opaque_f32(bitcast<vec4<f32>>((bits & vec4<u32>(0x007fffffu)) + vec4<u32>(0x3f3504f3u)) - 1.0);
    return Split_f32(f, vec4<f32>(k));
}

// The nearest whole number, of two the even one.
fn whole_f32(x: vec4<f32>) -> vec4<f32> {
    return round(x);
}

// ln(2) in two parts, of which the high one times a small integer is exact.
const LN2_HIGH_f32: f32 = 0.69313812256;

const LN2_LOW_f32: f32 = 9.0580006145e-6;

// 2^-25: below, 1 + x is 1, and f(x) = x + x^2 / 2 is x.
const ROUNDED_f32: f32 = 2.9802322e-8;

// Above, x + 1 is x to half an ulp.
const WHOLE_f32: f32 = 1.0e9;

// ln(1 + f) - f + f^2 / 2; polynomial of FreeBSD k_logf.h (Sun Microsystems, 1993).
fn log_tail_f32(f: vec4<f32>, half_square: vec4<f32>) -> vec4<f32> {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.40000972152 + w * 0.24279078841);
    let odd = z * (0.66666662693 + w * 0.28498786688);
    return s * (half_square + even + odd);
}

// A quadrant and what remains of an angle.
struct Reduced_f32 {
    r: vec4<f32>,
    quadrant: vec4<u32>,
}

const HALF_PI_A: f32 = 1.5703125;

const HALF_PI_B: f32 = 0.0004837512969970703;

const HALF_PI_C: f32 = 7.549533620476723e-08;

const HALF_PI_D: f32 = 2.5633440682570896e-12;

// Subtracts k pi/2 in four parts, of which the first three have 12 bits, so that their products
// with k < 2^12 are exact (Cody and Waite, Software Manual for the Elementary Functions, 1980). The sum with 2^23 has
// k in its low bits.
fn reduce_small_f32(x: vec4<f32>) -> Reduced_f32 {
    let k = round(x * 0.636619772);
    let r = opaque_f32(opaque_f32(opaque_f32(x - k * HALF_PI_A) - k * HALF_PI_B) - k * HALF_PI_C) - k * HALF_PI_D;
    return Reduced_f32(r, bits_f32(k + UNIT_f32));
}

// Sine of quadrant `quadrant` plus r; minimax polynomials of N. Juffa (sinf and cosf, 2015). Both have the form
// b + b s (...), with r for b or 1, so that only their coefficients are chosen.
fn sine_of_reduced_f32(reduced: Reduced_f32) -> vec4<f32> {
    let odd = (reduced.quadrant & vec4<u32>(1u)) != vec4<u32>(0u);
    let s = reduced.r * reduced.r;
    let b = select(reduced.r, vec4<f32>(1.0), odd);
    var q = select(vec4<f32>(2.86567956e-6), vec4<f32>(2.44677067e-5), odd);
    q = q * s + select(vec4<f32>(-1.98559923e-4), vec4<f32>(-1.38877297e-3), odd);
    q = q * s + select(vec4<f32>(8.33338592e-3), vec4<f32>(4.16666567e-2), odd);
    q = q * s + select(vec4<f32>(-1.66666672e-1), vec4<f32>(-0.5), odd);
    let value = b + opaque_f32(b * s * q);
    return bitcast<vec4<f32>>(bits_f32(value) ^ ((reduced.quadrant << vec4<u32>(30u)) & vec4<u32>(SIGN_f32)));
}

const PI_f32: f32 = 3.14159274101257324;

// 1 - Euler's constant
const ONE_LESS_EULER_f32: f32 = 0.42278434;

// (lgamma(2 + t) / t - ONE_LESS_EULER) / t for |t| <= 1/2.
fn lgamma_tail_f32(t: vec4<f32>) -> vec4<f32> {
    // 8.8e-9 of the value at most.
    var q = vec4<f32>(0.000111983645);
    q = q * t - 0.000250562036;
    q = q * t + 0.00050726044;
    q = q * t - 0.00118748483;
    q = q * t + 0.00289067952;
    q = q * t - 0.00738592073;
    q = q * t + 0.0205808058;
    q = q * t - 0.0673522949;
    q = q * t + 0.322467029;
    return q;
}

// What Stirling's series adds, of 1 / x^2 and times x.
fn stirling_tail_f32(z: vec4<f32>) -> vec4<f32> {
    return 8.3333333e-2 + z * (-2.7777778e-3 + z * 7.9365079e-4);
}

const STIRLING_FROM_f32: i32 = 16;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn is_inf_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) == vec4<u32>(INFINITE_f32);
}

// NaN, made where no compiler can fold it: from an operand.
fn nan_f32(from_any: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(from_any) | vec4<u32>(QUIET_f32));
}

fn inf_f32(sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>((bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)) | vec4<u32>(INFINITE_f32));
}

// What every logarithm of x answers where x is no positive finite number.
fn log_edges_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let finite = select(value, inf_f32(vec4<f32>(-1.0)), magnitude_bits_f32(x) == vec4<u32>(0));
    let infinite = bits_f32(x) == vec4<u32>(INFINITE_f32);
    let negative = (bits_f32(x) > vec4<u32>(SIGN_f32)) & !is_nan_f32(x);
    return select(select(finite, x, infinite | is_nan_f32(x)), nan_f32(x), negative);
}

// After FreeBSD e_log.c, which bounds its error by 1 ulp. Here as below the parts of k ln(2) are kept
// apart by what is opaque, as one factor for both would lose the low one.
fn log_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let tail = log_tail_f32(split.f, half_square);
    let rest = opaque_f32(tail + split.k * LN2_LOW_f32 - half_square + split.f);
    return log_edges_f32(rest + split.k * LN2_HIGH_f32, x);
}

// The logarithm of u = 1 + x, with what the addition lost put back (FreeBSD s_log1p.c).
fn log1p_f32(x: vec4<f32>) -> vec4<f32> {
    let u = opaque_f32(1.0 + x);
    let large = u >= vec4<f32>(2.0);
    let lost = (select(x, vec4<f32>(1.0), large) - opaque_f32(u - select(vec4<f32>(1.0), x, large))) / u;
    let near = (x > vec4<f32>(-0.29289323)) & (x < vec4<f32>(0.41421354));
    let split = split_f32(u);
    let f = select(split.f, x, near);
    let k = select(split.k, vec4<f32>(0.0), near);
    let c = select(lost, vec4<f32>(0.0), near | !(u < vec4<f32>(WHOLE_f32)));
    let half_square = 0.5 * f * f;
    let rest = opaque_f32(log_tail_f32(f, half_square) + (k * LN2_LOW_f32 + c) - half_square + f);
    let value = rest + k * LN2_HIGH_f32;
    return select(log_edges_f32(value, select(u, x, is_nan_f32(x))), x, abs(x) < vec4<f32>(ROUNDED_f32));
}

// The value of an odd function, of what it is of a magnitude.
fn with_sign_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(value) ^ (bits_f32(x) & vec4<u32>(SIGN_f32)));
}

// The same of an angle of at most pi/2: the reduction of a large one is long to compile.
fn sin_of_quarter_f32(x: vec4<f32>) -> vec4<f32> {
    return with_sign_f32(sine_of_reduced_f32(reduce_small_f32(abs(x))), x);
}

// ln |gamma|: around 2 by a polynomial, shifted there by gamma(x + 1) = x gamma(x), far from it by
// Stirling's series, and below 0 by gamma(x) gamma(-x) = -pi / (x sin(pi x)). There the shift is
// part of the quotient, so that near the zeros one logarithm is taken and nothing cancels.
fn lgamma_f32(x: vec4<f32>) -> vec4<f32> {
    let y = abs(x);
    let low = y < vec4<f32>(0.5);
    let near_one = !low & (y < vec4<f32>(1.5));
    let large = y >= vec4<f32>(f32(STIRLING_FROM_f32));
    let shifts = !(low | near_one | large);
    var product = vec4<f32>(1.0);
    var rest = y;
    for (var i = 2; i < STIRLING_FROM_f32; i += 1) {
        let above = (rest >= vec4<f32>(2.5)) & shifts;
        rest = select(rest, rest - 1.0, above);
        product = select(product, product * rest, above);
    }
    // lgamma(2 + t), and what it takes from there.
    let t = select(select(select(rest - 2.0, y - 1.0, near_one), y, low), vec4<f32>(0.0), large);
    let around = t * (ONE_LESS_EULER_f32 + t * lgamma_tail_f32(t));
    let logarithm = log_f32(select(select(product, y * (1.0 + y), low), y, large));
    let shifted = around + select(logarithm, -logarithm, low);
    let inverse = 1.0 / y;
    let series = (y - 0.5) * (logarithm - 1.0) + (0.4189385332046727 + inverse * stirling_tail_f32(inverse * inverse));
    let positive = select(select(shifted, around - log1p_f32(t), near_one), series, large);

    let r = y - whole_f32(y);
    let divisor = select(y, y * product, shifts) * abs(sin_of_quarter_f32(PI_f32 * r));
    let reflected = log_f32(PI_f32 / divisor) - select(positive, around, shifts);
    let integer = (r == vec4<f32>(0.0)) | is_inf_f32(x);
    let negative = select(reflected, inf_f32(vec4<f32>(1.0)), integer);
    let below = (x < vec4<f32>(0.0)) & (y >= vec4<f32>(ROUNDED_f32));
    return select(select(positive, negative, below), x, is_nan_f32(x));
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

struct Values {
    v0: vec4<f32>,
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0));
}

fn element(c0: u32, at: u32) -> Values {
    let x = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[p.x0_offset + c0 * p.x0_stride0 + x]));
    let zero = vec4<u32>(p.zero);
    let v1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(lgamma_f32(v0)) ^ zero);
    return Values(v1);
}

fn hold(place: u32, turn: u32, turns: u32, own: Values) -> Values {
    var all = own;
    var at = turn;
    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {
        at -= half;
        all = combine(Values(held_f32_0[(place + at) * 64u + own_place]), all);
    }
    held_f32_0[(place + at) * 64u + own_place] = all.v0;
    return all;
}

fn fold(c0: u32, begin: u32) -> Values {
    var all: Values;
    for (var j = 0u; j < p.leaves; j++) {
        let at = begin + j * p.step;
        let a0 = element(c0, at);
        all = hold(0u, j, p.leaves, a0);
    }
    return all;
}

var<workgroup> held_f32_0: array<vec4<f32>, 2048>;
var<private> own_place: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own_place = local;
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let member = i & (p.keep - 1u);
    let q_position = share((i >> p.keep_shift), p.positions_factor, p.positions_shift);
    let position = (i >> p.keep_shift) - q_position * p.positions;
    let c0 = q_position;
    let begin = position * p.block + member;
    var v = fold(c0, begin);
    result[i] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v0)));
}
