struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x2_offset: u32,
    x2_stride0: u32,
    scalar3: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in2: array<f32>;

// Whether floats are from -0 to -inf: as integers, these bits are the least.
fn is_negative_f32(x: vec4<f32>) -> vec4<bool> {
    return bitcast<vec4<i32>>(x) <= vec4<i32>(-8388608);
}

fn relu_f32(x: vec4<f32>) -> vec4<f32> {
    return select(x, vec4<f32>(0.0), is_negative_f32(x));
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let v2 = vec4<f32>(in2[p.x2_offset + c0 * p.x2_stride0]);
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let zero = vec4<u32>(p.zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v4 / v2) ^ zero);
    let v6 = v3 * v5;
    let v7 = relu_f32(v6);
    result[c0 * p.out_stride0 + id.x] = v7;
}
