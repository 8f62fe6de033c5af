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
    x0_offset: u32,
    x0_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u64>>;

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

fn element(c0: u32, at: u32) -> Values {
    let x = at;
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    return Values(v0_0, v0_1);
}

fn fold(c0: u32, begin: u32) -> Values {
    let a0 = element(c0, begin);
    let a1 = element(c0, begin + 1u * p.apart);
    let a2 = element(c0, begin + 2u * p.apart);
    let a3 = element(c0, begin + 3u * p.apart);
    let a4 = element(c0, begin + 4u * p.apart);
    let a5 = element(c0, begin + 5u * p.apart);
    let a6 = element(c0, begin + 6u * p.apart);
    let a7 = element(c0, begin + 7u * p.apart);
    let a8 = element(c0, begin + 8u * p.apart);
    let a9 = element(c0, begin + 9u * p.apart);
    let a10 = element(c0, begin + 10u * p.apart);
    let a11 = element(c0, begin + 11u * p.apart);
    let a12 = element(c0, begin + 12u * p.apart);
    let a13 = element(c0, begin + 13u * p.apart);
    let a14 = element(c0, begin + 14u * p.apart);
    let a15 = element(c0, begin + 15u * p.apart);
    let a16 = element(c0, begin + 16u * p.apart);
    let a16_0 = combine(a0, a16);
    let a17 = element(c0, begin + 17u * p.apart);
    let a16_1 = combine(a1, a17);
    let a18 = element(c0, begin + 18u * p.apart);
    let a16_2 = combine(a2, a18);
    let a19 = element(c0, begin + 19u * p.apart);
    let a16_3 = combine(a3, a19);
    let a20 = element(c0, begin + 20u * p.apart);
    let a16_4 = combine(a4, a20);
    let a21 = element(c0, begin + 21u * p.apart);
    let a16_5 = combine(a5, a21);
    let a22 = element(c0, begin + 22u * p.apart);
    let a16_6 = combine(a6, a22);
    let a23 = element(c0, begin + 23u * p.apart);
    let a16_7 = combine(a7, a23);
    let a24 = element(c0, begin + 24u * p.apart);
    let a16_8 = combine(a8, a24);
    let a8_0 = combine(a16_0, a16_8);
    let a25 = element(c0, begin + 25u * p.apart);
    let a16_9 = combine(a9, a25);
    let a8_1 = combine(a16_1, a16_9);
    let a26 = element(c0, begin + 26u * p.apart);
    let a16_10 = combine(a10, a26);
    let a8_2 = combine(a16_2, a16_10);
    let a27 = element(c0, begin + 27u * p.apart);
    let a16_11 = combine(a11, a27);
    let a8_3 = combine(a16_3, a16_11);
    let a28 = element(c0, begin + 28u * p.apart);
    let a16_12 = combine(a12, a28);
    let a8_4 = combine(a16_4, a16_12);
    let a4_0 = combine(a8_0, a8_4);
    let a29 = element(c0, begin + 29u * p.apart);
    let a16_13 = combine(a13, a29);
    let a8_5 = combine(a16_5, a16_13);
    let a4_1 = combine(a8_1, a8_5);
    let a30 = element(c0, begin + 30u * p.apart);
    let a16_14 = combine(a14, a30);
    let a8_6 = combine(a16_6, a16_14);
    let a4_2 = combine(a8_2, a8_6);
    let a2_0 = combine(a4_0, a4_2);
    let a31 = element(c0, begin + 31u * p.apart);
    let a16_15 = combine(a15, a31);
    let a8_7 = combine(a16_7, a16_15);
    let a4_3 = combine(a8_3, a8_7);
    let a2_1 = combine(a4_1, a4_3);
    let a1_0 = combine(a2_0, a2_1);
    return a1_0;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let member = i & (p.keep - 1u);
    let q_position = share((i >> p.keep_shift), p.positions_factor, p.positions_shift);
    let position = (i >> p.keep_shift) - q_position * p.positions;
    let c0 = q_position;
    let begin = position * p.block + member;
    var v = fold(c0, begin);
    result[i * 2u + 0u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v0)));
    result[i * 2u + 1u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v1)));
}
