// Fast math: builtins, as accurate as the adapter's. NaN, infinities and the ends of the range are decided
// here, because builtins may get them wrong.

// `value` of x in low..=high, 0 below and infinite above.
fn within_f32(value: vec4<f32>, x: vec4<f32>, low: f32, high: f32) -> vec4<f32> {
    let bounded = select(value, vec4<f32>(0.0), x < vec4<f32>(low));
    return select(select(bounded, inf_f32(vec4<f32>(1.0)), x > vec4<f32>(high)), x, is_nan_f32(x));
}

fn fast_exp_f32(x: vec4<f32>) -> vec4<f32> {
    return within_f32(exp(clamp(x, vec4<f32>(-87.33654), vec4<f32>(88.72283))), x, -87.33654, 88.72283);
}

fn fast_exp2_f32(x: vec4<f32>) -> vec4<f32> {
    return within_f32(exp2(clamp(x, vec4<f32>(-126.0), vec4<f32>(127.99999))), x, -126.0, 127.99999);
}

fn fast_exp10_f32(x: vec4<f32>) -> vec4<f32> {
    return fast_exp2_f32(x * 3.32192809);
}

fn fast_log2_f32(x: vec4<f32>) -> vec4<f32> {
    return log_edges_f32(log2(x), x);
}

fn fast_log_f32(x: vec4<f32>) -> vec4<f32> {
    return log_edges_f32(log(x), x);
}

fn fast_log10_f32(x: vec4<f32>) -> vec4<f32> {
    return log_edges_f32(log2(x) * 0.30103, x);
}

fn fast_sin_f32(x: vec4<f32>) -> vec4<f32> {
    return select(sin(x), nan_f32(x), !is_finite_f32(x));
}

fn fast_cos_f32(x: vec4<f32>) -> vec4<f32> {
    return select(cos(x), nan_f32(x), !is_finite_f32(x));
}

fn fast_tan_f32(x: vec4<f32>) -> vec4<f32> {
    return select(sin(x) / cos(x), nan_f32(x), !is_finite_f32(x));
}

fn fast_tanh_f32(x: vec4<f32>) -> vec4<f32> {
    return select(tanh(clamp(x, vec4<f32>(-10.0), vec4<f32>(10.0))), x, is_nan_f32(x));
}

fn fast_sigmoid_f32(x: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + fast_exp_f32(-x));
}

fn fast_pow_f32(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    return pow_edges_f32(x, y, fast_exp2_f32(bounded_exponent_f32(y) * log2(abs(x))));
}
