// Polynomials of f32 for the gamma function. scripts/fit_gamma.py fits lgamma_tail_f32, and the series have
// Bernoulli's numbers.

// 1 - Euler's constant
const ONE_LESS_EULER_f32: f32 = 0.42278434;

// (lgamma(2 + t) / t - ONE_LESS_EULER) / t for |t| <= 1/2.
fn lgamma_tail_f32(t: vec4<f32>) -> vec4<f32> {
    // 8.8e-9 of the value at most.
    var q = vec4<f32>(0.000111983645);
    q = mul_add_f32(q, t, vec4(-0.000250562036));
    q = mul_add_f32(q, t, vec4(0.00050726044));
    q = mul_add_f32(q, t, vec4(-0.00118748483));
    q = mul_add_f32(q, t, vec4(0.00289067952));
    q = mul_add_f32(q, t, vec4(-0.00738592073));
    q = mul_add_f32(q, t, vec4(0.0205808058));
    q = mul_add_f32(q, t, vec4(-0.0673522949));
    q = mul_add_f32(q, t, vec4(0.322467029));
    return q;
}

// Stirling's series, of 1 / x^2 and times x.
fn stirling_tail_f32(z: vec4<f32>) -> vec4<f32> {
    return mul_add_f32(z, mul_add_f32(z, vec4(7.9365079e-4), vec4(-2.7777778e-3)), vec4(8.3333333e-2));
}

const STIRLING_FROM_f32: i32 = 16;

const DIGAMMA_FROM_f32: i32 = 6;

fn digamma_tail_f32(z: vec4<f32>) -> vec4<f32> {
    return times_f32(z, mul_add_f32(-z, mul_add_f32(z, vec4(-3.9682540e-3), vec4(8.3333333e-3)), vec4(8.3333333e-2)));
}
