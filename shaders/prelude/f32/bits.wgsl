// f32 by its bits.

// The type of shift amounts, which have 32 bits for u64 too.
alias Count = vec4<u32>;

// The signed type, whose right shift copies the sign.
alias Signed_u32 = vec4<i32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

// The ranks of a search beside the ranks of -inf and of inf.
const ARGMIN_OF_NAN_f32: u32 = 0xfffffdu;

const ARGMAX_OF_NAN_f32: u32 = 0xff000002u;

const QUIET_f32: u32 = 0x7fc00000u;

const ONE_f32: u32 = 0x3f800000u;

const FRACTION_f32: u32 = 0x007fffffu;

// The least normal float.
const LEAST_f32: u32 = 0x00800000u;

const FRACTION_BITS_f32: u32 = 23u;

// The bits of 2^-62. If operands are from 2^-62 to below 2^63, neither their quotient nor an intermediate value is
// subnormal or infinite.
const EASY_f32: u32 = 0x20800000u;

// The bits of 2^63 minus the bits of 2^-62.
const EASY_SPAN_f32: u32 = 0x3e800000u;

// If a divisor's fraction is at least this, a reciprocal that is one unit off can round a quotient the wrong way.
const LAST_FRACTION_f32: u32 = 0x007ffff0u;

// The number of values of a significand, which is the number of integers from it to the next power of two.
const UNIT_f32: f32 = 8388608.0;

const EXPONENT_BITS_f32: u32 = 8u;

// Whether floats are from -0 to -inf: as integers, these bits are the least.
fn is_negative_f32(x: vec4<f32>) -> vec4<bool> {
    return bitcast<vec4<i32>>(x) <= vec4<i32>(-8388608);
}

// The leading 12 bits of the significand, so that a product with a factor of 12 bits is exact.
fn cut_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bits_f32(x) & vec4<u32>(0xfffff000u));
}

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`. It stands where a sum reads a sum, because a rewrite
// would change the bits.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// The same for one lane.
fn opaque_lane_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ p.zero);
}

// A product of one lane.
fn times_lane_f32(a: f32, b: f32) -> f32 {
    return opaque_lane_f32(a * b);
}

// The same as opaque, by a fence of src/wgsl/fences.rs.
fn behind_f32(x: vec4<f32>, fence: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero << fence));
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

// a b + c for c near -a b, as if the product were exact (Dekker, A floating-point technique for extending the available
// precision, 1971). The last fence keeps `residue(y, x, -e) + y * low` from becoming `y * ((x + low) - high)`, which
// loses `low`. DXC rewrites it so.
fn residue_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    let a_high = cut_f32(a);
    let a_low = plus_f32(a, -a_high);
    let b_high = cut_f32(b);
    let b_low = plus_f32(b, -b_high);
    let product = times_f32(a, b);
    let rest = opaque_f32(mul_add_f32(a_low, b_low, opaque_f32(mul_add_f32(a_low, b_high, opaque_f32(mul_add_f32(a_high, b_low, opaque_f32(mul_add_f32(a_high, b_high, -product))))))));
    return opaque_f32(opaque_f32(plus_f32(product, c)) + rest);
}

// A positive number as 2^k (1 + f), with 1 + f in sqrt(1/2)..sqrt(2).
struct Split_f32 {
    f: vec4<f32>,
    k: vec4<f32>,
}

fn split_f32(x: vec4<f32>) -> Split_f32 {
    let magnitude = magnitude_bits_f32(x);
    let subnormal = magnitude < vec4<u32>(0x00800000u);
    // 2^149 x is an integer, so no adapter flushes it.
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

// The nearest whole number, the even one of two.
fn whole_f32(x: vec4<f32>) -> vec4<f32> {
    return round(x);
}

// The next whole number below. The next two functions round up and towards 0.
fn down_f32(x: vec4<f32>) -> vec4<f32> {
    return floor(x);
}

fn up_f32(x: vec4<f32>) -> vec4<f32> {
    return ceil(x);
}

fn inward_f32(x: vec4<f32>) -> vec4<f32> {
    return trunc(x);
}
