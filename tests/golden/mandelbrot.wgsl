struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x6_offset: u32,
    scalar0: u32,
    scalar2: u32,
    scalar3: u32,
    scalar4: u32,
    scalar5: u32,
    scalar7: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const INFINITE_f32: u32 = 0x7f800000u;

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn are_numbers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return max(magnitude_bits_f32(a), magnitude_bits_f32(b)) <= vec4<u32>(INFINITE_f32);
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a <= b) & are_numbers_f32(a, b);
}

struct States0 {
    s0: vec4<f32>,
    s1: vec4<f32>,
    s2: vec4<u32>,
}

fn repeat0(turns: vec4<u32>, a0: vec4<f32>, a1: vec4<f32>, a2: vec4<u32>, a3: vec4<f32>, a4: vec4<f32>, a5: vec4<f32>, a6: vec4<f32>, a7: vec4<u32>) -> States0 {
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    var s0 = a0;
    var s1 = a1;
    var s2 = a2;
    for (var turn = 0u; turn < turns.x; turn++) {
        let v8 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(s1 * s1) ^ zero);
        let v9 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(s0 * s0) ^ zero1);
        let v10 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v9 + v8) ^ zero);
        let v11 = le_f32(v10, a3);
        let open = v11;
        if (!any(open)) { break; }
        let v12 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v9 - v8) ^ zero);
        let v13 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v12 + a4) ^ zero);
        let v14 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(s0 * s1) ^ zero);
        let v15 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v14 * a5) ^ zero);
        let v16 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v15 + a6) ^ zero);
        let v17 = s2 + a7;
        let n0 = select(s0, v13, open);
        let n1 = select(s1, v16, open);
        let n2 = select(s2, v17, open);
        s0 = n0;
        s1 = n1;
        s2 = n2;
    }
    return States0(s0, s1, s2);
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = vec4<u32>(p.scalar0);
    let v1 = in0[c0 * p.out_stride0 + id.x];
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v3 = vec4<u32>(p.scalar3);
    let v4 = vec4<f32>(bitcast<f32>(p.scalar4));
    let v5 = vec4<f32>(bitcast<f32>(p.scalar5));
    let v6 = in1[p.x6_offset + id.x];
    let v7 = vec4<u32>(p.scalar7);
    let zero = vec4<u32>(p.zero);
    let v8 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 * v2) ^ zero);
    let v9 = repeat0(v0, v8, v8, v3, v4, v1, v5, v6, v7);
    let v10 = v9.s2;
    result[c0 * p.out_stride0 + id.x] = v10;
}
