struct Params {
    pitch: u32,
    count: u32,
    length: u32,
    tiles: u32,
    before: u32,
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

var<workgroup> counts: array<u32, 2048>;
var<workgroup> sums: array<u32, 128>;

fn digit(at: u32) -> u32 {
    let low = in0[at];
    let rest = low & 0x7fffffffu;
    let is_nan = rest > 0x7f800000u;
    let is_below = low >= 0x80000000u && !(rest == 0u);
    let flipped = low ^ select(0x80000000u, 0xffffffffu, is_below);
    let signed = select(flipped, 0x80000000u, rest == 0u);
    let top = select(signed, 0xffffffffu, is_nan);
    let key = top ^ p.flip;
    return key >> (p.shift & 31u) & 15u;
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let place = tile * 2048u + local * 16u;
    let first = row * p.length;
    let begin = first + min(place, p.length);
    let end = first + min(place + 16u, p.length);
    let counted = row * 16u * p.all + p.before + tile;
    for (var d = 0u; d < 16u; d += 1u) { counts[d * 128u + local] = 0u; }
    for (var at = begin; at < end; at += 1u) {
        counts[digit(at) * 128u + local] += 1u;
    }
    workgroupBarrier();
    for (var k = local; k < 128u; k += 128u) {
        let begun = k * 16u;
        var sum = 0u;
        for (var i = begun; i < begun + 16u; i += 1u) {
            let own = counts[i];
            counts[i] = sum;
            sum += own;
        }
        sums[k] = sum;
    }
    workgroupBarrier();
    for (var d = local; d < 16u; d += 128u) {
        var sum = in1[counted + d * p.all];
        for (var i = d * 8u; i < (d + 1u) * 8u; i += 1u) {
            let own = sums[i];
            sums[i] = sum;
            sum += own;
        }
    }
    workgroupBarrier();
    for (var at = begin; at < end; at += 1u) {
        let d = digit(at);
        let own = d * 128u + local;
        let to = sums[d * 8u + local / 16u] + counts[own] - p.low;
        counts[own] += 1u;
        if (to < p.size) {
            result[to] = in0[at];
        }
    }
}
