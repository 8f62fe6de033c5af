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
@group(0) @binding(1) var<storage, read_write> result: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let at_w0_0 = p.x0_offset + c0 * p.x0_stride0 + id.x;
    let w0_0_0 = in0[at_w0_0];
    let w0_0_1 = in0[min(at_w0_0 + 1u, p.x0_last)];
    let at_w0_1 = p.x0_offset + (c0 + 1u) * p.x0_stride0 + id.x;
    let w0_1_0 = in0[at_w0_1];
    let w0_1_1 = in0[min(at_w0_1 + 1u, p.x0_last)];
    let at_w0_2 = p.x0_offset + (c0 + 2u) * p.x0_stride0 + id.x;
    let w0_2_0 = in0[at_w0_2];
    let w0_2_1 = in0[min(at_w0_2 + 1u, p.x0_last)];
    let v0 = vec4<f32>(w0_0_0.x, w0_0_0.y, w0_0_0.z, w0_0_0.w);
    let v1 = vec4<f32>(w0_0_0.y, w0_0_0.z, w0_0_0.w, w0_0_1.x);
    let v2 = vec4<f32>(w0_0_0.z, w0_0_0.w, w0_0_1.x, w0_0_1.y);
    let v3 = vec4<f32>(w0_1_0.x, w0_1_0.y, w0_1_0.z, w0_1_0.w);
    let v4 = vec4<f32>(w0_1_0.y, w0_1_0.z, w0_1_0.w, w0_1_1.x);
    let v5 = vec4<f32>(w0_1_0.z, w0_1_0.w, w0_1_1.x, w0_1_1.y);
    let v6 = vec4<f32>(w0_2_0.x, w0_2_0.y, w0_2_0.z, w0_2_0.w);
    let v7 = vec4<f32>(w0_2_0.y, w0_2_0.z, w0_2_0.w, w0_2_1.x);
    let v8 = vec4<f32>(w0_2_0.z, w0_2_0.w, w0_2_1.x, w0_2_1.y);
    let v9 = vec4<f32>(bitcast<f32>(p.scalar9));
    let v10 = vec4<f32>(bitcast<f32>(p.scalar10));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v11 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 + v8) ^ zero);
    let v12 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v11 + v4) ^ zero);
    let v13 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 + v5) ^ zero);
    let v14 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2 + v6) ^ zero1);
    let v15 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 + v7) ^ zero1);
    let v16 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12 + v14) ^ zero);
    let v17 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v13 + v15) ^ zero1);
    let v18 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v16 + v17) ^ zero);
    let v19 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v18 + v9) ^ zero);
    let v20 = v19 / v10;
    let at = c0 * p.out_stride0 + id.x * 2u;
    result[at] = v20.xy;
    if (first + 2u < p.len1) { result[at + 1u] = v20.zw; }
}
