struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x2_offset: u32,
    x2_stride0: u32,
    scalar1: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0_0 = (id.z * p.pitch + id.y) * 3u;
    if ((first >= p.len1) | (c0_0 >= p.len0)) { return; }
    let c0_1 = min(c0_0 + 1u, p.len0 - 1u);
    let c0_2 = min(c0_0 + 2u, p.len0 - 1u);
    let t0_0 = unpack_u8(in0[p.x0_offset + id.x * 3u + 0u]);
    let t0_1 = unpack_u8(in0[p.x0_offset + id.x * 3u + 1u]);
    let t0_2 = unpack_u8(in0[p.x0_offset + id.x * 3u + 2u]);
    let v1 = vec4<f32>(bitcast<f32>(p.scalar1));
    let v0_0 = vec4<u32>(t0_0.x, t0_0.w, t0_1.z, t0_2.y);
    let v2_0 = vec4<f32>(in1[p.x2_offset + c0_0 * p.x2_stride0]);
    let v0_1 = vec4<u32>(t0_0.y, t0_1.x, t0_1.w, t0_2.z);
    let v2_1 = vec4<f32>(in1[p.x2_offset + c0_1 * p.x2_stride0]);
    let v0_2 = vec4<u32>(t0_0.z, t0_1.y, t0_2.x, t0_2.w);
    let v2_2 = vec4<f32>(in1[p.x2_offset + c0_2 * p.x2_stride0]);
    let zero = vec4<u32>(p.zero);
    let v3_0 = vec4<f32>(v0_0);
    let v4_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_0 / v1) ^ zero);
    let v5_0 = v4_0 - v2_0;
    let v3_1 = vec4<f32>(v0_1);
    let v4_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_1 / v1) ^ zero);
    let v5_1 = v4_1 - v2_1;
    let v3_2 = vec4<f32>(v0_2);
    let v4_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_2 / v1) ^ zero);
    let v5_2 = v4_2 - v2_2;
    result[c0_0 * p.out_stride0 + id.x] = v5_0;
    result[c0_1 * p.out_stride0 + id.x] = v5_1;
    result[c0_2 * p.out_stride0 + id.x] = v5_2;
}
