struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    identity0: u32,
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

// The type of shift amounts, which have 32 bits for u64 too.
alias Count = vec4<u32>;

// The signed type, whose right shift copies the sign.
alias Signed_u32 = vec4<i32>;

const SIGN_f32: u32 = 0x80000000u;

const ARGMAX_OF_NAN_f32: u32 = 0xff000002u;

const FRACTION_f32: u32 = 0x007fffffu;

// The bits of a word.
const WORD_u32: u32 = 32u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// The rank of a number. -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // A negative number flips all bits, and another number flips the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// Turned the other way, all NaN is greatest.
fn max_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn argmax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return min(max_rank_f32(positive_zero_f32(x)), vec4<u32>(ARGMAX_OF_NAN_f32));
}

struct Values0 {
    v0: vec4<u32>,
    at0: vec4<u32>,
}

fn follow0(a: Values0, b: Values0) -> Values0 {
    let takes0 = (b.v0 > a.v0) | (a.at0 == vec4<u32>(0xffffffffu));
    return Values0(select(a.v0, b.v0, takes0), select(a.at0, b.at0, takes0));
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    let takes0 = (b.v0 > a.v0) | ((a.v0 == b.v0) & (b.at0 < a.at0));
    return Values0(select(a.v0, b.v0, takes0), select(a.at0, b.at0, takes0));
}

fn element0(at: u32) -> Values0 {
    let x = min(at, (p.row - 1u) / 4u);
    let v0 = in0[p.x0_offset + x];
    let exists = (at * 4u + vec4<u32>(0u, 1u, 2u, 3u)) < vec4<u32>(p.row);
    return Values0(select(argmax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))), argmax_rank_f32(v0), exists), select(vec4<u32>(0xffffffffu), at * 4u + vec4<u32>(0u, 1u, 2u, 3u), exists));
}

var<workgroup> shared_values0: array<Values0, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = local % 16u;
    let item = min(i / 16u, p.count - 1u);
    let is_own = (member == 0u) & (i / 16u < p.count);
    let begin0 = member;
    let end0 = (p.row + 3u) / 4u;
    var a0_0 = Values0(argmax_rank_f32(vec4<f32>(bitcast<f32>(p.identity0))), vec4<u32>(0xffffffffu));
    for (var at = begin0; at < end0; at += 128u) {
        let e0_0_0 = element0(at);
        let e0_1_0 = element0(at + 16u);
        let e0_2_0 = element0(at + 32u);
        let e0_3_0 = element0(at + 48u);
        let e0_4_0 = element0(at + 64u);
        let e0_5_0 = element0(at + 80u);
        let e0_6_0 = element0(at + 96u);
        let e0_7_0 = element0(at + 112u);
        a0_0 = follow0(a0_0, e0_0_0);
        a0_0 = follow0(a0_0, e0_1_0);
        a0_0 = follow0(a0_0, e0_2_0);
        a0_0 = follow0(a0_0, e0_3_0);
        a0_0 = follow0(a0_0, e0_4_0);
        a0_0 = follow0(a0_0, e0_5_0);
        a0_0 = follow0(a0_0, e0_6_0);
        a0_0 = follow0(a0_0, e0_7_0);
    }
    var f0 = a0_0;
    shared_values0[local] = f0;
    workgroupBarrier();
    if (member < 4u) {
        f0 = combine0(combine0(f0, shared_values0[local + 8u]), combine0(shared_values0[local + 4u], shared_values0[local + 12u]));
        shared_values0[local] = f0;
    }
    workgroupBarrier();
    if (member < 1u) {
        f0 = combine0(combine0(f0, shared_values0[local + 2u]), combine0(shared_values0[local + 1u], shared_values0[local + 3u]));
    }
    workgroupBarrier();
    f0 = combine0(f0, Values0(f0.v0.zwxy, f0.at0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz, f0.at0.yxwz));
    let v1 = f0.at0;
    if (!is_own) { return; }
    result[0u] = (v1).x;
}
