struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_last: u32,
    x0_stride0: u32,
    x2_offset: u32,
    x2_last: u32,
    x2_stride0: u32,
    scalar4: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

@compute @workgroup_size(32, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let at_w0_0 = p.x0_offset + c0 * p.x0_stride0 + id.x * 2u;
    let w0_0_0 = in0[at_w0_0];
    let w0_0_1 = in0[min(at_w0_0 + 1u, p.x0_last)];
    let at_w2_0 = p.x2_offset + c0 * p.x2_stride0 + id.x * 2u;
    let w2_0_0 = in0[at_w2_0];
    let w2_0_1 = in0[min(at_w2_0 + 1u, p.x2_last)];
    let v0 = vec4<f32>(w0_0_0.x, w0_0_0.z, w0_0_1.x, w0_0_1.z);
    let v1 = vec4<f32>(w0_0_0.y, w0_0_0.w, w0_0_1.y, w0_0_1.w);
    let v2 = vec4<f32>(w2_0_0.x, w2_0_0.z, w2_0_1.x, w2_0_1.z);
    let v3 = vec4<f32>(w2_0_0.y, w2_0_0.w, w2_0_1.y, w2_0_1.w);
    let v4 = vec4<f32>(bitcast<f32>(p.scalar4));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 + v2) ^ zero);
    let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 + v3) ^ zero1);
    let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v5 + v6) ^ zero);
    let v8 = v7 + v4;
    result[c0 * p.out_stride0 + id.x] = v8;
}
