// Of words of 32 bits, narrow, and with 64 for products, wide: the prelude has these functions twice.

// The word of each place in the sequence of a key: of Philox4x32-10 (Salmon et al., Parallel random numbers: as
// easy as 1, 2, 3, 2011), four words a block, whose counter is its number. The lanes may be of several blocks, and the
// loop has a turn for each. It is tested where it ends, as some drivers run a body before they leave it.
fn random_bits_narrow(at: vec4<u32>, low: vec4<u32>, high: vec4<u32>) -> vec4<u32> {
    let blocks = at >> vec4<u32>(2u);
    let words = at & vec4<u32>(3u);
    let odd = (words & vec4<u32>(1u)) != vec4<u32>(0u);
    let upper = words >= vec4<u32>(2u);
    var open = vec4<bool>(true);
    var result = vec4<u32>(0u);
    loop {
        let block = select(select(select(blocks.w, blocks.z, open.z), blocks.y, open.y), blocks.x, open.x);
        let own = blocks == vec4<u32>(block);
        let all = random_block_narrow(block, low.x, high.x);
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

// The four words of a block.
fn random_block_narrow(block: u32, low: u32, high: u32) -> vec4<u32> {
    let key = vec2<u32>(low, high);
    let weyl = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    var words = philox_round_narrow(vec4<u32>(block, 0u, 0u, 0u), key);
    words = philox_round_narrow(words, key + weyl);
    words = philox_round_narrow(words, key + weyl * 2u);
    words = philox_round_narrow(words, key + weyl * 3u);
    words = philox_round_narrow(words, key + weyl * 4u);
    words = philox_round_narrow(words, key + weyl * 5u);
    words = philox_round_narrow(words, key + weyl * 6u);
    words = philox_round_narrow(words, key + weyl * 7u);
    words = philox_round_narrow(words, key + weyl * 8u);
    return philox_round_narrow(words, key + weyl * 9u);
}

fn philox_round_narrow(words: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    let top = philox_high_narrow(words.xz);
    let product = words.xz * vec2<u32>(0xd2511f53u, 0xcd9e8d57u);
    return vec4<u32>(top.y ^ words.y ^ key.x, product.y, top.x ^ words.w ^ key.y, product.x);
}
