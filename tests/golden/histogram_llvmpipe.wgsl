struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    before: u32,
    length: u32,
    x0_offset: u32,
    x1_offset: u32,
    scalar2: u32,
    scalar3: u32,
    scalar4: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn cast_f32_i32(x: vec4<f32>) -> vec4<i32> {
    let inside = vec4<i32>(clamp(x, vec4<f32>(-2147483648.0), vec4<f32>(2147483520.0)));
    let high = select(inside, vec4<i32>(2147483647), x >= vec4<f32>(2147483648.0));
    let low = select(high, vec4<i32>(-2147483647 - 1), x <= vec4<f32>(-2147483648.0));
    return select(low, vec4<i32>(0), is_nan_f32(x));
}

const MAGNITUDE_f32: u32 = 0x7fffffffu;

const INFINITE_f32: u32 = 0x7f800000u;

fn magnitude_bits_f32(x: vec4<f32>) -> vec4<u32> {
    return bitcast<vec4<u32>>(x) & vec4<u32>(MAGNITUDE_f32);
}

fn is_nan_f32(x: vec4<f32>) -> vec4<bool> {
    return magnitude_bits_f32(x) > vec4<u32>(INFINITE_f32);
}

fn are_numbers_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return max(magnitude_bits_f32(a), magnitude_bits_f32(b)) <= vec4<u32>(INFINITE_f32);
}

fn le_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a <= b) & are_numbers_f32(a, b);
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = (id.y * p.pitch + id.x) * 8u + local;
    if (number >= p.count) { return; }
    let begin = number * 8192u;
    let size = min(p.length - begin, 8192u);
    let own = (p.before + number) * p.row;
    let v1 = vec4<f32>(in1[p.x1_offset]);
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let v4 = vec4<i32>(bitcast<i32>(p.scalar4));
    let zero = vec4<u32>(p.zero);
    var table: array<u32, 128>;
    for (var k = 0u; k < size; k += 4u) {
        let i = (begin + k) / 4u;
        let v0 = bitcast<vec4<f32>>(unpack_u32(in0[p.x0_offset + i]));
        let v5 = le_f32(v1, v0);
        let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v2) ^ zero);
        let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 * v6) ^ zero);
        let v8 = cast_f32_i32(v7);
        let v9 = select(v4, v8, v5);
        let keys = vec4<u32>(v9);
        let ones = select(vec4<u32>(0u), vec4<u32>(1u), keys < vec4<u32>(p.row)) << (keys % 2u * 16u);
        table[keys.x / 2u % 128u] += select(0u, ones.x, k + 0u < size);
        table[keys.y / 2u % 128u] += select(0u, ones.y, k + 1u < size);
        table[keys.z / 2u % 128u] += select(0u, ones.z, k + 2u < size);
        table[keys.w / 2u % 128u] += select(0u, ones.w, k + 3u < size);
    }
    for (var k = 0u; k < p.row; k += 1u) {
        result[own + k] = (table[k / 2u] >> (k % 2u * 16u)) & 0xffffu;
    }
}
