// The field as somebody writes it who knows its shape: one value an invocation, next to each other along rows.

struct Frame {
    time: f32,
    centre: vec2<f32>,
}
@group(0) @binding(0) var<uniform> frame: Frame;

@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= WIDTH || id.y >= HEIGHT) { return; }
    let x = (f32(id.x) * 2.0 - f32(WIDTH)) / f32(HEIGHT);
    let y = (f32(id.y) * 2.0 - f32(HEIGHT)) / f32(HEIGHT);
    let away = vec2<f32>(x, y) - frame.centre;
    let ring = cos(sqrt(away.x * away.x + away.y * away.y) * 11.0 - frame.time * 3.0);
    let waves = sin(x * 5.0 + frame.time) * sin(y * 7.0 - frame.time * 0.7);
    put(id.xy, (ring + waves) * 0.5);
}
