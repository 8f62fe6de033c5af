// Constants and polynomials of f64 for exponentials and logarithms (FreeBSD msun, Sun Microsystems,
// 1993, which bounds the errors by 1 ulp).

const LN2_f64: f64 = 0.69314718055994530942lf;

const LN2_HIGH_f64: f64 = 6.93147180369123816490e-01lf;

const LN2_LOW_f64: f64 = 1.90821492927058770002e-10lf;

const LOG2_E_HIGH_f64: f64 = 1.44269504072144627571lf;

const LOG2_E_LOW_f64: f64 = 1.67517131648865118353e-10lf;

const LOG10_E_HIGH_f64: f64 = 4.34294481878168880939e-01lf;

const LOG10_E_LOW_f64: f64 = 2.50829467116452752298e-11lf;

const LOG10_2_HIGH_f64: f64 = 3.01029995663611771306e-01lf;

const LOG10_2_LOW_f64: f64 = 3.69423907715893078616e-13lf;

// 2^-54
const ROUNDED_f64: f64 = 5.551115123125783e-17lf;

// 2^-28
const LINEAR_f64: f64 = 3.725290298461914e-9lf;

// 2^28
const SQUARED_f64: f64 = 268435456.0lf;

const SUBNORMAL_f64: f64 = -708.0lf;

const WHOLE_f64: f64 = 1.0e18lf;

// e^(high - low), where |high - low| <= ln(2) / 2 (e_exp.c).
fn exp_of_parts_f64(high: vec4<f64>, low: vec4<f64>) -> vec4<f64> {
    let r = opaque_f64(high - low);
    let s = times_f64(r, r);
    var q = vec4<f64>(4.13813679705723846039e-08lf);
    q = mul_add_f64(q, s, vec4(-1.65339022054652515390e-06lf));
    q = mul_add_f64(q, s, vec4(6.61375632143793436117e-05lf));
    q = mul_add_f64(q, s, vec4(-2.77777777770155933842e-03lf));
    q = mul_add_f64(q, s, vec4(1.66666666666666019037e-01lf));
    let c = opaque_f64(mul_add_f64(-s, q, r));
    return opaque_f64(1.0 + opaque_f64(opaque_f64(quotient_f64(times_f64(r, c), 2.0 - c) - low) + high));
}

fn exp_of_sum_f64(x: vec4<f64>, more: vec4<f64>, up: i32) -> vec4<f64> {
    let bounded = clamp(x, vec4<f64>(-760.0), vec4<f64>(712.0));
    let k = whole_f64(times_f64(bounded + more, vec4(1.44269504088896338700lf)));
    let power = exp_of_parts_f64(opaque_f64(mul_add_f64(k, vec4(-LN2_HIGH_f64), bounded)), opaque_f64(mul_add_f64(k, vec4(LN2_LOW_f64), -more)));
    return scale_f64(power, vec4<i32>(k) + up);
}

fn exp_scaled_f64(x: vec4<f64>, up: i32) -> vec4<f64> {
    return select(exp_of_sum_f64(x, vec4<f64>(0.0), up), x, is_nan_f64(x));
}

// e^(r c) with c in two parts. The first has 21 bits, so its product with a cut r is exact.
fn exp_of_product_f64(r: vec4<f64>, first: f64, rest: f64) -> vec4<f64> {
    let cut = cut_f64(r);
    let high = times_f64(cut, vec4(first));
    return exp_of_parts_f64(high, -opaque_f64(mul_add_f64(r, vec4(rest), times_f64(r - cut, vec4(first)))));
}

fn exp2_f64(x: vec4<f64>) -> vec4<f64> {
    let bounded = clamp(x, vec4<f64>(-1100.0), vec4<f64>(1030.0));
    let k = whole_f64(bounded);
    let power = exp_of_product_f64(opaque_f64(bounded - k), 0.6931471824645996lf, -1.904654299957768e-09lf);
    return select(scale_f64(power, vec4<i32>(k)), x, is_nan_f64(x));
}

fn exp10_f64(x: vec4<f64>) -> vec4<f64> {
    let bounded = clamp(x, vec4<f64>(-330.0), vec4<f64>(310.0));
    let k = whole_f64(times_f64(bounded, vec4(3.32192809488736234787lf)));
    let high = opaque_f64(mul_add_f64(k, vec4(-LOG10_2_HIGH_f64), bounded));
    let r = opaque_f64(mul_add_f64(k, vec4(-LOG10_2_LOW_f64), high));
    let power = exp_of_product_f64(r, 2.3025856018066406lf, -5.08812594940982e-07lf);
    return select(scale_f64(power, vec4<i32>(k)), x, is_nan_f64(x));
}

// (s_expm1.c)
fn expm1_ratio_f64(square: vec4<f64>) -> vec4<f64> {
    var q = vec4<f64>(-2.01099218183624371326e-07lf);
    q = mul_add_f64(q, square, vec4(4.00821782732936239552e-06lf));
    q = mul_add_f64(q, square, vec4(-7.93650757887507942473e-05lf));
    q = mul_add_f64(q, square, vec4(1.58730158725481460165e-03lf));
    q = mul_add_f64(q, square, vec4(-3.33333333333331316428e-02lf));
    return opaque_f64(mul_add_f64(square, q, vec4(1.0)));
}

// (k_log.h)
fn log_tail_f64(f: vec4<f64>, half_square: vec4<f64>) -> vec4<f64> {
    let s = quotient_f64(f, 2.0 + f);
    let z = times_f64(s, s);
    let w = times_f64(z, z);
    let even = times_f64(w, mul_add_f64(w, mul_add_f64(w, vec4(1.531383769920937332e-01lf), vec4(2.222219843214978396e-01lf)), vec4(3.999999999940941908e-01lf)));
    let odd = times_f64(z, mul_add_f64(w, mul_add_f64(w, mul_add_f64(w, vec4(1.479819860511658591e-01lf), vec4(1.818357216161805012e-01lf)), vec4(2.857142874366239149e-01lf)), vec4(6.666666666666735130e-01lf)));
    return times_f64(s, opaque_f64(half_square + even) + odd);
}

// (s_expm1.c)
fn expm1_f64(x: vec4<f64>) -> vec4<f64> {
    let bounded = clamp(x, vec4<f64>(-60.0), vec4<f64>(711.0));
    let small = abs(bounded) < vec4<f64>(0.34657359);
    let k = select(whole_f64(times_f64(bounded, vec4(1.4426950408889634))), vec4<f64>(0.0), small);
    let high = opaque_f64(mul_add_f64(k, vec4(-LN2_HIGH_f64), bounded));
    let low = times_f64(k, vec4(LN2_LOW_f64));
    let r = opaque_f64(high - low);
    let lost = opaque_f64(opaque_f64(high - r) - low);
    let half = 0.5 * r;
    let square = times_f64(r, half);
    let r1 = expm1_ratio_f64(square);
    let t = opaque_f64(mul_add_f64(-r1, half, vec4(3.0)));
    let e = times_f64(square, quotient_f64(r1 - t, mul_add_f64(-r, t, vec4(6.0))));
    // If k is 0, nothing is lost and this is the result.
    let near = opaque_f64(r - opaque_f64(opaque_f64(mul_add_f64(r, e - lost, -lost)) - square));
    let whole = vec4<i32>(k);
    let most = i32(FRACTION_BITS_f64);
    let middle = (whole >= vec4<i32>(-2)) & (whole <= vec4<i32>(most));
    let inverse = scale_f64(vec4<f64>(1.0), -clamp(whole, vec4<i32>(-2), vec4<i32>(most)));
    let by_parts = scale_f64(near + opaque_f64(1.0 - inverse), whole);
    let outer = opaque_f64(scale_f64(opaque_f64(near + 1.0), whole) - 1.0);
    let far = select(outer, by_parts, middle);
    return select(select(far, near, small), x, is_nan_f64(x) | (abs(x) < vec4<f64>(ROUNDED_f64)));
}

fn sinh_of_unit_f64(x: vec4<f64>) -> vec4<f64> {
    let t = expm1_f64(x);
    return 0.5 * (t + quotient_f64(t, t + 1.0));
}

// (s_tanh.c)
fn tanh_f64(x: vec4<f64>) -> vec4<f64> {
    let magnitude = min(abs(x), vec4<f64>(22.0));
    let tiny = magnitude < vec4<f64>(0.2554128118829953lf);
    let twice = 2.0 * magnitude;
    let t = expm1_f64(select(twice, -twice, tiny));
    let small = quotient_f64(select(t, -t, tiny), t + 2.0);
    let large = 1.0 - quotient_f64(vec4(2.0), t + 2.0);
    let value = copysign_f64(select(small, large, magnitude > vec4<f64>(0.5493061443340548lf)), x);
    return select(value, x, is_nan_f64(x) | (magnitude < vec4<f64>(LINEAR_f64)));
}
