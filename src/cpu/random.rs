//! Random words and numbers: blocks of Philox side by side, so that loops vectorize.

use crate::ir::{normal, philox};

/// Blocks that are computed side by side.
const SIDE: usize = 16;

/// The words at some places of a key's sequence. The second and third argument are the key's halves.
pub(super) fn bits(args: &[&[u8]], out: &mut [u8]) {
    let [places, low, high] = [0, 1, 2].map(|i| bytemuck::cast_slice::<u8, u32>(args[i]));
    let out: &mut [u32] = bytemuck::cast_slice_mut(out);
    let (Some(&low), Some(&high)) = (low.first(), high.first()) else { return };
    crate::vectors::dispatch(Bits { places, key: [low, high], out });
}

struct Bits<'a> {
    /// As many as results, or a part of equal ones.
    places: &'a [u32],
    key: [u32; 2],
    out: &'a mut [u32],
}

impl crate::vectors::Loop for Bits<'_> {
    #[inline(always)]
    fn run(self) {
        let Bits { places, key, out } = self;
        let Some(&first) = places.first() else { return };
        let is_run = || places.iter().zip(first..).all(|(&place, next)| place == next);
        if places.len() < out.len() {
            // All places are one.
            let counters = std::array::from_fn(|_| first / 4);
            out.fill(blocks(counters, key)[first as usize % 4][0]);
        } else if u32::try_from(out.len()).is_ok_and(|count| first.checked_add(count).is_some()) && is_run() {
            run(first, key, out);
        } else {
            for (out, places) in out.chunks_mut(SIDE).zip(places.chunks(SIDE)) {
                let counters = std::array::from_fn(|i| places.get(i).map_or(0, |place| place / 4));
                let words = blocks(counters, key);
                for (i, (out, place)) in out.iter_mut().zip(places).enumerate() {
                    *out = words[*place as usize % 4][i];
                }
            }
        }
    }
}

/// Words side by side, from a place on.
#[inline(always)]
fn run(first: u32, key: [u32; 2], out: &mut [u32]) {
    let mut block = first / 4;
    // Words before the first place of a block.
    let mut skipped = first as usize % 4;
    let mut rest = out;
    while !rest.is_empty() {
        let words = blocks(std::array::from_fn(|i| block.wrapping_add(i as u32)), key);
        let mut all = [0; 4 * SIDE];
        for (i, all) in all.chunks_exact_mut(4).enumerate() {
            all.copy_from_slice(&[words[0][i], words[1][i], words[2][i], words[3][i]]);
        }
        let all = &all[skipped..];
        let (now, later) = rest.split_at_mut(all.len().min(rest.len()));
        now.copy_from_slice(&all[..now.len()]);
        rest = later;
        block = block.wrapping_add(SIDE as u32);
        skipped = 0;
    }
}

/// The four words of each block, by the low words of their counters.
#[inline(always)]
fn blocks(counters: [u32; SIDE], key: [u32; 2]) -> [[u32; SIDE]; 4] {
    let mut words = [counters, [0; SIDE], [0; SIDE], [0; SIDE]];
    for key in philox::keys(key) {
        let [a, b, c, d] = words;
        for i in 0..SIDE {
            let next = philox::round([a[i], b[i], c[i], d[i]], key);
            (0..4).for_each(|k| words[k][i] = next[k]);
        }
    }
    words
}

/// The first 24 bits as a number from 0 to below 1.
pub(super) fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// The normal number of a word.
#[inline(always)]
pub(super) fn normal(bits: u32, cubics: &[[f32; 4]; normal::COUNT]) -> f32 {
    let beyond = bits << 1 | 1;
    let zeros = beyond.leading_zeros();
    let rest = !(beyond << zeros);
    let t = unit(rest << 4);
    let [a, b, c, d] = cubics[(zeros << 3 | rest >> 28) as usize];
    let size = ((d * t + c) * t + b) * t + a;
    f32::from_bits(size.to_bits() ^ bits & 1 << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within what `Expr::normal` states, in each part and at its ends: the share beyond a number is that of its word.
    #[test]
    fn normal_numbers_are_quantiles_of_their_words() {
        let cubics = normal::cubics();
        let parts = (0..31).flat_map(|zeros| (0..2048_u64).map(move |i| (2048 + i) << 20 >> zeros));
        let ends = (0..1000_u64).flat_map(|i| [i, (1 << 31) - 1 - i]);
        for word in parts.map(|word| word & 0x7fff_ffff).chain(ends) {
            let (x, negative) = (normal(word as u32, cubics), normal(word as u32 | 1 << 31, cubics));
            assert!(x > 0.0 && x.to_bits() ^ 1 << 31 == negative.to_bits(), "{word:#x}: {x} and {negative}");
            let (size, beyond) = (f64::from(x), (word << 1 | 1) as f64 / 2.0_f64.powi(32));
            // One step of Newton's method leads to the exact number.
            let density = (-size * size / 2.0).exp() * (2.0 / std::f64::consts::PI).sqrt();
            let error = (pxfm::f_erfc(size * std::f64::consts::FRAC_1_SQRT_2) - beyond) / density;
            assert!(error.abs() < 1e-6, "{word:#x}: {x} is wrong by {error}");
        }
    }

    #[test]
    fn any_places_have_their_words() {
        let word = |place: u32| philox::block([place / 4, 0, 0, 0], [7, 9])[place as usize % 4];
        let run = |first: u32, count: u32| (0..count).map(|i| first + i).collect::<Vec<u32>>();
        let scattered: Vec<u32> = (0..100).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
        for places in [run(0, 64), run(3, 1), run(5, 200), run(u32::MAX - 9, 10), scattered] {
            let mut out = vec![0_u32; places.len()];
            let args =
                [bytemuck::cast_slice(&places), bytemuck::bytes_of(&7_u32), bytemuck::bytes_of(&9_u32)];
            bits(&args, bytemuck::cast_slice_mut(&mut out));
            assert_eq!(out, places.iter().copied().map(word).collect::<Vec<u32>>());
        }
    }
}
