struct Params {
    pitch: u32,
    count: u32,
    length: u32,
    before: u32,
    row: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;

var<workgroup> table: array<atomic<u32>, 256>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let first = number * 8192u;
    let size = min(p.length - first, 8192u);
    let own = (p.before + number) * p.row;
    for (var k = local; k < p.row; k += 128u) { atomicStore(&table[k], 0u); }
    workgroupBarrier();
    for (var k = local; k < size; k += 128u) {
        let key = in0[first + k];
        if (key < p.row) { atomicAdd(&table[key], 1u); }
    }
    workgroupBarrier();
    for (var k = local; k < p.row; k += 128u) { result[own + k] = atomicLoad(&table[k]); }
}
