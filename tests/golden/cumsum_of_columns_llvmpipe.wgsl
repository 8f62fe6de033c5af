struct Params {
    pitch: u32,
    count: u32,
    columns: u32,
    vectors: u32,
    positions: u32,
    before: u32,
    identity: u32,
    len1: u32,
    out_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec2<u64>>;
@group(0) @binding(2) var<storage, read> in0: array<vec2<u64>>;

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

fn carried(at: u32, x: u32) -> vec4<f32> {
    let c0 = at;
    let first = x * 4u;
    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len1 - 1u));
    let v1 = bitcast<vec4<f32>>(unpack_u32(in0[c0 * p.out_stride0 + x]));
    return v1;
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
    let position = after_column % p.positions;
    let after_position = after_column / p.positions;
    let x0 = column * 2u;
    let x1 = min(column * 2u + 1u, p.vectors - 1u);
    let identity = vec4<f32>(bitcast<f32>(p.identity));
    let base = 0u;
    let before = position + p.before;
    var carry0 = carried(max(before, 1u) - 1u, x0);
    if (before == 0u) { carry0 = identity; }
    var carry1 = carried(max(before, 1u) - 1u, x1);
    if (before == 0u) { carry1 = identity; }
    let group = position;
    var y0 = identity;
    var y1 = identity;
    for (var k = 0u; k < 16u; k++) {
        let at = group * 16u + k;
        y0 = join(y0, element(at, x0));
        y1 = join(y1, element(at, x1));
        result[base + at * p.out_stride0 + x0] = pack_u32(bitcast<vec4<u32>>(after(carry0, y0)));
        result[base + at * p.out_stride0 + x1] = pack_u32(bitcast<vec4<u32>>(after(carry1, y1)));
    }
}
