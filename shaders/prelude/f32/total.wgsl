// Total mode of floats that are computed in f32.

fn flushed_f16(x: vec4<f32>) -> vec4<f32> {
    return flushed_from_f32(x, 0x38800000u);
}

fn flushed_bf16(x: vec4<f32>) -> vec4<f32> {
    return flushed_f32(x);
}

fn total_f16(x: vec4<f32>) -> vec4<f32> {
    return total_from_f32(x, 0x38800000u);
}

fn total_bf16(x: vec4<f32>) -> vec4<f32> {
    return total_f32(x);
}
