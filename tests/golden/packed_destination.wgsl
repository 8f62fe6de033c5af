struct Params {
    pitch: u32,
    count: u32,
    slots: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    out_stride1: u32,
    scalar1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let slot = id.y * p.pitch + id.x;
    if (slot >= p.count) { return; }
    let row = slot / p.slots;
    let base = p.out_offset;
    let first = (base & ~3u) + (slot - row * p.slots) * 4u;
    let r0 = first + vec4<u32>(0u, 1u, 2u, 3u) - base;
    let q0 = r0 / p.out_stride0;
    let c0 = min(q0, vec4<u32>(p.len0 - 1u));
    let r1 = r0 - q0 * p.out_stride0;
    let q1 = r1 / p.out_stride1;
    let c1 = min(q1, vec4<u32>(p.len1 - 1u));
    let r2 = r1 - q1 * p.out_stride1;
    let member = (q0 < vec4<u32>(p.len0)) & (q1 < vec4<u32>(p.len1)) & (r2 == vec4<u32>(0u));
    if (!any(member)) { return; }
    let v0 = unpack_u8(result[first >> 2u]);
    let v1 = vec4<u32>(p.scalar1);
    let v2 = (v0 ^ v1) & vec4<u32>(0xffu);
    let raw = v2;
    result[first >> 2u] = pack_u8(select(unpack_u8(result[first >> 2u]), raw, member));
}
