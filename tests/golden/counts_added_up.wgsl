struct Params {
    pitch: u32,
    count: u32,
    all: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;

var<workgroup> sums: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = id.y * p.pitch + id.x;
    if (number >= p.count) { return; }
    let table = number / 32u * (p.all + 1u) * 256u + number % 32u * 8u + local % 8u;
    let run = (p.all + 16u - 1u) / 16u;
    let begin = min(local / 8u * run, p.all);
    let end = min(begin + run, p.all);
    var sum = 0u;
    for (var i = begin; i < end; i += 1u) { sum += in0[table + i * 256u]; }
    sums[local] = sum;
    workgroupBarrier();
    sum = 0u;
    for (var i = local % 8u; i < local; i += 8u) { sum += sums[i]; }
    for (var i = begin; i < end; i += 1u) {
        let at = table + i * 256u;
        result[at] = sum;
        sum += in0[at];
    }
    if (local / 8u == 16u - 1u) { result[table + p.all * 256u] = sum; }
}
