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

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// The same with another 0 for each n, so that two of a value are not the same to a compiler.
fn apart_f32(x: vec4<f32>, n: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero << n));
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(max(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if (first >= p.len1 || c0 >= p.len0) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[c0 * p.out_stride0 + id.x];
    let v2 = in2[p.x2_offset + id.x];
    let v3 = vec4<f32>(in3[p.x3_offset + c0 * p.x3_stride0]);
    let v4 = v0 * v1;
    let v5 = opaque_f32(abs(v4));
    let v6 = opaque_f32(v0 * v2);
    let v7 = apart_f32(max_f32(v6, v3), 1u);
    let v8 = v5 + v7;
    result[c0 * p.out_stride0 + id.x] = v8;
}
