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

// Beyond these e^x - 1 is -1 and infinite.
const EXPM1_LOW_f32: f32 = -30.0;

const EXPM1_HIGH_f32: f32 = 91.0;

// 2^-25: below, 1 + x is 1, and f(x) = x + x^2 / 2 is x.
const ROUNDED_f32: f32 = 2.9802322e-8;

// 2^-13: below, f(x) = x + c x^3 is x.
const LINEAR_f32: f32 = 1.2207031e-4;

// 2^14: above, x^2 + 1 is x^2.
const SQUARED_f32: f32 = 16384.0;

// Above, x + 1 is x to half an ulp.
const WHOLE_f32: f32 = 1.0e9;

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

// 2^(x + more), where more is small; polynomial of Cephes (Moshier, exp2f.c).
fn exp2_of_sum_f32(x: vec4<f32>, more: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-152.0), vec4<f32>(130.0));
    let k = round(bounded);
    let r = opaque_f32(bounded - k) + more;
    var q = vec4<f32>(1.535336188319500e-4);
    q = q * r + 1.339887440266574e-3;
    q = q * r + 9.618437357674640e-3;
    q = q * r + 5.550332471162809e-2;
    q = q * r + 2.402264791363012e-1;
    q = q * r + 6.931472028550421e-1;
    return scale_f32(1.0 + q * r, last_bits_f32(k));
}

fn exp2_f32(x: vec4<f32>) -> vec4<f32> {
    return select(exp2_of_sum_f32(x, vec4<f32>(0.0)), x, is_nan_f32(x));
}

// Polynomial of Cephes (Moshier, exp10f.c).
fn exp10_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(-46.0), vec4<f32>(39.0));
    let k = round(bounded * 3.32192809);
    let r = opaque_f32(bounded - k * 0.30078125) - k * 2.48745663981195e-4;
    var q = vec4<f32>(2.063216740311022e-1);
    q = q * r + 5.420251702225484e-1;
    q = q * r + 1.171292686296281;
    q = q * r + 2.034649854009453;
    q = q * r + 2.650948748208892;
    q = q * r + 2.302585167056758;
    return select(scale_f32(1.0 + q * r, last_bits_f32(k)), x, is_nan_f32(x));
}

// (FreeBSD s_expm1f.c, Sun Microsystems, 1993).
fn expm1_ratio_f32(square: vec4<f32>) -> vec4<f32> {
    return 1.0 + square * (-3.3333212137e-2 + square * 1.5807170421e-3);
}

// ln(1 + f) - f + f^2 / 2; polynomial of FreeBSD k_logf.h (Sun Microsystems, 1993).
fn log_tail_f32(f: vec4<f32>, half_square: vec4<f32>) -> vec4<f32> {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.40000972152 + w * 0.24279078841);
    let odd = z * (0.66666662693 + w * 0.28498786688);
    return s * (half_square + even + odd);
}

// Polynomial of Cephes (Moshier, tanhf.c) below 0.625, 1 - 2 / (e^2x + 1) above.
fn tanh_f32(x: vec4<f32>) -> vec4<f32> {
    let z = x * x;
    var q = vec4<f32>(-5.70498872745e-3);
    q = q * z + 2.06390887954e-2;
    q = q * z - 5.37397155531e-2;
    q = q * z + 1.33314422036e-1;
    q = q * z - 3.33332819422e-1;
    let small = q * z * x + x;
    let magnitude = abs(x);
    let large = copysign_f32(1.0 - 2.0 / (exp_f32(magnitude + magnitude) + 1.0), x);
    let itself = is_nan_f32(x) | (magnitude_bits_f32(x) == vec4<u32>(0u));
    return select(select(small, large, magnitude >= vec4<f32>(0.625)), x, itself);
}
