struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    rows: u32,
    columns: u32,
    vectors: u32,
    vectors_factor: u32,
    vectors_shift: u32,
    len2: u32,
    factor2: u32,
    shift2: u32,
    out_stride0: u32,
    out_stride1: u32,
    out_stride2: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    x1_stride1: u32,
    x1_stride2: u32,
    x1_stride3: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

// The element at address `at`, out of its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
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

fn factor0(place: u32, vector: u32) -> vec4<f32> {
    let c0 = place;
    let x = min(vector, (p.row - 1u) / 4u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.row - 1u));
    let at_v0 = (p.x0_offset + c0 * p.x0_stride0) + lane;
    let v0 = vec4<u32>(part_u8(in0[at_v0.x >> 2u], at_v0.x), part_u8(in0[at_v0.y >> 2u], at_v0.y), part_u8(in0[at_v0.z >> 2u], at_v0.z), part_u8(in0[at_v0.w >> 2u], at_v0.w));
    let v2 = vec4<f32>(v0);
    return select(vec4<f32>(), v2, vector * 4u + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.row));
}

fn factor1(place: u32, vector: u32) -> vec4<f32> {
    let q_c2 = quotient(place, p.factor2, p.shift2);
    let c2 = place - q_c2 * p.len2;
    let c1 = q_c2;
    let x = min(vector, (p.row - 1u) / 4u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.row - 1u));
    let at_v1 = (p.x1_offset + c1 * p.x1_stride1 + c2 * p.x1_stride2) + lane * p.x1_stride3;
    let v1 = vec4<f32>(in1[at_v1.x], in1[at_v1.y], in1[at_v1.z], in1[at_v1.w]);
    return select(vec4<f32>(), v1, vector * 4u + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.row));
}

fn place(row: u32, column: u32) -> u32 {
    let c0 = row;
    let q_c2 = quotient(column, p.factor2, p.shift2);
    let c2 = column - q_c2 * p.len2;
    let c1 = q_c2;
    return c0 * p.out_stride0 + c1 * p.out_stride1 + c2 * p.out_stride2;
}

fn multiplied(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a * b);
}

fn added(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a + b);
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
    let first_column = across * 64u;
    var s0 = vec4<f32>();
    var s0_0 = vec4<f32>();
    var s1 = vec4<f32>();
    var s0_1 = vec4<f32>();
    var s2 = vec4<f32>();
    var s0_2 = vec4<f32>();
    var s3 = vec4<f32>();
    var s0_3 = vec4<f32>();
    let end = (p.row + 3u) / 4u;
    for (var x = 0u; x < end; x += 4u) {
        shared0[(local + 0u) % 4u * 64u + (local + 0u) / 4u] = factor0(min(first_row + (local + 0u) / 4u, p.rows - 1u), x + (local + 0u) % 4u);
        shared1[(local + 0u) / 64u * 64u + (local + 0u) % 64u] = factor1(min(first_column + (local + 0u) % 64u, p.columns - 1u), x + (local + 0u) / 64u);
        workgroupBarrier();
        for (var vector = 0u; vector < 4u; vector += 1u) {
            let a0 = shared0[vector * 64u + local / 16u + 0u];
            let a1 = shared0[vector * 64u + local / 16u + 16u];
            let a2 = shared0[vector * 64u + local / 16u + 32u];
            let a3 = shared0[vector * 64u + local / 16u + 48u];
            let b0 = shared1[vector * 64u + local % 16u + 0u];
            let b1 = shared1[vector * 64u + local % 16u + 16u];
            let b2 = shared1[vector * 64u + local % 16u + 32u];
            let b3 = shared1[vector * 64u + local % 16u + 48u];
            let b_x = vec4<f32>(b0.x, b1.x, b2.x, b3.x);
            s0 = added(s0, multiplied(vec4<f32>(a0.x), b_x));
            s1 = added(s1, multiplied(vec4<f32>(a1.x), b_x));
            s2 = added(s2, multiplied(vec4<f32>(a2.x), b_x));
            s3 = added(s3, multiplied(vec4<f32>(a3.x), b_x));
            let b_y = vec4<f32>(b0.y, b1.y, b2.y, b3.y);
            s0 = added(s0, multiplied(vec4<f32>(a0.y), b_y));
            s1 = added(s1, multiplied(vec4<f32>(a1.y), b_y));
            s2 = added(s2, multiplied(vec4<f32>(a2.y), b_y));
            s3 = added(s3, multiplied(vec4<f32>(a3.y), b_y));
            let b_z = vec4<f32>(b0.z, b1.z, b2.z, b3.z);
            s0 = added(s0, multiplied(vec4<f32>(a0.z), b_z));
            s1 = added(s1, multiplied(vec4<f32>(a1.z), b_z));
            s2 = added(s2, multiplied(vec4<f32>(a2.z), b_z));
            s3 = added(s3, multiplied(vec4<f32>(a3.z), b_z));
            let b_w = vec4<f32>(b0.w, b1.w, b2.w, b3.w);
            s0 = added(s0, multiplied(vec4<f32>(a0.w), b_w));
            s1 = added(s1, multiplied(vec4<f32>(a1.w), b_w));
            s2 = added(s2, multiplied(vec4<f32>(a2.w), b_w));
            s3 = added(s3, multiplied(vec4<f32>(a3.w), b_w));
        }
        workgroupBarrier();
        let done = x + 4u;
        if ((done & 15u) == 0u) {
            s0_0 = added(s0_0, s0);
            s0 = vec4<f32>();
            s0_1 = added(s0_1, s1);
            s1 = vec4<f32>();
            s0_2 = added(s0_2, s2);
            s2 = vec4<f32>();
            s0_3 = added(s0_3, s3);
            s3 = vec4<f32>();
        }
    }
    s0_0 = added(s0_0, s0);
    let total0 = positive_zero_f32(s0_0);
    let row0 = first_row + local / 16u + 0u;
    if ((row0 < p.rows) & (first_column + local % 16u + 0u < p.columns)) { result[place(row0, first_column + local % 16u + 0u)] = total0.x; }
    if ((row0 < p.rows) & (first_column + local % 16u + 16u < p.columns)) { result[place(row0, first_column + local % 16u + 16u)] = total0.y; }
    if ((row0 < p.rows) & (first_column + local % 16u + 32u < p.columns)) { result[place(row0, first_column + local % 16u + 32u)] = total0.z; }
    if ((row0 < p.rows) & (first_column + local % 16u + 48u < p.columns)) { result[place(row0, first_column + local % 16u + 48u)] = total0.w; }
    s0_1 = added(s0_1, s1);
    let total1 = positive_zero_f32(s0_1);
    let row1 = first_row + local / 16u + 16u;
    if ((row1 < p.rows) & (first_column + local % 16u + 0u < p.columns)) { result[place(row1, first_column + local % 16u + 0u)] = total1.x; }
    if ((row1 < p.rows) & (first_column + local % 16u + 16u < p.columns)) { result[place(row1, first_column + local % 16u + 16u)] = total1.y; }
    if ((row1 < p.rows) & (first_column + local % 16u + 32u < p.columns)) { result[place(row1, first_column + local % 16u + 32u)] = total1.z; }
    if ((row1 < p.rows) & (first_column + local % 16u + 48u < p.columns)) { result[place(row1, first_column + local % 16u + 48u)] = total1.w; }
    s0_2 = added(s0_2, s2);
    let total2 = positive_zero_f32(s0_2);
    let row2 = first_row + local / 16u + 32u;
    if ((row2 < p.rows) & (first_column + local % 16u + 0u < p.columns)) { result[place(row2, first_column + local % 16u + 0u)] = total2.x; }
    if ((row2 < p.rows) & (first_column + local % 16u + 16u < p.columns)) { result[place(row2, first_column + local % 16u + 16u)] = total2.y; }
    if ((row2 < p.rows) & (first_column + local % 16u + 32u < p.columns)) { result[place(row2, first_column + local % 16u + 32u)] = total2.z; }
    if ((row2 < p.rows) & (first_column + local % 16u + 48u < p.columns)) { result[place(row2, first_column + local % 16u + 48u)] = total2.w; }
    s0_3 = added(s0_3, s3);
    let total3 = positive_zero_f32(s0_3);
    let row3 = first_row + local / 16u + 48u;
    if ((row3 < p.rows) & (first_column + local % 16u + 0u < p.columns)) { result[place(row3, first_column + local % 16u + 0u)] = total3.x; }
    if ((row3 < p.rows) & (first_column + local % 16u + 16u < p.columns)) { result[place(row3, first_column + local % 16u + 16u)] = total3.y; }
    if ((row3 < p.rows) & (first_column + local % 16u + 32u < p.columns)) { result[place(row3, first_column + local % 16u + 32u)] = total3.z; }
    if ((row3 < p.rows) & (first_column + local % 16u + 48u < p.columns)) { result[place(row3, first_column + local % 16u + 48u)] = total3.w; }
}
