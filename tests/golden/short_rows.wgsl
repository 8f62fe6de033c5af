struct Params {
    pitch: u32,
    vectors: u32,
    len1: u32,
    factor1: u32,
    shift1: u32,
    x1_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read> in1: array<i32>;

fn rem_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a - (a / max(b, vec4<u32>(1u))) * b, vec4<u32>(0u), b == vec4<u32>(0u));
}

// The magnitude. For the least integer it is the integer itself, read as unsigned.
fn magnitude_i32(x: vec4<i32>) -> vec4<u32> {
    let bits = bitcast<vec4<u32>>(x);
    return select(bits, ~bits + 1u, x < vec4<i32>(0));
}

// The integer of magnitude `m`, negative where `negative` is true.
fn signed_i32(m: vec4<u32>, negative: vec4<bool>) -> vec4<i32> {
    return bitcast<vec4<i32>>(select(m, ~m + 1u, negative));
}

fn rem_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return signed_i32(rem_u32(magnitude_i32(a), magnitude_i32(b)), a < vec4<i32>(0));
}

fn rem_floor_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let r = rem_i32(a, b);
    return r + select(vec4<i32>(0), b, (r != vec4<i32>(0)) & ((a ^ b) < vec4<i32>(0)));
}

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let q1 = quotient((i * 4u), p.factor1, p.shift1);
    let b1 = (i * 4u) - q1 * p.len1;
    let t1 = b1 + vec4<u32>(0u, 1u, 2u, 3u);
    let c1 = min(t1, t1 - vec4<u32>(p.len1));
    let v0 = in0[i];
    let at_v1 = p.x1_offset + c1;
    let v1 = vec4<i32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    let v2 = rem_floor_i32(v0, v1);
    result[i] = v2;
}
