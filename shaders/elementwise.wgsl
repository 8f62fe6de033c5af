// What the emitter writes for `(x - row) / column * 0.5` over a matrix of f32, explained. A test
// holds that this file without its comments is the emitted kernel, to the letter.

// Every number that depends on sizes is in here and not in the text, so that a new shape of the
// same class runs the same kernel. Lengths are those of the collapsed axes, outermost first;
// strides and offsets count elements, or vectors of four where an array has these.
struct Params {
    // Invocations along y, where the rows continue along z.
    pitch: u32,
    len0: u32,
    len1: u32,
    // A new result begins at its first element, and so has no offset.
    out_stride0: u32,
    // The first operand walks as the result does, and has no words of its own.
    x1_offset: u32,
    // The row has no stride along y: it is the same for every row of the matrix, and never copied to
    // be so.
    x2_offset: u32,
    x2_stride0: u32,
    // Constants travel here too, as bits: NaN and infinity have no literal in WGSL, and another
    // constant is no other kernel.
    scalar3: u32,
    // 0, which no compiler knows.
    zero: u32,
}

// The result has the same binding in every kernel; tensors follow, each storage once.
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in2: array<f32>;
// Functions of the prelude follow here, those that the steps call and no others.

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // The grid follows the axes, so coordinates need no division: four neighbours on the inner
    // axis per invocation, rows along y and z. A workgroup has one row, so a GPU computes once for all of
    // its invocations what belongs to the row.
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    // Operands by their access: the matrix and the row lie next to each other and aligned, so one
    // load takes four; the column is one element for all four lanes.
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let v2 = vec4<f32>(in2[p.x2_offset + c0 * p.x2_stride0]);
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let zero = vec4<u32>(p.zero);
    // One line per step of the expression. Compilers of drivers rewrite arithmetic of floats as if it were
    // algebra, `(a + b) - a` to `b` for one. So what arithmetic made and reads again passes a fence, an
    // exclusive or with a number that they do not know: to them it is a new value.
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v4 / v2) ^ zero);
    let v6 = v3 * v5;
    result[c0 * p.out_stride0 + id.x] = v6;
}
