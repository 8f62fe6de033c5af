struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    positions: u32,
    run: u32,
    block: u32,
    keep: u32,
    step: u32,
    apart: u32,
    leaves: u32,
    position_stride: u32,
    identity: u32,
    identity_high: u32,
    len0: u32,
    len1: u32,
    x0_offset: u32,
    x0_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

const SIGN_f32: u32 = 0x80000000u;

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

struct Values {
    v0: vec4<f32>,
}

fn element(x: u32, at: u32) -> Values {
    let inside = at;
    let c0 = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v1 = in1[x];
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values(v2);
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let x = i % p.columns;
    let after_x = i / p.columns;
    let position = after_x;
    let begin = (position / p.keep) * p.block + position % p.keep;
    var v: Values;
    {
        let at = begin;
        let a0 = element(x, at);
        let a1 = element(x, at + 1u * p.apart);
        let a2 = element(x, at + 2u * p.apart);
        let a3 = element(x, at + 3u * p.apart);
        let a4 = element(x, at + 4u * p.apart);
        let a5 = element(x, at + 5u * p.apart);
        let a6 = element(x, at + 6u * p.apart);
        let a7 = element(x, at + 7u * p.apart);
        let a8 = element(x, at + 8u * p.apart);
        let a9 = element(x, at + 9u * p.apart);
        let a10 = element(x, at + 10u * p.apart);
        let a11 = element(x, at + 11u * p.apart);
        let a12 = element(x, at + 12u * p.apart);
        let a13 = element(x, at + 13u * p.apart);
        let a14 = element(x, at + 14u * p.apart);
        let a15 = element(x, at + 15u * p.apart);
        let ah0 = combine(a0, a8);
        let ah1 = combine(a1, a9);
        let ah2 = combine(a2, a10);
        let ah3 = combine(a3, a11);
        let ah4 = combine(a4, a12);
        let ah5 = combine(a5, a13);
        let ah6 = combine(a6, a14);
        let ah7 = combine(a7, a15);
        let ahh0 = combine(ah0, ah4);
        let ahh1 = combine(ah1, ah5);
        let ahh2 = combine(ah2, ah6);
        let ahh3 = combine(ah3, ah7);
        let ahhh0 = combine(ahh0, ahh2);
        let ahhh1 = combine(ahh1, ahh3);
        let ahhhh0 = combine(ahhh0, ahhh1);
        v = ahhhh0;
    }
    result[position * p.position_stride + x] = positive_zero_f32(v.v0);
}
