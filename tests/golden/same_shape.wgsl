struct Params {
    pitch: u32,
    vectors: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let v0 = in0[i];
    let v1 = in1[i];
    let v2 = v0 + v1;
    result[i] = v2;
}
