struct Params {
    pitch: u32,
    vectors: u32,
    band_vectors: u32,
    len1: u32,
    x1_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

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
    let v0 = in0[i];
    let at_v1 = p.x1_offset + c1;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    let v2 = v0 + v1;
    result[i] = v2;
}
