struct Params {
    pitch: u32,
    vectors: u32,
    scalar1: u32,
    scalar2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;

// The high words of the products in a round of Philox.
fn philox_high_wide(words: vec2<u32>) -> vec2<u32> {
    let products = vec2<u64>(words) * vec2<u64>(0xd2511f53lu, 0xcd9e8d57lu);
    return vec2<u32>(products >> vec2<u32>(32u));
}

// The first 24 bits as a number in [0, 1), which is exact. All 32 bits would be rounded, some up to 1.
fn unit_f32(bits: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bits >> vec4<u32>(8u)) * vec4<f32>(5.9604644775390625e-8);
}

// The four words of a block.
fn random_block_wide(block: u32, low: u32, high: u32) -> vec4<u32> {
    let key = vec2<u32>(low, high);
    let weyl = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    var words = philox_round_wide(vec4<u32>(block, 0u, 0u, 0u), key);
    words = philox_round_wide(words, key + weyl);
    words = philox_round_wide(words, key + weyl * 2u);
    words = philox_round_wide(words, key + weyl * 3u);
    words = philox_round_wide(words, key + weyl * 4u);
    words = philox_round_wide(words, key + weyl * 5u);
    words = philox_round_wide(words, key + weyl * 6u);
    words = philox_round_wide(words, key + weyl * 7u);
    words = philox_round_wide(words, key + weyl * 8u);
    return philox_round_wide(words, key + weyl * 9u);
}

fn philox_round_wide(words: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    let top = philox_high_wide(words.xz);
    let product = words.xz * vec2<u32>(0xd2511f53u, 0xcd9e8d57u);
    return vec4<u32>(top.y ^ words.y ^ key.x, product.y, top.x ^ words.w ^ key.y, product.x);
}

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = (id.y * p.pitch + id.x);
    if (i >= p.vectors) { return; }
    let v0 = vec4<i32>((i) * 4u + vec4<u32>(0u, 1u, 2u, 3u));
    let v1 = vec4<u32>(p.scalar1);
    let v2 = vec4<u32>(p.scalar2);
    let v3 = bitcast<vec4<u32>>(v0);
    let v4 = random_block_wide((v3).x >> 2u, (v1).x, (v2).x);
    let v5 = unit_f32(v4);
    result[i] = v5;
}
