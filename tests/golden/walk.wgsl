struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x13_offset: u32,
    x14_offset: u32,
    x14_stride0: u32,
    scalar0: u32,
    scalar2: u32,
    scalar3: u32,
    scalar4: u32,
    scalar5: u32,
    scalar6: u32,
    scalar7: u32,
    scalar8: u32,
    scalar9: u32,
    scalar10: u32,
    scalar11: u32,
    scalar12: u32,
    x13_index0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

// The element at address `at`, from its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

fn shr_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return a >> min(bitcast<vec4<u32>>(b), vec4<u32>(31u));
}

struct States0 {
    s0: vec4<i32>,
    s1: vec4<f32>,
}

fn repeat0(turns: vec4<u32>, a0: vec4<i32>, a1: vec4<f32>, a2: vec4<i32>, a3: vec4<i32>, a4: vec4<i32>, a5: vec4<i32>, a6: vec4<i32>, a7: vec4<i32>, a8: vec4<i32>, a9: vec4<i32>, a10: vec4<i32>, a11: vec4<i32>, a12: vec4<u32>, a13: vec4<u32>) -> States0 {
    let zero = vec4<u32>(p.zero);
    var s0 = a0;
    var s1 = a1;
    for (var turn = 0u; turn < turns.x; turn++) {
        let v14 = shr_i32(s0, a2);
        let v15 = v14 + a3;
        let v16 = v14 < a4;
        let v17 = select(v14, v15, v16);
        let v18 = min(max(v17, a4), a5);
        let v19 = s0 + a6;
        let v20 = s0 < a7;
        let v21 = select(s0, v19, v20);
        let v22 = min(max(v21, a7), a8);
        let at_v23 = a12 + vec4<u32>(v22) * p.x13_index0 + vec4<u32>(v18);
        let v23 = vec4<u32>(part_u8(in0[at_v23.x >> 2u], at_v23.x), part_u8(in0[at_v23.y >> 2u], at_v23.y), part_u8(in0[at_v23.z >> 2u], at_v23.z), part_u8(in0[at_v23.w >> 2u], at_v23.w));
        let v24 = bitcast<vec4<i32>>(v23);
        let v25 = s0 + v24;
        let v26 = s0 + a9;
        let v27 = s0 < a10;
        let v28 = select(s0, v26, v27);
        let v29 = min(max(v28, a10), a11);
        let at_v30 = a13 + vec4<u32>(v29);
        let v30 = vec4<f32>(in1[at_v30.x], in1[at_v30.y], in1[at_v30.z], in1[at_v30.w]);
        let v31 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(s1 + v30) ^ zero);
        let n0 = v25;
        let n1 = v31;
        s0 = n0;
        s1 = n1;
    }
    return States0(s0, s1);
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = vec4<u32>(p.scalar0);
    let v1 = vec4<i32>((p.x1_offset) + lane);
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v3 = vec4<i32>(bitcast<i32>(p.scalar3));
    let v4 = vec4<i32>(bitcast<i32>(p.scalar4));
    let v5 = vec4<i32>(bitcast<i32>(p.scalar5));
    let v6 = vec4<i32>(bitcast<i32>(p.scalar6));
    let v7 = vec4<i32>(bitcast<i32>(p.scalar7));
    let v8 = vec4<i32>(bitcast<i32>(p.scalar8));
    let v9 = vec4<i32>(bitcast<i32>(p.scalar9));
    let v10 = vec4<i32>(bitcast<i32>(p.scalar10));
    let v11 = vec4<i32>(bitcast<i32>(p.scalar11));
    let v12 = vec4<i32>(bitcast<i32>(p.scalar12));
    let v15 = repeat0(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, vec4<u32>((p.x13_offset) + vec4<u32>(0u)), vec4<u32>((p.x14_offset + c0 * p.x14_stride0) + vec4<u32>(0u)));
    let v16 = v15.s1;
    result[c0 * p.out_stride0 + id.x] = v16;
}
