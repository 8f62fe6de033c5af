struct Params {
    pitch: u32,
    count: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const QUIET_f32: u32 = 0x7fc00000u;

// The least normal float.
const LEAST_f32: u32 = 0x00800000u;

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

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

// A subnormal becomes a zero of its sign.
fn flushed_f32(x: vec4<f32>) -> vec4<f32> {
    return flushed_from_f32(x, LEAST_f32);
}

// The same for numbers of a type whose least normal one has the bits `least`.
fn flushed_from_f32(x: vec4<f32>, least: u32) -> vec4<f32> {
    let kept = select(vec4<u32>(SIGN_f32), vec4<u32>(SIGN_f32 | MAGNITUDE_f32), magnitude_bits_f32(x) >= vec4<u32>(least));
    return bitcast<vec4<f32>>(bits_f32(x) & kept);
}

// Any NaN becomes the positive quiet one, too.
fn total_f32(x: vec4<f32>) -> vec4<f32> {
    return total_from_f32(x, LEAST_f32);
}

fn total_from_f32(x: vec4<f32>, least: u32) -> vec4<f32> {
    let number = bits_f32(flushed_from_f32(x, least));
    return bitcast<vec4<f32>>(select(number, vec4<u32>(QUIET_f32), magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32)));
}

// A term of a sum, whose zeros have no sign that shows.
fn flushed_term_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(0), bits_f32(x), magnitude_bits_f32(x) >= vec4<u32>(LEAST_f32)));
}

fn flushed_sum_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return flushed_term_f32(opaque_f32(a + b));
}

struct Values0 {
    v0: vec4<f32>,
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(flushed_sum_f32(a.v0, b.v0));
}

fn element0(c0: u32, at: u32) -> Values0 {
    let x = at;
    let zero = vec4<u32>(p.zero);
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v1 = in1[p.x1_offset + x];
    let v3 = flushed_f32(v0);
    let v4 = flushed_f32(v1);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 * v4) ^ zero);
    let v6 = flushed_f32(v5);
    return Values0(v6);
}

var<workgroup> shared_values0: array<Values0, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = local % 16u;
    let item = min(i / 16u, p.count - 1u);
    let is_own = (member == 0u) & (i / 16u < p.count);
    let c0 = item;
    let zero = vec4<u32>(p.zero);
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
    f0 = combine0(f0, Values0(f0.v0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz));
    let v2 = positive_zero_f32(total_f32(f0.v0));
    if (!is_own) { return; }
    result[c0 * p.out_stride0] = (v2).x;
}
