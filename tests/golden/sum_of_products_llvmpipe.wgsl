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
    len2: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x1_offset: u32,
    x1_stride1: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
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

fn element(c0: u32, x: u32, at: u32) -> Values {
    let c1 = at;
    let t1 = in1[p.x1_offset + c1 * p.x1_stride1 + x];
    let v0 = vec4<f32>(in0[p.x0_offset + c0 * p.x0_stride0 + c1 * p.x0_stride1]);
    let v1_0 = bitcast<vec4<f32>>(unpack_u32(t1.xy));
    let v1_1 = bitcast<vec4<f32>>(unpack_u32(t1.zw));
    let zero = vec4<u32>(p.zero);
    let v2_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1_0) ^ zero);
    let v2_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1_1) ^ zero);
    return Values(v2_0, v2_1);
}

var<private> held_v0: array<vec4<f32>, 64>;
var<private> held_v1: array<vec4<f32>, 64>;

fn halved(count: u32) -> Values {
    for (var j = count; j < 16u; j++) {
        held_v0[j] = vec4<f32>(bitcast<f32>(p.identity));
        held_v1[j] = vec4<f32>(bitcast<f32>(p.identity));
    }
    for (var h = count >> 1u; h >= 16u; h = h >> 1u) {
        for (var j = 0u; j < h; j++) {
            let own = combine(Values(held_v0[j], held_v1[j]), Values(held_v0[j + h], held_v1[j + h]));
            held_v0[j] = own.v0;
            held_v1[j] = own.v1;
        }
    }
    let h0 = Values(held_v0[0], held_v1[0]);
    let h1 = Values(held_v0[1], held_v1[1]);
    let h2 = Values(held_v0[2], held_v1[2]);
    let h3 = Values(held_v0[3], held_v1[3]);
    let h4 = Values(held_v0[4], held_v1[4]);
    let h5 = Values(held_v0[5], held_v1[5]);
    let h6 = Values(held_v0[6], held_v1[6]);
    let h7 = Values(held_v0[7], held_v1[7]);
    let h8 = Values(held_v0[8], held_v1[8]);
    let h9 = Values(held_v0[9], held_v1[9]);
    let h10 = Values(held_v0[10], held_v1[10]);
    let h11 = Values(held_v0[11], held_v1[11]);
    let h12 = Values(held_v0[12], held_v1[12]);
    let h13 = Values(held_v0[13], held_v1[13]);
    let h14 = Values(held_v0[14], held_v1[14]);
    let h15 = Values(held_v0[15], held_v1[15]);
    let hh0 = combine(h0, h8);
    let hh1 = combine(h1, h9);
    let hh2 = combine(h2, h10);
    let hh3 = combine(h3, h11);
    let hh4 = combine(h4, h12);
    let hh5 = combine(h5, h13);
    let hh6 = combine(h6, h14);
    let hh7 = combine(h7, h15);
    let hhh0 = combine(hh0, hh4);
    let hhh1 = combine(hh1, hh5);
    let hhh2 = combine(hh2, hh6);
    let hhh3 = combine(hh3, hh7);
    let hhhh0 = combine(hhh0, hhh2);
    let hhhh1 = combine(hhh1, hhh3);
    let hhhhh0 = combine(hhhh0, hhhh1);
    return hhhhh0;
}

fn fold(c0: u32, x: u32, begin: u32) -> Values {
    for (var j = 0u; j < p.leaves; j++) {
        let at = begin + j * p.step;
        let a0 = element(c0, x, at);
        let a1 = element(c0, x, at + 1u * p.apart);
        let a2 = element(c0, x, at + 2u * p.apart);
        let a3 = element(c0, x, at + 3u * p.apart);
        let a4 = element(c0, x, at + 4u * p.apart);
        let a4_0 = combine(a0, a4);
        let a5 = element(c0, x, at + 5u * p.apart);
        let a4_1 = combine(a1, a5);
        let a6 = element(c0, x, at + 6u * p.apart);
        let a4_2 = combine(a2, a6);
        let a2_0 = combine(a4_0, a4_2);
        let a7 = element(c0, x, at + 7u * p.apart);
        let a4_3 = combine(a3, a7);
        let a2_1 = combine(a4_1, a4_3);
        let a1_0 = combine(a2_0, a2_1);
        held_v0[j] = a1_0.v0;
        held_v1[j] = a1_0.v1;
    }
    return halved(p.leaves);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_x = share(i, p.columns_factor, p.columns_shift);
    let x = i - q_x * p.columns;
    let q_position = share(q_x, p.positions_factor, p.positions_shift);
    let position = q_x - q_position * p.positions;
    let c0 = q_position;
    let begin = (position >> p.keep_shift) * p.block + (position & (p.keep - 1u));
    var v = fold(c0, x, begin);
    result[c0 * p.out_stride0 + position * p.position_stride + x * 2u + 0u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v0)));
    result[c0 * p.out_stride0 + position * p.position_stride + x * 2u + 1u] = pack_u32(bitcast<vec4<u32>>(positive_zero_f32(v.v1)));
}
