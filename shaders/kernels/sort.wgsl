// A pass of a radix sort: it counts the digits of a tile, or moves its elements. Elements are loaded as they lie, and their
// digits are kept in workgroup memory. There each invocation counts the digits of neighbouring elements, and finds how many
// equal digits come before its own.
//
// `group` invocations have a tile, and each has `each` neighbouring elements. A digit has `digits` values, which lie in two
// halves. An invocation counts eight words of counts, a section.

var<workgroup> counts: array<u32, {counts}>;
var<workgroup> sums: array<u32, {group}>;
#if moved
var<workgroup> bases: array<u32, {digits}>;
// The digit of each element and how many equal ones its invocation has before it, then its destination.
var<workgroup> places: array<u32, {tile}>;
#endif

// Words of workgroup memory lie in 32 banks. Invocations that each read the first of `each` words would meet in a few banks,
// so the words are exchanged within `each`.
fn apart(i: u32, each: u32) -> u32 {
    return i ^ ((i >> 5u) & (each - 1u));
}

// The digit of a key: a word that orders elements, made of the element's words or of its index.
fn digit({parameters}) -> u32 {
#if by_row
    let key = index / p.row;
#else
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
    let key = select(select(low ^ select(0u, 0xffffffffu, is_below), 0xffffffffu, is_nan), top, p.shift >= 32u) ^ p.flip;
#else
    let key = select(low, top, p.shift >= 32u) ^ p.flip;
#endif
#else
    let key = top ^ p.flip;
#endif
#endif
    return (key >> (p.shift & 31u)) & {mask}u;
}

@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let row = number / p.tiles;
    let tile = number % p.tiles;
    let before = tile * {tile}u;
    let first = row * p.length + before;
    let size = min(p.length - before, {tile}u);
    let counted = row * {digits}u * p.all + p.before + tile;
#if moved
    if (local < {digits}u) { bases[local] = {offsets}[counted + local * p.all]; }
    for (var j = 0u; j < {each}u; j += 1u) {
        let slot = j * {group}u + local;
        let k = min(slot, size - 1u);
        {load_key}
        places[apart(slot, {each}u)] = digit({of});
    }
    workgroupBarrier();
#endif
    // Counts of four bits: the lower half of all digits, and the upper half.
    var below = 0u;
    var above = 0u;
    for (var j = 0u; j < {each}u; j += 1u) {
#if moved
        // The order of equal digits is that of elements, so an invocation counts neighbours, though neighbours load them.
        let slot = local * {each}u + j;
        let d = places[apart(slot, {each}u)];
        let rank = (select(above, below, d < {half}u) >> (d % {half}u * 4u)) & 15u;
        places[apart(slot, {each}u)] = d | (rank << 4u);
#else
        let slot = j * {group}u + local;
        let k = min(slot, size - 1u);
        {load_key}
        let d = digit({of});
#endif
        let one = select(0u, 1u << (d % {half}u * 4u), slot < size);
        below += select(0u, one, d < {half}u);
        above += select(one, 0u, d < {half}u);
    }
    // A word has the counts of two digits, one of each half. If elements move, each becomes the sum of the earlier ones.
    for (var i = 0u; i < {half}u; i += 1u) {
        let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);
        counts[apart(i * {group}u + local, 8u)] = both;
    }
    workgroupBarrier();
    var sum = 0u;
    if (local < {all_sections}u) {
        for (var i = 0u; i < 8u; i += 1u) {
            let at = apart(local * 8u + i, 8u);
            let own = counts[at];
#if moved
            counts[at] = sum;
#endif
            sum += own;
        }
        sums[apart(local, {sections}u)] = sum;
    }
    workgroupBarrier();
    if (local < {half}u) {
        sum = 0u;
        for (var i = 0u; i < {sections}u; i += 1u) {
            let at = apart(local * {sections}u + i, {sections}u);
            let own = sums[at];
#if moved
            sums[at] = sum;
#endif
            sum += own;
        }
#if !moved
        result[counted + local * p.all] = sum & 0xffffu;
        result[counted + (local + {half}u) * p.all] = sum >> 16u;
#endif
    }
#if moved
    workgroupBarrier();
    for (var j = 0u; j < {each}u; j += 1u) {
        let at = apart(local * {each}u + j, {each}u);
        let d = places[at] & 15u;
        let own = d % {half}u * {group}u + local;
        let both = counts[apart(own, 8u)] + sums[apart(own / 8u, {sections}u)];
        let before = (both >> (d / {half}u * 16u)) & 0xffffu;
        places[at] = bases[d] + before + (places[at] >> 4u);
    }
    workgroupBarrier();
    for (var j = 0u; j < {each}u; j += 1u) {
        let slot = j * {group}u + local;
        let k = min(slot, size - 1u);
        {load_moved}
        let to = places[apart(slot, {each}u)] - p.low;
        if ((to < p.size) & (slot < size)) {
            {store_moved}
        }
    }
#endif
}
