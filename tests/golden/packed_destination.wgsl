struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    out_stride1: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    scalar1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<atomic<u32>>;

// The element at address `at`, out of its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

// The bits that the element at address `at` has in its word.
fn mask_u8(at: u32) -> u32 {
    return 255u << ((at & 3u) * 8u);
}

// An element moved to the bits of address `at`.
fn place_u8(v: u32, at: u32) -> u32 {
    return v << ((at & 3u) * 8u);
}

@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if (first >= p.len1 || c0 >= p.len0) { return; }
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at0 = (p.x0_offset + c0 * p.x0_stride0) + lane * p.x0_stride1;
    let v0 = vec4<u32>(part_u8(atomicLoad(&result[at0.x >> 2u]), at0.x), part_u8(atomicLoad(&result[at0.y >> 2u]), at0.y), part_u8(atomicLoad(&result[at0.z >> 2u]), at0.z), part_u8(atomicLoad(&result[at0.w >> 2u]), at0.w));
    let v1 = vec4<u32>(p.scalar1);
    let v2 = (v0 ^ v1) & vec4<u32>(0xffu);
    let raw = v2;
    let at = (p.out_offset + c0 * p.out_stride0) + lane * p.out_stride1;
    atomicAnd(&result[at.x >> 2u], ~mask_u8(at.x)); atomicOr(&result[at.x >> 2u], place_u8(raw.x, at.x));
    if (first + 1u < p.len1) { atomicAnd(&result[at.y >> 2u], ~mask_u8(at.y)); atomicOr(&result[at.y >> 2u], place_u8(raw.y, at.y)); }
    if (first + 2u < p.len1) { atomicAnd(&result[at.z >> 2u], ~mask_u8(at.z)); atomicOr(&result[at.z >> 2u], place_u8(raw.z, at.z)); }
    if (first + 3u < p.len1) { atomicAnd(&result[at.w >> 2u], ~mask_u8(at.w)); atomicOr(&result[at.w >> 2u], place_u8(raw.w, at.w)); }
}
