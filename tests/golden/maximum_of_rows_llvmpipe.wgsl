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
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
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

// Amounts to shift by, which stay 32 bits wide.
alias Count = vec4<u32>;

// What shifts in the sign.
alias Signed_u32 = vec4<i32>;

const SIGN_f32: u32 = 0x80000000u;

const FRACTION_f32: u32 = 0x007fffffu;

// Bits of a word.
const WORD_u32: u32 = 32u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // All bits of a negative number change, of others that of the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let negative = (rank >> Count(WORD_u32 - 1u)) - vec4<u32>(1);
    return bitcast<vec4<f32>>(rank ^ (negative | vec4<u32>(SIGN_f32)));
}

// Turned the other way, it is the greatest.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_amax_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

struct Values {
    v0: vec4<u32>,
    v1: vec4<u32>,
}

fn combine(a: Values, b: Values) -> Values {
    return Values(max(a.v0, b.v0), max(a.v1, b.v1));
}

fn element(c0: u32, at: u32) -> Values {
    let x = at;
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    return Values(amax_rank_f32(v0_0), amax_rank_f32(v0_1));
}

fn fold(c0: u32, begin: u32) -> Values {
    var all = Values(amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity))), amax_rank_f32(vec4<f32>(bitcast<f32>(p.identity))));
    for (var j = 0u; j < p.leaves; j++) {
        let at = begin + j * p.step;
        let a0 = element(c0, at);
        let a1 = element(c0, at + 1u * p.apart);
        let a_1 = combine(a0, a1);
        let a2 = element(c0, at + 2u * p.apart);
        let a_2 = combine(a_1, a2);
        let a3 = element(c0, at + 3u * p.apart);
        let a_3 = combine(a_2, a3);
        let a4 = element(c0, at + 4u * p.apart);
        let a_4 = combine(a_3, a4);
        let a5 = element(c0, at + 5u * p.apart);
        let a_5 = combine(a_4, a5);
        let a6 = element(c0, at + 6u * p.apart);
        let a_6 = combine(a_5, a6);
        let a7 = element(c0, at + 7u * p.apart);
        let a_7 = combine(a_6, a7);
        all = combine(all, a_7);
    }
    return all;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_position = share(i, p.positions_factor, p.positions_shift);
    let position = i - q_position * p.positions;
    let c0 = q_position;
    let begin = position * p.block;
    var v = fold(c0, begin);
    v = combine(v, Values(v.v1, v.v0));
    v = combine(v, Values(v.v0.zwxy, v.v1.zwxy));
    v = combine(v, Values(v.v0.yxwz, v.v1.yxwz));
    result[i] = (of_amax_rank_f32(v.v0)).x;
}
