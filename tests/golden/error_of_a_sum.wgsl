struct Params {
    pitch: u32,
    vectors: u32,
    zero: u32,
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
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 + v1) ^ zero);
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2 - v0) ^ zero1);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2 - v3) ^ zero);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v4) ^ zero);
    let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 - v3) ^ zero1);
    let v7 = v5 + v6;
    result[i] = v7;
}
