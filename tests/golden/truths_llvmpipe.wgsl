struct Params {
    pitch: u32,
    count: u32,
    before: u32,
    length: u32,
    tiles: u32,
    start: u32,
    all: u32,
    flip: u32,
    low: u32,
    size: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = (id.y * p.pitch + id.x) * 8u + local;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * 4096u;
    let first = row * p.length + before;
    let size = min(p.length - before, 4096u);
    let counted = row * 2u * p.all + p.before + tile;
    var to = in1[counted];
    let begin = max(to, p.low);
    let end = min(in1[counted + 1u], p.low + p.size);
    if (begin >= end) { return; }
    var last = 0u;
    for (var k = 0u; k < size; k += 4u) {
        let there = 0x01010101u >> (8u * (4u - min(size - k, 4u)));
        let first_digit = ~(in0[(first + k) / 4u] ^ p.flip) & there;
        let moved = p.start + before + k + vec4<u32>(0u, 1u, 2u, 3u);
        let x = (first_digit >> 0u) & 1u;
        last = select(last, moved.x, (x == 1u) & (to < end));
        to += x;
        result[clamp(to, begin + 1u, end) - 1u - p.low] = last;
        let y = (first_digit >> 8u) & 1u;
        last = select(last, moved.y, (y == 1u) & (to < end));
        to += y;
        result[clamp(to, begin + 1u, end) - 1u - p.low] = last;
        let z = (first_digit >> 16u) & 1u;
        last = select(last, moved.z, (z == 1u) & (to < end));
        to += z;
        result[clamp(to, begin + 1u, end) - 1u - p.low] = last;
        let w = (first_digit >> 24u) & 1u;
        last = select(last, moved.w, (w == 1u) & (to < end));
        to += w;
        result[clamp(to, begin + 1u, end) - 1u - p.low] = last;
    }
}
