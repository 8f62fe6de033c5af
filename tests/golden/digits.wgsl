struct Params {
    pitch: u32,
    count: u32,
    before: u32,
    length: u32,
    tiles: u32,
    all: u32,
    shift: u32,
    flip: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;

var<workgroup> counts: array<u32, 2048>;
var<workgroup> sums: array<u32, 128>;
var<workgroup> places: array<u32, 1024>;

fn digit(low: u32) -> u32 {
    let rest = low & 0x7fffffffu;
    let is_nan = rest > 0x7f800000u;
    let is_below = low >= 0x80000000u && !(rest == 0u);
    let flipped = low ^ select(0x80000000u, 0xffffffffu, is_below);
    let signed = select(flipped, 0x80000000u, rest == 0u);
    let top = select(signed, 0xffffffffu, is_nan);
    let key = top ^ p.flip;
    return (key >> (p.shift & 31u)) & 15u;
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * 1024u;
    let first = row * p.length + before;
    let size = min(p.length - before, 1024u);
    let counted = row * 16u * p.all + p.before + tile;
    for (var k = local; k < size; k += 128u) {
        let at = first + k;
        let low = in0[at];
        places[k] = digit(low);
    }
    for (var d = 0u; d < 16u; d += 1u) { counts[d * 128u + local] = 0u; }
    workgroupBarrier();
    let begin = min(local * 8u, size);
    let end = min(begin + 8u, size);
    for (var k = begin; k < end; k += 1u) {
        counts[places[k] * 128u + local] += 1u;
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
        var sum = 0u;
        for (var i = 0u; i < 8u; i += 1u) { sum += sums[d * 8u + i]; }
        result[counted + d * p.all] = sum;
    }
}
