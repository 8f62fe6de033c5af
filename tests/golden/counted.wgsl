struct Params {
    pitch: u32,
    count: u32,
    row: u32,
    before: u32,
    length: u32,
    x0_offset: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u32>>;

var<workgroup> table: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let begin = number * 8192u;
    let size = min(p.length - begin, 8192u);
    let own = (p.before + number) * p.row;
    for (var k = local; k < p.row; k += 256u) { atomicStore(&table[k], 0u); }
    workgroupBarrier();
    for (var k = local * 4u; k < size; k += 1024u) {
        let i = (begin + k) / 4u;
        let v0 = in0[p.x0_offset + i];
        let keys = vec4<u32>(v0);
        if ((keys.x < p.row) & (k + 0u < size)) { atomicAdd(&table[keys.x], 1u); }
        if ((keys.y < p.row) & (k + 1u < size)) { atomicAdd(&table[keys.y], 1u); }
        if ((keys.z < p.row) & (k + 2u < size)) { atomicAdd(&table[keys.z], 1u); }
        if ((keys.w < p.row) & (k + 3u < size)) { atomicAdd(&table[keys.w], 1u); }
    }
    workgroupBarrier();
    for (var k = local; k < p.row; k += 256u) { result[own + k] = atomicLoad(&table[k]); }
}
