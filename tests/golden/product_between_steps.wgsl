struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    vectors_factor: u32,
    vectors_shift: u32,
    rows: u32,
    row: u32,
    columns: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x1_offset: u32,
    x1_stride1: u32,
    x2_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;
@group(0) @binding(4) var<storage, read> in2: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> in3: array<vec4<f32>>;

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

// The same, and a factor of 0 stands for a division by 1.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
}

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

// Polynomial of Cephes (Moshier, tanhf.c) below 0.625, 1 - 2 / (e^2x + 1) above.
fn tanh_f32(x: vec4<f32>) -> vec4<f32> {
    let z = times_f32(x, x);
    var q = vec4<f32>(-5.70498872745e-3);
    q = mul_add_f32(q, z, vec4(2.06390887954e-2));
    q = mul_add_f32(q, z, vec4(-5.37397155531e-2));
    q = mul_add_f32(q, z, vec4(1.33314422036e-1));
    q = mul_add_f32(q, z, vec4(-3.33332819422e-1));
    let small = mul_add_f32(times_f32(q, z), x, x);
    let magnitude = abs(x);
    // From 10 on it is 1.
    let powers = powers_f32(2.0 * min(magnitude, vec4<f32>(10.0)));
    let rest = exp_of_rest_f32(powers.r);
    let power = bitcast<vec4<f32>>(bits_f32(rest) + (vec4<u32>(last_bits_f32(powers.k)) << vec4<u32>(23u)));
    let large = copysign_f32(1.0 - quotient_f32(vec4(2.0), power + 1.0), x);
    let itself = is_nan_f32(x) | (magnitude_bits_f32(x) == vec4<u32>(0u));
    return select(select(small, large, magnitude >= vec4<f32>(0.625)), x, itself);
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

// The magnitude of `x` with the sign of `sign_of`.
fn copysign_f32(x: vec4<f32>, sign_of: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(magnitude_bits_f32(x) | (bitcast<vec4<u32>>(sign_of) & vec4<u32>(SIGN_f32)));
}

// For adapters whose division rounds to the nearest float.
fn quotient_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a / b);
}

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

fn factor0(row: u32, k: u32) -> vec4<f32> {
    let c0 = row;
    let c1 = k;
    let zero = vec4<u32>(p.zero);
    let v0 = vec4<f32>(in0[p.x0_offset + c0 * p.x0_stride0 + c1 * p.x0_stride1]);
    return v0;
}

fn factor1(x: u32, k: u32) -> vec4<f32> {
    let c1 = k;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let zero = vec4<u32>(p.zero);
    let v1 = unpack_u8(in1[p.x1_offset + c1 * p.x1_stride1 + x]);
    let v2 = in2[p.x2_offset + x];
    let v5 = vec4<f32>(v1);
    let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v2 * v5) ^ zero);
    return v6;
}

fn fused(a: vec4<f32>, b: vec4<f32>, s: vec4<f32>) -> vec4<f32> {
    return fma(a, b, s);
}

fn added(a: vec4<f32>, b: vec4<f32>, one: vec4<f32>) -> vec4<f32> {
    return fma(a, one, b);
}

fn store(row: u32, x: u32, value: vec4<f32>) {
    let c0 = row;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let total = positive_zero_f32(value);
    let v3 = total;
    let zero = vec4<u32>(p.zero);
    let v4 = in3[p.x2_offset + x];
    let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 + v4) ^ zero);
    let v8 = tanh_f32(v7);
    if (first < p.columns) { result[c0 * p.out_stride0 + x] = v8; }
}

var<workgroup> shared0: array<vec4<f32>, 256>;

var<workgroup> shared1: array<vec4<f32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 64u;
    let first_x = across * 16u;
    let row0 = first_row + local / 16u * 4u + 0u;
    let x0 = first_x + local % 16u + 0u;
    let one = bitcast<vec4<f32>>(vec4<u32>(p.zero ^ 0x3f800000u));
    var total0_0 = vec4<f32>();
    var total1_0 = vec4<f32>();
    var total2_0 = vec4<f32>();
    var total3_0 = vec4<f32>();
    for (var first = 0u; first < p.row; first += 64u) {
        var sum0_0 = vec4<f32>();
        var sum1_0 = vec4<f32>();
        var sum2_0 = vec4<f32>();
        var sum3_0 = vec4<f32>();
        let end = min(first + 64u, p.row);
        for (var at = first; at < end; at += 16u) {
            let place0_0 = (local + 0u) / 16u;
            let k0_0 = (local + 0u) % 16u;
            shared0[k0_0 * 16u + ((place0_0) ^ (k0_0 & 7u))] = vec4<f32>(factor0(min(first_row + place0_0 * 4u + 0u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 1u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 2u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 3u, p.rows - 1u), at + k0_0).x);
            let place1_0 = (local + 0u) % 16u;
            let k1_0 = (local + 0u) / 16u;
            shared1[k1_0 * 16u + place1_0] = factor1(min(first_x + place1_0, (p.columns - 1u) / 4u), at + k1_0);
            workgroupBarrier();
            for (var k = 0u; k < 16u; k += 4u) {
                let a0 = shared0[(k + 0u) * 16u + ((local / 16u) ^ ((k + 0u) & 7u))];
                let b0_0 = shared1[(k + 0u) * 16u + local % 16u];
                sum0_0 = fused(vec4<f32>(a0.x), b0_0, sum0_0);
                sum1_0 = fused(vec4<f32>(a0.y), b0_0, sum1_0);
                sum2_0 = fused(vec4<f32>(a0.z), b0_0, sum2_0);
                sum3_0 = fused(vec4<f32>(a0.w), b0_0, sum3_0);
                let a1 = shared0[(k + 1u) * 16u + ((local / 16u) ^ ((k + 1u) & 7u))];
                let b1_0 = shared1[(k + 1u) * 16u + local % 16u];
                sum0_0 = fused(vec4<f32>(a1.x), b1_0, sum0_0);
                sum1_0 = fused(vec4<f32>(a1.y), b1_0, sum1_0);
                sum2_0 = fused(vec4<f32>(a1.z), b1_0, sum2_0);
                sum3_0 = fused(vec4<f32>(a1.w), b1_0, sum3_0);
                let a2 = shared0[(k + 2u) * 16u + ((local / 16u) ^ ((k + 2u) & 7u))];
                let b2_0 = shared1[(k + 2u) * 16u + local % 16u];
                sum0_0 = fused(vec4<f32>(a2.x), b2_0, sum0_0);
                sum1_0 = fused(vec4<f32>(a2.y), b2_0, sum1_0);
                sum2_0 = fused(vec4<f32>(a2.z), b2_0, sum2_0);
                sum3_0 = fused(vec4<f32>(a2.w), b2_0, sum3_0);
                let a3 = shared0[(k + 3u) * 16u + ((local / 16u) ^ ((k + 3u) & 7u))];
                let b3_0 = shared1[(k + 3u) * 16u + local % 16u];
                sum0_0 = fused(vec4<f32>(a3.x), b3_0, sum0_0);
                sum1_0 = fused(vec4<f32>(a3.y), b3_0, sum1_0);
                sum2_0 = fused(vec4<f32>(a3.z), b3_0, sum2_0);
                sum3_0 = fused(vec4<f32>(a3.w), b3_0, sum3_0);
            }
            workgroupBarrier();
        }
        total0_0 = added(total0_0, sum0_0, one);
        total1_0 = added(total1_0, sum1_0, one);
        total2_0 = added(total2_0, sum2_0, one);
        total3_0 = added(total3_0, sum3_0, one);
    }
    let own_rows = min(4u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        var value0 = total0_0;
        switch row {
            case 1u: { value0 = total1_0; }
            case 2u: { value0 = total2_0; }
            case 3u: { value0 = total3_0; }
            default: {}
        }
        store(row0 + row, x0, value0);
    }
}
