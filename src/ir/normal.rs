//! The cubics of normal numbers.
//!
//! A random word has a sign, and the share of all numbers that lie farther from 0, in units of 2^-32. The magnitude is a
//! function of that share. Each power of two has eight parts of one width, and each part a cubic in the distance from its
//! upper end, in widths. The order of the table is that of magnitudes.

use std::sync::OnceLock;

/// Parts of a power of two.
const PARTS: usize = 8;
pub(crate) const COUNT: usize = 32 * PARTS;

/// The magnitude that a share of 2^-32 lies beyond, and its derivative by the share, in widths of the last part.
const LAST: (f64, f64) = (6.337_957_754_553_79, -0.019_264_221_386_177_31);

/// Places of a part where its cubic is exact. Its ends are two, so neighbours meet.
const EXACT: [f64; 4] = [0.0, 0.25, 0.75, 1.0];

/// Half of the unit that distances count in. They are cut to whole units, so their middle is half a unit farther.
const MIDDLE: f64 = 1.0 / 33_554_432.0;

/// Terms of a series over one part, which is at most an eighth of the way to the singularity at 0.
const TERMS: usize = 18;

/// The coefficients of the cubics, the constant first.
pub(crate) fn cubics() -> &'static [[f32; 4]; COUNT] {
    static CUBICS: OnceLock<[[f32; 4]; COUNT]> = OnceLock::new();
    CUBICS.get_or_init(computed)
}

/// Follows the magnitude x(q) of a share q from the last part to the first. It is a solution of x'' = x x'^2, so its Taylor
/// series takes products and sums alone, and the table has the same bits everywhere.
fn computed() -> [[f32; 4]; COUNT] {
    let mut all = [[0.0; 4]; COUNT];
    let (mut x, mut slope) = LAST;
    for (i, cubic) in all.iter_mut().enumerate().rev() {
        let mut series = [0.0; TERMS];
        let mut squares = [0.0; TERMS];
        (series[0], series[1]) = (x, slope);
        for n in 0..TERMS - 2 {
            let derivative = |k: usize| (k + 1) as f64 * series[k + 1];
            squares[n] = (0..=n).map(|k| derivative(k) * derivative(n - k)).sum();
            let sum: f64 = (0..=n).map(|k| series[k] * squares[n - k]).sum();
            series[n + 2] = sum / ((n + 1) * (n + 2)) as f64;
        }
        let at = |v: f64| series.iter().rev().fold(0.0, |sum, term| sum * v + term);
        let [a, b, c, d] = EXACT.map(|t| at(1.0 - MIDDLE - t));
        // Divided differences.
        let [ab, bc, cd] = [4.0 * (b - a), 2.0 * (c - b), 4.0 * (d - c)];
        let [abc, bcd] = [(bc - ab) / 0.75, (cd - bc) / 0.75];
        let third = bcd - abc;
        *cubic = [a, ab - 0.25 * abc + 0.1875 * third, abc - third, third].map(|x| x as f32);
        x = at(1.0);
        slope = (1..TERMS).map(|k| k as f64 * series[k]).sum();
        if i % PARTS == 0 {
            slope *= 2.0;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_begin_at_0_and_neighbours_meet() {
        let all = cubics();
        assert!(all[0][0] > 0.0 && all[0][0] < 1e-8, "{:?}", all[0]);
        for (i, pair) in all.windows(2).enumerate() {
            let end: f32 = pair[0].iter().sum();
            assert!((end - pair[1][0]).abs() < 1e-6, "{i}: {pair:?}");
        }
    }
}
