// Exponentials, logarithms and hyperbolics. Builtins are not used: on some drivers they miss NaN and infinities,
// and are 2^-11 of the value off. Constants and polynomials are in f32/ and f64/.

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

// The result of every logarithm for an x that is no positive finite number: minus infinity for 0, infinity for infinity, and
// NaN for the rest. They are made from the bits of x, because a compiler may take a constant for what no float is.
fn log_edges_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let regular = bits - vec4<u32>(1) < vec4<u32>(INFINITE_f32 - 1);
    let infinite = select(bits | vec4<u32>(QUIET_f32), bits, bits == vec4<u32>(INFINITE_f32));
    let edge = select(infinite, bits | vec4<u32>(INFINITE_f32 | SIGN_f32), magnitude_bits_f32(x) == vec4<u32>(0));
    return select(bitcast<vec4<f32>>(edge), value, regular);
}

// After FreeBSD e_log.c. Here and below, fences keep the two parts of k ln(2) apart: a compiler that factored k out would
// lose the low part.
fn log_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = times_f32(0.5 * split.f, split.f);
    let tail = log_tail_f32(split.f, half_square);
    let rest = opaque_f32(opaque_f32(plus_f32(-half_square, opaque_f32(mul_add_f32(split.k, vec4(LN2_LOW_f32), tail)))) + split.f);
    return log_edges_f32(mul_add_f32(split.k, vec4(LN2_HIGH_f32), rest), x);
}

// After FreeBSD e_log2.c: the logarithm in two parts, times 1 / ln(2) in two parts.
fn log2_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = times_f32(0.5 * split.f, split.f);
    let high = cut_f32(plus_f32(-half_square, split.f));
    let low = opaque_f32(plus_f32(log_tail_f32(split.f, half_square), opaque_f32(plus_f32(-half_square, opaque_f32(split.f - high)))));
    let rest = opaque_f32(mul_add_f32(low + high, vec4(LOG2_E_LOW_f32), times_f32(low, vec4(LOG2_E_HIGH_f32))));
    return log_edges_f32(opaque_f32(mul_add_f32(high, vec4(LOG2_E_HIGH_f32), rest)) + split.k, x);
}

// After FreeBSD e_log10.c.
fn log10_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = times_f32(0.5 * split.f, split.f);
    let high = cut_f32(plus_f32(-half_square, split.f));
    let low = opaque_f32(plus_f32(log_tail_f32(split.f, half_square), opaque_f32(plus_f32(-half_square, opaque_f32(split.f - high)))));
    let rest = opaque_f32(mul_add_f32(low + high, vec4(LOG10_E_LOW_f32), times_f32(low, vec4(LOG10_E_HIGH_f32))));
    let fraction = opaque_f32(mul_add_f32(high, vec4(LOG10_E_HIGH_f32), opaque_f32(mul_add_f32(split.k, vec4(LOG10_2_LOW_f32), rest))));
    return log_edges_f32(mul_add_f32(split.k, vec4(LOG10_2_HIGH_f32), fraction), x);
}

// The logarithm of u = 1 + x, corrected by the rounding error of the addition (FreeBSD s_log1p.c).
fn log1p_f32(x: vec4<f32>) -> vec4<f32> {
    let u = opaque_f32(1.0 + x);
    let large = u >= vec4<f32>(2.0);
    let lost = quotient_f32(select(x, vec4<f32>(1.0), large) - opaque_f32(u - select(vec4<f32>(1.0), x, large)), u);
    let near = (x > vec4<f32>(-0.29289323)) & (x < vec4<f32>(0.41421354));
    let split = split_f32(u);
    let f = select(split.f, x, near);
    let k = select(split.k, vec4<f32>(0.0), near);
    let c = select(lost, vec4<f32>(0.0), near | !(u < vec4<f32>(WHOLE_f32)));
    let half_square = times_f32(0.5 * f, f);
    let rest = opaque_f32(opaque_f32(plus_f32(-half_square, opaque_f32(plus_f32(log_tail_f32(f, half_square), opaque_f32(mul_add_f32(k, vec4(LN2_LOW_f32), c)))))) + f);
    let value = mul_add_f32(k, vec4(LN2_HIGH_f32), rest);
    return select(log_edges_f32(value, select(u, x, is_nan_f32(x))), x, abs(x) < vec4<f32>(ROUNDED_f32));
}

// By e^x / 2 above 1, which overflows no earlier than the result.
fn sinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let small = sinh_of_unit_f32(min(magnitude, vec4<f32>(1.0)));
    let half = exp_scaled_f32(magnitude, -1);
    let large = plus_f32(half, -quotient_f32(vec4(0.25), half));
    let value = copysign_f32(select(small, large, magnitude >= vec4<f32>(1.0)), x);
    return select(value, x, is_nan_f32(x) | (magnitude < vec4<f32>(LINEAR_f32)));
}

fn cosh_f32(x: vec4<f32>) -> vec4<f32> {
    let half = exp_scaled_f32(abs(x), -1);
    return select(plus_f32(half, quotient_f32(vec4(0.25), half)), x, is_nan_f32(x));
}

fn asinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(SQUARED_f32));
    let small = log1p_f32(opaque_f32(bounded + quotient_f32(times_f32(bounded, bounded), 1.0 + root_f32(mul_add_f32(bounded, bounded, vec4(1.0))))));
    let large = opaque_f32(log_f32(magnitude)) + LN2_f32;
    let value = copysign_f32(select(small, large, magnitude > vec4<f32>(SQUARED_f32)), x);
    return select(value, x, is_nan_f32(x) | (magnitude < vec4<f32>(LINEAR_f32)));
}

fn acosh_f32(x: vec4<f32>) -> vec4<f32> {
    let t = opaque_f32(clamp(x, vec4<f32>(1.0), vec4<f32>(SQUARED_f32)) - 1.0);
    let small = log1p_f32(opaque_f32(t + root_f32(mul_add_f32(t, t, 2.0 * t))));
    let large = opaque_f32(log_f32(x)) + LN2_f32;
    let value = select(small, large, x > vec4<f32>(SQUARED_f32));
    return select(value, nan_f32(x), (x < vec4<f32>(1.0)) | is_nan_f32(x));
}

fn atanh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(1.0));
    let twice = 2.0 * bounded;
    let inner = select(quotient_f32(twice, 1.0 - bounded), twice + quotient_f32(times_f32(twice, bounded), 1.0 - bounded), bounded < vec4<f32>(0.5));
    let finite = 0.5 * log1p_f32(opaque_f32(inner));
    let value = copysign_f32(select(finite, inf_f32(vec4<f32>(1.0)), bounded == vec4<f32>(1.0)), x);
    let small = magnitude < vec4<f32>(LINEAR_f32);
    return select(select(value, x, small), nan_f32(x), (magnitude > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return quotient_f32(vec4(1.0), plus_f32(exp_f32(-x), vec4(1.0)));
}

// x / (1 - x) near 1/2 is 1 + (2 x - 1) / (1 - x), where 2 x - 1 is exact.
fn logit_f32(x: vec4<f32>) -> vec4<f32> {
    let near = abs(x - 0.5) < vec4<f32>(0.25);
    let middle = log1p_f32(quotient_f32(2.0 * x - 1.0, 1.0 - x));
    return select(log_f32(quotient_f32(x, 1.0 - x)), middle, near);
}

fn xlogy_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let none = (magnitude_bits_f32(x) == vec4<u32>(0)) & !is_nan_f32(y);
    return select(times_kept_f32(x, log_f32(y)), vec4<f32>(0.0), none);
}

// The larger operand plus the logarithm that the smaller one adds, unless that is subnormal. The difference of two
// infinities is NaN.
fn logaddexp_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let apart = opaque_f32(select(-abs(x - y), vec4<f32>(0.0), eq_f32(x, y)));
    let sum = max_f32(x, y) + opaque_f32(log1p_f32(opaque_f32(select(exp_f32(apart), vec4<f32>(0.0), apart < vec4<f32>(SUBNORMAL_f32)))));
    return select(select(sum, x, is_nan_f32(x)), y, is_nan_f32(y));
}
