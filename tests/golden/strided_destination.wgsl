struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    len0: u32,
    out_offset: u32,
    out_stride0: u32,
    scalar1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let c0 = min((i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len0 - 1u));
    let at_v0 = p.out_offset + c0 * p.out_stride0;
    let v0 = vec4<f32>(result[at_v0.x], result[at_v0.y], result[at_v0.z], result[at_v0.w]);
    let v1 = vec4<f32>(bitcast<f32>(p.scalar1));
    let v2 = v0 + v1;
    let at = p.out_offset + c0 * p.out_stride0;
    result[at.x] = v2.x;
    if (i * 4u + 1u < p.count) { result[at.y] = v2.y; }
    if (i * 4u + 2u < p.count) { result[at.z] = v2.z; }
    if (i * 4u + 3u < p.count) { result[at.w] = v2.w; }
}
