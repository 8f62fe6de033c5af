struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    x2_offset: u32,
    x2_last: u32,
    x2_stride0: u32,
    scalar5: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at_w2_0 = p.x2_offset + (c0 - 1u) * p.x2_stride0 + first;
    let t2_0_0 = in0[(at_w2_0 >> 2u)];
    let t2_0_1 = in0[min((at_w2_0 >> 2u) + 1u, p.x2_last)];
    let t2_0_2 = in0[min((at_w2_0 >> 2u) + 2u, p.x2_last)];
    let h2_0_0 = select(t2_0_0, vec4<f32>(t2_0_0.zw, t2_0_1.xy), (at_w2_0 & 2u) != 0u);
    let w2_0_0 = select(h2_0_0, vec4<f32>(h2_0_0.yzw, select(t2_0_1.x, t2_0_1.z, (at_w2_0 & 2u) != 0u)), (at_w2_0 & 1u) != 0u);
    let h2_0_1 = select(t2_0_1, vec4<f32>(t2_0_1.zw, t2_0_2.xy), (at_w2_0 & 2u) != 0u);
    let w2_0_1 = select(h2_0_1, vec4<f32>(h2_0_1.yzw, select(t2_0_2.x, t2_0_2.z, (at_w2_0 & 2u) != 0u)), (at_w2_0 & 1u) != 0u);
    let at_w2_1 = p.x2_offset + c0 * p.x2_stride0 + first;
    let t2_1_0 = in0[(at_w2_1 >> 2u)];
    let t2_1_1 = in0[min((at_w2_1 >> 2u) + 1u, p.x2_last)];
    let t2_1_2 = in0[min((at_w2_1 >> 2u) + 2u, p.x2_last)];
    let h2_1_0 = select(t2_1_0, vec4<f32>(t2_1_0.zw, t2_1_1.xy), (at_w2_1 & 2u) != 0u);
    let w2_1_0 = select(h2_1_0, vec4<f32>(h2_1_0.yzw, select(t2_1_1.x, t2_1_1.z, (at_w2_1 & 2u) != 0u)), (at_w2_1 & 1u) != 0u);
    let h2_1_1 = select(t2_1_1, vec4<f32>(t2_1_1.zw, t2_1_2.xy), (at_w2_1 & 2u) != 0u);
    let w2_1_1 = select(h2_1_1, vec4<f32>(h2_1_1.yzw, select(t2_1_2.x, t2_1_2.z, (at_w2_1 & 2u) != 0u)), (at_w2_1 & 1u) != 0u);
    let at_w2_2 = p.x2_offset + (c0 + 1u) * p.x2_stride0 + first;
    let t2_2_0 = in0[(at_w2_2 >> 2u)];
    let t2_2_1 = in0[min((at_w2_2 >> 2u) + 1u, p.x2_last)];
    let t2_2_2 = in0[min((at_w2_2 >> 2u) + 2u, p.x2_last)];
    let h2_2_0 = select(t2_2_0, vec4<f32>(t2_2_0.zw, t2_2_1.xy), (at_w2_2 & 2u) != 0u);
    let w2_2_0 = select(h2_2_0, vec4<f32>(h2_2_0.yzw, select(t2_2_1.x, t2_2_1.z, (at_w2_2 & 2u) != 0u)), (at_w2_2 & 1u) != 0u);
    let h2_2_1 = select(t2_2_1, vec4<f32>(t2_2_1.zw, t2_2_2.xy), (at_w2_2 & 2u) != 0u);
    let w2_2_1 = select(h2_2_1, vec4<f32>(h2_2_1.yzw, select(t2_2_2.x, t2_2_2.z, (at_w2_2 & 2u) != 0u)), (at_w2_2 & 1u) != 0u);
    let v0 = vec4<f32>(w2_0_0.y, w2_0_0.z, w2_0_0.w, w2_0_1.x);
    let v1 = vec4<f32>(w2_2_0.y, w2_2_0.z, w2_2_0.w, w2_2_1.x);
    let v2 = vec4<f32>(w2_1_0.x, w2_1_0.y, w2_1_0.z, w2_1_0.w);
    let v3 = vec4<f32>(w2_1_0.z, w2_1_0.w, w2_1_1.x, w2_1_1.y);
    let v4 = vec4<f32>(w2_1_0.y, w2_1_0.z, w2_1_0.w, w2_1_1.x);
    let v5 = vec4<f32>(bitcast<f32>(p.scalar5));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 + v1) ^ zero);
    let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2 + v6) ^ zero);
    let v8 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 + v7) ^ zero);
    let v9 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v4 * v5) ^ zero1);
    let v10 = v8 - v9;
    let at = (p.out_offset + c0 * p.out_stride0) + lane;
    result[at.x] = v10.x;
    if (first + 1u < p.len1) { result[at.y] = v10.y; }
    if (first + 2u < p.len1) { result[at.z] = v10.z; }
    if (first + 3u < p.len1) { result[at.w] = v10.w; }
}
