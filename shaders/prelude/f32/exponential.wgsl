// Constants and polynomials of f32 for exponentials and logarithms.

const LN2_f32: f32 = 0.69314718;

// ln(2) in two parts. The high part times a small integer is exact.
const LN2_HIGH_f32: f32 = 0.69313812256;

const LN2_LOW_f32: f32 = 9.0580006145e-6;

const LOG2_E_HIGH_f32: f32 = 1.4428710938;

const LOG2_E_LOW_f32: f32 = -1.7605285393e-4;

const LOG10_E_HIGH_f32: f32 = 0.43432617188;

const LOG10_E_LOW_f32: f32 = -3.1689971365e-5;

const LOG10_2_HIGH_f32: f32 = 0.30102920532;

const LOG10_2_LOW_f32: f32 = 7.9034151668e-7;

// 2^-25: below, 1 + x is 1, and f(x) = x + x^2 / 2 is x.
const ROUNDED_f32: f32 = 2.9802322e-8;

// 2^-13: below, f(x) = x + c x^3 is x.
const LINEAR_f32: f32 = 1.2207031e-4;

// 2^14: above, x^2 + 1 is x^2.
const SQUARED_f32: f32 = 16384.0;

// Below, e^x is subnormal, or may be.
const SUBNORMAL_f32: f32 = -87.0;

// Above, x + 1 is x to half an ulp.
const WHOLE_f32: f32 = 1.0e9;

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

// The same for x + more, where more is small.
fn exp_of_sum_f32(x: vec4<f32>, more: vec4<f32>, up: i32) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0));
    let k = round(times_f32(bounded + more, vec4(1.44269504)));
    let high = opaque_f32(mul_add_f32(k, vec4(-0.693145751953125), bounded));
    let r = high - opaque_f32(mul_add_f32(k, vec4(1.42860677e-6), -more));
    return scale_f32(exp_of_rest_f32(r), last_bits_f32(k) + up);
}

// 2^(x + more), where more is small; polynomial of Cephes (Moshier, exp2f.c).
fn exp2_of_sum_f32(x: vec4<f32>, more: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-152.0), vec4<f32>(130.0));
    let k = round(bounded);
    let r = opaque_f32(plus_f32(bounded, -k)) + more;
    var q = vec4<f32>(1.535336188319500e-4);
    q = mul_add_f32(q, r, vec4(1.339887440266574e-3));
    q = mul_add_f32(q, r, vec4(9.618437357674640e-3));
    q = mul_add_f32(q, r, vec4(5.550332471162809e-2));
    q = mul_add_f32(q, r, vec4(2.402264791363012e-1));
    q = mul_add_f32(q, r, vec4(6.931472028550421e-1));
    return scale_f32(mul_add_f32(q, r, vec4(1.0)), last_bits_f32(k));
}

fn exp2_f32(x: vec4<f32>) -> vec4<f32> {
    return select(exp2_of_sum_f32(x, vec4<f32>(0.0)), x, is_nan_f32(x));
}

// Polynomial of Cephes (Moshier, exp10f.c).
fn exp10_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-46.0), vec4<f32>(39.0));
    let k = round(times_f32(bounded, vec4(3.32192809)));
    let r = mul_add_f32(k, vec4(-2.48745663981195e-4), opaque_f32(mul_add_f32(k, vec4(-0.30078125), bounded)));
    var q = vec4<f32>(2.063216740311022e-1);
    q = mul_add_f32(q, r, vec4(5.420251702225484e-1));
    q = mul_add_f32(q, r, vec4(1.171292686296281));
    q = mul_add_f32(q, r, vec4(2.034649854009453));
    q = mul_add_f32(q, r, vec4(2.650948748208892));
    q = mul_add_f32(q, r, vec4(2.302585167056758));
    return select(scale_f32(mul_add_f32(q, r, vec4(1.0)), last_bits_f32(k)), x, is_nan_f32(x));
}

// e^x - 1 = 2^k (e^r - 1) + (2^k - 1), with 2^(k - 1) for 2^k and the sum doubled, because 2^128 is no f32. The polynomial
// is the nearest one, within 2^-28.
fn expm1_f32(x: vec4<f32>) -> vec4<f32> {
    let powers = powers_f32(clamp(x, vec4<f32>(-30.0), vec4<f32>(89.0)));
    let r = opaque_f32(powers.r);
    var q = vec4<f32>(1.3951707e-3);
    q = mul_add_f32(q, r, vec4(8.3696e-3));
    q = mul_add_f32(q, r, vec4(4.1666187e-2));
    q = mul_add_f32(q, r, vec4(1.6666512e-1));
    q = mul_add_f32(q, r, vec4(0.5));
    let half_power = bitcast<vec4<f32>>((last_bits_f32(powers.k) + vec4<i32>(126)) << vec4<u32>(23u));
    let rest = times_f32(half_power, mul_add_f32(times_f32(r, r), q, r));
    let value = 2.0 * plus_f32(rest, opaque_f32(half_power - 0.5));
    return select(value, x, is_nan_f32(x) | (abs(x) < vec4<f32>(ROUNDED_f32)));
}

// sinh of x in 0..=1. The polynomial is the nearest one, within 2^-25.
fn sinh_of_unit_f32(x: vec4<f32>) -> vec4<f32> {
    let z = times_f32(x, x);
    var q = vec4<f32>(2.0377e-4);
    q = mul_add_f32(q, z, vec4(8.33021e-3));
    q = mul_add_f32(q, z, vec4(1.6666718e-1));
    return mul_add_f32(x, times_f32(z, q), x);
}

// ln(1 + f) - f + f^2 / 2 = f^3 q(f). The polynomial is the nearest one, within 2^-30. It is computed in pairs, which do
// not wait for each other (Estrin's scheme).
fn log_tail_f32(f: vec4<f32>, half_square: vec4<f32>) -> vec4<f32> {
    let w = 2.0 * half_square;
    let a = opaque_f32(mul_add_f32(f, vec4(-2.500001e-1), vec4(3.3333313e-1)));
    let b = mul_add_f32(f, vec4(-1.6668e-1), vec4(2.0002118e-1));
    let c = opaque_f32(mul_add_f32(f, vec4(-1.24055386e-1), vec4(1.4219561e-1)));
    let d = mul_add_f32(f, vec4(-1.1675913e-1), vec4(1.188804e-1));
    let w2 = times_f32(w, w);
    let low = opaque_f32(mul_add_f32(w, b, a));
    let high = opaque_f32(mul_add_f32(w, d, c));
    let q = mul_add_f32(w2, mul_add_f32(w2, vec4(6.747242e-2), high), low);
    return times_f32(times_f32(f, w), q);
}

// Polynomial of Cephes (Moshier, tanhf.c) below 0.625, 1 - 2 / (e^2x + 1) above.
fn tanh_f32(x: vec4<f32>) -> vec4<f32> {
    let z = times_f32(x, x);
    var q = vec4<f32>(-5.70498872745e-3);
    q = mul_add_f32(q, z, vec4(2.06390887954e-2));
    q = mul_add_f32(q, z, vec4(-5.37397155531e-2));
    q = mul_add_f32(q, z, vec4(1.33314422036e-1));
    q = mul_add_f32(q, z, vec4(-3.33332819422e-1));
    let small = mul_add_f32(times_f32(q, z), x, x);
    let magnitude = abs(x);
    // From 10 on it is 1.
    let powers = powers_f32(2.0 * min(magnitude, vec4<f32>(10.0)));
    let rest = exp_of_rest_f32(powers.r);
    let power = bitcast<vec4<f32>>(bits_f32(rest) + (vec4<u32>(last_bits_f32(powers.k)) << vec4<u32>(23u)));
    let large = copysign_f32(1.0 - quotient_f32(vec4(2.0), power + 1.0), x);
    let itself = is_nan_f32(x) | (magnitude_bits_f32(x) == vec4<u32>(0u));
    return select(select(small, large, magnitude >= vec4<f32>(0.625)), x, itself);
}
