// Counts of keys: a workgroup counts the keys of its tile in a table in its memory.

var<workgroup> table: array<atomic<u32>, {table}>;

@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let begin = number * {tile}u;
    let size = min(p.length - begin, {tile}u);
    let own = (p.before + number) * p.row;
    {of_all}
    for (var k = local; k < p.row; k += {group}u) { atomicStore(&table[k], 0u); }
    workgroupBarrier();
    for (var k = local * 4u; k < size; k += {stride}u) {
        let i = (begin + k) / 4u;
        {own}
        let keys = vec4<u32>({keys});
        if ((keys.x < p.row) & (k + 0u < size)) { atomicAdd(&table[keys.x], 1u); }
        if ((keys.y < p.row) & (k + 1u < size)) { atomicAdd(&table[keys.y], 1u); }
        if ((keys.z < p.row) & (k + 2u < size)) { atomicAdd(&table[keys.z], 1u); }
        if ((keys.w < p.row) & (k + 3u < size)) { atomicAdd(&table[keys.w], 1u); }
    }
    workgroupBarrier();
    for (var k = local; k < p.row; k += {group}u) { result[own + k] = atomicLoad(&table[k]); }
}
