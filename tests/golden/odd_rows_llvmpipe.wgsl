struct Params {
    pitch: u32,
    vectors: u32,
    band_vectors: u32,
    band_rows: u32,
    rows: u32,
    len1: u32,
    x1_offset: u32,
    x2_offset: u32,
    x2_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;
@group(0) @binding(4) var<storage, read> in2: array<f32>;

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
    let band_0 = (id.z * p.pitch + id.y) * 8u;
    let i_0 = band_0 * p.band_vectors + id.x;
    if ((id.x >= p.band_vectors) | (i_0 >= p.vectors)) { return; }
    let band_1 = select(band_0, band_0 + 1u, (band_0 + 1u) * p.band_vectors + id.x < p.vectors);
    let i_1 = band_1 * p.band_vectors + id.x;
    let band_2 = select(band_0, band_0 + 2u, (band_0 + 2u) * p.band_vectors + id.x < p.vectors);
    let i_2 = band_2 * p.band_vectors + id.x;
    let band_3 = select(band_0, band_0 + 3u, (band_0 + 3u) * p.band_vectors + id.x < p.vectors);
    let i_3 = band_3 * p.band_vectors + id.x;
    let band_4 = select(band_0, band_0 + 4u, (band_0 + 4u) * p.band_vectors + id.x < p.vectors);
    let i_4 = band_4 * p.band_vectors + id.x;
    let band_5 = select(band_0, band_0 + 5u, (band_0 + 5u) * p.band_vectors + id.x < p.vectors);
    let i_5 = band_5 * p.band_vectors + id.x;
    let band_6 = select(band_0, band_0 + 6u, (band_0 + 6u) * p.band_vectors + id.x < p.vectors);
    let i_6 = band_6 * p.band_vectors + id.x;
    let band_7 = select(band_0, band_0 + 7u, (band_0 + 7u) * p.band_vectors + id.x < p.vectors);
    let i_7 = band_7 * p.band_vectors + id.x;
    let at = id.x * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let r = select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1))
        + select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1 * 2u))
        + select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1 * 3u));
    let c1 = at - r * p.len1;
    let row_0 = min(band_0 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_0 = row_0;
    let row_1 = min(band_1 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_1 = row_1;
    let row_2 = min(band_2 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_2 = row_2;
    let row_3 = min(band_3 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_3 = row_3;
    let row_4 = min(band_4 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_4 = row_4;
    let row_5 = min(band_5 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_5 = row_5;
    let row_6 = min(band_6 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_6 = row_6;
    let row_7 = min(band_7 * p.band_rows + r, vec4<u32>(p.rows - 1u));
    let c0_7 = row_7;
    let at_v1 = p.x1_offset + c1;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(in0[i_0]));
    let at_v2_0 = p.x2_offset + c0_0 * p.x2_stride0;
    let v2_0 = vec4<f32>(in2[at_v2_0.x], in2[at_v2_0.y], in2[at_v2_0.z], in2[at_v2_0.w]);
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(in0[i_1]));
    let at_v2_1 = p.x2_offset + c0_1 * p.x2_stride0;
    let v2_1 = vec4<f32>(in2[at_v2_1.x], in2[at_v2_1.y], in2[at_v2_1.z], in2[at_v2_1.w]);
    let v0_2 = bitcast<vec4<f32>>(unpack_u32(in0[i_2]));
    let at_v2_2 = p.x2_offset + c0_2 * p.x2_stride0;
    let v2_2 = vec4<f32>(in2[at_v2_2.x], in2[at_v2_2.y], in2[at_v2_2.z], in2[at_v2_2.w]);
    let v0_3 = bitcast<vec4<f32>>(unpack_u32(in0[i_3]));
    let at_v2_3 = p.x2_offset + c0_3 * p.x2_stride0;
    let v2_3 = vec4<f32>(in2[at_v2_3.x], in2[at_v2_3.y], in2[at_v2_3.z], in2[at_v2_3.w]);
    let v0_4 = bitcast<vec4<f32>>(unpack_u32(in0[i_4]));
    let at_v2_4 = p.x2_offset + c0_4 * p.x2_stride0;
    let v2_4 = vec4<f32>(in2[at_v2_4.x], in2[at_v2_4.y], in2[at_v2_4.z], in2[at_v2_4.w]);
    let v0_5 = bitcast<vec4<f32>>(unpack_u32(in0[i_5]));
    let at_v2_5 = p.x2_offset + c0_5 * p.x2_stride0;
    let v2_5 = vec4<f32>(in2[at_v2_5.x], in2[at_v2_5.y], in2[at_v2_5.z], in2[at_v2_5.w]);
    let v0_6 = bitcast<vec4<f32>>(unpack_u32(in0[i_6]));
    let at_v2_6 = p.x2_offset + c0_6 * p.x2_stride0;
    let v2_6 = vec4<f32>(in2[at_v2_6.x], in2[at_v2_6.y], in2[at_v2_6.z], in2[at_v2_6.w]);
    let v0_7 = bitcast<vec4<f32>>(unpack_u32(in0[i_7]));
    let at_v2_7 = p.x2_offset + c0_7 * p.x2_stride0;
    let v2_7 = vec4<f32>(in2[at_v2_7.x], in2[at_v2_7.y], in2[at_v2_7.z], in2[at_v2_7.w]);
    let zero = vec4<u32>(p.zero);
    let v3_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_0) ^ zero);
    let v4_0 = v0_0 + v3_0;
    let v3_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_1) ^ zero);
    let v4_1 = v0_1 + v3_1;
    let v3_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_2) ^ zero);
    let v4_2 = v0_2 + v3_2;
    let v3_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_3) ^ zero);
    let v4_3 = v0_3 + v3_3;
    let v3_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_4) ^ zero);
    let v4_4 = v0_4 + v3_4;
    let v3_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_5) ^ zero);
    let v4_5 = v0_5 + v3_5;
    let v3_6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_6) ^ zero);
    let v4_6 = v0_6 + v3_6;
    let v3_7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2_7) ^ zero);
    let v4_7 = v0_7 + v3_7;
    result[i_0] = pack_u32(bitcast<vec4<u32>>(v4_0));
    result[i_1] = pack_u32(bitcast<vec4<u32>>(v4_1));
    result[i_2] = pack_u32(bitcast<vec4<u32>>(v4_2));
    result[i_3] = pack_u32(bitcast<vec4<u32>>(v4_3));
    result[i_4] = pack_u32(bitcast<vec4<u32>>(v4_4));
    result[i_5] = pack_u32(bitcast<vec4<u32>>(v4_5));
    result[i_6] = pack_u32(bitcast<vec4<u32>>(v4_6));
    result[i_7] = pack_u32(bitcast<vec4<u32>>(v4_7));
}
