struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x1_stride1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0_0 = (id.z * p.pitch + id.y) * 4u;
    if ((first >= p.len1) | (c0_0 >= p.len0)) { return; }
    let c0_1 = min(c0_0 + 1u, p.len0 - 1u);
    let c0_2 = min(c0_0 + 2u, p.len0 - 1u);
    let c0_3 = min(c0_0 + 3u, p.len0 - 1u);
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let t1_x = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + (c0_0 >> 2u) + lane.x * p.x1_stride1]));
    let t1_y = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + (c0_0 >> 2u) + lane.y * p.x1_stride1]));
    let t1_z = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + (c0_0 >> 2u) + lane.z * p.x1_stride1]));
    let t1_w = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + (c0_0 >> 2u) + lane.w * p.x1_stride1]));
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(in0[c0_0 * p.out_stride0 + id.x]));
    let v1_0 = vec4<f32>(t1_x.x, t1_y.x, t1_z.x, t1_w.x);
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(in0[c0_1 * p.out_stride0 + id.x]));
    let v1_1 = vec4<f32>(t1_x.y, t1_y.y, t1_z.y, t1_w.y);
    let v0_2 = bitcast<vec4<f32>>(unpack_u32(in0[c0_2 * p.out_stride0 + id.x]));
    let v1_2 = vec4<f32>(t1_x.z, t1_y.z, t1_z.z, t1_w.z);
    let v0_3 = bitcast<vec4<f32>>(unpack_u32(in0[c0_3 * p.out_stride0 + id.x]));
    let v1_3 = vec4<f32>(t1_x.w, t1_y.w, t1_z.w, t1_w.w);
    let v2_0 = v0_0 + v1_0;
    let v2_1 = v0_1 + v1_1;
    let v2_2 = v0_2 + v1_2;
    let v2_3 = v0_3 + v1_3;
    result[c0_0 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v2_0));
    if (c0_0 + 1u < p.len0) {
    result[c0_1 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v2_1));
    }
    if (c0_0 + 2u < p.len0) {
    result[c0_2 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v2_2));
    }
    if (c0_0 + 3u < p.len0) {
    result[c0_3 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v2_3));
    }
}
