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
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

// Amounts to shift by, which stay 32 bits wide.
alias Count = vec4<u32>;

// What shifts in the sign.
alias Signed_u32 = vec4<i32>;

const SIGN_f32: u32 = 0x80000000u;

const ARGMAX_OF_NAN_f32: u32 = 0xff000002u;

const FRACTION_f32: u32 = 0x007fffffu;

// Bits of a word.
const WORD_u32: u32 = 32u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // All bits of a negative number change, of others that of the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// Turned the other way, it is the greatest.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn argmax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return min(amax_rank_f32(positive_zero_f32(x)), vec4<u32>(ARGMAX_OF_NAN_f32));
}

struct Values {
    v0: vec4<u32>,
    at0: vec4<u32>,
}

fn follow(a: Values, b: Values) -> Values {
    let takes0 = b.v0 > a.v0;
    return Values(select(a.v0, b.v0, takes0), select(a.at0, b.at0, takes0));
}

fn combine(a: Values, b: Values) -> Values {
    let wins0 = b.v0 > a.v0;
    let takes0 = wins0 | ((a.v0 == b.v0) & (b.at0 < a.at0));
    return Values(select(a.v0, b.v0, takes0), select(a.at0, b.at0, takes0));
}

fn element(at: u32) -> Values {
    let x = min(at, (p.run - 1u) / 4u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len0 - 1u));
    let v0 = in0[p.x0_offset + x];
    let exists = (at * 4u + vec4<u32>(0u, 1u, 2u, 3u)) < vec4<u32>(p.run);
    return Values(select(argmax_rank_f32(vec4<f32>(bitcast<f32>(p.identity))), argmax_rank_f32(v0), exists), select(vec4<u32>(0xffffffffu), at * 4u + vec4<u32>(0u, 1u, 2u, 3u), exists));
}

fn fold(begin: u32) -> Values {
    let a0 = element(begin);
    let a1 = element(begin + 1u * p.apart);
    let a_1 = follow(a0, a1);
    let a2 = element(begin + 2u * p.apart);
    let a_2 = follow(a_1, a2);
    let a3 = element(begin + 3u * p.apart);
    let a_3 = follow(a_2, a3);
    return a_3;
}

var<workgroup> shared_values: array<Values, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = i % 64u;
    let item = min(i, p.count - 1u) / 64u;
    let position = item;
    let begin = position * p.block + member;
    var v = fold(begin);
    shared_values[local] = v;
    workgroupBarrier();
    if (member < 16u) {
        v = combine(combine(v, shared_values[local + 32u]), combine(shared_values[local + 16u], shared_values[local + 48u]));
        shared_values[local] = v;
    }
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
    v = combine(v, Values(v.v0.zwxy, v.at0.zwxy));
    v = combine(v, Values(v.v0.yxwz, v.at0.yxwz));
    result[item] = (v.at0).x;
}
