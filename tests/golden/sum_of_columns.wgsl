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
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
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
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0));
}

fn element(x: u32, at: u32) -> Values {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v1 = in1[x];
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values(v2);
}

fn fold(x: u32, begin: u32) -> Values {
    let a0 = element(x, begin);
    let a2 = element(x, begin + 2u * p.apart);
    let a4 = element(x, begin + 4u * p.apart);
    let a6 = element(x, begin + 6u * p.apart);
    let a8 = element(x, begin + 8u * p.apart);
    let a8_0 = combine(a0, a8);
    let a10 = element(x, begin + 10u * p.apart);
    let a8_2 = combine(a2, a10);
    let a12 = element(x, begin + 12u * p.apart);
    let a8_4 = combine(a4, a12);
    let a4_0 = combine(a8_0, a8_4);
    let a14 = element(x, begin + 14u * p.apart);
    let a8_6 = combine(a6, a14);
    let a4_2 = combine(a8_2, a8_6);
    let a2_0 = combine(a4_0, a4_2);
    let a1 = element(x, begin + 1u * p.apart);
    let a3 = element(x, begin + 3u * p.apart);
    let a5 = element(x, begin + 5u * p.apart);
    let a7 = element(x, begin + 7u * p.apart);
    let a9 = element(x, begin + 9u * p.apart);
    let a8_1 = combine(a1, a9);
    let a11 = element(x, begin + 11u * p.apart);
    let a8_3 = combine(a3, a11);
    let a13 = element(x, begin + 13u * p.apart);
    let a8_5 = combine(a5, a13);
    let a4_1 = combine(a8_1, a8_5);
    let a15 = element(x, begin + 15u * p.apart);
    let a8_7 = combine(a7, a15);
    let a4_3 = combine(a8_3, a8_7);
    let a2_1 = combine(a4_1, a4_3);
    let a1_0 = combine(a2_0, a2_1);
    return a1_0;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_x = share(i, p.columns_factor, p.columns_shift);
    let x = i - q_x * p.columns;
    let position = q_x;
    let begin = (position >> p.keep_shift) * p.block + (position & (p.keep - 1u));
    var v = fold(x, begin);
    result[position * p.position_stride + x] = positive_zero_f32(v.v0);
}
