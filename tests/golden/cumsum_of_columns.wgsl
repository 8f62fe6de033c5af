struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    groups: u32,
    run: u32,
    identity: u32,
    len1: u32,
    out_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;

fn element(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at_v0 = (c0 * p.out_stride0) + lane;
    let v0 = vec4<f32>(in0[at_v0.x], in0[at_v0.y], in0[at_v0.z], in0[at_v0.w]);
    return v0;
}

fn after(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a + b;
}

fn join(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a + b) ^ vec4<u32>(u32(p.zero)));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let column = i % p.columns;
    let after_column = i / p.columns;
    let x0 = column * 1u;
    let lane0 = x0 * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let identity = vec4<f32>(bitcast<f32>(p.identity));
    let base = 0u;
    var carry0 = identity;
    var z1_0 = identity;
    var z2_0 = identity;
    var z3_0 = identity;
    var c2_0 = identity;
    var c3_0 = identity;
    for (var group = 0u; group < p.groups; group++) {
        var y0 = identity;
        for (var k = 0u; k < 16u; k++) {
            let at = group * 16u + k;
            if (at >= p.run) { break; }
            y0 = join(y0, element(at, x0));
            let place0 = (base + at * p.out_stride0) + lane0;
            let value0 = after(carry0, y0);
            result[place0.x] = value0.x;
            if (lane0.y < p.len1) { result[place0.y] = value0.y; }
            if (lane0.z < p.len1) { result[place0.z] = value0.z; }
            if (lane0.w < p.len1) { result[place0.w] = value0.w; }
        }
        z1_0 = join(z1_0, y0);
        carry0 = join(c2_0, z1_0);
        if ((group & 15u) == 15u) {
            z2_0 = join(z2_0, z1_0);
            z1_0 = identity;
            c2_0 = join(c3_0, z2_0);
            if ((group & 255u) == 255u) {
                z3_0 = join(z3_0, z2_0);
                z2_0 = identity;
                c3_0 = z3_0;
            }
        }
    }
}
