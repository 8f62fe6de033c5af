struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    run: u32,
    block: u32,
    len0: u32,
    len1: u32,
    identity0: u32,
    identity1: u32,
    identity2: u32,
    out_stride0: u32,
    scalar2: u32,
    scalar5: u32,
    scalar6: u32,
    scalar7: u32,
    scalar8: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const QUIET_f32: u32 = 0x7fc00000u;

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn is_inf_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) == vec4<u32>(INFINITE_f32);
}

// NaN, made where no compiler can fold it: from an operand.
fn nan_f32(from_any: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(from_any) | vec4<u32>(QUIET_f32));
}

// The magnitude of `x` with the sign of `sign_of`.
fn copysign_f32(x: vec4<f32>, sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(magnitude_bits_f32(x) | (bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(max(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn sqrt_f32(x: vec4<f32>) -> vec4<f32> {
    let negative = (x < vec4<f32>(0.0)) & !is_nan_f32(x);
    return select(select(sqrt(x), nan_f32(x), negative | is_nan_f32(x)), copysign_f32(vec4<f32>(0.0), x), x == vec4<f32>(0.0));
}

// +0 for -0, and other numbers as they are.
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

fn element0(x: u32, at: u32) -> Values0 {
    let inside = at;
    let c0 = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v0 = in0[c0 * p.out_stride0 + x];
    return Values0(v0);
}

fn hold0(place: u32, turn: u32, turns: u32, own: Values0) -> Values0 {
    var all = own;
    var at = turn;
    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {
        at -= half;
        all = combine0(Values0(held_f32_0[(place + at) * 64u + own_place]), all);
    }
    held_f32_0[(place + at) * 64u + own_place] = all.v0;
    return all;
}

fn fold0(x: u32, begin: u32) -> Values0 {
    var all: Values0;
    for (var j = 0u; j < (p.block / 16u); j++) {
        let at = begin + j * 1u;
        let a0 = element0(x, at);
        let a2 = element0(x, at + 2u * (p.block / 16u));
        let a4 = element0(x, at + 4u * (p.block / 16u));
        let a6 = element0(x, at + 6u * (p.block / 16u));
        let a8 = element0(x, at + 8u * (p.block / 16u));
        let a8_0 = combine0(a0, a8);
        let a10 = element0(x, at + 10u * (p.block / 16u));
        let a8_2 = combine0(a2, a10);
        let a12 = element0(x, at + 12u * (p.block / 16u));
        let a8_4 = combine0(a4, a12);
        let a4_0 = combine0(a8_0, a8_4);
        let a14 = element0(x, at + 14u * (p.block / 16u));
        let a8_6 = combine0(a6, a14);
        let a4_2 = combine0(a8_2, a8_6);
        let a2_0 = combine0(a4_0, a4_2);
        let a1 = element0(x, at + 1u * (p.block / 16u));
        let a3 = element0(x, at + 3u * (p.block / 16u));
        let a5 = element0(x, at + 5u * (p.block / 16u));
        let a7 = element0(x, at + 7u * (p.block / 16u));
        let a9 = element0(x, at + 9u * (p.block / 16u));
        let a8_1 = combine0(a1, a9);
        let a11 = element0(x, at + 11u * (p.block / 16u));
        let a8_3 = combine0(a3, a11);
        let a13 = element0(x, at + 13u * (p.block / 16u));
        let a8_5 = combine0(a5, a13);
        let a4_1 = combine0(a8_1, a8_5);
        let a15 = element0(x, at + 15u * (p.block / 16u));
        let a8_7 = combine0(a7, a15);
        let a4_3 = combine0(a8_3, a8_7);
        let a2_1 = combine0(a4_1, a4_3);
        let a1_0 = combine0(a2_0, a2_1);
        all = hold0(0u, j, (p.block / 16u), a1_0);
    }
    return all;
}

struct Values1 {
    v0: vec4<f32>,
    v1: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0), opaque_f32(a.v1 + b.v1));
}

fn element1(x: u32, v9: vec4<f32>, at: u32) -> Values1 {
    let inside = at;
    let c0 = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v0 = in0[c0 * p.out_stride0 + x];
    let v10 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v9) ^ zero);
    let v11 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v10 * v10) ^ zero);
    return Values1(v10, v11);
}

fn hold1(place: u32, turn: u32, turns: u32, own: Values1) -> Values1 {
    var all = own;
    var at = turn;
    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {
        at -= half;
        all = combine1(Values1(held_f32_0[(place + at) * 64u + own_place], held_f32_1[(place + at) * 64u + own_place]), all);
    }
    held_f32_0[(place + at) * 64u + own_place] = all.v0;
    held_f32_1[(place + at) * 64u + own_place] = all.v1;
    return all;
}

fn fold1(x: u32, v9: vec4<f32>, begin: u32) -> Values1 {
    var all: Values1;
    for (var j = 0u; j < (p.block / 16u); j++) {
        let at = begin + j * 1u;
        let a0 = element1(x, v9, at);
        let a2 = element1(x, v9, at + 2u * (p.block / 16u));
        let a4 = element1(x, v9, at + 4u * (p.block / 16u));
        let a6 = element1(x, v9, at + 6u * (p.block / 16u));
        let a8 = element1(x, v9, at + 8u * (p.block / 16u));
        let a8_0 = combine1(a0, a8);
        let a10 = element1(x, v9, at + 10u * (p.block / 16u));
        let a8_2 = combine1(a2, a10);
        let a12 = element1(x, v9, at + 12u * (p.block / 16u));
        let a8_4 = combine1(a4, a12);
        let a4_0 = combine1(a8_0, a8_4);
        let a14 = element1(x, v9, at + 14u * (p.block / 16u));
        let a8_6 = combine1(a6, a14);
        let a4_2 = combine1(a8_2, a8_6);
        let a2_0 = combine1(a4_0, a4_2);
        let a1 = element1(x, v9, at + 1u * (p.block / 16u));
        let a3 = element1(x, v9, at + 3u * (p.block / 16u));
        let a5 = element1(x, v9, at + 5u * (p.block / 16u));
        let a7 = element1(x, v9, at + 7u * (p.block / 16u));
        let a9 = element1(x, v9, at + 9u * (p.block / 16u));
        let a8_1 = combine1(a1, a9);
        let a11 = element1(x, v9, at + 11u * (p.block / 16u));
        let a8_3 = combine1(a3, a11);
        let a13 = element1(x, v9, at + 13u * (p.block / 16u));
        let a8_5 = combine1(a5, a13);
        let a4_1 = combine1(a8_1, a8_5);
        let a15 = element1(x, v9, at + 15u * (p.block / 16u));
        let a8_7 = combine1(a7, a15);
        let a4_3 = combine1(a8_3, a8_7);
        let a2_1 = combine1(a4_1, a4_3);
        let a1_0 = combine1(a2_0, a2_1);
        all = hold1(0u, j, (p.block / 16u), a1_0);
    }
    return all;
}

fn give(x: u32, v12: vec4<f32>, v21: vec4<f32>, at: u32) {
    let inside = at;
    let c0 = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v0 = in0[c0 * p.out_stride0 + x];
    let v13 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v12) ^ zero);
    let v22 = v13 / v21;
    result[c0 * p.out_stride0 + x] = v22;
}

var<workgroup> held_f32_0: array<vec4<f32>, 128>;
var<workgroup> held_f32_1: array<vec4<f32>, 128>;
var<private> own_place: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own_place = local;
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let x = i;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v5 = vec4<f32>(bitcast<f32>(p.scalar5));
    let v6 = vec4<f32>(bitcast<f32>(p.scalar6));
    let v7 = vec4<f32>(bitcast<f32>(p.scalar7));
    let v8 = vec4<f32>(bitcast<f32>(p.scalar8));
    var f0 = fold0(x, 0u);
    let v1 = positive_zero_f32(f0.v0);
    let v9 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 / v2) ^ zero);
    let v12 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 / v5) ^ zero);
    var f1 = fold1(x, v9, 0u);
    let v3 = positive_zero_f32(f1.v0);
    let v4 = positive_zero_f32(f1.v1);
    let v14 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 * v3) ^ zero);
    let v15 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v14 / v6) ^ zero);
    let v16 = is_inf_f32(v15);
    let v17 = v4 - v15;
    let v18 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(select(v17, v4, v16)) ^ zero16);
    let v19 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(max_f32(v18, v7)) ^ zero);
    let v20 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v19 / v8) ^ zero);
    let v21 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(sqrt_f32(v20)) ^ zero1);
    let end = p.run;
    for (var turn = 0u; turn < end; turn += 8u) {
        give(x, v12, v21, turn);
        give(x, v12, v21, min(turn + 1u, end - 1u));
        give(x, v12, v21, min(turn + 2u, end - 1u));
        give(x, v12, v21, min(turn + 3u, end - 1u));
        give(x, v12, v21, min(turn + 4u, end - 1u));
        give(x, v12, v21, min(turn + 5u, end - 1u));
        give(x, v12, v21, min(turn + 6u, end - 1u));
        give(x, v12, v21, min(turn + 7u, end - 1u));
    }
}
