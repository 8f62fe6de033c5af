struct Params {
    pitch: u32,
    vectors: u32,
    band_vectors: u32,
    len1: u32,
    x2_offset: u32,
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

// The element at address `at`, from its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let band = (id.z * p.pitch + id.y);
    let i = band * p.band_vectors + id.x;
    if ((id.x >= p.band_vectors) | (i >= p.vectors)) { return; }
    let at = id.x * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let r = select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1))
        + select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1 * 2u))
        + select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len1 * 3u));
    let c1 = at - r * p.len1;
    let v0 = unpack_u8(in0[i]);
    let v1 = vec4<u32>(p.scalar1);
    let at_v2 = p.x2_offset + c1;
    let v2 = vec4<u32>(part_u8(in1[at_v2.x >> 2u], at_v2.x), part_u8(in1[at_v2.y >> 2u], at_v2.y), part_u8(in1[at_v2.z >> 2u], at_v2.z), part_u8(in1[at_v2.w >> 2u], at_v2.w)) != vec4<u32>(0u);
    let v3 = v0 == v1;
    let v4 = v2 & v3;
    let raw = select(vec4<u32>(0u), vec4<u32>(1u), v4);
    result[i] = pack_u8(raw);
}
