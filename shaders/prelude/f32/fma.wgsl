// The fused forms of types that compute in f32. A type of 16 bits is rounded to odd first, so that the
// rounding to fewer digits that follows has the result of a single rounding.

// The bits of a word.
const WORD_u32: u32 = 32u;

fn fma_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return fma_rounded_f32(a, b, c, false);
}

fn fma_f16(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return fma_rounded_f32(a, b, c, true);
}

fn fma_bf16(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return fma_rounded_f32(a, b, c, true);
}
