struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    vectors_factor: u32,
    vectors_shift: u32,
    rows: u32,
    row: u32,
    columns: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x0_stride1: u32,
    x1_offset: u32,
    x1_stride0: u32,
    zero: u32,
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
    let c0 = k;
    let v1 = vec4<f32>(in1[p.x1_offset + c0 * p.x1_stride0]);
    return v1;
}

fn factor1(x: u32, k: u32) -> vec4<f32> {
    let c0 = k;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let at_v0 = (p.x0_offset + c0 * p.x0_stride0) + lane * p.x0_stride1;
    let v0 = vec4<f32>(in0[at_v0.x], in0[at_v0.y], in0[at_v0.z], in0[at_v0.w]);
    return v0;
}

fn fused(a: vec4<f32>, b: vec4<f32>, s: vec4<f32>) -> vec4<f32> {
    return fma(a, b, s);
}

fn added(a: vec4<f32>, b: vec4<f32>, one: vec4<f32>) -> vec4<f32> {
    return fma(a, one, b);
}

fn store(row: u32, x: u32, value: vec4<f32>) {
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let total = positive_zero_f32(value);
    if (first < p.columns) { result[x] = total; }
}

var<workgroup> shared0: array<vec4<f32>, 64>;

var<workgroup> shared1: array<vec4<f32>, 256>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 4u;
    let first_x = across * 16u;
    let row0 = first_row + local / 16u * 1u + 0u;
    let x0 = first_x + local % 16u + 0u;
    let one = bitcast<vec4<f32>>(vec4<u32>(p.zero ^ 0x3f800000u));
    var total0_0 = vec4<f32>();
    for (var first = 0u; first < p.row; first += 64u) {
        var sum0_0 = vec4<f32>();
        let end = min(first + 64u, p.row);
        for (var at = first; at < end; at += 16u) {
            let place0_0 = (local + 0u) / 16u;
            let k0_0 = (local + 0u) % 16u;
            shared0[k0_0 * 4u + ((place0_0) ^ (k0_0 & 3u))] = vec4<f32>(factor0(min(first_row + place0_0 * 4u + 0u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 1u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 2u, p.rows - 1u), at + k0_0).x, factor0(min(first_row + place0_0 * 4u + 3u, p.rows - 1u), at + k0_0).x);
            let place1_0 = (local + 0u) / 16u;
            let k1_0 = (local + 0u) % 16u;
            shared1[k1_0 * 16u + ((place1_0) ^ (k1_0 & 7u))] = factor1(min(first_x + place1_0, (p.columns - 1u) / 4u), at + k1_0);
            let place1_64 = (local + 64u) / 16u;
            let k1_64 = (local + 64u) % 16u;
            shared1[k1_64 * 16u + ((place1_64) ^ (k1_64 & 7u))] = factor1(min(first_x + place1_64, (p.columns - 1u) / 4u), at + k1_64);
            let place1_128 = (local + 128u) / 16u;
            let k1_128 = (local + 128u) % 16u;
            shared1[k1_128 * 16u + ((place1_128) ^ (k1_128 & 7u))] = factor1(min(first_x + place1_128, (p.columns - 1u) / 4u), at + k1_128);
            let place1_192 = (local + 192u) / 16u;
            let k1_192 = (local + 192u) % 16u;
            shared1[k1_192 * 16u + ((place1_192) ^ (k1_192 & 7u))] = factor1(min(first_x + place1_192, (p.columns - 1u) / 4u), at + k1_192);
            workgroupBarrier();
            for (var k = 0u; k < 16u; k += 4u) {
                let a0 = shared0[(k + 0u) * 4u + ((local / 16u) ^ ((k + 0u) & 3u))];
                let b0_0 = shared1[(k + 0u) * 16u + ((local % 16u) ^ ((k + 0u) & 7u))];
                sum0_0 = fused(vec4<f32>(a0.x), b0_0, sum0_0);
                let a1 = shared0[(k + 1u) * 4u + ((local / 16u) ^ ((k + 1u) & 3u))];
                let b1_0 = shared1[(k + 1u) * 16u + ((local % 16u) ^ ((k + 1u) & 7u))];
                sum0_0 = fused(vec4<f32>(a1.x), b1_0, sum0_0);
                let a2 = shared0[(k + 2u) * 4u + ((local / 16u) ^ ((k + 2u) & 3u))];
                let b2_0 = shared1[(k + 2u) * 16u + ((local % 16u) ^ ((k + 2u) & 7u))];
                sum0_0 = fused(vec4<f32>(a2.x), b2_0, sum0_0);
                let a3 = shared0[(k + 3u) * 4u + ((local / 16u) ^ ((k + 3u) & 3u))];
                let b3_0 = shared1[(k + 3u) * 16u + ((local % 16u) ^ ((k + 3u) & 7u))];
                sum0_0 = fused(vec4<f32>(a3.x), b3_0, sum0_0);
            }
            workgroupBarrier();
        }
        total0_0 = added(total0_0, sum0_0, one);
    }
    let own_rows = min(1u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        var value0 = total0_0;
        store(row0 + row, x0, value0);
    }
}
