struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    rows: u32,
    columns: u32,
    vectors: u32,
    vectors_factor: u32,
    vectors_shift: u32,
    out_stride0: u32,
    x0_offset: u32,
    x0_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

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
    let x = vector;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.row - 1u));
    let v1 = in1[p.x1_offset + x];
    return v1;
}

fn factor1(place: u32, vector: u32) -> vec4<f32> {
    let c0 = place;
    let x = vector;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.row - 1u));
    let v0 = in0[p.x0_offset + c0 * p.x0_stride0 + x];
    return v0;
}

fn place(row: u32, column: u32) -> u32 {
    let c0 = column;
    return c0 * p.out_stride0;
}

fn multiplied(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a * b);
}

fn added(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return opaque_f32(a + b);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    let q_across = share(tile, p.vectors_factor, p.vectors_shift);
    let across = tile - q_across * p.vectors;
    let down = q_across;
    let first_row = down * 1u;
    let first_column = across * 4u;
    var s0 = vec4<f32>();
    var s0_0 = vec4<f32>();
    let end = (p.row + 3u) / 4u;
    let a_at0 = min(first_row + 0u, p.rows - 1u);
    let b_at0 = min(first_column + 0u, p.columns - 1u);
    let b_at1 = min(first_column + 1u, p.columns - 1u);
    let b_at2 = min(first_column + 2u, p.columns - 1u);
    let b_at3 = min(first_column + 3u, p.columns - 1u);
    for (var x = 0u; x < end; x += 1u) {
        let a0 = factor0(a_at0, x);
        let b0 = factor1(b_at0, x);
        let b1 = factor1(b_at1, x);
        let b2 = factor1(b_at2, x);
        let b3 = factor1(b_at3, x);
        let b_x = vec4<f32>(b0.x, b1.x, b2.x, b3.x);
        s0 = added(s0, multiplied(vec4<f32>(a0.x), b_x));
        let b_y = vec4<f32>(b0.y, b1.y, b2.y, b3.y);
        s0 = added(s0, multiplied(vec4<f32>(a0.y), b_y));
        let b_z = vec4<f32>(b0.z, b1.z, b2.z, b3.z);
        s0 = added(s0, multiplied(vec4<f32>(a0.z), b_z));
        let b_w = vec4<f32>(b0.w, b1.w, b2.w, b3.w);
        s0 = added(s0, multiplied(vec4<f32>(a0.w), b_w));
        let done = x + 1u;
        if ((done & 15u) == 0u) {
            s0_0 = added(s0_0, s0);
            s0 = vec4<f32>();
        }
    }
    s0_0 = added(s0_0, s0);
    let total0 = positive_zero_f32(s0_0);
    let row0 = first_row + 0u;
    if ((row0 < p.rows) & (first_column + 0u < p.columns)) { result[place(row0, first_column + 0u)] = total0.x; }
    if ((row0 < p.rows) & (first_column + 1u < p.columns)) { result[place(row0, first_column + 1u)] = total0.y; }
    if ((row0 < p.rows) & (first_column + 2u < p.columns)) { result[place(row0, first_column + 2u)] = total0.z; }
    if ((row0 < p.rows) & (first_column + 3u < p.columns)) { result[place(row0, first_column + 3u)] = total0.w; }
}
