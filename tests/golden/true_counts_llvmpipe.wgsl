struct Params {
    pitch: u32,
    count: u32,
    before: u32,
    length: u32,
    tiles: u32,
    all: u32,
    flip: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;

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
    var sum = 0u;
    for (var k = 0u; k < size; k += 4u) {
        let there = 0x01010101u >> (8u * (4u - min(size - k, 4u)));
        let first_digit = ~(in0[(first + k) / 4u] ^ p.flip) & there;
        sum += countOneBits(first_digit);
    }
    result[counted] = sum;
    result[counted + p.all] = size - sum;
}
