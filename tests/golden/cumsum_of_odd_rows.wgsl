struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    positions: u32,
    positions_factor: u32,
    positions_shift: u32,
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

fn element(c0: u32, at: u32) -> vec4<f32> {
    let x = min(at, p.vectors - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let at_v0 = (c0 * p.out_stride0) + lane;
    let v0 = vec4<f32>(in0[at_v0.x], in0[at_v0.y], in0[at_v0.z], in0[at_v0.w]);
    return v0;
}

fn after(a: f32, b: f32) -> f32 {
    return a + b;
}

fn join(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a + b) ^ u32(p.zero));
}

fn store(c0: u32, at: u32, value: vec4<f32>) {
    if (at >= p.vectors) { return; }
    let lane = at * 4u + vec4<u32>(0u, 1u, 2u, 3u);
    let place = (c0 * p.out_stride0) + lane;
    if (lane.x < p.len1) { result[place.x] = value.x; }
    if (lane.y < p.len1) { result[place.y] = value.y; }
    if (lane.z < p.len1) { result[place.z] = value.z; }
    if (lane.w < p.len1) { result[place.w] = value.w; }
}

var<workgroup> shared_values: array<vec4<f32>, 1024>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let tiles = i / 256u * 16u;
    let group = local % 16u;
    let own_item = tiles + local / 16u;
    let q_position = share(min(own_item, p.count - 1u), p.positions_factor, p.positions_shift);
    let position = min(own_item, p.count - 1u) - q_position * p.positions;
    let c0 = q_position;
    let identity = (vec4<f32>(bitcast<f32>(p.identity0))).x;
    let b0_first = identity;
    let b1_first = identity;
    let b2_first = identity;
    let vector0 = local + 0u;
    let item0 = tiles + vector0 / 64u;
    let q_position_0 = share(min(item0, p.count - 1u), p.positions_factor, p.positions_shift);
    let position_0 = min(item0, p.count - 1u) - q_position_0 * p.positions;
    let c0_0 = q_position_0;
    let at0 = position_0 * 64u + vector0 % 64u;
    let loaded0 = element(c0_0, at0);
    let vector1 = local + 256u;
    let item1 = tiles + vector1 / 64u;
    let q_position_1 = share(min(item1, p.count - 1u), p.positions_factor, p.positions_shift);
    let position_1 = min(item1, p.count - 1u) - q_position_1 * p.positions;
    let c0_1 = q_position_1;
    let at1 = position_1 * 64u + vector1 % 64u;
    let loaded1 = element(c0_1, at1);
    let vector2 = local + 512u;
    let item2 = tiles + vector2 / 64u;
    let q_position_2 = share(min(item2, p.count - 1u), p.positions_factor, p.positions_shift);
    let position_2 = min(item2, p.count - 1u) - q_position_2 * p.positions;
    let c0_2 = q_position_2;
    let at2 = position_2 * 64u + vector2 % 64u;
    let loaded2 = element(c0_2, at2);
    let vector3 = local + 768u;
    let item3 = tiles + vector3 / 64u;
    let q_position_3 = share(min(item3, p.count - 1u), p.positions_factor, p.positions_shift);
    let position_3 = min(item3, p.count - 1u) - q_position_3 * p.positions;
    let c0_3 = q_position_3;
    let at3 = position_3 * 64u + vector3 % 64u;
    let loaded3 = element(c0_3, at3);
    shared_values[vector0 ^ ((vector0 >> 3u) & 7u)] = loaded0;
    shared_values[vector1 ^ ((vector1 >> 3u) & 7u)] = loaded1;
    shared_values[vector2 ^ ((vector2 >> 3u) & 7u)] = loaded2;
    shared_values[vector3 ^ ((vector3 >> 3u) & 7u)] = loaded3;
    workgroupBarrier();
    let own0 = local * 4u + 0u;
    let a0 = shared_values[own0 ^ ((own0 >> 3u) & 7u)];
    let own1 = local * 4u + 1u;
    let a1 = shared_values[own1 ^ ((own1 >> 3u) & 7u)];
    let own2 = local * 4u + 2u;
    let a2 = shared_values[own2 ^ ((own2 >> 3u) & 7u)];
    let own3 = local * 4u + 3u;
    let a3 = shared_values[own3 ^ ((own3 >> 3u) & 7u)];
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
    let first = local - group;
    workgroupBarrier();
    shared_values[local].x = g15;
    workgroupBarrier();
    let until = max(group, 1u) - 1u;
    var z1 = identity;
    for (var k = until & 4294967280u; k <= until; k++) {
        z1 = join(z1, shared_values[first + k * 1u].x);
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
    workgroupBarrier();
    shared_values[own0 ^ ((own0 >> 3u) & 7u)] = vec4<f32>(r0, r1, r2, r3);
    shared_values[own1 ^ ((own1 >> 3u) & 7u)] = vec4<f32>(r4, r5, r6, r7);
    shared_values[own2 ^ ((own2 >> 3u) & 7u)] = vec4<f32>(r8, r9, r10, r11);
    shared_values[own3 ^ ((own3 >> 3u) & 7u)] = vec4<f32>(r12, r13, r14, r15);
    workgroupBarrier();
    if (item0 < p.count) { store(c0_0, at0, shared_values[vector0 ^ ((vector0 >> 3u) & 7u)]); }
    if (item1 < p.count) { store(c0_1, at1, shared_values[vector1 ^ ((vector1 >> 3u) & 7u)]); }
    if (item2 < p.count) { store(c0_2, at2, shared_values[vector2 ^ ((vector2 >> 3u) & 7u)]); }
    if (item3 < p.count) { store(c0_3, at3, shared_values[vector3 ^ ((vector3 >> 3u) & 7u)]); }
}
