struct Params {
    pitch: u32,
    vectors: u32,
    x1_offset: u32,
    x1_rest: u32,
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

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i_0 = (id.y * p.pitch + id.x) * 4u;
    if (i_0 >= p.vectors) { return; }
    let i_1 = min(i_0 + 1u, p.vectors - 1u);
    let i_2 = min(i_0 + 2u, p.vectors - 1u);
    let i_3 = min(i_0 + 3u, p.vectors - 1u);
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(in0[i_0]));
    let w1_0 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + i_0]));
    let w1_1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + i_0 + 1u]));
    let h1_0 = select(w1_0, vec4<f32>(w1_0.zw, w1_1.xy), (p.x1_rest & 2u) != 0u);
    let v1_0 = select(h1_0, vec4<f32>(h1_0.yzw, select(w1_1.x, w1_1.z, (p.x1_rest & 2u) != 0u)), (p.x1_rest & 1u) != 0u);
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(in0[i_1]));
    let w1_2 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + i_0 + 2u]));
    let h1_1 = select(w1_1, vec4<f32>(w1_1.zw, w1_2.xy), (p.x1_rest & 2u) != 0u);
    let v1_1 = select(h1_1, vec4<f32>(h1_1.yzw, select(w1_2.x, w1_2.z, (p.x1_rest & 2u) != 0u)), (p.x1_rest & 1u) != 0u);
    let v0_2 = bitcast<vec4<f32>>(unpack_u32(in0[i_2]));
    let w1_3 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + i_0 + 3u]));
    let h1_2 = select(w1_2, vec4<f32>(w1_2.zw, w1_3.xy), (p.x1_rest & 2u) != 0u);
    let v1_2 = select(h1_2, vec4<f32>(h1_2.yzw, select(w1_3.x, w1_3.z, (p.x1_rest & 2u) != 0u)), (p.x1_rest & 1u) != 0u);
    let v0_3 = bitcast<vec4<f32>>(unpack_u32(in0[i_3]));
    let w1_4 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + i_0 + 4u]));
    let h1_3 = select(w1_3, vec4<f32>(w1_3.zw, w1_4.xy), (p.x1_rest & 2u) != 0u);
    let v1_3 = select(h1_3, vec4<f32>(h1_3.yzw, select(w1_4.x, w1_4.z, (p.x1_rest & 2u) != 0u)), (p.x1_rest & 1u) != 0u);
    let v2_0 = v0_0 + v1_0;
    let v2_1 = v0_1 + v1_1;
    let v2_2 = v0_2 + v1_2;
    let v2_3 = v0_3 + v1_3;
    result[i_0] = pack_u32(bitcast<vec4<u32>>(v2_0));
    if (i_0 + 1u < p.vectors) {
    result[i_1] = pack_u32(bitcast<vec4<u32>>(v2_1));
    }
    if (i_0 + 2u < p.vectors) {
    result[i_2] = pack_u32(bitcast<vec4<u32>>(v2_2));
    }
    if (i_0 + 3u < p.vectors) {
    result[i_3] = pack_u32(bitcast<vec4<u32>>(v2_3));
    }
}
