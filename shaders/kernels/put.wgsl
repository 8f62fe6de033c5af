// Writes rows of updates to the rows of the result that their places name. An invocation writes a word. Places differ, so no
// two invocations write one word. An update whose place is past the last row is dropped.

@compute @workgroup_size({group})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let update = i / p.row;
    let place = in1[update];
    // Of a result that is bound in parts, each kernel writes what lies in its own.
    let to = place * p.row + (i - update * p.row) - p.low;
    if ((place < p.rows) & (to < p.size)) { result[to] = in0[i]; }
}
