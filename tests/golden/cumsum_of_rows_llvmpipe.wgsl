struct Params {
    pitch: u32,
    count: u32,
    positions: u32,
    positions_factor: u32,
    positions_shift: u32,
    run: u32,
    identity0: u32,
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

// The high word of one product.
fn high_word_u32(a: u32, b: u32) -> u32 {
    let middle = (a >> 16u) * (b & 0xffffu) + (((a & 0xffffu) * (b & 0xffffu)) >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// The same for one number.
fn quotient(n: u32, factor: u32, shift: u32) -> u32 {
    return high_word_u32(n, factor) >> shift;
}

// The same, and a factor of 0 stands for a division by 1.
fn share(n: u32, factor: u32, shift: u32) -> u32 {
    return select(quotient(n, factor, shift), n, factor == 0u);
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

fn store(c0: u32, at: u32, value: vec4<f32>) {
    result[c0 * p.out_stride0 + at] = pack_u32(bitcast<vec4<u32>>(value));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_position = share(min(i, p.count - 1u), p.positions_factor, p.positions_shift);
    let position = min(i, p.count - 1u) - q_position * p.positions;
    let c0 = q_position;
    let identity = (vec4<f32>(bitcast<f32>(p.identity0))).x;
    let b0_first = identity;
    let b1_first = identity;
    let b2_first = identity;
    var y = identity;
    var z1 = identity;
    var b0 = b0_first;
    var b1 = b1_first;
    var b2 = b2_first;
    let begin = position * 16u;
    let end = min(begin + 16u, (p.run + 15u) / 16u);
    for (var group = begin; group < end; group++) {
        let row = (group) * 4u;
        let a0 = element(c0, row + 0u);
        let a1 = element(c0, row + 1u);
        let a2 = element(c0, row + 2u);
        let a3 = element(c0, row + 3u);
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
        y = g15;
        let r0 = after(b1, g0);
        let r1 = after(b1, g1);
        let r2 = after(b1, g2);
        let r3 = after(b1, g3);
        let r4 = after(b1, g4);
        let r5 = after(b1, g5);
        let r6 = after(b1, g6);
        let r7 = after(b1, g7);
        let r8 = after(b1, g8);
        let r9 = after(b1, g9);
        let r10 = after(b1, g10);
        let r11 = after(b1, g11);
        let r12 = after(b1, g12);
        let r13 = after(b1, g13);
        let r14 = after(b1, g14);
        let r15 = after(b1, g15);
        store(c0, row + 0u, vec4<f32>(r0, r1, r2, r3));
        store(c0, row + 1u, vec4<f32>(r4, r5, r6, r7));
        store(c0, row + 2u, vec4<f32>(r8, r9, r10, r11));
        store(c0, row + 3u, vec4<f32>(r12, r13, r14, r15));
        b0 = r15;
        if ((group + 1u < end) & ((group & 0u) == 0u)) {
            z1 = join(z1, y);
            y = identity;
            b1 = join(b2, z1);
        }
    }
}
