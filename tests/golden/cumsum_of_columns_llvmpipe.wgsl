struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    columns_factor: u32,
    columns_shift: u32,
    run: u32,
    before: u32,
    identity0: u32,
    len1: u32,
    out_stride0: u32,
    x2_offset: u32,
    x2_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;
@group(0) @binding(3) var<storage, read> in1: array<vec2<u64>>;
@group(0) @binding(4) var<storage, read> in2: array<vec2<u64>>;

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

fn element(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v0 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    return v0;
}

fn before0(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v1 = bitcast<vec4<f32>>(unpack_u32(in1[c0 * p.out_stride0 + x]));
    return v1;
}

fn before1(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v2 = bitcast<vec4<f32>>(unpack_u32(in2[p.x2_offset + c0 * p.x2_stride0 + x]));
    return v2;
}

fn after(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a + b;
}

fn join(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a + b) ^ vec4<u32>(u32(p.zero)));
}

fn store(at: u32, x: u32, value: vec4<f32>) {
    result[at * p.out_stride0 + x] = pack_u32(bitcast<vec4<u32>>(value));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * p.pitch + id.x;
    if (i >= p.count) { return; }
    let q_x = share(min(i, p.count - 1u), p.columns_factor, p.columns_shift);
    let x = min(i, p.count - 1u) - q_x * p.columns;
    let position = q_x;
    let identity = vec4<f32>(bitcast<f32>(p.identity0));
    let before = position + p.before;
    let last = max(before, 1u) - 1u;
    let other = max(before, 2u) - 2u;
    let sum = before0(last, x);
    var q1 = before0(other, x);
    if (before < 2u) { q1 = identity; }
    let p1 = before1(last, x);
    let s1 = p1;
    let b0_first = select(join(q1, s1), identity, vec4<bool>(before == 0u));
    let b1_first = select(sum, identity, vec4<bool>(before == 0u));
    var y = identity;
    var b0 = b0_first;
    var b1 = b1_first;
    let begin = position * 1u;
    let end = min(begin + 1u, (p.run + 15u) / 16u);
    for (var group = begin; group < end; group++) {
        let row = (group) * 16u;
        let a0 = element(row + 0u, x);
        let a1 = element(row + 1u, x);
        let a2 = element(row + 2u, x);
        let a3 = element(row + 3u, x);
        let a4 = element(row + 4u, x);
        let a5 = element(row + 5u, x);
        let a6 = element(row + 6u, x);
        let a7 = element(row + 7u, x);
        let a8 = element(row + 8u, x);
        let a9 = element(row + 9u, x);
        let a10 = element(row + 10u, x);
        let a11 = element(row + 11u, x);
        let a12 = element(row + 12u, x);
        let a13 = element(row + 13u, x);
        let a14 = element(row + 14u, x);
        let a15 = element(row + 15u, x);
        let g0 = a0;
        let g1 = join(g0, a1);
        let g2 = join(g1, a2);
        let g3 = join(g2, a3);
        let g4 = join(g3, a4);
        let g5 = join(g4, a5);
        let g6 = join(g5, a6);
        let g7 = join(g6, a7);
        let g8 = join(g7, a8);
        let g9 = join(g8, a9);
        let g10 = join(g9, a10);
        let g11 = join(g10, a11);
        let g12 = join(g11, a12);
        let g13 = join(g12, a13);
        let g14 = join(g13, a14);
        let g15 = join(g14, a15);
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
        store(row + 0u, x, r0);
        store(row + 1u, x, r1);
        store(row + 2u, x, r2);
        store(row + 3u, x, r3);
        store(row + 4u, x, r4);
        store(row + 5u, x, r5);
        store(row + 6u, x, r6);
        store(row + 7u, x, r7);
        store(row + 8u, x, r8);
        store(row + 9u, x, r9);
        store(row + 10u, x, r10);
        store(row + 11u, x, r11);
        store(row + 12u, x, r12);
        store(row + 13u, x, r13);
        store(row + 14u, x, r14);
        store(row + 15u, x, r15);
        b0 = r15;
    }
}
