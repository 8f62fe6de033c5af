struct Params {
    pitch: u32,
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
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<i32>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = vec4<i32>(in0[p.x0_offset + c0 * p.x0_stride0]);
    let v1 = vec4<i32>(bitcast<i32>(p.scalar1));
    let v2 = vec4<i32>(bitcast<i32>(p.scalar2));
    let v3 = vec4<i32>(bitcast<i32>(p.scalar3));
    let v5 = v0 < v1;
    let v6 = v0 + v2;
    let v7 = select(v0, v6, v5);
    let v8 = min(max(v7, v1), v3);
    let at_v9 = p.x4_offset + id.x + u32(v8.x) * p.x4_index0;
    let v9 = in1[at_v9];
    result[c0 * p.out_stride0 + id.x] = v9;
}
