struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x2_offset: u32,
    x2_stride0: u32,
    scalar1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

// The element at address `at`, out of its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if (first >= p.len1 || c0 >= p.len0) { return; }
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at_v0 = (p.x0_offset + c0 * p.x0_stride0) + lane * p.x0_stride1;
    let v0 = vec4<u32>(part_u8(in0[at_v0.x >> 2u], at_v0.x), part_u8(in0[at_v0.y >> 2u], at_v0.y), part_u8(in0[at_v0.z >> 2u], at_v0.z), part_u8(in0[at_v0.w >> 2u], at_v0.w));
    let v1 = vec4<f32>(bitcast<f32>(p.scalar1));
    let v2 = vec4<f32>(in1[p.x2_offset + c0 * p.x2_stride0]);
    let v3 = vec4<f32>(v0);
    let v4 = v3 / v1;
    let v5 = v4 - v2;
    result[p.out_offset + c0 * p.out_stride0 + id.x] = v5;
}
