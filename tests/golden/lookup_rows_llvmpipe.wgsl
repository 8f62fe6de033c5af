struct Params {
    pitch: u32,
    row_step: u32,
    rows_apart: u32,
    first_rows: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x4_offset: u32,
    scalar1: u32,
    scalar2: u32,
    scalar3: u32,
    x4_index0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<i32>;
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
    let c0_0 = (id.z * p.pitch + id.y) * p.row_step;
    if ((first >= p.len1) | (c0_0 >= p.first_rows)) { return; }
    let c0_1 = select(c0_0, c0_0 + 1u * p.rows_apart, c0_0 + 1u * p.rows_apart < p.len0);
    let c0_2 = select(c0_0, c0_0 + 2u * p.rows_apart, c0_0 + 2u * p.rows_apart < p.len0);
    let c0_3 = select(c0_0, c0_0 + 3u * p.rows_apart, c0_0 + 3u * p.rows_apart < p.len0);
    let c0_4 = select(c0_0, c0_0 + 4u * p.rows_apart, c0_0 + 4u * p.rows_apart < p.len0);
    let c0_5 = select(c0_0, c0_0 + 5u * p.rows_apart, c0_0 + 5u * p.rows_apart < p.len0);
    let c0_6 = select(c0_0, c0_0 + 6u * p.rows_apart, c0_0 + 6u * p.rows_apart < p.len0);
    let c0_7 = select(c0_0, c0_0 + 7u * p.rows_apart, c0_0 + 7u * p.rows_apart < p.len0);
    let v1 = vec4<i32>(bitcast<i32>(p.scalar1));
    let v2 = vec4<i32>(bitcast<i32>(p.scalar2));
    let v3 = vec4<i32>(bitcast<i32>(p.scalar3));
    let v0_0 = vec4<i32>(in0[p.x0_offset + c0_0 * p.x0_stride0]);
    let v0_1 = vec4<i32>(in0[p.x0_offset + c0_1 * p.x0_stride0]);
    let v0_2 = vec4<i32>(in0[p.x0_offset + c0_2 * p.x0_stride0]);
    let v0_3 = vec4<i32>(in0[p.x0_offset + c0_3 * p.x0_stride0]);
    let v0_4 = vec4<i32>(in0[p.x0_offset + c0_4 * p.x0_stride0]);
    let v0_5 = vec4<i32>(in0[p.x0_offset + c0_5 * p.x0_stride0]);
    let v0_6 = vec4<i32>(in0[p.x0_offset + c0_6 * p.x0_stride0]);
    let v0_7 = vec4<i32>(in0[p.x0_offset + c0_7 * p.x0_stride0]);
    let v5_0 = v0_0 < v1;
    let v6_0 = v0_0 + v2;
    let v7_0 = select(v0_0, v6_0, v5_0);
    let v8_0 = min(max(v7_0, v1), v3);
    let at_v9_0 = p.x4_offset + id.x + u32(v8_0.x) * p.x4_index0;
    let v9_0 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_0]));
    let v5_1 = v0_1 < v1;
    let v6_1 = v0_1 + v2;
    let v7_1 = select(v0_1, v6_1, v5_1);
    let v8_1 = min(max(v7_1, v1), v3);
    let at_v9_1 = p.x4_offset + id.x + u32(v8_1.x) * p.x4_index0;
    let v9_1 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_1]));
    let v5_2 = v0_2 < v1;
    let v6_2 = v0_2 + v2;
    let v7_2 = select(v0_2, v6_2, v5_2);
    let v8_2 = min(max(v7_2, v1), v3);
    let at_v9_2 = p.x4_offset + id.x + u32(v8_2.x) * p.x4_index0;
    let v9_2 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_2]));
    let v5_3 = v0_3 < v1;
    let v6_3 = v0_3 + v2;
    let v7_3 = select(v0_3, v6_3, v5_3);
    let v8_3 = min(max(v7_3, v1), v3);
    let at_v9_3 = p.x4_offset + id.x + u32(v8_3.x) * p.x4_index0;
    let v9_3 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_3]));
    let v5_4 = v0_4 < v1;
    let v6_4 = v0_4 + v2;
    let v7_4 = select(v0_4, v6_4, v5_4);
    let v8_4 = min(max(v7_4, v1), v3);
    let at_v9_4 = p.x4_offset + id.x + u32(v8_4.x) * p.x4_index0;
    let v9_4 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_4]));
    let v5_5 = v0_5 < v1;
    let v6_5 = v0_5 + v2;
    let v7_5 = select(v0_5, v6_5, v5_5);
    let v8_5 = min(max(v7_5, v1), v3);
    let at_v9_5 = p.x4_offset + id.x + u32(v8_5.x) * p.x4_index0;
    let v9_5 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_5]));
    let v5_6 = v0_6 < v1;
    let v6_6 = v0_6 + v2;
    let v7_6 = select(v0_6, v6_6, v5_6);
    let v8_6 = min(max(v7_6, v1), v3);
    let at_v9_6 = p.x4_offset + id.x + u32(v8_6.x) * p.x4_index0;
    let v9_6 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_6]));
    let v5_7 = v0_7 < v1;
    let v6_7 = v0_7 + v2;
    let v7_7 = select(v0_7, v6_7, v5_7);
    let v8_7 = min(max(v7_7, v1), v3);
    let at_v9_7 = p.x4_offset + id.x + u32(v8_7.x) * p.x4_index0;
    let v9_7 = bitcast<vec4<f32>>(unpack_u32(in1[at_v9_7]));
    result[c0_0 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_0));
    result[c0_1 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_1));
    result[c0_2 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_2));
    result[c0_3 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_3));
    result[c0_4 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_4));
    result[c0_5 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_5));
    result[c0_6 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_6));
    result[c0_7 * p.out_stride0 + id.x] = pack_u32(bitcast<vec4<u32>>(v9_7));
}
