struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    run: u32,
    block: u32,
    len0: u32,
    len1: u32,
    identity0: u32,
    identity1: u32,
    out_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

// The same number, which no compiler can know. Drivers take floats for real numbers, so that they
// reorder, factor and cancel: this keeps `(x + y) - x` from becoming `y`, and `x * a * b` from becoming
// `x * (a * b)`. It stands where a rewriting would leave the bound of a function.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// x 2^k for k in -252..=254, by two factors of one half each, so that neither leaves the range; their
// product may.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let rest = k - half;
    let first = bitcast<vec4<f32>>((half + vec4<i32>(127)) << vec4<u32>(23u));
    let second = bitcast<vec4<f32>>((rest + vec4<i32>(127)) << vec4<u32>(23u));
    return opaque_f32(x * first) * second;
}

// e^(x + more) 2^up = 2^(k + up) e^r with |r| <= ln(2) / 2, where more is small; polynomial of Cephes
// (Moshier, expf.c), r in two parts.
fn exp_of_sum_f32(x: vec4<f32>, more: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these e^x is 0 and infinite.
    let bounded = clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0));
    let k = round((bounded + more) * 1.44269504);
    let high = opaque_f32(bounded - k * 0.693145751953125);
    let low = k * 1.42860677e-6 - more;
    let r = high - low;
    var q = vec4<f32>(1.9875691500e-4);
    q = q * r + 1.3981999507e-3;
    q = q * r + 8.3334519073e-3;
    q = q * r + 4.1665795894e-2;
    q = q * r + 1.6666665459e-1;
    q = q * r + 5.0000001201e-1;
    let power = 1.0 + opaque_f32((q * r * r - low) + high);
    return scale_f32(power, vec4<i32>(k) + up);
}

fn exp_scaled_f32(x: vec4<f32>, up: i32) -> vec4<f32> {
    return select(exp_of_sum_f32(x, vec4<f32>(0.0), up), x, is_nan_f32(x));
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

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
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

// The number of a rank.
fn of_rank_f32(rank: vec4<u32>) -> vec4<f32> {
    let positive = (rank & vec4<u32>(SIGN_f32)) != vec4<u32>(0);
    return bitcast<vec4<f32>>(select(~rank, rank ^ vec4<u32>(SIGN_f32), positive));
}

// NaN is the greatest of all.
fn amax_rank_f32(x: vec4<f32>) -> vec4<u32> {
    return select(rank_f32(x), ~vec4<u32>(0), is_nan_f32(x));
}

struct Values0 {
    v0: vec4<u32>,
}

fn element0(c0: u32, at: u32) -> Values0 {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    return Values0(amax_rank_f32(v0));
}

fn combine0(a: Values0, b: Values0) -> Values0 {
    return Values0(max(a.v0, b.v0));
}

struct Values1 {
    v0: vec4<f32>,
}

fn element1(c0: u32, v1: vec4<f32>, at: u32) -> Values1 {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    return Values1(v4);
}

fn combine1(a: Values1, b: Values1) -> Values1 {
    return Values1(opaque_f32(a.v0 + b.v0));
}

fn give(c0: u32, v1: vec4<f32>, v2: vec4<f32>, at: u32) {
    let inside = at;
    let x = inside;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let zero = vec4<u32>(p.zero);
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    let v3 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(exp_f32(v3)) ^ zero);
    let v5 = v4 / v2;
    result[c0 * p.out_stride0 + x] = pack_u32(bitcast<vec4<u32>>(v5));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let c0 = i;
    let zero = vec4<u32>(p.zero);
    var f0: Values0;
    {
        let turns = p.block / 16u;
        for (var j = 0u; j < turns; j++) {
            let at = j;
            let a0 = element0(c0, at);
            let a1 = element0(c0, at + 1u * turns);
            let a2 = element0(c0, at + 2u * turns);
            let a3 = element0(c0, at + 3u * turns);
            let a4 = element0(c0, at + 4u * turns);
            let a5 = element0(c0, at + 5u * turns);
            let a6 = element0(c0, at + 6u * turns);
            let a7 = element0(c0, at + 7u * turns);
            let a8 = element0(c0, at + 8u * turns);
            let a9 = element0(c0, at + 9u * turns);
            let a10 = element0(c0, at + 10u * turns);
            let a11 = element0(c0, at + 11u * turns);
            let a12 = element0(c0, at + 12u * turns);
            let a13 = element0(c0, at + 13u * turns);
            let a14 = element0(c0, at + 14u * turns);
            let a15 = element0(c0, at + 15u * turns);
            let ah0 = combine0(a0, a8);
            let ah1 = combine0(a1, a9);
            let ah2 = combine0(a2, a10);
            let ah3 = combine0(a3, a11);
            let ah4 = combine0(a4, a12);
            let ah5 = combine0(a5, a13);
            let ah6 = combine0(a6, a14);
            let ah7 = combine0(a7, a15);
            let ahh0 = combine0(ah0, ah4);
            let ahh1 = combine0(ah1, ah5);
            let ahh2 = combine0(ah2, ah6);
            let ahh3 = combine0(ah3, ah7);
            let ahhh0 = combine0(ahh0, ahh2);
            let ahhh1 = combine0(ahh1, ahh3);
            let ahhhh0 = combine0(ahhh0, ahhh1);
            let next = ahhhh0;
            if (j == 0u) {
                f0 = next;
            } else {
                f0 = combine0(f0, next);
            }
        }
    }
    f0 = combine0(f0, Values0(f0.v0.zwxy));
    f0 = combine0(f0, Values0(f0.v0.yxwz));
    let v1 = of_rank_f32(f0.v0);
    var f1: Values1;
    {
        let turns = p.block / 4u;
        var s3: Values1;
        for (var j3 = 0u; j3 < clamp(turns >> 3u, 1u, 2u); j3++) {
            var s2: Values1;
            for (var j2 = 0u; j2 < clamp(turns >> 2u, 1u, 2u); j2++) {
                var s1: Values1;
                for (var j1 = 0u; j1 < clamp(turns >> 1u, 1u, 2u); j1++) {
                    var s0: Values1;
                    for (var j0 = 0u; j0 < clamp(turns >> 0u, 1u, 2u); j0++) {
                        let at = j3 * (turns >> 4u) + j2 * (turns >> 3u) + j1 * (turns >> 2u) + j0 * (turns >> 1u);
                        let a0 = element1(c0, v1, at);
                        let a1 = element1(c0, v1, at + 1u * turns);
                        let a2 = element1(c0, v1, at + 2u * turns);
                        let a3 = element1(c0, v1, at + 3u * turns);
                        let ah0 = combine1(a0, a2);
                        let ah1 = combine1(a1, a3);
                        let ahh0 = combine1(ah0, ah1);
                        let next = ahh0;
                        if (j0 == 0u) {
                            s0 = next;
                        } else {
                            s0 = combine1(s0, next);
                        }
                    }
                    let next = s0;
                    if (j1 == 0u) {
                        s1 = next;
                    } else {
                        s1 = combine1(s1, next);
                    }
                }
                let next = s1;
                if (j2 == 0u) {
                    s2 = next;
                } else {
                    s2 = combine1(s2, next);
                }
            }
            let next = s2;
            if (j3 == 0u) {
                s3 = next;
            } else {
                s3 = combine1(s3, next);
            }
        }
        f1 = s3;
    }
    f1 = combine1(f1, Values1(f1.v0.zwxy));
    f1 = combine1(f1, Values1(f1.v0.yxwz));
    let v2 = positive_zero_f32(f1.v0);
    let end = (p.run + 3u) / 4u;
    for (var turn = 0u; turn < end; turn += 4u) {
        give(c0, v1, v2, turn);
        give(c0, v1, v2, min(turn + 1u, end - 1u));
        give(c0, v1, v2, min(turn + 2u, end - 1u));
        give(c0, v1, v2, min(turn + 3u, end - 1u));
    }
}
