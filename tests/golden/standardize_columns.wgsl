struct Params {
    pitch: u32,
    count: u32,
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

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`. It stands where a sum reads a sum, because a rewrite
// would change the bits.
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

// NaN, made from an operand so that no compiler can fold it.
fn nan_f32(from_any: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(from_any) | vec4<u32>(QUIET_f32));
}

// The magnitude of `x` with the sign of `sign_of`.
fn copysign_f32(x: vec4<f32>, sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(magnitude_bits_f32(x) | (bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)));
}

fn greater_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let either = bits_f32(a) | bits_f32(b);
    let both = bits_f32(a) & bits_f32(b);
    return bitcast<vec4<f32>>(select(bits_f32(max(a, b)), both, (either & vec4<u32>(MAGNITUDE_f32)) == vec4<u32>(0)));
}

fn max_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return select(select(greater_f32(a, b), b, is_nan_f32(b)), a, is_nan_f32(a));
}

fn sqrt_f32(x: vec4<f32>) -> vec4<f32> {
    // NaN may equal 0 where a compiler takes floats for real numbers.
    let root = select(sqrt(x), copysign_f32(vec4<f32>(0.0), x), x == vec4<f32>(0.0));
    return select(root, nan_f32(x), (x < vec4<f32>(0.0)) | is_nan_f32(x));
}

// +0 for -0, and other numbers unchanged.
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

struct Held0 {
    v0: vec4<f32>,
}

fn hold0(x: u32, at: u32) -> Held0 {
    let c0 = at;
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v0 = in0[c0 * p.out_stride0 + x];
    return Held0(v0);
}

fn element0(x: u32, held: Held0, at: u32) -> Values0 {
    let c0 = at;
    let v0 = held.v0;
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    return Values0(v0);
}

var<workgroup> shared_values0: array<Values0, 256>;

struct Values1 {
    v0: vec4<f32>,
    v1: vec4<f32>,
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0), opaque_f32(a.v1 + b.v1));
}

fn element1(x: u32, v9: vec4<f32>, held: Held0, at: u32) -> Values1 {
    let c0 = at;
    let v0 = held.v0;
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v10 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v9) ^ zero);
    let v11 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v10 * v10) ^ zero);
    return Values1(v10, v11);
}

var<workgroup> shared_values1: array<Values1, 256>;

fn give(x: u32, v12: vec4<f32>, v21: vec4<f32>, held: Held0, at: u32) {
    let c0 = at;
    let v0 = held.v0;
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v13 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v12) ^ zero);
    let v22 = v13 / v21;
    result[c0 * p.out_stride0 + x] = v22;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = local / 16u;
    let own_item = i / 256u * 16u + local % 16u;
    let item = min(own_item, p.count - 1u);
    let is_own = (member == 0u) & (own_item < p.count);
    let x = item;
    let zero = vec4<u32>(p.zero);
    let zero1 = vec4<u32>(p.zero << 1u);
    let zero16 = vec4<u32>(p.zero << 16u);
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v5 = vec4<f32>(bitcast<f32>(p.scalar5));
    let v6 = vec4<f32>(bitcast<f32>(p.scalar6));
    let v7 = vec4<f32>(bitcast<f32>(p.scalar7));
    let v8 = vec4<f32>(bitcast<f32>(p.scalar8));
    let begin0 = member;
    let h0_0_0 = hold0(x, begin0);
    let h0_0_1 = hold0(x, begin0 + 16u);
    let h0_0_2 = hold0(x, begin0 + 32u);
    let h0_0_3 = hold0(x, begin0 + 48u);
    var a0_0 = element0(x, h0_0_0, begin0);
    var a0_1 = element0(x, h0_0_1, begin0 + 16u);
    var a0_2 = element0(x, h0_0_2, begin0 + 32u);
    var a0_3 = element0(x, h0_0_3, begin0 + 48u);
    a0_0 = combine0(a0_0, a0_2);
    a0_1 = combine0(a0_1, a0_3);
    a0_0 = combine0(a0_0, a0_1);
    var f0 = a0_0;
    shared_values0[local] = f0;
    workgroupBarrier();
    if (member < 4u) {
        f0 = combine0(combine0(f0, shared_values0[local + 128u]), combine0(shared_values0[local + 64u], shared_values0[local + 192u]));
        shared_values0[local] = f0;
    }
    workgroupBarrier();
    if (member < 1u) {
        f0 = combine0(combine0(f0, shared_values0[local + 32u]), combine0(shared_values0[local + 16u], shared_values0[local + 48u]));
    }
    workgroupBarrier();
    if (member == 0u) { shared_values0[local] = f0; }
    workgroupBarrier();
    f0 = shared_values0[local - member * 16u];
    let v1 = positive_zero_f32(f0.v0);
    let v9 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 / v2) ^ zero);
    let v12 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v1 / v5) ^ zero);
    let begin1 = member;
    var a1_0 = element1(x, v9, h0_0_0, begin1);
    var a1_1 = element1(x, v9, h0_0_1, begin1 + 16u);
    var a1_2 = element1(x, v9, h0_0_2, begin1 + 32u);
    var a1_3 = element1(x, v9, h0_0_3, begin1 + 48u);
    a1_0 = combine1(a1_0, a1_2);
    a1_1 = combine1(a1_1, a1_3);
    a1_0 = combine1(a1_0, a1_1);
    var f1 = a1_0;
    shared_values1[local] = f1;
    workgroupBarrier();
    if (member < 4u) {
        f1 = combine1(combine1(f1, shared_values1[local + 128u]), combine1(shared_values1[local + 64u], shared_values1[local + 192u]));
        shared_values1[local] = f1;
    }
    workgroupBarrier();
    if (member < 1u) {
        f1 = combine1(combine1(f1, shared_values1[local + 32u]), combine1(shared_values1[local + 16u], shared_values1[local + 48u]));
    }
    workgroupBarrier();
    if (member == 0u) { shared_values1[local] = f1; }
    workgroupBarrier();
    f1 = shared_values1[local - member * 16u];
    let v3 = positive_zero_f32(f1.v0);
    let v4 = positive_zero_f32(f1.v1);
    let v14 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 * v3) ^ zero);
    let v15 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v14 / v6) ^ zero);
    let v16 = is_inf_f32(v15);
    let v17 = v4 - v15;
    let v18 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(select(v17, v4, v16)) ^ zero16);
    let v19 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(max_f32(v7, v18)) ^ zero);
    let v20 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v19 / v8) ^ zero);
    let v21 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(sqrt_f32(v20)) ^ zero1);
    give(x, v12, v21, h0_0_0, begin1);
    give(x, v12, v21, h0_0_1, begin1 + 16u);
    give(x, v12, v21, h0_0_2, begin1 + 32u);
    give(x, v12, v21, h0_0_3, begin1 + 48u);
}
