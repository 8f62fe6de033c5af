// Elements of 8 bits, four to a word, the lowest address in the lowest bits.

fn unpack_u8(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
}

fn pack_u8(v: vec4<u32>) -> u32 {
    let placed = v << vec4<u32>(0u, 8u, 16u, 24u);
    return placed.x | placed.y | placed.z | placed.w;
}

// The element at address `at`, out of its word.
fn byte_u8(word: u32, at: u32) -> u32 {
    return (word >> ((at & 3u) * 8u)) & 255u;
}

// The bits that the element at address `at` has in its word.
fn mask_u8(at: u32) -> u32 {
    return 255u << ((at & 3u) * 8u);
}

// An element moved to the bits of address `at`.
fn place_u8(v: u32, at: u32) -> u32 {
    return v << ((at & 3u) * 8u);
}
