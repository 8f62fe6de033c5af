struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    positions: u32,
    before: u32,
    run: u32,
    identity: u32,
    len1: u32,
    out_stride0: u32,
    x2_offset: u32,
    x2_stride0: u32,
    x3_offset: u32,
    x3_stride0: u32,
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

fn before2(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v3 = bitcast<vec4<f32>>(unpack_u32(in2[p.x3_offset + c0 * p.x3_stride0 + x]));
    return v3;
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
    let x = min(i, p.count - 1u) % p.columns;
    let after_x = min(i, p.count - 1u) / p.columns;
    let position = after_x % p.positions;
    let after_position = after_x / p.positions;
    let identity = vec4<f32>(bitcast<f32>(p.identity));
    let before = position + p.before;
    let last = max(before, 1u) - 1u;
    let other = max(before, 2u) - 2u;
    let sum = before0(last, x);
    var q2 = before0(other, x);
    if (before < 2u) { q2 = identity; }
    let p1 = before1(last, x);
    let s1 = p1;
    let p2 = before2(last, x);
    let s2 = join(p2, s1);
    let q1 = join(q2, p2);
    let b0_first = select(join(q1, s1), identity, vec4<bool>(before == 0u));
    let b1_first = select(join(q2, s2), identity, vec4<bool>(before == 0u));
    let b2_first = select(sum, identity, vec4<bool>(before == 0u));
    var y = identity;
    var z1 = identity;
    var b0 = b0_first;
    var b1 = b1_first;
    var b2 = b2_first;
    let begin = position * 16u;
    let end = min(begin + 16u, (p.run + 15u) / 16u);
    for (var group = begin; group < end; group++) {
        y = identity;
        for (var k = 0u; k < 16u; k++) {
            let at = group * 16u + k;
            y = join(y, element(at, x));
            let value = after(b1, y);
            store(at, x, value);
            b0 = value;
        }
        if ((group + 1u < end) & ((group & 0u) == 0u)) {
            z1 = join(z1, y);
            y = identity;
            b1 = join(b2, z1);
        }
    }
}
