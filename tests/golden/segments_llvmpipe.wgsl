struct Params {
    pitch: u32,
    count: u32,
    before: u32,
    length: u32,
    tiles: u32,
    all: u32,
    shift: u32,
    flip: u32,
    low: u32,
    size: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;
@group(0) @binding(4) var<storage, read> in2: array<u32>;

var<workgroup> counts: array<u32, 64>;
fn digit(low: u32) -> u32 {
    let top = low;
    let key = top ^ p.flip;
    return (key >> (p.shift & 31u)) & 7u;
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = (id.y * p.pitch + id.x) * 8u + local;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * 4096u;
    let first = row * p.length + before;
    let size = min(p.length - before, 4096u);
    let counted = row * 8u * p.all + p.before + tile;
    for (var d = 0u; d < 8u; d += 1u) { counts[d * 8u + local] = in2[counted + d * p.all]; }
    for (var k = 0u; k < size; k += 1u) {
        let at = first + k;
        let low = in0[at];
        let index = in1[at];
        let own = digit(low) * 8u + local;
        let place = counts[own];
        counts[own] = place + 1u;
        let to = place - p.low;
        if (to < p.size) {
            result[to] = index;
        }
    }
}
