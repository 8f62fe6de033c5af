struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    columns_factor: u32,
    columns_shift: u32,
    positions: u32,
    positions_factor: u32,
    positions_shift: u32,
    inner: u32,
    inner_factor: u32,
    inner_shift: u32,
    run: u32,
    block: u32,
    keep: u32,
    keep_shift: u32,
    apart: u32,
    step: u32,
    leaves: u32,
    position_stride: u32,
    identity: u32,
    identity_high: u32,
    len0: u32,
    len1: u32,
    len2: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x1_offset: u32,
    x1_stride1: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

// That of one product.
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// The same of one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

// The same where n may be divided by 1, which a factor of 0 stands for.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
}

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
    v1: vec4<f32>,
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0), opaque_f32(a.v1 + b.v1));
}

fn element(c0: u32, x: u32, at: u32) -> Values {
    let c1 = at;
    let t1 = in1[p.x1_offset + c1 * p.x1_stride1 + x];
    let v0 = vec4<f32>(in0[p.x0_offset + c0 * p.x0_stride0 + c1 * p.x0_stride1]);
    let v1_0 = bitcast<vec4<f32>>(unpack_u32(t1.xy));
    let v1_1 = bitcast<vec4<f32>>(unpack_u32(t1.zw));
    let zero = vec4<u32>(p.zero);
    let v2_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1_0) ^ zero);
    let v2_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1_1) ^ zero);
    return Values(v2_0, v2_1);
}

fn hold(place: u32, turn: u32, turns: u32, own: Values) -> Values {
    var all = own;
    var at = turn;
    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {
        at -= half;
        all = combine(Values(held_f32_0[(place + at) * 32u + own_place], held_f32_1[(place + at) * 32u + own_place]), all);
    }
    held_f32_0[(place + at) * 32u + own_place] = all.v0;
    held_f32_1[(place + at) * 32u + own_place] = all.v1;
    return all;
}

fn fold(c0: u32, x: u32, begin: u32) -> Values {
    var all: Values;
    for (var j = 0u; j < p.leaves; j++) {
        let at = begin + j * p.step;
        let a0 = element(c0, x, at);
        let a2 = element(c0, x, at + 2u * p.apart);
        let a4 = element(c0, x, at + 4u * p.apart);
        let a6 = element(c0, x, at + 6u * p.apart);
        let a8 = element(c0, x, at + 8u * p.apart);
        let a8_0 = combine(a0, a8);
        let a10 = element(c0, x, at + 10u * p.apart);
        let a8_2 = combine(a2, a10);
        let a12 = element(c0, x, at + 12u * p.apart);
        let a8_4 = combine(a4, a12);
        let a4_0 = combine(a8_0, a8_4);
        let a14 = element(c0, x, at + 14u * p.apart);
        let a8_6 = combine(a6, a14);
        let a4_2 = combine(a8_2, a8_6);
        let a2_0 = combine(a4_0, a4_2);
        let a1 = element(c0, x, at + 1u * p.apart);
        let a3 = element(c0, x, at + 3u * p.apart);
        let a5 = element(c0, x, at + 5u * p.apart);
        let a7 = element(c0, x, at + 7u * p.apart);
        let a9 = element(c0, x, at + 9u * p.apart);
        let a8_1 = combine(a1, a9);
        let a11 = element(c0, x, at + 11u * p.apart);
        let a8_3 = combine(a3, a11);
        let a13 = element(c0, x, at + 13u * p.apart);
        let a8_5 = combine(a5, a13);
        let a4_1 = combine(a8_1, a8_5);
        let a15 = element(c0, x, at + 15u * p.apart);
        let a8_7 = combine(a7, a15);
        let a4_3 = combine(a8_3, a8_7);
        let a2_1 = combine(a4_1, a4_3);
        let a1_0 = combine(a2_0, a2_1);
        all = hold(0u, j, p.leaves, a1_0);
    }
    return all;
}

var<workgroup> held_f32_0: array<vec4<f32>, 1024>;
var<workgroup> held_f32_1: array<vec4<f32>, 1024>;
var<private> own_place: u32;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    own_place = local;
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_x = share(i, p.columns_factor, p.columns_shift);
    let x = i - q_x * p.columns;
    let q_position = share(q_x, p.positions_factor, p.positions_shift);
    let position = q_x - q_position * p.positions;
    let c0 = q_position;
    let begin = (position >> p.keep_shift) * p.block + (position & (p.keep - 1u));
    var v = fold(c0, x, begin);
    result[c0 * p.out_stride0 + position * p.position_stride + x * 2u + 0u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v0)));
    result[c0 * p.out_stride0 + position * p.position_stride + x * 2u + 1u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v1)));
}
