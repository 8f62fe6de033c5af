struct Params {
    pitch: u32,
    vectors: u32,
    x1_offset: u32,
    x1_rest: u32,
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
    let w1_0 = in1[p.x1_offset + i];
    let w1_1 = in1[p.x1_offset + i + 1u];
    let h1_0 = select(w1_0, vec4<f32>(w1_0.zw, w1_1.xy), (p.x1_rest & 2u) != 0u);
    let v1 = select(h1_0, vec4<f32>(h1_0.yzw, select(w1_1.x, w1_1.z, (p.x1_rest & 2u) != 0u)), (p.x1_rest & 1u) != 0u);
    let v2 = v0 + v1;
    result[i] = v2;
}
