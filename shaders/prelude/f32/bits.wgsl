// f32 by its bits.

// Amounts to shift by, which stay 32 bits wide.
alias Count = vec4<u32>;

// What shifts in the sign.
alias Signed_u32 = vec4<i32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

// The ranks of a search next to those of -inf and of inf.
const ARGMIN_OF_NAN_f32: u32 = 0xfffffdu;

const ARGMAX_OF_NAN_f32: u32 = 0xff000002u;

const QUIET_f32: u32 = 0x7fc00000u;

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

const EXPONENT_BITS_f32: u32 = 8u;

// -0 to -inf, which are the least integers of the same bits.
fn is_negative_f32(x: vec4<f32>) -> vec4<bool> {
    return bitcast<vec4<i32>>(x) <= vec4<i32>(-8388608);
}

// The leading 12 bits of the significand, so that products with 12 others are exact.
fn cut_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(x) & vec4<u32>(0xfffff000u));
}

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// The same by one of the fences of src/wgsl/fences.rs.
fn behind_f32(x: vec4<f32>, fence: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero << fence));
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

// a b + c where c is nearly -a b, as if the product were exact (Dekker, A floating-point technique for extending the
// available precision, 1971). Its last fence keeps `residue(y, x, -e) + y * low` from becoming `y * ((x + low) - high)`, which
// loses what is low: DXC writes that.
fn residue_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    let a_high = cut_f32(a);
    let a_low = a - a_high;
    let b_high = cut_f32(b);
    let b_low = b - b_high;
    let product = opaque_f32(a * b);
    let rest = opaque_f32(a_high * b_high - product) + a_high * b_low + a_low * b_high + a_low * b_low;
    return opaque_f32(opaque_f32(product + c) + rest);
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

fn nextafter_f16(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let next = decode_f16(next_u32(encode_f16(a), encode_f16(b), 0x8000u));
    return select(select(next, nan_f32(a), is_nan_f32(a)), nan_f32(b), is_nan_f32(b));
}

fn nextafter_bf16(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let next = decode_bf16(next_u32(encode_bf16(a), encode_bf16(b), 0x8000u));
    return select(select(next, nan_f32(a), is_nan_f32(a)), nan_f32(b), is_nan_f32(b));
}

// The nearest whole number, of two the even one.
fn whole_f32(x: vec4<f32>) -> vec4<f32> {
    return round(x);
}

// What lies above the whole number below.
fn fraction_f32(x: vec4<f32>) -> vec4<f32> {
    return fract(x);
}

// The next whole number below, and in the next functions above and towards 0.
fn down_f32(x: vec4<f32>) -> vec4<f32> {
    return floor(x);
}

fn up_f32(x: vec4<f32>) -> vec4<f32> {
    return ceil(x);
}

fn inward_f32(x: vec4<f32>) -> vec4<f32> {
    return trunc(x);
}
