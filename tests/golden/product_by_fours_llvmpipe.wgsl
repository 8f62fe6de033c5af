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
    x1_offset: u32,
    x1_stride2: u32,
    scalar3: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
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
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[p.x0_offset + c0 * p.x0_stride0 + c1]));
    return v0;
}

fn factor1(column: u32, k: u32) -> vec4<f32> {
    let c1 = k;
    let c2 = column;
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + c1 + c2 * p.x1_stride2]));
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
    let v2 = total;
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let v4 = v2 / v3;
    if (first < p.columns) { result[c0 * p.out_stride0 + x] = pack_u32(bitcast<vec4<u32>>(v4)); }
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
        for (var k = first; k < end; k += 4u) {
            let column0_0 = factor1(min(x0 * 4u + 0u, p.columns - 1u), k / 4u);
            let column0_1 = factor1(min(x0 * 4u + 1u, p.columns - 1u), k / 4u);
            let column0_2 = factor1(min(x0 * 4u + 2u, p.columns - 1u), k / 4u);
            let column0_3 = factor1(min(x0 * 4u + 3u, p.columns - 1u), k / 4u);
            let bx0 = vec4<f32>(column0_0.x, column0_1.x, column0_2.x, column0_3.x);
            let by0 = vec4<f32>(column0_0.y, column0_1.y, column0_2.y, column0_3.y);
            let bz0 = vec4<f32>(column0_0.z, column0_1.z, column0_2.z, column0_3.z);
            let bw0 = vec4<f32>(column0_0.w, column0_1.w, column0_2.w, column0_3.w);
            let column1_0 = factor1(min(x1 * 4u + 0u, p.columns - 1u), k / 4u);
            let column1_1 = factor1(min(x1 * 4u + 1u, p.columns - 1u), k / 4u);
            let column1_2 = factor1(min(x1 * 4u + 2u, p.columns - 1u), k / 4u);
            let column1_3 = factor1(min(x1 * 4u + 3u, p.columns - 1u), k / 4u);
            let bx1 = vec4<f32>(column1_0.x, column1_1.x, column1_2.x, column1_3.x);
            let by1 = vec4<f32>(column1_0.y, column1_1.y, column1_2.y, column1_3.y);
            let bz1 = vec4<f32>(column1_0.z, column1_1.z, column1_2.z, column1_3.z);
            let bw1 = vec4<f32>(column1_0.w, column1_1.w, column1_2.w, column1_3.w);
            let a0 = factor0(min(row0, p.rows - 1u), k / 4u);
            sum0_0 = added(sum0_0, multiplied(vec4<f32>(a0.x), bx0, zero), zero);
            sum0_1 = added(sum0_1, multiplied(vec4<f32>(a0.x), bx1, zero), zero);
            sum0_0 = added(sum0_0, multiplied(vec4<f32>(a0.y), by0, zero), zero);
            sum0_1 = added(sum0_1, multiplied(vec4<f32>(a0.y), by1, zero), zero);
            sum0_0 = added(sum0_0, multiplied(vec4<f32>(a0.z), bz0, zero), zero);
            sum0_1 = added(sum0_1, multiplied(vec4<f32>(a0.z), bz1, zero), zero);
            sum0_0 = added(sum0_0, multiplied(vec4<f32>(a0.w), bw0, zero), zero);
            sum0_1 = added(sum0_1, multiplied(vec4<f32>(a0.w), bw1, zero), zero);
            let a1 = factor0(min(row1, p.rows - 1u), k / 4u);
            sum1_0 = added(sum1_0, multiplied(vec4<f32>(a1.x), bx0, zero), zero);
            sum1_1 = added(sum1_1, multiplied(vec4<f32>(a1.x), bx1, zero), zero);
            sum1_0 = added(sum1_0, multiplied(vec4<f32>(a1.y), by0, zero), zero);
            sum1_1 = added(sum1_1, multiplied(vec4<f32>(a1.y), by1, zero), zero);
            sum1_0 = added(sum1_0, multiplied(vec4<f32>(a1.z), bz0, zero), zero);
            sum1_1 = added(sum1_1, multiplied(vec4<f32>(a1.z), bz1, zero), zero);
            sum1_0 = added(sum1_0, multiplied(vec4<f32>(a1.w), bw0, zero), zero);
            sum1_1 = added(sum1_1, multiplied(vec4<f32>(a1.w), bw1, zero), zero);
            let a2 = factor0(min(row2, p.rows - 1u), k / 4u);
            sum2_0 = added(sum2_0, multiplied(vec4<f32>(a2.x), bx0, zero), zero);
            sum2_1 = added(sum2_1, multiplied(vec4<f32>(a2.x), bx1, zero), zero);
            sum2_0 = added(sum2_0, multiplied(vec4<f32>(a2.y), by0, zero), zero);
            sum2_1 = added(sum2_1, multiplied(vec4<f32>(a2.y), by1, zero), zero);
            sum2_0 = added(sum2_0, multiplied(vec4<f32>(a2.z), bz0, zero), zero);
            sum2_1 = added(sum2_1, multiplied(vec4<f32>(a2.z), bz1, zero), zero);
            sum2_0 = added(sum2_0, multiplied(vec4<f32>(a2.w), bw0, zero), zero);
            sum2_1 = added(sum2_1, multiplied(vec4<f32>(a2.w), bw1, zero), zero);
            let a3 = factor0(min(row3, p.rows - 1u), k / 4u);
            sum3_0 = added(sum3_0, multiplied(vec4<f32>(a3.x), bx0, zero), zero);
            sum3_1 = added(sum3_1, multiplied(vec4<f32>(a3.x), bx1, zero), zero);
            sum3_0 = added(sum3_0, multiplied(vec4<f32>(a3.y), by0, zero), zero);
            sum3_1 = added(sum3_1, multiplied(vec4<f32>(a3.y), by1, zero), zero);
            sum3_0 = added(sum3_0, multiplied(vec4<f32>(a3.z), bz0, zero), zero);
            sum3_1 = added(sum3_1, multiplied(vec4<f32>(a3.z), bz1, zero), zero);
            sum3_0 = added(sum3_0, multiplied(vec4<f32>(a3.w), bw0, zero), zero);
            sum3_1 = added(sum3_1, multiplied(vec4<f32>(a3.w), bw1, zero), zero);
            let a4 = factor0(min(row4, p.rows - 1u), k / 4u);
            sum4_0 = added(sum4_0, multiplied(vec4<f32>(a4.x), bx0, zero), zero);
            sum4_1 = added(sum4_1, multiplied(vec4<f32>(a4.x), bx1, zero), zero);
            sum4_0 = added(sum4_0, multiplied(vec4<f32>(a4.y), by0, zero), zero);
            sum4_1 = added(sum4_1, multiplied(vec4<f32>(a4.y), by1, zero), zero);
            sum4_0 = added(sum4_0, multiplied(vec4<f32>(a4.z), bz0, zero), zero);
            sum4_1 = added(sum4_1, multiplied(vec4<f32>(a4.z), bz1, zero), zero);
            sum4_0 = added(sum4_0, multiplied(vec4<f32>(a4.w), bw0, zero), zero);
            sum4_1 = added(sum4_1, multiplied(vec4<f32>(a4.w), bw1, zero), zero);
            let a5 = factor0(min(row5, p.rows - 1u), k / 4u);
            sum5_0 = added(sum5_0, multiplied(vec4<f32>(a5.x), bx0, zero), zero);
            sum5_1 = added(sum5_1, multiplied(vec4<f32>(a5.x), bx1, zero), zero);
            sum5_0 = added(sum5_0, multiplied(vec4<f32>(a5.y), by0, zero), zero);
            sum5_1 = added(sum5_1, multiplied(vec4<f32>(a5.y), by1, zero), zero);
            sum5_0 = added(sum5_0, multiplied(vec4<f32>(a5.z), bz0, zero), zero);
            sum5_1 = added(sum5_1, multiplied(vec4<f32>(a5.z), bz1, zero), zero);
            sum5_0 = added(sum5_0, multiplied(vec4<f32>(a5.w), bw0, zero), zero);
            sum5_1 = added(sum5_1, multiplied(vec4<f32>(a5.w), bw1, zero), zero);
            let a6 = factor0(min(row6, p.rows - 1u), k / 4u);
            sum6_0 = added(sum6_0, multiplied(vec4<f32>(a6.x), bx0, zero), zero);
            sum6_1 = added(sum6_1, multiplied(vec4<f32>(a6.x), bx1, zero), zero);
            sum6_0 = added(sum6_0, multiplied(vec4<f32>(a6.y), by0, zero), zero);
            sum6_1 = added(sum6_1, multiplied(vec4<f32>(a6.y), by1, zero), zero);
            sum6_0 = added(sum6_0, multiplied(vec4<f32>(a6.z), bz0, zero), zero);
            sum6_1 = added(sum6_1, multiplied(vec4<f32>(a6.z), bz1, zero), zero);
            sum6_0 = added(sum6_0, multiplied(vec4<f32>(a6.w), bw0, zero), zero);
            sum6_1 = added(sum6_1, multiplied(vec4<f32>(a6.w), bw1, zero), zero);
            let a7 = factor0(min(row7, p.rows - 1u), k / 4u);
            sum7_0 = added(sum7_0, multiplied(vec4<f32>(a7.x), bx0, zero), zero);
            sum7_1 = added(sum7_1, multiplied(vec4<f32>(a7.x), bx1, zero), zero);
            sum7_0 = added(sum7_0, multiplied(vec4<f32>(a7.y), by0, zero), zero);
            sum7_1 = added(sum7_1, multiplied(vec4<f32>(a7.y), by1, zero), zero);
            sum7_0 = added(sum7_0, multiplied(vec4<f32>(a7.z), bz0, zero), zero);
            sum7_1 = added(sum7_1, multiplied(vec4<f32>(a7.z), bz1, zero), zero);
            sum7_0 = added(sum7_0, multiplied(vec4<f32>(a7.w), bw0, zero), zero);
            sum7_1 = added(sum7_1, multiplied(vec4<f32>(a7.w), bw1, zero), zero);
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
