struct Params {
    pitch: u32,
    vectors: u32,
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u64>>;
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
    let at_v0_0 = p.x0_offset + i_0;
    let d_v0_0_0 = in0[at_v0_0 + 0u];
    let w_v0_0_0 = bitcast<vec4<f32>>(unpack_u32(d_v0_0_0.xy));
    let w_v0_0_1 = bitcast<vec4<f32>>(unpack_u32(d_v0_0_0.zw));
    let v0_0 = vec4<f32>(w_v0_0_0.y, w_v0_0_0.w, w_v0_0_1.y, w_v0_0_1.w);
    let v1_0 = bitcast<vec4<f32>>(unpack_u32(in1[i_0]));
    let at_v0_1 = p.x0_offset + i_1;
    let d_v0_1_0 = in0[at_v0_1 + 0u];
    let w_v0_1_0 = bitcast<vec4<f32>>(unpack_u32(d_v0_1_0.xy));
    let w_v0_1_1 = bitcast<vec4<f32>>(unpack_u32(d_v0_1_0.zw));
    let v0_1 = vec4<f32>(w_v0_1_0.y, w_v0_1_0.w, w_v0_1_1.y, w_v0_1_1.w);
    let v1_1 = bitcast<vec4<f32>>(unpack_u32(in1[i_1]));
    let at_v0_2 = p.x0_offset + i_2;
    let d_v0_2_0 = in0[at_v0_2 + 0u];
    let w_v0_2_0 = bitcast<vec4<f32>>(unpack_u32(d_v0_2_0.xy));
    let w_v0_2_1 = bitcast<vec4<f32>>(unpack_u32(d_v0_2_0.zw));
    let v0_2 = vec4<f32>(w_v0_2_0.y, w_v0_2_0.w, w_v0_2_1.y, w_v0_2_1.w);
    let v1_2 = bitcast<vec4<f32>>(unpack_u32(in1[i_2]));
    let at_v0_3 = p.x0_offset + i_3;
    let d_v0_3_0 = in0[at_v0_3 + 0u];
    let w_v0_3_0 = bitcast<vec4<f32>>(unpack_u32(d_v0_3_0.xy));
    let w_v0_3_1 = bitcast<vec4<f32>>(unpack_u32(d_v0_3_0.zw));
    let v0_3 = vec4<f32>(w_v0_3_0.y, w_v0_3_0.w, w_v0_3_1.y, w_v0_3_1.w);
    let v1_3 = bitcast<vec4<f32>>(unpack_u32(in1[i_3]));
    let v2_0 = v0_0 + v1_0;
    let v2_1 = v0_1 + v1_1;
    let v2_2 = v0_2 + v1_2;
    let v2_3 = v0_3 + v1_3;
    result[i_0] = pack_u32(bitcast<vec4<u32>>(v2_0));
    result[i_1] = pack_u32(bitcast<vec4<u32>>(v2_1));
    result[i_2] = pack_u32(bitcast<vec4<u32>>(v2_2));
    result[i_3] = pack_u32(bitcast<vec4<u32>>(v2_3));
}
