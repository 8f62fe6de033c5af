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

var<workgroup> counts: array<atomic<u32>, 1024>;

fn key(low: u32, shift: u32) -> u32 {
    let rest = low & 0x7fffffffu;
    let is_nan = rest > 0x7f800000u;
    let is_below = low >= 0x80000000u && !(rest == 0u);
    let flipped = low ^ select(0x80000000u, 0xffffffffu, is_below);
    let signed = select(flipped, 0x80000000u, rest == 0u);
    let top = select(signed, 0xffffffffu, is_nan);
    let word = top;
    return (word ^ p.flip) >> (shift & 31u);
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * 2048u;
    let first = row * p.length + before;
    let size = min(p.length - before, 2048u);
    let table = row * (p.all + 1u);
    let counted = (table + p.before + tile) * 256u;
    for (var i = local; i < 1024u; i += 128u) { atomicStore(&counts[i], 0u); }
    workgroupBarrier();
    for (var k = local; k < size; k += 128u) {
        let at = first + k;
        let low = in0[at];
        atomicAdd(&counts[(key(low, p.shift) & 255u) * 4u + local % 4u], 1u);
    }
    workgroupBarrier();
    for (var d = local; d < 256u; d += 128u) {
        var sum = 0u;
        for (var i = 0u; i < 4u; i += 1u) { sum += atomicLoad(&counts[d * 4u + i]); }
        result[counted + d] = sum;
    }
}
