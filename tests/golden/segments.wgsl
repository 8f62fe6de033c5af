struct Params {
    pitch: u32,
    count: u32,
    length: u32,
    tiles: u32,
    all: u32,
    rounds: u32,
    all_rounds: u32,
    flip: u32,
    low: u32,
    size: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;

var<workgroup> items: array<u32, 2048>;
var<workgroup> counts: array<u32, 1024>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> tops: array<u32, 16>;
var<private> below: u32;
var<private> above: u32;

fn apart(i: u32, each: u32) -> u32 {
    return i ^ ((i >> 5u) & (each - 1u));
}

fn key(low: u32, shift: u32) -> u32 {
    let top = low;
    let word = top;
    return (word ^ p.flip) >> (shift & 31u);
}

fn digit(item: u32) -> u32 {
    return item >> 16u;
}

fn part(item: u32, first: u32, round: u32) -> u32 {
    if (round >= p.rounds) { return ((item / p.length) >> (4u * (round - p.rounds))) & 15u; }
    let k = item;
    let at = first + k;
    let low = in0[at];
    return key(low, 4u * round) & 15u;
}

fn ranked(bits: u32, exists: bool) -> u32 {
    let shift = bits % 8u * 4u;
    let rank = (select(above, below, bits < 8u) >> shift) & 15u;
    let one = select(0u, 1u << shift, exists);
    below += select(0u, one, bits < 8u);
    above += select(one, 0u, bits < 8u);
    return rank;
}

fn scanned(local: u32, has_halves: bool) {
    workgroupBarrier();
    if (local < 16u) {
        var sum = 0u;
        for (var i = 0u; i < 16u; i += 1u) {
            let at = apart(local * 16u + i, 16u);
            let own = sums[at];
            sums[at] = sum;
            sum += own;
        }
        tops[local] = sum;
    }
    workgroupBarrier();
    if (local == 0u) {
        var all = 0u;
        for (var i = 0u; i < 16u; i += 1u) { all += tops[i]; }
        var sum = select(0u, all << 16u, has_halves);
        for (var i = 0u; i < 16u; i += 1u) {
            let own = tops[i];
            tops[i] = sum;
            sum += own;
        }
    }
    workgroupBarrier();
}

fn place(bits: u32, local: u32) -> u32 {
    return (counts[apart(bits % 8u * 128u + local, 8u)] >> (bits / 8u * 16u)) & 0xffffu;
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let row = number * p.tiles;
    let first = row * p.length;
    let size = min(p.all - row, p.tiles) * p.length;
    for (var slot = local; slot < 2048u; slot += 128u) { items[apart(slot, 16u)] = min(slot, size - 1u); }
    for (var round = 0u; round < p.all_rounds; round += 1u) {
        workgroupBarrier();
        below = 0u;
        above = 0u;
        let own = local * 16u;
        var own_bits = vec2<u32>(0u);
        var ranks = vec2<u32>(0u);
        let item0 = items[apart(own + 0u, 16u)];
        own_bits.x |= part(item0, first, round) << 0u;
        ranks.x |= ranked((own_bits.x >> 0u) & 15u, own + 0u < size) << 0u;
        let item1 = items[apart(own + 1u, 16u)];
        own_bits.x |= part(item1, first, round) << 4u;
        ranks.x |= ranked((own_bits.x >> 4u) & 15u, own + 1u < size) << 4u;
        let item2 = items[apart(own + 2u, 16u)];
        own_bits.x |= part(item2, first, round) << 8u;
        ranks.x |= ranked((own_bits.x >> 8u) & 15u, own + 2u < size) << 8u;
        let item3 = items[apart(own + 3u, 16u)];
        own_bits.x |= part(item3, first, round) << 12u;
        ranks.x |= ranked((own_bits.x >> 12u) & 15u, own + 3u < size) << 12u;
        let item4 = items[apart(own + 4u, 16u)];
        own_bits.x |= part(item4, first, round) << 16u;
        ranks.x |= ranked((own_bits.x >> 16u) & 15u, own + 4u < size) << 16u;
        let item5 = items[apart(own + 5u, 16u)];
        own_bits.x |= part(item5, first, round) << 20u;
        ranks.x |= ranked((own_bits.x >> 20u) & 15u, own + 5u < size) << 20u;
        let item6 = items[apart(own + 6u, 16u)];
        own_bits.x |= part(item6, first, round) << 24u;
        ranks.x |= ranked((own_bits.x >> 24u) & 15u, own + 6u < size) << 24u;
        let item7 = items[apart(own + 7u, 16u)];
        own_bits.x |= part(item7, first, round) << 28u;
        ranks.x |= ranked((own_bits.x >> 28u) & 15u, own + 7u < size) << 28u;
        let item8 = items[apart(own + 8u, 16u)];
        own_bits.y |= part(item8, first, round) << 0u;
        ranks.y |= ranked((own_bits.y >> 0u) & 15u, own + 8u < size) << 0u;
        let item9 = items[apart(own + 9u, 16u)];
        own_bits.y |= part(item9, first, round) << 4u;
        ranks.y |= ranked((own_bits.y >> 4u) & 15u, own + 9u < size) << 4u;
        let item10 = items[apart(own + 10u, 16u)];
        own_bits.y |= part(item10, first, round) << 8u;
        ranks.y |= ranked((own_bits.y >> 8u) & 15u, own + 10u < size) << 8u;
        let item11 = items[apart(own + 11u, 16u)];
        own_bits.y |= part(item11, first, round) << 12u;
        ranks.y |= ranked((own_bits.y >> 12u) & 15u, own + 11u < size) << 12u;
        let item12 = items[apart(own + 12u, 16u)];
        own_bits.y |= part(item12, first, round) << 16u;
        ranks.y |= ranked((own_bits.y >> 16u) & 15u, own + 12u < size) << 16u;
        let item13 = items[apart(own + 13u, 16u)];
        own_bits.y |= part(item13, first, round) << 20u;
        ranks.y |= ranked((own_bits.y >> 20u) & 15u, own + 13u < size) << 20u;
        let item14 = items[apart(own + 14u, 16u)];
        own_bits.y |= part(item14, first, round) << 24u;
        ranks.y |= ranked((own_bits.y >> 24u) & 15u, own + 14u < size) << 24u;
        let item15 = items[apart(own + 15u, 16u)];
        own_bits.y |= part(item15, first, round) << 28u;
        ranks.y |= ranked((own_bits.y >> 28u) & 15u, false) << 28u;
        let last_bits = own_bits.y >> 28u;
        let last = select(0u, 1u << (last_bits / 8u * 16u), own + 15u < size);
        for (var i = 0u; i < 8u; i += 1u) {
            let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);
            counts[apart(i * 128u + local, 8u)] = both + select(0u, last, last_bits % 8u == i);
        }
        workgroupBarrier();
        var sum = 0u;
        for (var i = 0u; i < 8u; i += 1u) { sum += counts[apart(local * 8u + i, 8u)]; }
        for (var i = local; i < 256u; i += 128u) { sums[apart(i, 16u)] = select(0u, sum, i == local); }
        scanned(local, true);
        sum = sums[apart(local, 16u)] + tops[local / 16u];
        for (var i = 0u; i < 8u; i += 1u) {
            let at = apart(local * 8u + i, 8u);
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        workgroupBarrier();
        if (own + 0u < size) { items[apart(place((own_bits.x >> 0u) & 15u, local) + ((ranks.x >> 0u) & 15u), 16u)] = item0; }
        if (own + 1u < size) { items[apart(place((own_bits.x >> 4u) & 15u, local) + ((ranks.x >> 4u) & 15u), 16u)] = item1; }
        if (own + 2u < size) { items[apart(place((own_bits.x >> 8u) & 15u, local) + ((ranks.x >> 8u) & 15u), 16u)] = item2; }
        if (own + 3u < size) { items[apart(place((own_bits.x >> 12u) & 15u, local) + ((ranks.x >> 12u) & 15u), 16u)] = item3; }
        if (own + 4u < size) { items[apart(place((own_bits.x >> 16u) & 15u, local) + ((ranks.x >> 16u) & 15u), 16u)] = item4; }
        if (own + 5u < size) { items[apart(place((own_bits.x >> 20u) & 15u, local) + ((ranks.x >> 20u) & 15u), 16u)] = item5; }
        if (own + 6u < size) { items[apart(place((own_bits.x >> 24u) & 15u, local) + ((ranks.x >> 24u) & 15u), 16u)] = item6; }
        if (own + 7u < size) { items[apart(place((own_bits.x >> 28u) & 15u, local) + ((ranks.x >> 28u) & 15u), 16u)] = item7; }
        if (own + 8u < size) { items[apart(place((own_bits.y >> 0u) & 15u, local) + ((ranks.y >> 0u) & 15u), 16u)] = item8; }
        if (own + 9u < size) { items[apart(place((own_bits.y >> 4u) & 15u, local) + ((ranks.y >> 4u) & 15u), 16u)] = item9; }
        if (own + 10u < size) { items[apart(place((own_bits.y >> 8u) & 15u, local) + ((ranks.y >> 8u) & 15u), 16u)] = item10; }
        if (own + 11u < size) { items[apart(place((own_bits.y >> 12u) & 15u, local) + ((ranks.y >> 12u) & 15u), 16u)] = item11; }
        if (own + 12u < size) { items[apart(place((own_bits.y >> 16u) & 15u, local) + ((ranks.y >> 16u) & 15u), 16u)] = item12; }
        if (own + 13u < size) { items[apart(place((own_bits.y >> 20u) & 15u, local) + ((ranks.y >> 20u) & 15u), 16u)] = item13; }
        if (own + 14u < size) { items[apart(place((own_bits.y >> 24u) & 15u, local) + ((ranks.y >> 24u) & 15u), 16u)] = item14; }
        if (own + 15u < size) { items[apart(place((own_bits.y >> 28u) & 15u, local) + ((ranks.y >> 28u) & 15u), 16u)] = item15; }
    }
    workgroupBarrier();
    for (var slot = local; slot < size; slot += 128u) {
        let item = items[apart(slot, 16u)];
        let k = item;
        let place = slot % p.length - p.low;
        let to = (row + slot / p.length) * p.size + place;
        if (place < p.size) {
            let at = first + k;
            let index = k % p.length;
            result[to] = index;
        }
    }
}
