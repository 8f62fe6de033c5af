// Exponentials, logarithms and hyperbolics. Builtins are not used: on some drivers they miss NaN and infinities,
// and are 2^-11 of the value off. Constants and polynomials are in f32/ and f64/.

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

// FreeBSD s_expm1.c (Sun Microsystems, 1993), which bounds its error by 1 ulp.
fn expm1_f32(x: vec4<f32>) -> vec4<f32> {
    let bounded = clamp(x, vec4<f32>(EXPM1_LOW_f32), vec4<f32>(EXPM1_HIGH_f32));
    let small = abs(bounded) < vec4<f32>(0.34657359);
    let k = select(whole_f32(bounded * 1.4426950408889634), vec4<f32>(0.0), small);
    let high = opaque_f32(bounded - k * LN2_HIGH_f32);
    let low = k * LN2_LOW_f32;
    let r = opaque_f32(high - low);
    let lost = opaque_f32(high - r) - low;
    let half = 0.5 * r;
    let square = r * half;
    let r1 = expm1_ratio_f32(square);
    let t = 3.0 - r1 * half;
    let e = square * ((r1 - t) / (6.0 - r * t));
    // If k is 0, nothing is lost and this is the result.
    let near = opaque_f32(r - opaque_f32((r * (e - lost) - lost) - square));
    let whole = vec4<i32>(k);
    let most = i32(FRACTION_BITS_f32);
    let middle = (whole >= vec4<i32>(-2)) & (whole <= vec4<i32>(most));
    let inverse = scale_f32(vec4<f32>(1.0), -clamp(whole, vec4<i32>(-2), vec4<i32>(most)));
    let by_parts = scale_f32(near + opaque_f32(1.0 - inverse), whole);
    let outer = scale_f32(near + 1.0, whole) - 1.0;
    let far = select(outer, by_parts, middle);
    return select(select(far, near, small), x, is_nan_f32(x) | (abs(x) < vec4<f32>(ROUNDED_f32)));
}

// The result of every logarithm for an x that is no positive finite number.
fn log_edges_f32(value: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    let finite = select(value, inf_f32(vec4<f32>(-1.0)), magnitude_bits_f32(x) == vec4<u32>(0));
    let infinite = bits_f32(x) == vec4<u32>(INFINITE_f32);
    let negative = (bits_f32(x) > vec4<u32>(SIGN_f32)) & !is_nan_f32(x);
    return select(select(finite, x, infinite | is_nan_f32(x)), nan_f32(x), negative);
}

// After FreeBSD e_log.c, which bounds its error by 1 ulp. Here and below, opaque values keep the two parts of
// k ln(2) apart. A compiler that factored k out would lose the low part.
fn log_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let tail = log_tail_f32(split.f, half_square);
    let rest = opaque_f32(tail + split.k * LN2_LOW_f32 - half_square + split.f);
    return log_edges_f32(rest + split.k * LN2_HIGH_f32, x);
}

// After FreeBSD e_log2.c: the logarithm in two parts, times 1 / ln(2) in two parts.
fn log2_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let high = cut_f32(split.f - half_square);
    let low = opaque_f32(split.f - high) - half_square + log_tail_f32(split.f, half_square);
    let rest = opaque_f32((low + high) * LOG2_E_LOW_f32 + low * LOG2_E_HIGH_f32);
    return log_edges_f32(rest + high * LOG2_E_HIGH_f32 + split.k, x);
}

// After FreeBSD e_log10.c.
fn log10_f32(x: vec4<f32>) -> vec4<f32> {
    let split = split_f32(x);
    let half_square = 0.5 * split.f * split.f;
    let high = cut_f32(split.f - half_square);
    let low = opaque_f32(split.f - high) - half_square + log_tail_f32(split.f, half_square);
    let rest = opaque_f32((low + high) * LOG10_E_LOW_f32 + low * LOG10_E_HIGH_f32);
    let fraction = opaque_f32(split.k * LOG10_2_LOW_f32 + rest + high * LOG10_E_HIGH_f32);
    return log_edges_f32(fraction + split.k * LOG10_2_HIGH_f32, x);
}

// The logarithm of u = 1 + x, corrected by the rounding error of the addition (FreeBSD s_log1p.c).
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

// By expm1 below 1, and by e^x / 2 above, which overflows no earlier than the result.
fn sinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let t = expm1_f32(min(magnitude, vec4<f32>(1.0)));
    let small = 0.5 * (t + t / (t + 1.0));
    let half = exp_scaled_f32(magnitude, -1);
    let large = half - 0.25 / half;
    let value = copysign_f32(select(small, large, magnitude >= vec4<f32>(1.0)), x);
    return select(value, x, is_nan_f32(x) | (magnitude < vec4<f32>(LINEAR_f32)));
}

fn cosh_f32(x: vec4<f32>) -> vec4<f32> {
    let half = exp_scaled_f32(abs(x), -1);
    return select(half + 0.25 / half, x, is_nan_f32(x));
}

fn asinh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(SQUARED_f32));
    let small = log1p_f32(bounded + bounded * bounded / (1.0 + sqrt(1.0 + bounded * bounded)));
    let large = log_f32(magnitude) + LN2_f32;
    let value = copysign_f32(select(small, large, magnitude > vec4<f32>(SQUARED_f32)), x);
    return select(value, x, is_nan_f32(x) | (magnitude < vec4<f32>(LINEAR_f32)));
}

fn acosh_f32(x: vec4<f32>) -> vec4<f32> {
    let t = clamp(x, vec4<f32>(1.0), vec4<f32>(SQUARED_f32)) - 1.0;
    let small = log1p_f32(t + sqrt(2.0 * t + t * t));
    let large = log_f32(x) + LN2_f32;
    let value = select(small, large, x > vec4<f32>(SQUARED_f32));
    return select(value, nan_f32(x), (x < vec4<f32>(1.0)) | is_nan_f32(x));
}

fn atanh_f32(x: vec4<f32>) -> vec4<f32> {
    let magnitude = abs(x);
    let bounded = min(magnitude, vec4<f32>(1.0));
    let twice = bounded + bounded;
    let inner = select(twice / (1.0 - bounded), twice + twice * bounded / (1.0 - bounded), bounded < vec4<f32>(0.5));
    let finite = 0.5 * log1p_f32(inner);
    let value = copysign_f32(select(finite, inf_f32(vec4<f32>(1.0)), bounded == vec4<f32>(1.0)), x);
    let small = magnitude < vec4<f32>(LINEAR_f32);
    return select(select(value, x, small), nan_f32(x), (magnitude > vec4<f32>(1.0)) | is_nan_f32(x));
}

fn sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp_f32(-x));
}

// x / (1 - x) near 1/2 is 1 + (2 x - 1) / (1 - x), where 2 x - 1 is exact.
fn logit_f32(x: vec4<f32>) -> vec4<f32> {
    let near = abs(x - 0.5) < vec4<f32>(0.25);
    let middle = log1p_f32((2.0 * x - 1.0) / (1.0 - x));
    return select(log_f32(quotient_f32(x, 1.0 - x)), middle, near);
}

fn xlogy_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let none = (magnitude_bits_f32(x) == vec4<u32>(0)) & !is_nan_f32(y);
    return select(x * log_f32(y), vec4<f32>(0.0), none);
}

// The larger operand plus the logarithm that the smaller one adds. The difference of two infinities is NaN.
fn logaddexp_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let apart = select(-abs(x - y), vec4<f32>(0.0), eq_f32(x, y));
    let sum = max_f32(x, y) + log1p_f32(exp_f32(apart));
    return select(select(sum, x, is_nan_f32(x)), y, is_nan_f32(y));
}
