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
    len1: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
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
}

fn element(c0: u32, at: u32) -> Values {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[p.x0_offset + c0 * p.x0_stride0 + x]));
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + x]));
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return Values(v2);
}

fn combine(a: Values, b: Values) -> Values {
    return Values(opaque_f32(a.v0 + b.v0));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let position = i % p.positions;
    let after_position = i / p.positions;
    let c0 = after_position;
    let begin = position * p.block;
    var s0: Values;
    var s1: Values;
    var s2: Values;
    var s3: Values;
    var s4: Values;
    var s5: Values;
    var v: Values;
    var turned = 0u;
    for (var j = 0u; j < p.leaves; j++) {
        let at = begin + turned * p.step;
        let a0 = element(c0, at);
        let a1 = element(c0, at + 1u * p.apart);
        let a2 = element(c0, at + 2u * p.apart);
        let a3 = element(c0, at + 3u * p.apart);
        let a4 = element(c0, at + 4u * p.apart);
        let a5 = element(c0, at + 5u * p.apart);
        let a6 = element(c0, at + 6u * p.apart);
        let a7 = element(c0, at + 7u * p.apart);
        let a8 = element(c0, at + 8u * p.apart);
        let a9 = element(c0, at + 9u * p.apart);
        let a10 = element(c0, at + 10u * p.apart);
        let a11 = element(c0, at + 11u * p.apart);
        let a12 = element(c0, at + 12u * p.apart);
        let a13 = element(c0, at + 13u * p.apart);
        let a14 = element(c0, at + 14u * p.apart);
        let a15 = element(c0, at + 15u * p.apart);
        let ah0 = combine(a0, a8);
        let ah1 = combine(a1, a9);
        let ah2 = combine(a2, a10);
        let ah3 = combine(a3, a11);
        let ah4 = combine(a4, a12);
        let ah5 = combine(a5, a13);
        let ah6 = combine(a6, a14);
        let ah7 = combine(a7, a15);
        let ahh0 = combine(ah0, ah4);
        let ahh1 = combine(ah1, ah5);
        let ahh2 = combine(ah2, ah6);
        let ahh3 = combine(ah3, ah7);
        let ahhh0 = combine(ahh0, ahh2);
        let ahhh1 = combine(ahh1, ahh3);
        let ahhhh0 = combine(ahhh0, ahhh1);
        v = ahhhh0;
        if ((j & 1u) == 0u) {
            s0 = v;
        } else {
            v = combine(s0, v);
            if ((j & 2u) == 0u) {
                s1 = v;
            } else {
                v = combine(s1, v);
                if ((j & 4u) == 0u) {
                    s2 = v;
                } else {
                    v = combine(s2, v);
                    if ((j & 8u) == 0u) {
                        s3 = v;
                    } else {
                        v = combine(s3, v);
                        if ((j & 16u) == 0u) {
                            s4 = v;
                        } else {
                            v = combine(s4, v);
                            if ((j & 32u) == 0u) {
                                s5 = v;
                            } else {
                                v = combine(s5, v);
                            }
                        }
                    }
                }
            }
        }
        turned = turned ^ (p.leaves - (p.leaves >> (countTrailingZeros(j + 1u) + 1u)));
    }
    v = combine(v, Values(v.v0.zwxy));
    v = combine(v, Values(v.v0.yxwz));
    result[c0 * p.out_stride0 + position * p.position_stride] = (positive_zero_f32(v.v0)).x;
}
