struct Params {
    pitch: u32,
    count: u32,
    groups: u32,
    identity: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;

fn unpack_u32(words: vec2<u64>) -> vec4<u32> {
    let low = vec2<u32>(words);
    let high = vec2<u32>(words >> vec2<u32>(32u));
    return vec4<u32>(low.x, high.x, low.y, high.y);
}

fn pack_u32(v: vec4<u32>) -> vec2<u64> {
    return vec2<u64>(v.xz) | (vec2<u64>(v.yw) << vec2<u32>(32u));
}

fn element(c0: u32, at: u32) -> vec4<f32> {
    let x = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[p.x1_offset + x]));
    let zero = vec4<u32>(p.zero);
    let v2 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(v0 * v1) ^ zero);
    return v2;
}

fn after(a: f32, b: f32) -> f32 {
    return a + b;
}

fn join(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a + b) ^ u32(p.zero));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let c0 = i % p.len0;
    let after_c0 = i / p.len0;
    let identity = (vec4<f32>(bitcast<f32>(p.identity))).x;
    let base = c0 * p.out_stride0;
    var carry0 = identity;
    var z1_0 = identity;
    var z2_0 = identity;
    var z3_0 = identity;
    var c2_0 = identity;
    var c3_0 = identity;
    for (var group = 0u; group < p.groups; group++) {
        let at = group * 4u;
        let a0 = element(c0, at);
        let a1 = element(c0, at + 1u);
        let a2 = element(c0, at + 2u);
        let a3 = element(c0, at + 3u);
        let g0 = a0.x;
        let g1 = join(g0, a0.y);
        let g2 = join(g1, a0.z);
        let g3 = join(g2, a0.w);
        let g4 = join(g3, a1.x);
        let g5 = join(g4, a1.y);
        let g6 = join(g5, a1.z);
        let g7 = join(g6, a1.w);
        let g8 = join(g7, a2.x);
        let g9 = join(g8, a2.y);
        let g10 = join(g9, a2.z);
        let g11 = join(g10, a2.w);
        let g12 = join(g11, a3.x);
        let g13 = join(g12, a3.y);
        let g14 = join(g13, a3.z);
        let g15 = join(g14, a3.w);
        let y0 = g15;
        let r0 = after(carry0, g0);
        let r1 = after(carry0, g1);
        let r2 = after(carry0, g2);
        let r3 = after(carry0, g3);
        let r4 = after(carry0, g4);
        let r5 = after(carry0, g5);
        let r6 = after(carry0, g6);
        let r7 = after(carry0, g7);
        let r8 = after(carry0, g8);
        let r9 = after(carry0, g9);
        let r10 = after(carry0, g10);
        let r11 = after(carry0, g11);
        let r12 = after(carry0, g12);
        let r13 = after(carry0, g13);
        let r14 = after(carry0, g14);
        let r15 = after(carry0, g15);
        result[base + at + 0u] = pack_u32(bitcast<vec4<u32>>(vec4<f32>(r0, r1, r2, r3)));
        result[base + at + 1u] = pack_u32(bitcast<vec4<u32>>(vec4<f32>(r4, r5, r6, r7)));
        result[base + at + 2u] = pack_u32(bitcast<vec4<u32>>(vec4<f32>(r8, r9, r10, r11)));
        result[base + at + 3u] = pack_u32(bitcast<vec4<u32>>(vec4<f32>(r12, r13, r14, r15)));
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
