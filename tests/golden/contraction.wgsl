struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x2_offset: u32,
    x3_offset: u32,
    x3_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in2: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> in3: array<f32>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const INFINITE_f32: u32 = 0x7f800000u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn greater_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let either = bits_f32(a) | bits_f32(b);
    let both = bits_f32(a) & bits_f32(b);
    return bitcast<vec4<f32>>(select(bits_f32(max(a, b)), both, (either & vec4<u32>(MAGNITUDE_f32)) == vec4<u32>(0)));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(greater_f32(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[c0 * p.out_stride0 + id.x];
    let v2 = in2[p.x2_offset + id.x];
    let v3 = vec4<f32>(in3[p.x3_offset + c0 * p.x3_stride0]);
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let v4 = v0 * v1;
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(abs(v4)) ^ zero);
    let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v2) ^ zero);
    let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(max_f32(v3, v6)) ^ zero1);
    let v8 = v5 + v7;
    result[c0 * p.out_stride0 + id.x] = v8;
}
