struct Params {
    pitch: u32,
    vectors: u32,
    count: u32,
    len0: u32,
    len1: u32,
    factor1: u32,
    shift1: u32,
    x2_offset: u32,
    x2_stride0: u32,
    x2_stride1: u32,
    scalar1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

// The element at address `at`, out of its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

// The same of one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    let middle = (n >> 16u) * (factor & 0xffffu) + (((n & 0xffffu) * (factor & 0xffffu)) >> 16u);
    let other = (n & 0xffffu) * (factor >> 16u) + (middle & 0xffffu);
    return ((n >> 16u) * (factor >> 16u) + (middle >> 16u) + (other >> 16u)) >> shift;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let q1 = quotient((i * 4u), p.factor1, p.shift1);
    let b1 = (i * 4u) - q1 * p.len1;
    let t1 = b1 + vec4<u32>(0u, 1u, 2u, 3u);
    let over1 = t1 >= vec4<u32>(p.len1);
    let c1 = select(t1, t1 - vec4<u32>(p.len1), over1);
    let c0 = min(q1 + select(vec4<u32>(0u), vec4<u32>(1u), over1), vec4<u32>(p.len0 - 1u));
    let v0 = unpack_u8(in0[i]);
    let v1 = vec4<u32>(p.scalar1);
    let at_v2 = p.x2_offset + c0 * p.x2_stride0 + c1 * p.x2_stride1;
    let v2 = vec4<u32>(part_u8(in1[at_v2.x >> 2u], at_v2.x), part_u8(in1[at_v2.y >> 2u], at_v2.y), part_u8(in1[at_v2.z >> 2u], at_v2.z), part_u8(in1[at_v2.w >> 2u], at_v2.w)) != vec4<u32>(0u);
    let v3 = v0 == v1;
    let v4 = v3 & v2;
    let raw = select(vec4<u32>(0u), vec4<u32>(1u), v4);
    result[i] = pack_u8(raw);
}
