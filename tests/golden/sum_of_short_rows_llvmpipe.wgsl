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
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
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
    v1: vec4<f32>,
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0), opaque_f32(a.v1 + b.v1));
}

fn element(c0: u32, at: u32) -> Values {
    let x = at;
    let t0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    let v0_0 = bitcast<vec4<f32>>(unpack_u32(t0.xy));
    let v0_1 = bitcast<vec4<f32>>(unpack_u32(t0.zw));
    return Values(v0_0, v0_1);
}

fn fold(c0: u32, begin: u32) -> Values {
    let a0 = element(c0, begin);
    let a1 = element(c0, begin + 1u * p.apart);
    let a1_0 = combine(a0, a1);
    return a1_0;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i * 8u >= p.count) { return; }
    let item_0 = min(i * 8u + 0u, p.count - 1u);
    let c0_0 = item_0;
    var r0 = fold(c0_0, 0u);
    r0 = combine(r0, Values(r0.v1, r0.v0));
    let item_1 = min(i * 8u + 1u, p.count - 1u);
    let c0_1 = item_1;
    var r1 = fold(c0_1, 0u);
    r1 = combine(r1, Values(r1.v1, r1.v0));
    let item_2 = min(i * 8u + 2u, p.count - 1u);
    let c0_2 = item_2;
    var r2 = fold(c0_2, 0u);
    r2 = combine(r2, Values(r2.v1, r2.v0));
    let item_3 = min(i * 8u + 3u, p.count - 1u);
    let c0_3 = item_3;
    var r3 = fold(c0_3, 0u);
    r3 = combine(r3, Values(r3.v1, r3.v0));
    let item_4 = min(i * 8u + 4u, p.count - 1u);
    let c0_4 = item_4;
    var r4 = fold(c0_4, 0u);
    r4 = combine(r4, Values(r4.v1, r4.v0));
    let item_5 = min(i * 8u + 5u, p.count - 1u);
    let c0_5 = item_5;
    var r5 = fold(c0_5, 0u);
    r5 = combine(r5, Values(r5.v1, r5.v0));
    let item_6 = min(i * 8u + 6u, p.count - 1u);
    let c0_6 = item_6;
    var r6 = fold(c0_6, 0u);
    r6 = combine(r6, Values(r6.v1, r6.v0));
    let item_7 = min(i * 8u + 7u, p.count - 1u);
    let c0_7 = item_7;
    var r7 = fold(c0_7, 0u);
    r7 = combine(r7, Values(r7.v1, r7.v0));
    let x0 = Values(vec4<f32>(r0.v0.x, r1.v0.x, r2.v0.x, r3.v0.x), vec4<f32>(r0.v1.x, r1.v1.x, r2.v1.x, r3.v1.x));
    let y0 = Values(vec4<f32>(r0.v0.y, r1.v0.y, r2.v0.y, r3.v0.y), vec4<f32>(r0.v1.y, r1.v1.y, r2.v1.y, r3.v1.y));
    let z0 = Values(vec4<f32>(r0.v0.z, r1.v0.z, r2.v0.z, r3.v0.z), vec4<f32>(r0.v1.z, r1.v1.z, r2.v1.z, r3.v1.z));
    let w0 = Values(vec4<f32>(r0.v0.w, r1.v0.w, r2.v0.w, r3.v0.w), vec4<f32>(r0.v1.w, r1.v1.w, r2.v1.w, r3.v1.w));
    let run0 = combine(combine(x0, z0), combine(y0, w0));
    let x1 = Values(vec4<f32>(r4.v0.x, r5.v0.x, r6.v0.x, r7.v0.x), vec4<f32>(r4.v1.x, r5.v1.x, r6.v1.x, r7.v1.x));
    let y1 = Values(vec4<f32>(r4.v0.y, r5.v0.y, r6.v0.y, r7.v0.y), vec4<f32>(r4.v1.y, r5.v1.y, r6.v1.y, r7.v1.y));
    let z1 = Values(vec4<f32>(r4.v0.z, r5.v0.z, r6.v0.z, r7.v0.z), vec4<f32>(r4.v1.z, r5.v1.z, r6.v1.z, r7.v1.z));
    let w1 = Values(vec4<f32>(r4.v0.w, r5.v0.w, r6.v0.w, r7.v0.w), vec4<f32>(r4.v1.w, r5.v1.w, r6.v1.w, r7.v1.w));
    let run1 = combine(combine(x1, z1), combine(y1, w1));
    if ((i * 2u + 0u) * 4u < p.count) {
        result[i * 2u + 0u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(run0.v0)));
    }
    if ((i * 2u + 1u) * 4u < p.count) {
        result[i * 2u + 1u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(run1.v0)));
    }
}
