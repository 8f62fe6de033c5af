// A picture of three planes of bytes, from a storage buffer onto a canvas.
@group(0) @binding(0) var<storage, read> bytes: array<u32>;
@group(0) @binding(1) var<uniform> size: vec4<u32>;

// One triangle that covers the canvas.
@vertex
fn corners(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn channel(at: u32) -> f32 {
    return f32((bytes[at >> 2u] >> ((at & 3u) * 8u)) & 255u) / 255.0;
}

@fragment
fn pixel(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
    let at = u32(place.y) * size.x + u32(place.x);
    let plane = size.x * size.y;
    return vec4<f32>(channel(at), channel(at + plane), channel(at + 2u * plane), 1.0);
}
