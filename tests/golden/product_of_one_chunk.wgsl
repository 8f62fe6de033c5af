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
    x1_stride2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

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
    let c0 = row;
    let c1 = k;
    let v0 = vec4<f32>(in0[p.x0_offset + c0 * p.x0_stride0 + c1 * p.x0_stride1]);
    return v0;
}

fn factor1(x: u32, k: u32) -> vec4<f32> {
    let c1 = k;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let at_v1 = (p.x1_offset + c1 * p.x1_stride1) + lane * p.x1_stride2;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    return v1;
}

fn fused(a: vec4<f32>, b: vec4<f32>, s: vec4<f32>) -> vec4<f32> {
    return fma(a, b, s);
}

fn store(row: u32, x: u32, value: vec4<f32>) {
    let c0 = row;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let total = positive_zero_f32(value);
    if (first < p.columns) { result[c0 * p.out_stride0 + x] = total; }
}

var<workgroup> shared0: array<array<vec4<f32>, 17>, 16>;

var<workgroup> shared1: array<array<vec4<f32>, 33>, 16>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 64u;
    let first_x = across * 32u;
    let row0 = first_row + local / 16u * 8u + 0u;
    let x0 = first_x + local % 16u + 0u;
    let x1 = first_x + local % 16u + 16u;
    let place0_0 = (local + 0u) / 16u;
    let k0_0 = (local + 0u) % 16u;
    let place0_128 = (local + 128u) / 16u;
    let k0_128 = (local + 128u) % 16u;
    let place1_0 = (local + 0u) / 16u;
    let k1_0 = (local + 0u) % 16u;
    let place1_128 = (local + 128u) / 16u;
    let k1_128 = (local + 128u) % 16u;
    let place1_256 = (local + 256u) / 16u;
    let k1_256 = (local + 256u) % 16u;
    let place1_384 = (local + 384u) / 16u;
    let k1_384 = (local + 384u) % 16u;
    var sum0_0 = vec4<f32>();
    var sum0_1 = vec4<f32>();
    var sum1_0 = vec4<f32>();
    var sum1_1 = vec4<f32>();
    var sum2_0 = vec4<f32>();
    var sum2_1 = vec4<f32>();
    var sum3_0 = vec4<f32>();
    var sum3_1 = vec4<f32>();
    var sum4_0 = vec4<f32>();
    var sum4_1 = vec4<f32>();
    var sum5_0 = vec4<f32>();
    var sum5_1 = vec4<f32>();
    var sum6_0 = vec4<f32>();
    var sum6_1 = vec4<f32>();
    var sum7_0 = vec4<f32>();
    var sum7_1 = vec4<f32>();
    {
        let first = 0u;
        let end = p.row;
        for (var at = first; at < end; at += 16u) {
            shared0[k0_0][place0_0] = vec4<f32>(factor0(min(first_row + place0_0 * 4u + 0u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 1u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 2u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 3u, p.rows - 1u), at + k0_0).x);
            shared0[k0_128][place0_128] = vec4<f32>(factor0(min(first_row + place0_128 * 4u + 0u, p.rows - 1u), at + k0_128).x, factor0(min(first_row + place0_128 * 4u + 1u, p.rows - 1u), at + k0_128).x, factor0(min(first_row + place0_128 * 4u + 2u, p.rows - 1u), at + k0_128).x, factor0(min(first_row + place0_128 * 4u + 3u, p.rows - 1u), at + k0_128).x);
            shared1[k1_0][place1_0] = factor1(min(first_x + place1_0, (p.columns - 1u) / 4u), at + k1_0);
            shared1[k1_128][place1_128] = factor1(min(first_x + place1_128, (p.columns - 1u) / 4u), at + k1_128);
            shared1[k1_256][place1_256] = factor1(min(first_x + place1_256, (p.columns - 1u) / 4u), at + k1_256);
            shared1[k1_384][place1_384] = factor1(min(first_x + place1_384, (p.columns - 1u) / 4u), at + k1_384);
            workgroupBarrier();
            let a0_0 = shared0[0u][local / 16u * 2u + 0u];
            let a0_1 = shared0[0u][local / 16u * 2u + 1u];
            let b0_0 = shared1[0u][local % 16u + 0u];
            let b0_1 = shared1[0u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a0_0.x), b0_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a0_0.x), b0_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a0_0.y), b0_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a0_0.y), b0_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a0_0.z), b0_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a0_0.z), b0_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a0_0.w), b0_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a0_0.w), b0_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a0_1.x), b0_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a0_1.x), b0_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a0_1.y), b0_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a0_1.y), b0_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a0_1.z), b0_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a0_1.z), b0_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a0_1.w), b0_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a0_1.w), b0_1, sum7_1);
            let a1_0 = shared0[1u][local / 16u * 2u + 0u];
            let a1_1 = shared0[1u][local / 16u * 2u + 1u];
            let b1_0 = shared1[1u][local % 16u + 0u];
            let b1_1 = shared1[1u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a1_0.x), b1_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a1_0.x), b1_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a1_0.y), b1_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a1_0.y), b1_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a1_0.z), b1_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a1_0.z), b1_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a1_0.w), b1_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a1_0.w), b1_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a1_1.x), b1_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a1_1.x), b1_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a1_1.y), b1_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a1_1.y), b1_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a1_1.z), b1_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a1_1.z), b1_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a1_1.w), b1_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a1_1.w), b1_1, sum7_1);
            let a2_0 = shared0[2u][local / 16u * 2u + 0u];
            let a2_1 = shared0[2u][local / 16u * 2u + 1u];
            let b2_0 = shared1[2u][local % 16u + 0u];
            let b2_1 = shared1[2u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a2_0.x), b2_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a2_0.x), b2_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a2_0.y), b2_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a2_0.y), b2_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a2_0.z), b2_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a2_0.z), b2_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a2_0.w), b2_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a2_0.w), b2_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a2_1.x), b2_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a2_1.x), b2_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a2_1.y), b2_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a2_1.y), b2_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a2_1.z), b2_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a2_1.z), b2_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a2_1.w), b2_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a2_1.w), b2_1, sum7_1);
            let a3_0 = shared0[3u][local / 16u * 2u + 0u];
            let a3_1 = shared0[3u][local / 16u * 2u + 1u];
            let b3_0 = shared1[3u][local % 16u + 0u];
            let b3_1 = shared1[3u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a3_0.x), b3_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a3_0.x), b3_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a3_0.y), b3_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a3_0.y), b3_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a3_0.z), b3_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a3_0.z), b3_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a3_0.w), b3_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a3_0.w), b3_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a3_1.x), b3_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a3_1.x), b3_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a3_1.y), b3_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a3_1.y), b3_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a3_1.z), b3_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a3_1.z), b3_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a3_1.w), b3_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a3_1.w), b3_1, sum7_1);
            let a4_0 = shared0[4u][local / 16u * 2u + 0u];
            let a4_1 = shared0[4u][local / 16u * 2u + 1u];
            let b4_0 = shared1[4u][local % 16u + 0u];
            let b4_1 = shared1[4u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a4_0.x), b4_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a4_0.x), b4_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a4_0.y), b4_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a4_0.y), b4_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a4_0.z), b4_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a4_0.z), b4_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a4_0.w), b4_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a4_0.w), b4_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a4_1.x), b4_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a4_1.x), b4_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a4_1.y), b4_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a4_1.y), b4_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a4_1.z), b4_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a4_1.z), b4_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a4_1.w), b4_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a4_1.w), b4_1, sum7_1);
            let a5_0 = shared0[5u][local / 16u * 2u + 0u];
            let a5_1 = shared0[5u][local / 16u * 2u + 1u];
            let b5_0 = shared1[5u][local % 16u + 0u];
            let b5_1 = shared1[5u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a5_0.x), b5_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a5_0.x), b5_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a5_0.y), b5_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a5_0.y), b5_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a5_0.z), b5_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a5_0.z), b5_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a5_0.w), b5_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a5_0.w), b5_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a5_1.x), b5_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a5_1.x), b5_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a5_1.y), b5_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a5_1.y), b5_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a5_1.z), b5_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a5_1.z), b5_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a5_1.w), b5_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a5_1.w), b5_1, sum7_1);
            let a6_0 = shared0[6u][local / 16u * 2u + 0u];
            let a6_1 = shared0[6u][local / 16u * 2u + 1u];
            let b6_0 = shared1[6u][local % 16u + 0u];
            let b6_1 = shared1[6u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a6_0.x), b6_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a6_0.x), b6_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a6_0.y), b6_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a6_0.y), b6_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a6_0.z), b6_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a6_0.z), b6_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a6_0.w), b6_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a6_0.w), b6_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a6_1.x), b6_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a6_1.x), b6_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a6_1.y), b6_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a6_1.y), b6_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a6_1.z), b6_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a6_1.z), b6_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a6_1.w), b6_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a6_1.w), b6_1, sum7_1);
            let a7_0 = shared0[7u][local / 16u * 2u + 0u];
            let a7_1 = shared0[7u][local / 16u * 2u + 1u];
            let b7_0 = shared1[7u][local % 16u + 0u];
            let b7_1 = shared1[7u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a7_0.x), b7_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a7_0.x), b7_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a7_0.y), b7_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a7_0.y), b7_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a7_0.z), b7_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a7_0.z), b7_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a7_0.w), b7_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a7_0.w), b7_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a7_1.x), b7_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a7_1.x), b7_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a7_1.y), b7_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a7_1.y), b7_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a7_1.z), b7_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a7_1.z), b7_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a7_1.w), b7_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a7_1.w), b7_1, sum7_1);
            let a8_0 = shared0[8u][local / 16u * 2u + 0u];
            let a8_1 = shared0[8u][local / 16u * 2u + 1u];
            let b8_0 = shared1[8u][local % 16u + 0u];
            let b8_1 = shared1[8u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a8_0.x), b8_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a8_0.x), b8_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a8_0.y), b8_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a8_0.y), b8_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a8_0.z), b8_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a8_0.z), b8_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a8_0.w), b8_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a8_0.w), b8_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a8_1.x), b8_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a8_1.x), b8_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a8_1.y), b8_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a8_1.y), b8_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a8_1.z), b8_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a8_1.z), b8_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a8_1.w), b8_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a8_1.w), b8_1, sum7_1);
            let a9_0 = shared0[9u][local / 16u * 2u + 0u];
            let a9_1 = shared0[9u][local / 16u * 2u + 1u];
            let b9_0 = shared1[9u][local % 16u + 0u];
            let b9_1 = shared1[9u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a9_0.x), b9_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a9_0.x), b9_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a9_0.y), b9_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a9_0.y), b9_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a9_0.z), b9_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a9_0.z), b9_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a9_0.w), b9_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a9_0.w), b9_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a9_1.x), b9_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a9_1.x), b9_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a9_1.y), b9_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a9_1.y), b9_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a9_1.z), b9_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a9_1.z), b9_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a9_1.w), b9_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a9_1.w), b9_1, sum7_1);
            let a10_0 = shared0[10u][local / 16u * 2u + 0u];
            let a10_1 = shared0[10u][local / 16u * 2u + 1u];
            let b10_0 = shared1[10u][local % 16u + 0u];
            let b10_1 = shared1[10u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a10_0.x), b10_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a10_0.x), b10_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a10_0.y), b10_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a10_0.y), b10_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a10_0.z), b10_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a10_0.z), b10_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a10_0.w), b10_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a10_0.w), b10_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a10_1.x), b10_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a10_1.x), b10_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a10_1.y), b10_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a10_1.y), b10_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a10_1.z), b10_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a10_1.z), b10_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a10_1.w), b10_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a10_1.w), b10_1, sum7_1);
            let a11_0 = shared0[11u][local / 16u * 2u + 0u];
            let a11_1 = shared0[11u][local / 16u * 2u + 1u];
            let b11_0 = shared1[11u][local % 16u + 0u];
            let b11_1 = shared1[11u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a11_0.x), b11_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a11_0.x), b11_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a11_0.y), b11_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a11_0.y), b11_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a11_0.z), b11_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a11_0.z), b11_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a11_0.w), b11_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a11_0.w), b11_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a11_1.x), b11_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a11_1.x), b11_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a11_1.y), b11_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a11_1.y), b11_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a11_1.z), b11_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a11_1.z), b11_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a11_1.w), b11_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a11_1.w), b11_1, sum7_1);
            let a12_0 = shared0[12u][local / 16u * 2u + 0u];
            let a12_1 = shared0[12u][local / 16u * 2u + 1u];
            let b12_0 = shared1[12u][local % 16u + 0u];
            let b12_1 = shared1[12u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a12_0.x), b12_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a12_0.x), b12_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a12_0.y), b12_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a12_0.y), b12_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a12_0.z), b12_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a12_0.z), b12_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a12_0.w), b12_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a12_0.w), b12_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a12_1.x), b12_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a12_1.x), b12_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a12_1.y), b12_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a12_1.y), b12_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a12_1.z), b12_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a12_1.z), b12_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a12_1.w), b12_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a12_1.w), b12_1, sum7_1);
            let a13_0 = shared0[13u][local / 16u * 2u + 0u];
            let a13_1 = shared0[13u][local / 16u * 2u + 1u];
            let b13_0 = shared1[13u][local % 16u + 0u];
            let b13_1 = shared1[13u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a13_0.x), b13_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a13_0.x), b13_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a13_0.y), b13_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a13_0.y), b13_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a13_0.z), b13_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a13_0.z), b13_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a13_0.w), b13_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a13_0.w), b13_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a13_1.x), b13_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a13_1.x), b13_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a13_1.y), b13_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a13_1.y), b13_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a13_1.z), b13_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a13_1.z), b13_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a13_1.w), b13_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a13_1.w), b13_1, sum7_1);
            let a14_0 = shared0[14u][local / 16u * 2u + 0u];
            let a14_1 = shared0[14u][local / 16u * 2u + 1u];
            let b14_0 = shared1[14u][local % 16u + 0u];
            let b14_1 = shared1[14u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a14_0.x), b14_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a14_0.x), b14_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a14_0.y), b14_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a14_0.y), b14_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a14_0.z), b14_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a14_0.z), b14_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a14_0.w), b14_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a14_0.w), b14_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a14_1.x), b14_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a14_1.x), b14_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a14_1.y), b14_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a14_1.y), b14_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a14_1.z), b14_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a14_1.z), b14_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a14_1.w), b14_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a14_1.w), b14_1, sum7_1);
            let a15_0 = shared0[15u][local / 16u * 2u + 0u];
            let a15_1 = shared0[15u][local / 16u * 2u + 1u];
            let b15_0 = shared1[15u][local % 16u + 0u];
            let b15_1 = shared1[15u][local % 16u + 16u];
            sum0_0 = fused(vec4<f32>(a15_0.x), b15_0, sum0_0);
            sum0_1 = fused(vec4<f32>(a15_0.x), b15_1, sum0_1);
            sum1_0 = fused(vec4<f32>(a15_0.y), b15_0, sum1_0);
            sum1_1 = fused(vec4<f32>(a15_0.y), b15_1, sum1_1);
            sum2_0 = fused(vec4<f32>(a15_0.z), b15_0, sum2_0);
            sum2_1 = fused(vec4<f32>(a15_0.z), b15_1, sum2_1);
            sum3_0 = fused(vec4<f32>(a15_0.w), b15_0, sum3_0);
            sum3_1 = fused(vec4<f32>(a15_0.w), b15_1, sum3_1);
            sum4_0 = fused(vec4<f32>(a15_1.x), b15_0, sum4_0);
            sum4_1 = fused(vec4<f32>(a15_1.x), b15_1, sum4_1);
            sum5_0 = fused(vec4<f32>(a15_1.y), b15_0, sum5_0);
            sum5_1 = fused(vec4<f32>(a15_1.y), b15_1, sum5_1);
            sum6_0 = fused(vec4<f32>(a15_1.z), b15_0, sum6_0);
            sum6_1 = fused(vec4<f32>(a15_1.z), b15_1, sum6_1);
            sum7_0 = fused(vec4<f32>(a15_1.w), b15_0, sum7_0);
            sum7_1 = fused(vec4<f32>(a15_1.w), b15_1, sum7_1);
            workgroupBarrier();
        }
    }
    let own_rows = min(8u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        var value0 = sum0_0;
        var value1 = sum0_1;
        switch row {
            case 1u: { value0 = sum1_0; value1 = sum1_1; }
            case 2u: { value0 = sum2_0; value1 = sum2_1; }
            case 3u: { value0 = sum3_0; value1 = sum3_1; }
            case 4u: { value0 = sum4_0; value1 = sum4_1; }
            case 5u: { value0 = sum5_0; value1 = sum5_1; }
            case 6u: { value0 = sum6_0; value1 = sum6_1; }
            case 7u: { value0 = sum7_0; value1 = sum7_1; }
            default: {}
        }
        store(row0 + row, x0, value0);
        store(row0 + row, x1, value1);
    }
}
