// Total mode: operands are flushed, and results have one NaN.

// A subnormal becomes a zero of its sign.
fn flushed_f32(x: vec4<f32>) -> vec4<f32> {
    return flushed_from_f32(x, LEAST_f32);
}

// The same for numbers of a type whose least normal one has the bits `least`.
fn flushed_from_f32(x: vec4<f32>, least: u32) -> vec4<f32> {
    let kept = select(vec4<u32>(SIGN_f32), vec4<u32>(SIGN_f32 | MAGNITUDE_f32), magnitude_bits_f32(x) >= vec4<u32>(least));
    return bitcast<vec4<f32>>(bits_f32(x) & kept);
}

// Any NaN becomes the positive quiet one, too.
fn total_f32(x: vec4<f32>) -> vec4<f32> {
    return total_from_f32(x, LEAST_f32);
}

fn total_from_f32(x: vec4<f32>, least: u32) -> vec4<f32> {
    let number = bits_f32(flushed_from_f32(x, least));
    return bitcast<vec4<f32>>(select(number, vec4<u32>(QUIET_f32), magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32)));
}

// A term of a sum, whose zeros have no sign that shows.
fn flushed_term_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(0), bits_f32(x), magnitude_bits_f32(x) >= vec4<u32>(LEAST_f32)));
}

fn flushed_sum_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return flushed_term_f32(opaque_f32(a + b));
}

fn flushed_product_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return flushed_f32(opaque_f32(times_kept_f32(a, b)));
}
