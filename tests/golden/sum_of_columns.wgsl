struct Params {
    pitch: u32,
    count: u32,
    x0_offset: u32,
    x0_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

const SIGN_f32: u32 = 0x80000000u;

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`. It stands where a sum reads a sum, because a rewrite
// would change the bits.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
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

fn element0(x: u32, v1: vec4<f32>, at: u32) -> Values0 {
    let c0 = at;
    let zero = vec4<u32>(p.zero);
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values0(v3);
}

var<workgroup> shared_values0: array<Values0, 256>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let member = local / 16u;
    let own_item = i / 256u * 16u + local % 16u;
    let item = min(own_item, p.count - 1u);
    let is_own = (member == 0u) & (own_item < p.count);
    let x = item;
    let zero = vec4<u32>(p.zero);
    let v1 = in1[x];
    let begin0 = member;
    let e0_0_0 = element0(x, v1, begin0);
    let e0_0_1 = element0(x, v1, begin0 + 16u);
    let e0_0_2 = element0(x, v1, begin0 + 32u);
    let e0_0_3 = element0(x, v1, begin0 + 48u);
    var a0_0 = e0_0_0;
    var a0_1 = e0_0_1;
    var a0_2 = e0_0_2;
    var a0_3 = e0_0_3;
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
    let v2 = positive_zero_f32(f0.v0);
    if (!is_own) { return; }
    result[x] = v2;
}
