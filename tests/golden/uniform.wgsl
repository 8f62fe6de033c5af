struct Params {
    pitch: u32,
    vectors: u32,
    count: u32,
    len0: u32,
    x0_offset: u32,
    scalar1: u32,
    scalar2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;

// The high words of products with the factors of a round of Philox.
fn philox_high_wide(words: vec2<u32>) -> vec2<u32> {
    let products = vec2<u64>(words) * vec2<u64>(0xd2511f53lu, 0xcd9e8d57lu);
    return vec2<u32>(products >> vec2<u32>(32u));
}

// The first 24 bits as a number of [0, 1): exact, where others would be rounded, and some up to 1.
fn unit_f32(bits: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bits >> vec4<u32>(8u)) * vec4<f32>(5.9604644775390625e-8);
}

// The word of each place in the sequence of a key: of Philox4x32-10 (Salmon et al., Parallel random numbers: as
// easy as 1, 2, 3, 2011), four words a block, whose counter is its number. As a rule the lanes are one block, and
// there is one turn of the loop. It is tested where it ends, as some drivers run a body before they leave it.
fn random_bits_wide(at: vec4<u32>, low: vec4<u32>, high: vec4<u32>) -> vec4<u32> {
    let blocks = at >> vec4<u32>(2u);
    let words = at & vec4<u32>(3u);
    let odd = (words & vec4<u32>(1u)) != vec4<u32>(0u);
    let upper = words >= vec4<u32>(2u);
    var open = vec4<bool>(true);
    var result = vec4<u32>(0u);
    loop {
        let block = select(select(select(blocks.w, blocks.z, open.z), blocks.y, open.y), blocks.x, open.x);
        let own = blocks == vec4<u32>(block);
        let all = philox_wide(block, vec2<u32>(low.x, high.x));
        let lower = select(vec4<u32>(all.x), vec4<u32>(all.y), odd);
        let word = select(lower, select(vec4<u32>(all.z), vec4<u32>(all.w), odd), upper);
        result = select(result, word, own);
        open = open & !own;
        if (!any(open)) {
            break;
        }
    }
    return result;
}

fn philox_wide(block: u32, key: vec2<u32>) -> vec4<u32> {
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
    let c0 = min((i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len0 - 1u));
    let v0 = vec4<i32>(p.x0_offset + c0);
    let v1 = vec4<u32>(p.scalar1);
    let v2 = vec4<u32>(p.scalar2);
    let v3 = bitcast<vec4<u32>>(v0);
    let v4 = random_bits_wide(v3, v1, v2);
    let v5 = unit_f32(v4);
    result[i] = v5;
}
