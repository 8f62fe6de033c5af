struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    columns_factor: u32,
    columns_shift: u32,
    run: u32,
    identity0: u32,
    len1: u32,
    out_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<f32>;

fn high_word_u32(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
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
    let c0 = min(at, p.run - 1u);
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

fn store(at: u32, x: u32, value: vec4<f32>) {
    if (at >= p.run) { return; }
    let lane = x * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let place = (at * p.out_stride0) + lane;
    if (lane.x < p.len1) { result[place.x] = value.x; }
    if (lane.y < p.len1) { result[place.y] = value.y; }
    if (lane.z < p.len1) { result[place.z] = value.z; }
    if (lane.w < p.len1) { result[place.w] = value.w; }
}

var<workgroup> shared_values: array<vec4<f32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let tiles = i / 256u * 16u;
    let group = local / 16u;
    let own_item = tiles + local % 16u;
    let q_x = share(min(own_item, p.count - 1u), p.columns_factor, p.columns_shift);
    let x = min(own_item, p.count - 1u) - q_x * p.columns;
    let position = q_x;
    let identity = vec4<f32>(bitcast<f32>(p.identity0));
    let b0_first = identity;
    let b1_first = identity;
    let b2_first = identity;
    let row = (position * 16u + group) * 16u;
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
    let first = own_item - tiles;
    workgroupBarrier();
    shared_values[local] = g15;
    workgroupBarrier();
    let until = max(group, 1u) - 1u;
    var z1 = identity;
    for (var k = until & 4294967280u; k <= until; k++) {
        z1 = join(z1, shared_values[first + k * 16u]);
    }
    var before_group = b1_first;
    if (group > 0u) { before_group = join(b2_first, z1); }
    var previous = b0_first;
    let r0 = after(before_group, g0);
    let r1 = after(before_group, g1);
    let r2 = after(before_group, g2);
    let r3 = after(before_group, g3);
    let r4 = after(before_group, g4);
    let r5 = after(before_group, g5);
    let r6 = after(before_group, g6);
    let r7 = after(before_group, g7);
    let r8 = after(before_group, g8);
    let r9 = after(before_group, g9);
    let r10 = after(before_group, g10);
    let r11 = after(before_group, g11);
    let r12 = after(before_group, g12);
    let r13 = after(before_group, g13);
    let r14 = after(before_group, g14);
    let r15 = after(before_group, g15);
    if (own_item < p.count) {
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
    }
}
