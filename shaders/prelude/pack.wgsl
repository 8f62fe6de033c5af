// Elements of 8 and 16 bits. A word has four or two, with the lowest address in the lowest bits. Raw elements
// lie in the low bits of u32 lanes.

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

// The element at address `at`, from its word.
fn part_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

fn unpack_u16(words: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(words.x & 65535u, words.x >> 16u, words.y & 65535u, words.y >> 16u);
}

fn pack_u16(v: vec4<u32>) -> vec2<u32> {
    return vec2<u32>(v.x | (v.y << 16u), v.z | (v.w << 16u));
}

fn part_u16(word: u32, at: u32) -> u32 {
    return (word >> ((at & 1u) * 16u)) & 65535u;
}

// A narrow signed integer from the low bits. The bits above become copies of its sign.
fn sign_extend(raw: vec4<u32>, above: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(raw << vec4<u32>(above)) >> vec4<u32>(above);
}

// f16 by its bits, as f32. Subnormals become normal, by an exact conversion of the significand.
fn decode_f16(raw: vec4<u32>) -> vec4<f32> {
    let magnitude = raw & vec4<u32>(0x7fffu);
    let sign = (raw & vec4<u32>(0x8000u)) << vec4<u32>(16u);
    let normal = (magnitude << vec4<u32>(13u)) + vec4<u32>(0x38000000u);
    let subnormal = bitcast<vec4<u32>>(vec4<f32>(magnitude) * 5.9604644775390625e-8);
    let special = (magnitude << vec4<u32>(13u)) | vec4<u32>(0x7f800000u);
    let finite = select(normal, subnormal, magnitude < vec4<u32>(0x0400u));
    return bitcast<vec4<f32>>(select(finite, special, magnitude >= vec4<u32>(0x7c00u)) | sign);
}

// To the nearest f16, halves to even. Adding 2^13 times the number's f16 step leaves an f32 whose last bit is that step, so
// the sum rounds as f16 does. Below 2^-14 the step is 2^-24. From 65520 on the result is infinite. Infinities and NaN stay.
fn round_f16(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let sign = bits & vec4<u32>(SIGN_f32);
    // Far above the finite f16, any step will do.
    let exponent = clamp(bits & vec4<u32>(INFINITE_f32), vec4<u32>(0x38800000u), vec4<u32>(0x70000000u));
    let steps = bitcast<vec4<f32>>((exponent + vec4<u32>(0x06800000u)) | sign);
    let rounded = bits_f32(opaque_f32(x + steps) - steps) & vec4<u32>(MAGNITUDE_f32);
    let finite = select(rounded, vec4<u32>(INFINITE_f32), (rounded >= vec4<u32>(0x47800000u)) & (rounded < vec4<u32>(INFINITE_f32)));
    return bitcast<vec4<f32>>(finite | sign);
}

// The bits of an f32 that is an f16. NaN keeps its own.
fn encode_f16(x: vec4<f32>) -> vec4<u32> {
    let magnitude = magnitude_bits_f32(x);
    let sign = (bits_f32(x) >> vec4<u32>(16u)) & vec4<u32>(0x8000u);
    let normal = (magnitude - vec4<u32>(0x38000000u)) >> vec4<u32>(13u);
    let subnormal = vec4<u32>(min(abs(x), vec4<f32>(1.0)) * 16777216.0);
    let finite = select(normal, subnormal, magnitude < vec4<u32>(0x38800000u));
    let special = vec4<u32>(0x7c00u) | ((magnitude >> vec4<u32>(13u)) & vec4<u32>(0x03ffu));
    return select(finite, special, magnitude >= vec4<u32>(0x7f800000u)) | sign;
}

fn decode_bf16(raw: vec4<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(raw << vec4<u32>(16u));
}

fn round_bf16(x: vec4<f32>) -> vec4<f32> {
    let bits = bits_f32(x);
    let up = vec4<u32>(0x7fffu) + ((bits >> vec4<u32>(16u)) & vec4<u32>(1u));
    let rounded = select(bits + up, bits | vec4<u32>(0x00400000u), is_nan_f32(x));
    return bitcast<vec4<f32>>(rounded & vec4<u32>(0xffff0000u));
}

// The same for the result of a sum or a product, whose NaN is quiet. Only its low bits must not carry into the sign.
fn round_sum_bf16(x: vec4<f32>) -> vec4<f32> {
    let positive = bitcast<vec4<u32>>(min(bitcast<vec4<i32>>(x), vec4<i32>(0x7fff0000)));
    let bits = min(positive, vec4<u32>(0xffff0000u));
    let up = vec4<u32>(0x7fffu) + ((bits >> vec4<u32>(16u)) & vec4<u32>(1u));
    return bitcast<vec4<f32>>((bits + up) & vec4<u32>(0xffff0000u));
}

// The bits of an f32 that is a bf16.
fn encode_bf16(x: vec4<f32>) -> vec4<u32> {
    return bits_f32(x) >> vec4<u32>(16u);
}
