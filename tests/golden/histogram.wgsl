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
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<f32>;

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

var<workgroup> table: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let begin = number * 8192u;
    let size = min(p.length - begin, 8192u);
    let own = (p.before + number) * p.row;
    let v1 = vec4<f32>(in1[p.x1_offset]);
    let v2 = vec4<f32>(bitcast<f32>(p.scalar2));
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let v4 = vec4<i32>(bitcast<i32>(p.scalar4));
    let zero = vec4<u32>(p.zero);
    for (var k = local; k < p.row; k += 256u) { atomicStore(&table[k], 0u); }
    workgroupBarrier();
    for (var k = local * 4u; k < size; k += 1024u) {
        let i = (begin + k) / 4u;
        let v0 = in0[p.x0_offset + i];
        let v5 = le_f32(v1, v0);
        let v6 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v2) ^ zero);
        let v7 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v3 * v6) ^ zero);
        let v8 = cast_f32_i32(v7);
        let v9 = select(v4, v8, v5);
        let keys = vec4<u32>(v9);
        if ((keys.x < p.row) & (k + 0u < size)) { atomicAdd(&table[keys.x], 1u); }
        if ((keys.y < p.row) & (k + 1u < size)) { atomicAdd(&table[keys.y], 1u); }
        if ((keys.z < p.row) & (k + 2u < size)) { atomicAdd(&table[keys.z], 1u); }
        if ((keys.w < p.row) & (k + 3u < size)) { atomicAdd(&table[keys.w], 1u); }
    }
    workgroupBarrier();
    for (var k = local; k < p.row; k += 256u) { result[own + k] = atomicLoad(&table[k]); }
}
