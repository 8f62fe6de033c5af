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

#[cfg(test)]
mod tests {
    use super::block;

    /// Known answers of Random123's `kat_vectors`.
    #[test]
    fn published_vectors() {
        assert_eq!(block([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = block([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = block([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}
