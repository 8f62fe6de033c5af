struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_offset: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    x1_stride0: u32,
    x1_stride1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

fn vector(first: u32, row: u32, z: u32, v1: vec4<f32>) {
    let c0 = row;
    if (first >= p.len1 || c0 >= p.len0) { return; }
    let v0 = in0[(p.x0_offset + c0 * p.x0_stride0 + first) >> 2u];
    let v2 = v0 + v1;
    result[(p.out_offset + c0 * p.out_stride0 + first) >> 2u] = v2;
}

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let row = (id.z * p.pitch + id.y) * 4u;
    if (first >= p.len1 || row >= p.len0) { return; }
    let column = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let t1_x = in1[(p.x1_offset + row + column.x * p.x1_stride1) >> 2u];
    let t1_y = in1[(p.x1_offset + row + column.y * p.x1_stride1) >> 2u];
    let t1_z = in1[(p.x1_offset + row + column.z * p.x1_stride1) >> 2u];
    let t1_w = in1[(p.x1_offset + row + column.w * p.x1_stride1) >> 2u];
    vector(first, row + 0u, 0u, vec4<f32>(t1_x.x, t1_y.x, t1_z.x, t1_w.x));
    vector(first, row + 1u, 0u, vec4<f32>(t1_x.y, t1_y.y, t1_z.y, t1_w.y));
    vector(first, row + 2u, 0u, vec4<f32>(t1_x.z, t1_y.z, t1_z.z, t1_w.z));
    vector(first, row + 3u, 0u, vec4<f32>(t1_x.w, t1_y.w, t1_z.w, t1_w.w));
}
