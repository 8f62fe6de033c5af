struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    items: u32,
    identity0: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> words: Params;
var<private> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

const SIGN_f32: u32 = 0x80000000u;

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming `x * (a * b)`. It
// stands where a rewrite would exceed the error bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

struct Values0 {
    v0: vec4<f32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(opaque_f32(a.v0 + b.v0));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let x = at;
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[p.x0_offset + c0 * p.x0_stride0 + x]));
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + x]));
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values0(v3);
}

fn reduce(item: u32) {
    let c0 = item;
    let zero = vec4<u32>(p.zero);
    let begin0 = 0u;
    let end0 = (p.row + 3u) / 4u;
    var a0_0 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_1 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_2 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_3 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_4 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_5 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_6 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_7 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_8 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_9 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_10 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_11 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_12 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_13 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_14 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    var a0_15 = Values0(vec4<f32>(bitcast<f32>(p.identity0)));
    for (var at = begin0; at < end0; at += 16u) {
        a0_0 = combine0(a0_0, element0(c0, at));
        a0_1 = combine0(a0_1, element0(c0, at + 1u));
        a0_2 = combine0(a0_2, element0(c0, at + 2u));
        a0_3 = combine0(a0_3, element0(c0, at + 3u));
        a0_4 = combine0(a0_4, element0(c0, at + 4u));
        a0_5 = combine0(a0_5, element0(c0, at + 5u));
        a0_6 = combine0(a0_6, element0(c0, at + 6u));
        a0_7 = combine0(a0_7, element0(c0, at + 7u));
        a0_8 = combine0(a0_8, element0(c0, at + 8u));
        a0_9 = combine0(a0_9, element0(c0, at + 9u));
        a0_10 = combine0(a0_10, element0(c0, at + 10u));
        a0_11 = combine0(a0_11, element0(c0, at + 11u));
        a0_12 = combine0(a0_12, element0(c0, at + 12u));
        a0_13 = combine0(a0_13, element0(c0, at + 13u));
        a0_14 = combine0(a0_14, element0(c0, at + 14u));
        a0_15 = combine0(a0_15, element0(c0, at + 15u));
    }
    a0_0 = combine0(a0_0, a0_8);
    a0_1 = combine0(a0_1, a0_9);
    a0_2 = combine0(a0_2, a0_10);
    a0_3 = combine0(a0_3, a0_11);
    a0_4 = combine0(a0_4, a0_12);
    a0_5 = combine0(a0_5, a0_13);
    a0_6 = combine0(a0_6, a0_14);
    a0_7 = combine0(a0_7, a0_15);
    a0_0 = combine0(a0_0, a0_4);
    a0_1 = combine0(a0_1, a0_5);
    a0_2 = combine0(a0_2, a0_6);
    a0_3 = combine0(a0_3, a0_7);
    a0_0 = combine0(a0_0, a0_2);
    a0_1 = combine0(a0_1, a0_3);
    a0_0 = combine0(a0_0, a0_1);
    var f0 = a0_0;
    f0 = combine0(f0, Values0(f0.v0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz));
    let v2 = positive_zero_f32(f0.v0);
    result[c0 * p.out_stride0] = (v2).x;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    p = words;
    let first = (id.y * p.pitch + id.x) * p.items;
    let end = min(first + p.items, p.count);
    for (var item = first; item < end; item++) { reduce(item); }
}
