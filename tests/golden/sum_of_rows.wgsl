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
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
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

fn element(c0: u32, at: u32) -> Values {
    let x = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v1 = in1[p.x1_offset + x];
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values(v2);
}

fn fold(c0: u32, begin: u32) -> Values {
    let a0 = element(c0, begin);
    let a1 = element(c0, begin + 1u * p.apart);
    let a2 = element(c0, begin + 2u * p.apart);
    let a2_0 = combine(a0, a2);
    let a3 = element(c0, begin + 3u * p.apart);
    let a2_1 = combine(a1, a3);
    let a1_0 = combine(a2_0, a2_1);
    return a1_0;
}

var<workgroup> shared_values: array<Values, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = i % 16u;
    let item = min(i, p.count - 1u) / 16u;
    let q_position = share(item, p.positions_factor, p.positions_shift);
    let position = item - q_position * p.positions;
    let c0 = q_position;
    let begin = position * p.block + member;
    var v = fold(c0, begin);
    shared_values[local] = v;
    workgroupBarrier();
    if (member < 4u) {
        v = combine(combine(v, shared_values[local + 8u]), combine(shared_values[local + 4u], shared_values[local + 12u]));
        shared_values[local] = v;
    }
    workgroupBarrier();
    if (member < 1u) {
        v = combine(combine(v, shared_values[local + 2u]), combine(shared_values[local + 1u], shared_values[local + 3u]));
    }
    if ((member > 0u) | (i >= p.count)) { return; }
    v = combine(v, Values(v.v0.zwxy));
    v = combine(v, Values(v.v0.yxwz));
    result[item] = (positive_zero_f32(v.v0)).x;
}
