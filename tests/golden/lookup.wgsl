struct Params {
    pitch: u32,
    vectors: u32,
    x8_offset: u32,
    scalar1: u32,
    scalar2: u32,
    scalar3: u32,
    scalar4: u32,
    scalar5: u32,
    scalar6: u32,
    scalar7: u32,
    x8_index0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let v0 = in0[i];
    let v1 = vec4<i32>(bitcast<i32>(p.scalar1));
    let v2 = vec4<i32>(bitcast<i32>(p.scalar2));
    let v3 = vec4<i32>(bitcast<i32>(p.scalar3));
    let v4 = vec4<i32>(bitcast<i32>(p.scalar4));
    let v5 = vec4<i32>(bitcast<i32>(p.scalar5));
    let v6 = vec4<i32>(bitcast<i32>(p.scalar6));
    let v7 = vec4<i32>(bitcast<i32>(p.scalar7));
    let v9 = v0 < v1;
    let v10 = v0 + v2;
    let v11 = select(v0, v10, v9);
    let v12 = min(max(v11, v1), v3);
    let v13 = v0 + v4;
    let v14 = v13 < v5;
    let v15 = v6 + v13;
    let v16 = select(v13, v15, v14);
    let v17 = min(max(v16, v5), v7);
    let at_v18 = p.x8_offset + vec4<u32>(v12) * p.x8_index0 + vec4<u32>(v17);
    let v18 = vec4<f32>(in1[at_v18.x], in1[at_v18.y], in1[at_v18.z], in1[at_v18.w]);
    result[i] = v18;
}
