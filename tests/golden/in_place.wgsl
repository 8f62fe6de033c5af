struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    x1_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = result[p.out_offset + c0 * p.out_stride0 + id.x];
    let v1 = in0[p.x1_offset + id.x];
    let v2 = v0 * v1;
    result[p.out_offset + c0 * p.out_stride0 + id.x] = v2;
}
