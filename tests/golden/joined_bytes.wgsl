struct Params {
    pitch: u32,
    vectors: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<u32>>;

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i_0 = (id.y * p.pitch + id.x);
    if (i_0 >= p.vectors) { return; }
    let t0 = in0[i_0];
    let t1 = in1[i_0];
    let v0_0 = unpack_u8(t0.x);
    let v1_0 = unpack_u8(t1.x);
    let v0_1 = unpack_u8(t0.y);
    let v1_1 = unpack_u8(t1.y);
    let v0_2 = unpack_u8(t0.z);
    let v1_2 = unpack_u8(t1.z);
    let v0_3 = unpack_u8(t0.w);
    let v1_3 = unpack_u8(t1.w);
    let v2_0 = v0_0 < v1_0;
    let v2_1 = v0_1 < v1_1;
    let v2_2 = v0_2 < v1_2;
    let v2_3 = v0_3 < v1_3;
    let raw_0 = select(vec4<u32>(0u), vec4<u32>(1u), v2_0);
    let raw_1 = select(vec4<u32>(0u), vec4<u32>(1u), v2_1);
    let raw_2 = select(vec4<u32>(0u), vec4<u32>(1u), v2_2);
    let raw_3 = select(vec4<u32>(0u), vec4<u32>(1u), v2_3);
    result[i_0] = vec4<u32>(pack_u8(raw_0), pack_u8(raw_1), pack_u8(raw_2), pack_u8(raw_3));
}
