// Floats to integers and bool. WGSL leaves NaN and some backends leave the range open, so both
// are decided here. Comparisons with NaN are kept out of it: its bits are tested.

fn nonzero_f32(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) != vec4<u32>(0u);
}

fn cast_f32_i32(x: vec4<f32>) -> vec4<i32> {
    let inside = vec4<i32>(clamp(x, vec4<f32>(-2147483648.0), vec4<f32>(2147483520.0)));
    let high = select(inside, vec4<i32>(2147483647), x >= vec4<f32>(2147483648.0));
    let low = select(high, vec4<i32>(-2147483647 - 1), x <= vec4<f32>(-2147483648.0));
    return select(low, vec4<i32>(0), is_nan_f32(x));
}

fn cast_f32_u32(x: vec4<f32>) -> vec4<u32> {
    let inside = vec4<u32>(clamp(x, vec4<f32>(0.0), vec4<f32>(4294967040.0)));
    let high = select(inside, vec4<u32>(0xffffffffu), x >= vec4<f32>(4294967296.0));
    return select(high, vec4<u32>(0u), (x <= vec4<f32>(0.0)) | is_nan_f32(x));
}

fn cast_f32_u8(x: vec4<f32>) -> vec4<u32> {
    return min(cast_f32_u32(x), vec4<u32>(255u));
}
