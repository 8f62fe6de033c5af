struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    identity0: u32,
    len1: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;

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

fn element0(x: u32, at: u32) -> Values0 {
    let c0 = min(at, p.row - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at_v0 = (p.x0_offset + c0 * p.x0_stride0) + lane * p.x0_stride1;
    let v0 = vec4<f32>(in0[at_v0.x], in0[at_v0.y], in0[at_v0.z], in0[at_v0.w]);
    let exists = vec4<bool>(at < p.row);
    return Values0(select(vec4<f32>(bitcast<f32>(p.identity0)), v0, exists));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let item = i;
    let x = item;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let begin0 = 0u;
    let e0_0_0 = element0(x, begin0);
    let e0_0_1 = element0(x, begin0 + 1u);
    let e0_0_2 = element0(x, begin0 + 2u);
    let e0_0_3 = element0(x, begin0 + 3u);
    var a0_0 = e0_0_0;
    var a0_1 = e0_0_1;
    var a0_2 = e0_0_2;
    var a0_3 = e0_0_3;
    a0_0 = combine0(a0_0, a0_2);
    a0_1 = combine0(a0_1, a0_3);
    a0_0 = combine0(a0_0, a0_1);
    var f0 = a0_0;
    let v1 = positive_zero_f32(f0.v0);
    result[x] = v1;
}
