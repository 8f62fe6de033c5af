struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x1_stride0: u32,
    x1_stride1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let id = vec3<u32>(group.x * 4u + (local & 3u), group.y * 64u + (local >> 2u), group.z);
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let at_v1 = (p.x1_offset + c0 * p.x1_stride0) + lane * p.x1_stride1;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    let v2 = v0 + v1;
    result[c0 * p.out_stride0 + id.x] = v2;
}
