struct Params {
    pitch: u32,
    vectors: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

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

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let v0 = in0[i];
    let v1 = in1[i];
    let v2 = opaque_f32(v0 + v1);
    let v3 = apart_f32(v2 - v0, 1u);
    let v4 = opaque_f32(v2 - v3);
    let v5 = opaque_f32(v0 - v4);
    let v6 = apart_f32(v1 - v3, 1u);
    let v7 = v5 + v6;
    result[i] = v7;
}
