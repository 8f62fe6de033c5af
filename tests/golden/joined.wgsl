enable f16;

struct Params {
    pitch: u32,
    len0: u32,
    len1: u32,
    out_stride0: u32,
    x1_offset: u32,
    x2_offset: u32,
    x2_stride0: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> in2: array<u32>;

fn unpack_u16(words: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(words.x & 65535u, words.x >> 16u, words.y & 65535u, words.y >> 16u);
}

fn pack_u16(v: vec4<u32>) -> vec2<u32> {
    return vec2<u32>(v.x | (v.y << 16u), v.z | (v.w << 16u));
}

fn part_u16(word: u32, at: u32) -> u32 {
    return (word >> ((at & 1u) * 16u)) & 65535u;
}

fn decode_f16(raw: vec4<u32>) -> vec4<f32> {
    let low = vec2<f32>(unpack2x16float(raw.x).x, unpack2x16float(raw.y).x);
    return vec4<f32>(low, unpack2x16float(raw.z).x, unpack2x16float(raw.w).x);
}

fn round_f16(x: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(vec4<f16>(x));
}

// For f32 values that f16 has: this instruction does not round to the nearest on every adapter.
fn encode_f16(x: vec4<f32>) -> vec4<u32> {
    return unpack_u16(vec2<u32>(pack2x16float(x.xy), pack2x16float(x.zw)));
}

@compute @workgroup_size(32, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let first = id.x * 8u;
    let c0_0 = id.z * p.pitch + id.y;
    if ((first >= p.len1) | (c0_0 >= p.len0)) { return; }
    let t0 = in0[c0_0 * p.out_stride0 + id.x];
    let t1 = in1[p.x1_offset + id.x];
    let at_v2 = p.x2_offset + c0_0 * p.x2_stride0;
    let v2 = decode_f16(vec4<u32>(part_u16(in2[at_v2 >> 1u], at_v2)));
    let v0_0 = decode_f16(unpack_u16(t0.xy));
    let v1_0 = decode_f16(unpack_u16(t1.xy));
    let v0_1 = decode_f16(unpack_u16(t0.zw));
    let v1_1 = decode_f16(unpack_u16(t1.zw));
    let zero = vec4<u32>(p.zero);
    let v3_0 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(round_f16(v0_0 * v1_0)) ^ zero);
    let v4_0 = round_f16(v2 + v3_0);
    let v3_1 = bitcast<vec4<f32>>(bitcast<vec4<u32>>(round_f16(v0_1 * v1_1)) ^ zero);
    let v4_1 = round_f16(v2 + v3_1);
    let raw_0 = encode_f16(v4_0);
    let raw_1 = encode_f16(v4_1);
    result[c0_0 * p.out_stride0 + id.x] = vec4<u32>(pack_u16(raw_0), pack_u16(raw_1));
}
