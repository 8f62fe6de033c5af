struct Params {
    cubics: array<vec4<f32>, 256>,
    pitch: u32,
    vectors: u32,
    scalar1: u32,
    scalar2: u32,
    zero: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;

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

// The high words of the products in a round of Philox.
fn philox_high_wide(words: vec2<u32>) -> vec2<u32> {
    let products = vec2<u64>(words) * vec2<u64>(0xd2511f53lu, 0xcd9e8d57lu);
    return vec2<u32>(products >> vec2<u32>(32u));
}

// The first 24 bits as a number in [0, 1), which is exact. All 32 bits would be rounded, some up to 1.
fn unit_f32(bits: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(bits >> vec4<u32>(8u)) * vec4<f32>(5.9604644775390625e-8);
}

// Normal numbers: the first bit of a word is the sign, and the others are the share of numbers farther from 0, in units of
// 2^-32. The first set bit of the share and three more select a cubic, which takes the rest, counted from the upper end.
fn normal_number_f32(bits: vec4<u32>) -> vec4<f32> {
    let beyond = (bits << vec4<u32>(1u)) | vec4<u32>(1u);
    let zeros = countLeadingZeros(beyond);
    let rest = ~(beyond << zeros);
    let own = (zeros << vec4<u32>(3u)) | (rest >> vec4<u32>(28u));
    let t = unit_f32(rest << vec4<u32>(4u));
    let a = p.cubics[own.x];
    let b = p.cubics[own.y];
    let c = p.cubics[own.z];
    let d = p.cubics[own.w];
    var x = mul_add_f32(vec4<f32>(a.w, b.w, c.w, d.w), t, vec4<f32>(a.z, b.z, c.z, d.z));
    x = mul_add_f32(x, t, vec4<f32>(a.y, b.y, c.y, d.y));
    x = mul_add_f32(x, t, vec4<f32>(a.x, b.x, c.x, d.x));
    // No compiler sees a sum behind bits that it does not know.
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ (bits & vec4<u32>(SIGN_f32)));
}

const SIGN_f32: u32 = 0x80000000u;

const ONE_f32: u32 = 0x3f800000u;

// For adapters that keep an fma whole. Here the addend is -0 and below the factor is 1, and no compiler knows it. The sum is an
// fma too, because Mesa's compilers exchange the addends of `fma(a, b, -0) + 0.5`.
fn times_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(a, b, vec4<f32>(bitcast<f32>(p.zero | SIGN_f32)));
}

fn plus_f32(product: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return fma(product, vec4<f32>(bitcast<f32>(p.zero | ONE_f32)), b);
}

// a * b + c, rounded twice.
fn mul_add_f32(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>) -> vec4<f32> {
    return plus_f32(times_f32(a, b), c);
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
    let v5 = normal_number_f32(v4);
    result[i] = v5;
}
