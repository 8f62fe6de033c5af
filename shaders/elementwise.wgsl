// The kernel of `(x - row) / column * 0.5` over a matrix of f32, explained. A test checks that the emitted kernel
// equals this file without its comments.

// Every number that depends on sizes is in this block and not in the code, so a new shape of the same class
// runs the same kernel. Lengths are those of the collapsed axes, outermost first. Strides and
// offsets count elements, or vectors of four if the array has vectors.
struct Params {
    // Invocations along y, where the rows continue along z.
    pitch: u32,
    len0: u32,
    len1: u32,
    // A new result begins at its first element, so it has no offset.
    out_stride0: u32,
    // The first operand has the result's addresses, so it has no words here.
    x1_offset: u32,
    // The row has no stride along y: every row of the matrix reads the same elements, without a copy.
    x2_offset: u32,
    x2_stride0: u32,
    // Constants are here as bits: NaN and infinity have no literal in WGSL, and an expression with another
    // constant runs the same kernel.
    scalar3: u32,
    // Always 0, but no compiler knows that.
    zero: u32,
}

// The result has the same binding in every kernel. A binding for each storage that operands lie in follows.
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in2: array<f32>;
// Functions of the prelude that steps call stand here. This kernel calls none.

@compute @workgroup_size(64, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    // The grid follows the axes, so coordinates need no division: an invocation has four neighbours on
    // the inner axis, and rows lie along y and z. A workgroup has one row, so a GPU computes the row's
    // values once for all of its invocations.
    let first = id.x * 4u;
    let c0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0 >= p.len0)) { return; }
    // Each operand is loaded by its access. Elements of the matrix and the row lie side by side and aligned,
    // so one load takes four. The column has one element for all four lanes.
    let v0 = in0[c0 * p.out_stride0 + id.x];
    let v1 = in1[p.x1_offset + id.x];
    let v2 = vec4<f32>(in2[p.x2_offset + c0 * p.x2_stride0]);
    let v3 = vec4<f32>(bitcast<f32>(p.scalar3));
    let zero = vec4<u32>(p.zero);
    // Each step of the expression has a line. Compilers of drivers rewrite float arithmetic as algebra, for
    // example `(a + b) - a` to `b`. A result of arithmetic that arithmetic reads therefore passes a fence, an
    // exclusive or with a number that the compiler does not know. To the compiler, the result is a new value.
    let v4 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 - v1) ^ zero);
    let v5 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v4 / v2) ^ zero);
    let v6 = v3 * v5;
    result[c0 * p.out_stride0 + id.x] = v6;
}
