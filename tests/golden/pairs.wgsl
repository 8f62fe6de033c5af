struct Params {
    pitch: u32,
    vectors: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<Stored_i64>;
@group(0) @binding(2) var<storage, read> in0: array<Stored_i64>;
@group(0) @binding(3) var<storage, read> in1: array<Stored_i64>;

struct Lanes_i64 {
    x: vec2<u32>,
    y: vec2<u32>,
    z: vec2<u32>,
    w: vec2<u32>,
}

// In memory, as two loads of 16 bytes.
struct Stored_i64 {
    xy: vec4<u32>,
    zw: vec4<u32>,
}

fn unpack_i64(x: Stored_i64) -> Lanes_i64 {
    return Lanes_i64(x.xy.xy, x.xy.zw, x.zw.xy, x.zw.zw);
}

fn pack_i64(x: Lanes_i64) -> Stored_i64 {
    return Stored_i64(vec4<u32>(x.x, x.y), vec4<u32>(x.z, x.w));
}

fn low_i64(x: Lanes_i64) -> vec4<u32> {
    return vec4<u32>(x.x.x, x.y.x, x.z.x, x.w.x);
}

fn high_i64(x: Lanes_i64) -> vec4<u32> {
    return vec4<u32>(x.x.y, x.y.y, x.z.y, x.w.y);
}

fn of_words_i64(low: vec4<u32>, high: vec4<u32>) -> Lanes_i64 {
    return Lanes_i64(vec2<u32>(low.x, high.x), vec2<u32>(low.y, high.y), vec2<u32>(low.z, high.z), vec2<u32>(low.w, high.w));
}

fn add_i64(a: Lanes_i64, b: Lanes_i64) -> Lanes_i64 {
    let low = low_i64(a) + low_i64(b);
    let carry = select(vec4<u32>(0u), vec4<u32>(1u), low < low_i64(a));
    return of_words_i64(low, high_i64(a) + high_i64(b) + carry);
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let v0 = unpack_i64(in0[i]);
    let v1 = unpack_i64(in1[i]);
    let v2 = add_i64(v0, v1);
    result[i] = pack_i64(v2);
}
