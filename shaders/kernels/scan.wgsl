// A pass of a scan. An invocation has a group of sixteen values in registers, and the groups of a tile meet in workgroup memory:
// sixteen groups, or sixteen times sixteen of these. Along a run, the lanes of a vector are neighbours. Across runs, each lane is
// a run, and a vector is added as a whole.
//
// The state before a place has levels. `b0` is the value of everything before the tile, `b1` of everything before its first
// group, `b2` of everything before its first group of groups, and so on.

#if !lasts
// Unfenced, for values that are stored and not read again.
fn after(a: {own}, b: {own}) -> {own} {
    return {joined};
}

#endif
// Fenced: nothing may reorder it.
fn join(a: {own}, b: {own}) -> {own} {
    return {fenced};
}

// Stores a vector of values, or a part of a tile's last value.
fn store({parameters}, value: {stored}) {
#if ends
    if (at >= {end}) { return; }
#endif
#if one_value
    result[{row}] = value;
#else
#if by_vectors
    result[{row} + {x}] = {packed};
#else
    let lane = {x} * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let place = ({row}) + {lanes};
    if (lane.x < p.len{inner}) { result[place.x] = value.x; }
    if (lane.y < p.len{inner}) { result[place.y] = value.y; }
    if (lane.z < p.len{inner}) { result[place.z] = value.z; }
    if (lane.w < p.len{inner}) { result[place.w] = value.w; }
#endif
#endif
}

#if meets
var<workgroup> shared_values: array<{vector}, {size}>;

#endif
@compute @workgroup_size({workgroup})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let tiles = i / {workgroup}u * {beside}u;
    // Neighbours have neighbouring groups of a run, or neighbouring runs.
#if along
    let group = local % {groups}u;
    let own_item = tiles + local / {groups}u;
#else
    let group = local / {beside}u;
    let own_item = tiles + local % {beside}u;
#endif
    {tile}
    let identity = {identity};
#if carried
    // The scan of the tiles' last values, and the parts of each.
    let before = position + p.before;
    let last = max(before, 1u) - 1u;
    let other = max(before, 2u) - 2u;
    let sum = before0({last});
    var q{levels} = before0({other});
    if (before < 2u) { q{levels} = identity; }
    let p1 = before1({last});
    let s1 = p1;
#if two_levels
    let p2 = before2({last});
    let s2 = join(p2, s1);
#endif
#if three_levels
    let p3 = before3({last});
    let s3 = join(p3, s2);
    let q2 = join(q3, p3);
#endif
#if two_levels
    let q1 = join(q2, p2);
#endif
    let b0_first = {select}(join(q1, s1), identity, {is_first});
#if two_levels
    let b1_first = {select}(join(q2, s2), identity, {is_first});
#endif
#if three_levels
    let b2_first = {select}(join(q3, s3), identity, {is_first});
#endif
    let b{levels}_first = {select}(sum, identity, {is_first});
#else
#if !lasts
    let b0_first = identity;
    let b1_first = identity;
#if two_levels
    let b2_first = identity;
#endif
#if three_levels
    let b3_first = identity;
#endif
#endif
#endif
    {loads}
#if along
    // Vectors are loaded as they lie, and change hands in workgroup memory. Their places there put neighbours' vectors in
    // different banks.
    shared_values[vector0 ^ ((vector0 >> 3u) & 7u)] = loaded0;
    shared_values[vector1 ^ ((vector1 >> 3u) & 7u)] = loaded1;
    shared_values[vector2 ^ ((vector2 >> 3u) & 7u)] = loaded2;
    shared_values[vector3 ^ ((vector3 >> 3u) & 7u)] = loaded3;
    workgroupBarrier();
    let own0 = local * 4u + 0u;
    let a0 = shared_values[own0 ^ ((own0 >> 3u) & 7u)];
    let own1 = local * 4u + 1u;
    let a1 = shared_values[own1 ^ ((own1 >> 3u) & 7u)];
    let own2 = local * 4u + 2u;
    let a2 = shared_values[own2 ^ ((own2 >> 3u) & 7u)];
    let own3 = local * 4u + 3u;
    let a3 = shared_values[own3 ^ ((own3 >> 3u) & 7u)];
#endif
    {prefixes}
    let first = {first};
#if two_levels
    workgroupBarrier();
    shared_values[local]{lane} = g15;
    workgroupBarrier();
    // All groups before this one, in its group of groups or in the one before.
    let until = max(group, 1u) - 1u;
    var z1 = identity;
    for (var k = until & 4294967280u; k <= until; k++) {
        z1 = join(z1, shared_values[first + k * {apart}u]{lane});
    }
#endif
#if three_levels
    let above = until / 16u;
    if ((group % 16u == 0u) & (group > 0u)) {
        shared_values[{workgroup}u + above]{lane} = z1;
    }
    workgroupBarrier();
    var z2 = identity;
    for (var k = 0u; k < above; k++) {
        z2 = join(z2, shared_values[{workgroup}u + k]{lane});
    }
#endif
#if lasts
    if ((group == {last_group}u) & (own_item < p.count)) {
        {lasts}
    }
#else
    var before_group = b1_first;
#if two_levels
    if (group > 0u) { before_group = join(b2_first, z1); }
#endif
#if three_levels
    if (above > 0u) { before_group = join(join(b3_first, z2), z1); }
#endif
    var previous = b0_first;
#if follows
    workgroupBarrier();
    shared_values[local]{lane} = after(before_group, g15);
    workgroupBarrier();
    if (group > 0u) { previous = shared_values[first + until * {apart}u]{lane}; }
#endif
    {results}
#if along
    workgroupBarrier();
    shared_values[own0 ^ ((own0 >> 3u) & 7u)] = {vector}({values0});
    shared_values[own1 ^ ((own1 >> 3u) & 7u)] = {vector}({values1});
    shared_values[own2 ^ ((own2 >> 3u) & 7u)] = {vector}({values2});
    shared_values[own3 ^ ((own3 >> 3u) & 7u)] = {vector}({values3});
    workgroupBarrier();
    {stores}
#else
    if (own_item < p.count) {
        {stores}
    }
#endif
#endif
}
