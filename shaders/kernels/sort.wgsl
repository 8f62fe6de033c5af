// A pass of a radix sort. Rows longer than a tile take three kernels for each digit of up to eight bits of the keys, the
// lowest first:
//
// - count: how often each digit occurs in each tile. A tile's counts lie side by side.
// - scan: for each digit, the sum of its counts in the earlier tiles of the row, and behind the last tile the sum of all.
// - move: a tile is sorted by the digit in workgroup memory, so that equal digits lie side by side. Then they are stored
//   so, at `base` of the digit: behind all smaller digits of the row, and behind equal digits of earlier tiles.
//
// Rows no longer than a tile are sorted whole in workgroup memory, as many as fit: by all digits of the keys, then by the
// number of the row. Every sort is stable, so later digits keep the order by earlier ones.
//
// `group` invocations have a tile, of which each sorts sixteen neighbours. Workgroup memory is sorted by four bits at a time.
// An item stands for an element: it is the element itself, if nothing else moves, or its place in the tile. In a pass that
// moves, the digit lies above that place.

#if scan
var<workgroup> sums: array<u32, {group}>;

// A workgroup has eight neighbouring digits. Each has as many runs of tiles as invocations have it.
@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let table = number / {blocks}u * (p.all + 1u) * {digits}u + number % {blocks}u * 8u + local % 8u;
    let run = (p.all + {runs}u - 1u) / {runs}u;
    let begin = min(local / 8u * run, p.all);
    let end = min(begin + run, p.all);
    var sum = 0u;
    for (var i = begin; i < end; i += 1u) { sum += in0[table + i * {digits}u]; }
    sums[local] = sum;
    workgroupBarrier();
    sum = 0u;
    for (var i = local % 8u; i < local; i += 8u) { sum += sums[i]; }
    for (var i = begin; i < end; i += 1u) {
        let at = table + i * {digits}u;
        result[at] = sum;
        sum += in0[at];
    }
    if (local / 8u == {runs}u - 1u) { result[table + p.all * {digits}u] = sum; }
}
#else
#if count
// Four counts of each digit, so that fewer invocations meet at one.
var<workgroup> counts: array<atomic<u32>, {copies}>;
#else
var<workgroup> items: array<u32, {tile}>;
var<workgroup> counts: array<u32, {counts}>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> tops: array<u32, 16>;
#if move
var<workgroup> bases: array<u32, {digits}>;
#endif
// An invocation's counts of sixteen digits, four bits each: of the lower eight, and of the upper.
var<private> below: u32;
var<private> above: u32;

// Words of workgroup memory lie in 32 banks. Invocations that each read the first of `each` words would meet in a few banks,
// so the words are exchanged within `each`.
fn apart(i: u32, each: u32) -> u32 {
    return i ^ ((i >> 5u) & (each - 1u));
}
#endif

// The bits of a key from one on: of a word that orders elements, made of the element's words.
fn key({parameters}: u32, shift: u32) -> u32 {
#if float
    let rest = {top} & 0x7fffffffu;
#if wide
    let is_nan = (rest > 0x7ff00000u || (rest == 0x7ff00000u && low != 0u));
    let is_below = {top} >= 0x80000000u && !((rest | low) == 0u);
    let flipped = {top} ^ select(0x80000000u, 0xffffffffu, is_below);
    let signed = select(flipped, 0x80000000u, (rest | low) == 0u);
#else
    let is_nan = rest > 0x7f800000u;
    let is_below = {top} >= 0x80000000u && !(rest == 0u);
    let flipped = {top} ^ select(0x80000000u, 0xffffffffu, is_below);
    let signed = select(flipped, 0x80000000u, rest == 0u);
#endif
    let top = select(signed, 0xffffffffu, is_nan);
#else
#if signed
    let top = {top} ^ 0x80000000u;
#else
    let top = {top};
#endif
#endif
#if wide
#if float
    let word = select(select(low ^ select(0u, 0xffffffffu, is_below), 0xffffffffu, is_nan), top, shift >= 32u);
#else
    let word = select(low, top, shift >= 32u);
#endif
#else
    let word = top;
#endif
    return (word ^ p.flip) >> (shift & 31u);
}
#if !count

// The digit by which a pass moves an item.
fn digit(item: u32) -> u32 {
#if elements
    return key(item, p.shift) & {mask}u;
#else
    return item >> 16u;
#endif
}

// Four bits of an item of a tile that begins at `first`: those of a round.
fn part(item: u32, first: u32, round: u32) -> u32 {
#if move
    return (digit(item) >> (4u * round)) & 15u;
#else
    if (round >= p.rounds) { return ((item / p.length) >> (4u * (round - p.rounds))) & 15u; }
    let k = item;
    {load_key}
    return key({of}, 4u * round) & 15u;
#endif
}

// How many earlier items of the invocation have these bits. The item is counted, if it exists.
fn ranked(bits: u32, exists: bool) -> u32 {
    let shift = bits % 8u * 4u;
    let rank = (select(above, below, bits < 8u) >> shift) & 15u;
    let one = select(0u, 1u << shift, exists);
    below += select(0u, one, bits < 8u);
    above += select(one, 0u, bits < 8u);
    return rank;
}

// Makes of each of 256 sums that of the earlier ones of its sixteen, and of `tops` those of all earlier sixteens. If a sum
// has two halves, the upper ones come behind all lower ones.
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

// The place of an invocation's first item with these bits.
fn place(bits: u32, local: u32) -> u32 {
    return (counts[apart(bits % 8u * {group}u + local, 8u)] >> (bits / 8u * 16u)) & 0xffffu;
}
#endif

@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
#if rows
    let row = number * p.tiles;
    let first = row * p.length;
    let size = min(p.all - row, p.tiles) * p.length;
    // Missing items stand for the last one, and stay where they are.
    for (var slot = local; slot < {tile}u; slot += {group}u) { items[apart(slot, 16u)] = min(slot, size - 1u); }
#else
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * {tile}u;
    let first = row * p.length + before;
    let size = min(p.length - before, {tile}u);
    let table = row * (p.all + 1u);
    let counted = (table + p.before + tile) * {digits}u;
#endif
#if count
    for (var i = local; i < {copies}u; i += {group}u) { atomicStore(&counts[i], 0u); }
    workgroupBarrier();
    for (var k = local; k < size; k += {group}u) {
        {load_key}
        atomicAdd(&counts[(key({of}, p.shift) & {mask}u) * 4u + local % 4u], 1u);
    }
    workgroupBarrier();
    for (var d = local; d < {digits}u; d += {group}u) {
        var sum = 0u;
        for (var i = 0u; i < 4u; i += 1u) { sum += atomicLoad(&counts[d * 4u + i]); }
        result[counted + d] = sum;
    }
#else
#if move
    for (var d = local; d < 256u; d += {group}u) {
        sums[apart(d, 16u)] = select(0u, {offsets}[(table + p.all) * {digits}u + min(d, {digits}u - 1u)], d < {digits}u);
    }
    scanned(local, false);
    for (var d = local; d < {digits}u; d += {group}u) {
        bases[d] = row * p.length + {offsets}[counted + d] + sums[apart(d, 16u)] + tops[d / 16u];
    }
    for (var slot = local; slot < size; slot += {group}u) {
        let k = slot;
        {load_key}
#if elements
        items[apart(slot, 16u)] = low;
#else
        items[apart(slot, 16u)] = slot | ((key({of}, p.shift) & {mask}u) << 16u);
#endif
    }
#endif
    for (var round = 0u; round < p.all_rounds; round += 1u) {
        workgroupBarrier();
        below = 0u;
        above = 0u;
        let own = local * 16u;
        // Four bits of each item, and its rank. Fifteen counts fit into four bits, so the last item is counted apart.
        var own_bits = vec2<u32>(0u);
        var ranks = vec2<u32>(0u);
        {take}
        let last_bits = own_bits.y >> 28u;
        let last = select(0u, 1u << (last_bits / 8u * 16u), own + 15u < size);
        // A word has the counts of two digits, one of each half.
        for (var i = 0u; i < 8u; i += 1u) {
            let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);
            counts[apart(i * {group}u + local, 8u)] = both + select(0u, last, last_bits % 8u == i);
        }
        workgroupBarrier();
        // Each count becomes the sum of all earlier ones. An invocation has eight neighbours.
        var sum = 0u;
        for (var i = 0u; i < 8u; i += 1u) { sum += counts[apart(local * 8u + i, 8u)]; }
        for (var i = local; i < 256u; i += {group}u) { sums[apart(i, 16u)] = select(0u, sum, i == local); }
        scanned(local, true);
        sum = sums[apart(local, 16u)] + tops[local / 16u];
        for (var i = 0u; i < 8u; i += 1u) {
            let at = apart(local * 8u + i, 8u);
            let count = counts[at];
            counts[at] = sum;
            sum += count;
        }
        workgroupBarrier();
        {put}
    }
    workgroupBarrier();
#if move
    // Where a run of equal digits begins, its base becomes that of the tile's first place.
    for (var slot = local; slot < size; slot += {group}u) {
        let d = digit(items[apart(slot, 16u)]);
        let earlier = digit(items[apart(max(slot, 1u) - 1u, 16u)]);
        if ((slot == 0u) | (d != earlier)) { bases[d] -= slot; }
    }
    workgroupBarrier();
#endif
    for (var slot = local; slot < size; slot += {group}u) {
        let item = items[apart(slot, 16u)];
#if rows
        let k = item;
        let place = slot % p.length - p.low;
        let to = (row + slot / p.length) * p.size + place;
#else
        let k = item & 0xffffu;
        let place = bases[digit(item)] + slot - p.low;
        let to = place;
#endif
        if (place < p.size) {
            {store_moved}
        }
    }
#endif
}
#endif
