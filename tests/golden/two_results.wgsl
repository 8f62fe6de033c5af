struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in1: array<vec4<f32>>;

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const SIGN_f32: u32 = 0x80000000u;

const INFINITE_f32: u32 = 0x7f800000u;

const ONE_f32: u32 = 0x3f800000u;

// Returns x, but no compiler can know that. Drivers take floats for real numbers, so they reorder, factor
// and cancel. This keeps `(x + y) - x` from becoming `y`. It stands where a sum reads a sum, because a rewrite
// would change the bits.
fn opaque_f32(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(p.zero));
}

// x 2^k for x near 1 and k in -252..=254, of which the last nine bits count. Half of k is added to the exponent of x,
// and the other half is a factor, so only their product may leave the range.
fn scale_f32(x: vec4<f32>, k: vec4<i32>) -> vec4<f32> {
    let half = k >> vec4<u32>(1u);
    let first = bitcast<vec4<f32>>(bitcast<vec4<i32>>(x) + (half << vec4<u32>(23u)));
    let second = bitcast<vec4<f32>>((k - half + vec4<i32>(127)) << vec4<u32>(23u));
    return times_kept_f32(first, second);
}

// A small whole number as an integer: the last bits of its sum with 1.5 2^23.
fn last_bits_f32(k: vec4<f32>) -> vec4<i32> {
    return bitcast<vec4<i32>>(k + 12582912.0);
}

// e^r for |r| <= ln(2) / 2. A minimax polynomial, within 2^-28 of the value.
fn exp_of_rest_f32(r: vec4<f32>) -> vec4<f32> {
    var q = vec4<f32>(1.381453825e-3);
    q = mul_add_f32(q, r, vec4(8.368745446e-3));
    q = mul_add_f32(q, r, vec4(4.166838899e-2));
    q = mul_add_f32(q, r, vec4(1.666652113e-1));
    q = mul_add_f32(q, r, vec4(4.999999404e-1));
    q = opaque_f32(mul_add_f32(q, r, vec4(1.0)));
    return mul_add_f32(q, r, vec4(1.0));
}

// A number as k ln(2) + r with |r| <= ln(2) / 2.
struct Powers_f32 {
    k: vec4<f32>,
    r: vec4<f32>,
}

fn powers_f32(x: vec4<f32>) -> Powers_f32 {
    let k = round(times_f32(x, vec4(1.44269504)));
    let high = opaque_f32(mul_add_f32(k, vec4(-0.693145751953125), x));
    return Powers_f32(k, mul_add_f32(k, vec4(-1.42860677e-6), high));
}

// e^x 2^up = 2^(k + up) e^r.
fn exp_scaled_f32(x: vec4<f32>, up: i32) -> vec4<f32> {
    // Beyond these, e^x is 0 or infinite.
    let powers = powers_f32(clamp(x, vec4<f32>(-105.0), vec4<f32>(91.0)));
    let value = scale_f32(exp_of_rest_f32(powers.r), last_bits_f32(powers.k) + up);
    return select(value, x, is_nan_f32(x));
}

// For adapters that do not flush.
fn times_kept_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return times_f32(a, b);
}

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

// For adapters that keep an fma whole. Here the addend is -0 and below the factor is 1, and no compiler knows it. The sum is an
// fma too, because Mesa's compilers exchange the addends of `fma(a, b, -0) + 0.5`.
fn times_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(a, b, vec4<f32>(bitcast<f32>(p.zero | SIGN_f32)));
}

fn plus_f32(product: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(product, vec4<f32>(bitcast<f32>(p.zero | ONE_f32)), b);
}

// a * b + c, rounded twice.
fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return plus_f32(times_f32(a, b), c);
}

fn exp_f32(x: vec4<f32>) -> vec4<f32> {
    return exp_scaled_f32(x, 0);
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 + v1) ^ zero);
    let v3 = exp_f32(v2);
    let v4 = abs(v2);
    result[c0 * p.out_stride0 + id.x] = v3;
    result1[c0 * p.out_stride0 + id.x] = v4;
}
