struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x3_offset: u32,
    x3_stride0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in2: array<f32>;

// The magnitude. For the least integer it is the integer itself, read as unsigned.
fn magnitude_i32(x: vec4<i32>) -> vec4<u32> {
    let bits = bitcast<vec4<u32>>(x);
    return select(bits, ~bits + 1u, x < vec4<i32>(0));
}

// Rounds to the nearest float, halves to even, on adapters that truncate. Integer arithmetic rounds to 24 bits,
// so the conversion is exact.
fn cast_u32_f32(x: vec4<u32>) -> vec4<f32> {
    let excess = vec4<u32>(8u) - min(countLeadingZeros(x), vec4<u32>(8u));
    let kept = x >> excess;
    let lost = x - (kept << excess);
    let half = max((vec4<u32>(1u) << excess) >> vec4<u32>(1u), vec4<u32>(1u));
    let up = select(select(vec4<u32>(0u), kept & vec4<u32>(1u), lost == half), vec4<u32>(1u), lost > half);
    return vec4<f32>(kept + up) * vec4<f32>(vec4<u32>(1u) << excess);
}

fn cast_i32_f32(x: vec4<i32>) -> vec4<f32> {
    let magnitude = cast_u32_f32(magnitude_i32(x));
    return select(magnitude, -magnitude, x < vec4<i32>(0));
}

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const INFINITE_f32: u32 = 0x7f800000u;

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn are_numbers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return max(magnitude_bits_f32(a), magnitude_bits_f32(b)) <= vec4<u32>(INFINITE_f32);
}

fn lt_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a < b) & are_numbers_f32(a, b);
}

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let v2 = vec4<i32>((p.x1_offset + id.x) * 4u + vec4<u32>(0u, 1u, 2u, 3u));
    let v3 = vec4<f32>(in2[p.x3_offset + c0 * p.x3_stride0]);
    let v4 = lt_f32(v1, v0);
    let v5 = cast_i32_f32(v2);
    let v6 = select(v3, v5, v4);
    result[c0 * p.out_stride0 + id.x] = v6;
}
