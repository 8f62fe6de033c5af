struct Params {
    pitch: u32,
    count: u32,
    rows: u32,
    row: u32,
    low: u32,
    size: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read> in0: array<u32>;
@group(0) @binding(3) var<storage, read> in1: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let update = i / p.row;
    let place = in1[update];
    let to = place * p.row + (i - update * p.row) - p.low;
    if ((place < p.rows) & (to < p.size)) { result[to] = in0[i]; }
}
