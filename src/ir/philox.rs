//! Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): four
//! words by a counter and a key, each of which is as random as if the others were not known.

/// The keys of the rounds.
#[inline(always)]
pub(crate) fn keys([low, high]: [u32; 2]) -> [[u32; 2]; 10] {
    std::array::from_fn(|round| {
        let round = round as u32;
        let low = low.wrapping_add(0x9e37_79b9_u32.wrapping_mul(round));
        [low, high.wrapping_add(0xbb67_ae85_u32.wrapping_mul(round))]
    })
}

#[inline(always)]
pub(crate) fn round([a, b, c, d]: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (first, second) = (u64::from(a) * 0xd251_1f53, u64::from(c) * 0xcd9e_8d57);
    let high = |product: u64| (product >> 32) as u32;
    [high(second) ^ b ^ key[0], second as u32, high(first) ^ d ^ key[1], first as u32]
}

pub(crate) fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    keys(key).into_iter().fold(counter, round)
}
