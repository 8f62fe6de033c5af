struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result1: array<u32>;
@group(0) @binding(3) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in1: array<vec4<f32>>;

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const INFINITE_f32: u32 = 0x7f800000u;

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn are_numbers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return max(magnitude_bits_f32(a), magnitude_bits_f32(b)) <= vec4<u32>(INFINITE_f32);
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a < b) & are_numbers_f32(a, b);
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let v2 = v0 + v1;
    let v3 = lt_f32(v1, v0);
    result[c0 * p.out_stride0 + id.x] = v2;
    let raw1_ = select(vec4<u32>(0u), vec4<u32>(1u), v3);
    result1[c0 * p.out_stride0 + id.x] = pack_u8(raw1_);
}
