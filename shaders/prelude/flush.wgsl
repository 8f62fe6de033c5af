// For adapters that flush subnormal results: some flush what still rounds up to the least normal
// float, 2^-126. The same operation 100 powers of two higher tells.

fn keep_least_f32(value: vec4<f32>, scaled: vec4<f32>) -> vec4<f32> {
    // 2^-26 (1 - 2^-24): from here on the result rounds to 2^-126.
    let rounds_up = (abs(scaled) >= vec4<f32>(1.4901160e-8)) & (abs(scaled) <= vec4<f32>(1.4901161e-8));
    let lost = rounds_up & (magnitude_bits_f32(value) == vec4<u32>(0u));
    return select(value, copysign_f32(bitcast<vec4<f32>>(magnitude_bits_f32(value) | vec4<u32>(0x00800000u)), scaled), lost);
}

fn mul_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let low = select(a, b, abs(b) < abs(a));
    let high = select(b, a, abs(b) < abs(a));
    return keep_least_f32(a * b, (low * 1.2676506002282294e30) * high);
}

fn div_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_least_f32(a / b, (a * 1.2676506002282294e30) / b);
}
