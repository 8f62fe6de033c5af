struct Params {
    pitch: u32,
    vectors: u32,
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let at_v0 = p.x0_offset + i * 2u;
    let w_v0_0 = in0[at_v0 + 0u];
    let w_v0_1 = in0[at_v0 + 1u];
    let v0 = vec4<f32>(w_v0_0.x, w_v0_0.z, w_v0_1.x, w_v0_1.z);
    let v1 = in1[i];
    let v2 = v0 + v1;
    result[i] = v2;
}
