struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    vectors_factor: u32,
    vectors_shift: u32,
    rows: u32,
    row: u32,
    columns: u32,
    len3: u32,
    factor3: u32,
    shift3: u32,
    out_stride0: u32,
    out_stride2: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x1_offset: u32,
    x1_stride1: u32,
    x1_stride2: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

// The element at address `at`, from its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

fn multiply_high_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return vec4<u32>((vec4<u64>(a) * vec4<u64>(b)) >> vec4<u32>(32u));
}

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

// n / d for n < 2^31, by a factor and a shift for d.
fn quotients(n: vec4<u32>, factor: u32, shift: u32) -> vec4<u32> {
    return multiply_high_u32(n, vec4<u32>(factor)) >> vec4<u32>(shift);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

// The same, and a factor of 0 stands for a division by 1.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
}

const SIGN_f32: u32 = 0x80000000u;

fn bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x);
}

// +0 for -0, and other numbers unchanged.
fn positive_zero_f32(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0), bits == vec4<u32>(SIGN_f32)));
}

fn factor0(row: u32, k: u32) -> vec4<f32> {
    let c0 = vec4<u32>(row);
    let c1 = vec4<u32>(k);
    let at_v0 = p.x0_offset + c0 * p.x0_stride0 + c1 * p.x0_stride1;
    let v0 = vec4<u32>(part_u8(in0[at_v0.x >> 2u], at_v0.x), part_u8(in0[at_v0.y >> 2u], at_v0.y), part_u8(in0[at_v0.z >> 2u], at_v0.z), part_u8(in0[at_v0.w >> 2u], at_v0.w));
    let v2 = vec4<f32>(v0);
    return v2;
}

fn factor1(x: u32, k: u32) -> vec4<f32> {
    let c1 = vec4<u32>(k);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let q_c3 = quotients(lane, p.factor3, p.shift3);
    let c3 = lane - q_c3 * p.len3;
    let c2 = q_c3;
    let at_v1 = p.x1_offset + c1 * p.x1_stride1 + c2 * p.x1_stride2 + c3;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    return v1;
}

fn fused(a: vec4<f32>, b: vec4<f32>, s: vec4<f32>) -> vec4<f32> {
    return fma(a, b, s);
}

fn added(a: vec4<f32>, b: vec4<f32>, one: vec4<f32>) -> vec4<f32> {
    return fma(a, one, b);
}

fn store(row: u32, x: u32, value: vec4<f32>) {
    let c0 = vec4<u32>(row);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let q_c3 = quotients(lane, p.factor3, p.shift3);
    let c3 = lane - q_c3 * p.len3;
    let c2 = q_c3;
    let total = positive_zero_f32(value);
    let at = vec4<u32>() + (c0 * p.out_stride0 + c2 * p.out_stride2 + c3);
    if (first + 0u < p.columns) { result[at.x] = (total).x; }
    if (first + 1u < p.columns) { result[at.y] = (total).y; }
    if (first + 2u < p.columns) { result[at.z] = (total).z; }
    if (first + 3u < p.columns) { result[at.w] = (total).w; }
}

var<workgroup> shared0: array<array<vec4<f32>, 33>, 16>;

var<workgroup> shared1: array<array<vec4<f32>, 16>, 16>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 128u;
    let first_x = across * 16u;
    let row0 = first_row + local / 16u * 8u + 0u;
    let x0 = first_x + local % 16u + 0u;
    let one = bitcast<vec4<f32>>(vec4<u32>(p.zero ^ 0x3f800000u));
    let place0_0 = (local + 0u) / 16u;
    let k0_0 = (local + 0u) % 16u;
    let place0_256 = (local + 256u) / 16u;
    let k0_256 = (local + 256u) % 16u;
    let place1_0 = (local + 0u) % 16u;
    let k1_0 = (local + 0u) / 16u;
    var load0_0 = select(vec4<f32>(), vec4<f32>(factor0(min(first_row + place0_0 * 4u + 0u, p.rows - 1u), min(0u + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 1u, p.rows - 1u), min(0u + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 2u, p.rows - 1u), min(0u + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 3u, p.rows - 1u), min(0u + k0_0, p.row - 1u)).x), 0u + k0_0 < p.row);
    var load0_256 = select(vec4<f32>(), vec4<f32>(factor0(min(first_row + place0_256 * 4u + 0u, p.rows - 1u), min(0u + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 1u, p.rows - 1u), min(0u + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 2u, p.rows - 1u), min(0u + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 3u, p.rows - 1u), min(0u + k0_256, p.row - 1u)).x), 0u + k0_256 < p.row);
    var load1_0 = select(vec4<f32>(), factor1(min(first_x + place1_0, (p.columns - 1u) / 4u), min(0u + k1_0, p.row - 1u)), 0u + k1_0 < p.row);
    var total0_0 = vec4<f32>();
    var total1_0 = vec4<f32>();
    var total2_0 = vec4<f32>();
    var total3_0 = vec4<f32>();
    var total4_0 = vec4<f32>();
    var total5_0 = vec4<f32>();
    var total6_0 = vec4<f32>();
    var total7_0 = vec4<f32>();
    for (var first = 0u; first < p.row; first += 64u) {
        var sum0_0 = vec4<f32>();
        var sum1_0 = vec4<f32>();
        var sum2_0 = vec4<f32>();
        var sum3_0 = vec4<f32>();
        var sum4_0 = vec4<f32>();
        var sum5_0 = vec4<f32>();
        var sum6_0 = vec4<f32>();
        var sum7_0 = vec4<f32>();
        let end = min(first + 64u, p.row);
        for (var at = first; at < end; at += 16u) {
            shared0[k0_0][place0_0] = load0_0;
            shared0[k0_256][place0_256] = load0_256;
            shared1[k1_0][place1_0] = load1_0;
            workgroupBarrier();
            let next = at + 16u;
            if (next < p.row) {
                load0_0 = select(vec4<f32>(), vec4<f32>(factor0(min(first_row + place0_0 * 4u + 0u, p.rows - 1u), min(next + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 1u, p.rows - 1u), min(next + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 2u, p.rows - 1u), min(next + k0_0, p.row - 1u)).x, factor0(min(first_row + place0_0 * 4u + 3u, p.rows - 1u), min(next + k0_0, p.row - 1u)).x), next + k0_0 < p.row);
                load0_256 = select(vec4<f32>(), vec4<f32>(factor0(min(first_row + place0_256 * 4u + 0u, p.rows - 1u), min(next + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 1u, p.rows - 1u), min(next + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 2u, p.rows - 1u), min(next + k0_256, p.row - 1u)).x, factor0(min(first_row + place0_256 * 4u + 3u, p.rows - 1u), min(next + k0_256, p.row - 1u)).x), next + k0_256 < p.row);
                load1_0 = select(vec4<f32>(), factor1(min(first_x + place1_0, (p.columns - 1u) / 4u), min(next + k1_0, p.row - 1u)), next + k1_0 < p.row);
            }
            let a0_0 = shared0[0u][local / 16u * 2u + 0u];
            let a0_1 = shared0[0u][local / 16u * 2u + 1u];
            let b0_0 = shared1[0u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a0_0.x), b0_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a0_0.y), b0_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a0_0.z), b0_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a0_0.w), b0_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a0_1.x), b0_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a0_1.y), b0_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a0_1.z), b0_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a0_1.w), b0_0, sum7_0);
            let a1_0 = shared0[1u][local / 16u * 2u + 0u];
            let a1_1 = shared0[1u][local / 16u * 2u + 1u];
            let b1_0 = shared1[1u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a1_0.x), b1_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a1_0.y), b1_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a1_0.z), b1_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a1_0.w), b1_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a1_1.x), b1_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a1_1.y), b1_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a1_1.z), b1_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a1_1.w), b1_0, sum7_0);
            let a2_0 = shared0[2u][local / 16u * 2u + 0u];
            let a2_1 = shared0[2u][local / 16u * 2u + 1u];
            let b2_0 = shared1[2u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a2_0.x), b2_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a2_0.y), b2_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a2_0.z), b2_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a2_0.w), b2_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a2_1.x), b2_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a2_1.y), b2_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a2_1.z), b2_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a2_1.w), b2_0, sum7_0);
            let a3_0 = shared0[3u][local / 16u * 2u + 0u];
            let a3_1 = shared0[3u][local / 16u * 2u + 1u];
            let b3_0 = shared1[3u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a3_0.x), b3_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a3_0.y), b3_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a3_0.z), b3_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a3_0.w), b3_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a3_1.x), b3_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a3_1.y), b3_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a3_1.z), b3_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a3_1.w), b3_0, sum7_0);
            let a4_0 = shared0[4u][local / 16u * 2u + 0u];
            let a4_1 = shared0[4u][local / 16u * 2u + 1u];
            let b4_0 = shared1[4u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a4_0.x), b4_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a4_0.y), b4_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a4_0.z), b4_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a4_0.w), b4_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a4_1.x), b4_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a4_1.y), b4_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a4_1.z), b4_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a4_1.w), b4_0, sum7_0);
            let a5_0 = shared0[5u][local / 16u * 2u + 0u];
            let a5_1 = shared0[5u][local / 16u * 2u + 1u];
            let b5_0 = shared1[5u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a5_0.x), b5_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a5_0.y), b5_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a5_0.z), b5_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a5_0.w), b5_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a5_1.x), b5_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a5_1.y), b5_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a5_1.z), b5_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a5_1.w), b5_0, sum7_0);
            let a6_0 = shared0[6u][local / 16u * 2u + 0u];
            let a6_1 = shared0[6u][local / 16u * 2u + 1u];
            let b6_0 = shared1[6u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a6_0.x), b6_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a6_0.y), b6_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a6_0.z), b6_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a6_0.w), b6_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a6_1.x), b6_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a6_1.y), b6_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a6_1.z), b6_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a6_1.w), b6_0, sum7_0);
            let a7_0 = shared0[7u][local / 16u * 2u + 0u];
            let a7_1 = shared0[7u][local / 16u * 2u + 1u];
            let b7_0 = shared1[7u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a7_0.x), b7_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a7_0.y), b7_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a7_0.z), b7_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a7_0.w), b7_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a7_1.x), b7_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a7_1.y), b7_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a7_1.z), b7_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a7_1.w), b7_0, sum7_0);
            let a8_0 = shared0[8u][local / 16u * 2u + 0u];
            let a8_1 = shared0[8u][local / 16u * 2u + 1u];
            let b8_0 = shared1[8u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a8_0.x), b8_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a8_0.y), b8_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a8_0.z), b8_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a8_0.w), b8_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a8_1.x), b8_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a8_1.y), b8_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a8_1.z), b8_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a8_1.w), b8_0, sum7_0);
            let a9_0 = shared0[9u][local / 16u * 2u + 0u];
            let a9_1 = shared0[9u][local / 16u * 2u + 1u];
            let b9_0 = shared1[9u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a9_0.x), b9_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a9_0.y), b9_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a9_0.z), b9_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a9_0.w), b9_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a9_1.x), b9_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a9_1.y), b9_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a9_1.z), b9_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a9_1.w), b9_0, sum7_0);
            let a10_0 = shared0[10u][local / 16u * 2u + 0u];
            let a10_1 = shared0[10u][local / 16u * 2u + 1u];
            let b10_0 = shared1[10u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a10_0.x), b10_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a10_0.y), b10_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a10_0.z), b10_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a10_0.w), b10_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a10_1.x), b10_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a10_1.y), b10_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a10_1.z), b10_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a10_1.w), b10_0, sum7_0);
            let a11_0 = shared0[11u][local / 16u * 2u + 0u];
            let a11_1 = shared0[11u][local / 16u * 2u + 1u];
            let b11_0 = shared1[11u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a11_0.x), b11_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a11_0.y), b11_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a11_0.z), b11_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a11_0.w), b11_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a11_1.x), b11_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a11_1.y), b11_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a11_1.z), b11_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a11_1.w), b11_0, sum7_0);
            let a12_0 = shared0[12u][local / 16u * 2u + 0u];
            let a12_1 = shared0[12u][local / 16u * 2u + 1u];
            let b12_0 = shared1[12u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a12_0.x), b12_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a12_0.y), b12_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a12_0.z), b12_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a12_0.w), b12_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a12_1.x), b12_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a12_1.y), b12_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a12_1.z), b12_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a12_1.w), b12_0, sum7_0);
            let a13_0 = shared0[13u][local / 16u * 2u + 0u];
            let a13_1 = shared0[13u][local / 16u * 2u + 1u];
            let b13_0 = shared1[13u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a13_0.x), b13_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a13_0.y), b13_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a13_0.z), b13_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a13_0.w), b13_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a13_1.x), b13_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a13_1.y), b13_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a13_1.z), b13_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a13_1.w), b13_0, sum7_0);
            let a14_0 = shared0[14u][local / 16u * 2u + 0u];
            let a14_1 = shared0[14u][local / 16u * 2u + 1u];
            let b14_0 = shared1[14u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a14_0.x), b14_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a14_0.y), b14_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a14_0.z), b14_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a14_0.w), b14_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a14_1.x), b14_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a14_1.y), b14_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a14_1.z), b14_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a14_1.w), b14_0, sum7_0);
            let a15_0 = shared0[15u][local / 16u * 2u + 0u];
            let a15_1 = shared0[15u][local / 16u * 2u + 1u];
            let b15_0 = shared1[15u][local % 16u + 0u];
            sum0_0 = fused(vec4<f32>(a15_0.x), b15_0, sum0_0);
            sum1_0 = fused(vec4<f32>(a15_0.y), b15_0, sum1_0);
            sum2_0 = fused(vec4<f32>(a15_0.z), b15_0, sum2_0);
            sum3_0 = fused(vec4<f32>(a15_0.w), b15_0, sum3_0);
            sum4_0 = fused(vec4<f32>(a15_1.x), b15_0, sum4_0);
            sum5_0 = fused(vec4<f32>(a15_1.y), b15_0, sum5_0);
            sum6_0 = fused(vec4<f32>(a15_1.z), b15_0, sum6_0);
            sum7_0 = fused(vec4<f32>(a15_1.w), b15_0, sum7_0);
            workgroupBarrier();
        }
        total0_0 = added(total0_0, sum0_0, one);
        total1_0 = added(total1_0, sum1_0, one);
        total2_0 = added(total2_0, sum2_0, one);
        total3_0 = added(total3_0, sum3_0, one);
        total4_0 = added(total4_0, sum4_0, one);
        total5_0 = added(total5_0, sum5_0, one);
        total6_0 = added(total6_0, sum6_0, one);
        total7_0 = added(total7_0, sum7_0, one);
    }
    let own_rows = min(8u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        var value0 = total0_0;
        switch row {
            case 1u: { value0 = total1_0; }
            case 2u: { value0 = total2_0; }
            case 3u: { value0 = total3_0; }
            case 4u: { value0 = total4_0; }
            case 5u: { value0 = total5_0; }
            case 6u: { value0 = total6_0; }
            case 7u: { value0 = total7_0; }
            default: {}
        }
        store(row0 + row, x0, value0);
    }
}
