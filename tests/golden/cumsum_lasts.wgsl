struct Params {
    pitch: u32,
    count: u32,
    vectors: u32,
    part: u32,
    identity0: u32,
    len0: u32,
    x0_offset: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;

fn element(at: u32) -> vec4<f32> {
    let x = min(at, p.vectors - 1u);
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len0 - 1u));
    let v0 = in0[p.x0_offset + x];
    return v0;
}

fn join(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a + b) ^ u32(p.zero));
}

fn store(at: u32, part: u32, value: f32) {
    result[at + part * p.part] = value;
}

var<workgroup> shared_values: array<vec4<f32>, 1024>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = id.y * p.pitch + id.x;
    let tiles = i / 256u * 1u;
    let group = local % 256u;
    let own_item = tiles + local / 256u;
    let position = min(own_item, p.count - 1u);
    let identity = (vec4<f32>(bitcast<f32>(p.identity0))).x;
    let vector0 = local + 0u;
    let item0 = tiles + vector0 / 1024u;
    let position_0 = min(item0, p.count - 1u);
    let at0 = position_0 * 1024u + vector0 % 1024u;
    let loaded0 = element(at0);
    let vector1 = local + 256u;
    let item1 = tiles + vector1 / 1024u;
    let position_1 = min(item1, p.count - 1u);
    let at1 = position_1 * 1024u + vector1 % 1024u;
    let loaded1 = element(at1);
    let vector2 = local + 512u;
    let item2 = tiles + vector2 / 1024u;
    let position_2 = min(item2, p.count - 1u);
    let at2 = position_2 * 1024u + vector2 % 1024u;
    let loaded2 = element(at2);
    let vector3 = local + 768u;
    let item3 = tiles + vector3 / 1024u;
    let position_3 = min(item3, p.count - 1u);
    let at3 = position_3 * 1024u + vector3 % 1024u;
    let loaded3 = element(at3);
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
    let above = until / 16u;
    if ((group % 16u == 0u) & (group > 0u)) {
        shared_values[256u + above].x = z1;
    }
    workgroupBarrier();
    var z2 = identity;
    for (var k = 0u; k < above; k++) {
        z2 = join(z2, shared_values[256u + k].x);
    }
    if ((group == 255u) & (own_item < p.count)) {
        store(position, 0u, join(z2, join(z1, g15)));
        store(position, 1u, g15);
        store(position, 2u, z1);
        store(position, 3u, z2);
    }
}
