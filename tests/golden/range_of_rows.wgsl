struct Params {
    pitch: u32,
    count: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

// The type of shift amounts, which have 32 bits for u64 too.
alias Count = vec4<u32>;

// The signed type, whose right shift copies the sign.
alias Signed_u32 = vec4<i32>;

const SIGN_f32: u32 = 0x80000000u;

const FRACTION_f32: u32 = 0x007fffffu;

// The bits of a word.
const WORD_u32: u32 = 32u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// The rank of a number. -0 comes before +0, and NaN is beyond infinity on either side.
fn rank_f32(x: vec4<f32>) -> vec4<u32> {
    let bits = bits_f32(x);
    // A negative number flips all bits, and another number flips the sign.
    let negative = bitcast<vec4<u32>>(bitcast<Signed_u32>(bits) >> Count(WORD_u32 - 1u));
    return bits ^ (negative | vec4<u32>(SIGN_f32));
}

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let negative = (rank >> Count(WORD_u32 - 1u)) - vec4<u32>(1);
    return bitcast<vec4<f32>>(rank ^ (negative | vec4<u32>(SIGN_f32)));
}

// Ranks lie on a circle, on which NaN of both signs is side by side. Turned by the number of NaN of one sign, all NaN is
// least.
fn min_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) + vec4<u32>(FRACTION_f32);
}

fn of_min_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank - vec4<u32>(FRACTION_f32));
}

// Turned the other way, all NaN is greatest.
fn max_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return rank_f32(x) - vec4<u32>(FRACTION_f32);
}

fn of_max_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    return of_rank_f32(rank + vec4<u32>(FRACTION_f32));
}

struct Values0 {
    v0: vec4<u32>,
    v1: vec4<u32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0), min(a.v1, b.v1));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let x = at;
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    return Values0(max_rank_f32(v0), min_rank_f32(v0));
}

var<workgroup> shared_values0: array<Values0, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = local % 16u;
    let item = min(i / 16u, p.count - 1u);
    let is_own = (member == 0u) & (i / 16u < p.count);
    let c0 = item;
    let begin0 = member;
    let e0_0_0 = element0(c0, begin0);
    let e0_1_0 = element0(c0, begin0 + 16u);
    let e0_2_0 = element0(c0, begin0 + 32u);
    let e0_3_0 = element0(c0, begin0 + 48u);
    var a0_0 = e0_0_0;
    a0_0 = combine0(a0_0, e0_1_0);
    a0_0 = combine0(a0_0, e0_2_0);
    a0_0 = combine0(a0_0, e0_3_0);
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
    f0 = combine0(f0, Values0(f0.v0.zwxy, f0.v1.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz, f0.v1.yxwz));
    let v1 = of_max_rank_f32(f0.v0);
    let v2 = of_min_rank_f32(f0.v1);
    let v3 = v1 - v2;
    if (!is_own) { return; }
    result[c0 * p.out_stride0] = (v3).x;
}
