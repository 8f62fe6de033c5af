struct Params {
    pitch: u32,
    count: u32,
    before: u32,
    length: u32,
    tiles: u32,
    start: u32,
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

var<workgroup> counts: array<u32, 512>;
var<workgroup> sums: array<u32, 128>;
var<workgroup> bases: array<u32, 8>;
var<workgroup> places: array<u32, 1024>;

fn apart(i: u32, each: u32) -> u32 {
    return i ^ ((i >> 5u) & (each - 1u));
}

fn digit(low: u32) -> u32 {
    let top = low;
    let key = top ^ p.flip;
    return (key >> (p.shift & 31u)) & 7u;
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
    let counted = row * 8u * p.all + p.before + tile;
    if (local < 8u) { bases[local] = in1[counted + local * p.all]; }
    for (var j = 0u; j < 8u; j += 1u) {
        let slot = j * 128u + local;
        let k = min(slot, size - 1u);
        let at = first + k;
        let low = in0[at];
        places[apart(slot, 8u)] = digit(low);
    }
    workgroupBarrier();
    var below = 0u;
    var above = 0u;
    for (var j = 0u; j < 8u; j += 1u) {
        let slot = local * 8u + j;
        let d = places[apart(slot, 8u)];
        let rank = (select(above, below, d < 4u) >> (d % 4u * 4u)) & 15u;
        places[apart(slot, 8u)] = d | (rank << 4u);
        let one = select(0u, 1u << (d % 4u * 4u), slot < size);
        below += select(0u, one, d < 4u);
        above += select(one, 0u, d < 4u);
    }
    for (var i = 0u; i < 4u; i += 1u) {
        let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);
        counts[apart(i * 128u + local, 8u)] = both;
    }
    workgroupBarrier();
    var sum = 0u;
    if (local < 64u) {
        for (var i = 0u; i < 8u; i += 1u) {
            let at = apart(local * 8u + i, 8u);
            let own = counts[at];
            counts[at] = sum;
            sum += own;
        }
        sums[apart(local, 16u)] = sum;
    }
    workgroupBarrier();
    if (local < 4u) {
        sum = 0u;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = apart(local * 16u + i, 16u);
            let own = sums[at];
            sums[at] = sum;
            sum += own;
        }
    }
    workgroupBarrier();
    for (var j = 0u; j < 8u; j += 1u) {
        let at = apart(local * 8u + j, 8u);
        let d = places[at] & 15u;
        let own = d % 4u * 128u + local;
        let both = counts[apart(own, 8u)] + sums[apart(own / 8u, 16u)];
        let before = (both >> (d / 4u * 16u)) & 0xffffu;
        places[at] = bases[d] + before + (places[at] >> 4u);
    }
    workgroupBarrier();
    for (var j = 0u; j < 8u; j += 1u) {
        let slot = j * 128u + local;
        let k = min(slot, size - 1u);
        let at = first + k;
        let index = p.start + before + k;
        let to = places[apart(slot, 8u)] - p.low;
        if ((to < p.size) & (slot < size)) {
            result[to] = index;
        }
    }
}
