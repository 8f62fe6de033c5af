//! Functions of f32 in f32 and without a branch, since a vector has twice as many f32 as f64. Each is within 1.4 units
//! in the last place, for every f32. Nothing is contracted, so all processors have the same bits.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

/// ln 2 in two parts. The first is so short that its product with an exponent is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Adding it rounds to an integer, in the low bits of the sum.
const ROUND: f32 = 1.5 * (1_u32 << 23) as f32;

/// `x` as `k ln 2 + r`: k as a sum that [`ROUND`] rounded, and `e^r - 1`. The polynomial is the nearest one for |r| <=
/// ln 2 / 2, within 2^-28.
#[inline(always)]
fn split_exp(x: f32) -> (f32, f32) {
    let rounded = x * LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    let w = r * r;
    let low = 0.5 + r * 0.166_665_12;
    let high = (0.041_666_187 + r * 0.008_369_6) + w * 0.001_395_170_7;
    (rounded, r + w * (low + w * high))
}

/// 2 to a power from -126 to 127.
#[inline(always)]
fn power_of_two(k: i32) -> f32 {
    f32::from_bits(((k + 127) as u32) << 23)
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond, results are infinite or 0.
    let (rounded, tail) = split_exp(x.clamp(-105.0, 90.0));
    let k = rounded.to_bits() as i32 - ROUND.to_bits() as i32;
    // By two powers: the power of an infinite or a subnormal result is no f32.
    let half = k >> 1;
    (1.0 + tail) * power_of_two(half) * power_of_two(k - half)
}

/// The series of the logarithm of `1 + f`. From the third power on it is the nearest polynomial, within 2^-30.
#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    const ROOT: u32 = FRAC_1_SQRT_2.to_bits();
    let is_subnormal = x < f32::MIN_POSITIVE;
    let normal = if is_subnormal { x * 8_388_608.0 } else { x };
    // As `2^e (1 + f)`, with `1 + f` between the roots of 1/2 and 2.
    let bits = normal.to_bits().wrapping_add(1.0_f32.to_bits() - ROOT);
    let e = ((bits >> 23) as i32 - if is_subnormal { 127 + 23 } else { 127 }) as f32;
    let f = f32::from_bits((bits & 0x7f_ffff) + ROOT) - 1.0;
    let w = f * f;
    let w2 = w * w;
    let low = (0.333_333_13 + f * -0.250_000_1) + w * (0.200_021_18 + f * -0.166_68);
    let high = (0.142_195_61 + f * -0.124_055_386) + w * (0.118_880_4 + f * -0.116_759_13);
    let tail = f * w * (low + w2 * (high + w2 * 0.067_472_42));
    let value = e * LN_2[0] + (f + ((tail + e * LN_2[1]) - 0.5 * w));
    let outside = if x > f32::MAX { x } else { f32::NAN };
    let outside = if x == 0.0 { f32::NEG_INFINITY } else { outside };
    if (x > 0.0) & (x <= f32::MAX) { value } else { outside }
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    // Near 0 the nearest odd polynomial, within 2^-27.
    let w = x * x;
    let low = -0.333_332_84 + w * 0.133_314_91;
    let high = (-0.053_743_5 + w * 0.020_650_59) + w * w * -0.005_717_047;
    let near = a + a * w * (low + w * w * high);
    // From 10 on it is 1.
    let (rounded, tail) = split_exp((2.0 * a).min(20.0));
    let scale = power_of_two(rounded.to_bits() as i32 - ROUND.to_bits() as i32);
    let far = 1.0 - 2.0 / (1.0 + (scale + scale * tail));
    let value = if a < 0.625 { near } else { far };
    let value = if a.is_nan() { a } else { value };
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function and its reference.
    type Pair = (fn(f32) -> f32, fn(f64) -> f64);

    /// Every 2^10-th f32, against f64 rounded once: at most the next float, and the same zeros, infinities and NaN.
    #[test]
    fn results_are_next_to_the_nearest() {
        let functions: [Pair; 3] = [(exp, f64::exp), (log, f64::ln), (tanh, f64::tanh)];
        for (i, (function, exact)) in functions.into_iter().enumerate() {
            for x in (0..=u32::MAX >> 10).map(|bits| f32::from_bits((bits << 10) | (bits >> 12))) {
                let (got, exact) = (function(x), exact(f64::from(x)) as f32);
                let is_near = got.to_bits().abs_diff(exact.to_bits()) <= u32::from(exact.is_normal());
                let is_tiny = exact.is_subnormal() && got.to_bits().abs_diff(exact.to_bits()) <= 1;
                let is_nan = got.is_nan() && exact.is_nan();
                assert!(is_near || is_tiny || is_nan, "function {i} of {x:e}: {got:e} and not {exact:e}");
            }
        }
    }
}
