struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x4_offset: u32,
    x8_offset: u32,
    scalar1: u32,
    scalar2: u32,
    scalar3: u32,
    scalar5: u32,
    scalar6: u32,
    scalar7: u32,
    x8_index0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = vec4<i32>(i32(p.x0_offset + c0 * p.x0_stride0));
    let v1 = vec4<i32>(bitcast<i32>(p.scalar1));
    let v2 = vec4<i32>(bitcast<i32>(p.scalar2));
    let v3 = vec4<i32>(bitcast<i32>(p.scalar3));
    let v4 = vec4<i32>((p.x4_offset + id.x) * 4u + vec4<u32>(0u, 1u, 2u, 3u));
    let v5 = vec4<i32>(bitcast<i32>(p.scalar5));
    let v6 = vec4<i32>(bitcast<i32>(p.scalar6));
    let v7 = vec4<i32>(bitcast<i32>(p.scalar7));
    let v9 = v0 >= v1;
    let v10 = v0 + v2;
    let v11 = v0 + v3;
    let v12 = select(v11, v10, v9);
    let v13 = v4 >= v5;
    let v14 = v4 + v6;
    let v15 = v4 + v7;
    let v16 = select(v15, v14, v13);
    let at_v17 = (p.x8_offset) + vec4<u32>(0u) + vec4<u32>(v12) * p.x8_index0 + vec4<u32>(v16);
    let v17 = vec4<f32>(in0[at_v17.x], in0[at_v17.y], in0[at_v17.z], in0[at_v17.w]);
    result[c0 * p.out_stride0 + id.x] = v17;
}
