struct Params {
    len1: u32,
    factor1: u32,
    shift1: u32,
    len2: u32,
    len3: u32,
    out_stride0: u32,
    out_stride1: u32,
    out_stride2: u32,
    x1_offset: u32,
    x1_stride1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let id = vec3<u32>(group.x * 2u + (local & 1u), group.y * 128u + (local >> 1u), group.z);
    let first = id.x * 4u;
    let c2 = id.y;
    if ((first >= p.len3) | (c2 >= p.len2)) { return; }
    let q_c1 = quotient(id.z, p.factor1, p.shift1);
    let c1 = id.z - q_c1 * p.len1;
    let c0 = q_c1;
    let v0 = in0[c0 * p.out_stride0 + c1 * p.out_stride1 + c2 * p.out_stride2 + id.x];
    let v1 = in1[p.x1_offset + c1 * p.x1_stride1 + id.x];
    let v2 = v0 + v1;
    result[c0 * p.out_stride0 + c1 * p.out_stride1 + c2 * p.out_stride2 + id.x] = v2;
}
