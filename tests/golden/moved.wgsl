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

var<workgroup> counts: array<u32, 1024>;
var<workgroup> sums: array<u32, 128>;
var<workgroup> totals: array<u32, 16>;
var<workgroup> starts: array<u32, 16>;
var<workgroup> bases: array<u32, 16>;
var<workgroup> places: array<u32, 1024>;

fn apart(i: u32, each: u32) -> u32 {
    return i ^ ((i >> 5u) & (each - 1u));
}

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
    var base = 0u;
    if (local < 16u) { base = in1[counted + local * p.all]; }
    var low0 = 0u;
    {
        let k = min(0u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low0 = low;
        places[apart(0u + local, 8u)] = digit(low);
    }
    var low1 = 0u;
    {
        let k = min(128u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low1 = low;
        places[apart(128u + local, 8u)] = digit(low);
    }
    var low2 = 0u;
    {
        let k = min(256u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low2 = low;
        places[apart(256u + local, 8u)] = digit(low);
    }
    var low3 = 0u;
    {
        let k = min(384u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low3 = low;
        places[apart(384u + local, 8u)] = digit(low);
    }
    var low4 = 0u;
    {
        let k = min(512u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low4 = low;
        places[apart(512u + local, 8u)] = digit(low);
    }
    var low5 = 0u;
    {
        let k = min(640u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low5 = low;
        places[apart(640u + local, 8u)] = digit(low);
    }
    var low6 = 0u;
    {
        let k = min(768u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low6 = low;
        places[apart(768u + local, 8u)] = digit(low);
    }
    var low7 = 0u;
    {
        let k = min(896u + local, size - 1u);
        let at = first + k;
        let low = in0[at];
        low7 = low;
        places[apart(896u + local, 8u)] = digit(low);
    }
    workgroupBarrier();
    var below = 0u;
    var above = 0u;
    for (var j = 0u; j < 8u; j += 1u) {
        let slot = local * 8u + j;
        let d = places[apart(slot, 8u)];
        let rank = (select(above, below, d < 8u) >> (d % 8u * 4u)) & 15u;
        places[apart(slot, 8u)] = d | (rank << 4u);
        let one = select(0u, 1u << (d % 8u * 4u), slot < size);
        below += select(0u, one, d < 8u);
        above += select(one, 0u, d < 8u);
    }
    for (var i = 0u; i < 8u; i += 1u) {
        let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);
        counts[apart(i * 128u + local, 8u)] = both;
    }
    workgroupBarrier();
    var sum = 0u;
    if (local < 128u) {
        for (var i = 0u; i < 8u; i += 1u) {
            let at = apart(local * 8u + i, 8u);
            let own = counts[at];
            counts[at] = sum;
            sum += own;
        }
        sums[apart(local, 16u)] = sum;
    }
    workgroupBarrier();
    if (local < 8u) {
        sum = 0u;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = apart(local * 16u + i, 16u);
            let own = sums[at];
            sums[at] = sum;
            sum += own;
        }
        totals[local] = sum & 0xffffu;
        totals[local + 8u] = sum >> 16u;
    }
    workgroupBarrier();
    if (local < 16u) {
        sum = 0u;
        for (var d = 0u; d < local; d += 1u) { sum += totals[d]; }
        starts[local] = sum;
        bases[local] = base - sum;
    }
    workgroupBarrier();
    for (var j = 0u; j < 8u; j += 1u) {
        let at = apart(local * 8u + j, 8u);
        let d = places[at] & 15u;
        let own = d % 8u * 128u + local;
        let both = counts[apart(own, 8u)] + sums[apart(own / 8u, 16u)];
        let before = (both >> (d / 8u * 16u)) & 0xffffu;
        places[at] = d | ((starts[d] + before + (places[at] >> 4u)) << 4u);
    }
    workgroupBarrier();
    let place0 = places[apart(0u + local, 8u)];
    let place1 = places[apart(128u + local, 8u)];
    let place2 = places[apart(256u + local, 8u)];
    let place3 = places[apart(384u + local, 8u)];
    let place4 = places[apart(512u + local, 8u)];
    let place5 = places[apart(640u + local, 8u)];
    let place6 = places[apart(768u + local, 8u)];
    let place7 = places[apart(896u + local, 8u)];
    workgroupBarrier();
    if (0u + local < size) {
        places[place0 >> 4u] = bases[place0 & 15u] + (place0 >> 4u);
        counts[place0 >> 4u] = low0;
    }
    if (128u + local < size) {
        places[place1 >> 4u] = bases[place1 & 15u] + (place1 >> 4u);
        counts[place1 >> 4u] = low1;
    }
    if (256u + local < size) {
        places[place2 >> 4u] = bases[place2 & 15u] + (place2 >> 4u);
        counts[place2 >> 4u] = low2;
    }
    if (384u + local < size) {
        places[place3 >> 4u] = bases[place3 & 15u] + (place3 >> 4u);
        counts[place3 >> 4u] = low3;
    }
    if (512u + local < size) {
        places[place4 >> 4u] = bases[place4 & 15u] + (place4 >> 4u);
        counts[place4 >> 4u] = low4;
    }
    if (640u + local < size) {
        places[place5 >> 4u] = bases[place5 & 15u] + (place5 >> 4u);
        counts[place5 >> 4u] = low5;
    }
    if (768u + local < size) {
        places[place6 >> 4u] = bases[place6 & 15u] + (place6 >> 4u);
        counts[place6 >> 4u] = low6;
    }
    if (896u + local < size) {
        places[place7 >> 4u] = bases[place7 & 15u] + (place7 >> 4u);
        counts[place7 >> 4u] = low7;
    }
    workgroupBarrier();
    for (var k = local; k < size; k += 128u) {
        let to = places[k] - p.low;
        if (to < p.size) { result[to] = counts[k]; }
    }
}
