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
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

// +0 for -0, and other numbers as they are.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    return select(~bits, bits | vec4<u32>(SIGN_f32), (bits & vec4<u32>(SIGN_f32)) == vec4<u32>(0));
}

// NaN is the greatest of all.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return select(rank_f32(x), ~vec4<u32>(0), is_nan_f32(x));
}

fn argmax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return amax_rank_f32(positive_zero_f32(x));
}

struct Values {
    v0: vec4<u32>,
    at0: vec4<u32>,
}

fn element(at: u32) -> Values {
    let inside = min(at, (p.run - 1u) / 4u);
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len0 - 1u));
    let v0 = in0[p.x0_offset + x];
    let exists = (at * 4u + vec4<u32>(0u, 1u, 2u, 3u)) < vec4<u32>(p.run);
    let identity = argmax_rank_f32(vec4<f32>(bitcast<f32>(p.identity)));
    return Values(select(identity, argmax_rank_f32(v0), exists), select(vec4<u32>(0xffffffffu), at * 4u + vec4<u32>(0u, 1u, 2u, 3u), exists));
}

fn combine(a: Values, b: Values) -> Values {
    let wins0 = b.v0 > a.v0;
    let takes0 = wins0 | ((a.v0 == b.v0) & (b.at0 < a.at0));
    return Values(select(a.v0, b.v0, takes0), select(a.at0, b.at0, takes0));
}

var<workgroup> shared_values: array<Values, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = i % 64u;
    let position = (min(i, p.count - 1u) / 64u) % p.positions;
    let after_position = (min(i, p.count - 1u) / 64u) / p.positions;
    let begin = position * p.block + member;
    var v: Values;
    {
        let at = begin;
        let a0 = element(at);
        let a1 = element(at + 1u * p.apart);
        let a2 = element(at + 2u * p.apart);
        let a3 = element(at + 3u * p.apart);
        let ah0 = combine(a0, a2);
        let ah1 = combine(a1, a3);
        let ahh0 = combine(ah0, ah1);
        v = ahh0;
    }
    shared_values[local] = v;
    for (var half = 32u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if (member < half) {
            v = combine(v, shared_values[local + half]);
            shared_values[local] = v;
        }
    }
    if (member > 0u || i >= p.count) { return; }
    v = combine(v, Values(v.v0.zwxy, v.at0.zwxy));
    v = combine(v, Values(v.v0.yxwz, v.at0.yxwz));
    result[position * p.position_stride] = (v.at0).x;
}
