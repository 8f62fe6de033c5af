struct Params {
    pitch: u32,
    vectors: u32,
    x7_offset: u32,
    scalar1: u32,
    scalar2: u32,
    scalar3: u32,
    scalar4: u32,
    scalar5: u32,
    scalar6: u32,
    x7_index0: u32,
    scalar8: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

// The element at address `at`, from its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

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
    let v8 = vec4<u32>(p.scalar8);
    let v9 = v0 < v1;
    let v10 = v0 + v2;
    let v11 = select(v0, v10, v9);
    let v12 = min(max(v11, v1), v3);
    let v13 = v11 == v12;
    let v14 = v0 < v4;
    let v15 = v0 + v5;
    let v16 = select(v0, v15, v14);
    let v17 = min(max(v16, v4), v6);
    let v18 = v16 == v17;
    let v19 = v13 & v18;
    let at_v20 = p.x7_offset + vec4<u32>(v12) * p.x7_index0 + vec4<u32>(v17);
    let v20 = vec4<u32>(part_u8(in1[at_v20.x >> 2u], at_v20.x), part_u8(in1[at_v20.y >> 2u], at_v20.y), part_u8(in1[at_v20.z >> 2u], at_v20.z), part_u8(in1[at_v20.w >> 2u], at_v20.w));
    let v21 = select(v8, v20, v19);
    let raw = v21;
    result[i] = pack_u8(raw);
}
