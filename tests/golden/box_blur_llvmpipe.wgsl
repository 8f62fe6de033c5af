struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_last: u32,
    x0_stride0: u32,
    scalar9: u32,
    scalar10: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u64>;
@group(0) @binding(2) var<storage, read> in0: array<u64>;

// Words of 64 bits, for adapters that move them as fast as words of 32. The lower half has the lower address.
fn split_u64(word: u64) -> vec2<u32> {
    return vec2<u32>(u32(word), u32(word >> 32u));
}

fn join_u64(words: vec2<u32>) -> u64 {
    return u64(words.x) | (u64(words.y) << 32u);
}

@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0_0 = (id.z * p.pitch + id.y) * 6u;
    if ((first >= p.len1) | (c0_0 >= p.len0)) { return; }
    let c0_1 = min(c0_0 + 1u, p.len0 - 1u);
    let c0_2 = min(c0_0 + 2u, p.len0 - 1u);
    let c0_3 = min(c0_0 + 3u, p.len0 - 1u);
    let c0_4 = min(c0_0 + 4u, p.len0 - 1u);
    let c0_5 = min(c0_0 + 5u, p.len0 - 1u);
    let at_w0_0 = p.x0_offset + c0_0 * p.x0_stride0 + id.x * 2u;
    let w0_0_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_0]));
    let w0_0_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_0 + 1u, p.x0_last)]));
    let w0_0_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_0 + 2u, p.x0_last)]));
    let at_w0_1 = p.x0_offset + min(c0_0 + 1u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_1_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_1]));
    let w0_1_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_1 + 1u, p.x0_last)]));
    let w0_1_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_1 + 2u, p.x0_last)]));
    let at_w0_2 = p.x0_offset + min(c0_0 + 2u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_2_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_2]));
    let w0_2_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_2 + 1u, p.x0_last)]));
    let w0_2_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_2 + 2u, p.x0_last)]));
    let at_w0_3 = p.x0_offset + min(c0_0 + 3u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_3_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_3]));
    let w0_3_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_3 + 1u, p.x0_last)]));
    let w0_3_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_3 + 2u, p.x0_last)]));
    let at_w0_4 = p.x0_offset + min(c0_0 + 4u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_4_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_4]));
    let w0_4_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_4 + 1u, p.x0_last)]));
    let w0_4_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_4 + 2u, p.x0_last)]));
    let at_w0_5 = p.x0_offset + min(c0_0 + 5u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_5_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_5]));
    let w0_5_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_5 + 1u, p.x0_last)]));
    let w0_5_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_5 + 2u, p.x0_last)]));
    let at_w0_6 = p.x0_offset + min(c0_0 + 6u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_6_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_6]));
    let w0_6_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_6 + 1u, p.x0_last)]));
    let w0_6_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_6 + 2u, p.x0_last)]));
    let at_w0_7 = p.x0_offset + min(c0_0 + 7u, p.len0 + 1u) * p.x0_stride0 + id.x * 2u;
    let w0_7_0 = bitcast<vec2<f32>>(split_u64(in0[at_w0_7]));
    let w0_7_1 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_7 + 1u, p.x0_last)]));
    let w0_7_2 = bitcast<vec2<f32>>(split_u64(in0[min(at_w0_7 + 2u, p.x0_last)]));
    let v9 = vec4<f32>(bitcast<f32>(p.scalar9));
    let v10 = vec4<f32>(bitcast<f32>(p.scalar10));
    let v0_0 = vec4<f32>(w0_0_0.x, w0_0_0.y, w0_0_1.x, w0_0_1.y);
    let v1_0 = vec4<f32>(w0_0_0.y, w0_0_1.x, w0_0_1.y, w0_0_2.x);
    let v2_0 = vec4<f32>(w0_0_1.x, w0_0_1.y, w0_0_2.x, w0_0_2.y);
    let v3_0 = vec4<f32>(w0_1_0.x, w0_1_0.y, w0_1_1.x, w0_1_1.y);
    let v4_0 = vec4<f32>(w0_1_0.y, w0_1_1.x, w0_1_1.y, w0_1_2.x);
    let v5_0 = vec4<f32>(w0_1_1.x, w0_1_1.y, w0_1_2.x, w0_1_2.y);
    let v6_0 = vec4<f32>(w0_2_0.x, w0_2_0.y, w0_2_1.x, w0_2_1.y);
    let v7_0 = vec4<f32>(w0_2_0.y, w0_2_1.x, w0_2_1.y, w0_2_2.x);
    let v8_0 = vec4<f32>(w0_2_1.x, w0_2_1.y, w0_2_2.x, w0_2_2.y);
    let v0_1 = vec4<f32>(w0_1_0.x, w0_1_0.y, w0_1_1.x, w0_1_1.y);
    let v1_1 = vec4<f32>(w0_1_0.y, w0_1_1.x, w0_1_1.y, w0_1_2.x);
    let v2_1 = vec4<f32>(w0_1_1.x, w0_1_1.y, w0_1_2.x, w0_1_2.y);
    let v3_1 = vec4<f32>(w0_2_0.x, w0_2_0.y, w0_2_1.x, w0_2_1.y);
    let v4_1 = vec4<f32>(w0_2_0.y, w0_2_1.x, w0_2_1.y, w0_2_2.x);
    let v5_1 = vec4<f32>(w0_2_1.x, w0_2_1.y, w0_2_2.x, w0_2_2.y);
    let v6_1 = vec4<f32>(w0_3_0.x, w0_3_0.y, w0_3_1.x, w0_3_1.y);
    let v7_1 = vec4<f32>(w0_3_0.y, w0_3_1.x, w0_3_1.y, w0_3_2.x);
    let v8_1 = vec4<f32>(w0_3_1.x, w0_3_1.y, w0_3_2.x, w0_3_2.y);
    let v0_2 = vec4<f32>(w0_2_0.x, w0_2_0.y, w0_2_1.x, w0_2_1.y);
    let v1_2 = vec4<f32>(w0_2_0.y, w0_2_1.x, w0_2_1.y, w0_2_2.x);
    let v2_2 = vec4<f32>(w0_2_1.x, w0_2_1.y, w0_2_2.x, w0_2_2.y);
    let v3_2 = vec4<f32>(w0_3_0.x, w0_3_0.y, w0_3_1.x, w0_3_1.y);
    let v4_2 = vec4<f32>(w0_3_0.y, w0_3_1.x, w0_3_1.y, w0_3_2.x);
    let v5_2 = vec4<f32>(w0_3_1.x, w0_3_1.y, w0_3_2.x, w0_3_2.y);
    let v6_2 = vec4<f32>(w0_4_0.x, w0_4_0.y, w0_4_1.x, w0_4_1.y);
    let v7_2 = vec4<f32>(w0_4_0.y, w0_4_1.x, w0_4_1.y, w0_4_2.x);
    let v8_2 = vec4<f32>(w0_4_1.x, w0_4_1.y, w0_4_2.x, w0_4_2.y);
    let v0_3 = vec4<f32>(w0_3_0.x, w0_3_0.y, w0_3_1.x, w0_3_1.y);
    let v1_3 = vec4<f32>(w0_3_0.y, w0_3_1.x, w0_3_1.y, w0_3_2.x);
    let v2_3 = vec4<f32>(w0_3_1.x, w0_3_1.y, w0_3_2.x, w0_3_2.y);
    let v3_3 = vec4<f32>(w0_4_0.x, w0_4_0.y, w0_4_1.x, w0_4_1.y);
    let v4_3 = vec4<f32>(w0_4_0.y, w0_4_1.x, w0_4_1.y, w0_4_2.x);
    let v5_3 = vec4<f32>(w0_4_1.x, w0_4_1.y, w0_4_2.x, w0_4_2.y);
    let v6_3 = vec4<f32>(w0_5_0.x, w0_5_0.y, w0_5_1.x, w0_5_1.y);
    let v7_3 = vec4<f32>(w0_5_0.y, w0_5_1.x, w0_5_1.y, w0_5_2.x);
    let v8_3 = vec4<f32>(w0_5_1.x, w0_5_1.y, w0_5_2.x, w0_5_2.y);
    let v0_4 = vec4<f32>(w0_4_0.x, w0_4_0.y, w0_4_1.x, w0_4_1.y);
    let v1_4 = vec4<f32>(w0_4_0.y, w0_4_1.x, w0_4_1.y, w0_4_2.x);
    let v2_4 = vec4<f32>(w0_4_1.x, w0_4_1.y, w0_4_2.x, w0_4_2.y);
    let v3_4 = vec4<f32>(w0_5_0.x, w0_5_0.y, w0_5_1.x, w0_5_1.y);
    let v4_4 = vec4<f32>(w0_5_0.y, w0_5_1.x, w0_5_1.y, w0_5_2.x);
    let v5_4 = vec4<f32>(w0_5_1.x, w0_5_1.y, w0_5_2.x, w0_5_2.y);
    let v6_4 = vec4<f32>(w0_6_0.x, w0_6_0.y, w0_6_1.x, w0_6_1.y);
    let v7_4 = vec4<f32>(w0_6_0.y, w0_6_1.x, w0_6_1.y, w0_6_2.x);
    let v8_4 = vec4<f32>(w0_6_1.x, w0_6_1.y, w0_6_2.x, w0_6_2.y);
    let v0_5 = vec4<f32>(w0_5_0.x, w0_5_0.y, w0_5_1.x, w0_5_1.y);
    let v1_5 = vec4<f32>(w0_5_0.y, w0_5_1.x, w0_5_1.y, w0_5_2.x);
    let v2_5 = vec4<f32>(w0_5_1.x, w0_5_1.y, w0_5_2.x, w0_5_2.y);
    let v3_5 = vec4<f32>(w0_6_0.x, w0_6_0.y, w0_6_1.x, w0_6_1.y);
    let v4_5 = vec4<f32>(w0_6_0.y, w0_6_1.x, w0_6_1.y, w0_6_2.x);
    let v5_5 = vec4<f32>(w0_6_1.x, w0_6_1.y, w0_6_2.x, w0_6_2.y);
    let v6_5 = vec4<f32>(w0_7_0.x, w0_7_0.y, w0_7_1.x, w0_7_1.y);
    let v7_5 = vec4<f32>(w0_7_0.y, w0_7_1.x, w0_7_1.y, w0_7_2.x);
    let v8_5 = vec4<f32>(w0_7_1.x, w0_7_1.y, w0_7_2.x, w0_7_2.y);
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v11_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_0 + v8_0) ^ zero);
    let v12_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_0 + v4_0) ^ zero);
    let v13_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_0 + v5_0) ^ zero);
    let v14_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_0 + v6_0) ^ zero1);
    let v15_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_0 + v7_0) ^ zero1);
    let v16_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_0 + v14_0) ^ zero);
    let v17_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_0 + v15_0) ^ zero1);
    let v18_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_0 + v17_0) ^ zero);
    let v19_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_0 + v9) ^ zero);
    let v20_0 = v19_0 / v10;
    let v11_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_1 + v8_1) ^ zero);
    let v12_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_1 + v4_1) ^ zero);
    let v13_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_1 + v5_1) ^ zero);
    let v14_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_1 + v6_1) ^ zero1);
    let v15_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_1 + v7_1) ^ zero1);
    let v16_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_1 + v14_1) ^ zero);
    let v17_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_1 + v15_1) ^ zero1);
    let v18_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_1 + v17_1) ^ zero);
    let v19_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_1 + v9) ^ zero);
    let v20_1 = v19_1 / v10;
    let v11_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_2 + v8_2) ^ zero);
    let v12_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_2 + v4_2) ^ zero);
    let v13_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_2 + v5_2) ^ zero);
    let v14_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_2 + v6_2) ^ zero1);
    let v15_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_2 + v7_2) ^ zero1);
    let v16_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_2 + v14_2) ^ zero);
    let v17_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_2 + v15_2) ^ zero1);
    let v18_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_2 + v17_2) ^ zero);
    let v19_2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_2 + v9) ^ zero);
    let v20_2 = v19_2 / v10;
    let v11_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_3 + v8_3) ^ zero);
    let v12_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_3 + v4_3) ^ zero);
    let v13_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_3 + v5_3) ^ zero);
    let v14_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_3 + v6_3) ^ zero1);
    let v15_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_3 + v7_3) ^ zero1);
    let v16_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_3 + v14_3) ^ zero);
    let v17_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_3 + v15_3) ^ zero1);
    let v18_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_3 + v17_3) ^ zero);
    let v19_3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_3 + v9) ^ zero);
    let v20_3 = v19_3 / v10;
    let v11_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_4 + v8_4) ^ zero);
    let v12_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_4 + v4_4) ^ zero);
    let v13_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_4 + v5_4) ^ zero);
    let v14_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_4 + v6_4) ^ zero1);
    let v15_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_4 + v7_4) ^ zero1);
    let v16_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_4 + v14_4) ^ zero);
    let v17_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_4 + v15_4) ^ zero1);
    let v18_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_4 + v17_4) ^ zero);
    let v19_4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_4 + v9) ^ zero);
    let v20_4 = v19_4 / v10;
    let v11_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0_5 + v8_5) ^ zero);
    let v12_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11_5 + v4_5) ^ zero);
    let v13_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1_5 + v5_5) ^ zero);
    let v14_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2_5 + v6_5) ^ zero1);
    let v15_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3_5 + v7_5) ^ zero1);
    let v16_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12_5 + v14_5) ^ zero);
    let v17_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13_5 + v15_5) ^ zero1);
    let v18_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16_5 + v17_5) ^ zero);
    let v19_5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18_5 + v9) ^ zero);
    let v20_5 = v19_5 / v10;
    let at_0 = c0_0 * p.out_stride0 + id.x * 2u;
    result[at_0] = join_u64(bitcast<vec2<u32>>(v20_0.xy));
    if (first + 2u < p.len1) { result[at_0 + 1u] = join_u64(bitcast<vec2<u32>>(v20_0.zw)); }
    if (c0_0 + 1u < p.len0) {
    let at_1 = c0_1 * p.out_stride0 + id.x * 2u;
    result[at_1] = join_u64(bitcast<vec2<u32>>(v20_1.xy));
    if (first + 2u < p.len1) { result[at_1 + 1u] = join_u64(bitcast<vec2<u32>>(v20_1.zw)); }
    }
    if (c0_0 + 2u < p.len0) {
    let at_2 = c0_2 * p.out_stride0 + id.x * 2u;
    result[at_2] = join_u64(bitcast<vec2<u32>>(v20_2.xy));
    if (first + 2u < p.len1) { result[at_2 + 1u] = join_u64(bitcast<vec2<u32>>(v20_2.zw)); }
    }
    if (c0_0 + 3u < p.len0) {
    let at_3 = c0_3 * p.out_stride0 + id.x * 2u;
    result[at_3] = join_u64(bitcast<vec2<u32>>(v20_3.xy));
    if (first + 2u < p.len1) { result[at_3 + 1u] = join_u64(bitcast<vec2<u32>>(v20_3.zw)); }
    }
    if (c0_0 + 4u < p.len0) {
    let at_4 = c0_4 * p.out_stride0 + id.x * 2u;
    result[at_4] = join_u64(bitcast<vec2<u32>>(v20_4.xy));
    if (first + 2u < p.len1) { result[at_4 + 1u] = join_u64(bitcast<vec2<u32>>(v20_4.zw)); }
    }
    if (c0_0 + 5u < p.len0) {
    let at_5 = c0_5 * p.out_stride0 + id.x * 2u;
    result[at_5] = join_u64(bitcast<vec2<u32>>(v20_5.xy));
    if (first + 2u < p.len1) { result[at_5 + 1u] = join_u64(bitcast<vec2<u32>>(v20_5.zw)); }
    }
}
