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
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

// The high word of one product.
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
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
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + c1 * p.x1_stride1 + x]));
    return v1;
}

fn multiplied(a: vec4<f32>, b: vec4<f32>, zero: vec4<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a * b) ^ zero);
}

fn added(a: vec4<f32>, b: vec4<f32>, zero: vec4<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a + b) ^ zero);
}

fn store(row: u32, x: u32, value: vec4<f32>) {
    let c0 = row;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.columns - 1u));
    let total = positive_zero_f32(value);
    if (first < p.columns) { result[c0 * p.out_stride0 + x] = pack_u32(bitcast<vec4<u32>>(total)); }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 128u;
    let first_x = across * 8u;
    let row0 = first_row + local / 4u * 8u + 0u;
    let row1 = first_row + local / 4u * 8u + 1u;
    let row2 = first_row + local / 4u * 8u + 2u;
    let row3 = first_row + local / 4u * 8u + 3u;
    let row4 = first_row + local / 4u * 8u + 4u;
    let row5 = first_row + local / 4u * 8u + 5u;
    let row6 = first_row + local / 4u * 8u + 6u;
    let row7 = first_row + local / 4u * 8u + 7u;
    let x0 = first_x + local % 4u + 0u;
    let x1 = first_x + local % 4u + 4u;
    let zero = vec4<u32>(p.zero);
    var total0_0 = vec4<f32>();
    var total0_1 = vec4<f32>();
    var total1_0 = vec4<f32>();
    var total1_1 = vec4<f32>();
    var total2_0 = vec4<f32>();
    var total2_1 = vec4<f32>();
    var total3_0 = vec4<f32>();
    var total3_1 = vec4<f32>();
    var total4_0 = vec4<f32>();
    var total4_1 = vec4<f32>();
    var total5_0 = vec4<f32>();
    var total5_1 = vec4<f32>();
    var total6_0 = vec4<f32>();
    var total6_1 = vec4<f32>();
    var total7_0 = vec4<f32>();
    var total7_1 = vec4<f32>();
    for (var first = 0u; first < p.row; first += 64u) {
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
        let end = min(first + 64u, p.row);
        for (var k = first; k < end; k += 1u) {
            let b0 = factor1(min(x0, (p.columns - 1u) / 4u), k);
            let b1 = factor1(min(x1, (p.columns - 1u) / 4u), k);
            let a0 = factor0(min(row0, p.rows - 1u), k);
            sum0_0 = added(sum0_0, multiplied(a0, b0, zero), zero);
            sum0_1 = added(sum0_1, multiplied(a0, b1, zero), zero);
            let a1 = factor0(min(row1, p.rows - 1u), k);
            sum1_0 = added(sum1_0, multiplied(a1, b0, zero), zero);
            sum1_1 = added(sum1_1, multiplied(a1, b1, zero), zero);
            let a2 = factor0(min(row2, p.rows - 1u), k);
            sum2_0 = added(sum2_0, multiplied(a2, b0, zero), zero);
            sum2_1 = added(sum2_1, multiplied(a2, b1, zero), zero);
            let a3 = factor0(min(row3, p.rows - 1u), k);
            sum3_0 = added(sum3_0, multiplied(a3, b0, zero), zero);
            sum3_1 = added(sum3_1, multiplied(a3, b1, zero), zero);
            let a4 = factor0(min(row4, p.rows - 1u), k);
            sum4_0 = added(sum4_0, multiplied(a4, b0, zero), zero);
            sum4_1 = added(sum4_1, multiplied(a4, b1, zero), zero);
            let a5 = factor0(min(row5, p.rows - 1u), k);
            sum5_0 = added(sum5_0, multiplied(a5, b0, zero), zero);
            sum5_1 = added(sum5_1, multiplied(a5, b1, zero), zero);
            let a6 = factor0(min(row6, p.rows - 1u), k);
            sum6_0 = added(sum6_0, multiplied(a6, b0, zero), zero);
            sum6_1 = added(sum6_1, multiplied(a6, b1, zero), zero);
            let a7 = factor0(min(row7, p.rows - 1u), k);
            sum7_0 = added(sum7_0, multiplied(a7, b0, zero), zero);
            sum7_1 = added(sum7_1, multiplied(a7, b1, zero), zero);
        }
        total0_0 = added(total0_0, sum0_0, zero);
        total0_1 = added(total0_1, sum0_1, zero);
        total1_0 = added(total1_0, sum1_0, zero);
        total1_1 = added(total1_1, sum1_1, zero);
        total2_0 = added(total2_0, sum2_0, zero);
        total2_1 = added(total2_1, sum2_1, zero);
        total3_0 = added(total3_0, sum3_0, zero);
        total3_1 = added(total3_1, sum3_1, zero);
        total4_0 = added(total4_0, sum4_0, zero);
        total4_1 = added(total4_1, sum4_1, zero);
        total5_0 = added(total5_0, sum5_0, zero);
        total5_1 = added(total5_1, sum5_1, zero);
        total6_0 = added(total6_0, sum6_0, zero);
        total6_1 = added(total6_1, sum6_1, zero);
        total7_0 = added(total7_0, sum7_0, zero);
        total7_1 = added(total7_1, sum7_1, zero);
    }
    let own_rows = min(8u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        var value0 = total0_0;
        var value1 = total0_1;
        switch row {
            case 1u: { value0 = total1_0; value1 = total1_1; }
            case 2u: { value0 = total2_0; value1 = total2_1; }
            case 3u: { value0 = total3_0; value1 = total3_1; }
            case 4u: { value0 = total4_0; value1 = total4_1; }
            case 5u: { value0 = total5_0; value1 = total5_1; }
            case 6u: { value0 = total6_0; value1 = total6_1; }
            case 7u: { value0 = total7_0; value1 = total7_1; }
            default: {}
        }
        store(row0 + row, x0, value0);
        store(row0 + row, x1, value1);
    }
}
