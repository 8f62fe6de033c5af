// A triangle that covers the canvas, and a colour for each value from -1 to 1.

@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let at = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    return vec4<f32>(at * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn colour(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let v = value(vec2<u32>(at.xy));
    let warm = vec3<f32>(0.98, 0.62, 0.25) * max(v, 0.0);
    let cold = vec3<f32>(0.16, 0.42, 0.86) * max(-v, 0.0);
    return vec4<f32>(vec3<f32>(0.04, 0.05, 0.09) + warm + cold, 1.0);
}
