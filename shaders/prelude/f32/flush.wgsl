// For adapters that flush subnormal results. Some also flush a result that rounds up to the least normal
// float, 2^-126. The same operation on operands scaled by 2^100 shows whether it does.

// The bits of 2^-26 (1 - 2^-24): from here on a result 2^100 times as large rounds to 2^-126.
const LEAST_F32: u32 = 0x327fffffu;

// The same for 8 bits: 2^-26 (1 - 2^-8).
const LEAST_BF16: u32 = 0x327f0000u;

// `value`, or the least normal float if the scaled result is between `from_here` and 2^-26.
fn keep_least_f32(value: vec4<f32>, scaled: vec4<f32>, from_here: u32) -> vec4<f32> {
    let lost = magnitude_bits_f32(scaled) - from_here <= vec4<u32>(0x32800000u - from_here);
    let least = (bitcast<vec4<u32>>(scaled) & vec4<u32>(SIGN_f32)) | vec4<u32>(0x00800000u);
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(value), least, lost));
}

// 2^100 times a product, if the product is that small. If a scaled factor overflows, the product is larger.
fn product_scaled_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a * 1125899906842624.0) * (b * 1125899906842624.0);
}

fn mul_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_least_f32(a * b, product_scaled_f32(a, b), LEAST_F32);
}

fn mul_flushed_bf16(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_least_f32(a * b, product_scaled_f32(a, b), LEAST_BF16);
}

fn div_flushed_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_least_f32(a / b, opaque_f32(a * 1.2676506002282294e30) / b, LEAST_F32);
}

// A product that may be as small, of a function.
fn times_kept_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return mul_flushed_f32(a, b);
}
