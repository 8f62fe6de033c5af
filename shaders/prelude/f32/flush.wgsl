// For adapters that flush subnormal results: some flush what still rounds up to the least normal
// float, 2^-126. The same operation 100 powers of two higher tells.

// 2^-26 (1 - 2^-24): from here on a result 2^100 times as large rounds to 2^-126.
const LEAST_F32: f32 = 1.4901160e-8;

// The same for 8 bits: 2^-26 (1 - 2^-8).
const LEAST_BF16: f32 = 1.4842953532934189e-08;

fn keep_least_f32(value: vec4<f32>, scaled: vec4<f32>, from_here: f32) -> vec4<f32> {
    let rounds_up = (abs(scaled) >= vec4<f32>(from_here)) & (abs(scaled) <= vec4<f32>(1.4901161e-8));
    let lost = rounds_up & (magnitude_bits_f32(value) == vec4<u32>(0u));
    return select(value, copysign_f32(bitcast<vec4<f32>>(magnitude_bits_f32(value) | vec4<u32>(0x00800000u)), scaled), lost);
}

fn mul_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let low = select(a, b, abs(b) < abs(a));
    let high = select(b, a, abs(b) < abs(a));
    return keep_least_f32(a * b, opaque_f32(low * 1.2676506002282294e30) * high, LEAST_F32);
}

fn mul_flushed_bf16(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let low = select(a, b, abs(b) < abs(a));
    let high = select(b, a, abs(b) < abs(a));
    return keep_least_f32(a * b, opaque_f32(low * 1.2676506002282294e30) * high, LEAST_BF16);
}

fn div_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_least_f32(a / b, opaque_f32(a * 1.2676506002282294e30) / b, LEAST_F32);
}
