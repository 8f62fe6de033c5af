// Polynomials of f32 for the gamma function. scripts/fit_gamma.py fits lgamma_tail_f32, and the series have
// Bernoulli's numbers.

// 1 - Euler's constant
const ONE_LESS_EULER_f32: f32 = 0.42278434;

// (lgamma(2 + t) / t - ONE_LESS_EULER) / t for |t| <= 1/2.
fn lgamma_tail_f32(t: vec4<f32>) -> vec4<f32> {
    // 8.8e-9 of the value at most.
    var q = vec4<f32>(0.000111983645);
    q = times_f32(q, t) - 0.000250562036;
    q = times_f32(q, t) + 0.00050726044;
    q = times_f32(q, t) - 0.00118748483;
    q = times_f32(q, t) + 0.00289067952;
    q = times_f32(q, t) - 0.00738592073;
    q = times_f32(q, t) + 0.0205808058;
    q = times_f32(q, t) - 0.0673522949;
    q = times_f32(q, t) + 0.322467029;
    return q;
}

// Stirling's series, of 1 / x^2 and times x.
fn stirling_tail_f32(z: vec4<f32>) -> vec4<f32> {
    return 8.3333333e-2 + times_f32(z, -2.7777778e-3 + times_f32(z, vec4(7.9365079e-4)));
}

const STIRLING_FROM_f32: i32 = 16;

const DIGAMMA_FROM_f32: i32 = 6;

fn digamma_tail_f32(z: vec4<f32>) -> vec4<f32> {
    return times_f32(z, 8.3333333e-2 - times_f32(z, 8.3333333e-3 - times_f32(z, vec4(3.9682540e-3))));
}
