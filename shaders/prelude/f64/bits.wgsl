// f64 by its bits, and between f64 and other types.

// The signed type, whose right shift copies the sign.
alias Signed_u64 = vec4<i64>;

const MAGNITUDE_f64: u64 = 0x7ffffffffffffffflu;

const SIGN_f64: u64 = 0x8000000000000000lu;

const INFINITE_f64: u64 = 0x7ff0000000000000lu;

// The ranks of a search beside the ranks of -inf and of inf.
const ARGMIN_OF_NAN_f64: u64 = 0x1ffffffffffffdlu;

const ARGMAX_OF_NAN_f64: u64 = 0xffe0000000000002lu;

const QUIET_f64: u64 = 0x7ff8000000000000lu;

const ONE_f64: u64 = 0x3ff0000000000000lu;

const FRACTION_f64: u64 = 0x000ffffffffffffflu;

const LEAST_f64: u64 = 0x0010000000000000lu;

const FRACTION_BITS_f64: u32 = 52u;

const UNIT_f64: f64 = 4503599627370496.0lf;

const EXPONENT_BITS_f64: u32 = 11u;

fn of_words_f64(low: vec4<u32>, high: vec4<u32>) -> vec4<f64> {
    return bitcast<vec4<f64>>(of_words_u64(low, high));
}

fn neg_f64(x: vec4<f64>) -> vec4<f64> {
    return -x;
}

fn abs_f64(x: vec4<f64>) -> vec4<f64> {
    return abs(x);
}

fn cast_bool_f64(x: vec4<bool>) -> vec4<f64> {
    return select(vec4<f64>(0.0), vec4<f64>(1.0), x);
}

fn is_negative_f64(x: vec4<f64>) -> vec4<bool> {
    return bitcast<vec4<i64>>(x) <= vec4<i64>(-4503599627370496li);
}

// The leading 21 bits of the significand, so that a product with a factor of 32 bits is exact.
fn cut_f64(x: vec4<f64>) -> vec4<f64> {
    return bitcast<vec4<f64>>(bits_f64(x) & vec4<u64>(0xffffffff00000000lu));
}

fn opaque_f64(x: vec4<f64>) -> vec4<f64> {
    return bitcast<vec4<f64>>(bitcast<vec4<u64>>(x) ^ vec4<u64>(u64(p.zero)));
}

// x 2^k for k in -2044..=2046.
fn scale_f64(x: vec4<f64>, k: vec4<i32>) -> vec4<f64> {
    let half = k >> vec4<u32>(1u);
    let rest = k - half;
    let first = bitcast<vec4<f64>>(vec4<u64>(vec4<u32>(half + vec4<i32>(1023))) << vec4<u32>(52u));
    let second = bitcast<vec4<f64>>(vec4<u64>(vec4<u32>(rest + vec4<i32>(1023))) << vec4<u32>(52u));
    return times_f64(times_f64(x, first), second);
}

struct Split_f64 {
    f: vec4<f64>,
    k: vec4<f64>,
}

fn split_f64(x: vec4<f64>) -> Split_f64 {
    let magnitude = magnitude_bits_f64(x);
    let subnormal = magnitude < vec4<u64>(LEAST_f64);
    // 2^1074 x is an integer.
    let normal = select(x, cast_u64_f64(magnitude), subnormal);
    let bits = bits_f64(normal) + vec4<u64>(0x3ff0000000000000lu - 0x3fe6a09e667f3bcdlu);
    let k = vec4<i32>(vec4<u32>(bits >> vec4<u32>(52u))) - select(vec4<i32>(1023), vec4<i32>(2097), subnormal);
    let f = opaque_f64(bitcast<vec4<f64>>((bits & vec4<u64>(FRACTION_f64)) + vec4<u64>(0x3fe6a09e667f3bcdlu)) - 1.0);
    return Split_f64(f, vec4<f64>(k));
}

// To the nearest f32, halves to even, or rounded to odd, by the bits: SPIR-V leaves the rounding of
// conversions open.
fn narrowed_f64(x: vec4<f64>, odd: bool) -> vec4<f32> {
    let magnitude = magnitude_bits_f64(x);
    let exponent = vec4<i32>(vec4<u32>(magnitude >> vec4<u32>(52u))) - vec4<i32>(896);
    let significand = (magnitude & vec4<u64>(FRACTION_f64)) | vec4<u64>(LEAST_f64);
    // A subnormal f32 has fewer digits.
    let lost_bits = vec4<u32>(clamp(vec4<i32>(30) - exponent, vec4<i32>(29), vec4<i32>(60)));
    let kept = significand >> lost_bits;
    let lost = significand - (kept << lost_bits);
    let half = vec4<u64>(1lu) << (lost_bits - vec4<u32>(1u));
    let up = (lost > half) | ((lost == half) & ((kept & vec4<u64>(1lu)) != vec4<u64>(0lu)));
    let nearest = vec4<u32>(kept) + select(vec4<u32>(0u), vec4<u32>(1u), up);
    let sticky = vec4<u32>(kept) | select(vec4<u32>(0u), vec4<u32>(1u), lost != vec4<u64>(0lu));
    let rounded = select(nearest, sticky, vec4<bool>(odd));
    let normal = rounded + (vec4<u32>(max(exponent, vec4<i32>(1)) - vec4<i32>(1)) << vec4<u32>(23u));
    let beyond = select(vec4<u32>(0x7f800000u), vec4<u32>(0x7f7fffffu), vec4<bool>(odd));
    let finite = select(normal, beyond, exponent >= vec4<i32>(255));
    let infinite = select(finite, vec4<u32>(0x7f800000u), magnitude == vec4<u64>(INFINITE_f64));
    let bits = select(infinite, vec4<u32>(0x7fc00000u), is_nan_f64(x));
    return bitcast<vec4<f32>>(bits | (vec4<u32>(bits_f64(x) >> vec4<u32>(32u)) & vec4<u32>(0x80000000u)));
}

fn cast_f64_f32(x: vec4<f64>) -> vec4<f32> {
    return narrowed_f64(x, false);
}

fn odd_f64_f32(x: vec4<f64>) -> vec4<f32> {
    return narrowed_f64(x, true);
}

fn cast_f32_f64(x: vec4<f32>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn cast_i32_f64(x: vec4<i32>) -> vec4<f64> {
    return vec4<f64>(x);
}

fn cast_u32_f64(x: vec4<u32>) -> vec4<f64> {
    return vec4<f64>(x);
}

// Both halves are exact, so the sum alone rounds.
fn cast_u64_f64(x: vec4<u64>) -> vec4<f64> {
    return vec4<f64>(high_u64(x)) * 4294967296.0 + vec4<f64>(low_u64(x));
}

fn cast_f64_u64(x: vec4<f64>) -> vec4<u64> {
    let bits = bits_f64(x);
    let exponent = vec4<u32>(bits >> vec4<u32>(52u)) & vec4<u32>(2047u);
    let significand = (bits & vec4<u64>(FRACTION_f64)) | vec4<u64>(LEAST_f64);
    let left = significand << ((max(exponent, vec4<u32>(1075u)) - vec4<u32>(1075u)) & vec4<u32>(63u));
    let right = significand >> min(vec4<u32>(1075u) - min(exponent, vec4<u32>(1075u)), vec4<u32>(63u));
    let inside = select(right, left, exponent > vec4<u32>(1075u));
    let high = select(inside, vec4<u64>(0xfffffffffffffffflu), exponent >= vec4<u32>(1087u));
    let none = is_nan_f64(x) | signbit_f64(x) | (exponent < vec4<u32>(1023u));
    return select(high, vec4<u64>(0lu), none);
}

// The nearest whole number, by a sum with 2^52, whose steps are 1. The builtins of llvmpipe round 1.5 to 1, and leave
// fractions above 2^24 if vectors are shorter than 512 bits. From 2^52 on, floats have no fractions.
fn whole_f64(x: vec4<f64>) -> vec4<f64> {
    let magnitude = abs(x);
    let near = opaque_f64(magnitude + UNIT_f64) - UNIT_f64;
    return select(copysign_f64(near, x), x, !(magnitude < vec4<f64>(UNIT_f64)));
}

fn down_f64(x: vec4<f64>) -> vec4<f64> {
    let near = whole_f64(x);
    return near - select(vec4<f64>(0.0), vec4<f64>(1.0), near > x);
}

fn up_f64(x: vec4<f64>) -> vec4<f64> {
    let near = whole_f64(x);
    return near + select(vec4<f64>(0.0), vec4<f64>(1.0), near < x);
}

fn inward_f64(x: vec4<f64>) -> vec4<f64> {
    return copysign_f64(down_f64(abs(x)), x);
}

// No adapter that flushes f64 is known.
fn times_kept_f64(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
    return times_f64(a, b);
}
