struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    before: u32,
    length: u32,
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = (id.y * p.pitch + id.x) * 8u + local;
    if (number >= p.count) { return; }
    let begin = number * 8192u;
    let size = min(p.length - begin, 8192u);
    let own = (p.before + number) * p.row;
    var table: array<u32, 128>;
    for (var k = 0u; k < size; k += 4u) {
        let i = (begin + k) / 4u;
        let v0 = unpack_u32(in0[p.x0_offset + i]);
        let keys = vec4<u32>(v0);
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
