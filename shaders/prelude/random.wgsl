// Random numbers. The prelude has these functions twice: narrow with words of 32 bits, and wide with 64 for products.

// The words at places of a key's sequence, by Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
// 2011). A block has four words, and its number is the counter. Lanes may belong to several blocks, and the loop has an
// iteration for each block. The loop tests its condition at the end, because some drivers run the body before they test.
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
